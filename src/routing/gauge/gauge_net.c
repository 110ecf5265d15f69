/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the fabric as the gauge walks it, and follows routes to a LID; see gauge_net.h. */
#include "routing/gauge/gauge_net.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "lib/iba/units.h"

/* State of a switch while a LID is walked; other values: switches left to the destination. */
enum { UNSEEN = 0, ON_WALK = UINT16_MAX, NO_WAY = UINT16_MAX - 1 };

static double port_gbps(const struct fabric_port *p)
{
	return link_data_gbps(p->rate, p->fdr10);
}

/* The lesser capacity of the two ends, or that of the one end that is known. */
static double cable_gbps(const struct fabric *f, uint32_t port)
{
	double a = port_gbps(&f->ports[port]), b = port_gbps(&f->ports[f->ports[port].peer]);

	return a <= 0 || (b > 0 && b < a) ? b : a;
}

/* Adds the cable of a place, if there is one.  A cable from a switch to itself does not count. */
static void add_place(struct gauge_net *n, uint32_t sw, unsigned num)
{
	uint32_t port = n->f->nodes[n->f->switches[sw].node].port0 + num, place = n->first[sw] + num;
	uint32_t peer = num ? n->f->ports[port].peer : FABRIC_NONE;

	n->next[place] = peer == FABRIC_NONE ? FABRIC_NONE : port_node(n->f, peer)->sw;
	if (n->next[place] == sw)
		n->next[place] = FABRIC_NONE;
	if (n->next[place] != FABRIC_NONE)
		n->gbps[place] = cable_gbps(n->f, port);
}

static int by_lid(const void *a, const void *b)
{
	const struct gauge_end *x = a, *y = b;

	return ORDER(x->lid, y->lid) ?: ORDER(x->port, y->port);
}

static void add_ends(struct gauge_net *n, const struct route_request *r)
{
	const struct fabric *f = n->f;

	n->ends = xcalloc(f->n_ports, sizeof(*n->ends));
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!r->lid[p] || f->ports[p].peer == FABRIC_NONE || !port_is_host(f, p) ||
		    fabric_switch_of(f, p) == FABRIC_NONE)
			continue;
		uint32_t sw = fabric_switch_of(f, p);

		n->ends[n->n_ends++] = (struct gauge_end){
			.port = p, .sw = sw, .num = f->ports[f->ports[p].peer].num,
			.lid = r->lid[p], .gbps = cable_gbps(f, p),
		};
		n->at[sw]++;
	}
	qsort(n->ends, n->n_ends, sizeof(*n->ends), by_lid);
}

/* Sets unknown capacities to the least known one. */
static void complete_rates(struct gauge_net *n)
{
	double least = 0;

	for (uint32_t i = 0; i < n->first[n->n]; i++)
		if (n->gbps[i] > 0 && (least <= 0 || n->gbps[i] < least))
			least = n->gbps[i];
	for (uint32_t i = 0; i < n->n_ends; i++)
		if (n->ends[i].gbps > 0 && (least <= 0 || n->ends[i].gbps < least))
			least = n->ends[i].gbps;
	if (least <= 0)
		least = 1;
	for (uint32_t i = 0; i < n->first[n->n]; i++)
		if (n->gbps[i] <= 0)
			n->gbps[i] = least;
	for (uint32_t i = 0; i < n->n_ends; i++)
		if (n->ends[i].gbps <= 0)
			n->ends[i].gbps = least;
}

void gauge_net_init(struct gauge_net *n, const struct route_request *r, const struct lfts *l)
{
	const struct fabric *f = r->f;

	*n = (struct gauge_net){ .f = f, .l = l, .n = f->n_switches };
	n->first = xcalloc(n->n + 1u, sizeof(*n->first));
	n->at = xcalloc(n->n, sizeof(*n->at));
	for (uint32_t sw = 0; sw < n->n; sw++)
		n->first[sw + 1] = n->first[sw] + f->nodes[f->switches[sw].node].nports + 1u;
	n->next = xcalloc(n->first[n->n], sizeof(*n->next));
	n->gbps = xcalloc(n->first[n->n], sizeof(*n->gbps));
	for (uint32_t sw = 0; sw < n->n; sw++)
		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++)
			add_place(n, sw, place - n->first[sw]);
	add_ends(n, r);
	complete_rates(n);
}

void gauge_net_free(struct gauge_net *n)
{
	free(n->first);
	free(n->next);
	free(n->gbps);
	free(n->ends);
	free(n->at);
}

void gauge_tree_init(struct gauge_tree *t, const struct gauge_net *n)
{
	*t = (struct gauge_tree){ 0 };
	t->hops = xcalloc(n->n, sizeof(*t->hops));
	t->out = xcalloc(n->n, sizeof(*t->out));
	t->order = xcalloc(n->n, sizeof(*t->order));
	t->stack = xcalloc(n->n, sizeof(*t->stack));
}

void gauge_tree_free(struct gauge_tree *t)
{
	free(t->hops);
	free(t->out);
	free(t->order);
	free(t->stack);
}

/* Follows the LID from sw until the end of the walk is known, and notes it for all switches on the way. */
static void walk(struct gauge_tree *t, const struct gauge_net *n, uint16_t lid, uint32_t sw)
{
	uint32_t depth = 0;
	uint16_t end;

	while (t->hops[sw] == UNSEEN) {
		uint32_t place = gauge_out(n, sw, lid);

		t->out[sw] = place;
		t->stack[depth++] = sw;
		if (place == FABRIC_NONE || n->next[place] == FABRIC_NONE) {
			t->hops[sw] = NO_WAY;
			break;
		}
		t->hops[sw] = ON_WALK;
		sw = n->next[place];
	}
	end = t->hops[sw] >= NO_WAY ? NO_WAY : t->hops[sw];
	while (depth > 0) {
		uint32_t at = t->stack[--depth];

		if (end != NO_WAY) {
			end++;
			t->order[t->n++] = at;
		}
		t->hops[at] = end;
	}
}

void gauge_tree_walk(struct gauge_tree *t, const struct gauge_net *n, uint32_t home, unsigned num,
		     uint16_t lid, const uint32_t *from, uint32_t n_from)
{
	memset(t->hops, 0, n->n * sizeof(*t->hops));
	t->n = 0;
	t->hops[home] = gauge_out(n, home, lid) == n->first[home] + num ? 1 : NO_WAY;
	for (uint32_t i = 0; i < n_from; i++)
		walk(t, n, lid, from[i]);
	for (uint32_t sw = 0; sw < n->n; sw++)
		if (t->hops[sw] == NO_WAY)
			t->hops[sw] = 0;
}

void gauge_tree_load(const struct gauge_tree *t, const struct gauge_net *n, uint64_t *flow, uint64_t *load)
{
	/* from the leaves of the tree to its root */
	for (uint32_t k = 0; k < t->n; k++)
		flow[t->order[k]] = n->at[t->order[k]];
	for (uint32_t k = t->n; k-- > 0; ) {
		uint32_t sw = t->order[k], place = t->out[sw];

		load[place] += flow[sw];
		flow[n->next[place]] += flow[sw];
	}
}
