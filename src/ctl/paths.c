/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `route`: the hops between two end ports.  `explain`: which rule and level a
 * PathRecord query gets, and the path that follows.  The path itself comes
 * from the SA's own resolver, so that what is explained is what is answered.
 */
#include "ctl/command.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "ib/sa.h"
#include "ib/units.h"

static json_t *json_port(const struct subnet_state *s, uint32_t port)
{
	char name[FABRIC_NAME_MAX];

	return json_text(fabric_port_name(s->f, port, name, sizeof(name)));
}

/* --- hops --- */

static json_t *hop_object(const struct subnet_state *s, const struct path_hop *hop, unsigned sl)
{
	const struct fabric_node *n = &s->f->nodes[hop->node];
	const struct sl2vl *map = hop->map == TABLE_NONE ? NULL :
				  &s->plan->tables->maps[hop->map];

	return json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}",
			 "node", json_text(n->desc), "guid", json_guid(n->guid),
			 "in", hop->in, "out", hop->out,
			 "vl", map ? json_integer(map->vl[sl]) : json_null(),
			 "sl2vl", map ? json_vls(map) : json_null());
}

/* An empty array when there is no route. */
static json_t *hop_list(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
			unsigned sl)
{
	struct path_hop hops[PATH_HOPS_MAX];
	unsigned n = paths_walk(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, hops,
				PATH_HOPS_MAX);
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, hop_object(s, &hops[i], sl));
	return list;
}

/* --- route --- */

/* The SL of the level that a query without further fields gets. */
static unsigned plain_sl(const struct subnet_state *s, uint32_t src, uint32_t dst)
{
	struct path_query q = { .src = src, .dst = dst };
	uint32_t rule;

	return s->plan->policy->levels[path_level(s, &q, &rule)].sl;
}

void cmd_route(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t src = arg_end_port(c, "src", r), dst;
	uint64_t sl;
	json_t *hops;

	if (src == FABRIC_NONE || (dst = arg_end_port(c, "dst", r)) == FABRIC_NONE)
		return;
	if (!arg_number(c, "sl", &sl))
		sl = plain_sl(s, src, dst);
	hops = hop_list(s, src, dst, s->plan->lid[dst], (unsigned)sl);
	if (json_array_size(hops) == 0) {
		json_decref(hops);
		reply_error(r, NULL, "there is no route");
		return;
	}
	reply_result(r, json_pack("{s:o, s:o, s:i, s:i, s:o}", "source", json_port(s, src),
				  "destination", json_port(s, dst),
				  "dlid", s->plan->lid[dst], "sl", (int)sl, "hops", hops));
}

/* --- explain: the rules tried --- */

struct tried {
	const struct subnet_state *s;
	struct match_query query;
	uint32_t rule, n_rules;		/* next to show; how many were tried */
};

static json_t *rule_place(const struct policy *p, uint32_t rule)
{
	const struct policy_rule *x = &p->rules[rule];

	return json_pack("{s:i, s:i, s:o, s:o}", "rule", (int)rule + 1, "line", (int)x->pos.line,
			 "description", x->description ? json_text(x->description) : json_null(),
			 "level", json_text(p->levels[x->level].name));
}

static json_t *next_tried(void *rows)
{
	struct tried *t = rows;
	const struct plan *plan = t->s->plan;
	const char *fails;
	json_t *row;

	if (t->rule == t->n_rules)
		return NULL;
	fails = match_rule_fails(plan->policy, t->s->f, plan->groups, t->rule, &t->query);
	row = rule_place(plan->policy, t->rule++);
	json_object_set_new(row, "fails", fails ? json_string(fails) : json_null());
	return row;
}

/* --- explain: the path --- */

static struct path_query query_from_args(const struct ctl_call *c, uint32_t src, uint32_t dst)
{
	struct path_query q = { .src = src, .dst = dst, .has = PR_SLID | PR_DLID };
	uint64_t v;

	if (arg_number(c, "service-id", &v)) {
		q.has |= PR_SERVICE_ID_MSB | PR_SERVICE_ID_LSB;
		q.service_id = v;
	}
	if (arg_number(c, "qos-class", &v)) {
		q.has |= PR_QOS_CLASS;
		q.qos_class = (uint16_t)v;
	}
	if (arg_number(c, "pkey", &v)) {
		q.has |= PR_PKEY;
		q.pkey = (uint16_t)v;
	}
	if (arg_number(c, "tclass", &v)) {
		q.has |= PR_TCLASS;
		q.tclass = (uint8_t)v;
	}
	if (arg_number(c, "sl", &v)) {
		q.has |= PR_SL;
		q.sl = (uint8_t)v;
	}
	return q;
}

static struct match_query match_from_query(const struct path_query *q)
{
	return (struct match_query){
		.src = q->src, .dst = q->dst, .service_id = q->service_id,
		.qos_class = q->qos_class, .pkey = q->pkey, .tclass = q->tclass, .sl = q->sl,
		.has = (q->has & PR_SERVICE_ID_LSB ? MATCH_SERVICE_ID : 0) |
		       (q->has & PR_QOS_CLASS ? MATCH_QOS_CLASS : 0) |
		       (q->has & PR_TCLASS ? MATCH_TCLASS : 0) |
		       (q->has & PR_PKEY ? MATCH_PKEY : 0) |
		       (q->has & PR_SL ? MATCH_SL : 0),
	};
}

/* The LID of a port that a level's path bits choose, as the SA does; else the base LID. */
static uint16_t chosen_lid(const struct plan *p, const struct policy_level *l, uint32_t port)
{
	unsigned bits = l->path_bits < 0 ? 0 : (unsigned)l->path_bits;

	return (uint16_t)(p->lid[port] + (bits & ((1u << p->lmc[port]) - 1)));
}

static json_t *path_object(const struct subnet_state *s, const struct path_query *q,
			   const struct path_answer *a)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:f, s:f, s:i, s:i, s:o}",
			 "slid", a->slid, "dlid", a->dlid, "sl", a->sl,
			 "mtu", (int)mtu_bytes(a->mtu), "rate", rate_tenths(a->rate) / 10.0,
			 "lifetime", lifetime_seconds(a->life),
			 "tclass", a->tclass, "pkey", a->pkey,
			 "hops", hop_list(s, q->src, q->dst, a->dlid, a->sl));
}

void cmd_explain(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	const struct policy *policy = s->plan->policy;
	uint32_t src = arg_end_port(c, "src", r), dst, rule, level;
	struct path_query q;
	struct path_answer a;
	struct tried *t;
	const char *why;

	if (src == FABRIC_NONE || (dst = arg_end_port(c, "dst", r)) == FABRIC_NONE)
		return;
	q = query_from_args(c, src, dst);
	t = xcalloc(1, sizeof(*t));
	t->s = s;
	t->query = match_from_query(&q);
	level = path_level(s, &q, &rule);
	t->n_rules = rule == MATCH_NO_RULE ? (uint32_t)policy->n_rules : rule + 1;
	q.slid = chosen_lid(s->plan, &policy->levels[level], src);
	q.dlid = chosen_lid(s->plan, &policy->levels[level], dst);
	why = path_resolve(s, &q, &a);
	reply_result(r, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		"source", json_port(s, src), "destination", json_port(s, dst),
		"rule", rule == MATCH_NO_RULE ? json_null() : rule_place(policy, rule),
		"level", json_text(policy->levels[level].name),
		"path", why ? json_null() : path_object(s, &q, &a),
		"no-path", why ? json_text(why) : json_null(),
		/* where the route goes all the same, and what the level's SL becomes on it */
		"hops", why ? hop_list(s, src, dst, q.dlid, policy->levels[level].sl) :
			      json_null()));
	reply_rows(r, "tried", next_tried, free, t);
}
