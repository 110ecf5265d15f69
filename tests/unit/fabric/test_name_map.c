/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests maps of nodes' names: which lines are one, and whom fabrics find by names and by NodeDescriptions. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/host_names.h"
#include "lib/base/alloc.h"
#include "unit/run.h"

static struct findings found;

static struct name_map *parse(const char *text, size_t n)
{
	findings_free(&found);
	return name_map_parse(text, n, "map", &found);
}

/* promise: O18 */
START_TEST(lines)
{
	static const char text[] =
		"# comment\n"
		"\t0x10 \"switch one\" # text\n"
		"0x0000000000000011 unquoted name  # text\r\n"
		"18 \"decimal\"\r\n"
		"0x13\t\"tab\"text behind it\n"
		"   \n"
		"0x14 \"a\x1b[2Jb\"\n"
		"0x15 \"no end";
	struct name_map *m = parse(text, sizeof(text) - 1);

	ck_assert_uint_eq(found.n, 0);
	ck_assert_uint_eq(name_map_count(m), 6);
	ck_assert_str_eq(name_map_get(m, 0x10), "switch one");
	ck_assert_str_eq(name_map_get(m, 0x11), "unquoted name");
	ck_assert_str_eq(name_map_get(m, 0x12), "decimal");
	ck_assert_str_eq(name_map_get(m, 0x13), "tab");
	ck_assert_ptr_null(strchr(name_map_get(m, 0x14), '\x1b'));
	ck_assert_str_eq(name_map_get(m, 0x15), "no end");
	ck_assert_ptr_null(name_map_get(m, 0x16));
	ck_assert_ptr_null(name_map_get(NULL, 0x10));
	ck_assert_uint_eq(name_map_count(NULL), 0);
	name_map_unref(name_map_ref(m));
	ck_assert_str_eq(name_map_get(m, 0x10), "switch one");
	name_map_unref(m);
}
END_TEST

/* promise: O18 */
START_TEST(lines_that_are_none)
{
	static const struct { const char *line, *why; } bad[] = {
		{ "switch \"x\"", "begins with no GUID" }, { "0x10x \"x\"", "begins with no GUID" },
		{ "-5 \"x\"", "begins with no GUID" }, { "0 \"x\"", "begins with no GUID" },
		{ "\"x\"", "begins with no GUID" },
		{ "0x10", "has no name" }, { "0x10 # x", "has no name" }, { "0x10 \"\"", "has no name" },
		{ "0x10# x", "has no name" },
		{ "0x10 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "more than 64 bytes" },
	};
	static const char several[] = "0x1 \"a\"\n\n  0x1 \"b\"\n0x2 \"c\0d\"\n0x3 \"e\"";
	struct name_map *m;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		m = parse(bad[i].line, strlen(bad[i].line));
		ck_assert_uint_eq(name_map_count(m), 0);
		ck_assert_uint_eq(found.n, 1);
		ck_assert_int_eq(found.v[0].severity, SEV_WARNING);
		ck_assert_str_eq(found.v[0].file, "map");
		ck_assert_msg(strstr(found.v[0].text, bad[i].why) != NULL, "%s: %s", bad[i].line, found.v[0].text);
		name_map_unref(m);
	}
	/* the others hold, and each is named by its place */
	m = parse(several, sizeof(several) - 1);
	ck_assert_uint_eq(found.n, 2);
	ck_assert_uint_eq(found.v[0].pos.line, 3);
	ck_assert_uint_eq(found.v[0].pos.col, 3);
	ck_assert_uint_eq(found.v[1].pos.line, 4);
	ck_assert_str_eq(name_map_get(m, 1), "a");
	ck_assert_ptr_null(name_map_get(m, 2));
	ck_assert_str_eq(name_map_get(m, 3), "e");
	name_map_unref(m);
}
END_TEST

static uint32_t node(struct fabric *f, unsigned type, unsigned nports, uint64_t guid, const char *desc)
{
	uint8_t info[40] = { 0 }, port[64] = { 0 }, switch_info[20] = { 0 };
	char text[65] = "";
	uint32_t n;

	snprintf(text, sizeof(text), "%s", desc);
	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	n = fabric_add_node(f, info, text, type == IB_NODE_SWITCH_T ? switch_info : NULL, NULL, 0);
	for (unsigned num = type == IB_NODE_SWITCH_T ? 0 : 1; num <= nports; num++)
		ck_assert(fabric_set_port(f, n, num, guid + (type == IB_NODE_CA_T ? num : 0), port));
	return n;
}

/* promise: O18 */
START_TEST(names_of_a_fabric)
{
	struct fabric *f = fabric_new(), *copy;
	uint32_t a = node(f, IB_NODE_CA_T, 1, 0x100, "host-a HCA-1");
	uint32_t b = node(f, IB_NODE_CA_T, 1, 0x200, "host-b HCA-1");
	uint32_t sw = node(f, IB_NODE_SWITCH_T, 4, 0x10000, "Switch X");
	/* the two hosts were mixed up */
	static const char text[] = "0x100 \"host-b HCA-1\"\n0x200 \"host-a HCA-1\"\n0x10000 \"rack 7\"\n";
	struct name_map *m = parse(text, sizeof(text) - 1);
	bool several;
	char name[FABRIC_NAME_MAX];
	struct buf meant = { 0 }, err = { 0 };

	ck_assert(fabric_link(f, sw, 1, a, 1) && fabric_link(f, sw, 2, b, 1));
	ck_assert(fabric_finish(f, a, 1, &err));
	buf_free(&err);
	ck_assert_uint_eq(fabric_find_node(f, "host-a HCA-1", &several), map64_get(&f->node_by_guid, 0x100));
	fabric_set_names(f, m);
	name_map_unref(m);
	a = map64_get(&f->node_by_guid, 0x100);
	b = map64_get(&f->node_by_guid, 0x200);
	sw = map64_get(&f->node_by_guid, 0x10000);
	/* the name of the map comes before the NodeDescription of another */
	ck_assert_uint_eq(fabric_find_node(f, "host-a HCA-1", &several), b);
	ck_assert_uint_eq(fabric_find_node(f, "rack 7", &several), sw);
	ck_assert_uint_eq(fabric_find_node(f, "Switch X", &several), sw);
	ck_assert_uint_eq(fabric_find_node(f, "0x10000", &several), sw);
	ck_assert_uint_eq(fabric_find_node(f, "nobody", &several), FABRIC_NONE);
	ck_assert_uint_eq(f->ports[fabric_find_port_by_host(f, "host-a", &several)].node, b);
	ck_assert_uint_eq(f->ports[fabric_find_port_by_text(f, "host-b HCA-1/P1", &several)].node, a);
	ck_assert_uint_eq(f->ports[fabric_find_port_by_text(f, "Switch X/P1", &several)].node, sw);
	ck_assert_uint_eq(f->ports[fabric_find_port_by_text(f, "rack 7/P1", &several)].node, sw);
	ck_assert(fabric_put_meant(f, "rakc 7", &meant));
	ck_assert_str_eq(meant.s, "rack 7");
	buf_free(&meant);
	/* copies have the names, and one can lose them without the other */
	copy = fabric_clone(f);
	fabric_set_names(f, NULL);
	ck_assert_ptr_nonnull(strstr(fabric_node_name(f, sw, name, sizeof(name)), "Switch X"));
	ck_assert_ptr_nonnull(strstr(fabric_port_name(copy, copy->nodes[sw].port0 + 1, name, sizeof(name)), "rack 7/P1"));
	fabric_free(f);
	ck_assert_str_eq(fabric_node_desc(copy, &copy->nodes[sw]), "rack 7");
	/* one name for two */
	m = parse("0x100 \"twin\"\n0x200 \"twin\"\n", 26);
	fabric_set_names(copy, m);
	name_map_unref(m);
	ck_assert_uint_eq(fabric_find_node(copy, "twin", &several), FABRIC_NONE);
	ck_assert(several);
	fabric_free(copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("names of nodes");
	TCase *k = tcase_create("name map");

	tcase_add_test(k, lines);
	tcase_add_test(k, lines_that_are_none);
	tcase_add_test(k, names_of_a_fabric);
	suite_add_tcase(s, k);
	return run_suite(s);
}
