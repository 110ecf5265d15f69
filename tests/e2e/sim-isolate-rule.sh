#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests isolate-when of qosd.yaml: links between switches that count errors in the simulator, or go down again and
# again, are isolated by rule, but never so that a host is cut off, nor more of them than allowed.  Time is the
# simulator's.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim counts no errors"

cat >qosd.yaml <<'END'
policy: none
sweep-interval: 0
errors-interval: 20
isolate-when: {errors: {symbol-errors: 1000}, link-downs: 2, at-most: 2}
END
simulated_time
sim_options=(--time-stands)
start_sim fat-tree:k=4
start_and_pass "host-0001 HCA-1" -c qosd.yaml
reading() { sim_do pass 25s; }
places() { ctl -j withdrawn | jq -r '[.places[] | "\(.name | split(" ")[0]) \(.state) \(.["by-rule"])"] | sort | join(", ")'; }
in_log() { grep -c "$1" "$qosd_log"; }
# counts_anew: what leaf-003/P3 counted before is no reason any more, and what it counts from now on is.
counts_anew() {
	reading
	reading
	expect "places" "" "$(places)"
	sim_do count leaf-003/P3 symbol-errors 1001
	reading
	expect "places" "leaf-003/P3 isolated true" "$(places)"
}
# flap PORT N: takes the link down and up N times.
flap() {
	local i
	for ((i = 0; i < $2; i++)); do
		sim_do link down "$1"
		sim_do pass 2s
		sim_do link up "$1"
		sim_do pass 2s
	done
}

# promise: M35
note "errors"
reading
sim_do count leaf-003/P3 symbol-errors 900
sim_do count leaf-005/P1 symbol-errors 5000
reading
expect "below the rule, and a host's link" "" "$(places)"
sim_do count leaf-003/P3 symbol-errors 200
reading
expect "over it" "leaf-003/P3 isolated true" "$(places)"
expect "why" "by rule: symbol-errors 1100 in the last hour, more than 1000" "$(ctl -j withdrawn | jq -r '.places[0].reason')"
expect "in events" "null by rule: symbol-errors 1100 in the last hour, more than 1000" "$(ctl -j events --kind isolated | jq -r '.data | "\(.uid) \(.reason)"')"

note "its only other way"
sim_do count leaf-003/P4 symbol-errors 5000
reading
expect "places" "leaf-003/P3 isolated true" "$(places)"
expect_match "in the log" "leaf-003/P4 .*not isolated for its symbol-errors \(5000 .*cut off 2 hosts" "$(grep 'not isolated' "$qosd_log")"

# promise: M35
note "released, it counts anew"
ctl release leaf-003/P3 >out || bad "release: $(<out)"
until_passed 10 subnet_up
reading
reading
expect_match "places" "^leaf-003/P[34] isolated true$" "$(places)"
expect "isolated now" "leaf-003/P4 isolated true" "$(places)"
ctl release leaf-003/P4 >out || bad "release: $(<out)"
counts_anew

# promise: M35
note "the errors of its other end count anew, too"
ctl release leaf-003/P3 >out || bad "release: $(<out)"
sim_do count leaf-007/P3 symbol-errors 2000
sim_do count spine-007/P1 symbol-errors 1500
reading
expect "places" "leaf-007/P3 isolated true" "$(places)"
ctl release leaf-007/P3 >out || bad "release: $(<out)"
until_passed 10 subnet_up
counts_anew

# promise: M36
note "links that go down, and no more than allowed"
flap leaf-001/P3 2
expect "places" "leaf-003/P3 isolated true" "$(places)"
flap leaf-001/P3 1
expect_match "places" "(leaf-001/P3|spine-001/P1) isolated true, leaf-003/P3 isolated true" "$(places)"
flap leaf-005/P3 3
expect "places isolated" 2 "$(ctl -j withdrawn | jq '.places | length')"
expect_match "in the log" "not isolated for its link-downs .*2 places are isolated by rule already" "$(grep 'not isolated' "$qosd_log")"
flap leaf-006/P2 3
expect "places isolated" 2 "$(ctl -j withdrawn | jq '.places | length')"

# promise: M36
note "other rules without a restart"
sed -i 's/at-most: 2/at-most: 3/' qosd.yaml
ctl reload >out || bad "reload: $(<out)"
expect_match "what it says" "isolate-when" "$(<out)"
sim_do pass 3s
expect "places isolated" 3 "$(ctl -j withdrawn | jq '.places | length')"
sed -i '/isolate-when/d' qosd.yaml
ctl reload >out || bad "reload: $(<out)"
sim_do count leaf-007/P3 symbol-errors 100000
reading
expect "places isolated" 3 "$(ctl -j withdrawn | jq '.places | length')"

# promise: M37
note "for a time"
for place in $(ctl -j withdrawn | jq -r '.places[] | "\(.node)/P\(.port)"'); do
	ctl release "$place" >out || bad "release: $(<out)"
done
echo "isolate-when: {errors: {symbol-errors: 150000}, for: 600s}" >>qosd.yaml
ctl reload >out || bad "reload: $(<out)"
sim_do pass 3s
expect "places" "" "$(places)"
# term: for how many seconds the one place is isolated.
term() { ctl -j withdrawn | jq -r '.places[] | [.until, .since] | map(sub("\\.[0-9]+"; "") | fromdate) | .[0] - .[1]'; }
sim_do count leaf-001/P3 symbol-errors 150001
reading
expect "places" "leaf-001/P3 isolated true" "$(places)"
expect "for how long" 600 "$(term)"
expect_match "in text" "leaf-001/P3.*: isolated since [^ ]+ until " "$(ctl withdrawn)"
sim_do pass 500s
expect "places after 500 s" "leaf-001/P3 isolated true" "$(places)"
sim_do pass 101s
reading
expect "places after 600 s" "" "$(places)"
expect_match "in the log" "leaf-001/P3.*: given back, as its time is over" "$(grep 'given back' "$qosd_log")"
until_passed 10 subnet_up
sim_do count spine-001/P1 symbol-errors 150001
reading
reading
expect "places, by the other end" "spine-001/P1 isolated true" "$(places)"
expect "for how long" 1200 "$(term)"
stop_and_pass || bad "exit status $?"
