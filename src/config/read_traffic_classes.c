/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the section traffic-classes, and derives the SL plan from it.  The SL plan is the SL of
 * each level that gives none, and the class of each SL.
 */
#include <stdlib.h>
#include <string.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "qos/arbiter/vlarb_from_shares.h"

/* --- reading --- */

/* Parses per cent with at most two decimals into hundredths; false if malformed. */
static bool parse_share(const char *s, uint64_t *share)
{
	size_t digits = strspn(s, "0123456789");
	uint64_t v = 0;

	if (digits == 0 || digits > 9)
		return false;
	for (size_t i = 0; i < digits; i++)
		v = v * 10 + (uint64_t)(s[i] - '0');
	v *= 100;
	s += digits;
	if (*s == '.') {
		size_t decimals = strspn(++s, "0123456789");

		if (decimals == 0 || decimals > 2)
			return false;
		v += (uint64_t)(s[0] - '0') * 10 + (decimals == 2 ? (uint64_t)(s[1] - '0') : 0);
		s += decimals;
	}
	if (*s == '%')
		s++;
	*share = v;
	return !*s;
}

static void read_share(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a share in per cent");
	uint64_t v;

	(void)k;
	if (!word)
		return;
	if (!parse_share(word, &v))
		read_error(r, n->pos, "'%s' is not a share in per cent (such as 30%% or 12.5%%)",
			   EXCERPT(word));
	else if (v == 0 || v > CLASSES_SHARE_ALL)
		read_error(r, n->pos, "%s is out of range (0.01%% to 100%%)", EXCERPT(word));
	else
		*(int32_t *)at = (int32_t)v;
}

static void read_priority(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	static const char *const words[] = { "low", "high", NULL };
	static const struct key choice = { .size = sizeof(uint32_t), .words = words };
	bool *high = at;
	uint32_t word = *high;

	(void)k;
	read_choice(r, n, &choice, &word);
	*high = word == 1;
}

static const struct key class_keys[] = {
	{ "level", read_names, FIELD(struct policy_class, level_names), .required = true },
	{ "priority", read_priority, FIELD(struct policy_class, high) },
	{ "share", read_share, FIELD(struct policy_class, share) },
	{ "high-limit", read_limit, FIELD(struct policy_class, high_limit) },
};

static void read_class(struct reader *r, const struct node *n, struct policy_class *c)
{
	const struct node *limit = node_get(n, "high-limit"), *priority = node_get(n, "priority");

	*c = (struct policy_class){ .pos = n->pos, .share = -1, .high_limit = -1 };
	read_map(r, n, class_keys, ARRAY_SIZE(class_keys), c);
	c->levels = xcalloc(c->level_names.n, sizeof(*c->levels));
	/* a priority that was refused is neither high nor low */
	if (limit && !c->high && (!priority || (priority->text && !strcmp(priority->text, "low"))))
		read_error(r, limit->pos, "'high-limit' is for classes of high priority");
}

static void try_classes(struct reader *r, const struct policy *p, bool shares)
{
	struct traffic_class c[CLASSES_MAX];
	const char *wrong;
	unsigned at = 0;

	for (size_t i = 0; i < p->n_classes; i++)
		c[i] = (struct traffic_class){
			.high = p->classes[i].high,
			.share = shares ? p->classes[i].share : -1,
			.high_limit = shares ? -1 : p->classes[i].high_limit,
		};
	wrong = classes_check(c, (unsigned)p->n_classes, &at);
	if (wrong)
		read_error(r, p->classes[at].pos, "%s", wrong);
}

static void read_class_list(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	size_t errors = r->out->count[SEV_ERROR], count;
	struct policy *p = at;
	const struct node *i = read_items(r, n, "traffic classes");

	(void)k;
	node_items(n, &count);
	p->classes = xcalloc(count, sizeof(*p->classes));
	for (; i; i = i->next) {
		if (p->n_classes == CLASSES_MAX)
			read_error(r, i->pos, "there can be at most %d traffic classes, one for each data "
				   "VL", CLASSES_MAX);
		read_class(r, i, &p->classes[p->n_classes++]);
	}
	if (r->out->count[SEV_ERROR] != errors || !p->n_classes)
		return;	/* the sum is meaningless if a share is unknown */
	/* each call reports one kind of problem only */
	try_classes(r, p, true);
	try_classes(r, p, false);
}

/* Reads a list of classes, or a map that also says which ports are exempt. */
void read_traffic_classes(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	static const struct key keys[] = {
		{ "except", read_names, FIELD(struct policy, classes_except) },
		{ "classes", read_class_list, WHOLE, .required = true },
	};

	if (node_get(n, "classes") || node_get(n, "except"))
		read_map(r, n, keys, ARRAY_SIZE(keys), at);
	else
		read_class_list(r, n, k, at);
}

/* --- traffic-classes or fabric-setup, not both --- */

/* The earlier position in the file; line 0 means none. */
static struct src_pos earlier(struct src_pos a, struct src_pos b)
{
	if (!a.line || !b.line)
		return a.line ? a : b;
	return a.line < b.line || (a.line == b.line && a.col < b.col) ? a : b;
}

/* Position of the first table of fabric-setup. */
static struct src_pos first_table(const struct policy *p)
{
	struct src_pos first = { 0 };

	for (int c = 0; c < PORT_CLASS_COUNT; c++) {
		const struct policy_class_default *d = &p->defaults[c];

		if (d->has_sl2vl || d->has_high || d->has_low || d->high_limit >= 0)
			first = earlier(first, d->pos);
	}
	if (p->n_sl2vl)
		first = earlier(first, p->sl2vl[0].pos);
	if (p->n_vlarb)
		first = earlier(first, p->vlarb[0].pos);
	return first;
}

/* --- the SL plan --- */

uint32_t *classes_of_levels(const struct policy *p)
{
	uint32_t *class_of = xcalloc(p->n_levels, sizeof(*class_of));

	memset(class_of, 0xff, p->n_levels * sizeof(*class_of));
	for (size_t c = 0; c < p->n_classes; c++)
		for (size_t k = 0; k < p->classes[c].level_names.n; k++)
			if (p->classes[c].levels[k] != UINT32_MAX)
				class_of[p->classes[c].levels[k]] = (uint32_t)c;
	return class_of;
}

/* Returns false if some class names an unknown level. */
static bool refuse_second_mention(struct reader *r, const struct policy *p)
{
	const struct policy_name **first = xcalloc(p->n_levels, sizeof(*first));
	bool known = true;

	for (size_t c = 0; c < p->n_classes; c++) {
		const struct policy_names *names = &p->classes[c].level_names;

		known &= names->n > 0;
		for (size_t k = 0; k < names->n; k++) {
			uint32_t level = p->classes[c].levels[k];

			if (level == UINT32_MAX)
				known = false;
			else if (first[level])
				read_error(r, names->v[k].pos, "the level '%s' is in a traffic "
					   "class already, at line %u",
					   EXCERPT(names->v[k].s), first[level]->pos.line);
			else
				first[level] = &names->v[k];
		}
	}
	free(first);
	return known;
}

struct plan {
	struct reader *r;
	struct policy *p;
	bool *has_sl;		/* [level] */
	unsigned taken;		/* bit mask of the SLs in use */
};

static void give_sl(struct plan *plan, uint32_t level, unsigned sl)
{
	plan->p->levels[level].sl = (uint8_t)sl;
	plan->has_sl[level] = true;
	plan->taken |= 1u << sl;
}

/* Gives the level the lowest free SL. */
static void plan_level(struct plan *plan, const struct policy_name *name, uint32_t level)
{
	if (level == UINT32_MAX || plan->has_sl[level])
		return;
	if (plan->taken != 0xffff)
		give_sl(plan, level, (unsigned)__builtin_ctz(~plan->taken));
	else
		read_error(plan->r, name->pos, "no SL is left for the level '%s'",
			   EXCERPT(name->s));
	plan->has_sl[level] = true;	/* reported once */
}

static void refuse_without_sl(const struct plan *plan)
{
	const struct policy *p = plan->p;

	for (uint32_t i = 0; i < p->n_levels; i++)
		if (!plan->has_sl[i])
			read_error(plan->r, p->levels[i].pos, i == p->default_level
				   ? "'sl' is missing: the level '%s' is in no traffic class, and SL 0 is "
				     "in use"
				   : "'sl' is missing: the level '%s' is in no traffic class",
				   EXCERPT(p->levels[i].name));
}

static void plan_sls(struct reader *r, struct policy *p, bool classes_known)
{
	struct plan plan = { .r = r, .p = p, .has_sl = xcalloc(p->n_levels, sizeof(bool)) };

	for (uint32_t i = 0; i < p->n_levels; i++)
		if (p->levels[i].sl_given)
			give_sl(&plan, i, p->levels[i].sl);
	if (!plan.has_sl[p->default_level] && !(plan.taken & 1))
		give_sl(&plan, p->default_level, 0);
	for (size_t c = 0; c < p->n_classes; c++)
		for (size_t k = 0; k < p->classes[c].level_names.n; k++)
			plan_level(&plan, &p->classes[c].level_names.v[k], p->classes[c].levels[k]);
	if (classes_known)
		refuse_without_sl(&plan);
	free(plan.has_sl);
}

static uint32_t fallback_class(const struct policy *p)
{
	uint32_t *class_of = classes_of_levels(p), c = class_of[p->default_level];

	free(class_of);
	if (c != UINT32_MAX)
		return c;
	for (c = (uint32_t)p->n_classes; c > 0; c--)
		if (!p->classes[c - 1].high)
			return c - 1;
	return (uint32_t)p->n_classes - 1;
}

static void assign_sls(struct reader *r, struct policy *p)
{
	uint32_t owner[IB_SL_COUNT];	/* [SL]: its level */

	memset(owner, 0xff, sizeof(owner));
	p->fallback_class = fallback_class(p);
	memset(p->class_of_sl, (int)p->fallback_class, sizeof(p->class_of_sl));
	for (size_t c = 0; c < p->n_classes; c++)
		for (size_t k = 0; k < p->classes[c].level_names.n; k++) {
			uint32_t level = p->classes[c].levels[k];
			unsigned sl = p->levels[level].sl;

			if (owner[sl] != UINT32_MAX && p->class_of_sl[sl] != c)
				read_error(r, p->classes[c].level_names.v[k].pos, "the level '%s' has SL "
					   "%u, as does the level '%s' of another class",
					   EXCERPT(p->levels[level].name), sl,
					   EXCERPT(p->levels[owner[sl]].name));
			owner[sl] = level;
			p->class_of_sl[sl] = (uint8_t)c;
		}
}

void check_classes(struct reader *r, struct policy *p)
{
	size_t errors = r->out->count[SEV_ERROR];
	bool known = refuse_second_mention(r, p);
	struct src_pos table;

	plan_sls(r, p, known);
	if (p->n_classes && known && r->out->count[SEV_ERROR] == errors)
		assign_sls(r, p);
	table = first_table(p);
	if (p->n_classes && !p->classes_except.n && table.line)
		read_error(r, p->classes[0].pos, "traffic-classes and the tables of fabric-setup (line %u) "
			   "exclude each other, except for tables with 'except'", table.line);
}
