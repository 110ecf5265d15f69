/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores free MLIDs as bits and used ones in a heap for each signature (mlids.h).
 *
 * MLIDs that were given back lately wait in a queue.  The least loaded MLID is on top of its heap.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "sa/registry/mlids.h"

#define WORDS		((MLIDS + 63) / 64)
#define SUMMARY		((WORDS + 63) / 64)
#define HEAPS_SPARE	64	/* empty heaps that may stay before a rebuild */

struct heap {
	uint64_t signature;
	VEC(uint16_t) v;	/* MLIDs */
};

struct mlids {
	uint64_t unused[WORDS];		/* bit set: free, and not given back lately */
	uint64_t any[SUMMARY];		/* bit set: that word of `unused` is not 0 */
	/* Ring of MLIDs given back lately, oldest first; stale if in use again or if `when` differs. */
	struct { uint16_t mlid; uint64_t when; } lately[MLID_REUSE_AFTER + 1];
	unsigned first, n_lately;
	uint64_t given_back;		/* how often an MLID was given back */
	uint64_t when[MLIDS];		/* `given_back` when each was given back last */
	bool used[MLIDS];
	uint32_t heap[MLIDS];		/* index of its heap, plus 1; 0: none */
	uint16_t place[MLIDS];		/* index in its heap */
	uint32_t members[MLIDS];
	VEC(struct heap) heaps;
	struct map64 by_signature;
	size_t n_empty;			/* number of empty heaps */
};

static void set_unused(struct mlids *m, unsigned mlid, bool on)
{
	uint64_t *word = &m->unused[mlid / 64], *any = &m->any[mlid / 64 / 64];

	*word = (*word & ~(1ull << mlid % 64)) | (uint64_t)on << mlid % 64;
	*any = (*any & ~(1ull << mlid / 64 % 64)) | (uint64_t)(*word != 0) << mlid / 64 % 64;
}

struct mlids *mlids_new(void)
{
	struct mlids *m = xcalloc(1, sizeof(*m));

	map64_init(&m->by_signature, 16);
	for (unsigned i = 0; i < MLIDS; i++)
		set_unused(m, i, true);
	return m;
}

static void free_heaps(struct mlids *m)
{
	for (size_t i = 0; i < m->heaps.n; i++)
		vec_free(&m->heaps.v[i].v);
	m->heaps.n = 0;
}

void mlids_free(struct mlids *m)
{
	if (!m)
		return;
	free_heaps(m);
	vec_free(&m->heaps);
	map64_free(&m->by_signature);
	free(m);
}

/* --- unused ones --- */

static unsigned lowest_unused(const struct mlids *m)
{
	for (unsigned i = 0; i < SUMMARY; i++)
		if (m->any[i]) {
			unsigned word = i * 64 + (unsigned)__builtin_ctzll(m->any[i]);

			return word * 64 + (unsigned)__builtin_ctzll(m->unused[word]);
		}
	return MLID_NONE;
}

unsigned mlids_unused(const struct mlids *m, unsigned limit)
{
	unsigned mlid = lowest_unused(m);

	if (mlid < limit)
		return mlid;
	for (unsigned i = 0; i < m->n_lately; i++) {
		unsigned at = (m->first + i) % ARRAY_SIZE(m->lately);

		mlid = m->lately[at].mlid;
		if (!m->used[mlid] && m->when[mlid] == m->lately[at].when && mlid < limit)
			return mlid;
	}
	return MLID_NONE;
}

void mlids_take(struct mlids *m, unsigned mlid)
{
	m->used[mlid] = true;
	set_unused(m, mlid, false);
}

/* Frees MLIDs that were given back long enough ago. */
static void forget_lately(struct mlids *m)
{
	while (m->n_lately && m->given_back - m->lately[m->first].when >= MLID_REUSE_AFTER) {
		unsigned mlid = m->lately[m->first].mlid;

		if (!m->used[mlid] && m->when[mlid] == m->lately[m->first].when)
			set_unused(m, mlid, true);
		m->first = (m->first + 1) % ARRAY_SIZE(m->lately);
		m->n_lately--;
	}
}

/* --- used ones --- */

static bool comes_before(const struct mlids *m, unsigned a, unsigned b)
{
	return m->members[a] != m->members[b] ? m->members[a] < m->members[b] : a < b;
}

static void put(struct mlids *m, struct heap *h, unsigned at, unsigned mlid)
{
	h->v.v[at] = (uint16_t)mlid;
	m->place[mlid] = (uint16_t)at;
}

/* Moves an MLID up or down from `at` to where it belongs in the heap. */
static void settle(struct mlids *m, struct heap *h, unsigned at, unsigned mlid)
{
	while (at && comes_before(m, mlid, h->v.v[(at - 1) / 2])) {
		put(m, h, at, h->v.v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		unsigned child = 2 * at + 1;

		if (child + 1 < h->v.n && comes_before(m, h->v.v[child + 1], h->v.v[child]))
			child++;
		if (child >= h->v.n || !comes_before(m, h->v.v[child], mlid))
			break;
		put(m, h, at, h->v.v[child]);
		at = child;
	}
	put(m, h, at, mlid);
}

static void leave_heap(struct mlids *m, unsigned mlid)
{
	struct heap *h = m->heap[mlid] ? &m->heaps.v[m->heap[mlid] - 1] : NULL;

	if (!h)
		return;
	m->heap[mlid] = 0;
	unsigned last = h->v.v[--h->v.n];

	if (last != mlid)
		settle(m, h, m->place[mlid], last);
	m->n_empty += h->v.n == 0;
}

static uint32_t heap_get(struct mlids *m, uint64_t signature)
{
	uint32_t i = map64_get(&m->by_signature, signature);

	if (i != MAP64_NONE)
		return i;
	map64_put(&m->by_signature, signature, (uint32_t)m->heaps.n);
	*vec_push(&m->heaps) = (struct heap){ .signature = signature };
	m->n_empty++;
	return (uint32_t)m->heaps.n - 1;
}

static void enter_heap(struct mlids *m, unsigned mlid, uint64_t signature)
{
	uint32_t i = heap_get(m, signature);
	struct heap *h = &m->heaps.v[i];

	m->n_empty -= h->v.n == 0;
	vec_push(&h->v);
	m->heap[mlid] = i + 1;
	settle(m, h, (unsigned)h->v.n - 1, mlid);
}

/* Signatures come and go with partitions and requests, so that empty heaps would add up. */
static void drop_empty_heaps(struct mlids *m)
{
	uint64_t *signature;

	if (m->n_empty < HEAPS_SPARE || m->n_empty < m->heaps.n / 2)
		return;
	signature = xcalloc(MLIDS, sizeof(*signature));
	for (unsigned i = 0; i < MLIDS; i++)
		if (m->heap[i])
			signature[i] = m->heaps.v[m->heap[i] - 1].signature;
	free_heaps(m);
	map64_clear(&m->by_signature);
	m->n_empty = 0;
	for (unsigned i = 0; i < MLIDS; i++)
		if (m->heap[i])
			enter_heap(m, i, signature[i]);
	free(signature);
}

void mlids_describe(struct mlids *m, unsigned mlid, uint64_t signature, uint32_t members)
{
	struct heap *h = m->heap[mlid] ? &m->heaps.v[m->heap[mlid] - 1] : NULL;

	m->members[mlid] = members;
	if (h && h->signature == signature) {
		settle(m, h, m->place[mlid], mlid);
		return;
	}
	leave_heap(m, mlid);
	enter_heap(m, mlid, signature);
	drop_empty_heaps(m);
}

void mlids_give_back(struct mlids *m, unsigned mlid)
{
	leave_heap(m, mlid);
	drop_empty_heaps(m);
	m->used[mlid] = false;
	m->when[mlid] = ++m->given_back;
	forget_lately(m);
	unsigned at = (m->first + m->n_lately++) % ARRAY_SIZE(m->lately);

	m->lately[at].mlid = (uint16_t)mlid;
	m->lately[at].when = m->given_back;
}

/* The top of the heap can be at or above limit if a new switch forwards fewer MLIDs than are in use. */
unsigned mlids_to_share(const struct mlids *m, uint64_t signature, unsigned limit)
{
	uint32_t i = map64_get(&m->by_signature, signature);
	const struct heap *h = i == MAP64_NONE ? NULL : &m->heaps.v[i];
	unsigned best = MLID_NONE;

	if (!h || !h->v.n || h->v.v[0] < limit)
		return h && h->v.n ? h->v.v[0] : MLID_NONE;
	for (size_t k = 0; k < h->v.n; k++)
		if (h->v.v[k] < limit && (best == MLID_NONE || comes_before(m, h->v.v[k], best)))
			best = h->v.v[k];
	return best;
}
