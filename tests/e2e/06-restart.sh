#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# A restart disturbs nothing: on an unchanged fabric no Set is sent and LIDs stay,
# with the state folder and without it; a daemon that is killed at any moment of the
# bring-up is carried on where it was; --once says what it did.
. "$(dirname "$0")/lib.sh"

"$tools/gentopo" fat-tree --levels 3 --radix 16 >big.topo || fail "gentopo"
node=$(first_ca big.topo)
# ibsim does not keep the high limit, so that one would be written again.
sed "s/high-limit: .*/high-limit: 0/" "$top/etc/policy.yaml" >policy.yaml
policy=policy.yaml
sizes=(-N 1400 -S 330 -P 16000)

# lids: "GUID LID" lines of all end ports that have one, as discovery finds them.
lids() { on "$node" ibnetdiscover -p 2>/dev/null | awk '$2 != 0 && ($1 == "CA" || $1 == "SW") { print $4, $2 }' | sort -u; }

note "bring-up, and a restart of each kind"
start_sim big.topo "${sizes[@]}"
start_and_wait "$node" -p "$policy"
whole=$(sets)
lids >lids.first
all_active "$node" big.topo
stop_qosd || bad "exit status $? after SIGTERM"
for how in "with its state" "without its state" "after a kill"; do
	[ "$how" != "without its state" ] || rm -rf state
	start_and_wait "$node" -p "$policy"
	expect "Sets, restarted $how" 0 "$(sets)"
	expect "first sweep" 1 "$(status sweeps)"
	stop_qosd KILL
done
lids >lids.later
expect_same "LIDs" lids.first lids.later

note "--once"
once "$node" -p "$policy" || bad "exit status $? of --once"
expect_match "its summary" "^master: 1344 nodes, 320 switches, 6144 of 6144 ports active, .*\(0 Sets\)" "$(<once)"
all_active "$node" big.topo
stop_sim

# The number of Sets of the one that is killed is at least what it last said.
for ms in 5 20 60 120 200 300; do
	note "killed after $ms ms"
	rm -rf state
	start_sim big.topo "${sizes[@]}"
	start_qosd "$node" -p "$policy"
	sleep "0.$(printf '%03d' "$ms")"
	sent=$(sets)
	phase=$(status phase)
	stop_qosd KILL
	lids >lids.killed
	start_and_wait "$node" -p "$policy"
	rest=$(sets)
	note "in phase ${phase:-start}: ${sent:-0} Sets and more, then $rest; all at once $whole"
	# Whatever had arrived and was not answered yet was within the window.
	expect_less "Sets of both" $((whole + 64 + 1)) $((${sent:-0} + rest))
	lids >lids.restarted
	expect "LIDs that did not stay" "" "$(comm -23 lids.killed lids.restarted | head -n 3)"
	all_active "$node" big.topo
	stop_qosd || bad "exit status $? after SIGTERM"
	once "$node" -p "$policy" || bad "exit status $? of --once"
	expect_match "Sets of a third run" "\(0 Sets\)" "$(<once)"
	stop_sim
done
