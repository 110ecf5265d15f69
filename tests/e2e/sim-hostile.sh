#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests bad input to qosd-sim: it refuses malformed files with file and line; clients that
# disconnect in the middle of a request or send garbage do not harm others.
# (sim-program.sh tests the command line and garbage alone.)
#
# promise: V6
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "it is about qosd-sim"
command -v opensm >/dev/null || { echo "opensm is not installed"; exit 77; }

cluster=$top/examples/cluster.topo
qosd_sim=$build/qosd-sim

# refused WHAT REGEXP OPTION...: qosd-sim run must refuse to start with such a message, without a crash.
refused() {
	local what=$1 regexp=$2
	shift 2
	timeout 60 "$qosd_sim" run "$@" -- echo started >out 2>&1
	expect "$what: exit status" 1 $?
	expect_match "$what" "$regexp" "$(<out)"
	[[ $(<out) != *started* ]] || bad "$what: it starts"
}

note "broken dumps"
# dump TEXT: writes bad.topo: a switch S-1 of 4 ports, followed by TEXT
dump() { printf 'switchguid=0x10(10)\nSwitch\t4 "S-1"\n%b\n' "$1" >bad.topo; }
bad_dump() {	# bad_dump WHAT LINE MESSAGE TEXT
	dump "$4"
	refused "$1" "(^|"$'\n'")bad.topo:$2:[0-9]+: error: $3" bad.topo
}
ca='\nCa\t1 "H-2"\n[1]\t"S-1"[1]'
bad_dump "an unknown word" 3 '"Swich' 'Swich 4 "S-2"'
bad_dump "a link to nobody" 3 'there is no "H-2"' '[1]\t"H-2"[1]'
bad_dump "a port that is not there" 3 'port 5 is out of range' "[5]\t\"H-2\"[1]$ca"
bad_dump "contradictory links" 5 'port 1 of "S-1" is connected to "H-2"\[1\] by line 3' \
	'[1]\t"H-2"[1]\nCa 1 "H-3"\n[1] "S-1"[1]\nCa 1 "H-2"\n[1] "S-1"[1]'
bad_dump "a port twice" 4 'port 1 of "S-1" is there twice, first at line 3' "[1]\t\"H-2\"[1]\n[1]\t\"H-2\"[1]$ca"
bad_dump "a node GUID twice" 5 'GUID 0x10 is there twice, first at line 2' "[1]\t\"H-2\"[1]\ncaguid=0x10$ca"
bad_dump "a port GUID twice" 7 'port 1 of "H-3" has GUID 0x22, and so has' \
	'[1] "H-2"[1](22)\n[2] "H-3"[1](22)\nCa 1 "H-2"\n[1](22) "S-1"[1]\nCa 1 "H-3"\n[1](22) "S-1"[2]'
bad_dump "contradictory GUIDs" 3 'port 1 of "H-2" has GUID 0x23 by' '[1]\t"H-2"[1](22)\nCa 1 "H-2"\n[1](23) "S-1"[1]'
bad_dump "a node twice" 6 '"H-2" is there twice, first at line 4' '[1]\t"H-2"[1]\nCa 1 "H-2"\n[1] "S-1"[1]\nCa 1 "H-2"'
bad_dump "a link to itself" 3 'port 1 of "S-1" is connected to itself' '[1]\t"S-1"[1]'
bad_dump "a speed that there is not" 3 '"9xSDR" is no link speed' "[1]\t\"H-2\"[1]\t# \"x\" lid 3 9xSDR$ca"
bad_dump "too many ports" 3 'a number of ports is expected, 1 to 254' 'Switch 255 "S-2"'
bad_dump "an open quote" 3 'a name in quotes is expected' 'Switch 4 "S-2'
bad_dump "a number too large" 3 'a number up to 0xffffff' 'vendid=0xfffffffff'
bad_dump "bytes of no text" 3 '"\?\?" is not understood' '\x01\x02'
bad_dump "a file that includes itself" '[0-9]+' '(more than .* files|.* is there twice)' 'include "bad.topo"'
bad_dump "a file that is not there" 3 'none: cannot be opened: No such file' 'include "none"'
bad_dump "a line with a long run of blanks" 3 '"x" is not understood' "$(printf '%3000s' x)"
: >bad.topo
refused "nothing" 'bad.topo: error: no nodes' bad.topo
refused "a directory" 'it is a directory' .
refused "a generator that there is not" 'cube' cube:4
refused "a parameter that there is not" 'colour' ring:4,colour=red
refused "more than anybody has" 'ports' fat-tree:k=200,levels=4
yes 'Swich 4 "S-1"' | head -n 100000 >bad.topo
refused "100,000 lines of no format" 'bad.topo:1:1: error: not a topology' bad.topo
sed -i '1s/.*/Switch 4 "S-1"/' bad.topo
refused "100,000 errors" 'more like these' bad.topo
expect_less "lines of that" 30 "$(wc -l <out)"

note "dumps cut off, and with bytes changed: whatever becomes of them, no crash"
bytes=$(wc -c <"$cluster")
RANDOM=5
for ((i = 0; i < 60; i++)); do
	at=$(((RANDOM * 32768 + RANDOM) % bytes))
	if ((i % 2)); then
		head -c $at "$cluster" >bad.topo
	else
		cp "$cluster" bad.topo
		printf '%b' "\\x$(printf %x $((32 + RANDOM % 95)))" | dd of=bad.topo bs=1 seek=$at conv=notrunc status=none
	fi
	timeout 60 "$qosd_sim" run bad.topo -- true >out 2>&1
	status=$?
	if [ $status -eq 1 ]; then
		expect_match "byte $at: a place in the file" '(^|'$'\n'')bad\.topo:[0-9]+:[0-9]+: ' "$(<out)"
	elif [ $status -ne 0 ]; then
		bad "byte $at: exit status $status: $(tail -n 3 out)"
	fi
done

note "profiles"
bad_profile() {	# bad_profile WHAT PLACE MESSAGE TEXT
	printf '%b\n' "$4" >bad.yaml
	refused "$1" "^bad.yaml:$2: error: .*$3" switch:4 -p bad.yaml
}
bad_profile "an unknown key" 2:7 "unknown key 'colour'" 'profiles:\n  a: {colour: red}'
bad_profile "an unknown key outside" 1:1 "unknown key 'extra'" 'extra: 1'
bad_profile "a wrong value" 2:15 "'3' is not one of" 'profiles:\n  a: {vl-cap: 3}'
bad_profile "a key twice" '2:18' "duplicate key 'vl-cap'" 'profiles:\n  a: {vl-cap: 2, vl-cap: 4}'
bad_profile "an unknown profile" 2:26 "no preset or profile 'b'" 'nodes:\n  - {name: "*", profile: b}'
bad_profile "profiles in a cycle" '[23]:[0-9]+' "refers to itself" 'profiles:\n  a: {like: b}\n  b: {like: a}'
bad_profile "an unknown type" 2:12 "'hub' is not one of" 'nodes:\n  - {type: hub, profile: auto}'
bad_profile "an unknown lie" 2:14 "'always' is not one of" 'profiles:\n  a: {lies: [always]}'
bad_profile "no YAML" '[12]:1' "not valid YAML" 'profiles: ['
bad_profile "no text" 1:1 "UTF-8" '\xff\xfe'

note "scripts"
cat >script <<'END'
# a comment
10 link dwn a
soon link up a
5 link down
3 every 0 status
10 link down "x
20 loss 5% --colour red
END
refused "a script" '^script:2: link: .dwn. ' switch:4 -x script
expect "lines with errors" "2 3 4 5 6 7" "$(sed -nE 's/^script:([0-9]+): .*/\1/p' out | paste -s -d ' ')"
cat >script <<'END'
0 link down nobody
0.1 loss 500%
0.2 node rename "host-0001 HCA-1" renamed
END
"$qosd_sim" run -x script switch:4 -- sh -c "sleep 1; '$qosd_sim' ctl show nodes" >out 2>&1 || bad "a command that fails ends it"
expect_match "a node that there is not" "script:1: link down: there is no node 'nobody'" "$(<out)"
expect_match "a value that cannot be" "script:2: loss: PERCENT" "$(<out)"
expect_match "the command after them" " renamed" "$(<out)"

# --- clients ---

fabric=fat-tree:k=6 hosts=54 end_ports=99
host() { printf 'host-%04d HCA-1' "$1"; }
"$qosd_sim" serve $fabric >serve.log 2>&1 &
sim=$!
pids+=("$sim")
until_ 20 grep -q ^ready serve.log || fail "qosd-sim does not start: $(<serve.log)"
expect_match "what it has" "$((end_ports - hosts)) switches, $hosts other nodes" "$(<serve.log)"
files() { find "/proc/$sim/fd" -mindepth 1 | wc -l; }
files_are() { [ "$(files)" -eq "$1" ]; }
memory() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$sim/status"; }
no_files=$(files)

start_opensm() {	# start_opensm NAME NODE
	local as
	as "$2"
	mkdir "$1"
	OSM_TMP_DIR=$work/$1 OSM_CACHE_DIR=$work/$1 "${as[@]}" \
		opensm -F /dev/null -f "$work/$1/log" -d2 >"$1/out" 2>&1 &
	opensm=$!
	pids+=("$opensm")
	until_ 30 grep -qs "SUBNET UP" "$1/log" || fail "OpenSM does not come up: $(tail -n 3 "$1/log")"
}
# complete NODE: the node must receive all of a long answer.
all_paths=$((end_ports * end_ports))
complete() {
	on "$1" timeout 60 saquery PR >paths 2>&1
	expect "PathRecords that $1 gets" $all_paths "$(grep -c 'dlid\.\.' paths)"
}
start_query() {	# start_query NODE FILE
	local as
	as "$1"
	"${as[@]}" saquery PR >"$2" 2>&1 &
	query=$!
}

start_opensm first "$(host 1)"
complete "$(host 2)"
with_opensm=$(files)

note "clients that are killed while a long answer comes"
# The answer's packets are delayed, so that on any machine they still arrive when the client is killed.
sim_do fault add delay --class sa --method get-table-resp --for 2ms
held_up() { sim_ctl -j fault list | jq '.[0].hits'; }
has_come() { [ "$(held_up)" -ge "$1" ]; }
for ((i = 0; i < 40; i++)); do
	before=$(held_up)
	start_query "$(host $((i % 5 + 3)))" /dev/null
	until_ 20 has_come $((before + 1 + i)) || bad "no answer comes to client $i"
	{ kill -KILL "$query"; wait "$query"; } 2>/dev/null
done
sim_do fault remove all
killed=$(sim_ctl drops | awk '$1 == "no-agent" { print $2 }')
[ "${killed:-0}" -gt 0 ] || bad "none of them was killed in the middle"
note "${killed:-0} packets came to clients that were gone"
complete "$(host 2)"
complete "$(host 3)"
until_ 10 files_are "$with_opensm" || bad "descriptors: want $with_opensm, got $(files)"

note "a client that does not read, one that answers nothing, and the others"
# The simulator drops packets that come before the client has stopped; the SA repeats them after that.
sim_do fault add drop --class sa --method get-table-resp
start_query "$(host 3)" /dev/null
stopped=$query
pids+=("$stopped")
until_ 20 has_come 1 || bad "no answer comes to the client that is to stop"
kill -STOP "$stopped"
sim_do fault remove all
sim_do fault add drop --class sa --at "$(host 4)" --chance 50%
start_query "$(host 4)" /dev/null
lossy=$query
pids+=("$lossy")
complete "$(host 5)"
on "$(host 6)" saquery NR >out 2>&1
expect "NodeRecords" $end_ports "$(grep -c 'port_guid\.\.' out)"
! gone "$stopped" || bad "the client that does not read has all of its answer"
sim_do fault remove all
kill -CONT "$stopped"
wait "$stopped" || bad "the one that did not read: exit status $?"
end "$lossy" KILL

note "the server of long answers is killed"
queries=()
for ((i = 0; i < 4; i++)); do
	start_query "$(host $((i + 3)))" "query.$i"
	queries+=("$query")
done
sleep 0.02
end "$opensm" KILL
for ((i = 0; i < 4; i++)); do
	wait "${queries[i]}" || expect_match "what a client says" "timed out" "$(<query.$i)"
done
expect "its mark on the port" 0 "$(sim_ctl show portinfo "$(host 1)" | grep -c 'IsSM\b')"
until_ 10 files_are "$no_files" || bad "descriptors: want $no_files, got $(files)"
start_opensm second "$(host 2)"
complete "$(host 3)"

note "nonsense on the socket, commands that are broken off, and the others"
"$tools/simgarbage" 300 >garbage.log 2>&1 &
garbage=$!
pids+=("$garbage")
rounds=0
until gone "$garbage"; do
	complete "$(host $((rounds % 20 + 3)))"
	sim_ctl show links | head -n 1 >out
	sim_ctl show lft "$(sim_ctl show nodes | awk 'NR == 2 { print $2 }')" >/dev/full 2>&1 && bad "a full disk is not noticed"
	rounds=$((rounds + 1))
done
wait "$garbage" || bad "simgarbage: exit status $?: $(tail -n 3 garbage.log)"
note "$rounds rounds"
complete "$(host 2)"
sim_ctl check >check.out 2>&1 || bad "the fabric after all this: $(tail -n 5 check.out)"
expect_less "KiB of memory" $((200000 * slow)) "$(memory)"
expect_less "log lines" 200 "$(wc -l <serve.log)"
end "$opensm"
end "$sim" || bad "qosd-sim: exit status $?: $(tail -n 3 serve.log)"

note "more clients than it may have descriptors"
: >serve.log
(ulimit -n 24 && exec "$qosd_sim" serve switch:4) >serve.log 2>&1 &
sim=$!
pids+=("$sim")
until_ 20 grep -q ^ready serve.log || fail "qosd-sim does not start: $(<serve.log)"
clients=()
for ((i = 0; i < 40; i++)); do
	on_own "host-0001 HCA-1" "$tools/umadpump" -w 4 -t 1 -r >"pump.$i" 2>&1 &
	clients+=($!)
done
served=0
for client in "${clients[@]}"; do
	wait "$client" && served=$((served + 1))
done
[ $served -gt 0 ] || bad "nobody is served"
note "$served of 40 were served"
sim_ctl status >out 2>&1 || bad "no more answers: $(<out)"
expect_less "log lines" 50 "$(wc -l <serve.log)"
end "$sim" || bad "qosd-sim: exit status $?: $(tail -n 3 serve.log)"
