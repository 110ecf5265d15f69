/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Creates the built-in policy and overlays, looks up names and frees policies. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"
#include "qos/policy.h"

static const char *const ulp_names[ULP_COUNT] = {
	[ULP_NONE] = "none", [ULP_IPOIB] = "ipoib", [ULP_SDP] = "sdp", [ULP_RDS] = "rds",
	[ULP_ISER] = "iser", [ULP_SRP] = "srp", [ULP_NFS_RDMA] = "nfs-rdma",
	[ULP_NVME_OF] = "nvme-of", [ULP_LUSTRE] = "lustre", [ULP_SMB_DIRECT] = "smb-direct",
};

const char *policy_ulp_name(enum policy_ulp ulp)
{
	return ulp_names[ulp];
}

enum policy_ulp policy_ulp_parse(const char *word)
{
	for (int u = ULP_NONE + 1; u < ULP_COUNT; u++)
		if (!strcmp(word, ulp_names[u]))
			return (enum policy_ulp)u;
	return ULP_NONE;
}

const char *policy_class_name(enum port_class c)
{
	static const char *const names[PORT_CLASS_COUNT] = {
		[CLASS_CA] = "ca", [CLASS_ROUTER] = "router",
		[CLASS_SWITCH_PORT0] = "switch-port-0", [CLASS_SWITCH] = "switch",
	};
	return names[c];
}

uint32_t policy_find_group(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->n_groups; i++)
		if (!strcmp(p->groups[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

uint32_t policy_find_level(const struct policy *p, const char *name)
{
	for (size_t i = 0; i < p->n_levels; i++)
		if (!strcmp(p->levels[i].name, name))
			return (uint32_t)i;
	return UINT32_MAX;
}

bool policy_manages_tables(const struct policy *p)
{
	if (p->has_fabric_setup || p->n_classes)
		return true;
	for (size_t i = 0; i < p->n_levels; i++)
		if (p->levels[i].sl != 0)
			return true;
	return false;
}

void policy_add_everybody(struct policy_partition *part)
{
	part->members = xrealloc(part->members, part->n_members + 1, sizeof(*part->members));
	part->members[part->n_members++] = (struct policy_member){
		.group.s = xstrdup("all"), .membership = MEMBER_FULL,
	};
}

/* Moves partition i to the front; the others keep their order. */
static void move_partition(struct policy *p, size_t i)
{
	struct policy_partition part = p->partitions[i];

	memmove(p->partitions + 1, p->partitions, i * sizeof(*p->partitions));
	p->partitions[0] = part;
}

void policy_add_implied(struct policy *p)
{
	size_t i = 0;

	p->default_level = policy_find_level(p, "default");
	if (p->default_level == UINT32_MAX) {
		p->default_level = (uint32_t)p->n_levels;
		p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
		p->levels[p->n_levels++] = (struct policy_level){
			.name = xstrdup("default"), .sl_given = true,
			.packet_lifetime = -1, .path_bits = -1, .tclass = -1,
		};
	}
	while (i < p->n_partitions && p->partitions[i].pkey != IB_PKEY_DEFAULT)
		i++;
	if (i == p->n_partitions) {
		struct policy_partition *part;

		/* Appends the default partition. */
		p->partitions = xrealloc(p->partitions, p->n_partitions + 1,
					 sizeof(*p->partitions));
		part = &p->partitions[p->n_partitions++];
		*part = (struct policy_partition){
			.name = xstrdup("Default"), .pkey = IB_PKEY_DEFAULT,
			.level.s = xstrdup(""), .level_index = p->default_level,
			.ipoib = true, .ipoib_level.s = xstrdup(""),
			.ipoib_level_index = p->default_level,
		};
		policy_add_everybody(part);
	}
	move_partition(p, i);
}

struct policy *policy_builtin(void)
{
	struct policy *p = xcalloc(1, sizeof(*p));

	p->file = xstrdup("(built-in)");
	for (int c = 0; c < PORT_CLASS_COUNT; c++)
		p->defaults[c].high_limit = -1;
	policy_add_implied(p);
	return p;
}

static void names_free(struct policy_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i].s);
	vec_free(names);
}

static void group_free(struct policy_group *g)
{
	free(g->name);
	free(g->description);
	vec_free(&g->port_guids);
	names_free(&g->port_names);
	vec_free(&g->pkeys);
	names_free(&g->partitions);
	names_free(&g->groups);
}

static void level_free(struct policy_level *l)
{
	free(l->name);
	free(l->description);
	vec_free(&l->pkeys);
}

static void rule_free(struct policy_rule *r)
{
	free(r->description);
	names_free(&r->sources);
	names_free(&r->destinations);
	names_free(&r->either);
	vec_free(&r->service_ids);
	vec_free(&r->qos_classes);
	vec_free(&r->tclasses);
	vec_free(&r->pkeys);
	vec_free(&r->sls);
	vec_free(&r->dest_guids);
	vec_free(&r->tcp_ports);
	free(r->level_name.s);
}

void policy_member_free(struct policy_member *m)
{
	free(m->group.s);
	free(m->port_name);
}

static void partition_free(struct policy_partition *part)
{
	free(part->name);
	free(part->description);
	for (size_t i = 0; i < part->n_members; i++)
		policy_member_free(&part->members[i]);
	free(part->members);
	free(part->level.s);
	free(part->ipoib_level.s);
	for (size_t i = 0; i < part->n_groups; i++)
		free(part->groups[i].level.s);
	free(part->groups);
}

void policy_free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_groups; i++)
		group_free(&p->groups[i]);
	for (size_t i = 0; i < p->n_levels; i++)
		level_free(&p->levels[i]);
	for (size_t i = 0; i < p->n_rules; i++)
		rule_free(&p->rules[i]);
	for (size_t i = 0; i < p->n_partitions; i++)
		partition_free(&p->partitions[i]);
	for (size_t i = 0; i < p->n_classes; i++) {
		names_free(&p->classes[i].level_names);
		free(p->classes[i].levels);
	}
	names_free(&p->classes_except);
	for (size_t i = 0; i < p->n_sl2vl; i++)
		free(p->sl2vl[i].group.s);
	for (size_t i = 0; i < p->n_vlarb; i++)
		free(p->vlarb[i].group.s);
	free(p->groups);
	free(p->levels);
	free(p->rules);
	free(p->partitions);
	free(p->classes);
	free(p->sl2vl);
	free(p->vlarb);
	free(p->file);
	free(p);
}

/* --- overlays --- */

static struct policy_partition copy_partition(const struct policy_partition *from)
{
	struct policy_partition part = *from;

	part.name = xstrdup(from->name);
	part.description = xstrdup_or_null(from->description);
	part.level.s = xstrdup_or_null(from->level.s);
	part.ipoib_level.s = xstrdup_or_null(from->ipoib_level.s);
	part.members = xcalloc(from->n_members, sizeof(*part.members));
	for (size_t i = 0; i < from->n_members; i++) {
		part.members[i] = from->members[i];
		part.members[i].group.s = xstrdup_or_null(from->members[i].group.s);
		part.members[i].port_name = xstrdup_or_null(from->members[i].port_name);
	}
	part.groups = xcalloc(from->n_groups, sizeof(*part.groups));
	for (size_t i = 0; i < from->n_groups; i++) {
		part.groups[i] = from->groups[i];
		part.groups[i].level.s = xstrdup_or_null(from->groups[i].level.s);
	}
	return part;
}

struct policy *policy_overlay(const struct policy *base, size_t more)
{
	struct policy *p = xmemdup(base, sizeof(*base));

	p->partitions = xcalloc(base->n_partitions + more, sizeof(*p->partitions));
	for (size_t i = 0; i < base->n_partitions; i++)
		p->partitions[i] = copy_partition(&base->partitions[i]);
	return p;
}

static char *own_name(const char *level, const struct policy_own *own)
{
	struct buf name = { 0 };

	buf_puts(&name, level);
	if (own->has_sl)
		buf_printf(&name, ",sl=%u", own->sl);
	if (own->mtu_limit)
		buf_printf(&name, ",mtu=%u", mtu_bytes(own->mtu_limit));
	if (own->rate_limit)
		buf_printf(&name, ",rate=%g", rate_tenths(own->rate_limit) / 10.0);
	return name.s;
}

uint32_t policy_own_level(struct policy *p, const struct policy *base, uint32_t level,
			  const struct policy_own *own)
{
	char *name = own_name(base->levels[level].name, own);
	struct policy_level *l;

	for (size_t i = base->n_levels; i < p->n_levels; i++)
		if (!strcmp(p->levels[i].name, name)) {
			free(name);
			return (uint32_t)i;
		}
	if (p->n_levels - base->n_levels == POLICY_OWN_LEVELS) {
		free(name);
		return UINT32_MAX;
	}
	if (p->levels == base->levels) {
		p->levels = xcalloc(base->n_levels + POLICY_OWN_LEVELS, sizeof(*p->levels));
		memcpy(p->levels, base->levels, base->n_levels * sizeof(*p->levels));
	}
	l = &p->levels[p->n_levels];
	*l = base->levels[level];
	l->name = name;
	l->pos = (struct src_pos){ 0, 0 };
	l->dynamic = true;
	if (own->has_sl) {
		l->sl_given = true;
		l->sl = own->sl;
	}
	if (own->mtu_limit)
		l->mtu_limit = own->mtu_limit;
	if (own->rate_limit)
		l->rate_limit = own->rate_limit;
	return (uint32_t)p->n_levels++;
}

uint16_t policy_ipoib_scopes(const struct policy_partition *part)
{
	return !part->ipoib ? 0 : part->ipoib_scopes ? part->ipoib_scopes : 1u << SCOPE_LINK_LOCAL;
}

struct u64_ranges policy_ipoib_pkeys(const struct policy *p)
{
	bool has[IB_PKEY_DEFAULT + 1] = { false };
	struct u64_ranges pkeys = { 0 };

	for (size_t i = 0; i < p->n_partitions; i++)
		has[p->partitions[i].pkey] |= p->partitions[i].ipoib;
	has[0] = false;		/* P_Key of a rejected partition */
	for (uint32_t v = 1; v <= IB_PKEY_DEFAULT; v++) {
		if (has[v] && !has[v - 1])
			*vec_push(&pkeys) = (struct u64_range){ .lo = v };
		if (has[v])
			pkeys.v[pkeys.n - 1].hi = v;
	}
	return pkeys;
}

/* All rules for IPoIB share one list: `ipoib`. */
void policy_overlay_done(struct policy *p, const struct policy *base)
{
	bool any = false;
	struct u64_ranges ipoib;

	for (size_t i = 0; i < base->n_rules; i++)
		any |= base->rules[i].all_ipoib;
	if (!any)
		return;
	p->rules = xmemdup(base->rules, base->n_rules * sizeof(*base->rules));
	ipoib = policy_ipoib_pkeys(p);
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].all_ipoib)
			p->rules[i].pkeys = ipoib;
}

static void free_shared_pkeys(struct policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].all_ipoib) {
			vec_free(&p->rules[i].pkeys);
			return;
		}
}

void policy_overlay_free(struct policy *p, const struct policy *base)
{
	for (size_t i = 0; i < p->n_partitions; i++)
		partition_free(&p->partitions[i]);
	free(p->partitions);
	for (size_t i = base->n_levels; i < p->n_levels; i++)
		free(p->levels[i].name);	/* the rest of them is base's */
	if (p->levels != base->levels)
		free(p->levels);
	if (p->rules != base->rules) {
		free_shared_pkeys(p);
		free(p->rules);
	}
	free(p);
}
