#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Tests jobs that come and go through the REST gateway, many at once, while links fail: each gets its
# partition, nothing of it stays, and the subnet is sound.  REST_JOBS=1000 runs as many jobs.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
only_on qosd-sim "one simulator is enough for what clients of the gateway see"
# shellcheck source=rest/gateway.sh
. "$top/tests/e2e/rest/gateway.sh"

jobs=${REST_JOBS:-40}
topology=$top/examples/cluster.topo
sim_options=()
start_sim "$topology"
cat >policy.yaml <<'END'
partitions:
  Default: {pkey: 0x7fff, members: {all: limited}}
qos-levels:
  default: {sl: 0}
match-rules: []
END
start_and_wait H-f452140300811200 -p policy.yaml
new_certificate tls
mapfile -t token < <("$build/qosd-rest" --new-token slurm)
cat >rest.yaml <<END
$(served_here)
requests-per-second: 100000
wait: 60s
users:
  slurm: {tokens: ["${token[1]}"], right: partitions}
END
start_rest rest.yaml rest.log

cat >jobs.py <<'END'
"""Runs jobs of 1 to 8 hosts, 16 at a time: prolog, a look at the partition, epilog."""
import concurrent.futures, http.client, json, random, ssl, sys, threading, time

port, token, jobs = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
context = ssl.create_default_context(cafile="tls.crt")
local, waits = threading.local(), []


def ask(method, path, body=None):
    if not hasattr(local, "c"):
        local.c = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
    local.c.request(method, "/ufmRestV3/" + path, body and json.dumps(body), {"Authorization": "Basic " + token})
    answer = local.c.getresponse()
    return answer.status, answer.read().decode()


def job(i):
    chance = random.Random(i)
    hosts = sorted(chance.sample(range(1, 37), chance.randint(1, 8)))
    names, pkey = "node[%s]" % ",".join("%03d" % h for h in hosts), "0x%x" % (0x100 + i)
    begun = time.monotonic()
    said = ask("POST", "resources/pkeys/hosts", {"hosts_names": names, "pkey": pkey, "ip_over_ib": True, "index0": False})
    waits.append(time.monotonic() - begun)
    if said[0] != 200:
        return "job %d: prolog: %s" % (i, said)
    said = ask("GET", "resources/pkeys/%s?guids_data=true" % pkey)
    if said[0] != 200 or len(json.loads(said[1]).get("guids", [])) != len(hosts):
        return "job %d: members: %s of %d" % (i, said, len(hosts))
    said = ask("DELETE", "resources/pkeys/%s/hosts/%s" % (pkey, names))
    return None if said[0] == 200 else "job %d: epilog: %s" % (i, said)


begun = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    wrong = [w for w in pool.map(job, range(jobs)) if w]
print("\n".join(wrong[:5]) or "all well")
waits.sort()
print("%d jobs in %.1f s; prolog: median %.0f ms, 99%% %.0f ms, most %.0f ms" % (
    jobs, time.monotonic() - begun, 1e3 * waits[len(waits) // 2], 1e3 * waits[len(waits) * 99 // 100], 1e3 * waits[-1]))
END

# promise: J8
note "jobs that come and go beside faults"
python3 jobs.py "$rest_port" "${token[0]}" "$jobs" >jobs.out 2>&1 &
client=$!
pids+=("$client")
# spines' links, so that routes change and no host is lost
while kill -0 "$client" 2>/dev/null; do
	for link in 1 2 3; do
		sim_ctl link down "MF0;spine01:SB7700/U1/P$link" >/dev/null 2>&1
		pause 0.3
		sim_ctl link up "MF0;spine01:SB7700/U1/P$link" >/dev/null 2>&1
	done
done
wait "$client"
expect "jobs" "all well" "$(head -n 1 jobs.out)"
tail -n +2 jobs.out
expect "partitions that are left" "Default" "$(ctl -j partitions | jq -r '[.partitions[].partition] | join(" ")')"
sound() { [ "$(status sweeping)" = false ] && subnet_up && sim_ctl check >check.out 2>&1; }
until_ 20 sound || bad "the auditor: $(tail -n 5 check.out)"
stop_qosd || bad "exit status $? after SIGTERM"
end "$rest_pid" || bad "qosd-rest ends with exit status $?"
