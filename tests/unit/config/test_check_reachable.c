/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the check for rules that can never match against a model that tries every query.
 *
 * The model has a few ports, values and groups; each rule is the set of queries
 * that it matches.  A rule must be reported if and only if one earlier rule's
 * set includes its own, and the first such rule must be named.
 *
 * promise: O9
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf_test.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

static uint32_t random_state;

static unsigned random_below(unsigned n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* --- the model --- */

enum { SRC, DST, SL, PKEY, SERVICE_ID, GUID, VARIABLES };
#define PORTS 5
#define VALUES 4
static const unsigned sizes[VARIABLES] = {
	PORTS, PORTS, VALUES + 1, VALUES + 1, VALUES + 1, VALUES,
};
#define QUERIES (PORTS * PORTS * (VALUES + 1) * (VALUES + 1) * (VALUES + 1) * VALUES)

/* Port i is in group i; the other groups contain groups and one port of their own. */
static const char groups_text[] =
	"port-groups:\n"
	"  g0: {port-guids: 100}\n"
	"  g1: {port-guids: 101}\n"
	"  g2: {groups: [g0, g1], port-guids: 102}\n"
	"  g3: {groups: g2, port-guids: 103}\n"
	"  g4: {node-types: [switch, ca, aggregation, router]}\n"
	"  g5: {groups: [g1, all]}\n"
	"  g6: {groups: g5}\n";
static const unsigned members[] = { 0x1, 0x2, 0x7, 0xf, 0x1f, 0x1f, 0x1f, 0x1f };
#define GROUPS ARRAY_SIZE(members)	/* the last one is `all` */

struct model {
	bool given[3];		/* source, destination, either */
	unsigned ports[3];
	bool has[VARIABLES];
	unsigned values[VARIABLES];	/* bits */
	uint64_t *matches;	/* of QUERIES bits */
};

static bool model_matches(const struct model *m, const unsigned *q)
{
	if (m->given[0] && !(m->ports[0] >> q[SRC] & 1))
		return false;
	if (m->given[1] && !(m->ports[1] >> q[DST] & 1))
		return false;
	if (m->given[2] && !((m->ports[2] >> q[SRC] | m->ports[2] >> q[DST]) & 1))
		return false;
	for (unsigned v = SL; v < VARIABLES; v++)	/* VALUES: the query has no such field */
		if (m->has[v] && !(m->values[v] >> q[v] & 1))
			return false;
	return true;
}

static void model_run(struct model *m)
{
	m->matches = xcalloc((QUERIES + 63) / 64, sizeof(*m->matches));
	for (unsigned i = 0; i < QUERIES; i++) {
		unsigned q[VARIABLES], rest = i;

		for (unsigned v = 0; v < VARIABLES; v++) {
			q[v] = rest % sizes[v];
			rest /= sizes[v];
		}
		if (model_matches(m, q))
			m->matches[i / 64] |= 1ull << i % 64;
	}
}

static bool model_includes(const struct model *e, const struct model *l)
{
	for (unsigned i = 0; i < (QUERIES + 63) / 64; i++)
		if (l->matches[i] & ~e->matches[i])
			return false;
	return true;
}

/* --- rules at random --- */

static void random_groups(struct buf *b, struct model *m, unsigned k, const char *key)
{
	if (random_below(3))
		return;
	buf_printf(b, "%s: [", key);
	for (unsigned i = 0, n = 1 + random_below(2); i < n; i++) {
		unsigned g = random_below(GROUPS);

		if (g == GROUPS - 1)
			buf_printf(b, "%sall", i ? ", " : "");
		else
			buf_printf(b, "%sg%u", i ? ", " : "", g);
		m->ports[k] |= members[g];
	}
	m->given[k] = true;
	buf_puts(b, "], ");
}

/* Writes values, and ranges that may touch or overlap; max: the number for the greatest value. */
static void random_values(struct buf *b, struct model *m, unsigned v, const char *key,
			  const char *max)
{
	if (random_below(2))
		return;
	buf_printf(b, "%s: [", key);
	for (unsigned i = 0, n = 1 + random_below(3); i < n; i++) {
		unsigned lo = random_below(VALUES), hi = lo + random_below(VALUES - lo);

		buf_printf(b, "%s%u", i ? ", " : "", lo);
		if (hi == VALUES - 1)
			buf_printf(b, "-%s", max);
		else
			buf_printf(b, "-%u", hi);
		for (unsigned x = lo; x <= hi; x++)
			m->values[v] |= 1u << x;
	}
	m->has[v] = true;
	buf_puts(b, "], ");
}

#define RULES 16

static struct model random_rule(struct buf *b)
{
	struct model m = { 0 };

	buf_puts(b, "  - {");
	random_groups(b, &m, 0, "source");
	random_groups(b, &m, 1, "destination");
	random_groups(b, &m, 2, "either");
	random_values(b, &m, SL, "sl", "15");
	random_values(b, &m, PKEY, "pkey", "0x7fff");
	random_values(b, &m, SERVICE_ID, "service-id", "0xffffffffffffffff");
	random_values(b, &m, GUID, "target-guid", "0xffffffffffffffff");
	buf_puts(b, "level: default}\n");
	model_run(&m);
	return m;
}

#define FIRST_LINE 10	/* of the rules */

/* The rule that hides this one by the findings; RULES if there is no finding. */
static unsigned said_of(const struct findings *found, unsigned rule)
{
	for (size_t i = 0; i < found->n; i++) {
		unsigned line;

		if (found->v[i].pos.line != FIRST_LINE + rule)
			continue;
		if (sscanf(found->v[i].text, "this rule can never match: the one at line %u",
			   &line) == 1)
			return line - FIRST_LINE;
	}
	return RULES;
}

/* Whether the criteria can be checked one by one: not source, destination and `either` together. */
static bool is_simple(const struct model *m)
{
	return !m->given[2] || (!m->given[0] && !m->given[1]);
}

static unsigned ck_random_policy(void)
{
	struct model m[RULES];
	struct findings found = { 0 };
	struct buf b = { 0 };
	unsigned hidden = 0;

	buf_puts(&b, groups_text);
	buf_puts(&b, "match-rules:\n");
	for (unsigned i = 0; i < RULES; i++)
		m[i] = random_rule(&b);
	policy_free(parse_policy(b.s, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	for (unsigned i = 0; i < RULES; i++) {
		unsigned said = said_of(&found, i), first = 0;

		while (first < i && !model_includes(&m[first], &m[i]))
			first++;
		if (first == i)
			first = RULES;
		ck_assert_msg(said == RULES || (said < i && model_includes(&m[said], &m[i])),
			      "rule %u is not hidden by %u:\n%s", i, said, b.s);
		ck_assert_msg(said == first || !is_simple(&m[i]), "rule %u is hidden by %u, "
			      "not %u:\n%s", i, first, said, b.s);
		hidden += said < RULES;
	}
	for (unsigned i = 0; i < RULES; i++)
		free(m[i].matches);
	findings_free(&found);
	buf_free(&b);
	return hidden;
}

START_TEST(against_the_model)
{
	unsigned hidden = 0, rounds = 40;

	random_state = (uint32_t)_i + 1;
	for (unsigned i = 0; i < rounds; i++)
		hidden += ck_random_policy();
	/* some rules must be hidden, but not all */
	ck_assert_uint_gt(hidden, rounds);
	ck_assert_uint_lt(hidden, rounds * RULES * 9 / 10);
}
END_TEST

/* --- many rules --- */

/* Checks rules whose service-id ranges begin at the multiples of `step`. */
static void ck_many(unsigned step, unsigned width, unsigned hidden)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	struct policy *p;

	buf_puts(&b, "match-rules:\n");
	for (unsigned i = 0; i < 10000; i++)
		buf_printf(&b, "  - {pkey: 5, service-id: %u-%u, level: default}\n", i * step,
			   i * step + width);
	p = parse_policy(b.s, &found);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(found.count[SEV_INFO], 0);	/* it was told of all */
	ck_assert_uint_eq(found.count[SEV_WARNING], hidden);
	findings_free(&found);
	policy_free(p);
	buf_free(&b);
}

/* The test's timeout bounds the cost of 10,000 rules. */
START_TEST(many_rules)
{
	ck_many(1, 0, 0);
	ck_many(0, 0, 9999);
	ck_many(1, 10000, 0);	/* all of them overlap */
}
END_TEST

/* If there are too many comparisons, the check ends and reports the rule it came to. */
START_TEST(too_many_rules)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	unsigned n = 40000;

	random_state = 1;
	buf_puts(&b, "match-rules:\n");
	for (unsigned i = 0; i < n; i++) {
		unsigned x = random_below(n), y = random_below(n);

		buf_printf(&b, "  - {service-id: %u-%u, target-guid: %u-%u, level: default}\n",
			   x, x + n, y, y + n);
	}
	buf_printf(&b, "  - {service-id: 5-6, target-guid: 5-6, level: default}\n");
	policy_free(parse_policy(b.s, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	ck_assert_uint_eq(found.count[SEV_INFO], 1);
	findings_free(&found);
	buf_free(&b);
}
END_TEST

/* The same bound for a single rule: each group of its list is in many groups, like all others. */
START_TEST(much_in_one_rule)
{
	struct findings found = { 0 };
	struct buf b = { 0 }, list = { 0 };

	buf_puts(&b, "port-groups:\n");
	for (int i = 0; i < 60000; i++)
		buf_printf(&b, "  o%d: {groups: base}\n", i);
	for (int i = 0; i < 3000; i++) {
		buf_printf(&list, "%sg%d", i ? ", " : "", i);
		buf_printf(&b, "  g%d: {port-guids: %d}\n", i, i);
	}
	buf_printf(&b, "  base: {groups: [%s]}\n  z: {port-guids: 0}\nmatch-rules:\n", list.s);
	for (int i = 1; i <= 200; i++)
		buf_printf(&b, "  - {source: [%s], qos-class: 1-%d, level: default}\n", list.s, i);
	buf_printf(&b, "  - {source: [%s, z], qos-class: 1, level: default}\n", list.s);
	policy_free(parse_policy(b.s, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 0);
	ck_assert_uint_eq(found.count[SEV_INFO], 1);
	findings_free(&found);
	buf_free(&list);
	buf_free(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reach");
	TCase *t = tcase_create("reach");

	tcase_set_timeout(t, 30);
	tcase_add_loop_test(t, against_the_model, 0, 4);
	tcase_add_test(t, many_rules);
	tcase_add_test(t, too_many_rules);
	tcase_add_test(t, much_in_one_rule);
	suite_add_tcase(s, t);
	return run_suite(s);
}
