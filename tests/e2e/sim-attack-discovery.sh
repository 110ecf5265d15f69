#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Devices that discovery dies of, or comes to no end with: it goes round them, names them by their
# place, leaves our own port out of it, and takes them back by itself.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep to the rules"
liar=$tools/discoliar.so
[ -f "$liar" ] || { echo "$liar is missing: make check-programs"; exit 1; }

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
mapfile -t hosts < <(cas topology)
victim=${hosts[20]}
leaf=$(leaf_of "$victim" topology)
spine=$(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology | tail -n 1)
all=$(grep -cE '^(Switch|Ca|Hca)' topology)
printf 'sweep-interval: 1\n' >qosd.yaml
sim_options=(--profiles profiles.yaml)
printf 'profiles: {}\n' >profiles.yaml
export DISCOLIAR=$work/lie
plain=$own_preload
# lies LIE NODE: from now on, also to processes that run; "none -".
lies() { printf '%-62s\n' "$1 ${2#*-}" | dd of="$DISCOLIAR" conv=notrunc status=none; }
start() { start_and_wait "$node" -c qosd.yaml; }
nodes_are() { [ "$(status nodes)" = "$1" ] && subnet_up; }
health() { ctl -j health | grep '"text"'; }
left_out() { health | grep -q 'it is left out'; }
back() {
	lies none -
	until_ 20 nodes_are "$all" || bad "$1: it does not come back: $(status nodes) of $all nodes"
	expect "health after $1" "" "$(health | grep 'left out')"
}

note "a switch of Voltaire's line boards and one of its spines that are no chassis"
{
	printf 'profiles:\n  line: {like: auto, vendor-id: 0x08f1, device-id: 0x5a09}\n'
	printf '  spine: {like: auto, vendor-id: 0x08f1, device-id: 0x5a0b}\nnodes:\n'
	printf '  - {guid: 0x%s, profile: line}\n' "${leaf#*-}"
	printf '  - {guid: 0x%s, profile: spine}\n' "${spine#*-}"
} >profiles.yaml
start_sim topology
start
expect nodes "$all" "$(status nodes)"
stop_qosd || bad "exit status $?"

own_preload="${plain% *} $liar $preload"	# before the simulator's library, behind a sanitizer's
: >"$DISCOLIAR"
note "at the start"
for lie in kill exit hang memory; do
	if [ $lie = memory ] && [ "$slow" -gt 1 ]; then
		continue	# a sanitizer's build has no bound
	fi
	rm -rf state
	lies $lie "$victim"
	start
	nodes_are $((all - 1)) || bad "$lie: $(status nodes) of $all nodes"
	expect_match "health of $lie" "the device at leaf[0-9]+/P[0-9]+ .*: it is left out" "$(health)"
	expect "words of our own port" "" "$(grep 'our own port' "$qosd_log")"
	back "$lie"
	stop_qosd || bad "exit status $?"
done

note "identities that are not theirs: the rest is served, whoever lies is named, all is right again"
# told LIE NODE: at the start; how many nodes are served then.
told() {
	rm -rf state
	sim_do fault falsify "$1" --at "$2"
	start
	nodes_are "$3" || bad "$1 of $2: $(status nodes) nodes, not $3"
	left_out || bad "$1 of $2: health does not name it: $(health)"
	expect "paths that do not arrive with $1" "$4" "$(sim_ctl check --sl 0 | awk '/^paths/ { print $2 - $4 }')"
	sim_do fault remove all
	until_ 20 nodes_are "$all" || bad "$1 of $2 ends: $(status nodes) of $all nodes"
	settled() { subnet_up && ! left_out; }
	until_ 20 settled || bad "$1 of $2 ends: $(health)"
	stop_qosd || bad "exit status $?"
}
lies none -
told node-guid-random "$spine" $((all - 1)) 0
told local-port-other "$spine" "$all" 0
told modifier "$spine" $((all - 1)) 0
told node-guid-sm "$victim" $((all - 1)) 31
told node-guid-other "$spine" $((all - 1)) 31

note "while the subnet runs"
start
RANDOM=$((seed = ${SEED:-$RANDOM}))
echo "seed $seed"
end=$((SECONDS + $(attack_seconds 0)))
lies=(endless kill hang memory)
round=0
while [ $round -eq 0 ] || [ $SECONDS -lt $end ]; do
	lie=${lies[$((round++ ? RANDOM % (slow > 1 ? 3 : 4) : 0))]}
	[ $round -eq 1 ] || victim=${hosts[1 + RANDOM % (${#hosts[@]} - 1)]}
	lies $lie "$victim"
	ctl sweep >/dev/null
	until_ 20 left_out || bad "$lie of $victim: nobody is left out"
	until_ 20 nodes_are $((all - 1)) || bad "$lie of $victim: $(status nodes) of $all nodes"
	back "$lie"
done
stop_qosd || bad "exit status $?"
stop_sim
