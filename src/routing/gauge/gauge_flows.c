/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures traffic patterns in which each end port sends to at most one other: bisections and shifts.
 *
 * Only the routes of such a pattern are walked.  The random generator is splitmix64 (Steele, Lea, Flood,
 * 2014).  The end ports, by LID, are shuffled by Fisher and Yates from the last place down, starting from
 * the order that the bisection before left.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/map64.h"
#include "routing/gauge/gauge_net.h"

struct flows {
	const struct gauge_net *n;
	uint32_t *load;		/* [place]: flows */
	VEC(uint32_t) places;	/* of all routes, one after another */
};

static void flows_init(struct flows *f, const struct gauge_net *n)
{
	*f = (struct flows){ .n = n };
	f->load = xcalloc(n->first[n->n], sizeof(*f->load));
}

static void flows_free(struct flows *f)
{
	free(f->load);
	vec_free(&f->places);
}

/* Appends the places of a route to f->places; false: the route does not arrive, and nothing is appended. */
static bool add_route(struct flows *f, const struct gauge_end *from, const struct gauge_end *to)
{
	const struct gauge_net *n = f->n;
	size_t start = f->places.n;

	for (uint32_t sw = from->sw, steps = 0; sw != to->sw; steps++) {
		uint32_t place = gauge_out(n, sw, to->lid);

		if (place == FABRIC_NONE || n->next[place] == FABRIC_NONE || steps == n->n) {
			f->places.n = start;
			return false;
		}
		*vec_push(&f->places) = place;
		sw = n->next[place];
	}
	if (gauge_delivers(n, to))
		return true;
	f->places.n = start;
	return false;
}

static uint64_t draw(uint64_t *state)
{
	return hash64(*state += 0x9e3779b97f4a7c15ULL);
}

/* A uniform number in 0 .. n - 1; values that would favour low numbers are drawn again. */
static uint32_t draw_below(uint64_t *state, uint32_t n)
{
	uint64_t x, limit = UINT64_MAX - UINT64_MAX % n;

	do
		x = draw(state);
	while (x >= limit);
	return (uint32_t)(x % n);
}

static void shuffle(uint32_t *ends, uint32_t n, uint64_t *state)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = draw_below(state, i), x = ends[i - 1];

		ends[i - 1] = ends[k];
		ends[k] = x;
	}
}

/* The share of a pair whose route is f->places[at .. end - 1]. */
static double share(const struct flows *f, const struct gauge_end *from,
		    const struct gauge_end *to, size_t at, size_t end)
{
	double least = from->gbps < to->gbps ? from->gbps : to->gbps, all = least;

	for (size_t i = at; i < end; i++) {
		uint32_t place = f->places.v[i];
		double part = f->n->gbps[place] / f->load[place];

		if (part < least)
			least = part;
	}
	return least / all;
}

/*
 * Measures one bisection; ends holds the pairs.  end_of: scratch space, where each pair's route ends in
 * f->places.
 */
static double bisect(struct flows *f, const uint32_t *ends, uint32_t pairs, size_t *end_of)
{
	const struct gauge_end *e = f->n->ends;
	double sum = 0;
	size_t at = 0;

	f->places.n = 0;
	for (uint32_t i = 0; i < pairs; i++)
		end_of[i] = add_route(f, &e[ends[2 * i]], &e[ends[2 * i + 1]]) ? f->places.n :
										 SIZE_MAX;
	for (size_t i = 0; i < f->places.n; i++)
		f->load[f->places.v[i]]++;
	for (uint32_t i = 0; i < pairs; i++) {
		if (end_of[i] == SIZE_MAX)
			continue;
		sum += share(f, &e[ends[2 * i]], &e[ends[2 * i + 1]], at, end_of[i]);
		at = end_of[i];
	}
	for (size_t i = 0; i < f->places.n; i++)
		f->load[f->places.v[i]] = 0;
	return sum / pairs;
}

/* The number of patterns of `each` flows that the limit on flows permits; at least 1 if any are wanted. */
static uint32_t affordable(uint64_t wanted, uint64_t flows, uint64_t each)
{
	uint64_t can = flows / each;

	if (wanted > 0 && can == 0)
		can = 1;
	return (uint32_t)(wanted < can ? wanted : can);
}

void gauge_bisections(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out)
{
	uint32_t pairs = n->n_ends / 2, *ends;
	uint64_t state = o->seed;
	double sum = 0;
	size_t *end_of;
	struct flows f;

	if (!pairs)
		return;
	out->bisections = affordable(o->bisections, o->flows, pairs);
	flows_init(&f, n);
	end_of = xcalloc(pairs, sizeof(*end_of));
	ends = xcalloc(n->n_ends, sizeof(*ends));
	for (uint32_t i = 0; i < n->n_ends; i++)
		ends[i] = i;
	out->ebb_least = out->bisections ? 1 : 0;
	for (uint32_t i = 0; i < out->bisections && !gauge_stopped(o); i++) {
		shuffle(ends, n->n_ends, &state);
		double mean = bisect(&f, ends, pairs, end_of);

		sum += mean;
		if (mean < out->ebb_least)
			out->ebb_least = mean;
	}
	out->ebb = out->bisections ? sum / out->bisections : 0;
	free(ends);
	free(end_of);
	flows_free(&f);
}

/* The largest load when each end port sends to the k-th after it. */
static uint32_t shift(struct flows *f, uint32_t k)
{
	const struct gauge_net *n = f->n;
	uint32_t most = 0;

	memset(f->load, 0, n->first[n->n] * sizeof(*f->load));
	for (uint32_t i = 0; i < n->n_ends; i++) {
		f->places.n = 0;
		if (!add_route(f, &n->ends[i], &n->ends[(i + k) % n->n_ends]))
			continue;
		if (!most)
			most = 1;	/* the end cables carry one */
		for (size_t j = 0; j < f->places.n; j++)
			if (++f->load[f->places.v[j]] > most)
				most = f->load[f->places.v[j]];
	}
	return most;
}

void gauge_shifts(const struct gauge_net *n, const struct gauge_options *o, struct gauge *out)
{
	struct flows f;
	double sum = 0;

	if (n->n_ends < 2)
		return;
	out->shifts_all = n->n_ends - 1;
	out->shifts = affordable(o->shifts, o->flows, n->n_ends);
	if (out->shifts > out->shifts_all)
		out->shifts = out->shifts_all;
	flows_init(&f, n);
	for (uint32_t i = 0; i < out->shifts && !gauge_stopped(o); i++) {
		uint32_t k = 1 + (uint32_t)((uint64_t)i * out->shifts_all / out->shifts);
		uint32_t most = shift(&f, k);

		sum += most;
		if (most > out->shift_worst) {
			out->shift_worst = most;
			out->shift_worst_k = k;
		}
	}
	out->shift_mean = out->shifts ? sum / out->shifts : 0;
	flows_free(&f);
}
