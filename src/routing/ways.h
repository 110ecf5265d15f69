/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes costs of links, and orders vertices, for the searches of toll.c and confined.c (internal to
 * routing/).
 *
 * Both search for the routes of least cost to a vertex.  The way of a vertex is the trunk by which it
 * sends on, FABRIC_NONE if it has no route.
 */
#ifndef QOSD_ROUTING_WAYS_H
#define QOSD_ROUTING_WAYS_H

#include "routing/channel.h"
#include "routing/updn/turns.h"

/* Cost of a route on a link of the best rate. */
#define ROUTE_COST 16u

/* Cost of a hop: many times the average cost of the routes on a link. */
uint64_t ways_hop_cost(const struct graph *g);
/* [link]: cost of one route; the caller frees it. */
uint32_t *ways_link_costs(const struct channels *c);
/* [trunk]: cost of one route, which loads all links of the trunk equally; the caller frees it. */
uint32_t *ways_trunk_costs(const struct channels *c);

/*
 * Phases in which vertices get their ways, so that all routes are legal: first the vertices from which a
 * route leads down all the way, through which other vertices may go down too; then those that have to go
 * up; then those that need the turn at the hub, if the order has one.
 */
enum way_phase { WAY_ANY, WAY_DOWN, WAY_UP, WAY_BY_HUB };

/*
 * May u send through v in this phase? trunk: from u to v; on: the way of v, or FABRIC_NONE if v is the
 * destination.
 */
static inline bool way_is_open(enum way_phase phase, const struct turns *legal, uint32_t u, uint32_t v,
			       uint32_t trunk, uint32_t on)
{
	switch (phase) {
	case WAY_ANY:
		return true;
	case WAY_DOWN:
		return u > v;
	case WAY_UP:
		return u < v;
	case WAY_BY_HUB:
		return on == FABRIC_NONE || turns_allowed(legal, trunk, on);
	}
	return false;
}

/*
 * Sorts the vertices that have a way ([vertex]) into `order`, each before the vertex that its way leads
 * to.  Leaves out vertices whose ways form a cycle, and those that such a cycle leads to.  Returns their
 * number.  waits: scratch space, [vertex].
 */
uint32_t ways_sort(const struct graph *g, const uint32_t *way, uint32_t *waits, uint32_t *order);

#endif
