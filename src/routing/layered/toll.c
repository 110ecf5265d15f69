/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the cheapest routes to each destination, then chooses for each LID among nearly equal ones; see
 * toll.h.
 *
 * For each destination vertex, one search (Dijkstra) finds the routes with the loads at that time.  Each
 * LID then chooses anew, in the order in which vertices were settled, among nearly equal next hops that
 * were settled earlier, so that no route comes back.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layered/toll.h"
#include "routing/ways.h"

/*
 * Hops that a different neighbour for another LID of the same port is worth, so that this outweighs all
 * load.
 */
#define USED_HOPS 1000u
#define TOLL_MAX 100000u

/* A next hop that a LID may take, with the data needed of its trunk. */
struct way {
	uint32_t trunk, to;
	uint32_t link0;
	bool alone;		/* the trunk has one link */
};

/* A vertex with its next hops nearly as good as the best: ways[first] .. ways[end - 1]. */
struct stop {
	uint32_t v, first, end;
	bool plain;		/* each of its trunks has one link, and none of their turns a toll */
};

struct toll {
	const struct channels *c;
	const struct graph *g;
	const struct turns *legal;
	uint64_t hop;
	uint64_t *load;		/* [link]: total cost of the routes that it carries */
	uint32_t *cost;		/* [link]: cost of one route */
	size_t *turn0;		/* see channels_number_turns() */
	uint32_t *tolls;	/* [turn]: toll in hundredths of a hop */
	bool *tolled;		/* [trunk in]: some of its turns has a toll, which is rare */
	uint32_t *raised;	/* [turn]: last round in which its toll grew */
	uint32_t round;
	/* of one destination vertex */
	uint32_t d;
	struct stop *stops;	/* in the order of settling, without the destination */
	uint32_t n_stops;
	struct way *ways;
	/* [vertex]: index in stops + 1; 0 for the destination; UINT32_MAX: not settled */
	uint32_t *place;
	/* vertices with a route that is not settled; also scratch space for sorting */
	uint32_t *heap, n_heap;
	uint32_t *at;		/* [vertex]: its index in the heap */
	uint8_t *used;		/* [trunk]: LIDs of a port that use it */
	uint8_t *link_used;	/* [link]: LIDs of a port that use it */
	/* of one LID */
	uint64_t *sum;		/* [vertex]: cost of its route */
	uint32_t *out;		/* [vertex]: trunk of its route; FABRIC_NONE for the destination */
	uint32_t *link;		/* [vertex]: link of its route */
	uint32_t *below;	/* [vertex]: hosts whose route leads over it */
};

#define AT_NONE UINT32_MAX
#define AT_DONE (UINT32_MAX - 1)

/* --- beginning and end --- */

struct toll *toll_new(const struct channels *c, const struct turns *legal)
{
	struct toll *t = xcalloc(1, sizeof(*t));
	const struct graph *g = c->g;
	uint32_t n = g->n, n_trunks = g->trunk0[n];
	size_t n_turns;

	*t = (struct toll){ .c = c, .g = g, .legal = legal, .round = 1 };
	t->hop = ways_hop_cost(g);
	t->load = xcalloc(g->n_links, sizeof(*t->load));
	t->cost = ways_link_costs(c);
	t->turn0 = channels_number_turns(c, &n_turns);
	t->tolls = xcalloc(n_turns, sizeof(*t->tolls));
	t->raised = xcalloc(n_turns, sizeof(*t->raised));
	t->tolled = xcalloc(n_trunks, sizeof(*t->tolled));
	t->stops = xcalloc(n, sizeof(*t->stops));
	t->ways = xcalloc(n_trunks, sizeof(*t->ways));
	t->place = xcalloc(n, sizeof(*t->place));
	t->heap = xcalloc(n, sizeof(*t->heap));
	t->at = xcalloc(n, sizeof(*t->at));
	t->used = xcalloc(n_trunks, sizeof(*t->used));
	t->link_used = xcalloc(g->n_links, sizeof(*t->link_used));
	t->sum = xcalloc(n, sizeof(*t->sum));
	t->out = xcalloc(n, sizeof(*t->out));
	t->link = xcalloc(n, sizeof(*t->link));
	t->below = xcalloc(n, sizeof(*t->below));
	return t;
}

void toll_free(struct toll *t)
{
	if (!t)
		return;
	free(t->load);
	free(t->cost);
	free(t->turn0);
	free(t->tolls);
	free(t->raised);
	free(t->tolled);
	free(t->stops);
	free(t->ways);
	free(t->place);
	free(t->heap);
	free(t->at);
	free(t->used);
	free(t->link_used);
	free(t->sum);
	free(t->out);
	free(t->link);
	free(t->below);
	free(t);
}

/* --- costs --- */

static uint32_t *toll_of(const struct toll *t, struct dep x)
{
	return &t->tolls[turn_number(t->c, t->turn0, x.in, x.out)];
}

void toll_round(struct toll *t)
{
	t->round++;
}

uint32_t toll_raise(struct toll *t, struct dep turn, uint32_t hundredths)
{
	uint32_t *toll = toll_of(t, turn), *raised = &t->raised[toll - t->tolls];

	if (*raised != t->round)
		*toll = *toll > TOLL_MAX - hundredths ? TOLL_MAX : *toll + hundredths;
	*raised = t->round;
	t->tolled[turn.in] = true;
	return *toll;
}

/* apart: considers only links that the port's other LIDs use least. */
static uint32_t least_loaded(const struct toll *t, uint32_t trunk, bool apart)
{
	const struct trunk *x = &t->g->trunks[trunk];
	uint32_t link = x->link0;

	for (uint32_t i = link + 1; i < x->link0 + x->n_links; i++)
		if (apart && t->link_used[i] != t->link_used[link] ?
		    t->link_used[i] < t->link_used[link] : t->load[i] < t->load[link])
			link = i;
	return link;
}

/* Cost of the route by a trunk and on along the chosen route of `to`, the vertex at its end. */
static inline uint64_t cost_of(const struct toll *t, uint32_t trunk, uint32_t to, uint32_t link)
{
	uint64_t cost = t->sum[to] + t->hop + t->load[link];

	if (to != t->d && t->tolled[trunk])
		cost += *toll_of(t, (struct dep){ .in = trunk, .out = t->out[to] }) * (t->hop / 100);
	return cost;
}

/* --- routes to a vertex --- */

static void put(struct toll *t, uint32_t i, uint32_t v)
{
	t->heap[i] = v;
	t->at[v] = i;
}

static void rise(struct toll *t, uint32_t v)
{
	uint32_t i = t->at[v];

	for (; i; i = (i - 1) / 2) {
		uint32_t above = t->heap[(i - 1) / 2];

		if (t->sum[above] <= t->sum[v])
			break;
		put(t, i, above);
	}
	put(t, i, v);
}

static uint32_t take_least(struct toll *t)
{
	uint32_t least = t->heap[0], last = t->heap[--t->n_heap], i = 0;

	for (uint32_t k = 1; k < t->n_heap; k = 2 * i + 1) {
		k += k + 1 < t->n_heap && t->sum[t->heap[k + 1]] < t->sum[t->heap[k]];
		if (t->sum[last] <= t->sum[t->heap[k]])
			break;
		put(t, i, t->heap[k]);
		i = k;
	}
	put(t, i, last);
	t->at[least] = AT_DONE;
	return least;
}

/* v's route is settled; offers it to the neighbours. */
static void pass_on(struct toll *t, enum way_phase phase, uint32_t v)
{
	const struct graph *g = t->g;

	for (uint32_t back = g->trunk0[v]; back < g->trunk0[v + 1]; back++) {
		uint32_t u = g->trunks[back].v, trunk, link;
		uint64_t cost;

		if (t->at[u] == AT_DONE)
			continue;
		trunk = channels_trunk_back(t->c, back);
		if (!way_is_open(phase, t->legal, u, v, trunk, t->out[v]))
			continue;
		link = least_loaded(t, trunk, false);
		cost = cost_of(t, trunk, v, link);
		if (t->at[u] == AT_NONE)
			t->at[u] = t->n_heap++;
		else if (cost >= t->sum[u])
			continue;
		t->sum[u] = cost;
		t->out[u] = trunk;
		rise(t, u);
	}
}

/*
 * Collects the trunks from v to vertices settled earlier by which v is less than half a hop farther than
 * by its best.
 */
static void find_ways(struct toll *t, enum way_phase phase, struct stop *s, uint32_t n_ways)
{
	const struct graph *g = t->g;

	s->first = n_ways;
	s->plain = true;
	for (uint32_t i = g->trunk0[s->v]; i < g->trunk0[s->v + 1]; i++) {
		uint32_t to = g->trunks[i].v;

		if (t->place[to] < t->place[s->v] && t->sum[to] + t->hop / 2 < t->sum[s->v] &&
		    way_is_open(phase, t->legal, s->v, to, i, t->out[to])) {
			t->ways[n_ways++] = (struct way){ i, to, g->trunks[i].link0, g->trunks[i].n_links == 1 };
			s->plain &= g->trunks[i].n_links == 1 && !t->tolled[i];
		}
	}
	s->end = n_ways;
}

/* Settles all vertices that routes of this phase reach, starting from those already settled. */
static void settle(struct toll *t, enum way_phase phase)
{
	uint32_t n_ways = t->n_stops ? t->stops[t->n_stops - 1].end : 0;

	if (t->n_stops + 1 == t->g->n)
		return;		/* all are settled */
	pass_on(t, phase, t->d);
	for (uint32_t i = 0; i < t->n_stops; i++)
		pass_on(t, phase, t->stops[i].v);
	while (t->n_heap) {
		struct stop *s = &t->stops[t->n_stops++];

		s->v = take_least(t);
		t->place[s->v] = t->n_stops;
		find_ways(t, phase, s, n_ways);
		n_ways = s->end;
		pass_on(t, phase, s->v);
	}
}

static void find_stops(struct toll *t, uint32_t d, bool legal_only)
{
	t->d = d;
	t->n_stops = 0;
	for (uint32_t v = 0; v < t->g->n; v++)
		t->at[v] = t->place[v] = AT_NONE;
	t->sum[d] = 0;
	t->out[d] = FABRIC_NONE;
	t->at[d] = AT_DONE;
	t->place[d] = 0;
	t->n_heap = 0;
	if (legal_only) {
		settle(t, WAY_DOWN);
		settle(t, WAY_UP);
		settle(t, WAY_BY_HUB);
	}
	settle(t, WAY_ANY);
}

/* --- routes to a LID --- */

/*
 * Chooses the best next hop of a plain stop, the first of equal ones.  It has no branches, because it runs
 * for each LID at each switch.
 */
static void choose_plain(struct toll *t, const struct stop *s)
{
	const uint64_t *sum = t->sum, *load = t->load;
	uint64_t least = UINT64_MAX;
	uint32_t best = s->first;

	for (uint32_t i = s->first; i < s->end; i++) {
		uint64_t cost = sum[t->ways[i].to] + load[t->ways[i].link0];

		best = cost < least ? i : best;
		least = cost < least ? cost : least;
	}
	t->sum[s->v] = least + t->hop;
	t->out[s->v] = t->ways[best].trunk;
	t->link[s->v] = t->ways[best].link0;
}

/* apart: prefers trunks and links that other LIDs of the port use least. */
static void choose(struct toll *t, const struct stop *s, bool apart)
{
	uint64_t least = UINT64_MAX, sum = 0;

	if (s->plain && !apart) {
		choose_plain(t, s);
		return;
	}
	for (uint32_t i = s->first; i < s->end; i++) {
		const struct way *x = &t->ways[i];
		uint32_t link = x->alone ? x->link0 : least_loaded(t, x->trunk, apart);
		uint64_t alone = cost_of(t, x->trunk, x->to, link), cost = alone;

		if (apart)
			cost += t->used[x->trunk] * USED_HOPS * t->hop;
		if (cost >= least)
			continue;
		least = cost;
		sum = alone;
		t->out[s->v] = x->trunk;
		t->link[s->v] = link;
	}
	t->sum[s->v] = sum;
	if (apart) {
		t->used[t->out[s->v]]++;
		t->link_used[t->link[s->v]]++;
	}
}

/*
 * Adds the routes along the LID's routes to the loads, or subtracts them; counts hosts on the stops from
 * `first` on.
 */
static void count(struct toll *t, uint32_t first, bool add)
{
	for (uint32_t i = t->n_stops; i-- > 0;) {
		uint32_t v = t->stops[i].v, to = t->g->trunks[t->out[v]].v;
		uint64_t load;

		t->below[v] += i >= first ? graph_hosts(t->g, v) : 0;
		load = (uint64_t)t->below[v] * t->cost[t->link[v]];
		t->load[t->link[v]] += add ? load : -load;
		t->below[to] += t->below[v];
		t->below[v] = 0;
	}
	t->below[t->d] = 0;
}

/*
 * Reads a LID's routes that arrive into stops, each vertex after the one that it sends to.  All other
 * vertices then have no link.
 */
static void recall(struct toll *t, const struct lfts *l, uint32_t d, uint16_t lid)
{
	uint32_t n;

	t->d = d;
	t->n_stops = 0;
	for (uint32_t v = 0; v < t->g->n; v++) {
		struct channel ch = channel_by_lid(t->c, l, v, lid);

		t->link[v] = v == d ? FABRIC_NONE : ch.link;
		t->out[v] = t->link[v] == FABRIC_NONE ? FABRIC_NONE : t->c->trunk[ch.link];
		t->place[v] = AT_NONE;
	}
	n = ways_sort(t->g, t->out, t->below, t->heap);
	memset(t->below, 0, t->g->n * sizeof(*t->below));
	t->place[d] = 0;
	while (n-- > 0) {
		uint32_t v = t->heap[n];

		if (t->place[t->g->trunks[t->out[v]].v] == AT_NONE)
			continue;
		t->stops[t->n_stops++] = (struct stop){ .v = v };
		t->place[v] = t->n_stops;
	}
	for (uint32_t v = 0; v < t->g->n; v++)
		if (t->place[v] == AT_NONE)
			t->link[v] = FABRIC_NONE;
}

void toll_forget(struct toll *t, const struct lfts *out, uint32_t d, const struct dest *dests, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < dests[i].n_lids && dests[i].weight; k++) {
			recall(t, out, d, (uint16_t)(dests[i].lid + k));
			count(t, 0, false);
		}
}

/* Number of hosts, including its own, whose routes lead over v, among the routes that recall() found. */
static uint32_t hosts_by(struct toll *t, uint32_t v)
{
	uint32_t n = 0;

	for (uint32_t i = t->n_stops; i-- > 0;) {
		uint32_t u = t->stops[i].v;

		t->below[u] += graph_hosts(t->g, u);
		n = u == v ? t->below[u] : n;
		t->below[t->g->trunks[t->out[u]].v] += t->below[u];
		t->below[u] = 0;
	}
	t->below[t->d] = 0;
	return n;
}

/* Adds routes to a link and to all links on the route from its end, or subtracts them. */
static void count_along(struct toll *t, uint32_t link, uint32_t hosts, bool add)
{
	for (;;) {
		uint64_t load = (uint64_t)hosts * t->cost[link];
		uint32_t v = t->c->to[link];

		t->load[link] += add ? load : -load;
		if (v == t->d)
			return;
		link = t->link[v];
	}
}

void toll_divert(struct toll *t, const struct lfts *out, uint32_t d, uint16_t lid, uint32_t v, uint8_t had)
{
	uint32_t hosts;

	recall(t, out, d, lid);
	hosts = hosts_by(t, v);
	count_along(t, channel_by_port(t->c, v, had).link, hosts, false);
	count_along(t, t->link[v], hosts, true);
}

bool toll_keep(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n)
{
	bool whole = true;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < dests[i].n_lids; k++) {
			uint16_t lid = (uint16_t)(dests[i].lid + k);

			recall(t, out, d, lid);
			for (uint32_t v = 0; v < t->g->n; v++)
				if (v != d && t->link[v] == FABRIC_NONE) {
					graph_row(t->g, out, v)[lid] = LFT_DROP;
					whole = false;
				}
			if (dests[i].weight)
				count(t, 0, true);
		}
	return whole;
}

/* Finds routes to one LID for the vertices without one; the others keep theirs. */
static void mend_lid(struct toll *t, struct lfts *out, uint32_t d, uint16_t lid, bool weighs)
{
	uint32_t kept;

	recall(t, out, d, lid);
	kept = t->n_stops;
	for (uint32_t v = 0; v < t->g->n; v++)
		t->at[v] = t->place[v] == AT_NONE ? AT_NONE : AT_DONE;
	t->sum[d] = 0;
	for (uint32_t i = 0; i < kept; i++) {
		uint32_t v = t->stops[i].v;

		t->sum[v] = cost_of(t, t->out[v], t->g->trunks[t->out[v]].v, t->link[v]);
	}
	t->n_heap = 0;
	settle(t, WAY_ANY);
	for (uint32_t i = kept; i < t->n_stops; i++) {
		uint32_t v = t->stops[i].v;

		choose(t, &t->stops[i], false);
		graph_row(t->g, out, v)[lid] = t->g->links[t->link[v]];
	}
	if (weighs)
		count(t, kept, true);
}

void toll_mend(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < dests[i].n_lids; k++)
			mend_lid(t, out, d, (uint16_t)(dests[i].lid + k), dests[i].weight);
}

void toll_route(struct toll *t, struct lfts *out, uint32_t d, const struct dest *dests, unsigned n,
		bool again, bool legal_only)
{
	if (again)
		toll_forget(t, out, d, dests, n);
	find_stops(t, d, legal_only);
	for (unsigned i = 0; i < n; i++) {
		bool apart = dests[i].n_lids > 1;

		if (apart) {
			memset(t->used, 0, t->g->trunk0[t->g->n]);
			memset(t->link_used, 0, t->g->n_links);
		}
		for (unsigned k = 0; k < dests[i].n_lids; k++) {
			for (uint32_t s = 0; s < t->n_stops; s++) {
				uint32_t v = t->stops[s].v;

				choose(t, &t->stops[s], apart);
				graph_row(t->g, out, v)[dests[i].lid + k] = t->g->links[t->link[v]];
			}
			if (dests[i].weight)
				count(t, 0, true);
		}
	}
}
