#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests IPoIB of Linux under qosd: three machines at two switches join their broadcast group and reach
# each other, a partition is added while they run, and each packet has the SL that the policy gives
# to its partition.  The SLs are counted by the trunk between the switches.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

two_switches >two.topo
start_sim two.topo
hosts=(first second third)
for host in "${hosts[@]}"; do
	boot "$host" "$host HCA-1"
done
cat >first/share/policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  ip: {sl: 1, mtu-limit: 4096}
  tenant: {sl: 2, mtu-limit: 4096}
traffic-classes:
  - {level: default, share: 40%}
  - {level: ip, share: 40%}
  - {level: tenant, share: 20%}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, level: ip, ipoib: true}
END
wait_booted "${hosts[@]}"

# promise: X2
note "a broadcast group that all join"
for i in 0 1 2; do
	ipoib "${hosts[i]}" "10.0.0.$((i + 1))/24"
	guest "${hosts[i]}" sysctl -qw net.ipv4.icmp_echo_ignore_broadcasts=0
done
manage first
wait_up first
for host in "${hosts[@]}"; do
	wait_joined "$host"
done
members=$(guest third saquery --smkey 1 -m | grep -c 'MGID.*ff12:401b:ffff::ffff:ffff')
expect "members of the broadcast group" 3 "$members"
expect "MTU of the interface" 4092 "$(guest second "cat /sys/class/net/\$IPOIB/mtu")"
for size in 60 2044 4092; do
	expect "answers to pings of $size bytes over the trunk" 3 "$(ping_from first 10.0.0.2 -s $size)"
	expect "answers to pings of $size bytes within a switch" 3 "$(ping_from third 10.0.0.1 -s $size)"
done
expect "answers to packets of the MTU" 3 "$(ping_from second 10.0.0.3 -M 'do' -s $((4092 - 28)))"

# words_by_sl: prints the words that the trunk has carried by SL 1 and by SL 2 from the left to the right.
words_by_sl() {
	guest first perfquery --xmtsl "$(lid_of left)" 36 | sed -nE 's/^XmtDataSL([12]):\.+([0-9]+)$/\2/p' | tr '\n' ' '
}
# expect_sl SL COMMAND...: what the command sends over the trunk, 3 packets of a kilobyte at least, has this SL.
expect_sl() {
	local sl=$1 before after
	read -ra before < <(words_by_sl)
	"${@:2}"
	read -ra after < <(words_by_sl)
	[ $((after[sl - 1] - before[sl - 1])) -ge 750 ] || bad "packets with SL $sl: ${before[*]} words, then ${after[*]}"
	[ $((after[2 - sl] - before[2 - sl])) -lt 250 ] || bad "not all with SL $sl: ${before[*]} words, then ${after[*]}"
}
# promise: X3
note "unicast and multicast have the SL of the partition's level"
expect_sl 1 ping_from first 10.0.0.2 -s 1000 >/dev/null
guest second "ip addr add 239.9.9.9/32 dev \$IPOIB autojoin"
expect_sl 1 ping_from first 239.9.9.9 -s 1000 -I 10.0.0.1 >/dev/null

# promise: X2
note "multicast reaches its members and nobody else"
# answers_to_multicast: prints the hosts that answer 10 multicasts.
answers_to_multicast() {
	guest first "ping -c 10 -i 0.2 -I 10.0.0.1 239.9.9.9" | sed -nE 's/.* from (10[0-9.]+): .*/\1/p' | sort -u | tr '\n' ' '
}
answers_are() { [ "$(answers_to_multicast)" = "$1" ]; }
received() { counter "$1 HCA-1/P1" multicast-rcv-packets; }
joined() { [ "$(guest first saquery --smkey 1 -m | grep -c 'ff12:401b:ffff::f09:909')" -ge "$1" ]; }
until_ 30 joined 1 || bad "second is no member"
unneeded=$(received third)
expect "who answers" "10.0.0.2 " "$(answers_to_multicast)"
expect_less "multicasts to a host that is no member" $((unneeded + 10)) "$(received third)"
guest third "ip addr add 239.9.9.9/32 dev \$IPOIB autojoin"
until_ 30 answers_are "10.0.0.2 10.0.0.3 " || bad "who answers: $(answers_to_multicast)"
guest second "ip addr del 239.9.9.9/32 dev \$IPOIB"
until_ 30 answers_are "10.0.0.3 " || bad "who answers: $(answers_to_multicast)"

# promise: X3
note "a partition that is added while hosts run"
guest first "qosd-ctl partition add tenant 'first HCA-1/P1'=full 'second HCA-1/P1'=limited 'third HCA-1/P1'=limited \
	--pkey 0x12 --level tenant --ipoib-level tenant --wait" >/dev/null || bad "no partition"
for i in 0 1 2; do
	guest "${hosts[i]}" "ip link add link \$IPOIB name tenant type ipoib pkey 0x8012 mode datagram &&
		ip addr add 10.1.0.$((i + 1))/24 dev tenant && ip link set tenant up" || bad "no interface in ${hosts[i]}"
done
for host in "${hosts[@]}"; do
	wait_joined "$host" tenant
done
for host in second third; do
	expect "answers of the full member to $host" 3 "$(ping_from "$host" 10.1.0.1 -s 2044)"
done
expect "answers of a limited member to the full one" 3 "$(ping_from first 10.1.0.2)"
expect "answers of a limited member to a limited one" 0 "$(guest second "ping -c 3 -W 2 10.1.0.3" | sed -nE 's/.* ([0-9]+) received.*/\1/p')"
expect_sl 2 ping_from first 10.1.0.2 -s 1000 >/dev/null

# promise: X3
note "the partition is removed"
guest first "qosd-ctl partition remove tenant --wait" >/dev/null || bad "the partition stays"
expect "answers in a partition that is gone" 0 "$(guest second "ping -c 3 -W 2 10.1.0.1" | sed -nE 's/.* ([0-9]+) received.*/\1/p')"
expect "answers in the other one" 3 "$(ping_from second 10.0.0.1)"

stop_managing first
expect "exit status of qosd" 0 $?
kernel_is_calm "${hosts[@]}"
