#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the expected topology: of a file or as accepted by a user.  Miscabled, missing and surplus links and missing
# and unknown nodes are in health, status, metrics, events and `qosd-ctl topology`.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "cables are put into other ports"

topology=$top/examples/cluster.topo
manager=H-f452140300811200
sim_options=()
differences() { ctl -j topology 2>&1 | jq -r '.[] | .kind' | sort | uniq -c | awk '{ print $2 "=" $1 }' | xargs; }
differences_are() { [ "$(differences)" = "$1" ]; }
texts() { ctl -j topology --kind "$1" | jq -r '.[] | .text'; }
# by gojq, members would be in alphabetical order
status_of() { ctl -j status | command jq -c ".topology.$1"; }
in_health() { ctl -j health | jq -r '.problems[] | select(.kind | startswith("topology")) | "\(.severity) \(.kind)"' | sort | uniq -c | awk '{ print $2, $3 "=" $1 }' | xargs; }

start_sim "$topology"

# promise: H9
note "as accepted"
printf '%s\n' "sweep-interval: 1" "smp-timeout: 50ms" >qosd.yaml
start_and_wait "$manager" -c qosd.yaml -p "$top/etc/policy.yaml"
expect_match "nothing is expected" "topology: none is expected" "$(ctl topology 2>&1)"
expect "in status" null "$(status_of file)"
expect_match "accept" "qosd-ctl status" "$(ctl accept 2>&1)"
until_ 10 differences_are "" || bad "just accepted: $(differences)"
expect "who, in status" "$(id -u)" "$(status_of uid)"
expect_match "since when" "^\"$(date -u +%Y)-" "$(status_of since)"

# promise: H8
note "miscabled, missing, surplus"
sim_do link down 'MF0;leaf01:SX6036/U1/P29'
sim_do link down 'MF0;leaf01:SX6036/U1/P30'
sim_do link connect 'MF0;leaf01:SX6036/U1/P29' 'MF0;spine01:SB7700/U1/P2'
sim_do link connect 'MF0;leaf01:SX6036/U1/P30' 'MF0;spine01:SB7700/U1/P1'
sim_do link down 'MF0;leaf02:SX6036/U1/P29'
sim_do link connect 'MF0;leaf02:SX6036/U1/P20' 'MF0;spine01:SB7700/U1/P30'
unplug 'node001 HCA-1'
until_ 20 differences_are "link-missing=1 link-surplus=1 miscabled=2 node-missing=1" || bad "differences: $(differences); $(ctl topology)"
expect_match "a miscabled link" 'MF0;leaf01:SX6036/U1/P29 \(0xf45214030090a3c0\) is expected to be linked to MF0;spine01:SB7700/U1/P1 \(0x7cfe900300b41a20\); MF0;leaf01:SX6036/U1/P29 \(0xf45214030090a3c0\) is linked to MF0;spine01:SB7700/U1/P2 \(0x7cfe900300b41a20\); MF0;spine01:SB7700/U1/P1 \(0x7cfe900300b41a20\) is linked to MF0;leaf01:SX6036/U1/P30 ' "$(texts miscabled)"
expect_match "a missing link" 'MF0;leaf02:SX6036/U1/P29 .* is expected to be linked to MF0;spine01:SB7700/U1/P5 .*, and neither port has a link; MF0;leaf02:SX6036/U1/P20 [^;]* is linked to MF0;spine01:SB7700/U1/P30 [^;]*, which is not expected: was the cable moved\?$' "$(texts link-missing)"
expect_match "a surplus link" 'MF0;leaf02:SX6036/U1/P20 .* is linked to MF0;spine01:SB7700/U1/P30 .*, and neither port is expected to have a link' "$(texts link-surplus)"
expect "a missing node" "node001 HCA-1 (0xf452140300811230) is expected and not there" "$(texts node-missing)"
expect "in health" "warning topology-link-missing=1 warning topology-link-surplus=1 warning topology-miscabled=2 warning topology-node-missing=1" "$(in_health)"
expect "in status" '{"node-missing":1,"node-unknown":0,"miscabled":2,"link-missing":1,"link-surplus":1}' "$(status_of differences)"
expect_match "in status, as text" "^topology +accepted 20[^ ]+Z by user $(id -u) .*; 5 differences$" "$(ctl status | grep ^topology)"
expect "in metrics" 2 "$(ctl metrics | sed -n 's/^qosd_fabric_topology_differences{kind="miscabled"} //p')"
expect "by --count" 2 "$(ctl topology --kind miscabled --count)"
expect_match "the event" "topology-differs.* 2 miscabled, 1 missing and 1 surplus links, 1 missing and 0 unknown nodes" "$(ctl events --kind topology-differs | tail -n 1)"

# promise: H9
note "a restart, and what is accepted then"
stop_qosd
start_and_wait "$manager" -c qosd.yaml -p "$top/etc/policy.yaml"
until_ 20 differences_are "link-missing=1 link-surplus=1 miscabled=2 node-missing=1" || bad "after a restart: $(differences)"
ctl accept >out 2>&1 || bad "accept: $(<out)"
until_ 10 differences_are "" || bad "accepted again: $(differences)"
plug 'node001 HCA-1'
until_ 10 differences_are "node-unknown=1" || bad "an unknown node: $(differences)"
ctl accept --none >out 2>&1 || bad "accept --none: $(<out)"
expect_match "nothing is expected" "topology: none is expected" "$(ctl topology 2>&1)"
expect_match "who accepted" "topology-accepted .*no topology is expected any more" "$(ctl events --kind topology-accepted | tail -n 1)"
stop_qosd

# promise: H8
note "of a file: what ibnetdiscover and ibdiagnet print, with names of a map, too"
on "$manager" ibnetdiscover >net.topo 2>out || bad "ibnetdiscover: $(<out)"
echo "expected-topology: $work/expected.topo" >>qosd.yaml
cp net.topo expected.topo
start_and_wait "$manager" -c qosd.yaml -p "$top/etc/policy.yaml"
until_ 10 differences_are "" || bad "ibnetdiscover's own: $(ctl topology 2>&1 | head -n 3)"
expect_match "in status, as text" "^topology +expected by $work/expected.topo; 0 differences$" "$(ctl status | grep ^topology)"
expect_match "no accept" "expected-topology of qosd.yaml names $work/expected.topo" "$(ctl accept 2>&1)"
ctl dump "$work/dump" >out 2>&1 || bad "dump: $(<out)"
cp dump/opensm-subnet.lst expected.topo
sweep() { ctl sweep >/dev/null 2>&1; differences_are "$1"; }
until_ 10 sweep "" || bad "the subnet list: $(ctl topology 2>&1 | head -n 3)"
awk -F'"' '{ print }
	/^(Switch|Ca|Rt)\t/ && !seen[$2]++ { n++; print "0x" substr($2, 3), "\"mapped " n "\"" >"map" }' net.topo >/dev/null
on "$manager" ibnetdiscover --node-name-map "$work/map" >mapped.topo 2>out || bad "ibnetdiscover: $(<out)"
expect_match "names of the map" '"mapped 1"' "$(<mapped.topo)"
cp mapped.topo expected.topo
until_ 10 sweep "" || bad "names of a map: $(ctl topology 2>&1 | head -n 3)"
# db_csv FILE: prints the tables that ibdiagnet would write about what ibnetdiscover has printed.
db_csv() {
	awk -F'"' '/^(Switch|Ca|Rt)\t/ {
			split($1, word, /[ \t]+/)
			guid = "0x" substr($2, 3)
			nodes[++n] = "\"" $4 "\"," word[2] "," (word[1] == "Switch" ? 2 : word[1] == "Ca" ? 1 : 3) ",1,1," guid "," guid
		}
		/^\[/ {
			far = "0x" substr($2, 3)
			num = substr($1, 2) + 0
			far_num = substr($3, 2) + 0
			if (guid < far || (guid == far && num < far_num))
				links[++m] = guid "," num "," far "," far_num
		}
		END {
			print "START_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID"
			for (i = 1; i <= n; i++) print nodes[i]
			print "END_NODES\n\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2"
			for (i = 1; i <= m; i++) print links[i]
			print "END_LINKS"
		}' "$1"
}
db_csv net.topo >expected.topo
until_ 10 sweep "" || bad "tables of ibdiagnet: $(ctl topology 2>&1 | head -n 3); $(in_health)"
sed -i '/^END_LINKS/ { x; d }; x; 1d' expected.topo
until_ 10 sweep "link-surplus=1" || bad "without the last link of the tables: $(differences); $(in_health)"
cp "$topology" expected.topo
until_ 20 sweep "link-missing=1 link-surplus=1 miscabled=2" || bad "the original: $(differences)"
echo '"nonsense' >expected.topo
unreadable() { ctl sweep >/dev/null 2>&1; [[ $(in_health) = *topology-unreadable=1* ]]; }
until_ 10 unreadable || bad "a bad file: $(in_health)"
expect_match "where it is wrong" "expected.topo: " "$(ctl health | grep topology-unreadable)"
stop_qosd

# promise: H9
note "a failover"
declare -A host pid
host=([first]=$manager [second]="login01 HCA-1")
run_manager first "sweep-interval: 1" "smp-timeout: 50ms" "priority: 10"
is_up() { of "$1" status_is state=master subnet-up=true sweeping=false; }
until_ 20 is_up first || bad "the first is not up"
run_manager second "sweep-interval: 1" "smp-timeout: 50ms"
second_holds() { of second status_is state=standby registrations-held=true; }
until_ 20 second_holds || bad "the second does not follow"
of first ctl accept >out 2>&1 || bad "accept: $(<out)"
accepted() { of "$1" ctl -j status | jq -c '.topology | [.since, .uid]'; }
has_it() { [ "$(accepted second)" = "$(accepted first)" ] && of second status_is registrations-held=true; }
until_ 10 has_it || bad "the standby has $(accepted second), its master $(accepted first)"
ours=$(accepted first)
end "${pid[first]}" KILL
unplug 'node002 HCA-1'
until_ 20 is_up second || bad "no takeover"
second_misses() { of second differences_are "node-missing=1"; }
until_ 20 second_misses || bad "under the second: $(of second differences)"
expect "accepted when and by whom" "$ours" "$(accepted second)"
end "${pid[second]}" TERM
run_manager second "sweep-interval: 1" "smp-timeout: 50ms"
until_ 20 is_up second || bad "the second is not up again"
until_ 20 second_misses || bad "after a restart of the second: $(of second differences)"
of second ctl accept --none >out 2>&1 || bad "accept --none: $(<out)"
run_manager first "sweep-interval: 1" "smp-timeout: 50ms"
# it may become the master, as its GUID is lower, but not before it has copied
first_has_none() { [ "$(of first ctl -j status 2>/dev/null | jq -c '.topology.since')" = null ]; }
until_ 20 first_has_none || bad "what is expected no more: $(of first ctl -j status | jq -c '[.state, .topology]')"
