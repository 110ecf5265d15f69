/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the section fabric-setup: SL2VL and VL arbitration tables, their scopes, and defaults per
 * class of port.
 *
 * Scopes and class defaults hold the same tables, so one set of readers fills one struct for both.
 */
#include <stdio.h>
#include <string.h>

#include "config/conf_parts.h"
#include "lib/base/alloc.h"

/* One entry of sl2vl or vlarb. */
struct scope {
	struct policy_name group;
	struct port_list from, to;
	struct policy_class_default set;
};

/* Reads a table with one VL per SL. */
static void read_sl2vl(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_class_default *set = at;
	unsigned sl = 0;
	uint64_t vl;

	(void)k;
	if (n->kind == NODE_BAD)
		return;
	if (n->kind != NODE_LIST || n->n != IB_SL_COUNT) {
		read_error(r, n->pos, "expected a list of %d VLs, one for each SL, found %u",
			   IB_SL_COUNT, n->kind == NODE_LIST ? n->n : !n->null);
		return;
	}
	for (const struct node *i = n->child; i; i = i->next, sl++)
		if (read_number(r, i, 0, 15, &vl))
			set->sl2vl.vl[sl] = (uint8_t)vl;
	set->has_sl2vl = true;
	set->sl2vl_pos = n->pos;
}

/* Reads "vl:weight". */
static bool read_arb_entry(struct reader *r, const struct node *n, struct vlarb_entry *out)
{
	const char *word = read_word(r, n, "\"vl:weight\"");
	uint64_t vl, weight;
	char vl_word[8];
	size_t len;

	if (!word)
		return false;
	len = strcspn(word, ":");
	snprintf(vl_word, sizeof(vl_word), "%.*s", (int)len, word);
	if (!word[len] || len >= sizeof(vl_word) || !value_u64(vl_word, &vl) ||
	    !value_u64(word + len + 1, &weight)) {
		read_error(r, n->pos, "'%s' is not an arbitration entry \"vl:weight\"",
			   EXCERPT(word));
		return false;
	}
	if (vl >= IB_VL_DROP)
		read_error(r, n->pos, "%s: VL %s cannot be arbitrated (0 to 14)",
			   EXCERPT(word), vl_word);
	else if (weight > UINT8_MAX)
		read_error(r, n->pos, "%s: the weight is out of range (0 to 255)", EXCERPT(word));
	else
		*out = (struct vlarb_entry){ (uint8_t)vl, (uint8_t)weight };
	return vl < IB_VL_DROP && weight <= UINT8_MAX;
}

/* Reads VL arbitration entries; an empty list is an empty table. */
static uint8_t read_arb(struct reader *r, const struct node *n, struct vlarb_entry *entries)
{
	size_t count;
	uint8_t used = 0;

	if (n->kind == NODE_SCALAR && n->null)
		read_error(r, n->pos, "expected \"vl:weight\" entries, found nothing");
	for (const struct node *i = node_items(n, &count); i; i = i->next) {
		struct vlarb_entry e;

		if (!read_arb_entry(r, i, &e))
			continue;
		if (used == VLARB_ENTRIES_MAX) {
			read_error(r, i->pos, "an arbitration table has at most %d entries",
				   VLARB_ENTRIES_MAX);
			break;
		}
		entries[used++] = e;
	}
	return used;
}

static void read_high(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_class_default *set = at;

	(void)k;
	set->arb.n_high = read_arb(r, n, set->arb.high);
	set->has_high = true;
	set->high_pos = n->pos;
}

static void read_low(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_class_default *set = at;

	(void)k;
	set->arb.n_low = read_arb(r, n, set->arb.low);
	set->has_low = true;
	set->low_pos = n->pos;
}

static void read_high_limit(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_class_default *set = at;

	read_limit(r, n, k, &set->high_limit);
	if (set->high_limit >= 0)
		set->arb.high_limit = (uint8_t)set->high_limit;
}

static const struct key sl2vl_keys[] = {
	{ "group", read_name, FIELD(struct scope, group) },
	{ "across", read_name, FIELD(struct scope, group) },
	{ "from", read_ports, FIELD(struct scope, from) },
	{ "to", read_ports, FIELD(struct scope, to) },
	{ "table", read_sl2vl, FIELD(struct scope, set), .required = true },
};

static const struct key vlarb_keys[] = {
	{ "group", read_name, FIELD(struct scope, group) },
	{ "across", read_name, FIELD(struct scope, group) },
	{ "to", read_ports, FIELD(struct scope, to) },
	{ "high", read_high, FIELD(struct scope, set) },
	{ "low", read_low, FIELD(struct scope, set) },
	{ "high-limit", read_high_limit, FIELD(struct scope, set) },
};

static const struct key class_keys[] = {
	{ "sl2vl", read_sl2vl, WHOLE },
	{ "vlarb-high", read_high, WHOLE },
	{ "vlarb-low", read_low, WHOLE },
	{ "high-limit", read_high_limit, WHOLE },
	{ "max-vls", read_uint, FIELD(struct policy_class_default, max_vls), .min = 1, .max = 15 },
};

/* Reads where a table applies.  The caller owns s->group.s, which may be NULL. */
static enum scope_kind read_scope(struct reader *r, const struct node *n, const struct key *keys,
				  size_t n_keys, struct scope *s)
{
	const struct node *across = node_get(n, "across"), *group = node_get(n, "group");

	*s = (struct scope){ .from.all = true, .to.all = true, .set.high_limit = -1 };
	if (!read_map(r, n, keys, n_keys, s))
		return SCOPE_GROUP;
	if (group && across)
		read_error(r, across->pos, "'group' and 'across' exclude each other");
	else if (!group && !across)
		read_error(r, n->pos, "'group' or 'across' is missing");
	return across ? SCOPE_ACROSS : SCOPE_GROUP;
}

static void read_sl2vls(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy *p = at;
	size_t count;
	const struct node *i = node_items(n, &count);

	(void)k;
	p->sl2vl = xcalloc(count, sizeof(*p->sl2vl));
	for (; i; i = i->next) {
		struct scope s;
		enum scope_kind kind = read_scope(r, i, sl2vl_keys, ARRAY_SIZE(sl2vl_keys), &s);

		p->sl2vl[p->n_sl2vl++] = (struct policy_sl2vl){
			.pos = i->pos, .kind = kind, .group = s.group, .from = s.from, .to = s.to,
			.table_pos = s.set.sl2vl_pos, .table = s.set.sl2vl,
		};
	}
}

static void read_vlarbs(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy *p = at;
	size_t count;
	const struct node *i = node_items(n, &count);

	(void)k;
	p->vlarb = xcalloc(count, sizeof(*p->vlarb));
	for (; i; i = i->next) {
		struct scope s;
		enum scope_kind kind = read_scope(r, i, vlarb_keys, ARRAY_SIZE(vlarb_keys), &s);

		p->vlarb[p->n_vlarb++] = (struct policy_vlarb){
			.pos = i->pos, .kind = kind, .group = s.group, .to = s.to,
			.has_high = s.set.has_high, .has_low = s.set.has_low,
			.high_limit = s.set.high_limit, .arb = s.set.arb,
			.high_pos = s.set.high_pos, .low_pos = s.set.low_pos,
		};
		if (i->kind == NODE_MAP && !node_get(i, "high") && !node_get(i, "low") &&
		    !node_get(i, "high-limit"))
			read_error(r, i->pos, "'high', 'low' and 'high-limit' are all missing");
	}
}

static void read_class(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_class_default *set = at;

	(void)k;
	set->given = read_map(r, n, class_keys, ARRAY_SIZE(class_keys), set);
	set->pos = n->pos;
}

/* Fills what a class default does not set from `all`. */
static void merge_class(struct policy_class_default *c, const struct policy_class_default *all)
{
	if (!c->given)
		c->pos = all->pos;
	c->given = true;
	if (!c->has_sl2vl && all->has_sl2vl) {
		c->has_sl2vl = true;
		c->sl2vl = all->sl2vl;
		c->sl2vl_pos = all->sl2vl_pos;
	}
	if (!c->has_high && all->has_high) {
		c->has_high = true;
		c->arb.n_high = all->arb.n_high;
		memcpy(c->arb.high, all->arb.high, sizeof(c->arb.high));
		c->high_pos = all->high_pos;
	}
	if (!c->has_low && all->has_low) {
		c->has_low = true;
		c->arb.n_low = all->arb.n_low;
		memcpy(c->arb.low, all->arb.low, sizeof(c->arb.low));
		c->low_pos = all->low_pos;
	}
	if (c->high_limit < 0) {
		c->high_limit = all->high_limit;
		c->arb.high_limit = all->arb.high_limit;
	}
	if (!c->max_vls)
		c->max_vls = all->max_vls;
}

struct class_defaults {
	struct policy_class_default by_class[PORT_CLASS_COUNT], all;
};

static void read_defaults(struct reader *r, const struct node *n, const struct key *k, void *at)
{
#define CLASS_FIELD(c) FIELD(struct class_defaults, by_class[c])
	static const struct key keys[] = {
		{ "ca", read_class, CLASS_FIELD(CLASS_CA) },
		{ "router", read_class, CLASS_FIELD(CLASS_ROUTER) },
		{ "switch-port-0", read_class, CLASS_FIELD(CLASS_SWITCH_PORT0) },
		{ "switch", read_class, CLASS_FIELD(CLASS_SWITCH) },
		{ "all", read_class, FIELD(struct class_defaults, all) },
	};
	struct policy *p = at;
	struct class_defaults d = { .all.high_limit = -1 };

	(void)k;
	memcpy(d.by_class, p->defaults, sizeof(d.by_class));
	read_map(r, n, keys, ARRAY_SIZE(keys), &d);
	for (int c = 0; c < PORT_CLASS_COUNT; c++)
		if (d.all.given)
			merge_class(&d.by_class[c], &d.all);
	memcpy(p->defaults, d.by_class, sizeof(d.by_class));
}

void read_fabric_setup(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	/* in the order of enum unsupported_vl */
	static const char *const unsupported[] = { "drop", "fold", NULL };
	static const struct key keys[] = {
		{ "sl2vl", read_sl2vls, WHOLE },
		{ "vlarb", read_vlarbs, WHOLE },
		{ "defaults", read_defaults, WHOLE },
		{ "unsupported-vl", read_choice, FIELD(struct policy, unsupported_vl),
		  .words = unsupported },
	};
	struct policy *p = at;

	(void)k;
	p->has_fabric_setup = read_map(r, n, keys, ARRAY_SIZE(keys), p);
}
