/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways round what is missing of a grid, with as few new turns as possible (internal to routing/).
 *
 * A ring that lacks a link or a switch is a path: whoever would have gone over the gap goes the other
 * way, and since nothing can wait in a cycle on a path, on either lane, the pairs keep their layers.
 * OpenSM's Torus-2QoS does the same.  Elsewhere, the switch before the gap sends to the neighbour that is
 * nearest to the destination, and all that lead to that switch still do: their turns are the same.
 *
 * Within a turn model all whose ways lead over the gap get new ones instead, the shortest of its turns.
 */
#ifndef QOSD_ROUTING_GRID_TURN_ROUND_H
#define QOSD_ROUTING_GRID_TURN_ROUND_H

#include "routing/channel.h"
#include "routing/grid/turn_model.h"
#include "routing/layers.h"

struct turn_round;

/* y: whose rings and tree there are, by switches of c's fabric; both outlive the result. */
struct turn_round *turn_round_new(const struct channels *c, const struct route_layers *y);
/*
 * From now on new ways take only turns of a model, by the places of c's vertices in grid; both outlive the result.
 * NULL: any turns, with as few changes as possible.
 */
void turn_round_within(struct turn_round *x, const struct grid *grid, const struct turn_model *m);
void turn_round_free(struct turn_round *x);	/* NULL is fine */
/*
 * Changes the entries that lead to vertex d, for one LID there, where they lead over what is missing.  Some
 * may be left that do not arrive.
 */
void turn_round(struct turn_round *x, struct lfts *out, uint32_t d, uint16_t lid);

#endif
