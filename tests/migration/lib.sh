# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Common code of the tests that hold qosd against OpenSM as oracle: which end ports there are, and why two answers to
# the same path query may differ (sim-oracle.sh, sim-migration.sh).  Sourced after e2e/lib.sh.
# shellcheck disable=SC2154 # tools

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
		# whether a rule for either end gives this path another SL
		function at_end(path, sl) {
			return (field(path, "slid") in end_sl && end_sl[field(path, "slid")] != sl) ||
				(field(path, "dlid") in end_sl && end_sl[field(path, "dlid")] != sl)
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
			else if (ours ~ /^status=0x0300/ && field(query, "sl") != "" && at_end(theirs, field(query, "sl")))
				why = "either-end"
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

# judge_tables FAMILY THEIRS OURS OPTIONS: compares two files of device_tables that OpenSM and qosd left behind, and prints
# the blocks that differ for none of these reasons.  FAMILY is qos (SL2VL and arbitration tables, VLHighLimit) or pkeys.
# OPTIONS is 1 if there is an opensm.conf.
# The file judged has the number of blocks, and each reason with its number.
#
#  no-packets	The table of a port that has no link, or for packets back to the port that they came from.
#  pkey-places	A port that has no P_Keys yet gets them in another order.  Both keep the places that they find.
#  unenforced	qosd has the switch not enforce partitions at this port, since the host there is a member of all.
#  both		Without an opensm.conf, the conversion takes members that are "both" at their word, and its verdict
#		says that OpenSM takes them for full without allow_both_pkeys.
#  full-at-switch  OpenSM gives the port of a switch the limited P_Key of the host behind it, which does not match what
#		that host itself sends (10.9.3).  qosd gives it the full one.
judge_tables() {
	awk -v family="$1" -v options="$4" '
		function hex(s,  n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		function used(guid, port) { return (guid in is_switch && port == 0) || linked[guid, port] }
		# P_Keys without the empty places; "full": all as full members; sorted, for lists of few
		function keys(s, full,  n, i, j, k, list, out) {
			for (i = 1; i < length(s); i += 4) {
				k = substr(s, i, 4)
				if (full && k != "0000" && hex(substr(k, 1, 1)) < 8)
					k = substr("89abcdef", hex(substr(k, 1, 1)) + 1, 1) substr(k, 2)
				if (k == "0000")
					continue
				for (j = ++n; j > 1 && list[j - 1] > k; j--)
					list[j] = list[j - 1]
				list[j] = k
			}
			for (i = 1; i <= n; i++)
				if (list[i] != list[i - 1])
					out = out list[i]
			return out
		}
		function reason(guid, port, kind, mod, theirs, ours) {
			if (kind == "SLtoVL" && guid in is_switch &&
			    (int(hex(mod) / 256) == port || !used(guid, int(hex(mod) / 256)) || !used(guid, port)))
				return "no-packets"
			if (!used(guid, port))
				return "no-packets"
			if (kind == "P_KeyTable" && keys(theirs, 0) == keys(ours, 0))
				return "pkey-places"
			if (kind == "P_KeyTable" && !(guid in is_switch) && !options && keys(theirs, 1) == keys(ours, 1))
				return "both"
			if (kind == "P_KeyTable" && guid in is_switch && port > 0) {
				if (!enforced[guid, port])
					return "unenforced"
				if (keys(theirs, 1) == keys(ours, 0))
					return "full-at-switch"
			}
			return ""
		}
		$3 == "SwitchInfo" { is_switch[$1] }
		FILENAME == ARGV[1] && $3 == "PortInfo" { linked[$1, $2] = hex(substr($5, 66, 1)) > 1 }
		FILENAME == ARGV[2] && $3 == "PortInfo" { enforced[$1, $2] = hex(substr($5, 88, 1)) >= 4 }
		family == "qos" && $3 == "PortInfo" { $3 = "VLHighLimit"; $5 = substr($5, 77, 2) }
		family == "qos" ? $3 !~ /^(SLtoVL|VLArbitration|VLHighLimit)$/ : $3 != "P_KeyTable" { next }
		{ key = $1 " " $2 " " $3 " " $4; value = $5 $6 }
		FILENAME == ARGV[1] { theirs[key] = value; next }
		{ ours[key] = value }
		END {
			for (key in theirs) {
				compared++
				if (ours[key] == theirs[key])
					continue
				split(key, part, " ")
				why = reason(part[1], part[2], part[3], part[4], theirs[key], ours[key])
				if (why == "")
					print key, theirs[key], ours[key]
				else
					explained[why]++
			}
			for (key in ours)
				if (!(key in theirs))
					print key, "missing", ours[key]
			for (why in explained)
				text = text " " why " " explained[why]
			print compared + 0, text >"judged"
		}' "$2" "$3"
}

# judge_groups THEIRS OURS BOTH: compares the multicast groups in two outputs of `saquery MCMR`, without their MLIDs,
# which are for each manager to choose, and prints those that differ for none of these reasons.  BOTH is 1 if OpenSM
# runs with allow_both_pkeys.  The file judged has the number of OpenSM's groups, and each reason with its number.
#
#  hidden	With allow_both_pkeys, OpenSM does not find the P_Key of a full member when it compares it with a
#		group's, and so shows it no group.
#  slowest-host	The broadcast group of qosd has at most the MTU and the rate that all members have, so that each of
#		them can join.
judge_groups() {
	awk -v both="$3" '
		function hex(s,  n, i) {
			s = tolower(substr(s, 3))
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		function end_record() {
			if (mgid == "")
				return
			if (theirs_now) { theirs[mgid] = rest; mtu1[mgid] = mtu; rate1[mgid] = rate; n++ }
			else { ours[mgid] = rest; mtu2[mgid] = mtu; rate2[mgid] = rate }
			mgid = rest = ""
		}
		FNR == 1 { end_record(); theirs_now = FILENAME == ARGV[1] }
		/MCMember Record dump/ { end_record(); next }
		{ sub(/^[ \t]+/, ""); split($0, f, /\.\.+/) }
		f[1] == "MGID" { mgid = f[2]; next }
		f[1] == "mtu" { mtu = hex(f[2]); next }
		f[1] == "rate" { rate = hex(f[2]); next }
		f[1] != "mlid" { rest = rest " " $0 }
		END {
			end_record()
			for (g in theirs)
				if (theirs[g] == ours[g] && mtu1[g] == mtu2[g] && rate1[g] == rate2[g])
					continue
				else if (theirs[g] == ours[g] && mtu2[g] <= mtu1[g] && rate2[g] <= rate1[g])
					explained["slowest-host"]++
				else
					print g, mtu1[g], rate1[g] theirs[g] " | " mtu2[g], rate2[g] ours[g]
			for (g in ours)
				if (!(g in theirs) && both && !n)
					explained["hidden"]++
				else if (!(g in theirs))
					print g, "| " mtu2[g], rate2[g] ours[g]
			for (why in explained)
				text = text " " why " " explained[why]
			print n + 0, text >"judged"
		}' "$1" "$2"
}
