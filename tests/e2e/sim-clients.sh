#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what hosts register with the SA: services with their leases, and subscriptions, which
# the SA serves with Reports.  saquery and srp_daemon show what clients see.  All
# registrations survive a restart of the daemon.
#
# promise: N2
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim delivers no Reports"
[ -x "$tools/saclient" ] || { echo "$tools/saclient is missing: make check-programs"; exit 1; }

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
node001=H-f452140300811230 node001_guid=f452140300811231
node002=H-f452140300811240
node017=H-248a070300a25c40 node017_guid=248a070300a25c41
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
group=ff12:401b:ffff::77
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: limited, 0x7cfe900300b42e80: full, 0x7cfe900300b42f40: full}, ipoib: true}
  tenant: {pkey: 0x20, members: {0xf452140300811231: full, 0x248a070300a25c41: full}}
END
cat >profiles.yaml <<'END'
profiles:
  talkative: {other-notices: true, capability-notices: true}
  target: {like: talkative, srp-target: true}
nodes:
  - {name: "*", profile: talkative}
  - {name: "srp01*", profile: target}
END

client() { on_own "$1" "$tools/saclient" "${@:2}" 2>&1; }
service() { client "$1" service "${@:2}"; }
# listen NAME NODE ARGUMENT...: starts a subscriber; the Reports that it receives are in heard.NAME.
listen() {
	local name=$1 as
	: >"heard.$name"
	as_own "$2"
	shift 2
	"${as[@]}" "$tools/saclient" "$@" >"heard.$name" 2>&1 &
	pids+=($!)
	until_ 10 grep -q ^ready "heard.$name" || bad "$name can't listen: $(<"heard.$name")"
}
heard() { [ "$(grep -cE "$2" "heard.$1")" -ge "${3:-1}" ]; }
# hears NAME WHAT REGEXP [TIMES]: the subscriber must receive such a Report.
hears() { until_ 10 heard "$1" "$3" "${4:-}" || bad "$1 does not hear of $2: $(tail -n 3 "heard.$1")"; }
member() {
	on_own "$gpu01" "$tools/pathquery" "$1" member mgid=$group port-gid="$(gid $gpu01_guid)" join-state=1 \
		qkey=0xb1b pkey="${2:-0xffff}" tclass=0 sl=0 flow-label=0 2>&1
}
services() { ctl -j services | grep -c '"service-id"'; }
subscriptions() { ctl -j subscriptions | grep -c '"enum"'; }
same_services() { [ "$(services)" = "$1" ]; }
same_subscriptions() { [ "$(subscriptions)" = "$1" ]; }

sim_options=(--profiles profiles.yaml)
start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml

note "services"
mine=$(gid $node001_guid)
expect_match "an answer to a Set" "^id=0x1234 gid=$mine pkey=0x20 lease=3600 key=0+ name=store data=0700.*09\$" \
	"$(service "$node001" set id=0x1234 gid="$mine" pkey=0x20 lease=3600 key=0a0b name=store data8.1=7 data64.2=9)"
seen=$(on "$node017" saquery -S ServiceRecord 2>&1)
expect_match "ServiceRecord by saquery" "ServiceID\.+0x0+1234" "$seen"
for field in "ServiceGID\.+$mine" "ServiceP_Key\.+0x20" "ServiceName\.+store" "ServiceData8.1\.+0x7" \
	"ServiceData64.2\.+0x0+9"; do
	expect_match "ServiceRecord by saquery" "$field" "$seen"
done
expect "what one sees who is not in the partition" "" "$(on "$node002" saquery -S ServiceRecord 2>&1 | grep ServiceID)"
expect "a Get by who is not in the partition" status=0x0300 "$(service "$node002" get id=0x1234)"
expect "a Set by who is not in the partition" status=0x0200 "$(service "$node002" set id=1 gid="$mine" pkey=0x20)"
expect "a change without the key" status=0x0700 "$(service "$node017" set id=0x1234 gid="$mine" pkey=0x20 name=mine)"
expect "an end without the key" status=0x0700 "$(service "$node017" delete id=0x1234 gid="$mine" pkey=0x20)"
expect_match "a change with it" " name=changed " \
	"$(service "$node017" set id=0x1234 gid="$mine" pkey=0x20 key=0a0b lease=3600 name=changed)"
expect "no ServiceGID" status=0x0600 "$(service "$node001" set id=5)"
expect_match "one with a short lease" " lease=2 " "$(service "$node001" set id=5 gid="$mine" lease=2)"
expect_match "one for ever" " lease=4294967295 " "$(service "$node001" set id=6 gid="$mine" name=eternal)"
expect_match "qosd-ctl" "0x0000000000000006  0xffff    for ever  $mine +eternal" "$(ctl services)"
until_ 5 same_services 2 || bad "the lease of 2 s is not over: $(ctl services)"
expect "the one whose lease is over" status=0x0300 "$(service "$node001" get id=5)"

note "subscriptions"
listen node001 "$node001" listen trap=64 -- trap=65 -- trap=66 -- trap=67 -- trap=144 resp=18 -- trap=128
listen node002 "$node002" -d listen trap=66
listen own "$sm_node" listen trap=66
listen trusted "$node017" -k 1 listen trap=0xffff
expect "a security trap without the SM_Key" status=0x0700 "$(client "$node002" subscribe trap=256)"
expect "a subscription that there is none of" status=0x0200 "$(client "$node002" unsubscribe trap=64)"
expect "of those whom one may not talk to" status=0x0200 "$(client "$node002" subscribe gid="$mine")"
expect "of a port that is not there" status=0x0500 "$(client "$node002" subscribe gid=fe80::1:2:3:4)"
expect "subscribing twice" "" "$(client "$node001" subscribe trap=64)"
expect "subscriptions" 9 "$(subscriptions)"
records=$(on "$node017" saquery -I 2>&1)
expect "InformInfoRecords that a member of the partition sees" 8 "$(grep -c SubscriberEnum <<<"$records")"
expect_match "InformInfoRecord by saquery" "SubscriberGID\.+$mine.*trap_num\.+64" "$records"
expect "the QP, for who does not have the SM_Key" "" "$(grep -E 'qpn\.+[0-9]' <<<"$records")"
expect_match "qosd-ctl" "1 +65 +all +all +1 +all +node001 HCA-1/P1" "$(ctl subscriptions)"

note "events"
unplug "$gpu01"
hears node001 "a port that is gone" "^trap=128 type=1 "
sleep 0.5
expect "ports that are gone, for one who shares no partition with them" "" "$(grep ^trap=65 heard.node001)"
plug "$gpu01"
unplug "$node017"
hears node001 "a port that is gone" "^trap=65 type=3 producer=4 lid=1 issuer=$(gid f452140300811201) gid=$(gid $node017_guid) "
plug "$node017"
hears node001 "a port that is back" "^trap=64 type=3 producer=4 .* gid=$(gid $node017_guid) "
until_ 10 subnet_up || bad "the subnet is not up again"
expect_match "a new group" "mlid=" "$(member set)"
hears node001 "a new group" "^trap=66 .* gid=$group "
hears own "a new group, on the node of the SM itself" "^trap=66 .* gid=$group "
member delete >/dev/null
hears node001 "a group that is gone" "^trap=67 .* gid=$group "
sim_do node rename "$node017" "another name"
hears node001 "a new name" "^trap=144 type=4 producer=1 .* issuer=$(gid $node017_guid) "
expect "events that were told twice" "" "$(grep -oE 'tid=.*' heard.node001 | sort | uniq -d)"
# The trusted subscriber's port was down meanwhile, but its earlier subscription remains.
hears trusted "a group that is gone" "^trap=67 .* gid=$group "

note "a subscriber that does not answer"
for _ in 1 2 3; do
	member set >/dev/null
	member delete >/dev/null
done
deaf_is_gone() { same_subscriptions 8; }
until_ 20 deaf_is_gone || bad "who does not answer is a subscriber still: $(ctl subscriptions)"
expect_match "the log" "0xf452140300811241 QP 1 does not answer Reports" "$(<"$qosd_log")"
expect "the event" "0xf452140300811241 1" \
	"$(ctl -j events --kind subscriber-dropped | jq -r '"\(.data.guid) \(.data.qpn)"')"
until_ 5 heard node002 ^trap=66 9 || bad "Reports that the deaf one got: $(grep -c ^trap=66 heard.node002)"
expect "tries of each Report" 3 "$(grep -oE 'tid=.*' heard.node002 | sort | uniq -c | awk '{ print $1 }' | sort -u)"
expect "Reports to it" 9 "$(grep -c ^trap=66 heard.node002)"
hears node001 "all of these groups" "^trap=66 " 4

note "a restart"
ctl -j subscriptions >before
left() { service "$node001" get id=0x1234 pkey=0x20 | sed -nE 's/.* lease=([0-9]+) .*/\1/p'; }
left_before=$(left)
service "$node001" set id=7 gid="$mine" lease=2 >/dev/null
is_stored() {
	grep -qs '^service 0x0*7 ' state/services && [ "$(grep -c '^subscription ' state/subscriptions)" = 8 ]
}
until_ 10 is_stored || bad "what was registered is not stored: $(cat state/services state/subscriptions)"
stop_qosd KILL
sleep 2
start_and_wait "$sm_node" -p policy.yaml
expect "Sets after a kill and a restart" 0 "$(sets)"
ctl -j subscriptions >after
expect_same "subscriptions" before after
expect "services, but for the one whose lease ended meanwhile" 2 "$(services)"
expect_match "the key" " name=changed " "$(service "$node001" set id=0x1234 gid="$mine" pkey=0x20 key=0a0b lease=$((left_before - 2)))"
expect_less "what is left of the lease" "$left_before" "$(left)"
member set >/dev/null
hears node001 "a group that was made after the restart" "^trap=66 " 5
stop_qosd || bad "exit status $? after SIGTERM"
for file in services subscriptions; do
	printf 'x' | dd of="state/$file" bs=1 seek=30 conv=notrunc 2>/dev/null
done
start_and_wait "$sm_node" -p policy.yaml
expect "what is left of damaged files" "0 0" "$(services) $(subscriptions)"
for file in services subscriptions; do
	[ -f "state/$file.damaged" ] || bad "$file is not set aside"
done
[ "$(sets)" -gt 0 ] || bad "nobody is asked to register again"

note "SRP"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node"
for program in srp_daemon ibsrpdm; do
	options=(-c)
	[ $program = ibsrpdm ] || options=(-o -c)
	on "$node001" timeout 30 $program "${options[@]}" >targets 2>srp.log || bad "$program: exit status $?: $(tail -n 3 srp.log)"
	expect_match "targets by $program" "dgid=fe800000000000000002c903000e83b1" "$(<targets)"
done
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# Two switches: one has the SM and 20 subscribers; the other, with 250 hosts, fails.
note "a burst"
awk 'BEGIN {
	hosts["a"] = 21; hosts["b"] = 250
	for (s = 1; s <= 2; s++) {
		name = s == 1 ? "a" : "b"; other = s == 1 ? "b" : "a"
		printf "vendid=0x2c9\ndevid=0xcb20\nsysimgguid=0x100%s\nswitchguid=0x100%s(100%s)\n", name, name, name
		printf "Switch\t254 \"S-000000000000100%s\"\t\t# \"switch-%s\" enhanced port 0 lid 0 lmc 0\n", name, name
		for (i = 1; i <= hosts[name]; i++)
			printf "[%d]\t\"H-0000000000%s%05x\"[1](%s%05x)\t\t# \"host-%s-%d\" lid 0 4xEDR\n", i, name, i * 16, name, i * 16 + 1, name, i
		printf "[254]\t\"S-000000000000100%s\"[254]\t\t# \"switch-%s\" lid 0 4xEDR\n\n", other, other
		for (i = 1; i <= hosts[name]; i++) {
			printf "vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x%s%05x\ncaguid=0x%s%05x\n", name, i * 16, name, i * 16
			printf "Ca\t1 \"H-0000000000%s%05x\"\t\t# \"host-%s-%d\"\n", name, i * 16, name, i
			printf "[1](%s%05x) \t\"S-000000000000100%s\"[%d]\t\t# lid 0 lmc 0 \"switch-%s\" lid 0 4xEDR\n\n", name, i * 16 + 1, name, i, name
		}
	}
}' >burst.topo
rm -rf state
start_sim burst.topo
start_and_wait host-a-1
for i in {2..21}; do
	listen "a-$i" "host-a-$i" -t 120 listen trap=64 -- trap=65
done
begin=${EPOCHREALTIME/./}
unplug switch-a 254
all_heard() {
	local i
	for i in {2..21}; do
		[ "$(grep -c "^trap=$1 " "heard.a-$i")" -ge 251 ] || return 1
	done
}
until_ 20 all_heard 65 || bad "somebody has not heard of all: $(grep -c ^trap=65 heard.a-* | sort | uniq -c)"
down=$(((${EPOCHREALTIME/./} - begin) / 1000))
begin=${EPOCHREALTIME/./}
plug switch-a 254
until_ 20 all_heard 64 || bad "somebody has not heard of all: $(grep -c ^trap=64 heard.a-* | sort | uniq -c)"
note "250 hosts and their switch go and come: 20 subscribers heard of it in $down ms, $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
expect "what each of them heard" 502 "$(for i in {2..21}; do grep -c ^trap "heard.a-$i"; done | sort -u)"
expect "events that were told twice" "" \
	"$(for i in {2..21}; do grep -oE '^trap=6[45]| gid=[^ ]*' "heard.a-$i" | paste - - | sort | uniq -d; done | head -n 3)"
expect "warnings" "" "$(grep ' warning: sa:' "$qosd_log")"
expect "subscriptions" 40 "$(subscriptions)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
