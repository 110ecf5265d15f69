/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes round switches that do not hold all LIDs: two spines and four leaves with two
 * hosts each, 14 LIDs.
 */
#include <check.h>
#include <string.h>

#include "net.h"
#include "plan/lft_caps.h"
#include "unit/run.h"

#define LEAVES 4
enum { SPINE = 0x900, LEAF = 0x500, HOST = 0x100 };

static struct fabric *f;
static struct settings *settings;
static struct policy *policy;
static struct plan *p;

static void setup(void)
{
	uint32_t hosts[2 * LEAVES], leaves[LEAVES], spines[2];

	f = fabric_new();
	for (unsigned i = 0; i < 2 * LEAVES; i++)
		hosts[i] = net_ca(f, HOST + 0x10 * i, 1);
	for (unsigned i = 0; i < LEAVES; i++)
		leaves[i] = net_switch(f, LEAF + i, 8, false);
	for (unsigned i = 0; i < 2; i++)
		spines[i] = net_switch(f, SPINE + i, 8, false);
	for (unsigned i = 0; i < LEAVES; i++) {
		fabric_link(f, hosts[2 * i], 1, leaves[i], 1);
		fabric_link(f, hosts[2 * i + 1], 1, leaves[i], 2);
		fabric_link(f, leaves[i], 5, spines[0], i + 1);
		fabric_link(f, leaves[i], 6, spines[1], i + 1);
	}
	net_finish(f);
	settings = settings_default();
	policy = policy_builtin();
	p = NULL;
}

static void teardown(void)
{
	plan_free(p);
	fabric_free(f);
	policy_free(policy);
	settings_free(settings);
}

static uint32_t sw_of(uint64_t guid)
{
	return f->nodes[map64_get(&f->node_by_guid, guid)].sw;
}

static void set_cap(uint64_t guid, uint16_t cap)
{
	f->switches[sw_of(guid)].lft_cap = cap;
}

static void compute(void)
{
	p = plan_compute(f, policy, settings, NULL, NULL, NULL);
}

/* Whether a packet for a LID gets from a switch to where it belongs, over switches that hold it. */
static bool arrives(uint32_t sw, uint16_t lid)
{
	for (unsigned hops = 0; hops < 8; hops++) {
		const struct fabric_node *n = &f->nodes[f->switches[sw].node];
		unsigned out = lid < f->switches[sw].lft_cap ? lft_get(p->lfts, sw, lid) : LFT_DROP;
		uint32_t next;

		if (out == 0)
			return p->port_by_lid[lid] == n->port0;
		if (out > n->nports)
			return false;
		next = f->ports[n->port0 + out].peer;
		if (next == FABRIC_NONE)
			return false;
		if (!node_is_switch(port_node(f, next)))
			return p->port_by_lid[lid] == next;
		sw = port_node(f, next)->sw;
	}
	return false;
}

/* LIDs that do not arrive from the leaves. */
static unsigned lost(void)
{
	unsigned n = 0;

	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++)
			n += p->port_by_lid[lid] != FABRIC_NONE && !arrives(sw_of(LEAF + leaf), lid);
	return n;
}

START_TEST(all_fit)
{
	set_cap(SPINE, 15);
	compute();
	ck_assert_uint_eq(p->lid_top, 14);
	ck_assert_uint_eq(p->short_switches, 0);
	ck_assert_uint_eq(p->short_findings.n, 0);
	ck_assert_uint_eq(plan_lft_top(p, sw_of(SPINE)), 14);
	ck_assert_uint_eq(plan_lft_entries(p, sw_of(SPINE), 0), 15);
	ck_assert_uint_eq(lost(), 0);
}
END_TEST

START_TEST(another_way)
{
	set_cap(SPINE, 6);
	compute();
	ck_assert_uint_eq(p->short_switches, 1);
	ck_assert_uint_eq(plan_lft_top(p, sw_of(SPINE)), 5);
	ck_assert_uint_eq(plan_lft_top(p, sw_of(SPINE + 1)), 14);
	ck_assert_uint_eq(lost(), 0);
	ck_assert(!p->report.credit_loop);
	for (uint16_t lid = 6; lid <= p->lid_top; lid++)
		ck_assert_uint_eq(lft_get(p->lfts, sw_of(SPINE), lid), LFT_DROP);
	ck_assert_uint_eq(p->short_findings.count[SEV_WARNING], 1);
	ck_assert_uint_eq(p->short_findings.count[SEV_ERROR], 0);
}
END_TEST

/* Two sizes: each is the way for what it holds. */
START_TEST(two_sizes)
{
	set_cap(SPINE, 6);
	set_cap(SPINE + 1, 10);
	compute();
	ck_assert_uint_eq(p->short_switches, 2);
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (uint16_t lid = 1; lid < 10; lid++)
			ck_assert(arrives(sw_of(LEAF + leaf), lid) ||
				  p->port_by_lid[lid] == FABRIC_NONE);
	ck_assert_uint_gt(lost(), 0);
	ck_assert_uint_eq(p->short_findings.count[SEV_ERROR], 1);
	ck_assert_ptr_nonnull(strstr(p->short_findings.v[2].text, "10 to 14"));
}
END_TEST

START_TEST(no_table_at_all)
{
	set_cap(LEAF + 3, 0);
	compute();
	ck_assert_uint_eq(plan_lft_entries(p, sw_of(LEAF + 3), 0), 0);
	ck_assert_uint_eq(p->short_findings.count[SEV_ERROR], 1);
	for (unsigned leaf = 0; leaf < LEAVES - 1; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++) {
			uint32_t port = p->port_by_lid[lid];

			if (port != FABRIC_NONE && fabric_switch_of(f, port) != sw_of(LEAF + 3))
				ck_assert(arrives(sw_of(LEAF + leaf), lid));
		}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lft_caps");
	TCase *c = tcase_create("lft_caps");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, all_fit);
	tcase_add_test(c, another_way);
	tcase_add_test(c, two_sizes);
	tcase_add_test(c, no_table_at_all);
	suite_add_tcase(s, c);
	return run_suite(s);
}
