/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by intent.c and traffic_classes.c only: what classes ask of any link, and who shares a
 * VL on one.
 */
#ifndef QOSD_QOS_ARBITER_INTENT_H
#define QOSD_QOS_ARBITER_INTENT_H

#include "qos/arbiter/apportion.h"
#include "qos/arbiter/traffic_classes.h"

#define PARTS_PER_SHARE (PARTS / CLASSES_SHARE_ALL)

/* The classes in parts of the link, whatever the link. */
struct intent {
	uint32_t part[CLASSES_MAX];	/* what the tables are made for */
	uint32_t promised[CLASSES_MAX];	/* the same, but 0 for high priority without a share */
	uint32_t own[CLASSES_MAX];	/* low: among the low ones, of PARTS */
	uint32_t high;			/* sum of part of the high ones */
	uint32_t high_promised;
	bool high_shares;		/* some high-priority class has a share */
	bool has_high, has_low;
	int limit;			/* -1: not given */
};

struct intent intent_of(const struct traffic_class *c, unsigned n);

/* Classes on one VL. */
struct group {
	uint16_t members;		/* bit c */
	bool high, low;			/* both only where it is the only group */
	uint32_t promised;
};

struct groups {
	struct group v[CLASSES_MAX];	/* in order of their first classes */
	unsigned n;
};

struct groups intent_groups(const struct traffic_class *c, unsigned n, const struct intent *in,
			    const struct class_link *link);
/* Which tables the link has for both priorities: one each, or the same one. */
bool intent_two_tables(const struct intent *in, const struct class_link *link);
/* High priority alone stays in the high table if there is one; all else goes to the low one. */
bool intent_only_high(const struct intent *in, const struct class_link *link);

static inline uint32_t apart(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

#endif
