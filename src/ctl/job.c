/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Work that takes too long for the loop: a thread for each request, a few at a
 * time.  A job belongs to its list; the reply that waits for it may go away
 * earlier, and then the answer is thrown away.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ctl/command.h"
#include "qosd/ctl.h"

struct job {
	struct jobs *jobs;
	const struct job_ops *ops;
	void *arg;
	struct reply *reply;	/* NULL: nobody waits any more */
	struct work *work;
};

struct jobs {
	struct loop *loop;
	struct job *running[CTL_JOBS_MAX];
};

static void run(void *arg)
{
	struct job *job = arg;

	job->ops->work(job->arg);
}

static void job_free(struct job *job)
{
	for (unsigned i = 0; i < CTL_JOBS_MAX; i++)
		if (job->jobs->running[i] == job)
			job->jobs->running[i] = NULL;
	work_end(job->work);
	job->ops->release(job->arg);
	free(job);
}

static void on_done(void *arg)
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
		reply_error(r, NULL, "%d such requests are being worked on: try again later",
			    CTL_JOBS_MAX);
		ops->release(arg);
		return;
	}
	*place = job = xcalloc(1, sizeof(*job));
	*job = (struct job){ .jobs = jobs, .ops = ops, .arg = arg, .reply = r };
	job->work = work_start(jobs->loop, run, on_done, job);
	if (!job->work) {
		reply_error(r, NULL, "no thread for it: %s", strerror(errno));
		job_free(job);
		return;
	}
	r->job = job;
	r->stage = REPLY_WAITING;
}

void job_forget(struct job *job)
{
	if (job)
		job->reply = NULL;
}

struct jobs *jobs_new(struct loop *l)
{
	struct jobs *jobs = xcalloc(1, sizeof(*jobs));

	jobs->loop = l;
	return jobs;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (unsigned i = 0; i < CTL_JOBS_MAX; i++)
		if (jobs->running[i])
			job_free(jobs->running[i]);
	free(jobs);
}
