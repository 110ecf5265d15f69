/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the log as it appears on stderr.  Each test runs in its own process (Check
 * forks), so it may change stderr and the environment.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "unit/run.h"

/* How long the next write() takes, as if its thread did not run.  The log's write() is this one. */
static useconds_t write_takes_us;

ssize_t write(int fd, const void *data, size_t n)
{
	usleep(write_takes_us);
	return syscall(SYS_write, fd, data, n);
}

static FILE *captured;

/* Captures stderr from here on; text() returns it. */
static void capture(bool journal)
{
	if (journal)
		setenv("JOURNAL_STREAM", "8:1234", 1);
	else
		unsetenv("JOURNAL_STREAM");
	captured = tmpfile();
	ck_assert_ptr_nonnull(captured);
	dup2(fileno(captured), STDERR_FILENO);
}

static const char *text(void)
{
	static char all[100000];
	ssize_t n = pread(fileno(captured), all, sizeof(all) - 1, 0);

	ck_assert_int_ge(n, 0);
	all[n] = '\0';
	return all;
}

static unsigned count_lines(const char *s)
{
	unsigned n = 0;

	for (; (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

START_TEST(levels)
{
	capture(false);
	ck_assert_int_eq(log_get_level(), LOG_LEVEL_INFO);
	log_error("m", "one %d", 1);
	log_warn("m", "two");
	log_info("m", "three");
	log_debug("m", "four");
	ck_assert_ptr_nonnull(strstr(text(), " error: m: one 1\n"));
	ck_assert_ptr_nonnull(strstr(text(), " warning: m: two\n"));
	ck_assert_ptr_nonnull(strstr(text(), " info: m: three\n"));
	ck_assert_ptr_null(strstr(text(), "four"));
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("m", "five");
	ck_assert_ptr_nonnull(strstr(text(), " debug: m: five\n"));
	log_set_level(LOG_LEVEL_ERROR);
	log_warn("m", "six");
	ck_assert_ptr_null(strstr(text(), "six"));
}
END_TEST

START_TEST(journal_prefix)
{
	capture(true);
	log_error("m", "one");
	log_warn("m", "two");
	log_info("m", "three");
	ck_assert_str_eq(text(), "<3>m: one\n<4>m: two\n<6>m: three\n");
}
END_TEST

/* A name from a device can neither forge a line nor control the terminal. */
START_TEST(hostile_text)
{
	char longer[5000];

	capture(true);
	log_warn("m", "%s: gone", "evil\n<0>kernel: \033[2J\177");
	ck_assert_str_eq(text(), "<4>m: evil?<0>kernel: ?[2J?: gone\n");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	log_warn("m", "%s", longer);
	ck_assert_uint_eq(count_lines(text()), 2);
	ck_assert_uint_lt(strlen(text()), 1200);
}
END_TEST

/* promise: A26 */
START_TEST(rate_limit)
{
	struct log_ratelimit rl = LOG_RATELIMIT;

	capture(true);
	for (int i = 0; i < 1000; i++)
		log_limited(&rl, LOG_LEVEL_WARNING, "m", "line %d", i);
	/* within less than a second: the burst, and at most one more */
	ck_assert_uint_ge(count_lines(text()), 10);
	ck_assert_uint_le(count_lines(text()), 12);
	ck_assert_ptr_nonnull(strstr(text(), "m: line 9\n"));
	ck_assert_ptr_null(strstr(text(), "line 500"));

	/* two seconds later, one line passes, which also says how many were suppressed */
	rl.last_us = clock_mono_us() - 2000000;
	unsigned long suppressed = rl.suppressed;
	log_limited(&rl, LOG_LEVEL_WARNING, "m", "again");
	char expect[64];
	snprintf(expect, sizeof(expect), "<4>m: again (%lu similar lines omitted)\n",
		 suppressed);
	ck_assert_ptr_nonnull(strstr(text(), expect));
	ck_assert_uint_ge(suppressed, 988);
	ck_assert_uint_eq(rl.suppressed, 0);
}
END_TEST

/* The tokens never exceed a burst, however much time passes. */
START_TEST(rate_limit_refills_to_burst)
{
	struct log_ratelimit rl = { .burst = 3, .per_second = 1, .tokens = 3 };

	capture(true);
	log_limited(&rl, LOG_LEVEL_INFO, "m", "first");
	rl.last_us = clock_mono_us() - 3600 * 1000000LL;
	for (int i = 0; i < 100; i++)
		log_limited(&rl, LOG_LEVEL_INFO, "m", "more");
	ck_assert_uint_eq(count_lines(text()), 1 + 3);
}
END_TEST

START_TEST(rate_limit_below_level)
{
	struct log_ratelimit rl = LOG_RATELIMIT;

	capture(true);
	for (int i = 0; i < 100; i++)
		log_limited(&rl, LOG_LEVEL_DEBUG, "m", "not shown");
	ck_assert_str_eq(text(), "");
	ck_assert_uint_eq(rl.suppressed, 0);
}
END_TEST

struct seen {
	unsigned n;
	char lines[LOG_RECENT][64];
};

static void see(void *arg, int64_t realtime_us, enum log_level level, const char *line)
{
	struct seen *s = arg;

	ck_assert_int_le(level, LOG_LEVEL_WARNING);
	ck_assert_int_gt(realtime_us, 0);
	ck_assert_uint_lt(s->n, LOG_RECENT);
	snprintf(s->lines[s->n++], sizeof(s->lines[0]), "%s", line);
}

START_TEST(recent_lines)
{
	struct seen s = { 0 };

	capture(true);
	log_recent(see, &s);
	ck_assert_uint_eq(s.n, 0);
	log_warn("m", "a");
	log_info("m", "not kept");
	log_error("m", "b");
	log_recent(see, &s);
	ck_assert_uint_eq(s.n, 2);
	ck_assert_str_eq(s.lines[0], "m: b");
	ck_assert_str_eq(s.lines[1], "m: a");
	for (int i = 0; i < 20; i++)
		log_warn("m", "%d", i);
	s.n = 0;
	log_recent(see, &s);
	ck_assert_uint_eq(s.n, LOG_RECENT);
	ck_assert_str_eq(s.lines[0], "m: 19");
	ck_assert_str_eq(s.lines[LOG_RECENT - 1], "m: 12");
}
END_TEST

/* Makes stderr a full pipe that nothing reads; returns its reading end. */
static int stuff(void)
{
	char zeros[4096] = { 0 };
	int fd[2];

	unsetenv("JOURNAL_STREAM");
	ck_assert_int_eq(pipe(fd), 0);
	ck_assert_int_eq(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	while (write(fd[1], zeros, sizeof(zeros)) > 0)
		;
	ck_assert_int_eq(fcntl(fd[1], F_SETFL, 0), 0);
	dup2(fd[1], STDERR_FILENO);
	close(fd[1]);
	return fd[0];
}

/* promise: A54 */
START_TEST(nobody_waits_for_who_reads_it)
{
	int64_t begun = clock_mono_us();

	stuff();	/* and its end for reading stays open: the thread goes on writing to it */
	log_begin();
	for (unsigned i = 0; i < LOG_LINES_MAX + 10; i++)
		log_error("m", "line %u.", i);
	ck_assert_int_lt(clock_mono_us() - begun, 2000000);
	begun = clock_mono_us();
	log_end(20000);
	ck_assert_int_lt(clock_mono_us() - begun, 2000000);
}
END_TEST

START_TEST(a_thread_that_is_slow_loses_no_line_at_the_end)
{
	capture(false);
	write_takes_us = 100000;
	log_begin();
	for (unsigned i = 0; i < 5; i++)
		log_error("m", "line %u.", i);
	log_end(20000);
	ck_assert_uint_eq(count_lines(text()), 5);
	write_takes_us = 0;
}
END_TEST

/* promise: A54 */
START_TEST(what_is_lost_is_counted)
{
	int fd = stuff();
	struct buf all = { 0 };
	char chunk[65536];

	log_begin();
	for (unsigned i = 0; i < LOG_LINES_MAX + 10; i++)
		log_error("m", "line %u.", i);
	while (!all.n || !memmem(all.s, all.n, "did not keep up\n", 16)) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		ck_assert_int_gt(n, 0);
		buf_add(&all, chunk, (size_t)n);
	}
	ck_assert_ptr_nonnull(memmem(all.s, all.n, "error: m: line 0.\n", 18));
	ck_assert_ptr_nonnull(memmem(all.s, all.n, "error: m: line 1000.\n", 21));
	ck_assert_ptr_null(memmem(all.s, all.n, "line 1033.\n", 11));
	ck_assert_ptr_nonnull(memmem(all.s, all.n, " lines: the log's reader did not", 32));
	log_warn("m", "as before");
	log_end(60 * 1000000ll);
	log_warn("m", "and after");
	close(STDERR_FILENO);
	all.n = 0;
	ck_assert(buf_read(&all, fd, 1 << 20));
	ck_assert_ptr_nonnull(strstr(all.s, "m: as before\n"));
	ck_assert_ptr_nonnull(strstr(all.s, "m: and after\n"));
	close(fd);
	buf_free(&all);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("log");
	TCase *tc = tcase_create("log");

	tcase_add_test(tc, levels);
	tcase_add_test(tc, journal_prefix);
	tcase_add_test(tc, hostile_text);
	tcase_add_test(tc, rate_limit);
	tcase_add_test(tc, rate_limit_refills_to_burst);
	tcase_add_test(tc, rate_limit_below_level);
	tcase_add_test(tc, recent_lines);
	tcase_add_test(tc, nobody_waits_for_who_reads_it);
	tcase_add_test(tc, a_thread_that_is_slow_loses_no_line_at_the_end);
	tcase_add_test(tc, what_is_lost_is_counted);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
