/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests jobs that wait for something after their thread has ended (job.c), with all orders of ends.
 *
 * promise: O3
 */
#include <check.h>
#include <string.h>

#include "ctl/command.h"
#include "qosd/ctl.h"
#include "unit/run.h"

enum { MANY = CTL_JOBS_MAX + 3 };

/* A request and its outcome. */
struct request {
	bool at_once;		/* there is nothing to be waited for */
	void (*done)(void *job);
	void *job;
	unsigned answered, released, ready;
	struct reply reply;
};

static struct loop *loop;
static struct jobs *jobs;
static struct request all[MANY];

static void work(void *arg)
{
	(void)arg;
}

static void then(void *arg, void (*done)(void *job), void *job)
{
	struct request *q = arg;

	q->done = done;
	q->job = job;
	loop_stop(loop);
	if (q->at_once)
		done(job);
}

static void answer(void *arg, struct reply *r)
{
	struct request *q = arg;

	q->answered++;
	reply_result(r, NULL);
}

static void release(void *arg)
{
	struct request *q = arg;

	q->released++;
}

static void ready(void *arg)
{
	struct request *q = arg;

	q->ready++;
}

/* Starts a request and runs the loop until it waits or has ended. */
static void start(struct request *q)
{
	static const struct job_ops ops = { work, then, answer, release };

	reply_later(&q->reply, jobs, &ops, q);
	ck_assert_int_eq(q->reply.stage, REPLY_WAITING);
	q->reply.ready = ready;
	q->reply.ready_arg = q;
	loop_run(loop);
}

static void is_answered(const struct request *q)
{
	ck_assert_uint_eq(q->answered, 1);
	ck_assert_uint_eq(q->released, 1);
	ck_assert_uint_eq(q->ready, 1);
	ck_assert_int_eq(q->reply.stage, REPLY_HEAD);
	ck_assert_ptr_null(q->reply.job);
}

static void setup(void)
{
	memset(all, 0, sizeof(all));
	loop = loop_new();
	jobs = jobs_new(loop);
}

static void teardown(void)
{
	for (unsigned i = 0; i < MANY; i++)
		reply_free(&all[i].reply);
	jobs_free(jobs);
	loop_free(loop);
}

START_TEST(nothing_to_wait_for)
{
	all[0].at_once = true;
	start(&all[0]);
	is_answered(&all[0]);
}
END_TEST

/* More jobs than may run at once; each is answered once, in any order. */
START_TEST(any_number_waits)
{
	static const unsigned order[MANY] = { 2, 4, 0, 3, 1 };

	for (unsigned i = 0; i < MANY; i++)
		start(&all[i]);
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_uint_eq(all[i].answered + all[i].released, 0);
	for (unsigned i = 0; i < MANY; i++) {
		struct request *q = &all[order[i]];

		q->done(q->job);
		is_answered(q);
	}
}
END_TEST

START_TEST(a_client_that_goes_is_waited_for_no_more)
{
	for (unsigned i = 0; i < 3; i++)
		start(&all[i]);
	reply_free(&all[1].reply);
	ck_assert_uint_eq(all[1].released, 1);
	ck_assert_uint_eq(all[1].answered + all[1].ready, 0);
	all[2].done(all[2].job);
	is_answered(&all[2]);
	all[0].done(all[0].job);
	is_answered(&all[0]);
}
END_TEST

/* The client goes while the thread works: the job is done, but no answer is sent. */
START_TEST(a_client_that_went_before)
{
	static const struct job_ops ops = { work, then, answer, release };
	struct request *q = &all[0];

	reply_later(&q->reply, jobs, &ops, q);
	reply_free(&q->reply);
	loop_run(loop);
	ck_assert_ptr_nonnull(q->done);
	ck_assert_uint_eq(q->released, 0);
	q->done(q->job);
	ck_assert_uint_eq(q->released, 1);
	ck_assert_uint_eq(q->ready, 0);
}
END_TEST

START_TEST(the_end_releases_who_waits)
{
	for (unsigned i = 0; i < 2; i++)
		start(&all[i]);
	for (unsigned i = 0; i < 2; i++)
		all[i].reply = (struct reply){ 0 };
	jobs_free(jobs);
	jobs = NULL;
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(all[i].released, 1);
		ck_assert_uint_eq(all[i].answered + all[i].ready, 0);
	}
}
END_TEST

static Suite *jobs_suite(void)
{
	Suite *s = suite_create("jobs");
	TCase *t = tcase_create("waiting");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_to_wait_for);
	tcase_add_test(t, any_number_waits);
	tcase_add_test(t, a_client_that_goes_is_waited_for_no_more);
	tcase_add_test(t, a_client_that_went_before);
	tcase_add_test(t, the_end_releases_who_waits);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(jobs_suite());
}
