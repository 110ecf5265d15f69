/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers `events`: past events, and new ones as they happen. */
#include <stdlib.h>
#include <string.h>

#include "ctl/follow.h"
#include "events/event_json.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/time_parse.h"

struct watching {
	struct follower follower;
	const struct events *events;
	uint64_t next;			/* index of the next event */
	uint64_t end;			/* index to end at, unless the reply follows */
	uint64_t kinds;
	uint64_t lost;			/* lost events not reported yet */
	int64_t from_us, until_us;	/* realtime: no events before from_us, none from until_us on */
	bool follows;
};

/* The real clock may jump, so the first event that is too late need not be the last one wanted. */
static const struct event *wanted_event(struct watching *w)
{
	const struct event *e;

	do
		e = events_get(w->events, &w->next, w->kinds, &w->lost);
	while (e && (e->when_us < w->from_us || e->when_us >= w->until_us));
	return e;
}

static json_t *next_event(void *rows)
{
	struct watching *w = rows;
	const struct event *e = wanted_event(w);
	json_t *o;

	if (!e || (!w->follows && e->id >= w->end))
		return NULL;
	o = event_json(w->events, e);
	if (w->lost)
		json_object_set_new(o, "lost-before", json_integer((json_int_t)w->lost));
	w->lost = 0;
	return o;
}

static void release_watching(void *rows)
{
	struct watching *w = rows;

	unfollow(&w->follower);
	free(w);
}

/* Parses "link,policy-refused"; 0 with an error in the reply if a kind is unknown. */
static uint64_t parse_kinds(const char *text, struct reply *r)
{
	uint64_t kinds = 0;
	char *copy = xstrdup(text), *save = NULL;

	for (char *word = strtok_r(copy, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (!event_kinds_add(&kinds, word)) {
			reply_error(r, NULL, "kind: no such kind of event: '%s'", word);
			free(copy);
			return 0;
		}
	free(copy);
	if (!kinds)
		reply_error(r, NULL, "kind: is empty");
	return kinds;
}

/* Sets the span of time and, if `since` is the position after an event, *next; false: refused. */
static bool parse_span(const struct ctl_call *c, struct reply *r, struct watching *w)
{
	const char *since = arg_text(c, "since"), *until = arg_text(c, "until");
	int64_t now_us = clock_real_us();

	w->until_us = INT64_MAX;
	w->next = events_oldest_id(c->env->events);
	if (since && !time_parse(since, now_us, &w->from_us) &&
	    !events_since(c->env->events, since, &w->next))
		reply_error(r, NULL, "since: %s is neither an id nor BOOT:ID, nor a time such as "
			    "2026-11-01T08:30 or '2 hours ago'", since);
	else if (until && !time_parse(until, now_us, &w->until_us))
		reply_error(r, NULL, "until: %s is no time, such as 2026-11-01T08:30 or '2 hours ago'",
			    until);
	else if (until && arg_flag(c, "follow"))
		reply_error(r, NULL, "until: does not go with follow");
	else
		return true;
	return false;
}

void cmd_events(const struct ctl_call *c, struct reply *r)
{
	const char *kind = arg_text(c, "kind");
	uint64_t kinds = kind ? 0 : EVENT_ALL_KINDS;
	struct watching *w;

	if (!c->env->events) {
		reply_error(r, NULL, "this daemon keeps no events");
		return;
	}
	if (kind && !(kinds = parse_kinds(kind, r)))
		return;
	w = xcalloc(1, sizeof(*w));
	if (!parse_span(c, r, w)) {
		free(w);
		return;
	}
	w->events = c->env->events;
	w->end = events_next_id(w->events);
	w->kinds = kinds;
	w->follows = arg_flag(c, "follow");
	reply_result(r, NULL);
	reply_rows(r, "", next_event, release_watching, w);
	if (w->follows)
		follow(c->view->watchers, &w->follower, r);
}
