/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See withdraw_later.h. */
#include "ctl/commands/withdraw_later.h"

#include <stdlib.h>

#include "lib/base/alloc.h"

struct task {
	struct withdrawing x;
	const struct withdrawing_ops *ops;
	const struct ctl_env *env;
	struct subnet_state *state;	/* a reference */
	uint64_t change;		/* number of the last change of the list that was copied */
	struct kept_asker who;
};

static void judge(void *arg)
{
	struct task *t = arg;

	json_decref(t->x.rows);
	t->x.rows = NULL;
	t->ops->judge(&t->x);
}

/* Makes the list anew from the present one. */
static bool begin_again(struct task *t, struct reply *r)
{
	struct withdrawing *x = &t->x;
	bool good = true;

	withdrawals_free(x->list);
	withdrawals_free(x->before);
	x->before = withdrawals_copy(t->env->withdrawals(t->env->arg));
	x->list = withdrawals_copy(x->before);
	for (size_t i = 0; good && i < x->places->v.n; i++)
		good = !withdrawal_is_isolated(x->list, NULL, &x->places->v.v[i], r) &&
		       withdrawals_add(x->list, NULL, &x->places->v.v[i], r);
	if (good)
		judge(t);
	return good;
}

static void answer(void *arg, struct reply *r)
{
	struct task *t = arg;
	struct sm_status now = { 0 };

	if (t->env->sm)
		sm_get_status(t->env->sm, &now);
	if (!withdrawals_are_ours(t->env, &now, r) || (now.withdrawals_change != t->change && !begin_again(t, r)) ||
	    (t->ops->allows && !t->ops->allows(&t->x, r)))
		return;
	withdrawals_replace(&(struct withdrawals_change){ t->env, t->state, asker_kept(&t->who) }, t->x.list,
			    json_incref(t->x.rows), r);
	t->x.list = NULL;
}

static void release(void *arg)
{
	struct task *t = arg;

	withdrawals_free(t->x.list);
	withdrawals_free(t->x.places);
	withdrawals_free(t->x.before);
	json_decref(t->x.rows);
	state_unref(t->state);
	kept_asker_free(&t->who);
	free(t);
}

void withdraw_later(const struct ctl_call *c, struct withdrawals *list, struct withdrawals *places,
		    const struct withdrawing_ops *ops, struct reply *r)
{
	static const struct job_ops job = { judge, NULL, answer, release };
	struct task *t = xcalloc(1, sizeof(*t));

	*t = (struct task){
		.x = { .state = c->state, .places = places, .list = list,
		       .before = withdrawals_copy(c->env->withdrawals(c->env->arg)), .force = arg_flag(c, "force") },
		.ops = ops, .env = c->env, .state = state_ref(c->view->state),
		.change = c->view->sm.withdrawals_change, .who = asker_keep(c->view->peer.who),
	};
	reply_change_later(r, c->view->jobs, &job, t);
}
