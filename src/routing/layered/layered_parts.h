/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of layered.h (internal to it): layered.c routes and decides who has to give way, pairs.c
 * puts pairs of switches into layers, staying.c those that keep what they had, squeeze.c finds room
 * for the last few pairs.  Where all that would take too long, confined.c finds other ways.
 */
#ifndef QOSD_ROUTING_LAYERED_LAYERED_PARTS_H
#define QOSD_ROUTING_LAYERED_LAYERED_PARTS_H

#include "lib/base/alloc.h"
#include "routing/grid/turn_round.h"
#include "routing/layered/layered.h"
#include "routing/layered/toll.h"

/* Of `of` in struct route_layers: the pair has found no room. */
#define NO_LAYER UINT8_MAX

/* So many rounds the last pairs push others aside before they fall back on legal ways. */
#define PUSHES_MAX 20u

/* Places of two sources, a < b. */
struct pair {
	uint32_t a, b;
};

static inline struct pair pair_of(uint32_t a, uint32_t b)
{
	return a < b ? (struct pair){ .a = a, .b = b } : (struct pair){ .a = b, .b = a };
}

struct layered {
	const struct route_request *r;
	const struct channels *c;
	const struct graph *g;
	struct lfts *out;
	const struct lfts *near;	/* r's, or NULL */
	struct toll *toll;
	struct grid *grid;		/* by vertices; NULL: there is none */
	struct turn_model models[TURN_MODELS_MAX];	/* that were tried */
	struct turn_round *round;	/* on a grid; else NULL */
	struct turns *legal;	/* NULL: multicast goes along the tree of `layers`, and no ways are sure to find room */
	bool own_lanes;		/* each layer has a lane of its own, and layer 0 the legal turns */
	/* Of the pairs that have a layer in the round at hand; squeeze.c leaves what it has tried as well. */
	struct deps *deps;
	struct route_layers *layers;
	unsigned most;
	unsigned rounds;	/* in which pairs were placed, with the one at hand */
	uint32_t *sources, n_sources;	/* vertices with CA and router ports, by place */
	uint32_t *lid0;		/* [place]: all LIDs there are lids[lid0[place]] .. lids[lid0[place + 1] - 1] */
	VEC(uint16_t) lids;
	bool *moved;		/* [route_layers_pair()]: a way of the pair is not as in `near` */
	bool *again;		/* [vertex]: its LIDs are to be routed again, or were before the round at hand */
	bool *legal_only;	/* [vertex]: … by legal ways */
	bool settled;		/* all pairs keep their layers but those of a vertex that was routed again */
	unsigned pushes;	/* rounds since then */
	bool hopeless;		/* to go on placing pairs would take too long */
	uint32_t placed;	/* how often a pair was placed by itself */
	uint32_t squeezed;	/* how often squeeze.c found room for a pair */
	VEC(struct dep) pair;	/* of the pair at hand; some more than once */
	uint8_t *blocked;	/* [route_layers_pair()]: the rounds in which it found no room; saturates */
	VEC(struct pair) early;	/* those that ever found none */
	VEC(struct pair) aside;	/* those that have to go from a layer */
	VEC(struct pair) left;	/* those that found none in the round at hand */
};

/* --- pairs.c --- */

/* Begins: sources, their LIDs, and room for what is known of pairs. */
void pairs_find(struct layered *x);
/* The layer that a pair has in the tables to stay near to, which have layers. */
unsigned pairs_layer_near(const struct layered *x, struct pair p);
void pairs_give_layer(struct layered *x, struct pair p, unsigned layer);
/* The opposite: it is one of x->left then. */
void pairs_leave(struct layered *x, struct pair p);
/* The turns of a pair's routes, in x->pair. */
void pairs_collect(struct layered *x, struct pair p);
/*
 * Puts what was collected of a pair into the layer that it had, or the first that has room.  False: there
 * is none; *blocked becomes the place in x->pair of the turn that the last layer had no room for.
 */
bool pairs_fit(struct layered *x, struct pair p, uint32_t *blocked);
/*
 * Puts all pairs into layers anew, in the best order for it.  x->left are those without one.  Before pairs
 * are settled it may give up: x->hopeless.
 */
void pairs_place(struct layered *x);
/* Forgets which pairs found no room in the rounds so far. */
void pairs_forget(struct layered *x);

/* Calls use() with x->deps and each turn that multicast may take, in layer 0. */
void pairs_each_legal(struct layered *x, void (*use)(void *deps, struct dep turn));
/*
 * The layer that a pair had in the last round, if they are to stay, or in the tables that these stay near
 * to; `most`: none.
 */
unsigned pairs_layer_before(const struct layered *x, struct pair p);
/* Whether a pair is to keep what it had: before things are settled, all its ways and its layer in `near`. */
bool pairs_keeps(const struct layered *x, struct pair p);

/* --- staying.c --- */

/*
 * Begins a round near to other tables: finds out which pairs moved, and places all those that keep what they had.
 * False: these have no room together, as other turns are legal now, or some had no layer; none is placed.
 */
bool pairs_stay(struct layered *x);

/* --- squeeze.c --- */

/*
 * Finds room for pairs in x->left by other first hops, without a change for any other pair but where that
 * finds room, too.  x->left are those then that found none.
 */
void squeeze_in(struct layered *x);
/*
 * All pairs having a layer: takes routes off the busiest lanes (relief.h) as far as those whose ways change find
 * room in the layers that are in use.
 */
void squeeze_relieve(struct layered *x);

/* --- confined.c --- */

/*
 * Replaces all ways by ones that keep to turns that layers allow from the start, the same for all LIDs
 * on a switch, and gives all pairs their layers.  x->left are the pairs without one, as there are only if
 * legal ways do not connect them.
 */
void confine(struct layered *x);
/* The same if the tables to stay near to were made so; else false, and nothing is changed. */
bool confine_near(struct layered *x);
/* As layered_routes(), by confine() alone; for tests. */
struct route_layers *layered_confined(const struct route_request *r, const struct updn_order *o,
				      unsigned most, struct lfts *out, struct layered_outcome *did);

#endif
