/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Receives MADs in a thread for each umad file (umad_port.h).
 *
 * The thread blocks in umad_recv().  It serves at once what it can: it hands answers to qosd's SMPs
 * to their transactions (transactions.c, under the engine's lock), and passes requests to the hook
 * at_once, in turn when several wait.  It puts other MADs into the intake (intake.c), which the
 * loop's thread empties, and drops those without a recipient.
 *
 * Beyond that the thread touches only the intake, under the intake's lock, and atomics.  It wakes
 * the loop when it has handed over HAND_OVER MADs or the port has no more, so that under load one
 * wake-up serves many MADs.
 *
 * The loop's thread takes answers to qosd's own requests first, then SMPs and then SA requests,
 * each for a bounded time; the next turn of the loop goes on with the rest.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/base/map64.h"
#include "lib/iba/iba.h"
#include "mad/rmpp/rmpp.h"
#include "mad/umad_port.h"

/*
 * rx_stop() interrupts the wait of a receiver thread by a signal, so that an idle port wakes no
 * thread.  The wait is bounded nevertheless: a library that simulates a port may restart it, as
 * umad2sim does.
 */
#define POLL_MS		1000
#define POLL_CLOSED_SOON_MS	20
#define INTERRUPT_NS	1000000	/* between two signals */
#define LOOKS_AHEAD	16	/* the thread checks for waiting MADs after this many MADs */
#define DRAIN_MAX	512	/* MADs taken in before the first of them is served */
#define SERVE_MAX	32	/* MADs served before more are taken in */
#define QUANTUM		64	/* MADs of one sender that are served at once in a round; above what most
				 * ever send */
#define QUANTA		64	/* the same of all senders: answering costs more than receiving, which
				 * must not wait */
#define FIRST		1	/* of each sender, this many are served at once in any case */
#define SENDERS		1024	/* counters of served MADs, by a hash of the sender */
#define HAND_OVER	128	/* MADs after which the thread wakes the loop */
#define SMP_TURN_US	250	/* time in each turn of the loop for SMPs from others */
#define ERRORS_MAX	20	/* receive errors in a row after which the port is given up */
#define RETRY_NS	50000000

#define METHOD_RESPONSE	0x80
#define MAD_HEADER 24

static void count(atomic_ullong *counter)
{
	atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
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

struct mad_in slot_in(const struct rx_slot *s)
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

/* --- requests served in the receiver thread --- */

static bool serve_at_once(struct mad_port *m, const struct rx_slot *s, bool overload)
{
	struct mad_in in = slot_in(s);

	in.overload = overload;
	return m->hooks.at_once(m->hooks.arg, m, &in);
}

bool mad_turn_away(struct mad_port *m, const struct mad_in *in)
{
	count(&m->dropped[INTAKE_REQUEST]);
	/* answering takes longer than receiving: in a flood not every request gets a BUSY */
	return intake_turned_away(m->intake, umad_sender(in->umad), in->slid, clock_mono_us());
}

/* Answers a refused SA request with BUSY if the rate permits, and counts it. */
static void rx_turn_away(struct mad_port *m, const struct rx_slot *s)
{
	const struct mad_in in = slot_in(s);

	if (mad_turn_away(m, &in) && m->hooks.at_once)
		serve_at_once(m, s, true);
}

/* --- MADs for the loop --- */

/* Puts an item into the intake, and frees the item that had to go. */
static void hand_over(struct rx_end *e, enum intake_class c, uint64_t source, struct rx_item *i)
{
	struct mad_port *m = e->m;
	struct rx_item *out = intake_put(m->intake, c, source, i);

	e->handed_over++;
	if (!out)
		return;
	if (c == INTAKE_REQUEST)
		rx_turn_away(m, &out->slot);
	else
		count(&m->dropped[c]);
	intake_give_back(m->intake, out);
}

static void tell_loop(struct rx_end *e)
{
	if (e->handed_over)
		loop_wake(e->m->wake);
	e->handed_over = 0;
}

/* Traps of these numbers ask for different actions, so each number has a queue share of its own. */
static unsigned kind_of_trap(const uint8_t *notice)
{
	unsigned number = get_be16(notice + 4);

	if (!(notice[0] & 0x80))
		return 1;
	switch (number) {
	case UMAD_SM_LINK_STATE_CHANGED_TRAP:
		return 2;
	case UMAD_SM_LOCAL_CHANGES_TRAP:
		return 3;
	case UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP:
		return 4;
	case UMAD_SM_BAD_MKEY_TRAP:
		return 5;
	default:
		return 6;
	}
}

/*
 * Identifies the sender of an SMP: by LID or, for a directed route, by the return path that the
 * switches recorded.
 */
static uint64_t smp_source(const struct rx_slot *s)
{
	const struct umad_smp *p = (const void *)slot_mad(s);
	unsigned hops = p->hop_cnt < UMAD_SMP_MAX_HOPS ? p->hop_cnt : UMAD_SMP_MAX_HOPS - 1;

	if (p->mgmt_class != UMAD_CLASS_SUBN_DIRECTED_ROUTE || s->len < MAD_SIZE)
		return be16toh(slot_umad(s)->addr.lid);
	return hash_bytes(p->return_path + 1, hops, be16toh(p->dr_slid)) >> 16 | UINT64_C(1) << 47;
}

static enum mad_kind kind_of_smp(const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);

	if (mad[3] == UMAD_METHOD_TRAP)
		return MAD_KIND_TRAP;
	if (get_be16(mad + 16) != UMAD_SM_ATTR_SM_INFO)
		return MAD_KIND_SMP;
	return mad[3] == UMAD_METHOD_GET ? MAD_KIND_SMINFO_GET : MAD_KIND_SMINFO_SET;
}

/* True: the intake has the item. */
static bool take_smp(struct rx_end *e, struct rx_item *i)
{
	const uint8_t *mad = slot_mad(&i->slot);
	enum mad_kind kind = kind_of_smp(&i->slot);
	uint64_t source = smp_source(&i->slot);
	uint16_t lid = mad[1] == UMAD_CLASS_SUBN_LID_ROUTED ?
		       be16toh(slot_umad(&i->slot)->addr.lid) : IB_LID_PERMISSIVE;
	unsigned sort = kind;

	if (mad[3] == UMAD_METHOD_TRAP_REPRESS)
		return false;
	count(&e->m->smps);
	if (kind == MAD_KIND_TRAP) {
		count(&e->m->traps);
		if (i->slot.len >= MAD_SIZE)
			sort = MAD_KINDS + kind_of_trap(mad + 64);
	}
	intake_note(e->m->intake, source, lid, kind, false, clock_mono_us());
	hand_over(e, INTAKE_SMP, source << 8 | sort, i);
	return true;
}

/*
 * Whether this is an answer to one of qosd's requests to other QPs, or such a request that the
 * kernel returns because it could not be sent.
 */
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

static void drop(struct mad_port *m, atomic_ullong *counter, enum mad_kind kind,
		 const struct rx_slot *s)
{
	const struct ib_user_mad *u = slot_umad(s);

	count(counter);
	if (!u->status)
		intake_note(m->intake, umad_sender(u), be16toh(u->addr.lid), kind, true,
			    clock_mono_us());
}

/*
 * Whether a request waits for this MAD.  The check is needed because the kernel passes on any SA
 * response with the RMPP Active flag without looking at the TID; no request of qosd gets RMPP
 * answers.
 */
static bool is_awaited(const struct rx_end *e, const struct rx_slot *s)
{
	const uint8_t *mad = slot_mad(s);
	const struct ib_user_mad *u = slot_umad(s);

	if (!is_ours(mad, u->status))
		return false;
	if (u->status)
		return request_is_under_way(e->m->requests, mad);
	if (mad[1] == UMAD_CLASS_SUBN_ADM && (s->len < MAD_SIZE || rmpp_is_active(mad)))
		return false;
	return request_is_awaited(e->m->requests, mad, be16toh(u->addr.lid));
}

/* True: the intake has the item. */
static bool take_answer(struct rx_end *e, struct rx_item *i)
{
	unsigned status = slot_umad(&i->slot)->status;

	if (is_awaited(e, &i->slot)) {
		hand_over(e, INTAKE_ANSWER, 0, i);
		return true;
	}
	/* an own request that failed and that nobody waits for any more is no flood */
	if (!status)
		drop(e->m, &e->m->unasked, MAD_KIND_ANSWER, &i->slot);
	return false;
}

/* True: the intake has the item. */
static bool take_other(struct rx_end *e, struct rx_item *i)
{
	const uint8_t *mad = slot_mad(&i->slot);

	if (i->slot.len < MAD_HEADER) {
		count(&e->m->malformed);
		return false;
	}
	if (slot_umad(&i->slot)->status || (mad[3] & METHOD_RESPONSE))
		return take_answer(e, i);
	if (mad[1] == UMAD_CLASS_SUBN_LID_ROUTED || mad[1] == UMAD_CLASS_SUBN_DIRECTED_ROUTE)
		return take_smp(e, i);
	drop(e->m, &e->m->unknown, MAD_KIND_UNKNOWN, &i->slot);
	return false;
}

static void take_request(struct rx_end *e, struct rx_item *i)
{
	const struct ib_user_mad *u = slot_umad(&i->slot);
	bool rmpp = i->slot.len == MAD_SIZE && rmpp_is_active(slot_mad(&i->slot));

	hand_over(e, rmpp ? INTAKE_RMPP : INTAKE_REQUEST, umad_sender(u), i);
}

/* --- receiver thread --- */

/* Queues the request for its sender's turn.  True: the queue has the item. */
static bool wait_in_turn(struct rx_end *e, struct rx_item *q)
{
	struct fair_item *out;
	struct rx_item *gone;

	if (!fair_push_out(e->at_once, umad_sender(slot_umad(&q->slot)), &q->item, &out)) {
		rx_turn_away(e->m, &q->slot);
		return false;
	}
	gone = (struct rx_item *)(void *)out;	/* `item` is the first member */
	if (gone) {
		rx_turn_away(e->m, &gone->slot);
		intake_give_back(e->m->intake, gone);
	}
	return true;
}

/* Serves waiting requests; hands those that it cannot serve to the loop. */
static void serve_waiting(struct rx_end *e)
{
	struct fair_item *item;

	for (unsigned i = 0; i < SERVE_MAX && (item = fair_pop(e->at_once)); i++) {
		struct rx_item *q = (struct rx_item *)(void *)item;	/* `item` is the first member */

		if (serve_at_once(e->m, &q->slot, false))
			intake_give_back(e->m->intake, q);
		else
			take_request(e, q);
	}
}

static void free_waiting(struct rx_end *e)
{
	struct fair_item *item;

	while (e->at_once && (item = fair_pop(e->at_once)))
		free(item);
	fair_free(e->at_once);
}

/*
 * State of a round of intake.  Usually a single sender asks, and gets its answer without a check
 * for other MADs, which would cost more than it gains.  Now and then the thread does check, without
 * waiting.  If it finds a MAD, it takes in all that wait, and of a busy sender it serves only the
 * first MADs at once and the rest in turn.  So a sender of a thousand requests waits for them
 * alone.
 */
struct intake_round {
	unsigned since_look;		/* MADs since the last check */
	unsigned drained;		/* MADs taken in in this round; 0: no round is on */
	unsigned quick;			/* MADs served at once in this round */
	uint8_t served[SENDERS];
};

/*
 * Whether the sender has used up its share of this round.  Two senders may share a counter; then
 * one of them only waits longer.
 */
static bool had_enough(struct intake_round *in, const struct rx_slot *s)
{
	uint8_t *n = &in->served[hash64(umad_sender(slot_umad(s))) % SENDERS];

	if (*n >= QUANTUM || (in->quick >= QUANTA && *n >= FIRST))
		return true;
	++*n;
	in->quick++;
	return false;
}

/*
 * Processes one MAD in the receiver thread.  `draining`: others may wait behind it.  True: the item
 * is taken over.
 */
static bool take_in(struct rx_end *e, struct intake_round *in, struct rx_item *q, bool draining)
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
		return false;
	}
	if (!is_sa_request(s))
		return take_other(e, q);
	count(&m->sa_received);
	if (m->hooks.is_at_once && m->hooks.is_at_once(slot_mad(s), (size_t)s->len)) {
		if (draining && had_enough(in, s))
			return wait_in_turn(e, q);
		if (serve_at_once(m, s, false))
			return false;
	}
	take_request(e, q);
	return true;
}

/* Receives one MAD into the slot; < 0 if there is none (-EAGAIN, -ETIMEDOUT) or on an error. */
static int receive(int fd, struct rx_slot *s, int timeout_ms)
{
	int len = MAD_SIZE;
	int r = umad_recv(fd, s->raw, &len, timeout_ms);

	if (r == -ENOSPC) {
		/*
		 * no agent expects more than one MAD; unread, this one would block the queue for
		 * ever
		 */
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

static int how_long(const struct mad_port *m, struct intake_round *in, bool work_left)
{
	if (work_left || in->drained || ++in->since_look >= LOOKS_AHEAD)
		return 0;
	return m->closed_soon ? POLL_CLOSED_SOON_MS : POLL_MS;
}

static void *receiver(void *arg)
{
	struct rx_end *e = arg;
	struct mad_port *m = e->m;
	struct rx_item *q = intake_item(m->intake);	/* item that the next MAD is received into */
	struct intake_round in = { 0 };
	unsigned errors = 0;

	while (!atomic_load_explicit(&m->stop, memory_order_relaxed)) {
		/* block only if the loop need not be woken and nothing waits to be served */
		bool work_left = e->handed_over || fair_count(e->at_once);
		int timeout_ms = how_long(m, &in, work_left);
		int r = receive(e->fd, &q->slot, timeout_ms);

		if (r >= 0) {
			errors = 0;
			/* the MAD was there already: others may be, too */
			if (timeout_ms == 0)
				in.drained++;
			if (take_in(e, &in, q, timeout_ms == 0))
				q = intake_item(m->intake);
			if (e->handed_over < HAND_OVER && in.drained < DRAIN_MAX)
				continue;
		} else if (r == -EMSGSIZE) {
			count(&m->malformed);
		} else if (timeout_ms == 0 && (r == -EAGAIN || r == -ETIMEDOUT)) {
			/* nothing is left; but where several waited, expect more soon */
			in.since_look = in.drained > 1 ? LOOKS_AHEAD : 0;
		} else if (!work_left && r != -ETIMEDOUT && r != -EAGAIN && !atomic_load(&m->stop)) {
			/* the device is gone and this descriptor with it; only a new open() can help */
			if (++errors == ERRORS_MAX) {
				atomic_store(&m->dead, true);
				loop_wake(m->wake);
			}
			nanosleep(&(struct timespec){ 0, RETRY_NS }, NULL);
		}
		if (in.drained)
			memset(in.served, 0, sizeof(in.served));
		in.drained = in.quick = 0;
		tell_loop(e);
		serve_waiting(e);
	}
	free(q);
	atomic_store(&e->ended, true);
	return NULL;
}

/* --- in the loop's thread --- */

static void take_answers(struct mad_port *m)
{
	struct rx_item *i;

	while ((i = intake_take(m->intake, INTAKE_ANSWER, false))) {
		request_complete(m->requests, (int)slot_umad(&i->slot)->status,
				 slot_mad(&i->slot), (size_t)i->slot.len);
		intake_done(m->intake, i);
	}
}

/* False: time ran out and SMPs are left. */
static bool take_smps(struct mad_port *m)
{
	int64_t end = clock_mono_us() + SMP_TURN_US;
	struct rx_item *i;

	while ((i = intake_take(m->intake, INTAKE_SMP, false))) {
		struct mad_in in = slot_in(&i->slot);

		m->hooks.request(m->hooks.arg, &in);
		intake_done(m->intake, i);
		if (clock_mono_us() >= end)
			return false;
	}
	return true;
}

static void on_wake(void *arg)
{
	struct mad_port *m = arg;

	take_answers(m);
	txn_tell(m->txns);
	if (!take_smps(m))
		loop_wake(m->wake);
	sa_side_turn(m->sa);
	if (atomic_exchange(&m->dead, false))
		m->hooks.dead(m->hooks.arg, "the port no longer receives: is the device gone?");
}

/* Does nothing; the signal makes the thread's system call return. */
static void on_interrupt(int signum)
{
	(void)signum;
}

/* Repeats the signal, since one that arrives before the thread waits has no effect. */
static void stop_end(struct rx_end *e)
{
	while (!atomic_load(&e->ended) && pthread_kill(e->thread, SIGURG) == 0)
		nanosleep(&(struct timespec){ 0, INTERRUPT_NS }, NULL);
	pthread_join(e->thread, NULL);
}

static bool start_end(struct rx_end *e, struct mad_port *m, int fd, struct buf *err)
{
	int r;

	e->m = m;
	e->fd = fd;
	e->at_once = fair_new(m->sa_queue_max, m->sa_queue_each);
	atomic_store(&e->ended, false);
	r = pthread_create(&e->thread, NULL, receiver, e);
	e->started = r == 0;
	if (r)
		buf_printf(err, "cannot start the receiver thread: %s", strerror(r));
	return r == 0;
}

bool rx_start(struct mad_port *m, struct buf *err)
{
	const struct sigaction interrupt = { .sa_handler = on_interrupt };

	sigaction(SIGURG, &interrupt, NULL);
	m->wake = wake_new(m->loop, on_wake, m);
	for (unsigned i = 0; i < PORT_FILES; i++)
		if (port_file_is_own(m, i) && !start_end(&m->end[i], m, m->file[i], err))
			return false;
	return true;
}

void rx_stop(struct mad_port *m)
{
	atomic_store(&m->stop, true);
	for (unsigned i = 0; i < ARRAY_SIZE(m->end); i++)
		if (m->end[i].started)
			stop_end(&m->end[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(m->end); i++)
		free_waiting(&m->end[i]);
	wake_free(m->wake);
	m->wake = NULL;
}
