#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests node-name-map: names of a file of infiniband-diags' format in all output and as input, its change by reload,
# bad lines, and `export node-name-map`, which infiniband-diags and qosd read.
# promise: O18
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "names are the same on either simulator"

manager=H-f452140300811200
leaf=0x7cfe900300b43180 spine=0x7cfe900300b41a20 host=0xf452140300811230
cat >map <<END
# names of the machine room
$leaf "rack 5 leaf"	# the storage
  $spine "spine A"
0x7cfe900300b41b60 no-quotes # a comment
$host "login-x mlx5_0"
END
printf 'policy: none\nnode-name-map: %s\n' "$work/map" >qosd.yaml
start_sim "$top/examples/cluster.topo"
start_and_wait "$manager" -c qosd.yaml
expect "warnings" "" "$(grep -E 'warning: settings' "$qosd_log")"

note "in output"
expect "of nodes" "rack 5 leaf;spine A" "$(ctl -j nodes --type switch | jq -r --arg l "$leaf" --arg s "$spine" \
	'[.[] | select(.guid == $l or .guid == $s) | .description] | sort | join(";")')"
expect "their NodeDescriptions" "MF0;leaf05:SB7700/U1" "$(ctl -j nodes "$leaf" | jq -r '.[]."node-description"')"
expect "without quotes" 1 "$(ctl nodes --type switch | grep -c ' no-quotes$')"
ctl ports "$leaf" >ports
expect_match "of ports" "rack 5 leaf/P31 \($leaf\) -> spine A/P17" "$(<ports)"
expect_match "of hops" "rack 5 leaf" "$(ctl route oss01 mgmt01 2>&1 || ctl route 'oss01 mlx5_0/P1' mgmt01)"
expect_match "of routes" "spine A/P17" "$(ctl routes --over "$leaf/P31")"
sim_do link down 'MF0;spine01:SB7700/U1/P17'
went() { ctl events --kind link-down | grep -q 'rack 5 leaf/P31'; }
until_ 20 went || bad "events: $(ctl events -n 3)"
sim_do link up 'MF0;spine01:SB7700/U1/P17'
expect_match "of what is missing or not" "." "$(ctl missing)"

note "as input"
for name in 'rack 5 leaf' 'rack*' "$leaf" 'MF0;leaf05:SB7700/U1'; do
	expect "nodes $name" "$leaf" "$(ctl -j nodes "$name" | jq -r '.[].guid')"
	expect_match "who $name" '^rack 5 leaf' "$(ctl who "$name")"
done
expect_match "a port" "^spine A/P17" "$(ctl routes --over 'spine A/P17' | head -n 1)"
expect_match "a port by its NodeDescription" "^spine A/P17" "$(ctl routes --over 'MF0;spine01:SB7700/U1/P17' | head -n 1)"
expect "the host" "1" "$(ctl ports login-x --count)"
expect_match "one that is mistyped" 'did you mean "rack 5 leaf"' "$(ctl nodes 'rack 5 laef' 2>&1)"
expect_match "drain" "spine A" "$(ctl drain 'spine A' --reason test 2>&1; ctl withdrawn)"
ctl release 'spine A' >/dev/null || bad "release"

note "infiniband-diags have the same names"
rm -rf names
ctl export node-name-map names || bad "export"
expect "one line for each node" "$(ctl nodes --count)" "$(grep -cE '^0x[0-9a-f]{16} "[^"]+"$' names/ib-node-name-map)"
on "$manager" ibnetdiscover --node-name-map names/ib-node-name-map >diags.topo 2>diags.err || bad "ibnetdiscover: $(<diags.err)"
# switches: of a host, ibnetdiscover prints the NodeDescription in its own line
switches_of() { sed -nE 's/^Switch[[:space:]].*"S-([0-9a-f]+)"[[:space:]]+# "([^"]*)".*/0x\1 \2/p' | sort; }
switches_of <diags.topo >diags.names
ctl -j nodes --type switch | jq -r '.[] | .guid + " " + .description' | sort >our.names
expect_same "names of switches" our.names diags.names
on "$manager" ibnetdiscover --node-name-map map 2>/dev/null | switches_of | sed 's/ *$//' >diags.names
expect_same "names of switches by the original map" our.names diags.names
expect "a host" 1 "$(on "$manager" iblinkinfo -l --node-name-map names/ib-node-name-map 2>/dev/null | grep -c '^0x[0-9a-f]* " *login-x mlx5_0 *"')"

note "records and policies have NodeDescriptions"
expect_match "NodeRecord" "MF0;leaf05" "$(on "$manager" saquery NR 2>/dev/null | grep leaf05)"

note "another map by reload, with lines that are none"
cat >map <<END
$leaf "leaf of May"
leaf02 "x"
$spine
$leaf "again"
0x1 "$(printf 'x%.0s' {1..65})"
END
ctl reload >reload.out 2>&1
for line in "map:2:1: warning: the line is left out: it begins with no GUID" "map:3:1: .*it has no name" \
	"map:4:1: .*the GUID has a name already" "map:5:1: .*more than 64 bytes"; do
	grep -qE "$line" "$qosd_log" reload.out || bad "nothing says $line: $(<reload.out)"
done
renamed() { ctl nodes "$leaf" | grep -q 'leaf of May'; }
until_ 10 renamed || bad "the names stay: $(ctl nodes "$leaf")"
expect "one that is in the map no more" "MF0;spine01:SB7700/U1" "$(ctl -j nodes "$spine" | jq -r '.[].description')"
rm map
ctl reload >reload.out 2>&1
expect_match "a file that is gone" "map.*cannot be opened" "$(cat reload.out "$qosd_log")"
expect "the former names stay" "leaf of May" "$(ctl -j nodes "$leaf" | jq -r '.[].description')"
echo 'policy: none' >qosd.yaml
ctl reload >reload.out 2>&1 || bad "reload: $(<reload.out)"
plain() { ctl nodes "$leaf" | grep -q 'MF0;leaf05'; }
until_ 10 plain || bad "names without a map: $(ctl nodes "$leaf")"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
