/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that would hold up the loop: each in a thread of its own, whose end comes
 * back as an event.  See loop.h.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "loop/loop.h"

struct work {
	pthread_t thread;
	struct wake *wake;
	void (*run)(void *arg);
	void *arg;
};

static void *work_thread(void *arg)
{
	struct work *w = arg;

	w->run(w->arg);
	loop_wake(w->wake);
	return NULL;
}

struct work *work_start(struct loop *l, void (*run)(void *arg), void (*done)(void *arg), void *arg)
{
	struct work *w = xcalloc(1, sizeof(*w));
	int failed;

	w->run = run;
	w->arg = arg;
	w->wake = wake_new(l, done, arg);
	failed = pthread_create(&w->thread, NULL, work_thread, w);
	if (!failed)
		return w;
	wake_free(w->wake);
	free(w);
	errno = failed;
	return NULL;
}

void work_end(struct work *w)
{
	if (!w)
		return;
	pthread_join(w->thread, NULL);
	wake_free(w->wake);
	free(w);
}
