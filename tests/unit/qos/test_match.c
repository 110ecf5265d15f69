/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the compiled rules against trying the rules one by one, on random policies and
 * queries, of which nearly all match or almost match.  QOSD_SEED in the environment
 * gives others.
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "helper.h"
#include "lib/base/map64.h"
#include "qos/match/match.h"
#include "unit/run.h"

#define CA 0x0002c90300000000ULL

static uint64_t random_state;

static uint64_t rnd(uint64_t below)
{
	random_state += 0x9e3779b97f4a7c15ULL;
	return hash64(random_state) % below;
}

static void seed(uint64_t value)
{
	const char *s = getenv("QOSD_SEED");

	random_state = value + (s ? strtoull(s, NULL, 0) * 1000003 : 0);
}

/* A switch with CAs, which are the ports of the queries. */
static struct fabric *star(unsigned hosts)
{
	struct fabric *f = fabric_new();
	char desc[32];

	for (unsigned i = 0; i < hosts; i++) {
		snprintf(desc, sizeof(desc), "host%u", i);
		add_node(f, IB_NODE_CA_T, 1, CA + 16 * i, desc);
	}
	add_node(f, IB_NODE_SWITCH_T, hosts, 0x100, "switch");
	for (unsigned i = 0; i < hosts; i++)
		add_link(f, i, 1, hosts, i + 1);
	finish(f);
	return f;
}

static void random_groups(struct policy *p, unsigned n, unsigned hosts)
{
	char name[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "g%u", i);
		struct policy_group *g = add_group(p, name);

		for (uint64_t k = rnd(4); k; k--) {
			uint64_t a = rnd(hosts), b = a + rnd(rnd(2) ? 1 : hosts);

			add_range(&g->port_guids, CA + 16 * a + 1, CA + 16 * b + 1);
		}
		if (!rnd(5))
			g->node_types = 1u << rnd(4);
	}
}

static void random_names(struct policy_names *names, size_t n_groups)
{
	char name[16];

	for (uint64_t k = 1 + rnd(2); k; k--) {
		snprintf(name, sizeof(name), "g%u", (unsigned)rnd(n_groups));
		add_word(names, rnd(12) ? name : "all");
	}
}

/* Values that often coincide: a few places of a domain, including its ends. */
static uint64_t random_value(uint64_t last)
{
	switch (rnd(8)) {
	case 0:
		return 0;
	case 1:
		return last;
	case 2:
		return rnd(last) + 1;
	default:
		return rnd(last < 24 ? last + 1 : 24);
	}
}

/* A random Service ID, near one of the port spaces or anywhere. */
static uint64_t random_service_id(void)
{
	static const uint64_t base[] = {
		0, 0x0000000001060000, 0x000000000106fff0, 0x1000000000000000, UINT64_MAX - 40,
	};

	return rnd(10) ? base[rnd(5)] + rnd(rnd(2) ? 40 : 20) : rnd(UINT64_MAX);
}

static void random_ranges(struct u64_ranges *r, uint64_t last)
{
	for (uint64_t k = 1 + rnd(3); k; k--) {
		uint64_t a = random_value(last), b = rnd(2) ? a : random_value(last);

		add_range(r, a < b ? a : b, a < b ? b : a);
	}
}

static void random_service_ids(struct u64_ranges *r)
{
	for (uint64_t k = 1 + rnd(3); k; k--) {
		uint64_t a = random_service_id(), b = rnd(2) ? a : random_service_id();

		add_range(r, a < b ? a : b, a < b ? b : a);
	}
}

static void random_guids(struct u64_ranges *r, unsigned hosts)
{
	for (uint64_t k = 1 + rnd(2); k; k--) {
		uint64_t a = rnd(hosts), b = a + (rnd(2) ? 0 : rnd(hosts));

		add_range(r, CA + 16 * a + 1, CA + 16 * b + rnd(3));
	}
}

static void random_rule(struct policy *p, unsigned criteria, unsigned hosts)
{
	struct policy_rule *r = add_rule(p);
	uint64_t often = 1 + rnd(4);	/* few criteria, or many */

#define HAS(i) ((criteria >> (i) & 1) && !rnd(often))
	if (HAS(0))
		random_names(&r->sources, p->n_groups);
	if (HAS(1))
		random_names(&r->destinations, p->n_groups);
	if (HAS(2))
		random_names(&r->either, p->n_groups);
	if (HAS(3))
		random_service_ids(&r->service_ids);
	if (HAS(4))
		random_ranges(&r->qos_classes, 4095);
	if (HAS(5))
		random_ranges(&r->tclasses, 255);
	if (HAS(6))
		random_ranges(&r->pkeys, 0x7fff);
	if (HAS(7))
		random_ranges(&r->sls, 15);
	if (HAS(8))
		random_guids(&r->dest_guids, hosts);
#undef HAS
	r->level = (uint32_t)rnd(1000);
}

static struct match_query random_query(const struct fabric *f)
{
	struct match_query q = {
		.src = (uint32_t)rnd(f->n_ports), .dst = (uint32_t)rnd(f->n_ports),
		.has = (unsigned)(rnd(3) ? 31 : rnd(32)),
		.service_id = random_service_id(),
		.qos_class = (uint16_t)random_value(4095),
		.pkey = (uint16_t)(random_value(0x7fff) | rnd(2) << 15),
		.tclass = (uint8_t)random_value(255), .sl = (uint8_t)random_value(15),
	};

	while (!port_is_end(f, q.src))
		q.src = (uint32_t)rnd(f->n_ports);
	while (!port_is_end(f, q.dst))
		q.dst = (uint32_t)rnd(f->n_ports);
	return q;
}

static uint32_t first_the_slow_way(const struct policy *p, const struct fabric *f,
				   const struct group_sets *g, const struct match_query *q)
{
	for (uint32_t i = 0; i < p->n_rules; i++)
		if (!match_rule_fails(p, f, g, i, q))
			return i;
	return MATCH_NO_RULE;
}

/* Returns how many of the queries matched a rule. */
static unsigned compare(const struct policy *p, const struct fabric *f, unsigned queries)
{
	struct findings ignored = { 0 };
	struct group_sets *g = groups_resolve(p, f, &ignored);
	struct matcher *m = matcher_build(p, f, g);
	unsigned met = 0;

	for (unsigned i = 0; i < queries; i++) {
		struct match_query q = random_query(f);
		uint32_t expected = first_the_slow_way(p, f, g, &q), rule;
		uint32_t level = matcher_level(m, &q, &rule);

		ck_assert_uint_eq(matcher_first(m, &q), expected);
		ck_assert_uint_eq(rule, expected);
		ck_assert_uint_eq(level, expected == MATCH_NO_RULE ? p->default_level
								   : p->rules[expected].level);
		met += expected != MATCH_NO_RULE;
	}
	matcher_free(m);
	groups_free(g);
	findings_free(&ignored);
	return met;
}

/* Small policies, each with another set of criteria. */
START_TEST(many_small_policies)
{
	struct fabric *f = star(20);
	unsigned met = 0;

	seed(1);
	for (unsigned i = 0; i < 1500; i++) {
		struct policy *p = new_policy();
		unsigned criteria = (unsigned)rnd(512);

		random_groups(p, 1 + (unsigned)rnd(12), 20);
		for (uint64_t k = rnd(20); k; k--)
			random_rule(p, criteria, 20);
		met += compare(p, f, 20);
		policy_free(p);
	}
	ck_assert_uint_gt(met, 5000);
	ck_assert_uint_lt(met, 28000);
	fabric_free(f);
}
END_TEST

/* Sizes around those at which new words, chunks and summaries begin. */
START_TEST(larger_policies)
{
	static const unsigned sizes[] = { 63, 64, 65, 511, 512, 513, 1500, 4095, 4096, 4097, 5000 };
	struct fabric *f = star(100);

	seed(100 + (uint64_t)_i);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct policy *p = new_policy();

		random_groups(p, 40, 100);
		for (unsigned k = 0; k < sizes[i]; k++)
			random_rule(p, 511, 100);
		/* rules with nearly all criteria, so that a match depends on many */
		for (unsigned k = 0; k < sizes[i]; k++)
			if (!p->rules[k].service_ids.n && rnd(20))
				random_service_ids(&p->rules[k].service_ids);
		compare(p, f, 300);
		policy_free(p);
	}
	fabric_free(f);
}
END_TEST

/* One rule at each position, and a query that only this rule matches. */
START_TEST(each_place)
{
	struct fabric *f = star(4);
	struct policy *p = new_policy();
	struct findings none = { 0 };

	for (uint64_t i = 0; i < 9000; i++)
		add_range(&add_rule(p)->service_ids, 3 * i, 3 * i);
	struct group_sets *g = groups_resolve(p, f, &none);
	struct matcher *m = matcher_build(p, f, g);

	for (uint64_t i = 0; i < 3 * 9000; i++) {
		struct match_query q = {
			.src = port_at(f, 0, 1), .dst = port_at(f, 1, 1),
			.has = MATCH_SERVICE_ID, .service_id = i,
		};

		ck_assert_uint_eq(matcher_first(m, &q), i % 3 ? MATCH_NO_RULE : i / 3);
		q.has = 0;
		ck_assert_uint_eq(matcher_first(m, &q), MATCH_NO_RULE);
	}
	matcher_free(m);
	groups_free(g);
	policy_free(p);
	fabric_free(f);
}
END_TEST

START_TEST(no_rules_and_rules_without_criteria)
{
	struct fabric *f = star(2);
	struct policy *p = new_policy();
	struct findings none = { 0 };
	struct group_sets *g = groups_resolve(p, f, &none);
	struct match_query q = { .src = port_at(f, 0, 1), .dst = port_at(f, 1, 1) };
	struct matcher *m = matcher_build(p, f, g);

	ck_assert_uint_eq(matcher_first(m, &q), MATCH_NO_RULE);
	matcher_free(m);
	add_rule(p);
	m = matcher_build(p, f, g);
	ck_assert_uint_eq(matcher_first(m, &q), 0);
	matcher_free(m);
	matcher_free(NULL);
	groups_free(g);
	policy_free(p);
	fabric_free(f);
}
END_TEST

/* The name of the first criterion that fails, which `explain` prints. */
START_TEST(words)
{
	struct fabric *f = star(4);
	struct policy *p = new_policy();
	struct findings none = { 0 };
	struct policy_group *a = add_group(p, "a");

	add_range(&a->port_guids, CA + 1, CA + 1);
	struct policy_rule *r = add_rule(p);

	add_word(&r->sources, "a");
	add_word(&r->destinations, "all");
	add_word(&r->either, "a");
	add_range(&r->service_ids, 5, 6);
	add_range(&r->qos_classes, 7, 7);
	add_range(&r->tclasses, 8, 8);
	add_range(&r->pkeys, 0x7fff, 0x7fff);
	add_range(&r->sls, 2, 2);
	add_range(&r->dest_guids, CA + 16 + 1, CA + 16 + 1);
	struct group_sets *g = groups_resolve(p, f, &none);
	const struct match_query good = {
		.src = port_at(f, 0, 1), .dst = port_at(f, 1, 1), .has = 31, .service_id = 6,
		.qos_class = 7, .tclass = 8, .pkey = 0xffff, .sl = 2,
	};
	struct match_query q = good;

	ck_assert_ptr_null(match_rule_fails(p, f, g, 0, &q));
#define FAILS(change, word) do { \
		q = good; \
		change; \
		ck_assert_str_eq(match_rule_fails(p, f, g, 0, &q), word); \
	} while (0)
	FAILS(q.src = port_at(f, 2, 1), "source");
	FAILS(q.dst = port_at(f, 4, 1), "destination");
	FAILS(q.has &= ~(unsigned)MATCH_SERVICE_ID, "service-id");
	FAILS(q.service_id = 7, "service-id");
	FAILS(q.qos_class = 6, "qos-class");
	FAILS(q.has &= ~(unsigned)MATCH_TCLASS, "tclass");
	FAILS(q.pkey = 0xfffe, "pkey");
	FAILS(q.sl = 3, "sl");
	FAILS(q.dst = port_at(f, 2, 1), "target-guid");
	/* without the source criterion */
	r->sources.n = 0;
	FAILS((q.src = port_at(f, 2, 1), q.dst = port_at(f, 3, 1)), "either");
	q = good;
	q.src = port_at(f, 2, 1);
	q.dst = port_at(f, 0, 1);
	ck_assert_str_eq(match_rule_fails(p, f, g, 0, &q), "target-guid");
	r->sources.n = 1;
	groups_free(g);
	policy_free(p);
	fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("match");
	TCase *t = tcase_create("match");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, many_small_policies);
	tcase_add_loop_test(t, larger_policies, 0, 3);
	tcase_add_test(t, each_place);
	tcase_add_test(t, no_rules_and_rules_without_criteria);
	tcase_add_test(t, words);
	suite_add_tcase(s, t);
	return run_suite(s);
}
