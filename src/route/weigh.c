/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See weigh.h.
 *
 * What can go down to the destination goes down and the others go up, as updn_distances() has it, also
 * where paths may be longer: a repair counts on that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/channel.h"
#include "route/weigh.h"

/* More than the routes on any way: to have another neighbour for another LID comes first. */
#define USED (1ULL << 48)

/*
 * A vertex with a legal way, and its next hops: ways[first] .. below it, ways[up] .. ways[end
 * - 1] above.
 */
struct stop {
	uint32_t v, first, up, end;
};

/* A next hop of a vertex, with what each LID needs to know of its trunk. */
struct way {
	uint32_t to, lane0, lane_end, trunk;
};

struct weigh {
	const struct graph *g;
	struct channels *channels;
	uint64_t hop, down;	/* see weigh_new() */
	uint64_t *routes;	/* [lane]: from hosts to hosts, and the cost of the hop */
	/* of one destination vertex */
	uint32_t d;
	struct stop *stops;	/* by vertex */
	uint32_t n_stops;
	struct way *ways;
	/* of one port */
	uint8_t *used;		/* [trunk]: LIDs of the port that go that way */
	/* of one LID */
	uint64_t *cost;		/* [vertex]: routes on the lanes of its way, in all */
	struct channel *next;	/* [vertex] */
	uint32_t *chosen;	/* [vertex]: of ways */
	uint32_t *below;	/* [vertex]: hosts whose way leads over it */
};

struct weigh *weigh_new(const struct updn_order *o, uint64_t hop, unsigned down)
{
	struct weigh *w = xcalloc(1, sizeof(*w));
	const struct graph *g = o->g;

	w->g = g;
	w->channels = channels_new(g->f, o);
	w->hop = hop;
	w->down = down;
	w->routes = xcalloc(g->n_lanes, sizeof(*w->routes));
	for (uint32_t i = 0; i < g->n_lanes; i++)
		w->routes[i] = hop;
	w->stops = xcalloc(g->n, sizeof(*w->stops));
	w->ways = xcalloc(g->trunk0[g->n], sizeof(*w->ways));
	w->used = xcalloc(g->trunk0[g->n], sizeof(*w->used));
	w->cost = xcalloc(g->n, sizeof(*w->cost));
	w->next = xcalloc(g->n, sizeof(*w->next));
	w->chosen = xcalloc(g->n, sizeof(*w->chosen));
	w->below = xcalloc(g->n, sizeof(*w->below));
	return w;
}

void weigh_free(struct weigh *w)
{
	if (!w)
		return;
	channels_free(w->channels);
	free(w->routes);
	free(w->stops);
	free(w->ways);
	free(w->used);
	free(w->cost);
	free(w->next);
	free(w->chosen);
	free(w->below);
	free(w);
}

/*
 * Of v's trunks first .. end - 1 those that lead on: all, or those to neighbours at distance
 * `want`.
 */
static uint32_t add_ways(struct weigh *w, uint32_t n, uint32_t first, uint32_t end,
			 const uint16_t *dist, uint16_t want)
{
	for (uint32_t t = first; t < end; t++) {
		const struct trunk *trunk = &w->g->trunks[t];

		if (w->hop ? dist[trunk->v] != FAR : dist[trunk->v] == want)
			w->ways[n++] = (struct way){ trunk->v, trunk->lane0,
						     trunk->lane0 + trunk->n_lanes, t };
	}
	return n;
}

void weigh_begin(struct weigh *w, uint32_t d, const uint16_t *down, const uint16_t *total)
{
	const struct graph *g = w->g;
	uint32_t n = 0;

	w->d = d;
	w->n_stops = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		struct stop *s = &w->stops[w->n_stops];

		if (v == d || total[v] == FAR)
			continue;
		*s = (struct stop){ .v = v, .first = n };
		if (down[v] != FAR)
			n = add_ways(w, n, g->trunk0[v], g->up0[v], down, (uint16_t)(down[v] - 1));
		s->up = n;
		if (down[v] == FAR)
			n = add_ways(w, n, g->up0[v], g->trunk0[v + 1], total,
				     (uint16_t)(total[v] - 1));
		s->end = n;
		w->n_stops++;
	}
}

static uint32_t least_loaded(const struct weigh *w, const struct way *x)
{
	uint32_t lane = x->lane0;

	for (uint32_t l = lane + 1; l < x->lane_end; l++)
		if (w->routes[l] < w->routes[lane])
			lane = l;
	return lane;
}

/*
 * The best of v's ways first .. end - 1, all down or all up, becomes its own if it costs less
 * than `least`. Returns what the best costs.  apart: as another LID of the port's has chosen
 * before.
 */
static uint64_t choose(struct weigh *w, uint32_t v, uint32_t first, uint32_t end, uint64_t least,
		       bool apart)
{
	uint64_t times = first < end && w->ways[first].to < v ? w->down : 1;

	for (uint32_t i = first; i < end; i++) {
		const struct way *x = &w->ways[i];
		uint32_t lane = least_loaded(w, x);
		uint64_t c = w->cost[x->to] + w->routes[lane] * times;

		if (apart)
			c += w->used[x->trunk] * USED;
		if (c >= least)
			continue;
		least = c;
		w->next[v] = (struct channel){ lane, x->to };
		w->chosen[v] = i;
	}
	return least;
}

/* What v's way costs, without what keeps it apart from that of another LID. */
static void settle(struct weigh *w, uint32_t v)
{
	struct channel next = w->next[v];

	w->cost[v] = w->cost[next.to] + w->routes[next.lane] * (next.to < v ? w->down : 1);
}

static void choose_for(struct weigh *w, const struct stop *s, uint32_t first, uint32_t end,
		       bool apart)
{
	if (first == end)
		return;
	choose(w, s->v, first, end, UINT64_MAX, apart);
	settle(w, s->v);
	w->used[w->ways[w->chosen[s->v]].trunk]++;
}

/* What can go down does, from the destination up; then the others, from the top down. */
static void choose_all(struct weigh *w, bool apart)
{
	w->cost[w->d] = 0;
	for (uint32_t i = 0; i < w->n_stops; i++)
		choose_for(w, &w->stops[i], w->stops[i].first, w->stops[i].up, apart);
	for (uint32_t i = w->n_stops; i-- > 0;)
		choose_for(w, &w->stops[i], w->stops[i].up, w->stops[i].end, apart);
}

static void pass_on(struct weigh *w, uint32_t v, int64_t weight)
{
	struct channel next = w->next[v];

	w->below[v] += graph_hosts(w->g, v);
	w->routes[next.lane] += (uint64_t)(w->below[v] * weight);
	w->below[next.to] += w->below[v];
	w->below[v] = 0;
}

/* Adds the routes along next[] to the loads; weight: of one route, negative to remove them. */
static void count_routes(struct weigh *w, int64_t weight)
{
	for (uint32_t i = 0; i < w->n_stops; i++)
		if (w->next[w->stops[i].v].to > w->stops[i].v)
			pass_on(w, w->stops[i].v, weight);
	for (uint32_t i = w->n_stops; i-- > 0;)
		if (w->next[w->stops[i].v].to < w->stops[i].v)
			pass_on(w, w->stops[i].v, weight);
	w->below[w->d] = 0;
}

static void forget_used(struct weigh *w)
{
	for (uint32_t i = 0; i < w->n_stops; i++)
		for (uint32_t k = w->stops[i].first; k < w->stops[i].end; k++)
			w->used[w->ways[k].trunk] = 0;
}

void weigh_route(struct weigh *w, struct lfts *out, const struct dest *dests, unsigned n_dests)
{
	for (unsigned i = 0; i < n_dests; i++) {
		if (dests[i].n_lids > 1)
			forget_used(w);
		for (unsigned k = 0; k < dests[i].n_lids; k++) {
			choose_all(w, k > 0);
			for (uint32_t s = 0; s < w->n_stops; s++) {
				uint32_t v = w->stops[s].v;

				graph_row(w->g, out, v)[dests[i].lid + k] =
					w->g->lanes[w->next[v].lane];
			}
			count_routes(w, dests[i].weight);
		}
	}
}

static void count_tables(struct weigh *w, const struct lfts *l, const struct dest *dests,
			 unsigned n_dests, int64_t sign)
{
	for (unsigned i = 0; i < n_dests; i++)
		for (unsigned k = 0; k < dests[i].n_lids && dests[i].weight; k++) {
			for (uint32_t s = 0; s < w->n_stops; s++) {
				uint32_t v = w->stops[s].v;

				w->next[v] = channel_by_lid(w->channels, l, v, (uint16_t)(dests[i].lid + k));
			}
			count_routes(w, sign * dests[i].weight);
		}
}

void weigh_add(struct weigh *w, const struct lfts *l, const struct dest *dests, unsigned n_dests)
{
	count_tables(w, l, dests, n_dests, 1);
}

void weigh_take_back(struct weigh *w, const struct lfts *l, const struct dest *dests,
		     unsigned n_dests)
{
	count_tables(w, l, dests, n_dests, -1);
}
