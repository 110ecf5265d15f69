/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Leads routes around the gaps of a grid with as few new turns as possible (internal to routing/).
 *
 * A ring that lacks a link or a switch is a path: routes over the gap go the other way round instead.
 * Nothing can wait in a cycle on a path, on either VL set, so the pairs keep their layers.  OpenSM's
 * Torus-2QoS does the same.  Off the rings, the switch before the gap sends to the neighbour nearest to
 * the destination, and all switches that lead to it still do: their turns stay the same.
 *
 * Within a turn model, all vertices whose routes lead over the gap get new routes instead, the shortest
 * that the model's turns permit.
 */
#ifndef QOSD_ROUTING_GRID_TURN_ROUND_H
#define QOSD_ROUTING_GRID_TURN_ROUND_H

#include "routing/channel.h"
#include "routing/grid/turn_model.h"
#include "routing/layers.h"

struct turn_round;

/* y: its rings and tree, by switches of c's fabric, are followed; c and y must outlive the result. */
struct turn_round *turn_round_new(const struct channels *c, const struct route_layers *y);
/*
 * Restricts new routes to the turns of a model; grid tells the places of c's vertices.  Both must outlive
 * the result.  NULL: any turns, with as few changes as possible.
 */
void turn_round_within(struct turn_round *x, const struct grid *grid, const struct turn_model *m);
void turn_round_free(struct turn_round *x);	/* NULL is fine */
/*
 * Changes the entries for one LID on vertex d whose routes lead over missing links.  Some routes may still
 * not arrive.
 */
void turn_round(struct turn_round *x, struct lfts *out, uint32_t d, uint16_t lid);

#endif
