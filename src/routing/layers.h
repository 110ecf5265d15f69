/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Assigns pairs of switches to layers so that the routes of one layer have no credit loop.
 *
 * Routes that are not up/down routes are free of credit loops if each layer is free of them and has VLs of
 * its own.  Both directions of a pair are in the same layer, because a connection manager uses one SL for
 * both (IBA 12.7, a reversible path).  All LIDs of the ports on the two switches are in the same layer
 * too, so that the SL of a path depends on the two switches alone.
 *
 * The pairs are those of switches with CA or router ports; a switch paired with itself is in layer 0.
 *
 * The VLs of a link between switches are divided into VL sets.  Where each layer has a
 * VL set of its own, layer i uses VL set i of all links.  On a grid (dimension.h) two VL sets serve for many
 * layers: bit i of a layer is its VL set on all links along dimension i.  On a dragonfly
 * (dragonfly_routes.c) layer 1 uses VL set 1, except on the first link within a group that a packet has
 * entered, where it uses VL set 0.
 */
#ifndef QOSD_ROUTING_LAYERS_H
#define QOSD_ROUTING_LAYERS_H

#include "routing/route.h"

struct grid;

/*
 * Kinds of links, where layers share VL sets: the kind tells which VL set a layer uses.  Either a bit number,
 * perhaps with ROUTE_LINK_NOT_ROUND, where the VL set is that bit of the layer; or one of the values below.
 */
#define ROUTE_LINK_BITS 0x0f		/* mask of the bit number */
/* flag: the link is not part of a ring, though its VL sets are those of one */
#define ROUTE_LINK_NOT_ROUND 0x10
#define ROUTE_LINK_FAR 0xfd		/* between groups; the VL set is bit 0 */
/* within a group; the VL set is bit 0, but 0 for a packet that arrived by a far link */
#define ROUTE_LINK_NEAR 0xfe
#define ROUTE_LINK_FIRST 0xff		/* not divided into VL sets; every layer uses VL set 0 */

struct route_layers {
	unsigned n;		/* layers with pairs, at least 1 */
	unsigned n_vl_sets;	/* n, or 2 where layers share VL sets */
	uint32_t n_switches, n_places;
	uint32_t *place;	/* [switch]: index among switches with CA or router ports, or FABRIC_NONE */
	uint8_t *of;		/* [route_layers_pair()]: layer, 0 .. n - 1 */
	/* [switch * link_ports + out port]: kind of the link; NULL: layers share no VL sets */
	uint8_t *link;
	uint32_t link_ports;
	/*
	 * [switch]: the next switch towards the root of the tree that all multicast uses, in layer 0;
	 * FABRIC_NONE for the root.  NULL: multicast uses an up/down order.
	 */
	uint32_t *tree;
	struct grid *grid;	/* with switches as vertices; NULL: the routes are not a grid's */
};

/* The index of a pair of places in `of`; a != b. */
static inline size_t route_layers_pair(uint32_t a, uint32_t b)
{
	return a > b ? (size_t)a * (a - 1) / 2 + b : (size_t)b * (b - 1) / 2 + a;
}

/*
 * The layer of traffic between ports on the two switches.  0 if either switch has no such port or is
 * FABRIC_NONE.
 */
static inline unsigned route_layer(const struct route_layers *y, uint32_t sw_a, uint32_t sw_b)
{
	uint32_t a = sw_a == FABRIC_NONE ? FABRIC_NONE : y->place[sw_a];
	uint32_t b = sw_b == FABRIC_NONE ? FABRIC_NONE : y->place[sw_b];

	return a == b || a == FABRIC_NONE || b == FABRIC_NONE ? 0 : y->of[route_layers_pair(a, b)];
}

/* [port below link_ports]: kind of the link on which a switch sends from that port. */
static inline uint8_t *route_links(const struct route_layers *y, uint32_t sw)
{
	return &y->link[(size_t)sw * y->link_ports];
}

/* The kind of the link on which a switch sends from a port. */
static inline uint8_t route_link(const struct route_layers *y, uint32_t sw, unsigned port)
{
	return y->link && port < y->link_ports ? route_links(y, sw)[port] : ROUTE_LINK_FIRST;
}

/*
 * The VL set of a layer on a link of kind `link`, for packets that arrived by a link of kind `by`.
 * ROUTE_LINK_FIRST also stands for a link from a host.
 */
static inline unsigned route_vl_set_on(uint8_t link, uint8_t by, unsigned layer)
{
	if (link == ROUTE_LINK_FIRST || (link == ROUTE_LINK_NEAR && by == ROUTE_LINK_FAR))
		return 0;
	return layer >> (link >= ROUTE_LINK_FAR ? 0 : link & ROUTE_LINK_BITS) & 1;
}

/* Whether the VL set may depend on the link by which a packet arrived. */
static inline bool route_vl_sets_by_entry(const struct route_layers *y)
{
	return y && y->link && !y->grid;
}

void route_layers_free(struct route_layers *y);	/* NULL is fine */
/*
 * A copy of y for a fabric of n switches.  to[switch of y's fabric]: the switch in the new fabric, or
 * FABRIC_NONE.  Where switches of the tree are left out, it falls apart: see tree.h.
 */
struct route_layers *route_layers_on(const struct route_layers *y, uint32_t n, const uint32_t *to);

#endif
