/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Looks up memberships and shared P_Keys in P_Key tables.
 *
 * Read-only; a lookup searches only the words of two tables.
 */
#include "lib/base/search.h"
#include "plan/partitions/pkey_members.h"

static const struct pkey_word *word_of(const struct pkey_table *t, uint32_t at)
{
	uint32_t a;

	LOWER_BOUND(a, 0, t->n_words, t->words[a].at < at);
	return a < t->n_words && t->words[a].at == at ? &t->words[a] : NULL;
}

static enum membership membership_in(const struct pkey_table *t, uint32_t partition)
{
	const struct pkey_word *w = word_of(t, partition / 64);
	unsigned bit = partition & 63;

	if (!w)
		return MEMBER_NONE;
	return w->full >> bit & 1 ? w->limited >> bit & 1 ? MEMBER_BOTH : MEMBER_FULL :
	       w->limited >> bit & 1 ? MEMBER_LIMITED : MEMBER_NONE;
}

enum membership port_membership(const struct partitions *p, uint32_t port, uint16_t pkey)
{
	uint32_t partition = partition_of_pkey(p, pkey);

	return partition == UINT32_MAX ? MEMBER_NONE :
					 membership_in(port_pkeys(p, port), partition);
}

/* The partitions of a word in which the two can talk (10.9.3): one of them is a full member. */
static uint64_t talking(const struct pkey_word *a, const struct pkey_word *b)
{
	return (a->full & (b->full | b->limited)) | (a->limited & b->full);
}

/*
 * The P_Key if both tables have it and it is allowed, with a's membership bit: full if a has both
 * forms.
 */
static uint16_t shared_in(const struct partitions *p, const struct pkey_table *a,
			  const struct pkey_table *b, uint32_t partition, const uint64_t *allowed)
{
	const struct pkey_word *x = word_of(a, partition / 64), *y = word_of(b, partition / 64);
	uint64_t bit = 1ull << (partition & 63);

	if (!x || !y || !(talking(x, y) & bit) ||
	    (allowed && !(allowed[partition >> 6] >> (partition & 63) & 1)))
		return 0;
	return p->pkey[partition] | (x->full & bit ? IB_PKEY_FULL : 0);
}

static uint16_t first_shared(const struct partitions *p, const struct pkey_table *a,
			     const struct pkey_table *b, const uint64_t *allowed)
{
	for (uint32_t i = 0, k = 0; i < a->n_words && k < b->n_words;) {
		const struct pkey_word *x = &a->words[i], *y = &b->words[k];
		uint64_t w = x->at == y->at ? talking(x, y) : 0;

		if (w && allowed)
			w &= allowed[x->at];
		if (w) {
			uint64_t bit = w & -w;

			return p->pkey[x->at * 64 + (uint32_t)__builtin_ctzll(w)] |
			       (x->full & bit ? IB_PKEY_FULL : 0);
		}
		i += x->at <= y->at;
		k += y->at <= x->at;
	}
	return 0;
}

static uint16_t shared(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey,
		       const uint64_t *allowed)
{
	const struct pkey_table *ta = port_pkeys(p, a), *tb = port_pkeys(p, b);
	uint32_t partition;

	if (!pkey)
		return first_shared(p, ta, tb, allowed);
	partition = partition_of_pkey(p, pkey);
	return partition == UINT32_MAX ? 0 : shared_in(p, ta, tb, partition, allowed);
}

uint16_t shared_pkey(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey)
{
	return shared(p, a, b, pkey, NULL);
}

uint16_t shared_pkey_of_level(const struct partitions *p, uint32_t level, uint32_t a, uint32_t b,
			      uint16_t pkey)
{
	return shared(p, a, b, pkey, p->for_level[level]);
}

uint16_t shared_pkey_of_own_level(const struct partitions *p, uint32_t a, uint32_t b)
{
	return shared(p, a, b, 0, p->for_own_level);
}
