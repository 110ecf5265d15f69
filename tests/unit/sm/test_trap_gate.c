/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how many traps of one source are accepted beside others, and the reports of floods. */
#include <check.h>

#include "sm/traps/trap_gate.h"
#include "unit/run.h"

#define SECOND 1000000ll

static struct trap_gate *gate;

static void setup(void)
{
	gate = trap_gate_new();
}

static void teardown(void)
{
	trap_gate_free(gate);
}

static bool take(uint64_t source, unsigned asks, int64_t now)
{
	return trap_gate_take(gate, source, asks, 0, now);
}

/* Takes all probes that are due now; returns how many. */
static unsigned looks(int64_t now)
{
	unsigned n = 0, asks;
	uint64_t source;

	while (trap_gate_due(gate, now, &source, &asks))
		n++;
	return n;
}

/* promise: F6 */
START_TEST(some_at_once_and_then_so_many_a_second)
{
	unsigned taken = 0, due = 0;

	for (int64_t t = 0; t < 60 * SECOND; t += 1000) {
		due += looks(t);
		taken += take(7, TRAP_LOOK, t);
	}
	ck_assert_uint_ge(taken + due, TRAP_BURST + 60 * SECOND / TRAP_LOOK_US - 2);
	ck_assert_uint_le(taken + due, TRAP_BURST + 60 * SECOND / TRAP_LOOK_US);
	ck_assert_uint_eq(trap_gate_dropped(gate), 60000 - taken);
	/* a source with at most one trap a second is never refused */
	for (int64_t t = 100 * SECOND; t < 400 * SECOND; t += SECOND)
		ck_assert(take(7, TRAP_LOOK, t));
}
END_TEST

/* promise: F6 */
START_TEST(the_last_of_a_flood_is_served)
{
	uint64_t source;
	unsigned asks;
	int64_t next;

	for (unsigned i = 0; i < 100; i++)
		take(7, i == 99 ? TRAP_LOOK | TRAP_NAME : TRAP_LOOK, 5);
	ck_assert(!trap_gate_due(gate, 5, &source, &asks));
	next = trap_gate_next(gate, 5);
	ck_assert_int_eq(next, 5 + TRAP_LOOK_US);
	ck_assert(!trap_gate_due(gate, next - 1, &source, &asks));
	ck_assert(trap_gate_due(gate, next, &source, &asks));
	ck_assert_uint_eq(source, 7);
	ck_assert_uint_eq(asks, TRAP_LOOK | TRAP_NAME);
	ck_assert_uint_eq(looks(next + 100 * SECOND), 0);	/* one for all of them */
}
END_TEST

START_TEST(a_look_of_its_own_serves_it_too)
{
	for (unsigned i = 0; i < 100; i++)
		take(7, TRAP_LOOK, 5);
	ck_assert(take(7, TRAP_LOOK, SECOND));
	ck_assert_uint_eq(looks(50 * SECOND), 0);
	/* but not if a discovery or a name was due */
	for (unsigned i = 0; i < 100; i++)
		take(8, TRAP_ALL, 5);
	ck_assert(take(8, TRAP_LOOK, 2 * SECOND));
	ck_assert_uint_eq(looks(50 * SECOND), 1);
}
END_TEST

/* promise: F6 */
START_TEST(others_are_heard)
{
	for (unsigned i = 0; i < 10000; i++)
		take(7, TRAP_LOOK, i);
	for (uint64_t source = 100; source < 300; source++)
		ck_assert(take(source, TRAP_LOOK, 20000));
	/* accepted sources do not block further ones, and the flood stays recorded */
	for (uint64_t source = 1000; source < 40000; source++)
		ck_assert(take(source, TRAP_LOOK, 30000 + (int64_t)source * 500));
	ck_assert(!take(7, TRAP_ALL, 70000));
}
END_TEST

/* promise: A23 */
START_TEST(strangers_share_and_pay_for_discoveries)
{
	unsigned taken = 0, due = 0;

	for (int64_t t = 0; t < 60 * SECOND; t += 1000) {
		due += looks(t);
		taken += take(0, TRAP_ALL, t);
	}
	ck_assert_uint_le(taken + due, TRAP_ALL_BURST + 60 * SECOND / TRAP_ALL_US);
	ck_assert_uint_ge(taken + due, TRAP_ALL_BURST + 60 * SECOND / TRAP_ALL_US - 2);
}
END_TEST

/* Thousands of sources that request a discovery cause no more than one source does, and each is served. */
/* promise: A23 */
START_TEST(discoveries_are_for_all)
{
	unsigned taken = 0, due = 0;

	for (int64_t t = 0; t < 60 * SECOND; t += 1000) {
		due += looks(t);
		taken += take(1 + (uint64_t)t / 1000 % 3000, TRAP_ALL, t);
	}
	ck_assert_uint_le(taken + due, TRAP_ALL_BURST + 60 * SECOND / TRAP_ALL_US);
	ck_assert_uint_ge(taken + due, 5);
	/* the last sources get one together */
	ck_assert_uint_eq(looks(200 * SECOND), 1);
	/* and no other source is refused because of it */
	ck_assert(take(9999, TRAP_LOOK, 60 * SECOND));
}
END_TEST

/* promise: F6 */
START_TEST(more_floods_than_places)
{
	unsigned looked = 0, asks;
	bool all = false;
	uint64_t source;

	for (unsigned round = 0; round < 40; round++)
		for (uint64_t s = 1; s <= 20000; s++)
			take(s, TRAP_LOOK, round);
	for (int64_t t = 0; t < 20 * SECOND; t += 100000)
		while (trap_gate_due(gate, t, &source, &asks)) {
			looked++;
			all |= source == 0 && asks & TRAP_ALL;
		}
	/* a source without an entry of its own is served by a discovery */
	ck_assert(all);
	ck_assert_uint_le(looked, 20000);
}
END_TEST

START_TEST(told_once)
{
	struct trap_flood f;
	unsigned told = 0;

	for (int64_t t = 0; t < 30 * SECOND; t += 10000) {
		trap_gate_take(gate, 7, 0, 3, t);
		while (trap_gate_tell(gate, t, &f)) {
			told++;
			ck_assert_uint_eq(f.source, 7);
			ck_assert_uint_eq(f.port, 3);
			ck_assert_uint_eq(f.traps, 1001);
			ck_assert_uint_gt(f.dropped, 900);
			ck_assert_int_eq(f.us, 10 * SECOND);
		}
	}
	ck_assert_uint_eq(told, 1);
	ck_assert(trap_gate_flood(gate, 0, 30 * SECOND, &f));
	ck_assert(!trap_gate_flood(gate, 1, 30 * SECOND, &f));
	ck_assert_int_eq(trap_gate_next(gate, 30 * SECOND), INT64_MAX);
	ck_assert(!trap_gate_flood(gate, 0, 50 * SECOND, &f));	/* it is over */
	/* the next flood is a new one; it is short, and reported at its end */
	for (unsigned i = 0; i < 40; i++)
		take(7, 0, 60 * SECOND);
	ck_assert(!trap_gate_tell(gate, 61 * SECOND, &f));
	ck_assert_int_eq(trap_gate_next(gate, 61 * SECOND), 68 * SECOND);
	ck_assert(trap_gate_tell(gate, 68 * SECOND, &f));
	ck_assert_uint_eq(f.traps, 40);
	ck_assert_uint_eq(f.dropped, 40 - TRAP_BURST);
	/* a few excess traps are not a flood */
	for (unsigned i = 0; i < TRAP_BURST + TRAP_FLOOD - 1; i++)
		take(7, 0, 100 * SECOND);
	ck_assert(!trap_gate_tell(gate, 200 * SECOND, &f));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trap_gate");
	TCase *t = tcase_create("trap_gate");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, some_at_once_and_then_so_many_a_second);
	tcase_add_test(t, the_last_of_a_flood_is_served);
	tcase_add_test(t, a_look_of_its_own_serves_it_too);
	tcase_add_test(t, others_are_heard);
	tcase_add_test(t, strangers_share_and_pay_for_discoveries);
	tcase_add_test(t, discoveries_are_for_all);
	tcase_add_test(t, more_floods_than_places);
	tcase_add_test(t, told_once);
	suite_add_tcase(s, t);
	return run_suite(s);
}
