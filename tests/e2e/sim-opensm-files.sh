#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compares what OpenSM makes of its files with what qosd makes of them after `qosd-ctl convert`: both run on
# the same fabric, smpquery reads the devices, and saquery the groups.
#
# promise: O8
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no links of few VLs, and its switches enforce nothing"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

# Five hosts with 15, 1, 2, 4 and 8 VLs, on a switch that has them all.
cat >profiles.yaml <<'END'
profiles:
  wide: {vl-cap: 15, vlarb-high: 32, vlarb-low: 32}
  vls1: {vl-cap: 1}
  vls2: {vl-cap: 2, vlarb-high: 8, vlarb-low: 8}
  vls4: {vl-cap: 4, vlarb-high: 16, vlarb-low: 16}
  vls8: {vl-cap: 8, vlarb-high: 8, vlarb-low: 8}
nodes:
  - {type: switch, profile: wide}
  - {name: "host-0001 *", profile: wide}
  - {name: "host-0002 *", profile: vls1}
  - {name: "host-0003 *", profile: vls2}
  - {name: "host-0004 *", profile: vls4}
  - {name: "host-0005 *", profile: vls8}
END
hosts=5
node="host-0001 HCA-1" asking="host-0005 HCA-1"
switch=0x0251530200000100
host_guid() { echo "0x0251530100000${1}01"; }
sim_options=(-p profiles.yaml)

# tables GUID PORT OUT IN: prints the tables of a port.  Entries without a weight are nothing to a device.
tables() {
	echo "sl2vl $(sl2vl "$asking" "$1" "$3" "$4")"
	vlarb "$asking" "$1" "$2" | sed -E ':a; s/ [0-9]+:0( |$)/\1/; ta'
	port_info "$asking" "$1" "$2" VLHighLimit
}
# all_tables: prints the tables of all ports.
all_tables() {
	local i
	for ((i = 1; i <= hosts; i++)); do
		echo "host $i"
		tables "$(host_guid $i)" 1 0 0
		echo "switch port $i"
		tables $switch $i $i $((i % hosts + 1))
	done
}
enforcement() {
	local i
	for ((i = 1; i <= hosts; i++)); do
		echo "port $i: $(port_info "$asking" $switch $i PartEnforceInb)" \
			"$(port_info "$asking" $switch $i PartEnforceOutb)"
	done
}
# all_groups: prints the groups without their MLIDs, one a line.
all_groups() {
	local mgid
	on "$node" saquery -g 2>&1 | sed -nE 's/.*MGID\.+//p' | sort | while read -r mgid; do
		on "$node" saquery MCMR --mgid "$mgid" 2>&1 | awk '
			/MGID|qkey|mtu|TClass|pkey|rate|pkt_life|SL|FlowLabel|HopLimit|Scope/ { gsub(/[ \t.]+/, " "); printf "%s", $0 }
			END { print "" }'
	done
}
# under_opensm LOOK OPTION... and under_qosd LOOK OPTION...: run LOOK under each manager.
# OpenSM runs twice, as it folds tables by the VLs that links have before its first sweep.
under_opensm() {
	start_sim "switch:$hosts,hosts=$hosts"
	bring_up_opensm "$node" 20 "${@:2}"
	end "$opensm"
	bring_up_opensm "$node" 20 "${@:2}"
	"$1" >of-opensm
	end "$opensm"
	stop_sim
}
under_qosd() {
	start_sim "switch:$hosts,hosts=$hosts"
	rm -rf state
	start_and_wait "$node" "${@:2}"
	"$1" >of-qosd
	stop_qosd || bad "exit status $? of qosd"
	stop_sim
}
convert() {
	"$build/qosd-ctl" convert "$@" >policy.yaml 2>convert.log || bad "not converted: $(<convert.log)"
}

# compare_tables WHAT: the tables by opensm.conf must be the same.
compare_tables() {
	under_opensm all_tables -F opensm.conf -Q
	convert opensm.conf
	under_qosd all_tables -p policy.yaml
	expect "lines of tables, $1" $((hosts * 8)) "$(wc -l <of-opensm)"
	expect_same "tables, $1" of-opensm of-qosd
}
# promise: O8 T6
note "tables by OpenSM's defaults"
echo "qos TRUE" >opensm.conf
compare_tables defaults
note "tables that fold"
cat >opensm.conf <<'END'
qos TRUE
qos_high_limit 5
qos_vlarb_high 9:32,3:64,14:96
qos_vlarb_low 0:32,1:64,2:32,12:160,4:32
qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
END
compare_tables folded

# promise: O8
note "enforcement of partitions"
cat >partitions.conf <<END
Default=0x7fff, ipoib : ALL=full ;
Part=0x8001, ipoib : $(host_guid 3)=full, $(host_guid 4)=full ;
END
convert partitions.conf
for way in both in out off; do
	printf 'part_enforce %s\n' $way >opensm.conf
	printf 'partition-enforcement: %s\n' $way >qosd.yaml
	under_opensm enforcement -F opensm.conf -P "$work/partitions.conf"
	under_qosd enforcement -c qosd.yaml -p policy.yaml
	expect "ports, $way" $hosts "$(wc -l <of-opensm)"
	expect_same "enforcement, $way" of-opensm of-qosd
done

# promise: O8
note "multicast groups"
cat >partitions.conf <<END
Default=0x7fff, ipoib : ALL=full ;
# abbreviations; scopes, which the broadcast group ignores; a second statement for the same partition
Flags=0x8002, ipoib, sco=2, scope=0x5, Q_Key=0x12345678, TClass=7, FlowLabel=0x54321, mt=3, r=2 : ALL=full ;
Flags=0x8002, ipoib, scope=14, mtu=2 : ALL=full ;
Body=3, ipoib, defmember=full, TClass=9, FlowLabel=4 :
	mgid=ff12:401b::16, Q_Key=9	# takes the P_Key of the partition
	mgid=ff12:601b:8003::1:ff00:22,FlowLabel=0
	mgid=ff12:401b:ffff::17, sl=0	# the P_Key of another partition
	mgid=ff12:401b:8001::18, sl=0
	mgid=ff12:401b::19, mtu=5	# not the MTU of the broadcast group
	mgid=ff12:401b::20, scope=5	# no broadcast group of that scope
	mgid=ff15:401b::ffff:ffff, scope=5, TClass=1
	mgid=ff12:401b::21, scope=5	# now there is one
	mgid=ff15:1234::1, rate=7, mtu=5, scope=5, scope=8, TClass=260, frob=1
	mgid=ff15:1234::2, TClass=2	# its scope becomes 2
	mgid=ff12:1234::2, Q_Key=1	# which is there
	mgid=ff32:1234::3, sl=0
	mgid=fe80::1, sl=0
	ALL, $(host_guid 3)=limited,
	$(host_guid 4)=both ;
Empty=6, ipoib : NONE ;
None=4 : mgid=ff12:401b::5, sl=0 ; Other=5, ipoib, scope=3 : SELF=full, mgid=ff12:99::1, Q_Key=5 ;
END
convert partitions.conf
under_opensm all_groups -P "$work/partitions.conf"
under_qosd all_groups -p policy.yaml
expect "groups" 12 "$(wc -l <of-opensm)"
expect_same "groups" of-opensm of-qosd

# promise: P3 O8
note "the simplified rules of a policy"
cat >partitions.conf <<END
Default=0x7fff, ipoib : ALL=full ;
Other=0x8002, ipoib : ALL=full ;
END
cat >qos-policy.conf <<END
qos-ulps
	default : 0
	sdp, port-num 80-90 : 1
	sdp : 2
	rds, port-num 7 : 3
	rds : 4
	iser, port-num 0x10-0x12 : 5
	iser : 6
	srp, target-port-guid $(host_guid 4) : 7
	any, service-id 0x100-0x1ff, 7 : 8
	any, target-port-guid $(host_guid 3)-$(host_guid 3) : 9
	any, pkey 0x8003 : 10
	ipoib : 11
end-qos-ulps
END
echo "qos TRUE" >opensm.conf
# answers: prints the SL of some queries.
answers() {
	local id pkey
	for id in 0x10050 0x1005a 0x1005b 0x1ffff 0x1060007 0x10648ca 0x1064001 0x1060010 0x1060012 0x1060cbc \
		0x1060cbd 0x7 0x1ff 0x200; do
		echo "service $id: $(record "$asking" --sgid "$(gid "$(host_guid 5)")" --dgid "$(gid "$(host_guid 1)")" \
			--service_id $id --pkey 0x8002)"
	done
	for pkey in 0xffff 0x8002; do
		echo "P_Key $pkey: $(record "$asking" --sgid "$(gid "$(host_guid 5)")" --dgid "$(gid "$(host_guid 1)")" \
			--pkey $pkey)"
		echo "to host 3, P_Key $pkey: $(record "$asking" --sgid "$(gid "$(host_guid 5)")" \
			--dgid "$(gid "$(host_guid 3)")" --pkey $pkey)"
	done
	echo "to host 4: $(record "$asking" --sgid "$(gid "$(host_guid 5)")" --dgid "$(gid "$(host_guid 4)")" --pkey 0x8002)"
}
convert opensm.conf partitions.conf qos-policy.conf
under_opensm answers -F opensm.conf -Q -P "$work/partitions.conf" -Y "$work/qos-policy.conf"
under_qosd answers -p policy.yaml
expect "answers of OpenSM" 15 "$(grep -c 'sl=[1-9]' of-opensm)"
expect_same "answers" of-opensm of-qosd

note "a definition on two lines"
printf 'Default=0x7fff,\n\tipoib : ALL=limited ;\n' >partitions.conf
! "$build/qosd-ctl" convert partitions.conf >policy.yaml 2>convert.log || bad "it is converted"
bring_up_alone() { start_sim "switch:$hosts,hosts=$hosts"; bring_up_opensm "$node" 20 "$@"; }
bring_up_alone -P "$work/partitions.conf"
expect_match "OpenSM's log" "Partition configuration in error; retrying with default" "$(<opensm.dir/log)"
end "$opensm"
stop_sim
