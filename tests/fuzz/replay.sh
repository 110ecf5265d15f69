#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Every fuzzer on its corpus: fuzz_X on the files of corpus/X.
#
# promise: Q2
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${QOSD_BUILD:-$top/build}
failures=0 files=0

for source in "$top"/tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	corpus=("$top/tests/fuzz/corpus/${name#fuzz_}"/*)
	[ -e "${corpus[0]}" ] || { echo "$name has no corpus"; failures=$((failures + 1)); continue; }
	"$build/tests/fuzz/$name" "${corpus[@]}" ||
		{ echo "$name: exit status $?"; failures=$((failures + 1)); }
	files=$((files + ${#corpus[@]}))
done
echo "$files inputs, $failures fuzzers failed"
[ $failures -eq 0 ] && [ $files -gt 0 ]
