#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices that give false answers about themselves or others: one device or a share of them,
# from the start or later, on fabrics of several kinds.  The manager survives; it serves truthful
# hosts that have a path to it through truthful switches; and when the lies end, the subnet is right
# within two light sweeps, without a command.
#
#   ATTACK_SECONDS=n  duration (default: a few cases)
#   LIES_SEED=n       seed of the cases
#   LIES_ONLY=kind    only this falsehood
#   LIES_WHO=one      only this share of devices: one, 1%, 5%, 40%
#   LIES_FABRIC=text  only this fabric
#   LIES_CASES=file   only these cases, once each: lines "FABRIC MOMENT KIND WHO [PICK or NODE]"
#   LIES_TABLE=file   appends a line for each case: the case, its parameters, "right" or "wrong", ms
#   LIES_KEEP=dir     folder for the logs of failed cases
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices do not lie"

seconds=$(attack_seconds 0)
seed=${LIES_SEED:-$((RANDOM << 15 | RANDOM))}
note "LIES_SEED=$seed"
RANDOM=$((seed & 32767))
end_us=$((${EPOCHREALTIME/./} + seconds * 1000000))
light=1		# seconds between light sweeps
sim_options=()
printf 'sweep-interval: %s\nscrub-interval: 0\n' $light >qosd.yaml
fabrics=("clos:4x2,hosts=3" fat-tree:k=4 "torus:3x3,hosts=2" mesh:3x3 hypercube:d=3 "ring:5,hosts=2"
	"dragonfly:a=3,h=1" "random:switches=8,hosts=12")

# rows COMMAND...: prints the simulator's JSON with one object a line.
rows() { sim_ctl -j "$@" | sed 's/},{/\n/g; s/":/": /g; s/,"/, "/g'; }

# look_around: writes the fabric to nodes.list ("TYPE NAME"), guids.list ("NAME GUID") and links.list
# ("NAME NAME", in both directions), and sets $manager.
look_around() {
	rows show nodes | sed -nE 's/.*"type": "([a-z]+)".*"description": "([^"]*)".*/\1\t\2/p' >nodes.list
	rows show nodes | sed -nE 's/.*"guid": "([^"]*)".*"description": "([^"]*)".*/\2\t\1/p' >guids.list
	rows show links | sed -nE 's|.*"port": "([^"]*)/P[0-9]+", "peer": "([^"]*)/P[0-9]+".*|\1\t\2\n\2\t\1|p' >links.list
	manager=$(awk -F '\t' '$1 == "ca" { print $2; exit }' nodes.list)
	if ! [ -s links.list ] || [ -z "$manager" ]; then
		fail "no fabric: $(head -c 300 nodes.list links.list)"
	fi
}

# dishonest: prints the names of the devices that lie by the rules in force, one a line.
dishonest() {
	rows fault list | sed -nE -e 's/.*"at": "([^"]*)".*/\1/p' \
		-e 's/.*"nodes": \[([^]]*)\].*/\1/p' | sed 's/", "/\n/g; s/"//g' | sort -u
}

# honest: writes to honest.list the truthful hosts that have a path to the manager through truthful
# switches, and to seen.list the lying devices next to such a path.
honest() {
	dishonest >dishonest.list
	: >seen.list
	awk -F '\t' -v from="$manager" '
		FILENAME == ARGV[1] { lies[$1]; next }
		FILENAME == ARGV[2] { type[$2] = $1; next }
		{ next_to[$1] = next_to[$1] "\t" $2 }
		END {
			queue[n = 1] = from
			seen[from]
			for (i = 1; i <= n; i++) {
				at = queue[i]
				if (at in lies || (i > 1 && type[at] != "switch"))
					continue
				k = split(next_to[at], to, "\t")
				for (j = 2; j <= k; j++)
					if (!(to[j] in seen)) {
						seen[to[j]]
						queue[++n] = to[j]
					}
			}
			for (i = 2; i <= n; i++)
				if (queue[i] in lies)
					print queue[i] >"seen.list"
				else if (type[queue[i]] == "ca")
					print queue[i]
		}' dishonest.list nodes.list links.list >honest.list
}

# connected FROM TO: whether the tables in the devices lead a packet there.
connected() { sim_ctl -j path "$1" "$2" 2>/dev/null | grep -q '"lost":null'; }

# served: whether all hosts in honest.list are connected in a ring and with the manager; else sets $unserved.
served() {
	local before=$manager host
	while read -r host; do
		for pair in "$before|$host" "$host|$before" "$manager|$host" "$host|$manager"; do
			connected "${pair%|*}" "${pair#*|}" && continue
			unserved="${pair/|/ -> }"
			[ -z "${LIES_KEEP:-}" ] || sim_ctl path "${pair%|*}" "${pair#*|}" >unserved 2>&1
			return 1
		done
		before=$host
	done <honest.list
}

# keep: saves the manager's log and the faults to LIES_KEEP.
keep() {
	[ -n "${LIES_KEEP:-}" ] || return 0
	{ echo "$what"; cat dishonest.list unserved; ctl health; ctl ports; cat audit; cat "$qosd_log"; } >"$LIES_KEEP/$(date +%s.%N)" 2>&1
}

# named: whether qosd knows every node by its true name.  jq would take 0.1 s for each of the two lists.
names() { sed 's/},{/\n/g' | sed -nE 's/.*"guid": ?"([^"]+)".*"description": ?"([^"]*)".*/\1 \2/p' | sort; }
named() { diff <(sim_ctl -j show nodes | names) <(ctl -j nodes | names) >>audit; }
right() { subnet_up && [ "$(status nodes)" = "$(wc -l <nodes.list)" ] && sim_ctl check >audit 2>&1 && named; }
alive() { ours "$qosd" && ! gone "$qosd"; }

# lives: qosd must run and answer.
lives() {
	alive || fail "qosd died: $what"
	until_ 5 status state >/dev/null || fail "qosd does not answer: $what"
}

# truth_returns: ends the lies; all must be right within two light sweeps plus the time of a sweep.
truth_returns() {
	local begin=${EPOCHREALTIME/./} us
	sim_do fault remove all
	until_ $((2 * light + 3)) right || ! keep ||
		bad "not right after the end of: $what: $(status ports-active) of $(status ports-linked) ports Active; $(head -n 3 audit)"
	us=$((${EPOCHREALTIME/./} - begin))
	[ $us -le "${slowest:-0}" ] || slowest=$us slowest_what=$what
	# the next case must begin with a sound fabric
	until_ 30 right || fail "never right again after: $what: $(head -n 5 audit)"
	lives
}

# told NAME: whether health reports that device, by the name or GUID of itself or of its neighbor, since
# the device may lie about its name.  If two devices claim one port GUID, health names both.
told() {
	local names
	names=$(awk -F '\t' -v name="$1" '
		FILENAME == ARGV[1] { if ($1 == name) { is[$2]; is[name] } next }
		$1 in is { print $1; print $2 }' links.list guids.list)
	{ ctl health; cat "$qosd_log"; } | grep -E 'device-(lies|excluded)|duplicate-guid|contradicts itself' |
		grep -qF -e "$names"
}
no_lies() { ! ctl health | grep -qE 'device-(lies|excluded)'; }

# lie FALSEHOOD OPTION...: starts a lie.
lie() { sim_do fault falsify "$@"; }

# Falsehoods that cannot be true whatever other devices say, so health reports a single such device.
cannot_be=" node-type-0 node-type-other ports-0 ports-255 local-port-254 node-guid-0 node-guid-random
	node-guid-other node-guid-sm port-guid-0 port-guid-other port-guid-sm other-node mtu-cap-0
	mtu-cap-15 neighbor-mtu-15 width-unknown speed-unknown vl-cap-0 vl-cap-15 operational-vls-0
	port-state-0 port-state-15 phys-state-15 "
cannot_be_of_switches=" linear-cap-0 linear-cap-max linear-top-max "
# is_to_be_told KIND NAME: whether health must report this device.
is_to_be_told() {
	[[ "$cannot_be" =~ [[:space:]]"$1"[[:space:]] ]] ||
		{ [[ "$cannot_be_of_switches" = *" $1 "* ]] && grep -qxF "switch	$2" nodes.list; }
}

# judge: makes the checks during a lie.  Health must report $tell, and all lying devices if their lie is
# $tell_kind.
judge() {
	local name
	honest
	until_ 10 served || ! keep || bad "$unserved is not served, of $(wc -l <honest.list) honest hosts: $what"
	[ -z "$tell_kind" ] || while read -r name; do
		! is_to_be_told "$tell_kind" "$name" || tell+=${tell:+$'\n'}$name
	done <seen.list
	[ -z "$tell" ] || while read -r name; do
		until_ 10 told "$name" || ! keep || bad "health does not tell of $name: $what: $(ctl health)"
	done <<<"$tell"
	tell='' tell_kind=''
	lives
}

# provoke: retrains a link of every lying device, so that qosd reads the device again.
provoke() {
	local name
	dishonest | while read -r name; do
		[ "$name" = "$manager" ] || sim_ctl link flap "$name/P1" --interval 0.05 >/dev/null 2>&1
	done
	sleep 0.3
}

# late KIND OPTION...: tests a lie that begins on a fabric that is up.
late() {
	what="$topology, later: $*"
	lie "$@"
	provoke
	judge
	truth_returns
}

# early KIND OPTION...: tests a lie that begins before qosd starts.
early() {
	if [ -n "${qosd:-}" ]; then
		fabric_ends
		fabric "$topology"
	fi
	what="$topology, from the start: $*"
	lie "$@"
	rm -rf state
	start_qosd "$manager" -c qosd.yaml
	judge
	truth_returns
}

# smps_and_looks: prints the number of SMPs to all devices so far and of light sweeps' queries to switches.
smps_and_looks() {
	sim_ctl stats | awk '
		$1 == "smp" && ($3 == "get" || $3 == "set") { n += $4 }
		$2 == "SwitchInfo" && $3 == "get" { looks = $4 }
		END { print n + 0, looks + 0 }'
}
sweeps_begun() { grep -c 'debug: sweep: starts' "$qosd_log"; }
has_looked() { read -r smps_then looks_then < <(smps_and_looks) && [ "$looks_then" -ge "$1" ]; }
says() { [ "$(status "$1")" = "$2" ]; }
# calm: waits for three light sweeps without another sweep between them.  Sets $smps to the number of
# their SMPs, $looks to those that query switches, and $again to the retries among these.
calm() {
	local begun smps_before looks_before
	begun=$(sweeps_begun) again=$(status retries)
	read -r smps_before looks_before < <(smps_and_looks)
	until_ 20 has_looked $((looks_before + 3 * switches)) || return 1
	smps=$((smps_then - smps_before)) looks=$((looks_then - looks_before))
	again=$(($(status retries) - again))
	[ "$(sweeps_begun)" -eq "$begun" ]
}

# fabric TOPOLOGY: starts the simulator with this fabric.
fabric() {
	topology=$1
	start_sim "$topology"
	look_around
}
fabric_ends() {
	[ -z "${qosd:-}" ] || stop_qosd || bad "exit status $? after SIGTERM; $what: $(tail -n 5 "$qosd_log")"
	qosd=
	stop_sim
}
# some_device: prints a random device other than the manager's.
some_device() {
	awk -F '\t' -v n=$((RANDOM % ($(wc -l <nodes.list) - 1))) -v manager="$manager" '
		$2 != manager && n-- == 0 { print $2 }' nodes.list
}
nth() { awk -F '\t' -v type="$1" -v n="$2" '$1 == type && !--n { print $2 }' nodes.list; }

tell='' tell_kind=''
if [ "$seconds" -eq 0 ]; then
	# promise: A1 A2
	note "devices that lie from the start"
	fabric fat-tree:k=4
	what="all at once from the start"
	lie local-port-254 --at "$(nth switch 20)"
	lie node-guid-random --at "$(nth ca 9)"
	lie ports-0 --at "$(nth ca 12)"
	lie port-guid-sm --at "$(nth ca 14)"
	lie other-node --at "$(nth ca 16)"
	rm -rf state
	start_qosd "$manager" -c qosd.yaml
	judge
	while read -r name; do
		until_ 5 told "$name" || bad "health does not tell of $name: $(ctl health)"
	done <dishonest.list
	truth_returns
	until_ 5 no_lies || bad "health still tells of lies: $(ctl health)"
	# promise: A1
	note "devices that lie later"
	late node-guid-random --share 20% --spare "$manager" --pick "$seed"
	late neighbor-mtu-256 --share 5% --spare "$manager" --pick "$seed"
	# promise: A58
	note "a name that is no text"
	what="a name that is no text" name=$(nth ca 11)
	lie description --at "$name"
	nameless() { ! named && [ "$(ctl -j nodes | jq -r .[].description | grep -cP '[^ -~]')" = 1 ]; }
	for i in 1 2 3; do	# random bytes may be text by chance
		sim_do trap "$name" 144
		until_ 2 nameless && break
	done
	nameless || bad "the false name is not known: $(ctl nodes)"
	truth_returns
	fabric_ends
	# promise: A2
	note "a claim to the manager's GUID"
	fabric ring:5,hosts=2
	early node-guid-sm --at "$(nth ca 4)"
	fabric_ends
	note "two devices that say the same of themselves"
	fabric hypercube:d=3
	for name in "$(nth switch 2)" "$(nth switch 3)" "$(nth ca 3)"; do
		tell=$name
		early other-node --at "$name"
	done
	fabric_ends
	# promise: A63
	note "links that lies keep from coming up"
	fabric random:switches=8,hosts=12
	early port-state-0 --share 40% --spare "$manager" --pick 26913
	fabric_ends
	note "a host that answers by a link that is down, as it says"
	fabric mesh:3x3
	what="PortState 1 of a host" name=$(nth ca 7)
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	lie port-state-1 --at "$name"
	sim_do link flap "$name/P1" --interval 0.05
	until_ 10 told "$name" || bad "health does not tell of $name: $(ctl health)"
	truth_returns
	# promise: A2
	note "a switch that is up begins to number its ports falsely"
	what="LocalPortNum 254 of a switch, later" name=$(nth switch 7)
	lie local-port-254 --at "$name"
	named_by_number() { ctl health | grep -F device-lies | grep -F "$name" | grep -qF 'LocalPortNum 254'; }
	until_ 10 named_by_number || bad "health does not tell of $name: $(ctl health)"
	honest
	served || bad "$unserved is not served: $what"
	truth_returns
	until_ $((2 * light + 3)) no_lies || bad "health still tells of lies: $(ctl health)"
	fabric_ends
	note "a switch that gives another SM LID than it was told"
	fabric random:switches=8,hosts=12
	early sm-lid-random --share 5% --spare "$manager" --pick 18243 --chance 53%
	note "a switch whose answers are garbage now and then, and its SwitchInfo is not written"
	early garbage --share 5% --spare "$manager" --pick 1595 --chance 58%
	note "a host that says it is a port of a switch that has no link"
	tell=$(nth ca 4)
	late other-node --at "$tell"
	fabric_ends
	note "links that train anew beside a switch whose PortStates are false"
	fabric clos:4x2,hosts=3
	what="PortState 15 of a spine" name=$(nth switch 5)
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	lie port-state-15 --at "$name"
	for i in 1 2 3 4; do
		sim_do link flap "$name/P$i" --interval 0.001
	done
	judge
	truth_returns
	fabric_ends
	note "a link that trains anew beside a switch whose answers fit no question"
	fabric clos:4x2,hosts=3
	what="a link of a switch that is as good as silent" name=$(nth switch 5)
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	lie modifier --at "$name"
	named_as_silent() { ctl health | grep -F device-silent | grep -qF "$name"; }
	until_ 10 named_as_silent || bad "health does not tell of $name: $(ctl health)"
	sim_do link flap "$name/P2" --interval 0.05
	judge
	until_ 5 subnet_up || bad "the silent switch keeps the subnet from being up: $(ctl health)"
	truth_returns
	fabric_ends
	# promise: A105
	note "the only way that forwards goes down and up again"
	fabric fat-tree:k=4
	early linear-cap-0 --share 40% --spare "$manager" --pick 4876
	fabric_ends
	note "links that train anew between switches that are as good as silent"
	fabric fat-tree:k=4
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	late transaction --share 40% --spare "$manager" --pick 21880
	fabric_ends
	# promise: A109
	note "a NeighborMTU that there is not, for long"
	fabric clos:2x2,hosts=3
	what="NeighborMTU 15 for long" name=$(nth switch 2)
	switches=$(grep -c ^switch nodes.list)
	lie neighbor-mtu-15 --at "$name"
	rm -rf state
	start_qosd "$manager" -c qosd.yaml
	until_ 20 has_looked $((7 * switches)) || bad "no light sweeps: $what"	# what is refused is so for good by then
	tell=$name
	judge
	! ctl health | grep device-refuses || bad "what cannot be was sent back to who said it"
	truth_returns
	until_ 5 no_lies || bad "health still tells of lies: $(ctl health)"
	fabric_ends
	# promise: A89
	note "an LMC that no LID can have"
	fabric clos:2x2,hosts=3
	what="LMC 7" name=$(nth ca 3)
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	lie lmc-7 --at "$name"
	for i in 1 2; do	# the second time, qosd knows that the device keeps its value
		sim_do link flap "$name/P1" --interval 0.05
		until_ 5 connected "$manager" "$name" || bad "a host that says LMC 7 is not served, time $i: $(ctl health)"
	done
	truth_returns
	# promise: A108
	note "errors from a host whose link was down for a moment"
	what="errors after a link was down" name=$(nth ca 4)
	lie status --at "$name"
	kill -STOP "$qosd"	# so that it only sees that the link has retrained
	sim_do link down "$name/P1"
	sim_do link up "$name/P1"
	trained() { sim_ctl show links | grep -F "$name/P1" | grep -qw init; }
	until_ 5 trained || bad "the link of $name is not up again: $(sim_ctl show links | grep -F "$name/P1")"
	kill -CONT "$qosd"
	until_ 10 told "$name" || bad "health does not tell of $name: $(ctl health)"
	truth_returns
	# promise: A88
	note "the manager's own switch takes another one's port GUID"
	what="port GUID of another switch" name=$(nth switch 1)
	lie port-guid-other --at "$name"
	named_by_health() { ctl health | grep 'device-lies' | grep -F "$name" | grep -qF 'reports the port GUID of'; }
	until_ 10 named_by_health || bad "health does not tell of $name: $(ctl health)"
	truth_returns
	until_ 5 no_lies || bad "health still tells of lies: $(ctl health)"
	fabric_ends
	note "a switch that says that its links are down, beside switches that are linked with each other"
	fabric torus:3x3,hosts=2
	rm -rf state
	start_and_wait "$manager" -c qosd.yaml
	late port-state-1 --at "$(nth switch 7)"
	fabric_ends
	# promise: A110
	note "switches that claim to be adapters"
	fabric clos:4x2,hosts=1
	switches=$(grep -c ^switch nodes.list)
	all_there() { says nodes 10 && says switches "$switches" && subnet_up; }
	as_adapters() {
		local name
		until_ 10 all_there || bad "$(status switches) switches, $(status nodes) nodes: $what"
		for name; do
			until_ 5 told "$name" || bad "health does not tell of $name: $what: $(ctl health)"
		done
		until_ 30 calm || bad "they cause sweeps: $what: $(grep 'sweep: starts' "$qosd_log" | tail -n 3)"
		truth_returns
		until_ 5 no_lies || bad "health still tells of lies: $what: $(ctl health)"
	}
	own=$(nth switch 1)
	grep -qF "$manager" <(awk -F '\t' -v own="$own" '$1 == own || $2 == own' links.list) ||
		fail "$own is not the manager's switch"
	what="the manager's switch as an adapter, from the start"
	lie node-type-other --at "$own"
	rm -rf state
	start_qosd "$manager" -v -c qosd.yaml
	as_adapters "$own"
	what="the manager's switch as an adapter, later"
	lie node-type-other --at "$own"
	sim_do link flap "$own/P2" --interval 0.05
	as_adapters "$own"
	what="the manager's switch as an adapter once its link was down"
	lie node-type-other --at "$own"
	sim_do link flap "$manager/P1" --interval 0.05
	as_adapters "$own"
	stop_qosd || bad "exit status $? after SIGTERM"
	what="all switches as adapters"
	mapfile -t every < <(awk -F '\t' '$1 == "switch" { print $2 }' nodes.list)
	for name in "${every[@]}"; do
		lie node-type-other --at "$name"
	done
	rm -rf state
	start_qosd "$manager" -v -c qosd.yaml
	as_adapters "${every[@]}"
	fabric_ends
	# promise: A110
	note "a new host with an impossible PortState"
	fabric clos:2x2,hosts=3
	name=$(nth ca 5)
	rm -rf state
	start_and_wait "$manager" -v -c qosd.yaml
	for kind in port-state-0 port-state-1; do
		what="$kind of a host that comes"
		unplug "$name" 1
		until_ 5 says nodes 9 || bad "not gone: $what"
		lie "$kind" --at "$name"
		plug "$name" 1
		until_ 5 told "$name" || bad "health does not tell of $name: $(ctl health)"
		until_ 5 says nodes 10 && until_ 5 says unanswered-links 0 ||
			bad "it is not there: $what: $(ctl health)"
		truth_returns
	done
	fabric_ends
	# promise: A110
	note "a device that is excluded causes no sweeps"
	fabric clos:2x2,hosts=3
	what="left out for good"
	lie ports-0 --at "$(nth ca 6)"
	rm -rf state
	start_qosd "$manager" -v -c qosd.yaml
	judge
	switches=$(grep -c ^switch nodes.list)
	until_ 30 calm || bad "a device that is excluded causes sweeps: $(grep 'sweep: starts' "$qosd_log" | tail -n 3)"
	truth_returns
	note "a twin that answers late once its link is up"
	what="a twin that is silent for a while" name=$(nth ca 4)
	lie other-node --at "$name"
	sim_do link flap "$name/P1" --interval 0.05
	until_ 10 says nodes 10 && until_ 10 told "$name" || bad "it is not there: $what: $(ctl health)"
	set_up() { status_is sweeping=false subnet-up=true; }
	until_ 10 set_up || bad "it is not set up: $what"
	unplug "$name" 1
	until_ 5 says nodes 9 || bad "not gone: $what"
	sim_do fault add drop --class smp --at "$name"
	silence=$(awk '{ print $2 }' sim.out)
	plug "$name" 1
	until_ 5 says unanswered-links 1 || bad "its link is not known to be up: $what"
	sim_do fault remove "$silence"
	until_ 15 says nodes 10 || bad "it is not there again: $what: $(ctl health)"
	truth_returns
	fabric_ends
	note "a twin that is silent for the sweep that follows the one it was found by"
	fabric clos:2x2,hosts=3
	what="a twin that is plugged in again while the sweep goes on that found it" name=$(nth ca 4)
	rm -rf state
	start_and_wait "$manager" -v -c qosd.yaml
	sim_do fault add delay --method get-resp --attr P_KeyTable --for 800ms
	slow=$(awk '{ print $2 }' sim.out)
	lie other-node --at "$name"
	sim_do link flap "$name/P1" --interval 0.05
	until_ 10 told "$name" || bad "it is not told of: $what: $(ctl health)"
	sim_do fault add drop --class smp --at "$name"
	silence=$(awk '{ print $2 }' sim.out)
	unplug "$name" 1
	sleep 0.1
	plug "$name" 1
	until_ 10 says unanswered-links 1 || bad "its link is not known to be up: $what: $(ctl health)"
	sim_do fault remove "$silence"
	sim_do fault remove "$slow"
	until_ 15 says nodes 10 || bad "it is not there again: $what: $(ctl health)"
	truth_returns
	fabric_ends
	# promise: A60
	note "devices that are odd for good"
	fabric clos:2x2,hosts=3
	what="odd for good"
	rm -rf state
	start_and_wait "$manager" -v -c qosd.yaml
	switches=$(grep -c ^switch nodes.list)
	until_ 30 calm || bad "sweeps without a reason: $(grep 'sweep: starts' "$qosd_log" | tail -n 3)"
	smps_calm=$smps looks_calm=$looks
	lie vl-cap-15 --at "$(nth ca 2)"
	lie port-guid-other --at "$(nth ca 3)"
	lie node-guid-random --at "$(nth ca 4)"
	lie port-state-0 --at "$(nth ca 5)"
	lie ports-0 --at "$(nth ca 6)"
	provoke
	for i in 2 3 4 5 6; do
		until_ 10 told "$(nth ca $i)" || bad "health does not tell of $(nth ca $i): $(ctl health)"
	done
	until_ 30 calm || bad "odd devices cause sweeps: $(grep 'sweep: starts' "$qosd_log" | tail -n 3)"
	note "$smps_calm SMPs with $looks_calm questions to switches, $smps with $looks and five odd devices, $again again"
	# One more light sweep may have begun.  Each queries every odd device once and reads its name.
	sweeps=$((looks / switches + 1))
	expect_less "SMPs of light sweeps with five odd devices" \
		$((smps_calm * sweeps * switches / looks_calm + sweeps * 2 * 5 + 8 + again)) "$smps"
	truth_returns
	until_ 5 no_lies || bad "health still tells of lies: $(ctl health)"
	fabric_ends
	note "a switch that numbers its ports falsely for good"
	fabric ring:5,hosts=2
	what="odd for good, a switch"
	lie local-port-other --at "$(nth switch 3)"
	rm -rf state
	start_qosd "$manager" -v -c qosd.yaml
	judge
	sleep $((2 * light)).1
	renamed=$(grep -c 'sweep: starts: a device no longer has' "$qosd_log")
	[ "$renamed" -le 1 ] || bad "$renamed discoveries in two light sweeps, for what never changed"
	truth_returns
	fabric_ends
	exit
fi

# run_case MOMENT KIND WHO [PICK or NODE]: runs one case on the present fabric.
run_case() {
	local moment=$1 kind=$2 who=$3 pick=${4:-$RANDOM} name options before=$wrong begin=${EPOCHREALTIME/./}
	[ -n "${qosd:-}" ] || moment=early	# the first case starts the manager
	options=(--share "$who" --spare "$manager" --pick "$pick")
	case $who in
	one)
		name=${*:4} name=${name:-$(some_device)} pick=$name
		options=(--at "$name")
		! is_to_be_told "$kind" "$name" || tell=$name
		;;
	1%) tell_kind=$kind ;;
	5%) options+=(--chance $((10 + pick % 91))%) ;;
	esac
	$moment "$kind" "${options[@]}"
	cases=$((cases + 1))
	[ -z "${LIES_TABLE:-}" ] ||
		printf '%s\t%s\t%s\t%s\t%s\t%s\t%d\n' "$topology" "$moment" "$kind" "$who" "$pick" \
			"$([ "$wrong" -eq "$before" ] && echo right || echo wrong)" \
			$(((${EPOCHREALTIME/./} - begin) / 1000)) >>"$LIES_TABLE"
}
time_is_left() { [ "${EPOCHREALTIME/./}" -lt $end_us ]; }

cases=0
if [ -n "${LIES_CASES:-}" ]; then
	while time_is_left && read -r -u 3 at case; do
		[ "$at" = "${topology:-}" ] || { [ -z "${topology:-}" ] || fabric_ends; fabric "$at"; }
		# shellcheck disable=SC2086 # words
		run_case $case
	done 3<"$LIES_CASES"
	[ -z "${topology:-}" ] || fabric_ends
	note "$cases cases of $(wc -l <"$LIES_CASES")"
	exit
fi
fabric "${fabrics[0]}"
mapfile -t kinds < <(rows fault kinds | sed -nE 's/.*"falsehood": "([^"]*)".*/\1/p')
fabric_ends
[ -z "${LIES_ONLY:-}" ] || kinds=("$LIES_ONLY")
[ -z "${LIES_FABRIC:-}" ] || fabrics=("$LIES_FABRIC")

# deck NUMBER: prints all cases on that fabric, one a line, in an order that depends on the seed.
deck() {
	local kind who moment
	for kind in "${kinds[@]}"; do
		for who in ${LIES_WHO:-one 1% 5% 40%}; do
			for moment in early late late late late; do
				echo "$moment $kind $who"
			done
		done
	done | sort -u | awk -v seed=$((seed + $1)) 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f 2
}

for i in "${!fabrics[@]}"; do deck "$i" >"deck.$i"; done
hands=0 all=$(cat deck.* | wc -l)
while time_is_left; do
	i=$((hands % ${#fabrics[@]})) pass=$((hands / ${#fabrics[@]}))
	mapfile -t hand < <(cat "deck.$i" "deck.$i" | tail -n +$((1 + pass * 10 % $(wc -l <"deck.$i"))) | head -n 10)
	fabric "${fabrics[i]}"
	for case in "${hand[@]}"; do
		# shellcheck disable=SC2086 # words
		run_case $case
		time_is_left || break
	done
	fabric_ends
	hands=$((hands + 1))
done
note "$cases cases, of $all that there are; the slowest took $((slowest / 1000)) ms: $slowest_what"
