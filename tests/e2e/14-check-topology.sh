#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the check whether a fabric can do what a policy asks: by qosd --check --topology
# on dumps, and by the daemon before it writes tables.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
degraded='^warning: link MF0;spine01:SB7700/U1/P7 \(0x7cfe900300b41a20\) to MF0;leaf02:SX6036/U1/P31 .*: runs at 2.5 Gb/s, most links between such devices at 56 Gb/s$'

# check STATUS OPTION...: runs qosd --check, which must exit with STATUS; its output goes to out.
check() {
	timeout $((20 * slow)) "$build/qosd" --check "${@:2}" >out 2>&1 </dev/null
	expect "exit status of --check ${*:2}" "$1" $?
}
said() { grep -qE -- "$1" out || bad "nothing like '$1' in: $(head -n 20 out)"; }
not_said() { ! grep -E -- "$1" out || bad "'$1' should not be there"; }

# share LEVEL KIND: prints the level's share in per cent on this kind of link, from the report.
share() { awk -v l="$1" -v k="kind $2:" 'index($0, k) == 1 { on = 1 } on && $1 == l { print $5; exit }' out; }

# promise: P7 B1
note "the sample cluster"
check 0 -p "$top/examples/demo-policy.yaml" -T "$topology"
said "$degraded"
expect "other findings" "" "$(sed '/^Share of each level on each kind/,$d' out | grep -vE "$degraded")"
# high priority sends 40 KiB, 20 packets of 2048 bytes, then one low packet may go; default has weight 64
# of 192 among the low ones
expect "share of latency" 95.2 "$(share latency 1)"
expect "share of storage" 3.2 "$(share storage 1)"
expect "share of default" 1.6 "$(share default 1)"
said '^kind 1: [0-9]+ switch ports, 100 Gb/s \(100 of data\), MTU 2048, 4 VLs$'
said '56 Gb/s \(54.55 of data\)'
said '40 Gb/s \(32 of data\)'
# 95.2% of the degraded link's 2 Gb/s
said '^  latency +3 +1\.90 +[0-9]+  0 of [0-9]+$'
cp out first
check 0 -p "$top/examples/demo-policy.yaml" --topology "$topology"
expect_same "the same again" first out
check 0 -v -p "$top/examples/demo-policy.yaml" -T "$topology"
said '^qos-levels:'
said '^Share of each level on each kind'

# promise: B2
note "what IBA's arbiter would do, and what was measured on hardware"
# The study's point (1, 16, 4): high to low is 4 on hardware, and 2 by the arbiter.
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  fast: {sl: 1}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: ["1:16"], low: ["0:4"], high-limit: 1}
END
check 0 -p policy.yaml -T "$topology"
said '^policy.yaml:3:3: info: level fast: its VL gets 66.7 % of the link by IBA.s arbiter, but 80.0 % by what a study measured'
said '^policy.yaml:2:3: info: level default: its VL gets 33.3 % of the link by IBA.s arbiter, but 20.0 % by'
expect "share of fast" 66.7 "$(share fast 1)"
said '^  fast .* 66.7 %    80.0 %  differ$'
echo "arbiter-model: measured" >qosd.yaml
check 0 -c qosd.yaml -p policy.yaml -T "$topology"
expect "share of fast, as measured" 80.0 "$(share fast 1)"
said 'Shares are those measured on hardware'
echo "arbiter-model: guessed" >qosd.yaml
check 1 -c qosd.yaml -p policy.yaml
said '^qosd.yaml:1:16: error: .*guessed'
# where the limit holds whole weights, the two agree
sed -i 's/"1:16"/"1:32"/; s/"0:4"/"0:32"/' policy.yaml
check 0 -p policy.yaml -T "$topology"
not_said 'measured on hardware,|differ$'

note "without a policy"
: >empty.yaml
check 0 -p empty.yaml -T "$topology"
said "$degraded"
said 'The tables are not managed'

# promise: T6 P7
note "a policy that the fabric can't do"
cat >policy.yaml <<'END'
port-groups:
  leaf01: {port-guids: 0xf45214030090a3c0}
qos-levels:
  default: {sl: 0}
  here: {sl: 1}
  gone: {sl: 2}
  last: {sl: 3}
  lost: {sl: 4}
  far: {sl: 5, path-bits: 3}
match-rules:
  - {qos-class: 1, level: here}
  - {qos-class: 2, level: gone}
  - {qos-class: 3, level: last}
  - {qos-class: 4, level: lost}
  - {qos-class: 5, level: far}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 15, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
    - {group: leaf01, from: 3, table: [0, 15, 15, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: ["1:64"], low: ["0:64", "3:64"], high-limit: unlimited}
END
check 1 -p policy.yaml -T "$topology"
said '^policy.yaml:5:3: warning: level here: SL 1 does not connect 67 of 4556 pairs of ports; from node003 HCA-1/P1 .* it is dropped in MF0;leaf01:SX6036/U1 .* from port 3 to port [0-9]+$'
said '^policy.yaml:6:3: error: level gone: SL 2 does not connect any: 4556 of 4556'
said '^policy.yaml:7:3: warning: level last: VL 3 of SL 3 may starve at 204 ports'
said '^policy.yaml:8:3: error: level lost: no arbitration table serves VL 4, which SL 4 uses at 204 ports'
said '^policy.yaml:9:3: warning: level far: path-bits 3 need more LIDs'
not_said 'level here: .*may starve'
said '^  gone +2   -  dropped$'
said '^  here +1 +[0-9.]+ +[0-9]+  67 of 4556$'
check 0 -p policy.yaml		# the file alone is sound
not_said 'Share of each level on each kind'
sed -i '/gone/d; s/^    - {group: leaf01.*//' policy.yaml
check 1 -p policy.yaml -T "$topology"
expect "errors" 1 "$(grep -c 'error:' out)"
not_said 'does not connect any'

# promise: P13
note "what the devices have"
cat >bulk.yaml <<'END'
qos-levels:
  default: {sl: 0}
  bulk: {sl: 3}
match-rules:
  - {service-id: 22, level: bulk}
fabric-setup:
  unsupported-vl: drop
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END
check 0 -p bulk.yaml -T "$topology"
said '^  54 channel adapters: \(8\) data VLs, MTU \(2048\), arbitration tables of \(8\) and \(8\) entries, \(64\) P_Keys$'
said '^  8 switches: \(8\) data VLs, .*, \(8\) P_Keys, \(64\) enforced, \(49152\) LIDs, \(1024\) multicast LIDs$'
said '^kind 1: .* MTU 2048, 4 VLs$'
cat >devices.yaml <<'END'
profiles:
  hca: {vl-cap: 4, mtu: 4096, vlarb-low: 16, pkeys: 128}
  small: {like: hca, vl-cap: 1}
  switch: {mtu: 4096, vl-cap: 8, vlarb-high: 64, lft: 1000}
  one: {like: small, mtu: 1024}
nodes:
  - {type: ca, profile: hca}
  - {name: "node00[12] *", profile: small}
  - {type: switch, profile: switch}
  - {guid: 0x248a070300a25eac, profile: one}
  - {name: "nowhere*", profile: small}
END
check 1 -p bulk.yaml -T "$topology" --devices devices.yaml
said '^devices.yaml:11:5: warning: no node of the topology matches$'
said '^bulk.yaml:3:3: error: level bulk: SL 3 has no VL at 8 ports'
said '^  51 channel adapters of kind hca: 4 data VLs, MTU 4096, arbitration tables of \(8\) and 16 entries, 128 P_Keys$'
said '^  2 channel adapters of kind small: 1 data VL, MTU 4096,'
said '^  1 channel adapter of kind one: 1 data VL, MTU 1024,'
said '^  8 switches of kind switch: 8 data VLs, MTU 4096, arbitration tables of 64 and \(8\) entries, \(8\) P_Keys, \(64\) enforced, 1000 LIDs,'
said '^kind 1: .* MTU 4096, 4 VLs$'
printf 'profiles:\n  a: {like: connectx-4}\n  b: {like: b, vl-cap: 3}\nnodes: [{type: ca, profile: c}]\n' >devices.yaml
check 1 -p bulk.yaml -T "$topology" -D devices.yaml
said "^devices.yaml:2:13: error: the profile 'connectx-4' is not defined"
said "^devices.yaml:3:13: error: 'b' refers to itself through 'like'"
said "^devices.yaml:3:24: error: '3' is not one of"
said "^devices.yaml:4:29: error: the profile 'c' is not defined"
not_said 'Share of each level on each kind'
check 1 -p bulk.yaml -T "$topology" -D nowhere.yaml
said '^nowhere.yaml: error: '
timeout 10 "$build/qosd" --check --devices devices.yaml >out 2>&1
expect "--devices without --topology" 2 $?
said 'devices needs --topology'

# promise: P15
note "nodes that no group names"
cat >named.yaml <<'END'
port-groups:
  here: {port-names: ["node0*/P1", "*mlx5_0/P*"]}
  switches: {port-guids: 0xf45214030090a3c0, node-types: [ca, router]}
match-rules:
  - {source: here, destination: switches, level: default}
END
check 0 -p named.yaml -T "$topology"
not_said 'no group names'
echo "warn-unnamed-nodes: true" >qosd.yaml
check 0 -c qosd.yaml -p named.yaml -T "$topology"
said '^named.yaml: warning: no group names the router '
said '^named.yaml: warning: no group names the ca mgmt01 HCA-1 \(0xf452140300811200\)$'
not_said 'no group names the (ca (node|oss)|switch)'

note "dumps that are no good"
check 1 -p empty.yaml -T missing.topo
said '^missing.topo: error: cannot be opened: No such file or directory$'
printf '#\nSwitch 4 "S-0000000000000001"\nfrobnicate\n' >broken.topo
check 1 -p empty.yaml -T broken.topo
said '^broken.topo:3:1: error: '
not_said 'Share of each level on each kind'
check 1 -p empty.yaml -T /dev/null
said '^/dev/null: error: '
check 1 -p empty.yaml -T "$topology" -g 0x1
said "^$topology: error: port 0x0000000000000001 is not in this fabric$"
check 0 -p empty.yaml -T "$topology" -g 0xf452140300811201
printf 'qos-levels: 5\n' >broken.yaml
check 1 -p broken.yaml -T "$topology"
said '^broken.yaml:1:13: error: '
not_said 'Share of each level on each kind'
timeout 10 "$build/qosd" --topology "$topology" >out 2>&1
expect "--topology without --check" 2 $?
said 'topology needs --check'

note "dumps of real fabrics"
for dump in psmn-x5 two-switch-sdr; do
	[ -r "$fabrics/$dump.topo" ] || { note "$dump.topo is not here"; continue; }
	check 0 -p empty.yaml -T "$fabrics/$dump.topo"
	said '^  default +0 +[0-9.]+ +[0-9]+  0 of [1-9][0-9]*$'
	not_said 'error:'
done
[ ! -r "$fabrics/two-switch-sdr.topo" ] ||
	said '^warning: link ISR9024 Voltaire/P12 .*: runs at 2.5 Gb/s, most links between such devices at 10 Gb/s$'

# promise: P7
note "the daemon, before it writes the tables"
start_sim "$topology"
start_and_wait "$node" -v -p policy.yaml
line() { grep -nE -m1 -- "$1" "$qosd_log" | cut -d: -f1; }	# number of the first log line that matches
judged=$(line 'error: plan: policy.yaml:7:3: level lost: no arbitration table')
expect_less "what the first sweep says" "$(line 'debug: sweep: tables took')" "${judged:-999999}"
said_once() { expect "times '$1' is said" 1 "$(grep -cE -- "$1" "$qosd_log")"; }
said_once 'spine01.*: runs at 2.5 Gb/s'
expect "times it is in status" 1 "$(ctl -j status | grep -c '"text": "link .*runs at 2.5 Gb/s')"
ctl sweep >/dev/null
said_once 'spine01.*: runs at 2.5 Gb/s'
sed -i 's/"3:64"/"4:64"/' policy.yaml
reload --force || bad "refused: $(cat reload)"
judged=$(line 'error: plan: policy.yaml:6:3: level last: no arbitration table')
written=$(grep -nE -- 'debug: sweep: ports took' "$qosd_log" | tail -n 1 | cut -d: -f1)
expect_less "what a reload says" "$written" "${judged:-999999}"
expect "what status says of it" 1 "$(ctl -j status | grep -c '"text": "level last: no arbitration table')"
expect "what it says no more" 0 "$(ctl -j status | grep -c '"text": "level lost: no arbitration table')"
stop_qosd || bad "exit status $? after SIGTERM"
