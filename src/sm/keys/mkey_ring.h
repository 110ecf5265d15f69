/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Holds the M_Keys that devices may have: ours first, then earlier keys, the latest first.
 *
 * Values, without I/O.  As lines of a file the keys have the same order.
 */
#ifndef QOSD_SM_KEYS_MKEY_RING_H
#define QOSD_SM_KEYS_MKEY_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

#define MKEY_RING_MAX 4

struct mkey_ring {
	uint64_t keys[MKEY_RING_MAX];	/* distinct keys */
	unsigned n;
};

/* Brings a key to the front; drops the last key if there is no room. */
void mkey_ring_put_first(struct mkey_ring *r, uint64_t key);
/* The index of the key, or r->n. */
unsigned mkey_ring_find(const struct mkey_ring *r, uint64_t key);
/* Appends the key of a line; false if the line is no key, or the ring is full. */
bool mkey_ring_take_line(struct mkey_ring *r, const char *line);
void mkey_ring_print(const struct mkey_ring *r, struct buf *b);

#endif
