/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/time_parse.h"
#include "unit/run.h"

#define NOW (1796083200ll * 1000000 + 36000ll * 1000000 + 7)	/* 2026-12-01T10:00:00.000007Z */

/* promise: O4 */
START_TEST(times)
{
	static const struct {
		const char *text;
		double seconds;		/* since 1970 */
	} cases[] = {
		{ "2026-12-01", 1796083200 }, { "2026-12-01T00:00Z", 1796083200 },
		{ "2026-12-01 10:20", 1796083200 + 37200 }, { "1970-01-01", 0 },
		{ "2026-12-01T10:20:30.5Z", 1796083200 + 37230.5 },
		{ "2026-12-01t01:00:00+02:00", 1796083200 - 3600 },
		{ "2026-12-01T00:00-0130", 1796083200 + 5400 },
		{ "2024-02-29", 1709164800 },
		{ "now", NOW / 1e6 }, { "today", 1796083200 }, { "yesterday", 1796083200 - 86400 },
		{ "2 hours ago", NOW / 1e6 - 7200 }, { "1 hour ago", NOW / 1e6 - 3600 },
		{ "90s", NOW / 1e6 - 90 }, { "3days", NOW / 1e6 - 3 * 86400 },
		{ "5 min", NOW / 1e6 - 300 }, { "2 Weeks Ago", NOW / 1e6 - 14 * 86400 },
	};
	int64_t us;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_msg(time_parse(cases[i].text, NOW, &us), "%s", cases[i].text);
		ck_assert_double_eq_tol((double)us / 1e6, cases[i].seconds, 1e-3);
	}
}
END_TEST

/* promise: O4 */
START_TEST(no_times)
{
	static const char *const cases[] = {
		"", "17", "12ab:17", "2026", "2026-13-01", "2026-02-29", "2026-11-31", "2026-1-1",
		"2026-12-01T", "2026-12-01T24:00", "2026-12-01T10:60", "2026-12-01T10:00:60",
		"2026-12-01T10:00x", "2026-12-01T10:00+15:00", "2026-12-01T10:00:00.Z", "2026-00-10",
		"1969-12-31", "1970-01-01T00:00+01:00", "ago", "hours ago", "2 ago", "2 fortnights",
		"2 hours hence", "-2 hours", "99999999 weeks ago", "999999999999999999999 s", "tomorrow",
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t us = -7;

		ck_assert_msg(!time_parse(cases[i], NOW, &us), "%s", cases[i]);
		ck_assert_int_eq(us, -7);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("time_parse");
	TCase *t = tcase_create("all");

	tcase_add_test(t, times);
	tcase_add_test(t, no_times);
	suite_add_tcase(s, t);
	return run_suite(s);
}
