/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Provides simulated time in this process: the page, the clocks, and slots for waiting threads.
 *
 * qosd/sim_clock.h describes the page.  It is mapped before main() and stays.  A process without
 * it, because no simulator listens, has the machine's time.  A child of fork() takes slots of its
 * own.
 */
#undef _FORTIFY_SOURCE		/* its inline functions have the names of those defined here */
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "sim/preload/next.h"
#include "sim/preload/socket.h"
#include "waits.h"

#define PIECE_NS	20000000	/* pieces of a wait that the simulator cannot end */
#define SLACK_NS	50000		/* how much longer a wait may be, as in Linux; it hides the
					 * nanoseconds spent on reading the clock */

static struct sim_clock *page;		/* NULL: no page */
static pthread_key_t thread_end;

static __thread struct {
	struct sim_clock_slot *slot;	/* NULL: no slot yet */
	int fd;				/* 0: none yet, -1: could not be opened */
	ino_t inode;			/* inode of fd: the program may have closed fd and opened another
					 * file */
} self;

/* --- the page --- */

static struct sim_clock *map_page(int connection)
{
	struct sim_large announced;
	struct iovec v = { .iov_base = &announced, .iov_len = sizeof(announced) };
	union sock_control control;
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = SOCK_CONTROL_SIZE,
	};
	int memory = recvmsg(connection, &m, MSG_CMSG_CLOEXEC) == sizeof(announced) ?
		     sock_received_file(&m) : -1;
	void *p;

	if (memory < 0)
		return NULL;
	p = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	close(memory);
	return p == MAP_FAILED ? NULL : p;
}

/* Opens a connection about simulated time; port as in struct sim_hello. */
static int connect_clock(uint32_t port)
{
	const char *path = getenv(SIM_SOCKET_VAR);
	struct sim_answer a;

	return path ? sock_hello(path, SIM_CLOCK, "", 0, port, &a) : -1;
}

static bool take_slot(struct sim_clock_slot *s)
{
	int32_t nobody = 0;

	if (atomic_load_explicit(&s->pid, memory_order_relaxed) ||
	    !atomic_compare_exchange_strong(&s->pid, &nobody, (int32_t)getpid()))
		return false;
	atomic_store(&s->deadline_ns, 0);
	atomic_store(&s->tid, (int32_t)gettid());
	return true;
}

/* This thread's slot, taken on first use. */
static struct sim_clock_slot *own_slot(void)
{
	if (self.slot || !page)
		return self.slot;
	for (uint32_t i = 0; i < SIM_CLOCK_SLOTS && !self.slot; i++) {
		uint32_t n = atomic_load(&page->n_slots);

		/* first, because the simulator ignores slots from n_slots on */
		while (n <= i && !atomic_compare_exchange_weak(&page->n_slots, &n, i + 1))
			;
		if (take_slot(&page->slots[i]))
			self.slot = &page->slots[i];
	}
	if (self.slot)
		pthread_setspecific(thread_end, self.slot);
	return self.slot;
}

static bool own_file(void)
{
	struct stat st;

	return self.fd > 0 && fstat(self.fd, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_ino == self.inode;
}

static void on_thread_end(void *slot)
{
	struct sim_clock_slot *s = slot;

	if (own_file())
		close(self.fd);
	/* the main thread's slot stays: it identifies the process, which may have other threads */
	atomic_store(&s->deadline_ns, 0);
	if (atomic_load(&s->tid) != atomic_load(&s->pid))
		atomic_store(&s->pid, 0);
}

/* Runs in the child: slot and connection are the parent's. */
static void on_fork(void)
{
	if (own_file())
		close(self.fd);
	self.slot = NULL;
	self.fd = 0;
	own_slot();
}

/* Gives back slots that this process had before an exec. */
static void give_back_slots(void)
{
	for (uint32_t i = 0; page && i < atomic_load(&page->n_slots); i++)
		if (atomic_load(&page->slots[i].pid) == (int32_t)getpid()) {
			atomic_store(&page->slots[i].deadline_ns, 0);
			atomic_store(&page->slots[i].pid, 0);
		}
}

__attribute__((constructor)) static void attach_clock(void)
{
	int fd = connect_clock(SIM_CLOCK_PAGE);

	pthread_key_create(&thread_end, on_thread_end);
	if (fd < 0)
		return;
	page = map_page(fd);
	close(fd);
	pthread_atfork(NULL, NULL, on_fork);
	give_back_slots();
	own_slot();
}

/* --- clocks --- */

typedef int clock_gettime_fn(clockid_t id, struct timespec *t);

static int next_clock_gettime(clockid_t id, struct timespec *t)
{
	NEXT_FUNCTION(clock_gettime_fn, next, "clock_gettime")

	return next(id, t);
}

static int64_t to_ns(const struct timespec *t)
{
	return t->tv_sec * NS_PER_S + t->tv_nsec;
}

static int64_t machine_ns(clockid_t id)
{
	struct timespec t = { 0 };

	next_clock_gettime(id, &t);
	return to_ns(&t);
}

/* False if the simulator does not control that clock. */
static bool kind_of(clockid_t id, enum sim_clock_kind *kind)
{
	switch (id) {
	case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_RAW: case CLOCK_MONOTONIC_COARSE:
		*kind = SIM_CLOCK_MONO;
		return true;
	case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE:
		*kind = SIM_CLOCK_REAL;
		return true;
	case CLOCK_BOOTTIME:
		*kind = SIM_CLOCK_BOOT;
		return true;
	default:
		return false;
	}
}

/*
 * Stopped time advances by a nanosecond at each reading in this process: libev's immediate timers,
 * and loops that wait for the clock, need time to advance.  So a reading may be slightly ahead, and
 * never goes back.
 */
static int64_t tick(int64_t ns)
{
	static _Atomic int64_t last;
	int64_t before = atomic_load(&last), next;

	do
		next = ns > before ? ns : before + 1;
	while (!atomic_compare_exchange_weak(&last, &before, next));
	return next;
}

static int64_t now_of(clockid_t id, enum sim_clock_kind kind)
{
	int64_t word, machine;

	if (!page)
		return machine_ns(id);
	/*
	 * the word must be the same before and after reading the machine's clock: the thread may be
	 * delayed in between
	 */
	do {
		while ((word = atomic_load(&page->word)) == SIM_CLOCK_CHANGES)
			sched_yield();
		machine = sim_clock_stands(word) ? 0 : machine_ns(id);
	} while (atomic_load(&page->word) != word);
	if (sim_clock_stands(word))
		return tick(sim_clock_ns(word, 0)) + atomic_load(&page->ahead_ns[kind]);
	machine = sim_clock_ns(word, machine);
	return word && kind == SIM_CLOCK_MONO ? tick(machine) : machine;
}

int64_t clock_now_ns(void)
{
	return now_of(CLOCK_MONOTONIC, SIM_CLOCK_MONO);
}

int64_t clock_from(clockid_t id, const struct timespec *t)
{
	enum sim_clock_kind kind;

	if (!kind_of(id, &kind))
		return to_ns(t);
	return clock_now_ns() + to_ns(t) - now_of(id, kind);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	enum sim_clock_kind kind;

	if (!page || !kind_of(id, &kind) || !atomic_load_explicit(&page->word, memory_order_acquire))
		return next_clock_gettime(id, t);
	*t = span(now_of(id, kind));
	return 0;
}

/* The zone is obsolete and ignored. */
int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec t;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &t) < 0)
		return -1;
	*tv = (struct timeval){ .tv_sec = t.tv_sec, .tv_usec = t.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *out)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

/* --- timed waits --- */

void wait_begin(struct wait *w, int64_t deadline_ns, unsigned how)
{
	*w = (struct wait){ .slot = own_slot(), .deadline_ns = deadline_ns };
	if (!w->slot)
		return;
	/* a very long deadline may mean for ever */
	if (deadline_ns < INT64_MAX - SLACK_NS)
		w->deadline_ns = deadline_ns = (deadline_ns + SLACK_NS - 1) / SLACK_NS * SLACK_NS;
	atomic_store(&w->slot->how, how);
	atomic_store(&w->slot->deadline_ns, deadline_ns);
}

void wait_end(struct wait *w)
{
	if (w->slot)
		atomic_store(&w->slot->deadline_ns, 0);
}

int64_t wait_left(struct wait *w)
{
	int64_t left;

	if (w->slot)
		w->wakes = atomic_load(&w->slot->wakes);
	left = w->deadline_ns - clock_now_ns();
	if (left <= 0)
		return 0;
	if (page && !w->slot)
		return left < PIECE_NS ? left : PIECE_NS;
	return page && sim_clock_stands(atomic_load(&page->word)) ? -1 : left;
}

int wait_file(struct wait *w)
{
	struct stat st;

	if (!w->slot || self.fd < 0)
		return -1;
	if (own_file())
		return self.fd;
	self.fd = connect_clock((uint32_t)(w->slot - page->slots));
	if (self.fd >= 0 && self.fd <= STDERR_FILENO) {
		int low = self.fd;

		self.fd = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(low);
	}
	if (self.fd >= 0 && fstat(self.fd, &st) == 0)
		self.inode = st.st_ino;
	else
		self.fd = -1;
	return self.fd;
}

void wait_drain(int fd)
{
	char bytes[16];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		;
	/* the simulator has ended: time must run without it */
	if (n == 0) {
		struct timespec t;

		next_clock_gettime(CLOCK_MONOTONIC, &t);
		if (sim_clock_stands(atomic_load(&page->word)))
			atomic_store(&page->word, sim_clock_word(false, clock_now_ns() - to_ns(&t)));
		close(fd);
		self.fd = -1;
	}
}

long futex_wait(_Atomic uint32_t *futex, uint32_t value, int64_t ns)
{
	struct timespec t = span(ns);
	int type;
	long r;

	/* because syscall() is not a cancellation point of the C library */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	r = syscall(SYS_futex, futex, FUTEX_WAIT, value, ns < 0 ? NULL : &t, NULL, 0);
	pthread_setcanceltype(type, NULL);
	return r;
}

void futex_wake(_Atomic uint32_t *futex)
{
	syscall(SYS_futex, futex, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}
