#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `hosts --over` against routes that are followed here through the tables that infiniband-diags read, and
# `matrix` against the SLs that saquery gets.
# promise: L23
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "routes are the same on either simulator"

topology=$top/examples/cluster.topo
manager=H-f452140300811200
leaf=7cfe900300b43180 up=31
cat >policy.yaml <<'END'
port-groups:
  storage: {port-names: ["oss*/P*", "mds*/P*"]}
  idle: {port-guids: [0x1]}
  compute: {port-names: ["node*/P*"]}
qos-levels:
  default: {sl: 0}
  bulk: {sl: 3}
  slow: {sl: 2}
match-rules:
  - {source: compute, destination: storage, level: bulk}
  - {source: compute, service-id: 0x77, level: slow}
END
start_sim "$topology"
start_and_wait "$manager" -p policy.yaml
read_tables H-f452140300811230
on "$manager" ibnetdiscover >net.topo 2>/dev/null

# crossing SWITCH PORT: prints each route of a host and a LID of another that leaves the switch by the port, as
# "SOURCE-GUID DESTINATION-GUID" lines of port GUIDs.
crossing() {
	awk -v sw="$1" -v port="$2" '
		function hex(s,  n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		function bare(s) { sub(/^(0x)?0*/, "", s); return s }
		FILENAME == ARGV[1] { out[$1, hex($2)] = $3; switches[$1]; next }
		/^(Switch|Ca|Rt)[ \t]/ { match($0, /"[SHR]-[0-9a-f]+/); at = bare(substr($0, RSTART + 3, RLENGTH - 3)) }
		/^\[/ {
			match($0, /"[SHR]-[0-9a-f]+"\[[0-9]+\]/)
			far = substr($0, RSTART + 3, RLENGTH - 4)
			split(far, part, /"\[/)
			here = substr($0, 2) + 0
			next_node[at, here] = bare(part[1])
			if (match($0, /^\[[0-9]+\]\([0-9a-f]+\)/)) {
				guid = bare(substr($0, index($0, "(") + 1, RLENGTH - index($0, "(") - 1))
				match($0, /# lid [0-9]+ /)
				lid[guid] = substr($0, RSTART + 6, RLENGTH - 7) + 0
				first[guid] = bare(part[1])
			}
		}
		END {
			for (src in lid)
				for (dst in lid) {
					if (src == dst)
						continue
					at = first[src]
					for (hops = 0; at in switches && hops < 64; hops++) {
						o = out[at, lid[dst]] + 0
						if (at == sw && o == port)
							print src, dst
						at = next_node[at, o]
					}
				}
		}' lft.devices net.topo
}
# over MEMBER: prints a member of the answer.
over() { jq -r ".$1" over.json; }

note "a link between switches"
crossing $leaf $up >routes
[ -s routes ] || bad "no route crosses the link"
ctl -j hosts --over "0x$leaf/P$up" >over.json || bad "hosts: $(<over.json)"
expect "routes" "$(wc -l <routes)" "$(over 'links[0].routes')"
expect "sources, destinations" "$(cut -d' ' -f1 routes | sort -u | wc -l) $(cut -d' ' -f2 routes | sort -u | wc -l)" \
	"$(over 'links[0].sources') $(over 'links[0].destinations')"
from_source() {
	jq -r '.links[0].port as $p | .hosts[] | select(.over == $p and .as == "source") | "\(.port) \(.routes)"' over.json |
		sed -nE 's/.*\(0x0*([0-9a-f]+)\) ([0-9]+)$/\1 \2/p' | sort
}
expect "routes of each source" "$(cut -d' ' -f1 routes | sort | uniq -c | awk '{ print $2, $1 }')" "$(from_source)"
expect "routes by level" "$(over 'links[0].routes')" "$(over 'links[0] | [.levels[].routes, ."no-path"] | add')"
expect "the other direction" "$(crossing 7cfe900300b41a20 17 | wc -l)" "$(over 'links[1].routes')"

note "only those of a level"
ctl -j hosts --over 'node001 HCA-1' --level slow --service-id 0x77 >over.json || bad "hosts: $(<over.json)"
expect "by this level only" "slow slow" "$(over 'links[].levels[].level' | xargs)"
expect "from hosts of the group that the rule names" "" \
	"$(over 'hosts[] | select(.as == "source") | .port' | grep -v '^node')"
expect "to them, with --count" "2 null" "$(ctl -j hosts --over "0x$leaf/P$up" --count | jq -r '"\(.links | length) \(.hosts)"')"

note "the link of a host"
ctl hosts --over 'node001 HCA-1' >text || bad "hosts: $(<text)"
hosts=$(ctl -j ports --state active | jq '[.[] | select(.type != "switch" and .lid)] | length')
expect_match "what it sends" "^node001 HCA-1/P1 .*: $((hosts - 1)) routes from 1 host to $((hosts - 1))$" "$(head -n 1 text)"
expect_match "its levels" "^ +5  SL  3  bulk$" "$(grep bulk text)"
expect_match "rows" "^ +1  oss01 mlx5_0/P1 " "$(grep -m 1 'oss01 mlx5_0/P1' text)"
expect_match "without a link" "has no link" "$(ctl hosts --over "0x$leaf/P20" 2>&1)"
expect_match "without a port" "over is missing" "$(ctl hosts 2>&1)"
expect_match "no such level" "no such level" "$(ctl hosts --over node001 --level x 2>&1)"

note "the matrix"
# size GROUP: the hosts in it
ctl -j matrix >matrix.json || bad "matrix: $(<matrix.json)"
size() { jq --arg g "$1" '.groups[] | select(.name == $g) | .hosts' matrix.json; }
expect "hosts of a group" "$(ctl ports 'node*' --count)" "$(size compute)"
expect "of an empty one" 0 "$(size idle)"
expect "of all" "$hosts" "$(size all)"
# cell FROM TO: prints levels, SLs and numbers of pairs.
cell() { jq -r --arg f "$1" --arg t "$2" '.pairs[] | select(.from == $f and .to == $t) | [.levels[] | "\(.level) \(.sl) \(.pairs)"] | join(", ")' matrix.json; }
expect "from compute to storage" "bulk 3 $(($(size compute) * $(size storage)))" "$(cell compute storage)"
expect "within compute" "default 0 $(($(size compute) * ($(size compute) - 1)))" "$(cell compute compute)"
expect "from all to storage" "default 0 $(((hosts - 1 - $(size compute)) * $(size storage))), bulk 3 $(($(size compute) * $(size storage)))" \
	"$(cell all storage)"
lid() { ctl -j ports "$1" | jq -r --arg p "$1/P1 " '.[] | select(.name | startswith($p)) | .lid'; }
for pair in 'node001 HCA-1:oss01 mlx5_0:3' 'oss01 mlx5_0:node001 HCA-1:0' 'node001 HCA-1:node030 mlx5_0:0'; do
	IFS=: read -r src dst sl <<<"$pair"
	expect_match "the SL that saquery gets from $src to $dst" "^sl=$sl " \
		"$(record "$manager" --slid "$(lid "$src")" --dlid "$(lid "$dst")")"
done
ctl -j matrix --service-id 0x77 --from compute >matrix.json
expect "with a ServiceID" "slow 2 $(($(size compute) * ($(size compute) - 1)))" "$(cell compute compute)"
expect "sources" compute "$(jq -r '.pairs[].from' matrix.json | sort -u)"
expect "with a level" "compute storage" "$(ctl -j matrix --level bulk --from compute --to storage | jq -r '.pairs[] | .from + " " + .to')"
expect "and none" "0" "$(ctl matrix --level bulk --from storage --count)"
expect_match "the text" "^ +180   3  bulk +compute -> storage$" "$(ctl matrix --from compute --to storage | tail -n 1)"
expect_match "no such group" "to: x: the policy has no such port group" "$(ctl matrix --to x 2>&1)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
