/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests removing and adding links and nodes of a fabric: routes, what is left, and the order of nodes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/edit.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

enum { HOST, S1, S2, S3, FAR, NODES };
static struct fabric *f;

static uint32_t node(struct fabric *to, unsigned type, unsigned nports, uint64_t guid)
{
	uint8_t info[40] = { 0 }, port[64] = { 0 }, switch_info[20] = { 0 };
	uint32_t n;

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	n = fabric_add_node(to, info, "", type == IB_NODE_SWITCH_T ? switch_info : NULL, NULL, 0);
	for (unsigned num = type == IB_NODE_SWITCH_T ? 0 : 1; n != FABRIC_NONE && num <= nports; num++)
		ck_assert(fabric_set_port(to, n, num, guid + (type == IB_NODE_CA_T ? num : 0), port));
	return n;
}

/*
 * The SM's host on S1; links between S1, S2 and S3; FAR, a host with two ports, on S2 and S3.
 */
static void setup(void)
{
	struct buf err = { 0 };

	f = fabric_new();
	node(f, IB_NODE_CA_T, 1, 0x100);
	node(f, IB_NODE_SWITCH_T, 8, 0x201);
	node(f, IB_NODE_SWITCH_T, 8, 0x202);
	node(f, IB_NODE_SWITCH_T, 8, 0x203);
	node(f, IB_NODE_CA_T, 2, 0x300);
	fabric_link(f, HOST, 1, S1, 1);
	fabric_link(f, S1, 2, S2, 2);
	fabric_link(f, S1, 3, S3, 3);
	fabric_link(f, S2, 4, S3, 4);
	fabric_link(f, FAR, 1, S2, 5);
	fabric_link(f, FAR, 2, S3, 5);
	ck_assert(fabric_finish(f, HOST, 1, &err));
	buf_free(&err);
}

static void teardown(void)
{
	fabric_free(f);
}

static void check_route(const struct fabric *x, uint32_t n, const char *route, unsigned port)
{
	ck_assert_uint_eq(x->nodes[n].hops, strlen(route));
	ck_assert_mem_eq(x->routes + x->nodes[n].route, route, strlen(route));
	ck_assert_uint_eq(x->nodes[n].local_port, port);
}

static struct fabric *settle(void)
{
	struct buf err = { 0 };
	struct fabric *to = fabric_settle(f, &err);

	ck_assert_msg(to && !err.n, "%s", err.s ? err.s : "");
	buf_free(&err);
	for (uint32_t i = 0; i < to->n_ports; i++)
		if (to->ports[i].peer != FABRIC_NONE)
			ck_assert_uint_eq(to->ports[to->ports[i].peer].peer, i);
	return to;
}

START_TEST(routes)
{
	fabric_reroute(f, NULL);
	check_route(f, HOST, "", 0);
	check_route(f, S1, "\1", 1);
	check_route(f, S2, "\1\2", 2);
	check_route(f, S3, "\1\3", 3);
	check_route(f, FAR, "\1\2\5", 1);
	/* no route leads through a host, even if there is no other */
	fabric_cut(f, f->nodes[S1].port0 + 3);
	fabric_cut(f, f->nodes[S3].port0 + 4);
	fabric_reroute(f, NULL);
	ck_assert_uint_eq(f->nodes[S3].hops, FABRIC_UNREACHED);
	check_route(f, FAR, "\1\2\5", 1);
}
END_TEST

/* Routes avoid a switch that may be gone, except to nodes without another route. */
START_TEST(avoiding)
{
	uint8_t avoid[NODES] = { [S2] = 1 };

	fabric_reroute(f, avoid);
	check_route(f, S2, "\1\2", 2);
	check_route(f, FAR, "\1\3\5", 2);
	fabric_cut(f, f->nodes[S1].port0 + 3);
	fabric_reroute(f, avoid);
	check_route(f, S3, "\1\2\4", 4);
	check_route(f, FAR, "\1\2\5", 1);
}
END_TEST

/* The same for a switch that does not answer, with each function that makes routes. */
/* promise: A93 */
START_TEST(round_the_silent)
{
	f->nodes[S2].silent = true;
	ck_assert(fabric_reroute_all(f));
	check_route(f, S2, "\1\2", 2);
	check_route(f, FAR, "\1\3\5", 2);
	fabric_cut(f, f->nodes[S1].port0 + 3);
	fabric_reroute(f, NULL);
	check_route(f, S3, "\1\2\4", 4);
	f->nodes[S2].silent = false;
}
END_TEST

/* Routes avoid a held link, except to nodes without another route. */
START_TEST(sparing)
{
	uint32_t port = f->nodes[S1].port0 + 2;

	f->ports[port].held = f->ports[f->ports[port].peer].held = true;
	fabric_reroute(f, NULL);
	check_route(f, S3, "\1\3", 3);
	ck_assert_uint_eq(f->nodes[S2].hops, 3);	/* by S3 */
	check_route(f, FAR, "\1\3\5", 2);
	fabric_cut(f, f->nodes[S1].port0 + 3);
	fabric_reroute(f, NULL);
	check_route(f, S2, "\1\2", 2);
}
END_TEST

/* A node may have a route and no link; then no node gets another route. */
START_TEST(all_or_none)
{
	uint32_t port = f->nodes[S1].port0 + 2;

	fabric_reroute(f, NULL);
	fabric_cut(f, f->nodes[FAR].port0 + 1);
	fabric_cut(f, f->nodes[FAR].port0 + 2);
	f->ports[port].held = f->ports[f->ports[port].peer].held = true;
	ck_assert(!fabric_reroute_all(f));
	check_route(f, S2, "\1\2", 2);
	check_route(f, FAR, "\1\2\5", 1);
	fabric_link(f, FAR, 2, S3, 5);
	ck_assert(fabric_reroute_all(f));
	check_route(f, S2, "\1\3\4", 4);
	check_route(f, FAR, "\1\3\5", 2);
}
END_TEST

START_TEST(what_is_left)
{
	struct fabric *to;

	fabric_cut(f, f->nodes[S2].port0 + 2);
	fabric_cut(f, f->nodes[S2].port0 + 4);
	fabric_cut(f, f->nodes[FAR].port0 + 2);
	to = settle();
	/* S2 is unreachable, as is FAR, which has a link to it */
	ck_assert_uint_eq(to->n_nodes, 3);
	ck_assert_uint_eq(to->n_switches, 2);
	ck_assert_uint_eq(to->nodes[2].guid, 0x203);
	ck_assert_uint_eq(to->switches[1].node, 2);
	ck_assert_uint_eq(to->nodes[2].sw, 1);
	ck_assert_uint_eq(fabric_find_port(to, 0x202), FABRIC_NONE);
	ck_assert_uint_eq(fabric_find_port(to, 0x203), to->nodes[2].port0);
	ck_assert_uint_eq(to->ports[to->self].guid, 0x101);
	ck_assert_uint_eq(map64_get(&to->node_by_guid, 0x300), MAP64_NONE);
	ck_assert_uint_eq(to->ports[to->nodes[2].port0 + 3].peer, to->nodes[1].port0 + 3);
	ck_assert_uint_eq(to->ports[to->nodes[2].port0 + 5].node, 2);
	check_route(to, 2, "\1\3", 3);
	fabric_free(to);
}
END_TEST

START_TEST(what_comes)
{
	struct fabric *to;
	uint32_t sw, ca;

	/* many, so that the copy's arrays have to grow */
	for (unsigned i = 0; i < 100; i++) {
		sw = node(f, IB_NODE_SWITCH_T, 4, 0x1000 + i);
		ca = node(f, IB_NODE_CA_T, 1, 0x2000 + 16 * i);
		ck_assert(fabric_link(f, i ? sw - 2 : S3, i ? 2 : 8, sw, 1));
		ck_assert(fabric_link(f, sw, 3, ca, 1));
	}
	to = settle();
	/* only the switches that a directed route can reach: S3 is 2 hops away, the last one 64 */
	ck_assert_uint_eq(to->n_switches, 3 + IB_DR_HOPS_MAX - 2);
	ck_assert_uint_eq(to->n_nodes, NODES + 2 * (IB_DR_HOPS_MAX - 2) - 1);
	ck_assert_uint_eq(to->ports[fabric_find_port(to, 0x2001)].num, 1);
	check_route(to, map64_get(&to->node_by_guid, 0x1001), "\1\3\10\2", 1);
	fabric_free(to);
}
END_TEST

/* A host that moves is the same host at another place; a port of it that was not read has no link. */
START_TEST(moved)
{
	struct fabric *to;
	uint32_t new;

	fabric_cut(f, f->nodes[FAR].port0 + 1);
	fabric_cut(f, f->nodes[FAR].port0 + 2);
	ck_assert(fabric_link(f, S1, 7, FAR, 2));
	new = node(f, IB_NODE_CA_T, 1, 0x400);
	f->ports[f->nodes[new].port0 + 1].present = false;
	ck_assert(fabric_link(f, S1, 8, new, 1));
	to = settle();
	ck_assert_uint_eq(to->n_nodes, NODES + 1);
	check_route(to, FAR, "\1\7", 2);
	ck_assert_uint_eq(to->unanswered, 1);
	ck_assert_uint_eq(fabric_port(to, S1, 8)->peer, FABRIC_NONE);
	fabric_free(to);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("edit");
	TCase *tc = tcase_create("edit");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, routes);
	tcase_add_test(tc, round_the_silent);
	tcase_add_test(tc, avoiding);
	tcase_add_test(tc, sparing);
	tcase_add_test(tc, all_or_none);
	tcase_add_test(tc, what_is_left);
	tcase_add_test(tc, what_comes);
	tcase_add_test(tc, moved);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
