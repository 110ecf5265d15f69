/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes stranded vertices in rounds; see stranded.h.
 *
 * In each round a vertex builds on vertices that had a route before the round, so that no route comes
 * back.  While some vertex can be helped without a new turn, no new turn is allowed.
 *
 * A fault tends to strand the same vertices for LID after LID.  A repair therefore first tries the trunk
 * that a vertex got for an earlier LID; a round would look at every neighbour.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/channel.h"
#include "routing/updn/stranded.h"

/*
 * The search for a turn visits the whole graph; a repair, which must be quick, gives up after this many
 * refusals.
 */
#define REFUSALS_MAX 256

struct stranded {
	const struct updn_order *o;
	const struct graph *g;
	struct turns *turns;
	const struct channels *c;
	struct channels *own;	/* c again if this struct owns it, else NULL */
	const bool *dead;	/* [link], or NULL */
	uint16_t *hops;		/* [vertex]: length of its route, FAR: it has none; valid only if known */
	uint32_t *known;	/* [vertex]: number of the call that found its hops */
	uint32_t n_calls;
	uint32_t *near;		/* [vertex]: last round in which a neighbour got a route */
	uint32_t n_rounds;
	uint32_t *last;		/* [vertex]: trunk it got last, or FABRIC_NONE; NULL: not a repair */
	uint32_t *untried;	/* [vertex]: number of the call that has yet to try its last trunk */
	uint32_t *chain;
	/* of one call */
	const struct lfts *l;
	uint16_t lid;
};

/* A next hop that a vertex may take. */
struct step {
	uint32_t trunk;		/* FABRIC_NONE: there is none */
	uint32_t next;		/* trunk by which the neighbour sends on, FABRIC_NONE: it delivers the LID */
	uint32_t turns;		/* turns allowed at that neighbour */
	uint16_t hops;
};

struct stranded *stranded_new(const struct updn_order *o, const struct channels *c,
			      const bool *dead, const bool *gone)
{
	struct stranded *s = xcalloc(1, sizeof(*s));
	const struct graph *g = o->g;

	s->o = o;
	s->g = g;
	s->turns = turns_new(o);
	if (gone)
		turns_cut(s->turns, gone);
	if (dead)
		turns_bound(s->turns, REFUSALS_MAX);
	s->own = c ? NULL : channels_new(g->f, o);
	s->c = c ? c : s->own;
	s->dead = dead;
	s->hops = xcalloc(g->n, sizeof(*s->hops));
	s->known = xcalloc(g->n, sizeof(*s->known));
	s->near = xcalloc(g->n, sizeof(*s->near));
	if (dead) {
		/* Only for repairs: an engine has time to look for the shortest route of each LID. */
		s->last = xcalloc(s->g->n, sizeof(*s->last));
		s->untried = xcalloc(s->g->n, sizeof(*s->untried));
		s->chain = xcalloc(s->g->n, sizeof(*s->chain));
		for (uint32_t v = 0; v < s->g->n; v++)
			s->last[v] = FABRIC_NONE;
	}
	return s;
}

void stranded_free(struct stranded *s)
{
	if (!s)
		return;
	turns_free(s->turns);
	channels_free(s->own);
	free(s->hops);
	free(s->known);
	free(s->near);
	free(s->last);
	free(s->untried);
	free(s->chain);
	free(s);
}

void stranded_take(struct stranded *s, uint32_t in, uint32_t out)
{
	turns_take(s->turns, in, out);
}

static bool lives(const struct stranded *s, uint32_t link)
{
	return !s->dead || !s->dead[link];
}

static struct channel step_of(const struct stranded *s, uint32_t v)
{
	struct channel ch = channel_by_lid(s->c, s->l, v, s->lid);

	if (ch.link != FABRIC_NONE && !lives(s, ch.link))
		ch = (struct channel){ FABRIC_NONE, FABRIC_NONE };
	return ch;
}

/*
 * Length of the route from v by its entries.  If the route arrives, the lengths of all vertices on it
 * become known.
 */
static uint16_t hops_of(struct stranded *s, uint32_t v)
{
	uint32_t at = v, n = 0;

	if (s->known[v] == s->n_calls)
		return s->hops[v];
	while (s->known[at] != s->n_calls && n <= s->g->n) {
		struct channel next = step_of(s, at);

		if (next.to == FABRIC_NONE)
			break;
		at = next.to;
		n++;
	}
	if (s->known[at] != s->n_calls || s->hops[at] == FAR) {
		s->known[v] = s->n_calls;
		s->hops[v] = FAR;
		return FAR;
	}
	for (uint32_t u = v; u != at; u = step_of(s, u).to) {
		s->known[u] = s->n_calls;
		s->hops[u] = (uint16_t)(s->hops[at] + n--);
	}
	return s->hops[v];
}

static bool is_free(const struct stranded *s, const struct step *x)
{
	return x->next == FABRIC_NONE || turns_allowed(s->turns, x->trunk, x->next);
}

/* Describes v's next hop by one of its trunks.  False if the trunk leads to no route. */
static bool find_step(struct stranded *s, uint32_t v, uint32_t trunk, struct step *x)
{
	uint32_t to = s->g->trunks[trunk].v;
	struct channel next;

	*x = (struct step){ trunk, FABRIC_NONE, turns_at(s->turns, to), hops_of(s, to) };
	if (x->hops == FAR || (s->dead && !graph_trunk_lives(s->g, trunk, s->dead)))
		return false;
	next = step_of(s, to);
	if (x->hops)
		x->next = s->c->trunk[next.link];
	return next.to != v;
}

/* Collects the next hops of v that need a new turn.  Returns their number. */
static unsigned find_steps_with_turn(struct stranded *s, uint32_t v, struct step *steps)
{
	const struct graph *g = s->g;
	struct step x;
	unsigned n = 0;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
		if (find_step(s, v, t, &x) && !is_free(s, &x))
			steps[n++] = x;
	return n;
}

/* A new turn at a vertex where others already turn is worth two hops: it is likely to help more vertices. */
static bool is_better(const struct step *x, const struct step *y)
{
	unsigned a = x->hops + (x->turns ? 0u : 2u), b = y->hops + (y->turns ? 0u : 2u);

	return a != b ? a < b : x->turns > y->turns;
}

/* The next hop of v with the shortest route that needs no new turn. */
static struct step find_free_step(struct stranded *s, uint32_t v)
{
	const struct graph *g = s->g;
	struct step x, best = { .trunk = FABRIC_NONE, .hops = FAR };

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
		if (find_step(s, v, t, &x) && x.hops < best.hops && is_free(s, &x))
			best = x;
	return best;
}

static struct step find_step_with_turn(struct stranded *s, uint32_t v)
{
	struct step steps[256];
	unsigned n = find_steps_with_turn(s, v, steps);

	while (n) {
		unsigned best = 0;

		for (unsigned i = 1; i < n; i++)
			if (is_better(&steps[i], &steps[best]))
				best = i;
		if (turns_allow(s->turns, steps[best].trunk, steps[best].next))
			return steps[best];
		steps[best] = steps[--n];
	}
	return (struct step){ .trunk = FABRIC_NONE };
}

static void take_step(struct stranded *s, struct lfts *l, uint32_t v, const struct step *x,
		      uint32_t *load, uint32_t weight)
{
	const struct trunk *t = &s->g->trunks[x->trunk];
	uint32_t least = FABRIC_NONE;

	for (uint32_t i = t->link0; i < t->link0 + t->n_links; i++)
		if (lives(s, i) && (least == FABRIC_NONE || load[i] < load[least]))
			least = i;
	load[least] += weight;
	graph_row(s->g, l, v)[s->lid] = s->g->links[least];
	s->known[v] = s->n_calls;
	s->hops[v] = (uint16_t)(x->hops + 1);
	if (s->last)
		s->last[v] = x->trunk;
	for (uint32_t i = s->g->trunk0[v]; i < s->g->trunk0[v + 1]; i++)
		s->near[s->g->trunks[i].v] = s->n_rounds;
}

/*
 * Gives each vertex the trunk that it got last if that needs no new turn.  Follows these trunks, because
 * the vertex at the end of one has to get its route first.  Keeps in todo the vertices that got no route;
 * returns their number.
 */
static uint32_t go_as_before(struct stranded *s, struct lfts *l, uint32_t *todo, uint32_t n,
			     uint32_t *load, uint32_t weight)
{
	uint32_t left = 0;
	struct step x;

	for (uint32_t i = 0; i < n; i++)
		s->untried[todo[i]] = s->n_calls;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t depth = 0;

		for (uint32_t v = todo[i]; s->untried[v] == s->n_calls; v = s->g->trunks[s->last[v]].v) {
			s->untried[v] = 0;
			if (s->last[v] == FABRIC_NONE)
				break;
			s->chain[depth++] = v;
		}
		while (depth > 0) {
			uint32_t v = s->chain[--depth];

			if (find_step(s, v, s->last[v], &x) && is_free(s, &x))
				take_step(s, l, v, &x, load, weight);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (s->hops[todo[i]] == FAR)
			todo[left++] = todo[i];
	return left;
}

/*
 * Makes one round over todo[0 .. n - 1] and keeps in it the vertices that got no route; returns their
 * number.  Without new turns a vertex can only get a route if a neighbour got one in the last round, so
 * other vertices are skipped except in the first round.
 */
static uint32_t round_of(struct stranded *s, struct lfts *l, uint32_t *todo, uint32_t n,
			 bool new_turns, bool first, uint32_t *load, uint32_t weight)
{
	static const struct step none = { .trunk = FABRIC_NONE };
	struct step *steps = xcalloc(n, sizeof(*steps));
	uint32_t left = 0, last = s->n_rounds++;

	for (uint32_t i = 0; i < n; i++)
		steps[i] = new_turns ? find_step_with_turn(s, todo[i]) :
			   first || s->near[todo[i]] == last ? find_free_step(s, todo[i]) : none;
	for (uint32_t i = 0; i < n; i++) {
		if (steps[i].trunk == FABRIC_NONE)
			todo[left++] = todo[i];
		else
			take_step(s, l, todo[i], &steps[i], load, weight);
	}
	free(steps);
	return left;
}

/*
 * Allows one new turn, where most other vertices can use it: at the highest vertex, ancestors of the hub
 * first.  Packets that turn there cannot come back, because there is one way down to the hub; turns
 * elsewhere soon exclude each other.
 */
static uint32_t turn_once(struct stranded *s, struct lfts *l, uint32_t *todo, uint32_t n,
			  uint32_t *load, uint32_t weight)
{
	s->n_rounds++;
	for (uint32_t k = 2 * n; k-- > 0;) {
		uint32_t i = k % n;
		struct step step = { .trunk = FABRIC_NONE };

		if (turns_by_hub(s->turns, todo[i]) == (k >= n))
			step = find_step_with_turn(s, todo[i]);
		if (step.trunk == FABRIC_NONE)
			continue;
		take_step(s, l, todo[i], &step, load, weight);
		memmove(todo + i, todo + i + 1, (n - i - 1) * sizeof(*todo));
		return n - 1;
	}
	return n;
}

uint32_t stranded_route(struct stranded *s, struct lfts *l, uint32_t home, uint16_t lid,
			uint32_t *todo, uint32_t n, bool new_turns, uint32_t *load, uint32_t weight)
{
	s->n_calls++;
	s->l = l;
	s->lid = lid;
	s->known[home] = s->n_calls;
	s->hops[home] = 0;
	for (uint32_t i = 0; i < n; i++) {
		s->known[todo[i]] = s->n_calls;
		s->hops[todo[i]] = FAR;
	}
	if (s->last)
		n = go_as_before(s, l, todo, n, load, weight);
	for (bool first = true; n; first = false) {
		uint32_t left = round_of(s, l, todo, n, false, first, load, weight);

		if (left == n && new_turns)
			left = s->dead ? turn_once(s, l, todo, n, load, weight) :
			       round_of(s, l, todo, n, true, first, load, weight);
		if (left == n)
			break;
		n = left;
	}
	return n;
}
