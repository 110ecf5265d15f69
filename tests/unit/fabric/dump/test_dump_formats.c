/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests files in other formats than ibnetdiscover's and ibsim's: the nets that they give, errors
 * with their lines, and messages of programs between their lines.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outcome.h"
#include "unit/run.h"

/* --- subnet lists --- */

#define END(type, ports, sys, node, port, ven, dev, desc, lid, num) \
	"{ " type " Ports:" ports " SystemGUID:" sys " NodeGUID:" node " PortGUID:" port \
	" VenID:" ven " DevID:" dev " Rev:000000A1 {" desc "} LID:" lid " PN:" num " } "
#define CA1 END("CA-SM", "02", "1003", "1000", "1001", "0002C9", "1013", "h } 1", "0001", "01")
#define FAR_CA1 \
	END("CA-SM", "02", "1003", "1000", "1001", "000002C9", "10130000", "h } 1", "0001", "01")
#define CA2 END("CA", "02", "1003", "1000", "1002", "0002c9", "1013", "h } 1", "0002", "02")
#define SW(num) \
	END("SW", "24", "2003", "2000", "2000", "000002C9", "CF080000", "the switch", "000A", num)
#define RT END("Rt", "01", "0", "3000", "3001", "0", "0", "r", "0000", "01")
#define UP "PHY=4x LOG=ACT SPD=25\n"

static const char list[] =
	CA1 SW("1F") "PHY=4x LOG=ACT SPD=25\n"
	CA2 SW("02") "PHY=1x LOG=INI SPD=FDR10\n"
	"\n# a comment\n"
	SW("1F") FAR_CA1 "PHY=4x LOG=ARM SPD=25\r\n"
	SW("02") CA2 "PHY=1x LOG=INI SPD=FDR10\n"
	SW("03") RT "PHY=?? LOG=ACT SPD=??\n"
	RT SW("03") "PHY=12x LOG=ACT\n"
	SW("04") SW("05") "PHY=4x LOG=DWN SPD=2.5\n";

/* promise: B7 */
START_TEST(subnet_list)
{
	struct outcome o = good(load(list));
	const struct dump_node *ca = node_of(o.d, "h } 1");
	const struct dump_node *sw = node_of(o.d, "the switch");
	const struct dump_port *p = port_of(o.d, "h } 1", 1), *r = port_of(o.d, "r", 1);

	ck_assert_uint_eq(o.d->nodes.n, 3);
	ck_assert_uint_eq(count_links(o.d), 3);
	ck_assert_str_eq(ca->name, "H-0000000000001000");
	ck_assert_uint_eq(ca->guid, 0x1000);
	ck_assert_uint_eq(ca->sysimg_guid, 0x1003);
	ck_assert_uint_eq(ca->vendor, 0x2c9);
	ck_assert_uint_eq(ca->device, 0x1013);
	ck_assert_uint_eq(sw->device, 0xcf08);
	ck_assert_uint_eq(sw->nports, 36);
	ck_assert_uint_eq(sw->lid, 10);
	ck_assert_uint_eq(p->guid, 0x1001);
	ck_assert_uint_eq(p->lid, 1);
	ck_assert_uint_eq(p[1].guid, 0x1002);
	ck_assert_uint_eq(p[1].lid, 2);
	connected(o.d, "h } 1", 1, "the switch", 0x1f);
	connected(o.d, "h } 1", 2, "the switch", 2);
	connected(o.d, "r", 1, "the switch", 3);
	runs_at(p, "4xEDR");
	runs_at(p + 1, "1xFDR10");
	runs_at(r, "12xSDR");	/* the other end gives none */
	outcome_free(&o);
}
END_TEST

/* promise: B7 */
START_TEST(one_end_of_a_list)
{
	struct outcome o = load(CA1 SW("1F") UP);

	ck_assert_ptr_nonnull(o.d);
	check_sound(o.d);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":1: only this end lists the link"));
	connected(o.d, "h } 1", 1, "the switch", 0x1f);
	outcome_free(&o);
}
END_TEST

static const struct { const char *text, *want; } bad_lists[] = {
	{ "{ XX Ports:01 NodeGUID:1\n",
	  ":1: a type of node, CA, SW or Rt, is expected, not \"XX Ports" },
	{ "{ CA-SMS Ports:01 NodeGUID:1\n", ":1: a type of node, CA" },
	{ "{ CA NodeGUID:1\n", ":1: Ports: and a number in hexadecimal up to fe is expected, not "
	  "\"NodeGUID:1\"" },
	{ "{ CA Ports:FF NodeGUID:1\n", ":1: Ports: and a number in hexadecimal up to fe" },
	{ "{ CA Ports:1 SystemGUID:x NodeGUID:1\n", ":1: SystemGUID: and a number in" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:12345678901234567 \n", ":1: NodeGUID: and a number" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 LID:1\n",
	  ":1: a description in braces is expected, not \"LID:1\"" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:10000\n",
	  ":1: LID: and a number in hexadecimal up to ffff" },
	{ "{ CA Ports:1 SystemGUID:0 NodeGUID:1 PortGUID:1 VenID:0 DevID:0 Rev:0 {x} LID:1 "
	  "PN:1 x\n",
	  ":1: \"}\" is expected, not \"x\"" },
	{ CA1 "\n", ":1: an end of a link in braces is expected, not \"\"" },
	{ CA1 SW("1F") "\n", ":1: PHY=VALUE is expected, not \"\"" },
	{ CA1 SW("1F") "PHY=4x\n", ":1: LOG=VALUE is expected" },
	{ CA1 SW("1F") "PHY=4x LOG=OK SPD=25\n", ":1: \"OK\" is no state of a link" },
	{ CA1 SW("1F") "PHY=4x LOG=ACT what\n", ":1: SPD=VALUE is expected, not \"what\"" },
	{ CA1 SW("1F") "PHY=4x LOG=ACT SPD=7\n", ":1: \"4x\" and \"7\" are no width and speed" },
	{ CA1 SW("1F") "PHY=4xEDR LOG=ACT\n", ":1: \"4xEDR\" and \"2.5\" are no width and speed" },
	{ CA1 SW("1F") "PHY=4x LOG=ACT SPD=25 what\n", ":1: \"what\" is not understood here" },
	{ CA1 SW("25") UP SW("25") FAR_CA1 UP,
	  ":2: port 37 is out of range: \"S-0000000000002000\" has 36" },
	{ CA1 SW("00") UP, ":1: a link has no end at port 0" },
	{ CA1 SW("1F") UP CA1 SW("1F") UP SW("1F") FAR_CA1 UP,
	  ":2: port 1 of \"H-0000000000001000\" is there twice, first at line 1" },
	{ CA1 SW("1F") UP SW("1F") CA2 UP, ":1: port 31 of \"S-0000000000002000\" is connected to "
	  "\"H-0000000000001000\"[2] by line 2" },
	{ CA1 SW("1F") UP
	  SW("1F") END("CA", "02", "1003", "1000", "1009", "0", "0", "x", "1", "01") UP,
	  ":2: port 1 of \"H-0000000000001000\" has GUID 0x1001 by its own line" },
	{ CA1 SW("1F") UP END("SW", "10", "0", "2000", "2000", "0", "0", "x", "1", "1F") FAR_CA1 UP,
	  ":2: node 0x2000 has another type or number of ports than by line 1" },
	{ END("CA", "00", "0", "1", "1", "0", "0", "x", "1", "1") SW("1") UP,
	  ":1: a node without ports" },
	{ END("CA", "01", "0", "0", "1", "0", "0", "x", "1", "1") SW("1") UP, ":1: node \"H-0000000000000000\": 0 is no GUID" },
	{ CA1 SW("1F") UP "Switch 4 \"s\"\n", ":2: an end of a link in braces is expected" },
};

/* promise: B7 */
START_TEST(bad_subnet_list)
{
	refused_at(bad_lists[_i].text, bad_lists[_i].want);
}
END_TEST

/* --- ibnetdiscover -p --- */

static const char report[] =
	"CA     3  2 0x0000000000000012 4x EDR - SW     9  5 0x0000000000000021 ( 'a' - 'it's' )\n"
	"CA     2  1 0x0000000000000011 4x EDR - SW     9  4 0x0000000000000021 ( 'a' - 'it's' )\n"
	"RT     0  1 0x0000000000000041 4x QDR - SW     9  3 0x0000000000000021 ( 'r' - 'it's' )\n"
	"CA     5  1 0x0000000000000052 2x HDR - SW     9  1 0x0000000000000021 ( 'b' - 'it's' )\n"
	"SW     9  6 0x0000000000000021 4x SDR                                    'it's'\n"
	"SW     9  5 0x0000000000000021 4x EDR - CA     3  2 0x0000000000000012 ( 'it's' - 'a' )\n"
	"SW     9  4 0x0000000000000021 4x ??? - CA     2  1 0x0000000000000011 ( 'it's' - 'a' )\n"
	"SW     9  3 0x0000000000000021 4x QDR - RT     0  1 0x0000000000000041 ( 'it's' - 'r' )\n"
	"SW     9  2 0x0000000000000021 4x SDR                                    'it's'\n"
	"SW     9  1 0x0000000000000021 2x HDR - CA     5  1 0x0000000000000052 ( 'it's' - 'b' )\n"
	"CA     0  2 0x0000000000000062 4x SDR                                    'c'\n";

/* promise: B7 */
START_TEST(report_of_ports)
{
	struct outcome o = good(load(report));
	const struct dump_port *p = port_of(o.d, "a", 1);

	ck_assert_uint_eq(o.d->nodes.n, 5);
	ck_assert_uint_eq(count_links(o.d), 4);
	ck_assert_uint_eq(o.d->nodes.v[0].guid, 0x10);
	ck_assert_uint_eq(o.d->nodes.v[0].nports, 2);
	ck_assert_str_eq(o.d->nodes.v[0].name, "H-0000000000000010");
	ck_assert_uint_eq(p->guid, 0x11);
	ck_assert_uint_eq(p->lid, 2);
	ck_assert_uint_eq(p[1].guid, 0x12);
	ck_assert_uint_eq(p[1].lid, 3);
	ck_assert_uint_eq(node_of(o.d, "b")->guid, 0x51);
	ck_assert_uint_eq(node_of(o.d, "c")->guid, 0x60);
	ck_assert_uint_eq(node_of(o.d, "r")->type, DUMP_ROUTER);
	ck_assert_uint_eq(node_of(o.d, "it's")->nports, 6);
	ck_assert_uint_eq(node_of(o.d, "it's")->lid, 9);
	connected(o.d, "a", 1, "it's", 4);
	connected(o.d, "a", 2, "it's", 5);
	connected(o.d, "r", 1, "it's", 3);
	connected(o.d, "b", 1, "it's", 1);
	runs_at(p, "4xEDR");	/* the other end does not give the speed */
	runs_at(port_of(o.d, "b", 1), "2xHDR");
	outcome_free(&o);
}
END_TEST

#define CA_LINE(guid, num, remote) \
	"CA 1 1 0x" guid " 4x EDR - SW 9 " num " 0x" remote " ( 'a' - 's' )\n"
#define SW_LINE(guid, num, remote) \
	"SW 9 " num " 0x" guid " 4x EDR - CA 1 1 0x" remote " ( 's' - 'a' )\n"

/* Adapters with a node for each port, whose GUIDs other nodes already have. */
/* promise: B7 */
START_TEST(nodes_of_a_report)
{
	struct outcome o = good(load(CA_LINE("31", "1", "30") CA_LINE("32", "2", "30")
				     SW_LINE("30", "1", "31") SW_LINE("30", "2", "32")));

	ck_assert_uint_eq(o.d->nodes.n, 3);
	ck_assert_uint_eq(o.d->nodes.v[0].guid, 0x31);
	ck_assert_uint_eq(o.d->nodes.v[1].guid, 0x32);
	ck_assert_uint_eq(o.d->ports[o.d->nodes.v[1].port0 + 1].guid, 0x32);
	outcome_free(&o);
}
END_TEST

static const struct { const char *text, *want; } bad_reports[] = {
	{ "?? 1 1 0x11 4x SDR 'a'\n", ":1: type, LID, number and GUID of a port are expected" },
	{ "CA 65536 1 0x11 4x SDR 'a'\n", ":1: type, LID, number and GUID of a port" },
	{ "CA 1 0 0x11 4x SDR 'a'\n", ":1: type, LID, number and GUID of a port" },
	{ "CA 1 255 0x11 4x SDR 'a'\n", ":1: type, LID, number and GUID of a port" },
	{ "CA 1 1 0x0 4x SDR 'a'\n", ":1: type, LID, number and GUID of a port" },
	{ "CA 1 1 0x11\n", ":1: a width and a speed are expected, not \"\"" },
	{ "CA 1 1 0x11 4x\n", ":1: a width and a speed are expected, not \"4x\"" },
	{ "CA 1 1 0x11 4x XXX 'a'\n", ":1: a width and a speed are expected, not \"4x XXX 'a'\"" },
	{ "CA 1 1 0x11 4x SDR\n", ":1: descriptions in single quotes are expected" },
	{ "CA 1 1 0x11 4x SDR '\n", ":1: descriptions in single quotes are expected" },
	{ "CA 1 1 0x11 4x SDR 'a' b\n", ":1: descriptions in single quotes are expected" },
	{ "CA 1 1 0x11 4x SDR - SW 1 0x21 ( 'a' - 's' )\n",
	  ":1: type, LID, number and GUID of the far" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' - 's'\n", ":1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' )\n", ":1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ' - '\n", ":1: descriptions in single quotes" },
	{ "CA 1 1 0x11 4x SDR - SW 1 1 0x21 ( 'a' - ' )\n", ":1: descriptions in single quotes" },
	{ CA_LINE("11", "1", "21"), ":1: there is no \"S-0000000000000021\" in the dump" },
	{ SW_LINE("21", "1", "11"), ":1: there is no \"0x0000000000000011\" in the dump" },
	{ CA_LINE("11", "2", "21") SW_LINE("21", "1", "11"),
	  ":1: \"S-0000000000000021\" has no port 2, it has 1" },
	{ SW_LINE("21", "1", "11") SW_LINE("21", "1", "11") CA_LINE("11", "1", "21"),
	  ":2: port 1 of \"S-0000000000000021\" is there twice, first at line 1" },
	{ CA_LINE("11", "1", "21") "hello\n", ":2: type, LID, number and GUID of a port" },
};

/* promise: B7 */
START_TEST(bad_report)
{
	refused_at(bad_reports[_i].text, bad_reports[_i].want);
}
END_TEST

/* --- ibdm's systems --- */

/* promise: B7 */
START_TEST(systems_and_cables)
{
	struct outcome o = load(
		"# two switches, one of them named at an end only\n"
		"MTS2400 leaf\n  P1 -4x-5G-> MT23108 h1 P1\n\tP2 -> MT23108 h1 P2\n"
		"  P23 -12X-10G-> Shark spine P36\n  P24 -> MTS3600 spine P35\n\n"
		"Cougar h1\n  P1 -4x-> Reindeer leaf P1\n\n"
		"MT25204 h2\n  P1 -25G-> IS4 spine P1\n  P1 -25G-> IS4 spine P1\nEagle alone\n");

	o = good(o);
	ck_assert_uint_eq(o.d->nodes.n, 5);
	ck_assert_uint_eq(count_links(o.d), 5);
	/* the GUIDs that ibsim would make up for systems in this order */
	ck_assert_uint_eq(node_of(o.d, "leaf")->guid, 0x200000);
	ck_assert_uint_eq(node_of(o.d, "spine")->guid, 0x200001);
	ck_assert_uint_eq(node_of(o.d, "h1")->guid, 0x100000);
	ck_assert_uint_eq(node_of(o.d, "h2")->guid, 0x100003);
	ck_assert_uint_eq(node_of(o.d, "alone")->guid, 0x100005);
	ck_assert_uint_eq(port_of(o.d, "h1", 2)->guid, 0x100002);
	ck_assert_uint_eq(node_of(o.d, "leaf")->nports, 24);
	ck_assert_uint_eq(node_of(o.d, "spine")->nports, 36);
	connected(o.d, "leaf", 1, "h1", 1);
	connected(o.d, "leaf", 2, "h1", 2);
	connected(o.d, "leaf", 23, "spine", 36);
	connected(o.d, "leaf", 24, "spine", 35);
	connected(o.d, "h2", 1, "spine", 1);
	runs_at(port_of(o.d, "leaf", 23), "12xQDR");
	runs_at(port_of(o.d, "leaf", 24), "4xSDR");
	runs_at(port_of(o.d, "h1", 1), "4xSDR");
	runs_at(port_of(o.d, "h2", 1), "4xEDR");
	outcome_free(&o);
}
END_TEST

/* More of them are in ibdm/test_ibdm.c. */
#define LEAF "MTS2400 leaf\n"
static const struct { const char *text, *want; } bad_systems[] = {
	{ "NoSuch big\n  L1/P1 -> MT23108 h1 P1\n",
	  ":1: no IBNL file defines system type NoSuch; looked in /" },
	{ LEAF " P25 -> MT23108 h1 P1\n",
	  ":2: system leaf has no port P25, its ports are P1 to P24\n" },
	{ LEAF, ":1: not a topology in a known format: \"MTS2400 leaf\"" },
};

/* promise: B7 */
START_TEST(bad_system)
{
	refused_at(bad_systems[_i].text, bad_systems[_i].want);
}
END_TEST

/* --- messages of programs in between --- */

#define WARN1 "ibwarn: [1234] mad_rpc_rmpp: _do_madrpc failed; dport (Lid 7)\n"
#define WARN2 "src/query_smp.c:225; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110\n"
#define WARN3 "mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n"
#define WARN4 "./libibnetdisc: something\n"

/* Puts a message before each line of a valid text in turn. */
static void with_messages(const char *text)
{
	static const char *const messages[] = { WARN1, WARN2, WARN3, WARN4 };
	unsigned line = 0;

	for (const char *at = text; *at; at = strchr(at, '\n') + 1, line++) {
		const char *message = messages[line % ARRAY_SIZE(messages)];
		struct buf b = { 0 };
		struct outcome o;
		char want[256];

		buf_printf(&b, "%.*s%s%s", (int)(at - text), text, message, at);
		o = load_bytes(b.s, b.n);
		ck_assert_msg(o.d, "%s", o.err.s);
		snprintf(want, sizeof(want), "%s:%u: a program's message, which is ignored: "
			 "%.79s\n", o.path, line + 1, message);
		want[strcspn(want, "\n")] = 0;
		ck_assert_msg(!strncmp(o.warn.s, want, strlen(want)), "%s\n%s", o.warn.s, want);
		outcome_free(&o);
		buf_free(&b);
	}
}

/* promise: B7 */
START_TEST(messages_between_lines)
{
	struct outcome o;
	char want[256];

	with_messages(list);
	with_messages(report);
	with_messages("Buffalo s\n P1 -> Cougar h P1\n");
	with_messages("Switch 8 \"S-0\"\n[1] \"H-1\"\n[2] \"H-2\"\nHca 1 \"H-1\"\n[1] \"S-0\"\n"
		      "Hca 1 \"H-2\"\n[1] \"S-0\"[2]\n");
	o = load("\n" WARN3 "Switch 4 \"s\"\n" WARN1 "[1] \"t\"\n" WARN1
		 "Switch 4 \"t\"\n[1] \"s\"\n");
	ck_assert_msg(o.d, "%s", o.err.s);
	snprintf(want, sizeof(want), "%s:2: the first of 3 messages of programs, which are "
		 "ignored: mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n",
		 o.path);
	ck_assert_str_eq(o.warn.s, want);
	outcome_free(&o);
}
END_TEST

/* Lines that only look like a message. */
/* promise: B7 */
START_TEST(no_messages)
{
	static const char *const lines[] = {
		"ibwarn: 1234 x", "ibwarn: [x] y", "ibwarn: [12 y", "src/query_smp.c:x; y",
		"src/query_smp.c:12", "a b.c:12; d", "mad_rpcs: x", "x mad_rpc: y",
		"libibnetdisc/x: y", "ibnetdiscover: iberror: failed: discover failed",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		char *text = xasprintf("Switch 8 \"S-0\"\n%s\n", lines[i]);

		refused(load(text), ":2: \"", NULL);
		free(text);
	}
}
END_TEST

/* Valid texts with a few bytes changed, or truncated, crash nothing. */
/* promise: B7 */
START_TEST(damaged_files)
{
	static const char *const texts[] = {
		list, report, LEAF " P1 -4x-5G-> MT23108 h1 P1\n P2 -> MT23108 h1 P2\n\nCougar h1\n"
		" P1 -> MTS2400 leaf P1\n",
	};
	static const char bytes[16] = "{}()'-\n 019fP>\xff";
	uint64_t x = 7;

	for (unsigned round = 0; round < 6000; round++) {
		const char *text = texts[round % ARRAY_SIZE(texts)];
		size_t n = strlen(text);
		char *copy = xmemdup(text, n);
		struct outcome o;

		for (unsigned k = 0; k <= round % 3; k++) {
			x = hash64(x + 1);
			copy[x % n] = bytes[x >> 60];
		}
		o = load_bytes(copy, round % 5 ? n : x % n);
		if (o.d)
			check_sound(o.d);
		else
			ck_assert_uint_gt(o.err.n, 0);
		outcome_free(&o);
		free(copy);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dump_formats");
	TCase *tc = tcase_create("formats");

	tcase_add_test(tc, subnet_list);
	tcase_add_test(tc, one_end_of_a_list);
	tcase_add_loop_test(tc, bad_subnet_list, 0, ARRAY_SIZE(bad_lists));
	tcase_add_test(tc, report_of_ports);
	tcase_add_test(tc, nodes_of_a_report);
	tcase_add_loop_test(tc, bad_report, 0, ARRAY_SIZE(bad_reports));
	tcase_add_test(tc, systems_and_cables);
	tcase_add_loop_test(tc, bad_system, 0, ARRAY_SIZE(bad_systems));
	tcase_add_test(tc, messages_between_lines);
	tcase_add_test(tc, no_messages);
	tcase_add_test(tc, damaged_files);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
