#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests floods of MADs from one, three and many ports, of each kind that a host can send: the daemon's
# memory stays bounded, other clients are served, a link failure is noticed, the log stays short, and
# health names the sender.  tests/bench/attack measures times; the bounds here hold on any machine.
#
#   ATTACK_SECONDS=n  duration, in rounds (default: one round of a few seconds)
#   ATTACK_SEED=n     seed of the random numbers (default: a new one, printed)
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim does not take such rates"
[ -x "$tools/madattack" ] || { echo "$tools/madattack is missing: make check-programs"; exit 1; }

seed=${ATTACK_SEED:-$RANDOM}
until=$((SECONDS + $(attack_seconds 0)))
kib_max=$((64 * 1024))		# growth over the idle daemon, as in man/qosd-security.7
manager="host-0001 HCA-1"
host() { printf 'host-%04d HCA-1' "$1"; }
sim_options=()

# without an M_Key, any host can set the P_Key table of the manager's port and so cut off all other hosts
echo "m-key: 0x5d1f00d5" >qosd.yaml
start_sim fat-tree:k=8
start_and_wait "$manager" -c qosd.yaml
sim_ctl show nodes | awk '/HCA-1/ { print $2 }' | sed 's/0$/1/' >guids
lid() { sim_ctl show nodes | grep -F "$(host "$1")" | awk '{ print $3 }'; }
memory() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$qosd/status"; }
discovery() { ctl -j status | field discovery; }
idle=$(memory VmRSS) first=$(discovery)
note "seed $seed, idle $idle KiB"

# flood PORTS SECONDS RATE KIND...: starts floods from hosts 20, 21, … at once; they end by themselves.
floods=()
flood() {
	local ports=$1 seconds=$2 rate=$3 i as
	shift 3
	floods=()
	for ((i = 0; i < ports; i++)); do
		as_own "$(host $((20 + i)))"
		# the senders run at lower priority, as if they had machines of their own
		"${as[@]}" nice -n 10 "$tools/madattack" -t "$seconds" -r "$rate" -s $((seed + i)) -g guids \
			-R 1,5,5,1,1,1 \
			"$@" >"flood.$i" 2>&1 &
		floods+=($!)
		pids+=($!)
	done
}
flood_ends() {
	local child
	for child in "${floods[@]}"; do
		wait "$child" || bad "$1: $(head -n 1 flood.*)"
	done
	sed 's/.*sent=//; s/ .*//' flood.* | awk -v what="$1" '{ n += $1 } END { print "   " what ": " n " MADs" }'
	rm -f flood.*
}
# beside WHAT: during the flood, the manager must serve other clients and notice a failing link.
beside() {
	local begin=${EPOCHREALTIME/./} events from to
	ctl status >/dev/null || bad "$1: the control socket does not answer"
	expect_quick "status beside $1" 1000 "$begin"
	from=$(lid 100) to=$(lid 1)
	# a query may be lost when the simulator's queue to the daemon is full
	asks() { on_own "$(host 100)" "$tools/pathquery" get path slid="$from" dlid="$to" >query 2>&1; }
	until_ 10 asks || bad "$1: a path query is not answered: $(<query)"
	events=$(ctl -j events --kind link-down | wc -l)
	seen() { [ "$(ctl -j events --kind link-down | wc -l)" -gt "$events" ]; }
	sim_do link down "core-001/P5"
	begin=${EPOCHREALTIME/./}
	until_ 5 seen || bad "$1: a link that fails is not seen"
	# If the driver had no room for the trap, the device repeats it a second later; bench/attack has the
	# figures.
	expect_quick "a failing link beside $1" 2000 "$begin"
	sim_do link up "core-001/P5"
}
bounded() {
	local kib=$(($(memory VmHWM) - idle))
	echo "   $1: $kib KiB, $(status sweeps) sweeps, $(wc -l <"$qosd_log") lines"
	[ "$slow" -gt 1 ] || expect_less "KiB over the idle daemon after $1" "$kib_max" "$kib"
}
named() { ctl -j health | jq -r '.problems[] | select(.kind == "mad-flood") | .text' | grep -qE "$1"; }

round() {
	# promise: A20 A25
	note "traps, from one port and from three"
	flood 1 2 0 trap:128 trap:any
	until_ 5 named "$(host 20).* traps" || bad "health does not name who floods: $(ctl health)"
	beside "a flood of traps"
	flood_ends "traps from one port"
	flood 3 2 0 trap:any trap:129 trap:144 trap:145
	beside "traps from three ports"
	flood_ends "traps from three ports"
	bounded "traps"

	# promise: A22
	note "claims of subnet managers that are not there begin no discovery"
	local smps sweeps
	settled() { [ "$(status sweeping)" = false ]; }
	until_ 10 settled || bad "the sweeps have no end"
	smps=$(discovery) sweeps=$(status sweeps)
	flood 3 2 0 claim:1 claim:2 claim:3 sminfo
	until_ 5 named "host-002[0-2] .*SMInfo" || bad "health does not name who floods: $(ctl health)"
	beside "claims"
	flood_ends "claims"
	# earlier traps may cause one or two discoveries
	expect_less "SMPs of discovery" $((smps + 3 * first)) "$(discovery)"
	expect_less "sweeps" $((sweeps + 8)) "$(status sweeps)"
	flood 1 1 0 control:1 control:5
	flood_ends "controls"
	bounded "SMInfo"

	# promise: A70
	note "path queries as fast as three ports can ask"
	flood 3 2 0 query
	sleep 0.5
	beside "path queries"
	flood_ends "path queries"

	# promise: A20
	note "all else that a host can send, from many ports at once"
	flood 24 2 2000 query sa inform join table segment ack reportresp getresp class smp routed \
		trap:any sminfo
	beside "all kinds"
	flood_ends "all kinds"
	bounded "all kinds"
}

# promise: A24 A71
note "40 subscribers that do not answer hold up no Report"
dead=()
for ((i = 41; i <= 80; i++)); do
	on_own "$(host $i)" "$tools/saclient" subscribe trap=65 resp=20 >/dev/null 2>&1 &
	dead+=($!)
done
wait "${dead[@]}"
as_own "$(host 127)"
"${as[@]}" "$tools/saclient" -t 60 listen trap=65 >listen 2>&1 &
pids+=($!)
until_ 5 grep -q ready listen || bad "nobody listens: $(<listen)"
hears() { [ "$(wc -l <listen)" -gt "$1" ]; }
for ((i = 1; i <= 2; i++)); do
	begin=${EPOCHREALTIME/./}
	sim_do link down "$(host $((110 + i)))"
	until_ 20 hears "$i" || bad "a Report does not come"
	expect_quick "Report $i beside 40 that nobody answers" 1500 "$begin"
done

round
note "who is silent is told when the Reports to them have timed out"
# floods of InformInfo also leave silent subscribers
silent() { ctl -j health | jq -r '.problems[] | select(.kind == "subscriber-silent") | .text'; }
is_named() { silent | grep -qE "^host-00(4[1-9]|[5-7][0-9]|80) .* QP 1 has not answered Reports"; }
are_counted() { [ "$(silent | sed -n 's/^\([0-9]*\) more silent subscribers$/\1/p')" -ge 30 ]; } 2>/dev/null
until_ 30 is_named || bad "health does not name who is silent: $(ctl health)"
until_ 30 are_counted || bad "health does not count who is silent: $(ctl health)"

while [ "$SECONDS" -lt "$until" ]; do
	seed=$((seed + 100))
	round
done

# promise: A20 A26
note "the log is short, and the end comes when it is asked for"
awk '{ minute = substr($0, 1, 16); sub(/^[^ ]* [^ ]* /, ""); gsub(/0x[0-9a-f]+|[0-9]+/, "N"); n[minute " " substr($0, 1, 30)]++ }
	END { for (x in n) if (n[x] > 100) print n[x], x }' "$qosd_log" >loud
expect "causes with more than 100 lines in a minute" "" "$(head -n 3 loud)"
flood 3 4 0 trap:any claim:3 sa query
sleep 0.5
begin=${EPOCHREALTIME/./}
stop_qosd || bad "exit status $? after SIGTERM"
expect_quick "SIGTERM beside a flood" 1000 "$begin"
end_flood() {
	local child
	for child in "${floods[@]}"; do
		end "$child"
	done
}
end_flood

# failed LINK: takes the link down and waits for the event.
failed() {
	local events
	events=$(ctl -j events --kind link-down | wc -l)
	seen() { [ "$(ctl -j events --kind link-down | wc -l)" -gt "$events" ]; }
	sim_do link down "$1"
	begin=${EPOCHREALTIME/./}
	until_ 30 seen
}
settled() { status_is subnet-up=true sweeping=false; }

# promise: A85
note "traps are lost beside a flood: switches are asked for their changes"
printf 'm-key: 0x5d1f00d5\nsweep-interval: 0\n' >qosd.yaml
start_and_wait "$manager" -c qosd.yaml
sim_do fault add drop --class smp --method trap
flood 3 20 0 sminfo
until_ 5 named "host-002[0-2] .*SMInfo" || bad "the flood is not seen: $(ctl health)"
failed "core-002/P5" || bad "a link that fails is not seen"
end_flood
sim_do fault remove all
sim_do link up "core-002/P5"

# promise: A86
note "end nodes that do not answer hold up no repair"
until_ 20 settled || bad "the subnet does not come to rest"
for ((i = 65; i <= 80; i++)); do
	sim_do fault add drop --class smp --method get --at "$(host $i)"
done
traps() { for ((i = 65; i <= 80; i++)); do on_own "$(host $i)" "$tools/madattack" -n 1 -g guids trap:144 >/dev/null; done; }
traps
asks() { [ "$(status sweeping)" = true ]; }
until_ 5 asks || bad "no sweep for their traps"
failed "core-003/P5" || bad "a link that fails is not seen while they are asked"
expect_quick "a failing link while silent hosts are asked" 2000 "$begin"
stop_qosd || bad "exit status $?"
