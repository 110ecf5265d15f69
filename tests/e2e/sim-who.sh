#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `who` for multicast groups, by MGID, MLID and the IP addresses that IPoIB maps to MGIDs, and for hosts by
# GIDs and addresses that are made of GUIDs.  saquery has the same of a group.
# promise: O19
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "groups are the same on either simulator"

manager=H-f452140300811200 a=H-f452140300811230 b=H-f452140300811240
a_guid=f452140300811231 b_guid=f452140300811241
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  ip: {sl: 2}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}
END
start_sim "$top/examples/cluster.topo"
start_and_wait "$manager" -p policy.yaml
# join NODE GUID MGID
join() {
	on_own "$1" "$tools/pathquery" set member mgid="$3" port-gid="$(gid "$2")" join-state=1 qkey=0xb1b pkey=0xffff \
		tclass=0 sl=2 flow-label=0 >join.out 2>&1 || bad "join: $(<join.out)"
}
join $a $a_guid ff12:401b:ffff::ffff:ffff
join $b $b_guid ff12:401b:ffff::ffff:ffff
join $a $a_guid ff12:401b:ffff::f01:203		# 239.1.2.3
join $b $b_guid ff12:601b:ffff::1:ff81:1241	# ff02::1:ff81:1241
has_tree() { [ "$(ctl -j mcast ff12:401b:ffff::ffff:ffff | jq '.tree | length')" -ge 1 ]; }
until_ 10 has_tree || bad "no tree"

# groups ADDRESS: prints the MGIDs that who tells.
groups() { ctl -j who "$1" | jq -r '.["mcast-groups"][].mgid'; }
note "a group by its MGID, MLID and address"
mlid=$(ctl -j mcast ff12:401b:ffff::f01:203 | jq -r .mlid)
for name in ff12:401b:ffff::f01:203 "$mlid" "$((mlid))" 239.1.2.3; do
	expect "who $name" ff12:401b:ffff::f01:203 "$(groups "$name")"
done
expect_match "an address with other bits" "no multicast group of IPoIB has this address" "$(ctl who 225.1.2.3 2>&1)"
expect "the broadcast group" ff12:401b:ffff::ffff:ffff "$(groups 255.255.255.255)"
expect "an IPv6 address, of its scope" ff12:601b:ffff::1:ff81:1241 "$(groups ff02::1:ff81:1241)"
expect_match "an IPv6 address of another scope" "no multicast group of IPoIB" "$(ctl who ff05::1:ff81:1241 2>&1)"

note "what is told of it"
ctl who 255.255.255.255 >out || bad "who: $(<out)"
for line in '^multicast group ff12:401b:ffff::ffff:ffff$' \
	'^  MLID 0xc000, P_Key 0xffff of partition Default, SL 2 of level ip, MTU 2048, [0-9.]+ Gb/s, made by the policy$' \
	"^  member node001 HCA-1/P1 \(0x$a_guid\) \(full\)$" "^  member node002 HCA-1/P1 \(0x$b_guid\) \(full\)$" \
	'^  tree MF0;leaf01:SX6036/U1 \(0x[0-9a-f]{16}\): ports? .*1, 2'; do
	grep -qE "$line" out || bad "nothing like '$line' in: $(<out)"
done
expect "members" 2 "$(grep -c '^  member ' out)"
expect "MLID, P_Key and SL by saquery" "0xc000 0xffff 0x2" "$(on "$manager" saquery MCMR 2>/dev/null |
	awk -F '\\.\\.+' '/MGID/ { mine = $2 == "ff12:401b:ffff::ffff:ffff" } mine && /mlid|pkey|SL/ { printf "%s%s", n++ ? " " : "", $2 }')"

note "a host by its GID or an address of its GUID"
for name in "$(gid $a_guid)" "fe80::f652:1403:81:1231" "2001:db8::f652:1403:81:1231"; do
	expect "who $name" "node001 HCA-1" "$(ctl who "$name" | head -n 1)"
done
expect_match "a GID of nobody" "no port has this GID" "$(ctl who fe80::1 2>&1)"
expect_match "an address of a host" "knows no IPv4 addresses of hosts.*'ip neigh'" "$(ctl who 10.0.0.1 2>&1)"
expect_match "a group of nobody" "no multicast group" "$(ctl who ff12:401b:ffff::1 2>&1)"
expect_match "an MLID of nobody" "no such node" "$(ctl who 0xd000 2>&1)"
expect "a host by its name" "node001 HCA-1" "$(ctl who node001 | head -n 1)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
