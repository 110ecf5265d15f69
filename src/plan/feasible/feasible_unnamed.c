/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Warns of hosts and routers that no group of the policy names, if the settings ask for that
 * (`warn-unnamed-nodes`): a node that nobody thought of gets the levels that any node gets.
 *
 * A node is named if a group has one of its ports by GUID or by name, patterns and ranges included.
 * Node types, partitions, P_Keys and `all` name nobody, as any node may come in by them.  Aggregation nodes
 * are no hosts.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "plan/feasible/feasible_parts.h"

#define UNNAMED_TOLD 20		/* nodes with a warning of their own */

/* The ports that groups name, one bit per port slot; freed by the caller. */
static uint64_t *named_ports(const struct plan *p)
{
	uint64_t *set = xcalloc(p->f->n_ports / 64 + 1, sizeof(*set));
	struct port_names *names = port_names_new(p->f);
	struct guid_index guids = { 0 };

	guids_build(&guids, p->f);
	for (size_t g = 0; g < p->policy->n_groups; g++) {
		const struct policy_group *group = &p->policy->groups[g];

		for (size_t i = 0; i < group->port_guids.n; i++)
			guids_add_range(&guids, &group->port_guids.v[i], set);
		for (size_t i = 0; i < group->port_names.n; i++)
			port_names_add(names, group->port_names.v[i].s, set);
	}
	port_names_free(names);
	guids_free(&guids);
	return set;
}

static bool is_named(const struct fabric *f, const struct fabric_node *n, const uint64_t *set)
{
	for (uint32_t port = n->port0; port <= n->port0 + n->nports; port++)
		if (port < f->n_ports && set[port / 64] >> (port & 63) & 1)
			return true;
	return false;
}

void judge_unnamed(struct judge *j)
{
	const struct fabric *f = j->p->f;
	const struct src_pos nowhere = { 0, 0 };
	uint32_t n = 0;
	uint64_t *set;

	if (!j->p->settings->warn_unnamed)
		return;
	set = named_ports(j->p);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (node_is_switch(&f->nodes[i]) || f->nodes[i].aggregation ||
		    is_named(f, &f->nodes[i], set))
			continue;
		if (++n <= UNNAMED_TOLD)
			findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, nowhere,
				     "no group names the %s %s", fabric_type_name(&f->nodes[i]),
				     NODE_NAME(f, i));
	}
	if (n > UNNAMED_TOLD)
		findings_add(&j->v->findings, SEV_WARNING, j->p->policy->file, nowhere,
			     "no group names %u more hosts and routers", n - UNNAMED_TOLD);
	free(set);
}
