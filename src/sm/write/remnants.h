/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What switches still hold for ports that have no link any more: their SL2VL and arbitration
 * tables were written when there was one, no plan has them since, and nobody changes them.
 * When the link is back that need not be read again.  Values, without I/O.
 *
 * What is not surely known is not here: a switch that was read anew or is doubtful is forgotten,
 * as is one where Sets reached tables that no plan had (all in ports of an out port at once), and
 * any when tables are not managed for a while.
 * P_Key tables are not kept: what partitions are enforced by is looked at.
 */
#ifndef QOSD_SM_WRITE_REMNANTS_H
#define QOSD_SM_WRITE_REMNANTS_H

#include "sm/sweep/difference.h"

struct remnants;

struct remnants *remnants_new(void);
void remnants_free(struct remnants *r);		/* NULL is fine */

/*
 * The switch held the tables of the plan `old` as its node old_node, and has those of p now:
 * what only the old one has, of ports that lost their link, stays on it.
 */
void remnants_note(struct remnants *r, const struct plan *old, uint32_t old_node,
		   const struct plan *p, uint32_t node);
/* What the switch (a node GUID) holds of what no plan has is not known any more. */
void remnants_forget(struct remnants *r, uint64_t guid);
void remnants_forget_all(struct remnants *r);

/* An item that item_change() does not know: against what was left on the switch. */
enum item_change remnants_compare(const struct remnants *r, const struct plan *p, uint32_t node,
				  item_t item);

#endif
