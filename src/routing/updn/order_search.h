/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for an up/down order where the fabric has no layers to go by (internal to routing/).
 *
 * Any order of the switches in which only the last one, the root, has no neighbour above it
 * gives all pairs a legal path.  They differ in how long these are, and how many have to share a
 * channel. The search moves one switch at a time past a neighbour, and keeps what is better by
 * an estimate of the bandwidth that pairs may expect (order_pick.c measures it).
 */
#ifndef QOSD_ROUTING_UPDN_ORDER_SEARCH_H
#define QOSD_ROUTING_UPDN_ORDER_SEARCH_H

#include "routing/updn/order.h"

struct search;

/* g is connected and has hosts.  NULL: it is too large.  All takes a second at most. */
struct search *search_new(const struct graph *g);
void search_free(struct search *s);		/* NULL is fine */
/*
 * Tries an order: [vertex] the place of each, all of which differ.  If there is more than one
 * root, some vertices are put above all others, so that each root but one gets a neighbour above
 * it: several such sets are tried.
 */
void search_try(struct search *s, const uint16_t *place);
/* Starts from the best that was tried; place: [vertex] the best that was found. */
void search_improve(struct search *s, uint16_t *place);

#endif
