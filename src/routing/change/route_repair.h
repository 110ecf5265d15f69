/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Repairs forwarding tables after links or switches go away or come back, with few changes.
 *
 * *Base* tables are those that an engine made of the fabric with every known link in place.  Repaired
 * tables are a function of them and of the set of dead links only, not of the order of events; with no
 * link dead they are the base tables bit for bit.  An entry differs from the base's only if the base's
 * route from there crosses a dead link.
 */
#ifndef QOSD_ROUTING_CHANGE_ROUTE_REPAIR_H
#define QOSD_ROUTING_CHANGE_ROUTE_REPAIR_H

#include "routing/route.h"

/* One end of a link between switches: index of the switch and its port. */
struct link_end {
	uint32_t sw;
	uint8_t port;
	/*
	 * Of a dead link: it is up, and packets may cross it until the tables are written, so routes must
	 * not rely on its absence to be free of credit loops.
	 */
	bool open;
	/* Dead, and open, is only this direction, and for LIDs of other switches and their hosts. */
	bool away;
};

/* The links between the switches of a fabric. */
struct channels;

/* o: an order of f, whose graph the channels use, and which must outlive them; or NULL. */
struct channels *channels_new(const struct fabric *f, const struct updn_order *o);
void channels_free(struct channels *c);

/* Data derived from base tables; any number of threads may read it. */
struct repair;

/*
 * c: channels of r's fabric, made by the order that the engine used; o: that order, or NULL for an engine
 * without one.  r's pointers, c, o and base must outlive the result.  Costs about two passes over the
 * tables.
 *
 * keep_lost: an entry without a route any more keeps its base value, if every packet that follows it ends
 * at a dead link; else the entry drops.  A switch that is away then causes no writes to all others when it
 * goes or comes back.
 */
struct repair *repair_new(const struct route_request *r, const struct channels *c,
			  const struct updn_order *o, const struct lfts *base, bool keep_lost);
void repair_free(struct repair *rp);
struct repaired;
/*
 * Data derived from tables that rp's repair made for the dead links `gone`, none of which is open or away, and
 * that are ok.  Repairs by the result start from these tables, and cost nothing for `gone`, which they take for
 * dead in addition to what repair_run() is told.  rp, by and gone must outlive the result.  Costs about a pass
 * over the tables.
 */
struct repair *repair_of(const struct repair *rp, const struct repaired *by, const struct link_end *gone,
			 uint32_t n_gone);
/*
 * False if the base has turns that the engine does not make by this order: the engine used another one, as
 * updn does when it gives up the layers (updn_order_by_root()).  All repairs are then refused.
 */
bool repair_fits(const struct repair *rp);

struct lft_block {
	uint32_t sw;
	uint16_t block;
};

struct repaired {
	struct lfts *next;
	/*
	 * False if
	 *  - a switch with hosts (or the SM) can no longer reach some LID of a host (or of the SM's port)
	 *    by legal routes, though links lead there;
	 *  - the base does not fit (repair_fits()); or
	 *  - links are dead and turns other than those of a safe hub (see order.h) now close a cycle of
	 *    channels.
	 * An engine then has to make new tables.  `next` is complete even so.
	 */
	bool ok;
	bool turned;		/* there are single turns that the base has not */
	/* LIDs in rising order; the entries of all others are as in `was`. */
	uint16_t *lids;
	uint32_t n_lids;
	/* Blocks where next differs from `was` on switches that the SM reaches, by switch; never NULL. */
	struct lft_block *blocks;
	uint32_t n_blocks;
};

/*
 * Computes the tables for dead links `now`.  was: the base (of repair_of(): the tables that it was given), or
 * `next` of an earlier repair for the dead links `before`.  A link is dead if either of its ends is listed; a
 * switch is dead if all its links are.  Ports without a link to another switch are ignored.
 *
 * Entries of a switch that the SM does not reach are the base's, whatever the switch holds: the SM has to
 * read them when the switch comes back.
 */
void repair_run(const struct repair *rp, const struct lfts *was, const struct link_end *before,
		uint32_t n_before, const struct link_end *now, uint32_t n_now,
		struct repaired *out);
void repaired_free(struct repaired *r);

#endif
