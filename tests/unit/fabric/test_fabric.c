/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests building a fabric, its indexes and look-ups, also with devices that lie. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

#define CA_GUID		0x0002c90300000010ULL
#define SWITCH_GUID	0x0002c90200000010ULL

static void node_info(uint8_t *info, unsigned type, unsigned nports, uint64_t guid)
{
	memset(info, 0, 40);
	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field(info, 0, IB_NODE_PARTITION_CAP_F, 64);
	mad_set_field(info, 0, IB_NODE_LOCAL_PORT_F, 1);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, guid + 3);
}

/* Adds a device as users of the builder do, without a route. */
static uint32_t add(struct fabric *f, unsigned type, unsigned nports, uint64_t guid,
		    const char *desc)
{
	uint8_t info[40], switch_info[20] = { 0 };

	node_info(info, type, nports, guid);
	return fabric_add_node(f, info, desc, type == IB_NODE_SWITCH_T ? switch_info : NULL,
			       NULL, 0);
}

static void port(struct fabric *f, uint32_t node, unsigned num, uint64_t guid, uint16_t lid,
		 unsigned lmc)
{
	uint8_t info[64] = { 0 };

	mad_set_field(info, 0, IB_PORT_LID_F, lid);
	mad_set_field(info, 0, IB_PORT_LMC_F, lmc);
	ck_assert(fabric_set_port(f, node, num, guid, info));
}

/*
 * 0: CA "host A" P1 on 1: switch P3; 2: CA "host B" with P1 on the switch's P5
 * and P2 on P6.  LIDs 1, 2, 8-9, 10.
 */
static struct fabric *small(struct buf *err)
{
	struct fabric *f = fabric_new();

	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 1, CA_GUID, "host A"), 0);
	ck_assert_uint_eq(add(f, IB_NODE_SWITCH_T, 36, SWITCH_GUID, "switch"), 1);
	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 2, CA_GUID + 16, "host B"), 2);
	port(f, 0, 1, CA_GUID + 1, 1, 0);
	port(f, 1, 0, SWITCH_GUID, 2, 0);
	for (unsigned num = 1; num <= 36; num++)
		port(f, 1, num, SWITCH_GUID, 0, 0);
	port(f, 2, 1, CA_GUID + 17, 8, 1);
	port(f, 2, 2, CA_GUID + 18, 10, 0);
	ck_assert(fabric_link(f, 0, 1, 1, 3));
	ck_assert(fabric_link(f, 1, 5, 2, 1));
	ck_assert(fabric_link(f, 2, 2, 1, 6));
	ck_assert(fabric_finish(f, 0, 1, err));
	return f;
}

START_TEST(builds_and_indexes)
{
	struct buf err = { 0 };
	struct fabric *f = small(&err);

	ck_assert_uint_eq(err.n, 0);
	ck_assert_uint_eq(f->n_nodes, 3);
	ck_assert_uint_eq(f->n_ports, 2 + 37 + 3);
	ck_assert_uint_eq(f->n_switches, 1);
	ck_assert_uint_eq(f->unanswered, 0);
	ck_assert_uint_eq(f->switches[0].node, 1);
	ck_assert_uint_eq(f->nodes[1].sw, 0);
	ck_assert_uint_eq(f->nodes[0].sw, FABRIC_NONE);
	ck_assert_ptr_eq(fabric_port(f, 0, 1), &f->ports[f->self]);
	ck_assert_uint_eq(f->nodes[2].sysimg_guid, CA_GUID + 19);
	ck_assert_uint_eq(f->nodes[2].partition_cap, 64);

	unsigned linked = 0;
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->ports[p].peer != FABRIC_NONE) {
			ck_assert_uint_eq(f->ports[f->ports[p].peer].peer, p);
			linked++;
		}
	ck_assert_uint_eq(linked, 6);

	ck_assert_uint_eq(fabric_find_port(f, CA_GUID + 17), f->nodes[2].port0 + 1);
	ck_assert_uint_eq(fabric_find_port(f, SWITCH_GUID), f->nodes[1].port0);
	ck_assert_uint_eq(fabric_find_port(f, CA_GUID), FABRIC_NONE);
	ck_assert_uint_eq(fabric_find_port(f, 0), FABRIC_NONE);
	ck_assert_uint_eq(fabric_switch_of(f, f->self), 0);
	ck_assert_uint_eq(fabric_switch_of(f, f->nodes[1].port0), 0);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(keeps_routes)
{
	struct fabric *f = fabric_new();
	uint8_t info[40], switch_info[20] = { 0 }, route[IB_DR_HOPS_MAX + 1];

	for (unsigned i = 0; i < sizeof(route); i++)
		route[i] = (uint8_t)(i + 1);
	/* many, so that the arrays move while they grow */
	for (unsigned i = 0; i < 3000; i++) {
		node_info(info, IB_NODE_SWITCH_T, 4, i + 1);
		ck_assert_uint_eq(fabric_add_node(f, info, "", switch_info, route,
						  i % sizeof(route)), i);
	}
	for (unsigned i = 0; i < 3000; i++) {
		const struct fabric_node *n = &f->nodes[i];

		ck_assert_uint_eq(n->hops, i % sizeof(route));
		ck_assert_mem_eq(f->routes + n->route, route, n->hops);
		ck_assert_uint_eq(f->switches[n->sw].node, i);
	}
	node_info(info, IB_NODE_CA_T, 1, CA_GUID);
	ck_assert_uint_eq(fabric_add_node(f, info, "", NULL, route, sizeof(route)), FABRIC_NONE);
	fabric_free(f);
}
END_TEST

START_TEST(hostile_node_info)
{
	struct fabric *f = fabric_new();
	uint8_t info[40];
	char long_desc[64];

	memset(long_desc, 'x', sizeof(long_desc));
	ck_assert_uint_eq(add(f, 0, 1, 1, ""), FABRIC_NONE);
	ck_assert_uint_eq(add(f, 4, 1, 1, ""), FABRIC_NONE);
	ck_assert_uint_eq(add(f, 255, 1, 1, ""), FABRIC_NONE);
	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 0, 1, ""), FABRIC_NONE);
	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 255, 1, ""), FABRIC_NONE);
	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 1, 0, ""), FABRIC_NONE);
	node_info(info, IB_NODE_SWITCH_T, 8, 1);
	ck_assert_uint_eq(fabric_add_node(f, info, "", NULL, NULL, 0), FABRIC_NONE);
	memset(info, 0xff, sizeof(info));
	ck_assert_uint_eq(fabric_add_node(f, info, "", info, NULL, 0), FABRIC_NONE);
	ck_assert_uint_eq(f->n_nodes, 0);
	ck_assert_uint_eq(f->n_ports, 0);

	ck_assert_uint_eq(add(f, IB_NODE_SWITCH_T, 254, 1, long_desc), 0);
	ck_assert_uint_eq(strlen(f->nodes[0].desc), 64);
	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 1, 1, "same GUID"), FABRIC_NONE);
	fabric_free(f);
}
END_TEST

START_TEST(hostile_port_info)
{
	struct fabric_port p = { 0 };
	uint8_t info[64];

	memset(info, 0xff, sizeof(info));
	fabric_port_store(&p, info);
	ck_assert(p.present);
	ck_assert_mem_eq(p.info, info, sizeof(info));
	ck_assert_uint_eq(p.mtu_cap, 1);
	ck_assert_uint_eq(p.vl_cap, 1);
	ck_assert_uint_eq(p.neighbor_mtu, 0);
	ck_assert_uint_eq(p.op_vls, 0);
	ck_assert_uint_eq(p.rate, 0);
	ck_assert_uint_eq(p.vlarb_high_cap, VLARB_ENTRIES_MAX);
	ck_assert_uint_eq(p.vlarb_low_cap, VLARB_ENTRIES_MAX);
	memset(info, 0, sizeof(info));
	fabric_port_store(&p, info);
	ck_assert_uint_eq(p.mtu_cap, 1);
	ck_assert_uint_eq(p.vl_cap, 1);
	ck_assert_uint_eq(p.rate, 0);
}
END_TEST

START_TEST(decodes_port_info)
{
	/* as the wire has it, 14.2.5.6 */
	uint8_t info[64] = {
		[16] = 0x00, 0x12, [18] = 0x00, 0x34, [20] = 0x02, 0x00, 0x40, 0x48,
		[31] = 0x02,			/* LinkWidthActive 4x */
		[32] = 0x74, [33] = 0x52,	/* state Active; LinkUp */
		[34] = 0x03,			/* LMC 3 */
		[35] = 0x47, [36] = 0x40,	/* QDR; NeighborMTU 2048 */
		[37] = 0x50, [39] = 64, [40] = 8, [41] = 0x05, [43] = 0x30,
		[62] = 0x20,			/* LinkSpeedExtActive EDR */
	};
	struct fabric_port p = { 0 };

	fabric_port_store(&p, info);
	ck_assert_uint_eq(p.lid, 0x12);
	ck_assert_uint_eq(p.sm_lid, 0x34);
	ck_assert_uint_eq(p.capmask, 0x02004048);
	ck_assert_uint_eq(p.state, IB_PORT_ACTIVE_S);
	ck_assert_uint_eq(p.phys_state, IB_PHYS_LINK_UP);
	ck_assert_uint_eq(p.lmc, 3);
	ck_assert_uint_eq(p.neighbor_mtu, 4);
	ck_assert_uint_eq(p.mtu_cap, 5);
	ck_assert_uint_eq(p.vl_cap, 5);
	ck_assert_uint_eq(p.op_vls, 3);
	ck_assert_uint_eq(p.vlarb_high_cap, 64);
	ck_assert_uint_eq(p.vlarb_low_cap, 8);
	ck_assert_uint_eq(p.rate, 16);	/* 100 Gb/s */

	info[22] = 0x00;		/* a mask without IsExtendedSpeedsSupported: QDR */
	fabric_port_store(&p, info);
	ck_assert_uint_eq(p.rate, 7);
	memset(info + 20, 0, 4);	/* a switch's external port has no mask */
	fabric_port_store(&p, info);
	ck_assert_uint_eq(p.rate, 16);
}
END_TEST

START_TEST(decodes_switch_info)
{
	uint8_t info[20] = {
		0xc0, 0x00, 0, 0, 0x04, 0x00, 0x01, 0x23, 0, 0, 0,
		0x97,		/* LifeTimeValue 18, PortStateChange, optimised SL2VL */
		0, 0, 0x00, 0x20, 0x08, 0x00, 0xc0, 0x05,
	};
	struct fabric_switch s = { 0 };

	fabric_switch_store(&s, info);
	ck_assert_uint_eq(s.lft_cap, 0xc000);
	ck_assert_uint_eq(s.mcast_cap, 0x400);
	ck_assert_uint_eq(s.lft_top, 0x123);
	ck_assert_uint_eq(s.lifetime, 18);
	ck_assert(s.port_change);
	ck_assert(s.optimized_sl2vl);
	ck_assert_uint_eq(s.enforce_cap, 32);
	ck_assert(s.enhanced_port0);
	ck_assert_uint_eq(s.mcast_top, 0xc005);
	memset(info, 0xff, sizeof(info));	/* not more MLIDs than there are */
	fabric_switch_store(&s, info);
	ck_assert_uint_eq(s.mcast_cap, IB_MLIDS);
	memset(info, 0, sizeof(info));
	fabric_switch_store(&s, info);
	ck_assert(!s.port_change && !s.optimized_sl2vl && !s.enhanced_port0);
}
END_TEST

START_TEST(clones)
{
	struct buf err = { 0 };
	struct fabric *f = small(&err), *c = fabric_clone(f);
	uint8_t info[64] = { [17] = 77 };

	fabric_port_store(&f->ports[f->self], info);
	ck_assert_uint_eq(c->ports[c->self].lid, 1);
	fabric_free(f);
	ck_assert_uint_eq(c->n_nodes, 3);
	ck_assert_uint_eq(fabric_find_port(c, CA_GUID + 1), c->self);
	ck_assert_uint_eq(fabric_switch_of(c, c->self), 0);
	fabric_free(c);

	f = fabric_new();		/* without a switch or a route */
	add(f, IB_NODE_CA_T, 1, CA_GUID, "alone");
	port(f, 0, 1, CA_GUID + 1, 0, 0);
	ck_assert(fabric_finish(f, 0, 1, &err));
	c = fabric_clone(f);
	ck_assert_uint_eq(c->self, f->self);
	fabric_free(f);
	fabric_free(c);
	buf_free(&err);
}
END_TEST

START_TEST(refuses_links)
{
	struct buf err = { 0 };
	struct fabric *f = small(&err);

	ck_assert(fabric_link(f, 0, 1, 1, 3));		/* is there */
	ck_assert(fabric_link(f, 1, 3, 0, 1));
	ck_assert(!fabric_link(f, 0, 1, 1, 4));		/* one end is taken */
	ck_assert(!fabric_link(f, 1, 7, 2, 1));
	ck_assert(!fabric_link(f, 1, 7, 1, 7));		/* to itself */
	ck_assert(!fabric_link(f, 1, 0, 1, 7));		/* port 0 */
	ck_assert(!fabric_link(f, 1, 7, 1, 37));
	ck_assert(!fabric_link(f, 1, 7, 3, 1));
	ck_assert(!fabric_link(f, FABRIC_NONE, 1, 1, 7));
	ck_assert_uint_eq(fabric_port(f, 1, 7)->peer, FABRIC_NONE);
	ck_assert_uint_eq(fabric_port(f, 1, 3)->peer, f->self);
	ck_assert(fabric_link(f, 1, 7, 1, 8));		/* a cable from a switch to itself */
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(refuses_ports)
{
	struct fabric *f = fabric_new();
	uint8_t info[64] = { 0 };
	uint32_t ca = add(f, IB_NODE_CA_T, 2, CA_GUID, "");

	ck_assert(!fabric_set_port(f, ca, 0, 1, info));
	ck_assert(!fabric_set_port(f, ca, 3, 1, info));
	ck_assert(!fabric_set_port(f, ca + 1, 1, 1, info));
	ck_assert(fabric_set_port(f, ca, 2, 1, info));
	fabric_free(f);
}
END_TEST

START_TEST(duplicate_port_guid)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };

	add(f, IB_NODE_CA_T, 1, CA_GUID, "first");
	add(f, IB_NODE_CA_T, 1, CA_GUID + 16, "second");
	add(f, IB_NODE_CA_T, 1, CA_GUID + 32, "third");
	port(f, 0, 1, CA_GUID + 1, 0, 0);
	port(f, 1, 1, CA_GUID + 1, 0, 0);
	port(f, 2, 1, 0, 0, 0);
	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "second/P1"));
	ck_assert_ptr_nonnull(strstr(err.s, "third/P1"));
	ck_assert_uint_eq(fabric_find_port(f, CA_GUID + 1), f->self);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

/* Two hosts with each other's port GUIDs, in the order of discovery `first`, `second`. */
static struct fabric *two_with_one_name(uint64_t first, uint64_t second)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };

	add(f, IB_NODE_CA_T, 1, CA_GUID, "us");
	add(f, IB_NODE_CA_T, 2, first, "a");
	add(f, IB_NODE_CA_T, 2, second, "b");
	port(f, 0, 1, CA_GUID + 1, 0, 0);
	for (uint32_t node = 1; node <= 2; node++)
		port(f, node, 1, 0x77, 0, 0);
	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert_uint_eq(f->n_nameless, 1);
	buf_free(&err);
	return f;
}

static const struct {
	uint64_t first, second;		/* node GUIDs; before: 0x10 had the name, and 0x20 has come */
	uint64_t owner;			/* now */
} owners[] = {
	{ 0x10, 0x20, 0x10 }, { 0x20, 0x10, 0x10 },
	{ 0x20, 0x30, 0x20 },		/* the former owner is gone */
};

/* promise: A65 */
START_TEST(a_newcomer_does_not_take_a_name)
{
	struct fabric *before = two_with_one_name(0x10, 0x20);
	struct fabric *f = two_with_one_name(owners[_i].first, owners[_i].second);
	uint32_t node = map64_get(&f->node_by_guid, owners[_i].owner);

	fabric_keep_owners(f, before);
	ck_assert_uint_eq(fabric_find_port(f, 0x77), f->nodes[node].port0 + 1);
	ck_assert(fabric_owns_guid(f, f->nodes[node].port0 + 1));
	ck_assert(!fabric_owns_guid(f, f->nodes[node == 1 ? 2 : 1].port0 + 1));
	ck_assert(fabric_owns_guid(f, f->self));
	fabric_free(f);
	fabric_free(before);
}
END_TEST

/* Host, switch 0x100 with LinearFDBCap `cap` (0: it did not answer SwitchInfo), switch `other` likewise. */
static struct fabric *with_switches(unsigned cap, uint64_t other, unsigned other_cap)
{
	const unsigned caps[] = { cap, other_cap };
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	uint8_t info[20] = { 0 };

	add(f, IB_NODE_CA_T, 2, CA_GUID, "host");
	add(f, IB_NODE_SWITCH_T, 2, 0x100, "a");
	add(f, IB_NODE_SWITCH_T, 2, other, "b");
	port(f, 0, 1, CA_GUID + 1, 0, 0);
	port(f, 1, 0, 0x100, 0, 0);
	port(f, 2, 0, other, 0, 0);
	for (unsigned sw = 0; sw < 2; sw++) {
		mad_set_field(info, 0, IB_SW_LINEAR_FDB_CAP_F, caps[sw]);
		fabric_switch_store(&f->switches[sw], info);
	}
	ck_assert(fabric_finish(f, 0, 1, &err));
	buf_free(&err);
	return f;
}

/* promise: A93 */
START_TEST(a_switch_without_an_answer_keeps_its_switch_info)
{
	struct fabric *before = with_switches(49152, 0x200, 1024);
	struct fabric *f = with_switches(0, 0x200, 2048), *new = with_switches(0, 0x300, 0);

	ck_assert_uint_eq(fabric_count_unread(before), 0);
	ck_assert_uint_eq(fabric_count_unread(f), 1);
	fabric_keep_switch_info(f, before);
	ck_assert_uint_eq(fabric_count_unread(f), 0);
	ck_assert_uint_eq(f->switches[0].lft_cap, 49152);
	ck_assert_uint_eq(f->switches[1].lft_cap, 2048);	/* an answer counts */
	fabric_keep_switch_info(new, before);
	ck_assert_uint_eq(fabric_count_unread(new), 1);
	ck_assert_uint_eq(new->switches[0].lft_cap, 49152);
	ck_assert(new->switches[1].unread);
	fabric_free(before);
	fabric_free(f);
	fabric_free(new);
}
END_TEST

START_TEST(own_port_missing)
{
	static const struct { uint32_t node; unsigned num; } wrong[] = {
		{ 0, 0 }, { 0, 2 }, { 0, 255 }, { 1, 1 }, { FABRIC_NONE, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct fabric *f = fabric_new();
		struct buf err = { 0 };

		add(f, IB_NODE_CA_T, 2, CA_GUID, "host");
		add(f, IB_NODE_CA_T, 2, CA_GUID + 16, "host");
		port(f, 0, 1, CA_GUID + 1, 0, 0);
		port(f, 1, 1, CA_GUID + 17, 0, 0);
		ck_assert(!fabric_finish(f, wrong[i].node, wrong[i].num, &err));
		ck_assert_uint_gt(err.n, 0);
		fabric_free(f);
		buf_free(&err);
	}
	struct fabric *f = fabric_new();
	struct buf err = { 0 };

	ck_assert(!fabric_finish(f, 0, 1, &err));	/* empty */
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(cuts_half_known_links)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };

	add(f, IB_NODE_CA_T, 1, CA_GUID, "host");
	add(f, IB_NODE_CA_T, 1, CA_GUID + 16, "silent");
	port(f, 0, 1, CA_GUID + 1, 0, 0);
	ck_assert(fabric_link(f, 0, 1, 1, 1));
	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert_uint_eq(f->unanswered, 1);
	ck_assert_uint_eq(f->ports[f->self].peer, FABRIC_NONE);
	ck_assert_uint_eq(fabric_port(f, 1, 1)->peer, FABRIC_NONE);
	ck_assert_uint_eq(fabric_switch_of(f, f->self), FABRIC_NONE);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(finds_by_text)
{
	struct buf err = { 0 };
	struct fabric *f = small(&err);
	uint32_t a1 = f->self, b1 = f->nodes[2].port0 + 1, sw = f->nodes[1].port0;
	const struct { const char *text; uint32_t port; } cases[] = {
		{ "host A/P1", a1 }, { "host B/P1", b1 }, { "host B/P2", b1 + 1 },
		{ "switch/P0", sw }, { "switch/P36", sw + 36 },
		{ "0x0002c90300000011", a1 }, { "0x2c90300000011", a1 }, { "0X2C90300000011", a1 },
		{ "0002c90300000011", a1 }, { "0x2c90200000010", sw },
		{ "0x2c90200000010/P5", sw + 5 }, { "0x2c90300000020/P2", b1 + 1 },
		{ "1", a1 }, { "2", sw }, { "8", b1 }, { "9", b1 }, { "10", b1 + 1 },
		{ "host A/P2", FABRIC_NONE }, { "host A/P0", FABRIC_NONE },
		{ "host A", FABRIC_NONE },
		{ "host/P1", FABRIC_NONE }, { "host A /P1", FABRIC_NONE },
		{ "host A/P", FABRIC_NONE },
		{ "host A/p1", FABRIC_NONE }, { "host A/P1x", FABRIC_NONE },
		{ "host A/P-1", FABRIC_NONE },
		{ "switch/P37", FABRIC_NONE }, { "switch/P255", FABRIC_NONE },
		{ "switch/P99999999999999999999", FABRIC_NONE },
		{ "0x2c90300000010", FABRIC_NONE }, { "0x", FABRIC_NONE },
		{ "0x12345678901234567", FABRIC_NONE },
		{ "0x2c90200000010/P", FABRIC_NONE }, { "0x77/P1", FABRIC_NONE },
		{ "0", FABRIC_NONE }, { "11", FABRIC_NONE }, { "65536", FABRIC_NONE },
		{ "4294967297", FABRIC_NONE }, { "-1", FABRIC_NONE }, { "", FABRIC_NONE },
		{ "/", FABRIC_NONE }, { "/P1", FABRIC_NONE },
		{ "a name that is longer than a NodeDescription can be: of 64 bytes/P1",
		  FABRIC_NONE },
	};
	bool ambiguous;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ambiguous = true;
		uint32_t found = fabric_find_port_by_text(f, cases[i].text, &ambiguous);

		ck_assert_msg(found == cases[i].port, "%s", cases[i].text);
		ck_assert(!ambiguous);
	}
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(ambiguous_text)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	bool ambiguous;

	add(f, IB_NODE_CA_T, 1, CA_GUID, "twin");
	add(f, IB_NODE_CA_T, 2, CA_GUID + 16, "twin");
	port(f, 0, 1, CA_GUID + 1, 7, 0);
	port(f, 1, 1, CA_GUID + 17, 4, 2);	/* 4 to 7 */
	port(f, 1, 2, CA_GUID + 18, 0, 0);
	ck_assert(fabric_finish(f, 0, 1, &err));
	fabric_find_port_by_text(f, "twin/P1", &ambiguous);
	ck_assert(ambiguous);
	fabric_find_port_by_text(f, "7", &ambiguous);
	ck_assert(ambiguous);
	ck_assert_uint_eq(fabric_find_port_by_text(f, "twin/P2", &ambiguous),
			  f->nodes[1].port0 + 2);
	ck_assert(!ambiguous);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(names)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	char name[FABRIC_NAME_MAX], tiny[8];

	add(f, IB_NODE_CA_T, 1, 0x10, "evil\n\033[2Jname");
	add(f, IB_NODE_SWITCH_T, 1, 0x20, "");
	port(f, 0, 1, 0x11, 1, 0);
	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert_str_eq(fabric_port_name(f, f->self, name, sizeof(name)),
			 "evil??[2Jname/P1 (0x0000000000000011)");
	ck_assert_str_eq(fabric_node_name(f, 1, name, sizeof(name)),
			 "0x0000000000000020 (0x0000000000000020)");
	ck_assert_str_eq(fabric_port_name(f, f->self, tiny, sizeof(tiny)), "evil??[");
	fabric_free(f);
	buf_free(&err);
}
END_TEST

/* --- aggregation nodes --- */

#define AGGREGATION_NODE "Mellanox Technologies Aggregation Node"

/* Devices behind port 37 of a switch; the SM is on a host at port 1. */
static const struct {
	unsigned type, nports;
	uint32_t vendor, device;
	uint64_t system;		/* the switch's is SWITCH_GUID */
	const char *desc;
	bool aggregation;
} inner[] = {
	{ IB_NODE_CA_T, 1, 0x2c9, 0xcf09, SWITCH_GUID, AGGREGATION_NODE, true },
	{ IB_NODE_CA_T, 1, 0x2c9, 0xcf09, SWITCH_GUID, "", true },
	/* of an unknown generation */
	{ IB_NODE_CA_T, 1, 0x2c9, 0xffff, SWITCH_GUID, AGGREGATION_NODE, true },
	/* the id and the name alone make no aggregation node … */
	{ IB_NODE_CA_T, 1, 0x2c9, 0xcf09, CA_GUID, AGGREGATION_NODE, false },
	{ IB_NODE_CA_T, 2, 0x2c9, 0xcf09, SWITCH_GUID, AGGREGATION_NODE, false },
	{ IB_NODE_ROUTER_T, 1, 0x2c9, 0xcf09, SWITCH_GUID, AGGREGATION_NODE, false },
	{ IB_NODE_SWITCH_T, 1, 0x2c9, 0xcf09, SWITCH_GUID, AGGREGATION_NODE, false },
	/* … nor does the place: a gateway is there, too */
	{ IB_NODE_CA_T, 1, 0x2c9, 0x1003, SWITCH_GUID, "gateway", false },
	{ IB_NODE_CA_T, 1, 0x1234, 0xcf09, SWITCH_GUID, "gateway", false },
};

static uint32_t add_inner(struct fabric *f, int i)
{
	uint8_t info[40], switch_info[20] = { 0 };

	node_info(info, inner[i].type, inner[i].nports, SWITCH_GUID + 8);
	mad_set_field(info, 0, IB_NODE_VENDORID_F, inner[i].vendor);
	mad_set_field(info, 0, IB_NODE_DEVID_F, inner[i].device);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, inner[i].system);
	return fabric_add_node(f, info, inner[i].desc,
			       inner[i].type == IB_NODE_SWITCH_T ? switch_info : NULL, NULL, 0);
}

/* promise: D10 */
START_TEST(knows_aggregation_nodes)
{
	struct fabric *f = fabric_new();
	struct buf err = { 0 };
	uint8_t info[40], switch_info[20] = { 0 };

	ck_assert_uint_eq(add(f, IB_NODE_CA_T, 1, CA_GUID, "host"), 0);
	node_info(info, IB_NODE_SWITCH_T, 37, SWITCH_GUID);
	mad_set_field64(info, 0, IB_NODE_SYSTEM_GUID_F, SWITCH_GUID);
	ck_assert_uint_eq(fabric_add_node(f, info, "switch", switch_info, NULL, 0), 1);
	ck_assert_uint_eq(add_inner(f, _i), 2);
	port(f, 0, 1, CA_GUID + 1, 1, 0);
	port(f, 1, 0, SWITCH_GUID, 2, 0);
	port(f, 1, 1, SWITCH_GUID, 0, 0);
	port(f, 1, 37, SWITCH_GUID, 0, 0);
	port(f, 2, 1, SWITCH_GUID + 8, 3, 0);
	ck_assert(fabric_link(f, 0, 1, 1, 1));
	ck_assert(fabric_link(f, 2, 1, 1, 37));
	ck_assert(fabric_finish(f, 0, 1, &err));
	ck_assert(!f->nodes[0].aggregation && !f->nodes[1].aggregation);
	ck_assert_int_eq(f->nodes[2].aggregation, inner[_i].aggregation);
	ck_assert(port_is_host(f, f->self) && !port_is_host(f, f->nodes[1].port0));
	ck_assert_int_eq(port_is_host(f, f->nodes[2].port0 + 1),
			 !inner[_i].aggregation && inner[_i].type != IB_NODE_SWITCH_T);
	ck_assert_str_eq(fabric_type_name(&f->nodes[0]), "ca");
	if (inner[_i].aggregation)
		ck_assert_str_eq(fabric_type_name(&f->nodes[2]), "aggregation");
	fabric_free(f);
	buf_free(&err);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fabric");
	TCase *tc = tcase_create("fabric");

	tcase_add_test(tc, builds_and_indexes);
	tcase_add_test(tc, keeps_routes);
	tcase_add_test(tc, hostile_node_info);
	tcase_add_test(tc, hostile_port_info);
	tcase_add_test(tc, decodes_port_info);
	tcase_add_test(tc, decodes_switch_info);
	tcase_add_test(tc, clones);
	tcase_add_test(tc, refuses_links);
	tcase_add_test(tc, refuses_ports);
	tcase_add_test(tc, duplicate_port_guid);
	tcase_add_loop_test(tc, a_newcomer_does_not_take_a_name, 0, ARRAY_SIZE(owners));
	tcase_add_test(tc, a_switch_without_an_answer_keeps_its_switch_info);
	tcase_add_test(tc, own_port_missing);
	tcase_add_test(tc, cuts_half_known_links);
	tcase_add_test(tc, finds_by_text);
	tcase_add_test(tc, ambiguous_text);
	tcase_add_test(tc, names);
	tcase_add_loop_test(tc, knows_aggregation_nodes, 0, ARRAY_SIZE(inner));
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
