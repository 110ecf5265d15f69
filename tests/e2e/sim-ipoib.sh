#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests MTU and rate of IPoIB broadcast groups: the level's values if the fabric supports them, else the
# most that all hosts support.  A slower host that comes later cannot join, and no other host is
# disturbed.  Loading a policy chooses MTU and rate anew, and qosd asks members to join again.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "hosts of several kinds are needed"

cat >devices.yaml <<'END'
profiles:
  modern: {like: connectx-4}
  old: {like: connectx-4, mtu: 2048, speeds: [sdr, ddr, qdr]}
nodes:
  - {type: switch, profile: switch-ib}
  - {type: ca, profile: modern}
  - {name: "node0007*", profile: old}
END
sim_options=(--profiles devices.yaml)
"$tools/gentopo" fat-tree --levels 2 --radix 4 >generated.topo || fail "gentopo"
sed 's/4xQDR/4xEDR/' generated.topo >fat.topo
mapfile -t hosts < <(cas fat.topo)
mapfile -t guids < <(sed -n 's/^\[1\](\([0-9a-f]*\)).*/\1/p' fat.topo)
sm_node=${hosts[0]} far=${hosts[5]} old="node0007 HCA-1"
broadcast=ff12:401b:ffff::ffff:ffff
policy() { printf 'qos-levels: {default: {sl: 0}, ip: {sl: 0%s}}\npartitions: {Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}}\n' "$1"; }

# group: prints MTU and rate codes of the broadcast group, as the SA tells any client.
group() { on_own "$sm_node" "$tools/pathquery" get member mgid=$broadcast 2>&1 | sed -nE 's/.* mtu=([0-9]+) .*rate=([0-9]+) .*/\1 \2/p'; }
group_is() { [ "$(group)" = "$1" ]; }
# join HOST FIELD...: prints the answer to a join by host number HOST.
join() { on_own "${hosts[$1]}" "$tools/pathquery" set member mgid=$broadcast port-gid="$(gid "$(printf %016x "0x${guids[$1]}")")" join-state=1 "${@:2}" 2>&1; }
ipoib_findings() { ctl health | grep -c "its IPoIB group cannot"; }

# promise: D41
note "what the level names, where all can have it"
start_sim fat.topo
sim_do node off "$old"
policy ", mtu-limit: 4096, rate-limit: 100" >policy.yaml
start_and_wait "$sm_node" -p policy.yaml
expect "MTU 4096 and 100 Gb/s" "5 16" "$(group)"
expect "findings about IPoIB groups" 0 "$(ipoib_findings)"
for i in 1 2 3; do expect_match "a join" "mtu=5 .*rate=16 " "$(join $i)"; done
expect_match "a group of the IPoIB subnet, as the kernel makes it" "mtu=5 .*rate=16 " "$(on_own "$far" "$tools/pathquery" set member \
	mgid=ff12:601b:ffff::1 port-gid="$(gid "$(printf %016x "0x${guids[5]}")")" join-state=1 qkey=0xb1b pkey=0xffff tclass=0 sl=0 \
	flow-label=0 mtu-sel=2 mtu=5 rate-sel=2 rate=16)"

# promise: D41
note "a slower host comes later"
sim_do node on "$old"
old_is_up() { [ "$(ipoib_findings)" = 1 ]; }
until_ 15 old_is_up || bad "no finding: $(ctl health)"
expect_match "the finding" "its IPoIB group cannot have the MTU of 4096 and 100 Gb/s of level ip because of 1 of its ports; the first is $old/P1" "$(ctl health)"
expect "what the group has" "5 16" "$(group)"
expect "it can't join" status=0x0200 "$(join 6)"
expect_match "others can" "mtu=5 .*rate=16 " "$(join 4)"

# promise: D41
note "a policy is loaded: the group is as if it was made now, and members are asked to join again"
reregistered() { ctl -j status | awk '/"PortInfo": \{/ { i = 1 } /"set":/ && i { n = $2; i = 0 } END { print n + 0 }'; }
before=$(reregistered)
policy ", mtu-limit: 4096, rate-limit: 100, packet-lifetime: 14" >policy.yaml
reload || bad "not reloaded"
until_ 10 group_is "4 7" || bad "MTU 2048 and 40 Gb/s: $(group)"
all_asked() { [ $(($(reregistered) - before)) -ge ${#hosts[@]} ]; }
until_ 10 all_asked || bad "members were not asked to join again"
expect_match "a join of the old one" "mtu=4 .*rate=7 " "$(join 6)"
expect_match "the other group has the same" "mtu=4 .*rate=7 " "$(on_own "$far" "$tools/pathquery" set member \
	mgid=ff12:601b:ffff::1 port-gid="$(gid "$(printf %016x "0x${guids[5]}")")" join-state=1 mtu-sel=2 mtu=4 rate-sel=2 rate=7)"

# promise: D41
note "a restart changes nothing"
sim_do node off "$old"
old_is_gone() { [ "$(ipoib_findings)" = 0 ] && [ "$(status sweeping)" = false ] && [ "$(status pending)" = false ]; }
until_ 15 old_is_gone || bad "it is still told of: $(ctl health)"
stop_qosd
start_and_wait "$sm_node" -p policy.yaml
expect "what the group has" "4 7" "$(group)"
expect "Sets" 0 "$(sets)"
expect_match "health says that there could be more" "keeps an MTU of 2048 and 40 Gb/s for its present members, but could have 4096 and 100 Gb/s" "$(ctl health)"
ctl reload >/dev/null
until_ 10 group_is "5 16" || bad "after a reload: $(group)"

# promise: D41
note "a level that names nothing"
policy "" >policy.yaml
reload || bad "not reloaded"
until_ 10 group_is "4 3" || bad "MTU 2048 and 10 Gb/s: $(group)"

# promise: D43
note "a group with another level than its partition: paths between hosts"
printf 'qos-levels: {default: {sl: 0}, ip: {sl: 1}}\npartitions: {Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}}\n' >policy.yaml
reload || bad "not reloaded"
expect_match "a join" "status=0x0000 " "$(on_own "${hosts[1]}" "$tools/ipoibjoin" -t 10 2>&1)"
expect_match "the SL of the group" "sl=1" "$(on_own "$sm_node" "$tools/pathquery" get member mgid=$broadcast 2>&1)"
a=$(gid "$(printf %016x "0x${guids[1]}")") b=$(gid "$(printf %016x "0x${guids[5]}")")
# sl_of_path FIELD...: prints the SL of the path between the two, or the status.
sl_of_path() { on_own "${hosts[1]}" "$tools/pathquery" get path sgid="$a" dgid="$b" pkey=0xffff "$@" 2>&1 | grep -oE '\<(sl=[0-9]+|status=0x0*[1-9][0-9a-f]*)'; }
expect "as Linux asks" sl=0 "$(sl_of_path numb-path=1 tclass=0)"
expect "with the SL of the group" sl=1 "$(sl_of_path numb-path=1 sl=1)"
expect "with a Service-ID" status=0x0300 "$(sl_of_path sl=1 service-id=7)"
expect_match "saquery, with the SL of the group" "sl\\.+0x1" "$(on "${hosts[1]}" saquery PR --sgid "$a" --dgid "$b" --pkey 0xffff --sl 1 2>&1)"
expect_match "explain" "level +ip, of the IPoIB group of partition Default" "$(ctl explain "0x${guids[1]}" "0x${guids[5]}" --pkey 0xffff --sl 1)"
stop_qosd
