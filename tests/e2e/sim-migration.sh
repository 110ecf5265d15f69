#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Shows that a subnet can be moved from OpenSM to qosd: configurations of public repositories and all examples of
# OpenSM's manuals (tests/migration/NAME), on one fabric with the same LIDs.  OpenSM gets the files as they are, and qosd
# what `qosd-ctl convert` makes of them.  SL2VL and arbitration tables, limits of high priority, P_Keys,
# multicast groups and the answers to random path queries must be equal, or differ for a reason that
# tests/migration/lib.sh names.  Each configuration runs on a fabric that has just been switched on, and qosd also
# takes over the one that OpenSM leaves.
#
#   MIGRATION           names of configurations, instead of all
#   MIGRATION_QUERIES   queries for each (2000); the whole proof, `make migration`, takes 20,000
#   MIGRATION_KEEP      folder for what was found
#
# promise: O8
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=../migration/lib.sh
. "$top/tests/migration/lib.sh"
only_on qosd-sim "ibsim has no devices of differing VLs"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

folder=$top/tests/migration
queries=${MIGRATION_QUERIES:-2000}
node=H-0002c90300000110		# sm01; queries come from there, too, since a host may be a limited member
sim_options=(-p "$folder/devices.yaml" --keep-lids)

# option FILE NAME: prints the value of an option of opensm.conf.
option() { [ ! -e "$1" ] || sed -nE "s/^$2[[:blank:]]+//p" "$1"; }

# values FILE...: prints what queries should ask for: all P_Keys, Service-IDs and QoS classes that the files name, the
# ends of ranges, and values that each ULP has; see tools/oracle.c.
values() {
	printf '%s\n' "pkey 0x7fff" "qos-class "{0,1,7} "service-id "{22,0x10000,0x1753{0,1},0x12710,0x10603db,0x10648ca} \
		"service-id "{0x1060384,0x1060cbc,0x1064001}
	sed 's/#.*//' "$@" | awk '
		function numbers(name, list,  n, i, part) {
			n = split(list, part, /[^0-9a-fA-Fx]+/)
			for (i = 1; i <= n; i++)
				if (part[i] != "")
					print name, part[i]
		}
		/^subnet_prefix/ { print "prefix", $2 }
		/^[A-Za-z0-9_ ]*= *0x/ { sub(/^[^=]*= */, ""); sub(/[^0-9a-fA-Fx].*/, ""); numbers("pkey", $0); next }
		/(any|ipoib), *pkey/ { sub(/.*pkey/, ""); sub(/:.*/, ""); numbers("pkey", $0); next }
		/any, *service-id/ { sub(/.*service-id/, ""); sub(/:.*/, ""); numbers("service-id", $0); next }
		/^ *(pkey|service-id|qos-class):/ { name = $1; sub(/:/, "", name); sub(/^[^:]*:/, ""); numbers(name, $0) }'
}

# settled: OpenSM has logged nothing for a while, in which neither it nor the simulator had anything to do.  After the first
# sweep, traps begin a second one, which writes what the first did not know, the VLs of links among it.
settled() {
	local size
	size=$(stat -c %s opensm.dir/log)
	for _ in {1..8}; do
		pause 0.1
		! grep -qsE '\) [RD] ' /proc/"$opensm"/task/*/stat /proc/"$sim"/stat || return
	done
	[ "$size" = "$(stat -c %s opensm.dir/log)" ]
}

# ask_groups FILE: writes all multicast groups to FILE; fails while OpenSM has no time to answer.
ask_groups() { on "$node" saquery MCMR >"$1" 2>&1 && ! grep -q failed "$1"; }

# look MANAGER: writes what the devices hold and what the manager answers to MANAGER.tables, .groups and .answers.
look() {
	device_tables "$node" "$1.tables"
	until_ 10 ask_groups "$1.groups" || bad "$1 does not say which groups there are"
	on "$node" "$tools/oracle" ask 1 ports "$queries" values >"$1.answers" || bad "$1 does not answer all queries"
}

# judged WHAT FILE: notes the reasons in the file judged, and complains of the differences in FILE.
judged() {
	local n rest
	read -r n rest <judged
	summary+="; $1: $n${rest:+, $rest}"
	[ ! -s "$2" ] || bad "$name: $(wc -l <"$2") differences of $1, as in $(head -n 3 "$2" | cut -c 1-300)"
}

# run_both [LOOK]: runs OpenSM and qosd with the configuration in $from.  LOOK prints what else is to be seen under
# each of them, to opensm.smpquery and qosd.smpquery.
run_both() {
	local status files=() options=(-P "$from/partitions.conf" -Y "$from/qos-policy.conf") file
	for file in opensm.conf partitions.conf qos-policy.conf; do
		[ ! -e "$from/$file" ] || files+=("$from/$file")
	done
	[ ! -e "$from/opensm.conf" ] || options+=(-F "$from/opensm.conf")
	values "${files[@]}" >values
	rm -rf converted state
	"$build/qosd-ctl" convert "${files[@]}" -o converted/ >/dev/null 2>convert.log
	status=$?
	if [ -e "$from/refused" ]; then
		expect "$name: exit status of the conversion" 1 "$status"
		expect_match "$name: why it is refused" "$(grep -v '^#' "$from/refused")" "$(grep -w error convert.log)"
		note "$name: refused, as it should be"
		return 1
	fi
	[ "$status" = 0 ] || { bad "$name is not converted: $(grep -w error convert.log | head -n 3)"; return 1; }

	start_sim "$folder/fabric.topo"
	bring_up_opensm "$node" 20 "${options[@]}"
	until_ 10 settled || bad "OpenSM does not come to rest"
	look opensm
	[ -z "${1:-}" ] || "$1" >opensm.smpquery
	end "$opensm"
	start_and_wait "$node" -c converted/qosd.yaml -p converted/policy.yaml
	device_tables "$node" taken.tables
	stop_qosd || bad "exit status $? of qosd"
	stop_sim

	rm -rf state
	start_sim "$folder/fabric.topo"
	start_and_wait "$node" -c converted/qosd.yaml -p converted/policy.yaml
	look qosd
	[ -z "${1:-}" ] || "$1" >qosd.smpquery
	stop_qosd || bad "exit status $? of qosd"
	stop_sim
}

# compare: judges what run_both found.
compare() {
	local levels=1 both=0 with_options=0 ends summary=
	[ ! -e "$from/opensm.conf" ] || with_options=1
	[ -e "$from/qos-policy.conf" ] && [ "$(option "$from/opensm.conf" qos)" = TRUE ] || levels=0
	[ "$(option "$from/opensm.conf" allow_both_pkeys)" != TRUE ] || both=1
	judge_tables qos opensm.tables qosd.tables "$with_options" >differences
	judged tables differences
	judge_tables pkeys opensm.tables qosd.tables "$with_options" >differences
	judged P_Keys differences
	judge_tables pkeys opensm.tables taken.tables "$with_options" >differences
	grep -q pkey-places judged && bad "$name: P_Keys leave their places when qosd takes over"
	judged "P_Keys taken over" differences
	judge_groups opensm.groups qosd.groups "$both" >differences
	judged groups differences
	memberships opensm.tables >members
	ends=$(awk '
		FILENAME == "ports" { lid[$1] = $2; next }
		/source-target-port-guid/ { split($0, part, /[ :]+/); for (i in part) if (part[i] in lid) print lid[part[i]], $NF }' ports "$from/qos-policy.conf" 2>/dev/null)
	judge opensm.answers qosd.answers members "$levels" "$ends" >differences
	judged queries differences
	note "$name$summary"
}

keep() {
	[ -n "${MIGRATION_KEEP:-}" ] || return 0
	mkdir -p "$MIGRATION_KEEP/$name"
	cp -r converted convert.log values members opensm.* qosd.{tables,groups,answers} taken.tables "$MIGRATION_KEEP/$name"
}

# smpqueries: prints what smpquery reads from every port that has a link: arbitration tables, VLHighLimit, P_Keys and, for
# each in port, the SL2VL table.
smpqueries() {
	local guid port in
	while read -r guid port; do
		echo "$guid $port: $(vlarb "$node" "$guid" "$port") limit $(port_info "$node" "$guid" "$port" VLHighLimit)" \
			"P_Keys $(on "$node" smpquery -G pkeys "$guid" "$port" | grep -o '0x[0-9a-f]*' | grep -v '^0x0*$' | tr '\n' ' ')"
		if [[ $guid = 0x0002c902* ]]; then
			for in in $(awk -v guid="$guid" '$1 == guid { print $2 }' links); do
				[ "$in" = "$port" ] || echo "  from $in: $(sl2vl "$node" "$guid" "$port" "$in")"
			done
		else
			echo "  $(sl2vl "$node" "$guid" 0)"
		fi
	done <links
}

note "the fabric"
start_sim "$folder/fabric.topo"
host_ports "$node" >ports
stop_sim
expect "ports of hosts" 12 "$(wc -l <ports)"
# "GUID PORT" of each port that has a link; a switch's ports are named by its GUID
awk '/^switchguid/ { guid = substr($0, 12, 18) } /^caguid/ { guid = "" }
	guid != "" && /^\[/ { print guid, substr($0, 2) + 0 }
	guid == "" && match($0, /^\[1\]\([0-9a-f]+/) { print "0x" substr($0, 5, 16), 1 }' "$folder/fabric.topo" >links
expect "ports with a link" 30 "$(wc -l <links)"

note "as smpquery reads it, with one configuration"
name=manual-tables from=$folder/manual-tables
run_both smpqueries && expect_same "what smpquery reads" opensm.smpquery qosd.smpquery
expect "its lines" "12 SL2VL tables of hosts, 66 of switches" "$(awk '/^0x0*2c903/ { getline; hosts++ } /^  from/ { n++ }
	END { print hosts " SL2VL tables of hosts, " n + 0 " of switches" }' opensm.smpquery)"

note "the judges: differences that are made"
# differs JUDGE...: whether it complains of something
differs() { "$@" >differences && [ -s differences ]; }
memberships opensm.tables >members
differs judge opensm.answers opensm.answers members && bad "equal answers differ"
awk '/ -> sl=0 / && !n++ { sub(/ -> sl=0 /, " -> sl=3 ") } { print }' opensm.answers >changed
expect "an answer that is made" 1 "$(diff opensm.answers changed | grep -c '^>')"
differs judge opensm.answers changed members || bad "another SL in an answer is not seen"
awk '$3 == "SLtoVL" && $5 !~ /^0+$/ && $1 !~ /^0002c902/ && !n++ { sub(/01/, "02", $5) } { print }' opensm.tables >changed
differs judge_tables qos opensm.tables changed 1 || bad "another VL in an SL2VL table is not seen"
awk '$3 == "VLArbitration" && !n++ { $5 = "02" substr($5, 3) } { print }' opensm.tables >changed
differs judge_tables qos opensm.tables changed 1 || bad "another VL in an arbitration table is not seen"
awk '$3 == "PortInfo" && !n++ { $5 = substr($5, 1, 76) "09" substr($5, 79) } { print }' opensm.tables >changed
differs judge_tables qos opensm.tables changed 1 || bad "another VLHighLimit is not seen"
awk '$3 == "P_KeyTable" && !n++ { $5 = "7fff" substr($5, 5) } { print }' opensm.tables >changed
differs judge_tables pkeys opensm.tables changed 1 || bad "another membership in a P_Key table is not seen"
sed 's/^\([[:blank:]]*SL\.*\)0x0/\10x2/' opensm.groups >changed
differs judge_groups opensm.groups changed 0 || bad "another SL of a group is not seen"
: >changed
differs judge_groups opensm.groups changed 0 || bad "a group that lacks is not seen"
differs judge_groups changed opensm.groups 0 || bad "a group too many is not seen"

note "all configurations"
for from in "$folder"/*/; do
	from=${from%/} name=$(basename "$from")
	[[ " ${MIGRATION:-$name} " = *" $name "* ]] || continue
	if run_both; then
		compare
		keep
	fi
done
