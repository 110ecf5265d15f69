/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the profile file, which defines kinds of devices and assigns them to nodes.
 *
 *	default: auto                    # for nodes that no rule matches
 *	profiles:
 *	  old-hca:                       # a preset with other values
 *	    like: connectx-2
 *	    vl-cap: 4
 *	  slow: {response: 5ms, jitter: 1ms}    # like: auto, whatever the node is
 *	nodes:                           # the last rule that matches decides
 *	  - {type: switch, profile: switchx}
 *	  - {name: "node-1*", profile: old-hca}
 *	  - {guid: 0x0002c90300080e84, profile: slow}
 *	  - {guid: "0x0002c9*", type: ca, profile: connectx-3}
 *
 * `like`, `profile` and `default` take a preset (`qosd-sim run` lists them), a
 * profile of the file, or `auto`: the preset that the device id and the links of
 * the topology suggest.  A preset of another type of node counts as auto.  A rule
 * matches if all of name, guid and type (ca, switch, router, any) that it has do;
 * name and guid may be globs.
 *
 * qosd-sim(1) explains the keys of a profile; the profile that it is like supplies the others.
 *
 * A profile whose chain of `like` does not end in a preset is made anew for each preset that
 * auto picks, so the tree is kept and read again (profile_apply.c).
 */
#include <stdlib.h>
#include <string.h>

#include "sim/dev/profile.h"

#define PROFILES_MAX 1000

static const struct own_profile *own_find(const struct profile_set *ps, const char *name)
{
	for (size_t i = 0; i < ps->own.n; i++)
		if (!strcmp(ps->own.v[i].name, name))
			return &ps->own.v[i];
	return NULL;
}

/* The constant that equals the preset's name; NULL if there is none. */
static const char *own_name_of(const char *name)
{
	unsigned i = 0;

	while (preset_name(i) && strcmp(preset_name(i), name) != 0)
		i++;
	return preset_name(i);
}

static bool choose(const struct profile_set *ps, const char *name, struct profile_choice *c)
{
	c->own = own_find(ps, name);
	c->preset = c->own ? NULL : own_name_of(name);
	return c->own || c->preset;
}

static void unknown_profile(struct reader *r, const struct profile_set *ps, const struct node *n)
{
	VEC(const char *) names = { 0 };

	for (unsigned i = 0; preset_name(i); i++)
		*vec_push(&names) = preset_name(i);
	for (size_t i = 0; i < ps->own.n; i++)
		*vec_push(&names) = ps->own.v[i].name;
	read_error(r, n->pos, "there is no preset or profile '%s'%s", EXCERPT(n->text),
		   HINT(n->text, names.v, names.n));
	vec_free(&names);
}

static void read_profile_name(struct reader *r, const struct profile_set *ps,
			      const struct node *n, struct profile_choice *c)
{
	if (read_word(r, n, "the name of a profile") && !choose(ps, n->text, c))
		unknown_profile(r, ps, n);
}

/* --- profiles --- */

static void collect_profiles(struct reader *r, struct profile_set *ps, const struct node *map)
{
	if (!read_is_map(r, map))
		return;
	if (map->n > PROFILES_MAX) {
		read_error(r, map->pos, "more than %d profiles", PROFILES_MAX);
		return;
	}
	for (const struct node *k = map->child; k; k = k->next) {
		if (own_name_of(k->text))
			read_error(r, k->pos, "'%s' is the name of a preset", k->text);
		else if (read_name_ok(r, k) && read_is_map(r, k->value))
			*vec_push(&ps->own) = (struct own_profile){
				k->text, k->value, { NULL, PRESET_AUTO } };
	}
}

static void read_profiles(struct reader *r, struct profile_set *ps)
{
	for (struct own_profile *own = ps->own.v; own < vec_end(&ps->own); own++) {
		const struct node *like = node_get(own->map, "like");
		struct sim_profile scratch = { 0 };

		if (like)
			read_profile_name(r, ps, like, &own->like);
		profile_read_keys(r, own->map, &scratch);
	}
}

static void refuse_cycles(struct reader *r, const struct profile_set *ps)
{
	for (size_t i = 0; i < ps->own.n; i++) {
		const struct own_profile *own = &ps->own.v[i], *o = own->like.own;

		for (size_t steps = 0; o && o != own && steps < ps->own.n; steps++)
			o = o->like.own;
		if (o == own)
			read_error(r, node_get(own->map, "like")->pos,
				   "'%s' refers to itself through 'like'", EXCERPT(own->name));
	}
}

/* --- rules --- */

static void read_guid(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	struct profile_rule *rule = at;

	(void)k;
	if (!read_word(r, n, "a GUID or a pattern of GUIDs"))
		return;
	if (value_u64(n->text, &rule->guid_is) && rule->guid_is)
		return;
	if (strspn(n->text, "0123456789abcdefx*?[]-") == strlen(n->text) && strpbrk(n->text, "*?["))
		rule->guid = xstrdup(n->text);
	else
		read_error(r, n->pos, "'%s' is neither a GUID nor a pattern of GUIDs (such as 0x0002c9*, "
			   "in lower case)", EXCERPT(n->text));
}

/* Keeps a node that is read later. */
static void read_node(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)k;
	*(const struct node **)at = n;
}

struct rule_reading {
	struct profile_rule rule;
	const struct node *profile;
};

static const char *const type_words[] = { "any", "ca", "switch", "router", NULL };

static const struct key rule_keys[] = {
	{ "name", read_text, FIELD(struct rule_reading, rule.name) },
	{ "guid", read_guid, FIELD(struct rule_reading, rule) },
	{ "type", read_choice, FIELD(struct rule_reading, rule.type), .words = type_words },
	{ "profile", read_node, FIELD(struct rule_reading, profile), .required = true },
};

static void read_rule(struct reader *r, struct profile_set *ps, const struct node *n)
{
	struct rule_reading reading = { .rule = { .pos = n->pos } };
	size_t errors = r->out->count[SEV_ERROR];

	if (!read_map(r, n, rule_keys, ARRAY_SIZE(rule_keys), &reading))
		return;
	if (reading.profile)
		read_profile_name(r, ps, reading.profile, &reading.rule.profile);
	if (!node_get(n, "name") && !node_get(n, "guid") && !node_get(n, "type") &&
	    r->out->count[SEV_ERROR] == errors)	/* a misspelt key has been reported already */
		read_error(r, n->pos, "a rule needs one of name, guid, type");
	*vec_push(&ps->rules) = reading.rule;
}

static void read_rules(struct reader *r, struct profile_set *ps, const struct node *list)
{
	size_t count;

	for (const struct node *i = node_items(list, &count); i; i = i->next)
		read_rule(r, ps, i);
}

/* --- the file --- */

/* Sections are read in a fixed order, since names in one refer to another. */
struct sections {
	const struct node *fallback, *profiles, *rules;
};

static const struct key file_keys[] = {
	{ "default", read_node, FIELD(struct sections, fallback) },
	{ "profiles", read_node, FIELD(struct sections, profiles) },
	{ "nodes", read_node, FIELD(struct sections, rules) },
};

static void read_file(struct reader *r, struct profile_set *ps)
{
	struct sections s = { 0 };

	read_map(r, ps->root, file_keys, ARRAY_SIZE(file_keys), &s);
	if (s.profiles)
		collect_profiles(r, ps, s.profiles);
	read_profiles(r, ps);
	refuse_cycles(r, ps);
	if (s.fallback)
		read_profile_name(r, ps, s.fallback, &ps->fallback);
	if (s.rules)
		read_rules(r, ps, s.rules);
}

struct profile_set *profiles_load(const char *path, const char *text, size_t n,
				  struct findings *out)
{
	struct profile_set *ps = xcalloc(1, sizeof(*ps));
	struct findings found = { 0 };
	struct reader r = { .file = path, .out = &found };

	ps->fallback.preset = PRESET_AUTO;
	if (!path)
		return ps;
	ps->file = xstrdup(path);
	if (yaml_tree_parse(path, n ? text : "", n, &ps->root, NULL, &found) && ps->root)
		read_file(&r, ps);
	if (found.count[SEV_ERROR]) {
		profiles_free(ps);
		ps = NULL;
	}
	findings_sort(&found);
	findings_move(out, &found);
	return ps;
}

void profiles_free(struct profile_set *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->rules.n; i++) {
		free(ps->rules.v[i].name);
		free(ps->rules.v[i].guid);
	}
	vec_free(&ps->rules);
	vec_free(&ps->own);
	if (ps->root)
		yaml_tree_free(ps->root);
	free(ps->file);
	free(ps);
}

bool profiles_set_default(struct profile_set *ps, const char *preset)
{
	struct profile_choice c;

	if (!choose(ps, preset, &c))
		return false;
	ps->fallback = c;
	return true;
}
