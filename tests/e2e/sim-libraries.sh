#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests discovery with a library that needs one more system call than the filter allows: qosd makes one
# more try without the filter and logs that, unless the configuration forbids it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's own library is given more system calls"
[ "$slow" -eq 1 ] || { echo "a sanitizer's build filters nothing"; exit 77; }
needy=$tools/needycall.so
[ -f "$needy" ] || { echo "$needy is missing: make check-programs"; exit 1; }

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat.topo || fail "gentopo"
node=$(first_ca fat.topo)
far=$(cas fat.topo | tail -n 1)
start_sim fat.topo
said() { grep -c "$1" "$qosd_log"; }
swept_again() { [ "$(status sweeps)" -gt "$1" ] && [ "$(status sweeping)" = false ]; }
plain=$own_preload

# promise: L7
note "a call that the filter lacks"
own_preload="${plain% *} $needy ${plain##* }"
echo "sweep-interval: 0" >qosd.yaml
start_and_wait "$node" -c qosd.yaml
all_active "$far" fat.topo
expect "it is said" 1 "$(said 'error: discovery: .* refused system call socket: trying once without')"
expect "and what follows" 1 "$(said 'error: discovery: works only without its sandbox')"
expect_match "health" "discovery-unconfined.*refused system call socket" "$(ctl -j health | tr -d '\n')"
before=$(status sweeps)
ctl sweep >out 2>&1 || bad "sweep: $(<out)"
until_ 20 swept_again "$before" || bad "no second sweep"
expect "refused calls, after another discovery" 1 "$(said 'refused system call socket')"
subnet_up || bad "the subnet is not up any more"
stop_qosd || bad "exit status $?"

# promise: L7
note "the same where nothing is done outside of the sandbox"
echo "sandbox: strict" >>qosd.yaml
start_qosd "$node" -c qosd.yaml
refused() { [ "$(said 'error: discovery: .* refused system call socket; not trying without')" -gt 0 ]; }
until_ 20 refused || bad "nothing is said: $(tail -n 5 "$qosd_log")"
! subnet_up || bad "the subnet is up"
expect_match "health" "discovery-refused.*refused system call socket" "$(ctl -j health | tr -d '\n')"
expect "tries without" 0 "$(said 'trying once without')"
stop_qosd || bad "exit status $?"

note "the libraries of this machine"
own_preload=$plain
rm -rf state
start_and_wait "$node" -c qosd.yaml
all_active "$far" fat.topo
expect "refused calls" 0 "$(said 'refused')"
expect "discovery in health" 0 "$(ctl -j health | grep -c discovery)"
stop_qosd || bad "exit status $?"
stop_sim
