/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the SA is asked and how it answers, for those who want to look on
 * (`qosd-ctl sa-trace`): the last TRACE_EVENTS requests.
 *
 * Any thread adds and reads.  As long as nobody looks, a request costs the
 * reading of one flag.
 */
#ifndef QOSD_SA_REQUEST_TRACE_H
#define QOSD_SA_REQUEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_EVENTS	4096
#define TRACE_RECORD	64	/* bytes of a record that are kept: a PathRecord is whole */

struct sa_event {
	int64_t when_us;		/* realtime, when it was answered */
	uint64_t mask;			/* ComponentMask */
	uint32_t us;			/* from its arrival to the answer; 0: not known */
	uint32_t records;		/* in the answer; of a table that is sent in pieces: so far */
	uint16_t slid, attr, status;
	uint8_t method;
	bool dropped;			/* there is no answer */
	uint8_t n_asked, n_answered;	/* bytes of these two */
	uint8_t asked[TRACE_RECORD], answered[TRACE_RECORD];	/* the first record of each */
};

struct sa_trace;

struct sa_trace *sa_trace_new(void);
void sa_trace_free(struct sa_trace *t);		/* NULL is fine */

/* Somebody looks, or one fewer does. */
void sa_trace_watch(struct sa_trace *t, bool on);
/* Called, in the thread that adds, when there is something new. */
void sa_trace_on_new(struct sa_trace *t, void (*fn)(void *arg), void *arg);

/* How many look; NULL is fine. */
unsigned sa_trace_watchers(const struct sa_trace *t);
/* Whether to make an event of a request at all. */
static inline bool sa_trace_active(const struct sa_trace *t)
{
	return sa_trace_watchers(t) != 0;
}
void sa_trace_add(struct sa_trace *t, const struct sa_event *e);

/*
 * The event *next, which starts with sa_trace_end(); then *next is that of the one
 * behind it.  False if it has not happened yet.  *lost: how many were overwritten
 * before they could be read.
 */
bool sa_trace_get(struct sa_trace *t, uint64_t *next, struct sa_event *out, uint64_t *lost);
uint64_t sa_trace_end(struct sa_trace *t);

#endif
