/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writing forwarding tables that follow from those in force, as the last pass of a
 * sweep: the links and switches by which the new routes go are Active and have their
 * tables by then.  Round by round (route/rounds.h), each of which ends before the next
 * begins, so that at no moment routes in use form a loop or a circle of channels.
 *
 * Where a switch does not answer the rounds behind are not begun: they are right only when it
 * has what it was told, and often more has happened by then.  Who has not had all of its blocks is
 * doubtful, and the sweep that follows reads and writes it.
 *
 * A switch of which it is not known what it holds has its whole table written with the
 * other tables (write.c), and has no part in this.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "base/alloc.h"
#include "base/log.h"
#include "plan/base_routes.h"
#include "route/rounds.h"
#include "sm/internal.h"

static struct log_ratelimit refused_log = LOG_RATELIMIT;

/* The blocks of one switch in the round. */
struct batch {
	uint32_t node, first, n, cursor;
};

struct reroute {
	struct rounds rounds;
	uint32_t round;
	VEC(struct batch) batches;
	VEC(uint32_t) again;		/* writes of the round without an answer */
	bool broken;			/* a switch does not answer any more */
};

struct reroute *reroute_new(const struct plan *p, const struct plan *before)
{
	const struct routes_now *x = p->now;
	struct reroute *r;

	if (!routes_follow(p, before) || !x->repaired.next)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	rounds_make(&r->rounds, x->base->channels, base_order(x->base), x->dead.v,
		    (uint32_t)x->dead.n, before->now->repaired.next, x->repaired.next,
		    x->repaired.blocks, x->repaired.n_blocks);
	return r;
}

void reroute_free(struct reroute *r)
{
	if (!r)
		return;
	rounds_free(&r->rounds);
	vec_free(&r->batches);
	vec_free(&r->again);
	free(r);
}

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct reroute *r = sm->reroute;
	struct batch *b = &r->batches.v[device];
	const struct lft_write *w;

	if (b->cursor == b->n || sm->work[b->node].failed ||
	    !want_route(sm->f, b->node, 0, s))
		return false;
	*cookie = b->first + b->cursor++;
	w = &r->rounds.writes[*cookie];
	sweep_fill_smp(sm, s, SMP_SET, UMAD_SM_ATTR_LINEAR_FT, w->block);
	memcpy(s->data, w->entries, LFT_BLOCK);
	return true;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct reroute *r = sm->reroute;
	uint32_t node = r->batches.v[device].node;
	struct node_work *work = &sm->work[node];
	const uint8_t *want = r->rounds.writes[cookie].entries;
	unsigned len = plan_lft_entries(sm->plan, sm->f->nodes[node].sw, s->mod);
	char name[FABRIC_NAME_MAX];

	if (status < 0) {
		/* in a round of their own, behind this one: the order within a round is free */
		if (sweep_smp_lost(sm, node, "writing routes"))
			*vec_push(&r->again) = (uint32_t)cookie;
		else
			r->broken = true;
		return;
	}
	work->silent = 0;
	if (status) {
		refused_note(sm, node, UMAD_SM_ATTR_LINEAR_FT, s->mod,
			     hash_bytes(want, len, 0), (unsigned)status);
		return;
	}
	if (!memcmp(s->data, want, len)) {
		refused_taken(sm, sm->f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod);
		return;
	}
	work->keeps++;
	store_refused(sm->store, sm->f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod,
		      hash_bytes(want, len, 0), hash_bytes(s->data, len, 0));
	kept_routes_changed(sm, sm->f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod,
			    true);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: does not take block %u of its forwarding table",
		    fabric_node_name(sm->f, node, name, sizeof(name)), s->mod);
}

static void finished(void *arg);
static const struct smp_job_ops reroute_ops = { next, done, finished };

static void add_write(struct sm *sm, struct reroute *r, uint32_t i)
{
	const struct routes_now *x = sm->plan->now;
	uint32_t sw = x->switches[r->rounds.writes[i].sw], node;

	if (sw == FABRIC_NONE)
		return;
	node = sm->f->switches[sw].node;
	if (sm->work[node].unknown)
		return;		/* it has all of its table already */
	if (r->batches.n && r->batches.v[r->batches.n - 1].node == node &&
	    r->batches.v[r->batches.n - 1].first + r->batches.v[r->batches.n - 1].n == i)
		r->batches.v[r->batches.n - 1].n++;
	else
		*vec_push(&r->batches) = (struct batch){ node, i, 1, 0 };
}

/* What has not been written, in this round and those behind it. */
static void leave_rest(struct sm *sm)
{
	struct reroute *r = sm->reroute;

	for (size_t i = 0; i < r->again.n; i++)
		add_write(sm, r, r->again.v[i]);
	for (uint32_t i = r->rounds.first[r->round]; i < r->rounds.first[r->rounds.n]; i++)
		add_write(sm, r, i);
	for (size_t i = 0; i < r->batches.n; i++)
		if (r->batches.v[i].cursor < r->batches.v[i].n)
			sm->work[r->batches.v[i].node].doubtful = true;
	r->batches.n = 0;
}

/* False: there is nothing to write any more. */
static bool round_start(struct sm *sm)
{
	struct reroute *r = sm->reroute;

	if (r->broken) {
		leave_rest(sm);
		return false;
	}
	r->batches.n = 0;
	if (r->again.n) {
		for (size_t i = 0; i < r->again.n; i++)
			add_write(sm, r, r->again.v[i]);
		r->again.n = 0;
	}
	while (!r->batches.n && r->round < r->rounds.n) {
		for (uint32_t i = r->rounds.first[r->round]; i < r->rounds.first[r->round + 1]; i++)
			add_write(sm, r, i);
		r->round++;
	}
	if (!r->batches.n)
		return false;
	sm->job = smp_job_start(sm->mad, (uint32_t)r->batches.n, &reroute_ops, sm);
	return true;
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	sm->job = NULL;
	if (!round_start(sm))
		sweep_written(sm);
}

void reroute_start(struct sm *sm)
{
	sweep_enter(sm, PHASE_ROUTES);
	if (!sm->reroute || !round_start(sm))
		sweep_written(sm);
}
