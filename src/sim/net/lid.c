/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Computes one hop of a packet by LFT, SL2VL, P_Keys and the states of the link's ends.
 *
 * Nothing here changes the model.
 */
#include "sim/net/transit.h"

static enum drop_reason way_by_lft(const struct sim_fabric *f, uint32_t port, uint16_t dlid,
				   struct way *w)
{
	const struct sim_node *n = node_of(f, port);
	const struct sim_switch *sw = &f->switches[n->sw];

	*w = (struct way){ port, PLACE_END };
	if (!sw->lft || dlid == 0 || dlid > sw->lft_top || switch_lft(sw)[dlid] > n->nports)
		return DROP_NO_ROUTE;	/* SIM_LFT_DROP exceeds any port number */
	*w = (struct way){ n->port0 + switch_lft(sw)[dlid], PLACE_EXIT };
	if (w->port == n->port0) {
		w->place = PLACE_END;
		return port_has_lid(&f->ports[n->port0], dlid) ? DROP_NONE : DROP_WRONG_LFT;
	}
	return w->port == port ? DROP_LOOP : DROP_NONE;
}

enum drop_reason way_by_lid(const struct sim_fabric *f, uint32_t port, enum place place,
			    uint16_t dlid, struct way *w)
{
	const struct sim_node *n = node_of(f, port);
	bool own = port_has_lid(&f->ports[port], dlid);

	*w = (struct way){ port, PLACE_END };
	if (place == PLACE_START && own)
		return DROP_NONE;	/* the packet does not leave the port */
	if (is_switch(n)) {
		if (place == PLACE_START || dlid != SIM_LID_PERMISSIVE)
			return way_by_lft(f, port, dlid, w);
		w->port = n->port0;
		return DROP_NONE;
	}
	if (place == PLACE_START) {
		w->place = PLACE_EXIT;
		return dlid ? DROP_NONE : DROP_NO_ROUTE;
	}
	return own || dlid == SIM_LID_PERMISSIVE ? DROP_NONE : DROP_WRONG_LFT;
}

uint8_t sl2vl_get(const struct sim_fabric *f, uint32_t node, unsigned in, unsigned out,
		  unsigned sl)
{
	const struct sim_node *n = &f->nodes[node];
	const uint8_t *table;

	if (is_switch(n)) {
		table = f->switches[n->sw].sl2vl;
		if (table)
			table += (in * (n->nports + 1u) + out) * 8;
	} else {
		table = f->ports[n->port0 + out].sl2vl;
	}
	if (!table)
		return 0;
	sl &= 15;
	return sl % 2 ? table[sl / 2] & 15 : table[sl / 2] >> 4;
}

int pkey_find(const struct sim_port *p, uint16_t pkey)
{
	if ((pkey & 0x7fff) == 0)
		return -1;	/* the invalid P_Key, which marks free entries */
	for (unsigned i = 0; i < p->n_pkeys; i++)
		if (((p->pkeys[i] ^ pkey) & 0x7fff) == 0 && ((p->pkeys[i] | pkey) & 0x8000))
			return (int)i;
	return -1;
}

bool pkey_matches(const struct sim_port *p, uint16_t pkey)
{
	return pkey_find(p, pkey) >= 0;
}

enum drop_reason link_blocked(const struct sim_fabric *f, uint32_t out, uint8_t state)
{
	const struct sim_port *p = &f->ports[out];

	if (link_is_up(f, out))
		return p->state < state ? DROP_PORT_STATE : DROP_NONE;
	return p->peer != SIM_NONE && node_of(f, p->peer)->off ? DROP_NODE_OFF : DROP_LINK_DOWN;
}

enum drop_reason data_blocked(const struct sim_fabric *f, uint32_t in, uint32_t out, uint8_t sl,
			      uint8_t *vl)
{
	const struct sim_port *i = &f->ports[in], *o = &f->ports[out];
	enum drop_reason why = link_blocked(f, out, SIM_PORT_ACTIVE);

	*vl = 0;
	if (why)
		return why;
	if (f->ports[o->peer].state < SIM_PORT_ARMED)
		return DROP_PORT_STATE;
	*vl = sl2vl_get(f, o->node, i->num, o->num, sl);
	if (*vl == SIM_VL_DROP)
		return DROP_VL15;
	if (*vl >= o->op_vls)
		return DROP_VL_MISSING;
	return *vl < f->ports[o->peer].op_vls ? DROP_NONE : DROP_NO_CREDIT;
}

enum drop_reason wire_next_hop(const struct sim_fabric *f, uint32_t in_port, uint16_t dlid,
			       uint8_t sl, uint32_t *out_port, uint8_t *vl)
{
	enum place place = is_switch(node_of(f, in_port)) ? PLACE_ENTRY : PLACE_START;
	struct way w;
	enum drop_reason why;

	*vl = 0;
	*out_port = in_port;
	if (dlid >= SIM_LID_MCAST)
		return DROP_NO_ROUTE;
	why = way_by_lid(f, in_port, place, dlid, &w);
	if (!why && w.place == PLACE_EXIT)
		why = data_blocked(f, in_port, w.port, sl, vl);
	*out_port = w.port;
	return why;
}
