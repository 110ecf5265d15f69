/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Places pairs of switches in layers that have room; see layered_parts.h.
 *
 * Each round of layered.c begins with empty layers.  The order of placing matters: pairs that keep what
 * they had come first, because they are certain to fit; then pairs that found no room in earlier rounds,
 * which helps more than any toll.  Once pairs are settled, the last pairs without room come before all
 * others, and pairs that have to make room for them look for another layer or are squeezed in.  Near to
 * other tables this happens only in the layers that these pairs get.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/search.h"
#include "routing/layered/layered_parts.h"

/* Work (deps_work()) after which placing is hopeless: some seconds. */
#define WORK_MAX 300000000u
/* Placing is also hopeless if more than one pair in HOPELESS found no room, of more than PAIRS_MANY pairs. */
#define HOPELESS 8u
#define PAIRS_MANY (1u << 20)

/* Port 0 belongs to a source as well: a packet to the switch itself has the SL of the pair, too. */
void pairs_find(struct layered *x)
{
	struct dest dests[DESTS_MAX];

	x->sources = xcalloc(x->g->n, sizeof(*x->sources));
	x->lid0 = xcalloc(x->g->n + 1, sizeof(*x->lid0));
	for (uint32_t v = 0; v < x->g->n; v++) {
		unsigned n = graph_dests(x->g, x->r, x->out->top, v, dests);

		x->layers->place[x->g->sw[v]] = FABRIC_NONE;
		if (!n || !dests[n - 1].port)
			continue;
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < dests[i].n_lids; k++)
				*vec_push(&x->lids) = (uint16_t)(dests[i].lid + k);
		x->layers->place[x->g->sw[v]] = x->n_sources;
		x->sources[x->n_sources++] = v;
		x->lid0[x->n_sources] = (uint32_t)x->lids.n;
	}
	x->layers->n_places = x->n_sources;
	x->layers->of = xcalloc(route_layers_pair(x->n_sources, 0), 1);
	x->blocked = xcalloc(route_layers_pair(x->n_sources, 0), 1);
	if (x->near)
		x->moved = xcalloc(route_layers_pair(x->n_sources, 0), sizeof(*x->moved));
}

/* --- routes --- */

/*
 * Adds the turns of all routes from one source to the LIDs on another.  Skips the part of a route that
 * equals that of the LID before.
 */
static void add_routes(struct layered *x, uint32_t from, uint32_t to)
{
	for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
		uint32_t v = x->sources[from], in = FABRIC_NONE;
		bool same = i > x->lid0[to], far = false;

		while (v != x->sources[to]) {
			const uint8_t *row = graph_row(x->g, x->out, v);
			uint8_t port = row[x->lids.v[i]];
			struct channel ch = channel_by_port(x->c, v, port);

			same = same && row[x->lids.v[i - 1]] == port;
			if (ch.link == FABRIC_NONE)
				break;
			if (in != FABRIC_NONE && !same)
				*vec_push(&x->pair) = (struct dep){ in, x->c->trunk[ch.link], far };
			far = deps_is_far(x->deps, in);
			in = x->c->trunk[ch.link];
			v = ch.to;
		}
	}
}

void pairs_collect(struct layered *x, struct pair p)
{
	x->pair.n = 0;
	add_routes(x, p.a, p.b);
	add_routes(x, p.b, p.a);
}

/* --- layers --- */

void pairs_each_legal(struct layered *x, void (*use)(void *deps, struct dep turn))
{
	if (x->legal)
		deps_each_legal(x->c, x->legal, use, x->deps);
	else
		deps_each_on_tree(x->c, x->layers->tree, use, x->deps);
}

unsigned pairs_layer_near(const struct layered *x, struct pair p)
{
	return route_layer(x->r->near_layers, x->g->sw[x->sources[p.a]], x->g->sw[x->sources[p.b]]);
}

void pairs_give_layer(struct layered *x, struct pair p, unsigned layer)
{
	x->layers->of[route_layers_pair(p.a, p.b)] = (uint8_t)layer;
	if (layer >= x->layers->n)
		x->layers->n = layer + 1;
}

void pairs_leave(struct layered *x, struct pair p)
{
	x->layers->of[route_layers_pair(p.a, p.b)] = NO_LAYER;
	*vec_push(&x->left) = p;
}

static bool fits_layer(struct layered *x, struct pair p, unsigned layer, uint32_t *blocked)
{
	if (!deps_add(x->deps, layer, x->pair.v, (uint32_t)x->pair.n, blocked))
		return false;
	pairs_give_layer(x, p, layer);
	return true;
}

unsigned pairs_layer_before(const struct layered *x, struct pair p)
{
	unsigned layer = x->layers->of[route_layers_pair(p.a, p.b)];

	if (x->settled)
		return layer < x->most ? layer : x->most;
	if (!x->near || !x->r->near_layers)
		return x->most;
	layer = pairs_layer_near(x, p);
	return layer < x->most ? layer : x->most;
}

bool pairs_fit(struct layered *x, struct pair p, uint32_t *blocked)
{
	unsigned before = pairs_layer_before(x, p);

	if (before < x->most && fits_layer(x, p, before, blocked))
		return true;
	for (unsigned layer = 0; layer < x->most; layer++)
		if (layer != before && fits_layer(x, p, layer, blocked))
			return true;
	return false;
}

/*
 * Puts the pair into the last layer that has room: the last has the fewest pairs that would have to make
 * room.  So far the layers only hold pairs like this one.
 */
static bool fits_last(struct layered *x, struct pair p)
{
	for (unsigned layer = x->most; layer-- > 0;)
		if (fits_layer(x, p, layer, NULL))
			return true;
	return false;
}

/* --- order of placing --- */

static int most_blocked_first(const void *a, const void *b, void *arg)
{
	const struct pair *p = a, *q = b;
	const uint8_t *blocked = arg;
	unsigned n = blocked[route_layers_pair(p->a, p->b)], m = blocked[route_layers_pair(q->a, q->b)];

	return ORDER(m, n) ?: ORDER(p->b, q->b) ?: ORDER(p->a, q->a);
}

static void note_blocked(struct layered *x, struct pair p)
{
	size_t i = route_layers_pair(p.a, p.b);

	if (!x->blocked[i])
		*vec_push(&x->early) = p;
	if (x->blocked[i] < UINT8_MAX)
		x->blocked[i]++;
	pairs_leave(x, p);
}

/* The groups of pairs, in the order in which they are placed. */
enum turn { WITHOUT, STAYING, EARLY, OTHERS };

bool pairs_keeps(const struct layered *x, struct pair p)
{
	size_t i = route_layers_pair(p.a, p.b);

	if (x->settled)
		return !x->again[x->sources[p.a]] && !x->again[x->sources[p.b]];
	return x->near && !x->moved[i] && !x->blocked[i];
}

/* Places a pair if it belongs to the current group; notes it as blocked if it finds no room. */
static void place_pair(struct layered *x, struct pair p, enum turn turn)
{
	size_t i = route_layers_pair(p.a, p.b);
	enum turn its = x->blocked[i] ? EARLY : OTHERS;
	uint32_t blocked;

	if (pairs_keeps(x, p))
		its = x->settled && x->layers->of[i] == NO_LAYER ? WITHOUT : STAYING;
	if (its != turn)
		return;
	x->placed++;
	pairs_collect(x, p);
	if (turn == WITHOUT ? !fits_last(x, p) : !pairs_fit(x, p, &blocked))
		note_blocked(x, p);
}

/* --- all pairs --- */

static bool are_hopeless(const struct layered *x)
{
	size_t n = route_layers_pair(x->n_sources, 0);

	return !x->settled && (deps_work(x->deps) > WORK_MAX || (n > PAIRS_MANY && x->left.n > n / HOPELESS));
}

static void place_all(struct layered *x, enum turn turn)
{
	for (uint32_t b = 0; b < x->n_sources && !x->hopeless; b++) {
		for (uint32_t a = 0; a < b; a++)
			place_pair(x, (struct pair){ .a = a, .b = b }, turn);
		x->hopeless = are_hopeless(x);
	}
}

/* --- making room --- */

/* Puts the pairs of a layer back as far as they fit; the others go to x->aside. */
static void refill(struct layered *x, unsigned layer)
{
	x->aside.n = 0;
	for (uint32_t b = 0; b < x->n_sources; b++)
		for (uint32_t a = 0; a < b; a++) {
			struct pair p = { .a = a, .b = b };

			if (x->layers->of[route_layers_pair(a, b)] != layer)
				continue;
			x->placed++;
			pairs_collect(x, p);
			if (!fits_layer(x, p, layer, NULL))
				*vec_push(&x->aside) = p;
		}
}

/*
 * Lets pairs without room push others aside in one layer, a different one in each round.  The last layer
 * comes first, where the fewest have to make room; the first layer, which holds most, is spared.  A pair
 * that has to leave looks for room in all layers as they are then.
 */
static void push_aside(struct layered *x)
{
	unsigned layer = x->most - 1 - (x->most > 1 ? (x->pushes - 1) % (x->most - 1) : 0);
	uint32_t blocked;
	size_t n = 0;

	/* Empties the layer except for the turns of multicast. */
	deps_clear_layer(x->deps, layer);
	if (!layer)
		pairs_each_legal(x, deps_add_turn);
	for (size_t i = 0; i < x->left.n; i++) {
		x->placed++;
		pairs_collect(x, x->left.v[i]);
		if (!fits_layer(x, x->left.v[i], layer, NULL))
			x->left.v[n++] = x->left.v[i];
	}
	x->left.n = n;
	refill(x, layer);
	for (size_t i = 0; i < x->aside.n; i++) {
		pairs_collect(x, x->aside.v[i]);
		if (!pairs_fit(x, x->aside.v[i], &blocked))
			note_blocked(x, x->aside.v[i]);
	}
}

/* --- a round --- */

void pairs_place(struct layered *x)
{
	size_t n_early = x->early.n;

	x->rounds++;
	if (x->near && x->settled && !memchr(x->again, 1, x->g->n * sizeof(*x->again))) {
		push_aside(x);
		return;
	}
	x->left.n = 0;
	x->layers->n = 1;
	if (!x->near || !pairs_stay(x)) {
		deps_clear(x->deps);
		pairs_each_legal(x, deps_add_turn);
		for (size_t i = 0; i < n_early && x->settled; i++)
			place_pair(x, x->early.v[i], WITHOUT);
		if (x->near || x->settled)
			place_all(x, STAYING);
	}
	if (n_early)
		qsort_r(x->early.v, n_early, sizeof(*x->early.v), most_blocked_first, x->blocked);
	for (size_t i = 0; i < n_early; i++)
		place_pair(x, x->early.v[i], EARLY);
	place_all(x, OTHERS);
}

void pairs_forget(struct layered *x)
{
	for (size_t i = 0; i < x->early.n; i++)
		x->blocked[route_layers_pair(x->early.v[i].a, x->early.v[i].b)] = 0;
	x->early.n = 0;
	x->left.n = 0;
	x->rounds = 0;
}
