/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See turns.h.
 *
 * Before a turn is allowed, what can be waited for from its second trunk is searched for
 * its first.  By legal moves that depends on a vertex and on whether it was reached from
 * below: from below everything goes on, from above only what leads down; but never back to the
 * vertex that it came from.  Only the turns depend on the trunk.
 *
 * A second search starts from the first trunk and follows all channels against their direction, to
 * find what may wait for that trunk.  The two take alternate steps until either finds the other's
 * start or has nothing left.  Few channels lead to a vertex that lost its way to the hub, so that the
 * second search soon ends where the first would visit the whole graph.
 *
 * That is for repairs, which ask little, of a graph that lacks links.  An engine asks very often, and
 * keeps all legal turns and those that were allowed in one acyclic graph (deps.h), in an order that tells
 * most answers without a search.  Most of the turns that it has to refuse, as in a fat tree with links missing,
 * would close a cycle over the hub, which is told by their ends.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/deps.h"
#include "routing/updn/turns.h"

#define NO_TURN UINT32_MAX

struct turn {
	uint32_t in, out;	/* trunks */
	uint32_t next;		/* another with the same `in`, or NO_TURN */
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

/* One of the two directions of a search. */
struct search {
	uint32_t *by_in;	/* [in]: the latest in list, or NO_TURN */
	VEC(struct turn) list;
	struct state *state;	/* [2 * vertex + from below] */
	struct visit *stack;
	uint32_t depth;		/* of the stack; 0: there is nothing left */
	uint32_t goal;		/* the trunk that is searched for */
};

struct turns {
	const struct updn_order *o;
	const struct graph *g;
	bool *by_hub;		/* [vertex]: ways to the hub turn there; NULL: there are none */
	bool *near_hub;		/* [vertex]: it has a legal path to the hub; NULL likewise */
	struct map64 known;	/* in << 32 | out -> place in the lists */
	struct map64 refused;	/* in << 32 | out: would close a cycle, for good, as turns are only added */
	uint32_t refusals_max;
	uint32_t *at;		/* [vertex] */
	uint32_t *from;		/* [trunk]: the vertex that it leads away from */
	bool *cut;		/* [trunk]: all of its lanes are dead; NULL: no links are */
	struct search along;
	struct search against;	/* in place of each trunk it has the one that leads back */
	uint32_t n_searches;
	struct deps *deps;		/* what was allowed and all that is legal, once it is asked for */
	struct channels *channels;
};

static void find_hub_turns(struct turns *t)
{
	const struct graph *g = t->g;
	uint16_t *down, *total;

	if (!t->o->layered || t->o->hub == FABRIC_NONE || !t->o->hub_safe)
		return;
	down = xcalloc(g->n, sizeof(*down));
	total = xcalloc(g->n, sizeof(*total));
	t->by_hub = xcalloc(g->n, sizeof(*t->by_hub));
	t->near_hub = xcalloc(g->n, sizeof(*t->near_hub));
	updn_distances(g, t->o->hub, down, total);
	for (uint32_t v = 0; v < g->n; v++) {
		t->by_hub[v] = down[v] != FAR;
		t->near_hub[v] = total[v] != FAR;
	}
	free(total);
	free(down);
}

static void search_init(struct search *s, const struct graph *g)
{
	s->by_in = xmalloc((g->trunk0[g->n] + 1) * sizeof(*s->by_in));
	for (uint32_t i = 0; i < g->trunk0[g->n]; i++)
		s->by_in[i] = NO_TURN;
	s->state = xcalloc(2 * (size_t)g->n, sizeof(*s->state));
	s->stack = xcalloc(4 * (size_t)g->n, sizeof(*s->stack));
}

static void search_free(struct search *s)
{
	free(s->by_in);
	vec_free(&s->list);
	free(s->state);
	free(s->stack);
}

struct turns *turns_new(const struct updn_order *o)
{
	struct turns *t = xcalloc(1, sizeof(*t));
	const struct graph *g = o->g;

	t->o = o;
	t->g = g;
	map64_init(&t->known, 64);
	map64_init(&t->refused, 64);
	t->refusals_max = UINT32_MAX;
	t->at = xcalloc(g->n, sizeof(*t->at));
	t->from = xcalloc(g->trunk0[g->n], sizeof(*t->from));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->trunk0[v]; i < g->trunk0[v + 1]; i++)
			t->from[i] = v;
	search_init(&t->along, g);
	search_init(&t->against, g);
	find_hub_turns(t);
	return t;
}

void turns_free(struct turns *t)
{
	if (!t)
		return;
	map64_free(&t->known);
	map64_free(&t->refused);
	search_free(&t->along);
	search_free(&t->against);
	free(t->by_hub);
	free(t->near_hub);
	free(t->at);
	free(t->from);
	free(t->cut);
	deps_free(t->deps);
	channels_free(t->channels);
	free(t);
}

void turns_cut(struct turns *t, const bool *dead)
{
	const struct graph *g = t->g;

	t->cut = xcalloc(g->trunk0[g->n], sizeof(*t->cut));
	for (uint32_t i = 0; i < g->trunk0[g->n]; i++)
		t->cut[i] = !graph_trunk_lives(g, i, dead);
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

/* The trunk that leads back from the end of trunk i. */
static uint32_t back_of(const struct turns *t, uint32_t i)
{
	return graph_trunk(t->g, t->g->trunks[i].v, t->from[i]);
}

/* v is reached by a trunk, from another vertex than those before if that makes a difference. */
static void arrive(const struct turns *t, struct search *s, uint32_t trunk)
{
	uint32_t v = t->g->trunks[trunk].v, from = t->from[trunk];
	struct state *x = &s->state[2 * (size_t)v + (from < v)];

	if (x->search != t->n_searches) {
		*x = (struct state){ .search = t->n_searches, .from = from };
	} else {
		if (x->again || x->from == from)
			return;
		x->again = true;
	}
	s->stack[s->depth++] = (struct visit){ (uint32_t)(x - s->state), x->again };
}

/* A path has trunk i; turns that begin with it may follow. */
static void take(const struct turns *t, struct search *s, uint32_t i)
{
	arrive(t, s, i);
	for (uint32_t k = s->by_in[i]; k != NO_TURN; k = s->list.v[k].next)
		if (!t->cut || !t->cut[s->list.v[k].out])
			arrive(t, s, s->list.v[k].out);
}

static void start(const struct turns *t, struct search *s, uint32_t trunk, uint32_t goal)
{
	s->depth = 0;
	s->goal = goal;
	take(t, s, trunk);
}

/* Goes on from one of the vertices that the search has come to.  True if the goal is there. */
static bool go_on(const struct turns *t, struct search *s)
{
	const struct graph *g = t->g;
	struct visit x = s->stack[--s->depth];
	uint32_t v = x.place / 2, back = s->state[x.place].from;
	bool any = x.place % 2 || (t->by_hub && t->by_hub[v]);
	uint32_t end = any ? g->trunk0[v + 1] : g->up0[v];

	for (uint32_t i = g->trunk0[v]; i < end; i++) {
		if ((g->trunks[i].v == back) != x.again || (t->cut && t->cut[i]))
			continue;
		if (i == s->goal)
			return true;
		take(t, s, i);
	}
	return false;
}

/*
 * Can what holds trunk `out` wait for trunk `in`, by whatever others hold?  Which moves are legal does
 * not depend on their direction: one that comes from below or leads down does so backwards, too.
 */
static bool waits_for(struct turns *t, uint32_t out, uint32_t in)
{
	t->n_searches++;
	start(t, &t->along, out, in);
	start(t, &t->against, back_of(t, in), back_of(t, out));
	while (t->along.depth && t->against.depth)
		if (go_on(t, &t->along) || go_on(t, &t->against))
			return true;
	return false;
}

/*
 * A turn from a by v up to b again, where ways to the hub don't turn at v, surely closes a cycle if a and b
 * both have a legal path to the hub.  Let P lead from b to the hub, and Q from the hub to a.  Leave out the links that
 * the end of P and the beginning of Q share, and let w be the vertex where the two part.  If w has a way down to the
 * hub, any turn is allowed there.  Otherwise P goes up from w, so it came to w from below, or w is b; either way any
 * turn is legal.  Neither path contains v: a and b are above v, so v could only be on a part that descends to the hub.
 */
static bool closes_cycle_over_hub(const struct turns *t, uint32_t in, uint32_t out)
{
	uint32_t a = t->from[in], b = t->g->trunks[out].v;

	return t->near_hub && a != b && t->near_hub[a] && t->near_hub[b];
}

static bool closes_cycle(struct turns *t, uint32_t in, uint32_t out)
{
	struct dep turn = { .in = in, .out = out };

	if (t->cut)
		return waits_for(t, out, in);
	if (closes_cycle_over_hub(t, in, out))
		return true;
	if (!t->deps) {
		/* Legal turns and those that were allowed so far, which close no cycle together. */
		t->channels = channels_new(t->g->f, t->o);
		t->deps = deps_new(t->channels, 1);
		deps_each_legal(t->channels, t, deps_add_turn, t->deps);
	}
	return !deps_add(t->deps, 0, &turn, 1, NULL);
}

static void list_turn(struct search *s, uint32_t in, uint32_t out)
{
	uint32_t n = (uint32_t)s->list.n;

	*vec_push(&s->list) = (struct turn){ in, out, s->by_in[in] };
	s->by_in[in] = n;
}

void turns_take(struct turns *t, uint32_t in, uint32_t out)
{
	if (turns_allowed(t, in, out))
		return;
	if (t->deps)
		deps_add_turn(t->deps, (struct dep){ .in = in, .out = out });
	map64_put(&t->known, key_of(in, out), (uint32_t)t->along.list.n);
	list_turn(&t->along, in, out);
	list_turn(&t->against, back_of(t, out), back_of(t, in));
	t->at[t->g->trunks[in].v]++;
}

bool turns_allow(struct turns *t, uint32_t in, uint32_t out)
{
	if (turns_allowed(t, in, out))
		return true;
	if (in == out || t->refused.n >= t->refusals_max || map64_get(&t->refused, key_of(in, out)) != MAP64_NONE)
		return false;
	if (closes_cycle(t, in, out)) {
		map64_put(&t->refused, key_of(in, out), 0);
		return false;
	}
	turns_take(t, in, out);
	return true;
}
