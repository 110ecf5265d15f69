/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds choices greedily, destination by destination, to the dependencies of the tables; see choices.h. */
#include "routing/choices.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/deps.h"
#include "routing/updn/turns.h"
#include "routing/walks.h"

/* A set of layers, 256 at most. */
struct layer_set {
	uint64_t bits[4];
};

struct chooser {
	const struct route_request *r;
	const struct lfts *l;
	const struct route_layers *y;	/* NULL: one layer */
	unsigned n_layers;
	struct channels *c;
	const struct graph *g;
	struct deps *deps;
	struct walks walks;
	struct route_choices *out;
	struct map64 by_hash;		/* hash of a set of ports: its index in out->sets */
	/* of d, the destination vertex */
	uint32_t d;
	struct dest dests[DESTS_MAX];
	unsigned n_dests;
	uint16_t *dist;			/* [vertex]: hops to d */
	uint32_t *queue;		/* vertices reached from d, the nearest first */
	/* [vertex]: the tables' routes from it to all LIDs on d are shortest */
	bool *shortest;
	/*
	 * trunks by which the tables of a `shortest` vertex v send to any LID on d: on[on_first[v] ..
	 * on_end[v] - 1]
	 */
	uint32_t *on_first, *on_end;
	VEC(uint32_t) on;
	struct layer_set *via;		/* [trunk]: layers of the packets that may use it */
	/* [vertex]: layers in which the tables' routes from there on are already added */
	struct layer_set *seen;
	/* of the current vertex */
	uint64_t round, *collected;	/* [trunk]: last round in which the turns behind it were collected */
	VEC(uint32_t) in, offered;	/* trunks */
	VEC(struct dep) turns;
};

/* --- sets of layers --- */

static bool has_layer(const struct layer_set *s, unsigned layer)
{
	return s->bits[layer / 64] >> layer % 64 & 1;
}

static void add_layer(struct layer_set *s, unsigned layer)
{
	s->bits[layer / 64] |= 1ull << layer % 64;
}

static void add_layers(struct layer_set *s, const struct layer_set *more)
{
	for (unsigned i = 0; i < ARRAY_SIZE(s->bits); i++)
		s->bits[i] |= more->bits[i];
}

static bool is_empty(const struct layer_set *s)
{
	return !(s->bits[0] | s->bits[1] | s->bits[2] | s->bits[3]);
}

/* --- dependencies of the tables --- */

static bool is_source(const struct chooser *x, uint32_t v)
{
	return x->g->end0[v] != x->g->end0[v + 1];
}

static unsigned layer_of(const struct chooser *x, uint32_t v)
{
	return x->y ? route_layer(x->y, x->g->sw[v], x->g->sw[x->d]) : 0;
}

static struct channel step(const struct chooser *x, uint32_t v, uint16_t lid)
{
	return channel_by_lid(x->c, x->l, v, lid);
}

static void add_multicast(struct chooser *x, const struct updn_order *o)
{
	struct turns *legal;

	if (x->y && x->y->tree) {
		deps_each_on_tree(x->c, x->y->tree, deps_add_turn, x->deps);
		return;
	}
	legal = turns_new(o);
	deps_each_legal(x->c, legal, deps_add_turn, x->deps);
	turns_free(legal);
}

/* --- choices towards one vertex --- */

static bool goes_shortest(const struct chooser *x, uint32_t v, const struct dest *to)
{
	for (unsigned k = 0; k < to->n_lids; k++) {
		struct channel ch = step(x, v, (uint16_t)(to->lid + k));

		if (ch.link == FABRIC_NONE || x->dist[ch.to] + 1 != x->dist[v] || !x->shortest[ch.to])
			return false;
	}
	return true;
}

/* Fills dist, queue and shortest.  Returns the number of vertices that reach d. */
static uint32_t find_shortest(struct chooser *x)
{
	uint32_t n = 0;

	graph_bfs(x->g, x->d, x->dist, x->queue);
	for (uint32_t v = 0; v < x->g->n; v++)
		n += x->dist[v] != FAR;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = x->queue[i];

		x->shortest[v] = true;
		for (unsigned k = 0; k < x->n_dests && v != x->d && x->shortest[v]; k++)
			x->shortest[v] = goes_shortest(x, v, &x->dests[k]);
	}
	return n;
}

/*
 * Packets from v, where there is no choice, follow the tables up to the first vertex where there may be
 * one.  Marks the trunk by which they arrive there.
 */
static void come_by_tables(struct chooser *x, uint32_t v, uint16_t lid)
{
	unsigned layer = layer_of(x, v);

	for (uint32_t hops = 0; hops < x->g->n && !x->shortest[v]; hops++) {
		struct channel ch = step(x, v, lid);

		if (ch.link == FABRIC_NONE)
			return;
		if (x->shortest[ch.to])
			add_layer(&x->via[x->c->trunk[ch.link]], layer);
		v = ch.to;
	}
}

static void find_on(struct chooser *x, uint32_t v)
{
	x->on_first[v] = (uint32_t)x->on.n;
	for (unsigned i = 0; i < x->n_dests && v != x->d; i++)
		for (unsigned k = 0; k < x->dests[i].n_lids; k++) {
			uint32_t trunk = x->c->trunk[step(x, v, (uint16_t)(x->dests[i].lid + k)).link];
			size_t at = x->on_first[v];

			while (at < x->on.n && x->on.v[at] != trunk)
				at++;
			if (at == x->on.n)
				*vec_push(&x->on) = trunk;
		}
	x->on_end[v] = (uint32_t)x->on.n;
}

static bool is_offered(struct chooser *x, uint32_t trunk)
{
	for (size_t i = 0; i < x->offered.n; i++)
		if (x->offered.v[i] == trunk)
			return true;
	return false;
}

static void collect_turns(struct chooser *x, uint32_t in)
{
	uint32_t v = x->g->trunks[in].v;

	for (uint32_t i = x->on_first[v]; i < x->on_end[v]; i++)
		*vec_push(&x->turns) = (struct dep){ .in = in, .out = x->on.v[i] };
}

/*
 * Collects the turns that packets may take behind a trunk if they follow the tables to d, as if each LID
 * used all the trunks that the tables use at a switch.
 */
static void collect_ways(struct chooser *x, uint32_t trunk)
{
	size_t at = x->turns.n;

	x->round++;
	collect_turns(x, trunk);
	for (; at < x->turns.n; at++) {
		uint32_t in = x->turns.v[at].out;

		if (x->collected[in] != x->round)
			collect_turns(x, in);
		x->collected[in] = x->round;
	}
}

/*
 * Whether packets of these layers may leave by a trunk, whichever way they came, and then follow the
 * tables to d, as later switches may offer no choice.  Dependencies added for layers before one that fails
 * stay: they do no harm.
 */
static bool fits(struct chooser *x, const struct layer_set *layers, uint32_t trunk)
{
	uint32_t to = x->g->trunks[trunk].v;

	for (unsigned layer = 0; layer < x->n_layers; layer++) {
		if (!has_layer(layers, layer))
			continue;
		x->turns.n = 0;
		if (has_layer(&x->seen[to], layer))
			collect_turns(x, trunk);
		else
			collect_ways(x, trunk);
		for (size_t i = 0; i < x->in.n; i++)
			if (has_layer(&x->via[x->in.v[i]], layer))
				*vec_push(&x->turns) = (struct dep){ .in = x->in.v[i], .out = trunk };
		if (x->turns.n && !deps_add(x->deps, layer, x->turns.v, (uint32_t)x->turns.n, NULL))
			return false;
		add_layer(&x->seen[to], layer);
	}
	return true;
}

static uint32_t set_number(struct chooser *x, const struct port_set *s)
{
	uint64_t hash = hash64(s->bits[0] ^ hash64(s->bits[1] ^ hash64(s->bits[2] ^ hash64(s->bits[3]))));
	uint32_t i = map64_get(&x->by_hash, hash);

	if (i != MAP64_NONE && !memcmp(&x->out->sets.v[i], s, sizeof(*s)))
		return i;
	*vec_push(&x->out->sets) = *s;
	map64_put(&x->by_hash, hash, (uint32_t)x->out->sets.n - 1);
	return (uint32_t)x->out->sets.n - 1;
}

static void note_offered(struct chooser *x, uint32_t v)
{
	struct port_set s = { 0 };
	uint32_t n = 0;

	for (size_t i = 0; i < x->offered.n; i++) {
		const struct trunk *t = &x->g->trunks[x->offered.v[i]];

		for (uint32_t link = t->link0; link < t->link0 + t->n_links; link++, n++)
			s.bits[x->g->links[link] / 64] |= 1ull << x->g->links[link] % 64;
	}
	x->out->ports += n;
	if (n > 1)
		x->out->set[(size_t)x->g->sw[v] * x->g->n + x->g->sw[x->d]] = set_number(x, &s);
}

/*
 * Offers all shortest next hops that fit.  False if the tables' own next hops do not fit for all LIDs
 * alike, or if VL sets depend on how a packet arrived, which turns alone do not tell.
 */
static bool offer_all(struct chooser *x, uint32_t v, const struct layer_set *layers)
{
	size_t by_tables;

	x->offered.n = 0;
	for (uint32_t i = x->on_first[v]; i < x->on_end[v]; i++)
		*vec_push(&x->offered) = x->on.v[i];
	if (route_vl_sets_by_entry(x->y))
		return false;
	by_tables = x->offered.n;
	for (size_t i = 0; i < by_tables; i++)
		if (!fits(x, layers, x->offered.v[i]))
			return false;
	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++) {
		uint32_t to = x->g->trunks[t].v;

		if (x->dist[to] + 1 == x->dist[v] && x->shortest[to] && !is_offered(x, t) && fits(x, layers, t))
			*vec_push(&x->offered) = t;
	}
	return true;
}

/* Chooses at v.  All vertices from which packets for d may come to v have chosen before. */
static void choose_at(struct chooser *x, uint32_t v)
{
	struct layer_set layers = { 0 };

	if (is_source(x, v))
		add_layer(&layers, layer_of(x, v));
	x->in.n = 0;
	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++) {
		uint32_t in = channels_trunk_back(x->c, t);

		if (is_empty(&x->via[in]))
			continue;
		*vec_push(&x->in) = in;
		add_layers(&layers, &x->via[in]);
	}
	if (is_empty(&layers))
		return;
	x->out->places++;
	if (offer_all(x, v, &layers))
		note_offered(x, v);
	else
		x->out->ports++;	/* no choice: each LID keeps the port that the tables have */
	for (size_t i = 0; i < x->offered.n; i++)
		add_layers(&x->via[x->offered.v[i]], &layers);
}

static bool find_dests(struct chooser *x, uint32_t d)
{
	unsigned n = graph_dests(x->g, x->r, x->l->top, d, x->dests);

	x->d = d;
	x->n_dests = 0;
	for (unsigned i = 0; i < n; i++)
		if (x->dests[i].port)
			x->dests[x->n_dests++] = x->dests[i];
	return x->n_dests;
}

static void choose_towards(struct chooser *x, uint32_t d)
{
	uint32_t n;

	if (!find_dests(x, d))
		return;
	memset(x->via, 0, x->g->trunk0[x->g->n] * sizeof(*x->via));
	memset(x->seen, 0, x->g->n * sizeof(*x->seen));
	memset(x->shortest, 0, x->g->n * sizeof(*x->shortest));
	n = find_shortest(x);
	x->on.n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (x->shortest[x->queue[i]])
			find_on(x, x->queue[i]);
	for (uint32_t v = 0; v < x->g->n; v++)
		for (unsigned i = 0; i < x->n_dests && is_source(x, v) && !x->shortest[v]; i++)
			for (unsigned k = 0; k < x->dests[i].n_lids; k++)
				come_by_tables(x, v, (uint16_t)(x->dests[i].lid + k));
	while (n-- > 1)
		if (x->shortest[x->queue[n]])
			choose_at(x, x->queue[n]);
}

static bool is_stopped(const atomic_bool *stop)
{
	return stop && atomic_load(stop);
}

static bool add_tables(struct chooser *x, const atomic_bool *stop)
{
	for (uint32_t d = 0; d < x->g->n; d++) {
		if (is_stopped(stop))
			return false;
		find_dests(x, d);
		for (unsigned i = 0; i < x->n_dests; i++)
			for (unsigned k = 0; k < x->dests[i].n_lids; k++) {
				/*
				 * Notes all routes to the LID; deps_settle() below looks for cycles once
				 * all are noted.
				 */
				walks_recall(&x->walks, x->l, (uint16_t)(x->dests[i].lid + k));
				x->walks.out[x->d] = FABRIC_NONE;
				walks_begin(&x->walks);
				for (uint32_t v = 0; v < x->g->n; v++)
					if (is_source(x, v))
						walks_note(&x->walks, x->deps, layer_of(x, v), v,
							   false);
			}
	}
	return deps_settle(x->deps);
}

static bool choose(struct chooser *x, const struct updn_order *o, const atomic_bool *stop)
{
	if (!add_tables(x, stop))
		return false;
	add_multicast(x, o);
	for (uint32_t d = 0; d < x->g->n && !is_stopped(stop); d++)
		choose_towards(x, d);
	return !is_stopped(stop);
}

struct route_choices *route_choices_new(const struct route_request *r, const struct lfts *l,
					const atomic_bool *stop)
{
	struct updn_order *own = r->order ? NULL : updn_order_new(r->f);
	const struct updn_order *o = own ? own : r->order;
	struct chooser x = { .r = r, .l = l, .y = r->layers, .n_layers = r->layers ? r->layers->n : 1 };

	x.c = channels_new(r->f, o);
	x.g = x.c->g;
	x.deps = x.y && x.y->link ? deps_new_sharing(x.c, x.y) : deps_new(x.c, x.n_layers);
	walks_init(&x.walks, x.c, NULL, x.n_layers);
	x.out = xcalloc(1, sizeof(*x.out));
	x.out->n_switches = x.g->n;
	x.out->set = xcalloc((size_t)x.g->n * x.g->n + 1, sizeof(*x.out->set));
	*vec_push(&x.out->sets) = (struct port_set){ { 0 } };
	map64_init(&x.by_hash, 64);
	x.dist = xcalloc(x.g->n + 1, sizeof(*x.dist));
	x.queue = xcalloc(x.g->n + 1, sizeof(*x.queue));
	x.shortest = xcalloc(x.g->n + 1, sizeof(*x.shortest));
	x.collected = xcalloc(x.g->trunk0[x.g->n] + 1, sizeof(*x.collected));
	x.on_first = xcalloc(x.g->n + 1, sizeof(*x.on_first));
	x.on_end = xcalloc(x.g->n + 1, sizeof(*x.on_end));
	x.seen = xcalloc(x.g->n + 1, sizeof(*x.seen));
	x.via = xcalloc(x.g->trunk0[x.g->n] + 1, sizeof(*x.via));
	if (!choose(&x, o, stop)) {
		route_choices_free(x.out);
		x.out = NULL;
	}
	map64_free(&x.by_hash);
	free(x.dist);
	free(x.queue);
	free(x.shortest);
	free(x.collected);
	free(x.on_first);
	free(x.on_end);
	vec_free(&x.on);
	free(x.seen);
	free(x.via);
	vec_free(&x.in);
	vec_free(&x.offered);
	vec_free(&x.turns);
	deps_free(x.deps);
	walks_free(&x.walks);
	channels_free(x.c);
	updn_order_free(own);
	return x.out;
}

void route_choices_free(struct route_choices *x)
{
	if (!x)
		return;
	free(x->set);
	vec_free(&x->sets);
	free(x);
}
