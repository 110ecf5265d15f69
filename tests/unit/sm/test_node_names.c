/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests NodeDescriptions that are text, and others, which light sweeps read again. */
#include <check.h>

#include "lib/base/alloc.h"
#include "sm/devices/node_names.h"
#include "unit/run.h"

static const char *const text[] = {
	"a", "node1 mlx5_0", "MF0;switch-1:MQM8700/U1", " ", "M\xc3\xbcller HCA-1", "\xe6\xa9\x9f",
};
static const char *const others[] = {
	"", "\x01", "a\n", "a\x7f", "M\xfcller", "\xff\xfe", "a\xc3", "\xc2\x9b", "\xe2\x80\xae",
	"\xc0\xaf", "\xed\xa0\x80",
};

START_TEST(names_that_are_text)
{
	ck_assert(name_is_text(text[_i]));
}
END_TEST

/* promise: A58 */
START_TEST(names_that_are_not)
{
	ck_assert(!name_is_text(others[_i]));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("names");
	TCase *tc = tcase_create("names");

	tcase_add_loop_test(tc, names_that_are_text, 0, ARRAY_SIZE(text));
	tcase_add_loop_test(tc, names_that_are_not, 0, ARRAY_SIZE(others));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
