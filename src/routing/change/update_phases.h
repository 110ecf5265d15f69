/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which LIDs may change together where routes are in layers (internal to routing/).
 *
 * While a LID changes, a packet follows old entries up to some switch and new ones from there on (update_rounds.c
 * ensures that).  So a pair of switches may use turns in its layer that neither the old nor the new tables
 * have: from the old route into the new one, and on the new route of a switch whose own pair is in another
 * layer.  LIDs may change in the same phase if no layer has a cycle among all turns that they may use
 * meanwhile and all turns that the other LIDs use before or after their change.  A phase begins when the
 * previous one is confirmed.
 *
 * Where no LID can change that way, the remaining LIDs drop the entries that differ in a phase of its own:
 * without the old route there is no turn from it into the new one.
 *
 * The rule that old routes, new routes and every mixture must not wait in a cycle: Duato, Lysne, Pang,
 * Pinkston, "A theory for deadlock-free dynamic network reconfiguration", parts I and II, 2005.  A packet
 * that stays in a switch for longer than a phase takes is not covered.
 */
#ifndef QOSD_ROUTING_CHANGE_UPDATE_PHASES_H
#define QOSD_ROUTING_CHANGE_UPDATE_PHASES_H

#include "routing/change/update_rounds.h"
#include "routing/channel.h"

struct phases;

/* Takes the arguments of rounds_make(), which must outlive the result; y is not NULL. */
struct phases *phases_new(const struct channels *c, const struct living *l, const struct lfts *was,
			  const struct lfts *next, const struct rounds_layers *y);
void phases_free(struct phases *p);
/*
 * Number of changing routes from switches with CA or router ports to LIDs; each phase looks only at these
 * again.
 */
uint32_t phases_ways(const struct phases *p);
/*
 * Changes `now`, a copy of `was` or the result of the last call, to the tables at the end of the next
 * phase.  Adds the number of entries that the phase drops to *dropped.  False: `now` is `next` already.
 */
bool phases_next(struct phases *p, struct lfts *now, uint32_t *dropped);

#endif
