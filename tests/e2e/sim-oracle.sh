#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compares qosd with OpenSM as oracle, on random policies in OpenSM's syntax, with
# partitions.  OpenSM gets the policies as they are and qosd gets them converted.  Both get
# the same random path queries on the same fabric, with the same LIDs.  Each difference must
# be one of those that migration/lib.sh explains.
#
#   ORACLE_POLICIES, ORACLE_QUERIES, ORACLE_SEED   number of policies (6), queries for each
#                   (3000), first seed; `make oracle` takes 200 and 20,000
#   ORACLE_KEEP     folder for the files of a difference
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=../migration/lib.sh
. "$top/tests/migration/lib.sh"
only_on qosd-sim "ibsim has no devices of differing MTU"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

policies=${ORACLE_POLICIES:-6} queries=${ORACLE_QUERIES:-3000} first=${ORACLE_SEED:-1}

# Hosts have two speeds and three MTUs.  All links between switches are equal, so that the
# answers do not depend on which of several equal routes a manager takes.
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

# ask_opensm SEED: writes OpenSM's answers to opensm.SEED.
ask_opensm() {
	bring_up_opensm "$node" 10 -F opensm.conf -Q -R updn \
		-P "$work/partitions.conf" -Y "$work/qos-policy.conf"
	# 7504 and 3809: a device sent a trap from a former LID before OpenSM knew that
	expect "errors in OpenSM's log with seed $1" "" \
		"$(grep -E ' ERR ' opensm.dir/log | grep -vE 'ERR (1F|45|7504|3809)' | head -n 3)"
	device_tables "$asking" tables
	memberships tables >members
	on "$asking" "$tools/oracle" ask "$1" ports "$queries" >"opensm.$1" || bad "seed $1: OpenSM does not answer all"
	end "$opensm"
}

# ask_qosd SEED: writes qosd's answers to qosd.SEED.
ask_qosd() {
	"$build/qosd-ctl" convert qos-policy.conf partitions.conf >policy.yaml 2>convert.log ||
		{ bad "seed $1 is not converted: $(head -n 3 convert.log)"; return; }
	start_and_wait "$node" -p policy.yaml
	on "$asking" "$tools/oracle" ask "$1" ports "$queries" >"qosd.$1" || bad "seed $1: qosd does not answer all"
	stop_qosd || bad "exit status $? of qosd"
}

# promise: P3
note "OpenSM and qosd are asked the same"
start_sim fabric.topo
on "$node" opensm -o -e -f osm.log >/dev/null 2>&1	# assigns LIDs, which the policies need to name ports
host_ports "$asking" >ports
expect "ports of hosts" 32 "$(wc -l <ports)"
compared=0
for ((seed = first; seed < first + policies; seed++)); do
	"$tools/oracle" partitions "$seed" ports >partitions.conf
	"$tools/oracle" policy "$seed" ports >qos-policy.conf
	ask_opensm "$seed"
	ask_qosd "$seed"
	judge "opensm.$seed" "qosd.$seed" members >differences
	read -r n paths text <judged
	note "policy $seed: $n answers, $paths of them paths;$([ -z "$text" ] || echo " differing, and why: $text")"
	compared=$((compared + n))
	[ -s differences ] || continue
	bad "policy $seed: $(wc -l <differences) answers differ, as in $(head -n 3 differences)"
	if [ -n "${ORACLE_KEEP:-}" ]; then
		mkdir -p "$ORACLE_KEEP/$seed"
		cp differences "opensm.$seed" "qosd.$seed" ports partitions.conf qos-policy.conf policy.yaml \
			"$ORACLE_KEEP/$seed"
	fi
	done
expect "answers compared" $((policies * queries)) "$compared"
