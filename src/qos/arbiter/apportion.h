/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds whole packet counts for the fractions of one VL arbitration table (internal to qos/arbiter/).
 *
 * The entries of the table then send the fraction that each VL is to get.  Pure.
 */
#ifndef QOSD_QOS_ARBITER_APPORTION_H
#define QOSD_QOS_ARBITER_APPORTION_H

#include <stdbool.h>
#include <stdint.h>

#include "qos/arbiter/arbiter.h"

#define PARTS 1000000u		/* fractions are in parts per million */

/* What one VL is to get from a table. */
struct apportion_goal {
	uint8_t vl;
	uint32_t target;	/* 1..PARTS; the targets of a table add up to PARTS, approximately */
	/*
	 * Bounds: the result is within tolerance * PARTS / divisor of the centre, for each of the
	 * n_within.
	 */
	struct {
		uint32_t centre, divisor;	/* divisor is not 0 */
	} within[2];
	uint8_t n_within;
};

struct apportion_table {
	unsigned cap;		/* limit on its entries, 1..64 */
	unsigned unit;		/* size of a packet in units of weights: 1..255 */
	unsigned tolerance;	/* in PARTS */
};

/*
 * Sets packets[i] of goal i in a cycle of the table: each at least 1, all within their bounds, in at most
 * t->cap entries.  Of all solutions it takes the one with the least relative error, but a longer cycle has
 * to be worth it.  False if there is no solution.
 */
bool apportion(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
	       uint16_t *packets);
/* As apportion(), but raises the tolerance as little as necessary (n is at most t->cap). */
void apportion_best(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		    uint16_t *packets);
/*
 * Writes the entries that send the packets computed by apportion(): as many entries as the table may have,
 * with those of each VL spread over it.  Returns their number.
 */
uint8_t apportion_lay(const struct apportion_goal *g, unsigned n, const struct apportion_table *t,
		      const uint16_t *packets, struct vlarb_entry *out);

#endif
