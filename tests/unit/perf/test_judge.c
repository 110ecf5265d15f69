/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which VLs are judged to get less than their promised share, and which only seem to. */
#include <check.h>
#include <string.h>

#include "perf/judge.h"
#include "unit/run.h"

#define GBPS	32.0
#define SECOND	1000000
#define FULL	1000000000u	/* words: all that the link carries in a second */
#define TICKS	50000		/* of a second */

static struct vl_use vls[ARB_VLS];

static void setup(void)
{
	memset(vls, 0, sizeof(vls));
}

/* Sets a VL that sent for this part of the second, and waited for this part. */
static void use(unsigned vl, double promised, double sent, double waited)
{
	vls[vl] = (struct vl_use){
		.words = { GROWTH_KNOWN, (uint64_t)(sent * FULL + 0.5) },
		.wait = { GROWTH_KNOWN, (uint64_t)(waited * TICKS + 0.5) }, .promised = promised,
	};
}

static double judge(void)
{
	return judge_vls(vls, GBPS, SECOND);
}

static void verdicts(enum verdict a, enum verdict b)
{
	judge();
	ck_assert_str_eq(verdict_name(vls[0].verdict), verdict_name(a));
	ck_assert_str_eq(verdict_name(vls[1].verdict), verdict_name(b));
}

START_TEST(as_promised)
{
	use(0, 0.6, 0.6, 0.4);
	use(1, 0.4, 0.4, 0.6);
	ck_assert_double_eq_tol(judge(), 1, 0.001);
	ck_assert_double_eq_tol(vls[0].got, 0.6, 0.001);
	verdicts(VERDICT_SERVED, VERDICT_SERVED);
	ck_assert_uint_eq(vls[2].verdict, VERDICT_NONE);
}
END_TEST

/* promise: B4 */
START_TEST(less_while_it_waited)
{
	use(0, 0.6, 0.8, 0.2);
	use(1, 0.4, 0.2, 0.8);
	verdicts(VERDICT_SERVED, VERDICT_SHORT);
	ck_assert_double_eq_tol(vls[1].got, 0.2, 0.001);
	use(0, 0.6, 0.97, 0.03);
	use(1, 0.4, 0.03, 0.97);
	verdicts(VERDICT_SERVED, VERDICT_SHORT);
}
END_TEST

START_TEST(tolerance)
{
	use(0, 0.6, 0.64, 0.36);
	use(1, 0.4, 0.36, 0.64);
	verdicts(VERDICT_SERVED, VERDICT_SERVED);
	use(0, 0.6, 0.66, 0.34);
	use(1, 0.4, 0.34, 0.66);
	verdicts(VERDICT_SERVED, VERDICT_SHORT);
	/* a tenth of a small promise is below the tolerance, so the tolerance counts */
	use(0, 0.94, 0.98, 0.02);
	use(1, 0.06, 0.02, 0.98);
	verdicts(VERDICT_SERVED, VERDICT_SERVED);
}
END_TEST

/* On a full link, every packet waits about as long as sending takes. */
/* promise: B4 */
START_TEST(wants_no_more)
{
	use(0, 0.6, 0.9, 0.1);
	use(1, 0.4, 0.1, 0.1);
	verdicts(VERDICT_SERVED, VERDICT_CONTENT);
	use(1, 0.4, 0.1, 0);
	verdicts(VERDICT_SERVED, VERDICT_CONTENT);
	use(0, 0.6, 0.95, 0.05);
	use(1, 0.4, 0.05, 0.3);
	verdicts(VERDICT_SERVED, VERDICT_CONTENT);
}
END_TEST

/* promise: B4 */
START_TEST(room_on_the_link)
{
	use(0, 0.6, 0.7 * 0.8, 0.2);
	use(1, 0.4, 0.7 * 0.2, 0.8);
	ck_assert_double_eq_tol(judge(), 0.7, 0.001);
	verdicts(VERDICT_SERVED, VERDICT_NOT_FULL);
	use(0, 0.6, 0, 0.9);		/* nothing at all was sent */
	use(1, 0.4, 0, 0.9);
	verdicts(VERDICT_NONE, VERDICT_NONE);
}
END_TEST

/* promise: B4 */
START_TEST(starved)
{
	use(0, 0.6, 1, 0);
	use(1, 0.4, 0, 1);
	verdicts(VERDICT_SERVED, VERDICT_SHORT);
	vls[1].wait.n = JUDGE_TICKS - 1;	/* some packets that came last */
	verdicts(VERDICT_SERVED, VERDICT_CONTENT);
	use(1, 0.4, 0.0005, 0.5);		/* or few packets that waited long: unknown */
	verdicts(VERDICT_SERVED, VERDICT_UNKNOWN);
}
END_TEST

/* promise: B4 */
START_TEST(waits_that_nobody_knows)
{
	static const enum growth unknown[] = { GROWTH_AT_LEAST, GROWTH_SATURATED, GROWTH_RESET,
					       GROWTH_ABSENT };

	for (unsigned i = 0; i < 4; i++) {
		use(0, 0.6, 0.8, 0.2);
		use(1, 0.4, 0.2, 0.8);
		vls[1].wait.is = unknown[i];
		verdicts(VERDICT_SERVED, VERDICT_UNKNOWN);
		use(1, 0.4, 0.2, 0.8);
		vls[0].wait.is = unknown[i];	/* the measure */
		verdicts(VERDICT_SERVED, VERDICT_UNKNOWN);
	}
	/* a lower bound of the measure shows that the VL wanted no more */
	use(0, 0.6, 0.9, 0.1);
	use(1, 0.4, 0.1, 0.1);
	vls[0].wait.is = GROWTH_AT_LEAST;
	verdicts(VERDICT_SERVED, VERDICT_CONTENT);
}
END_TEST

START_TEST(words_that_nobody_knows)
{
	use(0, 0.6, 0.8, 0.2);
	use(1, 0.4, 0.2, 0.8);
	vls[0].words.is = GROWTH_AT_LEAST;
	ck_assert_double_eq(judge(), -1);
	verdicts(VERDICT_UNKNOWN, VERDICT_UNKNOWN);
	ck_assert_double_eq(vls[0].got, -1);
	use(0, 0.6, 0.8, 0.2);
	vls[14].words.is = GROWTH_ABSENT;	/* a VL without a promise */
	verdicts(VERDICT_UNKNOWN, VERDICT_UNKNOWN);
	ck_assert_uint_eq(vls[14].verdict, VERDICT_NONE);
}
END_TEST

START_TEST(no_time_and_no_link)
{
	use(0, 0.6, 0.8, 0.2);
	use(1, 0.4, 0.2, 0.8);
	ck_assert_double_eq(judge_vls(vls, GBPS, 0), -1);
	ck_assert_double_eq(judge_vls(vls, 0, SECOND), -1);
	ck_assert_uint_ne(vls[1].verdict, VERDICT_SHORT);
}
END_TEST

/* With arbitrary counters, shares stay within their range. */
START_TEST(anything)
{
	uint64_t x = 88172645463325252ull;

	for (unsigned n = 0; n < 3000; n++) {
		double full, sum = 0;

		for (unsigned vl = 0; vl < ARB_VLS; vl++) {
			x ^= x << 13; x ^= x >> 7; x ^= x << 17;
			vls[vl] = (struct vl_use){
				.words = { x % 64 ? GROWTH_KNOWN : x % 5, x >> (x % 60) },
				.wait = { x % 7 ? GROWTH_KNOWN : x % 5, (x * 3) >> (x % 61) },
				.promised = (double)(x % 11) / 10,
			};
		}
		full = judge();
		for (unsigned vl = 0; vl < ARB_VLS; vl++) {
			ck_assert(vls[vl].got == -1 || (vls[vl].got >= 0 && vls[vl].got <= 1));
			ck_assert_uint_le(vls[vl].verdict, VERDICT_UNKNOWN);
			sum += vls[vl].got;
		}
		ck_assert(full == -1 || full >= 0);
		if (full > 0)
			ck_assert_double_eq_tol(sum, 1, 1e-6);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("judge");
	TCase *t = tcase_create("judge");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, as_promised);
	tcase_add_test(t, less_while_it_waited);
	tcase_add_test(t, tolerance);
	tcase_add_test(t, wants_no_more);
	tcase_add_test(t, room_on_the_link);
	tcase_add_test(t, starved);
	tcase_add_test(t, waits_that_nobody_knows);
	tcase_add_test(t, words_that_nobody_knows);
	tcase_add_test(t, no_time_and_no_link);
	tcase_add_test(t, anything);
	suite_add_tcase(s, t);
	return run_suite(s);
}
