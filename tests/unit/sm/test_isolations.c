/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests which links isolation cuts and whom it cuts off: on two leaves with a host each and a link to each
 * of two spines, one of which has a host, too.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/edit.h"
#include "sm/devices/isolation_loss.h"
#include "sm/devices/isolations.h"
#include "unit/plan/net.h"
#include "unit/run.h"

enum { HOST = 0x100, LEAF = 0x500, SPINE = 0x900 };

static struct withdrawals *w;
static struct isolation_cuts cuts;
static struct fabric *f;
static unsigned told;

static void setup(void)
{
	w = withdrawals_new();
	f = net_leaves_and_spines(HOST, LEAF, SPINE);
	told = 0;
}

static void teardown(void)
{
	withdrawals_free(w);
	isolation_cuts_free(&cuts);
	fabric_free(f);
}

static void put(enum withdrawal_kind kind, uint64_t guid, unsigned port)
{
	struct withdrawal x = { .kind = (uint8_t)kind, .guid = guid, .port = (uint8_t)port, .since_s = 1 };

	ck_assert(withdrawals_put(w, &x));
}

static void isolate(uint64_t guid, unsigned port)
{
	put(WITHDRAWAL_ISOLATED, guid, port);
}

static void count(void *arg, uint32_t port)
{
	const struct fabric *of = arg;

	ck_assert_uint_ne(of->ports[port].peer, FABRIC_NONE);
	told++;
}

static uint32_t cut(void)
{
	return isolations_cut(w, f, &cuts, count, f);
}

static const struct fabric_port *port(uint64_t guid, unsigned num)
{
	return fabric_port(f, map64_get(&f->node_by_guid, guid), num);
}

/* promise: M30 */
START_TEST(both_ends_of_an_isolated_link_lose_it)
{
	isolate(LEAF, 2);
	put(WITHDRAWAL_DRAINED, LEAF, 3);
	ck_assert(isolations_pending(w, f));
	ck_assert_uint_eq(cut(), 1);
	ck_assert_uint_eq(told, 1);
	ck_assert(!isolations_pending(w, f));
	ck_assert_uint_eq(port(LEAF, 2)->peer, FABRIC_NONE);
	ck_assert_uint_eq(port(SPINE, 1)->peer, FABRIC_NONE);
	ck_assert(port(LEAF, 2)->isolated && port(SPINE, 1)->isolated);
	ck_assert(!port(LEAF, 3)->isolated);
	ck_assert_uint_ne(port(LEAF, 3)->peer, FABRIC_NONE);
	ck_assert_uint_eq(cuts.v.n, 1);
	/* again: nothing is left to cut, and the mark of the far end stays, though it is in no list */
	ck_assert_uint_eq(cut(), 0);
	ck_assert(port(SPINE, 1)->isolated);
	ck_assert_ptr_nonnull(isolation_cuts_find(&cuts, SPINE, 1));
	ck_assert_ptr_null(isolation_cuts_find(&cuts, SPINE, 2));
}
END_TEST

static void released(void *arg, const struct isolation_cut *x)
{
	uint64_t *sum = arg;

	*sum += x->guid[0] + x->guid[1];
}

/* promise: M30 */
START_TEST(a_released_link_is_told_once)
{
	uint64_t sum = 0;

	isolate(LEAF, 2);
	isolate(SPINE + 1, 0);
	ck_assert_uint_eq(cut(), 4);
	ck_assert(withdrawals_remove(w, LEAF, 2));
	isolation_cuts_prune(&cuts, w, released, &sum);
	ck_assert_uint_eq(sum, LEAF + SPINE);
	ck_assert_uint_eq(cuts.v.n, 3);
	cut();
	ck_assert(!port(LEAF, 2)->isolated && !port(SPINE, 1)->isolated && port(LEAF, 3)->isolated);
	isolation_cuts_prune(&cuts, w, released, &sum);
	ck_assert_uint_eq(sum, LEAF + SPINE);
}
END_TEST

/* promise: M34 */
START_TEST(the_own_link_stays)
{
	isolate(HOST, 0);
	isolate(LEAF, 0);
	ck_assert(isolation_is_own(withdrawals_find(w, HOST, 0), f));
	ck_assert(!isolation_is_own(withdrawals_find(w, LEAF, 0), f));	/* only the switch: its other links go */
	ck_assert_uint_eq(cut(), 2);
	ck_assert_uint_ne(port(HOST, 1)->peer, FABRIC_NONE);
	ck_assert(!port(HOST, 1)->isolated && !port(LEAF, 1)->isolated);
	ck_assert(!isolations_pending(w, f));
	ck_assert(!isolation_forbids(w, f, port(LEAF, 1) - f->ports, HOST, 1));
	ck_assert(isolation_forbids(w, f, port(LEAF, 2) - f->ports, HOST + 0x20, 1));
	ck_assert(withdrawals_remove(w, HOST, 0));
	isolate(LEAF, 1);
	ck_assert(isolation_is_own(withdrawals_find(w, LEAF, 1), f));
	isolate(LEAF, 2);
	ck_assert(!isolation_is_own(withdrawals_find(w, LEAF, 2), f));
}
END_TEST

/* promise: M34 */
START_TEST(who_is_cut_off_is_counted)
{
	struct isolation_loss loss;

	isolate(HOST + 0x10, 1);		/* hosts that are named are not counted */
	loss = isolations_loss(w, NULL, f);
	ck_assert(!loss.hosts && !loss.switches);
	isolate(LEAF + 1, 1);
	isolate(LEAF + 1, 2);
	loss = isolations_loss(w, NULL, f);
	ck_assert(!loss.hosts && !loss.switches);
	isolate(LEAF + 1, 3);			/* the leaf's last link; its host is named */
	loss = isolations_loss(w, NULL, f);
	ck_assert(!loss.hosts && loss.switches == 1);
	withdrawals_remove(w, HOST + 0x10, 1);
	withdrawals_remove(w, LEAF + 1, 1);
	loss = isolations_loss(w, NULL, f);
	ck_assert_uint_eq(loss.hosts, 1);
	ck_assert(&f->ports[loss.first[0]] == port(HOST + 0x10, 1));
	isolate(SPINE + 1, 0);			/* with its host; the switch itself is named */
	loss = isolations_loss(w, NULL, f);
	ck_assert_uint_eq(loss.hosts, 2);
	ck_assert_uint_eq(loss.switches, 1);
}
END_TEST

/* promise: M34 */
START_TEST(what_was_asked_for_before_is_not_counted)
{
	struct withdrawals *before;
	struct isolation_loss loss;

	isolate(LEAF + 1, 0);			/* by force, and not cut in the fabric yet */
	before = withdrawals_copy(w);
	isolate(SPINE, 0);
	loss = isolations_loss(w, NULL, f);
	ck_assert_uint_eq(loss.hosts, 1);
	loss = isolations_loss(w, before, f);
	ck_assert(!loss.hosts && !loss.switches);
	isolate(SPINE + 1, 4);			/* a host of its own: it is named */
	loss = isolations_loss(w, before, f);
	ck_assert(!loss.hosts && !loss.switches);
	withdrawals_free(before);
	/* the last way to the other leaf takes the host there with it */
	ck_assert(withdrawals_remove(w, LEAF + 1, 0) && withdrawals_remove(w, SPINE + 1, 4));
	before = withdrawals_copy(w);
	isolate(LEAF + 1, 3);
	loss = isolations_loss(w, before, f);
	ck_assert(loss.hosts == 1 && loss.switches == 1);
	withdrawals_free(before);
}
END_TEST

/* Whom each link between switches would cut off, by one walk and by one for each link. */
static void compare_ways(void)
{
	struct isolation_ways *ways = isolation_ways_new(w, f);

	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct withdrawals *more = withdrawals_copy(w);
		struct withdrawal x = { .kind = WITHDRAWAL_ISOLATED, .guid = port_node(f, i)->guid,
					.port = f->ports[i].num, .since_s = 1 };
		struct isolation_loss one = isolation_ways_loss(ways, i), all;

		if (link_joins_switches(f, i) && !isolation_covers(w, x.guid, x.port) &&
		    !isolation_covers(w, port_node(f, f->ports[i].peer)->guid, f->ports[f->ports[i].peer].num)) {
			ck_assert(withdrawals_put(more, &x));
			all = isolations_loss(more, w, f);
			ck_assert_uint_eq(one.hosts, all.hosts);
			ck_assert_uint_eq(one.switches, all.switches);
		} else {
			ck_assert(!one.hosts && !one.switches);
		}
		withdrawals_free(more);
	}
	isolation_ways_free(ways);
}

/* A random fabric of 12 switches of 8 ports and 12 hosts, which may fall to parts. */
static struct fabric *random_net(uint64_t *seed)
{
	struct fabric *net = fabric_new();

	for (unsigned i = 0; i < 12; i++)
		net_ca(net, HOST + 0x10 * i, 1);
	for (unsigned i = 0; i < 12; i++)
		net_switch(net, LEAF + i, 8, false);
	for (unsigned i = 0; i < 12; i++)
		fabric_link(net, i, 1, 12 + i, 1);
	for (unsigned i = 0; i < 16; i++) {
		unsigned a = 12 + net_random(seed) % 12, b = 12 + net_random(seed) % 12;
		unsigned p = 2 + net_random(seed) % 7, q = 2 + net_random(seed) % 7;

		if ((a != b || p != q) && fabric_port(net, a, p)->peer == FABRIC_NONE &&
		    fabric_port(net, b, q)->peer == FABRIC_NONE)
			fabric_link(net, a, p, b, q);
	}
	net_finish(net);
	return net;
}

/* promise: M35 */
START_TEST(one_walk_tells_whom_each_link_would_cut_off)
{
	uint64_t seed = 11;

	compare_ways();
	isolate(LEAF, 2);
	compare_ways();
	for (int i = 0; i < cases(200); i++) {
		fabric_free(f);
		f = random_net(&seed);
		while (w->v.n)
			withdrawals_remove(w, w->v.v[0].guid, w->v.v[0].port);
		for (unsigned k = net_random(&seed) % 3; k; k--)
			isolate(LEAF + net_random(&seed) % 12, net_random(&seed) % 9);
		compare_ways();
	}
}
END_TEST

/* promise: M30 */
START_TEST(a_host_is_isolated_wherever_it_is)
{
	isolate(HOST + 0x10, 0);
	cut();
	ck_assert(port(LEAF + 1, 1)->isolated);
	/* it is plugged in elsewhere */
	ck_assert(isolation_forbids(w, f, port(SPINE, 4) - f->ports, HOST + 0x10, 1));
	ck_assert(!isolation_forbids(w, f, port(SPINE, 4) - f->ports, HOST + 0x20, 1));
	isolation_cuts_put(&cuts, &(struct isolation_cut){ .guid = { SPINE, HOST + 0x10 }, .num = { 4, 1 } });
	cut();
	ck_assert(port(SPINE, 4)->isolated && !port(LEAF + 1, 1)->isolated);
}
END_TEST

/* --- the cut links --- */

static struct isolation_cut link_of(unsigned a, unsigned b)
{
	return (struct isolation_cut){ .guid = { SPINE + a / 4, SPINE + b / 4 },
				       .num = { (uint8_t)(a % 4 + 1), (uint8_t)(b % 4 + 1) } };
}

/* promise: M30 */
START_TEST(cut_links_are_found_by_either_end)
{
	enum { PORTS = 16, NONE = PORTS };
	unsigned peer[PORTS], links = 0, num = 0;
	const struct withdrawal node = { .guid = SPINE + 1 };
	const struct isolation_cut *x;

	for (unsigned i = 0; i < PORTS; i++)
		peer[i] = NONE;
	srand(7);
	for (unsigned step = 0; step < 5000; step++) {
		unsigned a = (unsigned)rand() % PORTS, b = (unsigned)rand() % PORTS;
		struct isolation_cut cut = link_of(a, b);

		for (unsigned end = 0; end < 2; end++) {
			unsigned port = end ? b : a;

			if (peer[port] != NONE)
				peer[peer[port]] = NONE;
			peer[port] = NONE;
		}
		if (step % 3) {
			isolation_cuts_put(&cuts, &cut);
			peer[a] = b;
			peer[b] = a;
		} else {
			isolation_cuts_drop(&cuts, cut.guid[0], cut.num[0]);
			isolation_cuts_drop(&cuts, cut.guid[1], cut.num[1]);
		}
		links = 0;
		for (unsigned i = 0; i < PORTS; i++) {
			x = isolation_cuts_find(&cuts, link_of(i, i).guid[0], link_of(i, i).num[0]);
			ck_assert_int_eq(x != NULL, peer[i] != NONE);
			if (!x)
				continue;
			cut = link_of(i, peer[i]);
			ck_assert((x->guid[0] == cut.guid[0] && x->num[0] == cut.num[0] &&
				   x->guid[1] == cut.guid[1] && x->num[1] == cut.num[1]) ||
				  (x->guid[1] == cut.guid[0] && x->num[1] == cut.num[0] &&
				   x->guid[0] == cut.guid[1] && x->num[0] == cut.num[1]));
			links += peer[i] >= i;
		}
		ck_assert_uint_eq(cuts.v.n, links);
	}
	links = 0;
	for (unsigned i = 4; i < 8; i++)	/* the ports of the node; a cable between two of them comes once */
		links += peer[i] != NONE && (peer[i] < 4 || peer[i] >= i);
	while ((x = isolation_cuts_of(&cuts, &node, &num)))
		links--;
	ck_assert_uint_eq(links, 0);
}
END_TEST

static double seconds_to_cut(unsigned n)
{
	clock_t begun = clock();

	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < n; i++)
			isolation_cuts_put(&cuts, &(struct isolation_cut){
				.guid = { SPINE + i / 36, HOST + i }, .num = { (uint8_t)(i % 36 + 1), 1 } });
	isolation_cuts_free(&cuts);
	return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

/* promise: M31 */
START_TEST(many_cut_links_cost_as_much_each_as_few)
{
	double few = 0;

	/* 32 times as many would take 1,000 times as long if each were compared with all others */
	for (unsigned i = 0; i < 8; i++)
		few += seconds_to_cut(2000) / 8;
	ck_assert_double_lt(seconds_to_cut(64000), 250 * few + 0.01);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("isolations");
	TCase *t = tcase_create("isolations");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, both_ends_of_an_isolated_link_lose_it);
	tcase_add_test(t, a_released_link_is_told_once);
	tcase_add_test(t, the_own_link_stays);
	tcase_add_test(t, who_is_cut_off_is_counted);
	tcase_add_test(t, what_was_asked_for_before_is_not_counted);
	tcase_add_test(t, one_walk_tells_whom_each_link_would_cut_off);
	tcase_add_test(t, a_host_is_isolated_wherever_it_is);
	tcase_add_test(t, cut_links_are_found_by_either_end);
	tcase_add_test(t, many_cut_links_cost_as_much_each_as_few);
	suite_add_tcase(s, t);
	return run_suite(s);
}
