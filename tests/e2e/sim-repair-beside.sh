#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that qosd routes around failed links beside switches that answer but do not do all Sets: one has
# another manager's M_Key, others take long for a Set.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have no protection, and answer at once"

sim_options=()
manager="host-0001 HCA-1"
old=0x1122334455667701 new=0x1122334455667702 other=0x6600000000000066
audited() { sim_ctl check >audit 2>&1; }
silent() { ctl -j health | jq '[.problems[] | select(.kind == "device-silent")] | length'; }
well() { status_is subnet-up=true sweeping=false && [ "$(silent)" = 0 ] && audited; }
seen() { ctl -j events --kind "link-$1" | grep -q core-001; }
fell_silent() { ctl -j events --kind device-silent | grep -c spine-003; }
set_up() { [ "$(status sweeps)" -gt "$sweeps" ] && [ "$(status nodes)" = "$nodes" ] && well; }
known() { [ "$(status key-mismatches)" = "$1" ] && [ "$(status sweeping)" = false ]; }

for scrub in 0 2; do
	# promise: A96
	note "a switch with another's M_Key: what others have to do is done (scrub-interval $scrub)"
	rm -rf state
	printf '%s\n' "m-key: $old" "m-key-protect: 1" "sweep-interval: 2" "scrub-interval: $scrub" >qosd.yaml
	start_sim fat-tree:k=4,levels=3
	start_and_wait "$manager" -c qosd.yaml
	sim_do mkey spine-003 $other --protect 1
	ctl sweep >/dev/null
	until_ 20 known 1 || bad "another's M_Key is not seen: $(tail -n 3 "$qosd_log")"
	# this also changes a route of spine-003
	sim_do link down core-001/P4
	until_ 15 audited || bad "core-001/P4 is not repaired: $(tail -n 3 audit)"
	sim_do link up core-001/P4
	until_ 15 audited || bad "with the link again: $(tail -n 3 audit)"
	until_ 15 known 1 || bad "no end of the sweeps"
	sim_do mkey spine-003 0 --protect 0
	ctl sweep >/dev/null
	until_ 15 well || bad "it is not taken when its key is gone: $(ctl health 2>&1 | head -n 3)"
	# qosd must not take a table that it has not written yet for an overwritten one
	expect "tables that were overwritten" "" "$(ctl events --kind table-overwritten)"
	stop_qosd
	stop_sim
done

# promise: A96
note "a switch that takes long for Sets"
rm -rf state
printf '%s\n' "sweep-interval: 2" "scrub-interval: 2" >qosd.yaml
start_sim fat-tree:k=4,levels=3
start_and_wait "$manager" -c qosd.yaml
# longer than a local sweep waits for a device that may be silent, shorter than for others
sim_do fault add delay --class smp --method set --at spine-003 --for 400ms
sim_do link down core-001/P4
until_ 20 seen down || bad "nobody sees that core-001/P4 is down"
until_ 20 well || bad "core-001/P4 is down: $(tail -n 3 audit), $(ctl health 2>&1 | head -n 3)"
# the sweep that measured the delay may have made some of these Sets; now one sweep makes all
before=$(fell_silent) sweeps=$(status sweeps) nodes=$(status nodes)
sim_do node reboot spine-003
until_ 40 set_up || bad "spine-003 is not set up: $(tail -n 3 audit), $(ctl health 2>&1 | head -n 3)"
expect "times that it was taken to be silent while it was set up" "$before" "$(fell_silent)"
expect "tables that were overwritten" "" "$(ctl events --kind table-overwritten)"
stop_qosd
stop_sim

# promise: A96
note "a host that was away while the key changed, and takes long for Sets"
rm -rf state
printf '%s\n' "m-key: $old" "m-key-protect: 1" >qosd.yaml
start_sim fat-tree:k=4,levels=3
start_and_wait "$manager" -c qosd.yaml
stop_qosd
sim_do link down "host-0016 HCA-1"
printf '%s\n' "m-key: $new" "m-key-protect: 1" "smp-timeout: 5s" "sweep-interval: 2" >qosd.yaml
start_and_wait "$manager" -c qosd.yaml
sim_do drops --reset
# longer than the first timeouts of brief SMPs: an eighth of smp-timeout, then doubled
sim_do fault add delay --class smp --method set --at "host-0016 HCA-1" --for 1500ms
sim_do link up "host-0016 HCA-1"
has_key() { sim_ctl -j show port "host-0016 HCA-1/P1" | grep -q "$new"; }
until_ 30 has_key || bad "the host has not the new key"
until_ 30 well || bad "the host is not set up: $(tail -n 3 audit), $(ctl health 2>&1 | head -n 3)"
expect "devices with another's key" "" "$(ctl events --kind device-key-mismatch)"
expect "SMPs with a wrong key" "" "$(sim_ctl drops --last 20 --reason mkey | awk '$2 == "mkey"')"
stop_qosd
stop_sim
