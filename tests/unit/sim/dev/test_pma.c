/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests performance management as perfquery and ibqueryerrors use it; libibmad's
 * fields are an independent source of offsets.
 *
 * promise: V2
 */
#include <check.h>
#include <infiniband/mad.h>
#include <string.h>

#include "gs_test.h"
#include "unit/run.h"

enum { COUNTERS = 0x12, EXTENDED = 0x1d };

static struct packet p;

static uint8_t *data(void)
{
	return p.mad + GS_TEST_DATA;
}

/* A request with PortSelect; fields may be put in before it is sent. */
static void prepare(uint8_t method, uint16_t attr, unsigned port_select)
{
	p = gs_request(CLASS_PM, method, attr, 0);
	data()[1] = (uint8_t)port_select;
}

static unsigned ask(uint32_t port)
{
	return gs_ask(pma_receive, port, &p);
}

static unsigned get(uint32_t port, uint16_t attr, unsigned port_select)
{
	prepare(METHOD_GET, attr, port_select);
	return ask(port);
}

/* Sets the selected counters to zero. */
static unsigned reset(uint32_t port, uint16_t attr, unsigned port_select, uint32_t select)
{
	prepare(METHOD_SET, attr, port_select);
	mad_set_field(data(), 0, IB_PC_COUNTER_SELECT_F, select & 0xffff);
	if (attr == EXTENDED)
		mad_set_field(data(), 0, IB_PC_EXT_COUNTER_SELECT2_F, select >> 16);
	else
		mad_set_field(data(), 0, IB_PC_COUNTER_SELECT2_F, select >> 16);
	return ask(port);
}

static uint32_t field(enum MAD_FIELDS f)
{
	if (f == IB_PC_QP1_DROP_F)	/* libibmad takes VL15Dropped for it */
		return get_be16(data() + 20);
	return mad_get_field(data(), 0, f);
}

static uint64_t field64(enum MAD_FIELDS f)
{
	return mad_get_field64(data(), 0, f);
}

static struct sim_counters *counters(uint32_t port)
{
	return port_counters(&gs_fabric->ports[port]);
}

static void setup(void)
{
	gs_setup("");
}

START_TEST(class_port_info)
{
	ck_assert_uint_eq(get(gs_switch, 0x01, 0), STATUS_OK);
	ck_assert_uint_eq(field(IB_CPI_BASEVER_F), 1);
	ck_assert_uint_eq(field(IB_CPI_CLASSVER_F), 1);
	ck_assert_uint_eq(field(IB_CPI_CAPMASK_F), 1u << 2 | 1u << 8 | 1u << 9 | 1u << 12 | 1u << 15);
	ck_assert_uint_eq(field(IB_CPI_CAPMASK2_F), 2);
	ck_assert_uint_eq(field(IB_CPI_RESP_TIME_VALUE_F), gs_fabric->nodes[0].profile->resp_time);
	ck_assert_uint_eq(get(gs_ca, 0x01, 0), STATUS_OK);
	ck_assert_uint_eq(field(IB_CPI_CAPMASK_F), 1u << 2 | 1u << 9 | 1u << 12 | 1u << 15);
	prepare(METHOD_SET, 0x01, 0);
	ck_assert_uint_eq(ask(gs_ca), STATUS_BAD_METHOD_ATTR);
}
END_TEST

static void fill(struct sim_counters *c, uint64_t v)
{
	c->symbol_errors = v + 1;
	c->link_recovers = v + 2;
	c->link_downed = v + 3;
	c->rcv_errors = v + 4;
	c->rcv_remote_physical = v + 5;
	c->rcv_switch_relay = v + 6;
	c->xmit_discards = v + 7;
	c->xmit_constraint = v + 8;
	c->rcv_constraint = v + 9;
	c->local_integrity = v + 10;
	c->buffer_overrun = v + 11;
	c->vl15_dropped = v + 12;
	c->xmit_data = v + 13;
	c->rcv_data = v + 14;
	c->xmit_pkts = v + 15;
	c->rcv_pkts = v + 16;
	c->xmit_wait = v + 17;
	c->qp1_dropped = v + 18;
	c->ucast_xmit = v + 19;
	c->ucast_rcv = v + 20;
	c->mcast_xmit = v + 21;
	c->mcast_rcv = v + 22;
}

/* In the order of fill(). */
static const enum MAD_FIELDS short_fields[] = {
	IB_PC_ERR_SYM_F, IB_PC_LINK_RECOVERS_F, IB_PC_LINK_DOWNED_F, IB_PC_ERR_RCV_F,
	IB_PC_ERR_PHYSRCV_F, IB_PC_ERR_SWITCH_REL_F, IB_PC_XMT_DISCARDS_F, IB_PC_ERR_XMTCONSTR_F,
	IB_PC_ERR_RCVCONSTR_F, IB_PC_ERR_LOCALINTEG_F, IB_PC_ERR_EXCESS_OVR_F,
	IB_PC_VL15_DROPPED_F, IB_PC_XMT_BYTES_F, IB_PC_RCV_BYTES_F, IB_PC_XMT_PKTS_F,
	IB_PC_RCV_PKTS_F, IB_PC_XMT_WAIT_F, IB_PC_QP1_DROP_F,
};
static const enum MAD_FIELDS extended_fields[] = {
	IB_PC_EXT_ERR_SYM_F, IB_PC_EXT_LINK_RECOVERS_F, IB_PC_EXT_LINK_DOWNED_F,
	IB_PC_EXT_ERR_RCV_F, IB_PC_EXT_ERR_PHYSRCV_F, IB_PC_EXT_ERR_SWITCH_REL_F,
	IB_PC_EXT_XMT_DISCARDS_F, IB_PC_EXT_ERR_XMTCONSTR_F, IB_PC_EXT_ERR_RCVCONSTR_F,
	IB_PC_EXT_ERR_LOCALINTEG_F, IB_PC_EXT_ERR_EXCESS_OVR_F, IB_PC_EXT_VL15_DROPPED_F,
	IB_PC_EXT_XMT_BYTES_F, IB_PC_EXT_RCV_BYTES_F, IB_PC_EXT_XMT_PKTS_F, IB_PC_EXT_RCV_PKTS_F,
	IB_PC_EXT_XMT_WAIT_F, IB_PC_EXT_QP1_DROP_F, IB_PC_EXT_XMT_UPKTS_F, IB_PC_EXT_RCV_UPKTS_F,
	IB_PC_EXT_XMT_MPKTS_F, IB_PC_EXT_RCV_MPKTS_F,
};

static void ck_short(uint64_t v)
{
	for (size_t i = 0; i < ARRAY_SIZE(short_fields); i++)
		ck_assert_msg(field(short_fields[i]) == (v == UINT64_MAX ? 0 : v + i + 1),
			      "%s: %u", mad_field_name(short_fields[i]), field(short_fields[i]));
}

static void ck_extended(uint64_t v)
{
	for (size_t i = 0; i < ARRAY_SIZE(extended_fields); i++)
		ck_assert_msg(field64(extended_fields[i]) == v + i + 1, "%s: %ju",
			      mad_field_name(extended_fields[i]),
			      (uintmax_t)field64(extended_fields[i]));
}

START_TEST(every_counter_is_in_its_place)
{
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);	/* none were counted yet */
	for (size_t i = 0; i < ARRAY_SIZE(short_fields); i++)
		ck_assert_uint_eq(field(short_fields[i]), 0);
	fill(counters(gs_ca), 0);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_short(0);
	ck_assert_uint_eq(field(IB_PC_PORT_SELECT_F), 2);
	fill(counters(gs_ca), 1ULL << 40);
	ck_assert_uint_eq(get(gs_ca, EXTENDED, 2), STATUS_OK);
	ck_extended(1ULL << 40);
}
END_TEST

START_TEST(counters_saturate)
{
	fill(counters(gs_ca), 1ULL << 40);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_ERR_SYM_F), 0xffff);
	ck_assert_uint_eq(field(IB_PC_LINK_DOWNED_F), 0xff);
	ck_assert_uint_eq(field(IB_PC_ERR_LOCALINTEG_F), 0xf);
	ck_assert_uint_eq(field(IB_PC_ERR_EXCESS_OVR_F), 0xf);
	ck_assert_uint_eq(field(IB_PC_XMT_BYTES_F), 0xffffffff);
	ck_assert_uint_eq(field(IB_PC_QP1_DROP_F), 0xffff);
	ck_assert_uint_eq(field(IB_PC_COUNTER_SELECT2_F), 0);
}
END_TEST

START_TEST(only_selected_counters_are_set)
{
	fill(counters(gs_ca), 0);
	ck_assert_uint_eq(reset(gs_ca, COUNTERS, 2, 1u << 0 | 1u << 9 | 1u << 15 | 1u << 16),
			  STATUS_OK);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_ERR_SYM_F), 0);
	ck_assert_uint_eq(field(IB_PC_ERR_LOCALINTEG_F), 0);
	ck_assert_uint_eq(field(IB_PC_RCV_PKTS_F), 0);
	ck_assert_uint_eq(field(IB_PC_XMT_WAIT_F), 0);
	ck_assert_uint_eq(field(IB_PC_LINK_RECOVERS_F), 2);
	ck_assert_uint_eq(field(IB_PC_ERR_EXCESS_OVR_F), 11);
	ck_assert_uint_eq(field(IB_PC_QP1_DROP_F), 18);

	/* they count on from there */
	counters(gs_ca)->symbol_errors += 5;
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_ERR_SYM_F), 5);

	/* a Set writes the attribute's value, which need not be zero */
	prepare(METHOD_SET, COUNTERS, 2);
	mad_set_field(data(), 0, IB_PC_COUNTER_SELECT_F, 1u << 10 | 1u << 12);
	mad_set_field(data(), 0, IB_PC_ERR_EXCESS_OVR_F, 9);
	mad_set_field(data(), 0, IB_PC_XMT_BYTES_F, 0xfffffff0);
	ck_assert_uint_eq(ask(gs_ca), STATUS_OK);
	counters(gs_ca)->xmit_data += 0x20;
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_ERR_EXCESS_OVR_F), 9);
	ck_assert_uint_eq(field(IB_PC_XMT_BYTES_F), 0xffffffff);
}
END_TEST

/* PortCounters and PortCountersExtended are reset each on its own. */
START_TEST(attributes_do_not_reset_each_other)
{
	fill(counters(gs_ca), 0);
	ck_assert_uint_eq(reset(gs_ca, COUNTERS, 2, 0x3ffff), STATUS_OK);
	ck_short(UINT64_MAX);
	ck_assert_uint_eq(get(gs_ca, EXTENDED, 2), STATUS_OK);
	ck_extended(0);

	fill(counters(gs_ca), 0);
	memset(counters(gs_ca)->taken, 0, sizeof(counters(gs_ca)->taken));
	ck_assert_uint_eq(reset(gs_ca, EXTENDED, 2, 0x3fff00ff), STATUS_OK);
	for (size_t i = 0; i < ARRAY_SIZE(extended_fields); i++)
		ck_assert_uint_eq(field64(extended_fields[i]), 0);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_short(0);
}
END_TEST

START_TEST(all_ports_of_a_switch)
{
	for (uint32_t i = 1; i <= 4; i++)
		counters(gs_switch + i)->xmit_data = 100 * i;
	counters(gs_switch + 1)->link_downed = 200;
	counters(gs_switch + 2)->link_downed = 200;
	counters(gs_switch + 1)->rcv_data = counters(gs_switch + 2)->rcv_data = UINT64_MAX;
	ck_assert_uint_eq(get(gs_switch, COUNTERS, 0xff), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_PORT_SELECT_F), 0xff);
	ck_assert_uint_eq(field(IB_PC_XMT_BYTES_F), 1000);
	ck_assert_uint_eq(field(IB_PC_LINK_DOWNED_F), 0xff);
	ck_assert_uint_eq(get(gs_switch, EXTENDED, 0xff), STATUS_OK);
	ck_assert_uint_eq(field64(IB_PC_EXT_LINK_DOWNED_F), 400);
	ck_assert_uint_eq(field64(IB_PC_EXT_RCV_BYTES_F), UINT64_MAX);
	ck_assert_uint_eq(reset(gs_switch, COUNTERS, 0xff, 1u << 12), STATUS_OK);
	ck_assert_uint_eq(get(gs_switch, COUNTERS, 3), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_BYTES_F), 0);
}
END_TEST

START_TEST(ports_that_are_none)
{
	static const uint16_t attrs[] = { 0x10, 0x12, 0x15, 0x16, 0x19, 0x1a, 0x1c, 0x1d, 0x36, 0x37 };

	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		for (unsigned n = 0; n <= 4; n++)
			ck_assert_uint_eq(get(gs_switch, attrs[i], n), STATUS_OK);
		ck_assert_uint_eq(get(gs_switch, attrs[i], 5), STATUS_BAD_VALUE);
		ck_assert_uint_eq(get(gs_switch, attrs[i], 0xfe), STATUS_BAD_VALUE);
		ck_assert_uint_eq(get(gs_ca, attrs[i], 2), STATUS_OK);
		ck_assert_uint_eq(get(gs_ca, attrs[i], 0), STATUS_BAD_VALUE);
		ck_assert_uint_eq(get(gs_ca, attrs[i], 1), STATUS_BAD_VALUE);
		ck_assert_uint_eq(get(gs_ca, attrs[i], 0xff), STATUS_BAD_VALUE);
		ck_assert_uint_eq(reset(gs_ca, attrs[i], 3, 0xffff), STATUS_BAD_VALUE);
	}
}
END_TEST

START_TEST(by_vl)
{
	for (unsigned vl = 0; vl < 16; vl++) {
		counters(gs_ca)->vl_rcv_pkts[vl] = vl + 1;
		counters(gs_ca)->vl_rcv_data[vl] = 0x10000 * (vl + 1);
	}
	ck_assert_uint_eq(get(gs_ca, 0x19, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_PACKETS0_F), 1);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_PACKETS15_F), 16);
	ck_assert_uint_eq(get(gs_ca, 0x1a, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_DATA0_F), 0x10000);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_DATA15_F), 0x100000);
	ck_assert_uint_eq(reset(gs_ca, 0x19, 2, 1u << 15), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_PACKETS14_F), 15);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_OP_PACKETS15_F), 0);
}
END_TEST

START_TEST(by_sl_and_waits)
{
	for (unsigned i = 0; i < 16; i++) {
		counters(gs_ca)->sl_xmit_data[i] = i + 1;
		counters(gs_ca)->sl_rcv_data[i] = 0x10000 * (i + 1);
		counters(gs_ca)->vl_xmit_wait[i] = 0x1000ull * (i + 1);
	}
	ck_assert_uint_eq(get(gs_ca, 0x36, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_DATA_SL0_F), 1);
	ck_assert_uint_eq(field(IB_PC_XMT_DATA_SL15_F), 16);
	ck_assert_uint_eq(get(gs_ca, 0x37, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_RCV_DATA_SL0_F), 0x10000);
	ck_assert_uint_eq(field(IB_PC_RCV_DATA_SL15_F), 0x100000);
	ck_assert_uint_eq(get(gs_ca, 0x1c, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_XMIT_WAIT0_F), 0x1000);
	ck_assert_uint_eq(field(IB_PC_PORT_VL_XMIT_WAIT15_F), 0xffff);	/* it stops there */
	ck_assert_uint_eq(reset(gs_ca, 0x36, 2, 1u << 15), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_DATA_SL14_F), 15);
	ck_assert_uint_eq(field(IB_PC_XMT_DATA_SL15_F), 0);
}
END_TEST

START_TEST(plain)
{
	static const uint16_t lacking[] = { 0x19, 0x1a, 0x1c, 0x36, 0x37 };

	gs_teardown();
	gs_setup("profiles:\n  plain: {plain-pma: true}\ndefault: plain\n");
	for (size_t i = 0; i < ARRAY_SIZE(lacking); i++)
		ck_assert_uint_eq(get(gs_ca, lacking[i], 2), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(get(gs_ca, EXTENDED, 2), STATUS_OK);
}
END_TEST

START_TEST(narrow)
{
	struct sim_counters *c;

	gs_teardown();
	gs_setup("profiles:\n  narrow: {narrow-pma: true}\ndefault: narrow\n");
	c = counters(gs_ca);
	c->local_integrity = 40;
	ck_assert_uint_eq(get(gs_ca, EXTENDED, 2), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_ERR_LOCALINTEG_F), 15);	/* it stops there */
	ck_assert_uint_eq(get(gs_ca, CLASS_PORT_INFO, 0), STATUS_OK);
	ck_assert_uint_eq(field(IB_CPI_CAPMASK_F) & 1 << 9, 0);
	ck_assert_uint_eq(field(IB_CPI_CAPMASK2_F), 0);
}
END_TEST

START_TEST(details)
{
	fill(counters(gs_ca), 0);
	ck_assert_uint_eq(get(gs_ca, 0x15, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_RCV_LOCAL_PHY_ERR_F), 4);
	ck_assert_uint_eq(field(IB_PC_RCV_BUF_OVR_ERR_F), 11);
	ck_assert_uint_eq(get(gs_ca, 0x16, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_INACT_DISC_F), 7);
	ck_assert_uint_eq(reset(gs_ca, 0x16, 2, 0xf), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_INACT_DISC_F), 0);
	ck_assert_uint_eq(get(gs_ca, COUNTERS, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PC_XMT_DISCARDS_F), 7);
}
END_TEST

START_TEST(sampling_is_idle)
{
	ck_assert_uint_eq(get(gs_ca, 0x10, 2), STATUS_OK);
	ck_assert_uint_eq(field(IB_PSC_SAMPLE_STATUS_F), 0);
	ck_assert_uint_eq(field(IB_PSC_PORT_SELECT_F), 2);
	ck_assert_uint_eq(get(gs_ca, 0x11, 0), STATUS_OK);
	prepare(METHOD_SET, 0x10, 2);
	ck_assert_uint_eq(ask(gs_ca), STATUS_BAD_VALUE);
}
END_TEST

START_TEST(refused)
{
	static const uint16_t unknown[] = { 0, 2, 0x13, 0x17, 0x18, 0x1b, 0x35, 0xffff };

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		ck_assert_uint_eq(get(gs_ca, unknown[i], 2), STATUS_BAD_METHOD_ATTR);
	prepare(0x12, COUNTERS, 2);
	ck_assert_uint_eq(ask(gs_ca), STATUS_BAD_METHOD);
	prepare(METHOD_GET, COUNTERS, 2);
	p.mad[MAD_CLASS_VERSION] = 9;
	ck_assert_uint_eq(ask(gs_ca), STATUS_BAD_VERSION);
}
END_TEST

START_TEST(not_for_it)
{
	static const uint8_t methods[] = { METHOD_GET_RESP, METHOD_SEND, METHOD_TRAP, METHOD_REPORT,
					   METHOD_TRAP_REPRESS };

	for (size_t i = 0; i < ARRAY_SIZE(methods); i++) {
		prepare(methods[i], COUNTERS, 2);
		ck_assert(!pma_receive(gs_sim, gs_ca, &p));
	}
	prepare(METHOD_GET, COUNTERS, 2);
	p.mad[MAD_CLASS] = CLASS_SA;
	ck_assert(!pma_receive(gs_sim, gs_ca, &p));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pma");
	TCase *t = tcase_create("pma");

	tcase_add_checked_fixture(t, setup, gs_teardown);
	tcase_add_test(t, class_port_info);
	tcase_add_test(t, every_counter_is_in_its_place);
	tcase_add_test(t, counters_saturate);
	tcase_add_test(t, only_selected_counters_are_set);
	tcase_add_test(t, attributes_do_not_reset_each_other);
	tcase_add_test(t, all_ports_of_a_switch);
	tcase_add_test(t, ports_that_are_none);
	tcase_add_test(t, by_vl);
	tcase_add_test(t, by_sl_and_waits);
	tcase_add_test(t, plain);
	tcase_add_test(t, narrow);
	tcase_add_test(t, details);
	tcase_add_test(t, sampling_is_idle);
	tcase_add_test(t, refused);
	tcase_add_test(t, not_for_it);
	suite_add_tcase(s, t);
	return run_suite(s);
}
