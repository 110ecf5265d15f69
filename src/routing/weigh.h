/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Legal ways by what all lanes carry already (internal to routing/).
 *
 * One destination after the other: each vertex takes, of its legal ways, the one whose lanes have
 * the least routes of hosts together; then these count.  That is how SSSP routing balances
 * (Hoefler, Schneider, Lumsdaine: "Optimized routing for large-scale InfiniBand networks", 2009),
 * within an up/down order.  Where links are missing or hosts sit anywhere, nothing else is as even.
 *
 * The routes of the destination itself do not count while it chooses: no two hosts send to it
 * at a time in any permutation, so that its routes are best on the same lanes.
 */
#ifndef QOSD_ROUTING_WEIGH_H
#define QOSD_ROUTING_WEIGH_H

#include "routing/updn/order.h"

struct weigh;

/*
 * down: so many times what a lane carries counts on the way down.  Where much counts, sources
 * that are far apart come down to a destination by the same lanes, which few destinations share
 * then: less gets in each other's way than where each source chooses for itself, with hardly
 * more on any lane.
 *
 * hop: what a hop costs, in routes on a lane; then a way may be longer if what it goes round
 * carries more.  0: only shortest legal ways (updn_distances()).  o must outlive the result.
 */
struct weigh *weigh_new(const struct updn_order *o, uint64_t hop, unsigned down);
void weigh_free(struct weigh *w);		/* NULL is fine */
/* Begins with a destination vertex.  down, total: the distances to d (updn_distances()). */
void weigh_begin(struct weigh *w, uint32_t d, const uint16_t *down, const uint16_t *total);
/*
 * Entries for the LIDs of n_dests ends on the destination vertex, on all vertices that have a
 * legal way to it, but for itself.
 */
void weigh_route(struct weigh *w, struct lfts *out, const struct dest *dests, unsigned n_dests);
/* Counts the routes that the tables have to them. */
void weigh_add(struct weigh *w, const struct lfts *l, const struct dest *dests, unsigned n_dests);
/*
 * Removes what weigh_route() or weigh_add() has counted, so that weigh_route() can choose again:
 * it sees the load of all other destinations then, where at first it saw only those before.
 */
void weigh_take_back(struct weigh *w, const struct lfts *l, const struct dest *dests,
		     unsigned n_dests);

#endif
