#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests adding and removing partitions and members while qosd runs: which hosts can exchange
# packets in the simulator, the number of Sets, the indexes of P_Keys, the state after a
# restart, a crash and another policy, and invalid requests.  On qosd-sim only, because
# ibsim's switches enforce nothing.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim does not look at P_Keys"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200 mgmt01=f452140300811201
node001=f452140300811231 node002=f452140300811241 node009=f4521403008112b1
node010=f4521403008112c1
h001=H-f452140300811230 h009=H-f4521403008112b0 h010=H-f4521403008112c0
leaf01=0xf45214030090a3c0	# 1 to 8: node001 to node008

# pkeys GUID PORT: prints a P_Key table as smpquery reads it, without the empty entries at its end.
pkeys() {
	on "$sm_node" smpquery -G pkeys "0x${1#0x}" "$2" 2>&1 | sed -nE 's/^ *[0-9]+: (.*)$/\1/p' |
		tr -s ' \n' '  ' | sed -E 's/( 0x0000)* *$//; s/0x//g'
}
path() {	# path FROM TO ARGUMENT...: P_Key of the first record, "none" or "status 0x0500"
	local out
	out=$(on "$sm_node" saquery PR --sgid "$(gid "$1")" --dgid "$(gid "$2")" "${@:3}" 2>&1)
	if [[ $out =~ 'Query result returned '(0x[0-9a-f]+) ]]; then
		echo "status ${BASH_REMATCH[1]}"
		return
	fi
	out=$(sed -nE 's/^[[:space:]]*pkey\.+(0x[0-9A-Fa-f]+)$/\1/p' <<<"$out" | head -n 1)
	[ -n "$out" ] && printf '%04x\n' "$out" || echo none
}
# findings: prints present problems except the cluster's slow links.
findings() { ctl -j status | sed -nE 's/^ *"text": "(.*)",?$/\1/p' | grep -vE '^plan: |^partitions: |^link .*: runs at '; }
in_force() {
	ctl -j status | jq -e '.policy.dynamic | .change == ."change-in-force"' >/dev/null &&
		[ "$(status sweeping)" = false ]
}
# partition WORD...: runs the command and waits until the devices have the change.
partition() {
	ctl partition "$@" --wait >partition.out 2>&1 || { bad "partition $*: $(<partition.out)"; return; }
	until_ 10 quiet || bad "no end of Sets"
}
# multicast tables are written after the sweep
quiet() { in_force && last=$(sets) && sleep 0.2 && [ "$(sets)" = "$last" ]; }
refused() {	# refused WHAT PATTERN WORD...
	before=$(sets)
	! ctl partition "${@:3}" >partition.out 2>&1 || bad "$1: not refused"
	expect_match "$1" "$2" "$(<partition.out)"
	expect "$1: Sets" "$before" "$(sets)"
}
changed() {	# changed WHAT WANTED: Sets since the last time
	expect "Sets: $1" "$2" $(($(sets) - before))
	before=$(sets)
}
# reaches NODE INDEX GUID: whether a packet with the P_Key at that index arrives and is answered.
declare -A lids
reaches() { on_own "$1" "$tools/rawmad" -d "${lids[$3]}" -k "$2" 4 1 0x12 0 65:01 >raw.log 2>&1; }
place_of() { ctl partition show "$1" | sed -nE "s|^  port .* \\[([0-9]+)\\] 0x....  $2 .*|\\1|p"; }

sim_options=()
start_sim "$topology"
cat >policy.yaml <<'END'
port-groups:
  storage: {port-names: "mds01 mlx5_0/P1"}
  tenants: {pkeys: 0x100-0x1ff}
  old: {partitions: fixed}
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
  fixed: {pkey: 0x50, members: {"0xf452140300811241": full}}
qos-levels:
  default: {sl: 0}
  fast: {sl: 1}
match-rules:
  - {ulp: ipoib, qos-level: fast}
END
sed -i 's/qos-level: fast}/level: fast}/' policy.yaml
# With a long timeout, a busy machine causes no repeated Sets, which would be counted.
echo "smp-timeout: 5s" >qosd.yaml
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
until_ 10 quiet || bad "no end of Sets"
for guid in $mgmt01 $node001 $node002 $node009 $node010; do
	lids[$guid]=$(port_info "$sm_node" "0x$guid" 1 Lid)
done

# promise: P6
note "a partition comes"
expect "P_Keys before" 7fff "$(pkeys $node001 1)"
expect "path before" none "$(path $node001 $node009)"
discovery=$(status discovery)
before=$(sets)
partition add job1 "0x$node001" "node009 HCA-1/P1"
expect_match "the P_Key that was chosen" 'job1 has P_Key 0x4000' "$(<partition.out)"
expect "the partition with a P_Key" job1 "$(ctl -j partition show --pkey 0xc000 | jq -r '.partitions[].partition')"
expect "partitions with a P_Key that none has" 0 "$(ctl -j partition show --pkey 0x4001 | jq '.partitions | length')"
# one block for each of two hosts and the switch ports next to them
changed "two members" 4
expect "SMPs of discovery" "$discovery" "$(status discovery)"
expect "P_Keys of a member" "7fff c000" "$(pkeys $node001 1)"
expect "P_Keys of the switch port next to it" "ffff c000" "$(pkeys $leaf01 1)"
expect "path" c000 "$(path $node001 $node009)"
expect "path to a stranger" none "$(path $node001 $node010)"
reaches $h001 1 $node009 || bad "a packet of the partition does not arrive"
reaches $h009 1 $node001 || bad "a packet of the partition does not arrive back"
sim_do pkey "node010 HCA-1/P1" 1 0xc000		# a host that writes the P_Key into its own table
! reaches $h010 1 $node001 || bad "a packet of a stranger arrives"
! reaches $h001 1 $node010 || bad "a packet reaches a stranger"
sim_do pkey "node010 HCA-1/P1" 1 0
sweeps=$(status sweeps)
partition add job1 "0x$node001" "node009 HCA-1/P1"
expect_match "the same again" 'nothing to change' "$(<partition.out)"
changed "the same again" 0
expect "plans for the same again" "$sweeps" "$(status sweeps)"

# promise: P6
note "members come and go"
partition add job1 "node002 HCA-1/P1=limited"
changed "one more" 2
expect "P_Keys of a limited member" "7fff 8050 4000" "$(pkeys $node002 1)"
expect "path of a limited member" 4000 "$(path $node002 $node001)"
partition remove job1 "0x$node001"
changed "one less" 2
expect "P_Keys of who left" 7fff "$(pkeys $node001 1)"
expect "P_Keys of its switch port" ffff "$(pkeys $leaf01 1)"
expect "path of who left" none "$(path $node001 $node009)"
sim_do pkey "node001 HCA-1/P1" 1 0xc000		# a former member that keeps the P_Key
! reaches $h001 1 $node009 || bad "a packet of who left arrives"
sim_do pkey "node001 HCA-1/P1" 1 0
partition remove job1 "0x$node001"
expect_match "removed again" 'is not a member' "$(<partition.out)"
changed "removed again" 0
partition add job1 "0x$node001" "0x$node002"
expect "limited by one line, full by a later one" "7fff 8050 c000" "$(pkeys $node002 1)"
partition add fixed "type:router" "0x$node009=limited"
expect "a member of the policy's partition" "7fff c000 0050" "$(pkeys $node009 1)"

# promise: P6
note "places"
partition add job2 --pkey 0x60 "0x$node001" "0x$node009=both"
expect "behind the others" "7fff c000 8060" "$(pkeys $node001 1)"
expect "both forms" "7fff c000 0050 8060 0060" "$(pkeys $node009 1)"
before=$(sets)
partition remove job1
# one block for each of node001, node002, node009 and their switch ports
changed "a partition goes" 6
expect "a hole" "7fff 0000 8060" "$(pkeys $node001 1)"
expect "a hole of the switch port" "ffff 0000 8060" "$(pkeys $leaf01 1)"
reaches $h001 2 $node009 || bad "the other partition's place has changed"
expect "path by the other" 8060 "$(path $node001 $node009)"

# promise: P6
note "a restart, and a crash"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
until_ 10 quiet || bad "no end of Sets"
expect "Sets after a restart" 0 "$(sets)"
expect "the hole after a restart" "7fff 0000 8060" "$(pkeys $node001 1)"
ctl partition add crash --pkey 0x61 "0x$node001" >partition.out 2>&1 || bad "$(<partition.out)"
stop_qosd KILL
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
until_ 10 quiet || bad "no end of Sets"
expect "what was accepted before a crash, in the hole" "7fff 8061 8060" "$(pkeys $node001 1)"
reboot $h001
back() { [ "$(pkeys $node001 1)" = "7fff 8061 8060" ] && subnet_up; }
until_ 15 back || bad "P_Keys of a host that was rebooted: $(pkeys $node001 1)"

# promise: P6
note "all or nothing"
cat >many.json <<END
{"changes": [
  {"add": "one", "members": ["0x$node001"]},
  {"add": "two", "pkey": "0x60"},
  {"add": "three", "level": "nowhere", "members": {"nobody": "full", "0xzz": "limited"}},
  {"remove": "fixed", "members": ["0xf452140300811241"]}
]}
END
refused "many" "nothing has changed" apply many.json
for what in 'the partition "job2" already has the P_Key 0x0060' 'no level "nowhere"' 'no group "nobody"' \
	'"0xzz" is not a port GUID' 'the policy makes .* a member'; do
	expect_match "all errors are named" "$what" "$(<partition.out)"
done
! ctl partition show one >/dev/null 2>&1 || bad "one of them is there"
cat >many.json <<END
{"changes": [{"add": "one", "members": ["0x$node001"]}, {"remove": "crash"},
  {"add": "two", "pkey": 97, "level": "fast", "ipoib": {"level": "fast"},
   "members": {"node00? HCA-1/P1": "full", "self": "full", "group:storage": "limited"}}]}
END
partition apply many.json
# a P_Key that one partition gives up and another takes keeps its index
expect "several at once" "7fff 8061 8060 c000" "$(pkeys $node001 1)"
ctl partitions >list
expect_match "in the list" '0x0061  dynamic  +10  +1  .* fast +fast +two' "$(<list)"
ctl -j partition show two >show.json
"$build/qosd-ctl" -s "$sock" partition apply show.json >json.out 2>&1
expect_match "what is shown is JSON" 'it must be' "$(<json.out)"
tr -d ' \n' <show.json >show
expect_match "shown, with from where" '"who":"storage","membership":"limited","index0":false,"source":"dynamic"' "$(<show)"
expect_match "shown, with places" '"places":\[\{"index":1,"pkey":32865\}\]' "$(<show)"

note "multicast"
join() {	# join NODE GUID P_KEY
	on_own "$1" "$tools/pathquery" set member mgid="ff12:401b:$3::ffff:ffff" \
		port-gid="$(gid "$2")" join-state=1 2>&1 | grep -oE '^status=.*|mlid=[0-9a-fx]+'
}
expect_match "a member joins its IPoIB group" "mlid=0xc0" "$(join $h001 $node001 8061)"
expect_match "another does" "mlid=0xc0" "$(join H-f452140300811240 $node002 8061)"
multicast() { on "$sm_node" ibroute -G -M $leaf01 2>&1 | grep -cE '^0xc'; }
until_ 5 eval '[ "$(multicast)" = 1 ]' || bad "multicast routes: $(multicast)"
partition remove two "node00? HCA-1/P1"
until_ 5 eval '[ "$(multicast)" = 0 ]' || bad "who lost the partition is still in its group"
expect_match "it can't join again" "status=0x0[27]00" "$(join $h001 $node001 8061)"

# promise: P6
note "another policy"
cp policy.yaml good.yaml
sed 's/  fixed: .*/&\n  job2: {pkey: 0x61, members: {storage: full}}/' good.yaml >policy.yaml
reload || bad "refused: $(<reload)"
until_ 10 quiet || bad "no end of Sets"
expect_match "the name is taken" '\\"job2\\" with P_Key 0x0060 is not in force: the policy.s partition \\"job2\\" has P_Key 0x0061' "$(findings)"
expect_match "and the P_Key" '\\"two\\" is not in force: the partition \\"job2\\" has its P_Key 0x0061' "$(findings)"
expect "the others stay" "7fff 0000 0000 c000" "$(pkeys $node001 1)"
expect_match "in the list" 'not in force: job2' "$(ctl partitions)"
cp good.yaml policy.yaml
sed -i '/sl: 1}/d; /ulp: ipoib/d; /match-rules/d' policy.yaml
reload || bad "refused: $(<reload)"
until_ 10 quiet || bad "no end of Sets"
expect_match "a level that is gone" '\\"two\\": the policy has no level \\"fast\\"' "$(findings)"
expect "they are back" "7fff 8060 0000 c000" "$(pkeys $node001 1)"
cp good.yaml policy.yaml
reload || bad "refused: $(<reload)"
until_ 10 quiet || bad "no end of Sets"
before=$(sets)
sed -i 's/full}}/everything}}/' policy.yaml
! ctl reload >reload 2>&1 || bad "a bad policy is accepted"
changed "a bad policy" 0
expect "P_Keys" "7fff 8060 0000 c000" "$(pkeys $node001 1)"
reaches $h001 1 $node009 || bad "a partition is not in force any more"
cp good.yaml policy.yaml
ctl plan policy.yaml >plan || bad "$(<plan)"
expect_match "what the same policy would change" 'Sets: 0' "$(<plan)"
refused "a cycle" 'contains the partition' add loop --pkey 0x150 group:tenants

note "too many for a table"
for ((i = 1; i <= 70; i++)); do
	printf '%s{"add": "full%d", "members": ["type:switch"]}' "$([ $i = 1 ] || echo ,)" $i
done >many.list
printf '{"changes": [%s]}' "$(<many.list)" >many.json
partition apply many.json
expect_match "what is said of it" 'partition \\"full[0-9]+\\": [0-9]+ ports have no room for its P_Key' "$(findings)"
expect_match "and in the list" 'full70$' "$(ctl partitions)"
room=$(pkeys $leaf01 0 | wc -w)
expect "the first of them are there" "$((room - 1))" "$(ctl partitions | awk '$NF ~ /^full/ && $6 == 0' | wc -l)"
printf '{"changes": [%s]}' "$(sed 's/, "members": \["type:switch"\]//g; s/"add"/"remove"/g' many.list)" >many.json
partition apply many.json
expect "all gone" 7fff "$(pkeys $leaf01 0)"

note "hostile requests"
before=$(sets)
state=$(sha256sum state/partitions)
for body in '' '[]' 'null' '{' '{}' '{"changes": 1}' '{"changes": [1]}' '{"changes": [{}]}' \
	'{"changes": [], "more": 1}' '{"changes": [{"add": "a", "remove": "a"}]}' \
	'{"changes": [{"add": 7}]}' '{"changes": [{"add": ""}]}' '{"changes": [{"add": "a", "pkey": 0}]}' \
	'{"changes": [{"add": "a", "pkey": 65536}]}' '{"changes": [{"add": "a", "pkey": "0x10z"}]}' \
	'{"changes": [{"add": "a", "pkey": -1}]}' '{"changes": [{"add": "a", "pkey": 1e9}]}' \
	'{"changes": [{"add": "a", "members": 1}]}' '{"changes": [{"add": "a", "members": [1, null, {}]}]}' \
	'{"changes": [{"add": "a", "members": {"self": "owner"}}]}' '{"changes": [{"add": "a", "members": {"": "full"}}]}' \
	'{"changes": [{"add": "a", "ipoib": 1}]}' '{"changes": [{"add": "a", "ipoib": {"level": 1}}]}' \
	'{"changes": [{"add": "a\u0009b"}]}' '{"changes": [{"add": "a", "members": ["x\u0000y/P1"]}]}' \
	'{"changes": [{"add": "a", "members": ["a\nb/P1"]}]}' '{"changes": [{"remove": "job2", "pkey": 3}]}' \
	'{"changes": [{"add": "a", "members": ["0xffffffffffffffffff"]}]}' \
	"{\"changes\": [{\"add\": \"$(printf 'x%.0s' {1..300})\"}]}" \
	"{\"changes\": $(printf '[%.0s' {1..5000})$(printf ']%.0s' {1..5000})}"; do
	printf '%s' "$body" >hostile.json
	ctl partition apply hostile.json >hostile.out 2>&1
	expect "exit status of ${body:0:60}" 1 $?
done
head -c 17000000 /dev/zero >hostile.json
! ctl partition apply hostile.json >hostile.out 2>&1 || bad "17 MB of nothing are accepted"
head -c 16000000 /dev/urandom >hostile.json
! ctl partition apply hostile.json >hostile.out 2>&1 || bad "noise is accepted"
{
	printf '{"changes": [{"add": "a", "members": ['
	seq -f '"0x%.0f",' 100000 399999
	printf '"self"]}]}'
} >hostile.json
! ctl partition apply hostile.json >hostile.out 2>&1 || bad "300,000 members are accepted"
expect_match "300,000 members" "members, the limit" "$(<hostile.out)"
expect "Sets" "$before" "$(sets)"
expect "the kept partitions" "$state" "$(sha256sum state/partitions)"
expect "P_Keys" "7fff 8060 0000 c000" "$(pkeys $node001 1)"

note "a damaged file"
stop_qosd || bad "exit status $? after SIGTERM"
sed -i 's/0x0060/0x0070/' state/partitions
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
until_ 10 quiet || bad "no end of Sets"
[ -f state/partitions.damaged ] || bad "it is not set aside"
expect "P_Keys" 7fff "$(pkeys $node001 1)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

note "1,000 partitions at once, 1,024 hosts"
"$tools/gentopo" fat-tree --levels 3 --radix 16 >big.topo || fail "gentopo"
start_sim big.topo
mapfile -t guids < <(sed -nE 's/^\[1\]\(([0-9a-f]+)\).*/\1/p' big.topo)
expect "hosts" 1024 "${#guids[@]}"
rm -rf state
printf 'partitions:\n  Default: {pkey: 0x7fff, members: {all: limited}}\n' >policy.yaml
start_and_wait "$(first_ca big.topo)" -c qosd.yaml -p policy.yaml
until_ 20 quiet || bad "no end of Sets"
for ((i = 0; i < 1000; i++)); do	# eight hosts each
	printf '%s{"add": "job%d", "members": [' "$([ $i = 0 ] || echo ,)" $i
	for ((k = 0; k < 8; k++)); do
		printf '%s"0x%s"' "$([ $k = 0 ] || echo ,)" "${guids[(i + 128 * k) % 1024]}"
	done
	printf ']}'
done >many.list
printf '{"changes": [%s]}' "$(<many.list)" >many.json
before=$(sets)
smps=$(status sent)
from=${EPOCHREALTIME/./}
ctl partition apply many.json --wait >partition.out 2>&1 || bad "$(tail -n 1 partition.out)"
took=$(((${EPOCHREALTIME/./} - from) / 1000))
expect_match "accepted" 'accepted: 9000 changes' "$(<partition.out)"
echo "   1000 partitions of 8: $(($(sets) - before)) Sets, $(($(status sent) - smps)) SMPs, $took ms until in force"
# one block for each of 1,024 hosts and its switch port, because a host is in about eight partitions
expect "Sets for 1,000 partitions" 2048 $(($(sets) - before))
until_ 10 quiet || bad "no end of Sets"
before=$(sets)
from=${EPOCHREALTIME/./}
ctl partition add job7 "0x${guids[500]}" --wait >partition.out 2>&1 || bad "$(tail -n 1 partition.out)"
echo "   one member more: $(($(sets) - before)) Sets, $(((${EPOCHREALTIME/./} - from) / 1000)) ms until in force"
changed "one member more" 2
printf '{"changes": [%s]}' "$(sed 's/, "members": \[[^]]*\]//g; s/"add"/"remove"/g' many.list)" >many.json
from=${EPOCHREALTIME/./}
ctl partition apply many.json --wait >partition.out 2>&1 || bad "$(tail -n 1 partition.out)"
echo "   all removed: $(($(sets) - before)) Sets, $(((${EPOCHREALTIME/./} - from) / 1000)) ms until in force"
stop_qosd || bad "exit status $? after SIGTERM"
