/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the clock page: time that runs, stops and jumps, and which wait ends first. */
/* promise: V8 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/clock/clock_page.h"
#include "unit/run.h"

static struct sim_clock *c;
static int64_t woken[SIM_CLOCK_SLOTS];

static void setup(void)
{
	c = calloc(1, sizeof(*c));
	memset(woken, 0, sizeof(woken));
}

static void teardown(void)
{
	free(c);
}

static int64_t machine;		/* CLOCK_MONOTONIC; the others are 1000 and 2000 ahead */

static struct machine_time read_machine(void)
{
	return (struct machine_time){ { machine, machine + 1000, machine + 2000 } };
}

static int64_t now_at(int64_t ns)
{
	machine = ns;
	return clock_page_now(c, read_machine().ns[SIM_CLOCK_MONO]);
}

static void go_at(int64_t ns)
{
	machine = ns;
	clock_page_go(c, read_machine().ns[SIM_CLOCK_MONO]);
}

START_TEST(time_goes_as_the_machines)
{
	ck_assert_int_eq(now_at(5000), 5000);
	ck_assert(!sim_clock_stands(atomic_load(&c->word)));
}
END_TEST

START_TEST(time_stands_moves_and_goes_on_from_there)
{
	machine = 5000;
	clock_page_stop(c, read_machine);
	ck_assert_int_eq(now_at(9000), 5000);
	ck_assert_int_eq(atomic_load(&c->ahead_ns[SIM_CLOCK_REAL]), 1000);
	ck_assert_int_eq(atomic_load(&c->ahead_ns[SIM_CLOCK_BOOT]), 2000);
	clock_page_move(c, 70000);
	ck_assert_int_eq(now_at(9500), 70000);
	go_at(10000);
	ck_assert_int_eq(now_at(10001), 70001);
	/* and a second time */
	machine = 11000;
	clock_page_stop(c, read_machine);
	ck_assert_int_eq(now_at(50000), 71000);
	go_at(50000);
	ck_assert_int_eq(now_at(50000), 71000);
}
END_TEST

START_TEST(time_never_goes_back)
{
	machine = 5000;
	clock_page_stop(c, read_machine);
	clock_page_move(c, 4000);
	ck_assert_int_eq(now_at(6000), 5000);
	go_at(6000);
	clock_page_move(c, 90000);	/* running time cannot be moved */
	ck_assert_int_eq(now_at(6000), 5000);
}
END_TEST

static void set_slot(int i, int32_t pid, int64_t deadline_ns)
{
	atomic_store(&c->slots[i].pid, pid);
	atomic_store(&c->slots[i].deadline_ns, deadline_ns);
	if (atomic_load(&c->n_slots) <= (uint32_t)i)
		atomic_store(&c->n_slots, (uint32_t)i + 1);
}

static void assert_first(int slot, int64_t deadline_ns)
{
	int64_t found = 0;

	ck_assert_int_eq(clock_page_first(c, woken, &found), slot);
	if (slot >= 0)
		ck_assert_int_eq(found, deadline_ns);
}

START_TEST(the_first_wait_is_found_once)
{
	assert_first(-1, 0);
	set_slot(1, 100, 0);		/* it does not wait */
	set_slot(3, 100, 800);
	set_slot(4, 200, 500);
	set_slot(9, 200, 500);
	set_slot(5, 0, 100);		/* nobody's */
	assert_first(4, 500);
	woken[4] = 500;
	assert_first(9, 500);
	woken[9] = 500;
	assert_first(3, 800);
	set_slot(4, 200, 600);		/* it waits again */
	assert_first(4, 600);
}
END_TEST

START_TEST(a_process_that_is_gone_has_no_slots)
{
	set_slot(3, 100, 800);
	set_slot(4, 200, 900);
	clock_page_forget(c, 100);
	assert_first(4, 900);
	ck_assert_int_eq(atomic_load(&c->slots[3].pid), 0);
	ck_assert_int_eq(atomic_load(&c->slots[4].pid), 200);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock page");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, time_goes_as_the_machines);
	tcase_add_test(t, time_stands_moves_and_goes_on_from_there);
	tcase_add_test(t, time_never_goes_back);
	tcase_add_test(t, the_first_wait_is_found_once);
	tcase_add_test(t, a_process_that_is_gone_has_no_slots);
	suite_add_tcase(s, t);
	return run_suite(s);
}
