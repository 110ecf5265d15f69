/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See fair_queue.h.
 *
 * A source exists while it has items waiting.  It is in a hash table, and in one of two rings that
 * give each member one turn a round.
 *
 * A source begins in the ring FEW.  When its turn comes and it has more than FAIR_FEW items
 * waiting, it moves to the ring MANY, and stays there until it has none.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "mad/fair_queue.h"

#define BUCKETS 1024u		/* a power of 2 */
#define LOOKS	16u		/* sources examined to find one that gives up an item */

enum ring { FEW, MANY, RINGS };

struct source {
	uint64_t key;
	struct source *in_bucket;
	struct source *in_ring;		/* next in the ring, or next spare source */
	struct fair_item *first, **end;
	unsigned n;
};

struct fair {
	unsigned max, each_max, n;
	struct source *bucket[BUCKETS];
	struct source *latest[RINGS];	/* last source of each ring; its successor has the next turn */
	unsigned few_taken;		/* items taken since the last one of a greedy source */
	struct source *spare;
};

struct fair *fair_new(unsigned max, unsigned each_max)
{
	struct fair *f = xcalloc(1, sizeof(*f));

	f->max = max;
	f->each_max = each_max;
	return f;
}

static struct source **find(struct fair *f, uint64_t key)
{
	struct source **p = &f->bucket[hash64(key) & (BUCKETS - 1)];

	while (*p && (*p)->key != key)
		p = &(*p)->in_bucket;
	return p;
}

static struct source *ring_first(const struct fair *f, enum ring r)
{
	return f->latest[r] ? f->latest[r]->in_ring : NULL;
}

static void ring_add(struct fair *f, enum ring r, struct source *s)
{
	if (f->latest[r]) {
		s->in_ring = f->latest[r]->in_ring;
		f->latest[r]->in_ring = s;
	} else {
		s->in_ring = s;
	}
	f->latest[r] = s;
}

static struct source *ring_take_first(struct fair *f, enum ring r)
{
	struct source *s = ring_first(f, r);

	if (f->latest[r] == s)
		f->latest[r] = NULL;
	else
		f->latest[r]->in_ring = s->in_ring;
	return s;
}

static void source_add(struct fair *f, struct source **place, uint64_t key)
{
	struct source *s = f->spare;

	if (s)
		f->spare = s->in_ring;
	else
		s = xmalloc(sizeof(*s));
	*s = (struct source){ .key = key };
	s->end = &s->first;
	*place = s;
	ring_add(f, FEW, s);
}

/* Frees a source that is in no ring. */
static void source_drop(struct fair *f, struct source *s)
{
	struct source **p = find(f, s->key);

	*p = s->in_bucket;
	s->in_ring = f->spare;
	f->spare = s;
}

bool fair_push(struct fair *f, uint64_t key, struct fair_item *item)
{
	struct source **p;

	if (f->n >= f->max)
		return false;
	p = find(f, key);
	if (!*p)
		source_add(f, p, key);
	else if ((*p)->n >= f->each_max)
		return false;
	item->next = NULL;
	*(*p)->end = item;
	(*p)->end = &item->next;
	(*p)->n++;
	f->n++;
	return true;
}

/* Pops an item of the ring's first source, and moves the source to the ring's end. */
static struct fair_item *pop_from(struct fair *f, enum ring r)
{
	struct source *s = ring_first(f, r);
	struct fair_item *item = s->first;

	s->first = item->next;
	f->n--;
	if (--s->n)
		f->latest[r] = s;
	else
		source_drop(f, ring_take_first(f, r));
	return item;
}

/* Moves sources at the head of FEW that have become greedy to MANY first. */
bool fair_any_few(struct fair *f)
{
	const struct source *s;

	while ((s = ring_first(f, FEW)) && s->n > FAIR_FEW)
		ring_add(f, MANY, ring_take_first(f, FEW));
	return s;
}

struct fair_item *fair_pop_few(struct fair *f)
{
	return fair_any_few(f) ? pop_from(f, FEW) : NULL;
}

struct fair_item *fair_pop(struct fair *f)
{
	bool few = fair_any_few(f);

	if (f->latest[MANY] && (!few || ++f->few_taken >= FAIR_SHARE)) {
		f->few_taken = 0;
		return pop_from(f, MANY);
	}
	return few ? pop_from(f, FEW) : NULL;
}

/* The source with the most items among the ring's next LOOKS; NULL if none has more than n. */
static struct source *ring_most(const struct fair *f, enum ring r, unsigned n)
{
	struct source *s = f->latest[r], *most = NULL;

	for (unsigned i = 0; s && i < LOOKS; i++) {
		s = s->in_ring;
		if (s->n > n) {
			most = s;
			n = s->n;
		}
		if (s == f->latest[r])
			break;
	}
	return most;
}

/* The source with the most items among those examined; NULL if none has more than n + 1. */
static struct source *who_has_most(const struct fair *f, unsigned n)
{
	struct source *most = ring_most(f, MANY, n + 1);
	struct source *few = ring_most(f, FEW, most ? most->n : n + 1);

	return few ? few : most;
}

bool fair_push_out(struct fair *f, uint64_t key, struct fair_item *item, struct fair_item **out)
{
	struct source *s, *most;

	*out = NULL;
	if (f->n < f->max)
		return fair_push(f, key, item);
	s = *find(f, key);
	most = who_has_most(f, s ? s->n : 0);
	if (!most || (s && s->n >= f->each_max))
		return false;
	/* at least one more item stays, so that the source keeps its place in the ring */
	*out = most->first;
	most->first = most->first->next;
	most->n--;
	f->n--;
	return fair_push(f, key, item);
}

struct fair_item *fair_latest(struct fair *f, uint64_t key)
{
	struct source *s = *find(f, key);

	return s ? (struct fair_item *)(void *)s->end : NULL;	/* `next` is the item's first member */
}

unsigned fair_count(const struct fair *f)
{
	return f->n;
}

void fair_free(struct fair *f)
{
	struct source *s;

	if (!f)
		return;
	while (fair_pop(f))
		;
	while ((s = f->spare)) {
		f->spare = s->in_ring;
		free(s);
	}
	free(f);
}
