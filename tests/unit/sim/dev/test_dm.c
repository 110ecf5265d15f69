/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the device management requests of an SRP initiator to a target, in their order.
 *
 * promise: V2
 */
#include <check.h>
#include <string.h>

#include "gs_test.h"
#include "unit/run.h"

static struct packet p;

static unsigned ask(uint8_t method, uint16_t attr, uint32_t mod)
{
	p = gs_request(CLASS_DM, method, attr, mod);
	memset(p.mad + GS_TEST_DATA, 0xee, 192);
	return gs_ask(dm_receive, gs_ca, &p);
}

static const uint8_t *data(void)
{
	return p.mad + GS_TEST_DATA;
}

static void setup(void)
{
	gs_setup("profiles: {target: {srp-target: true}}\n"
		 "nodes: [{name: 'target*', profile: target}]\n");
}

START_TEST(a_target_is_found)
{
	ck_assert_uint_eq(ask(METHOD_GET, 0x01, 0), STATUS_OK);
	ck_assert_uint_eq(data()[0], 1);
	ck_assert_uint_eq(data()[7], gs_fabric->nodes[1].profile->resp_time);

	ck_assert_uint_eq(ask(METHOD_GET, 0x10, 0), STATUS_OK);
	ck_assert_uint_eq(data()[2], 1);
	ck_assert_uint_eq(data()[4], 0x10);
	ck_assert_uint_eq(data()[5], 0);

	ck_assert_uint_eq(ask(METHOD_GET, 0x11, 1), STATUS_OK);
	ck_assert_uint_eq(get_be64(data()), 0x0002c90000000200);
	ck_assert_uint_eq(get_be16(data() + 28), 0x0100);	/* I/O class: SRP rev 16a */
	ck_assert_uint_eq(data()[54], 1);
	ck_assert_str_eq((const char *)data() + 64, "target one");

	ck_assert_uint_eq(ask(METHOD_GET, 0x12, 1 << 16 | 0 << 8 | 0), STATUS_OK);
	ck_assert_str_eq((const char *)data(), "SRP.T10:0002c90000000200");
	ck_assert_uint_eq(get_be64(data() + 40), 0x0002c90000000200);
	ck_assert_uint_eq(data()[48], 0);
}
END_TEST

START_TEST(what_is_not_there)
{
	ck_assert_uint_eq(ask(METHOD_GET, 0x11, 0), STATUS_BAD_VALUE);
	ck_assert_uint_eq(ask(METHOD_GET, 0x11, 2), 0x0100);
	ck_assert_uint_eq(ask(METHOD_GET, 0x11, UINT32_MAX), 0x0100);
	ck_assert_uint_eq(ask(METHOD_GET, 0x12, 0), STATUS_BAD_VALUE);
	ck_assert_uint_eq(ask(METHOD_GET, 0x12, 2 << 16), 0x0100);
	ck_assert_uint_eq(ask(METHOD_GET, 0x12, 1 << 16 | 1 << 8), STATUS_BAD_VALUE);
	ck_assert_uint_eq(ask(METHOD_GET, 0x12, 1 << 16 | 1), STATUS_BAD_VALUE);
	ck_assert_uint_eq(ask(METHOD_GET, 0x12, UINT32_MAX), 0x0100);
	ck_assert_uint_eq(ask(METHOD_GET, 0x13, 0), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(ask(METHOD_SET, 0x10, 0), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(ask(0x15, 0x10, 0), STATUS_BAD_METHOD);
	p = gs_request(CLASS_DM, METHOD_GET, 0x10, 0);
	p.mad[MAD_CLASS_VERSION] = 2;
	ck_assert_uint_eq(gs_ask(dm_receive, gs_ca, &p), STATUS_BAD_VERSION);
}
END_TEST

START_TEST(not_for_it)
{
	struct packet before = gs_request(CLASS_DM, METHOD_GET, 0x10, 0);

	p = before;
	ck_assert(!dm_receive(gs_sim, gs_switch, &p));	/* no target */
	ck_assert_mem_eq(&p, &before, sizeof(p));
	p = gs_request(CLASS_PM, METHOD_GET, 0x10, 0);
	ck_assert(!dm_receive(gs_sim, gs_ca, &p));
	p = gs_request(CLASS_DM, METHOD_GET_RESP, 0x10, 0);
	ck_assert(!dm_receive(gs_sim, gs_ca, &p));
	p = before;
	p.qkey = 1;
	ck_assert(!dm_receive(gs_sim, gs_ca, &p));
	p = before;
	p.dqpn = 0;
	ck_assert(!dm_receive(gs_sim, gs_ca, &p));
}
END_TEST

START_TEST(portinfo_says_so)
{
	ck_assert(gs_fabric->nodes[1].profile->capmask & CAP_DEVICE_MGMT);
	ck_assert(!(gs_fabric->nodes[0].profile->capmask & CAP_DEVICE_MGMT));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dm");
	TCase *t = tcase_create("dm");

	tcase_add_checked_fixture(t, setup, gs_teardown);
	tcase_add_test(t, a_target_is_found);
	tcase_add_test(t, what_is_not_there);
	tcase_add_test(t, not_for_it);
	tcase_add_test(t, portinfo_says_so);
	suite_add_tcase(s, t);
	return run_suite(s);
}
