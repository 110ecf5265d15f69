/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores the request trace in a ring under a mutex (request_trace.h). */
#include "sa/request_trace.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lib/base/alloc.h"

struct sa_trace {
	atomic_uint watchers;
	pthread_mutex_t lock;		/* protects all members below */
	void (*on_new)(void *arg);
	void *arg;
	uint64_t end;			/* events added so far */
	struct sa_event ring[TRACE_EVENTS];
};

struct sa_trace *sa_trace_new(void)
{
	struct sa_trace *t = xcalloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void sa_trace_free(struct sa_trace *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void sa_trace_watch(struct sa_trace *t, bool on)
{
	if (on)
		atomic_fetch_add(&t->watchers, 1);
	else
		atomic_fetch_sub(&t->watchers, 1);
}

void sa_trace_on_new(struct sa_trace *t, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&t->lock);
	t->on_new = fn;
	t->arg = arg;
	pthread_mutex_unlock(&t->lock);
}

unsigned sa_trace_watchers(const struct sa_trace *t)
{
	return t ? atomic_load_explicit(&t->watchers, memory_order_relaxed) : 0;
}

void sa_trace_add(struct sa_trace *t, const struct sa_event *e)
{
	pthread_mutex_lock(&t->lock);
	t->ring[t->end++ % TRACE_EVENTS] = *e;
	if (t->on_new)
		t->on_new(t->arg);
	pthread_mutex_unlock(&t->lock);
}

bool sa_trace_get(struct sa_trace *t, uint64_t *next, struct sa_event *out, uint64_t *lost)
{
	uint64_t oldest;
	bool there;

	pthread_mutex_lock(&t->lock);
	oldest = t->end > TRACE_EVENTS ? t->end - TRACE_EVENTS : 0;
	*lost = *next < oldest ? oldest - *next : 0;
	*next += *lost;
	there = *next < t->end;
	if (there)
		*out = t->ring[(*next)++ % TRACE_EVENTS];
	pthread_mutex_unlock(&t->lock);
	return there;
}

uint64_t sa_trace_end(struct sa_trace *t)
{
	uint64_t end;

	pthread_mutex_lock(&t->lock);
	end = t->end;
	pthread_mutex_unlock(&t->lock);
	return end;
}
