#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `routes --over`: its numbers are those of the switches' tables, as infiniband-diags read them.
# promise: L22
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "routes are the same on either simulator"

start_sim "$top/examples/cluster.topo"
start_and_wait H-f452140300811200
read_tables H-f452140300811230
# entries SWITCH PORT: prints how many LIDs the switch sends to the port, by its table.
entries() { awk -v sw="$1" -v port="$2" '$1 == sw && $3 == port' lft.devices | wc -l; }

note "a link between switches"
leaf=7cfe900300b43180
json=$(ctl -j routes --over "0x$leaf/P31")
expect_match "an answer" '"over": \[' "$json"
mapfile -t counts < <(sed -nE 's/^ *\{"port.*"destinations": ([0-9]+), "switches".*|^ *"destinations": ([0-9]+),$/\1\2/p' <<<"$json")
expect "numbers for both directions" 2 "${#counts[@]}"
expect "LIDs that the leaf sends up, by its table" "$(entries $leaf 31)" "${counts[0]}"
[ "${counts[0]}" -gt 0 ] || bad "no LID at all"
expect_match "the text" "to .*: routes to ${counts[0]} LIDs" "$(ctl routes --over "0x$leaf/P31")"

note "the link of a host"
expect_match "to the host" 'to node001 HCA-1/P1 .*: routes to 1 LID$' "$(ctl routes --over 'node001 HCA-1' | grep 'to node001')"

note "ports without a link"
expect_match "an unused port" "has no link" "$(ctl routes --over "0x$leaf/P20" 2>&1)"
stop_qosd || bad "exit status $?"
stop_sim
