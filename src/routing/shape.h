/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the switches form a tree, and if not, why, in terms that an administrator can check.
 *
 * A tree has no cycles, or an order by ranks makes it one: for all hosts, paths up and then down are
 * shortest paths; links join different ranks; and hosts are not on the top rank.  Links may be missing.
 * In other fabrics routes without a credit loop on one VL take detours or crowd; routing/gauge/ measures how much.
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
	 * Ranks count from the leaves, which are rank 0; n_ranks 0: there are none.  n_inner: switches that
	 * are no leaves.
	 */
	unsigned n_ranks;
	uint32_t n_switches, n_inner;
	uint32_t root;		/* without ranks: the node that "up" leads to; else FABRIC_NONE */
	/* Inner switches with hosts, and a node that is one. */
	uint32_t hosts_above, hosts_above_one;
	/* Links within a rank, of n_links between switches, and the nodes of one such link. */
	uint32_t flat, n_links, flat_from, flat_to;
	/*
	 * Ranks in which n of `of` switches have fewer than the usual (median) number of links up, lowest
	 * ranks first.
	 */
	struct shape_fewer {
		unsigned rank;
		uint32_t n, of, usual;
		uint32_t one, has;	/* the node with the fewest */
	} fewer[SHAPE_RANKS_TOLD];
	unsigned n_fewer;
	/* Ordered pairs of switches with hosts; those without an up/down path; those with no shortest one. */
	uint64_t pairs, pathless, longer;
	uint32_t pathless_from, pathless_to, longer_from, longer_to;
	/* The grid or dragonfly that they form instead: "torus 6x6, 1 link missing"; or "". */
	char other[SHAPE_OTHER_MAX];
};

/* The shape by an order that updn_order_new() made. */
void route_shape(const struct updn_order *o, struct route_shape *out);
/*
 * The shape by an order that updn_order_on() made of one whose shape is `was`: links are counted anew,
 * paths are as they were.  nodes: for each node of the old fabric that of the new one, or FABRIC_NONE;
 * NULL: the same.
 */
void route_shape_on(const struct updn_order *o, const struct route_shape *was,
		    const uint32_t *nodes, struct route_shape *out);
/* A tree, or what would be one but for missing links. */
bool route_shape_is_damaged(const struct route_shape *s);
/* Appends "a tree of 3 ranks", "no tree: ..." or "a torus 6x6; no tree: ...", without a newline. */
void route_shape_text(const struct route_shape *s, const struct fabric *f, struct buf *out);

#endif
