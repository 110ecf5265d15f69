/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The internal interface of perf/, for evaluating reads and keeping results. */
#ifndef QOSD_PERF_PERF_INTERNAL_H
#define QOSD_PERF_PERF_INTERNAL_H

#include "perf/perf.h"

#define PERF_TRIES	3
#define PERF_AGAIN_US	10000		/* wait if there was no room for a request */
#define PERF_FIRST_US	(10 * INT64_C(1000000))	/* before a new master's first reading of all ports */

/*
 * perf.c: where the agent is by the state `now` that has the counters of a port of the state `of`, as
 * LIDs may change while ports are read.  Requests use the default level, as all of the subnet manager's do.
 * False: it is gone, or has no LID.
 */
bool perf_address(const struct subnet_state *now, const struct subnet_state *of, uint32_t port,
		  struct mad_address *to);
/* Whether an agent that was asked at this LID still has it, so that the answer is its own. */
bool perf_is_at(const struct subnet_state *now, const struct subnet_state *of, uint32_t port, uint16_t lid);

/*
 * Sets the timer of readings of all ports: the first one in PERF_FIRST_US or less, the others each interval; 0:
 * none.
 */
static inline void perf_set_periodic(struct timer *t, int64_t interval_us)
{
	if (interval_us)
		timer_set(t, interval_us < PERF_FIRST_US ? interval_us : PERF_FIRST_US, interval_us);
	else
		timer_stop(t);
}

/* evaluate.c: computes the members of *x that follow from the reads.  No other effects. */
void perf_evaluate(const struct subnet_state *s, struct perf_port *x);
/* shortfalls.c */
struct perf_book;
struct perf_book *book_new(const struct perf_hooks *hooks);
void book_free(struct perf_book *b);
/* Records a measurement: each port in turn, then the whole; all: it covers all ports. */
void book_begin(struct perf_book *b);
void book_take(struct perf_book *b, const struct subnet_state *s, const struct perf_port *p);
void book_end(struct perf_book *b, const struct perf_report *r, bool all);
void book_clear(struct perf_book *b);
const struct perf_finding *book_findings(const struct perf_book *b, size_t *n);
const struct perf_stray *book_strays(const struct perf_book *b, size_t *n);
const struct perf_summary *book_last(const struct perf_book *b);
const struct perf_got *book_got(const struct perf_book *b, uint64_t guid, unsigned num);

/* port_got.c: what each port's VLs got; times are realtime */
struct port_gots;
struct port_gots *gots_new(void);
void gots_free(struct port_gots *x);
void gots_clear(struct port_gots *x);
void gots_begin(struct port_gots *x, int64_t now_us);
void gots_take(struct port_gots *x, const struct subnet_state *s, const struct perf_port *p, int64_t now_us);
/* Ends a measurement of all ports: drops those that it did not cover. */
void gots_end(struct port_gots *x);
const struct perf_got *gots_find(const struct port_gots *x, uint64_t guid, unsigned num);

/* strays.c: the list that the book keeps */
struct strays {
	struct perf_stray *v;
	size_t n, cap;
};
/* Enters what a measured port shows, and drops what it shows no longer. */
void strays_take(struct strays *x, const struct subnet_state *s, const struct perf_port *p);
void strays_begin(struct strays *x);
/* Drops those of ports that a measurement of all ports did not cover. */
void strays_end(struct strays *x);
void strays_clear(struct strays *x);
/* Adds a port to the sums. */
void strays_sum(struct perf_summary *sum, const struct perf_port *p);

#endif
