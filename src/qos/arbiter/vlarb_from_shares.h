/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns traffic classes with shares and priorities into VLs and arbitration tables, within one link's
 * limits.
 *
 * Meaning of a share:
 *
 *  - Shares of low-priority classes divide what the high-priority ones leave.  Classes without a share
 *    divide equally what the others leave of 100 %.
 *  - Without a share, a high-priority class goes first, as far as the limit permits, and is expected to
 *    need little.
 *  - With shares, high-priority classes are to have that part of the whole link under full load, and the
 *    low ones the rest in proportion.  The limit follows from that unless one is given; where no limit
 *    comes near, high priority gets the rest by entries in the low table.  The arbiter sends at least one
 *    packet of high priority for each of low: a share below that is exceeded, and class_fit shows it, with
 *    the least share that is possible.
 *  - Without a limit and without a share of high classes, the limit is CLASSES_DEFAULT_LIMIT.  Low
 *    priority can starve only by a limit of 255.
 *
 * Every weight is a whole number of the link's greatest packets (its MTU, in 64-byte units): an entry
 * always sends whole packets, so what it sends then equals its weight.  Entries of a VL are spread over
 * the table.  Where two tables are used, their turns have lengths for which arbiter_run() and
 * arbiter_measured() give the same shares, if such tables fit.
 *
 * Where a link has fewer data VLs than there are classes, some classes share a VL, those that it hurts
 * least (intent.c tells how); classes of different priority do so only where there is one VL.  Links with
 * equally many VLs merge the same classes, and classes that share a VL on a link share it on every link
 * with fewer VLs, unless a table has fewer entries than VLs belong in it, which has the same effect as
 * fewer VLs.  A link without tables counts as one with one VL.  If there is only one table, all classes
 * are in it, by their shares, and there is no priority; high priority without a share then has half of it.
 *
 * VLs are numbered from 0 without gaps, in the order of their first classes.
 *
 * Pure; nothing here knows ports or policies.
 */
#ifndef QOSD_QOS_ARBITER_VLARB_FROM_SHARES_H
#define QOSD_QOS_ARBITER_VLARB_FROM_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "qos/arbiter/arbiter.h"

#define CLASSES_MAX 15
#define CLASSES_SHARE_ALL 10000	/* shares are in 1/100 per cent */
#define CLASSES_DEFAULT_LIMIT 4	/* in units of 4096 bytes: 16 KiB, the value of the shipped policy */

struct traffic_class {
	bool high;
	int32_t share;		/* 1..CLASSES_SHARE_ALL, -1: not given */
	int16_t high_limit;	/* in units of 4096 bytes, 0..255, -1: not given; high only */
};

/* Capabilities of a link's out port. */
struct class_link {
	uint8_t vls;		/* number of data VLs: 1..15 */
	uint8_t high_cap, low_cap;	/* sizes of its tables in entries: 0..64 */
	uint8_t mtu;		/* MTU code of the link, 1..5 */
};

struct class_fit {
	struct class_link link;
	uint8_t n;		/* number of classes */
	uint8_t vl[CLASSES_MAX];	/* the VL of each class */
	uint8_t vls_used;
	struct vlarb arb;	/* tables are empty if the link has one VL or no tables */
	/* For classes that share a VL, these are values of the VL, in 1/100 per cent, by arbiter_run(). */
	int32_t asked[CLASSES_MAX];	/* of the link, with all classes backlogged; -1: high without share */
	int32_t achieved[CLASSES_MAX];
	/*
	 * Shares of the low-priority classes while the high ones are idle: achieved_low compared with
	 * asked_low; -1 for high classes.
	 */
	int32_t asked_low[CLASSES_MAX], achieved_low[CLASSES_MAX];
	/*
	 * The least part of the link that the high classes together can be held to, by the limit that they
	 * give or else by the least one, in 1/100 per cent; -1: they ask for as much, or nothing.
	 */
	int32_t least_high;
	uint16_t merged;	/* bit c: class c shares its VL with another */
	bool inexact;		/* some |achieved - asked|, also of the _low values, exceeds CLASSES_EXACT */
};
/* 2 % of the link, in 1/100 per cent */
#define CLASSES_EXACT 200

/*
 * Checks the classes as a whole, for any link.  NULL if they are consistent, else a message, with *at the
 * index of the offending class: shares above 100 %, nothing left for those without a share, limits that
 * differ.
 */
const char *classes_check(const struct traffic_class *c, unsigned n, unsigned *at);

/* Computes the fit.  n is 1..CLASSES_MAX, and classes_check() must have returned NULL. */
void classes_fit(const struct traffic_class *c, unsigned n, const struct class_link *link,
		 struct class_fit *out);

#endif
