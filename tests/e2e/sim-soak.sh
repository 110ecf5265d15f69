#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Random faults on a fat tree: links, hosts, switches, reboots, silence, lost MADs, new
# descriptions, reloads, wishes for sweeps, several at a time and one on the other's
# heels.  After each few of them there is quiet, and then all tables must be right (qosd-sim
# check), every port Active that has a link, and no more threads, memory or open files in use
# than before.
#
#   SOAK_SECONDS=n  how long (default 25)
#   SOAK_SEED=n     the same faults again (default: seeds that once failed, then a new one)
#   SOAK_TREE=...   qosd-sim's words for a fabric (default fat-tree:k=6)
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no node that loses its tables, and no judge"

seconds=${SOAK_SECONDS:-25}
tree=${SOAK_TREE:-fat-tree:k=6}
# Nodes and links by kind, once; the manager's own link stays as it is.
survey() {
	sim_ctl show nodes | awk '$1 == "ca" { print $2 }' >cas
	sim_ctl show nodes | awk '$1 == "switch" { print $2 }' >switches
	manager=$(head -n 1 cas)
	sed -i 1d cas
	mapfile -t cas <cas
	mapfile -t switches <switches
}
pick() { local -n of=$1; echo "${of[RANDOM % ${#of[@]}]}"; }
port_of() {	# a random port of a switch that has a cable
	local ports
	mapfile -t ports < <(sim_ctl show links "$1" | sed -nE '2,$s|^[^/]*/P([0-9]+) .*|\1|p')
	[ ${#ports[@]} -eq 0 ] || echo "$1/P$(pick ports)"
}

last=
broken=()	# what is to be undone, "COMMAND..." each
one_fault() {
	local x
	if [ ${#broken[@]} -gt 5 ] || { [ ${#broken[@]} -gt 0 ] && [ $((RANDOM % 3)) -eq 0 ]; }; then
		x=$((RANDOM % ${#broken[@]}))
		did="${broken[x]}"
		unset "broken[x]"
		broken=("${broken[@]}")
	else
		case $((RANDOM % 16)) in
		0 | 1 | 2 | 3) x=$(port_of "$(pick switches)")
			[ -n "$x" ] || return
			[[ $x != "$home"/* ]] || return
			did="link down $x"; broken+=("link up $x") ;;
		4 | 5) x=$(pick cas); did="node off $x"; broken+=("node on $x") ;;
		6) x=$(pick switches); [ "$x" != "$home" ] || return
			did="node off $x"; broken+=("node on $x") ;;
		7) x=$(pick switches); [ "$x" != "$home" ] || return
			did="node reboot $x" ;;
		8) did="node reboot $(pick cas)" ;;
		9) x=$(port_of "$(pick switches)"); [ -n "$x" ] && [[ $x != "$home"/* ]] || return
			did="link flap $x --count $((RANDOM % 4 + 1)) --interval 0.0$((RANDOM % 9 + 1))" ;;
		10) x=$(pick cas); did="node silent $x"; broken+=("node answer $x") ;;
		11) did="loss $((RANDOM % 10 + 1))"; broken+=("loss 0") ;;
		12) did="node rename $(pick cas) renamed-$RANDOM" ;;
		13) kill -HUP "$qosd"; history+=("reload"); return ;;
		14) ctl sweep >/dev/null; history+=("sweep"); return ;;
		15) did="node rename $(pick switches) renamed-$RANDOM" ;;
		esac
	fi
	history+=("$did")
	# shellcheck disable=SC2086
	sim_ctl $did >/dev/null 2>ctl.err || history+=("(refused: $(head -n 1 ctl.err))")
}

is_quiet() {
	local now
	[ "$(status sweeping)" = false ] || return 1
	now=$(status generation 2>/dev/null; sim_ctl stats | md5sum)
	[ "$now" = "$last" ] && return 0
	last=$now
	return 1
}
all_right() { sim_ctl check >check.out 2>&1; }
settled() { is_quiet && all_right; }

used() {
	local rss
	rss=$(awk '/VmRSS/ { print $2 }' "/proc/$qosd/status")
	echo "$rss $(find "/proc/$qosd/fd" -mindepth 1 | wc -l)"
}

soak() {
	local end fault n=0 rounds=0
	RANDOM=$1
	history=()
	end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		for ((fault = RANDOM % 4; fault >= 0; fault--)); do
			one_fault
			n=$((n + 1))
			[ $((RANDOM % 2)) -eq 0 ] || sleep "0.0$((RANDOM % 10))"
		done
		# where MADs get lost nothing is ever quiet, and who is silent cannot be set right
		for ((fault = 0; fault < ${#broken[@]}; fault++)); do
			case ${broken[fault]} in
			loss* | 'node answer'*)
				history+=("${broken[fault]}")
				# shellcheck disable=SC2086
				sim_ctl ${broken[fault]} >/dev/null
				unset "broken[fault]"
				;;
			esac
		done
		broken=("${broken[@]}")
		last=
		until_ 40 settled || {
			bad "seed $1: not right: $(tail -n 3 check.out | tr '\n' ' ')"
			printf '   | %s\n' "${history[@]:${#history[@]} > 12 ? -12 : 0}"
			show_log "$qosd_log" ${SOAK_LINES:-15}
			return 1
		}
		gone "$qosd" && fail "seed $1: qosd is gone"
		rounds=$((rounds + 1))
	done
	note "seed $1: $n faults, $rounds times quiet"
	while [ ${#broken[@]} -gt 0 ]; do
		# shellcheck disable=SC2086
		sim_ctl ${broken[0]} >/dev/null
		broken=("${broken[@]:1}")
	done
}

note "a fabric comes up"
start_sim "$tree"
survey
home=$(sim_ctl show links "$manager" | sed -nE '2s|.* ([^ ]+)/P[0-9]+$|\1|p')
home=$(sim_ctl show nodes | awk -v name="$home" '$NF == name { print $2 }')
[ -n "$home" ] || fail "the manager's switch was not found"
start_and_wait "$manager" -p "$top/etc/policy.yaml" ${SOAK_QOSD:-}
until_ 10 settled || fail "not right from the start"

seeds=${SOAK_SEED:-"1 2 $RANDOM"}
for seed in $seeds; do
	note "seed $seed"
	[ -n "${before:-}" ] || before=$(used)
	soak "$seed" $((seconds / $(wc -w <<<"$seeds")))
	last=
	until_ 60 settled || bad "seed $seed: not right when all is repaired: $(tail -n 2 check.out)"
done
after=$(used)
note "memory and open files before: $before, after: $after"
expect "open files" "${before#* }" "${after#* }"
