#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests that qosd reports congestion control that another manager set up, and does not change it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim's devices have no agent for it"
command -v ibccquery >/dev/null || { echo "ibccquery is not installed"; exit 77; }

"$tools/gentopo" fat-tree --levels 2 --radix 4 >topology
node=$(first_ca topology)
far=$(cas topology | tail -n 1)
spine=$(grep -o '"S-[0-9a-f]*"' topology | head -n 1 | tr -d '"')
hosts=$(cas topology | wc -l)
switches=$(grep -c '^Switch' topology)
sim_options=()
lid_of() { sim_ctl -j show port "$1" | sed -nE 's/.*"lid":([0-9]+),.*/\1/p'; }
# requests METHOD [ATTRIBUTE]: prints how many such MADs of the congestion control class there were.
requests() { sim_ctl stats | awk -v m="$1" -v a="${2:-}" '$1 == "cc" && $3 == m && (a == "" || a == $2) { n += $4 } END { print n + 0 }'; }
settings() {
	local lid
	for port in "$spine/P0" "$node/P1" "$far/P1"; do
		lid=$(lid_of "$port")
		on "$node" ibccquery SwitchCongestionSetting "$lid" 2>/dev/null ||
			on "$node" ibccquery CACongestionSetting "$lid"
	done
}
told() { ctl -j health | grep -q "\"kind\": \"$1\""; }
text_of() { ctl health | sed -nE "s/^([a-z]+) +$1: (.*)/\1 \2/p"; }
read_again() {
	local before
	before=$(requests get)
	ctl sweep >/dev/null
	asked() { [ "$(requests get)" -ge $((before + $1)) ]; }
	until_ 10 asked "$1" || bad "the devices are not asked again: $(requests get) after $before"
}

# promise: D80
note "OpenSM sets it up, in its own way"
cat >opensm.conf <<'END'
congestion_control TRUE
cc_sw_cong_setting_control_map 0x1f
cc_sw_cong_setting_victim_mask 0xFFFE
cc_sw_cong_setting_threshold 0x0F
cc_sw_cong_setting_packet_size 8
cc_sw_cong_setting_marking_rate 10
cc_ca_cong_setting_port_control 1
cc_ca_cong_setting_control_map 0x0003
cc_ca_cong_setting_ccti_timer 0 150
cc_ca_cong_setting_ccti_increase 0 1
cc_ca_cong_setting_ccti_increase 1 1
cc_cct 0:0,0:1,0:2,0:3
END
start_sim topology
bring_up_opensm "$node" 30 -F opensm.conf
has_set() { [ "$(requests set)" -ge $((switches + 2 * hosts)) ]; }
until_ 10 has_set ||
	bad "OpenSM set $(requests set) attributes"
end "$opensm"
settings >before
expect_match "ibccquery" 'Threshold:\.+0x0f' "$(<before)"
expect_match "ibccquery" 'CCTI_Increase:\.+1' "$(<before)"

# promise: D80
note "the summary and health tell of it, and nothing is changed"
on="$switches of $switches switches mark packets, $hosts of $hosts adapter ports slow down what they send on SLs 0, 1"
sets_before=$(requests set)
once "$node" || bad "exit status $?: $(<once) $(<once.log)"
expect_match "the summary" "congestion control of another manager is on: $on" "$(<once)"
start_and_wait "$node"
until_ 10 told congestion-control || bad "health says nothing"
expect_match "health" "^info congestion control of another manager is on: $on\$" "$(text_of congestion-control)"
expect "the verdict" ok "$(ctl -j health | field verdict)"
settings >after
expect_same "settings" before after
expect "Sets of congestion control" "$sets_before" "$(requests set)"

# promise: D80
note "once each: not in a sweep after a change"
asked=$(requests get)
linked=$(status nodes)
unplug "$far" 1
gone_is() { [ "$(status nodes)" = "$1" ]; }
until_ 10 gone_is $((linked - 1)) || bad "the link is not seen to be down"
expect "questions after a link is lost" "$asked" "$(requests get)"
plug "$far" 1
until_ 10 gone_is "$linked" || bad "the link is not seen to be up"
back() { [ "$(requests get)" = $((asked + 3)) ]; }
until_ 10 back || bad "questions to a host that is back: $(($(requests get) - asked)), not 3"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: D80
note "a policy with SLs that are spared: some lose what others keep"
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  bulk: {sl: 3}
END
rm -rf state
start_and_wait "$node" -p policy.yaml
until_ 10 told congestion-control || bad "health says nothing"
expect_match "health" "^warning .* on SLs 0, 1; of the policy's SLs, not all ports slow down on SL 3\$" "$(text_of congestion-control)"

# promise: D80
note "switched off, it is told no more"
for port in $(cas topology); do
	on "$node" ibccconfig CongestionControlTable "$(lid_of "$port/P1")" 0 0 0:0 || bad "ibccconfig to $port"
done
for sw in $(sed -nE 's/^Switch.*"(S-[0-9a-f]+)".*/\1/p' topology); do
	on "$node" ibccconfig SwitchCongestionSetting "$(lid_of "$sw/P0")" 0x4 0 0 0 0 0 0:0 0 || bad "ibccconfig to $sw"
done
read_again $((2 * switches + 2 * hosts))
off() { ! told congestion-control; }
until_ 10 off || bad "health still says: $(text_of congestion-control)"

# promise: D80
note "one port of one switch"
on "$node" ibccconfig SwitchPortCongestionSetting "$(lid_of "$spine/P0")" 2 1 0 9 8 10 || bad "ibccconfig"
read_again $((2 * switches + 2 * hosts))
until_ 10 told congestion-control || bad "health says nothing"
expect_match "health" "1 of $switches switches mark packets, 0 of $hosts adapter ports slow down\$" "$(text_of congestion-control)"
stop_qosd || bad "exit status $? after SIGTERM"

# promise: D80
note "a CC_Key keeps a host from telling; it is not asked again"
on "$node" ibccconfig CongestionKeyInfo "$(lid_of "$far/P1")" 0x1234 1 0 0 || bad "ibccconfig"
start_and_wait "$node"
until_ 10 told congestion-control-hidden || bad "health does not tell of the key"
expect_match "health" "^info 1 port whose device has congestion control does not answer queries for it" "$(text_of congestion-control-hidden)"
tries=$(on "$node" ibccquery -c 0x1234 CongestionKeyInfo "$(lid_of "$far/P1")" | sed -nE 's/^CC_KeyViolations:\.+//p')
expect "tries" 2 "$tries"
read_again $((2 * switches + 2 * (hosts - 1) - 1))
expect "tries after a sweep" 2 "$(on "$node" ibccquery -c 0x1234 CongestionKeyInfo "$(lid_of "$far/P1")" | sed -nE 's/^CC_KeyViolations:\.+//p')"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim

# promise: D80
note "devices without it are asked once"
cat >plain.yaml <<'END'
profiles:
  plain: {congestion-control: false}
nodes:
  - {type: any, profile: plain}
END
sim_options=(--profiles plain.yaml)
rm -rf state
start_sim topology
start_and_wait "$node"
all_asked() { [ "$(requests get)" = $((switches + hosts)) ]; }
until_ 10 all_asked || bad "questions: $(requests get), not $((switches + hosts))"
before=$(status sweeps)
ctl sweep >/dev/null
swept_again() { [ "$(status sweeps)" -gt "$before" ] && [ "$(status sweeping)" = false ]; }
until_ 10 swept_again || bad "no further sweep"
expect "questions after another sweep" $((switches + hosts)) "$(requests get)"
told congestion-control && bad "health tells of congestion control"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
