#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests whose changes hold when a master that another one replaced returns and is master again: the changes
# that were made at the other, unless the one that returns has changes, too, which the other never had.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it cuts links and loses single questions"

halves_topology >halves.topo
declare -A host=([a]=H-0000000000000100 [b]=H-0000000000000200 [c]=H-0000000000000300)
declare -A port=([a]=0x0000000000000101 [c]=0x0000000000000301) pid

state_is() { [ "$(status state)" = "$1" ]; }
# up NAME: it is master, and no sweep of its own is left.
up() { of "$1" state_is master && of "$1" status_is subnet-up=true sweeping=false; }
# copies NAME: it stands by, and has what the master has.
copies() { of "$1" status_is state=standby registrations-held=true; }
stood_by() { grep -c 'standing by until we have it' a/log; }
soon() {
	until_ 20 "${@:2}" || bad "$1: $(grep -HE 'election|replication' ./*/log | tail -n 12)"
}
change() {	# change NAME add|remove PARTITION
	local members=()
	[ "$2" = remove ] || members=("${port[$1]}")	# its own, which its half has
	of "$1" ctl partition "$2" "$3" "${members[@]}" --wait >out 2>&1 || bad "$*: $(<out)"
}
there() { ctl -j partitions | sed -nE 's/.*"partition": *"(job[^"]*)".*/\1/p' | sort | xargs; }
kept() { sed -nE 's/^partition\t([^\t]*\t){3}([^\t]*)\t.*/\2/p' "$1/state/partitions" | sort | xargs; }
# both_have PARTITIONS: a has them in use, and both have them in their state folders.
both_have() { [ "$(of a there), $(kept a), $(kept c)" = "$1, $1, $1" ]; }
asked_to_register() { sim_ctl -j show port "b HCA-1/P1" 2>&1 | sed -nE 's/.*"reregisters": ?([0-9]+).*/\1/p'; }
# leave HOW and come_back HOW: the master is gone for the standby, and is there again.
leave() {
	case $1 in
	"is cut off") sim_do link down "a HCA-1/P1" ;;
	"is not heard") sim_do fault add drop --class smp --at "a HCA-1" ;;
	"does not run") kill -STOP "${pid[a]}" ;;
	esac
	soon "c takes over when a $1" up c
}
# reads_all: how often a found at the devices that another had been master, as it does before it asks who is.
reads_all() { grep -c 'another subnet manager was active' a/log; }
has_read_all() { [ "$(reads_all)" -gt "$before_all" ]; }
come_back() {
	case $1 in
	"is cut off") sim_do link up "a HCA-1/P1" ;;
	"is not heard") sim_do fault remove all ;;
	"does not run")
		# each try of its question whether another has become master is lost
		before_all=$(reads_all)
		sim_do fault add drop --class smp --attr SMInfo --method get --at "c HCA-1"
		kill -CONT "${pid[a]}"
		soon "a goes on as master" has_read_all
		sim_do fault remove all
		;;
	esac
	soon "c copies from a, which had gone because it $1" copies c
	soon "a is master again" up a
}

sim_options=()	# default devices, whose clients can be asked to register again
start_sim halves.topo
run_manager a 'sweep-interval: 1' 'smp-timeout: 100ms'
soon "a is master" up a
run_manager c 'sweep-interval: 1' 'smp-timeout: 100ms'
soon "c has what a has" copies c
change a add job0
soon "both have it" both_have job0

n=0
for how in "is cut off" "is not heard" "does not run"; do
	# promise: M1 M5
	note "a master that $how, while changes are made at the other"
	asked=$(asked_to_register)
	before=$(stood_by)
	leave "$how"
	change c remove "job$n"
	change c add "job$((++n))"
	come_back "$how"
	soon "both have what c had: $(of a there), $(kept a), $(kept c), not job$n" both_have "job$n"
	expect_less "times that a stood by to copy" "$(stood_by)" "$before"
	expect_less "times that a host was asked to register, which it may have done at either" \
		"$(asked_to_register)" "$asked"
done

# promise: M1
note "no changes are made at the other: a stays master"
before=$(stood_by)
leave "is cut off"
come_back "is cut off"
expect "times that a stood by to copy" "$before" "$(stood_by)"
soon "both have what they had" both_have "job$n"

# promise: M5
note "changes are made at the master that the other left"
sim_do link down left/P8
soon "c is master of its half" up c
change a add job8
sim_do link up left/P8
soon "c copies from a" copies c
soon "both have what a had" both_have "job$n job8"
expect "times that a stood by to copy" "$before" "$(stood_by)"

# promise: M5
note "changes are made at both: those of the better hold, and its log says what is lost"
sim_do link down left/P8
soon "c is master of its half" up c
change a remove job8
change c add job9
sim_do link up left/P8
soon "c copies from a" copies c
soon "both have what a had" both_have "job$n"
expect_match "what a says" "changed on both: what was changed there is lost" "$(grep -h error: a/log)"

for name in a c; do
	end "${pid[$name]}" || bad "exit status $? of $name: $(tail -n 5 "$name/log")"
done
stop_sim
