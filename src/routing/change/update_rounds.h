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
 *
 * Where routes are in layers (layers.h) there is no order, and instead
 *
 *  - in no layer do the routes between CA and router ports form a credit loop (update_phases.h).
 *
 * This, too, holds if it does for the old tables in the old layers and for the new tables in the new
 * ones.  A pair that changes its layer is in the old one as long as it goes by its old way, and in the
 * new one when it goes by the new.  Hosts that have asked for its SL before the change go on in the old layer
 * by the new way until they ask again, which may close a cycle whatever is written in which order:
 * it is for the engine to keep pairs in their layers (layered.h).
 */
#ifndef QOSD_ROUTING_CHANGE_UPDATE_ROUNDS_H
#define QOSD_ROUTING_CHANGE_UPDATE_ROUNDS_H

#include "routing/change/route_repair.h"

struct route_layers;

/* Of tables in layers. */
struct rounds_layers {
	const struct route_layers *was, *next;	/* of the channels' switches; NULL: all is in layer 0 */
	const uint16_t *lid;	/* per port slot, as in struct route_request */
	const uint8_t *lmc;
	const struct route_layers *shared;	/* as both share lanes; NULL: each layer has a lane of its own */
	/*
	 * By whose legal turns multicast goes, in layer 0, unless it goes along the trees of `was` and `next`;
	 * the channels are of it.  NULL: that does not count.
	 */
	const struct updn_order *legal;
};

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
	 * [round]: it is right only if all blocks of the rounds before were written, not only those of
	 * the same number.  NULL: no round is like that.
	 */
	bool *after_all;
	/*
	 * Writes beyond one for each block: entries of one block had to wait for
	 * each other.
	 */
	uint32_t again;
	uint32_t ways;		/* of switches to LIDs that change, where routes are in layers: what the work goes by */
	uint32_t dropped;	/* entries that have no route for a while, as nothing else helped */
};

/*
 * c: the channels of the fabric; o: the order that both tables keep to, NULL
 * if they don't keep to one.  layers: NULL if routes are in none.  dead: links that are dead by now.  Was and next
 * are of the same switches and top.  blocks: where they differ, or more; with
 * NULL all are compared.  No block is written that doesn't differ, and none of
 * a switch that the SM doesn't reach.
 */
void rounds_make(struct rounds *r, const struct channels *c, const struct updn_order *o,
		 const struct rounds_layers *layers, const struct link_end *dead, uint32_t n_dead, const struct lfts *was,
		 const struct lfts *next, const struct lft_block *blocks, uint32_t n_blocks);
void rounds_free(struct rounds *r);

#endif
