/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists turn models for the faults of a grid and checks turns against them; see turn_model.h. */
#include "routing/grid/turn_model.h"

/* --- turns --- */

static bool has_place(const struct grid *grid, uint32_t v)
{
	return grid_at(grid, v, 0) != GRID_NOWHERE;
}

static unsigned far(unsigned a, unsigned b)
{
	return a > b ? a - b : b - a;
}

/* Whether v is nearer to the root than u, along path d. */
static bool is_nearer(const struct turn_model *m, const struct grid *grid, unsigned d, uint32_t v, uint32_t u)
{
	return grid->dim[d].kind == GRID_PATH &&
	       far(grid_at(grid, v, d), m->root[d]) < far(grid_at(grid, u, d), m->root[d]);
}

bool turn_model_allows(const struct turn_model *m, const struct grid *grid, uint32_t u, uint32_t v, uint32_t w)
{
	unsigned in, out;

	if (!has_place(grid, u) || !has_place(grid, v) || !has_place(grid, w))
		return false;
	in = grid_dimension(grid, u, v);
	out = grid_dimension(grid, v, w);
	if (in == out)
		return grid->dim[in].kind != GRID_COMPLETE || grid_at(grid, v, in) == m->root[in];
	if (in < out)
		return true;
	if (m->by_entry)
		return grid_at(grid, v, out) == m->root[out] || is_nearer(m, grid, out, v, w);
	return grid_at(grid, v, in) == m->root[in] || is_nearer(m, grid, in, v, u);
}

/* --- models for faults --- */

/* Models of each kind per fault; the limit leaves some for other faults where there are many dimensions. */
#define EACH 8u

struct list {
	const struct grid *grid;
	struct turn_model *out;
	unsigned n;
};

/* One of two coordinates for the root, near a fault at coordinate `at`. */
static uint16_t beside(const struct grid_dim *d, uint16_t at, bool other)
{
	switch (d->kind) {
	case GRID_PATH:
		return other ? (uint16_t)(d->length - 1) : 0;
	case GRID_RING:
		return (uint16_t)((at + (other ? 1 : d->length - 1)) % d->length);
	case GRID_COMPLETE:
		return other ? at : (uint16_t)((at + 1) % d->length);
	}
	return at;
}

/* Adds models of one kind for a fault at a place: one for each choice of the coordinates that matter. */
static void add_models(struct list *x, const uint16_t *at, bool by_entry)
{
	unsigned n = x->grid->n_dims, first = by_entry ? 0 : 1;

	for (unsigned which = 0; which < 1u << (n - 1) && which < EACH && x->n < TURN_MODELS_MAX; which++) {
		struct turn_model *m = &x->out[x->n++];

		*m = (struct turn_model){ .by_entry = by_entry };
		for (unsigned d = first; d < first + n - 1; d++)
			m->root[d] = beside(&x->grid->dim[d], at[d], which >> (d - first) & 1);
	}
}

static void add_fault(struct list *x, uint32_t place)
{
	uint16_t at[GRID_DIMS_MAX];

	for (unsigned d = 0; d < x->grid->n_dims; d++)
		at[d] = (uint16_t)(place / x->grid->stride[d] % x->grid->dim[d].length);
	add_models(x, at, false);
	add_models(x, at, true);
}

/* Whether the switch at a place is missing, or one of its links to places behind it in a dimension. */
static bool has_fault(const struct grid *grid, const struct graph *g, uint32_t place)
{
	uint32_t v = grid->vertex[place];

	if (v == FABRIC_NONE || g->trunk0[v] == g->trunk0[v + 1])
		return true;
	for (unsigned d = 0; d < grid->n_dims; d++)
		for (uint32_t at = grid_at(grid, v, d), b = at + 1; b < grid->dim[d].length; b++) {
			uint32_t u = grid->vertex[place + (b - at) * grid->stride[d]];

			if (grid_adjacent(&grid->dim[d], at, b) && u != FABRIC_NONE &&
			    g->trunk0[u] != g->trunk0[u + 1] && graph_trunk(g, v, u) == FABRIC_NONE)
				return true;
		}
	return false;
}

unsigned turn_models(const struct grid *grid, const struct graph *g, struct turn_model *out)
{
	struct list x = { .grid = grid, .out = out };

	for (uint32_t place = 0; place < grid->n_places && x.n < TURN_MODELS_MAX; place++)
		if (has_fault(grid, g, place))
			add_fault(&x, place);
	return x.n;
}
