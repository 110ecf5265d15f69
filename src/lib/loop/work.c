/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs work that would block the loop, each piece in a thread of its own; see loop.h.
 *
 * The end of the work comes back to the loop as an event.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/loop/loop.h"

struct work {
	pthread_t thread;
	struct wake *wake;
	void (*run)(void *arg);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t changed;		/* uses CLOCK_MONOTONIC */
	bool over;			/* run() has returned */
	void (*left)(void *arg);	/* set when the caller gave up: the thread calls it and frees the
					 * work */
};

static void work_free(struct work *w)
{
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static void *work_thread(void *arg)
{
	struct work *w = arg;
	void (*left)(void *arg);

	w->run(w->arg);
	pthread_mutex_lock(&w->lock);
	w->over = true;
	left = w->left;
	if (!left)
		loop_wake(w->wake);
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (left) {
		left(w->arg);
		work_free(w);
	}
	return NULL;
}

struct work *work_start(struct loop *l, void (*run)(void *arg), void (*done)(void *arg), void *arg)
{
	struct work *w = xcalloc(1, sizeof(*w));
	int failed;

	w->run = run;
	w->arg = arg;
	w->wake = wake_new(l, done, arg);
	pthread_mutex_init(&w->lock, NULL);
	clock_cond_init(&w->changed);
	failed = pthread_create(&w->thread, NULL, work_thread, w);
	if (!failed)
		return w;
	wake_free(w->wake);
	work_free(w);
	errno = failed;
	return NULL;
}

void work_end(struct work *w)
{
	if (!w)
		return;
	pthread_join(w->thread, NULL);
	wake_free(w->wake);
	work_free(w);
}

/* Call with the lock held.  Returns whether run() has returned. */
static bool wait_locked(struct work *w, int64_t limit_us)
{
	int64_t end_us = clock_mono_us() + limit_us;

	while (!w->over && clock_mono_us() < end_us)
		clock_cond_wait(&w->changed, &w->lock, end_us);
	return w->over;
}

bool work_wait(struct work *w, int64_t limit_us)
{
	bool over;

	pthread_mutex_lock(&w->lock);
	over = wait_locked(w, limit_us);
	pthread_mutex_unlock(&w->lock);
	return over;
}

bool work_leave(struct work *w, int64_t limit_us, void (*left)(void *arg))
{
	struct wake *wake = w->wake;
	bool over;

	pthread_mutex_lock(&w->lock);
	over = wait_locked(w, limit_us);
	if (!over) {
		w->left = left;
		pthread_detach(w->thread);
	}
	pthread_mutex_unlock(&w->lock);
	if (over)
		work_end(w);
	else
		wake_free(wake);
	return over;
}
