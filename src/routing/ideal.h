/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns the paths of an engine for one particular shape into tables and layers (internal to routing/).
 *
 * Such an engine routes its shape as if nothing were missing; this file turns its paths, layers of pairs
 * and kinds of links into tables.  layered.h then stays as near to these tables as it can: it finds other
 * paths for the pairs whose own are broken, and layers with room for them.
 */
#ifndef QOSD_ROUTING_IDEAL_H
#define QOSD_ROUTING_IDEAL_H

#include "routing/graph.h"
#include "routing/layers.h"

/* What an engine provides.  Its layers share two VL sets unless there is only one. */
struct ideal_shape {
	const struct route_request *r;
	const struct graph *g;
	uint16_t top;		/* highest LID in the tables */
	unsigned n_layers;	/* 1: one VL set */
	void *arg;
	/*
	 * Sets next[v] to the trunk by which v sends to vertex `to`; FABRIC_NONE for v == to and for a v
	 * without a path.
	 */
	void (*ways)(void *arg, uint32_t to, uint32_t *next);
	unsigned (*layer)(void *arg, uint32_t a, uint32_t b);	/* layer of the pair of vertices a > b */
	/* kind of the links of a trunk that leaves v (layers.h) */
	uint8_t (*link)(void *arg, uint32_t v, uint32_t trunk);
};

struct ideal {
	struct lfts *lfts;
	struct route_layers *layers;	/* every vertex is a place; no tree, no grid */
};

void ideal_make(struct ideal *x, const struct ideal_shape *shape);
void ideal_free(struct ideal *x);

/*
 * Fills `out` with tables as near to r->near and r->near_layers as the links allow.  NULL, with the reason
 * appended to `why`, if some pair finds no path without a credit loop.  o is an order of r->f.
 */
struct route_layers *ideal_approach(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				    struct buf *why);

#endif
