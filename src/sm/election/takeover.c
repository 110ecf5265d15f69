/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a standby's copy of the fabric, and takes over with it.
 *
 * The copy is a discovery and the plan for it, made anew from time to time and when the master has
 * given out LIDs; no device is told anything.  When the master is gone, the copy is published, and
 * then ports are told who is master now (announce.c).  A sweep that looks at everything follows.
 *
 * The copy may be old.  So a takeover changes only MasterSMLID and the fields that go with it, and
 * only at ports that were Active and had their planned LID; it changes no table and no port state.
 *
 * The routes of the copy may be old, too: a switch that failed together with the master can be on
 * all of them.  Each Set is tried once, and if many are lost the rest is left to the sweep that
 * follows.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "sm/election/election.h"
#include "sm/sm_internal.h"

#define COPY_US	60000000	/* age at which the copy is made anew, */
#define COPY_MIN_US	2000000		/* and the least time between two copies, whatever changes */
#define SILENT_MAX	64 /* devices without an answer, beyond which the copy's routes are not trusted */

struct standby_copy {
	struct fabric *f;
	struct plan *plan;
	struct shared_policy *policy;
};

void takeover_forget(struct sm *sm)
{
	struct standby_copy *p = sm->standby.copy;

	if (!p)
		return;
	plan_free(p->plan);
	fabric_free(p->f);
	shared_policy_unref(p->policy);
	free(p);
	sm->standby.copy = NULL;
}

void sm_standby_copy_is_old(struct sm *sm)
{
	sm->standby.due_us = 0;
}

bool sm_is_planning(const struct sm *sm)
{
	return sm->sweep.planning != NULL;
}

void takeover_look(struct sm *sm)
{
	int64_t now = clock_mono_us();

	if (sweep_runs(sm) || now < sm->standby.due_us || now < sm->standby.min_us)
		return;
	sm->standby.due_us = now + COPY_US;
	sm->standby.min_us = now + COPY_MIN_US;
	sweep_start(sm, SWEEP_STANDBY, "standing by");
}

enum step_result takeover_keep_copy(struct sm *sm)
{
	struct standby_copy *p = xmalloc(sizeof(*p));

	takeover_forget(sm);
	*p = (struct standby_copy){ sm->sweep.f, sm->sweep.plan, shared_policy_ref(sm->sweep.policy) };
	sm->standby.copy = p;
	/* copying a large fabric takes long: use at most a tenth of the time */
	sm->standby.min_us = clock_mono_us() + 10 * (clock_mono_us() - sm->sweep.started_us);
	sweep_cleanup(sm, true);
	sm_sweep_ended(sm, false);
	return RESULT_OVER;
}

bool takeover_start(struct sm *sm, const char *why)
{
	struct standby_copy *p = sm->standby.copy;

	if (!p || p->policy != sm->policy || sm->clients.lost || sweep_runs(sm))
		return false;
	sweep_begin(sm, SWEEP_TAKEOVER, why);
	sweep_run(sm);
	return true;
}

enum step_result takeover_take_copy(struct sm *sm)
{
	struct standby_copy *p = sm->standby.copy;

	sm->standby.copy = NULL;
	sm->withdrawn.unverified = true;
	fabric_set_names(p->f, sm->names);
	sm->sweep.f = p->f;
	sm->sweep.plan = p->plan;
	shared_policy_unref(p->policy);
	free(p);
	sm->sweep.work = xcalloc(sm->sweep.f->n_nodes, sizeof(*sm->sweep.work));
	for (uint32_t i = 0; i < sm->sweep.f->n_nodes; i++) {
		sm->sweep.work[i].unknown = true;
		sm->sweep.work[i].mft_unknown = node_is_switch(&sm->sweep.f->nodes[i]);
	}
	return RESULT_DONE;
}

bool takeover_is_hopeless(const struct sm *sm)
{
	return sweep_is(sm)->by_copy && sm->last.failed_devices >= SILENT_MAX;
}
