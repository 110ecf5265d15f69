/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests events: their contents, their ring, and continuing from a position in the ring.
 *
 * promise: O4
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events/event.h"
#include "events/event_json.h"
#include "unit/run.h"

#define BOOT 0xfeed

static struct events *es;
static unsigned woken;

static void setup(void)
{
	es = events_new(BOOT);
	woken = 0;
}

static void teardown(void)
{
	events_free(es);
}

static void add(enum event_kind kind)
{
	struct event e;

	event_make(&e, kind, "about %s", event_kind_name(kind));
	events_add(es, &e, 1000000);
}

static const struct event *get(uint64_t *next, uint64_t kinds, uint64_t *lost)
{
	*lost = 0;
	return events_get(es, next, kinds, lost);
}

START_TEST(in_order)
{
	uint64_t next = 1, lost;
	const struct event *e;

	ck_assert_ptr_null(get(&next, EVENT_ALL_KINDS, &lost));
	add(EVENT_LINK_UP);
	add(EVENT_LINK_DOWN);
	e = get(&next, EVENT_ALL_KINDS, &lost);
	ck_assert_uint_eq(e->id, 1);
	ck_assert_int_eq(e->when_us, 1000000);
	ck_assert_str_eq(e->text, "about link-up");
	ck_assert_int_eq(e->severity, SEV_INFO);
	e = get(&next, EVENT_ALL_KINDS, &lost);
	ck_assert_uint_eq(e->id, 2);
	ck_assert_int_eq(e->severity, SEV_WARNING);
	ck_assert_ptr_null(get(&next, EVENT_ALL_KINDS, &lost));
	ck_assert_uint_eq(next, 3);
}
END_TEST

START_TEST(by_kind)
{
	uint64_t kinds = 0, next = 1, lost;

	ck_assert(!event_kinds_add(&kinds, "lin"));
	ck_assert(!event_kinds_add(&kinds, "link-"));
	ck_assert(!event_kinds_add(&kinds, ""));
	ck_assert_uint_eq(kinds, 0);
	ck_assert(event_kinds_add(&kinds, "link"));
	ck_assert_uint_eq(kinds, 1ull << EVENT_LINK_UP | 1ull << EVENT_LINK_DOWN |
				 1ull << EVENT_LINK_CHANGED | 1ull << EVENT_LINK_FLAPPING |
				 1ull << EVENT_LINK_STEADY | 1ull << EVENT_LINK_ERRORS |
				 1ull << EVENT_LINK_CLEAN);
	add(EVENT_NODE_CAME);
	add(EVENT_LINK_CHANGED);
	ck_assert_uint_eq(get(&next, kinds, &lost)->id, 2);
	ck_assert_ptr_null(get(&next, kinds, &lost));
	kinds = 0;
	ck_assert(event_kinds_add(&kinds, "all"));
	ck_assert_uint_eq(kinds, EVENT_ALL_KINDS);
	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		kinds = 0;
		ck_assert(event_kinds_add(&kinds, event_kind_name(k)));
		ck_assert_uint_eq(kinds, 1ull << k);
	}
}
END_TEST

START_TEST(the_oldest_are_lost)
{
	uint64_t next = 1, lost;

	for (unsigned i = 0; i < EVENTS_MAX + 10; i++)
		add(i == 9 ? EVENT_LINK_UP : EVENT_ROUTING);
	ck_assert_uint_eq(events_oldest_id(es), 11);
	ck_assert_uint_eq(events_next_id(es), EVENTS_MAX + 11);
	ck_assert_uint_eq(get(&next, EVENT_ALL_KINDS, &lost)->id, 11);
	ck_assert_uint_eq(lost, 10);
	next = 1;
	ck_assert_ptr_null(get(&next, 1ull << EVENT_LINK_UP, &lost));
	ck_assert_uint_eq(lost, 10);
	ck_assert_uint_eq(next, EVENTS_MAX + 11);
}
END_TEST

START_TEST(where_to_go_on)
{
	uint64_t next = 77;

	add(EVENT_ROUTING);
	add(EVENT_ROUTING);
	ck_assert(events_since(es, "1", &next));
	ck_assert_uint_eq(next, 2);
	ck_assert(events_since(es, "0", &next));
	ck_assert_uint_eq(next, 1);
	ck_assert(events_since(es, "feed:2", &next));
	ck_assert_uint_eq(next, 3);
	ck_assert(events_since(es, "feed:99", &next));	/* … of which there is none yet */
	ck_assert_uint_eq(next, 3);
	ck_assert(events_since(es, "18446744073709551615", &next));
	ck_assert_uint_eq(next, 3);
	/* a position in another run of the daemon: all events of this run */
	ck_assert(events_since(es, "feee:2", &next));
	ck_assert_uint_eq(next, 1);
	next = 77;
	static const char *const bad[] = { "", ":", "1:", ":1", "x", "-1", "+1", " 1", "1 ", "1x",
					   "feed:x", "18446744073709551616", "g:1", "1:2:3" };
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!events_since(es, bad[i], &next), "'%s'", bad[i]);
	ck_assert_uint_eq(next, 77);
}
END_TEST

static void wake(void *arg)
{
	ck_assert_ptr_eq(arg, es);
	woken++;
}

START_TEST(watched)
{
	events_watch(es, wake, es);
	add(EVENT_ROUTING);
	ck_assert_uint_eq(woken, 1);
	events_unwatch(es, wake, es);
	add(EVENT_ROUTING);
	ck_assert_uint_eq(woken, 1);
}
END_TEST

START_TEST(what_is_in_it)
{
	struct event e;
	char longer[2 * EVENT_TEXT];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	event_make(&e, EVENT_ROUTING, "a\nb\x1b[31m%s", longer);
	ck_assert_uint_eq(strlen(e.text), EVENT_TEXT - 1);
	ck_assert_int_eq(memcmp(e.text, "a?b?[31mx", 9), 0);
	for (unsigned i = 0; i < EVENT_MEMBERS + 2; i++)
		event_number(&e, "n", i);
	ck_assert_uint_eq(e.n_members, EVENT_MEMBERS);
	event_make(&e, EVENT_ROUTING, "again");
	ck_assert_uint_eq(e.n_members, 0);
	event_guid(&e, "guid", 0x123);
	ck_assert_str_eq(e.members[0].text, "0x0000000000000123");
	event_text(&e, "name", "%s", longer);
	ck_assert_uint_eq(strlen(e.members[1].text), EVENT_VALUE - 1);
}
END_TEST

START_TEST(as_json)
{
	struct event e;
	uint64_t next = 1, lost;
	json_t *o, *want;

	event_make(&e, EVENT_LINK_DOWN, "not UTF-8: \xff");
	event_text(&e, "name", "a");
	event_number(&e, "port", -3);
	events_add(es, &e, 1500000);
	o = event_json(es, get(&next, EVENT_ALL_KINDS, &lost));
	want = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:i}}", "id", 1,
			 "boot", "000000000000feed", "since", "000000000000feed:1",
			 "time", "1970-01-01T00:00:01.500000Z", "kind", "link-down",
			 "severity", "warning", "text", "not UTF-8: ?", "data", "name", "a",
			 "port", -3);
	ck_assert(json_equal(o, want));
	ck_assert(events_since(es, json_string_value(json_object_get(o, "since")), &next));
	ck_assert_uint_eq(next, 2);
	json_decref(o);
	json_decref(want);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("event");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, in_order);
	tcase_add_test(t, by_kind);
	tcase_add_test(t, the_oldest_are_lost);
	tcase_add_test(t, where_to_go_on);
	tcase_add_test(t, watched);
	tcase_add_test(t, what_is_in_it);
	tcase_add_test(t, as_json);
	suite_add_tcase(s, t);
	return run_suite(s);
}
