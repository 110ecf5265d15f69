/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `bandwidth`: each level's share on kinds of link, at one port, or hop by hop between two
 * ends.  Shares are those under full load, when the VLs of all levels are backlogged.
 *
 * Kinds of link and the levels' shares on them come from the plan (plan/feasible/feasible.h).  For
 * a port or a route this file evaluates the actual ports, with the VL that a packet gets for the in
 * port it arrives at.
 */
#include "ctl/commands/cmd_explain.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"
#include "plan/feasible/feasible.h"


static json_t *json_bound(double v)
{
	return v >= 0 ? json_real(v) : json_null();
}

static void add_link(json_t *o, unsigned rate, unsigned mtu, unsigned vls, double gbps)
{
	json_object_set_new(o, "rate", json_real(rate_tenths(rate) / 10.0));
	json_object_set_new(o, "data-rate", json_real(gbps));
	json_object_set_new(o, "mtu", json_integer(mtu_bytes(mtu)));
	json_object_set_new(o, "vls", json_integer(vls));
}

/* --- kinds of link --- */

static json_t *level_object(const struct subnet_state *s, size_t level,
			    const struct level_link *l)
{
	const struct policy_level *p = &s->plan->policy->levels[level];
	bool known = s->plan->tables->managed && !l->unknown;

	json_t *o;

	o = json_pack("{s:o, s:i, s:o, s:b, s:b, s:o, s:o, s:f, s:o, s:o}",
		      "level", json_text(p->name), "sl", p->sl,
		      "vl", l->vl == IB_VL_DROP ? json_null() : json_integer(l->vl),
		      "high", l->high, "starved", l->starved,
		      "share", known ? json_real(l->share) : json_null(),
		      "gbps", known ? json_real(l->guaranteed) : json_null(),
		      "ceiling", l->ceiling, "wait-us", json_bound(l->wait_us),
		      "shared-with", json_levels(s->plan->policy, l->shared_with));
	json_object_set_new(o, "asked", json_bound(l->asked));
	json_object_set_new(o, "share-idle", json_bound(known ? l->share_idle : -1));
	json_add_models(o, known && l->vl != IB_VL_DROP ? l->share_iba : -1,
			known ? l->share_measured : -1);
	return o;
}

/* The SLs that no level has, by VL; those that are dropped last, with VL null. */
static json_t *unnamed_objects(const struct feasibility *v, const struct link_kind *k)
{
	json_t *rows = json_array();

	for (unsigned vl = 0; vl <= IB_VL_DROP; vl++) {
		uint16_t sls = kind_sls_on(k, v->unnamed, vl);
		json_t *row;

		if (!sls)
			continue;
		row = json_sl_link(&k->sls[__builtin_ctz(sls)]);
		json_object_set_new(row, "sls", json_bits(sls));
		json_array_append_new(rows, row);
	}
	return rows;
}

static json_t *kind_object(const struct subnet_state *s, const struct feasibility *v,
			   const struct link_kind *k, uint32_t only)
{
	json_t *levels = json_array();
	json_t *o = json_pack("{s:s, s:i, s:o, s:b}", "class", policy_class_name(k->class),
			      "ports", (int)k->n_ports, "example", json_port(s, k->example),
			      "managed", s->plan->tables->managed);

	add_link(o, k->rate, k->mtu, k->vls, feasible_link_gbps(k));
	json_object_set_new(o, "high-limit", k->arb == TABLE_NONE ? json_null() :
			    json_integer(s->plan->tables->arbs[k->arb].high_limit));
	for (size_t i = 0; i < s->plan->policy->n_levels; i++)
		if (only == LEVEL_ALL || only == i)
			json_array_append_new(levels, level_object(s, i, &k->levels[i]));
	json_object_set_new(o, "levels", levels);
	json_object_set_new(o, "without-level", only == LEVEL_ALL ? unnamed_objects(v, k) : json_array());
	return o;
}

static json_t *deviation_object(const struct subnet_state *s, const struct deviation *d)
{
	json_t *o = json_pack("{s:o, s:o, s:i, s:i, s:o}", "port", json_port(s, d->port),
			      "peer", json_port(s, s->f->ports[d->port].peer),
			      "vls", d->vls, "usual-vls", d->usual_vls,
			      "why", json_text(d->why));

	json_object_set_new(o, "rate", json_real(rate_tenths(d->rate) / 10.0));
	json_object_set_new(o, "usual-rate", json_real(rate_tenths(d->usual) / 10.0));
	return o;
}

static void bandwidth_of_kinds(const struct ctl_call *c, uint32_t only, struct reply *r)
{
	const struct subnet_state *s = c->state;
	/* the plan was judged before, or is judged here */
	struct feasibility *own = s->plan->feasible ? NULL : feasible_judge(s->plan);
	const struct feasibility *v = own ? own : s->plan->feasible;
	json_t *kinds = json_array(), *deviations = json_array();

	for (uint32_t i = 0; i < v->n_kinds; i++)
		json_array_append_new(kinds, kind_object(s, v, &v->kinds[i], only));
	for (uint32_t i = 0; i < v->n_deviations; i++)
		json_array_append_new(deviations, deviation_object(s, &v->deviations[i]));
	reply_result(r, json_pack("{s:b, s:s, s:o, s:o, s:o}", "managed", s->plan->tables->managed,
				  "arbiter-model", arb_model_name(s->plan->settings->arbiter_model),
				  "kinds", kinds, "deviations", deviations,
				  "findings", json_findings(&v->findings)));
	if (arg_flag(c, "links"))
		rows_of_links(r, s, v, own);
	else
		feasible_free(own);
}

/* --- a port --- */

static unsigned weight_of(const struct vlarb_entry *e, unsigned n, unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += e[i].vl == vl ? e[i].weight : 0;
	return sum;
}

/* A VL that no level uses has the share that it gets while it and the VLs of all levels are backlogged. */
static json_t *vl_object(const struct subnet_state *s, uint32_t port, const struct port_shares *p, unsigned vl)
{
	json_t *o = json_pack("{s:i, s:o, s:o, s:o}", "vl", (int)vl, "sls", json_bits(p->sls[vl]),
			      "sls-without-level", json_bits(p->unnamed[vl]),
			      "levels", json_levels(s->plan->policy,
						    sl_plan_levels(&s->plan->sls, p->sls[vl])));

	if (p->arb) {
		json_object_set_new(o, "high-weight",
				    json_integer(weight_of(p->arb->high, p->arb->n_high, vl)));
		json_object_set_new(o, "low-weight",
				    json_integer(weight_of(p->arb->low, p->arb->n_low, vl)));
	}
	if (p->unnamed[vl] && !p->sls[vl]) {
		struct port_shares with;

		port_shares_with(s, port, vl, &with);
		json_add_share(o, &with, vl);
	} else {
		json_add_share(o, p, vl);
	}
	return o;
}

/* The SLs without a level that are never sent at this port: dropped, or on a VL that no table serves. */
static uint16_t port_unsent(const struct subnet_state *s, const struct port_shares *p)
{
	uint16_t sent = 0;

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if (!p->arb || (p->high | p->low) >> vl & 1)
			sent |= p->unnamed[vl];
	return p->known ? sl_plan_unnamed(&s->plan->sls, s->plan->policy) & (uint16_t)~sent : 0;
}

/* Levels whose SL maps to no VL at this port. */
static json_t *port_drops(const struct subnet_state *s, const struct port_shares *p)
{
	uint16_t sls = 0;

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		sls |= p->sls[vl];
	return json_levels(s->plan->policy, p->known ? (uint16_t)~sls : 0);
}

/* VLs that some level uses, and other VLs that the tables serve. */
static json_t *port_vls(const struct subnet_state *s, uint32_t port, const struct port_shares *p)
{
	json_t *vls = json_array();

	for (unsigned vl = 0; vl < ARB_VLS; vl++)
		if ((p->load.active | p->high | p->low) >> vl & 1)
			json_array_append_new(vls, vl_object(s, port, p, vl));
	return vls;
}

static void bandwidth_of_port(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t port = arg_port(c, "port", r);
	struct port_shares shares;
	json_t *o;

	if (port == FABRIC_NONE)
		return;
	if (s->f->ports[port].peer == FABRIC_NONE) {
		reply_error(r, NULL, "%s: the port has no link", arg_text(c, "port"));
		return;
	}
	port_shares(s, port, &shares);
	o = json_pack("{s:o, s:o, s:b, s:s}", "port", json_port(s, port),
		      "peer", json_port(s, s->f->ports[port].peer), "managed", shares.known,
		      "arbiter-model", arb_model_name(shares.model));
	add_link(o, shares.rate, shares.mtu,
		 ib_vls_from_code(qos_vls_in_force(s->plan->tables, port)),
		 shares.gbps);
	json_object_set_new(o, "high-limit", shares.arb ? json_integer(shares.arb->high_limit) :
							  json_null());
	json_object_set_new(o, "shares", port_vls(s, port, &shares));
	json_object_set_new(o, "dropped", port_drops(s, &shares));
	json_object_set_new(o, "sls-never-sent", json_bits(port_unsent(s, &shares)));
	reply_result(r, o);
}

/* --- a route --- */

/* A level's bandwidth at a hop in Gb/s, for its SL there; < 0: unknown, or the SL is dropped. */
static double hop_gbps(const struct subnet_state *s, const struct path_hop *hop,
		       const struct policy_level *l, unsigned sl)
{
	uint32_t port = hop_port(s->f, hop);
	struct port_shares shares;
	double gbps, most;

	if (port == FABRIC_NONE)
		return -1;
	port_shares(s, port, &shares);
	if (!shares.known)
		return -1;
	gbps = vl_share(&shares, (unsigned)hop_vl(s, hop, sl)) * shares.gbps;
	most = l->rate_limit ? data_rate_gbps(l->rate_limit) : gbps;
	return gbps < most ? gbps : most;
}

static json_t *level_route(const struct subnet_state *s, uint32_t src, uint32_t dst,
			   const struct policy_level *l)
{
	uint16_t dlid = path_lid_by_bits(s->plan, dst,
					 l->path_bits < 0 ? 0 : (unsigned)l->path_bits);
	struct route_limits route;
	double least = -1;
	unsigned at = 0, sl = plan_sl(s->plan, l->sl, src, dst);

	route_limits(s, src, dst, dlid, &route);
	for (unsigned i = 0; i < route.n; i++) {
		double gbps = hop_gbps(s, &route.hops[i], l, sl);

		if (gbps >= 0 && (least < 0 || gbps < least)) {
			least = gbps;
			at = i;
		}
	}
	return json_pack("{s:o, s:i, s:i, s:b, s:o, s:o, s:o}", "level", json_text(l->name),
			 "sl", sl, "dlid", dlid, "route", route.n > 0,
			 "gbps", json_bound(least),
			 "bottleneck", least < 0 ? json_null() : json_integer(at),
			 "hops", json_hops(s, src, dst, dlid, sl));
}

/* One row per level: a policy may have many levels, and each row has all hops. */
struct routes {
	const struct subnet_state *s;
	uint32_t src, dst;
	size_t next, end;		/* indexes of levels */
};

static json_t *next_route(void *rows)
{
	struct routes *x = rows;

	if (x->next == x->end)
		return NULL;
	return level_route(x->s, x->src, x->dst, &x->s->plan->policy->levels[x->next++]);
}

static void bandwidth_of_route(const struct ctl_call *c, uint32_t only, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t src = arg_end_port(c, "port", r), dst;
	struct routes *x;

	if (src == FABRIC_NONE || (dst = arg_end_port(c, "dst", r)) == FABRIC_NONE)
		return;
	x = xcalloc(1, sizeof(*x));
	*x = (struct routes){ s, src, dst, 0, s->plan->policy->n_levels };
	if (only != LEVEL_ALL) {
		x->next = only;
		x->end = only + 1;
	}
	reply_result(r, json_pack("{s:o, s:o, s:s, s:b}", "source", json_port(s, src),
				  "destination", json_port(s, dst), "arbiter-model",
				  arb_model_name(s->plan->settings->arbiter_model),
				  "managed", s->plan->tables->managed));
	reply_rows(r, "routes", next_route, free, x);
}

/* --- the command --- */

void cmd_bandwidth(const struct ctl_call *c, struct reply *r)
{
	uint32_t level;

	if (!arg_level(c, &level, r))
		return;
	if (arg_flag(c, "links") && arg_text(c, "port"))
		reply_error(r, NULL, "links (--html) covers the whole fabric, not a port or a route");
	else if (arg_text(c, "port") && arg_text(c, "dst"))
		bandwidth_of_route(c, level, r);
	else if (arg_text(c, "port") && level != LEVEL_ALL)
		reply_error(r, NULL, "level: cannot be combined with a port, which shows all its VLs");
	else if (arg_text(c, "port"))
		bandwidth_of_port(c, r);
	else if (arg_text(c, "dst"))
		reply_error(r, NULL, "bandwidth: the destination has no source");
	else
		bandwidth_of_kinds(c, level, r);
}
