/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Changes the entries that lead over gaps of a grid, LID by LID; see turn_round.h. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/grid/turn_round.h"

/* Values of `hops`: not followed yet; on the route being followed; does not arrive. */
enum { UNSEEN = UINT32_MAX, ON_WAY = UINT32_MAX - 1, LOST = UINT32_MAX - 2 };

struct turn_round {
	const struct channels *c;
	const struct graph *g;
	const struct route_layers *y;
	const struct grid *grid;
	const struct turn_model *model;	/* or NULL */
	uint32_t *hops;		/* [vertex]: hops to the destination, or one of the above */
	uint32_t *way;		/* vertices; scratch space */
	VEC(uint32_t) cut;	/* vertices whose entry leads over a missing link */
	uint8_t *had;		/* [as `way`]: entries before they were turned */
};

struct turn_round *turn_round_new(const struct channels *c, const struct route_layers *y)
{
	struct turn_round *x = xcalloc(1, sizeof(*x));

	*x = (struct turn_round){ .c = c, .g = c->g, .y = y };
	x->hops = xcalloc(c->g->n, sizeof(*x->hops));
	x->way = xcalloc(c->g->n, sizeof(*x->way));
	x->had = xcalloc(c->g->n, sizeof(*x->had));
	return x;
}

void turn_round_within(struct turn_round *x, const struct grid *grid, const struct turn_model *m)
{
	x->grid = grid;
	x->model = m;
}

void turn_round_free(struct turn_round *x)
{
	if (!x)
		return;
	free(x->hops);
	free(x->way);
	free(x->had);
	vec_free(&x->cut);
	free(x);
}

/* --- which vertices arrive --- */

static uint8_t *entry_of(const struct turn_round *x, struct lfts *out, uint32_t v, uint16_t lid)
{
	return graph_row(x->g, out, v) + lid;
}

static void follow(struct turn_round *x, struct lfts *out, uint32_t v, uint16_t lid)
{
	uint32_t n = 0, hops;

	while (x->hops[v] == UNSEEN) {
		struct channel ch = channel_by_port(x->c, v, *entry_of(x, out, v, lid));

		x->hops[v] = ON_WAY;
		x->way[n++] = v;
		if (ch.link == FABRIC_NONE) {
			x->hops[v] = LOST;
			n--;
			*vec_push(&x->cut) = v;
			break;
		}
		v = ch.to;
	}
	hops = x->hops[v] == ON_WAY ? LOST : x->hops[v];
	while (n-- > 0)
		x->hops[x->way[n]] = hops = hops == LOST ? LOST : hops + 1;
}

static void follow_all(struct turn_round *x, struct lfts *out, uint32_t d, uint16_t lid)
{
	x->cut.n = 0;
	for (uint32_t v = 0; v < x->g->n; v++)
		x->hops[v] = UNSEEN;
	x->hops[d] = 0;
	for (uint32_t v = 0; v < x->g->n; v++)
		follow(x, out, v, lid);
}

/* --- rings --- */

static uint8_t ring_of(const struct turn_round *x, uint32_t v, uint8_t port)
{
	return route_link(x->y, x->g->sw[v], port);
}

/* The trunk from v along a ring to a neighbour other than `but`; FABRIC_NONE if there is none. */
static uint32_t along(const struct turn_round *x, uint32_t v, uint8_t ring, uint32_t but)
{
	const struct graph *g = x->g;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
		if (g->trunks[t].v != but && ring_of(x, v, g->links[g->trunks[t].link0]) == ring)
			return t;
	return FABRIC_NONE;
}

/* The out port for a LID on a trunk; spreads LIDs over its links. */
static uint8_t port_by(const struct turn_round *x, uint32_t trunk, uint16_t lid)
{
	const struct trunk *t = &x->g->trunks[trunk];

	return x->g->links[t->link0 + lid % t->n_links];
}

/*
 * Handles v, whose entry leads over a gap in a ring.  Turns v's entry, and all entries that lead to v
 * along the ring, the other way round, up to where routes leave the ring or the destination is.  False:
 * neither is on this side of the gap, and nothing changes.
 */
static bool turn(struct turn_round *x, struct lfts *out, uint32_t v, uint16_t lid)
{
	uint8_t ring = ring_of(x, v, *entry_of(x, out, v, lid));
	uint32_t t = along(x, v, ring, FABRIC_NONE), n = 0;

	if (ring & ROUTE_LINK_NOT_ROUND || t == FABRIC_NONE || along(x, v, ring, x->g->trunks[t].v) != FABRIC_NONE)
		return false;
	while (t != FABRIC_NONE && n < x->g->n) {
		uint8_t *entry = entry_of(x, out, v, lid);
		uint32_t next = x->g->trunks[t].v;

		x->way[n] = v;
		x->had[n++] = *entry;
		*entry = port_by(x, t, lid);
		if (x->hops[next] != LOST)
			return true;
		t = along(x, next, ring, v);
		v = next;
	}
	while (n-- > 0)
		*entry_of(x, out, x->way[n], lid) = x->had[n];
	return false;
}

/* --- off the rings --- */

/* Extra hops that are better than a turn at an unfavourable place: see step_aside(). */
#define BAD_TURN 3u

/* Cost of the route from v, which is at a gap, by a trunk. */
static uint32_t cost_of(const struct turn_round *x, uint32_t v, uint8_t ring, uint32_t t)
{
	const struct graph *g = x->g;
	uint32_t to = g->trunks[t].v, hops = x->hops[to];
	bool in_ring = ring != ROUTE_LINK_FIRST && ring_of(x, v, g->links[g->trunks[t].link0]) == ring;

	if (hops >= LOST)
		return LOST;
	return hops + (in_ring || x->y->tree[g->sw[v]] == g->sw[to] ? 0 : BAD_TURN);
}

/*
 * Makes v send to the neighbour nearest to the destination.  Prefers the same ring, or the direction of
 * the tree's root, where coordinates fall: without rings, no cycle of channels leaves its highest
 * dimension only there.
 */
static void step_aside(struct turn_round *x, struct lfts *out, uint32_t v, uint16_t lid)
{
	const struct graph *g = x->g;
	uint8_t *entry = entry_of(x, out, v, lid), ring = ring_of(x, v, *entry);
	uint32_t best = FABRIC_NONE, least = LOST;

	for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++) {
		uint32_t cost = cost_of(x, v, ring, t);

		if (cost < least) {
			best = t;
			least = cost;
		}
	}
	if (best != FABRIC_NONE)
		*entry = port_by(x, best, lid);
}

/* --- within a model --- */

/* Whether v may send by a trunk to a neighbour that is `hops` hops from the destination. */
static bool may_follow(const struct turn_round *x, struct lfts *out, uint32_t v, uint32_t t, uint16_t lid,
		       uint32_t hops)
{
	uint32_t to = x->g->trunks[t].v;
	struct channel next = channel_by_port(x->c, to, *entry_of(x, out, to, lid));

	return x->hops[to] == hops && (!hops || turn_model_allows(x->model, x->grid, v, to, next.to));
}

/*
 * Makes v send to a neighbour that is `hops` hops from the destination, if the model allows it; prefers
 * its present neighbour.
 */
static bool lead_on(struct turn_round *x, struct lfts *out, uint32_t v, uint16_t lid, uint32_t hops)
{
	uint8_t *entry = entry_of(x, out, v, lid);
	struct channel own = channel_by_port(x->c, v, *entry);

	if (own.link != FABRIC_NONE && may_follow(x, out, v, x->c->trunk[own.link], lid, hops))
		return true;
	for (uint32_t t = x->g->trunk0[v]; t < x->g->trunk0[v + 1]; t++)
		if (may_follow(x, out, v, t, lid, hops)) {
			*entry = port_by(x, t, lid);
			return true;
		}
	return false;
}

/*
 * Extends routes to those vertices in x->way[0 .. n - 1] that can send to a vertex `hops` hops from the
 * destination.  Returns the number of the others, which it keeps in x->way.
 */
static uint32_t all_lead_on(struct turn_round *x, struct lfts *out, uint16_t lid, uint32_t hops, uint32_t n)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = x->way[i];

		if (lead_on(x, out, v, lid, hops))
			x->hops[v] = hops + 1;
		else
			x->way[left++] = v;
	}
	return left;
}

/* Gives all vertices that do not arrive the shortest routes that the model allows, if any. */
static void search(struct turn_round *x, struct lfts *out, uint16_t lid)
{
	uint32_t n = 0;

	for (uint32_t v = 0; v < x->g->n; v++)
		if (x->hops[v] == LOST)
			x->way[n++] = v;
	for (uint32_t hops = 0; n && hops < x->g->n; hops++)
		n = all_lead_on(x, out, lid, hops, n);
}

/* --- one LID --- */

/* Changes as few entries as possible. */
static void step_round(struct turn_round *x, struct lfts *out, uint32_t d, uint16_t lid)
{
	for (uint32_t left = (uint32_t)x->cut.n; left > 0; left = (uint32_t)x->cut.n) {
		step_aside(x, out, x->cut.v[0], lid);
		follow_all(x, out, d, lid);
		if (x->cut.n >= left)
			return;
	}
}

void turn_round(struct turn_round *x, struct lfts *out, uint32_t d, uint16_t lid)
{
	uint32_t n;

	follow_all(x, out, d, lid);
	n = (uint32_t)x->cut.n;
	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		turn(x, out, x->cut.v[i], lid);
	follow_all(x, out, d, lid);
	if (x->model)
		search(x, out, lid);
	else
		step_round(x, out, d, lid);
}
