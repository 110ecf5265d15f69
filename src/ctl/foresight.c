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

/* Copies the errors on levels that send now, where the policy in force is the same but for partitions. */
static void add_new_cuts(struct foresight *x, const struct policy *policy,
			 const struct feasibility *next)
{
	const struct feasibility *now = x->now->plan->feasible;
	bool same = now && x->now->policy->p->checksum == policy->checksum &&
		    x->now->policy->p->n_levels == policy->n_levels;
	size_t at = 0;

	for (size_t i = 0; i < policy->n_levels; i++)
		for (unsigned k = 0; k < next->level_cut[i] && at < next->cut.n; k++, at++)
			if (!same || !now->level_cut[i])
				findings_add(&x->refuses, SEV_ERROR, next->cut.v[at].file,
					     next->cut.v[at].pos, "%s", next->cut.v[at].text);
}

static void judge(struct foresight *x, const struct policy *policy,
		  const struct dynamic_partitions *dynamic, bool only_partitions)
{
	/* without a reference to the policy, whose count belongs to the loop's thread */
	struct policy *merged = dynamic && x->now ? dynamic_merge(dynamic, policy, NULL) : NULL;
	struct plan *plan;

	if (!x->now)
		return;
	plan = foresee_plan(x->now, merged ? merged : policy);
	plan_judge(plan, NULL);
	foresee_findings(plan, &x->found);
	if (only_partitions)
		add_new_cuts(x, policy, plan->feasible);
	else
		findings_copy(&x->refuses, &plan->feasible->cut);
	x->judged = true;
	plan_free(plan);
	if (merged)
		policy_overlay_free(merged, policy);
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
