/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds the ports of inner groups and partitions to groups, innermost first.
 *
 * Partitions may consist of groups in turn; config/ makes sure that no group contains itself.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "qos/groups/nested_groups.h"

/* Sets first .. end - 1: a single group, or partitions with consecutive P_Keys. */
struct span {
	uint32_t first, end;
};

/*
 * Which sets each set consists of.  Sets 0 .. n_groups - 1 are the groups' ("all" is the last); those
 * after them are the partitions' in order of P_Key.
 *
 * Unions of partitions are kept as well, in a tree: otherwise a few groups with wide ranges of P_Keys
 * would cost their number times the number of partitions.
 */
struct inner {
	struct group_sets *g;
	uint32_t n_groups, n_sets;
	uint32_t *first;		/* [set], and one for the end: index of its first span in `of` */
	VEC(struct span) of;
	/*
	 * for n partitions: 1 .. n - 1: union of 2i and 2i + 1; n + i: the i-th partition; NULL: not made
	 * yet
	 */
	uint64_t **union_of;
	const struct policy_partition **by_pkey, **by_name;	/* sorted by P_Key; sorted by name */
};

static int compare_pkeys(const void *pa, const void *pb)
{
	const struct policy_partition *const *a = pa, *const *b = pb;

	return (int)(*a)->pkey - (int)(*b)->pkey;
}

static int compare_partition_names(const void *pa, const void *pb)
{
	const struct policy_partition *const *a = pa, *const *b = pb;

	return strcmp((*a)->name, (*b)->name);
}

static const struct policy_partition **sorted_partitions(const struct policy *p,
							 int (*compare)(const void *, const void *))
{
	const struct policy_partition **v = xcalloc(p->n_partitions, sizeof(*v));

	for (size_t i = 0; i < p->n_partitions; i++)
		v[i] = &p->partitions[i];
	if (p->n_partitions)
		qsort(v, p->n_partitions, sizeof(*v), compare);
	return v;
}

/* The set of the first partition with this P_Key or a greater one, or n_sets. */
static uint32_t first_from_pkey(const struct inner *in, uint64_t pkey)
{
	uint32_t a;

	LOWER_BOUND(a, in->n_groups, in->n_sets, in->by_pkey[a - in->n_groups]->pkey < pkey);
	return a;
}

static void add_inner(struct inner *in, uint32_t set)
{
	*vec_push(&in->of) = (struct span){ set, set + 1 };
}

static void add_inner_pkeys(const struct inner_input *r, struct inner *in,
			    const struct u64_range *v)
{
	struct span span = { first_from_pkey(in, v->lo), first_from_pkey(in, v->hi + 1) };

	if (span.first < span.end)
		*vec_push(&in->of) = span;
	else
		findings_add(r->out, SEV_WARNING, r->p->file, v->pos,
			     "no partition has a P_Key in 0x%04" PRIx64 "-0x%04" PRIx64,
			     v->lo, v->hi);
}

static void add_inner_partition(const struct inner_input *r, struct inner *in,
				const struct policy_name *name)
{
	struct policy_partition key = { .name = name->s };
	const struct policy_partition *want = &key, **found =
		bsearch(&want, in->by_name, r->p->n_partitions, sizeof(want),
			compare_partition_names);

	if (found)
		add_inner(in, first_from_pkey(in, (*found)->pkey));
	else
		findings_add(r->out, SEV_WARNING, r->p->file, name->pos,
			     "there is no partition \"%s\"", name->s);
}

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;

	return (a->first > b->first) - (a->first < b->first);
}

/* Merges spans from index `start` on that touch or overlap. */
static void merge_spans(struct inner *in, size_t start)
{
	struct span *v;
	size_t n = 0;

	if (in->of.n - start < 2)
		return;
	v = in->of.v + start;
	qsort(v, in->of.n - start, sizeof(*v), compare_spans);
	for (size_t i = 1; i < in->of.n - start; i++) {
		/* spans of groups and of partitions stay separate: add_span() treats them differently */
		if (v[i].first > v[n].end ||
		    (v[i].first == in->n_groups && v[n].first < v[i].first))
			v[++n] = v[i];
		else if (v[i].end > v[n].end)
			v[n].end = v[i].end;
	}
	in->of.n = start + n + 1;
}

static void add_inner_of_group(const struct inner_input *r, struct inner *in,
			       const struct policy_group *group)
{
	size_t start = in->of.n;

	for (size_t i = 0; i < group->groups.n; i++) {
		uint32_t k = groups_find(in->g, r->p, group->groups.v[i].s);

		if (k != UINT32_MAX)
			add_inner(in, k);
	}
	for (size_t i = 0; i < group->pkeys.n; i++)
		add_inner_pkeys(r, in, &group->pkeys.v[i]);
	for (size_t i = 0; i < group->partitions.n; i++)
		add_inner_partition(r, in, &group->partitions.v[i]);
	merge_spans(in, start);
}

/* Only adds groups.  start_partition() adds GUIDs, names, types and `self`. */
static void add_inner_of_partition(const struct inner_input *r, struct inner *in,
				   const struct policy_partition *part)
{
	for (size_t i = 0; i < part->n_members; i++) {
		const char *name = part->members[i].group.s;
		uint32_t k = name && strcmp(name, "self") != 0 ? groups_find(in->g, r->p, name) :
								 UINT32_MAX;

		if (k != UINT32_MAX)
			add_inner(in, k);
	}
}

static void inner_build(const struct inner_input *r, struct inner *in)
{
	in->n_sets = in->n_groups + (uint32_t)r->p->n_partitions;
	in->first = xcalloc(in->n_sets + 1, sizeof(*in->first));
	in->union_of = xcalloc(2 * r->p->n_partitions, sizeof(*in->union_of));
	in->by_pkey = sorted_partitions(r->p, compare_pkeys);
	in->by_name = sorted_partitions(r->p, compare_partition_names);
	for (uint32_t set = 0; set < in->n_sets; set++) {
		in->first[set] = (uint32_t)in->of.n;
		if (set >= in->n_groups)
			add_inner_of_partition(r, in, in->by_pkey[set - in->n_groups]);
		else if (set < r->p->n_groups)
			add_inner_of_group(r, in, &r->p->groups[set]);
	}
	in->first[in->n_sets] = (uint32_t)in->of.n;
}

/* The element of union_of for the set of a partition. */
static uint64_t **partition_set(const struct inner *in, uint32_t set)
{
	return &in->union_of[set - in->n_groups + (in->n_sets - in->n_groups)];
}

static uint64_t *inner_set(const struct inner *in, uint32_t set)
{
	return set < in->n_groups ? set_of(in->g, set) : *partition_set(in, set);
}

/*
 * Starts the set of a partition with its direct members.  The SM's port is always in the default
 * partition.
 */
static void start_partition(const struct inner_input *r, struct inner *in, uint32_t number)
{
	const struct policy_partition *part = in->by_pkey[number - in->n_groups];
	uint64_t *set = *partition_set(in, number) = xcalloc(in->g->words, sizeof(*set));

	if (part == r->p->partitions)
		set_add(set, r->f->self);
	for (size_t i = 0; i < part->n_members; i++) {
		const struct policy_member *m = &part->members[i];

		if (m->port_name)
			port_names_add(r->names, m->port_name, set);
		else if (m->node_types)
			node_types_add(r->guids, r->f, m->node_types, set);
		else if (!m->group.s)
			guids_add_range(r->guids, &m->guids, set);
		else if (!strcmp(m->group.s, "self"))
			set_add(set, r->f->self);
	}
}

static void set_add_set(uint64_t *set, const uint64_t *other, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		set[i] |= other[i];
}

/* Returns the union at index i, made if new.  All partitions below i must be complete. */
static const uint64_t *union_set(struct inner *in, uint32_t i)
{
	if (!in->union_of[i]) {
		in->union_of[i] = xcalloc(in->g->words, sizeof(*in->union_of[i]));
		set_add_set(in->union_of[i], union_set(in, 2 * i), in->g->words);
		set_add_set(in->union_of[i], union_set(in, 2 * i + 1), in->g->words);
	}
	return in->union_of[i];
}

/* Adds the sets of a span to a set.  They must be complete. */
static void add_span(struct inner *in, const struct span *span, uint64_t *set)
{
	uint32_t n = in->n_sets - in->n_groups;

	if (span->first < in->n_groups) {
		for (uint32_t i = span->first; i < span->end; i++)
			set_add_set(set, set_of(in->g, i), in->g->words);
		return;
	}
	for (uint32_t a = span->first - in->n_groups + n, b = span->end - in->n_groups + n;
	     a < b; a /= 2, b /= 2) {
		if (a & 1)
			set_add_set(set, union_set(in, a++), in->g->words);
		if (b & 1)
			set_add_set(set, union_set(in, --b), in->g->words);
	}
}

struct visit {
	uint32_t set;
	uint32_t span, next;	/* position in its inner sets: the span, and the set in it */
};

static struct visit visit_of(const struct inner *in, uint32_t set)
{
	uint32_t span = in->first[set];

	return (struct visit){ set, span, span < in->first[set + 1] ? in->of.v[span].first : 0 };
}

/* The next inner set not seen yet, or UINT32_MAX. */
static uint32_t next_inner(const struct inner *in, struct visit *v, const bool *seen)
{
	while (v->span < in->first[v->set + 1]) {
		for (; v->next < in->of.v[v->span].end; v->next++)
			if (!seen[v->next])
				return v->next++;
		if (++v->span < in->first[v->set + 1])
			v->next = in->of.v[v->span].first;
	}
	return UINT32_MAX;
}

/*
 * Adds to each group what its inner groups and partitions have, innermost first.  Uses an explicit stack,
 * because the file decides how deep groups are nested.
 */
void inner_add(const struct inner_input *r, struct group_sets *g)
{
	struct inner in = { .g = g, .n_groups = g->n_groups };
	VEC(struct visit) stack = { 0 };

	inner_build(r, &in);
	bool *seen = xcalloc(in.n_sets, sizeof(*seen));

	for (uint32_t root = 0; root < r->p->n_groups; root++) {
		if (!seen[root])
			*vec_push(&stack) = visit_of(&in, root);
		seen[root] = true;
		while (stack.n) {
			struct visit *v = &stack.v[stack.n - 1];
			uint32_t set = v->set, k = next_inner(&in, v, seen);

			if (k == UINT32_MAX) {
				for (uint32_t i = in.first[set]; i < in.first[set + 1]; i++)
					add_span(&in, &in.of.v[i], inner_set(&in, set));
				stack.n--;
				continue;
			}
			seen[k] = true;
			if (k >= in.n_groups)
				start_partition(r, &in, k);
			*vec_push(&stack) = visit_of(&in, k);
		}
	}
	vec_free(&stack);
	free(seen);
	for (size_t i = 0; i < 2 * r->p->n_partitions; i++)
		free(in.union_of[i]);
	free(in.union_of);
	free(in.first);
	free(in.by_pkey);
	free(in.by_name);
	vec_free(&in.of);
}
