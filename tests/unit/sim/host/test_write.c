/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests write() and read() of single MADs: refusals, addresses, transaction ids, timeouts.
 *
 * promise: V3
 */
#include <errno.h>
#include <stdlib.h>

#include "pair.h"

static struct client l, r;
static struct packet seen;

static bool see(uint32_t port, struct packet *p)
{
	(void)port;
	seen = *p;
	return true;
}

/* l has agent 0 of the class, r one for the method. */
static void talk(uint8_t mgmt_class, uint8_t method)
{
	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register(&l, mgmt_class, -1), 0);
	ck_assert_int_eq(client_register(&r, mgmt_class, method), 0);
	look = see;
}

static void hang_up(void)
{
	client_close(&l);
	client_close(&r);
}

START_TEST(hostile_writes)
{
	static const struct {
		size_t n;
		uint32_t agent;
		uint8_t mgmt_class;
		int want;
	} rows[] = {
		{ 256, 0, CLASS_SA, 0 },	{ 36, 0, CLASS_SA, 0 },
		{ 35, 0, CLASS_SA, -EINVAL },	{ 257, 0, CLASS_SA, -EINVAL },
		{ 70000, 0, CLASS_SA, -EINVAL }, { 256, 1, CLASS_SA, -EIO },
		{ 256, 32, CLASS_SA, -EINVAL },	{ 256, UINT32_MAX, CLASS_SA, -EINVAL },
		{ 256, 2, CLASS_PM, -EINVAL },	{ 256, 2, CLASS_SA, 0 },
		{ 300, 2, CLASS_SA, -EINVAL },
	};

	talk(CLASS_SA, METHOD_SEND);
	ck_assert_int_eq(client_register(&l, CLASS_SA, -1), 1);
	ck_assert_int_eq(client_register_rmpp(&l, CLASS_SA, -1, false), 2);
	ck_assert_int_eq(host_unregister(l.h, 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct message m = message_new(rows[i].n > 36 ? rows[i].n : 36, 0, 0x20,
					       rows[i].mgmt_class, METHOD_SEND, i);

		m.n = rows[i].n;
		m.head->agent_id = rows[i].agent;
		ck_assert_msg(message_send(&l, m) == rows[i].want, "row %zu", i);
	}
	ck_assert_int_eq(host_write(l.h, "", 0), -EINVAL);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 3);
	hang_up();
}
END_TEST

START_TEST(a_short_mad_is_filled_up)
{
	struct message m;

	talk(CLASS_SA, METHOD_SEND);
	m = message_new(40, 0, 0x20, CLASS_SA, METHOD_SEND, 1);
	memset(m.mad + 24, 0xee, 16);
	m.mad[26] = 0;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(got_length(&r, 0), 256);
	ck_assert_uint_eq(got_mad(&r, 0)[39], 0xee);
	ck_assert_uint_eq(got_mad(&r, 0)[40], 0);
	hang_up();
}
END_TEST

START_TEST(addresses_out_and_in)
{
	const struct ib_user_mad *in;
	struct message m;

	talk(CLASS_SA, METHOD_SEND);
	m = message_new(256, 0, 0x23, CLASS_SA, METHOD_SEND, 1);
	m.head->addr.path_bits = 0x7e;
	m.head->addr.sl = 5;
	m.head->addr.pkey_index = 1;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(seen.slid, 0x12);
	ck_assert_uint_eq(seen.dlid, 0x23);
	ck_assert_uint_eq(seen.sl, 5);
	ck_assert_uint_eq(seen.sqpn, 1);
	ck_assert_uint_eq(seen.dqpn, 1);
	ck_assert_uint_eq(seen.qkey, 0x80010000);
	ck_assert_uint_eq(seen.pkey, 0x8001);
	ck_assert_uint_eq(seen.client, 1);
	in = got_head(&r, 0);
	ck_assert_uint_eq(in->status, 0);
	ck_assert_uint_eq(in->length, 64 + 256);
	ck_assert_uint_eq(in->timeout_ms, 0);
	ck_assert_uint_eq(be16toh(in->addr.lid), 0x12);
	ck_assert_uint_eq(be32toh(in->addr.qpn), 1);
	ck_assert_uint_eq(in->addr.sl, 5);
	ck_assert_uint_eq(in->addr.path_bits, 3);
	ck_assert_uint_eq(in->addr.pkey_index, 1);
	ck_assert_uint_eq(in->addr.grh_present, 0);
	hang_up();
}
END_TEST

START_TEST(grh_out_and_in)
{
	const struct ib_user_mad *in;
	struct message m;
	uint8_t gid[16];

	talk(CLASS_SA, METHOD_SEND);
	put_be64(gid, 0xfe80000000000000ULL);
	put_be64(gid + 8, s->f->ports[right].guids[1]);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_SEND, 1);
	m.head->addr.grh_present = 1;
	m.head->addr.gid_index = 1;
	m.head->addr.hop_limit = 9;
	m.head->addr.traffic_class = 7;
	m.head->addr.flow_label = htobe32(0x12345);
	memcpy(m.head->addr.gid, gid, 16);
	ck_assert_int_eq(message_write(&l, &m), 0);
	run_us(1);
	ck_assert(seen.grh);
	ck_assert_uint_eq(seen.hop_limit, 9);
	ck_assert_mem_eq(seen.dgid, gid, 16);
	in = got_head(&r, 0);
	ck_assert_uint_eq(in->addr.grh_present, 1);
	ck_assert_uint_eq(in->addr.gid_index, 1);
	ck_assert_uint_eq(in->addr.traffic_class, 7);
	ck_assert_uint_eq(be32toh(in->addr.flow_label), 0x12345);
	ck_assert_uint_eq(get_be64(in->addr.gid), 0xfe80000000000000ULL);
	ck_assert_uint_eq(get_be64(in->addr.gid + 8), s->f->ports[left].guids[1]);

	m.head->addr.gid[15] ^= 1;	/* of somebody else */
	ck_assert_int_eq(message_write(&l, &m), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 1);
	ck_assert_uint_eq(drops(DROP_QP), 1);
	m.head->addr.gid_index = 2;	/* not in the table */
	ck_assert_int_eq(message_send(&l, m), -EINVAL);
	hang_up();
}
END_TEST

START_TEST(an_answer_comes_the_way_of_the_request)
{
	struct message m;
	uint8_t gid[16];

	talk(CLASS_SA, METHOD_GET);
	put_be64(gid, 0xfe80000000000000ULL);
	put_be64(gid + 8, s->f->ports[right].guids[0]);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 1);
	m.head->timeout_ms = 10;
	m.head->addr.grh_present = 1;
	memcpy(m.head->addr.gid, gid, 16);
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	m = message_answer(&r, 0, 256);
	m.head->addr.grh_present = 0;	/* not so */
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, 0);
	m = message_answer(&r, 0, 256);
	m.head->addr.lid = htobe16(0x11);	/* the GID says which, not the LID */
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(20000);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_head(&l, 0)->status, 0);

	/* Without a GRH the path bits say which. */
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 2);
	m.head->timeout_ms = 10;
	m.head->addr.path_bits = 1;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	m = message_answer(&r, 1, 256);
	m.head->addr.lid = htobe16(0x12);
	ck_assert_int_eq(message_send(&r, m), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 1, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, 2);
	hang_up();
}
END_TEST

START_TEST(a_pkey_must_be_there)
{
	struct message m;

	talk(CLASS_SA, METHOD_SEND);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_SEND, 1);
	for (uint16_t index = 3; index < 5; index++) {	/* free; beyond the table */
		m.head->addr.pkey_index = index;
		ck_assert_int_eq(message_write(&l, &m), 0);
	}
	run_us(1);
	ck_assert_uint_eq(drops(DROP_PKEY), 2);
	m.head->addr.pkey_index = 0;	/* limited; the other side has the full one, too */
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 1);
	ck_assert_uint_eq(got_head(&r, 0)->addr.pkey_index, 2);
	hang_up();
}
END_TEST

static bool wrong_qkey(uint32_t port, struct packet *p)
{
	(void)port;
	p->qkey = 1;
	return true;
}

static uint32_t refused_at;

static void note_bad_qkey(struct sim *sim, uint32_t port, const struct packet *p)
{
	(void)sim;
	ck_assert_uint_eq(p->qkey, 1);
	refused_at = port;
}

START_TEST(a_qkey_must_match)
{
	talk(CLASS_SA, METHOD_SEND);
	look = wrong_qkey;
	s->hooks.bad_qkey = note_bad_qkey;
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_SEND, 1)), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 0);
	ck_assert_uint_eq(drops(DROP_QP), 1);
	ck_assert_uint_eq(refused_at, right);
	hang_up();
}
END_TEST

START_TEST(a_class_of_the_wrong_qp_gets_nowhere)
{
	talk(CLASS_SA, METHOD_SEND);
	struct message m = message_new(256, 0, 0x20, CLASS_SM_LID, METHOD_GET, 1);

	m.head->addr.qpn = htobe32(1);
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(drops(DROP_QP), 1);
	hang_up();
}
END_TEST

START_TEST(a_port_that_is_not_active_sends_smps_only)
{
	struct sim_port *p;

	talk(CLASS_SA, METHOD_SEND);
	p = &s->f->ports[left];
	p->state = SIM_PORT_INIT;
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_SEND, 1)), 0);
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x10, CLASS_SA, METHOD_SEND, 2)), 0);
	run_us(1);
	ck_assert_uint_eq(drops(DROP_PORT_STATE), 2);
	ck_assert_int_eq(client_register(&l, CLASS_SM_LID, -1), 1);
	struct message m = message_new(256, 1, 0x20, CLASS_SM_LID, METHOD_GET, 3);
	m.head->timeout_ms = 1;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_head(&l, 0)->status, 0);
	hang_up();
}
END_TEST

START_TEST(transaction_ids)
{
	uint64_t request;

	talk(CLASS_SA, METHOD_GET);
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_GET,
						      0xffffffff12345678)), 0);
	run_us(1);
	request = get_be64(got_mad(&r, 0) + MAD_TID);
	ck_assert_uint_eq(request & UINT32_MAX, 0x12345678);
	ck_assert_uint_ne(request >> 32, 0xffffffff);
	ck_assert_uint_ne(request >> 32, 0);
	/* An answer keeps what it has. */
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(get_be64(seen.mad + MAD_TID), request);
	hang_up();
}
END_TEST

START_TEST(a_request_that_is_not_answered_comes_back)
{
	const struct ib_user_mad *head;
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 50;
	m.head->retries = 3;
	m.head->length = 4711;
	m.head->addr.qkey = htobe32(0x80010000);
	put_be16(m.mad + MAD_ATTR, 0x11);
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(199000);
	ck_assert_uint_eq(r.got.n, 4);
	ck_assert_uint_eq(l.got.n, 0);
	run_us(10000);
	ck_assert_uint_eq(r.got.n, 4);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_length(&l, 0), 24);
	head = got_head(&l, 0);
	ck_assert_uint_eq(head->status, ETIMEDOUT);
	ck_assert_uint_eq(head->agent_id, 0);
	ck_assert_uint_eq(head->timeout_ms, 50);
	ck_assert_uint_eq(head->retries, 3);
	ck_assert_uint_eq(head->length, 4711);
	ck_assert_uint_eq(be16toh(head->addr.lid), 0x20);
	ck_assert_mem_eq(got_mad(&l, 0), got_mad(&r, 0), 24);
	/* What comes now is too late. */
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1000000);
	ck_assert_uint_eq(l.got.n, 1);
	hang_up();
}
END_TEST

START_TEST(a_retry_that_is_answered)
{
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 50;
	m.head->retries = 3;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(60000);
	ck_assert_uint_eq(r.got.n, 2);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 1, 256)), 0);
	run_us(1000000);
	ck_assert_uint_eq(r.got.n, 2);
	ck_assert_uint_eq(l.got.n, 1);
	ck_assert_uint_eq(got_head(&l, 0)->status, 0);
	hang_up();
}
END_TEST

START_TEST(time_out_0_waits_for_nothing)
{
	talk(CLASS_SA, METHOD_GET);
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7)), 0);
	run_us(1);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(100000000);
	ck_assert_uint_eq(l.got.n, 0);
	ck_assert_uint_eq(r.got.n, 1);
	hang_up();
}
END_TEST

START_TEST(a_time_out_that_never_ends)
{
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = UINT32_MAX;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(INT64_C(1000000) * 86400 * 100);
	ck_assert_uint_eq(l.got.n, 0);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, 1);
	hang_up();
}
END_TEST

START_TEST(time_outs_end_in_order)
{
	static const uint32_t ms[] = { 9000, 10, 4096, 4097, 30000, 1, 8192, 5 };

	talk(CLASS_SA, METHOD_GET);
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++) {
		struct message m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, i);

		m.head->timeout_ms = ms[i];
		ck_assert_int_eq(message_send(&l, m), 0);
	}
	for (int64_t t = 0; t < 31000; t++) {
		size_t before = l.got.n;

		run_us(1000);
		for (; before < l.got.n; before++) {
			int64_t late = t + 1 - got_head(&l, before)->timeout_ms;

			ck_assert_int_ge(late, 0);
			ck_assert_int_le(late, 1);
		}
	}
	ck_assert_uint_eq(l.got.n, ARRAY_SIZE(ms));
	hang_up();
}
END_TEST

START_TEST(no_two_requests_with_one_id)
{
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	ck_assert_int_eq(client_register(&l, CLASS_SA, -1), 1);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 50;
	ck_assert_int_eq(message_write(&l, &m), 0);
	ck_assert_int_eq(message_write(&l, &m), -EINVAL);
	m.head->addr.lid = htobe16(0x21);
	ck_assert_int_eq(message_write(&l, &m), -EINVAL);
	m.head->agent_id = 1;	/* which has ids of its own */
	ck_assert_int_eq(message_write(&l, &m), 0);
	m.head->agent_id = 0;
	run_us(60000);
	ck_assert_int_eq(message_write(&l, &m), 0);
	free(m.head);
	hang_up();
}
END_TEST

START_TEST(closing_forgets_what_waits)
{
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 10;
	m.head->retries = 9;
	ck_assert_int_eq(message_write(&l, &m), 0);
	run_us(1);
	ck_assert_int_eq(host_unregister(l.h, 0), 0);
	ck_assert_int_eq(message_send(&l, m), -EIO);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1000000);
	ck_assert_uint_eq(l.got.n, 0);
	ck_assert_uint_eq(r.got.n, 1);
	hang_up();
}
END_TEST

START_TEST(a_deaf_client_loses_its_own)
{
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	l.deaf = true;
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 10;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1000000);
	ck_assert_uint_eq(drops(DROP_QUEUE), 1);
	hang_up();
}
END_TEST

static struct message directed(uint8_t hops, uint8_t first, uint64_t tid)
{
	struct message m = message_new(256, 0, 0xffff, CLASS_SM_DR, METHOD_GET, tid);

	m.mad[MAD_DR_HOP_CNT] = hops;
	m.mad[SMP_INIT_PATH + 1] = first;
	put_be16(m.mad + SMP_DR_SLID, 0xffff);
	put_be16(m.mad + SMP_DR_DLID, 0xffff);
	m.head->timeout_ms = 10;
	return m;
}

START_TEST(directed_routes)
{
	talk(CLASS_SM_DR, METHOD_TRAP);
	/* To itself, and one hop: nobody there, which is said at once. */
	for (uint8_t hops = 0; hops < 2; hops++) {
		ck_assert_int_eq(message_send(&l, directed(hops, 1, hops)), 0);
		run_us(1);
		ck_assert_uint_eq(l.got.n, hops + 1);
		ck_assert_uint_eq(get_be16(got_mad(&l, hops) + MAD_STATUS), 0x800c);
		ck_assert_uint_eq(be32toh(got_head(&l, hops)->addr.qpn), 0);
		ck_assert_uint_eq(be16toh(got_head(&l, hops)->addr.lid), 0xffff);
		ck_assert_uint_eq(got_head(&l, hops)->addr.path_bits, 0);
	}
	/* Out of the other port; too long; out of a port that does not exist. */
	ck_assert_int_eq(message_send(&l, directed(1, 2, 5)), -EINVAL);
	ck_assert_int_eq(message_send(&l, directed(64, 1, 5)), -EINVAL);
	ck_assert_int_eq(message_send(&l, directed(255, 1, 5)), -EINVAL);
	ck_assert_int_eq(message_send(&l, directed(1, 200, 5)), -EINVAL);
	/* Goes no further than the other CA. */
	ck_assert_int_eq(message_send(&l, directed(2, 1, 5)), 0);
	run_us(20000);
	ck_assert_uint_eq(l.got.n, 3);
	ck_assert_uint_eq(got_head(&l, 2)->status, ETIMEDOUT);
	hang_up();
}
END_TEST

START_TEST(the_own_port_works_while_its_link_is_down)
{
	talk(CLASS_SM_DR, METHOD_TRAP);
	s->f->ports[left].unplugged = true;
	s->f->ports[left].state = SIM_PORT_DOWN;
	s->f->ports[left].lid = 0;
	ck_assert_int_eq(message_send(&l, directed(0, 0, 1)), 0);
	ck_assert_int_eq(message_send(&l, directed(1, 1, 2)), 0);
	run_us(20000);
	ck_assert_uint_eq(l.got.n, 2);
	ck_assert_uint_eq(got_head(&l, 0)->status, 0);
	ck_assert_uint_eq(got_head(&l, 1)->status, ETIMEDOUT);
	hang_up();
}
END_TEST

START_TEST(what_a_client_sends_is_counted)
{
	uint64_t n = 0;
	struct message m;

	talk(CLASS_SA, METHOD_GET);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 7);
	m.head->timeout_ms = 10;
	m.head->retries = 2;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(25000);
	ck_assert_int_eq(message_send(&r, message_answer(&r, 0, 256)), 0);
	run_us(1);
	for (size_t i = 0; i < s->stats->clients.n; i++)
		n += s->stats->clients.v[i]->client * 100 + s->stats->clients.v[i]->n;
	ck_assert_uint_eq(n, 103 + 201);
	hang_up();
}
END_TEST

START_TEST(thousands_wait_at_once)
{
	enum { N = 20000 };

	talk(CLASS_SA, METHOD_GET);
	for (uint64_t i = 0; i < N; i++) {
		struct message m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, i);

		m.head->timeout_ms = 1000;
		ck_assert_int_eq(message_send(&l, m), 0);
	}
	run_us(1);
	ck_assert_uint_eq(r.got.n, N);
	for (size_t i = N; i-- > N / 2;)
		ck_assert_int_eq(message_send(&r, message_answer(&r, i, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(l.got.n, N / 2);
	run_us(2000000);
	ck_assert_uint_eq(l.got.n, N);
	ck_assert_uint_eq(got_head(&l, N - 1)->status, ETIMEDOUT);
	hang_up();
}
END_TEST

START_TEST(what_waits_is_bounded)
{
	unsigned n = 0;
	int err;

	talk(CLASS_SA, METHOD_GET);
	do {
		struct message m = message_new(256, 0, 0x40, CLASS_SA, METHOD_GET, n++);

		m.head->timeout_ms = 1000;
		err = message_send(&l, m);
		run_us(0);
	} while (!err && n < 1000000);
	ck_assert_int_eq(err, -ENOMEM);
	ck_assert_uint_gt(n, 10000);
	run_us(2000000);
	ck_assert_uint_eq(l.got.n, n - 1);
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 0)), 0);
	hang_up();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		hostile_writes, a_short_mad_is_filled_up, addresses_out_and_in, grh_out_and_in,
		an_answer_comes_the_way_of_the_request, a_pkey_must_be_there, a_qkey_must_match,
		a_class_of_the_wrong_qp_gets_nowhere, a_port_that_is_not_active_sends_smps_only,
		transaction_ids, a_request_that_is_not_answered_comes_back,
		a_retry_that_is_answered, time_out_0_waits_for_nothing,
		a_time_out_that_never_ends, time_outs_end_in_order, no_two_requests_with_one_id,
		closing_forgets_what_waits, a_deaf_client_loses_its_own, directed_routes,
		the_own_port_works_while_its_link_is_down, what_a_client_sends_is_counted,
		thousands_wait_at_once, what_waits_is_bounded,
	};

	return run_cases("write", tests, ARRAY_SIZE(tests));
}
