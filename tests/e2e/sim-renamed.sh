#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests a host whose NodeDescription changes without a trap: the scrub finds the new name, and groups by
# name then include the host.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no way to rename a node"

printf 'sweep-interval: 0\nscrub-interval: 2s\n' >qosd.yaml
cat >policy.yaml <<-END
	port-groups:
	  gpus: {port-names: "gpu-* HCA-*/P*"}
	qos-levels:
	  default: {sl: 0}
	  bulk: {sl: 1}
	match-rules:
	  - {source: gpus, level: bulk}
END
printf 'profiles:\n  quiet: {traps: false}\nnodes:\n  - {type: ca, profile: quiet}\n' >profiles.yaml
sim_options=(--profiles profiles.yaml)
start_sim "fat-tree:k=4,levels=2"
sim_ctl show nodes >nodes.list
manager=$(awk '$1 == "ca" { print $2; exit }' nodes.list)
host=$(awk '$1 == "ca" { at = $2 } END { print at }' nodes.list)

# promise: D22
note "no trap tells of the new name"
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
lid() { sim_ctl -j show port "$1/P1" | grep -oE '"lid": ?[0-9]+' | grep -oE '[0-9]+$'; }
sl_of_path() { record "$manager" --slid "$(lid "$host")" --dlid "$(lid "$manager")" | sed -nE 's/^sl=([0-9]+) .*/\1/p'; }
expect "SL of a path from the host" 0 "$(sl_of_path)"
sim_do node rename "$host" "gpu-77 HCA-1"
named() { [ "$(sl_of_path)" = 1 ]; }
until_ 30 named || bad "SL of a path from the host: $(sl_of_path)"
expect_match "nodes" "gpu-77 HCA-1" "$(ctl nodes)"
expect "tables that another overwrote" 0 "$(grep -c overwritten "$qosd_log")"
stop_qosd || bad "exit status $? after SIGTERM"
