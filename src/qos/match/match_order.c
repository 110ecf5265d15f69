/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides which group each rule belongs to, and its slot there.
 *
 * Within a group, each rule is sorted by the criterion that leaves the fewest other rules to be tested
 * with it, and then by its value of that criterion.  Rules without such a criterion come first in their
 * own order: a query either matches one of the first of them, or other criteria tell them apart.  The
 * order affects only speed, never which rule is found.
 */
#include <stdlib.h>

#include "lib/base/search.h"
#include "qos/match/match_build.h"

struct placed {
	uint32_t rule;
	unsigned criterion;	/* criterion that it is sorted by; BY_RULE: none */
	uint64_t key;
	double beside;		/* expected number of rules to be tested along with it */
};
#define BY_RULE 0
#define BY_CRITERION(c) (1u + (c))

static unsigned criteria_of(const struct policy_rule *r)
{
	unsigned mask = 0;

	for (int c = 0; c < CRITERION_COUNT; c++)
		if (has_criterion(r, (enum criterion)c))
			mask |= 1u << c;
	return mask;
}

static bool by_ports(enum criterion c)
{
	return c <= CRIT_EITHER;
}

static bool by_guid(const struct policy_rule *r, enum criterion c)
{
	return c == CRIT_DESTINATION && r->dest_guids.n;
}

/* --- selectivity of criteria --- */

/* A sort key: equal for rules with equal values of the criterion, near for near values. */
static uint64_t key_of(const struct build *b, const struct policy_rule *r, enum criterion c)
{
	if (by_guid(r, c))
		return r->dest_guids.v[0].lo;
	if (by_ports(c))
		return groups_find(b->g, b->p, names_of(r, c)->v[0].s);
	return ranges_of(r, c)->v[0].lo;
}

/* [group]: number of its ports. */
static uint32_t *group_sizes(const struct build *b)
{
	uint32_t *sizes = xcalloc(b->g->n_groups, sizeof(*sizes));

	for (uint32_t i = 0; i < b->g->n_groups; i++)
		for (uint32_t w = 0; w < b->g->words; w++)
			sizes[i] += (uint32_t)__builtin_popcountll(group_set(b->g, i)[w]);
	return sizes;
}

static double share_of_ports(const struct build *b, const struct policy_rule *r,
			     enum criterion c, const uint32_t *sizes)
{
	const struct policy_names *names = names_of(r, c);
	double ports = 0;

	if (by_guid(r, c))
		for (size_t i = 0; i < r->dest_guids.n; i++)
			ports += (double)guids_count(&b->guids, &r->dest_guids.v[i]);
	else
		for (size_t i = 0; i < names->n; i++) {
			uint32_t group = groups_find(b->g, b->p, names->v[i].s);

			ports += group == UINT32_MAX ? 0 : sizes[group];
		}
	return b->guids.n ? ports / (double)b->guids.n : 0;
}

static double share_of_values(const struct policy_rule *r, enum criterion c)
{
	const struct u64_ranges *ranges = ranges_of(r, c);
	double all = value_count(c) ? value_count(c) : (double)UINT64_MAX, values = 0;

	for (size_t i = 0; i < ranges->n; i++)
		values += (double)(ranges->v[i].hi - ranges->v[i].lo) + 1;
	return values / all;
}

static int by_key(const void *pa, const void *pb)
{
	const struct placed *a = *(struct placed *const *)pa, *b = *(struct placed *const *)pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

/* Tries a criterion for each rule and keeps it where it beats the rule's best so far. */
static void consider(struct build *b, enum criterion c, struct placed *v, uint32_t n,
		     const uint32_t *sizes)
{
	struct placed *tried = xcalloc(n, sizeof(*tried)), **sorted = xcalloc(n, sizeof(*sorted));
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct policy_rule *r = &b->p->rules[v[i].rule];

		tried[i] = v[i];
		if (!has_criterion(r, c))
			continue;
		tried[i].criterion = BY_CRITERION(c);
		tried[i].key = key_of(b, r, c);
		tried[i].beside = n * (by_ports(c) ? share_of_ports(b, r, c, sizes)
						   : share_of_values(r, c));
		sorted[k++] = &tried[i];
	}
	qsort(sorted, k, sizeof(*sorted), by_key);
	for (uint32_t i = 0, end; i < k; i = end) {
		for (end = i; end < k && sorted[end]->key == sorted[i]->key; end++)
			;
		for (uint32_t j = i; j < end; j++)
			if (sorted[j]->beside < end - i)
				sorted[j]->beside = end - i;
	}
	for (uint32_t i = 0; i < n; i++)
		if (tried[i].beside < v[i].beside)
			v[i] = tried[i];
	free(tried);
	free(sorted);
}

static int by_place(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	return ORDER(a->criterion, b->criterion) ?: ORDER(a->key, b->key) ?: ORDER(a->rule, b->rule);
}

/* Greatest fraction of the other rules that a criterion may leave to be worth sorting by. */
#define BESIDE_MAX 0.25

static void arrange(struct build *b, struct placed *v, uint32_t n, const uint32_t *sizes)
{
	if (n <= 64)
		return;		/* fits in one word anyway */
	for (uint32_t i = 0; i < n; i++)
		v[i].beside = n * BESIDE_MAX;
	for (int c = 0; c < CRITERION_COUNT; c++)
		consider(b, (enum criterion)c, v, n, sizes);
	qsort(v, n, sizeof(*v), by_place);
}

/* --- groups --- */

static uint32_t round_up(uint32_t n, uint32_t unit)
{
	return (n + unit - 1) / unit;
}

static void fill_words(struct rule_group *g)
{
	uint32_t n = round_up(g->n_rules, 64);

	g->lowest = UINT32_MAX;
	g->words = xcalloc(n, sizeof(*g->words));
	for (uint32_t w = 0; w < n; w++)
		g->words[w] = (struct slot_word){ UINT32_MAX, true };
	for (uint32_t i = 0; i < g->n_rules; i++) {
		struct slot_word *w = &g->words[i / 64];

		if (i % 64 && g->rules[i] < g->rules[i - 1])
			w->ascending = false;
		if (g->rules[i] < w->lowest)
			w->lowest = g->rules[i];
		if (w->lowest < g->lowest)
			g->lowest = w->lowest;
	}
}

/* Appends a part for the group to the rows of every criterion that the group has. */
static void add_parts(struct matcher *m, struct rule_group *g, unsigned mask)
{
	for (int c = 0; c < CRITERION_COUNT; c++) {
		struct rows *rows = &m->rows[c];
		struct row_part part = { (enum criterion)c, rows->n_summaries, rows->n_chunks };

		if (!(mask & 1u << c))
			continue;
		if (c == CRIT_EITHER) {
			g->has_either = true;
			g->either = part;
		} else {
			g->part[g->n_parts++] = part;
		}
		rows->n_summaries += g->n_summaries;
		rows->n_chunks += g->n_chunks;
	}
}

static void add_group(struct build *b, struct placed *v, uint32_t n, unsigned mask,
		      const uint32_t *sizes)
{
	struct rule_group *g = &b->m->groups[b->m->n_groups++];

	arrange(b, v, n, sizes);
	g->n_rules = n;
	g->n_chunks = round_up(n, CHUNK_SLOTS);
	g->n_summaries = round_up(g->n_chunks * CHUNK_WORDS, 64);
	g->rules = xcalloc(n, sizeof(*g->rules));
	for (uint32_t i = 0; i < n; i++)
		g->rules[i] = v[i].rule;
	fill_words(g);
	add_parts(b->m, g, mask);
	b->m->used |= mask;
}

#define MASKS (1u << CRITERION_COUNT)

/* Gathers the rules of one mask of criteria or, for a mask without a group of its own, of all such masks. */
static uint32_t gather(const struct build *b, const uint8_t *mask, const bool *own, unsigned m,
		       struct placed *v, unsigned *all)
{
	uint32_t n = 0;

	*all = 0;
	for (uint32_t i = 0; i < b->n_rules; i++) {
		if (own[m] ? mask[i] != m : own[mask[i]])
			continue;
		v[n++] = (struct placed){ .rule = i };
		*all |= mask[i];
	}
	return n;
}

static int by_lowest(const void *pa, const void *pb)
{
	const struct rule_group *a = pa, *b = pb;

	return a->lowest < b->lowest ? -1 : 1;
}

void order_rules(struct build *b)
{
	uint32_t rules[MASKS] = { 0 }, *sizes = group_sizes(b), n;
	uint8_t *mask = xcalloc(b->n_rules, 1);
	bool own[MASKS] = { false };
	struct placed *v = xcalloc(b->n_rules, sizeof(*v));
	unsigned all;

	for (uint32_t i = 0; i < b->n_rules; i++) {
		mask[i] = (uint8_t)criteria_of(&b->p->rules[i]);
		rules[mask[i]]++;
	}
	/* Selects the masks that get a group of their own: all, or the most frequent. */
	for (unsigned k = 0; k < RULE_GROUPS_MAX - 1; k++) {
		unsigned best = 0;

		for (unsigned m = 1; m < MASKS; m++)
			if (!own[m] && (own[best] || rules[m] > rules[best]))
				best = m;
		own[best] = rules[best] > 0;
	}
	b->m->groups = xcalloc(RULE_GROUPS_MAX, sizeof(*b->m->groups));
	for (unsigned m = 1; m < MASKS; m++)
		if (own[m]) {
			n = gather(b, mask, own, m, v, &all);
			add_group(b, v, n, all, sizes);
		}
	n = gather(b, mask, own, 0, v, &all);
	if (n)
		add_group(b, v, n, all, sizes);
	qsort(b->m->groups, b->m->n_groups, sizeof(*b->m->groups), by_lowest);
	free(sizes);
	free(mask);
	free(v);
}
