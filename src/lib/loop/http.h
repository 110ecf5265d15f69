/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves a few pages over HTTP, for metrics scrapers and browsers; the only user of libmicrohttpd.
 *
 * The library runs within the loop, which watches its epoll descriptor.  So pages are made in the
 * loop's thread, and needs no lock.  Limits bound what clients can cost: HTTP_CLIENTS connections,
 * each with HTTP_MEMORY bytes, and no request bodies.  A connection has HTTP_SECONDS for each
 * request and its answer, however many bytes arrive meanwhile.  A new connection beyond
 * HTTP_CLIENTS replaces the one that has gone longest without a complete answer, so that slow
 * clients cannot keep others out.
 */
#ifndef QOSD_LIB_LOOP_HTTP_H
#define QOSD_LIB_LOOP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/loop/loop.h"

#define HTTP_CLIENTS 64
#define HTTP_SECONDS 10
#define HTTP_MEMORY (16u << 10)

#define HTTP_PAGES 2

struct http_page {
	const char *path, *type;
	/* Appends the current text of the page.  False: there is none now; the client gets 503, and may try again. */
	bool (*make)(void *arg, struct buf *out);
	void *arg;
	/*
	 * The Content-Security-Policy of a page for browsers, which then must not guess its type nor frame it;
	 * or NULL.
	 */
	const char *policy;
};

struct http;
/*
 * Listens at an address in net_parse()'s form.  GET and HEAD return one of n pages, at most HTTP_PAGES,
 * other methods 405, other paths 404.  NULL with the reason in err.
 */
struct http *http_new(struct loop *l, const char *address, const struct http_page *pages, unsigned n,
		      struct buf *err);
void http_free(struct http *h);		/* NULL is fine */
/* Replaces HTTP_CLIENTS, by less; each client may cost the memory of a page. */
void http_set_clients(struct http *h, unsigned n);
/* Replaces HTTP_SECONDS, for tests.  Call it before the loop runs. */
void http_set_limit(struct http *h, int64_t us);
/* The port that the server listens at; useful when the address gave port 0. */
uint16_t http_port(const struct http *h);

#endif
