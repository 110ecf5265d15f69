/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * In which order forwarding tables are written.
 *
 * From the tables that the switches hold to those that they are to hold, by
 * rounds.  What is in one round may be written in any order, and all of it is
 * to be confirmed before the next.  Then at every moment
 *
 *  - no LID's entries form a loop;
 *  - by an order, a LID turns from down to up only where it does in the old or
 *    in the new tables: if these have no turn, there never is one and so no
 *    credit loop; and with a safe hub the turns that they have close none.
 *
 * This holds if it does for the old and for the new tables by themselves; old
 * ways end at dead links.
 */
#ifndef QOSD_ROUTE_ROUNDS_H
#define QOSD_ROUTE_ROUNDS_H

#include "route/repair.h"

struct lft_write {
	uint32_t sw;
	uint16_t block;
	uint8_t entries[LFT_BLOCK];
};

struct rounds {
	struct lft_write *writes;
	uint32_t *first;	/* round i: writes[first[i]] .. writes[first[i + 1] - 1] */
	uint32_t n;
	/*
	 * Writes beyond one for each block: entries of one block had to wait for
	 * each other.
	 */
	uint32_t again;
	uint32_t dropped;	/* entries that have no route for a while, as nothing else helped */
};

/*
 * c: the channels of the fabric; o: the order that both tables keep to, NULL
 * if they don't keep to one.  dead: links that are dead by now.  Was and next
 * are of the same switches and top.  blocks: where they differ, or more; with
 * NULL all are compared.  No block is written that doesn't differ, and none of
 * a switch that the SM doesn't reach.
 */
void rounds_make(struct rounds *r, const struct channels *c, const struct updn_order *o,
		 const struct link_end *dead, uint32_t n_dead, const struct lfts *was,
		 const struct lfts *next, const struct lft_block *blocks, uint32_t n_blocks);
void rounds_free(struct rounds *r);

#endif
