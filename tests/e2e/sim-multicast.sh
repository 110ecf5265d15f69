#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests multicast on a fat tree: storms of joins and leaves, faults of links and switches, a
# restart, and entries that another subnet manager left.  The simulator's auditor checks each.
# Groups have the policy's values, and share MLIDs when there are too few.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it is about many hosts, and needs the auditor"

groups=5
"$tools/gentopo" fat-tree --levels 3 --radix 8 >fat.topo || fail "gentopo"
mapfile -t guids < <(sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' fat.topo)
printf '%s\n' "${guids[@]}" >all.guids
hosts=${#guids[@]}
sm_node=$(first_ca fat.topo)
far=$(cas fat.topo | tail -n 1)
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  ip: {sl: 2, mtu-limit: 2048}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}
END

ctl() { "$build/qosd-ctl" -s "$sock" "$@"; }
audit() { "$build/qosd-sim" check -s "$QOSD_SIM_SOCKET" >audit 2>&1; }
said() { sed -nE "s/^$1 +([0-9]+)$/\1/p" audit; }
# members_are GROUPS MEMBERS: whether the tables are sound and lead to so many ports.
members_are() { audit && [ "$(said "multicast groups")" = "$1" ] && [ "$(said "multicast members")" = "$2" ]; }
await_members() {
	until_ 15 members_are "$2" "$3" || bad "$1: not right: groups $(said "multicast groups") of $2," \
		"members $(said "multicast members") of $3; $(grep -A 3 ': [0-9]*$' audit | head -n 5)"
}
storm() { on_own "$far" "$tools/joinstorm" -g $groups "$@" 2>&1 || bad "joinstorm $*: refused"; }

start_sim fat.topo
start_and_wait "$sm_node" -p policy.yaml

note "all hosts join"
expect_match "the storm" "requests=$((hosts * groups)) refused=0" "$(storm all.guids)"
await_members "all hosts" $groups $((hosts * groups))
# tree MLID: prints "PORTS SWITCH" lines of the group's tree.
tree() { ctl -j mcast "$1" | tr -d ' \n' | tr '{' '\n' | sed -nE 's/^"switch":"([^"(]*).*"ports":\[([0-9,]*)\].*/\2 \1/p'; }
# each leaf, one middle switch of each pod, one top switch
expect "switches on the tree of the broadcast group" $((32 + 8 + 1)) "$(tree 0xc000 | wc -l)"
# a top switch has links to all pods; each tree has a different one as its root
expect "switches with all ports on a tree" $groups "$(for i in {0..4}; do tree "0xc00$i" | grep -m 1 '^1,2,3,4,5,6,7,8 '; done | sort -u | wc -l)"

# promise: P6
note "groups have what the policy says"
group=$(on "$far" saquery -g 2>&1)
expect "SLs of groups" "0x2" "$(sed -nE 's/.*SL\.+(0x[0-9a-f]+).*/\1/p' <<<"$group" | sort -u | xargs)"
expect "groups that everybody sees" $groups "$(grep -c 'MGID\.' <<<"$group")"
expect "members that saquery -m sees with the SM_Key" "$hosts" \
	"$(on "$far" saquery --smkey 1 -m 0xc000 2>&1 | grep -c 'PortGid\.')"
expect_match "path to a group" "dlid=0xc001 .* sl=2 " \
	"$(on_own "$far" "$tools/pathquery" get path sgid="$(gid "$(printf %016x "0x${guids[0]}")")" dgid=ff12:1c1b:ffff::1 2>&1 | tr '\n' ' ')"

note "qosd-ctl mcast"
expect_match "groups" "5 of [0-9]+ MLIDs in use.*0xc000 +0xffff +2048 .* $hosts +ff12:401b:ffff::ffff:ffff \(policy\)" \
	"$(ctl mcast | tr '\n' ' ')"
expect "members in text" "$hosts" "$(ctl mcast ff12:1c1b:ffff::1 | grep -c '^full .* no .*/P1\|^full .* yes .*/P1')"
expect "members in JSON" "$hosts" "$(ctl -j mcast 0xc003 | grep -o '"join-state"' | wc -l)"
expect_match "no such group" "no group has this" "$(ctl mcast 0xc0ff 2>&1)"

note "half of them leave, and one joins"
head -n $((hosts / 2)) all.guids >half.guids
storm -d half.guids >/dev/null
await_members "half of the hosts" $groups $(((hosts - hosts / 2) * groups))
head -n 1 all.guids >one.guids
until_ 10 sets_rest || bad "no end of Sets"	# switches that no member needs any more are told, too
storm one.guids >/dev/null
await_members "one host more" $groups $(((hosts - hosts / 2 + 1) * groups))
# Sets on its leaf and, for each of 5 trees, on the switches up to the existing tree
added=$(($(sets) - sets))
((added >= 1 && added <= 24)) || bad "one host joined by $added Sets"

note "faults"
storm half.guids >/dev/null
await_members "all again" $groups $((hosts * groups))
victim=$(tree 0xc000 | sed -n 's/^1,2,3,4,5,6,7,8 //p' | head -n 1)
link=$(sim_ctl show links | awk -F '  +' -v sw="$victim/P" 'index($5, sw) == 1 { print $5; exit } index($6, sw) == 1 { print $6; exit }')
sim_do link down "$link"
await_members "a link of a tree is down" $groups $((hosts * groups))
sim_do link up "$link"
await_members "it is up again" $groups $((hosts * groups))

note "a switch says nothing for a while, and hosts come and go elsewhere all the time"
mapfile -t hosts_of < <(cas fat.topo)
quiet=$((hosts / 2)) busy=$((hosts / 2 + 20))
echo "${guids[quiet]}" >quiet.guids
echo "${guids[busy]}" >busy.guids
read -r leaf leaf_port < <(sim_ctl show links "${hosts_of[quiet]}" | sed -nE 's|.* ([^ ]+)/P([0-9]+)$|\1 \2|p')
is_on_tree() { sim_ctl show mft "$leaf" | grep -E "0xc00[0-9]" | grep -qE "[ ,]$leaf_port(,|\$)"; }
is_on_tree || bad "port $leaf_port of $leaf is on no tree: $(sim_ctl show mft "$leaf")"
is_off() { ! is_on_tree; }
touch going
come_and_go() { while [ -e going ]; do storm -d busy.guids; sleep 0.3; storm busy.guids; sleep 0.3; done >/dev/null; }
sim_do node silent "$leaf"
storm -d quiet.guids >/dev/null
come_and_go &
coming=$!
sleep 3
sim_do node answer "$leaf"
until_ 20 is_off || bad "$leaf is not told: $(sim_ctl show mft "$leaf")"
rm going		# not a signal, so that the running storm ends first
wait "$coming"
storm busy.guids >/dev/null
storm quiet.guids >/dev/null
await_members "all again" $groups $((hosts * groups))

# promise: F11
note "a Set is done, and its answer lost; then what was before is wanted again"
failures() { grep -c "MFT block .* failed" "$qosd_log"; }
lose_answers() { sim_do fault add drop --class smp --attr MulticastForwardingTable --method get-resp --at "$leaf"; }
# has_failed N: whether there are N more failures than before.
has_failed() { [ "$(failures)" -ge $((before + $1)) ]; }
# leave_unheard TRIES SECONDS: a host leaves while its leaf's answers are lost, at least TRIES times.
leave_unheard() {
	before=$(failures)
	lose_answers
	storm -d quiet.guids >/dev/null
	until_ "$2" has_failed "$1" || bad "not $1 failures: $(tail -n 3 "$qosd_log")"
}
leave_unheard 1 15
is_off || bad "the Set was not done"
sim_do fault remove all
storm quiet.guids >/dev/null
await_members "all again" $groups $((hosts * groups))

# Three more GIDs on each of four member ports change nothing for the switches.
# promise: S4
note "aliases of ports that are members"
for i in {0..3}; do
	node=$(cas fat.topo | sed -n "$((i + 3))p")
	guid=$(sed -nE "/\"$node\"/,/^\[1\]/s/^\[1\]\(([0-9a-f]*)\).*/\1/p" fat.topo | head -n 1)
	answer=$(on_own "$node" "$tools/pathquery" set guidinfo lid="$(port_info "$sm_node" "0x$guid" 1 Lid)" \
		block=0 guid1=0 guid2=0 guid3=0 2>&1)
	grep -oE ' guid[123]=0x[0-9a-f]+' <<<"$answer" | sed 's/.*0x//'
done >alias.guids
expect "aliases" 12 "$(grep -vc '^0*$' alias.guids)"
mft_sets() {
	ctl -j status | awk '
		/"MulticastForwardingTable": \{/ { in_it = 1 }
		/"set":/ && in_it { n = $2; in_it = 0 }
		END { print n + 0 }'
}
until_ 10 sets_rest || bad "no end of Sets"
before=$(mft_sets)
storm alias.guids >/dev/null
await_members "aliases joined" $groups $((hosts * groups))
expect "members that saquery -m sees with them" $((hosts + 12)) \
	"$(on "$far" saquery --smkey 1 -m 0xc001 2>&1 | grep -c 'PortGid\.')"
storm -d alias.guids >/dev/null
await_members "aliases left" $groups $((hosts * groups))
expect "members that saquery -m sees without" "$hosts" \
	"$(on "$far" saquery --smkey 1 -m 0xc001 2>&1 | grep -c 'PortGid\.')"
expect "Sets of MFTs meanwhile" "$before" "$(mft_sets)"
((before > 0)) || bad "no Sets of MFTs are counted"

note "a restart"
stop_qosd KILL
start_and_wait "$sm_node" -p policy.yaml
await_members "after a kill" $groups $((hosts * groups))
expect "Sets after it" 0 "$(sets)"
expect_match "joined again" "refused=0" "$(storm all.guids)"
await_members "joined again" $groups $((hosts * groups))
expect "Sets after that" 0 "$(sets)"

# The manager's port sends a trap that its subnet manager went and came; on a large fabric, qosd receives it
# during the first sweep.
# promise: T7
note "a restart that takes long"
stop_qosd KILL
sim_do fault add delay --class smp --method get --for 100ms
start_and_wait "$sm_node" -p policy.yaml
sim_do fault remove all
expect_match "what it heard" "trap 144" "$(cat "$qosd_log")"
sleep 0.5
expect "sweeps" "1 false" "$(status sweeps) $(status sweeping)"
expect "Sets" 0 "$(sets)"

note "who joins while a switch has not taken a removal is served when it has"
storm -d busy.guids >/dev/null
await_members "one less" $groups $(((hosts - 1) * groups))
leave_unheard 1 15
storm busy.guids >/dev/null
sleep 0.5
sim_do fault remove all
await_members "one again" $groups $(((hosts - 1) * groups))
storm quiet.guids >/dev/null
await_members "all again" $groups $((hosts * groups))

note "a switch whose Sets have no answer dies: nobody waits for it"
storm -d busy.guids >/dev/null
await_members "one less" $groups $(((hosts - 1) * groups))
leave_unheard 3 30
sim_do node off "$leaf"		# otherwise the next try would be 8 s after the last
sim_do fault remove all
storm busy.guids >/dev/null
until_ 6 members_are $groups $(((hosts - 4) * groups)) ||
	bad "without it: members $(said "multicast members") of $(((hosts - 4) * groups))"
sim_do node on "$leaf"
await_members "it is back" $groups $(((hosts - 1) * groups))
storm quiet.guids >/dev/null
await_members "all again" $groups $((hosts * groups))

# promise: P6
note "TClass of a policy, and without"
tclass_of() {
	on_own "$far" "$tools/pathquery" get path sgid="$(gid "$far_guid")" dgid="$1" 2>&1 |
		grep -oE ' tclass=[0-9]+'
}
far_guid=$(printf %016x "0x${guids[-1]}")
expect_match "a group with a TClass" " tclass=7 " "$(on_own "$far" "$tools/pathquery" set member mgid=ff12:1c1b:ffff::77 \
	port-gid="$(gid "$far_guid")" join-state=1 qkey=1 tclass=7 pkey=0xffff sl=0 flow-label=0 2>&1)"
sed 's/sl: 2/sl: 2, tclass: 40/' policy.yaml >with-tclass.yaml
cp policy.yaml without.yaml
for p in with-tclass without; do
	cp $p.yaml policy.yaml
	reload || bad "not reloaded"
	expect "TClasses, $p" "$([ $p = without ] && echo ' tclass=7  tclass=0' || echo ' tclass=40  tclass=40')" \
		"$(tclass_of ff12:1c1b:ffff::77) $(tclass_of ff12:401b:ffff::ffff:ffff)"
done
# the last member leaves just before the daemon ends
expect_match "it is left" "join-state=0" "$(on_own "$far" "$tools/pathquery" delete member \
	mgid=ff12:1c1b:ffff::77 port-gid="$(gid "$far_guid")" join-state=1 2>&1)"

note "what another left in the tables"
stop_qosd
sim_do mft "$victim" 0xc009 1,2
sim_do mft "$victim" 0xc030 1
# A host goes and comes before qosd can read its leaf's table.
sim_do fault add drop --method get-resp --attr MulticastForwardingTable
start_and_wait "$sm_node" -p policy.yaml
nodes=$(status nodes)
nodes_are() { [ "$(status nodes)" = "$1" ] && [ "$(status sweeping)" = false ]; }
unplug "${hosts_of[busy]}"
until_ 20 nodes_are $((nodes - 1)) || bad "nobody sees that a host has gone"
plug "${hosts_of[busy]}"
until_ 20 nodes_are "$nodes" || bad "nobody sees that a host is back"
sim_do fault remove all
await_members "it is gone" $groups $((hosts * groups))
stop_qosd || bad "exit status $? after SIGTERM"
