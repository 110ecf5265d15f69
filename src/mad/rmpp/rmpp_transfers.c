/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Manages the RMPP transfers of a port: look-up, turns, timer and bounds; receives requests.
 *
 * Transfers are requests that come in segments and answers that are produced while they are sent
 * (rmpp_answers.c). rmpp_sender.c and rmpp_receiver.c have the rules of RMPP.
 *
 * Transfers are in a hash table by peer, so that those of one source are together and can be
 * counted.  Those that have something to send are in a queue, and each sends a few segments a
 * visit.
 */
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad_sa.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/map64.h"
#include "mad/rmpp/rmpp_transfers.h"

#define TICK_MIN_US	2000
#define SMALL_MAX	4096u		/* answers of one MAD that are kept for repetition, in all */
#define SMALL_EACH	64u		/* the same of one source */
#define KEPT_MAX	1024u		/* complete requests that are remembered in case an ACK got lost */
#define KEPT_EACH	64u

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
	ts->max[RECEIVE] = s->sa_receives_max;
	ts->each[RECEIVE] = s->sa_receives_each;
	ts->max[KEPT] = KEPT_MAX;
	ts->each[KEPT] = KEPT_EACH;
	return ts;
}

/* --- look-up --- */

struct transfer **transfer_bucket(struct transfers *ts, const struct ib_user_mad *u)
{
	return &ts->bucket[hash64(umad_source(u)) & (BUCKETS - 1)];
}

uint32_t *transfers_pace(struct transfers *ts, const struct ib_user_mad *u)
{
	return &ts->pace[be16toh(u->addr.lid) & (PACES - 1)];
}

bool transfer_same_peer(const struct ib_user_mad *a, const struct ib_user_mad *b)
{
	return umad_source(a) == umad_source(b) && a->addr.grh_present == b->addr.grh_present &&
	       (!a->addr.grh_present || !memcmp(a->addr.gid, b->addr.gid, 16));
}

/* Number of transfers of this kind with one peer. */
static unsigned count_of(struct transfers *ts, const struct ib_user_mad *u, enum kind kind)
{
	unsigned n = 0;

	for (const struct transfer *t = *transfer_bucket(ts, u); t; t = t->next)
		n += t->kind == kind && transfer_same_peer(&t->peer, u);
	return n;
}

bool transfer_room(struct transfers *ts, const struct ib_user_mad *u, enum kind kind)
{
	return ts->n[kind] < ts->max[kind] && count_of(ts, u, kind) < ts->each[kind];
}

/* Which of the hooks' counters the kind belongs to; false: none. */
static bool is_counted(enum kind kind, enum mad_under_way *what)
{
	*what = kind == RECEIVE ? MAD_REQUESTS : MAD_ANSWERS;
	return kind == STREAM || kind == RECEIVE;
}

static uint64_t holder_of(const struct transfers *ts, const struct ib_user_mad *u)
{
	const struct mad_hooks *hooks = &ts->m->hooks;

	return hooks->holder ? hooks->holder(hooks->arg, be16toh(u->addr.lid)) : 0;
}

bool transfer_may_begin(struct transfers *ts, const struct ib_user_mad *u, enum kind kind)
{
	const struct mad_hooks *hooks = &ts->m->hooks;
	enum mad_under_way what;

	return !hooks->may_hold || !is_counted(kind, &what) ||
	       hooks->may_hold(hooks->arg, what, holder_of(ts, u));
}

static void count(struct transfers *ts, const struct transfer *t, int more)
{
	const struct mad_hooks *hooks = &ts->m->hooks;
	enum mad_under_way what;

	ts->n[t->kind] += (unsigned)more;
	if (hooks->has_more && is_counted(t->kind, &what))
		hooks->has_more(hooks->arg, what, t->holder, more);
}

uint8_t transfer_method(uint8_t method)
{
	uint8_t request = method & (uint8_t)~METHOD_RESPONSE;

	return request == UMAD_SA_METHOD_GET_TRACE_TABLE ?
	       (method & METHOD_RESPONSE) | UMAD_SA_METHOD_GET_TABLE : method;
}

static bool same_transaction(const uint8_t *a, const uint8_t *b, uint8_t method)
{
	return transfer_method(a[OFF_METHOD]) == transfer_method(method) &&
	       !memcmp(a + OFF_TID, b + OFF_TID, 8);
}

struct transfer *transfer_find(struct transfers *ts, const struct ib_user_mad *u,
			       const uint8_t *mad, bool sending)
{
	uint8_t method = mad[OFF_METHOD] ^ (sending ? METHOD_RESPONSE : 0);
	struct transfer *t = *transfer_bucket(ts, u);

	while (t && !(sending == (t->kind == STREAM || t->kind == SMALL) &&
		      same_transaction(t->head, mad, method) && transfer_same_peer(&t->peer, u)))
		t = t->next;
	return t;
}

/* --- start and end --- */

void transfers_wake_at(struct transfers *ts, int64_t due_us)
{
	int64_t now = clock_mono_us();

	if (ts->timer_us && ts->timer_us <= due_us)
		return;
	ts->timer_us = due_us;
	timer_set(ts->timer, due_us - now > TICK_MIN_US ? due_us - now : TICK_MIN_US, 0);
}

struct transfer *transfer_add(struct transfers *ts, const struct ib_user_mad *u,
			      const uint8_t *head, enum kind kind)
{
	struct transfer *t = xcalloc(1, sizeof(*t)), **place = transfer_bucket(ts, u);

	t->kind = kind;
	t->peer = *u;
	t->answer_window = 1;
	memcpy(t->head, head, RMPP_HEAD);
	t->next = *place;
	*place = t;
	t->holder = holder_of(ts, u);
	count(ts, t, 1);
	return t;
}

void transfer_drop_source(struct transfers *ts, struct transfer *t)
{
	if (!t->source)
		return;
	t->source->release(t->source);
	t->source = NULL;
	ts->held -= t->held;
}

void transfer_end(struct transfers *ts, struct transfer *t)
{
	struct transfer **p = transfer_bucket(ts, &t->peer);

	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	count(ts, t, -1);
	transfer_drop_source(ts, t);
	rmpp_send_end(&t->send);
	rmpp_recv_end(&t->recv);
	if (t->ready)
		t->gone = true;
	else
		free(t);
}

void transfer_make_ready(struct transfers *ts, struct transfer *t)
{
	if (t->ready)
		return;
	t->ready = true;
	t->next_ready = NULL;
	*ts->ready_end = t;
	ts->ready_end = &t->next_ready;
}

struct transfer *transfers_take_ready(struct transfers *ts)
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

void transfers_end_of(struct transfers *ts, uint64_t holder)
{
	enum mad_under_way what;

	for (unsigned i = 0; i < BUCKETS; i++)
		for (struct transfer *t = ts->bucket[i], *after; t; t = after) {
			after = t->next;
			if (t->holder != holder || !is_counted(t->kind, &what))
				continue;
			if (t->kind == STREAM) {
				transfer_abort(ts, t, RMPP_UNSPECIFIED);
			} else {
				transfers_send_back(ts, &t->peer, t->head, RMPP_ABORT, RMPP_UNSPECIFIED);
				transfer_end(ts, t);
			}
		}
}

void transfers_free(struct transfers *ts)
{
	if (!ts)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		while (ts->bucket[i])
			transfer_end(ts, ts->bucket[i]);
	transfers_take_ready(ts);
	timer_free(ts->timer);
	free(ts);
}

/* --- on the wire --- */

/*
 * A last segment is written at its true length, and the kernel pads it: ibsim does not know RMPP
 * and takes the message's length from this.
 */
static size_t length_to_write(const uint8_t *mad)
{
	if (!rmpp_is_active(mad) || mad[RMPP_OFF_TYPE] != RMPP_DATA ||
	    !(mad[RMPP_OFF_FLAGS] & RMPP_LAST))
		return MAD_SIZE;
	return RMPP_HEAD - RMPP_SA_LEN + get_be32(mad + RMPP_OFF_LENGTH);
}

bool transfers_transmit(struct transfers *ts, const struct ib_user_mad *to,
			const uint8_t mad[RMPP_MAD])
{
	return port_send(ts->m, FILE_GMPS, to->agent_id, &to->addr, mad, length_to_write(mad), 0);
}

void transfers_send_back(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
			 uint8_t type, uint8_t status)
{
	uint8_t back[RMPP_MAD];

	rmpp_make_reply(back, mad, type, status, 0, 0);
	transfers_transmit(ts, u, back);
	ts->m->rmpp.refused++;
}

/* --- MADs --- */

/* Remembers a complete request: a client that missed the last ACK repeats a segment. */
static void keep(struct transfers *ts, struct transfer *t, const struct ib_user_mad *u)
{
	if (!transfer_room(ts, u, KEPT)) {
		transfer_end(ts, t);
		return;
	}
	count(ts, t, -1);
	t->kind = KEPT;
	count(ts, t, 1);
}

static void take_data(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	struct transfer *t = transfer_find(ts, u, mad, false);
	uint8_t back[RMPP_MAD], status = rmpp_data_check(mad), *message;
	int64_t now_us = clock_mono_us();
	size_t len;

	if (status) {
		transfers_send_back(ts, u, mad, RMPP_ABORT, status);
		if (t && t->kind == RECEIVE)
			transfer_end(ts, t);
		return;
	}
	if (!t) {
		if (get_be32(mad + RMPP_OFF_SEGMENT) != 1)
			return;
		if (!transfer_may_begin(ts, u, RECEIVE) || !transfer_room(ts, u, RECEIVE)) {
			transfers_send_back(ts, u, mad, RMPP_STOP, RMPP_NO_RESOURCES);
			return;
		}
		t = transfer_add(ts, u, mad, RECEIVE);
		rmpp_recv_begin(&t->recv, now_us);
	}
	switch (rmpp_recv_take(&t->recv, mad, now_us, &status)) {
	case RMPP_TOOK:
		break;
	case RMPP_TOOK_ACK:
		rmpp_recv_ack(&t->recv, back, mad);
		transfers_transmit(ts, u, back);
		break;
	case RMPP_TOOK_ALL:
		rmpp_recv_ack(&t->recv, back, mad);
		transfers_transmit(ts, u, back);
		message = t->recv.message;
		len = t->recv.len;
		t->recv.message = NULL;
		transfers_wake_at(ts, t->recv.due_us);
		keep(ts, t, u);
		ts->message(ts->arg, u, message, len);
		return;
	case RMPP_TOOK_STOP:
		transfers_send_back(ts, u, mad, RMPP_STOP, status);
		transfer_end(ts, t);
		return;
	case RMPP_TOOK_ABORT:
		transfers_send_back(ts, u, mad, RMPP_ABORT, status);
		transfer_end(ts, t);
		return;
	}
	transfers_wake_at(ts, t->recv.due_us);
}

/* The peer ended the transfer, as the receiver of an answer or as the sender of a request. */
static void take_end(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad)
{
	uint8_t status = mad[RMPP_OFF_STATUS];
	bool valid = mad[RMPP_OFF_TYPE] == RMPP_STOP ? status == RMPP_NO_RESOURCES :
		     status >= RMPP_TOO_LONG && status <= RMPP_UNSPECIFIED;
	struct transfer *sending = transfer_find(ts, u, mad, true);
	struct transfer *coming = transfer_find(ts, u, mad, false);

	/* answer only for an existing transfer, so that two peers cannot go on for ever */
	if (!valid && (sending || coming))
		transfers_send_back(ts, u, mad, RMPP_ABORT, RMPP_BAD_STATUS);
	if (sending)
		transfer_end(ts, sending);
	if (coming && coming->kind == RECEIVE)
		transfer_end(ts, coming);
}

/* Aborts the transfer that an invalid MAD belongs to. */
static void refuse(struct transfers *ts, const struct ib_user_mad *u, const uint8_t *mad,
		   uint8_t status)
{
	struct transfer *t = transfer_find(ts, u, mad, true);

	transfers_send_back(ts, u, mad, RMPP_ABORT, status);
	if (t)
		transfer_end(ts, t);
	t = transfer_find(ts, u, mad, false);
	if (t && t->kind == RECEIVE)
		transfer_end(ts, t);
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
		transfer_take_ack(ts, u, mad);
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

static void late(struct transfers *ts, struct transfer *t, int64_t now_us)
{
	if (t->kind == STREAM || t->kind == SMALL) {
		transfer_late_answer(ts, t, now_us);
		return;
	}
	if (t->kind == RECEIVE)
		transfers_send_back(ts, &t->peer, t->head, RMPP_ABORT, RMPP_TOO_LONG);
	transfer_end(ts, t);
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
		transfers_wake_at(ts, next);
	if (ts->ready)
		sa_side_turn(ts->m->sa);
}
