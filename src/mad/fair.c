/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See fair.h.  A source is there while something of it waits: in a hash table to
 * be found, and in a ring in which each has one turn a round.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "mad/fair.h"

#define BUCKETS 1024u		/* a power of 2 */
#define LOOKS	16u		/* at sources, for one that has to make room */

struct source {
	uint64_t key;
	struct source *in_bucket;
	struct source *in_ring;		/* next; or next that is free */
	struct fair_item *first, **end;
	unsigned n;
};

struct fair {
	unsigned max, each_max, n;
	struct source *bucket[BUCKETS];
	struct source *latest;		/* the ring's last; its next is whose turn it is */
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
	if (f->latest) {
		s->in_ring = f->latest->in_ring;
		f->latest->in_ring = s;
	} else {
		s->in_ring = s;
	}
	f->latest = s;
}

/* s is the one whose turn it was. */
static void source_drop(struct fair *f, struct source *s)
{
	struct source **p = find(f, s->key);

	*p = s->in_bucket;
	if (f->latest == s)
		f->latest = NULL;
	else
		f->latest->in_ring = s->in_ring;
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

struct fair_item *fair_pop(struct fair *f)
{
	struct source *s = f->latest ? f->latest->in_ring : NULL;
	struct fair_item *item;

	if (!s)
		return NULL;
	item = s->first;
	s->first = item->next;
	f->n--;
	if (--s->n)
		f->latest = s;
	else
		source_drop(f, s);
	return item;
}

/* The one with most waiting, of the next few; NULL: none has two more than n. */
static struct source *who_has_most(struct fair *f, unsigned n)
{
	struct source *s = f->latest, *most = NULL;

	for (unsigned i = 0; s && i < LOOKS; i++) {
		s = s->in_ring;
		if (s->n >= n + 2 && (!most || s->n > most->n))
			most = s;
		if (s == f->latest)
			break;
	}
	return most;
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
	/* it has another one, so that it keeps its place in the ring */
	*out = most->first;
	most->first = most->first->next;
	most->n--;
	f->n--;
	return fair_push(f, key, item);
}

struct fair_item *fair_latest(struct fair *f, uint64_t key)
{
	struct source *s = *find(f, key);

	return s ? (struct fair_item *)(void *)s->end : NULL;	/* next is its first member */
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
