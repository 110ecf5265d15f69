/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests requests to QPs of other ports: their destinations, which answers count, retries, and their end. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "fake_umad.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "mad/mad.h"
#include "unit/run.h"

enum { REPORT = 0x06, REPORT_RESP = 0x86 };

static struct {
	struct loop *loop;
	struct mad_port *port;
	struct timer *limit;
	unsigned sends, answers, silences, wanted, requests;
	uint8_t mad[256];		/* the last one sent */
	struct ib_user_mad umad;
	uint8_t answer[256];
	/* the answers to try number `from` and later */
	enum { ANSWER, NOTHING, TIMEOUT, OTHER_METHOD, OTHER_TID, SHORT, OTHER_ATTR, OTHER_LID, RMPP, LATE,
	       TIMEOUT_OF_FORMER, REFUSED_ONCE } what;
	unsigned from;
} t;

static void on_limit(void *arg)
{
	(void)arg;
	ck_abort_msg("the loop did not end in time");
}

static void on_request(void *arg, const struct mad_in *in)
{
	struct mad_address from;

	(void)arg;
	t.requests++;
	mad_sender(in, &from);
	ck_assert_uint_eq(from.lid, 0x33);
	loop_stop(t.loop);
}

static void on_send(const struct ib_user_mad *umad, const struct umad_smp *smp, int len)
{
	static uint8_t first[256];
	uint8_t back[256];

	ck_assert_int_eq(len, 256);
	if (!t.sends++)
		memcpy(first, smp, sizeof(first));
	t.umad = *umad;
	memcpy(t.mad, smp, sizeof(t.mad));
	memcpy(back, t.what == LATE ? first : t.mad, sizeof(back));
	if (t.sends < (t.what == LATE ? 2 : t.from))
		return;
	/* the kernel owns the upper half of the TID */
	put_be32(back + 8, 0x12345678);
	back[3] = t.what == OTHER_METHOD ? 0x81 : REPORT_RESP;
	if (t.what == OTHER_TID)
		back[12] ^= 1;
	if (t.what == OTHER_ATTR)
		back[17] ^= 1;
	if (t.what == RMPP)
		back[26] = 1;
	fake_lid = t.what == OTHER_LID ? 0x43 : t.sends % 2 ? 0x42 : 0;	/* 0: looped back */
	if (t.what == REFUSED_ONCE && t.sends == 2)
		fake_receive(smp, 24, EINVAL, 3);
	else if (t.what == TIMEOUT || (t.what == TIMEOUT_OF_FORMER && t.sends > 1))
		fake_receive(smp, 24, ETIMEDOUT, 3);
	else if (t.what == TIMEOUT_OF_FORMER)
		return;
	else if (t.what != NOTHING && t.what != REFUSED_ONCE)
		fake_receive(back, t.what == SHORT ? 255 : 256, 0, 3);
}

static void on_answer(void *arg, const uint8_t *mad, size_t len)
{
	ck_assert_ptr_eq(arg, &t);
	if (mad) {
		ck_assert_uint_eq(len, 256);
		memcpy(t.answer, mad, sizeof(t.answer));
		t.answers++;
	} else {
		t.silences++;
	}
	if (t.answers + t.silences == t.wanted)
		loop_stop(t.loop);
}

static void setup(void)
{
	struct mad_settings s = { .smp_window = 4, .smp_window_device = 4, .timeout_ms = 10,
				  .sa_queue_max = 10 };
	struct mad_hooks hooks = { .request = on_request };
	struct buf err = { 0 };

	memset(&t, 0, sizeof(t));
	t.loop = loop_new();
	t.port = mad_open(t.loop, &s, &hooks, &err);
	ck_assert_ptr_nonnull(t.port);
	t.limit = timer_new(t.loop, on_limit, NULL);
	timer_set(t.limit, 8000000, 0);
	fake_on_send = on_send;
}

static void teardown(void)
{
	timer_free(t.limit);
	mad_close(t.port);
	loop_free(t.loop);
	fake_on_send = NULL;
	fake_lid = 0;
}

static bool request(unsigned timeout_ms, unsigned tries)
{
	struct mad_address to = { .lid = 0x42, .qpn = 0x1234, .pkey_index = 3, .sl = 5 };
	uint8_t mad[256] = { 1, 3, 2, REPORT, [17] = 2, [255] = 0xab };

	return mad_request(t.port, &to, mad, timeout_ms, tries, on_answer, &t);
}

static void ask(unsigned timeout_ms, unsigned tries)
{
	t.wanted++;
	ck_assert(request(timeout_ms, tries));
	loop_run(t.loop);
}

START_TEST(answered)
{
	ask(1000, 3);
	ck_assert_uint_eq(t.sends, 1);
	ck_assert_uint_eq(t.answers, 1);
	ck_assert_uint_eq(t.answer[255], 0xab);
	ck_assert_uint_eq(be16toh(t.umad.addr.lid), 0x42);
	ck_assert_uint_eq(be32toh(t.umad.addr.qpn), 0x1234);
	ck_assert_uint_eq(be32toh(t.umad.addr.qkey), 0x80010000);
	ck_assert_uint_eq(t.umad.addr.pkey_index, 3);
	ck_assert_uint_eq(t.umad.addr.sl, 5);
	ck_assert_uint_eq(t.umad.timeout_ms, 1000);
	ck_assert_uint_eq(get_be32(t.mad + 8), 0);	/* the kernel's half */
	/* the next one is another transaction */
	uint32_t tid = get_be32(t.mad + 12);

	ask(1000, 3);
	ck_assert_uint_ne(get_be32(t.mad + 12), tid);
	ck_assert_uint_eq(t.answers, 2);
}
END_TEST

/* The request is retried whether or not the kernel reports a timeout. */
START_TEST(tried_again)
{
	uint32_t tid;

	for (unsigned kernel = 0; kernel < 2; kernel++) {
		t.what = kernel ? TIMEOUT : NOTHING;
		t.sends = t.silences = t.wanted = 0;
		ask(10, 3);
		ck_assert_uint_eq(t.sends, 3);
		ck_assert_uint_eq(t.silences, 1);
	}
	tid = get_be32(t.mad + 12);
	t.what = ANSWER;
	t.sends = t.silences = t.wanted = 0;
	t.from = 3;
	ask(10, 3);
	ck_assert_uint_eq(t.sends, 3);
	ck_assert_uint_eq(t.answers, 1);
	ck_assert_uint_ne(get_be32(t.mad + 12), tid);
}
END_TEST

/* If the kernel reports a try's timeout during the next try, that try still has its full time. */
/* promise: A72 */
START_TEST(late_time_out)
{
	int64_t begin = clock_mono_us();

	t.what = TIMEOUT_OF_FORMER;
	ask(50, 3);
	ck_assert_uint_eq(t.sends, 3);
	ck_assert_uint_eq(t.silences, 1);
	ck_assert_int_ge(clock_mono_us() - begin, 300000);
}
END_TEST

/* The kernel did not send the second try, which is no try then. */
/* promise: A72 */
START_TEST(refused_by_the_kernel)
{
	t.what = REFUSED_ONCE;
	ask(50, 3);
	ck_assert_uint_eq(t.sends, 4);
	ck_assert_uint_eq(t.silences, 1);
}
END_TEST

/* All tries have one TID, so that a late answer to the first one counts. */
START_TEST(late)
{
	uint8_t back[256];

	t.what = LATE;
	ask(10, 3);
	ck_assert_uint_eq(t.sends, 2);
	ck_assert_uint_eq(t.answers, 1);
	memcpy(back, t.mad, sizeof(back));
	back[3] = REPORT_RESP;
	/* once more, when nothing waits for it */
	fake_receive(back, 256, 0, 3);
	t.what = ANSWER;
	ask(1000, 1);
	ck_assert_uint_eq(t.answers, 2);
}
END_TEST

START_TEST(what_is_no_answer)
{
	for (t.what = OTHER_METHOD; t.what <= RMPP; t.what++) {
		unsigned silences = t.silences;

		ask(10, 1);
		ck_assert_msg(t.silences == silences + 1, "kind %d", (int)t.what);
	}
	/* the receiver drops these, and one with another TID or length */
	ck_assert_uint_eq(mad_counts(t.port)->unasked, 4);
	ck_assert_uint_eq(t.answers, 0);
}
END_TEST

START_TEST(no_more_than_there_is_room_for)
{
	unsigned n = 0;

	t.what = NOTHING;
	while (request(1000, 1))
		ck_assert_uint_lt(n++, 4000);
	ck_assert_uint_ge(n, 32);
	ck_assert_uint_eq(t.sends, n);
	/* closing the port makes no callbacks for waiting requests */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("request");
	TCase *c = tcase_create("request");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 20);
	tcase_add_test(c, answered);
	tcase_add_test(c, tried_again);
	tcase_add_test(c, late_time_out);
	tcase_add_test(c, refused_by_the_kernel);
	tcase_add_test(c, late);
	tcase_add_test(c, what_is_no_answer);
	tcase_add_test(c, no_more_than_there_is_room_for);
	suite_add_tcase(s, c);
	return run_suite(s);
}
