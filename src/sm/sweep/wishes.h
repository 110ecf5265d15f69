/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Collects the reasons for the next sweep, and begins it.
 */
#ifndef QOSD_SM_SWEEP_WISHES_H
#define QOSD_SM_SWEEP_WISHES_H

#include "lib/base/alloc.h"
#include "sm/sweep/steps.h"

/*
 * A node that may have changed.  renamed: perhaps its description, too.  changed: it has changed,
 * whatever its ports say.  whole: read all of its ports (of others probe_spare.c may skip some).
 * unasked: nobody reported a change, and there may be none.  ends: nothing of the node is suspected
 * (except perhaps its description) other than that a device answers behind its links without a far
 * end.  dark: such links may be up though their ports were Down when they were last read.  left: the
 * previous sweep did not wait for it.
 */
struct suspect {
	uint64_t guid;
	bool renamed, changed, whole, unasked, ends, dark, left;
};

#define FRUITLESS_FIRST 4	/* fruitless local sweeps before everything is discovered */

struct wishes {
	enum sweep_kind kind;		/* SWEEP_NONE: no sweep is wanted */
	char *reason;
	bool policy_too;		/* SWEEP_POLICY is among the wishes, though kind may rank higher */
	VEC(struct suspect) suspects;	/* of the next local sweep, or of the one that begins */
	bool full;			/* a sweep that should have read everything did not complete */
	bool replan;			/* routes must be made anew though the fabric is unchanged */
	bool election;			/* another SM demands an election */
	bool psc_seen;			/* a light sweep met PortStateChange: there must be a change */
	unsigned fruitless, fruitless_max;	/* fruitless local sweeps in a row; their limit */
	struct timer *retry;		/* retries an incomplete sweep */
	unsigned retry_wait_s;
	/* What alone keeps the last sweep from being complete: */
	bool only_silent_ends;	/* links whose far ends do not answer */
	bool only_refused;		/* Sets that refused_sets.c tries again */
	bool only_silent;			/* silent devices */
	struct timer *soon;
	bool soon_is_trap;		/* `soon` runs because of a trap */
	bool trap_from_stranger;
	unsigned others_awaited;	/* how often an SM that was still discovering was asked again */
};

/* Requests a sweep; starts it at once if none runs. */
void sm_want_sweep(struct sm *sm, enum sweep_kind kind, const char *reason);
/* Adds a suspect to the next local sweep; the caller must request that sweep. */
void sm_suspect(struct sm *sm, const struct suspect *s);
/* Called when a sweep is over: begins the next one, if it is wanted. */
void sm_sweep_ended(struct sm *sm, bool complete);
/*
 * Requests a sweep after a moment in which more reports may come: a local sweep, or a sweep of
 * everything if a stranger reported something.
 */
void wish_soon(struct sm *sm);
void wishes_new(struct sm *sm);
void wishes_free(struct sm *sm);

#endif
