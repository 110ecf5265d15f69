/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes what a policy comes to on the published fabric; foresight.h has the contracts. */
#include "ctl/foresight.h"

#include <stdlib.h>
#include <string.h>

#include "plan/feasible/feasible.h"

/* Present LIDs, so that the plan keeps them; a device that lost its LID gets it again. */
static struct lid_map lids_of(const struct plan *p)
{
	struct lid_map map = { 0 };

	map64_init(&map.by_guid, p->f->n_nodes);
	map64_init(&map.lmc_by_guid, p->f->n_nodes);
	for (uint32_t i = 0; i < p->f->n_ports; i++) {
		if (!p->lid[i] || !fabric_owns_guid(p->f, i))
			continue;
		map64_put(&map.by_guid, p->f->ports[i].guid, p->lid[i]);
		map64_put(&map.lmc_by_guid, p->f->ports[i].guid, p->lmc[i]);
	}
	pkey_places_learn(&map.pkeys, p->f, p->partitions);
	return map;
}

struct plan *foresee_plan(const struct subnet_state *now, const struct settings *settings, const struct policy *policy)
{
	struct lid_map lids = lids_of(now->plan);
	struct plan *plan = plan_compute(now->f, policy, settings, &lids, now->plan, NULL);

	map64_free(&lids.by_guid);
	map64_free(&lids.lmc_by_guid);
	pkey_places_free(&lids.pkeys);
	return plan;
}

void foresee_findings(const struct plan *plan, struct findings *out)
{
	findings_copy(out, &plan->findings);
	findings_copy(out, &plan->feasible->findings);
}

void foresight_take(struct foresight *x, struct subnet_state *now,
		    const struct dynamic_partitions *dynamic)
{
	*x = (struct foresight){ .now = now ? state_ref(now) : NULL };
	if (dynamic)
		x->dynamic = dynamic_copy(dynamic);
}

void foresight_begin(struct foresight *x, const struct ctl_call *c)
{
	foresight_take(x, c->view->state, c->env->dynamic ? c->env->dynamic(c->env->arg) : NULL);
}

struct settings *foresight_settings(struct foresight *x)
{
	if (x->now && !x->settings)
		x->settings = settings_for_plan(x->now->plan->settings);
	return x->settings;
}

/* A judged plan, and the policy laid under dynamic partitions that it needs. */
struct trial {
	const struct policy *policy;
	struct policy *merged;		/* NULL: there are no dynamic partitions */
	struct plan *plan;
};

static void try_policy(struct trial *t, const struct foresight *x, const struct policy *policy,
		       const struct dynamic_partitions *dynamic)
{
	t->policy = policy;
	/* without a reference to the policy, whose count belongs to the loop's thread */
	t->merged = dynamic ? dynamic_merge(dynamic, policy, NULL) : NULL;
	t->plan = foresee_plan(x->now, x->settings ? x->settings : x->now->plan->settings,
			       t->merged ? t->merged : policy);
	plan_judge(t->plan, NULL);
}

static void trial_free(struct trial *t)
{
	plan_free(t->plan);
	if (t->merged)
		policy_overlay_free(t->merged, t->policy);
}

/* The levels of a policy with dynamic partitions, and the errors on them. */
struct judged_levels {
	const struct policy *p;
	const struct feasibility *v;
};

/* Whether a level of one of two overlays on a policy of n levels can send nothing by the other, either. */
static bool was_cut(const struct judged_levels *before, const struct policy *p, size_t level, size_t n)
{
	size_t i = level;

	if (level >= n)		/* a level that partitions of their own values have */
		for (i = n; i < before->p->n_levels; i++)
			if (!strcmp(before->p->levels[i].name, p->levels[level].name))
				break;
	return i < before->p->n_levels && before->v->level_cut[i];
}

/* n: number of levels of the policy below both */
static void add_new_cuts(struct foresight *x, const struct judged_levels *before,
			 const struct judged_levels *after, size_t n)
{
	const struct feasibility *next = after->v;
	size_t at = 0;

	for (size_t i = 0; i < after->p->n_levels; i++)
		for (unsigned k = 0; k < next->level_cut[i] && at < next->cut.n; k++, at++)
			if (!was_cut(before, after->p, i, n))
				findings_add(&x->refuses, SEV_ERROR, next->cut.v[at].file,
					     next->cut.v[at].pos, "%s", next->cut.v[at].text);
}

/* Whether the published policy is this one, whatever dynamic partitions are laid over it. */
static bool is_published(const struct foresight *x, const struct policy *policy)
{
	const struct shared_policy *now = x->now->policy;
	const struct policy *below = now->base ? now->base->p : now->p;

	return below->checksum == policy->checksum && below->n_levels == policy->n_levels;
}

/*
 * Adds the errors on levels that can send everywhere with the dynamic partitions in force.  The published
 * plan tells which can, unless it is not judged yet or another policy's: one that was loaded a moment ago.
 */
static void compare_cuts(struct foresight *x, const struct policy *policy, const struct plan *plan)
{
	const struct judged_levels next = { plan->policy, plan->feasible };
	struct trial before;

	if (!next.v->cut.n)
		return;
	if (x->now->plan->feasible && is_published(x, policy)) {
		add_new_cuts(x, &(struct judged_levels){ x->now->policy->p, x->now->plan->feasible }, &next,
			     policy->n_levels);
		return;
	}
	try_policy(&before, x, policy, x->dynamic);
	add_new_cuts(x, &(struct judged_levels){ before.plan->policy, before.plan->feasible }, &next,
		     policy->n_levels);
	trial_free(&before);
}

static uint16_t level_sls(const struct policy *p)
{
	uint16_t sls = 0;

	for (size_t i = 0; i < p->n_levels; i++)
		sls |= (uint16_t)(1u << p->levels[i].sl);
	return sls;
}

/*
 * Where routes have layers, an SL that a partition takes leaves fewer of the 16 for them.  Layers are told
 * apart by SL, so other SLs of layers would change the SLs of connections in use, whose packets could
 * then form credit loops; and fewer layers would change routes.
 */
static void compare_layers(struct foresight *x, const struct plan *next)
{
	const struct plan *now = x->now->plan;
	bool same = now->sls.n_layers == next->sls.n_layers;

	for (size_t i = 0; same && now->sls.n_layers > 1 && i < now->policy->n_levels; i++) {
		unsigned sl = now->policy->levels[i].sl;

		same = !memcmp(now->sls.sl[sl], next->sls.sl[sl], sizeof(now->sls.sl[sl]));
	}
	if (!same && now->sls.n_layers > 1)
		findings_add(&x->refuses, SEV_ERROR, POLICY_DYNAMIC, (struct src_pos){ 0, 0 },
			     "the %u layers of routes need the SLs that they have: with other SLs of "
			     "partitions, connections in use would need other SLs and routes.  Use the SL of "
			     "a level", now->sls.n_layers);
}

static bool has_conflict(const struct plan *p, const char *first, const char *second)
{
	const struct partitions *parts = p->partitions;

	for (size_t i = 0; i < parts->conflicts.n; i++) {
		const struct index0_conflict *c = &parts->conflicts.v[i];

		if (!strcmp(p->policy->partitions[c->first].name, first) &&
		    !strcmp(p->policy->partitions[c->second].name, second))
			return true;
	}
	return false;
}

/* Two partitions that want index 0 of a port refuse a request, unless they did before. */
static void compare_index0(struct foresight *x, const struct plan *next)
{
	for (size_t i = 0; i < next->partitions->conflicts.n; i++) {
		const struct index0_conflict *c = &next->partitions->conflicts.v[i];
		struct buf text = { 0 };

		if (has_conflict(x->now->plan, next->policy->partitions[c->first].name,
				 next->policy->partitions[c->second].name))
			continue;
		index0_conflict_text(next->policy, next->f, c, &text);
		findings_add(&x->refuses, SEV_ERROR, POLICY_DYNAMIC, (struct src_pos){ 0, 0 }, "%s", text.s);
		buf_free(&text);
	}
}

static void compare_partitions(struct foresight *x, const struct policy *policy, const struct plan *next)
{
	compare_index0(x, next);
	compare_cuts(x, policy, next);
	if (is_published(x, policy) && level_sls(x->now->plan->policy) != level_sls(next->policy))
		compare_layers(x, next);
}

static void judge(struct foresight *x, const struct policy *policy,
		  const struct dynamic_partitions *dynamic, bool only_partitions)
{
	struct trial t;

	if (!x->now)
		return;
	try_policy(&t, x, policy, dynamic);
	foresee_findings(t.plan, &x->found);
	if (only_partitions)
		compare_partitions(x, policy, t.plan);
	else
		findings_copy(&x->refuses, &t.plan->feasible->cut);
	x->judged = true;
	trial_free(&t);
}

void foresight_judge_with(struct foresight *x, const struct policy *policy,
			  const struct dynamic_partitions *dynamic)
{
	judge(x, policy, dynamic, true);
}

void foresight_judge(struct foresight *x, const struct policy *policy)
{
	judge(x, policy, x->dynamic && x->dynamic->v.n ? x->dynamic : NULL, false);
}

bool foresight_refuses(const struct foresight *x, bool forced, struct findings *out)
{
	if (forced || !x->refuses.count[SEV_ERROR])
		return false;
	findings_copy(out, &x->refuses);
	return true;
}

json_t *json_foresight(const struct foresight *x)
{
	return x->judged ? json_findings(&x->found) : json_null();
}

void foresight_free(struct foresight *x)
{
	state_unref(x->now);
	dynamic_free(x->dynamic);
	free(x->settings);
	findings_free(&x->found);
	findings_free(&x->refuses);
	*x = (struct foresight){ 0 };
}

const char *in_force_when(const struct ctl_env *env)
{
	struct sm_status s;

	if (!env->sm)
		return NULL;
	sm_get_status(env->sm, &s);
	if (s.state == SM_STANDBY || s.state == SM_NOT_ACTIVE)
		return "master";
	if (s.state != SM_MASTER || (env->sa && !env->sa->state))
		return "subnet-up";
	return s.sweeping ? "next-sweep" : "sweep";
}
