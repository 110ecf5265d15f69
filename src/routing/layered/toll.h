/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways on any fabric, as short as tolls let them be, by what all lanes carry (internal to routing/).
 *
 * One destination after the other: each vertex takes the way that costs least.  A hop comes before
 * all else, then the routes of hosts that its lanes carry already (SSSP routing: Hoefler,
 * Schneider, Lumsdaine, "Optimized routing for large-scale InfiniBand networks", 2009).  A route
 * counts by the time that a lane takes for it: twice as much on one of half the rate of the fastest.
 *
 * A turn, from one trunk into the next, may have a toll on top: whoever finds that a turn is in the
 * way of others raises it, and has the destinations routed again, until all agree.  That is how
 * PathFinder negotiates the wires of a chip (McMurchie, Ebeling, "PathFinder: a
 * negotiation-based performance-driven router for FPGAs", 1995).
 */
#ifndef QOSD_ROUTING_LAYERED_TOLL_H
#define QOSD_ROUTING_LAYERED_TOLL_H

#include "routing/deps.h"
#include "routing/updn/turns.h"

struct toll;

/* Without tolls.  c, the channels of an order, and the turns that it allows must outlive the result. */
struct toll *toll_new(const struct channels *c, const struct turns *legal);
void toll_free(struct toll *t);		/* NULL is fine */
/* Begins a round, in which no toll grows twice. */
void toll_round(struct toll *t);
/* The toll of a turn grows by so many hundredths of a hop, to a thousand hops at most.  Returns what it is. */
uint32_t toll_raise(struct toll *t, struct dep turn, uint32_t hundredths);
/*
 * For tables that somebody has made: counts the routes of hosts that out has to the LIDs of the n ends on
 * vertex d, and takes away the entries that do not lead there.  False: there were such, or some vertices
 * have none.
 */
bool toll_keep(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/* The opposite: what out has to them counts no more. */
void toll_forget(struct toll *t, const struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/*
 * Vertex v has another entry for a LID on vertex d than `had`: the routes of hosts that lead over it count where
 * they go now.  All entries lead to d.
 */
void toll_divert(struct toll *t, const struct lfts *out, uint32_t d, uint16_t lid, uint32_t v, uint8_t had);
/* Entries where toll_keep() left none; all others stay. */
void toll_mend(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n);
/*
 * Entries for the LIDs of the n ends on vertex d, on all vertices that have a way to it, but for
 * itself.  again: out has entries for them, made by this, which don't count any more.  legal_only: by
 * turns that the order allows, as far as these connect.
 */
void toll_route(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n,
		bool again, bool legal_only);

#endif
