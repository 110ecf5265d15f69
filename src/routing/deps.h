/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What channels wait for, in several layers, none of which ever has a cycle (internal to routing/).
 *
 * A packet that holds one channel and waits for the next makes the first depend on the second; a
 * layer whose dependencies form no cycle is free of credit loops (Dally and Seitz, "Deadlock-free
 * message routing in multiprocessor interconnection networks", 1987).  Each layer is an acyclic
 * graph of its own: paths of different layers use different virtual lanes.
 *
 * Where layers share lanes (layers.h), a channel is one lane of a trunk, and all lanes together
 * are one acyclic graph.
 *
 * Channels are the trunks of the graph, each in one direction: the cables of a trunk may
 * be exchanged for each other.
 */
#ifndef QOSD_ROUTING_DEPS_H
#define QOSD_ROUTING_DEPS_H

#include "routing/channel.h"
#include "routing/updn/turns.h"

struct deps;
struct route_layers;

/* A path comes to a vertex by trunk `in`, and leaves it by trunk `out`. */
struct dep {
	uint32_t in, out;
	bool far;		/* it came by a far link (layers.h) to where `in` begins */
};

/*
 * Without any dependency; n_layers > 0.  c must outlive the result.  Turns that are legal by the
 * order of c's vertices (order.h) are the cheapest to add.
 */
struct deps *deps_new(const struct channels *c, unsigned n_layers);
/* The same for layers that share lanes as those of y do, which are of the switches of c's fabric. */
struct deps *deps_new_sharing(const struct channels *c, const struct route_layers *y);
void deps_free(struct deps *d);		/* NULL is fine */
/* Whether a trunk is of a far link, if layers share lanes; not if it is FABRIC_NONE. */
bool deps_is_far(const struct deps *d, uint32_t trunk);
/* Takes all dependencies away.  To add much the same again is cheaper then than it was at first. */
void deps_clear(struct deps *d);
/* The same of one layer that has a lane of its own. */
void deps_clear_layer(struct deps *d, unsigned layer);
/* Marks what is there; deps_return() takes away all that was added since the last mark. */
void deps_mark(struct deps *d);
void deps_return(struct deps *d);

/*
 * For many dependencies that are known to close no cycle: deps_note() puts one in without a search,
 * and before anything else is asked deps_settle() finds the order of all layers at once.  False: there
 * is a cycle, and all dependencies were taken away.
 */
void deps_note(struct deps *d, unsigned layer, struct dep x);
bool deps_settle(struct deps *d);

/* Channels that were looked at in searches for cycles, since the start; some nanoseconds each. */
uint64_t deps_work(const struct deps *d);

bool deps_has(const struct deps *d, unsigned layer, struct dep x);
/*
 * Adds all of x[0 .. n - 1], or none if the layer would have a cycle then.  *blocked, which may
 * be NULL, becomes the place in x of one that closes a cycle with those before it or with what is there.
 * Where the lane depends on how a packet came (route_lanes_by_entry()), a dependency of lane 0 on lane 1 is refused
 * as well, cycle or not; deps_note() does not refuse it.
 */
bool deps_add(struct deps *d, unsigned layer, const struct dep *x, uint32_t n, uint32_t *blocked);

/* For those below: arg is a struct deps, into whose layer 0 the turn is put as by deps_add(), or by deps_note(). */
void deps_add_turn(void *arg, struct dep turn);
void deps_note_turn(void *arg, struct dep turn);
/* Calls use() with each turn that `legal`, of the order of c, allows. */
void deps_each_legal(const struct channels *c, const struct turns *legal,
		     void (*use)(void *arg, struct dep turn), void *arg);
/* … with each turn on ways along a tree: tree[switch] is the next on the way to its root, or FABRIC_NONE. */
void deps_each_on_tree(const struct channels *c, const uint32_t *tree,
		       void (*use)(void *arg, struct dep turn), void *arg);

#endif
