#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that what a reload of qosd.yaml puts in force is what qosd does from then on, setting by setting.
# promise: L24
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "reloading settings has nothing to do with the simulator"

manager=H-f452140300811200		# mgmt01
leaf='MF0;leaf01:SX6036/U1'		# port 29 leads to a spine, port 3 to node003
leaf_guid=0xf45214030090a3c0 host_guid=0xf452140300811251 narrow_guid=0xf452140300811261
base=("smp-timeout: 5s" "policy-watch: false" "sweep-interval: 1s")
# settings LINE...: puts these settings in force, and expects them all to be.
settings() {
	printf '%s\n' "${base[@]}" "$@" >qosd.yaml
	[[ $* == *errors-interval* ]] || echo "errors-interval: 0" >>qosd.yaml
	[[ $* == *scrub-interval* ]] || echo "scrub-interval: 0" >>qosd.yaml
	ctl reload >reload 2>&1 || bad "reload: $(<reload)"
	expect "what needs a restart" "" "$(grep restart reload)"
}
metric() { ctl metrics | sed -n "s/^$1 //p"; }
quiet() { status_is sweeping=false subnet-up=true; }
# port SETTING GUID PORT FIELD VALUE: waits until the field of PortInfo, as smpquery shows it, is the value.
field_is() { [ "$(port_info "$manager" "$1" "$2" "$3" | xargs)" = "$4" ]; }
port() { until_ 10 field_is "${@:2}" || bad "$1: $4 is '$(port_info "$manager" "$2" "$3" "$4")', not $5"; }
events_of() { ctl events --kind "$1" | wc -l; }
more_of() { [ "$(events_of "$1")" -gt "$2" ]; }
# goes_by PORT: whether any route leads to the port of its switch.
goes_by() { sim_ctl show lft "${1%/*}" | awk -v port="${1##*/P}" '$2 == port { n++ } END { exit !n }'; }
goes_not_by() { ! goes_by "$1"; }

printf '%s\n' "${base[@]}" "scrub-interval: 0" "errors-interval: 0" >qosd.yaml
cat >policy.yaml <<'END'
port-groups:
  some: {port-names: "node00? HCA-1/P1"}
qos-levels:
  default: {sl: 0}
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
  other: {pkey: 0x11, members: {some: full}}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
END
cat >profiles.yaml <<'END'
profiles:
  narrow: {narrow-pma: true}
nodes:
  - {name: "node004 *", profile: narrow}
END
sim_options=(--profiles profiles.yaml)
start_sim "$top/examples/cluster.topo"
start_and_wait "$manager" -c qosd.yaml -p policy.yaml

note "what plans are made by: ports and switches have it after the next sweep"
on "$manager" smpquery -G portinfo $leaf_guid 29 >portinfo.before 2>&1
settings "hoq-lifetime: 11" "hoq-lifetime-end: 12" "vl-stall-count: 3" "vl-stall-count-end: 2" "local-phy-errors: 6" \
	"overrun-errors: 5" "subnet-timeout: 17" "packet-lifetime: 15" "partition-enforcement: in" "max-op-vls: 2"
port hoq-lifetime $leaf_guid 29 HoqLife 11
port hoq-lifetime-end $leaf_guid 3 HoqLife 12
port vl-stall-count $leaf_guid 29 VLStallCount 3
port vl-stall-count-end $leaf_guid 3 VLStallCount 2
port local-phy-errors $leaf_guid 3 LocalPhysErr 6
port overrun-errors $host_guid 1 OverrunErr 5
port subnet-timeout $host_guid 1 SubnetTimeout 17
port partition-enforcement $leaf_guid 3 PartEnforceInb 1
port partition-enforcement $leaf_guid 3 PartEnforceOutb 0
port max-op-vls $leaf_guid 29 OperVLs VL0-1
lifetime() { on "$manager" smpquery -G switchinfo $leaf_guid 2>&1 | sed -nE 's/^LifeTime:\.+//p'; }
expect "packet-lifetime" 15 "$(lifetime)"
until_ 10 quiet || bad "not quiet: $(ctl status)"
before=$(sets)
ctl reload >reload 2>&1 || bad "reload: $(<reload)"
expect "Sets for a reload that changes nothing" "$before" "$(sets)"
settings "active-vls: wait" "max-op-vls: 4" "warn-unnamed-nodes: true" "arbiter-model: measured"
port hoq-lifetime $leaf_guid 29 HoqLife 18
expect "active-vls: wait" VL0-1 "$(port_info "$manager" $leaf_guid 29 OperVLs)"
unnamed() { ctl health | grep -q 'no group names the ca'; }
until_ 10 unnamed || bad "warn-unnamed-nodes: $(ctl health)"
expect "arbiter-model" measured "$(ctl -j sls | jq -r '.["arbiter-model"]')"
settings
port active-vls $leaf_guid 29 OperVLs VL0-3
# promise: J20
note "a reload is judged by the settings that it brings"
cp policy.yaml good.yaml
settings "max-op-vls: 2"
port max-op-vls $leaf_guid 29 OperVLs VL0-1
sed 's/default: {sl: 0}/default: {sl: 3}/' good.yaml >policy.yaml	# which VL 3 carries
settings "max-op-vls: 4"
port max-op-vls $leaf_guid 29 OperVLs VL0-3
printf '%s\n' "${base[@]}" "errors-interval: 0" "scrub-interval: 0" "max-op-vls: 2" >qosd.yaml
ctl reload >reload 2>&1 && bad "a level that has no VL with the new settings is accepted"
expect_match "why" "level default: SL 3 .*--force applies it nevertheless" "$(tr '\n' ' ' <reload)"
kill -HUP "$qosd"
refusals() { ctl policy history | grep -c refused; }
refused() { [ "$(refusals)" = 2 ]; }
until_ 10 refused || bad "SIGHUP is not refused: $(ctl policy history)"
until_ 10 quiet || bad "not quiet: $(ctl status)"
expect "VLs" VL0-3 "$(port_info "$manager" $leaf_guid 29 OperVLs)"
cp good.yaml policy.yaml
settings
named() { ! unnamed; }
until_ 10 named || bad "nodes without a name are still reported"

note "pages, a database of events, P_Keys, an expected topology"
page() { curl -sS -m 5 "http://127.0.0.1:$1" 2>&1; }
listening() { sed -nE "s/.* $1: listening on 127.0.0.1:0, port ([0-9]+)/\\1/p" "$qosd_log" | tail -n 1; }
began=2020-01-01T00:00:00
mkdir history
db=$work/history/events.db
on "$manager" ibnetdiscover >net.topo 2>/dev/null
sed 's/f4521403008112\([56]\)/f4521403008119\1/g; s/node00[34] HCA/gone00 HCA/' net.topo >expected.topo
expect_match "nothing is expected" "none is expected" "$(ctl topology 2>&1)"
settings "metrics-listen: 127.0.0.1:0" "report-listen: 127.0.0.1:0" "history: $db" "history-max: 2" \
	"partition-pkeys: 0x123-0x124" "expected-topology: $work/expected.topo"
metrics=$(listening metrics) report=$(listening report)
expect_match "metrics-listen" "qosd_scrub_passes_total" "$(page "$metrics/metrics")"
expect_match "report-listen" "<html" "$(page "$report/")"
kept() { ctl events --since "$began" --kind "$1" 2>/dev/null | wc -l; }
keeps() { [ "$(kept "$1")" = "$2" ]; }
until_ 10 keeps started 1 || bad "history: the events so far are not there"
ctl partition add given all --wait >out 2>&1 || bad "partition add: $(<out)"
expect_match "partition-pkeys" '0x0?12[34]' "$(ctl partition show given 2>&1)"
until_ 10 keeps partitions-changed 1 || bad "history: a new event is not there"
differs() { ctl topology --kind node-missing 2>&1 | grep -q gone00; }
until_ 10 differs || bad "expected-topology: $(ctl topology 2>&1 | head -n 4)"
settings "history: $work/history/other.db"
expect_match "no metrics-listen" "refused|connect" "$(page "$metrics/metrics")"
expect_match "no report-listen" "refused|connect" "$(page "$report/")"
expect_match "no expected-topology" "none is expected" "$(ctl topology 2>&1)"
ctl partition remove given >out 2>&1 || bad "partition remove: $(<out)"
until_ 10 keeps partitions-changed 1 || bad "history: nothing in the other database"
settings "history: $db"
ctl partition add again all >out 2>&1 || bad "partition add: $(<out)"
until_ 10 keeps partitions-changed 2 || bad "history: the first database is not written again: $(kept partitions-changed)"
# promise: J19
note "an address that another program has"
# hold: listens at a port of its choice, which it prints, until it is ended.
cat >hold.py <<'END'
import socket
with socket.create_server(("127.0.0.1", 0)) as s:
    print(s.getsockname()[1], flush=True)
    while True:
        s.accept()[0].close()
END
python3 hold.py >hold.out 2>&1 &
holder=$!
pids+=("$holder")
until_ 10 test -s hold.out || bad "nothing holds a port"
port=$(<hold.out)
settings "report-listen: 127.0.0.1:$port"
of_health() { ctl -j health | jq -r '.problems[] | select(.kind == "not-listening") | .text'; }
of_status() { ctl -j status | jq -c '.pages[] | [.setting, .address, .port, .problem != null, .since != null]'; }
failed() { ctl events --kind page-failed | grep -c "at 127.0.0.1:$port: .*in use"; }
expect_match "health" "report-listen: the daemon does not listen: 127.0.0.1:$port: .*in use" "$(of_health)"
expect "status" "[\"report-listen\",\"127.0.0.1:$port\",null,true,true]" "$(of_status)"
expect "the event" 1 "$(failed)"
sleep 2.5	# it tries again and again
expect "it is said once" "1 1" "$(failed) $(grep -c "report: not listening: 127.0.0.1:$port" "$qosd_log")"
end "$holder"
served() { [ "$(of_status)" = "[\"report-listen\",\"127.0.0.1:$port\",$port,false,false]" ]; }
until_ 10 served || bad "it does not listen: $(of_status)"
expect "health" "" "$(of_health)"
expect_match "the event" "report-listen: listening at 127.0.0.1:$port" "$(ctl events --kind page-served)"
expect_match "the page" "<html" "$(page "$port/")"

note "error counters"
read_since() { ctl errors | grep -qE 'ports were read [0-3] s ago'; }
over() { ctl errors | grep -q "[1-9] over a limit"; }
expect_match "errors-interval: 0" 'have not been read yet' "$(ctl errors)"
sim_do count 'node003 HCA-1/P1' symbol-errors 3
settings "errors-interval: 1s" "errors-reset: false"
until_ 15 read_since || bad "errors-interval: $(ctl errors)"
sim_do count 'node003 HCA-1/P1' symbol-errors 3
grown() { [ "$(ctl -j errors 'node003 HCA-1/P1' --counter symbol-errors | jq '.ports[0].counters[0].total')" = 6 ]; }
until_ 10 grown || bad "errors-interval: the counter is not read again"
settings "errors-interval: 1d" "error-limits: {symbol-errors: 2}"
expect "error-limits: events" 1 "$(events_of link-errors)"
expect_match "error-limits: health" 'SymbolErrorCounter [36] in the last hour \(limit 2\)' "$(ctl health)"
settings "errors-interval: 1d"
expect "error-limits: events of ports that are fine again" 1 "$(events_of link-clean)"
expect "error-limits: health" "" "$(ctl health | grep SymbolErrorCounter)"

integrity() { on "$manager" perfquery -G $narrow_guid 1 2>&1 | sed -nE 's/^LocalLinkIntegrityErrors:\.+//p'; }
settings "errors-interval: 1s" "errors-reset: false"
sim_do count 'node004 HCA-1/P1' local-integrity-errors 14
full() { [ "$(ctl -j errors 'node004 HCA-1/P1' --counter local-link-integrity-errors | jq '.ports[0].counters[0].total')" = 14 ]; }
until_ 15 full || bad "the counter of few bits is not read"
expect "errors-reset: false" 14 "$(integrity)"
settings "errors-interval: 1s"
is_reset() { [ "$(integrity)" = 0 ]; }
until_ 15 is_reset || bad "errors-reset: the counter is $(integrity)"

note "scrubs"
expect "scrub-interval: passes by default" 0 "$(metric qosd_scrub_passes_total)"
settings "scrub-interval: 1s"
passed() { [ "$(metric qosd_scrub_passes_total)" -ge "$1" ]; }
until_ 20 passed 1 || bad "scrub-interval: no pass ends"
settings "scrub-interval: 0"
# what was asked before may still be answered
reads_rest() { reads=$(metric qosd_scrub_reads_total) && pause 0.3 && [ "$(metric qosd_scrub_reads_total)" = "$reads" ]; }
until_ 10 reads_rest || bad "scrub-interval: 0: reads go on"
pause 1.2	# in which a pass would begin
expect "scrub-interval: reads while it is off" "$reads" "$(metric qosd_scrub_reads_total)"

note "links that flap"
flap() {	# waits for each change, so that qosd misses none
	local n
	n=$(events_of link-down)
	sim_do link down "$leaf/P29"
	until_ 10 more_of link-down "$n" || bad "the link does not go down"
	n=$(events_of link-up)
	sim_do link up "$leaf/P29"
	until_ 10 more_of link-up "$n" || bad "the link does not come up"
}
settings "flap-limit: 1" "flap-window: 1h" "flap-hold: 1h"
flap
expect "flap-limit: after one time" 0 "$(events_of link-flapping)"
flap
expect "flap-limit: after two" 1 "$(events_of link-flapping)"
until_ 10 goes_not_by "$leaf/P29" || bad "the link that flaps is not held"
settings "flap-limit: 1" "flap-window: 1h" "flap-hold: 1s"
until_ 10 more_of link-steady 0 || bad "flap-hold: it is held for the former time"
until_ 10 goes_by "$leaf/P29" || bad "flap-hold: it is held for the former time"
settings "flap-limit: 1" "flap-window: 1s" "flap-hold: 1h"
flap
pause 1.2
flap
expect "flap-window: not within it" 1 "$(events_of link-flapping)"
settings "flap-limit: 1" "flap-window: 1h" "flap-hold: 1h"
flap
expect "flap-window: within it" 2 "$(events_of link-flapping)"
settings "flap-limit: 0"
until_ 10 more_of link-steady 1 || bad "flap-limit: 0: it is still held"

note "what the databases have after a restart"
# after_restart DATABASE: starts qosd with the database, and writes all events that it knows to the file events.
after_restart() {
	stop_qosd || bad "exit status $?"
	printf '%s\n' "${base[@]}" "history: $1" >qosd.yaml
	start_and_wait "$manager" -c qosd.yaml -p policy.yaml
	ctl -j events --since "$began" >events
}
after_restart "$db"
expect "starts" 2 "$(jq -r 'select(.kind == "started") | .kind' events | wc -l)"
expect "events that are there twice" "" "$(jq -r '"\(.boot) \(.id)"' events | sort | uniq -d)"
after_restart "$work/history/other.db"
expect "starts, where only what followed is" 1 "$(jq -r 'select(.kind == "started") | .kind' events | wc -l)"
expect "what followed" 1 "$(jq -r 'select(.kind == "partitions-changed") | .kind' events | wc -l)"
stop_qosd || bad "exit status $?"
stop_sim
