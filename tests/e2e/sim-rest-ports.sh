#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests ports that are not in use by the REST gateway: what operators withdrew and links that flap are told, and
# are taken into service by a request.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "one simulator is enough for what clients of the gateway see"
# shellcheck source=rest/gateway.sh
. "$top/tests/e2e/rest/gateway.sh"

sm_node=H-f452140300811200
spine="MF0;spine01:SB7700/U1"

unhealthy() { rest_json app/unhealthy_ports '[.[] | .name + " " + .Condition + " " + .Action] | sort | join(", ")'; }

sim_options=()
start_sim "$top/examples/cluster.topo"
printf 'flap-limit: 2\nflap-window: 60s\nflap-hold: 60s\n' >qosd.yaml
start_and_wait "$sm_node" -c qosd.yaml
new_certificate tls
hash=$(echo secret | "$build/qosd-rest" --hash-password)
cat >rest.yaml <<END
$(served_here)
users:
  k8s: {password: "$hash", right: partitions}
  admin: {password: "$hash", right: all}
END
start_rest rest.yaml rest.log
set_policy() { rest_as admin:secret PUT "$@"; }

of_spine() { ctl -j ports "$spine" | jq -r ".[] | select(.port == $1) | $2"; }	# of_spine PORT FILTER
near() { of_spine "$1" '.guid[2:] + "_" + (.port | tostring)'; }
far() { of_spine "$1" .peer | sed -E 's/.*\/P([0-9]+) \(0x([0-9a-f]+)\)$/\2_\1/'; }
near1=$(near 1) far1=$(far 1) near2=$(near 2) far2=$(far 2)

# promise: J11
note "a link that an operator withdrew"
expect "before" '""' "$(unhealthy)"
ctl drain "$spine/P1" --reason "a cable" --wait >out 2>&1 || bad "drain: $(<out)"
expect "drained" "\"$(printf '%s MANUAL drained\n' "$near1" "$far1" | sort | paste -sd, | sed 's/,/, /')\"" "$(unhealthy)"
expect "its reason, and the far end" "\"a cable ${far1%_*}\"" "$(rest_json "app/unhealthy_ports/$near1" '.Reason + " " + .PeerGUID')"
expect_match "one that is in use" '^404 ' "$(rest GET "app/unhealthy_ports/$near2")"
expect_match "a user without the right" '^403 ' "$(rest PUT app/unhealthy_ports "{\"ports\": [\"$near1\"], \"ports_policy\": \"HEALTHY\"}")"
expect_match "no such port" '^404 .*_99' "$(set_policy app/unhealthy_ports "{\"ports\": [\"${near1%_*}_99\"], \"ports_policy\": \"HEALTHY\"}")"
expect_match "no policy" '^400 ports_policy' "$(set_policy app/unhealthy_ports "{\"ports\": [\"$near1\"], \"ports_policy\": \"FINE\"}")"
expect "released" "200 {}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$near1\"], \"ports_policy\": \"HEALTHY\"}")"
nothing_left() { [ "$(unhealthy)" = '""' ]; }
until_ 10 nothing_left || bad "still withdrawn: $(unhealthy)"
expect "by qosd-ctl" 0 "$(ctl -j withdrawn | jq '.places | length')"

ctl drain "$spine/P1" --reason "a cable" --wait >out 2>&1 || bad "drain: $(<out)"
expect "by the name of its far end" "200 {}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$far1\"], \"ports_policy\": \"HEALTHY\"}")"
until_ 10 nothing_left || bad "still withdrawn: $(unhealthy)"
ctl drain "$spine/P1" --wait >out 2>&1 || bad "drain: $(<out)"
expect "by both names" "200 {}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$far1\", \"$near1\"], \"ports_policy\": \"HEALTHY\"}")"
until_ 10 nothing_left || bad "still withdrawn: $(unhealthy)"
ctl drain "$spine" --wait >out 2>&1 || bad "drain: $(<out)"
expect_match "a port of a device" "^409 .*is out of use with the device 0x${near1%_*}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$far2\"], \"ports_policy\": \"HEALTHY\"}")"
expect "with its device" "200 {}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$far2\"], \"devices\": [\"${near1%_*}\"], \"ports_policy\": \"HEALTHY\"}")"
until_ 10 nothing_left || bad "still withdrawn: $(unhealthy)"

# promise: J11
note "a link that flaps"
for _ in 1 2 3 4; do
	sim_do link down "$spine/P2"
	down() { [ "$(of_spine 2 .peer)" = null ]; }
	until_ 5 down || bad "the link is not down"
	sim_do link up "$spine/P2"
	up() { [ "$(of_spine 2 .state)" = active ]; }
	until_ 5 up || bad "the link does not come up"
done
flaps() { [ "$(unhealthy)" = "\"$(printf '%s FLAPPING held\n' "$near2" "$far2" | sort | paste -sd, | sed 's/,/, /')\"" ]; }
until_ 10 flaps || bad "it is not told: $(unhealthy); $(ctl events --kind link-flapping)"
expect "released" "200 {}" "$(set_policy "resources/unhealthy_ports" "{\"ports\": [\"$far2\"], \"ports_policy\": \"HEALTHY\"}")"
until_ 10 nothing_left || bad "still held: $(unhealthy)"
# promise: J14 J5
note "a host that is isolated"
host=f452140300811231_1 leaf=$(ctl -j ports "node001 HCA-1/P1" | jq -r '.[0].peer' | sed -E 's/.*\/P([0-9]+) \(0x([0-9a-f]+)\)$/\2_\1/')
expect_match "a user without the right" '^403 ' "$(rest PUT app/unhealthy_ports "{\"ports\": [\"$host\"], \"ports_policy\": \"UNHEALTHY\"}")"
expect_match "the manager's own" "^409 .*own link is never isolated" "$(set_policy app/unhealthy_ports '{"ports": ["f452140300811201_1"], "ports_policy": "UNHEALTHY"}')"
expect "isolated" "200 {}" "$(set_policy "app/unhealthy_ports?force_set=true" "{\"ports\": [\"$host\"], \"ports_policy\": \"UNHEALTHY\", \"action\": \"isolate\"}")"
isolated() { [ "$(unhealthy)" = "\"$(printf '%s MANUAL isolated\n' "$host" "$leaf" | sort | paste -sd, | sed 's/,/, /')\"" ]; }
until_ 10 isolated || bad "it is not told: $(unhealthy)"
expect "by qosd-ctl" "isolated unhealthy by REST $(id -u) admin" \
	"$(ctl -j withdrawn | jq -r '.places[] | "\(.kind) \(.reason) \(.uid) \(."on-behalf-of")"')"
expect_match "as text" " by user $(id -u) \\($(id -un)\\), on behalf of admin \\(unhealthy by REST\\)" "$(ctl withdrawn)"
expect_match "in the event" " by user $(id -u) \\($(id -un)\\), on behalf of admin\$" "$(ctl events --kind isolated -n 1)"
expect "the reason" '"unhealthy by REST (says admin)"' "$(rest_json "app/unhealthy_ports/$host" .Reason)"
expect "its far end" "\"${leaf%_*}\"" "$(rest_json "app/unhealthy_ports/$host" .PeerGUID)"
left() { ! ctl -j ports "node001 HCA-1/P1" >out 2>&1; }
until_ 10 left || bad "node001 is still in the subnet"
expect_match "a switch with hosts" "^409 .*would cut off [0-9]+ other hosts" "$(set_policy app/unhealthy_ports "{\"devices\": [\"${leaf%_*}\"], \"ports_policy\": \"UNHEALTHY\"}")"
expect "released by its far end" "200 {}" "$(set_policy app/unhealthy_ports "{\"ports\": [\"$leaf\"], \"ports_policy\": \"HEALTHY\"}")"
expect_match "in the event" " by user $(id -u) \\($(id -un)\\), on behalf of admin\$" "$(ctl events --kind released -n 1)"
back() { [ "$(ctl -j ports "node001 HCA-1/P1" 2>/dev/null | jq -r '.[0].state')" = active ]; }
until_ 20 back || bad "node001 does not come back"
expect "nothing is left" '""' "$(unhealthy)"

# promise: J16
note "all that the list has is taken into service again"
# round_trip WHAT: gives each name of the list back.
round_trip() {
	expect "$1" "200 {}" "$(set_policy app/unhealthy_ports "$(rest_json app/unhealthy_ports '{ports_policy: "HEALTHY", ports: [.[].name]}')")"
	until_ 10 nothing_left || bad "$1: still withdrawn: $(unhealthy)"
	expect "$1: by qosd-ctl" 0 "$(ctl -j withdrawn | jq '.places | length')"
}
ctl drain "$spine" --wait >out 2>&1 || bad "drain: $(<out)"
round_trip "a drained switch"
expect "isolated" "200 {}" "$(set_policy app/unhealthy_ports "{\"devices\": [\"${near1%_*}\"], \"ports_policy\": \"UNHEALTHY\"}")"
absent() { ! ctl -j ports "$spine/P1" >out 2>&1; }
until_ 10 absent || bad "the switch does not leave: $(<out)"
expect_match "it is in the list" "${near1%_*}_0 MANUAL isolated" "$(unhealthy)"
round_trip "an absent switch"
there() { [ "$(of_spine 1 .state)" = active ]; }
until_ 20 there || bad "the switch does not come back"
ctl isolate "node001 HCA-1" --force >out 2>&1 || bad "isolate: $(<out)"
until_ 10 left || bad "node001 is still in the subnet"
round_trip "an absent host"
until_ 20 back || bad "node001 does not come back"
stop_qosd || bad "exit status $? after SIGTERM"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
