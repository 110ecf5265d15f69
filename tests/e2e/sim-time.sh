#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests simulated time (qosd-sim ctl pass): it passes for all programs on the fabric, their
# timed waits end in its order, and neither the real duration nor the load of the machine
# changes what happens.
#
# promise: V8
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "time on ibsim is the machine's"
simulated_time

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
# there_ms: prints the time that a program on the fabric sees, in milliseconds.
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
# waits COMMAND: starts a shell on the fabric; it writes to the file begun before COMMAND.
waits() {
	on_own "$host" bash -c "echo >>begun; $1" >>ended &
	sleepers+=("$!")
}
# waits by nanosleep() and by select(), which a shell's read uses
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

# sim_node TYPE N: prints the Nth node of the type.
sim_node() { sim_ctl show nodes | awk -v type="$1" -v n="$2" '$1 == type && ++i == n { print $2 }'; }
leaf=$(sim_node switch 1) victim=$(sim_node ca 3)
stop_sim

# history FILE: runs a daemon on a fabric with faults for forty seconds; writes its log lines with simulated
# times, in milliseconds since the first, and the numbers of MADs.
history() {
	local day clock line t zero=''
	rm -rf state
	sim_options=(--preset ibsim --time-stands --script faults --seed 7)
	start_sim "fat-tree:k=4,levels=2"
	start_qosd "$host" -c settings.yaml
	# qosd gets no answer before time passes
	begun() { grep -q ' sandbox: ' "$qosd_log"; }
	until_ 20 begun || fail "qosd does not start"
	sim_do pass 40
	sim_ctl stats | awk '!/\[/ { print $1, $2, $3, $4, $5 }' >"$1.mads"
	kill -TERM "$qosd"
	sim_do pass 5			# the daemon's end takes a part of it
	stop_qosd || bad "exit status $?"
	stop_sim
	while read -r day clock line; do
		[[ $day == ????-??-?? && $line != *"ending on request"* ]] || continue
		t=$(date -d "$day $clock" +%s%3N)
		: "${zero:=$t}"
		echo "$((t - zero)) $line"
	done <"$qosd_log" >"$1"
}
note "forty seconds of faults come out the same on a machine that is busy"
echo 'sweep-interval: 5s' >settings.yaml
printf "%s\n" "5 link down $leaf/P1" "+3 link up $leaf/P1" "12 node silent $victim" \
	"+8 node answer $victim" "25 link flap $leaf/P2 --count 3 --interval 0.5" "32 node reboot $leaf" >faults
history alone
busy=()
for _ in 1 2 3 4; do
	while :; do :; done &
	busy+=("$!")
	pids+=("$!")
done
history busy
for p in "${busy[@]}"; do end "$p" KILL; done
# A MAD that comes while its reader is about to rest may be read a time-out later, in either run.
for run in alone busy; do sed -E 's/^[0-9]+ //; s/, [0-9.]+ s(;|$)/\1/' "$run" >"$run.words"; done
expect_same "what qosd says" alone.words busy.words
expect "lines that are said 0.5 s sooner or later" "" \
	"$(paste -d ' ' <(cut -d ' ' -f 1 alone) <(cut -d ' ' -f 1 busy) | awk '($1 - $2) ^ 2 > 500 ^ 2')"
expect_same "MADs by class, method and attribute" alone.mads busy.mads
expect_match "lines of the log" '^[0-9]{2,}$' "$(wc -l <alone)"
