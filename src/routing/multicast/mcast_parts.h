/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by mcast_tree.c and mcast_move.c only: what a forest is made of, by vertices of the order. */
#ifndef QOSD_ROUTING_MULTICAST_MCAST_PARTS_H
#define QOSD_ROUTING_MULTICAST_MCAST_PARTS_H

#include "routing/multicast/mcast_tree.h"
#include "routing/updn/order.h"

/* The way from every vertex to one of them. */
struct span {
	uint32_t anchor;
	bool universal;		/* legal for all vertices with hosts */
	uint32_t *parent;	/* [vertex]; FABRIC_NONE: the anchor, or no way */
	uint16_t *depth;	/* [vertex]; FAR: no way */
	bool *legal;		/* [vertex]: the way goes up only, or as unicast by the hub */
};

struct mcast_forest {
	const struct updn_order *o;
	const struct graph *g;
	uint32_t *vertex;	/* [switch] */
	bool *able;		/* [vertex]: its switch forwards the forest's MLIDs */
	struct span **spans;	/* [vertex]: made when it is asked for first, and kept */
};

const struct span *span_of(struct mcast_forest *w, uint32_t anchor);
/* The port by which a tree with that salt goes from v to its parent: of equal links one. */
const struct fabric_port *span_exit(const struct graph *g, uint32_t v, uint32_t parent,
				    unsigned salt);

#endif
