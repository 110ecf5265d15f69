# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Common code of the end-to-end tests: starts a simulated fabric, runs qosd and other
# programs on its nodes, and checks results.
#
# Each test is a script of its own that sources this file.  On exit, every process that
# the test started is ended.  The test runs in its own directory, $work, because the
# simulator's library writes files into the current directory.  A failed check is printed
# and counted, and the test goes on; fail() ends it.  The exit status is 0 if all checks
# passed.
#
#   QOSD_BUILD	    folder of the programs, default build
#   QOSD_ASKING	    folder of the qosd-ctl and qosd-sim that only send commands, default QOSD_BUILD:
#		    a sanitized program takes ten times as long to start, and tests start thousands
#   QOSD_FABRICS    dumps of real fabrics, default ../shared/fabrics
#   QOSD_SIMULATOR  ibsim, qosd-sim or kernel, default ibsim.  With kernel, the fabric is qosd-sim's, and programs on
#		    its nodes run in virtual machines with Debian's kernel (tests/kernel/machines.sh).
set -u

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$top" && cd "${QOSD_BUILD:-build}" && pwd) || exit 1
# shellcheck disable=SC2034 # for the tests
fabrics=${QOSD_FABRICS:-$(dirname "$top")/shared/fabrics}
asking_build=${QOSD_ASKING:-$build}
tools=$build/tests/tools
for program in "$build/qosd" "$build/qosd-ctl" "$tools/gentopo" "$tools/pathquery" \
	"$tools/rawmad"; do
	[ -x "$program" ] || { echo "$program is missing: make all check-programs" >&2; exit 1; }
done

is_sanitized() { grep -qE '__[at]san_init' "$build/qosd"; }
# use_simulator SIMULATOR: selects the simulator for all functions below.  A test that compares
# simulators may call it between stop_sim and start_sim.
use_simulator() {
	simulator=$1
	case $simulator in
	ibsim)
		preload=$(dpkg-query -L libumad2sim0 2>/dev/null | grep '/libumad2sim\.so$')
		[ -n "$preload" ] || { echo "libumad2sim is not installed"; exit 77; }
		;;
	qosd-sim) preload=$build/libqosd-sim.so ;;
	kernel)
		! is_sanitized || { echo "a sanitized program is too slow in a virtual machine"; exit 77; }
		[ "$(id -u)" = 0 ] || { echo "only root can share a folder of qosd's with a virtual machine"; exit 77; }
		# shellcheck source=../kernel/machines.sh
		. "$top/tests/kernel/machines.sh"
		preload=''
		;;
	*) echo "QOSD_SIMULATOR=$simulator: there is no such simulator"; exit 1 ;;
	esac
	# In an AddressSanitizer build that links libasan dynamically, libasan must be preloaded first.
	own_preload="$(ldd "$build/qosd" | sed -n 's/.* => \(.*libasan[^ ]*\).*/\1/p') $preload"
}
use_simulator "${QOSD_SIMULATOR:-ibsim}"
# simulated_time: programs that are started on the fabric afterwards use the simulator's clock, which
# `sim_do pass` advances.
simulated_time() {
	preload=$build/libqosd-sim-clock.so:$preload
	own_preload="${own_preload% *} $preload"
}
# until_passed SECONDS COMMAND...: repeats the command until it succeeds, and lets a quarter of a second of simulated
# time pass each time it does not; fails after SECONDS of it.  The simulator must have been started with
# --time-stands, and programs on the fabric after simulated_time: then the machine's speed changes nothing.
until_passed() {
	local left=$(($1 * 4))
	shift
	until "$@"; do
		[ $((left--)) -gt 0 ] || return 1
		sim_do pass 250ms
	done
}
# only_on SIMULATOR WHY: skips the test on the other simulators.
only_on() {
	[ "$simulator" = "$1" ] || { echo "only on $1: $2"; exit 77; }
}
cores=$(nproc)
slow=1
if is_sanitized || [ "$simulator" = kernel ]; then
	slow=4
fi

# attack_seconds N: prints the duration of an attack: ATTACK_SECONDS if it is set (make attack), else N.
attack_seconds() { echo "${ATTACK_SECONDS:-$1}"; }

work=$(mktemp -d "${TMPDIR:-/tmp}/qosd-e2e.XXXXXX") || exit 1
cd "$work" || exit 1
export IBSIM_SOCKNAME=qosd-e2e-$$ QOSD_SIM_SOCKET=$work/sim.sock
sock=$work/qosd.sock
[ "$simulator" != kernel ] || sock=/run/qosd.sock	# of the machine that qosd runs in
pids=()
wrong=0

# own_defects: prints what daemons logged about defects of their own.  Some logs are FIFOs, which nobody writes to.
own_defects() { find "$work" -maxdepth 2 -type f -name '*log*' -exec grep -h 'internal error' {} +; }

end_all() {
	local status=$? i
	[ "$BASHPID" -eq $$ ] || exit	# a child that was killed before its exec
	trap - EXIT
	[ "$simulator" != kernel ] || [ "$status" -ne 0 ] || kernel_is_calm "${!vm[@]}"
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do	# the simulator last
		end "${pids[i]}"
	done
	[ -z "$(own_defects)" ] || bad "the daemon reports defects of its own: $(own_defects)"
	[ "$wrong" -eq 0 ] || { echo "$wrong checks failed"; [ "$status" -ne 0 ] || status=1; }
	cd "$top" && rm -rf "$work"
	exit "$status"
}
trap end_all EXIT
trap 'exit 130' INT TERM

# --- checks ---

note() { printf '%s\n' "-- $*"; }

# show_log [FILE [LINES]]: prints the last lines of a log, below a failure.
show_log() { [ -s "${1:-}" ] && tail -n "${2:-8}" "$1" | sed 's/^/   | /'; }

bad() {
	printf 'WRONG: %s\n' "$*"
	wrong=$((wrong + 1))
}

fail() {
	bad "$*"
	show_log "${qosd_log:-}" 20
	exit 1
}

# expect WHAT WANTED GOT
expect() {
	[ "$2" = "$3" ] || bad "$1: want '$2', got '$3'"
}

# expect_match WHAT EXTENDED-REGEXP GOT
expect_match() {
	[[ $3 =~ $2 ]] || bad "$1: want something like '$2', got '$3'"
}

# expect_less WHAT BOUND GOT
expect_less() {
	[ "$3" -lt "$2" ] || bad "$1: want less than $2, got $3"
}

# expect_same WHAT FILE FILE
expect_same() {
	local difference
	difference=$(diff -U0 "$2" "$3") || bad "$1: $(head -n 12 <<<"$difference")"
}

# look_busy: sets $patience, the factor for all time limits under the machine's present load: at most 10, so that
# every wait ends, and four times as much under sanitizers and in virtual machines.
look_busy() {
	local load
	read -r load _ </proc/loadavg
	patience=$(((10#${load/./} / cores + 99) / 100))
	[ "$patience" -ge 1 ] || patience=1
	[ "$patience" -le 10 ] || patience=10
	patience=$((patience * slow))
}
# expect_quick WHAT MILLISECONDS BEGIN-US: at most so many milliseconds (times $patience) have passed since
# BEGIN-US.
expect_quick() {
	local ms=$(((${EPOCHREALTIME/./} - $3) / 1000)) patience
	look_busy
	expect_less "ms for $1" $(($2 * patience)) $ms
}

# pause SECONDS: sleeps without starting a process, for loops that run often.
exec {nothing}<> <(:)
pause() { read -rt "$1" -u "$nothing" || :; }

# jq needs 20 ms to start, gojq 2; its objects have their keys in alphabetical order.
if command -v gojq >/dev/null; then
	jq() { gojq "$@"; }
fi

# until_ SECONDS COMMAND...: repeats the command until it succeeds; fails after SECONDS (times $patience, which
# grows if the machine becomes busy meanwhile).  The command sees the local names, so no test may use them.
# Between two tries it pauses for a tenth of the time waited so far, but for 20 ms at least and 100 ms at most: a
# command often starts several processes, and tests that wait for seconds would keep a core busy with asking.
until_() {
	local patience wait_s=$1 tried_since=${EPOCHREALTIME/./} end now_us gap_us
	look_busy
	end=$((tried_since + wait_s * patience * 1000000))
	shift
	until "$@"; do
		now_us=${EPOCHREALTIME/./}
		if [ "$now_us" -ge "$end" ]; then
			look_busy
			end=$((tried_since + wait_s * patience * 1000000))
			[ "$now_us" -lt "$end" ] || return 1
		fi
		gap_us=$(((now_us - tried_since) / 10))
		[ $gap_us -ge 20000 ] || gap_us=20000
		[ $gap_us -le 100000 ] || gap_us=100000
		printf -v gap_us '0.%06d' $gap_us
		pause "$gap_us"
	done
}

# pause_until_stored: waits until registrations are stored, which takes qosd up to a second, longer on a busy machine.
pause_until_stored() {
	local patience
	look_busy
	sleep "$patience.1"
}

# --- processes ---

# gone PID: whether the process has ended, even if nothing has waited for it yet.
gone() {
	local state
	{ read -r _ _ state _ <"/proc/$1/stat"; } 2>/dev/null || return 0
	[ "$state" = Z ]
}

# ours PID: whether the process is a child of this shell.  After a wait, the system may give the PID
# to a process of another test.
ours() {
	local parent
	{ read -r _ _ _ parent _ <"/proc/$1/stat"; } 2>/dev/null && [ "$parent" = $$ ]
}

# end PID [SIGNAL]: ends a child, after 10 s by SIGKILL; returns its exit status.  The shell's
# message about a killed child is suppressed.
end() {
	{
		if ours "$1"; then
			kill "-${2:-TERM}" "$1"
			until_ 10 gone "$1" || kill -KILL "$1"
		fi
		wait "$1"
	} 2>/dev/null
}
# If a test redefined one of these functions, end_all could not end the test's processes.
readonly -f until_ gone ours end

# start_sim TOPOLOGY [OPTION...]: starts the simulator.  The options are ibsim's table sizes; qosd-sim
# needs none and ignores them.  With the kernel, it boots a machine for each node in machines=(), and a
# test that names none is skipped.
machines=()
sim_options=(--preset ibsim)	# of qosd-sim: its devices have the capabilities of ibsim's
sim_starts=0
start_sim() {
	local topology=$1
	shift
	[ "$simulator" != kernel ] || [ ${#machines[@]} -gt 0 ] ||
		{ echo "this test is not for virtual machines"; exit 77; }
	sim_log=$work/sim.log.$((++sim_starts))
	: >"$sim_log"
	if [ "$simulator" = ibsim ]; then
		local fifo=ibsim.in.$sim_starts
		mkfifo "$fifo"
		exec {sim_in}<>"$fifo"
		ibsim -s "$@" "$topology" <"$fifo" >"$sim_log" 2>&1 &
	else
		"$build/qosd-sim" serve "$topology" "${sim_options[@]}" -s "$QOSD_SIM_SOCKET" >"$sim_log" 2>&1 &
	fi
	sim=$!
	pids+=("$sim")
	until_ 20 grep -qE 'simulator ready|^ready' "$sim_log" ||
		fail "$simulator does not start: $(tail -n 3 "$sim_log")"
	[ "$simulator" != kernel ] || boot_machines "${machines[@]}"
}
stop_sim() {
	[ "$simulator" != ibsim ] || exec {sim_in}>&-
	[ "$simulator" != kernel ] || stop_machines
	end "$sim" || [ "$simulator" = ibsim ] ||	# ibsim's exit status means nothing
		bad "qosd-sim ends with exit status $?: $(tail -n 3 "$sim_log")"
}

# simulate COMMAND: enters a command on ibsim's console and waits for the next prompt.
simulate() {
	local before
	before=$(wc -c <"$sim_log")
	printf '%s\n' "$*" >&"$sim_in"
	sim_is_done() { [ "$(tail -c "+$((before + 1))" "$sim_log" | grep -c 'sim> ')" -gt 0 ]; }
	until_ 5 sim_is_done || fail "ibsim does not take '$*'"
}
# sim_ctl COMMAND...: sends a command to qosd-sim; sim_do: fails the test if qosd-sim refuses it.
sim_ctl() { "$asking_build/qosd-sim" ctl -s "$QOSD_SIM_SOCKET" "$@"; }
sim_do() { sim_ctl "$@" >sim.out 2>&1 || fail "qosd-sim ctl $*: $(<sim.out)"; }

# audit_layers FILE: writes the verdict of qosd-sim's auditor to FILE.  If the routing has layers, the auditor
# takes the SL of each pair of ports from qosd's dump.
audit_layers() {
	local of_pairs=()
	rm -rf dump
	ctl dump "$work/dump" >"$1" 2>&1 || return
	[ ! -e dump/opensm-path-sls.dump ] || of_pairs=(--sl 0 --path-sls dump/opensm-path-sls.dump)
	sim_ctl check "${of_pairs[@]}" >"$1" 2>&1
}

# --- faults, on either simulator ---

# unplug NODE [PORT], plug NODE [PORT]: takes down or restores one link of the node, or all of them.
unplug() { if [ "$simulator" = ibsim ]; then simulate "Unlink \"$1\"${2:+[$2]}"; else sim_do link down "$1${2:+/P$2}"; fi; }
plug() { if [ "$simulator" = ibsim ]; then simulate "ReLink \"$1\"${2:+[$2]}"; else sim_do link up "$1${2:+/P$2}"; fi; }
# plug_into NODE PORT NODE PORT: connects two ports that have no cable.
plug_into() {
	if [ "$simulator" = ibsim ]; then
		simulate "Link \"$1\"[$2] \"$3\"[$4]"
	else
		sim_do link connect "$1/P$2" "$3/P$4"
	fi
}
# reboot NODE: the node loses its configuration.
reboot() {
	if [ "$simulator" = ibsim ]; then
		simulate "Clear \"$1\""
		simulate "ReLink \"$1\""
	else
		sim_do node reboot "$1"
	fi
}
# lose NODE PERCENT [ATTRIBUTE]: drops this share of the SMPs to the node, or of those for one attribute
# (hexadecimal); 0 ends it.
lose() {
	if [ "$simulator" = ibsim ]; then
		simulate "Error \"$1\" $2${3:+ $((16#$3))}"
	elif [ "$2" -eq 0 ]; then
		sim_do fault remove all
	else
		sim_do fault add drop --class smp --at "$1" --chance "$2%" ${3:+--attr "0x$3"}
	fi
}

# --- programs on a node ---

# as NODE: sets $as to the command prefix that runs a program on that node, named as in the topology
# file; as_own: the same for qosd's own programs, which may be sanitized.  on and on_own NODE
# COMMAND...: run the command on the node.
as() { prefix_on "$1" "$preload"; }
as_own() { prefix_on "$1" "$own_preload"; }
prefix_on() {
	as=(env "SIM_HOST=$1" "QOSD_SIM_NODE=$1" "LD_PRELOAD=$2")
	[ "$simulator" != kernel ] || as=(stand_in "$1")
}
on() { run_on "$1" "$preload" "${@:2}"; }
on_own() { run_on "$1" "$own_preload" "${@:2}"; }
run_on() {
	if [ "$simulator" = kernel ]; then
		on_machine "$1" "${@:3}"
	else
		SIM_HOST=$1 QOSD_SIM_NODE=$1 LD_PRELOAD=$2 "${@:3}"
	fi
}

# sock_of NAME: prints the control socket of the qosd in folder NAME.  A virtual machine shares no sockets, so each is
# in a folder of its own machine.
sock_of() { if [ "$simulator" = kernel ]; then echo "/run/$1.sock"; else echo "$1/sock"; fi; }
# of NAME COMMAND...: runs the command with $sock set to that socket.
of() {
	local sock
	sock=$(sock_of "$1")
	"${@:2}"
}
# socket_is_on NODE: says that the control socket $sock is that of the qosd on this node.
declare -A serving_node
socket_is_on() { serving_node[$sock]=$1; }

# Tests with several subnet managers name each one after its host.
# host_topology NAME NUMBER SWITCH PORT: prints the topology lines of a host H-...NUMBER00, whose one port
# is connected to this port of switch S-...SWITCH.
host_topology() {
	cat <<END

vendid=0x2c9
devid=0x673c
caguid=0x${2}00
Ca	1 "H-0000000000000${2}00"		# "$1 HCA-1"
[1](${2}01)	"S-0000000000000$3"[$4]		# lid 0 lmc 0 "S" lid 0 4xQDR
END
}
# halves_topology: prints a topology of two halves, with the hosts a and b, and c and d, which are connected only by
# port 8 of both switches.
halves_topology() {
	cat <<'END'
vendid=0x8f1
devid=0x5a06
switchguid=0x900(900)
Switch	8 "S-0000000000000900"		# "left" base port 0 lid 0 lmc 0
[1]	"H-0000000000000100"[1](101)		# "a HCA-1" lid 0 4xQDR
[2]	"H-0000000000000200"[1](201)		# "b HCA-1" lid 0 4xQDR
[8]	"S-0000000000000980"[8]		# "right" lid 0 4xQDR

vendid=0x8f1
devid=0x5a06
switchguid=0x980(980)
Switch	8 "S-0000000000000980"		# "right" base port 0 lid 0 lmc 0
[1]	"H-0000000000000300"[1](301)		# "c HCA-1" lid 0 4xQDR
[2]	"H-0000000000000400"[1](401)		# "d HCA-1" lid 0 4xQDR
[8]	"S-0000000000000900"[8]		# "left" lid 0 4xQDR
END
	host_topology a 1 900 1
	host_topology b 2 900 2
	host_topology c 3 980 1
	host_topology d 4 980 2
}
# run_manager NAME [LINE...]: starts a qosd on ${host[NAME]} with these lines as qosd.yaml and stores its
# PID in ${pid[NAME]}.  The test declares both arrays.
# shellcheck disable=SC2034,SC2154
run_manager() {
	local as name=$1 sock
	shift
	sock=$(sock_of "$name")
	mkdir -p "$name"
	printf '%s\n' "$@" >"$name/qosd.yaml"
	as_own "${host[$name]}"
	socket_is_on "${host[$name]}"
	"${as[@]}" "$build/qosd" -F -s "$sock" -d "$name/state" -c "$name/qosd.yaml" \
		-p "$top/etc/policy.yaml" >>"$name/log" 2>&1 &
	pid[$name]=$!
	pids+=("$!")
}

# say_no_policy OPTION...: sets $options to these options of qosd.  If they name no policy file, the settings say
# that no policy is wanted: otherwise the last good policy of an earlier start would be used, and health would warn.
say_no_policy() {
	local i config=
	options=("$@")
	for ((i = 0; i < $#; i++)); do
		case ${options[i]} in
		-p | --policy) return ;;
		-c) config=$((i + 1)) ;;
		esac
	done
	mkdir -p "$work/no-policy"
	if [ -z "$config" ]; then
		echo "policy: none" >"$work/no-policy/qosd.yaml"
		options+=(-c "$work/no-policy/qosd.yaml")
	elif [ -f "${options[config]}" ] && ! grep -q '^policy:' "${options[config]}"; then
		{ cat "${options[config]}" && printf '\npolicy: none\n'; } >"$work/no-policy/qosd.yaml"
		options[config]=$work/no-policy/qosd.yaml
	fi
}

# start_qosd NODE [OPTION...]: starts qosd in the foreground; its PID is $qosd, its log file $qosd_log.
qosd_starts=0
start_qosd() {
	local as options
	as_own "$1"
	socket_is_on "$1"
	shift
	say_no_policy "$@"
	qosd_log=$work/qosd.log.$((++qosd_starts))
	"${as[@]}" "$build/qosd" -F -s "$sock" -d "$work/state" "${options[@]}" >"$qosd_log" 2>&1 &
	qosd=$!
	pids+=("$qosd")
}
# stop_qosd [SIGNAL]: ends qosd and returns its exit status.
stop_qosd() { end "$qosd" "${1:-TERM}"; }

start_and_wait() {
	start_qosd "$@"
	until_ 30 subnet_up || fail "the subnet does not come up"
}
# start_and_pass NODE [OPTION...] and stop_and_pass: the same as start_and_wait and stop_qosd while time stands.
start_and_pass() {
	start_qosd "$@"
	# by then the simulator knows the process and waits until it rests
	until_ 20 grep -q ' sandbox: ' "$qosd_log" || fail "qosd does not start"
	until_passed 30 subnet_up || fail "the subnet does not come up"
}
stop_and_pass() {
	kill -TERM "$qosd"
	until_passed 10 gone "$qosd" || bad "qosd does not end"
	stop_qosd
}

# bring_up_opensm NODE SECONDS OPTION...: starts OpenSM and waits until its subnet is up.  Its PID is
# $opensm, its files are in opensm.dir.  With -d 2, OpenSM does not buffer its log.
bring_up_opensm() {
	local as seconds=$2
	as "$1"
	shift 2
	rm -rf opensm.dir
	mkdir opensm.dir
	OSM_CACHE_DIR=$work/opensm.dir OSM_TMP_DIR=$work/opensm.dir "${as[@]}" \
		opensm -f opensm.dir/log -e -d 2 "$@" >opensm.dir/out 2>&1 &
	opensm=$!
	pids+=("$opensm")
	until_ "$seconds" grep -qs 'SUBNET UP' opensm.dir/log ||
		fail "OpenSM is not up after $seconds s: $(tail -n 2 opensm.dir/log)"
}

# once NODE [OPTION...]: runs qosd --once, with its output in $work/once and its log in $work/once.log; ends it
# after a minute (times $patience).
once() {
	local node=$1 patience options
	shift
	say_no_policy "$@"
	look_busy
	on_own "$node" timeout --foreground $((60 * patience)) "$build/qosd" -1 -s "$sock" -d "$work/state" "${options[@]}" >"$work/once" 2>"$work/once.log"
}

# --- what the daemon reports ---

# ctl ARGUMENT...: runs qosd-ctl of QOSD_ASKING; 09-command-line.sh runs each command of a sanitized qosd-ctl.
ctl() {
	if [ "$simulator" = kernel ]; then
		on "${serving_node[$sock]:-$sock}" "$build/qosd-ctl" -s "$sock" "$@"
	else
		"$asking_build/qosd-ctl" -s "$sock" "$@"
	fi
}
# pick NAME JSON: prints the first non-empty value of that name.
pick() {
	local lf=$'\n' scalar
	scalar="(^|$lf) *\"$1\": \"?([^$lf\"]*[^$lf\",])\"?,?($lf|\$)"
	[[ $2 =~ $scalar ]] && printf '%s\n' "${BASH_REMATCH[2]}"
}
# field NAME: pick from standard input.
field() { pick "$1" "$(cat)"; }
# status FIELD: prints a field of the daemon's status; nothing if the daemon does not answer.  A complaint in its
# place makes every comparison with a field that does not exist fail.
status() {
	local json
	json=$(ctl -j status 2>/dev/null) || return
	[[ $json = *"\"$1\":"* ]] || echo "no field '$1', asked for by ${BASH_SOURCE[1]##*/}:${BASH_LINENO[0]}"
	pick "$1" "$json"
}
# status_is FIELD=VALUE...: whether one answer has all these values.
status_is() {
	local json pair
	json=$(ctl -j status 2>/dev/null) || return
	for pair; do
		[ "$(pick "${pair%%=*}" "$json")" = "${pair#*=}" ] || return
	done
}
subnet_up() { status_is subnet-up=true; }
sets() { status sets; }
# sets_rest: whether no Set was sent for a while; sets $sets to their number.
sets_rest() { sets=$(sets) && sleep 0.3 && [ "$(sets)" = "$sets" ]; }
# table_sets: prints the number of Sets of all attributes but PortInfo and SMInfo.  ibsim does not store
# all fields of PortInfo, so a daemon without a record of earlier attempts sets them again.
table_sets() {
	ctl -j status 2>/dev/null | awk '
		/"sets":/ && !all { all = $2 + 0 }
		/"(PortInfo|SMInfo)": \{/ { mine = 1 }
		/"set":/ && mine { all -= $2 + 0; mine = 0 }
		END { print all + 0 }'
}

# reload [--force]: makes the daemon reload the policy and waits until it is applied.
reload() {
	local before
	before=$(status sweeps)
	ctl reload "$@" >"$work/reload" 2>&1 || return
	swept() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
	until_ 10 swept || bad "no end of the reload"
}

# --- what other programs find ---

# linked_ports TOPOLOGY: prints the number of linked ports in the topology file.
linked_ports() { grep -cE '^\[[0-9]+\]' "$1"; }
# lid_map NODE: prints the LIDs of the ports, as iblinkinfo discovers them: "GUID LID" lines.
lid_map() {
	on "$1" iblinkinfo -l | sed -nE 's/^(0x[0-9a-f]+) "[^"]*" +([0-9]+) .*/\1 \2/p' | sort -u
}

# all_active NODE TOPOLOGY: iblinkinfo must report every linked port as Active.
all_active() {
	local links
	links=$(on "$1" iblinkinfo -l 2>&1) || bad "iblinkinfo failed: $(tail -n 3 <<<"$links")"
	expect "linked ports that are Active" "$(linked_ports "$2")" \
		"$(grep -c ' Active/ *LinkUp' <<<"$links")"
	expect "linked ports that are not Active" 0 \
		"$(grep ' LinkUp' <<<"$links" | grep -vc ' Active/')"
}

# all_connected: ibdmchk must find a path between every pair of CAs, and no credit loops, in qosd's dump.
# ibdmchk reads neither routers nor the LMC; all_lids_arrive covers these.
all_connected() {
	local n
	ctl dump "$work/dump" || { bad "dump failed"; return; }
	{ ibdmchk -s "$work/dump/opensm-subnet.lst" -f "$work/dump/opensm.fdbs" \
		-m "$work/dump/opensm.mcfdbs" -d "$work/dump/opensm-sl2vl.dump" >"$work/ibdmchk" 2>&1
	} 2>/dev/null	# ibdmchk often crashes on exit
	expect "errors by ibdmchk" "" "$(grep -E '^-[EF]-' "$work/ibdmchk" | head -n 5)"
	expect "credit loops" "-I- no credit loops found" "$(grep 'credit loops found' "$work/ibdmchk")"
	n=$(grep -cE '^\{ CA' "$work/dump/opensm-subnet.lst")
	expect "paths between $n ports of CAs" $((n * (n - 1))) \
		"$(sed -n 's/^-I- Scanned:\([0-9]*\) CA to CA paths.*/\1/p' "$work/ibdmchk")"
}

# read_tables NODE: reads the switches' forwarding tables into lft.devices as "SWITCH LID PORT" lines,
# SWITCH (a GUID) and LID in hexadecimal, PORT in decimal.
read_tables() {
	on "$1" dump_fts 2>/dev/null |
		sed -nE -e 's/^Unicast.* guid 0x0*([0-9a-f]+) .*/S \1/p' \
			-e 's/^0x([0-9a-f]+) 0*([0-9]+) .*/\1 \2/p' |
		awk '$1 == "S" { sw = $2; next } { print sw, $1, $2 }' | sort >"$work/lft.devices"
}

# tables_as_dumped: qosd's dump must be equal to the tables in lft.devices.
tables_as_dumped() {
	awk '/^dump_ucast/ { sub(/^0x0*/, "", $NF); sw = $NF; next }
		/^0x/ && $3 != "UNREACHABLE" { print sw, tolower(substr($1, 3)), $3 + 0 }' \
		"$work/dump/opensm.fdbs" | sort >"$work/lft.dump"
	expect_same "forwarding tables as dumped and as read back" "$work/lft.dump" "$work/lft.devices"
}

# all_lids_arrive TOPOLOGY LMC LIDS: follows lft.devices along the links of the topology file.  From every
# switch, each of the 2^LMC LIDs of each end port in the file LIDS ("GUID LID" lines) must lead to that port.
all_lids_arrive() {
	local lost
	lost=$(awk -v lmc="$2" '
		function hex(s,  n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n
		}
		function bare(s) { sub(/^(0x)?0*/, "", s); return s }
		FILENAME == ARGV[1] { lid[bare($1)] = $2; next }
		FILENAME == ARGV[2] { out[$1, hex($2)] = $3; switches[$1]; next }
		/^(Switch|Ca|Hca|Rt)[ \t]/ { match($0, /"[SHR]-[0-9a-f]+/); at = bare(substr($0, RSTART + 3, RLENGTH - 3)) }
		/^\[/ {
			port = substr($0, 2) + 0
			if (match($0, /^\[[0-9]+\]\([0-9a-f]+\)/))
				end[at, port] = bare(substr($0, index($0, "(") + 1, RLENGTH - index($0, "(") - 1))
			match($0, /"[SHR]-[0-9a-f]+"\[[0-9]+\]/)
			far = substr($0, RSTART + 3, RLENGTH - 4)
			split(far, part, /"\[/)
			next_node[at, port] = bare(part[1])
			next_port[at, port] = part[2] + 0
		}
		END {
			for (e in end)
				for (l = lid[end[e]] + 0; l < lid[end[e]] + 2 ^ lmc; l++)
					for (sw in switches) {
						at = sw
						for (hops = 0; at in switches && hops < 64; hops++) {
							port = out[at, l]
							here = next_node[at, port] SUBSEP next_port[at, port]
							at = next_node[at, port]
						}
						checked++
						if (here != e)
							print "LID", l, "from", sw
					}
			if (!checked)
				print "nothing"
		}' "$3" "$work/lft.devices" "$1")
	expect "LIDs that do not arrive" "" "$(head -n 5 <<<"$lost")"
}

# record NODE ARGUMENT...: prints the answer to a PathRecord query by saquery, as IBA codes:
# "sl=2 mtu=4 rate=7 life=18 tclass=0", "none" or "status 0x0500".
record() {
	local node=$1 out name
	local -A value=()
	shift
	out=$(on "$node" saquery PR "$@" 2>&1)
	if [[ $out =~ 'Query result returned '(0x[0-9a-f]+) ]]; then
		echo "status ${BASH_REMATCH[1]}"
		return
	fi
	for name in sl mtu rate pkt_life tclass; do
		[[ $'\n'$out =~ $'\n'[[:blank:]]*$name\.+(0x[0-9A-F]+) ]] && value[$name]=${BASH_REMATCH[1]}
	done
	if [ -z "${value[sl]:-}" ]; then
		echo none
		return
	fi
	echo "sl=$((value[sl])) mtu=$((value[mtu] & 63)) rate=$((value[rate] & 63))" \
		"life=$((value[pkt_life] & 63)) tclass=$((value[tclass]))"
}

# trace_some NODE LMC: ibtracert must follow the switches' tables for a sample of pairs: from the first
# LID of one port to the last LID of another.
trace_some() {
	local lids=() i
	mapfile -t lids < <(sed -nE 's/^\{ CA.*LID:([0-9A-F]+) PN:.. \} \{ SW.*/\1/p' "$work/dump/opensm-subnet.lst")
	for ((i = 1; i < ${#lids[@]}; i += ${#lids[@]} / 6 + 1)); do
		local a=$((16#${lids[i]})) b=$((16#${lids[-i]} + (1 << $2) - 1))
		on "$1" ibtracert "$a" "$b" >trace.log 2>&1 || bad "ibtracert $a $b: $(tail -n 2 trace.log)"
	done
}

# bring_up TOPOLOGY LMC: starts a simulator and qosd, makes all the checks above, and stops both.
bring_up() {
	local topology=$1 lmc=$2 node far
	note "$(basename "$topology"), LMC $lmc"
	node=$(first_ca "$topology")
	far=$(cas "$topology" | tail -n 1)
	machines=("$node" "$far")
	rm -rf state dump
	start_sim "$topology"
	echo "lmc: $lmc" >qosd.yaml
	start_and_wait "$node" -c qosd.yaml
	expect "state" master "$(status state)"
	all_active "$far" "$topology"
	all_connected
	read_tables "$node"
	tables_as_dumped
	lid_map "$far" >lids
	all_lids_arrive "$topology" "$lmc" lids
	trace_some "$far" "$lmc"
	expect_match "sminfo" "sm guid $(printf %#x "$(status guid)"), .* state 3 SMINFO_MASTER" \
		"$(on "$far" sminfo 2>&1)"
	stop_qosd || bad "exit status $? after SIGTERM"
	# allowed: slow links of the fabric, ports that cannot join the IPoIB group, and a slow disk
	expect "warnings in the log" "" "$(grep -E ' (error|warning): ' "$qosd_log" |
		grep -vE " plan: (links? .*: runs at |.* cannot join its IPoIB group)|may not be on disk$")"
	stop_sim
}

# sl2vl NODE GUID OUT [IN]: prints the 16 VLs of an SL-to-VL table as smpquery reads them; IN is 0 for a CA.
sl2vl() {
	on "$1" smpquery -G sl2vl "$2" "$3" 2>&1 |
		sed -nE "s/^ports: in +${4:-0}, out +$3: \|(.*)\|$/\1/p" | tr -s '| ' ' ' | sed 's/^ //'
}

# vlarb NODE GUID PORT: prints the VL arbitration tables as "low: VL:WEIGHT ... high: VL:WEIGHT ..."
# without the empty entries at their ends.
vlarb() {
	on "$1" smpquery -G vlarb "$2" "$3" 2>&1 | awk '
		function number(s,  n, i) {
			if (sub(/^0x/, "", s) == 0)
				return s + 0
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", tolower(substr(s, i, 1))) - 1
			return n
		}
		/^# Low/ { out = out "low:" }
		/^# High/ { out = out " high:" }
		/^(VL|WEIGHT)/ { row = $1; sub(/^[^:]*:/, ""); gsub(/\|/, " ") }
		row ~ /^VL/ { n = split($0, vl, " "); row = "" }
		row ~ /^WEIGHT/ {
			split($0, weight, " ")
			part = row = ""
			for (i = 1; i <= n; i++)
				part = part " " number(vl[i]) ":" number(weight[i])
			sub(/( 0:0)+$/, "", part)
			out = out part
		}
		END { print out }'
}

# port_info NODE GUID PORT FIELD: prints a PortInfo field as smpquery shows it.
port_info() { on "$1" smpquery -G portinfo "$2" "$3" 2>&1 | sed -nE "s/^$4:\.+(.*)$/\1/p"; }

# --- fabrics ---

# cas TOPOLOGY: prints the names of the channel adapters; first_ca: the name of the first one.
cas() { sed -nE 's/^H?[Cc]a[[:space:]]+[0-9]+ "(H-[0-9a-f]+)".*/\1/p' "$1"; }
first_ca() { cas "$1" | head -n 1; }
# leaf_of CA TOPOLOGY: prints the switch that the CA's first port is connected to.
leaf_of() { sed -nE "/^Ca.*$1/,/^\$/s/.*\"(S-[0-9a-f]+)\".*/\1/p" "$2" | head -n 1; }
# gid GUID: prints the link-local GID of the port with this GUID (16 hexadecimal digits, 0x optional).
gid() {
	local g=${1#0x}
	printf 'fe80::%x:%x:%x:%x\n' "0x${g:0:4}" "0x${g:4:4}" "0x${g:8:4}" "0x${g:12:4}"
}
