/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records the measured loads of links once an hour as an event, for the history: the mean, and the ends of links with
 * the highest load of any reading in that hour.
 */
#ifndef QOSD_PERF_LOAD_RECORD_H
#define QOSD_PERF_LOAD_RECORD_H

#include "events/event.h"
#include "perf/port_rates.h"
#include "plan/published_state.h"

#define LOAD_RECORD_US	(3600 * INT64_C(1000000))
#define LOAD_WORST	3

struct load_peak {
	uint64_t guid;			/* of the node */
	uint8_t num;
	double load;			/* part of the link's data rate; 0: this place is free */
	float waits;			/* ticks per second in the same reading; RATE_UNKNOWN: not known */
};

struct load_record {
	uint32_t next;			/* port of the fabric where the running reading goes on */
	uint32_t found;			/* ends of links with a load up to there */
	double found_sum;		/* of their loads */
	int64_t begun_us;		/* monotonic, of this hour; 0: it has not begun */
	uint32_t readings, ends;	/* readings with loads; ends of links in the last of them */
	double sum;			/* of the mean loads of all readings */
	struct load_peak worst[LOAD_WORST];	/* by falling load */
};

/*
 * Takes the next n ports of a reading; rate() returns a rate of a port of the state.  True: these were the last,
 * load_record_end() follows.  A reading is of one state: load_record_restart() gives one up.
 */
bool load_record_take(struct load_record *x, const struct subnet_state *s, uint32_t n,
		      float (*rate)(const void *arg, const struct subnet_state *s, uint32_t port, enum port_rate r),
		      const void *arg);
void load_record_restart(struct load_record *x);
/* Ends a reading.  True: an hour is over, e tells of it, and the next one begins. */
bool load_record_end(struct load_record *x, const struct subnet_state *s, int64_t now_us, struct event *e);

#endif
