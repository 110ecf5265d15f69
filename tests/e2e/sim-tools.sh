#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests other projects' programs on qosd-sim: ibnetdiscover prints the dump that qosd-sim
# serves; OpenSM, the tools of infiniband-diags and srp_daemon run at the same time on
# different nodes, and each prints what the dump or the devices say.
#
# promise: V7
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has neither RMPP, nor so many clients, nor the devices' own speeds"
for program in opensm saquery srp_daemon; do
	command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

cluster=$top/examples/cluster.topo
qosd_sim=$build/qosd-sim

# canon DUMP [1]: prints the contents of a dump one item a line, in a canonical order and
# layout, with the slower rate of a link's two ends.  1: with LIDs.
canon() {
	awk -v lids="${2:-0}" '
		function bare(s) { s = tolower(s); sub(/^0x/, "", s); sub(/^0+/, "", s); return s }
		function port(name, n) { return bare(substr(name, 3)) "/" n }
		function inside(s) { return substr(s, 2, length(s) - 2) }
		function is_guid(p, s) { if (match(s, /\([0-9a-f]+\)/)) print "guid", p, bare(inside(substr(s, RSTART, RLENGTH))) }
		function said(s, word) { return match(s, " " word " [0-9]+") ? substr(s, RSTART + length(word) + 2, RLENGTH - length(word) - 2) : "" }
		function say_lid(p, s, word) { if (lids && said(s, word) != "") print word, p, said(s, word) }
		function rank(speed,  part) {
			split(speed, part, "x")
			return part[1] * index("SDR   DDR   QDR   FDR10 FDR   EDR   HDR   NDR ", part[2] " ")
		}
		BEGIN { FS = "\"" }
		/^[a-z]+=/ {
			split($0, part, /[=(]/)
			if (part[1] == "vendid")
				delete id
			id[part[1]] = bare(part[2])
		}
		/^(Switch|Ca|Rt)[ \t]/ {
			split($1, part, " ")
			at = $2
			port0 = match($5, /(base|enhanced) port 0/) ? substr($5, RSTART, RLENGTH - 7) : "-"
			print "node", part[1], bare(substr(at, 3)), "ports", part[2], "ids", id["vendid"], id["devid"],
				"image", id["sysimgguid"], "guid", id["switchguid"] id["caguid"] id["rtguid"],
				"port0", port0, "name", $4
			if (part[1] == "Switch") {
				say_lid(port(at, 0), $5, "lid")
				say_lid(port(at, 0), $5, "lmc")
			}
		}
		/^\[/ {
			split($1, part, /[][]/)
			near = port(at, part[2])
			split($3, part, /[][]/)
			far = port($2, part[2])
			is_guid(near, $1)
			is_guid(far, $3)
			print "name", bare(substr($2, 3)), $4
			match($5, /[0-9]+x[A-Z0-9]+/)
			speed = substr($5, RSTART, RLENGTH)
			link = near < far ? near " " far : far " " near
			if (!(link in slowest) || rank(speed) < rank(slowest[link]))
				slowest[link] = speed
			far_lid = $2 ~ /^S/ ? port($2, 0) : far
			say_lid(near, $3, "lid")
			say_lid(near, $3, "lmc")
			say_lid(far_lid, $5, "lid")
		}
		END { for (link in slowest) print "link", link, slowest[link] }' "$1" | sort -u
}

# prints_its_own NAME DUMP [OPTION...]: ibnetdiscover must print the dump that qosd-sim serves.
prints_its_own() {
	local name=$1 dump=$2
	shift 2
	"$qosd_sim" run "$@" "$dump" -- ibnetdiscover >printed 2>run.log ||
		bad "$name: ibnetdiscover: exit status $?: $(tail -n 3 run.log)"
	canon "$dump" "${lids:-0}" >wanted
	canon printed "${lids:-0}" >got
	[ "$(grep -c ^link wanted)" -gt 0 ] || bad "$name: no links to compare"
	expect_same "$name" wanted got
}

note "what is fed in comes out again"
dumps=("$cluster")
if [ -d "$fabrics" ]; then
	dumps+=("$fabrics"/*.topo)
else
	note "no dumps of real fabrics in $fabrics: those are left out"
fi
for dump in "${dumps[@]}"; do
	prints_its_own "$(basename "$dump")" "$dump"
	lids=1 prints_its_own "$(basename "$dump") with its LIDs" "$dump" --keep-lids
done
for made in fat-tree:k=8,routers=2 torus:3x3,hosts=2,parallel=2,hosts-ports=2 \
	random:switches=12,hosts=30,seed=4 dragonfly:a=4,h=2; do
	"$qosd_sim" run "$made" -- ibnetdiscover >first 2>&1 || bad "$made: exit status $?"
	expect_less "$made: an empty fabric" "$(wc -l <first)" 50
	cp first made.topo
	prints_its_own "$made" made.topo
done
for speed in 1xSDR 12xDDR 8xQDR 4xQDR 4xFDR10 4xFDR 4xEDR 2xHDR 4xHDR 4xNDR; do
	"$qosd_sim" run "switch:4,speed=$speed" -- ibnetdiscover >printed
	expect "links of $speed" "4 $speed" \
		"$(canon printed | awk '$1 == "link" { n[$4]++ } END { for (s in n) print n[s], s }')"
done

# --- many programs at once ---

# A subnet with different tables, and without sweeps that nothing triggers.
cat >opensm.conf <<'END'
sweep_interval 0
qos TRUE
qos_max_vls 4
qos_high_limit 10
qos_vlarb_high 0:4,1:8,2:16
qos_vlarb_low 0:1,1:2,2:3,3:4
qos_sl2vl 0,1,2,3,3,2,1,0,0,1,2,3,0,1,2,7
qos_sw0_sl2vl 3,2,1,0,0,1,2,3,3,2,1,0,3,2,1,0
sminfo_polling_timeout 300
polling_retry_number 2
END
cat >profiles.yaml <<'END'
profiles:
  sized: {pkeys: 64, enforce-pkeys: 32, guids: 16}
  target: {like: sized, srp-target: true}
nodes:
  - {name: "*", profile: sized}
  - {name: "srp01*", profile: target}
END
mgmt="mgmt01 HCA-1" login="login01 HCA-1" node001="node001 HCA-1" node017="node017 mlx5_0"
gpu01="gpu01 mlx5_0" gpu05="gpu05 mlx5_0" leaf05="MF0;leaf05:SB7700/U1" leaf06="MF0;leaf06:SX6036/U1"
leaf05_guid=0x7cfe900300b43180 leaf06_guid=0xf45214030090a5e0
broadcast=ff12:401b:ffff::ffff:ffff
switches=8 end_ports=68 nodes=63	# numbers of the example; port 0 of a switch is an end port

"$qosd_sim" serve "$cluster" -p profiles.yaml >serve.log 2>&1 &
sim=$!
pids+=("$sim")
until_ 20 grep -q ^ready serve.log || fail "qosd-sim does not start: $(<serve.log)"
expect_match "what it has" "$switches switches, $((nodes - switches)) other nodes" "$(<serve.log)"

# start_opensm NAME NODE OPTION...: starts OpenSM with its files in the directory NAME.
start_opensm() {
	local as
	as "$2"
	mkdir "$1"
	OSM_TMP_DIR=$work/$1 OSM_CACHE_DIR=$work/$1 "${as[@]}" \
		opensm -F "$work/opensm.conf" -f "$work/$1/log" -d2 "${@:3}" >"$1/out" 2>&1 &
	opensm=$!
	pids+=("$opensm")
}
says() { grep -q "$2" "$1/log" 2>/dev/null; }
# start_server NODE PROGRAM...
start_server() {
	local as
	as "$1"
	"${as[@]}" "${@:2}" >server.log 2>&1 &
	pids+=($!)
}
# counter PORT NAME: prints the device's counter.
counter() { sim_ctl show counters "$1" | awk -v name="$2" '$1 == name { print $2 }'; }
lid_of() { on "$1" ibaddr -L "${@:2}" 2>&1 | awk '{ print $3 }'; }

note "OpenSM"
start_opensm master "$mgmt" -p 5
until_ 30 says master "SUBNET UP" || fail "OpenSM does not come up: $(tail -n 3 master/log)"
# OpenSM's port sends trap 144 because it has a subnet manager now, so OpenSM sweeps once more.
swept_twice() { [ "$(grep -c "SUBNET UP" master/log)" -ge 2 ]; }
until_ 10 swept_twice || bad "no trap 144"
"$qosd_sim" check --sl 0 >check.out 2>&1 || bad "what OpenSM made: $(tail -n 5 check.out)"
join() {
	on_own "$1" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid "$2")" join-state=1 \
		>join.out 2>&1 || bad "$1 does not join: $(<join.out)"
}
join "$node001" f452140300811231
join "$node017" 248a070300a25c41
join "$gpu01" 248a070300a25dd1
# ServiceRecord, then InformInfo for the traps 64 and 65, as srp_daemon sends it
for record in "0x31 0 48:0000000000000057 56:1234 64:fe80000000000000f452140300811231 80:ffff 84:ffffffff 104:74657374" \
	"3 0 72:ffff 78:01 79:01 80:ffff 82:0040 89:ffffff" \
	"3 0 72:ffff 78:01 79:01 80:ffff 82:0041 89:ffffff"; do
	# shellcheck disable=SC2086
	expect_match "SA Set of ${record%% *}" "^status=0x0000" \
		"$(on_own "$node001" "$tools/rawmad" 3 2 $record 2>&1)"
done
# Wait until the tables have the group: on all switches of the path, at least three leaves.
has_group() { [ "$(sim_ctl show mft "$1" | grep -c ^0xc000)" -eq 1 ]; }
until_ 10 has_group "MF0;leaf01:SX6036/U1" || bad "no multicast table"
until_ 10 has_group "MF0;leaf03:SB7700/U1" || bad "no multicast table"

note "all of them at once"
start_server "$gpu01" ibping -S
start_server "$node001" ibping -S
start_server "$gpu01" ibsysstat -S
gpu01_lid=$(lid_of "$gpu01") node001_lid=$(lid_of "$node001")
mgmt_lid=$(lid_of "$mgmt") login_lid=$(lid_of "$login")
leaf05_lid=$(sim_ctl -j show nodes | tr '{' '\n' | sed -nE 's/.*"'$leaf05_guid'","lid":([0-9]+).*/\1/p')
expect_match "LIDs" '^[0-9]+( [0-9]+){4}$' "$gpu01_lid $node001_lid $mgmt_lid $login_lid $leaf05_lid"

# tool NAME PROGRAM...: starts a program on the next adapter; its output is in tool.NAME, its
# exit status in tool.NAME.status.
mapfile -t askers < <(cas "$cluster")
asker=0 running=()
tool() {
	local as
	as "${askers[asker++ % ${#askers[@]}]}"
	{
		timeout 60 "${as[@]}" "${@:2}" >"tool.$1" 2>&1
		echo $? >"tool.$1.status"
	} &
	running+=($!)
}

tool iblinkinfo iblinkinfo -l
tool ibnetdiscover ibnetdiscover
tool nodeinfo.lid smpquery nodeinfo "$leaf05_lid"
tool nodeinfo.guid smpquery -G nodeinfo $leaf05_guid
tool portinfo smpquery portinfo "$node001_lid" 1
tool switchinfo smpquery switchinfo "$leaf05_lid"
tool sl2vl smpquery sl2vl "$leaf05_lid" 31
tool vlarb smpquery vlarb "$leaf05_lid" 31
tool pkeys smpquery pkeys "$node001_lid" 1
tool guidinfo smpquery guidinfo "$node001_lid"
tool nodedesc smpquery -G nodedesc 0x248a070300a25dd1
for record in CPI NR PIR SL2VL VLAR IIR LR SR PR LFTR MFTR GIR SWIR SMIR; do
	tool $record saquery $record
done
tool PKTR saquery --smkey 1 PKTR	# for trusted requests only
tool MCMR saquery --smkey 1 MCMR
tool members saquery --smkey 1 -m
tool list saquery -D
tool pairs saquery --src-to-dst "$node001:$gpu01"
tool ibtracert ibtracert "$node001_lid" "$gpu01_lid"
tool ibtracert-m ibtracert -m 0xc000 "$node001_lid" "$gpu01_lid"
tool ibroute ibroute "$leaf05_lid"
tool ibroute-m ibroute -M -G 0xf45214030090a3c0
tool dump_fts dump_fts
tool dump_mfts dump_mfts
tool sminfo sminfo
tool ibhosts ibhosts
tool ibswitches ibswitches
tool ibrouters ibrouters
tool ibaddr ibaddr -G 0x248a070300a25dd1
tool ibping ibping -f -c 300 -L "$gpu01_lid"
tool ibping-g ibping -f -c 300 -G 0xf452140300811231
tool ibsysstat ibsysstat "$gpu01_lid" host
tool srp_daemon srp_daemon -o -c
tool ibsrpdm ibsrpdm -c
# and qosd on another fabric
"$qosd_sim" run torus:4x4 -- sh -c "'$build/qosd' -1 -s other.sock -d other && '$qosd_sim' check" \
	>tool.qosd 2>&1 &
other=$!
wait "${running[@]}"
wait $other || bad "qosd --once elsewhere: exit status $?: $(tail -n 5 tool.qosd)"
for name in tool.*.status; do
	expect "exit status of ${name%.status}: $(tail -n 2 "${name%.status}")" 0 "$(<"$name")"
done

note "discovery"
canon "$cluster" >wanted
canon tool.ibnetdiscover >got
expect_same "ibnetdiscover" wanted got
# both directions of each link, with ends and speeds in iblinkinfo's format
awk '
	$1 == "node" { kind[$3] = $2 }
	$1 == "guid" { guid[$2] = $3 }
	$1 == "link" { links[$2 " " $3] = $4 }
	function end(p,  part) { split(p, part, "/"); return (kind[part[1]] == "Switch" ? part[1] : guid[p]) "/" part[2] }
	END {
		gbps["SDR"] = "2.5"; gbps["QDR"] = "10.0"; gbps["FDR"] = "14.0625"; gbps["EDR"] = "25.78125"
		for (l in links) {
			split(l, ends, " ")
			split(links[l], speed, "x")
			print end(ends[1]), speed[1] "X", gbps[speed[2]], end(ends[2])
			print end(ends[2]), speed[1] "X", gbps[speed[2]], end(ends[1])
		}
	}' <(grep ^node wanted) <(grep ^guid wanted) <(grep ^link wanted) | sort >links.wanted
sed -nE 's/^0x0*([0-9a-f]+) "[^"]*" +[0-9]+ +([0-9]+)\[ *\] ==\( (.*) Gbps Active.*==> +0x0*([0-9a-f]+) +[0-9]+ +([0-9]+)\[.*/\1\/\2 \3 \4\/\5/p' \
	tool.iblinkinfo | tr -s ' ' | sort >links.got
expect_same "iblinkinfo" links.wanted links.got
expect "ibhosts" "$(grep -c '^node Ca' wanted)" "$(grep -c '^Ca' tool.ibhosts)"
expect "ibswitches" $switches "$(grep -c '^Switch' tool.ibswitches)"
expect "ibrouters" 1 "$(grep -c '^Rt' tool.ibrouters)"

note "smpquery"
# value NAME FILE: prints a field of smpquery's or saquery's output.
value() { sed -nE "s/^[[:space:]]*$1:?\.{2,}(.*)$/\1/p" "$2"; }
for way in lid guid; do
	for want in NodeType=Switch NumPorts=36 SystemGuid=$leaf05_guid Guid=$leaf05_guid \
		PortGuid=$leaf05_guid PartCap=64 DevId=0xcb20 VendorId=0x0002c9; do
		expect "${want%%=*} by $way" "${want#*=}" "$(value "${want%%=*}" "tool.nodeinfo.$way")"
	done
done
# By directed route from a port of leaf06; then by LID to leaf05 and two hops from there.
expect "DR" "Switch $leaf06_guid" "$(on "$mgmt" smpquery -D nodeinfo 0,1 2>&1 | awk -F'[.]+' '/^(NodeType|Guid):/ { printf "%s ", $2 }' | sed 's/ $//')"
expect "DR" "0xf452140300811210" "$(on "$mgmt" smpquery -D nodeinfo 0,1,2 >out 2>&1; value Guid out)"
expect "combined route" "MF0;spine01:SB7700/U1" "$(on "$mgmt" smpquery -c nodedesc "$leaf05_lid" 0,31 2>&1 | sed 's/.*\.\.//')"
expect "combined route" 0xf45214030090a440 "$(on "$mgmt" smpquery -c nodeinfo "$leaf05_lid" 0,31,5 >out 2>&1; value Guid out)"
on "$mgmt" smpquery -t 50 -D nodeinfo 0,1,30 >out 2>&1 && bad "a route to nowhere leads somewhere"
expect "its packets" "$(counter "$leaf06/P30" xmit-discards)" "$(sim_ctl drops | awk '$1 == "link-down" { print $2 }')"
on "$mgmt" ibqueryerrors -k >out 2>&1
awk '$1 == "guid" && $2 ~ /\/1$/ { print $3 }' wanted | while read -r guid; do
	on "$mgmt" smpquery -G nodeinfo "0x$guid" >out 2>&1
	echo "$(value Guid out) $(value NumPorts out) $(value VendorId out) $(value DevId out)"
done | sed -E 's/0x0*//g' | sort >nodes.got
awk '$1 == "node" && $2 != "Switch" { print $3, $5, $7, $8 }' wanted | sort >nodes.wanted
expect "adapters and routers" $((nodes - switches)) "$(wc -l <nodes.wanted)"
expect_same "nodeinfo of all adapters" nodes.wanted nodes.got
sim_ctl -j show portinfo "$node001" | tr '{' '\n' |
	sed -nE 's/.*"field":"([^"]*)".*/\1 &/; s/ .*"value":"([^"]*)".*/ \1/p' |
	grep -E '^(Lid|SMLid|Link[A-Za-z]+|PhysLinkState|LMC|NeighborMTU|VLCap|MtuCap|OperVLs|VL[A-Za-z]+|GuidCap|SubnetTimeout|RespTimeVal) ' >portinfo.wanted
sed -nE 's/^([A-Za-z0-9]+):\.+(.*)$/\1 \2/p' tool.portinfo | grep -Ff <(cut -d ' ' -f 1 portinfo.wanted) -w |
	grep -E "^($(cut -d ' ' -f 1 portinfo.wanted | paste -s -d '|')) " >portinfo.got
expect_less "fields of portinfo" "$(wc -l <portinfo.got)" 20
expect_same "portinfo" <(sort portinfo.wanted) <(sort portinfo.got)
expect "LinearFdbTop" $end_ports "$(value LinearFdbTop tool.switchinfo)"
sed -nE 's/^ports: in +([0-9]+), out +([0-9]+): \|(.*)\|$/\1 \2 \3/p' tool.sl2vl | tr '|' ' ' | tr -s ' ' | sed 's/ $//' >sl2vl.got
sim_ctl show sl2vl "$leaf05/P31" | tail -n +2 | tr ',' ' ' | tr -s ' ' | sed 's/^ //' >sl2vl.wanted
expect_same "sl2vl" sl2vl.wanted sl2vl.got
expect "sl2vl" "1 31 0 1 2 3 3 2 1 0 0 1 2 3 0 1 2 7" "$(grep '^1 ' sl2vl.got)"
expect "vlarb" "low: 0:1 1:2 2:3 3:4 high: 0:4 1:8 2:16" "$(vlarb "$login" $leaf05_guid 31)"
expect "vlarb as the device has it" "low 0:1,1:2,2:3,3:4 high 0:4,1:8,2:16" \
	"$(sim_ctl show vlarb "$leaf05/P31" | awk 'NR > 1 { s[$1] = s[$1] (s[$1] == "" ? "" : ",") $3 ":" $4 } END { print "low", s["low"], "high", s["high"] }')"
expect "pkeys" "0xffff 64" "$(awk '$1 == "0:" { k = $2 } /capacity/ { print k, $1 }' tool.pkeys)"
expect "guidinfo" "0xf452140300811231 16" "$(awk '$1 == "0:" { g = $2 } /capacity/ { print g, $1 }' tool.guidinfo)"
expect_match "nodedesc" "$gpu01\$" "$(<tool.nodedesc)"

note "saquery: complete answers"
# records TYPE NUMBER: saquery must have received so many records.
records() { expect "records of $1" "$2" "$(grep -cE '^([A-Za-z0-9]+|GUIDInfo|LFT|MFT|MCMember) ?(Record)? ?(member )?dump:$' "tool.$1")"; }
external=$((switches * 36))
adapters=$((end_ports - switches))	# cabled ports of adapters and routers
records NR $end_ports
expect "records of PIR" $((external + end_ports)) "$(grep -c EndPortLid tool.PIR)"	# some headings are not at the start of a line
records SL2VL $((switches * 37 * 37 + adapters))
records VLAR $(((external + end_ports) * 4))
records PKTR $((end_ports * 2 + $(linked_ports "$cluster") - adapters))	# OpenSM reads tables of linked ports only
records GIR $((end_ports * 2))
records LR "$(linked_ports "$cluster")"
records PR $((end_ports * end_ports))
records LFTR $((switches * 2))
records SWIR $switches
records SMIR 1
records SR 1
records IIR 2
records MCMR 3
expect_match "class port info" 'Class version\.+2' "$(<tool.CPI)"
expect "list of adapters" "$(grep -c '^node Ca' wanted)" "$(grep -oE '"[^"]+"' tool.list | sort -u | grep -vcE '^"(MF0|name|ibrtr)')"
expect "members" "3 gpu01 mlx5_0,node001 HCA-1,node017 mlx5_0" \
	"$(value NodeDescription tool.members | sort | awk '{ s = s "," $0 } END { print NR, substr(s, 2) }')"
paste -d ' ' <(value node_guid tool.NR) <(value port_guid tool.NR) <(value lid tool.NR) <(value NodeDescription tool.NR) |
	sort >nr.got
iblinkinfo_lids() { sed -nE 's/^(0x[0-9a-f]+) "[^"]*" +([0-9]+) .*/\1 \2/p' tool.iblinkinfo | sort -u; }
expect_same "LIDs of NodeRecords and by discovery" <(iblinkinfo_lids) <(cut -d ' ' -f 2,3 nr.got | sort)
expect_same "names of NodeRecords" <(sed -nE 's/^node .* name (.*)/\1/p' wanted | sort) \
	<(value NodeDescription tool.NR | sort -u)
expect "pairs of PathRecords, and LIDs in them" "$((end_ports * end_ports)) $end_ports" \
	"$(paste -d ' ' <(value slid tool.PR) <(value dlid tool.PR) | sort -u | awk '{ s[$1] } END { print NR, length(s) }')"
expect "the path of two names" "$node001_lid $gpu01_lid" "$(value slid tool.pairs) $(value dlid tool.pairs)"
sed -nE 's/^(0x[0-9a-f]+) "[^"]*" +([0-9]+) +([0-9]+)\[.*==> +0x[0-9a-f]+ +([0-9]+) +([0-9]+)\[.*/\2 \3 \4 \5/p' tool.iblinkinfo | sort >lr.wanted
paste -d ' ' <(value FromLID tool.LR) <(value FromPort tool.LR) <(value ToLID tool.LR) <(value ToPort tool.LR) | sort >lr.got
expect_same "LinkRecords" lr.wanted lr.got

note "tables: the records of the SA, the tools', and what is in the devices"
switch_lids() { awk '$1 == "switch" { print $3, $2 }' <(sim_ctl show nodes); }
switch_lids | while read -r lid guid; do
	sim_ctl show lft "$guid" | awk -v lid="$lid" 'NR > 1 { print lid, $1, $2 }'
done | sort >lft.wanted
expect "routes" $((switches * end_ports)) "$(wc -l <lft.wanted)"
awk '/^[\t ]*LID\.+/ { gsub(/[^0-9]/, ""); lid = $0 } /Block\.+/ { gsub(/[^0-9]/, ""); block = $0 }
	NF == 2 && /^[\t ]*[0-9]+\t[0-9]+$/ && $2 != 255 { print lid, block * 64 + $1 % 64, $2 }' tool.LFTR | sort >lft.records
expect_same "LFTRecords" lft.wanted lft.records
dumped() {	# dumped FILE: the entries in the output of dump_fts or ibroute
	awk '
		NR == FNR { lid[$2] = $1; next }
		/^Unicast lids/ { match($0, /guid 0x[0-9a-f]+/); at = lid[substr($0, RSTART + 5, RLENGTH - 5)] }
		/^0x[0-9a-f]+ [0-9]+ :/ { print at, $1, $2 + 0 }' <(switch_lids) "$1" |
		while read -r at lid port; do echo "$at $((lid)) $port"; done | sort
}
dumped tool.dump_fts >lft.dumped
expect_same "dump_fts" lft.wanted lft.dumped
dumped tool.ibroute >lft.ibroute
expect_same "ibroute" <(grep "^$leaf05_lid " lft.wanted) lft.ibroute
switch_lids | while read -r lid guid; do
	sim_ctl show mft "$guid" | awk -v lid="$lid" '/^0xc/ { print lid, $1, $2 }'
done | sort >mft.wanted
expect_less "switches with the group" "$(wc -l <mft.wanted)" 2
awk '
	/^[\t ]*LID\.+/ { gsub(/[^0-9]/, ""); lid = $0 }
	/Position\.+/ { gsub(/[^0-9]/, ""); position = $0 }
	/^[\t ]*0xc[0-9a-f]+\t0x/ {
		for (bit = 0; bit < 16; bit++) {
			digit = index("0123456789abcdef", substr(tolower($2), 6 - int(bit / 4), 1)) - 1
			if (int(digit / 2 ^ (bit % 4)) % 2)
				print lid, $1, position * 16 + bit
		}
	}' tool.MFTR | sort -k 1,1 -k 2,2 -k 3,3n |
	awk '$1 " " $2 != at { if (at) print at, s; at = $1 " " $2; s = $3; next } { s = s "," $3 } END { print at, s }' |
	sort >mft.records
expect_same "MFTRecords" mft.wanted mft.records
marked() {	# marked FILE: the entries in the output of dump_mfts or ibroute -M
	awk '
		NR == FNR { lid[$2] = $1; next }
		/^Multicast mlids/ { match($0, /guid 0x[0-9a-f]+/); at = lid[substr($0, RSTART + 5, RLENGTH - 5)] }
		/^0xc/ {
			s = ""
			for (p = 0; p <= 36; p++)
				if (substr($0, 13 + 2 * p, 1) == "x")
					s = s "," p
			print at, tolower($1), substr(s, 2)
		}' <(switch_lids) "$1" | sort
}
expect_same "dump_mfts" mft.wanted <(marked tool.dump_mfts)
expect "ibroute -M" 1 "$(comm -12 <(marked tool.ibroute-m) mft.wanted | wc -l)"
# "[1] -> switch port {guid}[29] lid 4-4 "name"", and "name/P1 -> name/P29 VL 0"
hops() { sed -nE 's/^\[([0-9]+)\] -> (switch|ca|router) [^[]*\[([0-9]+)\] lid .*"(.*)"$/\1 > \4 \3/p' "$1"; }
sim_ctl path "$node001" "$gpu01" | sed -nE 's/^.*\/P([0-9]+) -> (.*)\/P([0-9]+) VL .*$/\1 > \2 \3/p' >path.wanted
expect "hops" 4 "$(wc -l <path.wanted)"
expect_same "ibtracert" path.wanted <(hops tool.ibtracert)
expect_match "ibtracert of the group" "> $gpu01 1\$" "$(hops tool.ibtracert-m | tail -n 1)"

note "the others"
expect_match "sminfo" "sm lid $mgmt_lid sm guid 0xf452140300811201, .* priority 5 state 3 SMINFO_MASTER" "$(<tool.sminfo)"
expect_match "ibaddr" "GID fe80::248a:703:a2:5dd1 LID start $(printf %#x "$gpu01_lid")" "$(<tool.ibaddr)"
for name in ibping ibping-g; do
	expect_match "$name" "300 packets transmitted, 300 received, 0% packet loss" "$(<tool.$name)"
done
expect_match "ibsysstat" "$(hostname)" "$(<tool.ibsysstat)"
for name in srp_daemon ibsrpdm; do
	expect_match "$name" "dgid=fe800000000000000002c903000e83b1,pkey=ffff" "$(<tool.$name)"
done
expect_same "targets" <(grep ^id_ext tool.srp_daemon | sort) <(grep ^id_ext tool.ibsrpdm | sort)
on "$login" ibstat >out 2>&1 || bad "ibstat: exit status $?"
for want in "Node GUID: 0xf452140300811210" "Port GUID: 0xf452140300811211" "State: Active" \
	"Physical state: LinkUp" "Rate: 56" "Base lid: $login_lid" "SM lid: $mgmt_lid"; do
	expect "ibstat: $want" 1 "$(grep -cF "$want" out)"
done

note "counters"
# expect_from WHAT LEAST MOST GOT: GOT must be between LEAST and MOST.
expect_from() {
	if [ "$4" -lt "$2" ] || [ "$4" -gt "$3" ]; then bad "$1: want $2 to $3, got $4"; fi
}
# perf NAME OPTION...: prints a counter that perfquery reads.
perf() { on "$mgmt" perfquery "${@:2}" 2>/dev/null >out; value "$1" out; }
on "$mgmt" perfquery -R "$gpu01_lid" 1 >out 2>&1 || bad "perfquery -R: $(<out)"
expect_less "packets after a reset" 5 "$(perf PortRcvPkts "$gpu01_lid" 1)"
sent=$(counter "$login" xmit-packets)
on "$login" ibping -f -c 500 -L "$gpu01_lid" >out 2>&1 || bad "ibping: $(tail -n 2 out)"
after=$(perf PortRcvPkts "$gpu01_lid" 1)
expect_from "packets received" 500 520 "$after"
after=$(perf PortUnicastRcvPkts -x "$gpu01_lid" 1)
expect_from "packets received, extended" 500 "$(counter "$gpu01" unicast-rcv-packets)" "$after"
expect_from "packets that login01 sent" 500 520 $(($(counter "$login" xmit-packets) - sent))
expect "data per packet" 72 $(($(value PortRcvData out) / $(value PortRcvPkts out)))
on "$login" ibqueryerrors >errors.out 2>&1 || bad "ibqueryerrors: $(head -n 5 errors.out)"
expect_match "ibqueryerrors" "$nodes nodes checked, 0 bad nodes found" "$(<errors.out)"
sim_ctl drops --reset >/dev/null
on "$mgmt" smpquery -t 20 nodeinfo 4000 >out 2>&1	# an unused LID: dropped at leaf06 port 1
lost=$(sim_ctl drops | awk '$1 == "no-route" { print $2 }')
expect_less "lost packets" "${lost:-0}" 0
expect "relay errors" "$lost" "$(perf PortRcvSwitchRelayErrors -G $leaf06_guid 1)"
expect "relay errors of all ports" "$lost" "$(perf PortRcvSwitchRelayErrors -a -G $leaf06_guid)"
on "$login" ibqueryerrors >errors.out 2>&1
expect_match "ibqueryerrors" "$nodes nodes checked, 1 bad nodes found" "$(<errors.out)"
expect_match "ibqueryerrors" "GUID $leaf06_guid port 1: \[PortRcvSwitchRelayErrors == $lost " "$(<errors.out)"
on "$login" ibqueryerrors -k >out 2>&1
on "$login" ibqueryerrors >errors.out 2>&1 || bad "ibqueryerrors -k does not clear: $(head -n 4 errors.out)"

note "ibportstate"
state() { sim_ctl show port "$leaf05/P6" | awk '$1 == "state" { print $2 }'; }
is_active() { [ "$(state)" = active ]; }
on "$login" ibportstate -G $leaf05_guid 6 disable >out 2>&1 || bad "disable: $(tail -n 2 out)"
expect "a port that is disabled" down "$(state)"
on "$login" ibportstate -G $leaf05_guid 6 enable >out 2>&1 || bad "enable: $(tail -n 2 out)"
until_ 10 is_active || bad "a port that is enabled again: $(state)"

note "several ports of one process"
on "$gpu05" ibstat >out 2>&1
expect "ports of an adapter" "0x248a070300a25e71 0x248a070300a25e72" "$(sed -nE 's/.*Port GUID: //p' out | paste -s -d ' ')"
for port in 1 2; do
	lid=$(lid_of "$gpu05" -P $port)
	expect "LID of port $port" "0x248a070300a25e7$port $lid" "$(cut -d ' ' -f 2,3 nr.got | grep "^0x248a070300a25e7$port ")"
	expect "the switch at port $port" "$([ $port -eq 1 ] && echo 0x7cfe900300b42e80 || echo 0x7cfe900300b42f40)" \
		"$(on "$gpu05" smpquery -P $port -D nodeinfo 0,"$port" >out 2>&1; value Guid out)"
	start_server "$gpu05" ibping -S -P $port
	until_ 5 on "$gpu05" ibping -P $((3 - port)) -f -c 20 -L "$lid" >out 2>&1 ||
		bad "from port $((3 - port)) to port $port: $(tail -n 3 out)"
done
on "$gpu05;$node001" ibstat -l >out 2>&1
expect "adapters of two nodes" "sim0 sim1" "$(paste -s -d ' ' out)"
expect "the other's port" "$node001_lid" "$(lid_of "$gpu05;$node001" -C sim1)"

note "several subnet managers"
start_opensm standby "$node001" -p 3
until_ 20 says standby "Entering STANDBY state" || bad "OpenSM does not stand by: $(tail -n 3 standby/log)"
expect_match "sminfo of the one that stands by" "priority 3 state 2 SMINFO_STANDBY" "$(on "$login" sminfo "$node001_lid" 2>&1)"
expect_match "sminfo" "sm lid $mgmt_lid .* state 3 SMINFO_MASTER" "$(on "$login" sminfo 2>&1)"
two_managers() { [ "$(on "$login" saquery SMIR 2>&1 | grep -c SMState)" -eq 2 ]; }
until_ 10 two_managers || bad "SMInfoRecords: want 2"
start_opensm highest "$login" -p 15
highest=$opensm
until_ 20 says highest "SUBNET UP" || bad "the one of highest priority is not master: $(tail -n 3 highest/log)"
until_ 10 says master "Entering STANDBY state" || bad "the old master does not hand over"
expect_match "sminfo" "sm lid $login_lid .* priority 15 state 3 SMINFO_MASTER" "$(on "$gpu01" sminfo 2>&1)"
start_opensm second-port "$gpu05" -p 1 -g 0x248a070300a25e72
until_ 20 says second-port "Entering STANDBY state" || bad "no subnet manager on the second port"
expect_match "sminfo" "guid 0x248a070300a25e72, .* SMINFO_STANDBY" "$(on "$login" sminfo "$(lid_of "$gpu05" -P 2)" 2>&1)"
end "$opensm"
end "$highest" KILL
up_again() { [[ $(on "$gpu01" sminfo 2>&1) =~ "sm lid $mgmt_lid ".*MASTER ]]; }
until_ 20 up_again || bad "nobody takes over: $(on "$gpu01" sminfo 2>&1)"
all_active "$gpu01" "$cluster"

end "$sim" || bad "qosd-sim: exit status $?"
expect "what qosd-sim had to say" "" "$(grep -E ' (error|warning): ' serve.log)"
