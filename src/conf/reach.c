/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rules that can never match: an earlier one matches whatever they do.
 *
 * Rule E hides a later rule L if each criterion of E is met whenever those of L
 * are: its ranges include L's, its groups include L's (by name, or as groups
 * of groups), its `either` includes L's sources, destinations or `either`.
 * That is told from the file alone and holds on every fabric; what several
 * earlier rules hide together is not looked for.
 *
 * Few earlier rules are held against each: of E's criteria, every value that L
 * can match must be in each.  So the rules with the same set of criteria are kept
 * in an index per criterion, ranges in a segment tree and groups in lists, and a
 * few values of L are looked up in each; the shortest list found has all
 * rules that may hide L.  Rules that are hidden themselves are not kept: who hides
 * them hides what they do.  Where all lists are long all the same, the
 * check ends after WORK_MAX steps, and says so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "conf/parts.h"

#define WORK_MAX 100000000u	/* about a second */

enum criterion {
	SOURCE, DESTINATION, EITHER,
	SERVICE_ID, QOS_CLASS, TCLASS, PKEY, SL, TARGET, CRITERION_COUNT
};
#define FIRST_RANGES SERVICE_ID
#define SETS (1u << CRITERION_COUNT)

struct span {
	uint64_t lo, hi;
};

/* Part of reach->groups, or of reach->spans: sorted, spans neither touch nor overlap. */
struct slice {
	uint32_t at, n;
};

/* A rule's criteria without those that always hold. */
struct criteria {
	unsigned set;		/* 1 << enum criterion, or-ed */
	struct slice of[CRITERION_COUNT];
};

/* Rules on a list, newest first. */
struct post {
	uint32_t rule, next;	/* next: index + 1, 0 = none */
};
struct list {
	uint32_t head, n;	/* head: index + 1 */
};

/* Of one criterion of one set: node i has the lists of nodes 2i and 2i + 1 above it. */
struct tree {
	uint64_t *x;		/* where intervals begin, ascending */
	uint32_t n, cap;
	struct list *nodes;	/* 2n; interval i at n + i */
};

struct reach {
	struct reader *r;
	const struct policy *p;
	struct index names;
	VEC(uint32_t) groups;
	VEC(struct span) spans;
	struct criteria *rules;
	/* who contains each group: parents[first[g]] ... up to first[g + 1] */
	uint32_t *parents, *first;
	bool *everybody;	/* of each group: has every end port, in any fabric */
	VEC(uint32_t) above;	/* a group and who contains it: result of look_above() */
	uint32_t *seen, stamp;	/* of each group: the last look_above() that met it */

	bool present[SETS];	/* some rule has just these criteria */
	struct tree *trees[SETS];	/* by criterion */
	struct map64 by_group;	/* set, criterion, group -> list */
	VEC(struct list) lists;
	VEC(struct post) posts;
	VEC(uint32_t) candidates;
	uint64_t work;
};

/* --- groups --- */

static bool is_all(const char *name)
{
	return !strcmp(name, "all");
}

static void count_parents(struct reach *s, bool fill)
{
	const struct policy *p = s->p;

	for (uint32_t g = 0; g < p->n_groups; g++)
		for (size_t i = 0; i < p->groups[g].groups.n; i++) {
			uint32_t inner = index_find(&s->names, p->groups[g].groups.v[i].s);

			if (inner == UINT32_MAX)
				continue;	/* all */
			if (fill)
				s->parents[--s->first[inner]] = g;
			else
				s->first[inner]++;
		}
}

static void find_parents(struct reach *s)
{
	uint32_t sum = 0;

	s->first = xcalloc(s->p->n_groups + 1, sizeof(*s->first));
	count_parents(s, false);
	for (size_t g = 0; g <= s->p->n_groups; g++) {
		sum += s->first[g];
		s->first[g] = sum;
	}
	s->parents = xcalloc(sum, sizeof(*s->parents));
	count_parents(s, true);
}

/* s->above: group g, and all groups that contain it. */
static void look_above(struct reach *s, uint32_t g)
{
	s->above.n = 0;
	s->stamp++;
	*vec_push(&s->above) = g;
	s->seen[g] = s->stamp;
	for (size_t i = 0; i < s->above.n; i++) {
		uint32_t inner = s->above.v[i];

		for (uint32_t k = s->first[inner]; k < s->first[inner + 1]; k++) {
			uint32_t outer = s->parents[k];

			s->work++;
			if (s->seen[outer] == s->stamp)
				continue;
			s->seen[outer] = s->stamp;
			*vec_push(&s->above) = outer;
		}
	}
}

static void find_everybody(struct reach *s)
{
	const struct policy *p = s->p;

	s->everybody = xcalloc(p->n_groups, sizeof(*s->everybody));
	for (uint32_t g = 0; g < p->n_groups; g++) {
		bool all = (p->groups[g].node_types & NT_ALL) == NT_ALL;

		for (size_t i = 0; i < p->groups[g].groups.n; i++)
			all |= is_all(p->groups[g].groups.v[i].s);
		if (!all || s->everybody[g])
			continue;
		look_above(s, g);
		for (size_t i = 0; i < s->above.n; i++)
			s->everybody[s->above.v[i]] = true;
	}
}

/* --- criteria --- */

static int compare_u32(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static void take_groups(struct reach *s, struct criteria *c, enum criterion k,
			const struct policy_names *names)
{
	struct slice slice = { (uint32_t)s->groups.n, (uint32_t)names->n };

	for (size_t i = 0; i < names->n; i++) {
		uint32_t g = index_find(&s->names, names->v[i].s);

		if (g == UINT32_MAX || s->everybody[g]) {	/* all: always holds */
			s->groups.n = slice.at;
			return;
		}
		*vec_push(&s->groups) = g;
	}
	if (!names->n)
		return;
	qsort(s->groups.v + slice.at, slice.n, sizeof(*s->groups.v), compare_u32);
	c->of[k] = slice;
	c->set |= 1u << k;
}

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	return (a->lo > b->lo) - (a->lo < b->lo);
}

static void take_ranges(struct reach *s, struct criteria *c, enum criterion k,
			const struct u64_ranges *ranges)
{
	struct slice slice = { (uint32_t)s->spans.n, 0 };
	struct span *v;

	if (!ranges->n)
		return;
	for (size_t i = 0; i < ranges->n; i++)
		*vec_push(&s->spans) = (struct span){ ranges->v[i].lo, ranges->v[i].hi };
	v = s->spans.v + slice.at;
	qsort(v, ranges->n, sizeof(*v), compare_spans);
	for (size_t i = 1; i < ranges->n; i++) {
		if (v[slice.n].hi != UINT64_MAX && v[i].lo > v[slice.n].hi + 1)
			v[++slice.n] = v[i];
		else if (v[i].hi > v[slice.n].hi)
			v[slice.n].hi = v[i].hi;
	}
	slice.n++;
	s->spans.n = slice.at + slice.n;
	/* a query always has a destination; any other field may be left out */
	if (k == TARGET && v[0].lo == 0 && v[0].hi == UINT64_MAX)
		return;
	c->of[k] = slice;
	c->set |= 1u << k;
}

static void take_criteria(struct reach *s)
{
	s->rules = xcalloc(s->p->n_rules, sizeof(*s->rules));
	for (size_t i = 0; i < s->p->n_rules; i++) {
		const struct policy_rule *rule = &s->p->rules[i];
		struct criteria *c = &s->rules[i];

		take_groups(s, c, SOURCE, &rule->sources);
		take_groups(s, c, DESTINATION, &rule->destinations);
		take_groups(s, c, EITHER, &rule->either);
		take_ranges(s, c, SERVICE_ID, &rule->service_ids);
		take_ranges(s, c, QOS_CLASS, &rule->qos_classes);
		take_ranges(s, c, TCLASS, &rule->tclasses);
		take_ranges(s, c, PKEY, &rule->pkeys);
		take_ranges(s, c, SL, &rule->sls);
		take_ranges(s, c, TARGET, &rule->dest_guids);
	}
}

/* --- does one include another?  No, when the work is used up: the answer is not used then. --- */

static bool exhausted(const struct reach *s)
{
	return s->work > WORK_MAX;
}

static bool spans_include(struct reach *s, struct slice outer, struct slice inner)
{
	const struct span *e = s->spans.v + outer.at, *l = s->spans.v + inner.at;

	for (uint32_t i = 0; i < inner.n; i++) {
		uint32_t a = 0, b = outer.n;

		while (a < b) {		/* the first that begins behind l[i].lo */
			uint32_t mid = a + (b - a) / 2;

			if (e[mid].lo <= l[i].lo)
				a = mid + 1;
			else
				b = mid;
		}
		s->work++;
		if (a == 0 || e[a - 1].hi < l[i].hi || exhausted(s))
			return false;
	}
	return true;
}

static bool groups_include(struct reach *s, struct slice outer, struct slice inner)
{
	for (uint32_t i = 0; i < inner.n; i++) {
		bool found = false;

		look_above(s, s->groups.v[inner.at + i]);
		s->work += s->above.n;
		for (size_t k = 0; k < s->above.n && !found; k++)
			found = bsearch(&s->above.v[k], s->groups.v + outer.at, outer.n,
					sizeof(uint32_t), compare_u32);
		if (!found || exhausted(s))
			return false;
	}
	return true;
}

/* Those of L's criteria whose groups, within those of criterion k of E, are enough for it. */
static unsigned sides(enum criterion k)
{
	return k == EITHER ? 1u << SOURCE | 1u << DESTINATION | 1u << EITHER : 1u << k;
}

static bool criterion_hides(struct reach *s, enum criterion k, const struct criteria *e,
			    const struct criteria *l)
{
	if (k != SOURCE && k != DESTINATION && k != EITHER)
		return spans_include(s, e->of[k], l->of[k]);
	for (unsigned side = SOURCE; side <= EITHER; side++)
		if ((sides(k) & l->set) >> side & 1 && groups_include(s, e->of[k], l->of[side]))
			return true;
	return false;
}

/* Which criteria a rule with these can be held against. */
static unsigned comparable(unsigned set)
{
	return set & sides(EITHER) ? set | 1u << EITHER : set;
}

static bool hides(struct reach *s, const struct criteria *e, const struct criteria *l)
{
	if (e->set & ~comparable(l->set))
		return false;
	s->work++;
	for (unsigned k = CRITERION_COUNT; k-- > 0; )	/* groups last: they cost more */
		if (e->set >> k & 1 && !criterion_hides(s, (enum criterion)k, e, l))
			return false;
	return true;
}

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

static void build_trees(struct reach *s)
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

static void keep(struct reach *s, uint32_t rule)
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

	look_above(s, group);
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
		if ((sides((enum criterion)k) & l->set) >> side & 1)
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

		if (rule < first && hides(s, &s->rules[rule], l))
			first = rule;
	}
	return first;
}

static uint32_t first_hiding(struct reach *s, const struct criteria *l)
{
	unsigned sets = comparable(l->set);
	uint32_t first = UINT32_MAX;

	/* every non-empty subset */
	for (unsigned set = sets; set; set = (set - 1) & sets)
		if (s->present[set])
			first = first_of_set(s, set, l, first);
	return first;
}

/* --- the whole --- */

static void report(struct reach *s, uint32_t rule, uint32_t by)
{
	const struct policy_rule *e = &s->p->rules[by];
	const struct criteria *ec = &s->rules[by], *lc = &s->rules[rule];
	const char *why = "matches whatever this one does";

	if (!ec->set)
		why = e->sources.n || e->destinations.n || e->either.n || e->dest_guids.n
			? "matches all" : "has no criteria and matches all";
	else if (hides(s, lc, ec))
		why = "has the same criteria";
	findings_add(s->r->out, SEV_WARNING, s->r->file, s->p->rules[rule].pos,
		     "this rule can never match: the one at line %u %s", e->pos.line, why);
}

static void look_for_hidden(struct reach *s)
{
	uint32_t all = UINT32_MAX;	/* the first rule that matches every query */

	for (uint32_t i = 0; i < s->p->n_rules; i++) {
		uint32_t by = first_hiding(s, &s->rules[i]);

		if (exhausted(s)) {
			findings_add(s->r->out, SEV_INFO, s->r->file, s->p->rules[i].pos,
				     "the rules up to here overlap too much to tell in time "
				     "whether this and those that follow can ever match");
			return;
		}
		if (by == UINT32_MAX)
			by = all;
		if (by != UINT32_MAX)
			report(s, i, by);
		else if (!s->rules[i].set)
			all = i;
		else
			keep(s, i);
	}
}

static void reach_free(struct reach *s)
{
	for (unsigned set = 0; set < SETS; set++) {
		for (unsigned k = 0; s->trees[set] && k < CRITERION_COUNT; k++) {
			free(s->trees[set][k].x);
			free(s->trees[set][k].nodes);
		}
		free(s->trees[set]);
	}
	index_free(&s->names);
	vec_free(&s->groups);
	vec_free(&s->spans);
	free(s->rules);
	free(s->parents);
	free(s->first);
	free(s->everybody);
	vec_free(&s->above);
	free(s->seen);
	map64_free(&s->by_group);
	vec_free(&s->lists);
	vec_free(&s->posts);
	vec_free(&s->candidates);
	free(s);
}

void check_reach(struct reader *r, const struct policy *p)
{
	struct reach *s = xcalloc(1, sizeof(*s));

	s->r = r;
	s->p = p;
	s->names = INDEX("group", p->groups, p->n_groups);
	s->seen = xcalloc(p->n_groups, sizeof(*s->seen));
	find_parents(s);
	find_everybody(s);
	take_criteria(s);
	build_trees(s);
	look_for_hidden(s);
	reach_free(s);
}
