/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See stranded.h.
 *
 * In rounds: a vertex builds on what had a way before the round, so that no way comes back.
 * As long as some vertex can be helped without a new turn no new one is allowed.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "route/channel.h"
#include "route/stranded.h"

struct stranded {
	const struct updn_order *o;
	const struct graph *g;
	struct turns *turns;
	struct channels *c;
	uint32_t *trunk;	/* [lane]: its trunk */
	uint16_t *hops;		/* [vertex]: of its way, FAR: it has none; valid if known */
	uint32_t *known;	/* [vertex]: the number of the call that found its hops */
	uint32_t n_calls;
	/* of one call */
	const struct lfts *l;
	uint16_t lid;
};

/* A way that a vertex may take. */
struct step {
	uint32_t trunk;		/* FABRIC_NONE: there is none */
	uint32_t next;		/* trunk that the way goes on by, FABRIC_NONE: it ends there */
	uint32_t turns;		/* that were allowed where it goes on */
	uint16_t hops;
};

struct stranded *stranded_new(const struct updn_order *o)
{
	struct stranded *s = xcalloc(1, sizeof(*s));
	const struct graph *g = o->g;

	s->o = o;
	s->g = g;
	s->turns = turns_new(o);
	s->c = channels_new(g->f, o);
	s->trunk = xcalloc(g->n_lanes, sizeof(*s->trunk));
	for (uint32_t t = 0; t < g->trunk0[g->n]; t++)
		for (uint32_t i = 0; i < g->trunks[t].n_lanes; i++)
			s->trunk[g->trunks[t].lane0 + i] = t;
	s->hops = xcalloc(g->n, sizeof(*s->hops));
	s->known = xcalloc(g->n, sizeof(*s->known));
	return s;
}

void stranded_free(struct stranded *s)
{
	if (!s)
		return;
	turns_free(s->turns);
	channels_free(s->c);
	free(s->trunk);
	free(s->hops);
	free(s->known);
	free(s);
}

static struct channel step_of(const struct stranded *s, uint32_t v)
{
	return channel_by_port(s->c, v, lft_get(s->l, s->g->sw[v], s->lid));
}

/* How far it is by the entries from v. */
static uint16_t hops_of(struct stranded *s, uint32_t v)
{
	uint32_t at = v, n = 0;

	while (s->known[at] != s->n_calls && step_of(s, at).to != FABRIC_NONE && n <= s->g->n) {
		at = step_of(s, at).to;
		n++;
	}
	if (s->known[v] != s->n_calls) {
		bool ends = s->known[at] == s->n_calls && s->hops[at] != FAR;

		s->known[v] = s->n_calls;
		s->hops[v] = ends ? (uint16_t)(s->hops[at] + n) : FAR;
	}
	return s->hops[v];
}

static bool is_free(const struct stranded *s, const struct step *x)
{
	return x->next == FABRIC_NONE || turns_allowed(s->turns, x->trunk, x->next);
}

/* The ways of v that need no new turn, or all others.  Returns their number. */
static unsigned find_steps(struct stranded *s, uint32_t v, bool free, struct step *steps)
{
	const struct graph *g = s->g;
	unsigned n = 0;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t to = g->trunks[t].v;
		struct channel next = step_of(s, to);
		struct step x = { t, FABRIC_NONE, turns_at(s->turns, to), hops_of(s, to) };

		if (x.hops == FAR || next.to == v)
			continue;
		if (x.hops)
			x.next = s->trunk[next.lane];
		if (is_free(s, &x) == free)
			steps[n++] = x;
	}
	return n;
}

/* Where others turn a new turn is worth two hops: it is likely to do for more of them. */
static bool is_better(const struct step *x, const struct step *y)
{
	unsigned a = x->hops + (x->turns ? 0u : 2u), b = y->hops + (y->turns ? 0u : 2u);

	return a != b ? a < b : x->turns > y->turns;
}

static struct step find_free_step(struct stranded *s, uint32_t v)
{
	struct step steps[256], best = { .trunk = FABRIC_NONE };
	unsigned n = find_steps(s, v, true, steps);

	for (unsigned i = 0; i < n; i++)
		if (best.trunk == FABRIC_NONE || steps[i].hops < best.hops)
			best = steps[i];
	return best;
}

static struct step find_step_with_turn(struct stranded *s, uint32_t v)
{
	struct step steps[256];
	unsigned n = find_steps(s, v, false, steps);

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
	uint32_t least = t->lane0;

	for (uint32_t i = t->lane0; i < t->lane0 + t->n_lanes; i++)
		if (load[i] < load[least])
			least = i;
	load[least] += weight;
	graph_row(s->g, l, v)[s->lid] = s->g->lanes[least];
	s->known[v] = s->n_calls;
	s->hops[v] = (uint16_t)(x->hops + 1);
}

/* One round: those that are helped, of todo[0 .. n - 1], go to its end.  Returns what is left. */
static uint32_t round_of(struct stranded *s, struct lfts *l, uint32_t *todo, uint32_t n,
			 bool new_turns, uint32_t *load, uint32_t weight)
{
	struct step *steps = xcalloc(n, sizeof(*steps));
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++)
		steps[i] = new_turns ? find_step_with_turn(s, todo[i]) :
				       find_free_step(s, todo[i]);
	for (uint32_t i = 0; i < n; i++) {
		if (steps[i].trunk == FABRIC_NONE)
			todo[left++] = todo[i];
		else
			take_step(s, l, todo[i], &steps[i], load, weight);
	}
	free(steps);
	return left;
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
	while (n) {
		uint32_t left = round_of(s, l, todo, n, false, load, weight);

		if (left == n && new_turns)
			left = round_of(s, l, todo, n, true, load, weight);
		if (left == n)
			break;
		n = left;
	}
	return n;
}
