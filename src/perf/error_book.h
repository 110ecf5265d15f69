/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the errors of ports over time: how many, how many in the last hour, and which are too many.
 *
 * Counters of devices stop, start anew when a device restarts, and are reset by other tools.  The
 * totals here go on: a counter that is less than before was reset, and what it shows now is what
 * came since.  Values in the answer to a Set are not used: IBA (16.1.3.5) does not say of which moment
 * they are, and drivers and firmware differ in it.
 *
 * The hour is kept in slices of ERROR_SLICE_US, so that "the last hour" is between 55 and 60
 * minutes.  A slice exists only for counters that have grown: most ports have no errors.
 *
 * Times are monotonic microseconds, given by the caller.  No other side effects.
 */
#ifndef QOSD_PERF_ERROR_BOOK_H
#define QOSD_PERF_ERROR_BOOK_H

#include "perf/pma_errors.h"
#include "perf/port_rates.h"

#define ERROR_SLICES	12
#define ERROR_SLICE_US	(300 * INT64_C(1000000))
#define ERROR_ABSENT_MAX 4096	/* nodes that are not in the fabric */

/* A counter that has grown, or lost its value. */
struct error_history {
	uint64_t before;		/* what the counter had when it was reset, all times together */
	uint64_t seen;			/* growth since the port is watched */
	uint32_t slice[ERROR_SLICES];	/* growth by number of the slice, modulo ERROR_SLICES */
	int64_t newest;			/* number of the newest slice */
	int64_t over_since_us;		/* since when the last hour is over the limit; 0: it is not */
};

struct error_port {
	int64_t since_us;		/* when it was first read, at all or since a clearing; 0: never */
	enum pma_attr attr;		/* what it was last read from */
	int64_t read_us;		/* when it was last read */
	uint64_t now[PORT_ERRORS];	/* the counters when they were last read */
	uint16_t known;			/* bits by enum port_error: counters that the port has */
	uint16_t stopped;		/* those that are at their greatest value */
	uint16_t over;			/* those that grew over the limit within the last hour */
	uint16_t stuck;			/* those that the device does not reset */
	struct error_history *history[PORT_ERRORS];	/* NULL: has not grown */
	struct port_rates rates;	/* kept by the caller */
};

struct error_node {
	uint64_t guid;
	uint8_t nports;
	bool known;			/* `of` is known */
	bool guessed;			/* by the caller: `of` is what any device has; known better later */
	bool silent;			/* did not answer last time */
	bool seen;			/* by the caller: it is in the fabric */
	bool asked;			/* by the caller: a request was sent in this reading */
	struct pma_errors_of of;
	bool data64;			/* by the caller: PortCountersExtended is read for data, beside `of` */
	bool data_failed;		/* by the caller: … and was not answered well in this reading */
	struct error_port **ports;	/* [nports + 1]; NULL: never read */
};

struct error_book;
/* limits: errors in an hour up to which a port is fine, by counter; see port_error_limit(). */
struct error_book *error_book_new(const uint32_t limits[PORT_ERRORS]);
void error_book_free(struct error_book *b);	/* NULL is fine */
void error_book_clear(struct error_book *b);
uint32_t error_limit(const struct error_book *b, enum port_error e);
/* Judges by other limits from now on; error_age() brings a port's `over` in line with them. */
void error_book_set_limits(struct error_book *b, const uint32_t limits[PORT_ERRORS]);

/* The node of that GUID; adds it, or begins it anew if it had another number of ports. */
struct error_node *error_node(struct error_book *b, uint64_t guid, unsigned nports);
/* A port that was read before; NULL if there is none. */
const struct error_port *error_find(const struct error_book *b, uint64_t guid, unsigned num);
/* The port; num must be at most nports. */
struct error_port *error_port(struct error_node *n, unsigned num);
/* Makes all nodes not `seen`. */
void error_book_unmark(struct error_book *b);
/*
 * Removes nodes that are not `seen` and were not read for an hour, and more if there are more than
 * ERROR_ABSENT_MAX.
 */
void error_book_prune(struct error_book *b, int64_t now_us);

/*
 * Takes what the port's counters show.  Afterwards p->over is that of now: the caller compares it
 * with the one before.  What another attribute shows than the one before is no growth: its
 * counters did not stop where those of the other did.
 */
void error_take(struct error_book *b, struct error_port *p, struct pma_errors_of of,
		const struct pma_errors *read, int64_t now_us);
/* Brings p->over to now_us without a read. */
void error_age(const struct error_book *b, struct error_port *p, int64_t now_us);
/*
 * The counters to reset before they stop: those at three quarters of their greatest value, as
 * OpenSM's performance manager has it, and not stuck.
 */
uint16_t error_nearly_full(const struct error_port *p, struct pma_errors_of of);
/*
 * error_take() for what was read after the device has confirmed a reset of the counters of `which`.
 * One that shows no less than before is stuck.  Returns how many are not: those that were reset.
 */
unsigned error_take_reset(struct error_book *b, struct error_port *p, struct pma_errors_of of,
			  const struct pma_errors *read, uint16_t which, int64_t now_us);
/*
 * Forgets the port's errors, whose counters an operator cleared: but for its rates, it is as one that was never
 * read.
 */
void error_was_cleared(struct error_port *p);

/* What the device counted, counters that were reset meanwhile included. */
uint64_t error_total(const struct error_port *p, enum port_error e);
/* The growth since the port is watched. */
uint64_t error_seen(const struct error_port *p, enum port_error e);
uint64_t error_last_hour(const struct error_port *p, enum port_error e, int64_t now_us);
/* The growth in the last five to ten minutes. */
uint64_t error_lately(const struct error_port *p, enum port_error e, int64_t now_us);
/* The mean growth in an hour since the port is watched, which counts as an hour at least. */
double error_per_hour(const struct error_port *p, enum port_error e, int64_t now_us);
/* How far the worst counter of the port is over its limit in the last hour; at most 1: it is not. */
double error_excess(const struct error_book *b, const struct error_port *p, int64_t now_us);

/* The growth of all ports since the start, by counter, which never shrinks. */
uint64_t error_sum(const struct error_book *b, enum port_error e);

/* Calls fn for each port that was read. */
void error_each(struct error_book *b, void (*fn)(void *arg, const struct error_node *n, unsigned num,
						 struct error_port *p), void *arg);

#endif
