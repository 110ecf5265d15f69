/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells whether the switches form a tree, and if not, why, in terms that an administrator can check.
 *
 * A tree has no cycles, or ranks make it one: for all hosts, some shortest path goes up and then down;
 * links join different ranks; and hosts are not on the top rank.  Links may be missing.  In other fabrics
 * routes without a credit loop on one VL take detours or crowd; routing/gauge/ measures how much.
 *
 * Pure: a value, and its text.  Aggregation nodes are ignored.
 */
#ifndef QOSD_ROUTING_SHAPE_H
#define QOSD_ROUTING_SHAPE_H

#include "routing/route.h"

enum { SHAPE_RANKS_TOLD = 3, SHAPE_OTHER_MAX = 256 };

struct route_shape {
	/*
	 * SHAPE_TREE: a tree, or no more than two switches; SHAPE_RANKS: there are ranks, but no tree;
	 * SHAPE_OTHER: there are no ranks.
	 */
	enum { SHAPE_TREE, SHAPE_RANKS, SHAPE_OTHER } kind;
	/*
	 * Ranks count from the leaves, which are rank 0; n_ranks 0: no ranks.  n_inner: switches that are
	 * not leaves.
	 */
	unsigned n_ranks;
	uint32_t n_switches, n_inner;
	uint32_t root;		/* without ranks: the node that "up" leads to; else FABRIC_NONE */
	/* Number of inner switches with hosts, and an example node. */
	uint32_t hosts_above, hosts_above_one;
	/*
	 * Number of links within a rank, number of all links between switches, and the nodes of one link
	 * within a rank.
	 */
	uint32_t flat, n_links, flat_from, flat_to;
	/*
	 * Ranks in which n of `of` switches have fewer uplinks than the usual (median) number, lowest
	 * ranks first.
	 */
	struct shape_fewer {
		unsigned rank;
		uint32_t n, of, usual;
		uint32_t one, has;	/* node with the fewest uplinks, and their number */
	} fewer[SHAPE_RANKS_TOLD];
	unsigned n_fewer;
	/*
	 * Ordered pairs of switches with hosts: all; without an up/down path; without a shortest up/down
	 * path.
	 */
	uint64_t pairs, pathless, longer;
	uint32_t pathless_from, pathless_to, longer_from, longer_to;
	/* Grid or dragonfly that the switches form instead: "torus 6x6, 1 link missing"; or "". */
	char other[SHAPE_OTHER_MAX];
};

/* Computes the shape by an order that updn_order_new() made. */
void route_shape(const struct updn_order *o, struct route_shape *out);
/*
 * Computes the shape by an order that updn_order_on() derived from the order of `was`: counts links anew
 * and takes the paths over from `was`.  nodes[node of the old fabric]: the same node in the new fabric, or
 * FABRIC_NONE; NULL: unchanged.
 */
void route_shape_on(const struct updn_order *o, const struct route_shape *was,
		    const uint32_t *nodes, struct route_shape *out);
/* Whether the shape is a tree with links missing, or would be one without the missing links. */
bool route_shape_is_damaged(const struct route_shape *s);
/* Appends "a tree of 3 ranks", "no tree: ..." or "a torus 6x6; no tree: ...", without a newline. */
void route_shape_text(const struct route_shape *s, const struct fabric *f, struct buf *out);

#endif
