/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the loader of topology dumps: the fabric of a valid one, errors in broken
 * ones, and that no text crashes it.  It reads the shipped sample from examples/,
 * below the current directory.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/fabric.h"
#include "lib/base/alloc.h"
#include "load.h"
#include "unit/load_fabric.h"
#include "unit/run.h"

#define SAMPLE "examples/cluster.topo"

static const char good[] =
	"# a comment\n"
	"vendid=0x2c9\n"
	"devid=0xc738\n"
	"sysimgguid=0x20\t\t# Chassis 1\n"
	"switchguid=0x21(21)\t# Spine 1 Chip 1\n"
	"Switch\t36 \"S-0000000000000021\"\t\t# \"sw \"one\" # x\" enhanced port 0 lid 4 lmc 1\n"
	"[1]\t\"H-0000000000000010\"[1](11) \t\t# \"host A\" lid 7 4xFDR\n"
	"[7][ext 3]\t\"S-0000000000000031\"[2][ext 1]\t\t# \"two\" lid 5 4xEDR s=4 w=2\n"
	"[8]\t\"H-0000000000000010\"[2](99) \t\t# \"host A\" lid 8 4xFDR10\n"
	"\n"
	"Non-Chassis Nodes\n"
	"\n"
	"switchguid=0x31\n"
	"Switch\t8 \"S-0000000000000031\"\t\t# \"two\" base port 0 lid 5 lmc 0\n"
	"[2]\t\"S-0000000000000021\"[7]\t\t# \"sw\" lid 4 1xQDR\n"
	"[3]\t\"R-0000000000000040\"[1]\n"
	"\n"
	"vendid=0x2c9\n"
	"devid=0x1003\n"
	"sysimgguid=0x13\n"
	"caguid=0x10\n"
	"Ca\t2 \"H-0000000000000010\"\t\t# \"host A\"\r\n"
	"[1](11) \t\"S-0000000000000021\"[1]\t\t# lid 7 lmc 2 \"sw\" lid 4 4xFDR\n"
	"[2](99) \t\"S-0000000000000021\"[8]\t\t# lid 8 lmc 0 \"sw\" lid 4 4xFDR10\n"
	"\n"
	"Rt\t1 \"R-0000000000000040\"\n"
	"[1]\t\"S-0000000000000031\"[3]\n"
	"\n"
	"caguid=0x50\n"
	"Ca\t1 \"H-0000000000000050\"\t\t# \"not connected\"\n";

/* Makes two hosts on a switch, both with links of this width and speed. */
static struct fabric *with_speed(const char *word, struct buf *err)
{
	struct buf text = { 0 };
	struct fabric *f;

	buf_printf(&text, "switchguid=0x21\nSwitch\t2 \"S-0000000000000021\"\t# \"sw\" base port 0 lid 3 lmc 0\n"
		   "[1]\t\"H-0000000000000010\"[1](11)\t# \"a\" lid 1 %s\n[2]\t\"H-0000000000000020\"[1](22)\t# \"b\" lid 2 %s\n"
		   "\ncaguid=0x10\nCa\t1 \"H-0000000000000010\"\t# \"a\"\n[1](11)\t\"S-0000000000000021\"[1]\t# lid 1 lmc 0 \"sw\" lid 3 %s\n"
		   "\ncaguid=0x20\nCa\t1 \"H-0000000000000020\"\t# \"b\"\n[1](22)\t\"S-0000000000000021\"[2]\t# lid 2 lmc 0 \"sw\" lid 3 %s\n",
		   word, word, word, word);
	f = load(text.s, 0, true, err);
	buf_free(&text);
	return f;
}

/* Widths and speeds as ibnetdiscover prints them, with "??" and "???" for unknown ones. */
/* promise: D30 */
START_TEST(speeds_of_a_dump)
{
	static const struct { const char *word; unsigned rate; } words[] = {
		{ "2xHDR", 16 }, { "4xNDR", 21 }, { "4xXDR", 23 }, { "8xXDR", 25 }, { "2xNDR", 17 },
		{ "4x???", 3 }, { "?????", 3 }, { "??HDR", 17 }, { "2x??", 5 },
	};
	static const char *const bad[] = { "4x?", "3x???", "??YDR", "4xXXDR" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct buf err = { 0 };
		struct fabric *f = with_speed(words[i].word, &err);

		ck_assert_msg(f != NULL, "%s: %s", words[i].word, err.s);
		ck_assert_uint_eq(f->ports[f->self].rate, words[i].rate);
		fabric_free(f);
		buf_free(&err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct buf err = { 0 };

		ck_assert_msg(!with_speed(bad[i], &err), "%s", bad[i]);
		buf_free(&err);
	}
}
END_TEST

START_TEST(good_dump)
{
	struct buf err = { 0 };
	struct fabric *f = load(good, 0, true, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, 4);
	ck_assert_uint_eq(f->n_switches, 2);
	const struct fabric_node *host = &f->nodes[0];
	uint32_t a1 = fabric_find_port(f, 0x11), a2 = fabric_find_port(f, 0x99);
	uint32_t sw = fabric_find_port(f, 0x21), two = fabric_find_port(f, 0x31);

	ck_assert_uint_eq(f->self, a1);
	ck_assert_uint_eq(f->ports[a2].num, 2);
	ck_assert_str_eq(host->desc, "host A");
	ck_assert_uint_eq(host->sysimg_guid, 0x13);
	ck_assert_uint_eq(host->partition_cap, 64);
	ck_assert_uint_eq(host->hops, 0);
	ck_assert_uint_eq(f->ports[a1].lid, 7);
	ck_assert_uint_eq(f->ports[a1].lmc, 2);
	ck_assert_uint_eq(f->ports[a1].capmask, 0x0040c048);

	ck_assert_str_eq(port_node(f, sw)->desc, "sw \"one\" # x");
	ck_assert(f->switches[port_node(f, sw)->sw].enhanced_port0);
	ck_assert(!f->switches[port_node(f, two)->sw].enhanced_port0);
	ck_assert_uint_eq(f->switches[0].lft_cap, 49152);
	ck_assert_uint_eq(f->ports[sw].lid, 4);
	ck_assert_uint_eq(f->ports[sw].lmc, 1);
	ck_assert_uint_eq(f->ports[sw].state, IB_PORT_ACTIVE_S);
	ck_assert_uint_eq(port_node(f, two)->hops, 2);
	ck_assert_mem_eq(f->routes + port_node(f, two)->route, "\1\7", 2);
	ck_assert_uint_eq(port_node(f, two)->local_port, 2);

	/* a port with a link, one without */
	const struct fabric_port *up = &f->ports[sw + 7], *down = &f->ports[sw + 9];

	ck_assert_uint_eq(up->state, IB_PORT_INIT_S);
	ck_assert_uint_eq(up->phys_state, IB_PHYS_LINK_UP);
	ck_assert_uint_eq(up->peer, two + 2);
	ck_assert_uint_eq(up->vl_cap, 4);
	ck_assert_uint_eq(up->vlarb_high_cap, 8);
	ck_assert_uint_eq(up->vlarb_low_cap, 8);
	ck_assert_uint_eq(up->mtu_cap, 4);
	ck_assert_uint_eq(up->guid, 0x21);
	ck_assert(down->present);
	ck_assert_uint_eq(down->state, IB_PORT_DOWN_S);
	ck_assert_uint_eq(down->peer, FABRIC_NONE);

	/* width and speed are each the lower of both ends */
	ck_assert_uint_eq(f->ports[a1].rate, 12);
	ck_assert_uint_eq(up->rate, 3);			/* 4xEDR and 1xQDR: 1xQDR */
	ck_assert_uint_eq(f->ports[two + 2].rate, 3);
	ck_assert(f->ports[a2].fdr10 && f->ports[sw + 8].fdr10);
	ck_assert_uint_eq(f->ports[two + 3].rate, 3);	/* nothing said: 4xSDR */
	ck_assert_uint_eq(port_node(f, f->ports[two + 3].peer)->type, IB_NODE_ROUTER_T);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

START_TEST(lids_and_sm)
{
	struct buf err = { 0 };
	struct fabric *f = load(good, 0x40, false, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->nodes[0].guid, 0x40);
	ck_assert_uint_eq(f->n_nodes, 4);
	for (uint32_t p = 0; p < f->n_ports; p++)
		ck_assert(f->ports[p].lid == 0 && f->ports[p].lmc == 0);
	fabric_free(f);

	f = load(good, 0x31, false, &err);	/* on a switch: port 0 */
	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->ports[f->self].num, 0);
	fabric_free(f);

	f = load(good, 0x50, false, &err);	/* alone */
	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, 1);
	fabric_free(f);

	ck_assert_ptr_null(load(good, 0x77, false, &err));
	ck_assert_ptr_nonnull(strstr(err.s, "0x77"));
	buf_free(&err);
}
END_TEST

#define NODES "START_NODES\nNodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID," \
	"PartitionCap,revision,VendorID,LocalPortNum\n"
#define SWITCH_ROW "\"sw, \"one\"\",36,2,1,1,0x20,0x21,0x21,51000,8,160,713,1\n"
#define HOST_ROW "\"host A\",2,1,1,1,0x13,0x10,0x11,4099,128,0,713,1\n"
#define LINK_TITLES "NodeGuid1,PortNum1,NodeGuid2,PortNum2\n"

/* As ibdiagnet 2 writes them; the order of tables and of columns does not matter. */
static const char csv[] =
	"# This database file was automatically generated\n"
	"START_INDEX_TABLE\nname,offset\nNODES,1\nEND_INDEX_TABLE\n\n"
	"START_LINKS\n" LINK_TITLES "0x10,1,0x21,7\n0x21,8,0x10,2\nEND_LINKS\n"
	NODES SWITCH_ROW HOST_ROW "END_NODES\n\n"
	"START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LMC,LinkSpeedActv,LinkWidthActv,Other\n"
	"0x21,0x21,0,4,1,0,0,N/A\n0x21,0x21,7,0,0,256,2,1\n0x21,0x21,8,0,0,65536,2,1\n"
	"0x10,0x11,1,7,2,256,2,1\n0x10,0x99,2,8,0,65536,2,N/A\nEND_PORTS\n"
	"START_PM_INFO\nnonsense\nEND_PM_INFO\n";

/* promise: H8 */
START_TEST(tables_of_ibdiagnet)
{
	struct buf err = { 0 };
	struct fabric *f = load(csv, 0, true, &err);
	uint32_t a1, a2, sw;

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(err.n, 0);
	ck_assert_uint_eq(f->n_nodes, 2);
	a1 = fabric_find_port(f, 0x11);
	a2 = fabric_find_port(f, 0x99);
	sw = fabric_find_port(f, 0x21);
	ck_assert_uint_eq(f->ports[f->ports[a1].peer].num, 7);
	ck_assert_uint_eq(f->ports[f->ports[a2].peer].num, 8);
	ck_assert_uint_eq(f->ports[a1].lid, 7);
	ck_assert_uint_eq(f->ports[a1].lmc, 2);
	ck_assert_uint_eq(f->ports[sw].lid, 4);
	ck_assert_uint_eq(f->ports[sw].lmc, 1);
	ck_assert_str_eq(port_node(f, sw)->desc, "sw, \"one\"");
	ck_assert_uint_eq(port_node(f, sw)->nports, 36);
	ck_assert_uint_eq(port_node(f, a1)->sysimg_guid, 0x13);
	ck_assert(!f->ports[a1].fdr10 && f->ports[a2].fdr10);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

#define SW1 "switchguid=0x21\nSwitch 8 \"S1\"\n"	/* lines 1 and 2 */
#define CA1 "caguid=0x10\nCa 2 \"H1\"\n"

static const struct { const char *text, *error; } broken[] = {
	{ SW1, "F: error: no channel adapter to put the SM on\n" },
	{ CA1 "[1]\t\"S1\"[1]\n", "F:3:1: error: there is no \"S1\" in the dump\n" },
	{ SW1 "[1] \"H\"\ncaguid=0x20\nCa 1 \"H\"\n[1](21) \"S1\"\n",
	  "F:5:1: error: port 1 of \"H\" has GUID 0x21, and so has a port of \"S1\"\n" },
	{ "START_NODES\nNodeDesc,NumPorts,NodeGUID\n\"x\",1,0x10\n",
	  "F:2:1: error: the table NODES has no column \"NodeType\"\n" },
	{ NODES "\"x\",1,2\n", "F:3:1: error: the row ends before its column \"NodeGUID\"\n" },
	{ NODES "\"x\",many,1,1,1,0x13,0x10,0x11,4099,128,0,713,1\n",
	  "F:3:1: error: NumPorts: a number up to 254 is expected, not \"many\"\n" },
	{ NODES HOST_ROW HOST_ROW, "F:4:1: error: GUID 0x10 is there twice, first at line 3\n" },
	{ NODES HOST_ROW "END_NODES\nSTART_LINKS\n" LINK_TITLES "0x10,1,0x21,7\n",
	  "F:7:1: error: there is no node 0x21\n" },
	{ NODES HOST_ROW SWITCH_ROW "END_NODES\nSTART_LINKS\n" LINK_TITLES "0x10,3,0x21,7\n",
	  "F:8:1: error: port 3 is out of range: \"H-0000000000000010\" has 2\n" },
};

START_TEST(broken_dump)
{
	struct buf err = { 0 };

	ck_assert_msg(!load(broken[_i].text, 0, true, &err), "%s", broken[_i].text);
	ck_assert_str_eq(err.s, broken[_i].error);
	buf_free(&err);
}
END_TEST

/* A chain of switches: a directed route reaches at most 63 hops. */
START_TEST(too_far)
{
	struct buf text = { 0 }, err = { 0 };

	buf_puts(&text, CA1 "[1] \"S-0000000000000100\"[1]\n");
	for (unsigned i = 0; i < 70; i++) {
		buf_printf(&text, "\nSwitch 2 \"S-%016x\"\n", 0x100 + i);
		if (i == 0)
			buf_puts(&text, "[1] \"H1\"[1]\n");
		else
			buf_printf(&text, "[1] \"S-%016x\"[2]\n", 0xff + i);
		if (i < 69)
			buf_printf(&text, "[2] \"S-%016x\"[1]\n", 0x101 + i);
	}
	struct fabric *f = load(text.s, 0, true, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_switches, 63);
	ck_assert_uint_eq(f->nodes[63].hops, 63);
	ck_assert_uint_eq(fabric_port(f, 63, 2)->peer, FABRIC_NONE);
	fabric_free(f);
	buf_free(&text);
	buf_free(&err);
}
END_TEST

/* The SM sends by one port; nodes behind its node's other port only are another subnet. */
START_TEST(own_port_only)
{
	struct buf err = { 0 };
	struct fabric *f = load(CA1 "[1] \"S1\"[1]\n[2] \"S2\"[1]\n" SW1 "[1] \"H1\"[1]\n"
				"switchguid=0x22\nSwitch 8 \"S2\"\n[1] \"H1\"[2]\n",
				0, true, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, 2);
	ck_assert_uint_eq(fabric_find_port(f, 0x22), FABRIC_NONE);
	ck_assert_uint_eq(fabric_port(f, 0, 2)->peer, FABRIC_NONE);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

/* The SM is not on an aggregation node, even if it comes before all hosts, unless a GUID names it. */
START_TEST(not_on_an_aggregation_node)
{
	static const char dump[] =
		"vendid=0x2c9\ndevid=0xcf09\nsysimgguid=0x21\ncaguid=0x41\n"
		"Ca 1 \"H4\" # \"Mellanox Technologies Aggregation Node\"\n[1](42) \"S1\"[2]\n"
		"vendid=0x2c9\ndevid=0x1017\nsysimgguid=0x11\ncaguid=0x11\n"
		"Ca 1 \"H1\" # \"host\"\n[1](12) \"S1\"[1]\n"
		"vendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x21\nswitchguid=0x21\n"
		"Switch 8 \"S1\"\n[1] \"H1\"[1]\n[2] \"H4\"[1]\n";
	struct buf err = { 0 };
	struct fabric *f = load(dump, 0, true, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->ports[f->self].guid, 0x12);
	ck_assert(port_node(f, fabric_find_port(f, 0x42))->aggregation);
	fabric_free(f);
	f = load(dump, 0x41, true, &err);
	ck_assert_uint_eq(f->ports[f->self].guid, 0x42);
	fabric_free(f);
	/* and if there is no other adapter */
	f = load("vendid=0x2c9\ndevid=0xcf09\ncaguid=0x41\nCa 1 \"H4\"\n[1](42) \"S1\"[2]\n"
		 "switchguid=0x21\nSwitch 8 \"S1\"\n[2] \"H4\"[1]\n", 0, true, &err);
	ck_assert_uint_eq(f->ports[f->self].guid, 0x42);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

static void check_consistent(const struct fabric *f)
{
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t peer = f->ports[p].peer;

		if (peer == FABRIC_NONE)
			continue;
		ck_assert_uint_lt(peer, f->n_ports);
		ck_assert_uint_eq(f->ports[peer].peer, p);
		ck_assert_uint_eq(f->ports[peer].rate, f->ports[p].rate);
	}
}

START_TEST(shipped_sample)
{
	struct buf err = { 0 };
	struct fabric *f = fabric_load(SAMPLE, 0, true, &err);
	unsigned degraded = 0, routers = 0, lids = 0;

	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, 63);
	ck_assert_uint_eq(f->n_switches, 8);
	ck_assert_str_eq(f->nodes[0].desc, "mgmt01 HCA-1");
	check_consistent(f);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		degraded += f->ports[p].peer != FABRIC_NONE && f->ports[p].rate == 2;
		lids += port_is_end(f, p) && f->ports[p].lid;
	}
	for (uint32_t n = 0; n < f->n_nodes; n++)
		routers += f->nodes[n].type == IB_NODE_ROUTER_T;
	ck_assert_uint_eq(degraded, 2);
	ck_assert_uint_eq(routers, 1);
	ck_assert_uint_eq(lids, 68);
	fabric_free(f);
	buf_free(&err);
}
END_TEST

/* The sample with a few bytes changed, removed or repeated gives a fabric or an error. */
START_TEST(mutated_sample)
{
	static const char bytes[] = "\"[]()#x0129f \t\n=\377-S";
	FILE *file = fopen(SAMPLE, "r");
	char text[65536];

	ck_assert_ptr_nonnull(file);
	size_t n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	ck_assert_uint_lt(n, sizeof(text) - 1);
	srand((unsigned)_i + 1);
	for (int round = 0; round < 60; round++) {
		char *copy = xmemdup(text, n);
		size_t m = n;
		struct buf err = { 0 };

		for (int k = rand() % 4; k >= 0; k--) {
			size_t at = (size_t)rand() % (m - 200), len = (size_t)rand() % 100;

			switch (rand() % 4) {
			case 0:
				memmove(copy + at, copy + at + len, m - at - len);
				m -= len;
				break;
			case 1:
				memmove(copy + at, copy + (size_t)rand() % (m - len), len);
				break;
			default:
				copy[at] = bytes[(size_t)rand() % (sizeof(bytes) - 1)];
			}
		}
		struct fabric *f = load_bytes(copy, m, 0, true, &err);

		if (f)
			check_consistent(f);
		fabric_free(f);
		buf_free(&err);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("dump");
	TCase *tc = tcase_create("dump");

	tcase_add_test(tc, good_dump);
	tcase_add_test(tc, speeds_of_a_dump);
	tcase_add_test(tc, lids_and_sm);
	tcase_add_test(tc, tables_of_ibdiagnet);
	tcase_add_loop_test(tc, broken_dump, 0, ARRAY_SIZE(broken));
	tcase_add_test(tc, too_far);
	tcase_add_test(tc, own_port_only);
	tcase_add_test(tc, not_on_an_aggregation_node);
	tcase_add_test(tc, shipped_sample);
	tcase_add_loop_test(tc, mutated_sample, 0, 5);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
