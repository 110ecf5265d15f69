#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests qosd being killed at random moments, on a fat tree and on shapes that other engines route: while
# a subnet comes up, for the first time and after all devices lost their tables; while links, hosts and
# switches go and come; while a policy or a partition is applied.  The next qosd must find the subnet,
# bring it up and write only what was missing.  All tables are right (qosd-sim check), LIDs have not
# changed, registrations of clients and dynamic partitions are there, nothing on disk is damaged, and
# one more restart writes nothing.
#
#   KILLS=n      kills on each fabric (default 12 on the fat tree, 4 on each of the others)
#   KILL_SEED=n  seed of the moments, repeatable as far as clocks allow (default: a new one, printed)
#   KILL_TREE=...  fabric in qosd-sim's notation (default: each of those below)
#   KILL_ROUTING=...  routing engines on the fabric of KILL_TREE (default: updn)
#   KILL_LIST=file  appends a line for each kill: kind, ms after the beginning, Sets before, after and in all
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim does not count what devices are told"

seed=${KILL_SEED:-$RANDOM}
# number of kills, fabric, routing engines
fabrics=("12 fat-tree:k=6" "4 torus:5x4,hosts=2 [grid, layered]" "4 dragonfly:a=4,h=2,p=1,g=5 [dragonfly, layered]")
[ -z "${KILL_TREE:-}" ] || fabrics=("12 $KILL_TREE${KILL_ROUTING:+ $KILL_ROUTING}")
list=${KILL_LIST:-$work/list}
slack=8		# repeated Sets: routes in rounds that began anew, a port's state
group=ff12:401b:ffff::77
sim_options=()	# default devices

any() {	# any NAME: sets $picked to a random element of that array
	local -n of_=$1
	picked=${of_[RANDOM % ${#of_[@]}]}
}
# doze MILLISECONDS: sleeps without starting a process, which would take as long.
exec {never}<> <(:)
doze() { [ "$1" -eq 0 ] || read -rt "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))" -u "$never"; }
now_ms() { echo "$((${EPOCHREALTIME/./} / 1000))"; }

# --- the state of the subnet ---

sim_sets() { sim_ctl stats | awk '$1 == "smp" && $3 == "set" { n += $4 } END { print n + 0 }'; }
lids() { sim_ctl show nodes | awk '$4 != "-" { print $2, $4 }' | sort; }
is_quiet() {
	local now
	status_is subnet-up=true sweeping=false || return 1
	now=$(status generation; sim_sets)
	[ "$now" = "$last" ] && return 0
	last=$now
	return 1
}
all_right() { audit_layers check.out; }
settled() { is_quiet && all_right; }
settle() {	# settle WHEN
	last=
	until_ 20 settled || bad "$what: $1: not right: $(tail -n 2 check.out | tr '\n' ' ')"
}
register() {
	local guid=$1 name=$2 answer
	answer=$({
		on_own "$name" "$tools/saclient" service set "id=0x$guid" gid="$(gid "$guid")" name="kept-$guid" &&
		on_own "$name" "$tools/saclient" subscribe trap=129 &&
		on_own "$name" "$tools/pathquery" set member mgid=$group port-gid="$(gid "$guid")" join-state=1 \
			qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0
	} 2>&1) || fail "$name can't register: $answer"
}
registered() {
	ctl -j services | grep -E '"service-id"'
	ctl -j subscriptions | grep '"' | grep -vE '"(answered|sent|reports)"'
	ctl -j mcast $group 2>&1 | grep -E '"guid"' | sort
	ctl -j partitions | grep '"steady"' | sed 's/,$//'
}

# --- kinds of changes: most have an end that undoes the beginning ---

port_of() {	# sets $picked to a cabled port of that switch that does not lead to the manager
	local ports
	# shellcheck disable=SC2034 # any() reads it
	mapfile -t ports < <(sim_ctl show links "$1" | sed -nE '2,$s|^([^/]*)/P([0-9]+) .*|\2|p')
	any ports
	picked=$1/P$picked
}
write_policy() {	# a different one each time
	policies=$(((policies + 1) % 5))
	sed -E "s/(storage, share:) 40%/\1 $((20 + 5 * policies))%/" "$top/etc/policy.yaml" >policy.new
	mv policy.new policy.yaml
}
# choose: sets $kind to a random kind, and $begin and $end_ to a change's beginning and end, as words for act.
# shellcheck disable=SC2034 # any() reads it
kinds=(link link host switch switch reboot reload reload partition fresh outage)
choose() {
	any kinds
	kind=$picked
	end_=()
	case $kind in
	link) any switches; port_of "$picked"
		begin=(link down "$picked") end_=(link up "$picked") ;;
	host) any hosts; begin=(node off "$picked") end_=(node on "$picked") ;;
	switch) any switches; begin=(node off "$picked") end_=(node on "$picked") ;;
	reboot) any switches; begin=(node reboot "$picked") ;;
	reload) begin=(reload) ;;
	partition) any hosts; begin=(partition add other "$picked" --absent-ok) end_=(partition remove other) ;;
	esac
}
start() { start_qosd "$manager" -c settings.yaml -p policy.yaml; }
# act WORD...: starts a change and returns when it has begun.
act() {
	case $1 in
	reload) write_policy; kill -HUP "$qosd" ;;
	partition) ctl partition "$2" "$3" ${4:+"0x${guids[$4]}"} >/dev/null 2>&1 & local asking=$!; doze 1; wait_for=$asking ;;
	*) sim_do "$@" ;;
	esac
}
wait_for=

# slow_down: delays SMPs, so that kills interrupt more.
slow_down() { sim_do fault add delay --class smp --for 4ms; }
# killed_at WORD...: starts the change, kills qosd at a random moment of it, and starts qosd again.
killed_at() {
	local before begun moment sent
	before=$(sim_sets)
	begun=$(now_ms)
	act "$@"
	doze $((RANDOM % (takes * 4 / 3 + 1)))
	moment=$(($(now_ms) - begun))
	stop_qosd KILL
	[ -z "$wait_for" ] || wait "$wait_for"
	wait_for=
	sim_do fault remove all
	sent=$(($(sim_sets) - before))
	again "$moment" "$sent"
}
# again MS SETS: checks a restart after a kill at that time, when qosd had sent so many Sets.
again() {
	local rest before told
	before=$(sim_sets)
	told=0
	[ "$kind" != fresh ] || told=$n_ends	# a qosd without state asks all ports to register again
	# the routes that a fault leaves unchanged depend on earlier routes, which a new qosd does not know
	[ -z "$routing" ] || told=$((told + bring_up_sets))
	start
	settle "started again"
	rest=$(($(sim_sets) - before))
	echo "$kind $1 $2 $rest $whole" >>"$list"
	expect_less "$what, killed after $1 ms: Sets before and after, $2 + $rest," $((whole + slack + told + 1)) $(($2 + rest))
	judge "killed after $1 ms"
	stop_qosd KILL
	start
	settle "a third one"
	expect "$what, killed after $1 ms: Sets of one more restart" 0 "$(sets)"
	judge "once more"
}
judge() {
	lids >lids.now
	expect "$what, $1: LIDs that changed" "" "$(comm -13 lids.before lids.now | head -n 3)"
	registered >registered.now
	expect_same "$what, $1: registrations" registered.before registered.now
	expect "$what, $1: what is said of the state" "" \
		"$(grep -E ' error: |damaged|warning: (store|state)' "$qosd_log" | grep -v ' plan: ' | head -n 3)"
	expect "$what, $1: files that were set aside" "" "$(find state -name '*.damaged')"
	expect "$what, $1: Active ports that were told to go down" 0 \
		"$(sim_ctl status | sed -nE 's/^ports .* taken-down ([0-9]+)$/\1/p')"
}

# measure WORD...: makes the change without a kill; sets $whole to its Sets and $takes to the milliseconds
# until the last one.
measure() {
	local before begun
	before=$(sim_sets)
	begun=$(sim_ctl status | awk '$1 == "time" { print $2 }')
	act "$@"
	[ -z "$wait_for" ] || wait "$wait_for"
	wait_for=
	settle "without a kill"
	whole=$(($(sim_sets) - before))
	takes=$(sim_ctl stats | awk -v begun="$begun" '
		$1 == "smp" && $3 == "set" && $7 > last { last = $7 }
		END { print (last > begun ? int((last - begun) * 1000) + 5 : 5) }')
}

# --- a subnet that comes up ---

# comes_up: brings up unconfigured devices and kills qosd at a random moment.
comes_up() {
	local begun moment sent
	begun=$(now_ms)
	slow_down
	start
	doze $((RANDOM % (bring_up_ms + 1)))
	moment=$(($(now_ms) - begun))
	stop_qosd KILL
	sim_do fault remove all
	sent=$(sim_sets)
	whole=$bring_up_sets
	[ "$kind" = outage ] || lids >lids.before	# LIDs that were assigned must stay
	again "$moment" "$sent"
}

fabric() {
	start_sim "$tree"
	mapfile -t switches < <(sim_ctl show nodes | awk '$1 == "switch" { print $2 }')
	mapfile -t hosts < <(sim_ctl show nodes | awk '$1 == "ca" { print $2 }')
	n_ends=$((${#switches[@]} + ${#hosts[@]}))
	manager=${hosts[0]} client=${hosts[-1]}
	home=$(sim_ctl show links "$manager" | sed -nE '2s|.* ([^ ]+)/P[0-9]+$|\1|p')
	away=$(sim_ctl show links "$client" | sed -nE '2s|.* ([^ ]+)/P[0-9]+$|\1|p')
	declare -gA guids=()
	for name in "${hosts[@]}"; do
		guids[$name]=$(printf %016x $((name + 1)))
	done
	mapfile -t switches < <(sim_ctl show nodes | awk -v a="$home" -v b="$away" '$1 == "switch" && $NF != a && $NF != b { print $2 }')
	hosts=("${hosts[@]:1:${#hosts[@]} - 2}")
}

# kills_on KILLS FABRIC [ENGINES]: makes all tests on one fabric.
kills_on() {
	local kills=${KILLS:-$1} begun before i
	tree=$2 routing=${*:3}
	echo "${routing:+routing: $routing}" >settings.yaml
	rm -rf state
	note "a subnet comes up, whole"
	policies=0 what="at first"
	fabric
	write_policy
	slow_down
	begun=$(now_ms)
	start
	until_ 30 subnet_up || fail "the subnet does not come up"
	bring_up_ms=$(($(now_ms) - begun))
	settle "for the first time"
	bring_up_sets=$(sim_sets)
	sim_do fault remove all
	register "${guids[$client]}" "$client"
	ctl partition add steady "0x${guids[$client]}" --wait >out 2>&1 || fail "no partition: $(<out)"
	settle "registered"
	lids >lids.before
	registered >registered.before
	pause_until_stored
	# promise: K1
	note "killed at $kills moments, seed $seed"
	RANDOM=$seed
	before=$(wc -l <"$list")
	for ((i = 1; $(wc -l <"$list") - before < kills; i++)); do
		choose
		what="kill $i, $kind"
		case $kind in
		fresh | outage)
			stop_qosd
			stop_sim
			cp lids.before lids.kept
			cp registered.before registered.kept
			mv state state.kept
			[ "$kind" = fresh ] || cp -a state.kept state
			fabric
			[ "$kind" = outage ] || : >registered.before
			comes_up
			cp lids.kept lids.before
			cp registered.kept registered.before
			[ "$kind" = outage ] || {
				# restore the former state
				stop_qosd
				stop_sim
				rm -rf state
				cp -a state.kept state
				fabric
				start
				settle "as before"
				judge "as before"
			}
			rm -rf state.kept
			;;
		*)
			slow_down
			measure "${begin[@]}"
			if [ ${#end_[@]} -gt 0 ]; then
				down=$whole down_ms=$takes
				measure "${end_[@]}"
				up=$whole up_ms=$takes
				whole=$down takes=$down_ms
				killed_at "${begin[@]}"
				what+=", back"
				whole=$up takes=$up_ms
				slow_down
				killed_at "${end_[@]}"
				# finish a removal that was not complete at the kill
				[ "$kind" != partition ] || { ctl "${end_[@]}" >/dev/null 2>&1; settle "removed"; }
			else
				killed_at "${begin[@]}"
			fi
			;;
		esac
		[ "$wrong" -lt 20 ] || fail "too much is wrong"
	done
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
	note "$(($(wc -l <"$list") - before)) kills on $tree; Sets that were too many: $(tail -n +$((before + 1)) "$list" |
		awk '{ n = $3 + $4 - $5; if (n > most) most = n } END { print most + 0 }') at most"
}

: >"$list"
for fabric in "${fabrics[@]}"; do
	# shellcheck disable=SC2086 # kills, a fabric, and engines
	kills_on $fabric
done
