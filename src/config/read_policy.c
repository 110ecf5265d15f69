/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the policy file: groups, levels, rules, and the whole (grammar: qosd-policy(5)). */
#include <string.h>
#include <strings.h>

#include "config/conf.h"
#include "config/conf_parts.h"
#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "lib/iba/units.h"

/* --- port-groups --- */

/*
 * Matches "NodeDescription/Pn": the description ends at the last slash; n, or all of Pn, may be a
 * glob.
 */
static bool is_port_name(const char *s)
{
	const char *slash = strrchr(s, '/');

	if (!slash || slash == s || !strchr("P*?", slash[1]) || !slash[1])
		return false;
	return (slash[1] != 'P' || slash[2]) &&
	       strspn(slash + 2, "0123456789*?") == strlen(slash + 2);
}

static void read_port_names(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_names *names = at;

	read_names(r, n, k, names);
	for (size_t i = 0; i < names->n; i++)
		if (!is_port_name(names->v[i].s))
			read_error(r, names->v[i].pos, "'%s' is not a port name: "
				   "NodeDescription/Pn", EXCERPT(names->v[i].s));
}

static void read_node_types(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	static const struct { const char *word; unsigned bit; } types[] = {
		{ "ca", NT_CA }, { "switch", NT_SWITCH }, { "router", NT_ROUTER },
		{ "aggregation", NT_AGGREGATION }, { "all", NT_ALL }, { "self", NT_SELF },
	};
	size_t count;

	(void)k;
	for (const struct node *i = node_items(n, &count); i; i = i->next) {
		const char *word = read_word(r, i, "a node type");
		size_t t = 0;

		if (!word)
			continue;
		while (t < ARRAY_SIZE(types) && strcmp(types[t].word, word))
			t++;
		if (t < ARRAY_SIZE(types))
			*(unsigned *)at |= types[t].bit;
		else
			read_error(r, i->pos, "'%s' is not one of: ca, switch, router, aggregation, all, "
				   "self", EXCERPT(word));
	}
	if (count == 0)
		read_error(r, n->pos, "expected a node type, found nothing");
}

static const struct key group_keys[] = {
	{ "description", read_text, FIELD(struct policy_group, description) },
	{ "port-guids", read_ranges, FIELD(struct policy_group, port_guids), .max = UINT64_MAX },
	{ "port-names", read_port_names, FIELD(struct policy_group, port_names) },
	{ "pkeys", read_pkeys, FIELD(struct policy_group, pkeys) },
	{ "partitions", read_names, FIELD(struct policy_group, partitions) },
	{ "groups", read_names, FIELD(struct policy_group, groups) },
	{ "node-types", read_node_types, FIELD(struct policy_group, node_types) },
};

static void read_groups(struct reader *r, const struct node *n, const struct key *key, void *at)
{
	struct policy *p = at;

	(void)key;
	if (!read_is_map(r, n))
		return;
	p->groups = xcalloc(n->n, sizeof(*p->groups));
	for (const struct node *k = n->child; k; k = k->next) {
		struct policy_group *g = &p->groups[p->n_groups++];

		g->name = xstrdup(k->text);
		g->pos = k->pos;
		read_name_ok(r, k);
		/* Words with a meaning of their own where a group is expected. */
		if (!strcmp(k->text, "all"))
			read_error(r, k->pos, "the group 'all' exists already: every end port");
		else if (!strcmp(k->text, "self"))
			read_error(r, k->pos,
				   "a group cannot be named 'self': as a member of partitions, self is the "
				   "port that qosd runs on");
		else if (!strncasecmp(k->text, "0x", 2))
			read_error(r, k->pos, "the name of a group cannot begin with 0x, as GUIDs do");
		read_map(r, k->value, group_keys, ARRAY_SIZE(group_keys), g);
	}
}

/* --- qos-levels --- */

static void read_mtu(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "an MTU in bytes");
	uint64_t v;
	unsigned code = 0;

	(void)k;
	if (!word)
		return;
	if (value_iba(word, &v))
		code = v <= 5 && mtu_bytes((unsigned)v) ? (unsigned)v : 0;
	else if (value_u64(word, &v) && v <= 4096)
		code = mtu_code((unsigned)v);
	if (code)
		*(uint8_t *)at = (uint8_t)code;
	else
		read_error(r, n->pos, "'%s' is not an MTU: 256, 512, 1024, 2048 or 4096 bytes, "
			   "or an IBA code, iba:1 to iba:5", EXCERPT(word));
}

static void read_rate(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "a rate");
	uint64_t v;
	unsigned code;

	(void)k;
	if (!word)
		return;
	if (value_iba(word, &v))
		code = v <= UINT8_MAX && rate_tenths((unsigned)v) ? (unsigned)v : 0;
	else if ((code = rate_parse_gbps(word)) == 0)
		code = rate_parse_link(word);
	if (code)
		*(uint8_t *)at = (uint8_t)code;
	else
		read_error(r, n->pos, "'%s' is not an InfiniBand rate: Gb/s (such as 2.5, 40, 100), width "
			   "and speed (4xQDR), or an IBA code, iba:N", EXCERPT(word));
}

static void read_sl(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct policy_level *l = at;
	uint64_t v;

	(void)k;
	l->sl_given = true;	/* set even for an invalid SL, which is not a missing one */
	if (read_number(r, n, 0, IB_SL_COUNT - 1, &v))
		l->sl = (uint8_t)v;
}

static const struct key level_keys[] = {
	{ "description", read_text, FIELD(struct policy_level, description) },
	{ "sl", read_sl, WHOLE },
	{ "mtu-limit", read_mtu, FIELD(struct policy_level, mtu_limit) },
	{ "rate-limit", read_rate, FIELD(struct policy_level, rate_limit) },
	{ "packet-lifetime", read_lifetime, FIELD(struct policy_level, packet_lifetime) },
	{ "path-bits", read_uint, FIELD(struct policy_level, path_bits), .max = 127 },
	{ "tclass", read_uint, FIELD(struct policy_level, tclass), .max = 255 },
	{ "pkey", read_pkeys, FIELD(struct policy_level, pkeys) },
};

static void read_levels(struct reader *r, const struct node *n, const struct key *key, void *at)
{
	struct policy *p = at;

	(void)key;
	if (!read_is_map(r, n))
		return;
	p->levels = xcalloc(n->n, sizeof(*p->levels));
	for (const struct node *k = n->child; k; k = k->next) {
		struct policy_level *l = &p->levels[p->n_levels++];

		*l = (struct policy_level){
			.name = xstrdup(k->text), .pos = k->pos,
			.packet_lifetime = -1, .path_bits = -1, .tclass = -1,
		};
		read_name_ok(r, k);
		read_map(r, k->value, level_keys, ARRAY_SIZE(level_keys), l);
	}
}

/* --- match-rules --- */

static void read_ulp(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const char *word = read_word(r, n, "the name of a ULP");
	enum policy_ulp ulp;

	(void)k;
	if (!word)
		return;
	ulp = policy_ulp_parse(word);
	if (ulp == ULP_NONE)
		read_error(r, n->pos, "'%s' is not one of: ipoib, sdp, rds, iser, srp, nfs-rdma, nvme-of, "
			   "lustre, smb-direct; match other protocols by service-id",
			   EXCERPT(word));
	*(enum policy_ulp *)at = ulp;
}

static const struct key rule_keys[] = {
	{ "description", read_text, FIELD(struct policy_rule, description) },
	{ "source", read_names, FIELD(struct policy_rule, sources) },
	{ "destination", read_names, FIELD(struct policy_rule, destinations) },
	{ "either", read_names, FIELD(struct policy_rule, either) },
	{ "service-id", read_ranges, FIELD(struct policy_rule, service_ids), .max = UINT64_MAX },
	{ "qos-class", read_ranges, FIELD(struct policy_rule, qos_classes), .max = 4095 },
	{ "tclass", read_ranges, FIELD(struct policy_rule, tclasses), .max = 255 },
	{ "pkey", read_pkeys, FIELD(struct policy_rule, pkeys) },
	{ "sl", read_ranges, FIELD(struct policy_rule, sls), .max = 15 },
	{ "ulp", read_ulp, FIELD(struct policy_rule, ulp) },
	{ "tcp-port", read_ranges, FIELD(struct policy_rule, tcp_ports), .max = 65535 },
	{ "target-guid", read_ranges, FIELD(struct policy_rule, dest_guids), .max = UINT64_MAX },
	{ "level", read_name, FIELD(struct policy_rule, level_name), .required = true },
};

static void read_rules(struct reader *r, const struct node *n, const struct key *key, void *at)
{
	struct policy *p = at;
	size_t count;
	const struct node *i = node_items(n, &count);

	(void)key;
	p->rules = xcalloc(count, sizeof(*p->rules));
	for (; i; i = i->next) {
		struct policy_rule *rule = &p->rules[p->n_rules++];

		rule->pos = i->pos;
		if (read_map(r, i, rule_keys, ARRAY_SIZE(rule_keys), rule))
			ulp_expand(r, i, rule);
	}
}

/* --- the whole --- */

static const struct key policy_keys[] = {
	{ "port-groups", read_groups, WHOLE },
	{ "partitions", read_partitions, WHOLE },
	{ "qos-levels", read_levels, WHOLE },
	{ "match-rules", read_rules, WHOLE },
	{ "fabric-setup", read_fabric_setup, WHOLE },
	{ "traffic-classes", read_traffic_classes, WHOLE },
};

static const struct src_pos nowhere;

static void read_policy(struct reader *r, const struct node *root, struct policy *p)
{
	if (root)
		read_map(r, root, policy_keys, ARRAY_SIZE(policy_keys), p);
	policy_add_implied(p);
	check_names(r, p);
	check_classes(r, p);
	ulp_expand_ipoib(r, p);
	if (r->out->count[SEV_ERROR] == 0) {
		check_use(r, p);
		check_rules(r, p);
		check_reach(r, p);
	}
	if (p->says_nothing)
		findings_add(r->out, SEV_WARNING, r->file, nowhere, "is empty, which means the built-in "
			     "policy; if that is intended, set 'policy: none' in qosd.yaml");
}

uint64_t conf_checksum(const char *text, size_t n)
{
	return hash_bytes(text, n, 0);
}

struct policy *conf_parse_policy(const char *name, const char *text, size_t n,
				 struct findings *out)
{
	struct findings found = { 0 };
	struct reader r = { .file = name, .out = &found };
	struct policy *p = NULL;
	struct node *root;
	bool ended;

	if (yaml_tree_parse(name, text, n, &root, &ended, &found)) {
		p = xcalloc(1, sizeof(*p));
		p->file = xstrdup(name);
		p->checksum = conf_checksum(text, n);
		p->says_nothing = !root || root->null || (root->kind == NODE_MAP && !root->n);
		p->ends_marked = ended;
		for (int c = 0; c < PORT_CLASS_COUNT; c++)
			p->defaults[c].high_limit = -1;
		read_policy(&r, root, p);
		yaml_tree_free(root);
	}
	if (found.count[SEV_ERROR]) {
		policy_free(p);
		p = NULL;
	}
	findings_sort(&found);
	findings_move(out, &found);
	return p;
}
