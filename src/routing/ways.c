/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes costs and sorts vertices by their ways; see ways.h. */
#include "routing/ways.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/iba/units.h"

/* Cost of a hop, in average loads of a link. */
#define HOP_LOADS 64u

uint64_t ways_hop_cost(const struct graph *g)
{
	/* A route is taken to have three hops. */
	return HOP_LOADS * ROUTE_COST * (3ull * g->n_hosts * g->n_hosts / (g->n_links ? g->n_links : 1) + 1);
}

/* Rate of a link in units of rate_tenths(); 0: unknown. */
static unsigned ways_rate(const struct channels *c, uint32_t link)
{
	return rate_tenths(graph_port(c->g, c->from[c->trunk[link]], c->g->links[link])->rate);
}

/* Rate of the fastest link, in units of rate_tenths(). */
static unsigned ways_best_rate(const struct channels *c)
{
	unsigned best = 0;

	for (uint32_t link = 0; link < c->g->n_links; link++) {
		unsigned rate = ways_rate(c, link);

		best = rate > best ? rate : best;
	}
	return best;
}

uint32_t *ways_link_costs(const struct channels *c)
{
	uint32_t *cost = xcalloc(c->g->n_links + 1u, sizeof(*cost));
	unsigned best = ways_best_rate(c);

	for (uint32_t link = 0; link < c->g->n_links; link++) {
		unsigned rate = ways_rate(c, link);

		cost[link] = rate ? ROUTE_COST * best / rate : ROUTE_COST;
	}
	return cost;
}

uint32_t *ways_trunk_costs(const struct channels *c)
{
	uint32_t n = c->g->trunk0[c->g->n], *cost = xcalloc(n + 1u, sizeof(*cost));
	unsigned *rate = xcalloc(n + 1u, sizeof(*rate)), best = ways_best_rate(c);

	for (uint32_t link = 0; link < c->g->n_links; link++)
		rate[c->trunk[link]] += ways_rate(c, link);
	for (uint32_t t = 0; t < n; t++)
		cost[t] = rate[t] ? (ROUTE_COST * best + rate[t] - 1) / rate[t] : ROUTE_COST;
	free(rate);
	return cost;
}

uint32_t ways_sort(const struct graph *g, const uint32_t *way, uint32_t *waits, uint32_t *order)
{
	uint32_t n = 0;

	memset(waits, 0, g->n * sizeof(*waits));
	for (uint32_t v = 0; v < g->n; v++)
		if (way[v] != FABRIC_NONE)
			waits[g->trunks[way[v]].v]++;
	/* starts with vertices that no way leads to */
	for (uint32_t v = 0; v < g->n; v++)
		if (way[v] != FABRIC_NONE && !waits[v])
			order[n++] = v;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = g->trunks[way[order[i]]].v;

		if (!--waits[to] && way[to] != FABRIC_NONE)
			order[n++] = to;
	}
	return n;
}
