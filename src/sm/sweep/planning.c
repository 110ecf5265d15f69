/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes the plan of a sweep in a worker thread, so that queries and the control socket are
 * served meanwhile.
 *
 * The first part of the plan runs while no SMP of the sweep is outstanding: nobody else looks at
 * the LIDs of the store.  The second part, which only clients need, runs beside the steps that
 * write.  During both nobody changes the fabric or the policy that they read: where ports may
 * change meanwhile, the second part works on a copy of the fabric.
 *
 * Tables of a policy that is not in force yet wait for the second part, which decides whether this
 * fabric can keep the policy.  If only the policy is new, both parts come first; else the second
 * part begins as soon as the first is done.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "plan/feasible/feasible.h"
#include "plan/routes/base_routes.h"
#include "plan/routes/choose_engine.h"
#include "plan/routes/fabric_shape.h"
#include "sm/sm_internal.h"
#include "sm/write/refused_sets.h"
#include "sm/write/write.h"

enum planning {
	PLAN_FIRST,	/* LIDs, tables, routes */
	PLAN_SECOND,	/* paths, and whether the fabric can keep the policy */
	PLAN_AHEAD,	/* the second part before its time, on a copy of the fabric */
	PLAN_FOLLOW,	/* after both: paths follow what devices keep */
};

struct plan_task {
	struct sm *sm;
	struct work *work;
	enum planning what;
	struct fabric *f;
	const struct policy *policy;
	struct settings *settings;	/* PLAN_FIRST: a copy, which the plan takes; else NULL */
	struct store *store;
	struct subnet_state *before;	/* a reference to the state in force, or NULL */
	struct reroute *reroute;
	struct plan *plan;	/* NULL before the first part */
	bool whole;		/* both parts at once, if tables are managed */
	bool wants_spare;	/* the first part also copies f, for the second part */
	struct fabric *spare;
	bool isolates;		/* the first part also makes digests of the switches that isolation takes out */
	struct isolated_digests leaving;
	bool forget;		/* its LIDs are not given out, and not saved */
	bool follow;		/* plan is complete: paths must follow what was seen */
	struct fixed_seen seen;		/* from sm->sweep.fixed and sm->sweep.fixed_arbs */
	struct fabric *copy;	/* the fabric of plan, which is then a fork of sm->sweep.plan; else NULL */
};

static void plan_run(void *arg)
{
	struct plan_task *t = arg;
	const struct plan *before = t->before ? t->before->plan : NULL;
	bool second = t->plan;

	if (t->follow) {
		plan_follow(t->plan, &t->seen, clock_mono_us);
		return;
	}
	if (!second) {
		/* nobody else uses the fabric until its plan is there */
		t->plan = plan_begin_drained(t->f, t->policy, t->settings, store_lids(t->store), before,
					     clock_mono_us);
		t->plan->own_settings = t->settings;
		t->reroute = reroute_new(t->plan, before, &t->sm->sweep.lft_reads);
		/* before any device is told: after a crash the LIDs and P_Key indexes must be the same */
		if (!t->forget) {
			store_save_lids(t->store, t->plan);
			store_save_pkeys(t->store, t->plan);
			if (!store_wait(t->store))
				log_warn("sweep", "assigned LIDs may not be on disk");
			if (!before || before->now->base != t->plan->now->base)
				store_save_known(t->store, t->plan->now->base->f);
		}
		if (t->isolates && before)
			isolated_tables_digest(&t->leaving, before, t->f);
		if (t->wants_spare)
			t->spare = fabric_clone(t->f);
	}
	if (second || (t->whole && t->plan->tables->managed)) {
		plan_complete(t->plan, before, clock_mono_us);
		plan_judge(t->plan, clock_mono_us);
	}
}

void planning_join(struct sm *sm)
{
	struct plan_task *t = sm->sweep.planning;

	if (!t)
		return;
	work_end(t->work);
	if (t->copy) {
		plan_join(sm->sweep.plan, t->plan);
		fabric_free(t->copy);
	} else if (!sm->sweep.plan)	/* the receiver's thread reads it during the second part */
		sm->sweep.plan = t->plan;
	if (t->reroute)
		sm->sweep.reroute = t->reroute;
	if (t->spare)
		sm->sweep.spare = t->spare;
	if (t->leaving.n) {
		vec_free(&sm->withdrawn.isolated.leaving);
		sm->withdrawn.isolated.leaving = t->leaving;
	}
	state_unref(t->before);
	sm->sweep.planning = NULL;
	free(t);
}

/* Findings equal to those of the last sweep are not logged again. */
static void log_if_new(const struct findings *f, uint64_t *seen)
{
	uint64_t digest = 1;

	for (size_t i = 0; i < f->n; i++)
		digest = hash_bytes(f->v[i].text, strlen(f->v[i].text), digest);
	if (digest != *seen)
		findings_log(f, "plan");
	*seen = digest;
}

/* Logs that the switches form no tree, or a costly one, when that begins, changes or ends. */
static void log_shape(struct sm *sm)
{
	enum shape_state state = plan_shape_state(sm->sweep.plan);
	bool told = state == SHAPE_NO_TREE || state == SHAPE_COSTS;
	struct buf text = { 0 };
	uint64_t digest;

	plan_shape_text(sm->sweep.plan, &text);
	digest = told ? hash_bytes(text.s, text.n, 1) : 0;
	if (digest != sm->said.shape_seen)
		log_at(state == SHAPE_COSTS ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "routing", "%s", text.s);
	sm->said.shape_seen = digest;
	buf_free(&text);
}

/* Logs which engine was chosen, and why, once for each choice. */
static void log_choice(struct sm *sm)
{
	struct buf text = { 0 };
	uint64_t digest;

	plan_choice_text(sm->sweep.plan, &text);
	digest = text.n ? hash_bytes(text.s, text.n, 1) : 0;
	if (text.n && digest != sm->said.choice_seen)
		log_info("routing", "%s", text.s);
	sm->said.choice_seen = digest;
	buf_free(&text);
}

static void log_new_findings(struct sm *sm)
{
	struct findings f = { 0 };

	log_shape(sm);
	log_choice(sm);
	findings_copy(&f, &sm->sweep.plan->findings);
	findings_copy(&f, &sm->sweep.plan->feasible->findings);
	log_if_new(&f, &sm->said.findings_seen);
	findings_free(&f);
}

/*
 * A copy of the present fabric.  Copying a large one takes long, so a worker made the spare; since
 * then only SwitchInfo and ports that were stored may have changed.
 */
static struct fabric *copy_fabric(struct sm *sm)
{
	struct fabric *f = sm->sweep.spare;

	sm->sweep.spare = NULL;
	if (!f)
		return fabric_clone(sm->sweep.f);
	memcpy(f->switches, sm->sweep.f->switches, f->n_switches * sizeof(*f->switches));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (sm->sweep.work[i].stored)
			memcpy(fabric_port(f, i, 0), fabric_port(sm->sweep.f, i, 0),
			       (f->nodes[i].nports + 1u) * sizeof(*f->ports));
	return f;
}

static void paths_known(struct sm *sm)
{
	const struct plan *p = sm->sweep.plan;

	log_if_new(&sm->sweep.plan->fixed, &sm->said.fixed_seen);
	log_debug("sweep", "plan: LIDs %.3f s, tables %.3f s, routes %.3f s (%s), "
		  "verdict %.3f s, paths %.3f s, realizability %.3f s", (double)p->us_lids * 1e-6,
		  (double)p->us_tables * 1e-6, (double)p->us_routes * 1e-6,
		  p->engine ? p->engine : "none", (double)p->us_verdict * 1e-6,
		  (double)p->us_paths * 1e-6, (double)p->us_feasible * 1e-6);
}

static void planning_done(void *arg)
{
	struct plan_task *t = arg;
	struct sm *sm = t->sm;
	enum planning what = t->what;

	planning_join(sm);
	if (what == PLAN_FOLLOW)
		paths_known(sm);
	if ((what == PLAN_SECOND || what == PLAN_AHEAD) && sweep_is(sm)->writes)
		log_new_findings(sm);
	/* the second part runs beside other steps */
	if (what == PLAN_FIRST)
		sweep_step_done(sm, STEP_PLAN, RESULT_DONE);
	else if (what == PLAN_FOLLOW)
		sweep_step_done(sm, STEP_FOLLOW, RESULT_DONE);
	else if (sweep_step_waits(sm, STEP_JUDGE))
		sweep_step_done(sm, STEP_JUDGE, RESULT_DONE);
	else if (sweep_step_waits(sm, STEP_PATHS))
		sweep_step_done(sm, STEP_PATHS, RESULT_DONE);
}

static enum step_result planning_start(struct sm *sm, enum planning what)
{
	struct plan_task *t = xcalloc(1, sizeof(*t));
	int failed;

	t->sm = sm;
	t->what = what;
	t->plan = sm->sweep.plan;
	t->follow = what == PLAN_FOLLOW;
	t->seen =
		(struct fixed_seen){ sm->sweep.fixed.v, sm->sweep.fixed.n, sm->sweep.fixed_arbs.v,
				   sm->sweep.fixed_arbs.n };
	if (what == PLAN_AHEAD) {
		t->copy = copy_fabric(sm);
		t->plan = plan_fork(sm->sweep.plan, t->copy);
	}
	t->f = sm->sweep.f;
	t->policy = sm->sweep.policy->p;
	if (what == PLAN_FIRST)		/* a reload may change ours meanwhile */
		t->settings = settings_for_plan(sm->settings);
	t->store = sm->store;
	t->before = sm->published ? state_ref(sm->published) : NULL;
	t->whole = sweep_is(sm)->plans_all;
	t->forget = !sweep_is(sm)->writes;
	t->wants_spare = sweep_is(sm)->repairs;
	t->isolates = what == PLAN_FIRST && sm->withdrawn.isolated.cuts_now;
	t->work = work_start(sm->loop, plan_run, planning_done, t);
	if (t->work) {
		sm->sweep.planning = t;
		return RESULT_WAIT;
	}
	failed = errno;
	if (t->copy) {
		plan_join(sm->sweep.plan, t->plan);
		fabric_free(t->copy);
	}
	state_unref(t->before);
	free(t->settings);
	free(t);
	return sweep_fails(sm, strerror(failed));
}

/* Tables of a policy that is not in force yet are about to be written. */
static bool judge_first(const struct sm *sm)
{
	return sm->sweep.plan->tables->managed &&
	       (!sm->published || sm->published->policy != sm->sweep.policy);
}

/* No port will be told of another width or speed, which would change path rates. */
static bool links_stay(const struct settings *s)
{
	return s->link_width == LINK_KEEP && s->link_speed == LINK_KEEP;
}

enum step_result sweep_prepare(struct sm *sm)
{
	sm->wishes.replan = false;
	withdrawn_prepare(sm);
	flapping_look(sm);
	refused_begin(sm);
	return RESULT_DONE;
}

enum step_result sweep_plan(struct sm *sm)
{
	return planning_start(sm, PLAN_FIRST);
}

/* Begins work that runs beside the following steps. */
static enum step_result beside(struct sm *sm, enum planning what)
{
	return planning_start(sm, what) == RESULT_FAIL ? RESULT_FAIL : RESULT_DONE;
}

enum step_result sweep_paths_early(struct sm *sm)
{
	if (sm->sweep.plan->feasible)
		log_new_findings(sm);
	else if (judge_first(sm) && links_stay(sm->settings))
		return beside(sm, PLAN_AHEAD);
	return RESULT_DONE;
}

enum step_result sweep_paths_begin(struct sm *sm)
{
	if (sm->sweep.plan->feasible || sm->sweep.planning)
		return RESULT_DONE;
	/* in a repair, ports become Active and are written to while it runs */
	return beside(sm, sweep_is(sm)->repairs ? PLAN_AHEAD : PLAN_SECOND);
}

enum step_result sweep_judge(struct sm *sm)
{
	return sm->sweep.planning && judge_first(sm) ? RESULT_WAIT : RESULT_DONE;
}

enum step_result sweep_paths(struct sm *sm)
{
	return sm->sweep.planning ? RESULT_WAIT : RESULT_DONE;
}

/* Devices hardly ever have tables that differ from the plan. */
enum step_result sweep_follow(struct sm *sm)
{
	fixed_gather(sm);
	if (sm->sweep.fixed.n || sm->sweep.fixed_arbs.n ||
	    qos_links_lack(sm->sweep.plan->tables, sm->sweep.f))
		return planning_start(sm, PLAN_FOLLOW);
	paths_known(sm);
	return RESULT_DONE;
}
