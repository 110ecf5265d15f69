#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests PathRecord and MultiPathRecord against a slow, independent reference
# (tests/tools/pathref.c).  It reads the fabric from the devices, makes random policies and
# queries with all fields, and checks every answer of qosd to three requesters, on a fat
# tree with two LIDs per port and routers, and on the shipped cluster.
#
#   PATHREF_QUERIES, PATHREF_POLICIES, PATHREF_SEED   default 1500 by each requester, 2, 1
#   PATHREF_FABRICS   topologies in place of those two, each with its LMC: TOPOLOGY@LMC
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cuts every answer to one record"

queries=${PATHREF_QUERIES:-1500} policies=${PATHREF_POLICIES:-2} seed=${PATHREF_SEED:-1}
read -ra topologies <<<"${PATHREF_FABRICS:-fat-tree:k=4,routers=3@1 $top/examples/cluster.topo@0}"
sim_options=()

# promise: S1
note "every answer of qosd is compared"
for fabric in "${topologies[@]}"; do
	topology=${fabric%@*} lmc=${fabric##*@}
	start_sim "$topology"
	mapfile -t nodes < <(sim_ctl show nodes | awk '$1 == "ca" && $5 > 0 { print $2 }')
	printf 'lmc: %s\nprefix-routes:\n  - {prefix: 0xfec0000000000001, router: any}\n' "$lmc" >qosd.yaml
	if command -v saquery >/dev/null; then
		start_and_wait "${nodes[0]}" -c qosd.yaml
		n_lids=$(sim_ctl show nodes | awk -v n=$((1 << lmc)) '
			$1 == "switch" { x++ } $1 == "ca" || $1 == "router" { x += $5 * n } END { print x }')
		expect "$fabric: paths of saquery -p, all LIDs to all" $((n_lids * n_lids)) \
			"$(on "${nodes[0]}" saquery -p | grep -c 'PathRecord dump')"
		stop_qosd || bad "exit status $? of qosd"
		rm -rf state
	fi
	for ((s = seed; s < seed + policies; s++)); do
		on_own "${nodes[0]}" "$tools/pathref" policy "$s" >policy.yaml || fail "no policy $s"
		start_and_wait "${nodes[0]}" -c qosd.yaml -p policy.yaml
		for i in 0 $((${#nodes[@]} / 2)) $((${#nodes[@]} - 1)); do
			on_own "${nodes[i]}" "$tools/pathref" ask "$s" "$queries" $((i * 1000000)) >"answers.$i" ||
				bad "$fabric, policy $s, asked by ${nodes[i]}:"$'\n'"$(tail -n 1 "answers.$i"; head -n 20 "answers.$i")"
			note "${fabric##*/}, policy $s, ${nodes[i]}: $(tail -n 1 "answers.$i")"
		done
		stop_qosd || bad "exit status $? of qosd"
		rm -rf state
	done
	stop_sim
done
