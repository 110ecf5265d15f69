/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whole packets for fractions: one VL arbitration table whose entries send what
 * several VLs are to get of it.
 *
 * Pure; of qos/arbiter/ only.
 */
#ifndef QOSD_QOS_ARBITER_APPORTION_H
#define QOSD_QOS_ARBITER_APPORTION_H

#include <stdbool.h>
#include <stdint.h>

#include "qos/arbiter/arbiter.h"

#define PARTS 1000000u		/* fractions are in parts per million */

/* What one VL is to get of a table. */
struct apportion_goal {
	uint8_t vl;
	uint32_t target;	/* 1..PARTS; those of a table add up to PARTS, about */
	/*
	 * Where it may end up: not further from the centre than tolerance * PARTS /
	 * divisor, for each of the n_within.
	 */
	struct {
		uint32_t centre, divisor;	/* divisor not 0 */
	} within[2];
	uint8_t n_within;
};

struct apportion_table {
	unsigned cap;		/* entries that it may have, 1..64 */
	unsigned unit;		/* of a packet, in units of weights: 1..255 */
	unsigned tolerance;	/* in parts */
};

/*
 * packets[i] of goal i in a cycle of the table: each at least 1, all within
 * their bounds, in no more entries than there may be.  Of all such it is the
 * one with the least relative error, but a longer cycle has to be worth it.
 * False if there is none.
 */
bool apportion(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
	       uint16_t *packets);
/* The same, with the tolerance raised as little as it must be (n is at most t->cap). */
void apportion_best(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		    uint16_t *packets);
/*
 * Writes the entries that send so many packets, as many entries as there may be
 * and each VL's spread over the table; returns how many.  From apportion().
 */
uint8_t apportion_lay(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		      const uint16_t *packets, struct vlarb_entry *out);

#endif
