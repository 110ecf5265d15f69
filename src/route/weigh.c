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

/* A next hop of a vertex, with what each LID needs to know of its trunk. */
struct way {
	uint32_t to, lane0, lane_end, trunk;
};

struct weigh {
	const struct graph *g;
	uint64_t *routes;	/* [lane]: from hosts to hosts */
	/* of one destination vertex */
	struct stop *stops;	/* nearest first */
	uint32_t n_stops;
	struct way *ways;
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
				w->ways[n++] = (struct way){ g->trunks[t].v, g->trunks[t].lane0,
							     g->trunks[t].lane0 + g->trunks[t].n_lanes, t };
		w->stops[i].end = n;
	}
}

static void choose(struct weigh *w, const struct stop *s, bool first)
{
	const uint64_t *routes = w->routes, *cost = w->cost;
	uint64_t least = UINT64_MAX;
	uint32_t best = s->first, best_lane = 0;

	for (uint32_t i = s->first; i < s->end; i++) {
		const struct way *x = &w->ways[i];
		uint32_t lane = x->lane0;
		uint64_t c;

		for (uint32_t l = lane + 1; l < x->lane_end; l++)
			if (routes[l] < routes[lane])
				lane = l;
		c = cost[x->to] + routes[lane];
		if (!first)
			c += w->used[x->trunk] * USED;
		if (c >= least)
			continue;
		least = c;
		best = i;
		best_lane = lane;
	}
	w->lane[s->v] = best_lane;
	w->to[s->v] = w->ways[best].to;
	w->cost[s->v] = cost[w->to[s->v]] + routes[best_lane];
	w->used[w->ways[best].trunk]++;
}

/* Adds the routes along lane[] and to[] to the loads; weight: of one route, negative to remove them. */
static void count_routes(struct weigh *w, uint32_t d, int64_t weight)
{
	for (uint32_t i = w->n_stops; i-- > 0;) {
		uint32_t v = w->stops[i].v;

		w->below[v] += graph_hosts(w->g, v);
		w->routes[w->lane[v]] += (uint64_t)(w->below[v] * weight);
		w->below[w->to[v]] += w->below[v];
		w->below[v] = 0;
	}
	w->below[d] = 0;
}

static void forget_used(struct weigh *w)
{
	for (uint32_t i = 0; i < w->n_stops; i++)
		for (uint32_t k = w->stops[i].first; k < w->stops[i].end; k++)
			w->used[w->ways[k].trunk] = 0;
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
			count_routes(w, d, dests[i].weight);
		}
		if (dests[i].n_lids > 1)
			forget_used(w);
	}
}

/* Finds the way of a stop again by the port that was chosen for it. */
static void recall(struct weigh *w, const struct stop *s, uint8_t port)
{
	const struct graph *g = w->g;

	for (uint32_t i = s->first; i < s->end; i++) {
		const struct way *x = &w->ways[i];

		for (uint32_t lane = x->lane0; lane < x->lane_end; lane++)
			if (g->lanes[lane] == port) {
				w->lane[s->v] = lane;
				w->to[s->v] = x->to;
				return;
			}
	}
}

void weigh_take_back(struct weigh *w, const struct lfts *out, uint32_t d, const uint16_t *down,
		     const uint16_t *total, const struct dest *dests, unsigned n_dests)
{
	find_stops(w, d, total);
	find_ways(w, down, total);
	for (unsigned i = 0; i < n_dests; i++)
		for (unsigned k = 0; k < dests[i].n_lids && dests[i].weight; k++) {
			for (uint32_t s = 0; s < w->n_stops; s++)
				recall(w, &w->stops[s],
				       lft_get(out, w->g->sw[w->stops[s].v], (uint16_t)(dests[i].lid + k)));
			count_routes(w, d, -(int64_t)dests[i].weight);
		}
}
