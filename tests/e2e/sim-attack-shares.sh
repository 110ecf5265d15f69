#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests greedy hosts that register all they can: groups, services, subscriptions and alias GUIDs,
# for themselves and on behalf of others.  Other hosts can still join, register and subscribe, and
# partitions still get their IPoIB groups, also after a restart.  Health names the greedy hosts.
# The operator can remove their registrations; these end when the hosts leave.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no small multicast tables"
[ -x "$tools/hoard" ] || { echo "$tools/hoard is missing: make check-programs"; exit 1; }

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
greedy=(H-f452140300811230 H-f452140300811240 H-f452140300811250)
greedy_guids=(f452140300811231 f452140300811241 f452140300811251)
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
node017_guid=248a070300a25c41
end_us=$((${EPOCHREALTIME/./} + $(attack_seconds 0) * 1000000))
seed=${SEED:-$((RANDOM << 15 | RANDOM))}
echo "SEED=$seed"
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
END
cat >qosd.yaml <<'END'
sweep-interval: 1s
forget-after: 2s
groups-max: 2400
groups-per-port: 800
services-max: 240
services-per-port: 80
subscriptions-max: 192
subscriptions-per-port: 64
alias-guids-max: 72
alias-guids-per-port: 32
sa-transfers-max: 14
sa-transfers-per-port: 4
END
printf 'default: it\nprofiles:\n  it: {mft: 32}\n' >profiles.yaml

hoard() { on_own "$1" "$tools/hoard" -r "$seed" "${@:2}" >hoard.out 2>&1 || bad "hoard: $(<hoard.out)"; }
granted() { sed -nE "s/^$1 granted=([0-9]+) .*/\1/p" hoard.out; }
# held KIND: prints how many registrations all hosts hold; held_by GUID KIND: how many one host holds.
held() { ctl -j holdings | tr -d ' \n' | sed -nE "s/.*\"kind\":\"$1\",\"held\":([0-9]+).*/\1/p"; }
held_by() { ctl -j holdings | tr -d ' \n' | tr '{' '\n' | sed -nE "s/.*\"guid\":\"0x$1\".*\"$2\":([0-9]+).*/\1/p"; }
holds() { [ "$(held_by "$1" "$2")" = "$3" ]; }
held_is() { [ "$(held "$1")" = "$2" ]; }
health() { ctl health | sed -nE "s/^[a-z]+ +$1: (.*)/\1/p"; }
healthy() { [ -z "$(health "$1")" ]; }
join() {	# join NODE GUID GROUP
	on_own "$1" "$tools/pathquery" set member mgid="ff12:401b:ffff::$3" port-gid="$(gid "$2")" join-state=1 \
		qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0 2>&1
}
client() { on_own "$1" "$tools/saclient" "${@:2}" 2>&1; }
# others_are_served ROUND: a host with few registrations must get what it requests.
others_are_served() {
	expect_match "$1: a group of another host" "mlid=0xc0" "$(join "$gpu01" $gpu01_guid "$2")"
	expect_match "$1: a service of another host" "id=0x$2 " \
		"$(client "$gpu01" service set id="0x$2" gid="$(gid $gpu01_guid)" lease=3600 name=mine)"
	expect "$1: a subscription of another host" 0 "$(client "$gpu01" subscribe trap="$((16#$2 % 200))" >out; echo $?)"
	[ "$3" = 0 ] || expect_match "$1: an alias GUID of another host" "guid$3=0x0*[1-9a-f]" \
		"$(on_own "$gpu01" "$tools/pathquery" set guidinfo lid="$lid" block=0 "guid$3=0" 2>&1)"
}

sim_options=(--profiles profiles.yaml)
start_sim "$topology"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
lid=$(port_info "$sm_node" 0x$gpu01_guid 1 Lid)

# promise: A30
note "one host takes all it can"
hoard "${greedy[0]}" -g 1000 -s 100 -e 70 -a 4
expect "subscriptions granted" 64 "$(granted subscriptions)"
expect "services granted" 80 "$(granted services)"
expect "aliases granted" 31 "$(granted aliases)"
for kind in groups services subscriptions; do
	expect "status of refused $kind" 0x0100 "$(sed -nE "s/^$kind .*status=(.*)/\1/p" hoard.out)"
done
mlids=$(held_by "${greedy_guids[0]}" mlids)
expect_less "MLIDs of the greedy host" 17 "$mlids"
others_are_served "beside one" a1 1
expect_match "health" "node001 HCA-1/P1 .* holds .*80 services and 64 subscriptions" "$(health port-at-bound)"

# promise: A30
note "three hosts do, and one speaks for another"
hoard "${greedy[1]}" -g 1000 -s 100 -e 70 -a 4
hoard "${greedy[2]}" -g 1000 -s 100 -e 70 -a 4
before=$(held_by $node017_guid memberships)
hoard "${greedy[2]}" -g 1000 -p $node017_guid
expect "memberships of the host that was spoken for" "$before" "$(held_by $node017_guid memberships)"
others_are_served "beside three" b2 2
expect_match "health" "services; the limit for all ports is 240|the limit for all ports: further" "$(health registry-filling) $(health registry-full)"
expect_match "qosd-ctl holdings" "SHARE.*100 %" "$(ctl holdings | tr '\n' ' ')"

# Enough greedy hosts to use up the reserve for newcomers, too: 72 + 74 + 74 + 30 * 4 = 240.
# promise: A92
note "a table that many greedy hosts have filled takes the first entry of each other host"
mapfile -t hosts < <(cas "$topology" | grep -vxF -e "$sm_node" -e "$gpu01" "${greedy[@]/#/-e}")
for host in "${hosts[@]:0:12}"; do hoard "$host" -s 6; done
is_full() { [ "$(held services)" -ge 240 ]; }
is_full || bad "the table is not full: $(held services) services"
for host in "${hosts[@]:12:3}"; do
	hoard "$host" -s 3
	expect "services of a host that had none" 1 "$(granted services)"
done
for host in "${hosts[@]:0:15}"; do
	ctl holdings remove "0x$(printf %x $((16#${host#H-} + 1)))" >out 2>&1 || bad "holdings remove: $(<out)"
done

# promise: A31
note "a partition gets its IPoIB group"
ctl partition add job1 "0x$gpu01_guid" --pkey 0x101 --ipoib --wait >out 2>&1 || bad "partition: $(<out)"
expect_match "its group" "0x8101|0x0101" "$(ctl mcast | grep 'ff12:401b:8101.*(policy)')"

# promise: A30
note "all that was granted outlives the daemon, and so do the bounds"
groups=$(held groups) services=$(held services) ours=$(held_by "${greedy_guids[0]}" groups)
saved() { [ "$(status sweeping)" = false ] && [ "$(grep -c ^service state/services)" = "$services" ]; }
until_ 10 saved
stop_qosd
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "groups after a restart" "$groups" "$(held groups)"
expect "services after a restart" "$services" "$(held services)"
expect "groups of one host after a restart" "$ours" "$(held_by "${greedy_guids[0]}" groups)"
hoard "${greedy[0]}" -s 90
others_are_served "after a restart" c3 0

# promise: A31
note "more partitions than there are MLIDs: the command says so"
n=1
while [ $n -lt 40 ] && ctl partition add job$((++n)) --pkey $((0x100 + n)) --ipoib >out 2>&1; do :; done
expect_match "the answer" "cannot have its IPoIB broadcast group because no multicast LID is free" "$(<out)"
[ $n -ge 3 ] || bad "only $n partitions got a group"
expect "it is not there" "" "$(ctl -j partitions | grep "\"job$n\"")"

# promise: A31
note "a policy with one more is an error in health, until there is an MLID"
# A partition gets its group after the answer to its command.
printf -v last_mgid 'ff12:401b:%x:' $((0x8100 + n - 1))
last_has_group() { ctl mcast 2>/dev/null | grep -q "$last_mgid"; }
until_ 20 last_has_group || bad "the last partition that was accepted has no group: $(ctl health)"
until_ 10 subnet_up
sed '$a\  more: {pkey: 0x99, members: {all: full}, ipoib: true}' policy.yaml >more.yaml
ctl policy load more.yaml >out 2>&1 || bad "policy: $(<out)"
lacks() { [[ $(health ipoib-group-missing) == *"partition more has no IPoIB broadcast group"* ]]; }
until_ 10 lacks || bad "health does not say that a partition lacks its group: $(ctl health)"
# an MLID that only greedy hosts' groups use: all such groups
mlid=$(ctl mcast | awk '/0xc0/ { if (/ff12:1d1d/) n[$1]++; else n[$1] += 10000 } END { for (m in n) print n[m], m }' |
	sort -n | sed -n '1s/.* //p')
for group in $(ctl mcast "$mlid" | awk '$1 == "'"$mlid"'" { print $7 }'); do
	ctl mcast remove "$group" >out 2>&1 || bad "mcast remove $group: $(<out)"
done
until_ 10 healthy ipoib-group-missing || bad "no group for the partition: $(health ipoib-group-missing)"
expect_match "a group of the policy" "part of the policy" "$(ctl mcast remove ff12:401b:ffff::ffff:ffff 2>&1)"

# promise: A75
note "hosts that ask for tables and take none, by many QPs"
# take_none NODE: requests six tables, of which the SA serves four at a time, and acknowledges nothing
silent_askers=()
take_none() {
	local n as
	as_own "$1"
	for n in 1 2 3 4 5 6; do
		"${as[@]}" "$tools/rmppsilent" -a 0 -t 60 0x11 >"silent.$1.$n" 2>&1 &
		silent_askers+=($!)
		pids+=($!)
	done
}
on_own "$gpu01" "$tools/rmppsilent" -w 1 -t 60 0x11 >out 2>&1 || bad "a table: $(<out)"
take_none "${greedy[0]}"
until_ 10 holds "${greedy_guids[0]}" transfers 4 || bad "it has $(held_by "${greedy_guids[0]}" transfers) answers under way"
take_none "${greedy[1]}"
take_none "${greedy[2]}"
until_ 10 held_is transfers 12 || bad "there are $(held transfers) answers under way: $(ctl holdings)"
expect_match "health" "12 RMPP answers under way; the limit for all ports is 14" "$(health registry-filling)"
on_own "$gpu01" "$tools/rmppsilent" -w 1 -t 60 0x11 >out 2>&1 || bad "a table beside them: $(<out)"
expect_match "who holds most of it" "${greedy_guids[0]}|node00[123]" "$(ctl holdings --by transfers | sed -n 8p)"
for guid in "${greedy_guids[@]}"; do
	ctl holdings remove "0x$guid" >out 2>&1 || bad "holdings remove: $(<out)"
done
until_ 10 held_is transfers 0 || bad "there are $(held transfers) answers under way, after they were removed"
# the SA may have given up on the oldest requests before
ended() { [ "$(cat silent.* | grep -cE 'aborted 12[67]')" = "$1" ]; }
until_ 10 ended 12 || bad "answers that were ended: $(cat silent.*)"
for silent_asker in "${silent_askers[@]}"; do end "$silent_asker"; done
expect_match "by the command" "aborted 127" "$(cat silent.*)"

# promise: A32
note "what one host holds is taken away by hand"
for host in "${greedy[@]}"; do hoard "$host" -g 3 -s 20 -e 2 -a 1; done
# a host that is alive and acts as Linux does
as_own "${greedy[1]}"
"${as[@]}" "$tools/ipoibjoin" -p 0x7fff -f >join.out 2>&1 &
join=$!
pids+=("$join")
until_ 10 grep -q '^start status=0' join.out || bad "the host does not join: $(<join.out)"
# columns GUID: prints columns of the host's row; not_of NAME: prints all other rows
columns() { ctl holdings | awk '/HCA/ && /'"$1"'/ { print $3, $5, $6, $7, $8 }'; }
not_of() { ctl holdings | sed '1,/SHARE/d' | grep -v "$1" | sort; }
expect "what is shown of it" "3 4 20 2 7" "$(columns "${greedy_guids[1]}")"
not_of node002 >before
ctl holdings remove 'node002 HCA-1/P1' >out 2>&1 || bad "holdings remove: $(<out)"
expect "the answer" "taken from node002 HCA-1/P1 (0x${greedy_guids[1]}): 3 groups, 4 memberships, \
20 services, 2 subscriptions, 7 aliases" "$(grep -o '^taken.*aliases' out)"
has_none() { [[ ! $(held_by "$1" services) =~ [1-9] ]]; }
until_ 10 has_none "${greedy_guids[1]}" || bad "it still holds: $(ctl holdings)"
not_of node002 >after
expect_same "what others hold" before after
expect_match "the event" "0x${greedy_guids[1]}: .* 4 memberships, 20 services" "$(ctl events --kind registrations)"
until_ 10 grep -q '^reregister status=0' join.out || bad "the host is not asked to register again: $(<join.out)"
expect "what it needs it has again" "0 1 0 0 0" "$(columns "${greedy_guids[1]}")"
end "$join"

# promise: A32
note "by LID, and in JSON"
ctl -j holdings remove "$(port_info "$sm_node" "0x${greedy_guids[0]}" 1 Lid)" >out 2>&1 || bad "by LID: $(<out)"
expect "the answer" "node001 HCA-1/P1 (0x${greedy_guids[0]}) 0x${greedy_guids[0]} 3 3 20 2 7 0" \
	"$(jq -r '"\(.port) \(.guid) \(.groups) \(.memberships) \(.services) \(.subscriptions) \(.aliases) \(.transfers)"' out)"

# promise: A32
note "there is nothing to take away, or no such port"
# the port of a host without registrations, by GUID, LID and name
for port in 0xf452140300811261 "$(port_info "$sm_node" 0xf452140300811261 1 Lid)" 'node004 HCA-1/P1'; do
	ctl holdings remove "$port" >out 2>&1
	expect "exit status for $port" 1 $?
	expect "the error" "qosd-ctl: $port: the port holds nothing" "$(<out)"
done
for port in '' nonsense -1 0 0x0 0x 99999 65536 0xc000 "0x${greedy_guids[2]}x" 'node003 HCA-1/P9'; do
	ctl holdings remove -- "$port" >out 2>&1
	expect "exit status for '$port'" 1 $?
	expect_match "the error" "^qosd-ctl: $port: no such port: give NodeDescription/Pn, a host or node with one end port, a GUID or a LID" "$(<out)"
done
expect "in JSON" "false nonsense: no such port" \
	"$(ctl -j holdings remove nonsense 2>/dev/null | jq -r '"\(.ok) \(.error)"' | cut -d: -f1,2)"
has_some() { [[ $(held_by "$1" services) =~ [1-9] ]]; }
holds "${greedy_guids[2]}" services 20 || bad "nonsense took something away: $(ctl holdings)"

# promise: A33
note "what hosts left behind goes, over a restart"
hoard "${greedy[0]}" -s 20
unplug "${greedy[0]}"
is_gone() { ctl -j holdings | tr -d ' \n' | tr '{' '\n' | grep "${greedy_guids[0]}" | grep -q '"gone-for":[0-9]'; }
until_ 10 is_gone || bad "it is not seen to be gone: $(ctl holdings)"
until_ 10 grep -q "${greedy_guids[0]}" state/gone || bad "since when it is gone is not kept"
since=$(awk '/^gone/ { print $3 }' state/gone)
stop_qosd KILL
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
kept() { [ "$(awk '/^gone/ { print $3 }' state/gone)" = "$since" ] || has_none "${greedy_guids[0]}"; }
until_ 10 kept || bad "gone since $since, and after a restart since $(<state/gone)"
until_ 10 has_none "${greedy_guids[0]}" || bad "what it left is still there: $(ctl holdings)"
expect_match "the event" "dropped what" "$(ctl events --kind registrations)"
has_none "${greedy_guids[1]}" || bad "what was taken away is there again after a restart: $(ctl holdings)"
has_some "${greedy_guids[2]}" || bad "what a host holds that is there went, too"
expect_match "a service of another host" "id=0xb2 " "$(client "$gpu01" service get id=0xb2)"
plug "${greedy[0]}"
until_ 10 subnet_up

# promise: A76
note "for how long a port is gone is the standby's to know, too"
sed 's/^forget-after:.*/forget-after: 1h/' qosd.yaml >patient.yaml
stop_qosd
start_and_wait "$sm_node" -c patient.yaml -p policy.yaml
hoard "$gpu01" -s 5
as_own "${greedy[1]}"
"${as[@]}" "$build/qosd" -F -s second.sock -d second -c patient.yaml -p policy.yaml >second.log 2>&1 &
second=$!
pids+=("$second")
of_second() { local sock=second.sock; "$@"; }
stands_by() { [ "$(status registrations-held)" = true ]; }
until_ 20 of_second stands_by || bad "the second does not stand by: $(tail -n 3 second.log)"
unplug "${greedy[2]}"
gone_for() { ctl -j holdings | tr -d ' \n' | tr '{' '\n' | sed -nE "s/.*0x$1.*\"gone-for\":([0-9]+).*/\1/p"; }
is_long_gone() { [ "$(gone_for "${greedy_guids[2]}")" -ge 2 ]; } 2>/dev/null
until_ 10 is_long_gone || bad "it is gone for $(gone_for "${greedy_guids[2]}") s"
until_ 10 of_second stands_by || bad "the second has not got all"
stop_qosd KILL
is_master() { status_is state=master subnet-up=true; }
until_ 20 of_second is_master || bad "the second does not take over: $(tail -n 3 second.log)"
of_second is_long_gone || bad "it is gone for $(of_second gone_for "${greedy_guids[2]}") s, says the second"
of_second holds $gpu01_guid services 6 || of_second has_some $gpu01_guid || bad "the second has not got the services"
plug "${greedy[2]}"
is_back() { [ -z "$(gone_for "${greedy_guids[2]}")" ]; }
until_ 10 of_second is_back || bad "that it is back is not seen"
end "$second" || bad "exit status $? of the second"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml

# promise: A30
note "again and again, for as long as asked for"
# remove PORT-GUID...: removes the ports' registrations, if they have any
remove() {
	local guid
	for guid; do
		ctl holdings remove "0x$guid" >out 2>&1 || grep -q "holds nothing" out || bad "holdings remove: $(<out)"
	done
}
# totals: prints the totals of the registrations that do not expire
totals() { ctl -j holdings | jq -r '.kinds[:6][] | "\(.kind) \(.held)"'; }
remove "${greedy_guids[@]}" $gpu01_guid
totals >before
expect "kinds of entries that stay" 6 "$(wc -l <before)"
round=0 wrong_before=$wrong
while [ $round -lt 4 ] || [ "${EPOCHREALTIME/./}" -lt "$end_us" ]; do
	seed=$((seed + 1)) round=$((round + 1))
	for host in "${greedy[@]}"; do hoard "$host" -g 1000 -s 100 -e 70 -a 4; done
	others_are_served "round $round" "$(printf %x $((0x1000 + round % 20)))" $((1 + round % 7))
	# later rounds would only repeat the failure
	[ "$wrong" -eq "$wrong_before" ] || { ctl holdings; break; }
	# the host must ask as a newcomer each time: nothing is promised to a host that holds more
	remove "${greedy_guids[round % 3]}" $gpu01_guid
done
echo "rounds: $round"
remove "${greedy_guids[@]}" $gpu01_guid
totals >after
expect_same "what is held in all, without them" before after
stop_qosd || bad "exit status $?"
stop_sim
