/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how long rules isolate links that are bad again and again. */
#include <check.h>

#include "daemon/isolation_terms.h"
#include "unit/run.h"

enum { FOR = 100, NOW = 1000000 };

static struct isolation_terms terms;
static const struct isolation_cut link = { .guid = { 0x500, 0x900 }, .num = { 3, 1 } };

static void teardown(void)
{
	isolation_terms_free(&terms);
	terms = (struct isolation_terms){ 0 };
}

static struct withdrawal entry(unsigned end, int64_t since_s)
{
	return (struct withdrawal){ .guid = link.guid[end], .port = link.num[end], .kind = WITHDRAWAL_ISOLATED,
				    .uid = WITHDRAWN_BY_RULE, .since_s = since_s };
}

/* Isolates the link by one of its ends; returns for how long. */
static int64_t begin(unsigned end, int64_t now_s)
{
	struct withdrawal x = entry(end, now_s);

	isolation_terms_begin(&terms, &link, FOR, now_s);
	return isolation_terms_until(&terms, &x, FOR) - now_s;
}

/* promise: M37 */
START_TEST(twice_as_long_if_it_is_bad_again)
{
	int64_t now = NOW, term = FOR;

	ck_assert_int_eq(begin(0, now), FOR);
	for (unsigned i = 0; i < ISOLATION_DOUBLINGS + 2; i++) {
		now += term;
		isolation_terms_end(&terms, &link, now);
		now += term;		/* the last moment that counts */
		if (i < ISOLATION_DOUBLINGS)
			term *= 2;
		ck_assert_int_eq(begin(i % 2, now), term);
	}
	ck_assert_int_eq(term, FOR << ISOLATION_DOUBLINGS);
	isolation_terms_end(&terms, &link, now + term);
	ck_assert_int_eq(begin(0, now + 2 * term + 1), FOR);
	ck_assert_uint_eq(terms.v.n, 1);
}
END_TEST

/* promise: M37 */
START_TEST(somebody_who_releases_it_begins_anew)
{
	struct withdrawal x = entry(1, NOW);

	begin(0, NOW);
	isolation_terms_end(&terms, &link, NOW + FOR);
	isolation_terms_forget(&terms, &x);		/* it was not somebody: its term was over */
	ck_assert_int_eq(begin(0, NOW + FOR), 2 * FOR);
	isolation_terms_forget(&terms, &x);
	ck_assert_int_eq(begin(0, NOW + FOR), FOR);
}
END_TEST

/* promise: M37 */
START_TEST(what_has_no_end)
{
	struct withdrawal x = entry(0, NOW);

	ck_assert_int_eq(isolation_terms_until(&terms, &x, FOR), NOW + FOR);	/* from before a restart */
	ck_assert_int_eq(isolation_terms_until(&terms, &x, 0), 0);
	x.uid = 1000;
	ck_assert_int_eq(isolation_terms_until(&terms, &x, FOR), 0);
	x = entry(0, NOW);
	x.kind = WITHDRAWAL_DRAINED;
	ck_assert_int_eq(isolation_terms_until(&terms, &x, FOR), 0);
}
END_TEST

/* promise: M37 */
START_TEST(no_more_than_can_be_withdrawn)
{
	struct isolation_cut other = link;

	for (unsigned i = 0; i < WITHDRAWALS_MAX + 5; i++) {
		other.guid[0] = 0x10000 + i;
		other.guid[1] = 0x20000 + i;
		isolation_terms_begin(&terms, &other, FOR, NOW);
	}
	ck_assert_uint_eq(terms.v.n, WITHDRAWALS_MAX);
	ck_assert_uint_eq(terms.v.v[0].guid[0], 0x10005);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("isolation_terms");
	TCase *t = tcase_create("isolation_terms");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, twice_as_long_if_it_is_bad_again);
	tcase_add_test(t, somebody_who_releases_it_begins_anew);
	tcase_add_test(t, what_has_no_end);
	tcase_add_test(t, no_more_than_can_be_withdrawn);
	suite_add_tcase(s, t);
	return run_suite(s);
}
