/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hash map from a 64-bit key (a GUID) to a 32-bit value (an index).
 *
 * Open addressing, load factor at most 1/2, so that a look-up is one cache
 * line nearly always.  Any key may be stored, 0 included; the value
 * MAP64_NONE may not.  Not safe for use by several threads while it changes;
 * look-ups on a map that nobody changes are.
 */
#ifndef QOSD_LIB_BASE_MAP64_H
#define QOSD_LIB_BASE_MAP64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP64_NONE UINT32_MAX

struct map64_slot {
	uint64_t key;
	uint32_t value;		/* MAP64_NONE: free */
};

struct map64 {
	struct map64_slot *slots;
	uint32_t mask;		/* slots - 1, a power of two less one */
	uint32_t n;
};

/* Sized for `expected` keys; grows when there are more. */
void map64_init(struct map64 *m, uint32_t expected);
void map64_free(struct map64 *m);
/* Empties it: ready for others. */
void map64_clear(struct map64 *m);
/* Fills dst, which holds nothing, with a copy of src. */
void map64_clone(struct map64 *dst, const struct map64 *src);
/* Stores or replaces.  Returns the former value or MAP64_NONE. */
uint32_t map64_put(struct map64 *m, uint64_t key, uint32_t value);
uint32_t map64_get(const struct map64 *m, uint64_t key);

/* Mixes 64 bits (splitmix64 finaliser); also used for digests of tables. */
static inline uint64_t hash64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}
uint64_t hash_bytes(const void *data, size_t n, uint64_t seed);

#endif
