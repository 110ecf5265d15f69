#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the simulator's auditor, `qosd-sim check`: it finds planted faults and names
# their places; fabrics configured by qosd and by OpenSM's up/down pass; on credit loops
# it agrees with ibdmchk.
#
# promise: V5
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it is about qosd-sim"
export OSM_TMP_DIR=$work OSM_CACHE_DIR=$work

# serve PRESET TOPOLOGY: starts the simulator with this fabric in place of the previous one.
serve() {
	[ -z "${sim:-}" ] || stop_sim
	sim_log=$work/sim.log.$((++sim_starts))
	: >"$sim_log"
	"$build/qosd-sim" serve "$2" --preset "$1" -s "$QOSD_SIM_SOCKET" >"$sim_log" 2>&1 &
	sim=$!
	pids+=("$sim")
	until_ 20 grep -q '^ready' "$sim_log" || fail "qosd-sim does not start: $(tail -n 3 "$sim_log")"
	manager=$(sim_ctl show nodes | awk '$1 == "ca" && $5 > 0 { print $2; exit }')
}

# audit: runs the auditor and returns its exit status; the output is in the file audit.
audit() { "$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >audit 2>&1; }
# faults: prints the first faults.
faults() { awk '/^[a-z0-9-]+: /, 0' audit | head -n 6; }
# all_paths WHAT: there must be paths, and all must be connected.
all_paths() {
	expect_match "$1: paths" '^paths +([1-9][0-9]*), connected [1-9][0-9]*$' "$(grep '^paths' audit)"
	expect "$1: paths that are connected" "${BASH_REMATCH[1]}" "$(sed -n 's/^paths.* //p' audit)"
}
clean() {
	audit
	expect "$1: exit status of the audit" 0 $?
	grep -q '^no faults$' audit || bad "$1: not clean: $(faults)"
	all_paths "$1"
}
# found WHAT KIND TEXT...: the audit must fail with a finding of this kind that has all
# the texts.  There may be findings of other kinds, too.
found() {
	local what=$1 kind=$2 lines text
	shift 2
	audit
	expect "$what: exit status of the audit" 1 $?
	lines=$(awk -v kind="$kind" '/^[^ ]/ { mine = $1 == kind ":" } mine && /^  /' audit)
	for text; do
		lines=$(grep -F -- "$text" <<<"$lines")
	done
	[ -n "$lines" ] || bad "$what: no '$kind' with '$*' in: $(faults)"
}
# only KIND...: the findings must be of exactly these kinds.
only() { expect "kinds of findings" "$*" "$(sed -nE 's/^([a-z0-9-]+): [0-9]+$/\1/p' audit | grep -v notes | xargs)"; }

# --- planted faults ---

node001=H-f452140300811230
gpu01=H-248a070300a25dd0
broadcast=ff12:401b:ffff::ffff:ffff
# join NODE: joins the node's first port, whose GUID is the node's plus 1, to the broadcast group.
join() {
	local guid=${1#H-} out
	out=$(on_own "$1" "$tools/pathquery" set member mgid=$broadcast \
		port-gid="$(gid "${guid%0}1")" join-state=1 2>&1) || bad "$1 is no member: $out"
}
# way N: sets $from and $to to the ports of the N-th link on the path from node001 to gpu01.
way() {
	local line
	line=$(sim_ctl path $node001 $gpu01 | sed -n "$1p")
	from=${line%% -> *} to=${line#* -> } to=${to% VL *}
}
node() { echo "${1%/P*}"; }
port() { echo "${1##*/P}"; }
lid() { sim_ctl show port "$1" | sed -n 's/^lid  *//p'; }
# row IN OUT SWITCH VL...: changes the VLs of the first SLs in this SL-to-VL table.
row() {
	local in=$1 out=$2 sw=$3 old new
	shift 3
	old=$(sim_ctl -j show sl2vl "$sw" "$in" "$out" | sed -nE 's/.*"vls":\[([0-9,]*)\].*/\1/p')
	new=$(IFS=,; echo "$*,$(cut -d , -f $(($# + 1))- <<<"$old")")
	sim_do sl2vl "$sw" "$in" "$out" "$new"
}

note "planted faults"
serve auto "$top/examples/cluster.topo"
start_and_wait "$manager"
for member in $node001 $gpu01 H-248a070300a25c40; do
	join "$member"
done
mlid=0xc000
in_tree() { sim_ctl show mft "$1" | grep -q "$mlid"; }
way 4
leaf2=$(node "$from") gpu01_out=$(port "$from")
until_ 5 in_tree "$leaf2" || bad "no multicast tree"
stop_qosd || bad "exit status $? after SIGTERM"	# so that qosd does not repair the planted faults
clean "what qosd leaves behind"
expect_match "multicast groups" 'multicast groups +1' "$(<audit)"

way 2
leaf=$(node "$from") up=$(port "$from") leaf_up=$from spine=$(node "$to") spine_in=$(port "$to")
way 1
leaf_in=$(port "$to") host=$from
way 3
spine_out=$(port "$from")
target=$(lid $gpu01)

sim_do lft "$leaf" "$target" drop
found "an LFT entry is missing" unreachable "$leaf/P0: no LFT entry"
only unreachable
sim_do lft "$leaf" "$target" "$leaf_in"
found "an LFT entry leads to another host" unreachable "$leaf/P$leaf_in leads to $host, which does not have LID $target"
sim_do lft "$leaf" "$target" "$up"
sim_do lft "$spine" "$target" "$spine_in"
found "an LFT loop" loop "$spine/P$spine_in -> $leaf/P$up"
only loop
sim_do lft "$spine" "$target" "$spine_out"
clean "LFTs repaired"

row "$spine_in" "$spine_out" "$spine" 15
found "a VL15 hole" vl15 "$spine/P$spine_out from P$spine_in: SL 0 dropped by VL15"
only vl15
row "$spine_in" "$spine_out" "$spine" 0 14
found "an SL on a VL that is not there" vl15 "$spine/P$spine_out from P$spine_in: SL 1 on VL 14, operational are"
only vl15
row "$spine_in" "$spine_out" "$spine" 0 0
sim_do sl2vl "$host" all all 15,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
found "a host drops SL 0" vl15 "$host: SL 0 dropped by VL15"
sim_do sl2vl "$host" all all 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
clean "SL2VL repaired"

value() { sim_ctl show portinfo "$1" | awk -v f="$2" '$1 == f { print $2 }'; }
# half FIELD VALUE NAME: sets another value at one end of the link from leaf to spine; the audit must find it.
half() {
	local was
	was=$(value "$leaf_up" "$1")
	sim_do portinfo "$leaf_up" "$1" "$2"
	found "one end has another $1" link "$leaf_up" "$3"
	sim_do portinfo "$leaf_up" "$1" "$((was))"
	clean "$1 as it was"
}
half NeighborMTU 1 "NeighborMTU 4096 and 256"
half OperVLs 1 "OperationalVLs 8 and 1"
state() { sim_ctl show port "$1" | sed -n 's/^state  *//p'; }
is_init() { [ "$(state "$leaf_up")" = init ]; }
sim_do link flap "$leaf_up" --interval 1ms
until_ 5 is_init || bad "the link is $(state "$leaf_up")"
found "a link that nobody raised" link "$leaf_up" "$spine/P$spine_in" ": Init and Init"
sim_do portinfo "$leaf_up" LinkState 3
found "one end is Armed" link "$leaf_up" "$spine/P$spine_in" ": Init and Armed"
sim_do portinfo "$spine/P$spine_in" LinkState 3
sim_do portinfo "$leaf_up" LinkState 4
sim_do portinfo "$spine/P$spine_in" LinkState 4
clean "the link is raised"

# links_of SWITCH: prints "PORT PEER" lines, PORT being the switch's.
links_of() {
	sim_ctl show links "$1" | awk -F '  +' -v sw="$1/P" '
		index($5, sw) == 1 { print $5, $6 }
		index($6, sw) == 1 { print $6, $5 }'
}
bits() { sim_ctl -j show mft "$1" | sed -nE 's/.*"mlid":"'$mlid'","ports":\[([0-9,]*)\].*/\1/p'; }
member_out=$(bits "$leaf2")
for p in ${member_out//,/ }; do
	[ "$p" = "$gpu01_out" ] || tree_up=$p
done
sim_do mft "$leaf2" $mlid "$gpu01_out"
torn=$(links_of "$leaf2" | sed -n "s|^$leaf2/P$tree_up ||p")
found "an MFT bit is missing" mcast "MLID $mlid: $torn leads to a switch that does not forward back"
only mcast
sim_do mft "$leaf2" $mlid "$member_out"
clean "the tree repaired"

# Adds a branch from one leaf to the other through a spine that is not on the tree.
other=spine02
[[ $torn != *spine02* ]] || other=spine01
read -r a_out other_a <<<"$(links_of "$leaf" | grep -m 1 "$other")"
read -r b_out other_b <<<"$(links_of "$leaf2" | grep -m 1 "$other")"
other=$(node "$other_a")
leaf_bits=$(bits "$leaf") other_bits=$(bits "$other")
sim_do mft "$leaf" $mlid "$leaf_bits,$(port "$a_out")"
sim_do mft "$leaf2" $mlid "$member_out,$(port "$b_out")"
sim_do mft "$other" $mlid "${other_bits:+$other_bits,}$(port "$other_a"),$(port "$other_b")"
found "a loop in the multicast tree" mcast "closes a loop"
only mcast
sim_do mft "$leaf2" $mlid "$member_out"
sim_do mft "$leaf" $mlid "$leaf_bits"
sim_do mft "$other" $mlid "${other_bits:-none}"
clean "the tree without a loop"

was=$(lid "$host")
sim_do portinfo "$host" Lid "$target"
found "a doubled LID" lid "has LID $target, as does" "$host"
sim_do portinfo "$host" Lid "$was"
clean "LIDs repaired"
sim_do pkey "$host" 0 0
found "a missing P_Key" table "$host: the default P_Key is missing"
only table
sim_do pkey "$host" 0 0xffff
sim_do vlarb "$leaf_up" low 1:1
sim_do vlarb "$leaf_up" high 1:1
found "a VL that never sends" table "$leaf_up: VL 0 is used, but VLArb never lets it send"
only table
sim_do vlarb "$leaf_up" low 0:1
clean "tables repaired"

note "a credit loop by rewritten LFTs"
serve auto ring:6
once "$manager" || bad "qosd --once: $(tail -n 3 once.log)"
clean "a ring by qosd"
for i in {0..5}; do		# P2 leads to the next switch
	for h in {1..6}; do
		[ "$h" = $((i + 1)) ] || sim_do lft "ring-$i" "$(lid "host-000$h HCA-1")" 2
	done
done
found "all around the ring" credit-loop "ring-0/P"
only credit-loop
expect "the cycle's links" 6 "$(grep -m 1 -oE 'VL [0-9]+: .*' audit | grep -o ' -> ' | wc -l)"
all_paths "all around the ring"

# --- sound fabrics, and comparison with ibdmchk ---

# verdicts: sets $ours to the auditor's verdict on credit loops and $theirs to ibdmchk's on OpenSM's files.
verdicts() {
	local sl2vl=()
	audit
	ours=none theirs=neither
	! grep -q '^credit-loop: ' audit || ours=loops
	[ ! -e opensm-sl2vl.dump ] || sl2vl=(-d opensm-sl2vl.dump)	# without QoS there is none
	# ibdmchk often crashes on exit.
	{ ibdmchk -s opensm-subnet.lst -f opensm.fdbs -m opensm.mcfdbs "${sl2vl[@]}" >ibdmchk 2>&1
	} 2>/dev/null
	! grep -q 'no credit loops found' ibdmchk || theirs=none
	! grep -q 'E- credit loops in routing' ibdmchk || theirs=loops
}

# by_opensm WHAT OPTION...: runs OpenSM once, on the tables that it left last time.
by_opensm() {
	local what=$1
	shift
	rm -f opensm*.dump opensm.*fdbs opensm-subnet.lst
	on "$manager" opensm -o -D 0x43 -f osm.log --dump_files_dir "$work" "$@" >osm.out 2>&1 ||
		bad "$what: OpenSM: $(tail -n 3 osm.out)"
}

sound=0 agreed=0 looping=0
# passes PRESET TOPOLOGY [OPTION...]: the audit must find no fault after OpenSM's up/down with
# these options, without and with QoS, and after qosd.
passes() {
	local preset=$1 topology=$2 name qos
	name="$(basename "$topology"), $preset"
	shift 2
	for qos in '' -Q; do
		serve "$preset" "$topology"
		by_opensm "$name" -R updn $qos "$@"
		clean "$name, OpenSM $qos"
		verdicts
		expect "$name, OpenSM $qos: credit loops, by ibdmchk and here" "none none" "$theirs $ours"
		sound=$((sound + 1)) agreed=$((agreed + 1))
	done
	serve "$preset" "$topology"
	start_and_wait "$manager"
	all_connected
	stop_qosd || bad "exit status $? after SIGTERM"
	clean "$name, qosd"
	sound=$((sound + 1)) agreed=$((agreed + 1))
}

note "sound fabrics"
dumps=("$fabrics"/*.topo)
[ -e "${dumps[0]}" ] || { echo "no dumps of real fabrics in $fabrics: left out"; dumps=(); }
grids=(torus:4x4 torus:3x3x2 ring:7 "random:switches=12,hosts=24,seed=3" "random:switches=9,hosts=18,seed=8")
for preset in auto ibsim; do
	for topology in "${dumps[@]}" "$top/examples/cluster.topo" fat-tree:k=4 fat-tree:k=6,taper=2; do
		passes $preset "$topology"
	done
	for topology in "${grids[@]}"; do
		serve $preset "$topology"
		sim_ctl show nodes | awk '$1 == "switch" { print $2; exit }' >roots
		passes $preset "$topology" -a "$work/roots"
	done
done

note "credit loops, with ibdmchk"
# With shortest paths, it depends on the fabric whether there is a credit loop.
for topology in ring:4 ring:5 ring:6 torus:4x4 torus:3x3x2 mesh:4x4 hypercube:d=3 dragonfly:a=3,h=1 fat-tree:k=4 \
	random:switches={8,12},hosts=16,seed={1,2,3,4}; do
	serve auto "$topology"
	by_opensm "$topology" -R minhop
	verdicts
	expect "$topology, shortest paths: ibdmchk and we say" "$theirs" "$ours"
	agreed=$((agreed + 1))
	[ "$theirs" = none ] || looping=$((looping + 1))
	case $topology in
	ring:6 | torus:4x4) expect "$topology, shortest paths" loops "$ours" ;;
	fat-tree:*) expect "$topology, shortest paths" none "$ours" ;;
	esac
done
echo "clean: $sound; agreed with ibdmchk: $agreed, of which $looping with loops"
