/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layers: pairs of switches in sets whose routes can't wait for each other in a cycle.
 *
 * Routes that are no up/down routes are free of credit loops if those of each layer are and each
 * layer has virtual lanes of its own.  Both directions of a pair are in the same layer, since what a
 * connection manager sets up has one SL for both (IBA 12.7, a reversible path), and so are all
 * LIDs of the ports on the two switches, so that the SL of a path is a matter of the two switches.
 *
 * Which pairs: those of switches with CA or router ports, each with itself too, in layer 0.
 *
 * The virtual lanes of a link between switches are divided into sets, here called lanes.  Where each
 * layer has a lane of its own, layer i is on lane i of all links.  On a grid (dimension.h) two lanes
 * serve for many layers: bit i of a layer is its lane on all links along dimension i.  On a dragonfly
 * (dragonfly_routes.c) layer 1 is on lane 1, but on lane 0 for the first link in a group that a packet has entered.
 */
#ifndef QOSD_ROUTING_LAYERS_H
#define QOSD_ROUTING_LAYERS_H

#include "routing/route.h"

struct grid;

/*
 * Kinds of links, where layers share lanes: which lane a layer is on.  The number of a bit, perhaps with
 * ROUTE_LINK_NOT_ROUND: that bit of the layer.
 */
#define ROUTE_LINK_BITS 0x0f		/* the number of the bit, … */
#define ROUTE_LINK_NOT_ROUND 0x10	/* … and whether the link is of no ring, though it has lanes as those of one */
#define ROUTE_LINK_FAR 0xfd		/* between groups: bit 0 */
#define ROUTE_LINK_NEAR 0xfe		/* within a group: bit 0, but lane 0 for a packet that came by a far link */
#define ROUTE_LINK_FIRST 0xff		/* not divided into lanes: all layers count as on lane 0 */

struct route_layers {
	unsigned n;		/* layers that have pairs, at least 1 */
	unsigned n_lanes;	/* n, or 2 where layers share lanes */
	uint32_t n_switches, n_places;
	uint32_t *place;	/* [switch]: among those with CA or router ports, or FABRIC_NONE */
	uint8_t *of;		/* [route_layers_pair()]: 0 .. n - 1 */
	/* [switch * link_ports + out port]: the kind of the link; NULL: layers share no lanes */
	uint8_t *link;
	uint32_t link_ports;
	/*
	 * [switch]: the next on the way to the root of the tree by which all multicast goes, in layer 0; of the root,
	 * FABRIC_NONE.  NULL: multicast goes by an up/down order.
	 */
	uint32_t *tree;
	struct grid *grid;	/* its vertices are switches; NULL: the routes are not those of a grid */
};

/* Where a pair of places is in `of`; a != b. */
static inline size_t route_layers_pair(uint32_t a, uint32_t b)
{
	return a > b ? (size_t)a * (a - 1) / 2 + b : (size_t)b * (b - 1) / 2 + a;
}

/*
 * The layer of what ports on the two switches send each other.  0 also of switches without any, and of
 * a port that is on none (FABRIC_NONE).
 */
static inline unsigned route_layer(const struct route_layers *y, uint32_t sw_a, uint32_t sw_b)
{
	uint32_t a = sw_a == FABRIC_NONE ? FABRIC_NONE : y->place[sw_a];
	uint32_t b = sw_b == FABRIC_NONE ? FABRIC_NONE : y->place[sw_b];

	return a == b || a == FABRIC_NONE || b == FABRIC_NONE ? 0 : y->of[route_layers_pair(a, b)];
}

/* The kinds of the links by which a switch sends, by port below link_ports. */
static inline uint8_t *route_links(const struct route_layers *y, uint32_t sw)
{
	return &y->link[(size_t)sw * y->link_ports];
}

/* The kind of the link by which a switch sends from a port. */
static inline uint8_t route_link(const struct route_layers *y, uint32_t sw, unsigned port)
{
	return y->link && port < y->link_ports ? route_links(y, sw)[port] : ROUTE_LINK_FIRST;
}

/*
 * The lane of a layer on a link, by the kinds of that link and of the one that the packet has come by:
 * ROUTE_LINK_FIRST of one from a host, too.
 */
static inline unsigned route_lane_on(uint8_t link, uint8_t by, unsigned layer)
{
	if (link == ROUTE_LINK_FIRST || (link == ROUTE_LINK_NEAR && by == ROUTE_LINK_FAR))
		return 0;
	return layer >> (link >= ROUTE_LINK_FAR ? 0 : link & ROUTE_LINK_BITS) & 1;
}

/* Whether that lane may depend on how a packet has come. */
static inline bool route_lanes_by_entry(const struct route_layers *y)
{
	return y && y->link && !y->grid;
}

void route_layers_free(struct route_layers *y);	/* NULL is fine */
/*
 * The same for a fabric with other switches: to[] is, for each switch of y's fabric, the one of n that it
 * is there, or FABRIC_NONE.  A tree is one no more where switches on it are left out: see tree.h.
 */
struct route_layers *route_layers_on(const struct route_layers *y, uint32_t n, const uint32_t *to);

#endif
