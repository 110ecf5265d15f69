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
expect "a verdict with its place" 1 \
	"$(grep -cF "$cases/simple/qos-policy.conf:17:5: otherwise: source-target" err)"
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

note "a folder"
expect "it is made" 0 "$(convert "$cases/vendor/opensm.conf" -o folder/)"
expect_same "its settings" <(grep -v '^#' "$cases/vendor/qosd.yaml" | sed 's/ #.*//') \
	<(grep -v '^#' folder/qosd.yaml | sed 's/ #.*//')
expect "each has its place" "$(grep -c '^[a-z]' folder/qosd.yaml)" \
	"$(grep -cE "^[a-z-]+: .* # $cases/vendor/opensm.conf:[0-9]+$" folder/qosd.yaml)"
expect "the policy does not repeat them" 0 "$(grep -c 'For qosd.yaml' folder/policy.yaml)"
expect "qosd takes both" 0 "$(run "$build/qosd" --check -c folder/qosd.yaml -p folder/policy.yaml)"
echo kept >folder/policy.yaml
echo kept >folder/qosd.yaml
expect "a broken file" 1 "$(convert "$cases/broken-policy/qos-policy.conf" -o folder)"
expect "a broken file leaves both alone" "kept kept" "$(<folder/policy.yaml) $(<folder/qosd.yaml)"
expect "nothing else is there" $'policy.yaml\nqosd.yaml' "$(ls folder)"
mkdir folder/qosd.yaml.new
expect "a file that can't be written" 1 "$(convert "$cases/simple/qos-policy.conf" -o folder)"
expect "neither is replaced" "kept kept" "$(<folder/policy.yaml) $(<folder/qosd.yaml)"
rmdir folder/qosd.yaml.new
expect "it is there" 0 "$(convert "$cases/simple/qos-policy.conf" -o folder)"
expect_same "the policy" <(grep -v '^#' direct.yaml) <(grep -v '^#' folder/policy.yaml)
expect "a folder in no folder" 1 "$(convert "$cases/simple/qos-policy.conf" -o missing/folder/)"

note "verdicts"
printf 'lmc 0\nconsole off\nhop_weights_file /x\nconsole_port 1\nsm_sl 4\n' >few.conf
expect "some" 0 "$(convert few.conf -o few.yaml)"
expect "those that differ" "few.conf:3:1: not possible: hop_weights_file /x: links have no weights" \
	"$(grep few.conf:3: err)"
expect "how many of each" "same: 3, otherwise: 2, not needed: 1, not possible: 1 (--verdicts prints all)" \
	"$(tail -n 1 err)"
expect "all" 0 "$(convert --verdicts few.conf -o few.yaml)"
expect "each line has one" "1 2 3 4 5" "$(sed -nE 's/^few.conf:([0-9]+):1: .*/\1/p' err | xargs)"
expect "as JSON, no place for it" 1 "$(convert -j few.conf)"
expect "as JSON" 0 "$(run "$build/qosd-ctl" -j convert few.conf -o few.yaml)"
expect "as JSON" "few.conf 3 1 not possible hop_weights_file /x: links have no weights" "$(python3 -c '
import json, sys
rows = json.load(open("out"))["verdicts"]
print(*[row[k] for row in rows if row["line"] == 3 for k in ("file", "line", "column", "verdict", "text")])')"

note "a file that nobody changed"
if command -v opensm >/dev/null; then
	run opensm -c "$work/default.conf" >/dev/null
	expect "it converts" 0 "$(convert default.conf -o default/)"
	expect "no setting" "" "$(grep -v '^#' default/qosd.yaml)"
	expect "a verdict for each option" "$(grep -c '^[a-z]' default.conf)" \
		"$(convert -v default.conf -o default/ >/dev/null; grep -cE '^default.conf:[0-9]+:1: ' err)"
	expect "qosd takes both" 0 "$(run "$build/qosd" --check -c default/qosd.yaml -p default/policy.yaml)"
	expect_match "without a warning" '^[^:]*$|0 warnings' "$(grep -c warning out || :)"
else
	echo "opensm is not installed: its file of defaults is left out"
fi

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
stop_sim

# tables_of: prints what a host's port and a partition have: SL2VL, arbitration without the entries that
# devices skip, and the SL of the broadcast group.
tables_of() {
	sl2vl "$node" $port 0 | sed 's/ *$//'
	vlarb "$node" $port 1 | sed -E 's/ [0-9]+:0\b//g'
	on "$node" saquery -g 2>/dev/null | sed -nE 's/^[[:space:]]*SL\.+//p' | sort -u
}

note "the same files in OpenSM and in qosd"
printf 'qos-ulps\ndefault : 5\nend-qos-ulps\n' >qos-policy.conf
printf 'Default=0x7fff, ipoib, sl=3 : ALL=full ;\n' >partitions.conf
modes=()
! command -v opensm >/dev/null || modes=(FALSE TRUE)
for mode in "${modes[@]}"; do
	printf '%s\n' "qos $mode" "qos_max_vls 2" "qos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7" "qos_high_limit 7" \
		"qos_vlarb_high 2:9" "qos_vlarb_low 0:1,1:2,5:9" >opensm.conf
	start_sim "$top/examples/cluster.topo"
	bring_up_opensm "$node" $((30 * slow)) -F "$work/opensm.conf" -P "$work/partitions.conf" \
		-Y "$work/qos-policy.conf"
	until_ 10 grep -q "" <(on "$node" saquery -g 2>/dev/null)
	tables_of >opensm.tables
	end "$opensm" || :
	stop_sim
	expect "qos $mode converts" 0 "$(convert opensm.conf qos-policy.conf partitions.conf -o "qos-$mode/")"
	start_sim "$top/examples/cluster.topo"
	start_and_wait "$node" -c "$work/qos-$mode/qosd.yaml" -p "$work/qos-$mode/policy.yaml"
	tables_of >qosd.tables
	expect_same "qos $mode" opensm.tables qosd.tables
	expect "qos $mode: the SL of the group" "$([ $mode = TRUE ] && echo 0x3 || echo 0x0)" "$(tail -n 1 qosd.tables)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done
