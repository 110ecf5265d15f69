/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests an HCA as its driver sees it: power, agents, events, and frames that no driver should write.
 *
 * promise: V9
 */
#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "lib/base/bytes.h"
#include "lib/base/log.h"
#include "unit/run.h"

#define KEY 0x1122334455667788u
#define SNMP_TUNNELING (1u << 17)	/* of CapabilityMask */

static struct driver b;			/* the driver of CA b */
static struct frame frame;
static uint8_t mad[SIM_MAD_SIZE];

static void setup(void)
{
	log_set_level(LOG_LEVEL_ERROR);	/* what invalid frames are is no matter of the output */
	vm_setup();
	driver_start(&b, ca_b);
}

static void teardown(void)
{
	driver_detach(&b);
	vm_teardown();
}

static struct sim_port *port_b(void)
{
	return &fabric->ports[ca_b];
}

/* --- power --- */

START_TEST(off_until_it_is_started)
{
	struct driver c;

	driver_attach(&c, ca_c);
	turn_us(20000);
	ck_assert(node_of(fabric, ca_c)->off);
	ck_assert_uint_eq(fabric->ports[ca_c].state, SIM_PORT_DOWN);
	ck_assert_uint_eq(fabric->ports[sw1 + 4].state, SIM_PORT_DOWN);
	device_power(sim, c.node, true);
	turn_us(20000);
	ck_assert(node_of(fabric, ca_c)->off);
	driver_send(&c, SIMHCA_START, 0, NULL, 0);
	turn_us(20000);
	ck_assert(!node_of(fabric, ca_c)->off);
	ck_assert_uint_eq(fabric->ports[ca_c].state, SIM_PORT_INIT);
	ck_assert_uint_eq(fabric->ports[sw1 + 4].state, SIM_PORT_INIT);
	driver_send(&c, SIMHCA_STOP, 0, NULL, 0);
	turn_us(20000);
	ck_assert(node_of(fabric, ca_c)->off);
	ck_assert_uint_eq(fabric->ports[sw1 + 4].state, SIM_PORT_DOWN);
	driver_detach(&c);
}
END_TEST

START_TEST(off_after_the_machine)
{
	driver_detach(&b);
	turn_us(20000);
	ck_assert(node_of(fabric, ca_b)->off);
	ck_assert_uint_eq(fabric->ports[sw2 + 2].state, SIM_PORT_DOWN);
	device_power(sim, fabric->ports[ca_b].node, true);
	turn_us(20000);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_INIT);	/* a simulated host has it again */
	ck_assert_uint_eq(smp_get("1.2.2", ATTR_NODE_INFO, 0, mad), STATUS_OK);
	driver_start(&b, ca_b);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_INIT);
}
END_TEST

START_TEST(fault_of_power)
{
	device_power(sim, b.node, false);
	turn_us(0);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_DOWN);
	ck_assert(driver_find(&b, SIMHCA_EVENT, &frame));
	ck_assert_uint_eq(frame.data[0], SIM_PORT_DOWN);
	driver_send(&b, SIMHCA_START, 0, NULL, 0);
	turn_us(20000);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_DOWN);
	device_power(sim, b.node, true);
	turn_us(20000);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_INIT);
}
END_TEST

START_TEST(start_resets)
{
	vm_bring_up();
	ck_assert_uint_eq(port_b()->lid, LID_B);
	driver_send(&b, SIMHCA_START, 0, NULL, 0);
	ck_assert_uint_eq(port_b()->lid, 0);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_DOWN);
	turn_us(20000);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_INIT);
}
END_TEST

START_TEST(header_describes_it)
{
	const struct simhca_header *h = driver_header(&b);

	ck_assert(le64toh(h->magic) == SIMHCA_MAGIC);
	ck_assert_uint_eq(le32toh(h->version), SIMHCA_VERSION);
	ck_assert_uint_eq(le32toh(h->hca), PEER);
	ck_assert_uint_eq(le32toh(h->n_ports), 1);
	ck_assert(le64toh(h->node_guid) == 0x400);
	ck_assert(le64toh(h->port_guid[0]) == port_b()->guid);
}
END_TEST

START_TEST(which_nodes_can_have_drivers)
{
	struct buf err = { 0 };

	ck_assert(!hca_possible(sim, fabric->ports[sw1].node, &err));
	ck_assert(!hca_possible(sim, b.node, &err));
	ck_assert(hca_possible(sim, fabric->ports[ca_a].node, &err));
	profile_of(ca_a)->ethernet = true;
	ck_assert(!hca_possible(sim, fabric->ports[ca_a].node, &err));
	profile_of(ca_a)->ethernet = false;
	buf_free(&err);
}
END_TEST

START_TEST(two_ports)
{
	struct driver a;

	driver_start(&a, ca_a);
	ck_assert_uint_eq(le32toh(driver_header(&a)->n_ports), 2);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO, 2);
	ck_assert_uint_eq(driver_ask(&a, SIMHCA_TRUSTED, false, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(mad[SMP_DATA + PI_SPEED_SUP_STATE] & 15, SIM_PORT_DOWN);
	driver_detach(&a);
}
END_TEST

/* --- agents --- */

static unsigned status_of(const uint8_t *m)
{
	return get_be16(m + MAD_STATUS) & 0x7fff;
}

static unsigned ask(uint8_t mgmt_class, uint8_t method, uint16_t attr)
{
	make_mad(mad, mgmt_class, method, attr, 0);
	return driver_ask(&b, 0, true, mad);
}

START_TEST(trusted_requests_need_no_key)
{
	device_set_mkey(sim, ca_b, KEY, 3, 0);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO, 1);
	put_be64(mad + MAD_TID, 0x1234);
	ck_assert_uint_eq(driver_ask(&b, SIMHCA_TRUSTED, false, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(mad[MAD_METHOD], METHOD_GET_RESP);
	ck_assert(get_be64(mad + MAD_TID) == 0x1234);
	ck_assert(get_be64(mad + SMP_DATA) == KEY);
	make_mad(mad, CLASS_SM_DR, METHOD_GET, ATTR_NODE_INFO, 0);
	ck_assert_uint_eq(driver_ask(&b, SIMHCA_TRUSTED, false, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(get_be16(mad + MAD_STATUS), MAD_STATUS_DR_D);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, 0x77, 0);
	ck_assert_uint_eq(driver_ask(&b, SIMHCA_TRUSTED, false, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(status_of(mad), STATUS_BAD_METHOD_ATTR);
	ck_assert_uint_eq(port_b()->mkey_violations, 0);
}
END_TEST

START_TEST(wrong_key_gets_no_answer)
{
	vm_bring_up();
	device_set_mkey(sim, ca_b, KEY, 2, 0);
	ck_assert_uint_eq(ask(CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO), SIMHCA_CONSUMED);
	ck_assert_uint_eq(port_b()->mkey_violations, 1);
	ck_assert_uint_eq(traps_heard(256, NULL), 1);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO, 0);
	put_be64(mad + SMP_MKEY, KEY);
	ck_assert_uint_eq(driver_ask(&b, 0, true, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(get_be16(mad + SMP_DATA + PI_LID), LID_B);
}
END_TEST

START_TEST(what_is_not_for_the_agents)
{
	ck_assert_uint_eq(ask(CLASS_SM_LID, METHOD_GET, ATTR_SM_INFO), SIMHCA_NOT_MINE);
	ck_assert_uint_eq(ask(CLASS_SM_LID, METHOD_TRAP, ATTR_NOTICE), SIMHCA_NOT_MINE);
	ck_assert_uint_eq(ask(CLASS_SM_DR, METHOD_GET_RESP, ATTR_NODE_INFO), SIMHCA_NOT_MINE);
	ck_assert_uint_eq(ask(CLASS_SA, METHOD_GET, 0x35), SIMHCA_NOT_MINE);
	ck_assert_uint_eq(ask(CLASS_PM, METHOD_GET_RESP, 0x12), SIMHCA_NOT_MINE);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_SM_INFO, 0);
	ck_assert_uint_eq(driver_ask(&b, SIMHCA_TRUSTED, false, mad), SIMHCA_NOT_MINE);
}
END_TEST

START_TEST(own_counters_without_a_pkey)
{
	memset(port_b()->pkeys, 0, port_b()->n_pkeys * sizeof(port_b()->pkeys[0]));
	make_mad(mad, CLASS_PM, METHOD_GET, 0x12, 0);
	mad[64 + 1] = 1;		/* PortSelect */
	ck_assert_uint_eq(driver_ask(&b, 0, false, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(status_of(mad), STATUS_OK);
	ck_assert_uint_eq(mad[64 + 1], 1);
}
END_TEST

START_TEST(silent_agents)
{
	device_set_silent(sim, b.node, true, false);
	ck_assert_uint_eq(ask(CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO), SIMHCA_CONSUMED);
	ck_assert_uint_eq(ask(CLASS_PM, METHOD_GET, 0x12), SIMHCA_CONSUMED);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO, 0);
	ck_assert_uint_eq(driver_ask(&b, SIMHCA_TRUSTED, false, mad), SIMHCA_CONSUMED);
}
END_TEST

static void repress(uint16_t flags)
{
	const uint8_t *notice = NULL;
	unsigned before = traps_heard(144, NULL);

	device_rename(sim, b.node, flags ? "another" : "one more");
	turn_us(0);
	ck_assert_uint_eq(traps_heard(144, &notice), before + 1);
	ck_assert_ptr_nonnull(notice);
	make_mad(mad, CLASS_SM_LID, METHOD_TRAP_REPRESS, ATTR_NOTICE, 0);
	memcpy(mad + SMP_DATA, notice, SMP_DATA_SIZE);
	ck_assert_uint_eq(driver_ask(&b, flags, true, mad), SIMHCA_CONSUMED);
	turn_us(10000000);
	ck_assert_uint_eq(traps_heard(144, NULL), before + 1);
}

START_TEST(repressed_trap_is_not_repeated)
{
	vm_bring_up();
	repress(0);
	device_set_mkey(sim, ca_b, KEY, 0, 0);
	repress(SIMHCA_TRUSTED);
}
END_TEST

START_TEST(trap_to_its_own_host)
{
	vm_bring_up();
	put_be16(port_b()->info + PI_SM_LID, LID_B);
	port_sync(sim, ca_b);
	device_rename(sim, b.node, "another");
	turn_us(0);
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert_uint_eq(frame.data[28 + MAD_METHOD], METHOD_TRAP);
	ck_assert_uint_eq(get_be16(frame.data + 28 + SMP_DATA + NOTICE_TRAP), 144);
}
END_TEST

/* A Set that takes down the link by which it came; the driver sends the answer first. */
START_TEST(set_that_takes_the_link_down)
{
	vm_bring_up();
	driver_forget(&b);
	make_mad(mad, CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO, 0);
	ck_assert_uint_eq(driver_ask(&b, 0, true, mad), SIMHCA_REPLY);
	mad[MAD_METHOD] = METHOD_SET;
	set_low4(mad + SMP_DATA + PI_SPEED_SUP_STATE, SIM_PORT_DOWN);
	set_high4(mad + SMP_DATA + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	ck_assert_uint_eq(driver_ask(&b, 0, true, mad), SIMHCA_REPLY);
	ck_assert_uint_eq(status_of(mad), STATUS_OK);
	turn_us(100000);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_ACTIVE);
	turn_us(150000);
	ck_assert_uint_ne(port_b()->state, SIM_PORT_ACTIVE);
}
END_TEST

/* --- what the host says --- */

static void change_capabilities(uint32_t set, uint32_t clear)
{
	struct simhca_capabilities c = { .set = htole32(set), .clear = htole32(clear) };

	driver_send(&b, SIMHCA_CAPABILITIES, 1, &c, sizeof(c));
}

START_TEST(capabilities)
{
	uint32_t before = get_be32(port_b()->info + PI_CAPMASK);
	const uint8_t *notice = NULL;

	vm_bring_up();
	ck_assert(!(before & (CAP_IS_SM | SNMP_TUNNELING)));
	change_capabilities(CAP_IS_SM | SNMP_TUNNELING, 0);
	ck_assert_uint_eq(get_be32(port_b()->info + PI_CAPMASK), before | CAP_IS_SM | SNMP_TUNNELING);
	ck_assert_uint_eq(traps_heard(144, &notice), 1);
	ck_assert_uint_eq(get_be32(notice + NOTICE_DETAILS + 6), before | CAP_IS_SM | SNMP_TUNNELING);
	change_capabilities(0, CAP_IS_SM);
	ck_assert_uint_eq(get_be32(port_b()->info + PI_CAPMASK), before | SNMP_TUNNELING);
	ck_assert_uint_eq(traps_heard(144, NULL), 2);
	change_capabilities(0, CAP_IS_SM);
	ck_assert_uint_eq(traps_heard(144, NULL), 2);	/* nothing changed */
	/* the other bits are not the host's */
	change_capabilities(UINT32_MAX, 0);
	ck_assert_uint_eq(get_be32(port_b()->info + PI_CAPMASK), before | CAP_OF_HOST);
	change_capabilities(0, UINT32_MAX);
	ck_assert_uint_eq(get_be32(port_b()->info + PI_CAPMASK), before & ~CAP_OF_HOST);
}
END_TEST

static void describe(char c)
{
	char desc[64];

	memset(desc, c, sizeof(desc));
	driver_send(&b, SIMHCA_DESCRIPTION, 0, desc, sizeof(desc));
}

static void expect_host(uint32_t capmask, const char *desc)
{
	ck_assert_uint_eq(get_be32(port_b()->info + PI_CAPMASK), capmask);
	ck_assert_str_eq(node_of(fabric, ca_b)->desc, desc);
}

/* The host runs on, and says nothing again. */
START_TEST(what_the_host_says_outlives_power_and_links)
{
	uint32_t before = get_be32(port_b()->info + PI_CAPMASK), now = before | CAP_IS_SM | SNMP_TUNNELING;
	char own[65], xs[65] = "";

	memset(xs, 'x', 64);
	memcpy(own, node_of(fabric, ca_b)->desc, sizeof(own));
	vm_bring_up();
	change_capabilities(CAP_IS_SM | SNMP_TUNNELING, 0);
	describe('x');
	device_power(sim, fabric->ports[sw2].node, false);
	turn_us(20000);
	device_power(sim, fabric->ports[sw2].node, true);
	turn_us(20000);
	expect_host(now, xs);
	device_power(sim, b.node, false);
	turn_us(20000);
	device_power(sim, b.node, true);
	turn_us(20000);
	expect_host(now, xs);
	ck_assert_uint_eq(port_b()->lid, 0);	/* the tables are lost */
	change_capabilities(0, CAP_IS_SM);
	device_reset(sim, b.node);
	expect_host(before | SNMP_TUNNELING, xs);
	/* a driver that starts speaks for another host */
	driver_send(&b, SIMHCA_START, 0, NULL, 0);
	expect_host(before, own);
}
END_TEST

START_TEST(what_the_host_says_ends_with_the_machine)
{
	uint32_t before = get_be32(port_b()->info + PI_CAPMASK);
	char own[65];

	memcpy(own, node_of(fabric, ca_b)->desc, sizeof(own));
	vm_bring_up();
	change_capabilities(CAP_IS_SM | SNMP_TUNNELING, 0);
	describe('x');
	driver_detach(&b);
	device_power(sim, fabric->ports[ca_b].node, true);
	turn_us(20000);
	expect_host(before, own);
	driver_start(&b, ca_b);
	expect_host(before, own);
}
END_TEST

START_TEST(description)
{
	vm_bring_up();
	describe('x');
	ck_assert_uint_eq(strlen(node_of(fabric, ca_b)->desc), 64);
	ck_assert_uint_eq(traps_heard(144, NULL), 1);
}
END_TEST

START_TEST(bad_qkey)
{
	const struct raw_spec r = {
		.slid = LID_A, .dlid = LID_B, .dqpn = 0x99, .sqpn = 0x77, .qkey = 0x12345, .n = 500,
	};
	const uint8_t *notice = NULL;
	uint8_t raw[1024];

	vm_bring_up();
	make_raw(&r, raw);
	driver_send(&b, SIMHCA_BAD_QKEY, 1, raw, 64);	/* the start suffices */
	ck_assert_uint_eq(port_b()->qkey_violations, 1);
	ck_assert_uint_eq(traps_heard(258, &notice), 1);
	ck_assert_uint_eq(get_be32(notice + NOTICE_DETAILS + 6), 0x12345);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS + 2), LID_A);
}
END_TEST

/* --- events --- */

/* The flags of the only event; 0: there is none. */
static unsigned event(void)
{
	unsigned flags = 0, n = 0;

	turn_us(0);
	while (driver_find(&b, SIMHCA_EVENT, &frame)) {
		ck_assert_uint_eq(frame.port, 1);
		flags = frame.flags;
		n++;
	}
	ck_assert_uint_le(n, 1);
	return flags;
}

static void set_info(unsigned offset, uint8_t value)
{
	uint8_t data[SMP_DATA_SIZE] = { 0 };

	device_smp(sim, ca_b, METHOD_GET, ATTR_PORT_INFO, 1, data);
	set_low4(data + PI_SPEED_SUP_STATE, 0);
	set_high4(data + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	data[offset] = value;
	ck_assert_uint_eq(device_smp(sim, ca_b, METHOD_SET, ATTR_PORT_INFO, 1, data), STATUS_OK);
}

START_TEST(each_change_of_portinfo)
{
	static const struct { unsigned offset; uint8_t value; unsigned flags; } changes[] = {
		{ PI_LID + 1, 64, SIMHCA_LID_CHANGED },
		{ PI_MKEY_PROTECT_LMC, 2, SIMHCA_LID_CHANGED },
		{ PI_SM_LID + 1, 9, SIMHCA_SM_CHANGED },
		{ PI_MTU_SM_SL, 0x43, SIMHCA_SM_CHANGED },
		{ PI_GID_PREFIX + 7, 5, SIMHCA_GIDS_CHANGED },
		{ PI_VL_HIGH_LIMIT, 5, 0 },
	};

	vm_bring_up();
	event();
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		set_info(changes[i].offset, changes[i].value);
		ck_assert_uint_eq(event(), changes[i].flags);
		set_info(changes[i].offset, changes[i].value);
		ck_assert_uint_eq(event(), 0);
	}
	set_info(PI_REREG_SUBNET_TIMEOUT, PI_CLIENT_REREGISTER);
	ck_assert_uint_eq(event(), SIMHCA_REREGISTER);
	set_info(PI_REREG_SUBNET_TIMEOUT, PI_CLIENT_REREGISTER);
	ck_assert_uint_eq(event(), SIMHCA_REREGISTER);
}
END_TEST

START_TEST(changes_of_tables)
{
	uint8_t data[SMP_DATA_SIZE] = { 0xff, 0xff, 0x80, 0x07 };

	vm_bring_up();
	event();
	ck_assert_uint_eq(device_smp(sim, ca_b, METHOD_SET, ATTR_PKEY_TABLE, 0, data), STATUS_OK);
	ck_assert_uint_eq(event(), SIMHCA_PKEYS_CHANGED);
	memset(data, 0, sizeof(data));
	data[15] = 0x42;
	ck_assert_uint_eq(device_smp(sim, ca_b, METHOD_SET, ATTR_GUID_INFO, 0, data), STATUS_OK);
	ck_assert_uint_eq(event(), SIMHCA_GIDS_CHANGED);
}
END_TEST

START_TEST(changes_of_state)
{
	vm_bring_up();
	ck_assert(event() & SIMHCA_STATE_CHANGED);
	ck_assert_uint_eq(frame.length, 1);
	ck_assert_uint_eq(frame.data[0], SIM_PORT_ACTIVE);
	cable_plug(sim, ca_b, false);
	ck_assert_uint_eq(event(), SIMHCA_STATE_CHANGED);
	ck_assert_uint_eq(frame.data[0], SIM_PORT_DOWN);
	cable_plug(sim, ca_b, true);
	ck_assert_uint_eq(event(), 0);		/* it trains */
	turn_us(20000);
	ck_assert_uint_eq(event(), SIMHCA_STATE_CHANGED);
	ck_assert_uint_eq(frame.data[0], SIM_PORT_INIT);
	device_power(sim, fabric->ports[sw2].node, false);
	ck_assert_uint_eq(event(), SIMHCA_STATE_CHANGED);
}
END_TEST

START_TEST(answer_comes_before_its_event)
{
	struct simhca_mad m = { .by_cable = 1 };

	vm_bring_up();
	driver_forget(&b);
	make_mad(m.mad, CLASS_SM_LID, METHOD_GET, ATTR_PORT_INFO, 0);
	ck_assert_uint_eq(driver_ask(&b, 0, true, m.mad), SIMHCA_REPLY);
	m.mad[MAD_METHOD] = METHOD_SET;
	m.mad[SMP_DATA + PI_SM_LID + 1] = 33;
	set_low4(m.mad + SMP_DATA + PI_SPEED_SUP_STATE, 0);
	set_high4(m.mad + SMP_DATA + PI_PHYS_STATE_DOWN_DEFAULT, 0);
	driver_send(&b, SIMHCA_MAD, 1, &m, sizeof(m));
	ck_assert(driver_read(&b, &frame));
	ck_assert_uint_eq(frame.kind, SIMHCA_ANSWER);
	ck_assert_uint_eq(frame.flags, SIMHCA_REPLY);
	ck_assert(driver_read(&b, &frame));
	ck_assert_uint_eq(frame.kind, SIMHCA_EVENT);
	ck_assert_uint_eq(frame.flags, SIMHCA_SM_CHANGED);
}
END_TEST

START_TEST(doorbell_rings_only_for_news)
{
	unsigned before = b.rung;

	turn_us(1000);
	ck_assert_uint_eq(b.rung, before);
	cable_plug(sim, ca_b, false);
	turn_us(0);
	ck_assert_uint_eq(b.rung, before + 1);
}
END_TEST

START_TEST(doorbell_rings_when_there_is_room_again)
{
	const struct simhca_capabilities same = { 0 };
	unsigned before = b.rung;

	while (b.written - le32toh(to_hca(&b)->read) <= SIMHCA_RING_SIZE / 2)
		driver_write(&b, SIMHCA_CAPABILITIES, 1, 0, 0, &same, sizeof(same));
	driver_ring(&b);
	ck_assert_uint_eq(b.rung, before + 1);
	driver_send(&b, SIMHCA_CAPABILITIES, 1, &same, sizeof(same));
	ck_assert_uint_eq(b.rung, before + 1);
}
END_TEST

/* --- frames that no driver should write --- */

static void expect_broken(void)
{
	const struct simhca_mad m = { 0 };

	ck_assert(node_of(fabric, ca_b)->off);
	ck_assert_uint_eq(le32toh(to_hca(&b)->read), b.written & ~7u);
	/* nothing is taken any more … */
	driver_forget(&b);
	driver_send(&b, SIMHCA_MAD, 1, &m, sizeof(m));
	turn_us(20000);
	ck_assert(!driver_read(&b, &frame));
	/* … until it is started */
	driver_send(&b, SIMHCA_START, 0, NULL, 0);
	turn_us(20000);
	ck_assert(!node_of(fabric, ca_b)->off);
	ck_assert_uint_eq(port_b()->state, SIM_PORT_INIT);
	driver_forget(&b);
	ck_assert_uint_eq(ask(CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO), SIMHCA_REPLY);
}

/* A packet of a reliable connection has no Q_Key. */
START_TEST(bad_qkey_of_no_datagram)
{
	uint8_t raw[1024];

	make_raw(&(struct raw_spec){ .slid = LID_A, .dlid = LID_B, .dqpn = 0x99, .opcode = 4, .n = 64 }, raw);
	driver_send(&b, SIMHCA_BAD_QKEY, 1, raw, 64);
	expect_broken();
	ck_assert_uint_eq(port_b()->qkey_violations, 0);
}
END_TEST

static void expect_breaks(uint8_t kind, uint8_t port, uint32_t n)
{
	static const uint8_t zero[512];

	driver_send(&b, kind, port, zero, n);
	expect_broken();
}

START_TEST(invalid_frames)
{
	expect_breaks(0, 0, 0);
	expect_breaks(SIMHCA_ANSWER, 1, 0);
	expect_breaks(SIMHCA_EVENT, 1, 0);
	expect_breaks(255, 1, 0);
	expect_breaks(SIMHCA_MAD, 0, sizeof(struct simhca_mad));
	expect_breaks(SIMHCA_MAD, 2, sizeof(struct simhca_mad));
	expect_breaks(SIMHCA_MAD, 1, sizeof(struct simhca_mad) - 8);
	expect_breaks(SIMHCA_MAD, 1, sizeof(struct simhca_mad) + 8);
	expect_breaks(SIMHCA_START, 1, 0);
	expect_breaks(SIMHCA_STOP, 1, 0);
	expect_breaks(SIMHCA_CAPABILITIES, 1, 4);
	expect_breaks(SIMHCA_CAPABILITIES, 200, 8);
	expect_breaks(SIMHCA_DESCRIPTION, 0, 63);
	expect_breaks(SIMHCA_DESCRIPTION, 1, 64);
	expect_breaks(SIMHCA_PACKET, 1, 0);
	expect_breaks(SIMHCA_PACKET, 1, 400);
	expect_breaks(SIMHCA_PACKET, 0, 400);
	expect_breaks(SIMHCA_BAD_QKEY, 1, 7);
}
END_TEST

START_TEST(impossible_counts)
{
	b.written += SIMHCA_RING_SIZE + 8;
	to_hca(&b)->written = htole32(b.written);
	driver_ring(&b);
	expect_broken();
	b.written += 3;
	to_hca(&b)->written = htole32(b.written);
	driver_ring(&b);
	b.written &= ~7u;
	to_hca(&b)->written = htole32(b.written);
	expect_broken();
	to_driver(&b)->read = htole32(b.read + 8);
	cable_plug(sim, ca_b, false);
	turn_us(0);
	ck_assert(node_of(fabric, ca_b)->off);
}
END_TEST

/* --- a driver that does not read --- */

static void ask_often(unsigned n)
{
	struct simhca_mad m = { 0 };

	make_mad(m.mad, CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO, 0);
	for (unsigned i = 0; i < n; i++)
		driver_write(&b, SIMHCA_MAD, 1, 0, 1000 + i, &m, sizeof(m));
	driver_ring(&b);
}

/* Fills the ring to the driver with packets. */
static void flood(void)
{
	uint64_t lost = sim->drops->by_reason[DROP_QUEUE];
	struct packet p = { .slid = LID_A, .dlid = LID_B, .sqpn = 1, .dqpn = 1, .qkey = GSI_QKEY,
			    .pkey = 0xffff };

	make_mad(p.mad, CLASS_SA, METHOD_GET, 0x35, 0);
	while (sim->drops->by_reason[DROP_QUEUE] == lost) {
		wire_send(sim, ca_a, &p);
		pass_us(0);
	}
}

START_TEST(answers_and_events_wait_for_room)
{
	unsigned answers = 0, packets = 0;

	vm_bring_up();
	driver_forget(&b);
	flood();
	ask_often(20);
	cable_plug(sim, ca_b, false);
	turn_us(0);
	cable_plug(sim, ca_b, true);
	turn_us(20000);			/* two changes, told together */
	while (driver_read(&b, &frame)) {
		packets += frame.kind == SIMHCA_PACKET;
		ck_assert_uint_ne(frame.kind, SIMHCA_EVENT);
	}
	ck_assert_uint_gt(packets, 100);
	driver_ring(&b);
	for (; answers < 20; answers++) {
		ck_assert(driver_read(&b, &frame));
		ck_assert_uint_eq(frame.kind, SIMHCA_ANSWER);
		ck_assert_uint_eq(frame.id, 1000 + answers);
	}
	ck_assert(driver_read(&b, &frame));
	ck_assert_uint_eq(frame.kind, SIMHCA_EVENT);
	ck_assert_uint_eq(frame.flags, SIMHCA_STATE_CHANGED);
	ck_assert_uint_eq(frame.data[0], SIM_PORT_INIT);
	ck_assert(!driver_read(&b, &frame));
}
END_TEST

START_TEST(one_that_asks_and_never_reads_is_not_heard)
{
	uint32_t before;
	unsigned answers = 0;

	vm_bring_up();
	driver_forget(&b);
	flood();
	before = b.written;
	ask_often(500);
	ck_assert_uint_lt(le32toh(to_hca(&b)->read) - before, (500 * (16 + sizeof(struct simhca_mad))) / 2);
	for (unsigned turns = 0; turns < 2; turns++) {	/* a doorbell is enough */
		while (driver_read(&b, &frame))
			if (frame.kind == SIMHCA_ANSWER)
				ck_assert_uint_eq(frame.id, 1000 + answers++);
		driver_ring(&b);
	}
	ck_assert_uint_eq(answers, 500);
}
END_TEST

START_TEST(start_forgets_answers)
{
	vm_bring_up();
	driver_forget(&b);
	flood();
	ask_often(10);
	driver_write(&b, SIMHCA_START, 0, 0, 0, NULL, 0);
	driver_ring(&b);
	driver_forget(&b);
	driver_ring(&b);
	while (driver_read(&b, &frame))
		ck_assert_uint_ne(frame.kind, SIMHCA_ANSWER);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hca");
	TCase *t = tcase_create("hca");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, off_until_it_is_started);
	tcase_add_test(t, off_after_the_machine);
	tcase_add_test(t, fault_of_power);
	tcase_add_test(t, start_resets);
	tcase_add_test(t, header_describes_it);
	tcase_add_test(t, which_nodes_can_have_drivers);
	tcase_add_test(t, two_ports);
	tcase_add_test(t, trusted_requests_need_no_key);
	tcase_add_test(t, wrong_key_gets_no_answer);
	tcase_add_test(t, what_is_not_for_the_agents);
	tcase_add_test(t, own_counters_without_a_pkey);
	tcase_add_test(t, silent_agents);
	tcase_add_test(t, repressed_trap_is_not_repeated);
	tcase_add_test(t, trap_to_its_own_host);
	tcase_add_test(t, set_that_takes_the_link_down);
	tcase_add_test(t, capabilities);
	tcase_add_test(t, description);
	tcase_add_test(t, what_the_host_says_outlives_power_and_links);
	tcase_add_test(t, what_the_host_says_ends_with_the_machine);
	tcase_add_test(t, bad_qkey);
	tcase_add_test(t, each_change_of_portinfo);
	tcase_add_test(t, changes_of_tables);
	tcase_add_test(t, changes_of_state);
	tcase_add_test(t, answer_comes_before_its_event);
	tcase_add_test(t, doorbell_rings_only_for_news);
	tcase_add_test(t, doorbell_rings_when_there_is_room_again);
	tcase_add_test(t, bad_qkey_of_no_datagram);
	tcase_add_test(t, invalid_frames);
	tcase_add_test(t, impossible_counts);
	tcase_add_test(t, answers_and_events_wait_for_room);
	tcase_add_test(t, one_that_asks_and_never_reads_is_not_heard);
	tcase_add_test(t, start_forgets_answers);
	suite_add_tcase(s, t);
	return run_suite(s);
}
