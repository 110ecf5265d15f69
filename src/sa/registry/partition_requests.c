/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Applies requests for dynamic partitions to the registry.
 *
 * It checks each change against the policy and the registry, applies it, and adds a finding for
 * every error.  dynamic_partitions.h has the rules.  Nothing comes into force here.
 */
#include <stdlib.h>
#include <string.h>

#include "sa/registry/partition_lines.h"

static const struct src_pos nowhere;

struct applying {
	struct dynamic_partitions *x;
	const struct policy *base;
	struct map64 base_names;	/* hash of name -> partition of base */
	uint8_t *used;			/* [0x8000]: whether base or x has the P_Key */
	uint8_t *wanted;		/* [0x8000]: whether the request names the P_Key */
	uint16_t lo, hi;
	const struct dynamic_change *c;
	size_t number;
	size_t changed;
	struct findings *out;
};

void dynamic_say(struct findings *out, enum severity severity, const struct dynamic_change *c,
		 size_t number, const char *fmt, va_list ap)
{
	struct buf text = { 0 };

	buf_vprintf(&text, fmt, ap);
	if (c->name && !dynamic_bad_text(c->name))
		findings_add(out, severity, NULL, nowhere, "change %zu, partition \"%s\": %s", number,
			     c->name, text.s);
	else
		findings_add(out, severity, NULL, nowhere, "change %zu: %s", number, text.s);
	buf_free(&text);
}

static void say(struct applying *a, enum severity severity, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct applying *a, enum severity severity, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	dynamic_say(a->out, severity, a->c, a->number, fmt, ap);
	va_end(ap);
}

static const struct policy_partition *base_partition(const struct applying *a, const char *name)
{
	uint32_t i = map64_get(&a->base_names, dynamic_name_hash(name));

	if (i != MAP64_NONE && !strcmp(a->base->partitions[i].name, name))
		return &a->base->partitions[i];
	for (i = 0; i != MAP64_NONE && i < a->base->n_partitions; i++)
		if (!strcmp(a->base->partitions[i].name, name))
			return &a->base->partitions[i];
	return NULL;
}

/* The name of the partition that has the P_Key. */
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

/* A given level must exist, and be the same as `is` if that is not NULL. */
static void check_level(struct applying *a, const char *what, const char *given, const char *is)
{
	if (!given)
		return;
	if (*given && policy_find_level(a->base, given) == UINT32_MAX)
		say(a, SEV_ERROR, "the policy has no level \"%.255s\"", given);
	else if (is && strcmp(*given ? given : "default", *is ? is : "default") != 0)
		say(a, SEV_ERROR, "the existing partition has %s \"%s\", not \"%s\"", what,
		    *is ? is : "default", *given ? given : "default");
}

/* The present values, with those that the change gives in their place. */
static struct policy_own own_after(const struct policy_own *now, const struct dynamic_change *c)
{
	struct policy_own own = *now;

	if (c->own_given & OWN_SL) {
		own.has_sl = c->own.has_sl;
		own.sl = c->own.sl;
	}
	if (c->own_given & OWN_MTU)
		own.mtu_limit = c->own.mtu_limit;
	if (c->own_given & OWN_RATE)
		own.rate_limit = c->own.rate_limit;
	return own;
}

/* own: NULL for a partition of the policy. */
static void check_own(struct applying *a, const struct policy_own *own)
{
	struct policy_own after;

	if (!a->c->own_given)
		return;
	if (!own) {
		say(a, SEV_ERROR, "the partition is part of the policy, and has SL, MTU and rate of its level: "
		    "change the policy instead");
		return;
	}
	after = own_after(own, a->c);
	if (!policy_own_same(own, &after))
		say(a, SEV_ERROR, "the existing partition has another SL, MTU or rate: `partition set' "
		    "changes them");
}

/*
 * What a change says of an existing partition must agree with it.  own: NULL for a partition of the policy.
 */
static void check_same(struct applying *a, uint16_t pkey, bool ipoib, const char *level,
		       const char *ipoib_level, const struct policy_own *own)
{
	const struct dynamic_change *c = a->c;

	if (c->pkey && (c->pkey & IB_PKEY_DEFAULT) != pkey)
		say(a, SEV_ERROR, "the existing partition has P_Key 0x%04x, not 0x%04x", pkey,
		    c->pkey & IB_PKEY_DEFAULT);
	if (c->ipoib != IPOIB_NOT_SAID && (c->ipoib == IPOIB_YES) != ipoib)
		say(a, SEV_ERROR, "the partition exists already, with%s IPoIB", ipoib ? "" : "out");
	check_level(a, "level", c->level, level);
	check_level(a, "IPoIB level", c->ipoib_level, ipoib_level);
	check_own(a, own);
}

static void set_level(char **level, const char *given)
{
	if (!given)
		return;
	free(*level);
	*level = xstrdup(given);
}

static struct dynamic_partition *new_partition(struct applying *a)
{
	const struct dynamic_change *c = a->c;
	uint16_t pkey = c->pkey & IB_PKEY_DEFAULT;
	struct dynamic_partition *e;

	check_level(a, "level", c->level, NULL);
	check_level(a, "IPoIB level", c->ipoib_level, NULL);
	if (c->ipoib == IPOIB_NO && c->ipoib_level)
		say(a, SEV_ERROR, "an IPoIB level needs IPoIB");
	if (c->pkey && !pkey)
		say(a, SEV_ERROR, "0x%04x is not a valid P_Key of a partition", c->pkey);
	else if (c->pkey && a->used[pkey])
		say(a, SEV_ERROR, "the partition \"%s\" already has the P_Key 0x%04x",
		    owner_of(a, pkey), pkey);
	else if (!pkey)
		pkey = choose_pkey(a);
	e = dynamic_add_entry(a->x, c->name);
	e->whole = true;
	e->pkey = pkey;
	e->ipoib = c->ipoib == IPOIB_YES || c->ipoib_level;
	set_level(&e->level, c->level);
	set_level(&e->ipoib_level, c->ipoib_level);
	e->own = own_after(&e->own, c);
	a->used[pkey] = 1;
	a->changed++;
	return e;
}

static struct dynamic_partition *entry_for(struct applying *a)
{
	const struct policy_partition *of_base = base_partition(a, a->c->name);
	uint32_t i = dynamic_find_entry(a->x, a->c->name);
	struct dynamic_partition *e;

	if (of_base)
		check_same(a, of_base->pkey, of_base->ipoib, of_base->level.s,
			   of_base->ipoib_level.s, NULL);
	if (i == MAP64_NONE && of_base) {
		e = dynamic_add_entry(a->x, of_base->name);
		e->pkey = of_base->pkey;
		return e;
	}
	if (i == MAP64_NONE)
		return new_partition(a);
	e = &a->x->v.v[i];
	if (!of_base)
		check_same(a, e->pkey, e->ipoib, e->level, e->ipoib_level, &e->own);
	return e;
}

/* The `who` in normal form, or NULL after an error. */
static char *check_who(struct applying *a, const struct dynamic_who *w, bool must_exist)
{
	struct policy_member m;
	const char *why = w->who ? dynamic_parse_who(w->who, &m) : "is missing";
	char *who;

	if (why) {
		say(a, SEV_ERROR, "member \"%.*s\" %s",
		    w->who && !strcmp(why, "contains control characters") ? 0 : 80,
		    w->who ? w->who : "", why);
		return NULL;
	}
	if (must_exist && m.group.s && strcmp(m.group.s, "all") != 0 &&
	    strcmp(m.group.s, "self") != 0 && policy_find_group(a->base, m.group.s) == UINT32_MAX) {
		say(a, SEV_ERROR, "the policy has no group \"%s\"", m.group.s);
		policy_member_free(&m);
		return NULL;
	}
	who = dynamic_normal_who(&m, w->who);
	policy_member_free(&m);
	return who;
}

static void add_member(struct applying *a, struct dynamic_partition *e,
		       const struct dynamic_who *w)
{
	enum membership membership = w->membership ? w->membership : MEMBER_FULL;
	char *who = check_who(a, w, true);
	struct dynamic_member *m;

	if (!who)
		return;
	m = dynamic_find_member(e, who);
	if (m) {
		a->changed += m->membership != membership || m->index0 != w->index0;
		m->membership = membership;
		m->index0 = w->index0;
		free(who);
	} else if (a->x->n_members == DYNAMIC_MEMBERS_MAX) {
		say(a, SEV_ERROR, "the partition has %d members, the limit",
		    DYNAMIC_MEMBERS_MAX);
		free(who);
	} else {
		dynamic_push_member(a->x, e, who, membership, w->index0);
		a->changed++;
	}
}

static void apply_add(struct applying *a)
{
	struct dynamic_partition *e = entry_for(a);

	for (size_t i = 0; i < a->c->n_members; i++)
		add_member(a, e, &a->c->members[i]);
}

static void remove_entry(struct applying *a, struct dynamic_partition *e)
{
	for (size_t i = 0; i < e->members.n; i++)
		if (e->members.v[i].who)
			dynamic_drop_member(a->x, &e->members.v[i]);
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
		char *text = dynamic_normal_who(&part->members[i], NULL);
		bool same = !strcmp(text, who);

		free(text);
		if (same)
			return true;
	}
	return false;
}

static void remove_member(struct applying *a, struct dynamic_partition *e,
			  const struct dynamic_who *w)
{
	char *who = check_who(a, w, false);
	struct dynamic_member *m;

	if (!who)
		return;
	m = e ? dynamic_find_member(e, who) : NULL;
	if (m) {
		dynamic_drop_member(a->x, m);
		a->changed++;
	} else if (base_names_member(base_partition(a, a->c->name), who)) {
		say(a, SEV_ERROR, "the policy makes \"%s\" a member: change the policy instead",
		    who);
	} else {
		say(a, SEV_INFO, "\"%s\" is not a member", who);
	}
	free(who);
}

static void apply_remove(struct applying *a)
{
	uint32_t i = dynamic_find_entry(a->x, a->c->name);
	struct dynamic_partition *e = i == MAP64_NONE ? NULL : &a->x->v.v[i];

	for (size_t k = 0; k < a->c->n_members; k++)
		remove_member(a, e, &a->c->members[k]);
	if (a->c->n_members)
		return;
	if (e)
		remove_entry(a, e);
	else if (base_partition(a, a->c->name))
		say(a, SEV_ERROR, "the partition is part of the policy: change the policy instead");
	else
		say(a, SEV_INFO, "no such partition");
}

/* --- changes of levels and values --- */

static void set_entry(struct applying *a, struct dynamic_partition *e)
{
	const struct dynamic_change *c = a->c;
	struct policy_own own = own_after(&e->own, c);
	bool same = policy_own_same(&e->own, &own) && (!c->level || !strcmp(c->level, e->level)) &&
		    (!c->ipoib_level || !strcmp(c->ipoib_level, e->ipoib_level));

	check_level(a, "level", c->level, NULL);
	check_level(a, "IPoIB level", c->ipoib_level, NULL);
	if (c->ipoib_level && !e->ipoib)
		say(a, SEV_ERROR, "the partition is without IPoIB, so it has no IPoIB level");
	set_level(&e->level, c->level);
	set_level(&e->ipoib_level, c->ipoib_level);
	e->own = own;
	a->changed += !same;
}

static void apply_set(struct applying *a)
{
	uint32_t i = dynamic_find_entry(a->x, a->c->name);

	if (base_partition(a, a->c->name))
		say(a, SEV_ERROR, "the partition is part of the policy: change the policy instead");
	else if (i == MAP64_NONE || !a->x->v.v[i].whole)
		say(a, SEV_ERROR, "no such partition");
	else
		set_entry(a, &a->x->v.v[i]);
}

static void apply_one(struct applying *a)
{
	const char *why = a->c->name ? dynamic_bad_text(a->c->name) : "is missing";

	if (why)
		say(a, SEV_ERROR, "the name of a partition %s", why);
	else if (a->c->kind == DYNAMIC_REMOVE)
		apply_remove(a);
	else if (a->c->kind == DYNAMIC_SET)
		apply_set(a);
	else
		apply_add(a);
}

/* Whether the trouble is one of the request: the entry was not there before with what it lacks now. */
static bool is_new_trouble(const struct dynamic_trouble *t, const struct dynamic_partition *e,
			   struct dynamic_partition *old)
{
	if (t->own)
		return !old || !policy_own_same(&old->own, &e->own) || strcmp(old->level, e->level) != 0 ||
		       strcmp(old->ipoib_level, e->ipoib_level) != 0;
	return t->member != UINT32_MAX && !(old && dynamic_find_member(old, e->members.v[t->member].who));
}

/*
 * Refuses what this request adds and the merge drops: members, e.g. as a group would contain itself, and
 * own values.
 */
static void refuse_troubles(struct applying *a, const struct dynamic_partitions *before)
{
	struct dynamic_troubles t = { 0 };
	struct policy *p = dynamic_merge(a->x, a->base, &t);

	for (size_t i = 0; i < t.n; i++) {
		const struct dynamic_partition *e = &a->x->v.v[t.v[i].entry];
		uint32_t was = dynamic_find_entry(before, e->name);
		struct dynamic_partition *old = was == MAP64_NONE ? NULL : &before->v.v[was];

		if (is_new_trouble(&t.v[i], e, old))
			findings_add(a->out, SEV_ERROR, NULL, nowhere, "%s", t.v[i].text);
	}
	dynamic_troubles_free(&t);
	policy_overlay_free(p, a->base);
}

size_t dynamic_apply(struct dynamic_partitions *x, const struct policy *base, uint16_t lo, uint16_t hi,
		     const struct dynamic_change *changes, size_t n, struct findings *out)
{
	struct applying a = {
		.x = x, .base = base, .lo = lo, .hi = hi, .out = out,
		.used = xcalloc(IB_PKEY_DEFAULT + 1, 1), .wanted = xcalloc(IB_PKEY_DEFAULT + 1, 1),
	};
	struct dynamic_partitions *before = dynamic_copy(x);

	a.used[0] = a.used[IB_PKEY_DEFAULT] = 1;
	for (size_t i = 0; i < base->n_partitions; i++) {
		a.used[base->partitions[i].pkey] = 1;
		map64_put(&a.base_names, dynamic_name_hash(base->partitions[i].name), (uint32_t)i);
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
	dynamic_tidy(x);
	if (!out->count[SEV_ERROR])
		refuse_troubles(&a, before);
	dynamic_free(before);
	map64_free(&a.base_names);
	free(a.used);
	free(a.wanted);
	return a.changed;
}
