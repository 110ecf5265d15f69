/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the reported shape of fabrics: trees, damaged trees, and other shapes. */
#include <check.h>

#include "fabric/edit.h"
#include "routing/shape.h"
#include "routing/updn/order.h"
#include "topo.h"
#include "unit/run.h"

static struct route_shape shape;
static struct buf text;

static void look_at(const struct fabric *f)
{
	struct updn_order *o = updn_order_new(f);

	route_shape(o, &shape);
	text.n = 0;
	route_shape_text(&shape, f, &text);
	updn_order_free(o);
}

static void says(const char *what)
{
	ck_assert_msg(strstr(text.s, what) != NULL, "no '%s' in: %s", what, text.s);
}

static void is(const char *what)
{
	ck_assert_str_eq(text.s, what);
}

static void unlink_ports(struct fabric *f, uint32_t port)
{
	fabric_cut(f, f->ports[port].peer);
	fabric_cut(f, port);
}

static uint32_t port_of(const struct fabric *f, uint32_t node, unsigned num)
{
	return f->nodes[node].port0 + num;
}

static const struct fat two = { .pods = 1, .leaves = 8, .hosts = 4, .aggs = 4, .width = 1 };
static const struct fat three = { .pods = 4, .leaves = 4, .hosts = 3, .aggs = 4, .width = 1,
				  .spines = 4 };

/* promise: B6 */
START_TEST(trees)
{
	struct fat p = _i % 2 ? three : two;
	struct topo t;

	p.aggregation = _i & 2;
	p.scatter = (uint64_t)_i;
	if (_i & 4)
		p.width = 2;
	fat_topo(&t, &p, 0);
	look_at(t.f);
	ck_assert_int_eq(shape.kind, SHAPE_TREE);
	ck_assert(!route_shape_is_damaged(&shape));
	is(_i % 2 ? "a tree of 3 ranks" : "a tree of 2 ranks");
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* One switch, two with and without parallel links, a star of three: shapes that are beyond doubt. */
/* promise: B6 */
START_TEST(small_ones)
{
	struct fabric *f = topo_begin();
	uint32_t sw = topo_switch(f, 1, 8);
	struct topo t;

	topo_host(f, sw, 1);
	for (int i = 0; i < _i; i++) {
		uint32_t other = topo_switch(f, 2 + (unsigned)i, 8);

		topo_host(f, other, 1);
		fabric_link(f, sw, 2 + 2 * (unsigned)i, other, 2);
		fabric_link(f, sw, 3 + 2 * (unsigned)i, other, 3);
	}
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_int_eq(shape.kind, SHAPE_TREE);
	says(_i ? "a tree" : "a single switch");
	topo_free(&t);
	f = fabric_new();
	sw = topo_node(f, IB_NODE_CA_T, 1, 1);
	fabric_link(f, sw, 1, topo_node(f, IB_NODE_CA_T, 5, 1), 1);
	topo_finish(&t, f, 0);
	look_at(f);
	is("no switches");
	topo_free(&t);
}
END_TEST

/* All pairs still have shortest paths up and down: it is a tree, and the missing links are reported. */
/* promise: B6 */
START_TEST(a_tree_without_a_link)
{
	struct fat p = three;
	struct fabric *f = fat_build(&p);
	struct topo t;

	fat_hosts(&p, f);
	unlink_ports(f, port_of(f, p.spine[5], 2));
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_int_eq(shape.kind, SHAPE_TREE);
	ck_assert(route_shape_is_damaged(&shape));
	is("a tree of 3 ranks; 1 of 16 switches of rank 1 has fewer than 4 links up, S-20005 (0x0000000000020005) has 3");
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Two leaves have no spine in common any more. */
/* promise: B6 */
START_TEST(a_tree_in_pieces)
{
	struct fat p = two;
	struct fabric *f = fat_build(&p);
	struct topo t;

	fat_hosts(&p, f);
	for (unsigned i = 0; i < 4; i++)
		unlink_ports(f, port_of(f, p.leaf[i / 2], 5 + i));
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_int_eq(shape.kind, SHAPE_RANKS);
	ck_assert(route_shape_is_damaged(&shape));
	ck_assert_uint_eq(shape.pairs, 56);
	is("no tree: 2 of 8 switches of rank 0 have fewer than 4 links up, for example S-10000 (0x0000000000010000) has 2; "
	   "2 of 56 pairs of switches with hosts have no path up and then down, for example "
	   "S-10001 (0x0000000000010001) to S-10000 (0x0000000000010000)");
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* One spine with a host has paths down to all; two have none to each other. */
/* promise: B6 */
START_TEST(hosts_on_spines)
{
	struct fat p = { .pods = 1, .leaves = 8, .hosts = 16, .aggs = 4, .width = 1,
			 .aggregation = true };
	struct fabric *f = fat_build(&p);
	struct topo t;

	for (unsigned i = 0; i < p.leaves; i++)
		for (unsigned j = 0; j < p.hosts; j++)
			topo_host(f, p.leaf[i], 1 + j);
	for (int i = 0; i < _i; i++)
		topo_host(f, p.agg[i], 9);
	topo_finish(&t, f, 0);
	look_at(f);
	if (_i < 2) {
		is("a tree of 2 ranks");
	} else {
		ck_assert_int_ne(shape.kind, SHAPE_TREE);
		ck_assert(!route_shape_is_damaged(&shape));
		ck_assert_uint_eq(shape.hosts_above, _i);
		says(_i == 2 ? "no tree: 2 of 4 switches above the leaves have hosts, for example S-2000" :
		     "no tree: 3 of 4 switches");
	}
	topo_free(&t);
	fat_free(&p);
}
END_TEST

/* Spines in a ring, with two leaves each. */
/* promise: B6 */
START_TEST(links_of_one_rank)
{
	struct fabric *f = topo_begin();
	uint32_t spine[7];
	struct topo t;

	for (unsigned i = 0; i < 7; i++) {
		spine[i] = topo_switch(f, 0x11 + i, 8);
		for (unsigned k = 0; k < 2; k++) {
			uint32_t leaf = topo_switch(f, 0x21 + 2 * i + k, 4);

			fabric_link(f, leaf, 4, spine[i], 1 + k);
			topo_host(f, leaf, 1);
			topo_host(f, leaf, 2);
		}
	}
	for (unsigned i = 0; i < 7; i++)
		fabric_link(f, spine[i], 3, spine[(i + 1) % 7], 4);
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_int_eq(shape.kind, SHAPE_RANKS);
	ck_assert(!route_shape_is_damaged(&shape));
	says("7 of 21 links are within a rank, for example S-");
	topo_free(&t);
}
END_TEST

/* Paths up to the middle and down are shortest paths, but the fabric is no tree. */
/* promise: B6 */
START_TEST(meshes)
{
	static const char *const grid[] = {
		"a mesh 4x4; no tree: ", "a mesh 5x5; no tree: ", "a mesh 6x6; no tree: ",
	};
	unsigned n = 4 + (unsigned)_i;
	struct fabric *f = topo_begin();
	uint32_t sw[36];
	struct topo t;

	for (unsigned i = 0; i < n * n; i++)
		sw[i] = topo_switch(f, 1 + i, 8);
	for (unsigned i = 0; i < n * n; i++) {
		if (i % n)
			fabric_link(f, sw[i], 1, sw[i - 1], 2);
		if (i / n)
			fabric_link(f, sw[i], 3, sw[i - n], 4);
		topo_host(f, sw[i], 5);
	}
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_int_ne(shape.kind, SHAPE_TREE);
	ck_assert(!route_shape_is_damaged(&shape));
	says(grid[_i]);
	topo_free(&t);
}
END_TEST

/* promise: B6 */
START_TEST(tori)
{
	static const unsigned dims[][3] = { { 4, 4, 1 }, { 5, 5, 1 }, { 3, 3, 3 } };
	static const char *const grid[] = {
		"a hypercube of 4 dimensions (torus 4x4); no tree: ", "a torus 5x5; no tree: ",
		"a HyperX 3x3x3; no tree: ",
	};
	struct topo t;

	torus_topo(&t, dims[_i]);
	look_at(t.f);
	ck_assert_int_eq(shape.kind, SHAPE_OTHER);
	ck_assert(!route_shape_is_damaged(&shape));
	ck_assert_uint_eq(shape.pathless, 0);
	says(grid[_i]);
	says("no tree: there are no ranks because all switches have hosts; up leads to S-");
	if (_i == 1)	/* paths around the others need not be longer */
		says(" pairs of switches with hosts have only longer paths up and then down than the shortest, for example S-");
	topo_free(&t);
}
END_TEST

/* promise: B6 */
START_TEST(a_torus_without_a_link)
{
	static const unsigned dims[3] = { 5, 5, 1 };
	struct topo t;

	torus_topo(&t, dims);
	unlink_ports(t.f, port_of(t.f, t.f->switches[7].node, 3));
	look_at(t.f);
	says("a torus 5x5, 1 link missing; no tree: ");
	topo_free(&t);
}
END_TEST

/* For any fabric, the report must agree with a search of paths by the order, and have names. */
/* promise: B6 */
START_TEST(irregular)
{
	struct topo t;
	struct updn_order *o;

	random_topo(&t, (uint64_t)_i);
	look_at(t.f);
	o = updn_order_new(t.f);
	if (o->tree)
		ck_assert_int_eq(shape.kind, SHAPE_TREE);
	says(shape.kind == SHAPE_TREE ? "a tree" : "no tree: ");
	if (shape.kind != SHAPE_TREE)
		ck_assert(o->shortest == !(shape.pathless + shape.longer));
	ck_assert_ptr_null(strstr(text.s, "(null)"));
	updn_order_free(o);
	topo_free(&t);
}
END_TEST

/*
 * A chassis with line boards of two leaf chips and, in its middle, boards of spine chips, connects leaves
 * outside.  Hosts are on leaves inside and outside, at different distances from the middle.
 */
/* promise: B6 */
START_TEST(chassis)
{
	struct fabric *f = topo_begin();
	uint32_t spine[4], line[6], outer[6];
	struct topo t;

	for (unsigned i = 0; i < 4; i++)
		spine[i] = topo_switch(f, 0x100 + i, 12);
	for (unsigned i = 0; i < 6; i++) {
		line[i] = topo_switch(f, 0x200 + i, 16);
		for (unsigned k = 0; k < 4; k++)
			fabric_link(f, line[i], 1 + k, spine[k], 1 + i);
	}
	for (unsigned i = 0; i < 6; i++) {
		outer[i] = topo_switch(f, 0x300 + i, 16);
		fabric_link(f, outer[i], 1, line[i], 5);
		for (unsigned k = 0; k < 8; k++)
			topo_host(f, outer[i], 2 + k);
		topo_host(f, line[i], 6);
	}
	topo_finish(&t, f, 0);
	look_at(f);
	ck_assert_msg(shape.kind == SHAPE_TREE, "%s", text.s);
	is("a tree of 3 ranks");
	topo_free(&t);
}
END_TEST

/* promise: B6 */
START_TEST(recorded_fabrics)
{
	struct topo t;

	if (!recorded_topo(&t, _i))
		return;
	look_at(t.f);
	ck_assert_msg(shape.kind == SHAPE_TREE, "%s", text.s);
	says("a tree");
	topo_free(&t);
}
END_TEST

/* The order of a whole tree, applied to a damaged one: the missing parts are reported. */
/* promise: B6 */
START_TEST(taken_over)
{
	struct fat p = three;
	struct topo t;
	struct fabric *left;
	struct route_shape now;
	uint32_t *same;

	fat_topo(&t, &p, 0);
	struct updn_order *o = updn_order_new(t.f), *on;

	route_shape(o, &shape);
	left = fabric_clone(t.f);
	unlink_ports(left, port_of(left, p.leaf[3], 4));
	unlink_ports(left, port_of(left, p.leaf[3], 5));
	unlink_ports(left, port_of(left, p.leaf[9], 4));
	same = xcalloc(left->n_switches, sizeof(*same));
	for (uint32_t sw = 0; sw < left->n_switches; sw++)
		same[sw] = sw;
	on = updn_order_on(o, left, same);
	route_shape_on(on, &shape, NULL, &now);
	route_shape_text(&now, left, &text);
	is("a tree of 3 ranks; 2 of 16 switches of rank 0 have fewer than 4 links up, for example "
	   "S-10003 (0x0000000000010003) has 2");
	ck_assert(route_shape_is_damaged(&now));
	updn_order_free(on);
	updn_order_free(o);
	free(same);
	fabric_free(left);
	topo_free(&t);
	fat_free(&p);
}
END_TEST

static void setup(void)
{
	text = (struct buf){ 0 };
}

static void teardown(void)
{
	buf_free(&text);
}

int main(void)
{
	Suite *s = suite_create("shape");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, trees, 0, 8);
	tcase_add_loop_test(tc, small_ones, 0, 3);
	tcase_add_test(tc, a_tree_without_a_link);
	tcase_add_test(tc, a_tree_in_pieces);
	tcase_add_loop_test(tc, hosts_on_spines, 0, 4);
	tcase_add_test(tc, links_of_one_rank);
	tcase_add_loop_test(tc, tori, 0, 3);
	tcase_add_loop_test(tc, meshes, 0, 3);
	tcase_add_test(tc, a_torus_without_a_link);
	tcase_add_loop_test(tc, irregular, 0, cases(60));
	tcase_add_test(tc, chassis);
	tcase_add_loop_test(tc, recorded_fabrics, 0, RECORDED);
	tcase_add_test(tc, taken_over);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
