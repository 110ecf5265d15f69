#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests SL, MTU and rate of dynamic partitions of their own: in paths and IPoIB groups, changed while hosts
# are members of the group, over a restart, with another policy, and requests that are refused.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no hosts that are asked to register again"

sm_node=H-f452140300811200
node001=f452140300811231 node009=f4521403008112b1
h001=H-f452140300811230 h009=H-f4521403008112b0
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
  fixed: {pkey: 0x50, members: {"0xf452140300811241": full}}
qos-levels:
  default: {sl: 0}
  fast: {sl: 1, packet-lifetime: 12}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 15]}
END
echo "smp-timeout: 5s" >qosd.yaml

# path FROM TO P_KEY: prints SL, MTU and rate of the path by codes.
path() {
	on_own "$sm_node" "$tools/pathquery" get path sgid="$(gid "$1")" dgid="$(gid "$2")" pkey="$3" 2>&1 |
		grep -oE '\b(sl|mtu|rate)=[0-9]+|status=0x0*[1-9a-f][0-9a-f]*' | tr '\n' ' '
}
group() {	# group NODE P_KEY: the same of the partition's broadcast group
	on_own "$1" "$tools/pathquery" get member mgid="ff12:401b:$2::ffff:ffff" 2>&1 |
		grep -oE '\b(sl|mtu|rate)=[0-9]+' | sort | tr '\n' ' '
}
join() {	# join NODE GUID P_KEY
	on_own "$1" "$tools/pathquery" set member mgid="ff12:401b:$3::ffff:ffff" port-gid="$(gid "$2")" \
		join-state=1 2>&1 | grep -oE '^status=0x0*[1-9a-f].*|mlid=0x[0-9a-f]+'
}
port_sets() { ctl -j status | awk '/"PortInfo": \{/ { i = 1 } /"set":/ && i { n = $2; i = 0 } END { print n + 0 }'; }
partition() { ctl partition "$@" --wait >out 2>&1 || bad "partition $*: $(<out)"; }
refused() {	# refused WHAT PATTERN WORD...
	before=$(sets)
	! ctl partition "${@:3}" >out 2>&1 || bad "$1: not refused"
	expect_match "$1" "$2" "$(<out)"
	expect "$1: Sets" "$before" "$(sets)"
}
shown() { ctl -j partitions | jq -c --arg n "$1" '.partitions[] | select(.partition == $n) | [.level, .sl, .mtu, .rate]'; }

sim_options=()
start_sim "$top/examples/cluster.topo"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml

# promise: N21
note "a partition with values of its own"
partition add job1 --pkey 0x60 --ipoib --sl 3 --mtu 1024 --rate 20 "node[001,009]"
partition add job2 --pkey 0x61 --level fast --ipoib --rate 2.5 "node[001,009]"
expect "its paths" "sl=3 mtu=3 rate=6 " "$(path $node001 $node009 0x8060)"
expect "its group" "mtu=3 rate=6 sl=3 " "$(group $h001 8060)"
expect "paths: the rest is the level's" "sl=1 mtu=5 rate=2 " "$(path $node001 $node009 0x8061)"
expect "group: the rest is the level's" "mtu=4 rate=2 sl=1 " "$(group $h001 8061)"
expect "shown" '["default,sl=3,mtu=1024,rate=20",3,1024,20]' "$(shown job1 | sed 's/\.0\]/]/')"
expect "shown, only a rate" '["fast,rate=2.5",null,null,2.5]' "$(shown job2)"
expect "a partition without" '["default",null,null,null]' "$(shown fixed)"
expect_match "explain" "level +default,sl=3,mtu=1024,rate=20" "$(ctl explain node001 node009 --pkey 0x60)"
expect_match "who" "partition job1, P_Key 0x0060, full member, level default,sl=3,mtu=1024,rate=20" "$(ctl who node001)"
expect_match "the level among the SLs" "default,sl=3,mtu=1024,rate=20" "$(ctl sls)"
expect_match "the table" "default,sl=3,mtu=1024,rate=20 .*job1" "$(ctl partitions)"
before=$(sets)
ctl partition add job1 --sl 3 --mtu 1024 --rate 20 node001 >out || bad "the same again: $(<out)"
expect_match "the same again" "nothing to change" "$(<out)"

# promise: N22
note "other values while hosts use it"
expect_match "a host joins" "mlid=" "$(join $h001 $node001 8060)"
expect_match "a host joins the other" "mlid=" "$(join $h009 $node009 8061)"
tree() { [ "$(ctl mcast ff12:401b:8060::ffff:ffff | grep -c "node001")" -ge 1 ] && status_is sweeping=false; }
until_ 5 tree || bad "no tree"
asked=$(port_sets)
partition set job1 --sl 2 --mtu 2048 --rate 40
expect "its paths" "sl=2 mtu=4 rate=7 " "$(path $node001 $node009 0x8060)"
expect "its group, with a member" "mtu=4 rate=7 sl=2 " "$(group $h001 8060)"
expect "the other's paths" "sl=1 mtu=5 rate=2 " "$(path $node001 $node009 0x8061)"
was_asked() { [ $(($(port_sets) - asked)) = 1 ]; }
until_ 5 was_asked || bad "ports asked to join again: $(($(port_sets) - asked)), not 1"
expect_match "it joins again" "mlid=" "$(join $h001 $node001 8060)"
asked=$(port_sets)
partition set job2 --level default
until_ 5 was_asked || bad "ports asked for another level: $(($(port_sets) - asked)), not 1"
expect "its paths" "sl=0 mtu=5 rate=2 " "$(path $node001 $node009 0x8061)"
expect_match "events" "dynamic partitions were changed: job2; now 2 entries" "$(ctl events)"
expect "who changed what" "job1 $(id -u)" "$(ctl -j events | jq -rs '[.. | objects | select(.partitions? == "job1")] | last | "\(.partitions) \(.uid)"')"

# promise: N21
note "what is refused"
refused "an SL that links drop" 'SL 9 has no VL at .*--force' set job1 --sl 9
refused "a new partition with it" 'level default,sl=9: SL 9 has no VL' add job3 --sl 9 node001
refused "a partition of the policy" 'part of the policy: change the policy instead' set fixed --sl 2
refused "values for it" 'part of the policy, and has SL' add fixed --mtu 1024 node001
refused "no partition" 'no such partition' set nobody --sl 2
refused "no SL" 'sl "16" is not an SL from 0 to 15' set job1 --sl 16
refused "no MTU" 'mtu' set job1 --mtu 1500
refused "no rate" 'rate "7" is not a rate of InfiniBand' set job1 --rate 7
refused "no level" 'the policy has no level "slow"' set job1 --level slow
refused "nothing to set" 'set needs at least one of' set job1
refused "values that differ" 'partition set. changes them' add job1 --sl 1 node001
for body in '{"set": "job1"}' '{"set": "job1", "members": ["node001"]}' '{"set": "job1", "pkey": 3}' \
	'{"set": "job1", "ipoib": true}' '{"set": "job1", "add": "job1", "sl": 1}' '{"set": "job1", "sl": -1}' \
	'{"set": "job1", "sl": 1.5}' '{"set": "job1", "sl": [1]}' '{"set": "job1", "sl": true}' \
	'{"set": "job1", "mtu": 1e9}' '{"set": "job1", "rate": "1e1"}' '{"set": "job1", "rate": {}}' \
	'{"set": 1, "sl": 1}' '{"set": "job1", "sl": ""}' '{"remove": "job1", "sl": 1}'; do
	printf '{"changes": [%s]}' "$body" >bad.json
	! ctl partition apply bad.json >out 2>&1 || bad "$body is accepted"
done
expect "nothing has changed" '["default,sl=2,mtu=2048,rate=40",2,2048,40]' "$(shown job1 | sed 's/\.0\]/]/')"
partition add big --sl 2 --mtu 4096 --rate 300 node001 node009
expect "limits above those of links" "sl=2 mtu=5 rate=12 " "$(path $node001 $node009 "$(ctl -j partition show big | jq '.partitions[0].pkey + 32768')")"
partition remove big

# promise: N21 N2
note "a restart, and a kill"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "its paths" "sl=2 mtu=4 rate=7 " "$(path $node001 $node009 0x8060)"
expect "its group" "mtu=4 rate=7 sl=2 " "$(group $h001 8060)"
expect "Sets" 0 "$(sets)"
printf '{"changes": [{"set": "job1", "sl": null, "mtu": 1024, "rate": null}, {"add": "job4", "sl": 3, "rate": 10, "members": ["node010"]}]}' >set.json
ctl partition apply set.json >out 2>&1 || bad "apply: $(<out)"
stop_qosd KILL
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "what was accepted before" '["default,mtu=1024",null,1024,null]' "$(shown job1)"
expect "its paths" "sl=0 mtu=3 rate=12 " "$(path $node001 $node009 0x8060)"

# promise: N23
note "index 0"
pkeys() { ctl -j partition show | jq -r --arg p "$1" '[.partitions[] | .ports[]? | select(.port | startswith($p)) | .places[]] | sort_by(.index) | map("\(.index):\(.pkey)") | join(" ")'; }
expect "places before" "0:32767 1:32864 2:32865" "$(pkeys "node001 HCA-1/P1")"
partition add job2 --pkey 0x61 "node001 HCA-1/P1=full@0"
expect "its P_Key comes first, the default partition's last" "0:32865 1:32864 3:32767" "$(pkeys "node001 HCA-1/P1")"
expect "P_Keys of the device" "8061 8060 0000 7fff" "$(on "$sm_node" smpquery -G pkeys "0x$node001" 1 2>&1 |
	sed -nE 's/^ *0: (.*)$/\1/p' | tr -s ' \n' '  ' | sed -E 's/( 0x0000)* *$//; s/0x//g')"
expect "a path" "sl=0 mtu=5 rate=2 " "$(path $node001 $node009 0x8061)"
expect_match "shown" "full +dynamic +node001 HCA-1/P1, at index 0" "$(ctl partition show job2)"
refused "two partitions" 'partitions "job1" and "job2" both want index 0 of the P_Key table of 1 port, for example node001 HCA-1/P1' \
	add job1 "node001=full@0"
refused "another index" 'the fabric has no host.*full@1' add job1 "node001=full@1"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "Sets after a restart" 0 "$(sets)"
partition remove job2 node001
expect "the default partition's comes first again" "0:32767 1:32864" "$(pkeys "node001 HCA-1/P1")"

# promise: N21
note "another policy"
cp policy.yaml good.yaml
sed -i 's/^  fixed:/  job1: {pkey: 0x60, members: {all: full}}\n&/' policy.yaml
reload || bad "refused: $(<reload)"
expect "the policy's partition has its own level" "sl=0 mtu=5 rate=12 " "$(path $node001 $node009 0x8060)"
expect_match "what is said of it" 'whose IPoIB and level apply' "$(ctl partitions)"
sed 's/0, 0, 0, 0, 0, 15, 0/15, 15, 15, 15, 15, 15, 15/; s/\[0, 1, 2, 3/[0, 1, 2, 15/' good.yaml >policy.yaml
! ctl reload >reload 2>&1 || bad "a policy by which job4 can send nothing is accepted"
expect_match "why" 'level default,sl=3,rate=10: SL 3 has no VL' "$(<reload)"
cp good.yaml policy.yaml
reload || bad "refused: $(<reload)"
stop_qosd || bad "exit status $? after SIGTERM"
