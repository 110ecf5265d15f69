#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests clients that query as Linux does: within a millisecond of the moment when they can, and taking
# any status as final.  This must work at a cold start, when a manager returns without its state, when
# a host comes up and when a P_Key arrives: qosd answers every client and refuses none.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim tells nobody that a port became Active"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }
[ -x "$tools/ipoibjoin" ] || { echo "$tools/ipoibjoin is missing: make check-programs"; exit 1; }

manager="host-0001 HCA-1"
name() { printf 'host-%04d HCA-1' "$1"; }

# start_joins HOST... [-- OPTION...]: starts a client on each host, which joins as soon as its port is Active.
joins=()
start_joins() {
	local hosts=() host as
	while [ $# -gt 0 ] && [ "$1" != -- ]; do hosts+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	joins=()
	for host in "${hosts[@]}"; do
		as_own "$(name "$host")"
		"${as[@]}" "$tools/ipoibjoin" -t $((30 * slow)) "$@" >"join.$host" 2>&1 &
		joins+=("$host:$!")
		pids+=($!)
	done
	for host in "${hosts[@]}"; do
		until_ 10 test -s "join.$host" || bad "ipoibjoin does not start on $(name "$host")"
	done
}
# all_joined WHAT: every client must be told that it is a member.
all_joined() {
	local join
	for join in "${joins[@]}"; do
		wait "${join#*:}" || bad "$1: $(name "${join%:*}"): $(tail -n 1 "join.${join%:*}")"
	done
}

cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
END
start_sim fat-tree:k=8

# promise: D61
note "5,000 requests of one client at once"
start_and_wait "$manager" -p policy.yaml
sim_ctl show nodes | awk '/HCA-1/ { print $2 }' | sed 's/0$/1/' >all.guids
# storm MANAGER: joins all hosts to 40 groups, and lists the groups afterwards.
storm() {
	on_own "$(name 77)" "$tools/joinstorm" -f -g 40 -w 5120 all.guids >"storm.$1" 2>&1 ||
		bad "joinstorm under $1: $(<"storm.$1")"
	on "$(name 78)" saquery -g 2>&1 | sed -n 's/.*MGID\.*//p' | sort >"groups.$1"
	expect "groups under $1" 40 "$(grep -c '^ff12:' "groups.$1")"
}
storm qosd
stop_qosd || bad "exit status $? after SIGTERM"
bring_up_opensm "$manager" 30
storm opensm
expect_same "groups of both" groups.opensm groups.qosd
end "$opensm"
stop_sim
rm -rf state

start_sim fat-tree:k=8
# slow devices, so that some time passes between Active and the end of the sweep
sim_do fault add delay --class smp --for 2ms

# promise: D60
note "a cold start"
start_joins 2 33 64 97 128
start_and_wait "$manager" -p policy.yaml
all_joined "a cold start"

# promise: D60
note "the manager comes back without its state"
stop_qosd || bad "exit status $? after SIGTERM"
rm -rf state
start_qosd "$manager" -p policy.yaml
until_ 10 test -S "$sock" || fail "not a socket"
start_joins 3 34 65 98
until_ 30 subnet_up || fail "the subnet does not come up"
all_joined "without state"

# promise: D60
note "a host comes up"
linked=$(status ports-linked)
for host in 4 35; do unplug "$(name $host)"; done
away() { [ "$(status ports-linked)" = "$1" ]; }
until_ 10 away $((linked - 4)) || bad "$(status ports-linked) ports are linked still, of $linked"
start_joins 4 35
for host in 4 35; do plug "$(name $host)"; done
all_joined "a host comes up"

# promise: D60
note "a partition comes"
guid() { sim_ctl show nodes | grep -F "$(name "$1")" | awk '{ print $2 }' | sed 's/0$/1/'; }
start_joins 5 36 100 -- -p 0x8123
ctl partition add tenant "$(guid 5)=full" "$(guid 36)=full" "$(guid 100)=limited" --pkey 0x123 --ipoib --wait \
	>partition.out 2>&1 || bad "partition add: $(<partition.out)"
all_joined "a partition comes"
stop_qosd || bad "exit status $? after SIGTERM"
