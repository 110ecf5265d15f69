/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tells groups by the common neighbours of linked switches; see dragonfly.h.
 *
 * Two switches of a group have all others of it as common neighbours; switches of different groups have
 * few or none.  The number that distinguishes them is found by trial: links with at least that many join
 * switches to groups, and the groups with the fewest faults win.
 */
#include "routing/dragonfly/dragonfly.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/alloc.h"

struct work {
	const struct graph *g;
	uint32_t *common;	/* [trunk]: number of common neighbours of its ends */
	uint32_t *queue;
	uint32_t *size;		/* [group]: number of its switches */
};

/* --- common neighbours --- */

/* Counts the common neighbours of all trunks; returns the greatest count. */
static uint32_t find_common(struct work *w)
{
	const struct graph *g = w->g;
	uint32_t most = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			w->common[t] = graph_common(g, v, g->trunks[t].v, UINT32_MAX);
			if (w->common[t] > most)
				most = w->common[t];
		}
	return most;
}

/* --- groups --- */

/* Fills the group of `from` with all switches reached by trunks with at least `least` common neighbours. */
static void fill_group(struct work *w, struct dragonfly *d, uint32_t from, uint32_t least)
{
	const struct graph *g = w->g;
	uint32_t head = 0, tail = 0;

	d->group[from] = d->groups;
	w->queue[tail++] = from;
	while (head < tail) {
		uint32_t v = w->queue[head++];

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t u = g->trunks[t].v;

			if (w->common[t] < least || d->group[u] != FABRIC_NONE)
				continue;
			d->group[u] = d->groups;
			w->queue[tail++] = u;
		}
	}
	w->size[d->groups++] = tail;
	if (tail > d->members)
		d->members = tail;
}

/* --- missing parts --- */

/*
 * Counts missing switches and links within groups.  False if the groups are too far from equal and
 * complete.
 */
static bool count_within(const struct work *w, struct dragonfly *d)
{
	const struct graph *g = w->g;
	uint64_t places = (uint64_t)d->groups * d->members, links = 0, there = 0;

	if (d->groups < 3 || d->members < 3 || places > 2 * (uint64_t)g->n)
		return false;
	for (uint32_t i = 0; i < d->groups; i++)
		links += (uint64_t)w->size[i] * (w->size[i] - 1) / 2;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++)
			there += d->group[v] == d->group[g->trunks[t].v];
	d->missing_switches = (uint32_t)places - g->n;
	d->missing_links = (uint32_t)(links - there);
	return (d->missing_switches <= 1 || 8 * d->missing_switches <= places) &&
	       5 * (uint64_t)d->missing_links <= links;
}

/* The greatest number of cables from one switch to other groups. */
static uint32_t most_outward(const struct graph *g, const struct dragonfly *d)
{
	uint32_t most = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n = 0;

		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			if (d->group[g->trunks[t].v] != d->group[v])
				n += g->trunks[t].n_links;
		if (n > most)
			most = n;
	}
	return most;
}

/*
 * Counts missing cables between groups.  False if the cables are too uneven.  Cables that went away with
 * switches are not counted.
 */
static bool count_between(const struct work *w, struct dragonfly *d)
{
	const struct graph *g = w->g;
	uint64_t there = 0, all, missing, gone = (uint64_t)d->missing_switches * most_outward(g, d);
	uint32_t *cables = xcalloc((size_t)d->groups * d->groups, sizeof(*cables));

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->up0[v]; t < g->trunk0[v + 1]; t++) {
			uint32_t a = d->group[v], b = d->group[g->trunks[t].v];
			uint32_t *sum = &cables[a < b ? a * d->groups + b : b * d->groups + a];

			if (a == b)
				continue;
			there += g->trunks[t].n_links;
			*sum += g->trunks[t].n_links;
			if (*sum > d->cables)
				d->cables = *sum;
		}
	free(cables);
	all = (uint64_t)d->groups * (d->groups - 1) / 2 * d->cables;
	missing = all - there;
	d->missing_cables = missing > gone ? (uint32_t)(missing - gone) : 0;
	return there && 5 * missing <= all;
}

static uint64_t faults(const struct dragonfly *d)
{
	return (uint64_t)d->missing_switches * (d->members + 1) + d->missing_links +
	       d->missing_cables;
}

/* --- all --- */

/*
 * The dragonfly whose groups are joined by links with at least `least` common neighbours; NULL if that is
 * not one.
 */
static struct dragonfly *try_groups(struct work *w, uint32_t least)
{
	struct dragonfly *d = xcalloc(1, sizeof(*d));
	uint32_t *next;

	d->group = xcalloc(w->g->n, sizeof(*d->group));
	d->member = xcalloc(w->g->n, sizeof(*d->member));
	next = w->queue;
	for (uint32_t v = 0; v < w->g->n; v++)
		d->group[v] = FABRIC_NONE;
	for (uint32_t v = 0; v < w->g->n; v++)
		if (d->group[v] == FABRIC_NONE)
			fill_group(w, d, v, least);
	for (uint32_t i = 0; i < d->groups; i++)
		next[i] = 0;
	for (uint32_t v = 0; v < w->g->n; v++)
		d->member[v] = next[d->group[v]]++;
	if (count_within(w, d) && count_between(w, d))
		return d;
	dragonfly_free(d);
	return NULL;
}

struct dragonfly *dragonfly_new(const struct graph *g)
{
	struct work w = { .g = g };
	struct dragonfly *best = NULL;
	uint32_t most;

	w.common = xcalloc(g->trunk0[g->n] + 1u, sizeof(*w.common));
	w.queue = xcalloc(g->n + 1u, sizeof(*w.queue));
	w.size = xcalloc(g->n + 1u, sizeof(*w.size));
	most = find_common(&w);
	for (uint32_t least = most; least > 0; least--) {
		struct dragonfly *d = try_groups(&w, least);

		if (d && (!best || faults(d) < faults(best))) {
			dragonfly_free(best);
			best = d;
		} else {
			dragonfly_free(d);
		}
	}
	free(w.common);
	free(w.queue);
	free(w.size);
	return best;
}

void dragonfly_free(struct dragonfly *d)
{
	if (!d)
		return;
	free(d->group);
	free(d->member);
	free(d);
}

void dragonfly_text(const struct dragonfly *d, struct buf *out)
{
	buf_printf(out, "dragonfly of %" PRIu32 " groups of %" PRIu32 " switches", d->groups,
		   d->members);
	graph_put_missing(d->missing_links + d->missing_cables, d->missing_switches, out);
}
