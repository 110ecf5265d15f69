/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the turns that an order allows beyond its legal paths (routing/updn/turns.h). */
#include <check.h>

#include "routing/updn/turns.h"
#include "topo.h"
#include "unit/run.h"

/* Three leaves below three spines. */
struct tree {
	struct topo t;
	struct updn_order *o;
	struct turns *turns;
	uint32_t leaf[3], spine[3];	/* vertices */
};

static uint32_t vertex_of(const struct updn_order *o, uint64_t guid)
{
	for (uint32_t v = 0; v < o->g->n; v++)
		if (o->g->f->nodes[o->g->f->switches[o->g->sw[v]].node].guid == guid)
			return v;
	ck_abort_msg("no such switch");
}

static void make(struct tree *x)
{
	struct fabric *f = topo_begin();
	uint32_t leaf[3], spine[3];

	for (unsigned i = 0; i < 3; i++)
		leaf[i] = topo_switch(f, 11 + i, 8);
	for (unsigned i = 0; i < 3; i++)
		spine[i] = topo_switch(f, 21 + i, 8);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned k = 0; k < 3; k++)
			fabric_link(f, leaf[i], 1 + k, spine[k], 1 + i);
	for (unsigned i = 0; i < 6; i++)
		topo_host(f, leaf[i / 2], 5 + i % 2);
	topo_finish(&x->t, f, 0);
	x->o = updn_order_new(x->t.f);
	x->o->hub_safe = false;		/* no turn is allowed from the start */
	for (unsigned i = 0; i < 3; i++) {
		x->leaf[i] = vertex_of(x->o, 11 + i);
		x->spine[i] = vertex_of(x->o, 21 + i);
	}
	x->turns = turns_new(x->o);
}

static void end(struct tree *x)
{
	turns_free(x->turns);
	updn_order_free(x->o);
	topo_free(&x->t);
}

static uint32_t trunk(const struct tree *x, uint32_t from, uint32_t to)
{
	const struct graph *g = x->o->g;

	for (uint32_t t = g->trunk0[from]; t < g->trunk0[from + 1]; t++)
		if (g->trunks[t].v == to)
			return t;
	ck_abort_msg("no such link");
}

/* Allows the path from one spine through a leaf to another, if it closes no cycle. */
static bool allow(struct tree *x, unsigned from, unsigned by, unsigned to)
{
	return turns_allow(x->turns, trunk(x, x->spine[from], x->leaf[by]),
			   trunk(x, x->leaf[by], x->spine[to]));
}

START_TEST(legal_moves_are_allowed)
{
	struct tree x;

	make(&x);
	ck_assert(turns_allowed(x.turns, trunk(&x, x.leaf[0], x.spine[1]),
				trunk(&x, x.spine[1], x.leaf[2])));
	ck_assert(!turns_allowed(x.turns, trunk(&x, x.spine[0], x.leaf[1]),
				 trunk(&x, x.leaf[1], x.spine[2])));
	end(&x);
}
END_TEST

/* All spines may reach each other through one leaf: packets that turn there only go down to other leaves. */
/* promise: F12 */
START_TEST(one_leaf_serves_all)
{
	struct tree x;

	make(&x);
	for (unsigned a = 0; a < 3; a++)
		for (unsigned b = 0; b < 3; b++)
			ck_assert(a == b || allow(&x, a, 1, b));
	ck_assert_uint_eq(turns_at(x.turns, x.leaf[1]), 6);
	ck_assert(turns_allowed(x.turns, trunk(&x, x.spine[0], x.leaf[1]),
				trunk(&x, x.leaf[1], x.spine[2])));
	end(&x);
}
END_TEST

/*
 * From spine 0 through leaf 0 to spine 1, down to leaf 1 and up to spine 0 again: the last channel may
 * wait for the first, which closes a cycle.
 */
/* promise: F12 */
START_TEST(a_cycle_is_refused)
{
	struct tree x;

	make(&x);
	ck_assert(allow(&x, 0, 0, 1));
	ck_assert(!allow(&x, 1, 1, 0));
	ck_assert_uint_eq(turns_at(x.turns, x.leaf[1]), 0);
	/* by the same leaf, and the same way by another, there is none */
	ck_assert(allow(&x, 1, 0, 0));
	ck_assert(!allow(&x, 0, 1, 1));
	end(&x);
}
END_TEST

/* A cycle through three leaves: 0 to 1, 1 to 2, 2 to 0; any two of these close none. */
/* promise: F12 */
START_TEST(a_cycle_of_three_is_refused)
{
	struct tree x;

	make(&x);
	ck_assert(allow(&x, 0, 0, 1));
	ck_assert(allow(&x, 1, 1, 2));
	ck_assert(!allow(&x, 2, 2, 0));
	end(&x);
}
END_TEST

/* --- any turns, against a search of the channels one by one --- */

struct world {
	struct topo t;
	struct updn_order *o;
	struct turns *turns;
	uint32_t *from;		/* [trunk]: vertex that it leads away from */
	bool *dead;		/* [link] */
	uint64_t x;
};

static uint32_t chance(struct world *w, uint32_t n)
{
	return (uint32_t)(hash64(w->x += 0x9e3779b97f4a7c15ULL) % n);
}

static uint32_t trunk_between(const struct graph *g, uint32_t from, uint32_t to)
{
	uint32_t t = g->trunk0[from];

	while (g->trunks[t].v != to)
		t++;
	return t;
}

/* Cuts all cables of some trunks, in both directions. */
static void cut_some(struct world *w)
{
	const struct graph *g = w->o->g;

	for (uint32_t i = 0; i < g->trunk0[g->n] / 20; i++) {
		uint32_t t = chance(w, g->trunk0[g->n]);
		uint32_t back = trunk_between(g, g->trunks[t].v, w->from[t]);

		memset(w->dead + g->trunks[t].link0, true, g->trunks[t].n_links);
		memset(w->dead + g->trunks[back].link0, true, g->trunks[back].n_links);
	}
	turns_cut(w->turns, w->dead);
}

static void world_make(struct world *w, bool hub, bool cut)
{
	w->o = updn_order_new(w->t.f);
	w->o->hub_safe &= hub;
	const struct graph *g = w->o->g;

	w->turns = turns_new(w->o);
	w->from = xcalloc(g->trunk0[g->n], sizeof(*w->from));
	w->dead = xcalloc(g->n_links, sizeof(*w->dead));
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t t = g->trunk0[v]; t < g->trunk0[v + 1]; t++)
			w->from[t] = v;
	if (cut)
		cut_some(w);
}

static void world_free(struct world *w)
{
	turns_free(w->turns);
	updn_order_free(w->o);
	topo_free(&w->t);
	free(w->from);
	free(w->dead);
}

/* Whether a path on trunk i may go on by trunk k. */
static bool goes_on(const struct world *w, uint32_t i, uint32_t k)
{
	const struct graph *g = w->o->g;

	return g->trunks[k].v != w->from[i] && !w->dead[g->trunks[k].link0] &&
	       turns_allowed(w->turns, i, k);
}

static bool leads_to(const struct world *w, uint32_t trunk, uint32_t goal)
{
	const struct graph *g = w->o->g;
	uint32_t *todo = xcalloc(g->trunk0[g->n], sizeof(*todo)), n = 0;
	bool *seen = xcalloc(g->trunk0[g->n], sizeof(*seen));

	seen[trunk] = true;
	todo[n++] = trunk;
	while (n && !seen[goal]) {
		uint32_t i = todo[--n], v = g->trunks[i].v;

		for (uint32_t k = g->trunk0[v]; k < g->trunk0[v + 1]; k++) {
			if (seen[k] || !goes_on(w, i, k))
				continue;
			seen[k] = true;
			todo[n++] = k;
		}
	}
	bool leads = seen[goal];

	free(todo);
	free(seen);
	return leads;
}

/* Takes some links between switches out of the fabric, as if they had never been there. */
static void lose_some(struct world *w)
{
	struct fabric *f = w->t.f;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t peer = f->ports[i].peer;

		if (peer == FABRIC_NONE || !node_is_switch(port_node(f, i)) ||
		    !node_is_switch(port_node(f, peer)) || chance(w, 6))
			continue;
		f->ports[i].held = f->ports[peer].held = true;
	}
}

/* A turn is allowed unless it closes a cycle with legal moves and the turns before it. */
START_TEST(any_turns)
{
	struct fat p = { .pods = 4, .leaves = 2, .hosts = 2, .aggs = 2, .width = 1, .spines = 2 };
	struct world w = { .x = (uint64_t)_i };
	bool fat = _i % 12 < 8;

	if (fat)
		fat_topo(&w.t, &p, 0);
	else
		random_topo(&w.t, (uint64_t)_i / 4);
	if (_i % 12 >= 4)
		lose_some(&w);
	world_make(&w, _i & 1, _i & 2);
	const struct graph *g = w.o->g;

	for (unsigned i = 0; i < 500; i++) {
		uint32_t in = chance(&w, g->trunk0[g->n]), v = g->trunks[in].v;
		uint32_t out = g->trunk0[v] + chance(&w, g->trunk0[v + 1] - g->trunk0[v]);

		if (g->trunks[out].v == w.from[in] || w.dead[g->trunks[in].link0] ||
		    w.dead[g->trunks[out].link0] || turns_allowed(w.turns, in, out))
			continue;
		bool cycle = leads_to(&w, out, in);

		ck_assert_int_eq(turns_allow(w.turns, in, out), !cycle);
		ck_assert_int_eq(turns_allowed(w.turns, in, out), !cycle);
	}
	world_free(&w);
	if (fat)
		fat_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turns");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, legal_moves_are_allowed);
	tcase_add_test(tc, one_leaf_serves_all);
	tcase_add_test(tc, a_cycle_is_refused);
	tcase_add_test(tc, a_cycle_of_three_is_refused);
	tcase_add_loop_test(tc, any_turns, 0, cases(120));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
