/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes what a policy comes to on the published fabric; foresight.h has the contracts. */
#include "ctl/foresight.h"

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

struct plan *foresee_plan(const struct subnet_state *now, const struct policy *policy)
{
	struct lid_map lids = lids_of(now->plan);
	struct plan *plan = plan_compute(now->f, policy, now->plan->settings, &lids, now->plan, NULL);

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

/* A judged plan, and the policy laid under dynamic partitions that it needs. */
struct trial {
	const struct policy *policy;
	struct policy *merged;		/* NULL: there are no dynamic partitions */
	struct plan *plan;
};

static void try_policy(struct trial *t, const struct subnet_state *now, const struct policy *policy,
		       const struct dynamic_partitions *dynamic)
{
	t->policy = policy;
	/* without a reference to the policy, whose count belongs to the loop's thread */
	t->merged = dynamic ? dynamic_merge(dynamic, policy, NULL) : NULL;
	t->plan = foresee_plan(now, t->merged ? t->merged : policy);
	plan_judge(t->plan, NULL);
}

static void trial_free(struct trial *t)
{
	plan_free(t->plan);
	if (t->merged)
		policy_overlay_free(t->merged, t->policy);
}

static void add_new_cuts(struct foresight *x, const struct policy *policy,
			 const struct feasibility *before, const struct feasibility *next)
{
	size_t at = 0;

	for (size_t i = 0; i < policy->n_levels; i++)
		for (unsigned k = 0; k < next->level_cut[i] && at < next->cut.n; k++, at++)
			if (!before->level_cut[i])
				findings_add(&x->refuses, SEV_ERROR, next->cut.v[at].file,
					     next->cut.v[at].pos, "%s", next->cut.v[at].text);
}

/*
 * Adds the errors on levels that can send everywhere with the dynamic partitions in force.  The published
 * plan tells which can, unless it is not judged yet or another policy's: one that was loaded a moment ago.
 */
static void compare_cuts(struct foresight *x, const struct policy *policy,
			 const struct feasibility *next)
{
	const struct feasibility *published = x->now->plan->feasible;
	struct trial before;

	if (!next->cut.n)
		return;
	if (published && x->now->policy->p->checksum == policy->checksum &&
	    x->now->policy->p->n_levels == policy->n_levels) {
		add_new_cuts(x, policy, published, next);
		return;
	}
	try_policy(&before, x->now, policy, x->dynamic);
	add_new_cuts(x, policy, before.plan->feasible, next);
	trial_free(&before);
}

static void judge(struct foresight *x, const struct policy *policy,
		  const struct dynamic_partitions *dynamic, bool only_partitions)
{
	struct trial t;

	if (!x->now)
		return;
	try_policy(&t, x->now, policy, dynamic);
	foresee_findings(t.plan, &x->found);
	if (only_partitions)
		compare_cuts(x, policy, t.plan->feasible);
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
