/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How fast the counters of a port's traffic grew between the last two reads of each.
 *
 * A rate is known only if both reads are, and the counter neither stopped at its greatest value nor was reset in
 * between: a rate that may be wrong is none.
 *
 * Times are monotonic microseconds, given by the caller.  No other side effects.
 */
#ifndef QOSD_PERF_PORT_RATES_H
#define QOSD_PERF_PORT_RATES_H

#include "perf/pma.h"

enum port_rate { RATE_SENT, RATE_RECEIVED, RATE_WAITED, PORT_RATES };

#define RATE_UNKNOWN (-1.f)

struct port_rates {
	int64_t read_us[PORT_RATES];	/* when the counter was last read; 0: never */
	uint64_t last[PORT_RATES];	/* what it was then */
	/* in bytes per second; RATE_WAITED in ticks, whose length differs between devices, per second */
	float per_s[PORT_RATES];
};

/* Takes a counter of so many bits that was read; data in units of 4 bytes. */
void port_rate_take(struct port_rates *x, enum port_rate r, uint64_t value, unsigned bits, int64_t now_us);
/*
 * The counter was set to this value; what it had counted since the last read is lost.  The rate between the last two
 * reads stays.
 */
void port_rate_restart(struct port_rates *x, enum port_rate r, uint64_t value, int64_t now_us);
/* The rate, if its counter was read at since_us or later; RATE_UNKNOWN otherwise.  x may be NULL. */
float port_rate(const struct port_rates *x, enum port_rate r, int64_t since_us);

#endif
