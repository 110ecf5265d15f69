#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the REST gateway: the calls that orchestrators make, over TLS, and what becomes of them on
# the devices; who may do what; requests that are wrong.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "one simulator is enough for what clients of the gateway see"
# shellcheck source=rest/gateway.sh
. "$top/tests/e2e/rest/gateway.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
node001=f452140300811231 node002=f452140300811241 node009=f4521403008112b1
leaf01=0xf45214030090a3c0	# 1 to 8: node001 to node008

pkeys() {	# pkeys GUID PORT: a P_Key table as smpquery reads it
	on "$sm_node" smpquery -G pkeys "0x${1#0x}" "$2" 2>&1 | sed -nE 's/^ *[0-9]+: (.*)$/\1/p' |
		tr -s ' \n' '  ' | sed -E 's/( 0x0000)* *$//; s/0x//g'
}
# members P_KEY: prints "GUID membership" of each member, sorted, in one line.
members() { rest GET "resources/pkeys/$1?guids_data=true" | sed 's/^200 //' | jq -r '.guids[] | .guid + " " + .membership' | sort | paste -sd' '; }

sim_options=()
start_sim "$topology"
cat >policy.yaml <<'END'
port-groups:
  node001: {port-names: "mds01 mlx5_0/P1"}
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
  fixed: {pkey: 0x50, members: {"0xf452140300811241": full}}
qos-levels:
  default: {sl: 0}
match-rules: []
END
start_and_wait "$sm_node" -p policy.yaml

new_certificate tls
hash=$(echo secret | "$build/qosd-rest" --hash-password)
mapfile -t token < <("$build/qosd-rest" --new-token slurm)
expect_match "a hash" '^\$y\$' "$hash"
expect_match "a token" '^slurm\.[A-Za-z0-9_-]{43}$' "${token[0]}"
cat >rest.yaml <<END
$(served_here)
index0: ignore
users:
  k8s: {password: "$hash", right: partitions}
  slurm: {tokens: ["${token[1]}"], right: partitions, pkeys: 0x100-0x1ff}
  viewer: {password: "$hash"}
  admin: {password: "$hash", right: all}
END
cp rest.yaml rest.good
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 || bad "--check: $(<check.log)"
start_rest rest.yaml rest.log

# promise: J1
note "the plugin of Kubernetes"
expect_match "version" '^200 \{"ufm_release_version":"[0-9.]+".*"master"' "$(rest GET app/ufm_version)"
expect "two GUIDs" "200 {}" "$(rest POST resources/pkeys '{"pkey": "0x0042", "index0": true, "ip_over_ib": true, "membership": "full", "guids": ["f452140300811231","f4521403008112b1"]}')"
expect "P_Keys of a member" "7fff 8042" "$(pkeys $node001 1)"
expect "P_Keys of the switch port next to it" "ffff 8042" "$(pkeys $leaf01 1)"
expect "the same again" "200 {}" "$(rest POST resources/pkeys '{"pkey": "0x8042", "guids": ["F4:52:14:03:00:81:12:31"]}')"
expect "members" "$node001 full $node009 full" "$(members 0x42)"
expect "GUIDs in use" "$node001 $node002 $node009" "$(rest GET "resources/pkeys/?guids_data=true" | sed 's/^200 //' | jq -r '[.[].guids[].guid] | sort | join(" ")')"
expect "its name" "api_pkey_0x42" "$(rest GET resources/pkeys/0x0042 | sed 's/^200 //' | jq -r .partition)"
expect "removal" "200 {}" "$(rest POST actions/remove_guids_from_pkey '{"pkey": "0x0042", "guids": ["f452140300811231"]}')"
expect "P_Keys after the removal" "7fff" "$(pkeys $node001 1)"
expect "removal of the last member" "200 {}" "$(rest POST actions/remove_guids_from_pkey '{"pkey": "0x0042", "guids": ["f4521403008112b1"]}')"
expect "the partition is gone" "200 {}" "$(rest GET "resources/pkeys/0x42?guids_data=true")"
expect "removal once more" "200 {}" "$(rest POST actions/remove_guids_from_pkey '{"pkey": "0x0042", "guids": ["f4521403008112b1"]}')"

# promise: J1
note "Slurm's prolog and epilog, with a token"
expect_match "version" '^200 \{"ufm_release_version"' "$(rest_token "${token[0]}" GET app/ufm_version)"
expect "hosts" "200 {}" "$(rest_token "${token[0]}" POST resources/pkeys/hosts '{"hosts_names": "node[001-002],node009", "pkey": "0x142", "ip_over_ib": true, "index0": false}')"
expect "members" "$node001 full $node002 full $node009 full" "$(members 0x142)"
expect "P_Keys of a host" "7fff 8142" "$(pkeys $node001 1)"
sim_do link down "node002 HCA-1/P1"
absent() { [ "$(ctl -j ports node002 | jq length 2>/dev/null)" != 1 ]; }
until_ 10 absent || bad "node002 is still there"
ctl partition add late node002 --pkey 0x45 --absent-ok >late.out 2>&1 || bad "a host that comes late: $(<late.out)"
expect "a host that died" "200 {}" "$(rest_token "${token[0]}" DELETE resources/pkeys/0x142/hosts/node002)"
sim_do link up "node002 HCA-1/P1"
expect "hosts, removed" "200 {}" "$(rest_token "${token[0]}" DELETE "resources/pkeys/0x142/hosts/node[001,009]")"
expect "the partition is gone" "200 {}" "$(rest GET resources/pkeys/0x142)"
expect_match "a host that is not there" '^404 .*node777' "$(rest POST resources/pkeys/hosts '{"hosts_names": "node001,node777", "pkey": "0x142"}')"
expect "nothing of it" "200 {}" "$(rest GET resources/pkeys/0x142)"
back() { [ "$(ctl -j ports node002 | jq length 2>/dev/null)" = 1 ]; }
until_ 10 back || bad "node002 does not come back"
late() { [[ " $(pkeys "$node002" 1) " == *" 8045 "* ]]; }
until_ 10 late || bad "node002 came without the partition: $(pkeys "$node002" 1)"
expect "by GUID what was added by host while it was absent" "200 {}" "$(rest DELETE "resources/pkeys/0x45/guids/$node002")"
expect "P_Keys" "7fff 8050" "$(pkeys "$node002" 1)"
expect "the partition is gone" "200 {}" "$(rest GET resources/pkeys/0x45)"

# promise: J2
note "members in every way"
expect "an empty one" "200 {}" "$(rest POST resources/pkeys/add '{"pkey": "0x43", "ip_over_ib": false, "partition_name": "tenant"}')"
expect_match "it exists" '^409 .*tenant' "$(rest POST resources/pkeys/add '{"pkey": "0x43"}')"
expect '{"partition":"tenant","ip_over_ib":false}' '{"partition":"tenant","ip_over_ib":false}' "$(rest GET resources/pkeys | sed 's/^200 //' | command jq -c '."0x43"')"
expect "by host and by GUID" "200 {}" "$(rest POST resources/pkeys/hosts '{"hosts_names": "node001", "pkey": "0x43", "membership": "limited"}')"
expect "by GUID" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node002\", \"0x$node009\"], \"memberships\": [\"full\", \"limited\"]}")"
expect "members" "$node001 limited $node002 full $node009 limited" "$(members 0x43)"
expect "removed by GUID what was added by host" "200 {}" "$(rest DELETE "resources/pkeys/0x43/guids/$node001,$node002")"
expect "removed by host what was added by GUID" "200 {}" "$(rest DELETE "resources/pkeys/0x43/hosts/node009")"
expect "the partition is gone" "200 {}" "$(rest GET resources/pkeys/0x43)"
expect "set" "200 {}" "$(rest PUT resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node001\"], \"ip_over_ib\": true}")"
expect "set to others" "200 {}" "$(rest PUT resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node002\", \"$node009\"], \"membership\": \"limited\"}")"
expect "members" "$node002 limited $node009 limited" "$(members 0x43)"
expect "IPoIB stays" true "$(rest GET resources/pkeys/0x43 | sed 's/^200 //' | jq .ip_over_ib)"
expect_match "IPoIB is another" '^409 ip_over_ib' "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node001\"], \"ip_over_ib\": false}")"
expect "delete" "200 {}" "$(rest DELETE resources/pkeys/0x43)"
expect_match "delete again" '^404 ' "$(rest DELETE resources/pkeys/0x43)"
expect "the same port by host" "200 {}" "$(rest POST resources/pkeys/hosts '{"hosts_names": "node001,node009", "pkey": "0x43"}')"
expect "and by GUID" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node001\"]}")"
expect "removed" "200 {}" "$(rest POST actions/remove_guids_from_pkey "{\"pkey\": \"0x43\", \"guids\": [\"$node001\"]}")"
expect "P_Keys" "7fff" "$(pkeys "$node001" 1)"
expect "a host twice" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x43\", \"guids\": [\"$node001\"]}")"
expect "is removed once" "200 {}" "$(rest DELETE "resources/pkeys/0x43/hosts/node001,node001")"
expect "members" "$node009 full" "$(members 0x43)"
expect "a LID is no host" "200 {}" "$(rest DELETE "resources/pkeys/0x43/hosts/$(ctl -j ports "node009 HCA-1/P1" | jq '.[0].lid')")"
expect "members" "$node009 full" "$(members 0x43)"
expect "delete" "200 {}" "$(rest DELETE resources/pkeys/0x43)"
expect_match "a member of the policy's file" '^409 0xf452140300811241 .*policy' "$(rest DELETE "resources/pkeys/0x50/guids/$node002")"
expect_match "the same by host" '^409 .*policy' "$(rest DELETE "resources/pkeys/0x50/hosts/node002")"
expect_match "the policy's" '^409 .*fixed' "$(rest DELETE resources/pkeys/0x50)"
expect "a member of the policy's" "200 {}" "$(rest POST resources/pkeys "{\"pkey\": \"0x50\", \"guids\": [\"$node001\"]}")"
expect "members" "$node001 full $node002 full" "$(members 0x50)"
expect "what was added goes" "200 {}" "$(rest DELETE resources/pkeys/0x50)"
expect "members" "$node002 full" "$(members 0x50)"
expect "a host that is called as a group" "200 {}" "$(rest POST resources/pkeys/hosts '{"hosts_names": "node001", "pkey": "0x44"}')"
expect "members" "$node001 full" "$(members 0x44)"
expect "delete" "200 {}" "$(rest DELETE resources/pkeys/0x44)"

# promise: J3
note "requests that are wrong"
before=$(sets)
wrong_body() { expect_match "$1" "^$2" "$(rest POST resources/pkeys "$3")"; }	# WHAT PATTERN BODY
wrong_body "no JSON" '400 the body is not JSON: line 1' '{"pkey": '
wrong_body "no object" '400 the body must be a JSON object' '[1]'
wrong_body "a key twice" '400 the body is not JSON' '{"pkey": "0x1", "pkey": "0x2"}'
wrong_body "an unknown field" '400 unknown field "pkeys"' '{"pkeys": "0x42"}'
wrong_body "no P_Key" '400 pkey is missing' '{"guids": ["f452140300811231"]}'
wrong_body "P_Key 0" '400 pkey: "0x8000"' '{"pkey": "0x8000", "guids": ["f452140300811231"]}'
wrong_body "a long P_Key" '400 pkey' '{"pkey": "0x10042", "guids": ["f452140300811231"]}'
wrong_body "no GUIDs" '400 guids' '{"pkey": "0x42", "guids": []}'
wrong_body "a short GUID" '400 guids: "f45214"' '{"pkey": "0x42", "guids": ["f45214"]}'
wrong_body "a membership" '400 membership' '{"pkey": "0x42", "guids": ["f452140300811231"], "membership": "both"}'
wrong_body "an unknown GUID" '404 .*f4521403008fffff' '{"pkey": "0x42", "guids": ["f452140300811231", "f4521403008fffff"]}'
wrong_body "an SL" '400 service_level' '{"pkey": "0x42", "guids": ["f452140300811231"], "service_level": 16}'
expect_match "a pattern" '^400 hosts_names: "\*"' "$(rest POST resources/pkeys/hosts '{"hosts_names": "*", "pkey": "0x42"}')"
expect_match "a broken list" '^400 hosts_names' "$(rest POST resources/pkeys/hosts '{"hosts_names": "node[1-", "pkey": "0x42"}')"
head -c 1100000 /dev/zero | tr '\0' ' ' >large
expect_match "a large body" '^413 ' "$(rest POST resources/pkeys @large)"
expect "links of no system" "200 []" "$(rest GET "resources/links?system=nosuch")"
expect "ports of no system" "200 []" "$(rest GET "resources/ports?system=nosuch")"
expect_match "a query that is no text" '^400 system' "$(rest GET "resources/links?system=%ff")"
expect_match "a query whose name is no text" '^400 unknown query' "$(rest GET "resources/links?%ff=a")"
expect_match "an unknown query" '^400 unknown query "guid_data"' "$(rest GET "resources/pkeys?guid_data=true")"
expect_match "no such resource" '^404 ' "$(rest GET resources/nothing)"
expect_match "no such method" '^405 ' "$(rest PATCH resources/pkeys)"
expect "partitions after that" "0x50 0x7fff" "$(rest GET resources/pkeys | sed 's/^200 //' | jq -r 'keys | join(" ")')"
expect "Sets" "$before" "$(sets)"

# promise: J4
note "who may"
body="{\"pkey\": \"0x42\", \"guids\": [\"$node001\"]}"
expect_match "nobody" '^401 ' "$(curl -s --cacert tls.crt -w '\n%{http_code}\n' "$url/ufmRest/resources/pkeys" | grep . | tac | paste -sd' ')"
expect_match "a wrong password" '^401 ' "$(rest_as k8s:Secret GET resources/pkeys)"
expect_match "no such user" '^401 ' "$(rest_as root:secret GET resources/pkeys)"
expect_match "a password in place of a token" '^401 ' "$(rest_token "$(printf k8s:secret | base64)" GET resources/pkeys)"
expect_match "a wrong token" '^401 ' "$(rest_token "slurm.${token[0]:7}x" GET resources/pkeys)"
expect_match "a viewer views" '^200 ' "$(rest_as viewer:secret GET resources/pkeys)"
expect_match "a viewer changes" '^403 ' "$(rest_as viewer:secret POST resources/pkeys "$body")"
expect_match "another's P_Key" '^403 pkey.*0x100 to 0x1ff' "$(rest_token "${token[0]}" POST resources/pkeys "$body")"
# on one connection: a loaded machine must not take a second for each
curl -s --cacert tls.crt -u k8s:guess -o /dev/null -w '%{http_code}\n' "$url/ufmRest/resources/pkeys?[1-100]" >guesses
grep -q 429 guesses || bad "guesses: $(sort guesses | uniq -c | paste -sd' ')"
expect_match "who is known already" '^200 ' "$(rest GET app/ufm_version)"

# promise: J5
note "who did it"
expect "a change" "200 {}" "$(rest POST resources/pkeys "$body")"
expect "in the event" "k8s $(id -u)" "$(ctl -j events --kind partitions-changed -n 1 | jq -rs '.[-1].data | ."on-behalf-of" + " " + (.uid | tostring)')"
expect_match "and as text" " by user $(id -u) \\($(id -un)\\), on behalf of k8s\$" "$(ctl events --kind partitions-changed -n 1)"
expect_match "in the log of the gateway" 'user k8s: POST .*resources/pkeys: 200' "$(grep 'POST' rest.log | tail -n 1)"
expect_match "in the log of the daemon" 'on behalf of k8s' "$(grep ' partitions: ' "$qosd_log" | tail -n 1)"

# promise: J6
note "ports, systems, links"
port_row=$(rest GET "resources/ports?guid=$node001" | sed 's/^200 //')
expect "a port" "$node001 ${node001}_1 node001 HCA-1/1 Active Link Up" \
	"$(jq -r '.[] | [.guid, .name, .system_name, .dname, .logical_state, .physical_state] | join(" ")' <<<"$port_row")"
expect "its LID" "$(ctl -j ports "node001 HCA-1/P1" | jq '.[0].lid')" "$(jq '.[0].lid' <<<"$port_row")"
expect "ports of hosts" "$(ctl -j ports --type ca | jq length)" "$(rest GET "resources/ports?sys_type=Computer" | sed 's/^200 //' | jq length)"
expect "switches" "$(ctl -j nodes --type switch | jq length)" "$(rest GET "resources/systems?type=switch" | sed 's/^200 //' | jq length)"
expect "links" "$(($(linked_ports "$topology") / 2))" "$(rest GET resources/links | sed 's/^200 //' | jq length)"

# promise: J6
note "how the subnet is protected"
expect "keys" '200 {"subnet_prefix":"0xfe80000000000000","m_key":"0x0000000000000000","sm_key":"0x0000000000000001","sa_key":"0x0000000000000001","m_key_per_port":false}' \
	"$(rest GET app/smconf)"

note "settings are read again"
cp tls.crt tls.good
: >tls.crt
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 && bad "--check takes an empty certificate"
expect_match "the reason" 'tls.crt: the file is empty' "$(<check.log)"
kill -HUP "$rest_pid"
until_ 10 grep -q 'tls.crt: the file is empty; the former settings stay' rest.log || bad "an empty certificate: $(tail -n 3 rest.log)"
cp tls.good tls.crt
expect_match "TLS stays" '^200 ' "$(rest GET app/ufm_version)"
cp tls.key tls.good
: >tls.key
"$build/qosd-rest" --check -c rest.yaml >check.log 2>&1 && bad "--check takes an empty key"
cp tls.good tls.key
sed -i '/^  viewer:/d' rest.yaml
kill -HUP "$rest_pid"
until_ 10 grep -q 'read again: 3 users' rest.log || bad "no reload: $(tail -n 3 rest.log)"
expect_match "a user that is gone" '^401 ' "$(rest_as viewer:secret GET resources/pkeys)"
echo "nonsense: 1" >>rest.yaml
kill -HUP "$rest_pid"
until_ 10 grep -q 'former settings stay' rest.log || bad "bad settings are taken: $(tail -n 3 rest.log)"
expect_match "the former stay" '^200 ' "$(rest GET app/ufm_version)"

# promise: J4
note "without rights"
confined() {	# confined PID: capabilities, no_new_privs and the number of filters
	sed -nE 's/^(CapPrm|CapEff|NoNewPrivs|Seccomp_filters):[[:space:]]*//p' "/proc/$1/status" | paste -sd' '
}
if [ -z "${QOSD_SANITIZE:-}" ] && grep -q Seccomp_filters /proc/self/status; then
	filters=$(sed -n 's/^Seccomp_filters:[[:space:]]*//p' /proc/self/status)
	expect_match "the gateway" '^0{16} 0{16} 1 ' "$(confined "$rest_pid")"
	own=$(($(confined "$rest_pid" | cut -d' ' -f4) - filters))
	[ "$own" -gt 0 ] || bad "it filters nothing"
	# a service manager whose filter refuses capset: everything else is dropped nevertheless
	cat >refuse.py <<'END'
import ctypes, os, platform, struct, sys
nr = {"x86_64": 126, "aarch64": 91}[platform.machine()]
code = b"".join(struct.pack("HBBI", *i) for i in (
    (0x20, 0, 0, 0), (0x15, 0, 1, nr), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)))
text = ctypes.create_string_buffer(code)
program = struct.pack("HxxxxxxP", 4, ctypes.addressof(text))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
END
	sed "s/^listen: .*/listen: 127.0.0.1:$((rest_port + 1))/" rest.good >refused.yaml
	: >refused.log
	python3 refuse.py "$build/qosd-rest" -c refused.yaml >refused.log 2>&1 &
	refused_pid=$!
	pids+=("$refused_pid")
	until_ 10 grep -q 'serving at' refused.log || bad "it does not start: $(<refused.log)"
	[ "$(id -u)" != 0 ] || expect_match "the warning" 'sandbox: cannot drop capabilities' "$(<refused.log)"
	expect "its filters" "$((filters + 1 + own))" "$(confined "$refused_pid" | cut -d' ' -f4)"
	end "$refused_pid" || bad "qosd-rest ends with exit status $?"
fi

# promise: J7
note "without the daemon"
stop_qosd || bad "exit status $? after SIGTERM"
expect_match "no daemon" '^503 ' "$(rest GET app/ufm_version)"
expect_match "no daemon" '^503 ' "$(rest POST resources/pkeys "$body")"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"

# promise: J7
note "a daemon that numbers its changes anew after a restart"
cat >fake.py <<'END'
"""A daemon that says of each change a number, and to each `status` after it the next pair: last, in force."""
import json, socket, sys
script = [(20, [(20, 20)]), (2, [(2, 1), (2, 2)]), (9, [(1, 1)])]
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(8)
asked, said = [], []
while True:
    client, _ = server.accept()
    with client, client.makefile("rwb") as f:
        request = json.loads(f.readline())
        f.read(request.get("body", 0))
        result, command = {}, request["command"]
        if command == "partition change":
            number, said = script.pop(0)
            result = {"changed": 1, "change": number}
        elif command == "status":
            last, in_force = said.pop(0) if said else (0, 0)
            result = {"policy": {"dynamic": {"change": last, "change-in-force": in_force}}}
        elif command == "partition show":
            result = {"partitions": []}
        print(command, json.dumps(result), flush=True)
        f.write(json.dumps({"ok": True, "result": result}).encode() + b"\n")
END
python3 fake.py "$work/fake.sock" >fake.log 2>&1 &
fake_pid=$!
pids+=("$fake_pid")
sed "s/^listen: .*/listen: 127.0.0.1:$((rest_port + 2))/; s|^socket: .*|socket: $work/fake.sock|" rest.good >fake.yaml
start_rest fake.yaml fake-rest.log
until_ 10 test -S fake.sock || bad "no fake daemon: $(<fake.log)"
url=https://127.0.0.1:$((rest_port + 2))
polls() { grep -c '^status' fake.log; }
expect "change 20" "200 {}" "$(rest POST resources/pkeys "$body")"
expect "is asked for" 1 "$(polls)"
expect "change 2" "200 {}" "$(rest POST resources/pkeys "$body")"
expect "is asked for until it is in force" 3 "$(polls)"
# long before the time limit: it is among what the daemon loaded
expect "a change before a restart" "200 {}" "$(rest POST resources/pkeys "$body")"
expect "is asked for once" 4 "$(polls)"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
kill "$fake_pid"

note "the demonstration"
PORT=$rest_port TMPDIR=$work "$top/scripts/demo-rest" "$build" --once >demo.out 2>&1 || bad "demo-rest: $(tail -n 5 demo.out)"
expect "its changes" 5 "$(grep -c 'dynamic partitions were changed' demo.out)"
expect_match "values of its partition" '"qos_conf":\{"mtu_limit":2,"service_level":[0-9]+,"rate_limit":20\}' "$(<demo.out)"
expect "what it leaves" "" "$(find . -maxdepth 1 -name 'qosd-demo.*')"
