#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `qosd --check` on every golden file: what it prints, and its exit status.
# X.findings is the expected output (none: nothing), followed with -v by
# X.normal; a policy without X.normal is refused.
#
# promise: O9 P12
set -u
cd "$(dirname "$0")" || exit 1
qosd=${QOSD_BUILD:-$PWD/../../build}/qosd
out=${TMPDIR:-/tmp}/qosd-golden.$$
trap 'rm -f "$out"' EXIT
files=0 failures=0

# check STATUS EXPECTED-FILE... -- OPTION...: runs qosd in the file's directory.
check() {
	local status=$1 got expected=()
	shift
	while [ "$1" != -- ]; do
		[ -e "$1" ] && expected+=("$1")
		shift
	done
	"$qosd" --check "${@:2}" >"$out"
	got=$?
	if [ $got != "$status" ] || ! diff <(cat "${expected[@]}" </dev/null) "$out"; then
		echo "qosd --check ${*:2}: exit status $got"
		failures=$((failures + 1))
	fi
}

cd policy || exit 1
for f in *.yaml; do
	x=${f%.yaml}
	[ -e "$x.normal" ]
	refused=$?
	check $refused "$x.findings" -- -c ../settings/empty.yaml -p "$f"
	check $refused "$x.findings" "$x.normal" -- -v -c ../settings/empty.yaml -p "$f"
	files=$((files + 1))
done
cd ../settings || exit 1
for f in *.yaml; do
	x=${f%.yaml}
	[ ! -e "$x.findings" ]
	check $? "$x.findings" -- -c "$f" -p ../policy/sections-left-empty.yaml
	files=$((files + 1))
done
cd ../../../etc || exit 1
check 0 -- -c qosd.yaml -p policy.yaml

echo "$files files, $failures failures"
[ $failures = 0 ]
