#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that with many multicast groups a fault renews only the trees that it affects.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it is about many hosts, and needs the auditor"

"$tools/gentopo" fat-tree --levels 3 --radix 8 >fat.topo || fail "gentopo"
# an order that puts distant hosts next to each other
sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' fat.topo |
	awk '{ print NR % 61, $1 }' | sort -n -k 1,1 -s | cut -d ' ' -f 2 >guids
sm_node=$(first_ca fat.topo)
far=$(cas fat.topo | tail -n 1)
leaf=$(leaf_of "$far" fat.topo)
groups=$((128 / 2 * 6))

audit() { sim_ctl check >audit 2>&1; }
said() { sed -nE "s/^$1 +([0-9]+)$/\1/p" audit; }
all_is_right() { audit && [ "$(said "multicast members")" = $((groups * 2)) ]; }
metric() { ctl metrics | awk -v n="$1" '$1 == n { print $2 }'; }
sweeps_are() { [ "$(status sweeps)" -ge "$1" ] && [ "$(status sweeping)" = false ]; }
trees_are() { [ "$(($(status last-sweep-made) + $(status last-sweep-kept)))" = "$(status trees)" ]; }

start_sim fat.topo
start_and_wait "$sm_node"
expect_match "the joins" "requests=$((groups * 2)) refused=0" \
	"$(on_own "$far" "$tools/joinstorm" -m 2 -g 6 guids 2>&1)"
until_ 20 all_is_right || bad "members $(said "multicast members"): $(head -n 5 audit)"
expect "trees" "$groups" "$(status trees)"

# The 4 hosts of the leaf have 24 trees.  The 12 other hosts of its pod have 72 trees; a quarter of
# these passes the switch at the other end of the link.
for change in unplug plug; do
	# promise: D42
	note "$change a link of a leaf: most trees stay"
	sweeps=$(status sweeps)
	$change "$leaf" 8
	until_ 20 sweeps_are $((sweeps + 1)) || bad "no sweep"
	until_ 20 all_is_right || bad "members $(said "multicast members"): $(head -n 5 audit)"
	until_ 10 trees_are || bad "not all trees are there"
	expect_less "trees made anew of $groups" $((24 + 72 / 4 + 12)) "$(status last-sweep-made)"
	expect "metrics" "$(status last-sweep-kept)" "$(metric qosd_sweep_last_trees_kept)"
done
expect_match "status" "$groups trees; the last sweep computed [0-9]+ and kept [0-9]+$" \
	"$(ctl status | grep '^multicast ')"
stop_qosd || bad "exit status $? after SIGTERM"
