#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices that crash the discovery process or keep it from ending: discovery goes round
# them, names them by their place, never excludes the manager's own port, and takes them back
# by itself.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep to the rules"
lies_preload=$tools/discolies.so
[ -f "$lies_preload" ] || { echo "$lies_preload is missing: make check-programs"; exit 1; }

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
export DISCOLIES=$work/lie
plain=$own_preload
# lies LIE NODE...: makes the nodes lie from now on, also to running processes; "none -" ends it.
lies() { printf '%-4094s\n' "$1 $(sed 's/[HS]-//g' <<<"${*:2}")" | dd of="$DISCOLIES" conv=notrunc status=none; }
start() { start_and_wait "$node" -c qosd.yaml; }
nodes_are() { [ "$(status nodes)" = "$1" ] && subnet_up; }
health() { ctl -j health | grep '"text"'; }
excluded() { health | grep -q 'it is excluded'; }
# The lies of $DISCOLIES reach the discovery process only.  The daemon takes the device back at its
# next light sweep; the log still tells that discovery went round the device.
lines() { wc -l <"$qosd_log"; }
# went_round LINES: whether discovery went round a device since the log had so many lines.  The log
# suppresses repeated lines; then the line that the device is taken back proves the same.
went_round() {
	local since
	since=$(tail -n "+$(($1 + 1))" "$qosd_log")
	grep -qE 'the device at (leaf[0-9]+/P[0-9]+|port [0-9]+ of) .*: it is excluded|similar lines omitted' <<<"$since" &&
		grep -qE -e "sweep: .*: $((all - 1)) nodes, .* ([0-9]+) of \1 ports active" \
			-e "sweep: an excluded device answers correctly: $all nodes" <<<"$since"
}
back() {
	lies none -
	until_ 20 nodes_are "$all" || bad "$1: it does not come back: $(status nodes) of $all nodes"
	expect "health after $1" "" "$(health | grep "excluded")"
}

# promise: A10
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

own_preload="${plain% *} $lies_preload $preload"	# after a sanitizer's library, before the simulator's
: >"$DISCOLIES"
# promise: A11
note "at the start"
for lie in kill exit hang memory; do
	if [ $lie = memory ] && [ "$slow" -gt 1 ]; then
		continue	# a sanitizer build has no memory limit
	fi
	rm -rf state
	lies $lie "$victim"
	start
	went_round 0 || bad "$lie: $(tail -n 3 "$qosd_log")"
	expect "words of our own port" "" "$(grep 'our own port' "$qosd_log")"
	back "$lie"
	stop_qosd || bad "exit status $?"
done

# promise: A67
note "a dozen at once, and the switch at the manager's own port: all others are served at once"
rm -rf state
lies hang "${hosts[@]:8:12}"
begin=${EPOCHREALTIME/./}
start
expect_quick "the start with a dozen devices that hang" 3000 "$begin"
[ "$(status nodes)" -ge $((all - 1)) ] || bad "a dozen that hang: $(status nodes) of $all nodes"
expect "processes that hung" 1 "$(grep -c 'repeating discovery without them' "$qosd_log")"
stop_qosd || bad "exit status $?"
rm -rf state
lies kill "$(leaf_of "$node" topology)"
start
nodes_are "$all" || bad "the manager's own leaf: $(status nodes) of $all nodes"
sim_do check
stop_qosd || bad "exit status $?"

# promise: A13
note "identities that are not theirs: the rest is served, whoever lies is named, all is right again"
# told LIE NODE NODES LOST: starts qosd beside this lie: it must serve NODES nodes, LOST paths must be
# missing and health must name the device; when the lie ends, qosd must take the device back.
told() {
	rm -rf state
	sim_do fault falsify "$1" --at "$2"
	start
	nodes_are "$3" || bad "$1 of $2: $(status nodes) nodes, not $3"
	excluded || bad "$1 of $2: health does not name it: $(health)"
	expect "paths that do not arrive with $1" "$4" "$(sim_ctl check --sl 0 | awk '/^paths/ { print $2 - $4 }')"
	sim_do fault remove all
	until_ 20 nodes_are "$all" || bad "$1 of $2 ends: $(status nodes) of $all nodes"
	settled() { subnet_up && ! excluded; }
	until_ 20 settled || bad "$1 of $2 ends: $(health)"
	stop_qosd || bad "exit status $?"
}
lies none -
told node-guid-random "$spine" $((all - 1)) 0
told local-port-other "$spine" $((all - 1)) 0
told modifier "$spine" $((all - 1)) 0
told node-guid-sm "$victim" $((all - 1)) 31
told node-guid-other "$spine" $((all - 1)) 0

# promise: A65
note "newcomers with the GUIDs of a host that is there: it keeps its place, its LID and its paths"
# A host on the manager's leaf, and the one on another leaf whose identity `falsify ...-other` gives it.
newcomer=${hosts[1]} switches=$(grep -c ^Switch topology)
at=$((switches + 1)) owner=${hosts[at + 1 + at % (all - 1) - switches]} watcher=${hosts[2]}
guid_of() { printf '0x%016x\n' $((16#${1#*-} + $2)); }
lid_by_guid() {
	on "$watcher" saquery PR --sgid "$(gid "$(guid_of "$watcher" 1)")" --dgid "$(gid "$(guid_of "$owner" 1)")" |
		sed -nE 's/^\s*dlid\.*([0-9]+)$/\1/p'
}
names_both() { health | grep -F "$(guid_of "$owner" 0)" | grep -q "device at leaf001/P.* of $(guid_of "$(leaf_of "$owner" topology)" 0)"; }
duplicate() { ctl health | grep -q duplicate-guid; }
arrive() { sim_ctl check --sl 0 | awk '/^paths/ { print $2 - $4 }'; }
discoveries() { grep -c 'discovering the whole fabric' "$qosd_log"; }
rm -rf state
start
lid=$(lid_by_guid)
expect_match "the owner's LID" '^[0-9]+$' "$lid"
sim_do fault falsify other-node --at "$newcomer"
ctl sweep >/dev/null
until_ 10 names_both || bad "health does not name the newcomer and the owner's place: $(health)"
until_ 10 nodes_are $((all - 1)) || bad "$(status nodes) of $all nodes"
expect "the owner's LID beside another with its identity" "$lid" "$(lid_by_guid)"
expect "paths among the others that do not arrive" 0 "$(arrive)"
sim_do link down "$newcomer"
sim_do link up "$newcomer"
until_ 10 names_both || bad "health, after the newcomer's link was down: $(health)"
expect "the owner's LID after that" "$lid" "$(lid_by_guid)"
sim_do link down "$owner"
until_ 10 nodes_are $((all - 2)) || bad "the owner starts again: $(status nodes) of $all nodes"
# wait until light sweeps have queried the newcomer
smps=$(status sent)
asked() { [ "$(status sent)" -gt $((smps + 6 * switches)) ]; }
until_ 10 asked || bad "there are no light sweeps"
nodes_are $((all - 2)) || bad "the newcomer took the owner's place while that was away"
sim_do link up "$owner"
until_ 10 nodes_are $((all - 1)) || bad "the owner is back: $(status nodes) of $all nodes"
expect "the owner's LID when it is back" "$lid" "$(lid_by_guid)"
all_is_back() {
	sim_do fault remove all
	settled() { nodes_are "$all" && ! excluded && ! duplicate; }
	until_ 20 settled || bad "$1: it is not as before: $(health)"
}
all_is_back "the newcomer is itself again"
sim_do fault falsify port-guid-other --at "$newcomer"
ctl sweep >/dev/null
until_ 10 duplicate || bad "health does not tell of two ports with one GUID: $(health)"
expect "the owner's LID beside another with its port GUID" "$lid" "$(lid_by_guid)"
expect "what the other registers" status=0x0200 \
	"$(on "$newcomer" "$tools/saclient" service set id=7 gid="$(gid "$(guid_of "$owner" 1)")" name=x)"
expect "paths that do not arrive" 0 "$(arrive)"
before=$(discoveries)
sim_do link down "${hosts[20]}"
until_ 10 nodes_are $((all - 1)) || bad "a link goes down: $(status nodes) of $all nodes"
sim_do link up "${hosts[20]}"
until_ 10 nodes_are "$all" || bad "a link comes up: $(status nodes) of $all nodes"
expect "discoveries for a link, beside two ports with one GUID" "$before" "$(discoveries)"
all_is_back "the port has its own GUID again"
stop_qosd || bad "exit status $?"

# promise: A11 A12
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
	before=$(lines)
	ctl sweep >/dev/null
	until_ 20 went_round "$before" || bad "$lie of $victim: $(tail -n 3 "$qosd_log")"
	back "$lie"
done
stop_qosd || bad "exit status $?"
stop_sim

# promise: A68
note "six of fifteen devices claim to be the manager's node"
own_preload=$plain
start_sim "ring:5,hosts=2"
mapfile -t names < <(sim_ctl -j show nodes | grep -oE '"type":"ca"[^}]*"description":"[^"]*"' | sed 's/.*:"//; s/"$//')
expect hosts 10 ${#names[@]}
for name in "${names[@]:4}"; do
	sim_do fault falsify node-guid-sm --at "$name"
done
rm -rf state
start_and_wait "${names[0]}" -c qosd.yaml
nodes_are 9 || bad "$(status nodes) nodes, not 9"
expect "devices that health names" 6 "$(health | grep -c 'it is excluded')"
expect "paths that do not arrive" 0 "$(sim_ctl check --sl 0 | awk '/^paths/ { print $2 - $4 }')"
sim_do fault remove all
until_ 20 nodes_are 15 || bad "the claims end: $(status nodes) of 15 nodes"
stop_qosd || bad "exit status $?"
stop_sim
