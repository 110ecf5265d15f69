/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tracks which SMPs are outstanding, which may go next, and which timed out.
 *
 * A transaction lives in a slot of a fixed table.  The low 32 bits of its TID are the slot and a
 * generation, so that a late answer to an earlier use of the slot matches nothing. (The kernel and
 * the simulator own the upper bits.)
 *
 * lib/iba/smp_window.h decides how many SMPs may be outstanding, how long each waits and when it is
 * repeated.  The kernel reports time-outs as umad status; a guard time here covers a report that
 * never comes (ibsim's preload library has no time-outs).  An SMP that waits to be repeated keeps
 * its slot in the queue `repeats`.
 *
 * All of this is under the engine's lock.  The lock's holder may call a job's next() and done():
 * the receiver thread on an answer, the loop's thread on a time-out.  The end of a job or of a
 * single SMP is left to the loop's thread (txn_tell), because its callback may take longer or start
 * something.
 *
 * mad_permit_sets() sets a time until which Sets may go out, so that a process which was stopped
 * without knowing it, and resumes later, sends none.
 *
 * Invariants: in_flight counts the busy slots; a device of the active job is in the ready queue at
 * most once; each busy slot has a struct smp_window_smp that was begun and has not ended; a slot is in
 * `repeats` if and only if its try is over without an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/bytes.h"
#include "lib/base/clock.h"
#include "lib/iba/iba.h"
#include "lib/iba/smp_window.h"
#include "mad/umad_port.h"

#define SLOTS		1024
#define SLOTS_JOBS	(SLOTS - 64)	/* slots that jobs may use; the rest is for single SMPs */
#define WINDOW_MAX	(SLOTS / 2)
#define TRIES_MAX	8
#define GUARD_US	300000		/* grace beyond the kernel's own time-out */
#define TICK_US		50000
#define NONE		UINT32_MAX
#define NOT_QUEUED	(UINT32_MAX - 1)
#define DR_DIRECTION	0x8000
#define TURN_US		2000		/* time in each turn of the loop to fill the windows */
#define ASKED_PER_LOOK	16

struct smp_job {
	struct smp_job *next;
	struct mad_port *m;
	const struct smp_job_ops *ops;
	void *arg;
	uint32_t outstanding;
	uint8_t *in_flight;	/* per device: SMPs outstanding */
	uint32_t *pace;		/* per device: its number in the table's struct smp_window; NONE at first */
	uint32_t *link;		/* per device: next in the ready queue, NONE at its end, NOT_QUEUED */
	uint32_t head, tail;
};

struct single {			/* a single SMP, waiting for a slot or for its callback */
	struct single *next;
	struct smp s;
	uint8_t route[IB_DR_HOPS_MAX + 1];	/* copy of s's route, which the caller may free earlier */
	int status;
	void (*fn)(void *arg, const struct smp *s, int status);
	void *arg;
};

struct txn {
	struct txn *next;		/* next free slot, or next in `repeats` */
	struct smp s;
	uint8_t route[IB_DR_HOPS_MAX + 1];	/* route of a single SMP */
	struct smp_window_smp pace;
	int64_t deadline;		/* guard time, should the kernel not report the time-out */
	struct smp_job *job;		/* NULL: a single SMP, or the job was cancelled */
	uint64_t cookie;
	uint32_t device;
	void (*fn)(void *arg, const struct smp *s, int status);
	void *arg;
	uint16_t generation;
	bool busy, waits;		/* waits: the slot is in `repeats` */
	bool excused;			/* no loss: this try was not sent, or the device answered busy */
};

struct txn_table {
	struct mad_port *m;
	struct txn slot[SLOTS];
	struct txn *free;
	struct txn *repeats, **repeats_tail;
	struct smp_window pace;
	unsigned in_flight;
	struct smp_job *jobs;		/* queue of jobs; the first one runs */
	struct smp_job *over;		/* finished jobs whose owner has not been told yet */
	struct single *singles, **singles_tail;
	struct single *answered, **answered_tail;	/* finished single SMPs, likewise */
	struct timer *tick;
	unsigned asked;
	int64_t sets_until;		/* no Set is sent from this time on */
};

static unsigned clamp(unsigned v, unsigned lo, unsigned hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

static void set_windows(struct txn_table *t, const struct mad_settings *s)
{
	const struct smp_window_bounds bounds = {
		.window = clamp(s->smp_window, 1, WINDOW_MAX),
		.window_device = clamp(s->smp_window_device, 1, 255),
		.timeout_ms = clamp(s->timeout_ms, 1, SMP_WINDOW_TIMEOUT_MAX_MS),
		.tries = clamp(s->retries + 1, 1, TRIES_MAX),
	};

	smp_window_init(&t->pace, &bounds);
}

static void on_tick(void *arg);

struct txn_table *txn_table_new(struct mad_port *m, const struct mad_settings *s)
{
	struct txn_table *t = xcalloc(1, sizeof(*t));

	t->m = m;
	for (unsigned i = SLOTS; i-- > 0; ) {
		t->slot[i].next = t->free;
		t->free = &t->slot[i];
	}
	t->repeats_tail = &t->repeats;
	t->singles_tail = &t->singles;
	t->answered_tail = &t->answered;
	t->tick = timer_new(m->loop, on_tick, t);
	t->sets_until = INT64_MAX;
	set_windows(t, s);
	return t;
}

static void job_free(struct smp_job *j)
{
	free(j->in_flight);
	free(j->pace);
	free(j->link);
	free(j);
}

static void free_jobs(struct smp_job *j)
{
	while (j) {
		struct smp_job *next = j->next;

		job_free(j);
		j = next;
	}
}

static void free_singles(struct single *s)
{
	while (s) {
		struct single *next = s->next;

		free(s);
		s = next;
	}
}

void txn_table_free(struct txn_table *t)
{
	if (!t)
		return;
	free_jobs(t->jobs);
	free_jobs(t->over);
	free_singles(t->singles);
	free_singles(t->answered);
	timer_free(t->tick);
	smp_window_free(&t->pace);
	free(t);
}

/* --- slots --- */

static struct txn *slot_take(struct txn_table *t)
{
	struct txn *x = t->free;

	t->free = x->next;
	x->generation++;
	x->busy = true;
	x->waits = x->excused = false;
	x->pace = (struct smp_window_smp){ 0 };
	x->job = NULL;
	x->fn = NULL;
	t->in_flight++;
	return x;
}

static void slot_release(struct txn_table *t, struct txn *x)
{
	x->busy = false;
	x->next = t->free;
	t->free = x;
	t->in_flight--;
}

/* --- sending --- */

static void count_send(struct mad_counts *c, const struct smp *s, bool again)
{
	c->smps++;
	if (again)
		c->retries++;
	if (s->method == SMP_SET)
		c->sets_total++;
	if (s->attr >= ARRAY_SIZE(c->gets))
		c->other_smps++;
	else if (s->method == SMP_SET)
		c->sets[s->attr]++;
	else
		c->gets[s->attr]++;
}

/* Copies an SMP together with its route, which moves to `route`. */
static void keep_smp(struct smp *to, uint8_t *route, const struct smp *s)
{
	*to = *s;
	if (s->hops)
		memcpy(route, s->route, s->hops);
	to->route = route;
}

static void put_route(const struct smp *s, struct umad_smp *p)
{
	p->mgmt_class = UMAD_CLASS_SUBN_DIRECTED_ROUTE;
	p->hop_ptr = 0;
	p->hop_cnt = (uint8_t)(s->hops + (s->last_hop != 0));
	p->dr_slid = p->dr_dlid = htobe16(IB_LID_PERMISSIVE);
	memcpy(p->initial_path + 1, s->route, s->hops);
	if (s->last_hop && s->hops + 1 < UMAD_SMP_MAX_HOPS)
		p->initial_path[s->hops + 1] = s->last_hop;
}

static void build_smp(const struct smp *s, uint32_t tid, struct umad_smp *p)
{
	memset(p, 0, sizeof(*p));
	p->base_version = 1;
	p->class_version = 1;
	p->method = s->method;
	p->tid = htobe64(tid);
	p->attr_id = htobe16(s->attr);
	p->attr_mod = htobe32(s->mod);
	p->mkey = htobe64(s->m_key);
	memcpy(p->data, s->data, sizeof(p->data));
	put_route(s, p);
}

bool mad_send_routed(struct mad_port *m, const struct smp *route, const uint8_t *mad)
{
	const ib_mad_addr_t to = { .lid = htobe16(IB_LID_PERMISSIVE) };
	struct umad_smp p = { 0 };

	/*
	 * the LID-routed class reserves the bytes after the data, where a directed route has its
	 * paths
	 */
	memcpy(&p, mad, offsetof(struct umad_smp, initial_path));
	put_route(route, &p);
	return port_send(m, FILE_SMP_ANSWERS, (uint32_t)m->agent[AGENT_ASK_DR], &to,
			 (const uint8_t *)&p, sizeof(p), 0);
}

/* Sends a try with its time-out in ms. */
static void transmit(struct txn_table *t, struct txn *x, unsigned ms, int64_t now)
{
	union {
		struct ib_user_mad umad;
		uint8_t raw[sizeof(struct ib_user_mad) + MAD_SIZE];
	} u;
	uint32_t tid = (uint32_t)x->generation << 16 | (uint32_t)(x - t->slot);

	memset(&u, 0, umad_size());
	u.umad.addr.lid = htobe16(IB_LID_PERMISSIVE);
	build_smp(&x->s, tid, umad_get_mad(&u));
	count_send(&t->m->counts, &x->s, x->pace.try > 0);
	x->deadline = now + ms * 1000ll + GUARD_US;
	/* retries are made here, so that they back off; the kernel's do not */
	x->excused = umad_send(t->m->file[FILE_SMP_ANSWERS], t->m->agent[AGENT_ASK_DR], &u, MAD_SIZE,
			       (int)ms, 0) < 0;
	if (x->excused)
		t->m->counts.send_errors++;	/* the guard time leads to a retry */
}

static void send_first(struct txn_table *t, struct txn *x, int64_t now)
{
	uint32_t device = smp_window_device(&t->pace, x->s.route, x->s.hops, x->s.last_hop,
					    x->job ? x->job->pace[x->device] : SMP_WINDOW_NO_DEVICE);

	if (x->job)
		x->job->pace[x->device] = device;
	transmit(t, x, smp_window_begin(&t->pace, &x->pace, device,
					(x->s.once ? SMP_WINDOW_ONCE : 0) | (x->s.brief ? SMP_WINDOW_BRIEF : 0), now),
		 now);
}

/* Repeats under a new TID: a late answer to the former try must not count for this one. */
static void send_again(struct txn_table *t, struct txn *x, int64_t now)
{
	x->generation++;
	transmit(t, x, smp_window_repeat(&t->pace, &x->pace, now), now);
}

/* --- completing --- */

static void ready_push(struct smp_job *j, uint32_t device)
{
	if (j->link[device] != NOT_QUEUED)
		return;
	j->link[device] = NONE;
	if (j->head == NONE)
		j->head = device;
	else
		j->link[j->tail] = device;
	j->tail = device;
}

static void finish(struct txn_table *t, struct txn *x, int status)
{
	struct smp_job *j = x->job;
	struct smp s = x->s;
	void (*fn)(void *, const struct smp *, int) = x->fn;
	void *arg = x->arg;
	uint32_t device = x->device;
	uint64_t cookie = x->cookie;

	if (status > 0)
		t->m->counts.bad_status++;
	slot_release(t, x);
	if (j) {
		j->outstanding--;
		j->in_flight[device]--;
		ready_push(j, device);
		j->ops->done(j->arg, device, &s, cookie, status);
	} else if (fn) {
		struct single *q = xcalloc(1, sizeof(*q));

		q->status = status;
		q->fn = fn;
		q->arg = arg;
		keep_smp(&q->s, q->route, &s);
		*t->answered_tail = q;
		t->answered_tail = &q->next;
		loop_wake(t->m->wake);
	}
}

/* Whether a job or a callback waits for the SMP; false if its job was cancelled. */
static bool is_awaited(const struct txn *x)
{
	return x->job || x->fn;
}

/* A try got no answer: repeats the SMP or gives it up. */
static void try_failed(struct txn_table *t, struct txn *x, int64_t now)
{
	if (x->s.method == SMP_SET && now >= t->sets_until && is_awaited(x)) {
		/* not the device's fault: try again when Sets are permitted */
		x->deadline = now + TICK_US;
		x->excused = true;
		return;
	}
	t->m->counts.timeouts++;
	if (!x->excused)
		smp_window_timed_out(&t->pace, &x->pace, now);
	if (smp_window_has_tries(&x->pace) && is_awaited(x)) {
		x->waits = true;
		x->next = NULL;
		*t->repeats_tail = x;
		t->repeats_tail = &x->next;
	} else {
		smp_window_given_up(&t->pace, &x->pace);
		finish(t, x, SMP_TIMEOUT);
	}
}

void txn_complete(struct txn_table *t, uint32_t tid, int umad_status,
		  const struct umad_smp *p, size_t len)
{
	struct txn *x = &t->slot[tid & (SLOTS - 1)];
	uint16_t status;

	if ((tid & 0xffff) >= SLOTS || !x->busy || x->waits || x->generation != tid >> 16)
		return;		/* late: the slot is free or has another SMP */
	if (umad_status) {
		try_failed(t, x, clock_mono_us());
		return;
	}
	if (len < sizeof(*p) || p->method != UMAD_METHOD_GET_RESP ||
	    be16toh(p->attr_id) != x->s.attr || be32toh(p->attr_mod) != x->s.mod) {
		/* a mismatch; the kernel passes on one answer for each try, so no other will follow */
		t->m->counts.malformed++;
		x->excused = true;
		try_failed(t, x, clock_mono_us());
		return;
	}
	status = be16toh(p->status) & (uint16_t)~DR_DIRECTION;
	/* whatever other bits say, a device that is busy did not do it (13.4.7) */
	if ((status & IB_STATUS_BUSY) && !x->s.tells_busy) {
		t->m->counts.bad_status++;
		x->excused = true;
		x->deadline -= GUARD_US;	/* the kernel has seen an answer, and will report no
						 * time-out */
		return;		/* retry after the time-out, not at once */
	}
	smp_window_answered(&t->pace, &x->pace, clock_mono_us());
	memcpy(x->s.data, p->data, sizeof(x->s.data));
	finish(t, x, status);
}

static void on_tick(void *arg)
{
	struct txn_table *t = arg;
	int64_t now = clock_mono_us();

	pthread_mutex_lock(&t->m->engine);
	for (unsigned i = 0; i < SLOTS; i++)
		if (t->slot[i].busy && !t->slot[i].waits && t->slot[i].deadline <= now)
			try_failed(t, &t->slot[i], now);
	txn_pump(t);
	if (!t->in_flight && !t->jobs)
		timer_stop(t->tick);
	pthread_mutex_unlock(&t->m->engine);
}

/* --- the windows --- */

/*
 * A job with little to send may be asked for many devices in vain, and each may have to compute
 * first.  After a while this gives others their turn.
 */
static bool time_is_up(struct txn_table *t, int64_t begin)
{
	return ++t->asked % ASKED_PER_LOOK == 0 && clock_mono_us() - begin > TURN_US;
}

static bool start_single(struct txn_table *t, int64_t now)
{
	struct single **p = &t->singles, *q;
	struct txn *x;

	while (*p && (*p)->s.method == SMP_SET && now >= t->sets_until)
		p = &(*p)->next;
	q = *p;
	if (!q)
		return false;
	x = slot_take(t);
	*p = q->next;
	if (!*p)
		t->singles_tail = p;
	keep_smp(&x->s, x->route, &q->s);
	x->fn = q->fn;
	x->arg = q->arg;
	free(q);
	send_first(t, x, now);
	return true;
}

static void send_repeats(struct txn_table *t, int64_t now)
{
	while (t->repeats && smp_window_may_repeat(&t->pace, now)) {
		struct txn *x = t->repeats;

		t->repeats = x->next;
		if (!t->repeats)
			t->repeats_tail = &t->repeats;
		x->waits = false;
		if (x->s.method == SMP_SET && now >= t->sets_until && is_awaited(x)) {
			x->deadline = now;	/* wait for permission; see try_failed() */
			x->excused = true;
		} else if (is_awaited(x)) {
			send_again(t, x, now);
		} else {
			smp_window_given_up(&t->pace, &x->pace);
			finish(t, x, SMP_TIMEOUT);
		}
	}
}

/* Whether a job's device may have one more SMP outstanding. */
static bool device_has_room(const struct txn_table *t, const struct smp_job *j, uint32_t device)
{
	uint32_t at = j->pace[device];
	unsigned window = at == NONE ? t->pace.bounds.window_device
				     : smp_window_device_window(&t->pace, at);

	return j->in_flight[device] < window;
}

static bool job_has_room(const struct txn_table *t)
{
	return smp_window_has_room(&t->pace) && t->in_flight < SLOTS_JOBS;
}

/* Starts one SMP of the job; false if no device may send now, or time is up. */
static bool start_from_job(struct txn_table *t, struct smp_job *j, int64_t now)
{
	while (j->head != NONE && !time_is_up(t, now)) {
		uint32_t d = j->head;
		struct txn *x;

		j->head = j->link[d];
		j->link[d] = NOT_QUEUED;
		if (!device_has_room(t, j, d))
			continue;	/* queued again when one of its own SMPs completes */
		x = slot_take(t);
		x->s.once = x->s.brief = x->s.tells_busy = false;
		if (!j->ops->next(j->arg, d, &x->s, &x->cookie)) {
			slot_release(t, x);
			continue;
		}
		x->job = j;
		x->device = d;
		j->outstanding++;
		j->in_flight[d]++;
		ready_push(j, d);
		send_first(t, x, now);
		return true;
	}
	return false;
}

void txn_pump(struct txn_table *t)
{
	int64_t now = clock_mono_us();

	send_repeats(t, now);
	/*
	 * Sets that may not be repeated yet fill the window.  Only Gets can find out whether they
	 * may be again, so Gets may exceed the window.
	 */
	while (t->singles && t->free && (smp_window_has_room(&t->pace) || now >= t->sets_until) &&
	       start_single(t, now))
		;
	/* the whole job waits: its next SMP may be a Set, and next() cannot be undone */
	while (t->jobs && now < t->sets_until) {
		struct smp_job *j = t->jobs;

		now = clock_mono_us();	/* finishing the previous job may have taken long */
		while (job_has_room(t) && start_from_job(t, j, now))
			;
		if (j->head != NONE && job_has_room(t))
			loop_wake(t->m->wake);	/* go on after other work */
		if (j->outstanding || j->head != NONE)
			return;
		/* the loop's thread tells the owner; meanwhile the next job may start */
		t->jobs = j->next;
		j->next = t->over;
		t->over = j;
		loop_wake(t->m->wake);
	}
}

struct smp_window_learned mad_learned(struct mad_port *m)
{
	struct smp_window_learned l;

	pthread_mutex_lock(&m->engine);
	l = smp_window_learned(&m->txns->pace);
	pthread_mutex_unlock(&m->engine);
	return l;
}

void mad_learn(struct mad_port *m, const struct smp_window_learned *l)
{
	pthread_mutex_lock(&m->engine);
	smp_window_learn(&m->txns->pace, l);
	pthread_mutex_unlock(&m->engine);
}

bool mad_losses(struct mad_port *m, const struct smp *s, uint32_t *lost, unsigned *window)
{
	const struct smp_window_device *d;
	bool any;

	pthread_mutex_lock(&m->engine);
	d = smp_window_find(&m->txns->pace, s->route, s->hops, s->last_hop);
	any = d && d->lost;
	if (any) {
		*lost = d->lost;
		*window = d->window;
	}
	pthread_mutex_unlock(&m->engine);
	return any;
}

void txn_counts(const struct txn_table *t, struct mad_counts *c)
{
	const struct smp_window *p = &t->pace;

	c->lost = p->lost;
	c->window = p->window;
	c->window_most = p->bounds.window;
	c->window_cut_to = p->least;
}

void mad_permit_sets(struct mad_port *m, int64_t until_us)
{
	bool held;

	pthread_mutex_lock(&m->engine);
	held = clock_mono_us() >= m->txns->sets_until;
	m->txns->sets_until = until_us;
	pthread_mutex_unlock(&m->engine);
	if (held)
		loop_wake(m->wake);
}

void txn_tell(struct txn_table *t)
{
	struct smp_job *j;
	struct single *q;

	pthread_mutex_lock(&t->m->engine);
	while ((q = t->answered) || (j = t->over)) {
		if (q) {
			t->answered = q->next;
			if (!t->answered)
				t->answered_tail = &t->answered;
		} else {
			t->over = j->next;
		}
		pthread_mutex_unlock(&t->m->engine);
		if (q) {
			q->fn(q->arg, &q->s, q->status);
			free(q);
		} else {
			j->ops->finished(j->arg);
			job_free(j);
		}
		pthread_mutex_lock(&t->m->engine);
	}
	txn_pump(t);
	if ((t->in_flight || t->jobs) && !timer_active(t->tick))
		timer_set(t->tick, TICK_US, TICK_US);
	pthread_mutex_unlock(&t->m->engine);
}

static struct smp_job *start_job(struct mad_port *m, uint32_t n_devices,
				 const struct smp_job_ops *ops, void *arg, bool first)
{
	struct smp_job *j = xcalloc(1, sizeof(*j)), **at = &m->txns->jobs;

	j->m = m;
	j->ops = ops;
	j->arg = arg;
	j->in_flight = xcalloc(n_devices, sizeof(*j->in_flight));
	j->pace = xmalloc(n_devices * sizeof(*j->pace));
	memset(j->pace, 0xff, n_devices * sizeof(*j->pace));
	j->link = xcalloc(n_devices, sizeof(*j->link));
	j->head = NONE;
	for (uint32_t d = 0; d < n_devices; d++)
		j->link[d] = NOT_QUEUED;
	for (uint32_t d = 0; d < n_devices; d++)
		ready_push(j, d);
	pthread_mutex_lock(&m->engine);
	while (*at && !first)
		at = &(*at)->next;
	j->next = *at;
	*at = j;
	pthread_mutex_unlock(&m->engine);
	loop_wake(m->wake);
	return j;
}

struct smp_job *smp_job_start(struct mad_port *m, uint32_t n_devices,
			      const struct smp_job_ops *ops, void *arg)
{
	return start_job(m, n_devices, ops, arg, false);
}

struct smp_job *smp_job_start_first(struct mad_port *m, uint32_t n_devices,
				    const struct smp_job_ops *ops, void *arg)
{
	return start_job(m, n_devices, ops, arg, true);
}

void smp_job_cancel(struct smp_job *j)
{
	struct txn_table *t = j->m->txns;
	struct smp_job **p = &t->jobs;

	pthread_mutex_lock(&j->m->engine);
	for (unsigned i = 0; i < SLOTS; i++)
		if (t->slot[i].busy && t->slot[i].job == j)
			t->slot[i].job = NULL;
	while (*p && *p != j)
		p = &(*p)->next;
	if (!*p)
		for (p = &t->over; *p && *p != j; p = &(*p)->next)
			;
	if (*p)
		*p = j->next;
	pthread_mutex_unlock(&t->m->engine);
	job_free(j);
}

void smp_send(struct mad_port *m, const struct smp *s,
	      void (*fn)(void *arg, const struct smp *s, int status), void *arg)
{
	struct txn_table *t = m->txns;
	struct single *q = xcalloc(1, sizeof(*q));

	keep_smp(&q->s, q->route, s);
	q->fn = fn;
	q->arg = arg;
	pthread_mutex_lock(&m->engine);
	*t->singles_tail = q;
	t->singles_tail = &q->next;
	pthread_mutex_unlock(&m->engine);
	loop_wake(m->wake);
}
