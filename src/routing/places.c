/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the places of switches; see places.h. */
#include "routing/places.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/dragonfly/dragonfly.h"
#include "routing/grid/grid.h"
#include "routing/updn/order.h"

static void begin(struct route_places *out, enum places_kind kind, unsigned n_dims, uint32_t n_switches)
{
	out->kind = kind;
	out->n_dims = n_dims;
	out->at = xcalloc((size_t)n_switches * n_dims + 1, sizeof(*out->at));
	memset(out->at, 0xff, (size_t)n_switches * n_dims * sizeof(*out->at));
}

static void set(struct route_places *out, const struct graph *g, uint32_t v, unsigned dim, uint32_t value)
{
	out->at[g->sw[v] * out->n_dims + dim] = value < PLACES_NOWHERE ? (uint16_t)value : PLACES_NOWHERE;
}

static bool in_grid(const struct graph *g, struct route_places *out)
{
	struct grid *grid = grid_new(g);

	if (!grid)
		return false;
	begin(out, PLACES_GRID, grid->n_dims, g->n);
	for (unsigned d = 0; d < grid->n_dims; d++) {
		out->length[d] = grid->dim[d].length;
		out->ring[d] = grid->dim[d].kind == GRID_RING;
		for (uint32_t v = 0; v < g->n; v++)
			set(out, g, v, d, grid_at(grid, v, d));
	}
	grid_free(grid);
	return true;
}

static bool in_dragonfly(const struct graph *g, struct route_places *out)
{
	struct dragonfly *d = dragonfly_new(g);

	if (!d)
		return false;
	begin(out, PLACES_DRAGONFLY, 2, g->n);
	out->length[0] = d->groups;
	out->length[1] = d->members;
	out->ring[0] = true;
	for (uint32_t v = 0; v < g->n; v++) {
		set(out, g, v, 0, d->group[v]);
		set(out, g, v, 1, d->member[v]);
	}
	dragonfly_free(d);
	return true;
}

/* Breadth first from all switches that have hosts. */
static void ranks_by_hosts(const struct graph *g, uint16_t *rank)
{
	uint32_t *queue = xcalloc(g->n + 1u, sizeof(*queue)), n = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		rank[v] = graph_hosts(g, v) ? 0 : PLACES_NOWHERE;
		if (rank[v] == 0)
			queue[n++] = v;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t t = g->trunk0[queue[i]]; t < g->trunk0[queue[i] + 1]; t++) {
			uint32_t to = g->trunks[t].v;

			if (rank[to] != PLACES_NOWHERE)
				continue;
			rank[to] = (uint16_t)(rank[queue[i]] + 1);
			queue[n++] = to;
		}
	free(queue);
}

static void by_rank(const struct updn_order *o, struct route_places *out)
{
	const struct graph *g = o->g;
	uint16_t *rank = xcalloc(g->n + 1u, sizeof(*rank));

	if (o->layered)
		memcpy(rank, o->rank, g->n * sizeof(*rank));
	else
		ranks_by_hosts(g, rank);
	begin(out, PLACES_RANKS, 1, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		set(out, g, v, 0, rank[v]);
		if (rank[v] != PLACES_NOWHERE && rank[v] >= out->length[0])
			out->length[0] = rank[v] + 1u;
	}
	free(rank);
}

void route_places(const struct fabric *f, const struct updn_order *o, struct route_places *out)
{
	*out = (struct route_places){ 0 };
	if (!o || o->g->n != f->n_switches)
		begin(out, PLACES_RANKS, 1, f->n_switches);
	else if (o->tree || (!in_grid(o->g, out) && !in_dragonfly(o->g, out)))
		by_rank(o, out);
}

void route_places_free(struct route_places *p)
{
	free(p->at);
	*p = (struct route_places){ 0 };
}
