/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The M_Keys that devices may have: ours first, then those of before, the latest of them
 * first.  Values, without I/O; as lines of a file they are in that order, too.
 */
#ifndef QOSD_SM_KEYS_MKEY_RING_H
#define QOSD_SM_KEYS_MKEY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

#define MKEY_RING_MAX 4

struct mkey_ring {
	uint64_t keys[MKEY_RING_MAX];	/* each once */
	unsigned n;
};

/* Brings a key to the front; if there is no room for all, the last one falls out. */
void mkey_ring_put_first(struct mkey_ring *r, uint64_t key);
/* Its place, or r->n. */
unsigned mkey_ring_find(const struct mkey_ring *r, uint64_t key);
/* Adds a line's key behind the others; false if it is none, or one too many. */
bool mkey_ring_take_line(struct mkey_ring *r, const char *line);
void mkey_ring_print(const struct mkey_ring *r, struct buf *b);

#endif
