#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl convert` by its command line: the example of the 2006 design with all its
# defects, and the same example corrected.
#
# promise: O8
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cases=$top/tests/golden/convert

# run COMMAND...: prints the command's exit status; its output is in the files out and err.
run() { timeout $((15 * slow)) "$@" >out 2>err </dev/null; echo $?; }
convert() { run "$build/qosd-ctl" convert "$@"; }

note "command line"
expect "no file" 1 "$(convert)"
expect_match "no file" "missing: FILE"$'\n'"usage: qosd-ctl convert" "$(<err)"
expect "an unknown option" 1 "$(convert --frob "$cases/simple/qos-policy.conf")"
expect "an unknown format" 1 "$(convert --from frob "$cases/simple/qos-policy.conf")"
expect "a file that is missing" 1 "$(convert missing)"
expect_match "a file that is missing" "^missing: error: No such file" "$(<err)"
expect "to stdout" 0 "$(convert "$cases/simple/qos-policy.conf")"
mv out direct.yaml
expect "to a file" 0 "$(convert "$cases/simple/qos-policy.conf" -o file.yaml)"
expect_same "to a file" direct.yaml file.yaml
expect "nothing else" "" "$(<out)"
expect "a warning with its place" 1 \
	"$(grep -cF "$cases/simple/qos-policy.conf:17:5: warning: source-target" err)"
"$build/qosd-ctl" convert - <"$cases/simple/qos-policy.conf" >stdin.yaml 2>err
expect "from stdin" 0 $?
expect_same "from stdin" <(grep -v '^ *#' direct.yaml) <(grep -v '^ *#' stdin.yaml)
expect "as what it is not" 1 "$(convert --from xml "$cases/simple/qos-policy.conf")"
expect "a format is for one file" 0 \
	"$(convert --from partitions "$cases/xml/partitions.conf" "$cases/xml/policy.xml")"
echo kept >kept.yaml
expect "a broken file" 1 "$(convert "$cases/broken-policy/qos-policy.conf" -o kept.yaml)"
expect "a broken file leaves the output alone" kept "$(<kept.yaml)"
expect "a place that can't be written" 1 \
	"$(convert "$cases/simple/qos-policy.conf" -o missing/file.yaml)"

note "the manual's examples"
manual=$(ls /usr/share/doc/opensm/QoS_management_in_OpenSM.txt* 2>/dev/null | head -1)
if [ -n "$manual" ]; then
	zcat -f "$manual" >manual.txt
	# each block goes from a line "qos-ulps", "port-groups" or "qos-levels" to the next heading
	awk '/^ *(port-groups|qos-levels|qos-ulps)$/ && !on { on = 1; n++ }
	     on && (/^ *[0-9]\. / || /^[A-Z=]/) { on = 0 }
	     on { print >("manual-" n ".conf") }' manual.txt
	for file in manual-*.conf; do
		expect "$file" 0 "$(convert "$file" -o manual.yaml)"
		expect "$file loads" 0 "$(run "$build/qosd" --check -c /dev/null -p manual.yaml)"
	done
else
	echo "the manual of OpenSM is not installed: its examples are left out"
fi

note "the example of 2006 as it was printed"
printed=$(dirname "$fabrics")/reference/rfc-2006-qos.txt
if [ -r "$printed" ]; then
	sed -n '/^<?xml/,/^<\/qos-policy>/p' "$printed" >printed.xml
	expect "it is refused" 1 "$(convert printed.xml)"
	expect "nothing is made of it" "" "$(<out)"
	for defect in \
		"10:3: error: a comment begins" "17:3: error: a comment begins" \
		"21:3: error: a comment begins" "27:3: error: a comment begins" \
		"29:4: error: a comment begins" "34:4: error: a comment begins" \
		"40:3: error: a comment begins" "68:3: error: a comment begins" \
		"72:3: error: a comment begins" \
		"31:25: error: there is no port-group 'Part1'" \
		"32:19: error: sl2vl-table has 15 entries" "37:19: error: sl2vl-table has 15 entries" \
		"39:3: error: <sl2vl-tables> within the <sl2vl-tables>" \
		"55:9: error: sl: 16 is out of range" \
		"63:48: error: </mtl_limit> does not end the <mtu_limit>" \
		"64:17: error: rate-limit: 1 is not the code of a rate"; do
		expect "defect at $defect" 1 "$(grep -cF "printed.xml:$defect" err)"
	done
	expect "no other error" 16 "$(grep -c ': error: ' err)"
else
	echo "the text of the design is not there: its defects are left out"
fi

note "mended"
expect "it converts" 0 \
	"$(convert "$cases/xml/policy.xml" "$cases/xml/partitions.conf" -o mended.yaml)"
expect "it loads" 0 "$(run "$build/qosd" --check -c /dev/null -p mended.yaml)"

note "options of tables, on a fabric"
cat >opensm.conf <<'END'
qos TRUE
qos_sl2vl 0,1,2,3,3,2,1,0,0,0,0,0,0,0,0,15
qos_high_limit 5
qos_ca_high_limit 9
qos_ca_vlarb_high 1:64,2:128
END
expect "they convert" 0 "$(convert opensm.conf "$cases/simple/qos-policy.conf" -o tables.yaml)"
start_sim "$top/examples/cluster.topo"
node=H-f452140300811200
start_and_wait "$node" -p tables.yaml
port=0xf452140300811201
# ibsim does not store VLHighLimit
expect "limit of the host's port" 9 "$(ctl -j vlarb $port | field high-limit)"
expect "its SL2VL table" "0 1 2 3 3 2 1 0 0 0 0 0 0 0 0 15" "$(sl2vl "$node" $port 0 | sed 's/ *$//')"
expect_match "its arbitration" " high: 1:64 2:128$" "$(vlarb "$node" $port 1)"
stop_qosd || bad "exit status $? after SIGTERM"
