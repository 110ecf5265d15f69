/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests readings of error counters on a fake port: which requests go to which device, devices that
 * do not answer, resets, clearing, events, and the loss of the subnet meanwhile.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "perf/error_watch.h"
#include "unit/mad/fake_umad.h"
#include "unit/plan/net.h"
#include "unit/run.h"

#define DATA	64
#define HOSTS	24		/* on a switch */
#define PORTS	(2 * HOSTS)
#define NODES	(HOSTS + 1)

enum { CAPS = 1, NARROW = 0x12, WIDE = 0x1d };

static struct {
	struct loop *loop;
	struct mad_port *mad;
	struct error_watch *watch;
	struct timer *limit, *look;
	struct subnet_state *state;
	struct settings *settings;
	uint32_t sw, hosts[HOSTS];		/* nodes */
	/* behavior of the devices */
	bool narrow;				/* all but the switch */
	bool data64, lies;			/* narrow ones promise PortCountersExtended, and lack it */
	uint32_t words;				/* what each port has sent */
	uint16_t silent_lid, bad_lid;		/* bad: counts errors */
	uint16_t busy_lid;			/* answers ClassPortInfo with BUSY, */
	bool busy_with_data;			/* and PortCountersExtended */
	uint8_t symbols, integrity;
	enum { NEW, OLD, NONSENSE } in_set;	/* values in the answer to a Set: those after it, … */
	unsigned asked[0x40], sets, to_silent, outstanding, most;
	uint8_t last_set[256];
	unsigned swap_at;			/* number of the read at which two hosts swap LIDs; 0: never */
	struct subnet_state *swapped;
	bool (*until)(void);
	uint32_t cleared, reads, asked_then;
	VEC(struct event) events;
} t;

static struct subnet_state *make_state(void)
{
	struct fabric *f = fabric_new();
	struct subnet_state *s = xcalloc(1, sizeof(*s));

	for (unsigned i = 0; i < HOSTS; i++)
		t.hosts[i] = net_ca(f, 0x100 * (i + 1), 1);
	t.sw = net_switch(f, 0x10000, HOSTS, false);
	for (unsigned i = 0; i < HOSTS; i++)
		ck_assert(fabric_link(f, t.sw, i + 1, t.hosts[i], 1));
	net_finish(f);
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (f->ports[i].peer != FABRIC_NONE)
			f->ports[i].state = IB_PORT_ACTIVE_S;
	s->refs = 1;
	s->f = f;
	s->policy = shared_policy_new(policy_builtin());
	s->plan = plan_compute(f, s->policy->p, t.settings, NULL, NULL, NULL);
	return s;
}

static uint32_t host_port(unsigned i)
{
	return t.state->f->nodes[t.hosts[i]].port0 + 1;
}

static uint16_t lid_of(unsigned host)
{
	return t.state->plan->lid[host_port(host)];
}

/* --- devices --- */

static void put_values(uint8_t *mad, uint16_t lid, uint16_t attr)
{
	bool is_narrow = t.narrow && lid != t.state->plan->lid[t.state->f->nodes[t.sw].port0];

	if (attr == CAPS)
		put_be32(mad + DATA + 4, is_narrow ? 0 : 2 << 5);
	if (attr == CAPS && is_narrow && t.data64)
		put_be16(mad + DATA + 2, 1 << 9);
	if (attr == WIDE && is_narrow && t.lies)
		put_be16(mad + 4, 12);		/* no such attribute */
	if (attr == WIDE)
		put_be64(mad + DATA + 8, t.words);
	if (attr == NARROW)
		put_be32(mad + DATA + 24, t.words);
	if (lid != t.bad_lid)
		return;
	if (attr == WIDE)
		put_be64(mad + DATA + 72, t.symbols);
	if (attr == NARROW) {
		put_be16(mad + DATA + 4, t.symbols);
		mad[DATA + 19] = (uint8_t)(t.integrity << 4);
	}
}

/* Publishes a state in which host 3 has the LID of host 5, and host 5 that of host 3. */
static void swap_lids(void)
{
	uint16_t *lid;

	t.swapped = make_state();
	lid = t.swapped->plan->lid;
	lid[host_port(3)] = lid_of(5);
	lid[host_port(5)] = lid_of(3);
	t.bad_lid = lid_of(5);
	error_watch_published(t.watch, t.swapped);
}

static void on_send(const struct ib_user_mad *umad, const struct umad_smp *smp, int len)
{
	uint16_t lid = be16toh(umad->addr.lid), attr;
	uint8_t mad[256];

	ck_assert_int_eq(len, 256);
	memcpy(mad, smp, sizeof(mad));
	attr = get_be16(mad + 16);
	ck_assert_uint_eq(mad[1], 4);
	ck_assert_uint_lt(attr, 0x40);
	t.asked[attr]++;
	if (attr == WIDE && t.asked[attr] == t.swap_at)
		swap_lids();
	if (mad[3] == 2) {
		t.sets++;
		memcpy(t.last_set, mad, sizeof(mad));
		put_values(mad, lid, attr);
		if (lid == t.bad_lid && attr == NARROW && get_be16(t.last_set + DATA + 2) >> 9 & 1)
			t.integrity = 0;
		if (lid == t.bad_lid && (attr == WIDE ? get_be32(t.last_set + DATA + 4) & 1 :
							get_be16(t.last_set + DATA + 2) & 1))
			t.symbols = 0;
	}
	t.to_silent += lid == t.silent_lid;
	if (lid == t.silent_lid) {
		fake_receive(smp, 24, ETIMEDOUT, 4);
		return;
	}
	if (mad[3] == 2 && t.in_set == NONSENSE)
		memset(mad + DATA, 0xee, sizeof(mad) - DATA);
	else if (mad[3] != 2 || t.in_set == NEW)
		put_values(mad, lid, attr);
	mad[3] = 0x81;
	if (lid == t.busy_lid && (attr == CAPS || (attr == WIDE && t.busy_with_data))) {
		memset(mad + DATA, 0, sizeof(mad) - DATA);
		mad[5] = 1;
	}
	fake_receive(mad, 256, 0, 4);
}

/* --- --- */

static void on_event(void *arg, const struct event *e)
{
	(void)arg;
	*vec_push(&t.events) = *e;
}

static void on_limit(void *arg)
{
	(void)arg;
	ck_abort_msg("the loop did not end in time");
}

static void on_look(void *arg)
{
	(void)arg;
	if (t.until())
		loop_stop(t.loop);
}

static void run_until(bool (*until)(void))
{
	t.until = until;
	timer_set(t.look, 1000, 1000);
	loop_run(t.loop);
	timer_stop(t.look);
}

static int64_t read_before;

static bool has_read(void)
{
	return error_watch_last(t.watch)->when_us > read_before;
}

static void reading(void)
{
	read_before = error_watch_last(t.watch)->when_us;
	run_until(has_read);
}

static void begin(bool narrow, bool reset)
{
	struct mad_settings s = { .smp_window = 4, .smp_window_device = 4, .timeout_ms = 10,
				  .sa_queue_max = 10 };
	struct mad_hooks hooks = { 0 };
	struct perf_hooks ph = { .event = on_event };
	struct error_settings set = { .interval_us = 50000, .reset = reset, .timeout_ms = 10 };
	struct buf err = { 0 };

	memset(&t, 0, sizeof(t));
	t.narrow = narrow;
	t.settings = settings_default();
	memcpy(set.limits, t.settings->error_limits, sizeof(set.limits));
	t.state = make_state();
	t.loop = loop_new();
	t.mad = mad_open(t.loop, &s, &hooks, &err);
	ck_assert_ptr_nonnull(t.mad);
	t.watch = error_watch_new(t.loop, t.mad, &set, &ph);
	t.limit = timer_new(t.loop, on_limit, NULL);
	t.look = timer_new(t.loop, on_look, NULL);
	timer_set(t.limit, 20000000, 0);
	fake_on_send = on_send;
	t.bad_lid = lid_of(3);
	error_watch_published(t.watch, t.state);
}

static void end(void)
{
	error_watch_free(t.watch);
	timer_free(t.limit);
	timer_free(t.look);
	mad_close(t.mad);
	loop_free(t.loop);
	fake_on_send = NULL;
	state_unref(t.state);
	state_unref(t.swapped);
	settings_free(t.settings);
	vec_free(&t.events);
}

static const struct error_port *bad(void)
{
	return error_watch_port(t.watch, t.state, host_port(3));
}

/* promise: C3 */
START_TEST(one_request_for_each_port)
{
	begin(true, true);
	reading();
	ck_assert_uint_eq(t.asked[CAPS], NODES);
	ck_assert_uint_eq(t.asked[WIDE], HOSTS);	/* the switch's ports */
	ck_assert_uint_eq(t.asked[NARROW], HOSTS);
	reading();
	ck_assert_uint_eq(t.asked[CAPS], NODES);
	ck_assert_uint_eq(t.asked[WIDE], 2 * HOSTS);
	ck_assert_uint_eq(t.asked[NARROW], 2 * HOSTS);
	ck_assert_uint_eq(t.sets, 0);
	ck_assert_uint_eq(error_watch_last(t.watch)->ports, PORTS);
	ck_assert_uint_eq(error_watch_last(t.watch)->wide, HOSTS);
	end();
}
END_TEST

/* promise: C3 */
START_TEST(a_silent_device_is_asked_once)
{
	begin(false, true);
	t.silent_lid = t.state->plan->lid[t.state->f->nodes[t.sw].port0];
	reading();
	ck_assert_uint_eq(t.to_silent, 3);		/* tries of the one request */
	ck_assert_uint_eq(error_watch_last(t.watch)->silent, HOSTS);
	ck_assert_uint_eq(t.asked[WIDE], HOSTS);
	t.silent_lid = 0;
	reading();
	ck_assert_uint_eq(error_watch_last(t.watch)->silent, 0);
	ck_assert_uint_eq(t.asked[WIDE], 3 * HOSTS);
	end();
}
END_TEST

/* promise: C3 */
START_TEST(a_busy_device_is_asked_again)
{
	begin(false, true);
	t.busy_lid = t.bad_lid;
	t.symbols = 60;
	reading();
	ck_assert_uint_eq(t.asked[CAPS], NODES);
	ck_assert_uint_eq(t.asked[NARROW], 1);		/* which any device has */
	ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 60);
	t.busy_lid = 0;
	t.symbols = 90;
	reading();
	ck_assert_uint_eq(t.asked[CAPS], NODES + 1);
	ck_assert_uint_eq(t.asked[NARROW], 1);
	ck_assert_uint_eq(error_watch_last(t.watch)->wide, PORTS);
	ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 90);
	ck_assert_uint_eq(error_last_hour(bad(), ERR_SYMBOL, clock_mono_us()), 0);	/* of another attribute */
	reading();
	ck_assert_uint_eq(t.asked[CAPS], NODES + 1);
	end();
}
END_TEST

/* promise: C3 */
START_TEST(lids_change_during_a_reading)
{
	const struct error_port *other;

	for (unsigned at = 1; at <= 7; at++) {
		begin(false, true);
		reading();
		t.symbols = 7;
		t.swap_at = t.asked[WIDE] + at;
		reading();
		ck_assert_ptr_nonnull(t.swapped);
		other = error_watch_port(t.watch, t.state, host_port(5));
		ck_assert_uint_eq(error_total(other, ERR_SYMBOL), 0);
		/* host 3 is the fourth that is asked, and its answer may be another's if LIDs change after that */
		ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), at < 4 ? 7 : 0);
		ck_assert_uint_eq(error_watch_last(t.watch)->silent, 0);
		t.symbols = 9;
		reading();
		ck_assert_uint_eq(error_total(other, ERR_SYMBOL), 0);
		ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 9);
		end();
	}
}
END_TEST

/* promise: C4 */
START_TEST(events)
{
	begin(false, true);
	reading();
	t.symbols = 10;
	reading();
	ck_assert_uint_eq(t.events.n, 0);
	t.symbols = 11;
	reading();
	ck_assert_uint_eq(t.events.n, 1);
	ck_assert_int_eq(t.events.v[0].kind, EVENT_LINK_ERRORS);
	ck_assert_ptr_nonnull(strstr(t.events.v[0].text, ": SymbolErrorCounter 11 in the last hour (limit 10)"));
	ck_assert_uint_eq(error_watch_last(t.watch)->over, 1);
	t.symbols = 12;
	reading();
	ck_assert_uint_eq(t.events.n, 1);
	end();
}
END_TEST

static float sent(unsigned host)
{
	return error_watch_rate(t.watch, t.state, host_port(host), RATE_SENT);
}

/* promise: W3 */
START_TEST(rates)
{
	begin(true, true);
	reading();
	ck_assert(sent(3) < 0);
	t.words = 1000000;
	reading();
	ck_assert(sent(3) > 1000000);
	ck_assert(error_watch_rate(t.watch, t.state, t.state->f->nodes[t.sw].port0 + 4, RATE_SENT) > 1000000);
	ck_assert(error_watch_last(t.watch)->seconds > 0);
	t.words = UINT32_MAX;			/* where counters of 32 bits stop */
	reading();
	ck_assert(sent(3) < 0);
	ck_assert_uint_eq(t.asked[WIDE], 3 * HOSTS);	/* the switch's ports */
	t.silent_lid = lid_of(3);
	t.words = 0;
	reading();
	reading();
	ck_assert(sent(3) < 0);			/* what is not read now is not shown */
	ck_assert(sent(4) >= 0);
	end();
}
END_TEST

/* promise: W3 */
START_TEST(data_in_64_bits_beside_errors_in_fewer)
{
	begin(true, true);
	t.data64 = true;
	reading();
	t.words = UINT32_MAX;
	reading();
	ck_assert(sent(3) > 1000000);
	ck_assert_uint_eq(t.asked[WIDE], 4 * HOSTS);	/* all ports twice */
	ck_assert_uint_eq(t.asked[NARROW], 2 * HOSTS);
	end();
	begin(true, true);
	t.data64 = t.lies = true;
	reading();
	t.words = 1000;
	reading();
	reading();
	ck_assert_uint_eq(t.asked[WIDE], 3 * HOSTS + HOSTS);	/* hosts once */
	ck_assert_float_eq(sent(3), 0);		/* by the counters of 32 bits */
	end();
}
END_TEST

/* promise: W3 */
START_TEST(a_device_that_gave_no_data_once_is_asked_again)
{
	begin(true, true);
	t.data64 = t.busy_with_data = true;
	reading();
	t.busy_lid = lid_of(3);
	t.words = 1000;
	reading();
	ck_assert(sent(3) < 0);
	ck_assert(sent(4) > 0);
	t.busy_lid = 0;
	reading();
	t.words = UINT32_MAX;			/* where counters of 32 bits stop */
	reading();
	ck_assert(sent(3) > 1000000);
	end();
}
END_TEST

static unsigned sets_with(bool reset)
{
	unsigned sets;

	begin(true, reset);
	t.integrity = 11;
	reading();
	ck_assert_uint_eq(t.sets, 0);
	t.integrity = 12;
	t.symbols = 100;
	reading();
	sets = t.sets;
	ck_assert_uint_eq(error_total(bad(), ERR_LOCAL_INTEGRITY), 12);
	ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 100);
	if (sets) {
		ck_assert_uint_eq(get_be16(t.last_set + 16), NARROW);
		ck_assert_uint_eq(get_be16(t.last_set + DATA + 2), 1u << ERR_LOCAL_INTEGRITY);
		ck_assert_uint_eq(t.last_set[DATA + 18], 0);
	}
	end();
	return sets;
}

/* promise: C3 */
START_TEST(resets_before_it_stops)
{
	ck_assert_uint_eq(sets_with(true), 1);
	ck_assert_uint_eq(sets_with(false), 0);
}
END_TEST

/* promise: C3 */
START_TEST(values_in_the_answer_to_a_set)
{
	for (unsigned i = NEW; i <= NONSENSE; i++) {
		begin(true, true);
		t.in_set = i;
		t.integrity = 11;
		reading();
		t.integrity = 13;
		reading();
		ck_assert_uint_eq(t.sets, 1);
		ck_assert_uint_eq(error_watch_last(t.watch)->resets, 1);
		ck_assert_uint_eq(error_total(bad(), ERR_LOCAL_INTEGRITY), 13);
		t.integrity = 14;		/* more than it had: it was reset all the same */
		reading();
		ck_assert_uint_eq(t.sets, 2);
		ck_assert_uint_eq(error_total(bad(), ERR_LOCAL_INTEGRITY), 27);
		ck_assert_uint_eq(error_last_hour(bad(), ERR_LOCAL_INTEGRITY, clock_mono_us()), 16);
		end();
	}
}
END_TEST

static bool is_reading(void)
{
	return t.asked[WIDE] > 0;
}

static void on_cleared(void *arg, uint32_t done)
{
	ck_assert_ptr_eq(arg, &t);
	t.cleared += done;
}

static void on_read(void *arg, uint32_t none)
{
	ck_assert_ptr_eq(arg, &t);
	ck_assert_uint_eq(none, 0);
	t.reads++;
	t.asked_then = t.asked[WIDE];
}

static bool is_read(void)
{
	return t.reads > 0;
}

static bool is_cleared(void)
{
	return t.cleared > 0;
}

static bool begin_clearing(void)
{
	uint32_t port = host_port(3);
	struct buf err = { 0 };
	bool begun = error_watch_clear(t.watch, t.state, &port, 1, on_cleared, &t, &err);

	ck_assert(begun == !err.n);
	buf_free(&err);
	return begun;
}

static void clear_when(int in_set)
{
	begin(false, true);
	t.in_set = in_set;
	reading();
	t.symbols = 50;
	t.words = 1000;
	reading();
	ck_assert(sent(3) > 0);
	ck_assert_uint_eq(t.events.n, 1);
	memset(t.asked, 0, sizeof(t.asked));
	ck_assert(begin_clearing());
	ck_assert(!begin_clearing());		/* one at a time */
	run_until(is_cleared);
	ck_assert_uint_eq(t.cleared, 1);
	ck_assert_uint_eq(t.asked[CAPS], 0);
	ck_assert_uint_eq(t.asked[WIDE], 2);	/* and read again */
	ck_assert_uint_eq(t.asked[NARROW], 1);	/* for the tools that read it */
	ck_assert_uint_eq(t.sets, 2);
	ck_assert_uint_eq(t.events.n, 2);
	ck_assert_int_eq(t.events.v[1].kind, EVENT_LINK_CLEAN);
	ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 0);
	ck_assert(sent(3) > 0);			/* its traffic is not forgotten, */
	t.symbols = 3;
	t.words = 2000;
	reading();
	ck_assert(sent(3) > 0);			/* nor what it was before the next reading */
	ck_assert_uint_eq(error_total(bad(), ERR_SYMBOL), 3);
	ck_assert_uint_eq(error_last_hour(bad(), ERR_SYMBOL, clock_mono_us()), 3);
	/* a client that has gone is not called */
	ck_assert(begin_clearing());
	error_watch_forget(t.watch, &t);
	reading();
	ck_assert_uint_eq(t.cleared, 1);
	end();
}

/* promise: C3 C4 */
START_TEST(clearing)
{
	for (int i = NEW; i <= NONSENSE; i++)
		clear_when(i);
}
END_TEST

/* promise: O17 */
START_TEST(a_reading_that_is_asked_for)
{
	struct buf err = { 0 };

	begin(false, true);
	ck_assert(error_watch_read(t.watch, on_read, &t, &err));
	ck_assert(!error_watch_read(t.watch, on_read, &t, &err));	/* one at a time */
	ck_assert_ptr_nonnull(strstr(err.s, "try again"));
	ck_assert(!begin_clearing());
	run_until(is_read);
	ck_assert_uint_eq(error_watch_last(t.watch)->ports, PORTS);
	ck_assert_int_gt(error_watch_last(t.watch)->begun_us, 0);
	ck_assert_int_ge(bad()->read_us, error_watch_last(t.watch)->begun_us);
	/* it joins the one that runs, here that of a client that has gone */
	t.reads = 0;
	memset(t.asked, 0, sizeof(t.asked));
	ck_assert(error_watch_read(t.watch, on_read, &t, &err));
	error_watch_forget(t.watch, &t);
	ck_assert(error_watch_read(t.watch, on_read, &t, &err));
	run_until(is_read);
	ck_assert_uint_eq(t.reads, 1);
	ck_assert_uint_lt(t.asked_then, 2 * PORTS);	/* one reading */
	/* not with a clearing, which waits until no periodic reading runs */
	while (!begin_clearing())
		reading();
	ck_assert(!error_watch_read(t.watch, on_read, &t, &err));
	run_until(is_cleared);
	/* the client that asked has gone */
	ck_assert(error_watch_read(t.watch, on_read, &t, &err));
	error_watch_forget(t.watch, &t);
	reading();
	ck_assert_uint_eq(t.reads, 1);
	error_watch_published(t.watch, NULL);
	ck_assert(!error_watch_read(t.watch, on_read, &t, &err));
	buf_free(&err);
	end();
}
END_TEST

/* promise: C3 */
START_TEST(the_subnet_is_lost_meanwhile)
{
	begin(false, true);
	run_until(is_reading);
	error_watch_published(t.watch, NULL);
	ck_assert_ptr_null(bad());
	error_watch_published(t.watch, t.state);	/* and is ours again, while answers are outstanding */
	reading();
	ck_assert_uint_eq(error_watch_last(t.watch)->ports, PORTS);
	ck_assert_ptr_nonnull(bad());
	ck_assert(begin_clearing());
	end();					/* while requests are outstanding */
}
END_TEST

static bool is_second(void)
{
	return error_watch_last(t.watch)->when_us > read_before + 30000;
}

/* promise: L24 */
START_TEST(other_settings)
{
	struct error_settings set = { .interval_us = 50000, .reset = true, .timeout_ms = 10 };

	begin(true, false);
	memcpy(set.limits, t.settings->error_limits, sizeof(set.limits));
	reading();
	t.integrity = 14;
	t.symbols = 5;
	reading();
	reading();
	ck_assert_uint_eq(t.sets, 0);
	/* nearly full counters are reset from now on */
	error_watch_change(t.watch, &set);
	reading();
	reading();
	ck_assert_uint_gt(t.sets, 0);
	/* limits count at once, for errors that were read before, too */
	t.events.n = 0;
	set.interval_us = 0;
	set.limits[ERR_LOCAL_INTEGRITY] = PORT_ERRORS_ANY;
	error_watch_change(t.watch, &set);
	t.events.n = 0;
	set.limits[ERR_SYMBOL] = 4;
	error_watch_change(t.watch, &set);
	ck_assert_uint_eq(t.events.n, 1);
	ck_assert_int_eq(t.events.v[0].kind, EVENT_LINK_ERRORS);
	ck_assert_uint_eq(error_watch_last(t.watch)->over, 1);
	error_watch_change(t.watch, &set);
	ck_assert_uint_eq(t.events.n, 1);
	set.limits[ERR_SYMBOL] = 5;
	error_watch_change(t.watch, &set);
	ck_assert_uint_eq(t.events.n, 2);
	ck_assert_int_eq(t.events.v[1].kind, EVENT_LINK_CLEAN);
	ck_assert_uint_eq(error_watch_last(t.watch)->over, 0);
	/* and the interval, which 0 had ended */
	set.interval_us = 20000;
	error_watch_change(t.watch, &set);
	reading();
	run_until(is_second);
	/* all the same while nothing is published */
	error_watch_published(t.watch, NULL);
	set.limits[ERR_SYMBOL] = 0;
	set.interval_us = 30000;
	error_watch_change(t.watch, &set);
	error_watch_published(t.watch, t.state);
	reading();
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("error_watch");
	TCase *k = tcase_create("error_watch");

	tcase_set_timeout(k, 30);
	tcase_add_test(k, one_request_for_each_port);
	tcase_add_test(k, a_silent_device_is_asked_once);
	tcase_add_test(k, a_busy_device_is_asked_again);
	tcase_add_test(k, lids_change_during_a_reading);
	tcase_add_test(k, events);
	tcase_add_test(k, rates);
	tcase_add_test(k, data_in_64_bits_beside_errors_in_fewer);
	tcase_add_test(k, a_device_that_gave_no_data_once_is_asked_again);
	tcase_add_test(k, resets_before_it_stops);
	tcase_add_test(k, values_in_the_answer_to_a_set);
	tcase_add_test(k, clearing);
	tcase_add_test(k, a_reading_that_is_asked_for);
	tcase_add_test(k, the_subnet_is_lost_meanwhile);
	tcase_add_test(k, other_settings);
	suite_add_tcase(s, k);
	return run_suite(s);
}
