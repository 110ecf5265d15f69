/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Follows routes to one LID after another; see walks.h. */
#include "routing/walks.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

void walks_init(struct walks *w, const struct channels *c, const bool *dead, unsigned n_layers)
{
	uint32_t n = c->g->n;

	*w = (struct walks){ .c = c, .dead = dead };
	w->out = xcalloc(n, sizeof(*w->out));
	w->walk = xcalloc(n, sizeof(*w->walk));
	w->way = xcalloc(n, sizeof(*w->way));
	w->seen = xcalloc((size_t)n_layers * 2 * n, sizeof(*w->seen));
}

void walks_free(struct walks *w)
{
	free(w->out);
	free(w->walk);
	free(w->way);
	free(w->seen);
}

bool walks_recall(struct walks *w, const struct lfts *l, uint16_t lid)
{
	bool other = false;

	for (uint32_t v = 0; v < w->c->g->n; v++) {
		struct channel ch = channel_by_lid(w->c, l, v, lid);
		bool leads = ch.link != FABRIC_NONE && !(w->dead && w->dead[ch.link]);
		uint32_t out = leads ? w->c->trunk[ch.link] : FABRIC_NONE;

		other |= w->out[v] != out;
		w->out[v] = out;
	}
	return other;
}

void walks_begin(struct walks *w)
{
	w->mark++;
}

void walks_note(struct walks *w, struct deps *d, unsigned layer, uint32_t v, bool search)
{
	const struct graph *g = w->c->g;
	uint32_t in = FABRIC_NONE, out;
	bool far = false;

	for (; (out = w->out[v]) != FABRIC_NONE; v = g->trunks[out].v) {
		struct dep turn = { in, out, far };
		uint32_t *seen;

		far = deps_is_far(d, in);
		seen = &w->seen[(2 * (size_t)layer + far) * g->n + v];

		if (in != FABRIC_NONE && search)
			deps_add(d, layer, &turn, 1, NULL);
		else if (in != FABRIC_NONE)
			deps_note(d, layer, turn);
		if (*seen == w->mark)
			return;
		*seen = w->mark;
		in = out;
	}
}

void walks_begin_moves(struct walks *w)
{
	memset(w->walk, 0, w->c->g->n * sizeof(*w->walk));
}

bool walks_moves(struct walks *w, uint32_t v, uint16_t lid, bool (*differs)(void *arg, uint32_t v, uint16_t lid),
		 void *arg)
{
	uint32_t n = 0;

	for (; w->walk[v] == WALK_UNKNOWN; v = w->c->g->trunks[w->out[v]].v) {
		w->way[n++] = v;
		w->walk[v] = differs(arg, v, lid) ? WALK_MOVES : WALK_STAYS;
		if (w->walk[v] == WALK_MOVES || w->out[v] == FABRIC_NONE)
			break;
	}
	while (n > 0)
		w->walk[w->way[--n]] = w->walk[v];
	return w->walk[v] == WALK_MOVES;
}
