/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Merges dynamic partitions with a policy, and removes ports from multicast groups of partitions they left.
 *
 * dynamic_partitions.h has the rules.  A group may have the members of a partition, and
 * a partition those of a group.  config/ refuses a policy with a cycle; the merge drops
 * a dynamic member line that would close one, of two such lines the later.
 */
#include <stdlib.h>
#include <string.h>

#include "sa/registry/groups.h"
#include "sa/registry/partition_lines.h"

static const struct src_pos nowhere;

struct merging {
	const struct dynamic_partitions *x;
	const struct policy *base;
	struct policy *p;
	struct dynamic_troubles *troubles;
	struct map64 by_name;		/* hash of name -> partition of p */
	uint32_t *by_pkey;		/* [0x8000]: partition of p, plus 1; 0: none */
	/* search for cycles: only if some group contains partitions */
	bool groups_have_partitions;
	struct map64 groups;		/* hash of name -> group */
	uint8_t *seen;			/* groups, then partitions, that a search reached */
	VEC(uint32_t) stack;
};

static uint64_t hash_name(const char *s)
{
	return hash_bytes(s, strlen(s), 3);
}

static void add_trouble(struct merging *m, size_t entry, uint32_t member, bool out,
			const char *fmt, ...) __attribute__((format(printf, 5, 6)));
static void add_trouble(struct merging *m, size_t entry, uint32_t member, bool out,
			const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	if (!m->troubles)
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	*vec_push(m->troubles) = (struct dynamic_trouble){ .entry = (uint32_t)entry, .member = member,
							  .out = out, .text = text.s };
}

void dynamic_troubles_free(struct dynamic_troubles *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->v[i].text);
	vec_free(t);
}

/* --- cycles --- */

static uint32_t find_group(const struct merging *m, const char *name)
{
	uint32_t i = map64_get(&m->groups, hash_name(name));

	if (i == MAP64_NONE || !strcmp(m->base->groups[i].name, name))
		return i;
	return policy_find_group(m->base, name);
}

static uint32_t find_partition(const struct merging *m, const char *name)
{
	uint32_t i = map64_get(&m->by_name, hash_name(name));

	if (i == MAP64_NONE || !strcmp(m->p->partitions[i].name, name))
		return i;
	for (i = 0; i < m->p->n_partitions; i++)
		if (!strcmp(m->p->partitions[i].name, name))
			return i;
	return MAP64_NONE;
}

static void go_to(struct merging *m, uint32_t set)
{
	if (m->seen[set])
		return;
	m->seen[set] = 1;
	*vec_push(&m->stack) = set;
}

static void enter_group(struct merging *m, const struct policy_group *g)
{
	uint32_t n_groups = (uint32_t)m->base->n_groups, i;

	for (size_t k = 0; k < g->groups.n; k++)
		if ((i = find_group(m, g->groups.v[k].s)) != MAP64_NONE)
			go_to(m, i);
	for (size_t k = 0; k < g->partitions.n; k++)
		if ((i = find_partition(m, g->partitions.v[k].s)) != MAP64_NONE)
			go_to(m, n_groups + i);
	for (size_t k = 0; k < g->pkeys.n; k++)
		for (uint64_t key = g->pkeys.v[k].lo;
		     key <= g->pkeys.v[k].hi && key <= IB_PKEY_DEFAULT; key++)
			if (m->by_pkey[key])
				go_to(m, n_groups + m->by_pkey[key] - 1);
}

static void enter_partition(struct merging *m, const struct policy_partition *part)
{
	for (size_t k = 0; k < part->n_members; k++) {
		uint32_t i = part->members[k].group.s ? find_group(m, part->members[k].group.s) :
							MAP64_NONE;

		if (i != MAP64_NONE)
			go_to(m, i);
	}
}

/* Whether the group contains the partition, directly or through others. */
static bool contains(struct merging *m, uint32_t group, uint32_t partition)
{
	uint32_t n_groups = (uint32_t)m->base->n_groups;

	memset(m->seen, 0, n_groups + m->p->n_partitions);
	m->stack.n = 0;
	go_to(m, group);
	while (m->stack.n) {
		uint32_t set = m->stack.v[--m->stack.n];

		if (set == n_groups + partition)
			return true;
		if (set < n_groups)
			enter_group(m, &m->base->groups[set]);
		else
			enter_partition(m, &m->p->partitions[set - n_groups]);
	}
	return false;
}

static void prepare_groups(struct merging *m)
{
	for (size_t i = 0; i < m->base->n_groups; i++) {
		const struct policy_group *g = &m->base->groups[i];

		map64_put(&m->groups, hash_name(g->name), (uint32_t)i);
		m->groups_have_partitions |= g->partitions.n || g->pkeys.n;
	}
}

/* --- entries --- */

static uint32_t level_of(struct merging *m, size_t entry, const char *what, const char *name,
			 uint32_t otherwise)
{
	uint32_t level = *name ? policy_find_level(m->base, name) : otherwise;

	if (level != UINT32_MAX)
		return level;
	add_trouble(m, entry, UINT32_MAX, false,
		    "dynamic partition \"%s\": the policy has no %s \"%s\"; the partition uses \"%s\" "
		    "instead", m->x->v.v[entry].name, what, name,
		    m->base->levels[otherwise].name);
	return otherwise;
}

/* The level of the partition that is like this one but has the entry's own values. */
static uint32_t own_level_of(struct merging *m, size_t entry, uint32_t level)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];
	uint32_t own = policy_own_any(&e->own) ? policy_own_level(m->p, m->base, level, &e->own) : level;

	if (own != UINT32_MAX)
		return own;
	add_trouble(m, entry, UINT32_MAX, false, "dynamic partition \"%s\": it cannot have an SL, MTU or "
		    "rate of its own, because other partitions have %d different combinations, the "
		    "limit; it uses level \"%s\"", e->name, POLICY_OWN_LEVELS,
		    m->base->levels[level].name);
	if (m->troubles)
		m->troubles->v[m->troubles->n - 1].own = true;
	return level;
}

static void add_partition(struct merging *m, size_t entry)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];
	struct policy_partition *part = &m->p->partitions[m->p->n_partitions++];
	uint32_t level = level_of(m, entry, "level", e->level, m->base->default_level);
	uint32_t ipoib_level = level_of(m, entry, "IPoIB level", e->ipoib_level, level);

	*part = (struct policy_partition){
		.name = xstrdup(e->name), .pkey = e->pkey, .dynamic = true, .ipoib = e->ipoib,
		.level.s = xstrdup(e->level), .ipoib_level.s = xstrdup(e->ipoib_level), .own = e->own,
	};
	part->level_index = own_level_of(m, entry, level);
	part->ipoib_level_index = ipoib_level == level ? part->level_index :
				  own_level_of(m, entry, ipoib_level);
	m->by_pkey[e->pkey] = (uint32_t)m->p->n_partitions;
	map64_put(&m->by_name, hash_name(e->name), (uint32_t)m->p->n_partitions - 1);
}

/* Reports an entry whose IPoIB or levels differ from the policy's partition with its name and P_Key. */
static void compare_with(struct merging *m, size_t entry, const struct policy_partition *part)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];

	if (e->whole && (e->ipoib != part->ipoib || policy_own_any(&e->own) || strcmp(e->level, part->level.s) != 0 ||
			 strcmp(e->ipoib_level, part->ipoib_level.s) != 0))
		add_trouble(m, entry, UINT32_MAX, false,
			    "dynamic partition \"%s\": the policy has a partition of the same name and "
			    "P_Key 0x%04x, whose IPoIB and level apply", e->name, e->pkey);
}

/* The index of the partition of p that an entry belongs to; MAP64_NONE: the entry is not in force. */
static uint32_t place_entry(struct merging *m, size_t entry)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];
	uint32_t named = find_partition(m, e->name), keyed = m->by_pkey[e->pkey];

	if (named != MAP64_NONE && m->p->partitions[named].pkey == e->pkey) {
		compare_with(m, entry, &m->p->partitions[named]);
		return named;
	}
	if (named != MAP64_NONE)
		add_trouble(m, entry, UINT32_MAX, true,
			    "dynamic partition \"%s\" with P_Key 0x%04x is not in force: the "
			    "policy's partition \"%s\" has P_Key 0x%04x", e->name, e->pkey,
			    m->p->partitions[named].name, m->p->partitions[named].pkey);
	else if (keyed)
		add_trouble(m, entry, UINT32_MAX, true,
			    "dynamic partition \"%s\" is not in force: the partition \"%s\" "
			    "has its P_Key 0x%04x", e->name, m->p->partitions[keyed - 1].name,
			    e->pkey);
	else if (!e->whole)
		add_trouble(m, entry, UINT32_MAX, true,
			    "dynamic members of the partition \"%s\" (0x%04x) are not in force: the policy "
			    "no longer has the partition", e->name, e->pkey);
	if (named != MAP64_NONE || keyed || !e->whole)
		return MAP64_NONE;
	add_partition(m, entry);
	return (uint32_t)m->p->n_partitions - 1;
}

/* Whether a member line can be in force; adds a trouble if not. */
static bool line_holds(struct merging *m, size_t entry, uint32_t member, uint32_t partition,
		       const struct policy_member *line)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];
	uint32_t group;

	if (!line->group.s || !strcmp(line->group.s, "self"))
		return true;
	group = find_group(m, line->group.s);
	if (group == MAP64_NONE && !strcmp(line->group.s, "all"))
		return true;
	if (group == MAP64_NONE) {
		add_trouble(m, entry, member, true, "partition \"%s\": the policy has no group \"%s\", "
			    "which is a dynamic member", e->name, line->group.s);
		return false;
	}
	if (!m->groups_have_partitions || !contains(m, group, partition))
		return true;
	add_trouble(m, entry, member, true, "partition \"%s\": the group \"%s\", a dynamic member, "
		    "contains the partition", e->name, line->group.s);
	return false;
}

static void add_lines(struct merging *m, size_t entry, uint32_t partition)
{
	const struct dynamic_partition *e = &m->x->v.v[entry];
	struct policy_partition *part = &m->p->partitions[partition];

	if (!e->members.n)
		return;
	part->members = xrealloc(part->members, part->n_members + e->members.n,
				 sizeof(*part->members));
	for (uint32_t i = 0; i < e->members.n; i++) {
		struct policy_member line;

		if (dynamic_parse_who(e->members.v[i].who, &line))
			continue;
		line.membership = e->members.v[i].membership;
		line.index0 = e->members.v[i].index0;
		if (line_holds(m, entry, i, partition, &line))
			part->members[part->n_members++] = line;
		else
			policy_member_free(&line);
	}
}

struct policy *dynamic_merge(const struct dynamic_partitions *x, const struct policy *base,
			     struct dynamic_troubles *troubles)
{
	struct merging m = { .x = x, .base = base, .troubles = troubles };
	uint32_t *partition;

	m.p = policy_overlay(base, x->v.n);
	m.by_pkey = xcalloc(IB_PKEY_DEFAULT + 1, sizeof(*m.by_pkey));
	for (size_t i = base->n_partitions; i-- > 0;) {
		m.by_pkey[base->partitions[i].pkey] = (uint32_t)i + 1;
		map64_put(&m.by_name, hash_name(base->partitions[i].name), (uint32_t)i);
	}
	prepare_groups(&m);
	partition = xcalloc(x->v.n, sizeof(*partition));
	for (size_t i = 0; i < x->v.n; i++)
		partition[i] = place_entry(&m, i);
	/* place all partitions first: a group may name any of them by P_Key */
	m.seen = xcalloc(base->n_groups + m.p->n_partitions, 1);
	for (size_t i = 0; i < x->v.n; i++)
		if (partition[i] != MAP64_NONE)
			add_lines(&m, i, partition[i]);
	policy_overlay_done(m.p, base);
	free(partition);
	free(m.seen);
	free(m.by_pkey);
	map64_free(&m.by_name);
	map64_free(&m.groups);
	vec_free(&m.stack);
	return m.p;
}

struct shared_policy *dynamic_policy(const struct dynamic_partitions *x, struct shared_policy *base)
{
	struct dynamic_troubles t = { 0 };
	struct shared_policy *s;

	if (!x->change)
		return shared_policy_ref(base);
	s = shared_policy_overlay(base, dynamic_merge(x, base->p, &t));
	s->dynamic_change = x->change;
	for (size_t i = 0; i < t.n; i++)
		findings_add(&s->findings, t.v[i].out ? SEV_ERROR : SEV_WARNING, POLICY_DYNAMIC,
			     nowhere, "%s", t.v[i].text);
	dynamic_troubles_free(&t);
	return s;
}

/* --- multicast --- */

static bool is_out(const struct subnet_state *s, struct mcast_gid gid, uint16_t pkey)
{
	uint32_t port = fabric_find_port(s->f, gid.port);

	if (gid.guid != gid.port && fabric_find_port(s->f, gid.guid) != FABRIC_NONE)
		return true;
	return port != FABRIC_NONE &&
	       !port_is_member(s->plan->partitions, port, pkey);
}

void dynamic_leavers(const struct mcast_db *db, const struct subnet_state *s,
		     struct leavers *list)
{
	for (size_t i = 0; i < mcast_count(db); i++) {
		const struct mcast_group *g = mcast_at(db, i);

		for (size_t k = 0; k < g->members.n; k++) {
			struct leaver *l;

			if (!is_out(s, g->members.v[k].gid, g->pkey))
				continue;
			l = vec_push(list);
			memcpy(l->mgid, g->mgid, sizeof(l->mgid));
			l->gid = g->members.v[k].gid;
		}
	}
}

void dynamic_leave(struct mcast_db *db, const struct leavers *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct mcast_group *g = mcast_find(db, list->v[i].mgid);

		if (g)	/* NULL: it was deleted with its last full member */
			mcast_leave(db, g, list->v[i].gid, 0xff);
	}
}
