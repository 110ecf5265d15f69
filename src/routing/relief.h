/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Takes routes off the busiest lane, again and again (internal to routing/).
 *
 * Engines choose ways by the sum of what their lanes carry, destination by destination.  That keeps
 * loads even on average, but a few lanes may be left with much more than the others, where tolls (toll.h)
 * or missing links have pushed routes together.  Here one entry at a time changes, of a LID whose routes
 * load the busiest lane: to a lane by which the destination is equally far, and on whose way no lane gets as
 * busy as that one was.  That ends where the busiest lane has no such entry.
 *
 * Few entries change: what engines achieve by having routes to one destination share lanes stays.
 */
#ifndef QOSD_ROUTING_RELIEF_H
#define QOSD_ROUTING_RELIEF_H

#include "routing/channel.h"

/* An entry that has changed. */
struct relief_move {
	uint32_t v;		/* the vertex that has the entry */
	uint32_t d;		/* the vertex that the LID is on */
	uint16_t lid;		/* of a host */
	uint8_t had;		/* the port that the entry had; the tables have the new one */
};

/*
 * Changes l, tables of r's hosts without cycles, over the channels c.  may() is asked of each move, and
 * has it undone by returning false; it adds to *looks what that took it, in looks at vertices or channels.
 * Bounded by the number of looks: some tenths of a second.
 */
void relieve(const struct route_request *r, const struct channels *c, struct lfts *l,
	     bool (*may)(void *arg, const struct relief_move *m, uint64_t *looks), void *arg);

#endif
