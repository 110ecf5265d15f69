#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests SA tables over qosd's own RMPP with 1,024 hosts: each is complete, with and without
# loss, beside other tables, and while other clients do not acknowledge; qosd does not build
# whole tables, so its memory does not grow; a small query does not wait for tables.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no RMPP"
[ -x "$tools/rmppsilent" ] || { echo "$tools/rmppsilent is missing: make check-programs"; exit 1; }

manager="host-0001 HCA-1" asker="host-0700 HCA-1"
export LC_ALL=C
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$qosd/status"; }
peak() { awk '/^VmHWM/ { print $2 }' "/proc/$qosd/status"; }

# truth: writes the nodes and ports as the simulator has them.
truth() {
	sim_ctl show nodes >nodes.txt
	awk 'NR > 1 { print $2 }' nodes.txt | sort >nodes
	expect "nodes" 1344 "$(grep -c 0x nodes)"
}

guids() { grep -E '^[[:space:]]*node_guid\.\.' | sed 's/.*\.//' | sort; }

# all_nodes NODE: the node must get every NodeRecord once.
all_nodes() {
	on "$1" saquery -t $((20000 * slow)) NR 2>saquery.err | guids >"nodes.got"
	expect_same "NodeRecords to $1" nodes nodes.got
}

# all_ports NODE: the node must get every PortInfoRecord: 1,024 ports of hosts, 17 of each of 320 switches.
all_ports() {
	on "$1" saquery -t $((20000 * slow)) PIR >ports.out 2>&1
	expect "PortInfoRecords to $1" $((1024 + 320 * 17)) "$(grep -c 'Record dump' ports.out)"
	expect "of different ports" $((1024 + 320 * 17)) "$(awk '
		/EndPortLid/ { sub(/.*\./, ""); lid = $0 } /PortNum/ { sub(/.*\./, ""); print lid, $0 }' \
		ports.out | sort -u | wc -l)"
}

# at_once NODE WHAT...: a query for one record must be answered at once.
at_once() {
	local node=$1 begin
	shift
	begin=${EPOCHREALTIME/./}
	on "$node" saquery "$@" >saquery.out 2>&1
	expect_quick "saquery $*" 2000 "$begin"
	expect "records to saquery $*" 1 "$(grep -c 'Record dump' saquery.out)"
}

start_sim fat-tree:k=16
start_and_wait "$manager"
truth

# promise: S5
note "tables"
all_nodes "$asker"
all_ports "$asker"
at_once "$asker" NR 5
# a port that does not exist: an empty table and no error
expect "records of no port" 0 "$(on "$asker" saquery PIR 1/200 2>&1 | grep -c 'Record dump')"

note "a search through all for one"
guid=$(awk 'NR == 1300 { print $2 }' nodes.txt)
node_lid=$(on "$asker" saquery NR 2>/dev/null | awk -v guid="$guid" '
	/^[[:space:]]*lid\.\./ { lid = $0; sub(/.*\./, "", lid) } index($0, "node_guid") && index($0, guid) { print lid }')
at_once "$asker" NR "$node_lid"

# promise: S5
note "who does not acknowledge, and many at a time"
before=$(rss)
silent_askers=()
for i in {1..12}; do
	as_own "host-$(printf %04d $((100 + i % 3))) HCA-1"
	"${as[@]}" "$tools/rmppsilent" -a $((i % 4)) -t $((60 * slow)) 0x12 >"silent.$i" 2>&1 &
	silent_askers+=($!)
	pids+=($!)
done
for i in {1..12}; do
	until_ 20 grep -qsx silent "silent.$i" || bad "rmppsilent gets no table: $(<"silent.$i")"
done
readers=()
for i in {1..20}; do
	on "host-$(printf %04d $((200 + i))) HCA-1" saquery -t $((60000 * slow)) PIR >"reader.$i" 2>&1 &
	readers+=($!)
	pids+=($!)
done
for i in {1..5}; do
	at_once "$asker" NR "$i"
	on_own "$manager" "$tools/pathquery" get path slid=1 dlid=5 numb-path=1 >path.out 2>&1 ||
		bad "a Get beside tables: $(<path.out)"
done
wait "${readers[@]}"
for i in {1..20}; do
	expect "records to reader $i" 6464 "$(grep -c 'Record dump' "reader.$i")"
done
note "KiB resident: $before before, $(rss) after, $(peak) at most"
# 33 tables of 480 KB each would be 15 MB; one window of segments of each is 0.5 MB in all
expect_less "KiB that qosd has grown" $((slow > 1 ? 100000 : 6000)) $(($(peak) - before))
for silent_asker in "${silent_askers[@]}"; do
	wait "$silent_asker" || bad "rmppsilent: exit status $?"
done
expect "how they end" "12 aborted 126" \
	"$(sed -nE 's/.* (aborted .*)/\1/p' silent.* | sort | uniq -c | xargs)"

# promise: S5
note "a receiver that needs 50 ms for a window"
repeated() { ctl -j status | sed -n '/"rmpp"/,/}/p' | field repeated; }
before=$(repeated)
as_own "host-0300 HCA-1"
"${as[@]}" "$tools/rmppsilent" -w 50 -t $((30 * slow)) 0x11 >slow.out 2>&1 || bad "not complete: $(<slow.out)"
expect_match "what came" '^[0-9]+ segments, ' "$(<slow.out)"
# normally none; on a busy machine, a receiver may take more than three times as long as before
expect_less "segments repeated" 8 $(($(repeated) - before))

# promise: S5
note "one port has so many tables on their way, and no more"
silent_askers=()
for i in {1..16}; do
	as_own "$asker"
	"${as[@]}" "$tools/rmppsilent" -a 0 -t $((60 * slow)) 0x12 >"silent.$i" 2>&1 &
	silent_askers+=($!)
	pids+=($!)
done
for i in {1..16}; do
	until_ 5 grep -qsx silent "silent.$i" || bad "rmppsilent gets no table: $(<"silent.$i")"
done
on "$asker" saquery NR >busy 2>&1
expect_match "the 17th" 'IB_MAD_STATUS_BUSY|0x0*1|Resource busy|[Bb]usy' "$(<busy)"
at_once "$asker" NR 5		# small answers do not count as tables
all_nodes "host-0702 HCA-1"	# another client still gets tables
for silent_asker in "${silent_askers[@]}"; do
	kill "$silent_asker"
done
wait "${silent_askers[@]}" 2>/dev/null

# promise: S5
note "with 5 % loss"
sim_do fault add drop --class sa --chance 5%
for _ in {1..3}; do
	# saquery does not repeat a lost request
	on "host-0703 HCA-1" saquery -t $((20000 * slow)) PIR >ports.out 2>&1
	n=$(grep -c 'Record dump' ports.out)
	[ "$n" = 6464 ] && break
	[ "$n" = 0 ] || bad "PortInfoRecords with loss: $n"
done
expect "PortInfoRecords with loss" 6464 "$n"
lost=$(sim_ctl drops | awk '$1 == "fault" { print $2; exit }')
note "$lost packets were lost"
[ "${lost:-0}" -gt 50 ] || bad "nothing was lost"
sim_do fault remove all
all_nodes "host-0704 HCA-1"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
