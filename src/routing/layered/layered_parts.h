/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Declares what the files that implement layered.h share (internal to routing/layered/).
 *
 * layered.c routes and decides which pairs have to give way; pairs.c puts pairs of switches into layers;
 * staying.c places those that keep what they had; squeeze.c finds room for the last few pairs.  Where all
 * that would take too long, confined.c finds other routes.
 */
#ifndef QOSD_ROUTING_LAYERED_LAYERED_PARTS_H
#define QOSD_ROUTING_LAYERED_LAYERED_PARTS_H

#include "lib/base/alloc.h"
#include "routing/grid/turn_round.h"
#include "routing/layered/layered.h"
#include "routing/layered/toll.h"

/* Value in `of` of struct route_layers: the pair has found no room. */
#define NO_LAYER UINT8_MAX

/* Rounds in which the last pairs push others aside before they fall back on legal routes. */
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
	const struct lfts *near;	/* r->near, or NULL */
	struct toll *toll;
	struct grid *grid;		/* with vertices; NULL: not a grid */
	struct turn_model models[TURN_MODELS_MAX];	/* models tried */
	struct turn_round *round;	/* on a grid; else NULL */
	/* NULL: multicast follows the tree of `layers`, and no routes are certain to find room */
	struct turns *legal;
	bool own_vl_sets;		/* each layer has a VL set of its own, and layer 0 has the legal turns */
	/*
	 * Turns of the pairs with a layer in this round; squeeze.c leaves turns that it tried in it as
	 * well.
	 */
	struct deps *deps;
	struct route_layers *layers;
	unsigned most;
	unsigned rounds;	/* rounds in which pairs were placed, including this one */
	uint32_t *sources, n_sources;	/* vertices with CA and router ports, by place */
	/* [place]: the LIDs on its vertex are lids[lid0[place]] .. lids[lid0[place + 1] - 1] */
	uint32_t *lid0;
	VEC(uint16_t) lids;
	bool *moved;		/* [route_layers_pair()]: some route of the pair differs from `near` */
	bool *again;		/* [vertex]: its LIDs have to be routed again, or were before this round */
	bool *legal_only;	/* [vertex]: its LIDs use legal routes only */
	/* all pairs keep their layers except those of a vertex that was routed again */
	bool settled;
	unsigned pushes;	/* rounds since `settled` became true */
	bool hopeless;		/* placing pairs further would take too long */
	uint32_t placed;	/* placements of single pairs */
	uint32_t squeezed;	/* pairs that squeeze.c found room for */
	VEC(struct dep) pair;	/* turns of the current pair; may contain duplicates */
	uint8_t *blocked;	/* [route_layers_pair()]: rounds in which it found no room; saturates */
	VEC(struct pair) early;	/* pairs that ever found no room */
	VEC(struct pair) aside;	/* pairs that have to leave a layer */
	VEC(struct pair) left;	/* pairs without room in this round */
};

/* --- pairs.c --- */

/* Collects the sources and their LIDs, and allocates the arrays for pairs. */
void pairs_find(struct layered *x);
/* The pair's layer in r->near_layers, which must not be NULL. */
unsigned pairs_layer_near(const struct layered *x, struct pair p);
void pairs_give_layer(struct layered *x, struct pair p, unsigned layer);
/* Takes the pair's layer away and adds the pair to x->left. */
void pairs_leave(struct layered *x, struct pair p);
/* Collects the turns of a pair's routes in x->pair. */
void pairs_collect(struct layered *x, struct pair p);
/*
 * Puts the pair, whose turns are in x->pair, into its former layer or the first with room.  False: no
 * layer has room; *blocked becomes the index in x->pair of the turn that the last layer refused.
 */
bool pairs_fit(struct layered *x, struct pair p, uint32_t *blocked);
/*
 * Puts all pairs into layers anew, those first that found no room before (pairs.c).  x->left: pairs
 * without a layer.  Before pairs are settled it may give up and set x->hopeless.
 */
void pairs_place(struct layered *x);
/* Forgets which pairs found no room in earlier rounds. */
void pairs_forget(struct layered *x);

/* Calls use() with x->deps and each turn that multicast may take, in layer 0. */
void pairs_each_legal(struct layered *x, void (*use)(void *deps, struct dep turn));
/* The pair's layer in the last round if pairs are settled, else in r->near_layers; `most`: none. */
unsigned pairs_layer_before(const struct layered *x, struct pair p);
/*
 * Whether a pair keeps its layer: once settled, if no end was routed again; before, if all its routes are
 * as in `near` and it always found room.
 */
bool pairs_keeps(const struct layered *x, struct pair p);

/* --- staying.c --- */

/*
 * Begins a round near to other tables: finds the pairs that moved and places all pairs that keep what they
 * had.  False: these have no room together, because other turns are legal now, or some pair had no layer;
 * no pair is then placed.
 */
bool pairs_stay(struct layered *x);

/* --- squeeze.c --- */

/*
 * Finds room for pairs in x->left by other first hops.  Routes of other pairs change only if these find
 * room too.  x->left: the pairs that found none.
 */
void squeeze_in(struct layered *x);
/*
 * Moves routes off the busiest links (relief.h) as far as the pairs concerned find room in the layers in
 * use.  All pairs must have a layer.
 */
void squeeze_relieve(struct layered *x);

/* --- confined.c --- */

/*
 * Replaces all routes by ones within turns that layers allow from the start, the same for all LIDs on a
 * switch, and gives all pairs their layers.  x->left: pairs without a layer, of which there are some only
 * if legal routes do not connect them.
 */
void confine(struct layered *x);
/* As confine(), if confine() made the tables to stay near to; otherwise returns false and changes nothing. */
bool confine_near(struct layered *x);
/* As layered_routes(), by confine() alone; for tests. */
struct route_layers *layered_confined(const struct route_request *r, const struct updn_order *o,
				      unsigned most, struct lfts *out, struct layered_outcome *did);

#endif
