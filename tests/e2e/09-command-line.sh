#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the command lines of qosd and qosd-ctl: options, files that exist, are missing or
# are broken, exit statuses, running in the background, signals, notification of systemd.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
policy=$top/etc/policy.yaml

# run COMMAND...: prints the command's exit status; the command's output is in the file out.
run() { timeout $((15 * slow)) "$@" >out 2>&1 </dev/null; echo $?; }
run_and_tell() { local as; as_own "$node"; run "${as[@]}" "$@"; }	# the same on $node

note "usage"
expect "--help" 0 "$(run "$build/qosd" --help)"
for option in --config --policy --foreground --socket --state-dir --guid --once --check \
	--topology --verbose; do
	expect_match "--help" "$option" "$(<out)"
done
expect "--version" 0 "$(run "$build/qosd" --version)"
expect_match "--version" "^qosd [0-9]" "$(<out)"
expect "an unknown option" 2 "$(run "$build/qosd" --frobnicate)"
expect "an argument" 2 "$(run "$build/qosd" -n file)"
expect "a GUID that is none" 2 "$(run "$build/qosd" -g port1)"
expect "qosd-ctl --help" 0 "$(run "$build/qosd-ctl" --help)"
expect "qosd-ctl without command" 1 "$(run "$build/qosd-ctl" -s none)"
expect "qosd-ctl, unknown command" 1 "$(run "$build/qosd-ctl" -s none frobnicate)"
expect "qosd-ctl without daemon" 2 "$(run "$build/qosd-ctl" -s none status)"
expect_match "reason" "none" "$(<out)"

note "--check"
expect "the shipped files" 0 "$(run "$build/qosd" --check -c "$top/etc/qosd.yaml" -p "$policy")"
expect "words on the shipped files" "" "$(<out)"
expect "the demo's policy" 0 "$(run "$build/qosd" --check -p "$top/examples/demo-policy.yaml")"
expect "normal form" 0 "$(run "$build/qosd" -n -v -p "$policy")"
mv out normal.yaml
expect "normal form of the normal form" 0 "$(run "$build/qosd" -n -v -p normal.yaml)"
expect_same "normal form of the normal form" normal.yaml out
printf 'qos-levels:\n  default: {sl: 16}\n  a: {sl: x, sl: 1}\nmatch-rules: 5\nfrobnicate: 1\n' >broken.yaml
expect "a broken policy" 1 "$(run "$build/qosd" -n -p broken.yaml)"
for where in 2:17 3:11 3:14 4:14 5:1; do
	expect_match "a broken policy" "broken.yaml:$where: error: " "$(<out)"
done
printf 'lmc: 9\n' >broken-settings.yaml
expect "broken settings" 1 "$(run "$build/qosd" -n -c broken-settings.yaml -p "$policy")"
expect_match "broken settings" "broken-settings.yaml:1:6: error: " "$(<out)"
printf 'port-groups:\n  unused: {port-guids: 0x1}\n' >warned.yaml
expect "a policy with a warning" 0 "$(run "$build/qosd" -n -p warned.yaml)"
expect_match "a policy with a warning" "^warned.yaml:2:3: warning: " "$(<out)"
for option in -c -p; do
	expect "a named file that is missing ($option)" 1 "$(run "$build/qosd" -n $option missing.yaml)"
	expect_match "a named file that is missing ($option)" "missing.yaml: error: .*No such file" "$(<out)"
done

note "a daemon that can't start"
start_sim "$topology"
cannot() {	# cannot WHAT REASON OPTION...
	expect "$1" 1 "$(run_and_tell "$build/qosd" -s "$sock" -d state "${@:3}")"
	expect_match "$1" "$2" "$(<out)"
}
# a daemon that stays starts without such a policy file: see 05-reload.sh
cannot "missing policy" "missing.yaml.*No such file" -1 -p missing.yaml
cannot "broken policy" "error: .*broken.yaml:2:17: " -1 -p broken.yaml
for mode in -F -1 ""; do
	cannot "missing settings, $mode" "missing.yaml.*No such file" $mode -c missing.yaml
	cannot "broken settings, $mode" "error: .*broken-settings.yaml:1:6: " $mode -c broken-settings.yaml
	cannot "no such port, $mode" "0x0*1234" $mode -g 0x1234
	cannot "no place for the socket, $mode" "nowhere/sock" $mode -s nowhere/sock
	cannot "no place for the state, $mode" "/dev/null" $mode -d /dev/null
done

note "--once"
expect "--once" 0 "$(run_and_tell "$build/qosd" --once -s "$sock" -d state -p "$policy")"
expect_match "its summary" "master: 63 nodes, 8 switches, 204 of 204 ports active" "$(<out)"
all_active "$node" "$topology"
[ ! -e "$sock" ] || bad "--once left its socket"

note "in the background"
expect "the first process" 0 "$(run_and_tell "$build/qosd" --socket "$sock" \
	--state-dir state --policy "$policy" --guid 0xf452140300811201)"
expect "state when it has ended" master "$(status state)"
expect "subnet up when it has ended" true "$(status subnet-up)"
daemon=$(pgrep -f -- "--socket $sock --state-dir state")
case $daemon in
*[!0-9]* | '') bad "the daemon's process is not one: '$daemon'" ;;
*)
	expect "its session" "$daemon" "$(ps -o sid= -p "$daemon" | tr -d ' ')"
	kill "$daemon"
	until_ 10 gone "$daemon" || { bad "the daemon does not end"; kill -KILL "$daemon"; }
	[ ! -e "$sock" ] || bad "the daemon left its socket"
	;;
esac

note "signals"
for signal in TERM INT; do
	start_and_wait "$node" -p "$policy"
	stop_qosd $signal
	expect "exit status after SIG$signal" 0 $?
	[ ! -e "$sock" ] || bad "the socket is left after SIG$signal"
done
start_qosd "$node" -p "$policy"	# while it discovers
sleep 0.01
stop_qosd TERM
status=$?
[ $status -eq 0 ] || [ $status -eq 143 ] || bad "exit status $status after an early SIGTERM"
# ibsim may wait forever for a client that ended while it connected.
stop_sim
start_sim "$topology"

# The qosd-ctl under test; ctl may use the one of QOSD_ASKING, which is not sanitized.
printed() { "$build/qosd-ctl" -s "$sock" "$@" >printed 2>&1; }
# promise: O3
note "each command that only prints, as text and as JSON"
start_and_wait "$node" -p "$policy"
host=$(ctl ports | awk '$2 ~ /^[0-9]+$/ { print $2; exit }') other=$(ctl ports | awk '$2 ~ /^[0-9]+$/ { l = $2 } END { print l }')
while read -r command; do
	read -ra words <<<"$command"
	for as in "" -j; do
		# health exits with 1 or 2 if the subnet has problems
		printed $as "${words[@]}" || [ "$command" = health ] || bad "qosd-ctl $as $command: $(head -n 3 printed)"
		[ -s printed ] || bad "qosd-ctl $as $command prints nothing"
	done
done <<END
status
health
metrics
nodes
ports
route $host $other
routes --gauge
sl2vl $host
vlarb $host
explain $host $other
explain $host $other --why-not
bandwidth
bandwidth $host $other
counters
counters $host
sa-stats
events
mcast
holdings
services
subscriptions
plan $policy
policy show
policy show --normal
policy history
partition show
partitions
sweep steps
END
stop_qosd

# promise: D62 A56
note "a daemon that is stopped"
start_and_wait "$node" -p "$policy"
now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }
ctl events --follow >followed 2>&1 &
follower=$!
pids+=("$follower")
until_ 5 test -s followed
kill -STOP "$qosd"
begin=$(now_ms)
expect "status of a stopped daemon" 2 "$(run "$build/qosd-ctl" -s "$sock" --timeout 1 status)"
expect_match "reason" "$sock does not answer: it has sent nothing for 1 s" "$(<out)"
[ $(($(now_ms) - begin)) -ge 1000 ] || bad "the limit of 1 s was over after $(($(now_ms) - begin)) ms"
for i in {1..40}; do	# until no more connections are taken, either
	timeout $((15 * slow)) "$build/qosd-ctl" -s "$sock" -t 1 nodes 2>"stopped.$i" &
	asking[i]=$!
done
for i in {1..40}; do
	wait "${asking[i]}"
	expect "exit status of $i" 2 $?
done
expect "reasons" 40 "$(cat stopped.* | grep -c 'does not answer')"
kill -CONT "$qosd"
expect "status when it goes on" 0 "$(run "$build/qosd-ctl" -s "$sock" status)"
! gone "$follower" || bad "who follows events was not to wait for the first one"
stop_qosd
expect "a limit that is none" 1 "$(run "$build/qosd-ctl" -t soon status)"

note "word to systemd"
perl -MSocket -MIO::Socket::UNIX -e '
	$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "notify") or die;
	$| = 1; print "$_\n" while defined $s->recv($_, 4096);' >notify.log &
listener=$!
pids+=("$listener")
until_ 5 test -S notify
NOTIFY_SOCKET=$work/notify WATCHDOG_USEC=1000000 start_and_wait "$node" -p "$policy"
reload || bad "refused: $(cat reload)"
kill -HUP "$qosd"
reloaded() { sed -n '/RELOADING/,$p' notify.log | grep -q READY; }
until_ 5 reloaded || bad "nothing said of the reload, or of its end"
alive_twice() { [ "$(grep -c WATCHDOG=1 notify.log)" -ge 2 ]; }
until_ 5 alive_twice || bad "the watchdog is not told that the loop runs"
stop_qosd
expect_match "said" "READY=1.*STATUS=master.*RELOADING=1.*READY=1.*STOPPING=1" "$(tr '\n' ' ' <notify.log)"

note "an ordinary user's qosd-ctl"
start_and_wait "$node" -p "$policy"
if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .	# and relative names, because user nobody may not enter the folders above
	# user nobody may not read a sanitizer build's suppressions either, which qosd-ctl does not need
	nobody=(env -u ASAN_OPTIONS -u LSAN_OPTIONS -u TSAN_OPTIONS setpriv --reuid 65534 --regid 65534 --clear-groups)
	cp "$build/qosd-ctl" . && chmod 755 qosd-ctl
	expect "status, by who may not connect" 2 "$(run "${nobody[@]}" ./qosd-ctl -s qosd.sock status)"
	chmod 666 "$sock"
	expect "status" 0 "$(run "${nobody[@]}" ./qosd-ctl -s qosd.sock status)"
	expect "reload" 1 "$(run "${nobody[@]}" ./qosd-ctl -s qosd.sock reload)"
	expect_match "reload" "not permitted" "$(<out)"
	expect "sweep" 1 "$(run "${nobody[@]}" ./qosd-ctl -s qosd.sock sweep)"
else
	note "not root: can't be another user"
fi
stop_qosd || bad "exit status $? after SIGTERM"
