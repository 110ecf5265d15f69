/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests the engine: time, timers, random numbers, and the order of packets.
 *
 * promise: V1
 */
#include <check.h>
#include <stdlib.h>

#include "rig.h"
#include "unit/run.h"

static struct rig *r;
static VEC(int) fired;		/* what fired, in order */
static VEC(int64_t) times;

static void setup(void)
{
	r = rig_line(2);
}

static void teardown(void)
{
	rig_free(r);
	vec_free(&fired);
	vec_free(&times);
}

static int numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static void note(struct sim *s, void *arg)
{
	*vec_push(&fired) = *(int *)arg;
	*vec_push(&times) = sim_now(s);
}

static uint64_t after(int64_t delay_us, int n)
{
	return sim_after(r->s, delay_us, note, &numbers[n]);
}

static void assert_fired(size_t n, const int *expected)
{
	ck_assert_uint_eq(fired.n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(fired.v[i], expected[i]);
	fired.n = 0;
}
#define FIRED(...) \
	assert_fired(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), (int[]){ __VA_ARGS__ })

START_TEST(by_time_then_by_call)
{
	after(20, 0);
	after(10, 1);
	after(10, 2);
	after(0, 3);
	after(10, 4);
	ck_assert_int_eq(sim_run(r->s, 9), 1);
	FIRED(3);
	ck_assert_int_eq(sim_run(r->s, 10), 10);
	FIRED(1, 2, 4);
	ck_assert_int_eq(sim_run(r->s, 100), -1);
	FIRED(0);
	ck_assert_int_eq(sim_now(r->s), 100);
}
END_TEST

START_TEST(each_at_its_own_time)
{
	after(30, 0);
	after(10, 1);
	after(-5, 2);
	sim_run(r->s, 1000);
	FIRED(2, 1, 0);
	ck_assert_int_eq(times.v[0], 0);
	ck_assert_int_eq(times.v[1], 10);
	ck_assert_int_eq(times.v[2], 30);
}
END_TEST

static void every_10(struct sim *s, void *arg)
{
	note(s, arg);
	if (fired.n < 5)
		sim_after(s, 10, every_10, arg);
}

START_TEST(what_timers_bring_up_runs_in_the_same_run)
{
	sim_after(r->s, 10, every_10, &numbers[7]);
	after(25, 1);
	sim_run(r->s, 1000);
	FIRED(7, 7, 1, 7, 7);
	ck_assert_int_eq(times.v[4], 40);
}
END_TEST

START_TEST(cancel)
{
	uint64_t a = after(10, 0), b = after(10, 1), c = after(5, 2);

	ck_assert_uint_ne(a, 0);
	sim_cancel(r->s, a);
	sim_cancel(r->s, a);
	sim_run(r->s, 7);
	FIRED(2);
	sim_cancel(r->s, c);		/* has fired */

	uint64_t d = after(1, 3);	/* takes a slot that a or c had */

	sim_cancel(r->s, a);
	sim_cancel(r->s, c);
	sim_cancel(r->s, 0);
	sim_cancel(r->s, UINT64_MAX);
	ck_assert_uint_ne(d, a);
	ck_assert_uint_ne(d, c);
	sim_run(r->s, 20);
	FIRED(3, 1);
	sim_cancel(r->s, b);
	ck_assert_int_eq(sim_run(r->s, 30), -1);
}
END_TEST

static uint64_t victim;

static void cancel_victim(struct sim *s, void *arg)
{
	note(s, arg);
	sim_cancel(s, victim);
}

START_TEST(cancel_from_a_timer)
{
	victim = sim_after(r->s, 10, cancel_victim, &numbers[0]);	/* itself */
	sim_after(r->s, 20, cancel_victim, &numbers[1]);
	sim_run(r->s, 15);
	victim = after(5, 2);
	sim_run(r->s, 30);
	FIRED(0, 1);
}
END_TEST

START_TEST(far_away)
{
	sim_run(r->s, 1000);
	after(INT64_MAX, 0);
	ck_assert_int_gt(sim_run(r->s, 2000), INT64_MAX / 2);
	ck_assert_uint_eq(fired.n, 0);
	sim_run(r->s, 1500);		/* time does not go back */
	ck_assert_int_eq(sim_now(r->s), 2000);
}
END_TEST

static void note_wanted(struct sim *s, void *arg)
{
	(void)s;
	*vec_push(&times) = *(int64_t *)arg;
}

/* Many, some cancelled: in order of their times, and all that are due. */
START_TEST(heap)
{
	enum { N = 3000 };
	static uint64_t handles[N];
	static int64_t wanted[N];
	unsigned left = N;

	for (unsigned i = 0; i < N; i++) {
		wanted[i] = sim_random(r->s, 500);
		handles[i] = sim_after(r->s, wanted[i], note_wanted, &wanted[i]);
	}
	for (unsigned i = 0; i < N; i++) {
		if (sim_random(r->s, 3))
			continue;
		sim_cancel(r->s, handles[i]);
		left--;
	}
	ck_assert_int_eq(sim_run(r->s, 600), -1);
	ck_assert_uint_eq(times.n, left);
	for (size_t i = 1; i < times.n; i++)
		ck_assert_int_le(times.v[i - 1], times.v[i]);
}
END_TEST

START_TEST(chance_by_seed)
{
	struct sim *a = sim_new(simfab_new(), 42), *b = sim_new(simfab_new(), 42);
	struct sim *c = sim_new(simfab_new(), 43);
	unsigned same = 0, hit[10] = { 0 };

	for (unsigned i = 0; i < 10000; i++) {
		uint32_t x = sim_random(a, 10);

		ck_assert_uint_lt(x, 10);
		ck_assert_uint_eq(x, sim_random(b, 10));
		same += x == sim_random(c, 10);
		hit[x]++;
	}
	ck_assert_uint_lt(same, 1500);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_uint_gt(hit[i], 850);
		ck_assert_uint_lt(hit[i], 1150);
	}
	for (unsigned i = 0; i < 1000; i++) {
		ck_assert_uint_eq(sim_random(a, 1), 0);
		ck_assert(sim_chance(a, 1.0));
		ck_assert(!sim_chance(a, 0.0));
	}
	sim_free(a);
	sim_free(b);
	sim_free(c);
}
END_TEST

/* --- packets --- */

START_TEST(packets_wait_for_run_and_keep_their_order)
{
	struct packet p = rig_smp(HOST_LID(1));

	for (uint8_t i = 0; i < 200; i++) {
		p.mad[MAD_TID] = i;
		wire_send(r->s, r->host[0], &p);
	}
	ck_assert_uint_eq(r->arrived.n, 0);
	sim_run(r->s, 0);
	ck_assert_uint_eq(r->arrived.n, 200);
	for (uint8_t i = 0; i < 200; i++)
		ck_assert_uint_eq(r->arrived.v[i].p.mad[MAD_TID], i);
}
END_TEST

START_TEST(later)
{
	struct packet p = rig_smp(HOST_LID(1));

	wire_send_after(r->s, r->host[0], &p, 50);
	wire_send_after(r->s, r->host[0], &p, 20);
	sim_run(r->s, 10);
	ck_assert_uint_eq(r->arrived.n, 0);
	sim_run(r->s, 1000);
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_int_eq(r->arrived.v[0].when_us, 20);
	ck_assert_int_eq(r->arrived.v[1].when_us, 50);
	ck_assert_uint_eq(r->arrived.v[0].p.from, r->host[0]);
}
END_TEST

START_TEST(answers_go_by_the_queue)
{
	r->answers = true;
	rig_send(r, r->host[0], rig_smp(HOST_LID(1)));
	ck_assert_uint_eq(r->arrived.n, 2);
	ck_assert_uint_eq(r->arrived.v[1].port, r->host[0]);
}
END_TEST

START_TEST(frozen)
{
	struct packet p = rig_smp(HOST_LID(1));

	r->s->frozen = true;
	wire_send(r->s, r->host[0], &p);
	wire_send_after(r->s, r->host[0], &p, 10);
	after(20, 0);
	ck_assert_int_eq(sim_run(r->s, 100), -1);
	FIRED(0);			/* time goes on, and whoever waits sees it */
	ck_assert_uint_eq(r->arrived.n, 0);
	r->s->frozen = false;
	sim_run(r->s, 110);
	ck_assert_uint_eq(r->arrived.n, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("engine");
	TCase *t = tcase_create("engine");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, by_time_then_by_call);
	tcase_add_test(t, each_at_its_own_time);
	tcase_add_test(t, what_timers_bring_up_runs_in_the_same_run);
	tcase_add_test(t, cancel);
	tcase_add_test(t, cancel_from_a_timer);
	tcase_add_test(t, far_away);
	tcase_add_test(t, heap);
	tcase_add_test(t, chance_by_seed);
	tcase_add_test(t, packets_wait_for_run_and_keep_their_order);
	tcase_add_test(t, later);
	tcase_add_test(t, answers_go_by_the_queue);
	tcase_add_test(t, frozen);
	suite_add_tcase(s, t);
	return run_suite(s);
}
