/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Prints a policy in normal form: sections in a fixed order, one spelling per value, implied values
 * written out.  It parses to the same policy and prints as itself.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "config/conf.h"
#include "lib/base/alloc.h"
#include "lib/iba/mgid.h"
#include "lib/iba/units.h"

/* Separates items of a list or flow map: prints nothing before the first. */
static void separate(struct buf *out, bool *some)
{
	if (*some)
		buf_puts(out, ", ");
	*some = true;
}

/* True if every YAML parser reads the text as a string without quotes. */
static bool is_plain(const char *s)
{
	static const char *const taken[] = { "true", "false", "null", "yes", "no", "on", "off" };

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (!strcasecmp(s, taken[i]))
			return false;
	if (!isalpha((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("-_./", *s))
			return false;
	return true;
}

static void print_text(struct buf *out, const char *s)
{
	if (is_plain(s)) {
		buf_puts(out, s);
		return;
	}
	buf_puts(out, "\"");
	for (; *s; s++) {
		if (*s == '\n')
			buf_puts(out, "\\n");
		else if (*s == '\t')
			buf_puts(out, "\\t");
		else
			buf_printf(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
	}
	buf_puts(out, "\"");
}

static void print_names(struct buf *out, const struct policy_names *names)
{
	bool some = false;

	buf_puts(out, "[");
	for (size_t i = 0; i < names->n; i++) {
		separate(out, &some);
		print_text(out, names->v[i].s);
	}
	buf_puts(out, "]");
}

enum radix { DECIMAL, HEX, HEX4, GUID };

static void print_number(struct buf *out, uint64_t v, enum radix radix)
{
	switch (radix) {
	case DECIMAL: buf_printf(out, "%" PRIu64, v); break;
	case HEX: buf_printf(out, "0x%" PRIx64, v); break;
	case HEX4: buf_printf(out, "0x%04" PRIx64, v); break;
	case GUID: buf_printf(out, "0x%016" PRIx64, v); break;
	}
}

static void print_range(struct buf *out, const struct u64_range *range, enum radix radix)
{
	print_number(out, range->lo, radix);
	if (range->lo == range->hi)
		return;
	buf_puts(out, "-");
	print_number(out, range->hi, radix);
}

static void print_ranges(struct buf *out, const struct u64_ranges *ranges, enum radix radix)
{
	bool some = false;

	buf_puts(out, "[");
	for (size_t i = 0; i < ranges->n; i++) {
		separate(out, &some);
		print_range(out, &ranges->v[i], radix);
	}
	buf_puts(out, "]");
}

static void print_ports(struct buf *out, const struct port_list *l)
{
	bool some = false;

	if (l->all) {
		buf_puts(out, "\"*\"");
		return;
	}
	buf_puts(out, "[");
	for (unsigned num = 0; num <= IB_PORT_NUM_MAX; num++) {
		unsigned last = num;

		if (!port_list_has(l, num))
			continue;
		while (last < IB_PORT_NUM_MAX && port_list_has(l, last + 1))
			last++;
		separate(out, &some);
		buf_printf(out, num == last ? "%u" : "%u-%u", num, last);
		num = last;
	}
	buf_puts(out, "]");
}

/* Prints a key in a flow map. */
static void flow_key(struct buf *out, bool *some, const char *key)
{
	separate(out, some);
	buf_printf(out, "%s: ", key);
}

/* Prints a key in a flow map; or, if some is NULL, on a line of its own, two levels in. */
static void begin_key(struct buf *out, bool *some, const char *key)
{
	if (some)
		flow_key(out, some, key);
	else
		buf_printf(out, "    %s: ", key);
}

static void end_key(struct buf *out, const bool *some)
{
	if (!some)
		buf_puts(out, "\n");
}

/* The following print a key and its value, unless there is none. */

static void text_key(struct buf *out, bool *some, const char *key, const char *text)
{
	if (!text)
		return;
	begin_key(out, some, key);
	print_text(out, text);
	end_key(out, some);
}

static void names_key(struct buf *out, bool *some, const char *key,
		      const struct policy_names *names)
{
	if (!names->n)
		return;
	begin_key(out, some, key);
	print_names(out, names);
	end_key(out, some);
}

static void ranges_key(struct buf *out, bool *some, const char *key,
		       const struct u64_ranges *ranges, enum radix radix)
{
	if (!ranges->n)
		return;
	begin_key(out, some, key);
	print_ranges(out, ranges, radix);
	end_key(out, some);
}

static void number_key(struct buf *out, bool *some, const char *key, int value)
{
	if (value < 0)
		return;
	flow_key(out, some, key);
	buf_printf(out, "%d", value);
}

/* --- groups --- */

static void print_node_types(struct buf *out, unsigned types)
{
	static const char *const words[] = {
		[NT_CA] = "ca", [NT_SWITCH] = "switch", [NT_ROUTER] = "router",
		[NT_AGGREGATION] = "aggregation", [NT_SELF] = "self",
	};
	bool some = false;

	buf_puts(out, "[");
	if ((types & NT_ALL) == NT_ALL) {
		separate(out, &some);
		buf_puts(out, "all");
		types &= ~(unsigned)NT_ALL;
	}
	for (unsigned bit = NT_CA; bit <= NT_SELF; bit <<= 1)
		if (types & bit) {
			separate(out, &some);
			buf_puts(out, words[bit]);
		}
	buf_puts(out, "]\n");
}

static void print_group(struct buf *out, const struct policy_group *g)
{
	buf_puts(out, "  ");
	print_text(out, g->name);
	buf_puts(out, ":\n");
	text_key(out, NULL, "description", g->description);
	ranges_key(out, NULL, "port-guids", &g->port_guids, GUID);
	names_key(out, NULL, "port-names", &g->port_names);
	ranges_key(out, NULL, "pkeys", &g->pkeys, HEX4);
	names_key(out, NULL, "partitions", &g->partitions);
	names_key(out, NULL, "groups", &g->groups);
	if (g->node_types) {
		begin_key(out, NULL, "node-types");
		print_node_types(out, g->node_types);
	}
}

/* --- partitions, levels, rules --- */

static void print_members(struct buf *out, const struct policy_partition *part)
{
	bool some = false;

	buf_puts(out, ", members: {");
	for (size_t i = 0; i < part->n_members; i++) {
		const struct policy_member *m = &part->members[i];

		separate(out, &some);
		if (m->group.s)
			print_text(out, m->group.s);
		else
			print_range(out, &m->guids, GUID);
		buf_printf(out, ": %s", m->membership == MEMBER_LIMITED ? "limited"
			   : m->membership == MEMBER_BOTH ? "both" : "full");
	}
	buf_puts(out, "}");
}

static void print_group_keys(struct buf *out, bool *some, const char *level, uint32_t qkey,
			     uint32_t flow_label)
{
	text_key(out, some, "level", *level ? level : NULL);
	if (qkey) {
		flow_key(out, some, "q-key");
		buf_printf(out, "0x%x", qkey);
	}
	if (flow_label) {
		flow_key(out, some, "flow-label");
		buf_printf(out, "0x%x", flow_label);
	}
}

/* Prints the map of `ipoib`; false: it would be empty. */
static bool print_ipoib(struct buf *out, const struct policy_partition *part)
{
	bool some = false, more = false;

	if (!part->ipoib || (!*part->ipoib_level.s && !part->ipoib_scopes && !part->ipoib_qkey &&
			     !part->ipoib_flow_label))
		return false;
	buf_puts(out, ", ipoib: {");
	if (part->ipoib_scopes) {
		flow_key(out, &some, "scope");
		buf_puts(out, "[");
		for (unsigned scope = 0; scope <= SCOPE_MAX; scope++)
			if (part->ipoib_scopes >> scope & 1) {
				separate(out, &more);
				buf_printf(out, "%u", scope);
			}
		buf_puts(out, "]");
	}
	print_group_keys(out, &some, part->ipoib_level.s, part->ipoib_qkey, part->ipoib_flow_label);
	buf_puts(out, "}");
	return true;
}

static void print_mcast_groups(struct buf *out, const struct policy_partition *part)
{
	char mgid[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < part->n_groups; i++) {
		const struct policy_mcast_group *g = &part->groups[i];
		bool some = true;

		buf_printf(out, "%s{mgid: \"%s\"", i ? ", " : ", groups: [",
			   inet_ntop(AF_INET6, g->mgid, mgid, sizeof(mgid)));
		print_group_keys(out, &some, g->level.s, g->qkey, g->flow_label);
		buf_puts(out, "}");
	}
	if (part->n_groups)
		buf_puts(out, "]");
}

static void print_partition(struct buf *out, const struct policy_partition *part)
{
	bool some = false;

	buf_puts(out, "  ");
	print_text(out, part->name);
	buf_puts(out, ": {");
	text_key(out, &some, "description", part->description);
	flow_key(out, &some, "pkey");
	buf_printf(out, "0x%04x", part->pkey);
	if (part->n_members)
		print_members(out, part);
	text_key(out, &some, "level", *part->level.s ? part->level.s : NULL);
	if (!print_ipoib(out, part))
		buf_printf(out, ", ipoib: %s", part->ipoib ? "true" : "false");
	print_mcast_groups(out, part);
	buf_puts(out, "}\n");
}

static void print_level(struct buf *out, const struct policy_level *l)
{
	unsigned tenths = rate_tenths(l->rate_limit);
	bool some = false;

	buf_puts(out, "  ");
	print_text(out, l->name);
	buf_puts(out, ": {");
	text_key(out, &some, "description", l->description);
	number_key(out, &some, "sl", l->sl_given ? l->sl : -1);
	number_key(out, &some, "mtu-limit", l->mtu_limit ? (int)mtu_bytes(l->mtu_limit) : -1);
	if (tenths) {
		flow_key(out, &some, "rate-limit");
		buf_printf(out, tenths % 10 ? "%u.%u" : "%u", tenths / 10, tenths % 10);
	}
	number_key(out, &some, "packet-lifetime", l->packet_lifetime);
	number_key(out, &some, "path-bits", l->path_bits);
	number_key(out, &some, "tclass", l->tclass);
	ranges_key(out, &some, "pkey", &l->pkeys, HEX4);
	buf_puts(out, "}\n");
}

static void print_rule(struct buf *out, const struct policy_rule *rule)
{
	bool some = false;

	buf_puts(out, "  - {");
	text_key(out, &some, "description", rule->description);
	names_key(out, &some, "source", &rule->sources);
	names_key(out, &some, "destination", &rule->destinations);
	names_key(out, &some, "either", &rule->either);
	/* otherwise service-id follows from ulp and tcp-port */
	if ((rule->ulp == ULP_NONE || rule->ulp == ULP_SRP) && !rule->tcp_ports.n)
		ranges_key(out, &some, "service-id", &rule->service_ids, HEX);
	ranges_key(out, &some, "qos-class", &rule->qos_classes, DECIMAL);
	ranges_key(out, &some, "tclass", &rule->tclasses, DECIMAL);
	ranges_key(out, &some, "pkey", &rule->pkeys, HEX4);
	ranges_key(out, &some, "sl", &rule->sls, DECIMAL);
	text_key(out, &some, "ulp", rule->ulp != ULP_NONE ? policy_ulp_name(rule->ulp) : NULL);
	ranges_key(out, &some, "tcp-port", &rule->tcp_ports, DECIMAL);
	ranges_key(out, &some, "target-guid", &rule->dest_guids, GUID);
	text_key(out, &some, "level", rule->level_name.s);
	buf_puts(out, "}\n");
}

/* --- fabric-setup --- */

static void print_vls(struct buf *out, const struct sl2vl *table)
{
	bool some = false;

	buf_puts(out, "[");
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		separate(out, &some);
		buf_printf(out, "%u", table->vl[sl]);
	}
	buf_puts(out, "]");
}

static void arb_key(struct buf *out, bool *some, const char *key, bool given,
		    const struct vlarb_entry *e, unsigned n)
{
	bool more = false;

	if (!given)
		return;
	flow_key(out, some, key);
	buf_puts(out, "[");
	for (unsigned i = 0; i < n; i++) {
		separate(out, &more);
		buf_printf(out, "\"%u:%u\"", e[i].vl, e[i].weight);
	}
	buf_puts(out, "]");
}

static void print_scope(struct buf *out, enum scope_kind kind, const struct policy_name *group)
{
	buf_printf(out, "    - {%s: ", kind == SCOPE_ACROSS ? "across" : "group");
	print_text(out, group->s);
}

static void print_port_key(struct buf *out, const char *key, const struct port_list *l)
{
	if (!l->given)
		return;
	buf_printf(out, ", %s: ", key);
	print_ports(out, l);
}

static void print_sl2vl(struct buf *out, const struct policy_sl2vl *s)
{
	print_scope(out, s->kind, &s->group);
	print_port_key(out, "from", &s->from);
	print_port_key(out, "to", &s->to);
	buf_puts(out, ", table: ");
	print_vls(out, &s->table);
	buf_puts(out, "}\n");
}

static void print_vlarb(struct buf *out, const struct policy_vlarb *v)
{
	bool some = true;

	print_scope(out, v->kind, &v->group);
	print_port_key(out, "to", &v->to);
	arb_key(out, &some, "high", v->has_high, v->arb.high, v->arb.n_high);
	arb_key(out, &some, "low", v->has_low, v->arb.low, v->arb.n_low);
	number_key(out, &some, "high-limit", v->high_limit);
	buf_puts(out, "}\n");
}

static void print_class_default(struct buf *out, enum port_class class,
				const struct policy_class_default *d)
{
	bool some = false;

	buf_printf(out, "    %s: {", policy_class_name(class));
	if (d->has_sl2vl) {
		flow_key(out, &some, "sl2vl");
		print_vls(out, &d->sl2vl);
	}
	arb_key(out, &some, "vlarb-high", d->has_high, d->arb.high, d->arb.n_high);
	arb_key(out, &some, "vlarb-low", d->has_low, d->arb.low, d->arb.n_low);
	number_key(out, &some, "high-limit", d->high_limit);
	number_key(out, &some, "max-vls", d->max_vls ? d->max_vls : -1);
	buf_puts(out, "}\n");
}

static void print_fabric_setup(struct buf *out, const struct policy *p)
{
	bool some = false;

	buf_printf(out, "fabric-setup:\n  unsupported-vl: %s\n",
		   p->unsupported_vl == UNSUPPORTED_VL_FOLD ? "fold" : "drop");
	for (int c = 0; c < PORT_CLASS_COUNT; c++) {
		if (!p->defaults[c].given)
			continue;
		if (!some)
			buf_puts(out, "  defaults:\n");
		some = true;
		print_class_default(out, (enum port_class)c, &p->defaults[c]);
	}
	if (p->n_sl2vl)
		buf_puts(out, "  sl2vl:\n");
	for (size_t i = 0; i < p->n_sl2vl; i++)
		print_sl2vl(out, &p->sl2vl[i]);
	if (p->n_vlarb)
		buf_puts(out, "  vlarb:\n");
	for (size_t i = 0; i < p->n_vlarb; i++)
		print_vlarb(out, &p->vlarb[i]);
}

/* --- traffic-classes --- */

static void print_class(struct buf *out, const struct policy_class *c)
{
	bool some = true;

	buf_puts(out, "- {level: ");
	print_names(out, &c->level_names);
	buf_printf(out, ", priority: %s", c->high ? "high" : "low");
	if (c->share >= 0) {
		buf_printf(out, ", share: %d", c->share / 100);
		if (c->share % 10)
			buf_printf(out, ".%02d", c->share % 100);
		else if (c->share % 100)
			buf_printf(out, ".%d", c->share % 100 / 10);
		buf_puts(out, "%");
	}
	number_key(out, &some, "high-limit", c->high_limit);
	buf_puts(out, "}\n");
}

void conf_print_policy(const struct policy *p, struct buf *out)
{
	if (p->n_groups)
		buf_puts(out, "port-groups:\n");
	for (size_t i = 0; i < p->n_groups; i++)
		print_group(out, &p->groups[i]);
	buf_puts(out, "partitions:\n");
	for (size_t i = 0; i < p->n_partitions; i++)
		print_partition(out, &p->partitions[i]);
	buf_puts(out, "qos-levels:\n");
	for (size_t i = 0; i < p->n_levels; i++)
		print_level(out, &p->levels[i]);
	if (p->n_rules)
		buf_puts(out, "match-rules:\n");
	for (size_t i = 0; i < p->n_rules; i++)
		print_rule(out, &p->rules[i]);
	if (p->has_fabric_setup)
		print_fabric_setup(out, p);
	if (p->n_classes) {
		buf_puts(out, "traffic-classes:\n");
		if (p->classes_except.n) {
			buf_puts(out, "  except: ");
			print_names(out, &p->classes_except);
			buf_puts(out, "\n  classes:\n");
		}
		for (size_t i = 0; i < p->n_classes; i++) {
			buf_puts(out, p->classes_except.n ? "    " : "  ");
			print_class(out, &p->classes[i]);
		}
	}
	if (p->ends_marked)
		buf_puts(out, "...\n");
}
