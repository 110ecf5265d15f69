/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See port_shares.h.  Computes what contends at an out port.
 */
#include "plan/port_shares.h"

#include "lib/iba/units.h"

static void add_level(struct port_shares *x, const struct policy_level *l, unsigned sl, unsigned vl)
{
	uint8_t code = l->mtu_limit && l->mtu_limit < x->mtu ? l->mtu_limit : x->mtu;
	uint16_t bytes = (uint16_t)mtu_bytes(code);

	if (vl >= ARB_VLS || !bytes)
		return;
	x->sls[vl] |= (uint16_t)(1u << sl);
	x->load.active |= (uint16_t)(1u << vl);
	if (bytes > x->load.packet[vl])
		x->load.packet[vl] = bytes;
}

/* Adds the levels and other SLs by one SL2VL table; TABLE_NONE: all are on the only VL in use. */
static void add_levels(struct port_shares *x, const struct subnet_state *s, uint16_t map,
		       unsigned vls)
{
	const struct policy *p = s->plan->policy;
	uint16_t unnamed = sl_plan_unnamed(&s->plan->sls, p);

	for (size_t i = 0; i < p->n_levels; i++) {
		const struct policy_level *l = &p->levels[i];

		for (unsigned layer = 0; layer < s->plan->sls.n_layers; layer++) {
			unsigned sl = s->plan->sls.sl[l->sl][layer];
			unsigned vl = map == TABLE_NONE ? 0 : s->plan->tables->maps[map].vl[sl];

			if (vl < vls)
				add_level(x, l, sl, vl);
		}
	}
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		unsigned vl = map == TABLE_NONE ? 0 : s->plan->tables->maps[map].vl[sl];

		if (vl < vls && vl < ARB_VLS && unnamed >> sl & 1)
			x->unnamed[vl] |= (uint16_t)(1u << sl);
	}
}

/* Adds each distinct table by which packets come to the port. */
static void add_maps(struct port_shares *x, const struct subnet_state *s, uint32_t port)
{
	const struct qos_tables *t = s->plan->tables;
	const struct fabric_port *p = &s->f->ports[port];
	const struct fabric_node *n = &s->f->nodes[p->node];
	unsigned vls = ib_vls_from_code(qos_vls_in_force(t, port));
	unsigned last = node_is_switch(n) ? n->nports : 0;
	uint16_t before = TABLE_NONE;
	bool any = false;

	for (unsigned in = 0; in <= last; in++) {
		uint16_t map = qos_sl2vl_in_force(t, s->f, p->node, in, p->num);

		if (map == TABLE_NONE || (any && map == before))
			continue;
		add_levels(x, s, map, vls);
		before = map;
		any = true;
	}
	if (!any)
		add_levels(x, s, TABLE_NONE, 1);
}

static void arbitrate(struct port_shares *x)
{
	arbiter_run(x->arb, &x->load, &x->cycle);
	x->by_study = arbiter_measured(x->arb, &x->load, x->measured);
}

void port_shares(const struct subnet_state *s, uint32_t port, struct port_shares *out)
{
	const struct qos_tables *t = s->plan->tables;
	struct path_info link;

	*out = (struct port_shares){
		.known = t->managed, .model = s->plan->settings->arbiter_model,
	};
	if (s->f->ports[port].peer == FABRIC_NONE)
		return;
	link = paths_of_port(s->f, port);
	out->mtu = link.mtu;
	out->rate = link.rate;
	out->gbps = link_data_gbps(link.rate, s->f->ports[port].fdr10);
	if (!t->managed)
		return;
	add_maps(out, s, port);
	if (t->arb[port] == TABLE_NONE)
		return;
	out->arb = &t->arbs[t->arb[port]];
	out->high = arbiter_high_vls(out->arb);
	out->low = arbiter_low_vls(out->arb);
	arbitrate(out);
}

void port_shares_with(const struct subnet_state *s, uint32_t port, unsigned vl, struct port_shares *out)
{
	port_shares(s, port, out);
	if (!out->known || vl >= ARB_VLS || out->load.active >> vl & 1)
		return;
	out->load.active |= (uint16_t)(1u << vl);
	out->load.packet[vl] = (uint16_t)mtu_bytes(out->mtu);
	if (out->arb)
		arbitrate(out);
}

double vl_share_by(const struct port_shares *p, unsigned vl, enum arb_model model)
{
	if (vl >= ARB_VLS || !(p->load.active >> vl & 1))
		return 0;
	if (!p->arb)
		return 1;
	if (model == ARB_MODEL_MEASURED)
		return p->by_study ? p->measured[vl] : -1;
	return p->cycle.share[vl];
}

double vl_share(const struct port_shares *p, unsigned vl)
{
	double share = vl_share_by(p, vl, p->model);

	return share < 0 ? vl_share_by(p, vl, ARB_MODEL_IBA) : share;
}

double vl_share_idle(const struct port_shares *p, unsigned vl)
{
	struct arb_load low = p->load;
	struct arb_cycle cycle;

	if (vl >= ARB_VLS || !(p->load.active >> vl & 1))
		return 0;
	if (!p->arb)
		return 1;
	if (p->high >> vl & 1)
		return -1;
	low.active &= (uint16_t)~p->high;
	arbiter_run(p->arb, &low, &cycle);
	return cycle.share[vl];
}

double vl_wait_us(const struct port_shares *p, unsigned vl)
{
	uint64_t bytes;

	if (!p->arb || vl >= ARB_VLS || p->gbps <= 0)
		return -1;
	bytes = arbiter_wait_bytes(p->arb, &p->load, vl);
	return bytes == UINT64_MAX ? -1 : (double)bytes * 8 / (p->gbps * 1000);
}
