#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests scripts/vm and the machine that it makes: exit statuses, output, several commands at once, and that
# nothing of the host is changed.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

"$tools/gentopo" fat-tree --levels 2 --radix 4 >fat.topo || fail "gentopo"
mapfile -t hosts < <(cas fat.topo)
start_sim fat.topo

# promise: X1
note "one command"
"$top/scripts/vm" -i "$image" -n alone "${hosts[0]}" \
	'uname -r; hostname; echo twice >&2; touch /etc/qosd-was-here; exit 7' >out 2>log </dev/null
expect "exit status" 7 $?
expect "its output" "$(cat "$image/version") alone twice" "$(tr '\n' ' ' <out | sed 's/ $//')"
[ ! -e /etc/qosd-was-here ] || bad "the machine has written to the host"
"$top/scripts/vm" -i "$image" "no such host" true >out 2>log
[ $? -ne 0 ] || bad "a machine without an HCA"
expect_match "why there is none" "no such host" "$(<log)"

# promise: X1
note "many commands in one machine"
boot first "${hosts[0]}"
boot second "${hosts[1]}"
wait_booted first second
guest first false && bad "false succeeds"
guest first 'exit 42' >/dev/null
expect "exit status" 42 $?
expect "the build tree" "$("$build/qosd" -V)" "$(guest second qosd -V)"
for i in 1 2 3 4 5; do
	guest_start first "sleep 0.$i; echo end $i"
	waiting[i]=$started
done
for i in 5 4 3 2 1; do
	guest_wait first "${waiting[i]}"
	expect "output of a command beside others" "end $i" "$(<"${waiting[i]}/output")"
done
guest_start first "sleep 1000"
guest_end first TERM "$started"
guest_wait first "$started"
expect "status of a command that was ended" 143 $?

# promise: X1
note "the HCA of each is the node of the fabric"
for name in first second; do
	guest "$name" ibstat >$name.ibstat
	expect_match "the HCA in $name" "Link layer: InfiniBand" "$(<$name.ibstat)"
done
guid() { sed -nE 's/.*Node GUID: 0x([0-9a-f]+)/\1/p' "$1.ibstat"; }
expect "the first node" "${hosts[0]}" "H-$(guid first)"
expect "the second node" "${hosts[1]}" "H-$(guid second)"
kernel_is_calm first second
