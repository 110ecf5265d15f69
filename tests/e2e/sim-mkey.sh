#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests M_Keys with each protection level, over restarts, crashes, takeovers and changes of the
# key; also violations, leases, and devices with another manager's key.  smpquery with and
# without the key and the devices' violation counters show the result.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have no lease, no protection and no traps"

topology=$top/examples/cluster.topo
sim_options=()
first=H-f452140300811200
second=H-f452140300811230
far=H-248a070300a25dd0	far_guid=0x248a070300a25dd1
leaf=0xf45214030090a3c0
two_ports=H-248a070300a25e70
old=0x1122334455667701 new=0x1122334455667702 other=0x6600000000000066
mapfile -t end_ports < <(
	sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' "$topology"
	awk -F '"' '/^(Ca|Rt)/ { node = $2 } /^\[[0-9]+\]\(/ && node != "" { split($0, p, /[][]/); print node "/P" p[2] }
		/^$/ { node = "" }' "$topology")

# settings KEY PROTECT [LINE...]: writes qosd.yaml.
settings() { printf '%s\n' "m-key: $1" "m-key-protect: $2" "${@:3}" >qosd.yaml; }
up() { status_is state=master subnet-up=true sweeping=false; }
start() { start_qosd "$first" -c qosd.yaml "$@"; until_ 30 up || fail "the subnet does not come up"; }
# query KEY ARGUMENT...: prints what smpquery on the far host gets; KEY 0 for none.
query() {
	local key=() patience
	look_busy
	[ "$1" = 0 ] || key=(-y "$1")
	on "$far" smpquery -t $((100 * patience / slow)) -K "${key[@]}" -G "${@:2}" 2>&1
}
key_seen() { query "$1" portinfo "$2" "$3" | sed -nE 's/^Mkey:\.+(.*)$/\1/p'; }
# drops: prints how many SMPs devices dropped for a wrong M_Key.
drops() {
	local n
	n=$(sim_ctl -j drops --reason mkey | sed -nE 's/.*"count": ?([0-9]+).*/\1/p' | head -n 1)
	echo "${n:-0}"
}
# keys: prints the devices' M_Keys and protections with the number of each.
keys() {
	sim_ctl -j show end-ports | grep -oE '"m-key": ?"0x[0-9a-f]+", ?"m-key-protection": ?[0-9]' |
		awk -F '[":, ]+' '{ n[$3 "/" $5]++ } END { for (k in n) print n[k] ":" k }' | sort -k 2 -t : | xargs
}
all=${#end_ports[@]}

for protect in 1 2 3; do
	# promise: L4
	note "protection $protect: bring-up, restart, crash, change of policy"
	rm -rf state
	start_sim "$topology"
	settings $old $protect
	start
	expect "keys" "$all:$old/$protect" "$(keys)"
	if [ $protect = 1 ]; then
		expect "the key without the key" 0x0000000000000000 "$(key_seen 0 $far_guid 1)"
	else
		expect_match "PortInfo without the key" "timed out|[Ff]ailed|error" "$(query 0 portinfo $far_guid 1)"
	fi
	expect "the key with the key" $old "$(key_seen $old $far_guid 1)"
	expect "… of a switch" $old "$(key_seen $old $leaf 0)"
	before=$(drops)
	stop_qosd || bad "exit status $?"
	start
	stop_qosd KILL
	start
	cp "$top/etc/policy.yaml" policy.yaml
	stop_qosd
	start -p policy.yaml
	sed -i 's/weight: [0-9]*/weight: 9/' policy.yaml
	reload
	reboot "$far"
	until_ 20 up || bad "the subnet is not up after a reboot"
	rebooted() { [ "$(keys)" = "$all:$old/$protect" ]; }
	until_ 20 rebooted || bad "the rebooted host has not the key: $(keys)"
	expect "violations" "$before" "$(drops)"
	expect_match "the file of keys" "^-rw------- .*" "$(ls -l state/m-keys)"
	stop_qosd
	stop_sim
done

for protect in 1 2 3; do
	# promise: L4
	note "protection $protect: the key changes"
	rm -rf state
	start_sim "$topology"
	settings $old $protect
	start
	stop_qosd
	before=$(drops)
	# the second setting makes qosd write to all ports of switches, too
	settings $new $protect "local-phy-errors: 9" "smp-timeout: 5000"
	start
	expect "keys" "$all:$new/$protect" "$(keys)"
	# If an answer is late, qosd repeats a Set that was done: one violation, while with a wrong key each
	# try is one.
	expect_less "violations beyond what was repeated" 1 $(($(drops) - before - $(status retries)))
	expect "keys that are kept" "$new $old" "$(sed -n '/^0x/p' state/m-keys | xargs)"
	sets_then=$(table_sets)
	expect "Sets of tables" 0 "$sets_then"

	# promise: L4
	note "protection $protect: a power cut in the middle of it"
	settings $new $protect "local-phy-errors: 9"	# devices with the other key do not answer
	for having in "$first spine01 leaf03" "leaf06 spine01 $far" "$first leaf06 spine02 leaf01"; do
		stop_qosd KILL
		for port in "${end_ports[@]}"; do
			sim_do mkey "$port" $old --protect $protect
		done
		for node in $having; do
			sim_do mkey "$(sed -nE "s/^(Switch|Ca).*\"([SH]-[0-9a-f]+)\".*[;\"]${node}[:\"].*/\2/p;s/^Ca.*\"($node)\".*/\1/p" "$topology" | head -n 1)" $new --protect $protect
		done
		sim_do mkey "$two_ports/P2" $new --protect $protect
		start
		expect "keys, when $having have the new one" "$all:$new/$protect" "$(keys)"
		expect "Sets of tables" 0 "$(table_sets)"
	done
	stop_qosd

	# promise: L4
	note "protection $protect: away while the key changed, and the key goes"
	unplug "$far"
	settings $old $protect
	start
	stop_qosd
	settings 0 $protect
	start
	expect "keys" "$((all - 1)):0x0000000000000000/0 1:$new/$protect" "$(keys)"
	plug "$far"
	came() { [ "$(keys)" = "$all:0x0000000000000000/0" ] && up; }
	until_ 20 came || bad "who was away has the key of then: $(keys)"
	stop_qosd
	stop_sim
done

# change_slowly TIME LINE: starts qosd with the new key and this setting; devices delay each Set by TIME.
change_slowly() {
	rm -rf state
	start_sim "$topology"
	settings $old 3
	start
	before=$(drops)
	stop_qosd
	settings $new 3 "$2"
	sim_do fault add delay --class smp --method set --for "$1"
	start_qosd "$first" -c qosd.yaml
}

# promise: L4
note "what devices tell before they have the new key is not answered with a wrong one"
change_slowly 300ms "smp-timeout: 5000"
tells() {
	sim_do trap "$far" 131
	up
}
until_ 30 tells || bad "the subnet does not come up"
sim_do fault remove all
expect_less "violations beyond what was repeated" 1 $(($(drops) - before - $(status retries)))
expect "keys" "$all:$new/3" "$(keys)"
stop_qosd
stop_sim

# promise: L4
note "a crash while devices get another key"
change_slowly 50ms "smp-window: 1"
some() { sim_ctl -j show port "$first/P1" | grep -q $new; }
until_ 20 some || bad "no device gets the new key"
stop_qosd KILL
sim_do fault remove all
expect_match "some have either" "$old/3 .*$new/3" "$(keys)"
settings $new 3
start
expect "keys" "$all:$new/3" "$(keys)"
stop_qosd

# promise: L4
note "MADs are lost while the key changes"
sim_do loss 5
for key in $old $new; do
	settings $key 3
	start_qosd "$first" -c qosd.yaml
	lossy() { [ "$(keys)" = "$all:$key/3" ] && up; }
	until_ 60 lossy || bad "with 5 % loss: $(keys), $(tail -n 3 "$qosd_log")"
	stop_qosd
done
sim_do fault remove all

# promise: L4
note "a disk that is full"
# while the disk is full, qosd does not set the new key; when there is room again, it does
settings $old 2
echo 28 >full
as_own "$first"
"${as[@]/#LD_PRELOAD=*/LD_PRELOAD=${own_preload% *} $tools/faultydisk.so ${own_preload##* }}" \
	FAULTY_FOLDER="$work/state" FAULTY_LOG="$work/calls" FAULTY_WHILE="$work/full" \
	"$build/qosd" -F -s "$sock" -d "$work/state" -c qosd.yaml >full.log 2>&1 &
qosd_log=$work/full.log
qosd=$!
pids+=("$qosd")
until_ 20 up || bad "no service: $(tail -n 3 full.log)"
expect "keys" "$all:$new/2" "$(keys)"
expect_match "the log" "devices keep their present one" "$(<full.log)"
rm full
changed() { [ "$(keys)" = "$all:$old/2" ]; }
until_ 30 changed || bad "with room again: $(keys)"
stop_qosd

# promise: L5
note "another's M_Key: it is said, and the rest goes on"
settings $old 1
start
events() { ctl -j events 2>/dev/null | grep -c "\"$1\""; }
device=gpu01
for node in $far "S-${leaf#0x}"; do
	sim_do mkey "$node" $other --protect 1
	ctl sweep >/dev/null
	known() { [ "$(status key-mismatches)" = 1 ] && [ "$(status sweeping)" = false ]; }
	until_ 20 known || bad "another's M_Key is not seen: $(tail -n 3 "$qosd_log")"
	[ "$node" = $far ] || device=leaf01
	expect_match "health" "$device.* has an unknown M_Key" "$(ctl health 2>&1)"
	expect_match "the event" "$device.* has an unknown M_Key" "$(ctl events 2>&1)"
	expect_match "the log" "$device.* has an unknown M_Key .protection bits 1; it never expires" \
		"$(grep "unknown M_Key" "$qosd_log")"
	before=$(drops) sweeps=$(status sweeps)
	ctl sweep >/dev/null
	swept() { [ "$(status sweeps)" -gt "$sweeps" ] && [ "$(status sweeping)" = false ]; }
	until_ 20 swept || bad "no end of the sweep"
	# two SMPs for each sweep; one sweep may have begun by itself
	expect_less "SMPs to it that it refused" $((2 * ($(status sweeps) - sweeps) + 3)) $(($(drops) - before))
	expect "failed devices" 0 "$(status failed-devices)"
	# changes to partitions of other hosts send no SMP to this device
	sim_ctl drops --reset >/dev/null
	for what in "add job 'node00? HCA-1/P1'" "remove job"; do
		eval "ctl partition $what --wait" >out 2>&1 || bad "partition $what: $(<out)"
	done
	expect_less "SMPs that it refused meanwhile" 3 "$(drops)"
	if [ "$node" = $far ]; then
		expect "its key" $other "$(key_seen $other $far_guid 1)"
	else
		expect "its key" $other "$(key_seen $other $leaf 0)"
	fi
	sim_do mkey "$node" 0 --protect 0
	ctl sweep >/dev/null
	until_ 20 up || bad "it is not taken when its key is gone"
done
expect "keys" "$all:$old/1" "$(keys)"

# promise: L5
note "… its lease runs out, or it shows the key"
for protect in 0 1 3; do
	sim_do mkey "$far" $other --protect $protect --lease 2
	ctl sweep >/dev/null
	is_taken() { [ "$(keys)" = "$all:$old/1" ] && up; }
	until_ 30 is_taken || bad "with protection $protect: $(keys)"
done
stop_qosd
stop_sim

# promise: L5
note "another's M_Key where we have none"
rm -rf state
start_sim "$topology"
settings 0 1 "sweep-interval: 1s"
start
mkey_of() { sim_ctl -j show port "$1" | sed -nE 's/.*"m-key": ?"(0x[0-9a-f]+)".*/\1/p'; }
for node in $far "S-${leaf#0x}"; do
	sim_do mkey "$node" $other --protect 1
	ctl sweep >/dev/null
	until_ 10 known || bad "another's M_Key is not seen: $(tail -n 3 "$qosd_log")"
	expect "failed devices" 0 "$(status failed-devices)"
	[ "$node" != $far ] || sim_do mkey "$node" 0 --protect 0
done
# the switch's PortStateChange bit is set, and qosd cannot clear it
sim_do link down "S-${leaf#0x}/P1"
is_quiet() { [ "$(status sweeping)" = false ]; }
until_ 20 is_quiet || bad "no end of the sweep"
light() { sim_ctl stats | awk '$2 == "SwitchInfo" && $3 == "get" { n = $4 } END { print n + 0 }'; }
has_looked() { [ "$(light)" -ge "$1" ]; }
sim_ctl drops --reset >/dev/null
begin=$(light)
until_ 20 has_looked $((begin + 30)) || bad "there are no light sweeps"
# sweeps go on while the subnet is incomplete, and each sends the switch two SMPs
expect_less "SMPs that it refused meanwhile" 7 "$(drops)"
expect "its key" $other "$(mkey_of "S-${leaf#0x}/P0")"
stop_qosd
stop_sim

# promise: L6
note "violations are reported, and begin no sweep"
rm -rf state
printf '%s\n' 'profiles: {talkative: {other-notices: true, capability-notices: true}}' \
	'nodes: [{name: "*", profile: talkative}]' >profiles.yaml
sim_options=(--profiles profiles.yaml)
start_sim "$topology"
settings $old 2 "m-key-lease: 3" "sweep-interval: 0"
start
as_own H-f452140300811240
: >heard
"${as[@]}" "$tools/saclient" -k 1 listen trap=256 >heard 2>&1 &
pids+=($!)
until_ 10 grep -q ^ready heard || bad "nobody can listen: $(<heard)"
sweeps=$(status sweeps)
violations() { ctl metrics | sed -nE 's/^qosd_m_key_violations_total ([0-9]+)$/\1/p'; }
reported() { [ "$(violations)" -gt 0 ]; }
since=$SECONDS
query $other portinfo $far_guid 1 >out
until_ 10 reported || bad "no trap 256 came"
expect_match "the event" "gpu01.* received a wrong M_Key from LID [0-9]+: method 0x01, attribute 0x0015" \
	"$(ctl events --kind m-key-violation 2>&1)"
expect "keys in it" "" "$(ctl -j events | grep -i "${other#0x}")"
until_ 10 grep -q 'trap=256' heard || bad "who subscribed does not hear: $(<heard)"
for _ in 1 2 3 4 5 6; do query $other portinfo $far_guid 1 >out; done
# the first at once, then one a second at most
told=$(ctl -j events --kind m-key-violation | grep -c '"id"')
expect_less "events of $(violations) violations" $((SECONDS - since + 3)) "$told"
expect "sweeps" "$sweeps" "$(status sweeps)"

# promise: L6
note "the lease does not run out while the master is there"
sleep 5
expect_match "without the key" "timed out|[Ff]ailed|error" "$(query 0 portinfo $far_guid 1)"
expect "the key with the key" $old "$(key_seen $old $far_guid 1)"
expect "keys" "$all:$old/2" "$(keys)"
# the same without a trap
sim_do fault add drop --class smp --method trap
query 0 portinfo $far_guid 1 >out
sleep 4
expect_match "without the key, and without traps" "timed out|[Ff]ailed|error" "$(query 0 portinfo $far_guid 1)"
sim_do fault remove all
lid=$(query $old portinfo $far_guid 1 | sed -nE 's/^Lid:\.+([0-9]+)$/\1/p')
kill -STOP "$qosd"
ran_out() { [[ $(on "$far" smpquery -t 100 -K portinfo "$lid" 1 2>&1) =~ Mkey:\.+$old ]]; }
until_ 15 ran_out || bad "the lease does not run out while the master is stopped"
kill -CONT "$qosd"
again() { [ "$(keys)" = "$all:$old/2" ]; }
until_ 15 again || bad "the port is not protected again: $(keys)"
stop_qosd
stop_sim

# run NAME NODE KEY PROTECT: starts a qosd in the folder NAME.
run() {
	mkdir -p "$1"
	settings "$3" "$4"
	mv qosd.yaml "$1"
	as_own "$2"
	"${as[@]}" "$build/qosd" -F -s "$1/sock" -d "$1/state" -c "$1/qosd.yaml" >>"$1/log" 2>&1 &
	pid[$1]=$!
	pids+=("$!")
}
state_is() { [ "$(status state)" = "$1" ]; }
declare -A pid
sim_options=()
for protect in 1 3; do
	# promise: L4
	note "protection $protect: a standby takes over, and the key changes on both in turn"
	rm -rf a b
	start_sim "$topology"
	run a "$first" $old $protect
	until_ 30 of a up || bad "the first does not come up"
	run b "$second" $old $protect
	until_ 10 of b status_is state=standby registrations-held=true || bad "the second does not follow: $(tail -n 3 b/log)"
	before=$(drops)
	end "${pid[a]}" KILL
	until_ 20 of b up || bad "the second does not take over: $(tail -n 3 b/log)"
	expect "violations" "$before" "$(drops)"
	run a "$first" $new $protect
	until_ 20 of a up || bad "the first does not take it back: $(tail -n 3 a/log)"
	until_ 10 of b state_is standby || bad "the second does not stand by"
	expect "keys" "$all:$new/$protect" "$(keys)"
	end "${pid[b]}"
	run b "$second" $new $protect
	until_ 10 of b state_is standby || bad "the second does not stand by with the new key"
	end "${pid[a]}" KILL
	until_ 20 of b up || bad "the second does not take over with the new key: $(tail -n 3 b/log)"
	expect "keys" "$all:$new/$protect" "$(keys)"

	# promise: L5
	note "protection $protect: two with different keys"
	rm -rf a
	run a "$first" $other $protect
	told() { [[ $(of a ctl health 2>&1) == *M_Key* ]]; }
	until_ 30 told || bad "not told: $(of a ctl health 2>&1)"
	# the log is written by another thread, so the line may come later
	until_ 10 grep -q "m-key of qosd.yaml" a/log || bad "what it says: $(tail -n 3 a/log)"
	expect "keys" "$all:$new/$protect" "$(keys)"
	until_ 20 of b up || bad "the second is not master any more: $(tail -n 3 b/log)"
	end "${pid[a]}"
	end "${pid[b]}"
	stop_sim
done

command -v opensm >/dev/null || exit 0
for protect in 1 2; do
	# promise: L4
	note "protection $protect: OpenSM with the same key, before and after"
	rm -rf state osm
	mkdir osm
	start_sim "$topology"
	printf '%s\n' "m_key $old" "m_key_protection_level $protect" "m_key_lease_period 60" >opensm.conf
	by_opensm() {
		local as
		as "$first"
		"${as[@]}" OSM_CACHE_DIR="$work/osm" OSM_TMP_DIR="$work/osm" opensm -F opensm.conf \
			-f "$work/osm/log" -e -o >osm/out 2>&1
		expect_match "OpenSM" "SUBNET UP" "$(<osm/log)"
		expect "keys" "$all:$old/$protect" "$(keys)"
	}
	by_opensm
	before=$(drops)
	settings $old $protect "m-key-lease: 60"
	start
	expect "keys" "$all:$old/$protect" "$(keys)"
	stop_qosd
	expect "violations by qosd" "$before" "$(drops)"
	rm -f osm/log
	sim_do drops --reset
	by_opensm
	# OpenSM may get a repeated trap before it knows the device's key.
	expect "violations by OpenSM after qosd" "" \
		"$(sim_ctl drops --last 20 --reason mkey | awk '$2 == "mkey" && $4 != "trap-repress"')"
	stop_sim
done
