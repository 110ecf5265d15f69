/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes forwarding tables that are derived from those in force, as the last pass of a sweep.
 *
 * By then the links and switches of the new routes are Active and have their other tables.  The
 * blocks are written round by round (routing/change/update_rounds.h); each round ends before the next
 * begins, so that at no moment routes in use form a loop or a cycle of channels.
 *
 * If a switch does not take a block, because it does not answer or is not asked any more, later
 * rounds are no longer right for the LIDs of that block: nothing more is written for those LIDs.
 * Blocks of other numbers are independent and go on.  Blocks that switches hold instead of the
 * planned ones are recorded with the plan (routes_now.stale), and the next sweep starts from there.
 * If it is unknown whether a block was written, the block is recorded as dropping every entry that
 * the write would change: routes must not use those entries until the block is read.  Where routes
 * are in layers, a round that relies on all blocks before it does not begin then, nor does any
 * later round.
 *
 * A switch with an unknown M_Key is left out and its contents are recorded, but other switches'
 * blocks with the same LIDs are written: whoever took a switch from us does not decide on the
 * repair of others.
 *
 * A switch whose contents are unknown gets its whole table written with the other tables (write.c),
 * and has no part in this.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "plan/routes/base_routes.h"
#include "routing/change/update_rounds.h"
#include "sm/sm_internal.h"
#include "sm/write/fixed_routes.h"
#include "sm/write/refused_sets.h"
#include "sm/write/write.h"

static struct log_ratelimit refused_log = LOG_RATELIMIT;

/* The blocks of one switch in the round. */
struct batch {
	uint32_t node, first, n, cursor;
};

/* State of a write. */
enum { WRITE_NOT, WRITE_SENT, WRITE_DONE };

struct reroute {
	struct rounds rounds;
	const struct lfts *was;		/* what the switches hold at the start */
	struct lfts *own_was;		/* owned `was`, if it differs from the routes of the previous plan */
	uint32_t round;
	uint8_t *became;		/* state of each write */
	VEC(struct batch) batches;
	VEC(uint32_t) again;		/* writes of the round that had no answer */
	uint64_t held[IB_LID_MCAST_FIRST / LFT_BLOCK / 64];	/* bit n: blocks of number n are held back */
	bool any_held;
	bool any_left;			/* something was not written */
};

static void hold(struct reroute *r, uint32_t write)
{
	uint16_t block = r->rounds.writes[write].block;

	r->held[block / 64] |= 1ull << block % 64;
	r->any_held = r->any_left = true;
}

static bool is_held(const struct reroute *r, uint32_t write)
{
	uint16_t block = r->rounds.writes[write].block;

	return r->held[block / 64] >> block % 64 & 1;
}

static void take_block(struct lfts *l, uint32_t sw, uint32_t block, const uint8_t *entries)
{
	if (block < l->stride / LFT_BLOCK)
		memcpy(l->entries + (size_t)sw * l->stride + (size_t)block * LFT_BLOCK, entries, LFT_BLOCK);
}

/* What the switches hold as far as known, including differences from the plan. */
static struct lfts *tables_in_force(const struct routes_now *x, const struct lft_reads *reads)
{
	const struct fabric *f = x->base->f;
	struct lfts *l = lfts_copy(routes_wanted(x));

	for (size_t i = 0; i < x->stale.n; i++)
		take_block(l, x->stale.v[i].sw, x->stale.v[i].block, x->stale.v[i].entries);
	for (size_t i = 0; i < reads->n; i++) {
		uint32_t node = map64_get(&f->node_by_guid, reads->v[i].guid);

		if (node != MAP64_NONE && f->nodes[node].sw != FABRIC_NONE)
			take_block(l, f->nodes[node].sw, reads->v[i].block, reads->v[i].entries);
	}
	return l;
}

/* The layers share VLs in the same way as those of the base; else they cannot be compared. */
static bool alike(const struct route_layers *base, const struct route_layers *y)
{
	return !base->link == !(y && y->link) && route_vl_sets_by_entry(base) == route_vl_sets_by_entry(y);
}

/* Makes the rounds from the tables that the switches hold, by layers if there are any. */
static void make_rounds(struct reroute *r, const struct plan *p, const struct plan *before)
{
	const struct routes_now *x = p->now;
	const struct base_routes *b = x->base;
	struct route_layers *was = routes_layers(before), *next = routes_layers(p);
	struct rounds_layers layers = { .was = was, .next = next, .lid = b->lid, .lmc = b->lmc };
	bool as_repaired;

	if (!x->other_order && !before->now->other_order && b->layers && !b->layers->tree)
		layers.legal = b->order;
	if (b->layers && b->layers->link)
		layers.shared = b->layers;
	/* then only what the repair changed differs */
	as_repaired = x->follows && !x->round && !before->now->round && !r->own_was;
	rounds_make(&r->rounds, b->channels, base_order(b),
		    b->layers && alike(b->layers, was) && alike(b->layers, next) ? &layers : NULL, x->dead.v,
		    (uint32_t)x->dead.n, r->was, routes_wanted(x), as_repaired ? x->repaired.blocks : NULL,
		    x->repaired.n_blocks);
	route_layers_free(was);
	route_layers_free(next);
}

struct reroute *reroute_new(const struct plan *p, const struct plan *before,
			    const struct lft_reads *reads)
{
	struct reroute *r;

	if (!routes_follow(p, before) || !p->now->repaired.next)
		return NULL;
	r = xcalloc(1, sizeof(*r));
	if (before->now->stale.n || reads->n)	/* a copy of all tables, which few repairs need */
		r->own_was = tables_in_force(before->now, reads);
	r->was = r->own_was ? r->own_was : routes_wanted(before->now);
	make_rounds(r, p, before);
	r->became = xcalloc(r->rounds.n ? r->rounds.first[r->rounds.n] + 1u : 1u, 1);
	return r;
}

void reroute_free(struct reroute *r)
{
	if (!r)
		return;
	rounds_free(&r->rounds);
	lfts_free(r->own_was);
	free(r->became);
	vec_free(&r->batches);
	vec_free(&r->again);
	free(r);
}

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct reroute *r = sm->sweep.reroute;
	struct batch *b = &r->batches.v[device];
	const struct lft_write *w;

	if (b->cursor == b->n)
		return false;
	if (sm->sweep.work[b->node].failed || !want_route(sm->sweep.f, b->node, 0, s)) {
		while (b->cursor < b->n)
			hold(r, b->first + b->cursor++);
		return false;
	}
	*cookie = b->first + b->cursor++;
	w = &r->rounds.writes[*cookie];
	r->became[*cookie] = WRITE_SENT;
	sweep_fill_set(sm, b->node, s, UMAD_SM_ATTR_LINEAR_FT, w->block);
	memcpy(s->data, w->entries, LFT_BLOCK);
	return true;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct reroute *r = sm->sweep.reroute;
	uint32_t node = r->batches.v[device].node;
	struct node_work *work = &sm->sweep.work[node];
	const uint8_t *want = r->rounds.writes[cookie].entries;
	unsigned len = plan_lft_entries(sm->sweep.plan, sm->sweep.f->nodes[node].sw, s->mod);

	if (status < 0) {
		/* in an extra round after this one: the order within a round is free */
		if (sweep_smp_lost(sm, node, "writing routes"))
			*vec_push(&r->again) = (uint32_t)cookie;
		else
			hold(r, (uint32_t)cookie);
		return;
	}
	sweep_heard(sm, node);
	r->became[cookie] = WRITE_DONE;		/* or refused: see refused_sets.c and fixed_routes.c */
	if (status) {
		refused_note(sm, node, UMAD_SM_ATTR_LINEAR_FT, s->mod,
			     hash_bytes(want, len, 0), (unsigned)status);
		return;
	}
	if (!memcmp(s->data, want, len)) {
		refused_taken(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod);
		return;
	}
	work->keeps++;
	store_refused(sm->store, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod,
		      hash_bytes(want, len, 0), hash_bytes(s->data, len, 0));
	fixed_routes_changed(sm, sm->sweep.f->nodes[node].guid, UMAD_SM_ATTR_LINEAR_FT, s->mod,
			    true);
	log_limited(&refused_log, LOG_LEVEL_WARNING, "sweep",
		    "%s: does not accept block %u of its forwarding table",
		    NODE_NAME(sm->sweep.f, node), s->mod);
}

static void finished(void *arg);
static const struct smp_job_ops reroute_ops = { next, done, finished };

static void add_write(struct sm *sm, struct reroute *r, uint32_t i)
{
	const struct routes_now *x = sm->sweep.plan->now;
	uint32_t sw = x->switches[r->rounds.writes[i].sw], node;
	const struct node_work *work;

	if (sw == FABRIC_NONE) {
		r->became[i] = WRITE_DONE;
		return;
	}
	node = sm->sweep.f->switches[sw].node;
	work = &sm->sweep.work[node];
	if (work->unknown && !work->lft_known && !work->failed) {
		r->became[i] = WRITE_DONE;	/* its whole table has been written already */
		return;
	}
	if (work->key_mismatch) {
		r->any_left = true;
		return;
	}
	if (work->failed)
		hold(r, i);
	if (is_held(r, i))
		return;
	if (r->batches.n && r->batches.v[r->batches.n - 1].node == node &&
	    r->batches.v[r->batches.n - 1].first + r->batches.v[r->batches.n - 1].n == i)
		r->batches.v[r->batches.n - 1].n++;
	else
		*vec_push(&r->batches) = (struct batch){ node, i, 1, 0 };
}

/* A map key for the switch and block of a write. */
static uint64_t key_of(const struct lft_write *w)
{
	return (uint64_t)w->sw << 16 | w->block;
}

/* Records writes of blocks that were not all done, in their order. */
static void follow_writes(const struct reroute *r, struct routes_now *x)
{
	uint32_t n = r->rounds.first[r->rounds.n];
	struct map64 places;

	map64_init(&places, 16);
	for (uint32_t i = 0; i < n; i++) {
		const struct lft_write *w = &r->rounds.writes[i];
		struct lft_write *s;

		if (r->became[i] == WRITE_DONE || map64_get(&places, key_of(w)) != MAP64_NONE)
			continue;
		map64_put(&places, key_of(w), (uint32_t)x->stale.n);
		s = vec_push(&x->stale);
		*s = (struct lft_write){ .sw = w->sw, .block = w->block };
		memcpy(s->entries, r->was->entries + (size_t)w->sw * r->was->stride +
		       (size_t)w->block * LFT_BLOCK, LFT_BLOCK);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct lft_write *w = &r->rounds.writes[i];
		uint32_t at = map64_get(&places, key_of(w));

		if (at == MAP64_NONE || r->became[i] == WRITE_NOT)
			continue;
		for (unsigned k = 0; k < LFT_BLOCK; k++)
			if (r->became[i] == WRITE_DONE)
				x->stale.v[at].entries[k] = w->entries[k];
			else if (x->stale.v[at].entries[k] != w->entries[k])
				x->stale.v[at].entries[k] = LFT_DROP;
	}
	map64_free(&places);
}

/* The next round is right only if everything was written, which is not the case. */
static bool must_end(const struct reroute *r)
{
	return r->any_held && r->rounds.after_all && r->rounds.after_all[r->round];
}

/* False: nothing is left to write, and unwritten blocks are recorded. */
static bool round_start(struct sm *sm)
{
	struct reroute *r = sm->sweep.reroute;

	r->batches.n = 0;
	if (r->again.n) {
		for (size_t i = 0; i < r->again.n; i++)
			add_write(sm, r, r->again.v[i]);
		r->again.n = 0;
	}
	while (!r->batches.n && r->round < r->rounds.n) {
		if (must_end(r)) {
			r->round = r->rounds.n;
			break;
		}
		for (uint32_t i = r->rounds.first[r->round]; i < r->rounds.first[r->round + 1]; i++)
			add_write(sm, r, i);
		r->round++;
	}
	if (!r->batches.n) {
		if (r->any_left)
			follow_writes(r, sm->sweep.plan->now);
		return false;
	}
	sm->sweep.job = smp_job_start(sm->mad, (uint32_t)r->batches.n, &reroute_ops, sm);
	return true;
}

static void finished(void *arg)
{
	struct sm *sm = arg;

	sm->sweep.job = NULL;
	if (!round_start(sm))
		sweep_step_done(sm, STEP_ROUTES, RESULT_DONE);
}

enum step_result reroute_start(struct sm *sm)
{
	return sm->sweep.reroute && round_start(sm) ? RESULT_WAIT : RESULT_DONE;
}
