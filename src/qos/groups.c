/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Port groups to bit sets.
 *
 * GUIDs and descriptions are looked up in sorted lists, so that a range or a
 * glob with a literal beginning costs what it matches, not what it spans.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "qos/groups.h"
#include "qos/guids.h"

struct named_node {
	const char *desc;
	uint32_t node;
};

struct resolver {
	const struct policy *p;
	const struct fabric *f;
	struct findings *out;
	struct group_sets *g;
	struct guid_index guids;
	struct named_node *nodes;		/* in order of description */
	char label[IB_PORT_NUM_MAX + 1][5];	/* "P0" ... "P254" */
};

static uint64_t *set_of(struct group_sets *g, uint32_t group)
{
	return g->bits + (size_t)group * g->words;
}

static void set_add(uint64_t *set, uint32_t port)
{
	set[port >> 6] |= 1ull << (port & 63);
}

static void set_add_set(uint64_t *set, const uint64_t *other, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		set[i] |= other[i];
}

static bool set_is_empty(const uint64_t *set, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		if (set[i])
			return false;
	return true;
}

/* --- names --- */

/* Does the pattern of n characters, with * and ?, match all of s? */
static bool glob_match(const char *pattern, size_t n, const char *s)
{
	const char *end = pattern + n, *star = NULL, *retry = NULL;

	while (*s) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (pattern < end && (*pattern == '?' || *pattern == *s)) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

static int compare_desc(const void *pa, const void *pb)
{
	const struct named_node *a = pa, *b = pb;

	return strcmp(a->desc, b->desc);
}

static void index_names(struct resolver *r)
{
	r->nodes = xcalloc(r->f->n_nodes, sizeof(*r->nodes));
	for (uint32_t i = 0; i < r->f->n_nodes; i++)
		r->nodes[i] = (struct named_node){ r->f->nodes[i].desc, i };
	qsort(r->nodes, r->f->n_nodes, sizeof(*r->nodes), compare_desc);
	for (unsigned i = 0; i < ARRAY_SIZE(r->label); i++)
		snprintf(r->label[i], sizeof(r->label[i]), "P%u", i);
}

/* The first node whose description is not before the n characters of prefix. */
static uint32_t first_with_prefix(const struct resolver *r, const char *prefix, size_t n)
{
	uint32_t a = 0, b = r->f->n_nodes;

	while (a < b) {
		uint32_t mid = a + (b - a) / 2;

		if (strncmp(r->nodes[mid].desc, prefix, n) < 0)
			a = mid + 1;
		else
			b = mid;
	}
	return a;
}

static bool add_ports_of_node(const struct resolver *r, uint32_t node, const char *port_pattern,
			      uint64_t *set)
{
	const struct fabric_node *n = &r->f->nodes[node];
	size_t len = strlen(port_pattern);
	bool found = false;

	for (unsigned num = 0; num <= n->nports && num <= IB_PORT_NUM_MAX; num++) {
		if (!r->f->ports[n->port0 + num].present ||
		    !glob_match(port_pattern, len, r->label[num]))
			continue;
		set_add(set, n->port0 + num);
		found = true;
	}
	return found;
}

/* "NodeDescription/Pn": a description may hold slashes too, a port number can't. */
static bool add_name(const struct resolver *r, const char *name, uint64_t *set)
{
	const char *slash = strrchr(name, '/');
	bool found = false;

	if (!slash)
		return false;
	size_t len = (size_t)(slash - name), literal = strcspn(name, "*?");

	if (literal > len)
		literal = len;
	for (uint32_t i = first_with_prefix(r, name, literal); i < r->f->n_nodes; i++) {
		if (strncmp(r->nodes[i].desc, name, literal) != 0)
			break;
		if (glob_match(name, len, r->nodes[i].desc))
			found |= add_ports_of_node(r, r->nodes[i].node, slash + 1, set);
	}
	return found;
}

/* --- the kinds of member --- */

static void add_guids(struct resolver *r, const struct policy_group *group, uint64_t *set)
{
	for (size_t i = 0; i < group->port_guids.n; i++) {
		const struct u64_range *v = &group->port_guids.v[i];

		if (guids_add_range(&r->guids, v, set))
			continue;
		if (v->lo == v->hi)
			findings_add(r->out, SEV_WARNING, r->p->file, v->pos,
				     "port GUID 0x%016" PRIx64 " is not in the fabric", v->lo);
		else
			findings_add(r->out, SEV_WARNING, r->p->file, v->pos,
				     "no port in the fabric has a GUID in 0x%016" PRIx64
				     "-0x%016" PRIx64, v->lo, v->hi);
	}
}

static void add_names(struct resolver *r, const struct policy_group *group, uint64_t *set)
{
	for (size_t i = 0; i < group->port_names.n; i++) {
		const struct policy_name *name = &group->port_names.v[i];

		if (add_name(r, name->s, set))
			continue;
		findings_add(r->out, SEV_WARNING, r->p->file, name->pos,
			     strpbrk(name->s, "*?") ? "no port in the fabric matches \"%s\""
						    : "port \"%s\" is not in the fabric",
			     name->s);
	}
}

static void add_node_types(struct resolver *r, unsigned types, uint64_t *set)
{
	static const unsigned type_bit[] = {
		[IB_NODE_CA_T] = NT_CA, [IB_NODE_SWITCH_T] = NT_SWITCH,
		[IB_NODE_ROUTER_T] = NT_ROUTER,
	};

	if (types & NT_SELF)
		set_add(set, r->f->self);
	if (!(types & NT_ALL))
		return;
	for (size_t i = 0; i < r->guids.n; i++)
		if (types & type_bit[port_node(r->f, r->guids.v[i].port)->type])
			set_add(set, r->guids.v[i].port);
}

static void add_own_members(struct resolver *r, uint32_t group)
{
	const struct policy_group *pg = &r->p->groups[group];
	uint64_t *set = set_of(r->g, group);

	add_guids(r, pg, set);
	add_names(r, pg, set);
	add_node_types(r, pg->node_types, set);
}

/* --- groups of groups, and of the members of partitions --- */

/* Sets [first, end): a group's, or those of partitions with P_Keys in a row. */
struct span {
	uint32_t first, end;
};

/*
 * Who is made of whom: sets 0 .. n_groups are the groups' ("all" is the last),
 * those behind them the partitions' in order of P_Key.
 *
 * Unions of partitions are kept as well, in a tree: else a few groups with wide
 * ranges of P_Keys would cost their number times the partitions'.
 */
struct inner {
	uint32_t n_groups, n_sets;
	uint32_t *first;		/* per set, and the end: its spans in `of` */
	VEC(struct span) of;
	/* n partitions: 1 .. n - 1 the union of 2i and 2i + 1, n + i the i-th; NULL: not yet */
	uint64_t **union_of;
	const struct policy_partition **by_pkey, **by_name;	/* in these orders */
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

/* The set of the first partition with this P_Key or a greater one, or the end. */
static uint32_t first_from_pkey(const struct inner *in, uint64_t pkey)
{
	uint32_t a = in->n_groups, b = in->n_sets;

	while (a < b) {
		uint32_t mid = a + (b - a) / 2;

		if (in->by_pkey[mid - in->n_groups]->pkey < pkey)
			a = mid + 1;
		else
			b = mid;
	}
	return a;
}

static void add_inner(struct inner *in, uint32_t set)
{
	*vec_push(&in->of) = (struct span){ set, set + 1 };
}

static void add_inner_pkeys(const struct resolver *r, struct inner *in, const struct u64_range *v)
{
	struct span span = { first_from_pkey(in, v->lo), first_from_pkey(in, v->hi + 1) };

	if (span.first < span.end)
		*vec_push(&in->of) = span;
	else
		findings_add(r->out, SEV_WARNING, r->p->file, v->pos,
			     "no partition has a P_Key in 0x%04" PRIx64 "-0x%04" PRIx64,
			     v->lo, v->hi);
}

static void add_inner_partition(const struct resolver *r, struct inner *in,
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

/* Of the spans from `start` on those that touch or overlap are put together. */
static void merge_spans(struct inner *in, size_t start)
{
	struct span *v = in->of.v + start;
	size_t n = 0;

	if (in->of.n - start < 2)
		return;
	qsort(v, in->of.n - start, sizeof(*v), compare_spans);
	for (size_t i = 1; i < in->of.n - start; i++) {
		/* groups and partitions stay apart: they are added in different ways */
		if (v[i].first > v[n].end || (v[i].first == in->n_groups && v[n].first < v[i].first))
			v[++n] = v[i];
		else if (v[i].end > v[n].end)
			v[n].end = v[i].end;
	}
	in->of.n = start + n + 1;
}

static void add_inner_of_group(const struct resolver *r, struct inner *in,
			       const struct policy_group *group)
{
	size_t start = in->of.n;

	for (size_t i = 0; i < group->groups.n; i++) {
		uint32_t k = groups_find(r->g, r->p, group->groups.v[i].s);

		if (k != UINT32_MAX)
			add_inner(in, k);
	}
	for (size_t i = 0; i < group->pkeys.n; i++)
		add_inner_pkeys(r, in, &group->pkeys.v[i]);
	for (size_t i = 0; i < group->partitions.n; i++)
		add_inner_partition(r, in, &group->partitions.v[i]);
	merge_spans(in, start);
}

/* By GUIDs and `self` they are added when their set is made; see start_partition(). */
static void add_inner_of_partition(const struct resolver *r, struct inner *in,
				   const struct policy_partition *part)
{
	for (size_t i = 0; i < part->n_members; i++) {
		const char *name = part->members[i].group.s;
		uint32_t k = name && strcmp(name, "self") != 0 ? groups_find(r->g, r->p, name) :
								 UINT32_MAX;

		if (k != UINT32_MAX)
			add_inner(in, k);
	}
}

static void inner_build(const struct resolver *r, struct inner *in)
{
	in->n_groups = r->g->n_groups;
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

static void inner_free(struct inner *in, size_t n_partitions)
{
	for (size_t i = 0; i < 2 * n_partitions; i++)
		free(in->union_of[i]);
	free(in->union_of);
	free(in->first);
	free(in->by_pkey);
	free(in->by_name);
	vec_free(&in->of);
}

/* Where the set of a partition is in union_of. */
static uint64_t **partition_set(const struct inner *in, uint32_t set)
{
	return &in->union_of[set - in->n_groups + (in->n_sets - in->n_groups)];
}

static uint64_t *inner_set(const struct resolver *r, const struct inner *in, uint32_t set)
{
	return set < in->n_groups ? set_of(r->g, set) : *partition_set(in, set);
}

/* What a partition has of itself.  The SM's port is in the default one, whatever the policy says. */
static void start_partition(const struct resolver *r, struct inner *in, uint32_t number)
{
	const struct policy_partition *part = in->by_pkey[number - in->n_groups];
	uint64_t *set = *partition_set(in, number) = xcalloc(r->g->words, sizeof(*set));

	if (part == r->p->partitions)
		set_add(set, r->f->self);
	for (size_t i = 0; i < part->n_members; i++) {
		if (!part->members[i].group.s)
			guids_add_range(&r->guids, &part->members[i].guids, set);
		else if (!strcmp(part->members[i].group.s, "self"))
			set_add(set, r->f->self);
	}
}

/* All partitions below i are complete. */
static const uint64_t *union_set(const struct resolver *r, struct inner *in, uint32_t i)
{
	if (!in->union_of[i]) {
		in->union_of[i] = xcalloc(r->g->words, sizeof(*in->union_of[i]));
		set_add_set(in->union_of[i], union_set(r, in, 2 * i), r->g->words);
		set_add_set(in->union_of[i], union_set(r, in, 2 * i + 1), r->g->words);
	}
	return in->union_of[i];
}

/* All sets of the span are complete. */
static void add_span(const struct resolver *r, struct inner *in, const struct span *span,
		     uint64_t *set)
{
	uint32_t n = in->n_sets - in->n_groups;

	if (span->first < in->n_groups) {
		for (uint32_t i = span->first; i < span->end; i++)
			set_add_set(set, set_of(r->g, i), r->g->words);
		return;
	}
	for (uint32_t a = span->first - in->n_groups + n, b = span->end - in->n_groups + n;
	     a < b; a /= 2, b /= 2) {
		if (a & 1)
			set_add_set(set, union_set(r, in, a++), r->g->words);
		if (b & 1)
			set_add_set(set, union_set(r, in, --b), r->g->words);
	}
}

struct visit {
	uint32_t set;
	uint32_t span, next;	/* of its inner sets: the span, and the set in it */
};

static struct visit visit_of(const struct inner *in, uint32_t set)
{
	uint32_t span = in->first[set];

	return (struct visit){ set, span, span < in->first[set + 1] ? in->of.v[span].first : 0 };
}

/* The next inner set that was not seen yet, or UINT32_MAX. */
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
 * Adds to each group what its inner groups and partitions have, innermost
 * first.  A stack of our own, as the file decides how deep they are nested.
 */
static void add_inner_sets(struct resolver *r)
{
	struct inner in = { 0 };
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
					add_span(r, &in, &in.of.v[i], inner_set(r, &in, set));
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
	inner_free(&in, r->p->n_partitions);
}

static void report_empty_groups(struct resolver *r)
{
	for (uint32_t i = 0; i < r->p->n_groups; i++)
		if (set_is_empty(set_of(r->g, i), r->g->words))
			findings_add(r->out, SEV_WARNING, r->p->file, r->p->groups[i].pos,
				     "group \"%s\" has no port in this fabric",
				     r->p->groups[i].name);
}

static int compare_names(const void *pa, const void *pb, void *groups)
{
	const struct policy_group *g = groups;

	return strcmp(g[*(const uint32_t *)pa].name, g[*(const uint32_t *)pb].name);
}

static struct group_sets *sets_new(const struct policy *p, const struct fabric *f)
{
	struct group_sets *g = xcalloc(1, sizeof(*g));

	g->n_ports = f->n_ports;
	g->n_groups = (uint32_t)p->n_groups + 1;
	g->words = (f->n_ports + 63) / 64;
	g->bits = xcalloc((size_t)g->n_groups * g->words, sizeof(*g->bits));
	g->by_name = xcalloc(p->n_groups, sizeof(*g->by_name));
	for (uint32_t i = 0; i < p->n_groups; i++)
		g->by_name[i] = i;
	if (p->n_groups)
		qsort_r(g->by_name, p->n_groups, sizeof(*g->by_name), compare_names, p->groups);
	return g;
}

struct group_sets *groups_resolve(const struct policy *p, const struct fabric *f,
				  struct findings *out)
{
	struct resolver r = { .p = p, .f = f, .out = out, .g = sets_new(p, f) };

	guids_build(&r.guids, f);
	add_node_types(&r, NT_ALL, set_of(r.g, (uint32_t)p->n_groups));
	if (p->n_groups)
		index_names(&r);
	for (uint32_t i = 0; i < p->n_groups; i++)
		add_own_members(&r, i);
	add_inner_sets(&r);
	report_empty_groups(&r);
	guids_free(&r.guids);
	free(r.nodes);
	return r.g;
}

void groups_free(struct group_sets *g)
{
	if (!g)
		return;
	free(g->bits);
	free(g->by_name);
	free(g);
}

uint32_t groups_index(const struct policy *p, const char *name)
{
	uint32_t i = policy_find_group(p, name);

	if (i == UINT32_MAX && strcmp(name, "all") == 0)
		return (uint32_t)p->n_groups;
	return i;
}

uint32_t groups_find(const struct group_sets *g, const struct policy *p, const char *name)
{
	size_t a = 0, b = p->n_groups;

	while (a < b) {
		size_t mid = a + (b - a) / 2;
		int c = strcmp(p->groups[g->by_name[mid]].name, name);

		if (c == 0)
			return g->by_name[mid];
		if (c < 0)
			a = mid + 1;
		else
			b = mid;
	}
	return strcmp(name, "all") == 0 ? (uint32_t)p->n_groups : UINT32_MAX;
}
