/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a standby knows of the fabric (its picture), and taking over by it.
 *
 * The picture is a discovery of its own and the plan for it, made anew from time to
 * time, and when the master has given out LIDs; no device is told anything.  When the
 * master is gone, the picture is published, and then ports are told who is master now
 * (announce.c).  A sweep that looks at everything follows.
 *
 * The picture may be old.  So nothing but MasterSMLID, and what goes with it, is changed by it, and
 * that only where a port was Active and had the LID that it is to have; no table, and no port's
 * state.
 *
 * So may its ways be: a switch that went with the master can be on all of them.  Each Set
 * is tried once, and when many are lost the rest is left to the sweep that follows.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sm/sm_internal.h"

#define PICTURE_US	60000000	/* made anew so often */
#define PICTURE_MIN_US	2000000		/* … and not more often, whatever changes */
#define SILENT_MAX	64		/* devices without an answer: the ways are not those any more */

struct picture {
	struct fabric *f;
	struct plan *plan;
	struct shared_policy *policy;
};

void takeover_forget(struct sm *sm)
{
	struct picture *p = sm->picture;

	if (!p)
		return;
	plan_free(p->plan);
	fabric_free(p->f);
	shared_policy_unref(p->policy);
	free(p);
	sm->picture = NULL;
}

void sm_picture_is_old(struct sm *sm)
{
	sm->picture_due_us = 0;
}

bool sm_is_planning(const struct sm *sm)
{
	return sm->planning != NULL;
}

void takeover_look(struct sm *sm)
{
	int64_t now = clock_mono_us();

	if (sweep_runs(sm) || now < sm->picture_due_us || now < sm->picture_min_us)
		return;
	sm->picture_due_us = now + PICTURE_US;
	sm->picture_min_us = now + PICTURE_MIN_US;
	sweep_start(sm, SWEEP_PICTURE, "standing by");
}

enum step_result takeover_keep_picture(struct sm *sm)
{
	struct picture *p = xmalloc(sizeof(*p));

	takeover_forget(sm);
	*p = (struct picture){ sm->f, sm->plan, shared_policy_ref(sm->sweep_policy) };
	sm->picture = p;
	/* making it takes long where it is large: no more than a tenth of the time */
	sm->picture_min_us = clock_mono_us() + 10 * (clock_mono_us() - sm->started_us);
	sweep_cleanup(sm, true);
	sm_sweep_ended(sm, false);
	return RESULT_OVER;
}

bool takeover_start(struct sm *sm, const char *why)
{
	struct picture *p = sm->picture;

	if (!p || p->policy != sm->policy || sm->registrations_lost || sweep_runs(sm))
		return false;
	sweep_begin(sm, SWEEP_TAKEOVER, why);
	sweep_run(sm);
	return true;
}

enum step_result takeover_take_picture(struct sm *sm)
{
	struct picture *p = sm->picture;

	sm->picture = NULL;
	sm->f = p->f;
	sm->plan = p->plan;
	shared_policy_unref(p->policy);
	free(p);
	sm->work = xcalloc(sm->f->n_nodes, sizeof(*sm->work));
	for (uint32_t i = 0; i < sm->f->n_nodes; i++) {
		sm->work[i].unknown = true;
		sm->work[i].mft_unknown = node_is_switch(&sm->f->nodes[i]);
	}
	return RESULT_DONE;
}

bool takeover_is_hopeless(const struct sm *sm)
{
	return sweep_is(sm)->by_picture && sm->failed_devices >= SILENT_MAX;
}
