#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests alias GUIDs, which a port requests or the SA assigns: smpquery reads them from the
# device, saquery from the SA, and paths lead to them.  They survive a crash of the daemon
# and a reboot of the device.  Each alias joins multicast groups as a member of its own;
# removing the alias ends its memberships.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim keeps no GUIDInfo"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
node001=H-f452140300811230 node001_guid=f452140300811231
node002=H-f452140300811240 node002_guid=f452140300811241
node017=H-248a070300a25c40
gpu01=H-248a070300a25dd0 gpu01_guid=248a070300a25dd1
alias=aaaa000000000001 second=aaaa000000000002
cat >qosd.yaml <<'END'
sm-key: 0x77
sweep-interval: 1
smp-timeout: 50ms
END

guidinfo() { on_own "$1" "$tools/pathquery" "$2" guidinfo "${@:3}" 2>&1; }
# entry N: prints this GUID of the record on standard input as 16 digits.
entry() { printf '%016x\n' "$(sed -nE "s/.* guid$1=(0x[0-9a-f]+).*/\1/p")"; }
# device GUID [N]: prints the GUIDs in the first block of the device's first port, as smpquery reads them.
device() { on "$sm_node" smpquery -G guidinfo "0x$1" 2>&1 | grep -oE '0x[0-9a-f]{16}' | sed 's/^0x//' | head -n "${2:-8}" | tr '\n' ' '; }
device_has() { [[ " $(device "$1" 32) " == *" $2 "* ]]; }
device_lacks() { ! device_has "$@"; }
dlid() { on "$node017" saquery PR --sgid "$(gid 248a070300a25c41)" --dgid "$(gid "$1")" 2>&1 | sed -nE 's/^[[:space:]]*dlid\.+([0-9]+)$/\1/p' | head -n 1; }
dgid() { on "$node017" saquery PR --sgid "$(gid 248a070300a25c41)" --dgid "$(gid "$1")" 2>&1 | sed -nE 's/^[[:space:]]*dgid\.+(.*)$/\1/p' | head -n 1; }
guid_sets() { ctl -j status | awk '/"GUIDInfo": \{/ { in_it = 1 } /"set":/ && in_it { n = $2; in_it = 0 } END { print n + 0 }'; }
guid_gets() { ctl -j status | awk '/"GUIDInfo": \{/ { in_it = 1 } /"get":/ && in_it { n = $2; in_it = 0 } END { print n + 0 }'; }

sim_options=()
start_sim "$topology"
start_and_wait "$sm_node" -c qosd.yaml
lid1=$(port_info "$sm_node" 0x$node001_guid 1 Lid)
lid2=$(port_info "$sm_node" 0x$node002_guid 1 Lid)

expect "SMPs for GUIDInfo where nobody has aliases" "0 0" "$(guid_gets) $(guid_sets)"
as_own "$node017"
"${as[@]}" "$tools/saclient" -t 100 listen trap=64 -- trap=65 >heard 2>&1 &
pids+=($!)
until_ 10 grep -q ^ready heard || bad "can't listen: $(<heard)"
hears() { until_ 10 grep -qE "^trap=$1 type=3 producer=4 .* gid=$(gid "$2") " heard || bad "no trap $1 of $2: $(<heard)"; }

note "an alias is given"
expect "a path to nobody's GID" "" "$(dlid $alias)"
answer=$(guidinfo "$node001" set lid="$lid1" block=0 guid1=0x$alias guid3=0)
expect "the answer" "$node001_guid $alias" "$(entry 0 <<<"$answer") $(entry 1 <<<"$answer")"
assigned=$(entry 3 <<<"$answer")
expect_match "one that is assigned" '^00140571' "$assigned"
until_ 5 device_has $node001_guid "$assigned" || bad "not on the device: $(device $node001_guid)"
expect "on the device" "$node001_guid $alias 0000000000000000 $assigned" "$(device $node001_guid 4 | sed 's/ $//')"
hears 64 $alias
hears 64 "$assigned"
expect_match "GuidInfoRecord by saquery" "$alias" "$(on "$node017" saquery GIR "$lid1" 2>&1 | tr -d ':')"
expect "where a path to it ends" "$lid1" "$(dlid $alias)"
expect "the GID in its record" "$(gid $alias)" "$(dgid $alias)"

note "who may have which"
expect "another's" 0000000000000000 "$(guidinfo "$node002" set lid="$lid2" block=0 guid1=0x$alias | entry 1)"
expect "another port's own" 0000000000000000 \
	"$(guidinfo "$node002" set lid="$lid2" block=0 guid1=0x$node001_guid | entry 1)"
expect "for another port" status=0x0700 "$(guidinfo "$node002" set lid="$lid1" block=0 guid2=1)"
expect "its own GUID" status=0x0200 "$(guidinfo "$node001" set lid="$lid1" block=0 guid0=1)"
expect "a block that is not there" status=0x0300 "$(guidinfo "$node001" set lid="$lid1" block=31 guid0=1)"
expect "no block" status=0x0600 "$(guidinfo "$node001" set lid="$lid1" guid1=1)"
expect "another one" $second "$(guidinfo "$node002" set lid="$lid2" block=1 guid2=0x$second | entry 2)"
until_ 5 device_has $node002_guid $second || bad "not on the device: $(device $node002_guid 16)"

# Two virtual machines behind node001, and another host.
# promise: S4
note "multicast groups of aliases"
group=ff12:401b:ffff::ffff:ffff
# member NODE set|delete GUID [JOINSTATE]: sends an MCMemberRecord request; prints the answer or its status.
member() {
	on_own "$1" "$tools/pathquery" "$2" member mgid=$group port-gid="$(gid "$3")" \
		join-state="${4:-1}" 2>&1 | tr ' ' '\n' |
		grep -E '^(port-gid|join-state|proxy-join|status)=' | sort | xargs
}
joined() { printf 'join-state=%s port-gid=%s proxy-join=0' "$2" "$(gid "$1")"; }
# in_group: prints the PortGIDs in the group, which saquery sees by the SM_Key.
in_group() { on "$node017" saquery --smkey 0x77 -m 0xc000 2>&1 | sed -nE 's/.*PortGid\.+([0-9a-f:]+).*/\1/p' | sort | xargs; }
gids() { for g in "$@"; do gid "$g"; done | sort | xargs; }
# reached N: whether the auditor finds no fault and each member reaches N ports.
reached() {
	"$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >audit 2>&1 &&
		[ "$(sed -nE 's/^multicast members +([0-9]+)$/\1/p' audit)" = "$1" ]
}
await_reached() {
	until_ 10 reached "$1" ||
		bad "$2: ports reached are not $1: $(grep -E '^multicast|: [0-9]*$' audit | head -n 5)"
}
expect "the other host" "$(joined 248a070300a25c41 1)" "$(member "$node017" set 248a070300a25c41)"
expect "one" "$(joined $alias 1)" "$(member "$node001" set $alias)"
expect "the other" "$(joined "$assigned" 1)" "$(member "$node001" set "$assigned")"
expect "members" "$(gids $alias "$assigned" 248a070300a25c41)" "$(in_group)"
await_reached 2 "three GIDs on two ports"
expect_match "members in text" "full +no +node001 [^(]*\(0x$node001_guid\) \(alias 0x$alias\)" "$(ctl mcast 0xc000)"
expect "their port in JSON" 2 "$(ctl -j mcast 0xc000 | grep -c "\"port-guid\": *\"0x$node001_guid\"")"
expect "the port itself is none" status=0x0200 "$(member "$node001" delete $node001_guid)"
expect "for the alias of another" status=0x0200 "$(member "$node002" delete $alias)"
expect_match "path to the group" "sgid=$(gid $alias) dlid=0xc000 slid=$(printf '0x%x' "$lid1") " \
	"$(on_own "$node001" "$tools/pathquery" get path sgid="$(gid $alias)" dgid=$group 2>&1)"
expect "one leaves" "$(joined $alias 0)" "$(member "$node001" delete $alias)"
expect "who is left" "$(gids "$assigned" 248a070300a25c41)" "$(in_group)"
sleep 0.3		# in case wrong tables follow
await_reached 2 "one of two has left"
# the port receives as long as any of its GIDs does
expect "it comes back to send" "$(joined $alias 4)" "$(member "$node001" set $alias 4)"

note "a crash"
# on_disk ALIAS JOINSTATE PORT: whether this membership, and so all before it, is on disk.
on_disk() { grep -qsE "^member .*0x$1 $2 0 0x$3( |\$)" state/groups state/groups.journal; }
until_ 10 on_disk $alias 4 $node001_guid || bad "the last membership is not on disk: $(<state/groups.journal)"
until_ 10 grep -qs "0x$second" state/aliases || bad "the last alias is not on disk: $(<state/aliases)"
stop_qosd KILL
start_and_wait "$sm_node" -c qosd.yaml
expect "where a path ends" "$lid1" "$(dlid $alias)"
expect "where another ends" "$lid2" "$(dlid $second)"
expect "members" "$(gids $alias "$assigned" 248a070300a25c41)" "$(in_group)"
await_reached 2 "after a crash"
expect "Sets of GUIDInfo" 0 "$(guid_sets)"
# one block of node001, two of node002
expect "Gets of GUIDInfo" 3 "$(guid_gets)"
more=$(guidinfo "$node002" set lid="$lid2" block=0 guid1=0 | entry 1)
[[ $more = 00140571* && $more != "$assigned" ]] || bad "assigned again: $more"

note "a device reboots"
before=$(status sweeps)
reboot "$node001"
until_ 20 device_has $node001_guid $alias || bad "not on the device: $(device $node001_guid)"
expect "on the device" "$node001_guid $alias 0000000000000000 $assigned" "$(device $node001_guid 4 | sed 's/ $//')"

note "others that come and go"
gets=$(guid_gets)
is_away() { [ -z "$(dlid $gpu01_guid)" ]; }
back() { ! is_away; }
unplug "$gpu01"
until_ 20 is_away || bad "a path to who is away"
plug "$gpu01"
until_ 20 back || bad "no path to who is back"
sleep 0.5
expect "Gets of GUIDInfo meanwhile" "$gets" "$(guid_gets)"

note "a device that does not hear"
timeouts=$(status timeouts)
lose "$node002" 100 14
answer=$(guidinfo "$node002" set lid="$lid2" block=2 guid0=0xaaaa000000000003)
expect "the answer" aaaa000000000003 "$(entry 0 <<<"$answer")"
lost() { [ "$(status timeouts)" -ge $((timeouts + 4)) ]; }	# the first try and all retries
until_ 10 lost || bad "no SMP is lost"
lose "$node002" 0
until_ 15 device_has $node002_guid aaaa000000000003 || bad "not on the device: $(device $node002_guid 32)"

note "one that is away"
unplug "$node001"
away() { [ -z "$(dlid "$assigned")" ]; }
until_ 20 away || bad "a path to who is away"
plug "$node001"
back() { [ -n "$(dlid "$assigned")" ]; }
until_ 20 back || bad "no path to an alias of who is back"

note "an alias is taken"
answer=$(guidinfo "$node001" delete lid="$lid1" block=0 guid1=0)
expect "the answer" "0000000000000000 $assigned" "$(entry 1 <<<"$answer") $(entry 3 <<<"$answer")"
until_ 5 device_lacks $node001_guid $alias || bad "still on the device"
hears 65 $alias
expect "members" "$(gids "$assigned" 248a070300a25c41)" "$(in_group)"
await_reached 2 "one alias of two"
expect "taken by who has the SM_Key" 0000000000000000 \
	"$(guidinfo "$sm_node" delete lid="$lid1" block=0 guid3=0 sm-key=0x77 | entry 3)"
until_ 5 device_lacks $node001_guid "$assigned" || bad "still on the device"
expect "members" "$(gids 248a070300a25c41)" "$(in_group)"
await_reached 1 "the port has no GID in the group any more"
expect "a path to it" "" "$(dlid $alias)"

# promise: S4
note "an alias moves to another port, and is lost"
expect "it moves" $alias "$(guidinfo "$node002" set lid="$lid2" block=0 guid3=0x$alias | entry 3)"
expect "it is no member yet" status=0x0200 "$(member "$node002" delete $alias)"
expect "it joins" "$(joined $alias 1)" "$(member "$node002" set $alias)"
await_reached 2 "it has moved"
until_ 10 on_disk $alias 1 $node002_guid || bad "the last membership is not on disk: $(<state/groups.journal)"
stop_qosd KILL
rm state/aliases
start_and_wait "$sm_node" -c qosd.yaml
expect "members" "$(gids 248a070300a25c41)" "$(in_group)"
await_reached 1 "nobody has the alias"
stop_qosd || bad "exit status $? after SIGTERM"
# a slow disk may take longer than the daemon waits for it
expect "warnings" "" "$(grep -E ' (error|warning): ' "$qosd_log" | grep -vE ' plan: |may not be on disk$')"
stop_sim
