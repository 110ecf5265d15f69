/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Controls simulated time for the fabric and for the processes on it.
 *
 * Time runs with the machine's clock, or it is stopped and moves from one event to the next (`ctl
 * pass`).
 *
 * While time is stopped, the processes run as long as they have work.  When all their threads rest
 * (sim/clock/rest.h), no input waits for the simulator and its engine has nothing due, then nothing
 * can happen before the next event: the end of a thread's timed wait, the engine's next timer, or
 * the end of a pass.  Time moves to the first of these, and one thread at a time is woken, so that
 * threads with the same time always run in the same order.  How long anything takes by the
 * machine's clock makes no difference.
 *
 * The same holds for MADs.  While time is stopped, the simulator holds the MADs that programs send
 * until all threads rest, and then takes those of one program after the other.  MADs for programs
 * are delivered to one program each time all threads rest.  So two programs that run at the same
 * moment never race to the fabric.
 */
#include <linux/futex.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/clock.h"
#include "server.h"
#include "sim/preload/socket.h"

#define AGAIN_US	100		/* between looks while a process is busy */
#define RESTS_US	1		/* between the two looks that show that all rest */
#define MS_NS		INT64_C(1000000)
#define S_NS		INT64_C(1000000000)
#define UP_NS		(1000000 * S_NS)	/* CLOCK_MONOTONIC at the start if a date is given */
#define PATIENCE_US	INT64_C(180000000)	/* limit for a process that never rests */

static int64_t machine_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct machine_time machine_now(void)
{
	static const clockid_t ids[SIM_CLOCK_KINDS] = {
		[SIM_CLOCK_MONO] = CLOCK_MONOTONIC, [SIM_CLOCK_REAL] = CLOCK_REALTIME,
		[SIM_CLOCK_BOOT] = CLOCK_BOOTTIME,
	};
	struct machine_time m;

	for (int i = 0; i < SIM_CLOCK_KINDS; i++)
		m.ns[i] = machine_ns(ids[i]);
	return m;
}

static int64_t now_ns(const struct server *sv)
{
	return clock_page_now(sv->passing.page, machine_ns(CLOCK_MONOTONIC));
}

int64_t passing_now_us(const struct server *sv)
{
	return now_ns(sv) / 1000;
}

bool passing_stands(const struct server *sv)
{
	return sim_clock_stands(atomic_load(&sv->passing.page->word));
}

/* --- waking --- */

static void wake(struct server *sv, int slot)
{
	struct sim_clock_slot *s = &sv->passing.page->slots[slot];
	struct client *c = sv->passing.wakers[slot];

	atomic_fetch_add(&s->wakes, 1);
	syscall(SYS_futex, &s->wakes, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	if (c && atomic_load(&s->how) & SIM_WAIT_FILES)
		send(c->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Wakes all threads in timed waits: time runs again, so they must wait by the machine's clock. */
static void wake_all(struct server *sv)
{
	struct sim_clock *page = sv->passing.page;

	for (uint32_t i = 0; i < atomic_load(&page->n_slots); i++)
		if (atomic_load(&page->slots[i].deadline_ns))
			wake(sv, (int)i);
}

static void go(struct server *sv)
{
	clock_page_go(sv->passing.page, machine_ns(CLOCK_MONOTONIC));
	for (struct client *c = sv->clients; c; c = c->next)
		if (c->held)
			client_release(c);
	wake_all(sv);
	sv->timer_us = -1;
	server_turn(sv);
}

bool passing_holds(const struct client *c)
{
	return c->purpose == SIM_UMAD && passing_stands(c->server);
}

static void stop(struct server *sv)
{
	clock_page_stop(sv->passing.page, machine_now);
	server_turn(sv);
	memset(sv->passing.woken, 0, sizeof(sv->passing.woken));
}

/* --- waiting commands --- */

/* Ends a command: its time has passed, or (text) cannot pass. */
static void finish(struct client *c, const char *text)
{
	char end[2] = { 'x', text ? EXIT_FAILED : EXIT_DONE };
	char *piece = text ? xasprintf("o%s", text) : NULL;

	c->pass_end_ns = 0;
	c->server->passing.n--;
	if (piece)
		client_send(c, piece, strlen(piece));
	client_send(c, end, sizeof(end));
	free(piece);
}

/* Ends commands that are due or, with a reason, all.  Lets time run if no command is left. */
static void finish_due(struct server *sv, int64_t now, const char *text)
{
	for (struct client *c = sv->clients; c; c = c->next)
		if (c->pass_end_ns && (text || c->pass_end_ns <= now))
			finish(c, text);
	if (!sv->passing.n && !sv->passing.stands)
		go(sv);
	else
		server_turn(sv);
}

/* sim_hooks.pass */
static const char *begin(struct sim *s, int64_t us)
{
	struct server *sv = s->hooks.pass_arg;
	struct client *c = sv->passing.asking;

	if (!c)
		return "a script cannot let time pass: each of its commands has its own time";
	if (sv->ivshmems)
		return "time cannot pass while a virtual machine, which has a clock of its own, is on "
		       "the fabric";
	if (!passing_stands(sv))
		stop(sv);
	c->pass_end_ns = now_ns(sv) + us * 1000;
	sv->passing.n++;
	sv->passing.moved_us = clock_mono_us();
	server_arm(sv, 0);
	return NULL;
}

void passing_drop(struct client *c)
{
	struct passing *p = &c->server->passing;

	if (c->slot < SIM_CLOCK_SLOTS && p->wakers[c->slot] == c)
		p->wakers[c->slot] = NULL;
	if (!c->pass_end_ns)
		return;
	c->pass_end_ns = 0;
	if (--p->n == 0 && !p->stands)
		go(c->server);
}

/* --- looks and steps --- */

/* Whether the simulator has unread input. */
static bool input_waits(const struct server *sv)
{
	struct pollfd *p = xcalloc(sv->n_clients + 1, sizeof(*p));
	nfds_t n = 0;
	int found;

	p[n++] = (struct pollfd){ .fd = sv->listener, .events = POLLIN };
	for (const struct client *c = sv->clients; c; c = c->next)
		if (!c->held)
			p[n++] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	found = poll(p, n, 0);
	free(p);
	return found != 0;
}

static void forget(void *arg, int32_t pid)
{
	clock_page_forget(arg, pid);
}

static void take_look(struct passing *p)
{
	uint32_t n = atomic_load(&p->page->n_slots), n_pids = 0;
	int32_t *pids = xcalloc(n + 1, sizeof(*pids));

	for (uint32_t i = 0; i < n; i++) {
		int32_t pid = atomic_load(&p->page->slots[i].pid);

		if (pid > 0)
			pids[n_pids++] = pid;
	}
	look_take(&p->looks[p->look], &p->looks[!p->look], pids, n_pids, forget, p->page);
	free(pids);
}

static bool everybody_rests(struct server *sv)
{
	struct passing *p = &sv->passing;
	const struct look *before = &p->looks[!p->look], *now = &p->looks[p->look];
	bool rests;

	take_look(p);
	p->asleep = now->asleep;
	if (!now->asleep)
		return false;
	rests = look_rests(before, now) && p->events == p->looked_events && !input_waits(sv);
	p->looked_events = p->events;
	p->look = !p->look;
	return rests;
}

/* Takes all MADs that programs sent, or delivers the fabric's MADs to one program.  False: there were none. */
static bool move_mads(struct server *sv)
{
	bool some = false;

	for (struct client *c = sv->clients; c;) {
		if (c->held) {
			client_read_held(c);
			some = true;
			c = sv->clients;	/* the client may be gone */
		} else {
			c = c->next;
		}
	}
	for (struct client **f = &sv->flush; *f; f = &(*f)->flush_next)
		if (passing_holds(*f)) {
			server_flush(f);
			return true;
		}
	return some;
}

/* Moves time to the next event. */
static void move_on(struct server *sv)
{
	struct passing *p = &sv->passing;
	int64_t due = INT64_MAX, deadline = INT64_MAX, end = INT64_MAX;
	int slot = clock_page_first(p->page, p->woken, &deadline);

	if (sv->due_us >= 0)
		due = (sv->due_us + sv->start_us) * 1000;
	for (const struct client *c = sv->clients; c; c = c->next)
		if (c->pass_end_ns && c->pass_end_ns < end)
			end = c->pass_end_ns;
	if (slot >= 0 && deadline <= due && deadline <= end) {
		clock_page_move(p->page, deadline);
		p->woken[slot] = deadline;
		wake(sv, slot);
	} else if (due <= end) {
		clock_page_move(p->page, due);
		server_turn(sv);
	} else {
		clock_page_move(p->page, end);
		finish_due(sv, end, NULL);
	}
}

/* A process has been busy for too long: ends all commands with an error. */
static void give_up(struct server *sv)
{
	const struct look *last = &sv->passing.looks[sv->passing.look];
	char *text = sv->passing.asleep ? xasprintf("pass: the simulator is never at rest\n") :
		xasprintf("pass: process %d (thread %d) is never at rest\n", (int)last->busy_pid,
			  (int)last->busy_tid);

	finish_due(sv, 0, text);
	free(text);
}

void passing_look(struct server *sv)
{
	struct passing *p = &sv->passing;

	if (!p->n)
		return;
	if (everybody_rests(sv)) {
		p->moved_us = clock_mono_us();
		if (!move_mads(sv))
			move_on(sv);
	} else if (clock_mono_us() - p->moved_us > PATIENCE_US)
		give_up(sv);
	if (passing_stands(sv) && p->n)
		server_arm(sv, p->asleep ? RESTS_US : AGAIN_US);
}

/* --- the page --- */

bool passing_open(struct client *c, uint32_t slot)
{
	if (slot == SIM_CLOCK_PAGE)
		return true;
	if (slot >= SIM_CLOCK_SLOTS)
		return false;
	c->slot = slot;
	c->server->passing.wakers[slot] = c;
	return true;
}

void passing_send_page(struct client *c, const struct sim_answer *a)
{
	/* at once, since the socket is empty: the queue cannot send a descriptor */
	if (send(c->fd, a, sizeof(*a), MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(*a))
		sock_send_file(c->fd, c->server->passing.memory, sizeof(struct sim_clock), MSG_DONTWAIT);
}

bool passing_start(struct server *sv, const struct options *o)
{
	struct passing *p = &sv->passing;

	p->page = shared_memory("qosd-sim-clock", sizeof(*p->page), F_SEAL_SHRINK | F_SEAL_GROW,
				&p->memory);
	if (!p->page) {
		fprintf(stderr, "qosd-sim: no memory for the clock: %s\n", strerror(errno));
		return false;
	}
	p->stands = o->stands;
	sv->sim->hooks.pass = begin;
	sv->sim->hooks.pass_arg = sv;
	if (o->stands) {
		clock_page_stop(p->page, machine_now);
		/* a whole millisecond, so that waits are rounded the same way in each run */
		clock_page_move(p->page, (now_ns(sv) / MS_NS + 1) * MS_NS);
		if (o->date_s)
			clock_page_date(p->page, UP_NS, o->date_s * S_NS);
	}
	return true;
}

void passing_stop(struct server *sv)
{
	struct passing *p = &sv->passing;

	if (p->page) {
		clock_page_go(p->page, machine_ns(CLOCK_MONOTONIC));
		wake_all(sv);
		munmap(p->page, sizeof(*p->page));
	}
	close_fd(p->memory);
	look_free(&p->looks[0]);
	look_free(&p->looks[1]);
	sv->sim->hooks.pass = NULL;
}
