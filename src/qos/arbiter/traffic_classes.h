/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Intentions to tables: traffic classes with shares and priorities become VLs
 * and VL arbitration tables, within what one link can.
 *
 * What a share means:
 *  - Shares of low-priority classes divide what the high-priority ones leave.
 *    Classes without a share divide what the others leave of 100 %, equally.
 *  - Without a share, a high-priority class goes first, as far as the limit lets
 *    it, and is expected to need little.
 *  - With shares, high-priority classes are to have that part of the whole link
 *    when everybody wants all, and the low ones the rest in proportion.  The
 *    limit follows from that unless one is given; where no limit comes near,
 *    high priority gets the rest by entries in the low table.  The arbiter sends
 *    at least a packet of high priority for each of low: a share below that is
 *    exceeded, and said to be.
 *  - Without a limit and without a share of high classes, the limit is
 *    CLASSES_DEFAULT_LIMIT.  Low priority can starve only by a limit of 255.
 *
 * Every weight is a whole number of the link's greatest packets (its MTU, in
 * 64-byte units), because an entry always sends whole packets: then the weight
 * is what is sent.  Entries of a VL are spread over the table.
 *
 * Where a link has fewer data VLs than there are classes, some share a VL, those
 * for which it matters least (intent.c says how that is chosen); classes of
 * different priority only where there is one VL.  On links with equal VLs the
 * choice is equal, and what shares a VL on a link shares it on every link with
 * fewer VLs, unless a table has fewer entries than VLs are to be in it, which
 * has the same effect as fewer VLs.  A link without tables counts as one with a
 * VL.  If there is only one table, all are in it, by their shares, and there is
 * no priority; high priority without a share has half of it then.
 *
 * VLs are numbered from 0 without gaps, in the order of their first classes.
 *
 * Pure; nothing here knows ports or policies.
 */
#ifndef QOSD_QOS_ARBITER_TRAFFIC_CLASSES_H
#define QOSD_QOS_ARBITER_TRAFFIC_CLASSES_H

#include <stdbool.h>
#include <stdint.h>

#include "qos/arbiter/arbiter.h"

#define CLASSES_MAX 15
#define CLASSES_SHARE_ALL 10000	/* shares are in 1/100 per cent */
#define CLASSES_DEFAULT_LIMIT 4	/* of 4096 bytes: 16 KiB, as the shipped policy had it */

struct traffic_class {
	bool high;
	int32_t share;		/* 1..CLASSES_SHARE_ALL, -1: not given */
	int16_t high_limit;	/* units of 4096 bytes, 0..255, -1: not given; high only */
};

/* What the out port of a link can. */
struct class_link {
	uint8_t vls;		/* data VLs: 1..15 */
	uint8_t high_cap, low_cap;	/* entries of its tables: 0..64 */
	uint8_t mtu;		/* code of the link, 1..5 */
};

struct class_fit {
	struct class_link link;
	uint8_t n;		/* classes */
	uint8_t vl[CLASSES_MAX];	/* the VL of each class */
	uint8_t vls_used;
	struct vlarb arb;	/* empty tables when the link has one VL or no tables */
	/* Of classes sharing a VL, these are the VL's: in 1/100 per cent, by arbiter_run(). */
	int32_t asked[CLASSES_MAX];	/* of the link, everybody backlogged; -1: high without share */
	int32_t achieved[CLASSES_MAX];
	/*
	 * With the high-priority classes idle, of which the low ones have what they
	 * ask of each other: achieved_low against asked_low, -1 for high classes.
	 */
	int32_t asked_low[CLASSES_MAX], achieved_low[CLASSES_MAX];
	uint16_t merged;	/* bit c: class c shares its VL with another */
	bool inexact;		/* some |achieved - asked|, or of the low ones, is above CLASSES_EXACT */
};
/* 2 % of the link */
#define CLASSES_EXACT 200

/*
 * The classes as a whole, whatever the link.  NULL if they make sense, else what
 * is wrong, with *at the index of the class that is to blame: shares above 100 %,
 * nothing left for those without a share, limits that differ.
 */
const char *classes_check(const struct traffic_class *c, unsigned n, unsigned *at);

/* n is 1..CLASSES_MAX, and classes_check() has nothing to say. */
void classes_fit(const struct traffic_class *c, unsigned n, const struct class_link *link,
		 struct class_fit *out);

#endif
