#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the paths that Linux's own clients ask for by Service-ID and QoS class: the RDMA connection manager,
# NVMe over Fabrics, SRP, and IPoIB in connected mode.  Each gets the SL of its level, and the trunk between
# the hosts' switches carries its packets by that SL, also while packets are lost.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

two_switches >two.topo
start_sim two.topo
boot first "first HCA-1"
boot second "second HCA-1"
cat >first/share/policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  ipoib: {sl: 1}
  storage: {sl: 2}
  scsi: {sl: 3}
  latency: {sl: 4}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ipoib}}
match-rules:
  - {qos-class: 0xb8, level: latency}
  - {ulp: nvme-of, level: storage}
  - {ulp: srp, service-id: [0x2000], level: scsi}
  - {tcp-port: 0-65535, level: default}
  - {ulp: ipoib, level: ipoib}
END
wait_booted first second
ipoib first 10.0.0.1/24
ipoib second 10.0.0.2/24
manage first
wait_up first
wait_joined first
wait_joined second

# words_by_sl: prints the words that the trunk has carried from the left to the right by SL 0, 1 …
words_by_sl() { guest first perfquery --xmtsl "$(lid_of left)" 36 | sed -nE 's/^XmtDataSL[0-9]+:\.+([0-9]+)$/\1/p' | tr '\n' ' '; }
# by_sl SL BYTES COMMAND...: the command sends so many bytes from the left to the right by this SL, and hardly
# anything by the other SLs.
by_sl() {
	local sl=$1 least=$(($2 / 4)) before after i
	read -ra before < <(words_by_sl)
	"${@:3}"
	read -ra after < <(words_by_sl)
	for i in 0 1 2 3 4; do
		[ $i = "$sl" ] || expect_less "words by SL $i instead of $sl of ${*:3}" 5000 $((after[i] - before[i]))
	done
	[ $((after[sl] - before[sl])) -ge $least ] ||
		bad "${*:3}: $((after[sl] - before[sl])) words by SL $sl, want $least at least"
}

# promise: X8
note "the connection manager resolves routes"
route() { guest second "cmroute $*"; }
path="10.0.0.1 slid=$(lid_of "second HCA-1") dlid=$(lid_of "first HCA-1") pkey=0xffff"
expect_match "a port without a rule" "^$path sl=0 " "$(route 10.0.0.1)"
expect_match "the port of NVMe over Fabrics" "^$path sl=2 " "$(route -p 4420 10.0.0.1)"
expect_match "TOS 0xb8" "^$path sl=4 " "$(route -t 184 10.0.0.1)"
expect_match "a TOS without a rule" "^$path sl=0 " "$(route -t 32 10.0.0.1)"
expect_match "a host that is not there" "^10.0.0.9 no address: " "$(route 10.0.0.9)"

# A megabyte of random data is written to a block device of the second host and read back.
guest first "dd if=/dev/urandom of=/tmp/data bs=64k count=16" >/dev/null 2>&1
copy() {
	guest first "dd if=/tmp/data of=$1 bs=64k oflag=direct && dd if=$1 of=/tmp/back bs=64k count=16 iflag=direct &&
		cmp /tmp/data /tmp/back" >out 2>&1 || bad "$1 does not hold what was written: $(<out)"
}

# promise: X8
note "NVMe over Fabrics has the SL of its Service-ID"
guest second "set -e
	modprobe nvmet-rdma && modprobe loop
	dd if=/dev/zero of=/run/disk bs=1M count=8 && losetup /dev/loop0 /run/disk
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	cd /sys/kernel/config/nvmet
	mkdir subsystems/disk && echo 1 >subsystems/disk/attr_allow_any_host
	mkdir subsystems/disk/namespaces/1 && cd subsystems/disk/namespaces/1
	printf /dev/loop0 >device_path && echo 1 >enable
	cd ../../../.. && mkdir ports/1 && cd ports/1
	echo ipv4 >addr_adrfam && echo rdma >addr_trtype && echo 10.0.0.2 >addr_traddr && echo 4420 >addr_trsvcid
	ln -s ../../subsystems/disk subsystems/" >out 2>&1 || fail "no NVMe target: $(<out)"
nvme="transport=rdma,traddr=10.0.0.2,trsvcid=4420,nqn=disk,nr_io_queues=1,queue_size=16"
guest first "modprobe nvme-rdma && echo $nvme >/dev/nvme-fabrics" || fail "no NVMe disk: $(guest first dmesg | tail -n 4)"
guest_until first 30 "[ -b /dev/nvme0n1 ]" || fail "no NVMe disk: $(guest first dmesg | tail -n 4)"
by_sl 2 $((1 << 20)) copy /dev/nvme0n1

# promise: X8
note "SRP has the SL of its target's Service-ID"
gid=fe800000000000000000000000002001
# The initiator is known by the GUID of its port.
guest second "set -e
	modprobe ib_srpt
	cd /sys/kernel/config/target
	mkdir -p core/rd_mcp_0/disk && cd core/rd_mcp_0/disk && echo rd_pages=1024 >control && echo 1 >enable
	cd ../../.. && mkdir srpt && mkdir srpt/0x$gid && mkdir srpt/0x$gid/0x$gid && cd srpt/0x$gid/0x$gid
	mkdir lun/lun_0 && ln -s /sys/kernel/config/target/core/rd_mcp_0/disk lun/lun_0/disk
	mkdir acls/0x00000000000000000000000000001001 && cd acls/0x00000000000000000000000000001001
	mkdir lun_0 && ln -s ../../lun/lun_0 lun_0/lun
	cd ../.. && echo 1 >enable" >out 2>&1 || fail "no SRP target: $(<out)"
is_target() { guest first "saquery PIR $(lid_of "second HCA-1")" | grep -q IsDeviceManagementSupported; }
until_ 30 is_target || bad "the SA does not know of the target"
login="id_ext=0000000000002000,ioc_guid=0000000000002000,dgid=$gid,pkey=ffff,service_id=0000000000002000"
guest first "modprobe sd_mod && modprobe ib_srp && echo $login >\$(echo /sys/class/infiniband_srp/*/add_target)" ||
	fail "no login: $(guest first dmesg | tail -n 4)"
guest_until first 30 "[ -b /dev/sda ]" || fail "no SCSI disk: $(guest first dmesg | tail -n 4)"
by_sl 3 $((1 << 20)) copy /dev/sda

# promise: X8
note "nothing is lost when packets are"
sim_do fault add drop --chance 1%
copy /dev/nvme0n1
copy /dev/sda
sim_do fault remove all

# promise: X2
note "connected mode of IPoIB has the SL of its partition"
for host in first second; do
	guest $host "echo connected >/sys/class/net/\$IPOIB/mode && ip link set \$IPOIB mtu 65520" || bad "no connected mode in $host"
done
big_pings() { expect "answers to pings of 60000 bytes" 3 "$(ping_from first 10.0.0.2 -s 60000)"; }
by_sl 1 180000 big_pings
expect "answers to small pings" 3 "$(ping_from second 10.0.0.1 -s 60)"

stop_managing first
expect "exit status of qosd" 0 $?
kernel_is_calm first second
