/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See dragonfly_ways.h. */
#include "route/dragonfly_ways.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/turns.h"
#include "route/ways.h"

/* What way a vertex has to the destination at hand.  Without faults there are only the first five. */
enum rank {
	NO_WAY,
	ARRIVED,	/* it is the destination */
	WITHIN,		/* a link of the destination's group */
	BY_CABLE,	/* a cable of its own into that group */
	BY_GATEWAY,	/* a link to one that has such a cable */
	WITHIN_TWICE,	/* two links of the destination's group, which it is in */
	AROUND,		/* any way that is legal by the up/down order */
	JUST_FOUND,	/* the same, but nobody goes on by it yet */
};

#define BIT(rank) (1u << (rank))
enum { ANY_RANK = BIT(JUST_FOUND) - 1 - BIT(NO_WAY) };

/* A step in finding ways: who has none goes by a link of one kind to a vertex that has one of some ranks. */
struct step {
	bool cable;
	unsigned ranks;		/* bits */
	enum rank found;
	bool legal;		/* only if the whole way is legal by the up/down order */
};

static const struct step steps[] = {
	{ false, BIT(ARRIVED), WITHIN, false },
	{ true, BIT(ARRIVED) | BIT(WITHIN), BY_CABLE, false },
	{ false, BIT(BY_CABLE), BY_GATEWAY, false },
	/* where links are missing */
	{ false, BIT(WITHIN), WITHIN_TWICE, true },	/* so that others may go on by it */
	{ false, BIT(WITHIN), WITHIN_TWICE, false },
};
#define N_USUAL 3u	/* of the steps */
/* For all others, as long as anybody finds a way. */
static const struct step last_steps[] = {
	{ true, ANY_RANK, JUST_FOUND, true },
	{ false, ANY_RANK, JUST_FOUND, true },
};

struct dragonfly_ways {
	const struct graph *g;
	struct turns *legal;
	bool *cable;		/* [trunk] */
	uint32_t *cost;		/* [trunk]: of one route */
	uint64_t *load;		/* [trunk]: cost of the routes that it carries */
	uint64_t *around;	/* bit v * n + destination: see dragonfly_goes_around() */
	uint32_t n_around;
	/* of one destination */
	uint32_t to;
	uint32_t *next;		/* [vertex]: the trunk of its way */
	uint8_t *rank;		/* [vertex]: enum rank */
	uint32_t *hops;		/* [vertex] */
	bool *same;		/* [vertex]: its way is what it was */
	uint32_t *before;	/* [vertex]: the trunk of a way that stays if it can, or FABRIC_NONE */
	uint32_t *order, *waits;	/* [vertex]: room */
	uint32_t *legal_way;	/* [vertex]: the trunk of one, or FABRIC_NONE; known once somebody needs it */
	uint32_t *legal_hops;	/* [vertex] */
	bool *forced;		/* [vertex]: it goes by that */
};

/* --- life --- */

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

/* --- who goes around --- */

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

/* Whether the way by a trunk is legal. */
static bool is_legal(const struct dragonfly_ways *x, uint32_t trunk)
{
	for (uint32_t t = trunk, then; (then = x->next[x->g->trunks[t].v]) != FABRIC_NONE; t = then)
		if (!turns_allowed(x->legal, t, then))
			return false;
	return true;
}

/* Both directions of a pair are in one layer. */
static bool must_be_legal(const struct dragonfly_ways *x, uint32_t v)
{
	return dragonfly_goes_around(x, v, x->to) || dragonfly_goes_around(x, x->to, v);
}

/* The busiest link of the way by a trunk, with one route more. */
static uint64_t load_by(const struct dragonfly_ways *x, uint32_t trunk)
{
	uint64_t most = 0;

	for (uint32_t t = trunk; t != FABRIC_NONE; t = x->next[x->g->trunks[t].v])
		if (x->load[t] + x->cost[t] > most)
			most = x->load[t] + x->cost[t];
	return most;
}

/* The shortest way that a step gives v, of equally short ones the one with the least load; FABRIC_NONE: none. */
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

/* The routes from v to the hosts on the destination count on all links of its way, or no longer do. */
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

/* Returns how many vertices have found a way. */
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

static void go_around(struct dragonfly_ways *x)
{
	uint32_t n;

	do {
		n = 0;
		for (size_t i = 0; i < ARRAY_SIZE(last_steps); i++)
			n += take_steps(x, &last_steps[i]);
		for (uint32_t v = 0; v < x->g->n; v++)
			if (x->rank[v] == JUST_FOUND)
				x->rank[v] = AROUND;
	} while (n);
}

/* The shortest legal way to go on from v: down, if `down`, to those that go down all the way; else up. */
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

/* Of all vertices: who can go down does, so that whoever comes by may have come down, too (order.h). */
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

/* v goes by its legal way, and so do those on that. */
static void force(struct dragonfly_ways *x, uint32_t v)
{
	for (; v != x->to && !x->forced[v]; v = x->g->trunks[x->legal_way[v]].v)
		x->forced[v] = true;
}

/* Forces those that have found no way; false: there are none, or no legal ways for them either. */
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

/* --- ways that are given --- */

/* What rank a way by a trunk has, which may be a usual one. */
static enum rank rank_by(const struct dragonfly_ways *x, uint32_t trunk)
{
	for (size_t i = 0; i < N_USUAL; i++)
		if (steps[i].cable == x->cable[trunk] && steps[i].ranks >> x->rank[x->g->trunks[trunk].v] & 1)
			return steps[i].found;
	return AROUND;
}

/* v goes on as it did, if it can.  The vertex that it leads to has its way, or none. */
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

/* Begins with the forced ways and those that were there. */
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

/* --- all ways to a destination --- */

static void find_ways(struct dragonfly_ways *x, const uint32_t *before)
{
	begin(x, before);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		take_steps(x, &steps[i]);
	go_around(x);
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
