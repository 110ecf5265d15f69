#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests aggregation nodes: recent switches each contain one, a channel adapter with one
# port.  They are not hosts, so qosd routes a fat tree as if they were absent, but gives
# them routes, too.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
sim_options=()

# node_named PATTERN: prints the GUID of the first node whose row in `show nodes` matches.
node_named() { awk -v name="$1" '$0 ~ name { print $2; exit }' nodes.sim; }

# begin TOPOLOGY [OPTION...]: starts the simulator, and qosd on the first host.
begin() {
	start_sim "$1"
	sim_ctl show nodes >nodes.sim
	host=$(node_named 'host-0*1 ')
	shift
	start_and_wait "$host" "$@"
	sim_ctl show nodes >nodes.sim	# with LIDs
}
finish() {
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
	rm -rf state
}
audited() { sim_ctl check --switches >audit 2>&1 || bad "$1: $(tail -n 5 audit)"; }

# fullest: reads the tables of all leaves and prints, for the up port with the most entries, the number
# of entries for LIDs of hosts; then the same for LIDs of hosts and switches.
fullest() {
	local leaf
	for leaf in $(awk '/ leaf-/ { print $2 }' nodes.sim); do
		echo "leaf $leaf"
		sim_ctl show lft "$leaf"
	done >lfts
	awk '
		FILENAME == ARGV[1] { kind[$3] = $1 == "switch" ? "switch" : /Aggregation/ ? "inner" : "host"; next }
		/^leaf/ { leaf = $2; next }
		$3 ~ /^spine-/ && kind[$1] != "inner" {
			if (++n[leaf, $2] > most) most = n[leaf, $2]
			if (kind[$1] == "host" && ++h[leaf, $2] > most_hosts) most_hosts = h[leaf, $2]
		}
		END { print most_hosts + 0, most + 0 }' nodes.sim lfts
}

# promise: D10
note "fat trees with aggregation nodes, and without"
for tree in clos:40x20 clos:40x13,hosts=26 clos:8x4 clos:4x2 fat-tree:k=8; do
	begin "$tree"
	read -r hosts_without all_without < <(fullest)
	finish
	begin "$tree,aggregation=1"
	read -r hosts_with all_with < <(fullest)
	audited "$tree"
	finish
	note "$tree: $hosts_without entries of hosts on the fullest up port, $hosts_with with aggregation nodes"
	expect "$tree: is anything routed" true "$([ "$hosts_without" -gt 0 ] && echo true)"
	expect_less "$tree: ten times the entries of hosts" $((11 * hosts_without + 1)) $((10 * hosts_with))
	expect_less "$tree: ten times the entries of hosts and switches" $((11 * all_without + 1)) $((10 * all_with))
done

# promise: D10
note "what they are called, and what counts hosts"
cat >policy.yaml <<'END'
port-groups:
  inner: {node-types: aggregation}
  hosts: {node-types: ca}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
  reduction: {pkey: 0x10, members: {inner: full}}
  jobs: {pkey: 0x20, members: {hosts: full}}
END
begin clos:8x4,aggregation=1 -p policy.yaml
types() { ctl -j nodes | jq -r '.[].type' | sort | uniq -c | awk '{ print $1, $2 }' | paste -sd ' '; }
expect "types of nodes" "12 aggregation 32 ca 12 switch" "$(types)"
figure() { ctl metrics | awk -v name="$1" '$1 == name { print $2 }'; }
expect "aggregation nodes in the metrics" 12 "$(figure 'qosd_fabric_nodes{type="aggregation"}')"
expect "adapters of hosts in the metrics" 32 "$(figure 'qosd_fabric_nodes{type="ca"}')"
inner=$(node_named Aggregation)
lid_of() { awk -v guid="$1" '$2 "" == guid "" { print $3 }' nodes.sim; }
keys() { on "$host" smpquery pkeys "$(lid_of "$1")" 1 2>&1 | grep -oE '0x[0-9a-f]{4}\b' | grep -v 0x0000 | sort | paste -sd ' '; }
expect "P_Keys of an aggregation node" "0x8010 0xffff" "$(keys "$inner")"
expect "P_Keys of a host" "0x8020 0xffff" "$(keys "$host")"
ctl export ibacm acm >/dev/null 2>&1 || bad "the export fails"
expect "hosts in the export" 32 "$(grep -vc '^#' acm/ibacm_hosts.data)"
expect "aggregation nodes in the export" 0 "$(cat acm/* | grep -ciE 'Mellanox|Aggregation')"
is_healthy() { ctl health >health; }
until_ 10 is_healthy || bad "health: $(<health)"
all_connected

# promise: D10
note "a link goes, and comes back"
tables() { for sw in $(awk '$1 == "switch" { print $2 }' nodes.sim); do sim_ctl show lft "$sw"; done; }
tables >tables.before
active() { ctl -j ports | jq '[.[] | select(.state == "active")] | length'; }
ports=$(active)
is_active() { [ "$(active)" = "$1" ] && [ "$(status sweeping)" = false ]; }
is_back() { tables >tables.after; cmp -s tables.before tables.after; }
# Routes between spines turn upward at the first leaf, so the links of this leaf are a special case.
for leaf in $(node_named ' leaf-0*1$') $(node_named ' leaf-0*2$'); do
	sim_do link down "$leaf/P5"		# to the first spine
	until_ 10 is_active $((ports - 2)) || bad "qosd does not see that a link is down"
	ctl forget --all >out 2>&1 || bad "forget: $(<out)"	# the link, which health would miss
	until_ 10 is_healthy || bad "health: $(<health)"
	tables >tables.while
	audited "while a link is down"
	# with one of four up ports down, the other three carry the routes to the 28 remote hosts
	expect_less "entries of hosts on the fullest up port" 11 "$(fullest | cut -d ' ' -f 1)"
	cmp -s tables.before tables.while && bad "no route was changed"
	sim_do link up "$leaf/P5"
	until_ 10 is_active "$ports" || bad "qosd does not see that the link is up"
	until_ 10 is_back || bad "the routes are not those of before: $(diff tables.before tables.after | head -n 4)"
done

# promise: D10
note "an aggregation node goes, and comes back"
sim_do node off "$inner"
went() { [ "$(ctl -j events --kind node-went | jq -r .data.type)" = aggregation ]; }
until_ 10 went || bad "nothing is said: $(ctl events --kind node-went)"
audited "while it is away"
sim_do node on "$inner"
until_ 10 is_active "$ports" || bad "it is not back"
until_ 10 is_back || bad "the routes are not those of before: $(diff tables.before tables.after | head -n 4)"
audited "when it is back"
finish

# promise: D10
note "aggregation nodes that can less than hosts"
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  bulk: {sl: 1}
  wide: {sl: 0, mtu-limit: 4096}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: wide}}
match-rules:
  - {service-id: 1, level: bulk}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
  vlarb:
    - {group: all, high: ["0:64"], low: ["1:32"], high-limit: 10}
END
cat >devices.yaml <<'END'
profiles:
  poor: {like: aggregation-node, mtu: 2048, vl-cap: 1}
nodes:
  - {name: "*Aggregation Node", profile: poor}
END
for tree in clos:8x4 clos:8x4,aggregation=1; do
	if [ "$tree" = clos:8x4 ]; then sim_options=(); else sim_options=(-p devices.yaml); fi
	start_sim "$tree"
	sim_ctl show nodes >nodes.sim
	once "$(node_named 'host-0*1 ')" -p policy.yaml || bad "$tree: exit status $?: $(tail -n 3 once.log)"
	grep -E 'warning|error' once.log | cut -d ' ' -f 3- >"findings.${#sim_options[@]}"
	stop_sim
	rm -rf state
done
[ -s findings.0 ] || bad "there are no findings that could be compared"
expect_same "findings without and with aggregation nodes" findings.0 findings.2
