/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the end ports that a member line of a partition names; member_ports.h has the contracts. */
#include "ctl/commands/member_ports.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/command.h"
#include "lib/base/alloc.h"
#include "qos/groups/port_groups.h"

struct member_look {
	const struct subnet_state *s;
	struct port_names *names;
	struct guid_index guids;
	uint64_t *set;			/* scratch: a bit for each port slot */
	size_t words;
};

struct member_look *member_look_new(const struct subnet_state *s)
{
	struct member_look *l = xcalloc(1, sizeof(*l));

	l->s = s;
	l->names = port_names_new(s->f);
	guids_build(&l->guids, s->f);
	l->words = s->f->n_ports / 64 + 1;
	l->set = xcalloc(l->words, sizeof(*l->set));
	return l;
}

void member_look_free(struct member_look *l)
{
	if (!l)
		return;
	port_names_free(l->names);
	guids_free(&l->guids);
	free(l->set);
	free(l);
}

static void add_group(struct member_look *l, const char *name)
{
	const struct plan *plan = l->s->plan;
	uint32_t group = groups_find(plan->groups, plan->policy, name);

	if (!strcmp(name, "self"))
		l->set[l->s->f->self / 64] |= UINT64_C(1) << (l->s->f->self % 64);
	else if (group != UINT32_MAX)
		memcpy(l->set, group_set(plan->groups, group), plan->groups->words * sizeof(*l->set));
}

json_t *member_look_ports(struct member_look *l, const struct policy_member *m)
{
	const struct fabric *f = l->s->f;
	json_t *list = json_array();

	memset(l->set, 0, l->words * sizeof(*l->set));
	if (m->port_name)
		port_names_add(l->names, m->port_name, l->set);
	else if (m->node_types)
		node_types_add(&l->guids, f, m->node_types, l->set);
	else if (m->group.s)
		add_group(l, m->group.s);
	else
		guids_add_range(&l->guids, &m->guids, l->set);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (l->set[i / 64] >> (i % 64) & 1 && port_is_end(f, i))
			json_array_append_new(list, json_guid(f->ports[i].guid));
	return list;
}
