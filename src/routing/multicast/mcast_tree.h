/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds and updates multicast trees that follow the up/down order of unicast.
 *
 * A forest has, for each switch that a tree may hang from (its root), the route from every switch to
 * there.  A tree consists of those routes from its members' switches, without the part above the lowest
 * switch that all have in common (its top).  So a tree depends on its root and members alone, not on the
 * order in which members came and went.  A member that joins adds only the route to the tree, and one that
 * leaves removes only the route that no other member uses.
 *
 * From the top a tree only goes down, wherever the order permits: from any member to any other a packet
 * goes up, then down, as by route_updn, so that multicast adds no credit loop to unicast.  Where that is
 * impossible (a damaged fabric whose switches have nothing above them in common), routes meet at the
 * order's hub, where unicast may turn up too, if that is safe; else they take any links, and no tree is
 * legal.
 *
 * Switches that forward no multicast (MulticastFDBCap 0), or none for the MLIDs of the forest, are on no
 * tree; members there are left out.  Members are end ports.  Pure, and deterministic.
 */
#ifndef QOSD_ROUTING_MULTICAST_MCAST_TREE_H
#define QOSD_ROUTING_MULTICAST_MCAST_TREE_H

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/route.h"

struct mcast_forest;

/*
 * The order must outlive the forest, and the forest its trees.  closed[switch]: it does not forward the
 * MLIDs of the forest's trees though it forwards others; NULL: none.
 */
struct mcast_forest *mcast_forest_new(const struct updn_order *o, const bool *closed);
void mcast_forest_free(struct mcast_forest *w);	/* NULL is fine */

/* Role of a member on its switch: bits of MCAST_…. */
enum { MCAST_SENDS = 1, MCAST_RECEIVES = 2 };

struct mcast_member_port {
	uint32_t port;		/* an end port */
	unsigned role;
};

/*
 * Chooses the switch that a tree hangs from.  Takes `keep` (a switch or FABRIC_NONE) if it is suitable.
 * Otherwise, in a fabric of layers, takes one of those at the top that have every switch below them; first
 * those that the fewest trees hang from (load[switch]), then those whose neighbours have the fewest.  In
 * other fabrics, takes the switch that has all members below it at the least total distance.  *legal: the
 * members' tree goes up, then down.  FABRIC_NONE if no member is on any switch.
 */
uint32_t mcast_choose_root(struct mcast_forest *w, const struct mcast_member_port *members,
			   uint32_t n, const uint32_t *load, uint32_t keep, bool *legal);

struct mcast_node {		/* a switch that is or was on a tree */
	uint32_t v;		/* vertex of the order */
	bool on;
	uint64_t members[4];	/* its ports with receiving members; bit 0: the switch itself */
	uint64_t senders[4];	/* its ports with sending members */
	uint64_t links[4];	/* ports to other switches of the tree */
};

struct mcast_tree {
	struct mcast_forest *w;
	const struct span *span;
	uint32_t top;		/* vertex, FABRIC_NONE while the tree is empty */
	unsigned salt;		/* selects among equal links */
	uint32_t n_on;		/* number of switches on it */
	VEC(struct mcast_node) nodes;
	struct map64 by_vertex;
	VEC(uint32_t) touched;	/* switches whose entry changed; the user empties the list after reading it */
};

struct mcast_tree *mcast_tree_new(struct mcast_forest *w, uint32_t root, unsigned salt);
void mcast_tree_free(struct mcast_tree *t);	/* NULL is fine */

enum mcast_set {
	MCAST_SET_OK,
	MCAST_SET_ILLEGAL,	/* done, but by a route that is not up, then down */
	/* not done: the switch forwards no multicast, or no route leads to the root */
	MCAST_SET_NO_WAY,
};
/* Makes the port a member of that role; 0: removes it. */
enum mcast_set mcast_tree_set(struct mcast_tree *t, uint32_t port, unsigned role);

/* Removes all members. */
void mcast_tree_clear(struct mcast_tree *t);

/* The switch of a tree's node. */
uint32_t mcast_node_switch(const struct mcast_tree *t, const struct mcast_node *n);
/* Reads the entry of a switch into ports, bit n for port n; false: it is empty. */
bool mcast_tree_ports(const struct mcast_tree *t, uint32_t sw, uint64_t ports[4]);

/* The switch that the tree hangs from, its forest, and its fabric. */
uint32_t mcast_tree_root(const struct mcast_tree *t);
const struct mcast_forest *mcast_tree_forest(const struct mcast_tree *t);
const struct fabric *mcast_tree_fabric(const struct mcast_tree *t);

/*
 * Moves trees of one forest into another of the same fabric at a later time.  changed[node of the later
 * fabric]: the node or any of its ports has changed.  Both forests and `changed` must outlive the move.
 */
struct mcast_move;
struct mcast_move *mcast_move_new(struct mcast_forest *from, struct mcast_forest *to,
				  const uint8_t *changed);
void mcast_move_free(struct mcast_move *m);	/* NULL is fine */
/*
 * True: the tree now belongs to the other forest, with unchanged entries.  It equals a new tree there of
 * the same root and members, as long as it has no other members.  False: the tree is unchanged and has to
 * be made anew.  The tree must have been legal, its `touched` list empty, and its forest the one that the
 * move is from.
 */
bool mcast_tree_move(struct mcast_move *m, struct mcast_tree *t);

#endif
