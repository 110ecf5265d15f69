#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs every command of qosd-tasks(7), in the order of the page, on the cluster that it speaks of, and
# looks for the answer that the page promises.
#
# promise: O16
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no port counters and no 200 ports' worth of rates"

page=$top/man/qosd-tasks.7
manager=H-f452140300811200
topology=$top/examples/cluster.topo
mkdir slurm
start_sim "$topology"
cp "$top/examples/policy-mpi-storage.yaml" policy.yaml
sed 's/, sl: 2}/, sl: 5}/' policy.yaml >new.yaml
! cmp -s policy.yaml new.yaml || fail "the example's level storage has another SL than 2"
printf 'metrics-listen: 127.0.0.1:0\n' >qosd.yaml
start() { start_and_wait "$manager" -p policy.yaml -c qosd.yaml; }
start

# here LINE: prints a command line of the page with this test's places in place of the system's.
here() {
	local line=$1
	line=${line//localhost:9683/127.0.0.1:$(sed -nE 's/.* metrics: .* port ([0-9]+)$/\1/p' "$qosd_log" | tail -n 1)}
	line=${line//\/usr\/share\/doc\/qosd\/contrib/$top/contrib}
	line=${line//\/etc\/slurm/slurm}
	line=${line//\/etc\/qosd/policy.yaml qosd.yaml}
	line=${line//\/var\/lib\/qosd/state}
	printf '%s' "${line/#qosd-ctl /ctl }"
}
# systemctl restart qosd
systemctl() {
	expect "what the page restarts" "restart qosd" "$*"
	stop_qosd && start
}

# What an answer has, as extended regular expressions, by command line.
declare -A answers=(
	["who 5"]='switch 0x[0-9a-f]{16}.*|port 0: active, LID 5'
	["who 0xf452140300811231"]='^node001 HCA-1'
	["nodes"]='^ca +0x.* mgmt01 HCA-1'
	["nodes 'gpu*' --sort name"]='gpu01 mlx5_0'
	["ports 'MF0;leaf01*' --state active"]='-> node001 HCA-1/P1'
	["who node001"]='partition Default, P_Key 0x7fff, full member'
	["mcast"]='^0xc000 +0xffff'
	["mcast 0xc000"]='^0xc000 +0xffff'
	["health"]='link-deviates: link MF0;leaf02:SX6036/U1/P31 .* runs at 2\.5 Gb/s'
	["ports --state active --sort rate"]='^active +- +1xSDR .*MF0;leaf02:SX6036/U1/P31'
	["errors"]='[0-9]+ ports? with errors'
	["explain node001 'oss01 mlx5_0/P1' --ulp lustre"]='^level +storage'
	["counters 'node001 HCA-1/P1'"]='storage: the link is not full'
	["explain node001 node002 --pkey 0x8123"]='none: the two ends do not share the requested P_Key'
	["counters"]='^204 ports'
	["bandwidth"]=' mpi-latency$'
	["events --since yesterday"]='subnet-up'
	["policy history"]='start +applied'
	["routes --over 'MF0;leaf01:SX6036/U1/P31'"]='[0-9]+ LIDs?'
	["drain 'MF0;spine01:SB7700/U1' --reason 'new fans' --wait"]='^it is in force'
	["release 'MF0;spine01:SB7700/U1' --wait"]='^it is in force'
	["sls 3"]='SL 3: mpi-latency'
	["plan new.yaml"]='SLtoVLMappingTable +[1-9]'
	["policy install new.yaml --wait"]='^it is in force'
	["partition add job17 node001 node002 --ipoib --wait"]='^job17 has P_Key 0x4000'
	["partition remove job17"]='^accepted: 1 change'
	["status"]='^state +master, subnet up'
	["export slurm /etc/slurm"]='^SwitchName='
)

tasks=0 commands=0
while IFS= read -r line; do
	case $line in
	.Ss*)
		[ "$tasks" -eq 0 ] || [ "$commands" -gt 0 ] || bad "no command for: $task"
		task=${line#.Ss } tasks=$((tasks + 1)) commands=0
		;;
	".Dl promtool "*)
		commands=$((commands + 1))
		! command -v promtool >/dev/null || eval "$(here "${line#.Dl }")" >out 2>&1 || bad "$task: $(<out)"
		;;
	.Dl*)
		line=${line#.Dl } commands=$((commands + 1)) status=0
		eval "$(here "$line")" >out 2>&1 || status=$?
		[ "$line" != "qosd-ctl health" ] || expect "exit status of health" 1 "$status"
		[ "$status" -eq 0 ] || [ "$line" = "qosd-ctl health" ] || bad "$task: $line: $status: $(head -n 5 out)"
		[[ $line != curl* ]] || grep -q '^qosd_' out || bad "no metrics: $(head -n 3 out)"
		[[ $line == "qosd-ctl "* ]] || continue
		[ -n "${answers[${line#qosd-ctl }]+set}" ] || bad "no answer is known to: $line"
		[[ $line != *"export slurm"* ]] || cp slurm/topology.conf out
		grep -qE -- "${answers[${line#qosd-ctl }]}" out || bad "$task: $line: $(head -n 20 out)"
		;;
	esac
	[ "$commands" -le 2 ] || bad "more than two commands for: $task"
done <"$page"
expect_less "tasks without a section" $((tasks + 1)) 22
expect "the archive has the state" "state/" "$(tar -tf qosd.tar.gz | grep -x 'state/')"
note "$tasks tasks"
stop_qosd
