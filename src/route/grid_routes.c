/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine "grid": dimension order on tori, meshes, HyperX and their mixtures.
 *
 * Ways and layers are first those of the grid without its faults, where each pair's layer is its class
 * (dimension.h); layered.h then stays near to these, as it does when links have gone: it finds ways for the
 * pairs whose own lead over what is missing, and layers that have room for them.
 *
 * Tables that are near to such ones keep the coordinates that switches had: those of what is left of a grid
 * might be others.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/dimension.h"
#include "route/layered.h"
#include "route/tree.h"

struct ideal {
	const struct route_request *r;
	const struct graph *g;
	const struct grid *grid;
	struct lfts *lfts;
	struct route_layers *layers;
	uint32_t *load;		/* [lane] */
	uint32_t *next;		/* [vertex]: the trunk of its way */
};

/* --- tables --- */

/* The entries of v for the LIDs of the ends, by the lanes of one trunk. */
static void set_entries(struct ideal *x, uint32_t v, const struct dest *dests, unsigned n)
{
	const struct trunk *t = &x->g->trunks[x->next[v]];
	struct choice c = { .n = t->n_lanes };

	for (unsigned i = 0; i < c.n; i++) {
		c.lane[i] = t->lane0 + i;
		c.v[i] = t->v;
	}
	for (unsigned i = 0; i < n; i++)
		choice_spread(&c, x->g, x->load, graph_row(x->g, x->lfts, v) + dests[i].lid, dests[i].n_lids,
			      dests[i].weight);
}

static void fill_tables(struct ideal *x)
{
	struct dest dests[DESTS_MAX];

	for (uint32_t d = 0; d < x->g->n; d++) {
		unsigned n = graph_dests(x->g, x->r, x->lfts->top, d, dests);

		dimension_ways(x->g, x->grid, d, x->next);
		for (uint32_t v = 0; v < x->g->n; v++)
			if (x->next[v] != FABRIC_NONE)
				set_entries(x, v, dests, n);
		graph_deliver(x->g, x->lfts, d, dests, n);
	}
}

/* --- layers --- */

/* All vertices are places: layered.h needs those of the pairs that there are, and asks for no others. */
static void fill_pairs(struct ideal *x)
{
	struct route_layers *y = x->layers;

	y->n_places = x->g->n;
	y->place = xcalloc(x->g->n, sizeof(*y->place));
	y->of = xcalloc(route_layers_pair(x->g->n, 0) + 1, 1);
	for (uint32_t a = 0; a < x->g->n; a++) {
		y->place[x->g->sw[a]] = a;
		for (uint32_t b = 0; b < a; b++)
			y->of[route_layers_pair(a, b)] = (uint8_t)dimension_class(x->grid, a, b);
	}
}

static uint32_t most_ports(const struct fabric *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t ports = f->nodes[f->switches[i].node].nports + 1u;

		most = ports > most ? ports : most;
	}
	return most;
}

/* Links of other dimensions than rings are free of circles on either lane: two leave room for ways round gaps. */
static void fill_rings(struct ideal *x)
{
	struct route_layers *y = x->layers;
	const struct graph *g = x->g;
	unsigned bits = dimension_bits(x->grid);

	y->ring_ports = most_ports(g->f);
	y->ring = xmalloc((size_t)g->n * y->ring_ports);
	memset(y->ring, ROUTE_NO_RING, (size_t)g->n * y->ring_ports);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			unsigned d = grid_dimension(x->grid, v, g->trunks[t].v);

			for (uint32_t i = 0; i < g->trunks[t].n_lanes; i++)
				*route_ring(y, g->sw[v], g->lanes[g->trunks[t].lane0 + i]) =
					d < bits ? (uint8_t)d : ROUTE_NOT_ROUND;
		}
}

static void ideal_make(struct ideal *x, const struct route_request *r, const struct graph *g,
		       const struct grid *grid, uint16_t top)
{
	unsigned bits = dimension_bits(grid);

	*x = (struct ideal){ .r = r, .g = g, .grid = grid, .lfts = lfts_new(g->n, top) };
	x->load = xcalloc(g->n_lanes, sizeof(*x->load));
	x->next = xcalloc(g->n, sizeof(*x->next));
	fill_tables(x);
	x->layers = xcalloc(1, sizeof(*x->layers));
	*x->layers = (struct route_layers){ .n = 1u << bits, .n_lanes = bits ? 2 : 1, .n_switches = g->n };
	fill_pairs(x);
	if (bits)
		fill_rings(x);
	x->layers->tree = tree_on_grid(g, grid, &(struct turn_model){ .by_entry = false });
	x->layers->grid = grid_renumbered(grid, g->n, g->n, g->sw);
}

static void ideal_free(struct ideal *x)
{
	lfts_free(x->lfts);
	route_layers_free(x->layers);
	free(x->load);
	free(x->next);
}

/* --- rings of four --- */

/* Which of the grid's dimensions, by number, pairs of length 2 are: a ring of four each. */
struct fours {
	unsigned n;		/* rings */
	unsigned first;		/* dimensions first .. first + 2 * n - 1 */
};

static struct fours find_fours(const struct grid *grid, unsigned most)
{
	struct fours x = { .first = grid->n_dims };
	unsigned n = 0;

	while (x.first > 0 && grid->dim[x.first - 1].kind == GRID_COMPLETE && grid->dim[x.first - 1].length == 2) {
		x.first--;
		n++;
	}
	x.n = n / 2 < most ? n / 2 : most;
	return x;
}

/* The coordinates around a ring of four, by those of the two dimensions. */
static uint16_t around(uint16_t a, uint16_t b)
{
	return a ? 3 - b : b;
}

/*
 * grid with `most` pairs of its dimensions of length 2 as rings of four, which take a bit of the layers, but
 * where a link is gone there is a way round.  Frees grid.
 */
static struct grid *with_fours(struct grid *grid, unsigned most, uint32_t n_vertices)
{
	struct fours fours = find_fours(grid, most);
	unsigned bits = dimension_bits(grid), n = 0;
	unsigned from[GRID_DIMS_MAX], with[GRID_DIMS_MAX];	/* [dimension]: those of grid; alone: the same */
	struct grid *x;

	if (!fours.n)
		return grid;
	x = xmemdup(grid, sizeof(*grid));
	x->n_dims = 0;
	for (unsigned d = 0; d < grid->n_dims; d++) {
		if (d == bits)
			for (unsigned four = 0; four < fours.n; four++, n++) {
				x->dim[n] = (struct grid_dim){ GRID_RING, 4 };
				from[n] = fours.first + 2 * four;
				with[n] = from[n] + 1;
			}
		if (d >= fours.first && d < fours.first + 2 * fours.n)
			continue;
		x->dim[n] = grid->dim[d];
		from[n] = with[n] = d;
		n++;
	}
	x->n_dims = n;
	x->n_places = 1;
	for (unsigned d = 0; d < n; d++) {
		x->stride[d] = x->n_places;
		x->n_places *= x->dim[d].length;
	}
	x->at = xcalloc((size_t)n_vertices * n, sizeof(*x->at));
	x->vertex = xmalloc((x->n_places + 1u) * sizeof(*x->vertex));
	for (uint32_t place = 0; place < x->n_places; place++)
		x->vertex[place] = FABRIC_NONE;
	for (uint32_t v = 0; v < n_vertices; v++) {
		uint32_t place = 0;

		for (unsigned d = 0; d < n; d++) {
			uint16_t at = grid_at(grid, v, from[d]);

			if (from[d] != with[d])
				at = around(at, grid_at(grid, v, with[d]));
			x->at[(size_t)v * n + d] = at;
			place += at * x->stride[d];
		}
		x->vertex[place] = v;
	}
	grid_free(grid);
	return x;
}

/* --- the engine --- */

/* How many rings of four there is room for, beside the rings of a grid, which has any. */
static unsigned fours_most(const struct route_request *r, const struct grid *grid)
{
	unsigned bits = dimension_bits(grid), n = 0;

	while (bits && 2u << (bits + n) <= r->most_shared)
		n++;
	return n;
}

static bool has_room(const struct route_request *r, const struct grid *grid, struct buf *why)
{
	unsigned bits = dimension_bits(grid);

	if (!bits || 1u << bits <= r->most_shared)
		return true;
	grid_text(grid, why);
	if (r->most_shared)
		buf_printf(why, " takes %u SLs for each level, and there are %u", 1u << bits, r->most_shared);
	else
		buf_puts(why, " takes two sets of virtual lanes, and there is room for one");
	return false;
}

static struct route_layers *route(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				  struct buf *why)
{
	struct layered_outcome did;
	struct route_layers *y = layered_routes(r, o, r->most_layers ? r->most_layers : 1, out, &did);

	if (!y)
		buf_printf(why, "%u pairs of switches whose ways lead over what is missing found no others that are "
			   "free of credit loops", did.blocked);
	return y;
}

static struct route_layers *route_anew(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				       struct buf *why)
{
	struct grid *grid = grid_new(o->g);
	struct route_request near = *r;
	struct route_layers *y = NULL;
	struct ideal x;

	if (!grid) {
		buf_puts(why, "the switches are no grid");
	} else if (has_room(r, grid, why)) {
		grid = with_fours(grid, fours_most(r, grid), o->g->n);
		ideal_make(&x, r, o->g, grid, out->top);
		near.near = x.lfts;
		near.near_layers = x.layers;
		y = route(&near, o, out, why);
		ideal_free(&x);
	}
	grid_free(grid);
	return y;
}

static bool grid_run(const struct route_request *r, struct lfts *out, struct route_layers **layers,
		     struct buf *why)
{
	/* any order will do: it only numbers the vertices */
	struct updn_order *own = r->order ? NULL : updn_order_by_root(r->f);
	const struct updn_order *o = own ? own : r->order;

	if (!r->near || !r->near_layers)
		*layers = route_anew(r, o, out, why);
	else if (r->near_layers->tree)
		*layers = route(r, o, out, why);
	else
		buf_puts(why, "the routes that there were are not those of a grid");
	updn_order_free(own);
	return *layers;
}

const struct route_engine route_grid = { "grid", grid_run };
