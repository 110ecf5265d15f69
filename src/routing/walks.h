/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows the tables' routes to one LID after another, each stretch only once (internal to routing/).
 *
 * Collects the turns that the routes take and tells which routes change.
 */
#ifndef QOSD_ROUTING_WALKS_H
#define QOSD_ROUTING_WALKS_H

#include "routing/channel.h"
#include "routing/deps.h"

struct walks {
	const struct channels *c;
	const bool *dead;	/* [link]; NULL: all alive */
	/* [vertex]: trunk that its entry for the current LID leads to, or FABRIC_NONE */
	uint32_t *out;
	/* [vertex]: whether its route changes */
	enum walk { WALK_UNKNOWN, WALK_STAYS, WALK_MOVES } *walk;
	uint32_t *way;		/* vertices; scratch space of walks_moves() */
	/*
	 * [(2 * layer + whether packets arrive by a far link) * vertices + vertex]: equals `mark` if the
	 * turns of the route from there are noted
	 */
	uint32_t *seen;
	uint32_t mark;
};

void walks_init(struct walks *w, const struct channels *c, const bool *dead, unsigned n_layers);
void walks_free(struct walks *w);
/*
 * Makes lid the current LID.  Returns false if every switch has the same entry for it as for the LID
 * before.
 */
bool walks_recall(struct walks *w, const struct lfts *l, uint16_t lid);

/* Starts a new set of notes: no route counts as noted. */
void walks_begin(struct walks *w);
/*
 * Notes the turns of the route from v in a layer (deps_note()), up to the first vertex already noted.
 * search: uses deps_add() instead, which leaves out turns that close a cycle.
 */
void walks_note(struct walks *w, struct deps *d, unsigned layer, uint32_t v, bool search);

/* Starts a new series of walks_moves() calls for the current LID: forgets the results so far. */
void walks_begin_moves(struct walks *w);
/* Whether differs() is true of any vertex on the route from v, including v. */
bool walks_moves(struct walks *w, uint32_t v, uint16_t lid, bool (*differs)(void *arg, uint32_t v, uint16_t lid),
		 void *arg);

#endif
