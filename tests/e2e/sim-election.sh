#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the election among several subnet managers: every order of starts and priorities,
# masters that die or stop for a while and return, subnets that are split and joined,
# different keys.  In the end, exactly the right one is master, and LIDs and tables are as
# before.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it cuts links and looks at what devices were told"

halves_topology >halves.topo
declare -A host=([a]=H-0000000000000100 [b]=H-0000000000000200 [c]=H-0000000000000300
	[d]=H-0000000000000400)
declare -A pid
# run NAME [LINE...]: starts a qosd on that host with these settings.
run() { run_manager "$1" 'sweep-interval: 1' "${@:2}"; }	# these devices send no traps
state_is() { [ "$(status state)" = "$1" ]; }
idle() { [ "$(status sweeping)" = false ]; }
up() { of "$1" state_is master && of "$1" subnet_up && of "$1" idle; }
masters() { of "$1" state_is master; }
stands_by() { of "$1" state_is standby; }
# soon WHAT COMMAND...: the command must succeed within 15 s.
soon() {
	until_ 15 "${@:2}" || { bad "$1: $(grep -H ' ' ./*/log | grep election | tail -n 12)"; }
}
# stays WHAT COMMAND...: the command must succeed for a second, which is longer than any manager waits for
# another.
stays() {
	local i
	for i in 1 2 3 4 5; do
		"${@:2}" || { bad "$1, after $i looks"; return; }
		sleep 0.2
	done
}
quit() { end "${pid[$1]}" "${2:-TERM}"; }
begin() {	# starts a fresh fabric
	start_sim halves.topo
	rm -rf ./[abcd]
}
finish() {
	local name
	for name in "${!pid[@]}"; do
		quit "$name"
	done
	pid=()
	stop_sim
}
lids() { lid_map "${host[a]}" | sort -u; }
tables() { read_tables "${host[a]}"; mv lft.devices "$1"; }

note_time() { note "$1 after $(((${EPOCHREALTIME/./} - $2) / 1000)) ms"; }

# --- who is master ---

for first in a c; do
	second=$([ $first = a ] && echo c || echo a)
	for priority in 0 5; do		# of c, which has the higher GUID
		best=$([ $priority = 5 ] && echo c || echo a)
		other=$([ $best = a ] && echo c || echo a)
		note "$first first, c has priority $priority"
		begin
		run $first "priority: $([ $first = c ] && echo $priority || echo 0)"
		soon "$first is master" up $first
		run $second "priority: $([ $second = c ] && echo $priority || echo 0)"
		soon "$best is master" up $best
		soon "$other stands by" stands_by $other
		stays "$best is master" masters $best
		stays "$other stands by" stands_by $other
		finish
	done
done

# promise: M1
note "three at once"
begin
run a
run b "priority: 3"
run c "priority: 3"
soon "b is master" up b
soon "a stands by" stands_by a
soon "c stands by" stands_by c
stays "b is master" masters b

# promise: M3
note "the best dies"
lids >before
tables lft.before
written=$(of c table_sets)
begun=${EPOCHREALTIME/./}
quit b KILL
soon "c is master" up c
note_time "c is master" "$begun"
soon "a stands by" stands_by a
expect "Sets of c but for ports" "$written" "$(of c table_sets)"
lids >after
expect_same "LIDs" before after
tables lft.after
expect_same "tables" lft.before lft.after
finish

# --- a master that stops and continues ---

# promise: M1 M3
note "the master is frozen"
begin
run a
soon "a is master" up a
run c
soon "c stands by" stands_by c
lids >before
tables lft.before
frozen=$(of a sets)
begun=${EPOCHREALTIME/./}
kill -STOP "${pid[a]}"
soon "c is master" up c
note_time "c is master" "$begun"
lids >after
expect_same "LIDs" before after
tables lft.after
expect_same "tables" lft.before lft.after
of c ctl priority 9 >/dev/null || bad "c takes no priority"
sim_do link down 'b HCA-1/P1'	# a change that tempts a to write
kill -CONT "${pid[a]}"
soon "a has seen it" grep -q 'has become master meanwhile' a/log
soon "a stands by" stands_by a
stays "a stands by" stands_by a
stays "c is master" masters c
expect "Sets of a since" "$frozen" "$(of a sets)"
# promise: M1
note "priorities change"
of c ctl priority 0 >/dev/null
soon "a is master" up a
soon "c stands by" stands_by c
of c ctl priority 1 >/dev/null
soon "c is master" up c
soon "a stands by" stands_by a
finish

# --- a manager that took over is gone when the master comes back ---

sm_lid() { on "${host[$1]}" smpquery -D portinfo 0 1 2>/dev/null | sed -nE 's/^SMLid:\.*([0-9]+)$/\1/p'; }
ports_obey() {	# ports_obey NAME: whether all hosts' ports name this manager as master
	local name lid
	lid=$(of "$1" status lid)
	for name in b d "$1"; do [ "$(sm_lid $name)" = "$lid" ] || return 1; done
}
is_whole() { up "$1" && ports_obey "$1" && "$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >check.out 2>&1; }
for way in "did not run" "was not heard" "was cut off"; do
	# promise: M6
	note "the master $way, another took over and died"
	begin
	run a
	soon "a is master" up a
	run c
	soon "c stands by" stands_by c
	case $way in
	"did not run") kill -STOP "${pid[a]}" ;;
	"was not heard") sim_do fault add drop --class smp --at "a HCA-1" ;;
	"was cut off") sim_do link down "a HCA-1/P1" ;;
	esac
	soon "c is master" masters c
	soon "all are told so" ports_obey c
	quit c KILL
	case $way in
	"did not run") kill -CONT "${pid[a]}" ;;
	"was not heard") sim_do fault remove all ;;
	"was cut off") sim_do link up "a HCA-1/P1" ;;
	esac
	soon "all is a's again" is_whole a
	finish
done

# --- a standby that thinks its master dead ---

# promise: M1
note "the master's answers are lost until the other is master, and it is there"
begin
run a
soon "a is master" up a
run c
soon "c stands by" stands_by c
soon "a has no news to tell" grep -q 'trap: LID 1: trap 144' a/log	# a later trap would be another hint
lids >before
sim_do fault add drop --attr SMInfo --method get --at "a HCA-1"
soon "c has given up" grep -q 'the master is gone' c/log
soon "c is master" up c
sim_do fault remove all
soon "c stands by again" stands_by c
soon "a is master" up a
stays "a is master" masters a
stays "c stands by" stands_by c
lids >after
expect_same "LIDs" before after
all_active "${host[b]}" halves.topo
finish

# --- the master dies with a switch that all routes used ---

# promise: M3
note "the master dies with a spine"
start_sim fat-tree:k=36,levels=2
rm -rf ./[abcd]
mapfile -t cas < <(sim_ctl show nodes | awk '$1 == "ca" { print $2 }')
halves_a=${host[a]} halves_c=${host[c]}
host[a]=${cas[0]} host[c]=${cas[-1]}
run a
soon "a is master" up a
run c
soon "c stands by" stands_by c
has_registrations() { [ "$(of "$1" status registrations-held)" = true ]; }
soon "c has the registrations" has_registrations c
sleep 2		# time for c to discover the fabric
begun=${EPOCHREALTIME/./}
# the first spine: a breadth-first search from any node reaches all others through it
sim_do node off "$(sim_ctl show nodes | awk '$1 == "switch" && $2 ~ /2500$/ { print $2 }')"
quit a KILL
soon "c is master" up c
whole() { up c && "$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >check.out 2>&1; }
soon "all is right" whole
note_time "all is right" "$begun"
expect "sweeps of c: by what it knew, and by what is there" 2 "$(grep -c 'sweep: the master is gone' c/log)"
finish
host[a]=$halves_a host[c]=$halves_c

# --- two subnets become one ---

for who in a c; do
	note "a subnet is cut in two and joined, $who is the better"
	begin
	run a "priority: $([ $who = a ] && echo 5 || echo 0)"
	run c "priority: $([ $who = c ] && echo 5 || echo 0)"
	other=$([ $who = a ] && echo c || echo a)
	soon "$who is master" up $who
	soon "$other stands by" stands_by $other
	sim_do link down 'left/P8'
	soon "a is master of its half" up a
	soon "c is master of its half" up c
	sim_do link up 'left/P8'
	soon "$other stands by" stands_by $other
	soon "$who is master" up $who
	stays "$who is master" masters $who
	stays "$other stands by" stands_by $other
	all_active "${host[b]}" halves.topo
	finish
done

# --- OpenSM on the other side ---

command -v opensm >/dev/null || { note "opensm is not installed: without it"; exit 0; }
# run_opensm NAME OPTION...: starts OpenSM on that host; it sweeps every 2 s and polls as often as qosd.
run_opensm() {
	local as name=$1
	shift
	mkdir -p "$name"
	printf 'sminfo_polling_timeout 300\npolling_retry_number 3\n' >"$name/conf"
	as "${host[$name]}"
	"${as[@]}" env "OSM_CACHE_DIR=$work/$name" "OSM_TMP_DIR=$work/$name" \
		opensm -F "$name/conf" -f "$name/log" -e -d2 -s 2 "$@" >"$name/out" 2>&1 &
	pid[$name]=$!
	pids+=("$!")
}
# opensm_is NAME STATE: whether this is the last state that OpenSM entered.
opensm_is() { [ "$(sed -nE 's/.*Entering ([A-Z]+) state.*/\1/p' "$1/log" 2>/dev/null | tail -n 1)" = "$2" ]; }
# sm_of NAME GUID: whether the SM that this host's port names is a master with this GUID.
sm_of() { on "${host[$1]}" sminfo 2>/dev/null | grep -q "guid 0x0*$2, .*SMINFO_MASTER"; }

# promise: M1
note "OpenSM is master, a qosd of higher priority comes"
begin
run_opensm a
soon "OpenSM is master" opensm_is a MASTER
run c "priority: 5"
soon "c is master" up c
soon "OpenSM stands by" opensm_is a STANDBY
soon "all know" sm_of d 301
note "… and is frozen: OpenSM takes over; … and comes back: it is given the subnet again"
kill -STOP "${pid[c]}"
soon "OpenSM is master" opensm_is a MASTER
soon "all know" sm_of d 101
# c learns of the other master from its answer in the election of a sweep, or from a HANDOVER
# that OpenSM sent while c was frozen.
others_seen() {
	grep -cE 'has become master meanwhile|SM 0x0*101 (at .*: master, priority|sent HANDOVER)' c/log
}
before=$(others_seen)
has_seen() { [ "$(others_seen)" -gt "$before" ]; }
kill -CONT "${pid[c]}"
soon "c has seen it" has_seen
soon "c is master" up c
expect "sweeps of c that wrote before it was handed over to" "" \
	"$(sed -n '/was stopped for/,/sent HANDOVER/p' c/log | grep 'Sets)')"
soon "OpenSM stands by" opensm_is a STANDBY
note "… and dies: OpenSM takes over"
quit c KILL
soon "OpenSM is master" opensm_is a MASTER
soon "all know" sm_of d 101
note "a qosd of lower rank stands by for it, and takes over when OpenSM is frozen"
run c
soon "c stands by" stands_by c
expect "what c has of its master's clients" false "$(of c status registrations-held)"
kill -STOP "${pid[a]}"
soon "c is master" up c
soon "all know" sm_of d 301
kill -CONT "${pid[a]}"
soon "one is master" sm_of d 101
finish

for priority in 0 5; do		# of c
	# promise: M1
	note "a subnet is cut in two and joined: OpenSM at a, a qosd at c of priority $priority"
	begin
	run_opensm a
	soon "OpenSM is master" opensm_is a MASTER
	sim_do link down 'left/P8'
	run c "priority: $priority"
	soon "c is master of its half" up c
	soon "a's half has OpenSM" sm_of b 101
	sim_do link up 'left/P8'
	if [ $priority = 5 ]; then
		soon "OpenSM stands by" opensm_is a STANDBY
		soon "c is master" up c
		soon "all know" sm_of b 301
	else
		soon "c stands by" stands_by c
		soon "all know" sm_of d 101
	fi
	finish
done
