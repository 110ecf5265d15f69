/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the command that is run for each event, with real processes in a real loop. */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/event_command.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "unit/run.h"

/* This test uses the machine's clock. */
int64_t __real_clock_mono_us(void);
int64_t __wrap_clock_mono_us(void);

int64_t __wrap_clock_mono_us(void)
{
	return __real_clock_mono_us();
}

#define LONG_US 20000000	/* more than anything here takes on a busy machine */

static struct loop *loop;
static struct events *es;
static struct hook *hook;
static char dir[] = "/tmp/qosd-hook.XXXXXX";
static char *script, *out;
static char *command[4];

static void setup(void)
{
	strcpy(strrchr(dir, '.') + 1, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	script = xasprintf("%s/script", dir);
	out = xasprintf("%s/out", dir);
	command[0] = script;
	command[1] = out;
	command[2] = command[3] = NULL;
	loop = loop_new();
	es = events_new(1);
}

static void teardown(void)
{
	hook_free(hook);
	hook = NULL;
	events_free(es);
	loop_free(loop);
	unlink(script);
	unlink(out);
	rmdir(dir);
	free(script);
	free(out);
}

/* In the script, $1 is the file that the test reads. */
static void write_script(const char *text)
{
	FILE *f = fopen(script, "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	fclose(f);
	ck_assert_int_eq(chmod(script, 0700), 0);
}

static void add(enum event_kind kind, const char *text)
{
	struct event e;

	event_make(&e, kind, "%s", text);
	event_number(&e, "far-port", 7);
	events_add(es, &e, 0);
}

static uint64_t done_wanted;
static void look(void *arg)
{
	const struct hook_counts *c = hook_counts(hook);

	(void)arg;
	if (access(out, F_OK) == 0 || c->failed + c->killed >= done_wanted)
		loop_stop(loop);
}

static void stop(void *arg)
{
	(void)arg;
	ck_abort_msg("nothing happened");
}

/* Runs the loop until the last script has made the file, or so many scripts have failed. */
static void run_until(uint64_t failures)
{
	struct timer *often = timer_new(loop, look, NULL), *late = timer_new(loop, stop, NULL);

	done_wanted = failures;
	timer_set(often, 5000, 5000);
	timer_set(late, LONG_US, 0);
	loop_run(loop);
	timer_free(often);
	timer_free(late);
}

static char *read_out(void)
{
	struct buf b = { 0 };
	int fd = open(out, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert(buf_read(&b, fd, 65536));
	close(fd);
	buf_add(&b, "", 0);
	return b.s;
}

START_TEST(what_it_gets)
{
	char *text;
	int held = open("/dev/null", O_RDONLY);	/* a descriptor that is not to be inherited */

	write_script("exec >\"$1.new\" 2>&1; cat; env; ls /proc/self/fd | tr '\\n' ' '; pwd; "
		     "mv \"$1.new\" \"$1\"");
	setenv("SECRET", "of the daemon", 1);
	add(EVENT_LINK_DOWN, "$(touch /tmp/x); a 'b'");
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	run_until(UINT64_MAX);
	close(held);
	text = read_out();
	ck_assert_msg(!strncmp(text, "{\"id\":1,\"boot\":\"0000000000000001\",", 34), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, "\"data\":{\"far-port\":7}}\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nQOSD_EVENT_KIND=link-down\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nQOSD_EVENT_TEXT=$(touch /tmp/x); a 'b'\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nQOSD_EVENT_DATA_FAR_PORT=7\n"));
	ck_assert_ptr_null(strstr(text, "SECRET"));
	/* descriptor 3 is the folder that ls reads */
	ck_assert_msg(strstr(text, "\n0 1 2 3 /\n"), "%s", text);
	free(text);
}
END_TEST

START_TEST(one_at_a_time_and_in_order)
{
	char *text;

	write_script("mkdir \"$1.lock\" || exit 1; sleep 0.05; echo $QOSD_EVENT_ID >>\"$1.new\"; "
		     "rmdir \"$1.lock\"; [ $QOSD_EVENT_ID -lt 6 ] || mv \"$1.new\" \"$1\"");
	for (unsigned i = 0; i < 3; i++) {
		add(EVENT_LINK_DOWN, "a");
		add(EVENT_LINK_UP, "b");
	}
	hook = hook_new(loop, es, command, 1ull << EVENT_LINK_UP);
	run_until(1);
	text = read_out();
	ck_assert_str_eq(text, "2\n4\n6\n");
	ck_assert_uint_eq(hook_counts(hook)->started, 3);
	free(text);
}
END_TEST

START_TEST(what_goes_wrong)
{
	write_script("exit 3");
	add(EVENT_LINK_UP, "a");
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	run_until(1);
	/* a missing command, and the next event */
	unlink(script);
	add(EVENT_LINK_UP, "b");
	run_until(2);
	write_script("touch \"$1\"");
	add(EVENT_LINK_UP, "c");
	run_until(3);
	ck_assert_uint_eq(hook_counts(hook)->failed, 2);
	ck_assert_uint_eq(hook_counts(hook)->started, 3);
}
END_TEST

static void stop_now(void *arg)
{
	loop_stop(arg);
}

/*
 * Opening a file on which another process has a lease blocks until that process gives it up, or for
 * /proc/sys/fs/lease-break-time, as on a disk that hangs.
 */
/* promise: A80 */
START_TEST(one_whose_disk_hangs)
{
	struct timer *t = timer_new(loop, stop_now, loop);
	int64_t begin, longest = 0;
	pid_t holder;
	int status, ready[2];
	char byte;

	write_script("touch \"$1\"");
	ck_assert_int_eq(pipe(ready), 0);
	holder = fork();
	ck_assert_int_ge(holder, 0);
	if (!holder) {
		int fd = open(script, O_WRONLY);

		signal(SIGIO, SIG_IGN);
		byte = fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
		_exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(byte, 1);
	add(EVENT_LINK_UP, "a");
	begin = clock_mono_us();
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	hook_set_limit(hook, 300000);
	/* the loop goes on meanwhile, and the time limit holds */
	while (!hook_counts(hook)->killed && clock_mono_us() - begin < LONG_US) {
		int64_t turn = clock_mono_us();

		timer_set(t, 1000, 0);
		loop_run(loop);
		turn = clock_mono_us() - turn;
		longest = turn > longest ? turn : longest;
	}
	ck_assert_uint_eq(hook_counts(hook)->killed, 1);
	ck_assert_msg(longest < 5000000, "the loop stood still for %lld us", (long long)longest);
	ck_assert_int_eq(kill(holder, SIGKILL), 0);
	ck_assert_int_eq(waitpid(holder, &status, 0), holder);
	ck_assert_int_ne(access(out, F_OK), 0);
	/* and the command for the next event runs, for which a busy machine takes its time */
	hook_set_limit(hook, LONG_US);
	add(EVENT_LINK_UP, "b");
	run_until(UINT64_MAX);
	timer_free(t);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

START_TEST(one_that_does_not_end)
{
	char *text;

	/* the child of the command must end, too */
	write_script("[ $QOSD_EVENT_ID = 1 ] && { sleep 1000 & echo $! >\"$1.pid\"; wait; }; "
		     "read pid <\"$1.pid\"; rm \"$1.pid\"; sleep 0.1; "
		     "case $(cut -d ' ' -f 3 /proc/$pid/stat 2>/dev/null) in ''|Z) echo gone;; "
		     "*) echo left; kill $pid;; esac >\"$1.new\"; mv \"$1.new\" \"$1\"");
	add(EVENT_LINK_UP, "a");
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	hook_set_limit(hook, 300000);
	run_until(1);
	hook_set_limit(hook, LONG_US);
	add(EVENT_LINK_UP, "b");
	run_until(UINT64_MAX);
	ck_assert_uint_eq(hook_counts(hook)->killed, 1);
	ck_assert_uint_eq(hook_counts(hook)->started, 2);
	text = read_out();
	ck_assert_str_eq(text, "gone\n");
	free(text);
}
END_TEST

START_TEST(too_many)
{
	char *text;

	/* only the first event, which others follow */
	write_script("[ -e \"$1\" ] || { cat >\"$1.new\"; mv \"$1.new\" \"$1\"; }");
	for (unsigned i = 0; i < EVENTS_MAX + 5; i++)
		add(EVENT_LINK_UP, "a");
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	run_until(UINT64_MAX);
	ck_assert_uint_eq(hook_counts(hook)->lost, 5);
	text = read_out();
	ck_assert_ptr_nonnull(strstr(text, "\"lost-before\":5"));
	free(text);
}
END_TEST

START_TEST(ended_with_the_daemon)
{
	write_script("touch \"$1\"; exec sleep 1000");
	add(EVENT_LINK_UP, "a");
	hook = hook_new(loop, es, command, EVENT_ALL_KINDS);
	run_until(UINT64_MAX);
	/* would not return if the process went on */
	hook_free(hook);
	hook = NULL;
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("hook");
	TCase *t = tcase_create("all");

	/* the hook under test runs this program, which must then not run the tests again */
	if (argc > 1)
		return strcmp(argv[0], HOOK_ARGV0) ? EXIT_FAILURE : hook_helper_main(argc, argv);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, what_it_gets);
	tcase_add_test(t, one_at_a_time_and_in_order);
	tcase_add_test(t, what_goes_wrong);
	tcase_add_test(t, one_whose_disk_hangs);
	tcase_add_test(t, one_that_does_not_end);
	tcase_add_test(t, too_many);
	tcase_add_test(t, ended_with_the_daemon);
	suite_add_tcase(s, t);
	return run_suite(s);
}
