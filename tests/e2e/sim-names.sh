#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests devices with malicious NodeDescriptions: escape sequences, newlines followed by false
# lines, quotes, invalid UTF-8.  On a terminal, in a log, in a command and in files for other
# programs, each must remain just a name.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "its devices can be renamed"

# obeyed FILE...: prints lines with characters that control a terminal; only qosd's own newlines are allowed.
obeyed() {
	LC_ALL=C grep -anP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$@" |
		head -n 3 | cat -v
}
# no_utf8 FILE...: prints what is not UTF-8.
no_utf8() { iconv -f UTF-8 -t UTF-8 "$@" >/dev/null 2>bad_utf8 || head -n 1 bad_utf8; }
harmless() {
	local what=$1
	shift
	[ -e "$1" ] || bad "$what: there is no $1"
	expect "$what: what a terminal would obey" "" "$(obeyed "$@")"
	expect "$what: what is not UTF-8" "" "$(cat "$@" | no_utf8)"
}

cat >hook <<END
#!/bin/bash
cat >>$work/hook.json
env >>$work/hook.env
echo == >>$work/hook.env	# the last of its writes
END
chmod +x hook
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
END
cat >qosd.yaml <<END
sweep-interval: 1s
event-command: [$work/hook]
event-kinds: [node, link]
END
start_sim fat-tree:k=4
mapfile -t hosts < <(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .guid')
[ "${#hosts[@]}" -ge 8 ] || fail "hosts: ${hosts[*]}"
csi=$'\xc2\x9b'2J
names=($'a\e[2J\e]0;owned\a b' $'b\nfe80::1\tvictim\n2026-01-01 error: sm: forged'
	$'host-c\tfe80::2\nvictim' "d$csi e" $'\xff\xfe\x9b31m f' "'\"\$(touch owned);\`id\`"
	$'g\xe2\x80\xaetxt\x7f' '<script>alert(1)</script>')
for i in "${!names[@]}"; do
	[ "$i" -eq 0 ] || sim_do node rename "${hosts[i]}" "${names[i]}"
done

# promise: L3
note "as they are found"
node=$(sim_ctl -j show nodes | jq -r '.[] | select(.type == "ca") | .description' | head -n 1)
start_and_wait "$node" -c qosd.yaml -p policy.yaml -v
seen=$(ctl nodes | grep -ciE "$(printf '%s|' "${hosts[@]:0:8}" | sed 's/|$//')")
expect "hosts that are listed, a line each" 8 "$seen"
for command in nodes ports "ports --all" status health events services subscriptions mcast bandwidth \
	"bandwidth --links" partitions metrics "policy history" sa-stats; do
	# shellcheck disable=SC2086 # commands of several words
	ctl $command >"out.${command// /-}" 2>&1
	# shellcheck disable=SC2086
	ctl -j $command >"json.${command// /-}" 2>/dev/null
done
# a port's GUID is its node's plus 1
ctl explain "${hosts[1]%0}1" "${hosts[2]%0}1" >out.explain 2>&1 || bad "$(<out.explain)"
ctl route "${hosts[1]%0}1" "${hosts[2]%0}1" >out.route 2>&1 || bad "$(<out.route)"
ctl -j explain "${hosts[6]%0}1" "${hosts[4]%0}1" >json.explain || bad "explain"
ctl bandwidth --html out.html >/dev/null 2>&1
harmless "text" out.*
harmless "JSON" json.*
for f in json.*; do
	[ ! -s "$f" ] || jq . "$f" >/dev/null 2>&1 || [ "$f" = json.metrics ] || bad "$f is not JSON"
done
expect "names in JSON are what they are" "${names[1]}" \
	"$(jq -r --arg guid "${hosts[1]}" '.[] | select(.guid == $guid) | .description' json.nodes)"
expect "scripts in the page" 0 "$(grep -c '<script>alert' out.html)"
ctl dump dump || bad "dump failed"
harmless "dump" dump/*
ctl export ibacm acm >out.acm 2>&1 || bad "export: $(<out.acm)"
harmless "what ibacm reads" acm/* out.acm
expect "hosts of a device's own making" "" "$(grep -hv '^#' acm/*hosts* | grep -vE $'^[^\t ]+\tfe80::[0-9a-f:]+$')"
expect "names that are none" "" "$(awk '$1 ~ /^(b|host-c|victim)$/' acm/*hosts*)"

# promise: L3
note "as they come and go"
for i in 1 2 3 4 5 6; do sim_do node off "${hosts[i]}"; done
went() { [ "$(ctl events --kind node-went | grep -c .)" -ge 6 ]; }
until_ 20 went || bad "they do not go: $(ctl events)"
for i in 1 2 3 4 5 6; do sim_do node on "${hosts[i]}"; done
came() { [ "$(ctl events --kind node-came | grep -c .)" -ge 6 ]; }
until_ 20 came || bad "they do not come: $(ctl events)"
# told: whether the command has ended for each event so far, so that nothing is written while the test reads.
told() { [ "$(grep -c '^==$' hook.env)" = "$(ctl events --kind node,link | wc -l)" ]; }
until_ 20 told || bad "the command is not told: $(<hook.env)"
ctl events >out.events
ctl -j events >json.events
harmless "events" out.events json.events
harmless "the command's environment" hook.env
harmless "what the command reads" hook.json
expect "variables of a device's own making" "" "$(grep -vE '^(PATH|QOSD_EVENT_[A-Z_]+|PWD|SHLVL|_|OLDPWD)=|^==$' hook.env | head -n 3 | cat -v)"
expect "lines of JSON that are none" "" "$(jq -e . <hook.json 2>&1 >/dev/null)"
harmless "the log" "$qosd_log"
expect "lines of log of a device's own making" "" "$(grep -vE '^[0-9-]+ [0-9:.]+ (error|warning|info|debug): ' "$qosd_log" | head -n 3 | cat -v)"
[ ! -e owned ] || bad "a name was run by a shell"
stop_qosd || bad "exit status $? after SIGTERM"
harmless "state" state/*
