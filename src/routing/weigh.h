/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses legal routes by the load that all links already carry (internal to routing/).
 *
 * Destinations are routed one after another: each vertex takes, of its legal routes, the one whose links
 * together carry the fewest routes of hosts; then these routes count.  SSSP routing balances in this way
 * (Hoefler, Schneider, Lumsdaine: "Optimized routing for large-scale InfiniBand networks", 2009); here it
 * works within an up/down order.  Where links are missing or hosts sit anywhere, no other method is
 * as even.
 *
 * The routes of the current destination do not count while it chooses: no two hosts send to it at a time
 * in any permutation, so its routes are best on the same links.
 */
#ifndef QOSD_ROUTING_WEIGH_H
#define QOSD_ROUTING_WEIGH_H

#include "routing/updn/order.h"

struct weigh;

/*
 * down: factor by which load counts on the way down.  With a large factor, sources that are far apart come
 * down to a destination by the same links, which few destinations then share.  Flows then conflict less
 * than if each source chose for itself, with hardly more load on any link.
 *
 * hop: cost of a hop, in routes on a link; a route may then be longer if it avoids a greater load.  0:
 * only shortest legal routes (updn_distances()).  o must outlive the result.
 */
struct weigh *weigh_new(const struct updn_order *o, uint64_t hop, unsigned down);
void weigh_free(struct weigh *w);		/* NULL is fine */
/* Starts destination vertex d.  down, total: the distances to d (updn_distances()). */
void weigh_begin(struct weigh *w, uint32_t d, const uint16_t *down, const uint16_t *total);
/*
 * Sets the entries for the LIDs of n_dests ends on the destination vertex, at all vertices with a legal
 * route to it, except at the destination vertex itself.
 */
void weigh_route(struct weigh *w, struct lfts *out, const struct dest *dests, unsigned n_dests);
/* Counts the routes that table l has to these ends. */
void weigh_add(struct weigh *w, const struct lfts *l, const struct dest *dests, unsigned n_dests);
/*
 * Removes what weigh_route() or weigh_add() counted, so that weigh_route() can choose again: it then sees
 * the load of all other destinations, instead of only those routed before.
 */
void weigh_take_back(struct weigh *w, const struct lfts *l, const struct dest *dests,
		     unsigned n_dests);

#endif
