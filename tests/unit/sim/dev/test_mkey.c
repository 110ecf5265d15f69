/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests the M_Key: protection, lease, violations (14.2.4). */
#include <check.h>
#include <stdlib.h>

#include "smp_test.h"
#include "unit/run.h"

#define KEY 0x1122334455667788ull
#define S 1000000

static uint8_t data[SMP_DATA_SIZE];

static void protect(unsigned bits, unsigned lease_s)
{
	device_set_mkey(sim, ca_b, KEY, bits, lease_s);
}

static unsigned get(void)
{
	return smp_get("1.2.2", ATTR_PORT_INFO, 0, data);
}

static void set_limit(uint8_t *info, unsigned v)
{
	info[PI_VL_HIGH_LIMIT] = (uint8_t)v;
}

/* A Set of PortInfo with whatever key. */
static unsigned set(unsigned limit)
{
	memcpy(data, fabric->ports[ca_b].info, sizeof(data));
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	set_limit(data, limit);
	return smp_set("1.2.2", ATTR_PORT_INFO, 0, data);
}

/* promise: L6 */
START_TEST(levels)
{
	for (unsigned bits = 0; bits < 4; bits++) {
		protect(bits, 0);
		smp_key = 0;
		ck_assert_uint_eq(get(), bits < 2 ? STATUS_OK : NO_ANSWER);
		if (bits < 2)
			ck_assert_uint_eq(get_be64(data), bits ? 0 : KEY);
		ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data),
				  bits < 2 ? STATUS_OK : NO_ANSWER);
		ck_assert_uint_eq(set(bits + 1), NO_ANSWER);
		ck_assert_uint_eq(fabric->ports[ca_b].info[PI_VL_HIGH_LIMIT], bits);
		smp_key = KEY;
		ck_assert_uint_eq(get(), STATUS_OK);
		ck_assert_uint_eq(get_be64(data), KEY);
		ck_assert_uint_eq(set(bits + 1), STATUS_OK);
		ck_assert_uint_eq(get_be64(data), KEY);
	}
}
END_TEST

START_TEST(no_key_protects_nothing)
{
	device_set_mkey(sim, ca_b, 0, 3, 10);
	smp_key = 99;
	ck_assert_uint_eq(get(), STATUS_OK);
	ck_assert_uint_eq(set(4), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, 0);
}
END_TEST

START_TEST(key_is_set_by_portinfo)
{
	memcpy(data, fabric->ports[ca_b].info, sizeof(data));
	put_be64(data, KEY);
	data[PI_MKEY_PROTECT_LMC] = 1 << 6;
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	ck_assert_uint_eq(smp_set("1.2.2", ATTR_PORT_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), KEY);
	ck_assert_uint_eq(set(1), NO_ANSWER);
	ck_assert_uint_eq(get(), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), 0);
}
END_TEST

/* promise: L6 */
START_TEST(violations_are_counted)
{
	protect(2, 0);
	ck_assert_uint_eq(get(), NO_ANSWER);
	ck_assert_uint_eq(set(1), NO_ANSWER);
	ck_assert_uint_eq(sim->drops->by_reason[DROP_MKEY], 2);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, 2);
	smp_key = KEY;
	ck_assert_uint_eq(get(), STATUS_OK);
	ck_assert_uint_eq(get_be16(data + PI_MKEY_VIOLATIONS), 2);
	/* Allowed reads are none. */
	protect(1, 0);
	smp_key = 0;
	ck_assert_uint_eq(get(), STATUS_OK);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, 2);
	fabric->ports[ca_b].mkey_violations = UINT16_MAX;
	ck_assert_uint_eq(set(1), NO_ANSWER);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, UINT16_MAX);
}
END_TEST

/* promise: L6 */
START_TEST(lease_runs_out)
{
	protect(3, 10);
	ck_assert_uint_eq(get(), NO_ANSWER);	/* it runs from here on */
	pass_us(5 * S);
	ck_assert_uint_eq(get(), NO_ANSWER);	/* … and not from here anew */
	pass_us(4 * S);
	ck_assert_uint_eq(get(), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), KEY);
	ck_assert_uint_eq(data[PI_MKEY_PROTECT_LMC] >> 6, 0);
	ck_assert_uint_eq(set(1), NO_ANSWER);	/* the key is still needed to write */
}
END_TEST

/* promise: L6 */
START_TEST(good_key_stops_the_lease)
{
	protect(2, 10);
	ck_assert_uint_eq(get(), NO_ANSWER);
	pass_us(8 * S);
	smp_key = KEY;
	ck_assert_uint_eq(get(), STATUS_OK);
	smp_key = 0;
	pass_us(100 * S);
	ck_assert_uint_eq(get(), NO_ANSWER);
}
END_TEST

START_TEST(lease_of_nothing_lasts)
{
	protect(2, 0);
	ck_assert_uint_eq(get(), NO_ANSWER);
	pass_us(100000ll * S);
	ck_assert_uint_eq(get(), NO_ANSWER);
}
END_TEST

START_TEST(key_of_port_0_is_that_of_the_switch)
{
	device_set_mkey(sim, sw1 + 3, KEY, 1, 0);
	ck_assert_uint_eq(get_be64(fabric->ports[sw1].info), KEY);
	memset(data, 3, sizeof(data));
	ck_assert_uint_eq(smp_set("1", ATTR_LINEAR_FORWARDING, 0, data), NO_ANSWER);
	ck_assert_uint_eq(smp_get("1", ATTR_LINEAR_FORWARDING, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[0], SIM_LFT_DROP);
	/* It forwards all the same. */
	ck_assert_uint_eq(smp_get("1.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
}
END_TEST

START_TEST(key_of_the_other_port_is_hidden)
{
	device_set_mkey(sim, ca_a + 1, KEY, 1, 0);
	ck_assert_uint_eq(smp_get("", ATTR_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), 0);
	smp_key = KEY;
	ck_assert_uint_eq(smp_get("", ATTR_PORT_INFO, 2, data), STATUS_OK);
	ck_assert_uint_eq(get_be64(data), KEY);
}
END_TEST

START_TEST(smp_for_managers_needs_no_key)
{
	struct packet p = smp_packet("1.2.2", METHOD_GET, ATTR_SM_INFO, 0, NULL);

	protect(3, 10);
	wire_send(sim, ca_a, &p);
	pass_us(0);
	ck_assert_uint_eq(n_heard, 1);
	ck_assert_uint_eq(fabric->ports[ca_b].mkey_violations, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mkey");
	TCase *t = tcase_create("mkey");

	tcase_add_checked_fixture(t, default_setup, fabric_teardown);
	tcase_add_test(t, levels);
	tcase_add_test(t, no_key_protects_nothing);
	tcase_add_test(t, key_is_set_by_portinfo);
	tcase_add_test(t, violations_are_counted);
	tcase_add_test(t, lease_runs_out);
	tcase_add_test(t, good_key_stops_the_lease);
	tcase_add_test(t, lease_of_nothing_lasts);
	tcase_add_test(t, key_of_port_0_is_that_of_the_switch);
	tcase_add_test(t, key_of_the_other_port_is_hidden);
	tcase_add_test(t, smp_for_managers_needs_no_key);
	suite_add_tcase(s, t);
	return run_suite(s);
}
