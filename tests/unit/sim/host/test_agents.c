/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the kernel's rules for registration, which agent gets a MAD, and the issm device.
 *
 * promise: V3
 */
#include <errno.h>
#include <stdlib.h>

#include "pair.h"

static struct host_agent_request request(uint8_t mgmt_class, uint8_t version, uint8_t rmpp)
{
	return (struct host_agent_request){
		.mgmt_class = mgmt_class,
		.class_version = version,
		.rmpp_version = rmpp,
	};
}

START_TEST(what_may_be_registered)
{
	static const struct {
		uint8_t mgmt_class, version, rmpp;
		bool user;
		uint32_t oui;
		int want;
	} rows[] = {
		{ 0x01, 1, 0, false, 0, 0 },	{ 0x81, 1, 0, false, 0, 0 },
		{ 0x03, 2, 1, false, 0, 0 },	{ 0x03, 2, 1, true, 0, 0 },
		{ 0x03, 2, 2, false, 0, -EINVAL }, { 0x04, 1, 1, false, 0, -EINVAL },
		{ 0x01, 1, 1, false, 0, -EINVAL }, { 0x06, 1, 1, false, 0, 0 },
		{ 0x10, 1, 1, false, 0, 0 },	{ 0x4f, 1, 1, false, 0x1405, 0 },
		{ 0x30, 1, 0, false, 0, -EINVAL }, { 0x30, 1, 0, false, 0x1001405, -EINVAL },
		{ 0x09, 1, 0, false, 0, 0 },	{ 0x50, 1, 0, false, 0, -EINVAL },
		{ 0x82, 1, 0, false, 0, -EINVAL }, { 0xff, 1, 0, false, 0, -EINVAL },
		{ 0x03, 0x82, 0, false, 0, 0 },	{ 0x03, 0x83, 0, false, 0, -EINVAL },
		{ 0x00, 0, 0, false, 0, 0 },	{ 0x00, 0, 0, true, 0, -EINVAL },
		{ 0x00, 0, 1, false, 0, 0 },
	};
	struct client c;

	client_open(&c, left, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host_agent_request r = request(rows[i].mgmt_class, rows[i].version,
						      rows[i].rmpp);

		r.oui = rows[i].oui;
		r.user_rmpp = rows[i].user;
		ck_assert_msg(host_register(c.h, &r) == rows[i].want, "row %zu", i);
		if (rows[i].want == 0)
			ck_assert_int_eq(host_unregister(c.h, 0), 0);
	}
	client_close(&c);
}
END_TEST

START_TEST(a_method_has_one_agent)
{
	struct host_agent_request r = request(CLASS_SA, 2, 0);
	struct client a, b, other;

	client_open(&a, left, 1);
	client_open(&b, left, 2);
	client_open(&other, right, 3);
	r.method_mask[0] = 1 << METHOD_GET | 1 << METHOD_SET;
	ck_assert_int_eq(host_register(a.h, &r), 0);
	ck_assert_int_eq(host_register(other.h, &r), 0);
	ck_assert_int_eq(host_register(b.h, &r), -EINVAL);
	r.method_mask[0] = 1 << METHOD_SET;
	ck_assert_int_eq(host_register(a.h, &r), -EINVAL);
	r.method_mask[0] = 1 << METHOD_REPORT;
	r.method_mask[1] = 1;
	ck_assert_int_eq(host_register(b.h, &r), 0);
	r.method_mask[0] = 0;
	ck_assert_int_eq(host_register(a.h, &r), -EINVAL);
	r.method_mask[1] = 0;
	ck_assert_int_eq(host_register(a.h, &r), 1);
	r.method_mask[0] = 1 << METHOD_SET;
	r.class_version = 1;
	ck_assert_int_eq(host_register(b.h, &r), 1);
	r.class_version = 2;
	client_close(&a);
	ck_assert_int_eq(host_register(b.h, &r), 2);
	client_close(&b);
	client_close(&other);
}
END_TEST

START_TEST(directed_and_lid_routed_are_two_classes)
{
	struct client a;

	client_open(&a, left, 1);
	ck_assert_int_eq(client_register(&a, CLASS_SM_LID, METHOD_TRAP), 0);
	ck_assert_int_eq(client_register(&a, CLASS_SM_DR, METHOD_TRAP), 1);
	ck_assert_int_eq(client_register(&a, CLASS_SM_DR, METHOD_TRAP), -EINVAL);
	client_close(&a);
}
END_TEST

START_TEST(a_file_has_32_agents)
{
	struct client a;

	client_open(&a, left, 1);
	for (int i = 0; i < HOST_AGENTS_MAX; i++)
		ck_assert_int_eq(client_register(&a, CLASS_SA, -1), i);
	ck_assert_int_eq(client_register(&a, CLASS_SA, -1), -ENOMEM);
	ck_assert_int_eq(host_unregister(a.h, 7), 0);
	ck_assert_int_eq(host_unregister(a.h, 7), -EINVAL);
	ck_assert_int_eq(host_unregister(a.h, 32), -EINVAL);
	ck_assert_int_eq(host_unregister(a.h, UINT32_MAX), -EINVAL);
	ck_assert_int_eq(client_register(&a, CLASS_SA, -1), 7);
	client_close(&a);
}
END_TEST

/* What r gets if l sends it one MAD. */
static size_t arrives(struct client *l, int agent, struct client *r, uint8_t mgmt_class,
		      uint8_t method)
{
	size_t before = r->got.n;

	ck_assert_int_eq(message_send(l, message_new(256, agent, 0x20, mgmt_class, method, 5)), 0);
	run_us(1);
	return r->got.n - before;
}

START_TEST(requests_go_by_class_version_and_method)
{
	struct client l, r;

	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register(&l, CLASS_SA, -1), 0);
	ck_assert_int_eq(client_register(&r, CLASS_SA, METHOD_REPORT), 0);
	ck_assert_int_eq(client_register(&r, CLASS_DM, METHOD_SEND), 1);
	ck_assert_uint_eq(arrives(&l, 0, &r, CLASS_SA, METHOD_REPORT), 1);
	ck_assert_uint_eq(arrives(&l, 0, &r, CLASS_DM, METHOD_SEND), 1);
	ck_assert_uint_eq(arrives(&l, 0, &r, CLASS_SA, METHOD_SEND), 0);
	ck_assert_uint_eq(arrives(&l, 0, &r, CLASS_DM, METHOD_REPORT), 0);
	ck_assert_uint_eq(arrives(&l, 0, &r, 0xcc, METHOD_REPORT), 0);
	ck_assert_uint_eq(got_head(&r, 0)->agent_id, 0);
	ck_assert_uint_eq(got_head(&r, 1)->agent_id, 1);
	ck_assert_uint_eq(drops(DROP_NO_AGENT), 3);

	ck_assert_int_eq(client_register(&r, CLASS_SA, 0x45), 2);
	ck_assert_uint_eq(arrives(&l, 0, &r, CLASS_SA, 0x45), 1);
	ck_assert_uint_eq(got_head(&r, 2)->agent_id, 2);

	struct message m = message_new(256, 0, 0x20, CLASS_SA, METHOD_REPORT, 6);
	m.mad[MAD_CLASS_VERSION] = 1;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 3);
	client_close(&l);
	client_close(&r);
}
END_TEST

START_TEST(vendor_requests_go_by_oui)
{
	struct host_agent_request q = request(0x32, 1, 0);
	struct client l, r;
	struct message m;

	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register(&l, 0, -1), 0);
	q.method_mask[0] = 1 << METHOD_SEND;
	q.oui = 0x001405;
	ck_assert_int_eq(host_register(r.h, &q), 0);
	q.oui = 0x0002c9;
	ck_assert_int_eq(host_register(r.h, &q), 1);
	ck_assert_int_eq(host_register(r.h, &q), -EINVAL);
	ck_assert_uint_eq(arrives(&l, 0, &r, 0x32, METHOD_SEND), 0);
	m = message_new(256, 0, 0x20, 0x32, METHOD_SEND, 1);
	m.mad[36] = 0x77;	/* reserved, and not part of it */
	m.mad[37] = 0x00;
	m.mad[38] = 0x02;
	m.mad[39] = 0xc9;
	ck_assert_int_eq(message_send(&l, m), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 1);
	ck_assert_uint_eq(got_head(&r, 0)->agent_id, 1);
	client_close(&l);
	client_close(&r);
}
END_TEST

START_TEST(a_get_that_nobody_wants_is_told_so)
{
	static const uint8_t classes[] = { CLASS_SM_LID, CLASS_SA, CLASS_CM };
	struct client l;

	client_open(&l, left, 1);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		int agent = client_register(&l, classes[i], -1);
		struct message m = message_new(256, agent, 0x20, classes[i],
					       i % 2 ? METHOD_SET : METHOD_GET, i);

		m.head->timeout_ms = 100;
		m.mad[200] = 0x5a;
		ck_assert_int_eq(message_send(&l, m), 0);
		run_us(1000);
		ck_assert_uint_eq(l.got.n, 1);
		ck_assert_uint_eq(got_head(&l, 0)->status, 0);
		ck_assert_uint_eq(got_head(&l, 0)->agent_id, (unsigned)agent);
		ck_assert_uint_eq(got_mad(&l, 0)[MAD_METHOD], METHOD_GET_RESP);
		ck_assert_uint_eq(get_be16(got_mad(&l, 0) + MAD_STATUS), 0x0c);
		ck_assert_uint_eq(got_mad(&l, 0)[200], 0x5a);
		got_forget(&l);
	}
	client_close(&l);
}
END_TEST

START_TEST(answers_go_to_who_asked)
{
	struct client a, b, sm;

	client_open(&a, left, 1);
	client_open(&b, left, 2);
	client_open(&sm, right, 3);
	ck_assert_int_eq(client_register(&a, CLASS_SA, -1), 0);
	ck_assert_int_eq(client_register(&b, CLASS_SA, -1), 0);
	ck_assert_int_eq(client_register(&sm, CLASS_SA, METHOD_GET), 0);
	for (int i = 0; i < 2; i++) {
		struct message m = message_new(256, 0, 0x20, CLASS_SA, METHOD_GET, 0x99);

		m.head->timeout_ms = 1000;
		ck_assert_int_eq(message_send(i ? &b : &a, m), 0);
	}
	run_us(1);
	ck_assert_uint_eq(sm.got.n, 2);
	ck_assert(memcmp(got_mad(&sm, 0) + MAD_TID, got_mad(&sm, 1) + MAD_TID, 4));
	/* In the other order; and one of them twice, which is one too many. */
	ck_assert_int_eq(message_send(&sm, message_answer(&sm, 1, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(b.got.n, 1);
	ck_assert_int_eq(message_send(&sm, message_answer(&sm, 0, 256)), 0);
	ck_assert_int_eq(message_send(&sm, message_answer(&sm, 0, 256)), 0);
	run_us(1);
	ck_assert_uint_eq(a.got.n, 1);
	ck_assert_uint_eq(b.got.n, 1);
	ck_assert_uint_eq(get_be64(got_mad(&a, 0) + MAD_TID) & UINT32_MAX, 0x99);
	ck_assert_uint_eq(drops(DROP_NO_AGENT), 1);
	client_close(&a);
	client_close(&b);
	client_close(&sm);
}
END_TEST

START_TEST(a_made_up_answer_goes_nowhere)
{
	struct client l, r;

	client_open(&l, left, 1);
	client_open(&r, right, 2);
	ck_assert_int_eq(client_register(&l, CLASS_SA, -1), 0);
	ck_assert_int_eq(client_register(&r, CLASS_SA, METHOD_GET), 0);
	for (uint64_t hi = 0; hi < 4; hi++)
		ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA,
							      METHOD_GET_RESP, hi << 32)), 0);
	ck_assert_int_eq(message_send(&l, message_new(256, 0, 0x20, CLASS_SA, METHOD_GET_RESP,
						      UINT64_MAX)), 0);
	run_us(1);
	ck_assert_uint_eq(r.got.n, 0);
	ck_assert_uint_eq(drops(DROP_NO_AGENT), 5);
	client_close(&l);
	client_close(&r);
}
END_TEST

START_TEST(a_trap_repress_ends_a_trap_that_waits)
{
	struct client dev, sm;
	struct message m;

	client_open(&dev, left, 1);
	client_open(&sm, right, 2);
	ck_assert_int_eq(client_register(&dev, CLASS_SM_LID, -1), 0);
	ck_assert_int_eq(client_register(&sm, CLASS_SM_LID, METHOD_TRAP), 0);
	m = message_new(256, 0, 0x20, CLASS_SM_LID, METHOD_TRAP, 1);
	m.head->timeout_ms = 10;
	ck_assert_int_eq(message_send(&dev, m), 0);
	run_us(1);
	ck_assert_uint_eq(sm.got.n, 1);
	m = message_answer(&sm, 0, 256);
	m.mad[MAD_METHOD] = METHOD_TRAP_REPRESS;
	ck_assert_int_eq(message_send(&sm, m), 0);
	run_us(100000);
	ck_assert_uint_eq(dev.got.n, 1);
	ck_assert_uint_eq(got_head(&dev, 0)->status, 0);
	client_close(&dev);
	client_close(&sm);
}
END_TEST

static unsigned issm_calls;
static bool issm_on;

static void set_issm(struct sim *sim, uint32_t port, bool on)
{
	(void)sim;
	ck_assert_uint_eq(port, left);
	issm_calls++;
	issm_on = on;
}

START_TEST(one_holds_the_issm_device)
{
	issm_calls = 0;
	s->hooks.set_issm = set_issm;
	host_issm_close(s, left);
	ck_assert_uint_eq(issm_calls, 0);
	ck_assert_int_eq(host_issm_open(s, left), 0);
	ck_assert(issm_on);
	ck_assert_int_eq(host_issm_open(s, left), -EAGAIN);
	ck_assert_uint_eq(issm_calls, 1);
	s->hooks.set_issm = NULL;
	ck_assert_int_eq(host_issm_open(s, right), 0);
	s->hooks.set_issm = set_issm;
	host_issm_close(s, left);
	ck_assert(!issm_on);
	ck_assert_int_eq(host_issm_open(s, left), 0);
}
END_TEST

START_TEST(two_hundred_files_on_a_port)
{
	static struct client c[200];
	struct client sm;

	client_open(&sm, right, 1000);
	ck_assert_int_eq(client_register(&sm, CLASS_SA, METHOD_GET), 0);
	for (unsigned i = 0; i < 200; i++) {
		struct message m;

		client_open(&c[i], left, i + 1);
		ck_assert_int_eq(client_register(&c[i], CLASS_SM_LID, -1), 0);
		ck_assert_int_eq(client_register(&c[i], CLASS_SA, -1), 1);
		m = message_new(256, 1, 0x20, CLASS_SA, METHOD_GET, 1);
		m.head->timeout_ms = 1000;
		put_be32(m.mad + MAD_MOD, i);
		ck_assert_int_eq(message_send(&c[i], m), 0);
	}
	run_us(1);
	ck_assert_uint_eq(sm.got.n, 200);
	for (unsigned i = 0; i < 200; i++)
		ck_assert_int_eq(message_send(&sm, message_answer(&sm, i, 256)), 0);
	run_us(1);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_uint_eq(c[i].got.n, 1);
		ck_assert_uint_eq(get_be32(got_mad(&c[i], 0) + MAD_MOD), i);
		client_close(&c[i]);
	}
	client_close(&sm);
}
END_TEST

START_TEST(files_left_open_are_closed_at_the_end)
{
	static struct client c;
	struct message m;

	client_open(&c, left, 1);
	ck_assert_int_eq(client_register(&c, CLASS_SA, METHOD_GET), 0);
	m = message_new(256, 0, 0x20, CLASS_SA, METHOD_SEND, 1);
	m.head->timeout_ms = 1000;
	ck_assert_int_eq(message_send(&c, m), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		what_may_be_registered, a_method_has_one_agent,
		directed_and_lid_routed_are_two_classes, a_file_has_32_agents,
		requests_go_by_class_version_and_method, vendor_requests_go_by_oui,
		a_get_that_nobody_wants_is_told_so, answers_go_to_who_asked,
		a_made_up_answer_goes_nowhere, a_trap_repress_ends_a_trap_that_waits,
		one_holds_the_issm_device, two_hundred_files_on_a_port,
		files_left_open_are_closed_at_the_end,
	};

	return run_cases("agents", tests, ARRAY_SIZE(tests));
}
