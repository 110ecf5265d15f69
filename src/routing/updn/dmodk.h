/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Numbers for the hosts of a layered fabric such that their digits spread
 * them over the up ports of every rank (internal to routing/).
 *
 * This is D-mod-K routing (Zahavi, "D-Mod-K routing providing non-blocking
 * traffic for shift permutations on real life fat trees", 2010): a switch of
 * rank r sends destination x up by its port (x / radix 0 / … / radix r-1) mod
 * the number of its up ports.  A radix counts neighbours and not links: what
 * takes another link to the same neighbour must part there.
 *
 * The numbers run through the leaves, and the leaves through their parents,
 * with the place of each taken from the port it is plugged into: a host or
 * leaf that is missing leaves a gap and does not shift the others.
 */
#ifndef QOSD_ROUTING_UPDN_DMODK_H
#define QOSD_ROUTING_UPDN_DMODK_H

#include "routing/updn/order.h"

struct dmodk {
	uint32_t *radix;	/* [rank]: usual number of neighbours above, at least 1 */
	uint64_t *leaf;		/* [vertex]: its number; a host's is leaf * hosts + place */
	uint32_t hosts;		/* numbers set aside for the hosts of a vertex */
};

struct dmodk *dmodk_new(const struct updn_order *o);
void dmodk_free(struct dmodk *k);
/* For each port number of vertex v with a host, the host's number. */
void dmodk_hosts(const struct dmodk *k, const struct graph *g, uint32_t v, uint64_t number[256]);

#endif
