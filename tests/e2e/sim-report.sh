#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the file of `report` and the daemon's page, as programs read them: nothing from outside, no name as markup, and
# the data of the other commands.
#
# promise: W1 W2
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
for program in python3 curl jq; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done

# data_of FILE: prints the data of a page as JSON.
data_of() {
	python3 -c 'import base64, re, sys, zlib
page = open(sys.argv[1], encoding="utf-8").read()
data = re.search(r"<script id=\"data\" type=\"text/plain\">([A-Za-z0-9+/=]*)</script>", page).group(1)
sys.stdout.write(zlib.decompress(base64.b64decode(data)).decode())' "$1"
}
# of_data FILTER: what jq finds in data.json.
of_data() { jq -r "$1" data.json; }

# Names that would be markup, or end a script, if they were not escaped.
evil='<script>document.title=1<\/script>'
sed "s/\"node001 HCA-1\"/\"$evil\"/; s/\"node002 HCA-1\"/\"\&amp;<img src=x onerror=alert(1)>\"/" \
	"$top/examples/cluster.topo" >evil.topo
cat >qosd.yaml <<'END'
report-listen: 127.0.0.1:0
END
start_sim evil.topo
start_and_wait "mgmt01 HCA-1" -p "$top/examples/demo-policy.yaml" -c qosd.yaml
# report_of_now: makes a page of which no event is missing by now.
events() { ctl -j events | jq -s length; }
report_of_now() {
	local before
	before=$(events)
	ctl report page.html && status_is sweeping=false && [ "$(events)" = "$before" ]
}
until_ 10 report_of_now || bad "there is no page, or events without end: $(ctl events)"

note "a page that needs nothing, and whose markup has no name of the fabric"
expect "what it loads" "" "$(grep -oE '<(link|img|iframe|script)[^>]* (src|href)=[^>]*>' page.html)"
expect_match "policy for its content" "content=\"default-src 'none'; script-src 'sha256-" "$(head -n 6 page.html)"
expect "names in it" 0 "$(grep -c 'document.title=1\|onerror=alert\|MF0;' page.html)"
expect "what else qosd-ctl says" "" "$(ctl report page.html 2>&1)"
ctl report /nowhere/page.html >out 2>&1 && bad "a page in a folder that does not exist"
expect_match "and why not" '/nowhere/page.html: No such file' "$(<out)"

note "the data of the other commands"
data_of page.html >data.json
expect "nodes" "$(ctl nodes --count | tr -dc 0-9)" "$(of_data '.nodes.name | length')"
expect "hosts" "$(ctl nodes --type ca --count | tr -dc 0-9)" "$(of_data '.nodes.type | gsub("[^c]"; "") | length')"
expect "switches" "$(status switches)" "$(of_data '.switches.node | length')"
expect "ends of links" "$(status ports-linked)" "$(of_data '.links.a | length * 2')"
expect "levels" "$(ctl -j bandwidth | jq -c '[.kinds[0].levels[].level]')" "$(of_data '[.bandwidth.kinds[0].levels[].level] | tojson')"
expect "problems" "$(ctl -j health | jq -c '[.problems[].text]')" "$(of_data '[.health.problems[].text] | tojson')"
expect "events" "$(events)" "$(of_data '.events.rows | length')"
expect "policy" "$(ctl -j status | jq -c '[.policy.file, .policy.checksum]')" "$(of_data '[.status.policy.file, .status.policy.checksum] | tojson')"
expect "the first name as it is" 1 "$(of_data '[.nodes.name[] | select(startswith("<script>document"))] | length')"
expect "rank of spines and leaves" "6 2" "$(of_data '[.switches.at | group_by(.)[] | length] | join(" ")')"
expect "links that deviate" "$(ctl -j bandwidth | jq '.deviations | length')" "$(of_data '.links.why | length')"
# all pairs of end ports, of which each has a route that leaves the first and reaches the second
ends=$(of_data .ends)
expect "routes of hosts' ports" "$((ends - 1))" "$(of_data '.nodes.type as $t | [.links | range(.a | length) as $i |
	select($t[.a[$i]:.a[$i] + 1] != "s") | .["routes-a"][$i], .["routes-b"][$i]] | unique | join(" ")')"
# The levels of each two groups, as the report and as matrix have them.
of_report='.levels as $names | .pairs | .groups as $g | .levels | to_entries[] | .key as $i | .value | to_entries[] |
	"\($g[$i]) \($g[.key]) \([.value[] | if . < 0 then "no path" else $names[.] end] | sort | join(","))"'
of_matrix='.pairs[] | "\(.from) \(.to) \([.levels[].level, (if .["no-path"] > 0 then "no path" else empty end)] | sort | join(","))"'
# same_pairs WHAT: compares the two.
same_pairs() {
	data_of page.html | jq '.levels = [.bandwidth.kinds[0].levels[].level]' >data.json
	of_data "$of_report" | sort >report.pairs
	ctl -j matrix | jq -r "$of_matrix" | sort >matrix.pairs
	expect_same "$1" matrix.pairs report.pairs
}
same_pairs "levels of groups"
expect "no sample" false "$(of_data .pairs.sampled)"

note "the live page"
port=$(sed -nE 's/.* report: .* port ([0-9]+)$/\1/p' "$qosd_log")
[ -n "$port" ] || fail "it does not listen: $(tail -n 5 "$qosd_log")"
url=http://127.0.0.1:$port
curl -s -D headers "$url/" >live.html
expect "the same page, without data" "$(sed 's/type="text\/plain">[^<]*</type="text\/plain"></' page.html | sha256sum)" "$(sha256sum <live.html)"
expect_match "header" "Content-Security-Policy: default-src 'none'.*nosniff.*no-store" "$(tr -d '\r' <headers | tr '\n' ' ')"
has_data() { [ "$(curl -s -o data.txt -w '%{http_code}' "$url/data")" = 200 ]; }
until_ 20 has_data || bad "there is no data: $(<data.txt)"
python3 -c 'import base64, sys, zlib; sys.stdout.write(zlib.decompress(base64.b64decode(sys.stdin.read())).decode())' <data.txt >data.json
expect "its nodes" "$(status nodes)" "$(of_data '.nodes.name | length')"
expect "no other method" 405 "$(curl -s -o out -w '%{http_code}' -X POST "$url/data")"
expect "no metrics here" 404 "$(curl -s -o out -w '%{http_code}' "$url/metrics")"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim

note "one host of many that gets another level"
cat >other.yaml <<'END'
port-groups:
  nodes: {port-names: "node* HCA-1/P*"}
  one: {port-guids: 0xf4521403008112b1}	# node009
qos-levels:
  default: {sl: 0}
  rare: {sl: 1}
match-rules:
  - {source: one, level: rare}
END
start_sim "$top/examples/cluster.topo"
start_and_wait "mgmt01 HCA-1" -p other.yaml
ctl report page.html || bad "there is no page"
same_pairs "levels of groups"
expect "of nodes" "default,rare" "$(sed -n 's/^nodes nodes //p' report.pairs)"
stop_qosd || bad "qosd ends with exit status $?"
stop_sim

note "shapes that are no tree"
for shape in torus:5x5x3=grid dragonfly:a=4,h=2,p=2=dragonfly; do
	start_sim "${shape%=*}"
	start_and_wait "host-0001 HCA-1"
	ctl report page.html || bad "${shape%=*}: there is no page"
	data_of page.html >data.json
	expect "kind of ${shape%=*}" "${shape##*=}" "$(of_data .shape.kind)"
	expect "switches without a place" 0 "$(of_data '[.switches.at[] | select(. < 0)] | length')"
	stop_qosd
	stop_sim
done
