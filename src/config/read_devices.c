/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the file of --devices: kinds of device, and which nodes of a topology are of which.
 *
 *	profiles:
 *	  hca: {vl-cap: 4, mtu: 4096, vlarb-high: 8, vlarb-low: 8, pkeys: 128}
 *	  small-hca: {like: hca, vl-cap: 1}
 *	nodes:				# the last one that matches decides
 *	  - {type: ca, profile: hca}
 *	  - {name: "login*", profile: small-hca}
 *	  - {guid: 0x0002c90300080e84, profile: small-hca}
 *
 * The grammar is that of qosd-sim's profiles, without its presets and its other keys.
 */
#include <string.h>

#include "config/conf.h"
#include "config/conf_read.h"
#include "lib/base/alloc.h"

#define LIKE_NONE UINT32_MAX

struct file {
	struct device_kinds *k;
	VEC(const struct node *) maps;	/* per kind: its keys */
	VEC(uint32_t) like;		/* per kind: the kind that it is like */
};

/* --- kinds --- */

/* Codes of PortInfo count from 1, the index of a word from 0. */
static void read_code(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	const struct key word = { .words = k->words, .size = 1 };
	uint8_t index = UINT8_MAX;

	read_choice(r, n, &word, &index);
	if (index != UINT8_MAX)
		*(int32_t *)at = index + 1;
}

static void read_like(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)n;
	(void)k;
	(void)at;	/* read_likes() does */
}

static const char *const vl_words[] = { "1", "2", "4", "8", "15", NULL };
static const char *const mtu_words[] = { "256", "512", "1024", "2048", "4096", NULL };

static const struct key kind_keys[] = {
	{ "like", read_like, WHOLE },
	{ "vl-cap", read_code, FIELD(struct device_values, vl_cap), .words = vl_words },
	{ "vlarb-high", read_uint, FIELD(struct device_values, vlarb_high), .max = 64 },
	{ "vlarb-low", read_uint, FIELD(struct device_values, vlarb_low), .max = 64 },
	{ "mtu", read_code, FIELD(struct device_values, mtu_cap), .words = mtu_words },
	{ "pkeys", read_uint, FIELD(struct device_values, pkeys), .min = 1, .max = UINT16_MAX },
	{ "enforce-pkeys", read_uint, FIELD(struct device_values, enforce_pkeys), .max = UINT16_MAX },
	{ "lft", read_uint, FIELD(struct device_values, lft), .min = 1, .max = IB_LID_MCAST_FIRST },
	{ "mft", read_uint, FIELD(struct device_values, mft), .min = 1, .max = IB_MLIDS },
};

static uint32_t find_kind(const struct device_kinds *k, const char *name)
{
	for (size_t i = 0; i < k->kinds.n; i++)
		if (!strcmp(k->kinds.v[i].name, name))
			return (uint32_t)i;
	return LIKE_NONE;
}

static uint32_t read_kind(struct reader *r, const struct node *n, const struct device_kinds *k)
{
	const char *name = read_word(r, n, "the name of a profile");
	VEC(const char *) names = { 0 };
	uint32_t i;

	if (!name)
		return LIKE_NONE;
	i = find_kind(k, name);
	if (i != LIKE_NONE)
		return i;
	for (size_t x = 0; x < k->kinds.n; x++)
		*vec_push(&names) = k->kinds.v[x].name;
	read_error(r, n->pos, "the profile '%s' is not defined%s", EXCERPT(name),
		   HINT(name, names.v, names.n));
	vec_free(&names);
	return LIKE_NONE;
}

static void read_kinds(struct reader *r, struct file *x, const struct node *map)
{
	if (!read_is_map(r, map))
		return;
	for (const struct node *n = map->child; n; n = n->next) {
		struct device_kind *kind;

		if (!read_name_ok(r, n) || !read_is_map(r, n->value))
			continue;
		kind = vec_push(&x->k->kinds);
		*kind = (struct device_kind){ xstrdup(n->text), n->pos, DEVICE_VALUES_UNKNOWN };
		*vec_push(&x->maps) = n->value;
		read_map(r, n->value, kind_keys, ARRAY_SIZE(kind_keys), &kind->v);
	}
}

/* Fills what a kind leaves to the one that it is like, and so on; a cycle is an error. */
static void read_likes(struct reader *r, struct file *x)
{
	for (size_t i = 0; i < x->maps.n; i++) {
		const struct node *like = node_get(x->maps.v[i], "like");

		*vec_push(&x->like) = like ? read_kind(r, like, x->k) : LIKE_NONE;
	}
	for (size_t i = 0; i < x->maps.n; i++) {
		uint32_t at = x->like.v[i];

		for (size_t steps = 0; at != LIKE_NONE && at != i && steps < x->maps.n; steps++)
			at = x->like.v[at];
		if (at == i) {
			read_error(r, node_get(x->maps.v[i], "like")->pos,
				   "'%s' refers to itself through 'like'", EXCERPT(x->k->kinds.v[i].name));
			return;
		}
	}
	for (size_t i = 0; i < x->maps.n && !r->out->count[SEV_ERROR]; i++)
		for (uint32_t at = x->like.v[i]; at != LIKE_NONE; at = x->like.v[at])
			device_values_fill(&x->k->kinds.v[i].v, &x->k->kinds.v[at].v);
}

/* --- nodes --- */

static void read_guid(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct device_rule *rule = at;
	const char *text = read_word(r, n, "a GUID or a pattern of GUIDs");

	(void)k;
	if (!text || (value_u64(text, &rule->guid_is) && rule->guid_is))
		return;
	if (strspn(text, "0123456789abcdefx*?[]-") == strlen(text) && strpbrk(text, "*?["))
		rule->guid = xstrdup(text);
	else
		read_error(r, n->pos, "'%s' is neither a GUID nor a pattern of GUIDs (such as 0x0002c9*, "
			   "in lower case)", EXCERPT(text));
}

static void read_rule_kind(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)n;
	(void)k;
	(void)at;	/* read_rule() does, with the kinds */
}

static const char *const type_words[] = { "any", "ca", "switch", "router", NULL };

static const struct key rule_keys[] = {
	{ "name", read_text, FIELD(struct device_rule, name) },
	{ "guid", read_guid, WHOLE },
	{ "type", read_choice, FIELD(struct device_rule, type), .words = type_words },
	{ "profile", read_rule_kind, WHOLE, .required = true },
};

static void read_rule(struct reader *r, struct device_kinds *k, const struct node *n)
{
	struct device_rule *rule = vec_push(&k->rules);
	const struct node *profile;

	*rule = (struct device_rule){ .pos = n->pos };
	if (!read_map(r, n, rule_keys, ARRAY_SIZE(rule_keys), rule))
		return;
	profile = node_get(n, "profile");
	rule->kind = profile ? read_kind(r, profile, k) : LIKE_NONE;
	if (!node_get(n, "name") && !node_get(n, "guid") && !node_get(n, "type"))
		read_error(r, n->pos, "one of name, guid, type is missing");
}

/* --- the file --- */

/* Sections are read in a fixed order, as nodes refer to profiles. */
struct sections {
	const struct node *profiles, *nodes;
};

static void read_section(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)k;
	*(const struct node **)at = n;
}

static const struct key file_keys[] = {
	{ "profiles", read_section, FIELD(struct sections, profiles) },
	{ "nodes", read_section, FIELD(struct sections, nodes) },
};

static void read_file(struct reader *r, struct device_kinds *k, const struct node *root)
{
	struct file x = { .k = k };
	struct sections s = { 0 };
	size_t count;

	read_map(r, root, file_keys, ARRAY_SIZE(file_keys), &s);
	if (s.profiles)
		read_kinds(r, &x, s.profiles);
	read_likes(r, &x);
	for (const struct node *n = s.nodes ? node_items(s.nodes, &count) : NULL; n; n = n->next)
		read_rule(r, k, n);
	vec_free(&x.maps);
	vec_free(&x.like);
}

struct device_kinds *conf_read_devices(const char *name, const char *text, size_t n,
				       struct findings *out)
{
	struct device_kinds *k = xcalloc(1, sizeof(*k));
	struct findings found = { 0 };
	struct reader r = { .file = name, .out = &found };
	struct node *root = NULL;

	k->file = xstrdup(name);
	if (yaml_tree_parse(name, text, n, &root, NULL, &found) && root)
		read_file(&r, k, root);
	if (root)
		yaml_tree_free(root);
	if (found.count[SEV_ERROR]) {
		device_kinds_free(k);
		k = NULL;
	}
	findings_sort(&found);
	findings_move(out, &found);
	return k;
}
