/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps the channel dependencies of several layers and refuses any that would close a cycle (internal to
 * routing/).
 *
 * A packet that holds one channel and waits for the next makes the first depend on the second.  A layer
 * whose dependencies form no cycle is free of credit loops (Dally and Seitz, "Deadlock-free message
 * routing in multiprocessor interconnection networks", 1987).  Each layer is an acyclic graph of its own,
 * because paths of different layers use different VLs.
 *
 * Where layers share VL sets (layers.h), a channel is one VL set of a trunk, and all VL sets together form one
 * acyclic graph.
 *
 * A channel is a trunk in one direction: links of a trunk are interchangeable.
 */
#ifndef QOSD_ROUTING_DEPS_H
#define QOSD_ROUTING_DEPS_H

#include "routing/channel.h"
#include "routing/updn/turns.h"

struct deps;
struct route_layers;

/* A turn: a packet arrives at a vertex by trunk `in` and leaves it by trunk `out`. */
struct dep {
	uint32_t in, out;
	bool far;		/* the packet reached the start of `in` by a far link (layers.h) */
};

/*
 * Creates n_layers > 0 layers without dependencies.  c must outlive the result.  Turns that the order of
 * c's vertices (order.h) allows are the cheapest to add.
 */
struct deps *deps_new(const struct channels *c, unsigned n_layers);
/* As deps_new(), for layers that share VL sets as y's layers do; y is of c's fabric. */
struct deps *deps_new_sharing(const struct channels *c, const struct route_layers *y);
void deps_free(struct deps *d);		/* NULL is fine */
/* Whether a trunk consists of far links (layers.h); false for FABRIC_NONE and where layers share no VL sets. */
bool deps_is_far(const struct deps *d, uint32_t trunk);
/* Removes all dependencies.  Adding similar ones again costs less than the first time. */
void deps_clear(struct deps *d);
/* Removes the dependencies of one layer, which must not share VL sets. */
void deps_clear_layer(struct deps *d, unsigned layer);
/* deps_mark() saves the current dependencies; deps_return() goes back to those last saved. */
void deps_mark(struct deps *d);
void deps_return(struct deps *d);

/*
 * Bulk insertion of dependencies that should close no cycle: deps_note() inserts one without a search, and
 * deps_settle(), called before any other question, computes the order of all layers at once.
 * deps_settle() returns false if there is a cycle, and has then removed all dependencies.
 */
void deps_note(struct deps *d, unsigned layer, struct dep x);
bool deps_settle(struct deps *d);

/* Channels visited by searches for cycles since creation; each takes some nanoseconds. */
uint64_t deps_work(const struct deps *d);

bool deps_has(const struct deps *d, unsigned layer, struct dep x);
/*
 * Adds all of x[0 .. n - 1], or none of them if the layer would then have a cycle.  *blocked, which may be
 * NULL, becomes the index in x of a dependency that closes a cycle with earlier ones.  Where the VL set
 * depends on how a packet arrived (route_vl_sets_by_entry()), deps_add() refuses every dependency of VL set 0
 * on VL set 1; deps_note() does not.
 */
bool deps_add(struct deps *d, unsigned layer, const struct dep *x, uint32_t n, uint32_t *blocked);

/*
 * Callbacks for the functions below: arg is a struct deps; they add the turn to its layer 0 by deps_add()
 * or deps_note().
 */
void deps_add_turn(void *arg, struct dep turn);
void deps_note_turn(void *arg, struct dep turn);
/* Calls use() with each turn that `legal`, made of the order of c, allows. */
void deps_each_legal(const struct channels *c, const struct turns *legal,
		     void (*use)(void *arg, struct dep turn), void *arg);
/*
 * Calls use() with each turn that paths along a tree can take.  tree[switch]: the next switch towards the
 * root, or FABRIC_NONE.
 */
void deps_each_on_tree(const struct channels *c, const uint32_t *tree,
		       void (*use)(void *arg, struct dep turn), void *arg);

#endif
