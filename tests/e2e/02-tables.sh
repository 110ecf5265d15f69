#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the QoS tables that smpquery reads from the devices against the policy: scopes
# of each kind, the precedence of the last matching rule, VLs that a link lacks, defaults
# by class of port, OperationalVLs, the limit of high priority (which ibsim does not
# store) and tables of full size.  Also tests the findings on a policy for this fabric.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
machines=("$node")
leaf05=0x7cfe900300b43180 leaf06=0xf45214030090a5e0 spine01=0x7cfe900300b41a20
mds=0x248a070300a25e99 nvme=0x248a070300a25ed5 node001=0xf452140300811231
router=0x0002c903000f1a61
# ports of leaf05: 1 to mds01, 2 and 3 to oss01, 6 to nvme01, 31 to 36 to the spines

# a_table VL...: prints a table of 16 entries, which repeats the last VL as often as needed.
a_table() {
	local vls=("$@")
	while [ ${#vls[@]} -lt 16 ]; do vls+=("${vls[-1]}"); done
	echo "${vls[*]}"
}
yaml_table() { a_table "$@" | sed 's/ /, /g; s/.*/[&]/'; }

# findings SEVERITY: prints "LINE TEXT" for each finding of this severity in status.
findings() {
	ctl -j status | awk -v want="\"$1\"" '
		/"severity":/ { severity = $2; sub(/,$/, "", severity) }
		/"line":/ { line = $2 + 0 }
		/"text":/ && severity == want { sub(/^ *"text": "/, ""); sub(/",?$/, ""); print line, $0; severity = "" }'
}
line_of() { grep -nF -m1 -- "$1" policy.yaml | cut -d: -f1; }

# limit WHAT WANTED GUID PORT: expects this limit of high priority.
limit() {
	[ "$simulator" = ibsim ] || expect "high limit $1" "$2" "$(port_info "$node" "$3" "$4" VLHighLimit)"
}

start_sim "$topology"

# promise: T2 T3 T4 P1
note "scopes"
cat >policy.yaml <<END
port-groups:
  leaf05: {port-guids: $leaf05}
  oss01: {port-names: "oss01 mlx5_0/P*"}
  mds: {port-guids: $mds}
  link: {port-names: "MF0;leaf05:SB7700/U1/P31"}
  spines: {port-guids: [$spine01, 0x7cfe900300b41b60]}
  nvme-switch: {port-names: "MF0;leaf05:SB7700/U1/P6"}
fabric-setup:
  sl2vl:
    - {group: all, from: "*", to: "*", table: $(yaml_table 0 1)}
    - {group: leaf05, from: [1, 31-33], to: 6, table: $(yaml_table 2)}
    - {group: leaf05, from: 31, to: [5-7], table: $(yaml_table 3 0)}
    - {across: oss01, to: 3, table: $(yaml_table 0 2)}
    - {across: oss01, from: 6, table: $(yaml_table 1 15)}
    - {group: mds, table: $(yaml_table 2 1 0)}
    - {across: spines, from: 35, to: [34-36], table: $(yaml_table 1 2)}
    - {across: nvme-switch, table: $(yaml_table 3 1)}
  vlarb:
    - {group: all, high: "1:32", low: ["0:16", "2:0", "1:16", "2:32"], high-limit: 5}
    - {across: oss01, low: ["0:1", "3:200"], high-limit: 0}
    - {group: leaf05, to: [31-32], high-limit: unlimited}
    - {group: link, high: [], low: "0:255"}
    - {group: mds, high: ["0:1", "2:2"], low: [], high-limit: 8KiB}
END
start_and_wait "$node" -p policy.yaml
expect "findings, but for the degraded link, VLs that are not served, weights below a packet, and SLs" "" \
	"$( { findings error; findings warning; } |
		grep -vE 'spine01.*: runs at 2.5 Gb/s|no arbitration table serves|less than a packet of the MTU|\(no level\)')"

all=$(a_table 0 1)
expect "SL2VL of a CA by group all" "$all" "$(sl2vl "$node" $node001 0)"
expect "SL2VL of a CA by its own group" "$(a_table 2 1 0)" "$(sl2vl "$node" $mds 0)"
expect "SL2VL of the router" "$all" "$(sl2vl "$node" $router 0)"
expect "SL2VL of another switch" "$all" "$(sl2vl "$node" $spine01 17 1)"
expect "SL2VL from switch port 0" "$all" "$(sl2vl "$node" $leaf05 6 0)"
expect "SL2VL leaf05 1 to 6: by from and to" "$(a_table 2)" "$(sl2vl "$node" $leaf05 6 1)"
expect "SL2VL leaf05 32 to 6: in the range" "$(a_table 2)" "$(sl2vl "$node" $leaf05 6 32)"
expect "SL2VL leaf05 34 to 6: not in the range" "$all" "$(sl2vl "$node" $leaf05 6 34)"
expect "SL2VL leaf05 31 to 6: the last one" "$(a_table 3 0)" "$(sl2vl "$node" $leaf05 6 31)"
expect "SL2VL leaf05 31 to 5" "$(a_table 3 0)" "$(sl2vl "$node" $leaf05 5 31)"
expect "SL2VL leaf05 1 to 3: across" "$(a_table 0 2)" "$(sl2vl "$node" $leaf05 3 1)"
expect "SL2VL leaf05 1 to 2: across, but another port" "$all" "$(sl2vl "$node" $leaf05 2 1)"
expect "SL2VL leaf05 6 to 2: across by the in port" "$(a_table 1 15)" "$(sl2vl "$node" $leaf05 2 6)"
expect "SL2VL leaf05 6 to 3: the last of two" "$(a_table 1 15)" "$(sl2vl "$node" $leaf05 3 6)"
expect "SL2VL leaf05 35 to 36: across spines" "$(a_table 1 2)" "$(sl2vl "$node" $leaf05 36 35)"
expect "SL2VL leaf05 35 to 33: across, but not to" "$all" "$(sl2vl "$node" $leaf05 33 35)"
expect "SL2VL leaf05 34 to 36: across, but not from" "$all" "$(sl2vl "$node" $leaf05 36 34)"
expect "SL2VL leaf05 35 to 4: not across" "$all" "$(sl2vl "$node" $leaf05 4 35)"
expect "SL2VL of the CA across a switch's port" "$(a_table 3 1)" "$(sl2vl "$node" $nvme 0)"

expect "VLArb of a CA" "low: 0:16 2:0 1:16 2:32 high: 1:32" "$(vlarb "$node" $node001 1)"
expect "VLArb of a CA by its own group" "low: high: 0:1 2:2" "$(vlarb "$node" $mds 1)"
expect "VLArb across: the low table only" "low: 0:1 3:200 high: 1:32" "$(vlarb "$node" $leaf05 2)"
expect "VLArb to a port: the limit only" "low: 0:16 2:0 1:16 2:32 high: 1:32" \
	"$(vlarb "$node" $leaf05 32)"
expect "VLArb of an external port by name" "low: 0:255 high:" "$(vlarb "$node" $leaf05 31)"
limit "of a CA" 5 $node001 1
limit "of a CA, 8 KiB" 2 $mds 1
limit "across: one packet" 0 $leaf05 2
limit "to a port: unlimited" 255 $leaf05 32
limit "of a switch's own port" 5 $leaf05 0

# OperationalVLs covers the VLs that the tables use at either end of the link: VL 3 in an SL-to-VL
# table to port 6 of leaf05, VL 3 in the arbitration of port 2, VL 2 to mds01, VL 2 elsewhere.
expect "VLs of leaf05 port 6" VL0-3 "$(port_info "$node" $leaf05 6 OperVLs)"
expect "VLs at its other end" VL0-3 "$(port_info "$node" $nvme 1 OperVLs)"
expect "VLs of leaf05 port 2" VL0-3 "$(port_info "$node" $leaf05 2 OperVLs)"
stop_qosd

# promise: T1
note "few VLs"	# on new links, because an Active link keeps its VLs
stop_sim
rm -rf state
start_sim "$topology"
cat >policy.yaml <<END
fabric-setup:
  defaults:
    all:
      sl2vl: $(yaml_table 0 1)
      vlarb-low: ["0:10", "1:20"]
    router: {max-vls: 1}
END
start_and_wait "$node" -p policy.yaml
expect "VLs of a link that uses 2" VL0-1 "$(port_info "$node" $leaf05 2 OperVLs)"
expect "VLs of a link that may have 1" VL0 "$(port_info "$node" $router 1 OperVLs)"
expect "SL2VL towards one VL: dropped" "$(a_table 0 15)" "$(sl2vl "$node" $leaf06 10 1)"
expect "VLArb towards one VL" "low: 0:10 high:" "$(vlarb "$node" $router 1)"

# promise: T1
note "fewer by settings"
stop_qosd
stop_sim
rm -rf state
start_sim "$topology"
echo "max-op-vls: 2" >few.yaml
start_and_wait "$node" -c few.yaml -p "$top/etc/policy.yaml"
expect "VLs of a link by max-op-vls" VL0-1 "$(port_info "$node" $leaf05 2 OperVLs)"
expect "VLs of a CA by max-op-vls" VL0-1 "$(port_info "$node" $node001 1 OperVLs)"
expect "SL2VL, classes on two VLs" "$(a_table 0 0 0 1 0)" "$(sl2vl "$node" $leaf05 2 1)"
stop_qosd
stop_sim
rm -rf state
start_sim "$topology"

# promise: T2 T5
note "classes"
cat >policy.yaml <<END
fabric-setup:
  defaults:
    all:
      sl2vl: $(yaml_table 0 1 2)
      vlarb-low: ["0:10", "1:20", "2:30"]
      high-limit: 7
    ca:
      sl2vl: $(yaml_table 0 0 1)
    switch:
      vlarb-high: ["2:9"]
      high-limit: 1
    router: {high-limit: 0, sl2vl: $(yaml_table 2 0)}
    switch-port-0:
      sl2vl: $(yaml_table 1)
      vlarb-low: ["1:33"]
      vlarb-high: ["2:3"]
      high-limit: 3
END
start_and_wait "$node" -p policy.yaml
expect "SL2VL of class ca" "$(a_table 0 0 1)" "$(sl2vl "$node" $node001 0)"
expect "SL2VL of class switch" "$(a_table 0 1 2)" "$(sl2vl "$node" $leaf05 2 1)"
expect "SL2VL of class router" "$(a_table 2 0)" "$(sl2vl "$node" $router 0)"
expect "SL2VL of class switch-port-0" "$(a_table 1)" "$(sl2vl "$node" $leaf05 0 1)"
low="low: 0:10 1:20 2:30"
expect "VLArb of class ca" "$low high:" "$(vlarb "$node" $node001 1)"
expect "VLArb of class switch" "$low high: 2:9" "$(vlarb "$node" $leaf05 2)"
expect "VLArb of class router" "$low high:" "$(vlarb "$node" $router 1)"
expect "VLArb of class switch-port-0" "low: 1:33 high: 2:3" "$(vlarb "$node" $leaf05 0)"
limit "of class ca" 7 $node001 1
limit "of class switch" 1 $leaf05 2
limit "of class router" 0 $router 1
limit "of class switch-port-0" 3 $leaf05 0

# promise: T3 T6
note "VLs that a link lacks"
cat >policy.yaml <<END
fabric-setup:
  unsupported-vl: drop
  sl2vl:
    - {group: all, table: $(yaml_table 0 9 14 7 15 8)}
  vlarb:
    - {group: all, high: ["9:5"], low: ["0:4", "12:1", "7:3"]}
END
reload || bad "refused: $(cat reload)"
expect "VLs that are all there" VL0-7 "$(port_info "$node" $leaf05 2 OperVLs)"
expect "SL2VL, drop" "$(a_table 0 15 15 7 15 15)" "$(sl2vl "$node" $leaf05 2 1)"
expect "SL2VL, drop, of a CA" "$(a_table 0 15 15 7 15 15)" "$(sl2vl "$node" $node001 0)"
expect_match "finding" "^$(line_of '{group: all, table') VL 14 does not exist on the link of .* dropped" \
	"$(findings warning | grep 'VL 14')"
expect_match "finding" "^$(line_of '{group: all, high') VL 9 in the high table .* omitted" \
	"$(findings warning | grep 'high table')"
expect_match "finding" "^$(line_of '{group: all, high') VL 12 in the low table .* omitted" \
	"$(findings warning | grep 'low table')"
sed -i 's/: drop/: fold/' policy.yaml
reload || bad "refused: $(cat reload)"
expect "SL2VL, fold" "$(a_table 0 1 6 7 15 0)" "$(sl2vl "$node" $leaf05 2 1)"

# promise: T6
note "findings"
cat >policy.yaml <<END
port-groups:
  here: {port-guids: [$mds, 0x1234]}
  nobody: {port-names: "nobody*/P1"}
  leaf05: {port-guids: $leaf05}
qos-levels:
  default: {sl: 0}
match-rules:
  - {source: nobody, destination: here, level: default}
fabric-setup:
  sl2vl:
    - {group: nobody, table: $(yaml_table 0)}
    - {group: leaf05, from: [1, 77], to: 2, table: $(yaml_table 0)}
    - {across: here, to: 99, table: $(yaml_table 0)}
    - {across: here, table: $(yaml_table 0 13)}
  vlarb:
    - {group: leaf05, low: [$(printf '0:%d, ' 1 2 3 4 5 6 7 8) 0:9]}
    - {group: here, to: 2, low: "0:1"}
    - {group: here, high: "9:1"}
END
before=$(wc -l <"$qosd_log")
reload || bad "refused: $(cat reload)"
tail -n "+$((before + 1))" "$qosd_log" >new.log
"$build/qosd" --check -c "$top/etc/qosd.yaml" -p policy.yaml --topology "$topology" >check 2>&1
expect "exit status of --check" 1 $?
# found SEVERITY WHAT LINE TEXT: status, the log and --check must show this finding.
found() {
	expect_match "$2" "(^|[[:cntrl:]])$3 [^[:cntrl:]]*$4" "$(findings "$1")"
	expect_match "$2, in the log" " $1: plan: policy.yaml:$3:[0-9]+: [^[:cntrl:]]*$4" "$(<new.log)"
	expect_match "$2, by --check" "policy.yaml:$3:[0-9]+: $1: [^[:cntrl:]]*$4" "$(<check)"
}
found warning "member not found" 2 "0x0*1234"
found warning "name not found" 3 nobody
found warning "setting without ports" "$(line_of '{group: nobody, table')" "matches no port"
found error "in port that is not there" "$(line_of 'from: [1, 77]')" "no port 77 on [^[:cntrl:]]*leaf05"
found error "out port that is not there" "$(line_of 'to: 99')" "no port 99 on [^[:cntrl:]]*leaf05"
found error "CA port that is not there" "$(line_of '{group: here, to: 2')" "no port 2 on mds01"
found error "table too long" "$(line_of '{group: leaf05, low')" "low table has 9 entries[^[:cntrl:]]* supports 8"
found warning "SL on a VL that is not there" "$(line_of '{across: here, table')" "VL 13 does not exist on the link of [^[:cntrl:]]*dropped"
found warning "entry on a VL that is not there" "$(line_of '{group: here, high')" "VL 9 in the high table [^[:cntrl:]]*omitted"
expect "still up" true "$(status subnet-up)"

stop_qosd || bad "exit status $? after SIGTERM"

if [ "$simulator" != ibsim ]; then
	# promise: T1 T2
	note "all VLs and entries that there can be"
	stop_sim
	rm -rf state
	cat >profiles.yaml <<'END'
profiles:
  most: {vl-cap: 15, vlarb-high: 64, vlarb-low: 64}
  half: {vl-cap: 8, vlarb-high: 64, vlarb-low: 40}
nodes:
  - {type: any, profile: most}
  - {name: "node001 *", profile: half}
END
	# Each table cycles through all VLs, so that no two adjacent entries are equal.
	entries() { for ((i = 0; i < $1; i++)); do echo "$((i % $2)):$((i + $3))"; done; }
	list() { entries "$@" | sed 's/.*/"&"/' | paste -sd,; }
	cat >policy.yaml <<END
port-groups:
  half: {port-guids: $node001}
qos-levels: {default: {sl: 0}, last: {sl: 14}}
match-rules:
  - {qos-class: 1, level: last}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}
  vlarb:
    - {group: all, high: [$(list 64 15 1)], low: [$(list 64 15 101)], high-limit: 254}
    - {group: half, high: [$(list 64 8 1)], low: [$(list 40 8 101)]}
END
	sim_options=(--profiles profiles.yaml)
	start_sim "$topology"
	start_and_wait "$node" -p policy.yaml
	expect "VLs of a link" VL0-14 "$(port_info "$node" $leaf05 2 OperVLs)"
	expect "VLs of a CA" VL0-14 "$(port_info "$node" $mds 1 OperVLs)"
	expect "VLs of a link that has 8 at one end" "VL0-7 VL0-7" \
		"$(port_info "$node" $node001 1 OperVLs) $(port_info "$node" 0xf45214030090a3c0 1 OperVLs)"
	expect "SL2VL, one to one" "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15" "$(sl2vl "$node" $leaf05 2 31)"
	expect "SL2VL towards 8 VLs" "0 1 2 3 4 5 6 7 15 15 15 15 15 15 15 15" "$(sl2vl "$node" 0xf45214030090a3c0 1 31)"
	full="low: $(entries 64 15 101 | xargs) high: $(entries 64 15 1 | xargs)"
	expect "VLArb of a switch" "$full" "$(vlarb "$node" $leaf05 2)"
	expect "VLArb of a CA" "$full" "$(vlarb "$node" $mds 1)"
	expect "VLArb of another length" "low: $(entries 40 8 101 | xargs) high: $(entries 64 8 1 | xargs)" \
		"$(vlarb "$node" $node001 1)"
	limit "that is the last" 254 $mds 1
	expect "an answer on the last VL" "sl=14" "$(record "$node" --sgid "$(gid 248a070300a25e99)" \
		--dgid "$(gid 248a070300a25ed5)" --qos_class 1 | cut -d' ' -f1)"
	stop_qosd || bad "exit status $? after SIGTERM"
fi
