#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Compares qosd with OpenSM as oracle, on random policies in OpenSM's syntax, with
# partitions.  OpenSM gets the policies as they are and qosd gets them converted.  Both get
# the same random path queries on the same fabric, with the same LIDs.  Each difference must
# be one of those explained below.
#
#   ORACLE_POLICIES, ORACLE_QUERIES, ORACLE_SEED   number of policies (6), queries for each
#                   (3000), first seed; `make oracle` takes 200 and 20,000
#   ORACLE_KEEP     folder for the files of a difference
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
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

# host_ports: prints "GUID LID NAME" lines.
host_ports() {
	on "$asking" iblinkinfo -l | sed -nE 's/^(0x0*2c903[0-9a-f]+) "[ ]*([^"]*)" +([0-9]+) +([0-9]+)\[.*/\1 \3 \2\/P\4/p' | sort -u
}

# judge SEED: prints the lines where the answers differ for none of these reasons:
#
#  rate-exact	OpenSM refuses a path that is faster than the requested rate.  A faster path
#		can be used at a lower static rate (9.11.1), as OpenSM itself allows for
#		the MTU.
#  lower-rate	For "less than" a rate, OpenSM takes the previous rate in a table of its own,
#		which is not always the greatest lower rate.
#  life-0	For a lifetime "less than" 1, OpenSM finds no path, although lifetime 0 exists.
#  way-back	OpenSM looks up the return path in the policy with the ends swapped, so a rule
#		with a source or a destination decides whether a path is reversible.
#		Its answers use one SL in both directions (13.5.4), which no switch drops.
#  any-pkey	The query names no P_Key, and the ends share several.  OpenSM takes the lowest
#		number; qosd takes the default partition first, like the ports' tables.
judge() {
	paste -d '|' "opensm.$1" <(sed 's/.* -> //' "qosd.$1") | awk -F '|' '
		function field(text, name) {
			if (!match(" " text, " " name "=[^ ]*"))
				return ""
			return substr(text, RSTART + length(name) + 1, RLENGTH - length(name) - 2)
		}
		function without(text, name) { sub("(^| )" name "=[^ ]*", "", text); return text }
		function hex(s,  n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		# The membership of a port in a partition: 0 none, 1 limited, 2 full.
		function member(lid, key) {
			if (key == 32767)
				return 2
			return ((key, lid) in is) ? is[key, lid] : all[key] + 0
		}
		function shared(key, a, b) { return member(a, key) && member(b, key) && member(a, key) + member(b, key) > 2 }
		BEGIN {
			split("0 2.5 10 30 5 20 40 60 80 120 14 56 112 168 25 100 200 300 28 50", rate, " ")
			while ((getline line < "ports") > 0) {
				split(line, part, " ")
				lid_of[part[1]] = part[2]
			}
			while ((getline line < "partitions.conf") > 0) {
				if (!match(line, /=0x[0-9a-f]+/) || line ~ /^Default/)
					continue
				key = hex(substr(line, RSTART + 3, RLENGTH - 3))
				n = split(substr(line, index(line, ":") + 1), part, /[ ,;]+/)
				for (i = 1; i <= n; i++) {
					split(part[i], who, "=")
					m = who[2] == "full" ? 2 : 1
					if (who[1] == "ALL")
						all[key] = m
					else if (who[1] in lid_of)
						is[key, lid_of[who[1]]] = m
				}
			}
			# In OpenSM, one item with full membership makes the port a full member.
			for (k in is) {
				split(k, part, SUBSEP)
				if (all[part[1]] > is[k])
					is[k] = all[part[1]]
			}
		}
		{
			split($1, half, " -> ")
			query = half[1]; theirs = half[2]; ours = $2; why = ""
			compared++
			if (theirs !~ /^status/)
				paths++
			if (theirs == ours)
				next
			if (ours !~ /^status/) {
				if (theirs ~ /^status=0x0300/) {
					exact = match(query, /rate==[0-9]+/) ? substr(query, RSTART + 6, RLENGTH - 6) : ""
					if (exact != "" && field(ours, "rate") == exact)
						why = "rate-exact"
					else if (query ~ /life=<1( |$)/ && field(ours, "life") == 0)
						why = "life-0"
					else if (query ~ / reversible/ && field(ours, "reversible") == 1)
						why = "way-back"
				} else if (theirs !~ /^status/) {
					if (field(theirs, "reversible") != field(ours, "reversible") && field(ours, "reversible") == 1)
						why = "way-back"
					theirs = without(theirs, "reversible"); ours = without(ours, "reversible")
					if (theirs != ours && query !~ / pkey=/ && field(theirs, "pkey") != field(ours, "pkey") &&
					    shared(hex(substr(field(ours, "pkey"), 3)) % 32768, field(ours, "slid"), field(ours, "dlid"))) {
						why = "any-pkey"
						theirs = without(theirs, "pkey"); ours = without(ours, "pkey")
					}
					if (theirs != ours && match(query, /rate=<[0-9]+/)) {
						most = rate[substr(query, RSTART + 6, RLENGTH - 6)]
						if (rate[field(ours, "rate")] < most && rate[field(ours, "rate")] > rate[field(theirs, "rate")])
							why = "lower-rate"
						theirs = without(theirs, "rate"); ours = without(ours, "rate")
					}
					if (theirs != ours)
						why = ""
				}
			}
			if (why == "")
				print
			else
				explained[why]++
		}
		END {
			for (why in explained)
				text = text " " why " " explained[why]
			print compared, paths, text >"judged"
		}'
}

# promise: P3
note "OpenSM and qosd are asked the same"
start_sim fabric.topo
on "$node" opensm -o -e -f osm.log >/dev/null 2>&1	# assigns LIDs, which the policies need to name ports
host_ports >ports
expect "ports of hosts" 32 "$(wc -l <ports)"
compared=0
for ((seed = first; seed < first + policies; seed++)); do
	"$tools/oracle" partitions "$seed" ports >partitions.conf
	"$tools/oracle" policy "$seed" ports >qos-policy.conf
	ask_opensm "$seed"
	ask_qosd "$seed"
	judge "$seed" >differences
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
