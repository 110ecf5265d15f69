/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A timer wheel with slots of a millisecond, for many time-outs that seldom fire.
 *
 * Setting and cancelling take constant time; the engine sees a single timer.
 */
#ifndef QOSD_SIM_HOST_WHEEL_H
#define QOSD_SIM_HOST_WHEEL_H

#include "sim/host/table.h"
#include "sim/net/engine.h"

struct wheel_timer {
	struct link link;		/* alone when the timer is not set */
	int64_t tick;			/* time at which it is due, milliseconds */
	void (*fn)(struct wheel_timer *t);
};

#define WHEEL_SLOTS 4096u

struct wheel {
	struct sim *s;
	struct link slots[WHEEL_SLOTS];
	uint64_t used[WHEEL_SLOTS / 64];	/* bit n: slot n is not empty */
	uint32_t n;
	int64_t tick;			/* last tick that was processed */
	uint64_t sim_timer;
	int64_t armed;			/* tick that sim_timer is set for */
};

void wheel_init(struct wheel *w, struct sim *s);
void wheel_stop(struct wheel *w);

void wheel_timer_init(struct wheel_timer *t, void (*fn)(struct wheel_timer *t));
/* Calls fn(t) once, at that time or up to a millisecond later; replaces an earlier setting. */
void wheel_set(struct wheel *w, struct wheel_timer *t, int64_t at_us);
void wheel_cancel(struct wheel *w, struct wheel_timer *t);

#endif
