/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The RMPP transfers of a port: requests that come in segments, and answers that
 * are made while they are sent.  The rules of RMPP are rmpp_send.c's and
 * rmpp_recv.c's; here is who talks to whom, whose turn it is, the timer and the bounds.
 *
 * A transfer is in a hash table by who the other end is, so that a source's are
 * together, which counts them.  Those that have something to send are in a
 * queue, and each has a few segments a visit.
 *
 * Not everybody does RMPP: on ibsim nobody ever acknowledges, and what is
 * repeated meets the next client.  So until somebody has, on this port, nothing
 * is repeated and no silence complained of.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/map64.h"
#include "mad/serve.h"

#define BUCKETS		1024u		/* a power of 2 */
#define VISIT_SEGMENTS	16u
#define TICK_MIN_US	2000
#define UNHEARD_US	2000000		/* an answer is kept that long where nobody acknowledges */
#define HELD_MAX	(128u << 20)	/* bytes of answers made at once, in all */
#define SMALL_MAX	4096u		/* answers of one MAD that are repeated if need be … */
#define SMALL_EACH	64u		/* … and of one source */
#define RECEIVES_MAX	256u		/* requests whose segments are coming */
#define RECEIVES_EACH	8u
#define KEPT_MAX	1024u		/* and complete ones, of which an ACK may have got lost */
#define KEPT_EACH	64u

enum { OFF_METHOD = 3, OFF_TID = 8 };
#define METHOD_RESPONSE	0x80

enum kind { STREAM, SMALL, RECEIVE, KEPT, KINDS };

struct transfer {
	struct transfer *next;		/* in its bucket */
	struct transfer *next_ready;
	bool ready;			/* in the queue */
	bool gone;			/* over; freed when its turn comes */
	enum kind kind;
	struct ib_user_mad peer;
	uint8_t head[RMPP_HEAD];	/* of what we send, or of the request */
	/* STREAM, SMALL */
	struct rmpp_send send;
	struct mad_source *source;	/* NULL: all of it was read */
	size_t held;
	bool begun, plain;		/* the head is there; it is not by RMPP */
	/* RECEIVE, KEPT */
	struct rmpp_recv recv;
	uint32_t answer_window;		/* granted by the turn of the direction */
};

struct transfers {
	struct mad_port *m;
	void (*message)(void *arg, const struct ib_user_mad *u, uint8_t *mad, size_t len);
	void *arg;
	struct timer *timer;
	int64_t timer_us;		/* when it is due; 0: it is not set */
	unsigned max[KINDS], each[KINDS], n[KINDS];
	size_t held;
	bool somebody_acks;
	struct transfer *bucket[BUCKETS];
	struct transfer *ready, **ready_end;
};

static void on_timer(void *arg);

struct transfers *transfers_new(struct mad_port *m, const struct mad_settings *s,
				void (*message)(void *arg, const struct ib_user_mad *u,
						uint8_t *mad, size_t len), void *arg)
{
	struct transfers *ts = xcalloc(1, sizeof(*ts));

	ts->m = m;
	ts->message = message;
	ts->arg = arg;
	ts->ready_end = &ts->ready;
	ts->timer = timer_new(m->loop, on_timer, ts);
	ts->max[STREAM] = s->sa_transfers_max;
	ts->each[STREAM] = s->sa_transfers_each;
	ts->max[SMALL] = SMALL_MAX;
	ts->each[SMALL] = SMALL_EACH;
	ts->max[RECEIVE] = RECEIVES_MAX;
	ts->each[RECEIVE] = RECEIVES_EACH;
	ts->max[KEPT] = KEPT_MAX;
	ts->each[KEPT] = KEPT_EACH;
	return ts;
}

/* --- which --- */

static struct transfer **bucket_of(struct transfers *ts, const struct ib_user_mad *u)
{
	return &ts->bucket[hash64(umad_source(u)) & (BUCKETS - 1)];
}

static bool same_peer(const struct ib_user_mad *a, const struct ib_user_mad *b)
{
	return umad_source(a) == umad_source(b) && a->addr.grh_present == b->addr.grh_present &&
	       (!a->addr.grh_present || !memcmp(a->addr.gid, b->addr.gid, 16));
}

/* Those of the kind that are there, of one peer. */
static unsigned count_of(struct transfers *ts, const struct ib_user_mad *u, enum kind kind)
{
	unsigned n = 0;

	for (const struct transfer *t = *bucket_of(ts, u); t; t = t->next)
		n += t->kind == kind && same_peer(&t->peer, u);
	return n;
}

static bool room(struct transfers *ts, const struct ib_user_mad *u, enum kind kind)
{
	return ts->n[kind] < ts->max[kind] && count_of(ts, u, kind) < ts->each[kind];
}

/* GetTableResp answers GetTraceTable, too: the two are one, or they would not be found again. */
static uint8_t plain_method(uint8_t method)
{
	uint8_t request = method & (uint8_t)~METHOD_RESPONSE;

	return request == UMAD_SA_METHOD_GET_TRACE_TABLE ?
	       (method & METHOD_RESPONSE) | UMAD_SA_METHOD_GET_TABLE : method;
}

static bool same_transaction(const uint8_t *a, const uint8_t *b, uint8_t method)
{
	return plain_method(a[OFF_METHOD]) == plain_method(method) &&
	       !memcmp(a + OFF_TID, b + OFF_TID, 8);
}

/* The answer that goes (or the request that comes) where the MAD comes from. */
static struct transfer *find(struct transfers *ts, const struct ib_user_mad *u,
			     const uint8_t *mad, bool sending)
{
	uint8_t method = mad[OFF_METHOD] ^ (sending ? METHOD_RESPONSE : 0);
	struct transfer *t = *bucket_of(ts, u);

	while (t && !(sending == (t->kind == STREAM || t->kind == SMALL) &&
		      same_transaction(t->head, mad, method) && same_peer(&t->peer, u)))
		t = t->next;
	return t;
}

/* --- life --- */

static void set_timer(struct transfers *ts, int64_t due_us)
{
	int64_t now = clock_mono_us();

	if (ts->timer_us && ts->timer_us <= due_us)
		return;
	ts->timer_us = due_us;
	timer_set(ts->timer, due_us - now > TICK_MIN_US ? due_us - now : TICK_MIN_US, 0);
}

static struct transfer *add(struct transfers *ts, const struct ib_user_mad *u,
			    const uint8_t *head, enum kind kind)
{
	struct transfer *t = xcalloc(1, sizeof(*t)), **place = bucket_of(ts, u);

	t->kind = kind;
	t->peer = *u;
	t->answer_window = 1;
	memcpy(t->head, head, RMPP_HEAD);
	t->next = *place;
	*place = t;
	ts->n[kind]++;
	return t;
}

static void drop_source(struct transfers *ts, struct transfer *t)
{
	if (!t->source)
		return;
	t->source->release(t->source);
	t->source = NULL;
	ts->held -= t->held;
}

static void end(struct transfers *ts, struct transfer *t)
{
	struct transfer **p = bucket_of(ts, &t->peer);

	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	ts->n[t->kind]--;
	drop_source(ts, t);
	rmpp_send_end(&t->send);
	rmpp_recv_end(&t->recv);
	if (t->ready)
		t->gone = true;
	else
		free(t);
}

static void make_ready(struct transfers *ts, struct transfer *t)
{
	if (t->ready)
		return;
	t->ready = true;
	t->next_ready = NULL;
	*ts->ready_end = t;
	ts->ready_end = &t->next_ready;
}

/* The next of the queue that is not over, out of it. */
static struct transfer *take_ready(struct transfers *ts)
{
	struct transfer *t;

	while ((t = ts->ready)) {
		ts->ready = t->next_ready;
		if (!ts->ready)
			ts->ready_end = &ts->ready;
		t->ready = false;
		if (!t->gone)
			return t;
		free(t);
	}
	return NULL;
}

bool transfers_ready(const struct transfers *ts)
{
	return ts->ready;
}

void transfers_free(struct transfers *ts)
{
	if (!ts)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		while (ts->bucket[i])
			end(ts, ts->bucket[i]);
	take_ready(ts);
	timer_free(ts->timer);
	free(ts);
}

/* --- on the wire --- */

/*
 * A last segment is written as long as it is, which the kernel fills up: ibsim, which
 * does not know RMPP, has the length of the message from there.
 */
static size_t length_to_write(const uint8_t *mad)
{
	if (!rmpp_is_active(mad) || mad[RMPP_OFF_TYPE] != RMPP_DATA ||
	    !(mad[RMPP_OFF_FLAGS] & RMPP_LAST))
		return MAD_SIZE;
	return RMPP_HEAD - RMPP_SA_LEN + get_be32(mad + RMPP_OFF_LENGTH);
}

static bool transmit(struct transfers *ts, const struct ib_user_mad *to,
		     const uint8_t mad[RMPP_MAD])
{
	return port_send(ts->m, to->agent_id, &to->addr, mad, length_to_write(mad), 0);
}

static void reply(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
		  uint8_t type, uint8_t status)
{
	uint8_t back[RMPP_MAD];

	rmpp_make_reply(back, mad, type, status, 0, 0);
	transmit(ts, u, back);
	ts->m->rmpp.refused++;
}

/* We give up what we send. */
static void abort_send(struct transfers *ts, struct transfer *t, uint8_t status)
{
	uint8_t mad[RMPP_MAD];

	rmpp_make_reply(mad, t->head, RMPP_ABORT, status, 0, 0);
	mad[OFF_METHOD] = t->head[OFF_METHOD];
	transmit(ts, &t->peer, mad);
	ts->m->rmpp.aborted++;
	end(ts, t);
}

/* --- answers --- */

static void count_sent(struct transfers *ts)
{
	atomic_fetch_add_explicit(&ts->m->sa_sent, 1, memory_order_relaxed);
}

/* What there is of an answer that needs no RMPP is one MAD. */
static void send_plain(struct transfers *ts, struct transfer *t, const uint8_t *data, size_t n)
{
	uint8_t mad[RMPP_MAD] = { 0 };

	memcpy(mad, t->head, RMPP_HEAD);
	memcpy(mad + RMPP_HEAD, data, n);
	if (transmit(ts, &t->peer, mad))
		count_sent(ts);
}

/* The next segment's data: there, not yet, or the transfer is over: that was all in one MAD. */
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
		end(ts, t);
		return GOT_OVER;
	}
	rmpp_send_add(&t->send, data, n, r == MAD_READ_LAST);
	if (r == MAD_READ_LAST) {
		drop_source(ts, t);
		count_sent(ts);
	}
	return GOT;
}

static bool send_segment(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	uint8_t mad[RMPP_MAD];
	uint32_t before = t->send.highest;

	memcpy(mad, t->head, RMPP_HEAD);
	if (!rmpp_send_next(&t->send, mad, now_us))
		return false;
	transmit(ts, &t->peer, mad);
	ts->m->rmpp.segments++;
	ts->m->rmpp.repeated += t->send.highest == before;
	return true;
}

bool transfers_visit(struct transfers *ts)
{
	struct transfer *t = take_ready(ts);
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
			set_timer(ts, t->send.due_us);
			return true;	/* till an ACK comes */
		}
	}
	make_ready(ts, t);
	set_timer(ts, t->send.due_us);
	return true;
}

/* A request that came by RMPP may have granted its answer a window. */
static void use_window(struct transfers *ts, struct transfer *t, const struct ib_user_mad *to)
{
	const struct transfer *request;
	uint8_t head[RMPP_HEAD];

	memcpy(head, t->head, RMPP_HEAD);
	head[OFF_METHOD] &= (uint8_t)~METHOD_RESPONSE;
	request = find(ts, to, head, false);
	if (request)
		t->send.window = request->answer_window;
}

static struct transfer *begin_send(struct transfers *ts, const struct ib_user_mad *to,
				   const uint8_t *head, enum kind kind)
{
	struct transfer *t = add(ts, to, head, kind);

	t->head[OFF_METHOD] = plain_method(t->head[OFF_METHOD] | METHOD_RESPONSE);
	rmpp_send_begin(&t->send, clock_mono_us());
	use_window(ts, t, to);
	return t;
}

/* Where nobody acknowledges, what was sent before is not in the way of what is asked now. */
static void drop_unheard(struct transfers *ts, const struct ib_user_mad *u)
{
	for (struct transfer *t = *bucket_of(ts, u), *next; t; t = next) {
		next = t->next;
		if (t->kind == STREAM && t->send.highest && same_peer(&t->peer, u))
			end(ts, t);
	}
}

bool transfers_stream(struct transfers *ts, const struct ib_user_mad *to, const uint8_t *request,
		      struct mad_source *source)
{
	struct transfer *t = find(ts, to, request, true);

	if (t && t->send.acked) {	/* asked again, while the answer is arriving */
		source->release(source);
		return true;
	}
	if (t)
		end(ts, t);
	if (!ts->somebody_acks)
		drop_unheard(ts, to);
	if (!room(ts, to, STREAM) || ts->held + source->held > HELD_MAX)
		return false;
	t = begin_send(ts, to, request, STREAM);
	t->source = source;
	t->held = source->held;
	ts->held += t->held;
	ts->m->rmpp.streams++;
	make_ready(ts, t);
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
	t = find(ts, to, request, true);
	if (t)
		end(ts, t);
	if (!room(ts, to, SMALL)) {
		transmit(ts, to, mad);
		return;
	}
	t = begin_send(ts, to, mad, SMALL);
	rmpp_send_add(&t->send, mad + RMPP_HEAD, n, true);
	send_segment(ts, t, clock_mono_us());
	set_timer(ts, t->send.due_us);
}

static void take_ack(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	struct transfer *t = find(ts, u, mad, true);
	uint8_t wrong;

	if (!t) {
		uint32_t window = get_be32(mad + RMPP_OFF_LENGTH);

		t = find(ts, u, mad, false);
		if (t && get_be32(mad + RMPP_OFF_SEGMENT) == 0 && !mad[RMPP_OFF_STATUS] &&
		    window > 0 && window <= INT32_MAX)
			t->answer_window = window;	/* the direction turns */
		return;
	}
	wrong = rmpp_send_acked(&t->send, mad, clock_mono_us());
	if (wrong) {
		abort_send(ts, t, wrong);
		return;
	}
	ts->somebody_acks = true;
	if (rmpp_send_done(&t->send)) {
		end(ts, t);
	} else {
		make_ready(ts, t);
		set_timer(ts, t->send.due_us);
	}
}

/* --- requests --- */

static void keep(struct transfers *ts, struct transfer *t, const struct ib_user_mad *u)
{
	bool kept = room(ts, u, KEPT);

	if (kept) {
		ts->n[t->kind]--;
		t->kind = KEPT;
		ts->n[KEPT]++;
	} else {
		end(ts, t);
	}
}

static void take_data(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	struct transfer *t = find(ts, u, mad, false);
	uint8_t back[RMPP_MAD], status = rmpp_data_check(mad), *message;
	int64_t now_us = clock_mono_us();
	size_t len;

	if (status) {
		reply(ts, u, mad, RMPP_ABORT, status);
		if (t && t->kind == RECEIVE)
			end(ts, t);
		return;
	}
	if (!t) {
		if (get_be32(mad + RMPP_OFF_SEGMENT) != 1)
			return;
		if (!room(ts, u, RECEIVE)) {
			reply(ts, u, mad, RMPP_STOP, RMPP_NO_RESOURCES);
			return;
		}
		t = add(ts, u, mad, RECEIVE);
		rmpp_recv_begin(&t->recv, now_us);
	}
	switch (rmpp_recv_take(&t->recv, mad, now_us, &status)) {
	case RMPP_TOOK:
		break;
	case RMPP_TOOK_ACK:
		rmpp_recv_ack(&t->recv, back, mad);
		transmit(ts, u, back);
		break;
	case RMPP_TOOK_ALL:
		rmpp_recv_ack(&t->recv, back, mad);
		transmit(ts, u, back);
		message = t->recv.message;
		len = t->recv.len;
		t->recv.message = NULL;
		set_timer(ts, t->recv.due_us);
		keep(ts, t, u);
		ts->message(ts->arg, u, message, len);
		return;
	case RMPP_TOOK_STOP:
		reply(ts, u, mad, RMPP_STOP, status);
		end(ts, t);
		return;
	case RMPP_TOOK_ABORT:
		reply(ts, u, mad, RMPP_ABORT, status);
		end(ts, t);
		return;
	}
	set_timer(ts, t->recv.due_us);
}

/* The other end gave up, as a receiver of an answer or as who asks. */
static void take_end(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	uint8_t status = mad[RMPP_OFF_STATUS];
	bool valid = mad[RMPP_OFF_TYPE] == RMPP_STOP ? status == RMPP_NO_RESOURCES :
		     status >= RMPP_TOO_LONG && status <= RMPP_UNSPECIFIED;
	struct transfer *sending = find(ts, u, mad, true), *coming = find(ts, u, mad, false);

	/* only who has a transfer is told, so that two can't go on for ever */
	if (!valid && (sending || coming))
		reply(ts, u, mad, RMPP_ABORT, RMPP_BAD_STATUS);
	if (sending)
		end(ts, sending);
	if (coming && coming->kind == RECEIVE)
		end(ts, coming);
}

/* What makes no sense ends what it belongs to. */
static void refuse(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
		   uint8_t status)
{
	struct transfer *t = find(ts, u, mad, true);

	reply(ts, u, mad, RMPP_ABORT, status);
	if (t)
		end(ts, t);
	t = find(ts, u, mad, false);
	if (t && t->kind == RECEIVE)
		end(ts, t);
}

void transfers_take(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	if (mad[RMPP_OFF_VERSION] != 1) {
		refuse(ts, u, mad, RMPP_BAD_VERSION);
		return;
	}
	switch (mad[RMPP_OFF_TYPE]) {
	case RMPP_DATA:
		take_data(ts, u, mad);
		break;
	case RMPP_ACK:
		take_ack(ts, u, mad);
		break;
	case RMPP_STOP:
	case RMPP_ABORT:
		take_end(ts, u, mad);
		break;
	default:
		refuse(ts, u, mad, RMPP_BAD_TYPE);
	}
}

/* --- time --- */

static int64_t due_us(const struct transfer *t)
{
	return t->kind == RECEIVE || t->kind == KEPT ? t->recv.due_us : t->send.due_us;
}

static void late_answer(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	uint8_t status;

	if (!ts->somebody_acks && t->send.highest) {
		t->send.due_us = t->send.begun_us + UNHEARD_US;
		if (now_us >= t->send.due_us)
			end(ts, t);
		return;
	}
	status = rmpp_send_late(&t->send, now_us);
	if (status)
		abort_send(ts, t, status);
	else
		make_ready(ts, t);
}

static void late(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	if (t->kind == STREAM || t->kind == SMALL) {
		late_answer(ts, t, now_us);
		return;
	}
	if (t->kind == RECEIVE)
		reply(ts, &t->peer, t->head, RMPP_ABORT, RMPP_TOO_LONG);
	end(ts, t);
}

static void on_timer(void *arg)
{
	struct transfers *ts = arg;
	int64_t now_us = clock_mono_us(), next = INT64_MAX;

	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct transfer *t = ts->bucket[i], *after; t; t = after) {
			after = t->next;
			if (due_us(t) <= now_us)
				late(ts, t, now_us);
		}
	ts->timer_us = 0;
	for (unsigned i = 0; i < BUCKETS; i++)
		for (const struct transfer *t = ts->bucket[i]; t; t = t->next)
			next = due_us(t) < next ? due_us(t) : next;
	if (next < INT64_MAX)
		set_timer(ts, next);
	if (ts->ready)
		sa_side_turn(ts->m->sa);
}
