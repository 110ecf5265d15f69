#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests link speeds: devices that show their extended speeds only to a manager that asks for them,
# XDR, links of half width, speeds without a name; `link-speed: supported` and
# `link-width: supported` on a running fabric, and `links retrain`.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim knows no speed beyond HDR and hides none"

sim_options=(--profiles profiles.yaml)
all_four="14.0625 Gbps or 25.78125 Gbps or 53.125 Gbps or 106.25 Gbps"
manager=host-0001\ HCA-1
# profile KEYS: gives all devices these keys besides the values that follow from their links.
profile() { printf 'profiles:\n  odd: {%s}\ndefault: odd\n' "$1" >profiles.yaml; }
# links: prints how many ports have each link and rate in `qosd-ctl ports`.
links() {
	ctl -j ports | sed -nE 's/.*"link": "([^"]*)", "rate": ([0-9.]*),.*/\1 \2/p' | sort | uniq -c |
		awk '{ printf "%s %s %d;", $2, $3, $1 }'
}
# path_rate: prints the IBA code of the rate between the first and the last host.
path_rate() {
	on "$manager" saquery PR --sgid "$(gid 0251530100000101)" --dgid "$(gid 0251530100000401)" |
		sed -nE 's/^\s*rate\.*(0x)?([0-9a-f]+)$/\2/ip' | head -n 1
}
# asked METHOD: prints how many PortInfo SMPs of this method devices received.
asked() {
	sim_ctl stats | awk -v m="$1" '$2 == "PortInfo" && $3 == m { n += $4 } END { print n + 0 }'
}
# portinfo PORT FIELD: prints a field that smpquery reads with SMSupportExtendedSpeeds.
portinfo() {
	on "$manager" smpquery -x -G portinfo 0x0251530200000100 "$1" |
		sed -nE "s/^$2:\.*(.*)$/\1/p"
}
restart() {
	stop_qosd || bad "qosd ends with exit status $?"
	start_and_wait "$manager" "$@"
}

# --- devices that claim extended speeds and have none ---

# promise: D30
note "two ports of a switch tell that it hides nothing"
profile "like: ibsim"
start_sim switch:36,hosts=30
first=$(sim_ctl show nodes | awk '$1 == "ca" { print $2; exit }')
once "$first" || bad "exit status $?: $(<once.log)"
# discovery reads each host's port and all ports of the switch, then two ports of it with the bit set
expect_less "PortInfos read" $((30 + 37 + 2 + 2)) "$(asked get)"
stop_sim
rm -rf state

# --- hidden speeds, XDR ---

# promise: D30
note "devices that hide their speeds"
profile "like: auto, hides-speeds: true"
start_sim switch:8,hosts=4,speed=4xXDR
start_and_wait "$manager"
expect "links of devices that hide their speeds" "4xXDR 800.0 8;" "$(links)"
expect "rate of a path over XDR links" 97 "$(path_rate)"	# in hexadecimal: selector 2, rate code 23, 800 Gb/s
expect "what a manager is shown that does not ask" "10.0 Gbps" \
	"$(on "$manager" smpquery -G portinfo 0x0251530200000100 2 |
		sed -nE 's/^LinkSpeedActive:\.*(.*)$/\1/p')"
sim_do check
note "a host goes and comes back"
gets=$(asked get)
sim_do link down "host-0004 HCA-1"
is_gone() { [ "$(links)" = "4xXDR 800.0 6;" ]; }
until_ 10 is_gone || bad "the host is still there: $(links)"
sim_do link up "host-0004 HCA-1"
is_back() { [ "$(links)" = "4xXDR 800.0 8;" ] && subnet_up; }
until_ 10 is_back || bad "the host is not back as it was: $(links)"
# both ends of each link, repeatedly while they train
expect_less "PortInfos read for that" 60 $(($(asked get) - gets))
# qosd and qosd-sim both read the output of ibnetdiscover
on "$manager" ibnetdiscover >dump 2>/dev/null
sed -E 's/( lid [0-9]+) [0-9]+x[A-Z?]+/\1 4xXDR/' dump >xdr.topo
stop_qosd || bad "qosd ends with exit status $?"
# promise: D30
note "OpenSM takes what is hidden for QDR"
bring_up_opensm "$manager" 20
expect "rate of a path by OpenSM over XDR links" 87 "$(path_rate)"	# 7: 40 Gb/s
end "$opensm"
stop_sim
rm -rf state

# --- LinkSpeedActive at an extended speed ---

# promise: D30
note "devices whose LinkSpeedActive is 0 at an extended speed"
profile "like: auto, extended-active: true"
start_sim switch:8,hosts=4,speed=4xXDR
start_and_wait "$manager"
expect "what smpquery reads" "Extended speed" "$(portinfo 2 LinkSpeedActive)"
expect "links" "4xXDR 800.0 8;" "$(links)"
expect "rate of a path" 97 "$(path_rate)"
expect "lines of health" "" "$(ctl health | grep -E '^(error|warning)')"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
rm -rf state

# --- a running fabric ---

# promise: D31
note "all that is supported is enabled, and no link goes down for it"
profile "like: auto"
start_sim xdr.topo
sim_do portinfo S-0251530200000100/P2 LinkSpeedExtEnabled 1
bring_up_opensm "$manager" 20
expect "LinkSpeedExtEnabled, which OpenSM sets by the same bit" "$all_four" \
	"$(portinfo 2 LinkSpeedExtEnabled)"
end "$opensm"
start_and_wait "$manager"
expect "links of a dump" "4xXDR 800.0 8;" "$(links)"
for port in 2 3; do
	sim_do portinfo S-0251530200000100/P$port LinkSpeedExtEnabled 1
	sim_do portinfo S-0251530200000100/P$port LinkWidthEnabled 1
	sim_do link down S-0251530200000100/P$port
	sim_do link up S-0251530200000100/P$port
done
slower() { [ "$(links)" = "1xXDR 200.0 4;4xXDR 800.0 4;" ]; }
until_ 10 slower || bad "the links are not slower: $(links)"
before=$(asked set)
restart
expect "links with link-speed: keep" "1xXDR 200.0 4;4xXDR 800.0 4;" "$(links)"
expect "Sets after a restart" "$before" "$(asked set)"
printf 'link-speed: supported\nlink-width: supported\n' >qosd.yaml
restart -c qosd.yaml
expect "LinkSpeedExtEnabled" "$all_four" "$(portinfo 2 LinkSpeedExtEnabled)"
expect "LinkWidthEnabled" "1X or 4X or 2X" "$(portinfo 2 LinkWidthEnabled)"
# one Set for each of the two ports and no other
expect "Sets for what is supported" $((before + 2)) "$(asked set)"
expect "links that nobody took down" "1xXDR 200.0 4;4xXDR 800.0 4;" "$(links)"
ctl sweep >/dev/null
swept() { [ "$(status sweeps)" -ge 2 ] && [ "$(status sweeping)" = false ]; }
until_ 10 swept || bad "no end of the sweep"
expect "Sets when all is enabled" $((before + 2)) "$(asked set)"
ctl links retrain host-0002\ HCA-1/P1 >/dev/null || bad "links retrain: exit status $?"
faster() { [ "$(links)" = "1xXDR 200.0 2;4xXDR 800.0 6;" ] && subnet_up; }
until_ 10 faster || bad "the link is not faster: $(links)"
expect_match "ports that were taken down" '"taken-down":1' "$(sim_ctl -j show port S-0251530200000100/P2)"
ctl links retrain host-0004\ HCA-1/P2 >out 2>&1 && bad "a port that there is not is retrained"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
rm -rf state qosd.yaml

# --- FDR10 ---

# ext METHOD: prints how many ExtendedPortInfo SMPs of this method devices received.
ext() { sim_ctl stats | awk -v m="$1" '$2 == "ExtendedPortInfo" && $3 == m { n = $4 } END { print n + 0 }'; }
again() { [ "$(status sweeps)" -gt "$1" ] && [ "$(status sweeping)" = false ]; }
sweep() {
	local before
	before=$(status sweeps)
	ctl sweep >/dev/null
	until_ 10 again "$before" || bad "no end of the sweep"
}
fdr10_enabled() {	# 1 where both ends of the link to host 2 have it enabled
	{
		on "$manager" smpquery -G mepi 0x0251530200000100 2
		on "$manager" smpquery -G mepi 0x0251530100000201 1
	} 2>&1 | sed -nE 's/^LinkSpeedEnabled:\.*0x0(.)$/\1/p' | sort -u | tr '\n' ' '
}
qdr() {		# disables FDR10 at both ends of the link to host 2 and retrains it
	on "$manager" ibportstate -G 0x0251530200000100 2 fdr10 0 >/dev/null 2>&1
	on "$manager" ibportstate -G 0x0251530100000201 1 fdr10 0 >/dev/null 2>&1
	expect "LinkSpeedEnabled of both ends" "0 " "$(fdr10_enabled)"
	sim_do link down S-0251530200000100/P2
	sim_do link up S-0251530200000100/P2
	until_ 10 has_links "4xFDR10 40.0 6;4xQDR 40.0 2;" || bad "the link is not slower: $(links)"
}
has_links() { [ "$(links)" = "$1" ] && subnet_up; }
# promise: D123
note "FDR10 is enabled where both ends know it, by OpenSM and by qosd"
profile "like: auto, speeds: [sdr, ddr, qdr, fdr10]"
start_sim switch:8,hosts=4,speed=4xFDR10
start_and_wait "$manager"
expect "links" "4xFDR10 40.0 8;" "$(links)"
qdr
gets=$(ext get)
sweep
expect "questions of a sweep where nothing has changed" "$gets" "$(ext get)"
expect "Sets with link-speed: keep" 2 "$(ext set)"
stop_qosd || bad "qosd ends with exit status $?"
bring_up_opensm "$manager" 20
expect "LinkSpeedEnabled with OpenSM" "1 " "$(fdr10_enabled)"
end "$opensm"
start_and_wait "$manager"
qdr
echo "link-speed: supported" >qosd.yaml
sets=$(ext set)
restart -c qosd.yaml
expect "LinkSpeedEnabled" "1 " "$(fdr10_enabled)"
expect "links that nobody took down" "4xFDR10 40.0 6;4xQDR 40.0 2;" "$(links)"
expect "Sets of the two ends" $((sets + 2)) "$(ext set)"
ctl links retrain host-0002\ HCA-1/P1 >/dev/null || bad "links retrain: exit status $?"
until_ 10 has_links "4xFDR10 40.0 8;" || bad "the link is not faster: $(links)"
gets=$(ext get)
sweep
expect "questions when all is enabled" "$gets" "$(ext get)"
expect "Sets" $((sets + 2)) "$(ext set)"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
rm -rf state

# promise: D123
note "devices that may have FDR10 and do not are asked once"
cat >profiles.yaml <<'END'
profiles:
  adapter: {like: connectx-7, speeds: [sdr, ddr, qdr]}
  switch: {like: quantum-2, speeds: [sdr, ddr, qdr]}
nodes:
  - {type: ca, profile: adapter}
  - {type: switch, profile: switch}
END
start_sim switch:8,hosts=4,speed=4xQDR
start_and_wait "$manager" -c qosd.yaml
gets=$(ext get)
expect_less "questions, and one more" 9 "$gets"
[ "$gets" -gt 0 ] || bad "nobody is asked"
sweep
expect "questions after another sweep" "$gets" "$(ext get)"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
rm -rf state qosd.yaml

# --- half the width, and a speed without a name ---

# promise: D30
note "split links"
profile "like: auto"
start_sim switch:8,hosts=4,speed=2xHDR
start_and_wait "$manager"
expect "split links" "2xHDR 100.0 8;" "$(links)"
expect "rate of a path over them" 90 "$(path_rate)"	# 16: 100 Gb/s
ctl dump files || bad "dump: exit status $?"
expect "links in the dump" 8 "$(grep -c 'PHY=2x LOG=ACT SPD=50' files/opensm-subnet.lst)"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim
rm -rf state

# promise: D30
note "links that are faster than all that is known"
profile "like: auto, speeds: [sdr, ddr, qdr, fdr, edr, hdr, ndr, xdr, later]"
start_sim switch:8,hosts=4
start_and_wait "$manager"
expect "links that are faster than all that is known" "4x? 800.0 8;" "$(links)"
expect "rate of a path over them" 97 "$(path_rate)"
expect_match "finding" "runs at an unknown width or speed" "$(ctl status)"
# hosts join groups, whose records have a rate
printf '%s\n' 0x0251530100000{1,2,3,4}01 >guids
joined=$(on_own "host-0004 HCA-1" "$tools/joinstorm" -g 2 guids 2>&1) || bad "joins are refused: $joined"
