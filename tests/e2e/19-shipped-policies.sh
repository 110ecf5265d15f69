#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests the shipped policies, etc/policy.yaml and examples/*policy*.yaml, on the shipped
# cluster: qosd has no findings except that strict priority can starve other levels; all
# ports become Active and get their tables; the auditor finds no fault.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
node=H-f452140300811200

files=("$top"/etc/policy.yaml "$top"/examples/*policy*.yaml)
[ ${#files[@]} -ge 2 ] || bad "no policies among the examples"
# promise: P7
note "checked, and on the cluster"
for file in "${files[@]}"; do
	note "${file#"$top"/}"
	"$build/qosd" --check -c "$top/etc/qosd.yaml" -p "$file" >check 2>&1
	expect "exit status of --check" 0 $?
	expect "what it says" "" "$(<check)"
	"$build/qosd" --check -c "$top/etc/qosd.yaml" -p "$file" --topology "$topology" >check 2>&1
	expect "exit status of --check --topology" 0 $?
	# The cluster's degraded link is no fault of the policy.
	grep -E '(error|warning): ' check | grep -v ': runs at 2.5 Gb/s' >findings
	starve=$(grep -cE 'warning: level [^:]*: .* may starve .*are unlimited' findings)
	expect "levels that may starve" "$(grep -q 'high-limit: unlimited' "$file" && echo 2 || echo 0)" "$starve"
	expect "other findings" "" "$(grep -v ' may starve ' findings)"
	expect_match "the report" 'Share of each level on each kind' "$(<check)"
	# The normal form of a policy is a policy with the same meaning and normal form.
	"$build/qosd" --check -v -c "$top/etc/qosd.yaml" -p "$file" >normal.yaml 2>&1
	"$build/qosd" --check -v -c "$top/etc/qosd.yaml" -p normal.yaml >again.yaml 2>&1
	expect_same "normal form, and its own" normal.yaml again.yaml
	rm -rf state
	start_sim "$topology"
	once "$node" -c "$top/etc/qosd.yaml" -p "$file"
	expect "exit status of qosd --once" 0 $?
	expect "warnings in its log" "" "$(grep -E ' (error|warning): ' once.log |
		grep -vE ': runs at |switch does not support it| may starve ')"
	if [ "$simulator" = qosd-sim ]; then
		sim_ctl check >audit 2>&1 || bad "qosd-sim check: $(head -n 6 audit)"
		expect_match "the audit" 'no faults' "$(<audit)"
	fi
	stop_sim
done
