/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores each distinct item of a pool once and numbers it.
 *
 * Items have equal size, no padding and no pointers: they are compared bytewise.
 */
#ifndef QOSD_QOS_INTERN_H
#define QOSD_QOS_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/map64.h"

struct intern {
	size_t size;		/* size of an item; set by the user, all else starts as zero */
	void *items;		/* n items; intern_take() hands them over */
	size_t n, cap;
	struct map64 by_hash;
};

/* Returns the number of the item equal to `item`, and adds it if it is new. */
uint32_t intern_put(struct intern *t, const void *item);
/* Hands the items over to the caller and frees the rest. */
void *intern_take(struct intern *t);

#endif
