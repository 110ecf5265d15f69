#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd-sim as a program: starting and ending, permission to connect, the functions of
# libibumad on it, hostile clients, and what a killed qosd-sim leaves behind.
#
# promise: V3 V6
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it is about qosd-sim"

topology=$top/examples/cluster.topo
qosd_sim=$build/qosd-sim
a="node001 HCA-1" b="node002 HCA-1"
unset QOSD_SIM_SOCKET		# no simulator runs yet
socket=$work/sim.sock
umask 022

# exits STATUS WHAT COMMAND...: the command must exit with STATUS; its output is in out.
exits() {
	local wanted=$1 what=$2
	shift 2
	timeout 60 "$@" >out 2>&1
	expect "$what: exit status" "$wanted" $?
}

note "the command line"
exits 2 "nothing" "$qosd_sim"
exits 2 "an unknown command" "$qosd_sim" fly
exits 2 "no topology" "$qosd_sim" run
exits 2 "no command" "$qosd_sim" run "$topology"
exits 2 "an option of another" "$qosd_sim" serve "$topology" --json
exits 2 "a bad seed" "$qosd_sim" run --seed x "$topology" true
exits 0 "help" "$qosd_sim" --help
expect_match "help" "fat-tree:" "$(<out)"
exits 0 "version" "$qosd_sim" --version
exits 1 "no such file" "$qosd_sim" run nothing.topo true
exits 1 "no such node" "$qosd_sim" run "$topology" --node nobody true
expect_match "no such node" "nobody" "$(<out)"
exits 1 "no such preset" "$qosd_sim" run "$topology" --preset nothing true
exits 1 "no such script" "$qosd_sim" run "$topology" --script nothing true
exits 1 "nobody listens" "$qosd_sim" ctl -s "$socket" status
exits 1 "nobody to attach to" "$qosd_sim" attach -s "$socket" "$a" true

note "run"
exits 7 "the command's status" "$qosd_sim" run "$topology" -- sh -c 'exit 7'
exits 137 "a killed command" "$qosd_sim" run "$topology" sh -c 'kill -KILL $$'
exits 127 "no such program" "$qosd_sim" run "$topology" ./nothing
exits 0 "an environment" "$qosd_sim" run -n "$a" "$topology" -- ibstat
expect_match "the node's name" "CA 'sim0'" "$(<out)"
exits 0 "a switch" "$qosd_sim" run -n switch-1 switch:4 -- ibstat
expect_match "a switch" "Number of ports: 0" "$(<out)"
exits 0 "ctl from within" "$qosd_sim" run ring:4 -- "$qosd_sim" ctl status
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
unset XDG_RUNTIME_DIR
exits 0 "children" "$qosd_sim" run "$topology" -- sh -c 'sleep 300 & echo $! >child'
until_ 5 gone "$(<child)" || bad "a child that the command left is still there"
expect "files left" "" "$(ls "$TMPDIR")"
rm child
"$qosd_sim" run "$topology" -- sh -c 'echo $$ >child; exec sleep 300' &
pids+=($!)
until_ 5 test -s child
end $! TERM
expect "status when it was told to end" 143 $?
until_ 5 gone "$(<child)" || bad "the command outlives qosd-sim"

note "serve"
serve() {
	"$qosd_sim" serve "$topology" -s "$socket" "$@" >serve.log 2>&1 &
	sim=$!
	pids+=("$sim")
	until_ 20 grep -q ^ready serve.log || fail "serve: $(<serve.log)"
}
: >serve.log
serve
expect "who may connect" srwx------ "$(stat -c %A "$socket")"
exits 1 "a second one" "$qosd_sim" serve "$topology" -s "$socket"
expect_match "a second one" "another simulator" "$(<out)"
exits 0 "attach" "$qosd_sim" attach -s "$socket" "$a" -- ibstat
exits 1 "attach to no node" "$qosd_sim" attach -s "$socket" nobody -- true
# nodes N: prints a node so many times, as attach takes them.
nodes() { printf "%.0s$a;" $(seq "$1"); }
exits 0 "attach to as many devices as a program can have" "$qosd_sim" attach -s "$socket" "$(nodes 128)" -- ibstat sim127
expect_match "the last of them" "CA 'sim127'" "$(<out)"
exits 1 "attach to one more" "$qosd_sim" attach -s "$socket" "$(nodes 129)" -- true
expect_match "attach to one more" "128 devices at most" "$(<out)"
exits 3 "attach, exit status" "$qosd_sim" attach -s "$socket" "$a" sh -c 'exit 3'
exits 0 "JSON" "$qosd_sim" ctl -s "$socket" -j status
expect "JSON" "{" "$(head -c 1 out)"
exits 1 "check of what is not configured" "$qosd_sim" check -s "$socket"
end "$sim" KILL
[ -S "$socket" ] || bad "no stale socket to test with"
: >serve.log
serve
exits 0 "a stale socket is replaced" "$qosd_sim" ctl -s "$socket" status
end "$sim"
expect "exit status by SIGTERM" 0 $?
[ ! -e "$socket" ] || bad "the socket is left"
echo >"$socket"
exits 1 "a file in its place" "$qosd_sim" serve "$topology" -s "$socket"
rm "$socket"

note "functions of libibumad"
: >serve.log
serve
attach=("$qosd_sim" attach -s "$socket")
OSM_TMP_DIR=$work OSM_CACHE_DIR=$work exits 0 "opensm" "${attach[@]}" "$a" -- opensm -o -f osm.log
exits 0 "check" "$qosd_sim" check -s "$socket" --sl 0
exits 0 "umadcalls" "${attach[@]}" "$a;$b" -- "$tools/umadcalls"
[ "$wrong" -eq 0 ] || show_log out

note "hostile clients"
QOSD_SIM_SOCKET=$socket exits 0 "simgarbage" "$tools/simgarbage" 400
exits 0 "ctl after it" "$qosd_sim" ctl -s "$socket" status
exits 0 "umadcalls after it" "${attach[@]}" "$a;$b" -- "$tools/umadcalls"
expect_less "log lines" 200 "$(wc -l <serve.log)"
expect_less "descriptors" 30 "$(find "/proc/$sim/fd" -mindepth 1 | wc -l)"

note "200 clients at once"
for ((i = 0; i < 200; i++)); do
	"${attach[@]}" "$a" -- "$tools/umadpump" -w 4 -t 1 -r >"pump.$i" 2>&1 &
	clients[i]=$!
done
failed=0
for client in "${clients[@]}"; do
	wait "$client" || failed=$((failed + 1))
done
expect "those that failed" 0 "$failed"
expect "those that lost nothing" 200 "$(cat pump.* | grep -c '^0 lost')"

note "the simulator is killed"
"${attach[@]}" "$a" -- "$tools/umadpump" -w 4 -t 60 >pump 2>&1 &
client=$!
pids+=("$client")
sleep 0.2
end "$sim" KILL
until_ 5 gone "$client" || bad "a client hangs"
expect_match "what it says" "Input/output error" "$(<pump)"
