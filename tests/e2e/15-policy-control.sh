#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests control of the policy: loading it changes exactly what `plan` foretold; a policy
# on trial is reverted, on the devices and in SA answers, unless it is confirmed; refused
# files, reverting to earlier policies, the history; and no client waits for a plan.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)
leaf05=0x7cfe900300b43180	# 6 hosts on ports 1 to 6, 31 to 36 to the spines

policy() {	# policy SL WEIGHT TABLE-TO-PORT-2 HIGH-LIMIT
	cat <<END
port-groups:
  leaf05: {port-guids: $leaf05}
  oss: {port-guids: 0x248a070300a25ead}
qos-levels:
  default: {sl: 0}
  storage: {sl: $1}
match-rules:
  - {service-id: 22, destination: oss, level: storage}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
    - {group: leaf05, to: 2, table: [$3]}
  vlarb:
    - {group: all, low: ["0:64", "1:64", "2:64", "3:$2"], high-limit: $4}
END
}
table="0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15"
other="0, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15"
answer() { record "$from" --sgid "$node001" --dgid "$oss01" --service_id 22 | grep -o 'sl=[0-9]*'; }
on_leaf() { sl2vl "$from" $leaf05 2 31; }
arb_on_leaf() { vlarb "$from" $leaf05 31; }

# set_counts: prints "ATTRIBUTE SETS" lines: how often the daemon has set each attribute since its start.
set_counts() {
	ctl -j status | jq -r '.smps."by-attribute" | to_entries[] | select(.value.set > 0) |
		"\(.key) \(.value.set)"' | sort
}
# planned FILE BOUND: prints the "ATTRIBUTE SETS" lines that a plan foretells.
planned() { jq -r ".sets.$2.\"by-attribute\" | to_entries[] | \"\(.key) \(.value)\"" "$1" | sort; }
# since FILE: prints the difference between set_counts now and its earlier output in FILE.
since() {
	join -a 2 -e 0 -o 0,1.2,2.2 "$1" <(set_counts) | awk '$3 > $2 { print $1, $3 - $2 }'
}
# apply COMMAND...: runs the command and waits for the sweep that it causes.
apply() {
	local before
	before=$(status sweeps)
	"$@" >apply.out 2>&1 || { bad "$*: $(<apply.out)"; return; }
	settled "$before" || bad "no end of the sweep after $*"
}
settled() {
	local before=$1
	swept() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
	until_ 10 swept
}
# plan_and_load FILE: load must send exactly the Sets that plan foretells.
plan_and_load() {
	local before after
	before=$(sets)
	ctl -j plan "$1" >plan.json || bad "plan $1: $(<plan.json)"
	after=$(sets)
	expect "Sets by planning" "$before" "$after"
	set_counts >counts
	planned plan.json least >least
	planned plan.json most >most
	expect_same "what is foretold is exact" least most
	apply ctl policy load "$1"
	since counts >sent
	expect_same "Sets foretold and sent" least sent
}

# plan_and_load_unknown FILE: the same while the tables have not been read: the Sets must be between the
# plan's two bounds.
plan_and_load_unknown() {
	local n
	ctl -j plan "$1" >plan.json || bad "plan $1: $(<plan.json)"
	set_counts >counts
	apply ctl policy load "$1"
	n=$(since counts | awk '{ n += $2 } END { print n + 0 }')
	[ "$(jq .sets.least.total plan.json)" -lt "$(jq .sets.most.total plan.json)" ] ||
		bad "$1: all tables are known"
	[ "$n" -ge "$(jq .sets.least.total plan.json)" ] || bad "$1: fewer Sets than foretold: $n"
	[ "$n" -le "$(jq .sets.most.total plan.json)" ] || bad "$1: more Sets than foretold: $n"
}

start_sim "$topology"
# With a long timeout, a busy machine causes no repeated Sets, which would be counted.
echo "smp-timeout: 5s" >qosd.yaml
policy 2 64 "$table" 0 >a.yaml
policy 3 100 "$other" 0 >b.yaml
start_and_wait "$sm_node" -c qosd.yaml -p a.yaml
expect "answer" sl=2 "$(answer)"
a=$(status checksum)

note "nothing to change"
plan_and_load a.yaml
expect "Sets foretold" 0 "$(jq .sets.most.total plan.json)"
expect "pairs with other answers" 0 "$(jq '.answers."pairs-changed"' plan.json)"

note "another SL: one answer, no table"
policy 3 64 "$table" 0 >sl.yaml
plan_and_load sl.yaml
expect "Sets foretold" 0 "$(jq .sets.most.total plan.json)"
ends=$(($(cas "$topology" | wc -l) + $(grep -c '^Switch' "$topology") + $(grep -c '^Rt' "$topology")))
expect_match "pairs of ports" '^[0-9]+$' "$(jq .answers.pairs plan.json)"
expect "kinds of port" 2 "$(jq '.answers."port-kinds"' plan.json)"
n=$(jq '.answers.pairs' plan.json)
ports=$(awk -v n="$n" 'BEGIN { print int(sqrt(n)) + 1 }')
expect "pairs are ordered pairs of ports" "$n" $((ports * (ports - 1)))
[ "$ports" -ge "$ends" ] || bad "only $ports ports of $ends nodes"
expect "pairs to oss01" $((ports - 1)) "$(jq '.answers."pairs-changed"' plan.json)"
expect "old and new SL" "2 3" "$(jq -r '.answers.changes[0].examples[0] | "\(.old.sl) \(.new.sl)"' plan.json)"
expect "it is a change from rule 1 to rule 1" "1 1" \
	"$(jq -r '.answers.changes[0] | "\(.old.rule.rule) \(.new.rule.rule)"' plan.json)"
expect_match "an example leads there" oss01 "$(jq -r '.answers.changes[0].examples[0].destination' plan.json)"
expect "answer" sl=3 "$(answer)"

# promise: P8
note "tables of one port, a weight everywhere"
plan_and_load b.yaml
expect "SL2VL Sets" 12 "$(jq '.sets.most."by-attribute".SLtoVLMappingTable' plan.json)"
expect "SL2VL tables of switches" 12 "$(jq '.tables.switch.sl2vl + .tables."switch-port-0".sl2vl' plan.json)"
expect "VLArb tables of CAs and routers" "$(jq '.tables.ca.vlarb + .tables.router.vlarb' plan.json)" \
	"$(($(linked_ports "$topology") - $(jq .tables.switch.vlarb plan.json)))"
expect "SL2VL" "0 1 1 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(on_leaf)"
expect "VLArb" "low: 0:64 1:64 2:64 3:100 high:" "$(arb_on_leaf)"

note "a high limit, which is in PortInfo"
policy 3 100 "$other" 7 >high.yaml
plan_and_load high.yaml
expect_match "PortInfo Sets" '^[1-9]' "$(jq '.sets.most."by-attribute".PortInfo' plan.json)"

note "partitions"
sed '/^qos-levels/i partitions:\n  blue: {pkey: 0x11, members: {oss: full, leaf05: limited}}' high.yaml >blue.yaml
plan_and_load blue.yaml
expect_match "P_KeyTable Sets" '^[1-9]' "$(jq '.sets.most."by-attribute".P_KeyTable' plan.json)"
plan_and_load high.yaml
apply ctl policy revert
apply ctl policy revert

# promise: P10
note "health says that the file has another policy"
not_in_file() { ctl -j health | jq -r '.problems[] | select(.kind == "policy-not-in-file") | "\(.severity) \(.text)"'; }
says_nothing() { [ -z "$(not_in_file)" ]; }
says_another() { [[ $(not_in_file) =~ ^warning.*another,\ checksum\ $a ]]; }
until_ 10 says_another || bad "health does not say that the file has another policy: $(ctl health)"
cp a.yaml a.before && cp high.yaml a.yaml
until_ 20 says_nothing || bad "health says so of the same policy: $(not_in_file)"
mv a.before a.yaml
until_ 20 says_another || bad "health does not say so again: $(ctl health)"

note "steps back"
apply ctl policy revert
apply ctl policy revert
expect "answer" sl=3 "$(answer)"
apply ctl policy revert
expect "answer" sl=2 "$(answer)"
expect "policy in force" "$a" "$(status checksum)"
expect "SL2VL" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(on_leaf)"
expect "one step too many" 1 "$(ctl policy revert >out 2>&1; echo $?)"
expect_match "reason" "no earlier policy" "$(<out)"

# promise: P8 O3
note "waiting until a policy is in force"
ctl policy load b.yaml --wait >out 2>&1 || bad "load --wait: $(<out)"
expect "answer when load returns" sl=3 "$(answer)"
expect "SL2VL when load returns" "0 1 1 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(on_leaf)"
expect_match "what load says at last" 'it is in force$' "$(tail -n 1 out)"
ctl policy install a.yaml --wait >out 2>&1 || bad "install --wait: $(<out)"
expect "answer when install returns" sl=2 "$(answer)"
cp b.yaml a.yaml
ctl -j reload --wait >out 2>&1 || bad "reload --wait: $(<out)"
expect "answer when reload returns" sl=3 "$(answer)"
expect "its change is in force" "$(jq .change out)" "$(ctl -j status | jq '.policy."change-in-force"')"
policy 2 64 "$table" 0 >a.yaml
sweeps=$(status sweeps)
ctl reload >out 2>&1 || bad "reload: $(<out)"
expect_match "when it will be in force" 'in force when the sweep that has begun ends \(--wait' "$(<out)"
settled "$sweeps" || bad "no end of the sweep"
expect "answer" sl=2 "$(answer)"

# promise: P7
note "what the fabric makes of a policy that is loaded"
sed 's/  storage: {sl: 2}/&\n  fat: {sl: 1, mtu-limit: 4096}\n  lost: {sl: 4}/
	s/table: .0, 1, 2, 3, 0,/table: [0, 1, 2, 3, 15,/' a.yaml >fabric.yaml
# findings_of FILE: prints the findings in an output, without the example of a pair, which depends on the order of nodes.
findings_of() { sed -nE 's/^[^ ]*(fabric|a).yaml:([0-9]+:[0-9]+: .*)/\2/p' "$1" | sed 's/; from .*//' | sort; }
"$build/qosd" --check -p fabric.yaml --topology "$topology" >out 2>&1
findings_of out >checked
[ -s checked ] || bad "--check --topology has no findings"
for command in "load fabric.yaml" "install fabric.yaml"; do
	# shellcheck disable=SC2086 # two words
	ctl policy $command --wait >out 2>&1 || bad "$command: $(<out)"
	findings_of out >said
	expect_same "findings of $command" checked said
done
policy 2 64 "$table" 0 >a.yaml
ctl reload --wait >out 2>&1 || bad "reload: $(<out)"

# promise: P8
note "a policy on trial that nobody confirms"
# A slow machine may need a longer trial, or it ends before all checks are made.
for seconds in 3 15 60; do
	sweeps=$(status sweeps)
	ctl policy load --confirm $seconds b.yaml >out || bad "load: $(<out)"
	settled "$sweeps" || bad "no end of the sweep"
	said=$(tr '\n' ' ' <out) told=$(ctl status) during="$(answer), $(on_leaf)"
	second="$(ctl policy load a.yaml >out 2>&1; echo $?) $(<out)"
	[ "$(ctl -j status | jq .policy.trial)" = null ] || break
done
expect_match "what load says" "on trial.*not stored in a file" "$said"
expect "answer, and SL2VL" "sl=3, 0 1 1 3 0 0 0 0 0 0 0 0 0 0 0 15" "$during"
expect_match "status" "b.yaml is on trial: in [0-9]+ s it is reverted to a.yaml" "$told"
expect_match "a second one" "^1 .*on trial: confirm or revert it first" "$second"
taken_back() { [ "$(status checksum)" = "$a" ] && [ "$(status sweeping)" = false ]; }
until_ $((seconds + 2)) taken_back || bad "it stays"
expect "answer" sl=2 "$(answer)"
expect "SL2VL" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(on_leaf)"
expect "VLArb" "low: 0:64 1:64 2:64 3:64 high:" "$(arb_on_leaf)"
expect "nothing is on trial" null "$(ctl -j status | jq .policy.trial)"
expect_match "log" "b.yaml: not confirmed in time" "$(<"$qosd_log")"

note "one that is confirmed, read from a pipe"
for seconds in 2 10 60; do	# likewise
	sweeps=$(status sweeps) begin=${EPOCHREALTIME/./}
	ctl policy load - --confirm=$seconds <b.yaml >out || bad "load: $(<out)"
	settled "$sweeps" || bad "no end of the sweep"
	ctl policy confirm >out 2>&1 && break
done
expect "what confirm says" 0 "$(grep -c qosd-ctl: out)"
is_past() { [ $((${EPOCHREALTIME/./} - begin)) -gt $((seconds * 1000000 + 500000)) ]; }
until_ $((seconds + 10)) is_past
expect "answer" sl=3 "$(answer)"
expect "source" "(standard input) client $(id -u)" \
	"$(ctl -j status | jq -r '.policy | "\(.file) \(.source) \(.uid)"')"
expect "confirming twice" 1 "$(ctl policy confirm >out 2>&1; echo $?)"

note "what is in force can be shown and loaded again"
ctl policy show >shown.yaml
expect_same "source" b.yaml shown.yaml
ctl policy show --normal >normal.yaml
"$build/qosd" --check -p normal.yaml >out 2>&1 || bad "the normal form does not check: $(<out)"
plan_and_load normal.yaml
expect "Sets foretold for the normal form" 0 "$(jq .sets.most.total plan.json)"
expect "pairs with other answers" 0 "$(jq '.answers."pairs-changed"' plan.json)"

# promise: P8
note "a refused file"
in_force=$(status checksum) sets=$(sets)
sed 's/sl: 3/sl: 33/; s/level: storage}/level: storag}/' b.yaml >broken.yaml
for command in plan "policy load"; do
	# shellcheck disable=SC2086 # two words
	expect "exit status of $command" 1 "$(ctl $command broken.yaml >out 2>&1; echo $?)"
	expect_match "the first error" "broken.yaml:6:17: error: .*33" "$(<out)"
	expect_match "the second one" "broken.yaml:8:[0-9]+: error: .*storag" "$(<out)"
done
expect "policy in force" "$in_force" "$(status checksum)"
expect "Sets" "$sets" "$(sets)"
expect "a file that is not there" 1 "$(ctl plan nowhere.yaml >out 2>&1; echo $?)"
expect_match "reason" "nowhere.yaml: No such file" "$(<out)"
head -c 17000000 /dev/zero >large.yaml
expect "a file that is too large" 1 "$(ctl policy load large.yaml >out 2>&1; echo $?)"
expect_match "reason" "larger than" "$(<out)"

note "20 clients ask for the status while plans run"
{	# a group for each host, and 6000 rules that match by these groups and other criteria
	hosts=$(sed -nE 's/^caguid=0x([0-9a-f]+).*/\1/p' "$topology")
	echo "port-groups:"
	i=0
	for guid in $hosts; do echo "  g$((i++)): {port-guids: 0x$guid-$(printf %#x $((16#$guid + 2)))}"; done
	sed -n '/^qos-levels/,/^  storage/p' b.yaml
	echo "match-rules:"
	for ((i = 0; i < 6000; i++)); do
		echo "  - {service-id: $((i * 5))-$((i * 5 + 2)), qos-class: $((i % 9)), source: g$((i % 50)), level: storage}"
	done
	sed -n '/^fabric-setup/,$p' a.yaml | grep -v leaf05
} >long.yaml
# Each client records when it has its answer.
{ ctl -j plan long.yaml >long.json 2>&1; plan_status=$?; echo "$EPOCHREALTIME plan" >>answered; exit $plan_status; } &
plan=$!
waited=()
for ((i = 0; i < 20; i++)); do
	{ ctl -j status >"status.$i" 2>&1; echo "$EPOCHREALTIME status" >>answered; } &
	waited+=($!)
done
wait "${waited[@]}"
for ((i = 0; i < 20; i++)); do
	expect "status $i" master "$(field state <"status.$i")"
done
expect "answer while a plan runs" sl=3 "$(answer)"
wait "$plan" || bad "plan: $(tail -n 3 long.json)"
expect "answers before that to the plan" 20 "$(sort answered | awk '$2 == "plan" { exit } { n++ } END { print n + 0 }')"
expect "it was a sample" true "$(jq .answers.sample long.json)"

note "more plans than are worked on, and clients that go away"
for ((i = 0; i < 4; i++)); do ctl -j plan long.yaml >"many.$i" 2>&1 & many[i]=$!; done
left=0
for ((i = 0; i < 4; i++)); do wait "${many[i]}" || left=$((left + 1)); done
expect_match "refused at the same time" '^[12]$' "$left"
expect_match "reason" "try again later" "$(cat many.?)"
for ((i = 0; i < 2; i++)); do ctl -j plan long.yaml >/dev/null 2>&1 & many[i]=$!; done
sleep 0.3
kill "${many[@]:0:2}" 2>/dev/null
planning_again() { ctl plan a.yaml >out 2>&1; }
until_ 30 planning_again || bad "no plan after clients went away: $(<out)"

note "history, also after a restart"
ctl policy history >history
expect_match "what was refused" 'load +refused +0 .*broken.yaml: 2 errors' "$(<history)"
expect_match "what timed out" 'load +timed-out +0 .* b.yaml' "$(<history)"
expect_match "what was confirmed" 'load +confirmed +0 .*\(standard input\)' "$(<history)"
entries=$(wc -l <history)
# wait until no request is open: ibsim's library crashes if an answer arrives while a client closes the port
apply ctl policy load --confirm 60 sl.yaml
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$sm_node" -c qosd.yaml -p a.yaml
expect "the configured policy" "$a" "$(status checksum)"
expect "answer" sl=2 "$(answer)"
ctl policy history >history
expect_match "the trial that the restart ended" 'load +lost +0 .* sl.yaml' "$(<history)"
expect "entries" $((entries + 2)) "$(wc -l <history)"

note "reading the configured file again ends a trial"
ctl policy load --confirm 2 b.yaml >out || bad "load: $(<out)"
reload || bad "reload: $(cat reload)"
expect "the configured policy" "$a" "$(status checksum)"
sleep 2.5
expect "still" "$a" "$(status checksum)"
expect_match "history" 'load +replaced' "$(ctl policy history)"

note "tables that nobody wrote are foretold as at least and at most"
echo "qos-levels: {default: {sl: 0}}" >none.yaml
apply ctl policy load none.yaml
plan_and_load_unknown b.yaml

stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

if [ "$simulator" = qosd-sim ]; then
	note "switches with optimized SL2VL programming"
	sim_options=()
	rm -rf state
	start_sim "$topology"
	start_and_wait "$sm_node" -c qosd.yaml -p a.yaml
	plan_and_load b.yaml
	expect "SL2VL Sets" 1 "$(jq '.sets.most."by-attribute".SLtoVLMappingTable' plan.json)"
	expect "SL2VL tables of switches" 12 \
		"$(jq '.tables.switch.sl2vl + .tables."switch-port-0".sl2vl' plan.json)"
	expect "SL2VL" "0 1 1 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(on_leaf)"
	note "… that enforce partitions"
	plan_and_load_unknown blue.yaml
	expect_match "PortInfo Sets" '^[1-9]' "$(jq '.sets.least."by-attribute".PortInfo' plan.json)"
	plan_and_load b.yaml
	# promise: P8 O3
	note "waiting for a policy that a device does not take"
	stop_qosd || bad "exit status $? after SIGTERM"
	printf 'smp-timeout: 50ms\nsmp-retries: 1\n' >quick.yaml
	start_and_wait "$sm_node" -c quick.yaml -p a.yaml
	sim_do fault add drop --class smp --at "MF0;leaf05:SB7700/U1" --attr 0x17
	expect "exit status of load --wait" 1 "$(ctl policy load b.yaml --wait >out 2>&1; echo $?)"
	expect_match "why" "devices did not take" "$(<out)"
	sim_do fault remove all
	stop_qosd || bad "exit status $? after SIGTERM"
	stop_sim
fi
