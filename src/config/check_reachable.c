/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds rules that can never match, as an earlier rule matches every query that they match.
 *
 * Rule E hides a later rule L if each criterion of E is met whenever those of L are: its ranges
 * include L's, its groups include L's (by name, or as groups of groups), its `either` includes L's
 * sources, destinations or `either`.  This follows from the file alone and holds on every fabric;
 * the check does not look for rules that only several earlier rules together hide.
 *
 * Each rule is compared with all earlier ones except hidden ones, as the rule that hides a rule
 * hides what that rule hides.  The check ends after WORK_MAX steps, and says so: 10,000 rules of
 * three criteria each take about half as many.
 */
#include <stdlib.h>
#include <string.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/search.h"

#define WORK_MAX 300000000u	/* about two seconds */

enum criterion {
	SOURCE, DESTINATION, EITHER,
	SERVICE_ID, QOS_CLASS, TCLASS, PKEY, SL, TARGET, CRITERION_COUNT
};

struct span {
	uint64_t lo, hi;
};

/* A part of reach->groups or reach->spans: sorted; spans neither touch nor overlap. */
struct slice {
	uint32_t at, n;
};

/* A rule's criteria, without those that always hold. */
struct criteria {
	unsigned set;		/* bit mask, 1 << enum criterion */
	struct slice of[CRITERION_COUNT];
};

/* A group that contains another, on the other's list of parents. */
struct parent {
	uint32_t group, next;	/* next: index + 1, 0 = none */
};

struct reach {
	struct reader *r;
	const struct policy *p;
	struct index names;
	VEC(uint32_t) groups;
	VEC(struct span) spans;
	struct criteria *rules;
	uint32_t *kept, n_kept;	/* earlier rules to compare with, ascending */
	VEC(struct parent) parents;
	uint32_t *outer;	/* [group]: its list of parents, index + 1 */
	bool *everybody;	/* [group]: contains every end port of any fabric */
	VEC(uint32_t) above;	/* result of look_above(): a group and all groups that contain it */
	uint32_t *seen, stamp;	/* [group]: stamp of the last look_above() that met it */
	uint64_t work;
};

/* --- groups --- */

static void find_parents(struct reach *s)
{
	for (uint32_t g = 0; g < s->p->n_groups; g++)
		for (size_t i = 0; i < s->p->groups[g].groups.n; i++) {
			uint32_t inner = index_find(&s->names, s->p->groups[g].groups.v[i].s);

			if (inner == UINT32_MAX)
				continue;	/* all */
			*vec_push(&s->parents) = (struct parent){ g, s->outer[inner] };
			s->outer[inner] = (uint32_t)s->parents.n;
		}
}

/* Sets s->above to group g and all groups that contain it. */
static void look_above(struct reach *s, uint32_t g)
{
	s->above.n = 0;
	s->stamp++;
	*vec_push(&s->above) = g;
	s->seen[g] = s->stamp;
	for (size_t i = 0; i < s->above.n; i++)
		for (uint32_t k = s->outer[s->above.v[i]]; k; k = s->parents.v[k - 1].next) {
			uint32_t outer = s->parents.v[k - 1].group;

			s->work++;
			if (s->seen[outer] == s->stamp)
				continue;
			s->seen[outer] = s->stamp;
			*vec_push(&s->above) = outer;
		}
}

static void find_everybody(struct reach *s)
{
	for (uint32_t g = 0; g < s->p->n_groups; g++) {
		const struct policy_group *group = &s->p->groups[g];
		bool all = (group->node_types & NT_ALL) == NT_ALL;

		for (size_t i = 0; i < group->groups.n; i++)
			all |= !strcmp(group->groups.v[i].s, "all");
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
	/* a query always has a destination, but may omit any other field */
	if (k == TARGET && v[0].lo == 0 && v[0].hi == UINT64_MAX)
		return;
	c->of[k] = slice;
	c->set |= 1u << k;
}

static void take_criteria(struct reach *s)
{
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

/* --- inclusion of criteria; false, and not used, once the work limit is exceeded --- */

static bool exhausted(const struct reach *s)
{
	return s->work > WORK_MAX;
}

static bool spans_include(struct reach *s, struct slice outer, struct slice inner)
{
	const struct span *e = s->spans.v + outer.at, *l = s->spans.v + inner.at;

	for (uint32_t i = 0; i < inner.n; i++) {
		uint32_t a;

		/* finds the first that begins after l[i].lo */
		LOWER_BOUND(a, 0, outer.n, e[a].lo <= l[i].lo);
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

/*
 * L's criteria whose groups, if criterion k of E includes them, guarantee that E's criterion holds.
 */
static unsigned sides(enum criterion k)
{
	return k == EITHER ? 1u << SOURCE | 1u << DESTINATION | 1u << EITHER : 1u << k;
}

static bool groups_hide(struct reach *s, unsigned k, const struct criteria *e, const struct criteria *l)
{
	for (unsigned side = SOURCE; side <= EITHER; side++)
		if ((sides((enum criterion)k) & l->set) >> side & 1 &&
		    groups_include(s, e->of[k], l->of[side]))
			return true;
	return false;
}

/* True if E matches every query that L matches. */
static bool hides(struct reach *s, const struct criteria *e, const struct criteria *l)
{
	unsigned comparable = l->set & sides(EITHER) ? l->set | 1u << EITHER : l->set;

	s->work++;
	if (e->set & ~comparable)
		return false;
	for (unsigned k = EITHER + 1; k < CRITERION_COUNT; k++)
		if (e->set >> k & 1 && !spans_include(s, e->of[k], l->of[k]))
			return false;
	for (unsigned k = SOURCE; k <= EITHER; k++)	/* last, as they cost more */
		if (e->set >> k & 1 && !groups_hide(s, k, e, l))
			return false;
	return true;
}

/* --- the whole --- */

static void report(struct reach *s, uint32_t rule, uint32_t by)
{
	const struct policy_rule *e = &s->p->rules[by];
	const struct criteria *ec = &s->rules[by], *lc = &s->rules[rule];
	const char *why = "matches everything that this one matches";

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
	for (uint32_t rule = 0; rule < s->p->n_rules; rule++) {
		uint32_t i = 0;

		while (i < s->n_kept && !hides(s, &s->rules[s->kept[i]], &s->rules[rule]))
			i++;
		if (exhausted(s)) {
			findings_add(s->r->out, SEV_INFO, s->r->file, s->p->rules[rule].pos,
				     "there are too many rules to determine in time whether this one and "
				     "the following ones can ever match");
			return;
		}
		if (i < s->n_kept)
			report(s, rule, s->kept[i]);
		else
			s->kept[s->n_kept++] = rule;
	}
}

void check_reach(struct reader *r, const struct policy *p)
{
	struct reach s = {
		.r = r, .p = p, .names = INDEX("group", p->groups, p->n_groups),
		.rules = xcalloc(p->n_rules, sizeof(*s.rules)),
		.kept = xcalloc(p->n_rules, sizeof(*s.kept)),
		.outer = xcalloc(p->n_groups, sizeof(*s.outer)),
		.everybody = xcalloc(p->n_groups, sizeof(*s.everybody)),
		.seen = xcalloc(p->n_groups, sizeof(*s.seen)),
	};

	find_parents(&s);
	find_everybody(&s);
	take_criteria(&s);
	look_for_hidden(&s);
	index_free(&s.names);
	vec_free(&s.groups);
	vec_free(&s.spans);
	free(s.rules);
	free(s.kept);
	vec_free(&s.parents);
	free(s.outer);
	free(s.everybody);
	vec_free(&s.above);
	free(s.seen);
}
