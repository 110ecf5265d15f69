/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the order of steps in each kind of sweep, as it is shown: which step must come before which,
 * independent of edits of the table.
 *
 * promise: F21
 */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "sm/sm_internal.h"
#include "unit/run.h"

static struct sm sm;

/* The position of a step in a kind of sweep, or -1. */
static int place(enum sweep_kind kind, const char *name)
{
	struct sm_sweep_step s;

	for (unsigned i = 0; sm_sweep_step(NULL, kind - 1, i, &s); i++)
		if (!strcmp(s.name, name))
			return (int)i;
	return -1;
}

/* The first step must exist and, if the second exists, come before it. */
static void before(enum sweep_kind kind, const char *first, const char *second)
{
	int a = place(kind, first), b = place(kind, second);

	ck_assert_msg(a >= 0 && (b < 0 || a < b), "%s: %s (%d) is not before %s (%d)",
		      sweep_kinds[kind].name, first, a, second, b);
}

START_TEST(every_kind_is_shown)
{
	struct sm_sweep_step s;

	for (enum sweep_kind kind = SWEEP_NONE + 1; kind < SWEEP_KINDS; kind++) {
		ck_assert(sm_sweep_step(NULL, kind - 1, 0, &s));
		ck_assert_str_eq(s.kind, sweep_kinds[kind].name);
		for (unsigned i = 0; sm_sweep_step(NULL, kind - 1, i, &s); i++) {
			ck_assert(*s.name && *s.what);
			ck_assert_str_ne(s.phase, "idle");
			ck_assert(!s.current && !s.runs);
			ck_assert_int_eq(place(kind, s.name), (int)i);	/* once */
		}
	}
	ck_assert(!sm_sweep_step(NULL, SWEEP_KINDS - 1, 0, &s));
}
END_TEST

START_TEST(a_standby_sweep_writes_nothing)
{
	static const char *const writes[] = {
		"elect", "own-keys", "ports", "more-vls", "tables", "activate", "fewer-vls", "routes",
		"publish", "announce",
	};

	for (size_t i = 0; i < ARRAY_SIZE(writes); i++)
		ck_assert_int_lt(place(SWEEP_STANDBY, writes[i]), 0);
	before(SWEEP_STANDBY, "plan", "keep-copy");
	before(SWEEP_STANDBY, "paths", "keep-copy");
}
END_TEST

START_TEST(what_writes_comes_in_order)
{
	static const enum sweep_kind kinds[] = { SWEEP_POLICY, SWEEP_LOCAL, SWEEP_CHANGE, SWEEP_FULL };
	static const char *const order[] = {
		"plan", "read", "coming", "own-keys", "ports", "more-vls", "judge", "tables", "activate",
		"routes", "publish", "announce", "settle", "tell",
	};

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t i = 1; i < ARRAY_SIZE(order); i++)
			before(kinds[k], order[i - 1], order[i]);
		before(kinds[k], "paths", "follow");
		before(kinds[k], "follow", "publish");
	}
	/* only the master writes */
	before(SWEEP_LOCAL, "master", "own-keys");
	before(SWEEP_CHANGE, "master", "own-keys");
	before(SWEEP_FULL, "master", "own-keys");
	before(SWEEP_TAKEOVER, "master", "publish");
	/* only the routes of a repair do not wait for the paths */
	before(SWEEP_LOCAL, "routes", "paths");
	before(SWEEP_FULL, "paths", "activate");
	ck_assert_int_lt(place(SWEEP_LOCAL, "fewer-vls"), 0);
}
END_TEST

START_TEST(a_running_sweep_is_where_it_is)
{
	struct sm_sweep_step s;

	sm.progress = (struct sweep_progress){
		.kind = SWEEP_POLICY, .step = STEP_PREPARE,
		.took_us = { [STEP_PUBLISHED] = 5000 },
		.runs = { [STEP_PUBLISHED] = 1, [STEP_PREPARE] = 1 },
	};
	ck_assert(sm_sweep_step(&sm, SWEEP_POLICY - 1, 0, &s));
	ck_assert(s.current && !s.runs);
	ck_assert_uint_eq(s.runs_so_far, 1);
	ck_assert_int_eq(s.took_us, 5000);
	ck_assert(sm_sweep_step(&sm, SWEEP_POLICY - 1, 1, &s));
	ck_assert(s.current && s.runs && s.took_us > 0);
	ck_assert(sm_sweep_step(&sm, SWEEP_POLICY - 1, 2, &s));
	ck_assert(s.current && !s.runs && !s.runs_so_far && !s.took_us);
	/* another kind of sweep has the same steps, but did not take them */
	ck_assert(sm_sweep_step(&sm, SWEEP_FULL - 1, 0, &s));
	ck_assert(!s.current && !s.runs_so_far);
}
END_TEST

/* While the event loop runs after a step that is done, the end of the planning beside it must not end the step again. */
START_TEST(a_step_that_is_done_waits_for_nothing)
{
	sm.progress = (struct sweep_progress){ .kind = SWEEP_POLICY, .step = STEP_JUDGE };
	ck_assert(sweep_step_waits(&sm, STEP_JUDGE));
	ck_assert(!sweep_step_waits(&sm, STEP_PATHS));
	sm.progress.done = true;
	ck_assert(!sweep_step_waits(&sm, STEP_JUDGE));
}
END_TEST

/* A report of another step, or a second one, must not let the sweep go on: the order of writes depends on it. */
START_TEST(a_report_of_another_step_is_ignored)
{
	sm.sweep.kind = SWEEP_POLICY;
	sm.progress = (struct sweep_progress){ .kind = SWEEP_POLICY, .step = STEP_JUDGE };
	sweep_step_done(&sm, STEP_PLAN, RESULT_DONE);
	ck_assert_int_eq(sm.progress.step, STEP_JUDGE);
	sm.progress.done = true;
	sweep_step_done(&sm, STEP_JUDGE, RESULT_DONE);
	ck_assert_int_eq(sm.progress.step, STEP_JUDGE);
	ck_assert_uint_eq(sm.progress.runs[STEP_TABLES], 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("steps");
	TCase *tc = tcase_create("steps");

	tcase_add_test(tc, every_kind_is_shown);
	tcase_add_test(tc, a_standby_sweep_writes_nothing);
	tcase_add_test(tc, what_writes_comes_in_order);
	tcase_add_test(tc, a_running_sweep_is_where_it_is);
	tcase_add_test(tc, a_step_that_is_done_waits_for_nothing);
	tcase_add_test(tc, a_report_of_another_step_is_ignored);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
