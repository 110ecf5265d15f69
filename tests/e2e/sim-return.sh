#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the cost of a switch or a link that returns: qosd reads nothing that it knows and overlooks
# nothing that it does not.  Only traps report changes here, and no scrub adds reads: the first one
# would begin a minute after the start.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim does not count"

printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml
# policy TABLE [GUID TABLE]: prints a policy with this SL-to-VL table, and another for port 8 of a switch.
policy() {
	cat <<END
port-groups:
  one: {port-guids: ${2:-0x1}}
fabric-setup:
  sl2vl:
    - {group: all, table: [$1, 15]}
END
	[ $# -lt 3 ] || cat <<END
    - {group: one, from: "*", to: 8, table: [$3, 15]}
    - {group: one, from: 8, to: "*", table: [$3, 15]}
END
	cat <<END
  vlarb:
    - {group: all, high: ["3:192"], low: ["0:64", "1:64", "2:128"], high-limit: 10}
END
}
first="0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0" second="0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 0, 0, 0, 0, 0"

# counted ATTRIBUTE METHOD: prints the number of such SMPs in the file counts.
counted() { awk -v a="$1" -v m="$2" '$2 == a && $3 == m { n = $4 } END { print n + 0 }' counts; }
begin() { sim_ctl stats --reset >/dev/null; }
rests() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ] && sim_ctl check >audit 2>&1; }
settled() { until_ 60 rests "$1" || bad "$2: $(status nodes) nodes of $1, $(tail -n 3 audit)"; }
# tables FILE: writes the tables of all switches to FILE, without the unused parts.
tables() {
	for switch in $switches; do
		sim_ctl show lft "$switch"
		sim_ctl show sl2vl "$switch" | awk '$1 != $2'
		for i in 1 8; do sim_ctl show vlarb "$switch/P$i"; done
	done >"$1" 2>&1
}
# start_tree [TREE]: starts the fabric; sets $nodes, $manager, $switches and $spine (in the manager's pod).
start_tree() {
	rm -rf state
	start_sim "${1:-fat-tree:k=8}"
	sim_ctl show nodes >nodes
	manager=$(awk '$1 == "ca" { print $2; exit }' nodes)
	switches=$(awk '$1 == "switch" { print $2 }' nodes)
	spine=$(awk '/spine/ { print $2; exit }' nodes)
	policy "$first" >policy.yaml
	start_and_wait "$manager" -v -c qosd.yaml -p policy.yaml
	nodes=$(status nodes)
}
linked() { ctl -j status | field ports-linked; }
links_are() { [ "$(linked)" = "$1" ] && [ "$(status sweeping)" = false ]; }
link_down() { sim_do link down "$1" && until_ 10 links_are $((links - 2)) || bad "it does not see that a link went down"; }
link_up() { sim_do link up "$1" && until_ 10 links_are "$links" || bad "it does not see that a link is back"; }

start_tree
tables before
# promise: F10
note "a switch comes back"
# Without light sweeps, qosd reads ports that a sweep left out 10 s later.
starts() { grep -c 'sweep: starts: ' "$qosd_log"; }
late_reads() { tail -n "+$1" "$qosd_log" | grep -cE 'starts: (some ports have not been read|a switch reports a change)'; }
is_read() { [ "$(late_reads "$1")" -gt 0 ]; }
trained() { [ "$(sim_ctl show links "$spine" | grep -cw init)" -eq 8 ]; }
# goes_and_comes: sets $again to the number of sweeps it took minus one; their SMPs are in the file counts.
goes_and_comes() {
	local begun
	begun=$(wc -l <"$qosd_log")
	sim_do node off "$spine"
	settled $((nodes - 1)) "a switch that is off"
	until_ 20 is_read "$begun" || bad "what was left out is not read"
	settled $((nodes - 1)) "a switch that is off"
	begun=$(wc -l <"$qosd_log") again=$(starts)
	begin
	# On a slow machine, its links would come up one by one, and several sweeps would read them.
	sim_do freeze
	sim_do node on "$spine"
	until_ 10 trained || bad "its links do not come up: $(sim_ctl show links "$spine")"
	sim_do thaw
	settled "$nodes" "a switch that is back"
	sim_ctl stats >counts
	again=$(($(starts) - again - 1))
	! is_read "$begun"
}
# After a late trap, a sweep may leave out ports, whose later reads would be counted, too.
goes_and_comes || goes_and_comes || goes_and_comes || bad "there are always ports that are read late"
tables after
expect_same "tables before and after" before after
# qosd does not read tables of the switch if samples show that they are lost; its 8 neighbours keep
# theirs.  Of their ports qosd reads those to hosts and to the switch; all would be 81 with its own.
note "Gets: $(counted SLtoVLMappingTable get) SL2VL, $(counted VLArbitrationTable get) VLArb, $(counted PortInfo get) PortInfo"
expect "Sets of its SL2VL tables" 64 "$(counted SLtoVLMappingTable set)"
expect_less "Gets of SL2VL tables" 10 "$(counted SLtoVLMappingTable get)"
expect_less "Gets of VLArb tables" 20 "$(counted VLArbitrationTable get)"
# A trap sent before the switch has its tables is lost; its repetition causes another sweep.
expect_less "Gets of PortInfo, in $again sweeps more" $((80 + 24 * again)) "$(counted PortInfo get)"

# promise: F10
note "a link comes back"
links=$(linked)
link_down "$spine/P8"
begin
link_up "$spine/P8"
settled "$nodes" "a link that is back"
tables after
expect_same "tables before and after" before after
qos_smps() {
	sim_ctl stats >counts
	echo "$(counted SLtoVLMappingTable get) $(counted SLtoVLMappingTable set) $(counted VLArbitrationTable get) $(counted VLArbitrationTable set)"
}
expect "SL2VL and VLArb tables, read and written" "0 0 0 0" "$(qos_smps)"

# promise: F10
note "it comes back to another policy"
# to_another_policy: sets $smps to the SMPs for tables; fails if ports were read late, whose tables are read, too.
to_another_policy() {
	local begun
	link_down "$spine/P8"
	policy "$second" >policy.yaml
	reload
	begun=$(wc -l <"$qosd_log")
	begin
	link_up "$spine/P8"
	settled "$nodes" "a link that is back"
	smps=$(qos_smps)
	! is_read "$begun"
	local late=$?
	policy "$first" >policy.yaml
	reload
	return $late
}
to_another_policy || to_another_policy || to_another_policy || bad "there are always ports that are read late"
# of each switch, qosd reads one table that the switch confirmed
expect "SL2VL tables written at both ends" "2 30 0 0" "$smps"
tables after
expect_same "tables before and after" before after

# One link of a leaf comes back, which explains its trap; another link went down, and the trap of the
# switch at its far end is lost.
# promise: F10
note "two things at once, one of which only the far end knows"
name=$(awk -v g="$spine" '$2 == g { print $NF }' nodes)
leaf=$(sim_ctl show links "$spine" | sed -nE 's|.* (leaf[^ ]+)/P[0-9]+$|\1|p' | tail -n 1)
read -r here there < <(sim_ctl show links "$leaf" | awk -v s="$name/" '$NF ~ /^spine/ && index($NF, s) != 1 { print $(NF - 1), $NF; exit }')
sim_do node off "$spine"
settled $((nodes - 1)) "a switch that is off"
links=$(($(linked) + 16))
sim_do fault add drop --method trap
sim_do link down "$here"
sim_do node on "$spine"
sleep 0.3
sim_do fault remove all
sim_do fault add drop --method trap --at "${there%/P*}"
until_ 20 links_are $((links - 2)) || bad "$(linked) ports have a link, not $((links - 2))"
sim_do fault remove all
link_up "$here"
settled "$nodes" "after both"
tables after
expect_same "tables before and after" before after

# promise: F10
note "while SMPs are lost"
sim_do loss 5
sim_do node off "$spine"
settled $((nodes - 1)) "a switch that is off"
sim_do node on "$spine"
settled "$nodes" "a switch that is back"
sim_do loss 0
settled "$nodes" "at the end"
tables after
expect_same "tables before and after" before after
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# One Set of all pairs also changes the tables of a port without a link.
# promise: F10
note "switches that are told all tables at once"
cat >devices.yaml <<END
profiles:
  all: {optimized-sl2vl: true}
nodes:
  - {type: switch, profile: all}
END
sim_options=(--preset ibsim --profiles devices.yaml)
start_tree
links=$(linked)
link_down "$spine/P8"
policy "$second" >policy.yaml
reload
policy "$second" "$spine" "$first" >policy.yaml
reload
link_up "$spine/P8"
settled "$nodes" "a link that is back"
sim_ctl show sl2vl "$spine" | awk '$1 != $2 && ($1 == 8 || $2 == 8) && $1 && $2 { print $3 }' | sort | uniq -c | awk '{ print $1, $2 }' >held
expect "tables of the port" "14 ${first//, /,},15" "$(<held)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# Otherwise each of its 24 ports to hosts would wait for its own timeouts, again and again.
# promise: F10
note "a switch that stops answering is not asked port by port"
sim_options=()
start_tree fat-tree:k=48,levels=2
links=$(linked)
timeouts() { ctl metrics | awk '/^qosd_smp_timeouts_total/ { print $2 + 0 }'; }
leaf=$(sim_ctl show links "$(awk '$1 == "ca" { node = $2 } END { print node }' nodes)" |
	sed -nE 's|.* ([^ ]+)/P[0-9]+$|\1|p')
before=$(timeouts)
sim_do fault add drop --attr PortInfo --at "$leaf"
sim_do link down "$leaf/P2"
sees_no_answer() { [ "$(status sweeping)" = false ] && [ "$(timeouts)" -gt "$before" ]; }
until_ 40 sees_no_answer || bad "it asks on and on"
asked=$(($(timeouts) - before))
note "$asked time-outs"
# one window of SMPs at a time: a third of the timeouts of an earlier version, which waited for each port
[ "$asked" -le 150 ] || bad "$asked time-outs"
sim_do fault remove all
sim_do link up "$leaf/P2"
settled "$nodes" "a switch that answers again"
expect "links" "$links" "$(linked)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
