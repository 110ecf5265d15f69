/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides in which order forwarding-table blocks are written, so that no loop forms meanwhile.
 *
 * Rounds lead from the tables that the switches hold to those that they are to hold.  Blocks in one round
 * may be written in any order, and all of them must be confirmed before the next round.  Then at every
 * moment
 *  - no LID's entries form a loop;
 *  - by an order, a LID turns from down to up only where it does so in the old or in the new tables.  If
 *    neither has such a turn, there is none at any time, and so no credit loop; with a safe hub, the
 *    turns that they have close no loop.
 *
 * This holds if the old and the new tables each have the property; old routes end at dead
 * links that are not open.
 *
 * Where routes are in layers (layers.h) there is no order.  Instead of the second point,
 *  - in no layer do the routes between CA and router ports form a credit loop (update_phases.h).
 *
 * This, too, holds if the old tables in the old layers and the new tables in the new layers each have the
 * property.  A pair that changes its layer is in the old layer while it uses its old route, and in the new
 * layer with the new route.  Hosts that asked for the pair's SL before the change use the new route in the
 * old layer until they ask again.  That may close a cycle in whatever order blocks are written: the engine
 * has to keep pairs in their layers (layered.h).
 */
#ifndef QOSD_ROUTING_CHANGE_UPDATE_ROUNDS_H
#define QOSD_ROUTING_CHANGE_UPDATE_ROUNDS_H

#include "routing/change/route_repair.h"

struct route_layers;

/* Layers of the two tables. */
struct rounds_layers {
	const struct route_layers *was, *next;	/* of the channels' switches; NULL: all in layer 0 */
	const uint16_t *lid;	/* per port slot, as in struct route_request */
	const uint8_t *lmc;
	/* layers whose shared VL sets both tables use; NULL: each layer has a VL set of its own */
	const struct route_layers *shared;
	/*
	 * The order whose legal turns multicast uses, in layer 0, unless it follows the trees of `was` and
	 * `next`; the channels are made by this order.  NULL: multicast is left out of account.
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
	 * [round]: it needs the blocks of all earlier rounds written, not only those with the same block
	 * number.  NULL: no round does.
	 */
	bool *after_all;
	/* Writes beyond one per block: entries of one block had to wait for each other. */
	uint32_t again;
	/* changing routes of switches to LIDs, where routes are in layers; the work is proportional to it */
	uint32_t ways;
	uint32_t dropped;	/* entries that drop for a while because nothing else helped */
};

/*
 * c: channels of the fabric; o: the order that both tables keep to, NULL if there is none.  layers: NULL
 * if routes are in no layers.  dead: links that are dead now.  was and next have the same switches and
 * top.  blocks: where they differ, or a superset; NULL: all blocks are compared.  Blocks that do not
 * differ are not written, nor blocks of switches that the SM does not reach.
 */
void rounds_make(struct rounds *r, const struct channels *c, const struct updn_order *o,
		 const struct rounds_layers *layers, const struct link_end *dead, uint32_t n_dead,
		 const struct lfts *was, const struct lfts *next, const struct lft_block *blocks,
		 uint32_t n_blocks);
void rounds_free(struct rounds *r);

#endif
