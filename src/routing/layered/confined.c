/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes routes within the turns that layers allow from the start; see layered_parts.h.
 *
 * Each layer has an up/down order of its own: layer 0 that of the request, the others breadth-first orders
 * from roots far from each other ("MROOTS": Lysne, Skeie, "Load balancing of irregular system area
 * networks through multiple roots", 2001).  A layer whose routes keep to the legal turns of one order is
 * free of credit loops, so no search for cycles is needed.  For each turn it is known which layers allow
 * it, and for each route which layers allow all its turns.  The search for shortest routes extends a route
 * only by turns that leave it a layer, prefers routes with many layers, and avoids those that share none
 * with the reverse route.
 *
 * A vertex that finds no such route uses one that is legal in layer 0, and so do the vertices on it.  A
 * pair whose two routes share no layer takes other first hops, where no other route passes them, or its
 * routes in both directions become legal ones of layer 0.  That may break other pairs, which are treated
 * in the same way: at worst all routes end up legal in layer 0.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layered/layered_parts.h"
#include "routing/ways.h"

/* Times that all destinations choose, from the second time on knowing the routes of all others. */
#define PASSES 4u
/* Passes end early if the pairs without a layer shrink by less than one in this many. */
#define GAIN 4u
/* Extra cost, in hops, of a route that shares no layer with the reverse route. */
#define APART_HOPS 4u
/* Divisor: each layer that a hop takes from a route costs hop / LESS_LAYERS, about an average load. */
#define LESS_LAYERS 64u
/*
 * Other tables count as made here if less than one pair in this many is in a layer that forbids its
 * routes.
 */
#define OURS 64u
/* Layers that are distinguished; there are only 16 SLs. */
#define LAYERS_MAX 16u

struct confined {
	struct layered *x;
	const struct graph *g;
	unsigned n_layers, all;	/* all: a bit for each layer */
	uint64_t hop;
	uint64_t *load;		/* [trunk]: total cost of the routes that it carries */
	uint32_t *cost;		/* [trunk]: cost of one route */
	uint32_t *back;		/* [trunk]: the trunk with the same links in the other direction */
	size_t *turn0;		/* see channels_number_turns() */
	uint16_t *may;		/* [turn]: bits of the layers that allow it */
	uint32_t *place;	/* [vertex]: place among x's sources, or FABRIC_NONE */
	/* [place * n + vertex]: bits of the layers that allow the vertex's route to the source */
	uint16_t *good;
	/* bit place * n + vertex: the vertex's route to the source has to be a legal one */
	uint64_t *forced;
	bool *changed;		/* [vertex]: further vertices were forced onto legal routes to it */
	/* of one destination */
	uint32_t d;
	uint64_t *sum;		/* [vertex]: cost of its route; UINT64_MAX: none so far */
	uint32_t *out;		/* [vertex]: trunk of its route, FABRIC_NONE if it has none */
	uint16_t *mask;		/* [vertex]: bits of the layers that allow its route */
	uint32_t *legal;	/* [vertex]: trunk of its legal route, or FABRIC_NONE */
	bool *fixed;		/* [vertex]: its route stays as it is */
	uint32_t *order, n_order;	/* vertices with a route, each before the one that it sends to */
	uint32_t *below;	/* [vertex]: hosts whose route leads over it */
	VEC(uint64_t) heap;	/* cost << 16 | vertex */
};

/* --- beginning and end --- */

static void confined_init(struct confined *k, struct layered *x)
{
	const struct graph *g = x->g;
	uint32_t n_trunks = g->trunk0[g->n];
	size_t n_turns, n_ways = (size_t)x->n_sources * g->n;

	*k = (struct confined){ .x = x, .g = g, .n_layers = x->most < LAYERS_MAX ? x->most : LAYERS_MAX };
	k->all = (1u << k->n_layers) - 1;
	k->hop = ways_hop_cost(g);
	k->load = xcalloc(n_trunks, sizeof(*k->load));
	k->cost = ways_trunk_costs(x->c);
	k->back = xcalloc(n_trunks, sizeof(*k->back));
	for (uint32_t t = 0; t < n_trunks; t++)
		k->back[t] = channels_trunk_back(x->c, t);
	k->turn0 = channels_number_turns(x->c, &n_turns);
	k->may = xcalloc(n_turns, sizeof(*k->may));
	k->place = xcalloc(g->n, sizeof(*k->place));
	for (uint32_t v = 0; v < g->n; v++)
		k->place[v] = x->layers->place[g->sw[v]];
	k->good = xcalloc(n_ways, sizeof(*k->good));
	memset(k->good, 0xff, n_ways * sizeof(*k->good));
	k->forced = xcalloc(n_ways / 64 + 1, sizeof(*k->forced));
	k->changed = xcalloc(g->n, sizeof(*k->changed));
	k->sum = xcalloc(g->n, sizeof(*k->sum));
	k->out = xcalloc(g->n, sizeof(*k->out));
	k->mask = xcalloc(g->n, sizeof(*k->mask));
	k->legal = xcalloc(g->n, sizeof(*k->legal));
	k->fixed = xcalloc(g->n, sizeof(*k->fixed));
	k->order = xcalloc(g->n, sizeof(*k->order));
	k->below = xcalloc(g->n, sizeof(*k->below));
}

static void confined_free(struct confined *k)
{
	free(k->load);
	free(k->cost);
	free(k->back);
	free(k->turn0);
	free(k->may);
	free(k->place);
	free(k->good);
	free(k->forced);
	free(k->changed);
	free(k->sum);
	free(k->out);
	free(k->mask);
	free(k->legal);
	free(k->fixed);
	free(k->order);
	free(k->below);
	vec_free(&k->heap);
}

/* --- what layers allow --- */

/* A vertex far from all roots so far.  nearest[vertex]: hops to the nearest root. */
static uint32_t next_root(const struct confined *k, const uint16_t *nearest, unsigned layer)
{
	uint64_t most = 0;
	uint32_t root = 0;

	for (uint32_t v = 0; v < k->g->n; v++) {
		uint64_t far = (uint64_t)nearest[v] << 32 | (uint32_t)hash64((uint64_t)layer << 32 | v);

		if (nearest[v] != FAR && far > most) {
			most = far;
			root = v;
		}
	}
	return root;
}

/*
 * Lets a layer allow all turns except those from down to up; up is towards its root or, at equal distance,
 * towards smaller vertices.
 */
static void allow_by_root(struct confined *k, unsigned layer, const uint16_t *dist)
{
	const struct graph *g = k->g;

	for (uint32_t in = 0; in < g->trunk0[g->n]; in++) {
		uint32_t v = g->trunks[in].v, from = k->x->c->from[in];
		bool down = dist[v] != dist[from] ? dist[v] > dist[from] : v > from;

		for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++) {
			uint32_t to = g->trunks[out].v;
			bool up = dist[v] != dist[to] ? dist[v] > dist[to] : v > to;

			if (!down || !up)
				k->may[turn_number(k->x->c, k->turn0, in, out)] |= (uint16_t)(1u << layer);
		}
	}
}

static void allow_legal(void *arg, struct dep turn)
{
	struct confined *k = arg;

	k->may[turn_number(k->x->c, k->turn0, turn.in, turn.out)] |= 1;
}

static void make_layers(struct confined *k)
{
	const struct graph *g = k->g;
	uint16_t *dist = xcalloc(g->n, sizeof(*dist)), *nearest = xcalloc(g->n, sizeof(*nearest));
	uint32_t *queue = xcalloc(g->n, sizeof(*queue)), root = 0;

	deps_each_legal(k->x->c, k->x->legal, allow_legal, k);
	graph_bfs(g, root, nearest, queue);
	for (unsigned layer = 1; layer < k->n_layers; layer++) {
		root = next_root(k, nearest, layer);
		graph_bfs(g, root, dist, queue);
		allow_by_root(k, layer, dist);
		for (uint32_t v = 0; v < g->n; v++)
			nearest[v] = dist[v] < nearest[v] ? dist[v] : nearest[v];
	}
	free(dist);
	free(nearest);
	free(queue);
}

/* The layers that allow the route over trunk t and on along the route of the vertex at its end. */
static unsigned by_trunk(const struct confined *k, uint32_t t)
{
	uint32_t v = k->g->trunks[t].v;

	return v == k->d ? k->all : k->mask[v] & k->may[turn_number(k->x->c, k->turn0, t, k->out[v])];
}

/* The layers that allow the route from the destination back to v; all layers if either is no source. */
static unsigned good_back(const struct confined *k, uint32_t v)
{
	return k->place[v] == FABRIC_NONE || k->place[k->d] == FABRIC_NONE ? k->all :
	       k->good[(size_t)k->place[v] * k->g->n + k->d];
}

static bool is_forced(const struct confined *k, uint32_t v)
{
	size_t i = (size_t)k->place[k->d] * k->g->n + v;

	return k->place[k->d] != FABRIC_NONE && k->forced[i / 64] >> i % 64 & 1;
}

/* Returns false if v is forced already. */
static bool force(struct confined *k, uint32_t d, uint32_t v)
{
	size_t i = (size_t)k->place[d] * k->g->n + v;

	if (k->forced[i / 64] >> i % 64 & 1)
		return false;
	k->forced[i / 64] |= 1ULL << i % 64;
	return k->changed[d] = true;
}

/* --- shortest routes --- */

static void heap_put(struct confined *k, uint64_t cost, uint32_t v)
{
	size_t i = (vec_push(&k->heap), k->heap.n - 1);
	uint64_t key = cost << 16 | v;

	for (; i && k->heap.v[(i - 1) / 2] > key; i = (i - 1) / 2)
		k->heap.v[i] = k->heap.v[(i - 1) / 2];
	k->heap.v[i] = key;
}

static uint64_t heap_take(struct confined *k)
{
	uint64_t least = k->heap.v[0], key = k->heap.v[--k->heap.n];
	size_t i = 0, n = k->heap.n;

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && k->heap.v[child + 1] < k->heap.v[child];
		if (key <= k->heap.v[child])
			break;
		k->heap.v[i] = k->heap.v[child];
	}
	if (n)
		k->heap.v[i] = key;
	return least;
}

/*
 * Takes the vertex with the least cost from the heap; FABRIC_NONE: the heap is empty.  Skips entries that
 * a cheaper route has replaced.
 */
static uint32_t settle_next(struct confined *k)
{
	while (k->heap.n) {
		uint64_t key = heap_take(k);
		uint32_t v = (uint32_t)(key & 0xffff);

		if (k->sum[v] == key >> 16)
			return v;
	}
	return FABRIC_NONE;
}

/* v's route is settled; offers it to the neighbours. */
static void pass_on(struct confined *k, uint32_t v)
{
	const struct graph *g = k->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t u = g->trunks[t].v, trunk = k->back[t];
		uint64_t cost = k->sum[v] + k->hop + k->load[trunk];
		unsigned mask;

		if (cost >= k->sum[u] || k->fixed[u])
			continue;
		mask = by_trunk(k, trunk);
		cost += (k->n_layers - (unsigned)__builtin_popcount(mask)) * (k->hop / LESS_LAYERS);
		if (!(mask & good_back(k, u)))
			cost += APART_HOPS * k->hop;
		if (!mask || cost >= k->sum[u])
			continue;
		k->sum[u] = cost;
		k->out[u] = trunk;
		k->mask[u] = (uint16_t)mask;
		heap_put(k, cost, u);
	}
}

/* Finds routes for all vertices except those that are fixed. */
static void find_ways(struct confined *k)
{
	k->heap.n = 0;
	k->sum[k->d] = 0;
	k->out[k->d] = FABRIC_NONE;
	k->fixed[k->d] = true;
	for (uint32_t v = 0; v < k->g->n; v++)
		if (!k->fixed[v]) {
			k->sum[v] = UINT64_MAX;
			k->out[v] = FABRIC_NONE;
			k->mask[v] = 0;
		}
	for (uint32_t v = 0; v < k->g->n; v++)
		if (k->fixed[v])
			pass_on(k, v);
	for (uint32_t v; (v = settle_next(k)) != FABRIC_NONE;)
		pass_on(k, v);
}

/* --- tables --- */

/* Reads the routes that tables have to a LID. */
static void recall(struct confined *k, const struct lfts *l, uint16_t lid)
{
	for (uint32_t v = 0; v < k->g->n; v++)
		k->out[v] = v == k->d ? FABRIC_NONE : trunk_by_lid(k->x->c, l, v, lid);
}

/* Spreads the LIDs over the links of a trunk. */
static void write_out(struct confined *k, const struct dest *dests, unsigned n)
{
	for (uint32_t v = 0; v < k->g->n; v++) {
		const struct trunk *t = v == k->d || k->out[v] == FABRIC_NONE ? NULL : &k->g->trunks[k->out[v]];
		uint8_t *row = graph_row(k->g, k->x->out, v);
		uint32_t link = 0;

		for (unsigned i = 0; i < n && t; i++)
			for (unsigned m = 0; m < dests[i].n_lids; m++, link++)
				row[dests[i].lid + m] = k->g->links[t->link0 + link % t->n_links];
	}
	graph_deliver(k->g, k->x->out, k->d, dests, n);
}

/* Sorts the vertices so that each comes before the one that it sends to. */
static void sort_ways(struct confined *k)
{
	k->n_order = ways_sort(k->g, k->out, k->below, k->order);
}

/* Adds the routes of hosts to the loads, or subtracts them. */
static void count(struct confined *k, bool add)
{
	const struct graph *g = k->g;
	uint64_t hosts = graph_hosts(g, k->d);

	memset(k->below, 0, g->n * sizeof(*k->below));
	for (uint32_t i = 0; i < k->n_order; i++) {
		uint32_t v = k->order[i], t = k->out[v];
		uint64_t load;

		k->below[v] += graph_hosts(g, v);
		load = hosts * k->below[v] * k->cost[t];
		k->load[t] += add ? load : -load;
		k->below[g->trunks[t].v] += k->below[v];
	}
}

/* --- legal routes --- */

static void pass_on_legal(struct confined *k, enum way_phase phase, uint32_t v)
{
	const struct graph *g = k->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t u = g->trunks[t].v, trunk = k->back[t];
		uint64_t cost = k->sum[v] + k->hop + k->load[trunk];

		if (k->fixed[u] || cost >= k->sum[u] ||
		    !way_is_open(phase, k->x->legal, u, v, trunk, k->legal[v]))
			continue;
		k->sum[u] = cost;
		k->legal[u] = trunk;
		heap_put(k, cost, u);
	}
}

/* Finds legal routes to the destination; uses sum and fixed as scratch space. */
static void find_legal(struct confined *k)
{
	for (uint32_t v = 0; v < k->g->n; v++) {
		k->sum[v] = v == k->d ? 0 : UINT64_MAX;
		k->legal[v] = FABRIC_NONE;
		k->fixed[v] = v == k->d;
	}
	k->heap.n = 0;
	for (enum way_phase phase = WAY_DOWN; phase <= WAY_BY_HUB; phase++) {
		for (uint32_t v = 0; v < k->g->n; v++)
			if (k->fixed[v])
				pass_on_legal(k, phase, v);
		for (uint32_t v; (v = settle_next(k)) != FABRIC_NONE;)
			pass_on_legal(k, phase, v);
		for (uint32_t v = 0; v < k->g->n; v++)
			k->fixed[v] = k->sum[v] != UINT64_MAX;
	}
	memset(k->fixed, 0, k->g->n * sizeof(*k->fixed));
}

/* Puts a vertex, and all vertices on its legal route, onto that route. */
static void take_legal(struct confined *k, uint32_t v)
{
	while (v != k->d && !k->fixed[v] && k->legal[v] != FABRIC_NONE) {
		k->fixed[v] = true;
		k->out[v] = k->legal[v];
		v = k->g->trunks[k->legal[v]].v;
	}
}

/*
 * Finds the layers that allow each route.  False: no layer allows some route that could be replaced by a
 * legal one.
 */
static bool find_masks(struct confined *k)
{
	bool all = true;

	sort_ways(k);
	for (uint32_t i = k->n_order; i-- > 0;) {
		uint32_t v = k->order[i];

		k->mask[v] = (uint16_t)by_trunk(k, k->out[v]);
		all &= k->mask[v] || k->fixed[v] || k->legal[v] == FABRIC_NONE;
	}
	return all;
}

/* Puts vertices onto legal routes if they are forced to, or have no route that a layer allows. */
static void mend(struct confined *k)
{
	bool any = false;

	for (uint32_t v = 0; v < k->g->n; v++)
		any |= v != k->d && (k->out[v] == FABRIC_NONE || is_forced(k, v));
	memset(k->legal, 0, k->g->n * sizeof(*k->legal));
	if (find_masks(k) && !any)
		return;
	find_legal(k);
	for (uint32_t v = 0; v < k->g->n; v++)
		if (k->out[v] == FABRIC_NONE || is_forced(k, v))
			take_legal(k, v);
	while (!find_masks(k))
		for (uint32_t v = 0; v < k->g->n; v++)
			if (!k->mask[v])
				take_legal(k, v);
}

/* --- destinations --- */

/* Keeps those routes of other tables that arrive and that some layer allows. */
static void keep_near(struct confined *k, uint16_t lid)
{
	recall(k, k->x->near, lid);
	sort_ways(k);
	k->sum[k->d] = 0;
	k->fixed[k->d] = true;
	for (uint32_t i = k->n_order; i-- > 0;) {
		uint32_t v = k->order[i], to = k->g->trunks[k->out[v]].v;

		if (!k->fixed[to] || !(k->mask[v] = (uint16_t)by_trunk(k, k->out[v])))
			continue;
		k->fixed[v] = true;
		k->sum[v] = k->sum[to] + k->hop + k->load[k->out[v]];
	}
}

enum how { FIRST, AGAIN, AS_FORCED };

/*
 * Finds routes to d: the first ones (FIRST), better ones (AGAIN), or only those that vertices were forced
 * to (AS_FORCED).
 */
static void route(struct confined *k, uint32_t d, enum how how)
{
	struct dest dests[DESTS_MAX];
	unsigned n = graph_dests(k->g, k->x->r, k->x->out->top, d, dests);

	if (!n)
		return;
	k->d = d;
	if (how != FIRST) {
		recall(k, k->x->out, dests[0].lid);
		sort_ways(k);
		count(k, false);
	}
	memset(k->fixed, 0, k->g->n * sizeof(*k->fixed));
	if (how != AS_FORCED && k->x->near)
		keep_near(k, dests[0].lid);
	if (how != AS_FORCED)
		find_ways(k);
	mend(k);
	count(k, true);
	write_out(k, dests, n);
	if (k->place[d] != FABRIC_NONE) {
		uint16_t *good = &k->good[(size_t)k->place[k->d] * k->g->n];

		for (uint32_t v = 0; v < k->g->n; v++)
			good[v] = k->out[v] == FABRIC_NONE ? (uint16_t)k->all : k->mask[v];
	}
}

/* --- pairs --- */

static unsigned in_common(const struct confined *k, struct pair p)
{
	const uint32_t *at = k->x->sources;

	return k->good[(size_t)p.a * k->g->n + at[p.b]] & k->good[(size_t)p.b * k->g->n + at[p.a]];
}

/*
 * Gives a pair its layer in the tables to stay near to, if that allows the routes, else the first that
 * does.  mask: layers that allow them, at least one.
 */
static void give_layer(struct layered *x, struct pair p, unsigned mask)
{
	unsigned layer = NO_LAYER;

	if (x->near && x->r->near_layers)
		layer = pairs_layer_near(x, p);
	if (layer >= LAYERS_MAX || !(mask >> layer & 1))
		layer = (unsigned)__builtin_ctz(mask);
	pairs_give_layer(x, p, layer);
}

/* Fills x->left with the pairs without a layer. */
static void give_layers(struct confined *k)
{
	struct layered *x = k->x;

	x->rounds++;
	x->left.n = 0;
	x->layers->n = 1;
	for (uint32_t b = 0; b < x->n_sources; b++)
		for (uint32_t a = 0; a < b; a++) {
			struct pair p = { a, b };
			unsigned mask = in_common(k, p);

			if (mask)
				give_layer(x, p, mask);
			else
				pairs_leave(x, p);
		}
}

/* --- other first hops --- */

/* A possible first hop of a vertex, and the length and layers of the route by it. */
struct offer {
	uint32_t trunk, hops;
	unsigned mask;
};

/* First hops from one source to all LIDs on another. */
struct offers {
	uint32_t from, to;	/* places */
	struct offer v[UINT8_MAX];
	unsigned n;
};

/* The trunk by which v sends to a source, or FABRIC_NONE. */
static uint32_t trunk_to(const struct layered *x, uint32_t v, uint32_t to)
{
	return trunk_by_lid(x->c, x->out, v, x->lids.v[x->lid0[to]]);
}

static uint32_t hops_to(const struct layered *x, uint32_t v, uint32_t to)
{
	uint32_t n = 0;

	for (; v != x->sources[to]; n++)
		v = x->g->trunks[trunk_to(x, v, to)].v;
	return n;
}

static bool is_led_over(const struct layered *x, uint32_t v, uint32_t to)
{
	const struct graph *g = x->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t u = g->trunks[t].v, on = u == x->sources[to] ? FABRIC_NONE : trunk_to(x, u, to);

		if (on != FABRIC_NONE && g->trunks[on].v == v)
			return true;
	}
	return false;
}

/* Collects all first hops if no other route leads over the vertex, else only the present one. */
static void find_offers(const struct confined *k, struct offers *o)
{
	const struct layered *x = k->x;
	const struct graph *g = k->g;
	uint32_t v = x->sources[o->from], own = trunk_to(x, v, o->to);
	bool all = !is_led_over(x, v, o->to);

	o->n = 0;
	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1] && o->n < ARRAY_SIZE(o->v); t++) {
		uint32_t w = g->trunks[t].v, on = FABRIC_NONE;
		unsigned mask = k->all;

		if (w != x->sources[o->to]) {
			on = trunk_to(x, w, o->to);
			mask = on == FABRIC_NONE ? 0 : k->good[(size_t)o->to * g->n + w] &
			       k->may[turn_number(x->c, k->turn0, t, on)];
		}
		if (mask && (all || t == own))
			o->v[o->n++] = (struct offer){ t, 1 + hops_to(x, w, o->to), mask };
	}
}

/* Adds the routes between the hosts of two sources to the loads, or subtracts them. */
static void count_routes(struct confined *k, const struct offers *o, bool add)
{
	const struct layered *x = k->x;
	uint64_t n = (uint64_t)graph_hosts(k->g, x->sources[o->from]) * graph_hosts(k->g, x->sources[o->to]);

	for (uint32_t v = x->sources[o->from], t; v != x->sources[o->to]; v = k->g->trunks[t].v) {
		t = trunk_to(x, v, o->to);
		k->load[t] += add ? n * k->cost[t] : -(n * k->cost[t]);
	}
}

static void take_offer(struct confined *k, const struct offers *o, const struct offer *offer)
{
	struct layered *x = k->x;
	uint32_t v = x->sources[o->from];
	const struct trunk *t = &k->g->trunks[offer->trunk];
	uint8_t *row = graph_row(k->g, x->out, v);

	count_routes(k, o, false);
	for (uint32_t i = x->lid0[o->to]; i < x->lid0[o->to + 1]; i++)
		row[x->lids.v[i]] = k->g->links[t->link0 + (i - x->lid0[o->to]) % t->n_links];
	k->good[(size_t)o->to * k->g->n + v] = (uint16_t)offer->mask;
	count_routes(k, o, true);
}

/* Gives a pair the two first hops whose routes share a layer and are shortest; false: no two share one. */
static bool squeeze(struct confined *k, struct pair p, struct offers *there, struct offers *back)
{
	uint32_t least = UINT32_MAX;
	const struct offer *first = NULL, *second = NULL;

	there->from = back->to = p.a;
	there->to = back->from = p.b;
	find_offers(k, there);
	find_offers(k, back);
	for (const struct offer *a = there->v; a < there->v + there->n; a++)
		for (const struct offer *b = back->v; b < back->v + back->n; b++)
			if (a->mask & b->mask && a->hops + b->hops < least) {
				least = a->hops + b->hops;
				first = a;
				second = b;
			}
	if (!first)
		return false;
	take_offer(k, there, first);
	take_offer(k, back, second);
	give_layer(k->x, p, first->mask & second->mask);
	return true;
}

static void squeeze_left(struct confined *k)
{
	struct layered *x = k->x;
	struct offers there, back;
	size_t n = 0;

	for (size_t i = 0; i < x->left.n; i++)
		if (!squeeze(k, x->left.v[i], &there, &back))
			x->left.v[n++] = x->left.v[i];
	x->squeezed += (uint32_t)(x->left.n - n);
	x->left.n = n;
}

/* Forces the ends of pairs without a layer onto legal routes to each other; false: all use these already. */
static bool force_left(struct confined *k)
{
	struct layered *x = k->x;
	bool any = false;

	for (size_t i = 0; i < x->left.n; i++) {
		uint32_t a = x->sources[x->left.v[i].a], b = x->sources[x->left.v[i].b];

		any |= force(k, a, b);
		any |= force(k, b, a);
	}
	for (uint32_t d = 0; d < k->g->n; d++) {
		if (k->changed[d])
			route(k, d, AS_FORCED);
		k->changed[d] = false;
	}
	return any;
}

static void make_passes(struct confined *k)
{
	size_t left = SIZE_MAX;

	for (unsigned pass = 0; pass < PASSES && left; pass++) {
		for (uint32_t d = 0; d < k->g->n; d++)
			route(k, d, pass ? AGAIN : FIRST);
		give_layers(k);
		if (k->x->left.n > left - left / GAIN)
			break;
		left = k->x->left.n;
	}
}

/* --- entry points --- */

/* Whether, in the tables to stay near to, all LIDs on a switch have the same routes to it. */
static bool are_shared(const struct layered *x, uint32_t place)
{
	for (uint32_t v = 0; v < x->g->n; v++) {
		uint32_t first = channel_by_lid(x->c, x->near, v, x->lids.v[x->lid0[place]]).to;

		for (uint32_t i = x->lid0[place] + 1; i < x->lid0[place + 1] && v != x->sources[place]; i++)
			if (channel_by_lid(x->c, x->near, v, x->lids.v[i]).to != first)
				return false;
	}
	return true;
}

/*
 * Whether confine() made the tables to stay near to: layers allow the routes of all pairs, except for a
 * few where a fault changed a layer's order.  Most routes have to arrive still.
 */
static bool are_ours(struct confined *k)
{
	const struct layered *x = k->x;
	size_t n = 0, n_forbidden = 0;

	for (uint32_t p = 0; p < x->n_sources; p++) {
		if (!are_shared(x, p))
			return false;
		k->d = x->sources[p];
		memset(k->fixed, 0, k->g->n * sizeof(*k->fixed));
		memset(k->mask, 0, k->g->n * sizeof(*k->mask));
		keep_near(k, x->lids.v[x->lid0[p]]);
		memcpy(&k->good[(size_t)p * k->g->n], k->mask, k->g->n * sizeof(*k->mask));
	}
	for (uint32_t b = 0; b < x->n_sources; b++)
		for (uint32_t a = 0; a < b; a++) {
			struct pair p = { a, b };
			unsigned layer = pairs_layer_near(x, p), mask = in_common(k, p);

			n += mask != 0;
			n_forbidden += mask && !(layer < LAYERS_MAX && mask >> layer & 1);
		}
	return n > route_layers_pair(x->n_sources, 0) / 2 && n_forbidden < n / OURS;
}

static void confine_all(struct confined *k)
{
	struct layered *x = k->x;

	make_passes(k);
	squeeze_left(k);
	while (x->left.n && force_left(k)) {
		give_layers(k);
		squeeze_left(k);
	}
}

void confine(struct layered *x)
{
	struct confined k;

	confined_init(&k, x);
	make_layers(&k);
	confine_all(&k);
	confined_free(&k);
}

bool confine_near(struct layered *x)
{
	struct confined k;
	bool ours;

	if (!x->r->near_layers || x->n_sources < 2)
		return false;
	confined_init(&k, x);
	make_layers(&k);
	ours = are_ours(&k);
	if (ours)
		confine_all(&k);
	confined_free(&k);
	return ours;
}
