/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the comparison of a fabric with its expected topology (fabric/expected.h).
 *
 * promise: H8
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include "fabric/expected.h"
#include "unit/run.h"

/* --- a fabric of two hosts at a switch, "leaf": h1 at port 1, h2 at port 2 --- */

static uint32_t add_with(struct fabric *f, unsigned type, uint64_t guid, const char *name, unsigned nports)
{
	uint8_t info[40] = { 0 }, port[64] = { 0 }, switch_info[20] = { 0 };
	uint32_t node;

	mad_set_field(info, 0, IB_NODE_TYPE_F, type);
	mad_set_field(info, 0, IB_NODE_NPORTS_F, nports);
	mad_set_field64(info, 0, IB_NODE_GUID_F, guid);
	node = fabric_add_node(f, info, name, type == IB_NODE_SWITCH_T ? switch_info : NULL, NULL, 0);
	for (unsigned num = type == IB_NODE_SWITCH_T ? 0 : 1; num <= nports; num++)
		fabric_set_port(f, node, num, type == IB_NODE_SWITCH_T ? guid : guid + num, port);
	return node;
}

static uint32_t add(struct fabric *f, unsigned type, uint64_t guid, const char *name)
{
	return add_with(f, type, guid, name, type == IB_NODE_SWITCH_T ? 4 : 1);
}

static struct fabric *make(uint64_t h2_guid, const char *h2_name, unsigned h2_at)
{
	struct fabric *f = fabric_new();
	uint32_t h1 = add(f, IB_NODE_CA_T, 0x10, "h1"), leaf = add(f, IB_NODE_SWITCH_T, 0x100, "leaf");
	uint32_t h2 = h2_guid ? add(f, IB_NODE_CA_T, h2_guid, h2_name) : FABRIC_NONE;
	struct buf err = { 0 };

	ck_assert(fabric_link(f, h1, 1, leaf, 1));
	if (h2_at)
		ck_assert(fabric_link(f, leaf, h2_at, h2, 1));
	ck_assert(fabric_finish(f, 0, 1, &err));
	buf_free(&err);
	return f;
}

static struct buf said;

/* All differences of f, one per line; the expected topology goes through its text. */
static const char *differences(struct fabric *f)
{
	struct fabric *usual = make(0x20, "h2", 2);
	struct expected *made = expected_of_fabric(usual), *x = expected_new();
	struct expected_findings out = { 0 };
	struct buf text = { 0 };

	expected_print(made, &text);
	for (char *line = strtok(text.s, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(expected_line(x, line), "%s", line);
	expected_compare(x, f, &out);
	said.n = 0;
	buf_puts(&said, "");
	for (size_t i = 0; i < out.v.n; i++) {
		buf_printf(&said, "%s: ", expected_kind_name(out.v.v[i].kind));
		expected_text(x, f, &out.v.v[i], &said);
		buf_puts(&said, "\n");
	}
	vec_free(&out.v);
	buf_free(&text);
	expected_unref(made);
	expected_unref(x);
	fabric_free(usual);
	fabric_free(f);
	return said.s;
}

static void teardown(void)
{
	buf_free(&said);
}

START_TEST(as_expected)
{
	ck_assert_str_eq(differences(make(0x20, "h2", 2)), "");
	ck_assert_str_eq(differences(make(0x20, "another name", 2)), "");
	ck_assert_str_eq(differences(make(0x30, "h2", 2)), "");		/* another adapter of that name */
}
END_TEST

START_TEST(another_port)
{
	ck_assert_str_eq(differences(make(0x20, "h2", 3)), "miscabled: leaf/P2 (0x0000000000000100) is expected to be "
			 "linked to h2/P1 (0x0000000000000020); h2/P1 (0x0000000000000021) is linked to leaf/P3 "
			 "(0x0000000000000100)\n");
}
END_TEST

START_TEST(nodes)
{
	ck_assert_str_eq(differences(make(0, NULL, 0)), "node-missing: h2 (0x0000000000000020) is expected and not "
			 "there\n");
	/* a stranger's link is told only where another is expected */
	ck_assert_str_eq(differences(make(0x30, "h3", 3)), "node-missing: h2 (0x0000000000000020) is expected and not "
			 "there\nnode-unknown: h3 (0x0000000000000030) is not expected\n");
	ck_assert_ptr_nonnull(strstr(differences(make(0x30, "h3", 2)), "miscabled: leaf/P2 "));
}
END_TEST

/* --- two switches with two links and room for two more, and a host with two ports at the first --- */

enum { WIRES = 6 };
static const unsigned wires[WIRES][3] = {	/* of switches: port numbers; of the host: its port, a switch, its port */
	{ 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 }, { 1, 0, 5 }, { 2, 1, 6 },
};

static struct fabric *make_trunks(const char *links)	/* "x" for a link that is there */
{
	struct fabric *f = fabric_new();
	uint32_t sw[] = { add_with(f, IB_NODE_SWITCH_T, 0x100, "left", 6), add_with(f, IB_NODE_SWITCH_T, 0x200, "right", 6) };
	uint32_t host = add_with(f, IB_NODE_CA_T, 0x10, "host", 2);
	struct buf err = { 0 };

	for (unsigned i = 0; i < WIRES; i++)
		if (links[i] != 'x')
			continue;
		else if (i < 4)
			ck_assert(fabric_link(f, sw[0], wires[i][0], sw[1], wires[i][1]));
		else
			ck_assert(fabric_link(f, host, wires[i][0], sw[wires[i][1]], wires[i][2]));
	ck_assert(fabric_finish(f, sw[0], 0, &err));
	buf_free(&err);
	return f;
}

/* What is said of the missing links, without what they are. */
static const char *moves(const char *usual, const char *now)
{
	struct fabric *was = make_trunks(usual), *is = make_trunks(now);
	struct expected *x = expected_of_fabric(was);
	struct expected_findings out = { 0 };
	struct buf text = { 0 };

	expected_compare(x, is, &out);
	said.n = 0;
	buf_puts(&said, "");
	for (size_t i = 0; i < out.v.n; i++) {
		text.n = 0;
		expected_text(x, is, &out.v.v[i], &text);
		if (out.v.v[i].kind == EXPECTED_LINK_MISSING)
			buf_printf(&said, "%s\n", strstr(text.s, "neither port has a link") + strlen("neither port has a link"));
	}
	vec_free(&out.v);
	buf_free(&text);
	expected_unref(x);
	fabric_free(was);
	fabric_free(is);
	return said.s;
}

/* promise: H6 */
START_TEST(a_cable_that_was_moved_at_both_ends)
{
	ck_assert_str_eq(moves("xx--x-", "x-x-x-"), "; left/P3 (0x0000000000000100) is linked to right/P3 "
			 "(0x0000000000000200), which is not expected: was the cable moved?\n");
	ck_assert_str_eq(moves("xx--x-", "x---x-"), "\n");
	ck_assert_str_eq(moves("xx--x-", "x-xxx-"), "; 1 such link is missing there, and 2 not expected: was a cable moved?\n");
	ck_assert_str_eq(moves("xx--x-", "--x-x-"), "; 2 such links are missing there, and 1 not expected: was a cable moved?\n"
			 "; 2 such links are missing there, and 1 not expected: was a cable moved?\n");
	ck_assert_str_eq(moves("xx--x-", "--xxx-"), "; 2 such links are missing there, and 2 not expected: were cables moved?\n"
			 "; 2 such links are missing there, and 2 not expected: were cables moved?\n");
	ck_assert_str_eq(moves("xx--x-", "xx---x"), "; right/P6 (0x0000000000000200) is linked to host/P2 (0x0000000000000012), "
			 "which is not expected: was the cable moved?\n");
	ck_assert_str_eq(moves("xx--x-", "x----x"), "\n; right/P6 (0x0000000000000200) is linked to host/P2 "
			 "(0x0000000000000012), which is not expected: was the cable moved?\n");
}
END_TEST

/* promise: H9 */
START_TEST(bad_lines)
{
	static const char *const bad[] = {
		"", "node", "node 0x1 1", "node 0x0 1 x", "node 0x1 4 x", "node 0x1 0 x", "node 1 1 x",
		"node 0x1 1 0123456789012345678901234567890123456789012345678901234567890123456789",
		"link 0 1 1 1", "link 0 1 0", "link 0 300 0 1", "link 0 1 0 1 x", "knot",
	};
	struct expected *x = expected_new();

	ck_assert(expected_line(x, "node 0x7 2 a switch"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!expected_line(x, bad[i]), "%s", bad[i]);
	ck_assert(expected_line(x, "node 0x8 1 "));
	ck_assert(expected_line(x, "link 0 1 1 1"));
	expected_unref(x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("expected");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, as_expected);
	tcase_add_test(t, another_port);
	tcase_add_test(t, nodes);
	tcase_add_test(t, a_cable_that_was_moved_at_both_ends);
	tcase_add_test(t, bad_lines);
	suite_add_tcase(s, t);
	return run_suite(s);
}
