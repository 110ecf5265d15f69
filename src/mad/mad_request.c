/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends qosd's own GMP requests and matches their answers.
 *
 * They are of the SA class (Reports, Gets), of performance management and of congestion control.
 *
 * As with SMPs, a request lives in a slot, and the low 32 bits of its TID are the slot and a
 * generation.  All tries have the same TID, so that a late answer to an earlier try counts, and the
 * other side recognises repeats.
 *
 * The requests are few and slow, so one timer serves all of them.  It also covers time-outs that
 * nobody reports, since the simulator's preload library has none.  All of this belongs to the
 * loop's thread, except an atomic word for each slot, by which the receiver thread tells an answer
 * from an unsolicited MAD.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "mad/umad_port.h"

#define SLOTS		1024		/* a power of two */
#define GUARD_US	100000		/* grace beyond the kernel's own time-out */
#define TICK_US		50000
#define REFUSED_MAX	8		/* tries of a request that the kernel may refuse */
#define OFF_TID		12		/* half of the TID that the kernel leaves to the sender */

struct request {
	struct request *next;		/* next free slot */
	bool busy;
	uint16_t generation;
	unsigned tries;			/* tries left */
	unsigned given_up;		/* tries that timed out here, and that the kernel has yet to report */
	unsigned refused;		/* tries that were not sent */
	int64_t deadline;
	struct mad_address to;
	unsigned timeout_ms;
	void (*fn)(void *arg, const uint8_t *mad, size_t len);
	void *arg;
	uint8_t mad[MAD_SIZE];
};

struct request_table {
	struct mad_port *m;
	struct timer *tick;
	unsigned n;			/* number of busy slots */
	struct request *free;
	struct request slot[SLOTS];
	/*
	 * For each busy slot, the low half of its TID, which is not 0, and above it the DLID; else
	 * 0.
	 */
	atomic_ullong awaited[SLOTS];
};

static void on_tick(void *arg);

struct request_table *request_table_new(struct mad_port *m)
{
	struct request_table *t = xcalloc(1, sizeof(*t));

	t->m = m;
	t->tick = timer_new(m->loop, on_tick, t);
	for (unsigned i = SLOTS; i-- > 0; ) {
		t->slot[i].next = t->free;
		t->free = &t->slot[i];
	}
	return t;
}

void request_table_free(struct request_table *t)
{
	if (!t)
		return;
	timer_free(t->tick);
	free(t);
}

void mad_sender(const struct mad_in *in, struct mad_address *from)
{
	const struct ib_user_mad *u = in->umad;

	*from = (struct mad_address){
		.lid = in->slid, .qpn = be32toh(u->addr.qpn), .sl = u->addr.sl,
		.pkey_index = u->addr.pkey_index,
	};
}

static int agent_for(const struct mad_port *m, uint8_t mgmt_class)
{
	return m->agent[mgmt_class == UMAD_CLASS_PERF_MGMT ? AGENT_PERF :
			mgmt_class == CLASS_CONGESTION ? AGENT_CC : AGENT_ASK_SA];
}

bool mad_can_request(const struct mad_port *m, uint8_t mgmt_class)
{
	return agent_for(m, mgmt_class) >= 0;
}

/*
 * The kernel did not send the last try, as it still waits for the answer to the one before: on a busy
 * machine, it may have taken that one late.  So this was no try, and there is another when it is due.
 */
static void try_refused(struct request *r)
{
	if (r->refused++ < REFUSED_MAX)
		r->tries++;
}

static void transmit(struct request_table *t, struct request *r)
{
	ib_mad_addr_t to = {
		.lid = htobe16(r->to.lid), .qpn = htobe32(r->to.qpn), .sl = r->to.sl,
		.pkey_index = r->to.pkey_index,
	};

	r->tries--;
	r->deadline = clock_mono_us() + r->timeout_ms * 1000ll + GUARD_US;
	if (!port_send(t->m, FILE_GMP_ANSWERS, (uint32_t)agent_for(t->m, r->mad[1]), &to, r->mad,
		       MAD_SIZE, r->timeout_ms)) {
		if (errno == EINVAL)
			try_refused(r);
	} else if (r->mad[1] == UMAD_CLASS_SUBN_ADM) {
		atomic_fetch_add_explicit(&t->m->sa_sent, 1, memory_order_relaxed);
	}
}

bool mad_request(struct mad_port *m, const struct mad_address *to, const uint8_t mad[256],
		 unsigned timeout_ms, unsigned tries,
		 void (*fn)(void *arg, const uint8_t *mad, size_t len), void *arg)
{
	struct request_table *t = m->requests;
	struct request *r = t->free;

	if (!r)
		return false;
	t->free = r->next;
	r->busy = true;
	if (!++r->generation)
		r->generation++;	/* a TID must not be 0 */
	r->tries = tries;
	r->given_up = r->refused = 0;
	r->to = *to;
	r->timeout_ms = timeout_ms;
	r->fn = fn;
	r->arg = arg;
	memcpy(r->mad, mad, MAD_SIZE);
	put_be32(r->mad + OFF_TID, (uint32_t)r->generation << 16 | (uint32_t)(r - t->slot));
	atomic_store_explicit(&t->awaited[r - t->slot],
			      (uint64_t)to->lid << 32 | get_be32(r->mad + OFF_TID), memory_order_relaxed);
	t->n++;
	transmit(t, r);
	if (!timer_active(t->tick))
		timer_set(t->tick, TICK_US, TICK_US);
	return true;
}

static void finish(struct request_table *t, struct request *r, const uint8_t *mad, size_t len)
{
	r->busy = false;
	atomic_store_explicit(&t->awaited[r - t->slot], 0, memory_order_relaxed);
	r->next = t->free;
	t->free = r;
	t->n--;
	r->fn(r->arg, mad, len);
}

static void try_failed(struct request_table *t, struct request *r)
{
	if (r->tries)
		transmit(t, r);
	else
		finish(t, r, NULL, 0);
}

static uint64_t awaited(const struct request_table *t, uint32_t tid)
{
	return atomic_load_explicit(&t->awaited[tid & (SLOTS - 1)], memory_order_relaxed);
}

bool request_is_under_way(const struct request_table *t, const uint8_t *mad)
{
	uint32_t tid = get_be32(mad + OFF_TID);

	return tid && (uint32_t)awaited(t, tid) == tid;
}

bool request_is_awaited(const struct request_table *t, const uint8_t *mad, uint16_t slid)
{
	uint32_t tid = get_be32(mad + OFF_TID);
	uint64_t a = awaited(t, tid);

	return tid && (uint32_t)a == tid && (!slid || a >> 32 == slid);
}

/* The response method: GetResp answers a Set as it does a Get (13.4.5). */
static uint8_t response_to(uint8_t method)
{
	return (method == UMAD_METHOD_SET ? UMAD_METHOD_GET : method) | UMAD_METHOD_RESP_MASK;
}

void request_complete(struct request_table *t, int umad_status, const uint8_t *mad, size_t len)
{
	uint32_t tid = get_be32(mad + OFF_TID);
	struct request *r = &t->slot[tid & (SLOTS - 1)];

	if ((tid & 0xffff) >= SLOTS || !r->busy || r->generation != tid >> 16)
		return;		/* late: the slot is free or has another request */
	if (umad_status == EINVAL)
		try_refused(r);
	else if (umad_status && r->given_up)
		r->given_up--;		/* the report is about an earlier try; the current one still has
					 * time */
	else if (umad_status)
		try_failed(t, r);
	else if (len >= MAD_SIZE && mad[1] == r->mad[1] && mad[3] == response_to(r->mad[3]) &&
		 !memcmp(mad + 16, r->mad + 16, 2))
		finish(t, r, mad, len);
	/* else it does not match the request: the time-out decides */
}

static void on_tick(void *arg)
{
	struct request_table *t = arg;
	int64_t now = clock_mono_us();

	for (struct request *r = t->slot; r < t->slot + SLOTS; r++)
		if (r->busy && r->deadline <= now) {
			r->given_up++;
			try_failed(t, r);
		}
	if (!t->n)
		timer_stop(t->tick);
}
