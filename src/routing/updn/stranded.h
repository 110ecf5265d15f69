/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds routes for vertices that have no legal path to a destination (internal to routing/).
 *
 * Each vertex sends to a neighbour that has a route, by a turn if necessary (turns.h).  It prefers a turn
 * that others need as well, so that few new ones are needed, and the shortest route among those.  With
 * dead links a vertex keeps the neighbour that it got for an earlier LID if that needs no new turn, so
 * that a repair is quick.
 *
 * Routes depend on the LIDs routed before: a caller whose tables must be a function of the fabric routes
 * LIDs in a fixed order.
 */
#ifndef QOSD_ROUTING_UPDN_STRANDED_H
#define QOSD_ROUTING_UPDN_STRANDED_H

#include "routing/updn/turns.h"

struct stranded;
struct channels;

/*
 * c: channels of o's graph; NULL: made here.  dead[link]: no route may use the link; NULL: any may.
 * gone[link]: no packet is on the link, so turns may close a cycle with it; NULL: none is like that, as
 * old entries may still send packets over dead links.  o, c, dead and gone must outlive the result.
 */
struct stranded *stranded_new(const struct updn_order *o, const struct channels *c,
			      const bool *dead, const bool *gone);
/* Registers a turn, by trunks, that the tables already have. */
void stranded_take(struct stranded *s, uint32_t in, uint32_t out);
void stranded_free(struct stranded *s);		/* NULL is fine */
/*
 * Sets entries for a LID on the n vertices `todo`, which have none; each other vertex has an entry or is
 * to have none.  home: vertex that delivers the LID.  new_turns false: uses only turns already allowed.
 * load[link] grows by weight for each entry.  Moves the vertices that stay without an entry to the front
 * of todo; returns their number.
 */
uint32_t stranded_route(struct stranded *s, struct lfts *l, uint32_t home, uint16_t lid,
			uint32_t *todo, uint32_t n, bool new_turns, uint32_t *load, uint32_t weight);

#endif
