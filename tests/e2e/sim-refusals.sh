#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices that always refuse Sets of an attribute: the only effect is a line of `health' for each,
# which goes when the device accepts the Sets.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no devices that refuse Sets"

# ONLY=N: only the N-th kind of refusal (sim-refusal-kinds.sh runs each by itself).
# REFUSAL_TREE=fat-tree:k=16 has 1,024 hosts.
tree=${REFUSAL_TREE:-fat-tree:k=8,levels=2}
sim_options=()
cat >qosd.yaml <<-END
	outage-limit: 0
	sweep-interval: 0
	scrub-interval: 0
END
cat >policy.yaml <<-END
	qos-levels:
	  default: {sl: 0}
	  bulk: {sl: 1}
	match-rules:
	  - {qos-class: 7, level: bulk}
	partitions:
	  Default: {pkey: 0x7fff, members: {all: full}}
	  two: {pkey: 0x10, members: {all: full}}
	fabric-setup:
	  sl2vl:
	    - {group: all, table: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
	  vlarb:
	    - {group: all, high: ["1:192"], low: ["0:64", "1:64"], high-limit: 10}
END

health() { ctl health 2>&1; }
# refusals: prints how many lines of health report a refusal; other_lines: prints all other lines.
refusals() { health | grep -c '^error *device-refuses:'; }
other_lines() { health | grep -E '^(error|warning) ' | grep -v 'device-refuses:'; }
rests() { [ "$(status sweeping)" = false ]; }
settled() { rests && subnet_up && [ "$(refusals)" = "$1" ]; }
node_is() { rests && [ "$(status nodes)" = "$1" ]; }
is_back() { node_is "$nodes" && subnet_up; }
# is_taken N: whether N refusals remain and the restarted device is back (while away, it refuses nothing).
is_taken() { settled "$1" && is_back; }
# flap NODE: takes the node's link down and up; sets $smps to the SMPs of the local sweeps, including one that
# finishes the work of another.
flap() {
	local from
	from=$(wc -l <"$qosd_log")
	sim_do link down "$1/P1"
	until_ 20 node_is $((nodes - 1)) || bad "$1 is not missed"
	sim_do link up "$1/P1"
	until_ 20 is_back || bad "$1 is not back"
	smps=$(tail -n "+$((from + 1))" "$qosd_log" |
		sed -nE 's/.* sweep: (trap|more of it): .* ([0-9]+) SMPs .*/\2/p' | awk '{ n += $1 } END { print n + 0 }')
	others=$(tail -n "+$((from + 1))" "$qosd_log" | grep ' sweep: .* SMPs ' | grep -vcE ' sweep: (trap|more of it): ')
}
# flaps: flaps three times; sets $least to the SMPs of the flap with the fewest.
flaps() {
	least=
	for _ in 1 2 3; do
		flap "$flapper"
		[ -n "$least" ] && [ "$least" -lt "$smps" ] || least=$smps
		expect "$1: sweeps that are not the flap's" 0 "$others"
	done
}
port_guid() { sim_ctl -j show port "$1/P1" | grep -oE '"guid": ?"0x[0-9a-f]+"' | grep -oE '[0-9a-f]{16}'; }
# use_groups: three hosts join a group; use_alias: another host gets an alias GUID.
use_groups() {
	for ca in "${cas[@]:0:3}"; do port_guid "$ca"; done >ports.guids
	on_own "${cas[-2]}" "$tools/joinstorm" -g 1 ports.guids >storm 2>&1 || bad "joinstorm: $(<storm)"
}
use_alias() {
	local lid
	lid=$(sim_ctl -j show port "${cas[1]}/P1" | sed -nE 's/.*"lid": ?([0-9]+),.*/\1/p')
	on_own "${cas[1]}" "$tools/pathquery" set guidinfo lid="$lid" block=0 guid1=0xaaaa000000000001 >aliased 2>&1 ||
		bad "no alias: $(<aliased)"
}
# asked_again: prints "GUID TIMES": how often each CA port was asked to make its clients register again.
asked_again() {
	local ca
	for ca in "${cas[@]}"; do
		echo "$ca $(sim_ctl -j show port "$ca/P1" | grep -oE '"reregisters": ?[0-9]+' | grep -oE '[0-9]+$')"
	done
}

start_sim "$tree"
sim_ctl show nodes >nodes.list
mapfile -t cas < <(awk '$1 == "ca" { print $2 }' nodes.list)
mapfile -t leaves < <(awk '$1 == "switch" { print $2 }' nodes.list)
manager=${cas[0]} flapper=${cas[-1]}
flapper_name=$(awk -v guid="$flapper" '$2 == guid { print $8 }' nodes.list)
# The last switches are spines: routes avoid those that refuse their tables.
kinds=(pkey-table sl2vl vlarb port-info port-state sl2vl vlarb pkey-table switch-info lft)
devices=("${cas[@]:8:5}" "${leaves[@]:3:2}" "${leaves[@]: -3}")
if [ -n "${ONLY:-}" ]; then
	kinds+=(mft guid-info) devices+=("${leaves[0]}" "${cas[1]}")
	kinds=("${kinds[ONLY]}") devices=("${devices[ONLY]}")
	note "${kinds[0]} of ${devices[0]}, in $tree"
fi
for i in "${!kinds[@]}"; do sim_do node refuse "${devices[i]}" "${kinds[i]}"; done
mixed=${cas[13]}
sim_do node refuse "$mixed" mixed-port-info --status 0x0c

# promise: D20
note "a bring-up where ${#kinds[@]} devices refuse something each"
start_qosd "$manager" -c qosd.yaml -p policy.yaml
case ${kinds[0]} in
mft) until_ 60 subnet_up && use_groups ;;
guid-info) until_ 60 subnet_up && use_alias ;;
esac
until_ 60 settled "${#kinds[@]}" || bad "subnet-up: $(status subnet-up); $(health)"
nodes=$(status nodes)
expect "other lines of health" "" "$(other_lines)"
expect "PortState of the one that takes no step and fields at once" active \
	"$(sim_ctl -j show port "$mixed/P1" | grep -oE '"state": ?"[A-Za-z]+"' | head -n 1 | tr -d '"' | sed 's/.*: *//')"
discovered=$(status discovery)

# promise: D20
note "three flaps, and nobody else hears of it"
flaps "with refusals"
with=$least
expect "lines of health" "${#kinds[@]}" "$(refusals)"
expect "SMPs of discoveries since" 0 $(($(status discovery) - discovered))
asked_again >asked
for i in "${!kinds[@]}"; do
	[ "${kinds[i]}" != port-info ] || sed -i "/^${devices[i]} /d" asked	# it takes no PortInfo
done
expect "ports that were not asked to register again once" "" \
	"$(grep -v "^$flapper " asked | grep -v ' 1$')"
expect "requests to the port that flapped" 4 "$(sed -n "s/^$flapper //p" asked)"

# promise: D20
note "a device that starts anew is tried again"
if [ -z "${ONLY:-}" ]; then
	sim_do node refuse "${devices[0]}" none
	sim_do node reboot "${devices[0]}"
	until_ 20 is_taken $((${#kinds[@]} - 1)) || { bad "the reboot: $(health)"; show_log "$qosd_log" 20; }
	expect "entries of its P_Key table" 2 "$(sim_ctl show pkeys "${devices[0]}/P1" | grep -ciE '0x(8010|ffff)')"
fi

# promise: D20
note "a sweep by hand tries all again"
before=$(status sweeps)
ctl sweep >/dev/null || bad "sweep: exit status $?"
swept() { [ "$(status sweeps)" -gt "$before" ] && rests; }
until_ 20 swept || bad "no end of the sweep"
expect "subnet-up" true "$(status subnet-up)"
[ "$(status subnet-up)" = true ] || show_log "$qosd_log" 20
for device in "${devices[@]}"; do sim_do node refuse "$device" none; done
ctl sweep >/dev/null || bad "sweep: exit status $?"
until_ 20 settled 0 || bad "all that was refused: $(health)"
expect "lines of health" "" "$(other_lines)"
sim_ctl check >audit 2>&1 || bad "the audit: $(tail -n 3 audit)"
flaps "without"
expect "SMPs of a flap, with refusals as without" "$least" "$with"
note "SMPs of a flap: $with with refusals, $least without"
if [ -n "${ONLY:-}" ]; then
	stop_qosd || bad "exit status $? after SIGTERM"
	exit
fi

# promise: D20
note "multicast tables and aliases"
sim_do node refuse "${leaves[0]}" mft
sim_do node refuse "${cas[1]}" guid-info
use_groups
use_alias
until_ 30 settled 2 || bad "two lines of health: $(health)"
expect "of multicast tables" 1 "$(health | grep -c 'device-refuses:.* refuses Sets of MulticastForwardingTable')"
expect "of aliases" 1 "$(health | grep -c 'device-refuses:.* refuses Sets of GUIDInfo')"
# health may report the link that flapped above
expect "other lines of health" "" "$(other_lines | grep -v " link-flapping: .*$flapper_name")"
for device in "${leaves[0]}" "${cas[1]}"; do sim_do node refuse "$device" none; done
ctl sweep >/dev/null || bad "sweep: exit status $?"
until_ 60 settled 0 || bad "what was refused: $(health)"
sim_ctl check >audit 2>&1 || bad "the audit: $(tail -n 3 audit)"
stop_qosd || bad "exit status $? after SIGTERM"
