#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the SA with osmtest, the test program of OpenSM: each flow that passes under OpenSM passes under
# qosd, and ends nothing that another host registered.
#
# (Flow e, event forwarding, does nothing in Debian's osmtest, and flow f only makes load.)
# promise: S9
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no RMPP"
command -v osmtest >/dev/null || { echo "osmtest is not installed"; exit 77; }

topology=$top/examples/cluster.topo
node=$(first_ca "$topology")
far=$(cas "$topology" | tail -n 1)
other=H-248a070300a25c40 other_guid=248a070300a25c41
start_sim "$topology"
start_and_wait "$node" -p "$top/examples/policy-mpi-storage.yaml"
service() { on_own "$other" "$tools/saclient" service "$@" 2>&1; }
member() { on_own "$other" "$tools/pathquery" "$1" member "${@:2}" 2>&1; }
mine=$(gid $other_guid)
group=ff12:a01c::77

# flow LETTER WHAT: runs one flow of osmtest on the far host.
flow() {
	note "$2"
	on "$far" timeout --foreground 200 osmtest -f "$1" -i "$work/inventory" -l "$work/osmtest.$1" >osmtest.out 2>&1 || {
		bad "osmtest -f $1: exit status $?: $(tail -n 1 osmtest.out)"
		show_log "osmtest.$1"
	}
	expect_match "flow $1" ' PASS$' "$(tail -n 1 osmtest.out)"
}

expect_match "a service of another host" " name=stays " "$(service set id=0x77 gid="$mine" name=stays)"
expect_match "a group of another host" "^mgid=$group " "$(member set mgid=$group port-gid="$mine" join-state=1 \
	qkey=1 pkey=0xffff sl=0 flow-label=0 tclass=0)"
flow c "an inventory of nodes, ports and paths"
[ "$(grep -c DEFINE_NODE inventory)" -gt 40 ] || bad "the inventory has few nodes: $(grep -c DEFINE_NODE inventory)"
flow v "the inventory, and queries of each record"
flow s "services, with leases and keys"
flow m "multicast groups"
flow a "all of them"

note "what is left"
expect_match "the service of another host" " gid=$mine .* name=stays " "$(service get id=0x77)"
expect_match "the member of another host" "^mgid=$group port-gid=$mine " \
	"$(member table mgid=$group port-gid="$mine" sm-key=1)"
stop_qosd || bad "exit status $?"
stop_sim
