/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See bounded.h.  One lock guards the state of all calls; no thread holds it while run() runs. */
#include "lib/base/bounded.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"

struct call {
	pthread_t thread;
	void (*run)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	bool over;		/* run() has returned */
	bool left;		/* the caller gave up: the thread frees the call */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_cond_t changed;		/* uses CLOCK_MONOTONIC */
static unsigned n_left;
static bool cancelled;

static void init(void)
{
	clock_cond_init(&changed);
}

static void *call_thread(void *arg)
{
	struct call *c = arg;
	bool left;

	c->run(c->arg);
	pthread_mutex_lock(&lock);
	c->over = true;
	left = c->left;
	n_left -= left;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (left) {
		c->drop(c->arg);
		free(c);
	}
	return NULL;
}

/* Call with the lock held.  Returns 0 when run() has returned, else an errno. */
static int wait_for(struct call *c, int64_t limit_us)
{
	int64_t end_us = clock_mono_us() + limit_us;

	while (!c->over && !cancelled && clock_mono_us() < end_us)
		clock_cond_wait(&changed, &lock, end_us);
	return c->over ? 0 : cancelled ? ECANCELED : ETIMEDOUT;
}

static bool refuse(struct call *c, int why)
{
	c->drop(c->arg);
	free(c);
	errno = why;
	return false;
}

bool bounded_run(void (*run)(void *arg), void (*drop)(void *arg), void *arg, int64_t limit_us)
{
	struct call *c = xcalloc(1, sizeof(*c));
	int why;

	pthread_once(&once, init);
	*c = (struct call){ .run = run, .drop = drop, .arg = arg };
	pthread_mutex_lock(&lock);
	why = cancelled ? ECANCELED : n_left >= BOUNDED_LEFT_MAX ? EBUSY : 0;
	pthread_mutex_unlock(&lock);
	if (!why)
		why = pthread_create(&c->thread, NULL, call_thread, c);
	if (why)
		return refuse(c, why);
	pthread_mutex_lock(&lock);
	why = wait_for(c, limit_us);
	if (why) {
		c->left = true;
		n_left++;
		pthread_detach(c->thread);
	}
	pthread_mutex_unlock(&lock);
	if (!why) {
		pthread_join(c->thread, NULL);
		free(c);
	}
	errno = why;
	return !why;
}

void bounded_cancel(void)
{
	pthread_once(&once, init);
	pthread_mutex_lock(&lock);
	cancelled = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}
