/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads forwarding tables that switches do not let the subnet manager change, right before
 * planning.
 *
 * A block that a switch refuses for good, or confirms and ignores (store/refused_values.h), still
 * forwards as before.  This step reads such blocks and hands them to the plan
 * (fabric_keep_blocks()), which routes around their errors (plan/routes/lft_caps.h); likewise for
 * LinearFDBTop where SwitchInfo is refused.  A block is read again when the switch is doubtful and
 * in each sweep that begins with a discovery; otherwise the last contents count.
 *
 * The plan takes over the contents of such a block.  So the block is written only in a full sweep,
 * by one Set of the same contents, which changes nothing and shows whether the switch takes Sets
 * again. A block that the switch ignored, instead of refusing it, counts only while it holds the
 * contents of that time, and so does LinearFDBTop: after a restart of the switch the block is
 * written as usual.
 *
 * If a sweep finds that a switch refuses a block, or takes it again, its plan was made without that
 * knowledge, and another sweep of the same fabric follows.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "plan/routes/base_routes.h"
#include "sm/devices/silent.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"
#include "sm/write/fixed_routes.h"

/* A block of one switch's table. */
struct block {
	uint64_t guid;
	uint32_t node;		/* index in the sweep's fabric */
	bool known;		/* entries is what the switch holds */
	bool by_value;		/* it counts only while its digest is `digest` */
	bool back;		/* read because the switch answers again: the block can be changed */
	uint64_t digest;
	struct lft_fixed fixed;
};

struct fixed_list {	/* argument of fabric_keep_blocks() */
	struct lft_fixed *v;
	size_t n, cap;
};

/* The blocks of one switch, which are adjacent. */
struct batch {
	uint32_t first, n, cursor;
};

struct fixed_routes {
	VEC(struct block) blocks;	/* in order of switch and block */
	VEC(struct batch) batches;
	/* the blocks read last */
	VEC(struct block) before;
	struct map64 before_by_key;
	bool renew;			/* the plan of this sweep, or of the one before, lacks some */
};

static uint64_t key_of(uint64_t guid, uint32_t block)
{
	return hash64(guid ^ hash64(block | 1ull << 32));
}

/* The entries of a block that count: those that write.c digests. */
static unsigned entries_of(const struct fabric *f, uint32_t sw, uint32_t block)
{
	uint32_t cap = f->switches[sw].lft_cap, first = block * LFT_BLOCK;

	return cap <= first ? 0 : cap - first < LFT_BLOCK ? cap - first : LFT_BLOCK;
}

static bool may_have_changed(const struct sm *sm, uint64_t guid)
{
	return sweep_is(sm)->whole || map64_get(&sm->known.doubtful, guid) != MAP64_NONE;
}

static void take_known(struct sm *sm, struct block *b)
{
	struct fixed_routes *k = sm->fixed_routes;
	uint32_t i = k->before.n ? map64_get(&k->before_by_key, key_of(b->guid, b->fixed.block)) :
			 MAP64_NONE;

	if (i == MAP64_NONE || k->before.v[i].guid != b->guid ||
	    k->before.v[i].fixed.block != b->fixed.block || may_have_changed(sm, b->guid))
		return;
	memcpy(b->fixed.entries, k->before.v[i].fixed.entries, LFT_BLOCK);
	b->known = true;
}

static int by_switch_and_block(const void *va, const void *vb)
{
	const struct block *a = va, *b = vb;

	return ORDER(a->fixed.sw, b->fixed.sw) ?: ORDER(a->fixed.block, b->fixed.block);
}

bool fixed_routes_survived(const struct sm *sm, const struct plan *old, uint32_t node)
{
	struct map64 none;
	uint32_t before;
	bool same;

	map64_init(&none, 1);
	same =
		node_is_as_planned(old, &none, store_refusals(sm->store), sm->sweep.f, node,
				   &before);
	map64_free(&none);
	return same;
}

/*
 * Reads the whole table of a switch that was silent: its entries then change together with those of
 * other switches, in the safe order.  A switch that lost its state meanwhile is brought up as
 * usual.
 */
static void collect_back(struct sm *sm)
{
	struct fixed_routes *k = sm->fixed_routes;
	const struct plan *old = sm->published ? sm->published->plan : NULL;

	for (uint32_t sw = 0; old && sweep_is(sm)->repairs && sw < sm->sweep.f->n_switches; sw++) {
		uint32_t node = sm->sweep.f->switches[sw].node;
		uint64_t guid = sm->sweep.f->nodes[node].guid;

		if (!silent_is_back(sm, guid) || sm->sweep.work[node].failed || !fixed_routes_survived(sm, old, node))
			continue;
		for (uint32_t block = 0; block < old->lfts->stride / LFT_BLOCK &&
		     entries_of(sm->sweep.f, sw, block); block++)
			*vec_push(&k->blocks) = (struct block){
				.guid = guid, .node = node, .back = true,
				.fixed = { .sw = sw, .block = block } };
		sm->sweep.work[node].lft_known = true;	/* until reading a block fails */
	}
}

/* Collects the blocks and LinearFDBTops that switches of the fabric are remembered to keep. */
static void collect(struct sm *sm)
{
	struct fixed_routes *k = sm->fixed_routes;
	struct fabric *f = sm->sweep.f;
	const struct refused_set *r;

	k->blocks.n = k->batches.n = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		f->switches[sw].top_stays = false;
	mad_hold(sm->mad);	/* a job of multicast or alias GUIDs may add refusals */
	for (size_t i = 0; (r = refusals_at(store_refusals(sm->store), i)); i++) {
		uint32_t node = map64_get(&f->node_by_guid, r->guid);
		uint32_t sw = node == MAP64_NONE ? FABRIC_NONE : f->nodes[node].sw;

		if (sw == FABRIC_NONE)
			continue;
		if (r->attr == UMAD_SM_ATTR_SWITCH_INFO && !r->mod)
			f->switches[sw].top_stays = switch_info_is_fixed(&f->switches[sw], r);
		if (r->attr == UMAD_SM_ATTR_LINEAR_FT && r->mod < IB_LID_MCAST_FIRST / LFT_BLOCK &&
		    entries_of(f, sw, r->mod))
			*vec_push(&k->blocks) = (struct block){
				.guid = r->guid, .node = node, .by_value = !refusal_by_status(r),
				.digest = r->got, .fixed = { .sw = sw, .block = r->mod } };
	}
	mad_release(sm->mad);
	collect_back(sm);
	if (k->blocks.n)
		qsort(k->blocks.v, k->blocks.n, sizeof(*k->blocks.v), by_switch_and_block);
	for (size_t i = 0; i < k->blocks.n; i++)
		if (!k->blocks.v[i].back)
			take_known(sm, &k->blocks.v[i]);
}

/* --- reading --- */

static bool next(void *arg, uint32_t device, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct fixed_routes *k = sm->fixed_routes;
	struct batch *b = &k->batches.v[device];

	for (; b->cursor < b->n; b->cursor++) {
		const struct block *x = &k->blocks.v[b->first + b->cursor];

		if (x->known || sm->sweep.work[x->node].failed ||
		    !want_route(sm->sweep.f, x->node, 0, s))
			continue;
		sweep_fill_smp(sm, s, SMP_GET, UMAD_SM_ATTR_LINEAR_FT, x->fixed.block);
		*cookie = b->first + b->cursor++;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t device, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct fixed_routes *k = sm->fixed_routes;
	struct block *x = &k->blocks.v[cookie];
	struct batch *b = &k->batches.v[device];

	if (status < 0) {
		if (sweep_smp_lost(sm, x->node, "reading forwarding tables that the switch keeps"))
			b->cursor = (uint32_t)cookie - b->first;
		return;
	}
	sweep_heard(sm, x->node);
	if (status)
		return;		/* contents unknown: planned as usual */
	memcpy(x->fixed.entries, s->data, LFT_BLOCK);
	x->known = true;
}

void fixed_routes_in_force(const struct plan *p, uint32_t sw, uint8_t *row)
{
	memcpy(row, p->lfts->entries + (size_t)sw * p->lfts->stride, p->lfts->stride);
	for (const struct lft_write *w = p->now->stale.v; w < vec_end(&p->now->stale); w++)
		if (p->now->switches[w->sw] == sw && (w->block + 1u) * LFT_BLOCK <= p->lfts->stride)
			memcpy(row + w->block * LFT_BLOCK, w->entries, LFT_BLOCK);
}

/*
 * The block's contents are unknown, so it is assumed to drop everything.  LFT_DROP then counts as
 * its present contents and is not written.
 */
static void take_for_dropping(struct sm *sm, uint64_t guid, uint32_t block)
{
	struct lft_read *r = vec_push(&sm->sweep.lft_reads);

	*r = (struct lft_read){ .guid = guid, .block = block };
	memset(r->entries, LFT_DROP, sizeof(r->entries));
}

/*
 * A silent switch forwards as before: by the plan in force, except for blocks held back from it.
 * Where its contents are unknown, it is assumed to drop.
 */
static void keep_silent(struct sm *sm, uint32_t sw, struct fixed_list *list)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[sm->sweep.f->switches[sw].node];
	const struct plan *old = sm->published ? sm->published->plan : NULL;
	uint32_t node = old ? fabric_same_node(old->f, n) : FABRIC_NONE;
	uint32_t was = node == FABRIC_NONE ? FABRIC_NONE : old->f->nodes[node].sw;
	uint32_t blocks = was == FABRIC_NONE ? 0 : old->lfts->stride / LFT_BLOCK;
	uint8_t *row = xmalloc((size_t)blocks * LFT_BLOCK + 1u);
	bool known = silent_table_is_known(sm, n->guid);

	if (blocks)
		fixed_routes_in_force(old, was, row);
	/* it lacks entries for new LIDs, too */
	for (uint32_t block = 0; block < IB_LID_MCAST_FIRST / LFT_BLOCK && entries_of(sm->sweep.f, sw, block);
	     block++) {
		struct lft_fixed *k = vec_push(list);

		*k = (struct lft_fixed){ .sw = sw, .block = block };
		memset(k->entries, LFT_DROP, sizeof(k->entries));
		if (block >= blocks)
			continue;
		if (known)
			memcpy(k->entries, row + (size_t)block * LFT_BLOCK, LFT_BLOCK);
		else if (memcmp(k->entries, row + (size_t)block * LFT_BLOCK, LFT_BLOCK))
			take_for_dropping(sm, n->guid, block);
	}
	free(row);
}

/* Takes the contents of a switch that answers again. */
static void take_back(struct sm *sm, const struct block *b)
{
	const struct fabric_switch *s = &sm->sweep.f->switches[b->fixed.sw];
	struct lft_read *r;

	if (!b->known) {
		sm->sweep.work[b->node].lft_known = false;
		/* the switch has fallen silent again */
		if (!sm->sweep.work[b->node].failed)
			return;
		sm->sweep.f->nodes[b->node].silent = true;
		if (!sm->sweep.work[b->node].outdated)	/* else the sweep that follows at once asks it */
			silent_found(sm, sm->sweep.f, b->node);
		return;
	}
	r = vec_push(&sm->sweep.lft_reads);
	*r = (struct lft_read){ .guid = b->guid, .block = b->fixed.block };
	for (uint32_t i = 0; i < LFT_BLOCK; i++)
		r->entries[i] = b->fixed.block * LFT_BLOCK + i > s->lft_top ? LFT_DROP :
				b->fixed.entries[i];
}

static int by_place(const void *va, const void *vb)
{
	const struct lft_fixed *a = va, *b = vb;

	return ORDER(a->sw, b->sw) ?: ORDER(a->block, b->block);
}

static void take_read(struct sm *sm)
{
	struct fixed_routes *k = sm->fixed_routes;
	struct fixed_list list = { 0 };
	bool keeps;

	k->before.n = sm->sweep.lft_reads.n = 0;
	map64_clear(&k->before_by_key);
	for (const struct block *b = k->blocks.v; b < vec_end(&k->blocks); b++) {
		unsigned n = entries_of(sm->sweep.f, b->fixed.sw, b->fixed.block);

		if (b->back) {
			take_back(sm, b);
			continue;
		}
		if (!b->known || (b->by_value && hash_bytes(b->fixed.entries, n, 0) != b->digest))
			continue;
		map64_put(&k->before_by_key, key_of(b->guid, b->fixed.block),
			  (uint32_t)k->before.n);
		*vec_push(&k->before) = *b;
		if (!sm->sweep.f->nodes[b->node].silent)
			*vec_push(&list) = b->fixed;
	}
	keeps = silent_keep_tables(sm);
	for (uint32_t sw = 0; sw < sm->sweep.f->n_switches && keeps; sw++)
		if (sm->sweep.f->nodes[sm->sweep.f->switches[sw].node].silent)
			keep_silent(sm, sw, &list);
	if (list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_place);
	fabric_keep_blocks(sm->sweep.f, list.v, (uint32_t)list.n);
}

static void finished(void *arg)
{
	take_read(arg);
	sweep_job_over(arg);
}

static const struct smp_job_ops fixed_ops = { next, done, finished };

enum step_result fixed_routes_start(struct sm *sm)
{
	struct fixed_routes *k = sm->fixed_routes;
	bool all_known = true;

	k->renew = false;
	collect(sm);
	for (size_t i = 0; i < k->blocks.n; i++) {
		all_known &= k->blocks.v[i].known;
		if (!i || k->blocks.v[i].fixed.sw != k->blocks.v[i - 1].fixed.sw)
			*vec_push(&k->batches) = (struct batch){ .first = (uint32_t)i };
		k->batches.v[k->batches.n - 1].n++;
	}
	if (all_known) {
		take_read(sm);
		return RESULT_DONE;
	}
	sm->sweep.job = smp_job_start(sm->mad, (uint32_t)k->batches.n, &fixed_ops, sm);
	return RESULT_WAIT;
}

/* --- writing --- */

bool fixed_routes_holds(const struct sm *sm, uint32_t node, item_t item)
{
	return ITEM_KIND(item) == ITEM_LFT && sm->sweep.f->n_fixed &&
	       fabric_fixed_block(sm->sweep.f, sm->sweep.f->nodes[node].sw, ITEM_B(item));
}

void fixed_routes_try(struct sm *sm, uint32_t node)
{
	const struct fabric *f = sm->sweep.f;
	const struct refused_set *r;

	if (!sweep_is(sm)->reads_tables || f->nodes[node].sw == FABRIC_NONE)
		return;
	for (uint32_t i = 0; i < f->n_fixed; i++) {
		const struct lft_fixed *k = &f->fixed[i];

		if (k->sw != f->nodes[node].sw ||
		    !plan_lft_entries(sm->sweep.plan, k->sw, k->block))
			continue;
		r = refusals_find(store_refusals(sm->store), f->nodes[node].guid,
				  UMAD_SM_ATTR_LINEAR_FT, k->block);
		if (r && refusal_by_status(r))
			observe_add(&sm->sweep.work[node],
				    ITEM(ITEM_LFT, 0, k->block) | ITEM_PROBE);
	}
}

void fixed_routes_changed(struct sm *sm, uint64_t guid, uint16_t attr, uint32_t mod, bool refused)
{
	uint32_t node = sm->sweep.f ? map64_get(&sm->sweep.f->node_by_guid, guid) : MAP64_NONE;
	const struct fabric_switch *s;

	if (node == MAP64_NONE || sm->sweep.f->nodes[node].sw == FABRIC_NONE)
		return;
	s = &sm->sweep.f->switches[sm->sweep.f->nodes[node].sw];
	if (attr == UMAD_SM_ATTR_LINEAR_FT)
		sm->fixed_routes->renew = true;
	else if (attr == UMAD_SM_ATTR_SWITCH_INFO && !mod)
		sm->fixed_routes->renew |= refused ? !s->top_stays && s->lft_top < sm->sweep.plan->lid_top :
						    s->top_stays;
}

void fixed_routes_swept(struct sm *sm)
{
	if (sm->fixed_routes->renew)
		sm_want_sweep(sm, SWEEP_POLICY, "adapting routes to tables that switches keep");
}

void fixed_routes_new(struct sm *sm)
{
	sm->fixed_routes = xcalloc(1, sizeof(*sm->fixed_routes));
	map64_init(&sm->fixed_routes->before_by_key, 16);
}

void fixed_routes_free(struct sm *sm)
{
	vec_free(&sm->fixed_routes->blocks);
	vec_free(&sm->fixed_routes->batches);
	vec_free(&sm->fixed_routes->before);
	map64_free(&sm->fixed_routes->before_by_key);
	free(sm->fixed_routes);
}
