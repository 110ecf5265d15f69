/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The queue of requests: whose turn it is, and its bounds. */
#include <check.h>
#include <stdlib.h>

#include "mad/fair.h"
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
	/* one that comes now waits for a round only */
	ck_assert(push(f, i, 7, 0));
	ck_assert(pop(f)->source == 7 || pop(f)->source == 7);
	while (pop(f))
		;
	ck_assert_uint_eq(fair_count(f), 0);
	fair_free(f);
}
END_TEST

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

int main(void)
{
	Suite *s = suite_create("fair");
	TCase *c = tcase_create("fair");

	tcase_add_test(c, in_turn);
	tcase_add_test(c, bounds);
	tcase_add_test(c, any_sources);
	suite_add_tcase(s, c);
	return run_suite(s);
}
