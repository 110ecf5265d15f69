/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves routes off the busiest link, one table entry at a time (internal to routing/).
 *
 * Engines choose routes by the sum of what their links carry, destination by destination.  That keeps
 * loads even on average, but a few links may end up with much more load than the others, where tolls
 * (toll.h) or missing links push routes together.  Each move here changes one entry, of a LID whose routes
 * load the busiest link, to a link by which the destination is equally far and on whose route no link gets
 * as busy as the busiest was.  The moves end when the busiest link has no such entry.
 *
 * Few entries change, so routes to one destination mostly go on sharing the links that the engine chose
 * for them.
 */
#ifndef QOSD_ROUTING_RELIEF_H
#define QOSD_ROUTING_RELIEF_H

#include "routing/channel.h"

/* A changed entry. */
struct relief_move {
	uint32_t v;		/* vertex whose entry changed */
	uint32_t d;		/* vertex that the LID is on */
	uint16_t lid;		/* a host's LID */
	uint8_t had;		/* out port before the change; the tables hold the new one */
};

/*
 * Changes l, tables of r's hosts that have no cycle, over the channels c.  may() is called after each move
 * and undoes it by returning false; it adds to *looks the number of vertices or channels that it looked
 * at.  The number of looks is bounded, which limits the call to some tenths of a second.
 */
void relieve(const struct route_request *r, const struct channels *c, struct lfts *l,
	     bool (*may)(void *arg, const struct relief_move *m, uint64_t *looks), void *arg);

#endif
