/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Legal ways by what all lanes carry already (internal to route/).
 *
 * One destination after the other: each vertex takes, of its shortest legal ways, the one
 * whose lanes have the least routes of hosts together; then these count.  That is how
 * SSSP routing balances (Hoefler, Schneider, Lumsdaine: "Optimized routing for large-scale
 * InfiniBand networks", 2009), within an up/down order.  A regular tree is spread better by
 * digits (dmodk.h); where links are missing or hosts sit anywhere, nothing else is as even.
 */
#ifndef QOSD_ROUTE_WEIGH_H
#define QOSD_ROUTE_WEIGH_H

#include "route/order.h"

struct weigh;

struct weigh *weigh_new(const struct graph *g);
void weigh_free(struct weigh *w);		/* NULL is fine */
/*
 * Entries for the LIDs of n_dests ends on vertex d, on all vertices that have a legal way to d,
 * but for d itself.  down, total: the distances to d (updn_distances()).
 */
void weigh_route(struct weigh *w, struct lfts *out, uint32_t d, const uint16_t *down,
		 const uint16_t *total, const struct dest *dests, unsigned n_dests);
/*
 * Removes the load of routes that weigh_route() made before, so that it can choose them again: this time
 * it sees the load of all other destinations, where at first it saw only those before.
 */
void weigh_take_back(struct weigh *w, const struct lfts *out, uint32_t d, const uint16_t *down,
		     const uint16_t *total, const struct dest *dests, unsigned n_dests);

#endif
