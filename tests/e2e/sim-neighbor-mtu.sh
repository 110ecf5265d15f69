#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests NeighborMTU of Active links: qosd sets the same value at both ends, and the path MTU from the
# SA passes every link, even if a device keeps a smaller one.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices keep no NeighborMTU of their own"

hosts=8
manager=host-0001\ HCA-1
switch=0x0251530200000100
host() { printf 'host-%04d HCA-1' "$1"; }
sim_options=()
# mtus: prints NeighborMTU of all link ends in the simulator as "BYTES ENDS;".
mtus() {
	for port in $(seq $hosts); do
		sim_ctl -j show port "S-${switch#0x}/P$port"
		sim_ctl -j show port "$(host "$port")/P1"
	done | grep -oE '"mtu":[0-9]+' | cut -d: -f2 | sort -n | uniq -c | awk '{ printf "%s %s;", $2, $1 }'
}
lid_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
# told FROM TO: prints the MTU in bytes that the SA gives for the path between two hosts.
told() {
	local code
	code=$(record "$(host "$1")" --slid "$(lid_of "$(host "$1")")" --dlid "$(lid_of "$(host "$2")")" |
		sed -nE 's/.*mtu=([0-9]+).*/\1/p')
	echo $((code ? 128 << code : 0))
}
# passes FROM TO BYTES: the SA must give this MTU, and a packet of this size must get through.
passes() {
	expect "MTU from $1 to $2" "$3" "$(told "$1" "$2")"
	expect "a packet of $3 bytes from $1 to $2" "" \
		"$(sim_ctl path "$(host "$1")" "$(host "$2")" 0 "$3" 2>&1 | grep dropped)"
}
sweep() {
	before=$(status sweeps)
	ctl sweep >/dev/null
	swept() { [ "$(status sweeping)" = false ] && [ "$(status sweeps)" -gt "$before" ]; }
	until_ 20 swept || bad "no end of the sweep"
}

# promise: D121
note "one end or both have less than they can"
start_sim switch:$hosts,hosts=$hosts
start_and_wait "$manager"
expect "NeighborMTU" "4096 $((2 * hosts));" "$(mtus)"
sim_do portinfo "$(host 2)/P1" NeighborMTU 4
sim_do portinfo "S-${switch#0x}/P2" NeighborMTU 4
sim_do portinfo "$(host 3)/P1" NeighborMTU 4
sim_do portinfo "S-${switch#0x}/P4" NeighborMTU 3
expect_match "a packet that is too long" "NeighborMTU is 2048: dropped" \
	"$(sim_ctl path "$(host 5)" "$(host 3)" 0 4096)"
sweep
expect "NeighborMTU" "4096 $((2 * hosts));" "$(mtus)"
for far in 2 3 4; do passes 1 $far 4096; done
sim_do check

# promise: D121
note "an end that keeps a smaller one: the other follows it, and so do paths"
sim_do portinfo "$(host 5)/P1" NeighborMTU 4
sim_do portinfo "S-${switch#0x}/P6" NeighborMTU 4
sim_do node lie "$(host 5)" keeps-portinfo
sweep
expect "NeighborMTU" "2048 2;4096 $((2 * hosts - 2));" "$(mtus)"
passes 1 5 2048
passes 5 6 2048
passes 1 6 4096
sim_do check
expect_match "the log" "keeps NeighborMTU 2048 instead of 4096" "$(<"$qosd_log")"
expect_match "findings" "NeighborMTU of 1 link is smaller than both ends support" "$(ctl -j status)"
sets=$(sets)
sweep
expect "Sets of another sweep" "$sets" "$(sets)"

# promise: D121
note "it takes a greater one when it has started anew"
sim_do node lie "$(host 5)" none
reboot "$(host 5)"
greater() { [ "$(mtus)" = "4096 $((2 * hosts));" ] && subnet_up; }
until_ 20 greater || bad "NeighborMTU: $(mtus)"
passes 1 5 4096
sim_do check
