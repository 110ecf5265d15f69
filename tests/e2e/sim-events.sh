#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests events and health for faults that only this simulator can make: links that become slower,
# hosts that move, devices that lie; also for policies on trial, dynamic partitions and two managers.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim can't do this"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
node001=H-f452140300811230
host=H-f452140300811250			# node003
spine01=S-7cfe900300b41a20
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
END
# this fabric's slow links get full rate
sed -E 's/ 1xSDR *$/ 4xFDR/; /ibrtr01|"R-/s/ 4xQDR *$/ 4xFDR/' "$topology" >good.topo
awk '/^Rt/ { r = 1 } /^$/ { r = 0 } r { sub(/4xQDR.*/, "4xFDR") } { print }' good.topo >x && mv x good.topo
echo "sweep-interval: 1s" >qosd.yaml
sim_options=()

# told KIND FILTER: waits for an event of this kind that jq's filter selects; sets $event to the last one.
told_() { event=$(ctl -j events --since "$since" --kind "$1" | jq -c "select($2)" | tail -n 1); [ -n "$event" ]; }
told() { until_ 20 told_ "$1" "${2:-true}" || bad "no $1 with $2: $(ctl events --since "$since")"; }
# from_now: told ignores all events before this moment.
from_now() { since=$(ctl -j events | jq -r .since | tail -n 1); }
member() { jq -r ".data[\"$1\"]" <<<"$event"; }
same_guid() { expect "$1" "$((16#$2))" "$(($3))"; }
# judged WHAT EXIT-STATUS KIND...: within some seconds, health must report exactly these kinds.
judged_() {
	ctl -j health >health.json
	verdict=$?
	kinds=$(jq -r '.problems[] | select(.severity != "info") | .kind' health.json | sort -u | paste -s -d ' ')
	[ "$verdict" = "$1" ] && [ "$kinds" = "$2" ]
}
judged() { until_ 20 judged_ "$2" "$3" || bad "$1: exit status $verdict: $kinds"; }

# retrain PORT WHAT: retrains the link between two sweeps, so that no sweep sees it down.
retrain() {
	sim_do freeze
	sim_do link degrade "$@"
	trained() { ! sim_ctl show links "${1%/*}" | grep -q "^plugged.* down "; }
	until_ 10 trained "$@" || bad "$1 does not come up"
	sim_do thaw
}

start_sim good.topo
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
judged "the start" 0 ""

note "a link gets slower, and what it was"
from_now
retrain "$node001/P1" 1x
told link-changed '.severity == "warning"'
expect "what it is and was" "1xFDR 4xFDR" "$(member link) $(member was)"
judged "a slow link" 1 "link-deviates link-slower"
expect_match "why" "node001.*runs at 14 Gb/s, .* 56 Gb/s" "$(ctl health | grep link-deviates)"
from_now
retrain "$node001/P1" full
told link-changed '.severity == "info"'
judged "a link that is well again" 0 ""

# promise: A74
note "a host moves"
from_now
free=$(sim_ctl show links "$spine01" | sed -nE 's/.*P([0-9]+).*(down|no cable|-)$/\1/p' | tail -n 1)
free=${free:-36}
sim_do freeze
sim_do link down "$host/P1"
sim_do link connect "$host/P1" "$spine01/P$free"
plugged_in() { ! sim_ctl show links "$host" | grep -q "^plugged.* down "; }
until_ 10 plugged_in || bad "the host does not come up"
sim_do thaw
told node-moved
same_guid "who" "${host#H-}" "$(member node)"
same_guid "where to" "${spine01#S-}" "$(member far-node)"
expect "port" "$free" "$(member far-port)"
expect "no other change" "" "$(ctl events --since "$since" --kind link,node-went,node-came,switch)"

note "a device that keeps its tables"
from_now
sim_do node lie "$spine01" keeps-tables
sim_do sl2vl "$spine01" 1 2 "0,1,15,15,15,15,15,15,15,15,15,15,15,15,15,15"
ctl sweep >/dev/null
told device-keeps
same_guid "who" "${spine01#S-}" "$(member node)"
expect "how many" 1 "$(member values)"
judged "it" 1 device-keeps
from_now
sim_do node lie "$spine01" none
ctl sweep >/dev/null
told device-recovered
judged "it is honest again" 0 ""

note "a device without answer"
from_now
sim_do node silent "$node001"
sed -i 's/0, 1, 2, 15/0, 1, 0, 15/' policy.yaml
ctl reload >/dev/null || bad "reload"
told device-silent
same_guid "who" "${node001#H-}" "$(member node)"
told sweep-incomplete
expect_match "why" "some devices stopped answering" "$event"
told subnet-up		# apart from the silent device
judged "a device without answer" 2 device-silent
sim_do node answer "$node001"
told device-recovered
expect "it was there all the time" "" "$(ctl events --since "$since" --kind node-went,node-came)"
judged "it answers again" 0 ""

note "a policy on trial"
sed 's/0, 1, 0, 15/0, 1, 1, 15/' policy.yaml >trial.yaml
# A slow machine may need a longer trial, or it ends before health is read.
for seconds in 2 6 15; do
	from_now
	ctl policy load trial.yaml --confirm $seconds >/dev/null || bad "policy load"
	told policy-trial '.data.file == "trial.yaml"'
	expect "uid" "$(id -u)" "$(member uid)"
	judged "on trial is no problem" 0 ""
	on_trial=$(jq -r '.problems[].kind' health.json | grep -cx policy-on-trial)
	[ "$on_trial" = 0 ] || break
	told policy-reverted
done
expect "… but worth knowing" 1 "$on_trial"
told policy-in-force '.data.file == "trial.yaml"'
told policy-reverted
expect "why" timed-out "$(member outcome)"
told policy-in-force '.data.file != "trial.yaml"'

note "dynamic partitions"
from_now
ctl partition add job1 'node001 HCA-1/P1' --wait >/dev/null || bad "partition add"
told partitions-changed
expect "members" 1 "$(member members)"
expect "no other policy is in force" "" "$(ctl events --since "$since" --kind policy)"

note "a better manager comes and goes"
from_now
first=$qosd first_log=$qosd_log first_sock=$sock
sock=$work/second.sock
echo "priority: 9" >second.yaml
as_own "$host"
"${as[@]}" "$build/qosd" -F -s "$sock" -d "$work/second" -c second.yaml -p policy.yaml >second.log 2>&1 &
second=$!
pids+=("$second")
sock=$first_sock
told sm-seen '.data.priority == 9'
same_guid "who" f452140300811251 "$(member guid)"
told sm-state '.data.state == "standby"'
same_guid "the master" f452140300811251 "$(member master)"
judged "one that stands by" 0 ""
second_is_well() { "$build/qosd-ctl" -s second.sock health >second.health && [ "$(head -n 1 second.health)" = "ok: master" ]; }
until_ 20 second_is_well || bad "the other one: $(<second.health)"
from_now
end "$second"
told sm-state '.data.state == "master"'
told sm-gone
judged "master again, without the other" 1 manager-missing
ctl forget --all >out 2>&1 || bad "forget: $(<out)"
judged "master again" 0 ""
[ "$qosd" = "$first" ] && [ "$qosd_log" = "$first_log" ] || bad "another daemon"

note "files that can't be written"
prlimit --pid "$qosd" --fsize=16:
ctl partition add job2 'node001 HCA-1/P1' >out 2>&1 && bad "it is taken"
judged "the state folder" 2 store
prlimit --pid "$qosd" --fsize=unlimited:
ctl partition add job2 'node001 HCA-1/P1' --wait >out 2>&1 || bad "it is not taken: $(<out)"
judged "it can be written again" 0 ""
stop_qosd || bad "exit status $? after SIGTERM"
