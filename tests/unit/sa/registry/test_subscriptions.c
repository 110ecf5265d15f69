/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests subscriptions: order, duplicates, numbers, limits.
 *
 * promise: N2
 */
#include <check.h>

#include "changes.h"
#include "sa/registry/holdings.h"
#include "sa/registry/subscriptions.h"
#include "unit/run.h"

static struct subscriptions *db;

static void setup(void)
{
	changes = 0;
	db = subscriptions_new(on_change, NULL);
}

static void teardown(void)
{
	subscriptions_free(db);
}

static struct subscription to_trap(uint16_t trap)
{
	return (struct subscription){
		.what = { .lid_first = INFORM_ALL_LIDS, .generic = true, .type = INFORM_ALL_TYPES,
			  .number = trap, .producer = INFORM_ALL_PRODUCERS },
		.number = SUBSCRIPTION_ANY, .resp_time = 16,
	};
}

static bool add(uint64_t guid, uint32_t qpn, uint16_t trap)
{
	struct subscription s = to_trap(trap);

	return subscriptions_add(db, guid, qpn, &s);
}

static bool cancel(uint64_t guid, uint32_t qpn, uint16_t trap)
{
	struct subscription s = to_trap(trap);

	return subscriptions_remove(db, guid, qpn, &s.what);
}

START_TEST(subscribers_in_order)
{
	const struct subscriber *s;

	ck_assert(add(2, 1, 64) && add(1, 7, 64) && add(1, 3, 64) && add(1, 3, 65));
	ck_assert_uint_eq(subscriptions_count(db), 4);
	s = subscriber_from(db, 0, 0, false);
	ck_assert(s->guid == 1 && s->qpn == 3 && s->list.n == 2);
	s = subscriber_from(db, 1, 3, true);
	ck_assert(s->guid == 1 && s->qpn == 7);
	ck_assert_ptr_eq(subscriber_from(db, 1, 7, false), s);
	s = subscriber_from(db, 1, 7, true);
	ck_assert(s->guid == 2);
	ck_assert_ptr_null(subscriber_from(db, 2, 1, true));
	ck_assert_ptr_null(subscriber_find(db, 1, 4));
	ck_assert_ptr_null(subscriber_find(db, 3, 1));
}
END_TEST

START_TEST(the_same_once_more)
{
	struct subscription s = to_trap(64);

	ck_assert(subscriptions_add(db, 1, 1, &s));
	subscriber_find(db, 1, 1)->unanswered = 2;
	ck_assert(subscriptions_add(db, 1, 1, &s));
	ck_assert_uint_eq(changes, 1);
	ck_assert_uint_eq(subscriptions_count(db), 1);
	ck_assert_msg(!subscriber_find(db, 1, 1)->unanswered, "who subscribes is alive");
	s.resp_time = 20;
	s.trusted = true;
	ck_assert(subscriptions_add(db, 1, 1, &s));
	s.trusted = false;
	ck_assert(subscriptions_add(db, 1, 1, &s));
	ck_assert_uint_eq(changes, 2);
	ck_assert_uint_eq(subscriptions_count(db), 1);
	const struct subscription *kept = subscription_find(subscriber_find(db, 1, 1), &s.what);
	ck_assert(kept->resp_time == 20 && kept->trusted);
}
END_TEST

/* Each field makes another one of it. */
START_TEST(what_tells_two_apart)
{
	for (unsigned i = 0; i < 8; i++) {
		struct subscription s = to_trap(64);

		switch (i) {
		case 0: s.what.gid[15] = 1; break;
		case 1: s.what.lid_first = 1; break;
		case 2: s.what.lid_last = 1; break;
		case 3: s.what.generic = false; break;
		case 4: s.what.type = 1; break;
		case 5: s.what.number = 65; break;
		case 6: s.what.producer = 1; break;
		}
		ck_assert(subscriptions_add(db, 1, 1, &s));
		ck_assert_uint_eq(subscriptions_count(db), i + 1);
	}
}
END_TEST

START_TEST(numbers_are_the_ports_own)
{
	struct subscription s = to_trap(99);

	add(1, 1, 64);
	add(1, 2, 64);
	add(1, 1, 65);
	add(2, 1, 64);
	ck_assert_uint_eq(subscriber_find(db, 1, 1)->list.v[0].number, 0);
	ck_assert_uint_eq(subscriber_find(db, 1, 2)->list.v[0].number, 1);
	ck_assert_uint_eq(subscriber_find(db, 1, 1)->list.v[1].number, 2);
	ck_assert_uint_eq(subscriber_find(db, 2, 1)->list.v[0].number, 0);
	ck_assert(cancel(1, 1, 64));
	ck_assert(add(1, 3, 64));
	ck_assert_uint_eq(subscriber_find(db, 1, 3)->list.v[0].number, 0);
	s.number = 2;
	ck_assert_msg(!subscriptions_add(db, 1, 1, &s), "taken");
	s.number = 7;
	ck_assert(subscriptions_add(db, 1, 1, &s));
	ck_assert_uint_eq(subscription_find(subscriber_find(db, 1, 1), &s.what)->number, 7);
}
END_TEST

START_TEST(removed)
{
	add(1, 1, 64);
	add(1, 1, 65);
	add(1, 1, 66);
	ck_assert(cancel(1, 1, 65));
	ck_assert(!cancel(1, 1, 65) && !cancel(1, 2, 64) && !cancel(2, 1, 64));
	ck_assert_uint_eq(subscriber_find(db, 1, 1)->list.v[0].what.number, 64);
	ck_assert_uint_eq(subscriber_find(db, 1, 1)->list.v[1].what.number, 66);
	ck_assert(cancel(1, 1, 64) && cancel(1, 1, 66));
	ck_assert_ptr_null(subscriber_find(db, 1, 1));
	add(1, 1, 64);
	add(1, 1, 65);
	add(1, 2, 64);
	subscriptions_drop(db, 1, 1);
	subscriptions_drop(db, 1, 1);
	ck_assert_uint_eq(subscriptions_count(db), 1);
	ck_assert_ptr_nonnull(subscriber_find(db, 1, 2));
}
END_TEST

START_TEST(ports_hold_subscriptions)
{
	struct holdings *h = holdings_new();
	struct inform what = to_trap(999).what, first = to_trap(0).what;

	add(1, 0, 1);
	subscriptions_hold(db, h);
	holdings_set_bound(h, HOLD_SUBSCRIPTIONS, (struct hold_bound){ 100, 300 });
	for (unsigned i = 0; i < 300; i++)
		ck_assert(add(1, i % 3, (uint16_t)i));
	ck_assert_uint_eq(holdings_of(h, HOLD_SUBSCRIPTIONS, 1), subscriptions_count(db));
	ck_assert(!subscriptions_room(db, 1, 0, &what));
	ck_assert(subscriptions_room(db, 1, 0, &first));
	ck_assert_msg(add(1, 0, 999), "bounds are for requests, not for what was there before");
	ck_assert(cancel(1, 0, 999));
	subscriptions_drop(db, 1, 0);
	ck_assert_uint_eq(holdings_of(h, HOLD_SUBSCRIPTIONS, 1), subscriptions_count(db));
	subscriptions_drop(db, 1, 1);
	subscriptions_drop(db, 1, 2);
	ck_assert_uint_eq(holdings_total(h, HOLD_SUBSCRIPTIONS), 0);
	subscriptions_hold(db, NULL);
	holdings_free(h);
}
END_TEST

START_TEST(none_is_empty)
{
	struct subscription s = to_trap(64);

	ck_assert(!subscriptions_add(NULL, 1, 1, &s));
	ck_assert(!subscriptions_remove(NULL, 1, 1, &s.what));
	ck_assert_ptr_null(subscriber_from(NULL, 0, 0, false));
	ck_assert_uint_eq(subscriptions_count(NULL), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("subscriptions");
	TCase *t = tcase_create("subscriptions");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, subscribers_in_order);
	tcase_add_test(t, the_same_once_more);
	tcase_add_test(t, what_tells_two_apart);
	tcase_add_test(t, numbers_are_the_ports_own);
	tcase_add_test(t, removed);
	tcase_add_test(t, ports_hold_subscriptions);
	tcase_add_test(t, none_is_empty);
	suite_add_tcase(s, t);
	return run_suite(s);
}
