/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests Reports to subscribers: which they get, in which order, how many at a time, and
 * the treatment of subscribers that do not answer.
 */
#include <check.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "rig.h"
#include "sa/reports.h"
#include "unit/run.h"

static struct rig r;
static struct reports *reports;
static struct subscriptions *db;
static VEC(struct report) sent;		/* oldest first; [0 .. answered) are answered */
static size_t answered;
static unsigned wakes, refuse;

static bool on_send(void *arg, const struct report *out)
{
	(void)arg;
	if (refuse) {
		refuse--;
		return false;
	}
	*vec_push(&sent) = *out;
	return true;
}

static void on_wake(void *arg)
{
	(void)arg;
	wakes++;
}

/* Runs the sender as the loop would. */
static void work(void)
{
	while (wakes) {
		wakes = 0;
		reports_work(reports);
	}
}

/* Answers the oldest outstanding Report, or lets it time out. */
static void answer(bool yes)
{
	ck_assert_uint_lt(answered, sent.n);
	reports_answered(reports, sent.v[answered++].id, yes);
	work();
}

static unsigned waiting(void)
{
	return (unsigned)(sent.n - answered);
}

static void answer_all(void)
{
	while (waiting())
		answer(true);
}

static const struct sa_notice *notice(size_t i)
{
	ck_assert_uint_lt(i, sent.n);
	return (const void *)(sent.v[i].mad + SA_HDR_LEN);
}

static unsigned trap_of(size_t i)
{
	return get_be16(notice(i)->number);
}

static void publish(void)
{
	r.state->refs++;	/* the rig frees it, not its last user */
	reports_publish(reports, r.state);
	work();
}

static uint64_t dropped_guid;
static uint32_t dropped_qpn;

static void on_dropped(void *arg, uint64_t guid, uint32_t qpn)
{
	(void)arg;
	dropped_guid = guid;
	dropped_qpn = qpn;
}

static void setup(void)
{
	struct reports_hooks hooks = { .send = on_send, .wake = on_wake, .dropped = on_dropped };

	rig_init(&r);
	db = r.sa.subscriptions;
	reports = reports_new(db, &hooks);
	wakes = refuse = 0;
}

static void start(void)
{
	rig_start(&r);
	r.state->refs = 1;
	publish();
}

static void teardown(void)
{
	reports_publish(reports, NULL);
	reports_free(reports);
	vec_free(&sent);
	answered = 0;
	rig_end(&r);
}

static struct subscription to_trap(unsigned trap)
{
	return (struct subscription){
		.what = { .lid_first = INFORM_ALL_LIDS, .generic = true, .type = INFORM_ALL_TYPES,
			  .number = (uint16_t)trap, .producer = INFORM_ALL_PRODUCERS },
		.number = SUBSCRIPTION_ANY,
	};
}

static void subscribe(enum host h, uint32_t qpn, unsigned trap)
{
	struct subscription s = to_trap(trap);

	ck_assert(subscriptions_add(db, HOST_GUID(h), qpn, &s));
}

static const uint8_t mgid[16] = { 0xff, 0x12, [15] = 1 };

static void group(uint16_t pkey, bool made)
{
	reports_group(reports, mgid, pkey, made);
	work();
}

/* A trap from a host: data of an SMP. */
static void trap(enum host h, unsigned number, bool generic)
{
	struct sa_notice n = { .type = (uint8_t)(generic ? 0x84 : 0x04), .producer = { 0, 0, 1 } };

	put_be16(n.number, (uint16_t)number);
	put_be16(n.issuer_lid, 0x4444);	/* the device's own statement does not count */
	reports_trap(reports, (const uint8_t *)&n, rig_lid(&r, h));
	work();
}

/* --- what a Report is --- */

START_TEST(of_a_group)
{
	static const uint8_t header[8] = { 1, 3, 2, 6, 0, 0, 0, 0 };
	struct subscription s = to_trap(66);

	start();
	s.resp_time = 20;	/* 4.3 s */
	subscriptions_add(db, HOST_GUID(H2), 0x300, &s);
	group(0xffff, true);
	ck_assert_uint_eq(sent.n, 1);
	const struct report *out = &sent.v[0];

	ck_assert_int_eq(memcmp(out->mad, header, sizeof(header)), 0);
	ck_assert_uint_eq(get_be16(out->mad + 16), 2);		/* Notice */
	ck_assert_uint_eq(out->lid, rig_lid(&r, H2));
	ck_assert_uint_eq(out->qpn, 0x300);
	ck_assert_uint_eq(out->pkey_index, 0);
	ck_assert(out->timeout_ms > 4294 && out->timeout_ms <= 5000);
	ck_assert_uint_eq(notice(0)->type, 0x83);
	ck_assert_uint_eq(notice(0)->producer[2], 4);
	ck_assert_uint_eq(get_be16(notice(0)->issuer_lid), rig_lid(&r, H1));
	ck_assert_uint_eq(get_be64(notice(0)->issuer_gid), PREFIX);
	ck_assert_uint_eq(get_be64(notice(0)->issuer_gid + 8), HOST_GUID(H1));
	ck_assert_int_eq(memcmp(out->mad + SA_HDR_LEN + 16, mgid, 16), 0);
	group(0xffff, false);
	answer(true);
	ck_assert_uint_eq(sent.n, 1);	/* 67 is not what it asked for */
	ck_assert_uint_eq(reports_counts(reports)->answered, 1);
}
END_TEST

START_TEST(of_a_trap)
{
	start();
	subscribe(H2, 1, 130);
	subscribe(H2, 1, 0xffff);
	trap(H3, 130, true);
	ck_assert_uint_eq(sent.n, 1);	/* one, though it asked twice */
	ck_assert_uint_eq(get_be16(notice(0)->issuer_lid), rig_lid(&r, H3));
	ck_assert_uint_eq(get_be64(notice(0)->issuer_gid + 8), HOST_GUID(H3));
	ck_assert_uint_ge(sent.v[0].timeout_ms, 500);
	answer(true);
	trap(H3, 130, false);	/* a vendor's */
	ck_assert_uint_eq(sent.n, 1);
	reports_trap(reports, (const uint8_t *)notice(0), 0xbfff);	/* from nobody */
	work();
	ck_assert_uint_eq(sent.n, 1);
	ck_assert_uint_eq(reports_counts(reports)->dropped_traps, 1);
	reports_trap(reports, (const uint8_t *)notice(0), 0);	/* from our own node */
	work();
	ck_assert_uint_eq(get_be64(notice(1)->issuer_gid + 8), HOST_GUID(H1));
}
END_TEST

/* One field after the other: with a value that matches and with one that does not. */
START_TEST(what_is_asked_for)
{
	start();
	for (unsigned i = 0; i < 16; i++) {
		struct subscription s = to_trap(0xffff);
		bool fits = i % 2;
		uint16_t lid = rig_lid(&r, H3), more = (uint16_t)(lid + !fits);
		uint16_t less = (uint16_t)(lid - !fits);

		switch (i / 2) {
		case 0: s.what.number = fits ? 130 : 131; break;
		case 1: s.what.type = fits ? 4 : 3; break;
		case 2: s.what.producer = fits ? 1 : 2; break;
		case 3: s.what.generic = fits; break;
		case 4: rig_gid(HOST_GUID(fits ? H3 : H4), s.what.gid); break;
		case 5: s.what.lid_first = s.what.lid_last = more; break;
		case 6: s.what.lid_first = 1; s.what.lid_last = less; break;
		case 7: s.what.lid_first = more; s.what.lid_last = 0xbfff; break;
		}
		subscriptions_add(db, HOST_GUID(H2), 1, &s);
		trap(H3, 130, true);
		ck_assert_msg(waiting() == fits, "case %u", i);
		answer_all();
		subscriptions_drop(db, HOST_GUID(H2), 1);
	}
}
END_TEST

START_TEST(secrets_are_for_the_trusted)
{
	struct subscription s = to_trap(0xffff);

	start();
	subscribe(H2, 1, 0xffff);
	for (unsigned number = 256; number <= 259; number++)
		trap(H3, number, true);
	ck_assert_uint_eq(sent.n, 0);
	s.trusted = true;
	subscriptions_add(db, HOST_GUID(H4), 1, &s);
	for (unsigned number = 256; number <= 259; number++)
		trap(H3, number, true);
	answer_all();
	ck_assert_uint_eq(sent.n, 4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(sent.v[i].lid, rig_lid(&r, H4));
		ck_assert_uint_eq(trap_of(i), 256 + i);
	}
}
END_TEST

/* --- partitions --- */

START_TEST(of_those_only_whom_one_may_talk_to)
{
	struct policy_partition *part = rig_partition(&r, 0x20);

	rig_member(part, H2, MEMBER_FULL);
	rig_member(part, H3, MEMBER_LIMITED);
	r.policy->partitions[0].members[0].membership = MEMBER_LIMITED;
	start();
	for (enum host h = H2; h < N_HOSTS; h++)
		subscribe(h, 1, 0xffff);
	trap(H2, 130, true);		/* h2 and h3 */
	answer_all();
	ck_assert_uint_eq(sent.n, 2);
	ck_assert_uint_eq(sent.v[1].lid, rig_lid(&r, H3));
	trap(H3, 130, true);		/* itself is limited: h2 alone, and no other limited one */
	answer_all();
	ck_assert_uint_eq(sent.n, 3);
	ck_assert_uint_eq(sent.v[2].lid, rig_lid(&r, H2));
	trap(H1, 130, true);		/* the SM's host talks to everybody */
	answer_all();
	ck_assert_uint_eq(sent.n, 6);
	group(0x8020, true);		/* limited members take part in groups */
	answer_all();
	ck_assert_uint_eq(sent.n, 8);
	group(0x8021, true);
	ck_assert_uint_eq(sent.n, 8);
}
END_TEST

START_TEST(by_the_pkey_of_the_request)
{
	struct subscription s = to_trap(66);
	struct policy_partition *part = rig_partition(&r, 0x20);

	rig_member(part, N_HOSTS, MEMBER_FULL);
	start();
	s.pkey = 0x20;
	subscriptions_add(db, HOST_GUID(H2), 1, &s);
	s.pkey = 0x7777;	/* gone meanwhile: the rest of the GIDs */
	subscriptions_add(db, HOST_GUID(H3), 1, &s);
	group(0xffff, true);
	ck_assert_uint_eq(sent.n, 2);
	ck_assert_uint_eq(sent.v[0].pkey_index, 1);
	ck_assert_uint_eq(sent.v[1].pkey_index, 0);
}
END_TEST

/* --- ports come and go --- */

/* The rig's fabric again, without what hangs on a link of a switch. */
static struct subnet_state *state_without(enum host gone)
{
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	*s = *r.state;
	s->refs = 1000;		/* the test's own */
	s->f = xmemdup(r.f, sizeof(*r.f));
	s->plan = xmemdup(r.state->plan, sizeof(*s->plan));
	s->plan->lid = xmemdup(r.state->plan->lid, r.f->n_ports * sizeof(*s->plan->lid));
	s->plan->lid[rig_host(&r, gone)] = 0;
	return s;
}

static void free_state(struct subnet_state *s)
{
	free(s->plan->lid);
	free(s->plan);
	free(s->f);
	free(s);
}

START_TEST(ports_that_come_and_go)
{
	struct subnet_state *less;

	start();
	less = state_without(H3);
	subscribe(H2, 1, 64);
	subscribe(H2, 1, 65);
	subscribe(H3, 1, 64);
	subscribe(H3, 1, 66);
	ck_assert_uint_eq(sent.n, 0);	/* the first state causes no events */
	reports_publish(reports, less);
	work();
	ck_assert_uint_eq(sent.n, 1);
	ck_assert_uint_eq(trap_of(0), 65);
	ck_assert_uint_eq(get_be64(notice(0)->details + 6), PREFIX);
	ck_assert_uint_eq(get_be64(notice(0)->details + 14), HOST_GUID(H3));
	group(0xffff, true);		/* h3 is not there to hear of anything */
	publish();
	answer(true);
	ck_assert_uint_eq(sent.n, 3);	/* h2 and h3 itself, which is back */
	ck_assert_uint_eq(trap_of(1), 64);
	ck_assert_uint_eq(trap_of(2), 64);
	answer_all();
	publish();			/* the same once more */
	ck_assert_uint_eq(sent.n, 3);
	reports_publish(reports, NULL);
	reports_publish(reports, less);	/* events in between are lost */
	work();
	ck_assert_uint_eq(sent.n, 3);
	reports_publish(reports, NULL);
	free_state(less);
}
END_TEST

/* --- turns --- */

START_TEST(one_at_a_time_and_in_order)
{
	start();
	subscribe(H2, 1, 0xffff);
	for (unsigned i = 0; i < 10; i++)
		group(0xffff, i % 2);
	ck_assert_uint_eq(waiting(), 1);
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_uint_eq(waiting(), 1);
		ck_assert_uint_eq(trap_of(i), i % 2 ? 66 : 67);
		answer(true);
	}
	ck_assert_uint_eq(sent.n, 10);
	/* a new subscriber gets events from now on */
	subscribe(H3, 1, 0xffff);
	work();
	ck_assert_uint_eq(waiting(), 0);
	group(0xffff, true);
	ck_assert_uint_eq(waiting(), 2);
}
END_TEST

/* More subscribers than Reports that may be outstanding: each still gets all its Reports. */
START_TEST(bounded_in_all)
{
	start();
	for (unsigned i = 0; i < 3 * REPORTS_WINDOW; i++)
		subscribe(H2 + i % 3, 10 + i, 0xffff);
	for (unsigned i = 0; i < 300; i++)
		reports_group(reports, mgid, 0xffff, i % 2);
	work();
	ck_assert_uint_eq(waiting(), 3 * REPORTS_WINDOW_PORT);
	while (waiting()) {
		ck_assert_uint_le(waiting(), REPORTS_WINDOW);
		answer(true);
	}
	ck_assert_uint_eq(sent.n, 3 * REPORTS_WINDOW * 300);
	for (unsigned q = 0; q < 3 * REPORTS_WINDOW; q++) {
		unsigned n = 0;

		for (size_t i = 0; i < sent.n; i++)
			if (sent.v[i].qpn == 10 + q)
				ck_assert_uint_eq(trap_of(i), n++ % 2 ? 66 : 67);
		ck_assert_uint_eq(n, 300);
	}
	ck_assert_uint_eq(reports_counts(reports)->lost, 0);
}
END_TEST

/* Work is done in short pieces, however many subscribers do not match. */
START_TEST(many_who_want_something_else)
{
	start();
	for (unsigned q = 0; q < 250; q++)
		subscribe(H2, q, 144);
	subscribe(H3, 1, 66);
	for (unsigned i = 0; i < 500; i++)
		reports_group(reports, mgid, 0xffff, true);
	wakes = 0;
	reports_work(reports);
	ck_assert_uint_eq(sent.n, 0);
	ck_assert_uint_eq(wakes, 1);
	work();
	answer_all();
	ck_assert_uint_eq(sent.n, 500);
}
END_TEST

/* A subscriber with many subscriptions is handled in pieces, and is not lost in between. */
START_TEST(many_events_that_one_does_not_want)
{
	start();
	for (unsigned i = 0; i < 200; i++)
		subscribe(H2, 1, 1000 + i);
	subscribe(H2, 1, 66);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 500; i++)
			reports_group(reports, mgid, 0xffff, false);
		reports_group(reports, mgid, 0xffff, true);
		work();		/* the second time it waits for an answer, and goes on from there */
	}
	ck_assert_uint_eq(sent.n, 1);
	answer(true);
	ck_assert_uint_eq(sent.n, 2);
	answer(true);
}
END_TEST

START_TEST(who_is_too_slow_loses_the_oldest)
{
	start();
	subscribe(H2, 1, 0xffff);
	group(0xffff, true);
	for (unsigned i = 0; i < REPORTS_EVENTS + 50; i++)
		reports_group(reports, mgid, 0xffff, i >= 51);
	work();
	answer(true);
	ck_assert_uint_eq(reports_counts(reports)->lost, 50);
	ck_assert_uint_eq(trap_of(1), 67);	/* number 51 of those that followed */
	answer(true);
	ck_assert_uint_eq(trap_of(2), 66);
	answer_all();
	ck_assert_uint_eq(sent.n, 1 + REPORTS_EVENTS);
}
END_TEST

START_TEST(who_does_not_answer)
{
	start();
	subscribe(H2, 1, 0xffff);
	for (unsigned i = 0; i < 10; i++)
		group(0xffff, true);
	/* an answer in between restarts the count */
	for (unsigned i = 1; i < REPORTS_UNANSWERED; i++)
		answer(false);
	answer(true);
	for (unsigned i = 1; i < REPORTS_UNANSWERED; i++)
		answer(false);
	ck_assert_ptr_nonnull(subscriber_find(db, HOST_GUID(H2), 1));
	answer(false);
	ck_assert_ptr_null(subscriber_find(db, HOST_GUID(H2), 1));
	ck_assert_uint_eq(waiting(), 0);
	ck_assert_uint_eq(reports_counts(reports)->dropped_subscribers, 1);
	ck_assert_uint_eq(dropped_guid, HOST_GUID(H2));
	ck_assert_uint_eq(dropped_qpn, 1);
	/* what cannot be sent counts, too */
	subscribe(H2, 1, 0xffff);
	subscribe(H3, 1, 0xffff);
	refuse = 2 * REPORTS_UNANSWERED;
	for (unsigned i = 0; i < REPORTS_UNANSWERED; i++)
		group(0xffff, true);
	ck_assert_uint_eq(subscriptions_count(db), 0);
	ck_assert_uint_eq(waiting(), 0);
}
END_TEST

/* Lets time pass, so that unanswered Reports are late. */
static void late(void)
{
	reports_tick(reports);
	reports_tick(reports);
	work();
}

static unsigned sent_to(uint32_t qpn)
{
	unsigned n = 0;

	for (size_t i = 0; i < sent.n; i++)
		n += sent.v[i].qpn == qpn;
	return n;
}

/* As many as there are places: subscribers behind them get the event when these are late. */
/* promise: A24 */
START_TEST(who_does_not_answer_is_in_nobodys_way)
{
	start();
	for (unsigned i = 0; i < 4 * REPORTS_WINDOW_PORT; i++)
		subscribe(H3, 10 + i, 0xffff);
	subscribe(H4, 5, 0xffff);
	group(0xffff, true);
	/* of another port, it does not even wait */
	ck_assert_uint_eq(sent_to(5), 1);
	ck_assert_uint_eq(waiting(), REPORTS_WINDOW_PORT + 1);
	for (unsigned i = 2; i <= 4; i++) {
		late();
		ck_assert_uint_eq(waiting(), i * REPORTS_WINDOW_PORT + 1);
	}
	late();
	ck_assert_uint_eq(sent.n, 4 * REPORTS_WINDOW_PORT + 1);
	/* only the last one answers */
	while (waiting())
		answer(sent.v[answered].qpn == 5);
	/* from now on they share a few places */
	group(0xffff, true);
	ck_assert_uint_eq(sent_to(5), 2);
	ck_assert_uint_eq(waiting(), REPORTS_WINDOW_SILENT + 1);
	late();
	ck_assert_uint_eq(waiting(), 2 * REPORTS_WINDOW_SILENT + 1);
	while (waiting()) {
		answer(sent.v[answered].qpn == 5);
		late();
	}
	ck_assert_uint_eq(sent.n, 2 * (4 * REPORTS_WINDOW_PORT + 1));
	ck_assert(!reports_tick(reports));
	/* a subscriber that answers again counts as normal */
	group(0xffff, false);
	while (waiting()) {
		answer(true);
		late();
	}
	ck_assert_uint_eq(subscriptions_count(db), 4 * REPORTS_WINDOW_PORT + 1);
	group(0xffff, true);
	ck_assert_uint_eq(waiting(), REPORTS_WINDOW_PORT + 1);
}
END_TEST

/* The answer arrives when the sender is no longer a subscriber, or has subscribed again. */
START_TEST(gone_while_it_waits)
{
	start();
	subscribe(H2, 1, 0xffff);
	group(0xffff, true);
	subscriptions_drop(db, HOST_GUID(H2), 1);
	subscribe(H2, 1, 0xffff);
	group(0xffff, true);
	group(0xffff, true);
	ck_assert_uint_eq(waiting(), 2);
	answer(false);		/* the answer to the old Report, which does not affect the new one */
	ck_assert_uint_eq(waiting(), 1);
	ck_assert_uint_eq(subscriber_find(db, HOST_GUID(H2), 1)->unanswered, 0);
	answer(true);
	ck_assert_uint_eq(waiting(), 1);
	subscriptions_drop(db, HOST_GUID(H2), 1);
	answer(true);
	ck_assert_uint_eq(sent.n, 3);
}
END_TEST

/* Traps that only a subnet manager makes, sent by a port. */
/* promise: A46 */
START_TEST(forged_notices)
{
	start();
	for (unsigned trap = 60; trap < 75; trap++) {
		uint8_t data[NOTICE_SMP_LEN] = { 0x80 | 3, 0, 0, 4 };
		bool forged = trap >= 64 && trap <= 69;
		size_t before = sent.n;

		subscribe(H1, trap, trap);
		put_be16(data + 4, (uint16_t)trap);
		reports_trap(reports, data, rig_lid(&r, H2));
		work();
		ck_assert_msg(sent.n - before == !forged, "trap %u", trap);
		answer_all();
		data[0] &= 0x7f;	/* a vendor's, of the same number, is another */
		reports_trap(reports, data, rig_lid(&r, H2));
		work();
		ck_assert_uint_eq(sent.n - before, !forged);
	}
}
END_TEST

/* The M_Key of trap 256 may be valid for another device: the Report has everything but the key. */
/* promise: A46 */
START_TEST(a_violation_without_the_key)
{
	static const uint8_t none[8];
	uint8_t data[NOTICE_SMP_LEN] = { 0x80 | 3, 0, 0, 2, 1, 0 };
	struct subscription s = to_trap(256);

	start();
	s.trusted = true;
	ck_assert(subscriptions_add(db, HOST_GUID(H1), 1, &s));
	memset(data + 10, 0xa5, sizeof(data) - 10);
	reports_trap(reports, data, rig_lid(&r, H2));
	work();
	ck_assert_uint_eq(sent.n, 1);
	for (unsigned i = 10; i < NOTICE_SMP_LEN; i++)
		if (i < 24 || i >= 32)
			ck_assert_uint_eq(((const uint8_t *)notice(0))[i], 0xa5);
	ck_assert_int_eq(memcmp((const uint8_t *)notice(0) + 24, none, 8), 0);
	answer_all();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reports");
	TCase *t = tcase_create("reports");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, forged_notices);
	tcase_add_test(t, a_violation_without_the_key);
	tcase_add_test(t, of_a_group);
	tcase_add_test(t, of_a_trap);
	tcase_add_test(t, what_is_asked_for);
	tcase_add_test(t, secrets_are_for_the_trusted);
	tcase_add_test(t, of_those_only_whom_one_may_talk_to);
	tcase_add_test(t, by_the_pkey_of_the_request);
	tcase_add_test(t, ports_that_come_and_go);
	tcase_add_test(t, one_at_a_time_and_in_order);
	tcase_add_test(t, bounded_in_all);
	tcase_add_test(t, many_who_want_something_else);
	tcase_add_test(t, many_events_that_one_does_not_want);
	tcase_add_test(t, who_is_too_slow_loses_the_oldest);
	tcase_add_test(t, who_does_not_answer);
	tcase_add_test(t, who_does_not_answer_is_in_nobodys_way);
	tcase_add_test(t, gone_while_it_waits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
