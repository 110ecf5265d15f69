#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what it costs to isolate a switch, and to release it: links that qosd itself has taken down are no news, and
# nothing is discovered or planned because they train again.  When the switch is released, qosd reads the ports of its links, and of its tables only samples,
# unless the switch has restarted or other tables are wanted meanwhile.  Only traps report changes here, and time is the
# simulator's.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim does not count"

printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml
# policy TABLE: prints a policy with this SL-to-VL table.
policy() {
	cat <<END
fabric-setup:
  sl2vl:
    - {group: all, table: [$1, 15]}
  vlarb:
    - {group: all, high: ["3:192"], low: ["0:64", "1:64", "2:128"], high-limit: 10}
END
}
first="0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0" second="0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0"
counted() { awk -v a="$1" -v m="$2" '$2 == a && $3 == m { n = $4 } END { print n + 0 }' counts; }
rests() { status_is nodes="$1" sweeping=false subnet-up=true && [ "$(ctl -j status | jq '.withdrawn.change == .withdrawn."change-in-force"')" = true ]; }
tables() {
	{
		sim_ctl show lft "$spine"
		sim_ctl show sl2vl "$spine" | awk '$1 != $2'
		sim_ctl show vlarb "$spine/P1"
		sim_ctl show vlarb "$spine/P8"
	} >"$1" 2>&1
}
in_init() { [ "$(sim_ctl show links "$spine" | grep -cw init)" -eq 8 ]; }
# quiet NODES: lets everything happen that is under way, such as sweeps for late traps.
quiet() {
	until_passed 20 rests "$1" || bad "no rest: $(status nodes) nodes"
	sim_do pass 15s
}
isolate() {
	ctl isolate "$spine" >out 2>&1 || bad "isolate: $(<out)"
	quiet $((nodes - 1))
	in_init || bad "its links are not in Init: $(sim_ctl show links "$spine")"
}
release() {
	sim_ctl stats --reset >/dev/null
	ctl release "$spine" >out 2>&1 || bad "release: $(<out)"
	until_passed 20 rests "$nodes" || bad "no rest after release: $(status nodes) nodes"
	sim_ctl stats >counts
	sim_ctl check --switches >audit 2>&1 || bad "the auditor: $(tail -n 4 audit)"
}

simulated_time
sim_options=(--time-stands)
start_sim fat-tree:k=8
sim_ctl show nodes >nodes
manager=$(awk '$1 == "ca" { print $2; exit }' nodes)
spine=$(awk '/spine/ { print $2; exit }' nodes)
policy "$first" >policy.yaml
start_and_pass "$manager" -c qosd.yaml -p policy.yaml
nodes=$(status nodes)
quiet "$nodes"
tables before

# promise: F22
note "an isolation"
sim_ctl stats --reset >/dev/null
sweeps=$(status sweeps) discovery=$(ctl -j status | jq .smps.discovery)
ctl isolate "$spine" >out 2>&1 || bad "isolate: $(<out)"
until_passed 20 rests $((nodes - 1)) || bad "no rest: $(status nodes) nodes"
sim_do pass 1s
until_passed 20 rests $((nodes - 1)) || bad "no rest after the traps: $(status nodes) nodes"
sim_ctl stats >counts
in_init || bad "its links are not in Init: $(sim_ctl show links "$spine")"
echo "traps: $(awk '$3 == "trap" { n = $4 } END { print n + 0 }' counts); Gets: $(counted PortInfo get) PortInfo, $(counted NodeInfo get) NodeInfo, $(counted SwitchInfo get) SwitchInfo"
expect "sweeps" $((sweeps + 1)) "$(status sweeps)"
expect "SMPs of discoveries" "$discovery" "$(ctl -j status | jq .smps.discovery)"
expect "Sets of PortInfo, one for each link" 8 "$(counted PortInfo set)"
expect "Gets of NodeInfo" 0 "$(counted NodeInfo get)"
# of each of 8 neighbors port 0, and of each of 4 leaves the ports of its 4 hosts
expect_less "Gets of PortInfo" 25 "$(counted PortInfo get)"
expect "its ends" "init init init init init init init init" "$(ctl -j withdrawn | jq -r '[.places[].ends[].state] | join(" ")')"
# ports that were not read are read when there is time, which finds nothing
quiet $((nodes - 1))
expect "sweeps" $((sweeps + 1)) "$(status sweeps)"

# promise: K7
note "a release"
release
tables after
expect_same "tables before and after" before after
echo "Gets: $(counted SLtoVLMappingTable get) SL2VL, $(counted VLArbitrationTable get) VLArb, $(counted LinearForwardingTable get) LFT, $(counted PortInfo get) PortInfo"
expect "Sets of its tables" "0 0" "$(counted SLtoVLMappingTable set) $(counted VLArbitrationTable set)"
expect_less "Gets of its 64 SL2VL tables" 16 "$(counted SLtoVLMappingTable get)"
expect_less "Gets of its 32 blocks of arbitration" 24 "$(counted VLArbitrationTable get)"
# 9 ports of the switch, and one at the other end of each link
expect_less "Gets of PortInfo" 25 "$(counted PortInfo get)"
expect_less "Sets of PortInfo, to Armed and to Active at both ends, and of port 0" 34 "$(counted PortInfo set)"

# promise: K7
note "it has restarted meanwhile"
isolate
sim_do node reboot "$spine"
quiet $((nodes - 1))
in_init || bad "its links are not in Init: $(sim_ctl show links "$spine")"
release
tables after
expect_same "tables before and after" before after

# promise: K7
note "the policy has changed meanwhile"
isolate
policy "$second" >policy.yaml
ctl reload >out || bad "reload: $(<out)"
quiet $((nodes - 1))
release
tables other
policy "$first" >policy.yaml
ctl reload >out || bad "reload: $(<out)"
quiet "$nodes"
tables after
expect_same "tables before and after" before after
! cmp -s before other || bad "the second policy changes nothing"
stop_and_pass || bad "exit status $?"

# promise: K7
note "without a policy"
rm -rf state
start_and_pass "$manager" -c qosd.yaml
quiet "$nodes"
isolate
release
expect_less "Gets of its 64 SL2VL tables" 16 "$(counted SLtoVLMappingTable get)"
expect_less "Gets of its 32 blocks of arbitration" 24 "$(counted VLArbitrationTable get)"
stop_and_pass || bad "exit status $?"
stop_sim

# promise: F22
note "devices that take 20 ms for an answer"
rm -rf state
printf 'default: slow\nprofiles:\n  slow: {response: 20ms}\n' >slow.yaml
sim_options=(--time-stands --profiles slow.yaml)
start_sim fat-tree:k=8
start_and_pass "$manager" -c qosd.yaml
quiet "$nodes"
sim_ctl stats --reset >/dev/null
isolate
sim_ctl stats | awk '$2 == "PortInfo" && $3 == "set" { printf "%d %.0f\n", $4, ($7 - $6) * 1000 }' >took
echo "Sets of PortInfo, and ms from the first to the last: $(<took)"
expect "Sets of PortInfo, one for each link" 8 "$(cut -d ' ' -f 1 took)"
# one after the other they take 140 ms and more
expect_less "ms from the first to the last of them" 20 "$(cut -d ' ' -f 2 took)"
stop_and_pass || bad "exit status $?"
stop_sim
