#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the answers of the subnet administrator through the kernel's RMPP, which opens windows of 64 segments and
# acknowledges each once: tables of any length arrive complete, no window is repeated unless it was lost, and
# losses and many requests at once only cost time.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

"$tools/gentopo" fat-tree --levels 2 --radix 16 >fat.topo || fail "gentopo"
mapfile -t hosts < <(cas fat.topo)
n=${#hosts[@]}
mapfile -t guids < <(sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' fat.topo)
start_sim fat.topo
boot first "${hosts[0]}"
boot second "${hosts[n - 1]}"
cp "$top/etc/policy.yaml" first/share
wait_booted first second
manage first
wait_up first

# metric NAME: prints a metric of qosd.
metric() { guest first qosd-ctl metrics | awk -v name="$1" '$1 == name { print $2 }'; }
# lines COMMAND...: prints how many lines of the output of saquery in the second machine match the first word.
# The kernel gives up a table that is not complete in time, and an emulator takes its time.
records() { guest second "saquery -t 60000 ${*:2}" | grep -cE "$1"; }

# promise: X6
note "each table, through the kernel of another host"
switches=$(sim_ctl show nodes | grep -c '^switch')
ports=$(sim_ctl show end-ports | tail -n +2 | wc -l)
expect "nodes" $((n + switches)) "$(records '^NodeRecord dump' NR)"
expect "switches" "$switches" "$(records '^SwitchInfoRecord dump' SWIR)"
expect "subnet managers" 1 "$(records '^SMInfoRecord dump' SMIR)"
expect "broadcast groups" 1 "$(records 'MGID.*ff12:401b:ffff::ffff:ffff' -g)"
for table in CPI PIR SL2VL PKTR LR LFTR MFTR GIR VLAR; do
	guest second "saquery --smkey 1 $table" >table.$table || bad "no $table: $(tail -n 2 table.$table)"
	[ "$(wc -l <table.$table)" -gt 3 ] || [ $table = MFTR ] || bad "$table is empty"
done
expect "links" $((2 * $(sim_ctl show links | tail -n +2 | wc -l))) "$(grep -c '^LinkRecord dump' table.LR)"
# promise: X6
note "thousands of records, no window of which is repeated without a loss"
paths=$((ports * ports))
before=$(counter "${hosts[0]}/P1" unicast-xmit-packets)
expect "paths" $paths "$(records '^PathRecord dump' PR)"
sent=$(($(counter "${hosts[0]}/P1" unicast-xmit-packets) - before))
# Each segment carries 200 bytes of records of 64 bytes.  A window may be repeated when the host is so busy that the
# machine stands still for longer than qosd waits.
segments=$((paths * 64 / 200))
[ $sent -ge $segments ] || bad "$sent packets for $segments segments"
expect_less "packets for $segments segments" $((segments * 11 / 10)) $sent
expect_less "repeated segments" $((segments / 20)) "$(metric qosd_rmpp_segments_repeated_total)"

# Every other host to each host: 3,096 bytes of GIDs.  At most 127 paths may be asked for.
many_pairs() { guest second multiask $((n / 2)) "$n" "${guids[@]}"; }
# promise: X6
note "a request of several MADs"
expect "the answer" "segments=16 paths=127 pairs=127" "$(many_pairs)"

# promise: X6
note "2 % of the packets are lost"
sim_do fault add drop --class sa --chance 2%
expect "paths in spite of losses" $paths "$(records '^PathRecord dump' PR)"
for i in 1 2 3 4 5 6 7 8 9 10; do
	expect "the answer to long request $i" "segments=16 paths=127 pairs=127" "$(many_pairs)"
done
[ "$(sim_ctl drops | awk '$1 == "fault" { print $2 + 0; exit }')" -gt 0 ] || bad "nothing was lost"
sim_do fault remove all

# promise: X6
note "thousands of requests at once"
printf '%s\n' "${guids[@]}" >second/share/guids
guest second "joinstorm -f -g 30 -m 4 -w 1000 /mnt/guids" >storm || bad "requests were refused: $(<storm)"
expect_match "requests" "refused=0" "$(<storm)"
stop_managing first
expect "exit status of qosd" 0 $?
kernel_is_calm first second
