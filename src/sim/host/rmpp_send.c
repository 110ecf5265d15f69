/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends an RMPP transfer (13.6).
 *
 * It sends segments as far as the window allows, and then waits for an ACK.  Without an ACK, it
 * starts again from the first segment that was not acknowledged.
 *
 * A kernel waits two seconds for each ACK, since it does not know the lifetime of packets, and
 * repeats nothing earlier.  A test that loses packets must still see a table of half a million
 * segments finish.  So when an ACK is late (after two round trips), the sender probes: it repeats
 * the segment that was acknowledged last.  The receiver answers with an ACK of all that it has in a
 * row.  If that ends in the middle of the window, the next segment was lost; it is repeated alone,
 * followed by another probe.  While packets get lost, a probe also follows the end of each window.
 * Each further wait is twice as long, and from the second on, everything is repeated.  No gap is
 * filled twice without a wait in between, since otherwise duplicate ACKs would multiply.
 *
 * The sender gives up when the kernel would: after two seconds (or the client's time-out, if
 * shorter) for each try.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/host/parts.h"

#define WAIT_MIN_US	1000
#define WAIT_FIRST_US	20000	/* longest wait before a first repeat, and the wait while no round trip
				 * is known */
#define WAIT_MAX_US	2000000
#define LOSSY_WINDOWS	16
/* segments sent before others get a turn, whatever window the receiver grants */
#define BURST		2048u
#define BURST_PAUSE_US	1000

/* The duration of a try. */
static int64_t try_us(const struct txn *t)
{
	int64_t us = t->head.timeout_ms * INT64_C(1000);

	return us == 0 || us > WAIT_MAX_US ? WAIT_MAX_US : us;
}

static uint32_t sendable(const struct rmpp_send *r)
{
	return r->window < r->segments ? r->window : r->segments;
}

static bool all_acked(const struct rmpp_send *r)
{
	return r->acked == r->segments;
}

/* PayloadLength (13.6.2): of the whole message in the first segment, of the rest in the last. */
static uint32_t payload_length(const struct txn *t, uint32_t segment)
{
	const struct rmpp_send *r = &t->rmpp;
	uint32_t size = segment_size(t->packet.mad[MAD_CLASS]);
	uint32_t pad = r->segments * size - (uint32_t)r->n;

	if (segment == r->segments)
		return RMPP_PAYLOAD - pad;
	return segment == 1 ? r->segments * RMPP_PAYLOAD - pad : 0;
}

static void send_segment(struct txn *t, uint32_t segment)
{
	const struct rmpp_send *r = &t->rmpp;
	uint8_t *mad = t->packet.mad;
	size_t size = segment_size(mad[MAD_CLASS]), at = (segment - 1) * size;
	size_t n = r->n - at < size ? r->n - at : size;

	mad[RMPP_VERSION] = 1;
	mad[RMPP_TYPE] = RMPP_DATA;
	mad[RMPP_FLAGS] = (uint8_t)(RMPP_ACTIVE | (segment == 1 ? RMPP_FIRST : 0) |
				    (segment == r->segments ? RMPP_LAST : 0));
	mad[RMPP_STATUS] = 0;
	put_be32(mad + RMPP_SEGMENT, segment);
	put_be32(mad + RMPP_LENGTH, payload_length(t, segment));
	memcpy(mad + SIM_MAD_SIZE - size, r->data + at, n);
	memset(mad + SIM_MAD_SIZE - size + n, 0, size - n);
	file_send(t->agent->file, &t->packet);
}

static int64_t now(const struct txn *t)
{
	return sim_now(t->agent->file->hosts->s);
}

/* The time at which to give up. */
static int64_t deadline(const struct txn *t)
{
	return t->rmpp.progress_us + try_us(t) * (t->head.retries + INT64_C(1));
}

static int64_t ack_wait(const struct txn *t)
{
	int64_t wait = t->rmpp.wait_us + t->rmpp.peer_us, left = deadline(t) - now(t);

	return wait < left ? wait : left;
}

/* Sends a probe, which asks what the receiver has. */
static void send_question(struct txn *t)
{
	if (!t->rmpp.acked)
		return;
	t->rmpp.asked = true;
	send_segment(t, t->rmpp.acked);
}

static void send_window(struct txn *t)
{
	struct rmpp_send *r = &t->rmpp;
	uint32_t end = sendable(r);

	if (now(t) - r->burst_us >= BURST_PAUSE_US) {
		r->burst_us = now(t);
		r->burst = 0;
	}
	while (r->sent < end && r->burst < BURST) {
		send_segment(t, ++r->sent);
		r->burst++;
	}
	if (r->sent == end && r->lossy)
		send_question(t);
	txn_set_timer(t, r->sent < end ? BURST_PAUSE_US : ack_wait(t));
}

static void restart_wait(struct txn *t)
{
	struct rmpp_send *r = &t->rmpp;
	int64_t wait = 2 * r->round_trip_us;

	wait = wait < WAIT_MIN_US ? WAIT_MIN_US : wait > WAIT_FIRST_US ? WAIT_FIRST_US : wait;
	r->wait_us = wait < try_us(t) ? wait : try_us(t);
	r->progress_us = now(t);
	r->repeated = false;
}

/* Longer round trips count at once, shorter ones gradually; after a repeat the time says nothing. */
static void learn_round_trip(struct txn *t)
{
	struct rmpp_send *r = &t->rmpp;
	int64_t seen = now(t) - r->progress_us, known = r->round_trip_us * 7 / 8;

	if (!r->repeated)
		r->round_trip_us = seen > known ? seen : known;
}

int rmpp_send_start(struct txn *t, const uint8_t *mad, size_t n)
{
	struct host_port *hp = t->agent->file->port;
	struct rmpp_send *r = &t->rmpp;
	unsigned head = class_data_offset(mad[MAD_CLASS]), size = segment_size(mad[MAD_CLASS]);

	n -= head;
	if (hp->bytes + n > PORT_BYTES_MAX)
		return -ENOMEM;
	hp->bytes += n;
	*r = (struct rmpp_send){
		.data = xmemdup(mad + head, n),
		.n = n,
		.segments = n ? (uint32_t)((n + size - 1) / size) : 1,
		.window = rmpp_recv_first_window(t->agent, &t->packet),
		.round_trip_us = WAIT_FIRST_US / 2,
		.burst_us = now(t),
	};
	restart_wait(t);
	send_window(t);
	return 0;
}

void rmpp_send_free(struct txn *t)
{
	if (!t->rmpp.data)
		return;
	t->agent->file->port->bytes -= t->rmpp.n;
	free(t->rmpp.data);
	t->rmpp.data = NULL;
}

static void give_up(struct txn *t)
{
	struct packet *p = &t->packet;
	unsigned head = class_data_offset(p->mad[MAD_CLASS]);

	memset(p->mad + head, 0, SIM_MAD_SIZE - head);
	p->mad[RMPP_TYPE] = RMPP_ABORT;
	p->mad[RMPP_FLAGS] = RMPP_ACTIVE;
	p->mad[RMPP_STATUS] = RMPP_TOO_MANY_RETRIES;
	put_be32(p->mad + RMPP_SEGMENT, 0);
	put_be32(p->mad + RMPP_LENGTH, 0);
	p->client = 0;
	file_send(t->agent->file, p);
	txn_timed_out(t);
}

void rmpp_send_expired(struct txn *t)
{
	struct rmpp_send *r = &t->rmpp;

	if (all_acked(r)) {		/* the answer did not come */
		txn_timed_out(t);
		return;
	}
	if (r->sent < sendable(r)) {
		send_window(t);
		return;
	}
	if (now(t) >= deadline(t)) {
		give_up(t);
		return;
	}
	r->wait_us = 2 * r->wait_us < try_us(t) ? 2 * r->wait_us : try_us(t);
	r->filled = 0;
	if (!r->repeated && r->acked) {
		send_question(t);
		txn_set_timer(t, ack_wait(t));
	} else {
		r->sent = r->acked;
		send_window(t);
	}
	r->repeated = true;
}

void rmpp_send_abort(struct host_agent *a, const struct packet *p)
{
	struct txn *t = txn_find(a, p);

	/* the kernel does not tell the client either */
	if (t && t->rmpp.data && !all_acked(&t->rmpp))
		txn_free(t);
}

/* RRespTime 0..30: 4.096 us * 2^n, bounded like any other wait (13.6.2). */
static int64_t response_time_us(const uint8_t *mad)
{
	unsigned n = mad[RMPP_FLAGS] >> RMPP_RTIME_SHIFT;
	int64_t us = (INT64_C(4096) << n) / 1000;

	if (n == RMPP_NO_RTIME)
		return 0;
	return us < WAIT_MAX_US ? us : WAIT_MAX_US;
}

/* The whole request has arrived; its receiver may answer by RMPP, too. */
static void finish(struct txn *t, const struct packet *ack)
{
	if (t->head.timeout_ms == 0) {
		txn_free(t);
		return;
	}
	rmpp_reply(t->agent->file, ack, RMPP_ACK, 0, 0, 1);
	txn_await_answer(t);
}

/* More segments have arrived in order. */
static void progress(struct txn *t, uint32_t segment, bool same_window)
{
	struct rmpp_send *r = &t->rmpp;

	r->acked = segment;
	learn_round_trip(t);
	restart_wait(t);
	if (!same_window) {
		r->asked = false;
		r->lossy -= r->lossy > 0;
	}
	if (r->sent < segment)
		r->sent = segment;
}

static void acked(struct txn *t, const struct packet *p, uint32_t segment, uint32_t window)
{
	struct rmpp_send *r = &t->rmpp;
	bool same_window = window == r->window;

	if (window < r->window || segment < r->acked)
		return;			/* an outdated ACK */
	if (segment > r->acked)
		progress(t, segment, same_window);
	r->window = window;
	r->peer_us = response_time_us(p->mad);
	if (all_acked(r)) {
		finish(t, p);
	} else if (same_window && r->asked && segment < r->sent && segment + 1 != r->filled) {
		r->lossy = LOSSY_WINDOWS;
		r->filled = segment + 1;
		send_segment(t, segment + 1);
		send_question(t);
		txn_set_timer(t, ack_wait(t));
	} else if (r->sent < sendable(r)) {
		send_window(t);
	}
}

void rmpp_send_ack(struct host_agent *a, const struct packet *p)
{
	uint32_t segment = get_be32(p->mad + RMPP_SEGMENT);
	uint32_t window = get_be32(p->mad + RMPP_LENGTH);

	if (p->mad[RMPP_STATUS]) {
		rmpp_refuse(a, p, RMPP_BAD_STATUS);
		return;
	}
	if (window < segment || window > INT32_MAX) {
		rmpp_refuse(a, p, RMPP_WINDOW_SMALL);
		return;
	}
	struct txn *t = txn_find(a, p);

	if (!t) {
		if (segment == 0)
			rmpp_recv_direction_switch(a, p, window);
	} else if (!t->rmpp.data) {
		/* the MAD was not segmented: the ACK means nothing */
	} else if (all_acked(&t->rmpp)) {
		/*
		 * A repeated ACK of the last segment.  ACKs of segment 0 reply to such an ACK;
		 * answering those, too, would go on for ever.
		 */
		if (segment)
			rmpp_reply(a->file, p, RMPP_ACK, 0, 0, 1);
	} else if (segment > t->rmpp.segments || segment > t->rmpp.window) {
		rmpp_refuse(a, p, RMPP_SEGMENT_BIG);
	} else {
		acked(t, p, segment, window);
	}
}
