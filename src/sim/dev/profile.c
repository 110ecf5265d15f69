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
 * Keys of a profile; the profile that it is like supplies the others:
 *
 *	vendor-id, device-id, revision   NodeInfo; these override the topology's
 *	vl-cap          data VLs: 1, 2, 4, 8, 15
 *	vlarb-high, vlarb-low            entries of the arbitration tables, 0 to 64
 *	mtu             256, 512, 1024, 2048, 4096
 *	widths          list of 1x, 2x, 4x, 8x, 12x, with 1x
 *	speeds          list of sdr, ddr, qdr, fdr10, fdr, edr, hdr, ndr, xdr, with sdr, and
 *	                later: a bit of LinkSpeedExtSupported2 that has no meaning yet
 *	hides-speeds    shows extended speeds only to a manager that asks for them
 *	                (SMSupportExtendedSpeeds): true, false
 *	extended-active LinkSpeedActive is 0 on a link that runs at an extended speed, not QDR:
 *	                true, false
 *	pkeys           P_Key table entries of an end port, 1 to 65535
 *	enforce-pkeys   P_Key table entries of a switch's external port, 0: no enforcement
 *	guids           GUIDInfo entries, 1 to 255
 *	adaptive-routing                for switches: has AdaptiveRoutingInfo and PrivateLFTInfo
 *	congestion-control              has an agent for management class 0x21: true, false
 *	lmc             the highest LMC that an end port takes, 0 to 7; it ignores a higher one,
 *	refuses-lmc     or, if this is true, refuses the Set
 *	lft, mft        LinearFDBCap, 1 to 49152; MulticastFDBCap, 1 to 16383
 *	enhanced-port0, optimized-sl2vl  of switches: true, false
 *	traps, capability-notices, other-notices, sl-mapping, client-reregister,
 *	multicast-fdb-top, automatic-migration, communication-management, system-image-guid, led-info
 *	                bits of PortInfo.CapabilityMask: true, false
 *	resp-time       RespTimeValue, 0 to 31
 *	response, jitter                 answers take response ± jitter: 20us, 5ms
 *	smp-time, smp-forward            time that its SMI takes for an SMP to its own agent, and
 *	                to forward a directed route SMP
 *	smp-queue       SMPs that may wait for the SMI at one port, 0: any number
 *	silent          answers nothing: true, false
 *	lies            list of keeps-tables, keeps-portinfo, wrong-status, stale-get,
 *	                optimized, refuses-tables, keeps-multicast-top, refuses-multicast-top,
 *	                local-port, silent-port-0, silent-pkeys
 *	smi-apart       hosts see two devices, one with its SMI and one with its GSI: true, false
 *	smi-disabled    hosts see only its GSI, as for an SR-IOV function: true, false
 *	ethernet        hosts see an Ethernet port, which has no SMI: true, false
 *	no-lid-smps     LID-routed SMPs are not answered: true, false
 *	refuses         list of port-info, port-state, mixed-port-info, switch-info, guid-info,
 *	                pkey-table, sl2vl, vlarb, lft, mft, adaptive-routing, pkey-table-0: refuses Sets
 *	                of these
 *	refuses-status  status of the refusals, 0 to 0xffff; 0 is 0x001c
 *	srp-target      has a Device Management agent with an SRP service: true, false
 *	plain-pma       no counters by VL and by SL: true, false
 *	ibsim-values    values at power-on, and links set Down, as with stock ibsim: true, false
 *
 * A profile whose chain of `like` does not end in a preset is made anew for each preset that
 * auto picks, so the tree is kept and read again (profile_apply.c).
 */
#include <stdlib.h>
#include <string.h>

#include "sim/dev/profile.h"

#define PROFILES_MAX 1000

const char *const *profile_presets(void)
{
	return preset_names;
}

static const struct own_profile *own_find(const struct profile_set *ps, const char *name)
{
	for (size_t i = 0; i < ps->own.n; i++)
		if (!strcmp(ps->own.v[i].name, name))
			return &ps->own.v[i];
	return NULL;
}

/* The constant that equals the preset's name; NULL if there is none. */
static const char *preset_name(const char *name)
{
	for (const char *const *p = preset_names; *p; p++)
		if (!strcmp(*p, name))
			return *p;
	return NULL;
}

static bool choose(const struct profile_set *ps, const char *name, struct profile_choice *c)
{
	c->own = own_find(ps, name);
	c->preset = c->own ? NULL : preset_name(name);
	return c->own || c->preset;
}

static void unknown_profile(struct reader *r, const struct profile_set *ps, const struct node *n)
{
	VEC(const char *) names = { 0 };

	for (const char *const *p = preset_names; *p; p++)
		*vec_push(&names) = *p;
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
		if (preset_name(k->text))
			read_error(r, k->pos, "'%s' is the name of a preset", k->text);
		else if (read_name_ok(r, k) && read_is_map(r, k->value))
			*vec_push(&ps->own) = (struct own_profile){
				k->text, k->value, { NULL, PRESET_AUTO } };
	}
}

static void read_profiles(struct reader *r, struct profile_set *ps)
{
	for (size_t i = 0; i < ps->own.n; i++) {
		struct own_profile *own = &ps->own.v[i];
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

struct rule_reading {
	struct profile_rule rule;
	const struct node *profile;
};

static void read_rule_profile(struct reader *r, const struct node *n, const struct key *k,
			      void *at)
{
	(void)r;
	(void)k;
	((struct rule_reading *)at)->profile = n;
}

static const char *const type_words[] = { "any", "ca", "switch", "router", NULL };

static const struct key rule_keys[] = {
	{ "name", read_text, FIELD(struct rule_reading, rule.name) },
	{ "guid", read_guid, FIELD(struct rule_reading, rule) },
	{ "type", read_choice, FIELD(struct rule_reading, rule.type), .words = type_words },
	{ "profile", read_rule_profile, WHOLE, .required = true },
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

static void read_section(struct reader *r, const struct node *n, const struct key *k, void *at)
{
	(void)r;
	(void)k;
	*(const struct node **)at = n;
}

static const struct key file_keys[] = {
	{ "default", read_section, FIELD(struct sections, fallback) },
	{ "profiles", read_section, FIELD(struct sections, profiles) },
	{ "nodes", read_section, FIELD(struct sections, rules) },
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
