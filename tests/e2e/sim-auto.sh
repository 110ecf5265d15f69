#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `routing: auto`: which engine it selects, where that and the reason are shown, and that faults
# do not change the selection.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
sim_options=()
echo "routing: auto" >qosd.yaml

# levels N: writes a policy of N levels with SLs 0 to N - 1 and no other requirements.
levels() {
	local i
	echo "qos-levels:"
	for i in $(seq 0 $(($1 - 1))); do echo "  level-$i: {sl: $i}"; done
	echo "  default: {sl: 0}"
}
rests() { status_is sweeping=false subnet-up=true; }
begin() {
	rm -rf state
	start_sim "$1"
	node=$(sim_ctl show nodes | awk '/host-0*1 / { print $2; exit }')
	start_and_wait "$node" -c qosd.yaml -p policy.yaml
	until_ 20 rests || bad "it does not rest"
}
finish() {
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
}
choice() { ctl -j status | jq -r '."engine-choice"'; }
logged() { grep -cF -- "$(choice)" "$qosd_log"; }
# told WHAT PATTERN: every place that shows the engine must give this reason.
told() {
	expect_match "$1: the reason" "$2" "$(choice)"
	expect "$1: in routes" "$(choice)" "$(ctl -j routes | jq -r .choice.text)"
	ctl status >status.out
	grep -qF -- "$(choice)" status.out || bad "$1: status has no reason"
	ctl routes >routes.out
	grep -qF -- "$(choice)" routes.out || bad "$1: routes has no reason"
	expect "$1: the engine that was taken" "$(status engine)" \
		"$(ctl -j routes | jq -r '.choice.tried[] | select(.taken).engine')"
	expect "$1: engines that were not taken, without a reason" "" \
		"$(ctl -j routes | jq -r '.choice.tried[] | select(.taken | not) | select(."why-not" == null).engine')"
	expect "$1: lines of the log" 1 "$(logged)"
}

levels 2 >policy.yaml

# promise: F16
note "a tree: up/down, without trying others"
begin fat-tree:k=4,levels=3
expect "engine" updn "$(status engine)"
told "a tree" '^routing auto: updn, as the switches form a tree$'
finish

# promise: F16
note "a dragonfly: its own engine, as it is measured to be better"
begin dragonfly:a=4,h=2,p=2
expect "engine" dragonfly "$(status engine)"
told "a dragonfly" '^routing auto: dragonfly with 2 layers on 2 VL sets: effective bisection bandwidth 0\.[0-9]+, [0-9]+ routes on the busiest cable; updn: 0\.[0-9]+; grid: the switches are not a grid; layered with [2-4] layers[^;]*: 0\.[0-9]+, [a-z ]*layers[a-z ]*; minhop: credit loop$'
ctl health >health.out 2>&1 || true
grep -qF "$(choice)" health.out || bad "health has no reason: $(grep -i tree health.out)"
on "$node" ibnetdiscover >topology 2>ibnetdiscover.err || bad "ibnetdiscover: $(<ibnetdiscover.err)"
timeout $((60 * slow)) "$build/qosd" --check -c qosd.yaml -p policy.yaml -T topology >check.out 2>&1 ||
	bad "--check --topology: exit status $?"
grep -qE '^Routing auto: dragonfly with ' check.out || bad "--check: $(grep -i '^routing' check.out)"
ctl -j plan policy.yaml | jq -r '."engine-choice"' >plan.choice || bad "plan: exit status $?"
expect "the reason by plan" "$(choice)" "$(<plan.choice)"

# promise: F16
note "a link less: the engine stays"
choice >before
linked=$(status ports-linked)
up_with() { rests && [ "$(status ports-linked)" = "$1" ]; }
unplug group-01-switch-01 3
until_ 20 up_with $((linked - 2)) || bad "the subnet is not up without a link"
expect "engine" dragonfly "$(status engine)"
expect "the reason" "$(<before)" "$(choice)"
expect "lines of the log" 1 "$(logged)"
expect "a credit loop" false "$(ctl -j routes | jq '."credit-loop"')"
plug group-01-switch-01 3
until_ 20 up_with "$linked" || bad "the subnet is not up with the link"
expect "the reason with the link back" "$(<before)" "$(choice)"
expect "lines of the log" 1 "$(logged)"

# promise: F16
note "a policy with more levels: chosen again, and what leaves no room is said"
levels 8 >policy.yaml
reload
chosen_again() { rests && choice | grep -q '8 SLs of levels; in 2 layers levels level-0 and level-4 would share a VL'; }
until_ 20 chosen_again || bad "the reason: $(choice)"
expect "layers" 1 "$(ctl -j routes | jq '.choice.tried[] | select(.engine == "layered").layers')"
expect "a credit loop" false "$(ctl -j routes | jq '."credit-loop"')"
finish

# promise: F16
note "an engine that there is not"
echo "routing: foo" >wrong.yaml
"$build/qosd" --check -c wrong.yaml >wrong.out 2>&1
expect "exit status" 1 $?
expect_match "the error" "^wrong.yaml:1:10: error: there is no routing engine 'foo'; engines are updn, grid, dragonfly, layered, .*auto" "$(<wrong.out)"
