#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that P_Keys which devices already have keep their indexes, by which queue pairs use them,
# when another subnet manager wrote the tables or the state folder is lost.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it counts what devices are asked"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

"$tools/gentopo" fat-tree --levels 2 --radix 8 >topology
node=$(first_ca topology)
mapfile -t hosts < <(cas topology)
sim_options=()
lid_of() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
# places NODE: prints its P_Key table as "INDEX:P_KEY INDEX:P_KEY ...", without empty entries.
places() {
	on "$node" smpquery pkeys "$(lid_of "$1")" 1 2>&1 | sed -nE 's/^ *([0-9]+): (.*)$/\1 \2/p' |
		awk '{ for (i = 2; i <= NF; i++) if ($i != "0x0000") printf "%d:%s ", $1 + i - 2, $i }'
}
all_places() { for host in "${hosts[@]:0:4}"; do echo "$host $(places "$host")"; done; }
# pkey_smps METHOD: prints how many SMPs for P_Key tables devices have received.
pkey_smps() { sim_ctl stats | awk -v m="$1" '$2 == "P_KeyTable" && $3 == m { n = $4 } END { print n + 0 }'; }

cat >partitions.conf <<'END'
Default=0x7fff, ipoib: ALL=full;
low=0x0010: ALL=full;
mid=0x0020: ALL=full;
high=0x0070: ALL=full;
END
cat >policy.yaml <<'END'
partitions:
  high: {pkey: 0x70, members: {all: full}}
  new: {pkey: 0x40, members: {all: full}}
  low: {pkey: 0x10, members: {all: full}}
  mid: {pkey: 0x20, members: {all: full}}
END
# after_opensm: lets OpenSM write P_Keys and ends it; the file "theirs" gets their indexes.
after_opensm() {
	rm -rf state opensm.dir
	start_sim topology
	bring_up_opensm "$node" 30 -P partitions.conf
	end "$opensm"
	all_places >theirs
}

# promise: D120
note "after OpenSM, with an empty state folder"
after_opensm
start_and_wait "$node" -p policy.yaml
sed 's/ $/ 4:0x8040 /' theirs >wanted
all_places >ours
expect_same "P_Keys by place" wanted ours

# promise: D120
note "the state folder is lost"
sets=$(pkey_smps set)
stop_qosd || bad "exit status $?"
rm -rf state
cat >other.yaml <<'END'
partitions:
  new: {pkey: 0x40, members: {all: full}}
  high: {pkey: 0x70, members: {all: full}}
  mid: {pkey: 0x20, members: {all: full}}
  low: {pkey: 0x10, members: {all: full}}
END
gets=$(pkey_smps get)
start_and_wait "$node" -p other.yaml
# four blocks of each host and one of each switch, read once
expect "blocks that were read" $((4 * ${#hosts[@]} + $(grep -c ^Switch topology))) $(($(pkey_smps get) - gets))
all_places >ours
expect_same "P_Keys by place" wanted ours
expect "Sets of P_Key tables" "$sets" "$(pkey_smps set)"

# promise: D120
note "they are known after a restart, too"
stop_qosd || bad "exit status $?"
start_and_wait "$node" -p policy.yaml
all_places >ours
expect_same "P_Keys by place" wanted ours
expect "Sets of P_Key tables" "$sets" "$(pkey_smps set)"
stop_qosd || bad "exit status $?"
stop_sim

# promise: D120
note "another P_Key in place 0"
sed -i 's/^mid=0x0020:/mid=0x0020, indx0:/' partitions.conf
after_opensm
expect_match "OpenSM's places" '0:0x8020' "$(tail -n 1 theirs)"
start_and_wait "$node" -p policy.yaml
all_places | tail -n 3 >ours
tail -n 3 theirs | sed 's/ $/ 4:0x8040 /' >wanted
expect_same "P_Keys by place" wanted ours
sim_do check
