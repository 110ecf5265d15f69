/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests routes around switches whose tables do not hold all LIDs, or whose entries are fixed: two
 * spines and four leaves with two hosts each, 14 LIDs.
 */
#include <check.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "net.h"
#include "plan/routes/lft_caps.h"
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

/* Whether a packet for a LID gets from a switch to its destination, over switches with that LID. */
static bool arrives(uint32_t sw, uint16_t lid)
{
	for (unsigned hops = 0; hops < 20; hops++) {
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

/* The number of LIDs that do not arrive from the leaves. */
static unsigned lost(void)
{
	unsigned n = 0;

	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++)
			n += p->port_by_lid[lid] != FABRIC_NONE && !arrives(sw_of(LEAF + leaf), lid);
	return n;
}

/* The number of those that belong to switches with fixed entries. */
static unsigned lost_own(void)
{
	unsigned n = 0;

	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++) {
			uint32_t port = p->port_by_lid[lid];

			n += port != FABRIC_NONE && node_is_switch(port_node(f, port)) &&
			     fabric_keeps_any(f, port_node(f, port)->sw) &&
			     !arrives(sw_of(LEAF + leaf), lid);
		}
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

/* promise: D5 */
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

/* Spines with tables of two sizes: each carries the LIDs that it holds. */
/* promise: D5 */
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

/*
 * Three leaves, A and B on one spine, B and C on another, all on a third that forwards nothing.  In the
 * order of all switches, the path from A to C goes down to B and up again; without the third spine in the
 * order, it is legal.
 */
static void leaves_in_a_row(void)
{
	uint32_t leaves[3], spines[3];

	fabric_free(f);
	f = fabric_new();
	for (unsigned i = 0; i < 3; i++)
		leaves[i] = net_ca(f, HOST + 0x10 * i, 1);
	for (unsigned i = 0; i < 3; i++) {
		uint32_t host = leaves[i];

		leaves[i] = net_switch(f, LEAF + i, 8, false);
		fabric_link(f, host, 1, leaves[i], 1);
	}
	for (unsigned i = 0; i < 3; i++)
		spines[i] = net_switch(f, SPINE + i, 8, false);
	for (unsigned i = 0; i < 2; i++) {
		fabric_link(f, leaves[i], 5, spines[i], 1);
		fabric_link(f, leaves[i + 1], 6, spines[i], 2);
	}
	for (unsigned i = 0; i < 3; i++)
		fabric_link(f, leaves[i], 7, spines[2], i + 1);
	net_finish(f);
}

/* promise: A105 */
START_TEST(down_and_up_again)
{
	leaves_in_a_row();
	compute();
	ck_assert_str_eq(p->engine, "updn");
	ck_assert_uint_eq(p->report.unreachable, 0);
	plan_free(p);
	set_cap(SPINE + 2, 0);
	compute();
	for (unsigned leaf = 0; leaf < 3; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++) {
			uint32_t port = p->port_by_lid[lid];

			ck_assert(port == FABRIC_NONE || arrives(sw_of(LEAF + leaf), lid) ||
				  port_node(f, port)->guid == SPINE + 2);
		}
	ck_assert(!p->report.credit_loop);
	ck_assert_uint_eq(p->cut_pairs, 3);
	ck_assert_uint_eq(p->short_findings.count[SEV_WARNING], 1);
	ck_assert_uint_eq(p->short_findings.count[SEV_ERROR], 1);
	/* the same with a spine that keeps an empty table */
	f->switches[sw_of(SPINE + 2)].lft_cap = 0xc000;
	f->switches[sw_of(SPINE + 2)].top_stays = true;
	f->switches[sw_of(SPINE + 2)].lft_top = 0;
	plan_free(p);
	compute();
	ck_assert_uint_eq(p->cut_pairs, 3);
}
END_TEST

/* Fixes the only block of a switch's table to entries of `fill`. */
static struct lft_fixed *keeps(uint64_t guid, uint8_t fill, uint32_t *n, struct lft_fixed *list)
{
	struct lft_fixed k = { .sw = sw_of(guid) };

	memset(k.entries, fill, sizeof(k.entries));
	list[(*n)++] = k;
	return &list[*n - 1];
}

static void take_kept(const struct lft_fixed *list, uint32_t n)
{
	struct lft_fixed *copy = xmemdup(list, n * sizeof(*list));

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (copy[k].sw < copy[i].sw) {
				struct lft_fixed x = copy[i];

				copy[i] = copy[k];
				copy[k] = x;
			}
	fabric_keep_blocks(f, copy, n);
}

/* A spine that drops everything: the other spine carries all, and no leaf has an entry to the first. */
/* promise: D90 */
START_TEST(keeps_an_empty_table)
{
	struct lft_fixed list[1];
	uint32_t n = 0;

	keeps(SPINE, LFT_DROP, &n, list);
	take_kept(list, n);
	compute();
	ck_assert_uint_eq(p->fixed_switches, 1);
	ck_assert_uint_eq(p->short_switches, 0);
	ck_assert(!p->report.credit_loop);
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (uint16_t lid = 1; lid <= p->lid_top; lid++)
			ck_assert_uint_ne(lft_get(p->lfts, sw_of(LEAF + leaf), lid), 5);
	/* all but the spine itself */
	ck_assert_uint_eq(p->cut_findings.count[SEV_ERROR], 0);
	ck_assert_uint_eq(p->report.unreachable, LEAVES);
	ck_assert_uint_eq(p->cut_pairs, LEAVES);
	for (uint32_t lid = 0; lid < LFT_BLOCK; lid++)
		ck_assert_uint_eq(lft_get(p->lfts, sw_of(SPINE), (uint16_t)lid), LFT_DROP);
}
END_TEST

/* A spine that sends all to the first leaf: packets of other leaves do not go there and back. */
/* promise: D90 */
START_TEST(keeps_wrong_entries)
{
	struct lft_fixed list[1];
	uint32_t n = 0;

	keeps(SPINE, 1, &n, list);
	take_kept(list, n);
	compute();
	ck_assert_uint_eq(p->report.loops, 0);
	ck_assert(!p->report.credit_loop);
	ck_assert_uint_eq(p->report.unreachable, LEAVES);
	ck_assert_uint_eq(p->cut_pairs, LEAVES);
}
END_TEST

/* Fixed entries that are right are used, so nothing changes. */
/* promise: D90 */
START_TEST(keeps_right_entries)
{
	struct lft_fixed list[1], *k;
	struct lfts *before;
	uint32_t n = 0;

	compute();
	before = lfts_copy(p->lfts);
	k = keeps(LEAF, 0, &n, list);
	memcpy(k->entries, before->entries + (size_t)sw_of(LEAF) * before->stride, LFT_BLOCK);
	take_kept(list, n);
	plan_free(p);
	compute();
	ck_assert_uint_eq(p->fixed_switches, 1);
	ck_assert_mem_eq(p->lfts->entries, before->entries, (size_t)before->n_switches * before->stride);
	ck_assert_uint_eq(p->report.unreachable, 0);
	ck_assert_uint_eq(p->cut_findings.n, 0);
	lfts_free(before);
}
END_TEST

/* A switch that refuses SwitchInfo drops LIDs above its LinearFDBTop. */
/* promise: D90 */
START_TEST(keeps_its_top)
{
	f->switches[sw_of(SPINE)].top_stays = true;
	f->switches[sw_of(SPINE)].lft_top = 5;
	compute();
	ck_assert_uint_eq(p->fixed_switches, 1);
	ck_assert_uint_eq(plan_lft_top(p, sw_of(SPINE)), 14);
	for (uint16_t lid = 6; lid <= p->lid_top; lid++) {
		ck_assert_uint_eq(lft_get(p->lfts, sw_of(SPINE), lid), LFT_DROP);
		for (unsigned leaf = 0; leaf < LEAVES; leaf++)
			ck_assert_uint_ne(lft_get(p->lfts, sw_of(LEAF + leaf), lid), 5);
	}
}
END_TEST

/* A switch falls silent and keeps its entries of the present routes. */
static struct lft_fixed *falls_silent(uint64_t guid, uint32_t *n, struct lft_fixed *list)
{
	struct lft_fixed *k = keeps(guid, LFT_DROP, n, list);

	memcpy(k->entries, p->lfts->entries + (size_t)k->sw * p->lfts->stride, p->lid_top + 1u);
	f->nodes[f->switches[k->sw].node].silent = true;
	return k;
}

/* Puts a link in doubt: neither end is known to be up. */
static void in_doubt(uint64_t guid, unsigned num)
{
	struct fabric_port *end = fabric_port(f, map64_get(&f->node_by_guid, guid), num);

	end->held = f->ports[end->peer].held = true;
	end->state = f->ports[end->peer].state = IB_PORT_NOP;
}

static uint16_t lid_of_host(unsigned i)
{
	return p->lid[f->nodes[map64_get(&f->node_by_guid, HOST + 0x10 * i)].port0 + 1];
}

/* A fat tree of four pods: leaves and spines of pod n from LEAF and SPINE + 2 * n on, and four cores. */
enum { CORE = 0xa00, PODS = 4 };
static void fat_tree(void)
{
	uint32_t hosts[2 * PODS], leaves[2 * PODS], spines[2 * PODS], cores[4];

	fabric_free(f);
	f = fabric_new();
	for (unsigned i = 0; i < 2 * PODS; i++)
		hosts[i] = net_ca(f, HOST + 0x10 * i, 1);
	for (unsigned i = 0; i < 2 * PODS; i++)
		leaves[i] = net_switch(f, LEAF + i, 4, false);
	for (unsigned i = 0; i < 2 * PODS; i++)
		spines[i] = net_switch(f, SPINE + i, 4, false);
	for (unsigned i = 0; i < 4; i++)
		cores[i] = net_switch(f, CORE + i, 4, false);
	for (unsigned i = 0; i < 2 * PODS; i++) {
		fabric_link(f, hosts[i], 1, leaves[i], 1);
		for (unsigned k = 0; k < 2; k++) {
			fabric_link(f, leaves[i], 3 + k, spines[i / 2 * 2 + k], 1 + i % 2);
			fabric_link(f, spines[i], 3 + k, cores[i % 2 + 2 * k], 1 + i / 2);
		}
	}
	net_finish(f);
}

/* Whether one leaf has a path to another through switches that answer. */
static bool by_those_that_answer(uint32_t from, uint32_t to)
{
	bool seen[4 * PODS + 4] = { false };
	uint32_t queue[4 * PODS + 4] = { from };

	seen[from] = true;
	for (unsigned i = 0, n = 1; i < n; i++) {
		const struct fabric_node *at = &f->nodes[f->switches[queue[i]].node];

		for (uint32_t port = at->port0 + 1; port <= at->port0 + at->nports && !at->silent; port++) {
			uint32_t peer = f->ports[port].peer;
			uint32_t sw = peer == FABRIC_NONE ? FABRIC_NONE : port_node(f, peer)->sw;

			if (sw == FABRIC_NONE || seen[sw] || port_node(f, peer)->silent)
				continue;
			seen[sw] = true;
			queue[n++] = sw;
		}
	}
	return seen[to];
}

/*
 * Some switches do not answer, and may have lost their tables: every pair with a path through the others
 * is served, even if that path goes down and up again.
 */
START_TEST(round_the_silent)
{
	uint64_t seed = (uint64_t)_i * 0x9e3779b97f4a7c15ull + 1;

	fat_tree();
	for (unsigned round = 0; round < 25; round++) {
		struct lft_fixed list[4 * PODS + 4], *k;
		uint32_t n = 0;

		fabric_keep_blocks(f, NULL, 0);
		for (uint32_t sw = 0; sw < f->n_switches; sw++)
			f->nodes[f->switches[sw].node].silent = false;
		plan_free(p);
		compute();
		for (uint32_t sw = 0; sw < f->n_switches; sw++) {
			if (net_random(&seed) % 5 >= 2)
				continue;
			k = falls_silent(f->nodes[f->switches[sw].node].guid, &n, list);
			for (unsigned lid = 1; lid <= p->lid_top; lid++)
				if (!(net_random(&seed) % 4))
					k->entries[lid] = LFT_DROP;
		}
		take_kept(list, n);
		plan_free(p);
		compute();
		for (unsigned from = 0; from < 2 * PODS; from++)
			for (unsigned to = 0; to < 2 * PODS; to++)
				ck_assert(!by_those_that_answer(sw_of(LEAF + from), sw_of(LEAF + to)) ||
					  f->nodes[f->switches[sw_of(LEAF + from)].node].silent ||
					  f->nodes[f->switches[sw_of(LEAF + to)].node].silent ||
					  arrives(sw_of(LEAF + from), lid_of_host(to)));
		ck_assert_uint_eq(p->report.loops, 0);
	}
}
END_TEST

/* Two spines do not answer, and the link of each to a leaf is in doubt: the third spine carries the routes. */
START_TEST(round_links_in_doubt)
{
	struct lft_fixed list[2];
	uint32_t n = 0;

	leaves_in_a_row();
	compute();
	falls_silent(SPINE, &n, list);
	falls_silent(SPINE + 1, &n, list);
	take_kept(list, n);
	in_doubt(SPINE, 1);
	in_doubt(SPINE + 1, 2);
	plan_free(p);
	compute();
	for (unsigned leaf = 0; leaf < 3; leaf++)
		for (unsigned host = 0; host < 3; host++) {
			ck_assert(arrives(sw_of(LEAF + leaf), lid_of_host(host)));
			ck_assert(leaf == host || leaf == 1 || host == 1 ||
				  lft_get(p->lfts, sw_of(LEAF + leaf), lid_of_host(host)) == 7);
		}
}
END_TEST

/* If there is no other path, switches with an entry for a link in doubt use it. */
START_TEST(links_in_doubt_as_the_last_resort)
{
	struct lft_fixed list[2];
	uint32_t n = 0;

	compute();
	falls_silent(SPINE, &n, list);
	falls_silent(SPINE + 1, &n, list);
	take_kept(list, n);
	in_doubt(SPINE, 1);
	in_doubt(SPINE + 1, 1);
	plan_free(p);
	compute();
	for (unsigned leaf = 1; leaf < LEAVES; leaf++)
		for (unsigned host = 0; host < 2 * LEAVES; host++)
			ck_assert(arrives(sw_of(LEAF + leaf), lid_of_host(host)));
	ck_assert_uint_gt(p->cut_hosts, 0);
}
END_TEST

/*
 * Some switches have fixed tables with random entries: a LID that does not arrive from every leaf is
 * reported as cut off, and cycles consist of fixed entries only.
 */
/* promise: D90 */
START_TEST(keeps_anything)
{
	static const uint64_t guids[] = { SPINE, SPINE + 1, LEAF, LEAF + 1, LEAF + 2 };
	uint64_t seed = (uint64_t)_i * 0x9e3779b97f4a7c15ull + 1;

	for (unsigned round = 0; round < 50; round++) {
		struct lft_fixed list[5];
		unsigned which = net_random(&seed) % 31 + 1;
		uint32_t n = 0;

		for (unsigned i = 0; i < 5; i++) {
			if (!(which >> i & 1))
				continue;
			struct lft_fixed *k = keeps(guids[i], 0, &n, list);

			for (unsigned at = 0; at < LFT_BLOCK; at++)
				k->entries[at] = (uint8_t)(net_random(&seed) % 10);
		}
		take_kept(list, n);
		plan_free(p);
		compute();
		ck_assert_uint_eq(p->fixed_switches, n);
		ck_assert_uint_eq(p->cut_findings.count[SEV_ERROR], lost() > lost_own());
		for (unsigned i = 0; i < 2 + LEAVES; i++) {
			uint32_t sw = i < 2 ? sw_of(SPINE + i) : sw_of(LEAF + i - 2);

			if (fabric_fixed_block(f, sw, 0))
				ck_assert_mem_eq(p->lfts->entries + (size_t)sw * p->lfts->stride,
						 fabric_fixed_block(f, sw, 0), LFT_BLOCK);
			for (uint16_t lid = 1; lid <= p->lid_top && !fabric_fixed_block(f, sw, 0); lid++)
				ck_assert(arrives(sw, lid) || lft_get(p->lfts, sw, lid) == LFT_DROP ||
					  p->port_by_lid[lid] == FABRIC_NONE ||
					  fabric_switch_of(f, p->port_by_lid[lid]) == sw);
		}
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
	tcase_add_test(c, down_and_up_again);
	tcase_add_test(c, keeps_an_empty_table);
	tcase_add_test(c, keeps_wrong_entries);
	tcase_add_test(c, keeps_right_entries);
	tcase_add_test(c, keeps_its_top);
	tcase_add_test(c, round_links_in_doubt);
	tcase_add_test(c, links_in_doubt_as_the_last_resort);
	tcase_add_loop_test(c, keeps_anything, 0, 4);
	tcase_add_loop_test(c, round_the_silent, 0, 4);
	suite_add_tcase(s, c);
	return run_suite(s);
}
