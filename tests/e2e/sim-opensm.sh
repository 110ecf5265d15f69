#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that qosd-sim and ibsim are equal to OpenSM where both have the same features: all
# attribute blocks are the same before any manager has configured the fabric, and after
# OpenSM has.
#
# promise: V7
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it starts both simulators"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }
use_simulator ibsim		# is it there?

# Fields of PortInfo that OpenSM sets and ibsim does not store, so that only qosd-sim has
# the new values: position and length in the block's hexadecimal digits.
not_kept='
	52 4 M_KeyLeasePeriod
	58 2 LinkWidthEnabled		knows some masks only; "all that is supported" is none of them
	71 1 LinkSpeedEnabled		likewise
	76 2 VLHighLimit
	102 2 SubnetTimeout, ClientReregister
	106 2 LocalPhyErrors, OverrunErrors
	126 2 LinkSpeedExtEnabled	as LinkSpeedEnabled
'
# The same at port 0 of a switch, the only kind of port where OpenSM changes this field.
not_kept_port0='72 1 NeighborMTU'
# The two lines of one link in this dump contradict each other.  ibsim applies each line to
# its own port, so the ends differ in LinkWidthEnabled, and a Set of that at one end decides
# LinkWidthActive whatever the other end supports.  qosd-sim takes the lower width for the
# link.
contradictory=two-switch-sdr.topo
contradicted='
	58 2 LinkWidthEnabled
	62 2 LinkWidthActive
'

# Each kind of port gets its own tables, all different from power-on, and fewer VLs than it
# supports.
cat >opensm.conf <<'END'
qos TRUE
max_op_vls 3
qos_ca_max_vls 8
qos_ca_high_limit 4
qos_ca_vlarb_high 0:64,1:32,2:16,3:8
qos_ca_vlarb_low 0:1,1:2,2:3,3:4,4:5,5:6,6:7,7:8
qos_ca_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
qos_rtr_max_vls 8
qos_rtr_vlarb_high 7:7
qos_rtr_vlarb_low 0:9,7:8
qos_rtr_sl2vl 0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3
qos_sw0_max_vls 8
qos_sw0_vlarb_high 3:3,4:4
qos_sw0_vlarb_low 0:10,5:50
qos_sw0_sl2vl 1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2
qos_swe_max_vls 8
qos_swe_high_limit 10
qos_swe_vlarb_high 6:60,5:50,4:40
qos_swe_vlarb_low 7:1,6:2,5:3,4:4,3:5,2:6,1:7,0:8
qos_swe_sl2vl 7,6,5,4,3,2,1,0,7,6,5,4,3,2,1,15
END

# tables OUT: writes the present tables of all devices to OUT.
tables() {
	on "$node" "$tools/dumptables" >unsorted 2>dumptables.err ||
		bad "reading the tables on $simulator: $(tail -n 3 dumptables.err; grep -m 3 none unsorted)"
	sort unsorted >"$1"
}

# without FIELDS PORT IN OUT: leaves fields of PortInfo out, at PORT only or at all ports ("").
without() {
	awk -v fields="$(sed -E 's/^([[:space:]]*[0-9]+ [0-9]+).*/\1/' <<<"$1" | xargs)" -v port="$2" '
		BEGIN { n = split(fields, f, " ") }
		$3 == "PortInfo" && (port == "" || $2 == port) {
			for (i = 1; i < n; i += 2)
				$5 = substr($5, 1, f[i]) substr("----", 1, f[i + 1]) substr($5, f[i] + f[i + 1] + 1)
		}
		{ print }' "$3" >"$4"
}

# compare WHAT: tables.ibsim and tables.qosd-sim must be equal.
compare() {
	local sim
	for sim in ibsim qosd-sim; do
		[ "$(basename "$topology")" != "$contradictory" ] || {
			without "$contradicted" "" "tables.$sim" masked
			mv masked "tables.$sim"
		}
	done
	expect_same "$1 on ibsim and qosd-sim" tables.ibsim tables.qosd-sim
}

# found ATTRIBUTE DIGITS: prints how many blocks of the attribute begin with these digits.
found() { awk -v a="$1" -v d="$2" '$3 == a && index($5, d) == 1 { n++ } END { print n + 0 }' result; }

# as_configured: on this simulator, OpenSM must have configured the fabric.
as_configured() {
	expect "Active ports on $simulator" "$(linked_ports "$topology")" \
		"$(awk '$3 == "PortInfo" && $2 != 0 && substr($5, 66, 1) == 4' result | wc -l)"
	expect "end ports without a LID on $simulator" 0 \
		"$(awk '$3 == "GUIDInfo" { has_lid[$1, $2] }	# sorted before its PortInfo
			$3 == "PortInfo" && ($1, $2) in has_lid && substr($5, 33, 4) == "0000"' result | wc -l)"
	[ "$(found SLtoVL 765432107654321f)" -gt 0 ] || bad "no SL2VL of a switch as configured on $simulator"
	[ "$(found SLtoVL 0123012301230123)" -gt 0 ] || bad "no SL2VL of a CA as configured on $simulator"
	[ "$(found VLArbitration 063c0532)" -gt 0 ] || bad "no VLArb of a switch as configured on $simulator"
	[ "$(found VLArbitration 00400120)" -gt 0 ] || bad "no VLArb of a CA as configured on $simulator"
}

# errors: prints those in OpenSM's log, without transactions that it gave up on a busy machine.
errors() {
	local patience
	look_busy
	if [ "$patience" -gt "$slow" ]; then
		grep ' ERR ' osm/log | grep -v ' ERR 5401: evicting '
	else
		grep ' ERR ' osm/log
	fi
}

# manage OPTION...: starts a simulator with fresh devices and lets OpenSM configure them.
manage() {
	start_sim "$topology"
	rm -rf osm
	mkdir osm
	OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm on "$node" \
		opensm -F opensm.conf -f osm/log -e -o -Q "$@" >osm/out 2>&1 ||
		bad "OpenSM on $simulator: exit status $?: $(tail -n 3 osm/out)"
	expect "errors in OpenSM's log on $simulator" "" "$(errors | head -n 3)"
	tables result
	as_configured
	without "$not_kept" "" result masked
	without "$not_kept_port0" 0 masked "tables.$simulator"
	stop_sim
}

power_on() {
	local simulator
	note "$(basename "$topology"), nobody has managed it"
	for simulator in ibsim qosd-sim; do
		use_simulator "$simulator"
		start_sim "$topology"
		tables "tables.$simulator"
		stop_sim
	done
	compare "tables at power-on"
}

managed() {
	local simulator
	note "$(basename "$topology"), opensm $*"
	for simulator in ibsim qosd-sim; do
		use_simulator "$simulator"
		manage "$@"
	done
	compare "tables after opensm $*"
}

for topology in "$top/examples/cluster.topo" "$fabrics"/*.topo; do
	if [ ! -e "$topology" ]; then
		note "no dumps of real fabrics in $fabrics"
		continue
	fi
	node=$(first_ca "$topology")
	power_on
	managed -R updn
	managed -R minhop --reassign_lids --lmc 1
done
