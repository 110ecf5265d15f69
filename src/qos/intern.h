/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pool of equal-sized items in which each content is stored once and has a
 * number.  Items hold no padding and no pointers: they are compared bytewise.
 */
#ifndef QOSD_QOS_INTERN_H
#define QOSD_QOS_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/map64.h"

struct intern {
	size_t size;		/* of an item; set by the user, all else zero to start */
	void *items;		/* n items; the user may take it over instead of freeing */
	size_t n, cap;
	struct map64 by_hash;
};

/* The number of the item equal to `item`, which is added if it is new. */
uint32_t intern_put(struct intern *t, const void *item);
/* Gives up the items to the caller, and frees the rest. */
void *intern_take(struct intern *t);
void intern_free(struct intern *t);

#endif
