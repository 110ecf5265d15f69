#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the alert rules and the dashboard with Prometheus itself, which reads a daemon's metrics:
# each query has an answer.
#
# promise: O13
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "the devices need counters per VL"
for program in prometheus promtool curl; do
	command -v $program >/dev/null || { echo "$program is not installed"; exit 77; }
done
rules=$top/contrib/prometheus/qosd.rules.yml

note "rules, and what they say in made-up cases"
promtool check rules "$rules" >out 2>&1 || bad "$(<out)"
(cd "$top/contrib/prometheus" && promtool test rules qosd.tests.yml) >out 2>&1 || bad "$(<out)"
for alert in $(sed -nE 's/^ *- alert: //p' "$rules"); do
	expect "cases of $alert" "fires silent" "$(sed -nE "s/^ *- name: $alert (stays )?//p" "$top/contrib/prometheus/qosd.tests.yml" | xargs)"
done

note "Prometheus reads a daemon"
cat >qosd.yaml <<'END'
metrics-listen: 127.0.0.1:0
counters-interval: 2s
END
sim_options=()
start_sim "$top/examples/cluster.topo"
host=$(sim_ctl show nodes | awk '/mgmt01/ { print $2; exit }')
start_and_wait "$host" -p "$top/examples/policy-mpi-storage.yaml" -c qosd.yaml
port=$(sed -nE 's/.* metrics: .* port ([0-9]+)$/\1/p' "$qosd_log")
[ -n "$port" ] || fail "it does not listen: $(tail -n 5 "$qosd_log")"
are_counted() { ctl metrics | grep -q qosd_level_short_ports; }
until_ 30 are_counted || bad "there are no counters"
curl -s "http://127.0.0.1:$port/metrics" >page
# it takes the m of m_key, which names that do not change have, for meters
promtool check metrics <page >out 2>&1
expect "what promtool has against the names" "" "$(grep -v '^qosd_m_key_.*abbreviated units$' out)"

own=$((20000 + RANDOM % 10000))
cat >prometheus.yml <<END
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: ["$rules"]
scrape_configs:
  - {job_name: qosd, static_configs: [{targets: ["127.0.0.1:$port"]}]}
END
prometheus --config.file=prometheus.yml --storage.tsdb.path="$PWD/tsdb" --web.listen-address="127.0.0.1:$own" >prometheus.log 2>&1 &
pids+=($!)
# query EXPR: prints the series.
query() { curl -s "http://127.0.0.1:$own/api/v1/query" --data-urlencode "query=$1"; }
series() { query "$1" | jq -r 'if .status == "success" then (.data.result | length) else .error end' 2>/dev/null; }
has_answer() { [ "$(series "$1")" -gt 0 ] 2>/dev/null; }
until_ 60 has_answer 'count_over_time(up[1m]) > 5' || fail "Prometheus: $(tail -n 5 prometheus.log)"
# something for the rates: path queries, and two more sweeps
for _ in 1 2 3; do
	on_own "$host" "$tools/pathquery" get path slid=1 dlid=2 >/dev/null 2>&1
	ctl sweep >/dev/null
	sleep 1
done
has_answers() {
	empty=()
	while IFS= read -r expr; do
		[ "$(series "$expr")" -gt 0 ] 2>/dev/null || empty+=("$expr")
	done <"$1"
	[ ${#empty[@]} -eq 0 ]
}

note "the dashboard"
jq -r '.panels[].targets[]?.expr' "$top/contrib/grafana/qosd.json" |
	sed 's/\$instance/.*/g; s/\$__rate_interval/30s/g' >exprs
[ "$(wc -l <exprs)" -gt 30 ] || bad "there are only $(wc -l <exprs) queries"
until_ 10 has_answers exprs || bad "no answer: ${empty[*]}"

note "the rules, without what they compare with"
sed -nE 's/^ *expr: //p' "$rules" | sed -E 's/ (==|>) [0-9.]+//g' >exprs
until_ 10 has_answers exprs || bad "no answer: ${empty[*]}"
curl -s "http://127.0.0.1:$own/api/v1/rules" >loaded
expect "rules that Prometheus cannot evaluate" "" "$(jq -r '.data.groups[].rules[] | select(.health == "err") | .name + .lastError' loaded)"
expect "alerts that fire at once" "" "$(jq -r '.data.groups[].rules[] | select(.state == "firing") | .name' loaded)"

note "an alert"
sim_ctl link down "$(sim_ctl show nodes | awk '/node001/ { print $2; exit }')/P1" >/dev/null
until_ 30 has_answer 'max_over_time(qosd_fabric_links[1h]) - qosd_fabric_links > 0' || bad "the lost link is not seen"
until_ 20 has_answer 'ALERTS{alertname="QosdLinksLost"}' || bad "no alert"
