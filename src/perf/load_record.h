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
	int64_t begun_us;		/* monotonic, of this hour; 0: it has not begun */
	uint32_t readings, ends;	/* readings with loads; ends of links in the last of them */
	double sum;			/* of the mean loads of all readings */
	struct load_peak worst[LOAD_WORST];	/* by falling load */
};

/*
 * Takes a reading.  rate() returns a rate of a port of the state.  True: an hour is over, e tells of it, and the next
 * one begins.
 */
bool load_record_take(struct load_record *x, const struct subnet_state *s,
		      float (*rate)(const void *arg, const struct subnet_state *s, uint32_t port, enum port_rate r),
		      const void *arg, int64_t now_us, struct event *e);

#endif
