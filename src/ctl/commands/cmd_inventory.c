/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Answers `nodes` and `ports`: one row each, in the order of discovery. */
#include "ctl/command.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"

struct cursor {
	const struct subnet_state *s;
	uint32_t i;
};

static struct cursor *cursor_new(const struct subnet_state *s)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	c->s = s;
	return c;
}

static json_t *json_lid(const struct subnet_state *s, uint32_t port)
{
	return s->plan->lid[port] ? json_integer(s->plan->lid[port]) : json_null();
}

/* --- nodes --- */

static unsigned linked_ports(const struct fabric *f, const struct fabric_node *n)
{
	unsigned linked = 0;

	for (unsigned p = 1; p <= n->nports; p++)
		linked += f->ports[n->port0 + p].peer != FABRIC_NONE;
	return linked;
}

static json_t *next_node(void *rows)
{
	struct cursor *c = rows;
	const struct fabric *f = c->s->f;
	const struct fabric_node *n;
	json_t *row;

	if (c->i == f->n_nodes)
		return NULL;
	n = &f->nodes[c->i++];
	row = json_pack("{s:o, s:s, s:o, s:i, s:i, s:i}", "guid", json_guid(n->guid),
			"type", fabric_type_name(n), "description", json_text(n->desc),
			"ports", n->nports, "ports-linked", (int)linked_ports(f, n),
			"hops", n->hops);
	if (node_is_switch(n))
		json_object_set_new(row, "lid", json_lid(c->s, n->port0));
	return row;
}

void cmd_nodes(const struct ctl_call *c, struct reply *r)
{
	reply_result(r, NULL);
	reply_rows(r, "", next_node, free, cursor_new(c->state));
}

/* --- ports --- */

static const char *state_name(unsigned state)
{
	static const char *const names[] = { "none", "down", "init", "armed", "active" };

	return state < ARRAY_SIZE(names) ? names[state] : "unknown";
}

static json_t *json_link(const struct fabric_port *p)
{
	uint8_t info[sizeof(p->info)];
	char text[32];

	memcpy(info, p->info, sizeof(info));	/* mad_get_field() takes no const */
	return json_string(link_text(mad_get_field(info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F),
				     mad_get_field(info, 0, IB_PORT_LINK_SPEED_ACTIVE_F),
				     ib_ext_active(info),
				     p->fdr10, text, sizeof(text)));
}

/* Adds the members that only a port with a link has. */
static void add_link(json_t *row, const struct subnet_state *s, const struct fabric_port *p)
{
	json_object_set_new(row, "link", json_link(p));
	json_object_set_new(row, "rate", json_real(rate_tenths(p->rate) / 10.0));
	json_object_set_new(row, "mtu", json_integer(mtu_bytes(p->neighbor_mtu)));
	json_object_set_new(row, "vls", json_integer(ib_vls_from_code(p->op_vls)));
	json_object_set_new(row, "peer", json_port(s, p->peer));
}

static json_t *port_row(const struct subnet_state *s, uint32_t slot)
{
	const struct fabric_port *p = &s->f->ports[slot];
	json_t *row = json_pack("{s:o, s:i, s:o, s:s}", "guid", json_guid(p->guid),
				"port", p->num, "name", json_port(s, slot),
				"state", state_name(p->state));

	if (port_is_end(s->f, slot)) {
		json_object_set_new(row, "lid", json_lid(s, slot));
		json_object_set_new(row, "lmc", json_integer(plan_lmc(s->plan, slot)));
	}
	if (p->peer != FABRIC_NONE)
		add_link(row, s, p);
	return row;
}

static json_t *next_port(void *rows)
{
	struct cursor *c = rows;
	const struct fabric *f = c->s->f;

	while (c->i < f->n_ports && !f->ports[c->i].present)
		c->i++;
	return c->i < f->n_ports ? port_row(c->s, c->i++) : NULL;
}

void cmd_ports(const struct ctl_call *c, struct reply *r)
{
	reply_result(r, NULL);
	reply_rows(r, "", next_port, free, cursor_new(c->state));
}
