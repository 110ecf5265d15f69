#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd against a switch that floods it with traps, a host that overwrites tables, a link
# change that only one end reports, and links that flap.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim can't do this"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
far=H-248a070300a25c40			# node017, at leaf05
spine01=S-7cfe900300b41a20 leaf05=S-7cfe900300b43180
sim_options=()

smps() { ctl metrics | awk '/^qosd_smps_sent_total/ { n += $2 } END { print n + 0 }'; }
metric() { ctl metrics | awk -v name="$1" '$1 == name { print $2 + 0 }'; }
# audited WHAT: the auditor must find no fault in any table.
audited() { sim_ctl check --switches >audit 2>&1 || bad "$1: $(tail -n 5 audit)"; }

# promise: F6
note "a switch floods with traps, and others are heard"
cat >devices.yaml <<END
profiles:
  talkative: {other-notices: true, capability-notices: true}
nodes:
  - {name: "*", profile: talkative}
END
echo "every 0.002 trap $spine01 144" >flood
echo "sweep-interval: 0" >qosd.yaml	# no light sweeps, only traps
sim_options=(--profiles devices.yaml --script flood)
start_sim "$topology"
start_and_wait "$manager" -c qosd.yaml
hears() { [ "$(metric qosd_traps_received_total)" -ge "$1" ]; }
until_ 20 hears 1000 || bad "there is no flood: $(metric qosd_traps_received_total) traps"

begin=$(smps) heard=$(metric qosd_traps_received_total) since=$SECONDS
until_ 40 hears $((heard + 2000)) || bad "the flood is over"
used=$(($(smps) - begin)) heard=$(($(metric qosd_traps_received_total) - heard))
# a probe sends 38 requests to the switch; 16 probes may follow at once, then two a second
bound=$((40 * (16 + 2 * (SECONDS - since + 1)) + 100))
note "$heard traps, $used SMPs"
expect_less "SMPs for $heard traps" $bound "$used"
sees() { ctl -j health | jq -r '.problems[] | select(.kind == "trap-flood") | .text' >seen; grep -q spine01 seen; }
until_ 10 sees || bad "health does not say so: $(ctl health)"
expect_match "what it says" "spine01.*: [0-9]+ traps in [0-9]+ s, of which [0-9]+ were dropped" "$(<seen)"
told() { [ "$(ctl -j events --kind trap-flood | jq -r .data.node)" = "0x${spine01#S-}" ]; }
until_ 20 told || bad "it is not told, or more than once: $(ctl events --kind trap-flood)"

nodes=$(status nodes)
sees_nodes() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ]; }
sim_do link down "$far"
until_ 5 sees_nodes $((nodes - 1)) || bad "nobody looks at leaf05, which lost a host"
sim_do link down "$leaf05/P31"
link_is_gone() { ctl -j events --kind link-down | jq -e --arg g "0x${leaf05#S-}" 'select(.data.node == $g or .data["far-node"] == $g)' >gone; }
until_ 5 link_is_gone || bad "nobody looks at leaf05, which lost a link: $(ctl events --kind link)"
sim_do link up "$leaf05/P31"
sim_do link up "$far"
until_ 5 sees_nodes "$nodes" || bad "nobody looks at leaf05, whose host is back"
until_ 10 subnet_up || bad "the subnet is not up"
audited "while it goes on"
expect "floods that were told" 1 "$(ctl -j events --kind trap-flood | wc -l)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# --- tables that another host overwrites ---

tree=fat-tree:k=4
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
  vlarb:
    - {group: all, high: ["0:64"], low: ["1:32", "2:32", "3:32"], high-limit: 10}
END
nodes_of() { sim_ctl show nodes | awk -v type="$1" '$1 == type { print $2 }'; }
all_sets() { sim_ctl stats | awk '$3 == "set" { n += $4 } END { print n + 0 }'; }
passes() { metric qosd_scrub_passes_total; }
passed() { [ "$(passes)" -ge "$1" ]; }
# snapshot FILE: writes the tables that are overwritten below to FILE.
snapshot() {
	{
		sim_ctl show lft "$leaf"
		sim_ctl show sl2vl "$leaf"
		sim_ctl show vlarb "$leaf/P1"
		sim_ctl show vlarb "$host/P1"
		sim_ctl show sl2vl "$host"
		sim_ctl show pkeys "$host/P1"
		sim_ctl show mft "$leaf"
		sim_ctl show portinfo "$leaf/P2" | grep -i hoqlife
		sim_ctl show portinfo "$host/P1" | grep -i smlid
	} >"$1" 2>&1
}
overwrite() {
	sim_do lft "$leaf" 3 drop
	sim_do sl2vl "$leaf" 1 2 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
	sim_do vlarb "$leaf/P1" high 1:1
	sim_do vlarb "$host/P1" low 1:1
	sim_do sl2vl "$host" 0 1 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
	sim_do pkey "$host/P1" 0 0x8123
	sim_do mft "$leaf" 0xc000 1,2
	sim_do portinfo "$leaf/P2" HOQLife 3
}
# make_tree SETTINGS [OPTION...]: starts the simulator with these options; start_tree SETTINGS: with qosd.
make_tree() {
	echo "$1" >qosd.yaml
	sim_options=("${@:2}")
	rm -rf state
	start_sim "$tree"
	mapfile -t cas < <(nodes_of ca)
	mapfile -t switches < <(nodes_of switch)
	manager=${cas[0]} host=${cas[7]}
	leaf=$(sim_ctl show links "$host" | sed -nE 's|.* ([^ ]+)/P[0-9]+$|\1|p')
}
start_tree() {
	make_tree "$1"
	start_and_wait "$manager" -c qosd.yaml -p policy.yaml
}

# promise: F7
note "what another overwrote is found, told and repaired"
start_tree "{scrub-interval: 2s, sweep-interval: 0}"
for guid in "${cas[@]}"; do printf '%x\n' $((guid + 1)); done >guids
on_own "${cas[1]}" "$tools/joinstorm" -g 1 guids >joined 2>&1 || bad "joining: $(<joined)"
until_ 30 passed 1 || bad "there is no pass: $(passes)"
snapshot before
sets=$(all_sets) begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
expect "Sets by passes over what is right" "$sets" "$(all_sets)"
expect "what is told then" "" "$(ctl events --kind table-overwritten)"
sim_do freeze		# so that all is overwritten at once
overwrite
sim_do fault add drop --class smp --method get --at "$leaf" --chance 5
sim_do thaw
begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
repaired() { snapshot after && cmp -s before after; }
until_ 5 repaired || expect_same "tables when they are repaired" before after
sim_do fault remove all
audited "the repaired tables"
# 7 tables, one of them of two blocks
expect_less "Sets for it" 12 $(($(all_sets) - sets))
ctl -j events --kind table-overwritten | jq -r '"\(.data.node) \(.data.port) \(.data.table)"' | sort >told
guid=$(sim_ctl -j show nodes | jq -r --arg n "$leaf" '.[] | select(.description == $n) | .guid')
sort >wanted <<END
$guid 0 forwarding table
$guid 0 multicast forwarding table
$guid 1 VL arbitration table
$guid 2 PortInfo
$guid 2 SL2VL table
$host 1 P_Key table
$host 1 SL2VL table
$host 1 VL arbitration table
END
expect_same "what is told" wanted told
expect_match "in words" "leaf-004.*/P2.*: another program overwrote the SL2VL table; repairing it" "$(ctl events --kind table-overwritten)"
expect "attributes that are counted" "$(wc -l <told)" "$(metric qosd_scrub_repaired_total)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: F7
note "what is right is right with an M_Key, too"
start_tree "{scrub-interval: 2s, sweep-interval: 0, m-key: 0x1122334455667701, m-key-protect: 1, m-key-lease: 60}"
until_ 30 passed 1 || bad "there is no pass: $(passes)"
sets=$(all_sets) begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
expect "Sets by passes" "$sets" "$(all_sets)"
expect "what is told then" "" "$(ctl events --kind table-overwritten)"
expect "attributes that are counted" 0 "$(metric qosd_scrub_repaired_total)"

swept() { [ "$(status sweeping)" = false ]; }
note "sweeps in the middle of passes do not end them"
sim_do fault add delay --class smp --method get --for 20ms
for ((i = 0; i < 6; i++)); do
	sleep 0.3
	ctl sweep >/dev/null
	until_ 20 swept || bad "the sweep does not end"
done
sim_do fault remove all
begin=$(passes)
until_ 60 passed $((begin + 1)) || bad "it does not go on"

# promise: F7
note "who has another's M_Key is passed over"
sim_do mkey "$leaf" 0x6600000000000066 --protect 1
ctl sweep >/dev/null
is_known() { [ "$(status key-mismatches)" = 1 ] && [ "$(status sweeping)" = false ]; }
until_ 30 is_known || bad "another's M_Key is not seen"
overwrite
sim_do vlarb "${cas[3]}/P1" low 1:1
begin=$(passes)
until_ 60 passed $((begin + 2)) || bad "it does not go on"
expect "what is told of it" "" "$(ctl -j events --kind table-overwritten |
	jq -r '.data.name' | grep "$leaf")"
expect_match "what is told of others" "host-0004.*VL arbitration" "$(ctl events --kind table-overwritten)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: F7
note "nobody looks unless it is wished"
start_tree "{scrub-interval: 0, sweep-interval: 1s}"
snapshot before
overwrite
snapshot overwritten
! cmp -s before overwritten || bad "nothing is overwritten"
sets=$(all_sets)
sleep 3
snapshot after
expect_same "tables that nobody repairs" overwritten after
expect "Sets" "$sets" "$(all_sets)"
expect "passes" 0 "$(passes)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# --- changes that no trap reports ---

linked() { ctl -j status | field ports-linked; }
links_are() { [ "$(linked)" = "$1" ] && [ "$(status sweeping)" = false ]; }
# set_link STATE: sets the state of a link of the leaf at its far end, which sends no trap.
set_link() { on "${cas[2]}" ibportstate -G "$far_guid" "${far##*/P}" "$1" >out 2>&1 || bad "$1: $(tail -n 2 out)"; }
# overlooked SETTINGS: the leaf loses such a link and a host at once, so that the host's link seems to
# explain the leaf's change.
overlooked() {
	start_tree "$1"
	far=$(sim_ctl show links "$leaf" | sed -nE 's|.* ([^ ]+/P[0-9]+)$|\1|p' | tail -n 1)
	far_guid=$(sim_ctl -j show nodes | jq -r --arg n "${far%/*}" '.[] | select(.description == $n) | .guid')
	links=$(linked)
	sim_do fault add drop --method trap
	set_link disable
	sim_do link down "$host"
	until_ 20 links_are $((links - 4)) || bad "$(linked) ports have a link, not $((links - 4))"
	expect "discoveries for it" 0 "$(grep -c 'discovering the whole fabric' "$qosd_log")"
	sim_do fault remove all
	set_link enable
	sim_do link up "$host"
	until_ 20 links_are "$links" || bad "$(linked) ports have a link, not $links"
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
}

# promise: F10
note "a link that was taken down at one end, and another at once"
overlooked "{scrub-interval: 0, sweep-interval: 1s}"
overlooked "{scrub-interval: 2s, sweep-interval: 0}"

# --- links that flap: in simulated time, so that a busy machine overlooks no flap ---

simulated_time
# start_tree_standing SETTINGS: start_tree, on a fabric where only `pass` lets time pass.
start_tree_standing() {
	make_tree "$1" --time-stands
	start_and_pass "$manager" -c qosd.yaml -p policy.yaml
}
lft_sets() { sim_ctl stats | awk '$2 == "LinearForwardingTable" && $3 == "set" { n = $4 } END { print n + 0 }'; }
tables() { for s in "${switches[@]}"; do sim_ctl show lft "$s"; done; }
event_of() { ctl -j events --kind "$1" | jq -c "select($2)" | tail -n 1; }
has_event() { [ -n "$(event_of "$@")" ]; }
quiet_sweeps() { status_is sweeping=false subnet-up=true; }
is_back() { quiet_sweeps && tables >tables.now && cmp -s "$1" tables.now; }
# uses PORT: prints how many entries in its switch's forwarding table lead to the port.
uses() { sim_ctl show lft "${1%/*}" | awk -v port="${1##*/P}" '$2 == port { n++ } END { print n + 0 }'; }

# promise: F7
note "a pass takes the time that the setting says, and spreads its reads over it"
former=$tree
tree=$top/examples/cluster.topo	# where an estimate of the reads is twice too high
start_tree_standing "{scrub-interval: 60s, sweep-interval: 0}"
gets() { sim_ctl stats | awk '$1 == "smp" && $3 == "get" { n += $4 } END { print n + 0 }'; }
sim_do pass 130s	# the first pass goes by an estimate
begun=$(passes) before=$(gets) least=-1 most=0
for ((i = 0; i < 20; i++)); do
	sim_do pass 15s
	now=$(gets)
	[ $least -ge 0 ] && [ $((now - before)) -ge $least ] || least=$((now - before))
	[ $((now - before)) -le $most ] || most=$((now - before))
	before=$now
done
expect "passes in five minutes" 5 $(($(passes) - begun))
[ $least -gt 0 ] && [ $most -le $((least * 2)) ] || bad "reads in a quarter of a pass: $least to $most"
stop_and_pass
stop_sim
tree=$former

# promise: F8
note "a link between switches flaps"
start_tree_standing "{flap-limit: 3, flap-window: 120s, flap-hold: 5s, sweep-interval: 1s, scrub-interval: 0}"
leaf_guid=$(sim_ctl -j show nodes | jq -r --arg n "$leaf" '.[] | select(.description == $n) | .guid')
link=$leaf/P3
tables >tables.before
[ "$(uses "$link")" -gt 0 ] || bad "nothing goes by $link"
sets=$(lft_sets)
# sound: whether the auditor finds all connected; the flapping link itself may not be Active yet.
sound() {
	sim_ctl check >audit 2>&1 && return
	grep -qE "^paths +([0-9]+), connected \\1$" <(tr -s ' ' <audit) &&
		! sed -n '/^end ports/,/^multicast members/!p' audit |
			grep -qvE "^link: 1$|^ +$link and |^ +[^ ]+ and $link:"
}
sim_do link flap "$link" --count 50 --interval 0.1
flapping() { has_event link-flapping '.data.downs >= 4'; }
steady() { has_event link-steady "$is_ours"; }
until_passed 20 flapping || bad "it is not told: $(ctl events --kind link)"
is_ours=".data.node == \"$leaf_guid\" and .data.port == 3 or .data[\"far-node\"] == \"$leaf_guid\" and .data[\"far-port\"] == 3"
has_event link-flapping "$is_ours" || bad "it is another that is told: $(ctl events --kind link-flapping)"
until_passed 10 quiet_sweeps
held=$(lft_sets) downs=0
for ((i = 0; i < 60; i++)); do
	! steady || break
	sound || bad "while it flaps: $(grep -A 3 ': [0-9]*$' audit)"
	expect "entries that lead to it while it flaps" 0 "$(uses "$link")"
	expect "Sets of forwarding tables while it flaps" "$held" "$(lft_sets)"
	ctl -j health | jq -r '.problems[] | select(.kind == "link-flapping") | .text' >seen
	[ ! -s seen ] || downs=$(sed -E 's/.* went down ([0-9]+) times.*/\1/' seen)
	sim_do pass 500ms
done
steady || bad "it is held for ever: $(ctl events --kind link)"
note "went down 50 times, was seen down $downs times; $((held - sets)) Sets until it was held, $(($(lft_sets) - held)) behind it"
((downs >= 5)) || bad "health: it went down $downs times"
until_passed 20 is_back tables.before || bad "routes are not what they were"
expect_less "Sets of forwarding tables from then on" 200 $(($(lft_sets) - held))
audited "when it is back"

# promise: F8
note "the only way is used though it flaps, and a link is released by hand"
# waits for each change, so that qosd misses none
sees_more() { [ "$(ctl events --kind "$1" | wc -l)" -gt "$2" ]; }
await_change() {	# COMMAND PORT KINDS
	local before
	before=$(ctl events --kind "$3" | wc -l)
	sim_do link "$1" "$2"
	until_passed 10 sees_more "$3" "$before" || bad "nobody sees that $2 is $1"
}
flap_slowly() {
	for _ in 1 2 3 4; do
		await_change down "$1" link-down,node-went
		await_change up "$1" link-up,node-came
		until_passed 10 quiet_sweeps || bad "$1 does not come back"
	done
}
told=$(ctl events --kind link-flapping | wc -l)
flap_slowly "$link"
flaps_again() { [ "$(ctl events --kind link-flapping | wc -l)" -gt "$told" ]; }
until_passed 5 flaps_again || bad "it is not told: $(ctl events --kind link)"
until_passed 5 quiet_sweeps
expect "entries that lead to it" 0 "$(uses "$link")"
sim_do link down "$leaf/P4"
only_way() { quiet_sweeps && [ "$(uses "$link")" -gt 0 ] && sim_ctl check >audit 2>&1; }
until_passed 5 only_way || bad "the only way is not used: $(uses "$link") entries; $(tail -n 3 audit)"
expect_match "what health says" "no other route" "$(ctl health | grep link-flapping)"
sim_do link up "$leaf/P4"
spared() { quiet_sweeps && [ "$(uses "$link")" -eq 0 ] && sim_ctl check >audit 2>&1; }
until_passed 5 spared || bad "it is used though there is another way: $(uses "$link") entries"
expect_match "what is released" ": 1$" "$(ctl links release "$link")"
until_passed 3 is_back tables.before || bad "routes are not what they were"
expect "health" "" "$(ctl health | grep link-flapping)"

# promise: F8
note "a host whose link flaps is not cut off"
sets=$(lft_sets)
flap_slowly "$host/P1"
host_flaps() { has_event link-flapping ".data.node == \"$host\" or .data[\"far-node\"] == \"$host\""; }
until_passed 5 host_flaps || bad "it is not told: $(ctl events --kind link)"
until_passed 5 quiet_sweeps || bad "the subnet is not up"
audited "with a host whose link flaps"
expect_match "its port" "active" "$(sim_ctl show links "$host" | tail -n 1)"
expect "Sets of forwarding tables" "$sets" "$(lft_sets)"
expect_match "what health says" "host-0008.* no other route" "$(ctl health | grep link-flapping)"
stop_and_pass || bad "exit status $? after SIGTERM"
stop_sim

# promise: F8
note "links that are merely out of reach do not flap"
start_tree_standing "{flap-limit: 2, flap-window: 120s, flap-hold: 60s, sweep-interval: 1s, scrub-interval: 0}"
nodes=$(status nodes)
has_nodes() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ]; }
for _ in 1 2 3; do
	sim_do link down "$manager"
	until_passed 30 has_nodes 1 || bad "nobody sees that our own link is down: $(status nodes) nodes"
	sim_do link up "$manager"
	until_passed 30 has_nodes "$nodes" || bad "the fabric does not come back: $(status nodes) nodes"
done
until_passed 20 quiet_sweeps || bad "the subnet is not up"
expect "links that flap, but for our own" "" "$(ctl -j events --kind link-flapping |
	jq -c --arg g "$manager" 'select(.data.node != $g and .data["far-node"] != $g) | .text')"
expect "links that are held" "" "$(ctl health | grep "no route uses it")"
stop_and_pass || bad "exit status $? after SIGTERM"
stop_sim
