/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the dump reader: what it accepts, in ibnetdiscover's and in ibsim's format, and what it refuses.
 *
 * promise: V4
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outcome.h"
#include "small_dump.h"
#include "unit/run.h"
#include "unit/temp.h"

/* --- accepted dumps --- */

START_TEST(all_that_a_dump_says_is_kept)
{
	struct outcome o = good(load(SMALL("4xQDR", "4xQDR")));
	const struct dump_node *sw = &o.d->nodes.v[0], *ca = &o.d->nodes.v[1];
	const struct dump_port *p = port_of(o.d, "the host", 1);

	ck_assert_uint_eq(o.d->nodes.n, 2);
	ck_assert(sw->type == DUMP_SWITCH && ca->type == DUMP_CA);
	ck_assert_uint_eq(sw->nports, 4);
	ck_assert_uint_eq(sw->vendor, 0x2c9);
	ck_assert_uint_eq(sw->device, 0xbd36);
	ck_assert_uint_eq(sw->sysimg_guid, 0x2003);
	ck_assert_uint_eq(sw->guid, 0x2000);
	ck_assert_str_eq(sw->name, "S-0000000000002000");
	ck_assert_str_eq(sw->desc, "the switch");
	ck_assert(sw->base_port0 && !sw->enhanced_port0);
	ck_assert_uint_eq(sw->lid, 7);
	ck_assert_uint_eq(ca->vendor, 0x8f1);
	ck_assert_uint_eq(ca->nports, 2);
	ck_assert_uint_eq(p->guid, 0x1001);
	ck_assert_uint_eq(p->lid, 9);
	ck_assert_uint_eq(p->lmc, 2);
	ck_assert_uint_eq(o.d->ports[p->peer].num, 3);
	ck_assert_uint_eq(o.d->ports[p->peer].node, 0);
	ck_assert_uint_eq(p[1].guid, 0x1002);	/* not in the dump: follows the node's */
	ck_assert_uint_eq(p[1].peer, DUMP_NONE);
	outcome_free(&o);
}
END_TEST

static const struct { const char *word, *is; } speed_words[] = {
	{ "1xSDR", "1xSDR" }, { "4xDDR", "4xDDR" }, { "8xQDR", "8xQDR" },
	{ "12xQDR s=4 w=8 v=4", "12xQDR" }, { "4xFDR10", "4xFDR10" }, { "4xfdr", "4xFDR" },
	{ "4xEDR slot 3", "4xEDR" }, { "2xHDR", "2xHDR" }, { "4xNDR", "4xNDR" },
	{ "4xXDR", "4xXDR" }, { "4x???", "4x???" }, { "2x??", "2x???" }, { "??HDR", "??HDR" },
	{ "?????", "?????" }, { "", "?????" },
};

START_TEST(speeds_of_cables)
{
	struct buf b = { 0 };
	struct outcome o;

	buf_printf(&b, SMALL("%s", "%s"), speed_words[_i].word, speed_words[_i].word);
	o = good(load(b.s));
	buf_free(&b);
	runs_at(port_of(o.d, "the switch", 3), speed_words[_i].is);
	outcome_free(&o);
}
END_TEST

START_TEST(the_slower_end_wins)
{
	struct outcome o = load(SMALL("4xFDR", "1xFDR10"));
	const struct dump_port *p = port_of(o.d, "the host", 1);
	char want[160];

	ck_assert_ptr_nonnull(o.d);
	check_sound(o.d);
	snprintf(want, sizeof(want), "%s:6: 4xFDR by this end, 1xFDR10 by line 12: "
		 "the slower is taken\n", o.path);
	ck_assert_str_eq(o.warn.s, want);
	runs_at(p, "1xFDR10");
	outcome_free(&o);
}
END_TEST

START_TEST(one_end_is_enough)
{
	struct outcome o = load(IDS_SW SW SW_PORT("4xQDR") IDS_CA CA);

	ck_assert_ptr_nonnull(o.d);
	check_sound(o.d);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":6: only this end lists the link"));
	ck_assert_uint_eq(count_links(o.d), 1);
	ck_assert_uint_eq(port_of(o.d, "the host", 1)->guid, 0x1001);
	runs_at(port_of(o.d, "the host", 1), "4xQDR");
	outcome_free(&o);
}
END_TEST

START_TEST(port_guids_come_from_either_end)
{
	struct outcome o = good(load("caguid=0x1000\nCa 2 \"c\"\n[1] \"s\"[1]\n[2](77) \"s\"[2]\n"
				     "switchguid=0x2000\nSwitch 4 \"s\"\n[1] \"c\"[1](66)\n"
				     "[2] \"c\"[2]\n"));

	ck_assert_uint_eq(port_of(o.d, "c", 1)->guid, 0x66);
	ck_assert_uint_eq(port_of(o.d, "c", 2)->guid, 0x77);
	outcome_free(&o);
}
END_TEST

/* Port 2 of the first CA is not listed, and the GUID that it would get is another port's. */
START_TEST(made_up_port_guids_avoid_others)
{
	struct outcome o = good(load("caguid=0x1000\nCa 2 \"a\"\ncaguid=0x2000\nCa 1 \"b\"\n"
				     "[1](1002) \"s\"[1]\nswitchguid=0x3000\nSwitch 4 \"s\"\n"
				     "[1] \"b\"[1](1002)\n"));

	ck_assert_uint_eq(port_of(o.d, "b", 1)->guid, 0x1002);
	ck_assert_uint_ne(port_of(o.d, "a", 2)->guid, 0x1002);
	outcome_free(&o);
}
END_TEST

/* Newer CAs have one GUID for the node and its port. */
START_TEST(a_node_and_its_port_may_share_a_guid)
{
	struct outcome o = good(load("caguid=0x1000\nCa 1 \"c\"\n[1](1000) \"s\"[1]\n"
				     "Switch 4 \"s\"\n[1] \"c\"[1](1000)\n"));

	ck_assert_uint_eq(port_of(o.d, "c", 1)->guid, 0x1000);
	outcome_free(&o);
}
END_TEST

/* ibnetdiscover -g, -s, and remarks of all kinds. */
START_TEST(headings_and_progress_are_passed_over)
{
	struct outcome o = good(load(
		"#\n# Topology file\n# Initiated from node 1 port 2\n"
		"DR path slid 0; dlid 0; 0,1 -> new switch {2000} portnum 0 lid 7-7\"the switch\"\n"
		"Initiated from node 1 port 2\nMax of 3 hops discovered\n\n"
		"Chassis 1 (guid 0x8f10400410015)\nHostname: some\n\n# Spine Nodes\n"
		"vendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x2003\t\t# Chassis 1 (x) slot 3\n"
		"switchguid=0x2000(2000)\t# ISR2012 Spine 1\r\n" SW
		"[3][ext 7]\t\"H-0000000000001000\"[1][ext 2](1001) \t\t"
		"# \"a \"quoted\" host\" lid 9 4xQDR (scp)\n\nNon-Chassis Nodes\n\n"
		"caguid=0x1000\nCa\t2 \"H-0000000000001000\"\t\t# \"a \"quoted\" host\" (scp)\n"
		CA_PORT("4xQDR")));

	ck_assert_uint_eq(o.d->nodes.n, 2);
	ck_assert_uint_eq(count_links(o.d), 1);
	ck_assert_uint_eq(port_of(o.d, "a \"quoted\" host", 1)->lid, 9);
	runs_at(port_of(o.d, "the switch", 3), "4xQDR");
	outcome_free(&o);
}
END_TEST

START_TEST(routers_are_nodes)
{
	struct outcome o = good(load(
		"rtguid=0x5000\nRt\t2 \"R-0000000000005000\"\t# \"the router\"\n"
		"[2](5002)\t\"S-0000000000002000\"[1]\t# lid 4 lmc 0 \"the switch\" lid 7 4xEDR\n"
		"switchguid=0x2000(2000)\n" SW
		"[1]\t\"R-0000000000005000\"[2](5002) \t# \"the router\" lid 4 4xEDR\n"));

	ck_assert_uint_eq(o.d->nodes.v[0].type, DUMP_ROUTER);
	ck_assert_uint_eq(port_of(o.d, "the router", 2)->lid, 4);
	outcome_free(&o);
}
END_TEST

START_TEST(parallel_links_and_a_loop_of_one_switch)
{
	struct outcome o = good(load("Switch 6 \"a\"\n[1] \"b\"[1]\n[2] \"b\"[2]\n[5] \"a\"[6]\n"
				     "[6] \"a\"[5]\nSwitch 6 \"b\"\n[1] \"a\"[1]\n[2] \"a\"[2]\n"));

	ck_assert_uint_eq(count_links(o.d), 3);
	ck_assert_uint_eq(o.d->ports[port_of(o.d, "a", 5)->peer].num, 6);
	outcome_free(&o);
}
END_TEST

START_TEST(long_descriptions_are_cut)
{
	char text[512];
	struct outcome o;

	/* 63 letters, then one of two bytes */
	snprintf(text, sizeof(text), "Switch 4 \"s\" # \"%063d\xc3\xa4 and more\" base port 0\n",
		 5);
	o = load(text);
	ck_assert_ptr_nonnull(o.d);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":1: a NodeDescription has at most 64 bytes"));
	ck_assert_uint_eq(strlen(o.d->nodes.v[0].desc), 63);
	ck_assert(o.d->nodes.v[0].base_port0);
	outcome_free(&o);
	o = good(load("Switch 4 \"s\" # \"\" base port 0 lid 0 lmc 0\n"));
	ck_assert_str_eq(o.d->nodes.v[0].desc, "");
	outcome_free(&o);
}
END_TEST

START_TEST(lids_that_cannot_be_are_none)
{
	struct outcome o = load("Switch 4 \"s\" # \"x\" base port 0 lid 65535 lmc 9\n");

	ck_assert_ptr_nonnull(o.d);
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":1: LID 65535 is no unicast LID"));
	ck_assert_ptr_nonnull(strstr(o.warn.s, ":1: LMC 9 is more than 7"));
	ck_assert_uint_eq(o.d->nodes.v[0].lid, 0);
	ck_assert_uint_eq(o.d->nodes.v[0].lmc, 0);
	outcome_free(&o);
}
END_TEST

/* --- ibsim's format --- */

START_TEST(ibsim_names_without_guids)
{
	struct outcome o = good(load("Switch\t8 \"Switch1\"\n[1]\t\"Hca1\"[1]\n[2]\t\"Hca2\"[2]\n\n"
				     "Hca\t2 \"Hca1\"\n[1]\t\"Switch1\"\n\n"
				     "Hca\t2 \"Hca2\" # a host enhanced port 0\n"
				     "[2]\t\"Switch1\"[2]\n"));

	ck_assert_uint_eq(count_links(o.d), 2);
	/* the GUIDs that ibsim assigns */
	ck_assert_uint_eq(o.d->nodes.v[0].guid, 0x200000);
	ck_assert_uint_eq(o.d->nodes.v[1].guid, 0x100000);
	ck_assert_uint_eq(o.d->nodes.v[2].guid, 0x100003);
	ck_assert_uint_eq(o.d->nodes.v[2].sysimg_guid, 0x100003);
	ck_assert_str_eq(o.d->nodes.v[1].desc, "Hca1");
	ck_assert_str_eq(o.d->nodes.v[2].desc, "a host");
	outcome_free(&o);
}
END_TEST

/* GUIDs that follow a given one, and GUIDs relative to it. */
START_TEST(ibsim_guids_count_on)
{
	struct outcome o = good(load(
		"hcaguids=0x900\nHca 2 \"a\"\nHca 2 \"b\"\nhcaguids+16\nHca 1 \"c\"\n"
		"Hca 1 \"H-0000000000000077\"\nHca 1 \"d\"\nswitchguid=500\nSwitch 8 \"s\"\n"
		"Switch 8 \"t\"\nswitchguid+0x10\nSwitch 4 \"u\"\nRt 1 \"R\"\n"));
	static const uint64_t want[] = {
		0x900, 0x903, 0x910, 0x77, 0x912, 500, 501, 516, 0x300000,
	};

	ck_assert_uint_eq(o.d->nodes.n, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_uint_eq(o.d->nodes.v[i].guid, want[i]);
	outcome_free(&o);
}
END_TEST

START_TEST(ibsim_widths_and_speeds)
{
	struct outcome o = good(load("width=3\nspeed=7\nSwitch 4 \"a\"\n[1] \"b\"[1]\n"
				     "[2] \"b\"[2] w=1 s=1\n[3] \"b\"[3]\te=3\nSwitch 4 \"b\"\n"
				     "[1] \"a\"[1]\n[2] \"a\"[2] w=1 s=1\n[3] \"a\"[3] e=3\n"));
	const struct dump_port *p = port_of(o.d, "a", 1);

	runs_at(p, "4xQDR");
	runs_at(p + 1, "1xSDR");
	runs_at(p + 2, "4xEDR");
	outcome_free(&o);
	/* the width is given at one end, the speed at the other */
	o = good(load("Switch 4 \"a\"\n[1] \"b\" w=1\n[2] \"b\"[2]\nspeed=2\nSwitch 4 \"b\"\n"
		      "[1] \"a\"\n[2] \"a\"[2] w=18 s=0\n"));
	runs_at(port_of(o.d, "a", 1), "1xDDR");
	runs_at(port_of(o.d, "a", 2), "4xQDR");
	outcome_free(&o);
}
END_TEST

START_TEST(ibsim_modules_and_aliases)
{
	struct outcome o = good(load("module=\"m1\"\nSwitch 4 \"s\"\n@[4] \"up\"\n[1] \"h\"[1]\n"
				     "[3] \"m2#s\"[1]\nHca 1 \"h\"\n[1] \"s\"[1]\n"
				     "module \"m2\"\nSwitch 4 \"s\"\n[2] \"m1@up\"\n"
				     "[1] \"m1#s\"[3]\nmodule=\"\"\nSwitch 2 \"t\"\n"));
	const struct dump_port *up = port_of(o.d, "m1#s", 4);

	ck_assert_uint_eq(count_links(o.d), 3);
	ck_assert_uint_eq(up->peer, o.d->nodes.v[2].port0 + 2);
	ck_assert_str_eq(o.d->nodes.v[2].desc, "m2#s");
	ck_assert_str_eq(o.d->nodes.v[3].desc, "t");
	outcome_free(&o);
}
END_TEST

START_TEST(includes_are_beside_the_file)
{
	char *dir = temp_directory(), *path = xasprintf("%s/net", dir);
	char *part = xasprintf("%s/part", dir);
	char *twice = xasprintf("part:1: \"s\" is there twice, first at %s", dir);
	struct outcome o;
	FILE *out;

	out = fopen(path, "w");
	fputs("include \"part\"\nHca 1 \"h\"\n[1] \"s\"[1]\n[1] \"s\"[2]\n", out);
	fclose(out);
	out = fopen(part, "w");
	fputs("Switch 4 \"s\"\n[1] \"h\"[1]\n", out);
	fclose(out);
	refused(load_file(path), "net:4: port 1 of \"h\" is there twice, first at line 3", NULL);

	out = fopen(path, "w");
	fputs("include \"part\"\nHca 1 \"h\"\n[1] \"s\"[1]\n", out);
	fclose(out);
	o = good(load_file(path));
	ck_assert_uint_eq(count_links(o.d), 1);
	outcome_free(&o);

	out = fopen(part, "w");
	fputs("Switch 4 \"s\"\n[1] \"h\"[1]\ninclude \"net\"\n", out);
	fclose(out);
	refused(load_file(path), twice, NULL);
	out = fopen(part, "w");
	fputs("include \"net\"\n", out);
	fclose(out);
	refused(load_file(path), "net:1: more than 1024 files, or 8 within each other", NULL);
	unlink(part);
	refused(load_file(path), "net:1: ", "/part: cannot be opened: No such file", NULL);
	temp_directory_remove(dir);
	free(path);
	free(part);
	free(twice);
}
END_TEST

/* --- refused dumps --- */

static const struct {
	const char *text;
	const char *want;
} broken[] = {
	{ "", ": no nodes in it" },
	{ "# nothing\n", ": no nodes in it" },
	{ "hello\n", ":1: not a topology in a known format: \"hello\"" },
	{ "\n# hello\nhello\nhello\n", ":3: not a topology in a known format" },
	{ "Ca\t : 0x10 ports 1 devid 0x1 vendid 0x1 \"h\"\n", ":1: not a topology in a known format" },
	{ "Switch 4 \"s\"\nhello\n", ":2: \"hello\" is not understood" },
	{ "hello\nSwitch 4 \"s\"\n", ":1: \"hello\" is not understood" },
	{ "Switch\n", ":1: a number of ports is expected, 1 to 254" },
	{ "Switch x \"s\"\n", ":1: a number of ports is expected" },
	{ "Switch 0 \"s\"\n", ":1: a number of ports is expected" },
	{ "Switch 255 \"s\"\n", ":1: a number of ports is expected" },
	{ "Switch 99999999999999999999 \"s\"\n", ":1: a number of ports is expected" },
	{ "Switch 4\n", ":1: a name in quotes is expected" },
	{ "Switch 4 \"s\n", ":1: a name in quotes is expected" },
	{ "Switch 4 \"\"\n", ":1: a name is empty" },
	{ "Switch 4 \"a#b\"\n", ":1: \"a#b\": \"#\" and \"@\" are for modules" },
	{ "[1] \"s\"[1]\n", ":1: a port without a node" },
	{ "Switch 4 \"s\"\nvendid=1\n[1] \"s\"[2]\n", ":3: a port without a node" },
	{ "Switch 4 \"s\"\n[0] \"s\"[2]\n", ":2: port 0 is out of range" },
	{ "Switch 4 \"s\"\n[255] \"s\"[2]\n", ":2: port 255 is out of range" },
	{ "Switch 4 \"s\"\n[5] \"s\"[2]\n", ":2: port 5 is out of range: \"s\" has 4" },
	{ "Switch 4 \"s\"\n[1] \"s\"[5]\n", ":2: \"s\" has no port 5, it has 4" },
	{ "Switch 4 \"s\"\n[1] \"s\"[0]\n", ":2: port 0 is out of range" },
	{ "Switch 4 \"s\"\n[1 \"s\"[2]\n", ":2: a port number in brackets is expected" },
	{ "Switch 4 \"s\"\n[-1] \"s\"[2]\n", ":2: a port number in brackets is expected" },
	{ "Switch 4 \"s\"\n[1] s[2]\n", ":2: a name in quotes is expected" },
	{ "Switch 4 \"s\"\n[1](xyz) \"s\"[2]\n", ":2: a port GUID in hexadecimal" },
	{ "Switch 4 \"s\"\n[1](12345678901234567) \"s\"[2]\n", ":2: a port GUID in hexadecimal" },
	{ "Switch 4 \"s\"\n[1] \"s\"[2] # \"s\" lid 4 4xFOO\n", ":2: \"4xFOO\" is no link speed" },
	{ "Switch 4 \"s\"\n[1] \"s\"[2] # \"s\" lid 4 3xQDR\n", ":2: \"3xQDR\" is no link speed" },
	{ "Switch 4 \"s\"\n[1] \"s\"[2] w=32\n", ":2: width mask 32 is out of range: 1 to 31" },
	{ "Switch 4 \"s\"\n[1] \"s\"[1]\n", ":2: port 1 of \"s\" is connected to itself" },
	{ "Switch 4 \"s\"\n[1] \"nobody\"[1]\n", ":2: there is no \"nobody\" in the dump" },
	{ "Switch 4 \"s\"\n[1] \"t\"[1]\n[1] \"t\"[2]\nSwitch 4 \"t\"\n",
	  ":3: port 1 of \"s\" is there twice, first at line 2" },
	{ "Switch 4 \"s\"\n[1] \"t\"[1]\n[2] \"t\"[1]\nSwitch 4 \"t\"\n",
	  ":3: port 1 of \"t\" is connected already, by line 2" },
	{ "Switch 4 \"s\"\n[1] \"t\"[1]\nSwitch 4 \"t\"\n[1] \"s\"[2]\n",
	  ":2: port 1 of \"t\" is connected to \"s\"[2] by line 4" },
	{ "Switch 4 \"s\"\nSwitch 4 \"s\"\n", ":2: \"s\" is there twice, first at line 1" },
	{ "switchguid=0x5\nSwitch 4 \"s\"\ncaguid=0x5\nCa 1 \"c\"\n",
	  ":4: GUID 0x5 is there twice, first at line 2" },
	{ "switchguid=0\nSwitch 4 \"s\"\n", ":2: node \"s\": 0 is no GUID" },
	{ "switchguid\n", ":1: \"=\" is missing" },
	{ "switchguid=\n", ":1: a number up to 0xffffffffffffffff is expected" },
	{ "switchguid=0x12345678901234567\n", ":1: a number up to" },
	{ "switchguid=0x5(\n", ":1: a port GUID in hexadecimal" },
	{ "vendid=0x1000000\n", ":1: a number up to 0xffffff is expected" },
	{ "devid=0x10000\n", ":1: a number up to 0xffff is expected" },
	{ "speed=9\n", ":1: speed mask 9 is out of range: 0 to 7" },
	{ "module=x\n", ":1: module=\"NAME\" is expected" },
	{ "include\n", ":1: include \"FILE\" is expected" },
	{ "caguid=0x10\nCa 1 \"a\"\n[1](99) \"s\"[1]\ncaguid=0x20\nCa 1 \"b\"\n[1](99) \"s\"[2]\n"
	  "Switch 4 \"s\"\n[1] \"a\"\n[2] \"b\"\n",
	  ":5: port 1 of \"b\" has GUID 0x99, and so has a port of \"a\"" },
	{ "Ca 1 \"a\"\n[1](98) \"s\"[1]\nSwitch 4 \"s\"\n[1] \"a\"[1](99)\n",
	  ":4: port 1 of \"a\" has GUID 0x98 by its own line" },
	{ "Switch 4 \"s\"\n@[5] \"x\"\n", ":2: port 5 is out of range" },
	{ "Switch 4 \"s\"\n@[1] \"x\"\n@[2] \"x\"\n", ":3: \"@x\" is there twice" },
};

START_TEST(broken_lines_are_named)
{
	refused_at(broken[_i].text, broken[_i].want);
}
END_TEST

/* Dumps that are valid except for a part. */
static const struct { const char *text, *want; } odd[] = {
	{ "Switch 4 \"s\" what\n", ":1: \"what\" is not understood here, and passed over" },
	{ "Switch 4 \"s\"\n[1] \"t\" x=1\nSwitch 4 \"t\"\n[1] \"s\"\n",
	  ":2: \"x=1\" is not understood here" },
	{ "devid=1 2\nSwitch 4 \"s\"\n", ":1: \"2\" is not understood here" },
	{ "switchguid=0x5\nSwitch 4 \"S-0000000000000006\"\n",
	  ":2: \"S-0000000000000006\" has GUID 0x5 by the line before" },
	{ "Switch 4 \"s\"\n[1] \"t\" # \"t\" lid x 4xQDR\nSwitch 4 \"t\"\n[1] \"s\"\n",
	  ":2: a number is expected behind \"lid\", not \"x 4xQDR\"" },
	{ "Switch 4 \"s\" # \"s\" lid x lmc 0\n", ":1: a number is expected behind \"lid\"" },
	{ "Switch 4 \"s\"\ndo Link \"x\"\n", ":2: ibsim's command \" Link \"x\"\" is passed over" },
};

START_TEST(odd_lines_are_named)
{
	struct outcome o = load(odd[_i].text);
	char want[256];

	ck_assert_msg(o.d, "%s", o.err.s);
	check_sound(o.d);
	snprintf(want, sizeof(want), "%s%s", o.path, odd[_i].want);
	ck_assert_msg(o.warn.s && !strncmp(o.warn.s, want, strlen(want)), "%s", o.warn.s);
	outcome_free(&o);
}
END_TEST

START_TEST(several_errors_in_one_run)
{
	refused(load("foo\nSwitch 0 \"s\"\n[1] \"t\"[1]\nCa 1 \"c\"\n[2] \"s\"\n"),
		":1: \"foo\"", ":2: a number of ports", ":5: port 2 is out of range", NULL);
	refused(load("Switch 4 \"s\"\n[1] \"x\"\n[2] \"y\"\n"), ":2: there is no \"x\"",
		":3: there is no \"y\"", NULL);
}
END_TEST

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	while ((text = strchr(text, '\n')))
		n++, text++;
	return n;
}

START_TEST(errors_are_bounded)
{
	struct buf b = { 0 };
	struct outcome o;

	for (unsigned i = 0; i < 100000; i++)
		buf_puts(&b, "rubbish\n");
	o = load_bytes(b.s, b.n);
	ck_assert_ptr_null(o.d);
	ck_assert_uint_eq(count_lines(o.err.s), 1);
	outcome_free(&o);
	buf_free(&b);

	buf_puts(&b, "Switch 4 \"s\"\n");
	for (unsigned i = 0; i < 100000; i++)
		buf_puts(&b, "rubbish\n");
	o = load_bytes(b.s, b.n);
	ck_assert_ptr_null(o.d);
	ck_assert_uint_eq(count_lines(o.err.s), 21);
	outcome_free(&o);
	buf_free(&b);

	buf_puts(&b, "Switch 254 \"s\"\n");
	for (unsigned i = 1; i < 254; i++)
		buf_printf(&b, "[%u] \"nobody\"\n", i);
	o = load_bytes(b.s, b.n);
	ck_assert_ptr_null(o.d);
	ck_assert_uint_eq(count_lines(o.err.s), 21);
	outcome_free(&o);
	buf_free(&b);
}
END_TEST

START_TEST(binary_and_endless_lines)
{
	size_t n = 1 << 20;
	char *bytes = malloc(n);
	struct outcome o;

	refused(load_bytes("Switch 4 \"s\"\n\0\n", 15), ":2: a NUL byte: not a text file", NULL);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(hash64(i) | 0x80);
	refused(load_bytes(bytes, n), ":1: not a topology in a known format: \"?", NULL);
	memset(bytes, 'a', n);
	refused(load_bytes(bytes, n), ":1: not a topology in a known format", NULL);
	/* a description of any length is truncated */
	memcpy(bytes, "Switch 4 \"s\" # \"", 16);
	bytes[n - 1] = '"';
	o = load_bytes(bytes, n);
	ck_assert_ptr_nonnull(o.d);
	ck_assert_uint_eq(strlen(o.d->nodes.v[0].desc), 64);
	outcome_free(&o);
	free(bytes);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
	refused(load_file("/nonexistent/net"),
		"/nonexistent/net: cannot be opened: No such file or directory\n", NULL);
	refused(load_file("/"), "/: cannot be read: it is a directory, not a regular file\n", NULL);
}
END_TEST

/* A pipe is read if the caller allows it. */
START_TEST(pipes)
{
	char *dir = temp_directory(), *path = xasprintf("%s/pipe", dir);
	struct dump_source from = { .path = path };
	struct findings found = { 0 };
	struct dump *d;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(dump_read(&from, &found));
	ck_assert_str_eq(found.v[0].text, "cannot be read: it is a FIFO, not a regular file");
	if (!fork()) {
		FILE *out = fopen(path, "w");

		fputs("Switch 4 \"s\"\n", out);
		fclose(out);
		_exit(0);
	}
	from.pipes = true;
	d = dump_read(&from, &found);
	ck_assert_ptr_nonnull(d);
	ck_assert_uint_eq(d->nodes.n, 1);
	wait(NULL);
	dump_release(d);
	findings_free(&found);
	temp_directory_remove(dir);
	free(path);
}
END_TEST

START_TEST(too_large_a_fabric)
{
	struct buf b = { 0 };

	for (unsigned i = 0; i < 5000; i++)
		buf_printf(&b, "Switch 254 \"s%u\"\n", i);
	refused(load_bytes(b.s, b.n), ":4113: the fabric has more than 1048576 ports", NULL);
	buf_free(&b);
}
END_TEST

/* Carriage returns are white space that does not end a word. */
START_TEST(carriage_returns_within_a_line)
{
	struct outcome o = good(load("Switch 4 \"s\" # \"x\" base\r\r port 0 \r lid 5 lmc 1\n"));

	ck_assert_uint_eq(o.d->nodes.v[0].lid, 5);
	ck_assert_uint_eq(o.d->nodes.v[0].lmc, 1);
	outcome_free(&o);
}
END_TEST

/* Valid dumps with parts cut off or exchanged crash nothing. */
START_TEST(damaged_dumps)
{
	static const char bytes[16] = "\"[]()#\n 019f\rS\xff";
	char text[] = SMALL("4xQDR", "4xQDR");
	uint64_t x = 7;

	for (size_t n = 0; n < sizeof(text); n++) {
		struct outcome o = load_bytes(text, n);

		if (o.d)
			check_sound(o.d);
		outcome_free(&o);
	}
	for (unsigned round = 0; round < 3000; round++) {
		char copy[sizeof(text)];
		struct outcome o;

		memcpy(copy, text, sizeof(text));
		for (unsigned k = 0; k <= round % 3; k++) {
			x = hash64(x + 1);
			copy[x % (sizeof(text) - 1)] = bytes[x >> 60];
		}
		o = load_bytes(copy, sizeof(text) - 1);
		if (o.d)
			check_sound(o.d);
		else
			ck_assert_uint_gt(o.err.n, 0);
		outcome_free(&o);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dump_net");
	TCase *tc = tcase_create("taken"), *ibsim = tcase_create("ibsim");
	TCase *bad = tcase_create("refused");

	tcase_add_test(tc, all_that_a_dump_says_is_kept);
	tcase_add_loop_test(tc, speeds_of_cables, 0, ARRAY_SIZE(speed_words));
	tcase_add_test(tc, the_slower_end_wins);
	tcase_add_test(tc, one_end_is_enough);
	tcase_add_test(tc, port_guids_come_from_either_end);
	tcase_add_test(tc, made_up_port_guids_avoid_others);
	tcase_add_test(tc, a_node_and_its_port_may_share_a_guid);
	tcase_add_test(tc, headings_and_progress_are_passed_over);
	tcase_add_test(tc, routers_are_nodes);
	tcase_add_test(tc, parallel_links_and_a_loop_of_one_switch);
	tcase_add_test(tc, long_descriptions_are_cut);
	tcase_add_test(tc, lids_that_cannot_be_are_none);
	suite_add_tcase(s, tc);
	tcase_add_test(ibsim, ibsim_names_without_guids);
	tcase_add_test(ibsim, ibsim_guids_count_on);
	tcase_add_test(ibsim, ibsim_widths_and_speeds);
	tcase_add_test(ibsim, ibsim_modules_and_aliases);
	tcase_add_test(ibsim, includes_are_beside_the_file);
	suite_add_tcase(s, ibsim);
	tcase_set_timeout(bad, 30);
	tcase_add_loop_test(bad, broken_lines_are_named, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(bad, odd_lines_are_named, 0, ARRAY_SIZE(odd));
	tcase_add_test(bad, several_errors_in_one_run);
	tcase_add_test(bad, errors_are_bounded);
	tcase_add_test(bad, binary_and_endless_lines);
	tcase_add_test(bad, files_that_cannot_be_read);
	tcase_add_test(bad, pipes);
	tcase_add_test(bad, too_large_a_fabric);
	tcase_add_test(bad, carriage_returns_within_a_line);
	tcase_add_test(bad, damaged_dumps);
	suite_add_tcase(s, bad);
	return run_suite(s);
}
