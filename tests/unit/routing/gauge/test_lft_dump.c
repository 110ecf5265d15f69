/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests reading dumps of forwarding tables, as OpenSM and infiniband-diags write them, and malformed ones. */
#include <check.h>

#include "routing/gauge/lft_dump.h"
#include "unit/routing/topo.h"
#include "unit/run.h"

/* Two switches, 0x1 and 0x2, with a host each: LIDs 4 (and 5) and 7; the switches have 1 and 2. */
static struct fabric *fabric(void)
{
	struct fabric *f = topo_begin();
	uint32_t a = topo_switch(f, 1, 4), b = topo_switch(f, 2, 4);
	struct buf err = { 0 };

	fabric_link(f, a, 1, b, 1);
	topo_host(f, a, 2);
	topo_host(f, b, 2);
	fabric_finish(f, 0, 1, &err);
	buf_free(&err);
	fabric_port(f, a, 0)->lid = 1;
	fabric_port(f, b, 0)->lid = 2;
	f->ports[fabric_port(f, a, 2)->peer].lid = 4;
	f->ports[fabric_port(f, a, 2)->peer].lmc = 1;
	f->ports[fabric_port(f, b, 2)->peer].lid = 7;
	return f;
}

/* Reads all lines.  NULL: *line is the first bad line, 0 for none, and why has the reason. */
static struct lfts *read_dump(const struct fabric *f, const char *text, struct lft_dump_left *left,
			      unsigned *line, struct buf *why)
{
	struct lft_dump *d = lft_dump_new(f);

	*line = 0;
	buf_free(why);
	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = text + strcspn(text, "\n");
		++*line;
		if (!lft_dump_line(d, text, (size_t)(end - text), why)) {
			lft_dump_free(d);
			return NULL;
		}
	}
	*line = 0;
	return lft_dump_end(d, left, why);
}

static const char opensm[] =
	"Unicast lids [0-7] of switch Lid 1 guid 0x0000000000000001 ('S-1'):\n"
	"0x0001 000 # Switch portguid 0x0000000000000001: 'S-1'\n"
	"0x0002 001 # Switch portguid 0x0000000000000002: 'S-2'\n"
	"0x0004 002 # Channel Adapter portguid 0x0000010000000001: 'H'\n"
	"0x0005 002 # unknown node and type\n"
	"0x0007 001 # Channel Adapter portguid 0x0000000100002005: 'guid 0x7 portguid 0x9'\n"
	"7 lids dumped\n"
	"Unicast lids [0-7] of switch Lid 2 guid 0x0000000000000002 ('S-2'):\n"
	"0x0007 002 # Channel Adapter portguid 0x0000000100002005: 'H'\n"
	"7 lids dumped\n";

static const char dump_fts[] =
	"Unicast lids [0x0-0x7] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000001 (S-1):\r\n"
	"  Lid  Out   Destination\n"
	"       Port     Info \n"
	"0x0001 000 : (Switch portguid 0x0000000000000001: 'S-1')\n"
	"0x0002 001 : (Switch portguid 0x0000000000000002: 'S-2')\n"
	"0x0003 255 : (illegal)\n"
	"0x0004 002 : (Channel Adapter portguid 0x0000010000000001: 'H')\n"
	"0x0005 002 : (path #2 out of 2: portguid 0x0000010000000001)\n"
	"0x0007 001 : (Channel Adapter portguid 0x0000000100002005: 'H')\n"
	"0x0009 003 : (Channel Adapter portguid 0x0000000000000099: 'gone')\n"
	"6 valid lids dumped \n"
	"\n"
	"# a comment\n"
	"Unicast lids [0x0-0x7] of switch Lid 9 guid 0x0000000000000009 (another):\n"
	"0x0001 200\n"
	"Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0000000000000002 (S-2):\n"
	"0x0007 002";

/* promise: B5 */
START_TEST(good_ones)
{
	static const struct { const char *text; unsigned strange; } dumps[] = {
		{ opensm, 0 }, { dump_fts, 1 },
	};
	static const uint8_t first[] = { 255, 0, 1, 255, 2, 2, 255, 1 };
	struct fabric *f = fabric();
	struct buf why = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++) {
		struct lft_dump_left left;
		unsigned line;
		struct lfts *l = read_dump(f, dumps[i].text, &left, &line, &why);

		ck_assert_msg(l != NULL, "line %u: %s", line, why.s);
		ck_assert_uint_eq(l->top, 7);
		for (uint16_t lid = 0; lid < ARRAY_SIZE(first); lid++) {
			ck_assert_uint_eq(lft_get(l, 0, lid), first[lid]);
			ck_assert_uint_eq(lft_get(l, 1, lid), lid == 7 ? 2 : LFT_DROP);
		}
		ck_assert_uint_eq(left.strange, dumps[i].strange);
		ck_assert_uint_eq(left.without, 0);
		lfts_free(l);
	}
	buf_free(&why);
	fabric_free(f);
}
END_TEST

#define TABLE "Unicast lids [0-7] of switch Lid 1 guid 0x0000000000000001 ('S-1'):\n"

/* promise: B5 */
START_TEST(bad_ones)
{
	static const struct { const char *text; unsigned line; const char *why; } dumps[] = {
		{ "", 0, "it has no table" },
		{ "Unicast lids [0-7] of switch Lid 9 guid 0x9 ('x'):\n0x1 001\n", 0,
		  "all tables belong to switches that are not in the topology" },
		{ "0x0001 001\n", 1, "an entry before the first table" },
		{ "Unicast lids [0-7] of switch Lid 1 ('S-1'):\n", 1,
		  "a table without the GUID of its switch" },
		{ "Unicast lids [0-7] of switch Lid 1 guid 0x ('S-1'):\n", 1,
		  "a table without the GUID of its switch" },
		{ "Unicast lids of switch guid 0x00000000000000001 x", 1,
		  "a table without the GUID of its switch" },
		{ "Unicast lids of switch guid 0x10000000000 x", 1, "0x0000010000000000 is not a switch" },
		{ TABLE TABLE, 2, "a second table of switch 0x0000000000000001" },
		{ TABLE "0x0001 005\n", 2, "port 5 of a switch that has 4" },
		{ TABLE "0x0001 256\n", 2, "no port number after the LID" },
		{ TABLE "0x0001 -1\n", 2, "no port number after the LID" },
		{ TABLE "0x0001 2x\n", 2, "no port number after the LID" },
		{ TABLE "0x0001\n", 2, "the line does not begin with a unicast LID" },
		{ TABLE "0x0001 ---\n", 2, "no port number after the LID" },
		{ TABLE "0xc000 001\n", 2, "the line does not begin with a unicast LID" },
		{ TABLE "0xfffffffffffffffffff 001\n", 2, "the line does not begin with a unicast LID" },
		{ TABLE "0x0004 002 # CA portguid 0x5: 'H'\n", 2,
		  "LID 4 belongs to port 0x0000000000000005 here, but to "
		  "H-10000000000/P1 (0x0000010000000001) in the topology: the two files are from different times" },
		{ TABLE "garbage\n", 2, "not a line of a dump of forwarding tables" },
		{ "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x1 (S-1):\n", 1,
		  "a multicast forwarding table: only unicast tables are measured" },
	};
	struct fabric *f = fabric();
	struct buf why = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++) {
		struct lft_dump_left left;
		unsigned line;

		ck_assert_ptr_null(read_dump(f, dumps[i].text, &left, &line, &why));
		ck_assert_uint_eq(line, dumps[i].line);
		ck_assert_str_eq(why.s, dumps[i].why);
	}
	buf_free(&why);
	fabric_free(f);
}
END_TEST

/* Lines without an end, with NULs, and nothing at all. */
START_TEST(odd_lines)
{
	struct fabric *f = fabric();
	struct lft_dump *d = lft_dump_new(f);
	char line[3000];
	struct buf why = { 0 };

	ck_assert(lft_dump_line(d, "", 0, &why));
	ck_assert(lft_dump_line(d, " \t\r\n", 4, &why));
	memset(line, '0', sizeof(line));
	ck_assert(!lft_dump_line(d, line, sizeof(line), &why));
	ck_assert(!lft_dump_line(d, "0x1\0 1", 6, &why));
	lft_dump_free(d);
	lft_dump_free(NULL);
	buf_free(&why);
	fabric_free(f);
}
END_TEST

START_TEST(switches_without_a_table)
{
	struct fabric *f = fabric();
	struct lft_dump_left left;
	struct buf why = { 0 };
	unsigned line;
	struct lfts *l = read_dump(f, TABLE "0x0007 001\n", &left, &line, &why);

	ck_assert_ptr_nonnull(l);
	ck_assert_uint_eq(left.without, 1);
	ck_assert_uint_eq(f->nodes[left.example].guid, 2);
	lfts_free(l);
	for (uint32_t p = 0; p < f->n_ports; p++)
		f->ports[p].lid = 0;
	ck_assert_ptr_null(read_dump(f, TABLE "0x0007 001\n", &left, &line, &why));
	ck_assert_str_eq(why.s, "the ports of the topology have no LIDs");
	buf_free(&why);
	fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lft_dump");
	TCase *tc = tcase_create("lft_dump");

	tcase_add_test(tc, good_ones);
	tcase_add_test(tc, bad_ones);
	tcase_add_test(tc, odd_lines);
	tcase_add_test(tc, switches_without_a_table);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
