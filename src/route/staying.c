/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pairs of switches that keep the ways and the layers that they had in other tables; see layered_parts.h.
 *
 * When a link goes these are nearly all.  Which they are is told by the entries that differ, so only ways to
 * LIDs with any such entry are followed.  Their turns closed no circle in those tables, so all of them
 * are put in at once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/layered_parts.h"

/* Which ways there are to one LID, and which of them were followed. */
struct ways {
	uint32_t *out;		/* [vertex]: the trunk of its way, or FABRIC_NONE */
	enum { UNKNOWN, STAYS, MOVED } *state;	/* [vertex] */
	uint32_t *path;		/* vertices */
	uint32_t *seen;		/* [layer * vertices + vertex]: `mark`: its way on is there in the layer */
	uint32_t mark;
};

static void ways_init(struct ways *w, const struct layered *x)
{
	*w = (struct ways){ .out = xcalloc(x->g->n, sizeof(*w->out)) };
	w->state = xcalloc(x->g->n, sizeof(*w->state));
	w->path = xcalloc(x->g->n, sizeof(*w->path));
	w->seen = xcalloc((size_t)x->most * x->g->n, sizeof(*w->seen));
}

static void ways_free(struct ways *w)
{
	free(w->out);
	free(w->state);
	free(w->path);
	free(w->seen);
}

/* Fills w->out for a LID; whether any of it is not what was there. */
static bool recall(const struct layered *x, struct ways *w, uint16_t lid)
{
	bool other = false;

	for (uint32_t v = 0; v < x->g->n; v++) {
		uint32_t out = trunk_by_lid(x->c, x->out, v, lid);

		other |= w->out[v] != out;
		w->out[v] = out;
	}
	return other;
}

/* Whether any entry on the way from v to a LID is not the one in `near`. */
static bool has_moved(const struct layered *x, struct ways *w, uint32_t v, uint16_t lid)
{
	uint32_t n = 0;

	for (; w->state[v] == UNKNOWN; v = x->g->trunks[w->out[v]].v) {
		uint32_t sw = x->g->sw[v];

		w->path[n++] = v;
		w->state[v] = lft_get(x->out, sw, lid) == lft_get(x->near, sw, lid) ? STAYS : MOVED;
		if (w->state[v] == MOVED || w->out[v] == FABRIC_NONE)
			break;
	}
	while (n > 0)
		w->state[w->path[--n]] = w->state[v];
	return w->state[v] == MOVED;
}

/* The LIDs with any entry that is not the one in `near`, as bits. */
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

/* Only ways to LIDs with other entries are followed: when a link goes, most have none. */
static void find_moved(struct layered *x, struct ways *w)
{
	uint64_t *other = find_other_lids(x);

	memset(x->moved, 0, route_layers_pair(x->n_sources, 0) * sizeof(*x->moved));
	for (uint32_t to = 0; to < x->n_sources; to++)
		for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
			uint16_t lid = x->lids.v[i];

			if (!(other[lid / 64] >> lid % 64 & 1))
				continue;
			recall(x, w, lid);
			memset(w->state, 0, x->g->n * sizeof(*w->state));
			w->state[x->sources[to]] = STAYS;
			for (uint32_t from = 0; from < x->n_sources; from++)
				if (from != to && has_moved(x, w, x->sources[from], lid))
					x->moved[route_layers_pair(from, to)] = true;
		}
	free(other);
}

/* The turns of the way from a source to another one in a layer, as far as they are not there. */
static void note_way(struct layered *x, struct ways *w, unsigned layer, uint32_t v, uint32_t to)
{
	uint32_t in = FABRIC_NONE;

	for (; v != to && w->out[v] != FABRIC_NONE; v = x->g->trunks[in].v) {
		uint32_t *seen = &w->seen[(size_t)layer * x->g->n + v];

		if (in != FABRIC_NONE)
			deps_note(x->deps, layer, (struct dep){ in, w->out[v] });
		if (*seen == w->mark)
			return;
		*seen = w->mark;
		in = w->out[v];
	}
}

/* Notes the turns to all LIDs on a place by pairs that keep their layers. */
static void note_staying(struct layered *x, struct ways *w, uint32_t to)
{
	for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
		if (!recall(x, w, x->lids.v[i]) && i > x->lid0[to])
			continue;
		w->mark++;
		for (uint32_t from = 0; from < x->n_sources; from++) {
			if (from != to && pairs_keeps(x, pair_of(from, to)))
				note_way(x, w, x->layers->of[route_layers_pair(from, to)], x->sources[from],
					 x->sources[to]);
		}
	}
}

/* Pairs that keep what they had get their layers; false: some had none. */
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

static void note_legal(void *arg, struct dep turn)
{
	struct layered *x = arg;

	deps_note(x->deps, 0, turn);
}

bool pairs_stay(struct layered *x)
{
	struct ways w;
	bool fit;

	ways_init(&w, x);
	if (!x->settled)
		find_moved(x, &w);
	fit = keep_layers(x);
	if (fit) {
		deps_clear(x->deps);
		pairs_each_legal(x, note_legal);
		for (uint32_t to = 0; to < x->n_sources; to++)
			note_staying(x, &w, to);
		fit = deps_settle(x->deps);
	}
	ways_free(&w);
	return fit;
}
