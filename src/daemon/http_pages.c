/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See http_pages.h. */
#include "daemon/http_pages.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/prom.h"
#include "daemon/daemon.h"
#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/loop/http.h"

enum { METRICS, REPORT, SERVERS };

struct server {
	const char *setting, *area;	/* names in qosd.yaml and in the log */
	struct http *http;		/* NULL: not listening */
	char *why;			/* why not; NULL: it listens, or nobody wants it to */
	int64_t since_us;		/* realtime: since when not */
};

struct http_pages {
	struct qosd *q;
	struct server v[SERVERS];
};

/* --- pages --- */

static bool print_metrics(void *arg, struct buf *out)
{
	const struct qosd *q = arg;

	ctl_metrics(q->ctl, out);
	return true;
}

static bool print_report_page(void *arg, struct buf *out)
{
	(void)arg;
	ctl_report_page(out);
	return true;
}

static bool print_report_data(void *arg, struct buf *out)
{
	const struct qosd *q = arg;

	return ctl_report_data(q->ctl, out);
}

static const char *address_of(const struct http_pages *x, unsigned i)
{
	return i == METRICS ? x->q->settings->metrics_listen : x->q->settings->report_listen;
}

static struct http *open_http(struct http_pages *x, unsigned i, struct buf *err)
{
	const char *policy = ctl_report_policy();
	const struct http_page metrics = { "/metrics", PROM_TYPE, print_metrics, x->q, NULL };
	const struct http_page report[] = {
		{ "/", "text/html; charset=utf-8", print_report_page, x->q, policy },
		{ "/data", "text/plain", print_report_data, x->q, policy },
	};
	struct http *h;

	if (i == METRICS)
		return http_new(x->q->loop, address_of(x, i), &metrics, 1, err);
	h = http_new(x->q->loop, address_of(x, i), report, ARRAY_SIZE(report), err);
	if (h)
		http_set_clients(h, REPORT_CLIENTS);
	return h;
}

/* --- listening --- */

static void tell(struct http_pages *x, const struct server *s, unsigned i, enum event_kind kind)
{
	struct event e;

	event_make(&e, kind,
		   kind == EVENT_PAGE_FAILED ? "%s: not listening at %s: %s" : "%s: listening at %s%s",
		   s->setting, address_of(x, i), kind == EVENT_PAGE_FAILED ? s->why : ", at last");
	event_text(&e, "setting", "%s", s->setting);
	event_text(&e, "address", "%s", address_of(x, i));
	if (kind == EVENT_PAGE_FAILED)
		event_text(&e, "reason", "%s", s->why);
	operator_events_add(x->q->operator_events, &e);
}

static void listens(struct http_pages *x, struct server *s, unsigned i)
{
	log_info(s->area, "listening on %s, port %u", address_of(x, i), http_port(s->http));
	if (s->why)
		tell(x, s, i, EVENT_PAGE_SERVED);
	free(s->why);
	s->why = NULL;
}

/* Takes the reason.  What was said stays true while the reason is the same. */
static void fails(struct http_pages *x, struct server *s, unsigned i, char *why)
{
	bool known = s->why && !strcmp(s->why, why);

	if (!s->why)
		s->since_us = clock_real_us();
	free(s->why);
	s->why = why;
	if (known)
		return;
	log_error(s->area, "not listening: %s", why);
	tell(x, s, i, EVENT_PAGE_FAILED);
}

/* The daemon manages the subnet in either case. */
static void try(struct http_pages *x, unsigned i)
{
	struct server *s = &x->v[i];
	struct buf err = { 0 };

	s->http = open_http(x, i, &err);
	if (s->http)
		listens(x, s, i);
	else
		fails(x, s, i, xstrdup(err.s));
	buf_free(&err);
}

static void serve(struct http_pages *x, unsigned i)
{
	struct server *s = &x->v[i];

	http_free(s->http);		/* it may be in the way at the new address */
	s->http = NULL;
	free(s->why);			/* which was about another address */
	s->why = NULL;
	if (address_of(x, i))
		try(x, i);
}

void serve_metrics_page(struct qosd *q)
{
	serve(q->pages, METRICS);
}

void serve_report_page(struct qosd *q)
{
	serve(q->pages, REPORT);
}

void http_pages_check(struct http_pages *x)
{
	for (unsigned i = 0; i < SERVERS; i++)
		if (x->v[i].why)
			try(x, i);
}

bool http_pages_at(void *arg, unsigned i, struct ctl_listening *out)
{
	const struct qosd *q = arg;
	const struct http_pages *x = q->pages;

	if (i >= SERVERS)
		return false;
	*out = (struct ctl_listening){
		.setting = x->v[i].setting, .address = address_of(x, i), .why = x->v[i].why,
		.port = x->v[i].http ? http_port(x->v[i].http) : 0, .since_us = x->v[i].since_us,
	};
	return true;
}

/* --- beginning and end --- */

struct http_pages *http_pages_new(struct qosd *q)
{
	struct http_pages *x = xcalloc(1, sizeof(*x));

	x->q = q;
	x->v[METRICS].setting = "metrics-listen";
	x->v[METRICS].area = "metrics";
	x->v[REPORT].setting = "report-listen";
	x->v[REPORT].area = "report";
	return x;
}

void http_pages_free(struct http_pages *x)
{
	for (unsigned i = 0; x && i < SERVERS; i++) {
		http_free(x->v[i].http);
		free(x->v[i].why);
	}
	free(x);
}
