/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See deps.h.
 *
 * A layer keeps an order of all channels in which each comes before those that it waits for.  A
 * dependency along the order is added at once.  One against it moves channels in the order, between
 * its two ends only, or is found to close a circle meanwhile (Pearce and Kelly, "A dynamic
 * topological sort algorithm for directed acyclic graphs", 2006).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "route/deps.h"

struct layer {
	uint64_t *bits;		/* see row; the trunks of a vertex are bits in the order of the graph */
	uint64_t *refused;	/* likewise: they close a circle with what is there, and so for good */
	uint32_t *order;	/* [trunk] */
};

struct deps {
	const struct channels *c;
	unsigned n_layers;
	struct layer *layers;
	size_t *row;		/* [trunk]: its first word in bits */
	size_t n_words;
	/* of an addition against the order */
	uint32_t *behind, n_behind, *before, n_before, *slots;
	bool *seen;		/* [trunk] */
	uint64_t work;
	VEC(struct dep) fresh;	/* added by deps_add() so far */
};

/* --- life --- */

/*
 * Up first, by the vertex that they lead away from, then down, from the greatest vertex on: so no
 * legal turn is against the order.
 */
static void begin_order(const struct deps *d, uint32_t *order)
{
	const struct graph *g = d->c->g;
	uint32_t n = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			order[t] = n++;
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t t = g->trunk0[v]; t < g->up0[v]; t++)
			order[t] = n++;
}

struct deps *deps_new(const struct channels *c, unsigned n_layers)
{
	struct deps *d = xcalloc(1, sizeof(*d));
	const struct graph *g = c->g;
	uint32_t n = g->trunk0[g->n];

	*d = (struct deps){ .c = c, .n_layers = n_layers };
	d->row = xcalloc(n, sizeof(*d->row));
	for (uint32_t t = 0; t < n; t++) {
		uint32_t to = g->trunks[t].v;

		d->row[t] = d->n_words;
		d->n_words += (g->trunk0[to + 1] - g->trunk0[to] + 63u) / 64;
	}
	d->behind = xcalloc(n, sizeof(*d->behind));
	d->before = xcalloc(n, sizeof(*d->before));
	d->slots = xcalloc(n, sizeof(*d->slots));
	d->seen = xcalloc(n, sizeof(*d->seen));
	d->layers = xcalloc(n_layers, sizeof(*d->layers));
	for (unsigned i = 0; i < n_layers; i++) {
		d->layers[i].bits = xcalloc(d->n_words, sizeof(uint64_t));
		d->layers[i].refused = xcalloc(d->n_words, sizeof(uint64_t));
		d->layers[i].order = xcalloc(n, sizeof(uint32_t));
		begin_order(d, d->layers[i].order);
	}
	return d;
}

void deps_free(struct deps *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->n_layers; i++) {
		free(d->layers[i].bits);
		free(d->layers[i].refused);
		free(d->layers[i].order);
	}
	free(d->layers);
	free(d->row);
	free(d->behind);
	free(d->before);
	free(d->slots);
	free(d->seen);
	vec_free(&d->fresh);
	free(d);
}

void deps_clear(struct deps *d)
{
	for (unsigned i = 0; i < d->n_layers; i++) {
		memset(d->layers[i].bits, 0, d->n_words * sizeof(uint64_t));
		memset(d->layers[i].refused, 0, d->n_words * sizeof(uint64_t));
	}
}

uint64_t deps_work(const struct deps *d)
{
	return d->work;
}

/* --- one dependency --- */

/* The word and the bit in it that stand for a dependency in bits[] and refused[]. */
static size_t place_of(const struct deps *d, struct dep x, uint64_t *bit)
{
	uint32_t place = x.out - d->c->g->trunk0[d->c->from[x.out]];

	*bit = 1ULL << place % 64;
	return d->row[x.in] + place / 64;
}

static bool is_there(const struct deps *d, const struct layer *l, struct dep x)
{
	uint64_t bit;
	size_t word = place_of(d, x, &bit);

	return l->bits[word] & bit;
}

bool deps_has(const struct deps *d, unsigned layer, struct dep x)
{
	return is_there(d, &d->layers[layer], x);
}

/*
 * Collects what can be got to from x.out and comes before x.in in the order; false: x.in is among
 * it.
 */
static bool look_behind(struct deps *d, const struct layer *l, struct dep x)
{
	const struct graph *g = d->c->g;

	d->n_behind = 0;
	d->behind[d->n_behind++] = x.out;
	d->seen[x.out] = true;
	for (uint32_t i = 0; i < d->n_behind; i++) {
		uint32_t t = d->behind[i], v = g->trunks[t].v, n = g->trunk0[v + 1] - g->trunk0[v];

		for (uint32_t w = 0; w < (n + 63) / 64; w++)
			for (uint64_t b = l->bits[d->row[t] + w]; b; b &= b - 1) {
				uint32_t next = g->trunk0[v] + w * 64 + (uint32_t)__builtin_ctzll(b);

				d->work++;
				if (next == x.in)
					return false;
				if (l->order[next] > l->order[x.in] || d->seen[next])
					continue;
				d->seen[next] = true;
				d->behind[d->n_behind++] = next;
			}
	}
	return true;
}

/* Collects what leads to x.in and comes behind x.out in the order. */
static void look_before(struct deps *d, const struct layer *l, struct dep x)
{
	const struct graph *g = d->c->g;

	d->n_before = 0;
	d->before[d->n_before++] = x.in;
	d->seen[x.in] = true;
	for (uint32_t i = 0; i < d->n_before; i++) {
		uint32_t t = d->before[i], v = d->c->from[t];

		for (uint32_t out = g->trunk0[v]; out < g->trunk0[v + 1]; out++) {
			uint32_t in = channels_trunk_back(d->c, out);

			d->work++;
			if (l->order[in] < l->order[x.out] || d->seen[in] ||
			    !is_there(d, l, (struct dep){ in, t }))
				continue;
			d->seen[in] = true;
			d->before[d->n_before++] = in;
		}
	}
}

static int by_order(const void *a, const void *b, void *arg)
{
	const struct layer *l = arg;
	uint32_t x = l->order[*(const uint32_t *)a], y = l->order[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

/* What comes before takes the first of the places in the order that all have, in its own order. */
static void reorder(struct deps *d, struct layer *l)
{
	uint32_t i = 0, k = 0, n = 0;

	qsort_r(d->behind, d->n_behind, sizeof(*d->behind), by_order, l);
	qsort_r(d->before, d->n_before, sizeof(*d->before), by_order, l);
	while (i < d->n_before || k < d->n_behind) {
		if (k == d->n_behind ||
		    (i < d->n_before && l->order[d->before[i]] < l->order[d->behind[k]]))
			d->slots[n++] = l->order[d->before[i++]];
		else
			d->slots[n++] = l->order[d->behind[k++]];
	}
	n = 0;
	for (i = 0; i < d->n_before; i++)
		l->order[d->before[i]] = d->slots[n++];
	for (k = 0; k < d->n_behind; k++)
		l->order[d->behind[k]] = d->slots[n++];
}

/* Moves channels in the order so that x.in comes before x.out; false: that would close a circle. */
static bool put_in_order(struct deps *d, struct layer *l, struct dep x)
{
	bool fits;

	d->n_before = 0;
	fits = look_behind(d, l, x);
	if (fits) {
		look_before(d, l, x);
		reorder(d, l);
	}
	for (uint32_t i = 0; i < d->n_behind; i++)
		d->seen[d->behind[i]] = false;
	for (uint32_t i = 0; i < d->n_before; i++)
		d->seen[d->before[i]] = false;
	return fits;
}

/* --- paths --- */

/* One that was refused for good saves the search for a circle. */
static bool any_refused(const struct deps *d, const struct layer *l, const struct dep *x, uint32_t n,
			uint32_t *which)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit;
		size_t word = place_of(d, x[i], &bit);

		if (l->refused[word] & bit) {
			*which = i;
			return true;
		}
	}
	return false;
}

static bool fits(struct deps *d, struct layer *l, struct dep x)
{
	return l->order[x.in] < l->order[x.out] || put_in_order(d, l, x);
}

/* The order stays as it is: what is taken away breaks none. */
static void take_back(struct deps *d, struct layer *l)
{
	for (size_t i = 0; i < d->fresh.n; i++) {
		uint64_t bit;
		size_t word = place_of(d, d->fresh.v[i], &bit);

		l->bits[word] &= ~bit;
	}
	d->fresh.n = 0;
}

bool deps_add(struct deps *d, unsigned layer, const struct dep *x, uint32_t n, uint32_t *blocked)
{
	struct layer *l = &d->layers[layer];
	uint32_t unasked = 0, *which = blocked ? blocked : &unasked;

	if (any_refused(d, l, x, n, which))
		return false;
	d->fresh.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit;
		size_t word = place_of(d, x[i], &bit);
		bool alone = !d->fresh.n;

		if (l->bits[word] & bit)
			continue;
		if (fits(d, l, x[i])) {
			l->bits[word] |= bit;
			*vec_push(&d->fresh) = x[i];
			continue;
		}
		take_back(d, l);
		if (alone || !fits(d, l, x[i]))
			l->refused[word] |= bit;
		*which = i;
		return false;
	}
	return true;
}
