#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests PathRecord and MultiPathRecord while the fabric and the policy change: links and
# hosts go down and come up, policies that drop other SLs are loaded, a partition comes and
# goes.  After each change, the reference (tests/tools/pathref.c) reads the devices anew, and
# every answer of qosd must be equal to its own.  An answer during a change must be entirely
# true before or entirely true after the change.  The simulator follows some of the paths.
# If several changes overlap, answers are checked only after the last one.
#
#   PATHREF_ROUNDS, PATHREF_QUERIES, PATHREF_SEED   default 12, 500 after each change, 1
#   PATHREF_MEANWHILE   maximum of queries during a change, default 5000
#   PATHREF_FABRICS     topologies, each with its LMC: TOPOLOGY@LMC
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim cuts every answer to one record"

rounds=${PATHREF_ROUNDS:-12} queries=${PATHREF_QUERIES:-500} seed=${PATHREF_SEED:-1}
meanwhile=${PATHREF_MEANWHILE:-5000}
read -ra topologies <<<"${PATHREF_FABRICS:-fat-tree:k=4,routers=3@1}"
sim_options=()

# tell ORDER...: sends an order to pathref and waits until it is done; $said gets differences and walks.
tell() {
	printf '%s\n' "$*" >&"$orders"
	heard "done"
}
heard() {
	local line
	while IFS= read -r -t 900 line <&"$answers"; do
		[ "$line" = "$1" ] && return
		printf '%s\n' "$line" >>"$said"
	done
	fail "pathref has ended: $(tail -n 3 "$said" pathref.err)"
}

in_force() {
	[ "$(status change)" = "$(status change-in-force)" ] && [ "$(status sweeping)" = false ]
}
is_swept() { in_force && [ "$(status sweeps)" -gt "$sweeps" ]; }
# The links of a rebooted switch train for longer than settled waits, and a trap may be lost on its way
# through that switch: the simulator's ports tell whether qosd knows all links.
all_trained() {
	local active
	active=$(sim_ctl -j status | jq '.ports | select(.init == 0) | .active')
	status_is "ports-active=$active" "ports-linked=$active"
}
# settled: waits until the change is published and qosd is idle.
settled() {
	local last
	until_ 60 is_swept || bad "no sweep after: $change"
	for ((;;)); do
		until_ 60 all_trained || bad "ports that are not Active after: $change"
		last=$(status sweeps)
		sleep 0.7
		in_force && all_trained && [ "$(status sweeps)" = "$last" ] && return
	done
}

# links_between_switches: prints a port of each such link whose ends both have further links to switches.
links_between_switches() {
	local guid
	sim_ctl show nodes | awk '
		{ type = $1; guid = $2; for (i = 0; i < 7; i++) sub(/^[^ ]+ +/, ""); print type "\t" guid "\t" $0 }' |
		tail -n +2 >all.nodes
	awk '$1 == "switch" { print $2 }' all.nodes | while read -r guid; do
		sim_ctl show links "$guid" | sed "s/^/$guid /"
	done | awk -F '\t' '
		function node(port) { sub(/\/P[0-9]+$/, "", port); return port }
		FNR == NR { is_end[$3] = $1 != "switch"; same[$3]++; next }
		$0 !~ /^0x[0-9a-f]+ plugged/ { next }
		{
			guid = substr($0, 1, 18)
			for (i = 0; i < 5; i++)
				sub(/^[^ ]+ +/, "")
			split($0, end, /  +/)
			if (is_end[node(end[2])])
				next
			degree[node(end[1])]++
			nr = end[1]
			sub(/.*\//, "", nr)
			port[++n] = guid "/" nr
			from[n] = node(end[1])
			to[n] = node(end[2])
		}
		END {
			for (i = 1; i <= n; i++)
				if (degree[from[i]] / same[from[i]] > 1 && degree[to[i]] / same[to[i]] > 1)
					print port[i]
		}' all.nodes -
}
# port_guid NODE: prints the GUID of the node's first port with a cable.
port_guid() { sim_ctl -j show port "$1" | grep -oE '"guid": ?"0x[0-9a-f]+"' | grep -oE '0x[0-9a-f]+'; }

# change_something KIND: makes a change, or undoes one: if something is down, it comes up again.
change_something() {
	case $1 in
	0 | 2 | 4)
		if [ -n "$down" ]; then
			change="link up $down"
			sim_do link up "$down"
			down=
		else
			down=${links[RANDOM % ${#links[@]}]}
			[ $((RANDOM % 3)) -ne 0 ] || down=${hosts[4 + RANDOM % (${#hosts[@]} - 4)]}
			change="link down $down"
			sim_do link down "$down"
		fi
		;;
	1 | 5)
		policy=$((seed + (policy - seed + 1) % 4))
		change="policy $policy"
		cp "policy.$policy" policy.yaml
		ctl reload --force >reload.out 2>&1 || bad "reload: $(<reload.out)"
		;;
	reboot)
		change="reboot of ${switches[RANDOM % ${#switches[@]}]}"
		sim_do node reboot "${change##* }"
		;;
	3)
		if [ -n "$is_part" ]; then
			change="partition remove" is_part=
			ctl partition remove run --force >partition.out 2>&1 || bad "$change: $(<partition.out)"
		else
			change="partition add" is_part=1
			ctl partition add run --pkey 0x2222 "${members[@]:0:3}" "${members[3]}=limited" \
				"${members[4]}=limited" --force >partition.out 2>&1 ||
				bad "$change: $(<partition.out)"
		fi
		;;
	esac
}

# several_at_once: makes several changes without waiting between them; a switch also loses its tables.
several_at_once() {
	local all='' kind
	for kind in 0 1 reboot 3 2; do
		change_something "$kind"
		all+="${all:+, }$change"
	done
	change=$all
}

walk_some() {
	local walks n=0 src dst sl
	mapfile -t walks < <(grep '^walk ' "$said" |
		shuf -n 12 --random-source=<(yes "$seed$round"))
	grep -v '^walk ' "$said" >"$said.other"
	[ ! -s "$said.other" ] ||
		bad "$fabric, round $round, $change: $(head -n 30 "$said.other")"
	: >"$said"
	for walk in "${walks[@]}"; do
		read -r _ src dst sl <<<"$walk"
		sim_ctl path "$src" "$dst" "$sl" >walk.out 2>&1 ||
			bad "$fabric, round $round, path $src $dst $sl: $(tail -n 3 walk.out)"
		((n++))
	done
	walked=$((walked + n))
}

# promise: S1 F1
note "links, hosts, policies and a partition change"
for fabric in "${topologies[@]}"; do
	topology=${fabric%@*} lmc=${fabric##*@}
	note "$fabric"
	RANDOM=$seed
	down='' policy=$seed is_part='' walked=0
	start_sim "$topology"
	mapfile -t nodes < <(sim_ctl show nodes | awk '$1 == "ca" && $5 > 0 { print $2 }')
	printf >qosd.yaml '%s\n' "lmc: $lmc" "prefix-routes:" \
		"  - {prefix: 0xfec0000000000001, router: any}"
	for ((s = seed; s < seed + 4; s++)); do
		on_own "${nodes[0]}" "$tools/pathref" policy "$s" >"policy.$s" ||
			fail "no policy $s"
	done
	cp "policy.$seed" policy.yaml
	start_and_wait "${nodes[0]}" -c qosd.yaml -p policy.yaml
	change=nothing sweeps=0
	settled
	mapfile -t switches < <(sim_ctl show nodes | awk '$1 == "switch" { print $2 }')
	# the querying host and the master stay up
	asks=${nodes[1 + (${#nodes[@]} / 2 + seed) % (${#nodes[@]} - 1)]}
	mapfile -t links < <(links_between_switches)
	mapfile -t hosts < <(printf '%s\n' "${nodes[@]}" | grep -vxE "${nodes[0]}|$asks")
	((${#hosts[@]} > 4)) || fail "$fabric: too few hosts"
	members=()
	for node in "$asks" "${hosts[@]:0:4}"; do
		members+=("$(port_guid "$node")")
	done
	said=$work/said
	: >"$said"
	as_own "$asks"
	coproc PATHREF { "${as[@]}" "$tools/pathref" live "$seed" 2>pathref.err; }
	pids+=("$PATHREF_PID")
	orders=${PATHREF[1]} answers=${PATHREF[0]} pathref=$PATHREF_PID
	tell "view $policy"
	tell "ask $queries"
	change=nothing round=0
	walk_some
	for ((round = 1; round <= rounds; round++)); do
		printf 'meanwhile %s\n' "$meanwhile" >&"$orders"
		heard asking
		sweeps=$(status sweeps)
		if ((round % 8 == 7)); then
			several_at_once
		else
			change_something $((round % 6))
		fi
		settled
		printf '\n' >&"$orders"
		heard "done"
		((round % 8 != 7)) || tell "forget 0"
		tell "view $policy"
		tell "ask $queries"
		walk_some
		[ -z "${PATHREF_VERBOSE:-}" ] || note "$round: $change"
	done
	printf 'end 0\n' >&"$orders"
	cat <&"$answers" >result
	note "${fabric##*/}, seed $seed, $rounds changes, $walked walks:"
	grep . result
	wait "$pathref" || bad "exit status $? of pathref: $(tail -n 2 pathref.err)"
	stop_qosd || bad "exit status $? of qosd"
	rm -rf state
	stop_sim
done
