/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests multicast: packets follow MFT entries, but never leave by their input port.
 *
 * promise: V1
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/bytes.h"
#include "rig.h"
#include "sim/net/fields.h"
#include "unit/run.h"

#define MLID 0xc001
#define BIT(n) ((uint64_t)1 << (n))

static struct rig *r;

/* Hosts 0, 2 and 4 and switch 3 are in the group. */
static void setup(void)
{
	r = rig_line(5);
	rig_mft(r, 0, MLID, BIT(PORT_HOST) | BIT(PORT_NEXT));
	rig_mft(r, 1, MLID, BIT(PORT_PREV) | BIT(PORT_NEXT));
	rig_mft(r, 2, MLID, BIT(PORT_PREV) | BIT(PORT_NEXT) | BIT(PORT_HOST));
	rig_mft(r, 3, MLID, BIT(PORT_PREV) | BIT(PORT_NEXT) | BIT(0));
	rig_mft(r, 4, MLID, BIT(PORT_PREV) | BIT(PORT_HOST));
}

static void teardown(void)
{
	rig_free(r);
}

/* How often it arrived there; a packet nowhere else is asserted by the sum. */
static unsigned arrived_at(uint32_t port)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->arrived.n; i++)
		n += r->arrived.v[i].port == port;
	return n;
}

START_TEST(to_all_members)
{
	rig_send(r, r->host[0], rig_gsi(MLID, 1));
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(arrived_at(r->host[2]), 1);
	ck_assert_uint_eq(arrived_at(r->host[4]), 1);
	ck_assert_uint_eq(arrived_at(rig_port(r, 3, 0)), 1);
	ck_assert_uint_eq(rig_dropped_all(r), 0);

	const struct sim_counters *in = r->f->ports[rig_port(r, 2, PORT_PREV)].counters;
	const struct sim_counters *out = r->f->ports[rig_port(r, 2, PORT_HOST)].counters;

	ck_assert_uint_eq(in->mcast_rcv, 1);
	ck_assert_uint_eq(in->ucast_rcv, 0);
	ck_assert_uint_eq(in->xmit_pkts, 0);
	ck_assert_uint_eq(out->mcast_xmit, 1);
	ck_assert_uint_eq(out->vl_xmit_data[1], 72);
}
END_TEST

START_TEST(from_the_middle_and_from_a_switch)
{
	rig_send(r, r->host[2], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(arrived_at(r->host[0]), 1);
	ck_assert_uint_eq(arrived_at(r->host[2]), 0);
	r->arrived.n = 0;
	rig_send(r, rig_port(r, 3, 0), rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(arrived_at(rig_port(r, 3, 0)), 0);
}
END_TEST

/* Who is no member may send (send-only ones do), and nobody but members hears. */
START_TEST(from_a_port_that_is_not_in_the_entry)
{
	rig_send(r, r->host[1], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 4);
	ck_assert_uint_eq(rig_dropped_all(r), 0);
}
END_TEST

START_TEST(only_member)
{
	rig_mft(r, 0, MLID + 1, BIT(PORT_HOST));
	rig_send(r, r->host[0], rig_gsi(MLID + 1, 0));
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_eq(rig_dropped_all(r), 0);
}
END_TEST

START_TEST(no_entry)
{
	rig_mft(r, 1, MLID, 0);
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_eq(rig_dropped(r, DROP_MCAST), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, rig_port(r, 1, PORT_PREV));
	ck_assert_uint_eq(r->f->ports[rig_port(r, 1, PORT_PREV)].counters->rcv_switch_relay, 1);
	rig_send(r, r->host[0], rig_gsi(SIM_LID_MCAST + MFT_CAP, 0));
	rig_send(r, r->host[0], rig_gsi(SIM_LID_PERMISSIVE - 1, 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_MCAST), 3);
	free(rig_switch(r, 0)->mft);
	rig_switch(r, 0)->mft = NULL;
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_MCAST), 4);
}
END_TEST

START_TEST(mft_top)
{
	put_be16(rig_switch(r, 0)->info + SI_MULTICAST_TOP, MLID);
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 3);
	put_be16(rig_switch(r, 0)->info + SI_MULTICAST_TOP, MLID - 1);
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_MCAST), 1);
}
END_TEST

START_TEST(each_branch_by_itself)
{
	uint32_t down = rig_port(r, 2, PORT_HOST);

	r->f->ports[r->host[2]].unplugged = true;
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_uint_eq(rig_dropped(r, DROP_LINK_DOWN), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, down);
	ck_assert_uint_eq(r->f->ports[down].counters->xmit_discards, 1);
	r->f->ports[r->host[2]].unplugged = false;
	r->f->ports[r->host[2]].state = SIM_PORT_INIT;
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_PORT_STATE), 1);
	ck_assert_uint_eq(r->arrived.n, 4);
	rig_sl2vl(r, 3, PORT_PREV, PORT_NEXT, 0, SIM_VL_DROP);
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(rig_dropped(r, DROP_VL15), 1);
	ck_assert_uint_eq(r->arrived.n, 5);
}
END_TEST

START_TEST(pkeys)
{
	struct packet p = rig_gsi(MLID, 0);

	p.pkey = 0x8001;
	rig_pkey(r, r->host[4], 0x8001);
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(r->arrived.n, 1);
	ck_assert_uint_eq(arrived_at(r->host[4]), 1);
	ck_assert_uint_eq(rig_dropped(r, DROP_PKEY), 2);
}
END_TEST

/* A ring: the packet comes back to each switch, and is not passed on again. */
START_TEST(loop)
{
	rig_cable(r, rig_port(r, 0, PORT_PREV), rig_port(r, 4, PORT_NEXT));
	rig_mft(r, 0, MLID, BIT(PORT_HOST) | BIT(PORT_NEXT) | BIT(PORT_PREV));
	rig_mft(r, 4, MLID, BIT(PORT_HOST) | BIT(PORT_NEXT) | BIT(PORT_PREV));
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 3);
	ck_assert_uint_eq(rig_dropped(r, DROP_LOOP), 2);	/* two ways round meet */
	ck_assert_uint_eq(rig_dropped_all(r), 2);
	rig_send(r, r->host[2], rig_gsi(MLID, 0));		/* the next packet is another one */
	ck_assert_uint_eq(r->arrived.n, 6);
}
END_TEST

START_TEST(every_port_of_every_switch)
{
	rig_cable(r, rig_port(r, 0, PORT_PREV), rig_port(r, 4, PORT_NEXT));
	rig_cable(r, rig_port(r, 0, 3), rig_port(r, 2, 3));
	rig_cable(r, rig_port(r, 1, 3), rig_port(r, 4, 3));
	for (unsigned i = 0; i < 5; i++)
		rig_mft(r, i, MLID, UINT64_MAX);
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_uint_eq(r->arrived.n, 4 + 5);
	ck_assert_uint_gt(rig_dropped(r, DROP_LOOP), 2);
}
END_TEST

/* A fault holds back what goes round: it still comes to an end. */
START_TEST(loop_with_delay)
{
	rig_cable(r, rig_port(r, 0, PORT_PREV), rig_port(r, 4, PORT_NEXT));
	rig_mft(r, 0, MLID, BIT(PORT_HOST) | BIT(PORT_NEXT) | BIT(PORT_PREV));
	rig_mft(r, 4, MLID, BIT(PORT_HOST) | BIT(PORT_NEXT) | BIT(PORT_PREV));
	fault_add(r->s, &(struct fault_rule){
		.effect = FAULT_DELAY, .chance = 1, .left = UINT32_MAX, .delay_us = 10,
		.node = r->sw[2], .port = SIM_NONE });
	rig_send(r, r->host[0], rig_gsi(MLID, 0));
	ck_assert_int_eq(sim_run(r->s, 1000000), -1);
	ck_assert_uint_ge(rig_dropped(r, DROP_LOOP), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mcast");
	TCase *t = tcase_create("mcast");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, to_all_members);
	tcase_add_test(t, from_the_middle_and_from_a_switch);
	tcase_add_test(t, from_a_port_that_is_not_in_the_entry);
	tcase_add_test(t, only_member);
	tcase_add_test(t, no_entry);
	tcase_add_test(t, mft_top);
	tcase_add_test(t, each_branch_by_itself);
	tcase_add_test(t, pkeys);
	tcase_add_test(t, loop);
	tcase_add_test(t, every_port_of_every_switch);
	tcase_add_test(t, loop_with_delay);
	suite_add_tcase(s, t);
	return run_suite(s);
}
