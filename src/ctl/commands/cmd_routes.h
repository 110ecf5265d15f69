/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the routes in force (routing/gauge/gauge.h).  It does so in a thread, as that may take
 * seconds, and once per published state, however often clients ask.
 */
#ifndef QOSD_CTL_COMMANDS_CMD_ROUTES_H
#define QOSD_CTL_COMMANDS_CMD_ROUTES_H

#include "lib/loop/loop.h"
#include "plan/published_state.h"
#include "routing/gauge/gauge.h"

struct gauged {
	uint64_t generation;	/* of the measured state */
	struct gauge g;
	bool compared;		/* plain is set: the switches form no tree, or only one with missing links */
	struct gauge plain;	/* by gauge_plain() */
	double seconds;		/* duration of the measurement */
	int64_t when_us;	/* monotonic: its end */
	/* names of the ports in g; "": none */
	char hottest[FABRIC_NAME_MAX], from[FABRIC_NAME_MAX], to[FABRIC_NAME_MAX];
};

/* The last measurement and the running one, of one control socket. */
struct gauges;
struct gauges *gauges_new(struct loop *l);
/*
 * Stops running measurements, including those in threads of commands; call before waiting for
 * these.
 */
void gauges_stop(struct gauges *gs);
void gauges_free(struct gauges *gs);		/* accepts NULL */
/* NULL: no measurement yet. */
const struct gauged *gauges_last(const struct gauges *gs);
/*
 * Starts measuring the state's routes, unless the result is known or a measurement is running; it
 * waits long enough to keep a thread busy at most a fiftieth of the time.
 */
void gauges_refresh(struct gauges *gs, struct subnet_state *s);

#endif
