/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds routes on any fabric by hops, load and negotiable tolls on turns (internal to routing/).
 *
 * Destinations are routed one after another: each vertex takes the route that costs least.  Hops count
 * most, then the routes of hosts that the links already carry (SSSP routing: Hoefler, Schneider,
 * Lumsdaine, "Optimized routing for large-scale InfiniBand networks", 2009).  A route counts by the time
 * that a link takes for it: twice as much on a link with half the rate of the fastest.
 *
 * A turn, from one trunk into the next, may have a toll in addition.  A caller that finds a turn in the
 * way of other routes raises its toll and has the destinations routed again, until all routes agree.
 * PathFinder negotiates the wires of a chip in this way (McMurchie, Ebeling, "PathFinder: a
 * negotiation-based performance-driven router for FPGAs", 1995).
 */
#ifndef QOSD_ROUTING_LAYERED_TOLL_H
#define QOSD_ROUTING_LAYERED_TOLL_H

#include "routing/deps.h"
#include "routing/updn/turns.h"

struct toll;

/*
 * Starts without tolls.  c, the channels of an order, and `legal`, the turns that the order allows, must
 * outlive the result.
 */
struct toll *toll_new(const struct channels *c, const struct turns *legal);
void toll_free(struct toll *t);		/* NULL is fine */
/* Begins a round; in one round each toll grows once at most. */
void toll_round(struct toll *t);
/*
 * Raises the toll of a turn by this many hundredths of a hop, to a thousand hops at most.  Returns the new
 * toll.
 */
uint32_t toll_raise(struct toll *t, struct dep turn, uint32_t hundredths);
/*
 * For tables made elsewhere: counts the routes of hosts that out has to the LIDs of the n ends on vertex
 * d, and removes entries that do not lead there.  False: it removed some, or some vertices have no entry.
 */
bool toll_keep(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/* Stops counting the routes that out has to these ends. */
void toll_forget(struct toll *t, const struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/*
 * Recounts routes after vertex v's entry for a LID on vertex d changed from port `had`: the routes of
 * hosts over v move to the new links.  All entries must lead to d.
 */
void toll_divert(struct toll *t, const struct lfts *out, uint32_t d, uint16_t lid, uint32_t v, uint8_t had);
/* Sets the entries that toll_keep() removed or missed; all others stay. */
void toll_mend(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/*
 * Sets the entries for the LIDs of the n ends on vertex d, at all vertices with a route to it except d
 * itself.  again: out has entries from an earlier call, which no longer count.  legal_only: uses turns
 * that the order allows, as far as these connect.
 */
void toll_route(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n,
		bool again, bool legal_only);

#endif
