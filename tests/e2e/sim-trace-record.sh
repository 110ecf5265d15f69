#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests TraceRecords: their nodes are those that ibtracert finds in the switches' tables,
# between LIDs of hosts, routers and switches, with LMC 0 and 1; their IDs are those that
# ibnetdiscover finds; a failed link is on no path any more.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cuts every answer to three records"
[ -x "$tools/satrace" ] || { echo "$tools/satrace is missing: make check-programs"; exit 1; }
sim_options=()

# as_ibtracert: converts satrace's output to ibtracert's format.
as_ibtracert() {
	awk '
		BEGIN { split("ca switch router", type) }
		function finish() { if (node != "") print "To " node; node = "" }
		$1 == "trace" { finish(); print $1, $2, $3; first = 1; next }
		{
			node = type[$1] " {" $2 "}"
			if (first) print "From " node
			else printf "[%d] -> %s port {%s}[%d]\n", out, type[$1], $5, $4
			first = 0; out = $6
		}
		END { finish() }'
}
# by_ibtracert NODE: runs ibtracert for each line of standard input; prints the same format.
by_ibtracert() {
	local a b
	while read -r a b; do
		echo "trace $a $b"
		on "$1" ibtracert "$a" "$b" 2>&1 | sed -E 's/^((From|To) [^}]*\}) portnum .*/\1/; s/ lid .*//'
	done
}
# lids LMC: prints all LIDs of end ports, in the order of nodes.
lids() {
	sim_ctl show nodes | awk -v n=$((1 << $1)) '
		$1 == "switch" { print $3 }
		$1 == "ca" || $1 == "router" { for (i = 0; i < n; i++) print $3 + i }'
}
# same_traces NODE LMC WHAT: compares the traces of a third of all pairs of LIDs, with each LID as source
# and as destination.
same_traces() {
	local n
	lids "$2" >lids
	while read -r a; do
		sed "s/^/$a /" lids
	done <lids | awk -v n="$(wc -l <lids)" '(NR % n + int((NR - 1) / n)) % 3 == 0' >ends
	n=$(wc -l <ends)
	expect "$3: LIDs to begin and end at" "$(sort lids | xargs) $(sort lids | xargs)" \
		"$(cut -d' ' -f1 ends | sort -u | xargs) $(cut -d' ' -f2 ends | sort -u | xargs)"
	on_own "$1" "$tools/satrace" <ends >traces 2>&1 || bad "$3: $(tail -n 1 traces)"
	as_ibtracert <traces >told
	by_ibtracert "$1" <ends >walked
	expect "$3: traces" "$n" "$(grep -c '^To ' walked)"
	expect_same "$3" walked told
	note "$3: $n pairs of $(wc -l <lids) LIDs, $(grep -c '^\[' walked) hops, at most $(awk '
		/^trace/ { n = 0 } /^\[/ && ++n > max { max = n } END { print max }' walked)"
}

for lmc in 0 1; do
	# promise: S7
	note "LMC $lmc: the hops are those of the tables"
	start_sim fat-tree:k=4,routers=2
	mapfile -t nodes < <(sim_ctl show nodes | awk '$1 == "ca" { print $2 }')
	echo "lmc: $lmc" >qosd.yaml
	start_and_wait "${nodes[0]}" -c qosd.yaml
	same_traces "${nodes[0]}" $lmc "LMC $lmc"
	expect "nodes of the longest, which takes two MADs" 7 "$(awk '
		/^trace/ { n = 0 } /^[0-9]/ && ++n > max { max = n } END { print max }' traces)"

	# promise: S7
	note "LMC $lmc: IDs"
	grep -v '^trace' traces | sort -u >records
	expect "GIDPrefix, IDGeneration" "0xfe80000000000000 1" "$(awk '{ print $8, $9 }' records | sort -u)"
	awk '{ print $1, $2, $3 }' records | sort -u >ids
	# "sysimgguid=0x…", "caguid=0x…" or "switchguid=0x…(…)", without leading zeros
	on "${nodes[0]}" ibnetdiscover 2>/dev/null | awk -F '[=(]' '
		function whole(guid) { guid = substr(guid, 3); while (length(guid) < 16) guid = "0" guid; return "0x" guid }
		BEGIN { type["ca"] = 1; type["switch"] = 2; type["rt"] = 3 }
		$1 == "sysimgguid" { chassis = whole($2) }
		/^(ca|switch|rt)guid=/ { sub("guid", "", $1); print type[$1], whole($2), chassis }' |
		sort >nodeinfos
	expect "nodes" "$(sim_ctl show nodes | grep -cE '^(ca|switch|router)')" "$(wc -l <ids)"
	expect_same "NodeType, NodeID, ChassisID" nodeinfos ids
	stop_qosd || bad "exit status $? of qosd"
	rm -rf state
	stop_sim
done

# promise: S7
note "a link goes, and who has no path has no trace"
start_sim "$top/examples/cluster.topo"
sm_node=H-f452140300811200
cat >policy.yaml <<'END'
port-groups:
  pair: {port-guids: [0xf452140300811231, 0x248a070300a25ead]}	# node001, oss01
partitions:
  Default: {pkey: 0x7fff, members: {all: limited, self: full}}
  pair: {pkey: 0x1, members: {pair: full}}
END
start_and_wait "$sm_node" -p policy.yaml
lid() { port_info "$sm_node" "0x$1" 1 Lid; }
node001=$(lid f452140300811231) node003=$(lid f452140300811251) oss01=$(lid 248a070300a25ead)
trace() { echo "$2 $3" | on_own "$1" "$tools/satrace" 2>&1; }	# trace NODE SLID DLID
trace "$sm_node" "$node001" "$oss01" >traces
as_ibtracert <traces >told
by_ibtracert "$sm_node" <<<"$node001 $oss01" >walked
expect_same "before" walked told
read -r spine out < <(awk '$1 == 2 { print $2, $6 }' traces | sed -n 2p)
sim_do link down "$spine/P$out"
elsewhere() {
	trace "$sm_node" "$node001" "$oss01" >traces
	grep -q '0x0000$' traces && ! grep -q "^2 $spine .* $out $spine " traces
}
ctl sweep >/dev/null 2>&1
until_ 20 elsewhere || bad "still by $spine/P$out: $(<traces)"
as_ibtracert <traces >told
by_ibtracert "$sm_node" <<<"$node001 $oss01" >walked
expect_same "after" walked told
expect "no common P_Key" "trace $node001 $node003 0x0300" "$(trace "$sm_node" "$node001" "$node003")"
expect "not his to see" "trace $node001 $oss01 0x0300" "$(trace H-f452140300811250 "$node001" "$oss01")"
expect_match "his own to see" "^trace $node001 $oss01 0x0000" "$(trace H-f452140300811230 "$node001" "$oss01" | head -n 1)"
expect "to itself" "trace $node001 $node001 0x0000
1 0xf452140300811230" "$(trace H-f452140300811230 "$node001" "$node001" | cut -d' ' -f1-4 | sed '2s/ 0x[0-9a-f]* [0-9]*$//')"
expect "a LID of nobody" "trace $node001 48000 0x0300" "$(trace "$sm_node" "$node001" 48000)"
ctl sa-trace --count 1 --attribute TraceRecord >seen 2>&1 &
looker=$!
pids+=("$looker")
looks() { [ "$(ctl -j status | jq .sa.watchers)" -gt 0 ]; }
until_ 5 looks || bad "nobody looks: $(<seen)"
trace "$sm_node" "$node001" "$oss01" >traces
wait "$looker" || bad "qosd-ctl sa-trace: exit status $?"
expect_match "seen" "GetTraceTable TraceRecord slid=$node001 dlid=$oss01 -> \\($(grep -c '^[12] ' traces) records\\)" "$(<seen)"
expect "counted by name" true "$(ctl -j sa-stats | jq '[.attributes[] | select(.attribute == "TraceRecord")][0] | .answered > 0 and .statuses["no-records"] >= 3')"
stop_qosd || bad "exit status $? of qosd"
stop_sim
