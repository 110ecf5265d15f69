/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the memory of values that devices refused: what is remembered, for how long, and how much of it. */
#include <check.h>

#include "store/refused_values.h"
#include "unit/run.h"

static struct refusals *all;

static void setup(void)
{
	all = refusals_new();
}

static void teardown(void)
{
	refusals_free(all);
}

static bool put(uint64_t guid, uint16_t attr, uint32_t mod, uint64_t want, uint64_t got)
{
	return refusals_put(all, &(struct refused_set){ guid, want, got, mod, attr });
}

START_TEST(by_value)
{
	ck_assert(put(1, 0x15, 3, 10, 20));
	ck_assert(!put(1, 0x15, 3, 10, 20));
	ck_assert(refusals_have(all, 1, 0x15, 3, 10, 20));
	ck_assert(!refusals_have(all, 1, 0x15, 3, 10, 21));	/* another value since */
	ck_assert(!refusals_have(all, 1, 0x15, 3, 11, 20));	/* another is wanted */
	ck_assert(!refusals_have_status(all, 1, 0x15, 3, 10));
	ck_assert_uint_eq(refusals_by_value(all), 1);
	ck_assert(!refusals_kind(all, 1, 0x15)->firm);
}
END_TEST

/* promise: D20 */
START_TEST(by_status)
{
	ck_assert(put(1, 0x16, 0, 10, REFUSAL_STATUS | 0x1c));
	ck_assert(refusals_have(all, 1, 0x16, 0, 10, 77));	/* whatever it has */
	ck_assert(refusals_have_status(all, 1, 0x16, 0, 10));
	ck_assert(!refusals_have_status(all, 1, 0x16, 0, 11));
	ck_assert(!refusals_have_status(NULL, 1, 0x16, 0, 10));
	ck_assert_uint_eq(refusals_kind(all, 1, 0x16)->status, 0x1c);
	ck_assert(refusals_kind(all, 1, 0x16)->firm);
	ck_assert(refusals_kind(all, 1, 0x17) == NULL);
	ck_assert(refusals_kind(all, 2, 0x16) == NULL);
	/* one more try */
	refusals_probe(all, true);
	ck_assert(!refusals_have(all, 1, 0x16, 0, 10, 77));
	ck_assert(!refusals_have_status(all, 1, 0x16, 0, 10));
	ck_assert(refusals_know_status(all, 1, 0x16, 0, 10));
	refusals_probe(all, false);
	/* the device accepts another value of this kind, so another refusal is not believed at once */
	ck_assert(!refusals_drop(all, 1, 0x16, 1));
	ck_assert(!refusals_kind(all, 1, 0x16)->firm);
	ck_assert(refusals_have_status(all, 1, 0x16, 0, 10));
	ck_assert(refusals_drop(all, 1, 0x16, 0));
	ck_assert(!refusals_have_status(all, 1, 0x16, 0, 10));
	ck_assert(refusals_kind(all, 1, 0x16) == NULL);
}
END_TEST

/* promise: D20 */
START_TEST(started_anew)
{
	put(1, 0x16, 0, 10, REFUSAL_STATUS | 0x1c);
	put(1, 0x19, 7, 10, REFUSAL_STATUS | 0x0c);
	put(1, 0x15, 3, 10, 20);
	put(2, 0x16, 0, 10, REFUSAL_STATUS | 0x1c);
	ck_assert(refusals_forget(all, 1));
	ck_assert(!refusals_forget(all, 1));
	ck_assert(!refusals_have_status(all, 1, 0x16, 0, 10));
	ck_assert(!refusals_have_status(all, 1, 0x19, 7, 10));
	ck_assert(refusals_have(all, 1, 0x15, 3, 10, 20));
	ck_assert(refusals_have_status(all, 2, 0x16, 0, 10));
}
END_TEST

static bool is_two(void *arg, uint64_t guid)
{
	(void)arg;
	return guid == 2;
}

START_TEST(gone)
{
	put(1, 0x16, 0, 10, REFUSAL_STATUS | 0x1c);
	put(1, 0x15, 3, 10, 20);
	put(2, 0x16, 0, 10, REFUSAL_STATUS | 0x1c);
	ck_assert(refusals_prune(all, is_two, NULL));
	ck_assert(!refusals_prune(all, is_two, NULL));
	ck_assert(refusals_have(all, 1, 0x15, 3, 10, 20));
	ck_assert(refusals_kind(all, 1, 0x16) == NULL);
	ck_assert(refusals_have_status(all, 2, 0x16, 0, 10));
}
END_TEST

/* promise: D20 */
START_TEST(no_more_than_so_many)
{
	struct refusals *copy;
	size_t n = 0, kinds = 0;

	for (uint32_t i = 0; i < 3 * REFUSALS_MAX; i++)
		put(1 + i / 64, 0x19, i % 64, i, REFUSAL_STATUS | 0x1c);
	while (refusals_at(all, n))
		n++;
	ck_assert_uint_eq(n, REFUSALS_MAX);
	while (refusals_kind_at(all, kinds))
		kinds++;
	ck_assert_uint_le(kinds, REFUSALS_MAX / 8);
	ck_assert(refusals_have_status(all, 3 * REFUSALS_MAX / 64, 0x19, 63, 3 * REFUSALS_MAX - 1));
	copy = refusals_copy(all);
	for (uint32_t i = 0; i < 3 * REFUSALS_MAX; i++)
		refusals_drop(copy, 1 + i / 64, 0x19, i % 64);
	ck_assert(refusals_at(copy, 0) == NULL);
	ck_assert(refusals_at(all, REFUSALS_MAX - 1) != NULL);
	refusals_free(copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("refusals");
	TCase *t = tcase_create("refusals");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, by_value);
	tcase_add_test(t, by_status);
	tcase_add_test(t, started_anew);
	tcase_add_test(t, gone);
	tcase_add_test(t, no_more_than_so_many);
	suite_add_tcase(s, t);
	return run_suite(s);
}
