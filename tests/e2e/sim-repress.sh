#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests TrapRepress.  A device that takes no SMPs by LID, which XDR adapters need not, repeats its traps
# until qosd answers by directed route.  If a device lost the answer, qosd answers once more.  In simulated
# time, so that a device repeats nothing because the machine is busy.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "its devices repeat traps, and may hear nothing by LID"

simulated_time
cat >profiles.yaml <<'END'
profiles:
  deaf: {no-lid-smps: true}
nodes:
  - {name: "host-0003*", profile: deaf}
END
cat >qosd.yaml <<'END'
subnet-timeout: 16	# 268 ms between two traps
m-key: 0x1122334455667788
m-key-protect: 1
END
sim_options=(--time-stands --profiles profiles.yaml)
start_sim "fat-tree:k=4"
deaf="host-0003 HCA-1" plain="host-0005 HCA-1"
start_and_pass "host-0001 HCA-1" -c qosd.yaml

# traps: prints how many traps devices sent so far; the simulator's devices repeat a trap up to 30 times.
traps() { sim_ctl -j stats | grep -oE '"method":"trap","count":[0-9]+' | grep -oE '[0-9]+$' || echo 0; }
# sent_until_quiet NODE: makes the device send a trap; prints how often it sends it, until there is none for
# four of its intervals.
sent_until_quiet() {
	local before seen now i
	before=$(traps)
	sim_do trap "$1" 131
	for ((i = 0; i < 30; i++)); do
		seen=$(traps)
		sim_do pass 1100ms
		now=$(traps)
		[ "$seen" != "$now" ] || break
	done
	echo $((now - before))
}

# promise: D101
note "a device that hears nothing by LID"
expect_less "times that its first trap is sent" 7 "$(sent_until_quiet "$deaf")"
expect_less "times that a later one is sent" 4 "$(sent_until_quiet "$deaf")"

# promise: D101
note "an answer that is lost"
sim_do fault add drop --method trap-repress --count 1
expect_less "times that the trap is sent" 7 "$(sent_until_quiet "$plain")"

expect "SMPs that were dropped for their M_Key" "" "$(sim_ctl drops | grep -w mkey)"
stop_and_pass || bad "exit status $? after SIGTERM"
