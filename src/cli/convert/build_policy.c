/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds groups, levels, rules and scopes from a policy's tree.  Tables say what each section may
 * hold; the XML of 2006 uses other words for some of it.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "cli/convert/policy_tree.h"
#include "lib/iba/iba.h"
#include "lib/iba/units.h"

#define CONF	1u
#define XML	2u
#define BOTH	(CONF | XML)

struct builder {
	struct converted *c;
	unsigned format;
	bool idle;		/* OpenSM does not apply what this section says */
};

/* Destination of a value: a field of the item, and the item's notes. */
struct target {
	const struct tree *t;
	struct notes *notes;
	void *field;
};

typedef void read_field_fn(struct builder *b, const struct target *to);

struct field {
	const char *key;
	read_field_fn *read;
	size_t offset;
	unsigned formats;
	bool list;		/* may occur more than once */
};

/* --- values --- */

static void read_text(struct builder *b, const struct target *to)
{
	*(const char **)to->field = item_text(b->c, to->t->value);
}

static void read_name(struct builder *b, const struct target *to)
{
	const char *name = item_text(b->c, to->t->value);

	if (*name)
		*(const char **)to->field = name;
	else
		say_error(b->c, to->t->at, "'%s' is empty", to->t->key);
}

static void read_reference(struct builder *b, const struct target *to)
{
	struct word *w = to->field;

	read_name(b, &(struct target){ to->t, to->notes, &w->s });
	w->at = to->t->value.at;
}

static void read_words(struct builder *b, const struct target *to)
{
	struct words *words = to->field;
	struct item i;
	size_t items = 0;

	for (struct cursor l = to->t->value; next_item(&l, &i); items++) {
		const char *text = item_text(b->c, i.text);

		if (*text)
			add_word(words, text, i.text.at);
		else
			say_error(b->c, i.text.at, "'%s': the name is missing", to->t->key);
	}
	if (!items)
		say_error(b->c, to->t->at, "'%s' is empty", to->t->key);
}

static void read_service_ids(struct builder *b, const struct target *to)
{
	static const struct limits service_id = { UINT64_MAX, "a Service-ID" };

	read_ranges(b->c, to->notes, to->t->value, &service_id, to->field);
}

/* OpenSM iterates over every value of a range each time that it reads the file. */
#define WIDE_RANGE	(1u << 20)

static void read_guids(struct builder *b, const struct target *to)
{
	static const struct limits guid = { UINT64_MAX, "a GUID" };
	struct ranges *guids = to->field;
	size_t before = guids->n;

	read_ranges(b->c, to->notes, to->t->value, &guid, guids);
	for (size_t i = before; i < guids->n; i++)
		if (guids->v[i].hi - guids->v[i].lo >= WIDE_RANGE)
			verdict(b->c, to->notes, VERDICT_SAME, to->t->value.at,
			    "%#" PRIx64 "-%#" PRIx64 ": OpenSM looks up each of these GUIDs in "
			    "each sweep; qosd compares the ends", guids->v[i].lo, guids->v[i].hi);
}

static void read_pkeys(struct builder *b, const struct target *to)
{
	static const struct limits pkey = { UINT16_MAX, "a P_Key" };

	read_ranges(b->c, to->notes, to->t->value, &pkey, to->field);
	mask_pkeys(to->field);
}

static void read_qos_classes(struct builder *b, const struct target *to)
{
	static const struct limits qos_class = { 0xfff, "a QoS class" };

	read_ranges(b->c, to->notes, to->t->value, &qos_class, to->field);
}

static void read_tclasses(struct builder *b, const struct target *to)
{
	static const struct limits tclass = { 0xff, "a traffic class" };

	read_ranges(b->c, to->notes, to->t->value, &tclass, to->field);
}

/* A rule of the design of 2006 may match by the SL that the query asks for. */
static void read_sls(struct builder *b, const struct target *to)
{
	static const struct limits sl = { 15, "an SL" };

	read_ranges(b->c, to->notes, to->t->value, &sl, to->field);
}

static void read_int(struct builder *b, const struct target *to, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (read_number(b->c, to->t->value, min, max, to->t->key, &v))
		*(int *)to->field = (int)v;
}

static void read_sl(struct builder *b, const struct target *to)
{
	uint64_t v;

	if (read_number(b->c, to->t->value, 0, UINT64_MAX, "sl", &v) && v > 15)
		say_error(b->c, to->t->value.at, "sl: %" PRIu64 " is out of range (0 to 15)%s", v,
			  b->format == CONF ? "; OpenSM accepts it, and then finds no path" : "");
	*(int *)to->field = (int)(v & 15);
}

static void read_mtu(struct builder *b, const struct target *to)
{
	read_int(b, to, 1, 5);
}

static void read_rate(struct builder *b, const struct target *to)
{
	uint64_t v;

	if (!read_number(b->c, to->t->value, 0, UINT64_MAX, to->t->key, &v))
		return;
	if (v <= UINT8_MAX && rate_tenths((unsigned)v))
		*(int *)to->field = (int)v;
	else
		say_error(b->c, to->t->value.at, "%s: %" PRIu64 " is not the code of a rate "
			  "(2 to 24)", to->t->key, v);
}

static void read_lifetime(struct builder *b, const struct target *to)
{
	read_int(b, to, 0, 31);
}

static void read_tclass(struct builder *b, const struct target *to)
{
	read_int(b, to, 0, 255);
}

static void read_high_limit(struct builder *b, const struct target *to)
{
	read_int(b, to, 0, 255);
}

static void read_path_bits(struct builder *b, const struct target *to)
{
	static const struct limits path_bits = { 127, "a number of path bits" };
	struct ranges *bits = to->field;

	if (!read_ranges(b->c, to->notes, to->t->value, &path_bits, bits))
		return;
	if (b->format == CONF)
		verdict(b->c, to->notes, VERDICT_OTHERWISE, to->t->at,
		    "OpenSM reads path-bits but does not use them; qosd does where the LMC is not 0");
	if (bits->n > 1 || bits->v[0].lo != bits->v[0].hi)
		verdict(b->c, to->notes, VERDICT_NOT_POSSIBLE, to->t->value.at,
			"a level of qosd has one value of path-bits: the first one, %" PRIu64
			", remains", bits->v[0].lo);
}

/*
 * The design of 2006 joins the first two words of the NodeDescription and the port: "vs1/HCA-1/P1".  True
 * for such a name; the description may go on after the two words.
 */
static bool take_three_words(struct builder *b, const struct target *to, const struct item *i,
			     struct words *names)
{
	const char *text = item_text(b->c, i->text), *node = strpbrk(text, "/ \t");
	const char *adapter = node ? node + 1 + strspn(node + 1, " \t") : NULL;
	const char *end = adapter ? strpbrk(adapter, "/ \t") : NULL;
	const char *number = end ? end + 1 + strspn(end + 1, " \t") : NULL;
	uint64_t port;
	const char *name;

	if (!number)
		return false;
	if (!strncasecmp(number, "port", 4))
		number += 4;
	else if (*number == 'P' || *number == 'p')
		number++;
	else
		return false;
	if (node == text || end == adapter || !parse_number(number, &port) || port < 1 || port > 254)
		return false;
	name = keepf(b->c, "%.*s %.*s", (int)(node - text), text, (int)(end - adapter), adapter);
	add_word(names, keepf(b->c, "%s/P%" PRIu64, name, port), i->text.at);
	add_word(names, keepf(b->c, "%s */P%" PRIu64, name, port), i->text.at);
	verdict(b->c, to->notes, VERDICT_SAME, i->text.at,
		"'%s': port %" PRIu64 " of the nodes whose description begins with the words '%s'", SHOW(text),
		port, SHOW(name));
	return true;
}

/* "NodeDescription/Pn" */
static void read_port_names(struct builder *b, const struct target *to)
{
	struct words *names = to->field;
	struct item i;
	size_t items = 0;

	for (struct cursor l = to->t->value; next_item(&l, &i); items++) {
		const char *text = item_text(b->c, i.text), *slash = strrchr(text, '/');
		uint64_t port;

		if (b->format == XML && take_three_words(b, to, &i, names))
			continue;
		if (!slash || slash == text || (slash[1] != 'P' && slash[1] != 'p') ||
		    !parse_number(slash + 2, &port) || port < 1 || port > 254) {
			say_error(b->c, i.text.at, "'%s' is not a port name: NodeDescription/Pn",
				  SHOW(text));
			continue;
		}
		if (strpbrk(text, "*?"))
			verdict(b->c, to->notes, VERDICT_OTHERWISE, i.text.at,
			    "'%s': '*' and '?' are wildcards in qosd, but plain characters in OpenSM",
			    SHOW(text));
		if (b->format == CONF && !i.quoted && strpbrk(text, " \t"))
			verdict(b->c, to->notes, VERDICT_OTHERWISE, i.text.at,
			    "'%s': OpenSM drops blanks outside quotes and so does not find this port; qosd "
			    "does", SHOW(text));
		add_word(names, keepf(b->c, "%.*s/P%" PRIu64, (int)(slash - text), text, port),
			 i.text.at);
	}
	if (!items)
		say_error(b->c, to->t->at, "'%s' is empty", to->t->key);
}

static void read_node_types(struct builder *b, const struct target *to)
{
	static const struct { const char *word; unsigned bits; } types[] = {
		{ "ca", NODE_CA }, { "hca", NODE_CA }, { "switch", NODE_SWITCH },
		{ "router", NODE_ROUTER }, { "self", NODE_SELF },
		{ "all", NODE_CA | NODE_SWITCH | NODE_ROUTER },
	};
	struct item i;
	size_t items = 0;

	for (struct cursor l = to->t->value; next_item(&l, &i); items++) {
		const char *text = item_text(b->c, i.text);
		size_t t = 0;

		while (t < ARRAY_SIZE(types) && strcasecmp(types[t].word, text))
			t++;
		if (t < ARRAY_SIZE(types))
			*(unsigned *)to->field |= types[t].bits;
		else
			say_error(b->c, i.text.at, "'%s' is not one of: CA, SWITCH, ROUTER, ALL, SELF",
				  SHOW(text));
	}
	if (!items)
		say_error(b->c, to->t->at, "'%s' is empty", to->t->key);
}

/* --- tables --- */

static void read_sl2vl(struct builder *b, const struct target *to)
{
	struct sl2vl_table *table = to->field;
	struct item i;
	size_t n = 0;

	for (struct cursor l = to->t->value; next_item(&l, &i); n++) {
		uint64_t vl;

		if (read_number(b->c, i.text, 0, 15, "VL", &vl) && n < 16)
			table->vl[n] = (uint8_t)vl;
	}
	if (n != 16)
		say_error(b->c, to->t->value.at, "%s has %zu entries; it must have 16, one for "
			  "each SL", to->t->key, n);
	table->given = true;
}

static void read_arb(struct builder *b, const struct target *to)
{
	struct arb *arb = to->field;
	struct item i;

	arb->given = true;
	for (struct cursor l = to->t->value; next_item(&l, &i);) {
		const char *text = item_text(b->c, i.text), *colon = strchr(text, ':');
		uint64_t vl, weight;

		if (!colon || !parse_number(keep(b->c, text, (size_t)(colon - text)), &vl) ||
		    !parse_number(colon + 1, &weight))
			say_error(b->c, i.text.at, "'%s' is not an arbitration entry, VL:weight",
				  SHOW(text));
		else if (vl > 14)
			say_error(b->c, i.text.at, "%s: VL %" PRIu64 " cannot be arbitrated "
				  "(0 to 14)", SHOW(text), vl);
		else if (weight > 255)
			say_error(b->c, i.text.at, "%s: the weight is out of range (0 to 255)",
				  SHOW(text));
		else
			*vec_push(arb) = (struct arb_entry){ (uint8_t)vl, (uint8_t)weight };
	}
	if (arb->n > 64)
		say_error(b->c, to->t->value.at, "%s has %zu entries; the maximum is 64", to->t->key,
			  arb->n);
}

/* Reads "*" or a list of port numbers. */
static void read_ports(struct builder *b, const struct target *to, bool *all)
{
	static const struct limits port = { 254, "a port number" };

	if (!strcmp(item_text(b->c, to->t->value), "*"))
		*all = true;
	else
		read_ranges(b->c, to->notes, to->t->value, &port, to->field);
}

static void read_from(struct builder *b, const struct target *to)
{
	struct out_scope *s = to->field;

	read_ports(b, &(struct target){ to->t, to->notes, &s->from }, &s->from_all);
}

static void read_to(struct builder *b, const struct target *to)
{
	struct out_scope *s = to->field;

	read_ports(b, &(struct target){ to->t, to->notes, &s->to }, &s->to_all);
}

/* Keeps the number of an XML rule as a comment, as it has no effect. */
static void read_rule_number(struct builder *b, const struct target *to)
{
	remark(b->c, to->notes, "rule %s", item_text(b->c, to->t->value));
}

/* --- items --- */

#define AT(type, member) offsetof(struct type, member)

static const struct field group_fields[] = {
	{ "name", read_name, AT(out_group, name), BOTH, false },
	{ "use", read_text, AT(out_group, description), BOTH, false },
	{ "port-guid", read_guids, AT(out_group, guids), BOTH, true },
	{ "port-name", read_port_names, AT(out_group, port_names), BOTH, true },
	{ "pkey", read_pkeys, AT(out_group, pkeys), BOTH, true },
	{ "partition", read_words, AT(out_group, partitions), BOTH, true },
	{ "node-type", read_node_types, AT(out_group, node_types), BOTH, true },
};

static const struct field level_fields[] = {
	{ "name", read_name, AT(out_level, name), BOTH, false },
	{ "sn", read_name, AT(out_level, name), XML, false },
	{ "use", read_text, AT(out_level, description), BOTH, false },
	{ "sl", read_sl, AT(out_level, sl), BOTH, false },
	{ "mtu-limit", read_mtu, AT(out_level, mtu), BOTH, false },
	{ "rate-limit", read_rate, AT(out_level, rate), BOTH, false },
	{ "packet-life", read_lifetime, AT(out_level, lifetime), BOTH, false },
	{ "path-bits", read_path_bits, AT(out_level, path_bits), BOTH, true },
	{ "pkey", read_pkeys, AT(out_level, pkeys), BOTH, true },
	{ "tclass", read_tclass, AT(out_level, tclass), XML, false },
};

static const struct field rule_fields[] = {
	{ "sn", read_rule_number, 0, XML, false },
	{ "use", read_text, AT(out_rule, description), BOTH, false },
	{ "qos-class", read_qos_classes, AT(out_rule, qos_classes), BOTH, true },
	{ "tclass", read_tclasses, AT(out_rule, tclasses), XML, true },
	{ "source", read_words, AT(out_rule, source), BOTH, true },
	{ "destination", read_words, AT(out_rule, destination), BOTH, true },
	{ "service-id", read_service_ids, AT(out_rule, service_ids), BOTH, true },
	{ "service", read_service_ids, AT(out_rule, service_ids), XML, true },
	{ "pkey", read_pkeys, AT(out_rule, pkeys), BOTH, true },
	{ "sl", read_sls, AT(out_rule, sls), XML, true },
	{ "qos-level-name", read_reference, AT(out_rule, level), BOTH, false },
	{ "match-level", read_reference, AT(out_rule, level), XML, false },
};

static const struct field sl2vl_fields[] = {
	{ "use", read_text, AT(out_scope, description), XML, false },
	{ "group", read_words, AT(out_scope, groups), BOTH, true },
	{ "across", read_words, AT(out_scope, across), BOTH, true },
	{ "across-to", read_words, AT(out_scope, across_to), BOTH, true },
	{ "across-from", read_words, AT(out_scope, across_from), BOTH, true },
	{ "from", read_from, 0, BOTH, true },
	{ "to", read_to, 0, BOTH, true },
	{ "sl2vl-table", read_sl2vl, AT(out_scope, table), BOTH, false },
};

static const struct field vlarb_fields[] = {
	{ "use", read_text, AT(out_scope, description), XML, false },
	{ "group", read_words, AT(out_scope, groups), BOTH, true },
	{ "across", read_words, AT(out_scope, across), BOTH, true },
	{ "to", read_to, 0, BOTH, true },
	{ "vlarb-high", read_arb, AT(out_scope, high), BOTH, true },
	{ "vlarb-low", read_arb, AT(out_scope, low), BOTH, true },
	{ "vl-high-limit", read_high_limit, AT(out_scope, high_limit), BOTH, false },
};

static const struct field *find_field(const struct field *fields, size_t n, unsigned format,
				      const char *key)
{
	for (size_t i = 0; i < n; i++)
		if ((fields[i].formats & format) && !strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

/* Verdicts and errors; what was read without any has none of its own. */
static size_t verdicts_so_far(const struct converted *c)
{
	size_t n = 0;

	for (int v = 0; v < VERDICTS; v++)
		n += c->found.count[v];
	return n;
}

/* Stores an item's values in its struct; each key sets its fields at most once. */
static void read_fields(struct builder *b, const struct tree *item, const struct field *fields,
			size_t n, void *at, struct notes *notes)
{
	uint32_t seen = 0;

	for (const struct tree *t = item->child; t; t = t->next) {
		const struct field *f = find_field(fields, n, b->format, t->key);

		if (!f) {
			say_error(b->c, t->at, "'%s' has no '%s'", item->key, SHOW(t->key));
			continue;
		}
		if (t->section) {
			say_error(b->c, t->at, "'%s' has a value but no content", t->key);
			continue;
		}
		uint32_t bit = 1u << (f - fields);

		if ((seen & bit) && !f->list) {
			say_error(b->c, t->at, "'%s' is given more than once", t->key);
			continue;
		}
		seen |= bit;
		size_t verdicts = verdicts_so_far(b->c);

		f->read(b, &(struct target){ t, notes, (char *)at + f->offset });
		if (verdicts_so_far(b->c) == verdicts)
			verdict(b->c, NULL, b->idle ? VERDICT_OTHERWISE : VERDICT_SAME, t->at,
				"%s: %s%s", t->key, SHOW(item_text(b->c, t->value)),
				b->idle ? ": applies" : "");
	}
}
#define READ(b, item, fields, at) \
	read_fields(b, item, fields, ARRAY_SIZE(fields), at, &(at)->notes)

static void build_group(struct builder *b, const struct tree *t)
{
	struct out_group *g = add_group(b->c, t->at);

	READ(b, t, group_fields, g);
	if (!g->name)
		say_error(b->c, t->at, "this port-group has no name");
}

static void build_level(struct builder *b, const struct tree *t)
{
	struct out_level *l = add_level(b->c, t->at);

	READ(b, t, level_fields, l);
	if (!l->name)
		say_error(b->c, t->at, "this qos-level has no %s",
			  b->format == XML ? "sn" : "name");
	if (l->sl < 0)
		say_error(b->c, t->at, "this qos-level has no sl");
}

static void build_rule(struct builder *b, const struct tree *t)
{
	struct out_rule *r = add_rule(&b->c->rules, t->at);

	READ(b, t, rule_fields, r);
	if (!r->level.s)
		say_error(b->c, t->at, "this qos-match-rule has no %s",
			  b->format == XML ? "match-level" : "qos-level-name");
}

static void say_not_applied(struct builder *b, struct out_scope *s)
{
	b->idle = b->format == CONF;
	if (!b->idle || b->c->setup_said)
		return;
	b->c->setup_said = true;
	verdict(b->c, &s->notes, VERDICT_OTHERWISE, s->at,
	    "OpenSM reads qos-setup but does not apply it; qosd does");
}

static void build_sl2vl(struct builder *b, const struct tree *t)
{
	struct out_scope *s = add_scope(&b->c->sl2vl, t->at);

	say_not_applied(b, s);
	READ(b, t, sl2vl_fields, s);
	b->idle = false;
	if (!s->groups.n && !s->across.n && !s->across_to.n && !s->across_from.n)
		say_error(b->c, t->at, "this sl2vl-scope has neither 'group' nor 'across'");
	if (!s->table.given)
		say_error(b->c, t->at, "this sl2vl-scope has no sl2vl-table");
}

static void build_vlarb(struct builder *b, const struct tree *t)
{
	struct out_scope *s = add_scope(&b->c->vlarb, t->at);

	say_not_applied(b, s);
	READ(b, t, vlarb_fields, s);
	b->idle = false;
	if (!s->groups.n && !s->across.n)
		say_error(b->c, t->at, "this vlarb-scope has neither 'group' nor 'across'");
	if (!s->high.given && !s->low.given && s->high_limit < 0)
		say_error(b->c, t->at, "this vlarb-scope has no tables and no limit");
}

/* --- sections --- */

static const struct {
	const char *key;
	void (*build)(struct builder *b, const struct tree *t);
} items[] = {
	{ "port-group", build_group }, { "qos-level", build_level },
	{ "qos-match-rule", build_rule }, { "sl2vl-scope", build_sl2vl },
	{ "vlarb-scope", build_vlarb },
};

static void build_section(struct builder *b, const struct tree *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		if (!strcmp(items[i].key, t->key)) {
			items[i].build(b, t);
			return;
		}
	for (const struct tree *child = t->child; child; child = child->next) {
		const char *parent = section_parent(child->key);

		/* a misplaced section was reported when it was read, or is reported here */
		if (!parent || (b->format == XML && strcmp(parent, t->key)))
			say_error(b->c, child->at, "'%s' does not belong %s%s%s", SHOW(child->key),
				  *t->key ? "into '" : "here", t->key, *t->key ? "'" : "");
		if (parent)
			build_section(b, child);
	}
}

void build_policy(struct converted *c, const struct tree *root, enum convert_format format)
{
	struct builder b = { c, format == FORMAT_XML ? XML : CONF, false };

	build_section(&b, root);
}

/* --- qos-ulps --- */

enum ulp_kind { BY_PORT, BY_SERVICE_ID, BY_PKEY, BY_TARGET, BY_SOURCE, BY_EITHER };

static const struct ulp {
	const char *name, *option;	/* option NULL: the line is "name: SL" */
	enum ulp_kind kind;
	const char *ulp;		/* ulp of the rule */
	/* the port or P_Key that OpenSM takes, where the ulp alone means more to qosd; 0: the same */
	uint16_t only;
} ulps[] = {
	{ "sdp", NULL, BY_PORT, "sdp", 0 }, { "sdp", "port-num", BY_PORT, "sdp", 0 },
	{ "rds", NULL, BY_PORT, "rds", 0x48ca }, { "rds", "port-num", BY_PORT, "rds", 0 },
	{ "iser", NULL, BY_PORT, "iser", 0 }, { "iser", "port-num", BY_PORT, "iser", 0 },
	{ "srp", "target-port-guid", BY_TARGET, "srp", 0 },
	{ "ipoib", NULL, BY_PKEY, "ipoib", IB_PKEY_DEFAULT }, { "ipoib", "pkey", BY_PKEY, "ipoib", 0 },
	{ "any", "service-id", BY_SERVICE_ID, NULL, 0 }, { "any", "pkey", BY_PKEY, NULL, 0 },
	{ "any", "target-port-guid", BY_TARGET, NULL, 0 },
	{ "any", "source-port-guid", BY_SOURCE, NULL, 0 },
	{ "any", "source-target-port-guid", BY_EITHER, NULL, 0 },
};

static const struct ulp *find_ulp(const char *name, const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(ulps); i++)
		if (!strcasecmp(ulps[i].name, name) && !ulps[i].option == !option &&
		    (!option || !strcmp(ulps[i].option, option)))
			return &ulps[i];
	return NULL;
}

/* Adds a group wherever OpenSM makes one, too. */
static void add_guid_group(struct builder *b, struct out_rule *r, enum ulp_kind kind,
			   const struct tree *t)
{
	struct out_group *g = add_group(b->c, t->at);

	g->name = keepf(b->c, "%s-of-line-%u", kind == BY_SOURCE ? "sources" : "ends",
			t->at.pos.line);
	g->description = "Generated from a rule of qos-ulps";
	read_guids(b, &(struct target){ t, &r->notes, &g->guids });
	add_word(kind == BY_SOURCE ? &r->source : &r->either, g->name, t->at);
	if (kind == BY_EITHER)
		verdict(b->c, &r->notes, VERDICT_OTHERWISE, t->at,
		    "source-target-port-guid: OpenSM's manual says source or target, but its code requires "
		    "both, so the rule matches only between these ports; here, either end matches");
}

static void read_ulp_option(struct builder *b, struct out_rule *r, const struct ulp *ulp,
			    const struct tree *t)
{
	static const struct limits port = { UINT16_MAX, "a TCP port" };

	switch (ulp->kind) {
	case BY_PORT:
		read_ranges(b->c, &r->notes, t->value, &port, &r->tcp_ports);
		break;
	case BY_SERVICE_ID:
		read_service_ids(b, &(struct target){ t, &r->notes, &r->service_ids });
		break;
	case BY_PKEY:
		read_pkeys(b, &(struct target){ t, &r->notes, &r->pkeys });
		break;
	case BY_TARGET:
		read_guids(b, &(struct target){ t, &r->notes, &r->target_guids });
		break;
	case BY_SOURCE:
	case BY_EITHER:
		add_guid_group(b, r, ulp->kind, t);
		break;
	}
}

static void build_default(struct converted *c, struct place at, int sl)
{
	if (c->default_sl.s)
		verdict(c, NULL, VERDICT_SAME, at,
		    "'default' is given more than once; the last one applies");
	else
		verdict(c, NULL, VERDICT_SAME, at, "the SL of queries that no rule matches: %d", sl);
	c->default_sl = (struct word){ "default", at };
	c->default_sl_value = sl;
}

void build_ulp(struct converted *c, struct cursor line)
{
	struct builder b = { c, CONF, false };
	const char *colon = line.end, *name, *option = NULL;
	struct tree t = { .at = line.at };
	struct cursor rest = line, sl_text = line;
	const struct ulp *ulp;
	struct out_rule *r;
	size_t verdicts = verdicts_so_far(c);
	uint64_t sl;

	/* ignore colons in comments */
	for (const char *p = line.s; p < line.end && *p != '#'; p++)
		if (*p == ':')
			colon = p;
	name = take_word(c, &rest, ",:#");
	if (rest.s < colon && *rest.s == ',') {
		cursor_skip(&rest, 1);
		cursor_skip_blanks(&rest);
		option = take_word(c, &rest, ",:#");
	}
	ulp = find_ulp(name, option);
	if (!ulp && (option || strcasecmp(name, "default"))) {
		say_error(c, line.at, "'%s%s%s' is not a rule of qos-ulps", SHOW(name),
			  option ? ", " : "", option ? SHOW(option) : "");
		return;
	}
	if (colon == line.end || rest.s > colon || (!option && rest.s != colon)) {
		say_error(c, line.at, "expected ': SL' after '%s'", SHOW(name));
		return;
	}
	cursor_skip(&sl_text, (size_t)(colon + 1 - line.s));
	t.key = option;
	t.value = cursor_part(rest, colon);
	sl_text = cursor_part(sl_text, line.end);
	if (!read_number(c, sl_text, 0, 15, "SL", &sl))
		sl = 0;
	if (!ulp) {
		build_default(c, line.at, (int)sl);
		return;
	}
	r = add_rule(&c->ulp_rules, line.at);
	r->ulp = ulp->ulp;
	r->simple_sl = (int)sl;
	if (option)
		read_ulp_option(&b, r, ulp, &t);
	if (ulp->only)
		add_range(ulp->kind == BY_PKEY ? &r->pkeys : &r->tcp_ports, ulp->only, ulp->only);
	if (verdicts_so_far(c) == verdicts)
		verdict(c, NULL, VERDICT_SAME, line.at, "%s", SHOW(item_text(c, line)));
}
