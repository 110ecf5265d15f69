/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes the next hop of dimension-order routes and the class of a pair; see dimension.h. */
#include "routing/grid/dimension.h"

/*
 * Whether the path between a and b, opposite each other in ring d, crosses its dateline.
 *
 * A table knows the destination of a packet but not its source.  When the packet reaches ring d its lower
 * coordinates are those of the destination, and in the other direction those of the other end: a choice by
 * these would differ between the directions, or between source and ring.  The higher ones are still those
 * of the ends.
 */
static bool crosses_by_choice(const struct grid *grid, unsigned d, uint32_t a, uint32_t b)
{
	uint32_t x = grid_at(grid, a, d), y = grid_at(grid, b, d), sum = x < y ? x : y;

	for (unsigned i = d + 1; i < grid->n_dims; i++)
		sum += grid_at(grid, a, i) + grid_at(grid, b, i);
	return sum & 1;
}

/* Whether coordinates rise, cyclically, along the path from a to b in ring d. */
static bool goes_up(const struct grid *grid, unsigned d, uint32_t a, uint32_t b)
{
	uint32_t length = grid->dim[d].length, x = grid_at(grid, a, d), y = grid_at(grid, b, d);
	uint32_t up = (y + length - x) % length;

	if (2 * up != length)
		return 2 * up < length;
	return crosses_by_choice(grid, d, a, b) == (y < x);
}

/* The coordinate after a's on the path to b, in dimension d, where a and b differ. */
static uint32_t next_coordinate(const struct grid *grid, unsigned d, uint32_t a, uint32_t b)
{
	uint32_t length = grid->dim[d].length, x = grid_at(grid, a, d), y = grid_at(grid, b, d);

	if (grid->dim[d].kind == GRID_COMPLETE)
		return y;
	if (grid->dim[d].kind == GRID_PATH)
		return x < y ? x + 1 : x - 1;
	return (x + (goes_up(grid, d, a, b) ? 1 : length - 1)) % length;
}

static uint32_t next_trunk(const struct graph *g, const struct grid *grid, uint32_t from,
			   uint32_t to)
{
	uint32_t place = 0, vertex;
	unsigned d = 0;

	while (grid_at(grid, from, d) == grid_at(grid, to, d))
		d++;
	for (unsigned i = 0; i < grid->n_dims; i++)
		place += grid->stride[i] *
			 (i == d ? next_coordinate(grid, d, from, to) : grid_at(grid, from, i));
	vertex = grid->vertex[place];
	return vertex == FABRIC_NONE ? FABRIC_NONE : graph_trunk(g, from, vertex);
}

void dimension_ways(const struct graph *g, const struct grid *grid, uint32_t to, uint32_t *next)
{
	for (uint32_t v = 0; v < g->n; v++)
		next[v] = v == to ? FABRIC_NONE : next_trunk(g, grid, v, to);
}

uint32_t dimension_class(const struct grid *grid, uint32_t a, uint32_t b)
{
	uint32_t class = 0;

	for (unsigned d = 0; d < dimension_bits(grid); d++) {
		uint32_t x = grid_at(grid, a, d), y = grid_at(grid, b, d);

		if (x != y && goes_up(grid, d, a, b) == (y < x))
			class |= 1u << d;
	}
	return class;
}

unsigned dimension_bits(const struct grid *grid)
{
	unsigned n = 0;

	while (n < grid->n_dims && grid->dim[n].kind == GRID_RING)
		n++;
	return n;
}
