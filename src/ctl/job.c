/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs work that takes too long for the loop: one thread per request, a few at a time.  A job
 * belongs to its list; the reply that waits for it may be freed earlier, and then the answer is
 * discarded.
 *
 * A job whose thread has ended and that waits for something else moves to another list, which is
 * not bounded itself: the job ends with its reply or, if the reply was freed before, soon.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
};

struct jobs {
	struct loop *loop;
	struct job *running[CTL_JOBS_MAX];
	struct job *waiting;
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

static void job_free(struct job *job)
{
	leave_place(job);
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

static void on_done(void *arg)
{
	struct job *job = arg;

	leave_place(job);
	if (!job->ops->then) {
		give_answer(job);
		return;
	}
	start_waiting(job);
	job->ops->then(job->arg, give_answer, job);
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
		reply_error(r, NULL, "cannot start a thread: %s", strerror(errno));
		job_free(job);
		return;
	}
	r->job = job;
	r->stage = REPLY_WAITING;
}

void job_forget(struct job *job)
{
	if (!job)
		return;
	job->reply = NULL;
	if (job->waits)
		job_free(job);
}

struct jobs *jobs_new(struct loop *l)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->loop = l;
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
	while (jobs->waiting)
		job_free(jobs->waiting);
	free(jobs);
}
