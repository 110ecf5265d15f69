/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Answers `nodes` and `ports`: one row for each that was asked for, in the order of discovery or as
 * they are to be sorted; or their number.
 */
#include "ctl/commands/cmd_inventory.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "lib/base/glob.h"
#include "lib/iba/units.h"

/* --- which nodes and ports, in which order --- */

/* Indexes of the nodes, or slots of the ports, that are listed. */
struct cursor {
	const struct subnet_state *s;
	uint32_t *v, n, i;
};

static void cursor_free(void *rows)
{
	struct cursor *c = rows;

	free(c->v);
	free(c);
}

/* Whether a NodeDescription, or the name of the host in it, is the text or matches it as a pattern. */
static bool is_name(const char *desc, const char *text)
{
	size_t host = fabric_host_length(desc);
	char name[NODE_NAME_MAX + 1];

	if (strcmp(desc, text) == 0 || (strlen(text) == host && memcmp(desc, text, host) == 0))
		return true;
	if (!glob_is_pattern(text))
		return false;
	memcpy(name, desc, host);
	name[host] = '\0';
	return glob_match(text, strlen(text), desc) || glob_match(text, strlen(text), name);
}

static bool has_name(const struct fabric *f, const struct fabric_node *n, const char *text)
{
	const char *desc = fabric_node_desc(f, n);

	return is_name(desc, text) || (desc != n->desc && is_name(n->desc, text));
}

/* The node that the text names as a port: by a GUID, a LID or NodeDescription/Pn; FABRIC_NONE. */
static uint32_t node_of_port_text(const struct fabric *f, const char *text)
{
	bool ambiguous = false;
	uint32_t port = fabric_find_port_by_text(f, text, &ambiguous);

	return port == FABRIC_NONE ? FABRIC_NONE : f->ports[port].node;
}

bool *select_nodes(const struct ctl_call *c, struct reply *r)
{
	const char *text = arg_text(c, "node"), *type = arg_text(c, "type");
	const struct fabric *f = c->state->f;
	bool *selected = xcalloc(f->n_nodes, sizeof(*selected)), named = false;
	uint32_t only;
	struct buf meant = { 0 };

	for (uint32_t i = 0; text && i < f->n_nodes; i++)
		named |= selected[i] = has_name(f, &f->nodes[i], text);
	only = text && !named ? node_of_port_text(f, text) : FABRIC_NONE;
	if (only != FABRIC_NONE)
		selected[only] = true;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		selected[i] |= !text;
		selected[i] &= !type || strcmp(type, fabric_type_name(&f->nodes[i])) == 0;
	}
	if (!text || named || only != FABRIC_NONE || glob_is_pattern(text))
		return selected;
	/* "absent" tells programs that this is no passing trouble */
	if (fabric_put_meant(f, text, &meant))
		reply_error(r, json_pack("{s:i}", "absent", 1), "%s: no such node (did you mean \"%s\"?)", text,
			    meant.s);
	else
		reply_error(r, json_pack("{s:i}", "absent", 1), "%s: no such node: give a NodeDescription, a host, a "
			    "pattern with * and ?, a GUID or a LID", text);
	buf_free(&meant);
	free(selected);
	return NULL;
}

bool *select_ports(const struct ctl_call *c, struct reply *r)
{
	const struct fabric *f = c->state->f;
	const char *text = arg_text(c, "node");
	bool ambiguous = false, *nodes, *ports;
	uint32_t only = FABRIC_NONE;

	if (!arg_is_one_of(c, "type", NODE_TYPES, r))
		return NULL;
	nodes = select_nodes(c, r);
	if (!nodes)
		return NULL;
	/* select_nodes() takes the name of a port for that of its node */
	if (text && strstr(text, "/P"))
		only = fabric_find_port_by_text(f, text, &ambiguous);
	ports = xcalloc(f->n_ports, sizeof(*ports));
	for (uint32_t i = 0; i < f->n_ports; i++)
		ports[i] = f->ports[i].present && f->ports[i].num && nodes[f->ports[i].node] &&
			   (only == FABRIC_NONE || i == only);
	free(nodes);
	return ports;
}

/* Answers with the selected rows, or with their number. */
static void reply_list(const struct ctl_call *c, struct reply *r, struct cursor *list,
		       json_t *(*next)(void *rows))
{
	if (arg_flag(c, "count")) {
		reply_result(r, json_pack("{s:I}", "count", (json_int_t)list->n));
		cursor_free(list);
		return;
	}
	reply_result(r, NULL);
	reply_rows(r, "", next, cursor_free, list);
}

/* An empty list with room for n rows. */
static struct cursor *cursor_new(const struct subnet_state *s, uint32_t n)
{
	struct cursor *c = xcalloc(1, sizeof(*c));

	c->s = s;
	c->v = xcalloc(n ? n : 1, sizeof(*c->v));
	return c;
}

static int compare_uint(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
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

	if (c->i == c->n)
		return NULL;
	n = &f->nodes[c->v[c->i++]];
	row = json_pack("{s:o, s:s, s:o, s:o, s:i, s:i, s:i}", "guid", json_guid(n->guid),
			"type", fabric_type_name(n), "description", json_text(fabric_node_desc(f, n)),
			"node-description", json_text(n->desc),
			"ports", n->nports, "ports-linked", (int)linked_ports(f, n),
			"hops", n->hops);
	if (node_is_switch(n))
		json_object_set_new(row, "lid", json_lid(c->s, n->port0));
	return row;
}

static int by_node_name(const void *a, const void *b, void *arg)
{
	const struct fabric *f = arg;

	return strcmp(fabric_node_desc(f, &f->nodes[*(const uint32_t *)a]),
		      fabric_node_desc(f, &f->nodes[*(const uint32_t *)b]));
}

static int by_node_guid(const void *a, const void *b, void *arg)
{
	const struct fabric *f = arg;

	return compare_uint(f->nodes[*(const uint32_t *)a].guid, f->nodes[*(const uint32_t *)b].guid);
}

void cmd_nodes(const struct ctl_call *c, struct reply *r)
{
	const char *sort = arg_text(c, "sort");
	struct fabric *f = c->state->f;
	struct cursor *list;
	bool *selected;

	if (!arg_is_one_of(c, "type", NODE_TYPES, r) || !arg_is_one_of(c, "sort", NODE_ORDERS, r))
		return;
	selected = select_nodes(c, r);
	if (!selected)
		return;
	list = cursor_new(c->state, f->n_nodes);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (selected[i])
			list->v[list->n++] = i;
	free(selected);
	if (sort)
		qsort_r(list->v, list->n, sizeof(*list->v), *sort == 'n' ? by_node_name : by_node_guid, f);
	reply_list(c, r, list, next_node);
}

/* --- ports --- */

const char *port_state_name(unsigned state)
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
	json_object_set_new(row, "held", json_boolean(p->held));
}

json_t *json_port_row(const struct subnet_state *s, uint32_t slot)
{
	const struct fabric_port *p = &s->f->ports[slot];
	json_t *row = json_pack("{s:o, s:i, s:o, s:s}", "guid", json_guid(p->guid),
				"port", p->num, "name", json_port(s, slot),
				"state", port_state_name(p->state));

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
	const struct fabric_node *node;
	json_t *row;

	if (c->i == c->n)
		return NULL;
	node = port_node(c->s->f, c->v[c->i]);
	row = json_port_row(c->s, c->v[c->i++]);
	json_object_set_new(row, "node", json_guid(node->guid));
	json_object_set_new(row, "type", json_string(fabric_type_name(node)));
	return row;
}

static int by_port_name(const void *a, const void *b, void *arg)
{
	const struct fabric *f = ((const struct subnet_state *)arg)->f;
	const struct fabric_port *p = &f->ports[*(const uint32_t *)a], *q = &f->ports[*(const uint32_t *)b];
	int names = strcmp(fabric_node_desc(f, &f->nodes[p->node]), fabric_node_desc(f, &f->nodes[q->node]));

	return names ? names : compare_uint(p->num, q->num);
}

/* Ports without a LID come last, as do those without a link below. */
static int by_port_lid(const void *a, const void *b, void *arg)
{
	const struct subnet_state *s = arg;
	uint16_t p = s->plan->lid[*(const uint32_t *)a], q = s->plan->lid[*(const uint32_t *)b];

	return compare_uint(p ? p : UINT32_MAX, q ? q : UINT32_MAX);
}

/* The slowest first. */
static int by_port_rate(const void *a, const void *b, void *arg)
{
	const struct fabric *f = ((const struct subnet_state *)arg)->f;
	const struct fabric_port *p = &f->ports[*(const uint32_t *)a], *q = &f->ports[*(const uint32_t *)b];

	return compare_uint(p->peer == FABRIC_NONE ? UINT32_MAX : rate_tenths(p->rate),
			    q->peer == FABRIC_NONE ? UINT32_MAX : rate_tenths(q->rate));
}

void cmd_ports(const struct ctl_call *c, struct reply *r)
{
	const char *sort = arg_text(c, "sort"), *state = arg_text(c, "state");
	const struct fabric *f = c->state->f;
	struct cursor *list;
	bool *selected;

	if (!arg_is_one_of(c, "type", NODE_TYPES, r) || !arg_is_one_of(c, "state", PORT_STATES, r) ||
	    !arg_is_one_of(c, "sort", PORT_ORDERS, r))
		return;
	selected = select_nodes(c, r);
	if (!selected)
		return;
	list = cursor_new(c->state, f->n_ports);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].present && selected[f->ports[i].node] &&
		    (!state || strcmp(state, port_state_name(f->ports[i].state)) == 0))
			list->v[list->n++] = i;
	free(selected);
	if (sort)
		qsort_r(list->v, list->n, sizeof(*list->v), *sort == 'n' ? by_port_name :
			*sort == 'l' ? by_port_lid : by_port_rate, (void *)(uintptr_t)c->state);
	reply_list(c, r, list, next_port);
}
