/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receiving: a thread that blocks in umad_recv(), and serves at once what it
 * can: answers to our SMPs, which it hands to their transactions (txn.c, under
 * the engine's lock), and requests that the hook at_once takes.  The rest it
 * fills into batches, which the loop's side empties.
 *
 * Beyond that the thread touches nothing but the two batch lists (under their
 * lock) and atomics.  A batch changes hands when it is full or the port has nothing more
 * to give, so that under load one wake-up serves many MADs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/log.h"
#include "ib/ib.h"
#include "mad/port.h"

/* How often the thread looks whether to stop: often after a MAD, rarely on an idle port. */
#define POLL_BUSY_MS	10
#define POLL_IDLE_MS	500
#define POLLS_BUSY	100
#define RMPP_MAX	(1 << 20)	/* largest request message taken */
#define ERRORS_MAX	20	/* receive errors in a row after which the port is given up */
#define RETRY_NS	50000000

#define METHOD_RESPONSE	0x80
#define MAD_HEADER 24

static void count(struct mad_port *m, uint64_t *counter)
{
	pthread_mutex_lock(&m->engine);
	++*counter;
	pthread_mutex_unlock(&m->engine);
}

static struct rx_batch *batch_get(struct mad_port *m)
{
	struct rx_batch *b;

	pthread_mutex_lock(&m->lock);
	b = m->spare;
	if (b)
		m->spare = b->next;
	pthread_mutex_unlock(&m->lock);
	if (!b)
		b = xmalloc(sizeof(*b));
	b->n = 0;
	b->next = NULL;
	return b;
}

static void batch_hand_over(struct mad_port *m, struct rx_batch *b)
{
	pthread_mutex_lock(&m->lock);
	*m->full_tail = b;
	m->full_tail = &b->next;
	pthread_mutex_unlock(&m->lock);
	loop_wake(m->wake);
}

static const uint8_t *slot_mad(const struct rx_slot *s)
{
	const uint8_t *raw = s->big ? s->big : s->raw;
	return raw + umad_size();
}

static const struct ib_user_mad *slot_umad(const struct rx_slot *s)
{
	return s->big ? s->big : (const void *)s->raw;
}

static bool is_sa_request(const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);
	return s->len >= MAD_HEADER && mad[1] == UMAD_CLASS_SUBN_ADM && !(mad[3] & METHOD_RESPONSE) &&
	       !slot_umad(s)->status;
}

static struct mad_in slot_in(const struct rx_slot *s)
{
	return (struct mad_in){
		.mad = slot_mad(s), .len = (size_t)s->len, .slid = ntohs(slot_umad(s)->addr.lid),
		.mgmt_class = slot_mad(s)[1], .umad = slot_umad(s),
	};
}

static bool is_smp_answer(const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);

	return s->len >= MAD_HEADER && (slot_umad(s)->status || (mad[3] & METHOD_RESPONSE)) &&
	       (mad[1] == UMAD_CLASS_SUBN_LID_ROUTED || mad[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE);
}

/* In the receiver's thread: true if the slot is free again. */
static bool served_at_once(struct mad_port *m, const struct rx_slot *s)
{
	struct mad_in in;

	if (is_smp_answer(s)) {
		const uint8_t *mad = slot_mad(s);

		pthread_mutex_lock(&m->engine);
		txn_complete(m->txns, get_be32(mad + 12), (int)slot_umad(s)->status,
			     (const struct umad_smp *)(const void *)mad, (size_t)s->len);
		txn_pump(m->txns);
		pthread_mutex_unlock(&m->engine);
		free(s->big);
		return true;
	}
	if (!is_sa_request(s))
		return false;
	atomic_fetch_add_explicit(&m->sa_received, 1, memory_order_relaxed);
	if (m->hooks.at_once && !s->big) {
		in = slot_in(s);
		if (m->hooks.at_once(m->hooks.arg, m, &in))
			return true;
	}
	atomic_fetch_add_explicit(&m->sa_queued, 1, memory_order_relaxed);
	return false;
}

/* Takes one MAD into the slot; <0: none (-EAGAIN, -ETIMEDOUT) or an error. */
static int receive(struct mad_port *m, struct rx_slot *s, int timeout_ms)
{
	int len = MAD_SIZE;
	int r = umad_recv(m->fd, s->raw, &len, timeout_ms);

	s->big = NULL;
	if (r == -ENOSPC && len > MAD_SIZE) {
		/*
		 * An RMPP message: the kernel keeps it, before all others, until it
		 * is read whole.  Not xmalloc(): its size is the sender's choice.
		 */
		s->big = malloc(umad_size() + (size_t)len);
		if (s->big)
			r = umad_recv(m->fd, s->big, &len, 0);
		if (r < 0 || len > RMPP_MAX) {
			free(s->big);
			s->big = NULL;
			r = -EMSGSIZE;
		}
	}
	s->len = r < 0 ? 0 : len;
	return r;
}

static void *receiver(void *arg)
{
	struct mad_port *m = arg;
	struct rx_batch *b = batch_get(m);
	unsigned errors = 0, idle = 0;

	while (!atomic_load_explicit(&m->stop, memory_order_relaxed)) {
		/* block only when there is nothing to hand over */
		int r = receive(m, &b->slot[b->n], b->n ? 0 :
				idle < POLLS_BUSY ? POLL_BUSY_MS : POLL_IDLE_MS);

		if (r >= 0) {
			errors = idle = 0;
			if (served_at_once(m, &b->slot[b->n]) || ++b->n < RX_BATCH)
				continue;
		} else if (r == -EMSGSIZE) {
			count(m, &m->counts.malformed);
		} else if (!b->n && r != -ETIMEDOUT && r != -EAGAIN) {
			/* the device is gone, and this descriptor with it: the kernel gives no other */
			if (++errors == ERRORS_MAX) {
				atomic_store(&m->dead, true);
				loop_wake(m->wake);
			}
			nanosleep(&(struct timespec){ 0, RETRY_NS }, NULL);
		} else if (!b->n && idle < POLLS_BUSY) {
			idle++;
		}
		if (b->n) {
			batch_hand_over(m, b);
			b = batch_get(m);
		}
	}
	free(b);
	return NULL;
}

static void dispatch_request(struct mad_port *m, const struct rx_slot *s)
{
	struct mad_in in = slot_in(s);

	switch (in.mgmt_class) {
	case UMAD_CLASS_SUBN_ADM:
		in.overload = atomic_load_explicit(&m->sa_queued, memory_order_relaxed) >
			      m->sa_queue_max;
		break;
	case UMAD_CLASS_SUBN_LID_ROUTED:
	case UMAD_CLASS_SUBN_DIRECTED_ROUTE:
		if (in.mad[3] == UMAD_METHOD_TRAP)
			count(m, &m->counts.traps);
		break;
	default:
		count(m, &m->counts.unknown);
		return;
	}
	m->hooks.request(m->hooks.arg, &in);
}

static void dispatch(struct mad_port *m, const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);

	if (s->len < MAD_HEADER) {
		count(m, &m->counts.malformed);
		return;
	}
	if (mad[1] == UMAD_CLASS_SUBN_ADM &&
	    (mad[3] == UMAD_METHOD_REPORT || mad[3] == UMAD_METHOD_REPORT_RESP))
		request_complete(m->requests, (int)slot_umad(s)->status, mad, (size_t)s->len);
	/* an answer that failed on its way, or one that nobody waits for */
	if (slot_umad(s)->status || (mad[3] & METHOD_RESPONSE) ||
	    mad[3] == UMAD_METHOD_TRAP_REPRESS)
		return;
	dispatch_request(m, s);
}

/* In the loop's thread. */
static void on_wake(void *arg)
{
	struct mad_port *m = arg;
	struct rx_batch *list, *b;

	pthread_mutex_lock(&m->lock);
	list = m->full;
	m->full = NULL;
	m->full_tail = &m->full;
	pthread_mutex_unlock(&m->lock);

	for (b = list; b; b = b->next)
		for (unsigned i = 0; i < b->n; i++) {
			dispatch(m, &b->slot[i]);
			if (is_sa_request(&b->slot[i]))
				atomic_fetch_sub_explicit(&m->sa_queued, 1, memory_order_relaxed);
			free(b->slot[i].big);
		}
	txn_tell(m->txns);
	if (atomic_exchange(&m->dead, false))
		m->hooks.dead(m->hooks.arg, "the port does not receive any more: is the device gone?");

	if (!list)
		return;
	for (b = list; b->next; b = b->next)
		;
	pthread_mutex_lock(&m->lock);
	b->next = m->spare;
	m->spare = list;
	pthread_mutex_unlock(&m->lock);
}

bool rx_start(struct mad_port *m, struct buf *err)
{
	int r;

	m->full_tail = &m->full;
	m->wake = wake_new(m->loop, on_wake, m);
	r = pthread_create(&m->thread, NULL, receiver, m);
	if (r) {
		buf_printf(err, "cannot start the receiver thread: %s", strerror(r));
		return false;
	}
	m->thread_started = true;
	return true;
}

static void free_batches(struct rx_batch *b)
{
	while (b) {
		struct rx_batch *next = b->next;
		free(b);
		b = next;
	}
}

void rx_stop(struct mad_port *m)
{
	atomic_store(&m->stop, true);
	if (m->thread_started)
		pthread_join(m->thread, NULL);
	for (struct rx_batch *b = m->full; b; b = b->next)
		for (unsigned i = 0; i < b->n; i++)
			free(b->slot[i].big);
	free_batches(m->full);
	free_batches(m->spare);
	m->full = m->spare = NULL;
	wake_free(m->wake);
	m->wake = NULL;
}
