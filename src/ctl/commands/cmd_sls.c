/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `sls`: what becomes of packets of each SL on links, which levels, partitions and rules give the SL,
 * and how programs that never ask the subnet administrator choose it.
 *
 * Links are grouped by the kinds of their two ends and by what they do with all SLs, so that a fabric has few
 * groups.  Shares are those while programs use all SLs (plan/feasible/feasible.h).
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/commands/cmd_explain.h"
#include "ctl/sl_settings.h"
#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible.h"

#define RULES_MAX 10		/* rules of an SL that are listed */
#define ALL_SLS 0xffff

/* --- groups of links --- */

struct link_group {
	const char *from, *to;		/* types of node, as fabric_type_name() has them */
	uint32_t kind;			/* one of its kinds */
	uint32_t ports, example;	/* number of ports; one of them */
};
struct link_groups {
	struct link_group *v;
	size_t n, cap;
};

static bool same_sl(const struct sl_link *a, const struct sl_link *b)
{
	return a->vl == b->vl && a->high == b->high && a->served == b->served &&
	       a->starved == b->starved && a->unknown == b->unknown && a->share_iba == b->share_iba &&
	       a->share_measured == b->share_measured;
}

/* Whether two kinds of link do the same with all SLs. */
static bool same_sls(const struct link_kind *a, const struct link_kind *b)
{
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (!same_sl(&a->sls[sl], &b->sls[sl]))
			return false;
	return a->vls == b->vls;
}

static void add_port(struct link_groups *groups, const struct subnet_state *s, const struct feasibility *v,
		     const uint32_t *alike, uint32_t port)
{
	const char *from = fabric_type_name(port_node(s->f, port));
	const char *to = fabric_type_name(port_node(s->f, s->f->ports[port].peer));
	uint32_t kind = alike[v->kind_of_port[port]];

	for (size_t i = 0; i < groups->n; i++) {
		struct link_group *g = &groups->v[i];

		if (g->kind == kind && !strcmp(g->from, from) && !strcmp(g->to, to)) {
			g->ports++;
			return;
		}
	}
	*vec_push(groups) = (struct link_group){ from, to, kind, 1, port };
}

static void find_groups(struct link_groups *groups, const struct subnet_state *s, const struct feasibility *v)
{
	uint32_t *alike = xcalloc(v->n_kinds + 1u, sizeof(*alike));	/* the first kind that does the same */

	for (uint32_t k = 0; k < v->n_kinds; k++)
		while (!same_sls(&v->kinds[alike[k]], &v->kinds[k]))
			alike[k]++;
	for (uint32_t i = 0; i < s->f->n_ports; i++)
		if (v->kind_of_port[i] != UINT16_MAX)
			add_port(groups, s, v, alike, i);
	free(alike);
}

static json_t *group_object(const struct subnet_state *s, const struct feasibility *v,
			    const struct link_group *g, uint16_t only)
{
	const struct link_kind *k = &v->kinds[g->kind];
	json_t *sls = json_array();

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		json_t *row;

		if (!(only >> sl & 1))
			continue;
		row = json_sl_link(&k->sls[sl]);
		json_object_set_new(row, "sl", json_integer(sl));
		json_object_set_new(row, "levels", json_levels(s->plan->policy,
							       sl_plan_levels(&s->plan->sls, (uint16_t)(1u << sl))));
		json_array_append_new(sls, row);
	}
	return json_pack("{s:s, s:s, s:i, s:o, s:i, s:i, s:o, s:o}", "from", g->from, "to", g->to,
			 "ports", (int)g->ports, "example", json_port(s, g->example), "vls", k->vls,
			 "mtu", (int)mtu_bytes(k->mtu), "high-limit", k->arb == TABLE_NONE ? json_null() :
			 json_integer(s->plan->tables->arbs[k->arb].high_limit), "sls", sls);
}

/* --- who gets an SL --- */

static json_t *names_of(const struct policy_names *names)
{
	json_t *list = json_array();

	for (size_t i = 0; i < names->n; i++)
		json_array_append_new(list, json_text(names->v[i].s));
	return list;
}

static json_t *rule_object(const struct policy *p, uint32_t rule)
{
	json_t *o = json_rule(p, rule);

	json_object_set_new(o, "sources", names_of(&p->rules[rule].sources));
	json_object_set_new(o, "destinations", names_of(&p->rules[rule].destinations));
	json_object_set_new(o, "either", names_of(&p->rules[rule].either));
	return o;
}

static json_t *sl_object(const struct subnet_state *s, const struct feasibility *v, unsigned sl)
{
	const struct policy *p = s->plan->policy;
	unsigned base = s->plan->sls.base[sl];
	json_t *partitions = json_array(), *rules = json_array();
	int n_rules = 0;

	for (size_t i = 0; i < p->n_partitions; i++)
		if (p->levels[p->partitions[i].level_index].sl == base)
			json_array_append_new(partitions, json_text(p->partitions[i].name));
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->levels[p->rules[i].level].sl == base && n_rules++ < RULES_MAX)
			json_array_append_new(rules, rule_object(p, (uint32_t)i));
	return json_pack("{s:i, s:o, s:i, s:b, s:o, s:o, s:i, s:I, s:I}", "sl", (int)sl, "levels",
			 json_levels(p, (uint16_t)(1u << base)), "layer", s->plan->sls.layer[sl],
			 "default", p->levels[p->default_level].sl == base, "partitions", partitions,
			 "rules", rules, "rules-total", n_rules,
			 "unreachable", (json_int_t)v->sls[sl].unreachable,
			 "pairs", (json_int_t)v->sls[sl].pairs);
}

/* --- how programs choose one --- */

/* For the one SL of a set, else for "N". */
static json_t *settings(uint16_t only)
{
	json_t *list = json_array();
	char text[4] = "N";

	if (only != ALL_SLS)
		snprintf(text, sizeof(text), "%d", __builtin_ctz(only));
	for (size_t i = 0; i < n_sl_settings; i++) {
		struct buf b = { 0 };

		buf_printf(&b, "%s%s", sl_settings[i].before, text);
		json_array_append_new(list, json_pack("{s:s, s:o}", "program", sl_settings[i].program,
						      "setting", json_text(b.s)));
		buf_free(&b);
	}
	return list;
}

/* --- the command --- */

/* Reads the SL, if one is given: *only is its bit, or all.  False: the reply has the error. */
static bool arg_sl(const struct ctl_call *c, uint16_t *only, struct reply *r)
{
	const char *text = arg_text(c, "sl");
	char *end;
	unsigned long sl;

	*only = ALL_SLS;
	if (!text)
		return true;
	sl = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || sl >= IB_SL_COUNT) {
		reply_error(r, NULL, "%s: an SL is a number from 0 to 15", text);
		return false;
	}
	*only = (uint16_t)(1u << sl);
	return true;
}

void cmd_sls(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	json_t *links = json_array(), *sls = json_array();
	struct link_groups groups = { 0 };
	/* the plan was judged before, or is judged here */
	struct feasibility *own = NULL;
	const struct feasibility *v = s->plan->feasible;
	uint16_t only;

	if (!arg_sl(c, &only, r)) {
		json_decref(links);
		json_decref(sls);
		return;
	}
	if (!v)
		v = own = feasible_judge(s->plan);
	find_groups(&groups, s, v);
	for (size_t i = 0; i < groups.n; i++)
		json_array_append_new(links, group_object(s, v, &groups.v[i], only));
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (only >> sl & 1)
			json_array_append_new(sls, sl_object(s, v, sl));
	reply_result(r, json_pack("{s:b, s:s, s:o, s:o, s:o}", "managed", s->plan->tables->managed,
				  "arbiter-model", arb_model_name(s->plan->settings->arbiter_model),
				  "links", links, "sls", sls,
				  "settings", settings(only)));
	vec_free(&groups);
	feasible_free(own);
}
