/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receiving: a thread for each device that blocks in umad_recv(), and serves at once what
 * it can: answers to our SMPs, which it hands to their transactions (txn.c, under
 * the engine's lock), and requests that are for the hook at_once, in turn where several
 * wait.  The rest it fills into batches, which the loop's side empties.
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
#include "base/clock.h"
#include "base/log.h"
#include "base/map64.h"
#include "ib/ib.h"
#include "mad/port.h"

/* How often the thread looks whether to stop: often after a MAD, rarely on an idle port. */
#define POLL_BUSY_MS	10
#define POLL_IDLE_MS	500
#define POLLS_BUSY	100
#define LOOKS_AHEAD	16	/* one MAD of so many is followed by a look whether more wait */
#define DRAIN_MAX	512	/* MADs taken in before the first of them is served */
#define SERVE_MAX	64	/* and served before more are taken in */
#define QUANTUM		64	/* of one source served at once meanwhile: less than most ever send */
#define BACKLOG_MAX	2	/* times what may wait: beyond, the loop is not even told */
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
	return s->raw + umad_size();
}

static const struct ib_user_mad *slot_umad(const struct rx_slot *s)
{
	return (const void *)s->raw;
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
		.arrived_us = s->arrived_us,
	};
}

static bool is_smp_answer(const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);

	return s->len >= MAD_HEADER && (slot_umad(s)->status || (mad[3] & METHOD_RESPONSE)) &&
	       (mad[1] == UMAD_CLASS_SUBN_LID_ROUTED || mad[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE);
}

/* --- requests that are served here --- */

/* One that waits, because others were found to wait, too. */
struct quick {
	struct fair_item item;
	struct quick *next;		/* if it is free */
	struct rx_slot slot;
};

static bool serve_at_once(struct mad_port *m, const struct rx_slot *s, bool overload)
{
	struct mad_in in = slot_in(s);

	in.overload = overload;
	return m->hooks.at_once(m->hooks.arg, m, &in);
}

static struct quick *quick_new(struct rx_end *e)
{
	struct quick *q = e->spare;

	if (q)
		e->spare = q->next;
	else
		q = xmalloc(sizeof(*q));
	return q;
}

/* True: it waits, and its memory with it. */
static bool wait_in_turn(struct rx_end *e, struct quick *q)
{
	if (fair_push(e->at_once, umad_source(slot_umad(&q->slot)), &q->item))
		return true;
	serve_at_once(e->m, &q->slot, true);
	return false;
}

/* A request for the loop: false where that is far behind, so that nobody is told; asked again. */
static bool may_go_to_loop(struct mad_port *m)
{
	if (atomic_load_explicit(&m->sa_queued, memory_order_relaxed) >
	    BACKLOG_MAX * (m->sa_queue_max + RX_BATCH))
		return false;
	atomic_fetch_add_explicit(&m->sa_queued, 1, memory_order_relaxed);
	return true;
}

/* What can't be served goes into the batch, in which room for one more is left. */
static void serve_waiting(struct rx_end *e, struct rx_batch *b)
{
	struct fair_item *item;

	for (unsigned i = 0; i < SERVE_MAX && b->n + 1 < RX_BATCH &&
	     (item = fair_pop(e->at_once)); i++) {
		struct quick *q = (struct quick *)(void *)item;	/* its first member */

		if (!serve_at_once(e->m, &q->slot, false) && may_go_to_loop(e->m))
			b->slot[b->n++] = q->slot;
		q->next = e->spare;
		e->spare = q;
	}
}

static void free_waiting(struct rx_end *e)
{
	struct fair_item *item;
	struct quick *q;

	while (e->at_once && (item = fair_pop(e->at_once)))
		free(item);
	fair_free(e->at_once);
	while ((q = e->spare)) {
		e->spare = q->next;
		free(q);
	}
}

/*
 * Most of the time who asks is the only one, and is answered without a look at
 * whether others wait, which would cost more than it is worth.  Once in a while there
 * is one, without waiting; when it finds something, all that is there is taken in, and of
 * who sends many only the first are served before the others, the rest in turn.  So
 * who sends a thousand requests waits alone for them.
 */
struct intake {
	unsigned since_look;		/* MADs */
	unsigned drained;		/* in this round; 0: none is on */
	uint8_t served[64];		/* of sources, by a hash, in this round */
};

/* Has the source had enough in this round?  Two may share a counter: then one waits, no more. */
static bool had_enough(struct intake *in, const struct rx_slot *s)
{
	uint64_t source = umad_source(slot_umad(s));
	uint8_t *n = &in->served[hash64(source) % sizeof(in->served)];

	if (*n >= QUANTUM)
		return true;
	++*n;
	return false;
}

/* What came is for the loop; is served, so that its memory is free again; or waits in it. */
enum took { FOR_LOOP, SERVED, WAITS };

/* In the receiver's thread.  draining: others may be behind it. */
static enum took take_in(struct rx_end *e, struct intake *in, struct quick *q, bool draining)
{
	const struct rx_slot *s = &q->slot;
	struct mad_port *m = e->m;

	if (is_smp_answer(s)) {
		const uint8_t *mad = slot_mad(s);

		pthread_mutex_lock(&m->engine);
		txn_complete(m->txns, get_be32(mad + 12), (int)slot_umad(s)->status,
			     (const struct umad_smp *)(const void *)mad, (size_t)s->len);
		txn_pump(m->txns);
		pthread_mutex_unlock(&m->engine);
		return SERVED;
	}
	if (!is_sa_request(s))
		return FOR_LOOP;
	atomic_fetch_add_explicit(&m->sa_received, 1, memory_order_relaxed);
	if (m->hooks.is_at_once && m->hooks.is_at_once(slot_mad(s), (size_t)s->len)) {
		if (draining && had_enough(in, s))
			return wait_in_turn(e, q) ? WAITS : SERVED;
		if (serve_at_once(m, s, false))
			return SERVED;
	}
	return may_go_to_loop(m) ? FOR_LOOP : SERVED;
}

/* Takes one MAD into the slot; <0: none (-EAGAIN, -ETIMEDOUT) or an error. */
static int receive(int fd, struct rx_slot *s, int timeout_ms)
{
	int len = MAD_SIZE;
	int r = umad_recv(fd, s->raw, &len, timeout_ms);

	if (r == -ENOSPC) {
		/* none of our agents is given more than a MAD; it would be in the way for ever */
		void *whole = malloc(umad_size() + (size_t)len);

		if (whole)
			umad_recv(fd, whole, &len, 0);
		free(whole);
		r = -EMSGSIZE;
	}
	s->len = r < 0 ? 0 : len;
	s->arrived_us = is_sa_request(s) ? clock_mono_us() : 0;
	return r;
}

static int how_long(struct intake *in, bool work_left, unsigned idle)
{
	if (work_left || in->drained || ++in->since_look >= LOOKS_AHEAD)
		return 0;
	return idle < POLLS_BUSY ? POLL_BUSY_MS : POLL_IDLE_MS;
}

static void *receiver(void *arg)
{
	struct rx_end *e = arg;
	struct mad_port *m = e->m;
	struct rx_batch *b = batch_get(m);
	struct quick *q = quick_new(e);		/* where the next MAD goes */
	struct intake in = { 0 };
	unsigned errors = 0, idle = 0;

	while (!atomic_load_explicit(&m->stop, memory_order_relaxed)) {
		/* block only when there is nothing to hand over, or to serve */
		bool work_left = b->n || fair_count(e->at_once);
		int timeout_ms = how_long(&in, work_left, idle);
		int r = receive(e->fd, &q->slot, timeout_ms);

		if (r >= 0) {
			errors = idle = 0;
			/* it came without waiting for it: so may others have */
			if (timeout_ms == 0)
				in.drained++;
			switch (take_in(e, &in, q, timeout_ms == 0)) {
			case FOR_LOOP: b->slot[b->n++] = q->slot; break;
			case WAITS: q = quick_new(e); break;
			case SERVED: break;
			}
			if (b->n < RX_BATCH && in.drained < DRAIN_MAX)
				continue;
		} else if (r == -EMSGSIZE) {
			count(m, &m->counts.malformed);
		} else if (timeout_ms == 0 && (r == -EAGAIN || r == -ETIMEDOUT)) {
			/* nothing more is there; but where several waited, others come soon */
			in.since_look = in.drained > 1 ? LOOKS_AHEAD : 0;
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
		if (in.drained)
			memset(in.served, 0, sizeof(in.served));
		in.drained = 0;
		if (b->n) {
			batch_hand_over(m, b);
			b = batch_get(m);
		}
		serve_waiting(e, b);
	}
	free(q);
	free(b);
	return NULL;
}

/* Of one of our requests to others' QPs: its answer, or itself, when it could not be sent. */
static bool is_ours(const uint8_t *mad, unsigned status)
{
	if (mad[1] == UMAD_CLASS_PERF_MGMT || mad[1] == CLASS_CONGESTION)
		return status || (mad[3] & METHOD_RESPONSE);
	if (mad[1] != UMAD_CLASS_SUBN_ADM)
		return false;
	switch (mad[3]) {
	case UMAD_METHOD_REPORT:
	case UMAD_METHOD_REPORT_RESP:
	case UMAD_METHOD_GET_RESP:
		return true;
	default:
		return mad[3] == UMAD_METHOD_GET && status;
	}
}

static void dispatch(struct mad_port *m, const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);
	struct mad_in in;

	if (s->len < MAD_HEADER) {
		count(m, &m->counts.malformed);
		return;
	}
	if (is_ours(mad, slot_umad(s)->status))
		request_complete(m->requests, (int)slot_umad(s)->status, mad, (size_t)s->len);
	/* an answer that failed on its way, or one that nobody waits for */
	if (slot_umad(s)->status || (mad[3] & METHOD_RESPONSE))
		return;
	in = slot_in(s);
	switch (in.mgmt_class) {
	case UMAD_CLASS_SUBN_ADM:	/* all that is_sa_request() is true for: they are counted */
		atomic_fetch_sub_explicit(&m->sa_queued, 1, memory_order_relaxed);
		sa_side_take(m->sa, slot_umad(s), mad, (size_t)s->len, s->arrived_us);
		return;
	case UMAD_CLASS_SUBN_LID_ROUTED:
	case UMAD_CLASS_SUBN_DIRECTED_ROUTE:
		if (mad[3] == UMAD_METHOD_TRAP_REPRESS)
			return;
		if (mad[3] == UMAD_METHOD_TRAP)
			count(m, &m->counts.traps);
		m->hooks.request(m->hooks.arg, &in);
		return;
	default:
		count(m, &m->counts.unknown);
	}
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
		for (unsigned i = 0; i < b->n; i++)
			dispatch(m, &b->slot[i]);
	txn_tell(m->txns);
	sa_side_turn(m->sa);
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

static bool start_end(struct rx_end *e, struct mad_port *m, int fd, struct buf *err)
{
	int r;

	e->m = m;
	e->fd = fd;
	e->at_once = fair_new(m->sa_queue_max, m->sa_queue_each);
	r = pthread_create(&e->thread, NULL, receiver, e);
	e->started = r == 0;
	if (r)
		buf_printf(err, "cannot start the receiver thread: %s", strerror(r));
	return r == 0;
}

bool rx_start(struct mad_port *m, struct buf *err)
{
	m->full_tail = &m->full;
	m->wake = wake_new(m->loop, on_wake, m);
	return start_end(&m->end[0], m, m->fd, err) &&
	       (m->gsi_fd == m->fd || start_end(&m->end[1], m, m->gsi_fd, err));
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
	for (unsigned i = 0; i < ARRAY_SIZE(m->end); i++)
		if (m->end[i].started)
			pthread_join(m->end[i].thread, NULL);
	free_batches(m->full);
	free_batches(m->spare);
	for (unsigned i = 0; i < ARRAY_SIZE(m->end); i++)
		free_waiting(&m->end[i]);
	m->full = m->spare = NULL;
	wake_free(m->wake);
	m->wake = NULL;
}
