# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Common code of the tests with the real kernel: virtual machines (scripts/vm) on a fabric of qosd-sim.
# All of tests/e2e/lib.sh can be used as well; its `on` runs programs that simulate a host, `guest`
# runs them in a machine.
#
# A machine boots once for a whole script.  Without QEMU or the kernel's packages the test is skipped.
QOSD_SIMULATOR="qosd-sim"
# shellcheck source=../e2e/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=machines.sh
. "$top/tests/kernel/machines.sh"

sim_options=()	# devices of today, not ibsim's

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
# show_managers NAME: prints the end of the log of each manager that the machine has had, and the kernel's log of joins.
show_managers() {
	local command
	for command in "$work/$1/share"/*/command; do
		! grep -q 'qosd -F' "$command" || tail -n 9 "${command%command}output" | cut -c 1-160
	done | sort
	guest "$1" "dmesg -T | grep -E 'ib[0-9]|multicast'" | tail -n 12
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
