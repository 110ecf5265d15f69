/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the step of a value by buckets or binary search; see match_steps.h. */

#include "qos/match/match_steps.h"

#define BLOCK_BITS 16
#define BLOCK_LAST ((1u << BLOCK_BITS) - 1)
/* Binary search finds a step among fewer than this as fast as any index. */
#define INDEX_MIN 8

void steps_add(struct steps *s, uint64_t start, uint32_t row)
{
	*vec_push(&s->start) = start;
	*vec_push(&s->row) = row;
}

/* The last of steps a..b that starts at or before the value; step a must start there or before. */
static inline size_t last_before(const struct steps *s, size_t a, size_t b, uint64_t value)
{
	while (a < b) {
		size_t mid = b - (b - a) / 2;

		if (s->start.v[mid] <= value)
			a = mid;
		else
			b = mid - 1;
	}
	return a;
}

/* Builds the buckets of the block in which steps a .. b - 1 start. */
static void index_block(struct steps *s, size_t a, size_t b)
{
	uint64_t block = s->start.v[a] >> BLOCK_BITS;
	uint32_t bits = 0;

	while (bits < BLOCK_BITS && (1ull << bits) < b - a)
		bits++;
	map64_put(&s->blocks, block, (uint32_t)s->block.n);
	*vec_push(&s->block) =
		(struct step_block){ (uint32_t)s->bucket.n, BLOCK_BITS - bits };
	/* Step a - 1 reaches into the block unless step a starts at the block's first value. */
	size_t i = a ? a - 1 : 0;

	for (uint64_t k = 0; k < 1ull << bits; k++) {
		uint64_t value = block << BLOCK_BITS | k << (BLOCK_BITS - bits);

		while (i + 1 < b && s->start.v[i + 1] <= value)
			i++;
		*vec_push(&s->bucket) = (uint32_t)i;
	}
	*vec_push(&s->bucket) = (uint32_t)b - 1;
}

void steps_index(struct steps *s)
{
	if (s->start.n < INDEX_MIN)
		return;
	for (size_t a = 0, b; a < s->start.n; a = b) {
		for (b = a + 1; b < s->start.n; b++)
			if (s->start.v[b] >> BLOCK_BITS != s->start.v[a] >> BLOCK_BITS)
				break;
		index_block(s, a, b);
	}
}

uint32_t steps_find(const struct steps *s, uint64_t value)
{
	size_t a = 0, b = s->start.n - 1;
	uint32_t k = map64_get(&s->blocks, value >> BLOCK_BITS);

	if (k != MAP64_NONE) {
		const struct step_block *block = &s->block.v[k];
		size_t bucket = block->bucket + ((value & BLOCK_LAST) >> block->shift);

		a = s->bucket.v[bucket];
		b = s->bucket.v[bucket + 1];
	}
	return s->row.v[last_before(s, a, b, value)];
}

void steps_free(struct steps *s)
{
	vec_free(&s->start);
	vec_free(&s->row);
	vec_free(&s->block);
	vec_free(&s->bucket);
	map64_free(&s->blocks);
}
