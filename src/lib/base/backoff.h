/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes the waits between retries. */
#ifndef QOSD_LIB_BASE_BACKOFF_H
#define QOSD_LIB_BASE_BACKOFF_H

#include <stdint.h>

/* The wait that follows `wait`, in the same unit: twice as long, at most max; `first` if wait is 0. */
static inline int64_t backoff_next(int64_t wait, int64_t first, int64_t max)
{
	if (!wait)
		return first;
	return wait < max / 2 ? wait * 2 : max;
}

#endif
