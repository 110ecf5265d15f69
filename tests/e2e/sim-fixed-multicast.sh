#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests switches that refuse multicast forwarding tables: trees avoid them, qosd does not repeat its Sets
# forever, and joins and leaves at other switches do not wait for them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's switches take all tables"

# 8 leaves of 4 hosts, 4 spines.
"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
mapfile -t switches < <(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology | sort)
mapfile -t spines < <(comm -23 <(printf '%s\n' "${switches[@]}") \
	<(for ca in $(cas topology); do leaf_of "$ca" topology; done | sort -u))
[ "${#spines[@]}" = 4 ] || fail "no spines in the topology"
guid() { echo "0x${1#?-}"; }
port_guid() { printf '%016x\n' $((16#${1#H-} + 1)); }
cas topology | while read -r ca; do port_guid "$ca"; done >guids
sim_options=()
printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml
rests() { [ "$(status sweeping)" = false ]; }
lines() { ctl health | grep -E '^(error|warning) '; }
refusals() { lines | grep -c 'device-refuses: .* refuses Sets of MulticastForwardingTable'; }
# settled GROUPS REFUSALS: whether the devices' tables deliver so many groups to all members.
settled() {
	rests && subnet_up && [ "$(refusals)" = "$2" ] && sim_ctl check >audit 2>&1 &&
		grep -qE "^multicast groups +$1\$" audit
}
# mft_sets: prints the number of Sets of multicast forwarding tables so far.
mft_sets() { ctl -j status | awk '/"MulticastForwardingTable": \{/ { mine = 1 } /"set":/ && mine { print $2 + 0; exit }'; }
join() { on_own "$node" "$tools/joinstorm" "$@" >storm 2>&1 || bad "joinstorm $*: $(<storm)"; }

# The groups fill two blocks, and their trees have all four spines as roots.
# promise: D91
note "a spine that refuses its multicast table: trees go round it"
start_sim topology
sim_do node refuse "$(guid "${spines[0]}")" mft
start_and_wait "$node" -c qosd.yaml
join -g 40 guids
until_ 30 settled 40 1 || bad "$(lines); $(<audit)"
expect "lines of health" 1 "$(lines | wc -l)"

# promise: D91
note "another flaps, and more groups come: nothing is sent to it but for a block that is new"
before=$(mft_sets)
refused_before=$(grep -c 'MFT block' "$qosd_log")
nodes=$(status nodes)
node_is() { rests && [ "$(status nodes)" = "$1" ]; }
sim_do link down "$(guid "$far")/P1"
until_ 20 node_is $((nodes - 1)) || bad "$far is not missed"
sim_do link up "$(guid "$far")/P1"
until_ 20 node_is "$nodes" || bad "$far is not back"
until_ 30 settled 40 1 || bad "$(lines); $(<audit)"
expect "Sets that it refused" "$refused_before" "$(grep -c 'MFT block' "$qosd_log")"
join -g 80 guids
until_ 30 settled 80 1 || bad "$(lines); $(<audit)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: D91
note "a restart: each refused block is tried once"
start_and_wait "$node" -c qosd.yaml
until_ 30 settled 80 1 || bad "$(lines); $(<audit)"
expect_less "Sets of multicast tables" 6 "$(mft_sets)"

# promise: D91
note "it takes them again, and a sweep by hand finds out"
sim_do node refuse "$(guid "${spines[0]}")" none
ctl sweep >/dev/null || bad "sweep: exit status $?"
until_ 30 settled 80 0 || bad "$(lines); $(<audit)"
expect "lines of health" "" "$(lines)"

# The leaf keeps the entries of the host that left; other hosts' entries must not wait for that.
# promise: D91
note "a leaf that refuses to take entries away: others join and leave as ever"
other=$(cas topology | sed -n 9p)
port_guid "$far" >far.guid
port_guid "$other" >other.guid
join -d -g 80 other.guid
# members REFUSALS N: whether N memberships are served, including those whose entries the leaf keeps.
members() { settled 80 "$1" && grep -qE "^multicast members +$2\$" audit; }
all=$((80 * $(wc -l <guids)))
until_ 30 members 0 $((all - 80)) || bad "$(lines); $(<audit)"
sim_do node refuse "$(guid "$(leaf_of "$far" topology)")" mft
join -d -g 80 far.guid
until_ 30 eval '[ "$(refusals)" = 1 ]' || bad "$(lines)"
join -g 80 other.guid
until_ 30 members 1 "$all" || bad "$(lines); $(<audit)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
