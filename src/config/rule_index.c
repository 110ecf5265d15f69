/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which earlier rules may hide a rule (check_reachable.c).
 *
 * Of E's criteria, every value that L can match must be in each.  So the rules with the
 * same set of criteria are kept in an index per criterion, ranges in a segment tree and
 * groups in lists, and a few values of L are looked up in each; the shortest list found
 * has all rules that may hide L.
 */
#include <stdlib.h>

#include "config/check_reachable.h"
#include "lib/base/alloc.h"

/* --- the index --- */

static void post(struct reach *s, struct list *l, uint32_t rule)
{
	*vec_push(&s->posts) = (struct post){ rule, l->head };
	l->head = (uint32_t)s->posts.n;
	l->n++;
}

static uint64_t group_key(unsigned set, enum criterion k, uint32_t group)
{
	return ((uint64_t)set * CRITERION_COUNT + k) << 32 | group;
}

static void post_groups(struct reach *s, enum criterion k, uint32_t rule)
{
	const struct criteria *c = &s->rules[rule];

	for (uint32_t i = 0; i < c->of[k].n; i++) {
		uint64_t key = group_key(c->set, k, s->groups.v[c->of[k].at + i]);
		uint32_t list = map64_get(&s->by_group, key);

		if (list == MAP64_NONE) {
			list = (uint32_t)s->lists.n;
			*vec_push(&s->lists) = (struct list){ 0 };
			map64_put(&s->by_group, key, list);
		}
		post(s, &s->lists.v[list], rule);
	}
}

static int compare_u64(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

static struct tree *tree_of(struct reach *s, unsigned set, unsigned k)
{
	return &s->trees[set][k];
}

/* Where the intervals of each tree begin. */
static void lay_out_trees(struct reach *s)
{
	for (size_t i = 0; i < s->p->n_rules; i++) {
		const struct criteria *c = &s->rules[i];

		s->present[c->set] = true;
		if (!s->trees[c->set])
			s->trees[c->set] = xcalloc(CRITERION_COUNT, sizeof(struct tree));
		for (unsigned k = FIRST_RANGES; k < CRITERION_COUNT; k++)
			tree_of(s, c->set, k)->cap += 2 * c->of[k].n;
	}
	for (size_t i = 0; i < s->p->n_rules; i++) {
		const struct criteria *c = &s->rules[i];

		for (unsigned k = FIRST_RANGES; k < CRITERION_COUNT; k++) {
			struct tree *t = tree_of(s, c->set, k);

			if (!t->x)
				t->x = xcalloc(t->cap, sizeof(*t->x));
			for (uint32_t j = 0; j < c->of[k].n; j++) {
				const struct span *v = &s->spans.v[c->of[k].at + j];

				t->x[t->n++] = v->lo;
				if (v->hi != UINT64_MAX)
					t->x[t->n++] = v->hi + 1;
			}
		}
	}
}

void reach_build_trees(struct reach *s)
{
	lay_out_trees(s);
	for (unsigned set = 0; set < SETS; set++)
		for (unsigned k = FIRST_RANGES; s->trees[set] && k < CRITERION_COUNT; k++) {
			struct tree *t = tree_of(s, set, k);
			uint32_t n = 0;

			if (t->n)
				qsort(t->x, t->n, sizeof(*t->x), compare_u64);
			for (uint32_t i = 0; i < t->n; i++)
				if (n == 0 || t->x[i] != t->x[n - 1])
					t->x[n++] = t->x[i];
			t->n = n;
			t->nodes = xcalloc(2 * (size_t)n, sizeof(*t->nodes));
		}
}

/* How many intervals begin at v or before. */
static uint32_t intervals_up_to(const struct tree *t, uint64_t v)
{
	uint32_t a = 0, b = t->n;

	while (a < b) {
		uint32_t mid = a + (b - a) / 2;

		if (t->x[mid] <= v)
			a = mid + 1;
		else
			b = mid;
	}
	return a;
}

static void post_spans(struct reach *s, unsigned k, uint32_t rule)
{
	const struct criteria *c = &s->rules[rule];
	struct tree *t = tree_of(s, c->set, k);

	for (uint32_t i = 0; i < c->of[k].n; i++) {
		const struct span *v = &s->spans.v[c->of[k].at + i];
		uint32_t a = t->n + intervals_up_to(t, v->lo) - 1;
		uint32_t b = t->n + intervals_up_to(t, v->hi);

		for (; a < b; a /= 2, b /= 2) {
			if (a & 1)
				post(s, &t->nodes[a++], rule);
			if (b & 1)
				post(s, &t->nodes[--b], rule);
		}
	}
}

void reach_keep(struct reach *s, uint32_t rule)
{
	unsigned set = s->rules[rule].set;

	for (unsigned k = 0; k < CRITERION_COUNT; k++) {
		if (!(set >> k & 1))
			continue;
		if (k < FIRST_RANGES)
			post_groups(s, (enum criterion)k, rule);
		else
			post_spans(s, k, rule);
	}
}

/* --- candidates --- */

/* Lists whose rules are all that may hide one. */
struct lists {
	unsigned criterion;
	uint64_t value;		/* of a range */
	uint64_t n;		/* rules on them */
};

static void add_list(struct reach *s, const struct list *l)
{
	for (uint32_t i = l->head; i; i = s->posts.v[i - 1].next)
		*vec_push(&s->candidates) = s->posts.v[i - 1].rule;
	s->work += l->n;
}

/* The rules of a set whose ranges have the value: counted, or added to the candidates. */
static uint64_t at_value(struct reach *s, unsigned set, unsigned k, uint64_t value, bool add)
{
	const struct tree *t = tree_of(s, set, k);
	uint32_t before = intervals_up_to(t, value);
	uint64_t n = 0;

	if (before == 0)
		return 0;
	for (uint32_t i = t->n + before - 1; i > 0; i /= 2) {
		s->work++;
		n += t->nodes[i].n;
		if (add)
			add_list(s, &t->nodes[i]);
	}
	return n;
}

/* The same of those that name a group, or one that contains it. */
static uint64_t at_group(struct reach *s, unsigned set, unsigned k, uint32_t group, bool add)
{
	uint64_t n = 0;

	reach_look_above(s, group);
	s->work += s->above.n;
	for (size_t i = 0; i < s->above.n; i++) {
		uint32_t list = map64_get(&s->by_group,
					  group_key(set, (enum criterion)k, s->above.v[i]));

		if (list == MAP64_NONE)
			continue;
		n += s->lists.v[list].n;
		if (add)
			add_list(s, &s->lists.v[list]);
	}
	return n;
}

static uint64_t at_groups(struct reach *s, unsigned set, unsigned k, const struct criteria *l,
			  bool add)
{
	uint64_t n = 0;

	for (unsigned side = SOURCE; side <= EITHER; side++)
		if ((reach_sides((enum criterion)k) & l->set) >> side & 1)
			n += at_group(s, set, k, s->groups.v[l->of[side].at], add);
	return n;
}

#define SAMPLES 16	/* of a rule's ranges: half of them from each end */

static void try_value(struct reach *s, unsigned set, unsigned k, uint64_t value,
		      struct lists *best)
{
	uint64_t n = at_value(s, set, k, value, false);

	if (n < best->n)
		*best = (struct lists){ k, value, n };
}

static void try_criterion(struct reach *s, unsigned set, unsigned k, const struct criteria *l,
			  struct lists *best)
{
	const struct slice *of = &l->of[k];

	if (k < FIRST_RANGES) {
		uint64_t n = at_groups(s, set, k, l, false);

		if (n < best->n)
			*best = (struct lists){ k, 0, n };
		return;
	}
	for (uint32_t i = 0; i < of->n && best->n > 0; i++) {
		const struct span *v = &s->spans.v[of->at + i];

		if (i == SAMPLES / 2 && of->n > SAMPLES)
			i = of->n - SAMPLES / 2;
		try_value(s, set, k, v->lo, best);
		try_value(s, set, k, v->hi, best);
	}
}

/* The first rule with this set of criteria that hides L, if before `first`. */
static uint32_t first_of_set(struct reach *s, unsigned set, const struct criteria *l,
			     uint32_t first)
{
	struct lists best = { .n = UINT64_MAX };

	for (unsigned k = CRITERION_COUNT; k-- > 0 && best.n > 0; )
		if (set >> k & 1)
			try_criterion(s, set, k, l, &best);
	s->candidates.n = 0;
	if (best.n > 0 && best.criterion < FIRST_RANGES)
		at_groups(s, set, best.criterion, l, true);
	else if (best.n > 0)
		at_value(s, set, best.criterion, best.value, true);
	for (size_t i = 0; i < s->candidates.n; i++) {
		uint32_t rule = s->candidates.v[i];

		if (rule < first && reach_hides(s, &s->rules[rule], l))
			first = rule;
	}
	return first;
}

uint32_t reach_first_hiding(struct reach *s, const struct criteria *l)
{
	unsigned sets = reach_comparable(l->set);
	uint32_t first = UINT32_MAX;

	/* every non-empty subset */
	for (unsigned set = sets; set; set = (set - 1) & sets)
		if (s->present[set])
			first = first_of_set(s, set, l, first);
	return first;
}

void reach_index_free(struct reach *s)
{
	for (unsigned set = 0; set < SETS; set++) {
		for (unsigned k = 0; s->trees[set] && k < CRITERION_COUNT; k++) {
			free(s->trees[set][k].x);
			free(s->trees[set][k].nodes);
		}
		free(s->trees[set]);
	}
	map64_free(&s->by_group);
	vec_free(&s->lists);
	vec_free(&s->posts);
	vec_free(&s->candidates);
}
