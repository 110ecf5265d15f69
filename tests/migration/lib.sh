# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Common code of the tests that hold qosd against OpenSM as oracle: which end ports there are, and why two answers to
# the same path query may differ (sim-oracle.sh, sim-migration.sh).  Sourced after e2e/lib.sh.

# host_ports NODE: prints "GUID LID NAME" lines, as NODE discovers the ports of CAs.
host_ports() {
	on "$1" iblinkinfo -l | sed -nE 's/^(0x0*2c903[0-9a-f]+) "[ ]*([^"]*)" +([0-9]+) +([0-9]+)\[.*/\1 \3 \2\/P\4/p' | sort -u
}

# device_tables NODE FILE: reads the tables of all devices, see tools/dumptables.c.
device_tables() { on "$1" "$tools/dumptables" >"$2" || bad "not all tables can be read"; }

# memberships TABLES: prints "LID P_KEY MEMBERSHIP" lines, the P_Key without its high bit in decimal, the
# membership 1 (limited) or 2 (full), of the end ports whose P_Key and PortInfo blocks are in this file of device_tables.
memberships() {
	awk '
		function hex(s,  n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		# the LID is in bytes 16 and 17 of PortInfo
		$3 == "PortInfo" && $5 != "status" && hex(substr($5, 33, 4)) { lid[$1, $2] = hex(substr($5, 33, 4)) }
		$3 == "P_KeyTable" && $5 != "status" { keys[$1, $2] = keys[$1, $2] $5 }
		END {
			for (port in keys)
				for (i = 1; i < length(keys[port]); i += 4) {
					key = hex(substr(keys[port], i, 4))
					if (key % 32768 && port in lid)
						print lid[port], key % 32768, (key >= 32768 ? 2 : 1)
				}
		}' "$1"
}

# judge THEIRS OURS MEMBERS [LEVELS [ENDS]]: prints the lines where the answers of OpenSM and of qosd to the queries of
# tools/oracle.c differ for none of these reasons; MEMBERS has the lines of memberships, LEVELS is 0 if OpenSM has no
# QoS levels.  The file judged has the numbers of answers and of paths, and each reason with its number.
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
#  any-sl	The query names an SL, and OpenSM has no QoS levels, because there is no policy or
#		QoS is off: it repeats the SL that it was asked for.  Each level of qosd has an SL.
#  fdr-rate	For "less than 20 Gb/s", OpenSM says 14 Gb/s even if the ports know no speed of that family.
#  either-end	A rule for source-target-port-guid: OpenSM's manual says source or target, and qosd does that.
#		OpenSM wants both, which the verdict of the conversion says.  ENDS has "LID SL" pairs of these rules.
judge() {
	paste -d '|' "$1" <(sed 's/.* -> //' "$2") | awk -F '|' -v members="$3" -v levels="${4:-1}" -v ends="${5:-}" '
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
		function shared(key, a, b) { return is[a, key] && is[b, key] && is[a, key] + is[b, key] > 2 }
		BEGIN {
			for (i = split(ends, part, " "); i > 1; i -= 2)
				end_sl[part[i - 1]] = part[i]
			split("0 2.5 10 30 5 20 40 60 80 120 14 56 112 168 25 100 200 300 28 50", rate, " ")
			while ((getline line < members) > 0) {
				split(line, part, " ")
				if (part[3] > is[part[1], part[2]])
					is[part[1], part[2]] = part[3]
			}
		}
		# whether a rule for either end gives this path its SL
		function either(path,  sl) {
			sl = field(path, "sl")
			return (field(path, "slid") in end_sl && end_sl[field(path, "slid")] == sl) ||
				(field(path, "dlid") in end_sl && end_sl[field(path, "dlid")] == sl)
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
						else if (field(theirs, "rate") == 11 && field(ours, "rate") == 3 && most == 20)
							why = "fdr-rate"
						theirs = without(theirs, "rate"); ours = without(ours, "rate")
					}
					if (theirs != ours && either(ours)) {
						why = "either-end"
						theirs = without(theirs, "sl"); ours = without(ours, "sl")
					}
					if (theirs != ours)
						why = ""
				}
			} else if (!levels && ours ~ /^status=0x0300/ && field(query, "sl") != "" &&
				   field(theirs, "sl") == field(query, "sl"))
				why = "any-sl"
			if (why == "")
				print
			else
				explained[why]++
		}
		END {
			for (why in explained)
				text = text " " why " " explained[why]
			print compared + 0, paths + 0, text >"judged"
		}'
}
