#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests which sender a subnet manager obeys and to whom it gives which key: each cell of the
# table in qosd-security(7), with requests that an ordinary host forges.  a is master, c
# stands by; b and d are ordinary hosts.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim lets any program be a subnet manager's"

cat >four.topo <<'END'
vendid=0x8f1
devid=0x5a06
switchguid=0x900(900)
Switch	8 "S-0000000000000900"		# "left" base port 0 lid 0 lmc 0
[1]	"H-0000000000000100"[1](101)		# "a HCA-1" lid 0 4xQDR
[2]	"H-0000000000000200"[1](201)		# "b HCA-1" lid 0 4xQDR
[3]	"H-0000000000000300"[1](301)		# "c HCA-1" lid 0 4xQDR
[4]	"H-0000000000000400"[1](401)		# "d HCA-1" lid 0 4xQDR
END
{
	host_topology a 1 900 1
	host_topology b 2 900 2
	host_topology c 3 900 3
	host_topology d 4 900 4
} >>four.topo

declare -A host=([a]=H-0000000000000100 [b]=H-0000000000000200 [c]=H-0000000000000300
	[d]=H-0000000000000400)
declare -A guid=([a]=0x101 [b]=0x201 [c]=0x301 [d]=0x401) port=([a]=1 [b]=2 [c]=3 [d]=4)
secret=0x1122334455667788 m_key=0x0000cafe0000cafe
hidden=0x0000000000000000
declare -A pid
# run NAME [LINE...]: starts a qosd on that host with these settings.
run() { run_manager "$1" 'sweep-interval: 1' "${@:2}"; }
state_is() { [ "$(of "$1" status state)" = "$2" ]; }
up() { state_is "$1" master && of "$1" status_is subnet-up=true sweeping=false; }
soon() { until_ 15 "${@:2}" || bad "$1: $(grep -h election ./*/log | tail -n 12)"; }
# forge NAME TO ARGUMENT...: sends a forged SMP from host NAME to the port of host TO, by directed route,
# or by LID with -L.
forge() { on_own "${host[$1]}" "$tools/forgesm" -r "1,${port[$2]}" "${@:3}"; }
# be NAME ARGUMENT...: starts a false subnet manager on that host; $being is its PID.
be() {
	local as
	as_own "${host[$1]}"
	"${as[@]}" "$tools/forgesm" "${@:2}" be >be.out 2>&1 &
	being=$!
	pids+=("$being")
	until_ 10 grep -q ready be.out || bad "$1 can't be a manager: $(<be.out)"
}
part() { sed -nE "s/.*$1=([^ ]*).*/\1/p"; }	# prints one value of forge's output
# as_before WHAT: a must be master and c must stand by.
both_are() { state_is a master && state_is c standby; }
as_before() { both_are || bad "$1: a is $(of a status state), c is $(of c status state)"; }
pair() {	# starts two subnet managers with these settings
	run a "$@"
	soon "a is master" up a
	run c "$@"
	soon "c stands by" state_is c standby
	lid_map "${host[a]}" >lids
	declare -gA lid=([a]=$(awk '$1 ~ /0101$/ { print $2 }' lids) [c]=$(awk '$1 ~ /0301$/ { print $2 }' lids))
}
finish() {
	local name
	for name in "${!pid[@]}"; do end "${pid[$name]}"; done
	pid=()
	stop_sim
	rm -rf ./[abcd]
}

# The table of requests: sender, receiver, the keys and state in the request, and the SM_Key in the answer.
ask_table() {	# LINES: NAME TO WAY M_KEY SM_KEY STATE TOLD
	local name to way shows_m shows_sm state told got by
	while read -r name to way shows_m shows_sm state told; do
		by=()
		[ "$way" = route ] || by=(-L "${lid[$to]}")
		got=$(forge "$name" "$to" "${by[@]}" -m "$shows_m" -k "$shows_sm" -s "$state" -g "${guid[$name]}" -p 15 send)
		expect "SM_Key that $name is told by $to by $way, who shows $shows_m, $shows_sm, state $state" \
			"$told" "$(part key <<<"$got")"
	done
}

start_sim four.topo
pair "sm-key: $secret"
# promise: A40
note "SMInfo Get without an M_Key: the SM_Key is told to nobody who has not shown it"
# what the pair's start still causes, on a busy machine seconds later, must not be counted
is_calm() { sweeps_before=$(of a status sweeps) && sleep 0.5 && of a status_is sweeping=false "sweeps=$sweeps_before"; }
until_ 20 is_calm || bad "sweeps do not end"
ask_table <<-END
	b a lid   0 0 0 $hidden
	b a route 0 0 0 $hidden
	b a route 0 0 2 $hidden
	b a route 0 0 3 $hidden
	b c lid   0 0 3 $hidden
	b c route 0 0 3 $hidden
	b c route 0 1 3 $hidden
END
# promise: A41
note "... and what it claims starts nothing"
expect "sweeps of the master" "$sweeps_before" "$(of a status sweeps)"
as_before "claims in Gets"

# promise: A40
note "a manager that answers with no key is told nothing; with ours, it is"
# OpenSM sends Get(SMInfo) without its own SM_Key
ask_as() { forge "$1" a -s 0 send | part key; }
be d -g 0x401 -k 0 -s 2
expect "SM_Key that d is told, which answers with none" $hidden "$(ask_as d)"
grep -q '^get' be.out || bad "d was not asked"
expect "requests that told d the SM_Key" 0 "$(grep -c "key=$secret" be.out)"
end "$being"
be b -g 0x201 -k $secret -s 2
is_told() { [ "$(ask_as b)" = $secret ]; }	# takes a while: qosd does not repeat a recent query at once
soon "b, which answers with ours, is told" is_told
end "$being"
# promise: A42
note "a manager of a high priority without our key is not handed over to, and not told the key"
be b -g 0x201 -k 5 -s 2 -p 15
known() { grep -q '0x0000000000000201.*priority 15.*has another SM_Key' a/log; }
soon "a sees it" known
as_before "a stranger of priority 15"
end "$being"
expect "requests that told b the SM_Key" 0 "$(grep -c "key=$secret" be.out)"
expect "controls that b was sent" 0 "$(grep -c '^set' be.out)"

# The table of controls: control, sender, the identity that it claims, and whether it is obeyed.
declare -A control=([HANDOVER]=1 [ACKNOWLEDGE]=2 [DISABLE]=3 [STANDBY]=4 [DISCOVER]=5)
control_table() {	# LINES: CONTROL FROM CLAIMS KEY
	local what from claims key way to by got
	while read -r what from claims key; do
		for to in a c; do
			[ "$from" != $to ] || continue
			for way in route lid; do
				by=()
				[ $way = route ] || by=(-L "${lid[$to]}")
				got=$(forge "$from" $to "${by[@]}" -c "${control[$what]}" -g "${guid[$claims]}" \
					-k "$key" -s 3 -p 15 send)
				expect_match "$what by $way from $from to $to, as $claims with the key $key" \
					"^(none|status=0x001c)" "$got"
			done
		done
		as_before "$what from $from as $claims with the key $key"
	done
}
# promise: A41
note "controls from who is not the master: each is refused, whatever it claims"
control_table < <(for what in HANDOVER ACKNOWLEDGE DISABLE STANDBY DISCOVER; do
	echo "$what b a $secret"	# the master's GUID and key, from another port
	echo "$what b b $secret"
	echo "$what b a 0"
	echo "$what a a 5"		# from the master's port, with another key
	echo "$what a d $secret"	# ... and not its GUID
done)

# promise: A41
note "a storm of what can be made up"
echo "seed ${ATTACK_SEED:=$RANDOM}"
storms=()
for to in a c; do
	forge d $to -L "${lid[$to]}" -g "${guid[$([ $to = a ] && echo c || echo a)]}" -x $secret \
		-S "$ATTACK_SEED" -T "$(attack_seconds 1)" storm >storm.$to &
	storms+=($!)
done
wait "${storms[@]}"
for to in a c; do
	expect_match "the storm on $to" "^sent [1-9][0-9]+ answers [1-9][0-9]* told 0$" "$(<storm.$to)"
done
as_before "a storm"

# promise: A41
note "the two hand over to each other, neither of which tells the key"
of c ctl priority 5 >/dev/null
soon "c is master" up c
soon "a stands by" state_is a standby
of c ctl priority 0 >/dev/null
soon "a is master" up a
soon "c stands by" state_is c standby

# promise: A41 A43
note "the master's own controls are obeyed, by either way"
expect "DISCOVER" 0x0000 "$(forge a c -c 5 -g 0x101 -k $secret -s 3 send | part status)"
soon "c stands by again" state_is c standby
expect "DISABLE" 0x0000 "$(forge a c -L "${lid[c]}" -c 3 -g 0x101 -k $secret -s 3 send | part status)"
soon "c is not active" state_is c not-active
told() { of "$1" ctl health | grep -qE "$2"; }
soon "the master's health tells it" told a "warning standby-not-active: .*0x0000000000000301"
soon "c's own health tells it" told c "error   not-active: the master disabled"
# promise: A43
note "STANDBY from b has it do nothing, from the master it stands by"
expect "STANDBY from b" 0x001c "$(forge b c -c 4 -g 0x101 -k $secret -s 3 send | part status)"
state_is c not-active || bad "c obeys b"
expect "STANDBY" 0x0000 "$(forge a c -c 4 -g 0x101 -k $secret -s 3 send | part status)"
soon "c stands by" state_is c standby
# promise: A43
note "a not-active one whose master dies says so, and takes over by qosd-ctl sweep"
expect "DISABLE" 0x0000 "$(forge a c -c 3 -g 0x101 -k $secret -s 3 send | part status)"
soon "c is not active" state_is c not-active
end "${pid[a]}" KILL
soon "c's health tells that nobody is left" told c "is gone: unless there is another standby"
state_is c not-active || bad "c is $(of c status state)"
of c ctl sweep >/dev/null
soon "c is master" up c
finish

# promise: A40
note "with an M_Key: it shows who may know the SM_Key, and 0 never does"
start_sim four.topo
run a "sm-key: $secret"		# so that 0 is among a's earlier M_Keys
soon "a is master" up a
end "${pid[a]}"
pair "sm-key: $secret" "m-key: $m_key" "m-key-protect: 1"
ask_table <<-END
	b a lid   0 0 0 $hidden
	b a route 0 0 3 $hidden
	b a route 1 0 3 $hidden
	b a route $m_key 0 3 $secret
	b a lid   $m_key 0 0 $secret
	b c lid   0 0 3 $hidden
END
expect "a control without the M_Key" none "$(forge a c -c 3 -g 0x101 -k $secret -s 3 send)"
as_before "a control without the M_Key"
expect "what health advises" "" "$(of a ctl health | grep no-m-key)"
expect "a control of the master with both keys" 0x0000 \
	"$(forge a c -m $m_key -c 3 -g 0x101 -k $secret -s 3 send | part status)"
soon "c is not active" state_is c not-active
finish

if command -v opensm >/dev/null; then
	# promise: A41 A84
	note "OpenSM of the same secret SM_Key, without an M_Key: handed over from and to"
	start_sim four.topo
	printf 'sm_key 0x%x\nsminfo_polling_timeout 300\npolling_retry_number 3\n' $secret >opensm.conf
	bring_up_opensm "${host[b]}" 15 -F opensm.conf -s 1
	run c "sm-key: $secret" "priority: 5"
	opensm_is() { [ "$(sed -nE 's/.*Entering ([A-Z]+) state.*/\1/p' opensm.dir/log | tail -n 1)" = "$1" ]; }
	soon "c is master" up c
	soon "OpenSM stands by" opensm_is STANDBY
	end "${pid[c]}" KILL
	soon "OpenSM is master" opensm_is MASTER
	run c "sm-key: $secret" "priority: 5"
	soon "c is master again" up c
	# OpenSM stands by once it has sent HANDOVER; if c put it off, both would stand by
	expect_match "a handover that c heard" "sent HANDOVER" "$(<c/log)"
	expect "handovers that c put off" 0 "$(grep -c "sent HANDOVER too early" c/log)"
	end "$opensm"
	finish
fi

# promise: A47
note "as it comes out of the box: health advises an M_Key, and is well"
start_sim four.topo
run a
soon "a is master" up a
expect_match "health" "^ok: master" "$(of a ctl health)"
expect_match "health" "info +no-m-key: without an M_Key, any host" "$(of a ctl health)"
# promise: A41
note "who says the SM_Key that everybody knows is obeyed only as the master, which is heard beside it"
run c
soon "c stands by" state_is c standby
lid_map "${host[a]}" >lids
forge d c -L "$(awk '$1 ~ /0301$/ { print $2 }' lids)" -g 0x101 -k 1 -S "$ATTACK_SEED" \
	-T "$(attack_seconds 1)" storm >storm.c &
storm=$!
soon "the storm is heard" grep -q "0x0000000000000101.*refused" c/log
as_before "a storm that says the SM_Key"
obeyed() { [ "$(forge a c -c 3 -g 0x101 -k 1 -s 3 send | part status)" = 0x0000 ]; }
soon "the master is obeyed meanwhile" obeyed
wait "$storm"
state_is c not-active || bad "c is $(of c status state)"
# promise: A44
note "the SM_Key that everybody knows ends nobody's service, and opens no key"
client() { on_own "${host[$1]}" "$tools/saclient" "${@:2}" 2>&1; }
client b service set id=0x77 gid=fe80::201 key=05050505050505050505050505050505 >/dev/null ||
	bad "b can't register a service"
client b service set id=0x78 gid=fe80::201 >/dev/null || bad "b can't register a service"
expect_match "d deletes what has a key" 0x0700 "$(client d -k 1 service delete id=0x77 gid=fe80::201)"
expect_match "d deletes what has none" 0x0700 "$(client d service delete id=0x78 gid=fe80::201)"
expect_match "... with the SM_Key" 0x0700 "$(client d -k 1 service delete id=0x78 gid=fe80::201)"
client b service delete id=0x78 gid=fe80::201 >/dev/null || bad "b can't delete its own"

raw() { on_own "${host[$1]}" "$tools/rawmad" "${@:2}"; }
# promise: A82
note "a GRH says nothing of who asks"
client b service set id=0x79 gid=fe80::201 >/dev/null || bad "b can't register a service"
by_grh() {	# HOST METHOD: sends a ServiceRecord request with a GRH
	raw "$1" -g fe80::101 3 "$2" 0x31 0 48:0000000000000003 56:0000000000000079 \
		64:fe800000000000000000000000000201 | cut -c 1-13
}
expect "Get by d, with a GRH" status=0x0000 "$(by_grh d 0x01)"
expect "Delete by d, with a GRH" status=0x0700 "$(by_grh d 0x15)"
expect "Delete by b, with a GRH" status=0x0000 "$(by_grh b 0x15)"

# promise: A82
note "other classes, and versions of them, are not for qosd: its kernel answers, or nobody does"
others() {
	local x at asking=()
	for x in 0x06 0x09 0x0a 0x0f 0x10 0x3:01 0x3:03 0x3:7f 0x1:02; do	# CLASS:VERSION
		at=()
		[ "$x" = "${x#*:}" ] || at=("2:${x#*:}")
		raw b "${x%:*}" 0x01 0x01 0 "${at[@]}" >"other.$x" 2>&1 &
		asking+=($!)
	done
	wait "${asking[@]}"
	for x in 0x06 0x09 0x0a 0x0f 0x10 0x3:01 0x3:03 0x3:7f 0x1:02; do
		echo "$x $(cut -c 1-13 "other.$x")"
	done
}
running=$(others)
kill -STOP "${pid[a]}"
expect "what they hear while qosd is stopped" "$running" "$(others)"
kill -CONT "${pid[a]}"

# promise: A83
note "a host overwrites the manager's own port: it is told, and repaired by the next light sweep"
expect "Set of its P_Key table" status=0x0000 "$(raw b 1 2 0x16 0 64:0001 | cut -c 1-13)"
served() { [ "$(raw d 3 0x12 0x11 0 | cut -c 1-13)" = status=0x0000 ]; }
# a light sweep may already have found and repaired the change
told() { grep -qE "a HCA-1.*: another program overwrote the P_Key table; repairing it" a/log; }
! served || until_ 5 told || bad "the Set changed nothing"
soon "others are served again" served
until_ 5 told || bad "the log: $(tail -n 5 a/log)"
expect_match "an event" "table-overwritten.*P_Key table" "$(of a ctl events)"
info=$(raw b 1 1 0x15 0 | sed 's/.* //')
# an M_Key with a protection under which anyone can read it; PortState 0 means no change
expect "Set of its M_Key" status=0x0000 \
	"$(raw b 1 2 0x15 0 "64:00000000deadbeef${info:16:48}$(printf %02x $((0x${info:64:2} & 0xf0)))$(
	printf %02x $((0x${info:66:2} & 0x0f)))${info:68}" | cut -c 1-13)"
is_clear() { [ "$(raw b 1 1 0x15 0 | sed 's/.* //' | cut -c 1-16)" = 0000000000000000 ]; }
soon "the M_Key is gone again" is_clear
finish
