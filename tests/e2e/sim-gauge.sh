#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the quality figures of routes: the daemon's for the devices' tables, those of --check --lfts for
# a dump of them, and those that another program computes from the same dump must agree.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
for program in python3 ibnetdiscover dump_fts; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done
gauge=$top/tests/tools/gauge.py

# said_by_script NAME, said_by_qosd NAME: print a figure from the script's output and the daemon's JSON.
said_by_script() { awk -v name="$1" '$1 == name { print $2 }' script; }
said_by_qosd() { sed -n '/"gauge": {/,$p' routes.json | sed -nE 's/^ *"'"$1"'": "?([^",]*)"?,?$/\1/p' | head -n 1; }

# agree NAME TOLERANCE: both figures must agree within the tolerance.
agree() {
	awk -v a="$(said_by_qosd "$1")" -v b="$(said_by_script "$1")" -v most="$2" \
		'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= most && -d <= most) }' ||
		bad "$1: qosd says $(said_by_qosd "$1"), the script $(said_by_script "$1")"
}

# figures FILE: prints the figures of --check for the routes in FILE, by the names above.
figures() {
	sed -n "/^Routes of $1\$/,\$p" check.out | sed -nE '
		s/^([0-9]+) end ports; ([0-9]+) of ([0-9]+) pairs connected$/end-ports \1\nconnected \2\npairs \3/p
		s/^  hops: .* times the minimum on average, .*; ([0-9]+) switch.*$/hops-max \1/p
		s/^  routes on a cable: ([0-9]+) at most.*\(([0-9]+) directions.*$/edge-forwarding-index \1\ncable-directions \2/p'
}

# check_agrees FILE: --check and the script must print the same figures for the tables in FILE.
check_agrees() {
	local name value
	figures "$1" >figures
	expect "figures of --check" 6 "$(grep -c . figures)"
	while read -r name value; do
		expect "$name of --check" "$(said_by_script "$name")" "$value"
	done <figures
}

# compare TOPOLOGY ENGINE LAYERS: compares the figures; LAYERS is the text about layers in the output.
compare() {
	# promise: B5
	note "$1, $2"
	local name node
	echo "routing: [$2]" >qosd.yaml
	start_sim "$1"
	sim_ctl show nodes >nodes.sim
	node=$(awk '/host-0*1 / { print $2; exit }' nodes.sim)
	start_and_wait "$node" -c qosd.yaml
	ctl -j routes --gauge >routes.json || bad "routes --gauge: $(<routes.json)"
	ctl routes --gauge >routes.text || bad "routes --gauge as text: $(<routes.text)"
	on "$node" ibnetdiscover >topology 2>ibnetdiscover.err || bad "ibnetdiscover: $(<ibnetdiscover.err)"
	on "$node" dump_fts >tables 2>dump_fts.err || bad "dump_fts: $(<dump_fts.err)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
	rm -rf state
	expect "engine" "$2" "$(field engine <routes.json)"
	python3 "$gauge" topology tables >script || bad "gauge.py: exit status $?"
	cat script
	for name in end-ports pairs connected hops-longer-max hops-max cable-directions \
		edge-forwarding-index shift-load-max credit-loop; do
		expect "$name" "$(said_by_script "$name")" "$(said_by_qosd "$name")"
	done
	expect "values of the script" 15 "$(grep -c . script)"
	for name in hops-ratio hops-ratio-max routes-mean all-to-all shift-load; do
		agree "$name" 0.000001
	done
	# the random numbers differ; the mean of a thousand bisections has this precision
	agree bisection-bandwidth 0.01
	timeout $((20 * slow)) "$build/qosd" --check -c qosd.yaml -p "$top/etc/policy.yaml" -T topology -L tables \
		>check.out 2>&1 || bad "--check --lfts: exit status $?: $(tail -n 5 check.out)"
	check_agrees tables
	expect_match "layers" "^layers +$3" "$(grep '^layers' routes.text)"
}

compare fat-tree:k=8,levels=3,speed=4xEDR updn one
compare fat-tree:k=6,taper=2,aggregation=1 minhop one
compare torus:4x4x3,hosts=2 updn one
compare torus:5x5,hosts=2 minhop 'at most [2-5]'
compare dragonfly:a=4,h=2,p=2 updn one
compare dragonfly:a=4,h=2,p=2 minhop 'at most [2-9]'

note "tables of OpenSM's form, in part, and wrong ones"
# the format of OpenSM's opensm-lfts.dump, made from the lines of dump_fts for the first switch
awk '/^Unicast/ { n++ } n == 1' tables |
	sed -E "s/^Unicast lids \[0x0-0x([0-9a-f]+)\] of switch .* guid/Unicast lids [0-99] of switch Lid 5 guid/
		s/^(0x[0-9a-f]{4}) ([0-9]{3}) : \((Channel Adapter|Switch) portguid (0x[0-9a-f]+): (.*)\)$/\1 \2 # CA portguid \4: \5/
		s/ valid lids/ lids/" >some
said() { grep -qE -- "$1" check.out || bad "nothing like '$1' in: $(grep -v '^ ' check.out | head -n 5)"; }
check() {
	timeout $((20 * slow)) "$build/qosd" --check -p "$top/etc/policy.yaml" -T topology -L "$2" >check.out 2>&1
	expect "exit status with $2" "$1" $?
}
check 0 some
said '^some: warning: no table for [0-9]+ switches of the topology, for example .*: assuming that they drop all packets$'
expect_less "connected pairs" "$(figures some | awk '$1 == "pairs" { print $2 }')" \
	"$(figures some | awk '$1 == "connected" { print $2 }')"
head -n 1 tables >none
printf '0x0001 300 : (Channel)\n' >>none
check 1 none
said '^none:2:1: error: no port number after the LID$'
printf '\n0x0001 001\n' >before
check 1 before
said '^before:2:1: error: an entry before the first table$'
sed 's/portguid 0x0/portguid 0x7/' tables >others
check 1 others
said '^others:[0-9]+:1: error: LID [0-9]+ belongs to port 0x7.* here, but to .* in the topology: the two files are from different times$'
check 1 /nowhere
said '^/nowhere: error: No such file or directory$'
check 1 topology
said '^topology:[0-9]+:1: error: not a line of a dump of forwarding tables$'
"$build/qosd" --check --lfts tables >check.out 2>&1
expect "without a topology" 2 $?

if command -v opensm >/dev/null; then
	# promise: B5
	note "tables of OpenSM"
	start_sim dragonfly:a=4,h=2,p=2
	node=$(sim_ctl show nodes | awk '/host-0*1 / { print $2; exit }')
	bring_up_opensm "$node" 60 -D 0x43 -R updn
	until_ 10 grep -qs 'lids dumped' opensm.dir/opensm-lfts.dump || bad "there are no tables of OpenSM"
	on "$node" ibnetdiscover >topology 2>ibnetdiscover.err || bad "ibnetdiscover: $(<ibnetdiscover.err)"
	end "$opensm"
	stop_sim
	cp opensm.dir/opensm-lfts.dump .
	python3 "$gauge" topology opensm-lfts.dump >script || bad "gauge.py: exit status $?"
	timeout $((20 * slow)) "$build/qosd" --check -p "$top/etc/policy.yaml" -T topology \
		-L opensm-lfts.dump >check.out 2>&1 || bad "--check: exit status $?: $(tail -n 5 check.out)"
	check_agrees opensm-lfts.dump
fi
