/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Topologies in other formats than ibnetdiscover's: what becomes of good ones, and what is
 * said of broken ones.  The texts are as the programs that are named print them.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/alloc.h"
#include "load.h"
#include "unit/run.h"
#include "unit/temp.h"

static struct fabric *good(const char *text)
{
	struct buf err = { 0 };
	struct fabric *f = load(text, 0, true, &err);

	ck_assert_msg(f != NULL, "%s", err.s);
	return f;
}

static void refused(const char *text, const char *error)
{
	struct buf err = { 0 };

	ck_assert_msg(!load(text, 0, true, &err), "taken: %s", text);
	ck_assert_msg(!strncmp(err.s, error, strlen(error)), "%s\nis not\n%s", err.s, error);
	ck_assert_ptr_null(strchr(err.s, '\n'));
	buf_free(&err);
}

/* The port at the other end of a node's port; the test fails if there is none. */
static uint32_t peer(const struct fabric *f, uint32_t node, unsigned num)
{
	uint32_t p = fabric_port(f, node, num)->peer;

	ck_assert_uint_ne(p, FABRIC_NONE);
	return p;
}

static uint32_t node_named(const struct fabric *f, const char *desc)
{
	for (uint32_t n = 0; n < f->n_nodes; n++)
		if (!strcmp(f->nodes[n].desc, desc))
			return n;
	ck_abort_msg("no node %s", desc);
}

/* --- subnet lists --- */

/* Ends of links as OpenSM writes them, near and far: a host of two ports, and a switch. */
#define HOST(port, guid, lid, ven, dev) \
	"{ CA Ports:02 SystemGUID:0000000000000013 NodeGUID:0000000000000010 PortGUID:" guid \
	" VenID:" ven " DevID:" dev " Rev:000000A1 {host {A} HCA-1} LID:" lid " PN:" port " } "
#define NEAR_HOST(port, guid, lid) HOST(port, guid, lid, "0002C9", "1003")
#define FAR_HOST(port, guid, lid) HOST(port, guid, lid, "000002C9", "10030000")
#define SWITCH(port, ven, dev) \
	"{ SW-SM Ports:24 SystemGUID:0000000000000021 NodeGUID:0000000000000021 " \
	"PortGUID:0000000000000021 VenID:" ven " DevID:" dev " Rev:00000000 {the switch} " \
	"LID:000A PN:" port " } "
#define NEAR_SWITCH(port) SWITCH(port, "0002C9", "C738")
#define FAR_SWITCH(port) SWITCH(port, "000002C9", "C7380000")
#define ROUTER \
	"{ Rt Ports:01 SystemGUID:0000000000000000 NodeGUID:0000000000000040 " \
	"PortGUID:0000000000000041 VenID:0002C9 DevID:0001 Rev:0 {r} LID:0000 PN:01 } "

static const char list[] =
	"# a comment\n"
	NEAR_HOST("01", "0000000000000011", "0001") FAR_SWITCH("1F") "PHY=4x LOG=ACT SPD=25\n"
	NEAR_HOST("02", "0000000000000099", "0002") FAR_SWITCH("02") "PHY=1x LOG=INI SPD=FDR10\n"
	NEAR_SWITCH("02") FAR_HOST("02", "0000000000000099", "0002") "PHY=4x LOG=ARM SPD=14\r\n"
	"\n"
	NEAR_SWITCH("1F") FAR_HOST("01", "0000000000000011", "0001") "PHY=4x LOG=ACT SPD=25\n"
	NEAR_SWITCH("03") ROUTER "PHY=?? LOG=ACT SPD=??\n"
	ROUTER NEAR_SWITCH("03") "PHY=4x LOG=ACT\n"
	NEAR_SWITCH("04") FAR_SWITCH("05") "PHY=4x LOG=DWN SPD=2.5\n";

/* promise: B7 */
START_TEST(subnet_list)
{
	struct fabric *f = good(list);
	uint32_t a1 = fabric_find_port(f, 0x11), a2 = fabric_find_port(f, 0x99);
	uint32_t sw = fabric_find_port(f, 0x21), rt = fabric_find_port(f, 0x41);

	ck_assert_uint_eq(f->n_nodes, 3);
	ck_assert_uint_eq(f->self, a1);
	ck_assert_str_eq(f->nodes[0].desc, "host {A} HCA-1");
	ck_assert_uint_eq(f->nodes[0].guid, 0x10);
	ck_assert_uint_eq(f->nodes[0].sysimg_guid, 0x13);
	ck_assert_uint_eq(f->nodes[0].nports, 2);
	ck_assert_uint_eq(f->ports[a1].lid, 1);
	ck_assert_uint_eq(f->ports[a1].rate, 16);
	ck_assert_uint_eq(f->ports[a1].peer, sw + 0x1f);
	ck_assert_uint_eq(f->ports[a2].num, 2);
	ck_assert_uint_eq(f->ports[a2].lid, 2);
	ck_assert_uint_eq(f->ports[a2].rate, 3);	/* 1xFDR10 and 4xFDR: 1xFDR10 */
	ck_assert(f->ports[a2].fdr10);
	ck_assert_uint_eq(f->ports[sw].lid, 10);
	ck_assert_uint_eq(port_node(f, sw)->nports, 36);
	ck_assert_uint_eq(port_node(f, rt)->type, IB_NODE_ROUTER_T);
	ck_assert_uint_eq(f->ports[rt].rate, 3);	/* no more is known than 4xSDR */
	ck_assert_uint_eq(f->ports[sw + 4].peer, FABRIC_NONE);
	/* near and far, the device id is the same */
	ck_assert_mem_eq(f->nodes[0].info + 30, "\x10\x03", 2);
	ck_assert_mem_eq(port_node(f, sw)->info + 30, "\xc7\x38", 2);
	ck_assert_mem_eq(port_node(f, sw)->info + 37, "\x00\x02\xc9", 3);
	fabric_free(f);
}
END_TEST

#define LINK " PHY=4x LOG=ACT SPD=25\n"
static const struct { const char *text, *error; } bad_lists[] = {
	{ "{ XX Ports:01 NodeGUID:1", "F:1: unknown type of node 'XX'" },
	{ "{ CA-SMS Ports:01 NodeGUID:1", "F:1: unknown type of node 'CA-SMS'" },
	{ "{ NodeGUID:1", "F:1: unknown type of node 'NodeGUID:1'" },
	{ "{ CA NodeGUID:1", "F:1: Ports: is missing or out of range" },
	{ "{ CA Ports:FF NodeGUID:1", "F:1: Ports: is missing or out of range" },
	{ "{ CA Ports:01 SystemGUID:0 NodeGUID:-1", "F:1: NodeGUID: is missing or out of range" },
	{ "{ CA Ports:01 SystemGUID:0 NodeGUID:12345678901234567 PortGUID:",
	  "F:1: NodeGUID: is missing or out of range" },
	{ "{ CA Ports:01 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x LID:0001\n",
	  "F:1: a description in braces is missing" },
	{ "{ CA Ports:01 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:C000 PN",
	  "F:1: LID: is missing or out of range" },
	{ "{ CA Ports:01 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:1 PN:01",
	  "F:1: '}' is missing behind PN:" },
	{ "\n" NEAR_HOST("01", "11", "0001") "\n", "F:2: an end of the link is missing" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "\n", "F:1: PHY= is missing" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=4x\n", "F:1: LOG= is missing" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=4x LOG=OK\n",
	  "F:1: unknown state of a link 'OK'" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=4x LOG=ACT SPD=7\n",
	  "F:1: unknown width or speed '4x', '7'" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=5x LOG=ACT\n",
	  "F:1: unknown width or speed '5x', '2.5'" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=4x LOG=ACT SPD=\n",
	  "F:1: SPD= without a speed" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") "PHY=4x LOG=ACT SPD=25 x\n",
	  "F:1: more than a link: 'x'" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK,
	  "F:1: port 1 of \"S-0000000000000021\" does not list this link" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK
	  NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK,
	  "F:2: port GUID 0x11 is there already" },
	{ NEAR_SWITCH("01") FAR_HOST("01", "11", "1") LINK NEAR_SWITCH("01") NEAR_SWITCH("02") LINK,
	  "F:2: port 1 of \"S-0000000000000021\" is there already" },
	{ NEAR_HOST("03", "11", "0001") FAR_SWITCH("01") LINK,
	  "F:1: port 3 of \"H-0000000000000010\" cannot be, it has 2" },
	{ NEAR_HOST("00", "11", "0001") FAR_SWITCH("01") LINK,
	  "F:1: port 0 of \"H-0000000000000010\" cannot be, it has 2" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK
	  NEAR_SWITCH("01") FAR_HOST("01", "12", "0001") LINK,
	  "F:2: port GUID 0x12, but line 1 says 0x11" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK
	  "{ SW Ports:10 SystemGUID:0 NodeGUID:21 PortGUID:0 VenID:0 DevID:0 Rev:0 {x} LID:1 PN:1 "
	  "} "
	  FAR_HOST("01", "11", "0001") LINK,
	  "F:2: node 0x21 has another type or number of ports than by line 1" },
	{ "{ CA Ports:00 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:1 PN:1 } "
	  NEAR_SWITCH("01") LINK, "F:1: a node without ports" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:0 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:1 PN:1 } "
	  NEAR_SWITCH("01") LINK, "F:1: node \"H-0000000000000000\" has no GUID" },
	{ "{ NodeGUIDs", "F:1: unknown line: this is no topology" },
	{ NEAR_HOST("01", "11", "0001") FAR_SWITCH("01") LINK "Switch 4 \"S1\"\n",
	  "F:2: an end of the link is missing" },
};

/* promise: B7 */
START_TEST(bad_subnet_list)
{
	refused(bad_lists[_i].text, bad_lists[_i].error);
}
END_TEST

/* --- ibnetdiscover -p --- */

static const char report[] =
	"CA     3  2 0x0000000000000012 4x EDR - SW     9  5 0x0000000000000021 ( 'a' - 'it's' )\n"
	"CA     2  1 0x0000000000000011 4x EDR - SW     9  4 0x0000000000000021 ( 'a' - 'it's' )\n"
	"RT     0  1 0x0000000000000041 4x QDR - SW     9  3 0x0000000000000021 ( 'r' - 'it's' )\n"
	"CA     5  1 0x0000000000000052 2x HDR - SW     9  1 0x0000000000000021 ( 'a' - 'it's' )\n"
	"SW     9  6 0x0000000000000021 4x SDR                                    'it's'\n"
	"SW     9  5 0x0000000000000021 4x EDR - CA     3  2 0x0000000000000012 ( 'it's' - 'a' )\n"
	"SW     9  4 0x0000000000000021 4x ??? - CA     2  1 0x0000000000000011 ( 'it's' - 'a' )\n"
	"SW     9  3 0x0000000000000021 4x QDR - RT     0  1 0x0000000000000041 ( 'it's' - 'r' )\n"
	"SW     9  2 0x0000000000000021 4x SDR                                    'it's'\n"
	"SW     9  1 0x0000000000000021 2x HDR - CA     5  1 0x0000000000000052 ( 'it's' - 'a' )\n";

/* promise: B7 */
START_TEST(report_of_ports)
{
	struct fabric *f = good(report);
	uint32_t sw = fabric_find_port(f, 0x21), a1 = fabric_find_port(f, 0x11);
	uint32_t other = fabric_find_port(f, 0x52), rt = fabric_find_port(f, 0x41);

	/* the SM is on the first node; its other port is no end of a directed route */
	ck_assert_uint_eq(f->n_nodes, 4);
	ck_assert_uint_eq(f->nodes[0].guid, 0x10);
	ck_assert_uint_eq(f->nodes[0].nports, 2);
	ck_assert_uint_eq(f->self, a1);
	ck_assert_uint_eq(f->ports[a1].lid, 2);
	ck_assert_uint_eq(f->ports[a1 + 1].guid, 0x12);
	ck_assert_uint_eq(f->ports[a1 + 1].lid, 3);
	ck_assert_uint_eq(f->ports[a1 + 1].rate, 16);
	ck_assert_uint_eq(f->ports[a1].rate, 3);	/* one end says nothing of the speed */
	ck_assert_uint_eq(port_node(f, other)->guid, 0x51);
	ck_assert_uint_eq(f->ports[other].rate, 16);
	ck_assert_uint_eq(f->ports[rt].peer, sw + 3);
	ck_assert_str_eq(port_node(f, sw)->desc, "it's");
	ck_assert_uint_eq(port_node(f, sw)->nports, 6);
	ck_assert_uint_eq(f->ports[sw].lid, 9);
	ck_assert_uint_eq(f->ports[sw + 2].peer, FABRIC_NONE);
	fabric_free(f);
}
END_TEST

#define CA_LINE(guid, num, remote) \
	"CA 1 1 0x" guid " 4x EDR - SW 9 " num " 0x" remote " ( 'a' - 's' )\n"
#define SW_LINE(guid, num, remote) \
	"SW 9 " num " 0x" guid " 4x EDR - CA 1 1 0x" remote " ( 's' - 'a' )\n"

/* Adapters with a node for each port; a GUID that is taken; lines in any order. */
/* promise: B7 */
START_TEST(nodes_of_a_report)
{
	struct fabric *f = good(CA_LINE("31", "1", "30") CA_LINE("32", "2", "30")
				SW_LINE("30", "1", "31") SW_LINE("30", "2", "32")
				"SW 9 7 0x30 4x SDR 's'\n");
	uint32_t sw = fabric_find_port(f, 0x30);

	ck_assert_uint_eq(f->n_nodes, 3);
	ck_assert_uint_eq(port_node(f, sw)->nports, 7);
	/* the first one would have the switch's */
	ck_assert_uint_eq(port_node(f, fabric_find_port(f, 0x31))->guid, 0x31);
	/* the second one then has its own, since 0x31 is taken */
	ck_assert_uint_eq(port_node(f, fabric_find_port(f, 0x32))->guid, 0x32);
	fabric_free(f);
}
END_TEST

static const struct { const char *text, *error; } bad_reports[] = {
	{ "?? 1 1 0x11 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID of a port" },
	{ "CA 49152 1 0x11 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID of a port" },
	{ "CA 1 0 0x11 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID of a port" },
	{ "CA 1 255 0x11 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID of a port" },
	{ "CA 1 1 0x0 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID of a port" },
	{ "CA 1 1 0x11111111111111111 4x SDR 'a'\n", "F:1: not the type, LID, number and GUID" },
	{ "CA 1 1 0x11\n", "F:1: a width and a speed are missing" },
	{ "CA 1 1 0x11 4x\n", "F:1: a width and a speed are missing" },
	{ "CA 1 1 0x11 4x XXX 'a'\n", "F:1: unknown link speed '4x XXX'" },
	{ "CA 1 1 0x11 4x SDR\n", "F:1: descriptions in single quotes are missing" },
	{ "CA 1 1 0x11 4x SDR 'a\n", "F:1: descriptions in single quotes are missing" },
	{ "CA 1 1 0x11 4x SDR 'a' b\n", "F:1: descriptions in single quotes are missing" },
	{ "CA 1 1 0x11 4x SDR - SW 1 0x21 ( 'a' - 's' )\n",
	  "F:1: not the type, LID, number and GUID of a remote" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' - 's'\n", "F:1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' )\n", "F:1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ' - '\n", "F:1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' - ' )\n", "F:1: descriptions in single quotes" },
	{ CA_LINE("11", "1", "21"), "F:1: there is no node \"S-0000000000000021\"" },
	{ SW_LINE("21", "1", "11"), "F:1: there is no port 0x11" },
	{ CA_LINE("11", "2", "21") SW_LINE("21", "1", "11"),
	  "F:1: port 2 of \"S-0000000000000021\" does not list this link" },
	{ CA_LINE("11", "1", "21") CA_LINE("11", "2", "21"),
	  "F:2: port GUID 0x11 is there already" },
	{ SW_LINE("21", "1", "11") SW_LINE("21", "1", "11"),
	  "F:2: port 1 of \"S-0000000000000021\" is there already" },
	{ CA_LINE("11", "1", "21") "hello\n", "F:2: not the type, LID, number and GUID of a port" },
};

/* promise: B7 */
START_TEST(bad_report)
{
	refused(bad_reports[_i].text, bad_reports[_i].error);
}
END_TEST

/* --- ibdm's systems --- */

static const char systems[] =
	"# two switches, one of them named at an end only\n"
	"MTS2400 leaf CFG:\n"
	"  P1 -4x-5G-> MT23108 h1 P1\n"
	"\tP2 -> MT23108 h1 P2\n"
	"  P23 -12X-10G-> Shark spine P36\n"
	"  P24 -> MTS3600 spine P35\n"
	"\n"
	"Cougar h1\n"
	"  P1 -4x-> Reindeer leaf P1\n"
	"\n"
	"MT25204 h2\n"
	"  P1 -25G-> IS4 spine P1\n"
	"Eagle alone\n";

/* promise: B7 */
START_TEST(systems_and_cables)
{
	struct fabric *f = good(systems);
	uint32_t leaf = node_named(f, "leaf"), spine = node_named(f, "spine");

	ck_assert_uint_eq(f->n_nodes, 4);	/* without the one that is alone */
	ck_assert_str_eq(f->nodes[0].desc, "h1");
	/* the GUIDs that ibsim would make up for systems in this order */
	ck_assert_uint_eq(f->nodes[0].guid, 0x100000);
	ck_assert_uint_eq(f->nodes[leaf].guid, 0x200000);
	ck_assert_uint_eq(f->nodes[spine].guid, 0x200001);
	ck_assert_uint_eq(f->nodes[node_named(f, "h2")].guid, 0x100003);
	ck_assert_uint_eq(fabric_port(f, 0, 2)->guid, 0x100002);
	ck_assert_uint_eq(f->nodes[leaf].nports, 24);
	ck_assert_uint_eq(f->nodes[spine].nports, 36);
	ck_assert_uint_eq(peer(f, leaf, 1), f->nodes[0].port0 + 1);
	ck_assert_uint_eq(peer(f, leaf, 2), f->nodes[0].port0 + 2);
	ck_assert_uint_eq(peer(f, leaf, 23), f->nodes[spine].port0 + 36);
	ck_assert_uint_eq(peer(f, leaf, 24), f->nodes[spine].port0 + 35);
	ck_assert_uint_eq(fabric_port(f, 0, 1)->rate, 3);	/* by the last line about it */
	ck_assert_uint_eq(fabric_port(f, leaf, 24)->rate, 3);
	ck_assert_uint_eq(fabric_port(f, leaf, 23)->rate, 10);
	ck_assert_uint_eq(fabric_port(f, spine, 1)->rate, 16);
	fabric_free(f);
}
END_TEST

/* More of them are in ibdm/test_ibdm.c. */
#define LEAF "MTS2400 leaf\n"
static const struct { const char *text, *error; } bad_systems[] = {
	{ "NoSuch big\n  L1/P1 -> MT23108 h1 P1\n",
	  "F:1: no IBNL file defines system type NoSuch; looked in /" },
	{ LEAF " P25 -> MT23108 h1 P1\nx\n", "F:3: neither a system nor a cable: 'x'" },
	{ LEAF " P25 -> MT23108 h1 P1\n P26 -> MT23108 h1 P2\n",
	  "F:2: system leaf has no port P25, its ports are P1 to P24" },
	{ "Buffalo leaf\n P1 -> Buffalo leaf2 P2\n", "F:2: no channel adapter" },
	/* no cable tells that they are systems */
	{ LEAF, "F:1: unknown line: this is no topology" },
};

/* promise: B7 */
START_TEST(bad_system)
{
	refused(bad_systems[_i].text, bad_systems[_i].error);
}
END_TEST

/* --- ibsim's nets --- */

/* GUIDs as stock ibsim makes them up, in the order of the file. */
/* promise: B7 */
START_TEST(net_without_guids)
{
	struct fabric *f = good("Switch\t8 \"S-0\"\n[1]\t\"H-1\"\n[2]\t\"H-2\"[2] w=2 s=4\n"
				"[3]\t\"S-1\"[8]\twidth\n\n"
				"Hca\t2 \"H-1\"\n[1]\t\"S-0\"\n\n"
				"Hca\t2 \"H-2\"\t# \"named\"\n[2]\t\"S-0\"[2] w=2 s=4\n\n"
				"width=1\nspeed=2\nextspeed=3\n"
				"Switch\t8 \"S-1\"\n[8]\t\"S-0\"[3]\n[1]\t\"H-3\" w=16 e=4\n"
				"Hca 1 \"H-3\"\n[1] \"S-1\" w=18 e=4\n");
	uint32_t s0 = node_named(f, "S-0"), s1 = node_named(f, "S-1");

	ck_assert_uint_eq(f->n_nodes, 5);
	ck_assert_str_eq(f->nodes[0].desc, "H-1");
	ck_assert_uint_eq(f->nodes[0].guid, 0x100000);
	ck_assert_uint_eq(f->ports[f->self].guid, 0x100001);
	ck_assert_uint_eq(f->nodes[s0].guid, 0x200000);
	ck_assert_uint_eq(f->nodes[s1].guid, 0x200001);
	ck_assert_uint_eq(f->nodes[node_named(f, "named")].guid, 0x100003);
	ck_assert_uint_eq(fabric_port(f, node_named(f, "named"), 2)->guid, 0x100005);
	ck_assert_uint_eq(f->nodes[node_named(f, "H-3")].guid, 0x100006);
	ck_assert_uint_eq(f->nodes[0].sysimg_guid, 0x100000);
	ck_assert_uint_eq(fabric_port(f, s0, 1)->rate, 3);	/* 4xSDR */
	ck_assert_uint_eq(fabric_port(f, s0, 2)->rate, 7);	/* 4xQDR */
	ck_assert_uint_eq(fabric_port(f, s0, 3)->rate, 2);	/* 1x here, SDR there */
	ck_assert_uint_eq(fabric_port(f, s1, 1)->rate, 16);	/* 2x, by one end 4x: 2xHDR */
	fabric_free(f);
}
END_TEST

/* The GUIDs that follow one that is said, and those that are relative to it. */
/* promise: B7 */
START_TEST(guids_of_a_net_count_on)
{
	struct fabric *f = good("hcaguids=0x900\nHca 2 \"a\"\n[1] \"s\"\nHca 2 \"b\"\n"
				"[1] \"s\"[2]\nhcaguids+16\nHca 1 \"c\"\n[1] \"s\"[3]\n"
				"Hca 1 \"H-0000000000000077\"\n[1] \"s\"[4]\n"
				"Hca 1 \"d\"\n[1] \"s\"[5]\n"
				"switchguid=500\nSwitch 8 \"s\"\n[1] \"a\"\n[2] \"b\"\n[3] \"c\"\n"
				"[4] \"H-0000000000000077\"\n[5] \"d\"\n[6] \"R\"\n"
				"Rt 1 \"R\"\n[1] \"s\"[6]\n");
	static const struct { const char *name; uint64_t guid; } want[] = {
		{ "a", 0x900 }, { "b", 0x903 }, { "c", 0x910 }, { "H-0000000000000077", 0x77 },
		{ "d", 0x912 }, { "s", 500 }, { "R", 0x300000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_uint_eq(f->nodes[node_named(f, want[i].name)].guid, want[i].guid);
	fabric_free(f);
}
END_TEST

/* A module's names are the module's own; an alias stands for a port. */
/* promise: B7 */
START_TEST(modules_and_aliases)
{
	struct fabric *f = good(
		"module=\"one\"\nSwitch 8 \"S\"\n[1] \"H\"\n[8] \"two@up\"\n@[8] \"up\"\n\n"
		"Ca 1 \"H\"\n[1] \"S\"\n\n"
		"module \"two\"\nSwitch 8 \"S\"\n[1] \"H\"\n[7] \"one@up\"\n@[7] \"up\"\n"
		"@[2] \"low\"\n[3] \"three#K\"\n\nCa 1 \"H\"\t# \"named\"\n[1] \"S\"\n\n"
		"module=\"\"\nCa 1 \"K\"\n\nmodule=\"three\"\nCa 1 \"K\"\n[1] \"two#S\"[3]\n\n"
		"Ca 2 \"L\"\n[2] \"two@low\"\n");	/* ibsim lists it at this end only */
	uint32_t one = node_named(f, "one#S"), two = node_named(f, "two#S");

	ck_assert_uint_eq(f->n_nodes, 6);
	ck_assert_uint_eq(peer(f, one, 8), f->nodes[two].port0 + 7);
	ck_assert_uint_eq(peer(f, one, 1), f->nodes[node_named(f, "one#H")].port0 + 1);
	ck_assert_uint_eq(peer(f, two, 1), f->nodes[node_named(f, "named")].port0 + 1);
	ck_assert_uint_eq(peer(f, two, 3), f->nodes[node_named(f, "three#K")].port0 + 1);
	ck_assert_uint_eq(peer(f, two, 2), f->nodes[node_named(f, "three#L")].port0 + 2);
	fabric_free(f);
}
END_TEST

static void put(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

/* Relative to the file that includes them; errors name the file that they are in. */
/* promise: B7 */
START_TEST(included_files)
{
	char *dir = temp_directory(), *top = xasprintf("%s/top.net", dir), *sub;
	struct buf err = { 0 };
	struct fabric *f;
	char *want;

	sub = xasprintf("%s/sub", dir);
	ck_assert_int_eq(mkdir(sub, 0700), 0);
	put(dir, "top.net", "module=\"t\"\nSwitch 8 \"S\"\n[1] \"m#H\"\n[2] \"m@low\"\n"
	    "@[2] \"x\"\ninclude \"sub/a.net\"\n");
	put(sub, "a.net", "module=\"m\"\ninclude \"b.net\"\nCa 1 \"H\"\n[1] \"t#S\"\n");
	put(sub, "b.net", "Ca 2 \"K\"\n[2] \"t@x\"\n@[2] \"low\"\n");
	f = fabric_load(top, 0, true, &err, NULL);
	ck_assert_msg(f, "%s", err.s);
	ck_assert_uint_eq(f->n_nodes, 3);
	ck_assert_uint_eq(peer(f, node_named(f, "t#S"), 2), fabric_port(f, node_named(f, "m#K"), 2) -
			  f->ports);
	ck_assert_uint_eq(peer(f, node_named(f, "t#S"), 1), fabric_port(f, node_named(f, "m#H"), 1) -
			  f->ports);
	fabric_free(f);

	put(sub, "b.net", "Ca 2 \"K\"\n[3] \"t@x\"\n");
	ck_assert_ptr_null(fabric_load(top, 0, true, &err, NULL));
	want = xasprintf("%s/b.net:2: bad port", sub);
	ck_assert_str_eq(err.s, want);
	free(want);
	buf_free(&err);
	put(sub, "b.net", "include \"b.net\"\n");
	ck_assert_ptr_null(fabric_load(top, 0, true, &err, NULL));
	want = xasprintf("%s/b.net:1: more than 1024 files, or 8 within each other, are included",
			 sub);
	ck_assert_str_eq(err.s, want);
	free(want);
	buf_free(&err);
	free(top);
	free(sub);
	temp_directory_remove(dir);
}
END_TEST

#define NET "Switch 8 \"S\"\n"
static const struct { const char *text, *error; } bad_nets[] = {
	{ NET "[1] \"H\" w=0\n", "F:2: bad mask of widths" },
	{ NET "[1] \"H\" w=32\n", "F:2: bad mask of widths" },
	{ NET "[1] \"H\" s=8\n", "F:2: bad mask of speeds" },
	{ NET "[1] \"H\" e=16\n", "F:2: bad mask of extended speeds" },
	{ NET "[1] \"H\" w=\n", "F:2: bad value of w" },
	{ NET "[1] \"H\" s=256\n", "F:2: bad value of s" },
	{ "width=0\n", "F:1: bad mask of widths" },
	{ "speed=x\n", "F:1: bad value of speed" },
	{ "extspeed=99\n", "F:1: bad mask of extended speeds" },
	{ "hcaguids+\n", "F:1: bad value of hcaguids" },
	{ "switchguidss=1\n", "F:1: unknown line: not what" },
	{ "module=m\n", "F:1: module=\"NAME\" is expected" },
	{ "module=\"a23456789012345678901\"\n", "F:1: module=\"NAME\" is expected, up to 20" },
	{ "include x\nSwitch 8 \"S\"\n", "F:1: include \"FILE\" is expected" },
	{ "include \"\"\n", "F:1: include \"FILE\" is expected" },
	{ "include \"/nonexistent/x\"\n", "F:1: /nonexistent/x: " },
	{ NET "do Link \"x\"\n", "F:2: \"do\" is a command of ibsim" },
	{ NET "@[9] \"x\"\n", "F:2: bad alias of a port" },
	{ NET "@[1]\n", "F:2: bad alias of a port" },
	{ NET "\n@[1] \"x\"\n", "F:3: alias of a port outside of a node" },
	{ NET "@[1] \"x#y\"\n", "F:2: \"x#y\": '#' and '@' are for modules" },
	{ NET "@[1] \"x\"\n@[2] \"x\"\n", "F:3: alias \"@x\" is there already" },
	{ "Switch 8 \"m#S\"\n", "F:1: \"m#S\": '#' and '@' are for modules" },
	{ "hcaguids=7\nHca 1 \"a\"\nhcaguids=7\nHca 1 \"b\"\n",
	  "F:4: node GUID 0x7 is there already" },
};

/* promise: B7 */
START_TEST(bad_net)
{
	refused(bad_nets[_i].text, bad_nets[_i].error);
}
END_TEST

/* --- messages of programs in between --- */

#define WARN1 "ibwarn: [1234] mad_rpc_rmpp: _do_madrpc failed; dport (Lid 7)\n"
#define WARN2 "src/query_smp.c:225; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110\n"
#define WARN3 "mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n"
#define WARN4 "./libibnetdisc: something\n"
#define WARN5 "/build/rdma-core-44.0/libibnetdisc/ibnetdisc.c:310; Failed to query ext port info\n"

/* One is put behind each line of a good text in turn. */
static void with_messages(const char *text)
{
	static const char *const messages[] = { WARN1, WARN2, WARN3, WARN4, WARN5 };
	unsigned line = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1, line++) {
		const char *message = messages[line % ARRAY_SIZE(messages)];
		struct buf b = { 0 }, err = { 0 }, warn = { 0 }, want = { 0 };
		struct fabric *f;

		buf_printf(&b, "%.*s%s%s", (int)(at - text), text, message, at);
		f = load_warned(b.s, b.n, 0, true, &err, &warn);
		ck_assert_msg(f != NULL, "%s", err.s);
		buf_printf(&want, "F:%u: a program's message, which is ignored: %.80s", line + 1,
			   message);
		if (strlen(message) > 80)
			buf_puts(&want, "\n");
		ck_assert_str_eq(warn.s, want.s);
		fabric_free(f);
		buf_free(&b);
		buf_free(&err);
		buf_free(&warn);
		buf_free(&want);
	}
}

/* promise: B7 */
START_TEST(messages_between_lines)
{
	struct buf text = { 0 }, err = { 0 }, warn = { 0 };
	struct fabric *f;

	with_messages(list);
	with_messages(report);
	with_messages("Buffalo s\n P1 -> Cougar h P1\n");
	with_messages("Switch 8 \"S-0\"\n[1] \"H-1\"\n[2] \"H-2\"\nHca 1 \"H-1\"\n[1] \"S-0\"\n"
		      "Hca 1 \"H-2\"\n[1] \"S-0\"[2]\n");
	buf_printf(&text, "\n" WARN2 "%s" WARN1 WARN1, list);
	f = load_warned(text.s, text.n, 0, true, &err, &warn);
	ck_assert_msg(f != NULL, "%s", err.s);
	ck_assert_str_eq(warn.s, "F:2: the first of 3 messages of programs, which are ignored: "
			 "src/query_smp.c:225; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad "
			 "status 1\n");
	fabric_free(f);
	buf_free(&text);
	buf_free(&err);
	buf_free(&warn);
}
END_TEST

/* What only looks like one. */
/* promise: B7 */
START_TEST(no_messages)
{
	static const char *const lines[] = {
		"ibwarn: 1234 x", "ibwarn: [x] y", "ibwarn: [12 y", "src/query_smp.c:x; y",
		"src/query_smp.c:12", "a b.c:12; d", "mad_rpcs: x", "x mad_rpc: y",
		"libibnetdisc/x: y",
		"ibnetdiscover: iberror: failed: discover failed",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = xasprintf("Switch 8 \"S-0\"\n%s\n", lines[i]);

		refused(text, "F:2: unknown line: not what ibnetdiscover prints");
		free(text);
	}
}
END_TEST

/* Parts of good texts with a few bytes changed: a fabric or an error. */
START_TEST(mutated)
{
	static const char *const texts[] = { list, report, systems };
	static const char bytes[] = "\"[]()#x0129f{} \t\n=\377-S>'P";

	srand(7);
	for (unsigned round = 0; round < 6000; round++) {
		const char *text = texts[round % ARRAY_SIZE(texts)];
		size_t n = strlen(text);
		char *copy = xmemdup(text, n);
		struct buf err = { 0 }, warn = { 0 };

		for (int k = rand() % 3; k >= 0; k--)
			copy[(size_t)rand() % n] = bytes[(size_t)rand() % (sizeof(bytes) - 1)];
		if (round % 5 == 0)
			n = (size_t)rand() % n;
		fabric_free(load_warned(copy, n, 0, true, &err, &warn));
		buf_free(&err);
		buf_free(&warn);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("formats");
	TCase *tc = tcase_create("formats");

	tcase_add_test(tc, subnet_list);
	tcase_add_loop_test(tc, bad_subnet_list, 0, ARRAY_SIZE(bad_lists));
	tcase_add_test(tc, report_of_ports);
	tcase_add_test(tc, nodes_of_a_report);
	tcase_add_loop_test(tc, bad_report, 0, ARRAY_SIZE(bad_reports));
	tcase_add_test(tc, systems_and_cables);
	tcase_add_loop_test(tc, bad_system, 0, ARRAY_SIZE(bad_systems));
	tcase_add_test(tc, net_without_guids);
	tcase_add_test(tc, guids_of_a_net_count_on);
	tcase_add_test(tc, modules_and_aliases);
	tcase_add_test(tc, included_files);
	tcase_add_loop_test(tc, bad_net, 0, ARRAY_SIZE(bad_nets));
	tcase_add_test(tc, messages_between_lines);
	tcase_add_test(tc, no_messages);
	tcase_add_test(tc, mutated);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
