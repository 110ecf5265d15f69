/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests serving a page by HTTP, with clients in a thread and the server in a loop like the daemon's. */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/net.h"
#include "lib/loop/http.h"
#include "unit/run.h"

static struct loop *loop;
static struct http *http;
static pthread_t loop_thread;
static struct wake *over;
static unsigned made;

/* Larger than a socket takes at once. */
#define PAGE (3u << 20)

static bool make_page(void *arg, struct buf *out)
{
	ck_assert_ptr_eq(arg, &made);
	ck_assert(pthread_equal(pthread_self(), loop_thread));
	made++;
	while (out->n < PAGE)
		buf_puts(out, "metric 1\n");
	return true;
}

static bool no_page(void *arg, struct buf *out)
{
	(void)arg;
	buf_puts(out, "half");
	return false;
}

static void end_loop(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void *run_loop(void *arg)
{
	(void)arg;
	loop_run(loop);
	return NULL;
}

static const struct http_page pages[] = {
	{ "/metrics", "text/plain", make_page, &made, NULL }, { "/none", "text/html", no_page, NULL, "default-src 'none'" },
};

static int64_t limit_us;	/* 0: HTTP_SECONDS */

static void setup(void)
{
	struct buf err = { 0 };

	made = 0;
	loop = loop_new();
	over = wake_new(loop, end_loop, NULL);
	http = http_new(loop, "127.0.0.1:0", pages, 2, &err);
	ck_assert_msg(http != NULL, "%s", err.s);
	if (limit_us)
		http_set_limit(http, limit_us);
	ck_assert_int_eq(pthread_create(&loop_thread, NULL, run_loop, NULL), 0);
}

#define SHORT_US 500000

static void setup_short(void)
{
	limit_us = SHORT_US;
	setup();
}

static void teardown(void)
{
	loop_wake(over);
	pthread_join(loop_thread, NULL);
	http_free(http);
	wake_free(over);
	loop_free(loop);
}

static int connect_to(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(http_port(http)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval patience = { .tv_sec = 20 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Reads until the server closes. */
static void read_all(int fd, struct buf *out)
{
	char chunk[65536];
	ssize_t n;

	while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
		buf_add(out, chunk, (size_t)n);
	ck_assert_msg(n == 0 || errno == ECONNRESET, "%s", strerror(errno));
	close(fd);
	buf_add(out, "", 0);
}

/* Returns the status; *out, if not NULL, gets the whole answer. */
static int ask(const char *request, struct buf *out)
{
	struct buf answer = { 0 };
	int fd = connect_to(), status = 0;

	ck_assert_int_eq(send(fd, request, strlen(request), MSG_NOSIGNAL), (ssize_t)strlen(request));
	read_all(fd, &answer);
	ck_assert_msg(sscanf(answer.s, "HTTP/1.1 %d ", &status) == 1, "%s: %s", request, answer.s);
	if (out)
		*out = answer;
	else
		buf_free(&answer);
	return status;
}

#define END "Host: x\r\nConnection: close\r\n\r\n"

START_TEST(the_page)
{
	struct buf answer;
	const char *body;

	ck_assert_int_eq(ask("GET /metrics HTTP/1.1\r\n" END, &answer), 200);
	body = strstr(answer.s, "\r\n\r\n") + 4;
	ck_assert_ptr_nonnull(strstr(answer.s, "\r\nContent-Type: text/plain\r\n"));
	ck_assert_uint_eq(strlen(body), (PAGE + 8) / 9 * 9);
	buf_free(&answer);
	ck_assert_int_eq(ask("HEAD /metrics HTTP/1.1\r\n" END, &answer), 200);
	ck_assert_str_eq(strstr(answer.s, "\r\n\r\n"), "\r\n\r\n");
	buf_free(&answer);
	ck_assert_uint_eq(made, 2);
}
END_TEST

/* A page that there is none of yet; a browser may try again. */
/* promise: W2 */
START_TEST(nothing_yet)
{
	struct buf answer;

	ck_assert_int_eq(ask("GET /none HTTP/1.1\r\n" END, &answer), 503);
	ck_assert_ptr_nonnull(strstr(answer.s, "\r\nRetry-After: 1\r\n"));
	ck_assert_ptr_null(strstr(answer.s, "half"));
	buf_free(&answer);
}
END_TEST

START_TEST(nothing_else)
{
	struct buf answer;

	ck_assert_int_eq(ask("GET / HTTP/1.1\r\n" END, NULL), 404);
	ck_assert_int_eq(ask("GET /metrics/ HTTP/1.1\r\n" END, NULL), 404);
	ck_assert_int_eq(ask("GET /../metrics HTTP/1.1\r\n" END, NULL), 404);
	ck_assert_int_eq(ask("POST /metrics HTTP/1.1\r\n" END, &answer), 405);
	ck_assert_ptr_nonnull(strstr(answer.s, "\r\nAllow: GET, HEAD\r\n"));
	buf_free(&answer);
	ck_assert_int_eq(ask("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n" END "abc", NULL), 405);
	ck_assert_int_eq(ask("DELETE /metrics HTTP/1.1\r\n" END, NULL), 405);
	ck_assert_int_eq(ask("OPTIONS /metrics HTTP/1.1\r\n" END, NULL), 405);
	ck_assert_uint_eq(made, 0);
	/* the server ignores a body */
	ck_assert_int_eq(ask("GET /metrics HTTP/1.1\r\nContent-Length: 3\r\n" END "abc", NULL), 200);
}
END_TEST

START_TEST(rubbish)
{
	static const char *const bad[] = { "\r\n\r\n\r\n\r\n", "rubbish\r\n\r\n", "GET\r\n\r\n", "\x16\x03\x01" };
	char *longer = xmalloc(1 << 20);
	struct buf answer = { 0 };
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		fd = connect_to();
		send(fd, bad[i], strlen(bad[i]), MSG_NOSIGNAL);
		close(fd);	/* for some of these, the server would wait for more */
	}
	/* a header without end */
	memset(longer, 'x', 1 << 20);
	memcpy(longer, "GET /metrics HTTP/1.1\r\nA: ", 26);
	fd = connect_to();
	for (size_t sent = 0; sent < 1 << 20; ) {
		ssize_t n = send(fd, longer + sent, (1 << 20) - sent, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	read_all(fd, &answer);
	buf_free(&answer);
	free(longer);
	ck_assert_uint_eq(made, 0);
	ck_assert_int_eq(ask("GET /metrics HTTP/1.1\r\n" END, NULL), 200);
}
END_TEST

START_TEST(slow_clients_are_in_nobodys_way)
{
	int slow[HTTP_CLIENTS - 1];

	for (unsigned i = 0; i < ARRAY_SIZE(slow); i++) {
		slow[i] = connect_to();
		/* half of a request, or a whole one without reading the answer */
		send(slow[i], "GET /metrics HTTP/1.1\r\n" END, i % 2 ? 10 : 53, MSG_NOSIGNAL);
	}
	ck_assert_int_eq(ask("GET /metrics HTTP/1.1\r\n" END, NULL), 200);
	for (unsigned i = 0; i < ARRAY_SIZE(slow); i++)
		close(slow[i]);
}
END_TEST

/* Four hundred clients that send a byte now and then, and connect again when the server closes. */
#define DRIPS 400

static void drip(int fd[DRIPS])
{
	for (unsigned i = 0; i < DRIPS; i++) {
		if (fd[i] >= 0 && send(fd[i], "G", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
			continue;
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = connect_to();
	}
}

/* promise: A55 */
START_TEST(dripping_clients_are_in_nobodys_way)
{
	int fd[DRIPS];

	for (unsigned i = 0; i < DRIPS; i++)
		fd[i] = -1;
	for (unsigned k = 0; k < 5; k++) {
		drip(fd);
		ck_assert_int_eq(ask("GET /metrics HTTP/1.1\r\n" END, NULL), 200);
	}
	for (unsigned i = 0; i < DRIPS; i++)
		close(fd[i]);
}
END_TEST

/* A client that sends a byte now and then is not silent, but never completes a request. */
/* promise: A55 */
START_TEST(a_request_has_its_time)
{
	int64_t begun = clock_mono_us();
	char chunk[1];
	int fd = connect_to();

	while (send(fd, "G", 1, MSG_NOSIGNAL) == 1 && recv(fd, chunk, 1, MSG_DONTWAIT) < 0) {
		ck_assert_int_lt(clock_mono_us() - begun, 60 * 1000000ll);
		usleep(20000);
	}
	ck_assert_int_ge(clock_mono_us() - begun, SHORT_US - 100000);
	close(fd);
}
END_TEST

START_TEST(addresses)
{
	static const char *const good[] = { "127.0.0.1:9683", "0.0.0.0:0", "[::1]:65535", "[::]:1" };
	static const char *const bad[] = {
		"", ":", ":9683", "9683", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
		"127.0.0.1: 1", "127.0.0.1:1x", "127.1:1", "localhost:1", "::1:1", "[::1]", "[::1]1", "[::1:1",
		"[127.0.0.1]:1", "[]:1", "*:1", "127.0.0.1:0000001", "::1]:1",
	};
	struct sockaddr_storage a;
	struct buf err = { 0 };
	char *taken;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(net_parse(good[i], &a), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!net_parse(bad[i], &a), "%s", bad[i]);
	ck_assert(net_parse("10.1.2.3:258", &a));
	ck_assert_int_eq(a.ss_family, AF_INET);
	ck_assert_uint_eq(ntohs(((struct sockaddr_in *)&a)->sin_port), 258);
	ck_assert_uint_eq(ntohl(((struct sockaddr_in *)&a)->sin_addr.s_addr), 0x0a010203);
	taken = xasprintf("127.0.0.1:%u", http_port(http));
	ck_assert_ptr_null(http_new(loop, taken, pages, 2, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "in use"));
	free(taken);
	buf_free(&err);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("http");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, the_page);
	tcase_add_test(t, nothing_yet);
	tcase_add_test(t, nothing_else);
	tcase_add_test(t, rubbish);
	tcase_add_test(t, slow_clients_are_in_nobodys_way);
	tcase_add_test(t, dripping_clients_are_in_nobodys_way);
	tcase_add_test(t, addresses);
	suite_add_tcase(s, t);
	t = tcase_create("short");
	tcase_add_checked_fixture(t, setup_short, teardown);
	tcase_add_test(t, a_request_has_its_time);
	suite_add_tcase(s, t);
	return run_suite(s);
}
