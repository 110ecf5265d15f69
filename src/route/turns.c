/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See turns.h.
 *
 * Before a turn is allowed, what can be waited for from its second trunk is searched for
 * its first.  By legal moves that depends on a vertex and on whether it was reached from
 * below: from below everything goes on, from above only what leads down; but never back to the
 * vertex that it came from.  Only the turns depend on the trunk.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map64.h"
#include "route/turns.h"

struct turn {
	uint32_t in, out;	/* trunks */
	uint32_t next;		/* another with the same `in`, or MAP64_NONE */
};

/* A vertex that a search has come to, from above or from below. */
struct state {
	uint32_t search;	/* the number of the search */
	uint32_t from;		/* the vertex that it came from first: no path goes straight back */
	bool again;		/* it came from another, too: it may go back to the first */
};

struct visit {
	uint32_t place;		/* of the state */
	bool again;		/* only what is open since it was reached again */
};

struct turns {
	const struct updn_order *o;
	const struct graph *g;
	bool *by_hub;		/* [vertex]: ways to the hub turn there; NULL: there are none */
	struct map64 known;	/* in << 32 | out -> place in list */
	struct map64 refused;	/* in << 32 | out: would close a circle, for good, as turns are only added */
	uint32_t refusals_max;
	struct map64 by_in;	/* in -> the latest in list */
	VEC(struct turn) list;
	uint32_t *at;		/* [vertex] */
	uint32_t *from;		/* [trunk]: the vertex that it leads away from */
	bool *cut;		/* [trunk]: all of its lanes are dead; NULL: no links are */
	/* of a search */
	struct state *state;	/* [2 * vertex + from below] */
	uint32_t n_searches;
	struct visit *stack;
};

static void find_hub_turns(struct turns *t)
{
	const struct graph *g = t->g;
	uint16_t *down;

	if (!t->o->layered || t->o->hub == FABRIC_NONE || !t->o->hub_safe)
		return;
	down = xcalloc(g->n, sizeof(*down));
	t->by_hub = xcalloc(g->n, sizeof(*t->by_hub));
	updn_down(g, t->o->hub, down);
	for (uint32_t v = 0; v < g->n; v++)
		t->by_hub[v] = down[v] != FAR;
	free(down);
}

struct turns *turns_new(const struct updn_order *o)
{
	struct turns *t = xcalloc(1, sizeof(*t));
	const struct graph *g = o->g;

	t->o = o;
	t->g = g;
	map64_init(&t->known, 64);
	map64_init(&t->by_in, 64);
	map64_init(&t->refused, 64);
	t->refusals_max = UINT32_MAX;
	t->at = xcalloc(g->n, sizeof(*t->at));
	t->from = xcalloc(g->trunk0[g->n], sizeof(*t->from));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->trunk0[v]; i < g->trunk0[v + 1]; i++)
			t->from[i] = v;
	t->state = xcalloc(2 * (size_t)g->n, sizeof(*t->state));
	t->stack = xcalloc(4 * (size_t)g->n, sizeof(*t->stack));
	find_hub_turns(t);
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	map64_free(&t->known);
	map64_free(&t->by_in);
	map64_free(&t->refused);
	vec_free(&t->list);
	free(t->by_hub);
	free(t->at);
	free(t->from);
	free(t->cut);
	free(t->state);
	free(t->stack);
	free(t);
}

void turns_cut(struct turns *t, const bool *dead)
{
	const struct graph *g = t->g;

	t->cut = xcalloc(g->trunk0[g->n], sizeof(*t->cut));
	for (uint32_t i = 0; i < g->trunk0[g->n]; i++) {
		const struct trunk *trunk = &g->trunks[i];
		uint32_t lane = trunk->lane0;

		while (lane < trunk->lane0 + trunk->n_lanes && dead[lane])
			lane++;
		t->cut[i] = lane == trunk->lane0 + trunk->n_lanes;
	}
}

void turns_bound(struct turns *t, uint32_t refusals)
{
	t->refusals_max = refusals;
}

static uint64_t key_of(uint32_t in, uint32_t out)
{
	return (uint64_t)in << 32 | out;
}

bool turns_allowed(const struct turns *t, uint32_t in, uint32_t out)
{
	uint32_t a = t->from[in], v = t->g->trunks[in].v, b = t->g->trunks[out].v;

	return a < v || b < v || (t->by_hub && t->by_hub[v]) ||
	       map64_get(&t->known, key_of(in, out)) != MAP64_NONE;
}

bool turns_by_hub(const struct turns *t, uint32_t v)
{
	return t->by_hub && t->by_hub[v];
}

uint32_t turns_at(const struct turns *t, uint32_t v)
{
	return t->at[v];
}

/* v is reached by a trunk, from another vertex than those before if that makes a difference. */
static uint32_t arrive(struct turns *t, uint32_t trunk, uint32_t depth)
{
	uint32_t v = t->g->trunks[trunk].v, from = t->from[trunk];
	struct state *s = &t->state[2 * (size_t)v + (from < v)];

	if (s->search != t->n_searches) {
		*s = (struct state){ .search = t->n_searches, .from = from };
	} else {
		if (s->again || s->from == from)
			return depth;
		s->again = true;
	}
	t->stack[depth++] = (struct visit){ (uint32_t)(s - t->state), s->again };
	return depth;
}

/* A path has trunk i; turns that begin with it may follow. */
static uint32_t take(struct turns *t, uint32_t i, uint32_t depth)
{
	depth = arrive(t, i, depth);
	for (uint32_t k = map64_get(&t->by_in, i); k != MAP64_NONE; k = t->list.v[k].next)
		if (!t->cut || !t->cut[t->list.v[k].out])
			depth = arrive(t, t->list.v[k].out, depth);
	return depth;
}

/* Can what holds trunk `out` wait for trunk `in`, by whatever others hold? */
static bool waits_for(struct turns *t, uint32_t out, uint32_t in)
{
	const struct graph *g = t->g;
	uint32_t depth;

	t->n_searches++;
	depth = take(t, out, 0);
	while (depth) {
		struct visit x = t->stack[--depth];
		uint32_t v = x.place / 2, back = t->state[x.place].from;
		bool any = x.place % 2 || (t->by_hub && t->by_hub[v]);
		uint32_t end = any ? g->trunk0[v + 1] : g->up0[v];

		for (uint32_t i = g->trunk0[v]; i < end; i++) {
			if ((g->trunks[i].v == back) != x.again || (t->cut && t->cut[i]))
				continue;
			if (i == in)
				return true;
			depth = take(t, i, depth);
		}
	}
	return false;
}

void turns_take(struct turns *t, uint32_t in, uint32_t out)
{
	uint32_t n = (uint32_t)t->list.n;

	if (turns_allowed(t, in, out))
		return;
	*vec_push(&t->list) = (struct turn){ in, out, map64_get(&t->by_in, in) };
	map64_put(&t->by_in, in, n);
	map64_put(&t->known, key_of(in, out), n);
	t->at[t->g->trunks[in].v]++;
}

bool turns_allow(struct turns *t, uint32_t in, uint32_t out)
{
	if (turns_allowed(t, in, out))
		return true;
	if (in == out || t->refused.n >= t->refusals_max || map64_get(&t->refused, key_of(in, out)) != MAP64_NONE)
		return false;
	if (waits_for(t, out, in)) {
		map64_put(&t->refused, key_of(in, out), 0);
		return false;
	}
	turns_take(t, in, out);
	return true;
}
