/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests how the daemon handles a faulty stream from a discovery process: the scan fails with
 * a reason, and nothing else happens.  This program is also that process: it is started again
 * under the name DISCO_ARGV0, and the name of the device that it gets tells it what to do.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "discovery/board.h"
#include "discovery/discovery.h"
#include "discovery/stream.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/sandbox.h"
#include "unit/run.h"

#define REFUSED_CALL "41"

/* --- the other process --- */

static void put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		_exit(3);
}

static void put_node(uint64_t guid, bool is_switch, unsigned nports, unsigned hops)
{
	struct stream_node r = { .type = STREAM_NODE, .is_switch = is_switch,
				 .hops = (uint8_t)hops };

	r.node_info[0] = r.node_info[1] = 1;
	r.node_info[2] = is_switch ? 2 : 1;
	r.node_info[3] = (uint8_t)nports;
	put_be64(r.node_info + 12, guid);
	put_be64(r.node_info + 20, guid + 1);
	for (unsigned i = 0; i < hops; i++)
		r.route[i] = 1;
	put(&r, sizeof(r));
}

static void put_port(uint64_t guid, unsigned num)
{
	struct stream_port r = { .type = STREAM_PORT, .num = (uint8_t)num, .guid = guid };

	r.port_info[32] = 4;	/* PortState Active */
	put(&r, sizeof(r));
}

static void put_link(uint32_t a, unsigned num_a, uint32_t b, unsigned num_b)
{
	struct stream_link r = { .type = STREAM_LINK, .num_a = (uint8_t)num_a,
				 .num_b = (uint8_t)num_b, .node_a = a, .node_b = b };

	put(&r, sizeof(r));
}

static void put_end(uint32_t node, unsigned num)
{
	struct stream_end r = { .type = STREAM_END, .self_num = (uint8_t)num, .self_node = node,
				.mads = 7 };

	put(&r, sizeof(r));
}

static void put_nodes(void)
{
	put_node(0x10, false, 1, 0);
	put_port(0x11, 1);
	put_node(0x20, true, 4, 1);
	put_port(0x21, 0);
	put_port(0, 1);
}

static void put_good(void)
{
	put_nodes();
	put_link(0, 1, 1, 1);
	put_end(0, 1);
}

static struct board *board(void)
{
	void *at = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, BOARD_FD, 0);

	if (at == MAP_FAILED)
		_exit(4);
	return at;
}

/* Marks the answer of the device at port 4 of 0x20 as the one that the process works on. */
static void feed(void)
{
	board()->fed = (struct disco_excluded){ .near_guid = 0x20, .near_port = 4, .guid = 0x30 };
	board()->feeding = 1;
}

static void put_left(uint64_t near_guid, unsigned why)
{
	struct stream_left r = { .type = STREAM_LEFT, .left = { .near_guid = near_guid, .near_port = 3,
								.why = (uint8_t)why } };

	put(&r, sizeof(r));
}

static int scan(const char *what)
{
	if (!strcmp(what, "good") || !strcmp(what, "talks")) {
		if (!strcmp(what, "talks"))
			fprintf(stderr, "something\n\nno end of line");
		put_good();
	} else if (!strcmp(what, "is refused a call")) {
		fputs(SANDBOX_REFUSED REFUSED_CALL "\n", stderr);
		put_good();
	} else if (!strcmp(what, "fails")) {
		put_nodes();
		put_end(0, 1);
		fflush(stdout);
		return 1;
	} else if (!strcmp(what, "dies")) {
		put_nodes();
		fflush(stdout);
		raise(SIGKILL);	/* a sanitizer reports other signals itself */
	} else if (!strcmp(what, "dies of an answer")) {
		put_nodes();
		feed();
		fflush(stdout);
		raise(SIGABRT);
	} else if (!strcmp(what, "does not get done with an answer")) {
		feed();
		for (;;)
			;
	} else if (!strcmp(what, "own port")) {
		return BOARD_EXIT_OWN_PORT;
	} else if (!strcmp(what, "excludes")) {
		put_nodes();
		put_left(0x20, EXCLUDED_LOCAL_PORT);
		put_left(0x20, EXCLUDED_WHYS);
		put_left(0x20, EXCLUDED_NOT);
		put_left(0, EXCLUDED_LOCAL_PORT);
		put_link(0, 1, 1, 1);
		put_end(0, 1);
	} else if (!strcmp(what, "is told what to exclude")) {
		return board()->n_out == 1 && board()->out[0].guid == 0x30 && board()->ports_max == 9
			? BOARD_EXIT_FULL : 1;
	} else if (!strcmp(what, "no end")) {
		put_nodes();
	} else if (!strcmp(what, "half a record")) {
		put("N....", 5);
	} else if (!strcmp(what, "no such record")) {
		put_nodes();
		put("X", 1);
		put_end(0, 1);
	} else if (!strcmp(what, "port of nobody")) {
		put_port(0x11, 1);
		put_end(0, 1);
	} else if (!strcmp(what, "no such port")) {
		put_node(0x10, false, 1, 0);
		put_port(0x11, 2);
		put_end(0, 1);
	} else if (!strcmp(what, "no such self")) {
		put_nodes();
		put_end(9, 1);
	} else if (!strcmp(what, "more behind the end")) {
		put_nodes();
		put_link(0, 1, 1, 1);
		put_end(0, 1);
		put_node(0x30, true, 4, 1);
	} else if (!strcmp(what, "half a record behind the end")) {
		put_nodes();
		put_link(0, 1, 1, 1);
		put_end(0, 1);
		put("N", 1);
	} else if (!strcmp(what, "nodes without end")) {
		for (uint64_t guid = 1;; guid++)
			put_node(guid << 8, false, 1, guid > 1);
	}
	return fflush(stdout) ? 3 : 0;
}

/* Acts like a library that needs a system call which the sandbox refuses. */
static int scan_in(const char *what, int sandbox)
{
	if (sandbox == DISCO_OPEN)
		return scan(strcmp(what, "needs a call and fails") ? "good" : "fails");
	fputs(SANDBOX_REFUSED REFUSED_CALL "\n", stderr);
	if (!strcmp(what, "is killed for a call"))
		raise(SIGSYS);
	if (strcmp(what, "finds less without a call"))
		return 1;
	put_node(0x10, false, 1, 0);
	put_port(0x11, 1);
	put_end(0, 1);
	return fflush(stdout) ? 3 : 0;
}

/* --- the daemon's side --- */

static unsigned boards_left = UINT_MAX;	/* how many more processes get the memory that they share */

/* Replaces the library's function for the daemon, to fail as if memory or descriptors had run out. */
int memfd_create(const char *name, unsigned flags)
{
	if (!boards_left) {
		errno = EMFILE;
		return -1;
	}
	boards_left--;
	return (int)syscall(SYS_memfd_create, name, flags);
}

static struct loop *loop;
static struct fabric *found;
static char why[256];
static uint32_t mads;
static struct disco_excluded left;	/* the first */
static size_t n_left;
static bool own_port;

static void done(void *arg, const struct disco_result *res)
{
	(void)arg;
	found = res->f;
	mads = res->mads;
	n_left = res->n_left;
	own_port = res->own_port;
	if (n_left)
		left = res->left[0];
	snprintf(why, sizeof(why), "%s", res->error ? res->error : "");
	loop_stop(loop);
}

static void discover_in(enum disco_sandbox sandbox, const char *what)
{
	const struct disco_excluded out = { .near_guid = 0x20, .near_port = 4, .guid = 0x30,
					.why = EXCLUDED_KILLS };
	struct disco_request r = { .ca = what, .port = 1, .window = 4, .timeout_ms = 100,
				   .sandbox = sandbox, .out = &out, .n_out = 1, .ports_max = 9 };
	struct buf err = { 0 };

	found = NULL;

	loop = loop_new();
	ck_assert_ptr_nonnull(disco_start(loop, &r, done, NULL, &err));
	loop_run(loop);
	loop_free(loop);
}

static void discover(const char *what)
{
	discover_in(DISCO_OPEN, what);
}

static const char *const good[] = { "good", "talks" };

START_TEST(a_scan)
{
	discover(good[_i]);
	ck_assert_str_eq(why, "");
	ck_assert_uint_eq(found->n_nodes, 2);
	ck_assert_uint_eq(found->n_switches, 1);
	ck_assert_uint_eq(mads, 7);
	ck_assert_uint_eq(found->ports[found->nodes[0].port0 + 1].peer,
			  found->nodes[1].port0 + 1);
	fabric_free(found);
}
END_TEST

static const struct {
	const char *what, *why;
} bad[] = {
	{ "fails", "the scan failed" },
	{ "dies", "the discovery process died of signal 9" },
	{ "no end", "the scan is incomplete" },
	{ "nothing", "the scan is incomplete" },
	{ "half a record", "the scan is incomplete" },
	{ "no such record", "the scan is incomplete" },
	{ "port of nobody", "the scan is incomplete" },
	{ "no such port", "the scan is incomplete" },
	{ "no such self", "the scan is incomplete" },
	{ "more behind the end", "the scan is incomplete" },
	{ "half a record behind the end", "the scan is incomplete" },
	{ "own port", "our own port does not answer" },
	{ "is told what to exclude", "there are more devices than a subnet can have: a device makes them up" },
	{ "nodes without end", "there are more nodes or ports than a subnet can have: a device makes them up" },
};

START_TEST(no_scan)
{
	discover(bad[_i].what);
	ck_assert_str_eq(why, bad[_i].why);
	ck_assert_ptr_null(found);
	ck_assert_uint_eq(n_left, 0);
	ck_assert(own_port == !strcmp(bad[_i].what, "own port"));
}
END_TEST

static const struct { const char *what, *why; enum excluded_why left; } blamed[] = {
	{ "dies of an answer", "the discovery process died of signal 6", EXCLUDED_KILLS },
	{ "does not get done with an answer", "the discovery process did not end", EXCLUDED_HANGS },
};

/* promise: A11 */
START_TEST(a_device_is_to_blame)
{
	discover(blamed[_i].what);
	ck_assert_str_eq(why, blamed[_i].why);
	ck_assert_uint_eq(n_left, 1);
	ck_assert_uint_eq(left.near_guid, 0x20);
	ck_assert_uint_eq(left.near_port, 4);
	ck_assert_uint_eq(left.why, blamed[_i].left);
	ck_assert(!own_port);
}
END_TEST

/* promise: A11 */
START_TEST(what_it_leaves_out)
{
	discover("excludes");
	ck_assert_str_eq(why, "");
	ck_assert_uint_eq(n_left, 1);
	ck_assert_uint_eq(left.why, EXCLUDED_LOCAL_PORT);
	fabric_free(found);
}
END_TEST

/* Returns the number of nodes found; 0 if the scan failed. */
static unsigned finds_in(enum disco_sandbox sandbox, const char *what)
{
	unsigned n;

	discover_in(sandbox, what);
	ck_assert((found != NULL) == !*why);
	n = found ? found->n_nodes : 0;
	fabric_free(found);
	return n;
}

static const char *const needy[] = {
	"needs a call", "is killed for a call", "finds less without a call",
};

/* promise: L7 */
START_TEST(a_filter_that_is_too_tight)
{
	ck_assert_uint_lt(finds_in(DISCO_STRICT, needy[_i]), 2);
	/* the scan is repeated without the sandbox, and later scans run without it */
	ck_assert_uint_eq(finds_in(DISCO_SANDBOX, needy[_i]), 2);
	ck_assert_uint_eq(finds_in(DISCO_SANDBOX, needy[_i]), 2);
	ck_assert_uint_lt(finds_in(DISCO_STRICT, needy[_i]), 2);
}
END_TEST

/* promise: L7 */
START_TEST(a_filter_that_is_not_to_blame)
{
	ck_assert_uint_lt(finds_in(DISCO_SANDBOX, "needs a call and fails"), 2);
	ck_assert_str_eq(why, "the scan failed");
	/* the scan fails without the sandbox, too, so the next one runs in the sandbox, with the same result */
	ck_assert_uint_eq(finds_in(DISCO_SANDBOX, "is refused a call"), 2);
	/* now a device that makes the process try a forbidden call does not end the sandbox */
	for (size_t i = 0; i < ARRAY_SIZE(needy); i++)
		ck_assert_uint_lt(finds_in(DISCO_SANDBOX, needy[i]), 2);
	/* a scan that fails without a refused call is not repeated */
	ck_assert_uint_lt(finds_in(DISCO_SANDBOX, "fails"), 2);
}
END_TEST

START_TEST(a_failure_of_its_own_in_the_sandbox)
{
	ck_assert_uint_lt(finds_in(DISCO_SANDBOX, "fails"), 2);
	ck_assert_uint_eq(finds_in(DISCO_SANDBOX, "needs a call"), 2);
}
END_TEST

/* The first process fails in the sandbox, and there is no memory for one without it. */
START_TEST(no_second_process)
{
	boards_left = 1;
	ck_assert_uint_lt(finds_in(DISCO_SANDBOX, "needs a call"), 2);
	ck_assert_msg(strstr(why, "cannot start discovery"), "%s", why);
	ck_assert_uint_eq(n_left, 0);
	boards_left = UINT_MAX;
	ck_assert_uint_eq(finds_in(DISCO_SANDBOX, "needs a call"), 2);
}
END_TEST

/* Cancelling ends the process without a callback. */
START_TEST(cancelled)
{
	struct disco_request r = { .ca = "nodes without end", .port = 1 };
	struct buf err = { 0 };
	struct disco *d;

	loop = loop_new();
	d = disco_start(loop, &r, done, NULL, &err);
	ck_assert_ptr_nonnull(d);
	disco_cancel(d);
	loop_free(loop);
	ck_assert_str_eq(why, "");
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s;
	TCase *tc;

	if (!strcmp(argv[0], DISCO_ARGV0))
		return argc < 7 ? 2 : strstr(argv[1], "a call") && !strstr(argv[1], "refused") ?
		       scan_in(argv[1], atoi(argv[6])) : scan(argv[1]);
	s = suite_create("disco");
	tc = tcase_create("all");
	tcase_add_loop_test(tc, a_scan, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, no_scan, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(tc, a_device_is_to_blame, 0, ARRAY_SIZE(blamed));
	tcase_add_test(tc, what_it_leaves_out);
	tcase_add_loop_test(tc, a_filter_that_is_too_tight, 0, ARRAY_SIZE(needy));
	tcase_add_test(tc, a_filter_that_is_not_to_blame);
	tcase_add_test(tc, a_failure_of_its_own_in_the_sandbox);
	tcase_add_test(tc, no_second_process);
	tcase_add_test(tc, cancelled);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
