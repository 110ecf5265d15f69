/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes in rounds until every pair of switches has a layer; see layered.h. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "routing/layered/layered_parts.h"
#include "routing/tree.h"
#include "routing/updn/turns.h"

/* Times that all destinations choose, from the second time on knowing the routes of all the others. */
#define PASSES 3u
/*
 * Rounds after which every pair without room is routed by legal routes only.  From then on each round adds
 * at least one such vertex, so at most one round per vertex follows.
 */
#define PATIENCE 500u
/*
 * Number of routes, of switches to LIDs, from which the first pass is tested for whether pairs will find
 * room.
 */
#define ROUTES_MANY (16u << 20)
/* Hundredths of a hop by which a turn that is in the way of pairs gets dearer in each round. */
#define STEP 20u
/*
 * Rounds that replace only broken routes when staying near to tables; later rounds replace all routes to
 * the ends of pairs.
 */
#define MENDS 20u
/* Toll from which a turn counts as needed by a route without an alternative: see give_way(). */
#define DEAR 400u

/*
 * If at most one pair in FEW found no room, the others stay as they are, while at most one in FEW_SETTLED
 * does not.
 */
#define FEW 100u
#define FEW_SETTLED 25u

/* --- routes --- */

static void route_vertex(struct layered *x, uint32_t d, bool again)
{
	struct dest dests[DESTS_MAX];
	unsigned n = graph_dests(x->g, x->r, x->out->top, d, dests);

	toll_route(x->toll, x->out, d, dests, n, again, x->legal_only[d]);
	graph_deliver(x->g, x->out, d, dests, n);
}

/* Copies the routes of other tables to a vertex, as far as they arrive; false: some do not. */
static bool take_near(struct layered *x, uint32_t d, const struct dest *dests, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (uint32_t v = 0; v < x->g->n; v++)
			memcpy(graph_row(x->g, x->out, v) + dests[i].lid, x->near->entries +
			       (size_t)x->g->sw[v] * x->near->stride + dests[i].lid, dests[i].n_lids);
	graph_deliver(x->g, x->out, d, dests, n);
	for (unsigned i = 0; i < n && x->round; i++)
		for (unsigned k = 0; k < dests[i].n_lids; k++)
			turn_round(x->round, x->out, d, (uint16_t)(dests[i].lid + k));
	return toll_keep(x->toll, x->out, d, dests, n);
}

/* Copies all routes of other tables, and finds new ones where these do not arrive. */
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

/* Finds only the routes anew that are not those of the other tables. */
static void mend_again(struct layered *x, uint32_t d)
{
	struct dest dests[DESTS_MAX];
	unsigned n = graph_dests(x->g, x->r, x->out->top, d, dests);

	toll_forget(x->toll, x->out, d, dests, n);
	if (!take_near(x, d, dests, n))
		toll_mend(x->toll, x->out, d, dests, n);
}

/* Whether the routes of the first pass show that there will be no room.  Discards what the test found out. */
static bool are_hopeless(struct layered *x)
{
	if ((uint64_t)x->n_sources * x->lids.n < ROUTES_MANY)
		return false;
	pairs_place(x);
	pairs_forget(x);
	return x->hopeless;
}

static void route_anew(struct layered *x)
{
	for (unsigned pass = 0; pass < PASSES && (pass != 1 || !are_hopeless(x)); pass++)
		for (uint32_t d = 0; d < x->g->n; d++)
			route_vertex(x, d, pass > 0);
}

/* --- rounds --- */

static bool is_legal(const struct layered *x, struct dep turn)
{
	return x->legal && turns_allowed(x->legal, turn.in, turn.out);
}

/*
 * Handles a pair that no layer has room for.  Raises the toll of the turn that closes a cycle or, if that
 * turn is legal, of all the pair's turns that are not.  Returns the highest toll.
 */
static uint32_t raise_tolls(struct layered *x, uint32_t blocked)
{
	struct dep turn = x->pair.v[blocked];
	uint32_t most = 0;

	if (!is_legal(x, turn))
		return toll_raise(x->toll, turn, STEP);
	for (size_t i = 0; i < x->pair.n; i++) {
		uint32_t toll = 0;

		turn = x->pair.v[i];
		if (!is_legal(x, turn))
			toll = toll_raise(x->toll, turn, STEP);
		most = toll > most ? toll : most;
	}
	return most;
}

/*
 * Makes a pair give way.  A vertex has one route to a LID, whichever packets pass it.  If its own routes
 * need no toll, vertices behind it may have to pay any toll; then the LIDs of both ends get legal routes
 * only, for which layer 0 always has room.
 */
static void give_way(struct layered *x, struct pair p, uint32_t blocked)
{
	uint32_t a = x->sources[p.a], b = x->sources[p.b], toll = raise_tolls(x, blocked);

	x->again[a] = x->again[b] = true;
	if (x->legal && (toll >= DEAR || x->rounds >= PATIENCE))
		x->legal_only[a] = x->legal_only[b] = true;
}

/* Lets the pairs without room raise tolls, so that others give way. */
static void negotiate(struct layered *x)
{
	for (size_t i = 0; i < x->left.n; i++) {
		struct pair p = x->left.v[i];
		uint32_t blocked;

		pairs_collect(x, p);
		if (!pairs_fit(x, p, &blocked))
			give_way(x, p, blocked);
	}
}

/* Puts the pairs without room onto legal routes, the only ones that are certain to find room. */
static void fall_back(struct layered *x)
{
	for (size_t i = 0; i < x->left.n; i++) {
		uint32_t a = x->sources[x->left.v[i].a], b = x->sources[x->left.v[i].b];

		x->legal_only[a] = x->legal_only[b] = x->again[a] = x->again[b] = true;
	}
}

static bool are_few(const struct layered *x)
{
	return (uint64_t)x->left.n * (x->settled ? FEW_SETTLED : FEW) <= route_layers_pair(x->n_sources, 0);
}

/*
 * Prepares the next round when some pairs are left without room.  Many pairs negotiate.  The last few push
 * others aside while all others stay and, unless routes are to stay as they were, negotiate in every
 * second round.  If they become many again, or PUSHES_MAX rounds did not help, they fall back.  Without
 * legal routes to fall back on, all rounds negotiate.
 */
static void prepare_round(struct layered *x, bool few)
{
	memset(x->again, 0, x->g->n * sizeof(*x->again));
	x->settled |= few && x->own_vl_sets;
	if (x->settled && (!few || x->pushes++ >= PUSHES_MAX))
		fall_back(x);
	else if (!x->settled || (!x->near && x->pushes % 2 == 0))
		negotiate(x);
	for (uint32_t d = 0; d < x->g->n; d++)
		if (x->again[d] && x->near && !x->legal_only[d] && x->rounds < MENDS)
			mend_again(x, d);
		else if (x->again[d])
			route_vertex(x, d, true);
	toll_round(x->toll);
}

static void find_room(struct layered *x)
{
	while (x->left.n && !x->hopeless && x->rounds < (x->legal ? PATIENCE + x->n_sources : MENDS)) {
		bool few = are_few(x);

		if (few)
			squeeze_in(x);
		if (!x->left.n)
			break;
		prepare_round(x, few);
		pairs_place(x);
	}
}

/*
 * On a grid, makes routes around missing links and the tree change as little as they can; with m, makes
 * them keep to the turns of the model and to its tree.
 */
static void set_model(struct layered *x, const struct turn_model *m)
{
	free(x->layers->tree);
	x->layers->tree = m ? tree_on_grid(x->g, x->grid, m)
			    : xmemdup(x->r->near_layers->tree, x->g->n * sizeof(*x->layers->tree));
	tree_mend(x->g, x->layers->tree, x->layers);
	turn_round_within(x->round, x->grid, m);
}

static void place_again(struct layered *x, const struct turn_model *m)
{
	pairs_forget(x);
	toll_free(x->toll);
	x->toll = toll_new(x->c, NULL);
	set_model(x, m);
	route_near(x);
	pairs_place(x);
}

/*
 * Where routes with few changes leave pairs without room, tries models that suit the faults of a grid, and
 * goes on with the one that leaves the fewest.
 */
static void try_models(struct layered *x)
{
	unsigned n = x->left.n ? turn_models(x->grid, x->g, x->models) : 0;
	const struct turn_model *best = NULL, *last = NULL;
	size_t least = x->left.n;

	for (unsigned i = 0; i < n && x->left.n && !x->hopeless; i++) {
		last = &x->models[i];
		place_again(x, last);
		if (x->left.n < least) {
			best = last;
			least = x->left.n;
		}
	}
	if (best != last && x->left.n && !x->hopeless)
		place_again(x, best);
}

static void place_near(struct layered *x)
{
	route_near(x);
	pairs_place(x);
	if (x->grid)
		try_models(x);
	find_room(x);
}

static void place_anew(struct layered *x)
{
	route_anew(x);
	if (!x->hopeless)
		pairs_place(x);
	find_room(x);
	if (!x->left.n && !x->hopeless)
		squeeze_relieve(x);
}

static bool agree(struct layered *x, struct layered_outcome *did)
{
	bool done = x->hopeless;

	if (x->near && x->own_vl_sets && !done)
		done = confine_near(x);
	if (!done && x->near)
		place_near(x);
	else if (!done)
		place_anew(x);
	if (x->hopeless && x->own_vl_sets)
		confine(x);
	did->rounds = x->rounds;
	did->squeezed = x->squeezed;
	did->placed = x->placed;
	did->blocked = (uint32_t)x->left.n;
	return !did->blocked && (x->own_vl_sets || !x->hopeless);
}

/* Takes over how the layers of `near` share VL sets. */
static void share_vl_sets(struct layered *x, const struct route_layers *near)
{
	x->most = near->n;
	x->layers->n_vl_sets = near->n_vl_sets;
	x->layers->link_ports = near->link_ports;
	x->layers->link = xmemdup(near->link, (size_t)x->g->n * near->link_ports);
}

/* Prepares the layers, without pairs, and the turns of multicast in them. */
static void begin(struct layered *x, const struct updn_order *o)
{
	const struct route_layers *near = x->near ? x->r->near_layers : NULL;
	bool tree = near && near->tree;
	uint32_t n = x->g->n;

	x->layers = xcalloc(1, sizeof(*x->layers));
	*x->layers = (struct route_layers){ .n = 1, .n_vl_sets = 1, .n_switches = n };
	x->layers->place = xcalloc(n, sizeof(*x->layers->place));
	if (near && near->link)
		share_vl_sets(x, near);
	x->own_vl_sets = !x->layers->link && !tree;
	if (!tree) {
		x->legal = turns_new(o);
		return;
	}
	if (x->most < near->n)
		x->most = near->n;
	if (near->grid) {
		x->grid = grid_renumbered(near->grid, n, n, x->c->vertex);
		x->layers->grid = grid_renumbered(x->grid, n, n, x->g->sw);
	}
	x->round = turn_round_new(x->c, x->layers);
	set_model(x, NULL);
}

static struct route_layers *make(const struct route_request *r, const struct updn_order *o, unsigned most,
				 struct lfts *out, bool hopeless, struct layered_outcome *did)
{
	struct channels *c = channels_new(r->f, o);
	struct layered x = { .r = r, .c = c, .g = c->g, .out = out, .most = most, .hopeless = hopeless };
	struct layered_outcome unasked;

	if (r->near && r->near->top >= out->top)
		x.near = r->near;
	begin(&x, o);
	pairs_find(&x);
	x.toll = toll_new(c, x.legal);
	x.deps = x.layers->link ? deps_new_sharing(c, x.layers) : deps_new(c, x.most);
	x.again = xcalloc(c->g->n, sizeof(*x.again));
	x.legal_only = xcalloc(c->g->n, sizeof(*x.legal_only));
	if (!agree(&x, did ? did : &unasked)) {
		route_layers_free(x.layers);
		x.layers = NULL;
	} else if (x.layers->link) {
		x.layers->n = x.most;
	} else if (x.legal) {
		x.layers->n_vl_sets = x.layers->n;
	} else {
		if (x.layers->n < r->near_layers->n)
			x.layers->n = r->near_layers->n;
		x.layers->n_vl_sets = x.layers->n;
	}
	toll_free(x.toll);
	turn_round_free(x.round);
	grid_free(x.grid);
	turns_free(x.legal);
	deps_free(x.deps);
	free(x.sources);
	free(x.lid0);
	free(x.moved);
	vec_free(&x.lids);
	free(x.again);
	free(x.legal_only);
	free(x.blocked);
	vec_free(&x.pair);
	vec_free(&x.early);
	vec_free(&x.aside);
	vec_free(&x.left);
	channels_free(c);
	return x.layers;
}

struct route_layers *layered_routes(const struct route_request *r, const struct updn_order *o,
				    unsigned most, struct lfts *out, struct layered_outcome *did)
{
	return make(r, o, most, out, false, did);
}

struct route_layers *layered_confined(const struct route_request *r, const struct updn_order *o,
				      unsigned most, struct lfts *out, struct layered_outcome *did)
{
	return make(r, o, most, out, true, did);
}

static bool layered_run(const struct route_request *r, struct lfts *out,
			struct route_layers **layers, struct buf *why)
{
	struct updn_order *own = r->order ? NULL : updn_order_new(r->f);
	unsigned most = r->most_layers ? r->most_layers : 1;
	struct route_request of = *r;
	struct layered_outcome did;

	/* tables of an engine for a shape are nothing to stay near to */
	if (r->near_layers && (r->near_layers->tree || r->near_layers->link))
		of.near = NULL;
	*layers = layered_routes(&of, own ? own : r->order, most, out, &did);
	updn_order_free(own);
	if (!*layers)
		buf_printf(why, "%u pairs of switches found no room in %u layer%s, in %u rounds",
			   did.blocked, most, most == 1 ? "" : "s", did.rounds);
	return *layers;
}

const struct route_engine route_layered = { "layered", layered_run };
