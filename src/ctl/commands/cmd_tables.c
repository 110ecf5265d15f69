/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `sl2vl` and `vlarb`: the tables of one port as the device holds them.  "managed" is false
 * if the device has its power-on tables, which nobody has read.
 */
#include "ctl/command.h"

static json_t *port_head(const struct subnet_state *s, uint32_t port)
{
	return json_pack("{s:o, s:i}", "port", json_port(s, port), "vls",
			 (int)ib_vls_from_code(qos_vls_in_force(s->plan->tables, port)));
}

/* --- SL2VL (14.2.5.8): a switch has one table per in port, other nodes have one --- */

static void add_map(json_t *tables, const struct subnet_state *s, uint32_t port, unsigned in)
{
	const struct qos_tables *t = s->plan->tables;
	const struct fabric_port *p = &s->f->ports[port];
	uint16_t id = qos_sl2vl_in_force(t, s->f, p->node, in, p->num);

	if (id != TABLE_NONE)
		json_array_append_new(tables, json_pack("{s:i, s:o}", "in", (int)in,
							"vl", json_vls(&t->maps[id])));
}

void cmd_sl2vl(const struct ctl_call *c, struct reply *r)
{
	const struct subnet_state *s = c->state;
	uint32_t port = arg_port(c, "port", r);
	const struct fabric_node *n;
	json_t *result, *tables;

	if (port == FABRIC_NONE)
		return;
	n = port_node(s->f, port);
	tables = json_array();
	for (unsigned in = 0; in <= (node_is_switch(n) ? n->nports : 0u); in++)
		add_map(tables, s, port, in);
	result = port_head(s, port);
	json_object_set_new(result, "managed", json_boolean(json_array_size(tables) > 0));
	json_object_set_new(result, "tables", tables);
	reply_result(r, result);
}

/* --- VL arbitration (14.2.5.9) --- */

static json_t *arb_entries(const struct vlarb_entry *e, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:i, s:i}", "vl", e[i].vl,
						      "weight", e[i].weight));
	return list;
}

void cmd_vlarb(const struct ctl_call *c, struct reply *r)
{
	const struct qos_tables *t = c->state->plan->tables;
	uint32_t port = arg_port(c, "port", r);
	const struct vlarb *arb;
	json_t *result;

	if (port == FABRIC_NONE)
		return;
	result = port_head(c->state, port);
	arb = t->managed && t->arb[port] != TABLE_NONE ? &t->arbs[t->arb[port]] : NULL;
	json_object_set_new(result, "managed", json_boolean(arb != NULL));
	if (arb) {
		json_object_set_new(result, "high-limit", json_integer(arb->high_limit));
		json_object_set_new(result, "high", arb_entries(arb->high, arb->n_high));
		json_object_set_new(result, "low", arb_entries(arb->low, arb->n_low));
	}
	reply_result(r, result);
}
