/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the alternative ports beside the tables of each engine (routing/choices.h).  Code that knows no order
 * follows every packet through all ports that it may take, and searches the channels of all links for cycles.
 */
#include <check.h>

#include "grids.h"
#include "routing/choices.h"
#include "unit/run.h"

enum { PORTS = 64, LANES = 8 };

/* The packet that is followed: in a layer, to a port with LID lid, whose switch is `home`. */
struct walker {
	const struct topo *t;
	const struct lfts *l;
	const struct route_layers *y;
	const struct route_choices *x;
	uint32_t end, home;
	uint16_t lid;
	unsigned layer;
	uint16_t *dist;		/* [switch]: hops to home */
	uint16_t *by_tables;	/* [switch]: the same by the tables */
	bool *met;		/* [port that the packet has come by, and is of the switch before] */
	bool (*on)[PORTS * LANES];	/* [LANES * port index + link]: those that wait: port number of the next switch */
	uint8_t *state;
};

static uint32_t port0_of(const struct fabric *f, uint32_t sw)
{
	return f->nodes[f->switches[sw].node].port0;
}

static uint32_t behind(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;
}

static unsigned link_of(const struct walker *w, uint32_t port)
{
	const struct fabric *f = w->t->f;

	if (!w->y || !w->y->link)
		return w->y ? w->layer : 0;
	return route_vl_set_on(route_link(w->y, port_node(f, port)->sw, f->ports[port].num), ROUTE_LINK_FIRST, w->layer);
}

static const struct port_set *choice(const struct walker *w, uint32_t sw)
{
	return &w->x->sets.v[w->x->set[(size_t)sw * w->x->n_switches + w->home]];
}

static unsigned size(const struct port_set *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 256; i++)
		n += port_set_has(s, i);
	return n;
}

/* Hops by the tables, which arrive. */
static unsigned hops(const struct walker *w, uint32_t sw)
{
	unsigned n = 0;

	for (; sw != w->home; n++) {
		ck_assert_uint_lt(n, w->t->f->n_switches);
		sw = behind(w->t->f, port0_of(w->t->f, sw) + lft_get(w->l, sw, w->lid));
	}
	return n;
}

/* The packet is at a switch, sent on `held` by the one before (or FABRIC_NONE), with `left` hops to go. */
static void follow(struct walker *w, uint32_t sw, uint32_t held, unsigned left)
{
	const struct fabric *f = w->t->f;
	const struct port_set *s = choice(w, sw);
	unsigned fixed = lft_get(w->l, sw, w->lid);

	if (sw == w->home)
		return;
	ck_assert_uint_gt(left, 0);
	ck_assert(!size(s) || (size(s) > 1 && port_set_has(s, fixed)));
	for (unsigned num = 1; num < PORTS; num++) {
		uint32_t out = port0_of(f, sw) + num;

		if (size(s) ? !port_set_has(s, num) : num != fixed)
			continue;
		ck_assert_uint_ne(behind(f, out), FABRIC_NONE);
		if (held != FABRIC_NONE)
			w->on[LANES * held + link_of(w, held)][LANES * num + link_of(w, out)] = true;
		if (w->met[out])
			continue;
		w->met[out] = true;
		follow(w, behind(f, out), out, left - 1);
	}
}

static bool comes_back(struct walker *w, uint32_t channel)
{
	const struct fabric *f = w->t->f;
	uint32_t port0 = port_node(f, f->ports[channel / LANES].peer)->port0;

	if (w->state[channel])
		return w->state[channel] == 1;
	w->state[channel] = 1;
	for (unsigned i = 0; i < PORTS * LANES; i++)
		if (w->on[channel][i] && comes_back(w, LANES * port0 + i))
			return true;
	w->state[channel] = 2;
	return false;
}

static bool has_cycle(struct walker *w)
{
	for (uint32_t i = 0; i < LANES * w->t->f->n_ports; i++)
		if (w->t->f->ports[i / LANES].peer != FABRIC_NONE && comes_back(w, i))
			return true;
	return false;
}

static bool has_hosts(const struct fabric *f, uint32_t sw)
{
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (port_is_end(f, p) && !node_is_switch(port_node(f, p)) && fabric_switch_of(f, p) == sw)
			return true;
	return false;
}

/* Follows all choices from all switches with hosts to all hosts. */
static void check_choices(const struct topo *t, const struct lfts *l, const struct route_layers *y,
			  const struct route_choices *x)
{
	const struct fabric *f = t->f;
	struct walker w = { .t = t, .l = l, .y = y, .x = x };

	w.on = xcalloc((size_t)LANES * f->n_ports, sizeof(*w.on));
	w.state = xcalloc((size_t)LANES * f->n_ports, 1);
	w.met = xcalloc(f->n_ports, sizeof(*w.met));
	for (uint32_t p = 0; p < f->n_ports; p++) {
		if (!t->lid[p] || node_is_switch(port_node(f, p)))
			continue;
		w.home = fabric_switch_of(f, p);
		for (unsigned k = 0; k < 1u << t->lmc[p]; k++) {
			w.lid = (uint16_t)(t->lid[p] + k);
			for (uint32_t sw = 0; sw < f->n_switches; sw++) {
				if (sw == w.home || !has_hosts(f, sw))
					continue;
				w.layer = y ? route_layer(y, sw, w.home) : 0;
				memset(w.met, 0, f->n_ports * sizeof(*w.met));
				follow(&w, sw, FABRIC_NONE, hops(&w, sw));
			}
		}
	}
	ck_assert(!has_cycle(&w));
	free(w.on);
	free(w.state);
	free(w.met);
}

/* Mean number of ports, times 1,000. */
static uint64_t mean(const struct route_choices *x)
{
	ck_assert_uint_gt(x->places, 0);
	return x->ports * 1000 / x->places;
}

/* Routes t by an engine, and returns the choices' mean; 0: the tables have a credit loop. */
static uint64_t choose(struct topo *t, const struct route_engine *e)
{
	struct lfts *l = lfts_new(t->f->n_switches, t->r.lid_top);
	struct route_layers *y = NULL;
	struct route_choices *x;
	struct buf why = { 0 };
	uint64_t n = 0;

	ck_assert_msg(e->run(&t->r, l, &y, &why), "%s", why.s);
	t->r.layers = y;
	x = route_choices_new(&t->r, l, NULL);
	if (x) {
		check_choices(t, l, y, x);
		n = mean(x);
	}
	route_choices_free(x);
	route_layers_free(y);
	lfts_free(l);
	buf_free(&why);
	return n;
}

/*
 * Two pods of two leaves, with two aggregation switches and four spines.  Up to another pod each of two
 * choices has two more, and the way down is one.
 */
/* promise: F18 */
START_TEST(all_ways_up_a_tree)
{
	struct fat p = { .pods = 2, .leaves = 2, .hosts = 2, .aggs = 2, .width = 1, .spines = 2 };
	struct topo t;

	fat_topo(&t, &p, (unsigned)_i);
	/*
	 * Ports to each of four leaves: 2 from the other leaf of its pod, 1 from each of the 2 switches
	 * above it; 2 from each of the two leaves of the other pod, 2 from each of the 2 above these, 1 from
	 * each of the 4 spines.
	 */
	ck_assert_uint_eq(choose(&t, &route_updn), (3 * 2 + 2 * 1 + 2 * 2 + 4 * 1) * 1000 / (3 + 2 + 2 + 4));
	fat_free(&p);
	topo_free(&t);
}
END_TEST

/* Each cable of a trunk is a port, and a spine has four cables down to a leaf. */
START_TEST(parallel_cables_are_choices)
{
	struct fat p = { .pods = 1, .leaves = 3, .hosts = 2, .aggs = 2, .width = 4 };
	struct topo t;

	fat_topo(&t, &p, 0);
	ck_assert_uint_eq(choose(&t, &route_updn), (2 * 8 + 2 * 4) * 1000 / (2 + 2));
	fat_free(&p);
	topo_free(&t);
}
END_TEST

static const struct {
	const char *plan;
	uint64_t least;		/* of the mean */
} grids[] = {
	{ "8p8p", 1350 }, { "5r5r", 1250 }, { "6r4r", 1400 }, { "6c6c", 1300 }, { "4r4r4r", 1900 },
};

/* promise: F18 */
START_TEST(on_grids)
{
	struct grid_plan p = grid_plan_of(grids[_i].plan);
	struct made_grid m;

	p.seed = 7;
	make_grid(&m, &p);
	m.t.r.most_layers = 1;
	m.t.r.most_shared = 8;
	ck_assert_uint_ge(choose(&m.t, &route_grid), grids[_i].least);
	made_grid_free(&m);
}
END_TEST

/* promise: F18 */
START_TEST(in_layers)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	t.r.most_layers = 1 + (unsigned)_i % LANES;
	ck_assert_uint_ge(choose(&t, &route_layered), 1000);
	topo_free(&t);
}
END_TEST

/* promise: F18 */
START_TEST(by_an_order)
{
	struct topo t;

	random_topo(&t, (uint64_t)_i);
	ck_assert_uint_ge(choose(&t, &route_updn), 1000);
	topo_free(&t);
}
END_TEST

/* promise: F18 */
START_TEST(none_beside_a_credit_loop)
{
	static const unsigned d[3] = { 5, 5, 1 };
	struct topo t;

	torus_topo(&t, d);
	ck_assert_uint_eq(choose(&t, &route_minhop), 0);
	topo_free(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("choices");
	TCase *t = tcase_create("choices");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, all_ways_up_a_tree, 0, 2);
	tcase_add_test(t, parallel_cables_are_choices);
	tcase_add_loop_test(t, on_grids, 0, ARRAY_SIZE(grids));
	tcase_add_loop_test(t, in_layers, 1, 1 + cases(40));
	tcase_add_loop_test(t, by_an_order, 1, 1 + cases(40));
	tcase_add_test(t, none_beside_a_credit_loop);
	suite_add_tcase(s, t);
	return run_suite(s);
}
