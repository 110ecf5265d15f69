/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the section partitions: P_Keys, members, IPoIB. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"

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

/* --- the rest --- */

static void read_ipoib(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	static const struct key keys[] = {
		{ "level", read_name, FIELD(struct policy_partition, ipoib_level) },
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
}
