# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Common code of the tests with the real kernel: virtual machines (scripts/vm) on a fabric of qosd-sim.
# All of tests/e2e/lib.sh can be used as well; its `on` runs programs that simulate a host, `guest`
# runs them in a machine.
#
# A machine boots once for a whole script.  It is a child of the test, which ends it on exit; every
# wait is bounded.  Without QEMU or the kernel's packages the test is skipped.
QOSD_SIMULATOR="qosd-sim"
# shellcheck source=../e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# The processors of a machine are emulated: everything in it takes its time.
guest_seconds=60

sim_options=()	# devices of today, not ibsim's

# QOSD_VM_KERNEL: a package with another kernel than Debian's present one; QOSD_VM_IMAGE: where it is unpacked.
image=${QOSD_VM_IMAGE:-$build/vm${QOSD_VM_KERNEL:+-$QOSD_VM_KERNEL}}
"$top/scripts/vm-image" "$image" ${QOSD_VM_KERNEL:+"$QOSD_VM_KERNEL"} || exit

# boot NAME NODES [OPTION...]: starts a machine with these nodes' HCAs and options of scripts/vm.  boot returns
# at once; wait_booted NAME... waits until the machines take commands.
declare -A vm
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
	started=$(mktemp -d "$work/$1/share/XXXXXX") || fail "mktemp"
	printf '%s\n' "${*:2}" >"$started/command"
	echo "${started##*/}" 1<>"$work/$1/agent.in"
}
guest_wait() {
	has_ended() { [ -e "$2/status" ] || gone "${vm[$1]}"; }
	until_ $guest_seconds has_ended "$@" || { bad "no end of '$(<"$2/command")' in $1"; return 124; }
	[ -e "$2/status" ] || machine_failed "$1" "is gone"
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
guest_end() { guest "$1" "kill -$2 -\$(cat /mnt/${3##*/}/pid)"; }

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

# --- the fabric ---

# two_switches: prints a fabric of two switches, left and right, that are connected by their ports 36.  The hosts
# first and third are at ports 1 and 3 of the left one, second and fourth at ports 2 and 4 of the right one.
two_switches() {
	awk 'BEGIN {
		split("first second third fourth", host)
		split("left right", name)
		for (s = 1; s <= 2; s++) {
			printf "\nvendid=0x2c9\ndevid=0xcb20\nsysimgguid=0xa%d\nswitchguid=0xa%d(a%d)\n", s, s, s
			printf "Switch\t36 \"S-00000000000000a%d\"\t\t# \"%s\" enhanced port 0 lid 0 lmc 0\n", s, name[s]
			for (h = s; h <= 4; h += 2)
				printf "[%d]\t\"H-000000000000%d000\"[1](%d001)\t\t# \"%s HCA-1\" lid 0 4xEDR\n", h, h, h, host[h]
			printf "[36]\t\"S-00000000000000a%d\"[36]\t\t# \"%s\" lid 0 4xEDR\n", 3 - s, name[3 - s]
		}
		for (h = 1; h <= 4; h++) {
			s = 2 - h % 2
			printf "\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x%d000\ncaguid=0x%d000\n", h, h
			printf "Ca\t1 \"H-000000000000%d000\"\t\t# \"%s HCA-1\"\n", h, host[h]
			printf "[1](%d001)\t\"S-00000000000000a%d\"[%d]\t\t# lid 0 lmc 0 \"%s\" lid 0 4xEDR\n", h, s, h, name[s]
		}
	}'
}

# lid_of NODE: prints the LID that the node has.
lid_of() { sim_ctl show nodes | awk -v name="$1" 'substr($0, length($0) - length(name)) == " " name { print $3 }'; }

# counter PORT NAME: prints a counter of the port, as the simulator keeps it.
counter() { sim_ctl show counters "$1" | awk -v name="$2" '$1 == name { print $2 }'; }

# --- a subnet manager in a machine ---

# manage NAME [OPTION...]: starts qosd in the machine, by the policy in NAME/share/policy.yaml if there is one.
# manager[NAME] is the folder of the command, whose output is the log.
declare -A manager
manage() {
	local policy=''
	[ ! -e "$work/$1/share/policy.yaml" ] || policy="-p /mnt/policy.yaml"
	guest_start "$1" "exec qosd -F $policy ${*:2}"
	manager[$1]=$started
}
# stop_managing NAME [SIGNAL]: ends it and returns its exit status.
stop_managing() {
	guest_end "$1" "${2:-TERM}" "${manager[$1]}"
	guest_wait "$1" "${manager[$1]}"
}
# manager_is NAME FIELD=VALUE...: whether the status of the machine's qosd has all these values.
manager_is() {
	local json pair
	json=$(guest "$1" qosd-ctl -j status) || return
	for pair in "${@:2}"; do
		[ "$(pick "${pair%%=*}" "$json")" = "${pair#*=}" ] || return
	done
}
# wait_up NAME: waits until its qosd is master and the subnet is up.
wait_up() {
	up_or_ended() { manager_is "$1" subnet-up=true || [ -e "${manager[$1]}/status" ]; }
	until_ $guest_seconds up_or_ended "$1" && manager_is "$1" subnet-up=true && return
	show_log "${manager[$1]}/output"
	fail "the qosd in $1 does not bring the subnet up"
}

# --- IPoIB ---

# ipoib NAME ADDRESS...: gives the machine's first IPoIB interface these addresses, and switches it on.
ipoib() {
	local a
	for a in "${@:2}"; do
		guest "$1" "ip addr add $a dev \$IPOIB" || bad "no address $a in $1"
	done
	guest "$1" "ip link set \$IPOIB up" || bad "no interface in $1"
}
# wait_joined NAME [INTERFACE]: the interface has a carrier when it has joined its broadcast group.
wait_joined() {
	guest_until "$1" 30 "ip link show ${2:-\$IPOIB} | grep LOWER_UP" ||
		bad "${2:-IPoIB} in $1 joins no broadcast group: $(guest "$1" dmesg | tail -n 3)"
}
# ping_from NAME ADDRESS [OPTION...]: prints how many of 3 pings are answered.  They have all the time that a
# busy host takes.
ping_from() { guest "$1" "ping -c 3 -w $guest_seconds ${*:3} $2" | sed -nE 's/.* ([0-9]+) received.*/\1/p'; }
