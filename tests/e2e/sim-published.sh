#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that whatever makes clients of an Active port send queries reaches the port only after the
# answer is published: a P_Key, a new subnet manager, and the request to register again.  The clients
# act as IPoIB in Linux: they join at each event and take any status as final.  They see a new
# partition, a manager that returns without its state, and a standby that takes over from qosd and
# from OpenSM.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it tells clients of events, and drops single attributes"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }
[ -x "$tools/ipoibjoin" ] || { echo "$tools/ipoibjoin is missing: make check-programs"; exit 1; }

manager="host-0001 HCA-1"
name() { printf 'host-%04d HCA-1' "$1"; }
guid() { sim_ctl show nodes | grep -F "$(name "$1")" | awk '{ print $2 }' | sed 's/0$/1/'; }

cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
END
printf 'smp-timeout: 8s\n' >patient.yaml	# longer than this test holds back any answer

# follow HOST... [-- OPTION...]: starts clients that keep following events; their output is in join.HOST.
followers=()
follow() {
	local hosts=() host as
	while [ $# -gt 0 ] && [ "$1" != -- ]; do hosts+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	for host in "${hosts[@]}"; do
		as_own "$(name "$host")"
		: >"join.$host"
		"${as[@]}" "$tools/ipoibjoin" -f "$@" >>"join.$host" 2>&1 &
		followers+=("$!")
		pids+=($!)
	done
}
end_followers() {
	local pid
	for pid in "${followers[@]}"; do end "$pid"; done
	followers=()
}
# heard EVENT HOST...: whether each client has joined at such an event since forget.
heard() {
	local event=$1 host
	shift
	for host; do grep -qE "^($event) status=0x0000" "join.$host" || return 1; done
}
forget() { local host; for host; do : >"join.$host"; done; }
# none_refused WHAT HOST...: no join of these clients may have been refused.
none_refused() {
	local what=$1
	shift
	expect "joins without success, $what" "" \
		"$(cd "$work" && grep -hE 'status=' "${@/#/join.}" | grep -v 'status=0x0000')"
	expect "answers of BUSY, $what" 0 "$(status busy)"
}
asked() { sim_ctl -j show port "$(name "$1")/P1" | sed -nE 's/.*"reregisters": ?([0-9]+).*/\1/p'; }
phase_is() { [ "$(status phase)" = "$1" ]; }
# groups: prints MGID, MLID and number of members of each group
groups() { on "$manager" saquery -g 2>&1 | grep -E 'MGID|Mlid' | paste - - | tr -s ' .\t' ' ' | sort; }

sim_options=()	# default devices, whose clients can be asked to register again
start_sim fat-tree:k=4
# promise: D100
note "a P_Key comes with what the SA knows of it"
start_and_wait "$manager" -p policy.yaml -c patient.yaml
follow 3 6 -- -p 0x8123
sim_do fault add delay --method get-resp --attr P_KeyTable --for 3s
ctl partition add tenant "$(guid 3)=full" "$(guid 6)=full" --pkey 0x123 --ipoib >partition.out 2>&1 ||
	bad "partition add: $(<partition.out)"
until_ 10 heard start 3 6 || bad "no join in the new partition: $(cat join.3 join.6)"
# the sweep waits for the answers to its P_Key Sets
expect "the sweep that writes the P_Keys is at" announcing "$(status phase)"
change() { ctl -j status | jq -r '.policy.dynamic | "\(.change) \(."change-in-force")"'; }
read -r new old < <(change)
[ "$new" != "$old" ] || bad "the partition is in force before its P_Keys are written"
until_ 20 phase_is idle || bad "no end of the sweep"
read -r new old < <(change)
expect "changes in force" "$new" "$old"
sim_do fault remove all
none_refused "a partition" 3 6
end_followers

# promise: D100
note "ports are asked to register again when the answer is ready"
# one device does not answer the Set, so that it takes a while until all have been asked
follow 3 6 9 12
until_ 10 heard start 3 6 9 12 || bad "the clients do not join"
for host in 3 6 9 12 15; do before[host]=$(asked $host); done
groups >groups.before
stop_qosd || bad "exit status $? after SIGTERM"
rm -rf state
forget 3 6 9 12
sim_do fault add drop --method set --attr PortInfo --at "$(name 15)"
printf 'smp-timeout: 1s\n' >usual.yaml
start_qosd "$manager" -p policy.yaml -c usual.yaml
until_ 20 heard reregister 3 6 9 12 || bad "clients do not register again: $(cat join.3)"
expect "the sweep that asks to register again is at" announcing "$(status phase)"
sim_do fault remove all
until_ 20 subnet_up || bad "the subnet does not come up"
for host in 3 6 9 12; do
	expect "times that $(name $host) is asked" $((before[host] + 1)) "$(asked $host)"
done
was_asked() { [ "$(asked 15)" -gt "${before[15]}" ]; }
until_ 10 was_asked || bad "who did not hear it is not asked again"
none_refused "without state" 3 6 9 12
groups >groups.after
expect_same "groups without state" groups.before groups.after

# promise: D100
note "a standby takes over from qosd"
until_ 10 phase_is idle
first=$qosd
mkdir second
as_own "$(name 16)"
"${as[@]}" "$build/qosd" -F -s second/sock -d second/state -p policy.yaml >second/log 2>&1 &
second=$!
pids+=("$second")
of_second() { local sock=second/sock; "$@"; }
held() { [ "$(status registrations-held)" = true ]; }
up() { status_is state=master subnet-up=true && phase_is idle; }
until_ 20 of_second held || bad "the second does not stand by: $(tail -n 3 second/log)"
groups >groups.before
forget 3 6 9 12
for host in 3 6 9 12; do before[host]=$(asked $host); done
# slow devices, so that some time passes between the event at a port and the end of the sweep
sim_do fault add delay --class smp --for 2ms
end "$first" KILL
until_ 20 of_second up || fail "the second does not take over: $(tail -n 5 second/log)"
until_ 10 heard 'sm|reregister' 3 6 9 12 || bad "clients do not follow: $(cat join.3)"
of_second none_refused "a takeover from qosd" 3 6 9 12
for host in 3 6 9 12; do
	expect "times that $(name $host) is asked" "${before[host]}" "$(asked $host)"
done
[ "$wrong" -eq 0 ] || show_log second/log 40
groups >groups.after
expect_same "groups after a takeover from qosd" groups.before groups.after
sim_do fault remove all
end "$second"

# promise: D100
note "a standby takes over from OpenSM"
forget 3 6 9 12
bring_up_opensm "$manager" 30 -p 5
until_ 20 heard 'sm|reregister|again' 3 6 9 12 || bad "clients do not follow OpenSM: $(cat join.3)"
rm -rf second/state
as_own "$(name 16)"
"${as[@]}" "$build/qosd" -F -s second/sock -d second/state -p policy.yaml >second/log 2>&1 &
second=$!
pids+=("$second")
stands_by() { [ "$(status state)" = standby ]; }
until_ 20 of_second stands_by || bad "qosd does not stand by: $(tail -n 3 second/log)"
groups >groups.before
forget 3 6 9 12
for host in 3 6 9 12; do before[host]=$(asked $host); done
sim_do fault add delay --class smp --for 2ms
end "$opensm" KILL
until_ 20 of_second up || fail "qosd does not take over: $(tail -n 5 second/log)"
until_ 10 heard reregister 3 6 9 12 || bad "clients do not register again: $(cat join.3)"
of_second none_refused "a takeover from OpenSM" 3 6 9 12
for host in 3 6 9 12; do
	expect "times that $(name $host) is asked" $((before[host] + 1)) "$(asked $host)"
done
groups >groups.after
expect_same "groups after a takeover from OpenSM" groups.before groups.after
end_followers
end "$second" || bad "exit status $? after SIGTERM"
