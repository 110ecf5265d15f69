/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds and frees the fabric: nodes with their ports, and cables.
 *
 * sim/dev allocates what a device holds, but the model owns and frees it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/net/model.h"

#define NODES_MAX (1u << 20)	/* even with 254 ports each, 32 bits can count the ports */

struct sim_fabric *simfab_new(void)
{
	return xcalloc(1, sizeof(struct sim_fabric));
}

static void port_free(struct sim_port *p)
{
	free(p->pkeys);
	free(p->guids);
	free(p->sl2vl);
	free(p->counters);
}

void simfab_free(struct sim_fabric *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n_ports; i++)
		port_free(&f->ports[i]);
	for (uint32_t i = 0; i < f->n_switches; i++) {
		free(f->switches[i].lft);
		free(f->switches[i].adaptive_lft);
		free(f->switches[i].private_lft);
		free(f->switches[i].sl2vl);
		free(f->switches[i].mft);
	}
	for (size_t i = 0; i < f->profiles.n; i++) {
		free(f->profiles.v[i]->name);
		free(f->profiles.v[i]);
	}
	vec_free(&f->profiles);
	map64_free(&f->node_by_guid);
	map64_free(&f->port_by_guid);
	free(f->nodes);
	free(f->ports);
	free(f->switches);
	free(f);
}

/* Makes room for `more` zeroed elements after n. */
static void *grow(void *v, uint32_t n, uint32_t more, uint32_t *cap, size_t size)
{
	if (n + more > *cap) {
		while (n + more > *cap)
			*cap = *cap ? *cap * 2 : 256;
		v = xrealloc(v, *cap, size);
	}
	memset((char *)v + n * size, 0, more * size);
	return v;
}

/* The GUID of end port num; a switch has only port 0. */
static uint64_t end_port_guid(const struct sim_node_spec *s, unsigned num)
{
	if (s->type == SIM_SWITCH)
		return s->guid;
	if (num < ARRAY_SIZE(s->port_guid) && s->port_guid[num])
		return s->port_guid[num];
	return s->guid + num;
}

static bool guids_are_free(const struct sim_fabric *f, const struct sim_node_spec *s,
			   struct buf *err)
{
	unsigned first = s->type == SIM_SWITCH ? 0 : 1;
	unsigned last = s->type == SIM_SWITCH ? 0 : s->nports;

	if (map64_get(&f->node_by_guid, s->guid) != MAP64_NONE) {
		buf_printf(err, "there are two nodes with GUID 0x%016jx", (uintmax_t)s->guid);
		return false;
	}
	for (unsigned i = first; i <= last; i++) {
		uint64_t guid = end_port_guid(s, i);
		bool twice = map64_get(&f->port_by_guid, guid) != MAP64_NONE;

		for (unsigned j = first; j < i; j++)
			twice |= end_port_guid(s, j) == guid;
		if (twice) {
			buf_printf(err, "there are two ports with GUID 0x%016jx", (uintmax_t)guid);
			return false;
		}
	}
	return true;
}

static bool node_is_good(const struct sim_fabric *f, const struct sim_node_spec *s,
			 struct buf *err)
{
	if (s->type != SIM_CA && s->type != SIM_SWITCH && s->type != SIM_ROUTER)
		buf_printf(err, "unknown node type %u", s->type);
	else if (s->nports == 0)
		buf_puts(err, "a node needs at least one port");
	else if (s->nports > SIM_PORTS_MAX)
		buf_printf(err, "a node has at most %u ports, not %u", SIM_PORTS_MAX, s->nports);
	else if (s->guid == 0)
		buf_puts(err, "a node's GUID cannot be 0");
	else if (f->n_nodes >= NODES_MAX)
		buf_printf(err, "more than %u nodes", NODES_MAX);
	else
		return guids_are_free(f, s, err);
	return false;
}

static void add_ports(struct sim_fabric *f, uint32_t node, const struct sim_node_spec *s)
{
	bool sw = s->type == SIM_SWITCH;
	uint32_t port0 = f->n_ports;

	f->ports = grow(f->ports, f->n_ports, s->nports + 1u, &f->cap_ports, sizeof(*f->ports));
	f->n_ports += s->nports + 1u;
	for (unsigned i = 0; i <= s->nports; i++) {
		struct sim_port *p = &f->ports[port0 + i];

		p->node = node;
		p->num = (uint8_t)i;
		p->peer = SIM_NONE;
		if (sw ? i == 0 : i != 0) {
			p->guid = end_port_guid(s, i);
			map64_put(&f->port_by_guid, p->guid, port0 + i);
		} else if (sw) {
			p->guid = s->guid;
		}
	}
	f->nodes[node].port0 = port0;
}

static void add_switch(struct sim_fabric *f, uint32_t node)
{
	f->switches = grow(f->switches, f->n_switches, 1, &f->cap_switches,
			   sizeof(*f->switches));
	f->switches[f->n_switches].node = node;
	f->nodes[node].sw = f->n_switches++;
}

uint32_t simfab_add_node(struct sim_fabric *f, const struct sim_node_spec *s, struct buf *err)
{
	if (!node_is_good(f, s, err))
		return SIM_NONE;

	uint32_t node = f->n_nodes++;

	f->nodes = grow(f->nodes, node, 1, &f->cap_nodes, sizeof(*f->nodes));
	struct sim_node *n = &f->nodes[node];

	n->guid = s->guid;
	n->sysimg_guid = s->sysimg_guid;
	n->type = s->type;
	n->nports = s->nports;
	n->vendor_id = s->vendor_id;
	n->device_id = s->device_id;
	n->enhanced_port0 = s->enhanced_port0;
	n->base_port0 = s->base_port0;
	n->sw = SIM_NONE;
	snprintf(n->id, sizeof(n->id), "%s", s->id ? s->id : "");
	snprintf(n->desc, sizeof(n->desc), "%s", s->desc ? s->desc : "");
	memcpy(n->given_desc, n->desc, sizeof(n->given_desc));
	map64_put(&f->node_by_guid, n->guid, node);
	add_ports(f, node, s);
	if (s->type == SIM_SWITCH)
		add_switch(f, node);
	return node;
}

static bool refuse_port(const struct sim_fabric *f, uint32_t port, const char *why,
			struct buf *err)
{
	char name[SIM_NAME_MAX];

	buf_printf(err, "%s %s", sim_port_name(f, port, name, sizeof(name)), why);
	return false;
}

/* loose: the port may have a cable that is unplugged. */
static bool can_take_cable(const struct sim_fabric *f, uint32_t port, bool loose, struct buf *err)
{
	const struct sim_port *p;

	if (port >= f->n_ports) {
		buf_puts(err, "there is no such port");
		return false;
	}
	p = &f->ports[port];
	if (p->num == 0)
		return refuse_port(f, port, "takes no cable", err);
	return p->peer == SIM_NONE || (loose && p->unplugged) ||
	       refuse_port(f, port, loose ? "has a cable that is plugged in" : "already has a cable", err);
}

static void forget_cable(struct sim_port *p)
{
	p->peer = SIM_NONE;
	p->unplugged = false;
	p->cable_width = p->cable_speed = p->cable_ext = 0;
	p->cable_fdr10 = false;
}

static void remove_cable(struct sim_fabric *f, uint32_t port)
{
	if (f->ports[port].peer != SIM_NONE)
		forget_cable(&f->ports[f->ports[port].peer]);
	forget_cable(&f->ports[port]);
}

static bool connect_ports(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, bool loose,
			  struct buf *err)
{
	if (!can_take_cable(f, port_a, loose, err) || !can_take_cable(f, port_b, loose, err))
		return false;
	if (port_a == port_b) {
		buf_puts(err, "a cable needs two ends");
		return false;
	}
	if (loose) {
		remove_cable(f, port_a);
		remove_cable(f, port_b);
	}
	f->ports[port_a].peer = port_b;
	f->ports[port_b].peer = port_a;
	return true;
}

bool simfab_connect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err)
{
	return connect_ports(f, port_a, port_b, false, err);
}

bool simfab_reconnect(struct sim_fabric *f, uint32_t port_a, uint32_t port_b, struct buf *err)
{
	return connect_ports(f, port_a, port_b, true, err);
}

bool link_is_up(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];

	if (p->peer == SIM_NONE || p->unplugged || p->disabled)
		return false;
	const struct sim_port *q = &f->ports[p->peer];

	return !q->unplugged && !q->disabled && !f->nodes[p->node].off && !f->nodes[q->node].off;
}

struct sim_counters *port_counters(struct sim_port *p)
{
	if (!p->counters)
		p->counters = xcalloc(1, sizeof(*p->counters));
	return p->counters;
}

void port_count(struct sim_port *p, bool xmit, const struct sim_traffic *t)
{
	struct sim_counters *c = port_counters(p);

	*(xmit ? &c->xmit_data : &c->rcv_data) += t->words;
	(xmit ? c->vl_xmit_data : c->vl_rcv_data)[t->vl] += t->words;
	if (t->vl != SIM_SMP_VL)
		(xmit ? c->sl_xmit_data : c->sl_rcv_data)[t->sl & 15] += t->words;
	*(xmit ? &c->xmit_pkts : &c->rcv_pkts) += t->packets;
	(xmit ? c->vl_xmit_pkts : c->vl_rcv_pkts)[t->vl] += t->packets;
	if (t->multicast)
		*(xmit ? &c->mcast_xmit : &c->mcast_rcv) += t->packets;
	else
		*(xmit ? &c->ucast_xmit : &c->ucast_rcv) += t->packets;
}
