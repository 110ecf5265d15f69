/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the tables of a small fabric: scopes, defaults, limits of devices, OperationalVLs.
 *
 *   host0/P1 -- leaf/P1   leaf/P5 -- spine/P1   spine/P5 -- router/P1
 *   host1/P1 -- leaf/P2   leaf/P6 -- spine/P2
 *
 * promise: C1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "two_switches.h"
#include "unit/run.h"

#define DROP	15

static const struct sl2vl A = { { 0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, DROP } };
static const struct sl2vl B = { { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } };
static const struct sl2vl C = { { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 } };
static const struct sl2vl NINE = { { 0, 10, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DROP } };

static void setup(void)
{
	two_switches_begin();
	add_group(p, "switches")->node_types = NT_SWITCH;
	add_group(p, "routers")->node_types = NT_ROUTER;
	add_range(&add_group(p, "spine")->port_guids, SPINE_G, SPINE_G);
}

static void build(void)
{
	struct sl_plan sls;

	two_switches();
	node(ROUTER, IB_NODE_ROUTER_T, 1, 0x77, "router");
	add_link(f, SPINE, 5, ROUTER, 1);
	finish(f);
	g = groups_resolve(p, f, &findings);
	ck_assert_uint_eq(findings.n, 0);
	sl_plan_make(&sls, p, NULL);
	t = qos_tables_build(p, f, g, 15, &sls, &findings);
}

static uint16_t id(uint32_t n, unsigned in, unsigned out)
{
	return qos_sl2vl_id(t, f, n, in, out);
}

static bool has_map(uint32_t n, unsigned in, unsigned out, const struct sl2vl *map)
{
	uint16_t i = id(n, in, out);

	return i < t->n_maps && !memcmp(&t->maps[i], map, sizeof(*map));
}

static const struct vlarb *arb(uint32_t n, unsigned num)
{
	uint16_t i = t->arb[port_at(f, n, num)];

	return i < t->n_arbs ? &t->arbs[i] : NULL;
}

/* Whether the entries are these, in the format of set_entries(), "0:64 1:64". */
static bool entries_are(const struct vlarb_entry *e, uint8_t n, const char *text)
{
	struct vlarb_entry expected[VLARB_ENTRIES_MAX];
	uint8_t k;

	set_entries(expected, &k, text);
	return n == k && !memcmp(e, expected, k * sizeof(*e));
}

static bool low_is(uint32_t n, unsigned num, const char *text)
{
	return entries_are(arb(n, num)->low, arb(n, num)->n_low, text);
}

static bool high_is(uint32_t n, unsigned num, const char *text)
{
	return entries_are(arb(n, num)->high, arb(n, num)->n_high, text);
}

static void manage(void)
{
	p->levels[0].sl = 1;
}

static void set_low(struct policy_vlarb *s, const char *text)
{
	s->has_low = true;
	set_entries(s->arb.low, &s->arb.n_low, text);
}

static size_t find_entries(void)
{
	return findings.n - but_weights(&findings);
}

static void set_high(struct policy_vlarb *s, const char *text)
{
	s->has_high = true;
	set_entries(s->arb.high, &s->arb.n_high, text);
}

#define EIGHT "0:64 1:64 2:64 3:64 4:64 5:64 6:64 7:64"

/* --- without fabric-setup --- */

START_TEST(not_managed)
{
	node_caps[HOST1].vl_cap = 2;
	node_caps[SPINE].vl_cap = 5;
	build();
	ck_assert(!t->managed);
	ck_assert_uint_eq(op_vls(HOST0, 1), 4);
	ck_assert_uint_eq(op_vls(HOST1, 1), 2);
	ck_assert_uint_eq(op_vls(LEAF, 2), 2);
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert_uint_eq(op_vls(LEAF, 3), 0);
	ck_assert_uint_eq(op_vls(LEAF, 0), 0);
	ck_assert_uint_eq(id(HOST0, 0, 1), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 1, 2), TABLE_NONE);
	ck_assert_ptr_null(arb(LEAF, 1));
}
END_TEST

START_TEST(built_in)
{
	static const struct sl2vl eight = { { 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7 } };

	manage();
	build();
	ck_assert(t->managed);
	ck_assert_uint_eq(t->n_maps, 1);
	ck_assert_uint_eq(t->n_arbs, 1);
	ck_assert(has_map(HOST0, 0, 1, &eight));
	ck_assert(has_map(LEAF, 1, 5, &eight));
	ck_assert_ptr_null(t->sw[0].ids);
	ck_assert_uint_eq(op_vls(LEAF, 1), 4);
	ck_assert(low_is(LEAF, 1, EIGHT));
	ck_assert(low_is(HOST0, 1, EIGHT));
	ck_assert_uint_eq(arb(LEAF, 1)->n_high, 0);
	ck_assert_uint_eq(arb(LEAF, 1)->high_limit, 0);
	ck_assert_ptr_null(arb(LEAF, 3));
	ck_assert_ptr_null(arb(LEAF, 0));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(pairs_without_a_table)
{
	manage();
	build();
	ck_assert_uint_eq(id(LEAF, 1, 1), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 1, 3), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 3, 1), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 1, 0), TABLE_NONE);	/* base port 0 */
	ck_assert_uint_ne(id(LEAF, 0, 1), TABLE_NONE);
	ck_assert_uint_ne(id(LEAF, 2, 1), TABLE_NONE);
}
END_TEST

/* The same if the switch has a table for each pair. */
START_TEST(pairs_without_a_table_in_a_matrix)
{
	struct policy_sl2vl *s = add_sl2vl(p, SCOPE_GROUP, "switches", &B);

	set_ports(&s->from, "1");
	build();
	ck_assert_ptr_nonnull(t->sw[0].ids);
	ck_assert_uint_eq(id(LEAF, 1, 1), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 1, 3), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 3, 1), TABLE_NONE);
	ck_assert_uint_eq(id(LEAF, 1, 0), TABLE_NONE);
	ck_assert(has_map(LEAF, 1, 2, &B));
	ck_assert(!has_map(LEAF, 2, 1, &B));
	ck_assert(!has_map(LEAF, 0, 1, &B));
}
END_TEST

START_TEST(built_in_folds_silently)
{
	static const struct sl2vl two = { { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 } };
	static const struct sl2vl all = { { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 7 } };

	manage();
	node_caps[HOST1].vl_cap = 2;
	node_caps[LEAF].vl_cap = node_caps[SPINE].vl_cap = 5;
	node_caps[LEAF].low_cap = 15;
	build();
	ck_assert(has_map(HOST1, 0, 1, &two));
	ck_assert(has_map(LEAF, 1, 2, &two));
	ck_assert(has_map(LEAF, 1, 5, &all));
	ck_assert_uint_eq(op_vls(LEAF, 2), 2);
	ck_assert_uint_eq(op_vls(LEAF, 5), 5);
	ck_assert(low_is(LEAF, 2, "0:64 1:64"));
	ck_assert_uint_eq(arb(LEAF, 5)->n_low, 15);
	/* A low table of 8 entries must not leave VLs 8..14 without any. */
	ck_assert(low_is(SPINE, 1, EIGHT));
	ck_assert(high_is(SPINE, 1, "8:64 9:64 10:64 11:64 12:64 13:64 14:64"));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(one_vl)
{
	static const struct sl2vl zero = { { 0 } };

	manage();
	node_caps[HOST0].vl_cap = 1;
	build();
	ck_assert_uint_eq(op_vls(LEAF, 1), 1);
	ck_assert(has_map(HOST0, 0, 1, &zero));
	ck_assert(has_map(LEAF, 2, 1, &zero));
	ck_assert_ptr_null(arb(HOST0, 1));
	ck_assert(low_is(LEAF, 1, "0:64"));
}
END_TEST

START_TEST(devices_without_sl2vl)
{
	manage();
	node_caps[HOST0].no_sl_map = node_caps[SPINE].no_sl_map = true;
	build();
	ck_assert_uint_eq(id(HOST0, 0, 1), TABLE_NONE);
	ck_assert_uint_eq(id(SPINE, 1, 5), TABLE_NONE);
	ck_assert_uint_ne(id(LEAF, 1, 5), TABLE_NONE);
}
END_TEST

/* --- scopes --- */

START_TEST(last_scope_wins)
{
	struct policy_sl2vl *s;

	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	s = add_sl2vl(p, SCOPE_GROUP, "leaf", &B);
	set_ports(&s->to, "5 6");
	s = add_sl2vl(p, SCOPE_GROUP, "leaf", &C);
	set_ports(&s->from, "0 1");
	set_ports(&s->to, "2 5");
	build();
	ck_assert(has_map(LEAF, 1, 5, &C));
	ck_assert(has_map(LEAF, 0, 5, &C));
	ck_assert(has_map(LEAF, 2, 5, &B));
	ck_assert(has_map(LEAF, 2, 6, &B));
	ck_assert(has_map(LEAF, 1, 6, &B));
	ck_assert(has_map(LEAF, 1, 2, &C));
	ck_assert(has_map(LEAF, 5, 2, &A));
	ck_assert(has_map(LEAF, 5, 1, &A));
	ck_assert(has_map(SPINE, 1, 5, &A));
	ck_assert(has_map(HOST0, 0, 1, &A));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* A later scope for all ports hides the earlier ones and makes switches uniform again. */
START_TEST(later_scope_hides_earlier_ones)
{
	struct policy_sl2vl *s = add_sl2vl(p, SCOPE_GROUP, "switches", &NINE);

	set_ports(&s->from, "1");
	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	build();
	ck_assert(has_map(LEAF, 1, 5, &A));
	ck_assert_ptr_null(t->sw[0].ids);
	ck_assert_uint_eq(t->n_maps, 1);
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(equal_pairs_are_uniform)
{
	struct policy_sl2vl *s;

	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	s = add_sl2vl(p, SCOPE_GROUP, "switches", &A);
	set_ports(&s->from, "1");
	build();
	ck_assert_ptr_null(t->sw[0].ids);
	ck_assert(has_map(LEAF, 1, 5, &A));
	ck_assert(has_map(LEAF, 2, 5, &A));
}
END_TEST

START_TEST(group_of_hosts)
{
	struct policy_sl2vl *s;

	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	s = add_sl2vl(p, SCOPE_GROUP, "host0", &B);
	set_ports(&s->from, "7");	/* says nothing about a CA */
	build();
	ck_assert(has_map(HOST0, 0, 1, &B));
	ck_assert(has_map(HOST1, 0, 1, &A));
	ck_assert(has_map(LEAF, 2, 1, &A));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

START_TEST(group_of_a_switch_port)
{
	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	add_sl2vl(p, SCOPE_GROUP, "leaf-p5", &B);
	build();
	ck_assert(has_map(LEAF, 1, 5, &B));
	ck_assert(has_map(LEAF, 1, 6, &A));
	ck_assert(has_map(LEAF, 5, 1, &A));
}
END_TEST

START_TEST(across_hosts)
{
	struct policy_sl2vl *s;

	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	add_sl2vl(p, SCOPE_ACROSS, "hosts", &B);
	s = add_sl2vl(p, SCOPE_ACROSS, "hosts", &C);
	set_ports(&s->to, "2");		/* of the switch, not of the host */
	set_ports(&s->from, "5");
	build();
	ck_assert(has_map(LEAF, 5, 1, &B));
	ck_assert(has_map(LEAF, 5, 2, &C));
	ck_assert(has_map(LEAF, 6, 2, &B));
	ck_assert(has_map(LEAF, 1, 5, &A));
	ck_assert(has_map(HOST0, 0, 1, &A));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* `across` a switch means the ports at the other ends of its links, including CAs. */
START_TEST(across_switches)
{
	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	add_sl2vl(p, SCOPE_ACROSS, "spine", &B);
	add_sl2vl(p, SCOPE_ACROSS, "leaf-p5", &C);
	build();
	ck_assert(has_map(LEAF, 1, 5, &B));
	ck_assert(has_map(LEAF, 1, 6, &B));
	ck_assert(has_map(LEAF, 5, 1, &A));
	ck_assert(has_map(ROUTER, 0, 1, &B));
	ck_assert(has_map(SPINE, 5, 1, &C));
	ck_assert(has_map(SPINE, 5, 2, &A));
	ck_assert(has_map(HOST0, 0, 1, &A));
}
END_TEST

START_TEST(class_defaults)
{
	p->has_fabric_setup = true;
	p->defaults[CLASS_CA] = (struct policy_class_default){
		.given = true, .has_sl2vl = true, .sl2vl = A, .high_limit = -1,
	};
	p->defaults[CLASS_SWITCH] = (struct policy_class_default){
		.given = true, .has_sl2vl = true, .sl2vl = B, .high_limit = 7,
	};
	p->defaults[CLASS_SWITCH_PORT0] = (struct policy_class_default){
		.given = true, .has_sl2vl = true, .sl2vl = C, .high_limit = -1,
	};
	node_caps[LEAF].enhanced_port0 = true;
	add_sl2vl(p, SCOPE_GROUP, "host0", &C);
	build();
	ck_assert(has_map(HOST0, 0, 1, &C));
	ck_assert(has_map(HOST1, 0, 1, &A));
	ck_assert(has_map(LEAF, 1, 5, &B));
	ck_assert(has_map(LEAF, 0, 5, &B));
	ck_assert(has_map(LEAF, 1, 0, &C));
	ck_assert(has_map(LEAF, 0, 0, &C));
	ck_assert_uint_eq(id(SPINE, 1, 0), TABLE_NONE);
	ck_assert_uint_eq(arb(LEAF, 5)->high_limit, 7);
	ck_assert_uint_eq(arb(HOST0, 1)->high_limit, 0);
	ck_assert_ptr_nonnull(arb(LEAF, 0));
	ck_assert(low_is(LEAF, 0, "0:64 1:64 2:64 3:64"));
}
END_TEST

START_TEST(max_vls)
{
	p->defaults[CLASS_CA] = (struct policy_class_default){
		.given = true, .max_vls = 3, .high_limit = -1,
	};
	p->has_fabric_setup = true;
	build();
	ck_assert_uint_eq(op_vls(HOST0, 1), 2);		/* 2 VLs: there is no code for 3 */
	ck_assert_uint_eq(op_vls(LEAF, 1), 2);
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert(low_is(LEAF, 1, "0:64 1:64"));
}
END_TEST

/* --- OperationalVLs --- */

START_TEST(op_vls_follow_the_tables)
{
	add_sl2vl(p, SCOPE_GROUP, "all", &B);		/* VL 1 */
	add_sl2vl(p, SCOPE_GROUP, "host0", &A);		/* VL 7 */
	add_sl2vl(p, SCOPE_GROUP, "leaf-p5", &C);	/* VL 2 */
	build();
	ck_assert_uint_eq(op_vls(HOST0, 1), 4);
	ck_assert_uint_eq(op_vls(LEAF, 1), 4);		/* as its other end */
	ck_assert_uint_eq(op_vls(LEAF, 2), 2);
	ck_assert_uint_eq(op_vls(LEAF, 5), 3);
	ck_assert_uint_eq(op_vls(SPINE, 1), 3);
	ck_assert_uint_eq(op_vls(LEAF, 6), 2);
	ck_assert(low_is(LEAF, 6, "0:64 1:64"));
	ck_assert(low_is(LEAF, 1, EIGHT));
}
END_TEST

START_TEST(op_vls_follow_one_in_port)
{
	struct policy_sl2vl *s;

	add_sl2vl(p, SCOPE_GROUP, "all", &B);
	s = add_sl2vl(p, SCOPE_GROUP, "leaf", &A);
	set_ports(&s->from, "2");
	set_ports(&s->to, "5");
	s = add_sl2vl(p, SCOPE_GROUP, "leaf", &C);
	set_ports(&s->from, "3");	/* nothing is linked there */
	set_ports(&s->to, "6");
	build();
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert_uint_eq(op_vls(LEAF, 6), 2);
}
END_TEST

START_TEST(op_vls_follow_arbitration)
{
	add_sl2vl(p, SCOPE_GROUP, "all", &B);
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "leaf-p5");

	set_low(s, "0:1 5:1 7:0");
	build();
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert_uint_eq(op_vls(SPINE, 1), 4);
	ck_assert_uint_eq(op_vls(LEAF, 6), 2);
}
END_TEST

/* If all SLs are dropped, VL 0 remains. */
START_TEST(all_dropped)
{
	struct sl2vl none;

	memset(&none, DROP, sizeof(none));
	add_sl2vl(p, SCOPE_GROUP, "all", &none);
	build();
	ck_assert_uint_eq(op_vls(LEAF, 5), 1);
	ck_assert(has_map(LEAF, 1, 5, &none));
}
END_TEST

/* --- VLs that devices lack --- */

START_TEST(unsupported_vl_drops)
{
	static const struct sl2vl dropped = {
		{ 0, DROP, DROP, DROP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DROP }
	};
	struct policy_sl2vl *s;

	node_caps[SPINE].vl_cap = node_caps[ROUTER].vl_cap = 5;
	s = add_sl2vl(p, SCOPE_GROUP, "all", &NINE);
	build();
	ck_assert(has_map(HOST0, 0, 1, &dropped));
	ck_assert(has_map(LEAF, 1, 5, &dropped));
	ck_assert(has_map(SPINE, 5, 1, &dropped));
	ck_assert(has_map(SPINE, 1, 5, &NINE));
	ck_assert(has_map(ROUTER, 0, 1, &NINE));
	ck_assert_uint_eq(op_vls(LEAF, 5), 1);
	ck_assert_uint_eq(op_vls(SPINE, 5), 5);
	const struct finding *e = find(&findings, SEV_WARNING, "VL 10 ", "host0/P1");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, s->table_pos.line);
	ck_assert_ptr_nonnull(strstr(e->text, "8 data VLs"));
	ck_assert_ptr_nonnull(strstr(e->text, "and 7 more ports"));
	ck_assert_uint_eq(findings.n, 1);
}
END_TEST

START_TEST(unsupported_vl_folds)
{
	static const struct sl2vl folded = {
		{ 0, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, DROP }
	};

	p->unsupported_vl = UNSUPPORTED_VL_FOLD;
	add_sl2vl(p, SCOPE_GROUP, "host0", &NINE);
	build();
	ck_assert(has_map(HOST0, 0, 1, &folded));
	ck_assert_uint_eq(findings.count[SEV_WARNING], 0);
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "VL 10 ", "mapped to these"));
}
END_TEST

START_TEST(unsupported_vl_counts_each_port_once)
{
	struct policy_sl2vl *s = add_sl2vl(p, SCOPE_GROUP, "leaf", &NINE);

	set_ports(&s->from, "1 2");
	set_ports(&s->to, "5 6");
	build();
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "leaf/P5 ", "and 1 more port"));
	ck_assert_uint_eq(findings.n, 1);
}
END_TEST

START_TEST(class_default_beyond_a_device)
{
	p->has_fabric_setup = true;
	p->defaults[CLASS_CA] = (struct policy_class_default){
		.given = true, .has_sl2vl = true, .sl2vl = NINE, .high_limit = -1,
		.sl2vl_pos = { 77, 5 },
	};
	build();
	const struct finding *e = find(&findings, SEV_WARNING, "VL 10 ", "1 more port");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, 77);
}
END_TEST

/* --- scopes that miss --- */

START_TEST(scope_without_ports)
{
	struct policy_sl2vl *s;

	s = add_sl2vl(p, SCOPE_GROUP, "switches", &A);
	set_ports(&s->to, "0");				/* base port 0 has no table */
	struct policy_vlarb *v = add_vlarb(p, SCOPE_ACROSS, "hosts");

	set_ports(&v->to, "3 4");			/* hosts sit on others */
	set_low(v, "0:1");
	build();
	const struct finding *a = find(&findings, SEV_WARNING, "no port", "group \"switches\"");
	const struct finding *b = find(&findings, SEV_WARNING, "no port", "across group \"hosts\"");

	ck_assert_ptr_nonnull(a);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(a->pos.line, s->pos.line);
	ck_assert_uint_eq(b->pos.line, v->pos.line);
	ck_assert_str_eq(a->file, "test.yaml");
	ck_assert_uint_eq(findings.n, 2);
}
END_TEST

START_TEST(port_numbers_that_devices_lack)
{
	struct policy_sl2vl *s = add_sl2vl(p, SCOPE_GROUP, "switches", &A);

	set_ports(&s->from, "1 9");
	set_ports(&s->to, "5 40");
	build();
	const struct finding *from = find(&findings, SEV_ERROR, "\"from\"", "no port 9 on leaf");
	const struct finding *to = find(&findings, SEV_ERROR, "\"to\"", "no port 40 on leaf");

	ck_assert_ptr_nonnull(from);
	ck_assert_ptr_nonnull(to);
	ck_assert_uint_eq(from->pos.line, s->from.pos.line);
	ck_assert_uint_eq(to->pos.line, s->to.pos.line);
	ck_assert_ptr_nonnull(strstr(to->text, "has 8"));
	ck_assert_ptr_nonnull(strstr(to->text, "1 more device"));
	ck_assert_uint_eq(findings.n, 2);
	ck_assert(has_map(LEAF, 1, 5, &A));		/* the rest of the list holds */
}
END_TEST

/* `across` uses the port numbers of the other device, and CAs have no port 0. */
START_TEST(port_numbers_that_hosts_lack)
{
	struct policy_vlarb *v = add_vlarb(p, SCOPE_GROUP, "hosts");
	struct policy_sl2vl *s = add_sl2vl(p, SCOPE_ACROSS, "leaf-p5", &A);

	set_low(v, "0:1");
	set_ports(&v->to, "0 1");
	set_ports(&s->to, "1 9");
	build();
	ck_assert_ptr_nonnull(find(&findings, SEV_ERROR, "no port 0 on host0", "1 more device"));
	ck_assert_ptr_nonnull(find(&findings, SEV_ERROR, "no port 9 on spine", "has 8"));
	ck_assert_uint_eq(findings.count[SEV_ERROR], 2);
}
END_TEST

/* --- arbitration --- */

START_TEST(arbitration_by_field)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	set_high(s, "3:192");
	set_low(s, "0:64 1:64 2:128");
	s->high_limit = 10;
	s = add_vlarb(p, SCOPE_GROUP, "leaf");
	s->high_limit = 255;
	set_ports(&s->to, "5");
	s = add_vlarb(p, SCOPE_ACROSS, "hosts");
	set_high(s, "");
	build();
	ck_assert(high_is(HOST0, 1, "3:192"));
	ck_assert(low_is(HOST0, 1, "0:64 1:64 2:128"));
	ck_assert_uint_eq(arb(HOST0, 1)->high_limit, 10);
	ck_assert(high_is(LEAF, 5, "3:192"));
	ck_assert_uint_eq(arb(LEAF, 5)->high_limit, 255);
	ck_assert_uint_eq(arb(LEAF, 6)->high_limit, 10);
	ck_assert(high_is(LEAF, 1, ""));
	ck_assert(low_is(LEAF, 1, "0:64 1:64 2:128"));
	ck_assert_uint_eq(t->n_arbs, 3);
	ck_assert_uint_eq(findings.count[SEV_ERROR], 0);
}
END_TEST

START_TEST(arbitration_too_long)
{
	struct policy_vlarb *s;

	node_caps[HOST0].low_cap = node_caps[HOST1].low_cap = 2;
	node_caps[HOST0].vl_cap = node_caps[HOST1].vl_cap = 2;
	s = add_vlarb(p, SCOPE_GROUP, "all");
	set_low(s, "0:1 1:2 0:3");
	s->high_limit = 9;
	build();
	ck_assert(low_is(HOST0, 1, "0:64 1:64"));
	ck_assert_uint_eq(arb(HOST0, 1)->high_limit, 0);
	ck_assert(low_is(LEAF, 1, "0:1 1:2 0:3"));
	const struct finding *e = find(&findings, SEV_ERROR, "3 entries", "host0/P1");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, s->low_pos.line);
	ck_assert_ptr_nonnull(strstr(e->text, "supports 2"));
	ck_assert_ptr_nonnull(strstr(e->text, "1 more port"));
	ck_assert_uint_eq(findings.count[SEV_ERROR], 1);
}
END_TEST

START_TEST(entries_without_weight_make_room)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	node_caps[HOST0].high_cap = 2;
	set_high(s, "0:0 1:5 2:0 3:7");
	build();
	ck_assert(high_is(HOST0, 1, "1:5 3:7"));
	ck_assert(high_is(HOST1, 1, "0:0 1:5 2:0 3:7"));
	ck_assert_uint_eq(but_weights(&findings), 0);
}
END_TEST

START_TEST(arbitration_of_vls_that_devices_lack)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	node_caps[HOST0].vl_cap = 2;
	set_low(s, "0:1 3:2 9:0");
	build();
	ck_assert(low_is(HOST0, 1, "0:1 0:0 0:0"));
	ck_assert(low_is(LEAF, 1, "0:1 0:0 0:0"));
	ck_assert(low_is(LEAF, 2, "0:1 3:2 0:0"));
	const struct finding *e = find(&findings, SEV_WARNING, "VL 3 in the low table", "host0/P1");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, s->low_pos.line);
	ck_assert_ptr_nonnull(strstr(e->text, "and 1 more port"));
	ck_assert_uint_eq(but_weights(&findings), 2);		/* and VLs without a weight */
}
END_TEST

/* promise: T6 */
START_TEST(arbitration_folds_as_sl2vl_does)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	p->unsupported_vl = UNSUPPORTED_VL_FOLD;
	node_caps[HOST0].vl_cap = 2;
	set_high(s, "3:32 8:64 14:0");
	set_low(s, "0:32 1:32 2:96");
	build();
	ck_assert(high_is(HOST0, 1, "1:32 0:64 0:0"));
	ck_assert(low_is(HOST0, 1, "0:32 1:32 0:96"));
	ck_assert(high_is(LEAF, 1, "1:32 0:64 0:0"));
	ck_assert(high_is(LEAF, 2, "3:32 0:64 6:0"));
	ck_assert_ptr_null(find(&findings, SEV_WARNING, "does not exist", "table"));
	const struct finding *e = find(&findings, SEV_INFO, "VL 8 in the high table", "folded into");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, s->high_pos.line);
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "VL 2 in the low table", "and 1 more port"));
}
END_TEST

START_TEST(folded_entries_make_room)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	p->unsupported_vl = UNSUPPORTED_VL_FOLD;
	node_caps[HOST0].vl_cap = 2;
	node_caps[HOST0].low_cap = 2;
	node_caps[HOST1].vl_cap = 2;
	node_caps[HOST1].low_cap = 4;
	set_low(s, "0:0 1:32 2:64 3:96 0:64");
	build();
	ck_assert(low_is(HOST1, 1, "0:0 1:32 0:64 0:64"));
	ck_assert(low_is(HOST0, 1, "1:32 0:64"));
	ck_assert(low_is(LEAF, 1, "0:0 1:32 0:64 1:96 0:64"));
	ck_assert_uint_eq(findings.count[SEV_ERROR], 0);
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "VL 3 in the low table", "no room"));
}
END_TEST

/*
 * A packet of 2048 bytes has a weight of 32.  A finding for each entry below that, and a lesser one for each
 * that is no multiple; an entry without weight, or on a VL that the link lacks, is none.
 */
/* promise: T6 */
START_TEST(weights_that_are_no_packets)
{
	struct policy_vlarb *s = add_vlarb(p, SCOPE_GROUP, "all");

	set_high(s, "1:32");
	set_low(s, "0:64 1:31 2:48 3:0 3:1 9:5 0:255");
	build();
	ck_assert_uint_eq(find_entries(), 4);
	const struct finding *e = find(&findings, SEV_WARNING, "entry 2 of the low table, \"1:31\": a "
				       "weight of 31 is 1984 bytes, less than a packet of the MTU, 2048 "
				       "bytes, on the link of ", "more ports; the least is 32");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, s->low_pos.line);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "entry 5 of the low table, \"3:1\"", "64 bytes"));
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "entry 3 of the low table, \"2:48\"",
				   "no multiple of 32"));
	ck_assert_ptr_nonnull(find(&findings, SEV_INFO, "entry 7 of the low table, \"0:255\"", ""));
}
END_TEST

/* The link's MTU is that of the end that has less. */
/* promise: T6 */
START_TEST(weights_for_the_mtu_of_the_link)
{
	node_caps[HOST0].mtu = 3;
	set_low(add_vlarb(p, SCOPE_GROUP, "all"), "0:32 1:32 2:16 3:32");
	build();
	ck_assert_uint_eq(find_entries(), 1);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "entry 3 of the low table, \"2:16\"",
				   "the least is 32"));
	/* at HOST0 and its switch port, 16 is one packet of 1024 bytes */
	ck_assert_ptr_null(find(&findings, SEV_WARNING, "entry 3", "host0"));
}
END_TEST

START_TEST(nothing_to_arbitrate)
{
	node_caps[HOST0].vl_cap = 1;
	node_caps[HOST1].high_cap = node_caps[HOST1].low_cap = 0;
	set_low(add_vlarb(p, SCOPE_GROUP, "hosts"), "0:1 1:2 2:3 3:4 4:5");
	build();
	ck_assert_ptr_null(arb(HOST0, 1));
	ck_assert_ptr_null(arb(HOST1, 1));
	ck_assert_uint_eq(findings.n, 0);
}
END_TEST

/* A low table alone leaves no high table; a high table alone leaves the built-in low table. */
START_TEST(half_given)
{
	set_high(add_vlarb(p, SCOPE_GROUP, "host0"), "1:9");
	build();
	ck_assert(high_is(HOST0, 1, "1:9"));
	ck_assert(low_is(HOST0, 1, EIGHT));
}
END_TEST

/* --- VLs that SL-to-VL tables use and arbitration tables lack --- */

START_TEST(unserved_vls)
{
	static const struct sl2vl three = { { 0, 1, 2, 2, 5, DROP } };
	struct policy_vlarb *all, *leaf;
	uint32_t line;

	add_sl2vl(p, SCOPE_GROUP, "all", &three);
	all = add_vlarb(p, SCOPE_GROUP, "all");
	set_high(all, "1:9");
	set_low(all, "0:1 2:0 5:3 7:3");
	line = all->low_pos.line;
	leaf = add_vlarb(p, SCOPE_GROUP, "leaf-p5");
	set_low(leaf, "0:1 2:1");
	build();
	const struct finding *e = find(&findings, SEV_WARNING, "serves VL 2, where SL2VL puts SL 2, 3,",
				       "host0/P1");
	const struct finding *e5 = find(&findings, SEV_WARNING, "serves VL 5, where SL2VL puts SL 4,",
					"leaf/P5");

	ck_assert_ptr_nonnull(e);
	ck_assert_ptr_nonnull(e5);
	ck_assert_uint_eq(e->pos.line, line);
	ck_assert_uint_eq(e5->pos.line, leaf->low_pos.line);
	ck_assert_ptr_nonnull(strstr(e->text, "and 8 more ports"));
	ck_assert_ptr_null(strstr(e5->text, "more"));
	ck_assert_uint_eq(but_weights(&findings), 2);
}
END_TEST

START_TEST(one_vl_is_served_without_tables)
{
	p->has_fabric_setup = true;
	p->defaults[CLASS_CA] = (struct policy_class_default){
		.given = true, .has_low = true, .high_limit = -1,
	};
	set_entries(p->defaults[CLASS_CA].arb.low, &p->defaults[CLASS_CA].arb.n_low, "1:1");
	node_caps[LEAF].vl_cap = 1;
	build();
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "VL 1 in the low table", "host0/P1"));
	ck_assert_uint_eq(findings.n, 1);
}
END_TEST

START_TEST(unserved_vls_of_a_class_default)
{
	p->has_fabric_setup = true;
	p->defaults[CLASS_CA] = (struct policy_class_default){
		.given = true, .has_low = true, .high_limit = -1, .low_pos = { 77, 5 },
	};
	set_entries(p->defaults[CLASS_CA].arb.low, &p->defaults[CLASS_CA].arb.n_low,
		    "0:1 1:1 2:1 3:1 4:1 5:1 6:1");
	node_caps[HOST1].vl_cap = 1;
	build();
	const struct finding *e = find(&findings, SEV_WARNING, "serves VL 7, where SL2VL puts SL 7, 15,",
				       "host0/P1");

	ck_assert_ptr_nonnull(e);
	ck_assert_uint_eq(e->pos.line, 77);
	ck_assert_ptr_null(strstr(e->text, "more"));	/* a link with one VL needs no tables */
	ck_assert_uint_eq(but_weights(&findings), 1);
}
END_TEST

/* --- tables that devices keep --- */

static const struct sl2vl *in_force(uint32_t n, unsigned in, unsigned out)
{
	return &t->maps[qos_sl2vl_in_force(t, f, n, in, out)];
}

static void keep(const struct fixed_map *seen, size_t n)
{
	qos_tables_keep(t, f, &(struct fixed_seen){ .maps = seen, .n_maps = n }, &findings);
}

START_TEST(fixed_tables)
{
	struct fixed_map seen[] = {
		{ LEAF, 1, 5, B },
		{ LEAF, 2, 5, C },
		{ LEAF, 2, 5, A },		/* the last one counts: as wanted */
		{ LEAF, 5, 5, C },		/* no pair */
		{ HOST1, 0, 1, NINE },
	};

	add_sl2vl(p, SCOPE_GROUP, "switches", &A);
	add_sl2vl(p, SCOPE_GROUP, "hosts", &A);
	build();
	uint32_t before = t->n_maps;

	ck_assert(!qos_links_lack(t, f));
	ck_assert_uint_eq(qos_sl2vl_in_force(t, f, LEAF, 1, 5), id(LEAF, 1, 5));
	keep(seen, ARRAY_SIZE(seen));
	ck_assert_mem_eq(in_force(LEAF, 1, 5), &B, sizeof(B));
	ck_assert_mem_eq(in_force(LEAF, 2, 5), &A, sizeof(A));
	ck_assert_mem_eq(in_force(LEAF, 1, 6), &A, sizeof(A));
	ck_assert_mem_eq(in_force(HOST1, 0, 1), &NINE, sizeof(NINE));
	ck_assert_mem_eq(in_force(HOST0, 0, 1), &A, sizeof(A));
	ck_assert_uint_eq(qos_sl2vl_in_force(t, f, LEAF, 5, 5), TABLE_NONE);
	/* the planned tables keep their numbers */
	ck_assert(has_map(LEAF, 1, 5, &A));
	ck_assert(has_map(HOST1, 0, 1, &A));
	ck_assert_uint_gt(t->n_maps, before);
	ck_assert_uint_eq(findings.n, 2);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "leaf", "for 1 pair of ports; no SL is"));
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "host1", "not offered: 1, 2, 3"));
}
END_TEST

START_TEST(fixed_vls)
{
	add_sl2vl(p, SCOPE_GROUP, "all", &A);
	build();
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	f->ports[port_at(f, SPINE, 1)].op_vls = 2;
	f->ports[port_at(f, LEAF, 6)].op_vls = 5;	/* more does no harm */
	f->ports[port_at(f, LEAF, 1)].op_vls = 0;	/* not known */
	ck_assert(qos_links_lack(t, f));
	keep(NULL, 0);
	/* both ends of the link: a packet needs its VL at both */
	ck_assert_uint_eq(qos_vls_in_force(t, port_at(f, SPINE, 1)), 2);
	ck_assert_uint_eq(qos_vls_in_force(t, port_at(f, LEAF, 5)), 2);
	ck_assert_uint_eq(qos_vls_in_force(t, port_at(f, LEAF, 6)), 4);
	ck_assert_uint_eq(qos_vls_in_force(t, port_at(f, LEAF, 1)), 4);
	ck_assert_uint_eq(op_vls(LEAF, 5), 4);
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "leaf", "few VLs on 1 link; these SLs are "
				   "dropped there and not offered: 2, 3, 4, 5, 6, 7"));
	ck_assert_ptr_nonnull(find(&findings, SEV_WARNING, "spine", "few VLs on 1 link"));
	ck_assert_uint_eq(findings.n, 2);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		not_managed, built_in, pairs_without_a_table, pairs_without_a_table_in_a_matrix,
		built_in_folds_silently, one_vl, devices_without_sl2vl,
		last_scope_wins, later_scope_hides_earlier_ones, equal_pairs_are_uniform,
		group_of_hosts, group_of_a_switch_port, across_hosts, across_switches,
		class_defaults, max_vls, op_vls_follow_the_tables, op_vls_follow_one_in_port,
		op_vls_follow_arbitration, all_dropped, unsupported_vl_drops,
		unsupported_vl_folds, unsupported_vl_counts_each_port_once,
		class_default_beyond_a_device, scope_without_ports,
		port_numbers_that_devices_lack, port_numbers_that_hosts_lack,
		arbitration_by_field, arbitration_too_long, entries_without_weight_make_room,
		arbitration_folds_as_sl2vl_does, folded_entries_make_room,
		arbitration_of_vls_that_devices_lack,
		weights_that_are_no_packets, weights_for_the_mtu_of_the_link, nothing_to_arbitrate, half_given,
		unserved_vls, one_vl_is_served_without_tables,
		unserved_vls_of_a_class_default, fixed_tables, fixed_vls,
	};
	Suite *s = suite_create("tables");
	TCase *c = tcase_create("tables");

	tcase_add_checked_fixture(c, setup, two_switches_end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
