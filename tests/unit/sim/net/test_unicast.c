/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests LID-routed SMPs and data packets: LFTs, SL-to-VL tables, P_Keys, link states, counters, drops.
 *
 * promise: V1
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "rig.h"
#include "unit/run.h"

static struct rig *r;

static void setup(void)
{
	r = rig_line(5);
}

static void teardown(void)
{
	rig_free(r);
}

static struct sim_port *port(unsigned sw, unsigned num)
{
	return &r->f->ports[rig_port(r, sw, num)];
}

static void assert_arrived(uint32_t at)
{
	ck_assert_uint_eq(rig_dropped_all(r), 0);
	ck_assert_uint_eq(r->arrived.n, 1);
	ck_assert_uint_eq(r->arrived.v[0].port, at);
	r->arrived.n = 0;
}

/* Since the last time, this was lost and nothing else happened. */
static void assert_lost(enum drop_reason why, uint32_t at)
{
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_eq(rig_dropped_all(r), 1);
	ck_assert_str_eq(drop_reason_name(r->s->drops->last[0].reason), drop_reason_name(why));
	ck_assert_uint_eq(rig_dropped(r, why), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, at);
	memset(r->s->drops, 0, sizeof(*r->s->drops));
}

/* A data packet from host 0 to host 4. */
static void send_data(uint8_t sl)
{
	rig_send(r, r->host[0], rig_gsi(HOST_LID(4), sl));
}

/* --- where it goes --- */

START_TEST(smp_and_data_to_host_and_switch)
{
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_arrived(r->host[4]);
	rig_send(r, r->host[0], rig_gsi(HOST_LID(4), 3));
	assert_arrived(r->host[4]);
	rig_send(r, r->host[4], rig_smp(SW_LID(1)));
	assert_arrived(rig_port(r, 1, 0));
	rig_send(r, r->host[4], rig_gsi(SW_LID(1), 0));
	assert_arrived(rig_port(r, 1, 0));
	rig_send(r, rig_port(r, 1, 0), rig_gsi(SW_LID(3), 0));
	assert_arrived(rig_port(r, 3, 0));
	rig_send(r, rig_port(r, 1, 0), rig_smp(HOST_LID(1)));
	assert_arrived(r->host[1]);
}
END_TEST

static void assert_came_in_by(uint32_t in_port)
{
	ck_assert_uint_eq(r->arrived.n, 1);
	ck_assert_uint_eq(r->arrived.v[0].p.in_port, in_port);
	r->arrived.n = 0;
}

START_TEST(port_of_arrival)
{
	rig_send(r, r->host[0], rig_smp(SW_LID(2)));
	assert_came_in_by(rig_port(r, 2, PORT_PREV));
	rig_send(r, r->host[4], rig_gsi(SW_LID(2), 0));
	assert_came_in_by(rig_port(r, 2, PORT_NEXT));
	rig_send(r, r->host[2], DR(1));
	assert_came_in_by(rig_port(r, 2, PORT_HOST));
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_came_in_by(r->host[4]);
	rig_send(r, r->host[0], rig_smp(HOST_LID(0)));
	assert_came_in_by(r->host[0]);
	rig_send(r, rig_port(r, 1, 0), rig_smp(SW_LID(1)));
	assert_came_in_by(rig_port(r, 1, 0));
}
END_TEST

START_TEST(own_lid_loops_back)
{
	port(0, PORT_HOST)->unplugged = true;
	rig_send(r, r->host[0], rig_smp(HOST_LID(0)));
	assert_arrived(r->host[0]);
	rig_send(r, r->host[0], rig_gsi(HOST_LID(0) + 1, 0));
	assert_arrived(r->host[0]);
	rig_send(r, rig_port(r, 0, 0), rig_gsi(SW_LID(0), 0));
	assert_arrived(rig_port(r, 0, 0));
}
END_TEST

START_TEST(lmc_range)
{
	rig_send(r, r->host[0], rig_gsi(HOST_LID(4) + 1, 0));	/* LMC is 1 */
	assert_arrived(r->host[4]);
	rig_send(r, r->host[0], rig_gsi(HOST_LID(4) + 2, 0));
	assert_lost(DROP_WRONG_LFT, r->host[4]);
	r->f->ports[r->host[4]].lmc = 2;
	rig_send(r, r->host[0], rig_gsi(HOST_LID(4) + 3, 0));
	assert_arrived(r->host[4]);
	r->f->ports[r->host[4]].lid = 0;
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_lost(DROP_WRONG_LFT, r->host[4]);
}
END_TEST

START_TEST(permissive_lid)
{
	/* A LID-routed SMP to it is for the next SMA; data cannot have it (4.1.3). */
	rig_send(r, r->host[0], rig_smp(SIM_LID_PERMISSIVE));
	assert_arrived(rig_port(r, 0, 0));
	rig_send(r, r->host[0], rig_gsi(SIM_LID_PERMISSIVE, 0));
	assert_lost(DROP_NO_ROUTE, r->host[0]);
	rig_send(r, rig_port(r, 0, 0), rig_smp(SIM_LID_PERMISSIVE));
	assert_lost(DROP_NO_ROUTE, rig_port(r, 0, 0));
}
END_TEST

START_TEST(no_route)
{
	uint8_t *lft = rig_switch(r, 1)->lft;

	rig_send(r, r->host[0], rig_gsi(0, 0));
	assert_lost(DROP_NO_ROUTE, r->host[0]);
	lft[HOST_LID(4)] = SIM_LFT_DROP;
	send_data(0);
	assert_lost(DROP_NO_ROUTE, rig_port(r, 1, PORT_PREV));
	ck_assert_uint_eq(port(1, PORT_PREV)->counters->rcv_switch_relay, 1);
	lft[HOST_LID(4)] = RIG_PORTS + 1;
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_lost(DROP_NO_ROUTE, rig_port(r, 1, PORT_PREV));
	lft[HOST_LID(4)] = PORT_NEXT;
	rig_switch(r, 1)->lft_top = HOST_LID(4) - 1;
	send_data(0);
	assert_lost(DROP_NO_ROUTE, rig_port(r, 1, PORT_PREV));
	rig_switch(r, 1)->lft_top = HOST_LID(4);
	send_data(0);
	assert_arrived(r->host[4]);
	rig_send(r, r->host[0], rig_smp(0xc000));
	assert_lost(DROP_NO_ROUTE, rig_port(r, 0, PORT_HOST));
}
END_TEST

START_TEST(lft_that_is_not_there)
{
	free(rig_switch(r, 0)->lft);
	rig_switch(r, 0)->lft = NULL;
	send_data(0);
	assert_lost(DROP_NO_ROUTE, rig_port(r, 0, PORT_HOST));
}
END_TEST

START_TEST(wrong_lft)
{
	rig_switch(r, 2)->lft[HOST_LID(4)] = PORT_HOST;
	send_data(0);
	assert_lost(DROP_WRONG_LFT, r->host[2]);
	rig_switch(r, 2)->lft[HOST_LID(4)] = 0;
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_lost(DROP_WRONG_LFT, rig_port(r, 2, 0));
}
END_TEST

START_TEST(loop_at_once)
{
	rig_switch(r, 2)->lft[HOST_LID(4)] = PORT_PREV;
	send_data(0);
	assert_lost(DROP_LOOP, rig_port(r, 2, PORT_PREV));
	ck_assert_uint_eq(port(2, PORT_PREV)->counters->rcv_switch_relay, 1);
}
END_TEST

/* A ring of three that the packet comes into from outside. */
START_TEST(loop_by_and_by)
{
	rig_cable(r, rig_port(r, 1, 3), rig_port(r, 3, 3));
	rig_switch(r, 3)->lft[HOST_LID(4)] = 3;
	send_data(0);
	ck_assert_uint_eq(rig_dropped(r, DROP_LOOP), 1);
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	ck_assert_uint_eq(rig_dropped(r, DROP_LOOP), 2);
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_lt(port(1, 3)->counters->rcv_pkts, 5);
}
END_TEST

/* --- link states --- */

START_TEST(data_needs_active)
{
	uint32_t out = rig_port(r, 1, PORT_NEXT), in = rig_port(r, 2, PORT_PREV);

	r->f->ports[out].state = SIM_PORT_ARMED;	/* receives, but does not send */
	send_data(0);
	assert_lost(DROP_PORT_STATE, out);
	ck_assert_uint_eq(r->f->ports[out].counters->xmit_discards, 1);
	rig_send(r, r->host[4], rig_gsi(HOST_LID(0), 0));
	assert_arrived(r->host[0]);
	ck_assert_uint_eq(r->activated.n, 1);		/* 7.2.7 */
	ck_assert_uint_eq(r->activated.v[0], out);

	r->f->ports[in].state = SIM_PORT_INIT;
	send_data(0);
	assert_lost(DROP_PORT_STATE, out);
	r->f->ports[out].state = SIM_PORT_INIT;
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));	/* from Init on */
	assert_arrived(r->host[4]);
	r->f->ports[in].state = SIM_PORT_DOWN;
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_lost(DROP_PORT_STATE, in);

	r->f->ports[in].disabled = true;
	send_data(0);
	assert_lost(DROP_LINK_DOWN, out);
	r->f->nodes[r->sw[2]].off = true;
	send_data(0);
	assert_lost(DROP_NODE_OFF, out);
}
END_TEST

START_TEST(source_port_not_active)
{
	r->f->ports[r->host[0]].state = SIM_PORT_ARMED;
	send_data(0);
	assert_lost(DROP_PORT_STATE, r->host[0]);
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	assert_arrived(r->host[4]);
}
END_TEST

/* --- VLs --- */

START_TEST(vl15_mapping)
{
	rig_sl2vl(r, 1, PORT_PREV, PORT_NEXT, 3, SIM_VL_DROP);
	send_data(3);
	assert_lost(DROP_VL15, rig_port(r, 1, PORT_PREV));
	ck_assert_uint_eq(port(1, PORT_PREV)->counters->rcv_switch_relay, 1);
	send_data(2);
	assert_arrived(r->host[4]);
	rig_send(r, rig_port(r, 1, 0), rig_gsi(HOST_LID(4), 3));	/* another in port */
	assert_arrived(r->host[4]);
	rig_sl2vl(r, 1, 0, PORT_NEXT, 3, SIM_VL_DROP);
	rig_send(r, rig_port(r, 1, 0), rig_gsi(HOST_LID(4), 3));
	assert_lost(DROP_VL15, rig_port(r, 1, 0));

	struct packet smp = rig_smp(HOST_LID(4));

	smp.sl = 3;			/* VL 15 has no SL */
	rig_send(r, r->host[0], smp);
	assert_arrived(r->host[4]);
}
END_TEST

START_TEST(vl15_mapping_of_the_sender)
{
	send_data(15);
	assert_lost(DROP_VL15, r->host[0]);
	ck_assert_uint_eq(r->f->ports[r->host[0]].counters->xmit_discards, 1);
}
END_TEST

START_TEST(vl_missing)
{
	port(2, PORT_NEXT)->op_vls = 2;
	send_data(1);
	assert_arrived(r->host[4]);
	send_data(2);
	assert_lost(DROP_VL_MISSING, rig_port(r, 2, PORT_PREV));
	send_data(8);
	assert_lost(DROP_VL_MISSING, r->host[0]);
	port(2, PORT_NEXT)->op_vls = 8;
	port(3, PORT_PREV)->op_vls = 2;		/* half a link */
	send_data(2);
	assert_lost(DROP_NO_CREDIT, rig_port(r, 2, PORT_PREV));
	send_data(1);
	assert_arrived(r->host[4]);
}
END_TEST

START_TEST(vl_of_each_hop)
{
	rig_sl2vl(r, 0, PORT_HOST, PORT_NEXT, 1, 5);
	rig_sl2vl(r, 1, PORT_PREV, PORT_NEXT, 1, 6);
	send_data(1);
	assert_arrived(r->host[4]);
	ck_assert_uint_eq(r->f->ports[r->host[0]].counters->vl_xmit_pkts[1], 1);
	ck_assert_uint_eq(port(0, PORT_HOST)->counters->vl_rcv_pkts[1], 1);
	ck_assert_uint_eq(port(0, PORT_NEXT)->counters->vl_xmit_pkts[5], 1);
	ck_assert_uint_eq(port(1, PORT_PREV)->counters->vl_rcv_pkts[5], 1);
	ck_assert_uint_eq(port(1, PORT_NEXT)->counters->vl_xmit_data[6], 72);
}
END_TEST

START_TEST(sl2vl_tables)
{
	ck_assert_uint_eq(sl2vl_get(r->f, r->sw[0], 1, 2, 7), 7);
	ck_assert_uint_eq(sl2vl_get(r->f, r->sw[0], 0, RIG_PORTS, 14), 14);
	rig_sl2vl(r, 0, 2, 1, 7, 4);
	ck_assert_uint_eq(sl2vl_get(r->f, r->sw[0], 2, 1, 7), 4);
	ck_assert_uint_eq(sl2vl_get(r->f, r->sw[0], 2, 1, 6), 6);
	ck_assert_uint_eq(sl2vl_get(r->f, r->sw[0], 1, 2, 7), 7);

	uint32_t ca = r->f->ports[r->host[0]].node;

	ck_assert_uint_eq(sl2vl_get(r->f, ca, 0, 1, 9), 9);
	free(r->f->ports[r->host[0]].sl2vl);
	r->f->ports[r->host[0]].sl2vl = NULL;
	ck_assert_uint_eq(sl2vl_get(r->f, ca, 0, 1, 9), 0);
}
END_TEST

/* --- P_Keys --- */

START_TEST(pkey_at_the_end)
{
	struct packet p = rig_gsi(HOST_LID(4), 0);

	p.pkey = 0x8001;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_PKEY, r->host[4]);
	ck_assert_uint_eq(r->bad_pkeys.n, 1);
	ck_assert_uint_eq(r->bad_pkeys.v[0], r->host[4]);
	rig_pkey(r, r->host[4], 0x0001);	/* a second entry: limited there, full here */
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);
	p.pkey = 0x0001;			/* both limited */
	rig_send(r, r->host[0], p);
	assert_lost(DROP_PKEY, r->host[4]);
	p.pkey = 0x7fff;
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);
	p = rig_smp(HOST_LID(4));		/* VL 15 has none */
	p.pkey = 0x1234;
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);
}
END_TEST

START_TEST(pkey_rules)
{
	uint16_t table[] = { 0xffff, 0, 0x0005, 0x8006, 0x8000 };
	struct sim_port p = { .pkeys = table, .n_pkeys = ARRAY_SIZE(table) };

	ck_assert(pkey_matches(&p, 0xffff));
	ck_assert(pkey_matches(&p, 0x7fff));
	ck_assert(pkey_matches(&p, 0x8005));
	ck_assert(!pkey_matches(&p, 0x0005));
	ck_assert(pkey_matches(&p, 0x0006));
	ck_assert(!pkey_matches(&p, 0x8007));
	ck_assert(!pkey_matches(&p, 0));	/* the invalid one: not even itself */
	ck_assert(!pkey_matches(&p, 0x8000));
	p.n_pkeys = 0;
	ck_assert(!pkey_matches(&p, 0xffff));
}
END_TEST

START_TEST(pkey_enforced_by_switches)
{
	struct packet p = rig_gsi(HOST_LID(4), 0);

	p.pkey = 0x8001;
	for (unsigned i = 0; i < 5; i++)
		rig_pkey(r, r->host[i], 0x8001);
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);
	port(0, PORT_HOST)->pkey_in = true;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_PKEY, rig_port(r, 0, PORT_HOST));
	ck_assert_uint_eq(port(0, PORT_HOST)->counters->rcv_constraint, 1);
	ck_assert_uint_eq(r->bad_pkeys.v[0], rig_port(r, 0, PORT_HOST));
	rig_send(r, r->host[4], rig_gsi(HOST_LID(0), 0));	/* out of it, or with a good one */
	assert_arrived(r->host[0]);
	rig_pkey(r, rig_port(r, 0, PORT_HOST), 0x8001);
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);

	port(4, PORT_HOST)->pkey_out = true;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_PKEY, rig_port(r, 4, PORT_HOST));
	ck_assert_uint_eq(port(4, PORT_HOST)->counters->xmit_constraint, 1);
	p = rig_smp(HOST_LID(4));
	rig_send(r, r->host[0], p);
	assert_arrived(r->host[4]);
}
END_TEST

/* --- the end --- */

START_TEST(queue_pairs)
{
	struct packet p = rig_gsi(HOST_LID(4), 0);

	p.dqpn = 2;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_QP, r->host[4]);
	p = rig_gsi(HOST_LID(4), 0);
	p.dqpn = 0;				/* not what QP 0 is for */
	rig_send(r, r->host[0], p);
	assert_lost(DROP_QP, r->host[4]);
	p = rig_smp(HOST_LID(4));
	p.dqpn = 1;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_QP, r->host[4]);
}
END_TEST

START_TEST(counters)
{
	struct packet p = rig_gsi(HOST_LID(4), 0);

	rig_send(r, r->host[0], p);
	p.grh = true;
	rig_send(r, r->host[0], p);
	rig_send(r, r->host[0], rig_smp(HOST_LID(4)));
	ck_assert_uint_eq(r->arrived.n, 3);

	const struct sim_counters *out = port(2, PORT_NEXT)->counters;
	const struct sim_counters *in = port(2, PORT_PREV)->counters;

	/* 8 LRH + 12 BTH + 8 DETH + 256 + 4 ICRC = 288 bytes; a GRH has 40; the SMP is on VL15 */
	ck_assert_uint_eq(out->xmit_data, 288 / 4 + 328 / 4 + 288 / 4);
	ck_assert_uint_eq(out->xmit_pkts, 3);
	ck_assert_uint_eq(out->ucast_xmit, 3);
	ck_assert_uint_eq(out->rcv_pkts, 0);
	ck_assert_uint_eq(in->rcv_data, 288 / 4 + 328 / 4 + 288 / 4);
	ck_assert_uint_eq(in->rcv_pkts, 3);
	ck_assert_uint_eq(in->ucast_rcv, 3);
	ck_assert_uint_eq(in->mcast_rcv, 0);
	ck_assert_uint_eq(in->vl_rcv_pkts[0], 2);
	ck_assert_uint_eq(in->vl_rcv_pkts[15], 1);
	ck_assert_uint_eq(r->f->ports[r->host[4]].counters->rcv_pkts, 3);
}
END_TEST

START_TEST(turned_round)
{
	struct packet p = rig_gsi(HOST_LID(4) + 1, 5);

	r->answers = true;
	p.client = 7;
	p.slid = HOST_LID(0) + 1;
	p.sqpn = 1;
	p.grh = true;
	memset(p.sgid, 1, 16);
	memset(p.dgid, 2, 16);
	rig_pkey(r, r->host[0], 0x0001);
	rig_pkey(r, r->host[4], 0x8001);
	p.pkey = 0x0001;		/* the answerer is a full member, so both hear each other */
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(r->arrived.n, 2);

	const struct packet *answer = &r->arrived.v[1].p;

	ck_assert_uint_eq(r->arrived.v[1].port, r->host[0]);
	ck_assert_uint_eq(answer->slid, HOST_LID(4) + 1);
	ck_assert_uint_eq(answer->dlid, HOST_LID(0) + 1);
	ck_assert_uint_eq(answer->sl, 5);
	ck_assert_uint_eq(answer->pkey, 0x8001);
	ck_assert_uint_eq(answer->sgid[0], 2);
	ck_assert_uint_eq(answer->dgid[0], 1);
	ck_assert_uint_eq(answer->client, 0);
	ck_assert_uint_eq(answer->from, r->host[4]);
}
END_TEST

START_TEST(drops_are_listed)
{
	struct packet p = rig_gsi(HOST_LID(4), 15);

	put_be32(p.mad + MAD_MOD, 0x12345678);
	for (unsigned i = 0; i < DROPS_KEPT + 10; i++) {
		p.slid = (uint16_t)(1000 + i);
		rig_send(r, r->host[0], p);
	}
	ck_assert_uint_eq(rig_dropped(r, DROP_VL15), DROPS_KEPT + 10);

	const struct drop *d = &r->s->drops->last[(r->s->drops->n - 1) % DROPS_KEPT];

	ck_assert_uint_eq(d->slid, 1000 + DROPS_KEPT + 9);
	ck_assert_uint_eq(d->dlid, HOST_LID(4));
	ck_assert_uint_eq(d->sl, 15);
	ck_assert_uint_eq(d->from, r->host[0]);
	ck_assert_uint_eq(d->mgmt_class, CLASS_PM);
	ck_assert_uint_eq(d->method, METHOD_GET);
	ck_assert_uint_eq(d->attr, 0x11);
	ck_assert_uint_eq(d->mod, 0x12345678);
	for (unsigned i = 0; i < DROP_REASONS; i++)
		ck_assert_ptr_nonnull(drop_reason_name(i));
}
END_TEST

/* --- the same as a question --- */

START_TEST(next_hop)
{
	uint32_t out;
	uint8_t vl;

	ck_assert_int_eq(wire_next_hop(r->f, r->host[0], HOST_LID(2), 3, &out, &vl), DROP_NONE);
	ck_assert_uint_eq(out, r->host[0]);
	ck_assert_uint_eq(vl, 3);
	rig_sl2vl(r, 0, PORT_HOST, PORT_NEXT, 3, 6);
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 0, PORT_HOST), HOST_LID(2), 3, &out, &vl),
			 DROP_NONE);
	ck_assert_uint_eq(out, rig_port(r, 0, PORT_NEXT));
	ck_assert_uint_eq(vl, 6);
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), SW_LID(1), 3, &out, &vl),
			 DROP_NONE);
	ck_assert_uint_eq(out, rig_port(r, 1, 0));
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_NEXT), HOST_LID(2), 3, &out, &vl),
			 DROP_LOOP);
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), 0x1f, 3, &out, &vl),
			 DROP_NO_ROUTE);
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), 0xc000, 3, &out, &vl),
			 DROP_NO_ROUTE);
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), HOST_LID(2), 15, &out, &vl),
			 DROP_VL15);
	port(1, PORT_NEXT)->op_vls = 1;
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), HOST_LID(2), 3, &out, &vl),
			 DROP_VL_MISSING);
	port(2, PORT_PREV)->state = SIM_PORT_INIT;
	ck_assert_int_eq(wire_next_hop(r->f, rig_port(r, 1, PORT_PREV), HOST_LID(2), 3, &out, &vl),
			 DROP_PORT_STATE);
	ck_assert_uint_eq(rig_dropped_all(r), 0);
}
END_TEST

START_TEST(more_under_way_than_any_fabric_has)
{
	struct packet p = rig_smp(HOST_LID(1));

	r->s->frozen = true;
	while (rig_dropped_all(r) < 3)
		wire_send(r->s, r->host[0], &p);
	ck_assert_uint_eq(rig_dropped(r, DROP_QUEUE), 3);
	wire_send_after(r->s, r->host[0], &p, 1);
	ck_assert_uint_eq(rig_dropped(r, DROP_QUEUE), 4);
	ck_assert_uint_eq(r->f->ports[r->host[0]].counters->vl15_dropped, 4);
	r->s->frozen = false;
	sim_run(r->s, 10);
	ck_assert_uint_gt(r->arrived.n, 100000);
	ck_assert_uint_eq(rig_dropped_all(r), 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unicast");
	TCase *t = tcase_create("unicast");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, smp_and_data_to_host_and_switch);
	tcase_add_test(t, port_of_arrival);
	tcase_add_test(t, own_lid_loops_back);
	tcase_add_test(t, lmc_range);
	tcase_add_test(t, permissive_lid);
	tcase_add_test(t, no_route);
	tcase_add_test(t, lft_that_is_not_there);
	tcase_add_test(t, wrong_lft);
	tcase_add_test(t, loop_at_once);
	tcase_add_test(t, loop_by_and_by);
	tcase_add_test(t, data_needs_active);
	tcase_add_test(t, source_port_not_active);
	tcase_add_test(t, vl15_mapping);
	tcase_add_test(t, vl15_mapping_of_the_sender);
	tcase_add_test(t, vl_missing);
	tcase_add_test(t, vl_of_each_hop);
	tcase_add_test(t, sl2vl_tables);
	tcase_add_test(t, pkey_at_the_end);
	tcase_add_test(t, pkey_rules);
	tcase_add_test(t, pkey_enforced_by_switches);
	tcase_add_test(t, queue_pairs);
	tcase_add_test(t, counters);
	tcase_add_test(t, turned_round);
	tcase_add_test(t, drops_are_listed);
	tcase_add_test(t, next_hop);
	tcase_add_test(t, more_under_way_than_any_fabric_has);
	suite_add_tcase(s, t);
	return run_suite(s);
}
