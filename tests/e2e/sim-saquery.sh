#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The records that saquery gets of one fabric, by each of its filters: first under
# OpenSM, then under qosd, which takes the subnet over as it is.  They are the same
# sets of records but for what is explained below.  Then, with tables of a policy,
# what the SA says of devices and what they say themselves.
#
# Records of what clients register, and paths, are other tests' matter.
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
	local query i=0
	mkdir "$2"
	for query in "${queries[@]}"; do
		# shellcheck disable=SC2086 # they are words
		ask "$1" $query >"$2/$((i++))"
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
	local port=.*
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
		# could be.  What they say themselves is looked at below.
		awk -F '|' 'NR == FNR { if (/LinkWidthSupported:=undefined/) empty[$4, $5]; next }
			!(($4, $5) in empty)' "osm/$i" "$2" ;;
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

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat-tree.topo || fail gentopo
in_turn "$work/fat-tree.topo" 1
in_turn "$top/examples/cluster.topo" 0
real=$fabrics/psmn-x5.topo
if [ -e "$real" ]; then in_turn "$real" 0; else note "no dumps of real fabrics in $fabrics"; fi
