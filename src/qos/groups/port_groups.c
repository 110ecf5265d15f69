/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Resolves GUIDs, names and types of groups into bit sets; see port_groups.h.
 *
 * GUIDs and descriptions are looked up in sorted lists, so that the cost of a range, or of a glob with a
 * literal beginning, grows with its matches and not with its span.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/glob.h"
#include "lib/base/search.h"
#include "qos/groups/nested_groups.h"
#include "qos/groups/port_groups.h"
#include "qos/groups/port_guids.h"

struct named_node {
	const char *desc;
	uint32_t node;
};

struct port_names {
	const struct fabric *f;
	struct named_node *nodes;		/* in order of description */
	char label[IB_PORT_NUM_MAX + 1][5];	/* "P0" ... "P254" */
};

struct resolver {
	const struct policy *p;
	const struct fabric *f;
	struct findings *out;
	struct group_sets *g;
	struct guid_index guids;
	struct port_names *names;		/* NULL: there are no groups */
};

static bool set_is_empty(const uint64_t *set, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		if (set[i])
			return false;
	return true;
}

/* --- names --- */

static int compare_desc(const void *pa, const void *pb)
{
	const struct named_node *a = pa, *b = pb;

	return strcmp(a->desc, b->desc);
}

struct port_names *port_names_new(const struct fabric *f)
{
	struct port_names *r = xcalloc(1, sizeof(*r));

	r->f = f;
	r->nodes = xcalloc(f->n_nodes, sizeof(*r->nodes));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		r->nodes[i] = (struct named_node){ f->nodes[i].desc, i };
	qsort(r->nodes, f->n_nodes, sizeof(*r->nodes), compare_desc);
	for (unsigned i = 0; i < ARRAY_SIZE(r->label); i++)
		snprintf(r->label[i], sizeof(r->label[i]), "P%u", i);
	return r;
}

void port_names_free(struct port_names *n)
{
	if (!n)
		return;
	free(n->nodes);
	free(n);
}

/* The first node whose description does not sort before the n characters of prefix. */
static uint32_t first_with_prefix(const struct port_names *r, const char *prefix, size_t n)
{
	uint32_t a;

	LOWER_BOUND(a, 0, r->f->n_nodes, strncmp(r->nodes[a].desc, prefix, n) < 0);
	return a;
}

static bool add_ports_of_node(const struct port_names *r, uint32_t node, const char *port_pattern,
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

/* "NodeDescription/Pn": a description may contain slashes, a port number cannot. */
bool port_names_add(const struct port_names *r, const char *name, uint64_t *set)
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

/* --- kinds of member --- */

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

static unsigned node_type_of(const struct fabric_node *n)
{
	static const unsigned type_bit[] = {
		[IB_NODE_CA_T] = NT_CA, [IB_NODE_SWITCH_T] = NT_SWITCH,
		[IB_NODE_ROUTER_T] = NT_ROUTER,
	};

	return n->aggregation ? NT_AGGREGATION : type_bit[n->type];
}

void node_types_add(const struct guid_index *guids, const struct fabric *f, unsigned types,
		    uint64_t *set)
{
	if (types & NT_SELF)
		set_add(set, f->self);
	if (!(types & NT_ALL))
		return;
	for (size_t i = 0; i < guids->n; i++)
		if (types & node_type_of(port_node(f, guids->v[i].port)))
			set_add(set, guids->v[i].port);
}

static void add_own_members(struct resolver *r, uint32_t group)
{
	const struct policy_group *pg = &r->p->groups[group];
	uint64_t *set = set_of(r->g, group);

	add_guids(r, pg, set);
	for (size_t i = 0; i < pg->port_names.n; i++) {
		const struct policy_name *name = &pg->port_names.v[i];

		if (port_names_add(r->names, name->s, set))
			continue;
		findings_add(r->out, SEV_WARNING, r->p->file, name->pos,
			     strpbrk(name->s, "*?") ? "no port in the fabric matches \"%s\""
						    : "port \"%s\" is not in the fabric",
			     name->s);
	}
	node_types_add(&r->guids, r->f, pg->node_types, set);
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
	node_types_add(&r.guids, f, NT_ALL, set_of(r.g, (uint32_t)p->n_groups));
	if (p->n_groups)
		r.names = port_names_new(f);
	for (uint32_t i = 0; i < p->n_groups; i++)
		add_own_members(&r, i);
	inner_add(&(struct inner_input){ p, f, &r.guids, r.names, out }, r.g);
	for (uint32_t i = 0; i < r.p->n_groups; i++)
		if (set_is_empty(set_of(r.g, i), r.g->words))
			findings_add(r.out, SEV_WARNING, r.p->file, r.p->groups[i].pos,
				     "group \"%s\" has no port in this fabric",
				     r.p->groups[i].name);
	guids_free(&r.guids);
	port_names_free(r.names);
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

uint32_t groups_find(const struct group_sets *g, const struct policy *p, const char *name)
{
	size_t i;

	LOWER_BOUND(i, 0, p->n_groups, strcmp(p->groups[g->by_name[i]].name, name) < 0);
	if (i < p->n_groups && strcmp(p->groups[g->by_name[i]].name, name) == 0)
		return g->by_name[i];
	return strcmp(name, "all") == 0 ? (uint32_t)p->n_groups : UINT32_MAX;
}

bool groups_any_has(const struct group_sets *g, const struct policy *p,
		    const struct policy_names *names, uint32_t port)
{
	for (size_t i = 0; i < names->n; i++) {
		uint32_t group = groups_find(g, p, names->v[i].s);

		if (group != UINT32_MAX && group_has(g, group, port))
			return true;
	}
	return false;
}
