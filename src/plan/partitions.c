/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Partitions of the policy to P_Key tables; see partitions.h.
 *
 * Each partition in turn appends its P_Key to the lists of its members, so that
 * lists are in the order of the policy; of a list and the places that its keys had
 * a table is made, and equal ones become one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "ib/units.h"
#include "plan/partitions.h"
#include "qos/guids.h"

#define IPOIB_MTU	2048
#define IPOIB_RATE	100	/* tenths of Gb/s */

#define NO_TABLE 0u

struct holding {		/* what one end port holds so far */
	VEC(uint16_t) keys;
};

/* Ports to which something happened: how many, and one of them. */
struct tally {
	uint32_t n, example;
};

struct builder {
	const struct policy *policy;
	const struct pkey_places *known;
	struct port_names *names;	/* NULL: not asked for yet */
	const struct fabric *f;
	const struct group_sets *groups;
	struct findings *out;
	struct partitions *p;
	struct guid_index guids;
	struct holding *holding;	/* per port slot */
	uint64_t *members, *range;	/* of a partition, of a range of GUIDs: sets of ports */
	uint8_t *membership;		/* per port slot: that of its members */
	uint32_t *at;			/* [0x10000]: of each P_Key something, 0 between uses */
	struct map64 by_hash;
};

static void count(struct tally *t, uint32_t port)
{
	if (!t->n++)
		t->example = port;
}

static bool has_bit(const uint64_t *set, uint32_t i)
{
	return set[i >> 6] >> (i & 63) & 1;
}

static void set_bit(uint64_t *set, uint32_t i)
{
	set[i >> 6] |= 1ull << (i & 63);
}

/* --- members --- */

static void add_member(struct builder *b, uint32_t port, enum membership m)
{
	set_bit(b->members, port);
	b->membership[port] = (uint8_t)m;
}

static void add_guid(struct builder *b, const struct policy_member *m)
{
	uint32_t port = fabric_find_port(b->f, m->guids.lo);

	if (port != FABRIC_NONE)
		add_member(b, port, m->membership);
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->run_time), m->pos,
			     "port GUID 0x%016" PRIx64 " is not in the fabric", m->guids.lo);
}

static void add_set(struct builder *b, const uint64_t *set, enum membership m)
{
	for (uint32_t i = 0; i < b->groups->words; i++)
		for (uint64_t w = set[i]; w; w &= w - 1)
			add_member(b, i * 64 + (uint32_t)__builtin_ctzll(w), m);
}

static void add_guid_range(struct builder *b, const struct policy_member *m)
{
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	if (guids_add_range(&b->guids, &m->guids, b->range))
		add_set(b, b->range, m->membership);
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->run_time), m->pos,
			     "no port in the fabric has a GUID in 0x%016" PRIx64 "-0x%016" PRIx64,
			     m->guids.lo, m->guids.hi);
}

static void add_named(struct builder *b, const struct policy_member *m)
{
	if (!b->names)
		b->names = port_names_new(b->f);
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	if (port_names_add(b->names, m->port_name, b->range))
		add_set(b, b->range, m->membership);
	else
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, m->run_time), m->pos,
			     strpbrk(m->port_name, "*?") ? "no port in the fabric matches \"%s\""
							 : "port \"%s\" is not in the fabric",
			     m->port_name);
}

static void add_types(struct builder *b, const struct policy_member *m)
{
	memset(b->range, 0, b->groups->words * sizeof(*b->range));
	node_types_add(&b->guids, b->f, m->node_types, b->range);
	add_set(b, b->range, m->membership);
}

/* Whom one line of `members` names. */
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
		add_member(b, b->f->self, m->membership);
	else if ((group = groups_find(b->groups, b->policy, m->group.s)) != UINT32_MAX)
		add_set(b, group_set(b->groups, group), m->membership);
}

uint32_t port_pkey_cap(const struct fabric *f, uint32_t port)
{
	const struct fabric_node *n = port_node(f, port);

	if (node_is_switch(n) && f->ports[port].num)
		return f->switches[n->sw].enforce_cap;
	/* one at least (14.2.5.7), even if the node says 0 */
	return n->partition_cap ? n->partition_cap : 1;
}

/* Full before limited.  False if there is no room. */
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

static void give_pkey(struct builder *b, uint32_t number)
{
	const struct policy_partition *part = &b->policy->partitions[number];
	struct tally held = { 0 }, left_out = { 0 };
	char name[FABRIC_NAME_MAX];

	memset(b->members, 0, b->groups->words * sizeof(*b->members));
	for (size_t i = 0; i < part->n_members; i++)
		add_members(b, &part->members[i]);
	if (number == 0)
		add_member(b, b->f->self, MEMBER_FULL);
	for (uint32_t i = 0; i < b->groups->words; i++)
		for (uint64_t w = b->members[i]; w; w &= w - 1) {
			uint32_t port = i * 64 + (uint32_t)__builtin_ctzll(w);
			enum membership m = b->membership[port];

			/* a group may also name external ports of switches */
			if (m == MEMBER_NONE || !port_is_end(b->f, port))
				continue;
			if (hold(b, port, part->pkey, m)) {
				count(&held, port);
				continue;
			}
			count(&left_out, port);
			*vec_push(&b->p->left_out) = (struct left_out){ number, port };
		}
	if (left_out.n)
		findings_add(b->out, SEV_ERROR, policy_file_of(b->policy, part->run_time), part->pos,
			     "partition \"%s\": %u port%s no room for its P_Key, for example "
			     "%s with room for %u", part->name, left_out.n,
			     left_out.n == 1 ? " has" : "s have",
			     fabric_port_name(b->f, left_out.example, name, sizeof(name)),
			     port_pkey_cap(b->f, left_out.example));
	else if (!held.n)
		findings_add(b->out, SEV_WARNING, policy_file_of(b->policy, part->run_time), part->pos,
			     "partition \"%s\" has no member in this fabric", part->name);
}

/* --- places --- */

/*
 * Each of the keys of a port to its place in row, which has room for them and for
 * all places that they may have had; returns how many places that makes.
 */
static uint32_t place_keys(struct builder *b, const uint16_t *keys, uint32_t n,
			   const struct pkey_row *had, uint32_t cap, uint16_t *row)
{
	uint32_t n_had = had ? (had->n < cap ? had->n : cap) : 0, hole = 0, last = 0;

	for (uint32_t i = 0; i < n; i++)
		b->at[keys[i]] = i + 1;
	/* the default partition's are the first of the list */
	if (n && (keys[0] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT) {
		row[0] = keys[0];
		b->at[keys[0]] = 0;
	}
	/* in the form that they had, then in the other: what was full may be limited now */
	for (uint16_t other = 0;; other = IB_PKEY_FULL) {
		for (uint32_t i = 0; i < n_had; i++) {
			uint16_t key = had->keys[i] ^ other;

			if (!had->keys[i] || row[i] || !b->at[key])
				continue;
			row[i] = key;
			b->at[key] = 0;
		}
		if (other)
			break;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!b->at[keys[i]])
			continue;
		while (row[hole])
			hole++;
		row[hole] = keys[i];
		b->at[keys[i]] = 0;
	}
	for (uint32_t i = 0; i < n_had || i < n; i++)
		if (row[i])
			last = i + 1;
	return last;
}

void pkey_places_put(struct pkey_places *x, uint64_t guid, const uint16_t *keys, uint32_t n)
{
	uint32_t i = map64_get(&x->by_guid, guid);

	if (i == MAP64_NONE) {
		i = (uint32_t)x->rows.n;
		*vec_push(&x->rows) = (struct pkey_row){ .guid = guid };
		map64_put(&x->by_guid, guid, i);
	}
	free(x->rows.v[i].keys);
	x->rows.v[i].keys = n ? xmemdup(keys, n * sizeof(*keys)) : NULL;
	x->rows.v[i].n = n;
}

static const struct pkey_row *places_of(const struct pkey_places *x, uint64_t guid)
{
	uint32_t i = x ? map64_get(&x->by_guid, guid) : MAP64_NONE;

	return i == MAP64_NONE ? NULL : &x->rows.v[i];
}

/* What a port gets that nothing is remembered of. */
static bool is_plain(const struct pkey_table *t)
{
	return !t->n || (t->n == 1 && (t->keys[0] & IB_PKEY_DEFAULT) == IB_PKEY_DEFAULT);
}

bool pkey_places_learn(struct pkey_places *x, const struct fabric *f, const struct partitions *p)
{
	bool news = false;

	for (uint32_t port = 0; port < p->n_ports; port++) {
		const struct pkey_table *t = port_pkeys(p, port);
		const struct pkey_row *had;

		if (!port_is_end(f, port) || !f->ports[port].guid)
			continue;
		had = places_of(x, f->ports[port].guid);
		if (had ? had->n == t->n && (!t->n || !memcmp(had->keys, t->keys,
							      t->n * sizeof(*t->keys))) :
			  is_plain(t))
			continue;
		pkey_places_put(x, f->ports[port].guid, t->keys, t->n);
		news = true;
	}
	return news;
}

void pkey_places_free(struct pkey_places *x)
{
	for (size_t i = 0; i < x->rows.n; i++)
		free(x->rows.v[i].keys);
	vec_free(&x->rows);
	map64_free(&x->by_guid);
}

/* --- tables --- */

static int compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static void fill_words(const struct partitions *p, struct pkey_table *t)
{
	uint32_t *held = xcalloc(t->n, sizeof(*held)), n = 0;	/* partition * 2 + full */

	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i])
			held[n++] = partition_of_pkey(p, t->keys[i]) << 1 | t->keys[i] >> 15;
	qsort(held, n, sizeof(*held), compare_numbers);
	t->words = xcalloc(n, sizeof(*t->words));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = held[i] >> 1;
		struct pkey_word *w = t->n_words ? &t->words[t->n_words - 1] : NULL;

		if (!w || w->at != k / 64) {
			w = &t->words[t->n_words++];
			w->at = k / 64;
		}
		*(held[i] & 1 ? &w->full : &w->limited) |= 1ull << (k & 63);
	}
	t->words = xrealloc(t->words, t->n_words, sizeof(*t->words));
	free(held);
}

/* The number of the table with these keys, which is new if there is none. */
static uint32_t table_of(struct builder *b, const uint16_t *keys, size_t n)
{
	struct partitions *p = b->p;

	if (!n)
		return NO_TABLE;
	for (uint64_t seed = 0;; seed++) {
		uint64_t h = hash_bytes(keys, n * sizeof(*keys), seed);
		uint32_t i = map64_get(&b->by_hash, h);

		if (i == MAP64_NONE) {
			i = p->n_tables++;
			if (!(i & (i - 1)))
				p->tables = xrealloc(p->tables, 2 * (size_t)i, sizeof(*p->tables));
			p->tables[i] = (struct pkey_table){
				.keys = xmemdup(keys, n * sizeof(*keys)), .n = (uint32_t)n,
			};
			map64_put(&b->by_hash, h, i);
			return i;
		}
		if (p->tables[i].n == n && !memcmp(p->tables[i].keys, keys, n * sizeof(*keys)))
			return i;
	}
}

static void make_tables(struct builder *b)
{
	struct partitions *p = b->p;

	p->tables = xcalloc(1, sizeof(*p->tables));
	p->n_tables = 1;
	for (uint32_t port = 0; port < p->n_ports; port++) {
		const struct holding *h = &b->holding[port];
		const struct pkey_row *had = places_of(b->known, b->f->ports[port].guid);
		uint32_t n = (uint32_t)h->keys.n;
		uint16_t *row;

		if (!n)
			continue;
		row = xcalloc(n + (had ? had->n : 0), sizeof(*row));
		n = place_keys(b, h->keys.v, n, had, port_pkey_cap(b->f, port), row);
		p->table[port] = table_of(b, row, n);
		free(row);
	}
	for (uint32_t i = 1; i < p->n_tables; i++)
		fill_words(p, &p->tables[i]);
}

/* --- enforcement by switches --- */

/* A port of a switch with a CA or router at the other end of its link. */
static bool faces_end_port(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *fp = &f->ports[port];

	return fp->present && fp->num && node_is_switch(port_node(f, port)) &&
	       fp->peer != FABRIC_NONE && f->ports[fp->peer].present &&
	       !node_is_switch(port_node(f, fp->peer));
}

static bool all_full(const struct pkey_table *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->keys[i] && !(t->keys[i] & IB_PKEY_FULL))
			return false;
	return true;
}

/* … in whatever places. */
static bool same_members(const struct pkey_table *a, const struct pkey_table *b)
{
	if (a->n_words != b->n_words)
		return false;
	for (uint32_t i = 0; i < a->n_words; i++)
		if (a->words[i].at != b->words[i].at || a->words[i].full != b->words[i].full ||
		    a->words[i].limited != b->words[i].limited)
			return false;
	return true;
}

/* Whether any two ports of CAs and routers are to be kept apart at all. */
static bool restricts(const struct partitions *p, const struct fabric *f)
{
	uint32_t common = FABRIC_NONE;

	for (uint32_t port = 0; port < p->n_ports; port++) {
		if (!port_is_end(f, port) || node_is_switch(port_node(f, port)))
			continue;
		if (common == FABRIC_NONE)
			common = p->table[port];
		if (p->table[port] != common &&
		    !same_members(&p->tables[p->table[port]], &p->tables[common]))
			return true;
	}
	return common != FABRIC_NONE && !all_full(&p->tables[common]);
}

/*
 * What a switch lets through to and from an end port: each of its partitions,
 * once, with the bit of full membership.  Were a limited member's own P_Key
 * there, a switch that compares as end ports do (10.9.3) would drop what that
 * member sends, since both are limited.
 *
 * Holes are as the end port has them, so that one partition more or less is one
 * block here, too; a table that is too short for that has none.
 */
static uint32_t table_of_switch_port(struct builder *b, uint32_t peer, uint32_t cap, uint32_t *n)
{
	const struct pkey_table *t = port_pkeys(b->p, peer);
	uint16_t *keys = xcalloc(t->n, sizeof(*keys));
	uint32_t table, held = 0;

	*n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		uint16_t key = t->keys[i] ? t->keys[i] | IB_PKEY_FULL : 0;

		if (key && b->at[key])
			continue;
		keys[(*n)++] = key;
		if (key)
			b->at[key] = 1, held++;
	}
	while (*n && !keys[*n - 1])	/* the last was there in its other form */
		(*n)--;
	for (uint32_t i = 0; i < t->n; i++)
		b->at[t->keys[i] | IB_PKEY_FULL] = 0;
	if (*n > cap) {
		uint32_t k = 0;

		for (uint32_t i = 0; i < *n; i++)
			if (keys[i])
				keys[k++] = keys[i];
		*n = held;
	}
	table = table_of(b, keys, *n);
	free(keys);
	return table;
}

static void enforce(struct builder *b)
{
	struct tally cannot = { 0 }, too_short = { 0 };
	char name[FABRIC_NAME_MAX];

	for (uint32_t port = 0; port < b->p->n_ports; port++) {
		if (!faces_end_port(b->f, port))
			continue;
		const struct fabric_switch *s = &b->f->switches[port_node(b->f, port)->sw];
		uint32_t cap = port_pkey_cap(b->f, port);
		uint32_t n, table = table_of_switch_port(b, b->f->ports[port].peer, cap, &n);

		if (!cap || !(s->enforces_in || s->enforces_out)) {
			count(&cannot, port);
		} else if (n > cap) {
			count(&too_short, port);
		} else {
			b->p->enforce[port] = true;
			b->p->table[port] = table;
		}
	}
	if (cannot.n)
		findings_add(b->out, SEV_WARNING, b->policy->file, b->policy->partitions[0].pos,
			     "partitions are not enforced at %u port%s whose switch can't do it, "
			     "for example %s", cannot.n, cannot.n == 1 ? "" : "s",
			     fabric_port_name(b->f, cannot.example, name, sizeof(name)));
	if (too_short.n)
		findings_add(b->out, SEV_WARNING, b->policy->file, b->policy->partitions[0].pos,
			     "partitions are not enforced at %u port%s whose P_Key table is too "
			     "short, for example %s with room for %u", too_short.n,
			     too_short.n == 1 ? "" : "s",
			     fabric_port_name(b->f, too_short.example, name, sizeof(name)),
			     port_pkey_cap(b->f, too_short.example));
}

/* --- levels --- */

bool level_is_for(const struct policy_level *l, uint16_t pkey)
{
	for (size_t i = 0; i < l->pkeys.n; i++)
		if (l->pkeys.v[i].lo <= pkey && pkey <= l->pkeys.v[i].hi)
			return true;
	return !l->pkeys.n;
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

/* --- the whole --- */

static void index_pkeys(struct partitions *p, const struct policy *policy)
{
	p->n_partitions = (uint32_t)policy->n_partitions;
	p->pkey = xcalloc(p->n_partitions, sizeof(*p->pkey));
	p->by_pkey = xcalloc(IB_PKEY_DEFAULT + 1, sizeof(*p->by_pkey));
	for (uint32_t k = p->n_partitions; k-- > 0;) {
		p->pkey[k] = policy->partitions[k].pkey;
		p->by_pkey[p->pkey[k]] = (uint16_t)(k + 1);
	}
}

/* Most kinds of table are few: hold each against the SM's once. */
static void report_cut_off(struct builder *b)
{
	const struct partitions *p = b->p;
	uint8_t *reaches = xcalloc(p->n_tables, 1);	/* 1: does, 2: does not */
	struct tally cut_off = { 0 };
	char name[FABRIC_NAME_MAX];

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
			     "%u port%s no partition with the subnet manager and can't reach the "
			     "subnet administrator, for example %s", cut_off.n,
			     cut_off.n == 1 ? " shares" : "s share",
			     fabric_port_name(b->f, cut_off.example, name, sizeof(name)));
}

struct partitions *partitions_build(const struct policy *policy, const struct fabric *f,
				    const struct group_sets *g, const struct pkey_places *known,
				    struct findings *out)
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
	index_pkeys(p, policy);
	index_levels(p, policy);
	for (uint32_t k = 0; k < p->n_partitions; k++)
		give_pkey(&b, k);
	make_tables(&b);
	if (restricts(p, f))
		enforce(&b);
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
	vec_free(&p->left_out);
	free(p);
}

/* --- looking --- */

static const struct pkey_word *word_of(const struct pkey_table *t, uint32_t at)
{
	uint32_t a = 0, b = t->n_words;

	while (a < b) {
		uint32_t mid = a + (b - a) / 2;

		if (t->words[mid].at < at)
			a = mid + 1;
		else
			b = mid;
	}
	return a < t->n_words && t->words[a].at == at ? &t->words[a] : NULL;
}

static enum membership membership_in(const struct pkey_table *t, uint32_t partition)
{
	const struct pkey_word *w = word_of(t, partition / 64);
	unsigned bit = partition & 63;

	if (!w)
		return MEMBER_NONE;
	return w->full >> bit & 1 ? w->limited >> bit & 1 ? MEMBER_BOTH : MEMBER_FULL :
	       w->limited >> bit & 1 ? MEMBER_LIMITED : MEMBER_NONE;
}

enum membership port_membership(const struct partitions *p, uint32_t port, uint16_t pkey)
{
	uint32_t partition = partition_of_pkey(p, pkey);

	return partition == UINT32_MAX ? MEMBER_NONE :
					 membership_in(port_pkeys(p, port), partition);
}

/* The partitions of a word in which the two talk (10.9.3): one of them is a full member. */
static uint64_t talking(const struct pkey_word *a, const struct pkey_word *b)
{
	return (a->full & (b->full | b->limited)) | (a->limited & b->full);
}

/* In both tables and allowed; with the membership bit of a, which is full if it may be either. */
static uint16_t shared_in(const struct partitions *p, const struct pkey_table *a,
			  const struct pkey_table *b, uint32_t partition, const uint64_t *allowed)
{
	const struct pkey_word *x = word_of(a, partition / 64), *y = word_of(b, partition / 64);
	uint64_t bit = 1ull << (partition & 63);

	if (!x || !y || !(talking(x, y) & bit) || (allowed && !has_bit(allowed, partition)))
		return 0;
	return p->pkey[partition] | (x->full & bit ? IB_PKEY_FULL : 0);
}

static uint16_t first_shared(const struct partitions *p, const struct pkey_table *a,
			     const struct pkey_table *b, const uint64_t *allowed)
{
	for (uint32_t i = 0, k = 0; i < a->n_words && k < b->n_words;) {
		const struct pkey_word *x = &a->words[i], *y = &b->words[k];
		uint64_t w = x->at == y->at ? talking(x, y) : 0;

		if (w && allowed)
			w &= allowed[x->at];
		if (w) {
			uint64_t bit = w & -w;

			return p->pkey[x->at * 64 + (uint32_t)__builtin_ctzll(w)] |
			       (x->full & bit ? IB_PKEY_FULL : 0);
		}
		i += x->at <= y->at;
		k += y->at <= x->at;
	}
	return 0;
}

static uint16_t shared(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey,
		       const uint64_t *allowed)
{
	const struct pkey_table *ta = port_pkeys(p, a), *tb = port_pkeys(p, b);
	uint32_t partition;

	if (!pkey)
		return first_shared(p, ta, tb, allowed);
	partition = partition_of_pkey(p, pkey);
	return partition == UINT32_MAX ? 0 : shared_in(p, ta, tb, partition, allowed);
}

uint16_t shared_pkey(const struct partitions *p, uint32_t a, uint32_t b, uint16_t pkey)
{
	return shared(p, a, b, pkey, NULL);
}

uint16_t shared_pkey_of_level(const struct partitions *p, uint32_t level, uint32_t a, uint32_t b,
			      uint16_t pkey)
{
	return shared(p, a, b, pkey, p->for_level[level]);
}

uint16_t shared_pkey_of_own_level(const struct partitions *p, uint32_t a, uint32_t b)
{
	return shared(p, a, b, 0, p->for_own_level);
}

uint32_t policy_find_partition(const struct policy *p, uint16_t pkey)
{
	for (size_t i = 0; i < p->n_partitions; i++)
		if (p->partitions[i].pkey == (pkey & IB_PKEY_DEFAULT))
			return (uint32_t)i;
	return UINT32_MAX;
}

struct ipoib_limits level_ipoib_limits(const struct policy_level *l)
{
	struct ipoib_limits m = {
		.mtu = (uint8_t)mtu_code(IPOIB_MTU), .rate = (uint8_t)rate_code(IPOIB_RATE),
	};

	if (l->mtu_limit && l->mtu_limit < m.mtu)
		m.mtu = l->mtu_limit;
	if (l->rate_limit)
		m.rate = l->rate_limit;
	return m;
}
