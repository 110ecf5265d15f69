/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers what switches held when isolation took them out of the fabric, so that a release need not read all of it.
 *
 * A switch that is isolated keeps its tables, and nobody writes to it.  When it is back, and the plan wants of it what
 * it wanted then, a few samples tell whether it has restarted meanwhile (observe.c); a switch of 36 ports has 1,300
 * SL2VL tables.  A digest of a plan is kept, and only of a switch that held all of it: 16 bytes each.
 */
#ifndef QOSD_SM_DEVICES_ISOLATED_TABLES_H
#define QOSD_SM_DEVICES_ISOLATED_TABLES_H

#include "plan/published_state.h"
#include "sm/sweep/want.h"

/* By GUID of a switch, a digest of what was written to it.  Zeroed: nothing is remembered. */
struct isolated_tables {
	struct map64 qos;	/* SL2VL and arbitration tables */
	struct map64 routes;	/* the forwarding table */
};

/* Digests of switches that are about to leave the fabric. */
struct isolated_digest {
	uint32_t node;		/* of the plan that they leave */
	uint32_t qos, routes;
};
struct isolated_digests {
	struct isolated_digest *v;
	size_t n, cap;
};

/* Adds what the plan wants of the switches that f does not have.  Costs 1,300 tables for each of them. */
void isolated_tables_digest(struct isolated_digests *d, const struct plan *before, const struct fabric *f);
/*
 * Notes the switches, which have just left the state.  Those that are in `doubtful`, or have a fault or refuse values,
 * are not as planned.
 */
void isolated_tables_note(struct isolated_tables *x, const struct isolated_digests *d, const struct subnet_state *s,
			  const struct map64 *doubtful, const struct refusals *refused);
/* The plan wants of a switch what it held when it left, in tables of this kind: ITEM_LFT, ITEM_SL2VL or ITEM_VLARB. */
bool isolated_tables_are(const struct isolated_tables *x, const struct plan *p, uint32_t node, enum item_kind kind);
/* Forgets the switches that f has. */
void isolated_tables_forget(struct isolated_tables *x, const struct fabric *f);
void isolated_tables_free(struct isolated_tables *x);	/* leaves nothing remembered */

#endif
