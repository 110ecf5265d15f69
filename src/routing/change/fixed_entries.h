/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables with switches in them whose entries can't be chosen: a table that is too
 * small drops, and one that a switch does not let anybody change forwards as it did before.
 *
 * A fixed entry is taken as it is, right or wrong.  Every other switch whose way to the LID led
 * over a fixed entry that does not arrive gets another next hop; all others keep theirs.  A
 * switch for which there is no such way drops the LID, so that no packet begins a way that
 * comes back: a cycle can only be made of fixed entries.
 *
 * A fixed entry for a link that is held, and whose ends are not known to be up, is the last resort: it is
 * taken where there is no other way, and what goes by it counts as cut off.
 */
#ifndef QOSD_ROUTING_CHANGE_FIXED_ENTRIES_H
#define QOSD_ROUTING_CHANGE_FIXED_ENTRIES_H

#include "routing/graph.h"

struct detour_request {
	const struct fabric *f;
	const struct updn_order *order;		/* of f */
	bool legal;	/* new ways go up, then down; else they are the shortest by any links */
	const uint32_t *port_by_lid;		/* port index or FABRIC_NONE, up to the tables' top */
	/* True: the entry of the switch for the LID is fixed, and stored in *entry. */
	bool (*fixed)(const void *arg, uint32_t sw, uint16_t lid, uint8_t *entry);
	const void *arg;
	const uint32_t *switches;		/* those for which fixed() may say so */
	uint32_t n_switches;
	const bool *apart;	/* [switch], of those: see struct detour_cut; NULL: none is */
};

/* For a LID: from how many switches with hosts, or with the SM, its packets do not arrive for sure. */
struct detour_cut {
	uint32_t all, rest;	/* rest: of those that are not apart */
};

/*
 * Changes the tables, which are complete otherwise.  cut: for each LID up to the tables' top that a port
 * has; zero on entry.
 */
void detour(const struct detour_request *r, struct lfts *l, struct detour_cut *cut);
/* Whether v counts in `cut`: it has hosts, or the SM. */
bool detour_sends(const struct graph *g, uint32_t v);

#endif
