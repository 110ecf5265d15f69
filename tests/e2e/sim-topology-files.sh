#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests topology files of other programs: `qosd --check --topology` and qosd-sim read the files that
# ibnetdiscover (with and without -p), OpenSM and qosd-ctl write about one fabric as that fabric.
# They read nets without GUIDs as stock ibsim does, and .topo files as ibdm does.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it serves all of these files"
for program in ibnetdiscover opensm dump_fts ibsim ibdmsh; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done
sim_options=(--keep-lids)
: >empty.yaml

# checked NAME FILE [OPTION...]: writes the output of --check for the file to NAME.check, always under the
# same file name.
checked() {
	local name=$1
	cp "$2" in.topo
	shift 2
	timeout $((20 * slow)) "$build/qosd" --check -p empty.yaml -T in.topo "$@" >"$name.check" 2>&1
	expect "exit status of --check on $name" 0 $?
	grep -q ' pairs connected' "$name.check" || bad "$name: no report: $(head -n 5 "$name.check")"
}

# simulated NAME FILE NODE: serves the file; writes ibnetdiscover's output to NAME.sim and the simulator's
# warnings to NAME.warn.
simulated() {
	start_sim "$2"
	grep -v '^ready' "$sim_log" >"$1.warn"
	on "$3" ibnetdiscover 2>"$1.err" | grep -v '^#' >"$1.sim"
	stop_sim
	[ -s "$1.err" ] && bad "ibnetdiscover on $1: $(head -n 3 "$1.err")"
	grep -q '^Switch' "$1.sim" || bad "$1: nothing is found: $(tail -n 3 "$sim_log")"
}

# without_models FILE: prints the file without the lines that a report of ports lacks.
without_models() {
	sed -E '/^(vendid|devid|sysimgguid)=/d; s/^(Ca|Rt)	[0-9]+/\1/' "$1" | grep -v 'runs at'
}

# links_by_ibdm parseTopology|parseSubnetLinks FILE NAME|NODE|GUID: prints each link, in both directions, as
# ibdm reads the file: "END PORT END PORT WIDTH SPEED".  END is the name of a system, the name of a node, or
# a GUID.
links_by_ibdm() {
	cat >links.tcl <<-'END'
		set fabric [new_IBFabric]
		IBFabric_[lindex $argv 0] $fabric [lindex $argv 1]
		proc end_of {node} {
			if {[lindex $::argv 2] eq "NODE"} { return [IBNode_name_get $node] }
			if {[lindex $::argv 2] eq "NAME"} { return [file dirname [IBNode_name_get $node]] }
			return [IBNode_guid_get $node]
		}
		foreach pair [IBFabric_NodeByName_get $fabric] {
			set node [lindex $pair 1]
			for {set i 1} {$i <= [IBNode_numPorts_get $node]} {incr i} {
				set port [IBNode_getPort $node $i]
				if {$port eq ""} continue
				set far [IBPort_p_remotePort_get $port]
				if {$far eq ""} continue
				puts "link [end_of $node] $i [end_of [IBPort_p_node_get $far]]\
					[IBPort_num_get $far] [IBPort_width_get $port] [IBPort_speed_get $port]"
			}
		}
	END
	ibdmsh links.tcl "$@" 2>&1 | sed -nE 's/^link //; t p; d; :p; s/[[:space:]]+/ /gp' | sort
}
# links_of FILE NAME|GUID: prints the same for a file of ibnetdiscover.
links_of() {
	awk -v by="$2" -F '"' '
		/^(Ca|Rt|Switch)/ { from = by == "NAME" ? $4 : "0x" substr($2, 3) }
		/^\[/ {
			split($1, near, /[][]/); split($3, far, /[][]/); n = split($5, words, " ")
			width = speed = words[n]
			sub(/x.*/, "x", width); sub(/.*x/, "", speed)
			gbps = speed == "SDR" ? "2.5" : speed == "DDR" ? "5" : speed == "QDR" ? "10" : "UNKNOWN"
			print from, near[2], by == "NAME" ? $4 : "0x" substr($2, 3), far[2], width, gbps
		}' "$1" | sort
}

mgmt=H-f452140300811200
router=0x0002c903000f1a60
guid=0xf452140300811201

note "the sample cluster, as four programs write it"
start_sim "$top/examples/cluster.topo"
bring_up_opensm "$mgmt" 30
on "$mgmt" ibnetdiscover >net 2>net.err || bad "ibnetdiscover: $(<net.err)"
on "$mgmt" ibnetdiscover -p >ports 2>ports.err || bad "ibnetdiscover -p: $(<ports.err)"
on "$mgmt" dump_fts >tables 2>dump_fts.err || bad "dump_fts: $(<dump_fts.err)"
cp opensm.dir/opensm-subnet.lst opensm.lst || bad "OpenSM wrote no list"
end "$opensm"
start_and_wait "$mgmt" -p empty.yaml
ctl dump dump || bad "qosd-ctl dump"
cp dump/opensm-subnet.lst qosd.lst
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state
expect "lines of the lists" "$(grep -c '^\[' net) $(grep -c '^\[' net)" \
	"$(grep -c '^{' opensm.lst) $(grep -c '^{' qosd.lst)"

# promise: B7
note "--check says the same of each"
for file in net ports opensm.lst qosd.lst; do
	checked "$file" "$file" -g "$guid" -L tables
done
grep -q '^Routes of tables' net.check || bad "no figures of the tables: $(tail -n 20 net.check)"
expect "lines about pairs" 2 "$(grep -cE '^60 end ports; 3540 of 3540 pairs connected$' net.check)"
expect_same "OpenSM's list" net.check opensm.lst.check
expect_same "qosd-ctl's list" net.check qosd.lst.check
without_models net.check >net.less
without_models ports.check >ports.less
expect_same "the report of ports" net.less ports.less

# promise: P13
note "the devices of a subnet as qosd-ctl dump writes them"
cat >profiles.yaml <<'END'
profiles:
  small: {like: connectx-3, vl-cap: 2, mtu: 2048}
  wide: {like: connectx-4, mtu: 4096}
nodes:
  - {name: "node00*", profile: small}
  - {name: "node01*", profile: wide}
END
cat >classes.yaml <<'END'
qos-levels: {default: {sl: 0}, fast: {sl: 1}, bulk: {sl: 2}}
traffic-classes: [{level: fast, share: 50%}, {level: bulk, share: 30%}, {level: default}]
END
# without_places: findings without the examples, which depend on the order of nodes.
without_places() { grep -v 'runs at' | sed -E 's/of [^ ]+ .* and ([0-9]+ more)/of \1/; s/^links .* and ([0-9]+ more)/links \1/'; }
sim_options=(--keep-lids --profiles profiles.yaml)
start_sim "$top/examples/cluster.topo"
start_and_wait "$mgmt" -p classes.yaml
ctl dump devices || bad "qosd-ctl dump"
ctl -j status | jq -r '.. | objects | select(has("severity") and has("text")) | .text' | without_places | sort >said
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
rm -rf state
sim_options=(--keep-lids)
"$build/qosd" --check -p classes.yaml -T devices/opensm-subnet.lst -g "$guid" --devices devices/qosd-devices.yaml >of-dump 2>&1
sed -nE 's/^([^ ]*: )?(error|warning|info): //p' of-dump | without_places | sort >checked
expect_same "findings of the daemon and of --check" said checked
grep -qE '^  [0-9]+ channel adapters of kind ca-[0-9]+: 2 data VLs, MTU 2048' of-dump || bad "no small adapters: $(grep -A9 ^Devices of-dump)"
expect "what is assumed" "" "$(sed -n '/^Devices/,/^$/p' of-dump | tail -n +2 | grep -F '(')"
"$build/qosd-sim" run "$top/examples/cluster.topo" --profiles devices/qosd-devices.yaml -- true >out 2>&1 || bad "qosd-sim takes no such file: $(<out)"

# promise: B7
note "what differs is seen"
# one slower link; two hosts in each other's places
sed "/NodeGUID:f452140300811230 /s/PHY=4x/PHY=1x/" opensm.lst >slow.lst
cmp -s opensm.lst slow.lst && bad "no link was made slower"
checked slow slow.lst -g "$guid" -L tables
cmp -s net.check slow.check && bad "a slower link is not seen"
sed 's/f452140300811231/TMP/g; s/f452140300811241/f452140300811231/g; s/TMP/f452140300811241/g' \
	opensm.lst >swapped.lst
cp swapped.lst in.topo
"$build/qosd" --check -p empty.yaml -T in.topo -g "$guid" -L tables >swapped.check 2>&1
cmp -s net.check swapped.check && bad "hosts that changed places are not seen"

# promise: B7
note "the simulator serves the same of each"
for file in net ports opensm.lst qosd.lst; do
	simulated "$file" "$file" "$mgmt"
	expect "warnings of $file" "" "$(<"$file.warn")"
done
expect_same "OpenSM's list" net.sim opensm.lst.sim
expect_same "qosd-ctl's list" net.sim qosd.lst.sim
# ibdm ignores lines about routers
links_of net GUID | grep -v "$router" >net.links
links_by_ibdm parseSubnetLinks opensm.lst GUID >lst.links
expect_same "links of OpenSM's list, by ibdm" net.links lst.links
without_models net.sim >net.less
without_models ports.sim >ports.less
expect_same "the report of ports" net.less ports.less
# qosd-sim must serve the contents of the file
grep -v '^#' net >net.file
expect_same "the file itself" net.file net.sim

# promise: B7
note "a net without GUIDs, on stock ibsim and on qosd-sim"
cat >small.net <<'END'
# two switches, three hosts; links without a port lead to port 1
Switch	8 "S-0"
[1]	"H-1"
[2]	"H-2"[2]
[3]	"S-1"[8]	w=2 s=4
[4]	"S-1"[7]

Hca	2 "H-1"
[1]	"S-0"

Hca	2 "H-2"
[2]	"S-0"[2]

Switch	8 "S-1"
[8]	"S-0"[3]	w=2 s=4
[7]	"S-0"[4]
[1]	"H-3"
[2]	"H-3"[2]

Hca	2 "H-3"
[1]	"S-1"
[2]	"S-1"[2]
END
use_simulator ibsim
start_sim small.net
on H-1 ibnetdiscover >small.ibsim 2>small.err || bad "ibnetdiscover on ibsim: $(<small.err)"
stop_sim
use_simulator qosd-sim
simulated small small.net H-1
# nodes: prints nodes and links; models and speeds that the file lacks are the simulator's defaults
nodes() {
	sed -E '/^#|^(vendid|devid)=/d; s/lid [0-9]+/lid/g; s/ [0-9]+x[A-Z]+$//
		s/(base|enhanced) port 0//' "$1"
}
nodes small.ibsim >small.want
nodes small.sim >small.have
expect_same "nodes and links" small.want small.have
checked small.net small.net -g 0x100001
checked small.ibsim small.ibsim -g 0x100001
expect_same "what --check says" small.ibsim.check small.net.check

# promise: B7
note "a net of modules, aliases and included files, on stock ibsim and on qosd-sim"
cat >modules.net <<'END'
module="top"
Switch 8 "S"
[1] "H"
@[2] "left"
@[3] "right"

Ca 1 "H"
[1] "S"

include "left.net"
END
cat >left.net <<'END'
module="left"
Switch 8 "S"
[8] "top@left"
[1] "H"

Ca 1 "H"
[1] "S"

module="right"
Ca 2 "H"
[2] "top@right"
END
use_simulator ibsim
start_sim modules.net
on "top#H" ibnetdiscover >modules.ibsim 2>modules.err || bad "ibnetdiscover on ibsim: $(<modules.err)"
stop_sim
use_simulator qosd-sim
start_sim modules.net
on "top#H" ibnetdiscover 2>modules.err | grep -v '^#' >modules.sim
stop_sim
nodes modules.ibsim >modules.want
nodes modules.sim >modules.have
expect "nodes" 5 "$(grep -cE '^(Ca|Switch)' modules.want)"
expect_same "nodes and links" modules.want modules.have
# always the same file name, because the output contains it
"$build/qosd" --check -p empty.yaml -T modules.net -g 0x100001 2>&1 | grep ' pairs connected' >modules.check
"$build/qosd" --check -p empty.yaml -T modules.ibsim -g 0x100001 2>&1 | grep ' pairs connected' >ibsim.check
expect_same "pairs" ibsim.check modules.check
expect "pairs" "3 end ports; 6 of 6 pairs connected" "$(head -n 1 modules.check)"

# promise: B7
note "systems of ibdm"
{
	for leaf in 1 2 3 4; do
		echo "Buffalo leaf$leaf"
		for port in 1 2 3 4; do
			echo "  P$port -> Cougar host$leaf$port P1"
		done
		for port in 5 6 7 8; do
			echo "  P$port -4x-5G-> Buffalo spine$(((port - 3) / 2)) P$((2 * leaf - port % 2))"
		done
		echo
	done
} >tree.topo
simulated tree tree.topo host11
expect "warnings" "" "$(<tree.warn)"
expect "systems" 22 "$(grep -cE '^(Ca|Switch)' tree.sim)"
links_by_ibdm parseTopology tree.topo NAME >tree.ibdm
links_of tree.sim NAME >tree.links
expect "links" 64 "$(grep -c . tree.ibdm)"
expect_same "what ibdm reads, and what is served" tree.ibdm tree.links
checked tree tree.topo -g 0x100001
checked tree.sim tree.sim -g 0x100001
expect_same "what --check says" tree.check tree.sim.check
echo 'NoSuch big
  L1/P1 -> Cougar h1 P1' >big.topo
"$build/qosd" --check -p empty.yaml -T big.topo >big.check 2>&1
expect "exit status for an unknown type" 1 $?
grep -q '^big.topo:1:1: error: no IBNL file defines system type NoSuch; looked in \.' big.check ||
	bad "an unknown type: $(<big.check)"
"$build/qosd-sim" run big.topo -- true >big.sim 2>&1
expect "exit status of the simulator" 1 $?
grep -q '^big.topo:1:1: error: no IBNL file defines system type NoSuch; looked in \.' big.sim ||
	bad "the simulator on an unknown type: $(<big.sim)"

# promise: B7
note "systems with boards"
mkdir ibnl
cat >ibnl/chassis.ibnl <<'END'
SYSTEM LINE,LINE:4x

NODE SW 8 MT43132 U1
   1 -> P1
   2 -> P2
   5 -> U2 5
   8 -5G-> B1
NODE SW 8 MT43132 U2
   1 -> P3
   5 -> U1 5
   8 -> B2

SYSTEM LINE:wide

NODE SW 8 MT43132 U1
   1 -12x-> W1
   8 -> B1

SYSTEM SPINE

NODE SW 8 MT43132 U1
   1 -> B1
   2 -> B2
   3 -> B3
   4 -> B4

TOPSYSTEM QosdChassis,QC

SUBSYSTEM LINE line1
   P1 -> L1/P1
   P2 -> L1/P2
   P3 -> L1/P3
   W1 -> L1/W1
   B1 -4x-10G-> spine B1
   B2 -> spine B2

SUBSYSTEM LINE line2
   P1 -> L2/P1
   P2 -> L2/P2
   P3 -> L2/P3
   W1 -> L2/W1
   B1 -> spine B3
   B2 -> spine B4

SUBSYSTEM SPINE spine
END
cat >chassis.topo <<'END'
QosdChassis one
  L1/P1 -4x-5G-> Cougar h1 P1
  L1/P3 -> QC two L1/P1
  L2/P2 -> Cougar h2 P1

QC two CFG: line2=wide
  L2/W1 -12x-> Cougar h3 P2
END
"$build/qosd" --check -p empty.yaml -T chassis.topo >chassis.check 2>&1
expect "exit status without the IBNL file" 1 $?
sim_options=(--keep-lids --ibnl ibnl)
start_sim chassis.topo
sim_options=(--keep-lids)
on h1 ibnetdiscover 2>chassis.err >chassis.sim || bad "ibnetdiscover on a chassis: $(<chassis.err)"
stop_sim
# a system with one node has the name of that node
IBDM_IBNL_PATH=$PWD/ibnl links_by_ibdm parseTopology chassis.topo NODE |
	sed -E 's,(^| )([^ /]+)/U1 ,\1\2 ,g' | sort >chassis.ibdm
links_of chassis.sim NAME >chassis.links
expect "links" 28 "$(grep -c . chassis.ibdm)"
expect_same "what ibdm reads, and what is served" chassis.ibdm chassis.links
checked chassis chassis.topo -g 0x100001 --ibnl ibnl
checked chassis.sim chassis.sim -g 0x100001
expect_same "what --check says" chassis.check chassis.sim.check
sed -i 's/-> spine B4/-> spine B9 B9/' ibnl/chassis.ibnl
"$build/qosd" --check -p empty.yaml -T chassis.topo --ibnl ibnl >chassis.check 2>&1
expect "exit status with a broken IBNL file" 1 $?
grep -q '^ibnl/chassis.ibnl:43:1: error: a port leads to a connector, or to a part' chassis.check ||
	bad "a broken IBNL file: $(<chassis.check)"

# promise: B7
note "messages of ibnetdiscover between the lines"
start_sim "$top/examples/cluster.topo"
lose H-f452140300811230 100
on "$mgmt" ibnetdiscover -t 50 >net.part 2>messages
on "$mgmt" ibnetdiscover -t 50 -p >ports.part 2>>messages
stop_sim
[ -s messages ] || bad "ibnetdiscover said nothing of a host that does not answer"
show_log messages 3
n=$(grep -c . messages)
for file in net ports; do
	# messages in the middle of a node's lines
	{ head -n 40 "$file.part"; cat messages; tail -n +41 "$file.part"; } >"$file.mixed"
	checked "$file.part" "$file.part" -g "$guid"
	checked "$file.mixed" "$file.mixed" -g "$guid"
	line=$(head -n 1 messages | cut -c1-80)
	grep -qF "in.topo:41:1: warning: the first of $n messages of programs, which are ignored: $line" \
		"$file.mixed.check" || bad "$file: no warning: $(head -n 3 "$file.mixed.check")"
	grep -v ' messages of programs, ' "$file.mixed.check" >mixed.less
	expect_same "the rest of $file" "$file.part.check" mixed.less
	simulated "$file.part" "$file.part" "$mgmt"
	simulated "$file.mixed" "$file.mixed" "$mgmt"
	expect_same "$file, served" "$file.part.sim" "$file.mixed.sim"
	grep -qF "$file.mixed:41:1: warning: the first of $n messages of programs, which are ignored: $line" \
		"$file.mixed.warn" || bad "$file: no warning of the simulator: $(<"$file.mixed.warn")"
done

# promise: B7
note "files that are none of these"
printf '%s\n' '# Notes' 'The cluster has 50 hosts.' 'Ask the operators.' >notes
"$build/qosd" --check -p empty.yaml -T notes >notes.check 2>&1
expect "exit status of --check" 1 $?
wanted='notes:2:1: error: not a topology in a known format: "The cluster has 50 hosts"'
expect "its only error" "$wanted" "$(grep error: notes.check)"
"$build/qosd-sim" run notes -- true >notes.sim 2>&1
expect "exit status of the simulator" 1 $?
expect "what the simulator says" "$wanted" "$(<notes.sim)"
echo hello >>net
"$build/qosd" --check -p empty.yaml -T net >net.check 2>&1
expect "exit status with a line too many" 1 $?
grep -q "^net:$(grep -c '' net):1: error: \"hello\" is not understood$" net.check ||
	bad "a line too many: $(grep error: net.check)"
