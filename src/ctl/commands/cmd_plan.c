/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `plan`: what a policy would change, without applying it.  A thread of its own plans the
 * policy on the published fabric and compares it with the published plan: tables and Sets by sm's
 * own difference, answers by the SA's own resolver.  Everything that the thread reads is immutable,
 * or its own.
 */
#include "ctl/loading.h"

#include <stdlib.h>

#include "ctl/answer_changes.h"
#include "ctl/commands/cmd_explain.h"
#include "ctl/foresight.h"
#include "lib/base/alloc.h"
#include "lib/iba/sa_records.h"
#include "plan/feasible/feasible.h"

#define CHANGES_SHOWN 200

struct planning {
	const struct ctl_env *env;
	struct loading file;
	struct subnet_state *now;	/* a reference */
	struct sm_knowledge known;
	/* copy of the partitions to add to the file's, or NULL */
	struct dynamic_partitions *dynamic;
	/* the result */
	struct subnet_state then;	/* has now's fabric and the file's policy */
	struct difference difference;
	struct answers answers;
};

/* --- in the worker's thread --- */

static void plan_work(void *arg)
{
	struct planning *x = arg;

	loading_parse(&x->file);
	if (!x->file.policy)
		return;
	x->then.f = x->now->f;
	x->then.policy = x->dynamic ? dynamic_policy(x->dynamic, x->file.policy) :
				       shared_policy_ref(x->file.policy);
	x->then.plan = foresee_plan(x->now, x->now->plan->settings, x->then.policy->p);
	plan_judge(x->then.plan, NULL);
	sm_difference(x->now->plan, x->then.plan, &x->known, &x->difference);
	answers_compare(x->now, &x->then, &x->answers);
}

/* --- JSON --- */

static json_t *json_tables(const struct difference *d)
{
	json_t *tables = json_object();

	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++) {
		const struct tables_changed *t = &d->tables[c];

		json_object_set_new(tables, policy_class_name(c), json_pack(
			"{s:I, s:I, s:I, s:I, s:I}", "sl2vl", (json_int_t)t->sl2vl,
			"vlarb", (json_int_t)t->vlarb, "pkey", (json_int_t)t->pkey,
			"operational-vls", (json_int_t)t->op_vls,
			"high-limit", (json_int_t)t->high_limit));
	}
	return tables;
}

/* Counts of Sets by attribute, and their sum. */
static json_t *json_sets(const uint32_t *sets)
{
	json_t *by_attr = json_object();
	json_int_t total = 0;

	for (unsigned a = 0; a < 0x40; a++) {
		total += sets[a];
		if (sets[a])
			json_object_set_new(by_attr, attr_name(a), json_integer(sets[a]));
	}
	return json_pack("{s:I, s:o}", "total", total, "by-attribute", by_attr);
}

static json_t *json_query(const struct path_query *q)
{
	json_t *o = json_object();

	if (q->has & PR_SERVICE_ID_LSB)
		json_object_set_new(o, "service-id", json_guid(q->service_id));
	if (q->has & PR_QOS_CLASS)
		json_object_set_new(o, "qos-class", json_integer(q->qos_class));
	if (q->has & PR_TCLASS)
		json_object_set_new(o, "tclass", json_integer(q->tclass));
	if (q->has & PR_PKEY)
		json_object_set_new(o, "pkey", json_integer(q->pkey));
	if (q->has & PR_SL)
		json_object_set_new(o, "sl", json_integer(q->sl));
	return o;
}

static json_t *json_answer(const struct answer_side *x)
{
	return x->why ? json_pack("{s:o}", "no-path", json_text(x->why)) : json_path(&x->a);
}

static json_t *json_examples(const struct planning *x, const struct answer_change *c)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < c->n_examples; i++) {
		const struct answer_example *e = &c->examples[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}",
			"source", json_port(x->now, e->q.src),
			"destination", json_port(x->now, e->q.dst),
			"query", json_query(&e->q),
			"old", json_answer(&e->old), "new", json_answer(&e->new)));
	}
	return list;
}

static json_t *json_side(const struct policy *p, uint32_t rule, uint32_t level)
{
	return json_pack("{s:o, s:o}", "rule",
			 rule == MATCH_NO_RULE ? json_null() : json_rule(p, rule),
			 "level", json_text(p->levels[level].name));
}

static json_t *json_answers(const struct planning *x)
{
	const struct answers *a = &x->answers;
	json_t *changes = json_array();
	size_t n = a->changes.n < CHANGES_SHOWN ? a->changes.n : CHANGES_SHOWN;

	for (size_t i = 0; i < n; i++) {
		const struct answer_change *c = &a->changes.v[i];

		json_array_append_new(changes, json_pack("{s:o, s:o, s:I, s:I, s:o}",
			"old", json_side(x->now->policy->p, c->old_rule, c->old_level),
			"new", json_side(x->then.policy->p, c->new_rule, c->new_level),
			"pairs", (json_int_t)c->pairs, "queries", (json_int_t)c->queries,
			"examples", json_examples(x, c)));
	}
	return json_pack("{s:I, s:I, s:I, s:I, s:b, s:o, s:I}",
			 "pairs", (json_int_t)a->pairs,
			 "pairs-changed", (json_int_t)a->pairs_changed,
			 "port-kinds", (json_int_t)a->kinds, "queries", (json_int_t)a->queries,
			 "sample", !a->all_queries || !a->all_kinds, "changes", changes,
			 "more", (json_int_t)(a->changes.n - n + a->more));
}

/* What a level gets on the kind of link where it gets least; null: nothing is known of it. */
static json_t *json_least(const struct plan *plan, const char *level)
{
	const struct feasibility *v = plan->feasible;
	uint32_t i = policy_find_level(plan->policy, level);
	const struct level_link *l;
	json_t *o;

	if (!v || i == UINT32_MAX || v->levels[i].worst == UINT32_MAX || !plan->tables->managed)
		return json_null();
	l = &v->kinds[v->levels[i].worst].levels[i];
	if (l->unknown || l->vl == IB_VL_DROP)
		return json_null();
	o = json_pack("{s:i, s:i, s:b, s:f, s:f}", "sl", plan->policy->levels[i].sl, "vl", l->vl,
		      "high", l->high, "share", l->share, "gbps", l->guaranteed);
	json_add_models(o, l->share_iba, l->share_measured);
	return o;
}

/* The levels of the new policy, then those of the present one that go. */
static json_t *json_shares(const struct planning *x)
{
	const struct policy *old = x->now->policy->p, *new = x->then.policy->p;
	json_t *rows = json_array();

	for (size_t i = 0; i < new->n_levels + old->n_levels; i++) {
		bool goes = i >= new->n_levels;
		const char *name = goes ? old->levels[i - new->n_levels].name : new->levels[i].name;

		if (goes && policy_find_level(new, name) != UINT32_MAX)
			continue;
		json_array_append_new(rows, json_pack("{s:o, s:o, s:o}", "level", json_text(name),
			"old", json_least(x->now->plan, name), "new", json_least(x->then.plan, name)));
	}
	return rows;
}

static json_t *json_fabric_findings(const struct plan *plan)
{
	struct findings all = { 0 };
	json_t *rows;

	foresee_findings(plan, &all);
	rows = json_findings(&all);
	findings_free(&all);
	return rows;
}

static void plan_answer(void *arg, struct reply *r)
{
	struct planning *x = arg;

	if (!x->then.plan || (x->env->policies &&
			      !policies_accept(x->env->policies, x->file.policy, x->file.name,
					       &x->file.found))) {
		loading_refused(&x->file, r, "");
		return;
	}
	reply_result(r, json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"policy", json_policy(x->file.policy),
		"engine", x->then.plan->engine,
		"engine-choice", json_choice_text(x->then.plan),
		"findings", json_findings(&x->then.policy->findings),
		"fabric-findings", json_fabric_findings(x->then.plan),
		"shares", json_shares(x),
		"tables", json_tables(&x->difference),
		"sets", json_pack("{s:o, s:o}", "least", json_sets(x->difference.least),
				  "most", json_sets(x->difference.most)),
		"answers", json_answers(x)));
}

static void plan_release(void *arg)
{
	struct planning *x = arg;

	plan_free(x->then.plan);
	shared_policy_unref(x->then.policy);
	dynamic_free(x->dynamic);
	answers_free(&x->answers);
	loading_free(&x->file);
	sm_knowledge_free(&x->known);
	state_unref(x->now);
	free(x);
}

void cmd_plan(const struct ctl_call *c, struct reply *r)
{
	static const struct job_ops ops = { plan_work, NULL, plan_answer, plan_release };
	struct planning *x;

	if (!c->env->sm) {
		reply_error(r, NULL, "this daemon has no subnet manager");
		return;
	}
	x = xcalloc(1, sizeof(*x));
	x->env = c->env;
	x->now = state_ref(c->view->state);
	sm_knowledge_take(c->env->sm, &x->known);
	if (c->env->dynamic)
		x->dynamic = dynamic_copy(c->env->dynamic(c->env->arg));
	if (loading_take(&x->file, c, r))
		reply_later(r, c->view->jobs, &ops, x);
	else
		plan_release(x);
}
