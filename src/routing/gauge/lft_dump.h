/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads forwarding tables from a dump, line by line.
 *
 * Accepts OpenSM's opensm-lfts.dump, and what dump_fts, dump_lfts.sh and ibroute print.  A table is
 *
 *   Unicast lids … of switch … guid 0x… …
 *   0xLID PORT …
 *
 * for a switch of the fabric, found by its node GUID.  If a line names the port that has the LID
 * ("portguid 0x…"), that port must have it in the fabric, too.  Switches and LIDs that the fabric does not
 * have are skipped.
 */
#ifndef QOSD_ROUTING_GAUGE_LFT_DUMP_H
#define QOSD_ROUTING_GAUGE_LFT_DUMP_H

#include "lib/base/buf.h"
#include "routing/route.h"

struct lft_dump;
/* Starts a dump; LIDs are those of the fabric's ports. */
struct lft_dump *lft_dump_new(const struct fabric *f);
/* Reads a line of n bytes; it needs no newline.  False, with the reason in why, if the line is invalid. */
bool lft_dump_line(struct lft_dump *d, const char *line, size_t n, struct buf *why);

struct lft_dump_left {
	uint32_t strange;	/* tables of switches that the fabric lacks */
	uint32_t without;	/* switches of the fabric without a table, which drop everything */
	uint32_t example;	/* node of one of those switches */
};
/* Returns the tables and frees d.  NULL with the reason in why if there was no table of the fabric. */
struct lfts *lft_dump_end(struct lft_dump *d, struct lft_dump_left *left, struct buf *why);
void lft_dump_free(struct lft_dump *d);		/* NULL is fine */

/* The LIDs of the fabric's ports as a route_request; fabric_lids_free() frees it. */
struct fabric_lids {
	struct route_request r;
	uint16_t *lid;
	uint8_t *lmc;
};
void fabric_lids_init(struct fabric_lids *x, const struct fabric *f);
void fabric_lids_free(struct fabric_lids *x);

#endif
