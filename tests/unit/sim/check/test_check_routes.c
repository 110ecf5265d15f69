/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the auditor's findings on routes that end early or come back, and the text of paths.
 *
 * promise: V5
 */
#include <check.h>
#include <string.h>

#include "expect.h"
#include "unit/run.h"

START_TEST(clean_tree)
{
	audit_all(0);
	expect_clean(6 * 5 * 16);
	ck_assert_uint_eq(the_audit.end_ports, 6);
	ck_assert_uint_eq(the_audit.links, 12);
	ck_assert_uint_eq(the_audit.links_active, 12);
	ck_assert_uint_eq(the_audit.hops_max, 3);
	/* Of five others one is at the same leaf. */
	ck_assert_double_eq_tol(the_audit.hops_mean, (1 + 4 * 3) / 5.0, 1e-9);
	ck_assert_uint_eq(the_audit.sls, 0xffff);
	ck_assert_uint_eq(the_audit.sls_connected, 0xffff);
	ck_assert_uint_eq(the_audit.vls_used, 0x000f);
	ck_assert_uint_eq(the_audit.mcast_groups, 0);
}
END_TEST

START_TEST(switches_as_ends)
{
	struct audit_options o = { .sls = 1, .switches = true };

	audit_run(the_fabric, &o, &the_audit);
	expect_clean(11 * 10);
	ck_assert_uint_eq(the_audit.end_ports, 11);
}
END_TEST

START_TEST(lmc_ranges)
{
	fabric_free();
	the_fabric = make_tree(3, 2, 2);
	bring_up(the_fabric, 4, 2, SHORTEST);
	audit_all(0x8001);
	expect_clean(6 * 5 * 4 * 2);
	/* One of the other LIDs of a port. */
	set_lft(the_fabric, "S2/P0", lid_of(the_fabric, "H1/P1") + 3, SIM_LFT_DROP);
	audit_all(0x8001);
	expect(AUDIT_UNREACHABLE, 1, -1);
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 2 * 2);
}
END_TEST

START_TEST(back_to_back)
{
	fabric_free();
	the_fabric = simfab_new();
	add_host(the_fabric, add_free_host(the_fabric), 1);
	bring_up(the_fabric, 1, 0, SHORTEST);
	audit_all(1);
	expect_clean(2);
	ck_assert_uint_eq(the_audit.hops_max, 0);
}
END_TEST

/* --- planted --- */

START_TEST(lft_entry_missing)
{
	set_lft(the_fabric, "S2/P0", lid_of(the_fabric, "H1/P1"), SIM_LFT_DROP);
	audit_all(1);
	expect(AUDIT_UNREACHABLE, 1, -1);
	expect_text("(H1/P1): S2/P0: no LFT entry; cut off from 2 end ports");
	ck_assert_uint_eq(the_audit.connected, 28);
}
END_TEST

START_TEST(lft_entry_to_wrong_host)
{
	set_lft(the_fabric, "S1/P0", lid_of(the_fabric, "H1/P1"), 2);
	audit_all(1);
	expect(AUDIT_UNREACHABLE, 1, -1);
	expect_text("S1/P2 leads to H2/P1");
	expect_text("cut off from 5 end ports");
	ck_assert_uint_eq(the_audit.connected, 25);
}
END_TEST

START_TEST(lft_entry_beyond_ports)
{
	set_lft(the_fabric, "S4/P0", lid_of(the_fabric, "H1/P1"), 77);
	audit_all(1);
	expect(AUDIT_UNREACHABLE, 1, -1);
	expect_text("S4/P0: LFT entry is 77, beyond its 3 ports; cut off from 4 end ports");
}
END_TEST

START_TEST(lft_entry_to_port_0)
{
	set_lft(the_fabric, "S4/P0", lid_of(the_fabric, "H1/P1"), 0);
	audit_all(1);
	expect(AUDIT_UNREACHABLE, 1, -1);
	expect_text("S4/P0: LFT entry is 0");
}
END_TEST

START_TEST(lft_top_too_low)
{
	the_fabric->switches[0].lft_top = lid_of(the_fabric, "H5/P1");
	audit_all(1);
	expect(AUDIT_UNREACHABLE, 1, -1);
	expect_text("(H6/P1): S1/P0: LinearFDBTop is");
	ck_assert_uint_eq(the_audit.connected, 28);
}
END_TEST

START_TEST(lft_loop)
{
	/* S4 sends what is for H1 to S2, which sends it to S4. */
	set_lft(the_fabric, "S4/P0", lid_of(the_fabric, "H1/P1"), 2);
	audit_all(1);
	expect(AUDIT_LOOP, 1, -1);
	expect_text("(H1/P1): S2/P3 -> S4/P2 -> S2/P3; cut off from 4 end ports");
	ck_assert_uint_eq(the_audit.connected, 26);
}
END_TEST

START_TEST(two_ends_and_a_loop)
{
	uint16_t lid = lid_of(the_fabric, "H1/P1");

	set_lft(the_fabric, "S1/P0", lid, SIM_LFT_DROP);	/* H2 */
	set_lft(the_fabric, "S2/P0", lid, 4);			/* H3, H4: S2 -> S5 -> S3 … */
	set_lft(the_fabric, "S5/P0", lid, 3);
	set_lft(the_fabric, "S3/P0", lid, 4);			/* … H5, H6: S3 -> S5 */
	audit_all(1);
	expect(AUDIT_LOOP, 1, AUDIT_UNREACHABLE);
	ck_assert_uint_eq(the_audit.count[AUDIT_UNREACHABLE], 1);
	expect_text("no LFT entry; cut off from 1 end port\n");
	expect_text("S5/P3 -> S3/P4 -> S5/P3; cut off from 4 end ports");
}
END_TEST

/* --- how it is told --- */

START_TEST(told_and_counted)
{
	struct audit_options o = { .sls = 1, .findings_max = 3 };

	for (uint32_t i = 0; i < the_fabric->n_ports; i++)
		the_fabric->ports[i].lid = 0;
	audit_run(the_fabric, &o, &the_audit);
	ck_assert_uint_eq(the_audit.count[AUDIT_LID], 11 + 1);
	ck_assert_uint_eq(the_audit.findings.n, 3);
	ck_assert_uint_eq(the_audit.pairs, 0);
	expect_text("lid: 12\n");
	expect_text("  and 9 more\n");
}
END_TEST

static void expect_path(const char *from, uint16_t lid, unsigned sl, const char *text)
{
	struct audit_path path;
	struct buf out = { 0 };

	audit_path(the_fabric, port_named(the_fabric, from), lid, sl, 0, &path);
	audit_path_print(the_fabric, &path, &out);
	ck_assert_str_eq(out.n ? out.s : "", text);
	audit_path_free(&path);
	buf_free(&out);
}

START_TEST(path_in_words)
{
	uint16_t h1 = lid_of(the_fabric, "H1/P1");

	set_sl2vl(the_fabric, 3, 2, 1, 6, 1);
	expect_path("H3/P1", h1, 6, "H3/P1 -> S2/P1 VL 2\nS2/P3 -> S4/P2 VL 2\n"
		    "S4/P1 -> S1/P3 VL 1\nS1/P1 -> H1/P1 VL 2\n");
	expect_path("S5/P0", lid_of(the_fabric, "S1/P0"), 3, "S5/P1 -> S1/P4 VL 3\n");
	expect_path("H1/P1", h1, 0, "");
	set_sl2vl(the_fabric, 3, 2, 1, 6, SIM_VL_DROP);
	expect_path("H3/P1", h1, 6, "H3/P1 -> S2/P1 VL 2\nS2/P3 -> S4/P2 VL 2\n"
		    "S4/P1: SL 6 is mapped to VL 15: dropped\n");
	set_sl2vl(the_fabric, 3, 2, 1, 6, 5);
	expect_path("H3/P1", h1, 6, "H3/P1 -> S2/P1 VL 2\nS2/P3 -> S4/P2 VL 2\n"
		    "S4/P1: SL 6 is mapped to VL 5, but 4 are operational: dropped\n");
	set_lft(the_fabric, "S4/P0", h1, SIM_LFT_DROP);
	expect_path("H3/P1", h1, 6, "H3/P1 -> S2/P1 VL 2\nS2/P3 -> S4/P2 VL 2\n"
		    "S4/P0: no LFT entry\n");
	set_lft(the_fabric, "S2/P0", h1, 2);
	expect_path("H3/P1", h1, 0, "H3/P1 -> S2/P1 VL 0\nS2/P2 -> H4/P1 VL 0\n"
		    "S2/P2 leads to H4/P1, which does not have LID 6\n");
	the_fabric->ports[port_named(the_fabric, "H3/P1")].state = SIM_PORT_INIT;
	expect_path("H3/P1", h1, 0, "H3/P1 is Init, S2/P1 is Active\n");
	expect_path("H3/P1", 0, 0, "no path: SL 0, LID 0 from H3/P1\n");
	expect_path("S1/P1", h1, 0, "no path: SL 0, LID 6 from S1/P1\n");
}
END_TEST

START_TEST(path_that_loops)
{
	uint16_t h1 = lid_of(the_fabric, "H1/P1");
	struct audit_path path;

	set_lft(the_fabric, "S4/P0", h1, 2);
	audit_path(the_fabric, port_named(the_fabric, "H3/P1"), h1, 0, 0, &path);
	ck_assert_ptr_nonnull(strstr(path.lost, "a loop"));
	audit_path_free(&path);
}
END_TEST

START_TEST(path_as_data)
{
	struct audit_path path;

	audit_path(the_fabric, port_named(the_fabric, "H1/P1"), lid_of(the_fabric, "H2/P1"), 7, 0,
		   &path);
	ck_assert_ptr_null(path.lost);
	ck_assert_uint_eq(path.hops.n, 2);
	ck_assert_uint_eq(path.hops.v[0].from, port_named(the_fabric, "H1/P1"));
	ck_assert_uint_eq(path.hops.v[1].from, port_named(the_fabric, "S1/P2"));
	ck_assert_uint_eq(path.hops.v[1].to, port_named(the_fabric, "H2/P1"));
	ck_assert_uint_eq(path.hops.v[1].vl, 3);
	audit_path_free(&path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("routes");
	TCase *tree = tcase_create("tree");

	tcase_add_checked_fixture(tree, tree_up, fabric_free);
	tcase_add_test(tree, clean_tree);
	tcase_add_test(tree, switches_as_ends);
	tcase_add_test(tree, lmc_ranges);
	tcase_add_test(tree, back_to_back);
	tcase_add_test(tree, lft_entry_missing);
	tcase_add_test(tree, lft_entry_to_wrong_host);
	tcase_add_test(tree, lft_entry_beyond_ports);
	tcase_add_test(tree, lft_entry_to_port_0);
	tcase_add_test(tree, lft_top_too_low);
	tcase_add_test(tree, lft_loop);
	tcase_add_test(tree, two_ends_and_a_loop);
	tcase_add_test(tree, told_and_counted);
	tcase_add_test(tree, path_in_words);
	tcase_add_test(tree, path_that_loops);
	tcase_add_test(tree, path_as_data);
	suite_add_tcase(s, tree);
	return run_suite(s);
}
