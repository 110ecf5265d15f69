#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Who is loud and who is restless: a switch that sends traps without end is looked at now
# and then and is in nobody's way.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim can't do this"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
far=H-248a070300a25c40			# node017, at leaf05
spine01=S-7cfe900300b41a20 leaf05=S-7cfe900300b43180
sim_options=()

smps() { ctl -j metrics | jq -r .text | awk '/^qosd_smps_sent_total/ { n += $2 } END { print n + 0 }'; }
metric() { ctl -j metrics | jq -r .text | awk -v name="$1" '$1 == name { print $2 + 0 }'; }
# audited WHAT: all tables, by the simulator.
audited() { sim_ctl check --switches >audit 2>&1 || bad "$1: $(tail -n 5 audit)"; }

note "a switch floods with traps, and others are heard"
cat >devices.yaml <<END
profiles:
  talkative: {other-notices: true, capability-notices: true}
nodes:
  - {name: "*", profile: talkative}
END
echo "every 0.002 trap $spine01 144" >flood
echo "sweep-interval: 0" >qosd.yaml	# nothing but traps
sim_options=(--profiles devices.yaml --script flood)
start_sim "$topology"
start_and_wait "$manager" -c qosd.yaml
hears() { [ "$(metric qosd_traps_received_total)" -ge "$1" ]; }
until_ 20 hears 1000 || bad "there is no flood: $(metric qosd_traps_received_total) traps"

begin=$(smps) heard=$(metric qosd_traps_received_total)
until_ 20 hears $((heard + 2000)) || bad "the flood is over"
used=$(($(smps) - begin)) heard=$(($(metric qosd_traps_received_total) - heard))
# 38 questions to the switch, and a repress each, which are none of its SMPs; all of it in 4 s or
# so, but for a machine that has other things to do
note "$heard traps, $used SMPs"
expect_less "SMPs for $heard traps" 2000 "$used"
sees() { ctl -j health | jq -r '.problems[] | select(.kind == "trap-flood") | .text' >seen; grep -q spine01 seen; }
until_ 10 sees || bad "health does not say so: $(ctl health)"
expect_match "what it says" "spine01.*: [0-9]+ traps in [0-9]+ s, of which [0-9]+ were left out" "$(<seen)"
told() { [ "$(ctl -j events --kind trap-flood | jq -r .data.node)" = "0x${spine01#S-}" ]; }
until_ 20 told || bad "it is not told, or more than once: $(ctl events --kind trap-flood)"

nodes=$(status nodes)
sees_nodes() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ]; }
sim_do link down "$far"
until_ 5 sees_nodes $((nodes - 1)) || bad "nobody looks at leaf05, which lost a host"
sim_do link down "$leaf05/P31"
link_is_gone() { ctl -j events --kind link-down | jq -e --arg g "0x${leaf05#S-}" 'select(.data.node == $g or .data["far-node"] == $g)' >gone; }
until_ 5 link_is_gone || bad "nobody looks at leaf05, which lost a link: $(ctl events --kind link)"
sim_do link up "$leaf05/P31"
sim_do link up "$far"
until_ 5 sees_nodes "$nodes" || bad "nobody looks at leaf05, whose host is back"
until_ 10 subnet_up || bad "the subnet is not up"
audited "while it goes on"
expect "floods that were told" 1 "$(ctl -j events --kind trap-flood | wc -l)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# --- what another overwrites ---

tree=fat-tree:k=4
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
  vlarb:
    - {group: all, high: ["0:64"], low: ["1:32", "2:32", "3:32"], high-limit: 10}
END
nodes_of() { sim_ctl show nodes | awk -v type="$1" '$1 == type { print $2 }'; }
all_sets() { sim_ctl stats | awk '$3 == "set" { n += $4 } END { print n + 0 }'; }
passes() { metric qosd_scrub_passes_total; }
passed() { [ "$(passes)" -ge "$1" ]; }
# snapshot FILE: the tables that are overwritten below.
snapshot() {
	{
		sim_ctl show lft "$leaf"
		sim_ctl show sl2vl "$leaf"
		sim_ctl show vlarb "$leaf/P1"
		sim_ctl show vlarb "$host/P1"
		sim_ctl show sl2vl "$host"
		sim_ctl show pkeys "$host/P1"
		sim_ctl show mft "$leaf"
		sim_ctl show portinfo "$leaf/P2" | grep -i hoqlife
		sim_ctl show portinfo "$host/P1" | grep -i smlid
	} >"$1" 2>&1
}
overwrite() {
	sim_do lft "$leaf" 3 drop
	sim_do sl2vl "$leaf" 1 2 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
	sim_do vlarb "$leaf/P1" high 1:1
	sim_do vlarb "$host/P1" low 1:1
	sim_do sl2vl "$host" 0 1 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
	sim_do pkey "$host/P1" 0 0x8123
	sim_do mft "$leaf" 0xc000 1,2
	sim_do portinfo "$leaf/P2" HOQLife 3
}
start_tree() {	# SETTINGS
	echo "$1" >qosd.yaml
	sim_options=()
	rm -rf state
	start_sim "$tree"
	mapfile -t cas < <(nodes_of ca)
	mapfile -t switches < <(nodes_of switch)
	manager=${cas[0]} host=${cas[7]}
	leaf=$(sim_ctl show links "$host" | sed -nE 's|.* ([^ ]+)/P[0-9]+$|\1|p')
	start_and_wait "$manager" -c qosd.yaml -p policy.yaml
}

note "what another overwrote is found, told and repaired"
start_tree "{scrub-interval: 2s, sweep-interval: 1s}"
for guid in "${cas[@]}"; do printf '%x\n' $((guid + 1)); done >guids
on_own "${cas[1]}" "$tools/joinstorm" -g 1 guids >joined 2>&1 || bad "joining: $(<joined)"
until_ 30 passed 1 || bad "there is no pass: $(passes)"
snapshot before
sets=$(all_sets) begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
expect "Sets by passes over what is right" "$sets" "$(all_sets)"
expect "what is told then" "" "$(ctl events --kind table-overwritten)"
overwrite
snapshot overwritten
expect "tables that are overwritten" 7 "$(diff before overwritten | grep -c '^[0-9]')"
begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
repaired() { snapshot after && cmp -s before after; }
until_ 5 repaired || expect_same "tables when they are repaired" before after
audited "the repaired tables"
# 7 tables, one of them of two blocks
expect_less "Sets for it" 12 $(($(all_sets) - sets))
ctl -j events --kind table-overwritten | jq -r '"\(.data.node) \(.data.port) \(.data.table)"' | sort >told
guid=$(sim_ctl -j show nodes | jq -r --arg n "$leaf" '.[] | select(.description == $n) | .guid')
sort >wanted <<END
$guid 0 forwarding table
$guid 0 multicast forwarding table
$guid 1 VL arbitration table
$guid 2 PortInfo
$guid 2 SL2VL table
$host 1 P_Key table
$host 1 SL2VL table
$host 1 VL arbitration table
END
expect_same "what is told" wanted told
expect_match "in words" "leaf-004.*/P2.*: SL2VL table overwritten by another, it is repaired" "$(ctl events --kind table-overwritten)"
expect "attributes that are counted" "$(wc -l <told)" "$(metric qosd_scrub_repaired_total)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

note "nobody looks unless it is wished"
start_tree "{scrub-interval: 0, sweep-interval: 1s}"
snapshot before
overwrite
snapshot overwritten
sets=$(all_sets)
sleep 3
snapshot after
expect_same "tables that nobody repairs" overwritten after
expect "Sets" "$sets" "$(all_sets)"
expect "passes" 0 "$(passes)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
