#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests fabrics that are not a tree, or a tree with missing links: what the log, health, routes and
# --check --topology report, and that all switches can be reached.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
command -v ibnetdiscover >/dev/null || { echo "ibnetdiscover is not installed"; exit 77; }
sim_options=()
echo "sweep-interval: 0" >qosd.yaml

first_host() { sim_ctl show nodes | awk '/host-0*1 / { print $2; exit }'; }
rests() { [ "$(status sweeping)" = false ]; }
# problem KIND: prints the problem's severity and text from health.
problem() { ctl -j health | jq -r --arg k "$1" '.problems[] | select(.kind == $k) | .severity + " " + .text'; }
# told KIND PATTERN: whether health reports such a problem and qosd is idle.
told() { rests && problem "$1" | grep -qE -- "$2"; }
untold() { rests && [ -z "$(problem tree-damaged)$(problem no-tree)" ]; }
# verdict_is STATUS OF: health must have this exit status, at the latest when a device that a busy machine made
# seem silent has answered again.
verdict_is() {
	judged() { ctl health >health.out 2>&1; [ $? -eq "$verdict" ]; }
	local verdict=$1
	until_ 10 judged || bad "health $2 has another exit status than $1: $(<health.out)"
}
logged() { grep -cE -- "$1" "$qosd_log"; }
# logged_once PATTERN: the log must have such lines, all different.
logged_once() {
	[ "$(logged "$1")" -gt 0 ] || bad "the log has nothing like '$1'"
	expect "lines of the log that are there twice" "" \
		"$(grep -E -- "$1" "$qosd_log" | sed 's/^[^ ]* [^ ]* //' | sort | uniq -d)"
}
# audited WHAT: the devices' tables must connect all end ports and switches.
audited() { sim_ctl check --switches >audit 2>&1 || bad "$1: $(grep LID audit | head -n 5)"; }
shape() { ctl -j routes | jq -r .shape.state; }
# checked: prints what --check --topology reports for the present fabric.
checked() {
	on "$node" ibnetdiscover >topology 2>ibnetdiscover.err || bad "ibnetdiscover: $(<ibnetdiscover.err)"
	timeout $((20 * slow)) "$build/qosd" --check -p "$top/etc/policy.yaml" -T topology >check.out 2>&1 ||
		bad "--check --topology: exit status $?"
}
check_says() { grep -qE -- "$1" check.out || bad "--check: nothing like '$1' in: $(grep -i 'switches form' check.out)"; }

# promise: B6
note "a tree of three levels: nothing to report"
start_sim fat-tree:k=8,levels=3
node=$(first_host)
start_and_wait "$node" -c qosd.yaml
until_ 10 rests || bad "it does not rest"
untold || bad "health tells of a tree: $(problem tree-damaged)$(problem no-tree)"
verdict_is 0 "of a tree"
expect "shape" tree "$(shape)"
expect "lines of the log on the shape" 0 "$(logged 'the switches form')"
audited "a tree"
checked
check_says '^The switches form a tree of 3 ranks$'
! grep -q 'cost of not being a tree' check.out || bad "--check tells the cost of not being a tree"

# promise: F13
note "a link to the top down: a note, and all switches reach each other"
links='^info the switches form a tree of 3 ranks; 1 of 32 switches of rank 1 has fewer than 4 links up, spine-0[0-9]+ .* has 3$'
for switch in spine-001 spine-005; do
	sim_do link down "$switch/P5"
	until_ 10 told tree-damaged "$links" || bad "$switch: health does not say so: $(problem tree-damaged)"
	verdict_is 1 "without a link of $switch, which is missing"
	expect "ways without a link of $switch" "6656 of 6656" \
		"$(ctl routes | sed -nE 's/^ways +([0-9]+ of [0-9]+) .*/\1/p')"
	expect "lost ways" 0 "$(ctl -j routes | jq '.lost | add')"
	audited "without a link of $switch"
	ctl -j health >before
	stop_qosd || bad "exit status $? after SIGTERM"
	start_and_wait "$node" -c qosd.yaml
	until_ 10 rests || bad "it does not rest"
	same_health() { ctl -j health >after; cmp -s before after; }
	until_ 10 same_health
	expect_same "what health says after a restart" before after
	sim_do link up "$switch/P5"
	until_ 10 untold || bad "$switch: health still says: $(problem tree-damaged)"
done
stop_qosd || bad "exit status $? after SIGTERM"

# promise: F13
note "the same, found at the first start"
rm -rf state
sim_do link down spine-001/P5
start_and_wait "$node" -c qosd.yaml
until_ 10 rests || bad "it does not rest"
verdict_is 0 "of a tree that was never whole"
audited "a tree that was never whole"
checked
check_says '^The switches form a tree of 3 ranks; 1 of 32 switches of rank 1 has fewer than 4 links up'

# promise: F13
note "hosts that are cut off are an error"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state
start_sim fat-tree:k=8,levels=3
node=$(first_host)
sim_do node refuse leaf-009 lft
start_qosd "$node" -c qosd.yaml
cut() { rests && [ -n "$(problem routes-cut)" ]; }
until_ 30 cut || bad "health does not say so: $(ctl health)"
verdict_is 2 "with hosts cut off"
expect_match "the error" '^error .*LIDs cannot be reached from every port' "$(problem routes-cut)"
expect "lost ways to hosts" true "$(ctl -j routes | jq '.lost.hosts > 0')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: B6
note "leaves without a common spine: a warning"
rm -rf state
start_sim clos:6x4,hosts=3
node=$(first_host)
start_and_wait "$node" -c qosd.yaml
linked=$(status ports-linked)
# ports 4 to 7 of a leaf lead to the spines
for port in leaf-001/P4 leaf-001/P5 leaf-002/P6 leaf-002/P7; do sim_do link down "$port"; done
# a sweep that a link interrupts is incomplete, and is repeated after a while
all_down() { status_is sweeping=false subnet-up=true ports-linked=$((linked - 8)); }
until_ 20 all_down || bad "links that are up: $(status ports-linked), of $linked before"
until_ 20 told tree-damaged '^warning the switches form .*2 of 6 switches of rank 0 have fewer than 4 links up' ||
	bad "health does not say so: $(ctl health)"
verdict_is 1 "of a tree in pieces"
expect_match "the cost" 'the longest route between hosts crosses 5 switches, instead of 3 in the whole tree' "$(problem tree-damaged)"
expect "shape" damaged-tree "$(shape)"
# sweeps may find the links one by one, but qosd must log nothing twice
logged_once 'warning.*the switches form .*2 of 6 switches of rank 0'
sim_ctl check >audit 2>&1 || bad "hosts do not reach each other: $(tail -n 5 audit)"
stop_qosd || bad "exit status $? after SIGTERM"
rm -rf state
start_and_wait "$node" -c qosd.yaml
until_ 10 rests || bad "it does not rest"
verdict_is 1 "of a tree in pieces, at the first start"
expect_match "why" '2 of 30 pairs of switches with hosts have no path up and then down, for example leaf-' \
	"$(problem tree-damaged)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: B6
note "a torus: a note, with its cost once measured"
rm -rf state
start_sim torus:5x5,hosts=2
node=$(first_host)
start_and_wait "$node" -c qosd.yaml
until_ 10 told no-tree '^info the switches form a torus 5x5; no tree: there are no ranks .*have only longer paths' ||
	bad "health does not say so: $(ctl health)"
verdict_is 0 "of a torus"
expect "lines of the log" 1 "$(logged 'the switches form a torus 5x5')"
! problem no-tree | grep -q minhop || bad "the cost is known though nobody asked: $(problem no-tree)"
ctl routes --gauge >routes.out || bad "routes --gauge: $(<routes.out)"
expect_match "routes" $'\nshape +the switches form a torus 5x5; no tree: ' "$(<routes.out)"
expect_match "routes --gauge" $'\nminhop +bisection 0\.[0-9]+, busiest cable [0-9.]+ times the mean' "$(<routes.out)"
expect_match "what it costs" 'routes are 1\.0[0-9]+ times as long as the shortest .*\(minhop\), would have 0\.' "$(problem no-tree)"
before=$(status sweeps)
ctl sweep >/dev/null || bad "sweep: exit status $?"
swept() { [ "$(status sweeps)" -gt "$before" ] && rests; }
until_ 20 swept || bad "no end of the sweep"
expect "lines of the log after another sweep" 1 "$(logged 'the switches form a torus 5x5')"
audited "a torus"
checked
check_says '^The switches form a torus 5x5; no tree: there are no ranks because all switches have hosts; up leads to torus-'
check_says '^  cost of not being a tree: routes are 1\.0[0-9]+ times as long .* \(minhop\), would have 0\.[0-9]+ and [0-9.]+ times$'
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
