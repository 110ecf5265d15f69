/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Represents the fabric for the gauge by switches, cables and end ports (internal to routing/gauge/).
 */
#ifndef QOSD_ROUTING_GAUGE_GAUGE_NET_H
#define QOSD_ROUTING_GAUGE_GAUGE_NET_H

#include "routing/gauge/gauge.h"

struct gauge_end {
	uint32_t port;		/* port index */
	uint32_t sw;		/* switch that it is on */
	uint8_t num;		/* port of that switch to it */
	uint16_t lid;
	double gbps;		/* capacity of its end cable, Gbit/s */
};

/* A place is the number of a switch's port: first[sw] + num. */
struct gauge_net {
	const struct fabric *f;
	const struct lfts *l;
	uint32_t n;		/* number of switches */
	uint32_t *first;	/* [switch]: place of its port 0; first[n]: number of all places */
	uint32_t *next;		/* [place]: other switch at the far end, or FABRIC_NONE */
	double *gbps;		/* [place]: capacity of its cable, Gbit/s; never 0 */
	struct gauge_end *ends;	/* in order of LID */
	uint32_t n_ends;
	uint32_t *at;		/* [switch]: number of end ports on it */
};

static inline bool gauge_stopped(const struct gauge_options *o)
{
	return o->stop && atomic_load(o->stop);
}

void gauge_net_init(struct gauge_net *n, const struct route_request *r, const struct lfts *l);
void gauge_net_free(struct gauge_net *n);

/* The place by which sw sends lid, or FABRIC_NONE if its entry is not one of its ports. */
static inline uint32_t gauge_out(const struct gauge_net *n, uint32_t sw, uint16_t lid)
{
	uint32_t place;

	if (lid > n->l->top)
		return FABRIC_NONE;
	place = n->first[sw] + lft_get(n->l, sw, lid);
	return place < n->first[sw + 1] ? place : FABRIC_NONE;
}

/* The port index of a place. */
static inline uint32_t gauge_port(const struct gauge_net *n, uint32_t sw, uint32_t place)
{
	return n->f->nodes[n->f->switches[sw].node].port0 + (place - n->first[sw]);
}

/* Whether the end port's switch delivers to it by the right port. */
static inline bool gauge_delivers(const struct gauge_net *n, const struct gauge_end *to)
{
	return gauge_out(n, to->sw, to->lid) == n->first[to->sw] + to->num;
}

/*
 * All routes to one LID.  hops: switches on the route from each switch; 0: no route, or not asked for.
 * order: the switches with a route except the last, each after the one that it sends to.
 */
struct gauge_tree {
	uint16_t *hops;		/* [switch] */
	uint32_t *out;		/* [switch in order]: place by which it sends */
	uint32_t *order, n;
	uint32_t *stack;
};
void gauge_tree_init(struct gauge_tree *t, const struct gauge_net *n);
void gauge_tree_free(struct gauge_tree *t);
/* Finds the routes to a LID that home delivers by port num, from the n_from switches of `from`. */
void gauge_tree_walk(struct gauge_tree *t, const struct gauge_net *n, uint32_t home, unsigned num,
		     uint16_t lid, const uint32_t *from, uint32_t n_from);

/*
 * Adds to load[place] the routes to the tree's LID from all end ports of its switches.  flow: scratch space,
 * [switch]; afterwards the routes that pass each switch of the tree.
 */
void gauge_tree_load(const struct gauge_tree *t, const struct gauge_net *n, uint64_t *flow, uint64_t *load);

/* gauge_flows.c: bisections and shifts. */
void gauge_bisections(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out);
void gauge_shifts(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out);
/* gauge_layers.c: all figures about layers and VLs. */
void gauge_layers(const struct gauge_net *n, const struct route_request *r,
		  const struct gauge_options *o, struct gauge *out);
/*
 * The number of layers that the greedy method of gauge.h needs; 0: too many, or too much work.  placed,
 * which may be NULL, is called for each path, from switch sw to a LID, with its layer.
 */
unsigned gauge_place_paths(const struct gauge_net *n, const struct route_request *r,
			   const struct gauge_options *o,
			   void (*placed)(void *arg, uint32_t sw, uint16_t lid, unsigned layer),
			   void *arg);

#endif
