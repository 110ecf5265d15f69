/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A queue of requests that gives each source its turn.
 *
 * A source that sends a thousand requests at once waits for them alone and delays no other source.
 * A source with more than FAIR_FEW items waiting is greedy until all its items are taken.  Sources
 * that are not greedy go first, but one in FAIR_SHARE of the items taken comes from a greedy
 * source, so that greedy sources do not starve.  So a modest source waits only for other modest
 * sources, however many flood.
 *
 * The user owns the items and embeds struct fair_item in them.  Only one thread may use a queue.
 */
#ifndef QOSD_MAD_FAIR_QUEUE_H
#define QOSD_MAD_FAIR_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define FAIR_FEW	32u
#define FAIR_SHARE	8u

struct fair_item {
	struct fair_item *next;
};

struct fair;
/* Makes a queue for at most `max` items, and each_max of one source. */
struct fair *fair_new(unsigned max, unsigned each_max);
void fair_free(struct fair *f);		/* does not free the items */
/*
 * Adds an item; `source` is any number that identifies the sender.  False: the queue is full, or
 * this source has each_max items.
 */
bool fair_push(struct fair *f, uint64_t source, struct fair_item *item);
/*
 * Like fair_push(), but a full queue accepts a source with few items: the oldest item of a source
 * with more items leaves, and *out is that item, NULL otherwise.  Only the next few sources in turn
 * are candidates, so that the cost does not grow with their number.
 */
bool fair_push_out(struct fair *f, uint64_t source, struct fair_item *item,
		   struct fair_item **out);
/* The source's latest item, which stays in the queue; NULL if it has none. */
struct fair_item *fair_latest(struct fair *f, uint64_t source);
/* Takes the oldest item of the source whose turn it is; NULL if the queue is empty. */
struct fair_item *fair_pop(struct fair *f);
/* The same, but only from sources that are not greedy; NULL if these have no items. */
struct fair_item *fair_pop_few(struct fair *f);
unsigned fair_count(const struct fair *f);
/* Whether fair_pop_few() has an item. */
bool fair_any_few(struct fair *f);

#endif
