/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests requests to performance management agents and their answers, and the growth of a
 * counter that saturates, is reset or is absent.
 */
#include <check.h>
#include <infiniband/mad.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "perf/pma.h"
#include "unit/run.h"

#define DATA 64

static uint8_t mad[256];

/* The answer to a Get, all zeros but its header. */
static void answer(enum pma_attr a, uint8_t port)
{
	pma_request(mad, a, port, false);
	mad[3] = 0x81;
}

static enum pma_result result(enum pma_attr a, uint8_t port, size_t n)
{
	struct pma_values v;

	pma_answer(mad, n, a, port, &v);
	return v.result;
}

START_TEST(requests)
{
	pma_request(mad, PMA_XMIT_SL, 7, false);
	ck_assert_mem_eq(mad, ((uint8_t[]){ 1, 4, 1, 1 }), 4);
	ck_assert_uint_eq(get_be16(mad + 16), 0x36);
	ck_assert_uint_eq(mad[DATA + 1], 7);
	ck_assert_uint_eq(get_be16(mad + DATA + 2), 0);
	pma_request(mad, PMA_VL_WAIT, 7, true);
	ck_assert_uint_eq(mad[3], 2);
	ck_assert_uint_eq(get_be16(mad + 16), 0x1c);
	ck_assert_uint_eq(get_be16(mad + DATA + 2), 0xffff);	/* CounterSelect: all, to 0 */
	for (unsigned i = 4; i < 192; i++)
		ck_assert_uint_eq(mad[DATA + i], 0);
	ck_assert(!pma_is_reset(PMA_TOTAL32) && !pma_is_reset(PMA_TOTAL64) && !pma_is_reset(PMA_CAPS));
}
END_TEST

START_TEST(values)
{
	struct pma_values v;

	answer(PMA_XMIT_SL, 3);
	for (unsigned i = 0; i < 16; i++)
		put_be32(mad + DATA + 4 + 4 * i, 0xf0000000 + i);
	pma_answer(mad, 256, PMA_XMIT_SL, 3, &v);
	ck_assert_uint_eq(v.result, PMA_READ);
	ck_assert_uint_eq(v.by_vl[0], 0xf0000000);
	ck_assert_uint_eq(v.by_vl[15], 0xf000000f);
	answer(PMA_VL_WAIT, 3);
	for (unsigned i = 0; i < 16; i++)
		put_be16(mad + DATA + 4 + 2 * i, (uint16_t)(0xff00 + i));
	pma_answer(mad, 256, PMA_VL_WAIT, 3, &v);
	ck_assert_uint_eq(v.by_vl[1], 0xff01);
	ck_assert_uint_eq(v.by_vl[15], 0xff0f);
	answer(PMA_TOTAL64, 3);
	put_be64(mad + DATA + 8, 1ull << 40);
	pma_answer(mad, 256, PMA_TOTAL64, 3, &v);
	ck_assert_uint_eq(v.total[PMA_XMIT_DATA], 1ull << 40);
	answer(PMA_TOTAL32, 3);
	put_be32(mad + DATA + 40, 77);
	pma_answer(mad, 256, PMA_TOTAL32, 3, &v);
	ck_assert_uint_eq(v.total[PMA_XMIT_WAIT], 77);
	answer(PMA_CAPS, 0);
	put_be16(mad + DATA + 2, 1 << 12);
	pma_answer(mad, 256, PMA_CAPS, 3, &v);
	ck_assert(pma_has_wait(v.caps) && !pma_has_wait(~v.caps));
}
END_TEST

/* promise: B4 */
START_TEST(bad_answers)
{
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_BAD);	/* whatever is there */
	answer(PMA_XMIT_SL, 3);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_READ);
	for (size_t n = 0; n < 256; n++)
		ck_assert_uint_eq(result(PMA_XMIT_SL, 3, n), PMA_BAD);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 4, 256), PMA_BAD);	/* of another port */
	ck_assert_uint_eq(result(PMA_VL_RCV, 3, 256), PMA_BAD);		/* another attribute */
	put_be16(mad + 4, 0x000c);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_LACKS);
	put_be16(mad + 4, 0x0008);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_LACKS);
	put_be16(mad + 4, 0x001c);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_BAD);
	put_be16(mad + 4, 0x0002);
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_BAD);
	put_be16(mad + 4, 0);
	mad[1] = 3;
	ck_assert_uint_eq(result(PMA_XMIT_SL, 3, 256), PMA_BAD);

	struct pma_values v;

	pma_answer(NULL, 0, PMA_XMIT_SL, 3, &v);
	ck_assert_uint_eq(v.result, PMA_SILENT);
}
END_TEST

static void grows(uint64_t before, uint64_t after, unsigned bits, enum growth is, uint64_t n)
{
	struct pma_growth g = pma_growth(before, after, bits);

	ck_assert_uint_eq(g.is, is);
	ck_assert_uint_eq(g.n, n);
}

/* promise: B4 */
START_TEST(growth)
{
	static const unsigned widths[] = { 16, 32, 64 };

	for (unsigned i = 0; i < 3; i++) {
		uint64_t most = widths[i] == 64 ? UINT64_MAX : (1ull << widths[i]) - 1;

		grows(5, 5, widths[i], GROWTH_KNOWN, 0);
		grows(5, 12, widths[i], GROWTH_KNOWN, 7);
		grows(0, most - 1, widths[i], GROWTH_KNOWN, most - 1);
		grows(5, most, widths[i], GROWTH_AT_LEAST, most - 5);
		grows(most, most, widths[i], GROWTH_SATURATED, 0);
		/* not a wrap, because IBA's counters saturate: the counter was reset */
		grows(most - 1, 3, widths[i], GROWTH_RESET, 0);
		grows(most, 3, widths[i], GROWTH_RESET, 0);
	}
}
END_TEST

START_TEST(sums)
{
	static const enum growth unknown[] = { GROWTH_SATURATED, GROWTH_RESET, GROWTH_ABSENT };
	struct pma_growth a = { GROWTH_KNOWN, 5 }, b = { GROWTH_AT_LEAST, 7 }, s = pma_sum(a, a);

	ck_assert(s.is == GROWTH_KNOWN && s.n == 10);
	s = pma_sum(a, b);
	ck_assert(s.is == GROWTH_AT_LEAST && s.n == 12);
	for (unsigned i = 0; i < 3; i++) {
		s = pma_sum(b, (struct pma_growth){ unknown[i], 0 });
		ck_assert(s.is == unknown[i] && s.n == 0);
	}
}
END_TEST

START_TEST(what_was_not_read)
{
	struct pma_values v = { .result = PMA_READ, .by_vl = { 5 } }, no = { .result = PMA_LACKS };

	ck_assert_uint_eq(pma_vl_growth(&v, &v, PMA_XMIT_SL, 0).is, GROWTH_KNOWN);
	ck_assert_uint_eq(pma_vl_growth(&no, &v, PMA_XMIT_SL, 0).is, GROWTH_ABSENT);
	ck_assert_uint_eq(pma_vl_growth(&v, &no, PMA_XMIT_SL, 0).is, GROWTH_ABSENT);
	ck_assert_uint_eq(pma_total_growth(&no, &no, PMA_TOTAL64, 0).is, GROWTH_ABSENT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pma");
	TCase *t = tcase_create("pma");

	tcase_add_test(t, requests);
	tcase_add_test(t, values);
	tcase_add_test(t, bad_answers);
	tcase_add_test(t, growth);
	tcase_add_test(t, sums);
	tcase_add_test(t, what_was_not_read);
	suite_add_tcase(s, t);
	return run_suite(s);
}
