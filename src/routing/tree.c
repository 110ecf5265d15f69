/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds trees of all switches on grids and repairs them; see tree.h. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "routing/tree.h"

/* --- on a grid --- */

/* The next coordinate towards the root's. */
static uint32_t step_towards(const struct grid_dim *d, uint32_t at, uint32_t root)
{
	if (d->kind == GRID_COMPLETE)
		return root;
	return at < root ? at + 1 : at - 1;
}

/* The dimension in which v leads towards the root; n_dims if v is the root or has no place on the grid. */
static unsigned dimension_above(const struct grid *grid, const struct turn_model *m, uint32_t v)
{
	unsigned found = grid->n_dims;

	if (grid_at(grid, v, 0) == GRID_NOWHERE)
		return found;
	for (unsigned d = 0; d < grid->n_dims; d++)
		if (grid_at(grid, v, d) != m->root[d] && (found == grid->n_dims || !m->by_entry))
			found = d;
	return found;
}

/* The vertex that v leads to; FABRIC_NONE if its place is empty. */
static uint32_t vertex_above(const struct grid *grid, const struct turn_model *m, uint32_t v)
{
	unsigned up = dimension_above(grid, m, v);
	uint32_t place = 0;

	if (up == grid->n_dims)
		return FABRIC_NONE;
	for (unsigned d = 0; d < grid->n_dims; d++) {
		uint32_t at = grid_at(grid, v, d);

		place += grid->stride[d] * (d == up ? step_towards(&grid->dim[d], at, m->root[d]) : at);
	}
	return grid->vertex[place];
}

uint32_t *tree_on_grid(const struct graph *g, const struct grid *grid, const struct turn_model *m)
{
	uint32_t *tree = xmalloc((g->n + 1u) * sizeof(*tree));

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t up = vertex_above(grid, m, v);

		tree[g->sw[v]] = up == FABRIC_NONE ? FABRIC_NONE : g->sw[up];
	}
	return tree;
}

/* --- pieces --- */

struct pieces {
	const struct graph *g;
	uint32_t *tree;
	const struct route_layers *y;
	uint32_t *vertex;	/* [switch]: its vertex */
	uint32_t *root;		/* [vertex]: root of its piece */
	bool *in;		/* [vertex]: part of the piece that grows */
	uint32_t *queue, n;	/* vertices of that piece */
};

/* Makes the piece of v lead over the link from v to u: reverses the path from v to the piece's root. */
static void turn_over(struct pieces *x, uint32_t v, uint32_t u)
{
	uint32_t from = x->g->sw[u], sw = x->g->sw[v];

	while (sw != FABRIC_NONE) {
		uint32_t next = x->tree[sw];

		x->tree[sw] = from;
		from = sw;
		sw = next;
	}
}

/* The neighbour of v along a ring other than `but`; FABRIC_NONE if there is none. */
static uint32_t along(const struct pieces *x, uint32_t v, uint8_t ring, uint32_t but)
{
	const struct graph *g = x->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
		if (g->trunks[t].v != but && route_link(x->y, g->sw[v], g->links[g->trunks[t].link0]) == ring)
			return g->trunks[t].v;
	return FABRIC_NONE;
}

/*
 * If the root of a piece is at a gap in a ring, follows the ring away from the gap, up to the next piece,
 * and links the two there.  False: the root is at no gap, or no other piece follows.
 */
static bool join_along(struct pieces *x, uint32_t root, uint8_t ring)
{
	uint32_t v = root, next = along(x, v, ring, FABRIC_NONE), before = v;

	if (next == FABRIC_NONE || along(x, v, ring, next) != FABRIC_NONE)
		return false;
	while (next != FABRIC_NONE && x->root[next] == root) {
		v = next;
		next = along(x, v, ring, before);
		before = v;
	}
	if (next == FABRIC_NONE)
		return false;
	turn_over(x, v, next);
	for (uint32_t u = 0, to = x->root[next]; u < x->g->n; u++)
		if (x->root[u] == root)
			x->root[u] = to;
	return true;
}

static void take_piece(struct pieces *x, uint32_t root)
{
	for (uint32_t v = 0; v < x->g->n; v++)
		if (x->root[v] == root) {
			x->in[v] = true;
			x->queue[x->n++] = v;
		}
}

/* Adds a piece and all pieces linked to it. */
static void gather(struct pieces *x, uint32_t root)
{
	const struct graph *g = x->g;
	uint32_t done = x->n;

	for (take_piece(x, root); done < x->n; done++) {
		uint32_t u = x->queue[done];

		for (uint32_t t = g->trunk0[u]; t < g->trunk0[u + 1]; t++) {
			uint32_t v = g->trunks[t].v;

			if (x->in[v])
				continue;
			turn_over(x, v, u);
			take_piece(x, x->root[v]);
		}
	}
}

static uint32_t largest_piece(const struct pieces *x)
{
	uint32_t *size = xcalloc(x->g->n, sizeof(*size)), largest = 0;

	for (uint32_t v = 0; v < x->g->n; v++)
		if (++size[x->root[v]] > size[largest])
			largest = x->root[v];
	free(size);
	return largest;
}

void tree_mend(const struct graph *g, uint32_t *tree, const struct route_layers *y)
{
	struct pieces x = { .g = g, .tree = tree, .y = y };

	x.vertex = xcalloc(g->n, sizeof(*x.vertex));
	x.root = xcalloc(g->n, sizeof(*x.root));
	x.in = xcalloc(g->n, sizeof(*x.in));
	x.queue = xcalloc(g->n, sizeof(*x.queue));
	for (uint32_t v = 0; v < g->n; v++)
		x.vertex[g->sw[v]] = v;
	for (uint32_t v = 0; v < x.g->n; v++) {
		uint32_t *up = &x.tree[x.g->sw[v]];

		if (*up != FABRIC_NONE && graph_trunk(x.g, v, x.vertex[*up]) == FABRIC_NONE)
			*up = FABRIC_NONE;
	}
	for (uint32_t v = 0; v < x.g->n; v++) {
		uint32_t u = v;

		while (x.tree[x.g->sw[u]] != FABRIC_NONE)
			u = x.vertex[x.tree[x.g->sw[u]]];
		x.root[v] = u;
	}
	for (uint32_t v = 0; v < x.g->n && x.y->link; v++) {
		uint8_t ring = 0;

		while (ring < GRID_DIMS_MAX && (x.root[v] != v || !join_along(&x, v, ring)))
			ring++;
	}
	if (g->n)
		gather(&x, largest_piece(&x));
	for (uint32_t v = 0; v < g->n; v++)
		if (!x.in[v])
			gather(&x, x.root[v]);
	free(x.vertex);
	free(x.root);
	free(x.in);
	free(x.queue);
}

/* --- the order --- */

struct place {
	uint32_t sw, depth;
	uint64_t guid;
};

/* The deepest first, so that paths to the root lead up. */
static int by_depth(const void *a, const void *b)
{
	const struct place *p = a, *q = b;

	return ORDER(q->depth, p->depth) ?: ORDER(p->guid, q->guid);
}

struct updn_order *tree_order(const struct fabric *f, const uint32_t *tree)
{
	struct updn_order *o = xcalloc(1, sizeof(*o));
	struct place *at = xcalloc(f->n_switches, sizeof(*at));
	uint32_t *sw = xcalloc(f->n_switches, sizeof(*sw)), roots = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		at[i] = (struct place){ .sw = i, .guid = f->nodes[f->switches[i].node].guid };
		for (uint32_t up = tree[i]; up != FABRIC_NONE; up = tree[up])
			at[i].depth++;
		roots += !at[i].depth;
	}
	qsort(at, f->n_switches, sizeof(*at), by_depth);
	*o = (struct updn_order){ .hub = FABRIC_NONE, .n_ranks = f->n_switches ? at[0].depth + 1 : 1,
				  .meets = roots <= 1 };
	o->rank = xcalloc(f->n_switches, sizeof(*o->rank));
	for (uint32_t i = 0; i < f->n_switches; i++) {
		sw[i] = at[i].sw;
		o->rank[i] = (uint16_t)(o->n_ranks - 1 - at[i].depth);
	}
	o->g = graph_new_of_tree(f, sw, tree);
	free(at);
	return o;
}
