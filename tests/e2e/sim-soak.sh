#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests random faults on fat trees and, with each engine, on other shapes, with two subnet managers: links,
# hosts, switches, reboots, silence, MADs that are lost, late or duplicated, slow links, new descriptions,
# policies, partitions, joins and leaves, managers that are killed, frozen and cut off, several at a time
# and in quick succession.  After every few faults, the test waits for quiet and checks: the right manager
# is master, all tables are right (qosd-sim check), every linked port is Active, no LID has changed, no
# manager took an Active port down, registrations are there unless qosd asked clients to register again,
# and no more open files and children are in use than before.
#
#   SOAK_SECONDS=n  duration (default 12)
#   SOAK_SEED=n     seed of the faults (default: seeds that once failed, then new ones)
#   SOAK_TREE=...   fabric in qosd-sim's notation (default: each of those below in turn)
#   SOAK_ROUTING=.. routing engines on the fabric of SOAK_TREE (default: updn)
#   SOAK_PRESET=... preset of its devices (default: qosd-sim's default)
#   SOAK_KILLS=no   managers are not ended or frozen, to measure their memory
#   SOAK_USAGE=file appends memory (KiB), open files and threads of both managers at every quiet moment
#   SOAK_KEEP=dir   folder for the logs of a failed seed
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no node that loses its tables, and no judge"

seconds=${SOAK_SECONDS:-12}
# Fabrics with their routing engines.  Those that are not trees stay connected without any three
# links or switches.
fabrics=("fat-tree:k=6,aggregation=1" "fat-tree:k=36,levels=2"	# 648 hosts
	"torus:5x4,hosts=2 [grid, layered]" "hyperx:4x4,slow=20:4xQDR [grid, layered]"
	"dragonfly:a=4,h=2,p=1,g=5 [layered]" "dragonfly:a=4,h=2,p=1,g=5 [dragonfly, layered]"
	"torus:5x4,hosts=2,lose=3@2 auto")
[ -z "${SOAK_TREE:-}" ] || fabrics=("$SOAK_TREE${SOAK_ROUTING:+ $SOAK_ROUTING}")
sim_options=()
[ -z "${SOAK_PRESET:-}" ] || sim_options=(--preset "$SOAK_PRESET")
usage=${SOAK_USAGE:-$work/usage}
kept_s=2	# registrations older than this, in seconds, are on disk and replicated to the standby
group=ff12:401b:ffff::77

# any NAME...: sets $picked to a random element of an array.  (In a subshell, $RANDOM would not follow the
# seed.)
any() {
	local -n of_=$1
	picked=${of_[RANDOM % ${#of_[@]}]}
}
port_of() {	# sets $picked to a cabled port of a switch that does not lead to a manager
	local ports
	mapfile -t ports < <(sim_ctl show links "$1" | sed -nE '2,$s|^([^/]*)/P([0-9]+) .*|\2|p')
	picked=
	[ ${#ports[@]} -gt 0 ] || return 1
	any ports
	picked=$1/P$picked
	[ "$picked" != "${home[a]}" ] && [ "$picked" != "${home[b]}" ]
}
# where NODE: prints the switch port that the node is connected to.
where() {
	local end
	end=$(sim_ctl show links "$1" | sed -nE '2s|.* ([^ ]+/P[0-9]+)$|\1|p')
	echo "$(sim_ctl show nodes | awk -v name="${end%/P*}" '$NF == name { print $2 }')/${end##*/}"
}

# --- managers: a has precedence ---

declare -A home node pid ill
of() { local sock=$1.sock; "${@:2}"; }
well() { [ -z "${ill[$1]:-}" ]; }
other() { [ "$1" = a ] && echo b || echo a; }
best() { if well a; then echo a; else echo b; fi; }
starts() { sed -n '/ qosd: port 0x/p' "$1.log" 2>/dev/null | wc -l; }
# start_manager: starts qosd again until it has its port: qosd ends if no port is connected, and systemd would
# restart it.
start_manager() {
	local as started
	opened() { [ "$(starts "$1")" -gt "$started" ]; }
	started=$(starts "$1")
	as_own "${node[$1]}"
	# shellcheck disable=SC2086
	"${as[@]}" "$build/qosd" -F -s "$1.sock" -d "$1.state" -c settings.yaml -p policy.yaml ${SOAK_QOSD:-} \
		>>"$1.log" 2>&1 &
	pid[$1]=$!
	pids+=("$!")
	until_ 10 opened "$1" || bad "$1 has no port: $(tail -n 1 "$1.log")"
}
# An undo command is "COMMAND..." for the simulator, or "manager WHAT a|b".
manager() {
	case $1 in
	start) start_manager "$2"; ill[$2]= ;;
	thaw) kill -CONT "${pid[$2]}"; ill[$2]= ;;
	join) sim_do link up "${home[$2]}"; ill[$2]= ;;
	kill) end "${pid[$2]}" KILL; ill[$2]=killed; broken+=("manager start $2") ;;
	restart) end "${pid[$2]}" KILL; start_manager "$2" ;;
	freeze) kill -STOP "${pid[$2]}"; ill[$2]=frozen; broken+=("manager thaw $2") ;;
	cut) sim_do link down "${home[$2]}"; ill[$2]="cut"; broken+=("manager join $2") ;;
	esac
}
alive() { ours "${pid[$1]}" && ! gone "${pid[$1]}"; }

# --- registrations, by some hosts without faults ---

declare -A asked
reregisters() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"reregisters": ?([0-9]+).*/\1/p'; }
reachable() { sim_ctl -j show port "$1/P1" | grep -q '"state": *"active"'; }
register() {
	local guid=${guids[$1]} answer
	asked[$1]=$(reregisters "$1")
	answer=$({
		on_own "$1" "$tools/saclient" service set "id=0x$guid" gid="$(gid "$guid")" name="soak-$guid" &&
		on_own "$1" "$tools/saclient" subscribe trap=129 &&
		on_own "$1" "$tools/pathquery" set member mgid=$group port-gid="$(gid "$guid")" join-state=1 \
			qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0
	} 2>&1) || bad "$1 can't register: $answer"
}
# registered: clients that were asked to register again do so; all others must still be registered.
registered() {
	local name guid m again='' missing=''
	m=$(best)
	of "$m" ctl -j services >services
	of "$m" ctl -j subscriptions >subscriptions
	of "$m" ctl -j mcast $group >members 2>&1
	for name in "${clients[@]}"; do
		guid=${guids[$name]}
		reachable "$name" || continue
		if [ "$(reregisters "$name")" != "${asked[$name]}" ]; then
			register "$name"
			again+=" $name"
			continue
		fi
		grep -q "soak-$guid" services || missing+=" service of $name,"
		grep -q "$guid" subscriptions || missing+=" subscription of $name,"
		grep -q "$guid" members || missing+=" membership of $name,"
	done
	of "$m" ctl -j partitions | grep -q '"steady"' || missing+=" partition,"
	[ -z "$missing" ] || bad "seed $seed: registrations are gone, and nobody was asked:$missing"
	[ -n "$again" ] || return
	history+=("(registered again:$again)")
	sleep $kept_s
}

# --- faults ---

broken=()	# commands that undo the present faults
act() {
	history+=("$*")
	case $1 in
	manager) "$@" ;;
	*) sim_ctl "$@" >/dev/null 2>ctl.err || history+=("(refused: $(head -n 1 ctl.err))") ;;
	esac
}
write_policy() {	# write_policy NUMBER
	sed -E "s/(storage, share:) 40%/\1 $((20 + 5 * $1))%/" "$top/etc/policy.yaml" >policy.new
	[ $(($1 % 2)) -eq 0 ] || sed -i 's/{level: default, share: 40%}/{level: default, share: 15%}/' policy.new
	mv policy.new policy.yaml
}
hosts_some() {	# GUIDs of some hosts, into the file some.guids
	local i
	for ((i = 0; i < 12; i++)); do
		any hosts
		echo "${guids[$picked]}"
	done | sort -u >some.guids
}
# may_cut: whether one more link or switch may fail.
may_cut() {
	local did n=0
	[ -n "$routing" ] || return 0	# the leaves of a tree have enough uplinks for all faults
	for did in "${broken[@]}"; do
		case $did in 'link up'* | 'node on'*) n=$((n + 1)) ;; esac
	done
	[ $n -lt 3 ]
}
one_fault() {
	local x m
	if [ ${#broken[@]} -gt 6 ] || { [ ${#broken[@]} -gt 0 ] && [ $((RANDOM % 3)) -eq 0 ]; }; then
		x=$((RANDOM % ${#broken[@]}))
		did="${broken[x]}"
		unset "broken[x]"
		broken=("${broken[@]}")
		# shellcheck disable=SC2086
		act $did
		return
	fi
	case $((RANDOM % 29)) in
	0 | 1 | 2 | 3) may_cut && any switches && port_of "$picked" || return
		broken+=("link up $picked"); act link down "$picked" ;;
	4 | 5) any hosts; broken+=("node on $picked"); act node off "$picked" ;;
	6) may_cut || return
		any switches; broken+=("node on $picked"); act node off "$picked" ;;
	7) any switches; act node reboot "$picked" ;;
	8) any hosts; act node reboot "$picked" ;;
	9) any switches; port_of "$picked" || return
		act link flap "$picked" --count $((RANDOM % 4 + 1)) --interval 0.0$((RANDOM % 9 + 1)) ;;
	10) any hosts; broken+=("node answer $picked"); act node silent "$picked" ;;
	11 | 12) broken+=("loss 0"); act loss $((RANDOM % 10 + 1)) ;;
	13) any hosts; act node rename "$picked" "renamed-$RANDOM" ;;
	14) any switches; act node rename "$picked" "renamed-$RANDOM" ;;
	15) any hosts; port_of "$picked" || return
		broken+=("link up $picked"); act link down "$picked" ;;
	16 | 17) x=$((RANDOM % 6)); write_policy $x; history+=("policy $x")
		for m in a b; do ! alive $m || kill -HUP "${pid[$m]}"; done ;;
	18) history+=("sweep"); of "$(best)" ctl sweep >/dev/null 2>&1 ;;
	19) x=job$((RANDOM % 3)); any hosts; m=${guids[$picked]}; any hosts
		history+=("partition add $x $m ${guids[$picked]}")
		of "$(best)" ctl partition add $x "0x$m" "0x${guids[$picked]}" >/dev/null 2>&1 ;;
	20) x=job$((RANDOM % 3)); history+=("partition remove $x")
		of "$(best)" ctl partition remove $x >/dev/null 2>&1 ;;
	21 | 22) hosts_some; x=$([ $((RANDOM % 3)) -gt 0 ] || echo -d)
		history+=("joins of $(wc -l <some.guids) hosts $x")
		# shellcheck disable=SC2086
		on_own "${clients[0]}" timeout 3 "$tools/joinstorm" $x -g 4 some.guids >/dev/null 2>&1 ;;
	23)	[ "${SOAK_PRESET:-}" != ibsim ] || return	# ports of that preset do not come up at 1x
		any switches; port_of "$picked" || return
		broken+=("link degrade $picked full"); act link degrade "$picked" 1x ;;
	24 | 25) any effects; broken+=("fault remove all")
		act fault add "$picked" --class smp --chance $((RANDOM % 10 + 1))% ;;
	*)	[ "${SOAK_KILLS:-yes}" = yes ] || return
		any names; m=$picked
		well a && well b || return
		case $((RANDOM % 4)) in
		0) act manager kill "$m" ;;
		1) act manager restart "$m" ;;
		2) act manager freeze "$m" ;;
		3) act manager cut "$m" ;;
		esac ;;
	esac
}

# --- quiet ---

state_is() { [ "$(status state)" = "$1" ]; }
at_rest() {	# at_rest NAME STATE
	of "$1" state_is "$2" && of "$1" [ "$(of "$1" status sweeping)" = false ]
}
is_quiet() {
	local now m
	m=$(best)
	why="$m is not master"
	at_rest "$m" master && of "$m" subnet_up || return
	if well a && well b; then
		why="b does not stand by, or has not got the registrations"
		at_rest b standby && [ "$(of b status registrations-held)" = true ] || return
	fi
	now=$m$(of "$m" status generation; sim_ctl stats | awk '$3 == "set" { n += $4 } END { print n }')
	[ "$now" = "$last" ] && return 0
	why="it is not quiet"
	last=$now
	return 1
}
check() {
	if [ -n "$routing" ]; then of "$(best)" audit_layers check.out; else sim_ctl check >check.out 2>&1; fi
}
all_right() { check || { why="check: $(tail -n 3 check.out | tr '\n' ' ')"; return 1; }; }
settled() { is_quiet && all_right; }
lids() { sim_ctl show nodes | awk '$4 != "-" { print $2, $4 }' | sort; }

# used NAME: prints the manager's memory, open files, threads and children.
used() {
	local p=${pid[$1]}
	echo "$(awk '/VmRSS/ { print $2 }' "/proc/$p/status")" \
		"$(find "/proc/$p/fd" -mindepth 1 | wc -l)" \
		"$(find "/proc/$p/task" -mindepth 1 -maxdepth 1 | wc -l)" \
		"$(wc -w <"/proc/$p/task/$p/children")"
}
note_usage() {	# note_usage FAULTS
	local m
	for m in a b; do
		well $m || continue
		echo "$seed $1 $m ${pid[$m]} $(used $m)" >>"$usage"
	done
}

wrong_at() {	# wrong_at WHAT: reports a failure with the preceding faults
	bad "seed $seed: $1"
	printf '   | %s\n' "${history[@]:${#history[@]} > 14 ? -14 : 0}"
	for m in a b; do
		echo "   $m ${ill[$m]:-well}, $(of $m status state)"
		show_log $m.log "${SOAK_LINES:-12}"
	done
	[ -z "${SOAK_KEEP:-}" ] || {
		mkdir -p "$SOAK_KEEP/$seed"
		printf '%s\n' "${history[@]}" >"$SOAK_KEEP/$seed/history"
		cp -r a.log b.log check.out a.state b.state "$SOAK_KEEP/$seed"
	}
}

# look FAULTS SECONDS: within SECONDS, the subnet must be quiet and right.
look() {
	local before=$wrong m
	last=
	until_ "$2" settled || { wrong_at "not right: $why"; return 1; }
	while registered; do
		last=
		until_ "$2" settled || { wrong_at "not right: $why"; return 1; }
	done
	lids >lids.now
	expect "seed $seed: LIDs that changed" "" "$(comm -13 lids.before lids.now | head -n 3)"
	expect "seed $seed: Active ports that were told to go down" 0 \
		"$(sim_ctl status | sed -nE 's/^ports .* taken-down ([0-9]+)$/\1/p')"
	for m in a b; do
		! well $m || alive $m || bad "seed $seed: $m is gone"
		expect "seed $seed: errors of $m" "" "$(grep -E ' error: |damaged' $m.log | grep -v ' plan: ' | head -n 3)"
	done
	note_usage "$1"
	[ "$wrong" = "$before" ] || { wrong_at "see above"; return 1; }
}

soak() {	# soak SEED SECONDS
	local end fault n=0 rounds=0 kept
	history=()
	RANDOM=$1
	end=$((SECONDS + $2))
	while [ $SECONDS -lt $end ]; do
		for ((fault = RANDOM % 4; fault >= 0; fault--)); do
			one_fault
			n=$((n + 1))
			[ $((RANDOM % 2)) -eq 0 ] || sleep "0.0$((RANDOM % 10))"
		done
		# undo the loss of MADs, which prevents quiet, and silence, as qosd cannot configure silent devices
		kept=()
		for did in "${broken[@]}"; do
			# shellcheck disable=SC2086 # words
			case $did in
			loss* | fault* | 'node answer'*) act $did ;;
			*) kept+=("$did") ;;
			esac
		done
		broken=("${kept[@]}")
		look $n 40 || return
		rounds=$((rounds + 1))
	done
	for did in "${broken[@]}"; do
		# shellcheck disable=SC2086
		act $did
	done
	broken=()
	look $n 60 || return
	note "seed $1: $n faults, $rounds times quiet"
}

# begin FABRIC [ENGINES]: starts the fabric with both managers and the clients.
begin() {
	start_sim "$1"
	rm -rf a.* b.*
	routing=${*:2}
	echo "${routing:+routing: $routing}" >settings.yaml
	mapfile -t switches < <(sim_ctl show nodes | awk '$1 == "switch" { print $2 }')
	mapfile -t hosts < <(sim_ctl show nodes | awk '$1 == "ca" && !/Aggregation Node/ { print $2 }')
	declare -gA guids=()
	for name in "${hosts[@]}"; do
		# the GUID of a generated host's only port is the node's plus 1
		guids[$name]=$(printf %016x $((name + 1)))
	done
	node=([a]=${hosts[0]} [b]=${hosts[-1]})
	home=([a]=$(where "${node[a]}") [b]=$(where "${node[b]}"))
	[[ ${home[a]} == 0x* && ${home[b]} == 0x* ]] || fail "the managers' switches were not found"
	clients=("${hosts[1]}" "${hosts[${#hosts[@]} / 2]}" "${hosts[-2]}")
	hosts=("${hosts[@]:2:${#hosts[@]} / 2 - 2}" "${hosts[@]:${#hosts[@]} / 2 + 1:${#hosts[@]} / 2 - 3}")
	# the managers' switches are spared: their failure would be more than one fault at a time
	for name in a b; do
		for i in "${!switches[@]}"; do
			[ "${switches[i]}" != "${home[$name]%/P*}" ] || unset "switches[i]"
		done
	done
	switches=("${switches[@]}")
	ill=()
	write_policy 4
	start_manager a
	last=
	a_is_up() { at_rest a master && of a subnet_up; }
	until_ 30 a_is_up || fail "a does not come up: $(tail -n 3 a.log)"
	start_manager b
	until_ 30 settled || fail "not right from the start: $why"
	of a ctl partition add steady "0x${guids[${clients[0]}]}" --wait >out 2>&1 || bad "no partition: $(<out)"
	for name in "${clients[@]}"; do
		register "$name"
	done
	sleep $kept_s
	last=
	until_ 10 settled || fail "not right from the start: $why"
	! registered || fail "asked to register again for nothing"
	lids >lids.before
	before=$(used a | cut -d ' ' -f 2,4)
}
as_before() { [ "$(used a | cut -d ' ' -f 2,4)" = "$before" ]; }	# false while qosd is at work
finish() {
	local ended
	for m in a b; do
		ended=0
		[ "${ill[$m]:-}" != frozen ] || kill -CONT "${pid[$m]}"
		end "${pid[$m]}" || ended=$?
		[ "$ended" -eq 0 ] || [ -n "${ill[$m]:-}" ] ||
			bad "seed $seed: exit status $ended of $m: $(tail -n 60 "$m.log")"
	done
	stop_sim
}

# shellcheck disable=SC2034 # any() reads it
names=(a b)
# shellcheck disable=SC2034
effects=(delay duplicate reorder)
seeds=${SOAK_SEED:-"1 2 $RANDOM $RANDOM $RANDOM $RANDOM"}
n_seeds=$(wc -w <<<"$seeds") turn=0
for seed in $seeds; do
	fabric=${fabrics[turn++ % ${#fabrics[@]}]}
	# promise: F1
	note "seed $seed, $fabric"
	# shellcheck disable=SC2086 # a fabric, and engines
	begin $fabric
	if soak "$seed" $((seconds / n_seeds)) && ! until_ 10 as_before; then
		bad "seed $seed: open files and children: $(used a | cut -d ' ' -f 2,4), were $before"
	fi
	finish
	broken=()
done
note "memory (KiB), open files, threads, children: $(head -n 1 "$usage" | cut -d ' ' -f 5-) at first, $(tail -n 1 "$usage" | cut -d ' ' -f 5-) in the end"
