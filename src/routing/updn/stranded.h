/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways for vertices that have no legal path to a destination (internal to routing/).
 *
 * Each goes to a neighbour that has a way, by a turn if it must be (turns.h): by one that
 * others need as well rather than by a new one, so that few are needed, and by the
 * shortest way among those.  With dead links a vertex keeps to the neighbour that it got for an
 * earlier LID where that needs no new turn, so that a repair is quick.
 *
 * Ways depend on the LIDs that were routed before: a caller whose tables are to be a function of the
 * fabric routes LIDs in a fixed order.
 */
#ifndef QOSD_ROUTING_UPDN_STRANDED_H
#define QOSD_ROUTING_UPDN_STRANDED_H

#include "routing/updn/turns.h"

struct stranded;
struct channels;

/*
 * c: the channels of o's graph; NULL: made here.  dead ([lane]): links that are down; NULL: none is.
 * back: old entries may still send packets over dead links, so that turns must close no cycle with those
 * links, either.  o, c and dead must outlive it.
 */
struct stranded *stranded_new(const struct updn_order *o, const struct channels *c,
			      const bool *dead, bool back);
/* Tells of a turn, by trunks, that the tables have already. */
void stranded_take(struct stranded *s, uint32_t in, uint32_t out);
void stranded_free(struct stranded *s);		/* NULL is fine */
/*
 * Entries for a LID on the n vertices `todo`, which have none; all other vertices have an
 * entry or are to have none.  home: where the LID is delivered.  new_turns: false: only turns that
 * were allowed for others.  load ([lane]) grows by weight for each entry.  Those that stay without
 * an entry come first in todo then; returns their number.
 */
uint32_t stranded_route(struct stranded *s, struct lfts *l, uint32_t home, uint16_t lid,
			uint32_t *todo, uint32_t n, bool new_turns, uint32_t *load, uint32_t weight);

#endif
