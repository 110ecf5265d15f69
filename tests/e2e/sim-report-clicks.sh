#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Uses the page of `report` in Chromium with mouse and keys: search, clicks, zoom, tables, groups of switches, and the
# links by what was measured on them.
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "ibsim has no traffic"
for browser in chromium-headless-shell chromium google-chrome ''; do
	command -v "$browser" >/dev/null && break
done
[ -n "$browser" ] || { echo "no Chromium is installed (scripts/deps --browser)"; exit 77; }
for program in python3 jq; do
	command -v "$program" >/dev/null || { echo "$program is not installed"; exit 77; }
done

# use PAGE: takes the steps on standard input; what they print is in the file seen.
use() {
	timeout --foreground 300 python3 "$top/tests/tools/browser.py" "$browser" "file://$work/$1" "$work/browser" >seen 2>&1 ||
		bad "the browser: $(tail -n 3 seen)"
}
# line N: the N-th line that was printed.
line() { sed -n "$1p" seen; }

# node001 and node002 send to node003, whose link is slow; time is the simulator's.
a='node001 HCA-1/P1' b='node002 HCA-1/P1' c='node003 HCA-1/P1'
cat >qosd.yaml <<'END'
sweep-interval: 0
errors-interval: 20
END
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  storage: {sl: 2}
traffic-classes:
  - {level: default, share: 60%}
  - {level: storage, share: 40%}
END
simulated_time
sim_options=(--time-stands)
start_sim "$top/examples/cluster.topo"
sim_do link degrade "$c" 1xSDR
start_and_pass "mgmt01 HCA-1" -p policy.yaml -c qosd.yaml

# promise: W3
note "nothing was measured"
ctl report page.html || bad "there is no page"
use page.html <<'END'
wait document.body.dataset.shown
print (byId("colour").selectedIndex = metrics.findIndex(m => m.name === "measured load"), byId("colour").onchange(), byId("measured").textContent)
print d3.range(fabric.nLinks).flatMap(i => [0, 1].map(e => metrics[1].value(i, e, -1))).every(Number.isNaN)
print [...document.querySelectorAll("#links th")].map(h => h.textContent).join()
print byId("got").textContent
quiet
END
expect_match "why" '^Not measured: error counters were not read yet' "$(line 1)"
expect "loads" true "$(line 2)"
expect "columns of links" 0 "$(line 3 | grep -c load)"
expect_match "shares" '^Not measured: no counters by VL' "$(line 4)"

# promise: W3
note "what was measured"
sim_do pass 41s
sim_do traffic "$a" "$c" 0 "$b" "$c" 2 --packets 10000 --times 20
sim_do count "node004 HCA-1/P1" xmit-wait 40000
sim_do pass 20s
ctl -j counters --for 2 --reset >counters.json &
reader=$!
pids+=("$reader")
has_read() { [ "$(sim_ctl -j stats | jq '[.mads[] | select(.class == "pm" and .attribute == "PortVLOpData" and .method == "get-resp") | .count] | add // 0')" -ge "$1" ]; }
ports=$(ctl -j ports | jq '[.[] | select(.peer and (.name | test("/P0 ") | not))] | length')
until_passed 20 has_read $((ports - 4)) || bad "counters are not read"
sim_do traffic "$a" "$c" 0 "$b" "$c" 2 --packets 10000 --times 20
until_passed 20 gone "$reader" || bad "counters does not end"
ctl report page.html || bad "there is no page"
use page.html <<'END'
wait document.body.dataset.shown
print (byId("colour").selectedIndex = metrics.findIndex(m => m.name === "measured load"), byId("colour").onchange(), byId("measured").textContent)
print (() => { const n = fabric.nodes.name.indexOf("node003 HCA-1"), i = fabric.linksOf[n][0]; return loadOf(fabric, i, fabric.links.a[i] === n ? 1 : 0) > 0; })()
print (() => { const n = fabric.nodes.name.indexOf("node004 HCA-1"), i = fabric.linksOf[n][0]; return waitsOf(fabric, i, fabric.links.a[i] === n ? 0 : 1); })()
print (() => { const n = fabric.nodes.name.indexOf("node004 HCA-1"), i = fabric.linksOf[n][0]; return loadOf(fabric, i, 0) < 0.001 && loadOf(fabric, i, 1) < 0.001; })()
print (() => { const n = fabric.nodes.name.indexOf("node003 HCA-1"), i = fabric.linksOf[n][0], e = fabric.links.a[i] === n ? 1 : 0; return fabric.levels.map((_, l) => Math.round(100 * gotOf(fabric, i, e, l).share)).join(); })()
print [...document.querySelectorAll("#links th")].filter(h => /load|waits/.test(h.textContent)).length
print (byId("level").selectedIndex = 2, byId("level").onchange(), [byId("legend").textContent, byId("measured").textContent].join("|"))
print document.querySelectorAll("#got svg text").length > 0
quiet
END
expect_match "when" '^Read 20.*Z, over 20 s; [0-9]+ ports\.$' "$(line 1)"
expect "load to node003" true "$(line 2)"
expect_match "ticks in a second, about 2000" '^(19[5-9]|20[0-4])[0-9]$' "$(line 3)"
expect "load of a node that was idle" true "$(line 4)"
want=$(jq -r '.ports[] | select(.port | startswith("MF0;leaf01:SX6036/U1/P3 ")) | [.vls[] | select(.levels | length > 0) | .got * 100 | round] | join(",")' counters.json)
expect_match "shares that counters says" '^[0-9]+,[1-9][0-9]*$' "$want"
expect "shares got" "$want" "$(line 5)"
expect "columns of links" 4 "$(line 6)"
expect_match "load of a level" '^idle  100 % of the link\|Read 20.* ends of links that sent\.' "$(line 7)"
expect "bars" true "$(line 8)"
stop_and_pass || bad "qosd ends with exit status $?"
stop_sim

# promise: W4
note "search, clicks, zoom, tables and groups"
use_simulator qosd-sim
sim_options=()
start_sim fat-tree:k=8
start_and_wait "host-0001 HCA-1"
ctl report page.html || bad "there is no page"
use page.html <<'END'
wait document.body.dataset.shown
click #search
type host-0050
print [...document.querySelectorAll("#found button")].map(b => b.textContent).join()
click #found button
print fabric.nodes.name[fabricMap.chosen] + "|" + byId("details").querySelector("p").textContent.split(";")[0]
print fabricMap.k > 20
click #fit
wait fabricMap.transform.k === 1
# a click on a switch that is drawn
at #map fabricMap.placeAt(fabric.nodes.name.indexOf("leaf-007"))
print byId("details").querySelector("p").textContent.split(";")[0]
print byId("details").querySelectorAll("tbody tr").length
# the wheel, and a drag
print (window.before = byId("map").toDataURL(), 1)
wheel #map -600
wait fabricMap.transform.k > 1.5
wait byId("map").toDataURL() !== window.before
print (window.before = fabricMap.transform.x, 1)
drag #map 600 300 700 300
wait Math.abs(fabricMap.transform.x - window.before - 100) < 2
size 700 900
wait fabricMap.width < 700
click #fit
wheel #map 3000
wait fabricMap.transform.k < 1
wait fabricMap.open.filter(Boolean).length === 1
print fabricMap.open.length
# a group opens and closes by a click on it
click #fit
click #groups-closed
wait fabricMap.open.every(open => !open)
print fabricMap.bundled.length
at #map (g => [(fabricMap.sx(g.x0) + fabricMap.sx(g.x1)) / 2, (fabricMap.sy(g.y0) + fabricMap.sy(g.y1)) / 2])(fabricMap.p.groups[2])
wait fabricMap.open[2]
print fabricMap.open.filter(Boolean).length
at #map (g => [fabricMap.sx(g.x0) + 10, fabricMap.sy(g.y0) - 4])(fabricMap.p.groups[2])
wait !fabricMap.open[2]
click #groups-open
wait fabricMap.open.every(Boolean)
print fabricMap.bundled.length
# a table sorts both ways, filters, and shows more rows
print document.querySelector("#nodes tbody td").textContent
click #nodes th:first-child button
print document.querySelector("#nodes tbody td").textContent
click #nodes th:nth-child(4) button
print document.querySelector("#nodes tbody tr td:nth-child(4)").textContent
print document.querySelectorAll("#nodes tbody tr").length
click #nodes > button
print document.querySelectorAll("#nodes tbody tr").length
click #nodes input
type core-003
print document.querySelectorAll("#nodes tbody tr").length
quiet
END
expect "found" "host-0050 HCA-1 (host)" "$(line 1)"
expect "the host's details" "host-0050 HCA-1|host-0050 HCA-1" "$(line 2)"
expect "near enough to read" true "$(line 3)"
expect "the switch that was clicked" "leaf-007" "$(line 4)"
expect "its links" 8 "$(line 5)"
# all but that of the host that was found
expect "pods of which one is open when all is small" 8 "$(line 8)"
expect "links between 8 closed pods and 16 core switches" 128 "$(line 9)"
expect "pods open after a click" 1 "$(line 10)"
expect "links when all are open" 384 "$(line 11)"
expect "first by name, up and down" "core-001 spine-032" "$(line 12) $(line 13)"
expect "the highest LID first" "$(ctl -j ports | jq '[.[].lid] | max')" "$(line 14)"
expect "rows, and more of them" "50 200" "$(line 15) $(line 16)"
expect "rows that are filtered" 1 "$(line 17)"
