/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Serves SA requests in the loop's thread, alternating with the RMPP answers under way.
 *
 * These are the requests that the receiver thread did not serve; they are taken from the intake in
 * turn from all senders.  A turn of the loop ends after TURN_US, and the next one goes on.  The
 * receiver thread has already told each sender that has too many requests waiting.
 *
 * Greedy senders (fair_queue.h) alone could keep the loop busy for ever, and with it a processor
 * that the receiver threads may need to serve everybody else.  So when only greedy senders'
 * requests wait, the loop pauses them for REST_US after each turn, and meanwhile serves only other
 * senders.
 *
 * A request that cannot be answered yet is held (held_requests.c) without notice to its client:
 * Linux passes any status of an SA answer to the requesting program, which then gives up for
 * seconds, while it repeats an unanswered request every 300 ms.  The client has given up or
 * repeated any request that was held for longer than HELD_US.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "mad/held_requests.h"
#include "mad/sa_requests.h"

#define TURN_US		250
#define REST_US		1000
#define HELD_US		2000000
#define HELD_EACH_MAX	1024u
#define REQUESTS_A_VISIT 8	/* small requests go first, but must not starve long transfers */
#define SEGMENTS_A_VISIT 32

struct request {
	union {			/* first member; the request is in one of the two queues */
		struct fair_item item;
		struct held_item held;
	};
	struct ib_user_mad from;
	uint8_t *message;	/* message of an RMPP request; NULL: the request is in mad[] */
	size_t len;
	int64_t arrived_us;
	uint8_t mad[MAD_SIZE];
};

struct sa_side {
	struct mad_port *m;
	struct wake *wake;
	struct timer *rest;
	int64_t rest_until_us;
	struct fair *waiting;
	struct held *held;
	struct transfers *transfers;
};

static void on_wake(void *arg)
{
	sa_side_turn(arg);
}

static struct mad_in request_in(const struct request *r)
{
	return (struct mad_in){
		.mad = r->message ? r->message : r->mad, .len = r->len,
		.slid = be16toh(r->from.addr.lid), .mgmt_class = UMAD_CLASS_SUBN_ADM,
		.umad = &r->from, .arrived_us = r->arrived_us,
	};
}

static void hand_over(struct sa_side *s, const struct mad_in *in)
{
	s->m->hooks.request(s->m->hooks.arg, in);
}

static void request_free(struct request *r)
{
	free(r->message);
	free(r);
}

/* Takes a complete RMPP request of any length, and takes over its memory. */
static void on_message(void *arg, const struct ib_user_mad *u, uint8_t *message, size_t len)
{
	struct sa_side *s = arg;
	struct request *r = xmalloc(sizeof(*r));
	struct mad_in in;

	r->from = *u;
	r->arrived_us = clock_mono_us();
	r->message = message;
	r->len = len;
	if (fair_push(s->waiting, umad_sender(u), &r->item))
		return;
	in = request_in(r);
	in.overload = true;
	hand_over(s, &in);
	request_free(r);
}

struct sa_side *sa_side_new(struct mad_port *m, const struct mad_settings *settings)
{
	struct sa_side *s = xcalloc(1, sizeof(*s));

	s->m = m;
	s->wake = wake_new(m->loop, on_wake, s);
	s->rest = timer_new(m->loop, on_wake, s);
	s->waiting = fair_new(settings->sa_queue_max, settings->sa_queue_each);
	s->held = held_new(settings->sa_queue_max, settings->sa_queue_each < HELD_EACH_MAX ?
			   settings->sa_queue_each : HELD_EACH_MAX, HELD_US);
	s->transfers = transfers_new(m, settings, on_message, s);
	return s;
}

void sa_side_free(struct sa_side *s)
{
	struct held_item *h;
	struct fair_item *i;

	if (!s)
		return;
	while ((i = fair_pop(s->waiting)))
		request_free((struct request *)(void *)i);	/* `item` is the first member */
	fair_free(s->waiting);
	while ((h = held_take(s->held)))
		request_free((struct request *)(void *)h);
	held_free(s->held);
	transfers_free(s->transfers);
	wake_free(s->wake);
	timer_free(s->rest);
	free(s);
}

static bool must_wait(const struct sa_side *s, const struct mad_in *in)
{
	return s->m->hooks.holds && s->m->hooks.holds(s->m->hooks.arg, in);
}

static void hold(struct sa_side *s, struct request *r)
{
	struct held_item *out;

	r->held.source = umad_sender(&r->from);
	r->held.qpn = r->from.addr.qpn;
	r->held.tid = r->len >= 16 ? get_be64((r->message ? r->message : r->mad) + 8) : 0;
	r->held.arrived_us = r->arrived_us;
	out = held_put(s->held, &r->held);
	if (out)
		request_free((struct request *)(void *)out);
}

void mad_serve_held(struct mad_port *m)
{
	struct sa_side *s = m->sa;
	int64_t now_us = clock_mono_us();
	struct held_item *h;

	while ((h = held_take(s->held))) {
		struct request *r = (struct request *)(void *)h;

		if (now_us - r->arrived_us > HELD_US ||
		    !fair_push(s->waiting, umad_sender(&r->from), &r->item))
			request_free(r);
	}
	loop_wake(s->wake);
}

/* Serves a request that came by RMPP or was held. */
static bool serve_request(struct sa_side *s, bool few)
{
	struct fair_item *item = few ? fair_pop_few(s->waiting) : fair_pop(s->waiting);
	struct request *r = (struct request *)(void *)item;	/* `item` is the first member */
	struct mad_in in;

	if (!r)
		return false;
	in = request_in(r);
	if (must_wait(s, &in)) {
		hold(s, r);
		return true;
	}
	hand_over(s, &in);
	request_free(r);
	return true;
}

/* Copies a received request that must outlive its slot. */
static struct request *request_of(const struct rx_slot *slot)
{
	const struct mad_in in = slot_in(slot);
	struct request *r = xmalloc(sizeof(*r));

	r->from = *(const struct ib_user_mad *)in.umad;
	r->arrived_us = in.arrived_us;
	r->message = NULL;
	r->len = in.len;
	memcpy(r->mad, in.mad, in.len);
	return r;
}

/* Serves the next request of the intake. */
static bool serve_arrived(struct sa_side *s, bool few)
{
	struct rx_item *i = intake_take(s->m->intake, INTAKE_REQUEST, few);
	struct mad_in in;

	if (!i)
		return false;
	in = slot_in(&i->slot);
	if (must_wait(s, &in))
		hold(s, request_of(&i->slot));
	else
		hand_over(s, &in);
	intake_done(s->m->intake, i);
	return true;
}

static void take_segments(struct sa_side *s, bool few)
{
	for (unsigned n = 0; n < SEGMENTS_A_VISIT; n++) {
		struct rx_item *i = intake_take(s->m->intake, INTAKE_RMPP, few);
		struct mad_in in;

		if (!i)
			break;
		in = slot_in(&i->slot);

		transfers_take(s->transfers, in.umad, in.mad);
		intake_done(s->m->intake, i);
	}
}

static bool any_waits(struct sa_side *s, bool few)
{
	return (few ? fair_any_few(s->waiting) : fair_count(s->waiting) > 0) ||
	       transfers_ready(s->transfers) || intake_any(s->m->intake, INTAKE_RMPP, few) ||
	       intake_any(s->m->intake, INTAKE_REQUEST, few);
}

static void go_on_later(struct sa_side *s)
{
	if (any_waits(s, true)) {
		loop_wake(s->wake);
	} else if (!timer_active(s->rest) && any_waits(s, false)) {
		s->rest_until_us = clock_mono_us() + REST_US;
		timer_set(s->rest, REST_US, 0);
	}
}

void sa_side_turn(struct sa_side *s)
{
	int64_t now_us = clock_mono_us(), end_us = now_us + TURN_US;
	bool few = now_us < s->rest_until_us;

	do {
		take_segments(s, few);
		for (unsigned i = 0; i < REQUESTS_A_VISIT; i++) {
			bool request = serve_request(s, few), arrived = serve_arrived(s, few);

			if (!request && !arrived)
				break;
		}
		transfers_visit(s->transfers);
	} while (any_waits(s, few) && clock_mono_us() < end_us);
	go_on_later(s);
}

bool mad_may_stream(struct mad_port *m, const struct mad_in *in)
{
	return transfers_may_stream(m->sa->transfers, in->umad, in->mad);
}

bool mad_stream(struct mad_port *m, const struct mad_in *in, struct mad_source *source)
{
	if (!transfers_stream(m->sa->transfers, in->umad, in->mad, source))
		return false;
	loop_wake(m->sa->wake);
	return true;
}

void mad_end_under_way(struct mad_port *m, uint64_t holder)
{
	transfers_end_of(m->sa->transfers, holder);
}

void sa_side_reply(struct sa_side *s, const struct ib_user_mad *to, const uint8_t *mad)
{
	transfers_reply(s->transfers, to, mad);
}
