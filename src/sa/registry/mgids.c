/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the map of MGIDs (mgids.h) as a list of blocks, each sorted and never empty.
 *
 * An insertion moves the rest of one block, not everything behind it.  The blocks contain the keys,
 * because a search would otherwise wait for memory at each step.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "sa/registry/mgids.h"

#define BLOCK	256
#define SPARSE	(BLOCK / 8)	/* a block with fewer entries is merged into the one before */

struct entry {
	uint8_t mgid[16];
	void *thing;
};

struct block {
	unsigned n;
	struct entry *v;	/* [BLOCK] */
	uint8_t first[16];	/* v[0].mgid */
};

struct mgids {
	VEC(struct block) blocks;
	size_t n;
	size_t seen, before;	/* last block of mgids_at(), and the entries before it */
};

struct mgids *mgids_new(void)
{
	return xcalloc(1, sizeof(struct mgids));
}

void mgids_free(struct mgids *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->blocks.n; i++)
		free(m->blocks.v[i].v);
	vec_free(&m->blocks);
	free(m);
}

size_t mgids_count(const struct mgids *m)
{
	return m->n;
}

/* The index of the block that an MGID is in or belongs in; 0 if there are no blocks. */
static size_t find_block(const struct mgids *m, const uint8_t mgid[16])
{
	size_t lo;

	LOWER_BOUND(lo, 0, m->blocks.n, memcmp(m->blocks.v[lo].first, mgid, 16) <= 0);
	return lo ? lo - 1 : 0;
}

static unsigned find_entry(const struct block *b, const uint8_t mgid[16])
{
	unsigned lo;

	LOWER_BOUND(lo, 0, b->n, memcmp(b->v[lo].mgid, mgid, 16) < 0);
	return lo;
}

void *mgids_find(const struct mgids *m, const uint8_t mgid[16])
{
	const struct block *b;
	unsigned i;

	if (!m->n)
		return NULL;
	b = &m->blocks.v[find_block(m, mgid)];
	i = find_entry(b, mgid);
	return i < b->n && !memcmp(b->v[i].mgid, mgid, 16) ? b->v[i].thing : NULL;
}

size_t mgids_place(const struct mgids *m, const uint8_t mgid[16])
{
	size_t at = find_block(m, mgid), before = 0;

	for (size_t i = 0; i < at; i++)
		before += m->blocks.v[i].n;
	return m->n ? before + find_entry(&m->blocks.v[at], mgid) : 0;
}

static void note_first(struct block *b)
{
	memcpy(b->first, b->v[0].mgid, 16);
}

/* Inserts an empty block into the list. */
static struct block *insert_block(struct mgids *m, size_t at)
{
	struct block *b;

	vec_push(&m->blocks);
	b = &m->blocks.v[at];
	memmove(b + 1, b, (m->blocks.n - 1 - at) * sizeof(*b));
	*b = (struct block){ .v = xcalloc(BLOCK, sizeof(struct entry)) };
	return b;
}

static void remove_block(struct mgids *m, size_t at)
{
	struct block *b = &m->blocks.v[at];

	free(b->v);
	m->blocks.n--;
	memmove(b, b + 1, (m->blocks.n - at) * sizeof(*b));
}

static void split(struct mgids *m, size_t at)
{
	struct block *right = insert_block(m, at + 1), *left = right - 1;

	right->n = left->n / 2;
	left->n -= right->n;
	memcpy(right->v, left->v + left->n, right->n * sizeof(*right->v));
	note_first(right);
}

void mgids_add(struct mgids *m, const uint8_t mgid[16], void *thing)
{
	size_t at = find_block(m, mgid);
	struct block *b = m->blocks.n ? &m->blocks.v[at] : insert_block(m, 0);
	unsigned i;

	if (b->n == BLOCK) {
		split(m, at);
		at = find_block(m, mgid);
		b = &m->blocks.v[at];
	}
	i = find_entry(b, mgid);
	memmove(&b->v[i + 1], &b->v[i], (b->n - i) * sizeof(*b->v));
	memcpy(b->v[i].mgid, mgid, 16);
	b->v[i].thing = thing;
	b->n++;
	note_first(b);
	m->n++;
	m->seen = m->before = 0;
}

/* Moves the entries of a sparse block into the one before it if that leaves enough room there. */
static void merge(struct mgids *m, size_t at)
{
	struct block *b = &m->blocks.v[at], *left = b - 1;

	if (at == 0 || b->n >= SPARSE || left->n + b->n > BLOCK / 2)
		return;
	memcpy(left->v + left->n, b->v, b->n * sizeof(*b->v));
	left->n += b->n;
	remove_block(m, at);
}

void mgids_remove(struct mgids *m, const uint8_t mgid[16])
{
	size_t at = find_block(m, mgid);
	struct block *b = &m->blocks.v[at];
	unsigned i = find_entry(b, mgid);

	b->n--;
	memmove(&b->v[i], &b->v[i + 1], (b->n - i) * sizeof(*b->v));
	m->n--;
	m->seen = m->before = 0;
	if (!b->n) {
		remove_block(m, at);
		return;
	}
	note_first(b);
	merge(m, at);
}

void *mgids_at(struct mgids *m, size_t i)
{
	while (i < m->before)
		m->before -= m->blocks.v[--m->seen].n;
	while (i - m->before >= m->blocks.v[m->seen].n)
		m->before += m->blocks.v[m->seen++].n;
	return m->blocks.v[m->seen].v[i - m->before].thing;
}
