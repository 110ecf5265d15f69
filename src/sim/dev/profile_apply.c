/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Gives each node of a fabric its profile, by the rules of profile.c and by guess ("auto").
 *
 * Nodes with equal profiles share one copy (struct instance), which the fabric owns.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "sim/dev/profile.h"

/* What a topology's links require of a device. */
struct need {
	enum link_speed fastest;
	uint8_t widths;
};

struct instance {
	const struct own_profile *own;	/* NULL: only the base */
	const struct sim_profile *base;	/* preset that it is derived from */
	uint8_t widths;			/* widths beyond the base's */
	struct sim_profile *p;
	uint32_t n_slow, first_slow;	/* number of nodes whose links in the topology are too fast for
					 * it, and the first of them */
	enum link_speed too_fast;	/* speed of the first one's links */
};

struct assignment {
	const struct profile_set *ps;
	struct sim_fabric *f;
	VEC(struct instance) instances;
	bool *matched, *misplaced;	/* by rule: it matches a node; its preset is for another type */
};

static enum link_speed cable_link_speed(const struct sim_port *p)
{
	unsigned speed = LINK_SPEEDS - 1;

	while (speed > LINK_UNKNOWN && !(speed == LINK_FDR10 && p->cable_fdr10) &&
	       !(p->cable_ext & link_speeds[speed].ext) && !(p->cable_speed & link_speeds[speed].speed))
		speed--;
	return (enum link_speed)speed;
}

static struct need node_need(const struct sim_fabric *f, const struct sim_node *n)
{
	struct need need = { LINK_UNKNOWN, 0 };

	for (uint32_t port = n->port0 + 1; port <= n->port0 + n->nports; port++) {
		const struct sim_port *p = &f->ports[port];
		enum link_speed speed = cable_link_speed(p);

		if (p->peer == SIM_NONE)
			continue;
		need.widths |= p->cable_width;
		if (speed > need.fastest)
			need.fastest = speed;
	}
	return need;
}

static bool rule_matches(const struct profile_rule *rule, const struct sim_node *n)
{
	char guid[24];

	if (rule->type && rule->type != n->type)
		return false;
	if (rule->guid_is && rule->guid_is != n->guid)
		return false;
	if (rule->guid) {
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, n->guid);
		if (fnmatch(rule->guid, guid, 0))
			return false;
	}
	return !rule->name || !fnmatch(rule->name, n->desc, 0);
}

/* The name of the preset at the end of the chain of "like". */
static const char *root_preset(struct profile_choice c)
{
	while (c.own)
		c = c.own->like;
	return c.preset;
}

static struct profile_choice choose_for(struct assignment *a, const struct sim_node *n)
{
	struct profile_choice choice;
	size_t decided = SIZE_MAX;

	for (size_t i = 0; i < a->ps->rules.n; i++)
		if (rule_matches(&a->ps->rules.v[i], n)) {
			a->matched[i] = true;
			decided = i;
		}
	if (decided == SIZE_MAX)
		return a->ps->fallback;
	choice = a->ps->rules.v[decided].profile;
	if (strcmp(root_preset(choice), PRESET_AUTO) && !preset_find(root_preset(choice), n->type))
		a->misplaced[decided] = true;
	return choice;
}

/* Reading the file has checked the keys already. */
static void add_keys(const struct own_profile *own, struct sim_profile *p)
{
	struct findings none = { 0 };
	struct reader r = { .file = "", .out = &none };

	if (own->like.own)
		add_keys(own->like.own, p);
	profile_read_keys(&r, own->map, p);
	findings_free(&none);
}

static struct instance *make_instance(struct assignment *a, const struct instance *key)
{
	struct instance *i = vec_push(&a->instances);

	*i = *key;
	i->p = xmemdup(key->base, sizeof(*key->base));
	i->p->widths |= key->widths;
	if (key->own)
		add_keys(key->own, i->p);
	profile_complete(i->p);
	i->p->name = xstrdup(key->own ? key->own->name : key->base->name);
	*vec_push(&a->f->profiles) = i->p;
	return i;
}

static struct instance *get_instance(struct assignment *a, const struct instance *key)
{
	for (struct instance *o = a->instances.v; o < vec_end(&a->instances); o++)
		if (o->own == key->own && o->base == key->base && o->widths == key->widths)
			return o;
	return make_instance(a, key);
}

static void assign_profile(struct assignment *a, uint32_t node)
{
	struct sim_node *n = &a->f->nodes[node];
	struct profile_choice choice = choose_for(a, n);
	struct need need = node_need(a->f, n);
	struct instance key = { .own = choice.own };
	struct instance *i;

	key.base = preset_find(root_preset(choice), n->type);
	if (!key.base) {
		key.base = preset_guess(n->type, n->device_id, need.fastest);
		key.widths = need.widths & (uint8_t)~key.base->widths;
	}
	i = get_instance(a, &key);
	if (!profile_runs(i->p, need.fastest) && i->n_slow++ == 0) {
		i->first_slow = node;
		i->too_fast = need.fastest;
	}
	n->profile = i->p;
	/* a value that the file states takes precedence over the topology; a preset's does not */
	if (!n->vendor_id || i->p->vendor_id != key.base->vendor_id)
		n->vendor_id = i->p->vendor_id;
	if (!n->device_id || i->p->device_id != key.base->device_id)
		n->device_id = i->p->device_id;
}

static void report_rules(const struct assignment *a)
{
	struct findings found = { 0 };

	for (size_t i = 0; i < a->ps->rules.n; i++) {
		const struct profile_rule *rule = &a->ps->rules.v[i];

		if (!a->matched[i])
			findings_add(&found, SEV_WARNING, a->ps->file, rule->pos,
				     "the rule matches no node");
		if (a->misplaced[i])
			findings_add(&found, SEV_WARNING, a->ps->file, rule->pos, "the rule also matches "
				     "nodes of types that the preset '%s' does not suit: they get "
				     "auto", root_preset(rule->profile));
	}
	findings_log(&found, "profiles");
	findings_free(&found);
}

static void report_slow(const struct assignment *a)
{
	for (const struct instance *in = a->instances.v; in < vec_end(&a->instances); in++)
		if (in->n_slow)
			log_warn("profiles", "%s: links run at %s in the topology, which profile '%s' does "
				 "not support: they run slower (%u such nodes)",
				 a->f->nodes[in->first_slow].desc,
				 link_speeds[in->too_fast].name, in->p->name, in->n_slow);
}

void profiles_apply(const struct profile_set *ps, struct sim_fabric *f)
{
	struct assignment a = { .ps = ps, .f = f };

	a.matched = xcalloc(ps->rules.n + 1, sizeof(bool));
	a.misplaced = xcalloc(ps->rules.n + 1, sizeof(bool));
	for (uint32_t node = 0; node < f->n_nodes; node++)
		assign_profile(&a, node);
	report_rules(&a);
	report_slow(&a);
	free(a.matched);
	free(a.misplaced);
	vec_free(&a.instances);
}
