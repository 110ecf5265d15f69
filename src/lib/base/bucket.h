/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A token bucket, which allows bursts of limited size at a limited average rate.
 *
 * A zero-initialised bucket is full.  The caller passes the time, from any monotonic clock.
 */
#ifndef QOSD_LIB_BASE_BUCKET_H
#define QOSD_LIB_BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

struct bucket {
	int64_t full_us;	/* time at which the bucket is full again */
};

/*
 * Takes a token.  The bucket holds at most `burst`, and regains one every each_us.  False: it is
 * empty.
 */
static inline bool bucket_take(struct bucket *b, unsigned burst, int64_t each_us, int64_t now_us)
{
	int64_t full = b->full_us > now_us ? b->full_us : now_us;

	if (full + each_us - now_us > burst * each_us)
		return false;
	b->full_us = full + each_us;
	return true;
}

/* The time from which bucket_take() succeeds. */
static inline int64_t bucket_next(const struct bucket *b, unsigned burst, int64_t each_us)
{
	return b->full_us - (int64_t)(burst - 1) * each_us;
}

#endif
