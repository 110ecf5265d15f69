#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Devices whose tables are small: what is put into them fits, and what does not fit is told.
# OpenSM runs on the same devices where it has an opinion.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have one size"

# 8 leaves of 4 hosts, 4 spines: 44 LIDs.
"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
mapfile -t switches < <(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology)
leaf=$(sed -nE "/^Ca.*$far/,/^\$/s/.*\"(S-[0-9a-f]+)\".*/\1/p" topology | head -n 1)
spine=$(comm -23 <(printf '%s\n' "${switches[@]}" | sort) \
	<(awk '/^Ca/ { ca = 1 } /^$/ { ca = 0 } ca && match($0, /"S-[0-9a-f]+"/) { print substr($0, RSTART + 1, RLENGTH - 2) }' topology | sort -u) | head -n 1)
[ -n "$leaf" ] && [ -n "$spine" ] || fail "no leaf or no spine in the topology"

# small NODE KEYS: a profile file in which that node has these keys.
small() {
	cat >small.yaml <<END
profiles:
  small: {$2}
nodes:
  - {guid: "0x${1#?-}", profile: small}
END
	sim_options=(--profiles small.yaml)
}
# by directed route, as there may be no SA
lft_top() { on "$node" smpquery -D switchinfo "$(route_to "$1")" 2>&1 | sed -nE 's/^LinearFdbTop:\.+([0-9]+)$/\1/p'; }
# route_to SPINE: from $node through its leaf.
route_to() {
	awk -v ca="$node" -v sw="$1" '
		/^(Switch|Ca)/ { here = substr($3, 2, length($3) - 2) }
		/^\[/ {
			split($2, end, "\"")
			match($1, /[0-9]+/)
			out[here, end[2]] = substr($1, RSTART, RLENGTH)
			if (here == ca)
				leaf = end[2]
		}
		END { print "0," out[ca, leaf] "," out[leaf, sw] }' topology
}
lid_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
fresh() { rm -rf state opensm.dir; }

note "a host that brings a LID far beyond the rest gets another"
small "$spine" "lft: 49152"
start_sim topology
sim_do portinfo "$far/P1" LID 40000
once "$node" || bad "exit status $?: $(<once)"
expect_less "the LID of $far" 64 "$(lid_of "$far")"
expect_less "LinearFDBTop of $spine" 64 "$(lft_top "$spine")"
sim_do check
stop_sim

# OpenSM knows the bound and keeps the LID of a port that has one beyond it: the spine refuses the
# LinearFDBTop, and forwards nothing from then on.
for manager in opensm qosd; do
	note "$manager: LIDs stay within the least LinearFDBCap"
	small "$spine" "lft: 60"
	fresh
	start_sim topology
	sim_do portinfo "$far/P1" LID 60
	if [ "$manager" = opensm ]; then
		bring_up_opensm "$node" 30 -o
		end "$opensm"
		expect "LinearFDBTop of $spine after OpenSM" 0 "$(lft_top "$spine")"
		expect "the LID of $far after OpenSM" 60 "$(lid_of "$far")"
		sim_ctl stats --reset >/dev/null
	fi
	once "$node" || bad "exit status $?: $(<once)"
	expect "refusals" "" "$(grep refused once.log)"
	expect_less "the LID of $far" 60 "$(lid_of "$far")"
	expect_less "LinearFDBTop of $spine" 60 "$(lft_top "$spine")"
	sim_do check
	stop_sim
done

note "no route leads over a switch beyond what it holds"
small "$spine" "lft: 16"
fresh
start_sim topology
start_and_wait "$node"
expect "LinearFDBTop of $spine" 15 "$(lft_top "$spine")"
sim_do check
expect_match "health" "lft-too-small" "$(ctl -j health)"
expect_match "health" "forwards to 15 LIDs at most" "$(ctl health)"
expect "LIDs out of reach" "" "$(ctl health | grep 'cannot be reached')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

note "the only way: which LIDs are out of reach is told"
small "$leaf" "lft: 16"
fresh
start_sim topology
start_and_wait "$node"
expect_less "the LID of $far" 16 "$(lid_of "$far")"
expect_match "health" "[0-9]+ LIDs cannot be reached from every port, .*: 16 to " "$(ctl health)"
# the hosts there reach what the switch holds, and are told no other path
expect_match "path to the first host" "^sl=" "$(record "$far" --slid "$(lid_of "$far")" --dlid "$(lid_of "$node")")"
expect "path to LID 40" none "$(record "$far" --slid "$(lid_of "$far")" --dlid 40)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
