#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl explain` against the wire: each field is equal in a client's answer, and
# the obstacles that `explain --why-not` names are the real ones.  Also tests the shares
# of `bandwidth` against shares computed by hand from the tables in the devices.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001, FDR
machines=("$sm_node" "$from")
node001=$(gid f452140300811231)
gpu01=$(gid 248a070300a25dd1)
oss01=$(gid 248a070300a25ead)
oss02=$(gid 248a070300a25ec1)
src="node001 HCA-1/P1" dst="oss01 mlx5_0/P1"

cat >policy.yaml <<'END'
port-groups:
  hosts: {port-names: ["node* HCA-1/P1", "node* mlx5_0/P1"]}
  oss: {port-guids: 0x248a070300a25ead-0x248a070300a25eae}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}}
  tenant: {pkey: 0x12, members: {hosts: limited, oss: limited}, level: bits}
  storage: {pkey: 0x13, members: {hosts: limited, oss: full}, level: service}
qos-levels:
  default: {sl: 0}
  service: {sl: 1, mtu-limit: 1024, rate-limit: 20, packet-lifetime: 10, tclass: 9}
  bits: {sl: 2, path-bits: 1}
  cut: {sl: 9}
  cut-late: {sl: 11}
  keyed: {sl: 3, pkey: 0x12}
match-rules:
  - {source: hosts, destination: oss, service-id: [22, 0x1000-0x1fff], level: service}
  - {qos-class: 100, level: cut}
  - {qos-class: 101, level: cut-late}
  - {qos-class: 102, level: keyed}
  - {qos-class: 103, level: bits}
  - {ulp: lustre, level: service}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 0, 15, 2, 3, 0, 1, 0, 15]}
    # SL 11 is dropped on the last hop to the storage servers only.
    - {across: oss, table: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 15, 0, 1, 0, 15]}
  vlarb:
    - {group: all, high: "3:255", low: ["0:96", "1:32", "2:64"], high-limit: 0}
END
echo "lmc: 1" >qosd.yaml
start_sim "$topology"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml

# --- one query, explained and sent ---

# in_codes: converts explain's JSON on standard input to the codes and format of of_wire().  For a
# query for one path, the first path appears twice.
in_codes() {
	tr -d '\n' | grep -oE '"slid": [^{}]*"preference": [0-9]+' | awk '
	BEGIN {
		split("2.5 2 10 3 30 4 5 5 20 6 40 7 60 8 80 9 120 10 14 11 56 12 25 15 100 16", r)
		for (i = 1; i in r; i += 2) rate[r[i] + 0] = r[i + 1]
	}
	function log2(x) { return int(log(x) / log(2) + 0.5) }
	{
		gsub(/[",:]/, " ")
		for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
		printf "dlid=0x%x slid=0x%x tclass=%d reversible=%d pkey=0x%x sl=%d mtu=%d rate=%d life=%d\n",
			v["dlid"], v["slid"], v["tclass"], v["reversible"] == "true", v["pkey"],
			v["sl"], log2(v["mtu"]) - 7, rate[v["rate"] + 0], log2(v["lifetime"] / 4.096e-6)
	}'
}
# paths_of: the same for a query for one path, without the repetition.
paths_of() { in_codes | tail -n +2; }
# of_wire: prints the same fields from pathquery's output.
of_wire() {
	sed -nE 's/.* (dlid=\S+ slid=\S+) .* (tclass=\S+ reversible=\S+) .* (pkey=\S+) .* (sl=\S+) .* (mtu=\S+) .* (rate=\S+) .* (life=\S+).*/\1 \2 \3 \4 \5 \6 \7/p'
}
# same_paths WHAT "CTL OPTIONS" FIELD...: explain and a GetTable query must give the same paths, as far
# as they fit one MAD.
same_paths() {
	local what=$1 options=$2
	shift 2
	# shellcheck disable=SC2086 # options are words
	ctl -j explain "$src" "$dst" $options >explain || bad "$what: explain fails"
	on_own "$from" "$tools/pathquery" table path sgid="$node001" dgid="$oss01" "$@" >wire 2>&1
	of_wire <wire >wire.paths
	paths_of <explain >explain.paths
	[ -s wire.paths ] || bad "$what: nothing on the wire: $(<wire)"
	head -n "$(wc -l <wire.paths)" explain.paths >explain.first
	expect_same "$what" wire.paths explain.first
	on_own "$from" "$tools/pathquery" get path sgid="$node001" dgid="$oss01" "$@" 2>&1 | of_wire >wire.get
	head -n 1 explain.paths >explain.first
	expect_same "$what, a Get" wire.get explain.first
}

note "paths"
same_paths "no field" ""
expect "pairs of LIDs with LMC 1" 4 "$(wc -l <explain.paths)"
same_paths "Service-ID" "--service-id 22" service-id=22
expect_match "its SL, MTU and rate" "tclass=9 .* sl=1 mtu=3 rate=6 life=10" "$(head -n 1 explain.paths)"
same_paths "path bits" "--qos-class 103" qos-class=103
expect "pairs of LIDs with path bits" 1 "$(wc -l <explain.paths)"
same_paths "MTU and rate" "--mtu <2048 --rate <=20" mtu-sel=1 mtu=4 rate-sel=1 rate=15
same_paths "MTU of at least" "--mtu >=1024 --rate best" mtu-sel=0 mtu=2 rate-sel=3 rate=2
same_paths "lifetime, TClass" "--lifetime <=500ms --tclass 5" life-sel=1 life=17 tclass=5
same_paths "SL and P_Key" "--sl 0 --pkey 0xffff --reversible" sl=0 pkey=0xffff reversible=1
same_paths "a partition's level" "--pkey 0x8013" pkey=0x8013
expect_match "its SL and P_Key" "pkey=0x8013 sl=1" "$(head -n 1 explain.paths)"
expect_match "why" '"level-by": "partition"' "$(<explain)"
same_paths "number of paths" "--numb-path 1" numb-path=1
expect "paths, one wanted" 1 "$(wc -l <explain.paths)"
lid=$(port_info "$from" 0xf452140300811231 1 Lid)
same_paths "a LID" "--slid $((lid + 1))" slid=$((lid + 1))
expect "explain by GUID and LID" "$(ctl -j explain "$src" "$dst" | paths_of)" \
	"$(ctl -j explain 0xf452140300811231 "$(port_info "$from" 0x248a070300a25ead 1 Lid)" | paths_of)"
expect "what saquery gets" "sl=1 mtu=3 rate=6 life=10 tclass=9" \
	"$(record "$from" --sgid "$node001" --dgid "$oss01" --service_id 22)"

# promise: O5 O3
note "names of hosts and protocols"
expect "by host" "$(ctl -j explain "$src" "node002 HCA-1/P1" | paths_of)" "$(ctl -j explain node001 "node002 HCA-1" | paths_of)"
expect "a host of two ports" 1 "$(ctl explain node001 oss01 >out 2>&1; echo $?)"
expect_match "why" "oss01: several ports have this name" "$(<out)"
expect "a typing error" 1 "$(ctl explain nod001 node002 >out 2>&1; echo $?)"
expect_match "what is meant" 'nod001: no such port \(did you mean "node001"\?\)' "$(<out)"
ctl -j explain "$src" "$dst" --ulp lustre >explain
expect "level of Lustre" service "$(jq -r .level explain)"
expect "what saquery gets for its Service-ID" "sl=1 mtu=3 rate=6 life=10 tclass=9" \
	"$(record "$from" --sgid "$node001" --dgid "$oss01" --service_id "$(jq -r '."service-id"' explain)")"
expect "level of another ULP" default "$(ctl -j explain "$src" "$dst" --ulp nvme-of | jq -r .level)"
expect "level of another port" default "$(ctl -j explain "$src" "$dst" --ulp lustre --tcp-port 988 | jq -r .level)"
ctl explain "$src" "$dst" --ulp nothing >out 2>&1 && bad "a ULP that is none"
expect_match "which there are" "it must be ipoib, sdp, .*lustre" "$(<out)"

# promise: O5
note "an SL that a program chose itself"
# own_vls SL: prints the VL at each hop that has a link, as explain says.
own_vls() { ctl -j explain "$src" "$dst" --sl "$1" | jq -r '[."own-sl".hops[] | select(.why) | .vl] | join(" ")'; }
expect_match "VLs of SL 5" '^1( 1)+$' "$(own_vls 5)"
expect_match "VLs of SL 3" '^3( 3)+$' "$(own_vls 3)"
expect_match "VLs of SL 11" '^3( 3)* 15$' "$(own_vls 11)"
expect "VL of SL 5 in the switch's table" 1 "$(sl2vl "$from" 0xf45214030090a3c0 30 1 | awk '{ print $6 }')"
ctl explain "$src" "$dst" --sl 3 >explain
expect_match "whose SL it is" "a program that chooses SL 3 itself, the SL of keyed:" "$(<explain)"
expect_match "why" " 0  SL2VL maps it to VL 3, weight 255 of 255 in the table of high priority; of the levels cut-late, keyed" "$(<explain)"
ctl explain "$src" "$dst" --sl 11 >explain
expect_match "that it is lost" "chooses SL 11 itself, the SL of cut-late: its packets do not arrive:" "$(<explain)"
expect_match "where" "SL2VL maps it to VL 15: it is dropped" "$(<explain)"

note "several ends"
on_own "$from" "$tools/pathquery" multi multipath sgid="$node001" sgid="$gpu01" dgid="$oss01" \
	dgid="$oss02" qos-class=101 numb-path=2 2>&1 | of_wire >wire.paths
ctl -j explain "$src,gpu01 mlx5_0/P1" "$dst,oss02 mlx5_0/P1" --multipath --qos-class 101 \
	--numb-path 2 >explain
in_codes <explain >explain.paths
[ -s wire.paths ] || bad "no paths on the wire"
expect_same "MultiPathRecord" wire.paths explain.paths
expect_match "a pair without" "dropped on the route" "$(<explain)"

# --- reasons ---

# not WHAT "REASONS" "CTL OPTIONS" "WORDS" FIELD...: the SA must refuse the query, and explain must give these
# reasons.
not() {
	local what=$1 reasons=$2 options=$3 words=$4
	shift 4
	# shellcheck disable=SC2086 # options are words
	ctl -j explain "$src" "$dst" --why-not $options >why || bad "$what: explain fails"
	expect "$what" "$reasons" "$(sed -nE 's/.*"reason": "([^"]*)".*/\1/p' why | xargs)"
	expect_match "$what, in words" "$words" "$(<why)"
	expect "$what, on the wire" "${refusal:-status=0x0300}" \
		"$(on_own "$from" "$tools/pathquery" get path sgid="$node001" dgid="$oss01" "$@" 2>&1)"
}

note "why not"
not "P_Key" pkey "--pkey 0x8012" "0x8012" pkey=0x8012
not "two limited members" "pkey" "--pkey 0x0012" "0x0012" pkey=0x0012
not "the level's P_Keys" level-pkey "--qos-class 102" "0x0012" qos-class=102
not "SL asked for" sl-asked "--sl 7" "level default has SL 0" sl=7
not "dropped at the source" sl-dropped "--qos-class 100" "hop 0" qos-class=100
not "dropped late" sl-dropped "--qos-class 101" "hop 3, MF0;leaf05.*VL 15" qos-class=101
not "MTU" mtu "--mtu >2048" "the maximum is 2048" mtu-sel=0 mtu=4
not "rate" rate "--rate 100" "the maximum is 56 Gb/s: hop 0" rate-sel=2 rate=16
not "rate of the level" rate "--service-id 22 --rate >20" "limit of level service" \
	service-id=22 rate-sel=0 rate=6
not "lifetime" lifetime "--lifetime >=2s" "1.07 s" life-sel=0 life=18
not "all at once" "pkey sl-asked sl-dropped mtu" "--pkey 0x8012 --sl 3 --qos-class 101 --mtu >2048" \
	'"without": \[' pkey=0x8012 sl=3 qos-class=101 mtu-sel=0 mtu=4
bits=$(port_info "$from" 0x248a070300a25ead 1 Lid)
not "path bits" path-bits "--qos-class 103 --dlid $bits" "path bits 1" qos-class=103 dlid="$bits"
other=$(port_info "$from" 0x248a070300a25dd1 1 Lid)
refusal=status=0x0200 not "a LID of another port" lid "--slid $other" "not $other" slid="$other"
not "a LID of nobody" lid "--slid 4000" "not 4000" slid=4000
expect_match "it says so where there is a path" "the query gets a path" \
	"$(ctl explain "$src" "$dst" --why-not)"
ctl explain "$src" nobody --why-not >why || bad "exit status of why-not"
expect_match "nobody" "nobody: no such port" "$(<why)"
expect "nobody, on the wire" "status=0x0500" "$(on_own "$from" "$tools/pathquery" get path \
	sgid="$node001" dgid="$(gid 0000000000001234)" 2>&1)"
# The path from a server drops nothing, the path to it drops SL 11.
expect_match "not reversible" "way back SL 11 is dropped at hop 3" \
	"$(ctl explain "$dst" "$src" --why-not --qos-class 101 --reversible)"
expect "not reversible, on the wire" "status=0x0300" "$(on_own "$from" "$tools/pathquery" get path \
	sgid="$oss01" dgid="$node001" qos-class=101 reversible=1 2>&1)"
ctl explain "$src" "$dst" --why-not --qos-class 101 --sl 3 >why
expect_match "what helps" "without --sl and --qos-class: level default" "$(<why)"
expect_match "and it does" "sl=0 " "$(record "$from" --sgid "$node001" --dgid "$oss01")"

# --- bandwidth ---

# promise: B1
note "bandwidth"
# High table: VL 3, limit 0, so one high packet goes before each low one.  Low table: VL 0 sends three
# packets of 2048 bytes (96 * 64), VL 1 two of 1024 (32 * 64), VL 2 two of 2048 (64 * 64).  A cycle has
# 7 low packets: 6144 + 2048 + 4096 low bytes and 7 * 2048 high bytes.
expect_match "the low table in the device" "VL.*0x0.*0x1.*0x2.*WEIGHT.*0x60.*0x20.*0x40" \
	"$(on "$from" smpquery -G vlarb 0xf452140300811231 1 2>&1 | tr '\n' ' ')"
want=$(awk 'BEGIN { t = 6144 + 2048 + 4096 + 7 * 2048
	printf "%.4f %.4f %.4f %.4f", 6144 / t, 2048 / t, 4096 / t, 7 * 2048 / t }')
shares() { sed -nE 's/^ *"share": ([0-9.]+),?$/\1/p' | xargs printf '%.4f ' | sed 's/ $//'; }
expect "shares at a port" "$want" "$(ctl -j bandwidth "$src" | shares)"
# The degraded link is the only one of its kind: 1x SDR, 2 Gb/s of data.
ctl bandwidth >kinds || bad "bandwidth fails"
expect "Gb/s of the default level on the slowest kind of link" \
	"$(awk -v s="${want%% *}" 'BEGIN { printf "%.3f", s * 2 }')" \
	"$(awk '/ 2.5 Gb.s .data 2., / { mine = 1 } mine && $NF == "default" { printf "%.3f", $5; exit }' kinds)"
expect_match "what deviates" "runs at 2.5 Gb/s" "$(ctl bandwidth)"
ctl bandwidth "$src" "$dst" --level service >route || bad "bandwidth of a route fails"
expect_match "bottleneck" "by hop 0" "$(<route)"
expect "a level that is not there" 1 "$(ctl bandwidth --level nil >out 2>&1; echo $?)"
expect "html where it can't be written" 1 "$(ctl bandwidth --html "$work/none/x.html" >out 2>&1; echo $?)"

# promise: O15
note "who"
ctl who oss01 >out || bad "who fails: $(<out)"
for line in '^oss01 mlx5_0$' '^  ca 0x248a070300a25eac, [0-9]+ hops from the subnet manager$' \
	'^  port 1: active, LID [0-9]+, 4xEDR, MTU 2048, [0-9]+ VLs, to MF0;leaf05:SB7700/U1/P[0-9]+ ' \
	'^    partition tenant, P_Key 0x0012, limited member, level bits$' \
	'^    partition storage, P_Key 0x0013, full member, level service$' '^    groups of the policy: oss$' \
	'^    rule 1 \(line 16\): level service$'; do
	grep -qE "$line" out || bad "nothing like '$line' in: $(<out)"
done
expect "rules, those for everybody left out, of both ports" 2 "$(grep -c '^    rule ' out)"
expect "a port by its LID" "oss01 mlx5_0" \
	"$(ctl who "$(ctl -j who oss01 | jq '.nodes[0].ports[0].lid')" | head -n 1)"
expect "nobody" 1 "$(ctl who os01 >out 2>&1; echo $?)"
expect_match "who may be meant" 'os01: no such node \(did you mean "oss01"' "$(<out)"

note "the page"
ctl bandwidth --html page.html || bad "no page"
expect "left behind" "" "$(ls page.html.new 2>/dev/null)"
expect_match "all levels" "default.*service.*bits.*cut-late.*keyed" "$(tr '\n' ' ' <page.html)"
expect "bundles that deviate" 1 "$(grep -c 'stroke="#d62728"' page.html)"
expect "anything from elsewhere" "" "$(grep -oE '(src|href)=[^ ]*|<script' page.html)"
if command -v xmllint >/dev/null; then
	expect "xmllint" "" "$(xmllint --noout page.html 2>&1)"
else
	note "xmllint (libxml2-utils) is not here: the page's form is not checked"
fi
ctl bandwidth --html drawing.svg || bad "no drawing"
expect_match "the drawing" "^<svg .*</svg>$" "$(tr '\n' ' ' <drawing.svg | sed 's/ $//')"
expect "links of the drawing that deviate" 1 "$(grep -c 'stroke="#d62728"' drawing.svg)"
expect_match "shares of the drawing" "default.*service.*bits.*cut-late.*keyed" "$(tr '\n' ' ' <drawing.svg)"
! command -v xmllint >/dev/null || expect "xmllint, the drawing" "" "$(xmllint --noout drawing.svg 2>&1)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

note "names that are hostile"
rm -rf state
sed "s|MF0;leaf02:SX6036/U1|<b>\&amp; ]]>'|g" "$topology" >hostile.topo
start_sim hostile.topo
start_and_wait "$sm_node" -p policy.yaml
ctl bandwidth --html page.html || bad "no page of hostile names"
! command -v xmllint >/dev/null || expect "xmllint, hostile names" "" "$(xmllint --noout page.html 2>&1)"
expect_match "the name" "&#60;b&#62;&#38;amp; \]\]&#62;&#39;" "$(<page.html)"
expect "names as markup" 0 "$(grep -c '<b>' page.html)"
stop_qosd || bad "exit status $? after SIGTERM"
