/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables after links or switches went away or came back, near to
 * those that are there.
 *
 * *Base* tables are what an engine made of the fabric with all that is known
 * in its place.  Repaired tables are a function of them and of the set of dead
 * links, and of nothing else: not of the order of events, and with no link
 * dead they are the base tables bit for bit.  An entry differs from the base's
 * only if the way that the base has from there crosses a dead link.
 */
#ifndef QOSD_ROUTING_CHANGE_ROUTE_REPAIR_H
#define QOSD_ROUTING_CHANGE_ROUTE_REPAIR_H

#include "routing/route.h"

/* One end of a link between switches: the place of the switch among them, and its port. */
struct link_end {
	uint32_t sw;
	uint8_t port;
};

/* The links between the switches of a fabric. */
struct channels;

/* o: an order of f, whose graph is taken and has to outlive the channels; or NULL. */
struct channels *channels_new(const struct fabric *f, const struct updn_order *o);
void channels_free(struct channels *c);

/* What is known of base tables; read by any number of threads. */
struct repair;

/*
 * c: the channels of r's fabric, by the order that the engine went by; o: that
 * order, or NULL for an engine that has none.  All of these and base have to
 * outlive the result.  Costs about two passes over the tables.
 *
 * keep_lost: what has no way any more is left as it was in the base, if that
 * ends at a dead link whatever comes by; else it is dropped at once.  A
 * switch that is away is then no reason to write to all others that its LIDs
 * are gone, nor that they are back.
 */
struct repair *repair_new(const struct route_request *r, const struct channels *c,
			  const struct updn_order *o, const struct lfts *base, bool keep_lost);
void repair_free(struct repair *rp);
/*
 * False if the base has turns that the engine doesn't make by this order: it
 * went by another, as updn does when it gives up the layers
 * (updn_order_by_root()).  All repairs are refused then.
 */
bool repair_fits(const struct repair *rp);

struct lft_block {
	uint32_t sw;
	uint16_t block;
};

struct repaired {
	struct lfts *next;
	/*
	 * False if some LID of a host (or of the SM's port) can't be had any more from a
	 * switch that has hosts (or the SM), though links are there, by legal
	 * moves; if the base doesn't fit; or if links are dead, and it has turns that are not
	 * those of a safe hub (see order.h) and they close a cycle of channels now: time for an
	 * engine to make new tables.  Next is complete even so.
	 */
	bool ok;
	uint32_t lost_sw;	/* an example; FABRIC_NONE if there is none */
	uint16_t lost_lid;
	/* Rising; all others' entries are as in `was`. */
	uint16_t *lids;
	uint32_t n_lids;
	/* Where next differs from `was` on switches that the SM reaches, by switch; never NULL. */
	struct lft_block *blocks;
	uint32_t n_blocks;
};

/*
 * Tables for when the links in `now` are dead.  was: the base, or next of an
 * earlier repair for the links in `before`.  A link is dead if either end of
 * it is listed, a dead switch is one all of whose links are, and ports without
 * a link to another switch are of no account.
 *
 * Entries of a switch that the SM doesn't reach are the base's, whatever it
 * holds: it is to be read when it comes back.
 */
void repair_run(const struct repair *rp, const struct lfts *was, const struct link_end *before,
		uint32_t n_before, const struct link_end *now, uint32_t n_now,
		struct repaired *out);
void repaired_free(struct repaired *r);

#endif
