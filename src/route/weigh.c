/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See weigh.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/weigh.h"

/* More than the routes on any way: to have another neighbour for another LID comes first. */
#define USED (1ULL << 48)

/* A vertex on the way to the destination at hand, and its ways: ways[first] .. ways[end - 1]. */
struct stop {
	uint32_t v, first, end;
};

struct weigh {
	const struct graph *g;
	uint64_t *routes;	/* [lane]: from hosts to hosts */
	/* of one destination vertex */
	struct stop *stops;	/* nearest first */
	uint32_t n_stops;
	uint32_t *ways;		/* trunks */
	uint32_t *by_distance;	/* [distance + 1]: where stops of that distance begin */
	/* of one port */
	uint8_t *used;		/* [trunk]: LIDs of the port that go that way */
	/* of one LID */
	uint64_t *cost;		/* [vertex]: routes on the lanes of its way, in all */
	uint32_t *lane;		/* [vertex] */
	uint32_t *to;		/* [vertex] */
	uint32_t *below;	/* [vertex]: hosts whose way leads over it */
};

struct weigh *weigh_new(const struct graph *g)
{
	struct weigh *w = xcalloc(1, sizeof(*w));

	w->g = g;
	w->routes = xcalloc(g->n_lanes, sizeof(*w->routes));
	w->stops = xcalloc(g->n, sizeof(*w->stops));
	w->ways = xcalloc(g->trunk0[g->n], sizeof(*w->ways));
	w->by_distance = xcalloc(g->n + 2u, sizeof(*w->by_distance));
	w->used = xcalloc(g->trunk0[g->n], sizeof(*w->used));
	w->cost = xcalloc(g->n, sizeof(*w->cost));
	w->lane = xcalloc(g->n, sizeof(*w->lane));
	w->to = xcalloc(g->n, sizeof(*w->to));
	w->below = xcalloc(g->n, sizeof(*w->below));
	return w;
}

void weigh_free(struct weigh *w)
{
	if (!w)
		return;
	free(w->routes);
	free(w->stops);
	free(w->ways);
	free(w->by_distance);
	free(w->used);
	free(w->cost);
	free(w->lane);
	free(w->to);
	free(w->below);
	free(w);
}

/* The vertices with a way, nearest first. */
static void find_stops(struct weigh *w, uint32_t d, const uint16_t *total)
{
	uint32_t *at = w->by_distance, n = w->g->n;

	memset(at, 0, (n + 2u) * sizeof(*at));
	for (uint32_t v = 0; v < n; v++)
		if (v != d && total[v] != FAR)
			at[total[v] + 1]++;
	for (uint32_t i = 1; i < n + 2; i++)
		at[i] += at[i - 1];
	w->n_stops = at[n + 1];
	for (uint32_t v = 0; v < n; v++)
		if (v != d && total[v] != FAR)
			w->stops[at[total[v]]++].v = v;
}

static void find_ways(struct weigh *w, const uint16_t *down, const uint16_t *total)
{
	const struct graph *g = w->g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n_stops; i++) {
		uint32_t v = w->stops[i].v;
		bool descend = down[v] != FAR;
		const uint16_t *dist = descend ? down : total;
		uint32_t end = descend ? g->up0[v] : g->trunk0[v + 1];

		w->stops[i].first = n;
		for (uint32_t t = descend ? g->trunk0[v] : g->up0[v]; t < end; t++)
			if (dist[g->trunks[t].v] == dist[v] - 1)
				w->ways[n++] = t;
		w->stops[i].end = n;
	}
}

static uint32_t least_lane(const struct weigh *w, const struct trunk *t)
{
	uint32_t least = t->lane0;

	for (uint32_t i = t->lane0 + 1; i < t->lane0 + t->n_lanes; i++)
		if (w->routes[i] < w->routes[least])
			least = i;
	return least;
}

static void choose(struct weigh *w, const struct stop *s, bool first)
{
	uint32_t best = s->first;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = s->first; i < s->end; i++) {
		const struct trunk *t = &w->g->trunks[w->ways[i]];
		uint32_t lane = least_lane(w, t);
		uint64_t cost = w->cost[t->v] + w->routes[lane];

		if (!first)
			cost += w->used[w->ways[i]] * USED;
		if (cost >= least)
			continue;
		least = cost;
		best = i;
		w->lane[s->v] = lane;
	}
	w->to[s->v] = w->g->trunks[w->ways[best]].v;
	w->cost[s->v] = w->cost[w->to[s->v]] + w->routes[w->lane[s->v]];
	w->used[w->ways[best]]++;
}

static void count_routes(struct weigh *w, uint32_t weight)
{
	for (uint32_t i = w->n_stops; i-- > 0;) {
		uint32_t v = w->stops[i].v;

		w->below[v] += graph_hosts(w->g, v);
		w->routes[w->lane[v]] += (uint64_t)w->below[v] * weight;
		w->below[w->to[v]] += w->below[v];
		w->below[v] = 0;
	}
}

static void forget_used(struct weigh *w)
{
	for (uint32_t i = 0; i < w->n_stops; i++)
		for (uint32_t k = w->stops[i].first; k < w->stops[i].end; k++)
			w->used[w->ways[k]] = 0;
}

void weigh_route(struct weigh *w, struct lfts *out, uint32_t d, const uint16_t *down,
		 const uint16_t *total, const struct dest *dests, unsigned n_dests)
{
	find_stops(w, d, total);
	find_ways(w, down, total);
	w->cost[d] = 0;
	for (unsigned i = 0; i < n_dests; i++) {
		for (unsigned k = 0; k < dests[i].n_lids; k++) {
			for (uint32_t s = 0; s < w->n_stops; s++) {
				uint32_t v = w->stops[s].v;

				choose(w, &w->stops[s], k == 0);
				graph_row(w->g, out, v)[dests[i].lid + k] =
					w->g->lanes[w->lane[v]];
			}
			count_routes(w, dests[i].weight);
			w->below[d] = 0;
		}
		if (dests[i].n_lids > 1)
			forget_used(w);
	}
}
