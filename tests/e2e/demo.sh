#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that `make demo` shows what it says, and leaves no process and no file behind.
#
# promise: O1 O2
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"

# The demo has its own session, so that processes left behind can be found.
# shellcheck disable=SC2016
TMPDIR=$work/tmp setsid --wait bash -c 'echo $$ >"$1"; exec scripts/demo "$2"' \
	- "$work/session" "$QOSD_BUILD" | tee "$work/out"

# SLs of the default level, Lustre, Lustre to a host outside the group, MPI, Lustre after the edit.
sls=$(sed -nE 's/^[[:space:]]*sl\.+0x//p' "$work/out" | xargs)
[ "$sls" = "0 2 0 3 1" ] || { echo "the SLs were $sls"; exit 1; }
# oss01's port has the edited table: VL 1 has the greatest weight.
grep -A 3 'Sets: only' "$work/out" | grep -q '^WEIGHT: |0x20|0xE0|0x20|' ||
	{ echo "the arbitration table was not edited"; exit 1; }
# All pairs are connected on all SLs, with all links and, by another route, with one link less.
found=$(sed -nE -e 's/^links +([0-9]+), active ([0-9]+)$/\1 \2/p' \
	-e 's/^paths +([0-9]+), connected \1$/all/p' "$work/out" | xargs)
[ "$found" = "102 102 all 101 101 all" ] || { echo "the auditor found: $found"; exit 1; }
ways=$(grep "^MF0;leaf01:.* -> MF0;spine" "$work/out" | sort -u | wc -l)
[ "$ways" -eq 2 ] || { echo "the way is the same without the link"; exit 1; }

[ -z "$(ls -A "$work/tmp")" ] || { echo "files stay"; ls -lA "$work/tmp"; exit 1; }
left=$(pgrep -a -s "$(cat "$work/session")" || true)
[ -z "$left" ] || { echo "processes stay: $left"; exit 1; }
