/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the subnet follow the list of what is withdrawn; see withdrawn.h.
 *
 * Drained links are held like links that flap (sm/traps/flap_table.h), so routes leave them by the
 * same repair and the same order of writing as after a fault, but while the link still carries
 * packets: nothing is lost, and no credit loop arises.  The local sweep asks the nodes for nothing
 * that is known, because no device has changed.
 *
 * Isolated links are cut out of the fabric of the sweep (isolated.c).  When they are released, the
 * ports at their ends are asked as if something were plugged in there, and no others.
 */
#include "sm/devices/withdrawn.h"

#include "sm/devices/withdrawals.h"
#include "sm/sm_internal.h"

/* Has the next local sweep take the node for changed.  False: the node is not in the fabric. */
static bool suspect_place(struct sm *sm, const struct withdrawal *x)
{
	if (!sm->published ||
	    withdrawal_place(x, sm->published->f).node == FABRIC_NONE)
		return false;
	sm_suspect(sm, &(struct suspect){ .guid = x->guid, .ends = true, .changed = true });
	return true;
}

/* Suspects the places that are in `a`, and not likewise in `b`, which may be NULL. */
static bool suspect_difference(struct sm *sm, const struct withdrawals *a, const struct withdrawals *b)
{
	bool any = false;

	for (size_t i = 0; a && i < a->v.n; i++) {
		const struct withdrawal *x = &a->v.v[i];
		const struct withdrawal *y = b ? withdrawals_find(b, x->guid, x->port) : NULL;

		if (!y || y->kind != x->kind)
			any |= suspect_place(sm, x);
	}
	return any;
}

static void suspect_end(struct sm *sm, uint64_t guid)
{
	if (sm->published && map64_get(&sm->published->f->node_by_guid, guid) != MAP64_NONE)
		sm_suspect(sm, &(struct suspect){ .guid = guid, .changed = true, .ends = true, .dark = true });
}

static void link_is_back(void *arg, const struct isolation_cut *x)
{
	suspect_end(arg, x->guid[0]);
	suspect_end(arg, x->guid[1]);
}

/* The links that are isolated no more have far ends again.  True: there are such links. */
static bool take_back(struct sm *sm, const struct withdrawals *w)
{
	struct isolation_cuts *cuts = &sm->withdrawn.isolated.cuts;
	size_t n = cuts->v.n;

	isolation_cuts_prune(cuts, w, link_is_back, sm);
	return cuts->v.n < n;
}

uint64_t sm_set_withdrawals(struct sm *sm, const struct withdrawals *w)
{
	struct withdrawn *x = &sm->withdrawn;
	bool away, back;

	away = suspect_difference(sm, w, x->list);
	back = suspect_difference(sm, x->list, w);
	back |= take_back(sm, w);
	x->list = w;
	flaps_set_withdrawals(sm->traps.flaps, w);
	x->change++;
	if (away || back)
		sm_want_sweep(sm, SWEEP_LOCAL, away ? "something was withdrawn" : "something was released");
	else if (!sweep_runs(sm))
		x->planned = x->in_force = x->change;	/* nothing of it is there */
	return x->change;
}

void withdrawn_prepare(struct sm *sm)
{
	/* a link may have been isolated after the sweep took its fabric */
	if (!isolations_pending(sm->withdrawn.list, sm->sweep.f))
		sm->withdrawn.planned = sm->withdrawn.change;
}

/* True: something is isolated of what this sweep has found. */
static bool suspect_uncut(struct sm *sm)
{
	const struct withdrawals *w = sm->withdrawn.list;
	bool any = false;

	for (size_t i = 0; w && i < w->v.n; i++)
		if (isolation_pending(&w->v.v[i], sm->published->f))
			any |= suspect_place(sm, &w->v.v[i]);
	return any;
}

void withdrawn_swept(struct sm *sm)
{
	struct withdrawn *x = &sm->withdrawn;

	x->in_force = x->planned;
	x->unverified = x->unverified && !sweep_is(sm)->whole;
	if (suspect_uncut(sm))
		sm_want_sweep(sm, SWEEP_LOCAL, "something was isolated");
	else if (x->planned != x->change)
		/* a change during the sweep, perhaps of a node that it has just found */
		sm_want_sweep(sm, SWEEP_POLICY, "what is withdrawn has changed");
}

void withdrawn_status(const struct sm *sm, struct sm_status *out)
{
	const struct withdrawn *x = &sm->withdrawn;

	out->withdrawals = x->list;
	out->withdrawals_change = x->change;
	out->withdrawals_in_force = x->in_force;
	out->withdrawals_unverified = x->unverified;
	out->cuts = &x->isolated.cuts;
}
