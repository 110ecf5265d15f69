/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces condition variables, so that their timed waits end by simulated time.
 *
 * Another process cannot wake the C library's own.  Here a waiting thread puts an entry on its
 * stack into a queue, and sleeps on its slot's futex, which both signals and the simulator
 * increment.  Condition variables shared between processes are not supported.
 *
 * Of the memory of a pthread_cond_t only the clock of timed waits is used.  So
 * PTHREAD_COND_INITIALIZER, which is all zero, means CLOCK_REALTIME as it should.
 */
#include <errno.h>
#include <string.h>

#include "sim/preload/next.h"
#include "waits.h"

enum { QUEUES = 64 };

struct waiter {
	struct waiter *next;
	const pthread_cond_t *cond;
	_Atomic uint32_t *futex;
	_Atomic uint32_t own;		/* futex of a wait without a time limit */
	atomic_bool signaled;
};

static struct queue {
	pthread_mutex_t lock;
	struct waiter *first, **end;
} queues[QUEUES];

typedef int mutex_fn(pthread_mutex_t *m);
static mutex_fn *lock_mutex, *unlock_mutex;

/*
 * Bypasses a sanitizer's versions: to the sanitizer a wait is one operation, and it must not see
 * what happens to the mutex meanwhile.
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

/* Resets the queues after fork(): the waiting threads are not in the child. */
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

/* Leaves the queue; false if a signal has already taken the waiter out. */
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

/* What a waiting thread must release when it is woken or cancelled. */
struct waiting {
	struct waiter me;
	struct wait wait;
	pthread_mutex_t *mutex;
	bool in_time;		/* a signal ended the wait */
};

static void end_wait(void *arg)
{
	struct waiting *x = arg;

	x->in_time = !leave(&x->me);
	wait_end(&x->wait);
	lock_mutex(x->mutex);
}

/* deadline_ns 0: no time limit. */
static int wait_for(pthread_cond_t *cond, pthread_mutex_t *m, int64_t deadline_ns)
{
	struct waiting x = { .me = { .cond = cond }, .mutex = m };

	x.me.futex = &x.me.own;
	if (deadline_ns) {
		wait_begin(&x.wait, deadline_ns, 0);
		if (x.wait.slot)
			x.me.futex = &x.wait.slot->wakes;
	}
	enqueue(&x.me);
	unlock_mutex(m);
	pthread_cleanup_push(end_wait, &x);
	for (;;) {
		uint32_t value = atomic_load(x.me.futex);
		int64_t left = deadline_ns ? wait_left(&x.wait) : -1;

		if (atomic_load(&x.me.signaled) || !left)
			break;
		futex_wait(x.me.futex, value, left);
	}
	pthread_cleanup_pop(1);
	return x.in_time ? 0 : ETIMEDOUT;
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
		/* under the lock, which keeps the waiter's stack entry alive */
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
