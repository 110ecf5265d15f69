/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server on a real socket: what clients can do to it.  The loop and the
 * clients share the test's thread; clients never block.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "ctl/ctl.h"
#include "qosd/ctl.h"
#include "subnet.h"

static char *directory, *path;
static struct loop *loop;
static struct timer *alarm_clock;
static struct ctl *ctl;
static struct sa sa;
static struct ctl_env env;
static unsigned sweeps;

static void sweep(void *arg)
{
	(void)arg;
	sweeps++;
}

static void stop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void run_for_ms(int ms)
{
	timer_set(alarm_clock, ms * 1000, 0);
	loop_run(loop);
}

static void setup(void)
{
	struct buf err = { 0 };

	directory = test_directory();
	path = xasprintf("%s/sock", directory);
	loop = loop_new();
	alarm_clock = timer_new(loop, stop, NULL);
	memset(&sa, 0, sizeof(sa));
	sa.state = test_subnet();
	env = (struct ctl_env){ .version = "1", .sa = &sa, .sweep = sweep };
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_msg(ctl != NULL, "%s", err.s);
	sweeps = 0;
}

static void teardown(void)
{
	ctl_free(ctl);
	timer_free(alarm_clock);
	loop_free(loop);
	test_subnet_free(sa.state);
	unlink(path);
	ck_assert_int_eq(rmdir(directory), 0);
	free(path);
	free(directory);
}

/* --- clients --- */

static int connect_client(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(addr.sun_path, path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* What there is to read now; *closed if the server has closed. */
static void take(int fd, struct buf *out, bool *closed)
{
	char data[65536];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0)
		buf_add(out, data, (size_t)n);
	*closed = n == 0 || errno == ECONNRESET;
}

/* What the server says until it contains `what`, in 5 seconds at most. */
static struct buf hear(int fd, const char *what)
{
	struct buf out = { 0 };
	bool closed = false;

	for (int i = 0; i < 1000 && !closed && !(out.s && strstr(out.s, what)); i++) {
		run_for_ms(5);
		take(fd, &out, &closed);
	}
	ck_assert_msg(out.s && strstr(out.s, what), "no %s in: %s", what, out.s ? out.s : "");
	return out;
}

static void expect(int fd, const char *what)
{
	struct buf heard = hear(fd, what);

	buf_free(&heard);
}

static void expect_close(int fd)
{
	struct buf out = { 0 };
	bool closed = false;

	for (int i = 0; i < 1000 && !closed; i++) {
		run_for_ms(5);
		take(fd, &out, &closed);
	}
	ck_assert(closed);
	buf_free(&out);
}

static void expect_service(void)
{
	int fd = connect_client();

	say(fd, "{\"command\": \"status\"}\n");
	expect(fd, "\"ok\":true");
	close(fd);
}

/* Nobody keeps the published state any more. */
static void expect_unused(void)
{
	for (int i = 0; i < 1000 && sa.state->refs > 1; i++)
		run_for_ms(5);
	ck_assert_uint_eq(sa.state->refs, 1);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* --- the normal course --- */

START_TEST(requests_are_answered)
{
	struct stat st;
	struct buf out;
	int fd = connect_client();

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0660);
	say(fd, "{\"command\": \"nodes\"}\n");
	out = hear(fd, "\"end\":true");
	ck_assert_uint_eq(count(out.s, "\n"), 1 + 5 + 1);
	buf_free(&out);
	say(fd, "{\"command\": \"sweep\"}\n");	/* the same connection, the daemon's user */
	expect(fd, "\"ok\":true");
	ck_assert_uint_eq(sweeps, 1);
	close(fd);
}
END_TEST

START_TEST(requests_may_come_together_and_in_parts)
{
	struct buf out;
	int fd = connect_client();

	say(fd, "{\"command\": \"sweep\"}\n{\"command\": \"nodes\"}\n{\"comm");
	out = hear(fd, "\"end\":true");
	ck_assert_uint_eq(count(out.s, "\"ok\":true"), 2);
	buf_free(&out);
	say(fd, "and\": \"sweep\"}");
	run_for_ms(20);
	ck_assert_uint_eq(sweeps, 1);
	say(fd, "\n");
	expect(fd, "\"ok\":true");
	ck_assert_uint_eq(sweeps, 2);
	close(fd);
}
END_TEST

/* --- hostile clients --- */

START_TEST(garbage_gets_an_error)
{
	int fd = connect_client();

	say(fd, "GET / HTTP/1.0\r\n");
	expect(fd, "\"ok\":false");
	say(fd, "{\"command\": \"nodes\"}\n");	/* and may go on */
	expect(fd, "\"end\":true");
	close(fd);
}
END_TEST

START_TEST(endless_line_is_cut_off)
{
	char block[8192];
	int fd = connect_client();
	size_t sent = 0;
	ssize_t n = 0;

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 2000 && sent < 10 << 20 && (n >= 0 || errno == EAGAIN); i++) {
		n = send(fd, block, sizeof(block), MSG_NOSIGNAL);
		sent += n > 0 ? (size_t)n : 0;
		if (n < 0)
			run_for_ms(1);
	}
	ck_assert_int_lt(n, 0);
	ck_assert_int_eq(errno, EPIPE);
	ck_assert_uint_lt(sent, 1 << 20);
	expect(fd, "too long");
	close(fd);
	expect_service();
}
END_TEST

START_TEST(longest_request_is_taken)
{
	struct buf line = { 0 };
	int fd = connect_client();

	buf_puts(&line, "{\"command\": \"sweep\"");
	while (line.n < CTL_REQUEST_MAX - 2)
		buf_puts(&line, " ");
	buf_puts(&line, "}\n");
	ck_assert_uint_eq(line.n, CTL_REQUEST_MAX);
	say(fd, line.s);
	expect(fd, "\"ok\":true");
	buf_free(&line);
	close(fd);
}
END_TEST

START_TEST(half_a_request_is_given_up)
{
	int64_t start = clock_mono_us();
	int half = connect_client(), silent = connect_client();

	say(half, "{\"command\":");
	run_for_ms(CTL_REQUEST_SECONDS * 1000 - 500);
	say(half, " \"st");	/* a drop does not buy more time */
	expect(half, "in time");
	expect_close(half);
	expect_close(silent);
	ck_assert_int_lt(clock_mono_us() - start, (CTL_REQUEST_SECONDS + 2) * 1000000);
	close(half);
	close(silent);
	expect_service();
}
END_TEST

START_TEST(too_many_clients_are_turned_away)
{
	int fd[CTL_CLIENTS_MAX + 1];

	for (int i = 0; i < CTL_CLIENTS_MAX; i++)
		fd[i] = connect_client();
	run_for_ms(20);
	fd[CTL_CLIENTS_MAX] = connect_client();
	expect(fd[CTL_CLIENTS_MAX], "too many clients");
	expect_close(fd[CTL_CLIENTS_MAX]);
	say(fd[0], "{\"command\": \"sweep\"}\n");	/* those inside are served */
	expect(fd[0], "\"ok\":true");
	for (int i = 0; i <= CTL_CLIENTS_MAX; i++)
		close(fd[i]);
	run_for_ms(20);
	expect_service();
}
END_TEST

START_TEST(a_thousand_connections_leave_nothing)
{
	for (int i = 0; i < 1000; i++) {
		int fd = connect_client();

		if (i % 3 == 0)
			say(fd, "{\"command\": \"ports\"}\n");
		if (i % 3 == 1)
			say(fd, "{\"comm");
		if (i % 50 == 0)
			run_for_ms(1);
		close(fd);
	}
	expect_unused();
	expect_service();
}
END_TEST

START_TEST(no_descriptors_does_not_spin)
{
	struct rlimit old, tight;
	int fd = dup(0);
	int64_t cpu;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	close(fd);
	tight = (struct rlimit){ (rlim_t)fd + 1, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &tight), 0);
	fd = connect_client();		/* takes the last one */
	cpu = clock();
	run_for_ms(300);
	ck_assert_int_lt(clock() - cpu, CLOCKS_PER_SEC / 10);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	say(fd, "{\"command\": \"sweep\"}\n");
	expect(fd, "\"ok\":true");	/* accepted when there was room again */
	close(fd);
}
END_TEST

/* --- who may do what --- */

static void child_ended(void *arg, int status)
{
	*(int *)arg = status;
	loop_stop(loop);
}

/* In a child that is nobody, with one more group: whether a sweep is granted. */
static bool nobody_may_sweep(gid_t group)
{
	static const char request[] = "{\"command\": \"nodes\"}\n{\"command\": \"sweep\"}\n";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	pid_t pid = fork();
	unsigned before = sweeps;
	struct child *watcher;
	int status = -1;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		char heard[4096] = "";
		size_t n = 0;
		ssize_t k = 1;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		/* by a relative name: what is above the directory may be closed to nobody */
		strcpy(addr.sun_path, "sock");
		if (chdir(directory) < 0 || setgroups(1, &group) < 0 || setgid(65534) < 0 ||
		    setuid(65534) < 0 ||
		    connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
		    send(fd, request, sizeof(request) - 1, 0) < 0)
			_exit(1);
		while (k > 0 && count(heard, "\"ok\"") < 2) {
			k = recv(fd, heard + n, sizeof(heard) - 1 - n, 0);
			n += k > 0 ? (size_t)k : 0;
			heard[n] = '\0';
		}
		/* showing is for everybody */
		_exit(strstr(heard, "\"end\":true") ? 0 : 2);
	}
	watcher = child_new(loop, pid, child_ended, &status);
	run_for_ms(5000);
	ck_assert_int_eq(status, 0);
	child_free(watcher);
	return sweeps > before;
}

START_TEST(others_may_look_but_not_touch)
{
	if (geteuid() != 0) {
		printf("SKIP: it takes root to be somebody else\n");
		return;
	}
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(chown(path, (uid_t)-1, 12345), 0);
	ck_assert(!nobody_may_sweep(54321));
	ck_assert(nobody_may_sweep(12345));
}
END_TEST

/* --- large answers --- */

static void publish_large(void)
{
	test_subnet_free(sa.state);
	sa.state = test_subnet_large(30, 40);
}

START_TEST(a_slow_client_holds_nothing_up)
{
	int slow = connect_client(), fast;
	struct buf out = { 0 }, more;
	bool closed;
	size_t rows, held;

	publish_large();
	say(slow, "{\"command\": \"ports\"}\n");
	run_for_ms(50);
	ck_assert_uint_eq(sa.state->refs, 2);	/* not through: the socket is full */
	expect_service();
	fast = connect_client();
	say(fast, "{\"command\": \"ports\"}\n");
	more = hear(fast, "\"end\":true");
	rows = count(more.s, "\n");
	held = more.n;
	buf_free(&more);
	close(fast);
	take(slow, &out, &closed);
	ck_assert_uint_gt(out.n, 0);
	ck_assert_uint_lt(out.n, held);
	more = hear(slow, "\"end\":true");	/* and the rest comes when it is wanted */
	ck_assert_uint_eq(count(out.s, "\n") + count(more.s, "\n"), rows);
	expect_unused();
	buf_free(&out);
	buf_free(&more);
	close(slow);
}
END_TEST

START_TEST(disconnecting_in_the_middle_frees_all)
{
	int fd = connect_client();

	publish_large();
	say(fd, "{\"command\": \"dump\"}\n");
	run_for_ms(50);
	ck_assert_uint_eq(sa.state->refs, 2);
	close(fd);
	expect_unused();
	expect_service();
}
END_TEST

static int64_t last_tick, longest_gap;

static void tick(void *arg)
{
	int64_t now = clock_mono_us();

	(void)arg;
	if (now - last_tick > longest_gap)
		longest_gap = now - last_tick;
	last_tick = now;
}

START_TEST(the_loop_goes_on_during_a_large_answer)
{
	struct timer *ticker = timer_new(loop, tick, NULL);
	int fd = connect_client();

	publish_large();
	say(fd, "{\"command\": \"dump\"}\n");
	last_tick = clock_mono_us();
	longest_gap = 0;
	timer_set(ticker, 0, 1000);
	expect(fd, "\"end\":true");
	/* generous: the test's own reading is in it, and the machine is shared */
	ck_assert_int_lt(longest_gap, 200000);
	timer_free(ticker);
	close(fd);
}
END_TEST

/* --- the socket file --- */

START_TEST(a_live_socket_is_left_alone)
{
	struct buf err = { 0 };

	ck_assert_ptr_null(ctl_new(loop, path, &env, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "another qosd answers on "));
	ck_assert_ptr_nonnull(strstr(err.s, path));
	buf_free(&err);
	expect_service();
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct buf err = { 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	ctl_free(ctl);
	ck_assert_int_ne(access(path, F_OK), 0);	/* it took its own away */
	strcpy(addr.sun_path, path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);	/* as after a kill -9 */
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_msg(ctl != NULL, "%s", err.s);
	expect_service();
}
END_TEST

START_TEST(what_is_no_socket_is_kept)
{
	struct buf err = { 0 };
	int fd;

	ctl_free(ctl);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_ptr_null(ctl);
	ck_assert_ptr_nonnull(strstr(err.s, "no socket"));
	ck_assert_int_eq(access(path, F_OK), 0);
	buf_free(&err);
}
END_TEST

START_TEST(impossible_paths_are_errors)
{
	char longer[300];
	struct buf err = { 0 };

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_ptr_null(ctl_new(loop, longer, &env, &err));
	ck_assert_ptr_null(ctl_new(loop, "/nonexistent/qosd.sock", &env, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "/nonexistent/qosd.sock: No such file"));
	buf_free(&err);
}
END_TEST

START_TEST(a_successors_socket_survives)
{
	ck_assert_int_eq(unlink(path), 0);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	ctl_free(ctl);
	ctl = NULL;
	ck_assert_int_eq(access(path, F_OK), 0);
}
END_TEST

static Suite *server_suite(void)
{
	Suite *s = suite_create("ctl server");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, requests_are_answered);
	tcase_add_test(t, requests_may_come_together_and_in_parts);
	tcase_add_test(t, garbage_gets_an_error);
	tcase_add_test(t, endless_line_is_cut_off);
	tcase_add_test(t, longest_request_is_taken);
	tcase_add_test(t, half_a_request_is_given_up);
	tcase_add_test(t, too_many_clients_are_turned_away);
	tcase_add_test(t, a_thousand_connections_leave_nothing);
	tcase_add_test(t, no_descriptors_does_not_spin);
	tcase_add_test(t, others_may_look_but_not_touch);
	tcase_add_test(t, a_slow_client_holds_nothing_up);
	tcase_add_test(t, disconnecting_in_the_middle_frees_all);
	tcase_add_test(t, the_loop_goes_on_during_a_large_answer);
	tcase_add_test(t, a_live_socket_is_left_alone);
	tcase_add_test(t, a_stale_socket_is_replaced);
	tcase_add_test(t, what_is_no_socket_is_kept);
	tcase_add_test(t, impossible_paths_are_errors);
	tcase_add_test(t, a_successors_socket_survives);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	SRunner *r = srunner_create(server_suite());
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
