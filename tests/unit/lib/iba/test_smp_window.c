/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests windows and timeouts of SMPs on a small model of a fabric. */
#include <check.h>
#include <string.h>

#include "lib/iba/smp_window.h"
#include "unit/run.h"

#define MS 1000ll
static const struct smp_window_bounds usual = { .window = 64, .window_device = 4, .timeout_ms = 200,
					  .tries = 4 };
static struct smp_window p;
static int64_t now;

static void start(const struct smp_window_bounds *b)
{
	now = 77777777;		/* any moment will do */
	smp_window_init(&p, b);
}

static uint32_t device(unsigned n)
{
	const uint8_t route[] = { 1, (uint8_t)(n >> 8), (uint8_t)n };

	return smp_window_device(&p, route, sizeof(route), 0, SMP_WINDOW_NO_DEVICE);
}

/* Sends an SMP that is answered after took_us; returns its timeout in ms. */
static unsigned exchange(uint32_t d, int64_t took_us)
{
	struct smp_window_smp x;
	unsigned ms = smp_window_begin(&p, &x, d, 0, now);

	now += took_us;
	smp_window_answered(&p, &x, now);
	return ms;
}

/* Sends as many SMPs as the window allows, all answered after a round trip; returns how many. */
static unsigned round_trip(void)
{
	static struct smp_window_smp x[4096];
	unsigned n = 0;

	for (; smp_window_has_room(&p); n++)
		smp_window_begin(&p, &x[n], device(n), 0, now);
	now += 100;
	for (unsigned i = 0; i < n; i++)
		smp_window_answered(&p, &x[i], now);
	return n;
}

START_TEST(opens_up_to_its_bound)
{
	unsigned last = 0, n;

	start(&usual);
	for (unsigned trips = 0; (n = round_trip()) < usual.window; trips++) {
		ck_assert_uint_gt(n, last);
		ck_assert_uint_lt(trips, 5);
		last = n;
	}
	for (unsigned trips = 0; trips < 100; trips++)
		ck_assert_uint_eq(round_trip(), usual.window);
	ck_assert_uint_eq(p.lost, 0);
	smp_window_free(&p);
}
END_TEST

/* The figures in `status': to which devices SMPs were lost, and the smallest window. */
START_TEST(losses_are_counted)
{
	static const uint8_t nowhere[] = { 9, 9 };
	const uint8_t first[] = { 1, 0, 0 };
	struct smp_window_smp x[3];

	start(&usual);
	while (round_trip() < usual.window)
		;
	ck_assert_uint_eq(p.least, 0);
	ck_assert_ptr_null(smp_window_find(&p, nowhere, sizeof(nowhere), 0));
	ck_assert_uint_eq(smp_window_find(&p, first, sizeof(first), 0)->lost, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(x); i++) {	/* one after the other, as it grows again */
		unsigned ms = smp_window_begin(&p, &x[i], device(0), 0, now);

		now += ms * MS;
		smp_window_timed_out(&p, &x[i], now);
		smp_window_repeat(&p, &x[i], now);
		now += 100;
		smp_window_answered(&p, &x[i], now);
	}
	ck_assert_uint_eq(smp_window_find(&p, first, sizeof(first), 0)->lost, 3);
	ck_assert_uint_eq(smp_window_find(&p, first, sizeof(first), 1) == NULL, true);
	ck_assert_uint_eq(smp_window_learned(&p).lost, 3);
	ck_assert_uint_eq(p.least, p.window);
	ck_assert_uint_lt(p.least, usual.window);
	/* a loss closes the window for a while only, but stays in the figures */
	now += 3600 * 1000 * MS;
	for (unsigned trips = 0; trips < 100000 && p.window < usual.window; trips++, now += 50 * MS)
		round_trip();
	ck_assert_uint_eq(p.window, usual.window);
	ck_assert_uint_lt(p.least, usual.window);
	smp_window_free(&p);
}
END_TEST

START_TEST(a_small_bound_holds)
{
	const struct smp_window_bounds one = { .window = 1, .window_device = 1, .timeout_ms = 200,
					 .tries = 4 };

	start(&one);
	for (unsigned trips = 0; trips < 100; trips++)
		ck_assert_uint_eq(round_trip(), 1);
	smp_window_free(&p);
}
END_TEST

/*
 * A port that can buffer `room` SMPs and forwards one each microsecond; SMPs beyond that are lost.  The test
 * sends SMPs to 500 devices, as many as the window allows, and repeats lost ones.
 */
struct wire {
	struct smp_window_smp x;
	int64_t due;		/* its answer, or its time-out */
	enum { IDLE, UNDER_WAY, LOST, REPEAT } state;
};

static struct wire wire[64];
static unsigned in_port, sent_in_all;
static int64_t port_free;

static void put(struct wire *w, unsigned ms, unsigned room)
{
	if (port_free < now)
		port_free = now;
	in_port = (unsigned)(port_free - now);
	sent_in_all++;
	if (in_port >= room) {
		w->state = LOST;
		w->due = now + ms * MS;
	} else {
		w->state = UNDER_WAY;
		w->due = ++port_free + 100;
	}
}

static uint64_t play(unsigned room, unsigned answers)
{
	unsigned answered = 0, next = 0;
	int64_t begin = now;

	sent_in_all = 0;
	port_free = 0;
	memset(wire, 0, sizeof(wire));
	while (answered < answers) {
		for (unsigned i = 0; i < 64; i++) {
			struct wire *w = &wire[i];

			if (w->state == UNDER_WAY && w->due <= now) {
				smp_window_answered(&p, &w->x, now);
				w->state = IDLE;
				answered++;
			} else if (w->state == LOST && w->due <= now) {
				smp_window_timed_out(&p, &w->x, now);
				w->state = REPEAT;
			}
		}
		for (unsigned i = 0; i < 64; i++)
			if (wire[i].state == REPEAT && smp_window_may_repeat(&p, now))
				put(&wire[i], smp_window_repeat(&p, &wire[i].x, now), room);
		for (unsigned i = 0; i < 64; i++)
			if (wire[i].state == IDLE && smp_window_has_room(&p))
				put(&wire[i], smp_window_begin(&p, &wire[i].x, device(next++ % 500), 0,
							       now), room);
		now += 20;
	}
	return (uint64_t)(now - begin);
}

static const unsigned rooms[] = { 4, 8, 16, 32 };

/* promise: D70 */
START_TEST(finds_what_a_port_holds)
{
	unsigned room = rooms[_i];
	uint64_t took, without;

	start(&usual);
	without = play(10000, 40000);
	ck_assert_uint_eq(p.lost, 0);
	smp_window_free(&p);
	start(&usual);
	took = play(room, 40000);
	ck_assert_msg(p.lost * 100 < sent_in_all, "room %u: %u lost of %u", room, (unsigned)p.lost,
		      sent_in_all);
	/* at most 1.5 times the time that 64 SMPs at a time would take with this room */
	ck_assert_msg(took * 2 * room < without * 3 * 64, "room %u: %llu us, without %llu us", room,
		      (unsigned long long)took, (unsigned long long)without);
	smp_window_free(&p);
}
END_TEST

/* --- dead devices --- */

static void silence(struct smp_window_smp *x, unsigned ms)
{
	now += ms * MS;
	smp_window_timed_out(&p, x, now);
}

/* promise: D70 */
START_TEST(the_dead_close_no_window)
{
	struct smp_window_smp x[50];
	unsigned ms[50];

	start(&usual);
	while (round_trip() < usual.window)
		;
	/* a device that never answered takes no room after the second try, and does not count as a loss */
	for (unsigned i = 0; i < 50; i++)
		ms[i] = smp_window_begin(&p, &x[i], device(1000 + i), 0, now);
	for (unsigned try = 0; try < 3; try++) {
		ck_assert_uint_eq(p.outstanding, try < 2 ? 50 : 0);
		for (unsigned i = 0; i < 50; i++)
			smp_window_timed_out(&p, &x[i], now + ms[i] * MS);
		now += ms[0] * MS;
		for (unsigned i = 0; i < 50; i++)
			ms[i] = smp_window_repeat(&p, &x[i], now);
		ck_assert(!smp_window_has_tries(&x[0]) == (try == 2));
	}
	for (unsigned i = 0; i < 50; i++)
		smp_window_given_up(&p, &x[i]);
	ck_assert_uint_eq(p.window, usual.window);
	ck_assert_uint_eq(p.lost, 0);
	ck_assert_uint_eq(p.outstanding, 0);

	/* a device that did answer counts once, however often it is tried then */
	for (unsigned times = 0; times < 5; times++) {
		unsigned wait = smp_window_begin(&p, &x[0], device(1), 0, now);

		while (silence(&x[0], wait), smp_window_has_tries(&x[0]))
			wait = smp_window_repeat(&p, &x[0], now);
		smp_window_given_up(&p, &x[0]);
	}
	ck_assert_uint_eq(p.lost, 1);
	ck_assert_uint_eq(p.window, usual.window / 2);
	smp_window_free(&p);
}
END_TEST

START_TEST(one_event_cuts_once)
{
	struct smp_window_smp x[20];

	start(&usual);
	while (round_trip() < usual.window)
		;
	now++;
	for (unsigned i = 0; i < 20; i++)
		smp_window_begin(&p, &x[i], device(i), 0, now);
	for (unsigned i = 0; i < 20; i++)
		silence(&x[i], 50);
	ck_assert_uint_eq(p.window, usual.window / 2);
	ck_assert_uint_eq(p.lost, 20);
	/* few repeats at a time, and one more for each answer */
	unsigned n = 0;

	while (n < 20 && smp_window_may_repeat(&p, now))
		smp_window_repeat(&p, &x[n++], now);
	ck_assert_uint_eq(n, usual.window / 2 / 4);
	for (unsigned i = 0; i < n; i++)
		smp_window_answered(&p, &x[i], now);
	ck_assert(smp_window_may_repeat(&p, now));
	ck_assert_uint_eq(p.window, usual.window / 2);
	smp_window_free(&p);
}
END_TEST

/* A device's first SMP is lost, which is known to be a loss once the device answers a later try. */
START_TEST(a_loss_is_one_when_the_device_answers)
{
	struct smp_window_smp x;

	start(&usual);
	while (round_trip() < usual.window)
		;
	now++;
	ck_assert_uint_eq(smp_window_begin(&p, &x, device(1000), 0, now), 200);
	silence(&x, 200);
	ck_assert_uint_eq(p.window, usual.window);
	smp_window_repeat(&p, &x, now);
	now += 100;
	smp_window_answered(&p, &x, now);
	ck_assert_uint_eq(p.window, usual.window / 2);
	ck_assert_uint_eq(smp_window_device_window(&p, device(1000)), 2);
	for (unsigned i = 0; i < 100; i++)
		exchange(device(1000), 100);
	ck_assert_uint_eq(smp_window_device_window(&p, device(1000)), 4);
	smp_window_free(&p);
}
END_TEST

/* --- time-outs --- */

/* promise: D70 */
START_TEST(time_outs_follow_round_trips)
{
	start(&usual);
	ck_assert_uint_eq(exchange(device(1), 100), 200);
	ck_assert_uint_eq(exchange(device(1), 100), 26);
	/* a device that is slow from the start */
	for (unsigned i = 0; i < 200; i++)
		ck_assert_uint_gt(exchange(device(2), 100 * MS + (i % 5) * 10 * MS), i % 5 ? 100 + i % 5 * 10 : 100);
	/* a device that is slower than the first timeout: measured by its second try */
	struct smp_window_smp x;

	ck_assert_uint_eq(smp_window_begin(&p, &x, device(3), 0, now), 200);
	silence(&x, 200);
	ck_assert_uint_eq(smp_window_repeat(&p, &x, now), 400);
	now += 300 * MS;
	smp_window_answered(&p, &x, now);
	for (unsigned i = 0; i < 200; i++)
		ck_assert_uint_ge(exchange(device(3), 300 * MS), 325);
	ck_assert_uint_eq(p.devices.v[device(1)].srtt_us, 100);
	smp_window_free(&p);
}
END_TEST

/* promise: A93 */
START_TEST(brief_ones_are_not_stretched)
{
	struct smp_window_smp x;
	unsigned all;

	start(&usual);
	all = smp_window_begin(&p, &x, device(1), SMP_WINDOW_BRIEF, now);
	while (smp_window_has_tries(&x))
		all += smp_window_repeat(&p, &x, now);
	ck_assert_uint_eq(all, 200 + 400 + 800);
	smp_window_given_up(&p, &x);
	exchange(device(1), 100);
	all = smp_window_begin(&p, &x, device(1), SMP_WINDOW_BRIEF, now);
	ck_assert_uint_eq(all, 26);
	while (smp_window_has_tries(&x))
		all += smp_window_repeat(&p, &x, now);
	ck_assert_uint_le(all, 200);
	ck_assert_uint_eq(x.try, 2);
	smp_window_given_up(&p, &x);
	ck_assert_uint_eq(smp_window_begin(&p, &x, device(1), SMP_WINDOW_ONCE | SMP_WINDOW_BRIEF, now), 26);
	ck_assert(!smp_window_has_tries(&x));
	smp_window_given_up(&p, &x);
	smp_window_free(&p);
}
END_TEST

/* Makes all tries of an SMP to a silent device; returns how many, and *ms gets the time in ms. */
static unsigned lose_all(uint32_t d, unsigned *ms)
{
	struct smp_window_smp x;
	unsigned wait = smp_window_begin(&p, &x, d, 0, now);

	for (*ms = 0;; wait = smp_window_repeat(&p, &x, now)) {
		now += wait * MS;
		*ms += wait;
		smp_window_timed_out(&p, &x, now);
		if (!smp_window_has_tries(&x))
			break;
	}
	smp_window_given_up(&p, &x);
	return x.try + 1u;
}

/* promise: A93 */
START_TEST(who_had_all_the_time_has_one_try)
{
	unsigned ms;

	start(&usual);
	exchange(device(1), 100);
	ck_assert_uint_eq(lose_all(device(1), &ms), 4);
	ck_assert_uint_eq(ms, 200 + 400 + 800 + 1600);
	ck_assert_uint_eq(lose_all(device(1), &ms), 1);
	ck_assert_uint_le(ms, 30);
	/* until it answers */
	exchange(device(1), 100);
	ck_assert_uint_eq(lose_all(device(1), &ms), 4);
	smp_window_free(&p);
}
END_TEST

/* promise: A96 */
START_TEST(who_is_slow_after_a_silence_is_heard_again)
{
	struct smp_window_smp x;
	unsigned ms;

	start(&usual);
	exchange(device(1), 100);
	lose_all(device(1), &ms);
	ck_assert_uint_eq(lose_all(device(1), &ms), 1);
	/* its agent is busy now: the timeout is longer */
	ck_assert_uint_gt(smp_window_begin(&p, &x, device(1), SMP_WINDOW_ONCE, now), 60);
	now += 60 * MS;
	smp_window_answered(&p, &x, now);
	ck_assert_uint_eq(lose_all(device(1), &ms), 4);
	smp_window_free(&p);
}
END_TEST

/* promise: A96 */
START_TEST(one_loss_of_long_ago_is_no_silence)
{
	struct smp_window_smp x;
	unsigned ms;

	start(&usual);
	exchange(device(1), 100);
	silence(&x, smp_window_begin(&p, &x, device(1), SMP_WINDOW_ONCE, now));
	smp_window_given_up(&p, &x);
	now += 3600 * 1000 * MS;
	ck_assert_uint_eq(lose_all(device(1), &ms), 4);
	smp_window_free(&p);
}
END_TEST

/* A device that is away for a while has the same time to come back, whatever was measured before. */
/* promise: D70 */
START_TEST(the_last_try_waits_for_the_rest)
{
	struct smp_window_smp x;
	unsigned all = 0;

	start(&usual);
	exchange(device(1), 100);
	exchange(device(1), 100);
	all = smp_window_begin(&p, &x, device(1), 0, now);
	ck_assert_uint_eq(all, 26);
	while (smp_window_has_tries(&x))
		all += smp_window_repeat(&p, &x, now);
	ck_assert_uint_eq(all, 200 + 400 + 800 + 1600);
	ck_assert_uint_eq(x.try, 3);
	smp_window_given_up(&p, &x);
	ck_assert_uint_eq(smp_window_begin(&p, &x, device(1), SMP_WINDOW_ONCE, now), 200);
	ck_assert(!smp_window_has_tries(&x));
	smp_window_given_up(&p, &x);

	/* discovery's steady bounds, for devices that were never queried and for measured ones */
	const struct smp_window_bounds steady = { .window = 4, .window_device = 4, .timeout_ms = 200,
					    .tries = 4, .steady = true };

	smp_window_free(&p);
	start(&steady);
	for (unsigned measured = 0; measured < 2; measured++) {
		all = smp_window_begin(&p, &x, device(1), 0, now);
		while (smp_window_has_tries(&x))
			all += smp_window_repeat(&p, &x, now);
		ck_assert_uint_eq(all, 4 * 200);
		smp_window_given_up(&p, &x);
		exchange(device(1), 100);
	}

	const struct smp_window_bounds patient = { .window = 4, .window_device = 4,
					     .timeout_ms = 60000, .tries = 8 };

	smp_window_free(&p);
	start(&patient);
	smp_window_begin(&p, &x, device(1), 0, now);
	for (all = 0; smp_window_has_tries(&x); )
		ck_assert_uint_eq(smp_window_repeat(&p, &x, now), SMP_WINDOW_TIMEOUT_MAX_MS);
	smp_window_free(&p);
}
END_TEST

START_TEST(what_another_process_found_out)
{
	struct smp_window_learned l = { .window = 12, .lossy = true, .slowest_us = 30 * MS };

	start(&usual);
	smp_window_learn(&p, &l);
	ck_assert_uint_eq(p.window, 12);
	ck_assert_uint_eq(round_trip(), 12);
	ck_assert_uint_le(round_trip(), 13);	/* no doubling of the time-out of earlier losses */
	ck_assert_uint_eq(exchange(device(900), 100), 55);
	l.slowest_us = 500 * MS;		/* never longer than the settings allow */
	smp_window_learn(&p, &l);
	ck_assert_uint_eq(exchange(device(901), 100), 200);
	smp_window_free(&p);

	start(&usual);
	l = (struct smp_window_learned){ .window = 32 };
	smp_window_learn(&p, &l);
	ck_assert_uint_eq(p.window, 32);
	while (round_trip() < usual.window)
		;
	smp_window_learn(&p, &l);
	ck_assert_uint_eq(p.window, usual.window);
	exchange(device(1), 20 * MS);
	l = smp_window_learned(&p);
	ck_assert_uint_eq(l.window, usual.window);
	ck_assert(!l.lossy);
	ck_assert_uint_ge(l.slowest_us, 10 * MS / 4);
	smp_window_free(&p);
}
END_TEST

START_TEST(what_is_kept_is_bounded)
{
	start(&usual);
	for (unsigned i = 0; i < SMP_WINDOW_DEVICES_MAX + 1000; i++) {
		const uint8_t route[] = { (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i };

		exchange(smp_window_device(&p, route, sizeof(route), i % 3, SMP_WINDOW_NO_DEVICE), 100);
	}
	ck_assert_uint_eq(p.devices.n, SMP_WINDOW_DEVICES_MAX);
	ck_assert_uint_ne(device(1), device(2));
	ck_assert_uint_eq(device(1), device(1));
	smp_window_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pace");
	TCase *c = tcase_create("pace");

	tcase_add_test(c, opens_up_to_its_bound);
	tcase_add_test(c, losses_are_counted);
	tcase_add_test(c, a_small_bound_holds);
	tcase_add_loop_test(c, finds_what_a_port_holds, 0, (int)(sizeof(rooms) / sizeof(*rooms)));
	tcase_add_test(c, the_dead_close_no_window);
	tcase_add_test(c, one_event_cuts_once);
	tcase_add_test(c, a_loss_is_one_when_the_device_answers);
	tcase_add_test(c, time_outs_follow_round_trips);
	tcase_add_test(c, the_last_try_waits_for_the_rest);
	tcase_add_test(c, brief_ones_are_not_stretched);
	tcase_add_test(c, who_had_all_the_time_has_one_try);
	tcase_add_test(c, who_is_slow_after_a_silence_is_heard_again);
	tcase_add_test(c, one_loss_of_long_ago_is_no_silence);
	tcase_add_test(c, what_another_process_found_out);
	tcase_add_test(c, what_is_kept_is_bounded);
	suite_add_tcase(s, c);
	return run_suite(s);
}
