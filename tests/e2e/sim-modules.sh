#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Reads modules in ports of qosd-sim's devices by the library of Debian's mstflint, in band.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have no registers"
compgen -G '/usr/lib/*/mstflint/python_tools/cmtcr.so' >/dev/null ||
	{ echo "mstflint's library is not installed"; exit 77; }

cat >profiles.yaml <<'END'
profiles:
  copper: {like: connectx-6, module: copper}
nodes:
  - {name: "host-0003*", profile: copper}
END
sim_options=(--profiles profiles.yaml)
start_sim "clos:1x1,hosts=4"
node="host-0001 HCA-1"
start_and_wait "$node"
lid_of() { sim_ctl -j show port "$1" | jq .lid; }
# module DEVICE WHAT...: what mstflint's library reads.
module() { on "$node" "$tools_source/modules.py" "$@" 2>&1; }
tools_source=$top/tests/tools
leaf=$(lid_of leaf-001/P0)

# promise: Q4
note "the library reads a switch by LID and by directed route"
for device in "lid-$leaf" ibdr-0.1; do
	expect "$device: the chip" 0x24d "$(module "$device" chip)"
	expect "$device: local port 1" "2 0 0 1 2 3" "$(module "$device" local 1)"
	expect "$device: local port 4" "3 3 0 1 2 3" "$(module "$device" local 4)"
	expect "$device: identifier" 1108 "$(module "$device" memory 0 0 0 2)"
done
expect "vendor" 514f53442d53494d2020202020202020 "$(module "lid-$leaf" memory 0 0 148 16)"	# QOSD-SIM
expect "part" 53494d2d414f43202020202020202020 "$(module "lid-$leaf" memory 0 0 168 16)"	# SIM-AOC
expect "alarms of the temperature" 4b00fb00 "$(module "lid-$leaf" memory 0 3 128 4)"

# promise: Q4
note "what commands set, and flags that reading clears"
sim_do module leaf-001/P2 temperature 71.5
sim_do module leaf-001/P2 rx-power 0.01 3
expect "temperature" 4780 "$(module "lid-$leaf" memory 0 0 22 2)"
expect "powers" 2328232800642328 "$(module "lid-$leaf" memory 0 0 34 8)"
expect "flags" 200000005000 "$(module "lid-$leaf" memory 0 0 6 6)"
sim_do module leaf-001/P2 temperature 30
module "lid-$leaf" memory 0 0 6 6 >/dev/null
expect "flags later" 000000005000 "$(module "lid-$leaf" memory 0 0 6 6)"
sim_do module leaf-001/P2 osfp
expect "another module" 19 "$(module "lid-$leaf" memory 0 0 0 1)"
sim_do module leaf-001/P2 none
expect "no module" "module status 3" "$(module "lid-$leaf" memory 0 0 0 1)"

# promise: Q4
note "devices that deny it"
sim_do registers leaf-001 1
expect "busy" "MCIA: status 1" "$(module "lid-$leaf" memory 2 0 0 1)"
sim_do registers leaf-001 0
expect "not any more" 11 "$(module "lid-$leaf" memory 2 0 0 1)"
expect "a copper cable" a0 "$(module "lid-$(lid_of "host-0003 HCA-1/P1")" memory 0 0 147 1)"
stop_qosd || bad "exit status $?"
stop_sim
