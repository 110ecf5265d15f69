/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests traps: their contents, how often devices repeat them, and what stops them.
 *
 * promise: V2
 */
#include <check.h>
#include <stdlib.h>

#include "smp_test.h"
#include "unit/run.h"

#define S 1000000
#define INTERVAL 1073741	/* SubnetTimeOut is 18: 4.096 us * 2^18, microseconds */

static uint8_t data[SMP_DATA_SIZE];
static const uint8_t *notice;	/* the last of those counted */

static unsigned heard_of(unsigned trap)
{
	notice = NULL;
	return traps_heard(trap, &notice);
}

static void forget(void)
{
	n_heard = 0;
}

static void ready(void)
{
	default_setup();
	bring_up();
	forget();
}

static void repress(const char *path, const uint8_t *what)
{
	struct packet p = smp_packet(path, METHOD_TRAP_REPRESS, ATTR_NOTICE, 0, what);

	wire_send(sim, ca_a, &p);
	pass_us(0);
}

START_TEST(link_state)
{
	cable_plug(sim, ca_b, false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(128), 1);
	ck_assert_uint_eq(heard_at[0], ca_a);
	ck_assert_uint_eq(heard[0].slid, 12);
	ck_assert_uint_eq(heard[0].dlid, 1);
	ck_assert_uint_eq(heard[0].mad[MAD_CLASS], CLASS_SM_LID);
	ck_assert_uint_eq(notice[0], 0x81);		/* generic, urgent */
	ck_assert_uint_eq(notice[NOTICE_PRODUCER + 2], SIM_SWITCH);
	ck_assert_uint_eq(get_be16(notice + NOTICE_ISSUER_LID), 12);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS), 12);
}
END_TEST

START_TEST(repeated_until_repressed)
{
	uint8_t copy[SMP_DATA_SIZE];

	cable_plug(sim, ca_b, false);
	pass_us(0);
	pass_us(INTERVAL - 1);
	ck_assert_uint_eq(heard_of(128), 1);
	pass_us(1);
	ck_assert_uint_eq(heard_of(128), 2);
	pass_us(3 * INTERVAL);
	ck_assert_uint_eq(heard_of(128), 5);
	memcpy(copy, notice, sizeof(copy));
	copy[NOTICE_DETAILS]++;
	repress("1.2", copy);	/* some other notice */
	pass_us(INTERVAL);
	ck_assert_uint_eq(heard_of(128), 6);
	memcpy(copy, notice, sizeof(copy));
	repress("1.2", copy);
	pass_us(10 * INTERVAL);
	ck_assert_uint_eq(heard_of(128), 6);
	/* The next event is reported at once. */
	cable_plug(sim, ca_b, true);
	pass_us(20000);
	ck_assert_uint_eq(heard_of(128), 7);
}
END_TEST

START_TEST(not_for_ever)
{
	cable_plug(sim, ca_b, false);
	for (unsigned i = 0; i < 100; i++)
		pass_us(INTERVAL);
	ck_assert_uint_eq(heard_of(128), 30);
	ck_assert_int_eq(sim_run(sim, sim_now(sim)), -1);
}
END_TEST

START_TEST(only_to_a_known_manager)
{
	put_be16(info_of("sw2/P0") + PI_SM_LID, 0);
	port_sync(sim, sw2);
	cable_plug(sim, ca_b, false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(128), 0);
	/* It comes as soon as there is one. */
	put_be16(info_of("sw2/P0") + PI_SM_LID, 1);
	port_sync(sim, sw2);
	pass_us(INTERVAL);
	ck_assert_uint_eq(heard_of(128), 1);
}
END_TEST

START_TEST(subnet_timeout_is_the_pace)
{
	info_of("sw2/P0")[PI_REREG_SUBNET_TIMEOUT] = 31;	/* hours: 5 s at most */
	cable_plug(sim, ca_b, false);
	pass_us(0);
	pass_us(15 * S);
	ck_assert_uint_eq(heard_of(128), 4);
	forget();
	info_of("sw2/P0")[PI_REREG_SUBNET_TIMEOUT] = 0;		/* 50 ms at least */
	pass_us(5 * S);
	pass_us(S / 2);
	ck_assert_uint_eq(heard_of(128), 11);
}
END_TEST

START_TEST(both_ends_of_a_link_tell)
{
	cable_plug(sim, port_of("sw1/P3"), false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(128), 2);
	forget();
	/* By a Set: the far end only, and both when it comes up. */
	for (unsigned i = 0; i < 2; i++)
		notices_drop(sim, i ? sw1 : sw2);
	cable_plug(sim, port_of("sw1/P3"), true);
	pass_us(20000);
	for (unsigned i = 0; i < 2; i++)
		notices_drop(sim, i ? sw1 : sw2);
	forget();
	memcpy(data, info_of("sw1/P3"), sizeof(data));
	set_low4(data + PI_SPEED_SUP_STATE, SIM_PORT_DOWN);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	ck_assert_uint_eq(smp_set("1", ATTR_PORT_INFO, 3, data), STATUS_OK);
	ck_assert_uint_eq(heard_of(128), 1);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS), 12);
	pass_us(20000);
	ck_assert_uint_eq(heard_of(128), 3);
}
END_TEST

START_TEST(thresholds)
{
	for (unsigned trap = 129; trap <= 131; trap++) {
		ck_assert(device_threshold(sim, sw2 + 3, trap));
		pass_us(0);
		ck_assert_uint_eq(heard_of(trap), 1);
		ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS + 2), 12);
		ck_assert_uint_eq(notice[NOTICE_DETAILS + 4], 3);
	}
	ck_assert(!device_threshold(sim, sw2 + 3, 128));
	ck_assert_uint_eq(fabric->ports[sw2 + 3].counters->local_integrity, 1);
	ck_assert_uint_eq(fabric->ports[sw2 + 3].counters->buffer_overrun, 1);
}
END_TEST

START_TEST(capability_mask)
{
	device_set_issm(sim, ca_b, true);
	pass_us(0);
	ck_assert_uint_eq(heard_of(144), 1);
	ck_assert_uint_eq(notice[0], 0x84);		/* informational */
	ck_assert_uint_eq(notice[NOTICE_PRODUCER + 2], SIM_CA);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS + 2), 2);
	ck_assert_uint_eq(notice[NOTICE_DETAILS + 5], 0);
	ck_assert(get_be32(notice + NOTICE_DETAILS + 6) & CAP_IS_SM);
	device_set_issm(sim, ca_b, true);
	pass_us(0);
	ck_assert_uint_eq(heard_of(144), 1);
	device_set_issm(sim, ca_b, false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(144), 2);
	ck_assert(!(get_be32(notice + NOTICE_DETAILS + 6) & CAP_IS_SM));
}
END_TEST

START_TEST(node_description)
{
	device_rename(sim, fabric->ports[ca_b].node, "another name");
	pass_us(0);
	ck_assert_uint_eq(heard_of(144), 1);
	ck_assert_uint_eq(notice[NOTICE_DETAILS + 5], 1);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS + 10), CHANGE_NODE_DESCRIPTION);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_DESCRIPTION, 0, data), STATUS_OK);
	ck_assert_str_eq((char *)data, "another name");
}
END_TEST

START_TEST(system_image_guid)
{
	device_set_system_guid(sim, fabric->ports[ca_b].node, 0xabcdef);
	pass_us(0);
	ck_assert_uint_eq(heard_of(145), 1);
	ck_assert_uint_eq(get_be64(notice + NOTICE_DETAILS + 6), 0xabcdef);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data + NI_SYSTEM_GUID), 0xabcdef);
}
END_TEST

START_TEST(bad_mkey)
{
	device_set_mkey(sim, ca_b, 0x1111, 2, 0);
	smp_key = 0x2222;
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_PKEY_TABLE, 0x10002, data), NO_ANSWER);
	ck_assert_uint_eq(heard_of(256), 1);
	ck_assert_uint_eq(notice[0], 0x82);		/* security */
	notice += NOTICE_DETAILS;
	ck_assert_uint_eq(get_be16(notice + 2), 0xffff);
	ck_assert_uint_eq(get_be16(notice + 4), 0xffff);
	ck_assert_uint_eq(notice[6], METHOD_GET);
	ck_assert_uint_eq(get_be16(notice + 8), ATTR_PKEY_TABLE);
	ck_assert_uint_eq(get_be32(notice + 10), 0x10002);
	ck_assert_uint_eq(get_be64(notice + 14), 0x2222);
	ck_assert_uint_eq(notice[23], 0x80 | 3);	/* three hops back */
	ck_assert_uint_eq(notice[24], 1);
	ck_assert_uint_eq(notice[25], 1);
	ck_assert_uint_eq(notice[26], 1);
}
END_TEST

START_TEST(bad_mkeys_do_not_flood)
{
	device_set_mkey(sim, ca_b, 0x1111, 2, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct packet p = smp_packet("1.2.2", METHOD_GET, ATTR_PKEY_TABLE, i, NULL);

		wire_send(sim, ca_a, &p);
		pass_us(10);
	}
	ck_assert_uint_eq(heard_of(256), 1);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, 1000);
	pass_us(INTERVAL);
	ck_assert_uint_le(heard_of(256), 1 + 16);
}
END_TEST

START_TEST(bad_keys_of_data)
{
	struct packet p = { .slid = 1, .dlid = 2, .sl = 3, .sqpn = 1, .dqpn = 1,
			    .qkey = 0x80010000, .pkey = 0x8005, .grh = true };

	p.sgid[15] = 1;
	p.dgid[15] = 2;
	p.mad[MAD_CLASS] = CLASS_SA;
	wire_send(sim, ca_a, &p);
	pass_us(0);
	ck_assert_uint_eq(heard_of(257), 1);
	notice += NOTICE_DETAILS;
	ck_assert_uint_eq(get_be16(notice + 2), 1);
	ck_assert_uint_eq(get_be16(notice + 4), 2);
	ck_assert_uint_eq(get_be32(notice + 6), 0x8005);
	ck_assert_uint_eq(get_be32(notice + 10), 3u << 28 | 1);
	ck_assert_uint_eq(get_be32(notice + 14), 1);
	ck_assert_uint_eq(notice[33], 1);
	ck_assert_uint_eq(notice[49], 2);
	notices_drop(sim, ca_b);
	device_bad_qkey(sim, ca_b, &p);
	pass_us(0);
	ck_assert_uint_eq(heard_of(258), 1);
	ck_assert_uint_eq(get_be32(notice + NOTICE_DETAILS + 6), 0x80010000);
}
END_TEST

START_TEST(bad_pkey_at_a_switch)
{
	struct packet p = { .slid = 1, .dlid = 2, .sqpn = 1, .dqpn = 1, .pkey = 0x8005 };
	uint8_t *capmask = info_of("sw2/P0") + PI_CAPMASK;

	device_bad_pkey(sim, sw2 + 2, &p);
	pass_us(0);
	ck_assert_uint_eq(heard_of(259), 0);	/* not every switch has that */
	ck_assert_uint_eq(fabric->ports[sw2 + 2].pkey_violations, 1);
	put_be32(capmask, get_be32(capmask) | CAP_PKEY_SWITCH_TRAP);
	device_bad_pkey(sim, sw2 + 2, &p);
	pass_us(0);
	ck_assert_uint_eq(heard_of(259), 1);
	notice += NOTICE_DETAILS;
	ck_assert_uint_eq(get_be16(notice + 6), 0x8005);
	ck_assert_uint_eq(get_be16(notice + 48), 12);
	ck_assert_uint_eq(notice[50], 2);
}
END_TEST

START_TEST(repress_needs_the_mkey)
{
	uint8_t copy[SMP_DATA_SIZE];

	device_set_mkey(sim, sw2, 0x1111, 1, 0);
	cable_plug(sim, ca_b, false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(128), 1);
	memcpy(copy, notice, sizeof(copy));
	repress("1.2", copy);
	pass_us(INTERVAL);
	ck_assert_uint_eq(heard_of(128), 2);
	smp_key = 0x1111;
	repress("1.2", copy);
	pass_us(5 * INTERVAL);
	ck_assert_uint_eq(heard_of(128), 2);
}
END_TEST

START_TEST(notice_queue)
{
	uint8_t *capmask = info_of("sw2/P0") + PI_CAPMASK;

	put_be32(capmask, get_be32(capmask) | CAP_NOTICE);
	ck_assert_uint_eq(smp_get("1.2", ATTR_NOTICE, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[0], 0xff);		/* empty */
	cable_plug(sim, ca_b, false);
	device_threshold(sim, sw2 + 3, 129);
	ck_assert_uint_eq(smp_get("1.2", ATTR_NOTICE, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + NOTICE_TRAP), 128);
	ck_assert_uint_eq(get_be16(data + NOTICE_TOGGLE_COUNT), 2);
	ck_assert_uint_eq(smp_set("1.2", ATTR_NOTICE, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + NOTICE_TRAP), 129);
	ck_assert_uint_eq(get_be16(data + NOTICE_TOGGLE_COUNT), 0x8001);
	/* A Set that was lost and repeated has no effect. */
	put_be16(data + NOTICE_TOGGLE_COUNT, 2);
	ck_assert_uint_eq(smp_set("1.2", ATTR_NOTICE, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + NOTICE_TRAP), 129);
}
END_TEST

START_TEST(silent_and_dead_devices_send_none)
{
	node_of(fabric, sw2)->silent = true;
	cable_plug(sim, ca_b, false);
	pass_us(0);
	ck_assert_uint_eq(heard_of(128), 0);
	node_of(fabric, sw2)->silent = false;
	device_power(sim, fabric->ports[sw2].node, false);
	pass_us(0);
	pass_us(3 * INTERVAL);
	for (unsigned i = 0; i < n_heard; i++)
		ck_assert_uint_eq(heard[i].slid, 11);	/* sw1 sends the trap */
	ck_assert_uint_gt(n_heard, 0);
}
END_TEST

START_TEST(reset_forgets)
{
	device_set_issm(sim, ca_b, true);
	pass_us(0);
	device_reset(sim, fabric->ports[ca_b].node);
	pass_us(20000);
	forget();
	pass_us(5 * INTERVAL);
	ck_assert_uint_eq(heard_of(144), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trap");
	TCase *t = tcase_create("trap");

	tcase_add_checked_fixture(t, ready, fabric_teardown);
	tcase_add_test(t, link_state);
	tcase_add_test(t, repeated_until_repressed);
	tcase_add_test(t, not_for_ever);
	tcase_add_test(t, only_to_a_known_manager);
	tcase_add_test(t, subnet_timeout_is_the_pace);
	tcase_add_test(t, both_ends_of_a_link_tell);
	tcase_add_test(t, thresholds);
	tcase_add_test(t, capability_mask);
	tcase_add_test(t, node_description);
	tcase_add_test(t, system_image_guid);
	tcase_add_test(t, bad_mkey);
	tcase_add_test(t, bad_mkeys_do_not_flood);
	tcase_add_test(t, bad_keys_of_data);
	tcase_add_test(t, bad_pkey_at_a_switch);
	tcase_add_test(t, repress_needs_the_mkey);
	tcase_add_test(t, notice_queue);
	tcase_add_test(t, silent_and_dead_devices_send_none);
	tcase_add_test(t, reset_forgets);
	suite_add_tcase(s, t);
	return run_suite(s);
}
