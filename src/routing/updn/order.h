/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes and describes the up/down orders of the switches (internal to routing/).
 *
 * Every link leads up, to the greater vertex, or down.  A path that goes first up and then down, either
 * part possibly empty, is legal.  Channels that only legal paths use cannot wait for each other in a
 * cycle, whatever the order.
 */
#ifndef QOSD_ROUTING_UPDN_ORDER_H
#define QOSD_ROUTING_UPDN_ORDER_H

#include "routing/graph.h"

/* How routes are chosen among those that an order allows. */
struct updn_method {
	/* By dmodk.h, if the order is layered; else by the load of a switch's own links. */
	bool digits;
	unsigned passes;	/* times that weigh.h chooses each route anew */
	uint64_t hop;		/* weights for that: see weigh_new() */
	unsigned down;
	bool relief;		/* relief.h takes routes off the busiest links at the end */
};

struct updn_order {
	struct graph *g;	/* vertices in rising order */
	uint16_t *rank;		/* [vertex] */
	unsigned n_ranks;
	/*
	 * True: ranks are distances from the leaves, as in a fat tree, and not all are 0.  False: a
	 * breadth-first order downwards from a root, in which every pair of vertices has a legal path.
	 */
	bool layered;
	/*
	 * Where paths that cannot be legal may turn up again: at this vertex and at those above it.
	 * FABRIC_NONE if the order is not layered.
	 */
	uint32_t hub;
	bool hub_safe;		/* such turns cannot close a cycle of channels */
	uint32_t hub_reach;	/* number of vertices with a legal path to the hub */
	/* a legal multicast tree can reach all hosts: below one vertex, or by the hub */
	bool meets;
	struct updn_method method;
	bool shortest;		/* between all switches with hosts, some shortest path is legal */
	bool sparse;		/* many pairs of such switches have no legal path */
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
 * Makes the orders to choose from for f, at least one, the most promising first; the caller frees them.
 * Orders below a root come last; they are not made if there are others and enough() accepts these.  enough
 * may be NULL, which accepts none.
 */
void updn_orders(const struct fabric *f, struct updn_orders *all,
		 bool (*enough)(const struct updn_orders *all));
/* Adds an order found by search for f (order_search.h), if f is not too large; takes a second at most. */
void updn_orders_search(const struct fabric *f, struct updn_orders *all);

/*
 * Ranks by the distance from the leaves, the switches with more than a few hosts; false: there are no
 * leaves, or all switches are leaves.
 */
bool updn_ranks_by_hosts(const struct graph *g, uint16_t *rank);

/* As updn_order_new(), but never layered: every pair that links connect has a legal path. */
struct updn_order *updn_order_by_root(const struct fabric *f);

/*
 * The same order for f, a fabric with only some of the switches and links.  sw_of[switch of o's fabric]:
 * its index in f, or FABRIC_NONE.  Every switch of f must be in sw_of.
 */
struct updn_order *updn_order_on(const struct updn_order *o, const struct fabric *f,
				 const uint32_t *sw_of);

/*
 * Adapts an order below a root to a fabric that lost links, with few changes: a vertex without a neighbour
 * above moves behind the first neighbour that leads to the root.  Every pair that links connect then has a
 * legal path.  NULL: the order is layered.
 */
struct updn_order *updn_order_mend(const struct updn_order *o);

/*
 * Whether all vertices with CA or router ports that links connect reach each other, by legal paths or over
 * a safe hub.
 */
bool updn_order_connects(const struct updn_order *o);

/* Distances to d by going down only; FAR where that is not possible. */
void updn_down(const struct graph *g, uint32_t d, uint16_t *down);
/*
 * Distances to d: down[v] as in updn_down(); total[v] along the route of a packet at v, which leads down
 * if possible and else follows a legal path; FAR if there is none.  The route from v is legal however the
 * packet legally came to v, because after a step down there is a path down.
 */
void updn_distances(const struct graph *g, uint32_t d, uint16_t *down, uint16_t *total);

#endif
