#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Bring-up of fabrics of every kind: all linked ports become Active, every pair
# of CAs is connected without credit loops, with one LID for a port and with four.
# Judges are iblinkinfo, ibdmchk, ibtracert, dump_fts and sminfo.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# A sample of pairs of LIDs, each traced through the switches' tables.
trace_some() {
	local from=$1 lids=() i
	mapfile -t lids < <(sed -nE 's/^\{ CA.*LID:([0-9A-F]+) PN:.. \} \{ SW.*/\1/p' dump/opensm-subnet.lst)
	for ((i = 1; i < ${#lids[@]}; i += ${#lids[@]} / 6 + 1)); do
		local a=$((16#${lids[i]})) b=$((16#${lids[-i]} + extra))
		on "$from" ibtracert "$a" "$b" >trace.log 2>&1 || bad "ibtracert $a $b: $(tail -n 2 trace.log)"
	done
}

# bring_up TOPOLOGY LMC
bring_up() {
	local topology=$1 lmc=$2 node far
	note "$(basename "$topology"), LMC $lmc"
	node=$(first_ca "$topology")
	far=$(cas "$topology" | tail -n 1)
	extra=$(((1 << lmc) - 1))	# the last LID of a port
	rm -rf state dump
	start_sim "$topology"
	echo "lmc: $lmc" >qosd.yaml
	start_and_wait "$node" -c qosd.yaml
	expect "state" master "$(status state)"
	all_active "$far" "$topology"
	all_connected
	read_tables "$node"
	tables_as_dumped
	lid_map "$far" >lids
	all_lids_arrive "$topology" "$lmc" lids
	trace_some "$far"
	expect_match "sminfo" "sm guid $(printf %#x "$(status guid)"), .* state 3 SMINFO_MASTER" \
		"$(on "$far" sminfo 2>&1)"
	stop_qosd || bad "exit status $? after SIGTERM"
	expect "warnings in the log" "" "$(grep -E ' (error|warning): ' "$qosd_log")"
	stop_sim
}

gentopo() { "$tools/gentopo" "$@" >"$work/$1.topo" || fail "gentopo $*"; }
gentopo fat-tree --levels 2 --radix 12
mv fat-tree.topo fat-tree-2.topo
gentopo fat-tree --levels 3 --radix 6
mv fat-tree.topo fat-tree-3.topo
gentopo torus --dims 4x4x3 --hosts-per-switch 2
gentopo ring --switches 9 --hosts-per-switch 2
gentopo random --switches 24 --radix 12 --links 70 --hosts 60 --seed 7

for topology in "$top/examples/cluster.topo" fat-tree-2.topo fat-tree-3.topo torus.topo ring.topo \
	random.topo "$fabrics/psmn-x5.topo" "$fabrics/two-switch-sdr.topo"; do
	if [ ! -e "$topology" ]; then
		note "SKIPPED: $topology is not there"
		continue
	fi
	bring_up "$topology" 0
	bring_up "$topology" 2
done
