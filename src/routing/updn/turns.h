/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns from down to up that an order allows beyond its legal paths (internal to routing/).
 *
 * Legal paths alone don't connect all pairs of a layered fabric: a spine reaches another
 * only by a leaf, where the path turns up again.  A turn is taken if the channels still
 * can't wait for each other in a cycle, all legal paths of the order counted, whether or
 * not anybody goes by them.  So any mixture of legal paths and of turns that were allowed
 * is free of credit loops.  The idea of adding dependencies one at a time as long as there
 * is no cycle is that of Nue routing (Domke, Hoefler, Matsuoka: "Routing on the dependency
 * graph", 2016).
 *
 * Channels are the trunks of the graph, each in one direction: the cables of a trunk may
 * be exchanged for each other.
 */
#ifndef QOSD_ROUTING_UPDN_TURNS_H
#define QOSD_ROUTING_UPDN_TURNS_H

#include "routing/updn/order.h"

struct turns;

/* Those that ways to the order's hub have, if it is safe, and no others.  o must outlive it. */
struct turns *turns_new(const struct updn_order *o);
void turns_free(struct turns *t);		/* NULL is fine */
/* Called before any turn is allowed: dead links ([lane]) are no part of any cycle. */
void turns_cut(struct turns *t, const bool *dead);
/* Bounds the work: after so many refusals turns_allow() refuses every new turn without a search. */
void turns_bound(struct turns *t, uint32_t refusals);
/*
 * May a path go on from trunk `in` (an index of the graph's trunks, from some vertex a to v)
 * by trunk `out` (from v)?  True if that is legal, or allowed already.
 */
bool turns_allowed(const struct turns *t, uint32_t in, uint32_t out);
/* The same, but allows it if that closes no cycle. */
bool turns_allow(struct turns *t, uint32_t in, uint32_t out);
/* The same without a search, for a turn that the caller knows to close no cycle. */
void turns_take(struct turns *t, uint32_t in, uint32_t out);
/* Whether ways to the hub may turn at v, which is the hub or above it. */
bool turns_by_hub(const struct turns *t, uint32_t v);
/* How many turns were allowed at v, not counting the hub's. */
uint32_t turns_at(const struct turns *t, uint32_t v);

#endif
