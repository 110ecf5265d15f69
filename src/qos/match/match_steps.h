/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A step function from 64-bit values to row numbers: step i holds from
 * start[i] to before start[i + 1], the last one to the end; start[0] is 0.
 *
 * Service-IDs of a policy lie close together (ports of one port space differ
 * in the last 16 bits), so that the values of each 2^16 block that has steps
 * are cut into about as many buckets as steps: finding one there takes the
 * same time with 10 as with 10,000 steps.  Elsewhere it is a binary search.
 */
#ifndef QOSD_QOS_MATCH_MATCH_STEPS_H
#define QOSD_QOS_MATCH_MATCH_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

struct step_block {
	uint32_t bucket;	/* the first of the block's buckets */
	uint32_t shift;		/* bits of the value within a bucket */
};

struct steps {
	VEC(uint64_t) start;
	VEC(uint32_t) row;
	struct map64 blocks;		/* value >> 16 -> place in block */
	VEC(struct step_block) block;
	VEC(uint32_t) bucket;		/* step in force at its first value; one more per block */
};

/* Steps are added in ascending order, the first at 0; then indexed once. */
void steps_add(struct steps *s, uint64_t start, uint32_t row);
void steps_index(struct steps *s);
uint32_t steps_find(const struct steps *s, uint64_t value);
void steps_free(struct steps *s);

#endif
