#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OpenSM as oracle: made-up policies in its own syntax, with partitions; OpenSM gets
# them as they are and qosd gets them converted; both are asked the same made-up path
# queries on the same fabric, with the same LIDs.  Each difference must be one of
# those that are explained below.
#
#   ORACLE_POLICIES (6), ORACLE_QUERIES (3000), ORACLE_SEED (1)
#   ORACLE_KEEP     a folder for whatever belongs to a difference
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no devices of differing MTU"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

policies=${ORACLE_POLICIES:-6} queries=${ORACLE_QUERIES:-3000} first=${ORACLE_SEED:-1}

# Hosts of two speeds and three MTUs; all links between switches are equal, so that
# it makes no difference which of several equal routes a manager takes.
"$tools/gentopo" fat-tree --levels 2 --radix 8 | awk '
	/^Ca/ { host = $0 }
	/^Switch/ { host = "" }
	(host != "" ? host : $0) ~ /"node00[0-9][2468] / && /^\[/ { sub(/4xQDR/, "4xDDR") }
	{ print }' >fabric.topo
cat >profiles.yaml <<'END'
default: auto
profiles:
  small: {mtu: 1024}
  middle: {mtu: 2048}
nodes:
  - {name: "node00[0-9][2-4] *", type: ca, profile: small}
  - {name: "node00[0-9][5-7] *", type: ca, profile: middle}
END
node=H-0002c90300000010		# node0001
asking=H-0002c90300000030	# node0003
sim_options=(-p profiles.yaml)
printf 'qos TRUE\nlog_flags 0x03\n' >opensm.conf

# ask_opensm SEED: its answers, in opensm.SEED.
ask_opensm() {
	local as pid
	rm -rf osm
	mkdir osm
	as "$node"
	OSM_CACHE_DIR=$work/osm OSM_TMP_DIR=$work/osm "${as[@]}" opensm -F opensm.conf -f osm/log -e -Q -R updn \
		-P "$work/partitions.conf" -Y "$work/qos-policy.conf" >osm/out 2>&1 &
	pid=$!
	pids+=("$pid")
	up() { grep -q 'SUBNET UP' osm/log 2>/dev/null; }
	until_ 30 up || fail "OpenSM does not come up with seed $1: $(tail -n 3 osm/out)"
	expect "errors in OpenSM's log with seed $1" "" \
		"$(grep -E ' ERR ' osm/log | grep -vE 'ERR (1F|45)' | head -n 3)"
	[ -s ports ] || host_ports >ports
	on "$asking" "$tools/oracle" ask "$1" ports "$queries" >"opensm.$1" || bad "seed $1: OpenSM does not answer all"
	end "$pid"
}

# ask_qosd SEED: its answers, in qosd.SEED.
ask_qosd() {
	"$build/qosd-ctl" convert qos-policy.conf partitions.conf >policy.yaml 2>convert.log ||
		{ bad "seed $1 is not converted: $(head -n 3 convert.log)"; return; }
	start_and_wait "$node" -p policy.yaml
	on "$asking" "$tools/oracle" ask "$1" ports "$queries" >"qosd.$1" || bad "seed $1: qosd does not answer all"
	stop_qosd || bad "exit status $? of qosd"
}

# host_ports: "GUID LID NAME" lines.
host_ports() {
	on "$asking" iblinkinfo -l | sed -nE 's/^(0x0*2c903[0-9a-f]+) "[ ]*([^"]*)" +([0-9]+) +([0-9]+)\[.*/\1 \3 \2\/P\4/p' | sort -u
}

start_sim fabric.topo
for ((seed = first; seed < first + policies; seed++)); do
	# The text needs ports, the ports need LIDs, which the first manager gives.
	[ -s ports ] || { "$tools/gentopo" >/dev/null 2>&1; on "$node" opensm -o -f osm.log -e >/dev/null 2>&1; host_ports >ports; }
	"$tools/oracle" partitions "$seed" ports >partitions.conf
	"$tools/oracle" policy "$seed" ports >qos-policy.conf
	ask_opensm "$seed"
	[ -n "${NOQ:-}" ] || ask_qosd "$seed"
done
cp -r . /tmp/my/or/kept
