/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remembers the tables that switches still hold for ports that have lost their link (stale tables).
 *
 * Their SL2VL and arbitration tables were written while the port had a link; no plan has them
 * since, and nobody changes them.  When the link is back they need not be read again.  Values,
 * without I/O.
 *
 * Holds only verified state.  A switch is forgotten if it was read anew or is doubtful, or if Sets
 * reached tables that no plan had (all in ports of an out port at once); all switches are forgotten
 * if tables are not managed for a while.  P_Key tables are not remembered: they enforce partitions,
 * so they are read.
 */
#ifndef QOSD_SM_WRITE_STALE_TABLES_H
#define QOSD_SM_WRITE_STALE_TABLES_H

#include "sm/sweep/difference.h"

struct stale_tables;

struct stale_tables *stale_tables_new(void);
void stale_tables_free(struct stale_tables *r);		/* NULL is fine */

/*
 * Records what stays on a switch.  It held the tables of the plan `old` as node old_node, and has
 * those of p now: tables that only `old` has, for ports that lost their link, are stale.
 */
void stale_tables_note(struct stale_tables *r, const struct plan *old, uint32_t old_node,
		       const struct plan *p, uint32_t node);
/* Forgets the stale tables of a switch (node GUID). */
void stale_tables_forget(struct stale_tables *r, uint64_t guid);
void stale_tables_forget_all(struct stale_tables *r);

/* Compares an item that item_change() does not know with the stale tables of the switch. */
enum item_change stale_tables_compare(const struct stale_tables *r, const struct plan *p, uint32_t node,
				      item_t item);

#endif
