/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes on any fabric without credit loops in any layer, as near to the shortest as a number of
 * layers lets them be (internal to routing/).
 *
 * The ways are those of toll.h, free at first.  The pairs of switches are put into layers one by
 * one, each into the first that has room (LASH: Skeie, Lysne, Theiss, "Layered shortest path (LASH)
 * routing in irregular system area networks", 2002).  The turns of those that no layer has room
 * for get more expensive, the ends of these pairs are routed again, and so on until few are left without a
 * layer.  These take other first hops, or push others aside, and go by up/down ways if nothing else helps.
 *
 * Where all ways are made anew, routes are finally taken off the busiest lanes (relief.h), as far as layers have room.
 *
 * Layer 0 begins with all turns that are legal by the up/down order, which are never made more
 * expensive: so any number of layers suffices, one too, and what goes by up/down ways only, as
 * multicast does, is free of credit loops in layer 0 together with it.
 *
 * Where many of many pairs find no room, or that takes too long to find out, all ways are made anew within
 * turns that layers allow from the start (confined.c).
 *
 * Near to tables that there were (r->near), only ways that do not arrive any more are looked for, and
 * pairs whose ways all stay keep their layers.
 *
 * Near to tables whose layers share lanes, they go on so.  Near to tables by which multicast goes along a tree
 * (layers.h), so does multicast: then layer 0 begins with the turns of the tree, and there are no ways that are
 * sure to find room.
 * On a grid, ways round what is missing change as little as they can (turn_round.h) or, if pairs find no room
 * so, keep to a turn model with a tree of its own (turn_model.h).
 */
#ifndef QOSD_ROUTING_LAYERED_LAYERED_H
#define QOSD_ROUTING_LAYERED_LAYERED_H

#include "routing/layers.h"

/* What it took, to tell of. */
struct layered_outcome {
	unsigned rounds;	/* in which pairs were placed */
	uint32_t squeezed;	/* pairs that an end got another first hop for, as they had no room */
	uint32_t placed;	/* how often a pair was placed by itself, not as one of those that keep what they had */
	uint32_t blocked;	/* pairs without a layer after the last; 0: all is well */
};

/*
 * Fills the tables (all LFT_DROP on entry) for all LIDs of r and returns the layers, at most `most`
 * (1 .. 255), or as many as r->near_layers if that shares lanes or has a tree.  NULL, which else can only be if o does
 * not connect all pairs that are connected at all: the tables are of no use then.  o is of r->f.  *did may be NULL.
 */
struct route_layers *layered_routes(const struct route_request *r, const struct updn_order *o,
				    unsigned most, struct lfts *out, struct layered_outcome *did);

#endif
