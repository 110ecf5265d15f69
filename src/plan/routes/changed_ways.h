/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the LIDs whose routes may differ from those of an earlier plan.
 *
 * Verdicts on routes and what routes carry are computed LID by LID, and a link that goes or comes
 * affects the routes to few LIDs.
 *
 * Nothing is assumed of what happened in between: all entries of forwarding tables, hops and owners
 * of LIDs are compared.
 */
#ifndef QOSD_PLAN_ROUTES_CHANGED_WAYS_H
#define QOSD_PLAN_ROUTES_CHANGED_WAYS_H

#include "plan/plan.h"

/* A port of a switch, as far as it matters for routes. */
struct hop {
	uint32_t next;		/* switch at the other end, or FABRIC_NONE */
	uint32_t peer;		/* port slot at the other end, or FABRIC_NONE */
	uint8_t in;		/* port number of peer */
	uint8_t mtu;
	uint8_t rate;		/* rank: 1 the slowest */
	bool one_map;		/* out_mask holds for every in port */
	uint16_t out_mask;	/* for port 0: whether it is enhanced */
};

struct hops {
	struct hop *v;
	uint32_t n, n_switches;
	uint32_t *first;	/* switch -> index of its port 0 in v */
	uint8_t *nports;	/* switch -> number of its ports */
};

/*
 * Compares the routes of `now` with those of a complete plan `before`; hops: of now.  NULL: the two
 * cannot be compared, or nothing is gained; else the caller frees it with route_changes_free().
 */
struct route_changes *changes_find(const struct plan *now, const struct hops *hops,
				   const struct plan *before);

#endif
