#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd with the kernel's MAD agents and issm device: a second subnet manager on the port, whether qosd or
# OpenSM, is refused and says why; the port says IsSM as long as a manager runs, however it ends; and
# IPoIB is never refused when it joins at a cold start or after a restart.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

two_switches >two.topo
start_sim two.topo
boot first "first HCA-1"
boot second "second HCA-1"
wait_booted first second

# capabilities: prints those of the first host's port, as the second host reads them; the SA need not be there.
node="first HCA-1"
capabilities() { guest second smpquery portinfo "$(lid_of "$node")" 1 | sed -n '/^CapMask/,/^DiagCode/p'; }
is_sm() { capabilities | grep -q 'IsSM$'; }
is_no_sm() {
	local now
	now=$(capabilities)
	[[ $now = CapMask* && ! $now =~ IsSM[[:space:]] ]]
}
# own_refusal: what a second qosd on the first host's port says; it must end by itself.
own_refusal() {
	guest first "timeout 60 qosd -F -s /tmp/other.sock -d /tmp/other" >refusal && bad "a second manager on the port"
	cat refusal
}
refused="cannot register for management class 0x[08]1: does another subnet manager run on this port\?"

# promise: X4
note "IPoIB joins at a cold start"
for i in 1 2; do
	name=$([ $i = 1 ] && echo first || echo second)
	ipoib $name "10.0.0.$i/24"
done
manage first
wait_up first
wait_joined first
wait_joined second
expect "answers to pings" 3 "$(ping_from second 10.0.0.1)"

# promise: X5
note "a second manager on the port"
expect_match "what a second qosd says" "$refused" "$(own_refusal)"
expect_match "what OpenSM says" "Perhaps another instance .* Exiting SM" \
	"$(guest first "timeout 60 opensm -F /dev/null -f /tmp/opensm.log -o" | tr '\n' ' ')"
manager_is first state=master subnet-up=true || bad "qosd is disturbed"

# promise: X5
note "IsSM is on the port while a manager runs, and off when it is killed"
is_sm || bad "the port of a manager does not say IsSM: $(capabilities)"
stop_managing first KILL
until_ 20 is_no_sm || bad "IsSM is left after SIGKILL"
manage first
wait_up first
until_ 20 is_sm || bad "the port of a manager that has restarted does not say IsSM"

# promise: X5 V9
note "IsSM and the NodeDescription outlive a loss of power, as the machine and its manager do"
node="a host of many names"
rename() { guest first "printf %s '$node' >/sys/class/infiniband/\$CA/node_desc"; }
rename
for command in off on; do
	sim_do node $command "$node"
done
until_ 60 is_sm || bad "the port of a manager does not say IsSM after a loss of power: $(capabilities)"
wait_up first
# Where no subnet manager has registered, the kernel itself answers a Set of its port's SA with an error: the joins
# must be over before the next manager is stopped.
wait_joined first
wait_joined second
expect "answers to pings" 3 "$(ping_from second 10.0.0.1)"
expect_match "its NodeDescription" "$node" "$(guest second smpquery nodedesc "$(lid_of "$node")")"
node="first HCA-1"
rename

# promise: X4
note "IPoIB joins after restarts, with and without the manager's state"
for state in kept lost; do
	stop_managing first
	expect "exit status" 0 $?
	[ $state = kept ] || guest first "rm -rf /var/lib/qosd"
	manage first
	wait_up first
	wait_joined first
	wait_joined second
	both_are_members() { [ "$(guest second saquery --smkey 1 -m | grep -c 'MGID.*ff12:401b:ffff::ffff:ffff')" = 2 ]; }
	until_ 30 both_are_members || bad "members of the broadcast group: $(guest second saquery -m)"
	expect "answers to pings" 3 "$(ping_from second 10.0.0.1)"
done
stop_managing first
for name in first second; do
	refused_joins=$(guest $name dmesg | grep 'multicast join failed')
	[ -z "$refused_joins" ] || { bad "joins of $name were refused: $refused_joins"; show_managers first; }
done

# promise: X5
note "a manager beside OpenSM"
guest_start first "exec opensm -F /dev/null -f /tmp/opensm.log -e -d 2"
opensm_folder=$started
guest_until first 60 "grep 'SUBNET UP' /tmp/opensm.log" || bad "OpenSM does not come up"
expect_match "what qosd says" "$refused" "$(own_refusal)"
guest_end first KILL "$opensm_folder"
until_ 20 is_no_sm || bad "IsSM is left after OpenSM"
manage first
wait_up first
stop_managing first
expect "exit status" 0 $?
kernel_is_calm first second
