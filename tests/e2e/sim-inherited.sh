#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests tables that another subnet manager left in the devices and that qosd's policy does not
# cover: SL 0 works on every path that the SA gives, and qosd switches off settings that
# contradict its routes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep less, and it moves no packets"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
leaf=$(leaf_of "$far" topology)
sim_options=()
fresh() { rm -rf state opensm.dir; }
path() { record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$far")" | cut -d' ' -f1; }
lid_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
all_pass() { sim_do check --sl 0; }

# promise: D51
note "OpenSM's tables drop SL 0, on switches, on hosts"
cat >opensm.conf <<'END'
qos TRUE
qos_max_vls 8
qos_high_limit 4
qos_vlarb_high 0:64,1:32
qos_vlarb_low 0:1,1:2,2:3
qos_sl2vl 15,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
END
start_sim topology
bring_up_opensm "$node" 30 -F opensm.conf -Q
end "$opensm"
sim_ctl check --sl 0 >audit 2>&1 && bad "SL 0 gets through under OpenSM: the test is none"
once "$node" || bad "exit status $?: $(<once) $(<once.log)"
expect_match "the log" "tables of another subnet manager dropped or starved SL 0" "$(<once.log)"
all_pass
stop_sim

# promise: D51
note "one pair of ports, and arbitration that never lets SL 0 send"
fresh
start_sim topology
bring_up_opensm "$node" 30
end "$opensm"
sim_do sl2vl "$leaf" 5 1 15,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
sim_do vlarb "$leaf/P6" low 0:0,1:4,2:4
sim_do vlarb "$leaf/P6" high 1:4
start_and_wait "$node"
all_pass
expect_match "the log" "dropped or starved SL 0, the only SL in use, on 1 device:" "$(<"$qosd_log")"
expect "Sets of another sweep" "$(sets)" "$(ctl sweep >/dev/null; sets)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

for lie in keeps-tables refuses-tables; do
	# promise: D51
	note "$lie: no path is told on an SL that a device drops for good"
	fresh
	start_sim topology
	bring_up_opensm "$node" 30
	end "$opensm"
	for in in 5 6 7 8; do
		sim_do sl2vl "$leaf" $in 4 15,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
	done
	sim_do node lie "$leaf" "$lie"
	start_qosd "$node"
	published() { [ -n "$(ctl -j status | grep '"lid"')" ] && [ "$(status sweeps)" -gt 0 ]; }
	until_ 10 published || bad "no sweep ends"
	expect "a path over it" none "$(path)"
	expect_match "findings" "these SLs are dropped there and not offered: 0" "$(<"$qosd_log")"
	# a sweep that reads only changed devices must remember the fixed table
	nodes=$(status nodes)
	unplug "$(cas topology | sed -n 9p)" 1
	lost() { [ "$(status nodes)" = $((nodes - 1)) ] && [ "$(status sweeping)" = false ]; }
	until_ 10 lost || bad "the link is not seen to be down"
	expect "a path over it after another link is lost" none "$(path)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done

# promise: D51
note "a policy that dropped SL 0 is taken back"
cat >policy.yaml <<END
qos-levels:
  default: {sl: 1}
fabric-setup:
  sl2vl:
    - {group: all, table: [15, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END
fresh
start_sim topology
start_and_wait "$node" -p policy.yaml
sim_do check --sl 1
echo "qos-levels: {default: {sl: 0}}" >policy.yaml
reload
all_pass
expect "a path" sl=0 "$(path)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D51
note "a fabric that nobody managed costs few SMPs more"
fresh
start_sim topology
once "$node" || bad "exit status $?: $(<once)"
read -r maps arbs < <(sim_ctl stats | awk '$2 == "SLtoVLMappingTable" && $3 == "get" { m = $4 } $2 == "VLArbitrationTable" && $3 == "get" { a = $4 } END { print m + 0, a + 0 }')
expect_less "SL2VL tables read" $((32 + 12 * 4 + 1)) "$maps"
expect_less "arbitration tables read" $((12 * 2 + 1)) "$arbs"
stop_sim

asked() { sim_ctl stats | awk '$2 == "AdaptiveRoutingInfo" && $3 == "get" { n = $4 } END { print n + 0 }'; }
for how in on locked; do
	# promise: D52
	note "adaptive routing of another manager is switched off ($how)"
	fresh
	start_sim topology
	once "$node" || bad "exit status $?: $(<once)"
	# the linear table is right, but the switch does not forward by it
	sim_do adaptive "$leaf" "$how" "$(lid_of "$node")" 255
	sim_ctl check >audit 2>&1 && bad "routes are right under adaptive routing: the test is none"
	once "$node" || bad "exit status $?: $(<once)"
	expect_match "the summary" "adaptive routing of another subnet manager was switched off at 1 switch" "$(<once)"
	sim_do check
	once "$node" || bad "exit status $?: $(<once)"
	expect "adaptive routing in another summary" "" "$(grep adaptive once)"
	stop_sim
done

# promise: D83
note "private linear tables of another manager are switched off"
fresh
start_sim topology
bring_up_opensm "$node" 30
end "$opensm"
sim_do private "$leaf" on "$(lid_of "$node")" 255
sim_ctl check >audit 2>&1 && bad "routes are right by private tables: the test is none"
once "$node" || bad "exit status $?: $(<once)"
expect_match "the summary" "private linear tables of another subnet manager were switched off at 1 switch" "$(<once)"
sim_do check
privates() { sim_ctl stats | awk '$2 == "PrivateLFTInfo" && $3 == "get" { n = $4 } END { print n + 0 }'; }
before=$(privates)
expect "questions" 12 "$before"
once "$node" || bad "exit status $?: $(<once)"
expect "private tables in another summary" "" "$(grep private once)"
expect "questions at a quiet restart" "$before" "$(privates)"
stop_sim

health_has() { ctl -j health 2>&1 | grep -q "\"kind\": \"$1\""; }
# promise: D83
note "a switch that refuses to end adaptive routing, which its linear table ends"
fresh
start_sim topology
once "$node" || bad "exit status $?: $(<once)"
sim_do adaptive "$leaf" on "$(lid_of "$node")" 255
sim_do node refuse "$leaf" adaptive-routing
start_and_wait "$node"
sim_do check
health_has adaptive-routing-ended || bad "health does not tell that it ended"
health_has adaptive-routing && bad "health tells of adaptive routing that has ended"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

for what in adaptive private; do
	# promise: D83
	note "a switch that refuses to end what it forwards by ($what)"
	fresh
	start_sim topology
	bring_up_opensm "$node" 30
	end "$opensm"
	if [ $what = adaptive ]; then
		sim_do adaptive "$leaf" locked "$(lid_of "$node")" 255
		kind=adaptive-routing says="adaptive routing of another subnet manager stays on"
	else
		sim_do private "$leaf" on "$(lid_of "$node")" 255
		kind=private-tables says="private linear tables of another subnet manager stay on"
	fi
	sim_do node refuse "$leaf" adaptive-routing
	once "$node"
	expect_match "the summary" "$says at 1 switch" "$(<once)"
	start_qosd "$node"
	until_ 20 health_has $kind || bad "health says nothing"
	expect_match "health" "^error +$kind: $says at 1 switch: packets do not follow the routes of qosd" "$(ctl health | grep "^error *$kind:")"
	sim_ctl check >audit 2>&1 && bad "routes are right: the test is none"
	# when the switch accepts the Set, a full sweep finds that
	sim_do node refuse "$leaf" none
	ctl sweep >/dev/null
	let_go() { ! health_has $kind && health_has $kind-ended; }
	until_ 20 let_go || bad "health still says it: $(ctl health)"
	until_ 20 sim_ctl check >audit 2>&1 || bad "routes: $(tail -n 3 audit)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done

# promise: D52
note "switches without the attribute are asked once"
cat >plain.yaml <<END
profiles:
  plain: {adaptive-routing: false}
nodes:
  - {type: switch, profile: plain}
END
sim_options=(--profiles plain.yaml)
fresh
start_sim topology
start_and_wait "$node"
expect "questions" 12 "$(asked)"
before=$(status sweeps)
ctl sweep >/dev/null
again() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
until_ 10 again || bad "no further sweep"
expect "questions after another sweep" 12 "$(asked)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
