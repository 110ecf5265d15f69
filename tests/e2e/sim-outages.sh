#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that health names a host that reboots and a link that goes down again and again, too slowly to
# flap.  Time is the simulator's.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "time is simulated"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
link='MF0;leaf01:SX6036/U1/P29'		# to spine01
printf 'policy: none\noutage-limit: 2\nerrors-interval: 0\n' >qosd.yaml
simulated_time
sim_options=(--time-stands)
start_sim "$topology"
start_and_pass "$manager" -c qosd.yaml

nodes() { ctl -j nodes --count | jq .count; }
all=$(nodes)
has_nodes() { [ "$(nodes)" = "$1" ]; }
problems() { ctl health | sed -n 's/^warning \(.*-unsteady: .*\)/\1/p'; }
kinds() { problems | sed "s/: .*//" | sort | xargs; }
unsteady() { ctl metrics | sed -nE 's/^qosd_fabric_unsteady\{kind="(.*)"\} /\1 /p' | sort | xargs; }
is_down() { ! ctl -j ports "MF0;leaf01:SX6036/U1" | jq -e --arg p "$link " '.[] | select(.name | startswith($p)) | .peer' >jq.out; }
is_up() { ! is_down; }

# promise: C5
note "twice is tolerated, three times is not"
for i in 1 2 3; do
	sim_do node reboot 'node005 HCA-1' --for 5
	until_passed 15 has_nodes $((all - 1)) || bad "reboot $i: the host is not seen to go"
	until_passed 60 has_nodes "$all" || bad "reboot $i: the host is not seen to come"
	sim_do link down "$link"
	until_passed 15 is_down || bad "the link is not seen to go down"
	sim_do link up "$link"
	until_passed 15 is_up || bad "the link is not seen to come up"
	[ "$i" != 2 ] || expect "after two times" "" "$(problems)"
done
expect_match "a host and a link" "link-unsteady: link .*${link%/P29}.* went down 3 times in the last hour" "$(problems)"
expect_match "a host" 'node-unsteady: node005 HCA-1 went away 3 times in the last hour' "$(problems)"
expect "no other" 2 "$(problems | wc -l)"
expect "metrics" "link 1 node 1" "$(unsteady)"

note "what is drained is not blamed, and starts anew"
ctl drain "$link" >changed 2>&1 || bad "drain: $(<changed)"
expect "while it is drained" "node-unsteady" "$(kinds)"
expect "metrics" "link 0 node 1" "$(unsteady)"
ctl release "$link" >changed 2>&1 || bad "release: $(<changed)"
expect "once it is released" "node-unsteady" "$(kinds)"

note "another limit applies at once"
printf 'policy: none\noutage-limit: 3\nerrors-interval: 0\n' >qosd.yaml
ctl reload >changed 2>&1 || bad "reload: $(<changed)"
expect_match "reload" 'in force now: outage-limit' "$(<changed)"
expect "health" "" "$(problems)"
stop_and_pass
