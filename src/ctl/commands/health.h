/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What an operator should look at now, worst first: each with a reason and what to
 * do about it.  Pure: from what is known at a moment.
 */
#ifndef QOSD_CTL_COMMANDS_HEALTH_H
#define QOSD_CTL_COMMANDS_HEALTH_H

#include "ctl/command.h"
#include "ctl/commands/cmd_routes.h"
#include "lib/base/alloc.h"
#include "lib/base/findings.h"
#include "sm/devices/implausible.h"
#include "store/store.h"

struct health_input {
	const struct sm_status *sm;
	const struct sm_seen *others;	/* subnet managers but this one */
	size_t n_others;
	const struct sm_flap *flaps;	/* links that flap */
	size_t n_flaps;
	const struct sm_refused *refused;	/* in no order */
	size_t n_refused;
	const struct sm_exclusion *left;	/* devices that are excluded */
	size_t n_left;
	const struct trap_flood *floods;	/* of traps, that go on */
	size_t n_floods;
	const struct mad_flood *mad_floods;	/* of any MADs, likewise */
	size_t n_mad_floods;
	const struct implausible_answer *implausible;	/* answers that cannot be (sm/devices/implausible.h) */
	size_t n_implausible;
	const struct subnet_state *state;	/* NULL: none is published */
	const struct gauged *gauged;	/* figures of the state's routes; NULL: not measured */
	const struct mcast_db *mcast;	/* NULL: there is no SA */
	const struct sa_stats *sa;	/* NULL: there is no SA */
	const struct sa *registered;	/* what clients registered with it; NULL likewise */
	struct store_failures store;
	int64_t trial_left_us;		/* < 0: no policy is on trial */
	const struct perf_finding *shorts;	/* who gets less than promised */
	size_t n_shorts;
	int64_t now_us;			/* realtime */
};

struct problem {
	enum severity severity;		/* SEV_INFO: worth knowing, and no problem */
	const char *kind;		/* static: a-z and '-' */
	const char *action;		/* static: what to do */
	char *text;			/* owned */
};

struct health {
	VEC(struct problem) v;
};

/* Of things of one kind, so many are said one by one; of the rest, how many. */
#define HEALTH_EACH 10

/* Who sends too many MADs, of which kind and how many.  s: the published state, or NULL. */
void health_flood_text(const struct subnet_state *s, const struct mad_flood *flood,
		       struct buf *out);

void health_judge(const struct health_input *in, struct health *out);
void health_free(struct health *h);

#endif
