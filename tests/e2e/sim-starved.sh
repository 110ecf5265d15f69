#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices with fixed arbitration tables that give a VL no weight: the SA gives no path on an SL
# that such a port never sends, with a policy and without one, until the devices accept tables.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no such devices"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
near=$(cas topology | tail -n 2 | head -n 1)	# at the same leaf
away=$(cas topology | sed -n 9p)
leaf=$(leaf_of "$far" topology)
out=$(sed -nE "/^Ca.*$far/,/^\$/s/.*\"S-[0-9a-f]+\"\[([0-9]+)\].*/\1/p" topology | head -n 1)
sim_options=()
lid_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
# path TO [QOS-CLASS]: prints the SL of the path from $node, or "none".
path() { record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$1")" ${2:+--qos_class "$2"} | cut -d' ' -f1; }
published() { [ -n "$(ctl -j status 2>&1 | grep '"lid"')" ] && [ "$(status sweeps)" -gt 0 ] && [ "$(status sweeping)" = false ]; }
nodes_are() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ]; }
swept() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
sweep() {
	before=$(status sweeps)
	"$@" >/dev/null || bad "$*: exit status $?"
	until_ 10 swept || bad "no end of the sweep"
}
starve() {		# LOW HIGH: writes both arbitration tables of the port towards $far
	sim_do vlarb "$leaf/P$out" low "$1"
	sim_do vlarb "$leaf/P$out" high "$2"
}
misbehave() { if [ "$1" = refuses ]; then sim_do node refuse "$leaf" vlarb; else sim_do node lie "$leaf" keeps-tables; fi; }
behave() {
	sim_do node refuse "$leaf" none
	sim_do node lie "$leaf" none
}
# holds WHAT: the SA must behave so while the device keeps its tables.
holds() {
	expect "$1: a path over it" none "$(path "$far")"
	expect "$1: another at the same switch" sl=0 "$(path "$near")"
}

for how in refuses keeps; do
	# promise: D81
	note "no policy, and a switch that $how arbitration which never lets SL 0 send"
	rm -rf state
	start_sim topology
	bring_up_opensm "$node" 30
	end "$opensm"
	starve 0:0,1:4,2:4 1:4
	misbehave $how
	sim_ctl check --sl 0 >audit 2>&1 && bad "SL 0 is sent everywhere: the test is none"
	start_qosd "$node"
	until_ 10 published || bad "no sweep ends"
	settled() { [ "$(path "$far")" = none ]; }
	until_ 10 settled
	holds "at first"
	expect_match "findings" "keeps arbitration tables that never let a VL send on 1 port; these SLs are dropped there and not offered: 0" "$(<"$qosd_log")"
	linked=$(status nodes)
	unplug "$away" 1
	until_ 10 nodes_are $((linked - 1)) || bad "the link is not seen to be down"
	holds "after a link is lost"
	sweep ctl sweep
	holds "after a full sweep"
	behave
	sweep ctl sweep
	expect "a path when it behaves" sl=0 "$(path "$far")"
	sim_do check --sl 0
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done

for how in refuses keeps; do
	# promise: D81
	note "a policy, and a switch that $how arbitration which never lets one of its SLs send"
	policy() {
		cat >policy.yaml <<-END
		qos-levels:
		  default: {sl: 0}
		  bulk: {sl: 1}
		match-rules:
		  - {qos-class: 7, level: bulk}
		fabric-setup:
		  vlarb:
		    - {group: all, low: ["0:$1", "1:$2"], high: ["0:4"]}
		END
	}
	policy 32 64
	rm -rf state
	start_sim topology
	start_and_wait "$node" -p policy.yaml
	expect "a path before" sl=1 "$(path "$far" 7)"
	# SL 1 uses VL 1, which has no weight in any table now
	starve 0:32 0:4
	misbehave $how
	sweep ctl sweep
	sweep ctl sweep
	settled() { [ "$(path "$far" 7)" = none ]; }
	until_ 10 settled
	expect "the starved SL" none "$(path "$far" 7)"
	expect "the other" sl=0 "$(path "$far")"
	expect "the starved SL elsewhere" sl=1 "$(path "$near" 7)"
	policy 16 8
	sweep ctl reload
	expect "the starved SL after a reload" none "$(path "$far" 7)"
	expect "the other after a reload" sl=0 "$(path "$far")"
	behave
	sweep ctl sweep
	expect "a path when it behaves" sl=1 "$(path "$far" 7)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done
