#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs sim-refusals.sh for one kind of refusal at a time.  Each has its own fabric and daemon; several run
# at once, because most of the time is spent waiting for the second and third try.
#
# REFUSAL_TREE=fat-tree:k=16 REFUSAL_JOBS=1 has 1,024 hosts and runs one kind after the other.  KINDS="0 6"
# selects kinds.  The default omits kinds in which a switch refuses what an adapter refuses here.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no devices that refuse Sets"

test=$(dirname "$0")/sim-refusals.sh
case $test in /*) ;; *) test=$OLDPWD/$test ;; esac
jobs=${REFUSAL_JOBS:-6}
read -ra kinds <<<"${KINDS:-0 1 2 3 4 8 9 10 11}"

# promise: D20
note "each kind of refusal in turn"
running=0
for kind in "${kinds[@]}"; do
	[ "$running" -lt "$jobs" ] || { wait -n; running=$((running - 1)); }
	{
		ONLY=$kind TMPDIR=$work "$test" >"kind.$kind" 2>&1
		echo "exit status $?" >>"kind.$kind"
	} &
	running=$((running + 1))
done
wait
for kind in "${kinds[@]}"; do
	grep -hE 'SMPs of a flap|in fat-tree' "kind.$kind"
	[ "$(tail -n 1 "kind.$kind")" = "exit status 0" ] || bad "kind $kind: $(<"kind.$kind")"
done
