/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Warns of what a policy defines and never uses, or leaves empty. */
#include <stdlib.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"

#define warn(r, pos, ...) findings_add((r)->out, SEV_WARNING, (r)->file, pos, __VA_ARGS__)

/* --- groups --- */

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

static void use_members(const struct index *groups, bool *used, const struct policy_partition *part)
{
	for (size_t i = 0; i < part->n_members; i++)
		if (part->members[i].group.s)
			use_group(groups, used, &part->members[i].group);
}

static bool *used_groups(const struct policy *p)
{
	struct index groups = INDEX("group", p->groups, p->n_groups);
	bool *used = xcalloc(p->n_groups, sizeof(*used));

	for (size_t i = 0; i < p->n_groups; i++)
		use_groups(&groups, used, &p->groups[i].groups);
	for (size_t i = 0; i < p->n_partitions; i++)
		use_members(&groups, used, &p->partitions[i]);
	for (size_t i = 0; i < p->n_rules; i++) {
		use_groups(&groups, used, &p->rules[i].sources);
		use_groups(&groups, used, &p->rules[i].destinations);
		use_groups(&groups, used, &p->rules[i].either);
	}
	use_groups(&groups, used, &p->classes_except);
	for (size_t i = 0; i < p->n_sl2vl; i++)
		use_group(&groups, used, &p->sl2vl[i].group);
	for (size_t i = 0; i < p->n_vlarb; i++)
		use_group(&groups, used, &p->vlarb[i].group);
	index_free(&groups);
	return used;
}

/* The default partition has the daemon's own port as a full member, whatever the policy says. */
static bool has_full_member(const struct policy_partition *part)
{
	if (part->pkey == IB_PKEY_DEFAULT)
		return true;
	for (size_t i = 0; i < part->n_members; i++)
		if (part->members[i].membership != MEMBER_LIMITED)
			return true;
	return false;
}

/* --- levels --- */

static bool *used_levels(const struct policy *p)
{
	bool *used = xcalloc(p->n_levels, sizeof(*used));

	used[p->default_level] = true;
	for (size_t i = 0; i < p->n_rules; i++)
		used[p->rules[i].level] = true;
	for (size_t i = 0; i < p->n_partitions; i++) {
		used[p->partitions[i].level_index] = true;
		used[p->partitions[i].ipoib_level_index] = true;	/* the same without IPoIB */
		for (size_t k = 0; k < p->partitions[i].n_groups; k++)
			used[p->partitions[i].groups[k].level_index] = true;
	}
	return used;
}

static void warn_classless(struct reader *r, const struct policy *p, const struct policy_level *l)
{
	const struct policy_class *c = &p->classes[p->class_of_sl[l->sl]];

	/* the file may never mention the level `default` */
	warn(r, l->pos.line ? l->pos : p->classes[0].pos, "the level '%s' is in no traffic class: "
	     "its SL %u shares the VLs of the class at line %u", l->name, l->sl, c->pos.line);
}

static bool has_sl2vl_tables(const struct policy *p)
{
	for (int i = 0; i < PORT_CLASS_COUNT; i++)
		if (p->defaults[i].given && p->defaults[i].has_sl2vl)
			return true;
	return p->n_sl2vl > 0;
}

/*
 * A level of a traffic class counts as used: programs that pick their own SL use it, too.  So does
 * an SL that has a level beside tables that are written by hand.
 */
static void check_levels(struct reader *r, const struct policy *p)
{
	uint32_t *class_of = classes_of_levels(p);
	bool *used = used_levels(p);
	bool tables = has_sl2vl_tables(p);

	for (size_t i = 0; i < p->n_levels; i++) {
		const struct policy_level *l = &p->levels[i];

		if (class_of[i] != UINT32_MAX)
			continue;
		if (!used[i] && !(tables && l->sl_given))
			warn(r, l->pos, "the level '%s' is never used: no rule, partition or traffic class "
			     "refers to it", l->name);
		else if (p->n_classes)
			warn_classless(r, p, l);
	}
	free(class_of);
	free(used);
}

void check_use(struct reader *r, const struct policy *p)
{
	bool *used = used_groups(p);

	for (size_t i = 0; i < p->n_groups; i++) {
		const struct policy_group *g = &p->groups[i];

		if (!used[i])
			warn(r, g->pos, "the group '%s' is never used", g->name);
		if (!g->port_guids.n && !g->port_names.n && !g->pkeys.n && !g->partitions.n &&
		    !g->groups.n && !g->node_types)
			warn(r, g->pos, "the group '%s' has no members", g->name);
	}
	free(used);
	for (size_t i = 0; i < p->n_partitions; i++) {
		const struct policy_partition *part = &p->partitions[i];

		if (!part->n_members)
			warn(r, part->pos, "the partition '%s' has no members", part->name);
		else if (!has_full_member(part))
			warn(r, part->pos, "the partition '%s' has limited members only, which "
			     "cannot communicate", part->name);
	}
	check_levels(r, p);
}
