#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests reloading the policy by SIGHUP and by qosd-ctl: a broken file changes nothing and
# is explained; a valid file writes exactly the tables that differ, and SA answers change.  A start
# without a usable file takes the last good policy.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001
machines=("$sm_node" "$from")
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)
leaf05=0x7cfe900300b43180	# 6 hosts on ports 1 to 6, 31 to 36 to the spines

policy() {	# policy SL WEIGHT TABLE-TO-PORT-2
	cat <<END
port-groups:
  leaf05: {port-guids: $leaf05}
qos-levels:
  default: {sl: 0}
  storage: {sl: $1}
match-rules:
  - {service-id: 22, level: storage}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
    - {group: leaf05, to: 2, table: [$3]}
  vlarb:
    - {group: all, low: ["0:64", "1:64", "2:64", "3:$2"]}
END
}
table="0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15"
other="0, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15"
answer() { record "$from" --sgid "$node001" --dgid "$oss01" --service_id 22 | grep -o 'sl=[0-9]*'; }

# hup: does the same as reload, by SIGHUP.
hup() {
	local before
	before=$(status sweeps)
	kill -HUP "$qosd"
	swept() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
	until_ 10 swept || bad "no end of the reload by SIGHUP"
}

start_sim "$topology"
# With a long timeout, a busy machine causes no repeated Sets, which would be counted.
echo "smp-timeout: 5s" >qosd.yaml
policy 2 64 "$table" >policy.yaml
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "answer" sl=2 "$(answer)"
checksum=$(status checksum) sets=$(sets)

# promise: P8
note "a broken file"
sed 's/sl: 2/sl: 22/; s/level: storage}/level: storag}/' policy.yaml >broken && mv broken policy.yaml
where="policy.yaml:5:17"
expect "exit status of qosd-ctl reload" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "what qosd-ctl says" "$where: error: .*22" "$(<reload)"
expect_match "the second error too" "policy.yaml:7:[0-9]+: error: .*storag" "$(<reload)"
kill -HUP "$qosd"
logged() { [ "$(grep -c "error: .*$where: " "$qosd_log")" -eq 2 ]; }
until_ 5 logged || bad "the log does not say $where for the reload and the SIGHUP"
expect_match "the log says what stays" "the policy in force stays" "$(<"$qosd_log")"
expect_match "status says it" '"line": 5,.*"column": 17,' "$(ctl -j status | tr -d '\n' | grep -o '"rejected".*')"
expect "Sets" "$sets" "$(sets)"
expect "policy in force" "$checksum" "$(status checksum)"
expect "answer" sl=2 "$(answer)"
rm policy.yaml
expect "exit status without the file" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "reason" "policy.yaml.*No such file" "$(<reload)"
expect "Sets" "$sets" "$(sets)"

# promise: P8
note "the same file again"
policy 2 64 "$table" >policy.yaml
reload || bad "refused: $(cat reload)"
expect "Sets" "$sets" "$(sets)"
expect "no word of a rejected file any more" "null" "$(status rejected)"
took() {
	ctl -j sweep steps | jq -r --arg step "$1" '.sweeps[] | select(.current) | .sweep as $sweep |
		.steps[] | select(.step == $step) | "\($sweep) \(.seconds != null)"'
}
expect "the sweep that was taken, and its step" "policy true" "$(took tables)"
expect "a step that it does not have" "" "$(took discover)"

note "another SL: answers change, tables do not"
policy 3 64 "$table" >policy.yaml
hup
expect "Sets" "$sets" "$(sets)"
expect "answer" sl=3 "$(answer)"
[ "$(status checksum)" != "$checksum" ] || bad "the checksum is that of the old file"

# promise: T7 P8
note "the table of one port"
# The tables to port 2, from port 0 and from the 11 other ports with links.
policy 3 64 "$other" >policy.yaml
hup
expect "Sets" $((sets + 12)) "$(sets)"
expect "SL2VL" "0 1 1 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(sl2vl "$from" $leaf05 2 31)"
expect "SL2VL of another port" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(sl2vl "$from" $leaf05 3 31)"
sets=$(sets)

# promise: T7
note "a weight everywhere"
# One low table for each port that has a link or an enhanced port 0.
policy 3 100 "$other" >policy.yaml
reload || bad "refused: $(cat reload)"
expect "Sets" $((sets + $(linked_ports "$topology") + $(grep -c '^Switch.*enhanced' "$topology"))) "$(sets)"
expect "VLArb" "low: 0:64 1:64 2:64 3:100 high:" "$(vlarb "$from" $leaf05 31)"
sets=$(sets)

note "back to the first"
policy 2 64 "$table" >policy.yaml
hup
expect "Sets" $((sets + 12 + $(linked_ports "$topology") + $(grep -c '^Switch.*enhanced' "$topology"))) "$(sets)"
expect "answer" sl=2 "$(answer)"
expect "policy in force" "$checksum" "$(status checksum)"
all_active "$from" "$topology"

# promise: A50
note "a FIFO is no policy"
policy 3 64 "$table" >slow.yaml
sets=$(sets)
rm policy.yaml && mkfifo policy.yaml
expect "exit status of a reload" 1 "$(ctl reload >reload 2>&1; echo $?)"
expect_match "why" "policy.yaml: error: .*it is a FIFO, not a regular file" "$(<reload)"
kill -HUP "$qosd"
expect "policy in force" "$checksum" "$(status checksum)"
expect "answer" sl=2 "$(answer)"
rm policy.yaml && cat slow.yaml >policy.yaml
reload || bad "refused: $(cat reload)"
expect "answer" sl=3 "$(answer)"
policy 2 64 "$table" >policy.yaml
reload || bad "refused: $(cat reload)"
expect "answer" sl=2 "$(answer)"

# promise: T7
note "tables changed behind its back are found and repaired"
lid=$(port_info "$from" $leaf05 0 Lid)
set_smp() { on_own "$from" "$tools/rawmad" -d "$lid" 1 2 "$@" >raw.log || bad "can't set"; }
sets=$(sets) sweeps=$(status sweeps)
set_smp 0x17 0x0102 64:0123456701234567
set_smp 0x18 0x00010003 64:0401
expect "SL2VL, changed" "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7" "$(sl2vl "$from" $leaf05 2 1)"
ctl sweep >/dev/null || bad "qosd-ctl sweep"
swept() { [ "$(status sweeps)" -gt "$sweeps" ] && status_is sweeping=false subnet-up=true; }
until_ 10 swept || bad "no end of the sweep"
expect "SL2VL" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(sl2vl "$from" $leaf05 2 1)"
expect "VLArb" "low: 0:64 1:64 2:64 3:64 high:" "$(vlarb "$from" $leaf05 3)"
expect "Sets" $((sets + 2)) "$(sets)"

note "a host that was reset gets all that it lost"
sweeps=$(status sweeps)
reboot H-f4521403008112c0
ctl sweep >/dev/null || bad "qosd-ctl sweep"
# A sweep while the link still trains does not see the host.
whole() { swept && [ "$(status ports-active)" = "$(linked_ports "$topology")" ]; }
until_ 10 whole || bad "no end of the sweep"
all_active "$from" "$topology"
expect "SL2VL of the port" "0 1 2 3 0 0 0 0 0 0 0 0 0 0 0 15" "$(sl2vl "$from" 0xf4521403008112c1 0)"

# promise: D122
note "other OperationalVLs, and the next reload has nothing to set"
rm policy.yaml && policy 2 64 "0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 15" >policy.yaml
reload || bad "refused: $(cat reload)"
until_ 10 sets_rest || bad "no end of Sets"
reload || bad "refused: $(cat reload)"
expect "Sets of the second reload" "$sets" "$(sets)"

# ibsim's devices answer requests of any class with arbitrary contents
expect "congestion control of ibsim" "" "$(grep ' congestion: ' "$qosd_log")"
stop_qosd || bad "exit status $? after SIGTERM"

# problem KIND: prints the severity and text of the problem of this kind in health.
problem() { ctl -j health | jq -r --arg kind "$1" '.problems[] | select(.kind == $kind) | "\(.severity) \(.text)"'; }
# source_is SOURCE: whether the policy in force comes from there.
source_is() { [ "$(ctl -j policy show | jq -r .source)" = "$1" ]; }

# promise: P9
note "a start with a bad file"
policy 3 64 "$table" >good.yaml
sed 's/sl: 3/sl: 33/' good.yaml >policy.yaml
cp good.yaml last.yaml
start_and_wait "$sm_node" -c qosd.yaml -p last.yaml
good=$(status checksum)
expect "the answer of the good policy" sl=3 "$(answer)"
expect "health" "" "$(problem policy-last-good)$(problem no-policy)"
stop_qosd || bad "exit status $?"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "policy in force" "$good" "$(status checksum)"
expect "answer" sl=3 "$(answer)"
expect "Sets" 0 "$(sets)"
source_is last-good || bad "the policy is not said to be the last good one"
expect_match "health" "^error .*last good policy is in force, checksum $good" "$(problem policy-last-good)"
expect_match "health gives the error" "^error .*33" "$(problem policy-rejected)"
expect_match "the event" "policy-refused .*policy.yaml.* start, refused" "$(ctl events --kind policy-refused)"
expect_match "the log" "error: .*policy.yaml:5:17: .*33" "$(<"$qosd_log")"
expect_match "the log" "using the last good policy, of .* UTC, checksum $good" "$(<"$qosd_log")"
ctl reload >reload 2>&1 && bad "the bad file is taken"
cp good.yaml policy.yaml
reload || bad "refused: $(cat reload)"
source_is file || bad "the policy is not said to be the file's"
expect "health" "" "$(problem policy-last-good)$(problem policy-rejected)"
stop_qosd || bad "exit status $?"

note "a start with an empty file, and without a file"
: >policy.yaml
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "policy in force" "$good" "$(status checksum)"
expect_match "why" "is empty" "$(problem policy-rejected)"
stop_qosd || bad "exit status $?"
rm policy.yaml
said=$("$build/qosd" --check -c qosd.yaml -p policy.yaml -d state) && bad "--check finds no fault in a missing file"
expect_match "what a start would do" "policy.yaml is missing: a start would use the last good policy, of .*, checksum $good" "$said"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect "policy in force" "$good" "$(status checksum)"
expect_match "health" "^error " "$(problem policy-last-good)"
once "$from" -c qosd.yaml -p policy.yaml -d other -s other.sock && bad "--once takes a missing file"
stop_qosd || bad "exit status $?"

note "without any good policy"
rm -r state
said=$("$build/qosd" --check -c qosd.yaml -p policy.yaml -d state)
expect_match "what a start would do" "a start would use the built-in policy" "$said"
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml
expect_match "health" "^error the subnet has no policy" "$(problem no-policy)"
stop_qosd || bad "exit status $?"
start_and_wait "$sm_node"
expect "health, if no policy is wanted" "" "$(problem no-policy)"
stop_qosd || bad "exit status $?"
