/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Maps 64-bit values to row numbers by a step function.
 *
 * Step i holds from start[i] to before start[i + 1], the last one to the end; start[0] is 0.
 *
 * Service-IDs of a policy lie close together (ports of one port space differ in the last 16 bits).  So
 * each block of 2^16 values that has steps is cut into about as many buckets as steps: finding a step
 * there takes the same time with 10 as with 10,000 steps.  Elsewhere a binary search finds it.
 */
#ifndef QOSD_QOS_MATCH_MATCH_STEPS_H
#define QOSD_QOS_MATCH_MATCH_STEPS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"

struct step_block {
	uint32_t bucket;	/* index of the block's first bucket */
	uint32_t shift;		/* number of value bits within a bucket */
};

struct steps {
	VEC(uint64_t) start;
	VEC(uint32_t) row;
	struct map64 blocks;		/* value >> 16 -> index in block */
	VEC(struct step_block) block;
	VEC(uint32_t) bucket;		/* step in force at the bucket's first value; one more per block */
};

/* steps_add() adds steps in ascending order, the first at 0; steps_index() is then called once. */
void steps_add(struct steps *s, uint64_t start, uint32_t row);
void steps_index(struct steps *s);
uint32_t steps_find(const struct steps *s, uint64_t value);
void steps_free(struct steps *s);

#endif
