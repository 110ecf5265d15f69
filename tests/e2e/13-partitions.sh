#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests partitions with two tenants that share storage: P_Key tables of hosts and of the
# switch ports that enforce them, paths, levels and IPoIB groups by partition, and the
# number of Sets of a reload.  ibsim's switches do not report that they can enforce
# partitions, and ibsim ignores P_Keys, so enforcement is tested on qosd-sim only.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200 mgmt01=f452140300811201
node001=f452140300811231 node009=f4521403008112b1 node010=f4521403008112c1
node016=f452140300811321
node017=248a070300a25c41 mds01=248a070300a25e99 oss01=248a070300a25ead
leaf01=0xf45214030090a3c0	# 1 to 8: node001 to node008
leaf02=0xf45214030090a440	# 1 to 8: node009 to node016; 31 and on to the spines
leaf05=0x7cfe900300b43180	# 1: mds01, 2 and 3: oss01
machines=("$sm_node" H-f452140300811230 H-f4521403008112c0 H-248a070300a25e98)	# node001, node010, mds01

tenants() {	# tenants [MEMBERS-OF-A]
	cat <<END
port-groups:
  a: {port-names: "node00? HCA-1/P1"}
  b: {port-names: "node01? HCA-1/P1"}	# to node016; later ones have other HCAs
  storage: {port-guids: [0x$mds01, 0x$oss01-0x248a070300a25eae]}
  clients: {partitions: a, pkeys: 0x20}
partitions:
  a: {pkey: 0x10, members: {${1:-a: full, storage: both}}, level: a, ipoib: {level: a-ip}}
  b: {pkey: 0x20, members: {b: full, storage: limited}, level: b, ipoib: true}
  servers: {pkey: 0x30, members: {clients: limited, storage: full}, ipoib: false}
  Default: {pkey: 0x7fff, members: {all: limited}}
qos-levels:
  default: {sl: 0}
  a: {sl: 1, rate-limit: 20}
  a-ip: {sl: 3, mtu-limit: 1024, rate-limit: 20, packet-lifetime: 12, tclass: 9}
  b: {sl: 2, packet-lifetime: 10}
  bulk: {sl: 4}
match-rules:
  - {service-id: 22, level: bulk}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END
}

# pkeys GUID PORT: prints a P_Key table as smpquery reads it, without the empty entries at its end.
pkeys() {
	on "$sm_node" smpquery -G pkeys "0x${1#0x}" "$2" 2>&1 | sed -nE 's/^ *[0-9]+: (.*)$/\1/p' |
		tr -s ' \n' '  ' | sed -E 's/( 0x0000)* *$//; s/0x//g'
}
# enforces GUID PORT: prints the port's partition enforcement as "INBOUND OUTBOUND".
enforces() {
	echo "$(port_info "$sm_node" "$1" "$2" PartEnforceInb) $(port_info "$sm_node" "$1" "$2" PartEnforceOutb)"
}
# path FROM TO ARGUMENT...: prints SL and P_Key of the first record, "none" or "status 0x0500".
path() {
	local out
	out=$(on "$sm_node" saquery PR --sgid "$(gid "$1")" --dgid "$(gid "$2")" "${@:3}" 2>&1)
	if [[ $out =~ 'Query result returned '(0x[0-9a-f]+) ]]; then
		echo "status ${BASH_REMATCH[1]}"
		return
	fi
	set -- "$(sed -nE 's/^[[:space:]]*sl\.+(0x[0-9A-Fa-f]+)$/\1/p' <<<"$out" | head -n 1)" \
		"$(sed -nE 's/^[[:space:]]*pkey\.+(0x[0-9A-Fa-f]+)$/\1/p' <<<"$out" | head -n 1)"
	[ -n "$1" ] && printf 'sl=%d pkey=%04x\n' "$1" "$2" || echo none
}
get_path() {	# the same for a Get; prints the status if the answer has no record
	on_own "$sm_node" "$tools/pathquery" get path sgid="$(gid "$1")" dgid="$(gid "$2")" "${@:3}" 2>&1 |
		grep -oE '^status=.*|sl=[0-9]+' | head -n 1
}
# findings: prints present problems except the cluster's slow links.  Lines that begin with a
# module's name are not problems but the last log lines, which status includes.
findings() { ctl -j status | sed -nE 's/^ *"text": "(.*)",?$/\1/p' | grep -vE '^plan: |^link .*: runs at '; }
changed() {	# changed WHAT WANTED: Sets since the last time
	expect "Sets: $1" "$2" $(($(sets) - before))
	before=$(sets)
}

if [ "$simulator" != ibsim ]; then
	sim_options=()
	can_enforce=1
else
	can_enforce=
fi
start_sim "$topology"
# Sets are counted: sim-vls.sh tests changes of OperationalVLs, so none are made here, and a long
# timeout keeps a busy machine from repeating Sets.
# The manager's own reading of error counters would be dropped as well, by who has another P_Key.
printf '%s\n' "active-vls: wait" "smp-timeout: 5s" "errors-interval: 0" >qosd.yaml
echo 'qos-levels: {default: {sl: 0}}' >policy.yaml
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml

note "without partitions"
expect "P_Keys of a host" ffff "$(pkeys $node001 1)"
expect "P_Keys of a switch" ffff "$(pkeys $leaf01 0)"
expect "enforcement" "0 0" "$(enforces $leaf01 1)"
expect "path" "sl=0 pkey=ffff" "$(path $node001 $node010)"

# promise: P6
note "two tenants"
tenants >policy.yaml
reload || bad "refused: $(cat reload)"
expect "SM's own" ffff "$(pkeys $mgmt01 1)"
expect "tenant a" "7fff 8010 0030" "$(pkeys $node001 1)"
expect "tenant b" "7fff 8020 0030" "$(pkeys $node010 1)"
expect "neither" 7fff "$(pkeys $node017 1)"
expect "storage" "7fff 8010 0010 0020 8030" "$(pkeys $mds01 1)"
expect "a switch's own port" 7fff "$(pkeys $leaf01 0)"
if [ "$can_enforce" ]; then
	expect "findings" "" "$(findings)"
	expect "port next to tenant a" "ffff 8010 8030" "$(pkeys $leaf01 1)"
	expect "port next to tenant b" "ffff 8020 8030" "$(pkeys $leaf02 2)"
	expect "port next to storage" "ffff 8010 8020 8030" "$(pkeys $leaf05 1)"
	expect "port to a spine" ffff "$(pkeys $leaf02 31)"
	expect "enforcement next to tenant a" "1 1" "$(enforces $leaf01 1)"
	expect "enforcement next to storage" "1 1" "$(enforces $leaf05 1)"
	expect "enforcement towards a spine" "0 0" "$(enforces $leaf02 31)"
	expect "enforcement without a link" "0 0" "$(enforces $leaf05 20)"
else
	expect_match "findings" "not enforced at [0-9]+ ports whose switch does not support it" "$(findings)"
	expect "enforcement" "0 0" "$(enforces $leaf01 1)"
	expect "P_Keys of a port that does not enforce" ffff "$(pkeys $leaf01 1)"
fi

# promise: P4
note "paths"
expect "within tenant a" "sl=1 pkey=8010" "$(path $node001 $node009)"
expect "within tenant b" "sl=2 pkey=8020" "$(path $node010 $node016)"
expect "between tenants" none "$(path $node001 $node010)"
expect "between tenants, a Get" status=0x0300 "$(get_path $node001 $node010)"
expect "between tenants, by name of what both have" none "$(path $node001 $node010 --pkey 0x7fff)"
expect "between tenants, by what both have limited" none "$(path $node001 $node010 --pkey 0x30)"
expect "to storage, the first P_Key" "sl=1 pkey=8010" "$(path $node001 $mds01)"
expect "from storage" "sl=1 pkey=8010" "$(path $mds01 $node001)"
expect "from storage to tenant b, a limited member" "sl=2 pkey=0020" "$(path $mds01 $node010)"
expect "to storage by the servers' P_Key" "sl=0 pkey=8030" "$(path $node001 $mds01 --pkey 0x8030)"
expect "from storage by the servers' P_Key" "sl=0 pkey=0030" "$(path $mds01 $node001 --pkey 0x30)"
expect "the other tenant's P_Key" none "$(path $node001 $node009 --pkey 0x8020)"
expect "nobody's P_Key" none "$(path $node001 $node009 --pkey 0x8040)"
expect "to the SM" "sl=0 pkey=7fff" "$(path $node001 $mgmt01)"
expect "outsiders" none "$(path $node017 $node001)"
expect "a rule stands against the partition" "sl=4 pkey=8010" "$(path $node001 $node009 --service_id 22)"
expect "a Get" sl=1 "$(get_path $node001 $node009)"
ctl explain "node001 HCA-1/P1" "node009 HCA-1/P1" >explain || bad "explain fails"
expect_match "explain says the partition's level" "level +a" "$(<explain)"
expect_match "explain says its P_Key" "P_Key +0x8010" "$(<explain)"
ctl explain "node001 HCA-1/P1" "node010 HCA-1/P1" >explain
expect_match "explain says why not" "share no P_Key" "$(<explain)"
ctl explain "node001 HCA-1/P1" "mds01 mlx5_0/P1" --pkey 0x20 >explain
expect_match "explain of another's P_Key" "do not share the requested P_Key" "$(<explain)"

# promise: P6
note "IPoIB"
# group P_KEY NODE: prints "SL MTU RATE LIFE TCLASS" of the partition's broadcast group as codes, as the
# SA tells that node.
group() {
	on_own "$2" "$tools/pathquery" table member mgid="ff12:401b:$1::ffff:ffff" 2>&1 |
		sed -nE 's/.* pkey=(0x[0-9a-f]+|[0-9]+).*/\0/p' |
		grep -oE '\b(sl|mtu|rate|life|tclass)=[0-9a-fx]+' | sort | tr '\n' ' '
}
expect "group of the default partition" "life=18 mtu=4 rate=3 sl=0 tclass=0 " "$(group ffff "$sm_node")"
expect "group of a: its IPoIB level" "life=12 mtu=3 rate=6 sl=3 tclass=9 " "$(group 8010 H-f452140300811230)"
expect "group of b: its level" "life=10 mtu=4 rate=3 sl=2 tclass=0 " "$(group 8020 H-248a070300a25e98)"
expect "no group of servers" "" "$(group 8030 H-f452140300811230)"
expect "what strangers see" "" "$(group 8010 "$sm_node")$(group 8020 "$sm_node")"
groups=$(on "$sm_node" saquery --smkey 1 -g 2>&1)
expect "groups by saquery" "ff12:401b:8010::ffff:ffff ff12:401b:8020::ffff:ffff ff12:401b:ffff::ffff:ffff" \
	"$(grep -oE 'ff12:401b:[0-9a-f:]+' <<<"$groups" | sort -u | tr '\n' ' ' | sed 's/ $//')"
join() {	# join NODE GUID P_KEY
	on_own "$1" "$tools/pathquery" set member mgid="ff12:401b:$3::ffff:ffff" \
		port-gid="$(gid "$2")" join-state=1 2>&1 | grep -oE '^status=.*|mlid=[0-9a-fx]+'
}
expect_match "a member joins" "mlid=0xc0" "$(join H-f452140300811230 $node001 8010)"
expect "a stranger does not" status=0x0200 "$(join H-f4521403008112c0 $node010 8010)"
expect_match "a limited member joins" "mlid=0xc0" "$(join H-248a070300a25e98 $mds01 8020)"
multicast() { on "$sm_node" ibroute -G -M "$1" 2>&1 | grep -c '^0xc'; }
routed() { [ "$(multicast $leaf01)$(multicast $leaf05)" = 11 ]; }
until_ 5 routed || bad "the joined are in $(multicast $leaf01) and $(multicast $leaf05) multicast tables"

note "the same policy again"
before=$(sets)
reload || bad "refused: $(cat reload)"
changed "the same policy" 0

# promise: P6
note "a membership changes"
tenants "a: full, storage: both, 0x$node009: limited" >policy.yaml
reload || bad "refused: $(cat reload)"
expect "a limited member now" "7fff 0010 0030" "$(pkeys $node009 1)"
expect "another" "7fff 8010 0030" "$(pkeys $node001 1)"
changed "full to limited: the host's block only" 1
expect "path of two limited members" "sl=1 pkey=8010" "$(path $node001 $node009)"
tenants "a: full, storage: both, 0x$node017: full" >policy.yaml
reload || bad "refused: $(cat reload)"
expect "a full member again" "7fff 8010 0030" "$(pkeys $node009 1)"
expect "a new one" "7fff 8010 0030" "$(pkeys $node017 1)"
changed "one back, one more, with its switch port" $((can_enforce ? 3 : 2))
tenants >policy.yaml
reload || bad "refused: $(cat reload)"
expect "the new one has left" 7fff "$(pkeys $node017 1)"
changed "it leaves" $((can_enforce ? 2 : 1))
expect "path" none "$(path $node017 $node001)"

# promise: N2 O3
note "hosts by name, as Slurm lists them"
was=$(pkeys $node001 1)
ctl partition add jobs --pkey 0x50 "node[001,009-010]" --wait >out 2>&1 || bad "add: $(<out)"
expect "P_Keys of the first" "$was 8050" "$(pkeys $node001 1)"
expect_match "P_Keys of the last" " 8050$" "$(pkeys $node010 1)"
expect "others" 1 "$(pkeys $node016 1 | grep -vc 8050)"
expect "path" "sl=0 pkey=8050" "$(path $node001 $node010 --pkey 0x8050)"
# refused WHAT PATTERN MEMBER...: adding these members must fail with this message, and change nothing.
refused() {
	before=$(sets)
	expect "exit status of $1" 1 "$(ctl partition add jobs "${@:3}" >out 2>&1; echo $?)"
	expect_match "$1" "$2" "$(<out)"
	expect "Sets of $1" "$before" "$(sets)"
}
refused "a typing error" 'no host .* "nod016" \(did you mean "node016"\?\): --absent-ok' nod016
refused "a port's name" 'no port "node016 HCA1/P1" \(did you mean "node016 HCA-1/P1"\?\)' "node016 HCA1/P1"
refused "a host that is not there" 'no host .* "node099": --absent-ok' "node[016,099]"
refused "a GUID that is not there" 'no port with the GUID "0x1234"' 0x1234
refused "a node's GUID" "is the GUID of the node node016 HCA-1" 0xf452140300811320
refused "a range backwards" "the range 4-1 runs backwards" "node[4-1]"
refused "a bracket that stays open" "a bracket is not closed" "node[1-"
refused "too many names" "there are more than [0-9]+ names" "node[1-999999999]"
echo '{"changes"' >bad.json
expect_match "what is no JSON" "^bad\.json:[0-9]+:[0-9]+: error: it is not JSON" "$(ctl partition apply bad.json 2>&1)"
! pkeys $node016 1 | grep 8050 || bad "a part of a refused request is in force"
ctl partition add jobs node099 --absent-ok --wait >out 2>&1 || bad "add --absent-ok: $(<out)"
ctl partition show jobs >out
expect_match "an absent host is a member by pattern" 'member +full +dynamic +node099 \*/P\*' "$(<out)"
ctl partition add jobs node099 --wait >out 2>&1 || bad "a member of long standing: $(<out)"
ctl partition remove jobs "node[001,009],node099" --wait >out 2>&1 || bad "remove: $(<out)"
expect "who is left" "node010 HCA-1/P1" "$(ctl -j partition show jobs | jq -r '.partitions[0].members[].who')"
expect "P_Keys of who was removed" "$was" "$(pkeys $node001 1)"
ctl partition remove jobs --wait >out 2>&1 || bad "remove: $(<out)"

note "a restart"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "table Sets after a restart" 0 "$(table_sets)"
[ ! "$can_enforce" ] || expect "Sets after a restart" 0 "$(sets)"

# promise: T7
note "tables changed behind its back"
before=$(sets)
lid=$(port_info "$sm_node" $leaf01 0 Lid)
on_own "$sm_node" "$tools/rawmad" -d "$lid" 1 2 0x16 0 64:ffff80108030 >raw.log || bad "can't set"
sweeps=$(status sweeps)
ctl sweep >/dev/null || bad "qosd-ctl sweep"
swept() { [ "$(status sweeps)" -gt "$sweeps" ] && status_is sweeping=false subnet-up=true; }
until_ 10 swept || bad "no end of the sweep"
expect "the switch's own table is repaired" 7fff "$(pkeys $leaf01 0)"
[ ! "$can_enforce" ] || changed "the repair" 1

if [ "$can_enforce" ]; then
	note "what gets through"
	# reaches NODE GUID: whether a packet with the P_Key at index 0 arrives and is answered.
	declare -A lids
	for guid in $mgmt01 $node001 $node010 $node016; do
		lids[$guid]=$(port_info "$sm_node" "0x$guid" 1 Lid)
	done
	reaches() {
		local patience
		look_busy
		on "$1" perfquery -t $((200 * patience)) "${lids[$2]}" 1 >perf.log 2>&1
	}
	pkey_drops() { sim_ctl -j drops --reason pkey | tr -d '\n ' | grep -oE '"at":"[^"]*"' | tail -n 1; }
	reaches "$sm_node" $node001 || bad "the SM does not reach a limited member: $(tail -n 1 perf.log)"
	reaches H-f452140300811230 $mgmt01 || bad "a limited member does not reach the SM"
	! reaches H-f452140300811230 $node010 || bad "two limited members talk"
	# If a host writes another tenant's P_Key into its own table, its switch drops the packets.
	sim_do pkey "node001 HCA-1/P1" 0 0x8020
	sim_do pkey "node010 HCA-1/P1" 0 0x8020
	sim_do pkey "node016 HCA-1/P1" 0 0x8020
	reaches H-f4521403008112c0 $node016 || bad "members of a tenant do not talk: $(tail -n 1 perf.log)"
	! reaches H-f4521403008112c0 $node001 || bad "a packet reaches a host that gave itself the P_Key"
	expect_match "dropped" 'leaf01.*/P1"' "$(pkey_drops)"
	sim_do drops --reset
	! reaches H-f452140300811230 $node010 || bad "a packet of a host that gave itself the P_Key arrives"
	expect_match "dropped" 'leaf01.*/P1"' "$(pkey_drops)"
	ctl sweep >/dev/null || bad "qosd-ctl sweep"
	repaired() { [ "$(pkeys $node001 1), $(pkeys $node016 1)" = "7fff 8010 0030, 7fff 8020 0030" ]; }
	until_ 10 repaired || bad "P_Keys that hosts gave themselves stay"
fi

if [ "$can_enforce" ]; then
	note "a host of the other tenant at the same switch port"
	unplug H-f452140300811230 1
	unplug H-f4521403008112c0 1
	moved() { [ "$(pkeys "$leaf01" 1)" = "ffff 8020 8030" ] && subnet_up; }
	plug_into H-f4521403008112c0 1 S-f45214030090a3c0 1
	until_ 10 moved || bad "P_Keys of the switch port: $(pkeys $leaf01 1)"
	expect "enforcement" "1 1" "$(enforces $leaf01 1)"
	expect "P_Keys of the host" "7fff 8020 0030" "$(pkeys $node010 1)"
	unplug H-f4521403008112c0 1
	plug_into H-f4521403008112c0 1 S-f45214030090a440 2
	plug_into H-f452140300811230 1 S-f45214030090a3c0 1
	moved() { [ "$(pkeys "$leaf01" 1)" = "ffff 8010 8030" ] && [ "$(status ports-active)" = "$(linked_ports "$topology")" ]; }
	until_ 10 moved || bad "P_Keys of the switch port: $(pkeys $leaf01 1)"
	expect "P_Keys of the host" "7fff 8010 0030" "$(pkeys $node001 1)"
fi

note "nobody is kept apart any more"
hosts=$(grep -cE '^\[[0-9]+\]\([0-9a-f]+\)' "$topology")
# multicast tables are written after the sweep
quiet() { before=$(sets) && sleep 0.3 && [ "$(sets)" = "$before" ] && subnet_up; }
until_ 10 quiet || bad "no end of Sets"
printf 'partitions:\n  more: {pkey: 5, members: {all: full}}\n' >policy.yaml
reload || bad "refused: $(cat reload)"
# a new P_Key does not take the index of one that is removed at the same time: queue pairs may still use it
expect "P_Keys" "ffff 0000 0000 8005" "$(pkeys $node001 1)"
expect "enforcement" "0 0" "$(enforces $leaf01 1)"
expect "findings" "" "$(findings)"
switches=$(grep -c ^Switch "$topology")
# One P_Key block for each host and switch; for the switch ports only the enforcement bits.
# The two hosts that had joined groups of the removed partitions are members no more.
unrouted() { [ "$(multicast $leaf01)$(multicast $leaf05)" = 00 ]; }
until_ 5 unrouted || bad "who lost its partition is still in its group"
changed "P_Key tables, multicast tables, enforcement off" \
	$((switches + hosts + 2 + (can_enforce ? hosts : 0)))

note "and again"
cp policy.yaml nobody.yaml
tenants >policy.yaml
reload || bad "refused: $(cat reload)"
expect "P_Keys" "7fff 8010 0030" "$(pkeys $node001 1)"
# the switch ports still have their tables
changed "P_Key tables, enforcement on" $((switches + hosts + (can_enforce ? hosts : 0)))
[ ! "$can_enforce" ] || expect "enforcement" "1 1" "$(enforces $leaf01 1)"

if [ "$can_enforce" ]; then
	cp nobody.yaml policy.yaml
	reload || bad "refused: $(cat reload)"
	note "a switch that does not take its tables, nor lets others' through"
	stop_qosd || bad "exit status $? after SIGTERM"
	printf 'smp-timeout: 50ms\nsmp-retries: 1\nactive-vls: wait\n' >quick.yaml
	start_and_wait "$sm_node" -c quick.yaml -p policy.yaml
	sim_do fault add drop --class smp --at "MF0;leaf01:SX6036/U1" --attr 0x16
	tenants >policy.yaml
	reload || bad "refused: $(cat reload)"
	expect "enforcement by others" "1 1" "$(enforces $leaf02 1)"
	expect "enforcement without the table" "0 0" "$(enforces $leaf01 1)"
	sim_do fault remove all
	enforced() { [ "$(enforces $leaf01 1)$(pkeys $leaf01 1)" = "1 1ffff 8010 8030" ]; }
	until_ 10 enforced || bad "it does not begin later"
fi

note "too many for a table"
{
	echo "partitions:"
	for ((i = 1; i <= 9; i++)); do
		echo "  p$i: {pkey: $i, members: {all: full}}"
	done
} >policy.yaml
reload || bad "refused: $(cat reload)"
expect_match "what is said of it" 'partition \\"p8\\": [0-9]+ ports have no room for its P_Key' "$(findings)"
expect "partitions that are told of" 2 "$(findings | grep -c 'no room for its P_Key')"
expect "a switch has the first of them" "ffff 8001 8002 8003 8004 8005 8006 8007" "$(pkeys $leaf01 0)"
expect "a host all" "ffff 0000 0000 8001 8002 8003 8004 8005 8006 8007 8008 8009" "$(pkeys $node001 1)"
all_active "$sm_node" "$topology"

stop_qosd || bad "exit status $? after SIGTERM"
