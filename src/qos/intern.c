/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stores distinct items under numbers, found by hash; see intern.h. */
#include <string.h>

#include "lib/base/alloc.h"
#include "qos/intern.h"

static void *item_at(const struct intern *t, size_t i)
{
	return (char *)t->items + i * t->size;
}

uint32_t intern_put(struct intern *t, const void *item)
{
	/* If two contents have the same hash, hashes the new one again with another seed. */
	for (uint64_t seed = 0;; seed++) {
		uint64_t h = hash_bytes(item, t->size, seed);
		uint32_t i = map64_get(&t->by_hash, h);

		if (i == MAP64_NONE) {
			i = (uint32_t)t->n++;
			vec_grow(&t->items, i, &t->cap, t->size);
			memcpy(item_at(t, i), item, t->size);
			map64_put(&t->by_hash, h, i);
			return i;
		}
		if (memcmp(item_at(t, i), item, t->size) == 0)
			return i;
	}
}

void *intern_take(struct intern *t)
{
	void *items = t->items;

	map64_free(&t->by_hash);
	*t = (struct intern){ .size = t->size };
	return items;
}
