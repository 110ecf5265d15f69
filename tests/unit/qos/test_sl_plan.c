/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests how levels and layers share SLs and VLs, and the resulting tables.  On the fabric of
 * two_switches.h.
 */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "two_switches.h"
#include "unit/run.h"

static struct sl_plan sls;
static struct route_layers made;

static void build(unsigned n_layers)
{
	two_switches();
	finish(f);
	g = groups_resolve(p, f, &findings);
	findings_free(&findings);
	made = (struct route_layers){ .n = n_layers, .n_vl_sets = n_layers };
	sl_plan_make(&sls, p, &made);
	t = qos_tables_build(p, f, g, 15, &sls, &findings);
}

static unsigned vl(uint32_t n, unsigned in, unsigned out, unsigned sl)
{
	uint16_t id = qos_sl2vl_id(t, f, n, in, out);

	ck_assert_uint_lt(id, t->n_maps);
	return t->maps[id].vl[sl];
}

/* The total weight of a VL in a table. */
static unsigned weight(const struct vlarb_entry *e, unsigned n, unsigned v)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += e[i].vl == v ? e[i].weight : 0;
	return sum;
}

static unsigned most(unsigned max_vls, const char *says)
{
	struct buf why = { 0 };
	unsigned n = sl_plan_most(p, f, max_vls, &why);

	ck_assert_msg(strstr(why.s, says), "'%s' not in '%s'", says, why.s);
	buf_free(&why);
	return n;
}

START_TEST(sls_of_layers)
{
	p->levels[0].sl = 3;
	sl_plan_make(&sls, p, &(struct route_layers){ .n = 3, .n_vl_sets = 3 });
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
		ck_assert_uint_eq(sls.sl[sl][0], sl);
	/* SL 0 counts as a level's, because programs that do not query the SA use it */
	ck_assert_uint_eq(sls.sl[0][1], 1);
	ck_assert_uint_eq(sls.sl[3][1], 2);
	ck_assert_uint_eq(sls.sl[0][2], 4);
	ck_assert_uint_eq(sls.sl[3][2], 5);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		bool derived = sl == 1 || sl == 2 || sl == 4 || sl == 5;

		ck_assert_uint_eq(sls.base[sl], derived ? sl == 2 || sl == 5 ? 3 : 0 : sl);
		ck_assert_uint_eq(sls.layer[sl], derived ? sl < 3 ? 1 : 2 : 0);
	}
	ck_assert_uint_eq(sl_plan_levels(&sls, 0), 0);
	ck_assert_uint_eq(sl_plan_levels(&sls, 1 << 1 | 1 << 4), 1 << 0);
	ck_assert_uint_eq(sl_plan_levels(&sls, 1 << 3 | 1 << 4), 1 << 0 | 1 << 3);
}
END_TEST

START_TEST(one_layer_changes_nothing)
{
	sl_plan_make(&sls, p, NULL);
	for (unsigned sl = 0; sl < IB_SL_COUNT; sl++) {
		ck_assert_uint_eq(sls.sl[sl][0], sl);
		ck_assert_uint_eq(sls.base[sl], sl);
		ck_assert_uint_eq(sls.layer[sl], 0);
	}
	build(1);
	ck_assert(!t->managed);
}
END_TEST

/* promise: F15 */
START_TEST(how_many_fit)
{
	two_switches();
	finish(f);
	/* one level with SL 0 */
	ck_assert_uint_eq(most(15, "8 data VLs"), 8);
	ck_assert_uint_eq(most(4, "4 data VLs"), 4);
	ck_assert_uint_eq(most(1, "1 data VL on"), 1);
	p->levels[0].sl = 1;
	ck_assert_uint_eq(most(15, "2 SLs of levels"), 4);
	ck_assert_uint_eq(most(1, "1 data VL on"), 1);
	add_class(p, "a", 2, false, -1);
	add_class(p, "b", 3, false, -1);
	ck_assert_uint_eq(most(15, "2 traffic classes"), 4);
	for (uint8_t sl = 4; sl < 8; sl++)
		add_class(p, "more", sl, false, -1);
	ck_assert_uint_eq(most(15, "6 traffic classes"), 1);
	size_t all = p->n_classes;

	p->n_classes = 2;
	ck_assert_uint_eq(most(15, "and 16 SLs for 8 of levels"), 2);
	p->n_classes = all;
}
END_TEST

static void add_level(const char *name, uint8_t sl)
{
	p->levels = xrealloc(p->levels, p->n_levels + 1, sizeof(*p->levels));
	p->levels[p->n_levels++] = (struct policy_level){
		.name = xstrdup(name), .sl = sl, .packet_lifetime = -1, .path_bits = -1, .tclass = -1,
	};
}

/* A layer has 1, 2, 4 or 8 VLs, and the built-in SL-to-VL table folds SLs into these. */
/* promise: F16 */
START_TEST(levels_stay_apart)
{
	two_switches();
	finish(f);
	add_level("bulk", 2);
	add_level("fast", 3);
	ck_assert_uint_eq(most(15, "; in 3 layers levels default and bulk would share a VL"), 2);
	p->levels[p->n_levels - 1].sl = 8;
	/* these two share a VL in any case */
	ck_assert_uint_eq(most(15, "; in 3 layers levels default and bulk would share a VL"), 2);
	p->levels[p->n_levels - 2].sl = 1;
	ck_assert_uint_eq(most(15, "3 SLs of levels"), 4);
	/* of 6 VLs, a link can use 4 */
	p->defaults[CLASS_SWITCH].max_vls = 6;
	ck_assert_uint_eq(most(15, "4 data VLs"), 2);
	ck_assert_uint_eq(most(2, "; in 2 layers levels default and bulk would share a VL"), 1);
}
END_TEST

START_TEST(tables_of_ones_own_leave_one)
{
	struct sl2vl table = { { 0 } };

	two_switches();
	finish(f);
	add_sl2vl(p, SCOPE_GROUP, "hosts", &table);
	ck_assert_uint_eq(most(15, "own SL2VL"), 1);
}
END_TEST

/* Between switches, each layer has its own VLs, with the same weights; links to hosts have levels only. */
/* promise: F15 */
START_TEST(layers_are_apart_between_switches)
{
	add_class(p, "fast", 1, false, 7500);
	add_class(p, "slow", 0, false, 2500);
	p->fallback_class = 1;
	p->class_of_sl[0] = 1;
	for (unsigned sl = 2; sl < IB_SL_COUNT; sl++)
		p->class_of_sl[sl] = 1;
	build(2);
	ck_assert(t->managed);
	for (unsigned sl = 0; sl < 2; sl++) {
		unsigned other = sls.sl[sl][1];

		ck_assert_uint_ge(other, 2);
		for (unsigned in = 1; in <= 2; in++) {
			ck_assert_uint_lt(vl(LEAF, in, 5, sl), 4);
			ck_assert_uint_eq(vl(LEAF, in, 5, other), vl(LEAF, in, 5, sl) + 4);
			ck_assert_uint_eq(vl(SPINE, 1, 2, other), vl(SPINE, 1, 2, sl) + 4);
		}
		ck_assert_uint_eq(vl(LEAF, 5, 1, other), vl(LEAF, 5, 1, sl));
		ck_assert_uint_eq(vl(HOST0, 0, 1, other), vl(HOST0, 0, 1, sl));
	}
	ck_assert_uint_ne(vl(LEAF, 1, 5, 0), vl(LEAF, 1, 5, 1));
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert_uint_eq(op_vls(LEAF, 1), 2);

	const struct vlarb *arb = &t->arbs[t->arb[port_at(f, LEAF, 5)]];

	for (unsigned v = 0; v < 2; v++) {
		ck_assert_uint_eq(weight(arb->low, arb->n_low, v), weight(arb->low, arb->n_low, v + 4));
		ck_assert_uint_eq(weight(arb->high, arb->n_high, v),
				  weight(arb->high, arb->n_high, v + 4));
	}
	unsigned fast = weight(arb->low, arb->n_low, vl(LEAF, 1, 5, 1));
	unsigned slow = weight(arb->low, arb->n_low, vl(LEAF, 1, 5, 0));

	ck_assert_uint_eq(fast, 3 * slow);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* If tables are too short for the classes' entries in all layers, every VL is served equally. */
START_TEST(short_arbitration_tables)
{
	node_caps[LEAF].low_cap = node_caps[LEAF].high_cap = 2;
	add_class(p, "fast", 1, false, 7500);
	add_class(p, "slow", 0, false, 2500);
	p->class_of_sl[0] = 1;
	for (unsigned sl = 2; sl < IB_SL_COUNT; sl++)
		p->class_of_sl[sl] = 1;
	build(2);

	const struct vlarb *arb = &t->arbs[t->arb[port_at(f, LEAF, 5)]];
	unsigned layers[2] = { 0 };

	for (unsigned sl = 0; sl < 2; sl++)
		for (unsigned layer = 0; layer < 2; layer++) {
			unsigned v = vl(LEAF, 1, 5, sls.sl[sl][layer]);

			layers[layer] |= 1u << v;
			ck_assert_uint_gt(weight(arb->low, arb->n_low, v) +
					  weight(arb->high, arb->n_high, v), 0);
		}
	ck_assert_uint_eq(layers[0] & layers[1], 0);
}
END_TEST

/* The built-in tables, and three layers on eight VLs: two VLs for each, so that levels share some. */
START_TEST(levels_share_within_a_layer)
{
	unsigned used[3] = { 0 };

	p->levels[0].sl = 1;
	build(3);
	for (unsigned layer = 0; layer < 3; layer++)
		for (unsigned sl = 0; sl < 2; sl++)
			used[layer] |= 1u << vl(LEAF, 1, 5, sls.sl[sl][layer]);
	ck_assert_uint_eq(used[0], 0x3);
	ck_assert_uint_eq(used[1], 0xc);
	ck_assert_uint_eq(used[2], 0x30);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		sls_of_layers, one_layer_changes_nothing, how_many_fit, levels_stay_apart,
		tables_of_ones_own_leave_one, layers_are_apart_between_switches,
		short_arbitration_tables, levels_share_within_a_layer,
	};
	Suite *s = suite_create("sl-plan");
	TCase *c = tcase_create("sl-plan");

	tcase_add_checked_fixture(c, two_switches_begin, two_switches_end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
