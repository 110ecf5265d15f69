/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See partitions.h: the registry, its lines, and requests.  Merging is in merge.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "registry/run_time.h"

static const struct src_pos nowhere;

/* --- entries --- */

static uint64_t name_hash(const char *name)
{
	return hash_bytes(name, strlen(name), 2);
}

static void entry_free(struct run_time_partition *e)
{
	for (size_t i = 0; i < e->members.n; i++)
		free(e->members.v[i].who);
	vec_free(&e->members);
	map64_free(&e->by_who);
	free(e->name);
	free(e->level);
	free(e->ipoib_level);
}

struct run_time *run_time_new(void)
{
	return xcalloc(1, sizeof(struct run_time));
}

void run_time_free(struct run_time *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->v.n; i++)
		entry_free(&x->v.v[i]);
	vec_free(&x->v);
	map64_free(&x->by_name);
	free(x);
}

static void index_names(struct run_time *x)
{
	map64_free(&x->by_name);
	for (size_t i = 0; i < x->v.n; i++)
		map64_put(&x->by_name, name_hash(x->v.v[i].name), (uint32_t)i);
}

struct run_time *run_time_copy(const struct run_time *x)
{
	struct run_time *copy = run_time_new();

	for (size_t i = 0; i < x->v.n; i++) {
		const struct run_time_partition *from = &x->v.v[i];
		struct run_time_partition *e = vec_push(&copy->v);

		*e = *from;
		e->name = xstrdup(from->name);
		e->level = xstrdup(from->level);
		e->ipoib_level = xstrdup(from->ipoib_level);
		memset(&e->members, 0, sizeof(e->members));
		e->by_who = (struct map64){ 0 };
		for (size_t k = 0; k < from->members.n; k++)
			*vec_push(&e->members) = (struct run_time_member){
				xstrdup(from->members.v[k].who), from->members.v[k].membership,
			};
	}
	copy->n_members = x->n_members;
	copy->change = x->change;
	index_names(copy);
	return copy;
}

/* A hash that two names share is no reason to take one for the other. */
static uint32_t find_entry(const struct run_time *x, const char *name)
{
	uint32_t i = map64_get(&x->by_name, name_hash(name));

	if (i == MAP64_NONE || (x->v.v[i].name && !strcmp(x->v.v[i].name, name)))
		return i;
	for (i = 0; i < x->v.n; i++)
		if (x->v.v[i].name && !strcmp(x->v.v[i].name, name))
			return i;
	return MAP64_NONE;
}

const struct run_time_partition *run_time_find(const struct run_time *x, const char *name)
{
	uint32_t i = find_entry(x, name);

	return i == MAP64_NONE ? NULL : &x->v.v[i];
}

static struct run_time_partition *add_entry(struct run_time *x, const char *name)
{
	struct run_time_partition *e = vec_push(&x->v);

	*e = (struct run_time_partition){
		.name = xstrdup(name), .level = xstrdup(""), .ipoib_level = xstrdup(""),
	};
	map64_put(&x->by_name, name_hash(name), (uint32_t)x->v.n - 1);
	return e;
}

/* --- who --- */

static const struct {
	const char *word;
	unsigned type;
} types[] = { { "type:ca", NT_CA }, { "type:switch", NT_SWITCH }, { "type:router", NT_ROUTER } };

/* Text that a file of lines can hold, and a terminal can show. */
static const char *bad_text(const char *s)
{
	size_t n = strlen(s);

	if (!n)
		return "is empty";
	if (n > RUN_TIME_NAME_MAX)
		return "is too long";
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
			return "has control characters in it";
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
		return "is no port GUID";
	r->hi = r->lo;
	if (*end == '-' && !parse_guid(end + 1, &end, &r->hi))
		return "is no range of port GUIDs";
	if (*end || r->hi < r->lo)
		return "is no port GUID or range of them";
	return NULL;
}

const char *run_time_parse_who(const char *who, struct policy_member *m)
{
	const char *why = bad_text(who);

	*m = (struct policy_member){ .run_time = true };
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
		return "is none of type:ca, type:switch, type:router";
	if (!strncmp(who, "group:", 6)) {
		if (!who[6])
			return "names no group";
		m->group.s = xstrdup(who + 6);
	} else if (strchr(who, '/')) {
		m->port_name = xstrdup(who);
	} else {
		m->group.s = xstrdup(who);
	}
	return NULL;
}

/* What two ways of saying the same have in common. */
static char *normal_who(const struct policy_member *m, const char *who)
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

/* --- members of an entry; one that was removed has no who until they are tidied up --- */

static void index_members(struct run_time_partition *e)
{
	if (e->by_who.slots)
		return;
	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			map64_put(&e->by_who, name_hash(e->members.v[i].who), (uint32_t)i);
}

static struct run_time_member *find_member(struct run_time_partition *e, const char *who)
{
	uint32_t i;

	index_members(e);
	i = map64_get(&e->by_who, name_hash(who));
	if (i == MAP64_NONE)
		return NULL;
	if (e->members.v[i].who && !strcmp(e->members.v[i].who, who))
		return &e->members.v[i];
	for (i = 0; i < e->members.n; i++)
		if (e->members.v[i].who && !strcmp(e->members.v[i].who, who))
			return &e->members.v[i];
	return NULL;
}

/* Takes over who. */
static void push_member(struct run_time *x, struct run_time_partition *e, char *who,
			enum membership membership)
{
	index_members(e);
	map64_put(&e->by_who, name_hash(who), (uint32_t)e->members.n);
	*vec_push(&e->members) = (struct run_time_member){ who, membership };
	x->n_members++;
}

static void drop_member(struct run_time *x, struct run_time_member *m)
{
	free(m->who);
	m->who = NULL;
	x->n_members--;
}

static void tidy_members(struct run_time_partition *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			e->members.v[n++] = e->members.v[i];
	e->members.n = n;
	map64_free(&e->by_who);
}

/* Entries that were dropped have no name; members of the policy's go when none is left. */
static void tidy(struct run_time *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->v.n; i++) {
		struct run_time_partition *e = &x->v.v[i];

		tidy_members(e);
		if (e->name && (e->whole || e->members.n))
			x->v.v[n++] = *e;
		else
			entry_free(e);
	}
	x->v.n = n;
	index_names(x);
}

/* --- lines: words between tabs, which no text has in it --- */

static const char *const membership_words[] = {
	[MEMBER_NONE] = "none", [MEMBER_LIMITED] = "limited", [MEMBER_FULL] = "full",
	[MEMBER_BOTH] = "both",
};

const char *membership_word(enum membership m)
{
	return membership_words[m];
}

enum membership membership_parse(const char *word)
{
	for (enum membership m = MEMBER_LIMITED; m <= MEMBER_BOTH; m++)
		if (!strcmp(word, membership_words[m]))
			return m;
	return MEMBER_NONE;
}

void run_time_print(const struct run_time *x, struct buf *out)
{
	for (size_t i = 0; i < x->v.n; i++) {
		const struct run_time_partition *e = &x->v.v[i];

		buf_printf(out, "partition\t%s\t0x%04x\t%s\t%s\t%s\t%s\n", e->whole ? "whole" : "members",
			   e->pkey, e->ipoib ? "ipoib" : "-", e->name, e->level, e->ipoib_level);
		for (size_t k = 0; k < e->members.n; k++)
			buf_printf(out, "member\t%s\t%s\n",
				   membership_words[e->members.v[k].membership],
				   e->members.v[k].who);
	}
}

static bool partition_line(struct run_time *x, char **w)
{
	struct run_time_partition *e;
	unsigned pkey;
	int end = 0;

	if (sscanf(w[2], "0x%4x%n", &pkey, &end) != 1 || w[2][end] || !pkey ||
	    pkey > IB_PKEY_DEFAULT || bad_text(w[4]) || find_entry(x, w[4]) != MAP64_NONE ||
	    (*w[5] && bad_text(w[5])) || (*w[6] && bad_text(w[6])))
		return false;
	e = add_entry(x, w[4]);
	e->pkey = (uint16_t)pkey;
	e->whole = !strcmp(w[1], "whole");
	e->ipoib = !strcmp(w[3], "ipoib");
	free(e->level);
	free(e->ipoib_level);
	e->level = xstrdup(w[5]);
	e->ipoib_level = xstrdup(w[6]);
	return e->whole || !strcmp(w[1], "members");
}

static bool member_line(struct run_time *x, char **w)
{
	enum membership membership = membership_parse(w[1]);
	struct run_time_partition *e = x->v.n ? &x->v.v[x->v.n - 1] : NULL;
	struct policy_member m;
	bool good;

	if (!e || membership == MEMBER_NONE || x->n_members == RUN_TIME_MEMBERS_MAX ||
	    run_time_parse_who(w[2], &m))
		return false;
	policy_member_free(&m);
	good = !find_member(e, w[2]);
	if (good)
		push_member(x, e, xstrdup(w[2]), membership);
	return good;
}

bool run_time_line(void *arg, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *w[8];
	size_t n = 0;
	bool good;

	while (n < ARRAY_SIZE(w) && rest)
		w[n++] = strsep(&rest, "\t");
	good = !rest && ((n == 7 && !strcmp(w[0], "partition") && partition_line(arg, w)) ||
			 (n == 3 && !strcmp(w[0], "member") && member_line(arg, w)));
	free(copy);
	return good;
}

/* --- requests --- */

struct applying {
	struct run_time *x;
	const struct policy *base;
	struct map64 base_names;	/* hash -> partition of base */
	uint8_t *used;			/* [0x8000]: P_Keys of base and of x */
	uint8_t *wanted;		/* … that the request names */
	uint16_t lo, hi;
	const struct run_time_change *c;
	size_t number;
	size_t changed;
	struct findings *out;
};

static void say(struct applying *a, enum severity severity, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct applying *a, enum severity severity, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (a->c->name && !bad_text(a->c->name))
		findings_add(a->out, severity, NULL, nowhere, "change %zu, partition \"%s\": %s",
			     a->number, a->c->name, text.s);
	else
		findings_add(a->out, severity, NULL, nowhere, "change %zu: %s", a->number, text.s);
	buf_free(&text);
}

static const struct policy_partition *base_partition(const struct applying *a, const char *name)
{
	uint32_t i = map64_get(&a->base_names, name_hash(name));

	if (i != MAP64_NONE && !strcmp(a->base->partitions[i].name, name))
		return &a->base->partitions[i];
	for (i = 0; i != MAP64_NONE && i < a->base->n_partitions; i++)
		if (!strcmp(a->base->partitions[i].name, name))
			return &a->base->partitions[i];
	return NULL;
}

/* Whose the P_Key is. */
static const char *owner_of(const struct applying *a, uint16_t pkey)
{
	uint32_t i = policy_find_partition(a->base, pkey);

	if (i != UINT32_MAX)
		return a->base->partitions[i].name;
	for (size_t k = 0; k < a->x->v.n; k++)
		if (a->x->v.v[k].name && a->x->v.v[k].pkey == pkey)
			return a->x->v.v[k].name;
	return "?";
}

static uint16_t choose_pkey(struct applying *a)
{
	for (unsigned k = a->lo; k <= a->hi; k++)
		if (!a->used[k] && !a->wanted[k])
			return (uint16_t)k;
	say(a, SEV_ERROR, "there is no free P_Key in 0x%04x-0x%04x", a->lo, a->hi);
	return 0;
}

/* A level that is given must be one, and the same as `is` if that is not NULL. */
static void check_level(struct applying *a, const char *what, const char *given, const char *is)
{
	if (!given)
		return;
	if (*given && policy_find_level(a->base, given) == UINT32_MAX)
		say(a, SEV_ERROR, "the policy has no level \"%.255s\"", given);
	else if (is && strcmp(*given ? given : "default", *is ? is : "default") != 0)
		say(a, SEV_ERROR, "its %s is \"%s\" already, not \"%s\"", what,
		    *is ? is : "default", *given ? given : "default");
}

/* What is said of a partition that is there must be so. */
static void check_same(struct applying *a, uint16_t pkey, bool ipoib, const char *level,
		       const char *ipoib_level)
{
	const struct run_time_change *c = a->c;

	if (c->pkey && (c->pkey & IB_PKEY_DEFAULT) != pkey)
		say(a, SEV_ERROR, "its P_Key is 0x%04x already, not 0x%04x", pkey,
		    c->pkey & IB_PKEY_DEFAULT);
	if (c->ipoib != IPOIB_NOT_SAID && (c->ipoib == IPOIB_YES) != ipoib)
		say(a, SEV_ERROR, "it is there already, with%s IPoIB", ipoib ? "" : "out");
	check_level(a, "level", c->level, level);
	check_level(a, "IPoIB level", c->ipoib_level, ipoib_level);
}

static struct run_time_partition *new_partition(struct applying *a)
{
	const struct run_time_change *c = a->c;
	uint16_t pkey = c->pkey & IB_PKEY_DEFAULT;
	struct run_time_partition *e;

	check_level(a, "level", c->level, NULL);
	check_level(a, "IPoIB level", c->ipoib_level, NULL);
	if (c->ipoib == IPOIB_NO && c->ipoib_level)
		say(a, SEV_ERROR, "there is an IPoIB level, and no IPoIB");
	if (c->pkey && !pkey)
		say(a, SEV_ERROR, "0x%04x is no P_Key of a partition", c->pkey);
	else if (c->pkey && a->used[pkey])
		say(a, SEV_ERROR, "the partition \"%s\" has the P_Key 0x%04x already",
		    owner_of(a, pkey), pkey);
	else if (!pkey)
		pkey = choose_pkey(a);
	e = add_entry(a->x, c->name);
	e->whole = true;
	e->pkey = pkey;
	e->ipoib = c->ipoib == IPOIB_YES || c->ipoib_level;
	if (c->level) {
		free(e->level);
		e->level = xstrdup(c->level);
	}
	if (c->ipoib_level) {
		free(e->ipoib_level);
		e->ipoib_level = xstrdup(c->ipoib_level);
	}
	a->used[pkey] = 1;
	a->changed++;
	return e;
}

static struct run_time_partition *entry_for(struct applying *a)
{
	const struct policy_partition *of_base = base_partition(a, a->c->name);
	uint32_t i = find_entry(a->x, a->c->name);
	struct run_time_partition *e;

	if (of_base)
		check_same(a, of_base->pkey, of_base->ipoib, of_base->level.s,
			   of_base->ipoib_level.s);
	if (i == MAP64_NONE && of_base) {
		e = add_entry(a->x, of_base->name);
		e->pkey = of_base->pkey;
		return e;
	}
	if (i == MAP64_NONE)
		return new_partition(a);
	e = &a->x->v.v[i];
	if (!of_base)
		check_same(a, e->pkey, e->ipoib, e->level, e->ipoib_level);
	return e;
}

/* Who, in normal form, or NULL and an error. */
static char *check_who(struct applying *a, const struct run_time_who *w, bool must_exist)
{
	struct policy_member m;
	const char *why = w->who ? run_time_parse_who(w->who, &m) : "is missing";
	char *who;

	if (why) {
		say(a, SEV_ERROR, "member \"%.*s\" %s",
		    w->who && !strcmp(why, "has control characters in it") ? 0 : 80,
		    w->who ? w->who : "", why);
		return NULL;
	}
	if (must_exist && m.group.s && strcmp(m.group.s, "all") != 0 &&
	    strcmp(m.group.s, "self") != 0 && policy_find_group(a->base, m.group.s) == UINT32_MAX) {
		say(a, SEV_ERROR, "the policy has no group \"%s\"", m.group.s);
		policy_member_free(&m);
		return NULL;
	}
	who = normal_who(&m, w->who);
	policy_member_free(&m);
	return who;
}

static void add_member(struct applying *a, struct run_time_partition *e,
		       const struct run_time_who *w)
{
	enum membership membership = w->membership ? w->membership : MEMBER_FULL;
	char *who = check_who(a, w, true);
	struct run_time_member *m;

	if (!who)
		return;
	m = find_member(e, who);
	if (m) {
		a->changed += m->membership != membership;
		m->membership = membership;
		free(who);
	} else if (a->x->n_members == RUN_TIME_MEMBERS_MAX) {
		say(a, SEV_ERROR, "there are %d members already, no more are taken",
		    RUN_TIME_MEMBERS_MAX);
		free(who);
	} else {
		push_member(a->x, e, who, membership);
		a->changed++;
	}
}

static void apply_add(struct applying *a)
{
	struct run_time_partition *e = entry_for(a);

	for (size_t i = 0; i < a->c->n_members; i++)
		add_member(a, e, &a->c->members[i]);
}

static void remove_entry(struct applying *a, struct run_time_partition *e)
{
	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			drop_member(a->x, &e->members.v[i]);
	a->changed++;
	if (!e->whole)
		return;
	if (policy_find_partition(a->base, e->pkey) == UINT32_MAX)
		a->used[e->pkey] = 0;
	free(e->name);
	e->name = NULL;
}

static bool base_names_member(const struct policy_partition *part, const char *who)
{
	for (size_t i = 0; part && i < part->n_members; i++) {
		char *text = normal_who(&part->members[i], NULL);
		bool same = !strcmp(text, who);

		free(text);
		if (same)
			return true;
	}
	return false;
}

static void remove_member(struct applying *a, struct run_time_partition *e,
			  const struct run_time_who *w)
{
	char *who = check_who(a, w, false);
	struct run_time_member *m;

	if (!who)
		return;
	m = e ? find_member(e, who) : NULL;
	if (m) {
		drop_member(a->x, m);
		a->changed++;
	} else if (base_names_member(base_partition(a, a->c->name), who)) {
		say(a, SEV_ERROR, "\"%s\" is a member by the policy, which only a policy changes",
		    who);
	} else {
		say(a, SEV_INFO, "\"%s\" is no member", who);
	}
	free(who);
}

static void apply_remove(struct applying *a)
{
	uint32_t i = find_entry(a->x, a->c->name);
	struct run_time_partition *e = i == MAP64_NONE ? NULL : &a->x->v.v[i];

	for (size_t k = 0; k < a->c->n_members; k++)
		remove_member(a, e, &a->c->members[k]);
	if (a->c->n_members)
		return;
	if (e)
		remove_entry(a, e);
	else if (base_partition(a, a->c->name))
		say(a, SEV_ERROR, "it is the policy's, which only a policy changes");
	else
		say(a, SEV_INFO, "there is no such partition");
}

static void apply_one(struct applying *a)
{
	const char *why = a->c->name ? bad_text(a->c->name) : "is missing";

	if (why)
		say(a, SEV_ERROR, "the name of a partition %s", why);
	else if (a->c->remove)
		apply_remove(a);
	else
		apply_add(a);
}

/* Members that would have a group contain itself are refused, if this request brings them. */
static void refuse_troubles(struct applying *a, const struct run_time *before)
{
	struct run_time_troubles t = { 0 };
	struct policy *p = run_time_merge(a->x, a->base, &t);

	for (size_t i = 0; i < t.n; i++) {
		const struct run_time_partition *e = &a->x->v.v[t.v[i].entry];
		uint32_t was = find_entry(before, e->name);
		struct run_time_partition *old = was == MAP64_NONE ? NULL : &before->v.v[was];

		if (t.v[i].member != UINT32_MAX &&
		    !(old && find_member(old, e->members.v[t.v[i].member].who)))
			findings_add(a->out, SEV_ERROR, NULL, nowhere, "%s", t.v[i].text);
	}
	run_time_troubles_free(&t);
	policy_overlay_free(p, a->base);
}

size_t run_time_apply(struct run_time *x, const struct policy *base, uint16_t lo, uint16_t hi,
		      const struct run_time_change *changes, size_t n, struct findings *out)
{
	struct applying a = {
		.x = x, .base = base, .lo = lo, .hi = hi, .out = out,
		.used = xcalloc(IB_PKEY_DEFAULT + 1, 1), .wanted = xcalloc(IB_PKEY_DEFAULT + 1, 1),
	};
	struct run_time *before = run_time_copy(x);

	a.used[0] = a.used[IB_PKEY_DEFAULT] = 1;
	for (size_t i = 0; i < base->n_partitions; i++) {
		a.used[base->partitions[i].pkey] = 1;
		map64_put(&a.base_names, name_hash(base->partitions[i].name), (uint32_t)i);
	}
	for (size_t i = 0; i < x->v.n; i++)
		a.used[x->v.v[i].pkey] = 1;
	for (size_t i = 0; i < n; i++)
		a.wanted[changes[i].pkey & IB_PKEY_DEFAULT] = 1;
	for (size_t i = 0; i < n; i++) {
		a.c = &changes[i];
		a.number = i + 1;
		apply_one(&a);
	}
	tidy(x);
	if (!out->count[SEV_ERROR])
		refuse_troubles(&a, before);
	run_time_free(before);
	map64_free(&a.base_names);
	free(a.used);
	free(a.wanted);
	return a.changed;
}
