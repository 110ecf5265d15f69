#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl sa-trace`, which shows SA queries and answers as they happen and costs
# nothing while no one traces, and the totals of `qosd-ctl sa-stats`.
#
# promise: O6
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
from=H-f452140300811230		# node001
other=H-f452140300811250	# node003
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)

cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  storage: {sl: 2, mtu-limit: 1024}
match-rules:
  - {service-id: 22, level: storage}
END
start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml

# look ARGUMENT...: starts a trace into the file `seen`.
look() {
	: >seen
	"$build/qosd-ctl" -s "$sock" "$@" >seen 2>&1 &
	looker=$!
	# wait until the daemon knows the tracer
	looks() { [ "$(ctl -j status | jq .sa.watchers)" -gt 0 ]; }
	until_ 5 looks || bad "nobody looks: $(<seen)"
}
looked() {
	for _ in $(seq 100); do
		kill -0 $looker 2>/dev/null || break
		sleep 0.05
	done
	wait $looker || bad "qosd-ctl sa-trace: exit status $?, $(<seen)"
	# the next look must not take this tracer for its own
	until_ 5 nobody_looks || bad "somebody still looks: $(ctl -j status | jq .sa)"
}
nobody_looks() { [ "$(ctl -j status | jq .sa.watchers)" -eq 0 ]; }
ask() { record "$from" --sgid "$node001" --dgid "$oss01" "$@"; }

note "a line for each request"
look sa-trace --count 2
expect "answer" "sl=2 mtu=3 rate=12 life=18 tclass=0" "$(ask --service_id 22)"
on "$other" saquery NR 1 >/dev/null 2>&1
looked
expect "lines" 2 "$(wc -l <seen)"
expect_match "who and what" "node001 HCA-1/P1 .*LID [0-9]+: Get[A-Za-z]* PathRecord service-id=0x0000000000000016 sgid=[^ ]* dgid=[^ ]*" "$(head -n 1 seen)"
expect_match "the answer" "-> .*sl=2 pkey=0xffff mtu=3 " "$(head -n 1 seen)"
expect_match "the second" "node003 HCA-1/P1 .*: Get[A-Za-z]* NodeRecord mask=0x1 ->.*, [0-9]+ us" "$(tail -n 1 seen)"

note "filters"
look -j sa-trace --count 1 --client "node003 HCA-1/P1"
ask >/dev/null
on "$other" saquery NR 1 >/dev/null 2>&1
looked
expect "of a client" "NodeRecord" "$(jq -r .attribute seen)"
look -j sa-trace --count 1 --attribute noderecord
ask >/dev/null
on "$other" saquery NR 1 >/dev/null 2>&1
looked
expect "of an attribute" "NodeRecord" "$(jq -r .attribute seen)"
look -j sa-trace --count 1 --errors
ask >/dev/null
on_own "$from" "$tools/pathquery" get path dgid="$oss01" >/dev/null 2>&1
looked
expect "what went wrong: NumbPath and SGID are missing" $((0x0600)) "$(jq .status seen)"
expect "no answer in it" null "$(jq .answered seen)"

note "those who look hold nothing up"
look sa-trace
kill -STOP $looker
for _ in 1 2 3 4 5; do ask >/dev/null; done
expect "answer" "sl=0 mtu=4 rate=12 life=18 tclass=0" "$(ask)"
kill -KILL $looker
wait $looker 2>/dev/null	# without bash's message
until_ 5 nobody_looks || bad "somebody still looks: $(ctl -j status | jq .sa)"

note "sums"
stats() { ctl -j sa-stats | jq -r "$1"; }
of() { stats ".attributes[] | select(.attribute == \"$1\") | $2"; }
answers=$(of PathRecord .answered) refused=$(of PathRecord '.statuses["insufficient-components"]')
expect "NodeRecords" 3 "$(of NodeRecord .answered)"
expect "a query that was refused" 1 "$refused"
for _ in $(seq 16); do
	on_own "$from" "$tools/pathquery" get path dgid="$oss01" >/dev/null 2>&1
done
expect "answers" $((answers + 16)) "$(of PathRecord .answered)"
expect "refused ones" $((refused + 16)) "$(of PathRecord '.statuses["insufficient-components"]')"
expect_less "timed ones" "$((answers + 16))" "$(of PathRecord .us.timed)"
expect "half of them took no longer than all" true "$(of PathRecord '.us | .p50 > 0 and .p50 <= .p99 and .p99 <= .max')"
# the rate appears only after a window of 10 s with queries
asked() {
	on "$other" saquery NR 1 >/dev/null 2>&1
	[[ $(stats '.clients[0].client') == "node003 HCA-1/P1 "* ]]
}
until_ 25 asked || bad "who asked most: $(ctl sa-stats)"

note "what can't be"
expect "status, an attribute that is none" 1 "$(ctl sa-trace --attribute Nothing >out 2>&1; echo $?)"
expect_match "why" "no such attribute: Nothing" "$(<out)"
expect "status, nobody" 1 "$(ctl sa-trace --client nobody >out 2>&1; echo $?)"
expect_match "why" "no such port" "$(<out)"
