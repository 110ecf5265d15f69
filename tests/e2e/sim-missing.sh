#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what qosd remembers: switches, hosts, links, their width and speed, and subnet managers that were there
# and are gone stay in health, status and metrics until they are back or forgotten, also over a restart and a
# failover.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "links come up slower"

topology=$top/examples/cluster.topo
first=H-f452140300811200 second=H-f452140300811210
sim_options=()
settings=("sweep-interval: 1" "smp-timeout: 50ms")
declare -A host=([first]=$first [second]=$second) pid

# missing: prints what is missing as "KIND NAME", sorted.
missing() { ctl -j missing 2>&1 | jq -r '.[] | "\(.kind) \(.name | sub(" \\(0x.*"; ""))"' | sort; }
missing_is() { [ "$(missing)" = "$1" ]; }
# problem KIND: prints the severities and texts of the problems of this kind in health.
problem() { ctl -j health | jq -r --arg kind "$1" '.problems[] | select(.kind == $kind) | "\(.severity) \(.text)"'; }
count() { ctl -j status | jq -r --arg kind "$1" '.missing[$kind]'; }
metric() { ctl metrics | sed -n "s/^qosd_fabric_missing{kind=\"$1\"} //p"; }
up() { status_is state=master subnet-up=true sweeping=false; }
held() { [ "$(status registrations-held)" = true ]; }

first_port=f452140300811201
start_sim "$topology"
run_manager first "${settings[@]}"
until_ 20 of first up || fail "the first does not come up"
sock=$(sock_of first)

# promise: H1
note "what goes away is missing until it is back"
expect "at first" "" "$(missing)"
expect "in health" "" "$(ctl health | grep -E 'missing|slower')"
unplug 'node001 HCA-1'
unplug 'MF0;leaf01:SX6036/U1' 29
sim_do link degrade 'MF0;leaf02:SX6036/U1/P29' 4xQDR
unplug 'MF0;leaf05:SB7700/U1'
gone=$'host mds01 mlx5_0\nhost node001 HCA-1\nhost nvme01 mlx5_0\nhost oss01 mlx5_0\nhost oss02 mlx5_0
link MF0;spine01:SB7700/U1/P1\nrate MF0;spine01:SB7700/U1/P5\nswitch MF0;leaf05:SB7700/U1'
until_ 20 missing_is "$gone" || bad "missing: $(missing)"
expect_match "a switch in health" "^error MF0;leaf05:SB7700/U1 \(0x7cfe900300b43180\) is gone since $(date -u +%Y)-.*; it was at MF0;spine01:SB7700/U1/P17 " "$(problem switch-missing)"
expect_match "a host in health" "warning node001 HCA-1 \(0xf452140300811230\) is gone since .*; it was at MF0;leaf01:SX6036/U1/P1 \(0xf45214030090a3c0\)" "$(problem host-missing)"
expect_match "a link in health" "^warning the link MF0;spine01:SB7700/U1/P1 \(0x7cfe900300b41a20\) to MF0;leaf01:SX6036/U1/P29 \(0xf45214030090a3c0\), 4xFDR is gone since" "$(problem link-missing)"
expect_match "a slower link in health" "^warning the link MF0;spine01:SB7700/U1/P5 .* to MF0;leaf02:SX6036/U1/P29 .* runs at 4xQDR, and ran at 4xFDR before" "$(problem link-slower)"
expect "hosts in status" 5 "$(count host)"
expect "hosts in metrics" 5 "$(metric host)"
expect "links in status and metrics" "1 1" "$(count link) $(metric link)"
expect "slower links in status and metrics" "1 1" "$(count rate) $(metric rate)"
expect "switches by --count" 1 "$(ctl missing --kind switch --count)"
expect "hosts by --kind" "5 0" "$(ctl -j missing --kind host | grep -c '"kind": "host"') $(ctl -j missing --kind host | grep -c '"kind": "link"')"
plug 'MF0;leaf05:SB7700/U1'
sim_do link degrade 'MF0;leaf02:SX6036/U1/P29' full
gone=$'host node001 HCA-1\nlink MF0;spine01:SB7700/U1/P1'
until_ 20 missing_is "$gone" || bad "still missing: $(missing)"

# promise: H3
note "a restart, while which another host goes"
end "${pid[first]}"
unplug 'node002 HCA-1'
run_manager first "${settings[@]}"
until_ 20 up || fail "the first does not come up again"
gone=$'host 0xf452140300811240\n'$gone
until_ 10 missing_is "$gone" || bad "after the restart: $(missing)"
expect_match "in health" "warning 0xf452140300811240 went before .*, while no qosd was watching" "$(problem host-missing)"
until_ 10 grep -qs f452140300811240 first/state/missing || bad "it is not stored: $(<first/state/missing)"
end "${pid[first]}" KILL
run_manager first "${settings[@]}"
until_ 20 up || fail "the first does not come up after SIGKILL"
missing_is "$gone" || bad "after SIGKILL: $(missing)"

# promise: H4
note "a failover"
run_manager second "${settings[@]}"
until_ 20 of second held || bad "the second does not hold the registrations"
expect "missing at the standby" "1 1" "$(of second ctl missing >out 2>&1; echo $?) $(grep -c 'not master\|standby\|master' out)"

# promise: H7
note "the master knows its standbys"
sock=$(sock_of first)
standby() { ctl -j standbys | jq -r '.standbys[] | "\(.guid) \(.name) \(.priority) \(.state) \(.["same-policy"]) \(.["copy-age"] != null and .["copy-age"] < 5)"'; }
standby_is() { [ "$(standby)" = "$1" ]; }
until_ 10 standby_is "0xf452140300811211 login01 HCA-1/P1 (0xf452140300811211) 0 standby true true" || bad "standbys: $(standby)"
expect "in status" "$(ctl -j standbys | jq -c '.standbys[0] | del(.["copy-age"], .["heard-ago"])')" \
	"$(ctl -j status | jq -c '.standbys[0] | del(.["copy-age"], .["heard-ago"])')"
expect_match "as text" "standby +0  same +[0-4]\.[0-9] s  login01 HCA-1/P1" "$(ctl standbys | tail -n 1)"
kill -STOP "${pid[second]}"
is_old() { ctl -j standbys | jq -e '.standbys[0]["copy-age"] > 1' >/dev/null; }
until_ 10 is_old || bad "a standby that is frozen: $(ctl standbys)"
kill -CONT "${pid[second]}"
until_ 10 standby_is "0xf452140300811211 login01 HCA-1/P1 (0xf452140300811211) 0 standby true true" || bad "standbys: $(standby)"

# promise: H4
note "the standby has what is missing"
kept() { grep -q "$1" second/state/missing 2>/dev/null; }
until_ 10 kept 'node001 HCA-1' || bad "the second has not stored what is missing: $(cat second/state/missing)"
end "${pid[first]}" KILL
sock=$(sock_of second)
until_ 20 up || fail "the second does not take over"
until_ 20 missing_is "$gone"$'\nmanager mgmt01 HCA-1' || bad "after the failover: $(missing)"
expect_match "the manager in health" "^warning mgmt01 HCA-1 \(0x$first_port\) is gone since" "$(problem manager-missing)"

# promise: H2
note "forget"
expect_match "what is not missing" "nothing: nothing that is missing has this name.*'qosd-ctl missing'" "$(ctl forget nothing 2>&1)"
expect_match "neither a name nor --all" "say what to forget, or --all" "$(ctl forget 2>&1)"
expect "a link by its port" "forgotten: 1" "$(ctl forget MF0\;leaf01:SX6036/U1/P29 2>&1)"
expect "a manager by its GUID" "forgotten: 1" "$(ctl forget 0x$first_port 2>&1)"
expect "hosts by a pattern" "forgotten: 1" "$(ctl forget 'node00?' 2>&1)"
expect "what is left" "host 0xf452140300811240" "$(missing)"
expect "all" "forgotten: 1" "$(ctl forget --all 2>&1)"
expect "none is left" "" "$(missing)"
expect_match "the last event" "missing-forgotten.*1 missing thing will not be missed any more: all" "$(ctl events --kind missing-forgotten | tail -n 1)"
expect "its user" "$(id -u)" "$(ctl -j events --kind missing-forgotten | jq -rs '.[-1].data.uid')"
end "${pid[second]}"
run_manager second "${settings[@]}"
until_ 20 up || fail "the second does not come up again"
expect "after a restart" "" "$(missing)"
plug 'node001 HCA-1'
there() { ctl nodes | grep -q 'node001'; }
until_ 10 there || bad "node001 does not come back"
unplug 'node001 HCA-1'
until_ 10 missing_is "host node001 HCA-1" || bad "what was forgotten, was back and went again: $(missing)"

# promise: H1
note "a cable in another port"
ctl forget --all >out 2>&1 || bad "forget: $(<out)"
leaf='MF0;leaf02:SX6036/U1' spine='MF0;spine01:SB7700/U1'
unplug "$leaf" 29
until_ 10 missing_is "link $spine/P5" || bad "the cable is out: $(missing)"
expect "what its ends are linked to" "null null" "$(ctl -j missing | jq -r '.[] | "\(.["linked-to"]) \(.["far-linked-to"])"')"
plug_into "$leaf" 20 "$spine" 5
moved() { ctl missing | grep -q "linked to $leaf/P20"; }
until_ 10 moved || bad "the cable is in another port: $(ctl missing)"
expect "the link that is gone" "link $spine/P5" "$(missing)"
expect_match "as text" "^link .* $spine/P5 \(.*\) -> $leaf/P29 \(.*\); $spine/P5 \(.*\) is linked to $leaf/P20 \([^)]*\) now$" "$(ctl missing | tail -n 1)"
expect_match "in health" "to $leaf/P29 .* is gone since .*; $spine/P5 \([^)]*\) is linked to $leaf/P20 \([^)]*\) now: was the cable moved\?$" "$(problem link-missing)"
expect_match "what to do" "where a cable was moved on purpose: 'qosd-ctl forget PORT'" "$(ctl health)"
expect "it was" "forgotten: 1" "$(ctl forget "$leaf/P29" 2>&1)"

# promise: H6
note "a cable in two other ports"
unplug "$leaf" 20
until_ 10 missing_is "link $spine/P5" || bad "the cable is out: $(missing)"
plug_into "$leaf" 21 "$spine" 30
may_be() { ctl -j missing | jq -r '.[] | "\(.["new-links"]) \(.["moved-to"]) \(.["far-moved-to"])" | gsub(" \\(0x[0-9a-f]*\\)"; "")'; }
may_be_is() { [ "$(may_be)" = "$1" ]; }
until_ 10 may_be_is "1 $spine/P30 $leaf/P21" || bad "where it may be: $(may_be)"
expect "since when" true "$(ctl -j missing | jq '.[0]["moved-since"] >= .[0].since')"
expect_match "as text" "^link .* $spine/P5 \(.*\) -> $leaf/P20 \(.*\); $spine/P30 \([^)]*\) is linked to $leaf/P21 \([^)]*\) since $(date -u +%Y)-[^ ]*$" "$(ctl missing | tail -n 1)"
expect_match "in health" "to $leaf/P20 .* is gone since .*; $spine/P30 \([^)]*\) is linked to $leaf/P21 \([^)]*\) since [^ ]*: was the cable moved\?$" "$(problem link-missing)"
plug_into "$leaf" 22 "$spine" 31
until_ 10 may_be_is "2 null null" || bad "another cable: $(may_be)"
expect_match "as text" "; 2 new links since$" "$(ctl missing | tail -n 1)"
expect_match "in health" "; 1 link between these switches is missing, and 2 came since: was a cable moved\?$" "$(problem link-missing)"
end "${pid[second]}"
run_manager second "${settings[@]}"
until_ 20 up || fail "the second does not come up once more"
expect "after a restart" "2 null null" "$(may_be)"
expect "it was one of them" "forgotten: 1" "$(ctl forget "$leaf/P20" 2>&1)"
