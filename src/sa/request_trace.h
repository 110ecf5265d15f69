/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the last TRACE_EVENTS requests to the SA and their answers, for `qosd-ctl sa-trace`.
 *
 * Any thread may add and read.  While nobody watches, a request costs one atomic
 * load.
 */
#ifndef QOSD_SA_REQUEST_TRACE_H
#define QOSD_SA_REQUEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_EVENTS	4096
#define TRACE_RECORD	64	/* bytes kept of a record: a whole PathRecord */

struct sa_event {
	int64_t when_us;		/* realtime of the answer */
	uint64_t mask;			/* ComponentMask */
	uint32_t us;			/* µs from arrival to answer; 0: not known */
	uint32_t records;		/* records in the answer */
	uint16_t slid, attr, status;
	uint8_t method;
	bool dropped;			/* the request got no answer */
	uint8_t n_asked, n_answered;	/* bytes in asked and answered */
	uint8_t asked[TRACE_RECORD], answered[TRACE_RECORD];	/* first record of request and answer */
};

struct sa_trace;

struct sa_trace *sa_trace_new(void);
void sa_trace_free(struct sa_trace *t);		/* NULL is fine */

/* Adds (on) or removes a watcher. */
void sa_trace_watch(struct sa_trace *t, bool on);
/* Sets the function that sa_trace_add() calls, in its thread and under the lock, for each event. */
void sa_trace_on_new(struct sa_trace *t, void (*fn)(void *arg), void *arg);

/* The number of watchers; NULL is fine. */
unsigned sa_trace_watchers(const struct sa_trace *t);
/* Whether anybody watches, so that requests have to be added. */
static inline bool sa_trace_active(const struct sa_trace *t)
{
	return sa_trace_watchers(t) != 0;
}
void sa_trace_add(struct sa_trace *t, const struct sa_event *e);

/*
 * Reads event number *next and advances *next, which starts with sa_trace_end().  False:
 * there is no such event yet.  *lost is the number of events that were overwritten before they
 * were read.
 */
bool sa_trace_get(struct sa_trace *t, uint64_t *next, struct sa_event *out, uint64_t *lost);
uint64_t sa_trace_end(struct sa_trace *t);

#endif
