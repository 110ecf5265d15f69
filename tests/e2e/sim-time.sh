#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Simulated time (qosd-sim ctl pass): it passes for all programs on the fabric, their timed
# waits end in its order.
#
# promise: V8
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "time on ibsim is the machine's"

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
# What a program on the fabric takes for the time, in milliseconds.
there_ms() { on_own "$host" date +%s%3N; }

start_sim "fat-tree:k=4,levels=2"
host=$(sim_ctl show nodes | awk '$1 == "ca" { print $2; exit }')

note "time passes for all programs, and not for the machine"
expect_match "difference of clocks, ms, at first" '^-?[0-9]{1,3}$' $(($(there_ms) - $(now_ms)))
begin=${EPOCHREALTIME/./}
sim_do pass 1000s
expect_quick "a pass of 1,000 s without anybody" 1000 "$begin"
ahead=$(($(there_ms) - $(now_ms)))
[ $((ahead / 10000)) -eq 99 ] || [ $((ahead / 10000)) -eq 100 ] || bad "clocks differ by $ahead ms after 1,000 s"
sleep 0.3
expect_match "change of the difference, ms, while time goes" '^-?[0-9]{1,3}$' $(($(there_ms) - $(now_ms) - ahead))
expect "exit status of a time that is none" 1 "$(sim_ctl pass soon >out 2>&1; echo $?)"
expect_match "what is said of it" "pass: " "$(<out)"

note "waits end in the order of simulated time"
: >begun
mkfifo never
exec {never}<>never
sleepers=()
# waits COMMAND: a shell on the fabric that says when it begins.
waits() {
	on_own "$host" bash -c "echo >>begun; $1" >>ended &
	sleepers+=("$!")
}
# by nanosleep() and the select() of a shell's read
waits "sleep 70; echo 70"
waits "read -r -t 50 -u $never; echo 50"
waits "sleep 10; echo 10; sleep 20; echo 30"
all_begun() { [ "$(wc -l <begun)" -eq 3 ]; }
until_ 10 all_begun || bad "the programs do not start"
sim_do pass 100
wait "${sleepers[@]}"
expect "what ended, in order" "10 30 50 70" "$(tr '\n' ' ' <ended | sed 's/ $//')"
begin=${EPOCHREALTIME/./}
on_own "$host" sleep 0.4
[ $((${EPOCHREALTIME/./} - begin)) -ge 400000 ] || bad "0.4 s after a pass are not the machine's"

stop_sim
