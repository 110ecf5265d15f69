/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Disjoint sets of numbers (union-find), each represented by its least member.
 *
 * up[i] is another member of i's set, or i itself if i is the least.  Initialise up[i] to i.
 */
#ifndef QOSD_LIB_BASE_DISJOINT_H
#define QOSD_LIB_BASE_DISJOINT_H

#include <stdbool.h>
#include <stdint.h>

/* The least member of x's set.  Shortens the chains that it follows. */
static inline uint32_t disjoint_find(uint32_t *up, uint32_t x)
{
	while (up[x] != x)
		x = up[x] = up[up[x]];
	return x;
}

/* Merges the sets of a and b.  True: they were two sets. */
static inline bool disjoint_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = disjoint_find(up, a);
	b = disjoint_find(up, b);
	up[a > b ? a : b] = a > b ? b : a;
	return a != b;
}

#endif
