#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the statuses that the SA of a running daemon returns for each attribute with each
# method, component and header, byte by byte, against IBA.  Also tests that the SA counts the
# requests and serves all clients afterwards.
# (unit/sa/test_statuses.c tests the same in full, with every length and value.)
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no RMPP, and what no agent has registered arrives there"
[ -x "$tools/sastatus" ] || { echo "$tools/sastatus is missing: make check-programs"; exit 1; }

sm_node=H-f452140300811200
asker=H-f452140300811230
key=1122334455667788
echo "sm-key: 0x$key" >qosd.yaml

# send WHAT: sends the cases in the file `cases`; adds the answers to the file `tally`.
send() {
	on_own "$asker" "$tools/sastatus" <cases >answers 2>&1
	[ $? -lt 2 ] || fail "sastatus: $(<answers)"
	grep ', not ' answers >different
	[ ! -s different ] || bad "$1: $(wc -l <different) of $(wc -l <cases) answers differ: $(head -n 5 different)"
	grep -v ', not ' answers >>tally
	note "$(wc -l <cases) requests: $1"
}

# Statuses of requests without any component to attributes that the SA serves: METHOD=STATUS.
served=(
	"0x01 1=0000"				# ClassPortInfo
	"0x03 2=0200"				# InformInfo: nothing to unsubscribe
	"0x11 1=0400 18=0000" "0x12 1=0400 18=0000" "0x14 1=0400 18=0000" "0x15 1=0400 18=0000"
	"0x16 1=0300 18=0000"			# no switch has a RandomForwardingTable
	"0x18 1=0000 18=0000"			# one SM
	"0x20 1=0400 18=0000" "0x30 1=0400 2=0600 18=0000 21=0600"
	"0x31 1=0300 2=0600 18=0000 21=0600"	# no service is registered
	"0x33 1=0700 18=0700"			# without the SM_Key
	"0x35 1=0600 18=0000"
	"0x38 1=0000 2=0600 18=0000 21=0600"	# one group, the IPoIB broadcast group
	"0x39 19=0600"				# TraceRecord, whose request is a PathRecord
	"0x3a 20=0600"
	"0xf3 1=0300 18=0000"
)
# Attributes that the SA does not serve or that do not exist.
others="0x00 0x02 0x3b 0x3c 0x3d 0x3e 0xff 0x135 0xff01 0xffff"

# by_method ATTRIBUTE [METHOD=STATUS...]: prints a case for each method (IBA 13.4.6, 13.4.7)
by_method() {
	local attr=$1 method status
	local -A of=()
	shift
	for status in "$@"; do of[${status%=*}]=${status#*=}; done
	for ((method = 0; method < 256; method++)); do
		status=0x0008
		case $method in
		1 | 2 | 18 | 19 | 20 | 21) status=0x000c ;;
		3 | 5 | 7) status=none ;;	# Send, Trap, TrapRepress
		6) status=none ;;		# Report: goes to subscribers on that node
		esac
		[ -z "${of[$method]:-}" ] || status=0x${of[$method]}
		[ $method -lt 128 ] || status=none
		echo "$status $method $attr 0"
	done
}

# component BIT: prints the component mask with this bit
component() { printf '48:%016x' $((1 << $1)); }

start_sim "$top/examples/cluster.topo"
start_and_wait "$sm_node" -c qosd.yaml
: >tally
before=$(ctl -j sa-stats | jq -c '[.requests, .answered, .dropped, .abandoned]')
expect "before anybody asks" '[0,0,0,0]' "$before"

for attr in "${served[@]}"; do
	# shellcheck disable=SC2086 # words
	by_method $attr
done >cases
for attr in $others; do by_method "$attr"; done >>cases
send "each attribute with each method"

for attr in "${served[@]}"; do
	read -ra words <<<"$attr"
	for good in "${words[@]:1}"; do
		method=${good%=*} status=0x${good#*=} attr=${words[0]}
		case $attr:$method in
		0x33:1) trusted=0x0400 ;;
		0x33:18) trusted=0x0000 ;;
		*) trusted=$status ;;
		esac
		cat <<-END
		none $method $attr 0 36:1122334455667789
		none $method $attr 0 36:0000000000000001
		$trusted $method $attr 0 36:$key
		$status $method $attr 1
		$status $method $attr 0x40000000
		$status $method $attr 0 4:7fff
		$status $method $attr 0 18:ffff 44:ffffffff
		$status $method $attr 0 24:ffff06ffffffffffffffffff
		END
	done
done >cases	# a kernel answers or drops other base and class versions itself
send "keys, modifiers, and what is reserved"

# A GetTable query by any one component: the status is OK, however many records match.
for attr in 0x11 0x12 0x14 0x15 0x16 0x18 0x20 0x30 0x31 0x38 0xf3; do
	for ((bit = 0; bit < 64; bit++)); do
		echo "0x0000 18 $attr 0 $(component $bit)"
	done
	echo "0x0000 18 $attr 0 48:ffffffffffffffff"
done >cases
# One of the components that a join, a service and a MultiPathRecord need: the others are missing (15.2.5)
for ((bit = 0; bit < 63; bit++)); do
	echo "0x0600 2 0x38 0 $(component $bit)"
	echo "0x0600 21 0x38 0 $(component $bit)"
	echo "0x0600 2 0x31 0 $(component $bit)"
	echo "0x0600 21 0x31 0 $(component $bit)"
	echo "0x0600 20 0x3a 0 $(component $bit)"
	case $bit in	# a GID and LID 0, which no port has
	3) echo "0x0500 19 0x39 0 $(component $bit)" ;;
	5) echo "0x0300 19 0x39 0 $(component $bit)" ;;
	*) echo "0x0600 19 0x39 0 $(component $bit)" ;;
	esac
	echo "0x0700 18 0x33 0 $(component $bit)"
done >>cases
cat >>cases <<END
0x0600 1 0x35 0 $(component 0)
0x0600 1 0x35 0 $(component 1)
0x0500 18 0x35 0 $(component 3)
0x0000 18 0x35 0 $(component 4)
0x0200 20 0x3a 0 48:0000000000180000
0x001c 2 0x03 0 72:ffff 79:02
0x001c 2 0x03 0 72:ffff 78:02
END
send "each component alone"

# 13.6.2.1: RMPPVersion, Type, Flags, Status; SegmentNumber; PayloadLength
cat >cases <<END
abort:125 20 0x3a 0 24:0001070000000001000000dc
abort:125 20 0x3a 0 24:0201070000000001000000dc
abort:121 20 0x3a 0 24:0100070000000001000000dc
abort:121 20 0x3a 0 24:0109070000000001000000dc
abort:124 20 0x3a 0 24:0101070100000001000000dc
abort:120 20 0x3a 0 24:0101070000000000000000dc
abort:120 20 0x3a 0 24:0101070000000002000000dc
abort:120 20 0x3a 0 24:0101050000000001000000dc
abort:119 20 0x3a 0 24:010107000000000100000013
abort:119 20 0x3a 0 24:0101070000000001000000dd
none 20 0x3a 0 24:0101050000000002000000dc
none 20 0x3a 0 24:010201000000000100000041
none 20 0x3a 0 24:010301010000000000000000
none 20 0x3a 0 24:0104017e0000000000000000
ack 20 0x3a 0 24:010103000000000100000000
END
send "wrong RMPP headers"

# promise: S6
note "what it counts is what it was sent"
# "NAME-OF-STATUS COUNT" lines in qosd-ctl's names
sed -n 's/^0x0000 /ok /; s/^0x0004 /bad-version /; s/^0x0008 /bad-method /
	s/^0x000c /bad-method-attribute /; s/^0x001c /bad-value /; s/^0x0200 /request-invalid /
	s/^0x0300 /no-records /; s/^0x0400 /too-many-records /; s/^0x0500 /invalid-gid /
	s/^0x0600 /insufficient-components /; s/^0x0700 /request-denied /
	/^[a-z-]* [0-9]*$/p' tally | grep -vE '^(none|stopped|ack) ' |
	awk '{ n[$1] += $2 } END { for (what in n) print what, n[what] }' | sort >sent
stopped=$(awk '$1 == "stopped" { n += $2 } END { print n + 0 }' tally)
ctl -j sa-stats >stats
jq -r '[.attributes[].statuses | to_entries[]] | group_by(.key)[] |
	"\(.[0].key) \(map(.value) | add)"' stats >counted.ok
# a client that aborts a table saw OK in its first segment; qosd counts the request as abandoned
awk -v stopped="$stopped" '$1 == "ok" { $2 += stopped } { print }' counted.ok | sort >counted
expect_same "statuses" sent counted
expect "abandoned" "$stopped" "$(jq .abandoned stats)"
[ "$stopped" -gt 10 ] || bad "no table was stopped"
expect "dropped: wrong keys" "$(($(printf '%s\n' "${served[@]}" | grep -o '=' | wc -l) * 2))" "$(jq .dropped stats)"
expect "the sum" "$(jq .requests stats)" "$(jq '.answered + .dropped + .abandoned' stats)"
expect "PathRecords under their name" 1 "$(jq '[.attributes[] | select(.attribute == "PathRecord")] | length' stats)"

# promise: S6
note "and it serves as before"
on "$asker" saquery NR >nodes.out 2>&1 || bad "saquery: $(tail -n 3 nodes.out)"
expect "NodeRecords" "$(status nodes)" "$(grep node_guid nodes.out | sort -u | wc -l)"
expect_match 'a path' '[[:space:]]sl\.+0x' "$(on "$asker" saquery --src-to-dst 1:2 2>&1)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
