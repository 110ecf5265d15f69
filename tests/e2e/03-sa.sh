#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the answers of the SA: each kind of criterion of a match rule, limits by level
# and by route, SLs that are dropped on the way, statuses of queries that cannot be
# answered, NodeRecords and PortInfoRecords.  saquery sends the queries, or pathquery
# if saquery cannot.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001, FDR
node001=$(gid f452140300811231)
node017=$(gid 248a070300a25c41)	# EDR
gpu01=$(gid 248a070300a25dd1)
gpu03=$(gid 248a070300a25e21)
mds01=$(gid 248a070300a25e99)
oss01=$(gid 248a070300a25ead)
srp01=$(gid 0002c903000e83b1)	# QDR
login01=$(gid f452140300811211)
machines=("$sm_node" "$from")

cat >policy.yaml <<'END'
port-groups:
  hosts: {port-names: ["node* HCA-1/P1", "node* mlx5_0/P1"]}
  gpus: {port-names: "gpu* mlx5_*/P*"}
  oss: {port-guids: 0x248a070300a25ead-0x248a070300a25eae}
  storage: {groups: oss, port-guids: 0x248a070300a25e99}
  logins: {port-names: "login0? HCA-1/P1"}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}
qos-levels:
  default: {sl: 0}
  service: {sl: 1, mtu-limit: 1024, rate-limit: 20, packet-lifetime: 10}
  class: {sl: 2, rate-limit: 4xSDR}
  traffic: {sl: 3, tclass: 77, mtu-limit: iba:2}
  asked: {sl: 4, packet-lifetime: 1s}
  iser-2: {sl: 5}
  iser: {sl: 6, rate-limit: 2.5}
  srp: {sl: 7, rate-limit: 100}
  partition: {sl: 8}
  tcp: {sl: 10}
  cut: {sl: 9}
  cut-late: {sl: 11}
  both: {sl: 12}
  ip: {sl: 13, mtu-limit: 1024, rate-limit: 10, packet-lifetime: 12}
match-rules:
  - {description: three criteria, source: hosts, destination: oss, service-id: [22, 0x1000-0x1fff], level: service}
  - {source: gpus, destination: gpus, level: both}
  - {destination: storage, qos-class: [7-9, 11], level: class}
  - {either: gpus, tclass: 5, level: traffic}
  - {source: hosts, sl: 4, level: asked}
  - {ulp: iser, tcp-port: 3261, level: iser-2}
  - {ulp: iser, level: iser}
  - {ulp: srp, target-guid: 0x0002c903000e83b1, level: srp}
  - {pkey: 0x7fff, qos-class: 0x30, level: partition}
  - {tcp-port: [5000-6000, 7000], level: tcp}
  - {qos-class: 100, level: cut}
  - {qos-class: 101, level: cut-late}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 0, 15, 2, 3, 0, 1, 0, 15]}
    # SL 11 is dropped on the last hop to the storage servers only.
    - {across: storage, table: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15, 0, 1, 0, 15]}
  vlarb:
    - {group: all, low: ["0:64", "1:64", "2:64", "3:64"]}
END

start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml

# from_to FROM TO ARGUMENT...: prints the answer to a PathRecord query between two GIDs, sent by node001.
from_to() {
	local a=$1 b=$2
	shift 2
	record "$from" --sgid "$a" --dgid "$b" "$@"
}
# ask METHOD FIELD...: sends a query with pathquery and prints SL, MTU, rate and lifetime of the answer.
ask() {
	local out
	out=$(on_own "$from" "$tools/pathquery" "$1" path "${@:2}" 2>&1)
	case $out in
	status=* | '') echo "${out:-none}" ;;
	*) sed -nE 's/.*( sl=[0-9]+).*( mtu=[0-9]+).*( rate=[0-9]+).*( life=[0-9]+).*/\1\2\3\4/p' <<<"$out" | sed 's/^ //' ;;
	esac
}
plain="sl=0 mtu=4 rate=12 life=18 tclass=0"

# promise: P3 S1
note "rules"
expect "no field" "$plain" "$(from_to "$node001" "$oss01")"
expect "Service-ID" "sl=1 mtu=3 rate=6 life=10 tclass=0" "$(from_to "$node001" "$oss01" --service_id 22)"
expect "Service-ID, first of a range" "sl=1 mtu=3 rate=6 life=10 tclass=0" \
	"$(from_to "$node001" "$oss01" --service_id 0x1000)"
expect "Service-ID, last of a range" "sl=1 mtu=3 rate=6 life=10 tclass=0" \
	"$(from_to "$node017" "$oss01" --service_id 0x1fff)"
expect "Service-ID behind the range" "$plain" "$(from_to "$node001" "$oss01" --service_id 0x2000)"
expect "Service-ID with high bits" "$plain" \
	"$(from_to "$node001" "$oss01" --service_id 0x8000000000001000)"
expect "Service-ID, another source" "$plain" "$(from_to "$login01" "$oss01" --service_id 22)"
expect "Service-ID, another destination" "$plain" "$(from_to "$node001" "$mds01" --service_id 22)"
expect "source and destination" "sl=12 mtu=4 rate=16 life=18 tclass=0" "$(from_to "$gpu01" "$gpu03")"
expect "source and destination, only one" "$plain" "$(from_to "$node001" "$gpu03")"
for class in 7 8 9 11; do
	expect "QoS-Class $class" "sl=2 mtu=4 rate=3 life=18 tclass=0" \
		"$(from_to "$node001" "$mds01" --qos_class $class)"
done
expect "QoS-Class 10" "$plain" "$(from_to "$node001" "$mds01" --qos_class 10)"
expect "TClass, the source" "sl=3 mtu=2 rate=16 life=18 tclass=77" \
	"$(from_to "$gpu01" "$oss01" --tclass 5)"
expect "TClass, the destination" "sl=3 mtu=2 rate=12 life=18 tclass=77" \
	"$(from_to "$node001" "$gpu03" --tclass 5)"
expect "TClass, neither" "sl=0 mtu=4 rate=12 life=18 tclass=5" "$(from_to "$node001" "$oss01" --tclass 5)"
expect "SL" "sl=4 mtu=4 rate=12 life=18 tclass=0" "$(from_to "$node001" "$oss01" --sl 4)"
expect "SL that the level does not have" none "$(from_to "$node001" "$oss01" --sl 3)"
expect "ULP with TCP port" "sl=5 mtu=4 rate=12 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --service_id 0x1060cbd)"
expect "ULP" "sl=6 mtu=4 rate=2 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --service_id 0x1060cbc)"
expect "target GUID" "sl=7 mtu=4 rate=7 life=18 tclass=0" "$(from_to "$node001" "$srp01")"
expect "target GUID as the source" "sl=0 mtu=4 rate=7 life=18 tclass=0" "$(from_to "$srp01" "$node001")"
expect "P_Key" "sl=8 mtu=4 rate=12 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --pkey 0xffff --qos_class 0x30)"
expect "P_Key, not carried" "$plain" "$(from_to "$node001" "$login01" --qos_class 0x30)"
expect "TCP port in a range" "sl=10 mtu=4 rate=12 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --service_id 0x1061388)"
expect "TCP port alone" "sl=10 mtu=4 rate=12 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --service_id 0x1061b58)"
expect "by LIDs" "sl=2 mtu=4 rate=3 life=18 tclass=0" "$(record "$from" \
	--slid "$(port_info "$from" 0xf452140300811231 1 Lid)" \
	--dlid "$(port_info "$from" 0x248a070300a25e99 1 Lid)" --qos_class 7)"
expect "a Get" "sl=1 mtu=3 rate=6 life=10" "$(ask get sgid="$node001" dgid="$oss01" service-id=22)"
expect "to itself" "sl=0 mtu=4 rate=12 life=0 tclass=0" "$(from_to "$node001" "$node001")"

note "explain"
ctl explain "node001 HCA-1/P1" "oss01 mlx5_0/P1" --service-id 22 >explain || bad "explain fails"
expect_match "rule" "three criteria" "$(<explain)"
expect_match "level" "service" "$(<explain)"
ctl explain "node001 HCA-1/P1" "login01 HCA-1/P1" --qos-class 0x30 >explain
expect_match "criterion that fails" "pkey" "$(<explain)"
ctl explain "node001 HCA-1/P1" "nobody/P1" >explain 2>&1
expect "explain of a port that is not there" 1 $?

# promise: T3 S3
note "SLs that do not get through"
expect "an SL dropped at the source" none "$(from_to "$node001" "$login01" --qos_class 100)"
expect "the same, a Get" "status=0x0300" "$(ask get sgid="$node001" dgid="$login01" qos-class=100)"
expect "an SL dropped on the last hop" none "$(from_to "$node001" "$oss01" --qos_class 101)"
expect "the same SL elsewhere" "sl=11 mtu=4 rate=12 life=18 tclass=0" \
	"$(from_to "$node001" "$login01" --qos_class 101)"
ctl explain "node001 HCA-1/P1" "oss01 mlx5_0/P1" --qos-class 101 >explain
expect_match "explained" "dropped" "$(<explain)"
expect_match "where it is dropped" " 15 +MF0;leaf05" "$(ctl route "node001 HCA-1/P1" "oss01 mlx5_0/P1" --sl 11)"
# SL 11 is dropped in one direction only, so there is no reversible path in either.
expect "reversible, when the way back drops" "status=0x0300" \
	"$(ask get sgid="$oss01" dgid="$node001" qos-class=101 reversible=1)"

# promise: S3
note "limits by route"
expect "a QDR target" "sl=0 mtu=4 rate=7 life=18 tclass=0" "$(from_to "$login01" "$(gid 0002c903000e83b2)")"
# The degraded link is at port 31 of leaf02: LIDs that are routed to that port get 2.5 Gb/s.
lid=$(on "$from" dump_fts 2>/dev/null |
	sed -nE '/guid 0xf45214030090a440 /,/^Unicast/s/^(0x[0-9a-f]+) 031 .*Channel.*/\1/p' | head -n 1)
if [ -n "$lid" ]; then
	expect "a path over the degraded link" "rate=2" "$(record "$from" \
		--slid "$(port_info "$from" 0xf4521403008112f1 1 Lid)" --dlid $((lid)) | grep -o 'rate=[0-9]*')"
else
	note "no path to a CA leads over the degraded link"
fi
expect "MTU greater than there is" "status=0x0300" "$(ask get sgid="$node001" dgid="$oss01" mtu-sel=0 mtu=4)"
expect "MTU greater than 1024" "sl=0 mtu=4 rate=12 life=18" "$(ask get sgid="$node001" dgid="$oss01" mtu-sel=0 mtu=3)"
expect "MTU less than 2048" "sl=0 mtu=3 rate=12 life=18" "$(ask get sgid="$node001" dgid="$oss01" mtu-sel=1 mtu=4)"
expect "rate of exactly 10" "sl=0 mtu=4 rate=3 life=18" "$(ask get sgid="$node001" dgid="$oss01" rate-sel=2 rate=3)"
expect "rate of exactly 100" "status=0x0300" "$(ask get sgid="$node001" dgid="$oss01" rate-sel=2 rate=16)"
expect "the greatest rate" "sl=0 mtu=4 rate=12 life=18" "$(ask get sgid="$node001" dgid="$oss01" rate-sel=3 rate=2)"
expect "an impossible rate" "status=0x0200" "$(ask get sgid="$node001" dgid="$oss01" rate-sel=2 rate=63)"

# promise: S1
note "MultiPathRecord"
multi() { on_own "$from" "$tools/pathquery" multi multipath "$@" 2>&1; }
expect "pairs of two and one" "$gpu01 $oss01 0x1, $gpu03 $oss01 0x1" \
	"$(multi sgid="$gpu01" sgid="$gpu03" dgid="$oss01" |
		sed -nE 's/.*dgid=([^ ]*) sgid=([^ ]*).*/\2 \1 0x1/p' | paste -sd, | sed 's/,/, /')"
expect_match "its rule" " sl=1 .* mtu=3 .* rate=6 .* life=10" \
	"$(multi sgid="$node001" dgid="$oss01" service-id=0x1234)"
expect "at most one" 1 "$(multi sgid="$gpu01" sgid="$gpu03" dgid="$oss01" numb-path=1 | wc -l)"
expect "one unknown GID" "status=0x0500" "$(multi sgid="$gpu01" dgid="$oss01" dgid="$(gid 0000000000001234)")"
expect "no destination" "status=0x0600" "$(multi sgid="$gpu01")"
expect "more GIDs than there are" "status=0x0200" "$(multi sgid="$gpu01" dgid="$oss01" dgid-count=200)"

note "statuses"
expect "unknown destination" "status 0x0500" "$(from_to "$node001" "$(gid 0000000000001234)")"
expect "unknown source" "status 0x0500" "$(from_to "$(gid 0000000000001234)" "$node001")"
expect "another subnet" "status 0x0500" "$(from_to "$node001" fec0:0:0:1:248a:703:a2:5ead)"
expect "unknown LID" none "$(record "$from" --slid 1 --dlid 4000)"
expect "unknown LID, a Get" "status=0x0300" "$(ask get slid=1 dlid=4000)"
expect "GID and LID of different ports" "status=0x0200" \
	"$(ask get sgid="$node001" slid=1 dgid="$oss01")"
expect "no source" "status=0x0600" "$(ask get dgid="$oss01")"
expect "another partition" none "$(from_to "$node001" "$oss01" --pkey 0x8001)"
expect_match "an attribute that is not served" "^status=0x000c" \
	"$(on_own "$from" "$tools/rawmad" 3 1 0x3b 0 2>&1)"

# promise: S2
note "other records"
expect_match "IsQoSSupported" "Capability mask 2\.+0x[0-9A-Fa-f]*[2367abefABEF]\b" "$(on "$from" saquery -c 2>&1 |
	grep 'mask 2')"
expect_match "NodeRecord by LID" "oss01 mlx5_0" \
	"$(on "$from" saquery NR "$(port_info "$from" 0x248a070300a25ead 1 Lid)" 2>&1)"
# saquery prints fields with the same function as smpquery.  LocalPort differs: it is the port that received
# the request.
for port in 0x248a070300a25ead/1 0x7cfe900300b43180/2; do
	guid=${port%/*} num=${port#*/}
	on "$from" smpquery -G portinfo "$guid" "$num" | grep ':\.' | grep -vE '^(Mkey|CapMask|LocalPort)' >port.smp
	on "$from" saquery PIR "$(port_info "$from" "$guid" 0 Lid)/$num" |
		grep ':\.' | sed 's/^[[:space:]]*//' | grep -vE '^(Mkey|CapMask|LocalPort)' >port.sa
	grep -xFf port.smp port.sa >port.both
	expect_same "PortInfoRecord of $port and smpquery" port.smp port.both
done

stop_qosd || bad "exit status $? after SIGTERM"

# promise: P5
note "path bits"
stop_sim
rm -rf state
cat >bits.yaml <<'END'
qos-levels:
  default: {sl: 0}
  second: {sl: 1, path-bits: 1}
  beyond: {sl: 2, path-bits: 6}
match-rules:
  - {qos-class: 1, level: second}
  - {qos-class: 6, level: beyond}
END
echo "lmc: 2" >qosd.yaml
start_sim "$topology"
start_and_wait "$sm_node" -c qosd.yaml -p bits.yaml
slid=$(port_info "$from" 0xf452140300811231 1 Lid)
dlid=$(port_info "$from" 0x248a070300a25ead 1 Lid)
lids() {
	on_own "$from" "$tools/pathquery" "$1" path sgid="$node001" dgid="$oss01" "${@:2}" 2>&1 |
		sed -nE 's/.* dlid=(0x[0-9a-f]+) slid=(0x[0-9a-f]+) .*/\1 \2/p' |
		while read -r d s; do echo "$((s - slid))-$((d - dlid))"; done | xargs
}
expect "LIDs of a level without path bits" "0-0" "$(lids get)"
expect "LIDs of a table" "0-0 1-1" "$(lids table numb-path=2)"
expect "LIDs of a level with path bits" "1-1" "$(lids table qos-class=1)"
expect "LIDs, path bits beyond the LMC" "2-2" "$(lids get qos-class=6)"
stop_qosd || bad "exit status $? after SIGTERM"
