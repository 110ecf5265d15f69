/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the places of switches for drawings (routing/places.h). */
#include <check.h>
#include <limits.h>

#include "dragonflies.h"
#include "grids.h"
#include "routing/places.h"
#include "routing/updn/order.h"
#include "topo.h"
#include "unit/run.h"

static struct route_places places_of(const struct fabric *f)
{
	struct updn_order *o = updn_order_new(f);
	struct route_places p;

	route_places(f, o, &p);
	updn_order_free(o);
	return p;
}

/* A tree has ranks: as many switches of each as it was made of, and each link joins two neighbours. */
/* promise: W1 */
START_TEST(tree)
{
	struct fat three = { .pods = 4, .leaves = 4, .hosts = 3, .aggs = 4, .width = 1, .spines = 4 };
	unsigned n[3] = { 0 };
	struct topo t;

	fat_topo(&t, &three, 0);
	struct route_places p = places_of(t.f);

	ck_assert_int_eq(p.kind, PLACES_RANKS);
	ck_assert_uint_eq(p.n_dims, 1);
	ck_assert_uint_eq(p.length[0], 3);
	for (uint32_t sw = 0; sw < t.f->n_switches; sw++) {
		ck_assert_uint_lt(p.at[sw], 3);
		n[p.at[sw]]++;
	}
	ck_assert_uint_eq(n[0], 16);
	ck_assert_uint_eq(n[1], 16);
	ck_assert_uint_eq(n[2], t.f->n_switches - 32);
	route_places_free(&p);
	topo_free(&t);
	fat_free(&three);
}
END_TEST

static void neighbours_differ_in_one_place(const struct fabric *f, const struct route_places *p)
{
	for (uint32_t port = 0; port < f->n_ports; port++) {
		unsigned differ = 0;

		if (!link_joins_switches(f, port))
			continue;
		for (unsigned d = 0; d < p->n_dims; d++)
			differ += p->at[port_node(f, port)->sw * p->n_dims + d] !=
				  p->at[port_node(f, f->ports[port].peer)->sw * p->n_dims + d];
		ck_assert_uint_eq(differ, 1);
	}
}

/* promise: W1 */
START_TEST(torus)
{
	static const unsigned lengths[] = { 5, 6, 1 };
	struct topo t;

	torus_topo(&t, lengths);
	struct route_places p = places_of(t.f);

	ck_assert_int_eq(p.kind, PLACES_GRID);
	ck_assert_uint_eq(p.n_dims, 2);
	ck_assert_uint_eq(p.length[0] * p.length[1], 5 * 6);
	ck_assert(p.ring[0] && p.ring[1]);
	neighbours_differ_in_one_place(t.f, &p);
	route_places_free(&p);
	topo_free(&t);
}
END_TEST

/* promise: W1 */
START_TEST(dragonfly)
{
	static const struct dragonfly_plan nine = { 9, 4, 2, "" };
	struct made_dragonfly m;

	make_dragonfly(&m, &nine, 1, UINT_MAX, UINT_MAX);
	struct route_places p = places_of(m.g->f);

	ck_assert_int_eq(p.kind, PLACES_DRAGONFLY);
	ck_assert_uint_eq(p.length[0], 9);
	ck_assert_uint_eq(p.length[1], 4);
	for (uint32_t sw = 0; sw < 36; sw++) {
		ck_assert_uint_lt(p.at[2 * sw], 9);
		ck_assert_uint_lt(p.at[2 * sw + 1], 4);
	}
	route_places_free(&p);
	made_dragonfly_free(&m);
}
END_TEST

/* promise: W1 */
START_TEST(unknown)
{
	struct topo t;

	torus_topo(&t, (const unsigned[]){ 4, 4, 1 });
	struct route_places p;

	route_places(t.f, NULL, &p);
	ck_assert_int_eq(p.kind, PLACES_RANKS);
	for (uint32_t sw = 0; sw < t.f->n_switches; sw++)
		ck_assert_uint_eq(p.at[sw], PLACES_NOWHERE);
	route_places_free(&p);
	topo_free(&t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("places");
	TCase *tc = tcase_create("places");

	tcase_add_test(tc, tree);
	tcase_add_test(tc, torus);
	tcase_add_test(tc, dragonfly);
	tcase_add_test(tc, unknown);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
