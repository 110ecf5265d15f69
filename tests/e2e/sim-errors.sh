#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl errors`, health, events and metrics of links with errors: ports count errors in the
# simulator, and perfquery and ibqueryerrors must see the same numbers.  Time is the simulator's.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim counts no errors"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
bad='node003 HCA-1/P1'
far='MF0;leaf01:SX6036/U1/P3'
narrow='node004 HCA-1/P1'		# counters of 4 to 32 bits
cat >profiles.yaml <<'END'
profiles:
  narrow: {narrow-pma: true}
nodes:
  - {name: "node004 *", profile: narrow}
END
cat >qosd.yaml <<'END'
sweep-interval: 0
errors-interval: 20
error-limits: {qp1-dropped: 5}
END
simulated_time
sim_options=(--time-stands --profiles profiles.yaml)
start_sim "$topology"
start_and_pass "$manager" -c qosd.yaml

lid() { ctl -j ports | jq -r --arg p "$1 " '.[] | select(.name | startswith($p)) | .lid'; }
lid_bad=$(lid "$bad") lid_narrow=$(lid "$narrow") lid_leaf=$(lid "${far%/P3}/P0")
# reading: lets the next reading pass.
reading() { sim_do pass 21s; }
# counters PORT: counter and total of each counter of the port that has errors.
counters() { ctl -j errors "$1" | jq -r '.ports[].counters[] | select(.counter != "xmit-wait") | "\(.["iba-name"]) \(.total)"'; }
# one PORT COUNTER MEMBER: a member of one counter of a port.
one() { ctl -j errors "$1" --counter "$2" | jq -r --arg m "$3" '.ports[0].counters[0][$m]'; }
# ask PROGRAM OPTION...: runs a client while time passes; its output is in the file asked.
ask() {
	on "$manager" "$@" >asked 2>&1 &
	local client=$!
	pids+=("$client")
	until_passed 20 gone "$client" || bad "$*: does not end"
	wait "$client"
}
# perf LID PORT [-x]: what perfquery says of counters with errors, by the names of qosd-ctl.
perf() {
	ask perfquery ${3+"$3"} "$1" "$2"
	sed -nE 's/^(SymbolErrorCounter|LinkErrorRecoveryCounter|LinkDownedCounter|PortRcvErrors|PortRcvRemotePhysicalErrors|PortXmitDiscards|PortXmitConstraintErrors|LocalLinkIntegrityErrors|ExcessiveBufferOverrunErrors|VL15Dropped|QP1Dropped):\.*([0-9]+)$/\1 \2/p' asked |
		grep -v ' 0$'
}

# promise: C3
note "nothing wrong"
ctl errors >text || bad "errors: $(<text)"
expect "before the first reading" "0 ports with errors; counters have not been read yet" "$(<text)"
reading
ctl errors >text || bad "errors: $(<text)"
expect_match "text" '^0 ports with errors; [0-9]+ ports were read [0-9]+ s ago, 0 over a limit$' "$(<text)"
ctl health >health
expect "health" "" "$(grep link-errors health)"

# promise: C3
note "perfquery and ibqueryerrors see the same"
for port in "$bad" "$narrow"; do
	sim_do count "$port" symbol-errors 1234
	sim_do count "$port" link-recovers 9
	sim_do count "$port" rcv-errors 10
	sim_do count "$port" local-integrity-errors 3
	sim_do count "$port" buffer-overrun-errors 4
	sim_do count "$port" vl15-dropped 7
	sim_do count "$port" xmit-constraint-errors 8
	sim_do count "$port" qp1-dropped 5
done
sim_do count "$far" rcv-remote-physical-errors 99
sim_do count "$far" xmit-discards 77
reading
counters "$bad" >counted
expect "counters with errors" 8 "$(wc -l <counted)"
expect "by the 64-bit attribute" "$(perf "$lid_bad" 1 -x | sort)" "$(sort counted)"
# of the 32-bit attribute, perfquery 44 shows VL15Dropped as QP1Dropped
no_qp1() { grep -v QP1 | sort; }
expect "by the 32-bit attribute" "$(perf "$lid_bad" 1 | no_qp1)" "$(no_qp1 <counted)"
expect "of a device with 32 bits" "$(perf "$lid_narrow" 1 | no_qp1)" "$(counters "$narrow" | no_qp1)"
expect "of it, too" "QP1Dropped 5" "$(counters "$narrow" | grep QP1)"
expect "of a switch" "$(perf "$lid_leaf" 3 | no_qp1)" "$(counters "$far" | sort)"
ask ibqueryerrors
sed -nE 's/^ *GUID (0x[0-9a-f]+) port ([0-9]+): .*/\1 \2/p' asked | sort >theirs
ctl -j errors | jq -r '.ports[] | "\(.guid) \(.port | sub(".*/P(?<n>[0-9]+) .*"; "\(.n)"))"' | sort >ours
expect "ports with errors" "$(<theirs)" "$(<ours)"
expect "how many" 3 "$(wc -l <ours)"
expect "both rows say what they are" "$bad $far" "$(ctl -j errors "$bad" | jq -r '.ports[0] | "\(.port) \(.peer)"' | sed 's/ ([^)]*)//g')"

# promise: C4
note "a limit: health, events, metrics"
ctl health >health
expect "exit status of health" 1 $?
expect_match "health" "link-errors: $bad .*, linked to $far .*: SymbolErrorCounter 1234 in the last hour \(limit 10\), for [0-9]+ s" "$(grep "link-errors: $bad" health)"
expect "a counter at its limit is not over it" "" "$(grep -E 'PortRcvErrors|RemotePhysical|QP1Dropped' health)"
expect "ports over a limit" 2 "$(grep -c link-errors: health)"
expect "events" "node003 HCA-1/P1 node004 HCA-1/P1" "$(ctl -j events --kind link-errors | jq -r .data.name | sort | sed 's/ ([^)]*)//' | xargs)"
expect "the far end in the event" "$far" "$(ctl -j events --kind link-errors | jq -r '.data | select(.name | startswith("node003")) | .["far-name"]' | sed 's/ (.*//')"
ctl metrics >metrics
expect "metrics: ports" 2 "$(sed -n 's/^qosd_errors_ports_over_limit{counter="symbol-errors"} //p' metrics)"
expect "metrics: sum" 2468 "$(sed -n 's/^qosd_port_errors_total{counter="symbol-errors"} //p' metrics)"
expect_match "metrics: the port" "counter=\"symbol-errors\",port=\"$bad .*\",peer=\"$far .*\"} 1234" "$(grep '^qosd_port_errors_last_hour' metrics)"
sim_do count "$bad" rcv-errors 1
sim_do count "$bad" qp1-dropped 1
reading
ctl health >health
expect_match "one more than the limit" "link-errors: $bad.*SymbolErrorCounter .*, PortRcvErrors 11 in the last hour \(limit 10\), QP1Dropped 6 in the last hour \(limit 5\)" "$(<health)"

# promise: C3
note "which ports, in which order"
sim_do count "$far" xmit-discards 20000
reading
names() { ctl -j errors "$@" | jq -r '.ports[].port' | sed 's/ (.*//' | xargs -d '\n'; }
expect "the worst first" "$far $bad $narrow" "$(names)"
expect "by name" "$far $bad $narrow" "$(names --sort name)"
expect "by total" "$far $bad $narrow" "$(names --sort total)"
expect "the worst by one counter" "$bad $narrow" "$(names --sort name --counter symbol-errors)"
expect "a node" "$bad" "$(names node003)"
expect "a pattern" "$bad $narrow" "$(names 'node00*')"
expect "a port" "$far" "$(names "$far")"
expect "the port beside it" "" "$(names "${far%3}4")"
expect "switches" "$far" "$(names --type switch)"
expect "counters over their limit" "xmit-discards" "$(ctl -j errors "$far" --over | jq -r '.ports[].counters[].counter' | xargs)"
expect "their number" 3 "$(ctl -j errors --count | jq .count)"
expect_match "no such counter" "counter: .*'symbol'.*symbol-errors" "$(ctl errors --counter symbol 2>&1)"
expect_match "no such node" 'no such node' "$(ctl errors nobody 2>&1)"

# promise: C3
note "a counter that would stop is reset, and no other; the total goes on"
sim_do count "$narrow" local-integrity-errors 9
reading
expect "12 of 15: before it stops" "LocalLinkIntegrityErrors 12" "$(counters "$narrow" | grep Local)"
expect "on the device" "" "$(perf "$lid_narrow" 1 | grep Local)"
expect "others on the device" "SymbolErrorCounter 1234" "$(perf "$lid_narrow" 1 | grep Symbol)"
sim_do count "$narrow" local-integrity-errors 5
reading
expect "the total" "LocalLinkIntegrityErrors 17" "$(counters "$narrow" | grep Local)"
expect "in the hour" 17 "$(one "$narrow" local-link-integrity-errors last-hour)"
sim_do count "$narrow" local-integrity-errors 40
reading
expect "stopped before it was read: at least" "LocalLinkIntegrityErrors 27" "$(counters "$narrow" | grep Local)"
ask perfquery -R "$lid_narrow" 1
sim_do count "$narrow" symbol-errors 6
reading
expect "reset by another program" "SymbolErrorCounter 1240" "$(counters "$narrow" | grep Symbol)"

# promise: C3
note "packets that a bad cable damages"
sim_do fault add damage --at "$bad" --class pm
reading
sim_do fault remove all
expect "silent" 1 "$(ctl -j errors --count | jq .silent)"
reading
expect "symbol errors" 1237 "$(one "$bad" symbol-errors total)"
expect "receive errors" 14 "$(one "$bad" rcv-errors total)"
expect "silent" 0 "$(ctl -j errors --count | jq .silent)"
expect "its far end is sound" "null" "$(one "$far" symbol-errors total)"

# promise: C3
note "clear"
ctl errors clear "$bad" >cleared 2>&1 &
clear=$!
until_passed 10 gone "$clear" || bad "errors clear does not end"
expect "errors clear" "1 port cleared" "$(<cleared)"
expect "errors" "" "$(names "$bad")"
expect "event" "$bad" "$(ctl -j events --kind link-clean | jq -r .data.name | sed 's/ (.*//')"
expect "health" "" "$(ctl health | grep "link-errors: $bad")"
expect "by the 64-bit attribute" "" "$(perf "$lid_bad" 1 -x)"
expect "by the 32-bit attribute" "" "$(perf "$lid_bad" 1)"
expect_match "others stay" 'LinkErrorRecoveryCounter 9' "$(counters "$narrow")"
sim_do count "$bad" symbol-errors 2
reading
expect "what comes then" "SymbolErrorCounter 2" "$(counters "$bad")"
ctl errors clear >cleared 2>&1 &
clear=$!
until_passed 10 gone "$clear" || bad "errors clear does not end"
expect "all" "204 ports cleared" "$(<cleared)"
expect "errors" "" "$(names)"
ask ibqueryerrors
expect "ibqueryerrors" "" "$(grep 'GUID .* port' asked)"
stop_and_pass

# promise: C3
note "counters are left alone, if so set; no reading"
printf 'errors-reset: false\n' >>qosd.yaml
start_and_pass "$manager" -c qosd.yaml
reading
sim_do count "$narrow" local-integrity-errors 14
reading
reading
expect "on the device" "LocalLinkIntegrityErrors 14" "$(perf "$lid_narrow" 1)"
sim_do count "$narrow" local-integrity-errors 14
reading
expect_match "stopped" 'LocalLinkIntegrityErrors +>=15, 15 in the last hour' "$(ctl errors "$narrow")"
stop_and_pass
sed -i 's/^errors-interval.*/errors-interval: 0/' qosd.yaml
start_and_pass "$manager" -c qosd.yaml
reading
expect "nothing is read" "0 ports with errors; counters have not been read yet" "$(ctl errors)"
stop_and_pass
