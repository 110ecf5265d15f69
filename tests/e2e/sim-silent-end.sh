#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A link that is up, and nobody answers at its other end: that port is asked again, and nothing else.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no devices that are silent"

sim_options=()
printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml
start_sim "fat-tree:k=4,levels=2"
sim_ctl show nodes >nodes.list
manager=$(awk '$1 == "ca" { print $2; exit }' nodes.list)
silent=$(awk '$1 == "ca" { at = $2 } END { print at }' nodes.list)

note "a host that does not answer at first"
sim_do node silent "$silent"
start_and_wait "$manager" -c qosd.yaml
nodes=$(status nodes)
expect_match "health" "no-far-end.*nobody answers at its other end" "$(ctl health 2>&1)"
asked() { sim_ctl stats | awk '$2 == "NodeInfo" && $3 == "get" { print $4 }'; }
discovered=$(status discovery-smps)
before=$(asked)
asked_again() { [ "$(asked)" -ge $((before + 2)) ]; }
until_ 30 asked_again || bad "the silent end is not asked again"
expect "SMPs of discoveries meanwhile" "$discovered" "$(status discovery-smps)"
expect "subnet-up" true "$(status subnet-up)"
expect_less "requests for it" 6 $(($(asked) - before))

note "and answers in the end"
sim_do node answer "$silent"
found() { [ "$(status nodes)" = $((nodes + 1)) ] && subnet_up; }
until_ 30 found || bad "$(status nodes) nodes, before $nodes"
expect "SMPs of discoveries since" "$discovered" "$(status discovery-smps)"
expect "lines of health" "" "$(ctl health 2>&1 | grep no-far-end)"
sim_ctl check >audit 2>&1 || bad "the audit: $(tail -n 3 audit)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state

note "a host that answers, and takes no Set"
start_sim "fat-tree:k=4,levels=2"
sim_do fault add drop --method set --at "$silent"
start_qosd "$manager" -c qosd.yaml
swept() { [ "$(status sweeps)" -ge 1 ]; }
until_ 15 swept || fail "the first sweep does not end"
expect "ports that are not Active, of its link" 2 $(($(status ports-linked) - $(status ports-active)))
expect_match "health" "does not answer|stopped answering" "$(ctl health 2>&1)"
sim_do fault remove all
until_ 30 subnet_up || bad "the subnet does not come up when it takes Sets"
stop_qosd || bad "exit status $? after SIGTERM"
