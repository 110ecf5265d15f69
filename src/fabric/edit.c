/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Cuts links of a fabric copy, reroutes it, and settles it; edit.h has the contracts. */
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"

void fabric_cut(struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	if (peer == FABRIC_NONE)
		return;
	f->ports[port].peer = FABRIC_NONE;
	f->ports[peer].peer = FABRIC_NONE;
}

/* The hop that reaches a node: from which node, by which of its ports. */
struct reach {
	uint32_t from;
	uint8_t by, hops;
	bool reached;
};

struct walk {
	struct fabric *f;
	struct reach *reach;	/* per node */
	uint32_t *queue, n;
	const uint8_t *avoid;		/* nodes to avoid in addition to silent ones, or NULL */
	bool spared;			/* the walk skipped a held link, or a silent or avoided node */
};

/* Only switches forward a directed route; the SM's own node begins it at the SM's port. */
static bool may_leave(const struct fabric *f, uint32_t node, unsigned num)
{
	const struct fabric_port *self = &f->ports[f->self];

	return node_is_switch(&f->nodes[node]) || (node == self->node && num == self->num);
}

/* Continues the walk from the i-th node of the queue; uses held links only if by_held. */
static void walk_from(struct walk *w, uint32_t i, bool by_held)
{
	struct fabric *f = w->f;
	uint32_t node = w->queue[i];
	const struct fabric_node *n = &f->nodes[node];

	if (w->reach[node].hops >= IB_DR_HOPS_MAX)
		return;
	for (unsigned num = 1; num <= n->nports; num++) {
		uint32_t peer = f->ports[n->port0 + num].peer, to;

		if (peer == FABRIC_NONE || !may_leave(f, node, num))
			continue;
		to = f->ports[peer].node;
		if (w->reach[to].reached)
			continue;
		if (f->ports[peer].held && !by_held) {
			w->spared = true;
			continue;
		}
		w->reach[to] = (struct reach){ node, (uint8_t)num,
					       (uint8_t)(w->reach[node].hops + 1), true };
		w->queue[w->n++] = to;
	}
}

static bool is_avoided(struct walk *w, uint32_t node)
{
	bool avoided = w->f->nodes[node].silent || (w->avoid && w->avoid[node]);

	w->spared |= avoided;
	return avoided;
}

static void write_routes(struct walk *w)
{
	struct fabric *f = w->f;
	size_t size = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < w->n; i++)
		size += w->reach[w->queue[i]].hops;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		f->nodes[i].hops = FABRIC_UNREACHED;
		f->nodes[i].route = 0;
	}
	free(f->routes);
	f->routes = xmalloc(size);
	f->n_routes = f->cap_routes = (uint32_t)size;
	/* a node's route extends that of the node before it, which comes first in the queue */
	for (uint32_t i = 0; i < w->n; i++) {
		struct fabric_node *n = &f->nodes[w->queue[i]];
		const struct reach *r = &w->reach[w->queue[i]];

		if (r->hops) {
			memcpy(f->routes + at, f->routes + f->nodes[r->from].route, r->hops - 1u);
			f->routes[at + r->hops - 1u] = r->by;
			n->local_port = f->ports[f->ports[f->nodes[r->from].port0 + r->by].peer].num;
		}
		n->route = at;
		n->hops = r->hops;
		at += r->hops;
	}
}

static void walk_start(struct walk *w, struct fabric *f, const uint8_t *avoid)
{
	uint32_t start;

	*w = (struct walk){ .f = f, .reach = xcalloc(f->n_nodes, sizeof(*w->reach)),
			    .queue = xcalloc(f->n_nodes, sizeof(*w->queue)), .avoid = avoid };
	/*
	 * First avoid held links and silent or avoided nodes, then use them for what is not
	 * reached.
	 */
	start = w->f->ports[w->f->self].node;
	w->reach[start] = (struct reach){ .from = FABRIC_NONE, .reached = true };
	w->queue[w->n++] = start;
	for (uint32_t i = 0; i < w->n; i++)
		if (!is_avoided(w, w->queue[i]))
			walk_from(w, i, false);
	for (uint32_t i = 0; i < w->n && w->spared; i++)
		walk_from(w, i, true);
}

static void walk_end(struct walk *w)
{
	free(w->queue);
	free(w->reach);
}

void fabric_reroute(struct fabric *f, const uint8_t *avoid)
{
	struct walk w;

	walk_start(&w, f, avoid);
	write_routes(&w);
	walk_end(&w);
}

bool fabric_reroute_all(struct fabric *f)
{
	struct walk w;
	bool all;

	walk_start(&w, f, NULL);
	all = w.n == f->n_nodes;
	if (all)
		write_routes(&w);
	walk_end(&w);
	return all;
}

/* Copies the nodes that were reached, and their ports, in their original order. */
static void copy_reached(const struct walk *w, struct fabric *to, uint32_t *port0)
{
	const struct fabric *f = w->f;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct fabric_node *n = &f->nodes[i];
		struct fabric_node *copy = &to->nodes[to->n_nodes];

		port0[i] = FABRIC_NONE;
		if (!w->reach[i].reached)
			continue;
		*copy = *n;
		port0[i] = copy->port0 = to->n_ports;
		if (n->sw != FABRIC_NONE) {
			copy->sw = to->n_switches;
			to->switches[copy->sw] = f->switches[n->sw];
			to->switches[copy->sw].node = to->n_nodes;
			to->n_switches++;
		}
		for (unsigned num = 0; num <= n->nports; num++) {
			to->ports[to->n_ports] = f->ports[n->port0 + num];
			to->ports[to->n_ports++].node = to->n_nodes;
		}
		map64_put(&to->node_by_guid, n->guid, to->n_nodes++);
	}
}

struct fabric *fabric_settle(struct fabric *f, struct buf *err)
{
	struct fabric *to = fabric_new();
	const struct fabric_port *self = &f->ports[f->self];
	uint32_t *port0 = xcalloc(f->n_nodes, sizeof(*port0));
	struct walk w;

	walk_start(&w, f, NULL);
	write_routes(&w);
	to->nodes = xcalloc(f->n_nodes, sizeof(*to->nodes));
	to->ports = xcalloc(f->n_ports, sizeof(*to->ports));
	to->switches = xcalloc(f->n_switches, sizeof(*to->switches));
	to->cap_nodes = f->n_nodes;
	to->cap_ports = f->n_ports;
	to->cap_switches = f->n_switches;
	to->routes = xmemdup(f->routes, f->n_routes);
	to->n_routes = to->cap_routes = f->n_routes;
	copy_reached(&w, to, port0);
	for (uint32_t i = 0; i < to->n_ports; i++) {
		const struct fabric_port *peer;

		if (to->ports[i].peer == FABRIC_NONE)
			continue;
		peer = &f->ports[to->ports[i].peer];
		to->ports[i].peer = port0[peer->node] == FABRIC_NONE ? FABRIC_NONE :
				    port0[peer->node] + peer->num;
	}
	free(port0);
	walk_end(&w);
	if (!fabric_finish(to, self->node, self->num, err)) {
		fabric_free(to);
		return NULL;
	}
	return to;
}
