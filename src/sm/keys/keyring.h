/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The M_Keys that devices may have: ours first, then those of before, the latest of them
 * first.  Values, without I/O; as lines of a file they are in that order, too.
 */
#ifndef QOSD_SM_KEYS_KEYRING_H
#define QOSD_SM_KEYS_KEYRING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

#define KEYRING_MAX 4

struct keyring {
	uint64_t keys[KEYRING_MAX];	/* each once */
	unsigned n;
};

/* Brings a key to the front; if there is no room for all, the last one falls out. */
void keyring_put_first(struct keyring *r, uint64_t key);
/* Its place, or r->n. */
unsigned keyring_find(const struct keyring *r, uint64_t key);
/* Adds a line's key behind the others; false if it is none, or one too many. */
bool keyring_take_line(struct keyring *r, const char *line);
void keyring_print(const struct keyring *r, struct buf *b);

#endif
