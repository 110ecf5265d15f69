/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves the metrics and the live report by HTTP where the settings say (metrics-listen, report-listen).
 *
 * An address that cannot be had is tried again each second; health, status and an event say so meanwhile.
 */
#ifndef QOSD_DAEMON_HTTP_PAGES_H
#define QOSD_DAEMON_HTTP_PAGES_H

#include <stdbool.h>

struct ctl_listening;
struct http_pages;
struct qosd;

/* Serves nothing yet. */
struct http_pages *http_pages_new(struct qosd *q);
void http_pages_free(struct http_pages *x);	/* NULL is fine */
/* Serve the one, and the other, at the present address of the settings, and nowhere else. */
void serve_metrics_page(struct qosd *q);
void serve_report_page(struct qosd *q);
/* Tries again; called each second. */
void http_pages_check(struct http_pages *x);
/* A hook of ctl/ (ctl_env); arg is the struct qosd. */
bool http_pages_at(void *arg, unsigned i, struct ctl_listening *out);

#endif
