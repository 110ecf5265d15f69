/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the section partitions: P_Keys, members, IPoIB, multicast groups. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/map64.h"
#include "lib/iba/mgid.h"

static void read_partition_pkey(struct reader *r, const struct node *n, const struct key *k,
				void *at)
{
	struct policy_partition *part = at;

	(void)k;
	read_pkey(r, n, &part->pkey);
}

/* --- members --- */

struct member_list {
	VEC(struct policy_member) members;
	struct map64 seen;	/* hash of a member -> its index */
};

static bool same_who(const struct policy_member *a, const struct policy_member *b)
{
	if (!a->group.s || !b->group.s)
		return !a->group.s && !b->group.s && a->guids.lo == b->guids.lo &&
		       a->guids.hi == b->guids.hi;
	return !strcmp(a->group.s, b->group.s);
}

/* Reads a GUID, a range of GUIDs or a group.  The caller owns m->group.s. */
static bool read_who(struct reader *r, const struct node *n, struct policy_member *m)
{
	const char *word = read_word(r, n, "a group or a port GUID");

	*m = (struct policy_member){ .pos = n->pos };
	if (!word)
		return false;
	if (!strncasecmp(word, "0x", 2))
		return read_u64_range(r, n, 0, UINT64_MAX, &m->guids);
	read_name(r, n, NULL, &m->group);
	return m->group.s;
}

static void add_member(struct reader *r, struct member_list *l, const struct node *who,
		       enum membership membership)
{
	struct policy_member m;
	uint64_t hash;
	uint32_t first;

	if (!read_who(r, who, &m))
		return;
	m.membership = membership;
	hash = m.group.s ? hash_bytes(m.group.s, strlen(m.group.s), 1)
		: hash64(hash64(m.guids.lo) + m.guids.hi);
	first = map64_get(&l->seen, hash);
	if (first != MAP64_NONE && same_who(&l->members.v[first], &m)) {
		read_error(r, m.pos, "'%s' is already a member", EXCERPT(who->text));
		free(m.group.s);
		return;
	}
	map64_put(&l->seen, hash, (uint32_t)l->members.n);
	*vec_push(&l->members) = m;
}

static void read_members(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	/* in the order of enum membership, from MEMBER_LIMITED on */
	static const char *const words[] = { "limited", "full", "both", NULL };
	static const struct key membership = { .size = sizeof(uint32_t), .words = words };
	struct policy_partition *part = at;
	struct member_list l = { 0 };

	(void)k;
	if (n->kind == NODE_MAP) {
		if (!n->child)
			read_error(r, n->pos, "expected members, found an empty map");
		for (const struct node *who = n->child; who; who = who->next) {
			uint32_t word = 0;

			read_choice(r, who->value, &membership, &word);
			add_member(r, &l, who, MEMBER_LIMITED + word);
		}
	} else {
		for (const struct node *who = read_items(r, n, "members"); who; who = who->next)
			add_member(r, &l, who, MEMBER_FULL);
	}
	map64_free(&l.seen);
	part->members = l.members.v;
	part->n_members = l.members.n;
}

/* --- multicast groups --- */

static void read_scopes(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	uint16_t *scopes = at;
	uint64_t scope;

	(void)k;
	for (const struct node *i = read_items(r, n, "a scope"); i; i = i->next)
		if (read_number(r, i, SCOPE_MIN, SCOPE_MAX, &scope))
			*scopes |= (uint16_t)(1u << scope);
}

/* A multicast GID, permanent or transient (4.1.1). */
static void read_mgid(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "an MGID");
	struct policy_mcast_group *g = at;

	(void)k;
	if (!word)
		return;
	g->pos = n->pos;
	if (inet_pton(AF_INET6, word, g->mgid) != 1 || g->mgid[0] != 0xff || g->mgid[1] >> 4 > 1) {
		read_error(r, n->pos, "'%s' is not an MGID, such as ff12:a00::1", EXCERPT(word));
		memset(g->mgid, 0, sizeof(g->mgid));
	}
}

#define MGROUP(member) FIELD(struct policy_mcast_group, member)

static const struct key mcast_group_keys[] = {
	{ "mgid", read_mgid, WHOLE, .required = true },
	{ "level", read_name, MGROUP(level) },
	{ "q-key", read_uint, MGROUP(qkey), .max = UINT32_MAX },
	{ "flow-label", read_uint, MGROUP(flow_label), .max = 0xfffff },
};

static void read_mcast_groups(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_partition *part = at;
	VEC(struct policy_mcast_group) groups = { 0 };

	(void)k;
	for (const struct node *i = read_items(r, n, "multicast groups"); i; i = i->next) {
		struct policy_mcast_group *g = vec_push(&groups);

		*g = (struct policy_mcast_group){ .pos = i->pos, .level.s = xstrdup("") };
		read_map(r, i, mcast_group_keys, ARRAY_SIZE(mcast_group_keys), g);
	}
	part->groups = groups.v;
	part->n_groups = groups.n;
}

/* The P_Key in the MGID of an IPoIB group must be its partition's (RFC 4391, section 4). */
static void check_mgid_pkey(struct reader *r, const struct policy_partition *part,
			    const struct policy_mcast_group *g)
{
	uint16_t pkey = get_be16(g->mgid + 4);

	if (part->pkey && mgid_is_ipoib(g->mgid) && pkey != (part->pkey | IB_PKEY_FULL))
		read_error(r, g->pos, "the P_Key in the MGID of an IPoIB group is 0x%04x, as the "
			   "partition's is 0x%04x, not 0x%04x", part->pkey | IB_PKEY_FULL, part->pkey,
			   pkey);
}

static void add_mgid(struct reader *r, struct map64 *seen, const uint8_t mgid[16], struct src_pos pos)
{
	uint64_t hash = hash_bytes((const char *)mgid, 16, 0);

	if (map64_get(seen, hash) != MAP64_NONE)
		read_error(r, pos, "there is another group with this MGID");
	map64_put(seen, hash, 1);
}

/* No two groups of a policy have one MGID. */
static void check_mgids(struct reader *r, const struct policy *p)
{
	struct map64 seen;
	uint8_t mgid[16];

	map64_init(&seen, 16);
	for (size_t i = 0; i < p->n_partitions; i++)
		for (unsigned scope = 0; scope <= SCOPE_MAX; scope++)
			if (p->partitions[i].pkey && policy_ipoib_scopes(&p->partitions[i]) >> scope & 1) {
				mgid_of_broadcast(mgid, p->partitions[i].pkey, scope);
				map64_put(&seen, hash_bytes((const char *)mgid, 16, 0), 1);
			}
	for (size_t i = 0; i < p->n_partitions; i++)
		for (size_t k = 0; k < p->partitions[i].n_groups; k++) {
			const struct policy_mcast_group *g = &p->partitions[i].groups[k];

			if (!g->mgid[0])
				continue;	/* the reader refused it */
			check_mgid_pkey(r, &p->partitions[i], g);
			add_mgid(r, &seen, g->mgid, g->pos);
		}
	map64_free(&seen);
}

/* --- the rest --- */

#define IPOIB(member) FIELD(struct policy_partition, ipoib_##member)

static void read_ipoib(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	static const struct key keys[] = {
		{ "level", read_name, IPOIB(level) },
		{ "scope", read_scopes, IPOIB(scopes) },
		{ "q-key", read_uint, IPOIB(qkey), .min = 1, .max = UINT32_MAX },
		{ "flow-label", read_uint, IPOIB(flow_label), .max = 0xfffff },
	};
	struct policy_partition *part = at;

	if (n->kind == NODE_MAP) {
		part->ipoib = true;
		read_map(r, n, keys, ARRAY_SIZE(keys), part);
	} else {
		read_bool(r, n, k, &part->ipoib);
	}
}

static const struct key partition_keys[] = {
	{ "description", read_text, FIELD(struct policy_partition, description) },
	{ "pkey", read_partition_pkey, WHOLE, .required = true },
	{ "members", read_members, WHOLE },
	{ "level", read_name, FIELD(struct policy_partition, level) },
	{ "ipoib", read_ipoib, WHOLE },
	{ "groups", read_mcast_groups, WHOLE },
};

static void read_partition(struct reader *r, const struct node *k, struct policy_partition *part)
{
	*part = (struct policy_partition){
		.name = xstrdup(k->text), .pos = k->pos,
		.level.s = xstrdup(""), .ipoib_level.s = xstrdup(""),
	};
	read_name_ok(r, k);
	read_map(r, k->value, partition_keys, ARRAY_SIZE(partition_keys), part);
	/* omitted keys default to what an undescribed default partition has */
	if (part->pkey != IB_PKEY_DEFAULT)
		return;
	if (!node_get(k->value, "ipoib"))
		part->ipoib = true;
	if (!node_get(k->value, "members"))
		policy_add_everybody(part);
}

void read_partitions(struct reader *r, const struct node *n, const struct key *key, void *at)
{
	uint32_t *owner;
	struct policy *p = at;

	(void)key;
	if (!read_is_map(r, n))
		return;
	owner = xcalloc(IB_PKEY_DEFAULT + 1, sizeof(*owner));
	p->partitions = xcalloc(n->n, sizeof(*p->partitions));
	for (const struct node *k = n->child; k; k = k->next) {
		uint32_t *o;

		read_partition(r, k, &p->partitions[p->n_partitions++]);
		/* owner: [P_Key] 1 + the index of its partition. */
		o = &owner[p->partitions[p->n_partitions - 1].pkey];
		if (o != owner && *o)	/* 0: the reader refused it */
			read_error(r, node_get(k->value, "pkey")->pos,
				   "the partition '%s' already has this P_Key",
				   EXCERPT(p->partitions[*o - 1].name));
		*o = (uint32_t)p->n_partitions;
	}
	/* if the file does not define the default partition, it is added by this name */
	for (size_t i = 0; i < p->n_partitions && !owner[IB_PKEY_DEFAULT]; i++)
		if (p->partitions[i].pkey && !strcmp(p->partitions[i].name, "Default"))
			read_error(r, p->partitions[i].pos, "'Default' is the name of the default "
				   "partition, whose P_Key is 0x7fff");
	free(owner);
	check_mgids(r, p);
}
