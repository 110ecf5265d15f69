/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares values for qsort(), and finds their places in sorted arrays. */
#ifndef QOSD_LIB_BASE_SEARCH_H
#define QOSD_LIB_BASE_SEARCH_H

#include <stddef.h>

/* Below, equal to or above 0 as a is less than, equal to or greater than b. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Sets `at` to the first place in [first, end) for which `before` is false, or to `end`.  `at` is an
 * unsigned variable; `before` is an expression that uses it, true up to some place and false from
 * there on.
 */
#define LOWER_BOUND(at, first, end, before) \
	do { \
		size_t from_ = (first), to_ = (end); \
		while (from_ < to_) { \
			(at) = from_ + (to_ - from_) / 2; \
			if (before) \
				from_ = (at) + 1u; \
			else \
				to_ = (at); \
		} \
		(at) = from_; \
	} while (0)

#endif
