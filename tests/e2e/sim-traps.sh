#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the cost of traps: a trap that the daemon's own port has a subnet manager costs
# nothing, and qosd probes a node whose name has changed.
#
# promise: N7
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim sends no such traps"

topology=$top/examples/cluster.topo
node=H-f452140300811200
cat >devices.yaml <<END
profiles:
  talkative: {other-notices: true, capability-notices: true}
nodes:
  - {name: "*", profile: talkative}
END
sim_options=(--profiles devices.yaml)
start_sim "$topology"
start_and_wait "$node" -p "$top/etc/policy.yaml"
traps() { sim_ctl stats | awk '$2 == "Notice" && $3 == "trap" { n = $4 } END { print n + 0 }'; }
told() { [ "$(traps)" -ge "$1" ]; }

until_ 10 told 1 || bad "its own port does not tell of the subnet manager"
sleep 0.3	# longer than qosd gathers traps before a sweep
expect "sweeps" 1 "$(status sweeps)"

for who in "$node" H-248a070300a25c40; do
	sweeps=$(status sweeps)
	sim_do node rename "$who" "renamed $who"
	swept() { [ "$(status sweeps)" -gt "$sweeps" ] && [ "$(status sweeping)" = false ]; }
	until_ 5 swept || bad "nobody looks at $who, which has a new name"
	ctl dump dump || bad "dump failed"
	grep -q "renamed $who" dump/opensm-subnet.lst || bad "the new name of $who is not known"
done
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
