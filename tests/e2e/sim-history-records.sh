#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the records of the history: sweeps, hourly loads and commands of operators, with who gave them; and that a disk
# that is full or hangs costs the daemon nothing, and loses nothing once it works again.
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it needs simulated time and traffic"
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

leaf='MF0;leaf01:SX6036/U1'
a='node001 HCA-1/P1' c='node003 HCA-1/P1'
history=$work/history
mkdir "$history"
cat >qosd.yaml <<END
history: $history/events.db
errors-interval: 600
sweep-interval: 0
END
# events KIND: events of that kind from the history, as JSON.
events() { ctl -j events --since 1970-01-01 --kind "$1"; }

# promise: W5
note "sweeps, commands and loads"
simulated_time
sim_options=(--time-stands)
start_sim "$top/examples/cluster.topo"
sim_do link degrade "$c" 1xSDR
start_and_pass "mgmt01 HCA-1" -c qosd.yaml
ctl priority 7 >/dev/null || bad "priority"
ctl links release >/dev/null || bad "links release"
ctl errors clear node003 >/dev/null 2>&1 &
clearing=$!
pids+=("$clearing")
until_passed 20 gone "$clearing" || bad "errors clear does not end"
ctl sweep >/dev/null || bad "sweep"
swept() { [ "$(status sweeps)" -ge 2 ]; }
until_passed 20 swept || bad "no second sweep"
sim_do pass 601s
unplug "node002 HCA-1"
sweeps=$(status sweeps)
swept() { [ "$(status sweeps)" -gt "$sweeps" ]; }
until_passed 20 swept || bad "no sweep"
sim_do traffic "$a" "$c" 0 --packets 10000 --times 200
sim_do pass 3700s
expect "commands" "priority links release errors clear sweep" "$(events operator-command | jq -r .data.command | xargs)"
expect "who" "$(id -u)" "$(events operator-command | jq -r .data.uid | sort -u)"
expect "what" "7" "$(events operator-command | jq -r 'select(.data.command == "priority") | .data.what')"
expect_match "the first sweep" '^takeover|^change|^full' "$(events sweep-done | jq -r .data.kind | head -n 1)"
expect "its result" "complete" "$(events sweep-done | jq -r .data.result | head -n 1)"
expect "it wrote" true "$(events sweep-done | jq '.data.sets > 0 and .data.smps > .data.sets and .data.milliseconds >= 0' | head -n 1)"
expect_match "why there was another" "trap|changed" "$(events sweep-done | jq -r .data.reason | sed 1d)"
expect "hours" 1 "$(events loads | wc -l)"
expect_match "the busiest end of a link" "^[0-9.]+ % at ($leaf/P3|node001 HCA-1/P1)" "$(events loads | jq -r .data.worst)"
expect_match "readings" '^[67]$' "$(events loads | jq .data.readings)"
expect "all of it, by one word" 3 "$(ctl -j events --since 1970-01-01 --kind sweep-done,operator-command,loads | jq -r .kind | sort -u | wc -l)"
# sweeps that find nothing, again and again, are not recorded one by one
before=$(events sweep-done | wc -l)
for _ in 1 2 3; do
	n=$(status sweeps)
	swept() { [ "$(status sweeps)" -gt "$n" ]; }
	ctl sweep >/dev/null
	until_passed 20 swept || bad "no sweep"
done
expect_less "records of sweeps that were alike" 2 $(($(events sweep-done | wc -l) - before))
stop_and_pass || bad "exit status $?"
stop_sim

# promise: W5
note "a disk that hangs"
use_simulator qosd-sim
sim_options=()
export FAULTY_FOLDER=$history FAULTY_HANG=$work/hang
own_preload="${own_preload% *} $tools/faultydisk.so ${own_preload##* }"
start_sim "$top/examples/cluster.topo"
start_and_wait "mgmt01 HCA-1" -c qosd.yaml
touch hang
ctl sweep >/dev/null || bad "sweep"
is_said() { ctl health >out 2>&1; grep -q "$1" out; }
until_ 30 is_said 'the disk does not answer' || bad "health: $(<out)"
began=${EPOCHREALTIME/./}
for _ in $(seq 5); do ctl priority 5 >/dev/null || bad "priority"; done
expect_quick "five commands meanwhile" 3000 "$began"
expect "in memory" 5 "$(ctl -j events --kind operator-command | jq -r 'select(.data.command == "priority") | .data.what' | grep -c 5)"
rm hang
is_calm() { ctl health >out 2>&1; ! grep -q 'history' out; }
until_ 30 is_calm || bad "health: $(<out)"
of_fives() { events operator-command | jq -r 'select(.data.command == "priority") | .data.what' | grep -c '^5$'; }
all_stored() { [ "$(of_fives)" = 5 ]; }
until_ 20 all_stored || bad "on disk: $(of_fives)"
stop_qosd || bad "exit status $?"
unset FAULTY_FOLDER FAULTY_HANG
use_simulator qosd-sim

# promise: W5
note "a disk that is full"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=1M none "$history" 2>/dev/null; then
	trap 'umount -l "$history"; end_all' EXIT
	start_and_wait "mgmt01 HCA-1" -c qosd.yaml
	stored() { ctl -j events --since 1970-01-01 --kind started | grep -q started; }
	until_ 20 stored || bad "nothing is stored"
	dd if=/dev/zero of="$history/filler" bs=4096 >/dev/null 2>&1
	for _ in $(seq 60); do ctl priority 3 >/dev/null || bad "priority"; done
	until_ 20 is_said 'history.*full' || bad "health: $(<out)"
	began=${EPOCHREALTIME/./}
	ctl sweep >/dev/null || bad "sweep"
	expect_quick "a command meanwhile" 1000 "$began"
	rm "$history/filler"
	until_ 20 is_calm || bad "health: $(<out)"
	of_threes() { events operator-command | jq -r .data.what | grep -c '^3$'; }
	all_stored() { [ "$(of_threes)" = 60 ]; }
	until_ 20 all_stored || bad "on disk: $(of_threes)"
	stop_qosd || bad "exit status $?"
	umount "$history"
	trap end_all EXIT
else
	note "not tried: only root can mount a small file system"
fi
