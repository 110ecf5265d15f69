/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the reader of ibdm's topologies: the nets of .topo and IBNL files, and errors in broken ones.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ibdm/ibdm.h"
#include "lib/base/alloc.h"
#include "lib/base/buf.h"
#include "unit/run.h"
#include "unit/temp.h"

/* The result of reading a .topo file, with IBNL files in a directory of the test's. */
struct reading {
	char *dir, *topo;
	struct ibdm *t;
	const struct ibdm_net *net;	/* NULL: refused */
	struct buf errors;		/* "FILE:LINE: text", FILE without its directory, or "F" */
};

static void note_error(void *arg, const char *file, uint32_t line, const char *text)
{
	struct reading *r = arg;
	const char *slash = file ? strrchr(file, '/') : NULL;

	buf_printf(&r->errors, "%s:%u: %s\n", !file ? "F" : slash ? slash + 1 : file, line, text);
}

static void put_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void read_lines(struct reading *r, const char *text)
{
	uint32_t number = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = xstrndup(text, n);

		ibdm_read_line(r->t, ++number, line);
		free(line);
		text += n + (text[n] == '\n');
	}
}

/* Reads a .topo file; ibnl NULL: there is no IBNL file. */
static struct reading read_topo(const char *text, const char *ibnl)
{
	struct reading r = { .dir = temp_directory() };
	struct ibdm_files files = { 0 };

	if (ibnl)
		put_file(r.dir, "a.ibnl", ibnl);
	r.topo = xasprintf("%s/x.topo", r.dir);
	files.topo = r.topo;
	r.t = ibdm_new(&files, note_error, &r);
	read_lines(&r, text);
	r.net = ibdm_build(r.t);
	return r;
}

static void end_reading(struct reading *r)
{
	ck_assert(!r->net == !!r->errors.n);
	ibdm_free(r->t);
	buf_free(&r->errors);
	temp_directory_remove(r->dir);
	free(r->topo);
}

static void refused(const char *text, const char *ibnl, const char *error)
{
	struct reading r = read_topo(text, ibnl);

	ck_assert_msg(!r.net, "taken: %s", text);
	ck_assert_msg(!strncmp(r.errors.s, error, strlen(error)), "%s\nis not\n%s", r.errors.s,
		      error);
	end_reading(&r);
}

static uint32_t node_named(const struct ibdm_net *net, const char *name)
{
	for (uint32_t i = 0; i < net->n_nodes; i++)
		if (!strcmp(net->nodes[i].name, name))
			return i;
	ck_abort_msg("no node %s", name);
}

/* The net must have this link, once. */
static void linked(const struct ibdm_net *net, const char *a, unsigned a_num, const char *b,
		   unsigned b_num, const char *width, const char *gbps)
{
	uint32_t node[] = { node_named(net, a), node_named(net, b) };
	unsigned num[] = { a_num, b_num }, found = 0;

	for (size_t i = 0; i < net->n_links; i++)
		for (size_t k = 0; k < 2; k++) {
			const struct ibdm_link *l = &net->links[i];

			if (l->node[k] != node[0] || l->num[k] != num[0] ||
			    l->node[!k] != node[1] || l->num[!k] != num[1])
				continue;
			ck_assert_str_eq(l->speed.width, width);
			ck_assert_str_eq(l->speed.gbps, gbps);
			found++;
		}
	ck_assert_msg(found == 1, "%u links of %s %u and %s %u", found, a, a_num, b, b_num);
}

/* --- systems of one chip --- */

/* promise: B7 */
START_TEST(known_systems)
{
	struct reading r = read_topo(
		"# two switches, one of them named at an end only\n"
		"MTS2400 leaf CFG:\n  P1 -4x-5G-> MT23108 h1 P1\n\tP2 -> MT23108 h1 P2\n"
		"  P23 -12X-10G-> Shark spine P36\n  P24 -> MTS3600 spine P35\r\n\n"
		"Cougar h1\n  P1 -4x-> Reindeer leaf P1\n\nEagle alone\n", NULL);

	ck_assert_msg(r.net, "%s", r.errors.s);
	ck_assert_uint_eq(r.net->n_nodes, 4);
	ck_assert_uint_eq(r.net->n_links, 4);
	ck_assert_str_eq(r.net->nodes[0].name, "leaf");
	ck_assert_uint_eq(r.net->nodes[0].nports, 24);
	ck_assert_uint_eq(r.net->nodes[0].device, 0xb924);
	ck_assert(r.net->nodes[0].is_switch);
	ck_assert_str_eq(r.net->nodes[3].name, "alone");
	ck_assert(!r.net->nodes[3].is_switch);
	linked(r.net, "leaf", 1, "h1", 1, "4x", "2.5");	/* by the last line about it */
	linked(r.net, "leaf", 2, "h1", 2, "4x", "2.5");
	linked(r.net, "leaf", 23, "spine", 36, "12x", "10");
	linked(r.net, "leaf", 24, "spine", 35, "4x", "2.5");
	end_reading(&r);
}
END_TEST

#define LEAF "MTS2400 leaf\n"
static const struct { const char *text, *error; } bad_topos[] = {
	{ "NoSuch big\n  L1/P1 -> MT23108 h1 P1\n", "F:1: no IBNL file defines system type NoSuch;"
	  " looked in /" },
	{ LEAF "  P1 -> MT23108X big L1/P1\n", "F:2: no IBNL file defines system type MT23108X;" },
	{ "MTS2400 leaf CFG: leaf1=R\n P1 -> MT23108 h1 P1\n",
	  "F:1: system type MTS2400 has no board leaf1" },
	{ "MTS2400 leaf CFG: leaf1\n", "F:1: CFG: has boards and their variants, as in leaf1=R, "
	  "not 'leaf1'" },
	{ "MTS2400 leaf CFG: a=R,a=X\n", "F:1: CFG: names board a twice" },
	{ "MTS2400 leaf CFG: a=R\n\nMTS2400 leaf CFG: a=X\n",
	  "F:3: CFG: is not what line 1 says of this system" },
	{ "MTS2400 leaf 3\n P1 -> MT23108 h1 P1\n", "F:1: more than a type and a name" },
	{ "MTS2400 a/b\n P1 -> MT23108 h1 P1\n", "F:1: a type and a name of a system have no '/'\n" },
	{ LEAF " P1 -> MT23108 a/b P1\n", "F:2: a type and a name of a system have no '/'" },
	{ "MTS2400\n P1 -> MT23108 h1 P1\n", "F:1: neither a system nor a cable: 'MTS2400'" },
	{ "  P1 -> MT23108 h1 P1\n", "F:1: a cable outside of a system" },
	{ LEAF "\n  P1 -> MT23108 h1 P1\n", "F:3: a cable outside of a system" },
	{ LEAF " P25 -> MT23108 h1 P1\n",
	  "F:2: system leaf has no port P25, its ports are P1 to P24" },
	{ LEAF " P0 -> MT23108 h1 P1\n", "F:2: system leaf has no port P0," },
	{ LEAF " L1/P1 -> MT23108 h1 P1\n", "F:2: system leaf has no port L1/P1," },
	{ LEAF " P1x -> MT23108 h1 P1\n", "F:2: system leaf has no port P1x," },
	{ LEAF " P1 -> MT25204 h1 P2\n", "F:2: system h1 has no port P2, its ports are P1 to P1" },
	{ LEAF " P1 -> MT23108 h1\n", "F:2: a cable ends at a type, a system and a port" },
	{ LEAF " P1 -> MT23108 h1 P1 P2\n", "F:2: a cable ends at a type, a system and a port" },
	{ LEAF " P1 -3x-> MT23108 h1 P1\n", "F:2: unknown width or speed in '-3x->'" },
	{ LEAF " P1 -4x-7G-> MT23108 h1 P1\n", "F:2: unknown width or speed in '-4x-7G->'" },
	{ LEAF " P1 -5G-4x-> MT23108 h1 P1\n", "F:2: unknown width or speed in '-5G-4x->'" },
	{ LEAF " P1 --> MT23108 h1 P1\n", "F:2: unknown width or speed in '-->'" },
	{ LEAF " P1 -> MTS2400 leaf P1\n", "F:2: the port is linked to itself" },
	{ LEAF " P1 -> MT23108 h1 P1\n P1 -> MT23108 h1 P2\n",
	  "F:3: port P1 of leaf is linked by line 2 already" },
	{ LEAF " P1 -> MT23108 h1 P1\n P2 -> MT23108 h1 P1\n",
	  "F:3: port P1 of h1 is linked by line 2 already" },
	{ LEAF " P1 -> MT23108 h1 P1\n\nMTS3600 h1\n",
	  "F:4: system h1 is of type MTS3600, but not by line 2" },
	{ "Buffalo a23456789b23456789c23456789d23456789e23456789f23456789g2345678901\n",
	  "F:1: the name a23456789b23456789c23456789d23456789e234... is longer than 64" },
	/* all errors of single lines are reported, but not their consequences */
	{ "MTS2400 a/b\n P1 -> MT23108 h1 P1\n\nx\n", "F:1: a type and a name of a system have no "
	  "'/'\nF:4: neither a system nor a cable: 'x'\n" },
};

/* promise: B7 */
START_TEST(bad_topo)
{
	refused(bad_topos[_i].text, NULL, bad_topos[_i].error);
}
END_TEST

/* --- chassis --- */

/* A spine and two leaves, each of one switch, or two in the wide variant. */
static const char box[] =
	"SYSTEM LINE,LINE:4x\n"
	"NODE SW 8 MT43132 U1\n"
	"   1 -> P1\n   2 -> P2\n   7 -> B1\n   8-5G->B2\n"
	"\n"
	"SYSTEM LINE:wide\n"
	"NODE SW 8 MT43132 U1\n   1 -12x-> W1\n   7 -> B1\n   3 -4x-10G-> U2 2\n"
	"NODE HCA 2 Odd U2\n   1 -> P2\n"
	"SYSTEM SPINE\n"
	"NODE SW 8 MT43132 U1\n   1 -> B1\n\n   2 -> B2\n 3 -> B3\n 4 -> B4\n"
	"# comment\n"
	"TOPSYSTEM Box, TheBox\n"
	"spine/U1=isSpecial\n"
	"SUBSYSTEM LINE line1\n   B1 -4x-5G-> spine B1\n   B2 -> spine B2\n   P1 -> L1/P1\n"
	"   P2 -> L1/P2\n   W1 -> L1/W1\n"
	"SUBSYSTEM LINE line2\n   B1 -> spine B3\n   B2 -> spine B4\n   P1 -> L2/P1\n"
	"   P2 -> L2/P2\n   W1 -> L2/W1\n"
	"SUBSYSTEM SPINE spine\n   B1 -5G-> line1 B1\n";

/* promise: B7 */
START_TEST(chassis)
{
	struct reading r = read_topo("Box b\n  L1/P1 -> Cougar h1 P1\n"
				     "  L2/P2 -4x-10G-> Cougar h1 P2\n", box);

	ck_assert_msg(r.net, "%s", r.errors.s);
	ck_assert_uint_eq(r.net->n_nodes, 4);
	ck_assert_uint_eq(r.net->n_links, 6);
	ck_assert_str_eq(r.net->nodes[0].name, "b/line1/U1");
	ck_assert_str_eq(r.net->nodes[1].name, "b/line2/U1");
	ck_assert_str_eq(r.net->nodes[2].name, "b/spine/U1");
	ck_assert_uint_eq(r.net->nodes[2].first, 0);
	ck_assert_uint_eq(r.net->nodes[2].device, 0xa87c);
	ck_assert_uint_eq(r.net->nodes[3].first, 3);
	linked(r.net, "b/line1/U1", 7, "b/spine/U1", 1, "4x", "5");
	linked(r.net, "b/line1/U1", 8, "b/spine/U1", 2, "4x", "2.5");
	linked(r.net, "b/line2/U1", 7, "b/spine/U1", 3, "4x", "2.5");
	linked(r.net, "b/line2/U1", 8, "b/spine/U1", 4, "4x", "2.5");
	linked(r.net, "b/line1/U1", 1, "h1", 1, "4x", "2.5");
	linked(r.net, "b/line2/U1", 2, "h1", 2, "4x", "10");
	end_reading(&r);
}
END_TEST

/* The variant applies wherever the system is first named; ports that it lacks have no link. */
/* promise: B7 */
START_TEST(variants)
{
	struct reading r = read_topo("Cougar h1\n P1 -> TheBox b L1/W1\n P2 -> Box b L1/P2\n\n"
				     "Box b CFG: line1=wide, line2=R\n", box);

	ck_assert_msg(r.net, "%s", r.errors.s);
	ck_assert_uint_eq(r.net->n_nodes, 4);
	ck_assert_uint_eq(r.net->n_links, 4);
	ck_assert(!r.net->nodes[node_named(r.net, "b/line1/U2")].is_switch);
	ck_assert_uint_eq(r.net->nodes[node_named(r.net, "b/line1/U2")].device, 0);
	linked(r.net, "b/line1/U1", 3, "b/line1/U2", 2, "4x", "10");
	end_reading(&r);
}
END_TEST

#define TOP "TOPSYSTEM Box\n"
#define NODE "NODE SW 8 X U1\n"
static const struct { const char *topo, *ibnl, *error; } bad_ibnls[] = {
	{ NULL, "x\n" TOP, "a.ibnl:1: SYSTEM or TOPSYSTEM is expected before all else" },
	{ NULL, "SYSTEM A\nSYSTEM B,A\n" TOP, "a.ibnl:2: there are two boards \"A\"" },
	{ NULL, "SYSTEM ,\n" TOP, "a.ibnl:1: a name is missing" },
	{ NULL, TOP "TOPSYSTEM C\n", "a.ibnl:2: nothing follows the parts of TOPSYSTEM" },
	{ NULL, TOP "NODE SW 8 X\n", "a.ibnl:2: a node has a type, a number of ports, a device" },
	{ NULL, TOP "NODE SW 8 X U1 y\n", "a.ibnl:2: a node has a type, a number of ports," },
	{ NULL, TOP "NODE RT 8 X U1\n", "a.ibnl:2: unknown type of node 'RT'" },
	{ NULL, TOP "NODE SW 255 X U1\n", "a.ibnl:2: a node has 1 to 254 ports, not 255" },
	{ NULL, TOP "NODE SW x X U1\n", "a.ibnl:2: a node has 1 to 254 ports, not x" },
	{ NULL, TOP NODE NODE, "a.ibnl:3: there are two parts \"U1\" on this board" },
	{ NULL, TOP "SUBSYSTEM A\n", "a.ibnl:2: a part that is a board has a type and a name" },
	{ NULL, TOP "SUBSYSTEM A a\n", "a.ibnl:2: there is no board A" },
	{ NULL, TOP " 1 -> P1\n", "a.ibnl:2: a port without a part that it is of" },
	{ NULL, TOP NODE " 9 -> P1\n", "a.ibnl:3: port 9 of a node with 8 ports" },
	{ NULL, TOP NODE " 0 -> P1\n", "a.ibnl:3: port 0 of a node with 8 ports" },
	{ NULL, TOP NODE " x -> P1\n", "a.ibnl:3: not a port, and a width and speed" },
	{ NULL, TOP NODE " 1 -7x-> P1\n", "a.ibnl:3: not a port, and a width and speed" },
	{ NULL, TOP NODE " 1 > P1\n", "a.ibnl:3: not a port, and a width and speed" },
	{ NULL, TOP NODE " 1 ->\n", "a.ibnl:3: a port leads to a connector, or to a part" },
	{ NULL, TOP NODE " 1 -> U2 1 1\n", "a.ibnl:3: a port leads to a connector, or to a part" },
	{ NULL, TOP NODE " 1 -> P1\n 2 -> P1\n", "a.ibnl:4: there are two connectors \"P1\"" },
	{ NULL, TOP NODE " 1 -> U2 1\n", "a.ibnl:3: there is no part U2 on this board" },
	{ NULL, TOP NODE " 1 -> U1 9\n", "a.ibnl:3: U1 has no port 9, only 1 to 8" },
	{ NULL, TOP NODE " 1 -> U1 1\n", "a.ibnl:3: the port leads to itself" },
	{ NULL, TOP NODE " 1 -> U1 2\n 1 -> U1 3\n", "a.ibnl:4: port 1 of U1 leads elsewhere" },
	{ NULL, TOP NODE "what\n", "a.ibnl:3: neither a part nor what a port of one leads to" },
	{ NULL, TOP NODE "U1=x\n", "a.ibnl:3: neither a part nor what a port of one leads to" },
	{ NULL, "SYSTEM A\nSUBSYSTEM A a\n" TOP "SUBSYSTEM A a\n",
	  "a.ibnl:2: more than 16 boards within each other" },
	{ NULL, TOP "SUBSYSTEM A a/b\nSUBSYSTEM B a\n", "a.ibnl:2: there is no board A" },
	{ "Box b CFG: u=R\n", TOP NODE " 1 -> P1\n", "F:1: system type Box has no board u" },
	{ "Box b CFG: a=x\n", "SYSTEM A\n" TOP "SUBSYSTEM A a\n",
	  "F:1: there is no variant x of board A, which a is" },
	{ "Box b\n P1 -> Box c P1\n", TOP NODE, "F:2: system b has no ports" },
};

/* promise: B7 */
START_TEST(bad_ibnl)
{
	const char *topo = bad_ibnls[_i].topo;

	refused(topo ? topo : "Box b\n P1 -> Cougar h P1\n", bad_ibnls[_i].ibnl,
		bad_ibnls[_i].error);
}
END_TEST

/* Boards of boards of boards take no more memory and time than a system may. */
/* promise: B7 */
START_TEST(too_many_parts)
{
	struct buf text = { 0 };

	buf_puts(&text, "SYSTEM L0\nNODE SW 8 X U1\n");
	for (int level = 1; level < 16; level++) {
		buf_printf(&text, "SYSTEM L%d\n", level);
		for (int i = 0; i < 10; i++)
			buf_printf(&text, "SUBSYSTEM L%d b%d\n", level - 1, i);
	}
	buf_puts(&text, "TOPSYSTEM Box\nSUBSYSTEM L15 b\n");
	refused("Box b\n", text.s, "a.ibnl:2: the system has more than 49151 nodes");
	buf_free(&text);
}
END_TEST

/* --- directories --- */

static struct ibdm_files in_directories(const char *topo, const char *ibnl, const char *installed)
{
	return (struct ibdm_files){ topo, ibnl, installed };
}

/* Returns how many nodes a Box has with these search paths. */
static size_t nodes_of_box(struct ibdm_files files)
{
	struct reading r = { 0 };
	size_t n;

	r.t = ibdm_new(&files, note_error, &r);
	read_lines(&r, "Box b\n");
	r.net = ibdm_build(r.t);
	n = r.net ? r.net->n_nodes : 0;
	ibdm_free(r.t);
	buf_free(&r.errors);
	return n;
}

static char *directory_with_box(unsigned nodes)
{
	struct buf text = { 0 };
	char *dir = temp_directory();

	buf_puts(&text, "TOPSYSTEM Box\n");
	for (unsigned i = 0; i < nodes; i++)
		buf_printf(&text, "NODE SW 8 X U%u\n", i);
	put_file(dir, "box.ibnl", text.s);
	put_file(dir, "broken.ibnl", "nobody asks for what is in here\nTOPSYSTEM Broken\nx\n");
	buf_free(&text);
	return dir;
}

/* promise: B7 */
START_TEST(directories)
{
	char *one = directory_with_box(1), *two = directory_with_box(2), *three;
	char *empty = temp_directory();
	char *topo = xasprintf("%s/x.topo", two), *alone = xasprintf("%s/x.topo", empty);

	three = directory_with_box(3);
	ck_assert_uint_eq(nodes_of_box(in_directories(topo, one, three)), 1);
	ck_assert_uint_eq(nodes_of_box(in_directories(topo, NULL, three)), 2);
	ck_assert_uint_eq(nodes_of_box(in_directories(topo, empty, three)), 2);
	ck_assert_uint_eq(nodes_of_box(in_directories(alone, NULL, three)), 3);
	ck_assert_uint_eq(nodes_of_box(in_directories(alone, NULL, "/nonexistent/a*")), 0);
	ck_assert_uint_eq(nodes_of_box(in_directories(topo, "/nonexistent", NULL)), 0);
	free(topo);
	free(alone);
	temp_directory_remove(one);
	temp_directory_remove(two);
	temp_directory_remove(three);
	temp_directory_remove(empty);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ibdm");
	TCase *tc = tcase_create("ibdm");

	tcase_add_test(tc, known_systems);
	tcase_add_loop_test(tc, bad_topo, 0, ARRAY_SIZE(bad_topos));
	tcase_add_test(tc, chassis);
	tcase_add_test(tc, variants);
	tcase_add_loop_test(tc, bad_ibnl, 0, ARRAY_SIZE(bad_ibnls));
	tcase_add_test(tc, too_many_parts);
	tcase_add_test(tc, directories);
	tcase_set_timeout(tc, 30);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
