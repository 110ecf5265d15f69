/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See writer.h.  The lock is held for the queue only, never while something is written.
 * Everything is tried in the order in which it was handed over, so that a number says how
 * far it is.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/internal.h"
#include "store/writer.h"

enum job_kind {
	JOB_PUT, JOB_PUT_ONCE, JOB_APPEND_NEW, JOB_APPEND,
	JOB_NONE,		/* a later one is in its place */
};

struct job {
	struct job *next;
	enum job_kind kind;
	char *name;
	struct buf text;
	/* of JOB_PUT_ONCE: who waits frees it, unless it went away before the end */
	bool over, ok, left;
};

struct writer {
	struct folder *folder;
	pthread_t thread;
	bool has_thread;	/* else all is done by who hands it over */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	struct job *first, **last;
	uint64_t handed, tried;		/* how many jobs */
	bool stop;
	struct job *now;		/* what is being done, since then */
	int64_t since_us;
	uint64_t failures;
	bool append_failed;
	void (*fn)(void *arg);
	void *arg;
	int append_fd;			/* the thread's */
};

/* --- doing, without the lock --- */

static void append_close(struct writer *w)
{
	if (w->append_fd >= 0)
		close(w->append_fd);
	w->append_fd = -1;
}

static bool do_job(struct writer *w, const struct job *j)
{
	switch (j->kind) {
	case JOB_PUT:
	case JOB_PUT_ONCE:
		return folder_write(w->folder, j->name, j->text.s, j->text.n,
				    j->kind == JOB_PUT);
	case JOB_APPEND_NEW:
		append_close(w);
		w->append_fd = folder_append_new(w->folder, j->name);
		return w->append_fd >= 0;
	case JOB_APPEND:
		if (w->append_fd < 0)
			return false;
		if (folder_append(w->folder, j->name, w->append_fd, j->text.s, j->text.n))
			return true;
		append_close(w);
		return false;
	case JOB_NONE:
		break;
	}
	return true;
}

/* --- the queue; the lock is held --- */

static void job_free(struct job *j)
{
	free(j->name);
	buf_free(&j->text);
	free(j);
}

/* Does the first one, for which it lets go of the lock. */
static void do_first(struct writer *w)
{
	struct job *j = w->first;
	bool ok;

	w->first = j->next;
	if (!w->first)
		w->last = &w->first;
	w->now = j;
	w->since_us = clock_mono_us();
	pthread_mutex_unlock(&w->lock);
	ok = do_job(w, j);
	pthread_mutex_lock(&w->lock);
	w->now = NULL;
	w->tried++;
	if (j->kind == JOB_APPEND_NEW || j->kind == JOB_APPEND)
		w->append_failed = !ok;
	else
		w->failures += !ok;
	j->over = true;
	j->ok = ok;
	if (j->kind != JOB_PUT_ONCE || j->left)
		job_free(j);
	if (w->fn)
		w->fn(w->arg);
	pthread_cond_broadcast(&w->done);
}

static struct job *hand_over(struct writer *w, enum job_kind kind, const char *name,
			     struct buf *text)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->kind = kind;
	j->name = xstrdup(name);
	if (text) {
		j->text = *text;
		*text = (struct buf){ 0 };
	}
	*w->last = j;
	w->last = &j->next;
	w->handed++;
	while (!w->has_thread && w->first)
		do_first(w);
	pthread_cond_signal(&w->more);
	return j;
}

static void until(struct timespec *t, int64_t mono_us)
{
	t->tv_sec = (time_t)(mono_us / 1000000);
	t->tv_nsec = (long)(mono_us % 1000000) * 1000;
}

static void *writer_thread(void *arg)
{
	struct writer *w = arg;
	struct timespec t;
	int64_t again_us;

	pthread_mutex_lock(&w->lock);
	while (w->first || !w->stop) {
		if (w->first)
			do_first(w);
		pthread_mutex_unlock(&w->lock);
		again_us = folder_retry(w->folder);
		pthread_mutex_lock(&w->lock);
		if (w->first || w->stop)
			continue;
		if (again_us) {
			until(&t, again_us);
			pthread_cond_timedwait(&w->more, &w->lock, &t);
		} else {
			pthread_cond_wait(&w->more, &w->lock);
		}
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* --- from outside --- */

void writer_put(struct writer *w, const char *name, struct buf *text)
{
	pthread_mutex_lock(&w->lock);
	for (struct job *j = w->first; j; j = j->next)
		if (j->kind == JOB_PUT && !strcmp(j->name, name)) {
			j->kind = JOB_NONE;
			buf_free(&j->text);
		}
	hand_over(w, JOB_PUT, name, text);
	pthread_mutex_unlock(&w->lock);
}

bool writer_put_now(struct writer *w, const char *name, struct buf *text, int64_t wait_us,
		    bool *in_time)
{
	int64_t end_us = clock_mono_us() + wait_us;
	struct timespec t;
	struct job *j;
	bool ok;

	until(&t, end_us);
	pthread_mutex_lock(&w->lock);
	j = hand_over(w, JOB_PUT_ONCE, name, text);
	while (!j->over && clock_mono_us() < end_us)
		pthread_cond_timedwait(&w->done, &w->lock, &t);
	*in_time = j->over;
	ok = j->over && j->ok;
	if (j->over)
		job_free(j);
	else
		j->left = true;
	pthread_mutex_unlock(&w->lock);
	return ok;
}

void writer_append_new(struct writer *w, const char *name)
{
	pthread_mutex_lock(&w->lock);
	w->append_failed = false;
	hand_over(w, JOB_APPEND_NEW, name, NULL);
	pthread_mutex_unlock(&w->lock);
}

void writer_append(struct writer *w, const char *name, struct buf *text)
{
	pthread_mutex_lock(&w->lock);
	hand_over(w, JOB_APPEND, name, text);
	pthread_mutex_unlock(&w->lock);
}

bool writer_append_failed(struct writer *w)
{
	bool failed;

	pthread_mutex_lock(&w->lock);
	failed = w->append_failed;
	pthread_mutex_unlock(&w->lock);
	return failed;
}

uint64_t writer_mark(struct writer *w)
{
	uint64_t mark;

	pthread_mutex_lock(&w->lock);
	mark = w->handed;
	pthread_mutex_unlock(&w->lock);
	return mark;
}

bool writer_is_past(struct writer *w, uint64_t mark)
{
	bool past;

	pthread_mutex_lock(&w->lock);
	past = w->tried >= mark;
	pthread_mutex_unlock(&w->lock);
	return past;
}

bool writer_wait(struct writer *w, uint64_t mark, int64_t wait_us)
{
	int64_t end_us = clock_mono_us() + wait_us;
	struct timespec t;
	bool past;

	until(&t, end_us);
	pthread_mutex_lock(&w->lock);
	while (w->tried < mark && clock_mono_us() < end_us)
		pthread_cond_timedwait(&w->done, &w->lock, &t);
	past = w->tried >= mark;
	pthread_mutex_unlock(&w->lock);
	return past;
}

void writer_on_done(struct writer *w, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&w->lock);
	w->fn = fn;
	w->arg = arg;
	pthread_mutex_unlock(&w->lock);
}

uint64_t writer_failures(struct writer *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->failures;
	pthread_mutex_unlock(&w->lock);
	return n;
}

int64_t writer_busy_us(struct writer *w, char *name, size_t n)
{
	int64_t us = 0;

	pthread_mutex_lock(&w->lock);
	if (w->now) {
		us = clock_mono_us() - w->since_us;
		snprintf(name, n, "%s", w->now->name);
	}
	pthread_mutex_unlock(&w->lock);
	return us;
}

struct writer *writer_new(struct folder *f)
{
	struct writer *w = xcalloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int why;

	w->folder = f;
	w->last = &w->first;
	w->append_fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->more, &attr);
	pthread_cond_init(&w->done, &attr);
	pthread_condattr_destroy(&attr);
	why = pthread_create(&w->thread, NULL, writer_thread, w);
	w->has_thread = !why;
	if (why)
		log_error("store", "no thread to write the state folder with (%s): each change waits "
			  "for the disk", strerror(why));
	return w;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	if (w->has_thread) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		pthread_cond_signal(&w->more);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	append_close(w);
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
