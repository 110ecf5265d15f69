/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects the turns that routes around a grid's faults, and its tree, may take besides dimension order.
 *
 * Internal to routing/.  Dimension order turns only from lower dimensions into higher ones.  A turn model
 * has a root, which is a place, and allows some of the other turns:
 *
 *  - either those out of dimension m where coordinate m is the root's and, on a path, those towards the
 *    root.  A cycle has a highest dimension.  It leaves that dimension at one coordinate only and would
 *    have to come back to it in the same dimension; or, on a path, it goes towards the root and never away
 *    from it again.
 *  - or those into dimension l where coordinate l is the root's and, on a path, those away from the root.
 *    The same argument applies to the lowest dimension of a cycle and the coordinate where the cycle
 *    enters it.
 *
 * Both kinds allow turns within a complete graph at the root's coordinate, none of which lead back there.
 *
 * So routes that keep to one model and to dimension order close no cycle, as far as no ring does by
 * itself.  ("The turn model": Glass, Ni, "The turn model for adaptive routing", 1992; of its models
 * north-last is of the first kind, west-first of the second.)
 *
 * On one VL set, no turns lead around a gap inside a mesh while all pairs unaffected by the gap keep their
 * routes.  Both directions along the gap's row have to pass it on one side, say above, or they close a
 * cycle with routes that go straight on at the ends; and both directions along its column on one side, say
 * at the left.  Then some route turns from up to left above the gap at the right, and some from down to
 * right below it at the left.  The other two turns of this cycle, left to down and right to up, are those
 * of dimension order.
 *
 * Pure.
 */
#ifndef QOSD_ROUTING_GRID_TURN_MODEL_H
#define QOSD_ROUTING_GRID_TURN_MODEL_H

#include "routing/grid/grid.h"

struct turn_model {
	bool by_entry;		/* the model is of the second kind */
	uint16_t root[GRID_DIMS_MAX];
};

#define TURN_MODELS_MAX 64u

/*
 * Fills in models that suit the links and switches that g, whose vertices grid numbers, lacks of the grid:
 * their turns are next to a fault and not at it.  out: room for TURN_MODELS_MAX.  Returns their number.
 */
unsigned turn_models(const struct grid *grid, const struct graph *g, struct turn_model *out);
/* Whether a route may lead from u to its neighbour v and on to w. */
bool turn_model_allows(const struct turn_model *m, const struct grid *grid, uint32_t u, uint32_t v, uint32_t w);

#endif
