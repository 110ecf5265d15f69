/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests how often nodes and links went away within an hour, and the bounds of the table. */
/* promise: C5 */
#include <check.h>
#include <string.h>

#include "events/outages.h"
#include "unit/run.h"

#define S	INT64_C(1000000)
#define START	(10 * OUTAGE_HOUR_US)

static struct outages *o;

static void setup(void)
{
	o = outages_new();
	outages_set_limit(o, 3);
}

static void teardown(void)
{
	outages_free(o);
}

static void node_event(enum event_kind kind, uint64_t guid, int64_t now_us)
{
	struct event e;

	event_make(&e, kind, "x");
	event_guid(&e, "node", guid);
	event_text(&e, "description", "host %d", (int)guid);
	outages_note(o, &e, now_us);
}

/* Of the link from port `port` of switch 7 to port 1 of switch 9, named by either end. */
static void link_of(struct event *e, enum event_kind kind, unsigned port, bool turned)
{
	event_make(e, kind, "x");
	event_guid(e, turned ? "far-node" : "node", 7);
	event_number(e, turned ? "far-port" : "port", port);
	event_text(e, turned ? "far-name" : "name", "leaf/P%u", port);
	event_guid(e, turned ? "node" : "far-node", 9);
	event_number(e, turned ? "port" : "far-port", 1);
	event_text(e, turned ? "name" : "far-name", "spine/P1");
}

static void link_event(enum event_kind kind, unsigned port, int64_t now_us)
{
	struct event e;

	link_of(&e, kind, port, false);
	outages_note(o, &e, now_us);
}

static void release(uint64_t guid, unsigned port)
{
	struct event e;

	event_make(&e, EVENT_RELEASED, "x");
	event_guid(&e, "node", guid);
	event_number(&e, "port", port);
	outages_note(o, &e, START);
}

static size_t count(int64_t now_us, struct outage *last)
{
	struct outage x;
	size_t i = 0, n = 0;

	for (; outages_next(o, &i, now_us, &x); n++)
		*last = x;
	return n;
}

START_TEST(more_than_the_limit)
{
	struct outage x = { 0 };

	for (int i = 0; i < 3; i++) {
		node_event(EVENT_NODE_WENT, 7, START + i * S);
		node_event(EVENT_NODE_CAME, 7, START + i * S);
		link_event(EVENT_LINK_DOWN, 1, START + i * S);
		link_event(EVENT_LINK_UP, 1, START + i * S);
		link_event(EVENT_LINK_DOWN, 2 + i, START + i * S);
	}
	ck_assert_uint_eq(count(START + 3 * S, &x), 0);
	node_event(EVENT_NODE_WENT, 7, START + 3 * S);
	ck_assert_uint_eq(count(START + 3 * S, &x), 1);
	ck_assert(x.kind == OUTAGE_NODE);
	ck_assert_uint_eq(x.times, 4);
	ck_assert_str_eq(x.name, "host 7");
	link_event(EVENT_LINK_DOWN, 1, START + 3 * S);
	ck_assert_uint_eq(count(START + 3 * S, &x), 2);
	ck_assert(x.kind == OUTAGE_LINK);
	ck_assert_str_eq(x.name, "leaf/P1");
	ck_assert_str_eq(x.far_name, "spine/P1");
	ck_assert_uint_eq(count(START + OUTAGE_HOUR_US - 1, &x), 2);
	ck_assert_uint_eq(count(START + OUTAGE_HOUR_US, &x), 0);	/* the first one is an hour old */
}
END_TEST

START_TEST(very_often)
{
	struct outage x = { 0 };

	for (int i = 0; i < 1000; i++)
		node_event(EVENT_SWITCH_WENT, 7, START + i * S);
	ck_assert_uint_eq(count(START + 1000 * S, &x), 1);
	ck_assert_uint_eq(x.times, OUTAGE_LIMIT_MAX + 1);
}
END_TEST

START_TEST(no_limit)
{
	struct outage x = { 0 };

	outages_set_limit(o, 0);
	for (int i = 0; i < 40; i++)
		node_event(EVENT_NODE_WENT, 7, START);
	ck_assert_uint_eq(count(START, &x), 0);
	outages_set_limit(o, 31);
	ck_assert_uint_eq(count(START, &x), 1);	/* a limit applies to what was counted before */
}
END_TEST

START_TEST(either_end)
{
	struct outage x = { 0 };
	struct event e;

	for (int i = 0; i < 4; i++) {
		link_of(&e, EVENT_LINK_DOWN, 3, i % 2);
		outages_note(o, &e, START + i);
	}
	ck_assert_uint_eq(count(START + 4, &x), 1);
	ck_assert_uint_eq(x.times, 4);
	ck_assert_uint_eq(x.guid, 7);
	ck_assert_uint_eq(x.port, 3);
	ck_assert_uint_eq(x.far_guid, 9);
	ck_assert_uint_eq(x.far_port, 1);
}
END_TEST

START_TEST(no_description)
{
	struct outage x = { 0 };
	struct event e;

	event_make(&e, EVENT_NODE_WENT, "x");
	event_guid(&e, "node", 7);
	event_text(&e, "description", "%s", "");
	for (int i = 0; i < 4; i++)
		outages_note(o, &e, START);
	ck_assert_uint_eq(count(START, &x), 1);
	ck_assert_str_eq(x.name, "0x0000000000000007");
}
END_TEST

/* A released place starts anew: a link by either end, a node with all its links. */
START_TEST(released)
{
	const struct { uint64_t guid; unsigned port; size_t left; } places[] = {
		{ 7, 0, 1 }, { 7, 1, 3 }, { 7, 2, 3 }, { 7, 3, 4 }, { 9, 1, 2 }, { 9, 0, 2 }, { 5, 0, 3 },
	};
	struct outage x = { 0 };

	for (size_t p = 0; p < sizeof(places) / sizeof(*places); p++) {
		teardown();
		setup();
		for (int i = 0; i < 4; i++) {
			node_event(EVENT_NODE_WENT, 5, START);
			node_event(EVENT_SWITCH_WENT, 7, START);
			link_event(EVENT_LINK_DOWN, 1, START);
			link_event(EVENT_LINK_DOWN, 2, START);
		}
		ck_assert_uint_eq(count(START, &x), 4);
		release(places[p].guid, places[p].port);
		ck_assert_uint_eq(count(START, &x), places[p].left);
	}
}
END_TEST

START_TEST(bounded)
{
	struct outage x = { 0 };

	for (int i = 0; i < 4; i++)
		node_event(EVENT_NODE_WENT, 1, START);
	for (unsigned i = 2; i <= OUTAGES_MAX; i++)
		node_event(EVENT_NODE_WENT, i, START + i);
	ck_assert_uint_eq(count(START, &x), 1);
	node_event(EVENT_NODE_WENT, OUTAGES_MAX + 1, START + 2 * OUTAGES_MAX);
	ck_assert_uint_eq(count(START, &x), 0);		/* it was the one that went longest ago */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outages");
	TCase *t = tcase_create("outages");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, more_than_the_limit);
	tcase_add_test(t, very_often);
	tcase_add_test(t, no_limit);
	tcase_add_test(t, either_end);
	tcase_add_test(t, no_description);
	tcase_add_test(t, released);
	tcase_add_test(t, bounded);
	suite_add_tcase(s, t);
	return run_suite(s);
}
