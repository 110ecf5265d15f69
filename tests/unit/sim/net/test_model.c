/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests building a fabric, refusals, links, and look-ups by name.
 *
 * promise: V1
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/net/model.h"
#include "unit/run.h"

static struct sim_fabric *f;
static struct buf err;

static void setup(void)
{
	f = simfab_new();
}

static void teardown(void)
{
	simfab_free(f);
	buf_free(&err);
}

static uint32_t add(uint8_t type, uint8_t nports, uint64_t guid, const char *id, const char *desc)
{
	return simfab_add_node(f, &(struct sim_node_spec){
		.type = type, .nports = nports, .guid = guid, .id = id, .desc = desc }, &err);
}

static uint32_t port(uint32_t node, unsigned num)
{
	return f->nodes[node].port0 + num;
}

static void assert_refused(const char *why)
{
	ck_assert_ptr_nonnull(err.s);
	ck_assert_msg(strstr(err.s, why) != NULL, "'%s' is not in '%s'", why, err.s);
	buf_free(&err);
}

START_TEST(nodes_and_ports)
{
	uint32_t sw = add(SIM_SWITCH, 36, 0x100, "S-100", "leaf");
	uint32_t ca = simfab_add_node(f, &(struct sim_node_spec){
		.type = SIM_CA, .nports = 20, .guid = 0x200, .sysimg_guid = 0x203,
		.port_guid = { [2] = 0x777 }, .vendor_id = 5, .device_id = 6,
		.id = "H-200", .desc = "host" }, &err);

	ck_assert_uint_eq(f->n_nodes, 2);
	ck_assert_uint_eq(f->n_ports, 37 + 21);
	ck_assert_uint_eq(f->n_switches, 1);
	ck_assert_uint_eq(f->switches[0].node, sw);
	ck_assert_uint_eq(f->nodes[sw].sw, 0);
	ck_assert_uint_eq(f->nodes[ca].sw, SIM_NONE);
	ck_assert_str_eq(f->nodes[ca].desc, "host");
	ck_assert_str_eq(f->nodes[ca].given_desc, "host");
	ck_assert_uint_eq(f->nodes[ca].sysimg_guid, 0x203);
	ck_assert_uint_eq(f->nodes[ca].vendor_id, 5);
	for (unsigned i = 0; i <= 36; i++) {
		ck_assert_uint_eq(f->ports[port(sw, i)].guid, 0x100);
		ck_assert_uint_eq(f->ports[port(sw, i)].num, i);
		ck_assert_uint_eq(f->ports[port(sw, i)].peer, SIM_NONE);
		ck_assert_uint_eq(f->ports[port(sw, i)].node, sw);
		ck_assert_int_eq(is_end_port(f, port(sw, i)), i == 0);
		ck_assert_uint_eq(sma_port(f, port(sw, i)), port(sw, 0));
	}
	ck_assert_uint_eq(f->ports[port(ca, 1)].guid, 0x201);
	ck_assert_uint_eq(f->ports[port(ca, 2)].guid, 0x777);
	ck_assert_uint_eq(f->ports[port(ca, 20)].guid, 0x200 + 20);
	ck_assert(!is_end_port(f, port(ca, 0)));
	ck_assert(is_end_port(f, port(ca, 1)));
	ck_assert_uint_eq(sma_port(f, port(ca, 2)), port(ca, 2));
	ck_assert_uint_eq(map64_get(&f->port_by_guid, 0x100), port(sw, 0));
	ck_assert_uint_eq(map64_get(&f->port_by_guid, 0x777), port(ca, 2));
	ck_assert_uint_eq(map64_get(&f->node_by_guid, 0x200), ca);
}
END_TEST

START_TEST(refused_nodes)
{
	add(SIM_CA, 2, 0x10, NULL, NULL);
	ck_assert_uint_eq(add(SIM_CA, 1, 0x10, "x", "x"), SIM_NONE);
	assert_refused("two nodes with GUID 0x0000000000000010");
	ck_assert_uint_eq(add(SIM_CA, 1, 0x11, "x", "x"), SIM_NONE);
	assert_refused("two ports with GUID 0x0000000000000012");
	ck_assert_uint_eq(add(SIM_SWITCH, 1, 0x12, "x", "x"), SIM_NONE);
	assert_refused("two ports");
	ck_assert_uint_eq(simfab_add_node(f, &(struct sim_node_spec){
		.type = SIM_CA, .nports = 3, .guid = 0x30, .port_guid = { [3] = 0x31 } }, &err),
		SIM_NONE);
	assert_refused("two ports with GUID 0x0000000000000031");
	ck_assert_uint_eq(add(SIM_CA, 0, 0x20, "x", "x"), SIM_NONE);
	assert_refused("port");
	ck_assert_uint_eq(add(SIM_SWITCH, 255, 0x20, "x", "x"), SIM_NONE);
	assert_refused("254");
	ck_assert_uint_eq(add(SIM_CA, 1, 0, "x", "x"), SIM_NONE);
	assert_refused("GUID");
	ck_assert_uint_eq(add(7, 1, 0x20, "x", "x"), SIM_NONE);
	assert_refused("type");
	ck_assert_uint_eq(f->n_nodes, 1);
	ck_assert_uint_eq(f->n_ports, 3);
	ck_assert_uint_ne(add(SIM_SWITCH, 254, 0x20, "x", "x"), SIM_NONE);
}
END_TEST

START_TEST(long_names_are_cut)
{
	char name[200];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	uint32_t node = add(SIM_CA, 1, 0x10, name, name);

	ck_assert_uint_eq(strlen(f->nodes[node].desc), 64);
	ck_assert_uint_eq(strlen(f->nodes[node].id), 23);
}
END_TEST

START_TEST(cables)
{
	uint32_t a = add(SIM_SWITCH, 4, 0x10, "S-10", "a"), b = add(SIM_CA, 2, 0x20, "H-20", "b");

	ck_assert(simfab_connect(f, port(a, 1), port(b, 2), &err));
	ck_assert_uint_eq(f->ports[port(a, 1)].peer, port(b, 2));
	ck_assert_uint_eq(f->ports[port(b, 2)].peer, port(a, 1));
	ck_assert(!simfab_connect(f, port(a, 1), port(b, 1), &err));
	assert_refused("a/P1 already has a cable");
	ck_assert(!simfab_connect(f, port(a, 2), port(b, 2), &err));
	assert_refused("b/P2");
	ck_assert(!simfab_connect(f, port(a, 2), port(a, 2), &err));
	assert_refused("two ends");
	ck_assert(!simfab_connect(f, port(a, 0), port(b, 1), &err));
	assert_refused("takes no cable");
	ck_assert(!simfab_connect(f, port(a, 2), port(b, 0), &err));
	assert_refused("takes no cable");
	ck_assert(!simfab_connect(f, f->n_ports, port(b, 1), &err));
	assert_refused("no such port");
	ck_assert_uint_eq(f->ports[port(b, 1)].peer, SIM_NONE);
	ck_assert(simfab_connect(f, port(a, 2), port(a, 3), &err));	/* a plug in a loop */
}
END_TEST

START_TEST(cables_move)
{
	uint32_t a = add(SIM_SWITCH, 4, 0x10, "S-10", "a");
	uint32_t b = add(SIM_SWITCH, 4, 0x20, "S-20", "b");

	simfab_connect(f, port(a, 1), port(b, 1), &err);
	f->ports[port(b, 1)].cable_speed = SIM_SPEED_DDR;
	ck_assert(!simfab_reconnect(f, port(a, 1), port(b, 2), &err));
	assert_refused("a/P1 has a cable that is plugged in");
	ck_assert(!simfab_reconnect(f, port(a, 2), port(b, 1), &err));
	assert_refused("b/P1");
	ck_assert(!simfab_reconnect(f, port(a, 0), port(b, 2), &err));
	assert_refused("takes no cable");
	ck_assert(!simfab_reconnect(f, port(a, 2), port(a, 2), &err));
	assert_refused("two ends");
	ck_assert(!simfab_reconnect(f, port(a, 2), f->n_ports, &err));
	assert_refused("no such port");
	ck_assert_uint_eq(f->ports[port(a, 1)].peer, port(b, 1));
	f->ports[port(a, 1)].unplugged = f->ports[port(b, 1)].unplugged = true;
	ck_assert(simfab_reconnect(f, port(b, 1), port(a, 2), &err));
	ck_assert_uint_eq(f->ports[port(a, 1)].peer, SIM_NONE);
	ck_assert(!f->ports[port(a, 1)].unplugged);
	ck_assert_uint_eq(f->ports[port(a, 2)].peer, port(b, 1));
	ck_assert_uint_eq(f->ports[port(b, 1)].peer, port(a, 2));
	ck_assert_uint_eq(f->ports[port(b, 1)].cable_speed, 0);
	ck_assert(link_is_up(f, port(a, 2)));
}
END_TEST

START_TEST(up_and_down)
{
	uint32_t a = add(SIM_SWITCH, 4, 0x10, "S-10", "a"), b = add(SIM_CA, 2, 0x20, "H-20", "b");
	uint32_t p = port(a, 1), q = port(b, 1);

	simfab_connect(f, p, q, &err);
	ck_assert(link_is_up(f, p) && link_is_up(f, q));
	ck_assert(!link_is_up(f, port(a, 2)));
	ck_assert(!link_is_up(f, port(a, 0)));

	bool *const faults[] = {
		&f->ports[p].unplugged, &f->ports[q].unplugged, &f->ports[p].disabled,
		&f->ports[q].disabled, &f->nodes[a].off, &f->nodes[b].off,
	};
	for (unsigned i = 0; i < ARRAY_SIZE(faults); i++) {
		*faults[i] = true;
		ck_assert(!link_is_up(f, p) && !link_is_up(f, q));
		*faults[i] = false;
	}
	f->nodes[a].silent = true;
	ck_assert(link_is_up(f, p));
}
END_TEST

/* --- names --- */

static void named(void)
{
	uint32_t s1 = add(SIM_SWITCH, 36, 0xa0, "S-a0", "leaf 1");
	uint32_t h1 = add(SIM_CA, 2, 0xb0, "H-b0", "node1 HCA-1");
	uint32_t s2 = add(SIM_SWITCH, 4, 0xa1, "S-a1", "odd/P2");

	add(SIM_CA, 1, 0xc0, "H-c0", "twin");
	add(SIM_CA, 1, 0xd0, "H-d0", "twin");
	add(SIM_CA, 1, 0xe0, "H-e0", "odd");
	simfab_connect(f, port(s1, 5), port(h1, 2), &err);
	simfab_connect(f, port(s1, 6), port(s2, 1), &err);
}

static const struct name {
	const char *text;
	uint32_t node;		/* SIM_NONE: none is found */
	unsigned port;
	const char *why;
} names[] = {
	{ "leaf 1", 0, 0, NULL },
	{ "S-a0", 0, 0, NULL },
	{ "0xa0", 0, 0, NULL },
	{ "0x00000000000000A0", 0, 0, NULL },
	{ "leaf 1/P36", 0, 36, NULL },
	{ "leaf 1[36]", 0, 36, NULL },
	{ "S-a0/P0", 0, 0, NULL },
	{ "0xa0[7]", 0, 7, NULL },
	{ "node1 HCA-1", 1, 2, NULL },		/* the first with a cable */
	{ "0xb1", 1, 1, NULL },			/* an end port's GUID */
	{ "0xb0/P1", 1, 1, NULL },
	{ "H-c0", 3, 1, NULL },			/* no cable at all */
	{ "odd/P2", 2, 0, NULL },		/* that is what it is called */
	{ "odd/P2/P2", 2, 2, NULL },
	{ "odd/P1", 5, 1, NULL },
	{ "leaf 1/P37", SIM_NONE, 0, "'leaf 1' has no port 37" },
	{ "node1 HCA-1/P0", SIM_NONE, 0, "no port 0" },
	{ "leaf 1/P1234", SIM_NONE, 0, "no node" },
	{ "leaf 1/P", SIM_NONE, 0, "no node" },
	{ "leaf 1[]", SIM_NONE, 0, "no node" },
	{ "leaf 1]", SIM_NONE, 0, "no node" },
	{ "leaf 1/1", SIM_NONE, 0, "no node" },
	{ "/P1", SIM_NONE, 0, "no node" },
	{ "[1]", SIM_NONE, 0, "no node" },
	{ "P1", SIM_NONE, 0, "no node" },
	{ "1]", SIM_NONE, 0, "no node" },
	{ "]", SIM_NONE, 0, "no node" },
	{ "", SIM_NONE, 0, "no node ''" },
	{ "leaf", SIM_NONE, 0, "no node 'leaf'" },
	{ "0x", SIM_NONE, 0, "no node" },
	{ "0xff", SIM_NONE, 0, "no node" },
	{ "0xa0z", SIM_NONE, 0, "no node" },
	{ "0x100000000000000a0", SIM_NONE, 0, "no node" },
	{ "twin", SIM_NONE, 0, "2 nodes are named 'twin'" },
	{ "twin/P1", SIM_NONE, 0, "2 nodes are named 'twin'" },
};

START_TEST(find_port)
{
	const struct name *n = &names[_i];

	named();
	uint32_t found = find_port_by_text(f, n->text, &err);

	if (n->node == SIM_NONE) {
		ck_assert_uint_eq(found, SIM_NONE);
		assert_refused(n->why);
	} else {
		ck_assert_msg(found == port(n->node, n->port), "%s: port %u, %s", n->text, found,
			      err.s ? err.s : "");
		ck_assert_ptr_null(err.s);
	}
}
END_TEST

START_TEST(find_node)
{
	named();
	ck_assert_uint_eq(find_node_by_text(f, "leaf 1", &err), 0);
	ck_assert_uint_eq(find_node_by_text(f, "H-b0", &err), 1);
	ck_assert_uint_eq(find_node_by_text(f, "0xb2", &err), 1);
	ck_assert_uint_eq(find_node_by_text(f, "odd/P2", &err), 2);
	ck_assert_ptr_null(err.s);
	ck_assert_uint_eq(find_node_by_text(f, "leaf 1/P1", &err), SIM_NONE);
	assert_refused("no node 'leaf 1/P1'");
	ck_assert_uint_eq(find_node_by_text(f, "twin", &err), SIM_NONE);
	assert_refused("give the GUID");
}
END_TEST

START_TEST(port_names)
{
	char name[SIM_NAME_MAX];

	named();
	uint32_t nameless = add(SIM_CA, 1, 0xf0, NULL, NULL);
	uint32_t by_id = add(SIM_CA, 1, 0xf2, "id", "");

	ck_assert_str_eq(sim_port_name(f, port(0, 36), name, sizeof(name)), "leaf 1/P36");
	ck_assert_str_eq(sim_port_name(f, port(by_id, 1), name, sizeof(name)), "id/P1");
	ck_assert_str_eq(sim_port_name(f, port(nameless, 1), name, sizeof(name)),
			 "0x00000000000000f0/P1");
	ck_assert_str_eq(sim_port_name(f, port(0, 36), name, 4), "lea");
}
END_TEST

START_TEST(counters_when_needed)
{
	uint32_t node = add(SIM_CA, 1, 0x10, NULL, NULL);
	struct sim_port *p = &f->ports[port(node, 1)];

	ck_assert_ptr_null(p->counters);
	port_counters(p)->xmit_pkts = 3;
	ck_assert_uint_eq(port_counters(p)->xmit_pkts, 3);
	ck_assert_uint_eq(port_counters(p)->rcv_pkts, 0);
}
END_TEST

/* As many as LIDs allow. */
START_TEST(full_size)
{
	for (unsigned i = 0; i < 3000; i++)
		ck_assert_uint_ne(add(SIM_SWITCH, 40, 0x1000000 + i, NULL, NULL), SIM_NONE);
	for (unsigned i = 0; i < 46151; i++)
		ck_assert_uint_ne(add(SIM_CA, 1, 0x2000000 + 16 * i, NULL, NULL), SIM_NONE);
	for (uint32_t i = 0; i < 46151; i++)
		ck_assert(simfab_connect(f, port(3000 + i, 1), port(i / 36 % 3000, 1 + i % 36),
					 &err));
	ck_assert_uint_eq(f->n_nodes, 49151);
	ck_assert_uint_eq(find_node_by_text(f, "0x2000000", &err), 3000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("model");
	TCase *t = tcase_create("model");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nodes_and_ports);
	tcase_add_test(t, refused_nodes);
	tcase_add_test(t, long_names_are_cut);
	tcase_add_test(t, cables);
	tcase_add_test(t, cables_move);
	tcase_add_test(t, up_and_down);
	tcase_add_loop_test(t, find_port, 0, ARRAY_SIZE(names));
	tcase_add_test(t, find_node);
	tcase_add_test(t, port_names);
	tcase_add_test(t, counters_when_needed);
	tcase_add_test(t, full_size);
	suite_add_tcase(s, t);
	return run_suite(s);
}
