/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the difference between the plan and what devices hold: the table items that must be
 * written.
 *
 * A node that we programmed and that kept its state is compared with the plan that was written to
 * it; nothing is read.  Tables of ports that had no link in that plan are compared with the stale
 * tables on them (stale_tables.h).  The tables of any other node are read back and compared.
 *
 * Reading doubles the cost of bringing up a fabric that nobody configured, where nothing is right
 * anyhow.  The large families of a switch (SL2VL, VLArb) are therefore sampled.  If the samples,
 * which include those that would be written first, all hold the same value and none is right, the
 * switch is untouched: every item whose planned value differs from that value is written without
 * being read.  If a sample is right, or if samples differ, all items are read.
 *
 * A switch that was isolated and is back is sampled for the opposite: if the plan wants what it held when it left,
 * and all samples are right, it has not restarted, and the rest is not read.
 */
#include <string.h>

#include "lib/base/alloc.h"
#include "plan/routes/base_routes.h"
#include "sm/sm_internal.h"
#include "sm/sweep/reading.h"
#include "sm/write/stale_tables.h"
#include "sm/write/write.h"

/* Flags in the unused bits of an item while reading; those for writing are in sweep.h. */
#define READ	ITEM_READ
#define ISSUED	(1u << 26)	/* the Get was sent */
#define SAMPLE	(1u << 25)
#define PLAIN(i) ((i) & ~(READ | ISSUED | SAMPLE))

#define READ_ALL_BELOW	24	/* families smaller than this are not sampled */
#define DISTINCT_MAX	8	/* planned values that get a sample each */

struct collect {
	const struct sm *sm;
	struct node_work *w;
	uint32_t node;
	/* the plan written before, or NULL; old_node: the node in it */
	const struct plan *old;
	uint32_t old_node;
	bool lft_unset;		/* a switch whose LFT was never written */
	uint16_t lft_top;
};

void observe_add(struct node_work *w, item_t item)
{
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 8;
		w->items = xrealloc(w->items, w->cap, sizeof(*w->items));
	}
	w->items[w->n++] = item;
}

/* --- known nodes --- */

static void collect_changed(void *arg, item_t item)
{
	struct collect *c = arg;
	enum item_change change;

	if (c->sm->sweep.reroute && ITEM_KIND(item) == ITEM_LFT)
		return;		/* the LFT comes last, in an order of its own */
	change = item_change(c->old, c->old_node, c->sm->sweep.plan, c->node, item);
	if (change == ITEM_UNKNOWN)
		change = stale_tables_compare(c->sm->known.stale_tables, c->sm->sweep.plan, c->node, item);
	if (change != ITEM_SAME)
		observe_add(c->w, change == ITEM_UNKNOWN ? item | READ : item);
}

const struct plan *sweep_known_plan(const struct sm *sm, uint32_t node, uint32_t *old_node)
{
	const struct plan *old = sm->published ? sm->published->plan : NULL;

	if (sweep_is(sm)->reads_tables ||
	    !node_is_as_planned(old, &sm->known.doubtful, store_refusals(sm->store), sm->sweep.f,
				node,
				old_node))
		return NULL;
	return old;
}

/* --- unknown nodes --- */

static struct item_family *family_of(struct node_work *w, enum item_kind kind)
{
	if (kind == ITEM_LFT)
		return w->lft.as_left ? &w->lft : NULL;
	return kind == ITEM_SL2VL ? &w->sl2vl : kind == ITEM_VLARB ? &w->vlarb : NULL;
}

static void collect_unknown(void *arg, item_t item)
{
	struct collect *c = arg;
	enum item_kind kind = ITEM_KIND(item);
	struct item_family *fam = family_of(c->w, kind);

	if (kind == ITEM_LFT && c->w->lft_known && c->sm->sweep.reroute)
		return;		/* its LFT is known, and changes together with the others */
	/* entries beyond LinearFDBTop hold nothing (14.2.5.4), so they need not be read */
	if (kind == ITEM_LFT && (c->lft_unset || adaptive_is(c->w, OVERRIDE_ON) ||
				   ITEM_B(item) > c->lft_top / LFT_BLOCK)) {
		observe_add(c->w, item);
	} else if (fam && node_is_switch(&c->sm->sweep.f->nodes[c->node])) {
		if (!fam->n)
			fam->first = c->w->n;
		fam->n++;
		observe_add(c->w, item);
	} else {
		observe_add(c->w, item | READ);
	}
}

static void sample(struct node_work *w, struct item_family *fam, uint32_t i)
{
	if (w->items[i] & READ)
		return;
	w->items[i] |= READ | SAMPLE;
	fam->waiting++;
}

static void choose_samples(const struct sm *sm, uint32_t node, struct item_family *fam)
{
	struct node_work *w = &sm->sweep.work[node];
	uint64_t distinct[DISTINCT_MAX];
	unsigned n_distinct = 0;
	struct item_want want;

	if (fam->n < READ_ALL_BELOW) {
		for (uint32_t i = 0; i < fam->n; i++)
			w->items[fam->first + i] |= READ;
		return;
	}
	/* as many as a write has under way: those are done when a crash interrupts it */
	for (uint32_t i = 0; i < sm->settings->smp_window_device && i < fam->n; i++)
		sample(w, fam, fam->first + i);
	sample(w, fam, fam->first + fam->n - 1);
	/* and the first of each planned value; the step avoids looking at all items */
	for (uint32_t i = 0; i < fam->n && n_distinct < DISTINCT_MAX; i += 7) {
		unsigned k = 0;
		uint64_t h;

		want_item(sm->sweep.plan, node, w->items[fam->first + i], &want);
		h = hash_bytes(want.data, want.len, 1);
		while (k < n_distinct && distinct[k] != h)
			k++;
		if (k < n_distinct)
			continue;
		distinct[n_distinct++] = h;
		sample(w, fam, fam->first + i);
	}
}

/* Low and high arbitration tables differ from each other even on an untouched switch. */
static unsigned item_column(item_t i)
{
	return ITEM_KIND(i) == ITEM_VLARB && ITEM_B(i) > 2;
}

/* All samples are back: decides what else must be read. */
static void decide(struct sm *sm, uint32_t node, struct item_family *fam)
{
	struct node_work *w = &sm->sweep.work[node];
	bool untouched = !fam->mixed && !fam->right, kept = fam->as_left && !fam->wrong;
	struct item_want want;

	for (uint32_t i = fam->first; i < fam->first + fam->n; i++) {
		if (w->items[i] & (READ | ISSUED) || !w->items[i])
			continue;
		if (kept) {
			w->items[i] = 0;
			continue;
		}
		unsigned column = item_column(w->items[i]);

		if (untouched && fam->any[column]) {
			want_item(sm->sweep.plan, node, w->items[i], &want);
			if (hash_bytes(want.data, want.len, 1) != fam->seen[column])
				continue;
		}
		w->items[i] |= READ;
	}
	w->cursor = fam->first;
}

static void take_sample(struct sm *sm, uint32_t node, struct item_family *fam, unsigned column,
			const uint8_t *got, unsigned len, bool right)
{
	uint64_t h = hash_bytes(got, len, 1);

	if (!fam->any[column])
		fam->seen[column] = h;
	else if (fam->seen[column] != h)
		fam->mixed = true;
	fam->any[column] = true;
	fam->right |= right;
	fam->wrong |= !right;
	if (--fam->waiting == 0)
		decide(sm, node, fam);
}

/* Whether the families of a switch are as they were when it was isolated, if they are as they should be now. */
static void look_what_was_left(struct sm *sm, uint32_t node)
{
	const struct isolated_tables *left = &sm->withdrawn.isolated.tables;
	struct node_work *w = &sm->sweep.work[node];

	if (sweep_is(sm)->reads_tables || map64_get(&sm->known.doubtful, sm->sweep.f->nodes[node].guid) != MAP64_NONE)
		return;
	w->lft.as_left = isolated_tables_are(left, sm->sweep.plan, node, ITEM_LFT);
	w->sl2vl.as_left = w->vlarb.as_left = isolated_tables_are(left, sm->sweep.plan, node, ITEM_SL2VL);
}

/* --- the job --- */

static void collect(struct sm *sm, uint32_t node);

/* Takes the device's contents of an item; error status: it cannot be read. */
static void take(struct sm *sm, uint32_t node, uint32_t at, const uint8_t *got, int status)
{
	struct node_work *w = &sm->sweep.work[node];
	item_t *it = &w->items[at];
	unsigned column = item_column(*it);
	struct item_family *fam = *it & SAMPLE ? family_of(w, ITEM_KIND(*it)) : NULL;
	struct item_want want;
	bool equal, right;
	item_t left = 0;

	if (w->inherited && (ITEM_KIND(*it) == ITEM_SL2VL || ITEM_KIND(*it) == ITEM_VLARB)) {
		left = inherited_take(sm, node, PLAIN(*it), got, status);
		w->items[at] = left ? left | ISSUED : 0;	/* the array may have moved */
		return;
	}
	want_item(sm->sweep.plan, node, PLAIN(*it), &want);
	equal = status == 0 && !memcmp(got, want.data, want.len);
	/* an item that cannot be read is written: the Set will show what the device does with it */
	if (!equal)
		left = PLAIN(*it);
	right = equal || (status == 0 && fixed_known(sm, node, &left, &want, got));
	if (right && !equal)
		write_pkeys_differ(sm, node, PLAIN(*it));
	*it = left ? left | ISSUED : 0;
	if (fam)
		take_sample(sm, node, fam, column, got, want.len, right);
}

static bool next(void *arg, uint32_t node, struct smp *s, uint64_t *cookie)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];
	struct item_want want;
	const uint8_t *read;

	/* node by node in turn: all at once would hold up the loop */
	if (!w->collected && !w->failed)
		collect(sm, node);
	for (; w->cursor < w->n && !w->failed; w->cursor++) {
		item_t *it = &w->items[w->cursor];

		if (!(*it & READ) || (*it & ISSUED))
			continue;
		read = places_read(sm, node, PLAIN(*it));
		if (read) {
			take(sm, node, w->cursor, read, 0);
			continue;
		}
		if (!want_route(sm->sweep.f, node, item_port(*it), s))
			continue;
		want_item(sm->sweep.plan, node, PLAIN(*it), &want);
		*it |= ISSUED;
		sweep_fill_smp(sm, s, SMP_GET, want.attr, want.mod);
		s->once |= w->lost >= LOST_MANY;
		*cookie = w->cursor++;
		return true;
	}
	return false;
}

static void done(void *arg, uint32_t node, const struct smp *s, uint64_t cookie, int status)
{
	struct sm *sm = arg;
	struct node_work *w = &sm->sweep.work[node];

	if (status < 0) {
		if (sweep_smp_lost(sm, node, "reading tables")) {
			w->items[cookie] &= ~ISSUED;
			w->cursor = w->cursor < cookie ? w->cursor : (uint32_t)cookie;
		}
		return;
	}
	sweep_heard(sm, node);
	take(sm, node, (uint32_t)cookie, s->data, status);
}

static void collect(struct sm *sm, uint32_t node)
{
	const struct fabric_node *n = &sm->sweep.f->nodes[node];
	struct collect c = { .sm = sm, .w = &sm->sweep.work[node], .node = node };

	c.w->collected = true;
	c.old = sweep_known_plan(sm, node, &c.old_node);
	if (c.old) {
		if (!node_items_same(&sm->sweep.pair, c.old_node, node, sm->sweep.reroute))
			want_items(sm->sweep.plan, node, collect_changed, &c);
		if (c.old->tables->managed)
			inherited_collect(sm, node);	/* the policy left these tables to the devices */
		return;
	}
	c.w->unknown = true;
	if (node_is_switch(n)) {
		c.w->mft_unknown = true;
		for (unsigned num = 1; num <= n->nports; num++)
			c.w->used_before |= sm->sweep.f->ports[n->port0 + num].state >= IB_PORT_ARMED_S;
		c.lft_top = sm->sweep.f->switches[n->sw].lft_top;
		c.lft_unset = c.lft_top == 0;
		look_what_was_left(sm, node);
	}
	want_items(sm->sweep.plan, node, collect_unknown, &c);
	inherited_collect(sm, node);
	if (c.w->sl2vl.n)
		choose_samples(sm, node, &c.w->sl2vl);
	if (c.w->vlarb.n)
		choose_samples(sm, node, &c.w->vlarb);
	if (c.w->lft.n)
		choose_samples(sm, node, &c.w->lft);
}

/* Blocks that the previous sweep left unwritten belong to an order that is not valid any more. */
static void doubt_stale(struct sm *sm)
{
	const struct routes_now *x = sm->published ? sm->published->plan->now : NULL;

	for (size_t i = 0; x && !sm->sweep.reroute && i < x->stale.n; i++) {
		uint32_t sw = x->switches[x->stale.v[i].sw];

		if (sw != FABRIC_NONE)
			map64_put(&sm->known.doubtful,
				  sm->published->f->nodes[sm->published->f->switches[sw].node].guid, 1);
	}
}

enum step_result observe_start(struct sm *sm)
{
	static const struct smp_job_ops ops = { next, done, sweep_job_over };

	doubt_stale(sm);
	plan_pair_init(&sm->sweep.pair, sm->published ? sm->published->plan : NULL, sm->sweep.plan);
	sm->sweep.job = smp_job_start(sm->mad, sm->sweep.f->n_nodes, &ops, sm);
	return RESULT_WAIT;
}

void observe_settle(struct node_work *w)
{
	uint32_t n = 0;

	w->settled = true;
	w->lft_as_planned = w->collected;
	for (uint32_t i = 0; i < w->n; i++) {
		if (!w->items[i])
			continue;
		w->lft_as_planned &= ITEM_KIND(w->items[i]) != ITEM_LFT;
		w->items[n++] = PLAIN(w->items[i]);
	}
	w->n = n;
	w->cursor = 0;
	if (n < w->cap / 2) {
		w->items = xrealloc(w->items, n, sizeof(*w->items));
		w->cap = n;
	}
}
