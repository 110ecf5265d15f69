/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwarding tables from a dump, line by line: OpenSM's opensm-lfts.dump, and what dump_fts,
 * dump_lfts.sh and ibroute print.  A table is
 *
 *   Unicast lids … of switch … guid 0x… …
 *   0xLID PORT …
 *
 * for a switch of the fabric, found by the GUID of its node.  Where a line names the port that has
 * the LID ("portguid 0x…") it must have it in the fabric, too.  What belongs to none of the
 * fabric's switches or LIDs is passed over.
 */
#ifndef QOSD_ROUTING_GAUGE_LFT_DUMP_H
#define QOSD_ROUTING_GAUGE_LFT_DUMP_H

#include "lib/base/buf.h"
#include "routing/route.h"

struct lft_dump;
/* LIDs are those that the fabric's ports have. */
struct lft_dump *lft_dump_new(const struct fabric *f);
/* A line of n bytes, its newline not needed.  False, with the reason in why, if it is no good. */
bool lft_dump_line(struct lft_dump *d, const char *line, size_t n, struct buf *why);

struct lft_dump_left {
	uint32_t strange;	/* tables of switches that the fabric does not have */
	uint32_t without;	/* switches of the fabric without a table, which drop everything, */
	uint32_t example;	/* … one of them (a node) */
};
/* The tables.  Frees d; NULL with the reason in why if there was no table of the fabric. */
struct lfts *lft_dump_end(struct lft_dump *d, struct lft_dump_left *left, struct buf *why);
void lft_dump_free(struct lft_dump *d);		/* NULL is fine */

/* What the LIDs of the fabric's ports are to a gauge: owned, to be freed by lids_free(). */
struct fabric_lids {
	struct route_request r;
	uint16_t *lid;
	uint8_t *lmc;
};
void fabric_lids_init(struct fabric_lids *x, const struct fabric *f);
void fabric_lids_free(struct fabric_lids *x);

#endif
