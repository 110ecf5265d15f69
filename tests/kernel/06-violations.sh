#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests violations of M_Key and P_Key by a host's programs: the port that is addressed counts each and sends its
# trap, qosd passes the traps on to subscribers and tells operators, and the lease of an M_Key does not run
# out while qosd is there.  No program can violate a Q_Key this way: Linux sends every MAD by QP1's own.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

key=0x0000000000123456
two_switches >two.topo
# Switches that enforced partitions would lose packets of other partitions before they reach the host.
printf '%s\n' 'profiles: {open: {enforce-pkeys: 0}}' 'nodes: [{type: switch, profile: open}]' >profiles.yaml
sim_options=(--profiles profiles.yaml)
start_sim two.topo
boot first "first HCA-1"
boot second "second HCA-1"
wait_booted first second
printf '%s\n' "m-key: $key" "m-key-protect: 2" "m-key-lease: 6" >first/share/qosd.yaml
manage first -c /mnt/qosd.yaml
wait_up first
guest first "qosd-ctl partition add own 'second HCA-1/P1' --pkey 0x55 --wait" >/dev/null || bad "no partition"
guest_start second "exec saclient -k 1 -t 600 listen trap=256 -- trap=257"
listener=$started
listens() { grep -qs ^ready "$listener/output" || [ -e "$listener/status" ]; }
until_ 30 listens && [ ! -e "$listener/status" ] || fail "nobody listens: $(<"$listener/output")"
lid=$(lid_of "first HCA-1")

# counted NAME: prints a counter of the first host's PortInfo.
counted() { guest first "smpquery -y $key portinfo $lid 1" | sed -nE "s/^$1:\.+([0-9]+)$/\1/p"; }
# told TRAP: whether the subscriber has heard of the trap.
told() { grep -q "trap=$1" "$listener/output"; }

# promise: X9
note "M_Key"
before=$(counted MkeyViolations)
expect_match "PortInfo without the key" "failed|timed out|iberror" "$(guest second "smpquery -t 200 portinfo $lid 1" 2>&1)"
expect_less "violations before" "$(counted MkeyViolations)" "$before"
until_ 30 told 256 || bad "no Report of trap 256: $(<"$listener/output")"
expect_match "the event" "first HCA-1.* received a wrong M_Key from LID $(lid_of "second HCA-1")" \
	"$(guest first qosd-ctl events --kind m-key-violation)"

# promise: X9
note "the lease of the M_Key does not run out"
sleep 8
expect_match "PortInfo after the lease, without the key" "failed|timed out|iberror" \
	"$(guest second "smpquery -t 200 portinfo $lid 1" 2>&1)"
expect "the key, with the key" $key "$(guest second "smpquery -y $key -K portinfo $lid 1" | sed -nE 's/^Mkey:\.+(.*)$/\1/p')"

# A program asks the first host's performance agent for its ClassPortInfo.
ask() { guest second "rawmad -d $lid $* 0x04 0x01 0x01 0"; }
ask >out || bad "no answer with both keys right: $(<out)"

# promise: X9
note "P_Key"
place=$(guest second "grep -l 0x8055 /sys/class/infiniband/*/ports/1/pkeys/*" | sed 's,.*/,,')
[ -n "$place" ] || fail "the second host is not in its partition"
before=$(counted PkeyViolations)
ask -k "$place" >out && bad "an answer to a P_Key that the host does not have: $(<out)"
expect "violations" $((before + 1)) "$(counted PkeyViolations)"
until_ 30 told 257 || bad "no Report of trap 257: $(<"$listener/output")"

ask >out || bad "no answer after the violations: $(<out)"
manager_is first subnet-up=true state=master || bad "the manager is disturbed"
guest_end second KILL "$listener"
stop_managing first
expect "exit status of qosd" 0 $?
kernel_is_calm first second
