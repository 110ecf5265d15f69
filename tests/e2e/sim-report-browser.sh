#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the page of `report` in Chromium: what it shows is what the other commands say, also of a fabric whose names are
# scripts, and of one with pods.
#
# promise: W1 W2
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the fabrics are its generators'"
for browser in chromium-headless-shell chromium google-chrome ''; do
	command -v "$browser" >/dev/null && break
done
[ -n "$browser" ] || { echo "no Chromium is installed (scripts/deps --browser)"; exit 77; }
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }

# browse URL: writes what the page is when its scripts have run to dom, and their complaints to complaints.
browse() {
	local patience
	look_busy
	timeout --foreground $((30 * patience)) "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" \
		--virtual-time-budget=20000 --enable-logging=stderr --v=0 --dump-dom "$1" >dom 2>browser.log
	grep -E 'CONSOLE|Uncaught' browser.log >complaints
	expect "complaints of the browser" "" "$(head -n 3 complaints)"
}
# count NAME: a number at the top of the page.
count() { sed -nE "s/.*id=\"count-$1\"[^>]*>([0-9]+)<.*/\1/p" dom; }
as_qosd_says() {
	expect "nodes" "$(ctl nodes --count | tr -dc 0-9)" "$(count nodes)"
	expect "switches" "$(status switches)" "$(count switches)"
	expect "hosts" "$(ctl nodes --type ca --count | tr -dc 0-9)" "$(count hosts)"
	expect "links" $(($(status ports-linked) / 2)) "$(count links)"
	expect "levels" "$(ctl -j bandwidth | jq '.kinds[0].levels | length')" "$(count levels)"
	expect "problems" "$(ctl -j health | jq '.problems | length')" "$(count problems)"
	expect_match "policy" "$(ctl -j status | jq -r .policy.checksum)" "$(grep -o 'id="about">[^<]*' dom)"
}

evil='<script>document.title=1<\/script>'
sed "s/\"node001 HCA-1\"/\"$evil\"/" "$top/examples/cluster.topo" >evil.topo
echo "report-listen: 127.0.0.1:0" >qosd.yaml
start_sim evil.topo
start_and_wait "mgmt01 HCA-1" -p "$top/examples/demo-policy.yaml" -c qosd.yaml

note "a file"
ctl report page.html || bad "there is no page"
browse "file://$work/page.html"
as_qosd_says
expect_match "title" "Report of the subnet, 20" "$(grep -o '<title>Report[^<]*' dom)"
[ "$(grep -c '&lt;script&gt;document.title=1' dom)" -gt 0 ] || bad "the name is not on the page"

note "the live page"
port=$(sed -nE 's/.* report: .* port ([0-9]+)$/\1/p' "$qosd_log")
has_data() { [ "$(curl -s -o out -w '%{http_code}' "http://127.0.0.1:$port/data")" = 200 ]; }
until_ 20 has_data || bad "there is no data: $(<out)"
browse "http://127.0.0.1:$port/"
as_qosd_says
stop_qosd || bad "qosd ends with exit status $?"
stop_sim

note "pods"
start_sim fat-tree:k=8
start_and_wait "host-0001 HCA-1"
ctl report page.html || bad "there is no page"
browse "file://$work/page.html"
as_qosd_says
expect "pods" 8 "$(count groups-of-switches)"
