/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the auditor's findings on multicast trees.
 *
 * promise: V5
 */
#include <check.h>

#include "expect.h"
#include "sim/net/fields.h"
#include "unit/run.h"

#define MLID 0xc001u

/* H1, H3 and H5 by spine S4. */
static void group_up(void)
{
	static const char *const bits[] = {
		"S1/P1", "S2/P1", "S3/P1", "S1/P3", "S2/P3", "S3/P3", "S4/P1", "S4/P2", "S4/P3",
	};

	for (unsigned i = 0; i < ARRAY_SIZE(bits); i++)
		set_mft(the_fabric, bits[i], MLID, true);
}

START_TEST(mcast_clean)
{
	group_up();
	set_mft(the_fabric, "S2/P0", 0xc002, true);
	audit_all(0);
	expect_clean(30 * 16);
	ck_assert_uint_eq(the_audit.mcast_groups, 2);
}
END_TEST

START_TEST(mcast_not_connected)
{
	group_up();
	set_mft(the_fabric, "S4/P2", MLID, false);
	set_mft(the_fabric, "S2/P3", MLID, false);
	audit_all(0);
	expect(AUDIT_MCAST, 1, -1);
	expect_text("MLID 0xc001: the tree at S3/P0 is not connected with S2/P0's");
}
END_TEST

/* A switch drops MLIDs above MulticastFDBTop; 0 means no limit. */
START_TEST(mcast_above_top)
{
	uint32_t node = the_fabric->ports[port_named(the_fabric, "S4/P1")].node;
	struct sim_switch *s4 = &the_fabric->switches[the_fabric->nodes[node].sw];

	group_up();
	put_be16(s4->info + SI_MULTICAST_TOP, MLID);
	audit_all(0);
	expect_clean(30 * 16);
	put_be16(s4->info + SI_MULTICAST_TOP, MLID - 1);
	audit_all(0);
	expect_text("MLID 0xc001: S4/P0 drops it: it is above MulticastFDBTop");
	put_be16(s4->info + SI_MULTICAST_TOP, 0);
	audit_all(0);
	expect_clean(30 * 16);
}
END_TEST

START_TEST(mcast_one_way)
{
	group_up();
	set_mft(the_fabric, "S2/P3", MLID, false);
	audit_all(0);
	expect(AUDIT_MCAST, 1, -1);
	expect_text("MLID 0xc001: S4/P2 leads to a switch that does not forward back");
	/* No entry at all there. */
	set_mft(the_fabric, "S2/P1", MLID, false);
	audit_all(0);
	expect(AUDIT_MCAST, 1, -1);
}
END_TEST

START_TEST(mcast_one_way_twice)
{
	group_up();
	/* S5 has no entry, so there is no loop over it. */
	set_mft(the_fabric, "S1/P4", MLID, true);
	set_mft(the_fabric, "S2/P4", MLID, true);
	audit_all(0);
	expect(AUDIT_MCAST, 2, -1);
	expect_text("S1/P4 leads to a switch that does not forward back");
	expect_text("S2/P4 leads to a switch that does not forward back");
}
END_TEST

START_TEST(mcast_loop)
{
	group_up();
	set_mft(the_fabric, "S1/P4", MLID, true);
	set_mft(the_fabric, "S5/P1", MLID, true);
	audit_all(0);
	expect_clean(30 * 16);
	set_mft(the_fabric, "S2/P4", MLID, true);
	set_mft(the_fabric, "S5/P2", MLID, true);
	audit_all(0);
	expect(AUDIT_MCAST, 1, -1);
	expect_text("closes a loop");
}
END_TEST

START_TEST(mcast_leads_nowhere)
{
	group_up();
	the_fabric->switches[0].mft[1][3] = 1ULL << 63;
	the_fabric->ports[port_named(the_fabric, "S1/P2")].unplugged = true;
	set_mft(the_fabric, "S1/P2", MLID, true);
	the_fabric->ports[port_named(the_fabric, "H5/P1")].state = SIM_PORT_INIT;
	audit_all(1);
	ck_assert_uint_eq(the_audit.count[AUDIT_MCAST], 3);
	expect_text("MLID 0xc001: S1/P0 forwards to port 255 of 4");
	expect_text("MLID 0xc001: S1/P2 has no link");
	expect_text("MLID 0xc001: S3/P1 is not Active");
}
END_TEST

/* Each is a tree, but two go up again at a leaf: together they close a cycle, in both directions. */
START_TEST(mcast_credit_loop)
{
	static const char *const by_s2[] = { "S4/P2", "S2/P3", "S2/P4", "S5/P2" };
	static const char *const by_s1[] = { "S4/P1", "S1/P3", "S1/P4", "S5/P1" };
	static const char *const by_s4[] = { "S1/P3", "S4/P1", "S4/P2", "S2/P3" };
	static const char *const by_s5[] = { "S1/P4", "S5/P1", "S5/P2", "S2/P4" };

	for (unsigned i = 0; i < ARRAY_SIZE(by_s4); i++) {
		set_mft(the_fabric, by_s4[i], MLID + 2, true);
		set_mft(the_fabric, by_s5[i], MLID + 3, true);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(by_s2); i++)
		set_mft(the_fabric, by_s2[i], MLID, true);
	audit_all(1);
	expect_clean(30);
	for (unsigned i = 0; i < ARRAY_SIZE(by_s1); i++)
		set_mft(the_fabric, by_s1[i], MLID + 1, true);
	audit_all(1);
	expect(AUDIT_CREDIT_LOOP, 2, -1);
	expect_text("with multicast: VL 0: ");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcast");
	TCase *tree = tcase_create("tree");

	tcase_add_checked_fixture(tree, tree_up, fabric_free);
	tcase_add_test(tree, mcast_clean);
	tcase_add_test(tree, mcast_not_connected);
	tcase_add_test(tree, mcast_above_top);
	tcase_add_test(tree, mcast_one_way);
	tcase_add_test(tree, mcast_one_way_twice);
	tcase_add_test(tree, mcast_loop);
	tcase_add_test(tree, mcast_leads_nowhere);
	tcase_add_test(tree, mcast_credit_loop);
	suite_add_tcase(s, tree);
	return run_suite(s);
}
