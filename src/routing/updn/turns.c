/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Decides by search or by an acyclic graph whether a turn closes a cycle; see turns.h.
 *
 * Before allowing a turn, a search from its second trunk looks for its first among everything that can be
 * waited for.  By legal moves that depends only on a vertex and on whether it was reached from below: from
 * below a packet may go anywhere, from above only down; but never straight back to the vertex that it came
 * from.  Only the allowed turns depend on the trunk.
 *
 * A second search starts from the first trunk and follows all channels against their direction, to find
 * what may wait for that trunk.  The two alternate until either finds the other's start or has nothing
 * left.  Few channels lead to a vertex that lost its route to the hub, so the second search soon ends
 * where the first would visit the whole graph.
 *
 * Repairs use these searches: they ask little, of a graph that lacks links.  An engine asks very often,
 * and keeps all legal and allowed turns in one acyclic graph (deps.h), whose order gives most answers
 * without a search.  Most turns that it has to refuse, as in a fat tree with links missing, would close a
 * cycle over the hub, which their ends alone tell.
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/deps.h"
#include "routing/updn/turns.h"

#define NO_TURN UINT32_MAX

struct turn {
	uint32_t in, out;	/* trunks */
	uint32_t next;		/* index of another turn with the same `in`, or NO_TURN */
};

/* A vertex reached by a search, from above or from below. */
struct state {
	uint32_t search;	/* number of the search */
	uint32_t from;		/* vertex that it was first reached from: no path goes straight back to it */
	bool again;		/* it was reached from another vertex, too: a path may go back to the first */
};

struct visit {
	uint32_t place;		/* index of the state */
	bool again;		/* only moves that the second arrival made possible */
};

/* One of the two directions of a search. */
struct search {
	uint32_t *by_in;	/* [in]: index of its latest turn in list, or NO_TURN */
	VEC(struct turn) list;
	struct state *state;	/* [2 * vertex + whether reached from below] */
	struct visit *stack;
	uint32_t depth;		/* of the stack; 0: the search has ended */
	uint32_t goal;		/* trunk that the search looks for */
};

struct turns {
	const struct updn_order *o;
	const struct graph *g;
	bool *by_hub;		/* [vertex]: routes to the hub turn there; NULL: no safe hub */
	bool *near_hub;		/* [vertex]: it has a legal path to the hub; NULL: no safe hub */
	struct map64 known;	/* in << 32 | out -> index in the lists */
	struct map64 refused;	/* in << 32 | out: closes a cycle; stays so, as turns are only added */
	uint32_t refusals_max;
	uint32_t *at;		/* [vertex]: turns allowed there */
	uint32_t *from;		/* [trunk]: vertex that it leads away from */
	bool *cut;		/* [trunk]: all of its links are dead; NULL: no links are dead */
	struct search along;
	struct search against;	/* each trunk is replaced by the one in the other direction */
	uint32_t n_searches;
	struct deps *deps;		/* allowed and legal turns; NULL until the first question */
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

/* The trunk from the end of trunk i back to its start. */
static uint32_t back_of(const struct turns *t, uint32_t i)
{
	return graph_trunk(t->g, t->g->trunks[i].v, t->from[i]);
}

/*
 * Visits the end of a trunk, once for the first vertex that it is reached from and once more for a second
 * one.
 */
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

/* Takes trunk i, and the allowed turns that begin with it. */
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

/* Continues from one of the vertices reached.  True if the goal is next. */
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
 * Whether a packet that holds trunk `out` can wait for trunk `in`, by way of what others hold.  The
 * legality of moves does not depend on their direction: a move that comes from below or leads down does so
 * backwards, too.
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
 * A turn from a by v up to b, where routes to the hub do not turn at v, always closes a cycle if a and b
 * both have a legal path to the hub.  Let P lead from b to the hub, and Q from the hub to a.  Leave out
 * the links that the end of P and the beginning of Q share, and let w be the vertex where the two part.
 * If w has a way down to the hub, any turn is allowed there.  Otherwise P goes up from w, so it came to w
 * from below, or w is b; either way any turn is legal.  Neither path contains v: a and b are above v, so v
 * could only be on a part that descends to the hub.
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
		/* Legal turns, and turns allowed so far, close no cycle together. */
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
