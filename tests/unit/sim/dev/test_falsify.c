/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests falsified answers: the intended fields are changed, and nothing else is.
 *
 * promise: V2
 */
#include <check.h>
#include <stdlib.h>

#include "sim/net/fault.h"
#include "smp_test.h"
#include "unit/run.h"

static uint8_t data[SMP_DATA_SIZE], honest[SMP_DATA_SIZE];

static unsigned kind(const char *name)
{
	unsigned i = 0;

	while (falsehood_name(i) && strcmp(falsehood_name(i), name))
		i++;
	ck_assert_msg(falsehood_name(i), "no falsehood %s", name);
	return i;
}

/* Replaces sw2's falsehoods by this one. */
static void lie(const char *name)
{
	struct fault_rule r = {
		.effect = FAULT_FALSIFY, .falsehood = kind(name), .chance = 1, .left = UINT32_MAX,
		.attr = falsehood_attr(kind(name)), .node = fabric->ports[sw2].node,
		.port = SIM_NONE, .spared = SIM_NONE,
	};

	fault_remove(sim, 0);
	fault_add(sim, &r);
}

/* The answers of sw2, "1.2", with the lie and without. */
static unsigned compare(const char *name, uint16_t attr)
{
	fault_remove(sim, 0);
	ck_assert_uint_eq(smp_get("1.2", attr, 0, honest), STATUS_OK);
	lie(name);
	return smp_get("1.2", attr, 0, data);
}

START_TEST(one_field_of_one_attribute)
{
	ck_assert_uint_eq(compare("ports-255", ATTR_NODE_INFO), STATUS_OK);
	ck_assert_uint_eq(data[NI_PORTS], 255);
	data[NI_PORTS] = honest[NI_PORTS];
	ck_assert_mem_eq(data, honest, sizeof(data));
	ck_assert_uint_eq(compare("ports-255", ATTR_SWITCH_INFO), STATUS_OK);
	ck_assert_mem_eq(data, honest, sizeof(data));
}
END_TEST

START_TEST(some_bits_of_a_byte)
{
	ck_assert_uint_eq(compare("neighbor-mtu-256", ATTR_PORT_INFO), STATUS_OK);
	ck_assert_uint_eq(data[PI_MTU_SM_SL] >> 4, 1);
	data[PI_MTU_SM_SL] = honest[PI_MTU_SM_SL];
	ck_assert_mem_eq(data, honest, sizeof(data));
}
END_TEST

START_TEST(others_are_honest)
{
	lie("ports-255");
	ck_assert_uint_eq(smp_get("1", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[NI_PORTS], 4);
	/* although this answer comes through the implausible port */
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(data[NI_PORTS], 1);
}
END_TEST

START_TEST(other_each_time)
{
	uint64_t guid;

	compare("node-guid-random", ATTR_NODE_INFO);
	guid = get_be64(data + NI_GUID);
	ck_assert_uint_ne(guid, get_be64(honest + NI_GUID));
	smp_get("1.2", ATTR_NODE_INFO, 0, data);
	ck_assert_uint_ne(guid, get_be64(data + NI_GUID));
}
END_TEST

START_TEST(what_others_have)
{
	uint64_t first;

	compare("node-guid-other", ATTR_NODE_INFO);
	first = get_be64(data + NI_GUID);
	ck_assert_uint_ne(first, get_be64(honest + NI_GUID));
	smp_get("1.2", ATTR_NODE_INFO, 0, data);
	ck_assert_uint_eq(first, get_be64(data + NI_GUID));
	ck_assert(map64_get(&fabric->node_by_guid, first) != MAP64_NONE);
	compare("other-node", ATTR_NODE_INFO);
	ck_assert_uint_eq(first, get_be64(data + NI_GUID));
	/* no node is a manager */
	compare("port-guid-sm", ATTR_NODE_INFO);
	ck_assert_mem_eq(data, honest, sizeof(data));
	device_set_issm(sim, ca_b, true);
	compare("port-guid-sm", ATTR_NODE_INFO);
	ck_assert_uint_eq(get_be64(data + NI_PORT_GUID), fabric->ports[ca_b].guid);
}
END_TEST

START_TEST(header)
{
	unsigned status = compare("status", ATTR_NODE_INFO);

	ck_assert(status != STATUS_OK && status != NO_ANSWER);
	lie("transaction");
	for (unsigned i = 0; i < 4; i++)
		smp_get("1.2", ATTR_NODE_INFO, 0, data);
	lie("hop-pointer");
	ck_assert_uint_eq(smp_get("1.2", ATTR_NODE_INFO, 0, data), NO_ANSWER);
}
END_TEST

/* No falsehood crashes the simulator, and each changes some answer. */
START_TEST(all_of_them)
{
	static const uint16_t attrs[] = {
		ATTR_NODE_DESCRIPTION, ATTR_NODE_INFO, ATTR_SWITCH_INFO, ATTR_PORT_INFO,
		ATTR_LINEAR_FORWARDING, ATTR_SL_TO_VL,
	};

	for (unsigned i = 0; falsehood_name(i); i++)
		for (unsigned k = 0; k < ARRAY_SIZE(attrs) && i != kind("method"); k++)
			compare(falsehood_name(i), attrs[k]);
	compare("zeros", ATTR_PORT_INFO);
	ck_assert_uint_eq(data[PI_CAPMASK + 3], 0);
	compare("garbage", ATTR_PORT_INFO);
	ck_assert_mem_ne(data, honest, sizeof(data));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("falsify");
	TCase *t = tcase_create("falsify");

	tcase_add_checked_fixture(t, default_setup, fabric_teardown);
	tcase_add_test(t, one_field_of_one_attribute);
	tcase_add_test(t, some_bits_of_a_byte);
	tcase_add_test(t, others_are_honest);
	tcase_add_test(t, other_each_time);
	tcase_add_test(t, what_others_have);
	tcase_add_test(t, header);
	tcase_add_test(t, all_of_them);
	suite_add_tcase(s, t);
	return run_suite(s);
}
