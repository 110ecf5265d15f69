/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Builds all tables of a fabric in order, and computes VL limits and OperationalVLs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "qos/tables/qos_tables_build.h"

enum port_class port_class_of(const struct fabric *f, uint32_t port)
{
	switch (port_node(f, port)->type) {
	case IB_NODE_SWITCH_T:
		return f->ports[port].num ? CLASS_SWITCH : CLASS_SWITCH_PORT0;
	case IB_NODE_ROUTER_T:
		return CLASS_ROUTER;
	default:
		return CLASS_CA;
	}
}

/* --- findings --- */

void note_port(struct note *n, uint32_t port, unsigned value, unsigned limit)
{
	if (n->ports && n->last == port)
		return;
	if (!n->ports++) {
		n->first = port;
		n->value = value;
		n->limit = limit;
	}
	n->last = port;
}

void note_link(const struct tables_build *b, struct note *n, uint32_t port, unsigned value,
	       unsigned limit)
{
	if (b->f->ports[port].peer == FABRIC_NONE || !link_is_inner(b->f, port))
		note_port(n, port, value, limit);
}

char *note_ports_text(const struct tables_build *b, const struct note *n, char *out, size_t size)
{
	const char *name = PORT_NAME(b->f, n->first);

	if (n->ports > 1)
		snprintf(out, size, "%s and %u more port%s", name, n->ports - 1,
			 n->ports > 2 ? "s" : "");
	else
		snprintf(out, size, "%s", name);
	return out;
}

static void report_lacking(struct tables_build *b, const struct lacking *l, const char *list,
			   const struct port_list *ports)
{
	char more[48] = "";

	if (!l->nodes)
		return;
	if (l->nodes > 1)
		snprintf(more, sizeof(more), ", nor on %u more device%s", l->nodes - 1,
			 l->nodes > 2 ? "s" : "");
	findings_add(b->out, SEV_ERROR, b->p->file, ports->pos,
		     "\"%s\": there is no port %u on %s, which has %u%s", list, l->port,
		     NODE_NAME(b->f, l->node),
		     b->f->nodes[l->node].nports, more);
}

void lay_scope(struct tables_build *b, struct stacks *s, uint32_t n, struct src_pos pos,
	       const struct policy_name *group, const struct scope *scope)
{
	const struct scope_reach reach = stacks_add(s, b->g, scope, n);

	if (!reach.ports)
		findings_add(b->out, SEV_WARNING, b->p->file, pos,
			     "this setting for %s \"%s\" matches no port",
			     scope->kind == SCOPE_ACROSS ? "the ports across group" : "group",
			     group->s);
	if (scope->from)
		report_lacking(b, &reach.from, "from", scope->from);
	report_lacking(b, &reach.to, "to", scope->to);
}

uint16_t table_number(struct tables_build *b, struct intern *tables, const void *table)
{
	uint32_t n = intern_put(tables, table);

	if (n < TABLE_NONE)
		return (uint16_t)n;
	if (n == TABLE_NONE)
		findings_add(b->out, SEV_ERROR, b->p->file, (struct src_pos){ 0, 0 },
			     "the policy makes more than %u different tables on this fabric",
			     TABLE_NONE);
	return TABLE_NONE;
}

/* --- VLs of the links --- */

/* The VL code that a port supports and that the settings and its class's default allow. */
static uint8_t port_limit(const struct tables_build *b, uint32_t port)
{
	uint8_t code = b->f->ports[port].vl_cap;
	unsigned by_class = b->p->defaults[port_class_of(b->f, port)].max_vls;
	unsigned max = b->max_vls;

	if (b->t->managed && by_class && by_class < max)
		max = by_class;
	while (code > 1 && ib_vls_from_code(code) > max)
		code--;
	return code;
}

static void find_limits(struct tables_build *b)
{
	const struct fabric *f = b->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer == FABRIC_NONE)
			continue;
		uint8_t own = port_limit(b, i), other = port_limit(b, peer);

		b->limit[i] = own < other ? own : other;
	}
	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t port0 = f->nodes[f->switches[i].node].port0;

		if (f->switches[i].enhanced_port0)
			b->limit[port0] = port_limit(b, port0);
	}
	if (b->sls->n_vl_sets == 1)
		return;
	for (uint32_t i = 0; i < b->f->n_ports; i++) {
		if (!b->limit[i])
			continue;
		b->set_kind[i] = (uint8_t)sl_plan_vl_set_kind(b->sls, b->f, FABRIC_NONE, i);
		if (b->set_kind[i] != SL_VL_SETS_NONE) {
			b->wide[i] = b->limit[i];
			b->limit[i] = vl_code_of_set(b->limit[i], b->sls->n_vl_sets);
		}
	}
}

/*
 * Sets OperationalVLs of each link to cover what the tables of both ends use; ports without a link have
 * none.
 */
static void set_op_vls(struct tables_build *b)
{
	const struct fabric *f = b->f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer == FABRIC_NONE)
			continue;
		uint8_t vl = b->highest[i] > b->highest[peer] ? b->highest[i] : b->highest[peer];
		uint8_t code = (uint8_t)ib_vls_to_code(vl + 1u);
		uint8_t limit = b->wide[i] ? b->wide[i] : b->limit[i];

		b->t->op_vls[i] = b->t->managed && code < limit ? code : limit;
	}
}

/* --- build --- */

static struct qos_tables *tables_new(const struct policy *p, const struct fabric *f,
				     const struct sl_plan *sls)
{
	struct qos_tables *t = xcalloc(1, sizeof(*t));

	t->managed = policy_manages_tables(p) || sls->n_layers > 1;
	t->n_ports = f->n_ports;
	t->n_switches = f->n_switches;
	t->op_vls = xcalloc(f->n_ports, sizeof(*t->op_vls));
	t->arb = xcalloc(f->n_ports, sizeof(*t->arb));
	t->ca_map = xcalloc(f->n_ports, sizeof(*t->ca_map));
	t->fit = xcalloc(f->n_ports, sizeof(*t->fit));
	for (uint32_t i = 0; i < f->n_ports; i++)
		t->arb[i] = t->ca_map[i] = t->fit[i] = TABLE_NONE;
	t->sw = xcalloc(f->n_switches, sizeof(*t->sw));
	for (uint32_t i = 0; i < f->n_switches; i++)
		t->sw[i].uniform = TABLE_NONE;
	return t;
}

struct qos_tables *qos_tables_build(const struct policy *p, const struct fabric *f,
				    const struct group_sets *g, unsigned max_vls,
				    const struct sl_plan *sls, struct findings *out)
{
	struct tables_build b = {
		.p = p, .f = f, .g = g, .out = out, .t = tables_new(p, f, sls),
		.max_vls = max_vls, .sls = sls,
		.limit = xcalloc(f->n_ports, 1), .wide = xcalloc(f->n_ports, 1),
		.set_kind = xcalloc(f->n_ports, 1),
		.highest = xcalloc(f->n_ports, 1),
		.mapped = xcalloc(f->n_ports, sizeof(*b.mapped)),
	};

	find_limits(&b);
	if (b.t->managed) {
		build_fits(&b);
		build_sl2vl(&b);
		struct arb_build *a = arb_choose(&b);

		set_op_vls(&b);
		arb_complete(&b, a);
	} else {
		set_op_vls(&b);
	}
	free(b.limit);
	free(b.wide);
	free(b.set_kind);
	free(b.highest);
	free(b.mapped);
	free(b.by_classes);
	return b.t;
}

void qos_tables_free(struct qos_tables *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->n_switches; i++)
		free(t->sw[i].ids);
	qos_fixed_free(t->fixed, t->n_switches);
	free(t->sw);
	free(t->op_vls);
	free(t->arb);
	free(t->ca_map);
	free(t->maps);
	free(t->arbs);
	free(t->fits);
	free(t->fit);
	free(t);
}

uint16_t qos_sl2vl_id(const struct qos_tables *t, const struct fabric *f,
		      uint32_t node, unsigned in, unsigned out)
{
	const struct fabric_node *n = &f->nodes[node];

	if (!node_is_switch(n))
		return t->ca_map[n->port0 + out];
	const struct switch_maps *s = &t->sw[n->sw];

	if (s->ids)
		return s->ids[in * (n->nports + 1u) + out];
	if (in == out && out)
		return TABLE_NONE;
	if (in && f->ports[n->port0 + in].peer == FABRIC_NONE)
		return TABLE_NONE;
	if (out ? f->ports[n->port0 + out].peer == FABRIC_NONE
		: !f->switches[n->sw].enhanced_port0)
		return TABLE_NONE;
	return s->uniform;
}

uint16_t qos_map_sls(const struct sl2vl *map, unsigned op_vls)
{
	unsigned vls = op_vls ? ib_vls_from_code(op_vls) : IB_VL_DROP;
	uint16_t mask = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (map->vl[sl] < vls)
			mask |= (uint16_t)(1u << sl);
	return mask;
}

uint16_t qos_map_sls_on(const struct sl2vl *map, unsigned vls)
{
	uint16_t mask = 0;

	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		if (vls >> map->vl[sl] & 1)
			mask |= (uint16_t)(1u << sl);
	return mask;
}
