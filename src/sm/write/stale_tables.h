/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stale tables: what switches still hold for ports that have no link any more: their SL2VL and arbitration
 * tables were written when there was one, no plan has them since, and nobody changes them.
 * When the link is back that need not be read again.  Values, without I/O.
 *
 * What is not surely known is not here: a switch that was read anew or is doubtful is forgotten,
 * as is one where Sets reached tables that no plan had (all in ports of an out port at once), and
 * any when tables are not managed for a while.
 * P_Key tables are not kept: what partitions are enforced by is looked at.
 */
#ifndef QOSD_SM_WRITE_STALE_TABLES_H
#define QOSD_SM_WRITE_STALE_TABLES_H

#include "sm/sweep/difference.h"

struct stale_tables;

struct stale_tables *stale_tables_new(void);
void stale_tables_free(struct stale_tables *r);		/* NULL is fine */

/*
 * The switch held the tables of the plan `old` as its node old_node, and has those of p now:
 * what only the old one has, of ports that lost their link, stays on it.
 */
void stale_tables_note(struct stale_tables *r, const struct plan *old, uint32_t old_node,
		       const struct plan *p, uint32_t node);
/* What the switch (a node GUID) holds of what no plan has is not known any more. */
void stale_tables_forget(struct stale_tables *r, uint64_t guid);
void stale_tables_forget_all(struct stale_tables *r);

/* An item that item_change() does not know: against what was left on the switch. */
enum item_change stale_tables_compare(const struct stale_tables *r, const struct plan *p, uint32_t node,
				      item_t item);

#endif
