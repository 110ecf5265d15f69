/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches for an up/down order where the fabric has no layers (internal to routing/).
 *
 * Any order in which only the last switch, the root, has no neighbour above it gives all pairs a legal
 * path.  The orders differ in the length of these paths and in how many share a channel.  The search moves
 * one switch at a time past a neighbour, and keeps orders that are better by an estimate of the bandwidth
 * that pairs may expect (order_pick.c measures it).
 */
#ifndef QOSD_ROUTING_UPDN_ORDER_SEARCH_H
#define QOSD_ROUTING_UPDN_ORDER_SEARCH_H

#include "routing/updn/order.h"

struct search;

/* g is connected and has hosts.  NULL: g is too large.  The calls together take a second at most. */
struct search *search_new(const struct graph *g);
void search_free(struct search *s);		/* NULL is fine */
/*
 * Tries an order.  place[vertex]: its place, each different.  If there is more than one root, some
 * vertices are put above all others so that each root but one gets a neighbour above it; several such sets
 * are tried.
 */
void search_try(struct search *s, const uint16_t *place);
/* Improves the best order tried; place[vertex]: the best order found. */
void search_improve(struct search *s, uint16_t *place);

#endif
