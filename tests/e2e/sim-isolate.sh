#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that `qosd-ctl isolate` takes bad ports, hosts and switches out of the subnet: the tools of infiniband-diags
# and saquery see their links in Init, no path to what is behind, and routes that go another way.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim trains no link that is taken down"

sim_options=()
idle() { status_is subnet-up=true sweeping=false; }
# place NAME FILTER: what `withdrawn` says of the place with this in its name.
place() { ctl -j withdrawn | jq -r --arg n "$1" "first(.places[] | select(.name | contains(\$n))) | $2"; }
places() { ctl -j withdrawn | jq -r '[.places[] | "\(.name | split(" ")[0]) \(.state)"] | sort | join(", ")'; }
# in_init: the ports of switches that iblinkinfo sees in Init.
in_init() {
	on "${hosts[0]}" iblinkinfo -l 2>/dev/null | sed -nE 's/^0x[0-9a-f]+ " *(leaf|spine|core)(-[0-9]+)[^"]*" +[0-9]+ +([0-9]+)\[.*Initialize.*/\1\2\/P\3/p' | sort | xargs
}
# quiet NAME: nothing happens any more, and the links of the isolated place have trained.
quiet() {
	idle && [ "$(place "$1" .state)" = isolated ] &&
		ctl -j withdrawn | jq -e '[.places[].ends[].state] | all(. == "init")' >/dev/null
}
isolate() {
	ctl isolate "$@" --wait >changed 2>&1 || bad "isolate $*: $(<changed)"
	until_ 20 quiet "$1" || bad "isolate $1: $(ctl withdrawn)"
}
release() {
	ctl release "$@" --wait >changed 2>&1 || bad "release $*: $(<changed)"
	until_ 20 whole || bad "after release $*: $(tail -n 4 audit)"
}
whole() { idle && sim_ctl check --switches >audit 2>&1; }
refused() {
	! ctl isolate "${@:2}" >out 2>&1 || bad "isolate ${*:2} is not refused"
	expect_match "of ${*:2}" "$1" "$(<out)"
}
# cut_off: the hosts that the auditor finds cut off, or "all is well".
cut_off() {
	sim_ctl check >audit 2>&1 && { echo "all is well"; return; }
	sed -nE 's/^  LID [0-9]+ \((host-[0-9]+) .*; cut off from.*/\1/p' audit | sort -u | xargs
}
all_tables() {
	local s
	for s in $(sim_ctl -j show nodes | jq -r '.[] | select(.type == "switch") | .guid'); do sim_ctl show lft "$s"; done
}
records_of() { on "${hosts[1]}" saquery NR 2>/dev/null | grep -c "$1"; }
lid_of() { on "${hosts[0]}" iblinkinfo -l 2>/dev/null | sed -nE "s/^0x[0-9a-f]+ \" *$1[^\"]*\" +([0-9]+) .*/\1/p" | head -n 1; }
guid_of() { sim_ctl -j show nodes | jq -r --arg n "$1" 'first(.[] | select(.description | startswith($n))) | .guid'; }
port_gid() { gid "$(printf '%016x' $(($(guid_of "$1") + 1)))"; }
paths_to() { on "${hosts[1]}" saquery PR --sgid "$(port_gid host-0002)" --dgid "$(port_gid "$1")" 2>/dev/null | grep -c dlid; }
over() { on "${hosts[0]}" ibtracert "$(lid_of host-0009)" "$1" 2>&1 | grep -oE '"(leaf-003|spine-00[0-9])' | tr -d '"' | xargs; }

printf '%s\n' "sweep-interval: 1s" >qosd.yaml
start_sim fat-tree:k=4
mapfile -t hosts < <(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .description')
start_and_wait "${hosts[0]}" -c qosd.yaml
until_ 10 idle || bad "no end of the first sweeps"
all_tables >before
lid5=$(lid_of host-0005)

# promise: M30 M31
note "a host"
expect "paths to host-0005 before" 1 "$(paths_to host-0005)"
isolate host-0005 --reason "floods the subnet"
expect_match "what it says" "host-0005.*: is being isolated" "$(<changed)"
expect "links in Init" "leaf-003/P1" "$(in_init)"
expect "paths to host-0005" 0 "$(paths_to host-0005)"
expect "records of host-0005" "0 1" "$(records_of host-0005) $(records_of host-0006)"
expect "who is cut off" host-0005 "$(cut_off)"
expect "its end of the link" "leaf-003/P1 init" "$(place host-0005 '.ends[0] | "\(.name | split(" ")[0]) \(.state)"')"

note "light sweeps leave it alone"
until_ 10 idle
before=$(sets) sweeps=$(status sweeps)
pause 2.5
expect "Sets and sweeps of light sweeps" "$before $sweeps" "$(sets) $(status sweeps)"
sim_do link down leaf-003/P1
pause 0.3
sim_do link up leaf-003/P1
in_init_again() { idle && [ "$(in_init)" = leaf-003/P1 ]; }
until_ 10 in_init_again || bad "the link is not in Init after it was plugged in again: $(in_init)"
pause 1.2
expect "links in Init" "leaf-003/P1" "$(in_init)"

# promise: M32
note "who says so"
expect "in the list" "isolated $(id -u) floods the subnet" "$(place host-0005 '"\(.kind) \(.uid) \(.reason)"')"
expect "in status" "1 true true" "$(ctl -j status | jq -r '"\(.withdrawn.isolated) \(.withdrawn.change == .withdrawn."change-in-force") \(."subnet-up")"')"
expect "in metrics" 1 "$(ctl metrics | awk '$1 == "qosd_fabric_places_isolated" { print $2 }')"
expect "in health" "warning" "$(ctl -j health | jq -r '.problems[] | select(.kind == "isolated") | .severity')"
expect_match "why it is missing" "info host-0005 .*; host-0005.* is isolated" \
	"$(ctl -j health | jq -r '.problems[] | select(.kind == "host-missing") | "\(.severity) \(.text)"')"
expect "what else health says" "" "$(ctl -j health | jq -r '.problems[] | select(.severity != "info") | .kind | select(test("missing|no-far-end|port"))' | xargs)"
expect "in events" "$(id -u) floods the subnet" "$(ctl -j events --kind isolated | jq -r '.data | "\(.uid) \(.reason)"')"

# promise: M33
note "after a kill"
stop_qosd KILL
start_and_wait "${hosts[0]}" -c qosd.yaml
until_ 10 quiet host-0005 || bad "not isolated after the restart: $(ctl withdrawn)"
expect "links in Init" "leaf-003/P1" "$(in_init)"
pause 1.2
expect "links in Init" "leaf-003/P1" "$(in_init)"
release host-0005
expect "places" "" "$(places)"
expect "released by" "$(id -u)" "$(ctl -j events --kind released | jq -r .data.uid)"
expect "paths to host-0005 again" 1 "$(paths_to host-0005)"

# promise: M30
note "a link between switches"
way=$(over "$lid5")
expect_match "the way to host-0005" "spine-00[34] leaf-003" "$way"
side=P3
[[ $way = *spine-003* ]] || side=P4
isolate "leaf-003/$side"
expect_match "the other way to host-0005" "spine-00[34] leaf-003" "$(over "$lid5")"
[ "$way" != "$(over "$lid5")" ] || bad "ibtracert goes the same way: $way"
release "leaf-003/$side"
isolate leaf-003/P3
expect "who is cut off" "all is well" "$(sim_ctl check >audit 2>&1; grep -q unreachable audit || echo "all is well")"
expect "links in Init" "leaf-003/P3 spine-003/P1" "$(in_init)"
isolate spine-001
expect "hosts cut off" "" "$(grep -o 'cut off' audit)"
refused "leaf-003/P4.*cut off 2 other hosts \(host-000[56].*, host-000[56].*\) and 1 other switch" leaf-003/P4
expect "places" "leaf-003/P3 isolated, spine-001 isolated" "$(places)"
ctl -j health | jq -r '.problems[].text' >health
expect_match "why the tree is damaged" "; 5 links are isolated" "$(grep -v '^leaf\|^spine' health)"
! ctl drain leaf-003/P3 >out 2>&1 || bad "an isolated link is drained"
expect_match "of a drain" "leaf-003/P3.*: it is isolated" "$(<out)"
ctl isolate spine-003/P1 --wait >changed 2>&1 || bad "the other end: $(<changed)"
ctl release leaf-003/P3 >out 2>&1 || bad "release: $(<out)"
expect_match "of an end" "leaf-003/P3.*: released; its links stay isolated by spine-003/P1" "$(<out)"
release spine-001 spine-003/P1
all_tables >after
expect_same "tables afterwards" before after

# promise: M34
note "what must not be isolated"
refused "host-0001.*own link is never isolated" host-0001
refused "leaf-001/P1.*own link is never isolated" leaf-001/P1 --force
refused "leaf-003.*cut off 2 other hosts \(host-000[56] [^,]*, host-000[56] [^,]*\) and 0 other switches; --force" leaf-003
refused "no-such: no such port" leaf-003/P1 no-such
refused "leaf-003/P0: port 0 of a switch has no link: name the switch .* from 1 to 4" leaf-003/P0 --force
! ctl drain spine-001/P0 >out 2>&1 || bad "port 0 is drained"
expect_match "of a drain of port 0" "spine-001/P0: port 0" "$(<out)"
expect "places" "" "$(places)"
isolate leaf-003 --force
expect_match "what it says" "this cuts off 2 other hosts" "$(<changed)"
expect "who is cut off" "host-0005 host-0006" "$(cut_off)"
expect "the hosts' links" "init init" "$(sim_ctl -j show links leaf-003 | jq -r '[.[] | select(.peer | startswith("host")) | .state] | join(" ")')"
release leaf-003
all_tables >after
expect_same "tables afterwards" before after

# promise: M30
note "a switch that does not answer"
sim_do node silent leaf-003
isolate leaf-003 --force
expect "tries to take the links of its hosts down" 1 "$(grep -c "node $(guid_of leaf-003) is isolated, but cannot" "$qosd_log")"
sim_do node answer leaf-003
release leaf-003
all_tables >after
expect_same "tables afterwards" before after

note "by force, and not in force yet"
sim_do freeze
ctl isolate leaf-003 --force >changed 2>&1 || bad "isolate leaf-003: $(<changed)"
ctl isolate spine-001 >changed 2>&1 || bad "hosts of leaf-003 count again: $(<changed)"
sim_do thaw
until_ 20 quiet leaf-003 || bad "isolate leaf-003: $(ctl withdrawn)"
release leaf-003 spine-001

note "a port without a link"
sim_do link down leaf-003/P2
gone_6() { idle && [ "$(records_of host-0006)" = 0 ]; }
until_ 10 gone_6 || bad "host-0006 does not go"
ctl isolate leaf-003/P2 >changed 2>&1 || bad "$(<changed)"
sim_do link up leaf-003/P2
until_ 10 quiet leaf-003/P2
trained() { [ "$(in_init)" = leaf-003/P2 ]; }
until_ 10 trained || bad "links in Init: $(in_init)"
pause 1.2
expect "links in Init" leaf-003/P2 "$(in_init)"
release leaf-003/P2
expect "places" "" "$(places)"

# promise: M30
note "multicast trees leave"
for guid in $(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .guid'); do printf '%x\n' $((guid + 1)); done >guids
on_own "${hosts[1]}" "$tools/joinstorm" -g 3 guids >joined 2>&1 || bad "joining: $(<joined)"
trees_are_made() { status_is subnet-up=true sweeping=false pending=false && sim_ctl check --switches >audit 2>&1; }
until_ 10 trees_are_made || bad "no trees: $(tail -n 4 audit)"
isolate spine-001
trees_are_right() { status_is subnet-up=true sweeping=false pending=false; }
until_ 10 trees_are_right
sim_ctl check >audit 2>&1
expect "what the auditor says of trees" "" "$(grep -iE '^(multicast|tree).*: [1-9]' audit | grep -v 'multicast [gm]')"
release spine-001
stop_qosd || bad "exit status $?"
stop_sim

# promise: M33
note "a standby takes over"
declare -A host pid
rm -rf state
start_sim fat-tree:k=4
host=([first]="host-0001 HCA-1" [second]="host-0009 HCA-1")
run_manager first "priority: 10" "sweep-interval: 1s"
first_is_up() { of first status_is state=master subnet-up=true sweeping=false; }
until_ 20 first_is_up || fail "the first is not up"
run_manager second "priority: 5" "sweep-interval: 1s"
second_follows() { of second status_is state=standby registrations-held=true; }
until_ 20 second_follows || bad "the second does not follow"
! of second ctl isolate host-0005 >out 2>&1 || bad "a standby isolates"
of first ctl isolate host-0005 --reason "burns" --wait >changed 2>&1 || bad "isolate: $(<changed)"
until_ 20 of first quiet host-0005 || bad "not isolated"
second_knows() { of second status_is isolated=1; }
until_ 20 second_knows || bad "the standby does not know it"
end "${pid[first]}" KILL
second_is_up() { of second status_is state=master subnet-up=true sweeping=false; }
until_ 20 second_is_up || bad "no takeover"
until_ 20 of second quiet host-0005 || bad "not isolated under the second: $(of second ctl withdrawn)"
pause 1.2
expect "host-0005 under the second" "isolated burns" "$(of second place host-0005 '"\(.state) \(.reason)"')"
expect "links in Init" "leaf-003/P1" "$(in_init)"
end "${pid[second]}"

# promise: M34
note "a manager that is isolated itself"
rm -rf state
cp -a second/state state
start_and_wait "host-0005 HCA-1" -c second/qosd.yaml
until_ 20 idle || bad "no end of the first sweeps"
expect "what is isolated" 1 "$(ctl -j status | jq .withdrawn.isolated)"
ctl isolate host-0009 --wait >changed 2>&1 || bad "isolate: $(<changed)"
refused "host-0005.*own link is never isolated" host-0005
stop_qosd || bad "exit status $?"
stop_sim
