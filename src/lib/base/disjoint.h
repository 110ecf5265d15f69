/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Disjoint sets of numbers, each of which is known by its least member.
 *
 * up: [number] another of its set, and for the least one itself; at first each number is alone, and so
 * up[i] is i.
 */
#ifndef QOSD_LIB_BASE_DISJOINT_H
#define QOSD_LIB_BASE_DISJOINT_H

#include <stdbool.h>
#include <stdint.h>

/* The least member of x's set.  Later searches are shorter for it. */
static inline uint32_t disjoint_find(uint32_t *up, uint32_t x)
{
	while (up[x] != x)
		x = up[x] = up[up[x]];
	return x;
}

/* Makes one set of those of a and b.  True: they were two. */
static inline bool disjoint_join(uint32_t *up, uint32_t a, uint32_t b)
{
	a = disjoint_find(up, a);
	b = disjoint_find(up, b);
	up[a > b ? a : b] = a > b ? b : a;
	return a != b;
}

#endif
