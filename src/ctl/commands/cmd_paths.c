/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `route`: the hops between two end ports.  It makes hops for `explain`, too: the VL of an
 * SL at each, the link's rate, and the VL's share of it when the VLs of all levels are backlogged.
 */
#include "ctl/commands/cmd_explain.h"

#include "lib/iba/units.h"

/* --- hops --- */

uint32_t hop_port(const struct fabric *f, const struct path_hop *hop)
{
	const struct fabric_node *n = &f->nodes[hop->node];
	uint32_t port = n->port0 + hop->out;

	if (hop->out == 0 || hop->out > n->nports || f->ports[port].peer == FABRIC_NONE)
		return FABRIC_NONE;
	return port;
}

int hop_vl(const struct subnet_state *s, const struct path_hop *hop, unsigned sl)
{
	if (!s->plan->tables->managed && hop->map == TABLE_NONE)
		return -1;
	if (!(paths_hop_sls(s->f, s->plan->tables, hop->node, hop->in, hop->out) >> sl & 1))
		return IB_VL_DROP;
	return hop->map == TABLE_NONE ? 0 : s->plan->tables->maps[hop->map].vl[sl];
}

static void add_link(json_t *o, const struct subnet_state *s, const struct path_hop *hop,
		     unsigned sl)
{
	uint32_t port = hop_port(s->f, hop);
	struct port_shares shares;

	if (port == FABRIC_NONE)
		return;
	port_shares(s, port, &shares);
	json_object_set_new(o, "mtu", json_integer(mtu_bytes(shares.mtu)));
	json_object_set_new(o, "rate", json_real(rate_tenths(shares.rate) / 10.0));
	json_add_share(o, &shares, shares.known ? (unsigned)hop_vl(s, hop, sl) : 0);
}

static json_t *hop_object(const struct subnet_state *s, const struct path_hop *hop, unsigned sl)
{
	const struct fabric_node *n = &s->f->nodes[hop->node];
	const struct sl2vl *map = hop->map == TABLE_NONE ? NULL :
				  &s->plan->tables->maps[hop->map];
	json_t *o = json_pack("{s:o, s:o, s:i, s:i, s:o, s:o}",
			      "node", json_text(fabric_node_desc(s->f, n)), "guid", json_guid(n->guid),
			      "in", hop->in, "out", hop->out,
			      "vl", map ? json_integer(hop_vl(s, hop, sl)) : json_null(),
			      "sl2vl", map ? json_vls(map) : json_null());

	add_link(o, s, hop, sl);
	return o;
}

json_t *json_hops(const struct subnet_state *s, uint32_t src, uint32_t dst, uint16_t dlid,
		  unsigned sl)
{
	struct path_hop hops[PATH_HOPS_MAX];
	bool there;
	unsigned n = paths_follow(s->f, s->plan->lfts, s->plan->tables, src, dlid, dst, hops,
				  PATH_HOPS_MAX, &there);
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

	return plan_sl(s->plan, s->plan->policy->levels[path_level(s, &q, &rule)].sl, src, dst);
}

void cmd_route(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t src = arg_end_port(c, "src", r), dst;
	struct route_limits route;
	uint64_t sl;

	if (src == FABRIC_NONE || (dst = arg_end_port(c, "dst", r)) == FABRIC_NONE)
		return;
	route_limits(s, src, dst, s->plan->lid[dst], &route);
	if (route.n == 0) {
		reply_error(r, NULL, "there is no route");
		return;
	}
	if (!arg_number(c, "sl", &sl))
		sl = plain_sl(s, src, dst);
	reply_result(r, json_pack("{s:o, s:o, s:i, s:i, s:o}", "source", json_port(s, src),
				  "destination", json_port(s, dst),
				  "dlid", s->plan->lid[dst], "sl", (int)sl,
				  "hops", json_hops(s, src, dst, s->plan->lid[dst],
						    (unsigned)sl)));
}
