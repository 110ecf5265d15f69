#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests groups that are created after OpenSM has managed the subnet.  Switches drop packets to MLIDs
# above SwitchInfo.MulticastFDBTop, which OpenSM leaves at the last block in use.  A host sends to each
# group, and every other member must get the packet.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's switches have no MulticastFDBTop"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

sim_options=(--preset quantum)
"$tools/gentopo" fat-tree --levels 2 --radix 4 >fat.topo || fail "gentopo"
sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' fat.topo >all.guids
mapfile -t hosts < <(cas fat.topo)
sm_node=${hosts[0]} far=${hosts[-1]}
mapfile -t switches < <(sed -nE 's/^Switch[[:space:]]+[0-9]+ "(S-[0-9a-f]+)".*/\1/p' fat.topo)
highest=0xfffe	# 16,383 MLIDs

# The first two groups exist when OpenSM manages the subnet; the others are created later.
before=2 later=70 last=100

storm() {
	expect_match "joins to $1 groups" "refused=0" "$(on_own "$far" "$tools/joinstorm" -g "$1" all.guids 2>&1)"
}
switch_top() { on "$sm_node" smpquery -G switchinfo "0x${1#S-}" 2>&1 | sed -nE 's/^MulticastFDBTop:\.+(.*)$/\1/p'; }
tops() { for s in "${switches[@]}"; do switch_top "$s"; done | sort -u | xargs; }
# On a switch without a tree, MulticastFDBTop is 0xbfff.
opensm_limits() { [[ $(tops) =~ ^(0xbfff )?0xc01f$ ]]; }
audit() { "$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >audit 2>&1; }
groups_are() { audit && [ "$(sed -nE 's/^multicast groups +([0-9]+)$/\1/p' audit)" = "$1" ]; }
await_groups() { until_ 15 groups_are "$1" || bad "$2: not the trees of $1 MLIDs: $(grep -A 3 ': [0-9]*$' audit | head -n 6)"; }
received() {
	for h in "${hosts[@]}"; do
		sim_ctl -j show counters "$h/P1" | grep -oE '"multicast-rcv-packets":[0-9]+'
	done | awk -F: '{ n += $2 } END { print n + 0 }'
}
# all_get MLID: one packet from the last host must reach all others.
all_get() {
	local was
	was=$(received)
	on_own "$far" "$tools/rawmad" -d "$1" 0x04 1 1 0 >/dev/null 2>&1
	expect "members that got a packet to $1" $((${#hosts[@]} - 1)) $(($(received) - was))
}

start_sim fat.topo
note "OpenSM limits multicast forwarding to what is in use"
bring_up_opensm "$sm_node" 20 -s 1
storm $before
until_ 20 opensm_limits || bad "OpenSM leaves MulticastFDBTop $(tops)"
all_get 0xc001
end "$opensm"

# An error status counts only once, and BUSY never, whatever other bits are set.
# promise: D40 D92
note "groups that are made after OpenSM, and errors by chance"
sim_do node refuse "${switches[0]}" switch-info --times 1
sim_do node refuse "${switches[1]}" switch-info --status 0x0005 --times 2
start_and_wait "$sm_node"
expect "MulticastFDBTop" "$highest" "$(tops)"
expect "refused by chance" 1 "$(grep -c 'perhaps because of MulticastFDBTop' "$qosd_log")"
expect "BUSY taken for a refusal" "" "$(grep 'status 0x0005' "$qosd_log")"
expect "lines of health" "" "$(ctl health | grep -E '^(error|warning) ')"
storm $later
await_groups $later "after OpenSM"
all_get 0xc001
all_get 0xc040
expect "multicast packets that were dropped" "" "$(sim_ctl drops | grep -i mcast)"

# promise: D40
note "a restart, and more groups"
stop_qosd
start_and_wait "$sm_node"
storm $last
await_groups $last "after a restart"
all_get 0xc060
expect "Sets of SwitchInfo" 0 "$(ctl -j status | awk '/"SwitchInfo": \{/ { i = 1 } /"set":/ && i { n = $2; i = 0 } END { print n + 0 }')"
stop_qosd

# promise: D40
note "a switch that does not take it: fewer MLIDs, which groups share, and one line in health"
for lie in refuses keeps; do
	bring_up_opensm "$sm_node" 20 -s 1
	storm $before
	until_ 20 opensm_limits || bad "OpenSM leaves MulticastFDBTop $(tops)"
	end "$opensm"
	sim_do node lie "${switches[0]}" $lie-multicast-top
	rm -rf state
	start_and_wait "$sm_node"
	expect "MulticastFDBTop where it $lie it" 0xc01f "$(switch_top "${switches[0]}")"
	expect "MulticastFDBTop of another" "$highest" "$(switch_top "${switches[1]}")"
	storm $later
	# one port requests all groups, and qosd gives it half of the MLIDs
	await_groups 16 "a switch $lie it"
	for mlid in 0xc001 0xc00f; do all_get $mlid; done
	expect_match "MLIDs in use" "16 of 32 MLIDs" "$(ctl mcast)"
	expect_match "health" "keeps other values" "$(ctl health)"
	expect "lines of health about it" 1 "$(ctl health | grep -c "keeps other values")"
	sets=$(sets)
	swept=$(status sweeps)
	ctl sweep >/dev/null
	is_swept() { [ "$(status sweeps)" -gt "$swept" ] && [ "$(status sweeping)" = false ]; }
	until_ 10 is_swept || bad "no sweep"
	expect "Sets of another sweep" 0 $(($(sets) - sets))
	stop_qosd
	sim_do node lie "${switches[0]}" none
done
