/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements the engine "dragonfly", which uses minimal paths between groups, free of credit loops on two
 * VL sets.
 *
 * Pairs of switches with minimal paths (dragonfly_ways.h) are in layer 1.  Their packets travel on VL set 1
 * until they have crossed the cable into the destination's group, and on VL set 0 for the one link that may
 * follow.  So VL set 1 waits for VL set 0 and never the other way round, and the cables of VL set 1 wait for
 * VL set 0 alone.  SL2VL tables choose the VL set by the in port.  Paths over two links of one group, around a
 * missing one, are in layer 1 as well: deps.h ensures that they close no cycle there.
 *
 * Layer 0 is on VL set 0 everywhere.  It holds multicast, and the pairs that are routed around missing
 * links; both keep to the turns that are legal in an up/down order.  A pair that fits into neither layer
 * is left to layered.h.
 *
 * When links fail, the engine reroutes only the paths that crossed them, and those of pairs that leave
 * layer 1 because the opposite direction is routed around the gap.  Both directions of such a pair get the
 * SL of layer 0; a connection opened before keeps the SL of layer 1, like any whose pair changes its layer
 * (update_rounds.h).
 */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "routing/dragonfly/dragonfly.h"
#include "routing/dragonfly/dragonfly_ways.h"
#include "routing/ideal.h"

/*
 * Limit on passes that find the pairs routed around gaps: making one direction legal may affect other
 * pairs.
 */
#define PASSES 6u

/* --- anew --- */

struct on_dragonfly {
	const struct graph *g;
	const struct dragonfly *d;
	struct dragonfly_ways *ways;
};

static void ways(void *arg, uint32_t to, uint32_t *next)
{
	struct on_dragonfly *x = arg;

	dragonfly_ways_find(x->ways, to, NULL, next);
}

static unsigned layer(void *arg, uint32_t a, uint32_t b)
{
	const struct on_dragonfly *x = arg;

	return !dragonfly_goes_around(x->ways, a, b) && !dragonfly_goes_around(x->ways, b, a);
}

static bool is_cable(const struct on_dragonfly *x, uint32_t v, uint32_t trunk)
{
	return x->d->group[v] != x->d->group[x->g->trunks[trunk].v];
}

static uint8_t link_kind(void *arg, uint32_t v, uint32_t trunk)
{
	return is_cable(arg, v, trunk) ? ROUTE_LINK_FAR : ROUTE_LINK_NEAR;
}

static bool *list_cables(const struct on_dragonfly *x, const struct channels *c)
{
	bool *cable = xcalloc(x->g->trunk0[x->g->n] + 1u, sizeof(*cable));

	for (uint32_t t = 0; t < x->g->trunk0[x->g->n]; t++)
		cable[t] = is_cable(x, c->from[t], t);
	return cable;
}

static void make_ideal(struct ideal *ideal, const struct route_request *r, const struct updn_order *o,
		       const struct dragonfly *d, uint16_t top)
{
	struct channels *c = channels_new(r->f, o);
	struct on_dragonfly x = { .g = c->g, .d = d };
	struct ideal_shape shape = { .r = r, .g = c->g, .top = top, .n_layers = 2, .arg = &x,
				     .ways = ways, .layer = layer, .link = link_kind };

	x.ways = dragonfly_ways_new(c, o, list_cables(&x, c));
	if (d->missing_switches || d->missing_links || d->missing_cables) {
		uint32_t *next = xcalloc(x.g->n + 1u, sizeof(*next)), before = 0;

		for (unsigned pass = 0; pass < PASSES &&
		     (!pass || dragonfly_ways_around(x.ways) > before); pass++) {
			before = dragonfly_ways_around(x.ways);
			for (uint32_t to = 0; to < x.g->n; to++)
				ways(&x, to, next);
			dragonfly_ways_unload(x.ways);
		}
		free(next);
	}
	ideal_make(ideal, &shape);
	dragonfly_ways_free(x.ways);
	channels_free(c);
}

static bool has_room(const struct route_request *r, const struct dragonfly *d, struct buf *why)
{
	if (r->most_shared >= 2)
		return true;
	dragonfly_text(d, why);
	if (r->most_shared)
		buf_puts(why, " needs 2 SLs for each level, but there is 1");
	else
		buf_puts(why, " needs two VL sets, but there is room for one");
	return false;
}

static struct route_layers *route_anew(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				       struct buf *why)
{
	struct dragonfly *d = dragonfly_new(o->g);
	struct route_request near = *r;
	struct route_layers *y = NULL;
	struct ideal x;

	if (!d) {
		buf_puts(why, "the switches are not a dragonfly");
	} else if (has_room(r, d, why)) {
		make_ideal(&x, r, o, d, out->top);
		near.near = x.lfts;
		near.near_layers = x.layers;
		y = ideal_approach(&near, o, out, why);
		ideal_free(&x);
	}
	dragonfly_free(d);
	return y;
}

/* --- near to other tables --- */

struct nearby {
	const struct route_request *r;
	const struct channels *c;
	const struct graph *g;
	struct dragonfly_ways *ways;
	struct lfts *l;			/* r->near, routed around missing links */
	struct route_layers *layers;	/* r->near_layers, with these pairs in layer 0 */
	uint32_t *home;			/* [LID]: the vertex of the port that has the LID, or FABRIC_NONE */
	bool *moves;			/* [LID]: some path crosses a missing link, or has to become legal */
	uint32_t *before, *next;	/* [vertex]: first trunks of the paths to one LID */
};

static bool *list_cables_near(const struct nearby *x)
{
	bool *cable = xcalloc(x->g->trunk0[x->g->n] + 1u, sizeof(*cable));

	for (uint32_t t = 0; t < x->g->trunk0[x->g->n]; t++)
		cable[t] = route_link(x->layers, x->g->sw[x->c->from[t]], x->g->links[x->g->trunks[t].link0]) ==
			   ROUTE_LINK_FAR;
	return cable;
}

/* Calls use() for each pair of switches that has a layer, with the pair's layer. */
static void each_pair(struct nearby *x, void (*use)(struct nearby *x, uint32_t a, uint32_t b, uint8_t *of))
{
	for (uint32_t a = 0; a < x->g->n; a++)
		for (uint32_t b = 0; b < a; b++) {
			uint32_t i = x->layers->place[x->g->sw[a]], k = x->layers->place[x->g->sw[b]];

			if (i != FABRIC_NONE && k != FABRIC_NONE)
				use(x, a, b, &x->layers->of[route_layers_pair(i, k)]);
		}
}

/* New paths of a pair in layer 0 have to be legal. */
static void keep_legal(struct nearby *x, uint32_t a, uint32_t b, uint8_t *of)
{
	if (*of)
		return;
	dragonfly_ways_let_around(x->ways, a, b);
	dragonfly_ways_let_around(x->ways, b, a);
}

static void put_around(struct nearby *x, uint32_t a, uint32_t b, uint8_t *of)
{
	if (dragonfly_goes_around(x->ways, a, b) || dragonfly_goes_around(x->ways, b, a))
		*of = 0;
}

/* Sets the entries for a LID: new ones where its path has changed. */
static void find_way(struct nearby *x, uint16_t lid)
{
	for (uint32_t v = 0; v < x->g->n; v++)
		x->before[v] = trunk_by_lid(x->c, x->r->near, v, lid);
	dragonfly_ways_find(x->ways, x->home[lid], x->before, x->next);
	for (uint32_t v = 0; v < x->g->n; v++) {
		uint8_t *entry = graph_row(x->g, x->l, v) + lid;

		if (x->next[v] == x->before[v] || x->next[v] == FABRIC_NONE) {
			*entry = lft_get(x->r->near, x->g->sw[v], lid);
		} else {
			const struct trunk *t = &x->g->trunks[x->next[v]];

			*entry = x->g->links[t->link0 + lid % t->n_links];
		}
	}
}

static void find_ways(struct nearby *x)
{
	uint32_t before;

	each_pair(x, keep_legal);
	/* Finds the LIDs for which some switch sends to a missing link. */
	for (uint32_t v = 0; v < x->g->n; v++)
		for (uint32_t lid = 1; lid <= x->l->top; lid++)
			x->moves[lid] |= x->home[lid] != FABRIC_NONE && x->home[lid] != v &&
					 trunk_by_lid(x->c, x->r->near, v, (uint16_t)lid) == FABRIC_NONE;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		before = dragonfly_ways_around(x->ways);
		dragonfly_ways_unload(x->ways);
		for (uint32_t lid = 1; lid <= x->l->top; lid++)
			if (x->moves[lid])
				find_way(x, (uint16_t)lid);
		if (dragonfly_ways_around(x->ways) == before)
			break;
		/* Finds the LIDs at either end of a pair that leaves layer 1 for a path around a gap. */
		for (uint32_t lid = 1; lid <= x->l->top; lid++) {
			uint32_t d = x->home[lid];

			for (uint32_t v = 0; d != FABRIC_NONE && !x->moves[lid] && v < x->g->n; v++)
				x->moves[lid] = route_layer(x->layers, x->g->sw[v], x->g->sw[d]) &&
						(dragonfly_goes_around(x->ways, v, d) ||
						 dragonfly_goes_around(x->ways, d, v));
		}
	}
	each_pair(x, put_around);
}

static struct route_layers *copy_layers(const struct route_layers *y)
{
	uint32_t *same = xcalloc(y->n_switches + 1u, sizeof(*same));
	struct route_layers *copy;

	for (uint32_t sw = 0; sw < y->n_switches; sw++)
		same[sw] = sw;
	copy = route_layers_on(y, y->n_switches, same);
	free(same);
	return copy;
}

static struct route_layers *route_near(const struct route_request *r, const struct updn_order *o, struct lfts *out,
				       struct buf *why)
{
	struct channels *c = channels_new(r->f, o);
	struct nearby x = { .r = r, .c = c, .g = c->g, .l = lfts_copy(r->near), .layers = copy_layers(r->near_layers) };
	struct route_request near = *r;
	struct route_layers *y;
	struct dest dests[DESTS_MAX];

	x.ways = dragonfly_ways_new(c, o, list_cables_near(&x));
	x.home = xcalloc(x.l->top + 1u, sizeof(*x.home));
	x.moves = xcalloc(x.l->top + 1u, sizeof(*x.moves));
	x.before = xcalloc(x.g->n + 1u, sizeof(*x.before));
	x.next = xcalloc(x.g->n + 1u, sizeof(*x.next));
	for (uint32_t lid = 0; lid <= x.l->top; lid++)
		x.home[lid] = FABRIC_NONE;
	for (uint32_t d = 0; d < x.g->n; d++) {
		unsigned n = graph_dests(x.g, x.r, x.l->top, d, dests);

		for (unsigned i = 0; i < n; i++)
			for (unsigned k = 0; k < dests[i].n_lids; k++)
				x.home[dests[i].lid + k] = d;
	}
	find_ways(&x);
	near.near = x.l;
	near.near_layers = x.layers;
	y = ideal_approach(&near, o, out, why);
	dragonfly_ways_free(x.ways);
	lfts_free(x.l);
	route_layers_free(x.layers);
	free(x.home);
	free(x.moves);
	free(x.before);
	free(x.next);
	channels_free(c);
	return y;
}

/* --- the engine --- */

static bool dragonfly_run(const struct route_request *r, struct lfts *out, struct route_layers **layers,
			  struct buf *why)
{
	struct updn_order *own = r->order ? NULL : updn_order_new(r->f);
	const struct updn_order *o = own ? own : r->order;

	if (!r->near || !r->near_layers)
		*layers = route_anew(r, o, out, why);
	else if (route_vl_sets_by_entry(r->near_layers))
		*layers = route_near(r, o, out, why);
	else
		buf_puts(why, "the present routes are not those of a dragonfly");
	updn_order_free(own);
	return *layers;
}

const struct route_engine route_dragonfly = { "dragonfly", dragonfly_run };
