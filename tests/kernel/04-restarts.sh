#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what IPoIB of Linux notices of its subnet manager: while hosts ping each other, the manager restarts, is
# killed, freezes, hands over to a standby in another machine, and gets another policy.  No packet is lost, no LID
# changes, and no join is refused.  The same with OpenSM says what the machines themselves lose.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

two_switches >two.topo
start_sim two.topo
hosts=(first second third)
for host in "${hosts[@]}"; do
	boot "$host" "$host HCA-1"
done
policy() { printf 'qos-levels: {default: {sl: 0}, ip: {sl: %s}}\npartitions: {Default: {pkey: 0x7fff, members: {all: full}, level: ip, ipoib: true}}\n' "$1"; }
policy 1 >first/share/policy.yaml
cp first/share/policy.yaml third/share
wait_booted "${hosts[@]}"
for i in 0 1 2; do
	ipoib "${hosts[i]}" "10.0.0.$((i + 1))/24"
done

lids() { sim_ctl show nodes | awk '{ print $2, $3 }'; }
# start_pings: the second host pings the third one over the trunk, until end_pings, which sets $lost.
start_pings() {
	guest_start second "exec ping -i 0.2 -W $guest_seconds 10.0.0.3"
	pings=$started
	guest_until second 30 "grep -q 'from 10.0.0.3' /mnt/${pings##*/}/output" || bad "no answers"
}
end_pings() {
	guest second "sleep 2"	# the answers to those under way
	guest_end second INT "$pings"
	guest_wait second "$pings"
	lost=$(awk '/icmp_seq=/ { sub(/.*icmp_seq=/, ""); seen[$1 + 0]; if ($1 + 0 > last) last = $1 + 0 }
		END { for (i = 1; i <= last; i++) if (!(i in seen)) n++; print n + 0 }' "$pings/output")
}
# refused_joins: prints how many joins of all hosts were refused so far.
refused_joins() { for host in "${hosts[@]}"; do guest "$host" dmesg; done | grep -c 'multicast join failed'; }
# meanwhile COMMAND...: runs the command while hosts ping each other, and waits until all have joined again; sets
# $lost and $refused to the pings and joins that it cost.  LIDs must be as before.
meanwhile() {
	local before
	before=$(refused_joins)
	lids >lids.before
	start_pings
	"$@"
	for host in "${hosts[@]}"; do
		wait_joined "$host"
	done
	end_pings
	refused=$(($(refused_joins) - before))
	lids >lids.after
	expect_same "LIDs" lids.before lids.after
	note "$lost lost pings, $refused refused joins"
}
# undisturbed COMMAND...: the same; nothing may be lost or refused.
undisturbed() {
	meanwhile "$@"
	expect "lost pings" 0 "$lost"
	expect "refused joins" 0 "$refused"
}

start_opensm() {
	guest_start first "rm -f /tmp/opensm.log; exec opensm -F /dev/null -f /tmp/opensm.log -d 2"
	opensm_folder=$started
	guest_until first 60 "grep -q 'SUBNET UP' /tmp/opensm.log" || fail "OpenSM does not come up"
}
stop_opensm() {
	guest_end first "$1" "$opensm_folder"
	guest_wait first "$opensm_folder"
}
restart_opensm() { stop_opensm "$1"; start_opensm; }
take_over() { stop_opensm TERM; manage first; wait_up first; }
restart() { stop_managing first "$1"; manage first; wait_up first; }
freeze() {
	guest_end first STOP "${manager[first]}"
	guest first sleep 5
	guest_end first CONT "${manager[first]}"
	wait_up first
}
hand_over() { stop_managing first KILL; wait_up third; }
other_policy() {
	policy 2 >third/share/policy.yaml
	guest third qosd-ctl reload >/dev/null || bad "no reload"
	applied() { guest second "saquery -g" | grep -q 'SL\.*0x2'; }
	until_ 30 applied || bad "the group has no other SL"
}

note "OpenSM, for comparison: a restart, a crash"
start_opensm
for host in "${hosts[@]}"; do
	wait_joined "$host"
done
meanwhile restart_opensm TERM
meanwhile restart_opensm KILL

# promise: X7
note "qosd takes over from it"
undisturbed take_over

# promise: X7
note "a restart"
undisturbed restart TERM

# promise: X7
note "a crash"
undisturbed restart KILL

# promise: X7
note "the manager freezes for 5 s"
undisturbed freeze

# promise: X7
note "the manager is killed, and a standby in another machine takes over"
manage third
until_ $guest_seconds manager_is third state=standby || bad "there is no standby"
undisturbed hand_over

# promise: X7
note "another policy"
undisturbed other_policy
stop_managing third
expect "exit status" 0 $?
kernel_is_calm "${hosts[@]}"
