/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds room for the last few pairs of switches by other first hops; see layered_parts.h.
 *
 * Routing the LIDs on both ends of a pair again changes the routes of very many other pairs, and more of
 * those lose their room than one gains.  Here an end takes another first hop towards the other end and
 * then follows that neighbour's route.  This changes the routes of the pair and of pairs that pass this
 * end on the way to the other: these have to find room as well, or the end keeps its first hop.
 *
 * Turns that were tried and given up stay in the layers' dependencies until the next round.  So a layer
 * may refuse a pair that it has room for, but never accepts one that closes a cycle.
 */

#include "lib/base/alloc.h"
#include "routing/layered/layered_parts.h"
#include "routing/relief.h"

/* Neighbours tried as first hop, those with the shortest routes first. */
#define HOPS_MAX 64u

/* A first hop from one source towards the LIDs on another. */
struct hop {
	uint32_t trunk;
	uint32_t hops;		/* length of its longest route */
};

struct hops {
	uint32_t from, to;	/* places */
	struct hop v[HOPS_MAX];
	unsigned n;
	VEC(uint8_t) before;	/* [LID]: the entries before */
	VEC(uint32_t) behind;	/* places whose routes to `to` lead over `from`, whatever its first hop */
	bool behind_known;
};

/* The layers that pairs had, to restore them. */
struct had {
	size_t pair;
	uint8_t of;
};

struct squeeze {
	struct layered *x;
	VEC(struct had) had;
};

/* --- routes of the tables --- */

/*
 * Length of the longest route from v to a LID of a source; FABRIC_NONE: one does not arrive or leads over
 * `over`.
 */
static uint32_t hops_to(const struct layered *x, uint32_t from, uint32_t to, uint32_t over)
{
	uint32_t most = 0;

	for (uint32_t i = x->lid0[to]; i < x->lid0[to + 1]; i++) {
		uint32_t v = from, n = 0;

		while (v != x->sources[to]) {
			struct channel ch = channel_by_lid(x->c, x->out, v, x->lids.v[i]);

			if (v == over || ch.link == FABRIC_NONE)
				return FABRIC_NONE;
			v = ch.to;
			n++;
		}
		most = n > most ? n : most;
	}
	return most;
}

static void find_hops(struct layered *x, struct hops *h)
{
	uint32_t v = x->sources[h->from];

	h->n = 0;
	h->behind_known = false;
	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++) {
		uint32_t hops = hops_to(x, x->g->trunks[t].v, h->to, v);
		unsigned i = h->n;

		if (hops == FABRIC_NONE || (i == HOPS_MAX && hops >= h->v[--i].hops))
			continue;
		for (; i && h->v[i - 1].hops > hops; i--)
			h->v[i] = h->v[i - 1];
		h->v[i] = (struct hop){ t, hops };
		h->n += h->n < HOPS_MAX;
	}
	h->before.n = 0;
	for (uint32_t i = x->lid0[h->to]; i < x->lid0[h->to + 1]; i++)
		*vec_push(&h->before) = lft_get(x->out, x->g->sw[v], x->lids.v[i]);
}

/* Spreads the LIDs over the links of the trunk. */
static void take_hop(struct layered *x, const struct hops *h, unsigned which)
{
	const struct trunk *trunk = &x->g->trunks[h->v[which].trunk];
	uint8_t *row = graph_row(x->g, x->out, x->sources[h->from]);

	for (uint32_t i = x->lid0[h->to]; i < x->lid0[h->to + 1]; i++)
		row[x->lids.v[i]] = x->g->links[trunk->link0 + i % trunk->n_links];
}

static void keep_hop(struct layered *x, const struct hops *h)
{
	uint8_t *row = graph_row(x->g, x->out, x->sources[h->from]);

	for (uint32_t i = x->lid0[h->to]; i < x->lid0[h->to + 1]; i++)
		row[x->lids.v[i]] = h->before.v[i - x->lid0[h->to]];
}

/* --- room --- */

static bool finds_room(struct squeeze *s, struct pair p)
{
	size_t i = route_layers_pair(p.a, p.b);
	uint32_t blocked;

	*vec_push(&s->had) = (struct had){ i, s->x->layers->of[i] };
	pairs_collect(s->x, p);
	return pairs_fit(s->x, p, &blocked);
}

static void give_back(struct squeeze *s)
{
	while (s->had.n) {
		const struct had *had = &s->had.v[--s->had.n];

		s->x->layers->of[had->pair] = had->of;
	}
}

/* Whether all pairs whose route to h->to leads over h->from find room by their present routes. */
static bool others_find_room(struct squeeze *s, struct hops *h)
{
	if (!h->behind_known) {
		h->behind.n = 0;
		h->behind_known = true;
		for (uint32_t c = 0; c < s->x->n_sources; c++)
			if (c != h->from && c != h->to &&
			    hops_to(s->x, s->x->sources[c], h->to, s->x->sources[h->from]) ==
				FABRIC_NONE)
				*vec_push(&h->behind) = c;
	}
	for (size_t i = 0; i < h->behind.n; i++)
		if (!finds_room(s, pair_of(h->behind.v[i], h->to)))
			return false;
	return true;
}

static bool all_find_room(struct squeeze *s, struct pair p, struct hops *there, struct hops *back)
{
	s->had.n = 0;
	if (finds_room(s, p) && (!there || others_find_room(s, there)) && (!back || others_find_room(s, back)))
		return true;
	give_back(s);
	return false;
}

/* Gives one end another first hop. */
static bool squeeze_one(struct squeeze *s, struct pair p, struct hops *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		take_hop(s->x, h, i);
		if (all_find_room(s, p, h, NULL))
			return true;
	}
	keep_hop(s->x, h);
	return false;
}

/* Gives both ends other first hops, the nearest first. */
static bool squeeze_both(struct squeeze *s, struct pair p, struct hops *there, struct hops *back)
{
	for (unsigned sum = 0; sum + 1 < there->n + back->n; sum++)
		for (unsigned i = 0; i <= sum && i < there->n; i++) {
			if (sum - i >= back->n)
				continue;
			take_hop(s->x, there, i);
			take_hop(s->x, back, sum - i);
			if (all_find_room(s, p, there, back))
				return true;
		}
	keep_hop(s->x, there);
	keep_hop(s->x, back);
	return false;
}

/* --- loads --- */

/* Recounts the routes of hosts after an end's first hop to the other changed. */
static void divert(struct layered *x, const struct hops *h)
{
	struct dest dests[DESTS_MAX];
	uint32_t v = x->sources[h->from], d = x->sources[h->to], place = 0;
	unsigned n = graph_dests(x->g, x->r, x->out->top, d, dests);

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < dests[i].n_lids; k++, place++) {
			uint16_t lid = (uint16_t)(dests[i].lid + k);

			if (dests[i].weight && lft_get(x->out, x->g->sw[v], lid) != h->before.v[place])
				toll_divert(x->toll, x->out, d, lid, v, h->before.v[place]);
		}
}

static bool squeeze(struct squeeze *s, struct pair p, struct hops *there, struct hops *back)
{
	struct layered *x = s->x;

	there->from = back->to = p.a;
	there->to = back->from = p.b;
	find_hops(x, there);
	find_hops(x, back);
	if (!squeeze_one(s, p, there) && !squeeze_one(s, p, back) && !squeeze_both(s, p, there, back))
		return false;
	divert(x, there);
	divert(x, back);
	return true;
}

void squeeze_in(struct layered *x)
{
	struct squeeze s = { .x = x };
	struct hops there = { 0 }, back = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < x->left.n; i++)
		if (!squeeze(&s, x->left.v[i], &there, &back))
			x->left.v[n++] = x->left.v[i];
	x->squeezed += (uint32_t)(x->left.n - n);
	x->left.n = n;
	vec_free(&s.had);
	vec_free(&there.before);
	vec_free(&there.behind);
	vec_free(&back.before);
	vec_free(&back.behind);
}

/* --- relief --- */

/* Whether a source's route to a LID passes, or begins at, the vertex that moved. */
static bool comes_by(const struct layered *x, uint32_t source, const struct relief_move *m)
{
	uint32_t v = x->sources[source];

	while (v != m->v && v != m->d && v != FABRIC_NONE)
		v = channel_by_lid(x->c, x->out, v, m->lid).to;
	return v == m->v;
}

static bool all_have_room(struct squeeze *s, const struct relief_move *m, uint64_t *looks)
{
	uint32_t to = s->x->layers->place[s->x->g->sw[m->d]];

	s->had.n = 0;
	for (uint32_t i = 0; i < s->x->n_sources; i++) {
		bool fits;

		if (!comes_by(s->x, i, m))
			continue;
		fits = finds_room(s, pair_of(i, to));
		*looks += s->x->pair.n;
		if (!fits)
			return false;
	}
	return true;
}

static bool has_room(void *arg, const struct relief_move *m, uint64_t *looks)
{
	struct squeeze *s = arg;
	uint64_t before = deps_work(s->x->deps);
	bool fits = all_have_room(s, m, looks);

	*looks += deps_work(s->x->deps) - before;
	if (!fits)
		give_back(s);
	return fits;
}

void squeeze_relieve(struct layered *x)
{
	struct squeeze s = { .x = x };
	unsigned most = x->most;
	bool settled = x->settled;

	/* pairs may change to other layers, but not to an empty one */
	x->most = x->layers->n;
	x->settled = true;
	relieve(x->r, x->c, x->out, has_room, &s);
	x->most = most;
	x->settled = settled;
	vec_free(&s.had);
}
