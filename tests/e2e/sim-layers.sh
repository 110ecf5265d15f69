#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests routes in layers, by dimension order on a torus, and on the two VLs of a dragonfly, together with
# the levels of a policy.  saquery shows the SL of each path.  With these SLs, ibdmchk must find no credit
# loop in qosd's dump, and the simulator's auditor none in the tables of the devices.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no tori, nor devices with eight VLs"

asker="host-0002 HCA-1"

# levels N: writes a policy of N levels with SLs 0 to N - 1 and no other requirements.
levels() {
	local i
	echo "qos-levels:"
	for i in $(seq 0 $(($1 - 1))); do echo "  level-$i: {sl: $i}"; done
	echo "  default: {sl: 0}"
}
start() { start_and_wait "host-0001 HCA-1" -c qosd.yaml -p policy.yaml; }

# path_sls: writes "PORT-GUID LID SL" of all paths that the SA gives to the file sls.
path_sls() {
	on "$asker" saquery -p 2>/dev/null | awk -F'[.][.]+' '
		$1 ~ /sgid$/ { n = split($2, a, ":"); guid = ""
			for (i = n - 3; i <= n; i++) guid = guid substr("0000" a[i], length(a[i]) + 1) }
		$1 ~ /dlid$/ { dlid = $2 }
		$1 ~ /slid$/ { slid = $2 }
		$1 ~ /[ \t]sl$/ { print guid, slid, dlid, index("0123456789abcdef", substr($2, 3)) - 1 }' >sls
}
# verdict WHAT [plain]: writes "none" or "some" to the file loops: the credit loops that ibdmchk finds with
# the SLs of the paths or, if plain, with one SL.
verdict() {
	local more=(-c dump/opensm-path-sls.dump)
	[ "${2:-}" != plain ] || more=()
	rm -rf dump
	ctl dump "$work/dump" || bad "$1: dump failed"
	{ ibdmchk -s dump/opensm-subnet.lst -f dump/opensm.fdbs -m dump/opensm.mcfdbs \
		-d dump/opensm-sl2vl.dump "${more[@]}" >ibdmchk 2>&1; } 2>/dev/null
	expect "$1: errors by ibdmchk but for credit loops" "" \
		"$(grep -E '^-[EF]-' ibdmchk | grep -v 'credit loops in routing' | head -n 5)"
	if grep -q 'no credit loops found' ibdmchk; then echo none >loops; else echo some >loops; fi
}
# audit FILE: writes the auditor's verdict to the file audit, with the SLs of paths from FILE.
audit() { sim_ctl -j check --switches --sl 0 --path-sls "$1" >audit; }
# audited WHAT: the auditor must find no fault, but credit loops if all paths had one SL.
audited() {
	audit dump/opensm-path-sls.dump || bad "$1: the auditor finds $(jq -c .count audit)"
	expect "$1: faults" "" "$(jq -r '.findings[] | select(.severity == "fault") | .text' audit)"
	expect "$1: pairs without an SL" 0 "$(jq '."pairs-without-sl"' audit)"
	expect "$1: pairs that are connected" "$(jq .pairs audit)" "$(jq .connected audit)"
	expect "$1: SLs in use" "$(awk '{ print $4 }' sls | sort -nu | xargs)" "$(jq .sls[] audit | xargs)"
	sed 's/ : .*/ : 0/' dump/opensm-path-sls.dump >one-sl
	audit one-sl && bad "$1: the auditor finds nothing if all paths have one SL"
	expect "$1: what it finds then" credit-loop "$(jq -r '.count | to_entries[] | select(.value > 0).key' audit | xargs)"
	expect "$1: pairs that are connected then" "$(jq .pairs audit)" "$(jq .connected audit)"
}
# layered WHAT: there must be several layers, each without a credit loop, though all together have one.
layered() {
	path_sls
	expect_less "$1: a path's SL that is not that of the way back" 1 \
		"$(awk '{ sl[$2 " " $3] = $4 } END { for (p in sl) { split(p, x, " "); if (sl[x[2] " " x[1]] != sl[p]) n++ } print n + 0 }' sls)"
	[ "$(awk '{ print $4 }' sls | sort -u | wc -l)" -gt 1 ] || bad "$1: all paths have one SL"
	verdict "$1"
	expect "$1: credit loops" none "$(<loops)"
	# the query names no level, so all paths are of the default level, as in the dump
	awk '/^[CS]/ { for (i = 1; i <= NF; i++) if ($i ~ /^0x/) guid = substr($i, 3, 16) }
		/^0x/ { print guid, $1, $3 }' dump/opensm-path-sls.dump | sort >sls.dump
	awk '{ printf "%s 0x%04x %d\n", $1, $3, $4 }' sls | sort >sls.saquery
	expect_same "$1: SLs by dump and by saquery" sls.dump sls.saquery
	audited "$1"
	verdict "$1, with one SL" plain
	expect "$1: credit loops if all had one SL" some "$(<loops)"
}

printf 'routing: [layered, updn]\n' >qosd.yaml
sim_options=()
while read -r topology switch port; do
	# promise: F15
	note "$topology: two levels in several layers"
	rm -rf state
	levels 2 >policy.yaml
	start_sim "$topology"
	start
	expect "the engine" layered "$(status engine)"
	layered "$topology"
	expect "errors of its health" "" "$(ctl -j health | jq -r '.problems[] | select(.severity == "error") | .text')"
	mv sls sls.before

	note "$topology: another start has the same layers"
	stop_qosd
	start
	path_sls
	expect_same "SLs of paths" sls.before sls

	# promise: F15
	note "$topology: a link is gone"
	linked=$(status ports-linked)
	up_with() { status_is sweeping=false subnet-up=true "ports-linked=$1"; }
	unplug "$switch" "$port"
	until_ 20 up_with $((linked - 2)) || bad "the subnet is not up without a link"
	layered "$topology, a link less"
	# open connections keep using their SLs, so few may change
	expect_less "SLs of paths that changed, of a hundred" 5 \
		$((100 * $(comm -13 <(sort sls.before) <(sort sls) | wc -l) / $(wc -l <sls)))

	# promise: F15
	note "$topology: as many levels as VLs leave one layer"
	plug "$switch" "$port"
	until_ 20 up_with "$linked" || bad "the subnet is not up with the link"
	path_sls
	expect_same "SLs of paths when the link is back" sls.before sls
	levels 8 >policy.yaml
	reload
	one_sl() { path_sls && [ "$(awk '{ print $4 }' sls | sort -u | xargs)" = 0 ]; }
	until_ 20 one_sl || bad "SLs of paths: $(awk '{ print $4 }' sls | sort -u | xargs)"
	until_ 20 up_with "$linked" || bad "the subnet is not up with another policy"
	verdict "$topology, one layer" plain
	expect "credit loops" none "$(<loops)"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done <<END
torus:5x5,hosts=2 torus-0-0 3
dragonfly:a=4,h=2,p=2 group-01-switch-01 3
END

printf 'routing: [grid, layered]\n' >qosd.yaml
# promise: F17
note "torus: dimension order on two VL sets"
rm -rf state
levels 2 >policy.yaml
start_sim torus:5x6,hosts=2
start
expect "the engine" grid "$(status engine)"
layered "torus"
expect "SLs of paths" 4 "$(awk '{ print $4 }' sls | sort -u | wc -l)"
expect "errors of its health" "" "$(ctl -j health | jq -r '.problems[] | select(.severity == "error") | .text')"
mv sls sls.before

# promise: F17
note "torus: a ring without a link is gone round, and no path gets another SL"
linked=$(status ports-linked)
unplug torus-0-0 3
until_ 20 up_with $((linked - 2)) || bad "the subnet is not up without a link"
expect "the engine" grid "$(status engine)"
layered "torus, a link less"
sort sls.before >sls.then
sort sls >sls.now
expect_same "SLs of paths without the link" sls.then sls.now
plug torus-0-0 3
until_ 20 up_with "$linked" || bad "the subnet is not up with the link"

# promise: F17
note "torus: too many levels for a second VL set"
levels 8 >policy.yaml
reload
other_engine() { [ "$(status engine)" = layered ]; }
until_ 20 other_engine || bad "the engine is $(status engine)"
expect_match "why" 'routing engine grid is skipped: torus 6x5 needs two VL sets, but there is room for one' \
	"$(ctl -j health | jq -r '.problems[].text')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

printf 'routing: [dragonfly, layered]\n' >qosd.yaml
# promise: F20
note "dragonfly: two VL sets, by the port that packets come in by"
rm -rf state
levels 2 >policy.yaml
start_sim dragonfly:a=4,h=2,p=2
start
expect "the engine" dragonfly "$(status engine)"
path_sls
verdict "dragonfly"
expect "dragonfly: credit loops" none "$(<loops)"
audited "dragonfly"
# the level has two SLs; all paths between switches have the SL of the layer with the shortest paths
expect "SLs of paths" 2 "$(awk '{ print $4 }' sls | sort -u | wc -l)"
expect "the SL of paths between switches" 1 "$(awk '$4 != 0 { print $4 }' sls | sort -u | wc -l)"
mv sls sls.before

# promise: F20
note "dragonfly: a cable between two groups is gone round"
linked=$(status ports-linked)
cable=$(sim_ctl show links group-01-switch-01 | awk '/group-01-switch-01/ && /group-0[2-9]/ { print; exit }' |
	grep -oE 'group-01-switch-01/P[0-9]+' | grep -oE '[0-9]+$')
unplug group-01-switch-01 "$cable"
until_ 20 up_with $((linked - 2)) || bad "the subnet is not up without a cable"
expect "the engine" dragonfly "$(status engine)"
path_sls
verdict "dragonfly, a cable less"
expect "dragonfly, a cable less: credit loops" none "$(<loops)"
audited "dragonfly, a cable less"
expect_less "SLs of paths that changed, of a hundred" 8 \
	$((100 * $(comm -13 <(sort sls.before) <(sort sls) | wc -l) / $(wc -l <sls)))
plug group-01-switch-01 "$cable"
until_ 20 up_with "$linked" || bad "the subnet is not up with the cable"
path_sls
expect_same "SLs of paths when the cable is back" sls.before sls
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
