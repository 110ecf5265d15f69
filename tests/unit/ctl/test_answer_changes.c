/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which answers another policy changes, against queries for every pair of ports,
 * and in cases with an obvious outcome.
 *
 * promise: O5
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "config/conf.h"
#include "ctl/answer_changes.h"
#include "lib/iba/sa_records.h"
#include "subnet.h"
#include "unit/run.h"

static struct subnet_state *now, then;
static struct answers answers;

static struct policy *parse(const char *text)
{
	struct findings found = { 0 };
	struct policy *p = conf_parse_policy("test", text, strlen(text), &found);

	ck_assert_msg(p != NULL, "%s", found.n ? found.v[0].text : "");
	findings_free(&found);
	return p;
}

/* Compares two policies on the subnet of two switches and three hosts. */
static void compare(const char *old, const char *new)
{
	struct lid_map none = { 0 };

	map64_init(&none.by_guid, 8);
	map64_init(&none.lmc_by_guid, 8);
	now = test_subnet();
	plan_free(now->plan);
	shared_policy_unref(now->policy);
	now->policy = shared_policy_new(parse(old));
	static struct settings *settings;

	if (!settings)
		settings = settings_default();
	now->plan = plan_compute(now->f, now->policy->p, settings, &none, NULL, NULL);
	then = (struct subnet_state){ .f = now->f, .policy = shared_policy_new(parse(new)) };
	then.plan = plan_compute(now->f, then.policy->p, settings, &none, NULL, NULL);
	map64_free(&none.by_guid);
	map64_free(&none.lmc_by_guid);
	answers_compare(now, &then, &answers);
}

static void done(void)
{
	answers_free(&answers);
	plan_free(then.plan);
	shared_policy_unref(then.policy);
	test_subnet_free(now);
}

#define LEVELS "qos-levels:\n  default: {sl: 0}\n  one: {sl: 1}\n  two: {sl: 2}\n"
#define GROUPS "port-groups:\n  node2: {port-guids: 0x2c90300000021}\n" \
	       "  hosts: {port-guids: [0x2c90300000011, 0x2c90300000021, 0x2c90300000037]}\n"

START_TEST(the_same_policy_changes_nothing)
{
	static const char text[] = GROUPS LEVELS "match-rules:\n"
		"  - {source: node2, service-id: 5, level: one}\n  - {qos-class: 3, level: two}\n";

	compare(text, text);
	ck_assert_uint_eq(answers.changes.n, 0);
	ck_assert_uint_eq(answers.pairs_changed, 0);
	ck_assert_uint_eq(answers.pairs, 5 * 4);
	ck_assert_uint_eq(answers.kinds, 2);
	ck_assert(answers.all_queries && answers.all_kinds);
	done();
}
END_TEST

/* Rules that move, or are added where no query reaches them, change no answer. */
START_TEST(only_answers_count)
{
	compare(LEVELS "match-rules:\n"
		"  - {qos-class: 3, level: two}\n  - {qos-class: 4, level: one}\n",
		LEVELS "match-rules:\n"
		"  - {qos-class: 4, level: one}\n  - {qos-class: 3, level: two}\n"
		"  - {qos-class: [3-4], level: default}\n");
	ck_assert_uint_eq(answers.changes.n, 0);
	done();
}
END_TEST

START_TEST(a_rule_for_one_port)
{
	const struct answer_change *c;

	compare(GROUPS LEVELS, GROUPS LEVELS "match-rules:\n"
		"  - {source: node2, service-id: 0x100-0x1ff, level: two}\n");
	ck_assert_uint_eq(answers.changes.n, 1);
	c = &answers.changes.v[0];
	ck_assert_uint_eq(c->old_rule, MATCH_NO_RULE);
	ck_assert_uint_eq(c->new_rule, 0);
	ck_assert_uint_eq(c->pairs, 4);		/* from one port to the others */
	ck_assert_uint_eq(answers.pairs_changed, 4);
	ck_assert_uint_ge(c->n_examples, 1);
	ck_assert_uint_eq(now->f->ports[c->examples[0].q.src].guid, 0x2c90300000021);
	ck_assert(c->examples[0].q.has & PR_SERVICE_ID_LSB);
	ck_assert_uint_eq(c->examples[0].q.service_id, 0x100);
	ck_assert_uint_eq(c->examples[0].old.a.sl, 0);
	ck_assert_uint_eq(c->examples[0].new.a.sl, 2);
	done();
}
END_TEST

/* The order of two rules shows only in a query that has the fields of both. */
START_TEST(rules_that_meet_in_one_query)
{
	const struct answer_change *c;

	compare(LEVELS "match-rules:\n"
		"  - {service-id: 9, level: one}\n  - {qos-class: 3, level: two}\n",
		LEVELS "match-rules:\n"
		"  - {qos-class: 3, level: two}\n  - {service-id: 9, level: one}\n");
	ck_assert_uint_eq(answers.changes.n, 1);
	c = &answers.changes.v[0];
	ck_assert_uint_eq(c->pairs, 5 * 4);
	ck_assert_uint_eq(c->examples[0].q.service_id, 9);
	ck_assert_uint_eq(c->examples[0].q.qos_class, 3);
	done();
}
END_TEST

START_TEST(levels_limits_and_refusals)
{
	compare(LEVELS "match-rules:\n  - {service-id: 9, level: two}\n",
		"qos-levels:\n  default: {sl: 0, mtu-limit: 256}\n  two: {sl: 2}\n"
		"match-rules:\n  - {service-id: 9, level: two}\n"
		"fabric-setup:\n  sl2vl:\n"
		"    - {group: all, table: [0, 1, 15, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 15]}\n");
	ck_assert_uint_eq(answers.changes.n, 2);
	for (size_t i = 0; i < answers.changes.n; i++) {
		const struct answer_example *e = &answers.changes.v[i].examples[0];

		ck_assert_ptr_null(e->old.why);
		if (answers.changes.v[i].new_rule == 0)
			ck_assert_ptr_nonnull(strstr(e->new.why, "dropped"));
		else
			ck_assert_uint_eq(e->new.a.mtu, 1);
		ck_assert_uint_eq(answers.changes.v[i].pairs, 5 * 4);
	}
	done();
}
END_TEST

#define BLUE "partitions:\n  blue: {pkey: 5, members: {%s: full}}\n"

/* A member of a partition by one policy and not by the other. */
/* Queries that name the SL of an IPoIB group get its level. */
/* promise: D43 */
START_TEST(levels_of_ipoib_groups)
{
	static const char partition[] = "partitions: {Default: {pkey: 0x7fff, members: {all: full}, ";
	char *old = xasprintf("%s%sipoib: true}}\n", LEVELS, partition);
	char *new = xasprintf("%s%sipoib: {level: one}}}\n", LEVELS, partition);
	const struct answer_change *c;

	compare(old, new);
	ck_assert_uint_eq(answers.changes.n, 1);
	c = &answers.changes.v[0];
	ck_assert_ptr_nonnull(c->examples[0].old.why);
	ck_assert_ptr_null(c->examples[0].new.why);
	ck_assert_uint_eq(c->examples[0].new.a.sl, 1);
	done();
	free(old);
	free(new);
}
END_TEST

START_TEST(partitions_tell_ports_apart)
{
	struct buf old = { 0 }, new = { 0 };

	buf_puts(&old, GROUPS LEVELS);
	buf_printf(&old, BLUE, "hosts");
	buf_puts(&new, GROUPS LEVELS);
	buf_printf(&new, BLUE, "node2");
	compare(old.s, new.s);
	ck_assert_uint_eq(answers.changes.n, 1);	/* between hosts there is no path in it */
	ck_assert_uint_eq(answers.changes.v[0].pairs, 3 * 2);
	ck_assert_uint_eq(answers.changes.v[0].examples[0].q.pkey, 0x8005);
	ck_assert_ptr_nonnull(answers.changes.v[0].examples[0].new.why);
	buf_free(&old);
	buf_free(&new);
	done();
}
END_TEST

/* --- against asking everything --- */

static struct answer_side answer_of(const struct subnet_state *s, struct path_query q)
{
	struct answer_side r;

	q.slid = s->plan->lid[q.src];
	q.dlid = s->plan->lid[q.dst];
	r.why = path_resolve(s, &q, &r.a);
	return r;
}

/* Whether an answer differs for the pair, by all values that matter in random_policy(). */
static bool pair_differs(uint32_t src, uint32_t dst)
{
	for (unsigned id = 0; id <= 12; id++)
		for (unsigned class = 0; class <= 6; class++) {
			struct path_query q = { .src = src, .dst = dst };
			struct answer_side a, b;

			if (id) {
				q.has |= PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB;
				q.service_id = id;
			}
			if (class) {
				q.has |= PR_QOS_CLASS;
				q.qos_class = (uint16_t)class;
			}
			a = answer_of(now, q);
			b = answer_of(&then, q);
			if (!a.why != !b.why || (!a.why && a.a.sl != b.a.sl))
				return true;
		}
	return false;
}

static uint64_t pairs_that_differ(void)
{
	uint64_t n = 0;

	for (uint32_t src = 0; src < now->f->n_ports; src++)
		for (uint32_t dst = 0; dst < now->f->n_ports; dst++)
			if (src != dst && now->plan->lid[src] && now->plan->lid[dst])
				n += pair_differs(src, dst);
	return n;
}

static void random_rule(struct buf *b, unsigned *seed)
{
	static const char *const groups[] = { "node2", "hosts", "all" };
	static const char *const levels[] = { "default", "one", "two" };
	unsigned id = 1 + rand_r(seed) % 9, class = 1 + rand_r(seed) % 5;

	buf_puts(b, "  - {");
	if (rand_r(seed) % 2)
		buf_printf(b, "source: %s, ", groups[rand_r(seed) % 3]);
	if (rand_r(seed) % 2)
		buf_printf(b, "destination: %s, ", groups[rand_r(seed) % 3]);
	if (rand_r(seed) % 4)
		buf_printf(b, "service-id: %u-%u, ", id, id + rand_r(seed) % 3);
	if (rand_r(seed) % 3 == 0)
		buf_printf(b, "qos-class: %u, ", class);
	buf_printf(b, "level: %s}\n", levels[rand_r(seed) % 3]);
}

static void random_policy(struct buf *b, unsigned *seed)
{
	b->n = 0;
	buf_puts(b, GROUPS LEVELS "match-rules:\n");
	for (unsigned i = 0; i < 4; i++)
		random_rule(b, seed);
}

START_TEST(as_if_all_had_been_asked)
{
	struct buf old = { 0 }, new = { 0 };
	unsigned seed = 1, changed = 0;

	for (unsigned i = 0; i < 200; i++) {
		random_policy(&old, &seed);
		random_policy(&new, &seed);
		compare(old.s, new.s);
		ck_assert(answers.all_queries && answers.all_kinds);
		ck_assert_msg(answers.pairs_changed == pairs_that_differ(),
			      "%u: %llu, not %llu\n%s%s", i, (unsigned long long)answers.pairs_changed,
			      (unsigned long long)pairs_that_differ(), old.s, new.s);
		changed += answers.pairs_changed > 0;
		done();
	}
	ck_assert_uint_gt(changed, 100);
	buf_free(&old);
	buf_free(&new);
}
END_TEST

START_TEST(too_many_kinds_are_sampled)
{
	struct buf text = { 0 };

	buf_puts(&text, LEVELS "match-rules:\n");
	for (unsigned i = 0; i < 200; i++)
		buf_printf(&text, "  - {service-id: %u, qos-class: %u, tclass: %u, level: one}\n",
			   i * 3, i, i);
	compare(LEVELS, text.s);
	ck_assert(!answers.all_queries);
	ck_assert_uint_eq(answers.changes.n, 200);	/* each rule was tried nevertheless */
	ck_assert_uint_eq(answers.pairs_changed, 5 * 4);
	buf_free(&text);
	done();
}
END_TEST

static Suite *answers_suite(void)
{
	Suite *s = suite_create("ctl answers");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_same_policy_changes_nothing);
	tcase_add_test(t, only_answers_count);
	tcase_add_test(t, a_rule_for_one_port);
	tcase_add_test(t, rules_that_meet_in_one_query);
	tcase_add_test(t, levels_limits_and_refusals);
	tcase_add_test(t, levels_of_ipoib_groups);
	tcase_add_test(t, partitions_tell_ports_apart);
	tcase_add_test(t, as_if_all_had_been_asked);
	tcase_add_test(t, too_many_kinds_are_sampled);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(answers_suite());
}
