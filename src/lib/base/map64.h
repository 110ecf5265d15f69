/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hash map from a 64-bit key (a GUID) to a 32-bit value (an index).
 *
 * It uses open addressing with a load factor of at most 1/2, so that a look-up nearly always
 * touches one cache line.  Any key may be stored, 0 included; the value MAP64_NONE may not.
 * Several threads may look up at once, but only while no thread changes the map.
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
	uint32_t mask;		/* number of slots - 1; the number is a power of two */
	uint32_t n;
};

/* Sizes the map for `expected` keys; it grows when there are more. */
void map64_init(struct map64 *m, uint32_t expected);
void map64_free(struct map64 *m);
/* Empties the map; it can be filled again. */
void map64_clear(struct map64 *m);
/* Copies src into dst, which must not own any memory. */
void map64_clone(struct map64 *dst, const struct map64 *src);
/* Stores or replaces a value.  Returns the former value or MAP64_NONE. */
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
