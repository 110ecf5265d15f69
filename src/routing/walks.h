/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ways that tables have to one LID after the other, each stretch of which is followed but once, from however
 * many switches (internal to routing/): what turns they take, and which of them change.
 */
#ifndef QOSD_ROUTING_WALKS_H
#define QOSD_ROUTING_WALKS_H

#include "routing/channel.h"
#include "routing/deps.h"

struct walks {
	const struct channels *c;
	const bool *dead;	/* [lane]; NULL: all live */
	uint32_t *out;		/* [vertex]: the trunk by which its entry leads on, or FABRIC_NONE */
	enum walk { WALK_UNKNOWN, WALK_STAYS, WALK_MOVES } *walk;	/* [vertex]: whether its way changes */
	uint32_t *way;		/* vertices */
	/* [(2 * layer + whether packets come by a far link) * vertices + vertex]: `mark`: its way on is noted */
	uint32_t *seen;
	uint32_t mark;
};

void walks_init(struct walks *w, const struct channels *c, const bool *dead, unsigned n_layers);
void walks_free(struct walks *w);
/* Turns to a LID; false: all switches have the entries that they had for the LID before it. */
bool walks_recall(struct walks *w, const struct lfts *l, uint16_t lid);

/* Begins notes: nothing is noted of any way. */
void walks_begin(struct walks *w);
/*
 * Notes the turns of the way from v on in a layer (deps_note()), as far as it was not noted.  search: adds those
 * that close no cycle instead (deps_add()).
 */
void walks_note(struct walks *w, struct deps *d, unsigned layer, uint32_t v, bool search);

/* Begins to ask which ways change: of none it is known. */
void walks_begin_moves(struct walks *w);
/* Whether the entry of any vertex on the way from v, v as well, differs. */
bool walks_moves(struct walks *w, uint32_t v, uint16_t lid, bool (*differs)(void *arg, uint32_t v, uint16_t lid),
		 void *arg);

#endif
