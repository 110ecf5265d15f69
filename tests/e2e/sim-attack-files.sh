#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that no file, disk or reader can stop the daemon.  The policy file is a FIFO, a device, a
# folder, huge, empty, truncated or missing, or hangs as on a dead file server.  The disks of the
# state folder, the control socket and the event command hang, and so does the directory service.
# Nothing reads the log or the messages to systemd.  The control socket's folder vanishes.  Hundreds
# of HTTP clients send slowly.  The daemon must serve, answer commands, keep its policy and end on a
# signal.
#
#   ATTACK_SECONDS=N	duration of the attack on the policy file
#   ATTACK_SEED=N	seed of its order
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "what is attacked are files: one simulator will do"
faulty=$tools/faultydisk.so
[ -f "$faulty" ] || { echo "$faulty is missing: make check-programs"; exit 1; }
seconds=$(attack_seconds 3)
seed=${ATTACK_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$seed
echo "seed $seed"

"$tools/gentopo" fat-tree --levels 2 --radix 4 >fat.topo || fail "gentopo"
sm=$(first_ca fat.topo) host=$(cas fat.topo | tail -n 1)
policy() {	# policy SL
	cat <<-END
	# so that there is something to be cut off
	qos-levels:
	  default: {sl: 0}
	  storage: {sl: $1}
	match-rules:
	  - {service-id: 22, level: storage}
	...
	END
}
cat >hook <<END
#!/bin/bash
if : <"/proc/\$PPID/mem"; then echo open; else echo denied; fi >$work/memory.new 2>/dev/null
mv $work/memory.new $work/memory
END
chmod +x hook
cat >qosd.yaml <<END
smp-timeout: 50ms
metrics-listen: 127.0.0.1:0
event-command: [$work/hook]
END

# run_faulty [VARIABLE=VALUE...] [-- OPTION...]: starts qosd with a disk that can hang.
# start_faulty ...: does the same and waits until the subnet is up.
run_faulty() {
	local as=(env)
	while [ $# -gt 0 ] && [ "$1" != -- ]; do as+=("$1"); shift; done
	[ $# -eq 0 ] || shift
	as+=(SIM_HOST="$sm" QOSD_SIM_NODE="$sm" LD_PRELOAD="${own_preload% *} $faulty ${own_preload##* }")
	qosd_log=$work/qosd.log.$((++qosd_starts))
	"${as[@]}" "$build/qosd" -F -s "$sock" -d "$work/state" -c qosd.yaml -p policy.yaml "$@" 2>"${log_to:-$qosd_log}" &
	qosd=$!
	pids+=("$qosd")
}
start_faulty() {
	run_faulty "$@"
	until_ 30 subnet_up || fail "the subnet does not come up"
}
now_us() { echo "${EPOCHREALTIME/./}"; }
# ends_within MILLISECONDS WHAT [STATUS]: sends SIGTERM; qosd must end in time with this status, default 0.
ends_within() {
	local begin status wanted=${3:-0}
	begin=$(now_us)
	kill -TERM "$qosd"
	until_ $(($1 / 500 + 1)) gone "$qosd" || bad "$2: it does not end"
	expect_quick "its end, with $2" "$1" "$begin"
	end "$qosd" KILL
	status=$?
	expect "$2: exit status" "$wanted" $status
}
slid=0 dlid=0
answer() { record "$host" --slid $slid --dlid $dlid --service_id 22; }
# find_lids: sets slid and dlid to the LIDs of two hosts.
find_lids() {
	slid=$(port_info "$host" "0x${host#H-}" 1 Lid)
	dlid=$(port_info "$host" "0x${sm#H-}" 1 Lid)
}
answered() { answer | grep -q "sl=$1 "; }
# serves WHAT: qosd must answer commands and queries, by its former policy.
serves() {
	local begin
	begin=$(now_us)
	expect "$1: the policy in force" "$checksum" "$(status checksum)"
	expect_quick "status, with $1" 1000 "$begin"
	expect_match "a query, with $1" "sl=2 " "$(answer)"
}

# the daemon gives up waiting before the test ends
touch no-groups
printf 'ctl-read-group: daemon\nctl-admin-group: 7\n' >groups.yaml
policy 2 >policy.yaml
cp policy.yaml checked.yaml	# because the attack may replace policy.yaml before it is read
# The exit status goes to a file, because the shell forgets the process after thousands of others.
{
	LD_PRELOAD="${own_preload% *} $faulty" FAULTY_GROUP=daemon FAULTY_GROUP_WHILE=no-groups \
		"$build/qosd" --check -c groups.yaml -p checked.yaml >groups.out 2>&1
	echo $? >groups.status
} &
pids+=("$!")

# promise: A50
note "files that are none"
start_sim fat.topo
start_faulty FAULTY_READ=policy.yaml FAULTY_READ_WHILE="$work/away"
sleep_until_known() { find_lids && answered 2; }
until_ 10 sleep_until_known || bad "no path: $(answer)"
checksum=$(status checksum)
# attack KIND: makes the policy file one of this kind; sets $said to the expected message.
attack() {
	rm -rf policy.yaml
	case $1 in
	fifo) mkfifo policy.yaml && said="it is a FIFO" ;;
	zero) ln -s /dev/zero policy.yaml && said="it is a device" ;;
	folder) mkdir policy.yaml && said="it is a directory" ;;
	socket)
		perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => "policy.yaml")'
		said="it is a socket"
		;;
	huge) truncate -s 3G policy.yaml && said="too large: 3221225472 bytes" ;;
	memory) ln -s /proc/self/mem policy.yaml && said="cannot be read" ;;
	cycle) ln -s policy.yaml policy.yaml && said="cannot be opened" ;;
	gone) said="No such file" ;;
	empty) : >policy.yaml && said="is empty" ;;
	comment) echo "# nothing" >policy.yaml && said="is empty" ;;
	cut) policy 2 | head -c $((RANDOM % ($(policy 2 | wc -c) - 1))) >policy.yaml && said="" ;;
	hangs) policy 3 >policy.yaml && touch away && said="the disk or file server did not answer for 5 s" ;;
	esac
}
kinds=(fifo zero folder socket huge memory cycle gone empty comment cut cut)
[ -z "${ATTACK_SECONDS:-}" ] || kinds+=(hangs)
end_us=$(($(now_us) + seconds * 1000000)) attacks=0
while [ "$(now_us)" -lt "$end_us" ] || [ $attacks -lt ${#kinds[@]} ]; do
	kind=${kinds[$((attacks < ${#kinds[@]} ? attacks : RANDOM % ${#kinds[@]}))]}
	attacks=$((attacks + 1))
	attack "$kind"
	[ $((RANDOM % 4)) -gt 0 ] || kill -HUP "$qosd"
	begin=$(now_us)
	expect "$kind: exit status of reload" 1 "$(ctl reload >out 2>&1; echo $?)"
	[ "$kind" = hangs ] || expect_quick "refusing $kind" 2000 "$begin"
	expect_match "$kind: why" "policy.yaml.*: error: .*$said" "$(<out)"
	if [ "$kind" != hangs ]; then
		begin=$(now_us)
		timeout 20 "$build/qosd" --check -c qosd.yaml -p policy.yaml >out 2>&1
		status=$?
		case $kind$status in
		empty0 | comment0 | cut[01]) ;;
		*) expect "$kind: --check" 1 $status ;;
		esac
		expect_quick "--check of $kind" 2000 "$begin"
	fi
	serves "$kind"
	rm -f away
done
echo "$attacks attacks"
mkfifo topology
rm -rf policy.yaml && policy 2 >policy.yaml
timeout 20 "$build/qosd" --check -c qosd.yaml -p policy.yaml -T topology >out 2>&1
expect "a topology that is a FIFO: --check" 1 $?
expect_match "why" "topology: error: .*it is a FIFO" "$(<out)"
ctl reload >out 2>&1 || bad "the file as it was is refused: $(<out)"

# promise: A51
note "a file that is cut off, by the settings"
policy 2 | sed '$d' >unmarked.yaml
echo 'policy-end-marker: true' >marked-settings.yaml
"$build/qosd" --check -c marked-settings.yaml -p unmarked.yaml >out 2>&1
expect "--check" 1 $?
expect_match "why" "unmarked.yaml: error: does not end with a line '...', which 'policy-end-marker'" "$(<out)"
"$build/qosd" --check -c marked-settings.yaml -p policy.yaml >out 2>&1 || bad "a whole one: $(<out)"
expect "exit status of load" 1 "$(ctl policy load unmarked.yaml >out 2>&1; echo $?)"
expect_match "why" "as the policy in force does: it may be truncated" "$(<out)"
expect "exit status of plan" 1 "$(ctl plan unmarked.yaml >out 2>&1; echo $?)"
expect_match "why" "as the policy in force does: it may be truncated" "$(<out)"
echo 'policy: none' >none.yaml
"$build/qosd" --check -c none.yaml -p missing.yaml >out 2>&1 || bad "no policy, and none asked for: $(<out)"

# promise: A52
note "a policy is installed whole"
policy 3 >new.yaml
expect "exit status of a cut-off one" 1 "$(ctl policy install unmarked.yaml >out 2>&1; echo $?)"
expect "what there is of it" "policy.yaml" "$(echo policy.yaml*)"
chmod 640 policy.yaml
ctl policy install new.yaml >out 2>&1 || bad "refused: $(<out)"
expect "what is said" "installed $work/policy.yaml; the policy was accepted
the previous file is kept as $work/policy.yaml.before" "$(head -n 2 out)"
expect "the file" "$(<new.yaml)" "$(<policy.yaml)"
expect "the one before" "$(policy 2)" "$(<policy.yaml.before)"
expect "its mode" 640 "$(stat -c %a policy.yaml)"
expect "what else there is" "policy.yaml policy.yaml.before" "$(echo policy.yaml*)"
until_ 10 answered 3 || bad "it is not in force"
ctl policy install <(policy 2) >out 2>&1 || bad "refused: $(<out)"
until_ 10 answered 2 || bad "it is not in force"
checksum=$(status checksum)

# promise: A81
note "a file that can't be read any more when it is installed: the one before is back"
echo 5 >away	# EIO
inode=$(stat -c %i policy.yaml) installed=$(<policy.yaml)
expect "exit status" 1 "$(ctl policy install new.yaml >out 2>&1; echo $?)"
expect_match "why" "Input/output error.*policy.yaml is unchanged" "$(tr '\n' ' ' <out)"
expect "the file" "$inode $installed" "$(stat -c %i policy.yaml) $(<policy.yaml)"
expect "what else there is" "policy.yaml policy.yaml.before" "$(echo policy.yaml*)"
serves "a file that could not be installed"
rm away
ctl reload >out 2>&1 || bad "refused: $(<out)"
mv policy.yaml other.yaml
echo 5 >away
expect "exit status, where there was none" 1 "$(ctl policy install new.yaml >out 2>&1; echo $?)"
expect "the file" "no" "$([ -e policy.yaml ] && echo yes || echo no)"
mv other.yaml policy.yaml
rm away

# promise: A50
note "a file that hangs, and the end"
touch away
reloads=()
for i in 1 2 3; do
	ctl reload >"reload.$i" 2>&1 &
	reloads+=($!)
done
kill -HUP "$qosd"
refused() { grep -qs "are in progress" reload.[123]; }	# when the files are there
until_ 4 refused || bad "a third request is not refused"
serves "a file that hangs"
ends_within 1000 "a file that hangs"
rm -f away
wait "${reloads[@]}"

# promise: A80
note "a state folder that hangs at the start, and the end"
touch hang
run_faulty FAULTY_READ="$work/state" FAULTY_READ_WHILE="$work/hang"
until_ 10 grep -qs sandbox "$qosd_log" || bad "it does not get there"
ends_within 1000 "a state folder that hangs at the start" 143
rm hang

# promise: A53 A80
note "a disk that hangs, and the end"
start_faulty FAULTY_FOLDER="$work/state" FAULTY_HANG="$work/hang" FAULTY_READ="$sock" \
	FAULTY_READ_WHILE="$work/hang"
until_ 10 answered 2 || bad "no path"
touch hang
ctl reload >out 2>&1 || bad "the reload is refused: $(<out)"
hangs() { ctl status | grep -q "write stalled for"; }
until_ 10 hangs || bad "that the disk hangs is not said: $(ctl status)"
serves "a disk that hangs"
ends_within 1000 "a disk that hangs"
expect_match "the log" "write stalled; not waiting any longer" "$(<"$qosd_log")"
rm -f hang

# promise: A80
note "an event command whose disk hangs, and the end"
# an open() blocks until another process gives up its lease on the file
perl -MFcntl=F_SETLEASE,F_WRLCK -e '
	open(F, "+<", "hook") && fcntl(F, F_SETLEASE, F_WRLCK) or die; $SIG{IO} = "IGNORE";
	$| = 1; print "held\n"; sleep 1 while 1' >lease &
lease=$!
pids+=("$lease")
until_ 10 grep -q held lease || bad "no lease"
rm -f memory
start_faulty
until_ 10 answered 2 || bad "no path"
ctl reload >out 2>&1 || bad "the reload is refused: $(<out)"
executing() { ps -o args= --ppid "$qosd" | grep -q "^qosd-event"; }
until_ 5 executing || bad "no command is being started"
serves "an event command whose disk hangs"
ends_within 1000 "an event command whose disk hangs"
end "$lease" KILL
expect "what was run of it" "no" "$([ -e memory ] && echo yes || echo no)"

# promise: A54 A80
note "nobody reads the log, nor what systemd is told"
perl -MIO::Socket::UNIX -e '
	$s = IO::Socket::UNIX->new(Type => SOCK_DGRAM, Local => "notify") or die; sleep 1 while 1' &
pids+=($!)
until_ 5 test -S notify || bad "not a socket"
mkfifo log
exec {reader}<>log
log_to=log start_faulty NOTIFY_SOCKET="$work/notify" -- --verbose
until_ 10 answered 2 || bad "no path"
perl -MFcntl -e 'sysopen(F, "log", O_WRONLY | O_NONBLOCK) or die; 1 while syswrite(F, "\n")'	# a pipe holds 64 KiB
for _ in {1..20}; do	# a socket keeps 11 datagrams
	begin=$(now_us)
	ctl sweep >out 2>&1 || bad "sweep: $(<out)"
	ctl reload >out 2>&1 || bad "reload: $(<out)"
	expect_quick "commands whose log nobody reads" 1000 "$begin"
done
serves "a log that nobody reads"
ends_within 1000 "a log that nobody reads"
exec {reader}>&-

# promise: A56
note "the socket's folder vanishes"
mkdir run
sock_before=$sock sock=$work/run/qosd.sock
start_faulty
rm -rf run
until_ 10 subnet_up || bad "no socket any more: $(tail -n 3 "$qosd_log")"
until_ 10 answered 2 || bad "no path"
serves "a socket in a new folder"
expect_match "the log" "qosd.sock was removed: clients cannot connect" "$(<"$qosd_log")"

# promise: A55
note "400 HTTP clients that drip"
port=$(sed -nE 's/.* metrics: .* port ([0-9]+)$/\1/p' "$qosd_log")
perl -MIO::Socket::INET -e '
	$SIG{PIPE} = "IGNORE"; $| = 1;
	sub one { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$ARGV[0]", Timeout => 5); $s->blocking(0) if $s; $s }
	my @s = map { one() } 1 .. 400;
	print "there\n";
	while (getppid() != 1) {
		for (@s) { $_ = one() unless $_ && defined syswrite($_, "G") && !defined sysread($_, my $x, 1) && $!{EAGAIN} }
		select(undef, undef, undef, 0.05);
	}' "$port" >drips 2>&1 &
drips=$!
pids+=("$drips")
until_ 10 grep -qs there drips || bad "no clients: $(<drips)"
# Newcomers displace the oldest connections; on a busy machine, one of them may be curl's before it has sent
# its request.
scrape() {
	begin=$(now_us)
	[ "$(curl -s -m 20 -o page -w '%{http_code}' "http://127.0.0.1:$port/metrics")" = 200 ]
}
for i in 1 2 3 4 5 6 7 8; do
	look_busy
	for ((tries = patience / slow; tries > 0; tries--)); do scrape && break; done
	[ "$tries" -gt 0 ] || bad "scrape $i gets no page"
	expect_quick "scrape $i" 1000 "$begin"
done
serves "clients that drip"
end "$drips" KILL

# promise: A80
note "a directory service that does not answer"
until_ 60 test -s groups.status || bad "--check does not end"
expect "exit status of --check" 0 "$(<groups.status)"
expect_match "what it says" "groups.yaml:1:17: warning: the group 'daemon' cannot be looked up: .*timed out" \
	"$(<groups.out)"

# promise: A57
note "memory that an event command can't read"
until_ 10 test -s memory || bad "the command is not run"
if [ "$slow" -eq 1 ]; then
	expect "the daemon's memory" denied "$(<memory)"
fi

# promise: A56
note "a client that follows a daemon that is stopped"
ctl -t 1 events --follow >followed 2>&1 &
follower=$!
pids+=("$follower")
until_ 5 test -s followed || bad "nothing to follow"
kill -STOP "$qosd"
until_ 20 gone "$follower" || bad "it follows for ever"
end "$follower"
status=$?
expect "its exit status" 2 $status
expect_match "why" "does not answer" "$(tail -n 1 followed)"
kill -CONT "$qosd"
ends_within 1000 "all that behind it"

# promise: L1
note "a thread that waits for a directory service"
start_faulty FAULTY_GROUP=daemon FAULTY_GROUP_WHILE="$work/no-groups" -- -c groups.yaml
waits() { grep -q "group 'daemon' cannot be looked up: .*timed out" "$qosd_log"; }
waits || bad "the log: $(<"$qosd_log")"
expect "the capabilities of all threads" "$(printf '%016x' 0)" \
	"$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$qosd/task/"*/status | sort -u)"
ends_within 1000 "a directory service that does not answer"
sock=$sock_before
stop_sim
