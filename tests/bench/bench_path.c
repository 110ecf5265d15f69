/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a PathRecord Get costs the SA, both ends given, by GID: from the bytes of
 * the request to those of the answer.  Half are asked by the source, half by
 * a third port.
 *
 *   bench_path [TOPOLOGY [QUERIES]]		examples/cluster.topo, a million
 *
 * Instructions per query, where the machine does not count them:
 *   valgrind --tool=callgrind --toggle-collect=sa_answer bench_path TOPOLOGY 10000
 * and the number collected divided by the queries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/iba/sa_records.h"
#include "sa/registry/groups.h"
#include "sa/sa.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_request(uint8_t *mad, const struct subnet_state *s, uint32_t src, uint32_t dst)
{
	struct sa_path_record *r = (void *)(mad + SA_HDR_LEN);

	memset(mad, 0, MAD_LEN);
	memcpy(mad, "\1\3\2\1", 4);
	put_be16(mad + 16, 0x35);
	put_be64(mad + 48, PR_SGID | PR_DGID | PR_NUMB_PATH);
	put_be64(r->sgid, IB_DEFAULT_PREFIX);
	put_be64(r->sgid + 8, s->f->ports[src].guid);
	put_be64(r->dgid, IB_DEFAULT_PREFIX);
	put_be64(r->dgid + 8, s->f->ports[dst].guid);
	r->num_path = 1;
}

int main(int argc, char **argv)
{
	struct subnet_state *s = state_of_dump(argc > 1 ? argv[1] : "examples/cluster.topo");
	uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1000000;
	struct sa sa = { .state = s, .sm_key = 1, .mcast = mcast_new(NULL, NULL) };
	VEC(uint32_t) ports = { 0 };
	struct buf out = { 0 };
	uint8_t mad[MAD_LEN];
	double spent[2] = { 0 };
	uint32_t failed = 0;

	for (uint32_t port = 0; port < s->f->n_ports; port++)
		if (s->plan->lid[port])
			*vec_push(&ports) = port;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t src = ports.v[hash64(i) % ports.n], dst = ports.v[hash64(~i) % ports.n];
		uint32_t by = i % 2 ? ports.v[hash64(i + n) % ports.n] : src;
		struct sa_request req = { .mad = mad, .len = MAD_LEN, .slid = s->plan->lid[by] };

		make_request(mad, s, src, dst);
		double start = seconds();
		sa_answer(&sa, &req, &out);
		spent[i % 2] += seconds() - start;
		failed += get_be16(out.s + 4) != 0;
	}
	printf("PathRecord Get, %zu ports: %.0f ns by the source, %.0f ns by a third port"
	       " (%u of %u without a path)\n", ports.n, spent[0] / (n / 2) * 1e9,
	       spent[1] / (n / 2) * 1e9, failed, n);
	return 0;
}
