#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests Sets that a device does although the answer is lost: qosd must not believe that the device still
# has the former value, nor take it for a refusal when it repeats the Set.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it loses answers"

echo "sweep-interval: 0" >qosd.yaml
policy() {
	cat <<END
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: ["1:192"], low: ["0:64", "1:64"], high-limit: $1}
END
}
rests() { [ "$(status nodes)" = "$nodes" ] && [ "$(status sweeping)" = false ] && sim_ctl check >audit 2>&1; }
settled() { until_ 60 rests || bad "$1: $(status nodes) nodes of $nodes, $(tail -n 3 audit)"; }
high_limit() { port_info "$manager" "$leaf" 1 VLHighLimit; }
said() { grep -c "$1" "$qosd_log"; }

start_sim "fat-tree:k=8"
sim_ctl show nodes >nodes.list
manager=$(awk '$1 == "ca" { print $2; exit }' nodes.list)
leaf=$(awk '/leaf/ { print $2 }' nodes.list | sed -n 3p)
policy 10 >policy.yaml
start_and_wait "$manager" -c qosd.yaml -p policy.yaml
nodes=$(status nodes)
expect "VLHighLimit" 10 "$(high_limit)"

# promise: F11
note "a policy whose Sets were done, and then the one before"
sim_do fault add drop --class smp --attr PortInfo --method get-resp --at "$leaf"
policy 20 >policy.yaml
ctl reload >reload 2>&1 || bad "not reloaded: $(<reload)"
gave_up() { [ "$(said "no answer while writing")" -ge 1 ]; }	# it tries again and again
until_ 10 gave_up || bad "all devices have answered"
sim_do fault remove all
expect "VLHighLimit that nobody has confirmed" 20 "$(high_limit)"
policy 10 >policy.yaml
ctl reload >reload 2>&1 || bad "not reloaded: $(<reload)"
settled "the policy before"
expect "VLHighLimit" 10 "$(high_limit)"

# All answers to a Set that arms a port may be lost; the next answer then says that the port is Armed
# already.
# promise: F11
note "hosts that reboot while answers are lost"
mapfile -t hosts < <(awk '$1 == "ca" { print $2 }' nodes.list | tail -n 16)
for host in "${hosts[@]}"; do
	sim_do fault add drop --class smp --attr PortInfo --method get-resp --at "$host" --chance 60%
done
for host in "${hosts[@]}"; do sim_do node reboot "$host"; done
sleep 2
settled "reboots"
expect "Sets that seem to be refused" 0 "$(said "refused with status")"
sim_do fault remove all
settled "answers are lost no more"

# libibnetdisc still makes a port for this host, with no values in it.
note "a host that answers no PortInfo while all is discovered"
sim_do fault add drop --attr PortInfo --at "${hosts[0]}"
ctl sweep >/dev/null
without_it() { [ "$(status nodes)" = $((nodes - 1)) ] && [ "$(status sweeping)" = false ]; }
until_ 20 without_it || bad "it is taken for a port of one VL: $(status nodes) nodes of $nodes"
sim_do fault remove all
settled "it answers again"
stop_qosd || bad "exit status $? after SIGTERM"
