/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What can only be told of a whole policy: names that must be defined, groups
 * that contain each other, and what is never used or never matches.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "conf/parts.h"

/* --- names --- */

/* The words of one kind, sorted. */
struct index {
	const char *kind;	/* "group", … for errors */
	struct entry { const char *name; uint32_t i; } *v;
	const char **words;	/* the names alone, for hints */
	size_t n;
};

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* first: the name of item 0; the others follow at a distance of `stride` bytes. */
static struct index index_new(const char *kind, char *const *first, size_t n, size_t stride)
{
	struct index x = { kind, xcalloc(n, sizeof(*x.v)), xcalloc(n, sizeof(*x.words)), n };

	for (size_t i = 0; i < n; i++) {
		const void *at = (const char *)first + i * stride;

		x.words[i] = *(char *const *)at;
		x.v[i] = (struct entry){ x.words[i], (uint32_t)i };
	}
	qsort(x.v, n, sizeof(*x.v), compare_entries);
	return x;
}
#define INDEX(kind, items, n) \
	index_new(kind, (n) ? &(items)[0].name : NULL, n, sizeof((items)[0]))

static void index_free(struct index *x)
{
	free(x->v);
	free(x->words);
}

static uint32_t index_find(const struct index *x, const char *name)
{
	struct entry key = { name, 0 };
	const struct entry *e = bsearch(&key, x->v, x->n, sizeof(*x->v), compare_entries);

	return e ? e->i : UINT32_MAX;
}

/* A hint looks at every name: not worth it where there are thousands. */
#define HINT_WORDS_MAX 1000

static uint32_t resolve(struct reader *r, const struct index *x, const struct policy_name *name)
{
	uint32_t i = index_find(x, name->s);

	if (i == UINT32_MAX)
		read_error(r, name->pos, "the %s '%s' is not defined%s", x->kind, EXCERPT(name->s),
			   HINT(name->s, x->words, x->n < HINT_WORDS_MAX ? x->n : 0));
	return i;
}

static void resolve_group(struct reader *r, const struct index *groups,
			  const struct policy_name *name)
{
	/* NULL: it was refused when it was read */
	if (name->s && strcmp(name->s, "all"))
		resolve(r, groups, name);
}

static void resolve_groups(struct reader *r, const struct index *groups,
			   const struct policy_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		resolve_group(r, groups, &names->v[i]);
}

static void resolve_levels(struct reader *r, const struct index *levels, struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].level_name.s)
			p->rules[i].level = resolve(r, levels, &p->rules[i].level_name);
	for (size_t i = 0; i < p->n_partitions; i++) {
		struct policy_partition *part = &p->partitions[i];

		part->level_index = *part->level.s
			? resolve(r, levels, &part->level) : p->default_level;
		part->ipoib_level_index = *part->ipoib_level.s
			? resolve(r, levels, &part->ipoib_level) : part->level_index;
	}
}

/* --- groups within groups --- */

#define GROUP_DEPTH_MAX 32

/* Every group is visited once; its height is that of the groups below it. */
struct nesting {
	struct reader *r;
	const struct policy *p;
	const struct index *groups;
	uint8_t *height;	/* 0: not visited yet */
	bool *open;		/* being visited: on the way from the first group to this one */
	bool stop;
};

static uint8_t visit(struct nesting *s, uint32_t group, unsigned depth);

static uint8_t visit_member(struct nesting *s, uint32_t group, const struct policy_name *name,
			    unsigned depth)
{
	uint32_t member = index_find(s->groups, name->s);

	if (member == UINT32_MAX)
		return 0;	/* "all", or not defined */
	if (s->open[member]) {
		read_error(s->r, name->pos, member == group
			   ? "the group '%s' contains itself"
			   : "the group '%s' contains itself, by way of '%s'",
			   EXCERPT(name->s), EXCERPT(s->p->groups[group].name));
		return 0;
	}
	uint8_t height = visit(s, member, depth + 1);

	if (!s->stop && depth + height > GROUP_DEPTH_MAX) {
		read_error(s->r, name->pos, "groups are nested more than %d deep",
			   GROUP_DEPTH_MAX);
		s->stop = true;
	}
	return height;
}

/* Returns the height of the group, 1 if it has no groups in it. */
static uint8_t visit(struct nesting *s, uint32_t group, unsigned depth)
{
	const struct policy_names *members = &s->p->groups[group].groups;
	uint8_t highest = 0;

	if (s->height[group] || depth > GROUP_DEPTH_MAX)
		return s->height[group] ? s->height[group] : 1;
	s->open[group] = true;
	for (size_t i = 0; i < members->n && !s->stop; i++) {
		uint8_t h = visit_member(s, group, &members->v[i], depth);

		if (h > highest)
			highest = h;
	}
	s->open[group] = false;
	s->height[group] = (uint8_t)(highest + 1);
	return s->height[group];
}

static void check_nesting(struct reader *r, const struct policy *p, const struct index *groups)
{
	struct nesting s = {
		.r = r, .p = p, .groups = groups,
		.height = xcalloc(p->n_groups, sizeof(*s.height)),
		.open = xcalloc(p->n_groups, sizeof(*s.open)),
	};

	for (uint32_t g = 0; g < p->n_groups && !s.stop; g++)
		visit(&s, g, 1);
	free(s.height);
	free(s.open);
}

void check_names(struct reader *r, struct policy *p)
{
	struct index groups = INDEX("group", p->groups, p->n_groups);
	struct index levels = INDEX("level", p->levels, p->n_levels);
	struct index partitions = INDEX("partition", p->partitions, p->n_partitions);

	for (size_t i = 0; i < p->n_groups; i++) {
		const struct policy_group *g = &p->groups[i];

		resolve_groups(r, &groups, &g->groups);
		for (size_t k = 0; k < g->partitions.n; k++)
			resolve(r, &partitions, &g->partitions.v[k]);
	}
	for (size_t i = 0; i < p->n_rules; i++) {
		resolve_groups(r, &groups, &p->rules[i].sources);
		resolve_groups(r, &groups, &p->rules[i].destinations);
		resolve_groups(r, &groups, &p->rules[i].either);
	}
	for (size_t i = 0; i < p->n_sl2vl; i++)
		resolve_group(r, &groups, &p->sl2vl[i].group);
	for (size_t i = 0; i < p->n_vlarb; i++)
		resolve_group(r, &groups, &p->vlarb[i].group);
	resolve_levels(r, &levels, p);
	check_nesting(r, p, &groups);
	index_free(&groups);
	index_free(&levels);
	index_free(&partitions);
}

/* --- use --- */

static void use_group(const struct index *groups, bool *used, const struct policy_name *name)
{
	uint32_t g = index_find(groups, name->s);

	if (g != UINT32_MAX)
		used[g] = true;
}

static void use_groups(const struct index *groups, bool *used, const struct policy_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		use_group(groups, used, &names->v[i]);
}

static void check_unused_groups(struct reader *r, const struct policy *p)
{
	struct index groups = INDEX("group", p->groups, p->n_groups);
	bool *used = xcalloc(p->n_groups, sizeof(*used));

	for (size_t i = 0; i < p->n_groups; i++)
		use_groups(&groups, used, &p->groups[i].groups);
	for (size_t i = 0; i < p->n_rules; i++) {
		use_groups(&groups, used, &p->rules[i].sources);
		use_groups(&groups, used, &p->rules[i].destinations);
		use_groups(&groups, used, &p->rules[i].either);
	}
	for (size_t i = 0; i < p->n_sl2vl; i++)
		use_group(&groups, used, &p->sl2vl[i].group);
	for (size_t i = 0; i < p->n_vlarb; i++)
		use_group(&groups, used, &p->vlarb[i].group);
	for (size_t i = 0; i < p->n_groups; i++)
		if (!used[i])
			findings_add(r->out, SEV_WARNING, r->file, p->groups[i].pos,
				     "the group '%s' is never used", p->groups[i].name);
	free(used);
	index_free(&groups);
}

/* Info only: MPI and others pick an SL by themselves, for which a level may stand. */
static void check_unused_levels(struct reader *r, const struct policy *p)
{
	bool *used = xcalloc(p->n_levels, sizeof(*used));

	used[p->default_level] = true;
	for (size_t i = 0; i < p->n_rules; i++)
		used[p->rules[i].level] = true;
	for (size_t i = 0; i < p->n_partitions; i++)
		used[p->partitions[i].ipoib_level_index] = true;
	for (size_t i = 0; i < p->n_levels; i++)
		if (!used[i])
			findings_add(r->out, SEV_INFO, r->file, p->levels[i].pos,
				     "no rule and no partition leads to the level '%s'",
				     p->levels[i].name);
	free(used);
}

/*
 * First match wins, so that a rule with the criteria of an earlier one is
 * never reached, nor any rule behind one without criteria.
 */
static void check_unreachable_rules(struct reader *r, const struct policy *p)
{
	struct map64 seen = { 0 };	/* hash of the criteria -> rule */
	char **criteria = xcalloc(p->n_rules, sizeof(*criteria));

	for (uint32_t i = 0; i < p->n_rules; i++) {
		struct buf b = { 0 };
		uint32_t first;
		uint64_t hash;

		buf_puts(&b, "");
		print_criteria(&p->rules[i], &b);
		criteria[i] = b.s;
		/* a rule without criteria hides all that follow */
		first = map64_get(&seen, hash_bytes("", 0, 0));
		hash = hash_bytes(b.s, b.n, 0);
		if (first == MAP64_NONE)
			first = map64_get(&seen, hash);
		if (first == MAP64_NONE)
			map64_put(&seen, hash, i);
		else if (!*criteria[first] || !strcmp(criteria[first], b.s))
			findings_add(r->out, SEV_WARNING, r->file, p->rules[i].pos,
				     "this rule can never match: the one at line %u %s",
				     p->rules[first].pos.line, *criteria[first] ?
				     "has the same criteria" : "has no criteria and matches all");
	}
	for (size_t i = 0; i < p->n_rules; i++)
		free(criteria[i]);
	free(criteria);
	map64_free(&seen);
}

void check_use(struct reader *r, const struct policy *p)
{
	check_unused_groups(r, p);
	check_unused_levels(r, p);
	check_unreachable_rules(r, p);
}
