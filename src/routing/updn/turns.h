/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allows turns from down to up beyond an order's legal paths while no cycle forms (internal to routing/).
 *
 * Legal paths alone do not connect all pairs of a layered fabric: a spine reaches another spine only by a
 * leaf, where the path turns up again.  A turn is allowed if the channels still cannot wait for each other
 * in a cycle, counting all legal paths of the order, whether or not packets use them.  So any mixture of
 * legal paths and allowed turns is free of credit loops.  Nue routing introduced the idea of adding
 * dependencies one at a time while there is no cycle (Domke, Hoefler, Matsuoka: "Routing on the dependency
 * graph", 2016).
 *
 * A channel is a trunk in one direction: links of a trunk are interchangeable.
 */
#ifndef QOSD_ROUTING_UPDN_TURNS_H
#define QOSD_ROUTING_UPDN_TURNS_H

#include "routing/updn/order.h"

struct turns;

/*
 * Starts with the turns on routes to the order's hub, if it is safe, and no others.  o must outlive the
 * result.
 */
struct turns *turns_new(const struct updn_order *o);
void turns_free(struct turns *t);		/* NULL is fine */
/* Leaves dead[link] links out of all cycles.  To be called before any turn is allowed. */
void turns_cut(struct turns *t, const bool *dead);
/* Bounds the work: after this many refusals turns_allow() refuses every new turn without a search. */
void turns_bound(struct turns *t, uint32_t refusals);
/*
 * Whether a path may go from trunk `in`, which leads to v, to trunk `out`, which leaves v: the turn is
 * legal or already allowed.  Both are indexes of the graph's trunks.
 */
bool turns_allowed(const struct turns *t, uint32_t in, uint32_t out);
/* As turns_allowed(), but allows a new turn if it closes no cycle. */
bool turns_allow(struct turns *t, uint32_t in, uint32_t out);
/* Allows a turn without a search; the caller knows that it closes no cycle. */
void turns_take(struct turns *t, uint32_t in, uint32_t out);
/* Whether routes to the hub may turn at v, which is the hub or above it. */
bool turns_by_hub(const struct turns *t, uint32_t v);
/* Number of turns allowed at v, not counting the hub's. */
uint32_t turns_at(const struct turns *t, uint32_t v);

#endif
