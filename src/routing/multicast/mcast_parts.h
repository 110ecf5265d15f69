/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Defines the parts of a forest, by vertices of the order (internal to mcast_tree.c and mcast_move.c). */
#ifndef QOSD_ROUTING_MULTICAST_MCAST_PARTS_H
#define QOSD_ROUTING_MULTICAST_MCAST_PARTS_H

#include "routing/multicast/mcast_tree.h"
#include "routing/updn/order.h"

/* The routes from every vertex to one vertex, the anchor. */
struct span {
	uint32_t anchor;
	bool universal;		/* legal for all vertices with hosts */
	uint32_t *parent;	/* [vertex]; FABRIC_NONE: the anchor, or no route */
	uint16_t *depth;	/* [vertex]; FAR: no route */
	bool *legal;		/* [vertex]: the route only goes up, or is unicast's route to the hub */
};

struct mcast_forest {
	const struct updn_order *o;
	const struct graph *g;
	uint32_t *vertex;	/* [switch]: its vertex */
	bool *able;		/* [vertex]: its switch forwards the forest's MLIDs */
	struct span **spans;	/* [anchor vertex]: made when first needed, and kept */
};

const struct span *span_of(struct mcast_forest *w, uint32_t anchor);
/* The port by which a tree with that salt leads from v to its parent; salt chooses among equal links. */
const struct fabric_port *span_exit(const struct graph *g, uint32_t v, uint32_t parent,
				    unsigned salt);

#endif
