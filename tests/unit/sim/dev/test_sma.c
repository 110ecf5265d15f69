/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the answers of the subnet management agent.
 *
 * promise: V2
 */
#include <check.h>
#include <stdlib.h>

#include "smp_test.h"
#include "unit/run.h"

static uint8_t data[SMP_DATA_SIZE];

START_TEST(node_info_tells_port_of_arrival)
{
	ck_assert_uint_eq(smp_get("1.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[NI_TYPE], SIM_SWITCH);
	ck_assert_uint_eq(data[NI_PORTS], 4);
	ck_assert_uint_eq(data[NI_LOCAL_PORT_VENDOR], 1);
	ck_assert_uint_eq(get_be64(data + NI_PORT_GUID), 0x200);
	ck_assert_uint_eq(smp_get("1.3", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[NI_LOCAL_PORT_VENDOR], 3);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data + NI_GUID), 0x400);
	ck_assert_uint_eq(get_be64(data + NI_PORT_GUID), 0x401);
	ck_assert_uint_eq(data[NI_LOCAL_PORT_VENDOR], 1);
	ck_assert_uint_eq(smp_get("", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data + NI_PORT_GUID), 0x301);
	ck_assert_uint_eq(smp_set("", ATTR_NODE_INFO, 0, data), STATUS_BAD_METHOD_ATTR);
}
END_TEST

/* LocalPortNum of NodeInfo, asked by LID. */
static unsigned port_of_arrival(uint16_t lid)
{
	struct packet p = smp_packet("", METHOD_GET, ATTR_NODE_INFO, 0, NULL);

	p.mad[MAD_CLASS] = CLASS_SM_LID;
	p.slid = 1;
	p.dlid = lid;
	ck_assert_uint_eq(smp_send(&p), STATUS_OK);
	return p.mad[SMP_DATA + NI_LOCAL_PORT_VENDOR];
}

START_TEST(lid_routed_smps_tell_port_of_arrival)
{
	bring_up();
	ck_assert_uint_eq(port_of_arrival(11), 1);
	ck_assert_uint_eq(port_of_arrival(12), 1);
	ck_assert_uint_eq(port_of_arrival(2), 1);
	ck_assert_uint_eq(port_of_arrival(1), 1);
	/* By the other cable between the switches. */
	fabric->switches[0].lft[12] = 3;
	ck_assert_uint_eq(port_of_arrival(12), 3);
	ck_assert_uint_eq(smp_get("1.3", ATTR_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(data[PI_LOCAL_PORT], 3);
}
END_TEST

START_TEST(node_description_is_read_only)
{
	ck_assert_uint_eq(smp_get("1", ATTR_NODE_DESCRIPTION, 0, data), STATUS_OK);
	ck_assert_str_eq((char *)data, "sw1");
	ck_assert_uint_eq(smp_set("1", ATTR_NODE_DESCRIPTION, 0, data), STATUS_BAD_METHOD_ATTR);
	put_be16(info_of("sw1/P0") + PI_CAPMASK2, CAP2_SET_NODE_DESCRIPTION);
	memset(data, 'x', sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_NODE_DESCRIPTION, 0, data), STATUS_OK);
	ck_assert_uint_eq(strlen(node_of(fabric, sw1)->desc), 64);
}
END_TEST

static unsigned spoiled(unsigned offset, uint8_t value)
{
	struct packet p = smp_packet("1", METHOD_GET, ATTR_NODE_INFO, 0, NULL);

	p.mad[offset] = value;
	return smp_send(&p);
}

START_TEST(headers_are_checked)
{
	ck_assert_uint_eq(spoiled(MAD_BASE_VERSION, 2), STATUS_BAD_VERSION);
	ck_assert_uint_eq(spoiled(MAD_CLASS_VERSION, 2), STATUS_BAD_VERSION);
	ck_assert_uint_eq(spoiled(MAD_METHOD, METHOD_REPORT), STATUS_BAD_METHOD);
	ck_assert_uint_eq(spoiled(MAD_METHOD, 0x7f), STATUS_BAD_METHOD);
	ck_assert_uint_eq(spoiled(MAD_METHOD, 0), STATUS_BAD_METHOD);
}
END_TEST

START_TEST(status_of_a_request_is_not_taken_over)
{
	struct packet p = smp_packet("1", METHOD_GET, ATTR_NODE_INFO, 0, NULL);

	put_be16(p.mad + MAD_STATUS, 0x1c);
	ck_assert_uint_eq(smp_send(&p), STATUS_OK);
	ck_assert_uint_eq(get_be16(p.mad + MAD_STATUS), MAD_STATUS_DR_D);
}
END_TEST

START_TEST(unknown_attributes)
{
	static const uint16_t none[] = { 0, 0x01, 0x13, 0x1a, 0x1c, 0x1d, 0x1e, 0x30, 0x31, 0x33,
					 0x100, 0xff00, 0xffff };

	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		ck_assert_uint_eq(smp_get("1", none[i], 0, data), STATUS_BAD_METHOD_ATTR);
		ck_assert_uint_eq(smp_set("1", none[i], 0, data), STATUS_BAD_METHOD_ATTR);
	}
	profile_of(ca_a)->fdr10 = false;
	ck_assert_uint_eq(smp_get("", ATTR_SWITCH_INFO, 0, data), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(smp_get("", ATTR_LINEAR_FORWARDING, 0, data), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(smp_get("", ATTR_MULTICAST_FORWARDING, 0, data), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(smp_get("", ATTR_EXTENDED_PORT_INFO, 0, data), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(smp_get("1", ATTR_NOTICE, 0, data), STATUS_BAD_METHOD_ATTR);
}
END_TEST

START_TEST(managers_get_what_is_theirs)
{
	struct packet p = smp_packet("1.2.2", METHOD_GET, ATTR_SM_INFO, 0, NULL);

	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(n_heard, 0);
	wire_send(sim, ca_a, &p);
	pass_us(0);
	ck_assert_uint_eq(n_heard, 1);
	ck_assert_uint_eq(heard_at[0], ca_b);
	p.mad[MAD_METHOD] = METHOD_TRAP;
	put_be16(p.mad + MAD_ATTR, ATTR_NOTICE);
	wire_send(sim, ca_a, &p);
	pass_us(0);
	ck_assert_uint_eq(n_heard, 2);
}
END_TEST

START_TEST(switch_info)
{
	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + SI_LINEAR_CAP), 49152);
	ck_assert(data[SI_LIFE_TIME_STATE_OPT] & SI_STATE_CHANGE);
	/* Capabilities are not to be written, LinearFDBTop is. */
	put_be16(data + SI_LINEAR_CAP, 1);
	put_be16(data + SI_LINEAR_TOP, 49151);
	data[SI_FLAGS] = 0;
	data[SI_LIFE_TIME_STATE_OPT] = 5 << 3;
	ck_assert_uint_eq(smp_set("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + SI_LINEAR_CAP), 49152);
	ck_assert_uint_eq(get_be16(data + SI_LINEAR_TOP), 49151);
	ck_assert_uint_eq(data[SI_LIFE_TIME_STATE_OPT] >> 3, 5);
	ck_assert(data[SI_LIFE_TIME_STATE_OPT] & SI_STATE_CHANGE);
	ck_assert(data[SI_FLAGS] & SI_FLAG_ENFORCE);
	ck_assert_uint_eq(fabric->switches[node_of(fabric, sw1)->sw].lft_top, 49151);
	data[SI_LIFE_TIME_STATE_OPT] |= SI_STATE_CHANGE;
	ck_assert_uint_eq(smp_set("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	ck_assert(!(data[SI_LIFE_TIME_STATE_OPT] & SI_STATE_CHANGE));
}
END_TEST

static unsigned set_mcast_top(unsigned top)
{
	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	put_be16(data + SI_MULTICAST_TOP, (uint16_t)top);
	return smp_set("1", ATTR_SWITCH_INFO, 0, data);
}

static unsigned mcast_top_is(void)
{
	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	return get_be16(data + SI_MULTICAST_TOP);
}

/* By the capability bit of port 0; valid from "none" up to what the table holds. */
START_TEST(mcast_top)
{
	uint8_t *capmask = info_of("sw1/P0") + PI_CAPMASK;
	unsigned highest = SIM_LID_MCAST + profile_of(sw1)->mft_cap - 1u;

	ck_assert(get_be32(capmask) & CAP_MCAST_FDB_TOP);
	ck_assert_uint_eq(mcast_top_is(), 0);
	ck_assert_uint_eq(set_mcast_top(SIM_LID_MCAST - 1), STATUS_OK);
	ck_assert_uint_eq(mcast_top_is(), SIM_LID_MCAST - 1);
	ck_assert_uint_eq(set_mcast_top(highest), STATUS_OK);
	ck_assert_uint_eq(set_mcast_top(highest + 1), STATUS_BAD_VALUE);
	ck_assert_uint_eq(set_mcast_top(SIM_LID_MCAST - 2), STATUS_BAD_VALUE);
	ck_assert_uint_eq(mcast_top_is(), highest);
	put_be32(capmask, get_be32(capmask) & ~(uint32_t)CAP_MCAST_FDB_TOP);
	ck_assert_uint_eq(set_mcast_top(0xc01f), STATUS_OK);
	ck_assert_uint_eq(mcast_top_is(), highest);
	put_be32(capmask, get_be32(capmask) | CAP_MCAST_FDB_TOP);
	device_set_lies(sim, sw1, LIE_KEEPS_MCAST_TOP);
	ck_assert_uint_eq(set_mcast_top(0xc01f), STATUS_OK);
	ck_assert_uint_eq(mcast_top_is(), highest);
	device_set_lies(sim, sw1, LIE_REFUSES_MCAST_TOP);
	ck_assert_uint_eq(set_mcast_top(0xc01f), STATUS_BAD_VALUE);
	ck_assert_uint_eq(set_mcast_top(highest), STATUS_OK);
}
END_TEST

START_TEST(bad_switch_info_changes_nothing)
{
	uint8_t before[SMP_DATA_SIZE];

	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, before), STATUS_OK);
	memcpy(data, before, sizeof(data));
	put_be16(data + SI_LINEAR_TOP, 49152);
	data[SI_LIFE_TIME_STATE_OPT] = SI_STATE_CHANGE;
	ck_assert_uint_eq(smp_set("1", ATTR_SWITCH_INFO, 0, data), STATUS_BAD_VALUE);
	memcpy(data, before, sizeof(data));
	data[SI_DEFAULT_PORT] = 5;
	ck_assert_uint_eq(smp_set("1", ATTR_SWITCH_INFO, 0, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	ck_assert_mem_eq(data, before, sizeof(data));
}
END_TEST

START_TEST(linear_forwarding)
{
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 767, data), STATUS_OK);
	ck_assert_uint_eq(data[0], SIM_LFT_DROP);
	for (unsigned i = 0; i < 64; i++)
		data[i] = (uint8_t)i;
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 767, data), STATUS_OK);
	ck_assert_uint_eq(fabric->switches[node_of(fabric, sw1)->sw].lft[49151], 63);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 768, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 0x10000, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, UINT32_MAX, data), STATUS_BAD_VALUE);
}
END_TEST

START_TEST(multicast_forwarding)
{
	unsigned blocks = (profile_of(sw1)->mft_cap + 31u) / 32;
	struct sim_switch *sw = &fabric->switches[node_of(fabric, sw1)->sw];

	ck_assert_uint_eq(smp_get("1", ATTR_MULTICAST_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(smp_set("1", ATTR_MULTICAST_FORWARDING, 0, data), STATUS_OK);
	ck_assert_ptr_null(sw->mft);
	put_be16(data + 2 * 5, 0x0006);
	ck_assert_uint_eq(smp_set("1", ATTR_MULTICAST_FORWARDING, 1, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + 2 * 5), 6);
	ck_assert_uint_eq(sw->mft[32 + 5][0], 6);
	/* Ports 16 to 31 are not there on a switch of four. */
	ck_assert_uint_eq(smp_set("1", ATTR_MULTICAST_FORWARDING, 1u << 28, data),
			  STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_MULTICAST_FORWARDING, blocks, data), STATUS_BAD_VALUE);
	memset(data, 0xff, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_MULTICAST_FORWARDING, blocks - 1, data), STATUS_OK);
	/* The table ends with 16382 entries and some. */
	ck_assert_uint_eq(get_be16(data + 2 * (16383 % 32 - 1)), 0xffff);
	ck_assert_uint_eq(get_be16(data + 2 * 31), 0);
}
END_TEST

START_TEST(guid_info)
{
	ck_assert_uint_eq(smp_get("", ATTR_GUID_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), 0x301);
	put_be64(data, 0x999);
	put_be64(data + 8, 0x998);
	ck_assert_uint_eq(smp_set("", ATTR_GUID_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), 0x301);
	ck_assert_uint_eq(get_be64(data + 8), 0x998);
	ck_assert_uint_eq(smp_get("", ATTR_GUID_INFO, 3, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("", ATTR_GUID_INFO, 4, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("", ATTR_GUID_INFO, 0x20000000, data), STATUS_BAD_VALUE);
	/* Port 0 of a switch has one. */
	ck_assert_uint_eq(smp_get("1", ATTR_GUID_INFO, 0, data), STATUS_OK);
	put_be64(data + 8, 0x777);
	ck_assert_uint_eq(smp_set("1", ATTR_GUID_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data + 8), 0);
}
END_TEST

START_TEST(pkey_table)
{
	ck_assert_uint_eq(smp_get("", ATTR_PKEY_TABLE, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data), 0xffff);
	put_be16(data + 2, 0x8001);
	ck_assert_uint_eq(smp_set("", ATTR_PKEY_TABLE, 0, data), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_a].pkeys[1], 0x8001);
	ck_assert_uint_eq(smp_get("", ATTR_PKEY_TABLE, 3, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("", ATTR_PKEY_TABLE, 4, data), STATUS_BAD_VALUE);
	/* A switch: port 0 has 8 entries, the others 32. */
	memset(data, 0xff, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_PKEY_TABLE, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + 14), 0xffff);
	ck_assert_uint_eq(get_be16(data + 16), 0);
	ck_assert_uint_eq(smp_set("1", ATTR_PKEY_TABLE, 4u << 16, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 4u << 16 | 1, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 5u << 16, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 0xffffu << 16, data), STATUS_BAD_VALUE);
}
END_TEST

START_TEST(sl_to_vl)
{
	/* After power-on, each SL has an existing VL, whatever OperationalVLs will be. */
	ck_assert_uint_eq(smp_get("1", ATTR_SL_TO_VL, 1 << 8 | 2, data), STATUS_OK);
	ck_assert_mem_eq(data, ((uint8_t[8]){ 0 }), 8);
	ck_assert_uint_eq(smp_get("", ATTR_SL_TO_VL, 0, data), STATUS_OK);
	ck_assert_mem_eq(data, ((uint8_t[8]){ 0 }), 8);
	memset(data, 0x77, 8);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 1 << 8 | 2, data), STATUS_OK);
	ck_assert_uint_eq(data[8], 0);
	ck_assert_uint_eq(sl2vl_get(fabric, 0, 1, 2, 3), 7);
	ck_assert_uint_eq(sl2vl_get(fabric, 0, 2, 1, 3), 0);
	ck_assert_uint_eq(smp_get("1", ATTR_SL_TO_VL, 5 << 8 | 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_SL_TO_VL, 1 << 8 | 5, data), STATUS_BAD_VALUE);
	/* A CA has one. */
	memset(data, 0x12, 8);
	ck_assert_uint_eq(smp_set("", ATTR_SL_TO_VL, 0, data), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_a].sl2vl[7], 0x12);
}
END_TEST

static unsigned count_pairs(uint8_t vl)
{
	unsigned n = 0;

	for (unsigned in = 0; in <= 4; in++)
		for (unsigned out = 0; out <= 4; out++)
			n += sl2vl_get(fabric, 0, in, out, 0) == vl;
	return n;
}

START_TEST(optimized_sl_to_vl)
{
	memset(data, 0x55, 8);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x30000, data), STATUS_OK);
	ck_assert_uint_eq(count_pairs(5), 25);
	memset(data, 0x44, 8);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x20000 | 3, data), STATUS_OK);
	ck_assert_uint_eq(count_pairs(4), 5);
	ck_assert_uint_eq(sl2vl_get(fabric, 0, 0, 3, 0), 4);
	memset(data, 0x33, 8);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x10000 | 2 << 8, data), STATUS_OK);
	ck_assert_uint_eq(count_pairs(3), 5);
	ck_assert_uint_eq(sl2vl_get(fabric, 0, 2, 4, 0), 3);
	ck_assert_uint_eq(smp_get("1", ATTR_SL_TO_VL, 0x30000, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x20000 | 5, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x40000, data), STATUS_BAD_VALUE);
	/* Only where SwitchInfo says so. */
	fabric->switches[0].info[SI_LIFE_TIME_STATE_OPT] &= (uint8_t)~SI_OPTIMIZED_SL2VL;
	ck_assert_uint_eq(smp_set("1", ATTR_SL_TO_VL, 0x30000, data), STATUS_BAD_VALUE);
}
END_TEST

START_TEST(no_sl_mapping)
{
	uint8_t *capmask = info_of("a/P1") + PI_CAPMASK;

	put_be32(capmask, get_be32(capmask) & ~(uint32_t)CAP_SL_MAPPING);
	ck_assert_uint_eq(smp_get("", ATTR_SL_TO_VL, 0, data), STATUS_BAD_METHOD_ATTR);
}
END_TEST

START_TEST(vl_arbitration)
{
	/* 16 entries each. */
	memset(data, 0x21, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_VL_ARBITRATION, 1 << 16 | 2, data), STATUS_OK);
	ck_assert_uint_eq(data[0], 0x01);
	ck_assert_uint_eq(data[31], 0x21);
	ck_assert_uint_eq(data[32], 0);
	ck_assert_uint_eq(fabric->ports[sw1 + 2].arb_low[31], 0x21);
	ck_assert_uint_eq(smp_set("1", ATTR_VL_ARBITRATION, 3 << 16 | 2, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 2 << 16 | 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 4 << 16 | 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 5 << 16 | 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 1 << 16 | 5, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_VL_ARBITRATION, 1 << 16, data), STATUS_OK);
	ck_assert_uint_eq(data[0] << 8 | data[1], 64);
	/* Larger tables have two halves. */
	info_of("sw1/P2")[PI_VLARB_LOW_CAP] = 64;
	memset(data, 0x03, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_VL_ARBITRATION, 2 << 16 | 2, data), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[sw1 + 2].arb_low[127], 0x03);
}
END_TEST

START_TEST(led_info)
{
	uint8_t *capmask = info_of("a/P1") + PI_CAPMASK;

	put_be32(capmask, get_be32(capmask) | CAP_LED);
	memset(data, 0xff, sizeof(data));
	ck_assert_uint_eq(smp_set("", ATTR_LED_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("", ATTR_LED_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[0], 0x80);
	ck_assert_uint_eq(data[1], 0);
}
END_TEST

START_TEST(sets_that_change_nothing_are_counted)
{
	const struct stat_table *t = &sim->stats->all;
	uint64_t idle = 0;

	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 1u << 16, data), STATUS_OK);
	ck_assert_uint_eq(smp_set("1", ATTR_PKEY_TABLE, 1u << 16, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("1", ATTR_PORT_INFO, 1, data), STATUS_OK);
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	ck_assert_uint_eq(smp_set("1", ATTR_PORT_INFO, 1, data), STATUS_OK);
	set_low4(data + PI_SPEED_SUP_STATE, SIM_PORT_ARMED);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	ck_assert_uint_eq(smp_set("1", ATTR_PORT_INFO, 1, data), STATUS_OK);
	for (size_t i = 0; i < t->rows.n; i++)
		idle += t->rows.v[i].idle;
	ck_assert_uint_eq(idle, 2);
}
END_TEST

START_TEST(silent_devices)
{
	node_of(fabric, sw1)->silent = true;
	ck_assert_uint_eq(smp_get("1", ATTR_NODE_INFO, 0, data), NO_ANSWER);
	ck_assert_uint_eq(smp_get("1.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(sim->drops->by_reason[DROP_SILENT], 1);
}
END_TEST

START_TEST(answers_take_their_time)
{
	struct sim_profile *pr = profile_of(sw1);
	struct packet p = smp_packet("1", METHOD_GET, ATTR_NODE_INFO, 0, NULL);
	int64_t least = INT64_MAX, most = 0;

	pr->response_us = 100;
	pr->jitter_us = 20;
	for (int i = 0; i < 200; i++) {
		int64_t start = sim_now(sim);

		n_heard = 0;
		wire_send(sim, ca_a, &p);
		while (!n_heard)
			pass_us(1);
		int64_t took = sim_now(sim) - start;
		least = took < least ? took : least;
		most = took > most ? took : most;
	}
	ck_assert_int_ge(least, 80);
	ck_assert_int_le(most, 120);
	ck_assert_int_gt(most - least, 30);
	pr->response_us = 0;
	pr->jitter_us = 0;
}
END_TEST

START_TEST(behind_everybodys_back)
{
	device_set_mkey(sim, sw1, 0x1234, 3, 0);
	memset(data, 9, sizeof(data));
	ck_assert_uint_eq(device_smp(sim, sw1 + 2, METHOD_SET, ATTR_LINEAR_FORWARDING, 0, data),
			  STATUS_OK);
	ck_assert_uint_eq(fabric->switches[0].lft[5], 9);
	ck_assert_uint_eq(device_smp(sim, sw1, METHOD_GET, ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), 0x1234);
	ck_assert_uint_eq(device_smp(sim, sw1, METHOD_TRAP, ATTR_PORT_INFO, 0, data),
			  STATUS_BAD_METHOD);
}
END_TEST

/* --- lies --- */

START_TEST(keeps_tables)
{
	profile_of(sw1)->lies = LIE_KEEPS_TABLES;
	memset(data, 1, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[5], 1);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[5], SIM_LFT_DROP);
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 768, data), STATUS_BAD_VALUE);
}
END_TEST

START_TEST(refuses_tables)
{
	uint32_t node = sim->f->ports[sw1].node;

	device_set_lies(sim, node, LIE_REFUSES_TABLES);
	memset(data, 1, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[5], SIM_LFT_DROP);
	device_set_lies(sim, node, 0);
	memset(data, 1, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[5], 1);
}
END_TEST

static void set_lid_and_limit(uint8_t *info, unsigned v)
{
	put_be16(info + PI_LID, (uint16_t)v);
	info[PI_VL_HIGH_LIMIT] = (uint8_t)v;
}

START_TEST(keeps_port_info)
{
	profile_of(ca_b)->lies = LIE_KEEPS_PORTINFO;
	ck_assert_uint_eq(set_port("1.2.2", 0, set_lid_and_limit, 9), STATUS_OK);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + PI_LID), 9);
	ck_assert_uint_eq(data[PI_VL_HIGH_LIMIT], 0);
	ck_assert_uint_eq(fabric->ports[ca_b].lid, 9);
}
END_TEST

START_TEST(stale_gets)
{
	profile_of(sw1)->lies = LIE_STALE_GET;
	for (unsigned v = 1; v < 4; v++) {
		memset(data, (int)v, sizeof(data));
		ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 3, data), STATUS_OK);
		ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 3, data), STATUS_OK);
		ck_assert_uint_eq(data[0], v == 1 ? SIM_LFT_DROP : v - 1);
	}
	device_reset(sim, 0);
	pass_us(100000);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 3, data), STATUS_OK);
	ck_assert_uint_eq(data[0], SIM_LFT_DROP);
}
END_TEST

START_TEST(wrong_status)
{
	unsigned wrong = 0;

	profile_of(sw1)->lies = LIE_WRONG_STATUS;
	for (int i = 0; i < 400; i++) {
		unsigned status = smp_get("1", ATTR_NODE_INFO, 0, data);

		ck_assert(status == STATUS_OK || status == STATUS_BAD_VALUE);
		wrong += status != STATUS_OK;
	}
	ck_assert_uint_gt(wrong, 5);
	ck_assert_uint_lt(wrong, 80);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sma");
	TCase *t = tcase_create("sma");

	tcase_add_checked_fixture(t, default_setup, fabric_teardown);
	tcase_add_test(t, node_info_tells_port_of_arrival);
	tcase_add_test(t, lid_routed_smps_tell_port_of_arrival);
	tcase_add_test(t, node_description_is_read_only);
	tcase_add_test(t, headers_are_checked);
	tcase_add_test(t, status_of_a_request_is_not_taken_over);
	tcase_add_test(t, unknown_attributes);
	tcase_add_test(t, managers_get_what_is_theirs);
	tcase_add_test(t, switch_info);
	tcase_add_test(t, mcast_top);
	tcase_add_test(t, bad_switch_info_changes_nothing);
	tcase_add_test(t, linear_forwarding);
	tcase_add_test(t, multicast_forwarding);
	tcase_add_test(t, guid_info);
	tcase_add_test(t, pkey_table);
	tcase_add_test(t, sl_to_vl);
	tcase_add_test(t, optimized_sl_to_vl);
	tcase_add_test(t, no_sl_mapping);
	tcase_add_test(t, vl_arbitration);
	tcase_add_test(t, led_info);
	tcase_add_test(t, sets_that_change_nothing_are_counted);
	tcase_add_test(t, silent_devices);
	tcase_add_test(t, answers_take_their_time);
	tcase_add_test(t, behind_everybodys_back);
	tcase_add_test(t, keeps_tables);
	tcase_add_test(t, refuses_tables);
	tcase_add_test(t, keeps_port_info);
	tcase_add_test(t, stale_gets);
	tcase_add_test(t, wrong_status);
	suite_add_tcase(s, t);
	return run_suite(s);
}
