/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests error counters in MADs, and what is kept of them over time: totals over resets, the last
 * hour, limits, and nodes that are gone.
 */
#include <check.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "perf/error_book.h"
#include "unit/run.h"

#define DATA	64
#define S	INT64_C(1000000)
#define START	(100 * ERROR_SLICE_US)
#define ALL	((1u << PORT_ERRORS) - 1)

static const struct pma_errors_of narrow = { PMA_TOTAL32, ALL }, wide = { PMA_TOTAL64, ALL };

static uint8_t mad[256];

/* --- MADs --- */

/* promise: C3 */
START_TEST(capabilities)
{
	struct pma_values caps = { .result = PMA_READ };

	ck_assert_int_eq(pma_errors_of(&caps).attr, PMA_TOTAL32);
	ck_assert_uint_eq(pma_errors_of(&caps).known, ALL & ~(1u << ERR_XMIT_WAIT | 1u << ERR_QP1_DROPPED));
	caps.caps = 1 << 12 | 1 << 15;
	ck_assert_uint_eq(pma_errors_of(&caps).known, ALL);
	caps.caps2 = 2;
	ck_assert_int_eq(pma_errors_of(&caps).attr, PMA_TOTAL64);
	caps.result = PMA_LACKS;
	ck_assert_int_eq(pma_errors_of(&caps).attr, PMA_TOTAL32);
	ck_assert_uint_eq(pma_errors_of(&caps).known, ALL & ~(1u << ERR_XMIT_WAIT | 1u << ERR_QP1_DROPPED));
	/* CapabilityMask2 is the upper 27 bits of its word */
	pma_request(mad, PMA_CAPS, 1, false);
	mad[3] = 0x81;
	put_be32(mad + DATA + 4, 2 << 5 | 0x1f);
	pma_answer(mad, sizeof(mad), PMA_CAPS, 1, &caps);
	ck_assert_uint_eq(caps.caps2, 2);
}
END_TEST

/* promise: C3 */
START_TEST(narrow_counters)
{
	/* IBA 16.1.3.5: offset and bytes, in the order of enum port_error; 0 bytes: half of one */
	static const struct { uint8_t at, bytes; } places[PORT_ERRORS] = {
		{ 4, 2 }, { 6, 1 }, { 7, 1 }, { 8, 2 }, { 10, 2 }, { 12, 2 }, { 14, 2 }, { 16, 1 }, { 17, 1 },
		{ 19, 0 }, { 19, 0 }, { 22, 2 }, { 40, 4 }, { 20, 2 },
	};
	struct pma_errors e;

	for (unsigned i = 0; i < PORT_ERRORS; i++) {
		pma_request(mad, PMA_TOTAL32, 7, false);
		mad[3] = 0x81;
		memset(mad + DATA + places[i].at, i == ERR_LOCAL_INTEGRITY ? 0xf0 : i == ERR_BUFFER_OVERRUN ? 0x0f : 0xff,
		       places[i].bytes ? places[i].bytes : 1);
		ck_assert_int_eq(pma_errors_answer(mad, sizeof(mad), narrow, 7, &e), PMA_READ);
		for (unsigned k = 0; k < PORT_ERRORS; k++)
			ck_assert_uint_eq(e.n[k], k == i ? (1ull << pma_error_bits(PMA_TOTAL32, k)) - 1 : 0);
	}
	ck_assert_int_eq(pma_errors_answer(mad, sizeof(mad), narrow, 8, &e), PMA_BAD);
	ck_assert_uint_eq(e.known, 0);
	ck_assert_int_eq(pma_errors_answer(NULL, 0, narrow, 7, &e), PMA_SILENT);
	ck_assert_int_eq(pma_errors_answer(mad, 100, narrow, 7, &e), PMA_BAD);
}
END_TEST

/* promise: C3 */
START_TEST(wide_counters)
{
	struct pma_errors e;

	pma_request(mad, PMA_TOTAL64, 7, false);
	mad[3] = 0x81;
	for (unsigned i = 0; i < PORT_ERRORS; i++)
		put_be64(mad + DATA + 72 + 8 * i, UINT64_MAX - i);	/* 16.1.4.11 */
	ck_assert_int_eq(pma_errors_answer(mad, sizeof(mad), wide, 7, &e), PMA_READ);
	for (unsigned i = 0; i < PORT_ERRORS; i++)
		ck_assert_uint_eq(e.n[i], UINT64_MAX - i);
}
END_TEST

/* promise: C3 */
START_TEST(resets)
{
	pma_errors_reset(mad, PMA_TOTAL32, 7, 1u << ERR_LOCAL_INTEGRITY | 1u << ERR_QP1_DROPPED);
	ck_assert_uint_eq(mad[3], 2);
	ck_assert_uint_eq(get_be16(mad + 16), 0x12);
	ck_assert_uint_eq(mad[DATA + 1], 7);
	ck_assert_uint_eq(get_be16(mad + DATA + 2), 1u << 9);
	ck_assert_uint_eq(mad[DATA + 18], 2);
	pma_errors_reset(mad, PMA_TOTAL64, 7, ALL);
	ck_assert_uint_eq(get_be16(mad + 16), 0x1d);
	ck_assert_uint_eq(get_be16(mad + DATA + 2), 0);		/* data and packets are left alone */
	ck_assert_uint_eq(get_be32(mad + DATA + 4), ALL);
}
END_TEST

/* --- over time --- */

static struct error_book *book;
static struct error_port *port;

static void setup(void)
{
	uint32_t limits[PORT_ERRORS];

	for (unsigned i = 0; i < PORT_ERRORS; i++)
		limits[i] = port_error_limit(i);
	book = error_book_new(limits);
	port = error_port(error_node(book, 0x10, 2), 1);
}

static void teardown(void)
{
	error_book_free(book);
}

/* All counters are 0 but this one. */
static void take(struct pma_errors_of of, enum port_error e, uint64_t n, int64_t now_us)
{
	struct pma_errors read = { .known = of.known };

	read.n[e] = n;
	error_take(book, port, of, &read, now_us);
}

/* promise: C3 */
START_TEST(totals_and_the_hour)
{
	take(wide, ERR_SYMBOL, 1000, START);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 1000);		/* nobody knows since when */
	ck_assert_uint_eq(error_seen(port, ERR_SYMBOL), 0);
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START), 0);
	take(wide, ERR_SYMBOL, 1004, START + 60 * S);
	take(wide, ERR_SYMBOL, 1007, START + 1800 * S);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 1007);
	ck_assert_uint_eq(error_seen(port, ERR_SYMBOL), 7);
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 1800 * S), 7);
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 3299 * S), 7);
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 3600 * S), 3);	/* the first slice is over */
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 5399 * S), 3);
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 5400 * S), 0);
	ck_assert_uint_eq(error_lately(port, ERR_SYMBOL, START + 1800 * S), 3);
	ck_assert_uint_eq(error_lately(port, ERR_SYMBOL, START + 2399 * S), 3);
	ck_assert_uint_eq(error_lately(port, ERR_SYMBOL, START + 2400 * S), 0);
	ck_assert_double_eq_tol(error_per_hour(port, ERR_SYMBOL, START + 1800 * S), 7, 0.01);
	ck_assert_double_eq_tol(error_per_hour(port, ERR_SYMBOL, START + 7200 * S), 3.5, 0.01);
	take(wide, ERR_SYMBOL, 1009, START + 100000 * S);		/* much later: slices are used again */
	ck_assert_uint_eq(error_last_hour(port, ERR_SYMBOL, START + 100000 * S), 2);
	ck_assert_uint_eq(error_sum(book, ERR_SYMBOL), 9);
}
END_TEST

/* promise: C3 */
START_TEST(each_slice_of_an_hour)
{
	uint64_t n = 0;

	take(wide, ERR_RCV, 0, START);
	for (int i = 0; i < 40; i++) {
		n += 1 + i;
		take(wide, ERR_RCV, n, START + i * ERROR_SLICE_US);
		ck_assert_uint_eq(error_last_hour(port, ERR_RCV, START + i * ERROR_SLICE_US),
				  i < 12 ? n : 12u * (1 + i) - 66u);
	}
}
END_TEST

/* promise: C3 */
START_TEST(reset_by_somebody)
{
	take(wide, ERR_SYMBOL, 50, START);
	take(wide, ERR_SYMBOL, 3, START + S);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 53);
	ck_assert_uint_eq(error_seen(port, ERR_SYMBOL), 3);
	take(wide, ERR_SYMBOL, 0, START + 2 * S);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 53);
	take(wide, ERR_SYMBOL, 1, START + 3 * S);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 54);
}
END_TEST

/* promise: C3 */
START_TEST(nearly_full)
{
	struct pma_errors zero = { .known = ALL }, more = { .known = ALL };

	take(narrow, ERR_LOCAL_INTEGRITY, 11, START);
	ck_assert_uint_eq(error_nearly_full(port, narrow), 0);
	take(narrow, ERR_LOCAL_INTEGRITY, 12, START + S);
	ck_assert_uint_eq(error_nearly_full(port, narrow), 1u << ERR_LOCAL_INTEGRITY);
	ck_assert_uint_eq(port->stopped, 0);
	ck_assert_uint_eq(error_take_reset(book, port, narrow, &zero, 1u << ERR_LOCAL_INTEGRITY, START + S), 1);
	ck_assert_uint_eq(error_total(port, ERR_LOCAL_INTEGRITY), 12);
	take(narrow, ERR_LOCAL_INTEGRITY, 15, START + 2 * S);
	ck_assert_uint_eq(error_total(port, ERR_LOCAL_INTEGRITY), 27);
	ck_assert_uint_eq(error_last_hour(port, ERR_LOCAL_INTEGRITY, START + 2 * S), 16);
	ck_assert_uint_eq(port->stopped, 1u << ERR_LOCAL_INTEGRITY);
	/* a device that keeps it anyway is not asked again, and nothing is counted twice */
	error_take_reset(book, port, narrow, &zero, 1u << ERR_LOCAL_INTEGRITY, START + 2 * S);
	take(narrow, ERR_LOCAL_INTEGRITY, 12, START + 3 * S);
	more.n[ERR_LOCAL_INTEGRITY] = 13;
	ck_assert_uint_eq(error_take_reset(book, port, narrow, &more, 1u << ERR_LOCAL_INTEGRITY, START + 3 * S), 0);
	ck_assert_uint_eq(error_total(port, ERR_LOCAL_INTEGRITY), 40);
	take(narrow, ERR_LOCAL_INTEGRITY, 14, START + 4 * S);
	ck_assert_uint_eq(error_total(port, ERR_LOCAL_INTEGRITY), 41);
	ck_assert_uint_eq(error_nearly_full(port, narrow), 0);
	/* until somebody resets it */
	take(narrow, ERR_LOCAL_INTEGRITY, 0, START + 5 * S);
	take(narrow, ERR_LOCAL_INTEGRITY, 13, START + 6 * S);
	ck_assert_uint_eq(error_nearly_full(port, narrow), 1u << ERR_LOCAL_INTEGRITY);
	take(wide, ERR_SYMBOL, 1ull << 60, START + 7 * S);
	ck_assert_uint_eq(error_nearly_full(port, wide), 0);
}
END_TEST

/* promise: C4 */
START_TEST(limits)
{
	take(wide, ERR_SYMBOL, 0, START);
	take(wide, ERR_SYMBOL, 10, START + S);
	ck_assert_uint_eq(port->over, 0);
	take(wide, ERR_SYMBOL, 11, START + 2 * S);
	ck_assert_uint_eq(port->over, 1u << ERR_SYMBOL);
	ck_assert_int_eq(port->history[ERR_SYMBOL]->over_since_us, START + 2 * S);
	ck_assert_double_eq_tol(error_excess(book, port, START + 2 * S), 1.1, 0.001);
	take(wide, ERR_SYMBOL, 12, START + 3 * S);
	ck_assert_int_eq(port->history[ERR_SYMBOL]->over_since_us, START + 2 * S);
	error_age(book, port, START + 3599 * S);
	ck_assert_uint_eq(port->over, 1u << ERR_SYMBOL);
	error_age(book, port, START + 3600 * S);
	ck_assert_uint_eq(port->over, 0);
	ck_assert_int_eq(port->history[ERR_SYMBOL]->over_since_us, 0);
}
END_TEST

/* promise: C4 */
START_TEST(counters_without_a_limit)
{
	take(wide, ERR_XMIT_WAIT, 0, START);
	take(wide, ERR_XMIT_WAIT, 1ull << 40, START + S);
	ck_assert_uint_eq(port->over, 0);
	ck_assert_uint_eq(error_total(port, ERR_XMIT_WAIT), 1ull << 40);
	ck_assert_uint_eq(error_last_hour(port, ERR_XMIT_WAIT, START + S), UINT32_MAX);	/* at least */
}
END_TEST

/* promise: C3 */
START_TEST(cleared)
{
	take(wide, ERR_SYMBOL, 5, START);
	take(wide, ERR_SYMBOL, 50, START + S);
	error_was_cleared(port);
	take(wide, ERR_SYMBOL, 0, START + 2 * S);
	ck_assert_uint_eq(port->over, 0);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 0);
	take(wide, ERR_SYMBOL, 2, START + 3 * S);
	ck_assert_uint_eq(error_total(port, ERR_SYMBOL), 2);
	ck_assert_uint_eq(error_seen(port, ERR_SYMBOL), 2);
}
END_TEST

/* promise: C3 */
START_TEST(nodes_that_are_gone)
{
	take(wide, ERR_SYMBOL, 5, START);
	error_node(book, 0x20, 1)->seen = true;
	error_port(error_node(book, 0x20, 1), 1)->read_us = START - 100000 * S;
	error_book_prune(book, START + 3599 * S);
	ck_assert_ptr_eq(error_find(book, 0x10, 1), port);	/* absent, but read within the hour */
	error_book_prune(book, START + 3600 * S);
	ck_assert_ptr_null(error_find(book, 0x10, 1));
	ck_assert_ptr_nonnull(error_find(book, 0x20, 1));
	ck_assert_ptr_null(error_find(book, 0x20, 2));
	error_book_unmark(book);
	error_book_prune(book, START);
	ck_assert_ptr_null(error_find(book, 0x20, 1));
	for (unsigned i = 0; i < ERROR_ABSENT_MAX + 10; i++)
		error_port(error_node(book, 0x100 + i, 1), 1)->read_us = START;
	error_book_prune(book, START);
	ck_assert_ptr_null(error_find(book, 0x100, 1));
	ck_assert_ptr_nonnull(error_find(book, 0x100 + ERROR_ABSENT_MAX, 1));
	/* another device with the GUID, or a switch that has grown */
	ck_assert_ptr_nonnull(error_find(book, 0x101 + ERROR_ABSENT_MAX, 1));
	error_node(book, 0x101 + ERROR_ABSENT_MAX, 36);
	ck_assert_ptr_null(error_find(book, 0x101 + ERROR_ABSENT_MAX, 1));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("error_book");
	TCase *t = tcase_create("mads"), *k = tcase_create("book");

	tcase_add_test(t, capabilities);
	tcase_add_test(t, narrow_counters);
	tcase_add_test(t, wide_counters);
	tcase_add_test(t, resets);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(k, setup, teardown);
	tcase_add_test(k, totals_and_the_hour);
	tcase_add_test(k, each_slice_of_an_hour);
	tcase_add_test(k, reset_by_somebody);
	tcase_add_test(k, nearly_full);
	tcase_add_test(k, limits);
	tcase_add_test(k, counters_without_a_limit);
	tcase_add_test(k, cleared);
	tcase_add_test(k, nodes_that_are_gone);
	suite_add_tcase(s, k);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
