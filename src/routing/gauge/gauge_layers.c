/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the layers that paths need so that no layer has a credit loop.
 *
 * A channel is one direction of a cable, named by the place where it arrives.  A path that holds one
 * channel and waits for the next makes the first depend on the second (Dally and Seitz).  A layer has its
 * dependencies as bits (place of arrival, out port), and an order of all channels in which each comes
 * before those that it waits for.  As long as there is such an order there is no cycle.  A dependency
 * against the order moves channels between its two ends, or is found to close a cycle meanwhile (Pearce
 * and Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", 2006).
 *
 * So paths are placed one by one, each in the first layer that has room; the paths themselves are not
 * stored.
 */
#include <limits.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/iba/iba.h"
#include "routing/gauge/gauge_net.h"
#include "routing/layers.h"

#define LAYERS_MAX 32			/* more than VLs could ever serve */
#define WORK_MAX (256ull << 20)		/* in steps; a few seconds */

struct dest {
	uint16_t lid;
	uint8_t num;
	uint32_t home;
};

struct layer {
	uint64_t *bits;
	uint32_t *order;		/* [place of arrival] */
};

struct dep {
	uint32_t in;			/* place of arrival, a port of sw */
	uint32_t sw;			/* switch where the path turns */
	uint8_t num;			/* port by which the path goes on */
	bool there;			/* the layer already had it */
};

struct layers {
	const struct gauge_net *n;
	uint32_t *sources, n_sources;
	VEC(struct dest) dests;		/* in order of LID */
	uint8_t *far;			/* [place]: port number of the far end */
	size_t *row;			/* [switch]: index of its first word in bits */
	size_t words;
	struct layer layer[LAYERS_MAX];
	unsigned n_layers;
	uint64_t work;
	struct dep *path;		/* [switch on the way]: dependencies of the current path */
	uint32_t n_path;
	/* for a dependency against the order: the channels behind it, those before it */
	uint32_t *behind, n_behind, *before, n_before, *slots;
	bool *seen;			/* [place of arrival] */
};

static unsigned ports_of(const struct layers *y, uint32_t sw)
{
	return y->n->first[sw + 1] - y->n->first[sw];
}

static size_t words_of(const struct layers *y, uint32_t sw)
{
	return (ports_of(y, sw) + 63u) / 64;
}

/* The bits of the channels that a channel arriving at sw by `in` waits for. */
static uint64_t *waits_for(const struct layers *y, const struct layer *l, uint32_t sw, uint32_t in)
{
	return l->bits + y->row[sw] + (in - y->n->first[sw]) * words_of(y, sw);
}

/* The place at the far end of a place's cable. */
static uint32_t arrival(const struct layers *y, uint32_t place)
{
	return y->n->first[y->n->next[place]] + y->far[place];
}

static int by_lid(const void *a, const void *b)
{
	const struct dest *x = a, *y = b;

	return x->lid - y->lid;
}

static void find_dests(struct layers *y, const struct route_request *r)
{
	const struct fabric *f = r->f;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!r->lid[p] || node_is_switch(port_node(f, p)) || !port_is_end(f, p))
			continue;
		uint32_t home = fabric_switch_of(f, p);

		for (uint32_t k = 0; home != FABRIC_NONE && k < 1u << (r->lmc[p] & 7); k++)
			if (r->lid[p] + k <= y->n->l->top)
				*vec_push(&y->dests) = (struct dest){
					(uint16_t)(r->lid[p] + k), f->ports[f->ports[p].peer].num,
					home };
	}
	if (y->dests.n)
		qsort(y->dests.v, y->dests.n, sizeof(*y->dests.v), by_lid);
}

static void layers_init(struct layers *y, const struct gauge_net *n, const struct route_request *r)
{
	const struct fabric *f = n->f;
	uint32_t places = n->first[n->n];

	*y = (struct layers){ .n = n };
	y->sources = xcalloc(n->n, sizeof(*y->sources));
	y->row = xcalloc(n->n, sizeof(*y->row));
	y->far = xcalloc(places, 1);
	for (uint32_t sw = 0; sw < n->n; sw++) {
		y->row[sw] = y->words;
		y->words += ports_of(y, sw) * words_of(y, sw);
		if (route_is_source(f, sw))
			y->sources[y->n_sources++] = sw;
		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++)
			if (n->next[place] != FABRIC_NONE)
				y->far[place] =
					f->ports[f->ports[gauge_port(n, sw, place)].peer].num;
	}
	y->path = xcalloc(n->n, sizeof(*y->path));
	y->behind = xcalloc(places, sizeof(*y->behind));
	y->before = xcalloc(places, sizeof(*y->before));
	y->slots = xcalloc(places, sizeof(*y->slots));
	y->seen = xcalloc(places, sizeof(*y->seen));
	find_dests(y, r);
}

static void layers_free(struct layers *y)
{
	for (unsigned i = 0; i < y->n_layers; i++) {
		free(y->layer[i].bits);
		free(y->layer[i].order);
	}
	free(y->sources);
	vec_free(&y->dests);
	free(y->far);
	free(y->row);
	free(y->path);
	free(y->behind);
	free(y->before);
	free(y->slots);
	free(y->seen);
}

static struct layer *add_layer(struct layers *y)
{
	struct layer *l = &y->layer[y->n_layers++];
	uint32_t places = y->n->first[y->n->n];

	l->bits = xcalloc(y->words, sizeof(*l->bits));
	l->order = xcalloc(places, sizeof(*l->order));
	for (uint32_t i = 0; i < places; i++)
		l->order[i] = i;
	return l;
}

/* --- one dependency --- */

/*
 * Collects the channels reachable from channel `to` that come before `from` in the order; false: `from` is
 * among them, so the dependency would close a cycle.
 */
static bool look_behind(struct layers *y, const struct layer *l, uint32_t from, uint32_t to)
{
	const struct gauge_net *n = y->n;

	y->n_behind = 0;
	y->behind[y->n_behind++] = to;
	y->seen[to] = true;
	for (uint32_t i = 0; i < y->n_behind; i++) {
		uint32_t in = y->behind[i];
		/*
		 * the far end of a place's far end is the place itself: gives the switch that it belongs
		 * to
		 */
		uint32_t sw = n->next[arrival(y, in)];
		const uint64_t *bits = waits_for(y, l, sw, in);

		for (size_t w = 0; w < words_of(y, sw); w++)
			for (uint64_t b = bits[w]; b; b &= b - 1) {
				uint32_t num = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(b);
				uint32_t next = arrival(y, n->first[sw] + num);

				y->work++;
				if (next == from)
					return false;
				if (l->order[next] > l->order[from] || y->seen[next])
					continue;
				y->seen[next] = true;
				y->behind[y->n_behind++] = next;
			}
	}
	return true;
}

/* Collects the channels that lead to channel `from` and come after channel `to` in the order. */
static void look_before(struct layers *y, const struct layer *l, uint32_t from, uint32_t to)
{
	const struct gauge_net *n = y->n;

	y->n_before = 0;
	y->before[y->n_before++] = from;
	y->seen[from] = true;
	for (uint32_t i = 0; i < y->n_before; i++) {
		uint32_t place = arrival(y, y->before[i]);	/* place by which the channel left */
		uint32_t sw = n->next[y->before[i]];		/* switch that it left */
		unsigned num = place - n->first[sw];

		for (uint32_t in = n->first[sw]; in < n->first[sw + 1]; in++) {
			y->work++;
			if (n->next[in] == FABRIC_NONE || l->order[in] < l->order[to] ||
			    y->seen[in] || !(waits_for(y, l, sw, in)[num / 64] >> num % 64 & 1))
				continue;
			y->seen[in] = true;
			y->before[y->n_before++] = in;
		}
	}
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct layer *l = arg;
	uint32_t x = l->order[*(const uint32_t *)a], y = l->order[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

/*
 * Gives the places of all collected channels first to those in `before`, then to those in `behind`, each
 * in their old order.
 */
static void reorder(struct layers *y, struct layer *l)
{
	uint32_t i = 0, k = 0, n = 0;

	qsort_r(y->behind, y->n_behind, sizeof(*y->behind), by_order, l);
	qsort_r(y->before, y->n_before, sizeof(*y->before), by_order, l);
	while (i < y->n_before || k < y->n_behind) {
		if (k == y->n_behind || (i < y->n_before && l->order[y->before[i]] <
							    l->order[y->behind[k]]))
			y->slots[n++] = l->order[y->before[i++]];
		else
			y->slots[n++] = l->order[y->behind[k++]];
	}
	n = 0;
	for (i = 0; i < y->n_before; i++)
		l->order[y->before[i]] = y->slots[n++];
	for (k = 0; k < y->n_behind; k++)
		l->order[y->behind[k]] = y->slots[n++];
	y->work += n;
}

/* False: the dependency would close a cycle; the layer is unchanged. */
static bool add_dep(struct layers *y, struct layer *l, const struct dep *d)
{
	uint32_t to = arrival(y, y->n->first[d->sw] + d->num);
	bool fits = true;

	if (l->order[d->in] > l->order[to]) {
		y->n_before = 0;
		fits = look_behind(y, l, d->in, to);
		if (fits) {
			look_before(y, l, d->in, to);
			reorder(y, l);
		}
		for (uint32_t i = 0; i < y->n_behind; i++)
			y->seen[y->behind[i]] = false;
		for (uint32_t i = 0; i < y->n_before; i++)
			y->seen[y->before[i]] = false;
	}
	if (fits)
		waits_for(y, l, d->sw, d->in)[d->num / 64] |= 1ULL << d->num % 64;
	return fits;
}

/* --- paths --- */

/* Adds the path to the layer; false: it would close a cycle, and the layer's dependencies are unchanged. */
static bool add_path(struct layers *y, struct layer *l)
{
	uint32_t n = 0;
	bool fits = true;

	while (fits && n < y->n_path) {
		struct dep *d = &y->path[n];

		y->work++;
		d->there = waits_for(y, l, d->sw, d->in)[d->num / 64] >> d->num % 64 & 1;
		fits = d->there || add_dep(y, l, d);
		n += fits;
	}
	while (!fits && n-- > 0) {
		const struct dep *d = &y->path[n];

		if (!d->there)
			waits_for(y, l, d->sw, d->in)[d->num / 64] &= ~(1ULL << d->num % 64);
	}
	return fits;
}

/* Finds the dependencies of the path from sw; false: it does not arrive. */
static bool find_path(struct layers *y, uint32_t sw, const struct dest *to)
{
	const struct gauge_net *n = y->n;
	uint32_t steps = 0, place;

	y->n_path = 0;
	while (sw != to->home) {
		place = gauge_out(n, sw, to->lid);
		if (place == FABRIC_NONE || n->next[place] == FABRIC_NONE || steps++ == n->n)
			return false;
		if (y->n_path)
			y->path[y->n_path - 1].num = (uint8_t)(place - n->first[sw]);
		sw = n->next[place];
		if (sw != to->home)
			y->path[y->n_path++] = (struct dep){ arrival(y, place), sw, 0, false };
	}
	return gauge_out(n, sw, to->lid) == n->first[sw] + to->num;
}

/*
 * Puts the path into the first layer with room and returns its number; UINT_MAX: LAYERS_MAX layers have
 * none.
 */
static unsigned place_path(struct layers *y)
{
	for (unsigned i = 0; i < y->n_layers; i++)
		if (add_path(y, &y->layer[i]))
			return i;
	if (y->n_layers == LAYERS_MAX)
		return UINT_MAX;
	add_path(y, add_layer(y));
	return y->n_layers - 1;
}

unsigned gauge_place_paths(const struct gauge_net *n, const struct route_request *r,
			   const struct gauge_options *o,
			   void (*placed)(void *arg, uint32_t sw, uint16_t lid, unsigned layer),
			   void *arg)
{
	struct layers y;
	unsigned layer = 0, used;

	layers_init(&y, n, r);
	for (uint32_t s = 0; s < y.n_sources && layer != UINT_MAX && !gauge_stopped(o); s++)
		for (size_t d = 0; d < y.dests.n && layer != UINT_MAX; d++) {
			if (!find_path(&y, y.sources[s], &y.dests.v[d]))
				continue;
			layer = y.work > WORK_MAX ? UINT_MAX : place_path(&y);
			if (placed && layer != UINT_MAX)
				placed(arg, y.sources[s], y.dests.v[d].lid, layer);
		}
	used = layer == UINT_MAX ? 0 : y.n_layers ? y.n_layers : 1;
	layers_free(&y);
	return used;
}

/* The fewest data VLs of any end of a cable; 0: unknown. */
static unsigned fewest_vls(const struct gauge_net *n)
{
	unsigned least = 0;

	for (uint32_t sw = 0; sw < n->n; sw++)
		for (uint32_t place = n->first[sw]; place < n->first[sw + 1]; place++) {
			unsigned vls;

			if (n->next[place] == FABRIC_NONE)
				continue;
			vls = ib_vls_from_code(n->f->ports[gauge_port(n, sw, place)].vl_cap);
			if (vls && (!least || vls < least))
				least = vls;
		}
	return least;
}

void gauge_layers(const struct gauge_net *n, const struct route_request *r,
		  const struct gauge_options *o, struct gauge *out)
{
	struct route_report report;

	route_verify(r, n->l, &report);
	out->credit_loop = report.credit_loop;
	route_report_free(&report);
	out->layers = r->layers ? r->layers->n_vl_sets : 1;
	if (out->credit_loop)
		out->layers = o->layers ? gauge_place_paths(n, r, o, NULL, NULL) : 0;
	out->vls = fewest_vls(n);
	if (out->vls && out->layers)
		out->vls_left = (int)out->vls - (int)out->layers;
}
