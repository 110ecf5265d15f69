/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is wished of the next sweep.
 */
#ifndef QOSD_SM_SWEEP_WISHES_H
#define QOSD_SM_SWEEP_WISHES_H

#include "lib/base/alloc.h"
#include "sm/sweep/steps.h"

/*
 * A node of which something may have changed; renamed: perhaps its description, too; changed: it
 * has, whatever its ports say; whole: all of its ports are read (of others probe_spare.c may leave
 * some out); unasked: nobody said so, and there need be nothing to find; ends: nothing of the node is
 * suspected (but perhaps its description) except that somebody answers behind its links that have no far
 * end; left: the sweep before did not wait for it.
 */
struct suspect {
	uint64_t guid;
	bool renamed, changed, whole, unasked, ends, left;
};

#define FRUITLESS_FIRST 4	/* local sweeps that may find nothing before all is discovered */

struct wishes {
	enum sweep_kind kind;		/* SWEEP_NONE: of none */
	char *reason;
	bool policy_too;		/* one of the wishes is SWEEP_POLICY, and kind may be more */
	VEC(struct suspect) suspects;	/* of the next local sweep, or the one that begins */
	bool full;			/* a sweep that was to read everything did not come to its end */
	bool replan;			/* routes are to be made anew though the fabric is the same */
	bool election;			/* another SM has something to say */
	bool psc_seen;			/* a light sweep met PortStateChange: there must be something */
	unsigned fruitless, fruitless_max;	/* local sweeps in a row that found nothing, and … */
	struct timer *retry;		/* of a sweep that was not complete */
	unsigned retry_wait_s;
	/* all that the last sweep lacks is: … */
	bool only_silent_ends;	/* far ends of links that do not answer */
	bool only_refused;		/* what refused_sets.c tries again */
	bool only_silent;			/* what devices do not do that do not answer at all */
	struct timer *soon;
	bool soon_is_trap;		/* what it runs for */
	bool trap_from_stranger;
	unsigned others_awaited;	/* how often one was asked again that is discovering */
};

/* Wishes a sweep; starts it at once if none runs. */
void sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Of the next local sweep, which somebody has to wish. */
void sm_suspect(struct sm *sm, const struct suspect *s);
/* A sweep is over: the next one begins, if it is wished. */
void sm_sweep_ended(struct sm *sm, bool complete);
/* A local sweep, or if a stranger told of something one of all, in a moment in which more of it may come. */
void wish_soon(struct sm *sm);
void wishes_new(struct sm *sm);
void wishes_free(struct sm *sm);

#endif
