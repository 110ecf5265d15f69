/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turn models: which turns ways round the faults of a grid, and its tree, may take beside dimension order
 * without closing a cycle (internal to routing/).
 *
 * Dimension order turns from lower dimensions into higher ones only.  A model has a root, a place, and allows
 * some of the other turns:
 *
 *  - those out of dimension m where coordinate m is the root's and, on a path, those towards it.  A cycle
 *    has a highest dimension.  It leaves that at one coordinate only, to which it would have to come back in
 *    the same dimension; or, on a path, goes towards the root and never away from it again.
 *
 *  - or else those into dimension l where coordinate l is the root's and, on a path, away from it.  The
 *    same is true of the lowest dimension of a cycle and of where that is entered.
 *
 * Either allows turns within a complete graph at the root's coordinate, none of which lead back there.
 *
 * So what keeps to one model and to the ways of dimension order closes none, as far as no ring does
 * by itself.  ("The turn model": Glass, Ni, "The turn model for adaptive routing", 1992; of its
 * models north-last is of the first kind, west-first of the second.)
 *
 * On one lane, no turns lead round a gap inside a mesh while all pairs that need not go round it keep their
 * ways.  Those there and back along its row have to pass it on one side, say above, or else they close a
 * cycle with what goes straight on at its ends; and those along its column on one side, say at the left.
 * Then some turn from up to left above it at the right, and some from down to right below it at the left.
 * The other two turns of this cycle, left to down and right to up, are those of dimension order.
 *
 * Pure.
 */
#ifndef QOSD_ROUTING_GRID_TURN_MODEL_H
#define QOSD_ROUTING_GRID_TURN_MODEL_H

#include "routing/grid/grid.h"

struct turn_model {
	bool by_entry;		/* of the second kind */
	uint16_t root[GRID_DIMS_MAX];
};

#define TURN_MODELS_MAX 64u

/*
 * Models that suit what g, whose vertices grid numbers, lacks of the grid: with turns next to a fault and not at it.
 * Returns how many there are.
 */
unsigned turn_models(const struct grid *grid, const struct graph *g, struct turn_model *out);
/* Whether a way may lead from u to its neighbour v and on to w. */
bool turn_model_allows(const struct turn_model *m, const struct grid *grid, uint32_t u, uint32_t v, uint32_t w);

#endif
