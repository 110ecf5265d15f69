# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Virtual machines (scripts/vm) on a fabric of qosd-sim: starts them, and runs commands in them.  Part of the common
# code of the tests with the real kernel, and of the end-to-end tests with QOSD_SIMULATOR=kernel; it uses functions of
# tests/e2e/lib.sh.
#
# A machine is a child of the test, which ends it on exit; every wait is bounded.  Without QEMU or the kernel's
# packages the test is skipped.
# shellcheck disable=SC2154 # $top, $work and others are of tests/e2e/lib.sh
command -v qemu-system-x86_64 >/dev/null || { echo "QEMU is not installed (scripts/deps --kernel)"; exit 77; }

# The processors of a machine are emulated: everything in it takes its time.
guest_seconds=60

# QOSD_VM_KERNEL: a package with another kernel than Debian's present one; QOSD_VM_IMAGE: where it is unpacked.
image=${QOSD_VM_IMAGE:-$build/vm${QOSD_VM_KERNEL:+-$QOSD_VM_KERNEL}}
"$top/scripts/vm-image" "$image" ${QOSD_VM_KERNEL:+"$QOSD_VM_KERNEL"} || exit

# boot NAME NODES [OPTION...]: starts a machine with these nodes' HCAs and options of scripts/vm.  boot returns
# at once; wait_booted NAME... waits until the machines take commands.
declare -gA vm
boot() {
	mkdir -p "$work/$1/share"
	"$top/scripts/vm" -a "$work/$1" -n "$1" -i "$image" -s "$QOSD_SIM_SOCKET" "${@:3}" "$2" >"$work/$1/log" 2>&1 &
	vm[$1]=$!
	pids+=("$!")
}
wait_booted() {
	local name
	ready() { [ -e "$work/$name/share/ready" ] || gone "${vm[$name]}"; }
	for name; do
		until_ $guest_seconds ready && ! gone "${vm[$name]}" || machine_failed "$name" "does not boot"
	done
}
# machine_failed NAME WHAT: ends the test.
machine_failed() {
	show_log "$work/$1/log"
	show_log "$work/$1/console" 20
	fail "machine $1 $2"
}

# guest NAME COMMAND...: runs a command (joined by blanks, by sh) in the machine; prints what it wrote and
# returns its exit status.  guest_start does not wait; it sets $started to the command's folder, where
# the file output grows, and status appears.  `guest_end NAME SIGNAL FOLDER` sends a signal to all processes
# of a command; guest_wait NAME FOLDER waits for its end.
guest_start() {
	guest_prepare "$@"
	guest_begin "$1" "$started"
}
guest_prepare() {
	started=$(mktemp -d "$work/$1/share/XXXXXX") || fail "mktemp"
	printf '%s\n' "${*:2}" >"$started/command"
}
guest_begin() { echo "${2##*/}" 1<>"$work/$1/agent.in"; }
guest_wait() {
	has_ended() { [ -s "$2/status" ] || gone "${vm[$1]}"; }
	until_ $guest_seconds has_ended "$@" || { bad "no end of '$(<"$2/command")' in $1"; return 124; }
	[ -s "$2/status" ] || machine_failed "$1" "is gone"
	return "$(<"$2/status")"
}
guest() {
	local started status
	guest_start "$@"
	guest_wait "$1" "$started"
	status=$?
	cat "$started/output" 2>/dev/null
	return $status
}
guest_end() {
	guest "$1" "cd /mnt/${3##*/} || exit
		until [ -s pid ] || [ -s status ]; do sleep 0.1; done
		kill -$2 -\$(cat pid)"
}

# guest_until NAME SECONDS COMMAND...: the machine repeats a command until it succeeds.  The seconds are the
# machine's, and as many more as a busy host takes.
guest_until() {
	local patience
	look_busy
	guest "$1" "n=0; until { ${*:3}; } >/tmp/until 2>&1; do n=\$((n + 1)); [ \$n -lt $(($2 * patience * 5)) ] ||
		{ cat /tmp/until; exit 1; }; sleep 0.2; done"
}

# kernel_is_calm NAME...: the kernel must not have complained of itself.
kernel_is_calm() {
	local name
	for name; do
		expect "complaints of the kernel in $name" "" \
			"$(guest "$name" dmesg | grep -E 'WARNING:|BUG:|Oops|general protection|refcount_t:|hung_task' | head -n 5)"
	done
}

# --- programs of the end-to-end tests ---

# machine_of NODE: sets $machine to the name of the machine that has this node.
machine_of() {
	machine=${1//[^A-Za-z0-9-]/-}
	[ -n "${vm[$machine]:-}" ] || fail "there is no machine for $1, which should be in machines=()"
}
# boot_machines NODE...: starts a machine for each node and waits until all take commands.
boot_machines() {
	local node names=()
	for node; do
		names+=("${node//[^A-Za-z0-9-]/-}")
		boot "${names[-1]}" "$node" -w "$work"
	done
	wait_booted "${names[@]}"
}
# stop_machines: ends all machines.
stop_machines() {
	local name
	kernel_is_calm "${!vm[@]}"
	for name in "${!vm[@]}"; do
		end "${vm[$name]}"
		rm -rf "${work:?}/$name"
	done
	vm=()
}

# quoted WORD...: prints the words such that a shell takes them as they are.
quoted() {
	local apostrophe="'\\''"
	printf "'%s' " "${@//\'/"$apostrophe"}"
}
# as_here COMMAND...: prints what runs the command in a machine as it would run here: in the present folder, and with
# the variables that OpenSM reads.
as_here() {
	local name
	echo "cd $(quoted "$PWD") || exit"
	for name in "${!OSM_@}"; do
		echo "export $name=$(quoted "${!name}")"
	done
	echo "exec $(quoted "$@")"
}

# on_machine NODE COMMAND...: runs a command in the machine of this node: in the present folder, with its exit
# status, and with its output when it has ended.  It reads nothing.
on_machine() {
	local machine started status
	machine_of "$1"
	end_killed "$machine"
	guest_start "$machine" "exec >out 2>err; $(as_here "${@:2}")"
	guest_wait "$machine" "$started"
	status=$?
	cat "$started/out"
	cat "$started/err" >&2
	rm -rf "$started"
	return $status
}

# stand_in NODE COMMAND...: the same for a command in the background.  This process stands for it: it takes its signals,
# SIGKILL too, and ends with its status.  Output to a file in $work can be read as it grows.
stand_in() {
	if [ "$BASHPID" = $$ ]; then
		(stand_in "$@")	# it has traps of its own
		return
	fi
	local machine started status alive signal signals=() out err self=$BASHPID
	machine_of "$1"
	end_killed "$machine"
	out=$(file_in_work $self 1) err=$(file_in_work $self 2)
	guest_prepare "$machine" "exec >>$(quoted "${out:-out}") 2>>$(quoted "${err:-err}"); $(as_here "${@:2}")"
	echo $self >"$started/by"
	for signal in TERM INT HUP USR1 USR2; do
		# shellcheck disable=SC2064 # the signal of now
		trap "signals+=($signal)" $signal	# more in a trap would disturb the read that it interrupts
	done
	# What is left of this process when it is killed sees the end of its pipe.
	exec {alive}> >(read -r _ || guest_end "$machine" KILL "$started")
	guest_begin "$machine" "$started"
	until [ -s "$started/status" ] || gone "${vm[$machine]}"; do
		pause 0.05
		for signal in "${signals[@]}"; do
			signals=("${signals[@]:1}")
			guest_end "$machine" "$signal" "$started"
		done
	done
	echo >&"$alive"
	status=$(cat "$started/status") || status=125	# the machine is gone
	[ -n "$out" ] || cat "$started/out"
	[ -n "$err" ] || cat "$started/err" >&2
	rm -rf "$started"
	return "$status"
}
# file_in_work PID FD: prints the name of the process's open file if it is a file in $work.
file_in_work() {
	local file
	file=$(readlink "/proc/$1/fd/$2")
	[[ $file != "$work"/* ]] || [ ! -f "$file" ] || echo "$file"
}
# end_killed MACHINE: waits until everything has ended that stand_in stood for until it was killed.
end_killed() {
	local by
	has_gone() { [ ! -e "$1" ] || [ -s "${1%by}status" ]; }
	for by in "$work/$1"/share/*/by; do
		[ ! -e "$by" ] || ! gone "$(<"$by")" || until_ 10 has_gone "$by" || bad "what was killed in $1 goes on"
	done
}
