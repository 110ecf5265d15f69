/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Private to perf/: what was read, made into what it means. */
#ifndef QOSD_PERF_PERF_INTERNAL_H
#define QOSD_PERF_PERF_INTERNAL_H

#include "perf/perf.h"

/* evaluate.c: fills all of *x that is made of what was read.  Pure. */
void perf_evaluate(const struct subnet_state *s, struct perf_port *x);
/* shortfalls.c */
struct perf_book;
struct perf_book *book_new(const struct perf_hooks *hooks);
void book_free(struct perf_book *b);
/* Takes note of a measurement: of each port in turn, then of the whole; all: it is of all ports. */
void book_begin(struct perf_book *b);
void book_take(struct perf_book *b, const struct subnet_state *s, const struct perf_port *p);
void book_end(struct perf_book *b, const struct perf_report *r, bool all);
void book_clear(struct perf_book *b);
const struct perf_finding *book_findings(const struct perf_book *b, size_t *n);
const struct perf_summary *book_last(const struct perf_book *b);

#endif
