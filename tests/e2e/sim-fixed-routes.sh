#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests switches with fixed forwarding tables: routes avoid their wrong entries and use their right ones;
# qosd reports ports that are out of reach, and the SA gives no path to them.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's switches take all tables"

# 8 leaves of 4 hosts, 4 spines: 44 LIDs in one block.
"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
leaf=$(leaf_of "$far" topology)
mapfile -t switches < <(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology | sort)
mapfile -t spines < <(comm -23 <(printf '%s\n' "${switches[@]}") \
	<(for ca in $(cas topology); do leaf_of "$ca" topology; done | sort -u))
[ -n "$leaf" ] && [ "${#spines[@]}" = 4 ] || fail "no leaf or no spines in the topology"
sim_options=()
printf 'sweep-interval: 0\nscrub-interval: 0\n' >qosd.yaml

guid() { echo "0x${1#?-}"; }
lid_of() { sim_ctl -j show port "$(guid "$1")/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
# port_to SWITCH SWITCH: prints the port of the first switch that leads to the second.
port_to() {
	awk -v from="$1" -v to="$2" '
		/^(Switch|Ca)/ { here = substr($3, 2, length($3) - 2) }
		/^\[/ {
			split($2, end, "\"")
			match($1, /[0-9]+/)
			if (here == from && end[2] == to)
				print substr($1, RSTART, RLENGTH)
		}' topology
}
# over SWITCH: prints how many entries of other switches lead to this one, without those for its own LID.
over() {
	local sw port own
	own=$(sim_ctl -j show port "$(guid "$1")/P0" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p')
	for sw in "${switches[@]}"; do
		port=$(port_to "$sw" "$1")
		[ -z "$port" ] || sim_ctl show lft "$(guid "$sw")" |
			awk -v port="$port" -v own="$own" '$1 ~ /^[0-9]+$/ && $1 != own && $2 == port'
	done | wc -l
}
health() { ctl health 2>&1; }
rests() { [ "$(status sweeping)" = false ]; }
lines() { health | grep -E '^(error|warning) '; }
refusals() { lines | grep -c 'device-refuses:'; }
# settled N: whether devices refuse N attributes for good and qosd is idle.
settled() { rests && subnet_up && [ "$(refusals)" = "$1" ] && checked; }
# checked: whether the devices' tables connect all hosts.
checked() { sim_ctl check >audit 2>&1; }
fresh() { rm -rf state opensm.dir; }
swept() { [ "$(status sweeps)" -gt "$before" ] && rests; }
sweep() {
	before=$(status sweeps)
	ctl sweep >/dev/null || bad "sweep: exit status $?"
	until_ 20 swept || bad "no end of the sweep"
}

note "OpenSM routes over a spine that refuses its table"
start_sim topology
sim_do node refuse "$(guid "${spines[0]}")" lft
bring_up_opensm "$node" 30
checked && bad "all hosts reach each other under OpenSM"
expect_match "the audit" "spine.*no LFT entry" "$(<audit)"
end "$opensm"
stop_sim

# promise: D90
note "a spine that refuses its table, and one that refuses SwitchInfo: no route leads over them"
start_sim topology
sim_do node refuse "$(guid "${spines[0]}")" lft
sim_do node refuse "$(guid "${spines[1]}")" switch-info
start_qosd "$node" -c qosd.yaml
until_ 30 settled 2 || bad "$(lines); $(<audit)"
expect "entries that lead there" "0 0" "$(over "${spines[0]}") $(over "${spines[1]}")"
expect "lines of health" 2 "$(lines | wc -l)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: D90
note "a restart: each is tried once, and no other switch hears of it"
start_and_wait "$node" -c qosd.yaml
until_ 20 settled 2 || bad "$(lines); $(<audit)"
expect "entries that lead there" "0 0" "$(over "${spines[0]}") $(over "${spines[1]}")"
expect_less "Sets" 5 "$(table_sets)"
expect "sweeps" 1 "$(status sweeps)"

# promise: D90
note "they take them again, and a sweep by hand finds out"
for spine in "${spines[@]:0:2}"; do sim_do node refuse "$(guid "$spine")" none; done
sweep
until_ 20 settled 0 || bad "$(lines); $(<audit)"
for spine in "${spines[@]:0:2}"; do
	expect_less "no entries that lead there" "$(over "$spine")" 0
done
expect "lines of health" "" "$(lines)"

# promise: D90
note "old entries that are right stay in use, and those that are wrong do not"
sim_do node refuse "$(guid "${spines[1]}")" lft
used=$(over "${spines[1]}")
sim_do link down "$(guid "$leaf")/P$(port_to "$leaf" "${spines[1]}")"
until_ 30 settled 1 || bad "$(lines); $(<audit)"
now=$(over "${spines[1]}")
expect_less "entries that lead to the spine" "$used" "$now"
expect_less "entries of leaves that reach the spine as before" "$now" 40
note "entries that lead to the spine: $used before, $now now"

# promise: D90
note "the spine starts anew, and is tried at once"
sim_do link up "$(guid "$leaf")/P$(port_to "$leaf" "${spines[1]}")"
until_ 20 checked
sim_do node refuse "$(guid "${spines[1]}")" none
sim_do node reboot "$(guid "${spines[1]}")"
# A sweep while the spine's links still train does not find it.
restored() { settled 0 && [ "$(over "${spines[1]}")" = "$used" ]; }
until_ 20 restored || bad "$(lines); $(<audit); entries that lead there: $(over "${spines[1]}"), not $used"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D90
note "a leaf: its hosts are out of reach, which is told, and nobody gets a path to them"
fresh
start_sim topology
sim_do node refuse "$(guid "$leaf")" lft
start_qosd "$node" -c qosd.yaml
cut() { rests && subnet_up && [[ "$(health)" == *"routes-cut: "*"LIDs cannot be reached"* ]]; }
until_ 30 cut || bad "$(lines)"
expect "path to a host there" none "$(record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$far")")"
other=$(cas topology | sed -n 10p)
expect_match "path to another host" "^sl=" "$(record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$other")")"
stop_qosd || bad "exit status $? after SIGTERM"
