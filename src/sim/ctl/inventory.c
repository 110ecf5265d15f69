/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that show nodes, links, single ports and counters. */
#include "sim/ctl/command.h"

#include <infiniband/mad.h>
#include <stddef.h>

#include "sim/net/fields.h"

static const char *type_name(const struct sim_node *n)
{
	return n->type == SIM_SWITCH ? "switch" : n->type == SIM_ROUTER ? "router" : "ca";
}

static const char *power_name(const struct sim_node *n)
{
	return n->off ? "off" : n->hangs ? "hangs" : n->silent ? "silent" : n->driven ? "vm" : "on";
}

/* The LID of a switch, or of a node's first port that has one; null if none has. */
static json_t *node_lid(const struct sim_fabric *f, const struct sim_node *n)
{
	for (uint32_t p = n->port0; p <= n->port0 + n->nports; p++)
		if (is_end_port(f, p) && f->ports[p].lid)
			return json_integer(f->ports[p].lid);
	return json_null();
}

static int links_up(const struct sim_fabric *f, const struct sim_node *n)
{
	int up = 0;

	for (uint32_t p = n->port0 + 1; p <= n->port0 + n->nports; p++)
		up += link_is_up(f, p);
	return up;
}

bool cmd_show_nodes(struct call *c)
{
	const struct sim_fabric *f = c->f;

	c->result = json_array();
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct sim_node *n = &f->nodes[i];

		json_array_append_new(c->result, json_pack(
			"{s:s, s:o, s:o, s:i, s:i, s:s, s:o, s:o}", "type", type_name(n), "guid",
			json_guid(n->guid), "lid", node_lid(f, n), "ports", n->nports, "links-up",
			links_up(f, n), "power", power_name(n), "profile",
			n->profile ? json_text(n->profile->name) : json_null(), "description",
			json_text(n->desc)));
	}
	return true;
}

/* --- cables --- */

static const char *cable_name(const struct sim_port *p)
{
	if (p->peer == SIM_NONE)
		return "none";
	return p->unplugged ? "unplugged" : "plugged";
}

static json_t *link_row(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];

	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "cable", cable_name(p), "link",
			 json_link(f, port), "state", json_state(p), "peer-state",
			 json_state(&f->ports[p->peer]), "port", json_port(f, port), "peer",
			 json_port(f, p->peer));
}

/* Shows each cable once; with a node, only its cables, from its side. */
bool cmd_show_links(struct call *c)
{
	const struct sim_fabric *f = c->f;
	uint32_t node = SIM_NONE;

	if (c->n && !get_node(c, c->word[0], &node))
		return false;
	c->result = json_array();
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct sim_port *p = &f->ports[i];

		if (p->peer == SIM_NONE || (node == SIM_NONE ? p->peer < i : p->node != node))
			continue;
		json_array_append_new(c->result, link_row(f, i));
	}
	return true;
}

/* --- one port --- */

static void add_addresses(json_t *o, const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];

	json_object_set_new(o, "port", json_port(f, port));
	json_object_set_new(o, "type", json_string(type_name(node_of(f, port))));
	json_object_set_new(o, "power", json_string(power_name(node_of(f, port))));
	json_object_set_new(o, "guid", json_guid(p->guid));
	json_object_set_new(o, "lid", json_integer(p->lid));
	json_object_set_new(o, "lmc", json_integer(p->lmc));
	json_object_set_new(o, "sm-lid", json_integer(p->sm_lid));
}

static json_t *port_row(const struct sim_fabric *f, uint32_t port)
{
	const struct sim_port *p = &f->ports[port];
	uint32_t code = p->phys_state;
	json_t *o = json_object();
	char phys[64];

	mad_dump_val(IB_PORT_PHYS_STATE_F, phys, sizeof(phys), &code);
	add_addresses(o, f, port);
	json_object_set_new(o, "state", json_state(p));
	json_object_set_new(o, "physical-state", json_text(phys));
	json_object_set_new(o, "link", json_link(f, port));
	json_object_set_new(o, "mtu", p->mtu ? json_integer(128 << p->mtu) : json_null());
	json_object_set_new(o, "vls", json_integer(p->op_vls));
	json_object_set_new(o, "m-key", json_guid(get_be64(p->info + PI_MKEY)));
	json_object_set_new(o, "m-key-protection",
			    json_integer(p->info[PI_MKEY_PROTECT_LMC] >> 6));
	json_object_set_new(o, "reregisters", json_integer(p->reregisters));
	json_object_set_new(o, "taken-down", json_integer(p->taken_down));
	json_object_set_new(o, "cable", json_string(cable_name(p)));
	json_object_set_new(o, "peer", json_port(f, p->peer));
	json_object_set_new(o, "peer-state",
			    p->peer == SIM_NONE ? json_null() : json_state(&f->ports[p->peer]));
	return o;
}

bool cmd_show_port(struct call *c)
{
	c->result = port_row(c->f, c->port);
	return true;
}

/* Those that a cable leads to, and switches' own. */
bool cmd_show_end_ports(struct call *c)
{
	struct sim_fabric *f = c->f;

	c->result = json_array();
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (is_end_port(f, i) && (f->ports[i].num == 0 || f->ports[i].peer != SIM_NONE))
			json_array_append_new(c->result, port_row(f, i));
	return true;
}

/* --- counters --- */

#define COUNTER(name, member) { name, offsetof(struct sim_counters, member) }
static const struct {
	const char *name;
	size_t offset;
} counters[] = {
	COUNTER("xmit-data", xmit_data), COUNTER("rcv-data", rcv_data),
	COUNTER("xmit-packets", xmit_pkts), COUNTER("rcv-packets", rcv_pkts),
	COUNTER("unicast-xmit-packets", ucast_xmit), COUNTER("unicast-rcv-packets", ucast_rcv),
	COUNTER("multicast-xmit-packets", mcast_xmit),
	COUNTER("multicast-rcv-packets", mcast_rcv),
	COUNTER("symbol-errors", symbol_errors), COUNTER("link-recovers", link_recovers),
	COUNTER("link-downed", link_downed), COUNTER("rcv-errors", rcv_errors),
	COUNTER("rcv-remote-physical-errors", rcv_remote_physical),
	COUNTER("rcv-switch-relay-errors", rcv_switch_relay),
	COUNTER("xmit-discards", xmit_discards),
	COUNTER("xmit-constraint-errors", xmit_constraint),
	COUNTER("rcv-constraint-errors", rcv_constraint),
	COUNTER("local-integrity-errors", local_integrity),
	COUNTER("buffer-overrun-errors", buffer_overrun),
	COUNTER("vl15-dropped", vl15_dropped), COUNTER("xmit-wait", xmit_wait),
	COUNTER("qp1-dropped", qp1_dropped),
};

bool cmd_count(struct call *c)
{
	struct words known = { 0 };
	uint64_t n;
	uint32_t port;

	if (!get_port(c, c->word[0], &port) ||
	    !get_number(c, "N", c->word[2], 1, UINT32_MAX, &n))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		char *at = (char *)port_counters(&c->s->f->ports[port]) + counters[i].offset;

		if (strcmp(counters[i].name, c->word[1]) == 0) {
			*(uint64_t *)(void *)at += n;
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		*vec_push(&known) = counters[i].name;
	return refuse_word(c, "counter", c->word[1], &known);
}

static json_t *vl_rows(const struct sim_counters *k)
{
	json_t *rows = json_array();

	for (int vl = 0; vl < 16; vl++)
		if (k->vl_xmit_pkts[vl] || k->vl_rcv_pkts[vl])
			json_array_append_new(rows, json_pack(
				"{s:i, s:I, s:I, s:I, s:I, s:I}", "vl", vl,
				"xmit-data", (json_int_t)k->vl_xmit_data[vl],
				"rcv-data", (json_int_t)k->vl_rcv_data[vl],
				"xmit-packets", (json_int_t)k->vl_xmit_pkts[vl],
				"rcv-packets", (json_int_t)k->vl_rcv_pkts[vl],
				"xmit-wait", (json_int_t)k->vl_xmit_wait[vl]));
	return rows;
}

bool cmd_show_counters(struct call *c)
{
	static const struct sim_counters none;
	const struct sim_counters *k = c->f->ports[c->port].counters;

	k = k ? k : &none;
	c->result = json_object();
	json_object_set_new(c->result, "port", json_port(c->f, c->port));
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		const char *at = (const char *)k + counters[i].offset;

		json_object_set_new(c->result, counters[i].name,
				    json_integer((json_int_t)*(const uint64_t *)(const void *)at));
	}
	json_object_set_new(c->result, "by-vl", vl_rows(k));
	return true;
}
