/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the auditor's findings on dropped SLs, and on credit loops by VL.
 *
 * promise: V5
 */
#include <check.h>
#include <string.h>

#include "expect.h"
#include "unit/run.h"

START_TEST(vl15_hole_on_one_hop)
{
	/* H1 to H2 at the same leaf. */
	set_sl2vl(the_fabric, 0, 1, 2, 5, SIM_VL_DROP);
	audit_all(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("S1/P2 from P1: SL 5 dropped by VL15");
	ck_assert_uint_eq(the_audit.sls_connected, 0xffdf);
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 1);
}
END_TEST

START_TEST(vl15_hole_between_switches)
{
	/* At spine S4 from S1 to S2: H1, H2 to H3, H4. */
	set_sl2vl(the_fabric, 3, 1, 2, 5, SIM_VL_DROP);
	set_sl2vl(the_fabric, 3, 1, 2, 6, SIM_VL_DROP);
	audit_all(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("S4/P2 from P1: SL 5-6 dropped by VL15");
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 4 * 2);
	audit_all(0x000f);
	expect_clean(30 * 4);
}
END_TEST

START_TEST(vl15_hole_at_a_host)
{
	set_host_sl2vl(the_fabric, "H3/P1", 2, SIM_VL_DROP);
	audit_all(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("H3/P1: SL 2 dropped by VL15");
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 5);
}
END_TEST

START_TEST(vl_beyond_operational)
{
	set_sl2vl(the_fabric, 0, 3, 1, 9, 6);
	audit_all(0);
	expect(AUDIT_VL15, 1, -1);
	expect_text("S1/P1 from P3: SL 9 on VL 6, operational are 4");
}
END_TEST

START_TEST(sl_dropped_everywhere)
{
	for (uint32_t port = 0; port < the_fabric->n_ports; port++)
		if (the_fabric->ports[port].sl2vl)
			the_fabric->ports[port].sl2vl[7] |= 0x0f;
	audit_all(0);
	expect_clean(30 * 15);
	ck_assert_uint_eq(the_audit.sls, 0x7fff);
	/* If it is given as in use, it is a fault at each host. */
	audit_all(0x8001);
	expect(AUDIT_VL15, 6, -1);
}
END_TEST

/* On the way from S1 … to the spines and back. */
static void lose_between_leaves(unsigned leaves, unsigned sl)
{
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		for (unsigned host = 1; host <= 2; host++)
			for (unsigned up = 3; up <= 4; up++) {
				set_sl2vl(the_fabric, leaf, host, up, sl, SIM_VL_DROP);
				set_sl2vl(the_fabric, leaf, up, host, sl, SIM_VL_DROP);
			}
}

START_TEST(sl_of_the_fewer_paths)
{
	/* Of 30 pairs 6 stay within a leaf. */
	lose_between_leaves(3, 9);
	audit_all(0);
	expect_clean(30 * 15);
	ck_assert_uint_eq(the_audit.sls, 0xfdff);
	ck_assert_uint_eq(the_audit.sls_partial, 0x0200);
	expect_text("SLs of some paths 9; taken as not in use");
	/* By the SL of MasterSMSL all must get through. */
	the_fabric->ports[port_named(the_fabric, "H3/P1")].info[36] = 9;
	audit_all(0);
	ck_assert_uint_eq(the_audit.sls, 0xffff);
	ck_assert_uint_eq(the_audit.sls_partial, 0);
	ck_assert_uint_gt(the_audit.count[AUDIT_VL15], 0);
	ck_assert(!audit_clean(&the_audit));
}
END_TEST

START_TEST(sl_of_the_most_paths)
{
	/* S1's hosts are cut off: of 30 pairs 14 remain; with half of that way open, 22. */
	lose_between_leaves(1, 9);
	audit_all(0);
	expect_clean(30 * 15);
	for (unsigned host = 1; host <= 2; host++)
		for (unsigned up = 3; up <= 4; up++)
			set_sl2vl(the_fabric, 0, up, host, 9, 1);
	audit_all(0);
	ck_assert_uint_eq(the_audit.sls, 0xffff);
	ck_assert_uint_eq(the_audit.pairs - the_audit.connected, 8);
	ck_assert(!audit_clean(&the_audit));
}
END_TEST

START_TEST(no_sl_at_all)
{
	for (uint32_t port = 0; port < the_fabric->n_ports; port++)
		if (the_fabric->ports[port].sl2vl)
			memset(the_fabric->ports[port].sl2vl, 0xff, 8);
	audit_all(0);
	expect(AUDIT_VL15, 6, -1);
	ck_assert_uint_eq(the_audit.sls, 1);
	ck_assert_uint_eq(the_audit.connected, 0);
}
END_TEST

START_TEST(mapped_where_nobody_goes)
{
	/* Between the spines' links of a leaf there is no way in use. */
	set_sl2vl(the_fabric, 0, 3, 4, 9, 6);
	audit_all(0);
	expect_note("table: S1/P4: SL2VL maps SL 9 beyond the 4 operational VLs from 1 port");
	set_sl2vl(the_fabric, 0, 3, 4, 9, SIM_VL_DROP);
	audit_all(0);
	expect_clean(30 * 16);
}
END_TEST

/* --- credit loops --- */

START_TEST(ring_has_loops)
{
	unsigned n = (unsigned)_i;

	fabric_free();
	the_fabric = make_ring(n, 1);
	bring_up(the_fabric, 1, 0, SHORTEST);
	audit_all(0);
	/* Ways that are equally long all go the same way round. */
	expect(AUDIT_CREDIT_LOOP, n == 4 ? 1 : 2, -1);
	ck_assert_uint_eq(the_audit.connected, n * (n - 1) * 16);
	expect_text("VL 0: ");
	expect_text("S4/P2 -> S3/P2 -> S2/P2 -> S1/P2");
}
END_TEST

START_TEST(ring_along_tree)
{
	fabric_free();
	the_fabric = make_ring((unsigned)_i, 2);
	bring_up(the_fabric, 1, 0, ALONG_TREE);
	audit_all(0);
	expect_clean((uint64_t)_i * 2 * ((uint64_t)_i * 2 - 1) * 16);
}
END_TEST

START_TEST(ring_of_three)
{
	/* No way is longer than one link: nothing waits. */
	fabric_free();
	the_fabric = make_ring(3, 1);
	bring_up(the_fabric, 1, 0, SHORTEST);
	audit_all(0);
	expect_clean(6 * 16);
}
END_TEST

/* The VL of packets that arrive over the ring, at all switches. */
static void ring_vl(uint32_t sw, uint8_t vl)
{
	for (unsigned sl = 0; sl < 16; sl++) {
		set_sl2vl(the_fabric, sw, 2, 1, sl, vl);
		set_sl2vl(the_fabric, sw, 1, 2, sl, vl);
		set_sl2vl(the_fabric, sw, 3, 1, sl, 0);
		set_sl2vl(the_fabric, sw, 3, 2, sl, 0);
	}
}

START_TEST(two_vls_break_the_ring)
{
	unsigned n = (unsigned)_i;

	fabric_free();
	the_fabric = make_ring(n, 1);
	bring_up(the_fabric, 2, 0, SHORTEST);
	audit_all(0);
	expect(AUDIT_CREDIT_LOOP, n == 4 ? 2 : 4, -1);
	/* The second and last link of a way is on VL 1. */
	for (uint32_t sw = 0; sw < n; sw++)
		ring_vl(sw, 1);
	audit_all(0);
	expect_clean(n * (n - 1) * 16);
	ck_assert_uint_eq(the_audit.vls_used, 3);
}
END_TEST

START_TEST(ring_loops_on_vl_1_only)
{
	fabric_free();
	the_fabric = make_ring(7, 1);
	bring_up(the_fabric, 2, 0, SHORTEST);
	for (uint32_t sw = 0; sw < 7; sw++)
		ring_vl(sw, 1);
	audit_all(0);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("VL 1: ");
}
END_TEST

START_TEST(loop_over_two_vls)
{
	fabric_free();
	the_fabric = make_ring(6, 1);
	bring_up(the_fabric, 2, 0, SHORTEST);
	/* Packets leave odd switches on VL 0 and even ones on VL 1. */
	for (uint32_t sw = 0; sw < 6; sw++)
		for (unsigned in = 0; in <= 3; in++)
			for (unsigned sl = 0; sl < 16; sl++)
				for (unsigned out = 1; out <= 2; out++)
					set_sl2vl(the_fabric, sw, in, out, sl, sw % 2);
	audit_all(1);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("S2/P1 VL 1 -> S3/P1 VL 0 -> S4/P1 VL 1");
}
END_TEST

START_TEST(loop_on_one_sl_of_many)
{
	fabric_free();
	the_fabric = make_ring(5, 1);
	bring_up(the_fabric, 4, 0, SHORTEST);
	/* SL 0 takes VLs 0 and 1 as it should, SLs 2, 6 … stay on VL 2 all the way. */
	for (uint32_t sw = 0; sw < 5; sw++) {
		set_sl2vl(the_fabric, sw, 2, 1, 0, 1);
		set_sl2vl(the_fabric, sw, 1, 2, 0, 1);
	}
	audit_all(1);
	expect_clean(20);
	audit_all(0x0005);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("VL 2: ");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vls");
	TCase *tree = tcase_create("tree");
	TCase *ring = tcase_create("ring");

	tcase_add_checked_fixture(tree, tree_up, fabric_free);
	tcase_add_test(tree, vl15_hole_on_one_hop);
	tcase_add_test(tree, vl15_hole_between_switches);
	tcase_add_test(tree, vl15_hole_at_a_host);
	tcase_add_test(tree, vl_beyond_operational);
	tcase_add_test(tree, sl_dropped_everywhere);
	tcase_add_test(tree, sl_of_the_fewer_paths);
	tcase_add_test(tree, sl_of_the_most_paths);
	tcase_add_test(tree, no_sl_at_all);
	tcase_add_test(tree, mapped_where_nobody_goes);
	suite_add_tcase(s, tree);
	tcase_add_checked_fixture(ring, NULL, fabric_free);
	tcase_add_loop_test(ring, ring_has_loops, 4, 8);
	tcase_add_loop_test(ring, ring_along_tree, 4, 8);
	tcase_add_test(ring, ring_of_three);
	tcase_add_loop_test(ring, two_vls_break_the_ring, 4, 6);
	tcase_add_test(ring, ring_loops_on_vl_1_only);
	tcase_add_test(ring, loop_over_two_vls);
	tcase_add_test(ring, loop_on_one_sl_of_many);
	suite_add_tcase(s, ring);
	return run_suite(s);
}
