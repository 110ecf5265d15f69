#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests least privilege: the kernel's view of what the daemon, the discovery process and
# the event command may do, and that all of them work with that.  Also tests which users
# may do what through the control socket.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat.topo || fail "gentopo"
node=$(first_ca fat.topo)
host=$(cas fat.topo | tail -n 1)
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
END
cat >hook <<END
#!/bin/bash
read -r line
grep -E '^(Cap(Eff|Prm)|NoNewPrivs|Seccomp):' /proc/self/status >$work/hook.status.new
mv $work/hook.status.new $work/hook.status
END
chmod +x hook
settings() {
	printf '%s\n' "sweep-interval: 1s" "smp-timeout: 100ms" "smp-retries: 2" \
		"event-command: [$work/hook]" "metrics-listen: 127.0.0.1:0" "$@" >qosd.yaml
}
# of PID FIELD: prints the distinct values of a status field among the threads of the process.
of() { sed -n "s/^$2:[[:space:]]*//p" /proc/"$1"/task/*/status 2>/dev/null | sort -u | paste -s -d ' '; }
none=0000000000000000
filter=2
[ "$slow" -eq 1 ] || filter=0	# a sanitizer build installs no filters

settings
start_sim fat.topo
# Lost requests prolong the discovery.
lose "$host" 100

# promise: L1
note "the process that discovers"
start_qosd "$node" -c qosd.yaml -p policy.yaml
# The discovery process inherits the daemon's two filters and adds one.  It is short-lived, so all
# fields are read at once.
discovers() {
	local helper
	helper=$(tr -d ' ' <"/proc/$qosd/task/$qosd/children") && [ -n "$helper" ] &&
		cat "/proc/$helper/status" >helper 2>/dev/null &&
		{ grep -qE '^Seccomp_filters:[[:space:]]*3$' helper || [ "$filter" = 0 ]; }
}
if [ "$simulator" = qosd-sim ]; then
	until_ 10 discovers || bad "no discovery that has locked itself up: $(<"$qosd_log")"
	expect "of it: capabilities, no_new_privs, filter" "$none $none $none 1 $filter" "$(sed -nE \
		's/^(CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp):[[:space:]]*//p' helper | paste -s -d ' ')"
else
	note "ibsim says at once who does not answer: it is over before it can be looked at"
fi
lose "$host" 0
until_ 60 subnet_up || fail "the subnet does not come up"

# promise: L1
note "the daemon"
expect "no_new_privs" 1 "$(of "$qosd" NoNewPrivs)"
expect "system calls are filtered" "$filter" "$(of "$qosd" Seccomp)"
for set in CapEff CapPrm CapAmb; do
	expect "$set" "$none" "$(of "$qosd" "$set")"
done
[ "$(id -u)" -ne 0 ] || expect "CapBnd" "$none" "$(of "$qosd" CapBnd)"
expect_match "the log" "sandbox: no capabilities; system calls are (not )?filtered" "$(<"$qosd_log")"

# promise: L1
note "it works so"
is_seen() { ctl nodes | grep -qi "${host#H-}"; }
until_ 30 is_seen || bad "the host that was silent is not seen"
settled() { status_is sweeping=false subnet-up=true; }
until_ 30 settled || bad "no end of sweeps"
all_active "$host" fat.topo
until_ 10 test -s hook.status || bad "the command is not run: $(<"$qosd_log")"
expect "what the command has" "$none $none 1 $filter" \
	"$(sed 's/.*:[[:space:]]*//' hook.status | paste -s -d ' ')"
reload || bad "the policy is not taken: $(<reload)"
kill -HUP "$qosd"
read_twice() { [ "$(ctl -j events --kind policy-in-force | grep -c .)" -ge 3 ]; }
until_ 10 read_twice || bad "SIGHUP is not heard: $(ctl events)"
port=$(sed -nE 's/.* metrics: .* port ([0-9]+)$/\1/p' "$qosd_log")
expect "by HTTP" 200 "$(curl -s -o page -w '%{http_code}' "http://127.0.0.1:$port/metrics")"
expect "to be changed by HTTP" 405 "$(curl -s -o page -w '%{http_code}' -d x "http://127.0.0.1:$port/metrics")"
ctl -j policy show >/dev/null || bad "policy show"
unplug "$host"
link_went() { ctl events | grep -q ' node-went '; }
until_ 20 link_went || bad "a host that goes is not seen: $(ctl events)"
plug "$host"
link_came() { ctl events | grep -q ' node-came '; }
until_ 20 link_came || bad "a host that comes is not seen: $(ctl events)"
lid_map "$host" >lids.before
stop_qosd || bad "exit status $? after SIGTERM"
expect "calls that it refused itself" "" "$(grep 'refused itself' "$qosd_log")"
start_and_wait "$node" -c qosd.yaml -p policy.yaml
lid_map "$host" >lids.after
expect_same "LIDs by the state folder" lids.before lids.after
stop_qosd || bad "exit status $? after SIGTERM"

note "switched off"
settings "sandbox: off"
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect "no filter but the test's own" "$(of $$ Seccomp) $(of $$ NoNewPrivs) $(of $$ CapEff)" \
	"$(of "$qosd" Seccomp) $(of "$qosd" NoNewPrivs) $(of "$qosd" CapEff)"
expect_match "the log" "sandbox: off" "$(<"$qosd_log")"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: L2
note "a group that is not there"
settings "ctl-admin-group: no-such-group"
on_own "$node" "$build/qosd" --check -c qosd.yaml -p policy.yaml >out 2>&1
expect "--check" 1 $?
expect "why" "qosd.yaml:6:18: error: there is no group 'no-such-group' on this system" "$(<out)"
on_own "$node" "$build/qosd" -F -s none.sock -d none -c qosd.yaml -p policy.yaml >out 2>&1
expect "the daemon" 1 $?
expect_match "why" "qosd.yaml:6:18: there is no group 'no-such-group' on this system.*not started: qosd.yaml" "$(tr '\n' ' ' <out)"

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	note "not root, or no setpriv: can't be another user"
	exit
fi
chmod 755 .	# and relative names, because other users may not enter the folders above
cp "$build/qosd-ctl" . && chmod 755 qosd-ctl
# as_user UID GID GROUPS COMMAND...: runs qosd-ctl as that user; prints its exit status; its output is in out.
# Sanitizer options name files that other users cannot read.
plain=(env -u ASAN_OPTIONS -u LSAN_OPTIONS -u TSAN_OPTIONS)
as_user() {
	local id=(--reuid "$1" --regid "$2" --clear-groups)
	[ -z "$3" ] || id=(--reuid "$1" --regid "$2" --groups "$3")
	"${plain[@]}" setpriv "${id[@]}" ./qosd-ctl -s qosd.sock "${@:4}" >out 2>&1
	echo $?
}

# promise: L2
note "the socket without groups"
settings
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect "its mode" 660 "$(stat -c %a "$sock")"
expect "status, by who may not connect" 2 "$(as_user 65534 65534 "" status)"
expect_match "why" "qosd.sock: not permitted to uid 65534, gid 65534: this needs root, .*ctl-read-group" "$(<out)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: L2
note "a group that may look, and one that may all"
settings "ctl-read-group: 12001" "ctl-admin-group: 12002"
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect "its mode" 666 "$(stat -c %a "$sock")"
for command in status nodes health metrics "policy show" events; do
	# shellcheck disable=SC2086 # a command of two words
	expect "$command, by who may look" 0 "$(as_user 65534 65534 12000,12001 $command)"
done
expect "by the first of its groups" 0 "$(as_user 65534 12001 "" status)"
for command in sweep reload "priority 3" "policy revert" sa-trace "policy load policy.yaml"; do
	# shellcheck disable=SC2086
	expect "$command, by who may look" 1 "$(as_user 65534 65534 12000,12001 $command)"
	expect_match "why" "not permitted to uid 65534, gid 65534: this needs the group 12002, root or" "$(<out)"
	# shellcheck disable=SC2086
	expect "$command, by who may nothing" 1 "$(as_user 65534 65533 12000 $command)"
done
expect "status, by who may nothing" 1 "$(as_user 65534 65533 12000 status)"
expect_match "why" "status: not permitted to uid 65534, gid 65533: this needs the group 12001 or 12002, root or" "$(<out)"
priority=$(status priority)
expect "priority, by who may all" 0 "$(as_user 65534 65534 12002 priority 7)"
expect "priority, before and after" "0 7" "$priority $(status priority)"
expect "sweep, by who may all" 0 "$(as_user 1234 12002 "" sweep)"
expect "status, by root" 0 "$(as_user 0 0 "" status)"
expect "sweep, by root" 0 "$(as_user 0 0 "" sweep)"
# as_gateway USER GROUP GROUPS COMMAND ARGS: asks on behalf of somebody.
cp "$top/tests/tools/ask-for.pl" .
as_gateway() { "${plain[@]}" setpriv --reuid "$1" --regid "$2" --groups "$3" perl ask-for.pl qosd.sock alice "${@:4}"; }
expect_match "for another, by who may all" '"ok":true' "$(as_gateway 1234 12002 12002 priority '{"priority": 7}')"
expect_match "the event" " by user 1234, on behalf of alice\$" "$(ctl events --kind operator-command -n 1)"
expect_match "for another, by who may look" '"ok":false.*only administrators may ask for others' "$(as_gateway 65534 12001 12001 status '{}')"
# following events takes the read group only
"${plain[@]}" setpriv --reuid 65534 --regid 65534 --groups 12001 ./qosd-ctl -s qosd.sock events --follow >followed 2>&1 &
follower=$!
pids+=("$follower")
unplug "$host"
until_ 20 grep -q node-went followed || bad "events are not told: $(<followed)"
plug "$host"
end "$follower"
expect_match "the log" "warning: ctl: sweep: not permitted to uid 65534, gid 65534: this needs the group 12002" \
	"$(<"$qosd_log")"
for _ in {1..40}; do
	as_user 65534 65534 12000 sweep >/dev/null
done
expect_less "lines of log for 40 tries" 30 "$(grep -c 'sweep: not permitted' "$qosd_log")"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: J15
note "a group that may ask for others"
settings "ctl-admin-group: 12002" "ctl-gateway-group: 12003"
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect_match "by an administrator" '"ok":false.*uid 1234 may not ask for others: this needs the group 12003, root or' \
	"$(as_gateway 1234 12002 12002 priority '{"priority": 7}')"
expect_match "by the gateway" '"ok":true' "$(as_gateway 1235 12002 12003 forget '{"all": true}')"
expect_match "by the gateway without the right" '"ok":false.*not permitted to uid 1235' "$(as_gateway 1235 12003 12003 sweep '{}')"
expect_match "by root" '"ok":true' "$(as_gateway 0 0 12000 priority '{"priority": 7}')"
expect_match "the log" "warning: ctl: on-behalf-of: uid 1234 may not ask" "$(<"$qosd_log")"
expect_match "accepted" '"ok":true' "$(as_gateway 1235 12002 12003 accept '{}')"
expect "who accepted it" '[1235,"alice"]' "$(ctl -j status | jq -c '.topology | [.uid, ."on-behalf-of"]')"
expect_match "the event" " by user 1235, on behalf of alice\$" "$(ctl events --kind topology-accepted -n 1)"
expect_match "the log" "topology: the fabric as it is .*; user 1235, on behalf of alice" "$(<"$qosd_log")"
expect_match "a reload" '"ok":true' "$(as_gateway 1235 12002 12003 reload '{}')"
loader() { ctl -j status | jq -c '.policy | [.uid, ."on-behalf-of"]'; }
is_loader() { [ "$(loader)" = "$1" ]; }
until_ 20 is_loader '[1235,"alice"]' || bad "who reloaded: $(loader)"
reloaded() { ctl -j policy history | jq -c '[.history[] | select(.change == "reload") | [.uid, ."on-behalf-of"]][0]'; }
expect "the history of policies" '[1235,"alice"]' "$(reloaded)"
expect_match "as text" " reload .* 1235 .*policy.yaml; on behalf of alice\$" "$(ctl policy history | sed -n 2p)"
expect_match "the event" " by user 1235, on behalf of alice\$" "$(ctl events --kind policy-loaded -n 1)"
stop_qosd || bad "exit status $? after SIGTERM"
start_and_wait "$node" -c qosd.yaml -p policy.yaml
expect "after a restart" '[1235,"alice"]' "$(ctl -j status | jq -c '.topology | [.uid, ."on-behalf-of"]')"
expect "the history after a restart" '[1235,"alice"]' "$(reloaded)"
stop_qosd || bad "exit status $? after SIGTERM"
