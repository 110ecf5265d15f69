#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that no client, device or second daemon can stop a running qosd: daemons on the
# same port, folder or socket; clients that send garbage or nothing, or do not read;
# malformed MADs.
#
# promise: N4
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200
from=H-f452140300811230
machines=("$node" "$from")
node001=$(gid f452140300811231) oss01=$(gid 248a070300a25ead)
answer="sl=0 mtu=4 rate=12 life=18 tclass=0"
policy=$top/etc/policy.yaml

start_sim "$topology"
start_and_wait "$node" -p "$policy"
up_sets=$(sets)

# alive WHAT: the first daemon must still be running and master.
alive() {
	kill -0 "$qosd" 2>/dev/null || fail "$1: the daemon is gone"
	expect "$1: state" master "$(status state)"
	expect "$1: subnet up" true "$(status subnet-up)"
	expect "$1: an answer" "$answer" "$(record "$from" --sgid "$node001" --dgid "$oss01")"
}

# second WHAT NODE REASON OPTION...: a second daemon must refuse to start and give this reason.
second() {
	local what=$1 at=$2 reason=$3 status
	shift 3
	on_own "$at" timeout $((10 * slow)) "$build/qosd" -F -p "$policy" "$@" >second.log 2>&1
	status=$?
	expect "$what: exit status" 1 "$status"
	expect_match "$what: reason" "$reason" "$(<second.log)"
	alive "$what"
}
note "a second daemon"
second "on the same state folder" "$node" "state.*(used|lock|another)" -s other.sock -d state
# On another port, because qosd checks the port before the socket.  Each virtual machine has sockets of its own.
[ "$simulator" = kernel ] ||
	second "on the same socket" "$from" "another qosd answers on .*qosd.sock" -s "$sock" -d other
second "on the same port" "$node" "another subnet manager" -s other.sock -d other

if [ "$simulator" != kernel ]; then	# which has no part in it
	note "clients of the control socket"
	# talk BYTES...: prints the daemon's answer to a client that sends these bytes (a format of printf).
	talk() {
		# shellcheck disable=SC2059 # a format is what it is given
		printf "$@" | perl -MIO::Socket::UNIX -e '
			$s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 1;
			local $/; $in = <STDIN>; $SIG{PIPE} = "IGNORE"; $SIG{ALRM} = sub { exit 0 };
			alarm 2; $s->send($in, 0); shutdown($s, 1); $| = 1;
			print $_ while sysread($s, $_, 4096);' "$sock"
	}
	for garbage in '\n' 'hello\n' '{\n' '[1, 2]\n' '{"command": 7}\n' '{"command": "explode"}\n' \
		'{"command": "route"}\n' '{"command": "route", "args": [1]}\n' \
		'{"command": "route", "args": {"src": 1, "dst": 2}}\n' \
		'{"command": "explain", "args": {"src": "1", "dst": "1", "sl": 99}}\n' \
		'{"command": "status", "command": "sweep"}\n' '\xff\xfe{"command": "status"}\n'; do
		expect_match "answer to $garbage" '^\{"ok": ?false, ?"error": ?".+"' "$(talk "$garbage")"
	done
	expect_match "an endless line" '"ok": ?false' "$(talk '%070000d\n' 1)"
	expect_match "two requests at once" 'state.*state' "$(talk '{"command": "status"}\n{"command": "status"}\n' | tr -d '\n')"
	talk '{"command": "status"}' >/dev/null	# no newline, then closed
	talk '\0\0\0\n' >/dev/null
	alive "after garbage"

	# Clients that do not read the answer, and more silent clients than the daemon accepts.
	perl -MIO::Socket::UNIX -e '
		for (1 .. 4) {
			push @s, $s = IO::Socket::UNIX->new(Peer => $ARGV[0]);
			$s->send(qq({"command": "dump"}\n) x 50, 0);
		}
		sleep 600;' "$sock" &
	deaf=$!
	pids+=("$deaf")
	alive "clients that do not read"
	perl -MIO::Socket::UNIX -e '
		$SIG{PIPE} = "IGNORE";
		push @s, IO::Socket::UNIX->new(Peer => $ARGV[0]) for 1 .. 100;
		print "ready\n"; close STDOUT;
		sleep 600;' "$sock" >silent.log &
	silent=$!
	pids+=("$silent")
	until_ 5 grep -q ready silent.log
	ctl -j status >crowd.log 2>&1
	case $? in
	0 | 1 | 2) ;;
	*) bad "qosd-ctl in the crowd: exit status $?" ;;
	esac
	note "in the crowd: $(head -c 100 crowd.log | tr '\n' ' ')"
	expect "queries in the crowd" "$answer" "$(record "$from" --sgid "$node001" --dgid "$oss01")"
	until_ 20 subnet_up || bad "clients that say nothing are not dropped"
	alive "clients that say nothing"
	end "$silent"
	end "$deaf"
fi

note "MADs that make no sense"
raw() { on_own "$from" timeout 20 "$tools/rawmad" "$@" 2>&1; }
ones=$(printf 'f%.0s' {1..336})
# path queries: all bits of the component mask with every byte 0xff; impossible LIDs
expect_match "all ones" "status=0x0[0-9a-f]00" "$(raw 3 1 0x35 0 48:ffffffffffffffff "56:$ones")"
expect_match "LID 0xffff" "status=0x0300" "$(raw 3 1 0x35 0 48:0000000000000030 96:ffff0001)"
expect_match "a multicast LID" "status=0x0300" "$(raw 3 1 0x35 0 48:0000000000000030 96:c0000001)"
expect_match "LID 0" "status=0x0[23]00" "$(raw 3 1 0x35 0 48:0000000000000030 96:00000001)"
# MultiPathRecord: 255 source and 255 destination GIDs that the request lacks, and no GIDs
expect_match "GIDs that are not there" "status=0x0200" "$(raw 3 0x14 0x3a 0 48:0000000000180000 71:ffff)"
expect_match "no GIDs" "status=0x0200" "$(raw 3 0x14 0x3a 0 48:0000000000180000)"
# RMPP: a segment of a request that is never completed; an impossible length
raw 3 0x14 0x3a 0 24:0101030000000002ffffffff >/dev/null
raw 3 0x12 0x35 0 24:010103ff00000001ffffffff 48:0000000000000030 96:00010002 >/dev/null
expect_match "an unknown attribute" "status=0x000c" "$(raw 3 1 0x7777 0)"
expect_match "a method that the attribute does not have" "status=0x000c" "$(raw 3 2 0x35 0)"
expect_match "an unknown method" "status=0x0008" "$(raw 3 0x33 0x35 0)"
# A class version that no agent has registered for reaches the daemon on ibsim only: a kernel
# answers such a Get itself.
version=0x000c
[ "$simulator" != ibsim ] || version=0x0004
expect_match "an old class version" "status=$version" "$(raw 3 1 0x35 0 2:01)"
expect "a wrong SM_Key" "" "$(raw 3 1 0x35 0 36:1234567812345678)"
expect "a response to nothing" "" "$(raw 3 0x81 0x35 0)"
alive "after them"
# Records of all kinds with component masks of all ones, which saquery cannot send
for attr in 0x01 0x11 0x12 0x38; do
	for method in 1 0x12 2 0x15; do
		raw 3 $method $attr 0 48:ffffffffffffffff "56:$ones" >/dev/null
		raw 3 $method $attr 0 48:ffffffffffffffff >/dev/null
	done
done
alive "after masks of ones"

note "control of the subnet manager by who has no key"
for control in 1 2 3 4 5; do	# HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER
	expect_match "SMInfo control $control" "^(status=0x001c .*)?$" \
		"$(raw 1 2 0x20 $control 64:000000000000beef 72:0000000000000000 84:f3)"
done
alive "after SMInfo Sets"

note "noise"
for seed in 1 2 3; do
	raw -n 800 -s "$seed" 3
	raw -n 300 -s "$seed" 1
done
settled() { status_is sweeping=false subnet-up=true; }
until_ 20 settled || bad "no end of sweeps"
alive "after noise"
all_active "$from" "$topology"
expect "Sets" "$up_sets" "$(sets)"
expect_less "lines of log" 600 "$(wc -l <"$qosd_log")"

stop_qosd || bad "exit status $? after SIGTERM"
