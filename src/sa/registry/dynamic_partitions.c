/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stores dynamic partitions and their members, and prints and parses their lines (dynamic_partitions.h).
 *
 * partition_requests.c applies requests; partition_overlay.c merges the registry with a policy.
 *
 * Names are found by their hashes (by_name, by_who); two names may have the same hash.
 * Indexes do not change while a request is applied: a removed entry or member stays, without
 * its name, until dynamic_tidy().
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/iba/units.h"
#include "sa/registry/partition_lines.h"

/* --- entries --- */

uint64_t dynamic_name_hash(const char *name)
{
	return hash_bytes(name, strlen(name), 2);
}

static void entry_free(struct dynamic_partition *e)
{
	for (size_t i = 0; i < e->members.n; i++)
		free(e->members.v[i].who);
	vec_free(&e->members);
	map64_free(&e->by_who);
	free(e->name);
	free(e->level);
	free(e->ipoib_level);
}

struct dynamic_partitions *dynamic_new(void)
{
	return xcalloc(1, sizeof(struct dynamic_partitions));
}

void dynamic_free(struct dynamic_partitions *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->v.n; i++)
		entry_free(&x->v.v[i]);
	vec_free(&x->v);
	map64_free(&x->by_name);
	free(x);
}

static void index_names(struct dynamic_partitions *x)
{
	map64_free(&x->by_name);
	for (size_t i = 0; i < x->v.n; i++)
		map64_put(&x->by_name, dynamic_name_hash(x->v.v[i].name), (uint32_t)i);
}

struct dynamic_partitions *dynamic_copy(const struct dynamic_partitions *x)
{
	struct dynamic_partitions *copy = dynamic_new();

	for (const struct dynamic_partition *from = x->v.v; from < vec_end(&x->v); from++) {
		struct dynamic_partition *e = vec_push(&copy->v);

		*e = *from;
		e->name = xstrdup(from->name);
		e->level = xstrdup(from->level);
		e->ipoib_level = xstrdup(from->ipoib_level);
		memset(&e->members, 0, sizeof(e->members));
		e->by_who = (struct map64){ 0 };
		for (size_t k = 0; k < from->members.n; k++)
			*vec_push(&e->members) = (struct dynamic_member){
				xstrdup(from->members.v[k].who), from->members.v[k].membership,
				from->members.v[k].index0,
			};
	}
	copy->n_members = x->n_members;
	copy->change = x->change;
	index_names(copy);
	return copy;
}

uint32_t dynamic_find_entry(const struct dynamic_partitions *x, const char *name)
{
	uint32_t i = map64_get(&x->by_name, dynamic_name_hash(name));

	if (i == MAP64_NONE || (x->v.v[i].name && !strcmp(x->v.v[i].name, name)))
		return i;
	for (i = 0; i < x->v.n; i++)
		if (x->v.v[i].name && !strcmp(x->v.v[i].name, name))
			return i;
	return MAP64_NONE;
}

const struct dynamic_partition *dynamic_find(const struct dynamic_partitions *x, const char *name)
{
	uint32_t i = dynamic_find_entry(x, name);

	return i == MAP64_NONE ? NULL : &x->v.v[i];
}

struct dynamic_partition *dynamic_add_entry(struct dynamic_partitions *x, const char *name)
{
	struct dynamic_partition *e = vec_push(&x->v);

	*e = (struct dynamic_partition){
		.name = xstrdup(name), .level = xstrdup(""), .ipoib_level = xstrdup(""),
	};
	map64_put(&x->by_name, dynamic_name_hash(name), (uint32_t)x->v.n - 1);
	return e;
}

static bool same_entry(const struct dynamic_partition *a, const struct dynamic_partition *b)
{
	if (a->whole != b->whole || a->pkey != b->pkey || a->ipoib != b->ipoib ||
	    strcmp(a->level, b->level) != 0 || strcmp(a->ipoib_level, b->ipoib_level) != 0 ||
	    !policy_own_same(&a->own, &b->own) || a->members.n != b->members.n)
		return false;
	for (size_t i = 0; i < a->members.n; i++)
		if (a->members.v[i].membership != b->members.v[i].membership ||
		    a->members.v[i].index0 != b->members.v[i].index0 ||
		    strcmp(a->members.v[i].who, b->members.v[i].who) != 0)
			return false;
	return true;
}

static void put_name(struct buf *out, const char *name, size_t nth, size_t most)
{
	if (nth <= most)
		buf_printf(out, "%s%s", nth > 1 ? ", " : "", name);
}

size_t dynamic_differences(const struct dynamic_partitions *before, const struct dynamic_partitions *now,
			   size_t most, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < now->v.n; i++) {
		const struct dynamic_partition *was = dynamic_find(before, now->v.v[i].name);

		if (!was || !same_entry(was, &now->v.v[i]))
			put_name(out, now->v.v[i].name, ++n, most);
	}
	for (size_t i = 0; i < before->v.n; i++)
		if (!dynamic_find(now, before->v.v[i].name))
			put_name(out, before->v.v[i].name, ++n, most);
	if (n > most)
		buf_printf(out, " and %zu more", n - most);
	return n;
}

/* --- `who` of a member line --- */

static const struct {
	const char *word;
	unsigned type;
} types[] = {
	{ "type:ca", NT_CA }, { "type:switch", NT_SWITCH }, { "type:router", NT_ROUTER },
	{ "type:aggregation", NT_AGGREGATION },
};

const char *dynamic_bad_text(const char *s)
{
	size_t n = strlen(s);

	if (!n)
		return "is empty";
	if (n > DYNAMIC_NAME_MAX)
		return "is too long";
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return "contains control characters";
	return NULL;
}

static bool parse_guid(const char *s, char **end, uint64_t *guid)
{
	if (strncasecmp(s, "0x", 2) != 0)
		return false;
	errno = 0;
	*guid = strtoull(s, end, 16);
	return !errno && *end > s + 2;
}

static const char *parse_guids(const char *s, struct u64_range *r)
{
	char *end;

	if (!parse_guid(s, &end, &r->lo))
		return "is not a port GUID";
	r->hi = r->lo;
	if (*end == '-' && !parse_guid(end + 1, &end, &r->hi))
		return "is not a range of port GUIDs";
	if (*end || r->hi < r->lo)
		return "is neither a port GUID nor a range of port GUIDs";
	return NULL;
}

const char *dynamic_parse_who(const char *who, struct policy_member *m)
{
	const char *why = dynamic_bad_text(who);

	*m = (struct policy_member){ .dynamic = true };
	if (why)
		return why;
	if (!strncasecmp(who, "0x", 2))
		return parse_guids(who, &m->guids);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(who, types[i].word))
			m->node_types = types[i].type;
	if (m->node_types)
		return NULL;
	if (!strncmp(who, "type:", 5))
		return "is not one of type:ca, type:switch, type:router, type:aggregation";
	if (!strncmp(who, "group:", 6)) {
		if (!who[6])
			return "has no group name";
		m->group.s = xstrdup(who + 6);
	} else if (strchr(who, '/')) {
		m->port_name = xstrdup(who);
	} else {
		m->group.s = xstrdup(who);
	}
	return NULL;
}

char *dynamic_normal_who(const struct policy_member *m, const char *who)
{
	if (m->port_name || m->node_types)
		return xstrdup(who);
	if (m->group.s)
		return strchr(m->group.s, '/') || !strncmp(m->group.s, "type:", 5) ||
		       !strncmp(m->group.s, "group:", 6) ?
		       xasprintf("group:%s", m->group.s) : xstrdup(m->group.s);
	if (m->guids.lo == m->guids.hi)
		return xasprintf("0x%016" PRIx64, m->guids.lo);
	return xasprintf("0x%016" PRIx64 "-0x%016" PRIx64, m->guids.lo, m->guids.hi);
}

/* --- members of an entry; a removed one has no `who` until dynamic_tidy() --- */

static void index_members(struct dynamic_partition *e)
{
	if (e->by_who.slots)
		return;
	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			map64_put(&e->by_who, dynamic_name_hash(e->members.v[i].who), (uint32_t)i);
}

struct dynamic_member *dynamic_find_member(struct dynamic_partition *e, const char *who)
{
	uint32_t i;

	index_members(e);
	i = map64_get(&e->by_who, dynamic_name_hash(who));
	if (i == MAP64_NONE)
		return NULL;
	if (e->members.v[i].who && !strcmp(e->members.v[i].who, who))
		return &e->members.v[i];
	for (i = 0; i < e->members.n; i++)
		if (e->members.v[i].who && !strcmp(e->members.v[i].who, who))
			return &e->members.v[i];
	return NULL;
}

void dynamic_push_member(struct dynamic_partitions *x, struct dynamic_partition *e, char *who,
			 enum membership membership, bool index0)
{
	index_members(e);
	map64_put(&e->by_who, dynamic_name_hash(who), (uint32_t)e->members.n);
	*vec_push(&e->members) = (struct dynamic_member){ who, membership, index0 };
	x->n_members++;
}

void dynamic_drop_member(struct dynamic_partitions *x, struct dynamic_member *m)
{
	free(m->who);
	m->who = NULL;
	x->n_members--;
}

static void tidy_members(struct dynamic_partition *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			e->members.v[n++] = e->members.v[i];
	e->members.n = n;
	map64_free(&e->by_who);
}

void dynamic_tidy(struct dynamic_partitions *x)
{
	size_t n = 0;

	for (struct dynamic_partition *e = x->v.v; e < vec_end(&x->v); e++) {
		tidy_members(e);
		if (e->name && (e->whole || e->members.n))
			x->v.v[n++] = *e;
		else
			entry_free(e);
	}
	x->v.n = n;
	index_names(x);
}

/* --- lines: words separated by tabs, which no word can contain --- */

static const char *const membership_words[] = {
	[MEMBER_NONE] = "none", [MEMBER_LIMITED] = "limited", [MEMBER_FULL] = "full",
	[MEMBER_BOTH] = "both",
};

const char *membership_word(enum membership m)
{
	return membership_words[m];
}

/* MEMBER_NONE: the word is none of membership_word(). */
static enum membership membership_parse(const char *word)
{
	for (enum membership m = MEMBER_LIMITED; m <= MEMBER_BOTH; m++)
		if (!strcmp(word, membership_words[m]))
			return m;
	return MEMBER_NONE;
}

enum membership dynamic_membership(const char *word, bool *index0)
{
	size_t n = strlen(word);
	char kind[16];

	*index0 = n > 2 && n < sizeof(kind) && !strcmp(word + n - 2, "@0");
	snprintf(kind, sizeof(kind), "%.*s", (int)(*index0 ? n - 2 : n), word);
	return n < sizeof(kind) ? membership_parse(kind) : MEMBER_NONE;
}

uint32_t dynamic_format(const struct dynamic_partitions *x)
{
	for (size_t i = 0; i < x->v.n; i++) {
		if (policy_own_any(&x->v.v[i].own))
			return 2;
		for (size_t k = 0; k < x->v.v[i].members.n; k++)
			if (x->v.v[i].members.v[k].index0)
				return 2;
	}
	return 1;
}

/* As fields that end a partition's line; "-" for a value that it has not. */
static void print_own(const struct policy_own *own, struct buf *out)
{
	buf_puts(out, "\t");
	if (own->has_sl)
		buf_printf(out, "%u", own->sl);
	else
		buf_puts(out, "-");
	if (own->mtu_limit)
		buf_printf(out, "\t%u", mtu_bytes(own->mtu_limit));
	else
		buf_puts(out, "\t-");
	if (own->rate_limit)
		buf_printf(out, "\t%g", rate_tenths(own->rate_limit) / 10.0);
	else
		buf_puts(out, "\t-");
}

void dynamic_print(const struct dynamic_partitions *x, struct buf *out)
{
	for (const struct dynamic_partition *e = x->v.v; e < vec_end(&x->v); e++) {
		buf_printf(out, "partition\t%s\t0x%04x\t%s\t%s\t%s\t%s", e->whole ? "whole" : "members",
			   e->pkey, e->ipoib ? "ipoib" : "-", e->name, e->level, e->ipoib_level);
		if (policy_own_any(&e->own))
			print_own(&e->own, out);
		buf_puts(out, "\n");
		for (size_t k = 0; k < e->members.n; k++)
			buf_printf(out, "member\t%s\t%s%s\n",
				   membership_words[e->members.v[k].membership],
				   e->members.v[k].who, e->members.v[k].index0 ? "\tindex0" : "");
	}
}

const char *dynamic_own_sl(struct policy_own *own, const char *word)
{
	char *end;
	unsigned long sl = strtoul(word, &end, 0);

	if (*word < '0' || *word > '9' || *end || sl >= IB_SL_COUNT)
		return "is not an SL from 0 to 15";
	own->has_sl = true;
	own->sl = (uint8_t)sl;
	return NULL;
}

const char *dynamic_own_mtu(struct policy_own *own, const char *word)
{
	char *end;
	unsigned long mtu = strtoul(word, &end, 10);

	own->mtu_limit = *word < '0' || *word > '9' || *end || mtu > UINT16_MAX ? 0 :
			 (uint8_t)mtu_code((unsigned)mtu);
	return own->mtu_limit ? NULL : "is not 256, 512, 1024, 2048 or 4096 bytes";
}

const char *dynamic_own_rate(struct policy_own *own, const char *word)
{
	own->rate_limit = (uint8_t)rate_parse_gbps(word);
	return own->rate_limit ? NULL : "is not a rate of InfiniBand in Gb/s, such as 2.5, 10 or 100";
}

static bool own_words(struct policy_own *own, char **w)
{
	return (!strcmp(w[0], "-") || !dynamic_own_sl(own, w[0])) &&
	       (!strcmp(w[1], "-") || !dynamic_own_mtu(own, w[1])) &&
	       (!strcmp(w[2], "-") || !dynamic_own_rate(own, w[2]));
}

/* n: number of words */
static bool partition_line(struct dynamic_partitions *x, char **w, size_t n)
{
	struct dynamic_partition *e;
	unsigned pkey;
	int end = 0;

	if (sscanf(w[2], "0x%4x%n", &pkey, &end) != 1 || w[2][end] || !pkey ||
	    pkey > IB_PKEY_DEFAULT || dynamic_bad_text(w[4]) ||
	    dynamic_find_entry(x, w[4]) != MAP64_NONE ||
	    (*w[5] && dynamic_bad_text(w[5])) || (*w[6] && dynamic_bad_text(w[6])))
		return false;
	e = dynamic_add_entry(x, w[4]);
	e->pkey = (uint16_t)pkey;
	e->whole = !strcmp(w[1], "whole");
	e->ipoib = !strcmp(w[3], "ipoib");
	free(e->level);
	free(e->ipoib_level);
	e->level = xstrdup(w[5]);
	e->ipoib_level = xstrdup(w[6]);
	if (n > 7 && !(e->whole && own_words(&e->own, w + 7) && policy_own_any(&e->own)))
		return false;
	return e->whole || !strcmp(w[1], "members");
}

/* n: number of words */
static bool member_line(struct dynamic_partitions *x, char **w, size_t n)
{
	enum membership membership = membership_parse(w[1]);
	struct dynamic_partition *e = x->v.n ? &x->v.v[x->v.n - 1] : NULL;
	struct policy_member m;
	bool good;

	if (!e || membership == MEMBER_NONE || (n > 3 && strcmp(w[3], "index0") != 0) ||
	    x->n_members == DYNAMIC_MEMBERS_MAX || dynamic_parse_who(w[2], &m))
		return false;
	policy_member_free(&m);
	good = !dynamic_find_member(e, w[2]);
	if (good)
		dynamic_push_member(x, e, xstrdup(w[2]), membership, n > 3);
	return good;
}

bool dynamic_line(void *arg, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *w[11];
	size_t n = 0;
	bool good;

	while (n < ARRAY_SIZE(w) && rest)
		w[n++] = strsep(&rest, "\t");
	good = !rest && (((n == 7 || n == 10) && !strcmp(w[0], "partition") &&
			  partition_line(arg, w, n)) ||
			 ((n == 3 || n == 4) && !strcmp(w[0], "member") &&
			  member_line(arg, w, n)));
	free(copy);
	return good;
}
