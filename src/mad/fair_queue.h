/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests that wait, taken in turn from all who asked: one who asks a thousand
 * things at once waits for them, and nobody else does.
 *
 * A source that has more than FAIR_FEW items waiting is greedy until none of its items is left.  Sources
 * that are not greedy go first, and one in FAIR_SHARE of the items taken is a greedy source's, so that
 * greedy sources do not starve.  A source that asks little thus waits only for others that ask
 * little, however many flood.
 *
 * What waits belongs to the queue's user, who embeds struct fair_item in it; the
 * queue is for one thread.
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
/* max items in all, each_max of one source. */
struct fair *fair_new(unsigned max, unsigned each_max);
void fair_free(struct fair *f);		/* not what waits */
/* source: any number that says who asks.  False: too many wait, of all or of that one. */
bool fair_push(struct fair *f, uint64_t source, struct fair_item *item);
/*
 * The same, but a full queue refuses nobody who has little in it: then the oldest item of a
 * source that has more waiting leaves, and is *out, which is NULL otherwise.  Which source that
 * is comes from a look at the next few whose turn it is, so that the cost does not grow with them.
 */
bool fair_push_out(struct fair *f, uint64_t source, struct fair_item *item,
		   struct fair_item **out);
/* The latest of the source, which stays in the queue; NULL: none of it waits. */
struct fair_item *fair_latest(struct fair *f, uint64_t source);
/* The oldest item of the source whose turn it is, NULL: none waits. */
struct fair_item *fair_pop(struct fair *f);
/* The same of sources that are not greedy; NULL: none of these waits. */
struct fair_item *fair_pop_few(struct fair *f);
unsigned fair_count(const struct fair *f);
/* Whether fair_pop_few() has an item. */
bool fair_any_few(struct fair *f);

#endif
