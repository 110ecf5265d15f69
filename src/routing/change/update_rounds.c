/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sorts block writes into rounds by what each entry has to wait for; see update_rounds.h.
 *
 * An entry may be switched when
 *
 *  (a) those entries on its new route that differ are switched: the whole new route then exists, and old
 *      routes that lead into it have an end, so there is no loop; and
 *  (b) if it leads up, the entries above that sent down to it are switched as well: otherwise these routes
 *      would turn from down to up.
 *
 * For one LID the waits have no cycle if both tables keep to one order: by (a) an entry that leads up
 * waits for higher vertices, and one that leads down waits for lower vertices that send down; by (b) one
 * that leads up waits for higher ones.  Entries of other LIDs do not matter, but they share blocks.  A
 * block has the same LIDs on every switch, so the blocks of each number are a problem of their own (struct
 * column).
 *
 * Where blocks wait for each other in a cycle, one of them is written with only those entries that need
 * not wait.  When that was tried often enough, or cannot help (tables without a common order), all
 * remaining entries are dropped, and then set: the tables in between are a part of the new ones.
 *
 * With layers, this is done for the LIDs of one phase after another (update_phases.h): the rounds of a phase lead
 * from the tables that the phase before left to those at its end.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "routing/change/update_phases.h"
#include "routing/change/update_rounds.h"
#include "routing/channel.h"

/*
 * Attempts to advance a column by writing one block (PICKS), then all helpful blocks (WAVES), before
 * dropping.
 */
#define PICKS 8
#define WAVES 8

/*
 * A block of the column, on one switch.  The number of an entry is item index * LFT_BLOCK + place in the
 * block.
 */
struct item {
	uint32_t v;
	uint64_t differ;	/* bits of entries that differ */
	uint64_t left;		/* of these, not yet switched */
	uint64_t waiting;	/* of `left`, waiting for other entries */
	uint64_t dropped;	/* of `left`, dropped for now */
	bool written;
};

struct edge {
	uint32_t before, after;	/* entry numbers */
};

struct column {
	const struct channels *c;
	const struct updn_order *o;
	struct living l;
	const struct lfts *was, *next;
	uint16_t block;
	uint32_t *place;	/* [vertex]: index of its item, or FABRIC_NONE */
	VEC(struct item) items;
	VEC(struct edge) edges;
	uint32_t *waits;	/* [entry]: number of entries that it waits for */
	/* [entry]: the entries after[first[e]] .. after[first[e + 1] - 1] wait for it */
	uint32_t *first;
	uint32_t *after;
	uint32_t cap;		/* entries that the arrays have room for */
	uint32_t n_left;	/* items with entries left */
	bool layered;		/* in phases, each of which waits for the last round of the one before */
	unsigned round0;	/* first round of the phase */
	unsigned round;
	VEC(uint32_t) now;	/* items to write in the current round */
	VEC(struct { unsigned round; struct lft_write w; }) writes;
	struct rounds *out;
};

/* --- which entry waits for which --- */

static bool differs(const struct column *k, uint32_t v, uint32_t bit)
{
	return k->place[v] != FABRIC_NONE && k->items.v[k->place[v]].differ >> bit & 1;
}

static uint32_t step(const struct column *k, const struct lfts *l, uint32_t v, uint32_t bit)
{
	return living_step(&k->l, k->c, l, v, (uint16_t)(k->block * LFT_BLOCK + bit));
}

static void wait_for(struct column *k, uint32_t before, uint32_t after, uint32_t bit)
{
	*vec_push(&k->edges) = (struct edge){ k->place[before] * LFT_BLOCK + bit,
					      k->place[after] * LFT_BLOCK + bit };
}

static void wait_for_new_way(struct column *k, uint32_t v, uint32_t bit)
{
	uint32_t to = step(k, k->next, v, bit);

	for (uint32_t hops = 0; to != FABRIC_NONE && hops < k->c->g->n; hops++) {
		if (differs(k, to, bit)) {
			wait_for(k, to, v, bit);
			return;
		}
		to = step(k, k->next, to, bit);
	}
}

/*
 * An entry that v sent down to may lead up only after v's entry is switched, unless the new entry of v
 * leads there too.
 */
static void hold_below(struct column *k, uint32_t v, uint32_t bit)
{
	uint32_t below = step(k, k->was, v, bit);

	if (below == FABRIC_NONE || below > v || !differs(k, below, bit))
		return;
	uint32_t up = step(k, k->next, below, bit);

	if (up != FABRIC_NONE && up > below && step(k, k->next, v, bit) != below)
		wait_for(k, v, below, bit);
}

static void make_room(struct column *k)
{
	uint32_t n = (uint32_t)k->items.n * LFT_BLOCK;

	if (n > k->cap) {
		k->cap = n;
		k->waits = xrealloc(k->waits, n, sizeof(*k->waits));
		k->first = xrealloc(k->first, n + 1u, sizeof(*k->first));
	}
	memset(k->waits, 0, n * sizeof(*k->waits));
	memset(k->first, 0, (n + 1u) * sizeof(*k->first));
	k->after = xrealloc(k->after, k->edges.n + 1, sizeof(*k->after));
}

/* Sorts the edges by the entry waited for, and counts the waits of each entry. */
static void sort_edges(struct column *k)
{
	uint32_t n = (uint32_t)k->items.n * LFT_BLOCK;

	make_room(k);
	for (size_t i = 0; i < k->edges.n; i++) {
		uint32_t after = k->edges.v[i].after;

		k->first[k->edges.v[i].before]++;
		k->waits[after]++;
		k->items.v[after / LFT_BLOCK].waiting |= 1ULL << after % LFT_BLOCK;
	}
	for (uint32_t e = 1; e <= n; e++)
		k->first[e] += k->first[e - 1];
	for (size_t i = 0; i < k->edges.n; i++)
		k->after[--k->first[k->edges.v[i].before]] = k->edges.v[i].after;
}

/* --- writing --- */

static const uint8_t *block_of(const struct column *k, const struct lfts *l, uint32_t v)
{
	return l->entries + (size_t)k->c->g->sw[v] * l->stride + (size_t)k->block * LFT_BLOCK;
}

static void write_item(struct column *k, struct item *it)
{
	const uint8_t *was = block_of(k, k->was, it->v), *next = block_of(k, k->next, it->v);
	struct lft_write w = { .sw = k->c->g->sw[it->v], .block = k->block };

	for (uint32_t bit = 0; bit < LFT_BLOCK; bit++)
		w.entries[bit] = !(it->left >> bit & 1) ? next[bit] :
				 it->dropped >> bit & 1 ? LFT_DROP : was[bit];
	k->out->again += it->written;
	it->written = true;
	vec_push(&k->writes)->w = w;
	k->writes.v[k->writes.n - 1].round = k->round;
}

static void release(struct column *k, uint32_t entry)
{
	for (uint32_t i = k->first[entry]; i < k->first[entry + 1]; i++) {
		uint32_t after = k->after[i];
		struct item *it = &k->items.v[after / LFT_BLOCK];

		if (--k->waits[after] == 0)
			it->waiting &= ~(1ULL << after % LFT_BLOCK);
	}
}

/* Writes one round: the entries of the items in `now` that need not wait. */
static void write_round(struct column *k)
{
	VEC(uint32_t) done = { 0 };

	for (size_t i = 0; i < k->now.n; i++) {
		struct item *it = &k->items.v[k->now.v[i]];

		for (uint64_t set = it->left & ~it->waiting; set; set &= set - 1)
			*vec_push(&done) = k->now.v[i] * LFT_BLOCK + (uint32_t)__builtin_ctzll(set);
		it->left &= it->waiting;
		write_item(k, it);
		k->n_left -= it->left == 0;
	}
	for (size_t i = 0; i < done.n; i++)
		release(k, done.v[i]);
	vec_free(&done);
	k->round++;
}

/* Finds the items without a waiting entry. */
static bool find_ready(struct column *k)
{
	k->now.n = 0;
	for (uint32_t i = 0; i < k->items.n; i++)
		if (k->items.v[i].left && !k->items.v[i].waiting)
			*vec_push(&k->now) = i;
	return k->now.n > 0;
}

/* Number of waits that end if the item's entries that need not wait are written. */
static uint32_t helps(const struct column *k, uint32_t place)
{
	const struct item *it = &k->items.v[place];
	uint32_t sum = 0;

	for (uint64_t set = it->left & ~it->waiting; set; set &= set - 1) {
		uint32_t e = place * LFT_BLOCK + (uint32_t)__builtin_ctzll(set);

		sum += k->first[e + 1] - k->first[e];
	}
	return sum;
}

/* Finds the item that ends most waits, or all items that end some. */
static bool find_helpful(struct column *k, bool all)
{
	uint32_t most = 0, best = 0;

	k->now.n = 0;
	for (uint32_t i = 0; i < k->items.n; i++) {
		uint32_t sum = helps(k, i);

		if (sum > 0 && all)
			*vec_push(&k->now) = i;
		if (sum > most) {
			most = sum;
			best = i;
		}
	}
	if (most > 0 && !all)
		*vec_push(&k->now) = best;
	return most > 0;
}

static void schedule(struct column *k)
{
	unsigned picks = k->layered ? 0 : PICKS, waves = WAVES;

	k->round = k->round0;
	k->n_left = (uint32_t)k->items.n;
	while (k->n_left > 0) {
		if (find_ready(k)) {
			write_round(k);
		} else if (picks > 0 && find_helpful(k, false)) {
			picks--;
			write_round(k);
		} else if (waves > 0 && find_helpful(k, true)) {
			waves--;
			write_round(k);
		} else {
			/* Drops all remaining entries; after that no entry has to wait. */
			for (struct item *it = k->items.v; it < vec_end(&k->items); it++) {
				if (!it->left)
					continue;
				it->dropped = it->left;
				it->waiting = 0;
				k->out->dropped += (uint32_t)__builtin_popcountll(it->left);
				write_item(k, it);
			}
			k->round++;
		}
	}
	if (k->round > k->out->n)
		k->out->n = k->round;
}

/* --- the columns --- */

static void add_item(struct column *k, uint32_t sw)
{
	uint32_t v = k->c->vertex[sw];
	const uint8_t *was = block_of(k, k->was, v), *next = block_of(k, k->next, v);
	uint64_t differ = 0;

	for (uint32_t bit = 0; bit < LFT_BLOCK; bit++)
		differ |= (uint64_t)(was[bit] != next[bit]) << bit;
	if (!differ || !k->l.here[v])
		return;
	k->place[v] = (uint32_t)k->items.n;
	*vec_push(&k->items) = (struct item){ .v = v, .differ = differ, .left = differ };
}

static void finish_column(struct column *k)
{
	if (k->items.n > 0) {
		k->edges.n = 0;
		for (size_t i = 0; i < k->items.n; i++) {
			uint32_t v = k->items.v[i].v;

			for (uint64_t left = k->items.v[i].differ; left; left &= left - 1) {
				uint32_t bit = (uint32_t)__builtin_ctzll(left);

				wait_for_new_way(k, v, bit);
				if (k->o)
					hold_below(k, v, bit);
			}
		}
		sort_edges(k);
		schedule(k);
	}
	for (size_t i = 0; i < k->items.n; i++)
		k->place[k->items.v[i].v] = FABRIC_NONE;
	k->items.n = 0;
}

static void compare_all(struct column *k)
{
	const struct lfts *a = k->was, *b = k->next;

	for (k->block = 0; k->block < a->stride / LFT_BLOCK; k->block++) {
		for (uint32_t sw = 0; sw < a->n_switches; sw++) {
			size_t at = (size_t)sw * a->stride + (size_t)k->block * LFT_BLOCK;

			if (memcmp(a->entries + at, b->entries + at, LFT_BLOCK))
				add_item(k, sw);
		}
		finish_column(k);
	}
}

static int by_block(const void *a, const void *b)
{
	const struct lft_block *x = a, *y = b;

	return ORDER(x->block, y->block) ?: ORDER(x->sw, y->sw);
}

static void take_blocks(struct column *k, const struct lft_block *blocks, uint32_t n)
{
	struct lft_block *sorted = xmemdup(blocks, n * sizeof(*sorted));

	qsort(sorted, n, sizeof(*sorted), by_block);
	for (uint32_t i = 0; i < n; i++) {
		k->block = sorted[i].block;
		add_item(k, sorted[i].sw);
		if (i + 1 == n || sorted[i + 1].block != sorted[i].block)
			finish_column(k);
	}
	free(sorted);
}

static void take_phases(struct column *k, const struct rounds_layers *y)
{
	const struct lfts *was = k->was, *next = k->next;
	struct phases *p = phases_new(k->c, &k->l, was, next, y);
	struct lfts *now = lfts_copy(was), *then = lfts_copy(was);
	VEC(unsigned) first = { 0 };
	uint32_t n = 0;

	k->layered = true;
	k->was = now;
	k->next = then;
	while (phases_next(p, then, &k->out->dropped)) {
		*vec_push(&first) = k->round0 = k->out->n;
		compare_all(k);
		memcpy(now->entries, then->entries, (size_t)now->n_switches * now->stride);
	}
	k->out->after_all = xcalloc(k->out->n + 1u, sizeof(*k->out->after_all));
	for (size_t i = 1; i < first.n; i++)
		k->out->after_all[first.v[i]] = true;
	/* Counts over all phases the writes beyond one per block: each phase counted only its own. */
	for (uint32_t v = 0; v < k->c->g->n; v++)
		for (k->block = 0; k->block < was->stride / LFT_BLOCK && k->l.here[v]; k->block++)
			n += memcmp(block_of(k, was, v), block_of(k, next, v), LFT_BLOCK) != 0;
	k->out->again = (uint32_t)k->writes.n - n;
	k->out->ways = phases_ways(p);
	vec_free(&first);
	phases_free(p);
	lfts_free(now);
	lfts_free(then);
}

/* Old routes do not end at links that are open, so these count as links here. */
static void living_without_open(struct living *l, const struct channels *c, const struct link_end *dead,
				uint32_t n)
{
	VEC(struct link_end) gone = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (!dead[i].open)
			*vec_push(&gone) = dead[i];
	living_init(l, c, gone.v, (uint32_t)gone.n);
	vec_free(&gone);
}

void rounds_make(struct rounds *r, const struct channels *c, const struct updn_order *o,
		 const struct rounds_layers *layers, const struct link_end *dead, uint32_t n_dead,
		 const struct lfts *was, const struct lfts *next, const struct lft_block *blocks,
		 uint32_t n_blocks)
{
	struct column k = { .c = c, .o = o, .was = was, .next = next, .out = r };
	uint32_t *at;

	*r = (struct rounds){ 0 };
	living_without_open(&k.l, c, dead, n_dead);
	k.place = xmalloc(c->g->n * sizeof(*k.place));
	for (uint32_t v = 0; v < c->g->n; v++)
		k.place[v] = FABRIC_NONE;
	if (layers)
		take_phases(&k, layers);
	else if (blocks)
		take_blocks(&k, blocks, n_blocks);
	else
		compare_all(&k);
	/* Merges the rounds of the columns: first with first, second with second and so on. */
	r->first = xcalloc(r->n + 1u, sizeof(*r->first));
	r->writes = xcalloc(k.writes.n, sizeof(*r->writes));
	for (size_t i = 0; i < k.writes.n; i++)
		r->first[k.writes.v[i].round + 1]++;
	for (uint32_t i = 0; i < r->n; i++)
		r->first[i + 1] += r->first[i];
	at = xmemdup(r->first, (r->n + 1u) * sizeof(*at));
	for (size_t i = 0; i < k.writes.n; i++)
		r->writes[at[k.writes.v[i].round]++] = k.writes.v[i].w;
	free(at);
	free(k.place);
	vec_free(&k.items);
	vec_free(&k.edges);
	free(k.waits);
	free(k.first);
	free(k.after);
	vec_free(&k.now);
	vec_free(&k.writes);
	living_free(&k.l);
}

void rounds_free(struct rounds *r)
{
	free(r->writes);
	free(r->first);
	free(r->after_all);
}
