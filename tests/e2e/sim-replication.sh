#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests replication: when a master ends, a qosd that stands by has the groups, members,
# services, subscriptions, aliases, dynamic partitions and LIDs, and asks no port to register
# again.  The master gives them only to a standby with the SM_Key.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it counts who is asked to register again"

topology=$top/examples/cluster.topo
first=H-f452140300811200 first_guid=f452140300811201
second=H-f452140300811230
node002=H-f452140300811240 node002_guid=f452140300811241
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
group=ff12:401b:ffff::77
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
END

client() { on_own "$1" "$tools/saclient" "${@:2}" 2>&1; }
member() {	# member get|set NODE GUID JOIN-STATE
	on_own "$2" "$tools/pathquery" "$1" member mgid=$group port-gid="$(gid "$3")" join-state="$4" \
		qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0 2>&1
}
# start_second [OPTION...]: starts the second qosd, which `of second` talks to.
start_second() {
	local as
	mkdir -p second
	as_own "$second"
	"${as[@]}" "$build/qosd" -F -s second/sock -d second/state -p policy.yaml "$@" >>second/log 2>&1 &
	second_pid=$!
	pids+=("$second_pid")
}
state_is() { [ "$(status state)" = "$1" ]; }
up() { state_is master && status_is subnet-up=true sweeping=false; }
held() { [ "$(status registrations-held)" = true ]; }
# registered: prints the registrations that a subnet manager reports
registered() {
	ctl -j services | sed -E '/"service-id"/!d; s/"lease": 3[0-9]*/"lease": 3…/'
	# each master has its own count of unanswered Reports
	ctl -j subscriptions | sed -E 's/"unanswered": [0-9]+, //'
	ctl -j mcast | grep -E '"(mgid|mlid|pkey|members)"'
	ctl -j mcast $group | grep -E '"port-guid"' | sort	# not all GUIDs: switches appear once they have the group
	ctl -j partitions | grep -E '"(name|pkey)"'
}
# reregisters: prints how often these ports in all were asked to make their clients register again.
reregisters() {
	local total=0 name n
	for name in 'mgmt01 HCA-1' 'node001 HCA-1' 'node002 HCA-1' 'node017 mlx5_0' 'gpu01 mlx5_0'; do
		n=$(sim_ctl -j show port "$name/P1" 2>&1 | sed -nE 's/.*"reregisters": ?([0-9]+).*/\1/p')
		[ -n "$n" ] || { echo "$name is not known"; return; }
		total=$((total + n))
	done
	echo "$total"
}

# change add|remove NAME [WHO]: makes the change through the first qosd and stops it right after its answer.  On a busy
# machine the answer may say that the standby does not have it yet: then as soon as it has.
change() {
	local status patience
	of first ctl -j partition "$@" >answer 2>&1
	status=$?
	kill -STOP "$first_pid"
	[ $status -eq 0 ] || bad "partition $*: $(<answer)"
	look_busy
	if [ "$patience" -gt "$slow" ] && grep -q '"standbys-with-it": *0' answer; then
		kill -CONT "$first_pid"
		until_ 20 same_partitions || bad "the second has not got $*"
		kill -STOP "$first_pid"
	else
		expect "standbys that have it when it is answered" 1 "$(sed -nE 's/.*"standbys-with-it": *([0-9]+).*/\1/p' answer)"
	fi
	until_ 10 of second up || bad "the second does not take over: $(tail -n 5 second/log)"
}
same_partitions() { cmp -s first/state/partitions second/state/partitions; }
# there: prints the master's dynamic partitions; kept: prints those in the state folder.
there() { ctl -j partitions | sed -nE 's/.*"partition": *"(job[^"]*)".*/\1/p' | sort | xargs; }
kept() { sed -nE 's/^partition\t([^\t]*\t){3}([^\t]*)\t.*/\2/p' "$1/state/partitions" | sort | xargs; }
is_kept() { [ "$(kept "$1")" = "$2" ]; }
returns() {	# the first qosd, which has precedence over the second, returns
	kill -CONT "$first_pid"
	until_ 10 of second state_is standby || bad "the second does not hand over: $(tail -n 5 second/log)"
	until_ 10 of first up || bad "the first is not master again: $(tail -n 5 first/log)"
	until_ 10 of second held || bad "the second does not hold the registrations"
}

sim_options=()	# default devices, whose clients can be asked to register again
note "a master with clients, and one that stands by"
start_sim "$topology"
mkdir first
as_own "$first"
"${as[@]}" "$build/qosd" -F -s first/sock -d first/state -p policy.yaml >first/log 2>&1 &
first_pid=$!
pids+=("$first_pid")
until_ 20 of first up || fail "the first does not come up"
start_second
until_ 10 of second held || bad "the second does not hold the registrations: $(tail -n 5 second/log)"
client "$node002" service set id=0x1234 gid="$(gid $node002_guid)" lease=3600 name=store data8.1=7 >out || bad "service: $(<out)"
client "$node002" service set id=6 gid="$(gid $node002_guid)" name=eternal >out || bad "service: $(<out)"
client "$node002" subscribe trap=66 >out || bad "subscribe: $(<out)"
member set "$gpu01" $gpu01_guid 1 >out || bad "join: $(<out)"
member set "$node002" $node002_guid 1 >out || bad "join: $(<out)"
of first ctl partition add job17 'node00? HCA-1/P1' --wait >out 2>&1 || bad "partition: $(<out)"
of first registered >want
lid_map "$first" >lids.before
services() { [ "$(grep -c '^service' second/state/services 2>/dev/null)" = 2 ]; }
until_ 10 services || bad "the second has not got the services"
for guid in $gpu01_guid $node002_guid; do
	until_ 10 grep -qs "$guid" second/state/groups second/state/groups.journal || bad "the second has not got the members"
done
until_ 10 grep -qs job17 second/state/partitions || bad "the second has not got the partition"
until_ 10 of second held || bad "the second does not hold the registrations any more"
expect "Sets of the second" 0 "$(of second sets)"
expect "what the second tells its clients" 1 "$(of second ctl services >out 2>&1; echo $?)"

# promise: P10
note "a standby with another policy"
# problem KIND: prints the severity and text of the problem of this kind in health.
problem() { ctl -j health | jq -r --arg kind "$1" '.problems[] | select(.kind == $kind) | "\(.severity) \(.text)"'; }
differs() { [[ $(problem policy-differs) =~ ^warning.*$1 ]]; }
agrees() { [ -z "$(problem policy-differs)" ]; }
of first agrees || bad "the first says that the same policies differ: $(of first problem policy-differs)"
of second agrees || bad "the second says that the same policies differ: $(of second problem policy-differs)"
{ cat policy.yaml && echo "qos-levels: {default: {sl: 0}, other: {sl: 1}}"; } >other.yaml
of second ctl policy load other.yaml >out 2>&1 || bad "load: $(<out)"
ours=$(of first status checksum) theirs=$(of second status checksum)
until_ 10 of first differs "the standby 0x[0-9a-f]+ has .* $theirs, and this master has .* $ours" ||
	bad "the master does not say that the policies differ: $(of first ctl health)"
until_ 10 of second differs "the master 0x0*$first_guid has .* $ours, and this standby has .* $theirs" ||
	bad "the standby does not say that the policies differ: $(of second ctl health)"
of second ctl reload >out 2>&1 || bad "reload: $(<out)"
until_ 10 of first agrees || bad "the master still says that the policies differ: $(of first problem policy-differs)"
of second agrees || bad "the standby still says that the policies differ: $(of second problem policy-differs)"

# promise: A77
note "what a standby copies is told to no other host"
[ -x "$tools/copycat" ] || fail "$tools/copycat is missing: make check-programs"
copycat() { on_own "$node002" "$tools/copycat" "$@" "0x${first_guid}" 2>&1; }
expect "with the SM_Key that everybody knows" "status=0x000c rows=0" "$(copycat -k 1)"
expect "with a proof of it, from a port without a subnet manager" "status=0x0001 rows=0" "$(copycat -p 1)"
expect_match "questions of standbys in sa-stats" "0xff71" "$(of first ctl sa-stats)"

# promise: A34
note "of many groups, a standby asks for what changed"
# asked: prints the number of requests by standbys
asked() { sim_ctl -j stats | tr -d ' \n' | tr '{' '\n' | sed -nE 's/.*"attribute":"0xff71","method":"get","count":([0-9]+).*/\1/p'; }
on_own "$node002" "$tools/hoard" -g 600 >out 2>&1 || bad "groups: $(<out)"
# a group may be in the snapshot or in the journal
all_there() { [ "$(cat second/state/groups second/state/groups.journal 2>/dev/null | grep -o '^group ff121d1d[0-9a-f]*' | sort -u | wc -l)" -ge 600 ]; }
until_ 10 all_there || bad "the second has not got the groups"
until_ 10 of second held || bad "the second does not hold the registrations any more"
questions=$(asked)
[ "$questions" -gt 0 ] || bad "the simulator counts no questions: $questions"
member set "$gpu01" $gpu01_guid 2 >out || bad "join: $(<out)"
told() { grep -qs "^member ff12401bffff00000000000000000077 0x$gpu01_guid 3" second/state/groups.journal; }
until_ 10 told || bad "the second has not got a change: $(tail -n 2 second/state/groups.journal)"
expect_less "questions for one change of many groups" 300 $(($(asked) - questions))
of first registered >want

# promise: M4
note "the master dies"
before=$(reregisters)
[ "$before" -gt 0 ] || bad "nobody was asked to register at the first start"
# (after a slow answer, on a busy machine, the standby would first query the master again)
until_ 10 of second held || bad "the second does not hold the registrations any more"
end "$first_pid" KILL
until_ 10 of second up || bad "the second does not take over"
of second registered >got
expect_same "registrations" want got
lid_map "$second" >lids.after
expect_same "LIDs" lids.before lids.after
expect "ports that are told to register again" "$before" "$(reregisters)"
expect "Sets, but for the ports' new master" 0 "$(of second table_sets)"
expect_match "a service by a client" "^id=0x1234 .* name=store data=07" "$(client "$gpu01" service get id=0x1234)"

# promise: M4
note "the first comes back: it has the lower GUID, and gets all of it"
as_own "$first"
rm -rf first/state
"${as[@]}" "$build/qosd" -F -s first/sock -d first/state -p policy.yaml >>first/log 2>&1 &
first_pid=$!
pids+=("$first_pid")
until_ 10 of first up || bad "the first is not master again: $(tail -n 5 first/log)"
until_ 10 of second state_is standby || bad "the second does not stand by"
of first registered >got
expect_same "registrations" want got
expect "ports that are told to register again" "$before" "$(reregisters)"
until_ 10 of second held || bad "the second does not hold the registrations"

# promise: M4
note "the standby is given a higher priority, then the master a higher one yet"
of second ctl priority 3 >out 2>&1 || bad "priority: $(<out)"
until_ 10 of second up || bad "the second is not master: $(tail -n 5 second/log)"
until_ 10 of first held || bad "the first does not hold the registrations"
of first ctl priority 4 >out 2>&1 || bad "priority: $(<out)"
until_ 10 of first up || bad "the first is not master: $(tail -n 5 first/log)"
until_ 10 of second held || bad "the second does not hold the registrations"
of first registered >got
expect_same "registrations" want got
expect "ports that are told to register again" "$before" "$(reregisters)"

note "questions to a master that is to hand over are lost: it waits until they are answered"
kill -STOP "$first_pid"
until_ 10 of second up || bad "the second does not take over: $(tail -n 5 second/log)"
sim_do fault add drop --class sa --at "node001 HCA-1" --count 6	# two requests with three tries each
returns
expect "questions that were lost" none "$(sim_ctl fault list)"
of first registered >got
expect_same "registrations" want got
expect "ports that are told to register again" "$before" "$(reregisters)"

note "its own port does not answer a standby, once: it asks again"
sim_do fault add drop --class smp --attr PortInfo --method get --at "node001 HCA-1" --count 1
used_up() { [ "$(sim_ctl fault list)" = none ]; }
until_ 10 used_up || bad "nobody asks: $(sim_ctl fault list)"
of first ctl partition add job18 "0x$gpu01_guid" >out 2>&1 || bad "partition: $(<out)"
until_ 5 grep -qs job18 second/state/partitions || bad "the second has not got the partition: $(tail -n 3 second/log)"
expect "what it could not have" "" "$(grep "can't be had" second/log)"
of first ctl partition remove job18 >out 2>&1 || bad "partition: $(<out)"

# promise: M5
note "partitions outlive a master that freezes as soon as it has answered"
for i in 1 2 3; do
	change add job2$i "0x$gpu01_guid"
	expect "partitions of the second, $i added" "job17 job2$i" "$(of second there)"
	returns
	expect "… of the first" "job17 job2$i" "$(of first there)"
	expect "… that are kept" "job17 job2$i, job17 job2$i" "$(kept first), $(kept second)"
	change remove job2$i
	expect "partitions of the second, $i removed" job17 "$(of second there)"
	returns
	expect "… of the first" job17 "$(of first there)"
	expect "… that are kept" "job17, job17" "$(kept first), $(kept second)"
done

# promise: M5
note "what changes while it is frozen holds, too"
change add job30 "0x$gpu01_guid"
of second ctl partition remove job30 >out 2>&1 || bad "remove: $(<out)"
of second ctl partition remove job17 >out 2>&1 || bad "remove: $(<out)"
of second ctl partition add job31 "0x$gpu01_guid" --wait >out 2>&1 || bad "add: $(<out)"
returns
expect "partitions of the first" job31 "$(of first there)"
expect "… that are kept" "job31, job31" "$(kept first), $(kept second)"

# promise: M5
note "a standby that is frozen: it is said, and it takes the change later"
kill -STOP "$second_pid"
of first ctl partition add job32 "0x$gpu01_guid" >out 2>&1 || bad "add: $(<out)"
expect_match "the answer" "warning: the standby 0x[0-9a-f]{16} has not replicated it yet" "$(<out)"
kill -CONT "$second_pid"
until_ 10 is_kept second "job31 job32" || bad "the second has $(kept second)"
of first ctl partition add job32 "0x$gpu01_guid" >out 2>&1 || bad "add: $(<out)"
expect "the answer to the same once more" "job32 has P_Key 0x4001 nothing to change" "$(xargs <out)"

# promise: M5
note "one that stands by takes no changes"
expect "exit status" 1 "$(of second ctl partition add job33 "0x$gpu01_guid" >out 2>&1; echo $?)"
expect_match "why" "the subnet is not up yet .*standby" "$(<out)"
expect "partitions of the first" "job31 job32" "$(of first there)"

# promise: M5
note "who asked hears of it when another becomes master before it has the change"
kill -STOP "$second_pid"
of first ctl --timeout 600 partition add job33 "0x$gpu01_guid" >answer 2>&1 &
asks=$!
until_ 10 is_kept first "job31 job32 job33" || bad "the first has $(kept first)"
kill -STOP "$first_pid"
kill -CONT "$second_pid"
until_ 10 of second up || bad "the second does not take over: $(tail -n 5 second/log)"
expect "partitions of the second" "job31 job32" "$(of second there)"
returns
wait "$asks"
# other texts are for slow machines, where the answer came before or the standby did not store it in time
expect_match "the answer" "another subnet manager has become master|has not replicated it|cannot store it" "$(<answer)"
expect "partitions of the first" "job31 job32" "$(of first there)"

# promise: M4
note "a standby that lacks some of it: all are asked"
end "$second_pid"
end "$first_pid" KILL
rm -rf second/state
start_second
until_ 10 of second up || bad "the second is not master"
after=$(reregisters)
[ "$after" -gt "$before" ] || bad "nobody was asked to register again: $after, $before before"
end "$second_pid"

# promise: M2
note "another SM_Key: neither obeys the other, and nothing is told"
as_own "$first"
echo "priority: 3" >first.yaml
"${as[@]}" "$build/qosd" -F -s first/sock -d first/state -c first.yaml -p policy.yaml >>first/log 2>&1 &
first_pid=$!
pids+=("$first_pid")
until_ 10 of first up || bad "the first is not master"
echo "sm-key: 77" >second.yaml
start_second -c second.yaml
until_ 10 of second state_is master || bad "the second obeys who has another SM_Key"
expect "SMs of another SM_Key" 1 "$(of second status other-managers)"
expect_match "the log" "does not send our SM_Key: its sm-key or m-key differs: ignored" "$(grep 'SM_Key' second/log)"
expect "what it holds of the other" "" "$(cat second/state/services 2>/dev/null | grep '^service')"
end "$second_pid" || bad "exit status $? of the second: $(tail -n 40 second/log)"
end "$first_pid" || bad "exit status $? of the first: $(tail -n 40 first/log)"

# promise: A77
note "with a secret SM_Key its proof is enough, and nothing else is"
as_own "$first"
echo "sm-key: 78" >first.yaml
"${as[@]}" "$build/qosd" -F -s first/sock -d first/state -c first.yaml -p policy.yaml >>first/log 2>&1 &
first_pid=$!
pids+=("$first_pid")
until_ 10 of first up || bad "the first is not master"
expect "with the key" "status=0x000c rows=0" "$(copycat -k 78)"
expect "with a proof of another" "status=0x000c rows=0" "$(copycat -p 1)"
expect "with a proof" "status=0x0000 rows=9" "$(copycat -p 78)"
end "$first_pid" || bad "exit status $? of the first: $(tail -n 40 first/log)"
