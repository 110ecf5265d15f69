/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests growable arrays, text buffers, the GUID hash and findings.
 *
 * promise: C2
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/findings.h"
#include "lib/base/map64.h"
#include "unit/run.h"

START_TEST(vec_grows)
{
	VEC(uint32_t) v = { 0 };

	for (uint32_t i = 0; i < 10000; i++)
		*vec_push(&v) = i;
	ck_assert_uint_eq(v.n, 10000);
	for (uint32_t i = 0; i < v.n; i++)
		ck_assert_uint_eq(v.v[i], i);
	vec_free(&v);
	ck_assert_ptr_null(v.v);
	ck_assert_uint_eq(v.n, 0);
}
END_TEST

START_TEST(strings)
{
	static const char unterminated[3] = { 'a', 'b', 'c' };
	char *s = xstrndup(unterminated, 3);

	ck_assert_str_eq(s, "abc");
	free(s);
	s = xstrndup("ab", 100);
	ck_assert_str_eq(s, "ab");
	free(s);
	s = xasprintf("%s-%d", "x", 7);
	ck_assert_str_eq(s, "x-7");
	free(s);
	s = xasprintf("%s", "");
	ck_assert_str_eq(s, "");
	free(s);
}
END_TEST

START_TEST(big_endian)
{
	uint8_t b[9] = { 0 };

	put_be16(b + 1, 0x0102);
	ck_assert_mem_eq(b, "\0\1\2", 3);
	ck_assert_uint_eq(get_be16(b + 1), 0x0102);
	put_be32(b + 1, 0x01020304);
	ck_assert_mem_eq(b, "\0\1\2\3\4", 5);
	ck_assert_uint_eq(get_be32(b + 1), 0x01020304);
	put_be64(b + 1, 0x0102030405060708ULL);
	ck_assert_mem_eq(b, "\0\1\2\3\4\5\6\7\10", 9);
	ck_assert_uint_eq(get_be64(b + 1), 0x0102030405060708ULL);
}
END_TEST

START_TEST(buf_of_a_descriptor)
{
	struct buf b = { 0 };
	char path[] = "/tmp/test_base.XXXXXX";
	int fd = mkstemp(path);
	static char data[100000];

	ck_assert_int_ge(fd, 0);
	unlink(path);
	memset(data, 'x', sizeof(data));
	ck_assert_int_eq(write(fd, data, sizeof(data)), (ssize_t)sizeof(data));
	buf_puts(&b, "before");
	lseek(fd, 0, SEEK_SET);
	ck_assert(buf_read(&b, fd, sizeof(data)));		/* exactly as much as may be */
	ck_assert_uint_eq(b.n, 6 + sizeof(data));
	ck_assert_int_eq(b.s[6], 'x');
	lseek(fd, 0, SEEK_SET);
	ck_assert(!buf_read(&b, fd, sizeof(data) - 1));
	ck_assert_int_eq(errno, EFBIG);
	close(fd);
	ck_assert(!buf_read(&b, fd, 10));
	ck_assert_int_eq(errno, EBADF);
	buf_free(&b);
}
END_TEST

START_TEST(buf_text)
{
	struct buf b = { 0 };

	buf_add(&b, "", 0);
	ck_assert_str_eq(b.s, "");
	buf_puts(&b, "abc");
	buf_printf(&b, "[%04d]", 7);
	ck_assert_str_eq(b.s, "abc[0007]");
	ck_assert_uint_eq(b.n, 9);
	buf_consume(&b, 3);
	ck_assert_str_eq(b.s, "[0007]");
	buf_consume(&b, 100);
	ck_assert_str_eq(b.s, "");
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i % 10);
	ck_assert_uint_eq(b.n, 2000);
	ck_assert_uint_eq(strlen(b.s), 2000);
	ck_assert_str_eq(b.s + 1990, "5,6,7,8,9,");
	buf_free(&b);
	ck_assert_ptr_null(b.s);
	buf_consume(&b, 1);		/* of nothing */
	ck_assert_ptr_null(b.s);
}
END_TEST

static void expect_bits(unsigned bits, const char *text)
{
	struct buf b = { 0 };

	buf_put_bits(&b, bits);
	ck_assert_str_eq(b.s ? b.s : "", text);
	buf_free(&b);
}

START_TEST(buf_bits)
{
	expect_bits(0, "");
	expect_bits(1, "0");
	expect_bits(0x6, "1, 2");
	expect_bits(0xfff2, "1, 4-15");
	expect_bits(0x80000001, "0, 31");
	expect_bits(UINT32_MAX, "0-31");
}
END_TEST

START_TEST(map_basics)
{
	struct map64 m = { 0 }, copy;

	map64_clone(&copy, &m);
	ck_assert_uint_eq(map64_get(&copy, 0), MAP64_NONE);
	ck_assert_uint_eq(map64_get(&m, 0), MAP64_NONE);	/* without init */
	ck_assert_uint_eq(map64_put(&m, 0, 5), MAP64_NONE);
	ck_assert_uint_eq(map64_put(&m, UINT64_MAX, 6), MAP64_NONE);
	ck_assert_uint_eq(map64_get(&m, 0), 5);
	ck_assert_uint_eq(map64_get(&m, UINT64_MAX), 6);
	ck_assert_uint_eq(map64_put(&m, 0, 7), 5);
	ck_assert_uint_eq(map64_get(&m, 0), 7);
	map64_clone(&copy, &m);
	map64_put(&copy, 1, 8);
	ck_assert_uint_eq(map64_get(&copy, 0), 7);
	ck_assert_uint_eq(map64_get(&m, 1), MAP64_NONE);
	map64_free(&copy);
	ck_assert_uint_eq(m.n, 2);
	map64_free(&m);
	ck_assert_uint_eq(map64_get(&m, 0), MAP64_NONE);
}
END_TEST

/* Keys like GUIDs: dense runs with a common prefix. */
START_TEST(map_many)
{
	static const uint32_t expected[] = { 0, 1, 7, 50000, 200000 };
	const uint64_t first = 0x0002c90300000000ULL;
	const uint32_t n = 50000;

	for (size_t e = 0; e < ARRAY_SIZE(expected); e++) {
		struct map64 m;

		map64_init(&m, expected[e]);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_uint_eq(map64_put(&m, first + i * 16, i), MAP64_NONE);
		ck_assert_uint_eq(m.n, n);
		ck_assert_uint_ge(m.mask + 1, 2 * n);
		for (uint32_t i = 0; i < n; i++) {
			ck_assert_uint_eq(map64_get(&m, first + i * 16), i);
			ck_assert_uint_eq(map64_get(&m, first + 1 + i * 16), MAP64_NONE);
		}
		map64_free(&m);
	}
}
END_TEST

START_TEST(hashes)
{
	uint8_t data[20] = { 0 };
	uint64_t h = hash_bytes(data, sizeof(data), 0);

	ck_assert(h == hash_bytes(data, sizeof(data), 0));
	ck_assert(h != hash_bytes(data, sizeof(data), 1));
	ck_assert(h != hash_bytes(data, sizeof(data) - 1, 0));
	for (size_t i = 0; i < sizeof(data); i++) {
		data[i] = 1;
		ck_assert_msg(h != hash_bytes(data, sizeof(data), 0), "byte %zu does not count", i);
		data[i] = 0;
	}
}
END_TEST

static void add(struct findings *f, const char *file, unsigned line, unsigned col, const char *text)
{
	findings_add(f, SEV_WARNING, file, (struct src_pos){ line, col }, "%s", text);
}

static char *formatted(const struct finding *f)
{
	struct buf b = { 0 };

	findings_format(f, &b);
	return b.s;
}

START_TEST(findings_text)
{
	static const struct { const char *file; struct src_pos pos; const char *text; } cases[] = {
		{ "p.yaml", { 3, 7 }, "p.yaml:3:7: error: bad 'x'" },
		{ "p.yaml", { 0, 0 }, "p.yaml: error: bad 'x'" },
		{ NULL, { 0, 0 }, "error: bad 'x'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct findings f = { 0 };

		findings_add(&f, SEV_ERROR, cases[i].file, cases[i].pos, "bad '%s'", "x");
		char *text = formatted(&f.v[0]);
		ck_assert_str_eq(text, cases[i].text);
		free(text);
		findings_free(&f);
	}
	ck_assert_str_eq(severity_name(SEV_WARNING), "warning");
	ck_assert_str_eq(severity_name(SEV_INFO), "info");
}
END_TEST

START_TEST(findings_sorted)
{
	struct findings f = { 0 };
	const char *const order[] = { "a", "b", "c", "d", "e", "f" };

	add(&f, "x", 2, 1, "d");
	add(&f, "y", 1, 1, "f");
	add(&f, "x", 1, 5, "b");
	add(&f, "x", 2, 3, "e");
	add(&f, "x", 1, 5, "c");	/* equal place: stays behind b */
	add(&f, "x", 0, 0, "a");
	findings_sort(&f);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		ck_assert_str_eq(f.v[i].text, order[i]);
	findings_free(&f);
	findings_sort(&f);		/* empty */
}
END_TEST

START_TEST(findings_limited)
{
	struct findings f = { .max = 3 }, copy = { 0 };

	for (unsigned i = 1; i <= 5; i++)
		add(&f, "x", i, 1, "w");
	findings_add(&f, SEV_ERROR, "x", (struct src_pos){ 9, 1 }, "e");
	ck_assert_uint_eq(f.n, 3);
	ck_assert_uint_eq(f.count[SEV_WARNING], 5);
	ck_assert_uint_eq(f.count[SEV_ERROR], 1);

	findings_copy(&copy, &f);
	ck_assert_uint_eq(copy.n, 3);
	ck_assert_uint_eq(copy.count[SEV_WARNING], 5);
	ck_assert_uint_eq(copy.count[SEV_ERROR], 1);
	findings_move(&copy, &f);
	ck_assert_uint_eq(copy.n, 6);
	ck_assert_uint_eq(copy.count[SEV_WARNING], 10);
	ck_assert_uint_eq(f.n, 0);
	ck_assert_uint_eq(f.count[SEV_WARNING], 0);
	ck_assert_uint_eq(f.max, 3);
	findings_free(&copy);
	findings_free(&f);
}
END_TEST

START_TEST(findings_default_limit)
{
	struct findings f = { 0 };

	for (unsigned i = 0; i < FINDINGS_MAX + 10; i++)
		add(&f, "x", i + 1, 1, "w");
	ck_assert_uint_eq(f.n, FINDINGS_MAX);
	ck_assert_uint_eq(f.count[SEV_WARNING], FINDINGS_MAX + 10);
	findings_free(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *tc = tcase_create("base");

	tcase_add_test(tc, vec_grows);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, big_endian);
	tcase_add_test(tc, buf_of_a_descriptor);
	tcase_add_test(tc, buf_text);
	tcase_add_test(tc, buf_bits);
	tcase_add_test(tc, map_basics);
	tcase_add_test(tc, map_many);
	tcase_add_test(tc, hashes);
	tcase_add_test(tc, findings_text);
	tcase_add_test(tc, findings_sorted);
	tcase_add_test(tc, findings_limited);
	tcase_add_test(tc, findings_default_limit);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
