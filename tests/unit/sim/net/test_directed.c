/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests directed route SMPs: paths there and back, LID-routed parts before and after, malformed ones.
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
	r->answers = true;
}

static void teardown(void)
{
	rig_free(r);
}

/* The request came to `at`, and its answer to `back`, in that order and nothing else. */
static void assert_round_trip(uint32_t at, uint32_t back)
{
	ck_assert_uint_eq(rig_dropped_all(r), 0);
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_uint_eq(r->arrived.v[0].port, at);
	ck_assert_uint_eq(r->arrived.v[1].port, back);
	ck_assert(r->arrived.v[1].p.mad[MAD_METHOD] & MAD_METHOD_RESPONSE);
}

static void assert_lost(enum drop_reason why, uint32_t port)
{
	ck_assert_uint_eq(r->arrived.n, 0);
	ck_assert_uint_eq(rig_dropped_all(r), 1);
	ck_assert_uint_eq(rig_dropped(r, why), 1);
	ck_assert_uint_eq(r->s->drops->last[0].port, port);
}

static struct packet with_parts(struct packet p, uint16_t drslid, uint16_t drdlid, uint16_t dlid)
{
	put_be16(p.mad + SMP_DR_SLID, drslid);
	put_be16(p.mad + SMP_DR_DLID, drdlid);
	p.dlid = dlid;
	return p;
}

START_TEST(zero_hops_is_here)
{
	rig_send(r, r->host[0], rig_dr(0, NULL));
	assert_round_trip(r->host[0], r->host[0]);
	ck_assert_uint_eq(r->arrived.v[0].p.mad[MAD_DR_HOP_PTR], 1);
	ck_assert_uint_eq(r->arrived.v[1].p.mad[MAD_DR_HOP_PTR], 0);
	ck_assert_uint_eq(r->arrived.v[0].p.slid, SIM_LID_PERMISSIVE);
}
END_TEST

START_TEST(hosts_path_and_pointers)
{
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_NEXT, PORT_HOST));
	assert_round_trip(r->host[2], r->host[0]);

	const struct packet *asked = &r->arrived.v[0].p, *answer = &r->arrived.v[1].p;
	static const uint8_t back[] = { 0, PORT_HOST, PORT_PREV, PORT_PREV, 1 };

	ck_assert_uint_eq(asked->mad[MAD_DR_HOP_PTR], 5);
	ck_assert_mem_eq(asked->mad + SMP_RET_PATH, back, sizeof(back));
	ck_assert_uint_eq(asked->mad[MAD_STATUS] & 0x80, 0);
	ck_assert_uint_eq(asked->slid, SIM_LID_PERMISSIVE);
	ck_assert_uint_eq(asked->dlid, SIM_LID_PERMISSIVE);
	ck_assert_uint_eq(answer->mad[MAD_DR_HOP_PTR], 0);
	ck_assert_uint_eq(answer->mad[MAD_DR_HOP_CNT], 4);
	ck_assert_uint_eq(answer->mad[MAD_STATUS] & 0x80, 0x80);
	ck_assert_uint_eq(answer->slid, SIM_LID_PERMISSIVE);
}
END_TEST

START_TEST(to_a_switch_and_from_one)
{
	rig_send(r, r->host[0], DR(1, PORT_NEXT));
	assert_round_trip(rig_port(r, 1, 0), r->host[0]);
	r->arrived.n = 0;
	rig_send(r, rig_port(r, 2, 0), DR(PORT_PREV, PORT_HOST));
	assert_round_trip(r->host[1], rig_port(r, 2, 0));
}
END_TEST

START_TEST(back_and_forth_over_one_link)
{
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_PREV, PORT_NEXT, PORT_HOST));
	assert_round_trip(r->host[1], r->host[0]);
}
END_TEST

START_TEST(needs_no_lids_and_no_tables)
{
	for (unsigned i = 0; i < 5; i++) {
		rig_switch(r, i)->lft_top = 0;
		r->f->ports[rig_port(r, i, 0)].lid = 0;
		r->f->ports[r->host[i]].lid = 0;
		for (unsigned j = 0; j <= RIG_PORTS; j++)
			if (r->f->ports[rig_port(r, i, j)].state)
				r->f->ports[rig_port(r, i, j)].state = SIM_PORT_INIT;
		r->f->ports[r->host[i]].state = SIM_PORT_INIT;
	}
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_NEXT, PORT_NEXT, PORT_NEXT, PORT_HOST));
	assert_round_trip(r->host[4], r->host[0]);
}
END_TEST

START_TEST(longest_path)
{
	uint8_t path[SIM_HOPS_MAX + 1] = { 1 };

	for (unsigned i = 1; i < sizeof(path); i++)
		path[i] = i % 2 ? PORT_NEXT : PORT_PREV;
	rig_send(r, r->host[0], rig_dr(SIM_HOPS_MAX, path));
	assert_round_trip(rig_port(r, 0, 0), r->host[0]);
}
END_TEST

/* --- LID-routed parts (14.2.2.1) --- */

START_TEST(directed_after_lid)
{
	rig_send(r, r->host[0], with_parts(DR(PORT_NEXT, PORT_HOST), HOST_LID(0),
					   SIM_LID_PERMISSIVE, SW_LID(2)));
	assert_round_trip(r->host[3], r->host[0]);

	const struct packet *asked = &r->arrived.v[0].p, *answer = &r->arrived.v[1].p;

	ck_assert_uint_eq(asked->mad[MAD_DR_HOP_PTR], 3);
	ck_assert_uint_eq(asked->mad[SMP_RET_PATH + 1], PORT_PREV);
	ck_assert_uint_eq(asked->mad[SMP_RET_PATH + 2], 1);
	ck_assert_uint_eq(answer->mad[MAD_DR_HOP_PTR], 0);
	ck_assert_uint_eq(answer->slid, SW_LID(2));
	ck_assert_uint_eq(answer->dlid, HOST_LID(0));
}
END_TEST

START_TEST(lid_after_directed)
{
	rig_send(r, r->host[0], with_parts(DR(1, PORT_NEXT), SIM_LID_PERMISSIVE, HOST_LID(4),
					   SIM_LID_PERMISSIVE));
	assert_round_trip(r->host[4], r->host[0]);

	const struct packet *asked = &r->arrived.v[0].p, *answer = &r->arrived.v[1].p;

	ck_assert_uint_eq(asked->slid, SW_LID(1));
	ck_assert_uint_eq(asked->dlid, HOST_LID(4));
	ck_assert_uint_eq(asked->mad[MAD_DR_HOP_PTR], 3);
	ck_assert_uint_eq(answer->slid, SIM_LID_PERMISSIVE);
	ck_assert_uint_eq(answer->mad[MAD_DR_HOP_PTR], 0);
}
END_TEST

/* The last switch's own SMI sends it on, so that it may go back where it came from. */
START_TEST(lid_after_directed_goes_back)
{
	rig_send(r, r->host[0], with_parts(DR(1, PORT_NEXT), SIM_LID_PERMISSIVE, HOST_LID(0),
					   SIM_LID_PERMISSIVE));
	assert_round_trip(r->host[0], r->host[0]);
}
END_TEST

START_TEST(lid_on_both_sides)
{
	rig_send(r, r->host[0], with_parts(DR(PORT_PREV, PORT_PREV), HOST_LID(0), HOST_LID(4),
					   SW_LID(3)));
	assert_round_trip(r->host[4], r->host[0]);
	ck_assert_uint_eq(r->arrived.v[0].p.slid, SW_LID(1));
	ck_assert_uint_eq(r->arrived.v[1].p.slid, SW_LID(3));
}
END_TEST

START_TEST(lid_part_alone)
{
	rig_send(r, r->host[0], with_parts(rig_dr(0, NULL), HOST_LID(0), SIM_LID_PERMISSIVE,
					   SW_LID(2)));
	assert_round_trip(rig_port(r, 2, 0), r->host[0]);
}
END_TEST

START_TEST(from_the_switch_that_has_the_lid)
{
	rig_send(r, rig_port(r, 2, 0), with_parts(DR(PORT_HOST), SW_LID(2), SIM_LID_PERMISSIVE,
						  SW_LID(2)));
	assert_round_trip(r->host[2], rig_port(r, 2, 0));
}
END_TEST

START_TEST(lid_part_that_leads_nowhere)
{
	rig_send(r, r->host[0], with_parts(DR(PORT_HOST), HOST_LID(0), SIM_LID_PERMISSIVE, 0x1f));
	assert_lost(DROP_NO_ROUTE, rig_port(r, 0, PORT_HOST));
}
END_TEST

/* A CA has no directed route through it, even to itself. */
START_TEST(directed_part_cannot_begin_at_a_ca)
{
	rig_send(r, r->host[0], with_parts(DR(1), HOST_LID(0), SIM_LID_PERMISSIVE, HOST_LID(2)));
	assert_lost(DROP_BAD_PATH, r->host[2]);
	rig_send(r, r->host[0], with_parts(DR(1), HOST_LID(0), SIM_LID_PERMISSIVE, HOST_LID(0)));
	ck_assert_uint_eq(rig_dropped(r, DROP_BAD_PATH), 2);
	ck_assert_uint_eq(r->arrived.n, 0);
}
END_TEST

START_TEST(directed_part_cannot_end_at_a_ca_and_go_on)
{
	rig_send(r, r->host[0], with_parts(DR(1, PORT_HOST), SIM_LID_PERMISSIVE, HOST_LID(2),
					   SIM_LID_PERMISSIVE));
	assert_lost(DROP_BAD_PATH, r->host[0]);
}
END_TEST

/* --- paths that lead nowhere --- */

static const struct bad_path {
	uint8_t path[4], count, ptr;
	enum drop_reason why;
	int sw;			/* where: this switch, or -1: the sender */
	unsigned num;
} bad_paths[] = {
	{ { 2 }, 1, 0, DROP_BAD_PATH, -1, 0 },			/* the host has no such port */
	{ { 0 }, 1, 0, DROP_BAD_PATH, -1, 0 },
	{ { 1, 0 }, 2, 0, DROP_BAD_PATH, 0, PORT_HOST },	/* port 0 leads nowhere */
	{ { 1, RIG_PORTS + 1 }, 2, 0, DROP_BAD_PATH, 0, PORT_HOST },
	{ { 1, 255 }, 2, 0, DROP_BAD_PATH, 0, PORT_HOST },
	{ { 1, 3 }, 2, 0, DROP_LINK_DOWN, 0, 3 },		/* no cable */
	{ { 1, PORT_PREV }, 2, 0, DROP_LINK_DOWN, 0, PORT_PREV },
	{ { 1, PORT_HOST, 1 }, 3, 0, DROP_BAD_PATH, -1, 0 },	/* through a CA */
	{ { 1 }, 1, 1, DROP_BAD_PATH, -1, 0 },			/* begins in the middle */
	{ { 1, 1 }, 2, 1, DROP_BAD_PATH, -1, 0 },
	{ { 1 }, 1, 3, DROP_BAD_PATH, -1, 0 },
	{ { 1 }, 1, 255, DROP_BAD_PATH, -1, 0 },
	{ { 1 }, SIM_HOPS_MAX + 1, 0, DROP_BAD_PATH, -1, 0 },
	{ { 1 }, 255, 0, DROP_BAD_PATH, -1, 0 },
	{ { 1 }, 255, 255, DROP_BAD_PATH, -1, 0 },
};

START_TEST(path_that_leads_nowhere)
{
	const struct bad_path *bad = &bad_paths[_i];
	struct packet p = rig_dr(4, bad->path);

	p.mad[MAD_DR_HOP_CNT] = bad->count;
	p.mad[MAD_DR_HOP_PTR] = bad->ptr;
	rig_send(r, r->host[0], p);
	assert_lost(bad->why, bad->sw < 0 ? r->host[0]
					  : rig_port(r, (unsigned)bad->sw, bad->num));
}
END_TEST

START_TEST(answer_that_is_made_up)
{
	struct packet p = DR(1, PORT_NEXT);

	p.mad[MAD_STATUS] = 0x80;
	p.mad[MAD_DR_HOP_PTR] = 3;
	p.mad[SMP_RET_PATH + 2] = 2;
	rig_send(r, r->host[0], p);		/* the host's port is 1 */
	assert_lost(DROP_BAD_PATH, r->host[0]);
	for (unsigned ptr = 1; ptr < 256; ptr++) {
		p.mad[MAD_DR_HOP_PTR] = (uint8_t)ptr;
		if (ptr != 3)
			rig_send(r, r->host[0], p);
	}
	ck_assert_uint_eq(rig_dropped(r, DROP_BAD_PATH), 255);
	ck_assert_uint_eq(r->arrived.n, 0);
	p.mad[MAD_DR_HOP_PTR] = 0;		/* says that it has arrived */
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(r->arrived.v[0].port, r->host[0]);
}
END_TEST

/* One that comes to a switch by LID is looked at there. */
START_TEST(pointers_behind_a_lid_part)
{
	struct packet p = with_parts(DR(PORT_HOST), HOST_LID(0), HOST_LID(0), SW_LID(2));

	r->answers = false;
	memset(p.mad + SMP_RET_PATH, PORT_HOST, SIM_MAD_SIZE - SMP_RET_PATH);
	for (unsigned ptr = 3; ptr < 256; ptr++) {
		p.mad[MAD_DR_HOP_PTR] = (uint8_t)ptr;
		for (unsigned d = 0; d <= 0x80; d += 0x80) {
			p.mad[MAD_STATUS] = (uint8_t)d;
			rig_send(r, r->host[0], p);
		}
	}
	ck_assert_uint_eq(rig_dropped(r, DROP_BAD_PATH), 2 * 253);
	for (unsigned i = 0; i < 2 * 253; i++)
		ck_assert_uint_eq(r->s->drops->last[i].port, rig_port(r, 2, PORT_PREV));
	ck_assert_uint_eq(r->arrived.n, 0);
}
END_TEST

START_TEST(garbage_does_no_harm)
{
	r->answers = false;
	for (unsigned i = 0; i < 20000; i++) {
		struct packet p = rig_dr(0, NULL);

		for (unsigned j = MAD_STATUS; j < SIM_MAD_SIZE; j++)
			p.mad[j] = (uint8_t)sim_random(r->s, j >= SMP_INIT_PATH ? 10 : 256);
		p.mad[MAD_DR_HOP_CNT] &= 0x47;
		p.mad[MAD_DR_HOP_PTR] &= 0x0f;
		if (i % 2)
			put_be16(p.mad + SMP_DR_SLID, SIM_LID_PERMISSIVE);
		if (i % 3)
			put_be16(p.mad + SMP_DR_DLID, (uint16_t)sim_random(r->s, 64));
		p.dlid = (uint16_t)sim_random(r->s, 0x40);
		rig_send(r, i % 5 ? r->host[1] : rig_port(r, 2, 0), p);
	}
	ck_assert_uint_eq(r->arrived.n + rig_dropped_all(r), 20000);
	ck_assert_uint_gt(r->arrived.n, 100);
}
END_TEST

/* --- links and nodes --- */

START_TEST(switches_that_do_not_answer)
{
	r->f->nodes[r->sw[1]].silent = true;
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_NEXT, PORT_HOST));
	assert_round_trip(r->host[2], r->host[0]);
	r->arrived.n = 0;
	r->f->nodes[r->sw[1]].hangs = true;
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_NEXT, PORT_HOST));
	assert_lost(DROP_SILENT, rig_port(r, 1, PORT_PREV));
	rig_send(r, r->host[0], rig_smp(HOST_LID(2)));
	ck_assert_uint_eq(r->arrived.v[0].port, r->host[2]);
}
END_TEST

START_TEST(link_states)
{
	uint32_t out = rig_port(r, 0, PORT_NEXT), in = rig_port(r, 1, PORT_PREV);
	struct packet p = DR(1, PORT_NEXT);

	r->f->ports[in].unplugged = true;
	rig_send(r, r->host[0], p);
	assert_lost(DROP_LINK_DOWN, out);
	ck_assert_uint_eq(r->f->ports[out].counters->xmit_discards, 1);
	r->f->ports[in].unplugged = false;

	r->f->ports[out].state = SIM_PORT_DOWN;
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(rig_dropped(r, DROP_PORT_STATE), 1);
	r->f->ports[out].state = SIM_PORT_INIT;
	r->f->ports[in].state = SIM_PORT_DOWN;
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(rig_dropped(r, DROP_PORT_STATE), 2);
	ck_assert_uint_eq(r->s->drops->last[2].port, in);
	r->f->ports[in].state = SIM_PORT_INIT;

	r->f->nodes[r->sw[1]].off = true;
	rig_send(r, r->host[0], p);
	ck_assert_uint_eq(rig_dropped(r, DROP_NODE_OFF), 1);
	ck_assert_uint_eq(r->s->drops->last[3].port, out);
	rig_send(r, rig_port(r, 1, 0), DR(PORT_HOST));	/* nor does it send */
	ck_assert_uint_eq(rig_dropped(r, DROP_NODE_OFF), 2);
	ck_assert_uint_eq(r->arrived.n, 0);

	r->f->nodes[r->sw[1]].off = false;
	r->f->nodes[r->sw[1]].silent = true;		/* forwards */
	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_HOST));
	ck_assert_uint_eq(r->arrived.v[0].port, r->host[1]);
}
END_TEST

START_TEST(smps_count_on_vl_15)
{
	const struct sim_counters *out, *in;

	rig_send(r, r->host[0], DR(1, PORT_NEXT, PORT_HOST));
	out = r->f->ports[r->host[0]].counters;
	in = r->f->ports[r->host[1]].counters;
	ck_assert_uint_eq(out->xmit_pkts, 1);
	ck_assert_uint_eq(out->vl_xmit_pkts[15], 1);
	ck_assert_uint_gt(out->xmit_data, 256 / 4);
	ck_assert_uint_eq(out->rcv_pkts, 1);		/* the answer */
	ck_assert_uint_eq(in->rcv_pkts, 1);
	ck_assert_uint_eq(in->vl_rcv_data[15], out->xmit_data);
	ck_assert_uint_eq(in->vl_xmit_pkts[15], 1);
}
END_TEST

START_TEST(reply_goes_where_the_request_came_from)
{
	/* Two ways to the same switch: the answer takes the one that was taken. */
	rig_cable(r, rig_port(r, 0, 3), rig_port(r, 1, 4));
	rig_send(r, r->host[0], DR(1, 3));
	assert_round_trip(rig_port(r, 1, 0), r->host[0]);
	ck_assert_uint_eq(r->arrived.v[0].p.mad[SMP_RET_PATH + 2], 4);
	r->arrived.n = 0;
	r->f->ports[rig_port(r, 0, PORT_NEXT)].unplugged = true;
	rig_send(r, r->host[0], DR(1, 3));
	assert_round_trip(rig_port(r, 1, 0), r->host[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("directed");
	TCase *t = tcase_create("directed");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, zero_hops_is_here);
	tcase_add_test(t, hosts_path_and_pointers);
	tcase_add_test(t, to_a_switch_and_from_one);
	tcase_add_test(t, back_and_forth_over_one_link);
	tcase_add_test(t, needs_no_lids_and_no_tables);
	tcase_add_test(t, longest_path);
	tcase_add_test(t, directed_after_lid);
	tcase_add_test(t, lid_after_directed);
	tcase_add_test(t, lid_after_directed_goes_back);
	tcase_add_test(t, lid_on_both_sides);
	tcase_add_test(t, lid_part_alone);
	tcase_add_test(t, from_the_switch_that_has_the_lid);
	tcase_add_test(t, lid_part_that_leads_nowhere);
	tcase_add_test(t, directed_part_cannot_begin_at_a_ca);
	tcase_add_test(t, directed_part_cannot_end_at_a_ca_and_go_on);
	tcase_add_loop_test(t, path_that_leads_nowhere, 0, ARRAY_SIZE(bad_paths));
	tcase_add_test(t, answer_that_is_made_up);
	tcase_add_test(t, pointers_behind_a_lid_part);
	tcase_add_test(t, garbage_does_no_harm);
	tcase_add_test(t, switches_that_do_not_answer);
	tcase_add_test(t, link_states);
	tcase_add_test(t, smps_count_on_vl_15);
	tcase_add_test(t, reply_goes_where_the_request_came_from);
	suite_add_tcase(s, t);
	return run_suite(s);
}
