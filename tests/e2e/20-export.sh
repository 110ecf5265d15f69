#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests `qosd-ctl export ibacm`: ibacm's provider preloads the files, and has for each
# host the path that the SA gives in answer to a query.
#
# promise: O7
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

topology=$top/examples/cluster.topo
sm_node=H-f452140300811200
node=H-f452140300811230		# node001
provider=$(dpkg -L ibacm 2>/dev/null | grep '/libibacmp\.so$') ||
	fail "there is no libibacmp.so: package ibacm is missing"

cat >policy.yaml <<'END'
port-groups:
  storage: {port-names: ["oss* */P1", "mds* */P1"]}
qos-levels:
  default: {sl: 0}
  storage: {sl: 2, mtu-limit: 1024, rate-limit: 40}
  rdma: {sl: 3}
match-rules:
  - {destination: storage, service-id: 0x1000, level: rdma}
  - {destination: storage, level: storage}
END
start_sim "$topology"
start_and_wait "$sm_node" -p policy.yaml

# guid_lid NODE: prints GUID and LID of the node's port 1.
guid_lid() { ctl -j ports | jq -r --arg n "$1" '.[] | select(.name | startswith($n)) | "\(.guid) \(.lid)"'; }
read -r from_guid from_lid < <(guid_lid "node001 HCA-1/P1")
[ -n "$from_lid" ] || fail "no port of node001: $(ctl -j ports | head -n 20)"

# cached DIR DEST...: prints the paths in the provider's cache on node001.
cached() {
	local dir=$1
	shift
	cat >options <<-END
		addr_preload acm_hosts
		addr_data_file $PWD/$dir/ibacm_hosts.data
		route_preload opensm_full_v1
		route_data_file $PWD/$dir/ibacm_route.data
	END
	"$tools/acmread" "$provider" options "$from_guid" "$from_lid" "$@" 2>acm.err
}
# answered LID...: prints the SA's answers to a query with "${query[@]}", in the same format.
query=()
answered() {
	local lid
	for lid; do
		on_own "$node" "$tools/pathquery" get path slid="$from_lid" dlid="$lid" "${query[@]}" |
			sed -E "s/.* dgid=([^ ]*) .*dlid=([^ ]*) .* sl=([^ ]*) .* mtu=([^ ]*) .* rate=([^ ]*) .*/$lid dgid=\\1 dlid=$lid sl=\\3 mtu=\\4 rate=\\5/"
	done
}
# same DIR: the cache must be equal to the SA's answers for all LIDs.
same() {
	cached "$1" "${lids[@]}" >have
	expect "errors of the provider" "" "$(<acm.err)"
	answered "${lids[@]}" >want
	expect "destinations" ${#lids[@]} "$(grep -c ' sl=' want)"
	expect_same "paths in the cache, and answered" have want
}

note "every path"
ctl export ibacm all >out 2>&1 || bad "qosd-ctl: $(<out)"
expect "it prints" "" "$(<out)"
expect "the files" "ibacm_hosts.data ibacm_route.data" "$(cd all && echo *)"
mapfile -t lids < <(ctl -j ports | jq -r '.[] | select(.lid) | .lid' | sort -nu)
same all
expect "sources" $((${#lids[@]} - $(status switches))) "$(awk '/^(Channel|Router|Switch)/ { n = 0 }
	/^0x/ && !n++ { s++ } END { print s }' all/ibacm_route.data)"
# the provider's line buffer has 128 bytes
expect_less "the longest line" 128 "$(awk '{ if (length > n) n = length } END { print n }' all/*)"

note "names"
oss01=$(cached all oss01)
expect_match "the path by name is that by LID" "^oss01 (.*)" "$oss01"
expect "it" "${oss01#oss01 }" "$(cached all "$(ctl -j ports | jq -r '[.[] |
	select(.name | startswith("oss01 mlx5_0/P1")) | .lid][0]')" | cut -d' ' -f2-)"
expect "a name that nobody has" "nobody status=3" "$(cached all nobody)"

note "one source only, one service"
ctl export ibacm one --from "node001 HCA-1/P1" --service-id 0x1000 >out 2>&1 || bad "qosd-ctl: $(<out)"
query=(service-id=0x1000)
same one
expect_match "the service's level is in it" ' sl=3 ' "$(<have)"
expect "sources" 1 "$(grep -c '^0x0*1 ' one/ibacm_route.data)"
expect_less "it is small" "$(($(stat -c %s all/ibacm_route.data) / 4))" "$(stat -c %s one/ibacm_route.data)"

note "a new policy, and the files once more"
sed -i 's/sl: 2,/sl: 1,/' policy.yaml
reload || bad "refused: $(cat reload)"
query=()
ctl export ibacm all >out 2>&1 || bad "qosd-ctl: $(<out)"
same all
expect_match "the new SL" ' sl=1 ' "$(<have)"

note "what can't be"
expect "status, an unknown port" 1 "$(ctl export ibacm x --from nobody >out 2>&1; echo $?)"
expect_match "why" "no such port" "$(<out)"
expect "status, a folder that can't be made" 1 "$(ctl export ibacm /proc/none >out 2>&1; echo $?)"
expect_match "why" "/proc/none" "$(<out)"
