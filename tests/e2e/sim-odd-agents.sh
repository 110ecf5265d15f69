#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests subnet management agents that break the rules in ways known from OpenSM's sources: the rest
# of the subnet comes up and stays up.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep to the rules"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
mapfile -t hosts < <(cas topology)
spine=$(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology | tail -n 1)
sim_options=(--profiles profiles.yaml)
state_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"state":"([^"]*)".*/\1/p'; }
# odd LIE NODE...: gives this fault to nodes of the topology.
odd() {
	local lie=$1
	shift
	printf 'profiles:\n  odd: {like: auto, lies: [%s]}\nnodes:\n' "$lie"
	printf '  - {guid: 0x%s, profile: odd}\n' "${@#*-}"
}
good=$((${#hosts[@]} - 12))	# hosts

# promise: D124
note "adapters with a LocalPortNum beyond their ports"
odd local-port "${hosts[@]:good}" >profiles.yaml
start_sim topology
start_and_wait "$node"
for host in "${hosts[@]:0:good}"; do expect "state of $host" active "$(state_of "$host")"; done
expect_match "the log" 'reports LocalPortNum 254 but has 1 ports: it is excluded' "$(<"$qosd_log")"
expect "nodes" $((good + 12)) "$(status nodes)"
# promise: D124
note "one more comes while the subnet runs"
sim_do node lie "${hosts[1]}" local-port
reboot "${hosts[1]}"
odd_excluded() { [ "$(status nodes)" = $((good + 11)) ] && subnet_up; }
until_ 20 odd_excluded || bad "nodes: $(status nodes), subnet-up $(status subnet-up)"
sim_do node lie "${hosts[1]}" none
reboot "${hosts[1]}"
is_back() { [ "$(status nodes)" = $((good + 12)) ] && subnet_up; }
until_ 20 is_back || bad "it does not come back: nodes: $(status nodes)"
note "one restarts so soon that its link is not seen to be down"
kill -STOP "$qosd"
sim_do node lie "${hosts[1]}" local-port
reboot "${hosts[1]}"
comes_up() { [ "$(state_of "${hosts[1]}")" = init ]; }
until_ 10 comes_up || bad "${hosts[1]} is $(state_of "${hosts[1]}")"
kill -CONT "$qosd"
until_ 45 odd_excluded || bad "nodes: $(status nodes), subnet-up $(status subnet-up)"
stop_qosd || bad "exit status $?"
if command -v opensm >/dev/null; then
	note "OpenSM leaves them out, too"
	bring_up_opensm "$node" 30
	grep -q 'is non-compliant and is being ignored since the local port num 254' opensm.dir/log ||
		bad "OpenSM's log does not say so"
	end "$opensm"
fi
stop_sim

# promise: D124
note "a switch that does not answer PortInfo of its port 0: no route leads over it"
rm -rf state
odd silent-port-0 "$spine" >profiles.yaml
start_sim topology
start_and_wait "$node"
expect_match "the log" "does not answer PortInfo of its port 0: its links are excluded" "$(<"$qosd_log")"
# all hosts reach each other over the remaining spines
expect "paths that do not arrive" 0 "$(sim_ctl check --sl 0 | awk '/^paths/ { print $2 - $4 }')"
stop_qosd || bad "exit status $?"
stop_sim

# promise: D124
note "the logical switch of an eHCA, which tells that it enforces partitions"
rm -rf state
leaf=$(leaf_of "${hosts[9]}" topology)
printf 'profiles:\n  ehca: {like: auto, vendor-id: 0x5076, lies: [silent-pkeys]}\n' >profiles.yaml
printf 'nodes:\n  - {guid: 0x%s, profile: ehca}\n' "${leaf#S-}" >>profiles.yaml
cat >policy.yaml <<END
port-groups:
  some: {port-guids: "0x0-0x$(printf %x $((16#${hosts[9]#H-} + 1)))"}
partitions:
  part: {pkey: 0x10, members: {some: full}}
END
start_sim topology
start_and_wait "$node" -p policy.yaml
expect_match "findings" "not enforced at [0-9]+ ports whose switch does not support it" "$(ctl -j status)"
expect "P_Key tables of the switch's ports that were asked for" 0 "$(sim_ctl drops | grep -c silent)"
sim_do check
stop_qosd || bad "exit status $?"
stop_sim
