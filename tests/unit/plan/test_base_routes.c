/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests that routes stay: a fault moves only the routes that used the failed part, a part that
 * returns has its former routes, and absent parts keep their LIDs and entries.  The fabric has
 * two spines and four leaves with two hosts each.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "net.h"
#include "plan/routes/base_routes.h"
#include "unit/run.h"

#define LEAVES 4
enum { SPINE = 0x900, LEAF = 0x500, HOST = 0x100 };

static struct fabric *whole;
static struct settings *settings;
static struct policy *policy;
static struct plan *first;
static struct lid_map known;	/* the LIDs of first */

static uint64_t host_guid(unsigned i)
{
	return HOST + 0x10 * i;
}

static uint32_t node_of(const struct fabric *f, uint64_t guid)
{
	return map64_get(&f->node_by_guid, guid);
}

/* Builds the whole fabric, but does not finish it. */
static struct fabric *build(void)
{
	struct fabric *f = fabric_new();

	for (unsigned i = 0; i < 2 * LEAVES; i++)
		net_ca(f, host_guid(i), 1);
	for (unsigned i = 0; i < LEAVES; i++)
		net_switch(f, LEAF + i, 8, false);
	net_switch(f, SPINE, 8, false);
	net_switch(f, SPINE + 1, 8, false);
	for (unsigned i = 0; i < LEAVES; i++) {
		uint32_t leaf = node_of(f, LEAF + i);

		fabric_link(f, 2 * i, 1, leaf, 1);
		fabric_link(f, 2 * i + 1, 1, leaf, 2);
		fabric_link(f, leaf, 5, node_of(f, SPINE), i + 1);
		fabric_link(f, leaf, 6, node_of(f, SPINE + 1), i + 1);
	}
	return f;
}

static void setup(void)
{
	whole = build();
	net_finish(whole);
	settings = settings_default();
	policy = policy_builtin();
	first = plan_compute(whole, policy, settings, NULL, NULL, NULL);
	known = (struct lid_map){ 0 };
	map64_init(&known.by_guid, 32);
	map64_init(&known.lmc_by_guid, 32);
	for (uint32_t i = 0; i < whole->n_ports; i++)
		if (first->lid[i]) {
			map64_put(&known.by_guid, whole->ports[i].guid, first->lid[i]);
			map64_put(&known.lmc_by_guid, whole->ports[i].guid, 0);
		}
}

static void teardown(void)
{
	map64_free(&known.by_guid);
	map64_free(&known.lmc_by_guid);
	plan_free(first);
	fabric_free(whole);
	policy_free(policy);
	settings_free(settings);
}

/* The whole fabric, whose devices have the LIDs of a plan. */
static struct fabric *with_lids(const struct plan *p)
{
	struct fabric *f = fabric_clone(p->f);

	for (uint32_t i = 0; i < f->n_ports; i++) {
		f->ports[i].lid = p->lid[i];
		f->ports[i].lmc = p->lmc[i];
	}
	return f;
}

/* The fabric of a plan without a node, or without a link. */
static struct fabric *without(const struct plan *p, uint64_t guid, unsigned num)
{
	struct fabric *f = with_lids(p), *to;
	uint32_t node = node_of(f, guid);
	struct buf err = { 0 };

	for (unsigned i = num ? num : 1; i <= (num ? num : f->nodes[node].nports); i++)
		fabric_cut(f, f->nodes[node].port0 + i);
	to = fabric_settle(f, &err);
	ck_assert_ptr_nonnull(to);
	buf_free(&err);
	fabric_free(f);
	return to;
}

/* The entry of a switch for the LID that a port has in `first`; LIDs never change. */
static unsigned entry(const struct plan *p, uint64_t sw, uint64_t port_guid)
{
	return lft_get(p->lfts, p->f->nodes[node_of(p->f, sw)].sw,
		       first->lid[fabric_find_port(whole, port_guid)]);
}

/* The fabric of a plan with a link that is held. */
static struct fabric *holding(const struct plan *p, uint64_t guid, unsigned num)
{
	struct fabric *f = with_lids(p);
	uint32_t port = f->nodes[node_of(f, guid)].port0 + num;

	f->ports[port].held = f->ports[f->ports[port].peer].held = true;
	return f;
}

/* How many entries for hosts differ between a and b, on switches that both have. */
static unsigned count_moved(const struct plan *a, const struct plan *b)
{
	unsigned n = 0;

	for (uint32_t sw = 0; sw < a->f->n_switches; sw++) {
		uint64_t guid = a->f->nodes[a->f->switches[sw].node].guid;

		if (node_of(b->f, guid) == MAP64_NONE)
			continue;
		for (unsigned i = 0; i < 2 * LEAVES; i++)
			n += node_of(a->f, host_guid(i)) != MAP64_NONE &&
			     entry(a, guid, host_guid(i) + 1) != entry(b, guid, host_guid(i) + 1);
	}
	return n;
}

static struct plan *next(struct fabric *f, const struct plan *before)
{
	return plan_compute(f, policy, settings, &known, before, NULL);
}

/* promise: F8 */
START_TEST(a_link_that_is_held)
{
	struct fabric *f = without(first, LEAF + 1, 5), *g = holding(first, LEAF + 1, 5);
	struct fabric *h = with_lids(first);
	struct plan *broken = next(f, first), *held = next(g, first), *again = next(h, held);

	/* the routes are those without the link, and the former ones when the hold ends */
	ck_assert(routes_follow(held, first) && routes_follow(again, held));
	ck_assert_uint_eq(held->now->dead.n, 2);
	ck_assert_uint_eq(held->report.unreachable, 0);
	ck_assert_uint_gt(count_moved(first, held), 0);
	ck_assert_uint_eq(count_moved(broken, held), 0);
	ck_assert_uint_eq(count_moved(first, again), 0);
	plan_free(again);
	plan_free(held);
	/* a start with a held link, which must not change the base */
	held = next(g, NULL);
	ck_assert_uint_eq(count_moved(broken, held), 0);
	plan_free(held);
	plan_free(broken);
	fabric_free(h);
	fabric_free(g);
	fabric_free(f);
}
END_TEST

/* promise: F2 */
START_TEST(a_link)
{
	struct fabric *f = without(first, LEAF + 1, 5), *g = with_lids(first);
	struct plan *broken = next(f, first), *again = next(g, broken);

	ck_assert(routes_follow(broken, first));
	ck_assert_uint_eq(broken->now->dead.n, 2);
	ck_assert_uint_eq(broken->report.unreachable, 0);
	/* routes through it move to the other spine; no other route moves */
	for (unsigned i = 0; i < 2 * LEAVES; i++)
		for (unsigned l = 0; l < LEAVES; l++) {
			unsigned was = entry(first, LEAF + l, host_guid(i) + 1);
			unsigned is = entry(broken, LEAF + l, host_guid(i) + 1);
			bool by_it = was == 5 && (l == 1) != (i / 2 == 1);

			ck_assert_uint_eq(is, by_it ? 6 : was);
		}
	ck_assert_uint_eq(count_moved(again, first), 0);
	ck_assert_uint_eq(again->now->dead.n, 0);
	ck_assert(routes_follow(again, broken));
	plan_free(again);
	plan_free(broken);
	fabric_free(f);
	fabric_free(g);
}
END_TEST

/* Nothing is written when a host goes, and it has the same routes when it returns. */
/* promise: F2 */
START_TEST(a_host)
{
	struct fabric *f = without(first, host_guid(7), 0), *g = with_lids(first);
	struct plan *gone = next(f, first), *again = next(g, gone);

	ck_assert_uint_eq(gone->f->n_nodes, whole->n_nodes - 1);
	ck_assert_uint_eq(count_moved(gone, first), 0);
	ck_assert_uint_eq(gone->lid_top, first->lid_top);
	ck_assert_uint_eq(gone->port_by_lid[first->lid[fabric_find_port(whole, host_guid(7) + 1)]],
			  FABRIC_NONE);
	ck_assert_uint_eq(count_moved(again, first), 0);
	plan_free(again);
	plan_free(gone);
	fabric_free(f);
	fabric_free(g);
}
END_TEST

/* promise: F2 */
START_TEST(a_spine_and_a_leaf)
{
	struct fabric *f = without(first, SPINE, 0), *g, *h = with_lids(first);
	struct plan *one = next(f, first), *two, *again;

	ck_assert_uint_eq(one->f->n_switches, whole->n_switches - 1);
	ck_assert_uint_eq(one->report.unreachable, 0);
	ck_assert(!one->report.credit_loop);
	g = without(one, LEAF + 2, 0);
	two = next(g, one);
	ck_assert_uint_eq(two->report.unreachable, 0);
	ck_assert_uint_eq(count_moved(two, one), 0);
	again = next(h, two);
	ck_assert_uint_eq(count_moved(again, first), 0);
	ck_assert_uint_eq(again->report.unreachable, 0);
	plan_free(again);
	plan_free(two);
	plan_free(one);
	fabric_free(f);
	fabric_free(g);
	fabric_free(h);
}
END_TEST

/* If a host moves to another leaf, the engine makes new base tables. */
START_TEST(a_host_that_moves)
{
	struct fabric *f = with_lids(first), *to;
	uint32_t host = node_of(f, host_guid(7));
	struct buf err = { 0 };
	struct plan *moved;

	fabric_cut(f, f->nodes[host].port0 + 1);
	ck_assert(fabric_link(f, node_of(f, LEAF), 3, host, 1));
	to = fabric_settle(f, &err);
	moved = next(to, first);
	ck_assert(!routes_follow(moved, first));
	ck_assert_uint_eq(moved->now->dead.n, 0);
	ck_assert_uint_eq(moved->report.unreachable, 0);
	ck_assert_uint_eq(entry(moved, LEAF, host_guid(7) + 1), 3);
	ck_assert_uint_eq(moved->lid[fabric_find_port(to, host_guid(7) + 1)],
			  first->lid[fabric_find_port(whole, host_guid(7) + 1)]);
	plan_free(moved);
	fabric_free(f);
	fabric_free(to);
	buf_free(&err);
}
END_TEST

/* A new host comes while another host and a spine are away: the base then has all three. */
START_TEST(a_host_that_is_new)
{
	struct fabric *f = without(first, SPINE + 1, 0), *g, *h;
	struct plan *one = next(f, first), *two;
	struct buf err = { 0 };
	uint32_t new;

	g = with_lids(one);
	fabric_cut(g, g->nodes[node_of(g, host_guid(6))].port0 + 1);
	new = net_ca(g, 0x800, 1);
	ck_assert(fabric_link(g, node_of(g, LEAF + 1), 4, new, 1));
	h = fabric_settle(g, &err);
	two = next(h, one);
	ck_assert_uint_eq(two->now->base->f->n_nodes, whole->n_nodes + 1);
	ck_assert_uint_eq(two->now->dead.n, 2 * LEAVES);
	ck_assert_uint_eq(two->report.unreachable, 0);
	/* no other port has its LID, not even an absent one */
	for (uint32_t i = 0; i < whole->n_ports; i++)
		ck_assert_uint_ne(two->lid[fabric_find_port(h, 0x801)],
				  first->lid[i] ? first->lid[i] : UINT16_MAX);
	plan_free(two);
	plan_free(one);
	fabric_free(f);
	fabric_free(g);
	fabric_free(h);
	buf_free(&err);
}
END_TEST

/* The tables must have all LIDs of the plan, and the base all of its fabric. */
static void check_plan(const struct plan *p)
{
	const struct fabric *base = p->now->base->f;

	ck_assert_uint_ge(p->lfts->top, p->lid_top);
	ck_assert_uint_eq(p->lfts->n_switches, p->f->n_switches);
	for (uint32_t i = 0; i < p->f->n_ports; i++)
		ck_assert_uint_le(p->lid[i] ? p->lid[i] + (1u << p->lmc[i]) - 1 : 0, p->lid_top);
	for (uint32_t i = 0; i < p->f->n_nodes; i++)
		ck_assert_uint_ne(fabric_same_node(base, &p->f->nodes[i]), FABRIC_NONE);
}

/* A device with a new GUID in each answer may appear twice, once without a link. */
/* promise: A3 */
START_TEST(what_no_link_leads_to)
{
	struct fabric *f = build(), *g;
	uint32_t sw = net_switch(f, 0x700, 8, false), ca = net_ca(f, 0x710, 1);
	struct plan *one, *two;

	ck_assert(fabric_link(f, sw, 1, ca, 1));
	for (unsigned i = 0; i < 4; i++)
		net_switch(f, 0x701 + i, 8, false);
	net_finish(f);
	for (uint32_t i = 0; i < whole->n_ports; i++)
		f->ports[i].lid = first->lid[i];
	one = next(f, first);
	check_plan(one);
	ck_assert_uint_eq(count_moved(first, one), 0);
	g = with_lids(first);
	two = next(g, one);
	check_plan(two);
	ck_assert_uint_eq(two->report.unreachable, 0);
	plan_free(two);
	plan_free(one);
	fabric_free(g);
	fabric_free(f);
}
END_TEST

/* Devices with arbitrary answers from one sweep to the next. */
/* promise: A3 */
START_TEST(any_fabric_after_any)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull + (uint64_t)_i;
	struct plan *before = NULL;
	struct fabric *last = NULL;

	for (unsigned round = 0; round < 12; round++) {
		struct fabric *f = fabric_new();
		struct plan *p;

		net_ca(f, host_guid(0), 1 + net_random(&seed) % 2);
		for (unsigned i = 0; i < 12; i++) {
			uint64_t guid = 0x200 + net_random(&seed) % 24 * 0x10;

			if (node_of(f, guid) != MAP64_NONE)
				continue;
			if (net_random(&seed) % 2)
				net_switch(f, guid, 1 + net_random(&seed) % 8, net_random(&seed) % 2);
			else
				net_ca(f, guid, 1 + net_random(&seed) % 3);
		}
		for (unsigned i = 0; i < 40; i++) {
			uint32_t a = net_random(&seed) % f->n_nodes, b = net_random(&seed) % f->n_nodes;

			fabric_link(f, a, 1 + net_random(&seed) % f->nodes[a].nports, b,
				    1 + net_random(&seed) % f->nodes[b].nports);
		}
		net_finish(f);
		for (uint32_t i = 0; i < f->n_ports; i++) {
			f->ports[i].lid = (uint16_t)net_random(&seed);
			f->ports[i].lmc = net_random(&seed) % 8;
		}
		p = next(f, before);
		check_plan(p);
		plan_free(before);
		fabric_free(last);
		before = p;
		last = f;
	}
	plan_free(before);
	fabric_free(last);
}
END_TEST

/* --- isolated switches --- */

#define WIDE 8		/* leaves, and spines */

static struct fabric *build_wide(void)
{
	struct fabric *f = fabric_new();

	for (unsigned i = 0; i < 2 * WIDE; i++)
		net_ca(f, host_guid(i), 1);
	for (unsigned i = 0; i < WIDE; i++)
		net_switch(f, LEAF + i, 2 + WIDE, false);
	for (unsigned i = 0; i < WIDE; i++)
		net_switch(f, SPINE + i, WIDE, false);
	for (unsigned i = 0; i < WIDE; i++) {
		fabric_link(f, 2 * i, 1, node_of(f, LEAF + i), 1);
		fabric_link(f, 2 * i + 1, 1, node_of(f, LEAF + i), 2);
		for (unsigned k = 0; k < WIDE; k++)
			fabric_link(f, node_of(f, LEAF + i), 3 + k, node_of(f, SPINE + k), 1 + i);
	}
	net_finish(f);
	return f;
}

/* A plan's fabric whose first spines are isolated (marked: so it says), without a node, or without a link of it. */
static struct fabric *isolating(const struct plan *p, unsigned spines, bool marked, uint64_t guid, unsigned num)
{
	struct fabric *f = with_lids(p), *to;
	struct buf err = { 0 };

	for (unsigned i = 0; i < spines * WIDE; i++) {
		struct fabric_port *port = fabric_port(f, node_of(f, LEAF + i % WIDE), 3 + i / WIDE);

		port->isolated = marked;
		fabric_cut(f, (uint32_t)(port - f->ports));
	}
	for (unsigned i = 1; guid && i <= f->nodes[node_of(f, guid)].nports; i++)
		if (!num || num == i)
			fabric_cut(f, f->nodes[node_of(f, guid)].port0 + i);
	to = fabric_settle(f, &err);
	ck_assert_ptr_nonnull(to);
	buf_free(&err);
	fabric_free(f);
	return to;
}

static bool same_tables(const struct plan *a, const struct plan *b)
{
	return a->f->n_switches == b->f->n_switches && a->lfts->stride == b->lfts->stride &&
	       !memcmp(a->lfts->entries, b->lfts->entries, (size_t)a->lfts->n_switches * a->lfts->stride);
}

static struct plan *next_wide(struct fabric *f, const struct plan *before)
{
	return plan_compute(f, policy, settings, NULL, before, NULL);
}

/*
 * What is isolated is repaired once: a fault, even of a switch next to it, is repaired from there, for the LIDs that
 * it concerns.  The tables do not depend on the order of events.
 */
/* promise: F2 F22 */
START_TEST(faults_beside_isolated_switches)
{
	struct fabric *f[6];
	struct plan *all, *apart, *plain, *link, *at_once, *leaf, *back;

	f[0] = build_wide();
	all = next_wide(f[0], NULL);
	f[1] = isolating(all, WIDE / 2, true, 0, 0);
	apart = next_wide(f[1], all);
	ck_assert_ptr_nonnull(apart->now->isolated);
	ck_assert_ptr_nonnull(apart->now->isolated->repair);
	ck_assert_uint_eq(apart->now->n_isolated, WIDE * WIDE);	/* both ends of half of all */
	ck_assert_uint_eq(apart->now->dead.n, WIDE * WIDE);
	ck_assert(routes_follow(apart, all));
	ck_assert(!apart->now->follows);
	ck_assert_uint_eq(apart->report.unreachable, 0);
	f[2] = isolating(all, WIDE / 2, false, 0, 0);
	plain = next_wide(f[2], all);
	ck_assert_ptr_null(plain->now->isolated);
	ck_assert(same_tables(apart, plain));

	f[3] = isolating(all, WIDE / 2, true, LEAF + 1, 2 + WIDE);
	link = next_wide(f[3], apart);
	ck_assert_ptr_eq(link->now->isolated, apart->now->isolated);
	ck_assert(link->now->follows);
	ck_assert_uint_eq(link->now->dead.n, WIDE * WIDE + 2);
	ck_assert_uint_eq(link->report.unreachable, 0);
	ck_assert(!link->report.credit_loop);
	/* about a quarter of those that the leaf reaches by four spines, its hosts, and what they all share */
	ck_assert_uint_le(link->now->repaired.n_lids, 2 * WIDE);
	at_once = next_wide(f[3], all);
	ck_assert(same_tables(at_once, link));
	ck_assert_uint_gt(plain->now->repaired.n_lids, link->now->repaired.n_lids);

	f[4] = isolating(all, WIDE / 2, true, LEAF + 2, 0);
	leaf = next_wide(f[4], link);
	ck_assert_ptr_eq(leaf->now->isolated, apart->now->isolated);
	ck_assert_uint_eq(leaf->now->n_isolated, WIDE * WIDE);
	ck_assert_uint_eq(leaf->report.unreachable, 0);

	f[5] = with_lids(all);
	back = next_wide(f[5], leaf);
	ck_assert_ptr_null(back->now->isolated);
	ck_assert(same_tables(back, all));
	ck_assert(routes_follow(back, leaf));

	plan_free(back);
	plan_free(leaf);
	plan_free(at_once);
	plan_free(link);
	plan_free(plain);
	plan_free(apart);
	plan_free(all);
	for (unsigned i = 0; i < ARRAY_SIZE(f); i++)
		fabric_free(f[i]);
}
END_TEST

/* Few isolated links are among the dead ones of every repair. */
START_TEST(a_few_isolated_links)
{
	struct fabric *f = build_wide(), *g;
	struct plan *all = next_wide(f, NULL), *few;

	g = isolating(all, 1, true, 0, 0);
	few = next_wide(g, all);
	ck_assert_ptr_null(few->now->isolated);
	ck_assert(few->now->follows);
	ck_assert_uint_eq(few->now->n_isolated, 2 * WIDE);
	plan_free(few);
	plan_free(all);
	fabric_free(g);
	fabric_free(f);
}
END_TEST

/* --- drained links that are given back --- */

static bool joins_switches(const struct fabric *f, uint32_t port)
{
	uint32_t peer = f->ports[port].peer;

	return f->ports[port].num && peer != FABRIC_NONE && node_is_switch(&f->nodes[f->ports[port].node]) &&
	       node_is_switch(&f->nodes[f->ports[peer].node]);
}

/* Marks in seen what links that are not held connect with a switch. */
static void walk(const struct fabric *f, uint32_t node, bool *seen)
{
	const struct fabric_node *n = &f->nodes[node];

	seen[node] = true;
	for (uint32_t i = n->port0 + 1; i <= n->port0 + n->nports; i++)
		if (joins_switches(f, i) && !f->ports[i].held && !seen[f->ports[f->ports[i].peer].node])
			walk(f, f->ports[f->ports[i].peer].node, seen);
}

static bool is_connected(const struct fabric *f)
{
	bool *seen = xcalloc(f->n_nodes, sizeof(*seen)), all = true;

	walk(f, f->switches[0].node, seen);
	for (uint32_t i = 0; i < f->n_switches; i++)
		all &= seen[f->switches[i].node];
	free(seen);
	return all;
}

static void set_drained(struct fabric *f, uint32_t port, bool drained)
{
	uint32_t peer = f->ports[port].peer;

	f->ports[port].held = f->ports[peer].held = drained;
	f->ports[port].drained = f->ports[peer].drained = drained ? DRAINED_LINK : DRAINED_NOT;
}

static unsigned count_drained(const struct fabric *f)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++)
		n += f->ports[i].drained == DRAINED_LINK;
	return n;
}

/* Switches in a ring with chords, a host at each. */
static struct fabric *ring_with_chords(uint64_t *seed, unsigned n)
{
	struct fabric *f = fabric_new();

	for (unsigned i = 0; i < n; i++)
		net_ca(f, host_guid(i), 1);
	for (unsigned i = 0; i < n; i++) {
		net_switch(f, LEAF + i, 12, false);
		fabric_link(f, i, 1, n + i, 12);
	}
	for (unsigned i = 0; i < n; i++)
		fabric_link(f, n + i, 1, n + (i + 1) % n, 2);
	for (unsigned i = 0; i < n; i++) {
		uint32_t a = n + net_random(seed) % n, b = n + net_random(seed) % n;

		if (a != b)
			fabric_link(f, a, 3 + net_random(seed) % 9, b, 3 + net_random(seed) % 9);
	}
	net_finish(f);
	return f;
}

/* Routes reach everybody, without a credit loop, and cross no drained link. */
static void check_drained(const struct plan *p)
{
	struct route_request r = { .f = p->f, .lid = p->lid, .lmc = p->lmc, .lid_top = p->lid_top };
	struct route_report report;

	route_verify(&r, p->lfts, &report);
	ck_assert_uint_eq(report.unreachable, 0);
	ck_assert(!report.credit_loop);
	route_report_free(&report);
	for (uint32_t sw = 0; sw < p->f->n_switches; sw++)
		for (uint32_t i = 0; i < p->f->n_ports; i++) {
			uint8_t out = p->lid[i] ? lft_get(p->lfts, sw, p->lid[i]) : LFT_DROP;

			if (!node_is_switch(&p->f->nodes[p->f->ports[i].node]) && out != LFT_DROP)
				ck_assert(fabric_port(p->f, p->f->switches[sw].node, out)->drained != DRAINED_LINK);
		}
}

/*
 * A plan whose routes need drained links is made again, from a fabric in which these are none.  The plan that
 * stays must be as sound as any, however many links are given back, and whatever routes were before.
 */
/* promise: M8 */
START_TEST(links_that_are_given_back)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull * ((uint64_t)_i + 1);
	struct plan *before = NULL;
	struct fabric *last = NULL, *f = ring_with_chords(&seed, 8 + net_random(&seed) % 8);
	unsigned given_back = 0, drained;

	for (unsigned round = 0; round < 12; round++) {
		struct fabric *now = fabric_clone(f);
		struct plan *p;

		for (uint32_t i = 0; i < now->n_ports; i++) {
			if (!joins_switches(now, i) || now->ports[i].held || net_random(&seed) % 3)
				continue;
			set_drained(now, i, true);
			if (!is_connected(now))
				set_drained(now, i, false);
		}
		drained = count_drained(now);
		p = plan_begin_drained(now, policy, settings, NULL, before, NULL);
		plan_complete(p, before, NULL);
		check_drained(p);
		given_back += drained > count_drained(now);
		plan_free(before);
		fabric_free(last);
		before = p;
		last = now;
	}
	ck_assert_uint_gt(given_back, 0);
	plan_free(before);
	fabric_free(last);
	fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base_routes");
	TCase *tc = tcase_create("base_routes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_link);
	tcase_add_test(tc, a_link_that_is_held);
	tcase_add_test(tc, a_host);
	tcase_add_test(tc, a_spine_and_a_leaf);
	tcase_add_test(tc, a_host_that_moves);
	tcase_add_test(tc, a_host_that_is_new);
	tcase_add_test(tc, what_no_link_leads_to);
	tcase_add_loop_test(tc, any_fabric_after_any, 0, cases(20));
	tcase_add_test(tc, faults_beside_isolated_switches);
	tcase_add_test(tc, a_few_isolated_links);
	tcase_add_loop_test(tc, links_that_are_given_back, 0, cases(10));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
