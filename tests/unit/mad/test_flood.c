/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the detection of senders of floods beside other senders. */
#include <check.h>

#include "mad/flood.h"
#include "unit/run.h"

#define SECOND 1000000ll

static struct flood_table *t;

static void setup(void)
{
	t = flood_table_new();
}

static void teardown(void)
{
	flood_table_free(t);
}

/* Counts n MADs a second from LID 7 for `seconds` seconds. */
static void seconds_of(unsigned n, enum mad_kind kind, int64_t from, unsigned seconds)
{
	for (int64_t us = 0; us < seconds * SECOND; us += SECOND / n)
		flood_note(t, 7, 7, kind, us % 2, from + us);
}

/* promise: A25 */
START_TEST(a_flood_is_told_once)
{
	struct mad_flood f;

	seconds_of(100, MAD_KIND_TRAP, SECOND, 20);
	ck_assert(!flood_at(t, 0, 21 * SECOND, &f));
	seconds_of(1000, MAD_KIND_TRAP, 30 * SECOND, 5);
	ck_assert(flood_tell(t, 35 * SECOND, &f));
	ck_assert_uint_eq(f.lid, 7);
	ck_assert_int_eq(f.kind, MAD_KIND_TRAP);
	ck_assert_uint_ge(f.received, 4900);
	ck_assert_uint_le(f.received, 5000);
	ck_assert_int_ge(f.since_us, 30 * SECOND);
	ck_assert(!flood_tell(t, 35 * SECOND, &f));
	ck_assert(flood_at(t, 0, 35 * SECOND, &f));
	ck_assert(!flood_at(t, 1, 35 * SECOND, &f));
	/* the flood is over, and another one is reported anew */
	ck_assert(!flood_at(t, 0, 35 * SECOND + FLOOD_OVER_US, &f));
	seconds_of(1000, MAD_KIND_TRAP, 60 * SECOND, 1);
	ck_assert(flood_tell(t, 61 * SECOND, &f));
	ck_assert_int_eq(f.since_us, 60 * SECOND);
}
END_TEST

/* Ten thousand ports that send a little share table entries with the flood, and with each other. */
/* promise: A25 */
START_TEST(others_hide_nobody)
{
	struct mad_flood f;
	bool found = false;

	for (unsigned i = 0; i < 60000; i++) {
		int64_t now = SECOND + i * 50;		/* three seconds */

		flood_note(t, 100 + i % 10000, (uint16_t)(100 + i % 10000), MAD_KIND_TRAP, false, now);
		flood_note(t, 7, 7, MAD_KIND_TRAP, true, now);
	}
	for (unsigned i = 0; flood_at(t, i, 4 * SECOND, &f); i++) {
		ck_assert_uint_eq(f.lid, 7);
		found = true;
	}
	ck_assert(found);
}
END_TEST

/* promise: A25 */
START_TEST(kinds_are_apart)
{
	struct mad_flood f;
	unsigned kinds = 0;

	seconds_of(5000, MAD_KIND_TRAP, SECOND, 1);
	seconds_of(5000, MAD_KIND_SMINFO_GET, SECOND, 1);
	seconds_of(5000, MAD_KIND_UNKNOWN, SECOND, 1);
	while (flood_tell(t, 2 * SECOND, &f))
		kinds |= 1u << f.kind;
	ck_assert_uint_eq(kinds, 1u << MAD_KIND_TRAP | 1u << MAD_KIND_SMINFO_GET |
				 1u << MAD_KIND_UNKNOWN);
	for (unsigned k = 0; k < MAD_KINDS; k++)
		ck_assert_ptr_nonnull(mad_kind_name(k));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flood");
	TCase *c = tcase_create("flood");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_flood_is_told_once);
	tcase_add_test(c, others_hide_nobody);
	tcase_add_test(c, kinds_are_apart);
	suite_add_tcase(s, c);
	return run_suite(s);
}
