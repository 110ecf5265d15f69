#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests queries while policies are reloaded, links change and sweeps run: each query is
# answered entirely by the old policy or entirely by the new one.
#
# promise: N3
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
askers=(H-f452140300811230 H-f452140300811240 H-248a070300a25c40)
machines=("$node" "${askers[@]}")
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)
seconds=4
[ "$simulator" != kernel ] || seconds=15	# a reload takes an emulated processor a second or more

policy() {	# policy SL RATE
	cat <<END
qos-levels:
  default: {sl: 0}
  storage: {sl: $1, rate-limit: $2}
match-rules:
  - {service-id: 22, level: storage}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, $1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
END
}

start_sim "$topology"
policy 1 10 >policy.yaml
start_and_wait "$node" -p policy.yaml

# ask_for_long: sends alternately a Get, which qosd answers out of turn, and a GetTable.
ask_for_long() {
	local end=$((SECONDS + seconds))
	while [ $SECONDS -lt $end ]; do
		for method in get table; do
			on_own "$1" "$tools/pathquery" $method path sgid="$node001" dgid="$oss01" \
				service-id=22 numb-path=1 2>&1 |
				sed -E 's/.*( sl=[0-9]+).*( rate=[0-9]+).*/\1\2/'
		done
	done
}
children=()
for asker in "${askers[@]}"; do
	ask_for_long "$asker" >"answers.$asker" &
	children+=($!)
	pids+=($!)
done
end=$((SECONDS + seconds)) reloads=0
while [ $SECONDS -lt $end ]; do
	policy 1 10 >policy.yaml
	ctl reload >/dev/null || bad "refused"
	policy 2 40 >policy.yaml
	ctl reload >/dev/null || bad "refused"
	case $((reloads++ % 3)) in
	0) ctl sweep >/dev/null ;;
	1) unplug H-f4521403008112c0 ;;
	2) plug H-f4521403008112c0 ;;
	esac
done
wait "${children[@]}"

cat answers.* | sort | uniq -c >counts
note "$((2 * reloads)) reloads, answers: $(tr -s ' \n' ' ' <counts)"
expect "answers of neither policy" "" "$(grep -vE ' sl=1 rate=3$| sl=2 rate=7$' counts)"
expect "kinds of answers" 2 "$(wc -l <counts)"
plug H-f4521403008112c0
settled() { status_is sweeping=false subnet-up=true ports-active=204; }
until_ 15 settled || bad "not settled: $(status ports-active) ports active"
all_active "$node" "$topology"
expect "the last policy" "sl=2 rate=7" "$(record "${askers[0]}" --sgid "$node001" --dgid "$oss01" --service_id 22 |
	sed -E 's/ mtu=[0-9]*| life=.*//g')"
stop_qosd || bad "exit status $? after SIGTERM"
