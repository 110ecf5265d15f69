/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how many registrations each port holds, and may hold. */
#include <check.h>

#include "lib/base/alloc.h"
#include "sa/registry/holdings.h"
#include "unit/run.h"

static struct holdings *h;

static void setup(void)
{
	h = holdings_new();
}

static void teardown(void)
{
	holdings_free(h);
}

/* Makes n requests of a port; returns how many are granted. */
static unsigned ask(uint64_t port, unsigned n)
{
	unsigned granted = 0;

	for (unsigned i = 0; i < n; i++)
		if (holdings_ask(h, HOLD_SERVICES, port)) {
			holdings_add(h, HOLD_SERVICES, port, 1);
			granted++;
		}
	return granted;
}

START_TEST(counted_by_port_and_kind)
{
	holdings_add(h, HOLD_GROUPS, 1, 1);
	holdings_add(h, HOLD_GROUPS, 2, 3);
	holdings_add(h, HOLD_ALIASES, 0, 1);
	ck_assert_uint_eq(holdings_total(h, HOLD_GROUPS), 4);
	ck_assert_uint_eq(holdings_of(h, HOLD_GROUPS, 2), 3);
	ck_assert_uint_eq(holdings_of(h, HOLD_ALIASES, 2), 0);
	ck_assert_uint_eq(holdings_of(h, HOLD_ALIASES, 0), 1);
	holdings_add(h, HOLD_GROUPS, 2, -3);
	ck_assert(holding_is_empty(holdings_find(h, 2)));
	ck_assert_ptr_null(holdings_find(h, 3));
	ck_assert_uint_eq(holdings_total(h, HOLD_GROUPS), 1);
}
END_TEST

/* promise: A30 */
START_TEST(of_one_port)
{
	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 1000, 10 });
	ck_assert_uint_eq(ask(1, 12), 10);
	ck_assert_uint_eq(ask(2, 5), 5);
	ck_assert_uint_eq(holdings_refused(h, HOLD_SERVICES), 2);
	ck_assert_uint_eq(holdings_find(h, 1)->refused[HOLD_SERVICES], 2);
	holdings_add(h, HOLD_SERVICES, 1, -1);
	ck_assert_uint_eq(ask(1, 12), 1);
}
END_TEST

/* promise: A30 A92 */
START_TEST(greedy_ports_leave_room_for_others)
{
	unsigned granted = 0, newcomers = 0;

	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 1600, 160 });
	for (uint64_t port = 1; port <= 100; port++)
		granted += ask(port, 160);
	/* eight ports reach their limit, one gets the rest of what is not reserved for newcomers … */
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 8), 160);
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 9), 120);
	/* … and each other port as much as a newcomer */
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 10), 10);
	for (uint64_t port = 1000; port < 1020; port++)
		newcomers += ask(port, 2);
	/* … until nothing is left; but every port got something */
	ck_assert_uint_eq(holdings_of(h, HOLD_SERVICES, 30), 1);
	ck_assert_uint_eq(granted, 1600 + 71);
	ck_assert_uint_eq(newcomers, 20);
	/* with a realistic number of greedy ports, every newcomer is served */
	for (uint64_t port = 10; port <= 100; port++)
		holdings_add(h, HOLD_SERVICES, port,
			     -(int)holdings_of(h, HOLD_SERVICES, port));
	for (uint64_t port = 1000; port < 1020; port++)
		holdings_add(h, HOLD_SERVICES, port, -1);
	ck_assert_uint_eq(ask(9, 160), 0);
	for (uint64_t port = 1000; port < 1020; port++)
		ck_assert_uint_eq(ask(port, 10), 10);
	ck_assert_uint_eq(holdings_total(h, HOLD_SERVICES), 1600);
}
END_TEST

/* There are only so many of them: the last sixteenth is for ports that hold none. */
/* promise: A92 */
START_TEST(what_cannot_grow)
{
	unsigned granted = 0, firsts = 0;

	holdings_set_bound(h, HOLD_MLIDS, (struct hold_bound){ 1600, 160 });
	for (uint64_t port = 1; port <= 60; port++)
		for (unsigned i = 0; i < 160 && holdings_ask(h, HOLD_MLIDS, port); i++) {
			holdings_add(h, HOLD_MLIDS, port, 1);
			granted++;
		}
	/* 1400 of the greedy, 10 for each newcomer, and then one for each */
	ck_assert_uint_eq(holdings_of(h, HOLD_MLIDS, 19), 10);
	ck_assert_uint_eq(holdings_of(h, HOLD_MLIDS, 20), 1);
	ck_assert_uint_eq(granted, 1500 + 41);
	for (uint64_t port = 1000; port < 1100; port++)
		if (holdings_ask(h, HOLD_MLIDS, port)) {
			holdings_add(h, HOLD_MLIDS, port, 1);
			firsts++;
		}
	ck_assert_uint_eq(firsts, 59);
}
END_TEST

/* promise: A92 */
START_TEST(first_entries_are_bounded)
{
	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 16, 8 });
	holdings_add(h, HOLD_SERVICES, 1, 16 + HOLD_FIRSTS_MAX - 1);
	ck_assert_uint_eq(ask(2, 5), 1);
	ck_assert_uint_eq(ask(3, 5), 0);
}
END_TEST

/* Limits so low that an eighth, or a sixteenth, is 0. */
START_TEST(low_bounds)
{
	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 4, 2 });
	ck_assert_uint_eq(ask(1, 9), 2);
	ck_assert_uint_eq(ask(2, 9), 2);
	ck_assert_uint_eq(ask(3, 9), 1);
	holdings_set_bound(h, HOLD_SERVICES, (struct hold_bound){ 0, 0 });
	ck_assert_uint_eq(ask(4, 1), 0);
}
END_TEST

/* promise: D111 */
START_TEST(ports_come_and_go)
{
	for (uint64_t port = 1; port < 100000; port++) {
		holdings_add(h, HOLD_GROUPS, port, 1);
		if (port > 10)
			holdings_add(h, HOLD_GROUPS, port, -1);
	}
	ck_assert_uint_eq(holdings_total(h, HOLD_GROUPS), 10);
	ck_assert_uint_lt(holdings_count(h), 4000);
	for (uint64_t port = 1; port <= 10; port++)
		ck_assert_uint_eq(holdings_of(h, HOLD_GROUPS, port), 1);
}
END_TEST

START_TEST(gone)
{
	holdings_set_gone(h, 5, 77);
	ck_assert_ptr_null(holdings_find(h, 5));
	holdings_add(h, HOLD_GROUPS, 5, 1);
	holdings_set_gone(h, 5, 77);
	ck_assert_int_eq(holdings_find(h, 5)->gone_us, 77);
	holdings_add(h, HOLD_GROUPS, 5, -1);
	ck_assert_msg(!holdings_find(h, 5)->gone_us, "what has nothing is not missed");
}
END_TEST

START_TEST(none_counts_nothing)
{
	holdings_add(NULL, HOLD_GROUPS, 1, 1);
	ck_assert(holdings_ask(NULL, HOLD_GROUPS, 1));
	ck_assert_uint_eq(holdings_total(NULL, HOLD_GROUPS), 0);
	ck_assert_uint_eq(holdings_count(NULL), 0);
	ck_assert_ptr_null(holdings_find(NULL, 1));
	holdings_set_gone(NULL, 1, 1);
	holdings_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("holdings");
	TCase *t = tcase_create("holdings");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, counted_by_port_and_kind);
	tcase_add_test(t, of_one_port);
	tcase_add_test(t, greedy_ports_leave_room_for_others);
	tcase_add_test(t, what_cannot_grow);
	tcase_add_test(t, first_entries_are_bounded);
	tcase_add_test(t, low_bounds);
	tcase_add_test(t, ports_come_and_go);
	tcase_add_test(t, gone);
	tcase_add_test(t, none_counts_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
