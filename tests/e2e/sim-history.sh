#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the history of events: what happened before restarts and kills is there, with who did it, and a
# disk that cannot be written or a damaged database harms nothing.
#
# promise: O14
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it needs nothing of ibsim"

mkdir history
db=$work/history/events.db
echo "history: $db" >qosd.yaml
sim_options=()
start_sim "$top/examples/cluster.topo"
node=$(sim_ctl show nodes | awk '/mgmt01/ { print $2; exit }')
down=$(sim_ctl show nodes | awk '/node001/ { print $2; exit }')
policy=$top/examples/policy-mpi-storage.yaml
cp "$policy" policy.yaml
began=$(date -u +%Y-%m-%dT%H:%M:%S)

# begin: starts the daemon; kinds ARGUMENT...: the kinds of events from the beginning, as words.
begin() { start_and_wait "$node" -p policy.yaml -c qosd.yaml; }
kinds() { ctl events --since "$began" "$@" | awk '{ print $4 }' | xargs; }
has_event() { ctl events | grep -q " $1 "; }
# is_in_force: whether the last event says that the policy loaded before is in force: nothing follows that.
is_in_force() { [[ $(kinds) =~ policy-loaded\ policy-in-force$ ]]; }

note "a restart"
begin
unplug "$down" 1
until_ 20 has_event node-went || bad "the node is still there"
ctl policy load policy.yaml >out 2>&1 || bad "$(<out)"
until_ 20 is_in_force || bad "the policy is not in force: $(kinds)"
before=$(kinds)
stop_qosd || bad "exit status $?"
begin
expect_match "the events before it, and after" "^$before started " "$(kinds) "
expect "events of this run only, by id" 1 "$(ctl events --since 0 | grep -c ' started ')"
expect "by kind" "started started" "$(kinds --kind started)"
all=$(kinds)
expect "the last ones, of both" "$(wc -w <<<"$all") ${all##* }" "$(wc -w <<<"$(kinds -n 1000)") $(kinds -n 1)"
expect "the last but those of this run" "$(tail -n 12 <<<"${all// /$'\n'}" | xargs)" "$(kinds --last 12)"
expect "severe ones" "$(ctl events --since "$began" | awk '$3 != "info" { print $4 }' | xargs)" "$(kinds --severity warning)"
expect "an end" "started" "$(ctl events --since "$began" --kind started | head -n 1 | awk '{ print $4 }')"
expect "nothing that long ago" "" "$(ctl events --until "$began")"
expect "who loaded the policy" "$(id -u)" "$(ctl -j events --since "$began" --kind policy-loaded | jq -r .data.uid | head -n 1)"

note "a kill"
plug "$down" 1
until_ 20 has_event node-came || bad "the node does not come"
is_on_disk() { grep -qsa node-came "$db"*; }
until_ 20 is_on_disk || bad "the event is not stored"
stop_qosd KILL
begin
expect "events in order, none twice" "node-went started node-came started" \
	"$(ctl events --since "$began" | awk '$4 ~ /^(node-.*|started)$/ { print $4 }' | tail -n 4 | xargs)"
expect "twice" "" "$(ctl -j events --since "$began" | jq -r .since | sort | uniq -d)"

note "a damaged database"
stop_qosd || bad "exit status $?"
head -c 20000 /dev/zero >"$db"
rm -f "$db"-*
begin
is_aside() { [ -e "$db.damaged" ]; }
until_ 20 is_aside || bad "it is not renamed"
is_logged() { grep -q 'is damaged; renamed' "$qosd_log"; }
until_ 20 is_logged || bad "the log does not say so"
stored() { kinds | grep -q started; }
until_ 20 stored || bad "the new one has nothing"

note "a folder that is gone"
stop_qosd || bad "exit status $?"
mv history elsewhere
begin
is_said() { ctl health >out 2>&1; grep -q 'not kept on disk' out; }
until_ 20 is_said || bad "health: $(<out)"
expect_match "events in memory" " started " "$(ctl events)"
mkdir history
is_fine() { ctl health >out 2>&1; ! grep -q 'not kept on disk' out; }
until_ 20 is_fine || bad "health: $(<out)"
expect_match "it is there now" " started " "$(ctl events --since "$began")"
stop_qosd || bad "exit status $?"
