#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The records that saquery gets of one fabric, by each of its filters: first under
# OpenSM, then under qosd, which takes the subnet over as it is.  They are the same
# sets of records but for what is explained below.  Then, with tables of a policy,
# what the SA says of devices and what they say themselves.
#
# Records of what clients register, and paths, are other tests' matter.
# SAQUERY_TREE="--levels 3 --radix 16": another fat tree, as gentopo makes it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cuts an answer down to its first record"
for program in opensm saquery smpquery; do
	command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

# --- asking ---

# ask NODE QUERY...: each record on a line, "field|field|...", in any order.
ask() {
	on "$1" saquery "${@:2}" >ask.out 2>ask.err
	grep ERROR ask.err >>ask.out
	awk '
		function out() { if (record != "") print record; record = "" }
		/^[^ \t]/ || !/dump/ && !dumps { out() }
		/ dump:/ { dumps = 1 }		# else a record is a line
		NF { gsub(/[ \t]+/, " "); gsub(/\.\.+/, "="); record = record "|" $0 }
		END { out() }' ask.out | sort
}

# ask_all NODE DIR: each query of the list, into a file of its own.
ask_all() {
	local i
	mkdir "$2"
	for i in "${!queries[@]}"; do
		# shellcheck disable=SC2086 # they are words
		ask "$1" ${queries[i]} >"$2/$i"
	done
}

# The fabric's LIDs that queries are made of: of the SM, a host, a switch, a host far
# from both; one that nobody has.
choose_queries() {
	local own=$1 switch=$2 host=$3 nobody=40000 name guid l
	name=$(ask "$far" NR "$host" | sed -nE 's/.*NodeDescription=([^|]*)$/\1/p' | tr -d ' ')
	guid=$(ask "$far" NR "$host" | sed -nE 's/.*port_guid=(0x[0-9a-f]+).*/\1/p')
	queries=(CPI NR -N -D -s PIR LR -x LFTR MFTR GIR SWIR SMIR PKTR "--smkey 1 PKTR"
		"-O $host" "-U $guid" "-L $name" "-l $name" "-G $name" "-x $host" "-x $switch $own")
	for l in "$own" "$switch" "$host" $((host + 1)) $((switch + 1)) $nobody; do
		queries+=("NR $l" "PIR $l" "PIR $l/1" "PIR $l/0" "PIR $l/7" "PIR $l/1/128" "PIR $l/1/0"
			"LR $l" "LR $l/1" "LR $l/2" "LR $l/0" "LR $l $switch" "LR $l/1 $switch" "LR $switch $l/1"
			"LR $switch/1 $l/1" "LFTR $l" "LFTR $l/0" "LFTR $l/1" "LFTR $l/700" "MFTR $l" "MFTR $l/0"
			"MFTR $l/0/0" "GIR $l" "GIR $l/0" "GIR $l/2" "GIR $l/200" "SWIR $l" "SMIR $l"
			"--smkey 1 PKTR $l" "--smkey 1 PKTR $l/0" "--smkey 1 PKTR $l/1" "--smkey 1 PKTR $l/1/0"
			"--smkey 1 PKTR $l/0/0")
	done
}

# --- what differs, and why that is right ---

# explained QUERY FILE: its records without what OpenSM does otherwise; of a pair of files.
explained() {
	local port='.*'
	case $1 in
	CPI)	# CapabilityMasks say what each can, and are looked at below.  Nothing of the Trap
		# fields counts where TrapGID is 0, which is to say that there are no traps (13.4.8.1).
		sed -E 's/\|[^|]*(Capability mask|Trap QKey)[^|]*//g' "$2" ;;
	SMIR*)	# a heartbeat (14.2.5.13), not a number that means something
		sed -E 's/ActCount=[0-9]+/ActCount=/' "$2" ;;
	SWIR*)	# saquery leaves it out where ClassPortInfo does not say that it is managed
		sed -E 's/\| MulticastFDBTop=[^|]*//' "$2" ;;
	LFTR*)	# each has its own idea of the best way; below they are held against the devices
		sed -E 's/\| LFT:.*//' "$2" ;;
	PKTR)	# a request without the SM_Key is denied (15.2.2), not invalid, as OpenSM has it
		sed -E 's/0x0[27]00, SA\(SA_ERR_REQ_(INVALID|DENIED)\)/refused/' "$2" ;;
	*PKTR*)	# External ports of switches have a table to enforce partitions by.  OpenSM writes
		# them all; where they do not enforce, qosd does not, and so does not know them.
		# BlockNum, as everything, is big-endian (1.5.1): OpenSM answers in the
		# order of its host, and saquery prints it in that.  A CA has no table of another
		# port than asked for, whose number OpenSM does not look at.
		[[ ! $1 =~ PKTR\ [0-9]+/([0-9]+) ]] || port=${BASH_REMATCH[1]}
		grep -E "\\| Port=$port\\||ERROR" "$2" | awk -v switches="$switches" '
			BEGIN { n = split(switches, s, " "); for (i = 1; i <= n; i++) is_switch[s[i]] }
			/ LID=/ {
				match($0, / LID=[0-9]+/); lid = substr($0, RSTART + 5, RLENGTH - 5)
				match($0, / Port=[0-9]+/); port = substr($0, RSTART + 6, RLENGTH - 6)
				if (lid in is_switch && port != 0)
					next
			}
			match($0, / Block=[0-9]+/) {
				block = substr($0, RSTART + 7, RLENGTH - 7)
				if (block >= 256 && block % 256 == 0)
					sub(/ Block=[0-9]+/, " Block=" block / 256)
			}
			{ print }' | sort ;;
	PIR*)	# OpenSM has no more than zeros of most ports that are Down, not even what they
		# could be.  What they say themselves is looked at below.  LocalPort is the port by
		# which a switch was asked, on one of several ways.
		awk -F '|' 'NR == FNR { if (/LinkWidthSupported:=undefined/) empty[$4, $5]; next }
			!(($4, $5) in empty)' "osm/$i" "$2" | sed 's/LocalPort:=[0-9]*/LocalPort:=/' | sort ;;
	*) cat "$2" ;;
	esac
}

# difference: of want and got, some of it, field by field.
difference() {
	diff <(tr '|' '\n' <want | sort | uniq -c) <(tr '|' '\n' <got | sort | uniq -c) | head -n 12
}

# compare: the directories osm and own.
compare() {
	local i answered=0 query
	for i in "${!queries[@]}"; do
		query=${queries[i]}
		explained "$query" "osm/$i" >want
		explained "$query" "own/$i" >got
		cmp -s want got || bad "saquery $query under OpenSM and under qosd: $(difference)"
		[ ! -s got ] || answered=$((answered + 1))
	done
	# and both did not just say nothing
	[ $((answered * 3)) -gt ${#queries[@]} ] || bad "only $answered of ${#queries[@]} queries have an answer"
}

# --- one fabric under both ---

start_opensm() {
	local as
	rm -rf osm.dir
	mkdir osm.dir
	as "$node"
	OSM_CACHE_DIR=$work/osm.dir OSM_TMP_DIR=$work/osm.dir "${as[@]}" \
		opensm -f osm.dir/log -e "$@" >osm.dir/out 2>&1 &
	opensm=$!
	pids+=("$opensm")
	until_ 30 grep -qs 'SUBNET UP' osm.dir/log || fail "OpenSM does not bring it up: $(tail -n 3 osm.dir/log)"
}

# in_turn TOPOLOGY LMC
in_turn() {
	local lids switch
	topology=$1
	note "$(basename "$topology"), LMC $2: OpenSM, then qosd"
	node=$(first_ca "$topology")
	far=$(cas "$topology" | tail -n 1)
	rm -rf osm own state
	start_sim "$topology"
	start_opensm --lmc "$2"
	ask "$far" NR >nodes
	switches=$(sed -nE 's/.*\| lid=([0-9]+).*node_type=Switch.*/\1/p' nodes | sort -n | xargs)
	switch=${switches%% *}
	mapfile -t lids < <(sed -nE 's/.*\| lid=([0-9]+).*node_type=Channel.*/\1/p' nodes | sort -n)
	choose_queries "$(on "$far" sminfo | sed -nE 's/.*sm lid ([0-9]+) .*/\1/p')" "$switch" "${lids[${#lids[@]} / 2]}"
	ask_all "$far" osm
	end "$opensm"
	echo "lmc: $2" >qosd.yaml
	start_and_wait "$node" -c qosd.yaml
	ask_all "$far" own
	compare
	# tables that nobody manages are not known, and so are not told
	expect "SL2VL records without a policy" "" "$(ask "$far" SL2VL)"
	expect "VLArb records without a policy" "" "$(ask "$far" VLAR)"
	stop_qosd
	stop_sim
}

# shellcheck disable=SC2086 # they are words
"$tools/gentopo" fat-tree ${SAQUERY_TREE:---levels 2 --radix 8} >fat-tree.topo || fail gentopo
in_turn "$work/fat-tree.topo" 1
in_turn "$top/examples/cluster.topo" 0
real=$fabrics/psmn-x5.topo
if [ -e "$real" ]; then in_turn "$real" 0; else note "no dumps of real fabrics in $fabrics"; fi

# --- what the SA says of devices, and what they say ---

note "the tables of a policy"
topology=$top/examples/cluster.topo
node=$(first_ca "$topology")
far=$(cas "$topology" | tail -n 1)
node017=H-248a070300a25c40 node017_guid=248a070300a25c41
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
broadcast=ff12:401b:ffff::ffff:ffff
sim_options=()		# devices as their makers have them: with partition enforcement, to begin with
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {}}
  lab: {pkey: 0x10, members: {0x248a070300a25c41: full, 0x248a070300a25dd1: limited}}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 1, 2, 3, 7, 7, 7, 7, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: ["3:64", "7:1"], low: ["0:64", "1:2", "2:128", "3:1", "7:7"], high-limit: 10}
END
rm -rf state
start_sim "$topology"
echo "priority: 5" >qosd.yaml
start_and_wait "$node" -c qosd.yaml -p policy.yaml
ask "$far" NR >nodes
lid_of() { sed -nE "s/.*\| lid=([0-9]+).*port_guid=0x$1.*/\1/p" nodes; }
guid_of() { sed -nE "s/.*\| lid=$1\|.*port_guid=0x([0-9a-f]+).*/\1/p" nodes; }
host=$(lid_of $node017_guid)
read -r leaf leaf_port < <(ask "$far" LR "$host" | sed -nE 's/.*ToPort=([0-9]+)\| ToLID=([0-9]+).*/\2 \1/p')
uplink=$(ask "$far" LR "$leaf" | sed -nE 's/.*FromPort=([0-9]+)\|.*/\1/p' | sort -n | tail -n 1)
[ -n "$host$uplink" ] || fail "no links of LID '$host' and '${leaf:-}'"

# same WHAT: the files device and sa, in which there is something.
same() {
	[ -s device ] || bad "$1: the device says nothing"
	expect_same "$1 by the device and by the SA" device sa
}

# What the SA tells of pairs of ports; the device has tables of all, also where nobody wrote any.
for at in "$leaf $leaf_port" "$leaf $uplink" "$host 0"; do
	read -r l p <<<"$at"
	ask "$far" SL2VL "$l//$p" | grep "OutPort=$p|" |
		sed -nE 's/.*InPort=([0-9]+)\|.*\| ?VL:(.*)$/\1 \2/p' | tr -s '| ' ' ' | sed 's/ $//' | sort >sa
	on "$far" smpquery sl2vl "$l" "$p" 2>/dev/null |
		sed -nE 's/^ports: in +([0-9]+), out +[0-9]+: \|(.*)$/\1 \2/p' | tr -s '| ' ' ' | sed 's/ $//' |
		awk 'NR == FNR { told[$1]; next } $1 in told' sa - | sort >device
	same "SL2VL of LID $l, out $p"
done
# four VLs are all that it has
expect_match "tables of a host" ' 0 1 2 3 0 1 2 3 15 15 15 15 0 0 0 15$' "$(tail -n 1 device)"

# arbitration LID PORT: as vlarb of lib.sh has it.
arbitration() {
	ask "$far" VLAR "$1/$2" | awk -F '|' '
		{
			n = 0; line = ""
			for (i = 1; i <= NF; i++) {
				if ($i ~ /Block=/) block = substr($i, index($i, "=") + 1)
				if ($i ~ /VL ?:/) { kind = "vl"; sub(/.*:/, "", $i) }
				if ($i ~ /Weight ?:/) { kind = "weight"; n = base; sub(/.*:/, "", $i) }
				if ($i ~ /^ *[0-9]+ *$/ && kind != "") {
					if (kind == "vl") { if (!fresh) { base = n; fresh = 1 } vl[n++] = $i + 0 }
					else { weight[n++] = $i + 0; fresh = 0 }
				}
			}
			last = 0
			for (i = 0; i < n; i++) if (vl[i] || weight[i]) last = i + 1
			for (i = 0; i < last; i++) line = line " " vl[i] ":" weight[i]
			if (block == 1) low = line; else if (block == 3) high = line
			kind = ""; fresh = 0
		}
		END { print "low:" low " high:" high }'
}
for at in "$leaf $leaf_port" "$leaf $uplink" "$host 1"; do
	read -r l p <<<"$at"
	vlarb "$far" "0x$(guid_of "$l")" "$p" >device
	arbitration "$l" "$p" >sa
	same "VL arbitration of LID $l, port $p"
done
expect_match "arbitration of a host" 'low: 0:64 1:2 2:128 3:1 high: 3:64$' "$(<sa)"

# The port of the leaf towards node017 enforces partitions.
for at in "$leaf $leaf_port" "$leaf 0" "$host 1"; do
	read -r l p <<<"$at"
	on "$far" smpquery pkeys "$l" "$p" 2>/dev/null | sed -nE 's/^ *[0-9]+: //p' | tr ' ' '\n' | grep 0x >device
	ask "$far" --smkey 1 PKTR "$l/$p" | sed 's/.*PKey Table://' | tr -s '| ' '\n' | grep 0x |
		head -n "$(wc -l <device)" >sa
	same "P_Keys of LID $l, port $p"
	[ "$p" = 0 ] || expect "P_Keys of LID $l, port $p" "0xffff 0x8010" "$(grep -v 0x0000 sa | xargs)"
done
[[ $(ask "$far" PKTR "$host") == *ERR_REQ_DENIED* ]] || bad "P_Keys without the SM_Key: $(ask "$far" PKTR "$host")"

note "forwarding tables"
read_tables "$far"
ask "$far" LFTR | awk -F '|' '
	FILENAME == ARGV[1] {
		if ($0 ~ /=Switch/) { match($0, /port_guid=0x[0-9a-f]+/); g = substr($0, RSTART + 12, RLENGTH - 12); sub(/^0+/, "", g)
			match($0, /\| lid=[0-9]+/); guid[substr($0, RSTART + 6, RLENGTH - 6)] = g }
		next
	}
	{
		match($0, / LID=[0-9]+/); l = substr($0, RSTART + 5, RLENGTH - 5)
		for (i = 1; i <= NF; i++)
			if (split($i, e, " ") == 2 && e[1] ~ /^[0-9]+$/ && e[2] != 255)
				printf "%s %04x %d\n", guid[l], e[1], e[2]
	}' nodes - | sort >sa
sort lft.devices >device
same "linear forwarding tables"

on_own "$node017" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid $node017_guid)" join-state=1 >/dev/null
on_own "$gpu01" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid $gpu01_guid)" join-state=1 >/dev/null
multicast_by_device() {
	on "$far" ibroute -M "$leaf" 2>&1 | awk '
		/^0xc/ {
			line = $1
			for (p = 0; p <= 36; p++)
				if (substr($0, 13 + 2 * p, 1) == "x")
					line = line " " p
			print line
		}' >device
	[ -s device ]
}
multicast_by_sa() {
	ask "$far" MFTR "$leaf" | awk -F '|' '
		function hex(s,  n, i) {
			for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		{
			match($0, /Position=[0-9]+/); pos = substr($0, RSTART + 9, RLENGTH - 9)
			for (i = 1; i <= NF; i++)
				if (split($i, e, " ") == 2 && e[1] ~ /^0xc/)
					for (b = 0; b < 16; b++)
						if (int(hex(e[2]) / 2 ^ b) % 2)
							print e[1], pos * 16 + b
		}' | sort -k 1,1 -k 2n | awk '{ line[$1] = line[$1] " " $2 } END { for (m in line) print m line[m] }' | sort >sa
	[ -s sa ]
}
until_ 5 multicast_by_device || bad "no multicast tables"
multicast_by_sa
same "multicast forwarding tables"

note "what ports and switches are"
for field in LinearFdbCap McastFdbCap LinearFdbTop PartEnforceCap; do
	on "$far" smpquery switchinfo "$leaf" 2>&1 | sed -nE "s/^$field:\.*([0-9]+)$/\1/p"
done >device
ask "$far" SWIR "$leaf" | tr '|' '\n' |
	sed -nE 's/^ (LinearFDBCap|MulticastFDBCap|LinearFDBTop|PartitionEnforcementCap)=(.*)/\2/p' |
	xargs printf '%d\n' >sa
same "SwitchInfo"
# a port that is Down: see PIR above
down=$(ask "$far" PIR "$leaf" | sed -nE 's/.*PortNum=([0-9]+)\|.*LinkState:=Down.*/\1/p' | head -n 1)
for p in "$down" "$leaf_port"; do
	on "$far" smpquery portinfo "$leaf" "$p" 2>/dev/null | sed -nE 's/^([A-Za-z0-9]+):\.+(.*)$/\1 \2/p' |
		grep -v '^LocalPort ' >device
	ask "$far" PIR "$leaf/$p" | tr '|' '\n' | sed -nE 's/^ ([A-Za-z0-9]+):=(.*)$/\1 \2/p' |
		grep -v '^LocalPort ' >sa
	# smpquery says M_Keys, and some fields in two lines
	sed -i '/^Mkey /d' device sa
	expect "fields of PortInfo of port $p that the SA does not tell as the device does" "" \
		"$(grep -vxFf device sa | head -n 3)"
	[ "$(wc -l <sa)" -gt 40 ] || bad "PortInfo of port $p has $(wc -l <sa) fields"
done

note "another SM"
start_opensm_standby() {
	local as
	mkdir osm.standby
	as "$far"
	OSM_CACHE_DIR=$work/osm.standby OSM_TMP_DIR=$work/osm.standby "${as[@]}" \
		opensm -f osm.standby/log -p 0 >osm.standby/out 2>&1 &
	opensm=$!
	pids+=("$opensm")
}
start_opensm_standby
states() { ask "$node017" SMIR | sed -nE 's/.*SMState=([0-9])$/\1/p' | sort | xargs; }
both() {
	ctl sweep >/dev/null
	[ "$(states)" = "2 3" ]
}
until_ 20 both || bad "SMs by the SA: $(ask "$node017" SMIR)"
expect "SM_Keys shown" "" "$(ask "$node017" SMIR | grep -v 'SM_Key=0x0000000000000000')"
end "$opensm"
gone_again() {
	ctl sweep >/dev/null
	[ "$(ask "$node017" SMIR | wc -l)" = 1 ]
}
until_ 20 gone_again || bad "SMs by the SA after one has gone: $(ask "$node017" SMIR)"
stop_qosd || bad "exit status $?"
stop_sim
