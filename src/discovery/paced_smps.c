/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends libibnetdisc's SMPs at the pace that the fabric takes; paced_smps.h has the contracts.
 *
 * Each try has a TransactionID of ours, whose low half is the SMP's slot and a generation, so that
 * an answer belongs to one try; the library gets its own TransactionID back.  The upper half
 * belongs to the kernel.  One thread.
 *
 * Invariant: a slot is FREE, WAITS for its first try, is SENT, or is SILENT and to be repeated.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sm.h>

#include "discovery/paced_smps.h"
#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/iba/iba.h"

#define MAD_SIZE	256
#define TID_LOW		12	/* byte offset in the MAD of the half that is ours */
#define METHOD_RESPONSE	0x80
#define LOOK_MS		10	/* polling interval while an SMP waits to be repeated */

enum state { FREE, WAITS, SENT, SILENT };

struct slot {
	union {
		struct ib_user_mad umad;
		uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	} u;
	struct smp_window_smp pace;
	struct slot *next;		/* in the list of its state */
	uint32_t tid;			/* the library's TransactionID */
	int fd, agent, length;
	uint16_t generation;
	uint8_t state;
};

static struct {
	struct smp_window pace;
	struct slot *slots;
	unsigned n_slots;
	struct { struct slot *first, *last; } list[SILENT + 1];	/* SENT has no list */
	paced_answer_fn *answered;
	void (*waiting)(void);
} paced;

static void put_last(struct slot *x, enum state state)
{
	x->state = (uint8_t)state;
	x->next = NULL;
	if (paced.list[state].first)
		paced.list[state].last->next = x;
	else
		paced.list[state].first = x;
	paced.list[state].last = x;
}

/* Returns NULL if no slot is in that state. */
static struct slot *take_first(enum state state)
{
	struct slot *x = paced.list[state].first;

	if (x)
		paced.list[state].first = x->next;
	return x;
}

void paced_start(const struct smp_window_bounds *b, unsigned known_window, paced_answer_fn *answered,
		 void (*waiting)(void))
{
	const struct smp_window_learned known = { .window = (uint16_t)known_window, .lossy = true };

	smp_window_init(&paced.pace, b);
	if (known_window)
		smp_window_learn(&paced.pace, &known);
	paced.answered = answered;
	paced.waiting = waiting;
	paced.n_slots = b->window;
	paced.slots = xcalloc(paced.n_slots, sizeof(*paced.slots));
	for (unsigned i = 0; i < paced.n_slots; i++)
		put_last(&paced.slots[i], FREE);
}

struct smp_window_learned paced_learned(void)
{
	return smp_window_learned(&paced.pace);
}

static uint32_t device_of(const struct slot *x)
{
	const struct umad_smp *smp = umad_get_mad((void *)(uintptr_t)&x->u);
	unsigned hops = smp->hop_cnt < UMAD_SMP_MAX_HOPS ? smp->hop_cnt : UMAD_SMP_MAX_HOPS - 1;

	return smp_window_device(&paced.pace, smp->initial_path + 1, hops, 0, SMP_WINDOW_NO_DEVICE);
}

/* Returns 0, or the error of umad_send(). */
static int transmit(paced_send_fn *send, struct slot *x, unsigned ms)
{
	uint8_t *mad = umad_get_mad(&x->u);
	int r;

	x->generation++;
	put_be32(mad + TID_LOW, (uint32_t)x->generation << 16 | (uint32_t)(x - paced.slots));
	x->state = SENT;
	r = send(x->fd, x->agent, &x->u, x->length, (int)ms, 0);
	if (r >= 0)
		return 0;
	smp_window_given_up(&paced.pace, &x->pace);
	put_last(x, FREE);
	return r;
}

/* Sends what the window allows; returns 0, or the error of umad_send(). */
static int pump(paced_send_fn *send)
{
	int64_t now = clock_mono_us();
	struct slot *x;
	unsigned ms;
	int r = 0;

	while (!r && paced.list[SILENT].first && smp_window_may_repeat(&paced.pace, now)) {
		x = take_first(SILENT);
		ms = smp_window_repeat(&paced.pace, &x->pace, now);
		r = transmit(send, x, ms);
	}
	while (!r && smp_window_has_room(&paced.pace) && (x = take_first(WAITS))) {
		ms = smp_window_begin(&paced.pace, &x->pace, device_of(x), 0, now);
		r = transmit(send, x, ms);
	}
	return r;
}

static bool is_directed(const void *umad, int length)
{
	const struct umad_smp *smp = umad_get_mad((void *)(uintptr_t)umad);

	return length == MAD_SIZE && smp->mgmt_class == UMAD_CLASS_SUBN_DIRECTED_ROUTE;
}

int paced_send(paced_send_fn *send, int fd, int agent, void *umad, int length, int timeout_ms,
	       int retries)
{
	struct slot *x;

	if (!timeout_ms || !is_directed(umad, length) || !(x = take_first(FREE)))
		return send(fd, agent, umad, length, timeout_ms, retries);
	memcpy(&x->u, umad, umad_size() + MAD_SIZE);
	x->tid = get_be32((const uint8_t *)umad_get_mad(&x->u) + TID_LOW);
	x->fd = fd;
	x->agent = agent;
	x->length = length;
	put_last(x, WAITS);
	return pump(send);
}

/* The slot that an answer or failed try belongs to, or NULL. */
static struct slot *slot_of(void *umad)
{
	uint32_t tid = get_be32((const uint8_t *)umad_get_mad(umad) + TID_LOW);
	struct slot *x = &paced.slots[(tid & 0xffff) % paced.n_slots];

	return (tid & 0xffff) < paced.n_slots && x->state == SENT && x->generation == tid >> 16
		? x : NULL;
}

/*
 * Handles an answer or time-out.  Returns true if the library gets it, with its TransactionID
 * restored.
 */
static bool take(void *umad, int length, struct slot *x)
{
	const struct umad_smp *smp = umad_get_mad(umad);
	bool silent = umad_status(umad) != 0;
	bool busy = !silent && (be16toh(smp->status) & IB_STATUS_BUSY);

	if (silent)
		smp_window_timed_out(&paced.pace, &x->pace, clock_mono_us());
	if ((silent || busy) && smp_window_has_tries(&x->pace)) {
		put_last(x, SILENT);
		return false;
	}
	if (silent)
		smp_window_given_up(&paced.pace, &x->pace);
	else
		smp_window_answered(&paced.pace, &x->pace, clock_mono_us());
	if (!silent)
		paced.answered(umad_get_mad(&x->u), umad, length);
	put_be32((uint8_t *)umad_get_mad(umad) + TID_LOW, x->tid);
	put_last(x, FREE);
	return true;
}

int paced_recv(paced_send_fn *send, paced_recv_fn *recv, int fd, void *umad, int *length,
	       int timeout_ms)
{
	/* libibnetdisc claims more room than it has */
	const int room = *length < MAD_SIZE ? *length : MAD_SIZE;

	paced.waiting();
	for (;;) {
		bool look = paced.list[SILENT].first && (timeout_ms < 0 || timeout_ms > LOOK_MS);
		struct slot *x;
		int r = pump(send);

		if (r < 0)
			return r;
		*length = room;
		r = recv(fd, umad, length, look ? LOOK_MS : timeout_ms);
		if (r < 0) {
			if (look && (r == -ETIMEDOUT || r == -EAGAIN))
				continue;
			return r;
		}
		x = slot_of(umad);
		if (x ? take(umad, *length, x) : !is_directed(umad, MAD_SIZE))
			return r;
		/*
		 * drop answers to no request or to an abandoned try: the library would treat them
		 * as errors
		 */
	}
}
