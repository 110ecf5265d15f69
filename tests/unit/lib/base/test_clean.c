/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clean.h"
#include "unit/run.h"

/* promise: L3 */
START_TEST(texts)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "" }, { "node1 HCA-1", "node1 HCA-1" },
		{ "a\nb\tc\r\x1b[2J\x7f\x01", "a?b?c??[2J??" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x90\xb8", "\xe2\x82\xac \xf0\x9f\x90\xb8" },
		/* CSI as U+009B, and as a byte */
		{ "a\xc2\x9b" "2Jb", "a??2Jb" }, { "a\x9b" "2Jb", "a?2Jb" },
		{ "\xc2\x80\xc2\x9f\xc2\xa0", "????\xc2\xa0" },
		{ "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf", "\xe2\x80\xa7??????\xe2\x80\xaf" },
		{ "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa", "\xe2\x81\xa5??????\xe2\x81\xaa" },
		/* overlong newlines, half a character, a surrogate, a value that is too large */
		{ "\xc0\x8a" "a", "??a" }, { "\xe0\x80\x8a", "???" }, { "a\xe2\x82", "a??" },
		{ "\xc3", "?" }, { "\xc3\n", "??" }, { "\xed\xa0\x80", "???" },
		{ "\xf4\x90\x80\x80", "????" }, { "\xf8\x88\x80\x80\x80", "?????" }, { "\xff\xfe", "??" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *s = xstrdup(cases[i].from);
		bool changed = clean_text(s);

		ck_assert_str_eq(s, cases[i].to);
		ck_assert(changed == (strcmp(cases[i].from, cases[i].to) != 0));
		ck_assert(!clean_text(s));
		free(s);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clean");
	TCase *t = tcase_create("all");

	tcase_add_test(t, texts);
	suite_add_tcase(s, t);
	return run_suite(s);
}
