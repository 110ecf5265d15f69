/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the engine "grid", which uses dimension order on tori, meshes, HyperX and their mixtures.
 *
 * Routes and layers are first those of the grid without its faults (ideal.h), where each pair's layer is
 * its class (dimension.h).
 *
 * Routes near to existing grid tables keep the coordinates that switches had, because recognition might
 * number the damaged grid differently.
 */

#include "lib/base/alloc.h"
#include "routing/grid/dimension.h"
#include "routing/ideal.h"
#include "routing/tree.h"

/* --- the grid without its faults --- */

struct on_grid {
	const struct graph *g;
	const struct grid *grid;
	unsigned bits;		/* dimension_bits() */
};

static void ways(void *arg, uint32_t to, uint32_t *next)
{
	const struct on_grid *x = arg;

	dimension_ways(x->g, x->grid, to, next);
}

static unsigned layer(void *arg, uint32_t a, uint32_t b)
{
	const struct on_grid *x = arg;

	return dimension_class(x->grid, a, b);
}

/*
 * Links of dimensions other than rings have no cycles on either VL set; using both VL sets leaves room for
 * routes around gaps.
 */
static uint8_t link_kind(void *arg, uint32_t v, uint32_t trunk)
{
	const struct on_grid *x = arg;
	unsigned d = grid_dimension(x->grid, v, x->g->trunks[trunk].v);

	return d < x->bits ? (uint8_t)d : ROUTE_LINK_NOT_ROUND;
}

static void make_ideal(struct ideal *ideal, const struct route_request *r, const struct graph *g,
		       const struct grid *grid, uint16_t top)
{
	struct on_grid x = { g, grid, dimension_bits(grid) };
	struct ideal_shape shape = { .r = r, .g = g, .top = top, .n_layers = 1u << x.bits, .arg = &x,
				     .ways = ways, .layer = layer, .link = link_kind };

	ideal_make(ideal, &shape);
	ideal->layers->tree = tree_on_grid(g, grid, &(struct turn_model){ .by_entry = false });
	ideal->layers->grid = grid_renumbered(grid, g->n, g->n, g->sw);
}

/* --- rings of four --- */

/* The grid's dimensions of length 2 that are paired, each pair a ring of four. */
struct fours {
	unsigned n;		/* number of rings */
	unsigned first;		/* they are dimensions first .. first + 2 * n - 1 */
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

/* The coordinate around a ring of four, from those of the two dimensions. */
static uint16_t around(uint16_t a, uint16_t b)
{
	return a ? 3 - b : b;
}

/*
 * Returns a grid where `most` pairs of dimensions of length 2 are rings of four.  A ring takes a bit of
 * the layers, but when a link is gone there is a way round.  Frees grid.
 */
static struct grid *with_fours(struct grid *grid, unsigned most, uint32_t n_vertices)
{
	struct fours fours = find_fours(grid, most);
	unsigned bits = dimension_bits(grid), n = 0;
	/* [new dimension]: its old ones; equal if it was not paired */
	unsigned from[GRID_DIMS_MAX], with[GRID_DIMS_MAX];
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

/*
 * The number of rings of four for which layers are left besides those of a grid with rings; 0 if it has
 * none.
 */
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
		buf_printf(why, " needs %u SLs for each level, but there are %u", 1u << bits, r->most_shared);
	else
		buf_puts(why, " needs two VL sets, but there is room for one");
	return false;
}

static struct route_layers *route_anew(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				       struct buf *why)
{
	struct grid *grid = grid_new(o->g);
	struct route_request near = *r;
	struct route_layers *y = NULL;
	struct ideal x;

	if (!grid) {
		buf_puts(why, "the switches are not a grid");
	} else if (has_room(r, grid, why)) {
		grid = with_fours(grid, fours_most(r, grid), o->g->n);
		make_ideal(&x, r, o->g, grid, out->top);
		near.near = x.lfts;
		near.near_layers = x.layers;
		y = ideal_approach(&near, o, out, why);
		ideal_free(&x);
	}
	grid_free(grid);
	return y;
}

static bool grid_run(const struct route_request *r, struct lfts *out, struct route_layers **layers,
		     struct buf *why)
{
	/* Any order will do: it only numbers the vertices. */
	struct updn_order *own = r->order ? NULL : updn_order_by_root(r->f);
	const struct updn_order *o = own ? own : r->order;

	if (!r->near || !r->near_layers)
		*layers = route_anew(r, o, out, why);
	else if (r->near_layers->tree)
		*layers = ideal_approach(r, o, out, why);
	else
		buf_puts(why, "the present routes are not those of a grid");
	updn_order_free(own);
	return *layers;
}

const struct route_engine route_grid = { "grid", grid_run };
