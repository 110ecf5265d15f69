/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests hosts that send at full rate: their shares by the tables, buffers that fill up, counters.
 *
 * promise: V1
 */
#include <check.h>
#include <string.h>

#include "rig.h"
#include "sim/net/fields.h"
#include "sim/net/full_load.h"
#include "unit/run.h"

#define BYTES 2048
#define WORDS (BYTES / 4)
#define TIMES 1000u		/* packet times */

static struct rig *r;

static void setup(void)
{
	r = rig_line(4);
}

static void teardown(void)
{
	rig_free(r);
}

static struct sim_port *port(unsigned i, unsigned num)
{
	return &r->f->ports[rig_port(r, i, num)];
}

static const struct sim_counters *counters(uint32_t at)
{
	return port_counters(&r->f->ports[at]);
}

static bool load(const struct load_flow *flows, unsigned n, uint32_t times)
{
	struct load l = { TIMES, BYTES, times };
	struct buf err = { 0 };
	bool good = load_run(r->s, flows, n, &l, &err);

	buf_free(&err);
	return good;
}

/* VL:weight, up to four. */
static void arb(uint8_t *table, const uint8_t *entries, unsigned n)
{
	memset(table, 0, 128);
	memcpy(table, entries, 2 * n);
}

/* Per cent of what a VL has of what left there. */
static unsigned share(const struct sim_port *p, unsigned vl)
{
	return (unsigned)(p->counters->vl_xmit_data[vl] * 100 / p->counters->xmit_data);
}

START_TEST(one_flow)
{
	struct load_flow f = { r->host[0], HOST_LID(3), 5 };
	uint32_t ends[] = { r->host[0], rig_port(r, 2, PORT_NEXT), rig_port(r, 3, PORT_HOST) };

	ck_assert(load(&f, 1, 3));
	for (unsigned i = 0; i < 3; i++) {
		const struct sim_counters *c = counters(ends[i]);
		const struct sim_counters *far = counters(r->f->ports[ends[i]].peer);

		/* hop by hop a packet time later, and nothing is lost */
		ck_assert_uint_ge(c->xmit_pkts, 3 * (TIMES - 5));
		ck_assert_uint_le(c->xmit_pkts, 3 * TIMES);
		ck_assert_uint_eq(c->xmit_data, c->xmit_pkts * WORDS);
		ck_assert_uint_eq(c->sl_xmit_data[5], c->xmit_data);
		ck_assert_uint_eq(c->vl_xmit_data[5], c->xmit_data);
		ck_assert_uint_eq(far->sl_rcv_data[5], c->xmit_data);
		ck_assert_uint_eq(far->vl_rcv_pkts[5], c->xmit_pkts);
		ck_assert_uint_eq(c->vl_xmit_wait[5], 0);
	}
}
END_TEST

START_TEST(shares_by_the_tables)
{
	struct load_flow f[] = { { r->host[0], HOST_LID(3), 0 }, { r->host[1], HOST_LID(3), 1 } };
	struct sim_port *p = port(3, PORT_HOST), *mid = port(1, PORT_NEXT);

	/* where they meet: 3 to 1, in whole packets */
	arb(mid->arb_low, (uint8_t[]){ 0, 96, 1, 32 }, 2);
	ck_assert(load(f, 2, 1));
	ck_assert_uint_le(share(mid, 0) - 74, 2);
	ck_assert_uint_le(share(p, 1) - 24, 2);
	/* who waits: a packet time in which it has one and does not send; the link never idles */
	ck_assert_uint_ge(mid->counters->vl_xmit_wait[1], TIMES * 7 / 10);
	ck_assert_uint_le(mid->counters->vl_xmit_wait[0], TIMES * 3 / 10);
	ck_assert_uint_le(mid->counters->xmit_wait, 2);
	/* behind, nobody waits for the other; before, they wait for room */
	ck_assert_uint_ge(counters(r->host[0])->xmit_wait, TIMES / 5);
	ck_assert_uint_ge(counters(r->host[1])->vl_xmit_wait[1], TIMES * 6 / 10);
}
END_TEST

START_TEST(high_priority)
{
	struct load_flow f[] = { { r->host[0], HOST_LID(1), 0 }, { r->host[0], HOST_LID(1), 1 } };
	struct sim_port *p = &r->f->ports[r->host[0]];

	arb(p->arb_high, (uint8_t[]){ 1, 1 }, 1);
	arb(p->arb_low, (uint8_t[]){ 0, 1 }, 1);
	p->info[PI_VL_HIGH_LIMIT] = 255;
	ck_assert(load(f, 2, 1));
	ck_assert_uint_eq(p->counters->vl_xmit_pkts[0], 0);
	ck_assert_uint_eq(p->counters->vl_xmit_wait[0], TIMES);
	memset(p->counters, 0, sizeof(*p->counters));
	p->info[PI_VL_HIGH_LIMIT] = 3;		/* 12 KiB: six packets for one of low */
	ck_assert(load(f, 2, 1));
	ck_assert_uint_eq(share(p, 1), 85);
	memset(p->counters, 0, sizeof(*p->counters));
	p->info[PI_VL_HIGH_LIMIT] = 0;		/* a packet each */
	ck_assert(load(f, 2, 1));
	ck_assert_uint_eq(share(p, 1), 50);
}
END_TEST

START_TEST(no_way)
{
	struct load_flow f[] = { { r->host[0], HOST_LID(1), 0 }, { r->host[0], 0x77, 0 } };

	ck_assert(!load(f, 2, 1));
	ck_assert_uint_eq(counters(r->host[0])->xmit_pkts, 0);
	f[1].dlid = HOST_LID(2);
	rig_sl2vl(r, 1, PORT_PREV, PORT_NEXT, 0, 15);
	ck_assert(!load(f, 2, 1));
	rig_switch(r, 1)->lft[HOST_LID(2)] = PORT_PREV;		/* a cycle */
	ck_assert(!load(f, 2, 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("load");
	TCase *t = tcase_create("load");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_flow);
	tcase_add_test(t, shares_by_the_tables);
	tcase_add_test(t, high_priority);
	tcase_add_test(t, no_way);
	suite_add_tcase(s, t);
	return run_suite(s);
}
