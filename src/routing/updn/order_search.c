/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches orders by random moves and an estimate of bandwidth; see order_search.h.
 *
 * The estimate treats all hosts of a switch as one destination.  It chooses the paths of each destination
 * as weigh.h does, given those of all others, and starts from the paths of the previous order: the loads
 * settle while the search goes on.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/updn/order_search.h"

#define NO_WAY (1ULL << 62)
/* Units that one route counts as, so that a trunk's load can be divided by its links. */
#define PARTS 240u
/* Greatest number of pairs of a destination and a switch, at 16 bytes each. */
#define PATHS_MAX 4000000u
/* Length of a search, in looks at channels of one or two nanoseconds each. */
#define WORK_PER_PATH 10000u
#define WORK_MAX 500000000u

/* Paths to all destinations, and their loads. */
struct paths {
	uint32_t *next;		/* [dest * n + vertex]: trunk, FABRIC_NONE: none */
	uint32_t *flow;		/* [dest * n + vertex]: hosts whose path leads over it */
	uint64_t *load;		/* [trunk]: routes per link, in PARTS */
	double score;
};

struct search {
	const struct graph *g;
	uint32_t n;
	uint32_t *dests, n_dests;	/* vertices with hosts */
	uint16_t *place, *best;		/* [vertex]: its place in the order */
	uint32_t *at;			/* [place]: its vertex */
	/*
	 * Trunks of vertex v: those that lead down are sides[trunk0[v]] .. sides[up0[v] - 1]; those that
	 * lead up follow.
	 */
	uint32_t *sides, *up0;
	struct paths now, next;
	double best_score;
	uint64_t hop;
	uint64_t chance;
	uint64_t work, bound;		/* looks done so far, and their limit */
	/* of one destination */
	uint64_t *cost;
	uint32_t *chosen;		/* [vertex]: trunk */
	uint64_t *most;
};

static uint32_t draw(struct search *s, uint32_t n)
{
	s->chance += 0x9e3779b97f4a7c15ULL;
	return (uint32_t)((hash64(s->chance) >> 32) * n >> 32);
}

static void paths_init(struct paths *p, const struct search *s)
{
	size_t all = (size_t)s->n_dests * s->n;

	p->next = xmalloc((all + 1) * sizeof(*p->next));
	memset(p->next, 0xff, all * sizeof(*p->next));
	p->flow = xcalloc(all + 1, sizeof(*p->flow));
	p->load = xcalloc(s->g->trunk0[s->n] + 1, sizeof(*p->load));
}

static void paths_copy(struct paths *to, const struct paths *from, const struct search *s)
{
	size_t all = (size_t)s->n_dests * s->n;

	memcpy(to->next, from->next, all * sizeof(*to->next));
	memcpy(to->flow, from->flow, all * sizeof(*to->flow));
	memcpy(to->load, from->load, s->g->trunk0[s->n] * sizeof(*to->load));
	to->score = from->score;
}

static void paths_free(struct paths *p)
{
	free(p->next);
	free(p->flow);
	free(p->load);
}

static bool is_up(const struct search *s, uint32_t v, uint32_t trunk)
{
	return s->place[s->g->trunks[trunk].v] > s->place[v];
}

static void find_sides(struct search *s, uint32_t v)
{
	uint32_t down = s->g->trunk0[v], up = s->g->trunk0[v + 1];

	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++) {
		if (is_up(s, v, t))
			s->sides[--up] = t;
		else
			s->sides[down++] = t;
	}
	s->up0[v] = up;
}

/*
 * Chooses the cheapest of v's trunks sides[first] .. sides[end - 1], if it costs less than `least`.
 * Returns the cost.
 */
static uint64_t choose(struct search *s, uint32_t v, uint32_t first, uint32_t end, uint64_t least)
{
	const struct trunk *trunks = s->g->trunks;
	const uint64_t *load = s->next.load, *cost = s->cost;

	for (uint32_t i = first; i < end; i++) {
		uint32_t t = s->sides[i], to = trunks[t].v;
		uint64_t c = cost[to] + load[t] + s->hop;

		if (c >= least)
			continue;
		least = c;
		s->chosen[v] = t;
	}
	s->work += end - first + 1;
	return least;
}

static void choose_paths(struct search *s, uint32_t d)
{
	for (uint32_t v = 0; v < s->n; v++)
		s->cost[v] = NO_WAY;
	s->cost[d] = 0;
	for (uint32_t i = s->place[d] + 1u; i < s->n; i++)
		s->cost[s->at[i]] = choose(s, s->at[i], s->g->trunk0[s->at[i]],
					   s->up0[s->at[i]], NO_WAY);
	for (uint32_t i = s->n; i-- > 0;) {
		uint32_t v = s->at[i];

		if (v != d && s->cost[v] == NO_WAY)
			s->cost[v] = choose(s, v, s->up0[v], s->g->trunk0[v + 1], NO_WAY);
	}
	s->work += 4 * s->n;
}

static uint64_t part(const struct search *s, uint32_t trunk, uint32_t flow, uint32_t d)
{
	return (uint64_t)flow * graph_hosts(s->g, d) * PARTS / s->g->trunks[trunk].n_links;
}

static void pass_on(struct search *s, uint32_t v, uint32_t *next, uint32_t *flow, uint32_t d)
{
	uint32_t t = s->chosen[v];

	flow[v] += graph_hosts(s->g, v);
	flow[s->g->trunks[t].v] += flow[v];
	next[v] = t;
	s->next.load[t] += part(s, t, flow[v], d);
}

static void count_paths(struct search *s, uint32_t d, uint32_t *next, uint32_t *flow)
{
	memset(flow, 0, s->n * sizeof(*flow));
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t v = s->at[i];

		next[v] = FABRIC_NONE;
		if (v != d && s->cost[v] != NO_WAY && is_up(s, v, s->chosen[v]))
			pass_on(s, v, next, flow, d);
	}
	for (uint32_t i = s->n; i-- > 0;) {
		uint32_t v = s->at[i];

		if (v != d && s->cost[v] != NO_WAY && !is_up(s, v, s->chosen[v]))
			pass_on(s, v, next, flow, d);
	}
}

static void reroute(struct search *s, uint32_t i)
{
	uint32_t *next = s->next.next + (size_t)i * s->n, *flow = s->next.flow + (size_t)i * s->n;
	uint32_t d = s->dests[i];

	for (uint32_t v = 0; v < s->n; v++)
		if (next[v] != FABRIC_NONE)
			s->next.load[next[v]] -= part(s, next[v], flow[v], d);
	choose_paths(s, d);
	count_paths(s, d, next, flow);
}

/* Sets the greatest load of other routes on v's path to dests[i]. */
static void meet(struct search *s, uint32_t i, uint32_t v)
{
	uint32_t t = s->next.next[(size_t)i * s->n + v], to = s->g->trunks[t].v;
	uint32_t own = s->next.flow[(size_t)i * s->n + v];
	uint64_t others = s->next.load[t] - part(s, t, own, s->dests[i]);

	s->most[v] = s->most[to] > others ? s->most[to] : others;
}

/* Expected bandwidth of all pairs with one end at dests[i]. */
static double expect(struct search *s, uint32_t i)
{
	const uint32_t *next = s->next.next + (size_t)i * s->n;
	double sum = 0, scale = 2.0 * PARTS * s->g->n_hosts;

	s->most[s->dests[i]] = 0;
	for (uint32_t k = s->place[s->dests[i]] + 1u; k < s->n; k++) {
		uint32_t v = s->at[k];

		if (next[v] != FABRIC_NONE && !is_up(s, v, next[v]))
			meet(s, i, v);
	}
	for (uint32_t k = s->n; k-- > 0;) {
		uint32_t v = s->at[k];

		if (next[v] == FABRIC_NONE)
			continue;
		if (is_up(s, v, next[v]))
			meet(s, i, v);
		sum += graph_hosts(s->g, v) / (1 + (double)s->most[v] / scale);
	}
	return sum * graph_hosts(s->g, s->dests[i]);
}

/* Of the destinations whose paths stay legal after a move, one in this many is rerouted. */
#define OTHERS 8

/*
 * Whether no path to dests[i] crosses a link whose direction the move of v changed.  Those are v's links
 * to vertices between its old place, `from`, and its new one.
 */
static bool is_legal(const struct search *s, uint32_t i, uint32_t v, uint32_t from)
{
	const uint32_t *next = s->next.next + (size_t)i * s->n;
	uint32_t least = s->place[v] < from ? s->place[v] : from;
	uint32_t most = s->place[v] < from ? from : s->place[v];

	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++) {
		uint32_t to = s->g->trunks[t].v;

		if (s->place[to] < least || s->place[to] > most)
			continue;
		if (next[v] == t || (next[to] != FABRIC_NONE && s->g->trunks[next[to]].v == v))
			return false;
	}
	return true;
}

/* Rates the paths. */
static void estimate(struct search *s)
{
	uint64_t most = 1;
	double sum = 0;

	for (uint32_t i = 0; i < s->n_dests; i++)
		sum += expect(s, i);
	for (uint32_t t = 0; t < s->g->trunk0[s->n]; t++)
		most = s->next.load[t] > most ? s->next.load[t] : most;
	s->next.score = sum / sqrt(sqrt(sqrt((double)most)));
	s->work += 4ULL * s->n_dests * s->n;
}

/* --- moves --- */

static bool is_root(const struct search *s, uint32_t v)
{
	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++)
		if (is_up(s, v, t))
			return false;
	return true;
}

static void move_to(struct search *s, uint32_t v, uint32_t to)
{
	uint32_t from = s->place[v];

	for (; from < to; from++)
		s->at[from] = s->at[from + 1];
	for (; from > to; from--)
		s->at[from] = s->at[from - 1];
	s->at[to] = v;
	for (uint32_t i = 0; i < s->n; i++)
		s->place[s->at[i]] = (uint16_t)i;
	find_sides(s, v);
	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++)
		find_sides(s, s->g->trunks[t].v);
}

/* Whether only the last vertex has no neighbour above. */
static bool has_one_root(const struct search *s)
{
	for (uint32_t i = 0; i + 1 < s->n; i++)
		if (is_root(s, s->at[i]))
			return false;
	return true;
}

/*
 * Moves a random vertex just past one of its neighbours, sometimes to an end of the order.  Returns the
 * vertex; *from: its old place.
 */
static uint32_t move_one(struct search *s, uint32_t *from)
{
	const struct graph *g = s->g;
	uint32_t v = draw(s, s->n), t, to;

	*from = s->place[v];
	if (g->trunk0[v] == g->trunk0[v + 1])
		return v;
	t = g->trunk0[v] + draw(s, g->trunk0[v + 1] - g->trunk0[v]);
	to = s->place[g->trunks[t].v];
	if (draw(s, 16) == 0)
		to = draw(s, 2) ? s->n - 1 : 0;
	move_to(s, v, to);
	return v;
}

static void keep_best(struct search *s)
{
	if (s->now.score <= s->best_score)
		return;
	s->best_score = s->now.score;
	memcpy(s->best, s->place, s->n * sizeof(*s->best));
}

/* Initial share of the score that a kept order may lose; the share shrinks as the search goes on. */
#define TOLERANCE 0.004

static void improve(struct search *s)
{
	unsigned idle = 0;

	while (s->work < s->bound && idle < 1000) {
		uint32_t from, v = move_one(s, &from);
		double left = 1 - (double)s->work / (double)s->bound;
		uint32_t turn;

		if (s->place[v] == from || !has_one_root(s)) {
			move_to(s, v, from);
			idle++;
			continue;
		}
		idle = 0;
		paths_copy(&s->next, &s->now, s);
		/*
		 * Reroutes destinations whose paths the move made illegal, and a part of the others in
		 * turn.
		 */
		turn = draw(s, OTHERS);
		for (uint32_t i = 0; i < s->n_dests; i++)
			if (i % OTHERS == turn || !is_legal(s, i, v, from))
				reroute(s, i);
		estimate(s);
		if (s->next.score < s->now.score * (1 - TOLERANCE * left * left)) {
			move_to(s, v, from);
			continue;
		}
		struct paths swap = s->now;

		s->now = s->next;
		s->next = swap;
		keep_best(s);
	}
}

/* --- one root --- */

/* Vertices to put above all others: the root first, each next to one before it. */
struct crown {
	uint32_t *list, n;
	bool *in, *covered;	/* [vertex] */
};

static uint32_t covers(const struct search *s, const struct crown *c, uint32_t v, const bool *root)
{
	uint32_t n = root[v] && !c->covered[v];

	for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++)
		n += root[s->g->trunks[t].v] && !c->covered[s->g->trunks[t].v];
	return n;
}

/* The vertex next to the crown that covers the most roots; if none covers any, one on the way to a root. */
static uint32_t crown_next(const struct search *s, const struct crown *c, const bool *root,
			   uint32_t *queue, uint32_t *before)
{
	uint32_t head = 0, tail = 0, best = FABRIC_NONE, most = 0;

	for (uint32_t v = 0; v < s->n; v++)
		before[v] = FABRIC_NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		before[c->list[i]] = c->list[i];
		queue[tail++] = c->list[i];
	}
	for (uint32_t end = tail; head < tail; end = tail) {
		while (head < end) {
			uint32_t v = queue[head++];

			for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++) {
				uint32_t to = s->g->trunks[t].v, n;

				if (before[to] != FABRIC_NONE)
					continue;
				before[to] = v;
				queue[tail++] = to;
				n = covers(s, c, to, root);
				if (n > most) {
					most = n;
					best = to;
				}
			}
		}
		if (best != FABRIC_NONE)
			break;
	}
	while (best != FABRIC_NONE && !c->in[before[best]])
		best = before[best];
	return best;
}

/* Puts as few vertices as possible above all others, v first, so that each root is below one of them. */
static void crown(struct search *s, uint32_t v)
{
	uint32_t n = s->n, *queue = xcalloc(n, sizeof(*queue));
	uint32_t *before = xcalloc(n, sizeof(*before));
	struct crown c = { .list = xcalloc(n, sizeof(*c.list)), .in = xcalloc(n, 1),
			   .covered = xcalloc(n, 1) };
	bool *root = xcalloc(n, sizeof(*root));

	for (uint32_t i = 0; i < n; i++)
		root[i] = is_root(s, i);
	while (v != FABRIC_NONE) {
		c.list[c.n++] = v;
		c.in[v] = c.covered[v] = true;
		for (uint32_t t = s->g->trunk0[v]; t < s->g->trunk0[v + 1]; t++)
			c.covered[s->g->trunks[t].v] = true;
		v = crown_next(s, &c, root, queue, before);
	}
	for (uint32_t i = c.n; i-- > 0;)
		move_to(s, c.list[i], n - 1);
	free(queue);
	free(before);
	free(c.list);
	free(c.in);
	free(c.covered);
	free(root);
}

/* --- all --- */

static void set_order(struct search *s, const uint16_t *place)
{
	memcpy(s->place, place, s->n * sizeof(*place));
	for (uint32_t v = 0; v < s->n; v++)
		s->at[place[v]] = v;
	for (uint32_t v = 0; v < s->n; v++)
		find_sides(s, v);
}

static void start_from(struct search *s)
{
	size_t all = (size_t)s->n_dests * s->n;

	memset(s->next.next, 0xff, all * sizeof(*s->next.next));
	memset(s->next.flow, 0, all * sizeof(*s->next.flow));
	memset(s->next.load, 0, s->g->trunk0[s->n] * sizeof(*s->next.load));
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < s->n_dests; i++)
			reroute(s, i);
	estimate(s);
	if (s->next.score <= s->now.score)
		return;
	paths_copy(&s->now, &s->next, s);
	keep_best(s);
}

/* Number of crowns tried, starting from vertices at places far apart. */
#define CROWNS 12

void search_try(struct search *s, const uint16_t *place)
{
	uint32_t step = s->n / CROWNS + 1;

	set_order(s, place);
	if (has_one_root(s)) {
		if (s->work < s->bound / 2)
			start_from(s);
		return;
	}
	for (uint32_t i = 0; i < s->n && s->work < s->bound / 2; i += step) {
		set_order(s, place);
		crown(s, s->at[i]);
		start_from(s);
	}
}

struct search *search_new(const struct graph *g)
{
	struct search *s;
	uint32_t n_dests = 0;

	for (uint32_t v = 0; v < g->n; v++)
		n_dests += graph_hosts(g, v) > 0;
	if ((uint64_t)n_dests * g->n > PATHS_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	*s = (struct search){ .g = g, .n = g->n, .chance = 1,
			      .bound = WORK_PER_PATH * (uint64_t)n_dests * g->n,
			      .hop = PARTS * (uint64_t)g->n_hosts / 2, .best_score = -1 };
	if (s->bound > WORK_MAX)
		s->bound = WORK_MAX;
	s->now.score = -1;
	s->dests = xcalloc(n_dests, sizeof(*s->dests));
	for (uint32_t v = 0; v < g->n; v++)
		if (graph_hosts(g, v))
			s->dests[s->n_dests++] = v;
	s->place = xcalloc(g->n, sizeof(*s->place));
	s->best = xcalloc(g->n, sizeof(*s->best));
	s->at = xcalloc(g->n, sizeof(*s->at));
	s->sides = xcalloc(g->trunk0[g->n] + 1, sizeof(*s->sides));
	s->up0 = xcalloc(g->n, sizeof(*s->up0));
	s->cost = xcalloc(g->n, sizeof(*s->cost));
	s->chosen = xcalloc(g->n, sizeof(*s->chosen));
	s->most = xcalloc(g->n, sizeof(*s->most));
	paths_init(&s->now, s);
	paths_init(&s->next, s);
	return s;
}

void search_free(struct search *s)
{
	if (!s)
		return;
	paths_free(&s->now);
	paths_free(&s->next);
	free(s->dests);
	free(s->place);
	free(s->best);
	free(s->at);
	free(s->sides);
	free(s->up0);
	free(s->cost);
	free(s->chosen);
	free(s->most);
	free(s);
}

void search_improve(struct search *s, uint16_t *place)
{
	set_order(s, s->best);
	improve(s);
	memcpy(place, s->best, s->n * sizeof(*place));
}
