/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which LIDs may change together where routes are in layers (internal to routing/).
 *
 * While a LID changes, a packet follows old entries up to some switch and new ones from there on
 * (update_rounds.c sees to that), so a pair of switches may use turns in its layer that it has neither in
 * the old nor in the new tables: from the old way into the new, and the new way of a switch whose own
 * pair is in another layer.  LIDs change in the same phase if all that they may use meanwhile, and
 * all that the others use before or after their change, form no cycle in any layer.  A phase begins
 * when the one before is confirmed.
 *
 * Where no LID can change that way, those that are left have the entries that differ dropped in a
 * phase of its own: without the old way there is no turn from it into the new one.
 *
 * That the old and the new routes together, and all that a packet can be made of in between, must not
 * wait in a cycle: Duato, Lysne, Pang, Pinkston, "A theory for deadlock-free dynamic network
 * reconfiguration", parts I and II, 2005.  A packet that stays in a switch for longer than a phase
 * takes is not accounted for.
 */
#ifndef QOSD_ROUTING_CHANGE_UPDATE_PHASES_H
#define QOSD_ROUTING_CHANGE_UPDATE_PHASES_H

#include "routing/change/update_rounds.h"
#include "routing/channel.h"

struct phases;

/* The arguments are those of rounds_make(), and must outlive the result; y is not NULL. */
struct phases *phases_new(const struct channels *c, const struct living *l, const struct lfts *was,
			  const struct lfts *next, const struct rounds_layers *y);
void phases_free(struct phases *p);
/* How many ways of switches with CA or router ports to LIDs change; only these are looked at again in each phase. */
uint32_t phases_ways(const struct phases *p);
/*
 * Changes `now`, a copy of `was` or what the last call has left, to the tables at the end of the next
 * phase, and adds how many entries are dropped meanwhile to *dropped.  False: it is `next`.
 */
bool phases_next(struct phases *p, struct lfts *now, uint32_t *dropped);

#endif
