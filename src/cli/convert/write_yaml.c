/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the policy and the settings as commented YAML.  It quotes whatever could be misread, and passes all text
 * through add_clean(), so that the YAML is valid whatever was read.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/convert/split_text.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"

static const char *const class_names[OUT_CLASSES] = {
	"all", "ca", "switch-port-0", "switch", "router",
};

/* --- pieces --- */

static void put_indent(struct buf *b, unsigned indent)
{
	buf_printf(b, "%*s", (int)indent, "");
}

/* Prints a comment on a line of its own. */
static void put_comment(struct buf *b, unsigned indent, const char *text)
{
	put_indent(b, indent);
	buf_puts(b, "# ");
	add_clean(b, text);
	buf_puts(b, "\n");
}

static void put_notes(struct buf *b, unsigned indent, const struct notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		put_comment(b, indent, notes->v[i]);
}

static void put_place(struct buf *b, unsigned indent, struct place at)
{
	put_indent(b, indent);
	buf_puts(b, "# ");
	add_clean(b, at.file);
	if (at.pos.line)
		buf_printf(b, ":%u", at.pos.line);
	buf_puts(b, "\n");
}

/* True if every YAML parser reads the word as a string. */
static bool is_plain(const char *s)
{
	static const char *const words[] = {
		"true", "false", "null", "yes", "no", "on", "off", "y", "n",
	};
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!*s || !strchr(letters, *s))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(s, words[i]))
			return false;
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
	       strlen(s);
}

static void put_text(struct buf *b, const char *s)
{
	struct buf clean = { 0 };

	add_clean(&clean, s);
	buf_puts(b, "\"");
	for (const char *p = clean.s ? clean.s : ""; *p; p++) {
		if (*p == '"' || *p == '\\')
			buf_puts(b, "\\");
		buf_add(b, p, 1);
	}
	buf_puts(b, "\"");
	buf_free(&clean);
}

/* Prints a string, with quotes only if needed. */
static void put_string(struct buf *b, const char *s)
{
	if (is_plain(s))
		buf_puts(b, s);
	else
		put_text(b, s);
}

/* Prints a key before its value; the caller ends the line. */
static void put_key(struct buf *b, unsigned indent, const char *key)
{
	put_indent(b, indent);
	put_string(b, key);
	buf_puts(b, ": ");
}

/* Prints a key before a map on following lines, or with an empty map. */
static void put_map_key(struct buf *b, unsigned indent, const char *key, bool empty)
{
	put_indent(b, indent);
	put_string(b, key);
	buf_puts(b, empty ? ": {}\n" : ":\n");
}

#define LINE_WIDTH	90

/* A list that wraps its lines. */
struct list {
	struct buf *b;
	unsigned indent;
	size_t start, n;	/* start of the line; number of items */
};

static struct list begin_list(struct buf *b, unsigned indent, const char *key)
{
	struct list l = { b, indent + 2, b->n, 0 };

	put_key(b, indent, key);
	buf_puts(b, "[");
	return l;
}

static void next_of_list(struct list *l)
{
	if (l->n++)
		buf_puts(l->b, ",");
	if (l->b->n - l->start > LINE_WIDTH) {
		buf_puts(l->b, "\n");
		l->start = l->b->n;
		put_indent(l->b, l->indent);
	} else if (l->n > 1) {
		buf_puts(l->b, " ");
	}
}

static void end_list(struct list *l)
{
	buf_puts(l->b, "]\n");
}

static void put_words(struct buf *b, unsigned indent, const char *key, const struct words *words)
{
	struct list l;

	if (!words->n)
		return;
	l = begin_list(b, indent, key);
	for (size_t i = 0; i < words->n; i++) {
		next_of_list(&l);
		put_string(b, words->v[i].s);
	}
	end_list(&l);
}

/* HEX: hexadecimal where decimal would be long. */
enum number_format { DECIMAL, HEX, PKEY, GUID };

static void put_number(struct buf *b, enum number_format format, uint64_t v)
{
	switch (format) {
	case DECIMAL: buf_printf(b, "%" PRIu64, v); break;
	case HEX: buf_printf(b, v < 10000 ? "%" PRIu64 : "0x%" PRIx64, v); break;
	case PKEY: buf_printf(b, "0x%04" PRIx64, v); break;
	case GUID: buf_printf(b, "0x%016" PRIx64, v); break;
	}
}

static void put_ranges(struct buf *b, unsigned indent, const char *key, enum number_format format,
		       const struct ranges *ranges)
{
	struct list l;

	if (!ranges->n)
		return;
	l = begin_list(b, indent, key);
	for (size_t i = 0; i < ranges->n; i++) {
		next_of_list(&l);
		put_number(b, format, ranges->v[i].lo);
		if (ranges->v[i].hi != ranges->v[i].lo) {
			buf_puts(b, "-");
			put_number(b, format, ranges->v[i].hi);
		}
	}
	end_list(&l);
}

static void put_int(struct buf *b, unsigned indent, const char *key, int v)
{
	if (v >= 0) {
		put_key(b, indent, key);
		buf_printf(b, "%d\n", v);
	}
}

static void put_description(struct buf *b, unsigned indent, const char *text)
{
	if (text && *text) {
		put_key(b, indent, "description");
		put_text(b, text);
		buf_puts(b, "\n");
	}
}

/* --- groups --- */

static void put_node_types(struct buf *b, unsigned indent, unsigned types)
{
	/* a CA of other managers may be an aggregation node */
	static const char *const names[] = { "ca, aggregation", "switch", "router", "self" };
	struct list l;

	if (!types)
		return;
	l = begin_list(b, indent, "node-types");
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (types & 1u << i) {
			next_of_list(&l);
			buf_puts(b, names[i]);
		}
	end_list(&l);
}

static void put_group(struct buf *b, const struct out_group *g)
{
	put_place(b, 2, g->at);
	put_notes(b, 2, &g->notes);
	if (g->dropped)
		return;
	put_map_key(b, 2, g->name,
		    !g->guids.n && !g->port_names.n && !g->pkeys.n && !g->partitions.n &&
		    !g->node_types && !(g->description && *g->description));
	put_description(b, 4, g->description);
	put_ranges(b, 4, "port-guids", GUID, &g->guids);
	put_words(b, 4, "port-names", &g->port_names);
	put_ranges(b, 4, "pkeys", PKEY, &g->pkeys);
	put_words(b, 4, "partitions", &g->partitions);
	put_node_types(b, 4, g->node_types);
}

static void put_groups(struct buf *b, const struct converted *c)
{
	if (!c->groups.n)
		return;
	buf_puts(b, "\nport-groups:\n");
	for (size_t i = 0; i < c->groups.n; i++)
		put_group(b, &c->groups.v[i]);
}

/* --- partitions --- */

static void put_member(struct buf *b, const struct out_member *m)
{
	static const char *const memberships[] = { "limited", "full", "both" };

	put_indent(b, 6);
	switch (m->kind) {
	case MEMBER_OF_GROUP: put_string(b, m->group); break;
	case MEMBER_ALL: buf_puts(b, "all"); break;
	case MEMBER_SELF: buf_puts(b, "self"); break;
	case MEMBER_GUID: put_number(b, GUID, m->guid); break;
	}
	buf_printf(b, ": %s\n", memberships[m->membership]);
}

static bool is_broadcast(const struct out_partition *p, const struct out_mgroup *g)
{
	uint8_t mgid[16];

	mgid_of_broadcast(mgid, p->pkey, mgid_scope(g->mgid));
	return !memcmp(mgid, g->mgid, sizeof(mgid));
}

/* Whether two groups differ in nothing but the MGID. */
static bool are_alike(const struct out_mgroup *a, const struct out_mgroup *b)
{
	return a->level == b->level && a->qkey == b->qkey && a->flow_label == b->flow_label;
}

/* Puts the keys that all groups have; usual: the Q_Key of groups without `q-key`. */
static void put_mgroup_keys(struct buf *b, const struct out_mgroup *g, uint32_t usual)
{
	buf_puts(b, "level: ");
	put_string(b, g->level);
	if (g->qkey != usual)
		buf_printf(b, ", q-key: 0x%x", g->qkey);
	if (g->flow_label)
		buf_printf(b, ", flow-label: 0x%x", g->flow_label);
	buf_puts(b, "}\n");
}

/* Writes the broadcast groups that are like the first one. */
static const struct out_mgroup *put_ipoib(struct buf *b, const struct out_partition *p)
{
	const struct out_mgroup *first = NULL;
	uint16_t scopes = 0;
	const char *between = "";

	for (size_t i = 0; i < p->groups.n; i++) {
		const struct out_mgroup *g = &p->groups.v[i];

		if (!is_broadcast(p, g) || (first && !are_alike(first, g)))
			continue;
		first = first ? first : g;
		scopes |= (uint16_t)(1u << mgid_scope(g->mgid));
	}
	put_key(b, 4, "ipoib");
	if (!first) {
		buf_puts(b, "false\n");
		return NULL;
	}
	buf_puts(b, "{");
	if (scopes != 1u << SCOPE_LINK_LOCAL) {
		buf_puts(b, "scope: [");
		for (unsigned scope = 0; scope <= SCOPE_MAX; scope++)
			if (scopes >> scope & 1) {
				buf_printf(b, "%s%u", between, scope);
				between = ", ";
			}
		buf_puts(b, "], ");
	}
	put_mgroup_keys(b, first, IPOIB_QKEY);
	return first;
}

static void put_mgroups(struct buf *b, const struct out_partition *p)
{
	const struct out_mgroup *ipoib = put_ipoib(b, p);
	char mgid[INET6_ADDRSTRLEN];
	bool any = false;

	for (size_t i = 0; i < p->groups.n; i++) {
		const struct out_mgroup *g = &p->groups.v[i];

		if (ipoib && is_broadcast(p, g) && are_alike(ipoib, g))
			continue;
		if (!any)
			put_map_key(b, 4, "groups", false);
		any = true;
		buf_printf(b, "      - {mgid: \"%s\", ", inet_ntop(AF_INET6, g->mgid, mgid, sizeof(mgid)));
		put_mgroup_keys(b, g, mgid_is_ipoib(g->mgid) ? IPOIB_QKEY : 0);
	}
}

static void put_partition(struct buf *b, const struct out_partition *p)
{
	put_place(b, 2, p->at);
	put_notes(b, 2, &p->notes);
	put_map_key(b, 2, p->name, false);
	buf_printf(b, "    pkey: 0x%04x\n", p->pkey);
	if (p->members.n)
		put_map_key(b, 4, "members", false);
	else
		put_comment(b, 4, "no members");
	for (size_t i = 0; i < p->members.n; i++)
		put_member(b, &p->members.v[i]);
	if (p->level) {
		put_key(b, 4, "level");
		put_string(b, p->level);
		buf_puts(b, "\n");
	}
	put_mgroups(b, p);
}

static void put_partitions(struct buf *b, const struct converted *c)
{
	if (!c->partitions.n)
		return;
	buf_puts(b, "\npartitions:\n");
	for (size_t i = 0; i < c->partitions.n; i++)
		put_partition(b, &c->partitions.v[i]);
}

/* --- levels --- */

static void put_level(struct buf *b, const struct out_level *l)
{
	char rate[16];

	put_place(b, 2, l->at);
	put_notes(b, 2, &l->notes);
	if (l->dropped)
		return;
	put_map_key(b, 2, l->name, false);
	put_description(b, 4, l->description);
	put_int(b, 4, "sl", l->sl);
	if (l->mtu > 0)
		put_int(b, 4, "mtu-limit", (int)mtu_bytes((unsigned)l->mtu));
	if (l->rate > 0) {
		rate_text((unsigned)l->rate, rate, sizeof(rate));
		put_key(b, 4, "rate-limit");
		buf_printf(b, "%.*s\t# Gb/s\n", (int)strcspn(rate, " "), rate);
	}
	if (l->lifetime >= 0) {
		put_key(b, 4, "packet-lifetime");
		buf_printf(b, "iba:%d\t# %.6g s\n", l->lifetime,
			   lifetime_seconds((unsigned)l->lifetime));
	}
	if (l->path_bits.n)
		put_int(b, 4, "path-bits", (int)l->path_bits.v[0].lo);
	put_int(b, 4, "tclass", l->tclass);
	put_ranges(b, 4, "pkey", PKEY, &l->pkeys);
}

/* qosd takes a policy without any item for a file that a full disk has left empty. */
static void put_default_level(struct buf *b, const struct converted *c)
{
	if (c->groups.n || c->partitions.n || c->levels.n || c->has_defaults || c->sl2vl.n || c->vlarb.n)
		return;
	buf_puts(b, "\nqos-levels:\n");
	put_comment(b, 2, "nothing asks for more than the level that qosd has by itself");
	buf_puts(b, "  default:\n    sl: 0\n");
}

static void put_levels(struct buf *b, const struct converted *c)
{
	put_default_level(b, c);
	if (!c->levels.n)
		return;
	buf_puts(b, "\nqos-levels:\n");
	for (size_t i = 0; i < c->levels.n; i++)
		put_level(b, &c->levels.v[i]);
}

/* --- rules --- */

static void put_rule(struct buf *b, const struct out_rule *r)
{
	put_place(b, 2, r->at);
	put_notes(b, 2, &r->notes);
	buf_puts(b, "  - level: ");
	put_string(b, r->level.s);
	buf_puts(b, "\n");
	put_description(b, 4, r->description);
	put_words(b, 4, "source", &r->source);
	put_words(b, 4, "destination", &r->destination);
	put_words(b, 4, "either", &r->either);
	if (r->ulp)
		buf_printf(b, "    ulp: %s\n", r->ulp);
	put_ranges(b, 4, "tcp-port", DECIMAL, &r->tcp_ports);
	put_ranges(b, 4, "target-guid", GUID, &r->target_guids);
	put_ranges(b, 4, "service-id", HEX, &r->service_ids);
	put_ranges(b, 4, "qos-class", DECIMAL, &r->qos_classes);
	put_ranges(b, 4, "tclass", DECIMAL, &r->tclasses);
	put_ranges(b, 4, "pkey", PKEY, &r->pkeys);
	put_ranges(b, 4, "sl", DECIMAL, &r->sls);
}

static void put_rules(struct buf *b, const struct converted *c)
{
	if (!c->rules.n && !c->ulp_rules.n)
		return;
	buf_puts(b, "\nmatch-rules:\n");
	for (size_t i = 0; i < c->rules.n; i++)
		put_rule(b, &c->rules.v[i]);
	if (c->ulp_rules.n)
		put_comment(b, 2, "qos-ulps, which OpenSM evaluates after all other rules");
	for (size_t i = 0; i < c->ulp_rules.n; i++)
		put_rule(b, &c->ulp_rules.v[i]);
}

/* --- tables --- */

static void put_sl2vl(struct buf *b, unsigned indent, const char *key,
		      const struct sl2vl_table *table)
{
	if (!table->given)
		return;
	put_key(b, indent, key);
	for (unsigned sl = 0; sl < 16; sl++)
		buf_printf(b, "%s%u", sl ? ", " : "[", table->vl[sl]);
	buf_puts(b, "]\n");
}

static void put_arb(struct buf *b, unsigned indent, const char *key, const struct arb *arb)
{
	struct list l;

	if (!arb->given)
		return;
	l = begin_list(b, indent, key);
	for (size_t i = 0; i < arb->n; i++) {
		next_of_list(&l);
		buf_printf(b, "\"%u:%u\"", arb->v[i].vl, arb->v[i].weight);
	}
	end_list(&l);
}

static void put_defaults(struct buf *b, const struct converted *c)
{
	if (!c->has_defaults)
		return;
	buf_puts(b, "  defaults:\n");
	for (int i = 0; i < OUT_CLASSES; i++) {
		const struct out_default *d = &c->defaults[i];

		if (!d->given)
			continue;
		if (d->at.pos.line)
			put_place(b, 4, d->at);
		put_notes(b, 4, &d->notes);
		put_map_key(b, 4, class_names[i], !d->table.given && !d->high.given &&
						  !d->low.given && d->high_limit < 0);
		put_sl2vl(b, 6, "sl2vl", &d->table);
		put_arb(b, 6, "vlarb-high", &d->high);
		put_arb(b, 6, "vlarb-low", &d->low);
		put_int(b, 6, "high-limit", d->high_limit);
	}
}

static void put_ports(struct buf *b, const char *key, bool all, const struct ranges *ports)
{
	if (all)
		buf_printf(b, "      %s: \"*\"\n", key);
	else
		put_ranges(b, 6, key, DECIMAL, ports);
}

/* Prints one entry of a scope: of a group, or of the ports across one. */
static void put_entry(struct buf *b, const struct out_scope *s, const char *kind, const char *name)
{
	buf_printf(b, "    - %s: ", kind);
	put_string(b, name);
	buf_puts(b, "\n");
	if (s->table.given)
		put_ports(b, "from", s->from_all, &s->from);
	put_ports(b, "to", s->to_all, &s->to);
	put_sl2vl(b, 6, "table", &s->table);
	put_arb(b, 6, "high", &s->high);
	put_arb(b, 6, "low", &s->low);
	put_int(b, 6, "high-limit", s->high_limit);
}

static size_t entries_of(const struct out_scope *s)
{
	return s->groups.n + s->across.n + s->across_to.n;
}

static void put_scopes(struct buf *b, const char *key, const struct out_scopes *scopes)
{
	size_t entries = 0;

	for (size_t i = 0; i < scopes->n; i++)
		entries += entries_of(&scopes->v[i]);
	if (entries)
		buf_printf(b, "  %s:\n", key);
	for (size_t i = 0; i < scopes->n; i++) {
		const struct out_scope *s = &scopes->v[i];

		put_place(b, 4, s->at);
		if (s->description)
			put_comment(b, 4, s->description);
		put_notes(b, 4, &s->notes);
		for (size_t k = 0; k < s->groups.n; k++)
			put_entry(b, s, "group", s->groups.v[k].s);
		for (size_t k = 0; k < s->across.n; k++)
			put_entry(b, s, "across", s->across.v[k].s);
		for (size_t k = 0; k < s->across_to.n; k++)
			put_entry(b, s, "across", s->across_to.v[k].s);
	}
}

static void put_fabric_setup(struct buf *b, const struct converted *c)
{
	if (!c->has_defaults && !c->sl2vl.n && !c->vlarb.n)
		return;
	buf_puts(b, "\nfabric-setup:\n");
	if (c->has_options || c->has_policy) {
		put_comment(b, 2, "OpenSM folds VLs that a link does not have");
		buf_puts(b, "  unsupported-vl: fold\n");
	} else {
		put_comment(b, 2, "the design of 2006: packets for a VL that a link does not have are "
			    "dropped");
		buf_puts(b, "  unsupported-vl: drop\n");
	}
	put_defaults(b, c);
	put_scopes(b, "sl2vl", &c->sl2vl);
	put_scopes(b, "vlarb", &c->vlarb);
}

/* --- the whole --- */

static void put_sources(struct buf *b, const char *what, const struct convert_input *in, size_t n)
{
	buf_printf(b, "# %s of qosd, converted by qosd-ctl from\n", what);
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, "#   ");
		add_clean(b, in[i].name);
		buf_printf(b, " (%s)\n", convert_format_name(in[i].format));
	}
}

static void put_head(struct buf *b, const struct converted *c, const struct convert_input *in,
		     size_t n)
{
	size_t left = 0;

	put_sources(b, "Policy", in, n);
	for (enum verdict v = VERDICT_OTHERWISE; v < VERDICT_ERROR; v++)
		left += c->found.count[v];
	if (left)
		buf_puts(b, "#\n# What differs from before, or from what the files say:\n");
	for (size_t i = 0; i < c->found.n; i++) {
		struct buf line = { 0 };

		if (c->found.v[i].verdict == VERDICT_SAME)
			continue;
		left--;
		judged_format(&c->found.v[i], &line);
		buf_puts(b, "#   ");
		for (char *eol; line.s && (eol = strchr(line.s, '\n'));)
			*eol = eol[1] ? ' ' : '\0';
		add_clean(b, line.s ? line.s : "");
		buf_puts(b, "\n");
		buf_free(&line);
	}
	if (left)
		buf_printf(b, "#   ... and %zu more\n", left);
	if (c->settings.n && !c->options.settings_apart)
		buf_puts(b, "#\n# For qosd.yaml:\n");
	for (size_t i = 0; i < c->settings.n && !c->options.settings_apart; i++) {
		buf_puts(b, "#   ");
		add_clean(b, c->settings.v[i].s);
		buf_puts(b, "\n");
	}
}

void write_policy(const struct converted *c, const struct convert_input *in, size_t n,
		  struct buf *yaml)
{
	put_head(yaml, c, in, n);
	put_groups(yaml, c);
	put_partitions(yaml, c);
	put_levels(yaml, c);
	put_rules(yaml, c);
	put_fabric_setup(yaml, c);
}

void write_settings(const struct converted *c, const struct convert_input *in, size_t n,
		    struct buf *yaml)
{
	put_sources(yaml, "Settings", in, n);
	buf_puts(yaml, c->settings.n ? "\n" : "#\n# Nothing in them needs a setting.\n");
	for (size_t i = 0; i < c->settings.n; i++) {
		const struct word *line = &c->settings.v[i];

		add_clean(yaml, line->s);
		if (*line->at.file)
			put_place(yaml, 1, line->at);
		else
			buf_puts(yaml, "\n");
	}
}
