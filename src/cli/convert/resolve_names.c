/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives every item a name that qosd accepts, and puts it into every reference, once all inputs were
 * read.
 *
 * OpenSM compares names of groups and levels ignoring case and blanks outside quotes; of several
 * items with one name it finds the first.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/convert/split_text.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"

#define NAME_MAX_BYTES	128	/* qosd-policy(5) */
#define NAME_CUT	116	/* leaves room for a numeric suffix */

/* Names of one kind: those in the source, and those given out. */
struct names {
	struct map64 index;	/* folded name in the source -> index of the item */
	struct map64 taken;	/* name in the policy -> number of its last variant */
};

struct resolver {
	struct converted *c;
	struct names groups, levels, partitions;
};

static uint64_t hash_of(const char *s)
{
	return hash_bytes(s, strlen(s), 0);
}

static uint64_t folded(const char *s)
{
	uint64_t hash;
	struct buf b = { 0 };

	for (; *s; s++) {
		char ch = (char)tolower((unsigned char)*s);

		if (!isspace((unsigned char)*s))
			buf_add(&b, &ch, 1);
	}
	hash = hash_bytes(b.s ? b.s : "", b.n, 0);
	buf_free(&b);
	return hash;
}

static void names_init(struct names *n)
{
	map64_init(&n->index, 16);
	map64_init(&n->taken, 16);
}

static void names_free(struct names *n)
{
	map64_free(&n->index);
	map64_free(&n->taken);
}

/* Length to cut a long name to: leaves room for a number, and does not cut a character. */
static size_t cut_of(const char *name)
{
	size_t n = strlen(name) > NAME_CUT ? NAME_CUT : strlen(name);

	while (((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* Makes a name like `wanted` that is not taken yet and that qosd accepts. */
static const char *give_name(struct converted *c, struct names *n, const char *wanted)
{
	struct buf b = { 0 };
	const char *name;
	uint32_t variant;

	add_clean(&b, wanted);
	if (b.n > NAME_MAX_BYTES)
		b.s[b.n = cut_of(b.s)] = '\0';
	name = keep(c, b.n ? b.s : "unnamed", b.n ? b.n : strlen("unnamed"));
	buf_free(&b);
	variant = map64_get(&n->taken, hash_of(name));
	if (variant == MAP64_NONE) {
		map64_put(&n->taken, hash_of(name), 1);
		return name;
	}
	/* the variant may itself be taken */
	for (const char *base = name; map64_get(&n->taken, hash_of(name)) != MAP64_NONE;) {
		const char *next = keepf(c, "%.*s-%u", (int)cut_of(base), base, ++variant);

		map64_put(&n->taken, hash_of(base), variant);
		name = next;
	}
	map64_put(&n->taken, hash_of(name), 1);
	return name;
}

/* Gives an item of the source a name, and reports a change. */
static const char *rename_item(struct converted *c, struct names *n, struct notes *notes,
			       struct place at, const char *kind, const char *name)
{
	bool like_guid = !strncasecmp(name, "0x", 2);
	const char *given = give_name(c, n, like_guid ? keepf(c, "name-%s", name) : name);

	if (strcmp(given, name))
		verdict(c, notes, VERDICT_OTHERWISE, at, "renamed the %s '%s' to '%s'", kind,
		    SHOW(name), given);
	return given;
}

/* --- groups and levels --- */

/* Returns false, with a finding, if an earlier item has the name. */
static bool claim(struct resolver *r, struct names *n, const char *kind, const char *name,
		  struct notes *notes, struct place at, uint32_t index)
{
	if (map64_get(&n->index, folded(name)) == MAP64_NONE) {
		map64_put(&n->index, folded(name), index);
		return true;
	}
	verdict(r->c, notes, VERDICT_NOT_NEEDED, at,
		"omitted: there is another %s '%s' before it, and OpenSM finds only the first one",
		kind, SHOW(name));
	return false;
}

static void name_groups(struct resolver *r)
{
	struct converted *c = r->c;

	/* qosd reserves these, and anything that begins like a GUID */
	map64_put(&r->groups.taken, hash_of("all"), 1);
	map64_put(&r->groups.taken, hash_of("self"), 1);
	for (size_t i = 0; i < c->groups.n; i++) {
		struct out_group *g = &c->groups.v[i];

		if (!g->name)
			continue;
		g->dropped = !claim(r, &r->groups, "port-group", g->name, &g->notes, g->at,
				    (uint32_t)i);
		if (!g->dropped)
			g->name = rename_item(c, &r->groups, &g->notes, g->at, "port-group",
					      g->name);
	}
}

static void name_levels(struct resolver *r)
{
	struct converted *c = r->c;
	uint64_t fallback = folded("default");

	map64_put(&r->levels.taken, hash_of("default"), 1);
	for (size_t i = 0; i < c->levels.n; i++) {
		struct out_level *l = &c->levels.v[i];

		if (!l->name)
			continue;
		l->dropped = !claim(r, &r->levels, "qos-level", l->name, &l->notes, l->at,
				    (uint32_t)i);
		if (l->dropped)
			continue;
		if (folded(l->name) == fallback)
			l->name = "default";
		else
			l->name = rename_item(c, &r->levels, &l->notes, l->at, "qos-level",
					      l->name);
	}
}

static const struct out_group *group_of_partition(const struct converted *c, const char *partition)
{
	for (size_t i = 0; i < c->groups.n; i++)
		for (size_t k = 0; k < c->groups.v[i].partitions.n; k++)
			if (!strcmp(c->groups.v[i].partitions.v[k].s, partition))
				return &c->groups.v[i];
	return NULL;
}

static void resolve_groups(struct resolver *r, struct words *words)
{
	for (size_t i = 0; i < words->n; i++) {
		struct word *w = &words->v[i];
		uint32_t index = map64_get(&r->groups.index, folded(w->s));
		const struct out_group *near;

		if (index != MAP64_NONE) {
			w->s = r->c->groups.v[index].name;
			continue;
		}
		near = r->c->found.count[VERDICT_ERROR] < ERRORS_MAX ?
		       group_of_partition(r->c, w->s) : NULL;
		if (near)
			say_error(r->c, w->at, "there is no port-group '%s'; a partition of this "
				  "name is in the group '%s'", SHOW(w->s), near->name);
		else
			say_error(r->c, w->at, "there is no port-group '%s'", SHOW(w->s));
	}
}

static void resolve_rule(struct resolver *r, struct out_rule *rule)
{
	uint32_t index;

	resolve_groups(r, &rule->source);
	resolve_groups(r, &rule->destination);
	resolve_groups(r, &rule->either);
	if (!rule->level.s)
		return;
	index = map64_get(&r->levels.index, folded(rule->level.s));
	if (index != MAP64_NONE)
		rule->level.s = r->c->levels.v[index].name;
	else if (folded(rule->level.s) == folded("default") && r->c->default_sl.s)
		rule->level.s = "default";
	else
		say_error(r->c, rule->level.at, "there is no qos-level '%s'", SHOW(rule->level.s));
}

static void resolve_scopes(struct resolver *r, struct out_scopes *scopes)
{
	for (size_t i = 0; i < scopes->n; i++) {
		struct out_scope *s = &scopes->v[i];

		resolve_groups(r, &s->groups);
		resolve_groups(r, &s->across);
		resolve_groups(r, &s->across_to);
		resolve_groups(r, &s->across_from);
		if (s->across_from.n)
			verdict(r->c, &s->notes, VERDICT_NOT_POSSIBLE, s->across_from.v[0].at,
				"omitted across-from, which has no equivalent: scopes select input ports by "
				"'from'");
	}
}

/* --- levels that only have an SL in the source --- */

static bool has_default(const struct resolver *r)
{
	return map64_get(&r->levels.index, folded("default")) != MAP64_NONE;
}

static void add_default_level(struct resolver *r)
{
	struct converted *c = r->c;
	struct out_level *l;
	struct place nowhere = { c->sources.n ? c->sources.v[0] : "", { 0, 0 } };

	if (c->default_sl.s && has_default(r)) {
		verdict(c, NULL, VERDICT_NOT_NEEDED, c->default_sl.at,
			"OpenSM ignores 'default' of qos-ulps if there is a level DEFAULT");
	} else if (c->default_sl.s) {
		l = add_level(c, c->default_sl.at);
		l->name = "default";
		l->sl = c->default_sl_value;
	} else if (c->has_policy && !has_default(r)) {
		verdict(c, NULL, VERDICT_OTHERWISE, nowhere,
			"there is neither a level DEFAULT nor 'default' in qos-ulps: OpenSM refuses "
			"the whole file; qosd has a default level with SL 0");
	} else if (c->has_xml && !has_default(r)) {
		verdict(c, NULL, VERDICT_SAME, nowhere,
			"there is no level 'default': queries that no rule matches get SL 0");
	}
}

/* The level that has only this SL, made on first use. */
static const char *level_of_sl(struct resolver *r, const char *made[16], int sl, struct place at)
{
	struct out_level *l;

	if (made[sl])
		return made[sl];
	l = add_level(r->c, at);
	l->name = made[sl] = give_name(r->c, &r->levels, keepf(r->c, "sl-%d", sl));
	l->sl = sl;
	return made[sl];
}

static void resolve_ulp_rules(struct resolver *r, const char *made[16])
{
	for (size_t i = 0; i < r->c->ulp_rules.n; i++) {
		struct out_rule *rule = &r->c->ulp_rules.v[i];

		rule->level.s = level_of_sl(r, made, rule->simple_sl, rule->at);
	}
}

/* --- partitions --- */

static void name_partitions(struct resolver *r)
{
	for (size_t i = 0; i < r->c->partitions.n; i++) {
		struct out_partition *p = &r->c->partitions.v[i];
		uint64_t hash = hash_of(p->name);

		if (map64_get(&r->partitions.index, hash) == MAP64_NONE)
			map64_put(&r->partitions.index, hash, (uint32_t)i);
		if (*p->name)
			p->name = rename_item(r->c, &r->partitions, &p->notes, p->at, "partition",
					      p->name);
		else
			p->name = give_name(r->c, &r->partitions,
					    keepf(r->c, "pkey-0x%04x", p->pkey));
	}
}

/* Drops an undefined partition with a warning: an error to qosd, but nothing to OpenSM. */
static bool resolve_partition_word(struct resolver *r, struct notes *notes, struct word *w)
{
	uint32_t index = map64_get(&r->partitions.index, hash_of(w->s));

	if (index != MAP64_NONE) {
		w->s = r->c->partitions.v[index].name;
		return true;
	}
	/* the default partition always exists */
	if (!r->c->has_partitions && !strcmp(w->s, "Default"))
		return true;
	verdict(r->c, notes, r->c->has_partitions ? VERDICT_NOT_NEEDED : VERDICT_NOT_POSSIBLE, w->at,
		"omitted the partition '%s': partitions.conf %s", SHOW(w->s),
		r->c->has_partitions ? "does not have it"
				     : "must be converted together with this file");
	return false;
}

static void resolve_partition_words(struct resolver *r)
{
	for (size_t i = 0; i < r->c->groups.n; i++) {
		struct out_group *g = &r->c->groups.v[i];
		size_t n = 0;

		for (size_t k = 0; k < g->partitions.n; k++)
			if (resolve_partition_word(r, &g->notes, &g->partitions.v[k]))
				g->partitions.v[n++] = g->partitions.v[k];
		g->partitions.n = n;
	}
}

/* Warns of ipoib rules whose partitions do not exist, as OpenSM refuses the policy for them. */
static void check_pkeys(struct resolver *r)
{
	/* [v]: the lowest P_Key from v on that no partition has */
	uint32_t *missing = xcalloc(IB_PKEY_DEFAULT + 2, sizeof(*missing));

	for (size_t i = 0; i < r->c->partitions.n; i++)
		missing[r->c->partitions.v[i].pkey] = 1;
	missing[IB_PKEY_DEFAULT + 1] = IB_PKEY_DEFAULT + 1;
	for (uint32_t v = IB_PKEY_DEFAULT + 1; v-- > 0;)
		missing[v] = missing[v] ? missing[v + 1] : v;
	for (size_t i = 0; i < r->c->ulp_rules.n && r->c->has_partitions; i++) {
		struct out_rule *rule = &r->c->ulp_rules.v[i];

		if (!rule->ulp || strcmp(rule->ulp, "ipoib"))
			continue;
		for (size_t k = 0; k < rule->pkeys.n; k++) {
			uint32_t none = missing[rule->pkeys.v[k].lo];

			if (none <= rule->pkeys.v[k].hi)
				verdict(r->c, &rule->notes, VERDICT_OTHERWISE, rule->at,
					"there is no partition with the P_Key 0x%04x, in which case "
					"OpenSM refuses the whole policy", none);
		}
	}
	free(missing);
}

/* Without QoS, OpenSM gives all partitions SL 0, but not groups that name one themselves. */
static void drop_partition_sls(struct converted *c)
{
	for (size_t i = 0; i < c->partitions.n && qos_is_off(c); i++) {
		struct out_partition *p = &c->partitions.v[i];

		p->sl = 0;
		for (size_t k = 0; k < p->groups.n; k++)
			if (!p->groups.v[k].own_sl)
				p->groups.v[k].sl = 0;
	}
}

/* The level with the properties of a multicast group, made on first use. */
static const char *level_of_mgroup(struct resolver *r, struct map64 *made, const struct out_mgroup *g)
{
	uint64_t key = (uint64_t)g->sl | (uint64_t)g->mtu << 8 | (uint64_t)g->rate << 16 |
		       (uint64_t)(g->tclass + 1) << 24;
	uint32_t index = map64_get(made, key);
	struct converted *c = r->c;
	struct out_level *l;
	char rate[16];

	if (index != MAP64_NONE)
		return c->levels.v[index].name;
	map64_put(made, key, (uint32_t)c->levels.n);
	l = add_level(c, g->at);
	l->name = give_name(c, &r->levels, keepf(c, "%s-sl-%d-mtu-%u-rate-%.*s",
		mgid_is_ipoib(g->mgid) ? "ipoib" : "group", g->sl, mtu_bytes((unsigned)g->mtu),
		(int)strcspn(rate_text((unsigned)g->rate, rate, sizeof(rate)), " "), rate));
	l->sl = g->sl;
	l->mtu = g->mtu;
	l->rate = g->rate;
	l->tclass = g->tclass;
	return l->name;
}

static void resolve_partition_levels(struct resolver *r, const char *made[16])
{
	struct map64 groups;	/* properties of a multicast group -> index of its level */
	struct converted *c = r->c;

	map64_init(&groups, 16);
	for (size_t i = 0; i < c->partitions.n; i++) {
		struct out_partition *p = &c->partitions.v[i];

		if (p->sl) {
			p->level = level_of_sl(r, made, p->sl, p->at);
			if (c->has_policy)
				verdict(c, &p->notes, VERDICT_OTHERWISE, p->at,
					"sl=%d also applies to the partition's queries; OpenSM with a "
					"policy file gives queries that no rule matches the default "
					"level", p->sl);
		}
		for (size_t k = 0; k < p->groups.n; k++)
			p->groups.v[k].level = level_of_mgroup(r, &groups, &p->groups.v[k]);
	}
	map64_free(&groups);
}

/* --- SLs that no item of the source names --- */

static int sl_of_default(const struct converted *c)
{
	for (size_t i = 0; i < c->levels.n; i++)
		if (!c->levels.v[i].dropped && c->levels.v[i].name &&
		    !strcmp(c->levels.v[i].name, "default"))
			return c->levels.v[i].sl > 0 ? c->levels.v[i].sl : 0;
	return 0;
}

static void judge_sm_sl(struct converted *c)
{
	int sl = sl_of_default(c);
	uint64_t wanted;

	if (!c->sm_sl.s)
		return;
	if (parse_number(c->sm_sl.s, &wanted) && wanted == (uint64_t)sl)
		verdict(c, NULL, VERDICT_SAME, c->sm_sl.at, "sm_sl %d: the SL of the level 'default'", sl);
	else
		verdict(c, NULL, VERDICT_OTHERWISE, c->sm_sl.at,
			"sm_sl %s: packets to the subnet manager have the SL of the level 'default', which "
			"is %d", SHOW(c->sm_sl.s), sl);
}

/*
 * MPI, NCCL and UCX choose an SL by a setting of their own and never ask for a path.  The tables
 * treat such packets as they treat any, and a level makes qosd's findings and shares know them.
 */
static void add_levels_of_tables(struct resolver *r, const char *made[16])
{
	struct converted *c = r->c;
	uint16_t named = (uint16_t)(1u << sl_of_default(c)), apart;
	struct place at = c->defaults[OUT_ALL].at;
	struct buf list = { 0 };

	if (!c->has_defaults)
		return;
	if (!at.file)
		at.file = c->names[FORMAT_OPENSM_CONF];
	for (size_t i = 0; i < c->levels.n; i++)
		if (!c->levels.v[i].dropped && c->levels.v[i].sl >= 0)
			named |= (uint16_t)(1u << (c->levels.v[i].sl & 15));
	apart = sls_apart(c, named);
	for (int sl = 0; sl < 16; sl++) {
		if (!(apart >> sl & 1))
			continue;
		buf_printf(&list, "%s%s", list.n ? ", " : "", level_of_sl(r, made, sl, at));
		remark(c, &c->levels.v[c->levels.n - 1].notes,
		       "programs such as MPI, NCCL and UCX may choose this SL by themselves");
	}
	if (apart)
		verdict(c, NULL, VERDICT_OTHERWISE, at,
			"added levels for the SLs that only the tables know, as programs may choose them by "
			"themselves: %s", list.s);
	buf_free(&list);
}

/* --- members --- */

static const char *const type_groups[] = {
	[NODE_CA] = "all-cas", [NODE_SWITCH] = "all-switches", [NODE_ROUTER] = "all-routers",
};

/* If several lines name a port, the last one counts, in OpenSM as in qosd: so order matters. */
static void settle_both(struct converted *c, struct out_partition *p)
{
	bool any_both = false;

	for (size_t i = 0; i < p->members.n; i++)
		any_both |= p->members.v[i].membership == OUT_BOTH;
	if (any_both && (c->allow_both == 0 || (c->has_options && c->allow_both < 0))) {
		verdict(c, &p->notes, VERDICT_OTHERWISE, p->at,
			"members that are 'both' become full, as in OpenSM without allow_both_pkeys");
		for (size_t i = 0; i < p->members.n; i++)
			if (p->members.v[i].membership == OUT_BOTH)
				p->members.v[i].membership = OUT_FULL;
	} else if (any_both && c->allow_both < 0) {	/* opensm.conf is not given */
		verdict(c, &p->notes, VERDICT_OTHERWISE, p->at,
			"members are 'both': OpenSM needs allow_both_pkeys TRUE for that; otherwise they "
			"are full");
	}
}

/* Hash of the ports that a member line names. */
static uint64_t hash_of_who(const struct out_member *m)
{
	return hash64(hash64((uint64_t)m->kind << 8 | m->node_type) + m->guid);
}

/* Of several lines for the same ports, keeps the last one, at its position. */
static void merge_members(struct out_partition *p)
{
	struct map64 last;
	size_t n = 0;

	map64_init(&last, (uint32_t)p->members.n);
	for (size_t i = 0; i < p->members.n; i++)
		map64_put(&last, hash_of_who(&p->members.v[i]), (uint32_t)i);
	for (size_t i = 0; i < p->members.n; i++)
		if (map64_get(&last, hash_of_who(&p->members.v[i])) == i)
			p->members.v[n++] = p->members.v[i];
	p->members.n = n;
	map64_free(&last);
}

static void resolve_members(struct resolver *r)
{
	const char *names[NODE_ROUTER + 1] = { NULL };
	struct converted *c = r->c;

	for (size_t i = 0; i < c->partitions.n; i++) {
		struct out_partition *p = &c->partitions.v[i];

		settle_both(c, p);
		merge_members(p);
		for (size_t k = 0; k < p->members.n; k++) {
			struct out_member *m = &p->members.v[k];
			unsigned type = m->node_type;

			if (m->kind != MEMBER_OF_GROUP)
				continue;
			if (!names[type]) {
				struct out_group *g = add_group(c, m->at);

				g->name = give_name(c, &r->groups, type_groups[type]);
				names[type] = g->name;
				g->node_types = type;
			}
			m->group = names[type];
		}
	}
}

/* --- the whole --- */

void resolve(struct converted *c)
{
	struct resolver r = { .c = c };
	const char *made[16] = { NULL };

	names_init(&r.groups);
	names_init(&r.levels);
	names_init(&r.partitions);
	name_groups(&r);
	name_levels(&r);
	name_partitions(&r);
	for (size_t i = 0; i < c->rules.n; i++)
		resolve_rule(&r, &c->rules.v[i]);
	for (size_t i = 0; i < c->ulp_rules.n; i++)
		resolve_rule(&r, &c->ulp_rules.v[i]);
	resolve_scopes(&r, &c->sl2vl);
	resolve_scopes(&r, &c->vlarb);
	resolve_partition_words(&r);
	check_pkeys(&r);
	add_default_level(&r);
	resolve_ulp_rules(&r, made);
	drop_partition_sls(c);
	resolve_partition_levels(&r, made);
	add_levels_of_tables(&r, made);
	judge_sm_sl(c);
	resolve_members(&r);
	names_free(&r.groups);
	names_free(&r.levels);
	names_free(&r.partitions);
}
