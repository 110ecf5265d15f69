/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which drained links are left if the repair fails without some of them. */
#include <check.h>

#include "plan/routes/drained_links.h"
#include "unit/run.h"

static struct drained_links links;
static unsigned tries;

static void setup(void)
{
	links.v.n = tries = 0;
	for (unsigned i = 0; i < 8; i++)
		*vec_push(&links.v) = (struct drained_link){ .used = false };
}

static void teardown(void)
{
	vec_free(&links.v);
}

/* Link 5 is needed, and one of 0 and 1. */
static bool needs_some(void *arg, const struct drained_links *l)
{
	(void)arg;
	tries++;
	return l->v.v[5].used && (l->v.v[0].used || l->v.v[1].used);
}

static bool never(void *arg, const struct drained_links *l)
{
	(void)arg;
	(void)l;
	tries++;
	return false;
}

/* Each link is needed. */
static bool needs_all(void *arg, const struct drained_links *l)
{
	bool all = true;

	(void)arg;
	tries++;
	for (size_t i = 0; i < l->v.n; i++)
		all &= l->v.v[i].used;
	return all;
}

/* promise: M8 */
START_TEST(as_many_as_possible_are_left)
{
	ck_assert(drained_choose(&links, needs_some, NULL));
	for (unsigned i = 0; i < 8; i++)
		ck_assert_msg(links.v.v[i].used == (i == 1 || i == 5), "link %u", i);
	ck_assert_uint_lt(tries, 12);
}
END_TEST

/* promise: M8 */
START_TEST(drains_are_not_to_blame)
{
	ck_assert(!drained_choose(&links, never, NULL));
	ck_assert_uint_eq(tries, 1);
}
END_TEST

/* promise: M8 */
START_TEST(the_number_of_tries_is_bounded)
{
	for (unsigned i = 0; i < 200; i++)
		*vec_push(&links.v) = (struct drained_link){ .used = false };
	ck_assert(drained_choose(&links, needs_all, NULL));
	ck_assert(needs_all(NULL, &links));
	ck_assert_uint_le(tries, DRAINED_TRIES_MAX + 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("drained links");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, as_many_as_possible_are_left);
	tcase_add_test(t, drains_are_not_to_blame);
	tcase_add_test(t, the_number_of_tries_is_bounded);
	suite_add_tcase(s, t);
	return run_suite(s);
}
