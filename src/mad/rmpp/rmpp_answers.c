/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends RMPP answers, and repeats answers of one MAD until they are acknowledged.
 *
 * An RMPP answer is produced while it is sent.  Not every client does RMPP: on ibsim no client
 * acknowledges, and a repeat reaches the next client.  So until a client on this port has
 * acknowledged something, nothing is repeated, and silence is no error.
 */
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "mad/rmpp/rmpp_transfers.h"

#define VISIT_SEGMENTS	16u
#define UNHEARD_US	2000000		/* how long an answer is kept where nobody acknowledges */
#define UNHEARD_MIN_US	20000		/* the least time, when other answers need its place */
#define HELD_MAX	(128u << 20)	/* limit of the memory that all answers under way hold, bytes */

void transfer_abort(struct transfers *ts, struct transfer *t, uint8_t status)
{
	uint8_t mad[RMPP_MAD];

	rmpp_make_reply(mad, t->head, RMPP_ABORT, status, 0, 0);
	mad[OFF_METHOD] = t->head[OFF_METHOD];
	transfers_transmit(ts, &t->peer, mad);
	ts->m->rmpp.aborted++;
	transfer_end(ts, t);
}

static void count_sent(struct transfers *ts)
{
	atomic_fetch_add_explicit(&ts->m->sa_sent, 1, memory_order_relaxed);
}

/* Sends data without RMPP, as one MAD. */
static void send_plain(struct transfers *ts, struct transfer *t, const uint8_t *data, size_t n)
{
	uint8_t mad[RMPP_MAD] = { 0 };

	memcpy(mad, t->head, RMPP_HEAD);
	memcpy(mad + RMPP_HEAD, data, n);
	if (transfers_transmit(ts, &t->peer, mad))
		count_sent(ts);
}

/*
 * Result of reading a segment: data, no data yet, or a transfer that is over because one MAD held
 * it all.
 */
enum got { GOT, GOT_NOTHING, GOT_OVER };
static enum got read_segment(struct transfers *ts, struct transfer *t)
{
	uint8_t data[RMPP_DATA_LEN];
	size_t n = sizeof(data);
	enum mad_read r = t->source->read(t->source, data, &n);

	if (r == MAD_READ_LATER)
		return GOT_NOTHING;
	if (!t->begun) {
		t->send.total = t->source->total;
		t->plain = !t->source->head(t->source, t->head);
		t->begun = true;
	}
	if (t->plain) {
		send_plain(ts, t, data, n);
		transfer_end(ts, t);
		return GOT_OVER;
	}
	rmpp_send_add(&t->send, data, n, r == MAD_READ_LAST);
	if (r == MAD_READ_LAST) {
		transfer_drop_source(ts, t);
		count_sent(ts);
	}
	return GOT;
}

static bool send_segment(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	uint8_t mad[RMPP_MAD];
	uint32_t before = t->send.sent;

	memcpy(mad, t->head, RMPP_HEAD);
	if (!rmpp_send_next(&t->send, mad, now_us))
		return false;
	transfers_transmit(ts, &t->peer, mad);
	ts->m->rmpp.segments++;
	ts->m->rmpp.repeated += t->send.sent == before;
	return true;
}

bool transfers_visit(struct transfers *ts)
{
	struct transfer *t = transfers_take_ready(ts);
	int64_t now_us;

	if (!t)
		return false;
	now_us = clock_mono_us();
	for (unsigned i = 0; i < VISIT_SEGMENTS; i++) {
		enum got got = GOT;

		if (t->source && t->send.sent == t->send.made && rmpp_send_wants(&t->send))
			got = read_segment(ts, t);
		if (got == GOT_OVER)
			return true;
		if (got == GOT_NOTHING)
			break;
		if (!send_segment(ts, t, now_us)) {
			transfers_wake_at(ts, t->send.due_us);
			return true;	/* nothing to do until an ACK comes */
		}
	}
	transfer_make_ready(ts, t);
	transfers_wake_at(ts, t->send.due_us);
	return true;
}

/* Applies the window that an RMPP request granted to its answer. */
static void use_window(struct transfers *ts, struct transfer *t, const struct ib_user_mad *to)
{
	const struct transfer *request;
	uint8_t head[RMPP_HEAD];

	memcpy(head, t->head, RMPP_HEAD);
	head[OFF_METHOD] &= (uint8_t)~METHOD_RESPONSE;
	request = transfer_find(ts, to, head, false);
	if (request)
		t->send.window = request->answer_window;
}

static struct transfer *begin_send(struct transfers *ts, const struct ib_user_mad *to,
				   const uint8_t *head, enum kind kind)
{
	struct transfer *t = transfer_add(ts, to, head, kind);

	/* until the source says otherwise */
	t->head[OFF_METHOD] = transfer_method(t->head[OFF_METHOD] | METHOD_RESPONSE);
	rmpp_send_begin(&t->send, *transfers_pace(ts, to), clock_mono_us());
	use_window(ts, t, to);
	return t;
}

/*
 * Where nobody acknowledges, an old answer must not block a new one: this drops the oldest answer
 * of the peer.  A very recent answer stays, since two requests at once may be the first on the
 * port, and their clients have had no time to acknowledge. for_memory: only an answer that holds
 * memory.
 */
static void drop_unheard(struct transfers *ts, const struct ib_user_mad *u, bool for_memory)
{
	struct transfer *oldest = NULL;

	for (struct transfer *t = *transfer_bucket(ts, u); t; t = t->next)
		if (t->kind == STREAM && t->send.sent && transfer_same_peer(&t->peer, u) &&
		    (t->source || !for_memory) && (!oldest || t->send.begun_us <= oldest->send.begun_us))
			oldest = t;
	if (oldest && clock_mono_us() - oldest->send.begun_us >= UNHEARD_MIN_US)
		transfer_end(ts, oldest);
}

/* Makes room for one more answer that keeps `held` bytes in memory. */
static bool make_room(struct transfers *ts, const struct ib_user_mad *to, size_t held)
{
	if (!ts->somebody_acks && !transfer_room(ts, to, STREAM))
		drop_unheard(ts, to, false);
	if (!ts->somebody_acks && ts->held + held > HELD_MAX)
		drop_unheard(ts, to, true);
	return transfer_may_begin(ts, to, STREAM) && transfer_room(ts, to, STREAM) &&
	       ts->held + held <= HELD_MAX;
}

bool transfers_may_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request)
{
	return transfer_find(ts, to, request, true) || make_room(ts, to, 0);
}

bool transfers_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request,
		      struct mad_source *source)
{
	struct transfer *t = transfer_find(ts, to, request, true);

	if (t && t->send.acked) {	/* the client repeated the request while the answer arrives */
		source->release(source);
		return true;
	}
	if (t)
		transfer_end(ts, t);
	if (!make_room(ts, to, source->held))
		return false;
	t = begin_send(ts, to, request, STREAM);
	t->source = source;
	t->held = source->held;
	ts->held += t->held;
	ts->m->rmpp.streams++;
	transfer_make_ready(ts, t);
	return true;
}

void transfers_reply(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *mad)
{
	size_t n = get_be32(mad + RMPP_OFF_LENGTH) - RMPP_SA_LEN;
	uint8_t request[RMPP_HEAD];
	struct transfer *t;

	count_sent(ts);
	memcpy(request, mad, RMPP_HEAD);
	request[OFF_METHOD] &= (uint8_t)~METHOD_RESPONSE;
	t = transfer_find(ts, to, request, true);
	if (t)
		transfer_end(ts, t);
	if (!transfer_room(ts, to, SMALL)) {
		transfers_transmit(ts, to, mad);
		return;
	}
	t = begin_send(ts, to, mad, SMALL);
	rmpp_send_add(&t->send, mad + RMPP_HEAD, n, true);
	send_segment(ts, t, clock_mono_us());
	transfers_wake_at(ts, t->send.due_us);
}

void transfer_take_ack(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	struct transfer *t = transfer_find(ts, u, mad, true);
	uint8_t wrong;

	if (!t) {
		uint32_t window = get_be32(mad + RMPP_OFF_LENGTH);

		t = transfer_find(ts, u, mad, false);
		if (t && get_be32(mad + RMPP_OFF_SEGMENT) == 0 && !mad[RMPP_OFF_STATUS] &&
		    window > 0 && window <= INT32_MAX)
			t->answer_window = window;	/* the direction turns */
		return;
	}
	wrong = rmpp_send_acked(&t->send, mad, clock_mono_us());
	if (wrong) {
		transfer_abort(ts, t, wrong);
		return;
	}
	ts->somebody_acks = true;
	if (t->send.whole_window)
		*transfers_pace(ts, u) = (uint32_t)t->send.round_trip_us;
	if (rmpp_send_done(&t->send)) {
		transfer_end(ts, t);
	} else {
		transfer_make_ready(ts, t);
		transfers_wake_at(ts, t->send.due_us);
	}
}

void transfer_late_answer(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	uint8_t status;

	if (!ts->somebody_acks && t->send.sent) {
		t->send.due_us = t->send.begun_us + UNHEARD_US;
		if (now_us >= t->send.due_us)
			transfer_end(ts, t);
		return;
	}
	status = rmpp_send_late(&t->send, now_us);
	if (status)
		transfer_abort(ts, t, status);
	else
		transfer_make_ready(ts, t);
}
