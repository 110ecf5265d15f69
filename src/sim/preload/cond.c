/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Condition variables, whose timed waits end by simulated time.
 *
 * The C library's own cannot be woken by another process, so these are made anew: a thread
 * that waits stands in a queue, on its stack, and sleeps on its slot's futex, which
 * both a signal and the simulator count up.  Only within a process: what
 * is shared between processes is not supported.
 *
 * Of the memory of a pthread_cond_t only the clock of timed waits is used, so
 * PTHREAD_COND_INITIALIZER, all zero, is one by CLOCK_REALTIME as it should be.
 */
#include <errno.h>
#include <string.h>

#include "preload.h"

enum { QUEUES = 64 };

struct waiter {
	struct waiter *next;
	const pthread_cond_t *cond;
	_Atomic uint32_t *futex;
	_Atomic uint32_t own;		/* the futex of a wait without an end */
	atomic_bool signaled;
};

static struct queue {
	pthread_mutex_t lock;
	struct waiter *first, **end;
} queues[QUEUES];

typedef int mutex_fn(pthread_mutex_t *m);
static mutex_fn *lock_mutex, *unlock_mutex;

/*
 * The C library's, past a sanitizer's: to that, waiting is one act, and what
 * happens to the mutex meanwhile none of its business.
 */
__attribute__((constructor)) static void start(void)
{
	find_next("pthread_mutex_lock", &lock_mutex);
	find_next("pthread_mutex_unlock", &unlock_mutex);
}

static void reset(void)
{
	for (int i = 0; i < QUEUES; i++)
		queues[i] = (struct queue){ .lock = PTHREAD_MUTEX_INITIALIZER };
}

/* After fork(): those who waited are not here. */
__attribute__((constructor)) static void watch_forks(void)
{
	reset();
	pthread_atfork(NULL, NULL, reset);
}

static struct queue *lock_queue(const pthread_cond_t *cond)
{
	struct queue *q = &queues[((uintptr_t)cond >> 4) * 0x9e3779b9u % QUEUES];

	if (!lock_mutex)
		start();
	lock_mutex(&q->lock);
	return q;
}

static void enqueue(struct waiter *w)
{
	struct queue *q = lock_queue(w->cond);

	if (!q->first)
		q->end = &q->first;
	*q->end = w;
	q->end = &w->next;
	unlock_mutex(&q->lock);
}

/* Takes the waiter at *at out of its queue. */
static struct waiter *take(struct queue *q, struct waiter **at)
{
	struct waiter *w = *at;

	*at = w->next;
	if (q->end == &w->next)
		q->end = at;
	return w;
}

/* Leaves the queue if no signal has taken it out; false: one has. */
static bool leave(struct waiter *w)
{
	struct queue *q = lock_queue(w->cond);
	bool waits = !atomic_load(&w->signaled);

	for (struct waiter **at = &q->first; waits && *at; at = &(*at)->next)
		if (*at == w) {
			take(q, at);
			break;
		}
	unlock_mutex(&q->lock);
	return waits;
}

/* deadline_ns 0: none. */
static int wait_for(pthread_cond_t *cond, pthread_mutex_t *m, int64_t deadline_ns)
{
	struct waiter me = { .cond = cond, .futex = &me.own };
	struct wait w = { 0 };
	bool waits;

	if (deadline_ns) {
		wait_begin(&w, deadline_ns, 0);
		if (w.slot)
			me.futex = &w.slot->wakes;
	}
	enqueue(&me);
	unlock_mutex(m);
	for (;;) {
		uint32_t value = atomic_load(me.futex);
		int64_t left = deadline_ns ? wait_left(&w) : -1;

		if (atomic_load(&me.signaled) || !left)
			break;
		futex_wait(me.futex, value, left);
	}
	waits = leave(&me);
	wait_end(&w);
	lock_mutex(m);
	return waits ? ETIMEDOUT : 0;
}

static int wake(const pthread_cond_t *cond, bool all)
{
	struct queue *q = lock_queue(cond);

	for (struct waiter **at = &q->first; *at;) {
		struct waiter *w;

		if ((*at)->cond != cond) {
			at = &(*at)->next;
			continue;
		}
		w = take(q, at);
		/* under the lock, without which the waiter does not go away */
		atomic_store(&w->signaled, true);
		atomic_fetch_add(w->futex, 1);
		futex_wake(w->futex);
		if (!all)
			break;
	}
	unlock_mutex(&q->lock);
	return 0;
}

/* --- the C library's functions --- */

static clockid_t clock_of(const pthread_cond_t *cond)
{
	clockid_t id;

	memcpy(&id, cond, sizeof(id));
	return id;
}

int pthread_cond_init(pthread_cond_t *restrict cond, const pthread_condattr_t *restrict attr)
{
	clockid_t id = CLOCK_REALTIME;

	if (attr)
		pthread_condattr_getclock(attr, &id);
	memset(cond, 0, sizeof(*cond));
	memcpy(cond, &id, sizeof(id));
	return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
	(void)cond;
	return 0;
}

int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict m)
{
	return wait_for(cond, m, 0);
}

int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict m, clockid_t id,
			   const struct timespec *restrict t)
{
	int64_t deadline_ns = clock_from(id, t);

	return wait_for(cond, m, deadline_ns > 0 ? deadline_ns : 1);
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict m,
			   const struct timespec *restrict t)
{
	return pthread_cond_clockwait(cond, m, clock_of(cond), t);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	return wake(cond, false);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	return wake(cond, true);
}
