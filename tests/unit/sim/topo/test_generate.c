/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the generators: sizes, shapes, names, and refusals.
 *
 * promise: V4
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"
#include "unit/run.h"

/* --- sizes --- */

static const struct {
	const char *spec;
	uint32_t switches, cas, links;
} sizes[] = {
	/* k^3/4 hosts on 5k^2/4 switches */
	{ "fat-tree:k=36", 1620, 11664, 3 * 11664 },
	{ "fat-tree:k=48,levels=3", 2880, 27648, 3 * 27648 },
	{ "fat-tree:k=36,levels=2", 54, 648, 2 * 648 },
	{ "fat-tree:k=4,levels=4", 7 * 8, 32, 4 * 32 },
	{ "fat-tree:k=36,levels=2,taper=2", 36 + 12, 36 * 24, 36 * (24 + 12) },
	{ "fat-tree:k=36,taper=2", 36 * (18 + 12) + 12 * 18, 36 * 18 * 24,
	  36 * 18 * (24 + 12) + 36 * 12 * 18 },
	{ "fat-tree:k=4,pods=1", 2 + 2 + 4, 4, 4 + 4 + 4 },
	{ "fat-tree:k=4,hosts=1,levels=2", 6, 4, 4 + 8 },
	{ "fat-tree:k=2,levels=2", 3, 2, 4 },
	{ "clos:40x20", 40 + 20, 800, 2 * 800 },
	{ "clos:40x13,hosts=26", 40 + 13, 40 * 26, 40 * (26 + 13) },
	{ "clos:4x2,parallel=3,hosts=1", 4 + 2, 4, 4 + 4 * 2 * 3 },
	{ "clos:1x1,hosts=0", 2, 0, 1 },
	/* an aggregation node in each switch, which counts as a CA and has a link */
	{ "clos:8x4,aggregation=1", 12, 32 + 12, 2 * 32 + 12 },
	{ "fat-tree:k=8,aggregation=1", 80, 128 + 80, 3 * 128 + 80 },
	{ "switch:253,aggregation=1", 1, 253 + 1, 253 + 1 },
	{ "torus:4x4x4,hosts=2", 64, 128, 3 * 64 + 128 },
	{ "torus:3x2,parallel=2", 6, 6, 2 * (6 + 3) + 6 },
	{ "mesh:8x8", 64, 64, 2 * 56 + 64 },
	{ "mesh:2x3x4x5,hosts=0", 120, 0, 60 + 80 + 90 + 96 },
	{ "hyperx:4x3,hosts=2", 12, 24, 3 * 6 + 4 * 3 + 24 },
	{ "hyperx:5,parallel=2,hosts=0", 5, 0, 2 * 10 },
	{ "hyperx:2x2x2", 8, 8, 12 + 8 },
	/* of 2 * 56 cables between switches a tenth */
	{ "mesh:8x8,lose=10", 64, 64, 112 - 11 + 64 },
	{ "clos:40x20,lose=30@9", 60, 800, 800 - 240 + 800 },
	/* a tree of them stays */
	{ "torus:4x4,lose=100,hosts=2", 16, 32, 15 + 32 },
	{ "random:switches=10,hosts=10,links=9,lose=50", 10, 10, 19 },
	{ "torus:4x4,lose=0", 16, 16, 32 + 16 },
	{ "hypercube:d=6,hosts=2", 64, 128, 6 * 32 + 128 },
	{ "ring:8,hosts=2", 8, 16, 8 + 16 },
	{ "ring:2,parallel=3", 2, 2, 3 + 2 },
	{ "dragonfly:a=8,h=4,p=4,g=33", 264, 1056, 33 * 28 + 33 * 32 / 2 + 1056 },
	/* four links between two groups; a third of the links is left over */
	{ "dragonfly:a=4,h=2,g=3", 12, 24, 3 * 6 + 3 * 4 + 24 },
	{ "dragonfly:a=3,h=1,p=1,g=3", 9, 9, 3 * 3 + 3 + 9 },
	{ "dragonfly:a=1,h=3,p=2", 4, 8, 6 + 8 },
	{ "random:switches=20,hosts=64,ports=36,seed=7,parallel=2", 20, 64, 40 + 64 },
	{ "random:switches=1,hosts=5", 1, 5, 5 },
	{ "random:switches=5,hosts=0,ports=2", 5, 0, 5 },	/* a line, and the two ports left */
	{ "random:switches=10,hosts=10,links=9", 10, 10, 19 },
	{ "random:switches=3000,hosts=46151", 3000, 46151, 6000 + 46151 },
	{ "switch:36", 1, 36, 36 },
	{ "switch:254,hosts=7", 1, 7, 7 },
};

START_TEST(sizes_are_right)
{
	struct outcome o = good(generate(sizes[_i].spec));

	ck_assert(topo_is_generated(sizes[_i].spec));
	ck_assert_uint_eq(o.f->n_switches, sizes[_i].switches);
	ck_assert_uint_eq(count_nodes(o.f, SIM_CA), sizes[_i].cas);
	ck_assert_uint_eq(count_links(o.f), sizes[_i].links);
	ck_assert(is_connected(o.f));
	outcome_free(&o);
}
END_TEST

/* --- shape --- */

static const char *peer_desc(const struct sim_fabric *f, const char *desc, unsigned num)
{
	const struct sim_port *p = port_of(f, desc, num);

	return p->peer == SIM_NONE ? "nothing" : node_of(f, p->peer)->desc;
}

START_TEST(fat_tree_has_its_levels)
{
	struct outcome o = good(generate("fat-tree:k=4"));

	/* Leaves 1 and 2 are a pod, with spines 1 and 2; each spine has cores of its own. */
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 1), "host-0001 HCA-1");
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 3), "spine-001");
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 4), "spine-002");
	ck_assert_str_eq(peer_desc(o.f, "leaf-002", 4), "spine-002");
	ck_assert_str_eq(peer_desc(o.f, "leaf-003", 4), "spine-004");
	ck_assert_str_ne(peer_desc(o.f, "spine-001", 3), peer_desc(o.f, "spine-002", 3));
	ck_assert_str_eq(peer_desc(o.f, "spine-001", 3), peer_desc(o.f, "spine-003", 3));
	ck_assert_str_eq(peer_desc(o.f, "core-001", 4), "spine-007");
	outcome_free(&o);
}
END_TEST

START_TEST(clos_connects_each_leaf_with_each_spine)
{
	struct outcome o = good(generate("clos:3x2,parallel=2,hosts=4"));

	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 1), "host-0001 HCA-1");
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 5), "spine-001");
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 6), "spine-002");
	ck_assert_str_eq(peer_desc(o.f, "leaf-001", 7), "spine-001");
	ck_assert_str_eq(peer_desc(o.f, "spine-002", 1), "leaf-001");
	ck_assert_str_eq(peer_desc(o.f, "spine-002", 2), "leaf-001");
	ck_assert_str_eq(peer_desc(o.f, "spine-002", 6), "leaf-003");
	outcome_free(&o);
}
END_TEST

/* Behind the last port of each switch, inside the same system; nothing else moves. */
START_TEST(aggregation_nodes_are_inside_of_switches)
{
	struct outcome o = good(generate("fat-tree:k=4,levels=2,aggregation=1"));
	struct outcome without = good(generate("fat-tree:k=4,levels=2"));

	for (uint32_t i = 0; i < o.f->n_switches; i++) {
		const struct sim_node *sw = &o.f->nodes[o.f->switches[i].node], *n;
		const struct sim_port *p = &o.f->ports[sw->port0 + sw->nports];

		ck_assert_uint_eq(sw->nports, 5);
		n = node_of(o.f, p->peer);
		ck_assert_str_eq(n->desc, "Mellanox Technologies Aggregation Node");
		ck_assert_uint_eq(n->nports, 1);
		ck_assert_uint_eq(n->vendor_id, 0x2c9);
		ck_assert_uint_eq(n->device_id, 0xcf09);
		ck_assert_uint_eq(n->sysimg_guid, sw->sysimg_guid);
	}
	for (uint32_t i = 0; i < without.f->n_nodes; i++) {
		ck_assert_uint_eq(o.f->nodes[i].guid, without.f->nodes[i].guid);
		ck_assert_str_eq(o.f->nodes[i].desc, without.f->nodes[i].desc);
	}
	outcome_free(&o);
	outcome_free(&without);
}
END_TEST

START_TEST(hyperx_has_all_links_of_a_row)
{
	struct outcome o = good(generate("hyperx:3x2x4,hosts=1"));

	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 1), "hyperx-0-0-2");
	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 2), "hyperx-2-0-2");
	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 3), "hyperx-1-1-2");
	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 4), "hyperx-1-0-0");
	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 5), "hyperx-1-0-1");
	ck_assert_str_eq(peer_desc(o.f, "hyperx-1-0-2", 1 + 6), "hyperx-1-0-3");
	outcome_free(&o);
}
END_TEST

START_TEST(torus_goes_round)
{
	struct outcome o = good(generate("torus:3x4"));

	ck_assert_str_eq(peer_desc(o.f, "torus-2-1", 2), "torus-0-1");
	ck_assert_str_eq(peer_desc(o.f, "torus-0-1", 3), "torus-2-1");
	ck_assert_str_eq(peer_desc(o.f, "torus-0-3", 4), "torus-0-0");
	ck_assert_str_eq(peer_desc(o.f, "torus-0-0", 5), "torus-0-3");
	outcome_free(&o);
	o = good(generate("mesh:3x4"));
	ck_assert_str_eq(peer_desc(o.f, "mesh-2-1", 2), "nothing");
	ck_assert_str_eq(peer_desc(o.f, "mesh-1-1", 2), "mesh-2-1");
	outcome_free(&o);
}
END_TEST

START_TEST(cube_flips_a_bit)
{
	struct outcome o = good(generate("hypercube:d=4,hosts=0"));

	ck_assert_str_eq(peer_desc(o.f, "cube-0110", 1), "cube-1110");
	ck_assert_str_eq(peer_desc(o.f, "cube-0110", 4), "cube-0111");
	outcome_free(&o);
}
END_TEST

/* Every two groups have the same number of links, whatever is left over. */
START_TEST(dragonfly_groups_are_equals)
{
	struct outcome o = good(generate("dragonfly:a=4,h=3,p=1,g=6"));
	unsigned between[6][6] = { 0 };

	for (uint32_t i = 0; i < 24; i++) {
		const struct sim_node *n = &o.f->nodes[i];

		for (uint32_t p = n->port0 + 1; p <= n->port0 + n->nports; p++) {
			uint32_t peer = o.f->ports[p].peer;

			if (peer != SIM_NONE && is_switch(node_of(o.f, peer)))
				between[i / 4][o.f->ports[peer].node / 4]++;
		}
	}
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = 0; b < 6; b++)
			ck_assert_uint_eq(between[a][b], a == b ? 4 * 3 : 2);
	outcome_free(&o);
}
END_TEST

static char *printed(const char *spec)
{
	struct outcome o = good(generate(spec));
	struct buf b = { 0 };

	print_dump(o.f, &b);
	outcome_free(&o);
	return b.s;
}

START_TEST(a_seed_is_a_fabric)
{
	char *one = printed("random:switches=20,hosts=40,seed=5,parallel=3");
	char *again = printed("random:switches=20,hosts=40,seed=5,parallel=3");
	char *other = printed("random:switches=20,hosts=40,seed=6,parallel=3");

	ck_assert_str_eq(one, again);
	ck_assert_str_ne(one, other);
	free(one);
	free(again);
	free(other);
}
END_TEST

START_TEST(random_is_connected_and_keeps_to_its_limits)
{
	struct buf spec = { 0 };
	unsigned doubled = 0, most = 0;
	struct outcome o;

	buf_printf(&spec, "random:switches=12,hosts=20,ports=9,links=40,parallel=2,seed=%d", _i);
	o = good(generate(spec.s));
	ck_assert(is_connected(o.f));
	for (uint32_t i = 0; i < 12; i++) {
		unsigned to[12] = { 0 };

		for (unsigned num = 1; num <= 9; num++) {
			uint32_t peer = o.f->ports[o.f->nodes[i].port0 + num].peer;

			if (peer == SIM_NONE || o.f->ports[peer].node >= 12)
				continue;
			ck_assert_uint_ne(o.f->ports[peer].node, i);
			to[o.f->ports[peer].node]++;
		}
		for (uint32_t j = 0; j < 12; j++) {
			doubled += to[j] == 2;
			most = to[j] > most ? to[j] : most;
		}
	}
	ck_assert_uint_gt(doubled, 0);
	ck_assert_uint_eq(most, 2);
	outcome_free(&o);
	buf_free(&spec);
}
END_TEST

/* --- options of all --- */

START_TEST(cas_of_two_ports_are_at_two_switches)
{
	struct outcome o = good(generate("fat-tree:k=8,levels=2,hosts-ports=2"));

	ck_assert_uint_eq(count_nodes(o.f, SIM_CA), 16);
	ck_assert_uint_eq(count_links(o.f), 64);
	for (uint32_t i = 0; i < o.f->n_nodes; i++) {
		const struct sim_node *n = &o.f->nodes[i];

		if (is_switch(n))
			continue;
		ck_assert_uint_eq(n->nports, 2);
		ck_assert_uint_ne(o.f->ports[o.f->ports[n->port0 + 1].peer].node,
				  o.f->ports[o.f->ports[n->port0 + 2].peer].node);
	}
	outcome_free(&o);
	/* An odd number of switches: the last one's hosts have both ports there. */
	o = good(generate("ring:3,hosts=3,hosts-ports=2"));
	ck_assert_uint_eq(count_nodes(o.f, SIM_CA), 5);
	ck_assert_uint_eq(count_links(o.f), 3 + 9);
	outcome_free(&o);
	o = good(generate("random:switches=5,hosts=9,hosts-ports=3"));
	ck_assert_uint_eq(count_nodes(o.f, SIM_CA), 9);
	ck_assert_uint_eq(count_links(o.f), 10 + 27);
	outcome_free(&o);
}
END_TEST

START_TEST(routers_and_dangling_cables)
{
	struct outcome o = good(generate("ring:4,hosts=3,routers=2,dangling=3"));
	unsigned off = 0, up = 0, cables = 0;

	ck_assert_uint_eq(count_nodes(o.f, SIM_ROUTER), 2);
	ck_assert_uint_eq(count_nodes(o.f, SIM_CA), 10);
	ck_assert_str_eq(o.f->nodes[4].desc, "host-0001 HCA-1");
	for (uint32_t i = 0; i < o.f->n_nodes; i++)
		off += o.f->nodes[i].off;
	for (uint32_t i = 0; i < o.f->n_ports; i++) {
		cables += o.f->ports[i].peer != SIM_NONE;
		up += link_is_up(o.f, i);
	}
	ck_assert_uint_eq(off, 3);
	ck_assert_uint_eq(cables, 2 * (4 + 12));
	ck_assert_uint_eq(up, cables - 2 * 3);
	ck_assert(is_connected(o.f));
	outcome_free(&o);
}
END_TEST

START_TEST(speed_is_that_of_all_cables)
{
	struct outcome o = good(generate("switch:4,speed=2xHDR"));

	for (uint32_t i = 0; i < o.f->n_ports; i++) {
		if (o.f->ports[i].peer == SIM_NONE)
			continue;
		ck_assert_uint_eq(o.f->ports[i].cable_width, SIM_WIDTH_2X);
		ck_assert_uint_eq(o.f->ports[i].cable_speed, SIM_SPEED_QDR);
		ck_assert_uint_eq(o.f->ports[i].cable_ext, SIM_EXT_HDR);
	}
	outcome_free(&o);
}
END_TEST

/* GUIDs of nodes, ports and systems are all different, but for a switch and its port 0. */
static uint32_t count_slow(const struct sim_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_ports; i++) {
		bool slow = f->ports[i].peer != SIM_NONE && f->ports[i].cable_speed == SIM_SPEED_QDR &&
			    !f->ports[i].cable_ext;

		ck_assert(!slow || (is_switch(node_of(f, i)) && is_switch(node_of(f, f->ports[i].peer))));
		n += slow;
	}
	return n;
}

START_TEST(some_cables_are_slower)
{
	struct outcome o = good(generate("torus:5x5,speed=4xHDR,slow=20@3:4xQDR"));
	struct outcome lost = good(generate("torus:5x5,speed=4xHDR,slow=20@3:4xQDR,lose=20@3"));
	struct outcome other = good(generate("torus:5x5,speed=4xHDR,slow=20@4:4xQDR"));
	uint32_t differ = 0;

	ck_assert_uint_eq(count_slow(o.f), 2 * 10);
	ck_assert_uint_eq(count_slow(other.f), 2 * 10);
	/* the same seed takes the same cables: of the slow ones few are left */
	ck_assert_uint_lt(count_slow(lost.f), 2 * 3);
	for (uint32_t i = 0; i < o.f->n_ports; i++)
		differ += o.f->ports[i].cable_ext != other.f->ports[i].cable_ext;
	ck_assert_uint_gt(differ, 0);
	outcome_free(&o);
	outcome_free(&lost);
	outcome_free(&other);
}
END_TEST

START_TEST(guids_are_distinct)
{
	struct outcome o = good(generate("fat-tree:k=8,hosts-ports=2,routers=3"));
	struct map64 seen;

	map64_init(&seen, o.f->n_ports);
	for (uint32_t i = 0; i < o.f->n_nodes; i++) {
		const struct sim_node *n = &o.f->nodes[i];

		ck_assert_uint_eq(map64_put(&seen, n->guid, i), MAP64_NONE);
		ck_assert_uint_eq(map64_put(&seen, n->sysimg_guid, i), MAP64_NONE);
		for (uint32_t p = 1; !is_switch(n) && p <= n->nports; p++)
			ck_assert_uint_eq(map64_put(&seen, o.f->ports[n->port0 + p].guid, i),
					  MAP64_NONE);
		for (uint32_t j = 0; j < i; j++)
			ck_assert_str_ne(o.f->nodes[j].desc, n->desc);
	}
	map64_free(&seen);
	outcome_free(&o);
}
END_TEST

static const char *const round_trips[] = {
	"fat-tree:k=4,hosts-ports=2,speed=4xEDR", "torus:3x3,speed=4xFDR10",
	"mesh:2x2x2,parallel=2", "dragonfly:a=4,h=2,p=2,g=9,speed=1xSDR",
	"random:switches=9,hosts=20,routers=3,parallel=4", "switch:36,speed=12xNDR",
};

/* What is generated, printed and loaded prints the same. */
START_TEST(printed_and_loaded_again)
{
	char *text = printed(round_trips[_i]);
	struct outcome o = good(load(text));
	struct buf again = { 0 };

	print_dump(o.f, &again);
	ck_assert_str_eq(again.s, text);
	buf_free(&again);
	free(text);
	outcome_free(&o);
}
END_TEST

/* --- what is refused --- */

static const struct {
	const char *spec, *want;
} impossible[] = {
	{ "nosuch:k=1", "nosuch:k=1: no such generator; there are:\nfat-tree:k=" },
	{ "", "no such generator" },
	{ "fat-tree:", "k=N is missing: 2 to 254" },
	{ "fat-tree:k=7", "k=7: half of the ports go up, so it must be even" },
	{ "fat-tree:k=0", "k=0: expected a number from 2 to 254" },
	{ "fat-tree:k=256", "k=256: expected a number from 2 to 254" },
	{ "fat-tree:k=-4", "k=-4: expected a number from 2 to 254" },
	{ "fat-tree:k=36x", "k=36x: expected a number" },
	{ "fat-tree:k=99999999999999999999999", "a number from 2 to 254" },
	{ "fat-tree:k=36,levels=5", "levels=5: expected a number from 2 to 4" },
	{ "fat-tree:k=36,taper=4", "k must be a multiple of 5" },
	{ "fat-tree:k=36,pods=37", "pods=37: expected a number from 1 to 36" },
	{ "fat-tree:k=36,hosts=19", "hosts=19: expected a number from 0 to 18" },
	{ "fat-tree:k=254,levels=4", "more than 1048576 ports" },
	{ "fat-tree:k=4,color=red", "color=red: no such option" },
	{ "fat-tree:k=4,k=6", "\"k\" is given twice" },
	{ "fat-tree:4", "k=N is missing" },
	{ "clos:", "expected LEAVESxSPINES" },
	{ "clos:40", "40: expected LEAVESxSPINES" },
	{ "clos:0x3", "0x3: expected LEAVESxSPINES" },
	{ "clos:4x2x2", "4x2x2: expected LEAVESxSPINES" },
	{ "clos:4x200,hosts=60", "a leaf has 54 ports left" },
	{ "clos:4x200,parallel=2", "a leaf has 0 ports left" },
	{ "clos:300x2", "a switch would need 300 ports; the maximum is 254" },
	{ "clos:4x2,aggregation=2", "aggregation=2: expected a number from 0 to 1" },
	{ "switch:254,aggregation=1", "a switch would need 255 ports; the maximum is 254" },
	{ "torus:", "expected the sizes of 1 to 20 dimensions" },
	{ "torus:4x", "expected the sizes of 1 to 20 dimensions" },
	{ "torus:4x1", "each 2 or more" },
	{ "torus:4,4", "given twice" },
	{ "mesh:99999999999999999999x2", "sizes of" },
	{ "mesh:1000000x1000000", "more than 1048576 ports" },
	{ "mesh:2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2", "sizes of 1 to 20 dimensions" },
	{ "torus:4x4,hosts=251", "a switch would need 255 ports; the maximum is 254" },
	{ "torus:4x4,parallel=64", "a switch would need 257 ports" },
	{ "hypercube:d=20", "more than 1048576 ports" },
	{ "hypercube:d=0", "d=0: expected a number from 1 to 20" },
	{ "dragonfly:a=8,h=4,g=34", "g=34: expected a number from 2 to 33" },
	{ "dragonfly:a=8", "h=N is missing" },
	{ "dragonfly:a=200,h=60,g=2", "a switch would need 319 ports" },
	{ "ring:1", "1: expected a number from 2" },
	{ "ring:x", "x: expected a number from 2" },
	{ "random:switches=3,ports=4,hosts=9", "3 switches of 4 ports have 8 ports left" },
	{ "random:switches=3,links=1", "links=1: expected a number from 2" },
	{ "random:hosts=3", "switches=N is missing" },
	{ "random:switches=1000000", "more than 1048576 ports" },
	{ "switch:255", "255: expected a number from 1 to 254" },
	{ "switch:4,hosts=5", "hosts=5: expected a number from 0 to 4" },
	{ "switch:4,speed=5xEDR", "speed=5xEDR: 1x, 2x, 4x" },
	{ "switch:4,speed=", "speed=: 1x, 2x" },
	{ "hyperx:4x1", "each 2 or more" },
	{ "hyperx:200x60,hosts=0", "a switch would need 258 ports; the maximum is 254" },
	{ "clos:4x2,lose=101", "lose=101: expected PERCENT or PERCENT@SEED" },
	{ "clos:4x2,lose=5@", "lose=5@: expected PERCENT" },
	{ "clos:4x2,lose=5:4xQDR", "lose=5:4xQDR: expected PERCENT" },
	{ "clos:4x2,lose=-5", "lose=-5: expected PERCENT" },
	{ "clos:4x2,slow=5", "slow=5: expected PERCENT:SPEED or" },
	{ "clos:4x2,slow=5@2:9xQDR", "slow=5@2:9xQDR: expected PERCENT:SPEED or" },
	{ "switch:4,hosts-ports=9", "hosts-ports=9: expected a number from 1 to 8" },
	{ "switch:4,routers=3,dangling=2", "there are 4" },
	{ "switch:4,1=1,2=1,3=1,4=1,5=1,6=1,7=1,8=1,9=1,10=1,11=1,12=1,13=1,14=1,15=1,16=1,17=1,"
	  "18=1,19=1,20=1,21=1,22=1,23=1,24=1,25=1", "more than 24 options" },
};

START_TEST(impossible_fabrics_are_refused)
{
	refused(generate(impossible[_i].spec), impossible[_i].want, NULL);
}
END_TEST

START_TEST(words_that_are_files)
{
	ck_assert(topo_is_generated("ring:8"));
	ck_assert(topo_is_generated("fat-tre:k=8"));	/* to be told what there is */
	ck_assert(!topo_is_generated("ring"));
	ck_assert(!topo_is_generated("./ring:8"));
	ck_assert(!topo_is_generated("net.topo"));
	ck_assert(!topo_is_generated("/tmp/a:b"));
	ck_assert(!topo_is_generated("ring:8/net"));
	ck_assert(!topo_is_generated(":8"));
	ck_assert(!topo_is_generated(""));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim/topo/generate");
	TCase *tc = tcase_create("generators");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, sizes_are_right, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tc, fat_tree_has_its_levels);
	tcase_add_test(tc, clos_connects_each_leaf_with_each_spine);
	tcase_add_test(tc, aggregation_nodes_are_inside_of_switches);
	tcase_add_test(tc, hyperx_has_all_links_of_a_row);
	tcase_add_test(tc, torus_goes_round);
	tcase_add_test(tc, cube_flips_a_bit);
	tcase_add_test(tc, dragonfly_groups_are_equals);
	tcase_add_test(tc, a_seed_is_a_fabric);
	tcase_add_loop_test(tc, random_is_connected_and_keeps_to_its_limits, 1, 20);
	tcase_add_test(tc, cas_of_two_ports_are_at_two_switches);
	tcase_add_test(tc, routers_and_dangling_cables);
	tcase_add_test(tc, speed_is_that_of_all_cables);
	tcase_add_test(tc, some_cables_are_slower);
	tcase_add_test(tc, guids_are_distinct);
	tcase_add_loop_test(tc, printed_and_loaded_again, 0, ARRAY_SIZE(round_trips));
	tcase_add_loop_test(tc, impossible_fabrics_are_refused, 0, ARRAY_SIZE(impossible));
	tcase_add_test(tc, words_that_are_files);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
