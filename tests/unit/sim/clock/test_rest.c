/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests finding out whether processes are idle, with real processes. */
/* promise: V8 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/clock/rest.h"
#include "unit/run.h"

static struct look before, now;
static int32_t gone_pid;

static void note_gone(void *arg, int32_t pid)
{
	(void)arg;
	gone_pid = pid;
}

static void take(struct look *l, int32_t pid)
{
	look_take(l, l == &now ? &before : NULL, &pid, 1, note_gone, NULL);
}

/* Looks until the process sleeps. */
static void wait_for_sleep(int32_t pid)
{
	do {
		usleep(1000);
		take(&before, pid);
	} while (!before.asleep || before.threads.n == 0);
}

/* A child that reads from a pipe and then sleeps again, or one that has such a child. */
static int32_t start_reader(int pipe_fd[2], bool grandchild)
{
	int32_t pid;
	char byte;

	ck_assert_int_eq(pipe(pipe_fd), 0);
	pid = fork();
	if (pid)
		return pid;
	if (grandchild && fork())
		for (;;)
			pause();
	close(pipe_fd[1]);
	while (read(pipe_fd[0], &byte, 1) == 1)
		;
	_exit(0);
}

static void end_child(int32_t pid, int pipe_fd[2])
{
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void teardown(void)
{
	look_free(&before);
	look_free(&now);
}

START_TEST(who_sleeps_all_the_time_rests)
{
	int fd[2];
	int32_t pid = start_reader(fd, false);

	wait_for_sleep(pid);
	take(&now, pid);
	ck_assert(look_rests(&before, &now));
	end_child(pid, fd);
}
END_TEST

START_TEST(who_ran_between_two_looks_does_not_rest)
{
	int fd[2];
	int32_t pid = start_reader(fd, false);

	wait_for_sleep(pid);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	do {
		take(&now, pid);
		ck_assert(!look_rests(&before, &now));
	} while (!now.asleep);		/* it sleeps again, and is found out by its switches */
	end_child(pid, fd);
}
END_TEST

START_TEST(descendants_count)
{
	int fd[2];
	int32_t pid = start_reader(fd, true);

	do
		wait_for_sleep(pid);
	while (before.threads.n < 2);
	ck_assert_uint_eq(before.pids.n, 2);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	do {
		take(&now, pid);
		ck_assert(!look_rests(&before, &now));
	} while (!now.asleep);
	take(&before, pid);
	end_child(pid, fd);		/* and the grandchild ends with its pipe */
}
END_TEST

START_TEST(who_computes_does_not_rest)
{
	int32_t pid = fork();

	if (!pid)
		for (volatile unsigned n = 0; ; n++)
			;
	take(&now, pid);
	ck_assert(!now.asleep);
	ck_assert_int_eq(now.busy_pid, pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(who_is_stopped_rests)
{
	int32_t pid = fork();

	if (!pid)
		for (volatile unsigned n = 0; ; n++)
			;
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	take(&before, pid);
	take(&now, pid);
	ck_assert(look_rests(&before, &now));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(who_is_gone_is_told)
{
	int32_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	take(&now, pid);
	ck_assert_int_eq(gone_pid, pid);
	ck_assert(now.asleep);
	ck_assert_uint_eq(now.threads.n, 0);
}
END_TEST

START_TEST(orphans_are_not_taken_from_an_earlier_look)
{
	int fd[2];
	int32_t pid = start_reader(fd, true);

	do
		wait_for_sleep(pid);
	while (before.threads.n < 2);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	take(&now, pid);
	ck_assert(now.asleep);
	ck_assert_uint_eq(now.threads.n, 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(who_slept_is_taken_from_an_earlier_look)
{
	int fd[2];
	int32_t pid = start_reader(fd, true);

	do
		wait_for_sleep(pid);
	while (before.threads.n < 2);
	before.threads.v[0].switches += 1000;	/* the mark */
	take(&now, pid);
	ck_assert_uint_eq(now.threads.n, 2);
	ck_assert_uint_eq(now.pids.n, 2);
	ck_assert(look_rests(&before, &now));
	end_child(pid, fd);
}
END_TEST

START_TEST(one_look_alone_shows_nothing)
{
	take(&now, (int32_t)getppid());
	ck_assert(!look_rests(&(struct look){ 0 }, &now));
}
END_TEST

START_TEST(a_status_file_is_read)
{
	char state;
	uint64_t switches;

	ck_assert(look_parse("Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t7\n"
			     "nonvoluntary_ctxt_switches:\t5\n", &state, &switches));
	ck_assert_int_eq(state, 'S');
	ck_assert_uint_eq(switches, 12);
	ck_assert(!look_parse("Name:\tx\nState:\tZ (zombie)\n", &state, &switches));
	ck_assert(!look_parse("", &state, &switches));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rest");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, who_sleeps_all_the_time_rests);
	tcase_add_test(t, who_ran_between_two_looks_does_not_rest);
	tcase_add_test(t, descendants_count);
	tcase_add_test(t, who_computes_does_not_rest);
	tcase_add_test(t, who_is_stopped_rests);
	tcase_add_test(t, who_is_gone_is_told);
	tcase_add_test(t, orphans_are_not_taken_from_an_earlier_look);
	tcase_add_test(t, who_slept_is_taken_from_an_earlier_look);
	tcase_add_test(t, one_look_alone_shows_nothing);
	tcase_add_test(t, a_status_file_is_read);
	suite_add_tcase(s, t);
	return run_suite(s);
}
