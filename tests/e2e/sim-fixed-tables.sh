#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices with fixed SL-to-VL tables: the SA gives no path on an SL that they drop, but
# paths on all others, and gives all again when the devices accept tables.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no such devices"

topology=$top/examples/cluster.topo
manager=H-f452140300811200
from=H-f452140300811230			# node001, at leaf01
node001=$(gid f452140300811231)
gpu01=$(gid 248a070300a25dd1)		# at leaf03, by spine01
node002=$(gid f452140300811281)		# at leaf01, too
spine01=S-7cfe900300b41a20
# A different table for each fault, because qosd remembers tables that a device keeps.
declare -A drops_2=(
	[keeps-tables]="0,1,15,3,15,15,15,15,15,15,15,15,15,15,15,15"
	[refuses-tables]="0,1,15,2,15,15,15,15,15,15,15,15,15,15,15,15"
)

# policy VL,VL,VL: writes a policy with these VLs for SLs 0 to 2, which drops all other SLs.
policy() {
	cat >policy.yaml <<-END
	qos-levels:
	  default: {sl: 0}
	  video: {sl: 2}
	  batch: {sl: 1}
	match-rules:
	  - {qos-class: 7, level: video}
	  - {qos-class: 8, level: batch}
	fabric-setup:
	  sl2vl:
	    - {group: all, table: [$1, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
	END
}
# path TO QOS-CLASS: prints the SL of the path, or "none".
path() {
	local sl
	sl=$(on "$from" saquery PR --sgid "$node001" --dgid "$1" --qos_class "$2" 2>&1 |
		sed -nE 's/^\s*SL\.*0x([0-9a-f]+)$/\1/p;s/^\s*sl\.*(0x)?([0-9a-f]+)$/\2/p' | head -n 1)
	echo "${sl:-none}"
}
slmap_sets() { sim_ctl stats | awk '$2 == "SLtoVLMappingTable" && $3 == "set" { n = $4 } END { print n + 0 }'; }
# sweep: makes a full sweep and sets $new to its Sets of SL-to-VL tables.  A sweep that begins by itself
# retries refused Sets; if its Sets were counted with the full sweep's, there is another full sweep.
sweep() {
	local before
	is_idle() { [ "$(status sweeping)" = false ]; }
	done_() { [ "$(status sweeps)" -gt "$before" ] && is_idle; }
	for _ in 1 2 3 4 5; do
		until_ 10 is_idle || bad "a sweep without an end"
		before=$(status sweeps)
		new=$(slmap_sets)
		ctl sweep >/dev/null || bad "sweep: exit status $?"
		until_ 10 done_ || bad "no end of the sweep"
		new=$(($(slmap_sets) - new))
		[ "$(status sweeps)" -ne $((before + 1)) ] || return 0
	done
	bad "each sweep has another one beside it"
}
# offered WHAT SL-OF-VIDEO: the path between node001 and gpu01 must have this SL; other paths must not change.
offered() {
	expect "$1: SL 2" "$2" "$(path "$gpu01" 7)"
	expect "$1: SL 1" 1 "$(path "$gpu01" 8)"
	expect "$1: SL 0" 0 "$(path "$gpu01" 9)"
	expect "$1: SL 2 elsewhere" 2 "$(path "$node002" 7)"
}
# findings: prints the number of such findings in status, not counting log lines.
findings() { ctl status | grep -cE '^ +warning: .*keeps another SL2VL table'; }
# audit STATUS SL,SL...: the auditor, which checks that no device drops these SLs, must exit with STATUS.
audit() {
	sim_ctl check --sl "$2" >audit 2>&1
	expect "exit status of check --sl $2" "$1" $?
}

sim_options=()
policy "0, 1, 2"
# The simulator counts Sets, so a busy machine must not cause repeated ones.
echo "smp-timeout: 5s" >qosd.yaml
start_sim "$topology"
start_and_wait "$manager" -p policy.yaml -c qosd.yaml
hop=$(sim_ctl path $from H-248a070300a25dd0 2 | sed -n 3p)
expect_match "the way to gpu01" 'spine01.*/P[0-9]+ -> ' "$hop"
out=${hop%% ->*} out=${out##*/P}
in=$(sim_ctl path $from H-248a070300a25dd0 2 | sed -nE '2s/.*\/P([0-9]+) VL.*/\1/p')
offered "honest devices" 2
audit 0 0,1,2

for lie in keeps-tables refuses-tables; do
	# promise: S3
	note "$lie: one pair of a switch drops an SL"
	sim_do sl2vl "$spine01" "$in" "$out" "${drops_2[$lie]}"
	sim_do node lie "$spine01" "$lie"
	audit 1 2
	sweep
	expect_less "Sets" 3 "$new"
	offered "$lie" none
	expect "findings" 1 "$(findings)"
	expect_match "what is found" "spine01.*1 pair of ports; these SLs are dropped there and not offered: 2" \
		"$(ctl -j status | grep 'keeps another')"
	ctl explain "node001 HCA-1/P1" "gpu01 mlx5_0/P1" --qos-class 7 >explain
	expect_match "explained" "none" "$(grep '^path' explain)"
	expect_match "where it is dropped" " $in +$out .* 15 +MF0;spine01" "$(<explain)"
	expect_match "the table as it is" "15" "$(ctl -j route "node001 HCA-1/P1" "gpu01 mlx5_0/P1" --sl 2)"
	audit 0 0,1

	note "$lie: it goes on"
	for _ in 1 2 3; do
		sweep
		expect_less "Sets" 3 "$new"
	done
	offered "$lie, later" none
	echo "# a new policy reads nothing but such devices" >>policy.yaml
	reload
	offered "$lie, after a reload" none

	note "$lie: it ends"
	sim_do node lie "$spine01" none
	sweep
	offered "honest again" 2
	expect "findings" 0 "$(findings)"
	audit 0 0,1,2
	until_ 20 subnet_up || bad "the subnet is not up"
	sweep
	expect "Sets when all is well" 0 "$new"
done

for lie in keeps-tables refuses-tables; do
	note "$lie: a switch keeps all of its tables at a reload"
	sim_do node lie "$spine01" "$lie"
	policy "0, 1, 15"		# an intermediate step: all other devices drop SL 2 now
	sim_do sl2vl "$spine01" all all "${drops_2[$lie]}"
	reload
	policy "0, 1, 3"
	reload
	offered "$lie" none
	audit 0 0,1
	# of more than a thousand port pairs, qosd retries one for each out port
	for _ in 1 2; do
		sweep
		expect_less "Sets" 37 "$new"
	done
	offered "$lie, later" none
	expect_match "what is found" "pairs of ports; these SLs are dropped there and not offered: 2" \
		"$(ctl -j status | grep 'keeps another')"
	sim_do node lie "$spine01" none
	sweep
	offered "honest again" 2
	audit 0 0,1,2
	until_ 20 subnet_up || bad "the subnet is not up"
	sweep
	expect "Sets when all is well" 0 "$new"
	policy "0, 1, 2"
	reload
done
stop_qosd || bad "exit status $? after SIGTERM"

stop_sim
