/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the engine "grid", intact, and with faults near to the intact tables.  Code that knows nothing of
 * dimensions follows its tables from every switch to every LID and searches the channels of all links for
 * cycles.
 */
#include <check.h>

#include "grids.h"
#include "routing/updn/order.h"
#include "unit/run.h"
#include "waits.h"

/* Multicast turns from any tree link into any other, in layer 0.  Returns the number of roots. */
static unsigned grow_tree(struct waits *w)
{
	const struct fabric *f = w->t->f;
	const uint32_t *tree = w->y->tree;
	unsigned roots = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint32_t port0 = f->nodes[f->switches[sw].node].port0, nports = f->nodes[f->switches[sw].node].nports;

		roots += tree[sw] == FABRIC_NONE;
		for (uint32_t in = port0 + 1; in <= port0 + nports; in++)
			for (uint32_t out = port0 + 1; out <= port0 + nports; out++) {
				uint32_t a = switch_behind(f, in), b = switch_behind(f, out);

				if (a == FABRIC_NONE || b == FABRIC_NONE || a == b || f->ports[in].held ||
				    f->ports[out].held)
					continue;
				if ((tree[sw] == a || tree[a] == sw) && (tree[sw] == b || tree[b] == sw))
					wait_for(w, 0, FABRIC_NONE, f->ports[in].peer, out);
			}
	}
	return roots;
}

/* Checks all routes; away: switches that nothing leads to or from. */
static void check_routes(const struct topo *t, const struct lfts *l, const struct route_layers *y, const bool *away)
{
	struct waits w;
	unsigned n_away = 0;

	waits_init(&w, t, y);
	walk_all(&w, l, away);
	for (uint32_t sw = 0; sw < t->f->n_switches; sw++)
		n_away += away[sw];
	ck_assert_uint_eq(grow_tree(&w), 1 + n_away);
	expect_no_cycle(&w, l);
}

static struct route_layers *run(const struct route_request *r, struct lfts **l)
{
	struct route_layers *y = NULL;
	struct buf why = { 0 };

	*l = lfts_new(r->f->n_switches, r->lid_top);
	if (!route_grid.run(r, *l, &y, &why)) {
		lfts_free(*l);
		*l = NULL;
	}
	buf_free(&why);
	return y;
}

static const struct plan_row {
	const char *plan;
	unsigned layers, vl_sets;
	bool rings;		/* all dimensions are, with VL sets of their own */
} plans[] = {
	{ "5r5r", 4, 2, true }, { "6r5r", 4, 2, true }, { "6r6r5r", 8, 2, true }, { "7r", 2, 2, true },
	{ "6r4r", 4, 2, true }, { "6r6p", 2, 2, false }, { "8p8p", 1, 1, false }, { "6c6c", 1, 1, false },
	{ "4r4r", 1, 1, false }, { "5p4p3p", 1, 1, false }, { "4c4c3c", 1, 1, false },
	{ "2c2c2c2c2c", 1, 1, false },
};

static void make(struct made_grid *m, const struct plan_row *row, uint64_t seed)
{
	struct grid_plan p = grid_plan_of(row->plan);

	p.seed = seed;
	p.cables = seed % 2 + 1;
	make_grid(m, &p);
	m->t.r.most_layers = 1;
	m->t.r.most_shared = 8;
}

/* promise: F17 */
START_TEST(intact)
{
	const struct plan_row *row = &plans[_i];
	struct made_grid m;
	bool away[512] = { false };
	struct lfts *l;

	make(&m, row, 1 + (uint64_t)_i);
	struct route_layers *y = run(&m.t.r, &l);

	ck_assert_ptr_nonnull(y);
	ck_assert_uint_eq(y->n, row->layers);
	ck_assert_uint_eq(y->n_vl_sets, row->vl_sets);
	check_routes(&m.t, l, y, away);
	route_layers_free(y);
	lfts_free(l);
	made_grid_free(&m);
}
END_TEST

/* Holds all cables between a random pair of neighbouring switches. */
static void hold_link(struct fabric *f, uint64_t seed)
{
	for (unsigned k = 0;; k++) {
		uint32_t port = (uint32_t)(hash64(seed * 1009 + k) % f->n_ports);
		uint32_t to = switch_behind(f, port), port0;

		if (!node_is_switch(port_node(f, port)) || to == FABRIC_NONE)
			continue;
		port0 = port_node(f, port)->port0;
		for (uint32_t p = port0; p <= port0 + port_node(f, port)->nports; p++)
			if (switch_behind(f, p) == to)
				hold(f, p);
		return;
	}
}

static unsigned moved_layers(const struct fabric *f, const struct route_layers *x, const struct route_layers *y)
{
	unsigned n = 0;

	for (uint32_t a = 0; a < f->n_switches; a++)
		for (uint32_t b = 0; b < a; b++)
			n += route_layer(x, a, b) != route_layer(y, a, b);
	return n;
}

/* A fabric, its routes, and those near to them with faults. */
struct faulty {
	struct made_grid m;
	struct lfts *l, *near;
	struct route_layers *y, *near_y;
};

static void faulty_make(struct faulty *x, const struct plan_row *row, uint64_t seed)
{
	make(&x->m, row, seed);
	x->y = run(&x->m.t.r, &x->l);
	ck_assert_ptr_nonnull(x->y);
}

/* Routes the fabric without the links that are held by now. */
static void faulty_route(struct faulty *x)
{
	struct route_request r = x->m.t.r;

	r.near = x->l;
	r.near_layers = x->y;
	x->near_y = run(&r, &x->near);
}

static void faulty_free(struct faulty *x)
{
	route_layers_free(x->near_y);
	route_layers_free(x->y);
	lfts_free(x->near);
	lfts_free(x->l);
	made_grid_free(&x->m);
}

/* There are ways round any link, on the same VL sets; in a ring, without another layer for any pair. */
/* promise: F17 */
START_TEST(without_a_link)
{
	const struct plan_row *row = &plans[_i];
	bool away[512] = { false };

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct faulty x;

		faulty_make(&x, row, seed);
		hold_link(x.m.t.f, seed);
		faulty_route(&x);
		ck_assert_ptr_nonnull(x.near_y);
		ck_assert_uint_eq(x.near_y->n, row->layers);
		ck_assert_uint_eq(x.near_y->n_vl_sets, row->vl_sets);
		check_routes(&x.m.t, x.near, x.near_y, away);
		if (row->rings)
			ck_assert_uint_eq(moved_layers(x.m.t.f, x.y, x.near_y), 0);
		faulty_free(&x);
	}
}
END_TEST

/* Holds all cables of a switch to others.  Returns how many there were. */
static unsigned hold_switch(struct fabric *f, uint32_t sw)
{
	const struct fabric_node *node = &f->nodes[f->switches[sw].node];
	unsigned n = 0;

	for (uint32_t p = node->port0 + 1; p <= node->port0 + node->nports; p++)
		if (switch_behind(f, p) != FABRIC_NONE) {
			hold(f, p);
			n++;
		}
	return n;
}

/* The lines of a mesh in which a switch has neighbours on both sides, by its links. */
static unsigned lines_through(const struct grid_plan *p, unsigned links)
{
	return links - p->n_dims;
}

/*
 * There are ways round any switch, on the same VL sets, but for one in a mesh through which two lines lead; see
 * turn_model.h.
 */
/* promise: F17 */
START_TEST(without_a_switch)
{
	const struct plan_row *row = &plans[_i];
	struct grid_plan plan = grid_plan_of(row->plan);
	bool mesh = plan.kind[0] == 'p';

	for (uint64_t seed = 1; seed <= 12; seed++) {
		bool away[512] = { false };
		struct faulty x;

		faulty_make(&x, row, seed);
		struct fabric *f = x.m.t.f;
		uint32_t sw = (uint32_t)(hash64(seed) % f->n_switches);

		if (sw == fabric_switch_of(f, f->self))
			sw = (sw + 1) % f->n_switches;
		unsigned links = hold_switch(f, sw) / (seed % 2 + 1);

		away[sw] = true;
		faulty_route(&x);
		ck_assert(x.near_y || (mesh && lines_through(&plan, links) > 1));
		if (x.near_y) {
			ck_assert_uint_eq(x.near_y->n_vl_sets, row->vl_sets);
			check_routes(&x.m.t, x.near, x.near_y, away);
		}
		faulty_free(&x);
	}
}
END_TEST

/* promise: F17 */
START_TEST(no_room)
{
	struct made_grid m;
	struct lfts *l;

	make(&m, &plans[0], 1);
	m.t.r.most_shared = 3;
	ck_assert_ptr_null(run(&m.t.r, &l));
	m.t.r.most_shared = 4;
	struct route_layers *y = run(&m.t.r, &l);

	ck_assert_ptr_nonnull(y);
	route_layers_free(y);
	lfts_free(l);
	made_grid_free(&m);
}
END_TEST

/* The last switch is gone and all others have other numbers. */
START_TEST(keeps_places)
{
	struct made_grid m;
	struct lfts *l;
	uint32_t to[512];

	make(&m, &plans[1], 3);
	struct route_layers *y = run(&m.t.r, &l);
	uint32_t n = y->n_switches - 1;

	for (uint32_t sw = 0; sw < n; sw++)
		to[sw] = n - 1 - sw;
	to[n] = FABRIC_NONE;
	struct route_layers *on = route_layers_on(y, n, to);

	for (uint32_t place = 0; place < y->grid->n_places; place++)
		ck_assert_uint_eq(on->grid->vertex[place], to[y->grid->vertex[place]]);
	for (uint32_t sw = 0; sw < n; sw++)
		for (unsigned d = 0; d < y->grid->n_dims; d++)
			ck_assert_uint_eq(grid_at(on->grid, to[sw], d), grid_at(y->grid, sw, d));
	route_layers_free(on);
	route_layers_free(y);
	lfts_free(l);
	made_grid_free(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("grid routes");
	TCase *tc = tcase_create("all");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, intact, 0, (int)ARRAY_SIZE(plans));
	tcase_add_loop_test(tc, without_a_link, 0, (int)ARRAY_SIZE(plans));
	tcase_add_loop_test(tc, without_a_switch, 0, (int)ARRAY_SIZE(plans));
	tcase_add_test(tc, no_room);
	tcase_add_test(tc, keeps_places);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
