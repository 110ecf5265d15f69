#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests SL, MTU, rate and index 0 of partitions by the REST gateway: what a request sets is what qosd-ctl, paths,
# groups and P_Key tables say, while hosts use the partition, and what qosd-ctl sets is what the gateway says.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no hosts that are asked to register again"
# shellcheck source=rest/gateway.sh
. "$top/tests/e2e/rest/gateway.sh"

sm_node=H-f452140300811200
node001=f452140300811231 node002=f452140300811241 node009=f4521403008112b1
h001=H-f452140300811230
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
  fixed: {pkey: 0x50, level: slow, members: {"0xf452140300811241": full}}
qos-levels:
  default: {sl: 0}
  slow: {sl: 1, mtu-limit: 1024, rate-limit: 10}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 3, 0, 0, 0, 0, 0, 15, 0, 0, 0, 0, 0, 15]}
END

# path FROM TO P_KEY: prints SL, MTU and rate of the path by codes.
path() {
	on_own "$sm_node" "$tools/pathquery" get path sgid="$(gid "$1")" dgid="$(gid "$2")" pkey="$3" 2>&1 |
		grep -oE '\b(sl|mtu|rate)=[0-9]+|status=0x0*[1-9a-f][0-9a-f]*' | paste -sd' '
}
# group P_KEY: the same of the broadcast group, as saquery prints it on a member's node.
group() {
	on $h001 saquery -g 2>/dev/null | awk -v g="ff12:401b:$1::ffff:ffff" '
		/MGID/ { it = index($0, g) } it && /(Mtu|Rate|SL)\.+/ { sub(/.*\./, ""); printf "%s ", $0 }'
}
pkeys() {	# pkeys GUID: the P_Key table of a host's port, as smpquery reads it
	on "$sm_node" smpquery -G pkeys "0x$1" 1 2>&1 | sed -nE 's/^ *0: (.*)$/\1/p' |
		tr -s ' \n' '  ' | sed -E 's/( 0x0000)* *$//; s/0x//g'
}
shown() { ctl -j partitions | jq -c --arg n "$1" '.partitions[] | select(.partition == $n) | [.sl, .mtu, .rate, ."path-sl", ."path-mtu", ."path-rate"]' | sed 's/\.0\b//g'; }
qos() { rest_json "resources/pkeys/$1?qos_conf=true" '.qos_conf | [.mtu_limit, .service_level, .rate_limit]'; }

sim_options=()
start_sim "$top/examples/cluster.topo"
start_and_wait "$sm_node" -p policy.yaml
new_certificate tls
cat >rest.yaml <<END
$(served_here)
users:
  k8s: {password: "$(echo secret | "$build/qosd-rest" --hash-password)", right: partitions}
END
start_rest rest.yaml rest.log

# promise: J9 J17
note "a partition that is made with values"
expect "an empty one" "200 {}" "$(rest POST resources/pkeys/add '{"pkey": "0x42", "index0": true, "ip_over_ib": true, "mtu_limit": 2, "service_level": 3, "rate_limit": 20}')"
expect "members" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x42\", \"guids\": [\"$node001\", \"$node009\"]}")"
expect "by qosd-ctl" "[3,2048,20,3,2048,20]" "$(shown api_pkey_0x42)"
expect "by REST" "[2,3,20]" "$(qos 0x42)"
expect "its paths" "sl=3 mtu=4 rate=6" "$(path $node001 $node009 0x8042)"
expect_match "its group" '^0x84 0x86 0x3 $' "$(group 8042)"
expect "with members at once, and a rate alone" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node001\", \"$node009\"], \"rate_limit\": 2.5}")"
expect "by qosd-ctl" "[null,null,2.5,0,null,2.5]" "$(shown api_pkey_0x43)"
expect "by REST: the rest is the level's" "[4,0,2.5]" "$(qos 0x43)"
expect "its paths" "sl=0 mtu=5 rate=2" "$(path $node001 $node009 0x8043)"
# write_back P_KEY: writes what is read.
write_back() { rest PUT resources/pkeys/qos_conf "$(rest_json "resources/pkeys/$1?qos_conf=true" ".qos_conf + {pkey: \"$1\"}")"; }
expect "its values, written back" "200 {} [null,null,2.5,0,null,2.5]" "$(write_back 0x43) $(shown api_pkey_0x43)"
expect "one without values" "200 {}" "$(rest POST resources/pkeys/add '{"pkey": "0x45"}')"
expect "what is read of it" "[4,0,300]" "$(qos 0x45)"
expect "that, written back" "200 {} [null,null,null,0,null,null]" "$(write_back 0x45) $(shown api_pkey_0x45)"
expect "by host" "200 {}" "$(rest POST resources/pkeys/hosts '{"pkey": "0x44", "hosts_names": "node[001,009]", "service_level": 1, "mtu_limit": 4}')"
expect "its paths" "sl=1 mtu=5 rate=12" "$(path $node001 $node009 0x8044)"
expect "the policy's partition has its level's" "[1,1,10]" "$(qos 0x50)"
expect "the default partition" "[4,0,300]" "$(rest_json "resources/pkeys?qos_conf=true" '."0x7fff".qos_conf | [.mtu_limit, .service_level, .rate_limit]')"

# promise: J9
note "values that change while hosts are members of the group"
expect_match "a host joins" "mlid=" "$(on_own $h001 "$tools/pathquery" set member mgid="ff12:401b:8042::ffff:ffff" port-gid="$(gid $node001)" join-state=1 2>&1)"
expect "other values" "200 {}" "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "mtu_limit": 4, "service_level": 2, "rate_limit": 40}')"
expect "its paths" "sl=2 mtu=5 rate=7" "$(path $node001 $node009 0x8042)"
expect_match "its group" '^0x85 0x87 0x2 $' "$(group 8042)"
expect "one value" "200 {}" "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "service_level": 1}')"
expect "the others stay" "[4,1,40]" "$(qos 0x42)"
expect "with members" "200 {}" "$(rest PUT resources/pkeys "{\"pkey\": \"0x42\", \"guids\": [\"$node001\"], \"rate_limit\": 100}")"
expect "by qosd-ctl" "[1,4096,100,1,4096,100]" "$(shown api_pkey_0x42)"
until_ 10 sets_rest || bad "no end of Sets"
expect "the same again" "200 {}" "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "rate_limit": 100}')"
expect "Sets" "$sets" "$(sets)"
ctl partition set api_pkey_0x42 --sl 3 --mtu 1024 --rate none --wait >out 2>&1 || bad "partition set: $(<out)"
expect "what qosd-ctl sets, by REST" "[1,3,300]" "$(qos 0x42)"

# promise: J9
note "what is refused"
until_ 10 sets_rest || bad "no end of Sets"
expect_match "no SL" '^400 service_level must be a number from 0 to 15' "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "service_level": 16}')"
expect_match "bytes" '^400 mtu_limit must be 2 or 4, in KiB' "$(rest POST resources/pkeys/add '{"pkey": "0x45", "mtu_limit": 2048}')"
expect_match "no rate" '^400 rate_limit must be one of 2.5, ' "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "rate_limit": 7}')"
expect_match "an SL that links drop" '^409 .*SL 9 has no VL' "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x42", "service_level": 9}')"
expect_match "of the policy" '^409 the policy file defines the partition fixed' "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x50", "service_level": 2}')"
expect_match "of no partition" '^404 ' "$(rest PUT resources/pkeys/qos_conf '{"pkey": "0x49", "service_level": 2}')"
expect "by qosd-ctl" "[3,1024,null,3,1024,null]" "$(shown api_pkey_0x42)"
expect "Sets" "$sets" "$(sets)"

# promise: J10
note "index 0"
expect "before" "7fff" "$(pkeys $node002 | cut -d' ' -f1)"
expect "by GUID" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"index0\": true, \"guids\": [\"$node002\"]}")"
expect "the device" "8043 8050 7fff" "$(pkeys $node002)"
expect "by REST" "true" "$(rest_json "resources/pkeys/0x43?guids_data=true" ".guids[] | select(.guid == \"$node002\").index0")"
expect "another member" "false" "$(rest_json "resources/pkeys/0x43?guids_data=true" ".guids[] | select(.guid == \"$node001\").index0")"
expect_match "by qosd-ctl" "0x$node002.*at index 0" "$(ctl partition show api_pkey_0x43)"
expect_match "two partitions" '^409 .*both want index 0 .*node002' "$(rest POST resources/pkeys "{\"pkey\": \"0x44\", \"index0\": true, \"guids\": [\"$node002\"]}")"
expect "by host" "200 {}" "$(rest POST resources/pkeys/hosts '{"pkey": "0x43", "index0": true, "hosts_names": "node009"}')"
expect "the device" "8043" "$(pkeys $node009 | cut -d' ' -f1)"
expect "without" "200 {}" "$(rest PUT resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node002\"]}")"
expect "none" "" "$(rest_json "resources/pkeys/0x43?guids_data=true" ".guids[] | select(.guid == \"$node009\")")"
expect "the device" "7fff" "$(pkeys $node009 | cut -d' ' -f1)"
sed -i 's/^users:/index0: refuse\n&/' rest.yaml
kill -HUP "$rest_pid"
until_ 10 grep -q 'read again' rest.log || bad "no reload: $(tail -n 3 rest.log)"
expect_match "refused by the settings" '^403 index0' "$(rest POST resources/pkeys "{\"pkey\": \"0x44\", \"index0\": true, \"guids\": [\"$node001\"]}")"
sed -i 's/^index0: refuse/index0: ignore/' rest.yaml
kill -HUP "$rest_pid"
again() { [ "$(grep -c 'read again' rest.log)" = 2 ]; }
until_ 10 again || bad "no reload: $(tail -n 3 rest.log)"
expect "ignored by the settings" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x45\", \"index0\": true, \"guids\": [\"$node001\"]}")"
expect "the device" "7fff" "$(pkeys $node001 | cut -d' ' -f1)"
stop_qosd || bad "exit status $? after SIGTERM"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
