/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Multicast trees, which follow the up/down order of unicast.
 *
 * A forest has, for each switch that a tree may hang from (its root), the way from
 * every switch to there.  A tree is those ways from its members' switches, without
 * what is above the lowest switch that all have in common (its top).  So it is made of
 * root and members alone, however they came and went; who joins costs the way to the
 * tree, and who leaves the way that was only his.
 *
 * From the top a tree goes down only, wherever the order lets it: from any member
 * to any other a packet goes up, then down, as by route_updn, so that multicast adds
 * no credit loop to unicast.  Where it does not (a damaged fabric whose switches have
 * nothing above them in common), ways meet at the order's hub, where unicast may turn
 * up too, if that is safe; else they go as they can, since no tree is legal.
 *
 * Switches that forward no multicast (MulticastFDBCap 0), or none for the MLIDs of the forest, are on
 * no tree; members there are left out.  Members are end ports.  Pure, and deterministic.
 */
#ifndef QOSD_ROUTING_MULTICAST_MCAST_TREE_H
#define QOSD_ROUTING_MULTICAST_MCAST_TREE_H

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/route.h"

struct mcast_forest;

/*
 * The order must outlive the forest, and the forest its trees.  closed: per switch, whether it does not
 * forward the MLIDs of the forest's trees though it forwards others; NULL: none.
 */
struct mcast_forest *mcast_forest_new(const struct updn_order *o, const bool *closed);
void mcast_forest_free(struct mcast_forest *w);	/* NULL is fine */

/* What a member is on its switch: bits of MCAST_…. */
enum { MCAST_SENDS = 1, MCAST_RECEIVES = 2 };

struct mcast_member_port {
	uint32_t port;		/* an end port */
	unsigned role;
};

/*
 * The switch to hang a tree from: `keep` (a switch or FABRIC_NONE) if it will do,
 * else, in a fabric of layers, one of those at the top that have everybody below them,
 * of which the ones come first that fewest trees hang from (load, per switch) and
 * whose neighbours are on fewest; in any other one that has all members below it at
 * the least total distance.  *legal: the members' tree goes up, then down.
 * FABRIC_NONE if no member is on any switch.
 */
uint32_t mcast_choose_root(struct mcast_forest *w, const struct mcast_member_port *members,
			   uint32_t n, const uint32_t *load, uint32_t keep, bool *legal);

struct mcast_node {		/* a switch on a tree, or that was on it */
	uint32_t v;		/* vertex of the order */
	bool on;
	uint64_t members[4];	/* ports of it that receive; bit 0: the switch itself */
	uint64_t senders[4];	/* ports that members send in by */
	uint64_t links[4];	/* ports to other switches of the tree */
};

struct mcast_tree {
	struct mcast_forest *w;
	const struct span *span;
	uint32_t top;		/* vertex, FABRIC_NONE while the tree is empty */
	unsigned salt;		/* which of equal links it takes */
	uint32_t n_on;		/* switches on it */
	VEC(struct mcast_node) nodes;
	struct map64 by_vertex;
	VEC(uint32_t) touched;	/* switches whose entry changed; whoever looks at it empties it */
};

struct mcast_tree *mcast_tree_new(struct mcast_forest *w, uint32_t root, unsigned salt);
void mcast_tree_free(struct mcast_tree *t);	/* NULL is fine */

enum mcast_set {
	MCAST_SET_OK,
	MCAST_SET_ILLEGAL,	/* done, but by a way that is not up, then down */
	MCAST_SET_NO_WAY,	/* not done: no switch there forwards, or none leads to the root */
};
/* The port is a member from now on, of that role; 0: it is none. */
enum mcast_set mcast_tree_set(struct mcast_tree *t, uint32_t port, unsigned role);

/* Nobody is a member any more. */
void mcast_tree_clear(struct mcast_tree *t);

/* The switch that a node of the tree is. */
uint32_t mcast_node_switch(const struct mcast_tree *t, const struct mcast_node *n);
/* The entry of a switch: bit n: port n; false: it is empty. */
bool mcast_tree_ports(const struct mcast_tree *t, uint32_t sw, uint64_t ports[4]);

/* The switch that the tree hangs from, and the fabric that it is one of. */
uint32_t mcast_tree_root(const struct mcast_tree *t);
const struct mcast_forest *mcast_tree_forest(const struct mcast_tree *t);
const struct fabric *mcast_tree_fabric(const struct mcast_tree *t);

/*
 * Takes trees of one forest over into another, of the same fabric at a later time.  changed: per
 * node of that, whether it or any of its ports is not as it was.  Both outlive the move.
 */
struct mcast_move;
struct mcast_move *mcast_move_new(struct mcast_forest *from, struct mcast_forest *to,
				  const uint8_t *changed);
void mcast_move_free(struct mcast_move *m);	/* NULL is fine */
/*
 * True: the tree is one of the other forest now, with the entries that it had, and is what a new
 * one of its root and members would be there, as long as these members are all that there are.
 * False: it is as it was, and has to be made anew.  It must have been legal, and looked at
 * since it changed, and be one of the forest that the move is from.
 */
bool mcast_tree_move(struct mcast_move *m, struct mcast_tree *t);


#endif
