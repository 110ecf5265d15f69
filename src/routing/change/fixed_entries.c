/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds next hops around fixed entries, LID by LID; see fixed_entries.h.
 *
 * LIDs are independent of each other.  For each, vertices are taken by the order:
 *  1. The routes are followed by the present entries, with the fixed ones in their place.  A route that
 *     arrives stays, unless it leads over a fixed entry that was not chosen and turns from down to up
 *     there.
 *  2. Each remaining vertex gets a route down, in rising order, because a step down leads to a lower
 *     vertex; then, in falling order, the rest get one up.  A vertex with a fixed entry arrives if the
 *     vertex behind that entry does.
 *  3. What remains tries step 2 again with links that are not known to be up.
 *  4. What still remains drops.
 *
 * Without an order, step 2 is a search over all links from the vertices that arrive.
 */
#include "routing/change/fixed_entries.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/updn/order.h"

enum reach { UNSEEN, ON_WALK, LOST, ARRIVES };

struct place {			/* state of a vertex for the current LID */
	enum reach reach;
	bool down;		/* its route only goes down */
	bool strays;		/* its route leads over a fixed entry that was not chosen */
	bool fixed, chosen;	/* the entry is fixed; it is fixed at the chosen value */
	uint8_t entry;
	uint16_t hops;
};

struct work {
	const struct detour_request *r;
	const struct graph *g;
	struct lfts *l;
	uint32_t *vertex;	/* [switch]: its vertex */
	/* [port slot]: LIDs sent by it on routes that stay; includes LIDs of hosts that are away */
	uint32_t *load;
	struct place *at;	/* [vertex] */
	uint32_t *stack;	/* vertices */
	bool trusting;		/* fixed entries for links that are not known to be up are usable */
	uint32_t home;		/* vertex that delivers the LID */
	uint8_t exit;		/* port by which it delivers */
};

static uint32_t node_of(const struct work *w, uint32_t v)
{
	return w->g->f->switches[w->g->sw[v]].node;
}

/* Whether the link is held and neither end is known to be up. */
static bool is_doubtful(const struct fabric *f, uint32_t port)
{
	const struct fabric_port *p = &f->ports[port];

	return p->held && p->state < IB_PORT_INIT_S && f->ports[p->peer].state < IB_PORT_INIT_S;
}

/* The port that an entry leads to, FABRIC_NONE if the port has no link. */
static uint32_t linked_port(const struct fabric *f, uint32_t sw, uint8_t entry)
{
	const struct fabric_node *n = &f->nodes[f->switches[sw].node];
	uint32_t port = n->port0 + entry;

	return entry && entry <= n->nports && f->ports[port].peer != FABRIC_NONE ? port : FABRIC_NONE;
}

/* The vertex that an entry leads to, FABRIC_NONE if it leads to no switch or only by a doubtful link. */
static uint32_t next_of(const struct work *w, uint32_t v, uint8_t entry)
{
	const struct fabric *f = w->g->f;
	uint32_t port = linked_port(f, w->g->sw[v], entry), sw;

	if (port == FABRIC_NONE || (!w->trusting && is_doubtful(f, port)))
		return FABRIC_NONE;
	sw = port_node(f, f->ports[port].peer)->sw;
	return sw == FABRIC_NONE ? FABRIC_NONE : w->vertex[sw];
}

/* Whether v's route may go on by vertex `next`, which arrives. */
static bool may_go_on(const struct work *w, uint32_t v, uint32_t next)
{
	return !w->r->legal || next > v || w->at[next].down;
}

static void arrive(struct work *w, uint32_t v, uint32_t next)
{
	struct place *p = &w->at[v];
	const struct place *q = &w->at[next];

	p->reach = ARRIVES;
	p->down = next < v && q->down;
	p->strays = q->strays || (p->fixed && !p->chosen);
	p->hops = (uint16_t)(q->hops + 1);
}

/* Derives the state of v from the known state of the next vertex on its route. */
static void end_at(struct work *w, uint32_t v, uint32_t next)
{
	bool strays = w->at[next].strays || (w->at[v].fixed && !w->at[v].chosen);

	if (w->at[next].reach != ARRIVES || (strays && !may_go_on(w, v, next)))
		w->at[v].reach = LOST;
	else
		arrive(w, v, next);
}

static void follow(struct work *w, uint32_t v)
{
	uint32_t depth = 0, next;

	while (w->at[v].reach == UNSEEN) {
		next = next_of(w, v, w->at[v].entry);
		if (next == FABRIC_NONE) {
			w->at[v].reach = LOST;
			break;
		}
		w->at[v].reach = ON_WALK;
		w->stack[depth++] = v;
		v = next;
	}
	if (w->at[v].reach == ON_WALK)		/* the route comes back to v */
		w->at[v].reach = LOST;
	for (; depth; v = w->stack[depth])
		if (w->at[w->stack[--depth]].reach == ON_WALK)
			end_at(w, w->stack[depth], v);
}

/* --- the current LID --- */

/* Whether some entry is fixed at another value than the chosen one, or at one that may not arrive. */
static bool is_concerned(const struct work *w, uint16_t lid)
{
	const struct detour_request *r = w->r;
	bool is_there = r->port_by_lid[lid] != FABRIC_NONE;
	uint32_t port;
	uint8_t entry;

	for (uint32_t i = 0; i < r->n_switches; i++) {
		if (!r->fixed(r->arg, r->switches[i], lid, &entry))
			continue;
		port = linked_port(r->f, r->switches[i], entry);
		if (entry != lft_get(w->l, r->switches[i], lid) || (is_there && entry == LFT_DROP) ||
		    (port != FABRIC_NONE && is_doubtful(r->f, port)))
			return true;
	}
	return false;
}

static void fill_places(struct work *w, uint16_t lid)
{
	const struct detour_request *r = w->r;

	for (uint32_t v = 0; v < w->g->n; v++)
		w->at[v] = (struct place){ .entry = lft_get(w->l, w->g->sw[v], lid) };
	for (uint32_t i = 0; i < r->n_switches; i++) {
		struct place *p = &w->at[w->vertex[r->switches[i]]];
		uint8_t entry;

		if (!r->fixed(r->arg, r->switches[i], lid, &entry))
			continue;
		p->fixed = true;
		p->chosen = entry == p->entry;
		p->entry = entry;
	}
}

/* For a LID that no port has: finds where the chosen entries lead, as they do for a host that is away. */
static bool find_home_before(struct work *w, uint16_t lid)
{
	for (uint32_t start = 0; start < w->g->n; start++) {
		uint32_t v = start, next = start;

		for (uint32_t hops = 0; next != FABRIC_NONE && hops <= w->g->n; hops++) {
			v = next;
			w->exit = lft_get(w->l, w->g->sw[v], lid);
			next = next_of(w, v, w->exit);
		}
		w->home = v;
		if (next == FABRIC_NONE && w->exit <= w->g->f->nodes[node_of(w, v)].nports)
			return true;
	}
	return false;
}

/* Finds where the LID's packets leave the switches; false: no switch delivers it. */
static bool find_home(struct work *w, uint16_t lid)
{
	const struct fabric *f = w->g->f;
	uint32_t port = w->r->port_by_lid[lid], sw;

	if (port == FABRIC_NONE)
		return find_home_before(w, lid);
	sw = fabric_switch_of(f, port);
	if (sw == FABRIC_NONE)
		return false;
	w->home = w->vertex[sw];
	w->exit = node_is_switch(port_node(f, port)) ? 0 : f->ports[f->ports[port].peer].num;
	return true;
}

struct hop {
	uint32_t v;		/* vertex that it leads to */
	uint32_t port;		/* port slot, FABRIC_NONE: no hop */
	bool chosen;		/* the tables had this one */
};

/* Prefers a hop that does not stray, then the nearer, then the chosen one, then the less used. */
static bool is_better(const struct work *w, const struct hop *a, const struct hop *b)
{
	const struct place *x = &w->at[a->v], *y = &w->at[b->v];

	if (b->port == FABRIC_NONE)
		return true;
	if (x->strays != y->strays)
		return y->strays;
	if (x->hops != y->hops)
		return x->hops < y->hops;
	if (a->chosen || b->chosen)
		return a->chosen;
	return w->load[a->port] < w->load[b->port];
}

static void take_hop(struct work *w, uint32_t v, const struct hop *hop)
{
	const struct fabric_node *n = &w->g->f->nodes[node_of(w, v)];

	if (w->at[v].entry <= n->nports)
		w->load[n->port0 + w->at[v].entry]--;
	w->load[hop->port]++;
	w->at[v].entry = (uint8_t)(hop->port - n->port0);
	arrive(w, v, hop->v);
}

/* Gives v the best next hop over one of the trunks first .. end - 1; false: there is none. */
static bool find_hop(struct work *w, uint32_t v, uint32_t first, uint32_t end)
{
	const struct graph *g = w->g;
	uint32_t port0 = g->f->nodes[node_of(w, v)].port0;
	struct hop best = { .port = FABRIC_NONE };

	for (uint32_t t = first; t < end; t++) {
		struct hop hop = { .v = g->trunks[t].v };

		if (w->at[hop.v].reach != ARRIVES || !may_go_on(w, v, hop.v))
			continue;
		for (uint32_t k = 0; k < g->trunks[t].n_links; k++) {
			uint8_t num = g->links[g->trunks[t].link0 + k];

			hop.port = port0 + num;
			hop.chosen = num == w->at[v].entry;
			if (is_better(w, &hop, &best))
				best = hop;
		}
	}
	if (best.port == FABRIC_NONE)
		return false;
	take_hop(w, v, &best);
	return true;
}

/* Gives a lost vertex a route by some of its trunks, or by its fixed entry. */
static bool rescue(struct work *w, uint32_t v, uint32_t first, uint32_t end)
{
	struct place *p = &w->at[v];
	uint32_t next;

	if (p->reach == ARRIVES || v == w->home)
		return false;
	if (!p->fixed)
		return find_hop(w, v, first, end);
	next = next_of(w, v, p->entry);
	if (next == FABRIC_NONE || w->at[next].reach != ARRIVES || !may_go_on(w, v, next))
		return false;
	arrive(w, v, next);
	return true;
}

static void rescue_by_order(struct work *w)
{
	const struct graph *g = w->g;

	for (uint32_t v = 0; v < g->n; v++)
		rescue(w, v, g->trunk0[v], g->up0[v]);
	for (uint32_t v = g->n; v-- > 0;)
		rescue(w, v, g->up0[v], g->trunk0[v + 1]);
}

/* Each round finds routes one hop longer, so that routes are short. */
static void rescue_by_any(struct work *w)
{
	const struct graph *g = w->g;
	uint32_t n;

	do {
		n = 0;
		for (uint32_t v = 0; v < g->n; v++)
			if (rescue(w, v, g->trunk0[v], g->trunk0[v + 1]))
				w->stack[n++] = v;
	} while (n);
}

bool detour_sends(const struct graph *g, uint32_t v)
{
	const struct fabric *f = g->f;

	return graph_hosts(g, v) ||
	       (f->self != FABRIC_NONE && f->ports[f->self].node == f->switches[g->sw[v]].node);
}

static void find_ways(struct work *w)
{
	for (uint32_t v = 0; v < w->g->n; v++)
		follow(w, v);
	if (w->r->legal)
		rescue_by_order(w);
	else
		rescue_by_any(w);
}

static struct detour_cut count_lost(const struct work *w)
{
	struct detour_cut lost = { 0 };

	for (uint32_t v = 0; v < w->g->n; v++) {
		if (w->at[v].reach == ARRIVES || !detour_sends(w->g, v))
			continue;
		lost.all++;
		lost.rest += !w->r->apart || !w->r->apart[w->g->sw[v]];
	}
	return lost;
}

static void store(struct work *w, uint16_t lid)
{
	for (uint32_t v = 0; v < w->g->n; v++) {
		const struct place *p = &w->at[v];
		bool drops = p->reach != ARRIVES && !p->fixed && v != w->home;

		graph_row(w->g, w->l, v)[lid] = drops ? LFT_DROP : p->entry;
	}
}

void detour(const struct detour_request *r, struct lfts *l, struct detour_cut *cut)
{
	struct work w = { .r = r, .g = r->order->g, .l = l };
	struct detour_cut lost;

	w.vertex = xcalloc(w.g->n + 1u, sizeof(*w.vertex));
	w.load = xcalloc(r->f->n_ports + 1u, sizeof(*w.load));
	w.at = xcalloc(w.g->n + 1u, sizeof(*w.at));
	w.stack = xcalloc(w.g->n + 1u, sizeof(*w.stack));
	for (uint32_t v = 0; v < w.g->n; v++)
		w.vertex[w.g->sw[v]] = v;
	for (uint32_t v = 0; v < w.g->n; v++) {
		const struct fabric_node *n = &w.g->f->nodes[node_of(&w, v)];
		const uint8_t *row = graph_row(w.g, w.l, v);

		for (uint32_t lid = 1; lid <= w.l->top; lid++)
			if (row[lid] <= n->nports)
				w.load[n->port0 + row[lid]]++;
	}
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		if (!is_concerned(&w, (uint16_t)lid))
			continue;
		fill_places(&w, (uint16_t)lid);
		if (!find_home(&w, (uint16_t)lid)) {
			for (uint32_t v = 0; v < w.g->n; v++)
				if (w.at[v].fixed)
					graph_row(w.g, w.l, v)[lid] = w.at[v].entry;
			continue;
		}
		w.at[w.home].reach = w.at[w.home].entry == w.exit ? ARRIVES : LOST;
		w.at[w.home].down = true;
		find_ways(&w);
		lost = count_lost(&w);
		/* Vertices without a certain route take an uncertain one. */
		for (uint32_t v = 0; v < w.g->n; v++)
			if (w.at[v].reach == LOST && v != w.home)
				w.at[v].reach = UNSEEN;
		w.trusting = true;
		find_ways(&w);
		w.trusting = false;
		store(&w, (uint16_t)lid);
		if (r->port_by_lid[lid] != FABRIC_NONE)
			cut[lid] = lost;
	}
	free(w.vertex);
	free(w.load);
	free(w.at);
	free(w.stack);
}
