/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See http.h. */
#include "http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/alloc.h"
#include "base/net.h"

struct http {
	struct MHD_Daemon *mhd;
	struct http_page page;
	struct io *io;			/* of the library's epoll descriptor */
	struct timer *timer;		/* when a client is silent for too long */
	uint16_t port;
};

static enum MHD_Result respond(struct MHD_Connection *c, unsigned status, const char *type,
			       const char *allow, void *text, size_t n, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(n, text, mode);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (allow)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, allow);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *allow,
			      const char *why)
{
	return respond(c, status, "text/plain", allow, (void *)(uintptr_t)why, strlen(why),
		       MHD_RESPMEM_PERSISTENT);
}

/* The library calls it once for the headers, and again until there is an answer. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *n_data, void **seen)
{
	static int headers;
	struct http *h = arg;
	struct buf out = { 0 };

	(void)version;
	(void)data;
	if (*n_data) {		/* of a body nothing is wanted */
		*n_data = 0;
		return MHD_YES;
	}
	/* before there is a body: while one comes, the library takes no answer */
	if (strcmp(url, h->page.path))
		return refuse(c, MHD_HTTP_NOT_FOUND, NULL, "There is no such page.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET, HEAD", "It can only be read.\n");
	if (!*seen) {
		*seen = &headers;
		return MHD_YES;
	}
	h->page.make(h->page.arg, &out);
	return respond(c, MHD_HTTP_OK, h->page.type, NULL, out.s, out.n, MHD_RESPMEM_MUST_FREE);
}

/* --- in the loop --- */

static void run(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	MHD_run(h->mhd);
	if (MHD_get_timeout(h->mhd, &wait_ms) == MHD_YES)
		timer_set(h->timer, (int64_t)wait_ms * 1000, 0);
	else
		timer_stop(h->timer);
}

static void on_io(void *arg, int events)
{
	(void)events;
	run(arg);
}

static void on_timer(void *arg)
{
	run(arg);
}

/* --- life --- */

/* A socket of our own: the library would say nothing of why it has none. */
static int make_socket(const char *address, uint16_t *port, struct buf *err)
{
	struct sockaddr_storage addr;
	socklen_t n;
	int fd, one = 1;

	if (!net_parse(address, &addr)) {
		buf_printf(err, "%s is no address", address);
		return -1;
	}
	n = addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    (addr.ss_family != AF_INET6 ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) == 0) &&
	    bind(fd, (struct sockaddr *)&addr, n) == 0 && listen(fd, HTTP_CLIENTS) == 0 &&
	    getsockname(fd, (struct sockaddr *)&addr, &n) == 0) {
		*port = ntohs(addr.ss_family == AF_INET ? ((struct sockaddr_in *)&addr)->sin_port :
			      ((struct sockaddr_in6 *)&addr)->sin6_port);
		return fd;
	}
	buf_printf(err, "%s: %s", address, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

struct http *http_new(struct loop *l, const char *address, const struct http_page *page,
		      struct buf *err)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int fd = make_socket(address, &h->port, err);
	const union MHD_DaemonInfo *info;

	if (fd < 0) {
		free(h);
		return NULL;
	}
	h->page = *page;
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
				  MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CLIENTS,
				  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_SECONDS,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MEMORY,
				  MHD_OPTION_END);
	info = h->mhd ? MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		buf_printf(err, "%s: libmicrohttpd does not start", address);
		if (h->mhd)
			MHD_stop_daemon(h->mhd);
		else
			close(fd);
		free(h);
		return NULL;
	}
	h->timer = timer_new(l, on_timer, h);
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

uint16_t http_port(const struct http *h)
{
	return h->port;
}
