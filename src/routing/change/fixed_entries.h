/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adapts forwarding tables to switches with entries that cannot be chosen.
 *
 * A table that is too small drops, and a table that cannot be written forwards as before.
 *
 * A fixed entry is taken as it is, right or wrong.  Every other switch whose route to the LID led over a
 * fixed entry that does not arrive gets another next hop; all others keep theirs.  A switch without such a
 * next hop drops the LID, so that no packet starts on a route that comes back: a loop can only consist of
 * fixed entries.
 *
 * A fixed entry for a held link whose ends are not known to be up is the last resort: it is used where
 * there is no other route, and what uses it counts as cut off.
 */
#ifndef QOSD_ROUTING_CHANGE_FIXED_ENTRIES_H
#define QOSD_ROUTING_CHANGE_FIXED_ENTRIES_H

#include "routing/graph.h"

struct detour_request {
	const struct fabric *f;
	const struct updn_order *order;		/* of f */
	bool legal;	/* new routes go up, then down; else they are the shortest by any links */
	const uint32_t *port_by_lid;		/* [LID up to the tables' top]: port index or FABRIC_NONE */
	/* Returns true if the entry of the switch for the LID is fixed, and stores it in *entry. */
	bool (*fixed)(const void *arg, uint32_t sw, uint16_t lid, uint8_t *entry);
	const void *arg;
	const uint32_t *switches;		/* switches for which fixed() may return true */
	uint32_t n_switches;
	const bool *apart;	/* [switch]: left out of detour_cut.rest; NULL: none */
};

/* Number of switches with hosts, or with the SM, from which packets to a LID do not arrive for certain. */
struct detour_cut {
	uint32_t all, rest;	/* rest: switches that are not `apart` */
};

/*
 * Changes l, tables that are otherwise complete.  cut: [LID up to the tables' top], zero on entry; set for
 * LIDs that a port has.
 */
void detour(const struct detour_request *r, struct lfts *l, struct detour_cut *cut);
/* Whether v counts in `cut`: hosts or the SM are on it. */
bool detour_sends(const struct graph *g, uint32_t v);

#endif
