/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests files that are huge, deeply nested, damaged, or not files at all. */
#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf_test.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

/* The text must be refused with `text` somewhere in the first error. */
static void ck_refused(const char *yaml, size_t n, const char *text)
{
	struct findings found = { 0 };
	struct policy *p = conf_parse_policy("t", yaml, n, &found);

	ck_assert_ptr_null(p);
	ck_assert_uint_ge(found.n, 1);
	ck_assert_msg(strstr(found.v[0].text, text), "%s", found.v[0].text);
	findings_free(&found);
}

static void ck_file_refused(const char *path, const char *text)
{
	struct findings found = { 0 };
	struct buf bytes = { 0 };

	ck_assert(!conf_read_file(path, &bytes, &found));
	ck_assert_uint_eq(found.n, 1);
	ck_assert_int_eq(found.v[0].severity, SEV_ERROR);
	ck_assert_str_eq(found.v[0].file, path);
	ck_assert_uint_eq(found.v[0].pos.line, 0);
	ck_assert_msg(strstr(found.v[0].text, text), "%s", found.v[0].text);
	findings_free(&found);
	buf_free(&bytes);
}

START_TEST(no_usable_file)
{
	char path[] = "/tmp/qosd-conf-XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 100 << 20), 0);
	ck_file_refused(path, "too large");
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_file_refused(path, "No such file");
	ck_file_refused("/", "it is a directory");
	ck_file_refused("/dev/zero", "it is a device");
}
END_TEST

/* promise: A51 */
START_TEST(file_without_a_byte)
{
	static const char *const empty[] = { "", "\n", "# all is a comment\n", "{}\n" };
	struct findings found = { 0 };
	struct settings *s;
	struct policy *p;

	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		p = conf_parse_policy("t", empty[i], strlen(empty[i]), &found);
		s = whole_settings("t", empty[i], strlen(empty[i]), &found);
		ck_assert_uint_eq(found.n, 1);
		ck_assert_uint_eq(found.count[SEV_WARNING], 1);
		ck_assert_ptr_nonnull(strstr(found.v[0].text, "is empty, which means the built-in policy"));
		ck_assert(p->says_nothing);
		findings_free(&found);
		policy_free(p);
		settings_free(s);
	}
}
END_TEST

/* Every truncation of a file that ends with "..." is told from the whole file. */
/* promise: A51 */
START_TEST(files_that_are_cut_off)
{
	char *path = source_path("examples/demo-policy.yaml");
	struct findings found = { 0 };
	struct buf text = { 0 };
	size_t good = 0, last = 0;
	struct policy *p;

	ck_assert_msg(conf_read_file(path, &text, &found), "%s", path);
	if (strcmp(text.s + text.n - 4, "...\n"))
		buf_puts(&text, "...\n");
	for (size_t n = 0; n <= text.n; n++) {
		p = conf_parse_policy("t", text.s, n, &found);
		findings_free(&found);
		good += p != NULL;
		/* the newline at the end may be missing */
		ck_assert_msg((p && p->ends_marked) == (n + 1 >= text.n), "%zu of %zu", n, text.n);
		last = p ? n : last;
		policy_free(p);
	}
	/* without the marker, many truncations are valid policies */
	ck_assert_uint_gt(good, 20);
	ck_assert_uint_eq(last, text.n);
	buf_free(&text);
	free(path);
}
END_TEST

static void ck_repeated_refused(const char *unit, size_t times, const char *text)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < times; i++)
		buf_puts(&b, unit);
	ck_refused(b.s, b.n, text);
	buf_free(&b);
}

START_TEST(too_deep_or_too_wide)
{
	ck_repeated_refused("[", 1000000, "nested too deeply");
	ck_repeated_refused("- ", 1000000, "nested too deeply");
	ck_repeated_refused("{a: ", 1000000, "nested too deeply");
	ck_repeated_refused("? ", 1000, "nested too deeply");
	ck_repeated_refused("- a\n", 1100000, "too many values");
	ck_repeated_refused("---\n", 1000, "second document");
}
END_TEST

START_TEST(laughs)
{
	const char *text = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";

	ck_refused(text, strlen(text), "unknown key");
	text = "match-rules: &a\n- *a\n";
	ck_refused(text, strlen(text), "anchors (&a)");
	text = "port-groups: {a: *a, b: *a}\n";
	ck_refused(text, strlen(text), "aliases (*a)");
}
END_TEST

START_TEST(nul_bytes)
{
	const char *escaped = "qos-levels: {\"a\\0b\": {sl: 0}}";
	static const char raw[] = "qos-levels:\n  a: {sl: 0\0}\n";

	ck_refused(raw, sizeof(raw) - 1, "UTF-8");
	ck_refused("\0", 1, "UTF-8");
	ck_refused(escaped, strlen(escaped), "NUL");
}
END_TEST

/* Errors are reported up to a limit, and only counted beyond it. */
START_TEST(many_errors)
{
	struct findings found = { 0 };
	struct buf b = { 0 };

	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "k%d: 1\n", i);
	ck_assert_ptr_null(conf_parse_policy("t", b.s, b.n, &found));
	ck_assert_uint_eq(found.n, FINDINGS_MAX);
	ck_assert_uint_eq(found.count[SEV_ERROR], 5000);
	findings_free(&found);
	buf_free(&b);
}
END_TEST

/* 10,000 groups, in chains within bounds, and as many rules. */
START_TEST(large_policy)
{
	struct findings found = { 0 };
	struct buf b = { 0 }, normal = { 0 };
	struct policy *p;

	buf_puts(&b, "port-groups:\n");
	for (int i = 0; i < 10000; i++) {
		buf_printf(&b, "  g%d: {port-guids: 0-0xffffffffffffffff", i);
		if (i % 30)
			buf_printf(&b, ", groups: g%d", i - 1);
		buf_puts(&b, "}\n");
	}
	buf_puts(&b, "match-rules:\n");
	for (int i = 0; i < 10000; i++)
		buf_printf(&b, "  - {source: g%d, service-id: %d, level: default}\n", i, i);
	p = conf_parse_policy("t", b.s, b.n, &found);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_groups, 10000);
	ck_assert_uint_eq(p->n_rules, 10000);
	conf_print_policy(p, &normal);
	ck_assert_uint_gt(normal.n, b.n);
	policy_free(p);
	buf_free(&b);
	buf_free(&normal);
}
END_TEST

/* As many partitions as there are P_Keys, and groups of all of them. */
START_TEST(partitions_without_number)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	struct policy *p;

	buf_puts(&b, "port-groups:\n  g: {port-guids: 0-0xffffffffffffffff}\n");
	for (int i = 0; i < 30000; i++)
		buf_printf(&b, "  g%d: {pkeys: 0-0x7fff}\n", i);
	buf_puts(&b, "partitions:\n");
	for (int i = 1; i < 0x7fff; i++)
		buf_printf(&b, "  p%d: {pkey: %d, members: {g: full, 0x%x: limited}}\n", i, i, i);
	p = conf_parse_policy("t", b.s, b.n, &found);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->n_partitions, 0x7fff);
	ck_assert_uint_eq(p->partitions[0].pkey, 0x7fff);
	ck_assert_uint_eq(p->partitions[1].pkey, 1);
	policy_free(p);
	findings_free(&found);
	buf_free(&b);
}
END_TEST

/* Groups of partitions of groups, as deep as a file can be long. */
START_TEST(deep_partitions)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	int n = 0x7ffe;

	buf_puts(&b, "port-groups:\n");
	for (int i = 1; i <= n; i++)
		buf_printf(&b, "  g%d: {pkeys: %d}\n", i, i % n + 1);
	buf_puts(&b, "partitions:\n");
	for (int i = 1; i <= n; i++)
		buf_printf(&b, "  p%d: {pkey: %d, members: g%d}\n", i, i, i);
	ck_assert_ptr_null(conf_parse_policy("t", b.s, b.n, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 1);
	ck_assert_msg(strstr(found.v[0].text, "contains itself"), "%s", found.v[0].text);
	findings_free(&found);
	buf_free(&b);
}
END_TEST

/* Groups of all P_Keys in partitions: each partition includes all that follow. */
START_TEST(loops_without_number)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	int n = 20000;

	buf_puts(&b, "port-groups:\n");
	for (int i = 1; i <= n; i++)
		buf_printf(&b, "  g%d: {pkeys: 0x1-0x7ffe}\n", i);
	buf_puts(&b, "partitions:\n");
	for (int i = 1; i <= n; i++)
		buf_printf(&b, "  p%d: {pkey: %d, members: g%d}\n", i, i, i % n + 1);
	ck_assert_ptr_null(conf_parse_policy("t", b.s, b.n, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], FINDINGS_MAX);
	findings_free(&found);
	buf_free(&b);
}
END_TEST

/* Rules for IPoIB in all partitions: each has as many P_Keys as there are. */
static struct policy *parse_ipoib(int n, int step, struct findings *found)
{
	struct buf b = { 0 };
	struct policy *p;

	buf_puts(&b, "partitions:\n");
	for (int i = 1; i <= n; i++)
		buf_printf(&b, "  p%d: {pkey: %d, members: all, ipoib: true}\n", i, i * step);
	buf_puts(&b, "match-rules:\n");
	for (int i = 0; i < n; i++)
		buf_printf(&b, "  - {ulp: ipoib, level: default}\n");
	p = conf_parse_policy("t", b.s, b.n, found);
	buf_free(&b);
	return p;
}

START_TEST(ipoib_without_number)
{
	struct findings found = { 0 };
	struct policy *p = parse_ipoib(10000, 1, &found);

	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->rules[9999].pkeys.n, 2);
	policy_free(p);
	findings_free(&found);
	ck_assert_ptr_null(parse_ipoib(10000, 3, &found));
	ck_assert_uint_eq(found.count[SEV_ERROR], 1);
	ck_assert_uint_eq(found.v[0].pos.line, 10002 + (1 << 20) / 10001 + 1);
	ck_assert_msg(strstr(found.v[0].text, "too many rules"), "%s", found.v[0].text);
	findings_free(&found);
}
END_TEST

START_TEST(members_without_number)
{
	struct findings found = { 0 };
	struct buf b = { 0 };
	struct policy *p;

	buf_puts(&b, "partitions:\n  Default:\n    pkey: 0x7fff\n    members:\n");
	for (int i = 0; i < 200000; i++)
		buf_printf(&b, "      - 0x%x-0xffffffffffffffff\n", i);
	p = conf_parse_policy("t", b.s, b.n, &found);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(p->partitions[0].n_members, 200000);
	policy_free(p);
	buf_free(&b);
}
END_TEST

/* --- damage --- */

static uint32_t random_state = 1;

static uint32_t random_below(size_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((random_state >> 8) % n);
}

/* One or a few bytes changed, dropped, doubled or exchanged for syntax. */
static void damage(struct buf *b)
{
	static const char syntax[] = "{}[],:-#&*!|>'\"%@\n\t ?0x9~\0\xff";

	for (unsigned k = 1 + random_below(4); k > 0 && b->n > 2; k--) {
		size_t at = random_below(b->n), len = 1 + random_below(b->n - at);
		char *copy;

		switch (random_below(4)) {
		case 0:
			b->s[at] = (char)random_below(256);
			break;
		case 1:
			b->s[at] = syntax[random_below(sizeof(syntax))];
			break;
		case 2:
			memmove(b->s + at, b->s + at + 1, b->n - at);
			b->n--;
			break;
		default:
			copy = xmemdup(b->s + at, len);
			buf_add(b, copy, len);
			free(copy);
			break;
		}
	}
}

/* Any text gives a policy or errors, never both; the normal form of a policy parses, too. */
static void ck_survives(const struct buf *b)
{
	struct findings found = { 0 };
	struct policy *p = conf_parse_policy("t", b->s, b->n, &found), *again;
	struct settings *s;
	struct buf normal = { 0 }, second = { 0 };

	ck_assert_msg((p != NULL) == (found.count[SEV_ERROR] == 0), "%s", b->s);
	findings_free(&found);
	if (p) {
		conf_print_policy(p, &normal);
		again = conf_parse_policy("t", normal.s, normal.n, &found);
		ck_assert_msg(again != NULL, "%s", normal.s);
		conf_print_policy(again, &second);
		ck_assert_str_eq(normal.s, second.s);
		policy_free(again);
	}
	findings_free(&found);
	s = whole_settings("t", b->s, b->n, &found);
	ck_assert((s != NULL) == (found.count[SEV_ERROR] == 0));
	settings_free(s);
	findings_free(&found);
	policy_free(p);
	buf_free(&normal);
	buf_free(&second);
}

static void damage_files(const char *below, unsigned rounds)
{
	char *pattern = source_path(below);
	glob_t g;

	ck_assert_msg(glob(pattern, 0, NULL, &g) == 0, "no files: %s", pattern);
	for (size_t i = 0; i < g.gl_pathc; i++)
		for (unsigned k = 0; k < rounds; k++) {
			struct buf b = { 0 };
			size_t n;
			char *text = slurp(g.gl_pathv[i], &n);

			buf_add(&b, text, n);
			damage(&b);
			ck_survives(&b);
			buf_free(&b);
			free(text);
		}
	globfree(&g);
	free(pattern);
}

START_TEST(damaged_files)
{
	damage_files("tests/golden/policy/*.yaml", 100);
	damage_files("tests/golden/settings/*.yaml", 100);
	damage_files("etc/*.yaml", 200);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hostile");
	TCase *t = tcase_create("hostile");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, no_usable_file);
	tcase_add_test(t, file_without_a_byte);
	tcase_add_test(t, files_that_are_cut_off);
	tcase_add_test(t, too_deep_or_too_wide);
	tcase_add_test(t, laughs);
	tcase_add_test(t, nul_bytes);
	tcase_add_test(t, many_errors);
	tcase_add_test(t, large_policy);
	tcase_add_test(t, partitions_without_number);
	tcase_add_test(t, deep_partitions);
	tcase_add_test(t, loops_without_number);
	tcase_add_test(t, ipoib_without_number);
	tcase_add_test(t, members_without_number);
	tcase_add_test(t, damaged_files);
	suite_add_tcase(s, t);
	return run_suite(s);
}
