/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports that a switch may choose among on the way to a LID, packet by packet, without a credit loop: what
 * adaptive routing may be given beside the tables of any engine.
 *
 * Whatever the switches choose,
 *
 *  - a packet arrives, in as many hops as by the tables: a switch has choices only if the tables' ways from
 *    it to all LIDs on a switch are shortest, and each leads to a neighbour for which that is so, too;
 *  - no channels of a layer ever wait for each other in a cycle: what is held and what is waited for
 *    then is in one acyclic graph (deps.h) with what the tables need, and with all turns that multicast may take.
 *
 * Choices are added one after the other, those farthest from the LIDs first, as long as they close no
 * cycle; so there may be other sets of as many.  By an up/down order all its legal shortest ways fit.
 *
 * All LIDs of CA and router ports on a switch have the same choices, as groups of ports in hardware
 * suggest.  LIDs of switches have none: their own ports are sent to by few.
 *
 * Tables of the engine "dragonfly" get no choices: its lanes depend on how a packet came, which this file does not
 * follow.
 *
 * Nothing sets switches up for that so far; the gauge tells how many choices there are (routing/gauge/gauge.h).
 */
#ifndef QOSD_ROUTING_CHOICES_H
#define QOSD_ROUTING_CHOICES_H

#include <stdatomic.h>

#include "lib/base/alloc.h"
#include "routing/layers.h"

struct port_set {
	uint64_t bits[4];		/* port n: bit n % 64 of bits[n / 64] */
};

struct route_choices {
	uint32_t n_switches;
	/* [switch * n_switches + switch that the LIDs are on]: which of `sets`; 0, an empty one: no choice */
	uint32_t *set;
	VEC(struct port_set) sets;	/* at least two ports each, but for the first */
	/*
	 * Pairs of a switch and another one, to whose LIDs it sends packets of hosts by shortest ways; and the
	 * ports for them, 1 where there is no choice.
	 */
	uint64_t places, ports;
};

static inline bool port_set_has(const struct port_set *s, unsigned port)
{
	return s->bits[port / 64] >> port % 64 & 1;
}

/*
 * The choices beside r's tables l, whose layers are r->layers.  NULL if these have a credit loop already.
 * stop: looked at now and then, or NULL; true ends it soon, with NULL.
 */
struct route_choices *route_choices_new(const struct route_request *r, const struct lfts *l,
					const atomic_bool *stop);
void route_choices_free(struct route_choices *x);	/* NULL is fine */

#endif
