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
		{ "5 min", NOW / 1e6 - 300 }, { "1.5h ago", NOW / 1e6 - 5400 }, { "2 Weeks Ago", NOW / 1e6 - 14 * 86400 },
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

/* promise: O4 */
START_TEST(spans)
{
	static const struct {
		const char *text;
		double seconds;
	} cases[] = {
		{ "4us", 4e-6 }, { "500ms", 0.5 }, { "1.5s", 1.5 }, { "10m", 600 }, { "2h", 7200 }, { "1d", 86400 },
		{ "2w", 14 * 86400 }, { "0s", 0 }, { "10min", 600 }, { "2 hours", 7200 }, { "1 Day", 86400 },
	};
	static const char *const bad[] = {
		"", "s", "-1s", "+1s", "1", "1.", "1.s", ".5s", "1e3s", "0x1s", "inf", "1 2s", "1s ago", "1y", "5 m s",
	};
	double seconds = -7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!time_span_parse(bad[i], &seconds) && seconds < -6, "%s", bad[i]);
	ck_assert(!time_seconds_parse("1e3", &seconds) && !time_seconds_parse("", &seconds) && seconds < -6);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_msg(time_span_parse(cases[i].text, &seconds), "%s", cases[i].text);
		ck_assert_double_eq_tol(seconds, cases[i].seconds, 1e-9);
		ck_assert(time_seconds_parse(cases[i].text, &seconds));
	}
	ck_assert(time_seconds_parse("1.5", &seconds));
	ck_assert_double_eq_tol(seconds, 1.5, 1e-9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("time_parse");
	TCase *t = tcase_create("all");

	tcase_add_test(t, times);
	tcase_add_test(t, no_times);
	tcase_add_test(t, spans);
	suite_add_tcase(s, t);
	return run_suite(s);
}
