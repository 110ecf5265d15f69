/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells what classes ask of any link, and which of them share a VL (internal to intent.c,
 * vlarb_from_shares.c).
 */
#ifndef QOSD_QOS_ARBITER_INTENT_H
#define QOSD_QOS_ARBITER_INTENT_H

#include "qos/arbiter/apportion.h"
#include "qos/arbiter/vlarb_from_shares.h"

#define PARTS_PER_SHARE (PARTS / CLASSES_SHARE_ALL)

/* What the classes ask, in PARTS of any link. */
struct intent {
	uint32_t part[CLASSES_MAX];	/* target for the tables */
	uint32_t promised[CLASSES_MAX];	/* as part, but 0 for high priority without a share */
	uint32_t own[CLASSES_MAX];	/* low: share among the low classes, of PARTS */
	uint32_t high;			/* sum of part over the high classes */
	uint32_t high_promised;
	bool high_shares;		/* some high-priority class has a share */
	bool has_high, has_low;
	int limit;			/* -1: not given */
};

struct intent intent_of(const struct traffic_class *c, unsigned n);

/* Classes on one VL. */
struct group {
	uint16_t members;		/* bit c */
	bool high, low;			/* both only if it is the only group */
	uint32_t promised;
};

struct groups {
	struct group v[CLASSES_MAX];	/* in order of their first classes */
	unsigned n;
};

struct groups intent_groups(const struct traffic_class *c, unsigned n, const struct intent *in,
			    const struct class_link *link);
/* Whether each priority has a table of its own on the link, or both share one. */
bool intent_two_tables(const struct intent *in, const struct class_link *link);
/*
 * Whether the one table that all classes share is the high one: the link has no low table, or all classes
 * are of high priority and it has a high table.
 */
bool intent_only_high(const struct intent *in, const struct class_link *link);

static inline uint32_t apart(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

#endif
