#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests reloading qosd.yaml: what takes effect at once, what needs a restart and is named until then, and
# a bad file, which changes nothing.
# promise: L21
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "reloading settings has nothing to do with the simulator"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
problem() { ctl health | grep -o "$1"; }
# settings LINE...: writes qosd.yaml.
settings() { printf '%s\n' "smp-timeout: 5s" "policy-watch: false" "$@" >qosd.yaml; }

note "the manual marks what the table marks"
sed -nE 's/^\t\{ "([a-z0-9-]+)", .*, LIVE \},$/\1/p' "$top/src/config/read_settings.c" | sort >live.table
sed -nE 's/^\.It Cm ([a-z0-9-]+) : .* No \\\(dg$/\1/p' "$top/man/qosd.yaml.5" | sort >live.manual
expect_match "settings that are reloaded" '^[1-9][0-9]+$' "$(wc -l <live.table)"
expect_same "settings that are reloaded, by table and manual" live.table live.manual

start_sim "$topology"
settings
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
END
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "priority" 0 "$(status priority)"

note "settings that take effect at once"
cat >told <<END
#!/bin/sh
echo "\$QOSD_EVENT_KIND" >>"$work/told.out"
END
chmod +x told
settings "priority: 7" "log-level: debug" "sweep-interval: 1s" "event-command: $work/told" "services-per-port: 12" \
	"counters-interval: 1s"
expect "exit status of reload" 0 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what reload says" \
	'in force now: priority, sweep-interval, services-per-port, event-command, counters-interval, log-level' "$(<reload)"
expect "what needs a restart" "" "$(grep restart reload)"
expect "priority" 7 "$(status priority)"
expect_match "the limit of services" '(^|[^0-9])12([^0-9]|$)' "$(ctl -j holdings | grep -A6 '"services"')"
ctl partition add told all >out 2>&1 || bad "partition add: $(<out)"
until_ 10 grep -qs partitions-changed told.out || bad "the event command does not run"
expect "events from before it" "" "$(grep -E 'started|subnet-up' told.out)"
light() { grep -qE ' debug: ' "$qosd_log"; }
until_ 5 light || bad "the log has no debug messages"
expect "the state in health" "" "$(problem settings)"
expect "the rest, by -j" '"settings-need-restart": []' "$(ctl -j reload | grep -oE '"settings-need-restart": \[\]')"

note "settings that need a restart"
settings "priority: 7" "lmc: 1" "smp-window: 32"
expect "exit status of reload" 0 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what reload says" 'need a restart: lmc, smp-window' "$(<reload)"
expect_match "health" 'settings-need-restart|changes lmc, smp-window' "$(ctl health)"
expect_match "the log" 'lmc: .* needs a restart' "$(<"$qosd_log")"
kill -HUP "$qosd"		# says the same
said_twice() { [ "$(grep -c 'lmc: .* needs a restart' "$qosd_log")" -ge 2 ]; }
until_ 5 said_twice || bad "SIGHUP does not say what needs a restart"
settings "priority: 7"
kill -HUP "$qosd"
back() { [ -z "$(problem smp-window)" ]; }
until_ 5 back || bad "health still has what was changed back"

note "a bad file"
settings "priority: 3" "smp-windo: 3"
before=$(status checksum)
sed -i 's/default:/other: {sl: 1}\n  default:/' policy.yaml
expect "exit status of reload" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what reload says" 'qosd.yaml:4:1: error: .*smp-windo.*smp-window' "$(<reload)"
expect_match "what reload says" 'the settings file was refused' "$(<reload)"
expect "priority" 7 "$(status priority)"
expect "the policy" "$before" "$(status checksum)"
expect_match "health" 'qosd.yaml:4:1: ' "$(ctl health)"
settings "priority: 3"
expect "exit status of reload" 0 "$(ctl reload >reload 2>&1; echo $?)"
expect "priority" 3 "$(status priority)"
replaced() { [ "$(status checksum)" != "$before" ]; }
until_ 5 replaced || bad "the policy is the former one"
expect "health" "" "$(problem 'qosd.yaml:[0-9]*')"

note "a file that lost its text"
: >qosd.yaml
expect "exit status of reload" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what reload says" 'qosd.yaml: error: is empty; it had settings when the daemon started' "$(<reload)"
expect "priority" 3 "$(status priority)"
settings "priority: 4"
expect "exit status of reload" 0 "$(ctl reload >reload 2>&1; echo $?)"
expect "priority" 4 "$(status priority)"

note "a marker that is required with the policy that lacks it"
before=$(status checksum)
sed -i 's/other: {sl: 1}/another: {sl: 1}/' policy.yaml
settings "priority: 5" "policy-end-marker: true"
expect "exit status of reload" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what reload says" "policy.yaml: error: does not end with a line '\.\.\.', which 'policy-end-marker'" "$(<reload)"
expect "the policy" "$before" "$(status checksum)"
expect "priority" 4 "$(status priority)"
echo ... >>policy.yaml
expect "exit status of reload" 0 "$(ctl reload >reload 2>&1; echo $?)"
until_ 5 replaced || bad "the policy with a marker is not in force"
expect "priority" 5 "$(status priority)"
stop_qosd || bad "exit status $?"
stop_sim
