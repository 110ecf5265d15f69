#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl counters` on a fabric of more ports than it measures: one reading finds those that waited to
# send, and --all measures every port.  On a terminal, a line says how long it takes.
# promise: O17
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no traffic"

"$tools/gentopo" fat-tree --levels 2 --radix 24 >fat.topo || fail "gentopo failed"
mapfile -t hosts < <(cas fat.topo)
cat >qosd.yaml <<'END'
sweep-interval: 0
errors-interval: 1
END
sim_options=(--preset connectx-6)
start_sim fat.topo
start_and_wait "${hosts[0]}" -c qosd.yaml
mapfile -t names < <(ctl nodes --type ca -j | jq -r '.[].description')
a="${names[3]}/P1" b="${names[100]}/P1" c="${names[200]}/P1"
linked=$(linked_ports fat.topo)
has_read() { [ "$(ctl -j errors | jq '.["read-ago"] != null')" = true ]; }
until_ 20 has_read || fail "no reading of error counters"
# answer MEMBER FILE
answer() { jq -r ".$1" "$2"; }

note "nothing waited"
ctl -j counters --for 0.01 >none.json || bad "counters: $(<none.json)"
expect "linked ports" "$linked" "$(answer linked none.json)"
expect "ports that are measured, and shown" "0 0" "$(answer asked none.json) $(answer 'ports | length' none.json)"

note "two hosts of different leaves send to one"
sim_do traffic "$a" "$c" 0 "$b" "$c" 0 --packets 10000 --times 20
# the command takes a reading that runs, which may have read the senders before they sent
senders() { jq --arg a "$a " --arg b "$b " '[.ports[].port | select(startswith($a) or startswith($b))] | length' some.json; }
are_measured() {
	ctl -j counters --for 0.01 --worst 1000 >some.json || bad "counters: $(head -c 300 some.json)"
	[ "$(senders)" = 2 ]
}
until_ 5 are_measured || bad "senders that are measured: $(senders)"
asked=$(answer asked some.json)
expect_less "ports that are measured" 20 "$asked"
expect "rows" "$asked" "$(answer 'ports | length' some.json)"
ctl counters --for 0.01 >text || bad "counters: $(<text)"
expect_match "the text" "^of $linked: those that waited most to send in the last minutes; --all measures all$" "$(sed -n 2p text)"

note "all of them"
ctl -j counters --all --for 0.01 >all.json || bad "counters: $(head -c 300 all.json)"
expect "ports that are measured" "$linked null" "$(answer asked all.json) $(answer unknown all.json)"

note "a device of which it is not known"
# The command waits for a reading that runs already, which may have read the device before it fell silent.
sim_do node silent "${names[10]}"
has_missed_it() { [ "$(ctl -j errors | jq .silent)" = 1 ]; }
until_ 20 has_missed_it || fail "no reading misses it"
ctl -j counters --for 0.01 >silent.json || bad "counters: $(head -c 300 silent.json)"
expect "ports of which it is known, and not" "0 1" "$(answer unknown some.json) $(answer unknown silent.json)"
expect_match "the text" "in the last minutes \(of 1 it is not known\);" "$(ctl counters --for 0.01)"

note "how long it takes, on a terminal"
"$top/tests/tools/on-terminal" 24 '' $((20 * slow)) env TERM=xterm "$asking_build/qosd-ctl" -s "$sock" counters --for 2.5 \
	"$a" >shown
expect_match "the line" 'waiting for the answer: 1 s.*waiting for the answer: 2 s' "$(tr '\r\n' '  ' <shown)"
expect "not beside JSON in a file" "" "$(ctl -j counters --for 1.5 "$a" 2>&1 >/dev/null)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
