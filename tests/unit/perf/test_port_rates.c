/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the rates of a port's counters: what two reads tell, and that a counter that stopped or was reset tells nothing.
 *
 * promise: W3
 */
#include <check.h>

#include "perf/port_rates.h"
#include "unit/run.h"

#define S INT64_C(1000000)

static struct port_rates x;

START_TEST(between_two_reads)
{
	x = (struct port_rates){ 0 };
	ck_assert(port_rate(NULL, RATE_SENT, 0) < 0);
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
	port_rate_take(&x, RATE_SENT, 1000, 64, 10 * S);
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
	port_rate_take(&x, RATE_SENT, 3000, 64, 14 * S);
	ck_assert_float_eq_tol(port_rate(&x, RATE_SENT, 14 * S), 2000, 0.1f);	/* 4 bytes each in 4 s */
	ck_assert(port_rate(&x, RATE_SENT, 14 * S + 1) < 0);			/* not read since */
	ck_assert(port_rate(&x, RATE_RECEIVED, 0) < 0);
	port_rate_take(&x, RATE_WAITED, 0, 32, 10 * S);
	port_rate_take(&x, RATE_WAITED, 50, 32, 15 * S);
	ck_assert_float_eq_tol(port_rate(&x, RATE_WAITED, 0), 10, 0.01f);	/* ticks, not words */
}
END_TEST

START_TEST(what_is_not_known)
{
	x = (struct port_rates){ 0 };
	port_rate_take(&x, RATE_SENT, 1000, 32, 10 * S);
	port_rate_take(&x, RATE_SENT, UINT32_MAX, 32, 11 * S);			/* stopped in between */
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
	port_rate_take(&x, RATE_SENT, UINT32_MAX, 32, 12 * S);			/* and stays so */
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
	port_rate_take(&x, RATE_SENT, 100, 32, 13 * S);				/* somebody reset it */
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
	port_rate_take(&x, RATE_SENT, 100, 32, 14 * S);
	ck_assert_float_eq(port_rate(&x, RATE_SENT, 0), 0);			/* known to be idle */
	port_rate_restart(&x, RATE_SENT, 0, 15 * S);
	ck_assert_float_eq(port_rate(&x, RATE_SENT, 0), 0);			/* what was measured before stays */
	port_rate_restart(&x, RATE_WAITED, 0, 15 * S);
	ck_assert(port_rate(&x, RATE_WAITED, 0) < 0);				/* nothing was */
	port_rate_take(&x, RATE_SENT, 25, 32, 16 * S);
	ck_assert_float_eq_tol(port_rate(&x, RATE_SENT, 0), 100, 0.1f);
	port_rate_take(&x, RATE_SENT, 50, 32, 16 * S);				/* no time has passed */
	ck_assert(port_rate(&x, RATE_SENT, 0) < 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("port_rates");
	TCase *k = tcase_create("port_rates");

	tcase_add_test(k, between_two_reads);
	tcase_add_test(k, what_is_not_known);
	suite_add_tcase(s, k);
	return run_suite(s);
}
