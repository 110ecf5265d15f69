/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric as the gauge walks it (internal to routing/gauge/): switches, the ports that lead to others,
 * and the end ports in order of LID.
 */
#ifndef QOSD_ROUTING_GAUGE_GAUGE_NET_H
#define QOSD_ROUTING_GAUGE_GAUGE_NET_H

#include "routing/gauge/gauge.h"

struct gauge_end {
	uint32_t port;		/* port index */
	uint32_t sw;		/* the switch that it is on, … */
	uint8_t num;		/* … and that one's port to it */
	uint16_t lid;
	double gbps;		/* of its cable */
};

/* A switch's port as a number, its place: first[sw] + num. */
struct gauge_net {
	const struct fabric *f;
	const struct lfts *l;
	uint32_t n;		/* switches */
	uint32_t *first;	/* [switch]; first[n]: places in all */
	uint32_t *next;		/* [place]: the other switch at the far end, or FABRIC_NONE */
	double *gbps;		/* [place]: of a cable; never 0 */
	struct gauge_end *ends;	/* by LID */
	uint32_t n_ends;
	uint32_t *at;		/* [switch]: end ports on it */
};

static inline bool gauge_stopped(const struct gauge_options *o)
{
	return o->stop && atomic_load(o->stop);
}

void gauge_net_init(struct gauge_net *n, const struct route_request *r, const struct lfts *l);
void gauge_net_free(struct gauge_net *n);

/* The place by which sw sends lid, or FABRIC_NONE if its entry is none of its ports. */
static inline uint32_t gauge_out(const struct gauge_net *n, uint32_t sw, uint16_t lid)
{
	uint32_t place;

	if (lid > n->l->top)
		return FABRIC_NONE;
	place = n->first[sw] + lft_get(n->l, sw, lid);
	return place < n->first[sw + 1] ? place : FABRIC_NONE;
}

/* The port that a place is. */
static inline uint32_t gauge_port(const struct gauge_net *n, uint32_t sw, uint32_t place)
{
	return n->f->nodes[n->f->switches[sw].node].port0 + (place - n->first[sw]);
}

/* The switch that delivers does so by the right port. */
static inline bool gauge_delivers(const struct gauge_net *n, const struct gauge_end *to)
{
	return gauge_out(n, to->sw, to->lid) == n->first[to->sw] + to->num;
}

/*
 * All ways to one LID.  hops: switches on the way from each switch, 0: no way, or nobody asked.
 * order: the switches with a way but the last one, each behind the one that it sends to.
 */
struct gauge_tree {
	uint16_t *hops;		/* [switch] */
	uint32_t *out;		/* [switch in order]: the place by which it sends */
	uint32_t *order, n;
	uint32_t *stack;
};
void gauge_tree_init(struct gauge_tree *t, const struct gauge_net *n);
void gauge_tree_free(struct gauge_tree *t);
/* The ways to a LID that home delivers by port num, from the switches asked for (n_from). */
void gauge_tree_walk(struct gauge_tree *t, const struct gauge_net *n, uint32_t home, unsigned num,
		     uint16_t lid, const uint32_t *from, uint32_t n_from);

/* gauge_flows.c: bisections and shifts. */
void gauge_bisections(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out);
void gauge_shifts(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out);
/* gauge_layers.c: all that is said of layers and VLs. */
void gauge_layers(const struct gauge_net *n, const struct route_request *r,
		  const struct gauge_options *o, struct gauge *out);
/*
 * How many layers it takes by the greedy of gauge.h, 0: too many, or too much work.  placed, which
 * may be NULL, is told of each path, from switch sw to a LID, in which layer it is.
 */
unsigned gauge_place_paths(const struct gauge_net *n, const struct route_request *r,
			   const struct gauge_options *o,
			   void (*placed)(void *arg, uint32_t sw, uint16_t lid, unsigned layer),
			   void *arg);

#endif
