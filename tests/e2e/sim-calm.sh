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
