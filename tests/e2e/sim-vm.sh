#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-sim vm` without a virtual machine: simdriver plays QEMU and the drivers of its HCAs.
# (tests/kernel/ has real kernels.)
#
# promise: V9
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no virtual machines"

node() { echo "host-000$1 HCA-1"; }
# power N: power of the node of host N, as the inventory shows it.
power() { sim_ctl -j show nodes | jq -r --arg n "$(node "$1")" '.[] | select(.description == $n).power'; }
power_is() { [ "$(power "$1")" = "$2" ]; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# machine NAME NODES: starts simdriver on them, with its output in NAME.out, commands by tell, PID in $machine.
declare -A console
machine() {
	local fifo=$1.in fd
	mkfifo "$fifo"
	exec {fd}<>"$fifo"
	console[$1]=$fd
	"$build/qosd-sim" vm "$2" -- "$tools/simdriver" <"$fifo" >"$1.out" 2>&1 {fd}>&- &
	machine=$!
	pids+=("$machine")
}
tell() { printf '%s\n' "${*:2}" >&"${console[$1]}"; }
said() { grep -qE "^$2\$" "$1.out"; }
# lid NAME N: the LID of HCA N's port 1; has_lid: whether it has one.
lid() { sed -nE "s/^lid $2 1 ([1-9][0-9]*)$/\1/p" "$1.out" | tail -n 1; }
active() { said "$1" "state $2 1 4" && [ -n "$(lid "$1" "$2")" ]; }
# refused WHAT REGEXP COMMAND...: the command fails with such a message, and runs nothing.
refused() {
	local what=$1 regexp=$2
	shift 2
	timeout 60 "$@" >out 2>&1
	expect "$what: exit status" 1 $?
	expect_match "$what" "$regexp" "$(<out)"
	[[ $(<out) != *started* ]] || bad "$what: the command runs"
}
refused_vm() { refused "$1" "$2" "$build/qosd-sim" vm "$3" -- echo started; }

sim_options=()
start_sim ring:3,hosts=2

note "a manager brings up the ports of drivers"
machine one "$(node 1);$(node 2)"
machine two "$(node 5)"
two=$machine
until_ 10 power_is 1 vm || fail "the HCA does not start: $(<one.out)"
until_ 10 power_is 5 vm || fail "the HCA does not start: $(<two.out)"
expect "HCAs of machine one" 2 "$(grep -c '^hca ' one.out)"
start_and_wait "$(node 3)"
until_ 30 active one 0 && until_ 30 active one 1 && until_ 30 active two 0 ||
	fail "ports do not become Active: $(tail -n 5 one.out two.out)"
sim_ctl check >audit 2>&1 || bad "the tables are wrong: $(tail -n 3 audit)"
expect "nodes of virtual machines" 3 "$(sim_ctl -j status | jq '.nodes."virtual-machines"')"

note "data between machines"
words() { sim_ctl -j show counters "$(node 5)" | jq '."rcv-data"'; }
before=$(words)
tell one "send 0 $(lid two 0) 88 2000"
until_ 10 said two "packet 0 $(lid one 0) $(lid two 0) 88 2000" || bad "no packet: $(tail -n 3 two.out)"
tell one "send 1 $(lid one 0) 89 4"
until_ 10 said one "packet 0 $(lid one 1) $(lid one 0) 89 4" || bad "no packet: $(tail -n 3 one.out)"
# SMPs are received meanwhile, too
[ $(($(words) - before)) -ge $(((28 + 2000 + 4) / 4)) ] || bad "words counted: from $before to $(words)"
tell one "send 0 $(lid two 0) 88 4100"
lost() { sim_ctl drops --last 0 | grep -qE '^ *mtu +1$'; }
until_ 10 lost || bad "a packet of 4100 bytes is not lost: $(sim_ctl drops --last 0)"

note "who cannot have a node"
refused_vm "a node of another machine" 'host-0001 HCA-1 belongs to a virtual machine' "$(node 1)"
refused "a program on a machine's node" 'host-0001 HCA-1 belongs to a virtual machine' \
	"$build/qosd-sim" attach "$(node 1)" -- echo started
refused_vm "the manager's node" 'host-0003 HCA-1 is in use by qosd' "$(node 3)"
refused_vm "a switch" 'ring-1 is not an adapter' ring-1
refused_vm "no node" "there is no node 'nobody'" nobody
refused_vm "one of two" 'is in use by qosd' "$(node 4);$(node 3)"
until_ 10 power_is 4 off || bad "the first of the two stays a machine's: $(power 4)"
sim_do node on "$(node 4)"

sim_ctl pass 1s >out 2>&1 && bad "time passes for a virtual machine"
expect_match "time for a machine" 'time cannot pass while a virtual machine' "$(<out)"

note "a driver that does what no driver may"
tell two "break 0"
until_ 10 power_is 5 off || bad "its HCA does not stop"
expect_match "log" 'host-0005 HCA-1: a frame is of an unknown kind' "$(<"$sim_log")"
sim_do node on "$(node 5)"
expect "power after 'node on'" off "$(power 5)"
: >two.out
tell two "start 0"
until_ 30 active two 0 || bad "it does not come up again: $(tail -n 3 two.out)"

note "the end of a machine"
forgotten() { ctl nodes >nodes && ! grep -qF "$(node 5)" nodes; }
! forgotten || bad "the manager does not have the node"
end "$two" KILL
until_ 10 power_is 5 off || bad "its node has power"
until_ 30 forgotten || bad "the manager still has the node"
sim_do node on "$(node 5)"
expect "power after 'node on'" on "$(power 5)"
rm -f two.in
machine two "$(node 5)"
until_ 30 active two 0 || bad "another machine cannot have the node: $(tail -n 3 two.out)"
stop_sim
until_ 10 gone "$machine" || bad "the machine outlives the simulator"

note "a fabric whose time stands"
start_sim ring:3,hosts=2
stop_sim
sim_options=(-T)
start_sim ring:3,hosts=2
refused_vm "a machine on it" 'time stands on this fabric' "$(node 1)"
