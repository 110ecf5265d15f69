/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places the pairs of switches that keep the routes and layers of other tables; see layered_parts.h.
 *
 * When a link fails these are nearly all pairs.  The entries that differ show which they are, so only
 * routes to LIDs with such entries are followed.  The turns of these pairs closed no cycle in the other
 * tables, so all of them are added at once.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layered/layered_parts.h"
#include "routing/walks.h"

static bool differs(void *arg, uint32_t v, uint16_t lid)
{
	const struct layered *x = arg;
	uint32_t sw = x->g->sw[v];

	return lft_get(x->out, sw, lid) != lft_get(x->near, sw, lid);
}

/* Bits of the LIDs with any entry that differs from `near`. */
static uint64_t *find_other_lids(const struct layered *x)
{
	uint64_t *other = xcalloc(x->out->stride / 64 + 1u, sizeof(*other));

	for (uint32_t v = 0; v < x->g->n; v++) {
		const uint8_t *a = graph_row_of(x->g, x->out, v), *b = graph_row_of(x->g, x->near, v);

		for (uint32_t first = 0; first < x->out->stride; first += LFT_BLOCK)
			if (memcmp(a + first, b + first, LFT_BLOCK))
				for (uint32_t lid = first; lid < first + LFT_BLOCK; lid++)
					other[lid / 64] |= (uint64_t)(a[lid] != b[lid]) << lid % 64;
	}
	return other;
}

/* Follows only routes to LIDs with differing entries: when a link fails, most LIDs have none. */
static void find_moved(struct layered *x, struct walks *w)
{
	uint64_t *other = find_other_lids(x);

	memset(x->moved, 0, route_layers_pair(x->n_sources, 0) * sizeof(*x->moved));
	for (uint32_t to = 0; to < x->n_sources; to++)
		for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
			uint16_t lid = x->lids.v[i];

			if (!(other[lid / 64] >> lid % 64 & 1))
				continue;
			walks_recall(w, x->out, lid);
			walks_begin_moves(w);
			w->walk[x->sources[to]] = WALK_STAYS;
			for (uint32_t from = 0; from < x->n_sources; from++)
				if (from != to && walks_moves(w, x->sources[from], lid, differs, x))
					x->moved[route_layers_pair(from, to)] = true;
		}
	free(other);
}

/* Notes the turns, to all LIDs on a place, of pairs that keep their layers. */
static void note_staying(struct layered *x, struct walks *w, uint32_t to)
{
	for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
		if (!walks_recall(w, x->out, x->lids.v[i]) && i > x->lid0[to])
			continue;
		walks_begin(w);
		for (uint32_t from = 0; from < x->n_sources; from++) {
			if (from != to && pairs_keeps(x, pair_of(from, to)))
				walks_note(w, x->deps, x->layers->of[route_layers_pair(from, to)], x->sources[from],
					   false);
		}
	}
}

/* Gives the pairs that keep what they had their layers; false: some had none. */
static bool keep_layers(struct layered *x)
{
	for (uint32_t b = 0; b < x->n_sources; b++)
		for (uint32_t a = 0; a < b; a++) {
			struct pair p = { .a = a, .b = b };
			unsigned layer = pairs_layer_before(x, p);

			if (!pairs_keeps(x, p))
				continue;
			if (layer == x->most)
				return false;
			pairs_give_layer(x, p, layer);
		}
	return true;
}

bool pairs_stay(struct layered *x)
{
	struct walks w;
	bool fit;

	walks_init(&w, x->c, NULL, x->most);
	if (!x->settled)
		find_moved(x, &w);
	fit = keep_layers(x);
	if (fit) {
		deps_clear(x->deps);
		pairs_each_legal(x, deps_note_turn);
		for (uint32_t to = 0; to < x->n_sources; to++)
			note_staying(x, &w, to);
		fit = deps_settle(x->deps);
	}
	walks_free(&w);
	return fit;
}
