#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests --where, --sort, --reverse and --count of commands that list, against the same rows by jq.
# promise: O20
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "rows are the same on either simulator"

manager=H-f452140300811200 a=H-f452140300811230 a_guid=f452140300811231
cat >policy.yaml <<'END'
qos-levels:
  default: {sl: 0}
  ip: {sl: 2}
partitions:
  Default: {pkey: 0x7fff, members: {all: full}, ipoib: {level: ip}}
  beta: {pkey: 0x12, members: {all: limited}}
  alpha: {pkey: 0x34, members: {all: full}, level: ip}
END
start_sim "$top/examples/cluster.topo"
start_and_wait "$manager" -p policy.yaml
for i in 1 2 3; do
	on_own "$a" "$tools/pathquery" set member mgid="ff12:401b:ffff::$i" port-gid="$(gid $a_guid)" join-state=1 qkey=0xb1b \
		pkey=0xffff tclass=0 sl=2 flow-label=0 >join.out 2>&1 || bad "join: $(<join.out)"
done
# rows COMMAND...: prints the names of the rows.
names() { ctl -j "$@" | jq -r '.. | objects | select(has("pkey")) | .partition // .mgid' | xargs; }

note "partitions"
expect "sorted by name" "Default alpha beta" "$(names partitions --sort partition)"
expect "by P_Key" "beta alpha Default" "$(names partitions --sort pkey)"
expect "the other way round" "Default alpha beta" "$(names partitions --sort pkey --reverse)"
expect "selected" "alpha Default" "$(names partitions --where 'partition=*a*l*' --sort pkey)"
expect "by a number" "beta" "$(names partitions --where pkey=18)"
expect "by a P_Key in hexadecimal" "beta" "$(names partitions --where pkey=0x0012)"
expect "by what rows lack" "beta alpha" "$(names partitions --where ipoib-level=- --sort pkey)"
expect "counted" 1 "$(ctl partitions --where level=ip --count)"
expect "counted as JSON" '{"count": 3}' "$(ctl -j partitions --count)"
expect_match "the text has its titles" "^P_KEY .* NAME$" "$(ctl partitions --sort partition | head -n 1)"
expect "the text of the last" "beta" "$(ctl partitions --sort partition | tail -n 1 | awk '{ print $NF }')"
expect "show" "alpha" "$(ctl -j partition show --where level=ip | jq -r '.partitions[].partition')"

note "multicast groups, holdings and services"
expect "groups by MGID" "$(ctl -j mcast | jq -r '.groups[].mgid' | LC_ALL=C sort -r | xargs)" "$(names mcast --sort mgid --reverse)"
expect "groups with a member" 3 "$(ctl mcast --where members=1 --count)"
expect "the rest of the answer stays" "$(ctl -j mcast | jq .mlids)" "$(ctl -j mcast --where mgid=none | jq .mlids)"
expect_match "a title for text" "MLID +P_KEY" "$(ctl mcast --where mgid=none)"
expect "members of a group" 1 "$(ctl mcast ff12:401b:ffff::1 --where 'port=node001 *' --count)"
expect "who holds 3 memberships" "0x$a_guid" "$(ctl -j holdings --where memberships=3 | jq -r '.ports[].guid')"
expect "services" 0 "$(ctl services --where 'name=x*' --count)"
expect "subscriptions" 0 "$(ctl subscriptions --count)"
expect "withdrawn" 0 "$(ctl withdrawn --where kind=switch --count)"

note "what rows lack"
expect_match "a member" "partitions: sort: 'mgid' is none of: partition pkey" "$(ctl partitions --sort mgid 2>&1)"
expect_match "a condition" "mcast: where: 'sl' is not KEY=PATTERN with a KEY of: mgid" "$(ctl mcast --where sl 2>&1)"
expect "exit status" 1 "$(ctl mcast --where no=1 >out 2>&1; echo $?)"
stop_qosd || bad "exit status $? after SIGTERM"
stop_sim
