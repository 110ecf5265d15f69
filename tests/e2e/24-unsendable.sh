#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that a policy or a partition by which a level can send nothing at some port is refused, whatever
# way it comes, unless it is forced; that a start uses such a policy; and waiting for a revert.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)

# policy SL VL-OF-SL-2 LOW-TABLE: prints a policy whose level storage has that SL.
policy() {
	cat <<END
qos-levels:
  default: {sl: 0}
  storage: {sl: $1}
  lost: {sl: 2}
match-rules:
  - {service-id: 22, level: storage}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, $2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
  vlarb:
    - {group: all, low: [$3]}
END
}
low='"0:64", "1:64", "2:64", "3:64"'
answer() { record "$from" --sgid "$node001" --dgid "$oss01" --service_id 22 | grep -o 'sl=[0-9]*'; }
cut_errors() { problems policy | grep -E "^error .*(has no VL|no arbitration table serves)"; }
problems() { ctl -j health | jq -r '.problems[] | select(.kind == "'"$1"'") | "\(.severity) \(.text)"'; }
unchanged() { expect "policy in force after $1" "$good" "$(status checksum)"; }
refused() {	# refused WHAT TEXT COMMAND...
	expect "exit status of $1" 1 "$(ctl "${@:3}" >out 2>&1; echo $?)"
	expect_match "$1: what" "$2" "$(<out)"
	expect_match "$1: both ends" '/P[0-9]+ \(0x[0-9a-f]+\) to .*/P[0-9]+ \(0x' "$(<out)"
	expect_match "$1: the way out" "nothing has changed; --force applies it nevertheless" "$(<out)"
	unchanged "$1"
}

start_sim "$topology"
policy 1 15 "$low" >a.yaml
policy 2 15 "$low" >dropped.yaml
policy 3 2 '"0:64", "1:64", "2:64"' >unserved.yaml
start_and_wait "$sm_node" -p a.yaml
good=$(status checksum)
expect "a level that nobody gets is no such error" "" "$(cut_errors)"

# promise: P11
note "a policy that is loaded or installed"
refused "load" "error: level storage: SL 2 has no VL at [0-9]+ ports" policy load dropped.yaml
refused "load --confirm" "SL 2 has no VL" policy load dropped.yaml --confirm 60
refused "load of an unserved one" "error: level storage: no arbitration table serves VL 3, which SL 3 uses at [0-9]+ ports" \
	policy load unserved.yaml
refused "install" "level storage: SL 2 has no VL" policy install dropped.yaml
policy 1 15 "$low" >expected.yaml
expect_same "the configured file" expected.yaml a.yaml
expect "nothing was kept" "" "$(find . -name 'a.yaml.before')"
expect "answer" sl=1 "$(answer)"

# promise: P11 P8
note "a file that is read again"
cp dropped.yaml a.yaml
refused "reload" "level storage: SL 2 has no VL" reload
expect_match "health" "error .*level storage: SL 2 has no VL" "$(problems policy-rejected)"
cp expected.yaml a.yaml
reload || bad "reload of the good one: $(cat reload)"
expect "health" "" "$(problems policy-rejected)"
cp dropped.yaml a.yaml
kill -HUP "$qosd"
hup_refused() { [[ $(problems policy-rejected) =~ "SL 2 has no VL" ]]; }
until_ 10 hup_refused || bad "SIGHUP is not refused: $(ctl health)"
unchanged SIGHUP
expect_match "history" 'reload +refused' "$(ctl policy history)"

# promise: P11
note "a partition with such a level"
cp expected.yaml a.yaml
reload || bad "reload: $(cat reload)"
refused "partition add" "level lost: SL 2 has no VL" partition add p all --level lost
refused "partition add --ipoib-level" "level lost: SL 2 has no VL" partition add p all --ipoib-level lost
ctl partition add q all --level storage --wait >out 2>&1 || bad "a level that can send: $(<out)"
ctl partition add p all --level lost --force --wait >out 2>&1 || bad "partition add --force: $(<out)"
expect_match "health" "level lost: SL 2 has no VL" "$(cut_errors)"
ctl partition add r all --level lost --wait >out 2>&1 || bad "another one with a level that is in use: $(<out)"
for p in p q r; do ctl partition remove $p --wait >out 2>&1 || bad "partition remove: $(<out)"; done
expect "health" "" "$(cut_errors)"

# promise: P11
note "by force"
ctl policy load dropped.yaml --force --wait >out 2>&1 || bad "load --force: $(<out)"
expect_match "what load says" "error: level storage: SL 2 has no VL" "$(<out)"
expect "no answer" "" "$(answer)"
expect_match "health" "level storage: SL 2 has no VL" "$(cut_errors)"

# promise: P11
note "partitions right after a policy that was forced"
ctl policy revert --wait >out 2>&1 || bad "revert: $(<out)"
# its tables differ, so that the policy in force is the other one for a while
policy 2 15 '"0:64", "1:64", "2:64", "3:63"' >slow.yaml
[ "$simulator" != qosd-sim ] || sim_do fault add delay --class smp --method set --for 200ms
ctl policy load slow.yaml --force >out 2>&1 || bad "load --force: $(<out)"
ctl partition add s all --level default >out 2>&1 || bad "partition add, which does no more harm: $(<out)"
ctl partition remove s >out 2>&1 || bad "partition remove, which does no more harm: $(<out)"
ctl partition remove s --force >out 2>&1 || bad "partition remove --force: $(<out)"
[ "$simulator" != qosd-sim ] || sim_do fault remove all
ctl policy load a.yaml --wait >out 2>&1 || bad "load: $(<out)"

# promise: P8 O3
note "waiting for a revert"
ctl policy load dropped.yaml --force --wait >out 2>&1 || bad "load --force: $(<out)"
ctl policy revert --wait >out 2>&1 || bad "revert --wait: $(<out)"
expect_match "what revert says at last" 'it is in force$' "$(tail -n 1 out)"
expect "answer when revert returns" sl=1 "$(answer)"
expect "policy in force" "$good" "$(status checksum)"
ctl policy load dropped.yaml --force --wait >out 2>&1 || bad "load --force: $(<out)"
ctl -j policy revert --wait >out 2>&1 || bad "revert --wait: $(<out)"
expect "its change is in force" "$(jq .change out)" "$(ctl -j status | jq '.policy."change-in-force"')"
ctl policy install dropped.yaml --force --wait >out 2>&1 || bad "install --force: $(<out)"
expect_same "the configured file" dropped.yaml a.yaml
ctl reload --force --wait >out 2>&1 || bad "reload --force: $(<out)"

# promise: P11
note "a start"
stop_qosd
start_and_wait "$sm_node" -p a.yaml
expect "the configured policy" "a.yaml file" "$(ctl -j status | jq -r '.policy | "\(.file) \(.source)"')"
expect_match "health" "level storage: SL 2 has no VL" "$(cut_errors)"
stop_qosd
