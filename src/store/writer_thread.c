/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread with a queue of files to write; see writer_thread.h.
 *
 * The lock protects the queue and is never held while a file is written.  Jobs are done in the
 * order in which they were handed over.  A job that a later one makes obsolete is dropped, so
 * that a disk that hangs costs no more memory than the state to be kept.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "store/store_internal.h"
#include "store/writer_thread.h"

enum job_kind {
	JOB_PUT, JOB_PUT_ONCE, JOB_BEGIN, JOB_APPEND,
};

struct job {
	struct job *next;
	uint64_t number;		/* from 1 on; that of the first job that it replaces */
	enum job_kind kind;
	char *name, *journal;		/* journal: JOB_BEGIN only */
	struct buf text;
	/* JOB_PUT_ONCE: the waiting caller frees the job, unless it left before the end */
	bool over, ok, left;
};

struct writer {
	struct folder *folder;
	pthread_t thread;
	bool has_thread;	/* if not, each call does its job itself */
	pthread_mutex_t lock;
	pthread_cond_t more, done;
	struct job *first, **last;
	uint64_t handed;		/* number of jobs handed over */
	uint64_t doing;			/* number of the job in progress; 0: none */
	bool stop, ended;
	char now[64];			/* file being written */
	int64_t since_us;		/* start of that write; 0: none */
	uint64_t failures;
	bool append_failed;
	uint64_t recoveries;		/* folder_recoveries() */
	void (*fn)(void *arg);
	void *arg;
	int append_fd;			/* used by the thread only */
};

/* --- doing a job, without the lock --- */

static void append_close(struct writer *w)
{
	if (w->append_fd >= 0)
		close(w->append_fd);
	w->append_fd = -1;
}

static bool do_job(struct writer *w, struct job *j)
{
	switch (j->kind) {
	case JOB_PUT:
		store_seal(&j->text);
		/* fall through */
	case JOB_PUT_ONCE:
		return folder_write(w->folder, j->name, j->text.s, j->text.n,
				    j->kind == JOB_PUT ? FOLDER_RETRY : FOLDER_ONCE);
	case JOB_BEGIN:
		append_close(w);
		if (!folder_write(w->folder, j->name, j->text.s, j->text.n,
				  FOLDER_BY_CALLER))
			return false;
		w->append_fd = folder_append_new(w->folder, j->journal);
		return w->append_fd >= 0;
	case JOB_APPEND:
		if (w->append_fd < 0)
			return false;
		if (folder_append(w->folder, j->name, w->append_fd, j->text.s, j->text.n))
			return true;
		append_close(w);
		return false;
	}
	return false;
}

/* --- the queue; the lock is held --- */

static void job_free(struct job *j)
{
	free(j->name);
	free(j->journal);
	buf_free(&j->text);
	free(j);
}

static void busy_with(struct writer *w, const char *name)
{
	snprintf(w->now, sizeof(w->now), "%s", name);
	w->since_us = clock_mono_us();
}

/* Whether a later job contains all that this one does. */
static bool is_useless(const struct job *j, enum job_kind later, const char *name)
{
	return later == JOB_BEGIN ? j->kind == JOB_BEGIN || j->kind == JOB_APPEND :
	       j->kind == later && !strcmp(j->name, name);
}

/* Drops obsolete jobs; returns the number of the first one, or 0. */
static uint64_t drop_useless(struct writer *w, enum job_kind later, const char *name)
{
	uint64_t first = 0;

	for (struct job **at = &w->first, *j; (j = *at);) {
		if (!is_useless(j, later, name)) {
			at = &j->next;
			continue;
		}
		if (!first || j->number < first)
			first = j->number;
		*at = j->next;
		if (w->last == &j->next)
			w->last = at;
		job_free(j);
	}
	return first;
}

static bool is_past(const struct writer *w, uint64_t mark)
{
	if (w->doing && w->doing <= mark)
		return false;
	for (const struct job *j = w->first; j; j = j->next)
		if (j->number <= mark)
			return false;
	return true;
}

/* Does the first job; releases the lock meanwhile. */
static void do_first(struct writer *w)
{
	struct job *j = w->first;
	bool ok;

	w->first = j->next;
	if (!w->first)
		w->last = &w->first;
	w->doing = j->number;
	busy_with(w, j->name);
	pthread_mutex_unlock(&w->lock);
	ok = do_job(w, j);
	pthread_mutex_lock(&w->lock);
	w->since_us = 0;
	w->doing = 0;
	if (j->kind == JOB_BEGIN || j->kind == JOB_APPEND)
		w->append_failed = !ok;
	w->failures += !ok && j->kind != JOB_APPEND;
	w->recoveries = folder_recoveries(w->folder);
	j->over = true;
	j->ok = ok;
	if (j->kind != JOB_PUT_ONCE || j->left)
		job_free(j);
	if (w->fn)
		w->fn(w->arg);
	pthread_cond_broadcast(&w->done);
}

static struct job *hand_over(struct writer *w, enum job_kind kind, const char *name,
			     struct buf *text, const char *journal, uint64_t instead_of)
{
	struct job *j = xcalloc(1, sizeof(*j));

	j->kind = kind;
	j->name = xstrdup(name);
	j->journal = xstrdup_or_null(journal);
	j->text = *text;
	*text = (struct buf){ 0 };
	*w->last = j;
	w->last = &j->next;
	w->handed++;
	j->number = instead_of ? instead_of : w->handed;
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
		busy_with(w, "a delayed file");
		pthread_mutex_unlock(&w->lock);
		again_us = folder_retry(w->folder);
		pthread_mutex_lock(&w->lock);
		w->since_us = 0;
		w->recoveries = folder_recoveries(w->folder);
		if (w->first || w->stop)
			continue;
		if (again_us) {
			until(&t, again_us);
			pthread_cond_timedwait(&w->more, &w->lock, &t);
		} else {
			pthread_cond_wait(&w->more, &w->lock);
		}
	}
	busy_with(w, "a delayed file");
	pthread_mutex_unlock(&w->lock);
	folder_last_try(w->folder);
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	pthread_cond_broadcast(&w->done);
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* --- interface --- */

void writer_put(struct writer *w, const char *name, struct buf *text)
{
	pthread_mutex_lock(&w->lock);
	hand_over(w, JOB_PUT, name, text, NULL, drop_useless(w, JOB_PUT, name));
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
	j = hand_over(w, JOB_PUT_ONCE, name, text, NULL, 0);
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

void writer_begin(struct writer *w, const char *name, struct buf *text, const char *journal)
{
	pthread_mutex_lock(&w->lock);
	w->append_failed = false;
	hand_over(w, JOB_BEGIN, name, text, journal, drop_useless(w, JOB_BEGIN, name));
	pthread_mutex_unlock(&w->lock);
}

void writer_append(struct writer *w, const char *journal, struct buf *text)
{
	pthread_mutex_lock(&w->lock);
	hand_over(w, JOB_APPEND, journal, text, NULL, 0);
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

uint64_t writer_recoveries(struct writer *w)
{
	uint64_t n;

	pthread_mutex_lock(&w->lock);
	n = w->recoveries;
	pthread_mutex_unlock(&w->lock);
	return n;
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
	past = is_past(w, mark);
	pthread_mutex_unlock(&w->lock);
	return past;
}

bool writer_hangs(struct writer *w)
{
	bool hangs;

	pthread_mutex_lock(&w->lock);
	hangs = w->since_us && clock_mono_us() - w->since_us >= WRITER_HUNG_US;
	pthread_mutex_unlock(&w->lock);
	return hangs;
}

bool writer_wait(struct writer *w, uint64_t mark, int64_t wait_us)
{
	int64_t end_us = clock_mono_us() + wait_us;
	struct timespec t;
	bool past;

	until(&t, end_us);
	pthread_mutex_lock(&w->lock);
	while (!is_past(w, mark) && clock_mono_us() < end_us)
		pthread_cond_timedwait(&w->done, &w->lock, &t);
	past = is_past(w, mark);
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
	if (w->since_us) {
		us = clock_mono_us() - w->since_us;
		snprintf(name, n, "%s", w->now);
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
		log_error("store", "cannot start a thread to write the state folder (%s): every change "
			  "waits for the disk", strerror(why));
	return w;
}

/* The caller holds the lock.  When to give up, if there is no progress until then. */
static int64_t end_at(const struct writer *w, int64_t begun_us)
{
	int64_t since_us = w->since_us > begun_us ? w->since_us : begun_us;

	if (w->since_us && begun_us - w->since_us >= WRITER_HUNG_US)
		return begun_us;
	return since_us + WRITER_END_US;
}

/* The caller holds the lock.  False: the disk hangs. */
static bool wait_ended(struct writer *w)
{
	int64_t begun_us = clock_mono_us(), at_us;
	struct timespec t;

	while (!w->ended) {
		at_us = end_at(w, begun_us);
		if (clock_mono_us() >= at_us)
			return false;
		until(&t, at_us);
		pthread_cond_timedwait(&w->done, &w->lock, &t);
	}
	return true;
}

/* The caller holds the lock. */
static void say_lost(const struct writer *w)
{
	const char *dir = folder_dir(w->folder);

	log_error("store", "%s/%s: write stalled; not waiting any longer: the file's latest content may be "
		  "lost", dir, w->now);
	for (const struct job *j = w->first; j; j = j->next)
		log_error("store", "%s/%s: not written before qosd ended; its latest content is lost", dir,
			  j->name);
}

bool writer_free(struct writer *w)
{
	bool ended = true;

	if (!w)
		return true;
	if (w->has_thread) {
		pthread_mutex_lock(&w->lock);
		w->stop = true;
		w->fn = NULL;
		pthread_cond_signal(&w->more);
		ended = wait_ended(w);
		if (!ended)
			say_lost(w);
		pthread_mutex_unlock(&w->lock);
		if (!ended) {
			pthread_detach(w->thread);
			return false;
		}
		pthread_join(w->thread, NULL);
	} else {
		folder_last_try(w->folder);
	}
	append_close(w);
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->done);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return true;
}
