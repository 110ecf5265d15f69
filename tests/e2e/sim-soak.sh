#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests random faults in simulated time, on fat trees and, with each engine, on other shapes, with two
# subnet managers: links, hosts, switches, reboots, silence, MADs that are lost, late or duplicated, slow
# links, new descriptions, traps, policies, partitions, joins, leaves and queries, managers that are killed,
# frozen and cut off, several at a time and in quick succession.  After every few faults, the test waits
# for quiet and checks: the right manager is master, all tables are right (qosd-sim check), every linked
# port is Active, no LID has changed, no manager took an Active port down, registrations are there unless
# qosd asked clients to register again, clients get their paths, and no more open files and children are in
# use than before.
#
# All faults follow from the seed.  Time is stopped except while the script lets it pass, so that the
# machine's speed has no effect: a seed that fails does so again, at the same simulated time.
#
#   SOAK_SECONDS=n  simulated duration of all seeds together (default 60)
#   SOAK_SEED=n     repeats the faults of a seed, on its fabric (default: new seeds)
#   SOAK_TREE=...   fabric in qosd-sim's notation (default: one of those below, chosen by the seed)
#   SOAK_ROUTING=.. routing engines on the fabric of SOAK_TREE (default: updn)
#   SOAK_PRESET=... preset of its devices (default: qosd-sim's default)
#   SOAK_KILLS=no   managers are not ended or frozen, to measure their memory
#   SOAK_USAGE=file appends memory (KiB), open files and threads of both managers at every quiet moment
#   SOAK_PLANT=n    tests this test: in one of the first n rounds, a forwarding table is changed without
#                   the managers' knowledge, and the auditor must find it
#   SOAK_KEEP=dir   folder for DIR/SEED/history, which has the faults and the managers' events with their
#                   simulated times, and for the logs of a seed that failed
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no node that loses its tables, and no judge"

simulated_time

seconds=${SOAK_SECONDS:-60}
# Fabrics with their routing engines.  Those that are not trees stay connected without any three
# links or switches.
fabrics=("fat-tree:k=6,aggregation=1" "fat-tree:k=36,levels=2"	# 648 hosts
	"torus:5x4,hosts=2 [grid, layered]" "hyperx:4x4,slow=20:4xQDR [grid, layered]"
	"dragonfly:a=4,h=2,p=1,g=5 [layered]" "dragonfly:a=4,h=2,p=1,g=5 [dragonfly, layered]"
	"torus:5x4,hosts=2,lose=3@2 auto")
[ -z "${SOAK_TREE:-}" ] || fabrics=("$SOAK_TREE${SOAK_ROUTING:+ $SOAK_ROUTING}")
begin_s=1767225600	# time of day at the start: 2026-01-01
usage=${SOAK_USAGE:-$work/usage}
calm_s=20	# maximum between a check and the next faults
kept_ms=2000	# registrations older than this are on disk and replicated to the standby
group=ff12:401b:ffff::77

# --- time ---

now_ms=0	# simulated time since the simulator's start; only passes() lets time pass
# passes MS: lets MS pass, as quickly as the programs work; 0: waits until all of them rest.
passes() {
	sim_do pass "$1ms"
	now_ms=$((now_ms + $1))
}
# within SECONDS COMMAND...: tries the command until it succeeds; false after so much simulated time.
within() {
	local left=$(($1 * 4))
	shift
	until "$@"; do
		[ $((left--)) -gt 0 ] || return 1
		passes 250
	done
}
# there NODE COMMAND: runs a line of shell on the fabric and returns its exit status; its output is in
# the file `said`.  One shell runs all of them, so that time never moves before the command has begun.
there() {
	local left=1000
	rm -f said.status
	printf '%s\n' "export SIM_HOST=$1 QOSD_SIM_NODE=$1; { $2; } >said 2>&1; echo \$? >said.status" >&"$shell_in"
	passes 0
	until [ -e said.status ]; do
		[ $((left--)) -gt 0 ] || fail "$2 does not end"
		passes 10
	done
	return "$(<said.status)"
}
# told NAME ARGUMENT...: runs qosd-ctl for that manager, in that shell.
told() { there "${clients[0]}" "$asking_build/qosd-ctl -s $work/$1.sock ${*:2}"; }
start_shell() {
	rm -f shell.in shell.ready
	mkfifo shell.in
	exec {shell_in}<>shell.in
	on_own "$1" bash <shell.in >shell.log 2>&1 &
	shell=$!
	pids+=("$shell")
	# once the shell has run a command, the simulator knows it
	echo "echo >shell.ready" >&"$shell_in"
	until_ 10 [ -e shell.ready ] || fail "no shell on the fabric: $(<shell.log)"
}
stop_shell() {
	echo exit >&"$shell_in"
	exec {shell_in}>&-
	end "$shell"
}

# any NAME: sets $picked to a random element of an array.  (In a subshell, $RANDOM would not follow the
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
	local as started begun
	begun() { [ "$(grep -c ' sandbox: ' "$1.log")" -gt "$begun" ]; }
	opened() { [ "$(starts "$1")" -gt "$started" ]; }
	: >>"$1.log"
	started=$(starts "$1") begun=$(grep -c ' sandbox: ' "$1.log")
	as_own "${node[$1]}"
	# shellcheck disable=SC2086
	"${as[@]}" "$build/qosd" -F -s "$1.sock" -d "$1.state" -c settings.yaml -p policy.yaml ${SOAK_QOSD:-} \
		>>"$1.log" 2>&1 &
	pid[$1]=$!
	pids+=("$!")
	# by then the simulator knows the process and waits until it rests
	until_ 10 begun "$1"
	passes 0
	within 2 opened "$1" || bad "$1 has no port: $(tail -n 1 "$1.log")"
}
# An undo command is "COMMAND..." for the simulator, or "manager WHAT a|b".
manager() {
	case $1 in
	start) start_manager "$2"; ill[$2]= ;;
	thaw) kill -CONT "${pid[$2]}"; ill[$2]= ;;
	join) sim_do link up "${home[$2]}"; ill[$2]= ;;
	kill) keep_events "$2"; end "${pid[$2]}" KILL; ill[$2]=killed; broken+=("manager start $2") ;;
	restart) keep_events "$2"; end "${pid[$2]}" KILL; passes 0; start_manager "$2" ;;
	freeze) keep_events "$2"; kill -STOP "${pid[$2]}"; ill[$2]=frozen; broken+=("manager thaw $2") ;;
	cut) sim_do link down "${home[$2]}"; ill[$2]="cut"; broken+=("manager join $2") ;;
	esac
}
alive() { ours "${pid[$1]}" && ! gone "${pid[$1]}"; }

# --- registrations, by some hosts without faults ---

declare -A asked
reregisters() { sim_ctl -j show port "$1/P1" | sed -nE 's/.*"reregisters": ?([0-9]+).*/\1/p'; }
reachable() { sim_ctl -j show port "$1/P1" | grep -q '"state": *"active"'; }
register() {
	local guid=${guids[$1]}
	asked[$1]=$(reregisters "$1")
	there "$1" "$tools/saclient service set id=0x$guid gid=$(gid "$guid") name=soak-$guid &&
		$tools/saclient subscribe trap=129 &&
		$tools/pathquery set member mgid=$group port-gid=$(gid "$guid") join-state=1 qkey=0xb1b pkey=0xffff \
			tclass=0 sl=0 flow-label=0" || bad "seed $seed: $1 can't register: $(<said)"
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
	happened "(registered again:$again)"
	passes $kept_ms
}

# --- faults ---

broken=()	# commands that undo the present faults
happened() { history+=("$(printf '%d.%03d' $((now_ms / 1000)) $((now_ms % 1000))) $*"); }
act() {
	happened "$*"
	case $1 in
	manager) "$@" ;;
	*) sim_ctl "$@" >/dev/null 2>ctl.err || happened "(refused: $(head -n 1 ctl.err))" ;;
	esac
	passes 0
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
	done >some.guids
	sort -u -o some.guids some.guids
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
	case $((RANDOM % 33)) in
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
	16 | 17) x=$((RANDOM % 6)); write_policy $x; happened "policy $x"
		for m in a b; do ! alive $m || { kill -HUP "${pid[$m]}"; passes 0; }; done ;;
	18) happened sweep; told "$(best)" sweep ;;
	19) x=job$((RANDOM % 3)); any hosts; m=${guids[$picked]}; any hosts
		happened "partition add $x $m ${guids[$picked]}"
		told "$(best)" partition add $x --absent-ok "0x$m" "0x${guids[$picked]}" ;;
	20) x=job$((RANDOM % 3)); happened "partition remove $x"; told "$(best)" partition remove $x ;;
	21 | 22) hosts_some; x=
		[ $((RANDOM % 3)) -gt 0 ] || x=-d
		happened "joins of $(wc -l <some.guids) hosts $x"
		# a client that gets no answer asks forever; timeout(1) would use the machine's clock
		there "${clients[0]}" "$tools/joinstorm $x -g 4 some.guids & p=\$!; { sleep 3; kill \$p; } & wait \$p" ;;
	23)	[ "${SOAK_PRESET:-}" != ibsim ] || return	# ports of that preset do not come up at 1x
		any switches; port_of "$picked" || return
		broken+=("link degrade $picked full"); act link degrade "$picked" 1x ;;
	24 | 25) any effects; broken+=("fault remove all")
		act fault add "$picked" --class smp --chance $((RANDOM % 10 + 1))% ;;
	26) any switches; port_of "$picked" || return
		x=$picked; any traps; act trap "$x" "$picked" ;;
	27) any hosts; act trap "$picked" 144 ;;
	28 | 29) any clients; m=$picked; any hosts; happened "$m asks for the path to $picked"
		there "$m" "$tools/pathquery get path sgid=$(gid "${guids[$m]}") dgid=$(gid "${guids[$picked]}")" ;;
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
# keep_events NAME: appends its events since its start to the file `events`, without the boot's id, which
# is derived from the process number.
keep_events() { of "$1" ctl -j events 2>/dev/null | sed -E "s/\"(boot|since)\":\"[^\"]*\",//g; s/^/$1 /" >>events; }
at_rest() {	# at_rest NAME STATE
	of "$1" state_is "$2" && of "$1" [ "$(of "$1" status sweeping)" = false ]
}
is_quiet() {
	local now m
	m=$(best)
	why="$m is not master"
	at_rest "$m" master && of "$m" subnet_up || return
	if well a && well b; then
		why="b is not standby, or does not hold the registrations"
		at_rest b standby && [ "$(of b status registrations-held)" = true ] || return
	fi
	now=$m$(of "$m" status generation; sim_ctl stats | awk '$3 == "set" { n += $4 } END { print n }')
	[ "$now" = "$last" ] && return 0
	why="the subnet is not quiet"
	last=$now
	return 1
}
check() {
	if [ -n "$routing" ]; then of "$(best)" audit_layers check.out; else sim_ctl check >check.out 2>&1; fi
}
all_right() { check || { why="check: $(tail -n 3 check.out | tr '\n' ' ')"; return 1; }; }
settled() { is_quiet && all_right; }
lids() { sim_ctl show nodes | awk '$3 != "-" { print $2, $3 }' | sort; }

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

wrong_at() {	# wrong_at WHAT: reports it with the last faults and log lines
	bad "seed $seed at $((now_ms / 1000)) s: $1"
	happened "WRONG: $1"
	printf '   | %s\n' "${history[@]:${#history[@]} > 14 ? -14 : 0}"
	for m in a b; do
		echo "   $m ${ill[$m]:-well}, $(of $m status state)"
		show_log $m.log "${SOAK_LINES:-12}"
	done
	[ -z "${SOAK_KEEP:-}" ] || {
		mkdir -p "$SOAK_KEEP/$seed"
		cp -r a.log b.log check.out a.state b.state "$SOAK_KEEP/$seed"
	}
}

# look FAULTS SECONDS: within SECONDS, the subnet must be quiet and right.
look() {
	local before=$wrong m
	last=
	within "$2" settled || { wrong_at "not right: $why"; return 1; }
	while registered; do
		last=
		within "$2" settled || { wrong_at "not right: $why"; return 1; }
	done
	served
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

# served: clients get their paths to each other.
served() {
	local x y
	for x in "${clients[@]}"; do
		any clients
		y=$picked
		if ! reachable "$x" || ! reachable "$y"; then continue; fi
		there "$x" "$tools/pathquery get path sgid=$(gid "${guids[$x]}") dgid=$(gid "${guids[$y]}")" ||
			bad "seed $seed: $x gets no path to $y: $(<said)"
	done
}
soak() {	# soak SEED SECONDS
	local end fault n=0 rounds=0 kept x planted=-1
	[ -z "${SOAK_PLANT:-}" ] || planted=$((RANDOM % SOAK_PLANT))
	end=$((now_ms + $2 * 1000))
	while [ $now_ms -lt $end ]; do
		for ((fault = RANDOM % 4; fault >= 0; fault--)); do
			one_fault
			n=$((n + 1))
			# at once, within the time of a few MADs, or of a sweep
			case $((RANDOM % 3)) in
			1) passes $((RANDOM % 10)) ;;
			2) passes $((RANDOM % 1000)) ;;
			esac
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
		if [ $rounds -eq "$planted" ]; then
			x=$(sim_ctl show nodes | awk -v name="${clients[1]}" '$2 == name { print $3 }')
			act lft "${home[a]%/P*}" "$x" drop
		fi
		look $n 40 || return
		rounds=$((rounds + 1))
		# time for light sweeps and everything else that timers start
		passes $((RANDOM % (calm_s * 1000)))
	done
	for did in "${broken[@]}"; do
		# shellcheck disable=SC2086
		act $did
	done
	broken=()
	look $n 60 || return
	note "seed $1: $n faults, $rounds times quiet, $((now_ms / 1000)) s of simulated time"
}

# begin FABRIC [ENGINES]: starts the fabric with both managers and the clients.
begin() {
	sim_options=(--time-stands --date "$begin_s" --seed "$seed")
	[ -z "${SOAK_PRESET:-}" ] || sim_options+=(--preset "$SOAK_PRESET")
	start_sim "$1"
	rm -rf a.* b.* events
	now_ms=0 history=() broken=()
	RANDOM=$seed
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
	start_shell "${clients[0]}"
	write_policy 4
	start_manager a
	last=
	a_is_up() { at_rest a master && of a subnet_up; }
	within 30 a_is_up || fail "a does not come up: $(tail -n 3 a.log)"
	start_manager b
	within 30 settled || fail "not right from the start: $why"
	# without --wait, as qosd-ctl polls the daemon by the machine's clock
	told a partition add steady "0x${guids[${clients[0]}]}" || bad "no partition: $(<said)"
	last=
	within 10 settled || fail "not right with a partition: $why"
	for name in "${clients[@]}"; do
		register "$name"
	done
	passes $kept_ms
	last=
	within 10 settled || fail "not right from the start: $why"
	! registered || fail "asked to register again for nothing"
	lids >lids.before
	before=$(used a | cut -d ' ' -f 2,4)
}
as_before() { [ "$(used a | cut -d ' ' -f 2,4)" = "$before" ]; }	# false while qosd works
finish() {
	local ended
	for m in a b; do
		ended=0
		[ "${ill[$m]:-}" != frozen ] || kill -CONT "${pid[$m]}"
		! well $m || keep_events $m
		! alive $m || kill "${pid[$m]}"
		passes 0
		within 10 gone "${pid[$m]}"
		end "${pid[$m]}" || ended=$?
		[ "$ended" -eq 0 ] || [ -n "${ill[$m]:-}" ] ||
			bad "seed $seed: exit status $ended of $m: $(tail -n 60 "$m.log")"
	done
	stop_shell
	stop_sim
}

# shellcheck disable=SC2034 # any() reads it
names=(a b)
# shellcheck disable=SC2034
effects=(delay duplicate reorder)
# shellcheck disable=SC2034
traps=(129 130 131)
seeds=${SOAK_SEED:-}
# a short soak has time for three fabrics, different ones each time
n_seeds=${#fabrics[@]}
[ "$seconds" -ge 600 ] || n_seeds=3
for ((i = RANDOM; n_seeds > 0; n_seeds--)); do
	[ -n "${SOAK_SEED:-}" ] || seeds+=" $((RANDOM * ${#fabrics[@]} + i++ % ${#fabrics[@]}))"
done
n_seeds=$(wc -w <<<"$seeds")
# run SEED SECONDS: leaves what happened in the file `history`, followed by the managers' events.
run() {
	seed=$1
	# shellcheck disable=SC2086 # a fabric, and engines
	begin ${fabrics[seed % ${#fabrics[@]}]}
	if soak "$seed" "$2" && ! until_ 10 as_before; then
		bad "seed $seed: open files and children: $(used a | cut -d ' ' -f 2,4), were $before"
	fi
	finish
	{ printf "%s\n" "${history[@]}"; sed -E "s|(\.[0-9]{3})[0-9]{3}Z|\1Z|" events; } >history
	[ -z "${SOAK_KEEP:-}" ] || { mkdir -p "$SOAK_KEEP/$seed" && cp history "$SOAK_KEEP/$seed/history"; }
}
for seed in $seeds; do
	# promise: F1
	note "seed $seed, ${fabrics[seed % ${#fabrics[@]}]}"
	run "$seed" $((seconds / n_seeds))
done

note "memory (KiB), open files, threads, children: $(head -n 1 "$usage" | cut -d ' ' -f 5-) at first, $(tail -n 1 "$usage" | cut -d ' ' -f 5-) in the end"
[ -z "${SOAK_SEED:-}" ] || exit 0
# promise: V8
note "a fault that a seed finds is found again with that seed, at the same time"
for i in 1 2; do
	SOAK_SEED=7 SOAK_PLANT=2 SOAK_SECONDS=40 SOAK_KEEP=$work/kept.$i "$top/tests/e2e/sim-soak.sh" >"planted.$i" 2>&1 &&
		bad "the changed table was not found"
	# the daemon's loop rounds to a millisecond, up or down
	sed -E 's|(\.[0-9])[0-9]*Z|\1Z|' "kept.$i/7/history" >"again.$i"
done
expect_same "what happened with the same seed" again.1 again.2
expect_match "the verdict" "WRONG: not right: check: " "$(grep WRONG again.1)"
