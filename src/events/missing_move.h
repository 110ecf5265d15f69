/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds where the cables of missing links may be now.
 *
 * A cable that was moved at one end is in a port of the missing link.  One that was moved at both ends is a new link
 * (missing.h) between the same two switches, or at the same host, that came when the other one was missing.  That is a
 * guess, as nobody can tell one cable from another, so it is told as a question; where several new links, or several
 * missing ones, come into question, only their numbers are told.
 */
#ifndef QOSD_EVENTS_MISSING_MOVE_H
#define QOSD_EVENTS_MISSING_MOVE_H

#include "events/missing.h"

struct missing_move {
	unsigned n_new;		/* links that may be the missing one; 0: its cable was not moved at both ends */
	unsigned n_missing;	/* links, this one included, that these may be */
	/* If both numbers are 1: the end at the missing link's a, and since when it is there.  Else FABRIC_NONE. */
	uint32_t port;
	int64_t since_us;	/* realtime */
	bool unwatched;		/* it came before, while no qosd was watching */
};

/*
 * The port that an end of a missing link is linked to in f now: somebody has put a cable there, perhaps
 * the one that is missing.  FABRIC_NONE: the item is no missing link, or the port has no link.
 */
uint32_t missing_linked_to(const struct missing_item *x, const struct missing_end *e, const struct fabric *f);

struct missing_moves;
/* Looks at all items once.  m and f, the published fabric, may be NULL; f must outlive the result. */
struct missing_moves *missing_moves_new(const struct missing *m, const struct fabric *f);
void missing_moves_free(struct missing_moves *v);
/* Of an item of the table, even if the table has changed since. */
struct missing_move missing_moves_of(const struct missing_moves *v, const struct missing_item *x);

#endif
