#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests adapters whose management agent is the host's driver (True Scale): src/sim/dev/true_scale.c
# lists how it differs from firmware agents.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has one kind of adapter"

cat >profiles.yaml <<'EOT'
nodes:
  - {type: ca, profile: true-scale}
EOT
cat >qosd.yaml <<'EOT'
link-speed: supported
link-width: supported
EOT
# policy FILE MEMBERSHIP: writes a policy with this membership of all ports in the second partition.
policy() {
	cat >"$1" <<-EOT
		partitions:
		  Default: {pkey: 0x7fff, members: {all: full}}
		  tenant: {pkey: 2, members: {all: $2}}
		qos-levels:
		  default: {sl: 0}
	EOT
}
pkeys() { on "host-0001 HCA-1" smpquery pkeys -D 0 1 2>&1 | sed -n 's/^ *0: \(0x.... 0x.... 0x....\).*/\1/p'; }

sim_options=(--profiles profiles.yaml)
start_sim fat-tree:k=4

note "OpenSM brings them up"
bring_up_opensm "host-0001 HCA-1" 20
end "$opensm"

# promise: D1
note "qosd does, too, and refuses nobody"
policy limited.yaml limited
policy both.yaml both
policy full.yaml full
once "host-0001 HCA-1" -c qosd.yaml -p limited.yaml || bad "exit status $?: $(<once)"
expect "refused or ignored Sets" "" "$(grep -E 'refused|keeps another' once.log)"
expect "P_Keys" "0xffff 0x0002 0x0000" "$(pkeys)"
once "host-0001 HCA-1" -c qosd.yaml -p limited.yaml || bad "exit status $?: $(<once)"
expect_match "a second start" ' \(0 Sets\)' "$(<once)"

# promise: D1
note "a limited member that becomes both is a full member on the device"
once "host-0001 HCA-1" -c qosd.yaml -p both.yaml || bad "exit status $?: $(<once)"
expect "P_Keys" "0xffff 0x8002 0x0000" "$(pkeys)"
once "host-0001 HCA-1" -c qosd.yaml -p both.yaml || bad "exit status $?: $(<once)"
expect_match "a second start" ' \(0 Sets\)' "$(<once)"

note "and a limited one again"
once "host-0001 HCA-1" -c qosd.yaml -p limited.yaml || bad "exit status $?: $(<once)"
expect_match "P_Keys" '^0xffff (0x0002 0x0000|0x0000 0x0002)$' "$(pkeys)"
once "host-0001 HCA-1" -c qosd.yaml -p full.yaml || bad "exit status $?: $(<once)"
expect_match "P_Keys" '^0xffff (0x8002 0x0000|0x0000 0x8002)$' "$(pkeys)"
