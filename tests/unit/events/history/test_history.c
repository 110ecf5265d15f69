/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the database of events: what is stored is read, in bounds, after kills and damage, and
 * nobody waits for a disk.
 *
 * promise: O14
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events/history/history.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "unit/run.h"

#define MAX (64ull << 20)

static char path[64], dir[40];

static void setup(void)
{
	strcpy(dir, "/tmp/qosd-history.XXXXXX");
	ck_assert(mkdtemp(dir) != NULL);
	snprintf(path, sizeof(path), "%s/history.db", dir);
}

static void teardown(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void add(struct history *h, int n)
{
	history_add(h, n * 1000000ll, n % 2 ? "link-up" : "link-down", xasprintf("{\"n\": %d}", n));
}

static bool append(void *arg, const char *kind, const char *json)
{
	buf_printf(arg, "%s%s ", strcmp(kind, "link-up") ? "" : "+", json + 6);
	return true;
}

static char *reading(int64_t from, int64_t until)
{
	static struct buf all, err;

	all.n = err.n = 0;
	buf_puts(&all, "");
	ck_assert_msg(history_read(path, from * 1000000, until * 1000000, append, &all, &err), "%s", err.s);
	return all.s;
}

/* Waits until n events are stored. */
static void stored(struct history *h, uint64_t n)
{
	for (int i = 0; i < 1000 && history_state(h).stored < n; i++)
		usleep(10000);
	ck_assert_uint_eq(history_state(h).stored, n);
}

START_TEST(an_empty_database_has_no_events)
{
	FILE *f = fopen(path, "w");

	fclose(f);
	ck_assert_str_eq(reading(0, 100), "");
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(by_time_and_over_restarts)
{
	struct history *h = history_new(path, MAX);

	ck_assert_str_eq(reading(0, 100), "");
	for (int i = 1; i <= 4; i++)
		add(h, i);
	history_free(h);
	ck_assert_str_eq(reading(0, 100), "+1} 2} +3} 4} ");
	ck_assert_str_eq(reading(2, 4), "2} +3} ");
	h = history_new(path, MAX);
	add(h, 2);
	stored(h, 1);
	ck_assert_str_eq(reading(2, 100), "2} +3} 4} 2} ");
	history_free(h);
	history_free(NULL);
}
END_TEST

/* What is older than the promised second survives SIGKILL. */
START_TEST(a_kill)
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct history *h = history_new(path, MAX);

		for (int i = 1; i <= 3; i++)
			add(h, i);
		usleep(1000000);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	ck_assert_str_eq(reading(0, 100), "+1} 2} +3} ");
}
END_TEST

START_TEST(damage)
{
	FILE *f = fopen(path, "w");
	struct history *h;
	char old[80];

	for (int i = 0; i < 5000; i++)
		fputs("no database", f);
	fclose(f);
	h = history_new(path, MAX);
	add(h, 7);
	stored(h, 1);
	ck_assert_str_eq(reading(0, 100), "+7} ");
	snprintf(old, sizeof(old), "%s.damaged", path);
	ck_assert_int_eq(access(old, F_OK), 0);
	history_free(h);
}
END_TEST

/* The oldest events make room. */
START_TEST(a_bound)
{
	struct history *h = history_new(path, HISTORY_MIN_BYTES);
	struct buf all = { 0 }, err = { 0 };
	struct stat s;
	uint64_t n = 0;

	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 2000; i++, n++)
			history_add(h, (int64_t)n * 1000000, "link-up", xasprintf("{\"n\": %04d, \"x\": \"%0200d\"}", (int)n, 0));
		stored(h, n);
	}
	history_free(h);
	ck_assert_int_eq(stat(path, &s), 0);
	ck_assert_int_le(s.st_size, HISTORY_MIN_BYTES);
	ck_assert(history_read(path, 0, INT64_MAX, append, &all, &err));
	ck_assert_ptr_null(strstr(all.s, "+0000,"));
	ck_assert_ptr_nonnull(strstr(all.s, "+7999,"));
	ck_assert_ptr_nonnull(strstr(all.s, "+6500,"));
	buf_free(&all);
}
END_TEST

/* Where nothing can be written, events wait, are dropped and counted, and nobody waits for them. */
START_TEST(no_disk)
{
	struct history *h;
	int64_t begun_us;

	ck_assert_int_eq(mkdir(path, 0700), 0);
	h = history_new(path, MAX);
	begun_us = clock_mono_us();
	for (int i = 0; i < HISTORY_QUEUE + 5; i++)
		add(h, 2);
	ck_assert_int_lt(clock_mono_us() - begun_us, 1000000);
	ck_assert_uint_eq(history_state(h).dropped, 5);
	for (int i = 0; i < 1000 && !history_state(h).failing; i++)
		usleep(10000);
	ck_assert_str_ne(history_state(h).why, "");
	ck_assert_int_eq(rmdir(path), 0);
	stored(h, HISTORY_QUEUE);
	ck_assert(!history_state(h).failing);
	history_free(h);
}
END_TEST

/* What is left to write goes on in the background, and a lower bound applies at once. */
START_TEST(left_to_write)
{
	struct history *h = history_new(path, MAX);
	struct buf all = { 0 }, err = { 0 };
	struct stat now;

	for (int i = 1; i <= 3; i++)
		add(h, i);
	history_leave(h);
	/* until it has made its table, there are no events */
	for (int i = 0; i < 1000 && !*reading(0, 100); i++)
		usleep(10000);
	ck_assert_str_eq(reading(0, 100), "+1} 2} +3} ");
	h = history_new(path, MAX);
	for (int i = 0; i < 2000; i++)
		history_add(h, i * 1000000ll, "link-up", xasprintf("{\"n\": \"%01500d\"}", i));
	stored(h, 2000);
	history_set_max(h, HISTORY_MIN_BYTES);
	add(h, 5000);
	stored(h, 2001);
	history_free(h);
	ck_assert_int_eq(stat(path, &now), 0);
	ck_assert_int_lt(now.st_size, 2 << 20);
	ck_assert_str_eq(reading(5000, 5001), "5000} ");
	history_leave(NULL);
	buf_free(&all);
	buf_free(&err);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("history");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, an_empty_database_has_no_events);
	tcase_add_test(t, by_time_and_over_restarts);
	tcase_add_test(t, a_kill);
	tcase_add_test(t, damage);
	tcase_add_test(t, a_bound);
	tcase_add_test(t, no_disk);
	tcase_add_test(t, left_to_write);
	suite_add_tcase(s, t);
	return run_suite(s);
}
