/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes items of what a fabric has, and finds in a fabric what an item has; see missing.h and missing_items.h. */
#include "events/missing_items.h"

#include <stdio.h>

#include "lib/base/clean.h"

static const char *const kind_names[MISSING_KINDS] = {
	[MISSING_SWITCH] = "switch", [MISSING_HOST] = "host", [MISSING_MANAGER] = "manager",
	[MISSING_LINK] = "link", [MISSING_HOST_LINK] = "host-link", [MISSING_RATE] = "rate",
};

const char *missing_kind_name(enum missing_kind k)
{
	return kind_names[k];
}

bool missing_is_link(const struct missing_item *x)
{
	return x->kind == MISSING_LINK || x->kind == MISSING_HOST_LINK || x->kind == MISSING_RATE;
}

uint64_t missing_between(const struct missing_item *x)
{
	const uint64_t part[2] = { x->a.guid, x->trunk ? x->b.guid : 0 };

	return hash_bytes(part, sizeof(part), 0);
}

/* --- of a fabric --- */

void missing_set_name(struct missing_end *e, const char *name)
{
	snprintf(e->name, sizeof(e->name), "%s", name);
	clean_text(e->name);
}

static struct missing_end node_end(const struct fabric *f, uint32_t node)
{
	struct missing_end e = { .guid = f->nodes[node].guid };

	missing_set_name(&e, fabric_node_desc(f, &f->nodes[node]));
	return e;
}

static struct missing_end port_end(const struct fabric *f, uint32_t port)
{
	struct missing_end e = node_end(f, f->ports[port].node);

	e.num = f->ports[port].num;
	if (port_is_end(f, port))
		e.port_guid = f->ports[port].guid;
	return e;
}

static bool is_of_switch(const struct fabric *f, uint32_t port)
{
	return node_is_switch(port_node(f, port));
}

static bool comes_first(const struct missing_end *x, const struct missing_end *y)
{
	return x->guid != y->guid ? x->guid < y->guid : x->num < y->num;
}

struct missing_item missing_item_of_link(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;
	struct missing_item x = { .trunk = is_of_switch(f, port) && is_of_switch(f, peer),
				  .a = port_end(f, port), .b = port_end(f, peer),
				  .rate = f->ports[port].rate };
	bool swap = is_of_switch(f, port) == is_of_switch(f, peer) ? comes_first(&x.b, &x.a) :
		    is_of_switch(f, port);	/* a host's port comes first */

	x.kind = x.trunk ? MISSING_LINK : MISSING_HOST_LINK;
	if (swap) {
		struct missing_end end = x.a;

		x.a = x.b;
		x.b = end;
	}
	if (x.rate)
		port_link_text(&f->ports[port], x.was);
	return x;
}

struct missing_item missing_item_of_node(const struct fabric *f, uint32_t node)
{
	const struct fabric_node *n = &f->nodes[node];
	struct missing_item x = { .kind = node_is_switch(n) ? MISSING_SWITCH : MISSING_HOST,
				  .a = node_end(f, node) };

	for (uint32_t i = n->port0; i <= n->port0 + n->nports && !x.a.port_guid; i++)
		if (port_is_end(f, i))
			x.a.port_guid = f->ports[i].guid;
	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports && !x.a.num; i++)
		if (f->ports[i].peer != FABRIC_NONE && is_of_switch(f, f->ports[i].peer)) {
			x.a.num = f->ports[i].num;
			x.b = port_end(f, f->ports[i].peer);
		}
	return x;
}

uint32_t missing_port(const struct fabric *f, const struct missing_end *e)
{
	uint32_t node = map64_get(&f->node_by_guid, e->guid);

	if (node == MAP64_NONE || e->num > f->nodes[node].nports)
		return FABRIC_NONE;
	return f->nodes[node].port0 + e->num;
}

bool missing_link_is_there(const struct fabric *f, const struct missing_item *x, uint32_t *port)
{
	*port = missing_port(f, &x->a);
	if (*port == FABRIC_NONE || f->ports[*port].peer == FABRIC_NONE)
		return false;
	return !x->trunk || f->ports[*port].peer == missing_port(f, &x->b);
}
