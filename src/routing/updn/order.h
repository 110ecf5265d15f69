/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The up/down order of the switches (internal to routing/).
 *
 * Every link leads up, to the greater vertex, or down.  A path that goes up
 * first and down then, either part possibly empty, is legal; channels used by
 * legal paths alone can't wait for each other in a cycle, whatever the order.
 */
#ifndef QOSD_ROUTING_UPDN_ORDER_H
#define QOSD_ROUTING_UPDN_ORDER_H

#include "routing/graph.h"

/* How ways are chosen among those that an order allows. */
struct updn_method {
	/* By dmodk.h, if the order is layered; else by the load of a switch's own lanes. */
	bool digits;
	unsigned passes;	/* so often weigh.h chooses each way anew, … */
	uint64_t hop;		/* … by these weights: see there */
	unsigned down;
	bool relief;		/* finally relief.h takes routes off the busiest lanes */
};

struct updn_order {
	struct graph *g;	/* vertices in rising order */
	uint16_t *rank;		/* [vertex] */
	unsigned n_ranks;
	/*
	 * True: ranks are the distance from the leaves, as in a fat tree, and
	 * not all are 0.  False: the order of a breadth-first search that goes
	 * down from a root; every pair of vertices then has a legal path.
	 */
	bool layered;
	/*
	 * Where paths that can't be legal may turn up again: at this vertex and
	 * those above it.  FABRIC_NONE if the order is not layered.
	 */
	uint32_t hub;
	bool hub_safe;		/* such turns can't close a cycle of channels */
	uint32_t hub_reach;	/* vertices with a legal path to it */
	bool meets;		/* a legal multicast tree can have all hosts: below one vertex, or by the hub */
	struct updn_method method;
	bool shortest;		/* all switches with hosts have shortest paths that are legal */
	bool sparse;		/* many pairs of such switches have no legal path at all */
	/*
	 * The fabric is a tree by this order, or by another one that balances worse: layered and shortest,
	 * no links within a rank, and hosts on at most half of the switches of the top rank.
	 */
	bool tree;
};

enum { UPDN_ORDERS_MAX = 5 };
struct updn_orders {
	struct updn_order *v[UPDN_ORDERS_MAX];
	unsigned n;
};

/*
 * The orders that f may be routed by, the most promising first, at least one; the caller's to free.  Orders
 * below a root, which come last, are not made if there are others and enough() accepts them; enough may be
 * NULL, which accepts none.
 */
void updn_orders(const struct fabric *f, struct updn_orders *all,
		 bool (*enough)(const struct updn_orders *all));
/* Adds one that is made for f by trial (order_search.h), if f is not too large; takes a second at most. */
void updn_orders_search(const struct fabric *f, struct updn_orders *all);

/* Ranks by the distance from the leaves, which are the switches with more than a few hosts; false: there are none. */
bool updn_ranks_by_hosts(const struct graph *g, uint16_t *rank);

/* updn_order_new() but never layered: a legal path for every pair that has any. */
struct updn_order *updn_order_by_root(const struct fabric *f);

/*
 * The same order for a fabric that has only some of the switches and links: sw_of is, for
 * each switch of o's, the one of f that it is, or FABRIC_NONE.  All of f's must be there.
 */
struct updn_order *updn_order_on(const struct updn_order *o, const struct fabric *f,
				 const uint32_t *sw_of);

/*
 * An order by the distance from a root, made fit for a fabric that lost links, and as near to what it was as
 * that lets it be: a vertex that has nowhere up to go comes behind the first neighbour that goes on to the root.
 * Every pair that links connect has a legal path then.  NULL: the order is layered.
 */
struct updn_order *updn_order_mend(const struct updn_order *o);

/*
 * Whether all vertices with CA or router ports reach each other that links connect, by legal paths or
 * over a hub that is safe.
 */
bool updn_order_connects(const struct updn_order *o);

/* Distances to d by going down only, FAR from where that is not possible. */
void updn_down(const struct graph *g, uint32_t d, uint16_t *down);
/*
 * Distances to d: down[v] as above, total[v] by the way that a packet at v
 * takes, down if that is possible and else by a legal path; FAR if there is
 * none.  From any v on the way on to d is legal however the packet
 * came to v legally, since after a step down there is a path down.
 */
void updn_distances(const struct graph *g, uint32_t d, uint16_t *down, uint16_t *total);

#endif
