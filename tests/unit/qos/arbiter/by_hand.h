/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads arbitration tables from rows of tests, which have some entries and then zeros. */
#ifndef TESTS_BANDWIDTH_BY_HAND_H
#define TESTS_BANDWIDTH_BY_HAND_H

#include <stdint.h>
#include <string.h>

#include "lib/iba/iba.h"

/* The number of entries, up to n, without the (0, 0) at the end. */
static inline uint8_t entries_of(const struct vlarb_entry *from, unsigned n)
{
	while (n > 0 && !from[n - 1].vl && !from[n - 1].weight)
		n--;
	return (uint8_t)n;
}

/* Returns tables of up to n entries each. */
static inline struct vlarb tables_of(const struct vlarb_entry *high, const struct vlarb_entry *low,
				     unsigned n, uint8_t limit)
{
	struct vlarb arb = {
		.n_high = entries_of(high, n), .n_low = entries_of(low, n), .high_limit = limit,
	};

	memcpy(arb.high, high, n * sizeof(*high));
	memcpy(arb.low, low, n * sizeof(*low));
	return arb;
}

#endif
