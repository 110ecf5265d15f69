/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the list of what is withdrawn, and what a drain marks: on two leaves with a host each and a
 * link to each of two spines, one of which has a host, too.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "sm/devices/withdrawals.h"
#include "sm/traps/flap_table.h"
#include "unit/plan/net.h"
#include "unit/run.h"

enum { HOST = 0x100, LEAF = 0x500, SPINE = 0x900 };

static struct withdrawals *w;
static struct flaps *flaps;
static struct fabric *f;

static void setup(void)
{
	w = withdrawals_new();
	flaps = flaps_new(&(struct flap_rules){ .window_us = 1, .hold_us = 1 });
	flaps_set_withdrawals(flaps, w);
	f = net_leaves_and_spines(HOST, LEAF, SPINE);
}

static void teardown(void)
{
	withdrawals_free(w);
	flaps_free(flaps);
	fabric_free(f);
}

static void drain(uint64_t guid, unsigned port)
{
	struct withdrawal x = { .guid = guid, .port = (uint8_t)port, .uid = 7, .since_s = 1000 };

	snprintf(x.name, sizeof(x.name), "node %llx", (unsigned long long)guid);
	snprintf(x.reason, sizeof(x.reason), "why\tnot");
	ck_assert(withdrawals_put(w, &x));
}

static const struct fabric_port *port(uint64_t guid, unsigned num)
{
	return fabric_port(f, map64_get(&f->node_by_guid, guid), num);
}

/* Replaces an entry by one of a user who asked for another. */
static void for_whom(uint64_t guid, unsigned num, const char *behalf)
{
	struct withdrawal x = *withdrawals_find(w, guid, num);

	snprintf(x.behalf, sizeof(x.behalf), "%s", behalf);
	ck_assert(withdrawals_put(w, &x));
}

/* promise: M9 */
START_TEST(lines_make_the_same_list)
{
	struct withdrawals *again = withdrawals_new();
	struct buf lines = { 0 }, twice = { 0 };
	char *line;

	drain(SPINE, 0);
	drain(LEAF, 3);
	drain(LEAF, 2);
	drain(LEAF, 2);
	for_whom(LEAF, 2, "al\tice");
	ck_assert_uint_eq(withdrawals_count(w, WITHDRAWAL_DRAINED), 3);
	withdrawals_print(w, &lines);
	ck_assert_str_eq(lines.s, "drained 0x0000000000000500 2 7 1000\tnode 500\twhy?not\tal?ice\n"
				  "drained 0x0000000000000500 3 7 1000\tnode 500\twhy?not\n"
				  "drained 0x0000000000000900 0 7 1000\tnode 900\twhy?not\n");
	for (line = strtok(lines.s, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert(withdrawals_line(again, line));
	withdrawals_print(again, &twice);
	lines.n = 0;
	withdrawals_print(w, &lines);
	ck_assert_str_eq(lines.s, twice.s);
	ck_assert(withdrawals_remove(w, LEAF, 2));
	ck_assert(!withdrawals_remove(w, LEAF, 2));
	ck_assert(withdrawals_find(w, LEAF, 3) && !withdrawals_find(w, LEAF, 2));
	buf_free(&lines);
	buf_free(&twice);
	withdrawals_free(again);
}
END_TEST

/* promise: M9 */
START_TEST(invalid_lines_are_refused)
{
	static const char *const lines[] = {
		"", "drained", "drained 0x1 2 7 1000", "drained 0x1 2 7 1000\tname", "drained 0x0 2 7 1000\ta\tb",
		"drained 0x1 255 7 1000\ta\tb", "lost 0x1 2 7 1000\ta\tb", "drained 0x1 2 -3 1000\ta\tb",
		"drained 0x1 2 7 -1\ta\tb", "drained 0x1 2 7 1000x\ta\tb", "drained 0x1 -1 7 1000\ta\tb",
		"drained 0x1 2 7 1000\ta\tb\t", "drained 0x1 2 7 1000\ta\tb\tc\td",
	};
	char longer[400] = "drained 0x1 2 7 1000\ta\t";

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		ck_assert_msg(!withdrawals_line(w, lines[i]), "%s", lines[i]);
	memset(longer + strlen(longer), 'x', WITHDRAWAL_TEXT_MAX);
	ck_assert(!withdrawals_line(w, longer));
	ck_assert(withdrawals_line(w, "drained 0x1 2 -1 1000\ta\t"));
	ck_assert(!withdrawals_line(w, "drained 0x1 2 -1 1000\ta\t"));	/* twice */
	ck_assert(!withdrawals_line(w, "isolated 0x1 2 -1 1000\ta\t"));
	ck_assert(withdrawals_line(w, "isolated 0x1 3 -1 1000\ta\t"));
	ck_assert_uint_eq(withdrawals_count(w, WITHDRAWAL_ISOLATED), 1);
	ck_assert_uint_eq(w->v.n, 2);
}
END_TEST

/* promise: M9 */
START_TEST(the_list_is_bounded)
{
	struct withdrawal x = { .port = 1 };

	for (x.guid = 1; x.guid <= WITHDRAWALS_MAX; x.guid++)
		ck_assert(withdrawals_put(w, &x));
	ck_assert(!withdrawals_put(w, &x));
	x.guid = 5;
	ck_assert(withdrawals_put(w, &x));
}
END_TEST

/* promise: M7 M8 */
START_TEST(a_drained_link_is_held)
{
	drain(LEAF, 2);
	flaps_hold(flaps, f);
	ck_assert(port(LEAF, 2)->held && port(SPINE, 1)->held && !port(LEAF, 3)->held);
	ck_assert(port(LEAF, 2)->drained == DRAINED_LINK && port(SPINE, 1)->drained == DRAINED_LINK);
	ck_assert(withdrawal_left(&w->v.v[0], f).done);
	/* its other way up: one of them is used */
	drain(LEAF, 3);
	flaps_hold(flaps, f);
	ck_assert(port(LEAF, 2)->held != port(LEAF, 3)->held);
	ck_assert(withdrawal_left(&w->v.v[0], f).done != withdrawal_left(&w->v.v[1], f).done);
	withdrawals_remove(w, LEAF, 2);
	withdrawals_remove(w, LEAF, 3);
	ck_assert(!flaps_hold(flaps, f));
	ck_assert(!port(LEAF, 2)->held && port(LEAF, 2)->drained == DRAINED_NOT);
}
END_TEST

/* promise: M7 M8 */
START_TEST(nobody_goes_over_a_drained_switch)
{
	struct drain_left left;

	drain(SPINE, 0);
	flaps_hold(flaps, f);
	for (unsigned leaf = 0; leaf < 2; leaf++)
		ck_assert(port(LEAF + leaf, 2)->drained == DRAINED_AWAY);
	ck_assert(port(SPINE, 1)->drained == DRAINED_NOT);
	/* one of its links stays for the switch itself */
	ck_assert(port(LEAF, 2)->held != port(LEAF + 1, 2)->held);
	left = withdrawal_left(&w->v.v[0], f);
	ck_assert(left.done && left.links == 2 && !left.used && !left.hosts);
	/* the other spine has a host, whose links are not held */
	withdrawals_remove(w, SPINE, 0);
	drain(SPINE + 1, 0);
	flaps_hold(flaps, f);
	for (unsigned leaf = 0; leaf < 2; leaf++)
		ck_assert(port(LEAF + leaf, 3)->drained == DRAINED_AWAY && !port(LEAF + leaf, 3)->held);
	left = withdrawal_left(&w->v.v[0], f);
	ck_assert(!left.done && left.links == 2 && !left.used && left.hosts == 1);
}
END_TEST

/* promise: M8 */
START_TEST(a_drained_link_is_the_last_resort)
{
	struct flap_link l = flap_link_of(f, (uint32_t)(port(LEAF, 3) - f->ports));
	struct flaps *t = flaps_new(&(struct flap_rules){ .limit = 1, .window_us = 10, .hold_us = 10 });
	struct flap flap;

	for (unsigned i = 0; i < 5; i++)
		flaps_down(t, &l, 0, &flap);
	drain(LEAF, 2);
	flaps_set_withdrawals(t, w);
	flaps_hold(t, f);
	ck_assert(port(LEAF, 2)->held && !port(LEAF, 3)->held);
	flaps_free(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("withdrawals");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, lines_make_the_same_list);
	tcase_add_test(t, invalid_lines_are_refused);
	tcase_add_test(t, the_list_is_bounded);
	tcase_add_test(t, a_drained_link_is_held);
	tcase_add_test(t, nobody_goes_over_a_drained_switch);
	tcase_add_test(t, a_drained_link_is_the_last_resort);
	suite_add_tcase(s, t);
	return run_suite(s);
}
