/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Of which LIDs the ways may differ from those of an earlier plan: the verdict on routes and what
 * they carry are found LID by LID, and a link that goes or comes is on the ways to few.
 *
 * Nothing is assumed of what happened in between: entries of forwarding tables, hops and
 * owners of LIDs are compared, all of them.
 */
#ifndef QOSD_PLAN_ROUTES_CHANGED_WAYS_H
#define QOSD_PLAN_ROUTES_CHANGED_WAYS_H

#include "plan/plan.h"

/* One port of a switch, as far as it counts for ways. */
struct hop {
	uint32_t next;		/* switch at the other end, or FABRIC_NONE */
	uint32_t peer;		/* port slot at the other end, or FABRIC_NONE */
	uint8_t in;		/* number of peer */
	uint8_t mtu;
	uint8_t rate;		/* rank: 1 the slowest */
	bool one_map;		/* out_mask holds for every in port */
	uint16_t out_mask;	/* of a port 0: whether it is an enhanced one */
};

struct hops {
	struct hop *v;
	uint32_t n, n_switches;
	uint32_t *first;	/* switch -> its port 0 */
	uint8_t *nports;	/* switch -> its ports */
};

/*
 * The ways of `now` against those of a complete plan `before`, hops: of now.  NULL if the two can't
 * be compared, or nothing is gained by it; else to be freed by route_changes_free().
 */
struct route_changes *changes_find(const struct plan *now, const struct hops *hops,
				   const struct plan *before);

#endif
