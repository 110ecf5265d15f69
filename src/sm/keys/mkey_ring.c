/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See mkey_ring.h. */
#include "sm/keys/mkey_ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

unsigned mkey_ring_find(const struct mkey_ring *r, uint64_t key)
{
	unsigned i = 0;

	while (i < r->n && r->keys[i] != key)
		i++;
	return i;
}

void mkey_ring_put_first(struct mkey_ring *r, uint64_t key)
{
	unsigned at = mkey_ring_find(r, key);

	if (at == r->n && r->n < MKEY_RING_MAX)
		r->n++;
	if (at == MKEY_RING_MAX)
		at--;
	memmove(r->keys + 1, r->keys, at * sizeof(*r->keys));
	r->keys[0] = key;
}

bool mkey_ring_take_line(struct mkey_ring *r, const char *line)
{
	uint64_t key;
	int end = 0;

	if (sscanf(line, "0x%16" SCNx64 "%n", &key, &end) != 1 || line[end] ||
	    r->n == MKEY_RING_MAX || mkey_ring_find(r, key) < r->n)
		return false;
	r->keys[r->n++] = key;
	return true;
}

void mkey_ring_print(const struct mkey_ring *r, struct buf *b)
{
	for (unsigned i = 0; i < r->n; i++)
		buf_printf(b, "0x%016" PRIx64 "\n", r->keys[i]);
}
