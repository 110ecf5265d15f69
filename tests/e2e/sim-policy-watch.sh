#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that the policy file is read again when it changes, with `policy-watch: true`: edits in place,
# files that are renamed or linked into place, files that are bad or gone, and edits in steps.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the kernel and ibsim have no part in it"

"$tools/gentopo" fat-tree --levels 2 --radix 4 >fat.topo || fail "gentopo"
sm_node=$(cas fat.topo | head -n 1)
policy() { printf 'qos-levels:\n  default: {sl: %s}\n' "$1"; }
sl_is() { [ "$(ctl policy show | sed -nE 's/.*sl: ([0-9]+).*/\1/p')" = "$1" ]; }
reloads() { ctl -j policy history | jq '[.history[] | select(.change == "reload")] | length'; }
refused() { ctl -j health | jq -r '.problems[] | select(.kind == "policy-rejected") | .text'; }
is_refused() { [ -n "$(refused)" ]; }
is_not_refused() { [ -z "$(refused)" ]; }

start_sim fat.topo
policy 1 >policy.yaml
echo "policy-watch: true" >qosd.yaml
start_and_wait "$sm_node" -c qosd.yaml -p policy.yaml

# promise: P14
note "an edit in place, a file that is renamed into place, a link that leads elsewhere"
policy 2 >policy.yaml
until_ 10 sl_is 2 || bad "an edit: $(ctl policy show)"
policy 3 >new.yaml
mv new.yaml policy.yaml
until_ 10 sl_is 3 || bad "a rename: $(ctl policy show)"
policy 4 >four.yaml
ln -s four.yaml link
mv -T link policy.yaml
until_ 10 sl_is 4 || bad "a link: $(ctl policy show)"
policy 5 >five.yaml
ln -s five.yaml link
mv -T link policy.yaml
until_ 10 sl_is 5 || bad "another link: $(ctl policy show)"
expect "reloads" 4 "$(reloads)"
expect "who did it" null "$(ctl -j policy history | jq '.history[0].uid')"
expect_match "the log" "policy.yaml has changed" "$(<"$qosd_log")"

# promise: P14
note "a bad file, and none"
rm policy.yaml
until_ 10 is_refused || bad "a file that is gone: $(ctl health)"
sl_is 5 || bad "it changed the policy: $(ctl policy show)"
expect_match "the log" "policy.yaml has vanished" "$(<"$qosd_log")"
cp five.yaml policy.yaml
until_ 10 is_not_refused || bad "the same file again: $(refused)"
policy 99 >policy.yaml
until_ 10 is_refused || bad "a bad file: $(ctl health)"
expect_match "what is wrong" "99 is out of range" "$(refused)"
sl_is 5 || bad "it changed the policy: $(ctl policy show)"
policy 6 >policy.yaml
until_ 10 sl_is 6 || bad "a good one: $(ctl policy show)"
until_ 10 is_not_refused || bad "still refused: $(refused)"

# promise: P14
note "a file that is written in steps is read once"
# The file is read when it has stayed the same for a second, and on a busy machine a step may take as long: then the
# test is made again, with another SL in the end.
for try in 1 2 3 4 5; do
	before=$(reloads) longest=0
	for step in 1 2 3 4 5 6 7 8; do
		written=${EPOCHREALTIME/./}
		policy $((step + 5 + try % 2)) >policy.yaml
		sleep 0.4
		took=$((${EPOCHREALTIME/./} - written))
		[ $took -le $longest ] || longest=$took
	done
	until_ 10 sl_is $((13 + try % 2)) || bad "$(ctl policy show)"
	[ $longest -gt 800000 ] || break
done
expect "reloads" $((before + 1)) "$(reloads)"

# promise: P14
note "what is in force already is not applied again"
policy 7 >other.yaml
before=$(reloads)
ctl policy install other.yaml --wait >out 2>&1 || bad "install: $(<out)"
touch policy.yaml
sleep 4
expect "reloads" $((before + 1)) "$(reloads)"
sl_is 7 || bad "the policy: $(ctl policy show)"

# promise: P14
note "a change before the first look counts"
stop_qosd
start_qosd "$sm_node" -c qosd.yaml -p policy.yaml
until_ 10 subnet_up || bad "the subnet does not come up"
policy 8 >policy.yaml
until_ 10 sl_is 8 || bad "$(ctl policy show)"
stop_qosd

# promise: P14
note "without policy-watch"
start_and_wait "$sm_node" -p policy.yaml
policy 9 >policy.yaml
sleep 4
sl_is 8 || bad "a change was read: $(ctl policy show)"
stop_qosd
