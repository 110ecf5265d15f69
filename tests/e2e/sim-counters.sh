#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl counters`, which compares devices' counters with the policy's shares: hosts
# send at full rate in the simulator, and qosd-ctl must read the same counters as perfquery.
# A table changed on a switch shows as a share that a level does not get.  Devices that lack
# counters, fall silent or answer nonsense affect only their own results.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no traffic, and no counters by VL"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
at_c='MF0;leaf01:SX6036/U1/P3'		# the out port of all packets to node003
a='node001 HCA-1/P1' b='node002 HCA-1/P1' c='node003 HCA-1/P1'
plain='node004 HCA-1/P1'		# without counters by VL and SL
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  storage: {sl: 2}
traffic-classes:
  - {level: default, share: 60%}
  - {level: storage, share: 40%}
END
cat >profiles.yaml <<'END'
profiles:
  plain: {plain-pma: true}
nodes:
  - {name: "node004 *", profile: plain}
END
sim_options=(--profiles profiles.yaml)
echo "sweep-interval: 0" >qosd.yaml

start_sim "$topology"
# A slow link to node003 keeps small the traffic that saturates it for the 2 s of reading.
sim_do link degrade "$c" 1xSDR
start_and_wait "$manager" -c qosd.yaml -p policy.yaml

leaf01=$(ctl -j ports | jq -r '.[] | select(.name | startswith("MF0;leaf01:SX6036/U1/P0 ")) | .lid')
lid_c=$(ctl -j ports | jq -r --arg c "$c" '.[] | select(.name | startswith($c)) | .lid')
expect "the far end of $at_c" "$c" "$(ctl -j ports | jq -r --arg p "$at_c " '.[] | select(.name | startswith($p)) | .peer' | sed 's/ (.*//')"

# answered ATTRIBUTE: prints how many such PMA requests devices have answered so far.
answered() { sim_ctl -j stats | jq --arg a "$1" '[.mads[] | select(.class == "pm" and .attribute == $a and .method == "get-resp") | .count] | add // 0'; }
# perf OPTIONS LID PORT: prints the values that perfquery reads, one a line.
perf() { on "$manager" perfquery "$@" 2>&1 | sed -nE '/^PortSelect/d; s/^[A-Za-z]+[0-9]*:\.*([0-9]+)$/\1/p'; }
# all ports have been asked by then
ports=$(ctl -j ports | jq '[.[] | select(.peer and (.name | test("/P0 ") | not))] | length')
began_all() { [ "$(answered PortVLOpData)" -ge $((before + ports - 3)) ]; }
began_() { [ "$(answered PortVLOpData)" -gt "$before" ]; }
# during_reading OUTPUT BEGAN SEND ARGUMENT...: runs `qosd-ctl counters ARGUMENT...`, and the function SEND once the
# function BEGAN is true.  If the machine was so busy that the last values were read before all was sent, it does so
# again with more time between the first and the last values.
apart=$((2 * slow))
during_reading() {
	local output=$1 began=$2 send=$3 reader in_time
	shift 3
	while :; do
		before=$(answered PortVLOpData)
		ctl counters "$@" --for $apart >"$output" 2>counters.err &
		reader=$!
		until_ 10 "$began" || bad "nothing is read: $(<counters.err)"
		"$send"
		! gone "$reader"
		in_time=$?
		wait "$reader" || bad "counters: $(<counters.err)"
		[ $in_time -ne 0 ] || return
		apart=$((apart * 2))
		[ $apart -le 60 ] || fail "traffic is not sent within $apart s"
	done
}
# measured PORT: node001 and node002 send to node003 at full rate, each on its own level; the output of
# qosd-ctl is in counters.json.
at_full_rate() { sim_do traffic "$a" "$c" 0 "$b" "$c" 2 --packets 10000 --times 200; }
measured() { during_reading counters.json began_ at_full_rate -j "$1" --reset; }
# vl LEVEL MEMBER: prints a member of the level's VL at the measured port.
vl() { jq -r --arg l "$1" ".ports[0].vls[] | select(.levels | index(\$l)) | $2" counters.json; }
percent() { vl "$1" "($2 * 100 | round)"; }
missing() { jq -r ".ports[0].missing[\"$1\"]" counters.json; }

# promise: V6
note "as many flows as there may be"
flows=()
for _ in {1..128}; do
	flows+=("$a" "$c" 0)
done
sim_ctl traffic "${flows[@]}" --packets 1 >out 2>&1 || bad "128 flows: $(<out)"
sim_ctl traffic "${flows[@]}" "$b" "$c" 2 --packets 1 >out 2>&1 && bad "129 flows are taken"
expect_match "why" "^traffic: too many words; usage" "$(<out)"

# promise: B4
note "perfquery reads the same"
sim_do traffic "$a" "$c" 0 "$b" "$c" 2 --packets 1000
ctl -j counters "$at_c" --for 0.01 >counters.json || bad "counters failed"
# in the order of the answer, as gojq would not have it
read_() { command jq -r ".ports[0].read[\"$1\"] | .[]" counters.json; }
near() { paste - "$1" | awk '{ d = $1 - $2; if (NF != 2 || d > 2000 || d < -2000) print NR ": " $0 } END { if (!NR) print "nothing" }'; }
perf -X "$leaf01" 3 >xmtsl
expect "values by SL" 16 "$(wc -l <xmtsl)"
expect "PortXmitDataSL, but for our own" "$(sed 1d xmtsl)" "$(read_ PortXmitDataSL | sed 1d)"
expect "PortXmitDataSL 0, within a few MADs" "" "$(read_ PortXmitDataSL | near xmtsl)"
expect_less "words on SL 2" "$(sed -n 3p xmtsl)" 100000
perf --vlxmitcounters "$leaf01" 3 >vlwait
expect "PortVLXmitWaitCounters" "$(<vlwait)" "$(read_ PortVLXmitWaitCounters)"
expect_less "ticks that VL 1 waited" "$(sed -n 2p vlwait)" 300
perf --vlopdata "$lid_c" 1 >opdata
expect "PortVLOpData, but for our own" "$(sed 1d opdata)" "$(read_ PortVLOpData | sed 1d)"
perf -x "$leaf01" 3 | head -n 4 >extended
expect "PortCountersExtended" "" "$(read_ PortCountersExtended | near extended)"
expect "what came in is what was sent" "$(sed 1d xmtsl)" "$(perf -S "$lid_c" 1 | sed 1d)"

# promise: B4
note "nothing is reset unasked, and only what is meant"
expect "SL 2 after that" "$(sed -n 3p xmtsl)" "$(perf -X "$leaf01" 3 | sed -n 3p)"
ctl counters "$at_c" --for 0.01 --reset >text || bad "counters: $(<text)"
expect "SL 2 after --reset" 0 "$(perf -X "$leaf01" 3 | sed -n 3p)"
expect "PortCountersExtended goes on" "" "$(perf -x "$leaf01" 3 | head -n 4 | near extended)"

# promise: B4
note "shares as promised"
measured "$at_c"
expect "promised" "60 40" "$(percent default .promised) $(percent storage .promised)"
expect "got" "60 40" "$(percent default .got) $(percent storage .got)"
expect "verdicts" "served served" "$(vl default .verdict) $(vl storage .verdict)"
ctl health >health || true
expect "health" "" "$(grep share-missed health)"

# promise: B4
note "a table that somebody changed"
sim_do vlarb "$at_c" low 0:255,1:1
measured "$at_c"
expect "got" "89 11" "$(percent default .got) $(percent storage .got)"
expect "verdicts" "served short" "$(vl default .verdict) $(vl storage .verdict)"
ctl health >health
expect "exit status of health" 1 $?
expect_match "health" "share-missed: MF0;leaf01:SX6036/U1/P3.*level storage got 11 % of 40 % promised while waiting" "$(<health)"
expect "event" "share-missed storage 11 40" "$(ctl -j events --kind share |
	jq -r '"\(.kind) \(.data.level) \(.data["got-percent"]) \(.data["promised-percent"])"')"
ctl counters --for 0.01 --worst 2 >text
expect "ports that --worst 2 shows" 2 "$(grep -c ' to ' text)"

# promise: B4
note "and is put right"
ctl sweep >sweep.out
right() { [ "$(vlarb "$manager" 0xf45214030090a3c0 3)" != "low: 0:255 1:1 high:" ]; }
until_ 20 right || bad "the table is not put right"
measured "$at_c"
expect "verdicts" "served served" "$(vl default .verdict) $(vl storage .verdict)"
expect "events" "share-missed share-met" "$(ctl -j events --kind share | jq -r .kind | xargs)"

# promise: B9
note "an SL that no level has"
ctl counters --for 0.01 --worst 1000 >text
expect "nothing to tell" "" "$(grep 'which no level has' text)"
on_sl_5() { sim_do traffic "$a" "$c" 5 --packets 10000; }
on_sl_5_counted() { perf -X "$leaf01" 3 >before_sl && on_sl_5 && perf -X "$leaf01" 3 >after_sl; }
during_reading counters.json began_ on_sl_5_counted -j "$at_c"
expect "SLs without a level" "[5]" "$(jq -c '.ports[0]["stray-sls"]' counters.json)"
expect "bytes on SL 5, as perfquery has them" "$((($(sed -n 6p after_sl) - $(sed -n 6p before_sl)) * 4))" \
	"$(jq '.ports[0].sls[] | select(.sl == 5) | .bytes' counters.json)"
ctl health >health || true
expect_match "health" "sl-without-level: SL 5 carries data, but no level has it: [0-9]+ bytes when last measured, sent by $at_c" "$(<health)"
during_reading text began_all on_sl_5 --worst 1000
# the host and the leaf that it shares with node003
expect "ports that say so" 2 "$(grep -c '^  data on SL 5, which no level has' text)"
expect "metrics" "2" "$(ctl metrics | sed -n 's/^qosd_stray_ports{by="sl",number="5"} //p')"
expect_match "metrics" '^[1-9][0-9.e+]*$' "$(ctl metrics | sed -n 's/^qosd_stray_sent_bytes{by="sl",number="5"} //p')"
ctl counters "$at_c" --for 0.01 >text
expect "not any more" "" "$(grep 'which no level has' text)"
ctl counters --for 0.01 >text
ctl health >health || true
expect "health" "" "$(grep sl-without-level health)"

# promise: B9
note "a device that does not count by SL: by what the far end receives by VL"
ctl policy load - --wait >load.out 2>&1 <<'END' || bad "policy load: $(<load.out)"
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}
END
on_sl_3() { sim_do traffic "$plain" "$c" 3 --packets 10000; }
during_reading text began_ on_sl_3 "$plain"
expect "in words" "  data on VL 3, which no level has: a program chose the SL" "$(grep 'which no level has' text)"
ctl health >health || true
expect_match "health" "sl-without-level: VL 3 carries data" "$(<health)"
ctl policy load policy.yaml --wait >load.out 2>&1 || bad "policy load: $(<load.out)"

# promise: B4
note "devices that lack counters, and that do not answer"
ctl -j counters "$plain" --for 0.01 >counters.json
expect "of node004" "not supported, not supported" "$(missing PortXmitDataSL), $(missing PortVLXmitWaitCounters)"
expect "nothing is made up" "[] null" "$(jq -c '.ports[0].sls' counters.json) $(jq -r '.ports[0].read.PortXmitDataSL' counters.json)"
expect_match "in words" 'PortXmitDataSL: not supported' "$(ctl counters "$plain" --for 0.01)"
sim_do node silent "${c%/*}"
ctl -j counters "$c" --for 0.01 >counters.json
expect "a node that is silent" "no answer" "$(missing PortXmitDataSL)"
sim_do node answer "${c%/*}"
for what in corrupt duplicate reorder; do
	sim_do fault add "$what" --class PM --chance 50%
	ctl -j counters --for 0.01 --worst 1000 >counters.json || bad "$what: $(head -c 300 counters.json)"
	expect "ports, with $what" "$(jq -r .asked counters.json)" "$(jq '.ports | length' counters.json)"
	sim_do fault remove all
done
expect "it serves" true "$(status subnet-up)"
expect_match "no such port" 'no such port' "$(ctl counters nobody 2>&1)"
expect_match "no such time" 'must be from' "$(ctl counters "$c" --for x 2>&1)"

# promise: B4
note "from time to time"
stop_qosd || bad "exit status $? after SIGTERM"
echo "counters-interval: 1s" >>qosd.yaml
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
counted() { ctl metrics >metrics && grep -q '^qosd_counters_ports' metrics; }
until_ 20 counted || bad "no counters among the metrics"
expect "levels" "default storage" "$(sed -nE 's/^qosd_level_sent_bytes\{level="(.*)"\} .*/\1/p' metrics | xargs)"
expect "silent" "0" "$(sed -nE 's/^qosd_counters_ports\{result="silent"\} //p' metrics)"
stop_qosd || bad "exit status $? after SIGTERM"
