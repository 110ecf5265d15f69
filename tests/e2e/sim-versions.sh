#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests state that another version of qosd wrote.  qosd reads all state of earlier versions
# (tests/golden/state) and changes nothing on any device.  It touches neither the state of a later
# version nor the fabric.  A standby takes from a later master the parts that it understands.
#
#   STATE_SAMPLE=DIR	writes a sample to a new folder instead
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim takes no registrations"
newer=$tools/newermaster.so
[ -f "$newer" ] || { echo "$newer is missing: make check-programs"; exit 1; }

samples=$top/tests/golden/state
sm=H-0002c90300000010 h2=H-0002c90300000020 h3=H-0002c90300000030 h4=H-0002c90300000040 h5=H-0002c90300000050
leaf=S-0002c90200000010 spine=S-0002c90200000020
h2_gid=$(gid 0002c90300000021)
key=0x1122334455667788
sim_options=()
cat >qosd.yaml <<END
sweep-interval: 0
m-key: $key
m-key-protect: 1
smp-timeout: 50ms
END
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
qos-levels:
  default: {sl: 0}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15]}
END
start() {
	start_qosd "$sm" -c qosd.yaml -p policy.yaml "$@"
	until_ 20 idle || fail "the subnet does not come up: $(tail -n 3 "$qosd_log")"
}
idle() { status_is subnet-up=true sweeping=false; }

# move_cable: from ports 7 of both switches to ports 6.
move_cable() {
	unplug "$leaf" 7
	plug_into "$leaf" 6 "$spine" 6
}

# start_subnet [SAMPLE]: the fabric that the sample, else the first of them, was written on, as it was then.
start_subnet() {
	if [ "${1:-0}" -lt 3 ]; then
		start_sim "$samples/fabric.topo"
	else
		start_sim "$samples/two-switches.topo"
		unplug "$h5"
		[ "$1" -lt 5 ] || move_cable
	fi
}
join() {
	on_own "$h2" "$tools/pathquery" set member mgid=ff12:401b:ffff::"$1" port-gid="$h2_gid" join-state=1 \
		qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0 2>&1 | grep -q mlid= || fail "no group $1"
}
client() { on_own "$h2" "$tools/saclient" "$@" >client.out 2>&1 || fail "$*: $(<client.out)"; }

ask_for() {	# ask_for NAME COMMAND ARGS
	perl "$top/tests/tools/ask-for.pl" "$sock" "$@" >out 2>&1
	grep -q '"ok":true' out || fail "$*: $(<out)"
}

lid_of_h2() { ctl ports | awk '$6 ~ /^h2/ { print $2 }'; }
# known: prints what qosd knows, as qosd-ctl and clients see it.
known() {
	ctl ports | awk '$2 ~ /^[0-9]/ { print "LID", $2, $6 }' | sort
	ctl -j services | sed -nE 's/.*"service-id": "([^"]*)".*"name": "([^"]*)", "data": "([^"]*)".*/service \1 \2 \3/p'
	ctl -j subscriptions | sed -nE 's/.*"guid": "([^"]*)".*"trap": ([0-9]*).*/subscription \1 \2/p'
	ctl -j mcast | sed -nE 's/.*"mgid": "([^"]*)", "mlid": "([^"]*)".*"members": ([0-9]*).*/group \1 \2 \3/p'
	ctl -j partition show | sed -nE 's/.*"partition": "([^"]*)", "pkey": ([0-9]*), "source": "([^"]*)".*/partition \1 \2 \3/p'
	ctl -j partition show | jq -r '.partitions[] | select(.sl != null) | "values \(.partition) \(.sl) \(.mtu) \(.rate)",
		(.partition as $p | .members[] | select(.index0) | "index 0 \($p) \(.who)")'
	on "$sm" smpquery -y "$key" -G pkeys 0x2c90300000021 1 2>&1 | sed -nE 's/^ *0: (0x[0-9a-f]+ 0x[0-9a-f]+).*/P_Keys \1/p'
	on_own "$h2" "$tools/pathquery" get guidinfo lid="$(lid_of_h2)" block=0 2>&1 | sed -nE 's/.* (guid1=.*) guid3=.*/\1/p'
	ctl policy history 2>&1 | awk '/other.yaml/ { print $1, $2, $3, $5 (/ on behalf of / ? " for " $NF : "") }'
	ctl -j missing | jq -r '.[] | "missing \(.kind) \(.name) \(.since)" + if ."moved-to" then ", now \(."moved-to") \(."moved-since")" else "" end'
	ctl -j withdrawn | jq -r '.places[] | "withdrawn \(.name) \(.state) \(.uid) \(.since) \(.reason)" + if ."on-behalf-of" then " for \(."on-behalf-of")" else "" end'
	ctl -j status | jq -r '.topology | select(.since) | "accepted \(.since) \(.uid)" + if ."on-behalf-of" then " for \(."on-behalf-of")" else "" end'
}

write_sample() {
	local sample=$1
	mkdir "$sample" || exit
	start_subnet 3
	plug "$h5"
	sim_do node lie "$h3" keeps-tables	# the device confirms Sets but keeps its tables
	unplug "$h2"
	start	# LIDs differ from those of a first start
	plug "$h2"
	h2_is_there() { ctl ports | grep -q "h2" && idle; }
	until_ 20 h2_is_there || fail "h2 does not come"
	ask_for alice accept '{}'
	ask_for bob drain '{"what": ["leaf/P8"], "reason": "a new cable"}'
	drained() { ctl -j withdrawn | grep -q '"state": "drained"'; }
	until_ 10 drained || fail "leaf/P8 is not drained"
	unplug "$h5"
	h5_is_missing() { ctl missing | grep -q h5 && idle; }
	until_ 20 h5_is_missing || fail "h5 is not missing"
	move_cable
	is_moved() { ctl missing | grep -q 'leaf/P6 ' && idle; }
	until_ 20 is_moved || fail "the cable is not in ports 6"
	sed 's/sl: 0/sl: 1/' policy.yaml >other.yaml
	ctl policy load other.yaml >out || fail "policy: $(<out)"
	ctl policy load policy.yaml >out || fail "policy: $(<out)"
	ask_for carol 'policy revert' '{}'
	ctl policy load policy.yaml >out || fail "policy: $(<out)"
	client service set id=0x1234 gid="$h2_gid" name=some data8.1=7
	client subscribe trap=66
	on_own "$h2" "$tools/pathquery" set guidinfo lid="$(lid_of_h2)" \
		block=0 guid1=0xaaaa000000000001 guid2=0 >out 2>&1 || fail "alias: $(<out)"
	ctl partition add job17 --pkey 0x17 0x2c90300000021 --wait >out 2>&1 || fail "partition: $(<out)"
	ctl partition add job18 --pkey 0x18 --sl 1 --mtu 1024 --rate 10 0x2c90300000041=full@0 --wait >out 2>&1 ||
		fail "partition: $(<out)"
	join 1
	ctl sweep --full >out 2>&1 || ctl sweep >out 2>&1
	until_ 10 [ -s state/refused ] || fail "h3 keeps nothing"
	stop_qosd || fail "exit status $?"
	start
	join 2	# goes to the journal
	is_kept() { [ -s state/groups.journal ]; }
	until_ 10 is_kept || fail "nothing is in the journal"
	known >"$sample.known"
	stop_qosd KILL
	rm -f state/lock
	cp state/* "$sample"
	mv "$sample.known" "$sample/known"
	ls "$sample"
}
if [ -n "${STATE_SAMPLE:-}" ]; then
	write_sample "$top/${STATE_SAMPLE#"$top"/}"
	exit
fi

# use_sample NAME: makes the sample the state folder.
use_sample() {
	rm -rf state
	cp -r "$samples/$1" state
	rm state/known
}

for sample in "$samples"/*/; do
	sample=$(basename "$sample")
	# promise: K5
	note "$sample"
	use_sample "$sample"
	start_subnet "$sample"
	start
	known >known
	expect_same "$sample: what is known" "$samples/$sample/known" known
	expect "$sample: files that were set aside" "" "$(find state -name '*.damaged*' -o -name '*.unread*')"
	expect "$sample: warnings of the store" "" "$(grep -E '(error|warning): store:' "$qosd_log")"
	stop_qosd || bad "exit status $?"
	# The devices have all of the sample's state now, so reading it again changes nothing.
	use_sample "$sample"
	start
	expect "$sample: Sets" 0 "$(sets)"
	stop_qosd || bad "exit status $?"
	stop_sim
done

# promise: K5
note "what a newer version wrote"
use_sample "$sample"
start_subnet
sim_ctl stats >stats.before
for file in lids pkeys refused fabric groups groups.journal services subscriptions aliases partitions m-keys history missing withdrawn accepted; do
	use_sample "$sample"
	[ -s "state/$file" ] || { bad "the sample has no $file"; continue; }
	# The file of a later version need not even be text that ends with a digest.
	{ head -n 1 "state/$file" | sed -E 's/ [12]( of|$)/ 9\1/; s/, 1$/, 9/'; head -c 100 /dev/urandom; } >new
	mv new "state/$file"
	rm -rf before
	cp -r state before
	start_qosd "$sm" -c qosd.yaml -p policy.yaml
	until_ 20 gone "$qosd" || bad "$file: it runs"
	wait "$qosd"
	expect "$file: exit status" 3 $?
	expect_match "$file: what is said" "state/$file was written by a newer qosd: it has format 9" "$(<"$qosd_log")"
	rm -f state/lock
	expect "$file: the state folder" "" "$(diff -r before state)"
done
once "$sm" -c qosd.yaml -p policy.yaml
expect "exit status of --once" 3 $?
on_own "$sm" "$build/qosd" -s "$sock" -d "$work/state" -c qosd.yaml -p policy.yaml >daemon.log 2>&1
expect "exit status of a daemon" 3 $?
sim_ctl stats >stats.after
expect_same "what the devices heard" stats.before stats.after
stop_sim

# promise: K6
note "a newer master"
# LIDs and services (parts 0 and 4) have another format.
rm -rf state second
start_subnet
as_own "$sm"
own_preload_before=$own_preload
own_preload="${own_preload% *} $newer ${own_preload##* }"
NEWER_PARTS=0,4 NEWER_MASTER=0x2c90300000011 NEWER_STANDBY=0x2c90300000041 start -s "$sock"
own_preload=$own_preload_before
as_own "$h4"
"${as[@]}" "$build/qosd" -F -s second.sock -d second -c qosd.yaml -p policy.yaml >second.log 2>&1 &
second=$!
pids+=("$second")
join 1
client service set id=0x1234 gid="$h2_gid" name=some
said() { grep -q 'error: replication: the master is a newer qosd, and this one cannot read its LIDs, P_Key indices, services,' second.log; }
until_ 20 said || bad "nothing is said: $(<second.log)"
taken() { cat second/groups second/groups.journal 2>/dev/null | grep -q ff12401bffff00000000000000000001; }
until_ 20 taken || bad "the groups are not taken: $(<second.log)"
of_second() { local sock=second.sock; "$@"; }
expect "registrations are held" false "$(of_second status registrations-held)"
expect "it is said" 1 "$(grep -c 'error: replication:' second.log)"
ctl ports | awk '{ print $2, $6 }' | sort >lids.before
stop_qosd KILL
up() { [ "$(status state)" = master ] && idle; }
until_ 20 of_second up || bad "the second does not take over: $(tail -n 5 second.log)"
of_second ctl ports | awk '{ print $2, $6 }' | sort >lids.after
expect_same "LIDs" lids.before lids.after
expect_match "groups" "ff12:401b:ffff::1" "$(of_second ctl mcast)"
end "$second" || bad "exit status $? of the second"
stop_sim
