#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd with other subnet managers: it stands by for an OpenSM with precedence and takes
# over when that ends, takes over a subnet that OpenSM configured, and elects one of two qosd.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }
topology=$top/examples/cluster.topo
node=H-f452140300811200		# mgmt01
node001=H-f452140300811230
machines=("$node" "$node001")
policy=$top/etc/policy.yaml

mkdir osm
export OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm
start_opensm() {	# start_opensm NODE OPTION...
	local as
	as "$1"
	"${as[@]}" opensm -F /dev/null -f "$work/osm/log" -e -d2 "${@:2}" >osm/out 2>&1 &
	opensm=$!
	pids+=("$opensm")
}
opensm_is_up() { grep -q 'SUBNET UP' osm/log 2>/dev/null; }
opensm_once() { on "$1" opensm -F /dev/null -f "$work/osm/log" -e -o "${@:2}" >osm/out 2>&1; }
state_is() { [ "$(status state)" = "$1" ]; }
lids() { lid_map "$node" | sort -u; }

note "an OpenSM with a higher priority is master"
start_sim "$topology"
start_opensm "$node001" -p 15
until_ 20 opensm_is_up || fail "OpenSM does not come up: $(tail -n 3 osm/out)"
lids >lids.opensm
start_qosd "$node" -p "$policy"
until_ 10 state_is standby || bad "state $(status state), want standby"
sleep 2
expect "state after a while" standby "$(status state)"
expect "Sets while standing by" 0 "$(sets)"
expect "the master" 0xf452140300811231 "$(ctl -j status | tr -d '\n' | sed -nE 's/.*"master": \{ *"guid": "(0x[0-9a-f]*)".*/\1/p')"
expect "a path query of ours" 1 "$(ctl explain 1 2 >/dev/null 2>&1; echo $?)"
expect_match "sminfo of the master" "sm guid 0xf452140300811231, .* SMINFO_MASTER" "$(on "$node" sminfo 2>&1)"

# promise: M1
note "that OpenSM ends"
end "$opensm" KILL
begin=${EPOCHREALTIME/./}
until_ 10 state_is master || bad "state $(status state), want master"
note "master after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
until_ 10 subnet_up || bad "the subnet is not up"
lids >lids.qosd
expect_same "LIDs before and after" lids.opensm lids.qosd
all_active "$node001" "$topology"
expect_match "sminfo" "sm guid 0xf452140300811201, .* SMINFO_MASTER" "$(on "$node001" sminfo 2>&1)"
expect "tables of the policy" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0" "$(sl2vl "$node001" 0x7cfe900300b43180 2 1)"

note "an OpenSM comes and is not to be master"
rm -f osm/log
start_opensm "$node001" -p 0
opensm_entered() { grep -q "Entering $1 state" osm/log 2>/dev/null; }
until_ 10 opensm_entered STANDBY || bad "OpenSM does not stand by"
expect "state" master "$(status state)"
end "$opensm"

# promise: M1
note "an OpenSM comes and goes before us: the subnet is handed over"
rm -f osm/log
start_opensm "$node001" -p 15
until_ 10 state_is standby || bad "state $(status state), want standby"
# Nothing more can be tested here: OpenSM waits for the answer to a trap, which ibsim drops.
until_ 10 opensm_entered MASTER || bad "OpenSM does not become master"
end "$opensm" KILL
until_ 10 subnet_up || bad "the subnet is not up again"
expect "state" master "$(status state)"
lids >lids.qosd
expect_same "LIDs" lids.opensm lids.qosd
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

ways=("" "-l 1" "-r")
[ "$simulator" != kernel ] || ways=("-l 1")	# to the kernel they are the same, and its machines boot for each
for options in "${ways[@]}"; do
	note "a fabric that OpenSM has configured, opensm $options"
	rm -rf state osm/*
	start_sim "$topology"
	# shellcheck disable=SC2086
	opensm_once "$node001" $options || bad "opensm -o $options: exit status $?"
	lids >lids.opensm
	lmc=0
	[ "$options" != "-l 1" ] || lmc=1
	echo "lmc: $lmc" >qosd.yaml
	once "$node" -c qosd.yaml -p "$policy" || bad "exit status $?: $(<once)"
	lids >lids.qosd
	expect_same "LIDs by OpenSM and by qosd" lids.opensm lids.qosd
	all_active "$node001" "$topology"
	read_tables "$node"
	all_lids_arrive "$topology" $lmc lids.qosd
	stop_sim
done

# start_second [LINE...]: starts another qosd on node001, with these lines as qosd.yaml; sets sock and qosd_log to
# its own.
declare -A host=([second]=$node001) pid
start_second() {
	run_manager second "$@"
	second=${pid[second]} qosd_log=second/log
	sock=$(sock_of second)
}

# promise: M3
note "two qosd, the master is killed"
first_sock=$sock
rm -rf state
start_sim "$topology"
start_and_wait "$node" -p "$policy"
lids >lids.first
start_second
until_ 10 state_is standby || bad "state $(status state) of the second, want standby"
sleep 1
expect "state of the second, whose GUID is higher" standby "$(status state)"
expect "Sets of the second" 0 "$(sets)"
begin=${EPOCHREALTIME/./}
stop_qosd KILL
until_ 10 state_is master || bad "state $(status state) of the second, want master"
until_ 10 subnet_up || bad "the subnet is not up"
note "taken over after $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
expect "Sets, but for the ports' new master" 0 "$(table_sets)"
lids >lids.second
expect_same "LIDs" lids.first lids.second
all_active "$node001" "$topology"
end "$second"

note "two qosd, the better one comes later"
sock=$first_sock
start_and_wait "$node" -p "$policy"
start_second "priority: 5"
until_ 10 state_is master || bad "state $(status state) of the second, want master"
until_ 10 subnet_up || bad "the subnet is not up"
expect "Sets, but for the ports' new master" 0 "$(table_sets)"
lids >lids.second
expect_same "LIDs" lids.first lids.second
sock=$first_sock
until_ 10 state_is standby || bad "state $(status state) of the first, want standby"
expect_match "sminfo" "sm guid 0xf452140300811231, .* priority 5 state 3 SMINFO_MASTER" "$(on "$node" sminfo 2>&1)"
all_active "$node001" "$topology"

note "the better one ends"
end "$second" || bad "exit status $? after SIGTERM"
until_ 10 state_is master || bad "state $(status state), want master"
until_ 10 subnet_up || bad "the subnet is not up"
lids >lids.second
expect_same "LIDs" lids.first lids.second
stop_qosd || bad "exit status $? after SIGTERM"
