#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd on hosts with adapters that no subnet manager can use, with one device for SMPs
# and another for GMPs, and with more adapters than fixed-size arrays have room for.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "its hosts have such adapters"

cat >profiles.yaml <<'END'
profiles:
  xdr: {smi-apart: true, no-lid-smps: true}
  vf: {smi-disabled: true}
  roce: {ethernet: true}
nodes:
  - {name: "host-0001*", profile: xdr}
  - {name: "host-0002*", profile: vf}
  - {name: "host-0003*", profile: roce}
END
sim_options=(--profiles profiles.yaml)
start_sim "fat-tree:k=4,hosts-ports=1"
xdr="host-0001 HCA-1" vf="host-0002 HCA-1" roce="host-0003 HCA-1" plain="host-0005 HCA-1"
port_guid() { sim_ctl show nodes | awk -v n="$1" 'index($0, n) { print $2; exit }' | sed 's/00$/01/'; }
all_up() { sim_ctl status | grep -q 'armed 0, init 0,'; }
said() { grep -c "$1" "$qosd_log"; }

# promise: D71
note "stock tools see such devices"
expect "devices" "sim0 sim1 sim2 sim3" "$(on "$roce;$vf;$xdr" ibstat -l | xargs)"
expect_match "an Ethernet port" "Link layer: Ethernet" "$(on "$roce" ibstat sim0)"
capmask() { on "$1" ibstat "$2" | sed -n 's/.*Capability mask: //p'; }
is_disabled() { echo $(($(capmask "$1" "$2") >> 10 & 1)); }
expect "IsSMDisabled" "1 1 0 0" "$(is_disabled "$vf" sim0) $(is_disabled "$xdr" sim0) \
$(is_disabled "$xdr" sim1) $(is_disabled "$plain" sim0)"
expect_match "smpquery on a function of SR-IOV" "Failed to open" \
	"$(on "$vf" smpquery -C sim0 nodeinfo -D 0 2>&1)"

# with_pair: tests a pair of devices: qosd sends SMPs through one and serves the SA through the other.
with_pair() {
	rm -rf state
	start_and_wait "$roce;$vf;$xdr"
	until_ 10 all_up || bad "ports are not Active"
	expect "ports passed over for Ethernet, and without an SMI" "1 1" \
		"$(said 'sim0 port 1 is skipped: its link layer is Ethernet') \
$(said 'sim1 port 1 is skipped: .*IsSMDisabled')"
	expect "the pair" 1 "$(said 'general services of sim3 port 1 are served at sim2 port 1')"
	expect "GUID" "$(printf %#x "$(port_guid "$xdr")")" "$(printf %#x "$(status guid)")"
	expect_match "sminfo" "state 3 SMINFO_MASTER" "$(on "$plain" sminfo 2>&1)"
	expect "NodeRecords" "$(status nodes)" "$(on "$plain" saquery NR 2>&1 | grep -c 'NodeRecord dump')"
	expect_match "counters" "ports" "$(ctl counters 2>&1)"
	# a second manager on the same port must refuse to start and say why
	on_own "$xdr" "$build/qosd" -1 -s other.sock -d other >other.log 2>&1 && bad "two on one port"
	expect_match "the other one" "another subnet manager" "$(<other.log)"
	stop_qosd || bad "exit status $? after SIGTERM"
}
# promise: D71
note "subnet management and general services apart"
with_pair

# promise: D71
note "a library that knows nothing of pairs"
export QOSD_SIM_NO_PAIRS=1
with_pair
unset QOSD_SIM_NO_PAIRS

# not_started NODES GUID REASON
not_started() {
	printf 'port-guid: %s\n' "$2" >qosd.yaml
	rm -rf state
	once "$1" -c qosd.yaml && bad "qosd runs on $2"
	expect_match "why not" "$3" "$(tail -n 1 once.log)"
}
# promise: D71
note "a port that is named and can't be managed"
not_started "$roce;$vf;$xdr" "$(port_guid "$vf")" "$(port_guid "$vf") .sim1 port 1. cannot be managed: .*IsSMDisabled"
not_started "$roce;$vf;$xdr" "$(port_guid "$roce")" "cannot be managed: its link layer is Ethernet"
not_started "$roce;$vf" 0 "no port can be managed; sim0 port 1"
stop_sim

# promise: D71
note "forty adapters"
sim_options=(--preset ibsim)
start_sim "fat-tree:k=8,dangling=48"
sim_ctl show nodes >nodes.list
mapfile -t dangling < <(awk '$1 == "ca" && $5 == 0 { print $2 }' nodes.list | head -n 40)
last=$(awk '$1 == "ca" && $5 > 0 { print $2; exit }' nodes.list)
expect "adapters without a link" 40 "${#dangling[@]}"
rm -rf state
once "$(printf '%s;' "${dangling[@]}")$last" || bad "no bring-up: $(tail -n 2 once.log)"
all_up || bad "ports are not Active"
stop_sim
