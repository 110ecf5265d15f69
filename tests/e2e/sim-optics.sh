#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Reads transceivers and cables of a fabric whose devices answer, refuse, are silent or busy, with an M_Key in force.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have no registers"

cat >profiles.yaml <<'END'
profiles:
  refuses: {like: connectx-6, registers: false}
  copper: {like: connectx-6, module: copper}
nodes:
  - {name: "host-0002*", profile: connectx-3}
  - {name: "host-0003*", profile: copper}
  - {name: "host-0004*", profile: refuses}
  - {name: "spine-001*", profile: quantum-2}
END
sim_options=(--profiles profiles.yaml)
printf 'policy: none\nm-key: 0x1234\n' >qosd.yaml
start_sim "clos:1x1,hosts=4"
start_and_wait "host-0001 HCA-1" -c qosd.yaml
# port NAME JQ: what `optics` has of a port, as it was last read.
port() { ctl -j optics "$1" | jq -rc ".ports[0] | $2"; }
states() { ctl -j optics | jq -r '.ports[] | "\(.port | split(" (")[0])=\(.state)"' | sort | xargs; }
asked() { sim_ctl -j stats | jq '[.mads[]? | select(.attribute == "AccessRegister" and .method == "set") | .count] | add // 0'; }
read_all() { ctl optics read "$@" >read.out 2>&1 || bad "optics read: $(<read.out)"; }

# promise: Q5
note "what the modules of a fabric are and measure"
expect "the M_Key" 0x0000000000001234 "$(sim_ctl -j show port leaf-001/P0 | jq -r '."m-key"')"
expect "before" unread "$(port leaf-001/P1 .state)"
expect_match "before, as text" "transceivers have not been read yet" "$(ctl optics)"
read_all
expect "states" "host-0001 HCA-1/P1=read host-0002 HCA-1/P1=unsupported host-0003 HCA-1/P1=read \
host-0004 HCA-1/P1=refused leaf-001/P1=read leaf-001/P2=read leaf-001/P3=read leaf-001/P4=read leaf-001/P5=read \
spine-001/P1=read" "$(states)"
expect "a QSFP28" '["QSFP28","QOSD-SIM","SIM-AOC","A1","850 nm VCSEL",5,[1,2,3,4],41.5,3.29,null]' \
	"$(port leaf-001/P2 '[.kind, .vendor, .part, .revision, .technology, .length, .lanes, .temperature, .voltage, .worst]')"
expect "an OSFP" '["OSFP","QOSD-SIM","SIM-OSFP",8,"MPO 1x16"]' \
	"$(port spine-001/P1 '[.kind, .vendor, .part, (.lanes | length), .connector]')"
expect "a copper cable" '["QSFP28","passive copper",null,null]' \
	"$(port host-0003 '[.kind, .technology, .temperature, ."rx-power"]')"
expect "the same cable at both ends" "$(port leaf-001/P1 .serial)" "$(port host-0001 .serial)"
expect_match "as text" "rx power +-0.46 +-0.46 +-0.46 +-0.46 dBm" "$(ctl optics leaf-001/P2)"
expect "a filter" 7 "$(ctl optics --where 'kind=QSFP28' --count)"
expect "a port that nobody reads" "no such port with a link is of a device that is known to tell of its transceivers" \
	"$(ctl optics read host-0002 2>&1 | sed 's/^qosd-ctl: //')"

# promise: Q5
note "values beyond thresholds, in health, events and metrics"
problems() { ctl health | grep -oE '(optics-[a-z]*): .*' | sed 's/ (0x[0-9a-f]*)//'; }
expect "health before" "" "$(problems)"
sim_do module leaf-001/P2 temperature 76.5
sim_do module leaf-001/P2 rx-power 0.01 3
sim_do module spine-001/P1 bias 12.5 8
read_all
expect "temperature" '[76.5,-20,"high-alarm"]' "$(port leaf-001/P2 '[.temperature, ."rx-least", .worst]')"
expect "beyond" '[["temperature","high-alarm",[]],["temperature","high-warning",[]],["rx-power","low-alarm",[3]],["rx-power","low-warning",[3]]]' \
	"$(port leaf-001/P2 '[.beyond[] | [.quantity, .threshold, .lanes]]')"
expect "alarms" "leaf-001/P2 spine-001/P1" "$(ctl -j optics --alarms | jq -r '.ports[].port | split(" (")[0]' | sort | xargs)"
expect "health" "optics-alarm: leaf-001/P2: temperature 76.5 C above the high alarm of 75.0 C, rx-power -20.0 dBm in lane 3 \
below the low alarm of -13.5 dBm
optics-warning: spine-001/P1: tx-bias 12.5 mA in lane 8 above the high warning of 12.0 mA" "$(problems)"
events_of() { ctl -j events --kind "$1" | jq -r '.data.name | split(" (")[0]' | xargs; }
expect "event" leaf-001/P2 "$(events_of optics-alarm)"
expect "metrics" "qosd_optics_ports_beyond{threshold=\"alarm\"} 1 qosd_optics_ports_beyond{threshold=\"warning\"} 1 \
qosd_port_optics_alarm{port=\"leaf-001/P2 (0x0251530200000100)\",threshold=\"high-alarm\"} 1" \
	"$(ctl metrics | grep -E '^qosd_(optics_ports_beyond|port_optics_alarm)' | xargs -d '\n')"
advice() { ctl health | grep -A 1 "$1: $2" | sed -n '2s/.*-> //p'; }
expect "advice on heat" "look at the cooling and the transceiver; 'qosd-ctl optics' has its values" "$(advice optics-warning spine-001/P1)"
expect "advice on little light" "clean the connectors, and look at the transceiver at the far end" "$(advice optics-alarm leaf-001/P2)"
sim_do module leaf-001/P2 temperature 50
sim_do module leaf-001/P2 rx-power 1
read_all leaf-001
expect "event" leaf-001/P2 "$(events_of optics-clear)"
expect "flags of the time between" '["temperature","temperature","rx-power","rx-power"]' \
	"$(port leaf-001/P2 '[.latched[].quantity]')"
sim_do module leaf-001/P2 rx-power 0.06 3
read_all leaf-001
expect "advice on a bit too little" "clean the connectors, and look at the transceiver at the far end" "$(advice optics-warning leaf-001/P2)"
sim_do module leaf-001/P2 rx-power 1
read_all leaf-001

# promise: Q6
note "a reading is cheap, and asks nobody who refused"
before=$(asked)
read_all
# three for each QSFP28 with optics, two for the copper cable, six for the OSFP
expect "SMPs" $((6 * 3 + 2 + 6)) $(($(asked) - before))
before=$(asked)
read_all host-0004
expect "state" refused "$(port host-0004 .state)"
expect "asked again by name" 1 $(($(asked) - before))
# promise: Q6
note "busy devices, other modules, and ports without one"
sim_do registers leaf-001 1 --times 3
sim_do module leaf-001/P3 osfp
sim_do module leaf-001/P4 none
serial=$(port leaf-001/P2 .serial)
sim_do module leaf-001/P2 auto
read_all leaf-001
expect "another kind" OSFP "$(port leaf-001/P3 .kind)"
expect "none" empty "$(port leaf-001/P4 .state)"
[ "$(port leaf-001/P2 .serial)" != "$serial" ] || bad "the serial number of the other module is still $serial"
sim_do registers leaf-001 1
sim_do module leaf-001/P2 temperature 33
before=$(asked)
read_all leaf-001/P2
expect "a device that stays busy" 50 "$(port leaf-001/P2 '(.temperature + 8.5)')"
expect "it was asked" 5 $(($(asked) - before))
sim_do registers leaf-001 0
# promise: Q6
note "a silent device"
sim_do node silent "host-0003 HCA-1"
read_all host-0003
expect "state" silent "$(port host-0003 .state)"
sim_do node answer "host-0003 HCA-1"
sim_do link down "host-0003 HCA-1/P1"
gone_now() { ! ctl nodes | grep -q host-0003; }
until_ 10 gone_now || bad "host-0003 does not go away"
sim_do link up "host-0003 HCA-1/P1"
all_there() { subnet_up && ctl nodes | grep -q host-0003; }
until_ 20 all_there || bad "host-0003 does not come back"

# promise: Q6
note "readings from time to time"
printf 'policy: none\nm-key: 0x1234\noptics-interval: 1s\n' >qosd.yaml
ctl reload >reload.out 2>&1 || bad "reload: $(<reload.out)"
is_hot() { [ "$(port leaf-001/P2 .worst)" = high-warning ]; }
sim_do module leaf-001/P2 temperature 72
until_ 10 is_hot || bad "leaf-001/P2: $(port leaf-001/P2 .)"
is_read() { [ "$(port host-0003 .state)" = read ]; }
until_ 10 is_read || bad "host-0003 is not asked again: $(port host-0003 .)"
stop_qosd || bad "exit status $?"
stop_sim
