#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the bring-up of fabrics of every kind, with one LID per port and with four: all
# linked ports become Active, and every pair of CAs is connected without credit loops.
# iblinkinfo, ibdmchk, ibtracert, dump_fts and sminfo check the result.
#
# promise: O1
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

gentopo() { "$tools/gentopo" "$@" >"$work/$1.topo" || fail "gentopo $*"; }
gentopo fat-tree --levels 2 --radix 12
mv fat-tree.topo fat-tree-2.topo
gentopo fat-tree --levels 3 --radix 6
mv fat-tree.topo fat-tree-3.topo
gentopo torus --dims 4x4x3 --hosts-per-switch 2
gentopo ring --switches 9 --hosts-per-switch 2
gentopo random --switches 24 --radix 12 --links 70 --hosts 60 --seed 7

for topology in "$top/examples/cluster.topo" fat-tree-2.topo fat-tree-3.topo torus.topo ring.topo \
	random.topo; do
	bring_up "$topology" 0
	bring_up "$topology" 2
done
