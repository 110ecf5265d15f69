#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that a restart disturbs nothing: on an unchanged fabric, qosd sends no Set and
# all LIDs stay, with the state folder and without it.  If qosd is killed at any moment of
# the bring-up, its successor carries on from there.  --once reports what it did.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

radix=12
[ "$simulator" != kernel ] || radix=8	# an emulated processor takes a minute for the other one
"$tools/gentopo" fat-tree --levels 3 --radix $radix >big.topo || fail "gentopo"
switches=$(grep -c '^Switch' big.topo)
nodes=$((switches + $(cas big.topo | wc -l)))
node=$(first_ca big.topo)
machines=("$node")
policy=$top/etc/policy.yaml
sizes=(-N 1400 -S 330 -P 16000)

# lids: prints "GUID LID" lines of all end ports that have a LID, as ibnetdiscover finds them.
lids() { on "$node" ibnetdiscover -p 2>/dev/null | awk '$2 != 0 && ($1 == "CA" || $1 == "SW") { print $4, $2 }' | sort -u; }

# promise: T7 K1
note "bring-up, and a restart of each kind"
start_sim big.topo "${sizes[@]}"
start_and_wait "$node" -p "$policy"
whole=$(table_sets)
lids >lids.first
all_active "$node" big.topo
stop_qosd || bad "exit status $? after SIGTERM"
for how in "with its state" "without its state" "after a kill"; do
	[ "$how" != "without its state" ] || rm -rf state
	start_and_wait "$node" -p "$policy"
	if [ "$how" = "without its state" ] && [ "$simulator" = ibsim ]; then
		expect "Sets, restarted $how" 0 "$(table_sets)"
	else
		expect "Sets, restarted $how" 0 "$(sets)"
	fi
	expect "first sweep" 1 "$(status sweeps)"
	stop_qosd KILL
done
lids >lids.later
expect_same "LIDs" lids.first lids.later

note "--once"
once "$node" -p "$policy" || bad "exit status $? of --once"
expect_match "its summary" "^master: $nodes nodes, $switches switches, $(linked_ports big.topo) of $(linked_ports big.topo) ports active, .*\(0 Sets\)" "$(<once)"
all_active "$node" big.topo
stop_sim

# reached PHASE SETS: whether the sweep has come to this phase and number of Sets, or is over.
reached() {
	case $(status phase) in
	idle) [ "$(status sweeps)" -gt 0 ] ;;
	"$1") [ "$(table_sets)" -ge "$2" ] ;;
	*) false ;;
	esac
}

# The killed daemon has sent at least as many Sets as its last status said.
for moment in "discovery 0" "reading 0" "tables 0" "tables $((whole / 2))" "activation 0"; do
	rm -rf state
	start_sim big.topo "${sizes[@]}"
	start_qosd "$node" -p "$policy"
	# shellcheck disable=SC2086
	until_ 20 reached $moment || bad "never in phase $moment"
	phase=$(status phase) sent=$(table_sets)
	stop_qosd KILL
	lids >lids.killed
	start_and_wait "$node" -p "$policy"
	rest=$(table_sets)
	note "killed in phase $phase: $sent Sets and more, then $rest; all at once $whole"
	# Sets that had arrived but were not answered before the kill are sent again: at most one window.
	expect_less "Sets of both" $((whole + 64 + 1)) $((sent + rest))
	lids >lids.restarted
	expect "LIDs that did not stay" "" "$(comm -23 lids.killed lids.restarted | head -n 3)"
	all_active "$node" big.topo
	stop_qosd || bad "exit status $? after SIGTERM"
	once "$node" -p "$policy" || bad "exit status $? of --once"
	expect_match "Sets of a third run" "\(0 Sets\)" "$(<once)"
	stop_sim
done
