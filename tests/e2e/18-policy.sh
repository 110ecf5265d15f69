#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the policy through SA answers: each way to name ports, each form of a value, each
# criterion alone and combined, each ULP, default levels, path bits.  Most levels have SL 0
# and a unique TClass, which identifies the level of an answer.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
machines=("$sm_node")
mgmt01=f452140300811201 login01=f452140300811211 node001=f452140300811231 node002=f452140300811241
node010=f4521403008112c1 node017=248a070300a25c41 node018=248a070300a25c55 gpu01=248a070300a25dd1
gpu05_1=248a070300a25e71 gpu05_2=248a070300a25e72 mds01=248a070300a25e99
oss01_1=248a070300a25ead oss01_2=248a070300a25eae oss02_1=248a070300a25ec1
# shellcheck disable=SC2034 # by name
srp01=0002c903000e83b1 router=0002c903000f1a61 leaf05=7cfe900300b43180 spine01=7cfe900300b41a20

# ask FROM TO ARGUMENT...: prints saquery's answer; level ...: prints only the TClass.
ask() { record "$sm_node" --sgid "$(gid "$1")" --dgid "$(gid "$2")" "${@:3}"; }
level() {
	local answer
	answer=$(ask "$@")
	echo "${answer##*tclass=}"
}

# promise: P1
note "port groups"
groups=(guid range name glob one-char port-glob partition pkeys ca switch router every me nested mixed all)
cat >policy.yaml <<END
port-groups:
  guid: {port-guids: 0x$oss01_1}
  range: {port-guids: [0x$oss01_1-0x$oss01_2, 0x$gpu01]}
  name: {port-names: "oss01 mlx5_0/P2"}
  glob: {port-names: ["oss*/P1", "g?u05 *_0/P*"]}
  one-char: {port-names: "node00? HCA-1/P1"}
  port-glob: {port-names: "gpu05 mlx5_0/P?"}
  partition: {partitions: red}
  pkeys: {pkeys: 0x10-0x1f}
  ca: {node-types: ca}
  switch: {node-types: switch}
  router: {node-types: router}
  every: {node-types: all}
  me: {node-types: self}
  nested: {groups: inner}
  inner: {groups: innermost}
  innermost: {groups: [guid, router]}
  mixed: {port-guids: 0x$mds01, port-names: "login01 */P1", node-types: self, partitions: blue, groups: name}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
  red: {pkey: 0x10, members: {0x$node001: full, 0x$node017: limited}}
  blue: {pkey: 0x11, members: [0x$node017-0x$node018]}
  green: {pkey: 0x20, members: [0x$srp01]}
qos-levels:
  default: {sl: 0}
END
for ((i = 0; i < ${#groups[@]}; i++)); do echo "  l$i: {sl: 0, tclass: $((i + 1))}"; done >>policy.yaml
echo "match-rules:" >>policy.yaml
for ((i = 0; i < ${#groups[@]}; i++)); do
	echo "  - {destination: ${groups[i]}, service-id: $((i + 1)), level: l$i}"
done >>policy.yaml

start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml
# in_group GROUP PORT...: by the SA's answers, exactly these ports must be in the group.
in_group() {
	local name index i got=()
	for ((i = 0; i < ${#groups[@]}; i++)); do [ "${groups[i]}" != "$1" ] || index=$((i + 1)); done
	for name in mgmt01 login01 node001 node010 node017 node018 gpu01 gpu05_1 gpu05_2 mds01 oss01_1 oss01_2 \
		oss02_1 srp01 router leaf05 spine01; do
		case $(level $mgmt01 "${!name}" --service_id $index) in
		"$index") got+=("$name") ;;
		0) ;;
		*) got+=("$name?") ;;
		esac
	done
	expect "members of $1" "${*:2}" "${got[*]}"
}
cas="mgmt01 login01 node001 node010 node017 node018 gpu01 gpu05_1 gpu05_2 mds01 oss01_1 oss01_2 oss02_1 srp01"
# shellcheck disable=SC2086 # a list
{
	in_group guid oss01_1
	in_group range gpu01 oss01_1 oss01_2
	in_group name oss01_2
	in_group glob gpu05_1 gpu05_2 oss01_1 oss02_1
	in_group one-char node001
	in_group port-glob gpu05_1 gpu05_2
	in_group partition node001 node017
	in_group pkeys node001 node017 node018
	in_group ca $cas
	in_group switch leaf05 spine01
	in_group router router
	in_group every $cas router leaf05 spine01
	in_group me mgmt01
	in_group nested oss01_1 router
	in_group mixed mgmt01 login01 node017 node018 mds01 oss01_2
	in_group all $cas router leaf05 spine01
}

# promise: P2 P5 S1
note "values"	# node017 to oss01: EDR, 100 Gb/s, 2048 bytes
values=()	# FIELD=CODE of answers
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
END
n=0
# value KEY VALUE FIELD=CODE: adds a level with this value, whose answers must have FIELD=CODE.
value() {
	echo "  v$((++n)): {sl: 0, $1: $2}" >>policy.yaml
	values[n]="$3 for $1: $2"
}
for v in 256:1 512:2 1024:3 2048:4 4096:4 iba/1:1 iba/2:2 iba/3:3 iba/4:4 iba/5:4 0x200:2; do
	value mtu-limit "$(tr / : <<<"${v%:*}")" "mtu=${v#*:}"
done
for v in 2.5:2 10:3 30:4 5:5 20:6 40:7 60:8 80:9 14:11 56:12 25:15 28:19 50:20 100:16 112:16 200:16 \
	1xSDR:2 4xSDR:3 12xSDR:4 1xDDR:5 4xDDR:6 1xQDR:3 4xQDR:7 8xQDR:9 4xFDR10:7 1xFDR:11 4xFDR:12 2xFDR:19 \
	1xEDR:15 4xEDR:16 1xHDR:20 4xHDR:16 4xNDR:16 iba/2:2 iba/7:7 iba/9:9 iba/11:11 iba/16:16 iba/10:16; do
	value rate-limit "$(tr / : <<<"${v%:*}")" "rate=${v#*:}"
done
for v in 0:0 7:7 31:31 0x12:18 iba/9:9 4us:0 5us:1 20us:3 8ms:11 12ms:12 500ms:17 1s:18 2s:19; do
	value packet-lifetime "$(tr / : <<<"${v%:*}")" "life=${v#*:}"
done
for v in 0:0 1:1 0x4d:77 255:255; do value tclass "${v%:*}" "tclass=${v#*:}"; done
for v in 1:1 0xa:10 14:14; do
	echo "  v$((++n)): {sl: ${v%:*}}" >>policy.yaml
	values[n]="sl=${v#*:} for sl: ${v%:*}"
done
echo "match-rules:" >>policy.yaml
for ((i = 1; i <= n; i++)); do echo "  - {qos-class: $i, level: v$i}"; done >>policy.yaml
reload || bad "refused: $(<reload)"
for ((i = 1; i <= n; i++)); do
	answer=$(ask $node017 $oss01_1 --qos_class $i)
	[[ " $answer " == *" ${values[i]%% for*} "* ]] || bad "want ${values[i]}, got '$answer'"
done
expect "values asked for" 70 $n
# A value without an IBA code is refused, not rounded.
for value in 'mtu-limit: 1500' 'mtu-limit: iba:6' 'rate-limit: 33' 'rate-limit: 3xQDR' 'packet-lifetime: 32' \
	'packet-lifetime: 5h' 'tclass: 256' 'sl: 16'; do
	printf 'qos-levels:\n  default: {%s}\n' "$value" >wrong.yaml
	"$build/qosd" --check -c "$top/etc/qosd.yaml" -p wrong.yaml >check 2>&1
	expect "exit status for $value" 1 $?
	expect_match "$value" '^wrong.yaml:2:[0-9]+: error: ' "$(<check)"
done

# promise: P3
note "criteria"
cat >policy.yaml <<END
port-groups:
  s1: {port-guids: 0x$node001}
  s2: {port-guids: 0x$node002}
  d1: {port-guids: 0x$node017}
  d2: {port-guids: 0x$mds01}
  e1: {port-guids: 0x$gpu01}
  e2: {port-guids: 0x$gpu05_1}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
  red: {pkey: 0x10, members: [s2, d2, 0x$login01], ipoib: true}
  dry: {pkey: 0x11, members: [s2, d2]}
qos-levels:
  default: {sl: 0}
END
names=(combined source destination either service-id service-ids qos-class qos-classes tclass tclasses pkey first \
	second target sdp-port sdp rds iser-port iser nfs-rdma nvme-of-at nvme-of lustre smb-direct srp-at srp \
	srp-both tcp-ports ipoib sl)
for ((i = 0; i < ${#names[@]}; i++)); do
	sl=0
	[ "${names[i]}" != sl ] || sl=3
	echo "  ${names[i]}: {sl: $sl, tclass: $((100 + i))}"
done >>policy.yaml
cat >>policy.yaml <<END
match-rules:
  - {source: s2, destination: d2, service-id: 0x7000, qos-class: 5, tclass: 6, pkey: 0x7fff, level: combined}
  - {source: s1, level: source}
  - {destination: d1, level: destination}
  - {either: [e1, e2], level: either}
  - {service-id: [20480, 0xffffffffffffffff], level: service-id}
  - {service-id: 0x6000-0x60ff, level: service-ids}
  - {qos-class: 0x10, level: qos-class}
  - {qos-class: [0x20-0x2f, 4095], level: qos-classes}
  - {tclass: 1, level: tclass}
  - {tclass: 16-31, level: tclasses}
  - {pkey: 0x11, level: pkey}
  - {qos-class: 60, level: first}
  - {qos-class: 60-61, level: second}
  - {target-guid: 0x$oss02_1, level: target}
  - {ulp: sdp, tcp-port: 7000, level: sdp-port}
  - {ulp: sdp, level: sdp}
  - {ulp: rds, level: rds}
  - {ulp: iser, tcp-port: [3261, 3300-3301], level: iser-port}
  - {ulp: iser, level: iser}
  - {ulp: nfs-rdma, level: nfs-rdma}
  - {ulp: nvme-of, target-guid: 0x$oss01_1-0x$oss01_2, level: nvme-of-at}
  - {ulp: nvme-of, level: nvme-of}
  - {ulp: lustre, level: lustre}
  - {ulp: smb-direct, level: smb-direct}
  - {ulp: srp, target-guid: 0x$gpu05_2, service-id: 0xabc, level: srp-both}
  - {ulp: srp, target-guid: 0x$srp01, level: srp-at}
  - {ulp: srp, service-id: 0x0002c903000e83b0, level: srp}
  - {tcp-port: [5000-6000, 7000], level: tcp-ports}
  - {sl: [3, 5-6], level: sl}
  - {ulp: ipoib, level: ipoib}
END
reload || bad "refused: $(<reload)"
expect "rules that can never match" "" "$(ctl -j status | grep 'can never match')"
# is LEVEL FROM TO ARGUMENT...: the query must get this level; LEVEL may also be "none" or a TClass.
is() {
	local want=$1 i
	for ((i = 0; i < ${#names[@]}; i++)); do [ "${names[i]}" != "$1" ] || want=$((100 + i)); done
	expect "${*:2}: $1" "$want" "$(level "${@:2}")"
}
plain=("$node010" "$login01")	# nobody's group
is 0 "${plain[@]}"
is source $node001 $login01
is 0 $login01 $node001
is destination $login01 $node017
is 0 $node017 $login01
is either $gpu01 $login01
is either $login01 $gpu01
is either $login01 $gpu05_1
is 0 $login01 $gpu05_2
is service-id "${plain[@]}" --service_id 0x5000
is 0 "${plain[@]}" --service_id 0x5001
is service-id "${plain[@]}" --service_id 0xffffffffffffffff
is service-ids "${plain[@]}" --service_id 0x6000
is service-ids "${plain[@]}" --service_id 0x60ff
is 0 "${plain[@]}" --service_id 0x5fff
is 0 "${plain[@]}" --service_id 0x6100
is 0 "${plain[@]}" --service_id 0x100006000
is qos-class "${plain[@]}" --qos_class 16
is 0 "${plain[@]}" --qos_class 17
is qos-classes "${plain[@]}" --qos_class 32
is qos-classes "${plain[@]}" --qos_class 47
is qos-classes "${plain[@]}" --qos_class 4095
is 0 "${plain[@]}" --qos_class 48
is tclass "${plain[@]}" --tclass 1
is 2 "${plain[@]}" --tclass 2	# TClass as asked for
is tclasses "${plain[@]}" --tclass 31
is 32 "${plain[@]}" --tclass 32
is pkey $node002 $mds01 --pkey 0x8011
is pkey $node002 $mds01 --pkey 0x0011	# whatever the membership bit
is 0 $node002 $mds01	# not carried
is sl "${plain[@]}" --sl 3
is none "${plain[@]}" --sl 4	# the default level has 0
is first "${plain[@]}" --qos_class 60
is second "${plain[@]}" --qos_class 61
is first "${plain[@]}" --qos_class 60 --service_id 0x1060cbc	# and an iSER query, too
is target $login01 $oss02_1
is 0 $oss02_1 $login01

# promise: P3
note "all criteria must match"
all=(--service_id 0x7000 --qos_class 5 --tclass 6 --pkey 0xffff)
is combined $node002 $mds01 "${all[@]}"
is ipoib $node010 $mds01 "${all[@]}"	# the ports do not match, the P_Key, which has IPoIB, does
is ipoib $node002 $login01 "${all[@]}"
is ipoib $mds01 $node002 "${all[@]}"
# Without one criterion, or with another value of it, the next rule that matches is the P_Key's.
for ((i = 0; i < 8; i += 2)); do
	without=("${all[@]:0:i}" "${all[@]:i+2}")
	if [ "${all[i]}" = --pkey ]; then
		is 6 $node002 $mds01 "${without[@]}"
		is ipoib $node002 $mds01 "${without[@]}" --pkey 0x8010
	else
		is ipoib $node002 $mds01 "${without[@]}"
		is ipoib $node002 $mds01 "${without[@]}" "${all[i]}" $((all[i + 1] + 3))
	fi
done

# promise: P3 S4
note "protocols by name"
# Service IDs: the prefix is 0x0106 for RDMA CM over TCP and 0x0001 for SDP; the low 16 bits are the port.
cma() { is "$1" "${@:3}" --service_id "$(printf '%#x' "$2")"; }
tcp=$((0x1060000)) sdp=$((0x10000))
cma sdp $sdp "${plain[@]}"
cma sdp $((sdp + 0xffff)) "${plain[@]}"
cma sdp-port $((sdp + 7000)) "${plain[@]}"
cma 0 $((sdp + 0x10000)) "${plain[@]}"
cma rds $((tcp + 18634)) "${plain[@]}"
cma rds $((tcp + 16385)) "${plain[@]}"
cma iser $((tcp + 3260)) "${plain[@]}"
cma iser-port $((tcp + 3261)) "${plain[@]}"
cma iser-port $((tcp + 3301)) "${plain[@]}"
cma 0 $((tcp + 3302)) "${plain[@]}"
cma nfs-rdma $((tcp + 20049)) "${plain[@]}"
cma nvme-of $((tcp + 4420)) "${plain[@]}"
cma nvme-of-at $((tcp + 4420)) $login01 $oss01_2
cma nvme-of $((tcp + 4420)) $oss01_2 $login01
cma 0 $((tcp + 4421)) $login01 $oss01_2
cma lustre $((tcp + 987)) "${plain[@]}"
cma smb-direct $((tcp + 445)) "${plain[@]}"
cma tcp-ports $((tcp + 5000)) "${plain[@]}"
cma tcp-ports $((tcp + 6000)) "${plain[@]}"
cma tcp-ports $((tcp + 7000)) "${plain[@]}"
cma 0 $((tcp + 6001)) "${plain[@]}"
is srp-at $login01 $srp01
is srp-at $login01 $srp01 --service_id 0x0002c903000e83b0
is srp "${plain[@]}" --service_id 0x0002c903000e83b0
is srp-both $login01 $gpu05_2 --service_id 0xabc
is 0 $login01 $gpu05_2 --service_id 0xabd
is 0 "${plain[@]}" --service_id 0xabc
is ipoib "${plain[@]}" --pkey 0xffff
is ipoib $node002 $mds01 --pkey 0x8010
is 0 "${plain[@]}"
# The ULP name ipoib does not cover a partition without IPoIB.
sed -i '/pkey: 0x11, level/d' policy.yaml
reload || bad "refused: $(<reload)"
is 0 $node002 $mds01 --pkey 0x8011

# promise: S1
note "MultiPathRecord is answered from the same rules"
multi() {
	on_own "$sm_node" "$tools/pathquery" multi multipath sgid="$(gid "$1")" dgid="$(gid "$2")" "${@:3}" 2>&1 |
		sed -nE 's/.* tclass=([0-9a-fx]+).*/\1/p'
}
for ((i = 0; i < ${#names[@]}; i++)); do declare "id_${names[i]//-/_}=$((100 + i))"; done
# shellcheck disable=SC2154 # declared above
{
	expect "by Service-ID" "$id_nvme_of_at" $(($(multi $login01 $oss01_2 service-id=$((tcp + 4420)))))
	expect "by QoS-Class" "$id_qos_classes" $(($(multi "${plain[@]}" qos-class=4095)))
	expect "by TClass" "$id_tclasses" $(($(multi "${plain[@]}" tclass=20)))
	expect "by none" 0 $(($(multi "${plain[@]}")))
}

# promise: P2 P4
note "default levels"
cat >policy.yaml <<END
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, level: of-default}
  red: {pkey: 0x10, members: [0x$node001, 0x$node002], level: red}
  blue: {pkey: 0x11, members: [0x$node001, 0x$node002]}
qos-levels:
  default: {sl: 0, tclass: 1, rate-limit: 20}
  of-default: {sl: 0, tclass: 2}
  red: {sl: 0, tclass: 3, mtu-limit: 1024}
  only-red: {sl: 0, tclass: 4, pkey: 0x10}
match-rules:
  - {qos-class: 1, level: red}
  - {qos-class: 2, level: only-red}
END
reload || bad "refused: $(<reload)"
expect "a partition's level" "sl=0 mtu=3 rate=12 life=18 tclass=3" "$(ask $node001 $node002 --pkey 0x8010)"
expect "a partition without one: default" "sl=0 mtu=4 rate=6 life=18 tclass=1" \
	"$(ask $node001 $node002 --pkey 0x8011)"
expect "the default partition's" 2 "$(level $node001 $node002 --pkey 0xffff)"
expect "no P_Key: the first that both have" 2 "$(level $node001 $node002)"
expect "a rule comes before" 3 "$(level $node001 $node002 --pkey 0x8011 --qos_class 1)"
expect "a level for a P_Key" 4 "$(level $node001 $node002 --pkey 0x8010 --qos_class 2)"
expect "a level for another P_Key" none "$(level $node001 $node002 --pkey 0x8011 --qos_class 2)"
expect "a level for a P_Key that they don't share" none "$(level $node010 $node002 --qos_class 2)"
on "$sm_node" saquery PR --sgid "$(gid $node001)" --dgid "$(gid $node002)" --qos_class 2 >answer 2>&1
expect_match "its P_Key is in the record" 'pkey\.+0x8010' "$(<answer)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: P2 P5
note "path bits"
stop_sim
rm -rf state
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  b0: {sl: 0, path-bits: 0}
  b1: {sl: 0, path-bits: 1, tclass: 11}
  b2: {sl: 0, path-bits: 2}
  b3: {sl: 0, path-bits: 3}
match-rules:
  - {qos-class: 10, level: b0}
  - {qos-class: 11, level: b1}
  - {qos-class: 12, level: b2}
  - {qos-class: 13, level: b3}
END
echo "lmc: 2" >qosd.yaml
start_sim "$topology"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
base_s=$(port_info "$sm_node" 0x$node017 1 Lid) base_d=$(port_info "$sm_node" 0x$oss01_1 1 Lid)
routes=()
for bits in 0 1 2 3; do
	on "$sm_node" saquery PR --sgid "$(gid $node017)" --dgid "$(gid $oss01_1)" --qos_class 1$bits >answer 2>&1
	s=$(sed -nE 's/^[[:space:]]*slid\.+([0-9a-fx]+)$/\1/p' answer | head -n 1)
	d=$(sed -nE 's/^[[:space:]]*dlid\.+([0-9a-fx]+)$/\1/p' answer | head -n 1)
	expect "LIDs of a path with bits $bits" "$((base_s + bits)) $((base_d + bits))" "$((s)) $((d))"
	on "$sm_node" ibtracert "$((s))" "$((d))" >trace 2>&1 || bad "ibtracert: $(tail -n 2 trace)"
	expect_match "the trace ends at oss01" "-> ca port \{0x$oss01_1\}" "$(<trace)"
	routes[bits]=$(sed -nE 's/^\[([0-9]+)\] -> switch port (\{[^}]*\}\[[0-9]+\]).*/\1 \2/p' trace | xargs)
	[ "$bits" != 1 ] || expect_match "TClass of the level" 'tclass\.+0xB' "$(<answer)"
done
expect "routes of four LIDs that differ" 4 "$(printf '%s\n' "${routes[@]}" | sort -u | wc -l)"
stop_qosd || bad "exit status $? after SIGTERM"

if [ "$simulator" != ibsim ]; then
	# promise: S3
	note "no more than the links can"
	stop_sim
	rm -rf state
	cat >profiles.yaml <<'END'
profiles:
  small: {mtu: 1024}
  slow: {speeds: [sdr, ddr]}
nodes:
  - {name: "node017 *", profile: small}
  - {name: "node018 *", profile: slow}
END
	printf 'qos-levels:\n  default: {sl: 0, mtu-limit: 4096, rate-limit: 200}\n' >policy.yaml
	sim_options=(--profiles profiles.yaml)
	start_sim "$topology"
	start_and_wait "$sm_node" -p policy.yaml
	expect_match "MTU of a port that has less" 'mtu=3 rate=16 ' "$(ask $gpu01 $node017)"
	expect_match "MTU from it" 'mtu=3 rate=16 ' "$(ask $node017 $gpu01)"
	expect_match "rate of a port that has less" 'mtu=[45] rate=6 ' "$(ask $gpu01 $node018)"
	stop_qosd || bad "exit status $? after SIGTERM"
fi
