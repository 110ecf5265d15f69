/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See http.h. */
#include "lib/loop/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/net.h"

/* Limit of connections that were dismissed but that the library has not closed yet. */
#define LEAVING_MAX 64
#define BODY_MAX (1 << 20)	/* of a request: a connection that brings more is closed */

struct connection {
	TAILQ_ENTRY(connection) entry;
	int fd;				/* owned by the library */
	int64_t since_us;		/* when the connection started, or its last answer ended */
	bool leaving;			/* dismissed; in no list */
};

struct http {
	struct MHD_Daemon *mhd;
	struct http_page pages[HTTP_PAGES];
	unsigned n_pages, clients_max;
	struct io *io;			/* watcher of the library's epoll descriptor */
	struct timer *timer;		/* fires when a connection reaches its time limit */
	uint16_t port;
	int64_t limit_us;		/* time limit of a request and its answer */
	TAILQ_HEAD(, connection) connections;	/* sorted by since_us, oldest first */
	unsigned n_connections;
};

/* What else than its type is said of an answer; each may be NULL. */
struct headers {
	const char *allow, *policy, *retry_after;
};

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(r, name, value);
}

static enum MHD_Result respond(struct MHD_Connection *c, unsigned status, const char *type, const struct headers *h,
			       void *text, size_t n, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(n, text, mode);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	add_header(r, MHD_HTTP_HEADER_ALLOW, h->allow);
	add_header(r, MHD_HTTP_HEADER_RETRY_AFTER, h->retry_after);
	add_header(r, "Content-Security-Policy", h->policy);
	if (h->policy) {
		add_header(r, "X-Content-Type-Options", "nosniff");
		add_header(r, "X-Frame-Options", "DENY");
		add_header(r, "Referrer-Policy", "no-referrer");
		add_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	}
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const struct headers *h, const char *why)
{
	return respond(c, status, "text/plain", h, (void *)(uintptr_t)why, strlen(why), MHD_RESPMEM_PERSISTENT);
}

static const struct http_page *find_page(const struct http *h, const char *path)
{
	for (unsigned i = 0; i < h->n_pages; i++)
		if (strcmp(path, h->pages[i].path) == 0)
			return &h->pages[i];
	return NULL;
}

static enum MHD_Result answer(struct MHD_Connection *c, const struct http_page *page)
{
	const struct headers headers = { .policy = page->policy };
	struct buf out = { 0 };

	if (page->make(page->arg, &out))
		return respond(c, MHD_HTTP_OK, page->type, &headers, out.s, out.n, MHD_RESPMEM_MUST_FREE);
	buf_free(&out);
	return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, &(struct headers){ .retry_after = "1" },
		      "There is nothing to show yet.\n");
}

/* The library calls this once for the headers, and again until it has an answer. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n_data, void **seen)
{
	const struct http_page *page = find_page(arg, url);
	uintptr_t taken = (uintptr_t)*seen;	/* 0: the headers come now; later 1 + bytes of the body */

	(void)version;
	(void)data;
	/*
	 * A body is discarded before the request is refused: if the socket were closed with some of it
	 * unread, the client might lose the answer.
	 */
	if (*n_data) {
		taken += *n_data;
		*n_data = 0;
		*seen = (void *)taken;
		return taken <= BODY_MAX ? MHD_YES : MHD_NO;
	}
	if (!taken && !MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT)) {
		*seen = (void *)(taken + 1);
		return MHD_YES;
	}
	if (!page)
		return refuse(c, MHD_HTTP_NOT_FOUND, &(struct headers){ 0 }, "No such page.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, &(struct headers){ .allow = "GET, HEAD" },
			      "This page is read-only.\n");
	return answer(c, page);
}

/* --- connections --- */

static void unlist(struct http *h, struct connection *c)
{
	if (c->leaving)
		return;
	TAILQ_REMOVE(&h->connections, c, entry);
	h->n_connections--;
}

/* Shuts the socket down; the library sees the end of its input, and closes it. */
static void dismiss(struct http *h, struct connection *c)
{
	unlist(h, c);
	c->leaving = true;
	shutdown(c->fd, SHUT_RDWR);
}

static void enlist(struct http *h, struct connection *c)
{
	c->since_us = clock_mono_us();
	TAILQ_INSERT_TAIL(&h->connections, c, entry);
	h->n_connections++;
}

static void on_connection(void *arg, struct MHD_Connection *m, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct connection *c = *context;
	struct http *h = arg;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c)
			unlist(h, c);
		free(c);
		*context = NULL;
		return;
	}
	info = MHD_get_connection_info(m, MHD_CONNECTION_INFO_CONNECTION_FD);
	c = xcalloc(1, sizeof(*c));
	c->fd = info->connect_fd;
	if (h->n_connections >= h->clients_max)
		dismiss(h, TAILQ_FIRST(&h->connections));
	enlist(h, c);
	*context = c;
}

/* The library calls this when an answer is complete or was abandoned. */
static void on_completed(void *arg, struct MHD_Connection *m, void **seen,
			 enum MHD_RequestTerminationCode how)
{
	const union MHD_ConnectionInfo *info;
	struct http *h = arg;
	struct connection *c;

	(void)seen;
	info = MHD_get_connection_info(m, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	c = info ? info->socket_context : NULL;
	if (!c || c->leaving || how != MHD_REQUEST_TERMINATED_COMPLETED_OK)
		return;
	unlist(h, c);
	enlist(h, c);
}

/*
 * Dismisses connections beyond their time limit.  Returns the microseconds until the next is; < 0
 * if there is none.
 */
static int64_t dismiss_late(struct http *h)
{
	int64_t now = clock_mono_us(), end;
	struct connection *c;

	while ((c = TAILQ_FIRST(&h->connections))) {
		end = c->since_us + h->limit_us;
		if (end > now)
			return end - now;
		dismiss(h, c);
	}
	return -1;
}

/* --- run in the loop --- */

static void run(void *arg)
{
	struct http *h = arg;
	MHD_UNSIGNED_LONG_LONG wait_ms;
	int64_t late_us, wait_us = -1;

	MHD_run(h->mhd);
	late_us = dismiss_late(h);
	if (MHD_get_timeout(h->mhd, &wait_ms) == MHD_YES)
		wait_us = (int64_t)wait_ms * 1000;
	if (late_us >= 0 && (wait_us < 0 || late_us < wait_us))
		wait_us = late_us;
	if (wait_us >= 0)
		timer_set(h->timer, wait_us, 0);
	else
		timer_stop(h->timer);
}

static void on_io(void *arg, int events)
{
	(void)events;
	run(arg);
}

/* --- start and end --- */

struct http *http_new(struct loop *l, const char *address, const struct http_page *pages, unsigned n,
		      struct buf *err)
{
	struct http *h = xcalloc(1, sizeof(*h));
	/* made here, since the library does not say why it failed to make one */
	int fd = net_listen(address, &h->port, err);
	const union MHD_DaemonInfo *info;

	if (fd < 0) {
		free(h);
		return NULL;
	}
	memcpy(h->pages, pages, n * sizeof(*pages));
	h->n_pages = n;
	h->clients_max = HTTP_CLIENTS;
	h->limit_us = HTTP_SECONDS * INT64_C(1000000);
	TAILQ_INIT(&h->connections);
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
				  MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
				  MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
				  MHD_OPTION_CONNECTION_LIMIT, (unsigned)(HTTP_CLIENTS + LEAVING_MAX),
				  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SECONDS,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
				  MHD_OPTION_END);
	info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		buf_printf(err, "%s: cannot start libmicrohttpd", address);
		if (h->mhd)
			MHD_stop_daemon(h->mhd);
		else
			close(fd);
		free(h);
		return NULL;
	}
	h->timer = timer_new(l, run, h);
	h->io = io_new(l, info->epoll_fd, on_io, h);
	io_set(h->io, LOOP_READ);
	return h;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	io_free(h->io);
	timer_free(h->timer);
	MHD_stop_daemon(h->mhd);
	free(h);
}

void http_set_clients(struct http *h, unsigned n)
{
	h->clients_max = n;
}

void http_set_limit(struct http *h, int64_t us)
{
	h->limit_us = us;
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}
