/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* promise: Q4 */
/* Tests the registers by which devices tell of the modules in their ports, and the memory of these. */
#include <check.h>
#include <string.h>

#include "sim/dev/module.h"
#include "smp_test.h"
#include "unit/run.h"

static uint8_t data[SMP_DATA_SIZE];
static uint8_t *const reg = data + 20;

/* Asks for a register whose first words are given; the MAD status. */
static unsigned ask(const char *path, unsigned id, uint32_t word0, uint32_t word1, uint32_t word2)
{
	memset(data, 0, sizeof(data));
	put_be32(data, 0x08040000);
	put_be32(data + 4, id << 16 | 0x0101);
	put_be32(data + 16, 0x180c0000);
	put_be32(reg, word0);
	put_be32(reg + 4, word1);
	put_be32(reg + 8, word2);
	return smp_set(path, ATTR_ACCESS_REGISTER, 0, data);
}

static unsigned tlv_status(void)
{
	return data[2] & 0x7f;
}

/* Reads bytes of a module; the status of MCIA. */
static unsigned memory(const char *path, unsigned module, unsigned page, unsigned offset)
{
	ck_assert_uint_eq(ask(path, 0x9014, module << 16, 0x50u << 24 | page << 16 | offset, 28), STATUS_OK);
	ck_assert_uint_eq(tlv_status(), 0);
	ck_assert_uint_eq(data[6] & 0x80, 0x80);
	return reg[3];
}

START_TEST(ports)
{
	/* ports 1 and 2 of a switch have changed places */
	for (unsigned local = 1; local <= 4; local++) {
		ck_assert_uint_eq(ask("1", 0x500a, local << 16, 0, 0), STATUS_OK);
		ck_assert_uint_eq(get_be32(reg), local << 16 | (((local - 1) ^ 1) + 1));
		ck_assert_uint_eq(ask("1", 0x5002, local << 16, 0, 0), STATUS_OK);
		ck_assert_uint_eq(reg[3], 4);
		ck_assert_uint_eq(get_be32(reg + 4 + 4 * 2), 2u << 16 | 2u << 24 | (local - 1));
	}
	ask("1", 0x500a, 5 << 16, 0, 0);
	ck_assert_uint_eq(tlv_status(), 7);
	ask("", 0x500a, 1 << 16, 0, 0);
	ck_assert_uint_eq(get_be32(reg), 1u << 16 | 1);
}
END_TEST

START_TEST(denials)
{
	ask("1", 0x9999, 0, 0, 0);
	ck_assert_uint_eq(tlv_status(), 4);
	node_of(fabric, sw1)->register_status = 1;
	node_of(fabric, sw1)->register_denials = 1;
	ask("1", 0x500a, 1 << 16, 0, 0);
	ck_assert_uint_eq(tlv_status(), 1);
	ask("1", 0x500a, 1 << 16, 0, 0);
	ck_assert_uint_eq(tlv_status(), 0);
	/* a TLV that is none, a register that does not fit, a method that writes */
	memset(data, 0, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_ACCESS_REGISTER, 0, data), STATUS_OK);
	ck_assert_uint_eq(tlv_status(), 3);
	put_be32(data, 0x08040000);
	put_be32(data + 4, 0x500a0201);
	put_be32(data + 16, 0x180c0000);
	smp_set("1", ATTR_ACCESS_REGISTER, 0, data);
	ck_assert_uint_eq(tlv_status(), 6);
	put_be32(data, 0x08040000);
	put_be32(data + 16, 0x180d0000);
	smp_set("1", ATTR_ACCESS_REGISTER, 0, data);
	ck_assert_uint_eq(tlv_status(), 3);
	/* a Get, and a device without registers */
	ck_assert_uint_eq(smp_get("1", ATTR_ACCESS_REGISTER, 0, data), STATUS_BAD_METHOD_ATTR);
	profile_of(sw1)->registers = false;
	ck_assert_uint_eq(ask("1", 0x500a, 1 << 16, 0, 0), STATUS_BAD_METHOD_ATTR);
}
END_TEST

START_TEST(m_key)
{
	device_set_mkey(sim, sw1, 5, 1, 0);
	ck_assert_uint_eq(ask("1", 0x500a, 1 << 16, 0, 0), NO_ANSWER);
	smp_key = 5;
	ck_assert_uint_eq(ask("1", 0x500a, 1 << 16, 0, 0), STATUS_OK);
}
END_TEST

/* Module 1 of sw1 is in port 1, whose cable leads to a; module 3 is in port 3, module 2 would be in port 4. */
START_TEST(contents)
{
	char serial[17] = "", other[17] = "";

	ck_assert_uint_eq(memory("1", 3, 0, 0), 0);
	ck_assert_uint_eq(reg[16], 0x11);
	ck_assert_uint_eq(memory("1", 2, 0, 0), 3);	/* port 4 has no cable */
	ck_assert_uint_eq(memory("1", 1, 0, 196), 0);
	memcpy(serial, reg + 16, 16);
	ck_assert_uint_eq(memory("", 0, 0, 196), 0);
	memcpy(other, reg + 16, 16);
	ck_assert_str_eq(serial, other);		/* the same cable */
	module_replace(sim, port_of("sw1/P1"), MODULE_AUTO);
	ck_assert_uint_eq(memory("1", 1, 0, 196), 0);
	ck_assert_int_ne(memcmp(reg + 16, serial, 16), 0);
	ck_assert_uint_eq(memory("1", 1, 3, 128), 0);
	ck_assert_uint_eq(get_be16(reg + 16), 75 << 8);
	ck_assert_uint_eq(memory("1", 1, 5, 128), 0x11);	/* no such page */
	module_replace(sim, port_of("sw1/P1"), MODULE_OSFP);
	ck_assert_uint_eq(memory("1", 1, 0x11, 139), 0);
	ck_assert_uint_eq(memory("1", 1, 0, 0), 0);
	ck_assert_uint_eq(reg[16], 0x19);
	cable_plug(sim, port_of("sw1/P3"), false);
	ck_assert_uint_eq(memory("1", 3, 0, 0), 3);
}
END_TEST

/* A flag stays until it is read, and comes again while its value is beyond the threshold. */
START_TEST(flags)
{
	uint32_t port = port_of("sw1/P3");

	memory("1", 3, 0, 0);
	ck_assert_uint_eq(reg[16 + 6], 0);
	ck_assert(module_set(sim, port, MODULE_TEMPERATURE, MODULE_LANES, 80));
	ck_assert(module_set(sim, port, MODULE_RX_POWER, 1, 0.05));
	ck_assert(!module_set(sim, port, MODULE_RX_POWER, 1, 7));
	memory("1", 3, 0, 0);
	ck_assert_uint_eq(reg[16 + 6], 0xa0);	/* high alarm and warning */
	ck_assert_uint_eq(reg[16 + 9], 0x01);	/* low warning of lane 2 */
	ck_assert_uint_eq(get_be16(reg + 16 + 22), 80 << 8);
	memory("1", 3, 0, 0);
	ck_assert_uint_eq(reg[16 + 6], 0xa0);
	module_set(sim, port, MODULE_TEMPERATURE, MODULE_LANES, 40);
	memory("1", 3, 0, 34);			/* other bytes */
	ck_assert_uint_eq(get_be16(reg + 16 + 2), 500);
	memory("1", 3, 0, 0);
	ck_assert_uint_eq(reg[16 + 6], 0xa0);
	memory("1", 3, 0, 0);
	ck_assert_uint_eq(reg[16 + 6], 0);
	ck_assert_uint_eq(reg[16 + 9], 0x01);
	/* the far end is switched off */
	device_power(sim, fabric->ports[sw2].node, false);
	memory("1", 3, 0, 34);
	ck_assert_uint_eq(get_be32(reg + 16), 0);
}
END_TEST

START_TEST(chip)
{
	memset(data, 0, sizeof(data));
	ck_assert_uint_eq(smp_get("1", ATTR_CONFIG_SPACE, 0x0f010014, data), STATUS_OK);
	ck_assert_uint_eq(get_be32(data + 8), 0x24b);
	ck_assert_uint_eq(smp_get("1", ATTR_CONFIG_SPACE, 0x0f010018, data), STATUS_BAD_VALUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("registers");
	TCase *tc = tcase_create("registers");

	tcase_add_checked_fixture(tc, default_setup, fabric_teardown);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, denials);
	tcase_add_test(tc, m_key);
	tcase_add_test(tc, contents);
	tcase_add_test(tc, flags);
	tcase_add_test(tc, chip);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
