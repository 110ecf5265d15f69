/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the command `events`: which events it shows, and replies that follow new events.
 *
 * promise: O4
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "asking.h"
#include "ctl/follow.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "unit/run.h"

static struct events *es;
static struct ctl_env env;
static struct ctl_view view;
static struct follower *followers;
static unsigned ready;

static void setup(void)
{
	json_set_alloc_funcs(xmalloc, free);
	es = events_new(0xb007);
	env = (struct ctl_env){ .version = "1", .events = es };
	followers = NULL;
	view = (struct ctl_view){ .peer.right = CTL_READ, .watchers = &followers };
	ready = 0;
}

static void teardown(void)
{
	events_free(es);
}

static void add(enum event_kind kind)
{
	struct event e;

	event_make(&e, kind, "x");
	events_add(es, &e, 0);
	follow_tell(followers);
}

/* Returns the ids in the answer, as "1 2 5". */
static char *ids(const char *args)
{
	char *line = xasprintf("{\"command\": \"events\", \"args\": {%s}}", args);
	json_t *rows, *head = answer_parts(&env, &view, line, &rows), *row;
	struct buf b = { 0 };
	size_t i;

	ck_assert(json_is_true(json_object_get(head, "ok")));
	json_array_foreach(rows, i, row)
		buf_printf(&b, "%s%lld", i ? " " : "", num(row, "id"));
	buf_add(&b, "", 0);
	json_decref(head);
	json_decref(rows);
	free(line);
	return b.s;
}

static void expect(const char *args, const char *want)
{
	char *got = ids(args);

	ck_assert_str_eq(got, want);
	free(got);
}

static void refused(const char *args, const char *why)
{
	char *line = xasprintf("{\"command\": \"events\", \"args\": {%s}}", args);
	json_t *rows, *head = answer_parts(&env, &view, line, &rows);

	ck_assert(json_is_false(json_object_get(head, "ok")));
	ck_assert_msg(strstr(str(head, "error"), why) != NULL, "%s", str(head, "error"));
	json_decref(head);
	json_decref(rows);
	free(line);
}

START_TEST(which)
{
	expect("", "");
	add(EVENT_LINK_UP);
	add(EVENT_NODE_CAME);
	add(EVENT_LINK_DOWN);
	expect("", "1 2 3");
	expect("\"since\": \"1\"", "2 3");
	expect("\"since\": \"b007:2\"", "3");
	expect("\"since\": \"b008:2\"", "1 2 3");
	expect("\"kind\": \"link\"", "1 3");
	expect("\"kind\": \"node,link-down\", \"since\": \"1\"", "2 3");
	refused("\"kind\": \"link,nothing\"", "no such kind of event: 'nothing'");
	refused("\"kind\": \"\"", "kind: is empty");
	refused("\"kind\": \",\"", "kind: is empty");
	refused("\"since\": \"x\"", "neither an id nor BOOT:ID");
	env.events = NULL;
	refused("", "no events");
}
END_TEST

static void add_at(int64_t us)
{
	struct event e;

	event_make(&e, EVENT_LINK_UP, "x");
	events_add(es, &e, us);
}

/* promise: O15 */
START_TEST(last_and_severe)
{
	add(EVENT_LINK_UP);
	add(EVENT_LINK_DOWN);
	add(EVENT_NODE_CAME);
	add(EVENT_LINK_UP);
	add(EVENT_LINK_DOWN);
	expect("\"last\": 2", "4 5");
	expect("\"last\": 9", "1 2 3 4 5");
	expect("\"last\": 1, \"kind\": \"node\"", "3");
	expect("\"last\": 3, \"kind\": \"link\"", "2 4 5");
	expect("\"severity\": \"warning\"", "2 5");
	expect("\"severity\": \"warning\", \"last\": 1", "5");
	expect("\"severity\": \"error\"", "");
	expect("\"severity\": \"info\", \"since\": \"3\"", "4 5");
	refused("\"severity\": \"bad\"", "severity: 'bad' is none of: error warning info");
	refused("\"last\": 0", "last: must be a number from 1");
}
END_TEST

/* By time, also where the clock was set back in between. */
START_TEST(by_time)
{
	int64_t now_us = clock_real_us(), hour_us = 3600 * 1000000ll;

	add_at(1796083200ll * 1000000);			/* 2026-12-01 00:00 */
	add_at(1796083200ll * 1000000 + 30000000);
	add_at(1796083200ll * 1000000 + 60000000);
	add_at(1796083200ll * 1000000 + 10000000);
	expect("\"since\": \"2026-12-01\"", "1 2 3 4");
	expect("\"since\": \"2026-12-01T00:00:11Z\"", "2 3");
	expect("\"until\": \"2026-12-01T01:00:30+01:00\"", "1 4");
	expect("\"since\": \"2026-12-01 00:00:05\", \"until\": \"2026-12-01 00:01\"", "2 4");
	expect("\"since\": \"2026-12-01\", \"kind\": \"node\"", "");
	expect("\"since\": \"2\"", "3 4");
	add_at(now_us - 2 * hour_us);
	add_at(now_us - hour_us / 2);
	expect("\"since\": \"1 hour ago\", \"until\": \"now\"", "6");
	refused("\"since\": \"last summer\"", "nor a time");
	refused("\"until\": \"3\"", "is not a time");
	refused("\"until\": \"now\", \"follow\": true", "does not go with follow");
}
END_TEST

/* Only clients that continue from an overwritten event are told that events were lost. */
START_TEST(lost)
{
	json_t *rows, *head;

	for (unsigned i = 0; i < EVENTS_MAX + 3; i++)
		add(EVENT_ROUTING);
	head = answer_parts(&env, &view, "{\"command\": \"events\"}", &rows);
	ck_assert_uint_eq(json_array_size(rows), EVENTS_MAX);
	ck_assert_ptr_null(json_object_get(json_array_get(rows, 0), "lost-before"));
	json_decref(head);
	json_decref(rows);
	head = answer_parts(&env, &view, "{\"command\": \"events\", \"args\": {\"since\": \"1\"}}", &rows);
	ck_assert_int_eq(num(json_array_get(rows, 0), "lost-before"), 2);
	ck_assert_ptr_null(json_object_get(json_array_get(rows, 1), "lost-before"));
	json_decref(head);
	json_decref(rows);
}
END_TEST

static void on_ready(void *arg)
{
	(void)arg;
	ready++;
}

START_TEST(followed)
{
	static const char line[] = "{\"command\": \"events\", \"args\": {\"follow\": true, "
				   "\"kind\": \"link\"}}";
	struct buf out = { 0 };
	struct reply r;

	add(EVENT_LINK_UP);
	command_start(&env, &view, line, strlen(line), &r);
	r.ready = on_ready;
	ck_assert_ptr_nonnull(followers);
	while (reply_pull(&r, &out))
		continue;
	ck_assert_int_eq(r.stage, REPLY_FOLLOWING);
	ck_assert_ptr_nonnull(strstr(out.s, "\"id\":1,"));
	add(EVENT_NODE_CAME);		/* one that is not wanted */
	ck_assert(!reply_pull(&r, &out));
	add(EVENT_LINK_DOWN);
	ck_assert_uint_eq(ready, 2);
	ck_assert(reply_pull(&r, &out));
	ck_assert_ptr_nonnull(strstr(out.s, "\"id\":3,"));
	ck_assert(!reply_pull(&r, &out));
	reply_free(&r);
	ck_assert_ptr_null(followers);
	add(EVENT_LINK_DOWN);
	ck_assert_uint_eq(ready, 2);
	buf_free(&out);
}
END_TEST

/* Events that come while the answer is being sent are not part of it. */
START_TEST(it_has_an_end)
{
	static const char line[] = "{\"command\": \"events\"}";
	struct buf out = { 0 };
	struct reply r;

	add(EVENT_LINK_UP);
	command_start(&env, &view, line, strlen(line), &r);
	while (reply_pull(&r, &out))
		add(EVENT_LINK_UP);
	ck_assert_ptr_nonnull(strstr(out.s, "\"id\":1,"));
	ck_assert_ptr_null(strstr(out.s, "\"id\":2,"));
	ck_assert_ptr_nonnull(strstr(out.s, "{\"end\":true}"));
	reply_free(&r);
	buf_free(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("events");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, which);
	tcase_add_test(t, last_and_severe);
	tcase_add_test(t, by_time);
	tcase_add_test(t, lost);
	tcase_add_test(t, followed);
	tcase_add_test(t, it_has_an_end);
	suite_add_tcase(s, t);
	return run_suite(s);
}
