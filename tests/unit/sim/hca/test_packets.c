/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests packets of drivers on their way through the fabric: routes, partitions, MTUs, counters.
 *
 * promise: V1 V9
 */
#include <check.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "lib/base/bytes.h"
#include "sim/net/fault.h"
#include "unit/run.h"

#define HEADERS 28		/* LRH, BTH, DETH */
#define MLID 0xc001

/* Drivers of b, c and d; a is a simulated host, with the manager. */
static struct driver b, c, d;
static struct frame frame;
static uint8_t raw[FRAME_MAX];

static void setup(void)
{
	vm_setup();
	driver_start(&b, ca_b);
	driver_start(&c, ca_c);
	driver_start(&d, ca_d);
	vm_bring_up();
	driver_forget(&b);
	driver_forget(&c);
	driver_forget(&d);
}

static void teardown(void)
{
	driver_detach(&b);
	driver_detach(&c);
	driver_detach(&d);
	vm_teardown();
}

static uint64_t lost(enum drop_reason why)
{
	return sim->drops->by_reason[why];
}

static struct sim_counters counters_of(uint32_t port)
{
	return *port_counters(&fabric->ports[port]);
}

/* From c to b, unless changed. */
static struct raw_spec datagram(unsigned n)
{
	return (struct raw_spec){
		.slid = LID_C, .dlid = LID_B, .dqpn = 0x88, .sqpn = 0x99, .qkey = 7, .n = n,
	};
}

/* The driver has the next packet, and it is the one that was sent, on this VL. */
static void expect_packet(struct driver *to, const struct raw_spec *r, unsigned vl)
{
	unsigned n = make_raw(r, raw);

	ck_assert(driver_find(to, SIMHCA_PACKET, &frame));
	ck_assert_uint_eq(frame.port, 1);
	ck_assert_uint_eq(frame.length, n);
	ck_assert_uint_eq(frame.data[0] >> 4, vl);
	ck_assert_mem_eq(frame.data + 1, raw + 1, n - 1);
}

static void expect_nothing(struct driver *to)
{
	ck_assert(!driver_find(to, SIMHCA_PACKET, &frame));
}

/* --- data --- */

START_TEST(datagrams_arrive_as_they_were_sent)
{
	static const unsigned sizes[] = { 0, 4, 256, 2044, 4096 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct raw_spec r = datagram(sizes[i]);

		r.grh = i % 2;
		driver_send_raw(&c, &r);
		expect_packet(&b, &r, 0);
	}
	ck_assert_uint_eq(sim->drops->n, 0);
	ck_assert_uint_eq(sim->stats->all.n, 0);	/* no MADs */
}
END_TEST

START_TEST(connected_packets)
{
	struct raw_spec r = datagram(64);

	r.sqpn = r.qkey = 0;
	for (unsigned opcode = 1; opcode <= 0x17; opcode++) {
		r.opcode = (uint8_t)opcode;
		driver_send_raw(&c, &r);
		expect_packet(&b, &r, 0);
	}
}
END_TEST

START_TEST(counters_show_the_real_length)
{
	const uint32_t ports[] = { ca_c, sw1 + 2, sw2 + 2 };
	struct sim_counters before[ARRAY_SIZE(ports)], at_b = counters_of(ca_b);
	struct raw_spec r = datagram(1000);

	for (size_t i = 0; i < ARRAY_SIZE(ports); i++)
		before[i] = counters_of(ports[i]);
	r.sl = 3;
	driver_send_raw(&c, &r);
	for (size_t i = 0; i < ARRAY_SIZE(ports); i++) {
		struct sim_counters now = counters_of(ports[i]);

		ck_assert_uint_eq(now.xmit_data - before[i].xmit_data, (HEADERS + 1000 + 4) / 4);
		ck_assert_uint_eq(now.xmit_pkts - before[i].xmit_pkts, 1);
		ck_assert_uint_eq(now.sl_xmit_data[3] - before[i].sl_xmit_data[3],
				  (HEADERS + 1000 + 4) / 4);
	}
	ck_assert_uint_eq(counters_of(ca_b).rcv_data - at_b.rcv_data, (HEADERS + 1000 + 4) / 4);
}
END_TEST

static void map_sl(uint32_t port, unsigned sl, uint8_t vl)
{
	uint8_t *byte = &fabric->ports[port].sl2vl[sl / 2];

	*byte = (uint8_t)(sl % 2 ? (*byte & 0xf0) | vl : (*byte & 0x0f) | vl << 4);
}

START_TEST(sl_decides_the_vl)
{
	struct raw_spec r = datagram(16);

	r.sl = 2;
	map_sl(ca_c, 2, 15);
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_VL15), 1);
	expect_nothing(&b);
}
END_TEST

static void set_mtu(uint32_t port, unsigned code)
{
	set_high4(fabric->ports[port].info + PI_MTU_SM_SL, code);
	port_sync(sim, port);
}

START_TEST(longer_than_neighbor_mtu)
{
	struct raw_spec fits = datagram(2048), not = datagram(2052);
	uint64_t before = counters_of(ca_c).xmit_discards;

	set_mtu(ca_c, 4);
	driver_send_raw(&c, &fits);
	expect_packet(&b, &fits, 0);
	driver_send_raw(&c, &not);
	expect_nothing(&b);
	ck_assert_uint_eq(lost(DROP_MTU), 1);
	ck_assert_uint_eq(counters_of(ca_c).xmit_discards, before + 1);
	/* the same at a switch on the way */
	set_mtu(ca_c, 5);
	set_mtu(sw1 + 2, 4);
	before = counters_of(sw1 + 2).xmit_discards;
	driver_send_raw(&c, &not);
	expect_nothing(&b);
	ck_assert_uint_eq(lost(DROP_MTU), 2);
	ck_assert_uint_eq(counters_of(sw1 + 2).xmit_discards, before + 1);
}
END_TEST

START_TEST(lids_of_the_path)
{
	struct raw_spec r = datagram(32);

	fabric->ports[ca_b].info[PI_MKEY_PROTECT_LMC] |= 1;
	fabric->ports[ca_b].info[PI_LID + 1] = 6;
	port_sync(sim, ca_b);
	for (uint16_t lid = 5; lid <= 8; lid++) {
		fabric->switches[node_of(fabric, sw1)->sw].lft[lid] = 2;
		fabric->switches[node_of(fabric, sw2)->sw].lft[lid] = 2;
		r.dlid = lid;
		driver_send_raw(&c, &r);
		if (lid == 6 || lid == 7)
			expect_packet(&b, &r, 0);
		else
			expect_nothing(&b);
	}
	ck_assert_uint_eq(lost(DROP_WRONG_LFT), 2);
	/* the other way: it may send by both */
	for (uint16_t lid = 5; lid <= 8; lid++)
		driver_send_raw(&b, &(struct raw_spec){ .slid = lid, .dlid = LID_C, .dqpn = 9, .n = 4 });
	ck_assert_uint_eq(lost(DROP_SLID), 2);
	ck_assert(driver_find(&c, SIMHCA_PACKET, &frame));
	ck_assert(driver_find(&c, SIMHCA_PACKET, &frame));
	expect_nothing(&c);
}
END_TEST

START_TEST(loopback)
{
	struct raw_spec r = datagram(40);

	r.dlid = LID_C;
	driver_send_raw(&c, &r);
	expect_packet(&c, &r, 0);
	ck_assert_uint_eq(counters_of(ca_c).xmit_pkts, 0);
}
END_TEST

START_TEST(what_cannot_leave)
{
	struct raw_spec r = datagram(40);

	r.pkey = 0x8005;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_PKEY), 1);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 0);	/* it was not sent */
	r = datagram(40);
	r.slid = LID_A;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_SLID), 1);
	r.slid = SIM_LID_PERMISSIVE;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_SLID), 2);
	port_set_state(sim, ca_c, SIM_PORT_INIT, SIM_PHYS_LINK_UP);
	r = datagram(40);
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_PORT_STATE), 1);
	r.dlid = LID_C;			/* to itself */
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_PORT_STATE), 2);
	device_power(sim, c.node, false);
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_NODE_OFF), 1);
	expect_nothing(&b);
}
END_TEST

/* Sends datagrams from c to b until b's ring has no room for another. */
static void flood(unsigned n)
{
	struct raw_spec r = datagram(n);
	uint64_t before = lost(DROP_QUEUE);

	while (lost(DROP_QUEUE) == before)
		driver_send_raw(&c, &r);
}

START_TEST(no_packet_overtakes_an_answer)
{
	struct simhca_mad m = { 0 };
	struct raw_spec small = datagram(4);
	uint64_t before;

	flood(2048);
	flood(256);		/* less room than an answer needs, and more than a small packet */
	ck_assert_uint_ge(SIMHCA_RING_SIZE - (le32toh(to_driver(&b)->written) - b.read), 2 * 48);
	driver_send_raw(&c, &small);
	before = lost(DROP_QUEUE);
	make_mad(m.mad, CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO, 0);
	driver_send(&b, SIMHCA_MAD, 1, &m, sizeof(m));
	driver_send_raw(&c, &small);
	ck_assert_uint_eq(lost(DROP_QUEUE), before + 1);
	driver_forget(&b);
	turn_us(0);
	ck_assert(driver_read(&b, &frame));
	ck_assert_uint_eq(frame.kind, SIMHCA_ANSWER);
	driver_send_raw(&c, &small);
	expect_packet(&b, &small, 0);
}
END_TEST

/* --- partitions --- */

START_TEST(pkey_violation)
{
	struct raw_spec r = datagram(40);
	const uint8_t *notice = NULL;

	fabric->ports[ca_c].pkeys[1] = r.pkey = 0x8005;
	driver_send_raw(&c, &r);
	expect_nothing(&b);
	ck_assert_uint_eq(lost(DROP_PKEY), 1);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 1);
	ck_assert_uint_eq(traps_heard(257, &notice), 1);
	ck_assert_uint_eq(get_be16(notice + NOTICE_DETAILS + 2), LID_C);
	ck_assert_uint_eq(get_be32(notice + NOTICE_DETAILS + 6), 0x8005);
	ck_assert_uint_eq(get_be32(notice + NOTICE_DETAILS + 14), 0x88);
	/* a limited member and a full one */
	fabric->ports[ca_b].pkeys[1] = 0x0005;
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
	/* two limited ones */
	fabric->ports[ca_c].pkeys[1] = r.pkey = 0x0005;
	driver_send_raw(&c, &r);
	expect_nothing(&b);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 2);
}
END_TEST

START_TEST(management_packet_with_a_wrong_pkey)
{
	struct packet p = { .slid = LID_A, .dlid = LID_B, .sqpn = 1, .dqpn = 1, .qkey = GSI_QKEY,
			    .pkey = 0x8005 };

	make_mad(p.mad, CLASS_PM, METHOD_GET, 0x12, 0);
	wire_send(sim, ca_a, &p);
	turn_us(0);
	expect_nothing(&b);
	ck_assert_uint_eq(fabric->ports[ca_b].pkey_violations, 1);
	p.pkey = 0xffff;
	wire_send(sim, ca_a, &p);
	turn_us(0);
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert_mem_eq(frame.data + HEADERS, p.mad, SIM_MAD_SIZE);
}
END_TEST

/* --- multicast --- */

static void add_member(uint32_t sw, unsigned port)
{
	struct sim_switch *s = &fabric->switches[node_of(fabric, sw)->sw];

	if (!s->mft)
		s->mft = xcalloc(node_of(fabric, sw)->profile->mft_cap, sizeof(*s->mft));
	s->mft[MLID - SIM_LID_MCAST][0] |= (uint64_t)1 << port;
}

START_TEST(multicast_reaches_members_only)
{
	struct raw_spec r = datagram(512);

	r.dlid = MLID;
	r.dqpn = 0xffffff;
	r.grh = true;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_MCAST), 1);
	add_member(sw1, 4);
	add_member(sw1, 2);
	add_member(sw2, 1);
	add_member(sw2, 2);
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
	expect_nothing(&b);
	expect_nothing(&d);
	expect_nothing(&c);		/* which loops it back itself */
	add_member(sw2, 4);
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
	expect_packet(&d, &r, 0);
}
END_TEST

/* --- management --- */

/* What Linux does with an SMP that came by directed route, and sends back (14.2.2). */
static void answer_as_linux(struct driver *to)
{
	uint8_t *mad = frame.data + HEADERS;
	struct raw_spec r = { .slid = SIM_LID_PERMISSIVE, .dlid = SIM_LID_PERMISSIVE, .n = SIM_MAD_SIZE };
	uint8_t answer[SIM_MAD_SIZE];

	ck_assert(driver_find(to, SIMHCA_PACKET, &frame));
	ck_assert_uint_eq(frame.length, HEADERS + SIM_MAD_SIZE);
	ck_assert_uint_eq(frame.data[0], 0xf0);
	ck_assert_uint_eq(mad[MAD_DR_HOP_PTR], mad[MAD_DR_HOP_CNT]);
	mad[SMP_RET_PATH + mad[MAD_DR_HOP_PTR]] = 1;
	mad[MAD_DR_HOP_PTR]++;
	memcpy(answer, mad, sizeof(answer));
	ck_assert_uint_eq(driver_ask(to, 0, true, answer), SIMHCA_REPLY);
	ck_assert_uint_eq(get_be16(answer + MAD_STATUS), MAD_STATUS_DR_D);
	answer[MAD_DR_HOP_PTR]--;
	r.payload = answer;
	driver_send_raw(to, &r);
}

START_TEST(directed_route_to_a_driver)
{
	struct packet p = smp_packet("1.2.2", METHOD_GET, ATTR_NODE_INFO, 0, NULL);

	wire_send(sim, ca_a, &p);
	turn_us(0);
	answer_as_linux(&b);
	ck_assert_uint_eq(n_heard, 1);
	ck_assert_uint_eq(heard[0].mad[MAD_METHOD], METHOD_GET_RESP);
	ck_assert(get_be64(heard[0].mad + SMP_DATA + NI_GUID) == 0x400);
	ck_assert_uint_eq(get_be16(heard[0].mad + MAD_STATUS) & 0x7fff, STATUS_OK);
}
END_TEST

/* Sends a request along a path of ports as Linux does: its SMI has made the first hop. */
static void send_request(struct driver *from, const char *path, uint16_t attr)
{
	struct packet p = smp_packet(path, METHOD_GET, attr, 0, NULL);
	struct raw_spec r = {
		.slid = SIM_LID_PERMISSIVE, .dlid = SIM_LID_PERMISSIVE, .n = SIM_MAD_SIZE, .payload = p.mad,
	};

	p.mad[MAD_DR_HOP_PTR] = 1;
	driver_send_raw(from, &r);
	turn_us(100000);
}

START_TEST(directed_route_from_a_driver)
{
	const uint8_t *mad = frame.data + HEADERS;

	send_request(&b, "1.1", ATTR_NODE_INFO);	/* sw1, by sw2 */
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert_uint_eq(mad[MAD_METHOD], METHOD_GET_RESP);
	ck_assert_uint_eq(mad[MAD_DR_HOP_PTR], 1);	/* Linux's SMI ends the way back */
	ck_assert(get_be64(mad + SMP_DATA + NI_GUID) == 0x100);
	send_request(&b, "1.1.1", ATTR_NODE_INFO);	/* a */
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert(get_be64(mad + SMP_DATA + NI_GUID) == 0x300);
}
END_TEST

START_TEST(directed_route_between_drivers)
{
	const uint8_t *mad = frame.data + HEADERS;

	send_request(&b, "1.1.4", ATTR_NODE_INFO);
	answer_as_linux(&c);
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert(get_be64(mad + SMP_DATA + NI_GUID) == 0x500);
}
END_TEST

START_TEST(smps_need_no_active_link)
{
	device_reset(sim, c.node);
	turn_us(20000);
	ck_assert_uint_eq(fabric->ports[ca_c].state, SIM_PORT_INIT);
	ck_assert_uint_eq(fabric->ports[ca_c].lid, 0);
	send_request(&c, "1", ATTR_NODE_INFO);
	ck_assert(driver_find(&c, SIMHCA_PACKET, &frame));
	ck_assert(get_be64(frame.data + HEADERS + SMP_DATA + NI_GUID) == 0x100);
}
END_TEST

START_TEST(lid_routed_smps)
{
	struct packet p = { .slid = LID_A, .dlid = LID_B };
	struct raw_spec r = { .slid = LID_B, .dlid = 11, .n = SIM_MAD_SIZE };

	make_mad(p.mad, CLASS_SM_LID, METHOD_GET, ATTR_NODE_INFO, 0);
	wire_send(sim, ca_a, &p);
	turn_us(0);
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert_mem_eq(frame.data + HEADERS, p.mad, SIM_MAD_SIZE);
	/* a switch answers */
	fabric->ports[sw1].info[PI_LID + 1] = 11;
	port_sync(sim, sw1);
	fabric->switches[node_of(fabric, sw1)->sw].lft[11] = 0;
	fabric->switches[node_of(fabric, sw2)->sw].lft[11] = 1;
	r.payload = p.mad;
	driver_send_raw(&b, &r);
	turn_us(100000);
	ck_assert(driver_find(&b, SIMHCA_PACKET, &frame));
	ck_assert_uint_eq(frame.data[HEADERS + MAD_METHOD], METHOD_GET_RESP);
	ck_assert_uint_eq(sim->stats->all.rows.v[0].mgmt_class, CLASS_SM_LID);
}
END_TEST

/* A simulated node has no queue pairs but those of management. */
START_TEST(simulated_nodes_have_no_data_queue_pairs)
{
	struct raw_spec r = datagram(64);

	r.dlid = LID_A;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_QP), 1);
	r.dqpn = 1;			/* not the length of a MAD */
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_QP), 2);
	ck_assert_uint_eq(n_heard, 0);
}
END_TEST

START_TEST(management_queue_pairs_get_datagrams_only)
{
	struct raw_spec r = datagram(256);
	uint64_t before = counters_of(ca_c).xmit_pkts;

	for (unsigned opcode = 1; opcode <= 0x17; opcode++) {
		r.opcode = (uint8_t)opcode;
		r.dqpn = opcode % 2;
		r.grh = opcode % 3 == 0;
		driver_send_raw(&c, &r);
		ck_assert_uint_eq(lost(DROP_QP), opcode);
	}
	expect_nothing(&b);
	ck_assert_uint_eq(counters_of(ca_c).xmit_pkts, before);
	/* the HCA goes on */
	ck_assert(!node_of(fabric, ca_c)->off);
	r = datagram(64);
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
}
END_TEST

/* --- faults --- */

static void add_fault(enum fault_effect effect, int64_t delay_us)
{
	const struct fault_rule r = {
		.effect = effect, .chance = 1, .left = UINT32_MAX, .node = SIM_NONE, .port = sw1 + 4,
		.delay_us = delay_us,
	};

	fault_add(sim, &r);
}

START_TEST(faults_of_packets)
{
	struct raw_spec r = datagram(64);

	add_fault(FAULT_DUPLICATE, 0);
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
	expect_packet(&b, &r, 0);
	fault_remove(sim, 0);
	add_fault(FAULT_CORRUPT, 0);
	driver_send_raw(&c, &r);
	expect_nothing(&b);
	ck_assert_uint_eq(lost(DROP_FAULT), 1);
	fault_remove(sim, 0);
	add_fault(FAULT_DELAY, 1000000);
	driver_send_raw(&c, &r);	/* still under way at the end, with its bytes */
	expect_nothing(&b);
	sim->frozen = true;
	driver_send_raw(&c, &r);
	ck_assert_uint_eq(sim->drops->n, 1);
}
END_TEST

START_TEST(frozen_fabric_keeps_so_many_bytes)
{
	struct raw_spec r = datagram(4096);

	sim->frozen = true;
	while (!lost(DROP_QUEUE) && sim->drops->n < 10)
		driver_send_raw(&c, &r);
	ck_assert_uint_eq(lost(DROP_QUEUE), 1);
	sim->frozen = false;
	turn_us(0);
	driver_forget(&b);
	driver_send_raw(&c, &r);
	expect_packet(&b, &r, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("packets");
	TCase *t = tcase_create("packets");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, datagrams_arrive_as_they_were_sent);
	tcase_add_test(t, connected_packets);
	tcase_add_test(t, counters_show_the_real_length);
	tcase_add_test(t, sl_decides_the_vl);
	tcase_add_test(t, longer_than_neighbor_mtu);
	tcase_add_test(t, lids_of_the_path);
	tcase_add_test(t, loopback);
	tcase_add_test(t, what_cannot_leave);
	tcase_add_test(t, no_packet_overtakes_an_answer);
	tcase_add_test(t, pkey_violation);
	tcase_add_test(t, management_packet_with_a_wrong_pkey);
	tcase_add_test(t, multicast_reaches_members_only);
	tcase_add_test(t, directed_route_to_a_driver);
	tcase_add_test(t, directed_route_from_a_driver);
	tcase_add_test(t, directed_route_between_drivers);
	tcase_add_test(t, smps_need_no_active_link);
	tcase_add_test(t, lid_routed_smps);
	tcase_add_test(t, simulated_nodes_have_no_data_queue_pairs);
	tcase_add_test(t, management_queue_pairs_get_datagrams_only);
	tcase_add_test(t, faults_of_packets);
	tcase_add_test(t, frozen_fabric_keeps_so_many_bytes);
	suite_add_tcase(s, t);
	return run_suite(s);
}
