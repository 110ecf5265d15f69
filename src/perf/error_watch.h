/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the error counters of all ports from time to time, and reports those that grow too fast.
 *
 * One reading runs at a time, with PERF_WINDOW requests outstanding and one request for each port
 * with an Active link: PortCountersExtended of devices whose error counters have 64 bits, else
 * PortCounters.  A device that does not answer is asked once in a reading.
 *
 * The same answers have the counters of traffic, so each port's rates since the reading before are kept, too.  Data
 * counters of 32 bits stop within seconds on a busy link: a device that has others in 64 bits, but no errors there,
 * has a second request for each port.
 *
 * Counters of fewer bits stop at their greatest value, after which nobody can tell a good link
 * from a bad one.  Those that are nearly there are reset, and no others, unless the settings
 * forbid it; the book's totals go on.
 *
 * For the loop's thread only.
 */
#ifndef QOSD_PERF_ERROR_WATCH_H
#define QOSD_PERF_ERROR_WATCH_H

#include "perf/error_book.h"
#include "perf/perf.h"

#define ERROR_EVENTS_MAX 500	/* events of one reading */

struct error_settings {
	int64_t interval_us;			/* between readings; 0: none */
	bool reset;				/* counters that are nearly full */
	uint32_t limits[PORT_ERRORS];		/* see error_book_new() */
	unsigned timeout_ms;			/* of a request */
};

struct error_reading {
	int64_t begun_us, when_us;		/* monotonic: its begin and its end; 0: never */
	int64_t when_real_us;
	uint32_t ports, silent;			/* asked, and of these without an answer */
	float seconds;				/* since the reading before began; 0: it is the first */
	uint32_t wide;				/* ports whose counters have 64 bits */
	uint32_t over;				/* ports over a limit */
	uint32_t resets;			/* counters that were reset, since the start */
};

struct error_watch;
struct error_watch *error_watch_new(struct loop *l, struct mad_port *m, const struct error_settings *s,
				    const struct perf_hooks *hooks);
/* A clearing that runs ends without calling fn.  Must be called before mad_close(). */
void error_watch_free(struct error_watch *w);	/* NULL is fine */
/*
 * Works by other settings from now on: ports are judged by new limits at once, and a new interval begins with a
 * reading within ten seconds.
 */
void error_watch_change(struct error_watch *w, const struct error_settings *s);
/*
 * Sets the state to be watched; NULL: we are not master, and everything is forgotten.  The first
 * reading follows within ten seconds of the first state.
 */
void error_watch_published(struct error_watch *w, struct subnet_state *s);

/*
 * Sets the error counters of these ports of the state to 0 and forgets what they had.  Takes n
 * ports, at least 1, for which perf_can_measure() is true; the list is copied.  fn is called once,
 * with the number of ports that confirmed and could be read after that.  False, with the reason in err: a reading is in
 * progress, and fn is not called.
 */
bool error_watch_clear(struct error_watch *w, struct subnet_state *s, const uint32_t *ports, uint32_t n,
		       void (*fn)(void *arg, uint32_t done), void *arg, struct buf *err);
/*
 * Reads all ports now, or goes along with the reading in progress.  fn is called once, at the end, with 0; not if
 * the result is false, with the reason in err: counters are being cleared, or somebody else waits for the reading, or
 * we are not master.
 */
bool error_watch_read(struct error_watch *w, void (*fn)(void *arg, uint32_t none), void *arg, struct buf *err);
/* Cancels the call of fn with this arg. */
void error_watch_forget(struct error_watch *w, const void *arg);

const struct error_book *error_watch_book(const struct error_watch *w);
const struct error_reading *error_watch_last(const struct error_watch *w);
/* The errors of a port of the state; NULL: it was never read. */
const struct error_port *error_watch_port(const struct error_watch *w, const struct subnet_state *s,
					  uint32_t port);
/* A rate of that port as of the last reading; RATE_UNKNOWN: it was not measured then. */
float error_watch_rate(const struct error_watch *w, const struct subnet_state *s, uint32_t port, enum port_rate r);
/*
 * Appends the counters of a port that are over their limits: "SymbolErrorCounter 12 in the last hour
 * (limit 10)", separated by commas.
 */
void error_put_over(const struct error_book *b, const struct error_port *p, int64_t now_us,
		    struct buf *out);

#endif
