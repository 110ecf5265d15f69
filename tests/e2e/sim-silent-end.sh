#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests a link that is up while the device at its far end does not answer: qosd probes that port again, and
# nothing else.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no devices that are silent"

sim_options=()
printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml
start_sim "fat-tree:k=4,levels=2"
sim_ctl show nodes >nodes.list
manager=$(awk '$1 == "ca" { print $2; exit }' nodes.list)
silent=$(awk '$1 == "ca" { at = $2 } END { print at }' nodes.list)

# promise: D21
note "a host that does not answer at first"
sim_do node silent "$silent"
start_and_wait "$manager" -c qosd.yaml
nodes=$(status nodes)
expect_match "health" "no-far-end.*its far end does not answer" "$(ctl health 2>&1)"
asked() { sim_ctl stats | awk '$2 == "NodeInfo" && $3 == "get" { print $4 }'; }
discovered=$(status discovery)
before=$(asked)
asked_again() { [ "$(asked)" -ge $((before + 2)) ]; }
until_ 30 asked_again || bad "the silent end is not asked again"
expect "SMPs of discoveries meanwhile" "$discovered" "$(status discovery)"
expect "subnet-up" true "$(status subnet-up)"
expect_less "requests for it" 6 $(($(asked) - before))

# promise: D21
note "and answers in the end"
sim_do node answer "$silent"
found() { [ "$(status nodes)" = $((nodes + 1)) ] && subnet_up; }
until_ 30 found || bad "$(status nodes) nodes, before $nodes"
expect "SMPs of discoveries since" "$discovered" "$(status discovery)"
expect "lines of health" "" "$(ctl health 2>&1 | grep no-far-end)"
sim_ctl check >audit 2>&1 || bad "the audit: $(tail -n 3 audit)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state

# promise: D102
note "a host that answers, and takes no Set"
start_sim "fat-tree:k=4,levels=2"
sim_do fault add drop --method set --at "$silent"
start_qosd "$manager" -c qosd.yaml
swept() { [[ $(status sweeps) =~ ^[1-9] ]]; }
until_ 15 swept || fail "the first sweep does not end"
expect "ports that are not Active, of its link" 2 $(($(status ports-linked) - $(status ports-active)))
expect_match "health" "does not answer|stopped answering" "$(ctl health 2>&1)"
sim_do fault remove all
until_ 30 subnet_up || bad "the subnet does not come up when it takes Sets"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state

# promise: D125
note "a link trains anew at a switch that keeps what its ports are to itself until the sweep writes them"
printf 'sweep-interval: 1\nscrub-interval: 0\n' >qosd.yaml
start_sim "clos:2x2,hosts=3"
leaf=leaf-002 host="host-0005 HCA-1"
start_and_wait "host-0001 HCA-1" -v -c qosd.yaml
sim_do fault add drop --class smp --attr PortInfo --at "$leaf"
untold=$(awk '{ print $2 }' sim.out)
for attribute in SLtoVLMappingTable VLArbitrationTable P_KeyTable LinearForwardingTable; do
	sim_do fault add delay --for 0.02 --class smp --attr "$attribute" --at "$leaf"	# prolongs the sweep
done
begun=$(wc -l <"$qosd_log")
kill -STOP "$qosd"	# so that it only sees that the link has retrained
sim_do link down "$host/P1"
sim_do link up "$host/P1"
sim_do link down "$leaf/P4"
trained() { sim_ctl show links | grep -F "$host/P1" | grep -qw init; }
until_ 5 trained || bad "the link of $host is not up again: $(sim_ctl show links | grep -F "$host/P1")"
kill -CONT "$qosd"
is_planned() { tail -n "+$((begun + 1))" "$qosd_log" | grep -q 'sweep: plan took'; }
until_ 20 is_planned || bad "no sweep: $(tail -n 3 "$qosd_log")"
sim_do fault remove "$untold"
is_right() { subnet_up && sim_ctl check >audit 2>&1; }
until_ 10 is_right || bad "both ends of the link of $host: $(sim_ctl show links | grep -F "$host/P1"); $(ctl health)"
stop_qosd || bad "exit status $? after SIGTERM"
