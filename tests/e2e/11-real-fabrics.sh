#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the bring-up, as in 01-bring-up.sh, of dumps of real fabrics, which may not be
# distributed with qosd.
#
# promise: O1
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

dumps=("$fabrics"/*.topo)
if [ ! -e "${dumps[0]}" ]; then
	echo "no dumps of real fabrics in $fabrics"
	exit 77
fi
for topology in "${dumps[@]}"; do
	bring_up "$topology" 0
	bring_up "$topology" 2
done
