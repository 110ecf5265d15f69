#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that `qosd-ctl drain` takes routes off switches and links without losing a packet, and that
# `release` brings them back the same way.  All hosts send meanwhile, and each Set of a forwarding
# table takes a while, so that many mixtures of old and new tables are seen.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cannot delay single attributes, nor carry traffic"

sim_options=()
idle() { status_is subnet-up=true sweeping=false; }
lost() { sim_ctl -j drops | jq .total; }
# place NAME FILTER: what `withdrawn` says of the place with this in its name.
place() { ctl -j withdrawn | jq -r --arg n "$1" "first(.places[] | select(.name | contains(\$n))) | $2"; }
# begin TOPOLOGY: a fabric with slow Sets of forwarding tables.
begin() {
	rm -rf state
	# no SMP may count as lost: a repeated Set would come after a later one
	printf '%s\n' "sweep-interval: 0" "smp-timeout: 5s" >qosd.yaml
	start_sim "$1"
	mapfile -t hosts < <(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .description')
	start_and_wait "${hosts[0]}" -c qosd.yaml
	until_ 10 idle || bad "no end of the first sweeps"
	pairs=()
	for i in "${!hosts[@]}"; do
		pairs+=("${hosts[i]}/P1" "${hosts[(i + 1 + ${#hosts[@]} / 2) % ${#hosts[@]}]}/P1" 0)
	done
	sim_do fault add delay --class smp --method set --attr LinearForwardingTable --for 60ms --chance 30%
	sim_do fault add delay --class smp --method set --attr LinearForwardingTable --for 15ms --chance 50%
}
finish() {
	stop_qosd || bad "exit status $?"
	stop_sim
}
# send_all: each host sends to one other; the simulator refuses traffic that does not arrive.
send_all() {
	local i
	for ((i = 0; i < ${#pairs[@]}; i += 24)); do
		sim_ctl traffic "${pairs[@]:i:24}" --packets 100 >traffic 2>&1 || return
	done
}
# safely COMMAND ARGUMENT...: runs qosd-ctl COMMAND --wait while all hosts send, and the auditor looks for pairs
# out of reach and credit loops all the time.
looks=0
safely() {
	local job
	sim_do drops --reset
	ctl "$@" --wait >changed 2>&1 &
	job=$!
	pids+=("$job")
	until gone "$job"; do
		sim_ctl check >audit 2>&1 || { bad "during $*: $(tail -n 4 audit)"; break; }
		[ $((looks++ % 4)) -ne 0 ] || send_all || { bad "traffic during $*: $(<traffic)"; break; }
	done
	wait "$job" || bad "$*: $(<changed)"
	sim_ctl check --switches >audit 2>&1 || bad "after $*: $(tail -n 4 audit)"
	expect "packets lost during $*" 0 "$(lost)"
}
# can_go WHAT: its cables are pulled while qosd cannot do anything, and no host misses them.
can_go() {
	kill -STOP "$qosd"
	sim_do link down "$1"
	sim_ctl check >audit 2>&1 || bad "without $1: $(tail -n 4 audit)"
	send_all || bad "traffic without $1: $(<traffic)"
	sim_do link up "$1"
	kill -CONT "$qosd"
	until_ 20 is_back || bad "no end of the sweeps after $1: $(tail -n 4 audit)"
}
is_back() { idle && sim_ctl check --switches >audit 2>&1; }
all_tables() {
	local s
	for s in $(sim_ctl -j show nodes | jq -r '.[] | select(.type == "switch") | .guid'); do sim_ctl show lft "$s"; done
}

# promise: M7
note "a tree"
begin fat-tree:k=4
all_tables >before
safely drain spine-001 --reason "a new fan"
expect_match "what it says" "spine-001.*: is being drained" "$(<changed)"
expect "spine-001" "drained 0 0 0 a new fan" "$(place spine-001 '"\(.state) \(.lids) \(.trees) \(.hosts) \(.reason)"')"
expect "in status" "1 true" "$(ctl -j status | jq -r '.withdrawn | "\(.drained) \(.change == ."change-in-force")"')"
expect "in metrics" 1 "$(ctl metrics | awk '$1 == "qosd_fabric_places_drained" { print $2 }')"
expect "in health" "info" "$(ctl -j health | jq -r '.problems[] | select(.kind == "drained") | .severity')"
expect "in events" "$(id -u) a new fan" "$(ctl -j events --kind drained | jq -r '.data | "\(.uid) \(.reason)"')"
safely drain core-002 leaf-003/P3
expect "drained places" "core-002 leaf-003/P3 spine-001" "$(ctl -j withdrawn | jq -r '[.places[] | select(.state == "drained") | .name | split(" ")[0]] | sort | join(" ")')"

for what in spine-001 core-002 leaf-003/P3; do can_go "$what"; done

# promise: M8
note "what has no other way"
safely drain leaf-001
expect_match "what it says" "leaf-001.*in part; 2 hosts \(host-0001.*, host-0002.*\) have no other way" "$(<changed)"
expect "leaf-001" "in-part 2" "$(place leaf-001 '"\(.state) \(.hosts)"')"
expect "in health" warning "$(ctl -j health | jq -r '.problems[] | select(.kind == "drained-in-part") | .severity')"
safely release leaf-001
# both ways up of leaf-003
safely drain leaf-003/P4
expect "one of the two ways is used" "drained in-part" "$(ctl -j withdrawn | jq -r '[.places[] | select(.name | contains("leaf-003")) | .state] | sort | join(" ")')"
safely release leaf-003/P4
for what in host-0005 leaf-003/P1; do
	! ctl drain "$what" >out 2>&1 || bad "$what is drained"
	expect_match "of $what" "no other way.*nothing can be drained" "$(<out)"
done
! ctl drain spine-001 no-such >out 2>&1 || bad "no-such is drained"
expect_match "of a name" "no-such: no such port" "$(<out)"
! ctl release spine-002 >out 2>&1 || bad "spine-002 is released"
expect_match "of a place in service" "spine-002.*: it is not withdrawn" "$(<out)"

# promise: M9
note "after a restart"
all_tables >drained
stop_qosd || bad "exit status $?"
start_and_wait "${hosts[0]}" -c qosd.yaml
until_ 10 idle || bad "no end of the sweeps"
expect "drained places" "core-002 leaf-003/P3 spine-001" "$(ctl -j withdrawn | jq -r '[.places[] | select(.state == "drained") | .name | split(" ")[0]] | sort | join(" ")')"
all_tables >restarted
expect_same "tables after the restart" drained restarted
# the other end of the link names it, too
safely release spine-001 core-002 "$(sim_ctl -j show links leaf-003 | jq -r '.[] | select(.port | endswith("/P3")) | .peer')"
expect "places" 0 "$(ctl -j withdrawn | jq '.places | length')"
expect "events" 3 "$(ctl -j events --kind released | wc -l)"
all_tables >after
expect_same "tables afterwards" before after
finish

# promise: M7
note "multicast trees leave, too"
begin fat-tree:k=4
for guid in $(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .guid'); do printf '%x\n' $((guid + 1)); done >guids
on_own "${hosts[1]}" "$tools/joinstorm" -g 3 guids >joined 2>&1 || bad "joining: $(<joined)"
trees_are_made() { status_is subnet-up=true sweeping=false pending=false && sim_ctl check --switches >audit 2>&1; }
until_ 10 trees_are_made || bad "no trees: $(tail -n 4 audit)"
for switch in spine-001 core-001 leaf-003/P3; do
	ctl drain "$switch" --wait >changed 2>&1 || bad "drain $switch: $(<changed)"
	expect "$switch" "drained 0 0" "$(place "$switch" '"\(.state) \(.lids) \(.trees)"')"
	sim_ctl check --switches >audit 2>&1 || bad "after drain $switch: $(tail -n 4 audit)"
done
ctl drain leaf-001 --wait >changed 2>&1 || bad "drain leaf-001: $(<changed)"
expect_match "leaf-001, whose hosts are members" "^in-part [1-9][0-9]*$" "$(place leaf-001 '"\(.state) \(.trees)"')"
ctl release spine-001 core-001 leaf-003/P3 leaf-001 --wait >changed 2>&1 || bad "release: $(<changed)"
sim_ctl check --switches >audit 2>&1 || bad "after release: $(tail -n 4 audit)"
finish

# promise: M9
note "several at once"
begin fat-tree:k=4
for place in spine-00{1..8} core-00{1..4}; do
	ctl drain "$place" --reason "at once" >"$place.out" 2>&1 &
	drains+=("$!")
done
for drain in "${drains[@]}"; do
	wait "$drain" || bad "a drain is refused: $(cat ./*.out)"
done
expect "all are in the list" 12 "$(ctl -j withdrawn | jq '.places | length')"
finish

# promise: M9
note "a standby takes over"
declare -A host pid
start_sim fat-tree:k=4
host=([first]="host-0001 HCA-1" [second]="host-0009 HCA-1")
run_manager first "priority: 10" "sweep-interval: 0"
first_is_up() { of first status_is state=master subnet-up=true sweeping=false; }
until_ 20 first_is_up || fail "the first is not up"
run_manager second "priority: 5" "sweep-interval: 0" "smp-timeout: 5s"
second_follows() { of second status_is state=standby registrations-held=true; }
until_ 20 second_follows || bad "the second does not follow"
! of second ctl drain spine-001 >out 2>&1 || bad "a standby drains"
of first ctl drain spine-001 --reason "a new fan" --wait >changed 2>&1 || bad "drain: $(<changed)"
second_knows() { of second status_is drained="$1"; }
until_ 20 second_knows 1 || bad "the standby does not know it"
all_tables >before
sim_do fault add delay --class smp --method get --attr NodeInfo --for 1s	# a slow first sweep
end "${pid[first]}" KILL
second_is_master() { of second status_is state=master; }
until_ 20 second_is_master || bad "no takeover"
expect "spine-001 before the first sweep has ended" "unknown" "$(of second place spine-001 .state)"
expect_match "the same as text" "^spine-001 .*: to be drained \(being looked at after a takeover\) since" "$(of second ctl withdrawn)"
expect_match "health" "spine-001 .* is to be drained.*has just taken over and is checking whether it is" "$(of second ctl health)"
expect "that sweep" true "$(of second status sweeping)"
sim_do fault remove all
second_is_up() { of second status_is state=master subnet-up=true sweeping=false; }
until_ 20 second_is_up || bad "no takeover"
expect "spine-001 under the second" "drained 0 a new fan" "$(of second place spine-001 '"\(.state) \(.lids) \(.reason)"')"
all_tables >after
expect_same "tables after the takeover" before after
end "${pid[second]}"
stop_sim

# promise: M7
note "switches with hosts, by an up/down order"
begin dragonfly:a=4,h=2,p=2
expect "engine" updn "$(status engine)"
all_tables >before
for i in 2 9; do
	switch=$(sim_ctl -j show nodes | jq -r "[.[] | select(.type == \"switch\") | .description][$i]")
	safely drain "$switch"
	expect "state of $switch" "in-part 2" "$(place "$switch" '"\(.state) \(.hosts)"')"
	safely release "$switch"
done
all_tables >after
expect_same "tables afterwards" before after
finish
note "$looks looks"
[ "$looks" -gt 20 ] || bad "only $looks looks"
