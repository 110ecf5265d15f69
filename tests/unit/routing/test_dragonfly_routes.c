/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the engine "dragonfly", intact, with faults, and with more faults near to former tables.  Code that
 * knows nothing of groups follows its tables from every switch to every LID and searches the channels of all
 * links for cycles.
 */
#include <check.h>
#include <limits.h>

#include "dragonflies.h"
#include "routing/deps.h"
#include "routing/layers.h"
#include "routing/updn/turns.h"
#include "unit/run.h"
#include "waits.h"

struct multicast {
	struct waits *w;
	const struct channels *c;
};

static uint32_t port_of(const struct channels *c, uint32_t trunk)
{
	uint32_t sw = c->g->sw[c->from[trunk]];

	return c->g->f->nodes[c->g->f->switches[sw].node].port0 + c->g->links[c->g->trunks[trunk].link0];
}

static void wait_for_turn(void *arg, struct dep turn)
{
	const struct multicast *m = arg;

	wait_for(m->w, 0, FABRIC_NONE, port_of(m->c, turn.in), port_of(m->c, turn.out));
}

/* Adds multicast, which goes in layer 0 by legal turns. */
static void add_multicast(struct waits *w)
{
	struct updn_order *o = updn_order_new(w->t->f);
	struct channels *c = channels_new(w->t->f, o);
	struct turns *legal = turns_new(o);

	deps_each_legal(c, legal, wait_for_turn, &(struct multicast){ w, c });
	turns_free(legal);
	channels_free(c);
	updn_order_free(o);
}

static void check_routes(const struct topo *t, const struct lfts *l, const struct route_layers *y)
{
	struct waits w;

	waits_init(&w, t, y);
	walk_all(&w, l, NULL);
	add_multicast(&w);
	expect_no_cycle(&w, l);
}

static struct route_layers *run(const struct route_request *r, struct lfts **l)
{
	struct route_layers *y = NULL;
	struct buf why = { 0 };

	*l = lfts_new(r->f->n_switches, r->lid_top);
	if (!route_dragonfly.run(r, *l, &y, &why)) {
		lfts_free(*l);
		*l = NULL;
	}
	buf_free(&why);
	return y;
}

static const struct dragonfly_plan plans[] = {
	{ 9, 4, 2, NULL }, { 10, 6, 3, NULL }, { 5, 4, 2, NULL }, { 4, 6, 3, NULL }, { 3, 8, 4, NULL },
	{ 7, 8, 1, NULL },
};

static void make(struct made_dragonfly *m, int i, uint64_t seed, unsigned gone, unsigned cut)
{
	make_dragonfly(m, &plans[i], seed, gone, cut);
	m->t.r.most_layers = 1;
	m->t.r.most_shared = 2;
}

static unsigned in_layer(const struct fabric *f, const struct route_layers *y, unsigned layer)
{
	unsigned n = 0;

	for (uint32_t a = 0; a < f->n_switches; a++)
		for (uint32_t b = 0; b < a; b++)
			n += route_layer(y, a, b) == layer;
	return n;
}

/* The number of hops between switches. */
static unsigned hops(const struct topo *t, const struct lfts *l, uint32_t sw, uint32_t end)
{
	unsigned n = 0;

	for (; sw != fabric_switch_of(t->f, end); n++)
		sw = switch_behind(t->f, t->f->nodes[t->f->switches[sw].node].port0 +
					 lft_get(l, sw, t->lid[end]));
	return n;
}

/* Everybody goes by one link, one cable and one link at most, and in layer 1. */
/* promise: F20 */
START_TEST(intact)
{
	struct made_dragonfly m;
	struct lfts *l;

	make(&m, _i, 1, UINT_MAX, UINT_MAX);
	struct route_layers *y = run(&m.t.r, &l);
	uint32_t n = m.t.f->n_switches;

	ck_assert_ptr_nonnull(y);
	ck_assert_uint_eq(y->n_vl_sets, 2);
	ck_assert_uint_eq(in_layer(m.t.f, y, 1), n * (n - 1) / 2);
	for (uint32_t p = 0; p < m.t.f->n_ports; p++)
		for (uint32_t sw = 0; m.t.lid[p] && sw < n; sw++)
			ck_assert_uint_le(hops(&m.t, l, sw, p), 3);
	check_routes(&m.t, l, y);
	route_layers_free(y);
	lfts_free(l);
	made_dragonfly_free(&m);
}
END_TEST

/* A switch or a link is missing from the start: most pairs are in layer 1 still. */
/* promise: F20 */
START_TEST(one_fault)
{
	for (unsigned i = 0; i < 4; i++) {
		struct made_dragonfly m;
		struct lfts *l;
		bool of_switch = i % 2;

		make(&m, _i, i + 1, of_switch ? 3 * i : UINT_MAX, of_switch ? UINT_MAX : 7 * i);
		struct route_layers *y = run(&m.t.r, &l);

		ck_assert_ptr_nonnull(y);
		ck_assert_uint_gt(in_layer(m.t.f, y, 1), 3 * in_layer(m.t.f, y, 0));
		check_routes(&m.t, l, y);
		route_layers_free(y);
		lfts_free(l);
		made_dragonfly_free(&m);
	}
}
END_TEST

static void hold_any(struct fabric *f, uint64_t seed)
{
	for (unsigned k = 0;; k++) {
		uint32_t port = (uint32_t)(hash64(seed * 1009 + k) % f->n_ports);

		if (!node_is_switch(port_node(f, port)) || switch_behind(f, port) == FABRIC_NONE || f->ports[port].held)
			continue;
		hold(f, port);
		return;
	}
}

/* Whether the route of an entry crosses a held link. */
static bool is_cut(const struct topo *t, const struct lfts *l, uint32_t sw, uint32_t end)
{
	const struct fabric *f = t->f;

	while (sw != fabric_switch_of(f, end)) {
		uint32_t out = f->nodes[f->switches[sw].node].port0 + lft_get(l, sw, t->lid[end]);

		if (f->ports[out].held)
			return true;
		sw = switch_behind(f, out);
	}
	return false;
}

/* Most entries that differ belong to cut routes; the others are on detours, or on return paths of these. */
static void check_moved(const struct topo *t, const struct lfts *was, const struct lfts *now)
{
	unsigned cut = 0, others = 0;

	for (uint32_t p = 0; p < t->f->n_ports; p++)
		for (uint32_t sw = 0; t->lid[p] && sw < t->f->n_switches; sw++)
			if (lft_get(was, sw, t->lid[p]) != lft_get(now, sw, t->lid[p]))
				*(is_cut(t, was, sw, p) ? &cut : &others) += 1;
	ck_assert_uint_gt(cut, 0);
	ck_assert_uint_le(others, cut);
}

/* Links go one after the other; the routes stay near to those without faults. */
/* promise: F20 */
START_TEST(links_go)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct made_dragonfly m;
		struct lfts *l, *now;

		make(&m, _i, seed, UINT_MAX, UINT_MAX);
		struct route_layers *y = run(&m.t.r, &l);
		struct route_request r = m.t.r;

		r.near = l;
		r.near_layers = y;
		for (unsigned k = 0; k < 3; k++) {
			hold_any(m.t.f, 10 * seed + k);
			struct route_layers *on = run(&r, &now);

			ck_assert_ptr_nonnull(on);
			ck_assert_uint_eq(on->n, 2);
			ck_assert_uint_eq(on->n_vl_sets, 2);
			check_routes(&m.t, now, on);
			check_moved(&m.t, l, now);
			route_layers_free(on);
			lfts_free(now);
		}
		route_layers_free(y);
		lfts_free(l);
		made_dragonfly_free(&m);
	}
}
END_TEST

/* promise: F20 */
START_TEST(no_room)
{
	struct made_dragonfly m;
	struct lfts *l;

	make(&m, 0, 1, UINT_MAX, UINT_MAX);
	for (m.t.r.most_shared = 0; m.t.r.most_shared < 2; m.t.r.most_shared++)
		ck_assert_ptr_null(run(&m.t.r, &l));
	made_dragonfly_free(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dragonfly routes");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, intact, 0, (int)ARRAY_SIZE(plans));
	tcase_add_loop_test(tc, one_fault, 0, (int)ARRAY_SIZE(plans));
	tcase_add_loop_test(tc, links_go, 0, (int)ARRAY_SIZE(plans));
	tcase_add_test(tc, no_room);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
