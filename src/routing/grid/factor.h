/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns trunks to the dimensions of a grid, if the switches form one (internal to routing/).
 *
 * A grid is a Cartesian product of paths, rings and complete graphs, and its dimensions are the factors of
 * the product.  Evidence comes from squares: four vertices in a cycle, of which opposite ones are not
 * linked and have no other common neighbour.  Adjacent sides of a square belong to different dimensions;
 * opposite sides are parallel, that is, the same step in the same dimension.  The trunks of a triangle
 * belong to one dimension.  This is the product relation of a graph (Hammack, Imrich, Klavzar: "Handbook
 * of Product Graphs", 2011), restricted to evidence that missing links and switches do not forge.
 *
 * Two adjacent trunks without a square over them may belong to one dimension, or a switch is missing.
 * Such evidence is counted over all parallel trunks.  The strongest is followed first, and none of it
 * joins what a square separates.
 *
 * A ring of four is a square and so becomes two dimensions of length 2, which is the same graph.
 *
 * The result is a hypothesis that grid.h tests.
 */
#ifndef QOSD_ROUTING_GRID_FACTOR_H
#define QOSD_ROUTING_GRID_FACTOR_H

#include "routing/graph.h"

#define FACTORS_MAX 12		/* a hypercube of more dimensions has over 4,096 switches */
#define FACTOR_NONE UINT8_MAX

struct factors {
	unsigned n;
	bool triangles[FACTORS_MAX];	/* [dimension]: it has triangles */
	uint8_t *of;		/* [trunk]: its dimension, or FACTOR_NONE */
	uint16_t *may;		/* [trunk]: bit d is set if no square rules out dimension d */
	/*
	 * [trunk]: a number below n_sides.  Trunks with the same number are parallel and leave from
	 * vertices with the same coordinate.  Unreliable in dimensions with triangles, where four
	 * switches of a complete graph that lacks two links form a square.
	 */
	uint32_t *side;
	uint32_t n_sides;
	uint32_t *back;		/* [trunk]: the trunk with the same links in the other direction */
};

/* NULL if this is certainly not a grid. */
struct factors *factors_new(const struct graph *g);
void factors_free(struct factors *f);	/* NULL is fine */

#endif
