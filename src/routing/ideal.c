/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes tables and layers from an ideal shape and repairs them where links are missing; see ideal.h. */
#include "routing/ideal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layered/layered.h"

/* --- tables --- */

/* Sets v's entries for the LIDs of the ends, spread over the links of one trunk. */
static void set_entries(const struct ideal_shape *s, struct lfts *l, uint32_t *load, uint32_t v, uint32_t trunk,
			const struct dest *dests, unsigned n)
{
	const struct trunk *t = &s->g->trunks[trunk];
	struct choice c = { .n = t->n_links };

	for (unsigned i = 0; i < c.n; i++) {
		c.link[i] = t->link0 + i;
		c.v[i] = t->v;
	}
	for (unsigned i = 0; i < n; i++)
		choice_spread(&c, s->g, load, graph_row(s->g, l, v) + dests[i].lid, dests[i].n_lids, dests[i].weight);
}

static struct lfts *make_tables(const struct ideal_shape *s)
{
	const struct graph *g = s->g;
	struct lfts *l = lfts_new(g->n, s->top);
	uint32_t *load = xcalloc(g->n_links, sizeof(*load)), *next = xcalloc(g->n, sizeof(*next));
	struct dest dests[DESTS_MAX];

	for (uint32_t d = 0; d < g->n; d++) {
		unsigned n = graph_dests(g, s->r, l->top, d, dests);

		s->ways(s->arg, d, next);
		for (uint32_t v = 0; v < g->n; v++)
			if (next[v] != FABRIC_NONE)
				set_entries(s, l, load, v, next[v], dests, n);
		graph_deliver(g, l, d, dests, n);
	}
	free(load);
	free(next);
	return l;
}

/* --- layers --- */

static uint32_t most_ports(const struct fabric *f)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t ports = f->nodes[f->switches[i].node].nports + 1u;

		most = ports > most ? ports : most;
	}
	return most;
}

static void fill_links(const struct ideal_shape *s, struct route_layers *y)
{
	const struct graph *g = s->g;

	y->link_ports = most_ports(g->f);
	y->link = xmalloc((size_t)g->n * y->link_ports + 1);
	memset(y->link, ROUTE_LINK_FIRST, (size_t)g->n * y->link_ports);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint8_t kind = s->link(s->arg, v, t);

			for (uint32_t i = 0; i < g->trunks[t].n_links; i++)
				route_links(y, g->sw[v])[g->links[g->trunks[t].link0 + i]] = kind;
		}
}

/* --- beginning and end --- */

void ideal_make(struct ideal *x, const struct ideal_shape *s)
{
	bool shared = s->n_layers > 1;
	uint32_t n;

	x->lfts = make_tables(s);
	x->layers = xcalloc(1, sizeof(*x->layers));
	*x->layers = (struct route_layers){ .n = s->n_layers, .n_vl_sets = shared ? 2 : 1, .n_switches = s->g->n };
	/*
	 * All vertices are places: layered.h asks only for pairs that exist, whichever switches have
	 * hosts.
	 */
	n = s->g->n;
	x->layers->n_places = n;
	x->layers->place = xcalloc(n, sizeof(*x->layers->place));
	x->layers->of = xcalloc(route_layers_pair(n, 0) + 1, 1);
	for (uint32_t a = 0; a < n; a++) {
		x->layers->place[s->g->sw[a]] = a;
		for (uint32_t b = 0; b < a; b++)
			x->layers->of[route_layers_pair(a, b)] = (uint8_t)s->layer(s->arg, a, b);
	}
	if (shared)
		fill_links(s, x->layers);
}

void ideal_free(struct ideal *x)
{
	lfts_free(x->lfts);
	route_layers_free(x->layers);
}

/* --- faults --- */

struct route_layers *ideal_approach(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				    struct buf *why)
{
	struct layered_outcome did;
	struct route_layers *y = layered_routes(r, o, r->most_layers ? r->most_layers : 1, out, &did);

	if (!y)
		buf_printf(why, "%u pairs of switches whose routes lead over missing parts have no other "
			   "routes without a credit loop", did.blocked);
	return y;
}
