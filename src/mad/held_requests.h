/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Private to mad/: SA requests that can't be answered yet and are kept until they can be.
 *
 * A client repeats what is not answered, so each request is here once: its latest copy takes
 * the place of the one before.  The owner embeds struct held_item; for one thread.
 */
#ifndef QOSD_MAD_HELD_REQUESTS_H
#define QOSD_MAD_HELD_REQUESTS_H

#include <stdint.h>

struct held_item {
	struct held_item *next, *before;	/* in order of arrival */
	struct held_item *in_bucket;
	uint64_t source, tid;
	uint32_t qpn;				/* of the source, which asked with this tid */
	int64_t arrived_us;
};

struct held;
/* max items in all, each_max of one source; whatever waited longer than keep_us is of no use. */
struct held *held_new(unsigned max, unsigned each_max, int64_t keep_us);
void held_free(struct held *h);			/* not the items; NULL is fine */
/*
 * Takes the item, whose source, tid, qpn and arrived_us are set.  Returns one that is not held any
 * more, or not at all, and is the caller's again: an earlier copy, the oldest of a source that has
 * too many, one that waited too long, or the item itself; NULL: none.
 */
struct held_item *held_put(struct held *h, struct held_item *item);
/* The oldest; NULL: none. */
struct held_item *held_take(struct held *h);

#endif
