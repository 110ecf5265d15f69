/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the out ports that adaptive routing may choose from, per switch and destination, without a credit
 * loop.
 *
 * The choices extend the tables of any engine.  Whatever ports the switches choose, packet by packet,
 *
 *  - a packet arrives in as many hops as by the tables: a switch has choices only if the tables' routes
 *    from it to all LIDs on the destination switch are shortest, and each leads to a neighbour of which
 *    the same is true;
 *  - no channels of a layer wait for each other in a cycle: one acyclic graph (deps.h) holds every
 *    dependency that the choices, the tables and all permitted multicast turns can cause.
 *
 * The search is greedy: it adds one choice after another, farthest from the LIDs first, unless the choice
 * closes a cycle.  Other sets of the same size may exist.  With an up/down order, all legal shortest
 * routes fit.
 *
 * All LIDs of CA and router ports on a switch have the same choices, which suits hardware that
 * keeps them as groups of ports.  LIDs of switches have no choices: little traffic goes to them.
 *
 * The engine "dragonfly" gets no choices: its VL sets depend on the link by which a packet arrived, and this
 * file does not track that.
 *
 * Nothing configures switches with the choices yet; the gauge counts them (routing/gauge/gauge.h).
 */
#ifndef QOSD_ROUTING_CHOICES_H
#define QOSD_ROUTING_CHOICES_H

#include <stdatomic.h>

#include "lib/base/alloc.h"
#include "routing/layers.h"

struct port_set {
	uint64_t bits[4];		/* port n is bit n % 64 of bits[n / 64] */
};

struct route_choices {
	uint32_t n_switches;
	/* [switch * n_switches + destination switch]: index in `sets`; 0, the empty set: no choice */
	uint32_t *set;
	VEC(struct port_set) sets;	/* at least two ports each, except the empty first */
	/*
	 * places: ordered pairs of switches where the first sends host packets to the second's LIDs by
	 * shortest routes.
	 * ports: out ports usable for these pairs, summed up; 1 for a pair without a choice.
	 */
	uint64_t places, ports;
};

static inline bool port_set_has(const struct port_set *s, unsigned port)
{
	return s->bits[port / 64] >> port % 64 & 1;
}

/*
 * Finds the choices for tables l of r, whose layers are r->layers.  NULL if the tables already have a
 * credit loop.  stop: polled, or NULL; once it is true the function returns NULL soon.
 */
struct route_choices *route_choices_new(const struct route_request *r, const struct lfts *l,
					const atomic_bool *stop);
void route_choices_free(struct route_choices *x);	/* NULL is fine */

#endif
