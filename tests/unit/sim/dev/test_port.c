/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests PortInfo, the state machine of ports, and links.
 *
 * promise: V2
 */
#include <check.h>
#include <stdlib.h>

#include "smp_test.h"
#include "unit/run.h"

#define TRAINED 20000	/* microseconds after which every link is up again */

static uint8_t data[SMP_DATA_SIZE];

static unsigned state_of(const char *name)
{
	return fabric->ports[port_of(name)].state;
}

static unsigned phys_state_of(const char *name)
{
	return fabric->ports[port_of(name)].phys_state;
}

static void set_state(uint8_t *info, unsigned v)
{
	set_low4(info + PI_SPEED_SUP_STATE, v);
}

static void set_phys_state(uint8_t *info, unsigned v)
{
	set_high4(info + PI_PHYS_STATE_DOWN_DEFAULT, v);
}

static void set_lid(uint8_t *info, unsigned v)
{
	put_be16(info + PI_LID, (uint16_t)v);
}

static void set_sm_lid(uint8_t *info, unsigned v)
{
	put_be16(info + PI_SM_LID, (uint16_t)v);
}

static void set_lid_lmc(uint8_t *info, unsigned v)
{
	put_be16(info + PI_LID, (uint16_t)(v >> 4));
	info[PI_MKEY_PROTECT_LMC] = v & 7;
}

static void set_mtu(uint8_t *info, unsigned v)
{
	set_high4(info + PI_MTU_SM_SL, v);
}

static void set_vls(uint8_t *info, unsigned v)
{
	set_high4(info + PI_OP_VLS_ENFORCE, v);
}

static void set_width(uint8_t *info, unsigned v)
{
	info[PI_WIDTH_ENABLED] = (uint8_t)v;
}

static void set_speed(uint8_t *info, unsigned v)
{
	set_low4(info + PI_SPEED_ACTIVE_ENABLED, v);
}

static void set_ext(uint8_t *info, unsigned v)
{
	info[PI_EXT_ENABLED] = (uint8_t)v;
}

static void set_down_default(uint8_t *info, unsigned v)
{
	set_low4(info + PI_PHYS_STATE_DOWN_DEFAULT, v);
}

static void set_enforce(uint8_t *info, unsigned v)
{
	set_low4(info + PI_OP_VLS_ENFORCE, v);
}

/* --- state --- */

START_TEST(starts_in_init)
{
	ck_assert_uint_eq(state_of("sw1/P0"), SIM_PORT_ACTIVE);
	ck_assert_uint_eq(state_of("sw1/P1"), SIM_PORT_INIT);
	ck_assert_uint_eq(state_of("a/P1"), SIM_PORT_INIT);
	ck_assert_uint_eq(phys_state_of("a/P1"), SIM_PHYS_LINK_UP);
	ck_assert_uint_eq(state_of("sw1/P4"), SIM_PORT_DOWN);
	ck_assert_uint_eq(phys_state_of("a/P2"), SIM_PHYS_POLLING);
	ck_assert_uint_eq(fabric->ports[ca_a].lid, 0);
	ck_assert_uint_eq(smp_get("1", ATTR_PORT_INFO, 1, data), STATUS_OK);
	ck_assert_uint_eq(data[PI_LOCAL_PORT], 1);
	ck_assert_uint_eq(get_be64(data + PI_GID_PREFIX), 0);
	ck_assert_uint_eq(smp_get("1", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data + PI_GID_PREFIX), 0xfe80000000000000ull);
}
END_TEST

START_TEST(only_legal_transitions)
{
	static const struct { unsigned from, to; bool good; } moves[] = {
		{ SIM_PORT_INIT, SIM_PORT_INIT, false }, { SIM_PORT_INIT, SIM_PORT_ACTIVE, false },
		{ SIM_PORT_INIT, 5, false }, { SIM_PORT_INIT, 15, false },
		{ SIM_PORT_INIT, SIM_PORT_NOP, true }, { SIM_PORT_INIT, SIM_PORT_ARMED, true },
		{ SIM_PORT_ARMED, SIM_PORT_ARMED, false },
		{ SIM_PORT_ARMED, SIM_PORT_INIT, false },
		{ SIM_PORT_ARMED, SIM_PORT_ACTIVE, true },
		{ SIM_PORT_ACTIVE, SIM_PORT_ARMED, false },
		{ SIM_PORT_ACTIVE, SIM_PORT_INIT, false },
		{ SIM_PORT_ACTIVE, SIM_PORT_ACTIVE, false },
		{ SIM_PORT_ACTIVE, SIM_PORT_NOP, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
		ck_assert_uint_eq(state_of("sw1/P2"), moves[i].from);
		ck_assert_uint_eq(set_port("1", 2, set_state, moves[i].to),
				  moves[i].good ? STATUS_OK : STATUS_BAD_VALUE);
	}
	/* Nothing but Down for a port that is down, and nothing at all for port 0. */
	ck_assert_uint_eq(set_port("1", 4, set_state, SIM_PORT_ARMED), STATUS_BAD_VALUE);
	ck_assert_uint_eq(set_port("1", 4, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 0, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(state_of("sw1/P0"), SIM_PORT_ACTIVE);
	/* One that is Active and told to be Down is counted, once. */
	ck_assert_uint_eq(fabric->ports[sw1 + 2].taken_down, 0);
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[sw1 + 2].taken_down, 1);
	ck_assert_uint_eq(fabric->ports[sw1 + 4].taken_down, 0);
}
END_TEST

static uint8_t *state_change(unsigned sw)
{
	return &fabric->switches[sw].info[SI_LIFE_TIME_STATE_OPT];
}

START_TEST(down_takes_both_ends_and_trains)
{
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_ARMED), STATUS_OK);
	*state_change(0) &= (uint8_t)~SI_STATE_CHANGE;
	*state_change(1) &= (uint8_t)~SI_STATE_CHANGE;
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_DOWN);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_DOWN);
	ck_assert_uint_eq(phys_state_of("sw1/P2"), SIM_PHYS_POLLING);
	/* The other end reports it; here it was a Set. */
	ck_assert(!(*state_change(0) & SI_STATE_CHANGE));
	ck_assert(*state_change(1) & SI_STATE_CHANGE);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_INIT);
	ck_assert(*state_change(0) & SI_STATE_CHANGE);
}
END_TEST

START_TEST(answers_before_its_own_link_goes_down)
{
	ck_assert_uint_eq(set_port("1.2.2", 1, set_state, SIM_PORT_DOWN), STATUS_OK);
	pass_us(1);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_DOWN);
	ck_assert_uint_eq(state_of("sw2/P2"), SIM_PORT_DOWN);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_INIT);
	profile_of(ca_b)->response_us = 50;
	ck_assert_uint_eq(set_port("1.2.2", 1, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[sw2 + 2].counters->link_downed, 2);
	/* A switch, by the port that it is asked through; and one that is to stay down. */
	ck_assert_uint_eq(set_port("1.2", 1, set_phys_state, SIM_PHYS_DISABLED), STATUS_OK);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_DOWN);
	ck_assert_uint_eq(phys_state_of("sw2/P1"), SIM_PHYS_DISABLED);
}
END_TEST

START_TEST(disabling_and_enabling)
{
	ck_assert_uint_eq(set_port("1", 2, set_phys_state, 4), STATUS_BAD_VALUE);
	ck_assert_uint_eq(set_port("1", 2, set_phys_state, SIM_PHYS_LINK_UP), STATUS_BAD_VALUE);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	ck_assert_uint_eq(set_port("1", 2, set_phys_state, SIM_PHYS_DISABLED), STATUS_OK);
	ck_assert_uint_eq(phys_state_of("sw1/P2"), SIM_PHYS_DISABLED);
	ck_assert_uint_eq(phys_state_of("sw2/P1"), SIM_PHYS_POLLING);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_DOWN);
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(phys_state_of("sw1/P2"), SIM_PHYS_DISABLED);
	ck_assert_uint_eq(set_port("1", 2, set_phys_state, SIM_PHYS_POLLING), STATUS_OK);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_INIT);
}
END_TEST

START_TEST(data_makes_an_armed_port_active)
{
	struct packet p = { .slid = 1, .dlid = 2, .sqpn = 1, .dqpn = 1, .qkey = 0x80010000,
			    .pkey = 0xffff };

	bring_up();
	fabric->ports[ca_b].state = SIM_PORT_ARMED;
	set_low4(fabric->ports[ca_b].info + PI_SPEED_SUP_STATE, SIM_PORT_ARMED);
	p.mad[MAD_CLASS] = CLASS_SA;
	wire_send(sim, ca_a, &p);
	pass_us(0);
	ck_assert_uint_eq(n_heard, 1);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_ACTIVE);
}
END_TEST

/* --- fields --- */

START_TEST(values_out_of_range)
{
	static const struct {
		void (*field)(uint8_t *info, unsigned v);
		unsigned bad[5];
	} fields[] = {
		{ set_lid, { 0xc000, 0xffff, 0xfffe, 0xc000, 0xc000 } },
		{ set_sm_lid, { 0xc000, 0xffff, 0xfffe, 0xc000, 0xc000 } },
		{ set_lid_lmc, { 0x21 << 4 | 1, 0x22 << 4 | 2, 0xbff0 << 4 | 5, 0x44 << 4 | 3,
				 0x7f << 4 | 7 } },
		{ set_mtu, { 0, 6, 7, 15, 6 } },
		{ set_vls, { 4, 5, 6, 15, 4 } },	/* VLCap is 3 */
		{ set_width, { 4, 8, 16, 0x20, 0xfe } },
		{ set_speed, { 8, 9, 14, 8, 8 } },
		{ set_ext, { 4, 8, 16, 29, 7 } },	/* EDR */
		{ set_down_default, { 3, 4, 5, 6, 15 } },
	};
	uint8_t before[SMP_DATA_SIZE];

	memcpy(before, info_of("b/P1"), sizeof(before));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		for (size_t j = 0; j < ARRAY_SIZE(fields[i].bad); j++) {
			ck_assert_msg(set_port("1.2.2", 0, fields[i].field, fields[i].bad[j]) ==
				      STATUS_BAD_VALUE, "field %zu value %zu", i, j);
			ck_assert_mem_eq(before, info_of("b/P1"), sizeof(before));
		}
}
END_TEST

START_TEST(good_values)
{
	ck_assert_uint_eq(set_port("1.2.2", 0, set_lid_lmc, 0x40 << 4 | 3), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].lid, 0x40);
	ck_assert_uint_eq(fabric->ports[ca_b].lmc, 3);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_lid, 0xbff8), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_sm_lid, 7), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].sm_lid, 7);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_mtu, 2), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].mtu, 2);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_vls, 2), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].op_vls, 2);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_down_default, SIM_PHYS_SLEEP), STATUS_OK);
}
END_TEST

START_TEST(values_that_mean_something_else)
{
	const uint8_t *info = info_of("b/P1");
	uint8_t before[SMP_DATA_SIZE];

	memcpy(before, info, sizeof(before));
	ck_assert_uint_eq(set_port("1.2.2", 0, set_width, SIM_WIDTH_1X), STATUS_OK);
	ck_assert_uint_eq(info[PI_WIDTH_ENABLED], SIM_WIDTH_1X);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_width, 0), STATUS_OK);
	ck_assert_uint_eq(info[PI_WIDTH_ENABLED], SIM_WIDTH_1X);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_width, 255), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_speed, SIM_SPEED_SDR), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_speed, 0), STATUS_OK);
	ck_assert_uint_eq(low4(info + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_SDR);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_speed, 15), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_ext, PI_EXT_SPEEDS_OFF), STATUS_OK);
	ck_assert_uint_eq(info[PI_EXT_ENABLED], PI_EXT_SPEEDS_OFF);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_ext, 0), STATUS_OK);
	ck_assert_uint_eq(info[PI_EXT_ENABLED], PI_EXT_SPEEDS_OFF);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_ext, 31), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_vls, 0), STATUS_OK);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_down_default, 0), STATUS_OK);
	ck_assert_mem_eq(before, info, sizeof(before));
}
END_TEST

START_TEST(ext_speeds_only_if_the_manager_knows_them)
{
	const uint8_t *info = info_of("b/P1");

	ck_assert_uint_eq(smp_get("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	set_state(data, 0);
	set_phys_state(data, 0);
	data[PI_EXT_ENABLED] = SIM_EXT_FDR;
	ck_assert_uint_eq(smp_set("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(info[PI_EXT_ENABLED], SIM_EXT_FDR | SIM_EXT_EDR);
}
END_TEST

static void fill_read_only(uint8_t *info, unsigned v)
{
	static const uint8_t whole[] = {
		PI_CAPMASK, PI_DIAG_CODE, PI_LOCAL_PORT, PI_WIDTH_SUPPORTED, PI_WIDTH_ACTIVE,
		PI_VL_CAP_INIT_TYPE, PI_VLARB_HIGH_CAP, PI_VLARB_LOW_CAP, PI_GUID_CAP,
		PI_RESP_TIME, PI_MAX_CREDIT_HINT, PI_LATENCY, PI_CAPMASK2, PI_EXT_ACTIVE_SUP,
	};

	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		info[whole[i]] = (uint8_t)v;
	set_high4(info + PI_SPEED_SUP_STATE, v & 15);
	set_high4(info + PI_SPEED_ACTIVE_ENABLED, v & 15);
	set_low4(info + PI_INIT_REPLY_MTU_CAP, v & 15);
}

START_TEST(read_only_fields_are_left_alone)
{
	static const struct { const char *path, *name; unsigned num; } ports[] = {
		{ "1.2.2", "b/P1", 0 }, { "1", "sw1/P2", 2 }, { "1", "sw1/P0", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		memcpy(data, info_of(ports[i].name), sizeof(data));
		ck_assert_uint_eq(set_port(ports[i].path, ports[i].num, fill_read_only, 0xaa),
				  STATUS_OK);
		ck_assert_uint_eq(set_port(ports[i].path, ports[i].num, fill_read_only, 0),
				  STATUS_OK);
		ck_assert_mem_eq(info_of(ports[i].name), data, sizeof(data));
	}
}
END_TEST

static void fill_keys_and_lids(uint8_t *info, unsigned v)
{
	memset(info, (int)v, PI_CAPMASK);
	put_be16(info + PI_MKEY_LEASE, (uint16_t)v);
	info[PI_MKEY_PROTECT_LMC] = 0x40;
	info[PI_REREG_SUBNET_TIMEOUT] = (uint8_t)v;
	set_low4(info + PI_MTU_SM_SL, v);
}

START_TEST(external_ports_have_no_keys_or_lids)
{
	memcpy(data, info_of("sw1/P2"), sizeof(data));
	ck_assert_uint_eq(set_port("1", 2, fill_keys_and_lids, 3), STATUS_OK);
	ck_assert_mem_eq(info_of("sw1/P2"), data, sizeof(data));
	/* As data they have the LID of port 0. */
	ck_assert_uint_eq(set_port("1", 0, set_lid, 0x55), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[port_of("sw1/P2")].lid, 0x55);
}
END_TEST

START_TEST(base_port_0_has_no_link)
{
	node_of(fabric, sw1)->base_port0 = true;
	memcpy(data, info_of("sw1/P0"), sizeof(data));
	ck_assert_uint_eq(set_port("1", 0, set_mtu, 1), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 0, set_vls, 1), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 0, set_width, 255), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 0, set_phys_state, SIM_PHYS_DISABLED), STATUS_OK);
	ck_assert_mem_eq(info_of("sw1/P0"), data, sizeof(data));
	node_of(fabric, sw1)->base_port0 = false;
	ck_assert_uint_eq(set_port("1", 0, set_mtu, 1), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[sw1].mtu, 1);
}
END_TEST

START_TEST(partition_enforcement)
{
	ck_assert_uint_eq(set_port("1", 2, set_enforce, 0xf), STATUS_OK);
	ck_assert(fabric->ports[port_of("sw1/P2")].pkey_in);
	ck_assert(fabric->ports[port_of("sw1/P2")].pkey_out);
	ck_assert_uint_eq(low4(info_of("sw1/P2") + PI_OP_VLS_ENFORCE), 0xf);
	fabric->switches[0].info[SI_FLAGS] &= (uint8_t)~SI_FLAG_ENFORCE;
	ck_assert_uint_eq(set_port("1", 3, set_enforce, 0xf), STATUS_OK);
	ck_assert(!fabric->ports[port_of("sw1/P3")].pkey_in);
	ck_assert_uint_eq(low4(info_of("sw1/P3") + PI_OP_VLS_ENFORCE), 0x3);
}
END_TEST

static void set_violations(uint8_t *info, unsigned v)
{
	put_be16(info + PI_PKEY_VIOLATIONS, (uint16_t)v);
}

START_TEST(violation_counters_can_be_cleared_only)
{
	struct packet p = { .slid = 1, .dlid = 2, .pkey = 0x1234 };

	device_bad_pkey(sim, ca_b, &p);
	device_bad_pkey(sim, ca_b, &p);
	device_bad_qkey(sim, ca_b, &p);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_violations, 77), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 2);
	ck_assert_uint_eq(set_port("1.2.2", 0, set_violations, 0), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 0);
	ck_assert_uint_eq(fabric->ports[ca_b].qkey_violations, 1);
}
END_TEST

static void set_reregister(uint8_t *info, unsigned v)
{
	info[PI_REREG_SUBNET_TIMEOUT] |= (uint8_t)v;
}

START_TEST(client_reregister)
{
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	set_state(data, 0);
	set_phys_state(data, 0);
	set_reregister(data, PI_CLIENT_REREGISTER);
	ck_assert_uint_eq(smp_set("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert(data[PI_REREG_SUBNET_TIMEOUT] & PI_CLIENT_REREGISTER);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert(!(data[PI_REREG_SUBNET_TIMEOUT] & PI_CLIENT_REREGISTER));
}
END_TEST

START_TEST(port_numbers)
{
	ck_assert_uint_eq(smp_get("1", ATTR_PORT_INFO, 5, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_PORT_INFO, 255, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("", ATTR_PORT_INFO, 3, data), STATUS_BAD_VALUE);
	/* The other port of a CA: to read. */
	ck_assert_uint_eq(smp_get("", ATTR_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(low4(data + PI_SPEED_SUP_STATE), SIM_PORT_DOWN);
	ck_assert_uint_eq(data[PI_LOCAL_PORT], 1);
	ck_assert_uint_eq(set_port("", 2, set_lid, 5), STATUS_BAD_VALUE);
	ck_assert_uint_eq(set_port("", 1, set_lid, 5), STATUS_OK);
}
END_TEST

/* --- links --- */

START_TEST(links_run_as_fast_as_both_ends_can)
{
	const uint8_t *info = info_of("sw1/P1");

	ck_assert_uint_eq(info[PI_WIDTH_ACTIVE], SIM_WIDTH_4X);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), SIM_EXT_EDR);
	ck_assert_uint_eq(high4(info + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_QDR);
	/* What is enabled counts from the next training on. */
	ck_assert_uint_eq(set_port("1", 1, set_ext, SIM_EXT_FDR), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 1, set_width, SIM_WIDTH_1X), STATUS_OK);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), SIM_EXT_EDR);
	cable_plug(sim, ca_a, false);
	cable_plug(sim, ca_a, true);
	pass_us(TRAINED);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), SIM_EXT_FDR);
	ck_assert_uint_eq(high4(info_of("a/P1") + PI_EXT_ACTIVE_SUP), SIM_EXT_FDR);
	ck_assert_uint_eq(info_of("a/P1")[PI_WIDTH_ACTIVE], SIM_WIDTH_1X);
	/* Back to the old speeds. */
	ck_assert_uint_eq(set_port("1", 1, set_ext, PI_EXT_SPEEDS_OFF), STATUS_OK);
	device_port(sim, ca_a)->fdr10_enabled = 0;
	ck_assert_uint_eq(set_port("1", 1, set_speed, SIM_SPEED_SDR | SIM_SPEED_DDR), STATUS_OK);
	cable_plug(sim, ca_a, false);
	cable_plug(sim, ca_a, true);
	pass_us(TRAINED);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), 0);
	ck_assert_uint_eq(high4(info + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_DDR);
}
END_TEST

START_TEST(nothing_in_common_is_no_link)
{
	ck_assert_uint_eq(set_port("1", 2, set_width, SIM_WIDTH_1X), STATUS_OK);
	info_of("sw2/P1")[PI_WIDTH_ENABLED] = SIM_WIDTH_4X;
	cable_plug(sim, port_of("sw1/P2"), false);
	cable_plug(sim, port_of("sw1/P2"), true);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_DOWN);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_DOWN);
}
END_TEST

START_TEST(cables_can_be_the_limit)
{
	const uint8_t *info = info_of("sw2/P1");

	cable_degrade(sim, port_of("sw1/P2"), SIM_WIDTH_1X, 0, SIM_EXT_FDR);
	ck_assert_uint_eq(state_of("sw2/P1"), SIM_PORT_DOWN);
	pass_us(TRAINED);
	ck_assert_uint_eq(info[PI_WIDTH_ACTIVE], SIM_WIDTH_1X);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), SIM_EXT_FDR);
	cable_degrade(sim, port_of("sw2/P1"), 0, SIM_SPEED_DDR, 0);
	pass_us(TRAINED);
	ck_assert_uint_eq(info[PI_WIDTH_ACTIVE], SIM_WIDTH_4X);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), 0);
	ck_assert_uint_eq(high4(info + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_DDR);
	cable_degrade(sim, port_of("sw2/P1"), 0, 0, 0);
	pass_us(TRAINED);
	ck_assert_uint_eq(high4(info + PI_EXT_ACTIVE_SUP), SIM_EXT_EDR);
}
END_TEST

START_TEST(fdr10)
{
	struct sim_port *p = &fabric->ports[port_of("sw1/P2")];

	ck_assert_uint_eq(smp_get("1", ATTR_EXTENDED_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(data[XPI_SPEED_SUPPORTED], XPI_FDR10);
	ck_assert_uint_eq(data[XPI_SPEED_ACTIVE], 0);
	cable_degrade(sim, port_of("sw1/P2"), 0, SIM_SPEED_QDR, 0);
	p->cable_fdr10 = fabric->ports[p->peer].cable_fdr10 = true;
	pass_us(TRAINED);
	ck_assert_uint_eq(smp_get("1", ATTR_EXTENDED_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(data[XPI_SPEED_ACTIVE], XPI_FDR10);
	ck_assert_uint_eq(high4(info_of("sw1/P2") + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_QDR);
	ck_assert_uint_eq(high4(info_of("sw1/P2") + PI_EXT_ACTIVE_SUP), 0);
	/* Switched off, from the next training on; only if StateChangeEnable is set. */
	memset(data, 0, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_EXTENDED_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(data[XPI_SPEED_ENABLED], XPI_FDR10);
	data[XPI_STATE_CHANGE] = 1;
	data[XPI_SPEED_ENABLED] = 0;
	ck_assert_uint_eq(smp_set("1", ATTR_EXTENDED_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(data[XPI_SPEED_ENABLED], 0);
	ck_assert_uint_eq(set_port("1", 2, set_state, SIM_PORT_DOWN), STATUS_OK);
	pass_us(TRAINED);
	ck_assert_uint_eq(device_port(sim, port_of("sw1/P2"))->fdr10_active, 0);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	data[XPI_STATE_CHANGE] = 1;
	data[XPI_SPEED_ENABLED] = 2;
	ck_assert_uint_eq(smp_set("1", ATTR_EXTENDED_PORT_INFO, 2, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_EXTENDED_PORT_INFO, 5, data), STATUS_BAD_VALUE);
	ck_assert_uint_eq(smp_get("1", ATTR_EXTENDED_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[XPI_SPEED_SUPPORTED], 0);
}
END_TEST

START_TEST(unplugging)
{
	bring_up();
	cable_plug(sim, ca_b, false);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_DOWN);
	ck_assert_uint_eq(state_of("sw2/P2"), SIM_PORT_DOWN);
	ck_assert_uint_eq(fabric->ports[ca_b].counters->link_downed, 1);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), NO_ANSWER);
	cable_plug(sim, port_of("sw2/P2"), true);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_INIT);
	/* It keeps its LID. */
	ck_assert_uint_eq(fabric->ports[ca_b].lid, 2);
}
END_TEST

START_TEST(reset_loses_everything)
{
	bring_up();
	device_set_issm(sim, ca_b, true);
	device_reset(sim, fabric->ports[sw2].node);
	device_reset(sim, fabric->ports[ca_b].node);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_DOWN);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_INIT);
	ck_assert_uint_eq(fabric->ports[sw2].lid, 0);
	ck_assert_uint_eq(fabric->ports[sw2 + 1].lid, 0);
	ck_assert_uint_eq(fabric->ports[ca_b].lid, 0);
	ck_assert_uint_eq(fabric->switches[1].lft[1], SIM_LFT_DROP);
	ck_assert_uint_eq(fabric->switches[1].lft_top, 0);
	/* The SM runs on a host and keeps its device open. */
	ck_assert(device_can(fabric, ca_b, CAP_IS_SM));
}
END_TEST

START_TEST(power)
{
	bring_up();
	device_power(sim, fabric->ports[sw2].node, false);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_DOWN);
	ck_assert_uint_eq(state_of("b/P1"), SIM_PORT_DOWN);
	device_power(sim, fabric->ports[sw2].node, true);
	pass_us(TRAINED);
	ck_assert_uint_eq(state_of("sw1/P2"), SIM_PORT_INIT);
	ck_assert_uint_eq(fabric->switches[1].lft[1], SIM_LFT_DROP);
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
}
END_TEST

/* --- start --- */

START_TEST(lids_of_the_dump)
{
	fabric_setup("default: auto\n", true);
	ck_assert_uint_eq(fabric->ports[ca_a].lid, 7);
	ck_assert_uint_eq(get_be16(info_of("a/P1") + PI_LID), 7);
	ck_assert_uint_eq(fabric->ports[ca_a + 1].lid, 8);
	ck_assert_uint_eq(fabric->ports[sw2 + 1].lid, 12);
	fabric_teardown();
	fabric_setup("default: auto\n", false);
	ck_assert_uint_eq(fabric->ports[ca_a].lid, 0);
	ck_assert_uint_eq(fabric->ports[sw2 + 1].lid, 0);
	fabric_teardown();
}
END_TEST

/* 4xQDR to a, 4xFDR10 between the switches, 4xEDR to b. */
static void describe_cables(void)
{
	const uint32_t cables[] = { ca_a, sw1 + 2, ca_b };

	for (unsigned i = 0; i < ARRAY_SIZE(cables); i++) {
		uint32_t ends[] = { cables[i], fabric->ports[cables[i]].peer };

		for (unsigned e = 0; e < 2; e++) {
			fabric->ports[ends[e]].cable_width = SIM_WIDTH_4X;
			fabric->ports[ends[e]].cable_speed = SIM_SPEED_QDR;
			fabric->ports[ends[e]].cable_fdr10 = i == 1;
			fabric->ports[ends[e]].cable_ext = i == 2 ? SIM_EXT_EDR : 0;
		}
	}
}

/* CapabilityMasks differ from one ibsim to the next, and come from the preset. */
static void check_portinfo(const char *path, unsigned num, const uint8_t *expected, uint32_t port)
{
	uint8_t want[SMP_DATA_SIZE];

	memcpy(want, expected, sizeof(want));
	if (is_end_port(fabric, port)) {
		put_be32(want + PI_CAPMASK, profile_of(port)->capmask);
		put_be16(want + PI_CAPMASK2, profile_of(port)->capmask2);
	}
	ck_assert_uint_eq(smp_get(path, ATTR_PORT_INFO, num, data), STATUS_OK);
	ck_assert_mem_eq(data, want, sizeof(want));
}

/* PortInfo as stock ibsim's SMA answers it. */
START_TEST(ibsim_values)
{
	static const uint8_t ca[SMP_DATA_SIZE] = {
		[17] = 7,	/* as in the topology */
		[26] = 0x0f, 0xf9, 0x01, 0x03, 0x1f, 0x02,
		0x72, 0x52, 0x00, 0x47, 0x40, 0x40, 0x00, 0x08,
		0x08, 0x04, 0xe0, 0x40, [50] = 0x20, 0x1f,
	};
	static const uint8_t external[SMP_DATA_SIZE] = {
		[28] = 0x01, 0x03, 0x1f, 0x02, 0x72, 0x52, 0x00, 0x47, 0x40, 0x40, 0x00, 0x08,
		0x08, 0x04, 0xe0, 0x40,
	};
	static const uint8_t port0[SMP_DATA_SIZE] = {
		[26] = 0x0f, 0xf9, 0x01, 0x02, 0x1f, 0x02,
		0x74, 0x52, 0x00, 0x11, 0x10, 0x40, 0x00, 0x08,
		0x08, 0x03, 0x00, 0x40, [50] = 0x01, 0x1f, 0x08,
	};

	before_start = describe_cables;
	fabric_setup("default: ibsim\n", false);
	before_start = NULL;
	check_portinfo("", 0, ca, ca_a);
	check_portinfo("1", 2, external, sw1 + 2);
	check_portinfo("1", 0, port0, sw1);
	ck_assert_uint_eq(device_port(sim, sw1 + 2)->fdr10_active, XPI_FDR10);
	ck_assert_uint_eq(info_of("b/P1")[PI_EXT_ENABLED], SIM_EXT_FDR | SIM_EXT_EDR);
	ck_assert_uint_eq(high4(info_of("b/P1") + PI_EXT_ACTIVE_SUP), SIM_EXT_EDR);
	/* A cable without a given speed. */
	ck_assert_uint_eq(info_of("sw1/P3")[PI_WIDTH_ACTIVE], SIM_WIDTH_4X);
	ck_assert_uint_eq(high4(info_of("sw1/P3") + PI_SPEED_ACTIVE_ENABLED), SIM_SPEED_SDR);
	ck_assert_uint_eq(smp_get("1", ATTR_SWITCH_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[SI_FLAGS], 0x30);
	ck_assert_uint_eq(data[SI_LIFE_TIME_STATE_OPT], 0x04);
	ck_assert_uint_eq(smp_get("1", ATTR_SL_TO_VL, 1 << 8 | 2, data), STATUS_OK);
	ck_assert_uint_eq(data[7], 0xe7);
	ck_assert_uint_eq(smp_get("1", ATTR_VL_ARBITRATION, 1 << 16 | 2, data), STATUS_OK);
	ck_assert_uint_eq(data[1], 0);
	ck_assert_uint_eq(data[15], 4);
	ck_assert_uint_eq(data[16], 0);
	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 2u << 16 | 1, data), STATUS_OK);
	ck_assert_uint_eq(smp_get("1", ATTR_PKEY_TABLE, 2u << 16 | 2, data), STATUS_BAD_VALUE);
	/* Down takes no time. */
	ck_assert_uint_eq(set_port("1", 1, set_state, SIM_PORT_ARMED), STATUS_OK);
	ck_assert_uint_eq(set_port("1", 1, set_state, SIM_PORT_DOWN), STATUS_OK);
	ck_assert_uint_eq(state_of("sw1/P1"), SIM_PORT_INIT);
	fabric_teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("port");
	TCase *t = tcase_create("port"), *start = tcase_create("start");

	tcase_add_checked_fixture(t, default_setup, fabric_teardown);
	tcase_add_test(t, starts_in_init);
	tcase_add_test(t, only_legal_transitions);
	tcase_add_test(t, down_takes_both_ends_and_trains);
	tcase_add_test(t, answers_before_its_own_link_goes_down);
	tcase_add_test(t, disabling_and_enabling);
	tcase_add_test(t, data_makes_an_armed_port_active);
	tcase_add_test(t, values_out_of_range);
	tcase_add_test(t, good_values);
	tcase_add_test(t, values_that_mean_something_else);
	tcase_add_test(t, ext_speeds_only_if_the_manager_knows_them);
	tcase_add_test(t, read_only_fields_are_left_alone);
	tcase_add_test(t, external_ports_have_no_keys_or_lids);
	tcase_add_test(t, base_port_0_has_no_link);
	tcase_add_test(t, partition_enforcement);
	tcase_add_test(t, violation_counters_can_be_cleared_only);
	tcase_add_test(t, client_reregister);
	tcase_add_test(t, port_numbers);
	tcase_add_test(t, links_run_as_fast_as_both_ends_can);
	tcase_add_test(t, nothing_in_common_is_no_link);
	tcase_add_test(t, cables_can_be_the_limit);
	tcase_add_test(t, fdr10);
	tcase_add_test(t, unplugging);
	tcase_add_test(t, reset_loses_everything);
	tcase_add_test(t, power);
	tcase_add_test(start, lids_of_the_dump);
	tcase_add_test(start, ibsim_values);
	suite_add_tcase(s, t);
	suite_add_tcase(s, start);
	return run_suite(s);
}
