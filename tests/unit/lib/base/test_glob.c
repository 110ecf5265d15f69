/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests patterns against a table, and their cost. */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/glob.h"
#include "unit/run.h"

/* promise: O15 */
START_TEST(patterns)
{
	static const struct { const char *pattern, *text; bool matches; } cases[] = {
		{ "", "", true }, { "", "a", false }, { "*", "", true }, { "**", "abc", true }, { "?", "", false },
		{ "a", "a", true }, { "a", "ab", false }, { "ab", "a", false }, { "a*", "abc", true },
		{ "*c", "abc", true }, { "a*c", "ac", true }, { "a*c", "abd", false }, { "a?c", "abc", true },
		{ "*b*", "abc", true }, { "*ab", "aab", true }, { "node*[1]", "node7[1]", true },
		{ "[a]", "a", false }, { "\\*", "\\x", true }, { "*a*b*c*", "xxaxxbxxcxx", true },
		{ "*a*b*c*", "xxaxxcxxbxx", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(glob_match(cases[i].pattern, strlen(cases[i].pattern), cases[i].text) == cases[i].matches,
			      "%s, %s", cases[i].pattern, cases[i].text);
	/* only so many characters of the pattern */
	ck_assert(glob_match("ab*", 2, "ab"));
	ck_assert(!glob_match("ab*", 2, "abc"));
	ck_assert(glob_is_pattern("a*") && glob_is_pattern("?") && !glob_is_pattern("a[b]"));
}
END_TEST

/* promise: O15 */
START_TEST(many_stars)
{
	static char text[20001], pattern[201];

	memset(text, 'a', sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(pattern) - 1; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[sizeof(pattern) - 2] = 'b';
	ck_assert(!glob_match(pattern, strlen(pattern), text));		/* not exponential */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("glob");
	TCase *k = tcase_create("glob");

	tcase_add_test(k, patterns);
	tcase_add_test(k, many_stars);
	suite_add_tcase(s, k);
	return run_suite(s);
}
