#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests VL15, which has no flow control: ports that can buffer few SMPs drop the rest, and devices may
# be slow to answer, or dead.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "its ports have buffers that overflow"

# profile KEYS [RULE]: gives these keys to all devices except those that match the rule.
profile() {
	cat >profiles.yaml <<END
default: small
profiles:
  small: {$1}
  slow: {response: 120ms, jitter: 20ms}
nodes: [$2]
END
	sim_options=(--profiles profiles.yaml)
}
sim_field() { sim_ctl status | awk -v k="$1" '$1 == k { print $2; exit }'; }
smps_of() { sim_ctl stats | awk -v n="$1" '$2 == n && $3 == "get" { print $4 }'; }
# lost_share: prints how many of 10,000 SMPs ports dropped for lack of buffers.
lost_share() {
	local lost
	lost=$(sim_ctl drops --last 0 | awk '$1 == "vl15-full" { print $2 }')
	echo $((${lost:-0} * 10000 / $(sim_field mads)))
}
not_active() { sim_ctl status | sed -nE 's/^ports .*armed ([0-9]+), init ([0-9]+),.*/\1 \2/p'; }

# lossy N: prints line N of the ports that lost the most SMPs, with the number.
lossy() { ctl status | sed -nE 's/^ +([0-9]+) to (.*), window [0-9]+$/\2 \1/p' | sed -n "$1p"; }

# bring_up_small TOPOLOGY ROOM LIMIT: if ports can buffer ROOM SMPs, fewer than LIMIT of 10,000 must be lost,
# and all ports must come up.
bring_up_small() {
	profile "smp-queue: $2, smp-time: 10us, smp-forward: 1us" ""
	start_sim "$1"
	first=$(sim_ctl show nodes | awk '$1 == "ca" { print $2; exit }')
	rm -rf state
	once "$first" || bad "no bring-up: $(tail -n 3 once.log)"
	expect "ports Armed or Init" "0 0" "$(not_active)"
	expect_less "SMPs of 10,000 that are lost" "$3" "$(lost_share)"
	expect_match "the SM's own SMPs are lost, too" "[1-9]" "$(sim_ctl drops --last 0 | grep vl15-full)"
	sim_ctl check >audit 2>&1 || bad "the tables are wrong: $(tail -n 3 audit)"
	stop_sim
}

# promise: D70
note "ports with room for 16 SMPs"
bring_up_small fat-tree:k=16 16 50

# promise: D70
note "ports with room for 4 SMPs"
bring_up_small fat-tree:k=8 4 300

# promise: D70
note "slow devices are not asked twice"
profile "" '{name: "host-001*", profile: slow}'
start_sim fat-tree:k=4
first=$(sim_ctl show nodes | awk '$1 == "ca" { print $2; exit }')
rm -rf state
once "$first" || bad "no bring-up: $(tail -n 3 once.log)"
slow_nodes=$(smps_of NodeInfo) slow_ports=$(smps_of PortInfo)
stop_sim
profile "" ""
start_sim fat-tree:k=4
rm -rf state
once "$first" || bad "no bring-up: $(tail -n 3 once.log)"
expect "Gets of NodeInfo where 7 of 16 hosts are slow" "$(smps_of NodeInfo)" "$slow_nodes"
expect "Gets of PortInfo" "$(smps_of PortInfo)" "$slow_ports"
stop_sim

# promise: D70
note "what is lost, and to whom, is in status"
profile "smp-queue: 16, smp-time: 10us, smp-forward: 1us" ""
start_sim fat-tree:k=16
first=$(sim_ctl show nodes | awk '$1 == "ca" { print $2; exit }')
far=$(sim_ctl show nodes | awk '$1 == "ca" { n = $2 } END { print n }')
rm -rf state
start_and_wait "$first"
drops=$(sim_ctl drops --last 0 | awk '$1 == "vl15-full" { print $2 }')
# an SMP that is lost again when repeated counts once; a late answer does not count as lost
expect_match "SMPs lost, of $drops that were dropped" "[1-9]" "$(status lost)"
expect_less "SMPs lost" $((drops + 1)) "$(status lost)"
expect_less "the window after a loss" "$(status most)" "$(status cut-to)"
expect "metrics" "$(status cut-to)" "$(ctl metrics | awk '$1 == "qosd_smp_window_cut_to" { print $2 }')"
# this port loses SMPs for another reason
lose "$far" 30
port=$(printf '0x%016x' $((far + 1)))	# the GUID of a generated host's only port
far_loses_most() { ctl sweep >/dev/null; [[ "$(lossy 1)" == *" ($port) "* ]]; }
until_ 20 far_loses_most || bad "$port is not what loses most: $(ctl status | grep -A 3 ^lost)"
lose "$far" 0
expect_match "metrics" "\{guid=\"$port\".*\} [1-9]" "$(ctl metrics | grep '^qosd_port_smps_lost{')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
