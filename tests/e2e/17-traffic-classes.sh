#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that the tables smpquery reads from CAs and switches give each traffic class its
# share.  The test has its own arbiter (IBA 7.6.9): it computes the shares from the tables
# and the MTU of the link and compares them with the policy.  Covers ports with fewer VLs,
# more classes than VLs, ports with explicit tables, and refused policies.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
machines=("$node")
leaf05=0x7cfe900300b43180 mds=0x248a070300a25e99
# One port of each kind: FDR, EDR, QDR and the router; the second port of a CA; leaf ports to
# hosts and to spines; both ends of the degraded link.
some="0xf452140300811231/1 0x248a070300a25c41/1 0x248a070300a25eae/2 0x0002c903000e83b1/1
	0x0002c903000f1a61/1 $leaf05/0 $leaf05/2 $leaf05/31 0xf45214030090a440/1
	0xf45214030090a440/31 0x7cfe900300b41a20/7 0x7cfe900300b41a20/17"

# --- reading ---

# linked_in GUID: prints port 0 and the switch's ports with a cable, as "|0|1|2|".
linked_in() {
	awk -v want="S-${1#0x}" '/^(Switch|Ca|Rt)/ { on = index($0, "\"" want "\"") }
		on && /^\[/ { list = list (substr($0, 2) + 0) "|" } END { print "|0|" list }' "$topology"
}
all_ports() {
	awk '/^(Switch|Ca|Rt)/ { guid = $1 == "Switch" ? substr($3, 4, 16) : "" }
		/^\[/ {
			match($0, /^\[[0-9]+\](\([0-9a-f]+\))?/)
			split(substr($0, RSTART + 1, RLENGTH - 1), part, /[]()]+/)
			print "0x" (guid != "" ? guid : part[2]) "/" part[1]
		}' "$topology"
}
# maps GUID PORT: prints the distinct SL-to-VL tables to the port from all cabled ports, with commas
# between VLs.
maps() {
	local kind=ca out=$2
	grep -q "\"S-${1#0x}\"" "$topology" && kind=switch
	[ $kind = switch ] || out=0
	on "$node" smpquery -G sl2vl "$1" "$out" 2>&1 |
		awk -v linked="$(linked_in "$1")" -v kind=$kind -v out="$out" '
			/^ports: in/ {
				in_port = $3 + 0
				# not from the port itself; for a CA the input port is 0
				if (kind == "switch" && (in_port == out || !index(linked, "|" in_port "|")))
					next
				sub(/^[^|]*\|/, ""); gsub(/ /, ""); sub(/\|$/, ""); gsub(/\|/, ",")
				print
			}' | sort -u
}
# scan PORT...: prints "PORT MTU VLS CAP LIMIT LOW HIGH MAP..." for each port, "-" for an empty list.
scan() {
	local port guid number info arb
	for port; do
		guid=${port%/*} number=${port#*/}
		info=$(on "$node" smpquery -G portinfo "$guid" "$number" 2>&1 |
			awk -F: '{ gsub(/\./, "", $2); sub(/^VL0-?/, "", $2); v[$1] = $2 == "" ? 0 : $2 }
				END { print v["NeighborMTU"], v["OperVLs"] + 1, v["VLCap"] + 1, v["VLHighLimit"] }')
		arb=$(vlarb "$node" "$guid" "$number" | sed -E 's/^low:(.*) high:(.*)$/\1;\2/; s/ 0:0\b//g' |
			awk -F';' '{ for (i = 1; i <= 2; i++) { sub(/^ /, "", $i); gsub(/ /, ",", $i) }
				print ($1 == "" ? "-" : $1), ($2 == "" ? "-" : $2) }')
		echo "$port $info ${arb:-? ?} $(maps "$guid" "$number" | xargs)"
	done
}

# --- checking ---

# judge FILE LIMIT CLASS...: prints what is wrong with the ports in FILE, one fault a line.
# CLASS is SL[,SL]:low|high:SHARE.  SHARE is in per cent: a low class's of what high priority
# leaves, a high class's of the link; "-" for none.  LIMIT is the limit of high priority, which
# ibsim does not store.  A VL with several classes must have the sum of their shares.
judge() {
	local file=$1 limit=$2
	shift 2
	awk -v classes="$*" -v limit="$limit" -v kept="$([ "$simulator" = ibsim ] || echo 1)" '
		function wrong(what) { print at ": " what }
		# Expands a table to the number of packets that each entry sends in its turn.
		function entries(list, vl, weight, to_vl,  i, n, part, pair, units) {
			n = list == "-" ? 0 : split(list, part, ",")
			units = mtu / 64
			for (i = 1; i <= n; i++) {
				split(part[i], pair, ":")
				vl[i] = pair[1]; weight[i] = pair[2]
				if (pair[2] % units)
					wrong("weight " pair[2] " is no multiple of the MTU, " mtu)
				if (pair[2])
					to_vl[pair[1]] = 1
				if (pair[1] >= vls)
					wrong("VL " pair[1] " in a table of a link with " vls)
			}
			return n
		}
		# Arbitrates packet by packet, all packets being of one MTU; returns got[VL] in per cent.
		# Results are cached, because most ports have the same tables as another.
		function run(nh, got,  as, n, list, sent, high, v, h, l, hleft, lleft, credit) {
			for (v in got) delete got[v]
			as = mtu " " limit " " $6 " " (nh ? $7 : "-")
			if (as in ran) {
				n = split(ran[as], list, " ")
				for (v = 1; v < n; v += 2) got[list[v]] = list[v + 1]
				return
			}
			h = l = 1
			hleft = nh ? hweight[1] * 64 : 0; lleft = nl ? lweight[1] * 64 : 0
			credit = limit ? limit * 4096 : 1
			for (sent = 0; sent < 20000; sent++) {
				high = nh && (limit == 255 || credit > 0 || !nl)
				if (high) {
					while (hleft <= 0) { h = h % nh + 1; hleft = hweight[h] * 64 }
					got[hvl[h]]++; hleft -= mtu; credit -= mtu
				} else if (nl) {
					while (lleft <= 0) { l = l % nl + 1; lleft = lweight[l] * 64 }
					got[lvl[l]]++; lleft -= mtu
					credit = limit ? limit * 4096 : 1
				}
			}
			for (v in got) {
				got[v] *= 100 / sent
				ran[as] = ran[as] v " " got[v] " "
			}
		}
		function off(a, b) { return a - b > 2 || b - a > 2 }
		BEGIN {
			n = split(classes, class, " ")
			for (c = 1; c <= n; c++) {
				split(class[c], part, ":")
				nsl[c] = split(part[1], list, ",")
				for (i = 1; i <= nsl[c]; i++) sl[c, i] = list[i]
				high[c] = part[2] == "high"; share[c] = part[3]
				if (high[c] && share[c] != "-") of_high += share[c]
				if (high[c] && share[c] == "-") first = 1
			}
		}
		{
			at = $1; mtu = $2; vls = $3; ports++
			if (NF != 8) { wrong(NF - 7 " SL2VL tables: " $0); next }
			delete in_low; delete in_high; delete on; delete members; delete asked; delete any_high
			delete any_low
			nl = entries($6, lvl, lweight, in_low); nh = entries($7, hvl, hweight, in_high)
			# the limit must be the policy limit, if there is one
			if (kept && nh && limit != "" && $5 != limit) wrong("limit " $5 ", not " limit)
			split($8, map, ",")	# map[SL + 1]
			used = 0
			for (c = 1; c <= n; c++) {
				v = map[sl[c, 1] + 1]
				for (i = 2; i <= nsl[c]; i++)
					if (map[sl[c, i] + 1] != v) wrong("SLs of class " c " on VLs " v " and " map[sl[c, i] + 1])
				if (!(v in members)) used++
				members[v] = members[v] " " c
				if (high[c]) any_high[v]; else { any_low[v]; asked[v] += share[c] }
			}
			if (used != (vls < n ? vls : n)) wrong(used " VLs for " n " classes, where there are " vls)
			for (s = 0; s < 15; s++) {
				v = map[s + 1]
				if (v >= vls) wrong("SL " s " on VL " v " of " vls)
				else if (vls > 1 && !(v in in_low) && !(v in in_high))
					wrong("SL " s " on VL " v ", which no table serves")
			}
			if (vls == 1) next
			for (v in any_high) {
				if (!(v in in_high)) wrong("VL " v " of high priority is not in the high table: " $7)
				if (v in any_low) wrong("VL " v " has classes of both priorities:" members[v])
			}
			for (v in any_low)
				if (v in in_high) wrong("VL " v " of low priority is in the high table: " $7)
			run(0, got)	# high priority has nothing to send
			for (v in any_low)
				if (!of_high && off(got[v], asked[v]))
					wrong("VL " v " gets " got[v] " %, not " asked[v] ":" members[v])
			if (of_high) {
				for (v in asked) delete asked[v]
				for (c = 1; c <= n; c++)
					asked[map[sl[c, 1] + 1]] += high[c] ? share[c] : share[c] * (100 - of_high) / 100
				if (kept) limit = $5
			}
			if (of_high && limit != "") {
				run(nh, got)
				for (v in asked)
					if (off(got[v], asked[v]))
						wrong("VL " v " of all gets " got[v] " %, not " asked[v] ":" members[v])
			}
		}
		END { if (!ports) print "no ports" }' "$file"
}
# sharers FILE PORT SL...: prints which of the SLs share a VL at the port, as "1,2 3 4".
sharers() {
	awk -v want="$2" -v sls="${*:3}" '$1 == want {
		n = split($8, map, ","); m = split(sls, s, " ")
		for (i = 1; i <= m; i++) {
			v = map[s[i] + 1]
			if (!(v in on)) order[++k] = v
			on[v] = on[v] (on[v] == "" ? "" : ",") s[i]
		}
		for (i = 1; i <= k; i++) line = line (i > 1 ? " " : "") on[order[i]]
		print line
	}' "$1"
}

# up [OPTION...]: starts qosd with policy.yaml on a fresh simulator.
up() {
	[ -z "${sim:-}" ] || { stop_qosd || bad "exit status $? after SIGTERM"; stop_sim; }
	rm -rf state
	start_sim "$topology"
	start_and_wait "$node" -p policy.yaml "$@"
}
# clean: the auditor of qosd-sim must find nothing.
clean() { [ "$simulator" = ibsim ] || sim_do check; }
findings() { ctl -j status | grep '"text":' | grep -v ': runs at '; }
wrong_ports() { judge "$@" | head -n 5; }

# promise: B3
note "shares at low priority, one class first"
cat >policy.yaml <<'END'
qos-levels:
  default:
  normal:  {packet-lifetime: 18}
  storage: {mtu-limit: 2048, rate-limit: 40}
  latency:
  urgent:  {sl: 2}
traffic-classes:
  - {level: [latency, urgent], priority: high, high-limit: 40KiB}
  - {level: storage, share: 50%}
  - {level: normal,  share: 30%}
  - {level: default, share: 20%}
match-rules:
  - {service-id: 22, level: storage}
END
up
# SLs that the plan assigns: default 0, latency 1, storage 3, normal 4; the policy gives urgent SL 2.
classes=("1,2:high:-" 3:low:50 4:low:30 0:low:20)
# All ports on qosd-sim; on ibsim, which answers more slowly, one port of each kind.
if [ "$simulator" = qosd-sim ]; then
	# shellcheck disable=SC2046 # a list
	scan $(all_ports) >ports
	expect "ports read" "$(linked_ports "$topology")" "$(wc -l <ports)"
else
	# shellcheck disable=SC2086 # a list
	scan $some >ports
fi
expect "ports that are wrong" "" "$(wrong_ports ports 10 "${classes[@]}")"
expect "findings" "" "$(findings)"
expect "SLs that share a VL, on a CA and in the middle" "0 1,2 3 4, 0 1,2 3 4" \
	"$(sharers ports 0xf452140300811231/1 0 1 2 3 4), $(sharers ports 0x7cfe900300b41a20/17 0 1 2 3 4)"
expect "VLs of a link" 4 "$(awk -v p=$leaf05/2 '$1 == p { print $3 }' ports)"
clean

# promise: S4
note "every SL is served at every hop"	# for MPI, which does not query the SA
# hops FROM-LID TO-LID: prints "GUID/IN GUID/OUT" for each switch on the path.
hops() {
	on "$node" ibtracert "$1" "$2" 2>/dev/null | awk '
		/-> switch port/ {
			match($0, /^\[[0-9]+\]/); out = substr($0, 2, RLENGTH - 2)
			if (at != "") print at, out
			match($0, /\{0x[0-9a-f]+\}\[[0-9]+\]/)
			split(substr($0, RSTART + 1, RLENGTH - 2), part, /\}\[/)
			at = part[1] " " part[2]
		}
		/-> ca port/ { match($0, /^\[[0-9]+\]/); print at, substr($0, 2, RLENGTH - 2) }'
}
lid() { port_info "$node" "0x$1" "${2:-1}" Lid; }
walked=0
while read -r a b; do
	while read -r guid in out; do
		served=$(vlarb "$node" "$guid" "$out" | grep -oE '[0-9]+:[1-9][0-9]*' | cut -d: -f1 | sort -un | xargs)
		lost=$(for vl in $(sl2vl "$node" "$guid" "$out" "$in" | cut -d' ' -f1-15); do
			[[ " $served " == *" $vl "* ]] || echo "$vl"
		done)
		expect "VLs not served from port $in of $guid to $out" "" "$lost"
		walked=$((walked + 1))
	done < <(hops "$(lid "$a")" "$(lid "$b")")
done <<'END'
f452140300811231 248a070300a25ead
248a070300a25c41 0002c903000e83b1
f4521403008112f1 248a070300a25dd1
END
expect "hops looked at" 9 "$walked"
# A client that queries the SA gets the SL of the class.
expect "the answer to a query that a rule matches" "sl=3 mtu=4 rate=7 life=18 tclass=0" \
	"$(record "$node" --sgid "$(gid f452140300811231)" --dgid "$(gid 248a070300a25ead)" --service_id 22)"

# promise: B3
note "high priority with a share"
cat >policy.yaml <<'END'
qos-levels: {default: {sl: 0}, a: {sl: 1}, b: {sl: 2}}
traffic-classes:
  - {level: a, priority: high, share: 60%}
  - {level: default, share: 25%}
  - {level: b, share: 75%}
END
up
# shellcheck disable=SC2086 # a list
scan $some >ports
limit=
if [ "$simulator" = qosd-sim ]; then
	limit=$(awk 'NR == 1 { print $5 }' ports)
	expect_less "limit of high priority" 255 "$limit"
fi
expect "ports that are wrong" "" "$(wrong_ports ports "$limit" 1:high:60 0:low:25 2:low:75)"
clean

# promise: B3
note "high priority with a share that no table can give"
sed -i 's/share: 60%/share: 20%/' policy.yaml
reload || bad "refused: $(<reload)"
expect_match "what qosd says" '"a\\" gets 50.00 % of the link instead of 20.00 %: high priority cannot be held below 50.00 % of a link' \
	"$(findings)"
ctl -j bandwidth >kinds
# levels default, a, b: what the policy says; the shares while all send; and those while "a" is idle
expect "asked, with high priority saturated, and idle" "25 20 75, 12.5 50 37.5, 25 - 75" "$(jq -r '
	def per_cent: if . == null then "-" else . * 1000 | round / 10 end;
	.kinds | map(select(.vls >= 3)) | .[0].levels | [map(.asked | per_cent), map(.share | per_cent),
	map(."share-idle" | per_cent)] | map(map(tostring) | join(" ")) | join(", ")' kinds)"
sed -i 's/share: 20%/share: 60%/' policy.yaml

# promise: B3
note "low priority may starve"
sed -i 's/share: 60%/high-limit: unlimited/' policy.yaml
up
# shellcheck disable=SC2086 # a list
scan $some >ports
expect "ports that are wrong, with a limit of 255" "" \
	"$(wrong_ports ports 255 1:high:- 0:low:25 2:low:75)"

# promise: B3
note "only low priority, shares left to be divided"
cat >policy.yaml <<'END'
qos-levels: {default: {sl: 0}, a: {sl: 5}, b: {sl: 9}, c: {sl: 14}, d: {sl: 3}}
traffic-classes:
  - {level: a, share: 37%}
  - {level: b, share: 19.5%}
  - {level: [c, d]}
  - {level: default}
END
up
# shellcheck disable=SC2086 # a list
scan $some >ports
shares=(5:low:37 9:low:19.5 "3,14:low:21.75" 0:low:21.75)
expect "ports that are wrong" "" "$(wrong_ports ports 0 "${shares[@]}")"

# promise: T1
note "fewer VLs by max-vls"
cat >>policy.yaml <<'END'
fabric-setup:
  defaults: {ca: {max-vls: 3}, router: {max-vls: 1}}
END
up
# shellcheck disable=SC2086 # a list
scan $some >ports
expect "ports that are wrong" "" "$(wrong_ports ports 0 "${shares[@]}")"
# IBA allows 1, 2, 4, 8 or 15 data VLs on a link.
expect "VLs: a CA, its switch, the router, between switches" "2 2 1 4" "$(awk -v leaf=$leaf05 '
	$1 == "0xf452140300811231/1" { a = $3 } $1 == leaf "/2" { b = $3 }
	$1 == "0x0002c903000f1a61/1" { c = $3 } $1 == leaf "/31" { d = $3 }
	END { print a, b, c, d }' ports)"
expect_match "what qosd says of 2 VLs" '2 data VLs for 4 traffic classes on the link of .*: .* on VL' "$(findings)"
expect_match "and of 1" '1 data VL for 4 traffic classes on the link of [^:]*(leaf06|ibrtr01).*neither shares nor priority' "$(findings)"
# severity TEXT: prints the severity of the finding with this text.
severity() { ctl -j status | grep -B4 -- "$1" | field severity; }
expect "severity: all classes on one VL, some on one" "warning info" \
	"$(severity '1 data VL for') $(severity '2 data VLs for')"
few=$(sharers ports 0xf452140300811231/1 0 3 5 9 14)
expect "who shares is equal at both ends and in other CAs" "$few, $few" \
	"$(sharers ports $leaf05/2 0 3 5 9 14), $(sharers ports 0x248a070300a25eae/2 0 3 5 9 14)"
clean

# promise: B3
note "more classes than VLs"
{
	echo "qos-levels:"
	for i in 0 1 2 3 4 5 6 7 8 9; do echo "  $([ $i = 0 ] && echo default || echo "l$i"): {sl: $i}"; done
	echo "traffic-classes:"
	echo "  - {level: l1, priority: high, high-limit: 8KiB}"
	echo "  - {level: l2, priority: high}"
	for i in default l3 l4 l5 l6 l7 l8 l9; do echo "  - {level: $i}"; done
} >policy.yaml
sed -i 's/level: l2, priority: high/&, high-limit: 8KiB/' policy.yaml
up
# shellcheck disable=SC2086 # a list
scan $some >ports
low=()
for i in 0 3 4 5 6 7 8 9; do low+=("$i:low:12.5"); done
expect "ports that are wrong" "" "$(wrong_ports ports 2 1:high:- 2:high:- "${low[@]}")"
expect_match "what qosd says" '8 data VLs for 10 traffic classes' "$(findings)"
clean

if [ "$simulator" = qosd-sim ]; then
	# promise: B3
	note "devices with fewer VLs and entries"
	cat >profiles.yaml <<'END'
profiles:
  two:  {vl-cap: 2}
  four: {vl-cap: 4, vlarb-low: 4, vlarb-high: 2}
  one:  {vl-cap: 1}
  small: {mtu: 1024}
nodes:
  - {name: "node00[1-4] *", profile: two}
  - {name: "oss01 *", profile: four}
  - {name: "srp01 *", profile: one}
  - {name: "node017 *", profile: small}
END
	cat >policy.yaml <<'END'
qos-levels: {default: {sl: 0}, a: {sl: 1}, b: {sl: 2}, c: {sl: 3}, d: {sl: 4}}
traffic-classes:
  - {level: d, priority: high, high-limit: 4KiB}
  - {level: a, share: 40%}
  - {level: b, share: 30%}
  - {level: default, share: 20%}
  - {level: c, share: 10%}
END
	sim_options=(--profiles profiles.yaml)
	up
	# shellcheck disable=SC2086 # a list
	scan $some >ports
	expect "ports that are wrong" "" "$(wrong_ports ports 1 4:high:- 1:low:40 2:low:30 0:low:20 3:low:10)"
	expect "VLs of 2, 4, 1 and 8" "2 4 1 8" "$(awk '
		$1 == "0xf452140300811231/1" { a = $3 } $1 == "0x248a070300a25eae/2" { b = $3 }
		$1 == "0x0002c903000e83b1/1" { c = $3 } $1 == "0x7cfe900300b41a20/17" { d = $4 }
		END { print a, b, c, d }' ports)"
	expect "MTU of the port that has less" 1024 "$(awk '$1 == "0x248a070300a25c41/1" { print $2 }' ports)"
	expect "two VLs: by priority" "0,1,2,3 4" "$(sharers ports 0xf452140300811231/1 0 1 2 3 4)"
	expect_match "what qosd says of one VL" '1 data VL for 5 traffic classes .*neither shares nor priority' "$(findings)"
	# Classes that share a VL share it at both ends of the link.
	expect "four VLs" "$(sharers ports 0x248a070300a25eae/2 0 1 2 3 4)" "$(sharers ports $leaf05/2 0 1 2 3 4)"
	clean
	sim_options=()
fi

# promise: B3
note "ports that have tables of their own"
cat >policy.yaml <<'END'
port-groups:
  mds: {port-guids: 0x248a070300a25e99}
qos-levels: {default: {sl: 0}, a: {sl: 1}}
traffic-classes:
  except: mds
  classes:
    - {level: a, share: 80%}
    - {level: default, share: 20%}
fabric-setup:
  sl2vl:
    - {group: mds, table: [1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 15]}
  vlarb:
    - {group: mds, low: ["0:7", "1:9", "2:1"]}
END
up
expect "SL2VL of the port that is excepted" "1,0,2,2,2,2,2,2,2,2,2,2,2,2,2,15" "$(maps $mds 1)"
expect "VLArb of the port that is excepted" "low: 0:7 1:9 2:1 high:" "$(vlarb "$node" $mds 1)"
# shellcheck disable=SC2086 # a list
scan $some $leaf05/1 >ports
expect "other ports that are wrong" "" "$(wrong_ports ports 0 1:low:80 0:low:20 |
	grep -vE "^$leaf05/1: VL 2 |: [0-9]+ VLs for 2 classes")"
# promise: T6
note "weights below a packet of the MTU"
for entry in '1 of the low table, ."0:7.": a weight of 7 is 448' '2 of the low table, ."1:9.": a weight of 9 is 576' \
	'3 of the low table, ."2:1.": a weight of 1 is 64'; do
	expect_match "finding" "entry $entry bytes, less than a packet of the MTU, [0-9]+ bytes" "$(findings)"
done
expect "other findings" "" "$(findings | grep -v 'entry [1-3] of the low table')"

# promise: P8
note "contradictions"
sums=$(cksum policy.yaml)
sets=$(sets) checksum=$(status checksum)
cp policy.yaml good.yaml
# refused WHERE TEXT SED-SCRIPT: qosd must refuse the valid policy with this change.
refused() {
	sed "$3" good.yaml >policy.yaml
	[ "$(cksum policy.yaml)" != "$sums" ] || bad "$3 changes nothing"
	"$build/qosd" --check -c "$top/etc/qosd.yaml" -p policy.yaml >check 2>&1
	expect "exit status of --check, $2" 1 $?
	expect_match "--check" "policy.yaml:$1: error: [^
]*$2" "$(<check)"
	expect "exit status of a reload, $2" 1 "$(ctl reload >reload 2>&1; echo $?)"
	expect_match "reload" "policy.yaml:$1: error: .*$2" "$(<reload)"
}
refused 7:25 "out of range" 's/80%/101%/'
refused 8:7 "exceed 100 %" 's/20%/21%/'
refused 8:7 "nothing is left" 's/80%/100%/; s/, share: 20%//'
refused 8:15 "in a traffic class already" 's/level: default, share/level: a, share/'
refused 5:7 "exclude each other" '/except:/d; /^  classes:$/d'
refused 7:42 "for classes of high priority" 's/share: 80%/share: 80%, high-limit: 7/'
expect "Sets after all these" "$sets" "$(sets)"
expect "policy in force" "$checksum" "$(status checksum)"
# Only a check against the fabric finds an explicit table for ports that classes also cover.
sed -e 's/{group: mds, low/{group: leaf06, low/' -e '2i\  leaf06: {port-guids: 0xf45214030090a5e0}' \
	good.yaml >policy.yaml
reload || bad "refused: $(<reload)"
expect_match "a setting for ports of the classes" 'the traffic classes apply to .*leaf06.* override this setting' "$(findings)"
expect "line of it" "$(grep -n 'leaf06, low' policy.yaml | cut -d: -f1)" "$(ctl -j status | grep -B3 'override this setting' | field line)"

stop_qosd || bad "exit status $? after SIGTERM"
