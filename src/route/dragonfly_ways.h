/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways on a dragonfly, by destination (internal to route/).
 *
 * The usual way leads over at most one link within the group where it begins, one cable to the other group and
 * one link within that (Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology",
 * 2008).  Where links are missing, within a group it leads over two links, and otherwise around: by any links, but
 * up and then down in the order of the vertices.
 *
 * Both directions of a pair have to be ways of one layer (dragonfly_routes.c).  So if one goes around, the other one
 * has to be legal by the order, too.  Who goes around is remembered from one destination to the next.
 */
#ifndef QOSD_ROUTE_DRAGONFLY_WAYS_H
#define QOSD_ROUTE_DRAGONFLY_WAYS_H

#include "route/channel.h"

struct dragonfly_ways;

/* cable: [trunk], whether it leads to another group; taken over.  c and o, its order, must outlive the result. */
struct dragonfly_ways *dragonfly_ways_new(const struct channels *c, const struct updn_order *o, bool *cable);
void dragonfly_ways_free(struct dragonfly_ways *x);
/*
 * next[v]: the trunk by which v sends to vertex `to`; FABRIC_NONE for `to`, and where there is no way of these
 * kinds.  Of equally short ways each takes the one with the least load of all those that were found so far.
 * before: [vertex], what it was; ways that arrive stay, unless they would have to be legal now and are not; or NULL.
 */
void dragonfly_ways_find(struct dragonfly_ways *x, uint32_t to, const uint32_t *before, uint32_t *next);
/* Whether the way from v to `to` goes around; of ways that have stayed, what dragonfly_ways_let_around() says. */
bool dragonfly_goes_around(const struct dragonfly_ways *x, uint32_t v, uint32_t to);
void dragonfly_ways_let_around(struct dragonfly_ways *x, uint32_t v, uint32_t to);
/* How many go around. */
uint32_t dragonfly_ways_around(const struct dragonfly_ways *x);
/* Nothing carries load; who goes around stays known. */
void dragonfly_ways_unload(struct dragonfly_ways *x);

#endif
