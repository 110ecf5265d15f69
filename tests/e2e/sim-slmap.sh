#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests optimized SL-to-VL programming: if a switch supports it, a few Sets write the same
# tables; if a switch only claims to, qosd writes the tables pair by pair.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no such switches"

topology=$top/examples/cluster.topo
node=H-f452140300811200
leaf05=0x7cfe900300b43180
switches=$(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' "$topology")

# With a long timeout, a busy machine causes no repeated Sets, which would be counted.
echo "smp-timeout: 5s" >qosd.yaml
# For one out port, two in ports differ from the rest, so qosd writes that out port pair by pair.
cat >policy.yaml <<END
port-groups:
  leaf05: {port-guids: $leaf05}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
    - {group: leaf05, from: [31-32], to: 6, table: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END

# slmap_sets: prints the numbers of SLtoVLMappingTable Sets that arrived and that changed nothing.
slmap_sets() { sim_ctl stats | awk '$2 == "SLtoVLMappingTable" && $3 == "set" { print $4, $5 }'; }

# tables_into FILE [PRESET-OPTION...]: brings up the subnet and writes the switches' tables
# between different linked ports to FILE.
tables_into() {
	local file=$1
	shift
	sim_options=("$@")
	rm -rf state
	start_sim "$topology"
	once "$node" -c qosd.yaml -p policy.yaml || bad "exit status $?: $(<once)"
	for switch in $switches; do
		sim_ctl show sl2vl "$switch" | sed "s/^/$switch /"
	done | awk '$2 != $3' >"$file"
	read -r sets idle < <(slmap_sets)
	note "$* : $sets Sets of SLtoVLMappingTable"
	expect "Sets that changed nothing" 0 "$idle"
	sim_do check
}

cat >pairs.yaml <<END
profiles:
  pairs: {optimized-sl2vl: false}
nodes:
  - {type: switch, profile: pairs}
END
tables_into pairs --profiles pairs.yaml
by_pairs=$sets
stop_sim
tables_into joined
# Tables of unlinked ports may hold anything, so only tables that carry traffic are compared.
linked() { awk 'NR == FNR { if (!/ 0,1,2,3,4,5,6,7| 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/) mean[$1, $2, $3]; next } ($1, $2, $3) in mean' pairs "$1"; }
linked pairs >pairs.linked
linked joined >joined.linked
expect_same "tables written pair by pair and joined" pairs.linked joined.linked
[ "$(wc -l <pairs.linked)" -gt 1000 ] || bad "only $(wc -l <pairs.linked) tables compared"
# one Set for each switch but leaf05, one for each linked port of leaf05 but port 6, one for each of its pairs
# to port 6, and one for each CA port
cas=$(grep -cE '^\[[0-9]+\]\(' "$topology")
expect_less "Sets" $((8 + 36 + 36 + cas + 1)) "$sets"
expect_less "Sets, against pair by pair" $((by_pairs / 10)) "$sets"
expect "the port that differs" "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15" \
	"$(awk -v s="S-${leaf05#0x}" '$1 == s && $2 == 31 && $3 == 6 { print $4 }' joined)"

cat >lies.yaml <<END
profiles:
  dishonest: {optimized-sl2vl: true, lies: [optimized]}
nodes:
  - {type: switch, profile: dishonest}
END
# promise: T3
note "switches that only say so"
stop_sim
tables_into refused --profiles lies.yaml
linked refused >refused.linked
expect_same "tables written pair by pair and after refusals" pairs.linked refused.linked
stop_sim

sim_options=()
rm -rf state
start_sim "$topology"
once "$node" -c qosd.yaml -p policy.yaml || bad "exit status $?: $(<once)"
# promise: T7
note "a table changed behind its back is put right, and nothing else written"
sim_do sl2vl "S-${leaf05#0x}" 1 2 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
sim_ctl stats --reset >/dev/null
once "$node" -c qosd.yaml -p policy.yaml || bad "exit status $?: $(<once)"
expect "Sets" "1 0" "$(slmap_sets)"
stop_sim
