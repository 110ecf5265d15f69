/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See layered.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/layered.h"
#include "route/toll.h"
#include "route/turns.h"

/* So often all destinations choose, from the second time on with the routes of all the others in view. */
#define PASSES 3u
/*
 * After so many rounds, or so much work, every pair without room is routed by legal ways only.  From then
 * on each round adds at least one vertex to those that are, so at most one round per vertex follows.
 */
#define PATIENCE 500u
#define WORK_MAX 300000000u
/* A turn that is in the way of pairs gets dearer by so many hundredths of a hop a round. */
#define STEP 20u
/* So many rounds only new ways are looked for, where others are to stay; then all to the ends of pairs. */
#define MENDS 20u
/* One that has got so dear is in the way of somebody who can't do without: see give_way(). */
#define DEAR 400u

/* Places of two sources. */
struct pair {
	uint32_t a, b;
	uint8_t blocked;	/* as in struct layered */
};

struct layered {
	const struct route_request *r;
	const struct channels *c;
	const struct graph *g;
	struct lfts *out;
	const struct lfts *near;	/* r's, or NULL */
	struct toll *toll;
	struct turns *legal;
	struct deps *deps;	/* of the pairs that have a layer in the round at hand */
	struct route_layers *layers;
	unsigned most;
	unsigned rounds;	/* in which pairs were placed, with the one at hand */
	uint32_t *sources, n_sources;	/* vertices with CA and router ports, by place */
	uint32_t *lid0;		/* [place]: their LIDs are lids[lid0[place]] .. lids[lid0[place + 1] - 1] */
	VEC(uint16_t) lids;
	bool *again;		/* [vertex]: its LIDs are to be routed again */
	bool *legal_only;	/* [vertex]: … by legal ways */
	VEC(struct dep) pair;	/* of the pair at hand; some more than once */
	uint8_t *blocked;	/* [route_layers_pair()]: the rounds in which it found no room; saturates */
	VEC(struct pair) early;	/* those that ever found none */
};

static void find_sources(struct layered *x)
{
	struct dest dests[DESTS_MAX];

	x->sources = xcalloc(x->g->n, sizeof(*x->sources));
	x->lid0 = xcalloc(x->g->n + 1, sizeof(*x->lid0));
	for (uint32_t v = 0; v < x->g->n; v++) {
		unsigned n = graph_dests(x->g, x->r, x->out->top, v, dests);
		size_t before = x->lids.n;

		x->layers->place[x->g->sw[v]] = FABRIC_NONE;
		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < dests[i].n_lids && dests[i].port; k++)
				*vec_push(&x->lids) = (uint16_t)(dests[i].lid + k);
		if (x->lids.n == before)
			continue;
		x->layers->place[x->g->sw[v]] = x->n_sources;
		x->sources[x->n_sources++] = v;
		x->lid0[x->n_sources] = (uint32_t)x->lids.n;
	}
	x->layers->n_places = x->n_sources;
	x->layers->of = xcalloc(route_layers_pair(x->n_sources, 0), 1);
	x->blocked = xcalloc(route_layers_pair(x->n_sources, 0), 1);
}

/* --- pairs and layers --- */

static void begin_layers(struct layered *x)
{
	const struct graph *g = x->g;

	deps_clear(x->deps);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++) {
				struct dep turn = { channels_trunk_back(x->c, t), out };

				if (t != out && turns_allowed(x->legal, turn.in, turn.out))
					deps_add(x->deps, 0, &turn, 1, NULL);
			}
}

/* Adds the turns of all routes from one source to the LIDs on another; see collect(). */
static bool add_routes(struct layered *x, uint32_t from, uint32_t to)
{
	bool moved = false;

	for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
		uint32_t v = x->sources[from], in = FABRIC_NONE;

		while (v != x->sources[to]) {
			uint8_t port = lft_get(x->out, x->g->sw[v], x->lids.v[i]);
			struct channel ch = channel_by_port(x->c, v, port);

			moved |= x->near && lft_get(x->near, x->g->sw[v], x->lids.v[i]) != port;
			if (ch.lane == FABRIC_NONE)
				break;
			if (in != FABRIC_NONE)
				*vec_push(&x->pair) = (struct dep){ in, x->c->trunk[ch.lane] };
			in = x->c->trunk[ch.lane];
			v = ch.to;
		}
	}
	return moved;
}

/* The turns of a pair's routes; whether any route is not as it was in the tables to stay near to. */
static bool collect(struct layered *x, struct pair p)
{
	bool there, back;

	x->pair.n = 0;
	there = add_routes(x, p.a, p.b);
	back = add_routes(x, p.b, p.a);
	return there || back;
}

/*
 * No layer has room for the pair.  The turn that was found to close a circle gets dearer or, where
 * it is one that may stay, those that are not legal and lead round to it.  Returns the highest toll.
 */
static uint32_t raise_tolls(struct layered *x, uint32_t blocked)
{
	struct dep turn = x->pair.v[blocked];
	uint32_t most = 0;

	if (!turns_allowed(x->legal, turn.in, turn.out))
		return toll_raise(x->toll, turn, STEP);
	for (size_t i = 0; i < x->pair.n; i++) {
		uint32_t toll = 0;

		turn = x->pair.v[i];
		if (!turns_allowed(x->legal, turn.in, turn.out))
			toll = toll_raise(x->toll, turn, STEP);
		most = toll > most ? toll : most;
	}
	return most;
}

/*
 * A vertex has one way to a LID, whoever comes by it.  If its own is free of tolls, those behind it may
 * have to pay whatever is asked of them; then the LIDs of both ends get legal ways only, for which
 * layer 0 always has room.
 */
static void give_way(struct layered *x, struct pair p, uint32_t blocked)
{
	uint32_t a = x->sources[p.a], b = x->sources[p.b];

	if (raise_tolls(x, blocked) >= DEAR || x->rounds >= PATIENCE || deps_work(x->deps) > WORK_MAX)
		x->legal_only[a] = x->legal_only[b] = true;
	x->again[a] = x->again[b] = true;
}

static bool fits_layer(struct layered *x, struct pair p, unsigned layer, uint32_t *blocked)
{
	if (!deps_add(x->deps, layer, x->pair.v, (uint32_t)x->pair.n, blocked))
		return false;
	x->layers->of[route_layers_pair(p.a, p.b)] = (uint8_t)layer;
	if (layer >= x->layers->n)
		x->layers->n = layer + 1;
	return true;
}

/* The layer that a pair had in the tables that these stay near to; `most`: none. */
static unsigned layer_before(const struct layered *x, struct pair p)
{
	unsigned layer;

	if (!x->near || !x->r->near_layers)
		return x->most;
	layer = route_layer(x->r->near_layers, x->g->sw[x->sources[p.a]], x->g->sw[x->sources[p.b]]);
	return layer < x->most ? layer : x->most;
}

/* Puts what was collected of a pair into the layer that it had, or the first that has room; false: there is none. */
static bool place_pair(struct layered *x, struct pair p)
{
	unsigned before = layer_before(x, p);
	uint32_t blocked = 0;

	if (before < x->most && fits_layer(x, p, before, &blocked))
		return true;
	for (unsigned layer = 0; layer < x->most; layer++)
		if (layer != before && fits_layer(x, p, layer, &blocked))
			return true;
	give_way(x, p, blocked);
	return false;
}

static int most_blocked_first(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->blocked != y->blocked)
		return y->blocked - x->blocked;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->a < y->a ? -1 : x->a > y->a;
}

static void note_blocked(struct layered *x, struct pair *p)
{
	if (p->blocked < UINT8_MAX)
		p->blocked++;
	x->blocked[route_layers_pair(p->a, p->b)] = p->blocked;
}

/* Pairs that have found room in all rounds before: all, or those whose routes have moved or not. */
enum which { ALL, UNMOVED, MOVED };

static uint32_t place_others(struct layered *x, enum which which)
{
	uint32_t n_blocked = 0;

	for (uint32_t b = 0; b < x->n_sources; b++)
		for (uint32_t a = 0; a < b; a++) {
			struct pair p = { .a = a, .b = b };

			if (x->blocked[route_layers_pair(a, b)] ||
			    (collect(x, p) ? which == UNMOVED : which == MOVED) || place_pair(x, p))
				continue;
			note_blocked(x, &p);
			*vec_push(&x->early) = p;
			n_blocked++;
		}
	return n_blocked;
}

/*
 * Those that have found no room in earlier rounds come first, which helps more than any toll; but
 * before them those that stay as they were.  Returns how many found none.
 */
static uint32_t place_pairs(struct layered *x)
{
	size_t n_early = x->early.n;
	uint32_t n_blocked = 0;

	x->rounds++;
	begin_layers(x);
	x->layers->n = 1;
	if (n_early)
		qsort(x->early.v, n_early, sizeof(*x->early.v), most_blocked_first);
	if (x->near)
		n_blocked += place_others(x, UNMOVED);
	for (size_t i = 0; i < n_early; i++) {
		collect(x, x->early.v[i]);
		if (!place_pair(x, x->early.v[i])) {
			note_blocked(x, &x->early.v[i]);
			n_blocked++;
		}
	}
	return n_blocked + place_others(x, x->near ? MOVED : ALL);
}

/* --- rounds --- */

static void route_vertex(struct layered *x, uint32_t d, bool again)
{
	struct dest dests[DESTS_MAX];
	unsigned n = graph_dests(x->g, x->r, x->out->top, d, dests);

	toll_route(x->toll, x->out, d, dests, n, again, x->legal_only[d]);
	graph_deliver(x->g, x->out, d, dests, n);
}

/* Takes the ways of other tables over to a vertex, as far as they arrive; false: that is not all. */
static bool take_near(struct layered *x, uint32_t d, const struct dest *dests, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (uint32_t v = 0; v < x->g->n; v++)
			memcpy(graph_row(x->g, x->out, v) + dests[i].lid, x->near->entries +
			       (size_t)x->g->sw[v] * x->near->stride + dests[i].lid, dests[i].n_lids);
	graph_deliver(x->g, x->out, d, dests, n);
	return toll_keep(x->toll, x->out, d, dests, n);
}

/* All ways of other tables, and new ones where these do not arrive. */
static void route_near(struct layered *x)
{
	struct dest dests[DESTS_MAX];
	bool *cut = xcalloc(x->g->n, sizeof(*cut));

	for (uint32_t d = 0; d < x->g->n; d++)
		cut[d] = !take_near(x, d, dests, graph_dests(x->g, x->r, x->out->top, d, dests));
	for (uint32_t d = 0; d < x->g->n; d++)
		if (cut[d])
			toll_mend(x->toll, x->out, d, dests,
				  graph_dests(x->g, x->r, x->out->top, d, dests));
	free(cut);
}

/* Only the ways that are new are looked for again. */
static void mend_again(struct layered *x, uint32_t d)
{
	struct dest dests[DESTS_MAX];
	unsigned n = graph_dests(x->g, x->r, x->out->top, d, dests);

	toll_forget(x->toll, x->out, d, dests, n);
	if (!take_near(x, d, dests, n))
		toll_mend(x->toll, x->out, d, dests, n);
}

static void route_anew(struct layered *x)
{
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (uint32_t d = 0; d < x->g->n; d++)
			route_vertex(x, d, pass > 0);
}

static bool agree(struct layered *x, struct layered_outcome *did)
{
	if (x->near)
		route_near(x);
	else
		route_anew(x);
	did->blocked = place_pairs(x);
	while (did->blocked && x->rounds < PATIENCE + x->n_sources) {
		for (uint32_t d = 0; d < x->g->n; d++)
			if (x->again[d] && x->near && x->rounds < MENDS)
				mend_again(x, d);
			else if (x->again[d])
				route_vertex(x, d, true);
		memset(x->again, 0, x->g->n * sizeof(*x->again));
		toll_round(x->toll);
		did->blocked = place_pairs(x);
	}
	did->rounds = x->rounds;
	return !did->blocked;
}

struct route_layers *layered_routes(const struct route_request *r, const struct updn_order *o,
				    unsigned most, struct lfts *out, struct layered_outcome *did)
{
	struct channels *c = channels_new(r->f, o);
	struct layered x = { .r = r, .c = c, .g = c->g, .out = out, .most = most };
	struct layered_outcome unasked;

	if (r->near && r->near->top >= out->top)
		x.near = r->near;
	x.layers = xcalloc(1, sizeof(*x.layers));
	*x.layers = (struct route_layers){ .n = 1, .n_switches = c->g->n };
	x.layers->place = xcalloc(c->g->n, sizeof(*x.layers->place));
	find_sources(&x);
	x.legal = turns_new(o);
	x.toll = toll_new(c, x.legal);
	x.deps = deps_new(c, most);
	x.again = xcalloc(c->g->n, sizeof(*x.again));
	x.legal_only = xcalloc(c->g->n, sizeof(*x.legal_only));
	if (!agree(&x, did ? did : &unasked)) {
		route_layers_free(x.layers);
		x.layers = NULL;
	}
	toll_free(x.toll);
	turns_free(x.legal);
	deps_free(x.deps);
	free(x.sources);
	free(x.lid0);
	vec_free(&x.lids);
	free(x.again);
	free(x.legal_only);
	free(x.blocked);
	vec_free(&x.pair);
	vec_free(&x.early);
	channels_free(c);
	return x.layers;
}

static bool layered_run(const struct route_request *r, struct lfts *out,
			struct route_layers **layers, struct buf *why)
{
	struct updn_order *own = r->order ? NULL : updn_order_new(r->f);
	unsigned most = r->most_layers ? r->most_layers : 1;
	struct layered_outcome did;

	*layers = layered_routes(r, own ? own : r->order, most, out, &did);
	updn_order_free(own);
	if (!*layers)
		buf_printf(why, "%u pairs of switches found no room in %u layer%s, in %u rounds",
			   did.blocked, most, most == 1 ? "" : "s", did.rounds);
	return *layers;
}

const struct route_engine route_layered = { "layered", layered_run };
