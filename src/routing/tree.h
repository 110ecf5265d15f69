/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One tree of all switches, by which multicast goes where unicast keeps to no up/down order (internal
 * to routing/ but for tree_order()).
 *
 * A tree is an array: tree[switch] is the next switch on the way to the root, FABRIC_NONE for the root.
 * A packet turns on it from any of its links into any other, so these turns have to be free of credit
 * loops together with those of unicast in the same layer: see tree_on_grid().
 */
#ifndef QOSD_ROUTING_TREE_H
#define QOSD_ROUTING_TREE_H

#include "routing/grid/grid.h"
#include "routing/grid/turn_model.h"
#include "routing/layers.h"
#include "routing/updn/order.h"

/*
 * A tree along the links of a grid, none of which crosses a dateline, with the root of a model and turns that this
 * allows: it has links of a dimension only where all higher coordinates are the root's or, by_entry, all
 * lower ones.  The caller frees it; where the grid has faults it may be in pieces.
 */
uint32_t *tree_on_grid(const struct graph *g, const struct grid *grid, const struct turn_model *m);
/*
 * Makes one tree of the pieces that there are when links and switches are gone: whoever leads to a switch that is
 * not linked to it any more finds another one, if possible the other way round the ring of y, which is of g's
 * fabric.  As many trees remain as g has parts.
 */
void tree_mend(const struct graph *g, uint32_t *tree, const struct route_layers *y);
/* An order whose only legal paths are those along the tree. */
struct updn_order *tree_order(const struct fabric *f, const uint32_t *tree);

#endif
