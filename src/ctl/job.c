/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs work that takes too long for the loop: one thread per request, a few at a time.  A job
 * belongs to its list; the reply that waits for it may be freed earlier, and then the answer is
 * discarded.
 *
 * A job whose thread has ended and that waits for something else moves to another list, which is
 * not bounded itself: the job ends with its reply or, if the reply was freed before, soon.
 *
 * Jobs that change something are never refused: one runs at a time, beside the others, and those that wait for it
 * end with their replies, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ctl/command.h"
#include "lib/base/alloc.h"
#include "qosd/ctl.h"

struct job {
	struct jobs *jobs;
	const struct job_ops *ops;
	void *arg;
	struct reply *reply;	/* NULL: nobody waits any more */
	struct work *work;
	bool waits;		/* in the list of waiting jobs */
	struct job *prev, *next;
	bool queued;		/* in the queue of changes */
	TAILQ_ENTRY(job) in_queue;
};

struct jobs {
	struct loop *loop;
	struct job *running[CTL_JOBS_MAX];
	struct job *waiting;
	struct job *changing;		/* the change that runs; NULL: none */
	TAILQ_HEAD(, job) changes;	/* those that come next */
};

static void run(void *arg)
{
	struct job *job = arg;

	job->ops->work(job->arg);
}

/* Gives up the job's place among running ones, after its thread ended or if none was started. */
static void leave_place(struct job *job)
{
	for (unsigned i = 0; i < CTL_JOBS_MAX; i++)
		if (job->jobs->running[i] == job)
			job->jobs->running[i] = NULL;
	if (job->jobs->changing == job)
		job->jobs->changing = NULL;
	work_end(job->work);
	job->work = NULL;
}

static void start_waiting(struct job *job)
{
	struct job **first = &job->jobs->waiting;

	job->waits = true;
	job->next = *first;
	if (job->next)
		job->next->prev = job;
	*first = job;
}

static void stop_waiting(struct job *job)
{
	if (!job->waits)
		return;
	if (job->next)
		job->next->prev = job->prev;
	if (job->prev)
		job->prev->next = job->next;
	else
		job->jobs->waiting = job->next;
	job->waits = false;
}

static void leave_queue(struct job *job)
{
	if (job->queued)
		TAILQ_REMOVE(&job->jobs->changes, job, in_queue);
	job->queued = false;
}

static void job_free(struct job *job)
{
	leave_place(job);
	leave_queue(job);
	stop_waiting(job);
	job->ops->release(job->arg);
	free(job);
}

static void give_answer(void *arg)
{
	struct job *job = arg;
	struct reply nobody = { 0 }, *r = job->reply ? job->reply : &nobody;

	r->job = NULL;
	r->stage = REPLY_HEAD;
	job->ops->answer(job->arg, r);
	job_free(job);
	if (r == &nobody)
		reply_free(&nobody);
	else
		r->ready(r->ready_arg);
}

static void start_changes(struct jobs *jobs);

static void on_done(void *arg)
{
	struct job *job = arg;
	struct jobs *jobs = job->jobs;

	leave_place(job);
	if (!job->ops->then) {
		give_answer(job);
	} else {
		start_waiting(job);
		job->ops->then(job->arg, give_answer, job);
	}
	start_changes(jobs);
}

static void put_no_thread(struct reply *r)
{
	reply_error(r, NULL, "cannot start a thread: %s", strerror(errno));
}

/* Starts the next change, unless one runs. */
static void start_changes(struct jobs *jobs)
{
	struct job *job;

	while (!jobs->changing && (job = TAILQ_FIRST(&jobs->changes))) {
		struct reply *r = job->reply;

		leave_queue(job);
		jobs->changing = job;
		job->work = work_start(jobs->loop, run, on_done, job);
		if (job->work)
			continue;
		r->job = NULL;
		r->stage = REPLY_HEAD;
		put_no_thread(r);
		job_free(job);
		r->ready(r->ready_arg);
	}
}

static struct job **free_place(struct jobs *jobs)
{
	for (unsigned i = 0; i < CTL_JOBS_MAX; i++)
		if (!jobs->running[i])
			return &jobs->running[i];
	return NULL;
}

void reply_later(struct reply *r, struct jobs *jobs, const struct job_ops *ops, void *arg)
{
	struct job **place = free_place(jobs), *job;

	if (!place) {
		reply_error(r, json_pack("{s:b}", "busy", 1), "%d such requests are in progress: try again later",
			    CTL_JOBS_MAX);
		ops->release(arg);
		return;
	}
	*place = job = xcalloc(1, sizeof(*job));
	*job = (struct job){ .jobs = jobs, .ops = ops, .arg = arg, .reply = r };
	job->work = work_start(jobs->loop, run, on_done, job);
	if (!job->work) {
		put_no_thread(r);
		job_free(job);
		return;
	}
	r->job = job;
	r->stage = REPLY_WAITING;
}

void reply_change_later(struct reply *r, struct jobs *jobs, const struct job_ops *ops, void *arg)
{
	struct job *job = xcalloc(1, sizeof(*job));

	*job = (struct job){ .jobs = jobs, .ops = ops, .arg = arg, .reply = r };
	if (!jobs->changing) {
		jobs->changing = job;
		job->work = work_start(jobs->loop, run, on_done, job);
		if (!job->work) {
			put_no_thread(r);
			job_free(job);
			return;
		}
	} else {
		TAILQ_INSERT_TAIL(&jobs->changes, job, in_queue);
		job->queued = true;
	}
	r->job = job;
	r->stage = REPLY_WAITING;
}

void job_forget(struct job *job)
{
	if (!job)
		return;
	job->reply = NULL;
	if (job->waits || job->queued)
		job_free(job);
}

struct jobs *jobs_new(struct loop *l)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->loop = l;
	TAILQ_INIT(&jobs->changes);
	return jobs;
}

struct loop *jobs_loop(const struct jobs *jobs)
{
	return jobs->loop;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (unsigned i = 0; i < CTL_JOBS_MAX; i++)
		if (jobs->running[i])
			job_free(jobs->running[i]);
	while (!TAILQ_EMPTY(&jobs->changes))
		job_free(TAILQ_FIRST(&jobs->changes));
	if (jobs->changing)
		job_free(jobs->changing);
	while (jobs->waiting)
		job_free(jobs->waiting);
	free(jobs);
}
