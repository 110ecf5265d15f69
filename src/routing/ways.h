/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What searches for the ways of least cost to a vertex have in common, toll.c and confined.c (internal to
 * routing/): what routes and hops cost, in which phases legal ways are found, and the order of ways.
 *
 * The way of a vertex is the trunk by which it goes on, FABRIC_NONE if it has none.
 */
#ifndef QOSD_ROUTING_WAYS_H
#define QOSD_ROUTING_WAYS_H

#include "routing/channel.h"
#include "routing/updn/turns.h"

/* What a route costs on a lane of the best rate. */
#define ROUTE_COST 16u

/* A hop costs as much as very many times the routes that a lane carries on average. */
uint64_t ways_hop_cost(const struct graph *g);
/* The rate of a lane, as rate_tenths() has it; 0: it is not known. */
unsigned ways_rate(const struct channels *c, uint32_t lane);
/* That of the fastest lane. */
unsigned ways_best_rate(const struct channels *c);
/* [lane]: what one route costs; the caller frees it. */
uint32_t *ways_lane_costs(const struct channels *c);
/* [trunk]: what one route costs, which a trunk carries on all its lanes; the caller frees it. */
uint32_t *ways_trunk_costs(const struct channels *c);

/*
 * Which vertices find their ways, one phase after the other, so that all are legal: those that can go down all
 * the way do, whoever comes by them may go down, too; then others go up; then by the hub, if the order has one.
 */
enum way_phase { WAY_ANY, WAY_DOWN, WAY_UP, WAY_BY_HUB };

/* May u go by v in this phase?  trunk: from u to v; on: the way of v, or FABRIC_NONE if that is the end. */
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
 * Fills order with the vertices that have a way ([vertex]), each before the one that it leads to, but for those
 * on ways that go in a cycle, and those that these lead to.  Returns how many.  waits: room, [vertex].
 */
uint32_t ways_sort(const struct graph *g, const uint32_t *way, uint32_t *waits, uint32_t *order);

#endif
