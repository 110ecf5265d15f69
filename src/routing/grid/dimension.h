/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes dimension-order routes on a grid, and the classes that keep them deadlock-free (internal to
 * routing/).
 *
 * A path corrects one coordinate after another, lowest dimension first, each in the shorter direction.
 * Between opposite places of a ring both directions are equally short; the choice depends on both ends, is
 * the same for both directions of a pair, and spreads pairs over both.
 *
 * On an intact grid all paths are shortest paths.  On a single VL rings would have credit loops, so each
 * has a dateline, between its last coordinate and 0.  The class of a pair tells which datelines its path
 * crosses, and a packet that leaves a switch along dimension i uses the VL set that bit i of the class
 * selects.  No path goes more than half-way round, so those that cross the dateline close no cycle on the
 * far side of the ring, and the others close none at the dateline.  Torus-2QoS of OpenSM has the same
 * classes.  Paths and complete graphs need none.
 *
 * Pure.
 */
#ifndef QOSD_ROUTING_GRID_DIMENSION_H
#define QOSD_ROUTING_GRID_DIMENSION_H

#include "routing/grid/grid.h"

/*
 * Sets next[v] to the trunk by which v sends to vertex `to`; FABRIC_NONE for `to` itself, and where the
 * next link or switch of the path is missing.  Entries of other vertices may still lead there; the caller
 * has to mend such paths.
 */
void dimension_ways(const struct graph *g, const struct grid *grid, uint32_t to, uint32_t *next);
/*
 * Bit i: the path between a and b, either way, crosses the dateline of dimension i.  Only rings
 * have bits, and they are the lowest dimensions.
 */
uint32_t dimension_class(const struct grid *grid, uint32_t a, uint32_t b);
/* The number of bits that a class has; 0 if a single virtual lane suffices. */
unsigned dimension_bits(const struct grid *grid);

#endif
