#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the daemon with libibumad, libibmad and libibnetdisc of another version of rdma-core, built from
# source, than the one it was built with: discovery stays in its sandbox.
#
#   RDMA_CORE_SOURCE	the source tree, which is not written to
#   RDMA_CORE_BUILD	folder of the build, which later runs reuse; default a scratch folder
#
# promise: N6
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's own library is given more system calls"
[ -n "${RDMA_CORE_SOURCE:-}" ] || { echo "RDMA_CORE_SOURCE names no source of rdma-core"; exit 77; }
[ -z "${QOSD_SANITIZE:-}" ] || { echo "a sanitizer's build filters nothing"; exit 77; }
for program in cmake ninja; do
	command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done

libraries=${RDMA_CORE_BUILD:-$work/rdma-core}
{
	cmake -G Ninja -DNO_MAN_PAGES=1 -DNO_PYVERBS=1 -S "$RDMA_CORE_SOURCE" -B "$libraries" &&
		ninja -C "$libraries" libibumad.so libibmad.so libibnetdisc.so
} >build.log 2>&1 || fail "it does not build: $(tail -n 5 build.log)"
note "rdma-core $(sed -nE 's/^set\(PACKAGE_VERSION "(.*)"\)$/\1/p' "$RDMA_CORE_SOURCE/CMakeLists.txt")"
export LD_LIBRARY_PATH=$libraries/lib

"$tools/gentopo" fat-tree --levels 2 --radix 8 >fat.topo || fail "gentopo"
node=$(first_ca fat.topo)
far=$(cas fat.topo | tail -n 1)
start_sim fat.topo
cat >qosd.yaml <<'END'
sandbox: strict
sweep-interval: 0
END
start_and_wait "$node" -c qosd.yaml
for library in libibumad libibmad libibnetdisc; do
	grep -q "$libraries/lib/$library.so" "/proc/$qosd/maps" || bad "another $library is used"
done
all_active "$far" fat.topo
before=$(status sweeps)
ctl sweep >out 2>&1 || bad "sweep: $(<out)"
swept_again() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
until_ 20 swept_again || bad "no second sweep"
expect "what discovery complains of" "" "$(grep -E 'refused|not sandboxed|discovery:' "$qosd_log")"
stop_qosd || bad "exit status $?"
stop_sim
