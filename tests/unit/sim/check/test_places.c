/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the auditor's findings on single ports and links: values at their ends, LIDs, tables.
 *
 * promise: V5
 */
#include <check.h>
#include <string.h>

#include "expect.h"
#include "unit/run.h"

START_TEST(half_configured_link)
{
	the_fabric->ports[port_named(the_fabric, "S2/P4")].state = SIM_PORT_INIT;
	audit_all(1);
	expect(AUDIT_LINK, 1, AUDIT_UNREACHABLE);
	expect_text("S2/P4 and S5/P2: Init and Active");
	ck_assert_uint_eq(the_audit.links_active, 11);
}
END_TEST

START_TEST(half_configured_host)
{
	the_fabric->ports[port_named(the_fabric, "H3/P1")].state = SIM_PORT_ARMED;
	audit_all(1);
	expect(AUDIT_LINK, 1, AUDIT_UNREACHABLE);
	expect_text("S2/P1 and H3/P1: Active and Armed");
	/* The port receives but does not send. */
	ck_assert_uint_eq(the_audit.count[AUDIT_UNREACHABLE], 1);
	expect_text("H3/P1 is Armed behind S2/P1: it reaches 0 of 5 LIDs");
	ck_assert_uint_eq(the_audit.connected, 25);
}
END_TEST

START_TEST(unconfigured_host)
{
	the_fabric->ports[port_named(the_fabric, "H3/P1")].state = SIM_PORT_INIT;
	the_fabric->ports[port_named(the_fabric, "S2/P1")].state = SIM_PORT_INIT;
	audit_all(1);
	expect(AUDIT_LINK, 1, AUDIT_UNREACHABLE);
	ck_assert_uint_eq(the_audit.count[AUDIT_UNREACHABLE], 2);
	expect_text("(H3/P1): S2/P1 is Init, H3/P1 is Init; cut off from 5 end ports");
	ck_assert_uint_eq(the_audit.connected, 20);
}
END_TEST

START_TEST(unplugged_link)
{
	the_fabric->ports[port_named(the_fabric, "H3/P1")].unplugged = true;
	the_fabric->ports[port_named(the_fabric, "S4/P1")].unplugged = true;
	audit_all(1);
	/* H3 is gone, which is no fault; packets over S4's link are lost. */
	ck_assert_uint_eq(the_audit.end_ports, 5);
	ck_assert_uint_eq(the_audit.links, 10);
	ck_assert_uint_eq(the_audit.pairs, 20);
	expect_text("S4/P1 has no link");
	expect_text("S1/P3 has no link");
}
END_TEST

START_TEST(ends_disagree)
{
	struct sim_port *p = &the_fabric->ports[port_named(the_fabric, "S4/P1")];

	p->mtu = 5;
	p->op_vls = 8;
	p->info[31] = SIM_WIDTH_1X;
	p->arb_low[9 * 2] = 4;
	audit_all(1);
	expect(AUDIT_LINK, 1, -1);
	expect_text("S1/P3 and S4/P1: OperationalVLs 4 and 8; NeighborMTU 2048 and 4096; "
		    "LinkWidthActive 2 and 1");
}
END_TEST

START_TEST(high_limits_disagree)
{
	the_fabric->ports[port_named(the_fabric, "S4/P1")].info[38] = 7;
	the_fabric->ports[port_named(the_fabric, "H1/P1")].info[38] = 8;	/* its own affair */
	audit_all(1);
	expect_note("link: S1/P3 and S4/P1: VLHighLimit 0 and 7");
}
END_TEST

START_TEST(vls_disagree)
{
	/* S1 has 4 VLs towards S4, which has 2: S4 does not receive VLs 2 and 3. */
	the_fabric->ports[port_named(the_fabric, "S4/P1")].op_vls = 2;
	audit_all(0x0003);
	expect(AUDIT_LINK, 1, -1);
	audit_all(0x0007);
	ck_assert_uint_eq(the_audit.count[AUDIT_LINK], 1);
	ck_assert_uint_gt(the_audit.count[AUDIT_VL15], 0);
	expect_text("S1/P3 from P1: SL 2 on VL 2, operational are 2");
	expect_text("S4/P1 from P2: SL 2 on VL 2, operational are 2");
}
END_TEST

/* --- LIDs --- */

START_TEST(doubled_lid)
{
	uint16_t lid = lid_of(the_fabric, "S5/P0");

	the_fabric->ports[port_named(the_fabric, "S4/P0")].lid = lid;
	audit_all(1);
	expect(AUDIT_LID, 1, -1);
	expect_text("S5/P0 has LID 5, as does S4/P0");
}
END_TEST

START_TEST(lid_missing_or_out_of_range)
{
	the_fabric->ports[port_named(the_fabric, "S4/P0")].lid = 0;
	the_fabric->ports[port_named(the_fabric, "S5/P0")].lid = 0xc000;
	audit_all(1);
	expect(AUDIT_LID, 2, -1);
	expect_text("S4/P0 has no LID");
	expect_text("S5/P0: LID 49152, LMC 0 is beyond unicast LIDs");
}
END_TEST

START_TEST(lmc_overlap)
{
	/* LIDs 1, 2, 3, 4, 5 are the switches'. */
	the_fabric->ports[port_named(the_fabric, "S2/P0")].lmc = 1;
	audit_all(1);
	expect(AUDIT_LID, 1, -1);
	expect_text("S3/P0 (LID 3, LMC 0) overlaps S2/P0 (LID 2, LMC 1)");
	the_fabric->ports[port_named(the_fabric, "S2/P0")].lmc = 0;
	the_fabric->ports[port_named(the_fabric, "S5/P0")].lid = 0xbfff;
	the_fabric->ports[port_named(the_fabric, "S5/P0")].lmc = 1;
	audit_all(1);
	expect(AUDIT_LID, 1, -1);
}
END_TEST

START_TEST(sm_lid_differs)
{
	the_fabric->ports[port_named(the_fabric, "H2/P1")].sm_lid = 3;
	audit_all(1);
	expect(AUDIT_LID, 1, -1);
	expect_text("H2/P1 has SM LID 3, most have");
	for (uint32_t i = 0; i < the_fabric->n_ports; i++)
		the_fabric->ports[i].sm_lid = 1234;
	audit_all(1);
	expect(AUDIT_LID, 1, -1);
	expect_text("SM LID 1234, which most ports have, belongs to no port");
}
END_TEST

/* --- tables --- */

START_TEST(vlarb_all_zero)
{
	memset(the_fabric->ports[port_named(the_fabric, "S1/P3")].arb_low, 0, 128);
	audit_all(0);
	expect(AUDIT_TABLE, 1, -1);
	expect_text("S1/P3: VL 0-3 is used, but VLArb never lets it send");
	/* With one VL there is nothing to arbitrate. */
	fabric_free();
	the_fabric = make_tree(3, 2, 2);
	bring_up(the_fabric, 1, 0, SHORTEST);
	memset(the_fabric->ports[port_named(the_fabric, "S1/P3")].arb_low, 0, 128);
	audit_all(0);
	expect_clean(30 * 16);
}
END_TEST

START_TEST(vlarb_starves_one_vl)
{
	struct sim_port *p = &the_fabric->ports[port_named(the_fabric, "H4/P1")];

	p->arb_low[2 * 2 + 1] = 0;
	audit_all(0);
	expect(AUDIT_TABLE, 1, -1);
	expect_text("H4/P1: VL 2 is used, but VLArb never lets it send");
	/* No SL in use is on it. */
	audit_all(0x000b);
	expect_clean(30 * 3);
	/* The other table has it. */
	p->arb_high[0] = 2;
	p->arb_high[1] = 1;
	audit_all(0);
	expect_clean(30 * 16);
	/* … but the entry is beyond what the port has. */
	p->arb_high[16 * 2] = 2;
	p->arb_high[16 * 2 + 1] = 1;
	p->arb_high[1] = 0;
	audit_all(0);
	expect(AUDIT_TABLE, 1, -1);
}
END_TEST

START_TEST(vlarb_of_missing_vl)
{
	struct sim_port *p = &the_fabric->ports[port_named(the_fabric, "S5/P2")];

	p->arb_high[2] = 5;
	p->arb_high[3] = 1;
	audit_all(0);
	expect_note("table: S5/P2: VLArb high gives weight to VL 5, operational are 4");
}
END_TEST

START_TEST(vlarb_as_at_power_on)
{
	struct sim_port *p = &the_fabric->ports[port_named(the_fabric, "S5/P2")];

	/* The device has 8 VLs and shares evenly, the link has 4. */
	p->info[37] = 4 << 4;
	for (unsigned vl = 0; vl < 8; vl++) {
		p->arb_low[2 * vl] = (uint8_t)vl;
		p->arb_low[2 * vl + 1] = 10;
	}
	audit_all(0);
	expect_clean(30 * 16);
	p->arb_low[2 * 7 + 1] = 11;
	audit_all(0);
	expect_note("table: S5/P2: VLArb low gives weight to VL 4-7, operational are 4");
}
END_TEST

START_TEST(default_pkey_missing)
{
	the_fabric->ports[port_named(the_fabric, "H1/P1")].pkeys[1] = 0x8001;
	audit_all(0);
	expect(AUDIT_TABLE, 1, -1);
	expect_text("H1/P1: the default P_Key is missing");
	the_fabric->ports[port_named(the_fabric, "H1/P1")].pkeys[1] = 0xffff;
	the_fabric->ports[port_named(the_fabric, "S1/P1")].pkey_in = true;
	audit_all(0);
	expect(AUDIT_TABLE, 1, -1);
	expect_text("S1/P1: the default P_Key is missing, and is enforced");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("places");
	TCase *tree = tcase_create("tree");

	tcase_add_checked_fixture(tree, tree_up, fabric_free);
	tcase_add_test(tree, half_configured_link);
	tcase_add_test(tree, half_configured_host);
	tcase_add_test(tree, unconfigured_host);
	tcase_add_test(tree, unplugged_link);
	tcase_add_test(tree, ends_disagree);
	tcase_add_test(tree, high_limits_disagree);
	tcase_add_test(tree, vls_disagree);
	tcase_add_test(tree, doubled_lid);
	tcase_add_test(tree, lid_missing_or_out_of_range);
	tcase_add_test(tree, lmc_overlap);
	tcase_add_test(tree, sm_lid_differs);
	tcase_add_test(tree, vlarb_all_zero);
	tcase_add_test(tree, vlarb_starves_one_vl);
	tcase_add_test(tree, vlarb_of_missing_vl);
	tcase_add_test(tree, vlarb_as_at_power_on);
	tcase_add_test(tree, default_pkey_missing);
	suite_add_tcase(s, tree);
	return run_suite(s);
}
