/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which Sets applying another plan would send to devices that were brought up by
 * the first plan: one switch, three CAs.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/mad.h>
#include <infiniband/umad_sm.h>

#include "lib/base/alloc.h"
#include "sm/sm_internal.h"
#include "unit/load_fabric.h"
#include "unit/run.h"
#include "unit/temp.h"

static const char topology[] =
	"vendid=0x8f1\ndevid=0x5a06\nswitchguid=0x900(900)\n"
	"Switch\t8 \"S-0000000000000900\"\t\t# \"switch\" base port 0 lid 0 lmc 0\n"
	"[1]\t\"H-0000000000000100\"[1](101)\t\t# \"a\" lid 0 4xQDR\n"
	"[2]\t\"H-0000000000000200\"[1](201)\t\t# \"b\" lid 0 4xQDR\n"
	"[3]\t\"H-0000000000000300\"[1](301)\t\t# \"c\" lid 0 4xQDR\n\n"
	"vendid=0x2c9\ndevid=0x673c\ncaguid=0x100\nCa\t1 \"H-0000000000000100\"\t\t# \"a\"\n"
	"[1](101)\t\"S-0000000000000900\"[1]\t\t# lid 0 lmc 0 \"switch\" lid 0 4xQDR\n\n"
	"vendid=0x2c9\ndevid=0x673c\ncaguid=0x200\nCa\t1 \"H-0000000000000200\"\t\t# \"b\"\n"
	"[1](201)\t\"S-0000000000000900\"[2]\t\t# lid 0 lmc 0 \"switch\" lid 0 4xQDR\n\n"
	"vendid=0x2c9\ndevid=0x673c\ncaguid=0x300\nCa\t1 \"H-0000000000000300\"\t\t# \"c\"\n"
	"[1](301)\t\"S-0000000000000900\"[3]\t\t# lid 0 lmc 0 \"switch\" lid 0 4xQDR\n";

static struct fabric *f;
static struct settings *settings;
static struct policy *old_policy, *new_policy;
static struct lid_map known;
static struct plan *old_plan, *new_plan;
static struct store *store;
static struct sm_knowledge k;
static struct difference d;
static uint32_t sw;

/* Tables for every class of port: SL i to VL i % vls, one weight. */
static struct policy *policy_with(unsigned vls, uint8_t weight, int16_t limit)
{
	struct policy *p = policy_builtin();

	p->has_fabric_setup = true;
	for (int c = 0; c < PORT_CLASS_COUNT; c++) {
		struct policy_class_default *x = &p->defaults[c];

		x->given = x->has_sl2vl = x->has_low = true;
		x->high_limit = limit;
		for (unsigned sl = 0; sl < IB_SL_COUNT; sl++)
			x->sl2vl.vl[sl] = (uint8_t)(sl % vls);
		x->arb.n_low = 1;
		x->arb.low[0] = (struct vlarb_entry){ 0, weight };
	}
	return p;
}

static struct plan *plan_for(struct policy *p)
{
	return plan_compute(f, p, settings, &known, NULL, NULL);
}

/* Makes the devices' values equal to the plan, as after a sweep. */
static void bring_up(void)
{
	struct want_env e = { .plan = old_plan, .sm_lid = old_plan->lid[f->self] };
	uint8_t (*infos)[64] = xcalloc(f->n_ports, sizeof(*infos));

	for (uint32_t port = 0; port < f->n_ports; port++) {
		if (!port_is_managed(f, port))
			continue;
		memcpy(infos[port], f->ports[port].info, sizeof(infos[port]));
		want_port_fields(&e, port, infos[port]);
		mad_set_field(infos[port], 0, IB_PORT_STATE_F, IB_PORT_ACTIVE_S);
		mad_set_field(infos[port], 0, IB_PORT_PHYS_STATE_F, 5);
	}
	for (uint32_t port = 0; port < f->n_ports; port++)
		if (port_is_managed(f, port))
			fabric_port_store(&f->ports[port], infos[port]);
	free(infos);
	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint8_t info[64];

		want_switch_info(&e, store_refusals(store), i, info);
		mad_set_field(info, 0, IB_SW_STATE_CHANGE_F, 0);
		fabric_switch_store(&f->switches[i], info);
	}
}

static void load(void)
{
	char *path = temp_file(topology, sizeof(topology) - 1);
	struct buf err = { 0 };

	f = fabric_load(path, 0x100, false, &err);
	ck_assert_msg(f != NULL, "%s", err.s);
	unlink(path);
	free(path);
	sw = f->switches[0].node;
}

static void setup(void)
{
	struct buf err = { 0 };

	load();
	settings = settings_default();
	map64_init(&known.by_guid, 8);
	map64_init(&known.lmc_by_guid, 8);
	old_policy = policy_with(4, 10, 0);
	new_policy = NULL;
	old_plan = plan_for(old_policy);
	new_plan = NULL;
	store = store_open(NULL, NULL, &err);
	bring_up();
	map64_init(&k.doubtful, 8);
	map64_init(&k.asked, 8);
	k.refused = refusals_copy(store_refusals(store));
	k.reregister = false;
}

static void teardown(void)
{
	sm_knowledge_free(&k);
	store_close(store);
	plan_free(old_plan);
	plan_free(new_plan);
	policy_free(old_policy);
	policy_free(new_policy);
	settings_free(settings);
	fabric_free(f);
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
}

static void compare_with(struct policy *p)
{
	plan_free(new_plan);
	policy_free(new_policy);
	new_policy = p;
	new_plan = plan_for(p);
	sm_difference(old_plan, new_plan, &k, &d);
}

static void expect(const uint32_t *sets, unsigned slvl, unsigned arb, unsigned ports)
{
	uint32_t all = 0;

	for (unsigned a = 0; a < 0x40; a++)
		all += sets[a];
	ck_assert_uint_eq(sets[UMAD_SM_ATTR_SLVL_TABLE], slvl);
	ck_assert_uint_eq(sets[UMAD_SM_ATTR_VL_ARB_TABLE], arb);
	ck_assert_uint_eq(sets[UMAD_SM_ATTR_PORT_INFO], ports);
	ck_assert_uint_eq(all, slvl + arb + ports);
}

#define SL2VLS (3 + 3 * 2 + 3)	/* switch: from port 0 and between linked ports; CAs */

START_TEST(nothing_differs)
{
	compare_with(policy_with(4, 10, 0));
	expect(d.least, 0, 0, 0);
	expect(d.most, 0, 0, 0);
	for (unsigned c = 0; c < PORT_CLASS_COUNT; c++)
		ck_assert_mem_eq(&d.tables[c], &(struct tables_changed){ 0 }, sizeof(d.tables[c]));
}
END_TEST

START_TEST(each_kind_of_table)
{
	compare_with(policy_with(3, 10, 0));	/* VLs 0 to 2 are used, which takes four operational VLs */
	expect(d.least, SL2VLS, 0, 0);
	expect(d.most, SL2VLS, 0, 0);
	ck_assert_uint_eq(d.tables[CLASS_CA].sl2vl, 3);
	ck_assert_uint_eq(d.tables[CLASS_SWITCH].sl2vl, 3 * 2 + 3);
	compare_with(policy_with(4, 11, 0));
	expect(d.least, 0, 6, 0);		/* one low block each */
	ck_assert_uint_eq(d.tables[CLASS_CA].vlarb, 3);
	ck_assert_uint_eq(d.tables[CLASS_SWITCH].vlarb, 3);
	compare_with(policy_with(4, 10, 5));
	expect(d.least, 0, 0, 6);
	ck_assert_uint_eq(d.tables[CLASS_CA].high_limit, 3);
	ck_assert_uint_eq(d.tables[CLASS_SWITCH].high_limit, 3);
	ck_assert_uint_eq(d.tables[CLASS_CA].op_vls, 0);
}
END_TEST

/* promise: D32 */
START_TEST(vls_are_added_and_taken_away)
{
	compare_with(policy_with(8, 10, 0));
	expect(d.least, SL2VLS, 0, 6);
	ck_assert_uint_eq(d.tables[CLASS_CA].op_vls, 3);
	compare_with(policy_with(1, 10, 0));
	ck_assert_uint_eq(d.tables[CLASS_CA].op_vls, 3);
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_PORT_INFO], 6);
	settings->active_vls = ACTIVE_VLS_WAIT;
	compare_with(policy_with(1, 10, 0));
	ck_assert_uint_eq(d.most[UMAD_SM_ATTR_PORT_INFO], 0);
}
END_TEST

START_TEST(optimized_programming_is_counted)
{
	f->switches[0].optimized_sl2vl = true;
	compare_with(policy_with(3, 10, 0));
	expect(d.least, 3 + 1, 0, 0);
	expect(d.most, 3 + 1, 0, 0);
	ck_assert_uint_eq(d.tables[CLASS_SWITCH].sl2vl, 3 * 2 + 3);
}
END_TEST

START_TEST(what_is_only_tried_stays_by_itself)
{
	item_t probe = ITEM(ITEM_SL2VL, 2, 1) | ITEM_PROBE, whole = ITEM(ITEM_SL2VL, ITEM_ALL, ITEM_ALL);
	item_t items[] = {
		ITEM(ITEM_SL2VL, 0, 1), probe, ITEM(ITEM_SL2VL, 3, 1),
		ITEM(ITEM_SL2VL, 0, 2), ITEM(ITEM_VLARB, 1, 1),
	};

	f->switches[0].optimized_sl2vl = true;
	ck_assert_uint_eq(optimized_sl2vl_join(old_plan, sw, items, 3), 2);
	ck_assert_uint_eq(items[0], ITEM(ITEM_SL2VL, ITEM_ALL, 1));
	ck_assert_uint_eq(items[1], probe);
	items[0] = ITEM(ITEM_SL2VL, 0, 1);
	items[2] = ITEM(ITEM_SL2VL, 3, 1);
	ck_assert_uint_eq(optimized_sl2vl_join(old_plan, sw, items, 5), 3);
	ck_assert_uint_eq(items[0], whole);
	ck_assert_uint_eq(items[1], probe);
	ck_assert_uint_eq(items[2], ITEM(ITEM_VLARB, 1, 1));
}
END_TEST

START_TEST(what_nobody_wrote_may_be_anything)
{
	plan_free(old_plan);
	policy_free(old_policy);
	old_policy = policy_builtin();
	old_plan = plan_for(old_policy);
	bring_up();
	compare_with(policy_with(4, 10, 0));
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_SLVL_TABLE], 0);
	ck_assert_uint_eq(d.most[UMAD_SM_ATTR_SLVL_TABLE], SL2VLS);
	ck_assert_uint_gt(d.most[UMAD_SM_ATTR_VL_ARB_TABLE], d.least[UMAD_SM_ATTR_VL_ARB_TABLE]);
	ck_assert_uint_eq(d.most[UMAD_SM_ATTR_PORT_INFO], d.least[UMAD_SM_ATTR_PORT_INFO]);
	ck_assert_uint_eq(d.most[UMAD_SM_ATTR_LINEAR_FT], 0);
}
END_TEST

START_TEST(a_doubtful_device_is_read)
{
	map64_put(&k.doubtful, 0x200, 1);
	compare_with(policy_with(3, 10, 0));
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_SLVL_TABLE], SL2VLS - 1);
	ck_assert_uint_eq(d.most[UMAD_SM_ATTR_SLVL_TABLE], SL2VLS);
	ck_assert_uint_gt(d.most[UMAD_SM_ATTR_PKEY_TABLE], 0);
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_PKEY_TABLE], 0);
	ck_assert_uint_eq(d.tables[CLASS_CA].pkey, 0);	/* the plans agree */
}
END_TEST

/* A value that a port refused by answering another is not sent again. */
START_TEST(refused_values_are_not_sent)
{
	uint32_t port = fabric_find_port(f, 0x201);
	struct want_env e;
	uint8_t info[64];

	compare_with(policy_with(4, 10, 5));
	e = (struct want_env){ .plan = new_plan, .sm_lid = new_plan->lid[f->self] };
	memcpy(info, f->ports[port].info, sizeof(info));
	want_port_fields(&e, port, info);
	store_refused(store, 0x200, UMAD_SM_ATTR_PORT_INFO, 1, port_info_digest(&e, port, info),
		      port_info_digest(&e, port, f->ports[port].info));
	refusals_free(k.refused);
	k.refused = refusals_copy(store_refusals(store));
	compare_with(policy_with(4, 10, 5));
	expect(d.least, 0, 0, 5);
}
END_TEST

START_TEST(switch_info_that_was_ignored_counts_until_it_changes)
{
	const struct fabric_switch zeros = { .lft_top = 0, .lifetime = 0 };
	const struct fabric_switch others[] = { { .lft_top = 0, .lifetime = 18 },
						{ .lft_top = 16, .lifetime = 0 } };
	struct refused_set r = { .attr = UMAD_SM_ATTR_SWITCH_INFO,
				 .got = switch_info_digest(0, 0) };

	ck_assert(switch_info_is_fixed(&zeros, &r));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert(!switch_info_is_fixed(&others[i], &r));
	r.got = REFUSAL_STATUS | 0x1c;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert(switch_info_is_fixed(&others[i], &r));
}
END_TEST

START_TEST(ports_that_are_not_up_yet)
{
	uint32_t port = fabric_find_port(f, 0x201), peer = f->ports[port].peer;

	f->ports[port].state = f->ports[peer].state = IB_PORT_INIT_S;
	compare_with(policy_with(4, 10, 0));
	/* each end becomes Armed, then Active; the restarted device is read */
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_PORT_INFO], 4);
	ck_assert_uint_gt(d.most[UMAD_SM_ATTR_SLVL_TABLE], 0);
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_SLVL_TABLE], 0);
	f->ports[peer].state = IB_PORT_ARMED_S;
	compare_with(policy_with(4, 10, 0));
	ck_assert_uint_eq(d.least[UMAD_SM_ATTR_PORT_INFO], 3);
}
END_TEST

/* --- nodes whose items need not be looked at --- */

struct look {
	uint32_t node;
	bool no_routes, differs;
};

static void look_at(void *arg, item_t item)
{
	struct look *l = arg;

	if (l->no_routes && ITEM_KIND(item) == ITEM_LFT)
		return;
	l->differs |= item_change(old_plan, l->node, new_plan, l->node, item) != ITEM_SAME;
}

/* Counts the nodes that are reported as equal, and checks that they are. */
static unsigned count_same(struct fabric *g, bool no_routes)
{
	struct plan_pair pair;
	unsigned n = 0;

	plan_pair_init(&pair, old_plan, new_plan);
	for (uint32_t node = 0; node < g->n_nodes; node++) {
		struct look l = { .node = node, .no_routes = no_routes };

		if (!node_items_same(&pair, node, node, no_routes))
			continue;
		want_items(new_plan, node, look_at, &l);
		ck_assert(!l.differs);
		n++;
	}
	return n;
}

/* Changes something in the new plan or its fabric that takes a Set to at least one device. */
static void change(struct fabric *g, int what)
{
	uint32_t port = g->nodes[sw].port0 + 1, host = f->ports[port].peer;
	struct qos_tables *t = new_plan->tables;
	struct partitions *p = new_plan->partitions;

	switch (what) {
	case 0:
		t->arb[port] = TABLE_NONE;
		break;
	case 1:
		t->arbs[t->arb[host]].low[0].weight ^= 1;
		break;
	case 2:
		t->maps[t->ca_map[host]].vl[3] ^= 1;
		break;
	case 3:
		t->ca_map[host] = TABLE_NONE;
		break;
	case 4:
		new_plan->lfts->entries[1] ^= 1;
		break;
	case 5:
		p->enforce[port] = !p->enforce[port];
		break;
	case 6:
		p->tables[p->table[host]].keys[0] ^= 1;
		break;
	case 7:
		p->table[host] = 0;
		break;
	case 8:
		g->nodes[g->ports[host].node].partition_cap += 32;
		break;
	case 9:
		g->ports[host].vlarb_low_cap = 64;
		break;
	case 10:
		g->switches[0].enhanced_port0 = !g->switches[0].enhanced_port0;
		break;
	case 11:
		g->ports[g->ports[port].peer].peer = FABRIC_NONE;
		g->ports[port].peer = FABRIC_NONE;
		break;
	case 12:
		if (t->sw[0].ids)
			t->sw[0].ids[1] = TABLE_NONE;
		else
			t->sw[0].uniform = TABLE_NONE;
		break;
	}
}
#define CHANGES 13

START_TEST(nodes_that_are_the_same)
{
	struct fabric *g = fabric_clone(f);

	new_policy = policy_with(4, 10, 0);
	new_plan = plan_compute(g, new_policy, settings, &known, NULL, NULL);
	ck_assert_uint_eq(count_same(g, false), g->n_nodes);
	change(g, _i);
	ck_assert_uint_lt(count_same(g, false), g->n_nodes);
	/* the order in which routes are written does not matter here */
	ck_assert_int_eq(count_same(g, true) == g->n_nodes, _i == 4);
	plan_free(new_plan);
	new_plan = NULL;
	fabric_free(g);
}
END_TEST

static Suite *difference_suite(void)
{
	Suite *s = suite_create("sm difference");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nothing_differs);
	tcase_add_test(t, each_kind_of_table);
	tcase_add_test(t, vls_are_added_and_taken_away);
	tcase_add_test(t, optimized_programming_is_counted);
	tcase_add_test(t, what_is_only_tried_stays_by_itself);
	tcase_add_test(t, what_nobody_wrote_may_be_anything);
	tcase_add_test(t, a_doubtful_device_is_read);
	tcase_add_test(t, refused_values_are_not_sent);
	tcase_add_test(t, switch_info_that_was_ignored_counts_until_it_changes);
	tcase_add_test(t, ports_that_are_not_up_yet);
	tcase_add_loop_test(t, nodes_that_are_the_same, 0, CHANGES);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(difference_suite());
}
