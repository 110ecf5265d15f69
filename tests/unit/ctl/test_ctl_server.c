/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests what clients can do to the server on a real socket.  The loop and the
 * clients share the test's thread; clients never block.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/policy_trials.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "qosd/ctl.h"
#include "store/store.h"
#include "subnet.h"
#include "unit/run.h"
#include "unit/temp.h"

static char *directory, *path;
static const char *socket_name = "sock";	/* in the directory, for a child */
static struct loop *loop;
static struct timer *alarm_clock;
static struct ctl *ctl;
static struct sa sa;
static struct ctl_env env;
static struct store *store;
static unsigned sweeps, applications;

static void apply(void *arg, struct shared_policy *p)
{
	(void)arg;
	(void)p;
	applications++;
}

static void sweep(struct sm *sm, const char *reason)
{
	(void)sm;
	(void)reason;
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

/* Runs n turns of the loop, each of which serves all that is ready, independent of the clock. */
static void run_turns(unsigned n)
{
	while (n--)
		run_for_ms(1);
}

static void setup(void)
{
	struct policies_hooks hooks = { .apply = apply };
	struct buf err = { 0 };
	struct shared_policy *first;

	directory = temp_directory();
	path = xasprintf("%s/sock", directory);
	loop = loop_new();
	alarm_clock = timer_new(loop, stop, NULL);
	memset(&sa, 0, sizeof(sa));
	sa.state = test_subnet();
	store = store_open(NULL, NULL, &err);
	first = shared_policy_new(policy_builtin());
	env = (struct ctl_env){ .version = "1", .sa = &sa, .request_sweep = sweep,
				.policies = policies_new(loop, store, first,
							&(struct policies_rules){ 0 }, &hooks) };
	shared_policy_unref(first);
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_msg(ctl != NULL, "%s", err.s);
	sweeps = applications = 0;
}

static void teardown(void)
{
	ctl_free(ctl);
	policies_free(env.policies);
	store_close(store);
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

/* Reads what is there now; sets *closed if the server has closed. */
static void take(int fd, struct buf *out, bool *closed)
{
	char data[65536];
	ssize_t n;

	while ((n = recv(fd, data, sizeof(data), 0)) > 0)
		buf_add(out, data, (size_t)n);
	*closed = n == 0 || errno == ECONNRESET;
}

/* Reads the server's answer until it contains `what`, for 5 seconds at most. */
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

/* No reference to the published state may remain. */
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
	run_turns(20);
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
	int error = 0;

	memset(block, 'x', sizeof(block));
	for (int i = 0; i < 2000 && sent < 10 << 20 && (!error || error == EAGAIN); i++) {
		ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);

		error = n < 0 ? errno : 0;
		sent += n > 0 ? (size_t)n : 0;
		if (error)
			run_for_ms(1);
	}
	ck_assert_int_eq(error, EPIPE);
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
	run_for_ms(CTL_REQUEST_SECONDS * 1000 / 2);
	say(half, " \"st");	/* sending single bytes does not extend the time */
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
	run_turns(20);
	fd[CTL_CLIENTS_MAX] = connect_client();
	expect(fd[CTL_CLIENTS_MAX], "too many clients");
	expect_close(fd[CTL_CLIENTS_MAX]);
	say(fd[0], "{\"command\": \"sweep\"}\n");	/* those inside are served */
	expect(fd[0], "\"ok\":true");
	for (int i = 0; i <= CTL_CLIENTS_MAX; i++)
		close(fd[i]);
	run_turns(20);
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
	fd = connect_client();		/* takes the last place */
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

/* Sets the two groups of the settings, and makes the socket anew with them. */
static void let_in(const char *reads, const char *admin)
{
	struct buf err = { 0 };

	ctl_free(ctl);
	env.read_group = (struct ctl_group){ .name = (char *)(uintptr_t)reads, .gid = 1001 };
	env.admin_group = (struct ctl_group){ .name = (char *)(uintptr_t)admin, .gid = 1002 };
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_msg(ctl != NULL, "%s", err.s);
}

enum may { MAY_NOTHING, MAY_CONNECT, MAY_LOOK, MAY_SWEEP };

/* Returns what a child may do as user nobody, with the group `own` and many others, the last of them `also`. */
static enum may nobody_may(gid_t own, gid_t also)
{
	static const char request[] = "{\"command\": \"nodes\"}\n{\"command\": \"sweep\"}\n";
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	pid_t pid = fork();
	unsigned before = sweeps;
	struct child *watcher;
	int status = -1;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		static char heard[65536];
		gid_t groups[1000];
		size_t n = 0;
		ssize_t k = 1;
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
			groups[i] = 20000 + (gid_t)i;
		groups[ARRAY_SIZE(groups) - 1] = also;
		/* a relative name, because user nobody may have no access to the parent directories */
		strcpy(addr.sun_path, socket_name);
		if (chdir(directory) < 0 || setgroups(ARRAY_SIZE(groups), groups) < 0 ||
		    setgid(own) < 0 || setuid(65534) < 0)
			_exit(100);
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
			_exit(errno == EACCES ? MAY_NOTHING : 101);
		if (send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) < 0)
			_exit(102);
		while (k > 0 && count(heard, "\"ok\"") < 2) {
			k = recv(fd, heard + n, sizeof(heard) - 1 - n, 0);
			n += k > 0 ? (size_t)k : 0;
			heard[n] = '\0';
		}
		if (strstr(heard, "\"end\":true"))
			_exit(MAY_LOOK);
		_exit(strstr(heard, "nodes: not permitted to uid 65534, gid ") ? MAY_CONNECT : 103);
	}
	watcher = child_new(loop, pid, child_ended, &status);
	run_for_ms(5000);
	child_free(watcher);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= MAY_LOOK);
	return sweeps > before ? MAY_SWEEP : (enum may)WEXITSTATUS(status);
}

/*
 * A thread finds out the socket file's group and a group's number, so the right takes effect
 * only after that thread has run.
 */
static void expect_may_soon(gid_t own, gid_t also, enum may wanted)
{
	enum may may = nobody_may(own, also);

	for (unsigned i = 0; i < 1000 && may != wanted; i++) {
		run_for_ms(5);
		may = nobody_may(own, also);
	}
	ck_assert_int_eq(may, wanted);
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	printf("SKIP: it takes root to be somebody else\n");
	return false;
}

static unsigned socket_mode(void)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 0777;
}

/* promise: L2 */
START_TEST(others_may_look_but_not_touch)
{
	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(nobody_may(65534, 54321), MAY_NOTHING);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_int_eq(chown(path, (uid_t)-1, 12345), 0);
	ck_assert_int_eq(nobody_may(65534, 54321), MAY_LOOK);
	expect_may_soon(65534, 12345, MAY_SWEEP);
	expect_may_soon(12345, 54321, MAY_SWEEP);
}
END_TEST

/* The group of another file in the socket's place gives no rights. */
START_TEST(another_file_makes_no_administrators)
{
	char *aside;

	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	aside = xasprintf("%s/aside", directory);
	ck_assert_int_eq(rename(path, aside), 0);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(chown(path, (uid_t)-1, 12345), 0);
	socket_name = "aside";
	ck_assert_int_eq(nobody_may(65534, 12345), MAY_LOOK);
	socket_name = "sock";
	ck_assert_int_eq(rename(aside, path), 0);
	ck_assert_int_eq(chown(path, (uid_t)-1, 12345), 0);
	expect_may_soon(65534, 12345, MAY_SWEEP);
	free(aside);
}
END_TEST

/* promise: L2 */
START_TEST(groups_say_who_may_what)
{
	/* which groups exist; what members of neither, the first, the second and both groups may do */
	static const struct {
		const char *reads, *admin;
		enum may neither, in_reads, in_admin, both;
	} cases[] = {
		{ "r", "a", MAY_CONNECT, MAY_LOOK, MAY_SWEEP, MAY_SWEEP },
		{ "r", NULL, MAY_CONNECT, MAY_LOOK, MAY_CONNECT, MAY_LOOK },
		{ NULL, "a", MAY_CONNECT, MAY_CONNECT, MAY_SWEEP, MAY_SWEEP },
	};

	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		let_in(cases[i].reads, cases[i].admin);
		ck_assert_uint_eq(socket_mode(), 0666);
		ck_assert_int_eq(nobody_may(65534, 54321), cases[i].neither);
		ck_assert_int_eq(nobody_may(65534, 1001), cases[i].in_reads);
		ck_assert_int_eq(nobody_may(1001, 54321), cases[i].in_reads);
		ck_assert_int_eq(nobody_may(65534, 1002), cases[i].in_admin);
		ck_assert_int_eq(nobody_may(1002, 54321), cases[i].in_admin);
		ck_assert_int_eq(nobody_may(1002, 1001), cases[i].both);
		/* the socket file's group is none of the groups any more */
		ck_assert_int_eq(chown(path, (uid_t)-1, 54321), 0);
		ck_assert_int_eq(nobody_may(65534, 54321), cases[i].neither);
		expect_service();	/* root */
	}
	let_in(NULL, NULL);
	ck_assert_uint_eq(socket_mode(), 0660);
}
END_TEST

/* Starts a child, in this group only, that takes all connections it can get and waits to be killed. */
static pid_t crowd(gid_t group, bool (*seen)(const int *fd))
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd[CTL_CLIENTS_MAX];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	strcpy(addr.sun_path, socket_name);
	if (chdir(directory) < 0 || setgroups(0, NULL) < 0 || setgid(group) < 0 ||
	    setuid(65534) < 0)
		_exit(1);
	for (int i = 0; i < CTL_CLIENTS_MAX; i++) {
		fd[i] = socket(AF_UNIX, SOCK_STREAM, 0);
		if (connect(fd[i], (struct sockaddr *)&addr, sizeof(addr)) < 0)
			_exit(2);
	}
	if (!seen(fd))
		_exit(3);
	for (;;)
		pause();
}

static void expect_service_beside(pid_t pid, int ms)
{
	int status = -1;
	struct child *watcher = child_new(loop, pid, child_ended, &status);

	for (int i = 0; i < 20; i++) {
		run_for_ms(20);
		expect_service();
	}
	run_for_ms(ms);
	ck_assert_int_eq(status, -1);	/* it waits */
	expect_service();
	kill(pid, SIGKILL);
	run_for_ms(5000);
	ck_assert(WIFSIGNALED(status));
	child_free(watcher);
}

/* The last connection is refused at once, the first after a second. */
static bool strangers_see(const int *fd)
{
	char c;

	return recv(fd[CTL_CLIENTS_MAX - 1], &c, 1, 0) == 1 && recv(fd[0], &c, 1, 0) <= 0;
}

/* Clients without rights, however many, take no place from clients with rights. */
/* promise: L2 */
START_TEST(strangers_are_few_and_soon_gone)
{
	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	let_in("r", "a");
	expect_service_beside(crowd(65534, strangers_see), CTL_STRANGER_SECONDS * 1000);
}
END_TEST

/* The last connection is refused, and the others keep their places. */
static bool readers_see(const int *fd)
{
	char c;

	return recv(fd[CTL_CLIENTS_MAX - 1], &c, 1, 0) == 1 &&
	       recv(fd[CTL_CLIENTS_MAX - CTL_ADMIN_PLACES], &c, 1, 0) == 1 &&
	       recv(fd[CTL_CLIENTS_MAX - CTL_ADMIN_PLACES - 1], &c, 1, MSG_DONTWAIT) < 0;
}

/* Clients with the right to read take no place from administrators. */
START_TEST(readers_leave_room_for_administrators)
{
	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	let_in("r", "a");
	expect_service_beside(crowd(1001, readers_see), 100);
	expect_service();
}
END_TEST

/* --- requests that bring a file --- */

static const char good_file[] = "qos-levels:\n  default: {sl: 0}\n  more: {sl: 3}\n";

/* Sends the line of a request whose file has `size` bytes. */
static void announce(int fd, const char *size)
{
	char *line = xasprintf("{\"command\": \"policy load\", \"args\": {\"file\": \"its name\"}, "
			       "\"body\": %s}\n", size);

	say(fd, line);
	free(line);
}

static void announce_good(int fd)
{
	char size[16];

	snprintf(size, sizeof(size), "%zu", strlen(good_file));
	announce(fd, size);
}

static size_t levels(void)
{
	return policies_in_force(env.policies)->p->n_levels;
}

START_TEST(a_file_is_taken_in_pieces)
{
	int fd = connect_client();
	struct buf out;

	announce_good(fd);
	for (const char *c = good_file; *c; c++) {
		char one[2] = { *c, '\0' };

		ck_assert_uint_eq(applications, 0);
		say(fd, one);
		if ((c - good_file) % 10 == 0)
			run_for_ms(1);
	}
	out = hear(fd, "\"ok\":true");
	ck_assert_ptr_nonnull(strstr(out.s, "\"file\":\"its name\""));
	buf_free(&out);
	ck_assert_uint_eq(applications, 1);
	ck_assert_uint_eq(levels(), 2);
	ck_assert_int_eq(policies_in_force(env.policies)->uid, geteuid());
	ck_assert_str_eq(policies_in_force(env.policies)->text.s, good_file);
	close(fd);
}
END_TEST

/* The policy exists before there is a subnet, and rows of text need no subnet. */
START_TEST(the_policy_is_shown_before_there_is_a_subnet)
{
	struct subnet_state *published = sa.state;
	int fd = connect_client();
	struct buf out;

	sa.state = NULL;
	say(fd, "{\"command\": \"policy show\"}\n");
	out = hear(fd, "\"end\":true");
	ck_assert_ptr_nonnull(strstr(out.s, "\"line\":"));
	buf_free(&out);
	say(fd, "{\"command\": \"policy history\"}\n");
	expect(fd, "\"ok\":true");
	close(fd);
	sa.state = published;
}
END_TEST

START_TEST(requests_may_follow_a_file_at_once)
{
	int fd = connect_client();

	announce_good(fd);
	say(fd, good_file);
	say(fd, "{\"command\": \"sweep\"}\n");
	announce_good(fd);
	say(fd, good_file);
	say(fd, "{\"command\": \"nodes\"}\n");
	expect(fd, "\"end\":true");
	ck_assert_uint_eq(applications, 2);
	ck_assert_uint_eq(sweeps, 1);
	close(fd);
}
END_TEST

START_TEST(a_file_with_errors_changes_nothing)
{
	static const char bad[] = "qos-levels:\n  a: {sl: 77}\n  b: {sl: 78}\n";
	int fd = connect_client();
	char size[16];
	struct buf out;

	snprintf(size, sizeof(size), "%zu", strlen(bad));
	announce(fd, size);
	say(fd, bad);
	out = hear(fd, "\"ok\":false");
	ck_assert_uint_eq(count(out.s, "\"file\":\"its name\""), 2);
	ck_assert_ptr_nonnull(strstr(out.s, "refused"));
	buf_free(&out);
	announce(fd, "0");	/* an empty file may be a policy or not, but gets an answer */
	expect(fd, "\"ok\":");
	ck_assert_uint_eq(policies_change(env.policies, 1)->outcome, CHANGE_REFUSED);
	ck_assert_uint_eq(policies_change(env.policies, 1)->errors, 2);
	close(fd);
}
END_TEST

START_TEST(lies_about_a_file_end_the_connection)
{
	static const char *const sizes[] = {
		"16777217", "-1", "1e3", "\"many\"", "[]", "4294967296", "9223372036854775807",
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int fd = connect_client();

		announce(fd, sizes[i]);
		say(fd, good_file);
		expect(fd, "body: must be a size");
		expect_close(fd);
		close(fd);
	}
	int fd = connect_client();

	say(fd, "{\"command\": \"nodes\", \"body\": 5}\nhello");
	expect(fd, "takes no file");
	expect_close(fd);
	close(fd);
	fd = connect_client();
	say(fd, "{\"command\": \"policy load\", \"args\": {\"file\": \"x\"}}\n");
	expect(fd, "the request has no file");
	close(fd);
	expect_service();
	ck_assert_uint_eq(applications, 0);
}
END_TEST

START_TEST(few_send_files_at_a_time)
{
	int fd[CTL_BODIES_MAX + 1];

	for (int i = 0; i < CTL_BODIES_MAX; i++) {
		fd[i] = connect_client();
		announce(fd[i], "16777216");
		say(fd[i], "half of it");
		run_turns(5);
	}
	fd[CTL_BODIES_MAX] = connect_client();
	announce_good(fd[CTL_BODIES_MAX]);
	expect(fd[CTL_BODIES_MAX], "too many clients are sending files");
	expect_close(fd[CTL_BODIES_MAX]);
	expect_service();
	for (int i = 0; i <= CTL_BODIES_MAX; i++)
		close(fd[i]);
	run_turns(20);
	fd[0] = connect_client();	/* their places are free again */
	announce_good(fd[0]);
	say(fd[0], good_file);
	expect(fd[0], "\"ok\":true");
	close(fd[0]);
}
END_TEST

START_TEST(half_a_file_is_given_up)
{
	int64_t start = clock_mono_us();
	int fd = connect_client();

	announce_good(fd);
	for (int i = 0; i < CTL_BODY_SECONDS - 1; i++) {
		say(fd, "#");	/* a drop does not buy more time */
		run_for_ms(1000);
	}
	expect(fd, "the file was not sent in time");
	expect_close(fd);
	ck_assert_int_lt(clock_mono_us() - start, (CTL_BODY_SECONDS + 2) * 1000000);
	close(fd);
	ck_assert_uint_eq(applications, 0);
	for (int i = 0; i < CTL_BODIES_MAX; i++) {	/* nor does it keep a place */
		fd = connect_client();
		announce_good(fd);
		say(fd, good_file);
		expect(fd, "\"ok\":true");
		close(fd);
	}
}
END_TEST

/* Sends a file of many rules, which takes a while. */
static void send_long(int fd)
{
	struct buf file = { 0 };
	char size[16];

	buf_puts(&file, "qos-levels:\n  default: {sl: 0}\nmatch-rules:\n");
	for (unsigned i = 0; i < 2000; i++)
		buf_printf(&file, "  - {service-id: %u, level: default}\n", i);
	snprintf(size, sizeof(size), "%zu", file.n);
	announce(fd, size);
	for (size_t sent = 0; sent < file.n;) {
		ssize_t n = send(fd, file.s + sent, file.n - sent, MSG_NOSIGNAL);

		ck_assert(n > 0 || errno == EAGAIN);
		sent += n > 0 ? (size_t)n : 0;
		if (n < 0)
			run_for_ms(1);
	}
	buf_free(&file);
}

START_TEST(a_client_may_go_away_while_its_file_is_read)
{
	int fd = connect_client();

	send_long(fd);
	close(fd);
	for (int i = 0; i < 1000 && !applications; i++)
		run_for_ms(5);
	ck_assert_uint_eq(applications, 1);	/* it was asked for */
	expect_service();
}
END_TEST

START_TEST(the_server_may_end_while_a_file_is_read)
{
	for (int delay = 0; delay < 6; delay++) {
		int fd = connect_client();
		struct buf err = { 0 };

		send_long(fd);
		run_for_ms(delay);
		ctl_free(ctl);
		ctl = ctl_new(loop, path, &env, &err);
		ck_assert_msg(ctl != NULL, "%s", err.s);
		close(fd);
	}
	expect_service();
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
	run_turns(50);
	ck_assert_uint_eq(sa.state->refs, 2);	/* not sent completely: the socket is full */
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
	run_turns(50);
	ck_assert_uint_eq(sa.state->refs, 2);
	close(fd);
	expect_unused();
	expect_service();
}
END_TEST

static int64_t last_tick, longest_gap;

/* CPU time of this thread, so that load by others does not count against the loop. */
static int64_t spent_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000ll + t.tv_nsec / 1000;
}

static void tick(void *arg)
{
	int64_t now = spent_us();

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
	last_tick = spent_us();
	longest_gap = 0;
	timer_set(ticker, 0, 1000);
	expect(fd, "\"end\":true");
	/* generous, because it includes the test's own reading */
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
	ck_assert_int_ne(access(path, F_OK), 0);	/* it removed its own socket */
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
	ck_assert_ptr_nonnull(strstr(err.s, "not a socket"));
	ck_assert_int_eq(access(path, F_OK), 0);
	buf_free(&err);
}
END_TEST

/* The directory service does not answer when the daemon starts. */
/* promise: A80 */
START_TEST(a_group_that_is_known_later)
{
	const struct group *g = getgrnam("daemon");
	struct buf err = { 0 };

	ck_assert_ptr_nonnull(g);
	if (!is_root())
		return;
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ctl_free(ctl);
	/* the group's number is not trustworthy */
	env.read_group = (struct ctl_group){ .name = (char[]){ "daemon" }, .gid = 1001,
					     .unknown = true };
	env.admin_group = (struct ctl_group){ .name = (char[]){ "no such group" }, .gid = 1001,
					      .unknown = true };
	ctl = ctl_new(loop, path, &env, &err);
	ck_assert_msg(ctl != NULL, "%s", err.s);
	ck_assert_int_eq(nobody_may(1001, 1001), MAY_CONNECT);
	expect_may_soon(65534, g->gr_gid, MAY_LOOK);
	ck_assert_int_eq(nobody_may(1001, 1001), MAY_CONNECT);
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
	tcase_add_test(t, another_file_makes_no_administrators);
	tcase_add_test(t, groups_say_who_may_what);
	tcase_add_test(t, a_group_that_is_known_later);
	tcase_add_test(t, strangers_are_few_and_soon_gone);
	tcase_add_test(t, readers_leave_room_for_administrators);
	tcase_add_test(t, a_file_is_taken_in_pieces);
	tcase_add_test(t, the_policy_is_shown_before_there_is_a_subnet);
	tcase_add_test(t, requests_may_follow_a_file_at_once);
	tcase_add_test(t, a_file_with_errors_changes_nothing);
	tcase_add_test(t, lies_about_a_file_end_the_connection);
	tcase_add_test(t, few_send_files_at_a_time);
	tcase_add_test(t, half_a_file_is_given_up);
	tcase_add_test(t, a_client_may_go_away_while_its_file_is_read);
	tcase_add_test(t, the_server_may_end_while_a_file_is_read);
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
	return run_suite(server_suite());
}
