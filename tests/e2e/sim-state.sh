#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the state folder on a failing disk: qosd is killed, the power fails, or a call returns
# an error, at each call that changes the disk (tests/tools/faultydisk.c lists them); the disk is
# full for a while, read-only or missing; files are damaged in every way; the clock jumps.  After
# that, qosd and the devices start anew, the devices without any configuration: LIDs must be as
# before, and registrations must be there that were made more than a second before the end.
#
#   STATE_EACH=1	tests every call, not only some
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim takes no registrations"
faulty=$tools/faultydisk.so
[ -f "$faulty" ] || { echo "$faulty is missing: make check-programs"; exit 1; }

cat >fabric.topo <<'END'
switchguid=0x2c90200000010(2c90200000010)
Switch 8 "S-0002c90200000010" # "leaf" enhanced port 0 lid 0 lmc 0
[1] "H-0002c90300000010"[1](2c90300000011) # "h1" lid 0 4xQDR
[2] "H-0002c90300000020"[1](2c90300000021) # "h2" lid 0 4xQDR
[3] "H-0002c90300000030"[1](2c90300000031) # "h3" lid 0 4xQDR
[4] "H-0002c90300000040"[1](2c90300000041) # "h4" lid 0 4xQDR
END
for h in 1 2 3 4; do
	cat >>fabric.topo <<-END

	caguid=0x2c903000000${h}0
	Ca 1 "H-0002c903000000${h}0" # "h$h"
	[1](2c903000000${h}1) "S-0002c90200000010"[$h] # lid 0 lmc 0 "leaf" lid 0 4xQDR
	END
done
sm=H-0002c90300000010 h2=H-0002c90300000020 h4=H-0002c90300000040
mine=$(gid 0002c90300000021)
cat >qosd.yaml <<'END'
sweep-interval: 1
smp-timeout: 50ms
END

# --- what qosd stores ---

# group N, service N, partition N: h2 requests it; true if qosd confirms it.
group() {
	on_own "$h2" "$tools/pathquery" set member mgid=ff12:401b:ffff::"$1" port-gid="$mine" join-state=1 \
		qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow-label=0 2>&1 | grep -q mlid=
}
service() { on_own "$h2" "$tools/saclient" service set id="$1" gid="$mine" name=some lease=1000 2>&1 | grep -q ^id=; }
partition() { ctl partition add "part$1" --pkey "0x1$1" 0x2c90300000021 >partition.out 2>&1; }
# kept NAME...: prints the names that qosd still has.
kept() {
	local groups services partitions name
	groups=$(ctl mcast) services=$(ctl services) partitions=$(ctl partition show)
	for name; do
		case $name in
		group*) [[ $groups == *"ff12:401b:ffff::${name#group}"* ]] && echo "$name" ;;
		service*) [[ $services == *"$(printf '0x%016x' "${name#service}")"* ]] && echo "$name" ;;
		part*) [[ $partitions == *"$name"* ]] && echo "$name" ;;
		esac
	done
}
# lids: prints "NAME LID" lines.
lids() { ctl ports 2>/dev/null | awk '$2 ~ /^[0-9]+$/ { sub(/\/P.*/, "", $6); print $6, $2 }' | sort; }
has_lid() { gone "$qosd" || lids | grep -q "^$1 "; }

# --- a run ---

# start_faulty [VARIABLE=VALUE...]: starts qosd on a disk with this fault.
start_faulty() {
	local as
	as=(env "$@" FAULTY_FOLDER="$work/state" FAULTY_LOG="$work/calls" SIM_HOST="$sm" \
		QOSD_SIM_NODE="$sm" LD_PRELOAD="${own_preload% *} $faulty ${own_preload##* }")
	: >calls
	qosd_log=$work/qosd.log.$((++qosd_starts))
	"${as[@]}" "$build/qosd" -F -s "$sock" -d "$work/state" -c qosd.yaml >"$qosd_log" 2>&1 &
	qosd=$!
	pids+=("$qosd")
}
now_us() { echo "${EPOCHREALTIME/./}"; }
up_or_gone() { gone "$qosd" || subnet_up; }

# register: makes registrations, waits, and makes others; ends as soon as qosd is gone.  The file
# confirmed gets "TIME NAME" lines.
register() {
	local n what
	: >confirmed
	until_ 20 up_or_gone || bad "neither up nor gone"
	plug "$h4"
	until_ 20 has_lid h4 || bad "h4 gets no LID"
	lids >lids.now
	[ ! -s lids.now ] || cp lids.now lids.seen
	for n in 1 2; do
		for what in group service partition; do
			! gone "$qosd" || return
			! $what $n || echo "$(now_us) ${what/partition/part}$n" >>confirmed
		done
		[ $n = 2 ] || sleep 1.1
	done
	sleep 0.2
}

# power_on: starts unconfigured devices.
power_on() { stop_sim; start_sim fabric.topo; }
begin() {
	rm -rf state state.undo.*
	cp -a state.first state
	cp lids.first lids.seen
	power_on
	unplug "$h4"
}

# check_restart WHAT TIME [MAY-BE-ASIDE]: restarts qosd on unconfigured devices: LIDs must be as before, and
# everything must be there that qosd confirmed more than a second (times $patience) before TIME.
check_restart() {
	local what=$1 want patience
	look_busy
	power_on
	start_qosd "$sm" -c qosd.yaml
	until_ 20 subnet_up || { bad "$what: the subnet does not come up again"; show_log "$qosd_log"; return; }
	lids >lids.now
	expect "$what: LIDs that did not stay" "" "$(comm -23 lids.seen lids.now)"
	mapfile -t want < <(awk -v by="$2" -v patience="$patience" '$1 + 1000000 * patience < by { print $2 }' confirmed)
	want+=(service9 group9)
	expect "$what: what was registered" "${want[*]}" "$(kept "${want[@]}" | tr '\n' ' ' | sed 's/ $//')"
	expect "$what: files set aside" "" "$(find state -name '*.damaged*' -o -name '*.unread*')"
	stop_qosd || bad "$what: exit status $? of the next run"
}
for_ever=9999999999999999

note "a first run"
start_sim fabric.topo
unplug "$h2"
unplug "$h4"
start_and_wait "$sm" -c qosd.yaml
plug "$h2"
until_ 10 has_lid h2 || fail "h2 gets no LID: $(ctl ports)"
service 9 || bad "no service"
group 9 || bad "no group"
sleep 0.3
lids >lids.first
expect "LIDs, which are not those of a first start of all" "h1 1 h2 4 h3 3 leaf 2" "$(tr '\n' ' ' <lids.first | sed 's/ $//')"
stop_qosd || bad "exit status $? after SIGTERM"
cp -a state state.first

begin
start_faulty
register
stop_qosd || bad "exit status $? after SIGTERM"
calls=$(wc -l <calls)
note "no fault: $calls calls"
expect "calls of each kind that there should be" "fdatasync fsync mkdir open opendir rename unlink write" \
	"$(cut -d' ' -f2 calls | sort -u | tr '\n' ' ' | sed 's/ $//')"
expect "registered" 6 "$(wc -l <confirmed)"
check_restart "no fault" $for_ever

# each FIRST: prints the numbers of the calls that are to fail.
each() { if [ -n "${STATE_EACH:-}" ]; then seq "$calls"; else seq "$1" 29 "$calls"; fi; }

first=1
for how in kill power torn; do
	# promise: K1
	note "$how"
	first=$((first + 5))
	for at in $(each $first); do
		begin
		start_faulty FAULTY_AT="$at" FAULTY_HOW=$how
		register
		# a run may have fewer calls than another
		gone "$qosd" || { stop_qosd; [ "$(wc -l <calls)" -lt "$at" ] || bad "$how at $at: it lives"; }
		wait "$qosd" 2>/dev/null
		check_restart "$how at $(tail -n 1 calls)" "$(stat -c %.6Y calls | tr -d .)"
	done
done 2> >(grep -v Killed >&2)

for errno in 5 28 30; do	# EIO, ENOSPC, EROFS
	# promise: K2
	note "errno $errno"
	first=$((first + 5))
	for at in $(each $first); do
		begin
		start_faulty FAULTY_AT="$at" FAULTY_HOW=$errno
		register
		# a run may have fewer calls than another
		grep -q " store: .*cannot" "$qosd_log" || [ "$(wc -l <calls)" -lt "$at" ] || [[ $(sed -n "${at}p" calls) == *mkdir* ]] || bad "errno $errno at $(sed -n "${at}p" calls): nothing is said"
		stop_qosd || bad "errno $errno at $(sed -n "${at}p" calls): exit status $?"
		check_restart "errno $errno at $(sed -n "${at}p" calls)" $for_ever
	done
done

problems() { ctl status | sed -n '/^kept state/,/^log/p' | grep -v ^log; }
no_problems() { [ -z "$(problems)" ]; }
late() { problems | grep -q "write stalled for [0-9]* s"; }
# mft_has N: whether the switch forwards N MLIDs to h2's port, without the broadcast group's.
mft_has() { on_own "$h2" ibroute -M 2 >mft 2>&1; [ "$(grep -cE '^0xc.* x' mft)" -ge "$1" ]; }

# A disk with earlier state that is full or read-only from the start.
for errno in 28 30; do
	# promise: K2
	note "errno $errno until it has room again"
	begin
	echo $errno >full
	start_faulty FAULTY_WHILE="$work/full"
	until_ 20 subnet_up || bad "it does not come up"
	expect_match "status" "kept state .*: cannot.*, since 20" "$(problems)"
	expect "groups and services that were kept" "service9 group9" "$(kept service9 group9 | tr '\n' ' ' | sed 's/ $//')"
	group 1 || bad "no group is taken"
	service 1 || bad "no service is taken"
	! partition 1 || bad "a partition is in force that can't be kept"
	expect_match "why not" "cannot store .* in the state folder" "$(<partition.out)"
	expect_less "lines of the log about it in all" 40 "$(grep -c ' store: ' "$qosd_log")"
	rm full
	until_ 20 no_problems || bad "problems that stay: $(problems)"
	partition 1 || bad "no partition is taken: $(<partition.out)"
	pause_until_stored
	stop_qosd KILL
	printf '1 %s\n' group1 service1 part1 >confirmed
	lids >lids.now
	check_restart "after errno $errno" $for_ever
done

# A disk that hangs: only requests that ask for confirmation of storage wait for it.
# promise: K2 A53
note "a disk that hangs"
begin
start_faulty FAULTY_HANG="$work/hang"
until_ 20 subnet_up || bad "it does not come up"
group 1 || bad "no group is taken"
until_ 10 mft_has 1 || bad "no table for the first group"
touch hang
service 1 || bad "no service is taken"
until_ 10 late || bad "that the disk hangs is not said: $(problems)"
for i in 1 2 3 4 5; do
	# saquery sends one request and waits for a second
	expect_match "node records, the disk hanging" "h1" "$(on_own "$h2" saquery NR 2>&1)"
done
group 2 || bad "no group is taken"
! partition 1 || bad "a partition is in force that can't be kept"
expect_match "why not" "cannot store .* in the state folder" "$(<partition.out)"
plug "$h4"
until_ 20 has_lid h4 || bad "h4 gets no LID"
until_ 20 mft_has 2 || bad "no table for the second group"
is_said() { grep -q "error: store: .*: write stalled for [0-9]* s: state is not being stored" "$qosd_log"; }
until_ 5 is_said || bad "nothing is said of the disk: $(<"$qosd_log")"
rm hang
until_ 20 no_problems || bad "problems that stay: $(problems)"
expect "partitions that were refused" "" "$(kept part1)"
lids >lids.seen
pause_until_stored
stop_qosd KILL
printf '1 %s\n' group1 group2 service1 >confirmed
check_restart "after the disk hung" $for_ever
start_and_wait "$sm" -c qosd.yaml
expect "partitions that were refused, after a restart" "" "$(kept part1)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: K2
note "no folder"
rm -rf state
mkdir -p away/inner
start_qosd "$sm" -c qosd.yaml -d away/inner/state
until_ 20 subnet_up || bad "it does not come up"
stop_qosd || bad "exit status $? after SIGTERM"
start_qosd "$sm" -c qosd.yaml -d missing/state
until_ 20 subnet_up || bad "it does not come up without its folder"
expect_match "status" "the folder: cannot be used: No such file or directory" "$(problems)"
mv away/inner missing
folder_is_used() { problems | grep -q 'was not readable' && ! problems | grep -q 'the folder:'; }
until_ 20 folder_is_used || bad "a folder that comes later is not used: $(problems)"
stop_qosd || bad "exit status $? after SIGTERM"
for file in lids lids.unread; do
	[ -f missing/state/$file ] || bad "there is no $file, but $(ls missing/state)"
done

# --- damaged files ---

files=(lids groups groups.journal services subscriptions aliases history partitions)
begin
start_qosd "$sm" -c qosd.yaml
until_ 20 subnet_up || bad "the subnet does not come up"
partition 5 || bad "no partition"
group 5 || bad "no group"
sleep 0.2
stop_qosd || bad "exit status $? after SIGTERM"
start_qosd "$sm" -c qosd.yaml
until_ 20 subnet_up || bad "the subnet does not come up"
group 6 || bad "no group"
# the first save of a run writes a snapshot, which would have the next group, too, if it were late
is_stored() { grep -qE "ff12401bffff0+$1 " state/groups state/groups.journal; }
until_ 10 is_stored 6 || bad "a group is not stored"
group 7 || bad "no group"
all_written() {
	local file
	for file in "${files[@]}"; do [ -s "state/$file" ] || return 1; done
	grep -qE '^member ff12401bffff0+7 ' state/groups.journal
}
until_ 10 all_written || bad "there is no file of each kind to be damaged: $(ls state; cat state/groups.journal)"
lids >lids.seen
stop_qosd KILL
rm -rf state.whole
cp -a state state.whole

flip() { printf "\\x$(printf %x $(($(od -An -tu1 -j "$2" -N1 "$1") ^ $3)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null; }
damage() {
	local f=$2 n
	n=$(stat -c %s "$f")
	case $1 in
	empty) : >"$f" ;;
	one-byte) truncate -s 1 "$f" ;;
	half) truncate -s $((n / 2)) "$f" ;;
	all-but-one) truncate -s -1 "$f" ;;
	first-bit) flip "$f" 0 1 ;;
	middle-bit) flip "$f" $((n / 2)) 4 ;;
	last-digit) flip "$f" $((n - 2)) 1 ;;
	garbage) head -c 5000 /dev/urandom >"$f" ;;
	zeros) head -c "$n" /dev/zero >"$f" ;;
	folder) rm "$f"; mkdir -p "$f/full" ;;
	symlinks) rm "$f"; ln -s "$(basename "$f")" "$f" ;;
	fifo) rm "$f"; mkfifo "$f" ;;
	huge) truncate -s 1G "$f" ;;
	other) cp "state.whole/$3" "$f" ;;
	esac
}
for how in empty one-byte half all-but-one first-bit middle-bit last-digit garbage zeros folder symlinks fifo huge other; do
	# promise: K3
	note "files: $how"
	rm -rf state
	cp -a state.whole state
	for i in "${!files[@]}"; do
		damage $how "state/${files[i]}" "${files[(i + 1) % ${#files[@]}]}"
	done
	start_qosd "$sm" -c qosd.yaml
	until_ 20 subnet_up || bad "the subnet does not come up: $(tail -n 3 "$qosd_log")"
	lids >lids.now
	expect_same "LIDs" lids.seen lids.now
	for file in "${files[@]}"; do
		# without its snapshot, qosd does not read the journal
		[ "$file" = groups.journal ] || problems | grep -qE "^[a-z ]* $file: .*; set aside as " ||
			bad "nothing is said of $file: $(problems)"
	done
	service 1 || bad "no service is taken"
	partition 1 || bad "no partition is taken: $(<partition.out)"
	stop_qosd || bad "exit status $? after SIGTERM"
	start_qosd "$sm" -c qosd.yaml
	until_ 20 subnet_up || bad "the subnet does not come up"
	expect "problems of the run after it" "" "$(problems | grep -v "groups.journal")"
	stop_qosd || bad "exit status $? after SIGTERM"
done

# promise: K3
note "the journal alone"
for how in empty one-byte half all-but-one first-bit middle-bit garbage zeros folder symlinks huge; do
	rm -rf state
	cp -a state.whole state
	damage $how state/groups.journal
	start_qosd "$sm" -c qosd.yaml
	until_ 20 subnet_up || bad "$how: the subnet does not come up"
	expect "$how: groups of the snapshot" "group5 group9" "$(kept group5 group9 | tr '\n' ' ' | sed 's/ $//')"
	case $how in
	empty | one-byte | half | all-but-one | zeros) expect "$how: problems" "" "$(problems)" ;;
	*) expect_match "$how: problems" "groups.journal: .*; set aside as " "$(problems)" ;;
	esac
	stop_qosd || bad "$how: exit status $? after SIGTERM"
done

# promise: K4
note "a clock that jumps"
begin
echo 0 >clock
start_faulty FAULTY_CLOCK="$work/clock"
until_ 20 subnet_up || bad "the subnet does not come up"
service 3 || bad "no service"
left() { ctl -j services | tr -d ' \n' | tr '{' '\n' | sed -nE 's/.*"service-id":"0x0+3".*"lease(-seconds)?(-left)?":([0-9]+).*/\3/p'; }
before=$(left)
for jump in 100000000 -100000000; do
	echo $jump >clock
	sleep 0.3
	ctl sweep >/dev/null
	expect_less "the lease, $jump s later by the clock" 30 $((before - $(left)))
	group 3 || bad "no group"
	sleep 0.2
	stop_qosd KILL
	start_faulty FAULTY_CLOCK="$work/clock"
	until_ 20 subnet_up || bad "the subnet does not come up"
	expect_less "the lease, $jump s later by the clock, after a restart" 30 $((before - $(left)))
	echo 0 >clock
done
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
