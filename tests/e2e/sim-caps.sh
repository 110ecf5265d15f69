#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices with small tables: qosd writes only what fits and reports the rest.  OpenSM runs on the
# same devices for comparison where it supports the case.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have one size"

# 8 leaves of 4 hosts, 4 spines: 44 LIDs.
"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
mapfile -t switches < <(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology)
leaf=$(leaf_of "$far" topology)
spine=$(comm -23 <(printf '%s\n' "${switches[@]}" | sort) \
	<(awk '/^Ca/ { ca = 1 } /^$/ { ca = 0 } ca && match($0, /"S-[0-9a-f]+"/) { print substr($0, RSTART + 1, RLENGTH - 2) }' topology | sort -u) | head -n 1)
[ -n "$leaf" ] && [ -n "$spine" ] || fail "no leaf or no spine in the topology"

# small NODE KEYS: writes a profile file that gives the node these keys.
small() {
	cat >small.yaml <<END
profiles:
  small: {$2}
nodes:
  - {guid: "0x${1#?-}", profile: small}
END
	sim_options=(--profiles small.yaml)
}
# lft_top SWITCH: prints LinearFDBTop, read by directed route because there may be no SA.
lft_top() { on "$node" smpquery -D switchinfo "$(route_to "$1")" 2>&1 | sed -nE 's/^LinearFdbTop:\.+([0-9]+)$/\1/p'; }
# route_to SPINE: prints the directed route from $node through its leaf.
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

# promise: D5 D50
note "a host that brings a LID far beyond the rest gets another"
small "$spine" "lft: 49152"
start_sim topology
sim_do portinfo "$far/P1" LID 40000
once "$node" || bad "exit status $?: $(<once)"
expect_less "the LID of $far" 64 "$(lid_of "$far")"
expect_less "LinearFDBTop of $spine" 64 "$(lft_top "$spine")"
sim_do check
stop_sim

# OpenSM knows the bound, but lets a port keep a LID beyond it: the spine refuses the LinearFDBTop and
# forwards nothing from then on.
for manager in opensm qosd; do
	# promise: D5 D50
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

# promise: D5 D50
note "no route leads over a switch beyond what it holds"
small "$spine" "lft: 16"
fresh
start_sim topology
start_and_wait "$node"
expect "LinearFDBTop of $spine" 15 "$(lft_top "$spine")"
sim_do check
expect_match "health" "lft-too-small" "$(ctl -j health)"
expect_match "health" "forwards to at most 15 LIDs" "$(ctl health)"
expect "LIDs out of reach" "" "$(ctl health | grep 'cannot be reached')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D5 D50
note "the only way: which LIDs are out of reach is told"
small "$leaf" "lft: 16"
fresh
start_sim topology
start_and_wait "$node"
expect_less "the LID of $far" 16 "$(lid_of "$far")"
expect_match "health" "[0-9]+ LIDs cannot be reached from every port .*: 16 to " "$(ctl health)"
# the hosts at that switch reach the LIDs in its table, and the SA gives them no other path
expect_match "path to the first host" "^sl=" "$(record "$far" --slid "$(lid_of "$far")" --dlid "$(lid_of "$node")")"
expect "path to LID 40" none "$(record "$far" --slid "$(lid_of "$far")" --dlid 40)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

lmc_of() { sim_ctl show portinfo "$1/P1" | awk 'tolower($1) ~ /^lmc/ { print $NF }'; }
# lids_told: prints how many LIDs of $far the SA gives to other hosts.
lids_told() { on "$node" saquery PR --sgid "$(gid "$(port_guid "$node")")" --dgid "$(gid "$(port_guid "$far")")" 2>&1 | sed -nE 's/^[[:space:]]*dlid\.+([0-9]+)$/\1/p' | sort -u | wc -l; }
port_guid() { printf '%016x\n' $((16#${1#H-} + 1)); }
echo "lmc: 2" >qosd.yaml
for how in "lmc: 0" "lmc: 0, refuses-lmc: true" "lmc: 7"; do
	# promise: D5 D50
	note "a port with $how gets paths on the LIDs that it answers to"
	small "$far" "$how"
	fresh
	start_sim topology
	start_and_wait "$node" -c qosd.yaml
	want=1
	[ "$how" != "lmc: 7" ] || want=4
	expect "LIDs that others are told" $want "$(lids_told)"
	expect "LMC of the device" $((want / 2)) "$(lmc_of "$far")"
	base=$(lid_of "$far")
	expect "a path to its second LID" "$([ $want -eq 1 ] && echo none || echo sl=0)" \
		"$(record "$node" --slid "$(lid_of "$node")" --dlid $((base + 1)) | cut -d' ' -f1)"
	[ $want -ne 1 ] || expect_match "health" "lmc-refused: .* keeps an LMC of 0 instead of 2" "$(ctl health)"
	before=$(sets)
	ctl sweep >/dev/null
	expect "Sets of another sweep" "$before" "$(sets)"
	expect "refused Sets that are told" "" "$(grep refused "$qosd_log")"
	sim_do check
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
done

cas topology | while read -r ca; do port_guid "$ca"; done >guids
# guidinfo ARGUMENT...: sends a GUIDInfoRecord request from $far for itself.  entry N: prints a GUID of the
# answer.
guidinfo() { on_own "$far" "$tools/pathquery" set guidinfo lid="$(lid_of "$far")" "$@" 2>&1; }
entry() { printf '%x\n' "$(sed -nE "s/.* guid$1=(0x[0-9a-f]+).*/\1/p")"; }
# OpenSM creates no more groups when the MLIDs are used up; qosd lets groups share MLIDs.
for manager in opensm qosd; do
	# promise: D5 D50
	note "$manager: 80 groups where one switch forwards 32 multicast LIDs, and aliases beyond GUIDCap"
	cat >small.yaml <<END
profiles:
  few-mlids: {mft: 32}
  few-guids: {guids: 4}
nodes:
  - {guid: "0x${leaf#S-}", profile: few-mlids}
  - {guid: "0x${far#H-}", profile: few-guids}
END
	fresh
	start_sim topology
	if [ "$manager" = opensm ]; then
		bring_up_opensm "$node" 30
	else
		start_and_wait "$node"
	fi
	on_own "$node" "$tools/joinstorm" -g 80 guids >storm 2>&1
	expect_match "groups that are refused" \
		"$([ "$manager" = opensm ] && echo 'refused=1536 last-status=0x0100' || echo 'refused=0 ')" "$(<storm)"
	# one port requests all groups: qosd gives it half of the MLIDs; OpenSM has no limit per port
	forwarded() { sim_ctl check >audit 2>&1 && grep -qE "^multicast groups +$([ "$manager" = opensm ] && echo 32 || echo 16)\$" audit; }
	until_ 10 forwarded || bad "multicast: $(<audit)"
	answer=$(guidinfo block=0 guid3=0xaaaa000000000003 guid4=0xaaaa000000000004)
	expect "an alias within GUIDCap" aaaa000000000003 "$(entry 3 <<<"$answer")"
	expect "an alias beyond GUIDCap" 0 "$(entry 4 <<<"$answer")"
	guidinfo block=1 guid0=0xaaaa000000000008 >"beyond.$manager"
	if [ "$manager" = opensm ]; then
		end "$opensm"
	else
		expect "refused Sets that are told" "" "$(grep refused "$qosd_log")"
		stop_qosd || bad "exit status $? after SIGTERM"
	fi
	stop_sim
done
expect_same "what OpenSM and qosd say of a block beyond GUIDCap" beyond.opensm beyond.qosd

# promise: D5 D50 D91
note "groups from before a switch with a smaller table came"
small "$leaf" "mft: 4096"
start_sim topology
fresh
start_and_wait "$node"
on_own "$node" "$tools/joinstorm" -g 80 guids >storm 2>&1 || bad "joinstorm: $(<storm)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
small "$leaf" "mft: 32"
start_sim topology
start_and_wait "$node"
told() { [[ "$(ctl health)" == *"mft-too-small: 48 multicast groups"* ]]; }
until_ 10 told || bad "health: $(ctl health)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
small "$spine" "mft: 32"
start_sim topology
start_and_wait "$node"
all_forwarded() { sim_ctl check >audit 2>&1 && grep -qE '^multicast groups +80$' audit; }
until_ 10 all_forwarded || bad "round a spine: $(<audit)"
# further groups share MLIDs that the small switch also forwards; health reports nothing else
expect_match "health" "mlids-filling: 80 multicast LIDs are in use; every switch can forward 32" "$(ctl health)"
expect "other lines of health" "" "$(ctl health | grep -E '^(error|warning) ' | grep -v mlids-filling)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D5 D50
note "more partitions than the P_Key table of a port, and arbitration tables of no and few entries"
cat >small.yaml <<END
profiles:
  few: {pkeys: 2, vl-cap: 8, vlarb-high: 0, vlarb-low: 4}
  none: {vl-cap: 8, vlarb-high: 0, vlarb-low: 0}
nodes:
  - {guid: "0x${far#H-}", profile: few}
  - {guid: "0x${leaf#S-}", profile: none}
END
cat >policy.yaml <<END
partitions:
  one: {pkey: 0x11, members: {all: full}}
  two: {pkey: 0x12, members: {all: full}}
  default: {pkey: 0x7fff, members: {all: full}}
fabric-setup:
  vlarb:
    - {group: all, low: ["0:10", "1:20"], high: ["2:30"], high-limit: 5}
  sl2vl:
    - {group: all, table: [0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END
fresh
start_sim topology
start_and_wait "$node" -p policy.yaml
expect_match "the partition left out" 'partition "two": 1 port has no room for its P_Key' "$(<"$qosd_log")"
expect "the P_Key table" "0xffff 0x8011" "$(sim_ctl show pkeys "$far/P1" | awk '$2 ~ /^0x/ { print $2 }' | xargs)"
expect_match "the arbitration that does not fit" "supports 0: it gets built-in arbitration" "$(<"$qosd_log")"
expect "the table of 4 entries" "low:0,0,64 low:1,1,64 low:2,2,64 low:3,3,64" \
	"$(sim_ctl show vlarb "$far/P1" | awk '/^low|^high/ { print $1 ":" $2 "," $3 "," $4 }' | xargs)"
expect "refused Sets that are told" "" "$(grep refused "$qosd_log")"
# the SA gives no path at that host in the partition that was left out
expect "a path in it" none "$(record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$far")" --pkey 0x8012)"
expect_match "a path in one that is there" "^sl=" "$(record "$node" --slid "$(lid_of "$node")" --dlid "$(lid_of "$far")" --pkey 0x8011)"
sim_do check
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D5 D50
note "ports that come with an LMC of another manager, and LIDs that are not aligned for it"
sed "/^Ca.*$far/,/^\$/s/# lid 0 lmc 0/# lid 5 lmc 3/" topology >taken
sim_options=(--keep-lids)
fresh
start_sim taken
expect "the LID and LMC that it comes with" "5 3" "$(lid_of "$far") $(lmc_of "$far")"
start_and_wait "$node"
expect "its LID and LMC" "5 0" "$(lid_of "$far") $(lmc_of "$far")"
sim_do check
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
sim_options=()
fresh
start_sim topology
bring_up_opensm "$node" 30 -l 2
end "$opensm"
before=$(lid_of "$far")
start_and_wait "$node"
expect "the LID after OpenSM" "$before" "$(lid_of "$far")"
expect "ports with an LMC" "" "$(for ca in $(cas topology); do lmc_of "$ca"; done | grep -v '^0$')"
expect "LIDs that others are told" 1 "$(lids_told)"
sim_do check
stop_qosd || bad "exit status $? after SIGTERM"
note "and the LMC raised again"
rm -rf state
start_and_wait "$node" -c qosd.yaml
expect "LIDs that others are told" 4 "$(lids_told)"
sim_do check
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
