/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The routes in force, measured (routing/gauge/gauge.h): in a thread, as that may take seconds, and once
 * for a published state, whoever asks how often.
 */
#ifndef QOSD_CTL_COMMANDS_CMD_ROUTES_H
#define QOSD_CTL_COMMANDS_CMD_ROUTES_H

#include "lib/loop/loop.h"
#include "plan/published_state.h"
#include "routing/gauge/gauge.h"

struct gauged {
	uint64_t generation;	/* of the state whose routes they are */
	struct gauge g;
	bool compared;		/* plain is there: the switches form no tree, or one without some links */
	struct gauge plain;	/* by gauge_plain() */
	double seconds;		/* that it took */
	int64_t when_us;	/* monotonic: when it was over */
	/* the ports that g names, as text; "": none */
	char hottest[FABRIC_NAME_MAX], from[FABRIC_NAME_MAX], to[FABRIC_NAME_MAX];
};

/* The last measurement, and the one under way; of one control socket. */
struct gauges;
struct gauges *gauges_new(struct loop *l);
/* Ends what is under way, in threads of commands too: before these are waited for. */
void gauges_stop(struct gauges *gs);
void gauges_free(struct gauges *gs);		/* NULL is fine */
/* NULL: none yet. */
const struct gauged *gauges_last(const struct gauges *gs);
/*
 * Has the routes of the state measured, unless they are known or something is under way; not
 * sooner after the last time than that its thread is busy for a fiftieth of the time.
 */
void gauges_refresh(struct gauges *gs, struct subnet_state *s);

#endif
