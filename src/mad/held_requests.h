/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps SA requests that cannot be answered yet (private to mad/).
 *
 * A client repeats a request until it is answered, so only the latest copy of each is kept.  The
 * owner embeds struct held_item.  Only one thread may use it.
 */
#ifndef QOSD_MAD_HELD_REQUESTS_H
#define QOSD_MAD_HELD_REQUESTS_H

#include <stdint.h>

struct held_item {
	struct held_item *next, *before;	/* neighbours in order of arrival */
	struct held_item *in_bucket;
	uint64_t source, tid;
	uint32_t qpn;				/* sender's QP; with source and tid it identifies the
						 * request */
	int64_t arrived_us;
};

struct held;
/*
 * Makes a store for at most `max` items, and each_max of one source.  A full store may drop an item
 * that has waited longer than keep_us.
 */
struct held *held_new(unsigned max, unsigned each_max, int64_t keep_us);
void held_free(struct held *h);			/* does not free the items; NULL is fine */
/*
 * Adds an item, whose source, tid, qpn and arrived_us are set.  Returns the item that leaves, or
 * NULL: an earlier copy, the oldest item of a source with too many, an item that waited too long,
 * or `item` itself if there is no room.  The caller owns the returned item.
 */
struct held_item *held_put(struct held *h, struct held_item *item);
/* Takes the oldest item; NULL if there is none. */
struct held_item *held_take(struct held *h);

#endif
