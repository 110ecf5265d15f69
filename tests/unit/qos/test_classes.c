/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the tables made from traffic classes: which ports get them, their contents on
 * links of all kinds, and the findings.  On the fabric of two_switches.h.
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "two_switches.h"
#include "unit/run.h"

/* Makes four classes; SLs of no class belong to the last one. */
static void four_classes(void)
{
	add_class(p, "latency", 3, true, -1);
	add_class(p, "storage", 2, false, 5000);
	add_class(p, "normal", 1, false, 3000);
	add_class(p, "other", 0, false, 2000);
	p->fallback_class = 3;
	for (unsigned sl = 4; sl < IB_SL_COUNT; sl++)
		p->class_of_sl[sl] = 3;
}

static void make_tables(void)
{
	struct sl_plan sls;

	g = groups_resolve(p, f, &findings);
	findings_free(&findings);	/* about groups */
	sl_plan_make(&sls, p, NULL);
	t = qos_tables_build(p, f, g, 15, &sls, &findings);
}

static void build(void)
{
	two_switches();
	finish(f);
	make_tables();
}

/* The same after a change of the policy. */
static void rebuild(void)
{
	qos_tables_free(t);
	groups_free(g);
	fabric_free(f);
	findings_free(&findings);
	build();
}

static const struct sl2vl *map(uint32_t n, unsigned in, unsigned out)
{
	uint16_t id = qos_sl2vl_id(t, f, n, in, out);

	ck_assert_uint_lt(id, t->n_maps);
	return &t->maps[id];
}

/* Whether SLs 0 to 3 (other, normal, storage, latency) have these VLs, and all other SLs that of SL 0. */
static bool maps_to(uint32_t n, unsigned in, unsigned out, unsigned v0, unsigned v1, unsigned v2,
		    unsigned v3)
{
	const struct sl2vl *m = map(n, in, out);

	for (unsigned sl = 4; sl < IB_SL_COUNT; sl++)
		if (m->vl[sl] != v0)
			return false;
	return m->vl[0] == v0 && m->vl[1] == v1 && m->vl[2] == v2 && m->vl[3] == v3;
}

static const struct class_fit *fit(uint32_t n, unsigned num)
{
	uint16_t i = t->fit[port_at(f, n, num)];

	return i < t->n_fits ? &t->fits[i] : NULL;
}

static const struct vlarb *arb(uint32_t n, unsigned num)
{
	uint16_t i = t->arb[port_at(f, n, num)];

	ck_assert_uint_lt(i, t->n_arbs);
	return &t->arbs[i];
}

START_TEST(everywhere_alike)
{
	four_classes();
	build();
	ck_assert(t->managed);
	ck_assert_uint_eq(t->n_fits, 1);
	ck_assert_uint_eq(t->n_maps, 1);
	ck_assert_uint_eq(t->n_arbs, 1);
	ck_assert(maps_to(HOST0, 0, 1, 3, 2, 1, 0));
	ck_assert(maps_to(LEAF, 1, 5, 3, 2, 1, 0));
	ck_assert_ptr_null(t->sw[0].ids);
	ck_assert_ptr_null(t->sw[1].ids);
	ck_assert_ptr_null(fit(LEAF, 3));	/* no link */
	ck_assert_ptr_null(fit(LEAF, 0));
	ck_assert_uint_eq(op_vls(LEAF, 5), 3);	/* four of the eight VLs */
	ck_assert_mem_eq(arb(LEAF, 5), &t->fits[0].arb, sizeof(struct vlarb));
	ck_assert_uint_eq(arb(LEAF, 5)->high_limit, CLASSES_DEFAULT_LIMIT);
	ck_assert_uint_eq(arb(LEAF, 5)->high[0].vl, 0);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(links_of_all_kinds)
{
	four_classes();
	node_caps[HOST0].vl_cap = 1;
	node_caps[HOST1].vl_cap = 2;
	node_caps[SPINE].vl_cap = 3;
	build();
	ck_assert(maps_to(HOST0, 0, 1, 0, 0, 0, 0));
	ck_assert(maps_to(LEAF, 5, 1, 0, 0, 0, 0));
	ck_assert(maps_to(HOST1, 0, 1, 1, 1, 1, 0));
	ck_assert(maps_to(LEAF, 1, 2, 1, 1, 1, 0));
	ck_assert(maps_to(LEAF, 1, 5, 3, 2, 1, 0));
	ck_assert(maps_to(SPINE, 1, 2, 3, 2, 1, 0));
	ck_assert_uint_eq(op_vls(LEAF, 1), 1);
	ck_assert_uint_eq(op_vls(LEAF, 2), 2);
	ck_assert_uint_eq(op_vls(LEAF, 5), 3);
	ck_assert_uint_eq(t->n_fits, 3);
	ck_assert_uint_eq(arb(LEAF, 1)->n_low, 1);	/* its tables can't be left empty */
	ck_assert_uint_eq(arb(LEAF, 2)->n_high, 1);
	ck_assert_uint_eq(arb(LEAF, 2)->n_low, 1);

	const struct finding *one = find(&findings, SEV_WARNING, "1 data VL for 4", "priority");
	const struct finding *two = find(&findings, SEV_INFO, "2 data VLs for 4 traffic classes",
					 "\"storage\", \"normal\", \"other\" on VL 1");

	ck_assert_ptr_nonnull(one);
	ck_assert_ptr_nonnull(two);
	ck_assert_ptr_nonnull(strstr(one->text, "host0/P1"));
	ck_assert_ptr_nonnull(strstr(one->text, "and 1 more port:"));
	ck_assert_ptr_nonnull(strstr(two->text, "host1/P1"));
	ck_assert_uint_eq(two->pos.line, p->classes[1].pos.line);
	ck_assert_uint_eq(findings.n, 2);
}
END_TEST

/* The weights on a link are whole packets of its MTU, independent of other links. */
START_TEST(mtu_of_the_link)
{
	four_classes();
	node_caps[HOST0].mtu = 1;
	node_caps[SPINE].mtu = 5;
	build();
	ck_assert_uint_eq(t->n_fits, 2);
	ck_assert_uint_eq(fit(LEAF, 1)->link.mtu, 1);
	ck_assert_uint_eq(fit(LEAF, 5)->link.mtu, 4);
	ck_assert_uint_eq(arb(LEAF, 1)->high[0].weight, 4);
	ck_assert_uint_eq(arb(HOST0, 1)->high[0].weight, 4);
	ck_assert_uint_eq(arb(LEAF, 5)->high[0].weight, 32);
	ck_assert_uint_eq(t->n_maps, 1);
}
END_TEST

START_TEST(max_vls)
{
	four_classes();
	p->defaults[CLASS_CA].max_vls = 2;
	build();
	ck_assert_uint_eq(fit(LEAF, 1)->link.vls, 2);
	ck_assert_uint_eq(fit(LEAF, 5)->link.vls, 8);
	ck_assert_uint_eq(op_vls(HOST0, 1), 2);
}
END_TEST

START_TEST(excepted_ports)
{
	static const struct sl2vl by_hand = { { 0, 6, 5, 4 } };
	struct policy_vlarb *v;

	four_classes();
	add_word(&p->classes_except, "host0");
	add_word(&p->classes_except, "leaf-p5");
	add_sl2vl(p, SCOPE_GROUP, "host0", &by_hand);
	v = add_vlarb(p, SCOPE_GROUP, "leaf-p5");
	v->has_low = true;
	set_entries(v->arb.low, &v->arb.n_low, "0:1 1:2 2:3 3:4 4:5 5:6 6:7 7:8");
	p->defaults[CLASS_CA].given = p->defaults[CLASS_CA].has_low = true;
	set_entries(p->defaults[CLASS_CA].arb.low, &p->defaults[CLASS_CA].arb.n_low,
		    "0:9 4:9 5:9 6:9");
	build();
	ck_assert_ptr_null(fit(HOST0, 1));
	ck_assert_ptr_null(fit(LEAF, 5));
	ck_assert_mem_eq(map(HOST0, 0, 1), &by_hand, sizeof(by_hand));
	ck_assert_uint_eq(map(LEAF, 1, 5)->vl[7], 7);		/* built in */
	ck_assert_uint_eq(arb(LEAF, 5)->n_low, 8);
	ck_assert_uint_eq(arb(LEAF, 5)->low[7].weight, 8);
	ck_assert_uint_eq(arb(HOST0, 1)->low[0].weight, 9);
	ck_assert_ptr_nonnull(fit(HOST1, 1));
	ck_assert_ptr_nonnull(fit(LEAF, 1));
	ck_assert(maps_to(HOST1, 0, 1, 3, 2, 1, 0));
	ck_assert(maps_to(LEAF, 5, 1, 3, 2, 1, 0));
	ck_assert(maps_to(LEAF, 1, 6, 3, 2, 1, 0));
	ck_assert_uint_eq(arb(HOST1, 1)->high_limit, CLASSES_DEFAULT_LIMIT);
	ck_assert_uint_eq(op_vls(LEAF, 1), 4);			/* host0 uses 7 VLs */
	ck_assert_uint_eq(op_vls(LEAF, 2), 3);
	ck_assert_uint_eq(but_weights(&findings), 0);
}
END_TEST

/* A switch as a group member stands for all its ports. */
START_TEST(excepted_switch)
{
	four_classes();
	add_word(&p->classes_except, "leaf");
	build();
	for (unsigned num = 0; num <= 8; num++)
		ck_assert_ptr_null(fit(LEAF, num));
	ck_assert_ptr_nonnull(fit(SPINE, 1));
	ck_assert_ptr_nonnull(fit(HOST0, 1));
	ck_assert_uint_eq(map(LEAF, 1, 5)->vl[7], 7);
}
END_TEST

START_TEST(scopes_that_are_in_conflict)
{
	static const struct sl2vl by_hand = { { 0, 1, 2, 3 } };
	struct policy_vlarb *v;
	uint32_t line;

	four_classes();
	add_word(&p->classes_except, "host0");
	line = add_sl2vl(p, SCOPE_GROUP, "hosts", &by_hand)->pos.line;
	add_sl2vl(p, SCOPE_GROUP, "host0", &by_hand);
	v = add_vlarb(p, SCOPE_ACROSS, "hosts");
	v->has_high = true;
	set_entries(v->arb.high, &v->arb.n_high, "7:1");
	build();
	const struct finding *maps = find(&findings, SEV_ERROR, "traffic classes", "host1/P1");
	const struct finding *arbs = find(&findings, SEV_ERROR, "traffic classes", "leaf/P1");

	ck_assert_ptr_nonnull(maps);
	ck_assert_ptr_nonnull(arbs);
	ck_assert_uint_eq(maps->pos.line, line);
	ck_assert_uint_eq(arbs->pos.line, v->pos.line);
	ck_assert_ptr_null(strstr(maps->text, "more"));
	ck_assert_ptr_nonnull(strstr(arbs->text, "and 1 more port"));
	ck_assert_uint_eq(findings.n, 2);
	ck_assert_ptr_null(find(&findings, SEV_ERROR, "host0", ""));
	/* the classes take precedence */
	ck_assert(maps_to(HOST1, 0, 1, 3, 2, 1, 0));
	ck_assert_uint_eq(arb(LEAF, 1)->high[0].vl, 0);
	ck_assert_mem_eq(map(HOST0, 0, 1), &by_hand, sizeof(by_hand));
}
END_TEST

START_TEST(missed_shares)
{
	add_class(p, "fast", 1, true, 2000);
	add_class(p, "slow", 0, false, -1);
	p->fallback_class = 1;
	for (unsigned sl = 2; sl < IB_SL_COUNT; sl++)
		p->class_of_sl[sl] = 1;
	p->class_of_sl[0] = 1;
	p->class_of_sl[1] = 0;
	build();
	const struct finding *e = find(&findings, SEV_WARNING, "host0/P1",
				       "\"fast\" gets 50.00 % of the link instead of 20.00 %");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, p->classes[0].pos.line);
	ck_assert_ptr_nonnull(strstr(e->text, "and 7 more ports"));
	ck_assert_ptr_nonnull(strstr(e->text, "high priority cannot be held below 50.00 % of a link, "
				     "because the arbiter sends it at least one packet for each"));
	ck_assert_ptr_null(strstr(e->text, "MTU"));
	ck_assert_uint_eq(findings.n, 1);
	p->classes[0].high_limit = 10;
	rebuild();
	e = find(&findings, SEV_WARNING, "host0/P1",
		 "\"fast\" gets 95.24 % of the link instead of 20.00 %");
	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_nonnull(strstr(e->text, "below 95.24 % of a link with this limit"));
}
END_TEST

START_TEST(devices_without_sl2vl)
{
	four_classes();
	node_caps[HOST1].no_sl_map = true;
	build();
	ck_assert_ptr_null(fit(HOST1, 1));
	ck_assert_uint_eq(qos_sl2vl_id(t, f, HOST1, 0, 1), TABLE_NONE);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "host1/P1", "no SL2VL tables"));
	ck_assert_uint_eq(findings.n, 1);
}
END_TEST

/* Classes take precedence over scopes even at ports that the classes cannot serve. */
START_TEST(scopes_on_devices_without_sl2vl)
{
	struct policy_vlarb *v;

	four_classes();
	node_caps[HOST1].no_sl_map = true;
	v = add_vlarb(p, SCOPE_GROUP, "hosts");
	v->has_high = true;
	set_entries(v->arb.high, &v->arb.n_high, "7:1");
	build();
	ck_assert_ptr_nonnull(find(&findings, SEV_ERROR, "host0/P1", "and 1 more port"));
	ck_assert_uint_eq(arb(HOST1, 1)->n_high, 0);
}
END_TEST

/* Kinds of link that differ only in the MTU give one finding, which counts all ports. */
START_TEST(sharing_is_said_once)
{
	four_classes();
	node_caps[HOST0].vl_cap = node_caps[HOST1].vl_cap = 2;
	node_caps[HOST1].mtu = 3;
	build();
	ck_assert_uint_eq(t->n_fits, 3);
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "host0/P1", "and 3 more ports:"));
	ck_assert_uint_eq(findings.n, 1);
}
END_TEST

START_TEST(enhanced_port_0)
{
	four_classes();
	node_caps[LEAF].enhanced_port0 = true;
	build();
	ck_assert_ptr_nonnull(fit(LEAF, 0));
	ck_assert(maps_to(LEAF, 1, 0, 3, 2, 1, 0));
	ck_assert_uint_eq(arb(LEAF, 0)->n_high, 1);
}
END_TEST

/* Policies that config/ would refuse. */
START_TEST(nonsense)
{
	four_classes();
	p->classes[2].share = 6000;
	build();
	const struct finding *e = find(&findings, SEV_ERROR, "100 %", "");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, p->classes[2].pos.line);
	ck_assert_uint_eq(t->n_fits, 0);
	ck_assert_uint_eq(map(LEAF, 1, 5)->vl[7], 7);
}
END_TEST

/* 18,000 ports with hosts of three kinds: one fit for each kind of link. */
START_TEST(many_ports)
{
	four_classes();
	f = fabric_new();
	caps = CAPS_DEFAULT;
	add_node(f, IB_NODE_CA_T, 1, HOSTS, "host0");
	for (unsigned s = 0; s < 250; s++) {
		caps.vl_cap = 4;
		uint32_t sw = add_node(f, IB_NODE_SWITCH_T, 36, LEAF_G + s, "switch");

		for (unsigned h = 1; h <= 36; h++) {
			uint32_t host = 0;

			caps.vl_cap = s % 10 ? 4 : 2 + h % 2;
			if (s || h > 1)
				host = add_node(f, IB_NODE_CA_T, 1, HOSTS + (s * 64 + h) * 16, "host");
			add_link(f, host, 1, sw, h);
		}
	}
	finish(f);
	clock_t start = clock();

	make_tables();
	ck_assert_uint_eq(t->n_fits, 3);
	ck_assert_uint_eq(t->n_maps, 2);
	for (uint32_t s = 0; s < f->n_switches; s++)
		ck_assert(!t->sw[s].ids == !!(s % 10));
	ck_assert_uint_lt((clock() - start) * 1000 / CLOCKS_PER_SEC, 200);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		everywhere_alike, links_of_all_kinds, mtu_of_the_link, max_vls, excepted_ports,
		excepted_switch, scopes_that_are_in_conflict, missed_shares, devices_without_sl2vl,
		scopes_on_devices_without_sl2vl, sharing_is_said_once, enhanced_port_0, nonsense, many_ports,
	};
	Suite *s = suite_create("classes");
	TCase *c = tcase_create("classes");

	tcase_add_checked_fixture(c, two_switches_begin, two_switches_end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
