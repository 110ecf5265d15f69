#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what an operator sees of qosd: `qosd-ctl events` while links and nodes come and go,
# the command that qosd runs for each event, `qosd-ctl health` before, during and after a
# fault, and the metrics page as other programs read it.
#
# promise: O4
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat.topo || fail "gentopo"
node=$(first_ca fat.topo)
host=$(cas fat.topo | tail -n 1)
leaf=$(sed -nE 's/^Switch[[:space:]]+[0-9]+ "(S-[0-9a-f]+)".*/\1/p' fat.topo | head -n 1)
# a port of the leaf that leads to a switch
uplink=$(awk -v leaf="\"$leaf\"" '/^Switch/ { here = $3 == leaf } here && /^\[[0-9]+\].*"S-/ {
	print substr($1, 2) + 0; exit }' fat.topo)
nodes=$(grep -cE '^(Switch|H?[Cc]a|Rt)[[:space:]]' fat.topo)

# The event command; it reads to the end of standard input, so it has the whole event.  A line in hook.env says
# that it has written the other files.
cat >hook <<END
#!/bin/bash
read -r line
[ -e $work/hang ] && hangs=yes
[ -n "\$line" ] && ! read -r -t 0.1 more && printf '%s\n' "\$line" >>$work/hook.json
find /proc/self/fd -lname '*socket:*' >>$work/hook.sockets
echo "\$QOSD_EVENT_ID \$QOSD_EVENT_KIND \$QOSD_EVENT_SEVERITY \$QOSD_EVENT_DATA_PORT" >>$work/hook.env
if [ -n "\$hangs" ]; then
	echo \$\$ >$work/hook.pid
	sleep 100
fi
END
chmod +x hook
touch hook.env
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
END
cat >qosd.yaml <<END
sweep-interval: 1s
event-command: [$work/hook, an argument]
event-kinds: [link, node]
metrics-listen: 127.0.0.1:0
END
start_sim fat.topo
start_and_wait "$node" -c qosd.yaml -p policy.yaml

# has FILE PATTERN: whether a line of the file matches.
has() { grep -qE "$2" "$1"; }
# health: writes the report to health.json and sets $verdict to the exit status.
health() {
	ctl -j health >health.json
	verdict=$?
}
# kinds: prints the kinds of problems, without "info": ibsim's devices have fixed values, which is no fault.
kinds() { jq -r '.problems[] | select(.severity != "info") | .kind' health.json | sort -u | tr '\n' ' '; }
# healthy WHAT EXIT-STATUS KINDS: within some seconds, health must have this status and these kinds.
as_wanted() {
	health
	[ "$verdict" = "$1" ] && [ "$(kinds)" = "$2" ]
}
healthy() {
	until_ 10 as_wanted "$2" "$3" || bad "$1: exit status $verdict, $(kinds)"
}

note "the start"
ctl events >events
for kind in started sm-state policy-in-force routing subnet-up; do
	has events " $kind " || bad "no $kind in: $(<events)"
done
expect "of the fabric as it was found nothing is told" 0 "$(grep -cE ' (node|link|switch)-' events)"
ids=$(ctl -j events | jq .id | xargs)
expect_less "events in text, which came first" $(($(wc -w <<<"$ids") + 1)) "$(wc -l <events)"
expect "ids" "$(seq "$(wc -w <<<"$ids")" | xargs)" "$ids"

note "links and nodes, as they come and go"
touch followed
since=$(ctl -j events | jq -r .since | tail -n 1)	# before anything happens
"$build/qosd-ctl" -s "$sock" -j events --follow --kind link,node,routing --since "$since" >followed &
follower=$!
pids+=("$follower")
unplug "$leaf" "$uplink"
until_ 20 has followed '"kind":"link-down"' || bad "no link-down: $(<followed)"
plug "$leaf" "$uplink"
until_ 20 has followed '"kind":"link-up"' || bad "no link-up: $(<followed)"
unplug "$host"
until_ 20 has followed '"kind":"node-went"' || bad "no node-went: $(<followed)"
plug "$host"
until_ 20 has followed '"kind":"node-came"' || bad "no node-came: $(<followed)"
until_ 10 status_is nodes="$nodes" || bad "$(status nodes) nodes"
of() { jq -r "select(.kind == \"$1\") | $2" followed; }
for kind in link-down link-up; do
	expect "$kind" "$((16#${leaf#S-})) $uplink" \
		"$(of $kind 'if .data.port == '"$uplink"' and (.data.node | ascii_downcase | ltrimstr("0x") | ltrimstr("0")) != "" then .data.node + " " + (.data.port | tostring) else .data["far-node"] + " " + (.data["far-port"] | tostring) end' |
			while read -r guid port; do echo "$((guid)) $port"; done)"
done
expect "who went" "$((16#${host#H-}))" "$(($(of node-went .data.node)))"
expect "who came" "$((16#${host#H-}))" "$(($(of node-came .data.node)))"
expect "their order" "link-down link-up node-went node-came" \
	"$(jq -r 'select(.kind != "routing") | .kind' followed | paste -s -d ' ')"
blocks() { of routing '.data.blocks' | awk '{ n += $1 } END { print n + 0 }'; }
expect_less "blocks of forwarding tables are told" "$(blocks)" 0
kill "$follower"
wait "$follower" 2>/dev/null

note "the command"
called() { [ "$(wc -l <hook.env)" -eq "$1" ]; }
until_ 10 called 4 || bad "not four calls: $(<hook.env)"
expect "what it was told" "$(ctl -j events --kind link,node | jq -r '"\(.id) \(.kind) \(.severity) \(.data.port // "")"')" "$(<hook.env)"
expect "as JSON" "$(ctl -j events --kind link,node)" "$(<hook.json)"
expect "sockets that it inherited" "" "$(<hook.sockets)"
touch hang
unplug "$host"
until_ 20 test -s hook.pid || bad "it was not called"
plug "$host"
has_come() { ctl events | grep -c ' node-came ' | grep -qx 2; }
until_ 20 has_come || bad "events are held up by it: $(ctl events)"
calls=$(wc -l <hook.env)
# on a busy machine, qosd may have killed it by now, after 30 s, and called it for the next event
gone "$(<hook.pid)" || expect "one at a time" 5 "$calls"

note "where to go on"
# the sweep that found the host may still add events
goes_on() {
	last=$(ctl -j events | jq -r .since | tail -n 1)
	[ -z "$(ctl events --since "$last")" ] &&
		[ "$(ctl -j events --since "$((${last#*:} - 1))" | jq -r .since)" = "$last" ]
}
until_ 10 goes_on || bad "after $last come: $(ctl -j events --since "$last"); from the one before: $(ctl -j events --since "$((${last#*:} - 1))")"
stop_qosd || bad "exit status $? after SIGTERM"
until_ 5 gone "$(<hook.pid)" || bad "the command goes on without the daemon"
rm hang
echo 'smp-retries: 1' >>qosd.yaml		# for a device that does not answer
start_and_wait "$node" -c qosd.yaml -p policy.yaml
since_another_run() {
	ctl -j events >all
	ctl -j events --since "$last" >since
	cmp -s all since
}
until_ 10 since_another_run || expect_same "another run: all of its events" all since
expect "status, a kind that is none" 1 "$(ctl events --kind nothing >out 2>&1; echo $?)"
expect_match "why" "no such kind of event: 'nothing'" "$(<out)"

note "health"
healthy "all is well" 0 ""
expect "in words" "ok: master" "$(ctl health | head -n 1)"
echo "nonsense" >>policy.yaml
ctl reload >/dev/null 2>&1 && bad "a bad file is taken"
healthy "a policy that was refused" 2 "policy-rejected "
expect_match "in words" "^error: this subnet manager is master; there are problems.error +policy-rejected: the last policy file has 1 error;.* -> .*reload" \
	"$(ctl health | tr '\n' ' ' | sed 's/ error/.error/')"
expect_match "the event" "policy-refused .* reload, refused" "$(ctl events --kind policy-refused)"
sed -i '$d' policy.yaml
ctl reload >/dev/null || bad "the good file is not taken"
healthy "a good file" 0 ""
lose "$leaf" 100 17		# SLtoVLMappingTable
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
fabric-setup:
  sl2vl:
    - {group: all, table: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}
END
ctl reload >/dev/null || bad "the policy is not taken"
silent() {
	health
	[ "$verdict" = 2 ] && [[ $(kinds) == *device-silent* ]]
}
until_ 20 silent || bad "a device that does not answer: exit status $verdict, $(kinds)"
expect "the worst first" error "$(jq -r '.problems[0].severity' health.json)"
# other devices may be silent, too: requests to them through this switch may be lost
expect "the event" 1 "$(ctl -j events --kind device-silent | jq -r .data.node |
	while read -r guid; do echo $((guid)); done | sort -u | grep -cx $((16#${leaf#S-})))"
lose "$leaf" 0
recovered() { ctl events | grep -q ' device-recovered '; }
until_ 30 recovered || bad "it does not recover: $(ctl events)"
up_again() { health; ! [[ $(kinds) == *device-silent* || $(kinds) == *not-up* ]]; }
until_ 10 up_again || bad "after that: $(kinds)"
expect "status, an argument too many" 2 "$(ctl health x >/dev/null 2>&1; echo $?)"

note "figures"
port=$(sed -nE 's/.* metrics: .* port ([0-9]+)$/\1/p' "$qosd_log")
page() { curl -s -o "${2:-page}" -w '%{http_code}' "${@:3}" "http://127.0.0.1:$port$1"; }
on "$host" saquery NR >/dev/null 2>&1
expect "by HTTP" 200 "$(page /metrics)"
figures() { grep -vE '^(process_|qosd_events|#)' "$1"; }
figure() { awk -v name="$1" '$1 == name { print $2 }' page; }
# a sweep between the reads changes the figures
same_figures() {
	page /metrics >/dev/null
	ctl metrics >metrics
	sweeps=$(status sweeps)
	cmp -s <(figures page) <(figures metrics) && [ "$sweeps" = "$(figure qosd_sweeps_total)" ]
}
until_ 10 same_figures
expect_same "by HTTP and by the socket" <(figures page) <(figures metrics)
expect "nodes" "$nodes" "$(($(figure 'qosd_fabric_nodes{type="ca"}') + $(figure 'qosd_fabric_nodes{type="switch"}')))"
expect "sweeps" "$sweeps" "$(figure qosd_sweeps_total)"
expect "answers" "$(ctl -j sa-stats | jq '.attributes[] | select(.attribute == "NodeRecord") | .answered')" \
	"$(figure 'qosd_sa_answers_total{attribute="NodeRecord",status="ok"}')"
# a sanitizer build needs more memory
[ "$slow" -gt 1 ] || expect_less "resident memory, KiB" 100000 "$(($(figure process_resident_memory_bytes) / 1024))"
expect "another page" 404 "$(page / out)"
expect "another method" 405 "$(page /metrics out -X POST -d x)"
expect "a body" 405 "$(head -c 300000 /dev/zero | page /metrics out -X PUT -H 'Expect:' --data-binary @-)"
if command -v promtool >/dev/null; then
	# it takes the m of m_key, which names that do not change have, for meters
	promtool check metrics <page >out 2>&1
	expect "what promtool has against the metrics" "" "$(grep -v '^qosd_m_key_.*abbreviated units$' out)"
else
	note "promtool is not installed: the unit test of metrics has a reader of its own"
fi
# Silent clients do not hinder others.
idle=()
for _ in 1 2 3 4 5; do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port"
	idle+=("$fd")
done
expect "by HTTP, beside idle clients" 200 "$(page /metrics)"
ctl metrics >out || bad "the daemon is busy"
for fd in "${idle[@]}"; do exec {fd}>&-; done
stop_qosd || bad "exit status $? after SIGTERM"
echo "metrics-listen: 192.0.2.1:1" >qosd.yaml
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect_match "an address that is not ours" "error: metrics: not listening: 192.0.2.1:1: Cannot assign" \
	"$(<"$qosd_log")"
expect_match "its event" " metrics-listen: not listening at 192.0.2.1:1: .*Cannot assign" "$(ctl events --kind page-failed)"
expect_match "its health" "metrics-listen: the daemon does not listen: 192.0.2.1:1: .*Cannot assign" "$(ctl health)"
expect_match "its status" "page +metrics-listen: not listening since .*Cannot assign" "$(ctl status)"
