/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the queue of requests: whose turn it is, and its limits. */
#include <check.h>
#include <stdlib.h>

#include "mad/fair_queue.h"
#include "unit/run.h"

struct thing {
	struct fair_item item;
	uint64_t source;
	unsigned n;
};

static struct thing things[4096];

static bool push(struct fair *f, unsigned i, uint64_t source, unsigned n)
{
	things[i].source = source;
	things[i].n = n;
	return fair_push(f, source, &things[i].item);
}

static struct thing *pop(struct fair *f)
{
	return (struct thing *)(void *)fair_pop(f);
}

/* promise: S5 */
START_TEST(in_turn)
{
	struct fair *f = fair_new(4096, 4096);
	unsigned seen[5] = { 0 }, i = 0;

	for (; i < 1000; i++)			/* one asks a lot … */
		ck_assert(push(f, i, 1, i));
	for (unsigned s = 2; s < 5; s++)	/* … and others three each, later */
		for (unsigned n = 0; n < 3; n++)
			ck_assert(push(f, i++, s, n));
	ck_assert_uint_eq(fair_count(f), 1009);
	for (unsigned k = 0; k < 12; k++) {
		struct thing *t = pop(f);

		ck_assert_uint_eq(t->n, seen[t->source]++);	/* each in its own order */
	}
	for (unsigned s = 1; s < 5; s++)
		ck_assert_uint_eq(seen[s], 3);
	/* a new sender waits for one round only */
	ck_assert(push(f, i, 7, 0));
	ck_assert(pop(f)->source == 7 || pop(f)->source == 7);
	while (pop(f))
		;
	ck_assert_uint_eq(fair_count(f), 0);
	fair_free(f);
}
END_TEST

/* promise: S5 */
START_TEST(bounds)
{
	struct fair *f = fair_new(10, 4);
	unsigned i = 0;

	for (; i < 4; i++)
		ck_assert(push(f, i, 1, 0));
	ck_assert(!push(f, i, 1, 0));
	for (unsigned k = 0; k < 4; k++, i++)
		ck_assert(push(f, i, 2, 0));
	ck_assert(push(f, i++, 3, 0));
	ck_assert(push(f, i++, 4, 0));
	ck_assert(!push(f, i, 5, 0));
	pop(f);
	ck_assert(push(f, i, 5, 0));
	fair_free(f);
}
END_TEST

START_TEST(any_sources)
{
	struct fair *f = fair_new(4096, 2);
	unsigned n = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 4096; i++)
			ck_assert(push(f, i, i / 2 * 0x100000001ull, i % 2));
		for (n = 0; n < 2048; n++)
			ck_assert_uint_eq(pop(f)->n, 0);
		for (; n < 4096; n++)
			ck_assert_uint_eq(pop(f)->n, 1);
		ck_assert_ptr_null(pop(f));
	}
	fair_free(f);
}
END_TEST

static struct thing *push_out(struct fair *f, unsigned i, uint64_t source, bool *pushed)
{
	struct fair_item *out;

	things[i].source = source;
	*pushed = fair_push_out(f, source, &things[i].item, &out);
	return (struct thing *)(void *)out;
}

/* A full queue has a place for every sender that has few requests in it. */
/* promise: A21 */
START_TEST(who_has_most_makes_room)
{
	struct fair *f = fair_new(90, 30);
	unsigned i = 0, left[60] = { 0 };
	bool pushed;

	for (unsigned s = 1; s <= 3; s++)	/* three that flood fill it */
		for (unsigned n = 0; n < 30; n++)
			ck_assert(push(f, i++, s, n));
	ck_assert_ptr_null(push_out(f, i++, 1, &pushed));
	ck_assert(!pushed);
	for (unsigned s = 10; s < 50; s++) {	/* and forty senders come with one request each */
		struct thing *out = push_out(f, i++, s, &pushed);

		ck_assert(pushed);
		ck_assert_ptr_nonnull(out);
		ck_assert_uint_le(out->source, 3);
		ck_assert_uint_eq(out->n, left[out->source]);	/* its oldest */
		left[out->source]++;
	}
	for (unsigned s = 1; s <= 3; s++)	/* all three alike */
		ck_assert_uint_le(left[s], 15);
	ck_assert_uint_eq(fair_count(f), 90);
	/* more requests do not raise their shares */
	for (unsigned n = 0; n < 100; n++) {
		push_out(f, i, 2, &pushed);
		if (!pushed)
			continue;
		i++;
		left[2]--;
	}
	for (unsigned s = 10; s < 50; s++)
		ck_assert_ptr_nonnull(fair_latest(f, s));
	ck_assert_ptr_null(fair_latest(f, 99));
	for (unsigned n = 0; n < 90; n++)
		ck_assert_ptr_nonnull(pop(f));
	ck_assert_ptr_null(pop(f));
	fair_free(f);
}
END_TEST

/* If every sender has one request, none can be dropped for another. */
/* promise: A21 */
START_TEST(nobody_is_put_out_for_an_equal)
{
	struct fair *f = fair_new(8, 4);
	bool pushed;

	for (unsigned s = 0; s < 8; s++)
		ck_assert(push(f, s, s, 0));
	ck_assert_ptr_null(push_out(f, 8, 100, &pushed));
	ck_assert(!pushed);
	fair_free(f);
}
END_TEST

/* A sender of few requests goes before a thousand greedy ones, which still get their share. */
/* promise: A90 */
START_TEST(greedy_sources_come_last)
{
	enum { GREEDY = 50, EACH = FAIR_FEW + 8 };
	struct fair *f = fair_new(4096, 4096);
	unsigned i = 0, before = 0, seen[3] = { 0 };
	struct thing *t;

	for (unsigned n = 0; n < EACH; n++)
		for (unsigned s = 0; s < GREEDY; s++)
			ck_assert(push(f, i++, 100 + s, n));
	ck_assert(!fair_any_few(f));
	ck_assert_ptr_null(fair_pop_few(f));
	for (unsigned n = 0; n < 8; n++) {	/* two that ask little, again and again */
		ck_assert(push(f, i++, 1, n));
		ck_assert(push(f, i++, 2, n));
	}
	for (unsigned n = 0; n < 16;) {
		t = pop(f);
		if (t->source < 100) {
			ck_assert_uint_eq(t->n, seen[t->source]++);
			n++;
		} else {
			before++;
		}
	}
	ck_assert_uint_eq(seen[1], 8);
	ck_assert_uint_ge(before, 1);		/* the greedy ones do not starve */
	ck_assert_uint_le(before, 16 / (FAIR_SHARE - 1) + 1);
	ck_assert(push(f, i++, 1, 0));
	t = (struct thing *)(void *)fair_pop_few(f);
	ck_assert_uint_eq(t->source, 1);
	ck_assert_ptr_null(fair_pop_few(f));
	for (unsigned n = before; n < GREEDY * EACH; n++)
		ck_assert_uint_ge(pop(f)->source, 100);
	ck_assert_ptr_null(pop(f));
	ck_assert(push(f, 0, 100, 0));		/* with nothing queued, it is like any other sender */
	ck_assert(fair_any_few(f));
	fair_pop(f);
	fair_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fair");
	TCase *c = tcase_create("fair");

	tcase_add_test(c, in_turn);
	tcase_add_test(c, bounds);
	tcase_add_test(c, any_sources);
	tcase_add_test(c, who_has_most_makes_room);
	tcase_add_test(c, nobody_is_put_out_for_an_equal);
	tcase_add_test(c, greedy_sources_come_last);
	suite_add_tcase(s, c);
	return run_suite(s);
}
