#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `qosd-ctl convert` on the files of each directory of convert/.  `findings` is
# what it says, `policy.yaml` and `qosd.yaml` (if there are settings) what it
# makes, which qosd must take; a directory without policy.yaml has files that
# are refused, and then nothing is made.
#
# promise: O8
set -u
export LC_ALL=C
cd "$(dirname "$0")/convert" || exit 1
build=${QOSD_BUILD:-$PWD/../../../build}
out=$(mktemp -d "${TMPDIR:-/tmp}/qosd-golden.XXXXXX") || exit 1
trap 'rm -rf "$out"' EXIT
cases=0 failures=0

wrong() { echo "convert/$1: $2"; failures=$((failures + 1)); }

for dir in */; do
	name=${dir%/}
	cases=$((cases + 1))
	inputs=()
	for file in "$name"/*.conf "$name"/*.xml; do
		[ -e "$file" ] && inputs+=("${file##*/}")
	done
	expected=1
	[ -e "$name/policy.yaml" ] && expected=0
	(cd "$name" && "$build/qosd-ctl" convert "${inputs[@]}") >"$out/policy.yaml" 2>"$out/findings"
	status=$?
	[ $status = $expected ] || wrong "$name" "exit status $status"
	diff "$name/findings" "$out/findings" || wrong "$name" "other findings"
	if [ $expected = 1 ]; then
		[ -s "$out/policy.yaml" ] && wrong "$name" "a refused file makes a policy"
		continue
	fi
	diff "$name/policy.yaml" "$out/policy.yaml" || wrong "$name" "another policy"
	(cd "$name" && "$build/qosd-ctl" convert "${inputs[@]}" -o "$out/$name/") 2>/dev/null ||
		wrong "$name" "no folder is made"
	diff <(grep -v '^#' "$out/policy.yaml") <(grep -v '^#' "$out/$name/policy.yaml") ||
		wrong "$name" "another policy in a folder"
	if [ -e "$name/qosd.yaml" ] || grep -qv '^#' "$out/$name/qosd.yaml"; then
		diff "$name/qosd.yaml" "$out/$name/qosd.yaml" || wrong "$name" "other settings"
	fi
	"$build/qosd" --check -c "$out/$name/qosd.yaml" -p "$out/policy.yaml" >"$out/check" ||
		{ cat "$out/check"; wrong "$name" "qosd refuses the policy or the settings"; }
done
echo "$cases cases, $failures failures"
[ $failures = 0 ] && [ $cases -gt 0 ]
