#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests changes and faults: links and nodes that fail and return, a device that does not
# answer, lost MADs.  The rest of the subnet stays connected and keeps its configuration.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
from=H-f452140300811230
machines=("$node" "$from")
policy=$top/etc/policy.yaml
leaf05=S-7cfe900300b43180 spine02=S-7cfe900300b41b60 host=H-248a070300a25c40	# node017
node001=$(gid f452140300811231) node017=$(gid 248a070300a25c41) oss01=$(gid 248a070300a25ead)

# settled SWEEPS NODES: whether more than SWEEPS sweeps have ended, the last one found NODES nodes and, if
# there is more than one, the subnet is up.
settled() {
	[ "$(status sweeps)" -gt "$1" ] && [ "$(status sweeping)" = false ] &&
		[ "$(status nodes)" = "$2" ] && { subnet_up || [ "$2" -eq 1 ]; }
}
# after WHAT NODES COMMAND...: makes or ends a fault, and waits until the subnet of NODES nodes has settled.
after() {
	local what=$1 nodes=$2 before begin=${EPOCHREALTIME/./}
	shift 2
	note "$what"
	before=$(status sweeps)
	"$@"
	until_ 20 settled "$before" "$nodes" ||
		bad "$what: not settled: $(status nodes) nodes, up $(status subnet-up), phase $(status phase)"
	note "settled after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms, $(status last-sweep-sets) Sets"
}
# good: all linked ports must be Active and connected.
good() {
	local links
	links=$(on "$from" iblinkinfo -l 2>&1)
	expect "ports that are not Active" 0 "$(grep ' LinkUp' <<<"$links" | grep -vc ' Active/')"
	all_connected
	read_tables "$from"
	tables_as_dumped
}

# A light sweep each second, in case the simulator's trap is lost.
echo "sweep-interval: 1s" >qosd.yaml
start_sim "$topology"
start_and_wait "$node" -c qosd.yaml -p "$policy"
lid_map "$from" >lids.before
good

after "a link between switches fails" 63 unplug "$leaf05" 31
good
expect_less "Sets" 400 "$(status last-sweep-sets)"
after "it returns" 63 plug "$leaf05" 31
good
all_active "$from" "$topology"
after "a host goes away" 62 unplug "$host"
good
expect "a path to it" "status 0x0500" "$(record "$from" --sgid "$node001" --dgid "$node017")"
expect "a path to another" "sl=0 mtu=4 rate=12 life=18 tclass=0" "$(record "$from" --sgid "$node001" --dgid "$oss01")"
after "it returns" 63 plug "$host"
good
expect "a path to it" "sl=0 mtu=4 rate=12 life=18 tclass=0" "$(record "$from" --sgid "$node001" --dgid "$node017")"
after "a spine goes away" 62 unplug "$spine02"
good
after "it returns" 63 plug "$spine02"
good
all_active "$from" "$topology"
after "a leaf goes away with its hosts" 58 unplug "$leaf05"
good
after "it returns" 63 plug "$leaf05"
good
all_active "$from" "$topology"
# promise: F4
note "a start while a link and a host are away"
unplug "$leaf05" 31
after "a link and a host go away" 62 unplug "$host"
# this sweep takes a late PortStateChange, so that no later step of the test gets it
sweeps=$(status sweeps)
ctl sweep >/dev/null
swept() { [ "$(status sweeps)" -gt "$sweeps" ] && [ "$(status sweeping)" = false ]; }
until_ 10 swept || bad "no end of the sweep"
read_tables "$from"
mv lft.devices lft.before
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$node" -c qosd.yaml -p "$policy"
expect "nodes" 62 "$(status nodes)"
expect "Sets of tables" 0 "$(table_sets)"
[ "$(table_sets)" = 0 ] || ctl -j status | sed -n '/"smps"/,/^  }/p'
read_tables "$from"
expect_same "forwarding tables" lft.before lft.devices
plug_both() { plug "$leaf05" 31 && plug "$host"; }
after "they return" 63 plug_both
all_linked() { [ "$(status ports-linked)" = "$(linked_ports "$topology")" ] && subnet_up; }
until_ 20 all_linked || bad "$(status ports-linked) ports are linked"
good
all_active "$from" "$topology"
after "the manager's own link fails" 1 unplug H-f452140300811200
expect "subnet up" false "$(status subnet-up)"
after "it returns" 63 plug H-f452140300811200
good
all_active "$from" "$topology"
after "a host is unplugged" 62 unplug "$host"
after "and plugged in at another switch" 63 plug_into "$host" 1 S-7cfe900300b42f40 24
good
expect "a path to it" "sl=0" "$(record "$from" --sgid "$node001" --dgid "$node017" | grep -o 'sl=[0-9]*')"
lid_map "$from" >lids.after
expect_same "LIDs" lids.before lids.after
expect "errors in the log" "" "$(grep -E ' error: ' "$qosd_log")"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: F5
note "a host that does not answer"
rm -rf state
start_sim "$topology"
lose "$host" 100
start_qosd "$node" -c qosd.yaml -p "$policy"
# All ports are Active that can be; only the switch port that faces the silent device is linked and cannot.
others_up() {
	[ "$(status state)" = master ] && [ "$(status sweeps)" -gt 0 ] &&
		[ $(($(status ports-linked) - $(status ports-active))) -le 1 ]
}
until_ 30 others_up || bad "the subnet does not come up without it: $(status ports-active) of $(status ports-linked)"
expect_match "nodes" "^(62|63)$" "$(status nodes)"
expect "a path between others" "sl=0 mtu=4 rate=12 life=18 tclass=0" "$(record "$from" --sgid "$node001" --dgid "$oss01")"
lose "$host" 0
answers() { [ "$(record "$from" --sgid "$node001" --dgid "$node017")" = "sl=0 mtu=4 rate=12 life=18 tclass=0" ]; }
ctl sweep >/dev/null
until_ 20 answers || bad "it answers again, and is not taken up"
until_ 10 subnet_up
all_active "$from" "$topology"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: F5
note "MADs are lost"
# Only attributes that discovery does not read: under ibsim, a lost request of discovery is not repeated.
rm -rf state
start_sim "$topology"
lose "$leaf05" 10 17	# SLtoVLMappingTable
lose "$spine02" 20 19	# LinearForwardingTable
lose "$host" 20 18	# VLArbitrationTable
start_qosd "$node" -c qosd.yaml -p "$policy"
until_ 40 subnet_up || bad "the subnet does not come up"
note "$(status timeouts) time-outs, $(status retries) retries"
[ "$(status retries)" -gt 0 ] || bad "no MAD was lost"
lose "$leaf05" 0
expect "SL2VL" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0" "$(sl2vl "$from" 0x7cfe900300b43180 2 1)"
good
all_active "$from" "$topology"
stop_qosd || bad "exit status $? after SIGTERM"
