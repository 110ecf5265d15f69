#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests multicast: the IPoIB broadcast group, joining and leaving, creating and deleting
# groups, and the switches' tables, which ibroute, ibtracert and ibdmchk check.  Groups
# survive a restart of the daemon.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
node001=H-f452140300811230 node001_guid=f452140300811231	# leaf01 port 1
node017=H-248a070300a25c40 node017_guid=248a070300a25c41	# leaf03 port 1
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
broadcast=ff12:401b:ffff::ffff:ffff
spine01=0x7cfe900300b41a20
machines=("$sm_node" "$node001" "$node017" "$gpu01")

cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}
qos-levels:
  default: {sl: 0}
  ip: {sl: 3, mtu-limit: 1024, rate-limit: 10, packet-lifetime: 12}
END

# member NODE METHOD FIELD...: sends an MCMemberRecord request from that node.
member() { on_own "$1" "$tools/pathquery" "$2" member "${@:3}" 2>&1; }
join() { member "$1" set mgid="$2" port-gid="$(gid "$3")" join-state=1 "${@:4}"; }
leave() { member "$1" delete mgid="$2" port-gid="$(gid "$3")" join-state=1; }
# mft SWITCH-GUID: prints the switch's multicast forwarding table as "MLID PORT..." lines.
mft() {
	on "$node001" ibroute -G -M "$1" 2>&1 | awk '
		/^0xc/ {
			line = $1
			for (p = 0; p <= 36; p++)
				if (substr($0, 13 + 2 * p, 1) == "x")
					line = line " " p
			print line
		}'
}
settled() { [ "$(mft 0xf45214030090a3c0)" = "$1" ]; }
# arrives MLID FROM TO: whether ibtracert gets through the switches' multicast tables between two ports.
arrives() { on "$sm_node" ibtracert -m "$1" "$(lid "$2")" "$(lid "$3")" >trace.log 2>&1; }
lid() { port_info "$sm_node" "0x$1" 1 Lid; }

start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml

# promise: P6 S4
note "the IPoIB broadcast group"
group=$(on "$node001" saquery MCMR 2>&1)
for field in "MGID\.+$broadcast" "mlid\.+0xc000" "qkey\.+0xb1b" "pkey\.+0xffff" "mtu\.+0x83" "rate\.+0x83" \
	"pkt_life\.+0x8c" "SL\.+0x3" "Scope\.+0x2"; do
	expect_match "broadcast group" "$field" "$group"
done

# promise: S4
note "joining"
expect_match "answer to a join" "mlid=0xc000 .*mtu=3 .*rate=3 .*sl=3 .*join-state=1 proxy-join=0" \
	"$(join "$node001" $broadcast $node001_guid)"
until_ 5 settled "0xc000 1" || bad "a lonely member's port is not in its switch's table: $(mft 0xf45214030090a3c0)"
join "$node017" $broadcast $node017_guid >/dev/null
join "$gpu01" $broadcast $gpu01_guid >/dev/null
until_ 5 arrives 0xc000 $node001_guid $gpu01_guid || bad "no way from node001 to gpu01: $(tail -n 3 trace.log)"
arrives 0xc000 $gpu01_guid $node017_guid || bad "no way from gpu01 to node017: $(tail -n 3 trace.log)"
arrives 0xc000 $node017_guid $node001_guid || bad "no way from node017 to node001: $(tail -n 3 trace.log)"
expect "members that joined twice" "" "$(join "$gpu01" $broadcast $gpu01_guid | grep status)"
all_connected
expect_match "groups that ibdmchk found" "Defined [1-9][0-9]* Multicast Fdb entries" "$(<ibdmchk)"
expect "what ibdmchk says of trees" "" "$(grep -iE 'mlid|multicast' ibdmchk | grep -E '^-[EW]-')"
expect_match "members, for who has the SM_Key" "$(gid $gpu01_guid)" \
	"$(on_own "$node001" "$tools/pathquery" table member mgid=$broadcast port-gid="$(gid $gpu01_guid)" 2>&1;
	on "$node001" saquery --smkey 1 MCMR --gid "$(gid $gpu01_guid)" 2>&1)"

note "refusals"
expect "wrong Q_Key" status=0x0200 "$(join "$gpu01" $broadcast $gpu01_guid qkey=0x1234)"
expect "MTU greater than the group's" status=0x0200 "$(join "$gpu01" $broadcast $gpu01_guid mtu-sel=0 mtu=4)"
expect "unknown port" status=0x0500 "$(join "$gpu01" $broadcast 0000000000001234)"
expect "no join state" status=0x0600 "$(member "$gpu01" set mgid=$broadcast port-gid="$(gid $gpu01_guid)")"
expect "a group that is not there" status=0x0600 "$(join "$gpu01" ff12:401b:ffff::1 $gpu01_guid)"
expect "leaving what was not joined" status=0x0200 "$(leave "$sm_node" $broadcast f452140300811201)"
expect "another's membership" status=0x0200 "$(leave "$node001" $broadcast $gpu01_guid)"
full=(qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0)
expect "no multicast GID" status=0x0200 "$(join "$gpu01" fe80::1 $gpu01_guid "${full[@]}")"
expect "MTU that the port lacks" status=0x0200 \
	"$(join "$gpu01" ff12:401b:ffff::1 $gpu01_guid "${full[@]}" mtu-sel=2 mtu=5)"

note "making and ending a group"
expect_match "a new group" "mgid=ff12:401b:ffff::1 .*mlid=0xc001 " \
	"$(join "$gpu01" ff12:401b:ffff::1 $gpu01_guid "${full[@]}" rate-sel=2 rate=3)"
expect_match "joined by another" "mlid=0xc001 " "$(join "$node001" ff12:401b:ffff::1 $node001_guid)"
# A group has the rate of its creator's port unless the creator asks for less.
expect_match "a group whose GID is the SA's choice" "mgid=ff1[0-9a-f]:a01b:.* mlid=0xc002 " \
	"$(join "$gpu01" :: $gpu01_guid "${full[@]}")"
until_ 5 arrives 0xc001 $node001_guid $gpu01_guid || bad "no way in the new group: $(tail -n 3 trace.log)"
leave "$node001" ff12:401b:ffff::1 $node001_guid | grep status && bad "node001 can't leave"
leave "$gpu01" ff12:401b:ffff::1 $gpu01_guid | grep status && bad "gpu01 can't leave"
expect "the group is gone" status=0x0300 "$(member "$gpu01" get mgid=ff12:401b:ffff::1)"
gone_from_tables() { ! { mft 0xf45214030090a3c0; mft $spine01; } | grep -q 0xc001; }
until_ 5 gone_from_tables || bad "the tables still have the group that is gone"

note "a restart"
mft 0xf45214030090a3c0 >mft.before
before=$(on "$node001" saquery MCMR --mgid $broadcast 2>&1)
stop_qosd KILL
start_and_wait "$sm_node" -p policy.yaml
expect "Sets after a kill and a restart" 0 "$(sets)"
expect "the group" "$before" "$(on "$node001" saquery MCMR --mgid $broadcast 2>&1)"
mft 0xf45214030090a3c0 >mft.after
expect_same "tables" mft.before mft.after
expect_match "a member is a member still" " join-state=0" "$(leave "$gpu01" $broadcast $gpu01_guid)"

note "a member's link fails and returns"
join "$gpu01" $broadcast $gpu01_guid >/dev/null
until_ 5 arrives 0xc000 $node001_guid $gpu01_guid || bad "no way to gpu01"
unplug H-248a070300a25c40
without_node017() { ! mft 0x7cfe900300b42e80 | grep -qw 1; }
until_ 15 without_node017 || bad "leaf03 port 1 stays in the tables: $(mft 0x7cfe900300b42e80)"

stop_qosd || bad "exit status $? after SIGTERM"
