/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which links flap, for how long, and which of them are held: on two leaves with a host each
 * and two links to each of two spines.
 */
#include <check.h>
#include <string.h>

#include "sm/traps/flap_table.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define SECOND 1000000ll
enum { HOST = 0x100, LEAF = 0x500, SPINE = 0x900 };

static const struct flap_rules rules = { .limit = 3, .window_us = 60 * SECOND,
					 .hold_us = 10 * SECOND };
static const struct flap_link one = { { 1, 2 }, { 3, 4 } };
static struct flaps *flaps;
static struct fabric *f;
static struct flap flap;

static void setup(void)
{
	flaps = flaps_new(&rules);
	f = fabric_new();
	for (unsigned i = 0; i < 2; i++)
		net_ca(f, HOST + 0x10 * i, 1);
	for (unsigned i = 0; i < 2; i++)
		net_switch(f, LEAF + i, 8, false);
	for (unsigned i = 0; i < 2; i++)
		net_switch(f, SPINE + i, 8, false);
	for (unsigned leaf = 0; leaf < 2; leaf++) {
		fabric_link(f, leaf, 1, 2 + leaf, 1);
		for (unsigned i = 0; i < 4; i++)
			fabric_link(f, 2 + leaf, 5 + i, 4 + i / 2, 1 + 2 * leaf + i % 2);
	}
	net_finish(f);
}

static void teardown(void)
{
	flaps_free(flaps);
	fabric_free(f);
}

static uint32_t port(uint64_t guid, unsigned num)
{
	return f->nodes[map64_get(&f->node_by_guid, guid)].port0 + num;
}

/* The link goes down so often at this time; true if it begins to flap the last time. */
static bool down(const struct flap_link *l, unsigned times, int64_t now)
{
	bool begins = false;

	for (unsigned i = 0; i < times; i++) {
		ck_assert(!begins);
		begins = flaps_down(flaps, l, now, &flap);
	}
	return begins;
}

/* promise: F8 */
START_TEST(more_than_so_often_in_so_long)
{
	ck_assert(!down(&one, 3, 0));
	ck_assert(!flaps_at(flaps, 0, &flap));
	ck_assert(down(&one, 1, 60 * SECOND));
	ck_assert_uint_eq(flap.downs, 4);
	ck_assert_int_eq(flap.until_us, 70 * SECOND);
	ck_assert(flaps_at(flaps, 0, &flap));
	ck_assert(!flaps_at(flaps, 1, &flap));
	ck_assert_int_eq(flaps_next(flaps), 70 * SECOND);
}
END_TEST

START_TEST(slower_than_that_it_never_flaps)
{
	for (int64_t t = 0; t < 100000 * SECOND; t += 21 * SECOND)
		ck_assert(!down(&one, 1, t));
	ck_assert_int_eq(flaps_next(flaps), INT64_MAX);
	/* without a limit, no link flaps */
	struct flap_rules any = rules;
	struct flaps *t;

	any.limit = 0;
	t = flaps_new(&any);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(!flaps_down(t, &one, i, &flap));
	flaps_free(t);
}
END_TEST

/* promise: F8 */
START_TEST(until_it_is_quiet)
{
	ck_assert(down(&one, 4, 0));
	/* it starts again each time, and is reported once */
	for (int64_t t = 0; t < 100 * SECOND; t += 9 * SECOND) {
		ck_assert(!down(&one, 1, t));
		ck_assert(!flaps_ended(flaps, t + 9 * SECOND, &flap));
	}
	ck_assert(!flaps_ended(flaps, 109 * SECOND - 1, &flap));
	ck_assert(flaps_ended(flaps, 109 * SECOND, &flap));
	ck_assert_uint_eq(flap.downs, 4 + 12);
	ck_assert(!flaps_ended(flaps, 200 * SECOND, &flap));
	ck_assert(!flaps_at(flaps, 0, &flap));
	flaps_up(flaps, &one, 300 * SECOND);	/* as any other */
	ck_assert_int_eq(flaps_next(flaps), INT64_MAX);
	/* earlier changes no longer count */
	ck_assert(!down(&one, 3, 110 * SECOND));
}
END_TEST

START_TEST(who_comes_up_late_was_not_quiet)
{
	ck_assert(down(&one, 4, 0));
	flaps_up(flaps, &one, 9 * SECOND);
	ck_assert(!flaps_ended(flaps, 19 * SECOND - 1, &flap));
	ck_assert(flaps_ended(flaps, 19 * SECOND, &flap));
}
END_TEST

/* promise: F8 */
START_TEST(longer_each_time_up_to_a_bound)
{
	static const int64_t holds[] = { 10, 20, 40, 80, 160, 320, 320, 320 };
	int64_t now = 0;

	for (unsigned i = 0; i < sizeof(holds) / sizeof(*holds); i++) {
		ck_assert(down(&one, 4, now));
		ck_assert_int_eq(flap.until_us - now, holds[i] * SECOND);
		now = flap.until_us;
		ck_assert(flaps_ended(flaps, now, &flap));
		now += SECOND - holds[i] / 320 * SECOND;
	}
	now += 321 * SECOND;
	ck_assert(down(&one, 4, now));
	ck_assert_int_eq(flap.until_us - now, 10 * SECOND);
}
END_TEST

START_TEST(bounded)
{
	struct flap_link l = one;

	ck_assert(down(&one, 4, 0));
	for (unsigned i = 0; i < 3 * FLAP_LINKS_MAX; i++) {
		l.guid[1] = 100 + i;
		down(&l, 1, (int64_t)i);
	}
	ck_assert(flaps_at(flaps, 0, &flap));	/* a flapping link is not dropped for other links */
	ck_assert_uint_eq(flap.link.guid[1], 2);
	/* if all entries flap, a further link gets no entry, without other effects */
	for (unsigned i = 0; i < 3 * FLAP_LINKS_MAX; i++) {
		l.guid[1] = 100 + i;
		for (unsigned k = 0; k < 4; k++)
			flaps_down(flaps, &l, 5 * FLAP_LINKS_MAX, &flap);
	}
	ck_assert(flaps_at(flaps, FLAP_LINKS_MAX - 1, &flap));
	ck_assert(!flaps_at(flaps, FLAP_LINKS_MAX, &flap));
}
END_TEST

START_TEST(released)
{
	struct flap_link other = { { 1, 5 }, { 7, 8 } };

	ck_assert(down(&one, 4, 0));
	ck_assert(down(&other, 4, 0));
	ck_assert(!flaps_release(flaps, 9, 0, &flap));
	ck_assert(!flaps_release(flaps, 2, 3, &flap));
	ck_assert(flaps_release(flaps, 2, 4, &flap));
	ck_assert_uint_eq(flap.link.guid[1], 2);
	ck_assert(!flaps_release(flaps, 2, 4, &flap));
	ck_assert(flaps_release(flaps, 0, 0, &flap));
	ck_assert_uint_eq(flap.link.guid[1], 5);
	ck_assert(!flaps_release(flaps, 0, 0, &flap));
	/* the number of its flaps is dropped as well */
	ck_assert(down(&one, 4, SECOND));
	ck_assert_int_eq(flap.until_us, 11 * SECOND);
}
END_TEST

static bool held(uint64_t guid, unsigned num)
{
	uint32_t p = port(guid, num);

	ck_assert(f->ports[p].peer == FABRIC_NONE ||
		  f->ports[p].held == f->ports[f->ports[p].peer].held);
	return f->ports[p].held;
}

static void flap_link(uint64_t guid, unsigned num, unsigned times)
{
	struct flap_link l = flap_link_of(f, port(guid, num));

	for (unsigned i = 0; i < times; i++)
		flaps_down(flaps, &l, 0, &flap);
}

START_TEST(both_ends_have_one_name)
{
	struct flap_link a = flap_link_of(f, port(LEAF, 6)), b = flap_link_of(f, port(SPINE, 2));

	ck_assert_uint_eq(a.guid[0], LEAF);
	ck_assert_uint_eq(a.port[1], 2);
	ck_assert(a.guid[0] == b.guid[0] && a.guid[1] == b.guid[1] && a.port[0] == b.port[0] &&
		  a.port[1] == b.port[1]);
	ck_assert_uint_eq(flap_port(f, &a, 0), port(LEAF, 6));
	ck_assert_uint_eq(flap_port(f, &a, 1), port(SPINE, 2));
	a.port[1] = 1;
	ck_assert_uint_eq(flap_port(f, &a, 0), FABRIC_NONE);
	a.guid[1] = 77;
	ck_assert_uint_eq(flap_port(f, &a, 0), FABRIC_NONE);
}
END_TEST

START_TEST(held_where_there_is_another_way)
{
	flap_link(LEAF, 5, 4);
	flap_link(LEAF, 6, 3);		/* not often enough */
	flaps_hold(flaps, f);
	ck_assert(held(LEAF, 5));
	ck_assert(!held(LEAF, 6));
	/* the last host of a leaf, which has no other */
	flap_link(LEAF, 1, 4);
	flaps_hold(flaps, f);
	ck_assert(!held(LEAF, 1));
	/* and not after it has ended */
	while (flaps_ended(flaps, 10 * SECOND, &flap))
		;
	flaps_hold(flaps, f);
	ck_assert(!held(LEAF, 5));
}
END_TEST

/* promise: F8 */
START_TEST(the_only_way_is_used)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++)
		flap_link(LEAF, 5 + i, i == 2 ? 4 : 9);
	flaps_hold(flaps, f);
	for (unsigned i = 0; i < 4; i++)
		n += held(LEAF, 5 + i);
	/* one of four links must be used: the one that flaps least; its spine leads on to the other leaf */
	ck_assert_uint_eq(n, 3);
	ck_assert(!held(LEAF, 7));
	for (unsigned i = 0; i < 4; i++)
		flap_link(LEAF + 1, 5 + i, 9);
	flaps_hold(flaps, f);
	n = 0;
	for (unsigned i = 0; i < 8; i++)
		n += held(LEAF + i / 4, 5 + i % 4);
	ck_assert_uint_eq(n, 8 - 3);	/* three links connect four switches */
}
END_TEST

static struct fabric_port *port_of(uint64_t guid, unsigned num)
{
	return fabric_port(f, map64_get(&f->node_by_guid, guid), num);
}

/* One end claims Down or an invalid PortState, and the other is not Active. */
/* promise: A63 */
START_TEST(held_where_it_cannot_come_up)
{
	struct fabric_port *near = port_of(LEAF, 5), *far = &f->ports[near->peer];

	for (unsigned state = IB_PORT_INIT_S; state <= IB_PORT_ACTIVE_S; state++) {
		near->state = (uint8_t)_i;
		far->state = (uint8_t)state;
		flaps_hold(flaps, f);
		ck_assert(near->held == (state < IB_PORT_ACTIVE_S) && far->held == near->held);
	}
	far->state = IB_PORT_INIT_S;
	near->state = IB_PORT_ARMED_S;
	ck_assert(!flaps_hold(flaps, f));
	for (unsigned i = 0; i < 4; i++)		/* one of them is the only route */
		port_of(LEAF, 5 + i)->state = IB_PORT_NOP;
	ck_assert(flaps_hold(flaps, f));
	ck_assert_uint_eq(held(LEAF, 5) + held(LEAF, 6) + held(LEAF, 7) + held(LEAF, 8), 3);
}
END_TEST

static void all_are_active(void)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		f->ports[i].state = IB_PORT_ACTIVE_S;
}

/* A link that is Armed at both ends before and after a sweep is held by the next, until an end is Active. */
/* promise: F19 */
START_TEST(held_while_sweeps_leave_it_short_of_active)
{
	struct fabric_port *near = port_of(LEAF, 5), *far = &f->ports[near->peer];
	struct flap_link late;
	size_t at = 0;

	all_are_active();
	near->state = far->state = IB_PORT_ARMED_S;
	ck_assert(!flaps_hold(flaps, f));		/* no sweep has set it so far */
	flaps_left_short(flaps, f);
	ck_assert(flaps_hold(flaps, f));
	ck_assert(near->held && far->held);
	ck_assert(!held(LEAF, 6));
	ck_assert(!flaps_come_up(flaps, f, &at, &late));
	far->state = IB_PORT_ACTIVE_S;			/* the first packet makes both Active */
	at = 0;
	ck_assert(flaps_come_up(flaps, f, &at, &late));
	ck_assert(late.guid[0] == LEAF && late.port[0] == 5 && late.guid[1] == SPINE);
	ck_assert(!flaps_come_up(flaps, f, &at, &late));
	flaps_left_short(flaps, f);
	ck_assert(!flaps_hold(flaps, f));
	/* trained anew: no sweep has had a chance yet */
	near->state = far->state = IB_PORT_INIT_S;
	ck_assert(!flaps_hold(flaps, f));
	/* one end is Active, and the other drops all packets */
	far->state = IB_PORT_ACTIVE_S;
	flaps_left_short(flaps, f);
	ck_assert(flaps_hold(flaps, f));
	ck_assert(near->held);
	/* it was taken away meanwhile */
	near->peer = far->peer = FABRIC_NONE;
	ck_assert(!flaps_hold(flaps, f));
	at = 0;
	ck_assert(!flaps_come_up(flaps, f, &at, &late));
	near->peer = port(SPINE, far->num);
	far->peer = port(LEAF, near->num);
	flaps_left_short(flaps, NULL);
	ck_assert(!flaps_hold(flaps, f));
}
END_TEST

/* If all links of a leaf flap, one is used, because there is no other. */
/* promise: F19 */
START_TEST(short_of_active_and_the_only_way)
{
	all_are_active();
	for (unsigned i = 0; i < 4; i++) {
		struct fabric_port *p = port_of(LEAF, 5 + i);

		p->state = f->ports[p->peer].state = IB_PORT_ARMED_S;
	}
	flaps_left_short(flaps, f);
	ck_assert(flaps_hold(flaps, f));
	ck_assert_uint_eq(held(LEAF, 5) + held(LEAF, 6) + held(LEAF, 7) + held(LEAF, 8), 3);
}
END_TEST

/* promise: L24 */
START_TEST(other_rules)
{
	struct flap_rules r = rules;

	/* fewer times: the newest count */
	ck_assert(!down(&one, 1, 0));
	ck_assert(!down(&one, 2, 61 * SECOND));
	r.limit = 2;
	flaps_set_rules(flaps, &r);
	ck_assert(down(&one, 1, 61 * SECOND));
	ck_assert_int_eq(flap.until_us, 71 * SECOND);
	/* another hold time counts at once, with its doublings */
	r.hold_us = 20 * SECOND;
	flaps_set_rules(flaps, &r);
	ck_assert(flaps_at(flaps, 0, &flap));
	ck_assert_int_eq(flap.until_us, 81 * SECOND);
	ck_assert_int_eq(flaps_next(flaps), 81 * SECOND);
	ck_assert(flaps_ended(flaps, 81 * SECOND, &flap));
	ck_assert(down(&one, 3, 82 * SECOND));
	ck_assert_int_eq(flap.until_us, 122 * SECOND);
	r.hold_us = SECOND;
	flaps_set_rules(flaps, &r);
	ck_assert_int_eq(flaps_next(flaps), 84 * SECOND);
	ck_assert(flaps_ended(flaps, 84 * SECOND, &flap));
	/* more times: those that are known count on */
	ck_assert(!down(&one, 2, 85 * SECOND));
	r.limit = 4;
	flaps_set_rules(flaps, &r);
	ck_assert(!down(&one, 2, 86 * SECOND));
	ck_assert(down(&one, 1, 86 * SECOND));
	/* none, and again some */
	while (flaps_release(flaps, 0, 0, &flap))
		;
	r.limit = 0;
	flaps_set_rules(flaps, &r);
	ck_assert(!down(&one, 40, 87 * SECOND));
	r.limit = 1;
	r.window_us = 2 * SECOND;
	flaps_set_rules(flaps, &r);
	ck_assert(!down(&one, 1, 88 * SECOND));
	ck_assert(!down(&one, 1, 91 * SECOND));
	ck_assert(down(&one, 1, 93 * SECOND));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("flap");
	TCase *t = tcase_create("flap");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, more_than_so_often_in_so_long);
	tcase_add_test(t, slower_than_that_it_never_flaps);
	tcase_add_test(t, until_it_is_quiet);
	tcase_add_test(t, who_comes_up_late_was_not_quiet);
	tcase_add_test(t, longer_each_time_up_to_a_bound);
	tcase_add_test(t, bounded);
	tcase_add_test(t, released);
	tcase_add_test(t, both_ends_have_one_name);
	tcase_add_test(t, held_where_there_is_another_way);
	tcase_add_test(t, the_only_way_is_used);
	tcase_add_loop_test(t, held_where_it_cannot_come_up, IB_PORT_NOP, IB_PORT_DOWN_S + 1);
	tcase_add_test(t, held_while_sweeps_leave_it_short_of_active);
	tcase_add_test(t, short_of_active_and_the_only_way);
	tcase_add_test(t, other_rules);
	suite_add_tcase(s, t);
	return run_suite(s);
}
