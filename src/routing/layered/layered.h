/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes any fabric in layers without a credit loop, by paths as short as the number of layers permits.
 *
 * Internal to routing/.  The routes are those of toll.h, at first without tolls.  The pairs of switches are
 * put into layers one by one, each into the first layer that has room (LASH: Skeie, Lysne, Theiss,
 * "Layered shortest path (LASH) routing in irregular system area networks", 2002).  The turns of pairs
 * that no layer has room for become more expensive, the ends of these pairs are routed again, and so on
 * until few pairs are left without a layer.  These take other first hops, push others aside, or use
 * up/down routes if nothing else helps.  Where all routes are made anew, relief.h finally moves routes off
 * the busiest links, as far as layers have room.
 *
 * Layer 0 begins with all turns that are legal by the up/down order, and these turns never become more
 * expensive.  So any number of layers suffices, even one, and routes that only use up/down paths, as
 * multicast does, are free of credit loops together with layer 0.
 *
 * Where many of many pairs find no room, or finding that out takes too long, confined.c makes all routes
 * anew within turns that layers allow from the start.
 *
 * Near to existing tables (r->near), only routes that do not arrive any more are replaced, and pairs whose
 * routes all stay keep their layers.
 *
 * Near to tables whose layers share VL sets, the new layers share them too.  Near to tables whose multicast
 * follows a tree (layers.h), multicast follows one again: layer 0 then begins with the turns of the tree,
 * and no routes are certain to find room.
 *
 * On a grid, routes around missing links change as little as they can (turn_round.h).  If pairs then find
 * no room, the routes keep to a turn model with a tree of its own (turn_model.h).
 */
#ifndef QOSD_ROUTING_LAYERED_LAYERED_H
#define QOSD_ROUTING_LAYERED_LAYERED_H

#include "routing/layers.h"

/* Statistics of a run, for messages. */
struct layered_outcome {
	unsigned rounds;	/* rounds in which pairs were placed */
	uint32_t squeezed;	/* pairs that had no room until an end took another first hop */
	uint32_t placed;	/* placements of single pairs, without those that kept what they had */
	uint32_t blocked;	/* pairs without a layer after the last round; 0: success */
};

/*
 * Fills the tables (all LFT_DROP on entry) for all LIDs of r.  Returns the layers: at most `most` (1 ..
 * 255), or as many as r->near_layers if that shares VL sets or has a tree.  NULL if some pairs have no
 * layer; the tables are then undefined.  Without shared VL sets or a tree, that happens only if o does not
 * connect all pairs that links connect.  o is of r->f.  *did may be NULL.
 */
struct route_layers *layered_routes(const struct route_request *r, const struct updn_order *o,
				    unsigned most, struct lfts *out, struct layered_outcome *did);

#endif
