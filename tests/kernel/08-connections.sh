#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the reliable connections of the HCAs that all other tests rely on, by a kernel module that uses them in
# ways in which Linux's own clients do not: it makes mistakes whose results both sides must hear of as IBA says
# (9.9.3, 11.6.2), and counts events.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

two_switches >two.topo
start_sim two.topo
boot first "first HCA-1;second HCA-1" -c 2	# each HCA's work has a processor
wait_booted first
manage first
wait_up first
is_active() { guest first "cat /sys/class/infiniband/*/ports/1/state" | grep -c ACTIVE; }
both_active() { [ "$(is_active)" = 2 ]; }
until_ 30 both_active || fail "the ports are not active"

guest first "modprobe rctest" >out 2>&1 || fail "rctest cannot be tried: $(<out) $(guest first dmesg | tail -n 5)"
guest first dmesg | sed -n 's/.*rctest: //p' >said

# promise: X11
note "a connection is established by its first packet"
expect "events" "0 times at the requester, 1 times at the responder" "$(sed -n 's/^established: //p' said)"

# promise: X11
note "a message for which the receiver has no buffer"
expect "a short buffer" "sends: remote invalid request error, WR flushed; receives: local length error, WR flushed" \
	"$(sed -n 's/^short buffer: //p' said)"
expect "a wrong key" "sends: remote operation error, WR flushed; receives: local protection error, WR flushed" \
	"$(sed -n 's/^no key: //p' said)"
expect "a short buffer after a read" "20 reads done, 20 sends refused, of 20" \
	"$(sed -n 's/^short buffer after a read: //p' said)"

stop_managing first
expect "exit status of qosd" 0 $?
kernel_is_calm first
