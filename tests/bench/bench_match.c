/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures a policy on a fat tree of 11,664 hosts and 1,620 switches: compiling its groups, rules
 * and tables, and finding the rule for a query.
 *
 *   bench_match [RULES [QUERIES]]
 *
 * Instructions per query, where the machine does not count them:
 *   valgrind --tool=callgrind --toggle-collect=matcher_first bench_match 1000 100000
 * and the number collected divided by the queries.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "qos/match/match.h"
#include "qos/tables/qos_tables.h"

#define RADIX		36
#define HALF		(RADIX / 2)
#define PODS		RADIX
#define LEAVES		(PODS * HALF)
#define TOPS		(HALF * HALF)
#define HOSTS		(LEAVES * HALF)
#define SWITCH_GUIDS	0x0002c90200000000ULL
#define HOST_GUIDS	0x0002c90300000000ULL
#define GROUPS		200

static uint64_t rnd(uint64_t below)
{
	static uint64_t state;

	state += 0x9e3779b97f4a7c15ULL;
	return hash64(state) % below;
}

/* --- the fabric: hosts first, then leaves, middle and top switches --- */

static uint32_t add_node(struct fabric *f, bool is_switch, uint64_t guid)
{
	uint8_t info[40] = { 0 }, switch_info[20] = { 0 }, port_info[64] = { 0 };
	unsigned nports = is_switch ? RADIX : 1;

	mad_set_field(info, 0, IB_NODE_TYPE_F, is_switch ? IB_NODE_SWITCH_T : IB_NODE_CA_T);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field(port_info, 0, IB_PORT_VL_CAP_F, 4);
	mad_set_field(port_info, 0, IB_PORT_VL_ARBITRATION_HIGH_CAP_F, 8);
	mad_set_field(port_info, 0, IB_PORT_VL_ARBITRATION_LOW_CAP_F, 8);
	mad_set_field(port_info, 0, IB_PORT_CAPMASK_F, IB_CAP_SL_MAP);
	uint32_t n = fabric_add_node(f, info, "node", is_switch ? switch_info : NULL, NULL, 0);

	for (unsigned num = is_switch ? 0 : 1; num <= nports; num++)
		fabric_set_port(f, n, num, guid, port_info);
	return n;
}

static struct fabric *fat_tree(void)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	uint32_t leaf = HOSTS, middle = leaf + LEAVES, top = middle + LEAVES;

	for (uint32_t i = 0; i < HOSTS; i++)
		add_node(f, false, HOST_GUIDS + i);
	for (uint32_t i = 0; i < 2 * LEAVES + TOPS; i++)
		add_node(f, true, SWITCH_GUIDS + i);
	for (uint32_t i = 0; i < LEAVES; i++)
		for (uint32_t k = 0; k < HALF; k++) {
			uint32_t pod = i / HALF, at = i % HALF;

			fabric_link(f, i * HALF + k, 1, leaf + i, 1 + k);
			fabric_link(f, leaf + i, 1 + HALF + k, middle + pod * HALF + k, 1 + at);
			fabric_link(f, middle + i, 1 + HALF + k, top + at * HALF + k, 1 + pod);
		}
	if (!fabric_finish(f, 0, 1, &err)) {
		fprintf(stderr, "bench_match: %s", err.s);
		exit(1);
	}
	return f;
}

/* --- the policy --- */

static void add_range(struct u64_ranges *r, uint64_t lo, uint64_t hi)
{
	*vec_push(r) = (struct u64_range){ .lo = lo, .hi = hi };
}

static void add_group_name(struct policy_names *names)
{
	*vec_push(names) = (struct policy_name){ .s = xasprintf("g%u", (unsigned)rnd(GROUPS)) };
}

/* Half of the groups are small, half hold nearly all hosts. */
static void add_groups(struct policy *p)
{
	p->groups = xcalloc(GROUPS, sizeof(*p->groups));
	for (p->n_groups = 0; p->n_groups < GROUPS; p->n_groups++) {
		struct policy_group *g = &p->groups[p->n_groups];

		g->name = xasprintf("g%zu", p->n_groups);
		if (p->n_groups % 2) {
			uint64_t lo = rnd(HOSTS);

			add_range(&g->port_guids, HOST_GUIDS + lo, HOST_GUIDS + lo + rnd(200));
			continue;
		}
		for (int i = 0; i < 20; i++) {
			uint64_t lo = HOST_GUIDS + HOSTS / 20 * (uint64_t)i;

			add_range(&g->port_guids, lo, lo + 400 + rnd(HOSTS / 20 - 400));
		}
	}
}

/* Makes rules as in practice: a service or a QoS class, by source or destination. */
static void fill_rule(struct policy_rule *r, unsigned i)
{
	switch (i % 6) {
	case 0:		/* a port of the TCP space, to a group */
		add_range(&r->service_ids, 0x1060000 + i, 0x1060000 + i);
		add_group_name(&r->destinations);
		break;
	case 1:		/* a range of ports, from a group */
		add_range(&r->service_ids, 0x1060000 + i, 0x1060000 + i + rnd(20));
		add_group_name(&r->sources);
		break;
	case 2:		/* one target's own Service-ID */
		add_range(&r->service_ids, HOST_GUIDS + rnd(HOSTS), 0);
		r->service_ids.v[0].hi = r->service_ids.v[0].lo;
		add_range(&r->dest_guids, HOST_GUIDS + rnd(HOSTS), 0);
		r->dest_guids.v[0].hi = r->dest_guids.v[0].lo;
		break;
	case 3:
		add_range(&r->qos_classes, i % 4096, i % 4096);
		add_group_name(&r->either);
		break;
	case 4:
		add_range(&r->pkeys, i % 0x7ffe, i % 0x7ffe);
		add_range(&r->tclasses, rnd(200), 255);
		break;
	default:
		add_range(&r->sls, 1, 1 + rnd(3));
		add_range(&r->qos_classes, i % 4096, i % 4096);
		add_group_name(&r->sources);
		break;
	}
}

static struct policy *make_policy(unsigned n_rules)
{
	struct policy *p = policy_builtin();

	add_groups(p);
	p->rules = xcalloc(n_rules, sizeof(*p->rules));
	p->n_rules = n_rules;
	for (unsigned i = 0; i < n_rules; i++)
		fill_rule(&p->rules[i], i);
	p->has_fabric_setup = true;
	return p;
}

/* --- queries: half aim at a rule, half are anyone's --- */

static struct match_query make_query(const struct fabric *f, const struct policy *p)
{
	struct match_query q = {
		.src = fabric_port(f, (uint32_t)rnd(HOSTS), 1) - f->ports,
		.dst = fabric_port(f, (uint32_t)rnd(HOSTS), 1) - f->ports,
		.has = 31, .service_id = 0x1060000 + rnd(20000), .qos_class = rnd(4096),
		.pkey = 0x7fff, .tclass = rnd(256), .sl = 0,
	};
	const struct policy_rule *r = &p->rules[rnd(p->n_rules)];

	if (rnd(2))
		return q;
	if (r->service_ids.n)
		q.service_id = r->service_ids.v[0].lo;
	if (r->qos_classes.n)
		q.qos_class = (uint16_t)r->qos_classes.v[0].lo;
	if (r->pkeys.n)
		q.pkey = (uint16_t)r->pkeys.v[0].lo;
	if (r->sls.n)
		q.sl = 1;
	if (r->dest_guids.n)
		q.dst = fabric_find_port(f, r->dest_guids.v[0].lo);
	return q;
}

/* CPU time of this process, independent of the machine's load. */
static double ms_since(clock_t start)
{
	return (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
}

#define QUERIES_APART 65536

static void ask(const struct matcher *m, const struct match_query *q, unsigned n)
{
	clock_t start = clock();
	unsigned met = 0;

	for (unsigned i = 0; i < n; i++)
		met += matcher_first(m, &q[i % QUERIES_APART]) != MATCH_NO_RULE;
	printf("%8.0f ns per query (%2.0f%% met a rule)\n", ms_since(start) * 1e6 / n,
	       100.0 * met / n);
}

static void bench(const struct fabric *f, unsigned n_rules, unsigned n_queries)
{
	struct policy *p = make_policy(n_rules);
	struct match_query *q = xcalloc(QUERIES_APART, sizeof(*q));
	struct findings ignored = { 0 };
	clock_t start = clock();
	struct group_sets *g = groups_resolve(p, f, &ignored);
	double groups = ms_since(start);
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

	start = clock();
	struct matcher *m = matcher_build(p, f, g);
	double rules = ms_since(start);
	size_t size = mallinfo2().uordblks + mallinfo2().hblkhd - before;

	struct sl_plan sls;

	sl_plan_make(&sls, p, NULL);
	start = clock();
	struct qos_tables *t = qos_tables_build(p, f, g, 15, &sls, &ignored);

	printf("%6u rules: groups %.1f ms, rules %.1f ms and %.1f MB, tables %.1f ms;", n_rules,
	       groups, rules, (double)size / 1e6, ms_since(start));
	for (unsigned i = 0; i < QUERIES_APART; i++)
		q[i] = make_query(f, p);
	ask(m, q, n_queries);
	qos_tables_free(t);
	matcher_free(m);
	groups_free(g);
	findings_free(&ignored);
	policy_free(p);
	free(q);
}

int main(int argc, char **argv)
{
	static const unsigned sizes[] = { 1, 10, 100, 1000, 10000 };
	unsigned queries = argc > 2 ? (unsigned)atoi(argv[2]) : 2000000;
	struct fabric *f = fat_tree();

	if (argc > 1)
		bench(f, (unsigned)atoi(argv[1]), queries);
	for (size_t i = 0; argc < 2 && i < ARRAY_SIZE(sizes); i++)
		bench(f, sizes[i], queries);
	fabric_free(f);
	return 0;
}
