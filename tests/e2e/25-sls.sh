#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests what is said about SLs that programs choose without asking, whether or not a level has them.
#
# Three published settings of OpenSM are converted, none of which names a level for the SLs that it is made for:
# the example of OpenSM's own manual (QoS management in OpenSM, "SL2VL and VL Arbitration"); that of the paper
# "DualPath: Breaking the Storage Bandwidth Bottleneck in Agentic LLM Inference", appendix A.1, which puts KV
# caches on a VL of low priority beside collective communication on VLs of high priority; and that of the NCCL
# user guide, "Quality of Service".  Expected shares are computed here, from the rules of IBA 7.6.9 and from the
# formula of the study of hardware, by other code than qosd's.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
manager=H-f452140300811200		# mgmt01
mtu=2048				# of all links of the sample cluster

# check STATUS OPTION...: runs qosd --check, which must exit with STATUS; its output goes to out.
check() {
	timeout $((20 * slow)) "$build/qosd" --check "${@:2}" >out 2>&1 </dev/null
	expect "exit status of --check ${*:2}" "$1" $?
}
said() { grep -qE -- "$1" out || bad "nothing like '$1' in: $(head -n 20 out)"; }
not_said() { ! grep -E -- "$1" out || bad "'$1' should not be there"; }

# by_hand MODEL LIMIT HIGH LOW: prints "VL share" in per cent for each VL, all of them backlogged with packets of
# the MTU.  HIGH and LOW are "VL:weight,...".  iba: sends packet by packet, as 7.6.9 says, for 200,000 packets of
# low priority or as many packets of high priority.  measured: (h/l) * max(1, floor(2ql/h)), to be shared by weight.
by_hand() {
	awk -v model="$1" -v q="$2" -v high="$3" -v low="$4" -v mtu="$mtu" '
	function read_table(text, vls, weights,   parts, n, i, f) {
		n = split(text, parts, ",")
		for (i = 1; i <= n; i++) {
			split(parts[i], f, ":")
			vls[i] = f[1]; weights[i] = f[2]
		}
		return n
	}
	BEGIN {
		nh = read_table(high, hv, hw); nl = read_table(low, lv, lw)
		for (i = 1; i <= nh; i++) h += hw[i]
		for (i = 1; i <= nl; i++) l += lw[i]
		if (model == "measured") {
			times = int(2 * q * l / h); ratio = h / l * (times ? times : 1)
			for (i = 1; i <= nh; i++) sent[hv[i]] += ratio * hw[i] / h
			for (i = 1; i <= nl; i++) sent[lv[i]] += lw[i] / l
		} else {
			hi = li = 1; hrest = hw[1] * 64; lrest = lw[1] * 64
			for (round = 0; round < 200000 / (q == 255 ? 1 : 10); round++) {
				for (credit = q ? q * 4096 : 1; credit > 0; credit -= mtu) {
					while (hrest <= 0) { hi = hi % nh + 1; hrest = hw[hi] * 64 }
					sent[hv[hi]]++; hrest -= mtu
				}
				if (q == 255) continue
				while (lrest <= 0) { li = li % nl + 1; lrest = lw[li] * 64 }
				sent[lv[li]]++; lrest -= mtu
			}
		}
		for (vl in sent) all += sent[vl]
		for (vl in sent) printf "%d %.3f\n", vl, sent[vl] / all * 100
	}' | sort -n
}

# vls FROM TO MEMBER: prints "VL per cent" of each VL that is sent, on links from one type of node to another.
vls() {
	jq -r --arg f "$1" --arg t "$2" --arg m "$3" '.links[] | select(.from == $f and .to == $t) | .sls[] |
		select(.served and .vl != null) | "\(.vl) \(.[$m] * 100)"' sls.json |
		sort -nu | awk '{ printf "%d %.3f\n", $1, $2 }'
}
# sl MEMBER: prints the member of all 16 SLs on links from hosts to switches.
sl() { jq -r --arg m "$1" '[.links[] | select(.from == "ca" and .to == "switch")][0].sls | map(.[$m] | tostring) | join(" ")' sls.json; }
# near WHAT WANTED GOT: compares two lists of "VL per cent".
near() {
	local wrong_lines
	wrong_lines=$(paste -d ' ' <(echo "$2") <(echo "$3") |
		awk '{ d = $2 - $4; if (NF != 4 || $1 != $3 || d > 0.02 || d < -0.02) print }')
	[ -z "$wrong_lines" ] || bad "$1: want '$2', got '$3'"
}
# judge LIMIT HIGH LOW: loads policy.yaml into the daemon, and compares the shares of all VLs on links of hosts and
# between switches with those by hand.
judge() {
	local ends
	ctl policy load policy.yaml --wait >load.out 2>&1 || bad "policy load: $(<load.out)"
	ctl -j sls >sls.json || bad "sls failed"
	for ends in "ca switch" "switch ca" "switch switch"; do
		near "shares by IBA's arbiter, $ends" "$(by_hand iba "$@")" "$(vls ${ends% *} ${ends#* } share-iba)"
		[ "$1" = 255 ] || near "shares by the study, $ends" "$(by_hand measured "$@")" \
			"$(vls ${ends% *} ${ends#* } share-measured)"
	done
}

# convert_bare LEVELS: converts opensm.conf to policy.yaml, without the levels that the converter adds for the SLs
# that only the tables know; there must be so many.
convert_bare() {
	"$build/qosd-ctl" convert opensm.conf >converted.yaml 2>convert.out || bad "convert: $(<convert.out)"
	expect "levels that convert adds" "$1" "$(grep -c '^  sl-[0-9]*:$' converted.yaml)"
	sed '/^qos-levels:/,/^$/d' converted.yaml >policy.yaml
}

start_sim "$topology"
start_and_wait "$manager"

# promise: B8
note "the example of OpenSM's manual"
cat >opensm.conf <<'END'
qos TRUE
qos_ca_max_vls 15
qos_ca_high_limit 6
qos_ca_vlarb_high 0:4
qos_ca_vlarb_low 0:0,1:64,2:128,3:192,4:0,5:64,6:64,7:64
qos_ca_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7
qos_swe_max_vls 15
qos_swe_high_limit 6
qos_swe_vlarb_high 0:4
qos_swe_vlarb_low 0:0,1:64,2:128,3:192,4:0,5:64,6:64,7:64
qos_swe_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7
END
convert_bare 14
judge 6 0:4 1:64,2:128,3:192,5:64,6:64,7:64
expect "VLs of SLs 0 to 15, on 8 VLs" "0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7" "$(sl vl)"
expect "SLs that are sent" "true true true true false true true true true true true true false true true true" "$(sl served)"
check 0 -p policy.yaml -T "$topology"
said 'warning: no arbitration table serves VL 4, where SL2VL puts SL 4, 12, on '
said '^  SL 4, 12 \(no level\): VL 4, which no table serves: never sent$'
ctl sls >text
# routers have OpenSM's defaults, which serve VL 4
expect "NEVER SENT, by group of links" "$(jq '[.links[] | select(.from != "router")] | length' sls.json)" "$(grep -c 'SL 4, 12 (no level) NEVER SENT$' text)"

# promise: B8
note "KV caches beside collective communication"
cat >opensm.conf <<'END'
qos TRUE
qos_max_vls 4
qos_high_limit 240
qos_vlarb_high 0:192,1:192,2:0,3:192
qos_vlarb_low 0:192,1:192,2:64,3:192
END
convert_bare 14
# the paper has no qos_sl2vl; its four VLs take SLs 0 to 3
judge 240 0:192,1:192,3:192 0:192,1:192,2:64,3:192
expect "VLs of SLs 0 to 3" "0 1 2 3" "$(sl vl | cut -d ' ' -f 1-4)"
expect "priorities" "true true false true" "$(sl high | cut -d ' ' -f 1-4)"
check 0 -p policy.yaml -T "$topology"
said 'info: SL 2, [0-9, ]+ \(no level\): their VLs get at most 0\.021 % of a link at '
said 'info: SL 1-3, [0-9, -]+ \(no level\): they have VLs of their own at .*level default may get only 33\.3 % of a link instead of 100\.0 %$'
expect "findings on SLs without a level" 2 "$(grep -c '^policy.yaml: [a-z]*: SL .*(no level): ' out)"
ctl sls 2 >text
grep -q '^  UCX (.*UCX_IB_SL=2$' text || bad "no UCX_IB_SL=2 in: $(<text)"
grep -q ' SL 2 (no level)$' text || bad "no SL 2 in: $(<text)"

# promise: B8
note "the example of NCCL's user guide"
cat >opensm.conf <<'END'
qos TRUE
qos_max_vls 2
qos_high_limit 255
qos_vlarb_high 1:4
qos_vlarb_low 0:1,1:4
qos_sl2vl 0,1
END
convert_bare 1
ctl policy load policy.yaml --wait >load.out 2>&1 || bad "policy load: $(<load.out)"
ctl -j sls >sls.json || bad "sls failed"
expect "shares" "0 1" "$(sl share | cut -d ' ' -f 1-2)"
expect "starved" "true false" "$(sl starved | cut -d ' ' -f 1-2)"
check 0 -p policy.yaml -T "$topology"
said 'warning: level default: VL 0 of SL 0 may starve at [0-9]+ ports .* while programs use SL 1'
ctl sls >text
grep -qE ' 0\.000%.* SL 0: default STARVED$' text || bad "SL 0 does not starve in: $(<text)"

# promise: B8
note "levels that name SLs, and those who get them"
cat >policy.yaml <<'END'
port-groups:
  nodes: {port-names: "node* */P*"}
qos-levels:
  default: {sl: 0}
  fast: {sl: 1}
match-rules:
  - {description: jobs, source: nodes, destination: nodes, qos-class: 7, level: fast}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: true}
  job: {pkey: 0x11, members: {nodes: full}, level: fast}
fabric-setup:
  sl2vl:
    - {group: all, table: [0, 1, 2, 1, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}
  vlarb:
    - {group: all, high: [], low: ["0:32", "1:64", "2:32"], high-limit: 0}
END
ctl policy load policy.yaml --wait >load.out 2>&1 || bad "policy load: $(<load.out)"
ctl -j sls >sls.json
near "shares" "$(printf '0 25.000\n1 50.000\n2 25.000')" "$(vls switch switch share-iba)"
expect "of SL 1" "fast|job|1 6 nodes nodes" \
	"$(jq -r '.sls[1] | "\(.levels | join(","))|\(.partitions | join(","))|\(.rules[0] | "\(.rule) \(.line - 1) \(.sources[0]) \(.destinations[0])")"' sls.json)"
ctl sls >text
for line in '^hosts -> switches: [0-9]+ ports, 4 VLs, MTU 2048, high-limit 0$' '^switches -> switches: ' \
	'^  SL  0  default: the default; partitions Default$' '^  SL  1  fast: partitions job$' \
	'^         rule 1 \(line 7\) from nodes to nodes$' ' SL 3 \(no level\)$' ' SL 2 \(no level\)$' \
	'^ +-  drop .* SL 4, 15 \(no level\)$' ' SL 5-14 \(no level\)$' '^  NCCL, RCCL +NCCL_IB_SL=N$'; do
	grep -qE "$line" text || bad "nothing like '$line' in: $(<text)"
done
ctl bandwidth >text
grep -qE ' SL 2 \(no level\)$' text || bad "bandwidth: no SL 2 in: $(head -n 12 text)"
ctl bandwidth 'node001 HCA-1/P1' >text
grep -qE ', SL 5-14 \(no level\)$' text || bad "bandwidth of a port: $(<text)"
grep -q '^  never sent here: SL 4, 15 (no level)$' text || bad "bandwidth of a port: $(<text)"
expect "metrics" "0.25 0.5 0.25 0.5 0" "$(ctl metrics | sed -nE 's/^qosd_sl_share_ratio\{sl="[0-4]"\} //p' | xargs)"
check 0 -p policy.yaml -T "$topology"
said 'info: SL 3 \(no level\): programs that use them take bandwidth of the levels whose VLs they share at .*: fast$'
not_said 'some pairs of ports only'
expect_match "no such SL" 'from 0 to 15' "$(ctl sls 16 2>&1)"

# promise: B2
note "plan tells the shares of levels, now and then, by both models"
cat >policy.yaml <<'E'
qos-levels: {default: {sl: 0}, fast: {sl: 1}}
fabric-setup:
  sl2vl: [{group: all, table: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15]}]
  vlarb: [{group: all, high: ["1:16"], low: ["0:4"], high-limit: 1}]
E
cat >next.yaml <<'E'
qos-levels: {default: {sl: 0}, fast: {sl: 1}, bulk: {sl: 2}}
traffic-classes:
  - {level: fast, priority: high, share: 50%}
  - {level: default, share: 60%}
  - {level: bulk}
E
ctl policy load policy.yaml --wait >load.out 2>&1 || bad "policy load: $(<load.out)"
ctl -j plan next.yaml >plan.json
near "shares of fast, now" "$(by_hand iba 1 1:16 0:4 | grep '^1'; by_hand measured 1 1:16 0:4 | grep '^1')" \
	"$(jq -r '.shares[] | select(.level == "fast").old | "1 \(.["share-iba"] * 100)\n1 \(.["share-measured"] * 100)"' plan.json)"
near "shares of all, then" $'0 50\n0 50\n1 30\n1 30\n2 20\n2 20' \
	"$(jq -r '.shares[].new | "\(.vl) \(.["share-iba"] * 100)\n\(.vl) \(.["share-measured"] * 100)"' plan.json | sort -n)"
ctl plan next.yaml >text
said_of='^ +[0-9.]+ +66\.7% +80\.0%\* +[0-9.]+ +50\.0% +50\.0% +fast$'
grep -qE "$said_of" text || bad "nothing like '$said_of' in: $(<text)"
expect "--html shows both where they differ" "66.7% 80.0%" "$(ctl bandwidth --html page.html >/dev/null
	sed -nE 's/.*<title>fast: .* ([0-9.]+%) by IBA.s arbiter and ([0-9.]+%) as measured.*/\1 \2/p' page.html | sort -u)"
expect "as thin bars" "$(grep -c 'class="in".*<title>fast: ' page.html)" "$(grep -c 'height="5.0".*<title>fast: ' page.html)"
