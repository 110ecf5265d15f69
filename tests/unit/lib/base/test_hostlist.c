/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests lists of host names as Slurm writes them, and what passes for a mistyped name.
 *
 * promise: O3
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/spelling.h"
#include "unit/run.h"

/* The list must be the names in `want`, each followed by a space. */
static void names(const char *text, const char *want)
{
	struct hostlist l = { 0 };
	struct buf err = { 0 }, got = { 0 };

	ck_assert_msg(hostlist_parse(text, 100, &l, &err), "%s: %s", text, err.s);
	for (size_t i = 0; i < l.n; i++)
		buf_printf(&got, "%s ", l.v[i]);
	ck_assert_str_eq(got.s, want);
	buf_free(&got);
	hostlist_free(&l);
}

static void broken(const char *text, const char *why)
{
	struct hostlist l = { 0 };
	struct buf err = { 0 };

	ck_assert_msg(!hostlist_parse(text, 100, &l, &err), "accepted: %s", text);
	ck_assert_msg(strstr(err.s, why) != NULL, "%s: %s", text, err.s);
	buf_free(&err);
	hostlist_free(&l);
}

START_TEST(lists_as_slurm_writes_them)
{
	names("login1", "login1 ");
	names("gpu[01-04,07],login1", "gpu01 gpu02 gpu03 gpu04 gpu07 login1 ");
	names("n[8-11]", "n8 n9 n10 n11 ");
	names("n[098-101]", "n098 n099 n100 n101 ");
	names("r[1-2]n[0-1]", "r1n0 r1n1 r2n0 r2n1 ");
	names("gpu[1,3] HCA-1/P1", "gpu1 HCA-1/P1 gpu3 HCA-1/P1 ");
	names("b,a,a", "b a a ");
	ck_assert(hostlist_is_list("a,b") && hostlist_is_list("a[1]") && hostlist_is_list("a]"));
	ck_assert(!hostlist_is_list("node1 HCA-1/P1"));
}
END_TEST

START_TEST(broken_lists)
{
	struct hostlist all = { 0 };
	char name[300] = "";
	struct buf err = { 0 };

	broken("gpu[4-1]", "the range 4-1 runs backwards");
	broken("gpu[1-", "a bracket is not closed");
	broken("gpu[1-]", "\"1-\" in brackets is neither a number nor a range");
	broken("gpu[", "a bracket is not closed");
	broken("gpu[]", "\"\" in brackets is neither");
	broken("gpu[1,]", "\"\" in brackets is neither");
	broken("gpu[a-c]", "\"a-c\" in brackets is neither");
	broken("gpu[-3]", "\"-3\" in brackets is neither");
	broken("gpu[1-2-3]", "\"1-2-3\" in brackets is neither");
	broken("gpu[1234567890]", "in brackets is neither");
	broken("gpu[1[2]]", "a bracket within brackets");
	broken("gpu1]", "closed that was not opened");
	broken("gpu[1]]", "closed that was not opened");
	broken("", "a name is missing");
	broken("a,,b", "a name is missing");
	broken("a,", "a name is missing");
	broken(",a", "a name is missing");
	ck_assert(hostlist_parse("n[1-100]", 100, &all, &err));
	ck_assert_uint_eq(all.n, 100);
	hostlist_free(&all);
	memset(name, 'n', 255);
	ck_assert(hostlist_parse(name, 100, &all, &err));
	hostlist_free(&all);
	all = (struct hostlist){ 0 };
	name[255] = 'n';
	broken(name, "a name has more than 255 bytes: nnnn");
	memcpy(name + 254, "[9-10]", 7);	/* the numbers count */
	broken(name, "a name has more than 255 bytes");
	broken("n[1-101]", "more than 100 names");
	broken("n[0-999999999]", "more than 100 names");
	broken("n[1-50],m[1-51]", "more than 100 names");
	broken("n[1][1][1][1][1][1][1][1][1]", "more than 8 brackets");
}
END_TEST

/* Names, in any order, as a list; reading that gives them back. */
START_TEST(names_as_lists)
{
	static const char *const cases[][2] = {
		{ "", "" }, { "a", "a" }, { "n1,n1", "n1" }, { "n2,n1,n1", "n[1-2]" },
		{ "gpu07,gpu02,login1,gpu01,gpu03", "gpu[01-03,07],login1" },
		{ "n9,n10,n11,n08", "n9,n[08,10-11]" }, { "b,a,a1", "a,a1,b" },
		{ "r1n1,r1n2,r2n1", "r1n[1-2],r2n1" }, { "17,18", "[17-18]" },
		{ "x1234567890,x1234567891", "x1234567890,x1234567891" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct hostlist l = { 0 };
		struct buf out = { 0 }, err = { 0 };

		ck_assert(!*cases[i][0] || hostlist_parse(cases[i][0], 100, &l, &err));
		hostlist_put(&l, &out);
		ck_assert_str_eq(out.s ? out.s : "", cases[i][1]);
		hostlist_free(&l);
		buf_free(&out);
	}
}
END_TEST

START_TEST(names_that_may_be_meant)
{
	ck_assert_uint_eq(spelling_mistakes("node001", "node001"), SPELLING_MAX + 1);
	ck_assert_uint_eq(spelling_mistakes("nod001", "node001"), 1);
	ck_assert_uint_eq(spelling_mistakes("nodee001", "node001"), 1);
	ck_assert_uint_eq(spelling_mistakes("onde001", "node001"), 1);
	ck_assert_uint_eq(spelling_mistakes("NADE001", "node001"), 1);
	ck_assert_uint_eq(spelling_mistakes("node01", "node001"), 1);
	ck_assert_uint_eq(spelling_mistakes("nde01", "node001"), SPELLING_MAX + 1);
	ck_assert_uint_eq(spelling_mistakes("loigni1", "login1"), 2);
	/* another host, not a mistake */
	ck_assert_uint_eq(spelling_mistakes("node012", "node013"), SPELLING_MAX + 1);
	ck_assert_uint_eq(spelling_mistakes("storage", "node001"), SPELLING_MAX + 1);
	ck_assert_uint_eq(spelling_mistakes("", "n"), SPELLING_MAX + 1);
	ck_assert_uint_eq(spelling_mistakes("ab", "abc"), SPELLING_MAX + 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("host lists");
	TCase *t = tcase_create("all");

	tcase_add_test(t, lists_as_slurm_writes_them);
	tcase_add_test(t, broken_lists);
	tcase_add_test(t, names_as_lists);
	tcase_add_test(t, names_that_may_be_meant);
	suite_add_tcase(s, t);
	return run_suite(s);
}
