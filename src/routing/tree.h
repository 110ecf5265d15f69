/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds the single tree of switches that multicast uses where unicast follows no up/down order.
 *
 * Internal to routing/ except for tree_order().  A tree is an array: tree[switch] is the next switch
 * towards the root, FABRIC_NONE for the root.  A packet may turn on a switch from any link of the tree
 * into any other, so these turns and those of unicast in the same layer together must be free of credit
 * loops: see tree_on_grid().
 */
#ifndef QOSD_ROUTING_TREE_H
#define QOSD_ROUTING_TREE_H

#include "routing/grid/grid.h"
#include "routing/grid/turn_model.h"
#include "routing/layers.h"
#include "routing/updn/order.h"

/*
 * A tree along the links of a grid that crosses no dateline.  m provides the root and the turns that such
 * a tree may take: the tree has links of a dimension only where all higher coordinates are the root's or,
 * by_entry, all lower ones.  The caller frees the array.  Where the grid has faults the tree may be in
 * pieces.
 */
uint32_t *tree_on_grid(const struct graph *g, const struct grid *grid, const struct turn_model *m);
/*
 * Joins the pieces that a tree falls into when links and switches fail.  A switch whose link towards the
 * root is gone gets another one, if possible the other way round its ring of y, which is of g's fabric.
 * One tree remains for each connected component of g.
 */
void tree_mend(const struct graph *g, uint32_t *tree, const struct route_layers *y);
/* An order whose only legal paths are those along the tree; the caller frees it by updn_order_free(). */
struct updn_order *tree_order(const struct fabric *f, const uint32_t *tree);

#endif
