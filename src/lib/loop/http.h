/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One page by HTTP, for those who scrape it: the only user of libmicrohttpd.
 *
 * The library runs within the loop: its epoll descriptor is one of the loop's, so that
 * the page is made in the loop's thread and nobody has to be locked out.  What clients
 * can cost is bounded: HTTP_CLIENTS connections, each with HTTP_MEMORY bytes, and no request has a
 * body.  A connection has HTTP_SECONDS for each request and its answer, however many bytes come
 * meanwhile.  Where one comes while there are HTTP_CLIENTS, the one that has been without a
 * complete answer for longest makes way, so that no number of slow clients keeps others out.
 */
#ifndef QOSD_LIB_LOOP_HTTP_H
#define QOSD_LIB_LOOP_HTTP_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/loop/loop.h"

#define HTTP_CLIENTS 64
#define HTTP_SECONDS 10
#define HTTP_MEMORY (16u << 10)

struct http_page {
	const char *path, *type;
	/* Adds the text as it is now. */
	void (*make)(void *arg, struct buf *out);
	void *arg;
};

struct http;
/*
 * Listens at an address as net_parse() takes it.  GET and HEAD of the page are answered with
 * it, other methods with 405, other paths with 404.  NULL with the reason in err.
 */
struct http *http_new(struct loop *l, const char *address, const struct http_page *page,
		      struct buf *err);
void http_free(struct http *h);		/* NULL is fine */
/* Instead of HTTP_SECONDS, for tests; before the loop runs. */
void http_set_limit(struct http *h, int64_t us);
/* The port that it listens at: of use when that was 0. */
uint16_t http_port(const struct http *h);

#endif
