/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers hosts of a layered fabric so that d-mod-k routing spreads them over the up ports of every rank.
 *
 * Internal to routing/.  D-mod-k routing (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
 * permutations on real life fat trees", 2010): a switch of rank r sends destination x up by its port (x /
 * radix 0 / … / radix r-1) mod the number of its up ports.  A radix counts neighbours and not links:
 * routes that use different links to the same neighbour must part there.
 *
 * The numbers run through the leaves, and the leaves through their parents.  Each takes its place from the
 * port that it is plugged into: a missing host or leaf leaves a gap and does not shift the others.
 */
#ifndef QOSD_ROUTING_UPDN_DMODK_H
#define QOSD_ROUTING_UPDN_DMODK_H

#include "routing/updn/order.h"

struct dmodk {
	uint32_t *radix;	/* [rank]: usual number of neighbours above, at least 1 */
	uint64_t *leaf;		/* [vertex]: its number; a host's number is leaf * hosts + place */
	uint32_t hosts;		/* numbers reserved for the hosts of a vertex */
};

struct dmodk *dmodk_new(const struct updn_order *o);
void dmodk_free(struct dmodk *k);
/* Fills number[port of vertex v] with the number of the host on that port. */
void dmodk_hosts(const struct dmodk *k, const struct graph *g, uint32_t v, uint64_t number[256]);

#endif
