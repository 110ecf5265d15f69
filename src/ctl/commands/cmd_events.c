/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `events`: past events, and new ones as they happen.
 *
 * Where a span of time begins before the first event in memory, the history is read first, in a
 * job, as its disk may hang; the events in memory that it lacks follow.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/follow.h"
#include "events/event_json.h"
#include "events/history/history.h"
#include "lib/base/alloc.h"
#include "lib/base/bounded.h"
#include "lib/base/clock.h"
#include "lib/base/time_parse.h"

#define PAST_MAX	50000		/* events of the history in one answer */
#define PAST_US		20000000	/* for reading them */

/* Events of the history; owned by the thread that reads until it is done. */
struct past {
	char *path;
	int64_t from_us, until_us;
	uint64_t kinds;
	enum severity least;
	VEC(char *) v;
	bool good, many;
	struct buf err;
};

struct watching {
	struct past *past;		/* NULL: only what is in memory */
	size_t past_next;
	struct follower follower;
	const struct events *events;
	uint64_t next;			/* index of the next event */
	uint64_t end;			/* index to end at, unless the reply follows */
	uint64_t kinds;
	enum severity least;		/* no events of less severity */
	uint64_t last;			/* only so many, the last ones; 0: all */
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
	while (e && (e->when_us < w->from_us || e->when_us >= w->until_us || e->severity > w->least));
	return e;
}

/* How many of the events in memory are wanted. */
static uint64_t wanted_in_memory(const struct watching *w)
{
	struct watching ahead = *w;
	const struct event *e;
	uint64_t n = 0;

	while ((e = wanted_event(&ahead)) && e->id < w->end)
		n++;
	return n;
}

/* An event of the history; the events in memory go on after those of this run. */
static json_t *past_event(struct watching *w, const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	const char *since = json_string_value(json_object_get(o, "since"));
	uint64_t next;

	if (since && events_since(w->events, since, &next) && next > w->next &&
	    next <= events_next_id(w->events))
		w->next = next;
	return o;
}

/* Skips all but the last ones. */
static void skip_to_last(struct watching *w)
{
	size_t past = w->past ? w->past->v.n : 0;
	uint64_t all;

	if (!w->last)
		return;
	if (past)	/* events in memory follow the last one of the history */
		json_decref(past_event(w, w->past->v.v[past - 1]));
	all = past + wanted_in_memory(w);
	for (uint64_t skip = all > w->last ? all - w->last : 0; skip; skip--) {
		if (w->past_next < past)
			w->past_next++;
		else
			wanted_event(w);
	}
	w->lost = 0;
}

static json_t *next_event(void *rows)
{
	struct watching *w = rows;
	const struct event *e;
	json_t *o;

	while (w->past && w->past_next < w->past->v.n)
		if ((o = past_event(w, w->past->v.v[w->past_next++])))
			return o;
	e = wanted_event(w);
	if (!e || (!w->follows && e->id >= w->end))
		return NULL;
	o = event_json(w->events, e);
	if (w->lost)
		json_object_set_new(o, "lost-before", json_integer((json_int_t)w->lost));
	w->lost = 0;
	return o;
}

static void release_past(void *arg)
{
	struct past *p = arg;

	if (!p)
		return;
	for (size_t i = 0; i < p->v.n; i++)
		free(p->v.v[i]);
	vec_free(&p->v);
	buf_free(&p->err);
	free(p->path);
	free(p);
}

static void release_watching(void *rows)
{
	struct watching *w = rows;

	unfollow(&w->follower);
	release_past(w->past);
	free(w);
}

/* --- the history --- */

static bool is_severe(const char *event, enum severity least)
{
	json_t *o = json_loads(event, 0, NULL);
	const char *severity = json_string_value(json_object_get(o, "severity"));
	bool severe = false;

	for (enum severity s = SEV_ERROR; severity && s <= least; s++)
		severe |= strcmp(severity, severity_name(s)) == 0;
	json_decref(o);
	return severe;
}

static bool take_past(void *arg, const char *kind, const char *json)
{
	struct past *p = arg;
	uint64_t kinds = 0;

	event_kinds_add(&kinds, kind);
	if (!(kinds & p->kinds) && p->kinds != EVENT_ALL_KINDS)
		return true;
	if (p->least < SEV_INFO && !is_severe(json, p->least))
		return true;
	p->many = p->v.n == PAST_MAX;
	if (!p->many)
		*vec_push(&p->v) = xstrdup(json);
	return !p->many;
}

static void read_past(void *arg)
{
	struct past *p = arg;

	p->good = history_read(p->path, p->from_us, p->until_us, take_past, p, &p->err);
}

static void past_work(void *arg)
{
	struct watching *w = arg;

	if (!bounded_run(read_past, release_past, w->past, PAST_US))
		w->past = NULL;
}

static void past_answer(void *arg, struct reply *r)
{
	struct watching *w = arg, *rows;

	if (!w->past) {
		reply_error(r, NULL, "the history does not answer in time");
	} else if (!w->past->good) {
		reply_error(r, NULL, "the history: %s", w->past->err.s);
	} else if (w->past->many) {
		reply_error(r, NULL, "there are more than %d events; ask for a shorter time or "
			    "fewer kinds", PAST_MAX);
	} else {
		rows = xmemdup(w, sizeof(*w));
		w->past = NULL;
		rows->next = events_oldest_id(w->events);
		rows->end = events_next_id(w->events);
		skip_to_last(rows);
		reply_result(r, NULL);
		reply_rows(r, "", next_event, release_watching, rows);
	}
}

static const struct job_ops past_ops = {
	.work = past_work, .answer = past_answer, .release = release_watching,
};

/* Whether the span begins before the events in memory, so that the history may have more. */
static bool begins_earlier(const struct watching *w)
{
	uint64_t next = events_oldest_id(w->events), lost = 0;
	const struct event *e = events_get(w->events, &next, EVENT_ALL_KINDS, &lost);

	return !e || w->from_us < e->when_us;
}

static void ask_history(const struct ctl_call *c, struct watching *w, struct reply *r)
{
	struct past *p = xcalloc(1, sizeof(*p));

	p->path = xstrdup(history_path(c->env->history));
	p->from_us = w->from_us;
	p->until_us = w->until_us;
	p->kinds = w->kinds;
	p->least = w->least;
	w->past = p;
	reply_later(r, c->view->jobs, &past_ops, w);
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

/* Sets the least severity; false: refused. */
static bool parse_severity(const struct ctl_call *c, struct reply *r, enum severity *least)
{
	const char *text = arg_text(c, "severity");

	if (!arg_is_one_of(c, "severity", EVENT_SEVERITIES, r))
		return false;
	*least = SEV_INFO;
	while (text && strcmp(text, severity_name(*least)) != 0)
		--*least;
	return true;
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
		reply_error(r, NULL, "until: %s is not a time, such as 2026-11-01T08:30 or '2 hours ago'",
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
	if (!parse_span(c, r, w) || !parse_severity(c, r, &w->least)) {
		free(w);
		return;
	}
	w->events = c->env->events;
	w->end = events_next_id(w->events);
	w->kinds = kinds;
	w->follows = arg_flag(c, "follow");
	arg_number(c, "last", &w->last);
	if (c->env->history && !w->follows && (w->from_us || w->until_us != INT64_MAX) &&
	    begins_earlier(w)) {
		ask_history(c, w, r);
		return;
	}
	skip_to_last(w);
	reply_result(r, NULL);
	reply_rows(r, "", next_event, release_watching, w);
	if (w->follows)
		follow(c->view->watchers, &w->follower, r);
}
