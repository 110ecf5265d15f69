#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests OperationalVLs of Active links: a reload raises and lowers them, while no link goes down or
# retrains, and no VL in use exists at one end only; an end that keeps its value;
# `active-vls: wait`.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no flow control"

hosts=16
manager=host-0001\ HCA-1
switch=0x0251530200000100
sim_options=()
# With a long timeout, qosd does not repeat SMPs on a busy machine; without light sweeps and scrubs, nothing but a
# reload reads ports.
printf '%s\n' "smp-timeout: 5s" "sweep-interval: 0" "scrub-interval: 0" >qosd.yaml
# policy VL,VL,VL: writes a policy with these VLs for SLs 0 to 2, which drops all other SLs.
policy() {
	cat >policy.yaml <<-END
	qos-levels:
	  default: {sl: 0}
	  video: {sl: 1}
	  batch: {sl: 2}
	match-rules:
	- {qos-class: 7, level: video}
	- {qos-class: 8, level: batch}
	fabric-setup:
	  sl2vl:
	    - {group: all, table: [$1, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]}
	END
}
# vls: prints the data VLs of ports in the simulator as "VLS PORTS;".
vls() {
	for port in $(seq $hosts); do
		sim_ctl -j show port "S-${switch#0x}/P$port"
		printf '\n'
		sim_ctl -j show port "$(printf 'host-%04d HCA-1/P1' "$port")"
		printf '\n'
	done | sed -nE 's/.*"vls":([0-9]+).*/\1/p' | sort -n | uniq -c | awk '{ printf "%s %s;", $2, $1 }'
}
told() { ctl -j ports | sed -nE 's/.*"vls": ([0-9]+).*/\1/p' | sort -n | uniq -c | awk '{ printf "%s %s;", $2, $1 }'; }
# recoveries [PORT]: prints how often links retrained for lack of flow control, without the link of PORT.
recoveries() {
	for port in $(seq $hosts); do
		[ "$port" = "${1:-}" ] || sim_ctl -j show counters "S-${switch#0x}/P$port"
	done |
		grep -oE '"link-recovers":[0-9]+' | awk -F: '{ n += $2 } END { print n + 0 }'
}
# read_ports: prints how many PortInfo Gets devices have received.
read_ports() { sim_ctl stats | awk '$2 == "PortInfo" && $3 == "get" { n = $4 } END { print n + 0 }'; }
# quietly WHAT [SL,SL... [PORT|all]]: no packet may have been lost, no link may have gone down, and all tables
# must be right.  The link of PORT may have retrained as often as the duration of the sweep allows.
quietly() {
	local sls=${2:-0,1,2}
	[ "${3:-}" = all ] || expect "$1: links trained anew" 0 "$(recoveries "${3:-}")"
	expect "$1: ports taken down" 0 "$(for port in $(seq $hosts); do
		sim_ctl -j show port "S-${switch#0x}/P$port"; done |
		grep -oE '"taken-down": *[0-9]+' | grep -vc ': *0$')"
	expect "$1: packets lost on a VL" 0 "$(sim_ctl drops | grep -cE 'vl-missing|no-credit')"
	sim_ctl check --sl "$sls" >check.out 2>&1 || bad "$1: check says $(head -n 5 check.out)"
}
# watch: traces the path of data on each SL all the time, and sends packets on SL 0.
watch() {
	while :; do
		for sl in 0 1 2; do
			sim_ctl path "host-0002 HCA-1" "host-0003 HCA-1" $sl 2>&1
		done
		on "$manager" perfquery -G 0x0251530100000201 1 >/dev/null 2>&1 || echo "perfquery failed"
	done >watched
}

policy "0, 0, 0"
start_sim switch:$hosts,hosts=$hosts
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
# qosd reads four ports of the switch at a time, so reading all takes longer than 0.3 s, after which its
# links retrain without flow control.
sim_do fault add delay --method get-resp --attr PortInfo --for 150ms
expect "VLs of devices at first" "1 $((2 * hosts));" "$(vls)"
quietly "bring-up"

# promise: D122 D32
note "more VLs at a reload"
watch &
watcher=$!
pids+=("$watcher")
policy "0, 1, 2"
gets=$(read_ports)
reload
gets=$(($(read_ports) - gets))
expect "VLs of devices" "4 $((2 * hosts));" "$(vls)"
expect "VLs as qosd tells them" "4 $((2 * hosts));" "$(told)"
quietly "more VLs"
# one of each device: a second look at a few does not matter, one at each of the ports that were set would
[[ $gets -gt $hosts && $gets -lt $((2 * hosts)) ]] ||
	bad "ports that are read back: want one of each of $((hosts + 1)) devices, not all $((2 * hosts)), got $gets"
sets=$(sets)
reload
expect "Sets of a reload that changes nothing" "$sets" "$(sets)"

# promise: D32
note "fewer VLs at a reload"
policy "0, 1, 1"
reload
expect "VLs of devices" "2 $((2 * hosts));" "$(vls)"
expect "VLs as qosd tells them" "2 $((2 * hosts));" "$(told)"
quietly "fewer VLs"
end "$watcher"
expect_less "paths, for the 20 at least that were watched" "$(grep -c . watched)" 20
expect "packets that did not get through" 0 "$(grep -cE 'operational|no-credit|carries|failed' watched)"

# promise: D32
note "an end that keeps what it has"
sim_do node lie "host-0005 HCA-1" keeps-portinfo
policy "0, 1, 2"
reload
expect "VLs of devices" "2 2;4 $((2 * hosts - 2));" "$(vls)"
expect "VLs as qosd tells them" "2 2;4 $((2 * hosts - 2));" "$(told)"
# the ends of that one link differ until qosd knows that one of them keeps its value
quietly "an end that keeps what it has" 0,1 5
sets=$(sets)
ctl sweep >/dev/null
swept() { [ "$(status sweeping)" = false ] && [ "$(status sweeps)" -gt "$before" ]; }
before=$(($(status sweeps) - 1))
until_ 20 swept || bad "no end of the sweep"
expect "Sets of another sweep" "$sets" "$(sets)"
sim_do node lie "host-0005 HCA-1" none

# promise: D122
note "a switch that keeps what it has, and answers with what it was told"
sim_do node lie "S-${switch#0x}" keeps-portinfo
policy "0, 1, 1"
reload
sim_do node lie "S-${switch#0x}" none
expect "VLs of devices" "2 2;4 $((2 * hosts - 2));" "$(vls)"
expect "VLs as qosd tells them" "2 2;4 $((2 * hosts - 2));" "$(told)"
quietly "a switch that keeps what it has" 0,1 all
policy "0, 1, 2"
reload

# promise: D32
note "ends that differ are found in check, and packets there have no credit"
before=$(recoveries)
sim_do portinfo "host-0002 HCA-1/P1" OperVLs 1
sim_ctl check >check.out 2>&1 && bad "check sees no fault"
expect_match "check" 'OperationalVLs' "$(<check.out)"
expect_match "fate of a packet" 'no-credit' \
	"$(sim_ctl path "host-0003 HCA-1" "host-0002 HCA-1" 2 2>&1)"
retrained() { [ "$(recoveries)" -gt "$before" ]; }
until_ 5 retrained || bad "the link does not miss the flow control"
ctl sweep >/dev/null
mended() { [ "$(vls)" = "2 2;4 $((2 * hosts - 2));" ] && sim_ctl check --sl 0,1 >check.out 2>&1; }
until_ 20 mended || bad "it is not put right: $(vls) $(head -n 3 check.out)"

# promise: D32
note "active-vls: wait"
sim_do fault remove all
stop_qosd || bad "qosd ends with exit status $?"
echo "active-vls: wait" >qosd.yaml
policy "0, 0, 0"
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
expect "VLs of links that stayed Active" "2 2;4 $((2 * hosts - 2));" "$(vls)"
ctl links retrain "host-0004 HCA-1/P1" >/dev/null || bad "links retrain: exit status $?"
fewer() { [ "$(vls)" = "1 2;2 2;4 $((2 * hosts - 4));" ] && subnet_up; }
until_ 20 fewer || bad "the link that was trained does not have fewer VLs: $(vls)"
sim_do check

# promise: A79
note "what an end keeps is read by each light sweep, and not written again"
stop_qosd || bad "qosd ends with exit status $?"
echo "sweep-interval: 1" >qosd.yaml
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
sim_do node lie "host-0005 HCA-1" keeps-portinfo
policy "0, 1, 2"
reload
grep -q "host-0005.* keeps OperationalVLs" "$qosd_log" || bad "it takes what it is told"
sets=$(sets)
sleep 3.5
expect "Sets in three light sweeps" "$sets" "$(sets)"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
