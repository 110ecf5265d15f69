/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the paths of a dragonfly, destination by destination (internal to routing/).
 *
 * A minimal path crosses at most one link of the source's group, one cable to the destination's group, and
 * one link of that group (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly
 * topology", 2008).  Where links are missing, a path within one group may cross two of its links; any
 * other pair of switches is routed around the gap, by whatever links give a legal path: up, then down in
 * the order of the vertices.
 *
 * Both directions of a pair belong to the same layer (dragonfly_routes.c).  So if one direction is routed
 * around a gap, the other one must be legal as well.  struct dragonfly_ways keeps the set of pairs that
 * are routed around a gap from one destination to the next.
 */
#ifndef QOSD_ROUTING_DRAGONFLY_DRAGONFLY_WAYS_H
#define QOSD_ROUTING_DRAGONFLY_DRAGONFLY_WAYS_H

#include "routing/channel.h"

struct dragonfly_ways;

/*
 * cable[trunk]: whether the trunk joins two groups; the result owns the array.  c and its order o must
 * outlive the result.
 */
struct dragonfly_ways *dragonfly_ways_new(const struct channels *c, const struct updn_order *o, bool *cable);
void dragonfly_ways_free(struct dragonfly_ways *x);
/*
 * Sets next[v] to the trunk by which v sends to vertex `to`: FABRIC_NONE for `to` itself, and for a vertex
 * without any path of the kinds above.  Among equally short paths, it takes the one whose busiest link
 * carries the least of what was routed so far.  before[vertex]: trunks of an earlier routing, or NULL;
 * their paths are kept as far as they still arrive, and are legal where they must be.
 */
void dragonfly_ways_find(struct dragonfly_ways *x, uint32_t to, const uint32_t *before, uint32_t *next);
/*
 * Whether the path from v to `to` is routed around a gap.  For a path kept from an earlier routing, the
 * caller has to say so by dragonfly_ways_let_around().
 */
bool dragonfly_goes_around(const struct dragonfly_ways *x, uint32_t v, uint32_t to);
void dragonfly_ways_let_around(struct dragonfly_ways *x, uint32_t v, uint32_t to);
/* The number of (vertex, destination) pairs that are routed around a gap. */
uint32_t dragonfly_ways_around(const struct dragonfly_ways *x);
/* Forgets the load of all links, but not which pairs are routed around a gap. */
void dragonfly_ways_unload(struct dragonfly_ways *x);

#endif
