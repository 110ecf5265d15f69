/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Checks what only a whole policy can show: names that must be defined, and groups that contain
 * each other.
 */
#include <stdlib.h>
#include <string.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/search.h"

/* --- names --- */

static int compare_entries(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

struct index index_new(const char *kind, char *const *first, size_t n, size_t stride)
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

void index_free(struct index *x)
{
	free(x->v);
	free(x->words);
}

uint32_t index_find(const struct index *x, const char *name)
{
	struct entry key = { name, 0 };
	const struct entry *e = bsearch(&key, x->v, x->n, sizeof(*x->v), compare_entries);

	return e ? e->i : UINT32_MAX;
}

/* A hint compares against every name, which is too slow for thousands of them. */
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
	/* NULL: the reader refused it */
	if (name->s && strcmp(name->s, "all"))
		resolve(r, groups, name);
}

static void resolve_groups(struct reader *r, const struct index *groups,
			   const struct policy_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		resolve_group(r, groups, &names->v[i]);
}

static void resolve_members(struct reader *r, const struct index *groups,
			    const struct policy_partition *part)
{
	for (size_t i = 0; i < part->n_members; i++)
		if (part->members[i].group.s && strcmp(part->members[i].group.s, "self"))
			resolve_group(r, groups, &part->members[i].group);
}

static void resolve_class(struct reader *r, const struct index *levels, struct policy_class *c)
{
	for (size_t k = 0; k < c->level_names.n; k++)
		c->levels[k] = resolve(r, levels, &c->level_names.v[k]);
}

static void resolve_levels(struct reader *r, const struct index *levels, struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].level_name.s)
			p->rules[i].level = resolve(r, levels, &p->rules[i].level_name);
	for (size_t i = 0; i < p->n_classes; i++)
		resolve_class(r, levels, &p->classes[i]);
	for (size_t i = 0; i < p->n_partitions; i++) {
		struct policy_partition *part = &p->partitions[i];

		part->level_index = *part->level.s
			? resolve(r, levels, &part->level) : p->default_level;
		part->ipoib_level_index = *part->ipoib_level.s
			? resolve(r, levels, &part->ipoib_level) : part->level_index;
		for (size_t k = 0; k < part->n_groups; k++)
			part->groups[k].level_index = *part->groups[k].level.s
				? resolve(r, levels, &part->groups[k].level) : part->ipoib_level_index;
	}
}

/* --- groups that contain groups --- */

#define GROUP_DEPTH_MAX 32

/* Visits every group once; a group's height is one more than that of its highest member group. */
struct nesting {
	struct reader *r;
	const struct policy *p;
	const struct index *groups;
	uint8_t *height;	/* 0: not visited yet */
	bool *open;		/* being visited: on the path from the first group to this one */
	bool stop;
};

static uint8_t visit(struct nesting *s, uint32_t group, unsigned depth);

static uint8_t visit_member(struct nesting *s, uint32_t group, const struct policy_name *name,
			    unsigned depth)
{
	uint32_t member = index_find(s->groups, name->s);

	if (member == UINT32_MAX)
		return 0;	/* "all", or undefined */
	if (s->open[member]) {
		read_error(s->r, name->pos, member == group
			   ? "the group '%s' contains itself"
			   : "the group '%s' contains itself through '%s'",
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

/* Returns the height of the group; 1 if it contains no groups. */
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

/* Returns false on errors. */
static bool check_nesting(struct reader *r, const struct policy *p, const struct index *groups)
{
	size_t errors = r->out->count[SEV_ERROR];
	struct nesting s = {
		.r = r, .p = p, .groups = groups,
		.height = xcalloc(p->n_groups, sizeof(*s.height)),
		.open = xcalloc(p->n_groups, sizeof(*s.open)),
	};

	for (uint32_t g = 0; g < p->n_groups && !s.stop; g++)
		visit(&s, g, 1);
	free(s.height);
	free(s.open);
	return r->out->count[SEV_ERROR] == errors;
}

/* --- groups that contain partitions that contain groups --- */

/*
 * A depth-first walk over groups (0 ...) and, after them, partitions in order of P_Key; an edge
 * leads from a group or partition to what it contains.  It has its own stack, as nothing bounds the
 * depth.
 */
struct frame {
	uint32_t node;
	size_t step;		/* edges tried so far */
	uint32_t pkey_at;	/* of a group: position in a range of P_Keys */
};

struct walk {
	struct reader *r;
	const struct policy *p;
	const struct index *groups, *partitions;
	uint32_t *sorted;	/* partitions in order of P_Key */
	uint32_t *rank;		/* [partition]: its position in sorted */
	uint32_t *next;		/* [position]: the next one that is not DONE, or n_partitions */
	enum { UNSEEN, OPEN, DONE } *state;
	VEC(struct frame) stack;
};

static int compare_pkeys(const void *pa, const void *pb, void *partitions)
{
	const struct policy_partition *p = partitions;
	uint16_t a = p[*(const uint32_t *)pa].pkey, b = p[*(const uint32_t *)pb].pkey;

	return (a > b) - (a < b);
}

/* The first position from `at` on that is not DONE. */
static uint32_t next_place(struct walk *w, uint32_t at)
{
	while (w->next[at] != at) {
		w->next[at] = w->next[w->next[at]];
		at = w->next[at];
	}
	return at;
}

static uint32_t place_of_pkey(const struct walk *w, uint64_t pkey)
{
	uint32_t a;

	LOWER_BOUND(a, 0, w->p->n_partitions, w->p->partitions[w->sorted[a]].pkey < pkey);
	return a;
}

/*
 * Finds the next partition in a range of P_Keys; next_place() skips those that are DONE, however
 * many they are.
 */
static bool next_in_range(struct walk *w, struct frame *f, const struct u64_range *range,
			  uint32_t *node)
{
	uint32_t first = place_of_pkey(w, range->lo), at;

	if (f->pkey_at < first)
		f->pkey_at = first;
	at = next_place(w, f->pkey_at);
	if (at == w->p->n_partitions || w->p->partitions[w->sorted[at]].pkey > range->hi)
		return false;
	f->pkey_at = at + 1;
	*node = (uint32_t)w->p->n_groups + at;
	return true;
}

/* Finds what the group contains next, and where the file says so; false at the end. */
static bool next_of_group(struct walk *w, struct frame *f, uint32_t *node, struct src_pos *pos)
{
	const struct policy_group *g = &w->p->groups[f->node];
	size_t named = g->groups.n + g->partitions.n;

	for (; f->step < named; f->step++) {
		bool group = f->step < g->groups.n;
		const struct policy_name *name = group ? &g->groups.v[f->step]
						       : &g->partitions.v[f->step - g->groups.n];
		uint32_t i = index_find(group ? w->groups : w->partitions, name->s);

		if (i == UINT32_MAX)
			continue;
		*node = group ? i : (uint32_t)w->p->n_groups + w->rank[i];
		*pos = name->pos;
		f->step++;
		return true;
	}
	for (; f->step < named + g->pkeys.n; f->step++, f->pkey_at = 0) {
		*pos = g->pkeys.v[f->step - named].pos;
		if (next_in_range(w, f, &g->pkeys.v[f->step - named], node))
			return true;
	}
	return false;
}

static const struct policy_partition *partition_of(const struct walk *w, uint32_t node)
{
	return &w->p->partitions[w->sorted[node - w->p->n_groups]];
}

static bool next_of_partition(struct walk *w, struct frame *f, uint32_t *node,
			      struct src_pos *pos)
{
	const struct policy_partition *part = partition_of(w, f->node);

	while (f->step < part->n_members) {
		const struct policy_member *m = &part->members[f->step++];

		*node = m->group.s ? index_find(w->groups, m->group.s) : UINT32_MAX;
		*pos = m->pos;
		if (*node != UINT32_MAX)
			return true;
	}
	return false;
}

static void report_loop(struct walk *w, uint32_t node, uint32_t by, struct src_pos pos)
{
	bool group = node < w->p->n_groups, by_group = by < w->p->n_groups;

	read_error(w->r, pos, "the %s '%s' contains itself through the %s '%s'",
		   group ? "group" : "partition",
		   EXCERPT(group ? w->p->groups[node].name : partition_of(w, node)->name),
		   by_group ? "group" : "partition",
		   EXCERPT(by_group ? w->p->groups[by].name : partition_of(w, by)->name));
}

/*
 * Stops at FINDINGS_MAX errors, as further cycles would only be counted: wide ranges of P_Keys can
 * have as many as groups times partitions.
 */
static void walk_from(struct walk *w, uint32_t root)
{
	*vec_push(&w->stack) = (struct frame){ .node = root };
	w->state[root] = OPEN;
	while (w->stack.n && w->r->out->count[SEV_ERROR] < FINDINGS_MAX) {
		struct frame *f = &w->stack.v[w->stack.n - 1];
		bool group = f->node < w->p->n_groups;
		struct src_pos pos = { 0 };
		uint32_t node = 0;

		if (!(group ? next_of_group : next_of_partition)(w, f, &node, &pos)) {
			w->state[f->node] = DONE;
			if (!group)
				w->next[f->node - w->p->n_groups]++;
			w->stack.n--;
		} else if (w->state[node] == OPEN) {
			report_loop(w, node, f->node, pos);
		} else if (w->state[node] == UNSEEN) {
			w->state[node] = OPEN;
			*vec_push(&w->stack) = (struct frame){ .node = node };
		}
	}
}

static void check_partition_loops(struct reader *r, const struct policy *p,
				  const struct index *groups, const struct index *partitions)
{
	struct walk w = {
		.r = r, .p = p, .groups = groups, .partitions = partitions,
		.state = xcalloc(p->n_groups + p->n_partitions, sizeof(*w.state)),
	};
	size_t n = w.p->n_partitions;

	w.sorted = xcalloc(n, sizeof(*w.sorted));
	w.rank = xcalloc(n, sizeof(*w.rank));
	w.next = xcalloc(n + 1, sizeof(*w.next));
	for (uint32_t i = 0; i < n; i++)
		w.sorted[i] = i;
	qsort_r(w.sorted, n, sizeof(*w.sorted), compare_pkeys, w.p->partitions);
	for (uint32_t i = 0; i < n; i++)
		w.rank[w.sorted[i]] = i;
	for (uint32_t i = 0; i <= n; i++)
		w.next[i] = i;
	for (uint32_t g = 0; g < p->n_groups; g++)
		if (w.state[g] == UNSEEN)
			walk_from(&w, g);
	free(w.sorted);
	free(w.rank);
	free(w.next);
	free(w.state);
	vec_free(&w.stack);
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
	for (size_t i = 0; i < p->n_partitions; i++)
		resolve_members(r, &groups, &p->partitions[i]);
	resolve_groups(r, &groups, &p->classes_except);
	for (size_t i = 0; i < p->n_sl2vl; i++)
		resolve_group(r, &groups, &p->sl2vl[i].group);
	for (size_t i = 0; i < p->n_vlarb; i++)
		resolve_group(r, &groups, &p->vlarb[i].group);
	resolve_levels(r, &levels, p);
	if (check_nesting(r, p, &groups))
		check_partition_loops(r, p, &groups, &partitions);
	index_free(&groups);
	index_free(&levels);
	index_free(&partitions);
}

