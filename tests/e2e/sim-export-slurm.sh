#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl export slurm`: Slurm's own controller reads the file and shows the tree that
# the fabric is.  Without Slurm, what the file says is held against the fabric.
#
# promise: O7
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it has fat trees of three levels"

slurmctld=$(PATH=$PATH:/usr/sbin command -v slurmctld) && command -v scontrol >/dev/null || slurmctld=''

# begin TOPOLOGY NODE: a fabric, and qosd at the node of that name.
begin() {
	sim_options=()
	start_sim "$1"
	start_and_wait "$(sim_ctl show nodes | awk -v name="$2" 'index($0, name) { print $2; exit }')"
}
finish() {
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
	rm -rf state
}

# names LIST: prints the names in a host list of Slurm's, one in a line.
names() {
	local rest=$1 item head body part
	while [[ $rest =~ ^([^][,]*)(\[([^]]*)\])?,?(.*)$ ]] && [ -n "$rest" ]; do
		head=${BASH_REMATCH[1]} body=${BASH_REMATCH[3]} item=${BASH_REMATCH[2]} rest=${BASH_REMATCH[4]}
		[ -n "$item" ] || { echo "$head"; continue; }
		for part in ${body//,/ }; do
			printf "$head%s\n" $(seq -w "${part%-*}" "${part#*-}")
		done
	done
}

# leaves FILE: prints each leaf with its nodes, from topology.conf or from `scontrol show topology`.
leaves() {
	local switch list
	sed -nE 's/^(SwitchName|BlockName)=([^ ]*) .*Nodes=([^ ]*).*/\2 \3/p' "$1" | while read -r switch list; do
		names "$list" | sed "s/^/$switch /"
	done | sort
}

# in_fabric: prints each switch with its hosts, a host only at the switch of its first adapter.
in_fabric() {
	ctl -j ports | jq -r '.[] | select(.lid and .peer and
		(.name | test("^(MF0;|ibrtr|Mellanox|(leaf|spine|core|top|agg)[-0-9])") | not)) | "\(.name)\t\(.peer)"' |
		sort | awk -F '\t' '{
			split($1, host, /[ \/]/)
			sub(/\/P[0-9]+ \(.*/, "", $2)
			if (sub(/^MF0;/, "", $2))
				sub(/:.*/, "", $2)
			if (!seen[host[1]]++)
				print $2, host[1]
		}' | sort
}

# in_slurm: starts slurmctld with the file and writes its view to the file `shown`.
in_slurm() {
	local port=$((20000 + RANDOM % 10000))
	mkdir -p slurm
	cp "$1/topology.conf" slurm/
	cat >slurm/slurm.conf <<-END
		ClusterName=test
		SlurmctldHost=localhost
		SlurmUser=$(id -un)
		SlurmctldPort=$port
		AuthType=auth/none
		CredType=cred/none
		TopologyPlugin=topology/tree
		SelectType=select/cons_tres
		ProctrackType=proctrack/linuxproc
		StateSaveLocation=$PWD/slurm
		SlurmctldPidFile=$PWD/slurm/pid
		MailProg=/bin/true
		NodeName=$(leaves "$1/topology.conf" | cut -d' ' -f2 | paste -sd,) NodeAddr=127.0.1.[1-$(leaves "$1/topology.conf" | wc -l)]
		PartitionName=all Nodes=ALL Default=YES
	END
	SLURM_CONF=$PWD/slurm/slurm.conf "$slurmctld" -D -c -f "$PWD/slurm/slurm.conf" >slurm/log 2>&1 &
	pids+=($!)
	SLURM_CONF=$PWD/slurm/slurm.conf until_ 30 scontrol_shows || fail "slurmctld: $(tail -n 8 slurm/log)"
	end "${pids[-1]}" || bad "slurmctld ends with $?: $(tail -n 4 slurm/log)"
	expect "what slurmctld has against the topology" "" "$(grep -iE 'topology|switch' slurm/log | grep -iE 'error|fatal|warning')"
}
scontrol_shows() { scontrol show topology >shown 2>shown.err; }

note "two levels, hosts with several adapters"
begin "$top/examples/cluster.topo" "mgmt01"
ctl export slurm out >printed 2>&1 || bad "qosd-ctl: $(<printed)"
expect "it prints" "" "$(<printed)"
in_fabric >want
leaves out/topology.conf >have
expect_same "nodes at their switches, in the file and in the fabric" have want
expect_match "a node" "leaf03 node017" "$(<have)"
expect "the router is no node" "" "$(grep ibrtr have)"
expect_match "the top" "SwitchName=spine01 Switches=leaf\\[01-06\\]" "$(<out/topology.conf)"
expect_match "it stands for" "# spine\\[01-02\\]:" "$(<out/topology.conf)"
if [ -n "$slurmctld" ]; then
	in_slurm out
	leaves <(grep 'Level=0' shown) >have
	expect_same "nodes at their switches, in Slurm and in the fabric" have want
	expect_match "all are connected" "SwitchName=spine01 Level=1 .*Nodes=.* Switches=leaf\\[01-06\\]" "$(<shown)"
fi

note "blocks"
ctl export slurm blocks --plugin block >printed 2>&1 || bad "qosd-ctl: $(<printed)"
leaves blocks/topology.conf >have
expect_same "nodes in their blocks, and in the fabric" have want
expect_match "the least size" "BlockSizes=$(cut -d' ' -f1 want | uniq -c | awk '!n || $1 < n { n = $1 } END { print n }')" "$(tail -n 1 blocks/topology.conf)"
expect "an unknown plugin" 1 "$(ctl export slurm x --plugin torus >printed 2>&1; echo $?)"
expect_match "why" "neither tree nor block" "$(<printed)"
finish

note "three levels, aggregation nodes"
begin fat-tree:k=4,aggregation=1 host-0
ctl export slurm three >printed 2>&1 || bad "qosd-ctl: $(<printed)"
in_fabric >want
leaves three/topology.conf >have
expect_same "nodes at their switches, in the file and in the fabric" have want
expect "pods and a top" 5 "$(grep -c ' Switches=' three/topology.conf)"
expect "pods of two leaves" 4 "$(grep -cE ' Switches=[^,]*\[[0-9]+-[0-9]+\]$' <(head -n -1 three/topology.conf))"
if [ -n "$slurmctld" ]; then
	in_slurm three
	leaves <(grep 'Level=0' shown) >have
	expect_same "nodes at their switches, in Slurm and in the fabric" have want
	expect "levels" "0:8 1:4 2:1 " "$(grep -o 'Level=[0-9]*' shown | sort | uniq -c | awk '{ sub("Level=", "", $2); printf "%s:%s ", $2, $1 }')"
	expect "nodes below the top" "$(wc -l <want)" "$(names "$(sed -nE 's/.*Level=2 .*Nodes=([^ ]*) .*/\1/p' shown)" | wc -l)"
fi
finish
