/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes of an engine for one shape (internal to route/).  First those that the shape has without its faults,
 * as tables and layers: this file makes them of what an engine says of single ways, pairs and links.  Then
 * layered.h stays near to these, as it does when links have gone: it finds ways for the pairs whose own lead over
 * what is missing, and layers that have room for them.
 */
#ifndef QOSD_ROUTE_IDEAL_H
#define QOSD_ROUTE_IDEAL_H

#include "route/graph.h"
#include "route/layers.h"

/* What an engine says.  Layers share two lanes. */
struct ideal_shape {
	const struct route_request *r;
	const struct graph *g;
	uint16_t top;		/* of the tables */
	unsigned n_layers;	/* 1: there is one lane */
	void *arg;
	/* next[v]: the trunk by which v sends to vertex `to`; FABRIC_NONE for `to`, and where there is none */
	void (*ways)(void *arg, uint32_t to, uint32_t *next);
	unsigned (*layer)(void *arg, uint32_t a, uint32_t b);	/* of a pair of vertices, a > b */
	uint8_t (*link)(void *arg, uint32_t v, uint32_t trunk);	/* the kind of a link from v: see layers.h */
};

struct ideal {
	struct lfts *lfts;
	struct route_layers *layers;	/* all vertices are places; without a tree or a grid */
};

void ideal_make(struct ideal *x, const struct ideal_shape *shape);
void ideal_free(struct ideal *x);

/*
 * Fills out as near to r->near and r->near_layers as links allow; NULL with a reason in `why` if not all
 * pairs find ways that are free of credit loops.  o is of r->f.
 */
struct route_layers *ideal_approach(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				    struct buf *why);

#endif
