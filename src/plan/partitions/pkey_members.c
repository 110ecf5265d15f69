/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Determines which ports hold which P_Keys from the partitions of the policy; see pkey_members.h.
 *
 * pkey_tables.c makes the tables, shared_pkey.c looks things up in them.
 *
 * Each partition in turn appends its P_Key to the lists of its members, so lists are in the order
 * of the policy.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "plan/partitions/pkey_parts.h"


static void set_bit(uint64_t *set, uint32_t i)
{
	set[i >> 6] |= 1ull << (i & 63);
}

/* --- members --- */

/* What the line makes of the ports that it names: membership, and MEMBER_FIRST. */
static unsigned kind_of(const struct policy_member *m)
{
	return m->membership | (m->index0 ? MEMBER_FIRST : 0);
}

static void add_member(struct builder *b, uint32_t port, unsigned m)
{
	set_bit(b->members, port);
	b->membership[port] = (uint8_t)m;
}

static void add_guid(struct builder *b, const struct policy_member *m)
{
	uint32_t port = fabric_find_port(b->f, m->guids.lo);

	if (port != FABRIC_NONE)
		add_member(b, port, kind_of(m));
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->dynamic), m->pos,
			     "port GUID 0x%016" PRIx64 " is not in the fabric", m->guids.lo);
}

static void add_set(struct builder *b, const uint64_t *set, unsigned m)
{
	for (uint32_t i = 0; i < b->groups->words; i++)
		for (uint64_t w = set[i]; w; w &= w - 1)
			add_member(b, i * 64 + (uint32_t)__builtin_ctzll(w), m);
}

static void add_guid_range(struct builder *b, const struct policy_member *m)
{
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	if (guids_add_range(&b->guids, &m->guids, b->range))
		add_set(b, b->range, kind_of(m));
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->dynamic), m->pos,
			     "no port in the fabric has a GUID in 0x%016" PRIx64 "-0x%016" PRIx64,
			     m->guids.lo, m->guids.hi);
}

static void add_named(struct builder *b, const struct policy_member *m)
{
	if (!b->names)
		b->names = port_names_new(b->f);
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	if (port_names_add(b->names, m->port_name, b->range))
		add_set(b, b->range, kind_of(m));
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->dynamic), m->pos,
			     strpbrk(m->port_name, "*?") ? "no port in the fabric matches \"%s\""
							 : "port \"%s\" is not in the fabric",
			     m->port_name);
}

static void add_types(struct builder *b, const struct policy_member *m)
{
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	node_types_add(&b->guids, b->f, m->node_types, b->range);
	add_set(b, b->range, kind_of(m));
}

/* Adds the ports that one line of `members` names. */
static void add_members(struct builder *b, const struct policy_member *m)
{
	uint32_t group;

	if (m->port_name)
		add_named(b, m);
	else if (m->node_types)
		add_types(b, m);
	else if (!m->group.s && m->guids.lo == m->guids.hi)
		add_guid(b, m);
	else if (!m->group.s)
		add_guid_range(b, m);
	else if (!strcmp(m->group.s, "self"))
		add_member(b, b->f->self, kind_of(m));
	else if ((group = groups_find(b->groups, b->policy, m->group.s)) != UINT32_MAX)
		add_set(b, group_set(b->groups, group), kind_of(m));
}

/*
 * The logical switch of IBM's eHCA, emulated by its firmware, reports a PartitionEnforcementCap
 * that it does not have (qosd-hardware(7)).
 */
#define VENDOR_IBM_EHCA 0x005076
#define VENDOR_AT 36		/* offset in NodeInfo: LocalPortNum, then 3 bytes of VendorID */

uint32_t port_pkey_cap(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = port_node(f, port);

	if (node_is_switch(n) && f->ports[port].num)
		return (get_be32(n->info + VENDOR_AT) & 0xffffff) == VENDOR_IBM_EHCA ? 0
		       : f->switches[n->sw].enforce_cap;
	/* at least one (14.2.5.7), even if the node reports 0 */
	return n->partition_cap ? n->partition_cap : 1;
}

/* Adds the P_Key to what the port holds, full before limited.  False: there is no room. */
static bool hold(struct builder *b, uint32_t port, uint16_t pkey, enum membership m)
{
	struct holding *h = &b->holding[port];

	if (h->keys.n + (m == MEMBER_BOTH ? 2 : 1) > port_pkey_cap(b->f, port))
		return false;
	if (m != MEMBER_LIMITED)
		*vec_push(&h->keys) = pkey | IB_PKEY_FULL;
	if (m != MEMBER_FULL)
		*vec_push(&h->keys) = pkey;
	return true;
}

static void note_conflict(struct builder *b, uint32_t first, uint32_t second, uint32_t port)
{
	for (size_t i = b->p->conflicts.n; i-- > 0 && b->p->conflicts.v[i].second == second;)
		if (b->p->conflicts.v[i].first == first) {
			b->p->conflicts.v[i].n++;
			return;
		}
	if (b->p->conflicts.n < INDEX0_CONFLICTS_MAX)
		*vec_push(&b->p->conflicts) = (struct index0_conflict){ first, second, 1, port };
}

/*
 * Keeps index 0 of a port for a P_Key that it holds.  Not of the SM's port, which must have the default
 * partition's there.
 */
static void give_index0(struct builder *b, uint32_t port, uint32_t number, enum membership m)
{
	struct holding *h = &b->holding[port];

	if (port == b->f->self)
		return;
	if (h->first)
		note_conflict(b, partition_of_pkey(b->p, h->first), number, port);
	else
		h->first = b->policy->partitions[number].pkey | (m == MEMBER_LIMITED ? 0 : IB_PKEY_FULL);
}

void index0_conflict_text(const struct policy *policy, const struct fabric *f,
			  const struct index0_conflict *c, struct buf *out)
{
	buf_printf(out, "partitions \"%s\" and \"%s\" both want index 0 of the P_Key table of %u port%s, for "
		   "example %s: only one of them can have it", policy->partitions[c->first].name,
		   policy->partitions[c->second].name, c->n, c->n == 1 ? "" : "s",
		   PORT_NAME(f, c->port));
}

static void report_conflicts(struct builder *b)
{
	for (size_t i = 0; i < b->p->conflicts.n; i++) {
		struct buf text = { 0 };

		index0_conflict_text(b->policy, b->f, &b->p->conflicts.v[i], &text);
		findings_add(b->out, SEV_ERROR, POLICY_DYNAMIC, (struct src_pos){ 0, 0 }, "%s", text.s);
		buf_free(&text);
	}
}

static void give_pkey(struct builder *b, uint32_t number)
{
	const struct policy_partition *part = &b->policy->partitions[number];
	struct tally held = { 0 }, excluded = { 0 };

	memset(b->members, 0, b->groups->words * sizeof(*b->members));
	for (size_t i = 0; i < part->n_members; i++)
		add_members(b, &part->members[i]);
	if (number == 0)
		add_member(b, b->f->self, MEMBER_FULL);
	for (uint32_t i = 0; i < b->groups->words; i++)
		for (uint64_t w = b->members[i]; w; w &= w - 1) {
			uint32_t port = i * 64 + (uint32_t)__builtin_ctzll(w);
			enum membership m = b->membership[port] & ~MEMBER_FIRST;

			/* a group may also contain external ports of switches */
			if (m == MEMBER_NONE || !port_is_end(b->f, port))
				continue;
			if (hold(b, port, part->pkey, m)) {
				count(&held, port);
				if (b->membership[port] & MEMBER_FIRST)
					give_index0(b, port, number, m);
				continue;
			}
			count(&excluded, port);
			*vec_push(&b->p->excluded) = (struct excluded_member){ number, port };
		}
	if (excluded.n)
		findings_add(b->out, SEV_ERROR, policy_file_of(b->policy, part->dynamic), part->pos,
			     "partition \"%s\": %u port%s no room for its P_Key, for example %s with room "
			     "for %u", part->name, excluded.n,
			     excluded.n == 1 ? " has" : "s have", PORT_NAME(b->f, excluded.example),
			     port_pkey_cap(b->f, excluded.example));
	else if (!held.n)
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, part->dynamic), part->pos,
			     "partition \"%s\" has no member in this fabric", part->name);
}

/* --- levels --- */

bool level_is_for(const struct policy_level *l, uint16_t pkey)
{
	return !l->pkeys.n || u64_ranges_have(&l->pkeys, pkey);
}

uint32_t policy_find_partition(const struct policy *p, uint16_t pkey)
{
	for (size_t i = 0; i < p->n_partitions; i++)
		if (p->partitions[i].pkey == (pkey & IB_PKEY_DEFAULT))
			return (uint32_t)i;
	return UINT32_MAX;
}

static void index_levels(struct partitions *p, const struct policy *policy)
{
	size_t words = (p->n_partitions + 63) / 64;

	p->n_levels = (uint32_t)policy->n_levels;
	p->for_level = xcalloc(p->n_levels, sizeof(*p->for_level));
	p->for_own_level = xcalloc(words, sizeof(*p->for_own_level));
	for (uint32_t l = 0; l < p->n_levels; l++)
		if (policy->levels[l].pkeys.n)
			p->for_level[l] = xcalloc(words, sizeof(**p->for_level));
	for (uint32_t k = 0; k < p->n_partitions; k++) {
		const struct policy_partition *part = &policy->partitions[k];

		if (level_is_for(&policy->levels[part->level_index], part->pkey))
			set_bit(p->for_own_level, k);
		for (uint32_t l = 0; l < p->n_levels; l++)
			if (p->for_level[l] && level_is_for(&policy->levels[l], part->pkey))
				set_bit(p->for_level[l], k);
	}
}

/* --- all of it --- */

/* Compares each distinct table with the SM's once; there are few. */
static void report_cut_off(struct builder *b)
{
	const struct partitions *p = b->p;
	uint8_t *reaches = xcalloc(p->n_tables, 1);	/* 1: shares a P_Key with the SM, 2: does not */
	struct tally cut_off = { 0 };

	for (uint32_t port = 0; port < p->n_ports; port++) {
		uint8_t *r = &reaches[p->table[port]];

		if (!port_is_end(b->f, port))
			continue;
		if (!*r)
			*r = shared_pkey(p, port, b->f->self, 0) ? 1 : 2;
		if (*r == 2)
			count(&cut_off, port);
	}
	free(reaches);
	if (cut_off.n)
		findings_add(b->out, SEV_WARNING, b->policy->file, b->policy->partitions[0].pos,
			     "%u port%s no partition with the subnet manager and cannot reach the subnet "
			     "administrator, for example %s", cut_off.n,
			     cut_off.n == 1 ? " shares" : "s share",
			     PORT_NAME(b->f, cut_off.example));
}

struct partitions *partitions_build(const struct policy *policy, const struct fabric *f,
				    const struct group_sets *g, const struct pkey_places *known,
				    enum partition_enforcement enforcement, struct findings *out)
{
	struct partitions *p = xcalloc(1, sizeof(*p));
	struct builder b = { .policy = policy, .f = f, .groups = g, .known = known, .out = out,
			     .p = p };

	p->n_ports = f->n_ports;
	p->table = xcalloc(f->n_ports, sizeof(*p->table));
	p->enforce = xcalloc(f->n_ports, sizeof(*p->enforce));
	b.holding = xcalloc(f->n_ports, sizeof(*b.holding));
	b.members = xcalloc(g->words, sizeof(*b.members));
	b.range = xcalloc(g->words, sizeof(*b.range));
	b.membership = xcalloc((size_t)g->words * 64, 1);
	b.at = xcalloc(UINT16_MAX + 1, sizeof(*b.at));
	guids_build(&b.guids, f);
	map64_init(&b.by_hash, 64);
	p->n_partitions = (uint32_t)policy->n_partitions;
	p->pkey = xcalloc(p->n_partitions, sizeof(*p->pkey));
	p->by_pkey = xcalloc(IB_PKEY_DEFAULT + 1, sizeof(*p->by_pkey));
	for (uint32_t k = p->n_partitions; k-- > 0;) {
		p->pkey[k] = policy->partitions[k].pkey;
		p->by_pkey[p->pkey[k]] = (uint16_t)(k + 1);
	}
	index_levels(p, policy);
	for (uint32_t k = 0; k < p->n_partitions; k++)
		give_pkey(&b, k);
	report_conflicts(&b);
	make_pkey_tables(&b);
	ipoib_groups(p, policy, f);
	if (enforcement != ENFORCE_OFF && pkeys_restrict(p, f))
		enforce_pkeys(&b, enforcement);
	report_cut_off(&b);
	for (uint32_t port = 0; port < f->n_ports; port++)
		vec_free(&b.holding[port].keys);
	free(b.holding);
	free(b.members);
	free(b.range);
	free(b.membership);
	free(b.at);
	port_names_free(b.names);
	guids_free(&b.guids);
	map64_free(&b.by_hash);
	return p;
}

void partitions_free(struct partitions *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_tables; i++) {
		free(p->tables[i].keys);
		free(p->tables[i].words);
	}
	for (uint32_t l = 0; l < p->n_levels; l++)
		free(p->for_level[l]);
	free(p->tables);
	free(p->table);
	free(p->enforce);
	free(p->pkey);
	free(p->by_pkey);
	free(p->for_level);
	free(p->for_own_level);
	free(p->ipoib);
	vec_free(&p->excluded);
	vec_free(&p->conflicts);
	free(p);
}
