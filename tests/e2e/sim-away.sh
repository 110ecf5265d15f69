#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests a restart of qosd after another manager has managed the subnet meanwhile, with a state folder
# that knows the fabric: qosd finds what that manager left in tables.  A restart after which nothing
# has changed reads samples only.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep less, and it moves no packets"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
leaf=$(leaf_of "$far" topology)
sim_options=()
# got ATTRIBUTE: prints the number of its Gets so far.
got() { sim_ctl stats | awk -v a="$1" '$2 == a && $3 == "get" { n = $4 } END { print n + 0 }'; }
opensm_was() {
	bring_up_opensm "$1" 30 -F opensm.conf "${@:2}"
	end "$opensm"
}
echo >opensm.conf

# promise: D82
note "a quiet restart reads samples"
start_sim topology
once "$node" || bad "exit status $?: $(<once)"
maps=$(got SLtoVLMappingTable) arbs=$(got VLArbitrationTable)
once "$node" || bad "exit status $?: $(<once)"
expect_less "SL2VL tables read" $((32 + 12 * 2 + 1)) $(($(got SLtoVLMappingTable) - maps))
expect_less "arbitration tables read" $((12 * 2 + 1)) $(($(got VLArbitrationTable) - arbs))
expect_match "the summary" "\(0 Sets\)" "$(<once)"

for where in "$node" "$far"; do
	# promise: D82
	note "OpenSM was master meanwhile, at ${where}: one pair that no sample is of"
	opensm_was "$where"
	sim_do sl2vl "$leaf" 7 3 15,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
	sim_do vlarb "$leaf/P6" low 0:0,1:4,2:4
	sim_do vlarb "$leaf/P6" high 1:4
	sim_ctl check --sl 0 >audit 2>&1 && bad "SL 0 gets through under OpenSM: the test is none"
	once "$node" || bad "exit status $?: $(<once)"
	sim_do check --sl 0
	expect_match "the log" "dropped or starved SL 0, the only SL in use, on 1 device:" "$(<once.log)"
done
stop_sim

# promise: D82
note "a policy, and OpenSM with another one meanwhile: all tables are the policy's"
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  bulk: {sl: 1}
fabric-setup:
  vlarb:
    - {group: all, low: ["0:32", "1:64"], high: ["0:4"]}
END
cat >opensm.conf <<'END'
qos TRUE
qos_max_vls 8
qos_high_limit 4
qos_vlarb_high 0:64,1:32
qos_vlarb_low 0:1,1:2,2:3
qos_sl2vl 0,0,0,3,4,5,6,7,0,1,2,3,4,5,6,7
END
tables() { on "$node" "$tools/dumptables" 2>/dev/null | grep -E ' (0x)?(17|18|SLtoVL|VLArb)' | sort; }
rm -rf state
start_sim topology
once "$node" -p policy.yaml || bad "exit status $?: $(<once)"
tables >wanted
expect_less "tables in the dump" "$(wc -l <wanted)" 100
for where in "$node" "$far"; do
	opensm_was "$where" -Q
	tables >theirs
	cmp -s wanted theirs && bad "OpenSM left the tables as they were: the test is none"
	once "$node" -p policy.yaml || bad "exit status $?: $(<once)"
	tables >ours
	expect_same "tables after OpenSM at $where" wanted ours
done
# one entry in the table of one pair of ports
sim_do sl2vl "$leaf" 7 3 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,0
once "$node" -p policy.yaml || bad "exit status $?: $(<once)"
tables >ours
expect_same "tables after a change of one entry" wanted ours
stop_sim
