/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time-outs, thousands of which are set and hardly one of which ever fires: a
 * wheel of slots of a millisecond.  Setting and cancelling take the same short
 * time however many there are; the engine sees one timer.
 */
#ifndef QOSD_SIM_HOST_WHEEL_H
#define QOSD_SIM_HOST_WHEEL_H

#include "sim/host/table.h"
#include "sim/net/engine.h"

struct wheel_timer {
	struct link link;		/* alone: not set */
	int64_t tick;			/* when it is due, milliseconds */
	void (*fn)(struct wheel_timer *t);
};

#define WHEEL_SLOTS 4096u

struct wheel {
	struct sim *s;
	struct link slots[WHEEL_SLOTS];
	uint64_t used[WHEEL_SLOTS / 64];	/* bit n: slot n is not empty */
	uint32_t n;
	int64_t tick;			/* all up to here have been looked at */
	uint64_t sim_timer;
	int64_t armed;			/* the tick that sim_timer is for */
};

void wheel_init(struct wheel *w, struct sim *s);
void wheel_stop(struct wheel *w);

void wheel_timer_init(struct wheel_timer *t, void (*fn)(struct wheel_timer *t));
/* fn(t) once, at that time or up to a millisecond later; what was set before is forgotten. */
void wheel_set(struct wheel *w, struct wheel_timer *t, int64_t at_us);
void wheel_cancel(struct wheel *w, struct wheel_timer *t);

#endif
