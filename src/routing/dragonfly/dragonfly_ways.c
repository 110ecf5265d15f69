/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Searches paths in steps, the shortest kinds first; see dragonfly_ways.h. */
#include "routing/dragonfly/dragonfly_ways.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/updn/turns.h"
#include "routing/ways.h"

/* How a vertex reaches the current destination.  Without faults only the first five occur. */
enum rank {
	NO_WAY,
	ARRIVED,	/* the vertex is the destination */
	WITHIN,		/* one link of the destination's group */
	BY_CABLE,	/* its own cable into the destination's group, then at most one link */
	BY_GATEWAY,	/* one link to a vertex that has such a cable */
	WITHIN_TWICE,	/* two links of the destination's group, which is its own */
	AROUND,		/* around a gap, by a path that is legal in the up/down order */
	JUST_FOUND,	/* AROUND, found in this round: other vertices may use it in the next */
};

#define BIT(rank) (1u << (rank))
enum { ANY_RANK = BIT(JUST_FOUND) - 1 - BIT(NO_WAY) };

/* One step of the search: a vertex without a path takes a link of one kind to a vertex of one of the ranks. */
struct step {
	bool cable;		/* the link is a cable between groups */
	unsigned ranks;		/* bit r: enum rank r */
	enum rank found;	/* the rank that the vertex has then */
	bool legal;		/* only if the whole path is legal in the up/down order */
};

static const struct step steps[] = {
	{ false, BIT(ARRIVED), WITHIN, false },
	{ true, BIT(ARRIVED) | BIT(WITHIN), BY_CABLE, false },
	{ false, BIT(BY_CABLE), BY_GATEWAY, false },
	/* where links are missing */
	{ false, BIT(WITHIN), WITHIN_TWICE, true },	/* preferred: paths around gaps may continue on it */
	{ false, BIT(WITHIN), WITHIN_TWICE, false },
};
#define N_MINIMAL 3u	/* number of leading steps that make minimal paths */
/* For the remaining vertices; repeated until none of them finds a path. */
static const struct step last_steps[] = {
	{ true, ANY_RANK, JUST_FOUND, true },
	{ false, ANY_RANK, JUST_FOUND, true },
};

struct dragonfly_ways {
	const struct graph *g;
	struct turns *legal;
	bool *cable;		/* [trunk] */
	uint32_t *cost;		/* [trunk]: cost of one route */
	uint64_t *load;		/* [trunk]: total cost of the routes that it carries */
	uint64_t *around;	/* bit v * n + destination: see dragonfly_goes_around() */
	uint32_t n_around;
	/* for the current destination */
	uint32_t to;
	uint32_t *next;		/* [vertex]: the first trunk of its path */
	uint8_t *rank;		/* [vertex]: enum rank */
	uint32_t *hops;		/* [vertex]: length of its path */
	bool *same;		/* [vertex]: its path is that of the earlier routing */
	uint32_t *before;	/* [vertex]: the trunk to keep if possible, or FABRIC_NONE */
	uint32_t *order, *waits;	/* [vertex]: scratch space of ways_sort() */
	uint32_t *legal_way;	/* [vertex]: first trunk of a legal path, or FABRIC_NONE; filled on demand */
	uint32_t *legal_hops;	/* [vertex]: length of that path */
	bool *forced;		/* [vertex]: it has to take its legal path */
};

/* --- beginning and end --- */

struct dragonfly_ways *dragonfly_ways_new(const struct channels *c, const struct updn_order *o, bool *cable)
{
	struct dragonfly_ways *x = xcalloc(1, sizeof(*x));
	size_t n = c->g->n + 1u;

	*x = (struct dragonfly_ways){ .g = c->g, .legal = turns_new(o), .cable = cable, .cost = ways_trunk_costs(c) };
	x->load = xcalloc(c->g->trunk0[c->g->n] + 1u, sizeof(*x->load));
	x->around = xcalloc((size_t)c->g->n * c->g->n / 64 + 1, sizeof(*x->around));
	x->rank = xcalloc(n, sizeof(*x->rank));
	x->hops = xcalloc(n, sizeof(*x->hops));
	x->same = xcalloc(n, sizeof(*x->same));
	x->before = xcalloc(n, sizeof(*x->before));
	x->order = xcalloc(n, sizeof(*x->order));
	x->waits = xcalloc(n, sizeof(*x->waits));
	x->legal_way = xcalloc(n, sizeof(*x->legal_way));
	x->legal_hops = xcalloc(n, sizeof(*x->legal_hops));
	x->forced = xcalloc(n, sizeof(*x->forced));
	return x;
}

void dragonfly_ways_free(struct dragonfly_ways *x)
{
	turns_free(x->legal);
	free(x->cable);
	free(x->cost);
	free(x->load);
	free(x->around);
	free(x->rank);
	free(x->hops);
	free(x->same);
	free(x->before);
	free(x->order);
	free(x->waits);
	free(x->legal_way);
	free(x->legal_hops);
	free(x->forced);
	free(x);
}

void dragonfly_ways_unload(struct dragonfly_ways *x)
{
	memset(x->load, 0, x->g->trunk0[x->g->n] * sizeof(*x->load));
}

/* --- pairs that are routed around gaps --- */

bool dragonfly_goes_around(const struct dragonfly_ways *x, uint32_t v, uint32_t to)
{
	size_t i = (size_t)v * x->g->n + to;

	return x->around[i / 64] >> i % 64 & 1;
}

void dragonfly_ways_let_around(struct dragonfly_ways *x, uint32_t v, uint32_t to)
{
	size_t i = (size_t)v * x->g->n + to;

	x->n_around += !dragonfly_goes_around(x, v, to);
	x->around[i / 64] |= 1ULL << i % 64;
}

uint32_t dragonfly_ways_around(const struct dragonfly_ways *x)
{
	return x->n_around;
}

/* --- steps --- */

/* Whether the path that begins with a trunk is legal. */
static bool is_legal(const struct dragonfly_ways *x, uint32_t trunk)
{
	for (uint32_t t = trunk, then; (then = x->next[x->g->trunks[t].v]) != FABRIC_NONE; t = then)
		if (!turns_allowed(x->legal, t, then))
			return false;
	return true;
}

/* Both directions of a pair belong to the same layer. */
static bool must_be_legal(const struct dragonfly_ways *x, uint32_t v)
{
	return dragonfly_goes_around(x, v, x->to) || dragonfly_goes_around(x, x->to, v);
}

/* The load of the busiest link on the path that begins with a trunk, with one more route on it. */
static uint64_t load_by(const struct dragonfly_ways *x, uint32_t trunk)
{
	uint64_t most = 0;

	for (uint32_t t = trunk; t != FABRIC_NONE; t = x->next[x->g->trunks[t].v])
		if (x->load[t] + x->cost[t] > most)
			most = x->load[t] + x->cost[t];
	return most;
}

/*
 * The trunk by which a step gives v the shortest path and, among equally short paths, the least loaded one.
 * FABRIC_NONE if the step gives v none.
 */
static uint32_t take_step(const struct dragonfly_ways *x, uint32_t v, const struct step *s)
{
	bool legal = s->legal || must_be_legal(x, v);
	uint32_t taken = FABRIC_NONE;
	uint64_t least = 0;

	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++) {
		uint32_t u = x->g->trunks[t].v, least_hops = taken == FABRIC_NONE ? 0 : x->hops[x->g->trunks[taken].v];
		uint64_t load;

		if (!(s->ranks >> x->rank[u] & 1) || x->cable[t] != s->cable ||
		    (taken != FABRIC_NONE && x->hops[u] > least_hops) || (legal && !is_legal(x, t)))
			continue;
		load = load_by(x, t);
		if (taken == FABRIC_NONE || x->hops[u] < least_hops || load < least) {
			taken = t;
			least = load;
		}
	}
	return taken;
}

/*
 * Adds the routes from v to the hosts on the destination to the load of each link on the path, or
 * subtracts them.
 */
static void count_load(struct dragonfly_ways *x, uint32_t v, bool add)
{
	uint64_t routes = (uint64_t)graph_hosts(x->g, v) * graph_hosts(x->g, x->to);

	for (uint32_t t = x->next[v]; t != FABRIC_NONE; t = x->next[x->g->trunks[t].v])
		x->load[t] += add ? routes * x->cost[t] : -(routes * x->cost[t]);
}

static void go_by(struct dragonfly_ways *x, uint32_t v, uint32_t trunk, enum rank rank)
{
	x->next[v] = trunk;
	x->rank[v] = (uint8_t)rank;
	x->hops[v] = x->hops[x->g->trunks[trunk].v] + 1;
}

/* Returns the number of vertices that have found a path. */
static uint32_t take_steps(struct dragonfly_ways *x, const struct step *s)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < x->g->n; v++) {
		uint32_t t = x->rank[v] == NO_WAY ? take_step(x, v, s) : FABRIC_NONE;

		if (t == FABRIC_NONE)
			continue;
		go_by(x, v, t, s->found);
		count_load(x, v, true);
		n++;
	}
	return n;
}

/*
 * Extends the shortest legal path of any neighbour to v: of a lower neighbour that descends all the way,
 * or of a higher one.
 */
static void find_legal_way(struct dragonfly_ways *x, uint32_t v, bool down)
{
	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++) {
		uint32_t u = x->g->trunks[t].v;

		if ((u < v) == down && x->legal_hops[u] < FABRIC_NONE && x->legal_hops[u] + 1 < x->legal_hops[v]) {
			x->legal_hops[v] = x->legal_hops[u] + 1;
			x->legal_way[v] = t;
		}
	}
}

/*
 * Finds a legal path for every vertex.  A vertex that can descend all the way does, even if another path
 * is shorter: so packets that have come down may pass through it (order.h).
 */
static void find_legal_ways(struct dragonfly_ways *x)
{
	for (uint32_t v = 0; v < x->g->n; v++) {
		x->legal_hops[v] = v == x->to ? 0 : FABRIC_NONE;
		x->legal_way[v] = FABRIC_NONE;
	}
	for (uint32_t v = x->to + 1; v < x->g->n; v++)
		find_legal_way(x, v, true);
	for (uint32_t v = x->g->n; v-- > 0;)
		if (x->legal_way[v] == FABRIC_NONE && v != x->to)
			find_legal_way(x, v, false);
}

/* Forces v, and every vertex on its legal path, to take that path. */
static void force(struct dragonfly_ways *x, uint32_t v)
{
	for (; v != x->to && !x->forced[v]; v = x->g->trunks[x->legal_way[v]].v)
		x->forced[v] = true;
}

/* Forces the vertices that have found no path.  False if there are none, or none of them has a legal path. */
static bool force_others(struct dragonfly_ways *x, bool first)
{
	bool any = false;

	for (uint32_t v = 0; v < x->g->n; v++) {
		if (x->rank[v] != NO_WAY)
			continue;
		if (first)
			find_legal_ways(x);
		first = false;
		if (x->legal_way[v] != FABRIC_NONE) {
			force(x, v);
			any = true;
		}
	}
	return any;
}

/* --- earlier and forced paths --- */

/* The rank of the path that begins with a trunk: that of a minimal path if it happens to be one. */
static enum rank rank_by(const struct dragonfly_ways *x, uint32_t trunk)
{
	for (size_t i = 0; i < N_MINIMAL; i++)
		if (steps[i].cable == x->cable[trunk] && steps[i].ranks >> x->rank[x->g->trunks[trunk].v] & 1)
			return steps[i].found;
	return AROUND;
}

/* Keeps the trunk that v had, if possible.  The path of the vertex at its far end is settled already. */
static void keep(struct dragonfly_ways *x, uint32_t v)
{
	uint32_t t = x->before[v], u = x->g->trunks[t].v;
	enum rank rank = rank_by(x, t);
	bool same = !x->forced[v] && x->same[u];

	if (x->rank[u] == NO_WAY)
		return;
	if ((must_be_legal(x, v) || (rank == AROUND && !same)) && !is_legal(x, t))
		return;
	go_by(x, v, t, rank);
	x->same[v] = same;
	count_load(x, v, true);
}

/* Begins with the forced paths and those of the earlier routing. */
static void begin(struct dragonfly_ways *x, const uint32_t *before)
{
	uint32_t n;

	for (uint32_t v = 0; v < x->g->n; v++) {
		x->next[v] = FABRIC_NONE;
		x->rank[v] = NO_WAY;
		x->same[v] = false;
		x->before[v] = x->forced[v] ? x->legal_way[v] : before ? before[v] : FABRIC_NONE;
	}
	x->before[x->to] = FABRIC_NONE;
	x->rank[x->to] = ARRIVED;
	x->same[x->to] = true;
	x->hops[x->to] = 0;
	n = ways_sort(x->g, x->before, x->waits, x->order);
	while (n > 0)
		keep(x, x->order[--n]);
}

/* --- all paths to one destination --- */

static void find_ways(struct dragonfly_ways *x, const uint32_t *before)
{
	uint32_t n;

	begin(x, before);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_steps(x, &steps[i]);
	do {
		n = 0;
		for (size_t i = 0; i < ARRAY_SIZE(last_steps); i++)
			n += take_steps(x, &last_steps[i]);
		for (uint32_t v = 0; v < x->g->n; v++)
			if (x->rank[v] == JUST_FOUND)
				x->rank[v] = AROUND;
	} while (n);
}

void dragonfly_ways_find(struct dragonfly_ways *x, uint32_t to, const uint32_t *before, uint32_t *next)
{
	x->to = to;
	x->next = next;
	memset(x->forced, 0, x->g->n * sizeof(*x->forced));
	find_ways(x, before);
	for (bool first = true; force_others(x, first); first = false) {
		for (uint32_t v = 0; v < x->g->n; v++)
			count_load(x, v, false);
		find_ways(x, before);
	}
	for (uint32_t v = 0; v < x->g->n; v++)
		if (x->rank[v] == AROUND && !x->same[v])
			dragonfly_ways_let_around(x, v, to);
}
