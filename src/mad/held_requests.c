/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See held_requests.h.
 *
 * Items are in a list in order of arrival, and in chains by source, also in order of arrival.
 *
 * Invariant: each item is in the list and in its source's chain; n counts them.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "mad/held_requests.h"

#define BUCKETS 1024u		/* a power of 2 */

struct held {
	unsigned max, each_max, n;
	int64_t keep_us;
	struct held_item *oldest, *latest;
	struct held_item *bucket[BUCKETS];
};

struct held *held_new(unsigned max, unsigned each_max, int64_t keep_us)
{
	struct held *h = xcalloc(1, sizeof(*h));

	h->max = max;
	h->each_max = each_max;
	h->keep_us = keep_us;
	return h;
}

void held_free(struct held *h)
{
	free(h);
}

static struct held_item **chain_of(struct held *h, uint64_t source)
{
	return &h->bucket[hash64(source) & (BUCKETS - 1)];
}

/* Takes an item out; `at` is the pointer to it in its chain. */
static struct held_item *take_out(struct held *h, struct held_item **at)
{
	struct held_item *i = *at;

	*at = i->in_bucket;
	*(i->before ? &i->before->next : &h->oldest) = i->next;
	*(i->next ? &i->next->before : &h->latest) = i->before;
	h->n--;
	return i;
}

struct held_item *held_take(struct held *h)
{
	struct held_item **at;

	if (!h->oldest)
		return NULL;
	at = chain_of(h, h->oldest->source);
	while (*at != h->oldest)
		at = &(*at)->in_bucket;
	return take_out(h, at);
}

static void append(struct held *h, struct held_item *item, struct held_item **end)
{
	*end = item;
	item->in_bucket = item->next = NULL;
	item->before = h->latest;
	*(h->latest ? &h->latest->next : &h->oldest) = item;
	h->latest = item;
	h->n++;
}

struct held_item *held_put(struct held *h, struct held_item *item)
{
	struct held_item **at = chain_of(h, item->source), **copy = NULL, **first = NULL, *out = NULL;
	unsigned of_source = 0;

	for (; *at; at = &(*at)->in_bucket) {
		if ((*at)->source != item->source)
			continue;
		if ((*at)->tid == item->tid && (*at)->qpn == item->qpn)
			copy = at;
		if (!of_source++)
			first = at;
	}
	if (copy)
		out = take_out(h, copy);
	else if (of_source >= h->each_max)
		out = take_out(h, first);
	else if (h->n >= h->max && item->arrived_us - h->oldest->arrived_us > h->keep_us)
		out = held_take(h);
	else if (h->n >= h->max)
		return item;
	for (at = chain_of(h, item->source); *at;)
		at = &(*at)->in_bucket;
	append(h, item, at);
	return out;
}
