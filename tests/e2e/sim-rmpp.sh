#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests SA tables with 1,024 hosts: each is complete, up to half a million segments, even
# with loss; a client that stops acknowledging does not delay others.
#
# promise: N5
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no RMPP"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }
[ -x "$tools/rmppsilent" ] || { echo "$tools/rmppsilent is missing: make check-programs"; exit 1; }

manager="host-0001 HCA-1" asker="host-0700 HCA-1"
export LC_ALL=C	# sort is ten times as fast
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# fields NAME...: prints these fields of each record of saquery's output, one record a line.
fields() {
	local joined columns
	joined=$(IFS='|'; echo "$*")
	columns=$(printf -- '- %.0s' "$@")
	# shellcheck disable=SC2086 # as many columns as there are
	grep -E "^[[:space:]]*($joined)\.\." | sed 's/.*\.//' | paste -d ' ' $columns | sort
}

# segments ATTRIBUTE: prints how many segments of answers were sent so far.
segments() { sim_ctl stats | awk -v attr="$1" '$2 == attr && $3 == "get-table-resp" { print $4 }'; }

# table QUERY ATTRIBUTE SECONDS FIELD...: writes the fields of the manager's answer to ATTRIBUTE.got.
# If the manager sent nothing at all, the request was lost and is repeated.
table() {
	local query attr=$2 seconds=$3 try before begin patience
	look_busy
	read -ra query <<<"$1"
	shift 3
	for try in 1 2 3 4; do
		before=$(segments "$attr")
		begin=$(now_ms)
		if on "$asker" saquery -t $((seconds * patience * 1000)) "${query[@]}" 2>saquery.err |
				fields "$@" >"$attr.got" && [ -s "$attr.got" ]; then
			note "$attr: $(wc -l <"$attr.got") records in $(($(now_ms) - begin)) ms," \
				"$(($(segments "$attr") - before)) segments${try/#/, try }"
			return
		fi
		[ "$(segments "$attr")" = "$before" ] ||
			bad "$attr: begun and not completed: $(<saquery.err)"
	done
	bad "$attr: no answer: $(<saquery.err)"
}

# all_pairs: counts PathRecords only: distinct ordered pairs of LIDs of end ports.
all_pairs() {
	local n
	n=$(wc -l <nodes)
	table PR PathRecord 20 dlid slid
	expect "pairs of LIDs" $((n * n)) "$(uniq PathRecord.got | wc -l)"
	expect "records" $((n * n)) "$(wc -l <PathRecord.got)"
	awk '{ seen[$1]; seen[$2] } END { for (lid in seen) print lid }' PathRecord.got | sort -n >lids.got
	expect_same "LIDs" lids lids.got
}

all_nodes() {
	table NR NodeRecord 5 node_guid
	expect_same "NodeRecords" nodes NodeRecord.got
}

all_links() {
	table LR LinkRecord 5 FromLID FromPort ToPort ToLID
	expect_same "LinkRecords" links LinkRecord.got
}

# truth: writes nodes, LIDs and links as the simulator has them.
truth() {
	sim_ctl show nodes >nodes.txt
	sim_ctl show links >links.txt
	awk 'NR > 1 { print $2 }' nodes.txt | sort >nodes
	awk 'NR > 1 { print $3 }' nodes.txt | sort -n >lids
	awk -F '  +' '
		function end_of(s,  at) { at = match(s, /\/P[0-9]+$/); port = substr(s, at + 2); return lid[substr(s, 1, at - 1)] }
		FNR == 1 { next }
		FILENAME == ARGV[1] { lid[$NF] = $3; next }
		{
			a = end_of($5); ap = port; b = end_of($6); bp = port
			print a, ap, bp, b
			print b, bp, ap, a
		}' nodes.txt links.txt | sort >links
	expect "nodes" 1344 "$(grep -c 0x nodes)"
	expect "ends of links" 6144 "$(sort -u links | wc -l)"
}

# start_silent NODE ATTRIBUTE ACKS: requests a table, acknowledges a part, and falls silent.
silent_askers=()
start_silent() {
	local n=${#silent_askers[@]} as patience
	as_own "$1"
	look_busy
	"${as[@]}" "$tools/rmppsilent" -a "$3" -t $((60 * patience)) "$2" >"silent.$n" 2>&1 &
	silent_askers+=($!)
	pids+=($!)
	until_ 60 grep -qsx silent "silent.$n" || bad "rmppsilent gets no table: $(<"silent.$n")"
}

# beside_silent COMMAND...: runs a command with queries while four tables stay unacknowledged.  The SA gives those
# up after eight seconds (four tries of two).  Where a busy machine takes that long for the queries, they have
# shown nothing, and are made again beside four others.
beside_silent() {
	local try acks open
	for try in 1 2 3 4 5; do
		open=("${silent_askers[@]: -4}")
		if ! all_open; then
			start_silent "$asker" 0x35 5
			for acks in 0 1 2; do
				start_silent "$asker" 0x20 "$acks"
			done
			open=("${silent_askers[@]: -4}")
		fi
		"$@"
		! all_open || return
		note "$*: tables that nobody acknowledges were given up first, try $try"
	done
	bad "$*: no answer before tables that nobody acknowledges are given up"
}
# all_open: whether none of the tables of ${open[@]} was given up.
all_open() {
	local silent_asker
	[ ${#open[@]} -gt 0 ] || return
	for silent_asker in "${open[@]}"; do
		! gone "$silent_asker" || return
	done
}

# at_once NODE WHAT...: the SA must answer a query for one record.
at_once() {
	on "$1" saquery "${@:2}" >saquery.out 2>&1
	expect "records to saquery ${*:2}" 1 "$(grep -c 'Record dump' saquery.out)"
}

# given_up: in the end, the SA must abort each silent transfer with RMPPStatus 126.
given_up() {
	local silent_asker
	for silent_asker in "${silent_askers[@]}"; do
		wait "$silent_asker" || bad "rmppsilent: exit status $?"
	done
	expect "how they end" "${#silent_askers[@]} aborted 126" \
		"$(sed -nE 's/.* (aborted .*)/\1/p' silent.* | sort | uniq -c | xargs)"
}

start_sim fat-tree:k=16
note "opensm"
bring_up_opensm "$manager" 30
truth
all_nodes
all_links

note "while others have stopped acknowledging"
beside_silent at_once "$asker" NR 1
beside_silent at_once "$manager" NR 1
beside_silent all_nodes
beside_silent all_links
all_pairs
given_up

note "with 5 % loss"
sim_do fault add drop --class sa --chance 5%
all_nodes
all_links
all_pairs
lost=$(sim_ctl drops | awk '$1 == "fault" { print $2; exit }')
note "$lost packets were lost"
[ "${lost:-0}" -gt 10000 ] || bad "nothing was lost"
sim_do fault remove all
end "$opensm"

note "qosd"
start_and_wait "$manager"
truth
sim_do fault add drop --class sa --chance 5%
all_nodes
# All paths from one port, because not every client may request the paths from all ports.
guid=$(awk -v name="$asker" '$0 ~ name { print $2 }' nodes.txt)
table "PR --sgid $(gid "${guid%0}1")" PathRecord 2 dlid
sort -n PathRecord.got >lids.got
expect_same "LIDs" lids lids.got
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
