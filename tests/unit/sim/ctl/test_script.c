/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests scripts: what they do when, and errors in bad ones.
 *
 * promise: V6
 */
#include "fabric.h"
#include "unit/run.h"

#include <stdlib.h>

static struct script *script;

static void begin(const char *text)
{
	struct buf err = { 0 };

	script = script_parse("s", text, strlen(text), &err);
	ck_assert_msg(script != NULL, "%s", err.s);
	script_start(script, sim);
}

static void end(void)
{
	fabric_down();
	script_free(script);
	script = NULL;
}

static void bad(const char *text, const char *errors)
{
	struct buf err = { 0 };

	ck_assert_ptr_null(script_parse("dir/s", text, strlen(text), &err));
	ck_assert_str_eq(err.s, errors);
	buf_free(&err);
}

static bool is_plugged(void)
{
	return !port_at("leaf1/P7")->unplugged;
}

/* fabric_up() took 2 seconds. */
START_TEST(times_from_the_start)
{
	begin("# a comment\n"
	      "\n"
	      "5 link down leaf1/P7   # another one\n"
	      "+1.5\tlink up \"leaf1/P7\"\r\n"
	      "   node silent 'leaf2'\n"
	      "0.5 node silent leaf1");	/* past: at once, and no newline at its end */
	after(1);
	ck_assert(node_named("leaf1")->silent);
	after(2998000);
	ck_assert(is_plugged());
	after(2000);
	ck_assert(!is_plugged());
	after(1498000);
	ck_assert(!is_plugged() && !node_named("leaf2")->silent);
	after(2000);
	ck_assert(is_plugged() && node_named("leaf2")->silent);
}
END_TEST

START_TEST(equal_times_in_order)
{
	begin("3 node rename leaf1 a\n"
	      "3 node rename a b\n"
	      "3 node rename b 'c d'\n");
	after(1000000);
	ck_assert_str_eq(sim->f->nodes[0].desc, "c d");
}
END_TEST

START_TEST(repeats)
{
	begin("every 2 loss 10%\n"
	      "10 every 3s fault add drop\n");
	after(6500000);		/* now: 8.5 */
	ck_assert_uint_eq(sim->faults->rules.n, 1);
	GOOD("loss", "0");
	after(1000000);
	ck_assert_uint_eq(sim->faults->rules.n, 0);
	after(1000000);		/* 10.5: both */
	ck_assert_uint_eq(sim->faults->rules.n, 2);
	after(3000000);
	ck_assert_uint_eq(sim->faults->rules.n, 3);
}
END_TEST

/* A command that cannot be done stops nothing. */
START_TEST(goes_on_after_a_failure)
{
	begin("3 link down leaf9/P7\n"
	      "3 link down leaf1/P7\n");
	after(1000000);
	ck_assert(!is_plugged());
}
END_TEST

START_TEST(thaws_by_itself)
{
	begin("3 freeze\n+2 thaw\n");
	after(1500000);
	ck_assert(sim->frozen);
	after(2000000);
	ck_assert(!sim->frozen);
}
END_TEST

START_TEST(errors_with_their_lines)
{
	bad("1 link down leaf1/P1\n2 lnk up leaf1/P1\n",
	    "dir/s:2: no such command: 'lnk': did you mean 'link'?\n");
	bad("1 link\n\n1x freeze\n",
	    "dir/s:1: link: expected one of down up connect flap degrade\n"
	    "dir/s:3: the time is not a number of seconds\n");
	bad("+ freeze", "dir/s:1: the time is not a number of seconds\n");
	bad("5", "dir/s:1: no command; 'help' lists them\n");
	bad("every", "dir/s:1: 'every' takes a number of seconds, at least 0.001\n");
	bad("3 every 0.0009 freeze", "dir/s:1: 'every' takes a number of seconds, at least 0.001\n");
	bad("3 every 0 freeze", "dir/s:1: 'every' takes a number of seconds, at least 0.001\n");
	bad("3 node rename leaf1 'x", "dir/s:1: unclosed quote\n");
	bad("3 drops --lst 3", "dir/s:1: drops: no option '--lst': did you mean '--last='?\n");
	bad("a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
	    "dir/s:1: too many words\n");
	bad("99999999999 freeze", "dir/s:1: the time is not a number of seconds\n");
}
END_TEST

START_TEST(binary_garbage)
{
	char garbage[4096];
	struct buf err = { 0 };
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(garbage); i++) {
		x = x * 1664525 + 1013904223;
		garbage[i] = (char)(x >> 24);
	}
	ck_assert_ptr_null(script_parse("s", garbage, sizeof(garbage), &err));
	buf_free(&err);
}
END_TEST

START_TEST(empty)
{
	begin("");
	after(1000000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim/ctl script");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, fabric_up, end);
	tcase_add_test(t, times_from_the_start);
	tcase_add_test(t, equal_times_in_order);
	tcase_add_test(t, repeats);
	tcase_add_test(t, goes_on_after_a_failure);
	tcase_add_test(t, thaws_by_itself);
	tcase_add_test(t, errors_with_their_lines);
	tcase_add_test(t, binary_garbage);
	tcase_add_test(t, empty);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
