/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Chooses the least loaded next hop for every vertex and LID; see weigh.h.
 *
 * Every vertex from which a route can lead down all the way gets such a route, and the others go up, as in
 * updn_distances(), even where routes may be longer than the shortest: repairs rely on that.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/channel.h"
#include "routing/weigh.h"

/* More than the routes on any path, so that a different neighbour for each LID outweighs load. */
#define USED (1ULL << 48)

/*
 * A vertex with a legal route.  Its next hops ways[first] .. ways[end - 1] either all lead down or all
 * lead up.
 */
struct stop {
	uint32_t v, first, end;
	uint32_t hosts;		/* on v */
	bool single;		/* each of its trunks has one link */
};

/* A next hop of a vertex: the fields read for every LID. */
struct way {
	uint32_t to, link0;
};

/* Rest of a next hop: the fields needed for trunks of several links and ports of several LIDs. */
struct way_trunk {
	uint32_t link_end, trunk;
};

struct weigh {
	const struct graph *g;
	struct channels *channels;
	uint64_t hop, down;	/* see weigh_new() */
	uint64_t *routes;	/* [link]: routes from hosts to hosts, plus the cost of the hop */
	/* of one destination vertex */
	uint32_t d;
	struct stop *down_stops, *up_stops;	/* by vertex; those that send down, those that send up */
	uint32_t n_down, n_up;
	struct way *ways;
	struct way_trunk *trunks;	/* [as ways] */
	/* of one port */
	uint8_t *used;		/* [trunk]: LIDs of the port that use it */
	/* of one LID */
	uint64_t *cost;		/* [vertex]: sum of routes[] over the links of its route */
	struct channel *next;	/* [vertex]: chosen next hop */
	uint32_t *below;	/* [vertex]: hosts whose route leads over it */
};

struct weigh *weigh_new(const struct updn_order *o, uint64_t hop, unsigned down)
{
	struct weigh *w = xcalloc(1, sizeof(*w));
	const struct graph *g = o->g;

	w->g = g;
	w->channels = channels_new(g->f, o);
	w->hop = hop;
	w->down = down;
	w->routes = xcalloc(g->n_links, sizeof(*w->routes));
	for (uint32_t i = 0; i < g->n_links; i++)
		w->routes[i] = hop;
	w->down_stops = xcalloc(g->n, sizeof(*w->down_stops));
	w->up_stops = xcalloc(g->n, sizeof(*w->up_stops));
	w->ways = xcalloc(g->trunk0[g->n], sizeof(*w->ways));
	w->trunks = xcalloc(g->trunk0[g->n], sizeof(*w->trunks));
	w->used = xcalloc(g->trunk0[g->n], sizeof(*w->used));
	w->cost = xcalloc(g->n, sizeof(*w->cost));
	w->next = xcalloc(g->n, sizeof(*w->next));
	w->below = xcalloc(g->n, sizeof(*w->below));
	return w;
}

void weigh_free(struct weigh *w)
{
	if (!w)
		return;
	channels_free(w->channels);
	free(w->routes);
	free(w->down_stops);
	free(w->up_stops);
	free(w->ways);
	free(w->trunks);
	free(w->used);
	free(w->cost);
	free(w->next);
	free(w->below);
	free(w);
}

/*
 * Makes a stop for v with those of its trunks first .. end - 1 that lead on: all, or those to neighbours
 * at distance `want`.  n: next hops in `ways` before; returns their number after.
 */
static uint32_t add_stop(struct weigh *w, struct stop *s, uint32_t v, uint32_t n, uint32_t first, uint32_t end,
			 const uint16_t *dist, uint16_t want)
{
	*s = (struct stop){ .v = v, .first = n, .hosts = graph_hosts(w->g, v), .single = true };
	for (uint32_t t = first; t < end; t++) {
		const struct trunk *trunk = &w->g->trunks[t];

		if (w->hop ? dist[trunk->v] == FAR : dist[trunk->v] != want)
			continue;
		s->single &= trunk->n_links == 1;
		w->ways[n] = (struct way){ trunk->v, trunk->link0 };
		w->trunks[n++] = (struct way_trunk){ trunk->link0 + trunk->n_links, t };
	}
	s->end = n;
	return n;
}

void weigh_begin(struct weigh *w, uint32_t d, const uint16_t *down, const uint16_t *total)
{
	const struct graph *g = w->g;
	uint32_t n = 0;

	w->d = d;
	w->n_down = w->n_up = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t first = g->trunk0[v], up = g->up0[v], end = g->trunk0[v + 1];

		if (v == d || total[v] == FAR)
			continue;
		if (down[v] != FAR)
			n = add_stop(w, &w->down_stops[w->n_down++], v, n, first, up, down,
				     (uint16_t)(down[v] - 1));
		else
			n = add_stop(w, &w->up_stops[w->n_up++], v, n, up, end, total,
				     (uint16_t)(total[v] - 1));
	}
}

static uint32_t least_loaded(const struct weigh *w, uint32_t link, uint32_t end)
{
	for (uint32_t l = link + 1; l < end; l++)
		if (w->routes[l] < w->routes[link])
			link = l;
	return link;
}

/*
 * Chooses the next hop of s with the least cost, the first of equal ones.  times: weight of the load on
 * s's own link.  This runs for each LID of a host at each switch, so it has no branches: cost and index
 * share one number, which has room for both because a switch has at most 254 neighbours.
 */
static void choose_single(struct weigh *w, const struct stop *s, uint64_t times)
{
	const struct way *ways = w->ways + s->first;
	const uint64_t *cost = w->cost, *routes = w->routes;
	uint32_t n = s->end - s->first;
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t c = (cost[ways[i].to] + routes[ways[i].link0] * times) << 8 | i;

		least = c < least ? c : least;
	}
	w->next[s->v] = (struct channel){ ways[least & 255].link0, ways[least & 255].to };
	w->cost[s->v] = least >> 8;
}

/* As choose_single(), for trunks of several links or to avoid next hops that other LIDs of the port use. */
static void choose_apart(struct weigh *w, const struct stop *s, uint64_t times, bool apart)
{
	uint64_t least = UINT64_MAX;
	uint32_t chosen = s->first;

	for (uint32_t i = s->first; i < s->end; i++) {
		uint32_t link = least_loaded(w, w->ways[i].link0, w->trunks[i].link_end);
		uint64_t c = w->cost[w->ways[i].to] + w->routes[link] * times;

		if (apart)
			c += w->used[w->trunks[i].trunk] * USED;
		if (c >= least)
			continue;
		least = c;
		chosen = i;
		w->next[s->v] = (struct channel){ link, w->ways[i].to };
	}
	/* without the penalty that keeps LIDs apart */
	w->cost[s->v] = w->cost[w->next[s->v].to] + w->routes[w->next[s->v].link] * times;
	if (apart)
		w->used[w->trunks[chosen].trunk]++;
}

static void choose_for(struct weigh *w, const struct stop *s, uint64_t times, bool apart)
{
	if (s->first == s->end)
		return;
	if (s->single && !apart)
		choose_single(w, s, times);
	else
		choose_apart(w, s, times, apart);
}

/*
 * Chooses for vertices that send down first, from the destination up; then for the others, from the top
 * down.  apart: prefers next hops that the port's earlier LIDs do not use.
 */
static void choose_all(struct weigh *w, bool apart)
{
	w->cost[w->d] = 0;
	for (uint32_t i = 0; i < w->n_down; i++)
		choose_for(w, &w->down_stops[i], w->down, apart);
	for (uint32_t i = w->n_up; i-- > 0;)
		choose_for(w, &w->up_stops[i], 1, apart);
}

/*
 * Adds the routes that pass s to the load of its link and hands them to the next vertex.  weight: load of
 * one route, negative to remove it.
 */
static void pass_on(struct weigh *w, const struct stop *s, struct channel next, int64_t weight)
{
	uint32_t below = w->below[s->v] + s->hosts;

	if (!below)
		return;
	w->routes[next.link] += (uint64_t)(below * weight);
	w->below[next.to] += below;
	w->below[s->v] = 0;
}

static void forget_used_by(struct weigh *w, const struct stop *stops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = stops[i].first; k < stops[i].end; k++)
			w->used[w->trunks[k].trunk] = 0;
}

/* Writes the chosen port into the tables and, if weight is not 0, adds the routes to the loads. */
static void settle(struct weigh *w, const struct stop *s, struct lfts *out, uint32_t lid, int64_t weight)
{
	struct channel next = w->next[s->v];

	graph_row(w->g, out, s->v)[lid] = w->g->links[next.link];
	if (weight)
		pass_on(w, s, next, weight);
}

static void settle_all(struct weigh *w, struct lfts *out, uint32_t lid, int64_t weight)
{
	for (uint32_t i = 0; i < w->n_up; i++)
		settle(w, &w->up_stops[i], out, lid, weight);
	for (uint32_t i = w->n_down; i-- > 0;)
		settle(w, &w->down_stops[i], out, lid, weight);
	w->below[w->d] = 0;
}

void weigh_route(struct weigh *w, struct lfts *out, const struct dest *dests, unsigned n_dests)
{
	for (unsigned i = 0; i < n_dests; i++) {
		bool apart = dests[i].n_lids > 1;

		if (apart) {
			forget_used_by(w, w->down_stops, w->n_down);
			forget_used_by(w, w->up_stops, w->n_up);
		}
		for (unsigned k = 0; k < dests[i].n_lids; k++) {
			choose_all(w, apart);
			settle_all(w, out, dests[i].lid + k, dests[i].weight);
		}
	}
}

static void count_lid(struct weigh *w, const struct lfts *l, uint16_t lid, int64_t weight)
{
	for (uint32_t i = 0; i < w->n_up; i++) {
		const struct stop *s = &w->up_stops[i];

		pass_on(w, s, channel_by_lid(w->channels, l, s->v, lid), weight);
	}
	for (uint32_t i = w->n_down; i-- > 0;) {
		const struct stop *s = &w->down_stops[i];

		pass_on(w, s, channel_by_lid(w->channels, l, s->v, lid), weight);
	}
	w->below[w->d] = 0;
}

static void count_tables(struct weigh *w, const struct lfts *l, const struct dest *dests,
			 unsigned n_dests, int64_t sign)
{
	for (unsigned i = 0; i < n_dests; i++)
		for (unsigned k = 0; k < dests[i].n_lids && dests[i].weight; k++)
			count_lid(w, l, (uint16_t)(dests[i].lid + k), sign * dests[i].weight);
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
